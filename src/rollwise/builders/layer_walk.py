"""Finding the states of a game layer by layer, each layer after its predecessors.

A layer is explored from the states at which play enters it. States outside it are recorded but not
expanded until their layer is explored. Memory therefore holds only one layer and the entry states
of later layers.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import limits
from rollwise.builders.arrays import Arrays, block_from, first_rows, layer_of
from rollwise.builders.building import Progress
from rollwise.builders.compiled.compiling import Question, ask
from rollwise.builders.compiled.explorer import Explorer
from rollwise.builders.compiled.spot_check import compare_answers, extreme_rows
from rollwise.builders.rules import Rules, Situation, as_progress
from rollwise.errors import RollwiseError, RulesError
from rollwise.kernels import state_tables as kernels
from rollwise.layers import Layer
from rollwise.layers.layer import smallest_kind
from rollwise.machine.interrupts import heard
from rollwise.machine.pipeline import on_both_cores

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
        self.unpack(keys, rows)
        return rows

    def unpack(self, keys: NDArray[np.uint64], rows: Rows) -> None:
        """Write the states of packed numbers."""
        kernels.unpack_rows(keys, *self, rows)


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
        """Some states, by their numbers."""

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
        """Some states, by their numbers."""
        if self._plain is not None:
            return self._plain.part(begin, end)
        rows, indptr = np.empty((end - begin, self._n_fields), np.int32), self._known()[0]
        layer, first = int(np.searchsorted(indptr, begin, side="right")) - 1, begin
        # A layer at a time: each has a frame of its own.
        while first < end:
            last = min(int(indptr[layer + 1]), end)
            self._frames[layer].unpack(self._keys[first:last], rows[first - begin : last - begin])
            layer, first = layer + 1, last
        return rows

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
        return self.part(0, self._indptr[-1])

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
OUTCOMES_AT_ONCE = 1_000_000  # expanded together, on one core
SMALL = 100_000  # outcomes of a layer that is soon expanded
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
        # A number in mixed radix: each digit is an index among the numbers of a column.
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

    def expanded(
        self, begun: Explorer, n: int, *, soon: bool = False, keep_arrays: bool = False
    ) -> Expanded:
        """The rules of the first `n` states of a restarted explorer.

        Parameters
        ----------
        soon : bool
            See `Explorer.run`.
        keep_arrays : bool
            Whether the result has `arrays` of games with throws, too.
        """
        begun.run(n, soon=soon)
        arrays = begun.arrays()
        targets = begun.graph.states[n : begun.n_states]
        layer = layer_of(self._rules, arrays, [(0, block_from(arrays))], n, len(targets))
        first = first_rows(self._rules, arrays)
        kept = arrays.copied() if keep_arrays or not self._rules.has_throws else None
        return Expanded(layer, targets.copy(), kept, first)

    def put_away(self) -> None:
        """Release the explorer and its arrays."""
        self.last = None


class Expanded(NamedTuple):
    """The rules of some states, in the order of the states.

    Attributes
    ----------
    layer : rollwise.layers.Layer
        All other targets of the states are its border.
    targets : (layer.n_border, n_fields) int32
        The states of the border.
    arrays : Arrays or None
        The arrays of the states, in reading order. Present on request, and if states have no
        throws.
    first_rows : dict
        See `rollwise.builders.arrays.first_rows`.
    """

    layer: Layer
    targets: Rows
    arrays: Arrays | None
    first_rows: dict[int, list[int]]

    def packed(self) -> Expanded:
        """The same rules, with targets in fewer bytes, which no kernel reads."""
        return self._with_targets(smallest_kind(self.layer.n_places))

    def unpacked(self) -> Expanded:
        """The packed rules, for kernels."""
        return self._with_targets(np.uint32)

    def _with_targets(self, kind: type[np.unsignedinteger[Any]]) -> Expanded:
        blocks = [
            (place, block._replace(target=block.target.astype(kind, copy=False)))
            for place, block in self.layer.blocks
        ]
        return self._replace(layer=replace(self.layer, blocks=blocks))

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        others = 0 if self.arrays is None else self.arrays.nbytes
        return self.layer.nbytes + self.targets.nbytes + others


Key = tuple[int, ...]
MANY_TWICE = 1 << 10  # rows that may wait as duplicates before duplicates are removed
ROOTS_AT_ONCE = 1 << 22
WORTH_PACKING = 1 << 8  # rows
WORTH_BOTH = 1 << 8  # positions of a layer that make a second core worthwhile
FEW_BITS = 1 << 16  # limit for sorting numbers by their digits
LARGE = 1 << 18  # states of a layer after which its workspace is freed


class Waiting:
    """The known states of an unexplored layer."""

    def __init__(self) -> None:
        self._parts: list[Rows | tuple[Frame, NDArray[np.uint64]]] = []
        self._n, self._once = 0, 0

    def add(self, rows: Rows) -> None:
        """Add states."""
        # Duplicates are removed each time the rows have doubled, so a row is sorted a few times
        # only.
        if self._n and self._n + len(rows) > 2 * self._once + MANY_TWICE:
            rows = ordered(np.concatenate([self._all(), rows]))
            self._n, self._once, self._parts = 0, len(rows), []
        self._n += len(rows)
        frame = Frame.of(rows) if len(rows) > WORTH_PACKING else None
        self._parts.append(rows if frame is None else (frame, frame.keys(rows)))

    def rows(self) -> Rows:
        """All states, in the order of their fields, without duplicates."""
        return ordered(self._all())

    def gathered(self) -> Rows:
        """All states, in the form of `rows`. This replaces the stored form."""
        rows, self._parts, self._n, self._once = self.rows(), [], 0, 0
        self._once = len(rows)
        self.add(rows)
        return rows

    def _all(self) -> Rows:
        parts = (
            part if isinstance(part, np.ndarray) else part[0].rows(part[1]) for part in self._parts
        )
        return np.concatenate(list(parts))


class Record(NamedTuple):
    """A snapshot of a walk, to continue it later.

    Attributes
    ----------
    facts : dict
        Numbers and lists of numbers.
    arrays : dict of ndarray
    """

    facts: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


class Found(NamedTuple):
    """The states reached from some states of a layer.

    Attributes
    ----------
    inside : (n, n_fields) int32
        States of the layer, including the given states.
    outside : list of (Key, Rows)
        States of other layers, by their progress.
    n_outcomes : int
    merging : bool
        Whether equal outcomes are merged from now on.
    """

    inside: Rows
    outside: list[tuple[Key, Rows]]
    n_outcomes: int
    merging: bool


class Journal(KnownRows, Protocol):
    """A storage with snapshots of the walk."""

    record: Record | None  # of a stopped walk, to continue

    def note(self, walk: Walk) -> None:
        """Record the walk, after a layer."""


NUMBERS = ("ends", "start", "n_roots", "n_outcomes", "merging")  # of a record, stored unchanged
KEYS = ("progress", "farthest")  # of a record, lists of tuples


class Walk:
    """A search for the layers of a game, one after the other.

    Parameters
    ----------
    rules : Rules
    roots : (n_roots, n_fields) int32
        The start first.
    most : int
        The largest number of states of the game.
    rows : KnownRows
        The storage of the states.
    room : int
        Bytes for `kept`.

    Attributes
    ----------
    ends : list of int
        The end of each layer in the numbers of the states.
    progress : list of tuple
        The progress of each layer.
    farthest : list of tuple
        For each layer the progress of the last layer reached from it, possibly its own.
    n_roots, n_outcomes : int
    merging : bool
        Whether equal outcomes are merged.
    start : int
        The state number of the start.
    extremes : (2 * n_fields,) int64
        The first states with the smallest and the largest value of each field.
    kept : dict of list of Expanded
        The rules of layers, by the layer's number, as long as there is room. Only layers whose
        states all lead to later ones are kept.
    """

    def __init__(
        self,
        rules: Rules,
        roots: Rows,
        most: int,
        rows: KnownRows,
        room: int = 0,
    ) -> None:
        self._rules, self._most, self._rows, self._room = rules, most, rows, room
        self.kept: dict[int, list[Expanded]] = {}
        self._benches = [Workbench(rules, most) for _ in range(2)]
        self._reached = self._benches[0].reached
        self._stays = not rules.has_throws  # whether play stays in some layer for a move or more
        self._begun_at = roots[:1].copy()
        self._entries: dict[Key, Waiting] = {}
        self._next: list[tuple[int, Key]] = []
        self._roots: dict[Key, Waiting] = {}
        for begin in range(0, len(roots), ROOTS_AT_ONCE):
            for key, found in self._by_progress(roots[begin : begin + ROOTS_AT_ONCE]):
                if key not in self._roots:
                    self._roots[key] = Waiting()
                    self._note(key)
                self._roots[key].add(found)
        self._first = self._key_of(self._begun_at)
        self._looked_at = limits.LOOKED_AT
        self._each = OUTCOMES_AT_ONCE / 1000  # outcomes of a state in the last layer
        self._extreme_values: NDArray[np.int64] | None = None
        self.ends: list[int] = []
        self.progress: list[Key] = []
        self.farthest: list[Key] = []
        self.n_roots, self.n_outcomes, self.start, self.merging = 0, 0, -1, False
        self.extremes = np.zeros(0, np.int64)

    def record(self) -> Record:
        """A snapshot of the walk after a layer."""
        waiting = sorted(self._entries)
        facts: dict[str, Any] = {name: getattr(self, name) for name in (*NUMBERS, *KEYS)}
        facts |= {"looked_at": self._looked_at, "stays": self._stays, "waiting": waiting}
        arrays: dict[str, NDArray[Any]] = {
            f"waiting_{i}": self._entries[key].gathered() for i, key in enumerate(waiting)
        }
        assert self._extreme_values is not None
        arrays |= {"extremes": self.extremes, "extreme_values": self._extreme_values}
        return Record(facts, arrays)

    def go_on(self, record: Record) -> None:
        """Continue from the record of another walk of the same game, before anything is run."""
        facts, arrays = record
        for name in NUMBERS:
            setattr(self, name, facts[name])
        for name in KEYS:
            setattr(self, name, [tuple(key) for key in facts[name]])
        self._looked_at, self._stays = facts["looked_at"], facts["stays"]
        self.extremes, self._extreme_values = arrays["extremes"], arrays["extreme_values"]
        for key in self.progress:
            self._roots.pop(key, None)
        for i, key in enumerate(map(tuple, facts["waiting"])):
            self._entries[key] = Waiting()
            self._entries[key].add(arrays[f"waiting_{i}"])
        self._next = [_place(key) for key in self._entries.keys() | self._roots.keys()]
        heapq.heapify(self._next)

    def run(self, report: Progress | None, note: Callable[[Walk], None] | None = None) -> None:
        """Find all layers.

        Parameters
        ----------
        note : callable, optional
            Called after each layer.

        Raises
        ------
        RulesError, TooManyStates
        """
        # No outcome lowers a number of the progress. So the waiting layer with the smallest sum is
        # entered from no layer that is still to come.
        while self._next:
            _, key = heapq.heappop(self._next)
            entries = self._entries.pop(key, None)
            begin = [] if entries is None else [entries.rows()]
            if key in self._roots:
                begin.append(self._roots.pop(key).rows())
                self.n_roots += len(begin[-1])
            self._keep(key, ordered(self._explored(key, begin, report)))
            if note is not None:
                note(self)

    def _explored(self, key: Key, begin: list[Rows], report: Progress | None) -> Rows:
        """The states of a layer. States reached in other layers are recorded.

        Parameters
        ----------
        begin : list, emptied
            The states at which play enters the layer.
        """
        roots = begin[0] if len(begin) == 1 else ordered(np.concatenate(begin))
        begin.clear()
        n_roots = len(roots)
        states = self._found_in_turns(key, roots, report)
        if states is None:
            self._begin(self._benches[0], roots)
            del roots
            states = self._found(key, report)
        self._each = states.n_outcomes / len(states.inside)
        self.merging = states.merging
        self.n_outcomes += states.n_outcomes
        self._stays |= len(states.inside) > n_roots
        self._looked_at = max(self._looked_at - len(states.inside), 0)
        self._lead_to(key, states.inside, states.outside)
        return states.inside

    def _found_in_turns(self, key: Key, roots: Rows, report: Progress | None) -> Found | None:
        """The states reached from a layer whose states all lead to later layers.

        They are expanded piece by piece, with half of the pieces on each core.
        None if a state leads to others of its layer, and if there may be too many states.
        """
        if self._stays or self._looked_at:
            return None
        number, targets, n_outcomes = len(self.ends), dict[Key, Waiting](), 0
        kept, room = list[Expanded](), self._room
        for ends in self._pieces(roots):
            self._report(report, ends[0])
            for piece in self._expanded(roots, ends):
                n_outcomes += piece.layer.n_outcomes
                for target, rows in self._by_progress(piece.targets):
                    if target == key:
                        self._stays = True
                        return None
                    targets.setdefault(target, Waiting()).add(rows)
                if room > 0:
                    kept.append(piece.packed())
                    room -= kept[-1].nbytes
        outside = [(target, waiting.rows()) for target, waiting in sorted(targets.items())]
        n_outside = sum(len(rows) for _, rows in outside)
        if self._n_known + len(roots) + n_outside > self._most:
            return None
        if room > 0 and n_outcomes > SMALL:
            self.kept[number], self._room = kept, room
        return Found(roots, outside, n_outcomes, self.merging)

    def _pieces(self, roots: Rows) -> Iterator[list[int]]:
        """The ends of consecutive pieces of some states, for one core or two at a time."""
        size = max(int(OUTCOMES_AT_ONCE / max(self._each, 1.0)), 1)
        if len(roots) >= WORTH_BOTH:
            size = min(size, -(-len(roots) // 2))
        ends = [*range(0, len(roots), size), len(roots)]
        for first in range(0, len(ends) - 1, 2):
            yield ends[first : first + 3]

    def _expanded(self, roots: Rows, ends: list[int]) -> list[Expanded]:
        """The rules of some states of a layer, in one piece or in two."""
        parts = [
            (bench, self._begin(bench, roots[begin:end]), end - begin)
            for bench, begin, end in zip(self._benches, ends, ends[1:], strict=False)
        ]
        looks = {bench: begun.watch() for bench, begun, _ in parts}

        def expanded(part: tuple[Workbench, Explorer, int]) -> Expanded:
            bench, begun, n = part
            try:
                return bench.expanded(begun, n)
            finally:
                del looks[bench]  # its work no longer changes

        def look() -> None:
            for at_one in list(looks.values()):
                at_one()

        return heard(lambda: on_both_cores(expanded, parts), watch=look)

    def _begin(self, bench: Workbench, roots: Rows) -> Explorer:
        """Start an explorer from some states of a layer."""
        explorer = bench.explorer(roots[:1], merging=self.merging)
        explorer.restart(roots, known=self._n_known, looked_at=self._looked_at)
        return explorer

    def _found(self, key: Key, report: Progress | None) -> Found:
        """The states of a layer reached from the roots of the first, started explorer."""
        bench = self._benches[0]
        explorer = bench.last
        assert explorer is not None
        explorer.explore_within(bench.reached.question, np.array(key, np.int64))
        n_outcomes, more = 0, True
        # Only the states count here: actions and outcomes are dropped as they fill the arrays.
        while more:
            self._report(report, explorer.n_states)
            more = explorer.run()
            n_outcomes += explorer.n_outcomes
            explorer.forget()
        states, reached = explorer.graph.states[: explorer.n_states], explorer.reached
        merging = explorer.merging
        if len(states) > LARGE:  # frees the table before states are copied
            bench.put_away()
        del explorer
        is_outside = np.any(reached != key, axis=1)
        outside = by_progress(states[is_outside], reached[is_outside])
        return Found(states[~is_outside], outside, n_outcomes, merging)

    @property
    def _n_known(self) -> int:
        """The number of states in the finished layers."""
        return self.ends[-1] if self.ends else 0

    def _report(self, report: Progress | None, n_states: int) -> None:
        if report is not None:
            here = f"finding layer {len(self.ends) + 1}, positions"
            report(here, self._n_known + n_states, None)

    def _lead_to(self, key: Key, inside: Rows, outside: list[tuple[Key, Rows]]) -> None:
        """Record the states reached from a layer."""
        last = key
        for target, rows in outside:
            if any(there < here for there, here in zip(target, key, strict=True)):
                raise falls(self._rules, inside, self._reached)
            if target not in self._entries:
                self._entries[target] = Waiting()
                if target not in self._roots:
                    self._note(target)
            self._entries[target].add(rows)
            last = max(last, target, key=_place)
        self.farthest.append(last)

    def _keep(self, key: Key, states: Rows) -> None:
        """Store the sorted states of a layer."""
        begin = self._n_known
        self._rows.append(states)
        self.ends.append(begin + len(states))
        self.progress.append(key)
        if key == self._first:
            self.start = begin + int(places_in(states, self._begun_at)[0])
        extremes = extreme_rows(states)
        fields = np.tile(np.arange(states.shape[1]), 2)
        values = states[extremes, fields].astype(np.int64)
        # Smallest values change their sign, so that the larger number is further in both halves.
        values[: states.shape[1]] *= -1
        if self._extreme_values is None:
            self._extreme_values, self.extremes = values, extremes
            return
        further = values > self._extreme_values
        self._extreme_values[further] = values[further]
        self.extremes[further] = begin + extremes[further]

    def _by_progress(self, rows: Rows) -> list[tuple[Key, Rows]]:
        """States grouped by their progress, which the rules are asked for."""
        return by_progress(rows, self._reached.of(rows)) if len(rows) else []

    def _note(self, key: Key) -> None:
        heapq.heappush(self._next, _place(key))

    def _key_of(self, row: Rows) -> Key:
        return tuple(self._reached.of(row)[0].tolist())


def by_progress(rows: Rows, reached: Numbers) -> list[tuple[Key, Rows]]:
    """States grouped by their progress.

    Parameters
    ----------
    rows : (n, n_fields) int32
    reached : (n, n_numbers) int64
    """
    if not len(rows):
        return []
    order = _order(reached)
    rows, reached = rows[order], reached[order]
    cuts = np.flatnonzero(np.any(reached[1:] != reached[:-1], axis=1)) + 1
    begins, ends = [0, *cuts.tolist()], [*cuts.tolist(), len(rows)]
    return [
        (tuple(reached[begin].tolist()), rows[begin:end].copy())
        for begin, end in zip(begins, ends, strict=True)
    ]


def _order(reached: Numbers) -> Numbers:
    """A permutation that sorts progress, with the last number most significant."""
    if reached.shape[1] == 1:
        number = reached[:, 0] - reached.min()
        if number.max() < FEW_BITS:
            return np.argsort(number.astype(np.uint16), kind="stable")
    return np.lexsort(reached.T)


def _place(key: Key) -> tuple[int, Key]:
    """The sort key of layers: the sum of their progress, and then its numbers."""
    return sum(key), key


def falls(rules: Rules, states: Rows, asked: Reached) -> RulesError:
    """The error for an outcome of one of these states with lower progress.

    Raises
    ------
    RulesDiffer
        Python's rules do not lower it.
    """
    explorer = Explorer(rules, states, limits.MOST_NUMBERED)
    explorer.run(len(states))
    arrays, known = explorer.arrays(), explorer.graph.states[: explorer.n_states]
    source = _state_of_outcomes(arrays)
    inside = np.flatnonzero(arrays.outcome_state >= 0)
    reached, target = asked.of(known), arrays.outcome_state[inside]
    lower = np.any(reached[target] < reached[source[inside]], axis=1)
    outcome = int(inside[np.argmax(lower)])
    pair = np.array([source[outcome], arrays.outcome_state[outcome]])
    function, size = type(rules.game).progress, rules.progress_size
    for part in range(reached.shape[1]):
        told = None if size is None else part
        compare_answers(rules, function, known[pair], reached[pair, part], told)
    here, after = (as_progress(row[0] if size is None else row) for row in reached[pair])
    a = int(np.searchsorted(arrays.outcome_indptr, outcome, side="right")) - 1
    state = rules.layout.state(known[pair[0]].tolist())
    where = rules.where(Situation(state), int(arrays.action_label[a]))
    return rules.fault(
        f"progress() falls from {here} to {after} in the state {where}; {rules.no_outcome_lowers}"
    )


def _state_of_outcomes(arrays: Arrays) -> Numbers:
    """The source state of each outcome: (n_outcomes,) int64."""
    ends = arrays.outcome_indptr[arrays.action_indptr]
    if arrays.throws is not None:
        ends = ends[arrays.throws.situation_indptr]
    return np.repeat(np.arange(len(ends) - 1), np.diff(ends))
