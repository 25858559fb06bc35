"""The option ``--memory``, which limits what a command may take."""

from __future__ import annotations

from typing import Annotated

import typer

from rollwise.errors import UsageError
from rollwise.machine import memory_limits
from rollwise.numbers.printed import bytes_of

LEAST_MEMORY = 500_000_000  # bytes, of which Numba takes a half


def _limit_memory(text: str | None) -> str | None:
    """Take no more memory than --memory says."""
    if text is not None:
        size = bytes_of(text)
        if size is None or size < LEAST_MEMORY:
            raise UsageError(f"--memory is {text}; it is an amount such as 8GB, at least 500MB")
        memory_limits.limit(size)
    return text


MemoryOption = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        callback=_limit_memory,
        help="Take no more memory, as in 8GB; what doesn't fit is refused.",
    ),
]
