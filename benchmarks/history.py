"""The history of ratios, and whether the newest one is worse than it was.

    python -m benchmarks.history [FILE]

Each whole run adds a line to history.jsonl: the date, the commit, the versions, the
machine, and how many times as long rollwise took as the kernels written by hand, in
the same run. What a run with ``--merge`` measures again takes the place of what the newest line
says of it. Machines differ in speed, ratios much less. The newest line is held
against the median of those before it; beyond `NOISE` times that, it is a regression.
Values are kept too, since a benchmark that changes its answer measures something else.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.tables import markdown_table

FILE = Path(__file__).with_name("history.jsonl")
NOISE = 1.5
SAME_VALUE = 1e-9

Line = Mapping[str, Any]


def read(path: Path = FILE) -> list[dict[str, Any]]:
    """The lines, oldest first."""
    if not path.exists():
        return []
    return [json.loads(text) for text in path.read_text().splitlines() if text.strip()]


def append(line: Line, path: Path = FILE) -> None:
    """Add a line."""
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps(line, sort_keys=True) + "\n")


def amend(line: Line, path: Path = FILE) -> None:
    """Have the newest line say what was measured again."""
    *earlier, newest = read(path)
    for name in ("ratios", "values"):
        newest[name] = {**newest.get(name, {}), **line.get(name, {})}
    texts = [json.dumps(one, sort_keys=True) + "\n" for one in (*earlier, newest)]
    path.write_text("".join(texts), encoding="utf-8")


def usual(lines: Sequence[Line], name: str) -> float | None:
    """The median of a ratio, None where it was never measured."""
    found = [line["ratios"][name] for line in lines if name in line["ratios"]]
    return statistics.median(found) if found else None


def regressions(lines: Sequence[Line], noise: float = NOISE) -> list[str]:
    """What the newest line does worse than those before it, in words."""
    if len(lines) < 2:
        return []
    *earlier, newest = lines
    found = []
    for name, ratio in newest["ratios"].items():
        before = usual(earlier, name)
        if before is not None and ratio > noise * before:
            found.append(
                f"{name}: {ratio:.3g} times the yardstick, {ratio / before:.2f} times the "
                f"{before:.3g} that was usual"
            )
    for name, value in newest.get("values", {}).items():
        known = [line["values"][name] for line in earlier if name in line.get("values", {})]
        if known and abs(value - known[-1]) > SAME_VALUE:
            found.append(f"{name}: the answer is {value!r}, and was {known[-1]!r}")
    return found


def verdict(lines: Sequence[Line], noise: float = NOISE) -> str:
    """What the newest line says, in words."""
    if not lines:
        return "There is no history yet: `make bench` begins it."
    if len(lines) == 1:
        return "One run is no history: there is nothing to hold it against yet."
    found = regressions(lines, noise)
    if not found:
        return (
            f"No regression: no ratio of {lines[-1]['date']} is more than {noise:g} times its "
            f"median in {len(lines) - 1} earlier run{'s' if len(lines) > 2 else ''}."
        )
    return "Regressions:\n" + "\n".join(f"- {text}" for text in found)


def table(lines: Sequence[Line], most: int = 12) -> Iterator[str]:
    """The newest lines as a Markdown table, a column a ratio."""
    if not lines:
        yield "No run so far."
        return
    names = list(dict.fromkeys(name for line in lines for name in line["ratios"]))
    rows = []
    for line in lines[-most:]:
        ratios = [f"{line['ratios'][name]:.3g}" if name in line["ratios"] else "" for name in names]
        rows.append([line["date"], line["commit"], line["machine"], *ratios])
    yield from markdown_table(["date", "commit", "machine", *names], rows)


def main() -> int:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    lines = read(path)
    print("\n".join(table(lines)))
    print()
    print(verdict(lines))
    return 1 if regressions(lines) else 0


if __name__ == "__main__":
    sys.exit(main())
