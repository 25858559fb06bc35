"""Answers by layers: values, bounds and actions as they are found, in memory or in a folder.

A folder has memory-mapped arrays, and a manifest. The arrays are NumPy's own files: ``states.npy``,
``values.npy``, ``error_bounds.npy`` and ``actions.npy``, a row for each state. They are mapped into
memory, and the look-up of a state reads a few pages. ``block_sums.npy`` has a checksum for each
block of rows of a layer, so a reader of some rows can check them. ``manifest.json`` identifies the
game, and has a checksum of the block sums of each proved layer. It is replaced atomically, after
these rows have reached the disk. After any interruption the manifest thus names whole layers only,
and the same run can continue there.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.found_states import (
    FORMAT,
    RECORD,
    array_head,
    damaged,
    forget,
    found_before,
    identity_of,
)
from rollwise.builders.rules import as_progress
from rollwise.errors import OutputError, SolutionFileError
from rollwise.game import Game
from rollwise.machine.atomic_files import checksum_of, write_error, write_text

Rows = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]


@dataclass(frozen=True)
class LayerFacts:
    """The counts of a layer.

    Attributes
    ----------
    n_actions, n_outcomes : int
    has_draws, has_stakes : bool
    """

    n_actions: int = 0
    n_outcomes: int = 0
    has_draws: bool = False
    has_stakes: bool = False

    @classmethod
    def of(cls, parts: Iterable[LayerFacts]) -> LayerFacts:
        """The counts of all parts together."""
        every = list(parts)
        return cls(
            sum(part.n_actions for part in every),
            sum(part.n_outcomes for part in every),
            any(part.has_draws for part in every),
            any(part.has_stakes for part in every),
        )


class LayerAnswers:
    """The values of the states, their bounds and the best actions, layer by layer.

    Parameters
    ----------
    indptr : (n_layers + 1,) int64
        Layer i has the states from ``indptr[i]`` to ``indptr[i + 1]``.
    start : int
        The number of the start.
    rows : tuple of arrays
        The values, bounds and actions. They have room for all states, or only for those needed at
        once: the state s is at ``s % room``.

    Attributes
    ----------
    values, error_bounds : (room,) float64
    actions : (room,) int32
    at_start : tuple, optional
        The value, bound and action of the start, once it is proved.
    counted : dict of LayerFacts
        The counts of each layer so far, by its number.
    first_rows : dict of list of int
        States with actions for `action_text` to name (`rollwise.builders.arrays.first_rows`).
    known : frozenset of int
        The layers proved before.
    """

    def __init__(self, indptr: NDArray[np.int64], start: int, rows: Rows) -> None:
        self.indptr, self.start = indptr, start
        self.values, self.error_bounds, self.actions = rows
        self.at_start: tuple[float, float, int] | None = None
        self.counted: dict[int, LayerFacts] = {}
        self.first_rows: dict[int, list[int]] = {}
        self.known: frozenset[int] = frozenset()

    @classmethod
    def in_memory(cls, indptr: NDArray[np.int64], start: int, room: int) -> LayerAnswers:
        """Room for the answers of some states."""
        return cls(indptr, start, (np.empty(room), np.empty(room), np.empty(room, np.int32)))

    @property
    def has_all(self) -> bool:
        """Whether the answers of all layers are in memory, so that their proofs can wait."""
        return len(self.values) == int(self.indptr[-1])

    def values_of(self, states: NDArray[np.int32]) -> NDArray[np.float64]:
        """The values of states, by their numbers."""
        values: NDArray[np.float64] = self.values[states % len(self.values)]
        return values

    def bounds_of(self, states: NDArray[np.int32]) -> NDArray[np.float64]:
        """The error bounds of states, by their numbers."""
        bounds: NDArray[np.float64] = self.error_bounds[states % len(self.values)]
        return bounds

    def at(self, begin: int, end: int) -> Any:
        """The places of the answers of some consecutive states."""
        room = len(self.values)
        # answers of states lie in a ring: the range may go round its end
        first = begin % room
        if first + end - begin <= room:
            return slice(first, first + end - begin)
        return np.arange(begin, end) % room

    @property
    def facts(self) -> LayerFacts:
        """The counts of all layers so far."""
        return LayerFacts.of(self.counted.values())

    def count(self, begin: int, facts: LayerFacts, first: Mapping[int, list[int]]) -> None:
        """Add the counts of a layer, or of a part of it; `begin` is one of its states."""
        layer = self.layer_of(begin)
        self.counted[layer] = LayerFacts.of([self.counted.get(layer, LayerFacts()), facts])
        self.first_rows = {**first, **self.first_rows}

    def prove(self, begin: int, end: int) -> None:
        """Record that these states of one layer are proved."""
        if begin <= self.start < end:
            at = self.start % len(self.values)
            value, bound = float(self.values[at]), float(self.error_bounds[at])
            self.at_start = value, bound, int(self.actions[at])

    def close(self) -> None:
        """Bring all proved layers to the disk, if they have a folder."""

    def layer_of(self, state: int) -> int:
        """The layer of a state."""
        return int(np.searchsorted(self.indptr, state, side="right")) - 1


MANIFEST = "manifest.json"
ARRAYS: dict[str, Any] = {"values": np.float64, "error_bounds": np.float64, "actions": np.int32}
NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)
SECONDS_BETWEEN = 1.0  # manifests of a run with many small layers
BLOCK_ROWS = 512  # of a layer, or less at its end, have a checksum of their own
SUMS = "block_sums"
OF_ITSELF = ',\n "manifest_checksum": "'  # the last entry of the manifest
ALL, START = "all", "start"  # the states of an answer to keep
ABOUT = ("start", "n_outcomes", "n_roots", "merging", "extremes")  # of layers
# The content of a manifest, with types.
FACTS: dict[str, Any] = {
    **{"game": str, "parameters": dict, "rules": str | None, "rollwise": str},
    **{"start": int, "n_outcomes": int, "n_roots": int, "merging": bool, "extremes": list},
    **{"states_checksum": str, "block_rows": int, "first_rows": dict, "layers": list},
}


class LayerFolder(LayerAnswers):
    """A folder with an answer by layers, perhaps unfinished.

    Parameters
    ----------
    place : Path
    about : dict
        The head of the manifest: the game, its parameters, and other facts.
    indptr : (n_layers + 1,) int64
    progress : (n_layers,) or (n_layers, n_numbers) int64
    mode : {"r", "r+"}

    Attributes
    ----------
    states : (n_states, n_fields) int32
    checksums : dict of str
        Of each proved layer, by its number.
    sums : (n_blocks,) uint64
        The checksums of blocks, the first layer first; 0 until they are computed.
    is_written : bool
        Whether the manifest names all proved layers.

    Raises
    ------
    OSError, ValueError, KeyError
        The files can't be read, or aren't those of such an answer.
    """

    def __init__(
        self,
        place: Path,
        about: dict[str, Any],
        indptr: NDArray[np.int64],
        progress: NDArray[np.int64],
        mode: Any,
    ) -> None:
        if about["block_rows"] != BLOCK_ROWS:
            raise ValueError(f"{MANIFEST} says that a block has {about['block_rows']} rows")
        self.place, self.about, self.progress = place, about, progress
        self._first_blocks = _first_blocks(indptr)
        n, n_blocks = int(indptr[-1]), int(self._first_blocks[-1])
        self._maps = _maps(place, mode, n)
        super().__init__(indptr, about["start"], _plain(self._maps))
        states = _map(place / "states.npy", "r", np.dtype(np.int32), n, fields=True)
        self._sums = _map(place / f"{SUMS}.npy", mode, np.dtype(np.uint64), n_blocks)
        self.states, self.sums = states.view(np.ndarray), self._sums.view(np.ndarray)
        self.checksums: dict[int, str] = {}
        self.is_written, self._written = True, 0.0
        self._looked_at: set[int] = set()

    @property
    def has_all(self) -> bool:
        """False: each layer is written when it is proved."""
        return False

    @property
    def is_whole(self) -> bool:
        """Whether all layers are proved."""
        return len(self.checksums) == len(self.progress)

    @property
    def has_its_states(self) -> bool:
        """Whether the states match their checksum."""
        known: str = self.about["states_checksum"]
        return checksum_of(self.states) == known

    def require(self, game: Game) -> None:
        """Make sure that it is of a game and its rules.

        Raises
        ------
        SolutionFileError
        """
        _require_same(self.place, self.about, json.loads(json.dumps(identity_of(game))))

    def require_whole(self) -> None:
        """Make sure that all layers are proved.

        Raises
        ------
        SolutionFileError
        """
        if not self.is_whole:
            raise SolutionFileError(
                f"{self.place} holds {len(self.checksums):,} of {len(self.progress):,} layers; "
                "`rollwise solve --by-layer --save FOLDER --resume` goes on with them"
            )

    def map_again(self) -> None:
        """Map the files anew, to see rows written by other machines."""
        self._maps = _maps(self.place, "r+")
        self.values, self.error_bounds, self.actions = _plain(self._maps)

    def require_rows(self, rows: NDArray[np.int64]) -> None:
        """Check some rows against the checksums of their blocks.

        Raises
        ------
        SolutionFileError
            A block doesn't match its checksum.
        """
        # blocks are numbered through all layers, and none reaches into the next layer
        layer = np.searchsorted(self.indptr, rows, side="right") - 1
        block = self._first_blocks[layer] + (rows - self.indptr[layer]) // BLOCK_ROWS
        for number in sorted(set(np.unique(block).tolist()) - self._looked_at):
            if self._sum_of(number) != self.sums[number]:
                which = np.searchsorted(self._first_blocks, number, side="right") - 1
                raise SolutionFileError(
                    f"{self.place} is damaged: rows of progress "
                    f"{as_progress(self.progress[which])} don't match their checksum; "
                    "`rollwise solve --by-layer --save FOLDER --resume` solves damaged layers again"
                )
            self._looked_at.add(number)

    def _sum_of(self, block: int) -> int:
        """The checksum of the rows of a block."""
        layer = int(np.searchsorted(self._first_blocks, block, side="right")) - 1
        begin = int(self.indptr[layer] + (block - self._first_blocks[layer]) * BLOCK_ROWS)
        end = min(begin + BLOCK_ROWS, int(self.indptr[layer + 1]))
        digest = hashlib.blake2b(digest_size=8)
        for array in (self.states, self.values, self.error_bounds, self.actions):
            digest.update(np.ascontiguousarray(array[begin:end]).view(np.uint8).reshape(-1).data)
        return int.from_bytes(digest.digest(), "little")

    def sums_of(self, layer: int) -> NDArray[np.uint64]:
        """The checksums of the blocks of a layer."""
        blocks = range(*self._first_blocks[layer : layer + 2].tolist())
        return np.array([self._sum_of(block) for block in blocks], np.uint64)

    def prove(self, begin: int, end: int) -> None:
        """Record that these states of one layer are proved; of a whole layer, its checksum."""
        super().prove(begin, end)
        layer = self.layer_of(begin)
        if end == self.indptr[layer + 1]:
            self.keep(layer)

    def keep(self, layer: int) -> None:
        """Record the checksum of a proved layer."""
        sums = self.sums_of(layer)
        self.sums[slice(*self._first_blocks[layer : layer + 2])] = sums
        self.checksums[layer] = checksum_of(sums)
        self.is_written = False
        if self.is_whole or time.monotonic() - self._written > SECONDS_BETWEEN:
            self.write()

    def write(self) -> None:
        """Flush all rows to the disk, then write the manifest."""
        for array in (*self._maps, self._sums):
            array.flush()
        # the rows are on the disk before the manifest names their layers
        layers: list[dict[str, Any]] = [
            {"progress": progress, "end": end}
            for progress, end in zip(self.progress.tolist(), self.indptr[1:].tolist(), strict=True)
        ]
        for i, checksum in self.checksums.items():
            layers[i] |= {"checksum": checksum, **vars(self.counted[i])}
        first = {str(label): row for label, row in sorted(self.first_rows.items())}
        lines = ",\n  ".join(json.dumps(layer) for layer in layers)
        head = json.dumps({**self.about, "first_rows": first}, indent=1)[1:-2]
        text = f'{{{head},\n "layers": [\n  {lines}\n ]'
        write_text(self.place / MANIFEST, f'{text}{OF_ITSELF}{_text_checksum(text)}"\n}}\n')
        self._written, self.is_written = time.monotonic(), True

    def close(self) -> None:
        """Write the manifest, if newly proved layers are missing there."""
        if not self.is_written:
            self.write()

    def drop_damaged(self) -> None:
        """Drop layers that don't match their checksums."""
        for layer in self.damaged():
            del self.checksums[layer], self.counted[layer]
        self.known = frozenset(self.checksums)

    def damaged(self) -> list[int]:
        """The numbers of layers that don't match their checksums."""
        numbers = []
        for i, known in self.checksums.items():
            sums, noted = self.sums_of(i), self.sums[slice(*self._first_blocks[i : i + 2])]
            if not np.array_equal(sums, noted) or checksum_of(sums) != known:
                numbers.append(i)
        return numbers


def _first_blocks(indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first block of each layer, then the number of blocks: (n_layers + 1,) int64."""
    return np.concatenate([[0], np.cumsum(-(-np.diff(indptr) // BLOCK_ROWS))])


def _text_checksum(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def require_begun_so(place: Path, game: Game) -> None:
    """Make sure that a stopped search for states in a folder was for the same game.

    Raises
    ------
    SolutionFileError
    """
    if (known := found_before(place)) is not None:
        about, _ = known
        _require_same(place, about, json.loads(json.dumps(identity_of(game))))


def begin_folder(
    place: Path,
    game: Game,
    indptr: NDArray[np.int64],
    progress: NDArray[np.int64],
    about: Mapping[str, Any],
) -> LayerFolder:
    """Make a folder for an answer, with states but without values.

    The disk space of its files is reserved before solving, since a write to a mapped file on a
    full disk would kill the process.

    Raises
    ------
    OutputError
        It can't be written. Its files are removed then.
    """
    try:
        for name, dtype in {**ARRAYS, SUMS: np.uint64}.items():
            n = _first_blocks(indptr)[-1] if name == SUMS else indptr[-1]
            path, shape = place / f"{name}.npy", (int(n),)
            np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
            with path.open("r+b") as file:
                _reserve(file, path.stat().st_size)
    except OSError as error:
        _remove(place)
        raise write_error(place, error) from error
    except OutputError:
        _remove(place)
        raise
    facts = {**identity_of(game), **about, "block_rows": BLOCK_ROWS}
    made = LayerFolder(place, facts, indptr, progress, "r+")
    made.write()
    forget(place)
    return made


def _reserve(file: IO[bytes], size: int) -> None:
    """Reserve so many bytes on the disk for a file, where the system supports it."""
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
                raise


def _remove(place: Path) -> None:
    """Remove the arrays of a folder without a manifest of them."""
    forget(place)
    for name in ("states", SUMS, *ARRAYS):
        with contextlib.suppress(OSError):
            (place / f"{name}.npy").unlink()


def _unreadable(place: Path, error: OSError) -> SolutionFileError:
    return SolutionFileError(f"{place} can't be read: {error.strerror}")


def map_rows(place: Path) -> Rows:
    """The values, bounds and actions as they lie in a folder now: to be changed, but not there."""
    return _plain(_maps(place, "c"))


def write_rows(place: Path, name: str, begin: int, rows: NDArray[Any]) -> None:
    """Write rows of one of the arrays of a folder, and bring them to the disk.

    Raises
    ------
    OutputError
    """
    path = place / f"{name}.npy"
    try:
        lies_at = int(_map(path, "r", rows.dtype, None).offset)
        with path.open("r+b") as file:
            file.seek(lies_at + begin * rows.itemsize)
            file.write(np.ascontiguousarray(rows).data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise write_error(path, error) from error


def open_folder(place: Path, game: Game | None = None, *, to_write: bool = False) -> LayerFolder:
    """Open a folder with an answer by layers.

    Parameters
    ----------
    game : Game, optional
        The expected game.
    to_write : bool
        Whether to open it for more layers.

    Raises
    ------
    SolutionFileError
        It contains no answer, or the answer of another game or of other rules; or a file is
        missing or damaged.
    OutputError
        It can't be written, and `to_write` is true.
    """
    manifest = read_manifest(place)
    try:
        layers, rows = manifest.pop("layers"), manifest.pop("first_rows")
        indptr = np.array([0, *(layer["end"] for layer in layers)], np.int64)
        progress = np.array([layer["progress"] for layer in layers], np.int64)
        made = LayerFolder(place, manifest, indptr, progress, "r+" if to_write else "r")
        for i, layer in enumerate(layers):
            if "checksum" in layer:
                made.checksums[i] = str(layer["checksum"])
                counts = [layer[field.name] for field in fields(LayerFacts)]
                if not all(isinstance(count, int) for count in counts):
                    raise ValueError(f"{MANIFEST} has counts of a layer that aren't numbers")
                made.counted[i] = LayerFacts(*counts)
        made.known = frozenset(made.checksums)
        if not all(row in range(indptr[-1]) for row in (made.start, *manifest["extremes"])):
            raise ValueError(f"{MANIFEST} names states that aren't there")
        made.first_rows = {int(label): list(map(int, row)) for label, row in rows.items()}
        if game is not None:
            made.require(game)
        if to_write and not made.has_its_states:
            raise ValueError("states.npy holds other states than were found")
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno in NOT_ALLOWED:
            raise write_error(place, error) if to_write else _unreadable(place, error) from error
        raise damaged(place, error, MANIFEST) from error
    return made


def read_manifest(place: Path) -> dict[str, Any]:
    """The manifest of a folder.

    Raises
    ------
    SolutionFileError
        There is none, or it is damaged.
    """
    path = place / MANIFEST
    try:
        text = path.read_text(encoding="utf-8")
        manifest = json.loads(text)
        if manifest["format"] != FORMAT:
            raise SolutionFileError(
                f"{place} was written by rollwise {manifest['rollwise']}, whose folders are others "
                "(earlier ones may be wrong where play need not end); solve the game again into "
                "an empty folder"
            )
        content, _, rest = text.rpartition(OF_ITSELF)
        checksum = manifest.pop("manifest_checksum", None)  # older folders have none
        if checksum is not None and rest != f'{_text_checksum(content)}"\n}}\n':
            raise ValueError("it was changed after it was written")
        if not all(isinstance(manifest[name], kind) for name, kind in FACTS.items()):
            raise TypeError("it has values of other types")
    except FileNotFoundError:
        remedy = f"it has no {MANIFEST}; `rollwise solve GAME --by-layer --save FOLDER` writes one"
        if (place / RECORD).exists():
            remedy = "its states aren't all found yet; --resume goes on with them"
        raise SolutionFileError(f"{place} holds no answer: {remedy}") from None
    except PermissionError as error:
        raise _unreadable(path, error) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SolutionFileError(
            f"{path} is damaged; solve the game again into an empty folder"
        ) from error
    return dict(manifest)


def free_bytes(place: Path) -> int:
    """The free bytes on the disk of a folder, which need not exist yet."""
    there = place.resolve()
    while not there.exists():
        there = there.parent
    return shutil.disk_usage(there).free


def _require_same(place: Path, found: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    for name in ("game", "parameters"):
        if found[name] != asked[name]:
            raise SolutionFileError(
                f"{place} is of {_named(found)}, and not of {_named(asked)}; choose another folder"
            )
    if found["rollwise"] != asked["rollwise"] or None in (found["rules"], asked["rules"]):
        return
    if found["rules"] != asked["rules"]:
        raise SolutionFileError(
            f"{place} is of other rules of {asked['game']}: they, or the version of Python, were "
            "changed since; choose another folder"
        )


def _named(about: Mapping[str, Any]) -> str:
    from rollwise.graph import title_of

    return title_of(about["game"], about["parameters"])


def _maps(place: Path, mode: Any, n: int | None = None) -> list[np.memmap[Any, Any]]:
    return [_map(place / f"{name}.npy", mode, np.dtype(dtype), n) for name, dtype in ARRAYS.items()]


def _map(
    path: Path, mode: Any, dtype: np.dtype[Any], n: int | None, *, fields: bool = False
) -> np.memmap[Any, Any]:
    """Map an array of so many rows, each a number or, with `fields`, some numbers.

    The head of the file is compared with the expected head, and never interpreted. A short file
    mapped for writing is extended to its length.

    Raises
    ------
    OSError
    ValueError
        It isn't a file of such an array.
    """
    size = path.stat().st_size
    left = size - len(array_head(dtype, (0,)))  # the head has one length for any number of rows
    rows = left // dtype.itemsize if n is None else n
    shape = (rows, left // (rows * dtype.itemsize)) if fields and rows > 0 else (rows,)
    head = array_head(dtype, shape) if left >= 0 else b"?"
    with path.open("rb") as file:
        start = file.read(len(head))
    whole = len(head) + math.prod(shape) * dtype.itemsize
    if start != head or not (size == whole or (size < whole and mode == "r+")):
        raise ValueError(f"{path.name} isn't as it was written")
    found: np.memmap[Any, Any] = np.memmap(path, dtype, mode, len(head), shape)
    return found


def _plain(maps: Sequence[np.memmap[Any, Any]]) -> Rows:
    values, bounds, actions = (array.view(np.ndarray) for array in maps)
    return values, bounds, actions
