"""Parquet files with hashes, checked before reading.

Polars trusts its input: on a malformed file it may panic, or ask for so much
memory that the process ends. A file written by rollwise therefore contains a hash of all its bytes,
in its metadata, and is read only if the hash matches. Any other fault of a file is one error.
A second hash covers the footer. If it matches, and only numbers were damaged, a file can
still be read to locate the damage. This is done in a separate process, which may abort.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rollwise.errors import UsageError, spelled
from rollwise.machine.atomic_files import ERROR, muted

if TYPE_CHECKING:
    import polars as pl


HASH, FOOTER = "rollwise.hash", "rollwise.footer"  # of all bytes, and of the footer
UNKNOWN = "0" * 32
END = 8  # bytes: the length of the footer, and a word that says that this is Parquet
PIECE = 1 << 22
READ_APART = "import polars, sys; polars.read_parquet(sys.argv[1]).write_parquet(sys.argv[2])"
LONGEST = 120.0  # seconds
# A policy in a file with one of these endings is read as this kind.
OTHER_KINDS = (".csv", ".json", ".npy", ".npz")


def require_parquet(path: Path) -> None:
    """Refuse a name with the ending of another kind for a saved answer, which is Parquet.

    Raises
    ------
    UsageError
    """
    if path.suffix.lower() in OTHER_KINDS:
        write_csv = spelled(
            python="solution.table().write_csv(path)", command_line="`rollwise table GAME --csv`"
        )
        raise UsageError(
            f"{path}: a saved answer is a Parquet file; save it as {path.with_suffix('.parquet')} "
            f"({write_csv} writes its table as CSV)"
        )


def write_parquet(
    frame: pl.DataFrame, path: Path, metadata: Mapping[str, str] | None = None
) -> None:
    """Write a table, with its metadata and hashes of the file."""
    frame.write_parquet(path, metadata={**(metadata or {}), HASH: UNKNOWN, FOOTER: UNKNOWN})
    (whole, _), (footer, _) = _hash_in(path, HASH), _hash_in(path, FOOTER)
    _write(path, footer, _hash_of(path, _footer_of(path), whole, footer))
    _write(path, whole, _hash_of(path, 0, whole))


def _write(path: Path, place: int, digest: str) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        file.write(digest.encode())


def _footer_of(path: Path) -> int:
    """Start of the footer of a file, which describes its format."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - END, 0))
        length = int.from_bytes(file.read(4), "little")
    return max(size - END - length, 0)


def _hash_in(path: Path, name: str) -> tuple[int, str]:
    """Position and value of a hash in a file; position -1 if it is missing."""
    start = _footer_of(path)
    with path.open("rb") as file:
        file.seek(start)
        match = re.search(name.encode() + rb".{0,9}?([0-9a-f]{32})", file.read(), re.DOTALL)
    return (-1, "") if match is None else (start + match.start(1), match[1].decode())


def _hash_of(path: Path, start: int, *left_out: int) -> str:
    """The hash of a file from `start` on, except the stored hashes at some positions."""
    digest = hashlib.blake2b(digest_size=16)
    size = path.stat().st_size
    with path.open("rb") as file:
        # the stored hashes are skipped: they can't be part of what they cover
        for place in (*sorted(left_out), size):
            file.seek(start)
            while (left := place - file.tell()) > 0 and (piece := file.read(min(left, PIECE))):
                digest.update(piece)
            start = place + len(UNKNOWN)
    return digest.hexdigest()


def is_whole(path: Path) -> bool:
    """Whether the bytes of a file match its hashes, if it has any.

    Raises
    ------
    OSError
    """
    position, stored = _hash_in(path, HASH)
    return not _names_hashes(path) if position < 0 else _hash_of(path, 0, position) == stored


def _names_hashes(path: Path) -> bool:
    """Whether a file ends as if it had hashes, wherever its footer begins."""
    with path.open("rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - PIECE, 0))
        end = file.read()
    return HASH.encode() in end or FOOTER.encode() in end


def _check(path: Path, damaged: bool) -> None:
    if is_whole(path):
        return
    (whole, _), (footer, stored) = _hash_in(path, HASH), _hash_in(path, FOOTER)
    if not damaged or footer < 0 or _hash_of(path, _footer_of(path), whole, footer) != stored:
        raise ValueError("its bytes don't match their hash")


def read_parquet(
    path: Path, columns: Sequence[str] | None = None, *, damaged: bool = False
) -> pl.DataFrame:
    """A table.

    Parameters
    ----------
    columns : sequence of str, optional
        By default all.
    damaged : bool
        Read as much as possible if only numbers don't match the hash (see `is_whole`).

    Raises
    ------
    OSError
        The file is missing or unreadable.
    ValueError
        It isn't a Parquet file, or is damaged.
    """
    import polars as pl

    _check(path, damaged)
    with _in_a_line():
        if damaged and not is_whole(path):
            return _read_apart(path)
        return pl.read_parquet(path, columns=None if columns is None else list(columns))


def _read_apart(path: Path) -> pl.DataFrame:
    """The readable contents of a damaged file, read by a separate process.

    Raises
    ------
    ValueError
        The process fails or dies.
    """
    import subprocess
    import tempfile

    import polars as pl

    with tempfile.TemporaryDirectory() as folder:
        copy = str(Path(folder) / "read.parquet")
        command = [sys.executable, "-P", "-c", READ_APART, str(path), copy]
        try:
            done = subprocess.run(command, capture_output=True, timeout=LONGEST, check=False)
        except subprocess.TimeoutExpired:
            raise ValueError("it takes too long") from None
        if done.returncode:
            raise ValueError("Polars can't")
        return pl.read_parquet(copy, memory_map=False)


def read_metadata(path: Path, *, damaged: bool = False) -> dict[str, str]:
    """The metadata of a Parquet file; arguments and exceptions as in `read_parquet`."""
    import polars as pl

    _check(path, damaged)
    with _in_a_line():
        return pl.read_parquet_metadata(path)


@contextlib.contextmanager
def _in_a_line() -> Iterator[None]:
    """Turn a panic of Polars into an error of one line. On a malformed file Polars raises an
    exception other than `Exception`, after printing a report without meaning for users.
    """
    with muted(ERROR):
        try:
            yield
        except (OSError, KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:
            lines = str(error).splitlines() or [type(error).__name__]
            raise ValueError(lines[0]) from None
