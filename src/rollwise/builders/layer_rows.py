"""Storage for the states of a game found layer by layer, and the tools of one core.

Each layer has its states in the order of their fields. A state takes one 64-bit number if the
fields of its layer fit into it, and its fields otherwise.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.compiled.compiling import Question, ask
from rollwise.builders.compiled.explorer import Explorer
from rollwise.builders.rules import Rules
from rollwise.errors import RollwiseError
from rollwise.kernels import state_tables as kernels

Rows = NDArray[np.int32]
Numbers = NDArray[np.int64]
MORE = 8  # an array grows by this fraction of its length
LEAST_MORE = 1 << 12


class Frame(NamedTuple):
    """The packing of the fields of some states into one number.

    Attributes
    ----------
    low : (n_fields,) int64
        The smallest value of each field.
    shift, mask : (n_fields,) uint64
        The position of a field's bits, and their mask.
    """

    low: NDArray[np.int64]
    shift: NDArray[np.uint64]
    mask: NDArray[np.uint64]

    @classmethod
    def of(cls, rows: Rows) -> Frame | None:
        """The frame of some states; None if 64 bits are too few."""
        low, high = kernels.box_of(rows)
        bits = [int(span).bit_length() for span in high - low]
        if sum(bits) > 64:
            return None
        # a field before 64 bits of other fields would need a shift of 64
        shift = [min(sum(bits[k + 1 :]), 63) for k in range(len(bits))]
        mask = [(1 << width) - 1 for width in bits]
        return cls(low, np.array(shift, np.uint64), np.array(mask, np.uint64))

    def keys(self, rows: Rows) -> NDArray[np.uint64]:
        """The packed numbers of states within the frame."""
        keys = np.empty(len(rows), np.uint64)
        kernels.pack_rows(rows, self.low, self.shift, keys)
        return keys

    def rows(self, keys: NDArray[np.uint64]) -> Rows:
        """The states of packed numbers."""
        rows = np.empty((len(keys), len(self.low)), np.int32)
        kernels.unpack_rows(keys, *self, rows)
        return rows


def ordered(rows: Rows) -> Rows:
    """States in the order of their fields, without duplicates."""
    if len(rows) < 2:
        return rows.copy()
    frame = Frame.of(rows)
    if frame is None:
        return np.unique(rows, axis=0)
    keys = frame.keys(rows)
    keys.sort()
    is_new = np.empty(len(keys), np.bool_)
    is_new[0] = True
    np.not_equal(keys[1:], keys[:-1], out=is_new[1:])
    return frame.rows(keys[is_new] if not is_new.all() else keys)


def places_in(states: Rows, rows: Rows) -> Numbers:
    """The index of each row among sorted states; -1 if absent."""
    indices = np.empty(len(rows), np.int64)
    whole = np.array([0, len(states)])
    kernels.find_rows(rows, np.zeros(len(rows), np.int64), whole, states, indices)
    return indices


class KnownRows(Protocol):
    """The states of a game, in the order of layers."""

    def append(self, rows: Rows) -> None:
        """Add a layer: its states in the order of their fields."""

    def part(self, begin: int, end: int) -> Rows:
        """Some states of one layer, by their numbers."""

    def find(self, rows: Rows, layer: Numbers) -> Numbers:
        """The numbers of states with known layers; -1 for unknown states."""

    def all(self) -> Rows:
        """All states: (n_states, n_fields)."""


class PlainRows:
    """States stored by their fields, in consecutive rows."""

    def __init__(self, states: Rows, indptr: Numbers) -> None:
        self._states, self._indptr = states, indptr

    def append(self, rows: Rows) -> None:
        """Add a layer."""
        n = int(self._indptr[-1])
        self._states = _with_room(self._states, n, n + len(rows))
        self._states[n : n + len(rows)] = rows
        self._indptr = np.append(self._indptr, n + len(rows))

    def part(self, begin: int, end: int) -> Rows:
        """Some states, by their numbers."""
        return self._states[begin:end]

    def find(self, rows: Rows, layer: Numbers) -> Numbers:
        """The numbers of states with known layers; -1 for unknown states."""
        indices = np.empty(len(rows), np.int64)
        kernels.find_rows(rows, layer, self._indptr, self._states, indices)
        return indices

    def all(self) -> Rows:
        """All states."""
        return self._states[: int(self._indptr[-1])]


class PackedRows:
    """States as 64-bit numbers, or by their fields once a layer does not fit."""

    def __init__(self, n_fields: int) -> None:
        self._n_fields = n_fields
        self._keys = np.empty(0, np.uint64)
        self._indptr = [0]
        self._frames: list[Frame] = []
        self._tables: tuple[Any, ...] | None = None  # the frames as arrays
        self._plain: PlainRows | None = None

    def append(self, rows: Rows) -> None:
        """Add a layer."""
        frame = None if self._plain is not None else Frame.of(rows)
        if frame is None:
            if self._plain is None:
                self._plain = PlainRows(self.all(), np.array(self._indptr))
                self._keys = np.empty(0, np.uint64)
            self._plain.append(rows)
            return
        n = self._indptr[-1]
        self._keys = _with_room(self._keys, n, n + len(rows))
        self._keys[n : n + len(rows)] = frame.keys(rows)
        self._frames.append(frame)
        self._indptr.append(n + len(rows))
        self._tables = None

    def part(self, begin: int, end: int) -> Rows:
        """Some states of one layer, by their numbers."""
        if self._plain is not None:
            return self._plain.part(begin, end)
        layer = int(np.searchsorted(self._known()[0], begin, side="right")) - 1
        return self._frames[layer].rows(self._keys[begin:end])

    def find(self, rows: Rows, layer: Numbers) -> Numbers:
        """The numbers of states with known layers; -1 for unknown states."""
        if self._plain is not None:
            return self._plain.find(rows, layer)
        indptr, low, shift, mask = self._known()
        indices = np.empty(len(rows), np.int64)
        kernels.find_keys(rows, layer, indptr, self._keys, low, shift, mask, indices)
        return indices

    def all(self) -> Rows:
        """All states."""
        if self._plain is not None:
            return self._plain.all()
        states = np.empty((self._indptr[-1], self._n_fields), np.int32)
        for frame, begin, end in zip(self._frames, self._indptr, self._indptr[1:], strict=False):
            kernels.unpack_rows(self._keys[begin:end], *frame, states[begin:end])
        return states

    def _known(self) -> tuple[Any, ...]:
        if self._tables is None:
            parts = (np.array(part) for part in zip(*self._frames, strict=True))
            self._tables = (np.array(self._indptr), *parts)
        return self._tables


def _with_room(array: NDArray[Any], used: int, needed: int) -> NDArray[Any]:
    """An array with room for `needed` rows: itself, or a larger one."""
    if len(array) >= needed:
        return array
    rows = needed + max(needed // MORE, LEAST_MORE)
    if array.flags.owndata:  # the system moves pages faster than it copies them
        array.resize((rows, *array.shape[1:]), refcheck=False)
        return array
    grown = np.empty((rows, *array.shape[1:]), array.dtype)
    grown[:used] = array[:used]
    return grown


FEW = 20  # too few states for compiled rules
MOST_CODES = 1 << 62


class Reached:
    """Computes the progress of states by compiled rules.

    Attributes
    ----------
    question : Question

    Raises
    ------
    NotCompilable
    """

    def __init__(self, rules: Rules) -> None:
        size = rules.progress_size
        self._rules, self._parts = rules, [None] if size is None else list(range(size))
        self.question = Question(rules, type(rules.game).progress, parts=size is not None)

    def of(self, rows: NDArray[np.int32], *, asked: bool = False) -> Numbers:
        """The progress of states: (n, n_numbers) int64.

        Parameters
        ----------
        rows : (n, n_fields) int32
        asked : bool
            The same question was asked about them before.

        Raises
        ------
        RulesError
        """
        codes = np.empty((len(rows), len(self._parts)), np.int64)
        for column, part in enumerate(self._parts):
            codes[:, column], failed = self.question.answers(rows, part, asked=asked)
            if failed >= 0:
                raise self._rules.progress_fails(rows[failed].tolist())
        return codes


class LayersByProgress:
    """Finds layers by their progress.

    Parameters
    ----------
    progress : (n_layers,) or (n_layers, n_numbers) int64
        Without duplicates.
    """

    def __init__(self, progress: Numbers) -> None:
        rows = progress.reshape(len(progress), -1)
        self._known = [np.unique(column) for column in rows.T]
        self._names: dict[tuple[int, ...], int] | None = None
        if np.prod([float(len(known)) for known in self._known]) > MOST_CODES:
            self._names = {tuple(row): i for i, row in enumerate(rows.tolist())}
            return
        codes, _ = self._codes(rows)
        self._layers = np.argsort(codes)
        self._sorted = codes[self._layers]

    def find(self, reached: Numbers) -> Numbers:
        """The layers with given progress; -1 if there is none.

        Parameters
        ----------
        reached : (n,) or (n, n_numbers) int64
        """
        rows = reached.reshape(len(reached), len(self._known))
        if self._names is not None:
            return np.array([self._names.get(tuple(row), -1) for row in rows.tolist()], np.int64)
        codes, is_known = self._codes(rows)
        index = np.minimum(np.searchsorted(self._sorted, codes), len(self._sorted) - 1)
        return np.where(is_known & (self._sorted[index] == codes), self._layers[index], -1)

    def _codes(self, rows: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
        """A number for each row, and whether all its entries occur in the progress of layers."""
        codes, is_known = np.zeros(len(rows), np.int64), np.ones(len(rows), np.bool_)
        for known, column in zip(self._known, rows.T, strict=True):
            index = np.minimum(np.searchsorted(known, column), len(known) - 1)
            is_known &= known[index] == column
            codes = codes * len(known) + index
        return codes, is_known


def progress_of(rules: Rules, rows: NDArray[np.int32], otherwise: Numbers) -> Numbers:
    """The results of `progress` for rows, some of which may be no states.

    Parameters
    ----------
    rows : (n, n_fields) int32
    otherwise : (n_numbers,) int64, or one number
        The result if it fails.

    Returns
    -------
    (n, n_numbers) or (n,) int64
    """
    progress = np.repeat(otherwise[None], len(rows), axis=0)
    if len(rows) > FEW:
        size = rules.progress_size
        parts = (None,) if size is None else range(size)
        found_each = [ask(rules, type(rules.game).progress, rows, part) for part in parts]
        if all(failed < 0 for _, failed in found_each):
            reached_each = [reached for reached, _ in found_each]
            return reached_each[0] if size is None else np.column_stack(reached_each)
    for i, row in enumerate(rows.tolist()):
        with suppress(RollwiseError):
            progress[i] = rules.progress(rules.layout.state(row))
    return progress


class Workbench:
    """An explorer and a question for the progress of states, for one thread at a time.

    Parameters
    ----------
    rules : Rules
    most : int
        The largest number of states to number together.

    Attributes
    ----------
    last : Explorer or None
        The last explorer used, unless it was released.
    """

    def __init__(self, rules: Rules, most: int) -> None:
        self._rules, self._most = rules, most
        self.last: Explorer | None = None

    @cached_property
    def reached(self) -> Reached:
        """Computes the progress of states."""
        return Reached(self._rules)

    def explorer(self, root: np.ndarray, *, merging: bool) -> Explorer:
        """The last explorer or a new one. It must be restarted before use.

        Parameters
        ----------
        root : (1, n_fields) int32
            A state.
        merging : bool
            Whether equal outcomes are merged.
        """
        if self.last is None:
            self.last = Explorer(self._rules, root, self._most, layer_by_layer=True)
        self.last.counts["merging"] = merging
        return self.last

    def put_away(self) -> None:
        """Release the explorer and its arrays."""
        self.last = None
