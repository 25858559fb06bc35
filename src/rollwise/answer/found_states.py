"""The states of a game by layers, written into a folder while a walk finds them.

``found_states.npy`` grows by a layer at a time. ``found.npz`` records the progress of the walk (see
`rollwise.builders.layer_walk.Record`), with a checksum of its states. It is replaced atomically,
after these states have reached the disk. A stopped walk therefore continues after the last recorded
layer. In the end the file of the states gets its final name, and the record is deleted when the
folder has its manifest (`rollwise.answer.layer_folder`).
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rollwise import __version__
from rollwise.errors import OutputError, RollwiseError, RulesError, SolutionFileError
from rollwise.game import Game
from rollwise.machine.atomic_files import read_arrays, write_arrays, write_error

if TYPE_CHECKING:
    from rollwise.builders.layer_walk import Record, Walk


STATES, FOUND, RECORD = "states.npy", "found_states.npy", "found.npz"
BETWEEN_RECORDS = 5.0  # seconds: a walk that takes less is soon done again
BYTES_AT_ONCE = 1 << 26  # that are read
FIELD = np.dtype("<i4")


class FoundStates:
    """The growing file of the states: layer by layer, in order.

    Parameters
    ----------
    place : Path
        The folder.
    file : binary file
        The file of the states, for reading and writing.
    about : mapping
        The identity of the game.
    record : Record, optional
        The progress of a stopped walk.
    """

    def __init__(
        self, place: Path, file: IO[bytes], about: Mapping[str, Any], record: Record | None
    ) -> None:
        self._place, self._file, self._about = place, file, dict(about)
        self._shape = (0, 0)
        self._digest = hashlib.blake2b(digest_size=16)
        self._written = time.monotonic()
        self.record = record
        if record is None:
            file.truncate(0)
        else:
            self._read_again(record)

    def _read_again(self, record: Record) -> None:
        """Go to the end of the recorded states.

        Raises
        ------
        ValueError
            The states were changed.
        """
        n, n_fields = record.facts["shape"]
        self._shape = n, n_fields
        self._file.write(array_head(FIELD, self._shape))
        # the states of earlier layers are read once, to continue their checksum
        left = 4 * n * n_fields
        while left:
            part = self._file.read(min(left, BYTES_AT_ONCE))
            if not part:
                raise ValueError(f"{self._file.name} is short")
            self._digest.update(part)
            left -= len(part)
        if self._digest.hexdigest() != record.facts["checksum"]:
            raise ValueError(f"{self._file.name} was changed")
        self._file.truncate(self._file.tell())

    def append(self, rows: NDArray[np.int32]) -> None:
        """Write a layer: (n, n_fields) int32."""
        if not self._shape[1]:
            self._shape = 0, rows.shape[1]
            self._file.write(array_head(FIELD, self._shape))
        data = np.ascontiguousarray(rows).view(np.uint8).reshape(-1).data
        self._file.write(data)
        self._digest.update(data)
        self._shape = self._shape[0] + len(rows), rows.shape[1]

    def note(self, walk: Walk) -> None:
        """Record the progress of a walk, unless the last record is recent."""
        if time.monotonic() - self._written < BETWEEN_RECORDS:
            return
        self._file.flush()
        os.fsync(self._file.fileno())
        facts, arrays = walk.record()
        facts |= {"shape": self._shape, "checksum": self._digest.hexdigest()}
        write_arrays(self._place / RECORD, arrays, lasting=True, about=self._about, facts=facts)
        self._written = time.monotonic()

    def finish(self) -> str:
        """Write the number of states, give the file its final name, and return its checksum."""
        self._file.seek(0)
        self._file.write(array_head(FIELD, self._shape))
        self._file.flush()
        (self._place / FOUND).replace(self._place / STATES)
        return self._digest.hexdigest()

    def _not_read(self, *_: Any) -> Any:
        raise ValueError("states are read when all are written")

    part = find = all = _not_read


@contextlib.contextmanager
def finding_states(place: Path, game: Game) -> Iterator[FoundStates]:
    """A folder for the states of a game, possibly with the states of an earlier run of it.

    If the walk is stopped, the record stays there, unless the rules are wrong.

    Raises
    ------
    OutputError
        The states can't be written.
    SolutionFileError
        The recorded states were changed.
    """
    known, about = found_before(place), identity_of(game)
    try:
        place.mkdir(parents=True, exist_ok=True)
        if known is not None and not (place / FOUND).exists():  # stopped after its last layer
            (place / STATES).replace(place / FOUND)
        (place / FOUND).touch()  # no change to the file of another process
        file = (place / FOUND).open("r+b")
    except OSError as error:
        raise write_error(place, error) from error
    try:
        _lock(place, file)
    except OutputError:
        file.close()
        raise
    try:
        with file:
            try:
                states = FoundStates(place, file, about, None if known is None else known[1])
            except (ValueError, KeyError) as error:
                raise damaged(place, error) from error
            yield states
    except OSError as error:
        raise write_error(place / FOUND, error) from error
    except RulesError:
        forget(place)
        raise
    finally:
        if not (place / RECORD).exists():
            (place / FOUND).unlink(missing_ok=True)


def found_before(place: Path) -> tuple[dict[str, Any], Record] | None:
    """The record of a stopped walk: the identity of its game, and its progress.

    Raises
    ------
    SolutionFileError
        The record can't be read.
    """
    from rollwise.builders.layer_walk import Record

    path = place / RECORD
    if not path.exists():
        return None
    try:
        arrays, (about, facts) = read_arrays(path, "about", "facts")
    except Exception as error:  # whatever is in the file
        raise damaged(place, error) from error
    return about, Record(facts, arrays)


def forget(place: Path) -> None:
    """Remove the record of a walk, if there is one."""
    (place / RECORD).unlink(missing_ok=True)


def damaged(place: Path, error: Exception, lacking: str = RECORD) -> SolutionFileError:
    """The error for a damaged folder.

    Parameters
    ----------
    error : Exception
        The error in reading it.
    lacking : str
        The file without the key, if a key is missing.
    """
    what = str(error)
    if isinstance(error, KeyError):
        what = f"{lacking} lacks {what}"
    elif isinstance(error, OSError) and error.filename is not None:
        what = f"{Path(error.filename).name}: {error.strerror}"
    return SolutionFileError(
        f"{place} is damaged: {what}; solve the game again into an empty folder"
    )


def _lock(place: Path, file: IO[bytes]) -> None:
    """Make sure that no other process finds states for this folder, if the system can tell.

    Raises
    ------
    OutputError
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise OutputError(f"{place} is written to by another process; wait for its end") from None


FORMAT = "5"


def identity_of(game: Game) -> dict[str, Any]:
    """The identity of an answer: the game, and a hash of its rules."""
    from rollwise.builders.compiled.reads import graph_key
    from rollwise.builders.rules import Rules

    try:
        key = graph_key(Rules(game), __version__)
        rules = key.text if key.lasts else None
    except (RollwiseError, TypeError, ValueError):
        rules = None
    return {
        "format": FORMAT,
        "game": game.name,
        "parameters": dict(game.parameters),
        "rules": rules,
        "rollwise": __version__,
    }


def array_head(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """The bytes before the numbers in a file of NumPy."""
    head = io.BytesIO()
    facts = {"descr": dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, facts)
    return head.getvalue()
