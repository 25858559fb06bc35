"""Finding the states of a game layer by layer, each layer after its predecessors.

A layer is explored from the states at which play enters it. States outside it are recorded but not
expanded until their layer is explored. Memory therefore holds only one layer and the entry states
of later layers.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import limits
from rollwise.builders.building import Progress
from rollwise.builders.compiled.explorer import Explorer
from rollwise.builders.compiled.spot_check import extreme_rows
from rollwise.builders.known_rows import Frame, KnownRows, Numbers, Rows, ordered, places_in
from rollwise.builders.layer_rules import Expanded, Workbench, falls
from rollwise.builders.rules import Rules
from rollwise.machine.interrupts import heard
from rollwise.machine.pipeline import on_both_cores

Key = tuple[int, ...]
OUTCOMES_AT_ONCE = 1_000_000  # expanded together, on one core
SMALL = 100_000  # outcomes of a layer that is soon expanded
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
        self._first = tuple(self._reached.of(self._begun_at)[0].tolist())
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
        known, looked_at = self._n_known, self._looked_at
        return bench.begun(roots, merging=self.merging, known=known, looked_at=looked_at)

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
