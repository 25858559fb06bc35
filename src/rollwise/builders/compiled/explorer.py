"""Building a graph in compiled code, for games of more than a few thousand states."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from rollwise.builders import limits
from rollwise.builders.arrays import Arrays, Throws
from rollwise.builders.compiled.compiling import Question, compiled_rules
from rollwise.builders.compiled.reads import new_call, reads_of
from rollwise.builders.compiled.spot_check import compare, sample
from rollwise.builders.compiled.workspace import (
    StateTable,
    grown_graph_arrays,
    grown_lotteries,
    likely_ends,
    new_buffers,
    new_graph_arrays,
    new_lotteries,
    roomier,
)
from rollwise.builders.expand import (
    LOOKS,
    SECONDS_BETWEEN,
    Action,
    Stall,
    expand,
    situations_in,
    watched,
)
from rollwise.builders.rules import Rules, Situation
from rollwise.errors import RollwiseError, RulesDiffer, RulesError
from rollwise.game import LEAST_PAYOFF
from rollwise.kernels import explore
from rollwise.kernels.calls import EXPAND, QUESTION
from rollwise.machine.interrupts import LOOK, heard
from rollwise.numbers.shares import SMALLEST

CHUNK, OUTCOMES_AT_ONCE = 200_000, 4_000_000  # states and outcomes between two reports of progress
ROWS = 1 << 20  # initial rows of arrays; growing them takes time
LAYER_ROWS = 1 << 12  # the same if many layers are explored one after the other
TOO_WIDE = 16  # multiple of a layer's needs beyond which arrays are too large
FEW_MORE = 20  # random states to compare if this process has compared the same game before

_COMPARED: set[str] = set()  # keys of games


class Explorer:
    """Expands states by compiled rules, and numbers the states found.

    Attributes
    ----------
    graph : explore.GraphArrays
        The arrays of the graph so far.
    counts : (1,) explore.COUNTS
        The progress of the kernel.
    n_roots : int
    outcomes_each : float
        Estimated outcomes per state. It determines the steps of `run`.

    Parameters
    ----------
    roots : (n_roots, n_fields) int32
    layer_by_layer : bool
        Many small graphs are explored, each after a `restart`.

    Raises
    ------
    RulesError, TooManyStates
        By `run`.
    """

    def __init__(
        self,
        rules: Rules,
        roots: np.ndarray,
        max_states: int,
        *,
        layer_by_layer: bool = False,
    ) -> None:
        self._rules, self._expand, self._max_states = rules, compiled_rules(rules), max_states
        self._call, self._alive = new_call(EXPAND, rules.game, reads_of(rules).values)
        self._contract = explore.Contract(
            allowed=np.array([then in rules.allowed_thens for then in range(6)]),
            payoffs_allowed=rules.payoffs_allowed,
            least_payoff=SMALLEST if rules.any_players else LEAST_PAYOFF,
            rewards_allowed=rules.rewards_allowed,
            max_states=max_states,
            # the number of states already includes the turns of a pool
            max_thrown=max_states if rules.pool is None else 2**62,
            max_outcomes=limits.most_outcomes(rules, max_states),
            looked_at=limits.LOOKED_AT,
        )
        self.outcomes_each = OUTCOMES_AT_ONCE / 1000  # of a state, until some have been expanded
        self._most = 512  # actions and outcomes that fit into the buffers
        n_fields = len(rules.field_names)
        self._buffers = new_buffers(self._call, self._most, n_fields, rules.has_throws)
        self.counts = np.zeros(1, explore.COUNTS)
        self._least_rows = LAYER_ROWS if layer_by_layer else ROWS
        rows = max(self._least_rows, 2 * len(roots))
        self.graph = new_graph_arrays(rows, n_fields, rules.has_throws)
        self._lotteries, self._throw_lists = new_lotteries(self._most), new_lotteries(self._most)
        self._table = StateTable(roots, self._call, likely_ends(rules), few_at_once=layer_by_layer)
        self.n_roots = self._table.make(roots, self.graph.states)
        self.counts["states"] = self.n_roots
        self._known = 0  # states of other layers, which count towards the limit
        self._within = explore.Within(
            self._expand, np.zeros(1, QUESTION), np.empty(0, np.int64), np.empty(0, np.bool_)
        )

    @property
    def n_states(self) -> int:
        """The number of states found so far."""
        return int(self.counts["states"][0])

    @property
    def n_outcomes(self) -> int:
        """The number of outcomes in the arrays."""
        return int(self.counts["outcomes"][0])

    @property
    def place(self) -> int:
        """The number of the next state to expand."""
        return int(self.counts["place"][0])

    @property
    def merging(self) -> bool:
        """Whether equal outcomes are merged."""
        return bool(self.counts["merging"][0])

    def restart(self, roots: np.ndarray, *, known: int = 0, looked_at: int = 0) -> None:
        """Forget all states, and begin with other roots.

        Parameters
        ----------
        roots : (n_roots, n_fields) int32
        known : int
            The number of states found before. They count towards the limit.
        looked_at : int
            The number of states examined for equal outcomes, if none were found yet.
        """
        merging, expected = self.merging, max(len(roots), self.n_states)  # as many as before
        # few different sizes, so that memory is reused
        rows = max(self._least_rows, 1 << (2 * expected).bit_length())
        self._chunk()  # this updates the number of outcomes per state
        self._known = known
        self._contract = self._contract._replace(
            looked_at=looked_at, max_states=self._max_states - known
        )
        if not rows <= len(self.graph.states) <= TOO_WIDE * rows:
            self.graph = new_graph_arrays(rows, roots.shape[1], self._rules.has_throws)
        self.counts[0] = 0
        self.counts["merging"] = merging
        self.begin_at(0)
        self._table.fit_also(roots)
        self.n_roots = self._table.make(roots, self.graph.states, expected)
        self.counts["states"] = self.n_roots

    def explore_within(self, question: Question, wanted: np.ndarray) -> None:
        """Expand only states of one layer, by their answers to the question.

        Parameters
        ----------
        wanted : (n_parts,) int64
        """
        room, is_outside = len(self.graph.states), self._within.is_outside
        if len(is_outside) < room:
            is_outside = np.empty(room, np.bool_)
        self._within = explore.Within(question.answer, question.call, wanted, is_outside)

    @property
    def is_outside(self) -> np.ndarray:
        """For each state, whether it is outside the explored layer: (n_states,) bool."""
        found: np.ndarray = self._within.is_outside[: self.n_states]
        return found

    def run(self, stop: int | None = None, *, soon: bool = False) -> bool:
        """Expand states, up to the number `stop`; return whether states remain.

        Parameters
        ----------
        soon : bool
            This takes a negligible time: the states are few, and were expanded before.
        """
        stop = self.place + self._chunk() if stop is None else stop
        self._table.reconsider(self.graph.states, self.n_states)
        while self.place < stop:
            box = self._table.box.copy()
            self._call["states"] = 0  # until the kernel, which may need compiling, has begun
            try:
                if soon:
                    ending = self._explore(stop)
                else:
                    ending = heard(self._explore, stop, watch=self.watch())
            except KeyboardInterrupt as stopped:
                stopped.add_note(self._whereabouts())
                raise
            if ending == explore.DONE:
                return False
            if ending == explore.LIMIT_REACHED:
                raise self._too_many()
            if ending == explore.PROGRESS_FAILED:
                asked = self.graph.states[int(self.counts["asked"][0])]
                raise self._rules.progress_fails(asked.tolist())
            if ending == explore.ODD_STATE:
                raise what_is_odd(self._rules, self.graph.states[self.place].tolist())
            if ending == explore.BOX_NEEDED:
                self._table.widen(box)
                self._table.make(self.graph.states[: self.n_states], self.graph.states)
            if ending == explore.BUFFERS_NEEDED:
                self._enlarge_buffers()
            if ending == explore.ROOM_NEEDED:
                self._enlarge_arrays()
            if ending == explore.LISTS_NEEDED:
                self._enlarge_lists()
        return True

    def _chunk(self) -> int:
        """The number of states to expand next."""
        first, place = int(self.counts["first"][0]), self.place
        seen = place - first
        if len(self._within.wanted):  # states outside the layer have no outcomes
            seen -= int(np.count_nonzero(self._within.is_outside[first:place]))
        if seen > 0:
            self.outcomes_each = max(int(self.counts["outcomes"][0]) / seen, 1.0)
        return max(min(CHUNK, int(OUTCOMES_AT_ONCE / self.outcomes_each)), 1)

    def _explore(self, stop: int) -> int:
        ending: int = explore.explore(
            self._expand,
            self._call,
            self._within,
            self._buffers,
            self.graph,
            self._lotteries,
            self._throw_lists,
            self._table.lookup,
            self._table.box,
            self.counts,
            self._contract,
            stop,
        )
        return ending

    def _asked(self) -> np.ndarray:
        """The states last passed to the compiled rules."""
        states, address = self.graph.states, int(self._call["states"][0])
        place = self.place if address == 0 else (address - states.ctypes.data) // states.strides[0]
        asked: np.ndarray = states[place : place + max(int(self._call["count"][0]), 1)]
        return asked

    def _whereabouts(self) -> str:
        """The current states of the compiled rules, in words."""
        first, *others = self._asked().tolist()
        more = f" or one of the {len(others)} after it" if others else ""
        return f"in the state {self._rules.state_text(self._rules.layout.state(first))}{more}"

    def watch(self) -> Callable[[], None]:
        """A function that raises an error once the rules make no more progress."""
        stall = Stall(LOOKS * SECONDS_BETWEEN / LOOK)

        def look() -> None:
            address = int(self._call["states"][0])
            if address != 0 and stall.seen((self.place, address)):
                raise self._no_end()

        return look

    def _no_end(self) -> RollwiseError:
        """The error for endless compiled rules. They run on until the process ends."""
        asked = self._asked().copy()
        where = self._whereabouts()
        try:
            with watched():
                for fields in asked.tolist():
                    deque(expand_state(self._rules, fields), maxlen=0)
        except RulesError as error:
            return error  # it names the state, the action and the line
        return CompiledFails(
            f"{self._rules.game.name}: the compiled rules come to no end {where}, where Python's "
            "do; --mode interpreted (mode='interpreted') runs the rules in Python"
        )

    def _too_many(self) -> RollwiseError:
        rows = self.graph.states[: self.n_states]
        outcomes = int(self.counts["outcomes"][0])
        return limits.too_many_states(
            self._rules, self.place, rows, self._max_states, outcomes, self._known
        )

    def _enlarge_buffers(self) -> None:
        if self._most > limits.MOST_YIELDED:  # raises an error for an endless loop in the rules
            fields = self.graph.states[self.place].tolist()
            deque(expand_state(self._rules, fields), maxlen=0)
        self._most *= 2
        n_fields, throws = self.graph.states.shape[1], self._rules.has_throws
        self._buffers = new_buffers(self._call, self._most, n_fields, throws)

    def _enlarge_arrays(self) -> None:
        counts = self.counts[0]
        self.graph = grown_graph_arrays(self.graph, counts, self._most)
        if len(self._within.wanted):
            is_outside, asked = self._within.is_outside, int(counts["asked"])
            more = roomier(is_outside, len(self.graph.states), asked)
            self._within = self._within._replace(is_outside=more)
        if self._table.is_full(self.n_states):
            self._table.make(self.graph.states[: self.n_states], self.graph.states)
        self._lotteries = grown_lotteries(
            self._lotteries, int(counts["lotteries"]), int(counts["lottery_outcomes"]), self._most
        )

    def _enlarge_lists(self) -> None:
        counts = self.counts[0]
        self._throw_lists = grown_lotteries(
            self._throw_lists, int(counts["throw_lists"]), int(counts["list_throws"]), self._most
        )

    def begin_at(self, first: int) -> None:
        """Restart the arrays of the graph at the state `first`, and the lotteries too."""
        self.counts["place"] = first
        self.forget()
        self.counts["lotteries"] = self.counts["lottery_outcomes"] = 0
        self.counts["throw_lists"] = self.counts["list_throws"] = 0
        self._lotteries, self._throw_lists = new_lotteries(self._most), new_lotteries(self._most)

    def forget(self) -> None:
        """Drop the actions and outcomes found so far. The states stay."""
        self._chunk()  # this updates the number of outcomes per state
        self.counts["first"] = self.place
        self.counts["situations"] = self.counts["actions"] = self.counts["outcomes"] = 0

    def arrays(self) -> Arrays:
        """The result as arrays."""
        count = self.counts[0]
        first, place, actions = int(count["first"]), int(count["place"]), int(count["actions"])
        lotteries, lottery_outcomes = int(count["lotteries"]), int(count["lottery_outcomes"])
        graph, known = self.graph, self._lotteries
        weight = known.weight[:lottery_outcomes]
        return Arrays(
            self.n_roots,
            graph.states[first:place],
            graph.action_indptr[: int(count["situations"]) + 1],
            graph.action_label[:actions],
            graph.action_lottery[:actions],
            graph.outcome_indptr[: actions + 1],
            graph.outcome_state[: int(count["outcomes"])],
            known.indptr[: lotteries + 1],
            known.reward[:lotteries],
            weight.view(np.float64) if self._call["real_weights"][0] else weight,
            known.then[:lottery_outcomes],
            self._throws(place - first) if self._rules.has_throws else None,
        )

    def _throws(self, n: int) -> Throws:
        """The throws of the first `n` states in the arrays."""
        lists, found = (int(self.counts[name][0]) for name in ("throw_lists", "list_throws"))
        weight = self._throw_lists.weight[:found]
        return Throws(
            self.graph.state_throws[:n],
            self._throw_lists.indptr[: lists + 1],
            weight.view(np.float64) if self._call["real_throws"][0] else weight,
            self._throw_lists.then[:found],
        )


def build_compiled(
    rules: Rules,
    roots: np.ndarray,
    max_states: int,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Arrays:
    """Expand every state, breadth first, by the compiled rules.

    Parameters
    ----------
    roots : (n_roots, n_fields) int32

    Raises
    ------
    RulesError, RulesDiffer, TooManyStates
    """
    explorer = Explorer(rules, roots, max_states)
    more = True
    while more:
        if progress is not None:
            progress(explorer.place, explorer.n_states)
        more = explorer.run()
    arrays = explorer.arrays()
    chosen, key = sample(arrays.states), reads_of(rules).whole_key.text
    compare(rules, arrays, arrays.states, chosen[-FEW_MORE:] if key in _COMPARED else chosen)
    _COMPARED.add(key)
    return arrays


def expand_state(rules: Rules, fields: list[int]) -> Iterator[tuple[Situation, Action]]:
    """The situations and actions of a state, checked.

    Raises
    ------
    RulesError
    """
    for at in situations_in(rules, rules.layout.state(fields)):
        for action in expand(rules, at):
            yield at, action


class CompiledFails(RulesDiffer):
    """The compiled rules raise an exception, but Python's rules do not."""


def what_is_odd(rules: Rules, fields: list[int]) -> RollwiseError:
    """The error of a state at which the kernel stopped, by interpreting the state."""
    state = rules.layout.state(fields)
    try:
        for at, action in expand_state(rules, fields):
            for next_state in action.next_states:
                if next_state is not None:
                    where = rules.where(at, action.label)
                    rules.checked(next_state, f"outcomes() in the state {where}")
    except RulesError as error:
        return error
    return CompiledFails(
        f"{rules.game.name}: the compiled rules fail in the state {rules.state_text(state)}, where "
        "Python's don't: compiled whole numbers have 64 bits, 53 where they meet floats, and "
        "powers of them stay whole (see 'Compiled rules' in docs/language.md); --mode interpreted "
        "(mode='interpreted') runs the rules in Python"
    )
