"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table; a row may leave out its last cells."""
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for row in rows:
        yield f"| {' | '.join([*row, *[''] * (len(columns) - len(row))])} |"


def seconds(amount: float) -> str:
    """Seconds with three digits that matter."""
    if amount < 1e-6:
        return f"{amount * 1e9:.3g} ns"
    if amount < 1e-3:
        return f"{amount * 1e6:.3g} µs"
    if amount < 1:
        return f"{amount * 1e3:.3g} ms"
    return f"{amount:.3g} s"
