"""Parquet files, which are checked before anything is read from them.

Polars trusts what it reads: of a file that breaks its promises it may panic, or ask for so much
memory that the process ends. So a file that rollwise writes holds a hash of all its bytes, among
its metadata, and it is read only if that is so. Whatever else is wrong with a file is one error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


HASH = "rollwise.hash"
UNKNOWN = "0" * 32
END = 8  # bytes: the length of the footer, and a word that says that this is Parquet
PIECE = 1 << 22


def write_parquet(
    frame: pl.DataFrame, path: Path, metadata: Mapping[str, str] | None = None
) -> None:
    """Write a table, with what is to be said of it, and with a hash of the file."""
    frame.write_parquet(path, metadata={**(metadata or {}), HASH: UNKNOWN})
    place, _ = _hash_in(path)
    with path.open("r+b") as file:
        file.seek(place)
        file.write(_hash_of(path, place).encode())


def _hash_in(path: Path) -> tuple[int, str]:
    """Where the hash stands in a file, and what it says; at -1 if it isn't there."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - END, 0))
        length = int.from_bytes(file.read(4), "little")
        start = max(size - END - length, 0)
        file.seek(start)
        found = re.search(HASH.encode() + rb".{0,9}?([0-9a-f]{32})", file.read(), re.DOTALL)
    return (-1, "") if found is None else (start + found.start(1), found[1].decode())


def _hash_of(path: Path, place: int) -> str:
    """The hash of a file in which the hash isn't written yet."""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        left = place
        while left > 0 and (piece := file.read(min(left, PIECE))):
            digest.update(piece)
            left -= len(piece)
        file.seek(place + len(UNKNOWN))
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def _check(path: Path) -> None:
    place, told = _hash_in(path)
    if place >= 0 and _hash_of(path, place) != told:
        raise ValueError("its bytes don't match their hash")


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

    _check(path)
    with _in_a_line():
        return pl.read_parquet(path, columns=None if columns is None else list(columns))


def read_metadata(path: Path) -> dict[str, str]:
    """What a Parquet file says of itself; raises as `read_parquet`."""
    import polars as pl

    _check(path)
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
