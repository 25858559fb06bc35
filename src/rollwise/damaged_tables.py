"""Reading Parquet files that somebody else wrote: whatever is wrong with one, it is one error."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """A table.

    Raises
    ------
    OSError
        There is no such file, or it can't be read.
    ValueError
        It isn't a Parquet file, or is damaged.
    """
    import polars as pl

    with _in_a_line():
        return pl.read_parquet(path, columns=None if columns is None else list(columns))


def read_metadata(path: Path) -> dict[str, str]:
    """What a Parquet file says of itself; raises as `read_parquet`."""
    import polars as pl

    with _in_a_line():
        return pl.read_parquet_metadata(path)


@contextlib.contextmanager
def _in_a_line() -> Iterator[None]:
    """Of a file that breaks its promises Polars panics: with an exception that isn't an
    `Exception`, and after it has printed a report that means nothing to a user."""
    with _nothing_said():
        try:
            yield
        except (OSError, KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:
            lines = str(error).splitlines() or [type(error).__name__]
            raise ValueError(lines[0]) from None


@contextlib.contextmanager
def _nothing_said() -> Iterator[None]:
    """What is written to standard error past Python is thrown away."""
    try:
        before = os.dup(2)
    except OSError:  # it is closed
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)
