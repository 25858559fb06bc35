"""The graph of a game: its states, actions and outcomes as plain arrays.

The graph is the contract between rules and methods: rules are turned into a graph, and methods
use the graph alone. Two CSR levels are stacked: state s has the actions
``action_indptr[s]:action_indptr[s + 1]``, and action a has the outcomes
``outcome_indptr[a]:outcome_indptr[a + 1]``. Kernels and their drivers read
these arrays; everything else reads `rollwise.graph.view`.

In a game with throws a *state* is a position, or a position after a throw. The positions stand
first. Each has one action, the throw (`THROW`). The outcome j of all these actions leads to the
state ``n_positions + j``. So to methods a throw is chance like any other.

A *turn* with a pool of dice (see `rollwise.builders.arrays`) has further states: those after
each later throw, and those with some kept dice before the others fall.
Each position has the same number, ``turn_states``, and they stand together.

A graph holds the common parts of its actions once (see `rollwise.graph.lotteries`). The arrays
with an entry for each action and outcome are made on demand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UnknownState, UsageError, another_kind
from rollwise.graph.layout import ThrowLayout
from rollwise.graph.lotteries import Components, ComponentSearch, Lotteries, share
from rollwise.graph.naming import (
    NO_THROW,
    ROLLS_LEFT,
    THROW,
    Vocabulary,
    Words,
    in_fields,
    state_text,
    title_of,
)
from rollwise.graph.view import GraphView

Objective = Literal["win", "maximize", "minimize", "average"]
Endless = Literal["forbidden", "draw", "lose"]

OWN = ("states", "action_indptr", "action_label", "outcome_indptr", "outcome_state")
HELD = (*OWN, "action_lottery")
SPELLED_OUT = ("action_reward", "outcome_weight", "outcome_passes", "outcome_payoff")
ARRAYS = (*OWN, *SPELLED_OUT)


@dataclass(frozen=True, eq=False, repr=False)
class StateGraph:
    """A game as arrays, seen from the player to move.

    Attributes
    ----------
    states : (n_positions, n_fields) int32
        The fields of each state, breadth first from the roots; state 0 is the start. In a game
        with throws only the positions; `rows` has all.
    action_indptr : (n_states + 1,) int64
        The first action of each state.
    action_label : (n_actions,) int32
        The action's number in the rules.
    action_lottery : (n_actions,) int32
        The lottery of each action.
    outcome_indptr : (n_actions + 1,) int64
        The first outcome of each action.
    outcome_state : (n_outcomes,) int32
        Next state; -1 where the game is over. A state at or past ``n_states`` is
        on the border, with a value given to the solver (see ``n_border``).
    lotteries : Lotteries
        Numbered in the order of their first action.
    n_roots : int
        The first ``n_roots`` states are the initial positions of the graph.
    n_border : int
        States outside this graph with known values, numbered from ``n_states``.
    n_ends : int
        The last states, if they stand for a border: their only action ends play. They are no
        positions.
    endless : {"forbidden", "draw", "lose"}
        The value of endless play in a game of win or loss (see `rollwise.Game`).
    throws : (n_thrown, width) int32 or None
        The throw of each outcome of the first lotteries, which are those of throws; with
        a pool, of each state of a turn, with the rolls left in the last column. None if no
        state is a throw.
    throw_names : tuple of str
        The columns of a throw; empty in a game without. With a pool the last is `ROLLS_LEFT`.
    words : mapping
        The words of numbers in fields that are enumerations (`rollwise.graph.layout.field_words`).
    caps : mapping of str to int
        The numbers of fields from which only stopping is allowed, in a game where they would rise
        without an end.
    remedy : str
        A remedy against endless play, as a sentence; empty for those of a rule sheet.
    action_reward : (n_actions,) float64
        Points for taking the action; with two players, from the other one. This and the
        following arrays are derived from the lotteries.
    outcome_weight : (n_outcomes,) int64 or float64
        Number of equally likely ways (float64 only where the rules
        have weights that aren't whole numbers). Always positive.
    outcome_passes : (n_outcomes,) bool
        The turn passes, and the next state is seen by the other player. With three or more
        players uint8: the number of seats to the next mover.
    outcome_payoff : (n_outcomes,) float64
        1 for a win, -1 for a loss, 0 for a draw or where the game goes on; in a game for
        stakes, other payoffs of the rules.
    """

    states: NDArray[np.int32]
    action_indptr: NDArray[np.int64]
    action_label: NDArray[np.int32]
    action_lottery: NDArray[np.int32]
    outcome_indptr: NDArray[np.int64]
    outcome_state: NDArray[np.int32]
    lotteries: Lotteries
    field_names: tuple[str, ...]
    action_names: Mapping[int, str]
    game: str
    parameters: Mapping[str, Any]
    players: int
    objective: Objective
    n_roots: int = 1
    n_border: int = 0
    n_ends: int = 0
    endless: Endless = "forbidden"
    throws: NDArray[np.int32] | None = None
    throw_names: tuple[str, ...] = ()
    words: Words = field(default_factory=dict)
    caps: Mapping[str, int] = field(default_factory=dict)
    remedy: str = ""
    start: ClassVar[int] = 0  # the number of the start

    @classmethod
    def of_arrays(cls, **parts: Any) -> StateGraph:
        """A graph from arrays with an entry for each action and outcome.

        Parameters
        ----------
        **parts
            The attributes, with the arrays of `SPELLED_OUT` in the place of `action_lottery`
            and `lotteries`.
        """
        action_lottery, lotteries = share(
            parts.pop("action_reward"),
            parts["outcome_indptr"],
            parts["outcome_state"],
            parts.pop("outcome_weight"),
            parts.pop("outcome_passes"),
            parts.pop("outcome_payoff"),
        )
        return cls(action_lottery=action_lottery, lotteries=lotteries, **parts)

    def __getstate__(self) -> dict[str, Any]:
        """The fields for another process, without derived arrays."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def with_arrays(self, **changed: Any) -> StateGraph:
        """Another graph, with changes to some of the derived arrays or facts of this one."""
        named = (*ARRAYS, *FACTS)
        kept = {name: getattr(self.flat, name) for name in named if name not in changed}
        return StateGraph.of_arrays(**kept, **changed)

    def with_stakes(self, stakes: bool) -> StateGraph:
        """The graph as a part of a game for stakes, also if it has no such payoff of its own."""
        if not stakes or self.has_stakes:
            return self
        return replace(self, lotteries=self.lotteries.with_stakes())

    @cached_property
    def action_reward(self) -> NDArray[np.float64]:
        return self.lotteries.reward[self.action_lottery]

    @cached_property
    def outcome_weight(self) -> NDArray[Any]:
        return self.lotteries.weight[self.outcome_lottery]

    @cached_property
    def outcome_passes(self) -> NDArray[Any]:
        return self.lotteries.passes[self.outcome_lottery]

    @cached_property
    def outcome_payoff(self) -> NDArray[np.float64]:
        return self.lotteries.payoff[self.outcome_lottery]

    @cached_property
    def outcome_lottery(self) -> NDArray[np.int32]:
        """The index of each outcome in the lotteries: (n_outcomes,) int32."""
        kind = np.int32 if self.n_outcomes < 2**31 else np.int64  # twice as fast in 32 bits
        first = self.lotteries.indptr[self.action_lottery] - self.outcome_indptr[:-1]
        place = np.repeat(first.astype(kind), np.diff(self.outcome_indptr))
        place += np.arange(self.n_outcomes, dtype=kind)
        return place.astype(np.int32, copy=False)

    @property
    def view(self) -> GraphView:
        """The graph as an iterable model."""
        return GraphView(self)

    @property
    def n_states(self) -> int:
        """How many states there are, with those after a throw."""
        return len(self.action_indptr) - 1

    @property
    def n_positions(self) -> int:
        """How many states are no throws: all, in a game without throws."""
        return len(self.positions)

    @cached_property
    def positions(self) -> NDArray[np.int64]:
        """The states before a throw: (n_positions,) int64, ascending."""
        if self.throws is not None:
            return np.arange(len(self.states))
        inside = self.states[: self.n_states - self.n_ends]
        if not self.throw_names:
            return np.arange(len(inside))
        column = self.field_names.index(self.throw_names[0])
        return np.flatnonzero(inside[:, column] == NO_THROW)

    @property
    def thrown_in(self) -> NDArray[np.bool_]:
        """Whether each state follows a complete throw: (n_states,) bool."""
        return np.asarray(self.action_label[self.action_indptr[:-1]] != THROW)

    @property
    def fields(self) -> NDArray[np.int32]:
        """The fields of each state, without the throw: (n_states, n_fields) int32."""
        return self.rows[:, : len(self.field_names)]

    @cached_property
    def flat(self) -> StateGraph:
        """The same graph with the throw among the fields of each state.

        Graphs derived from a graph with throws have this form. Without throws, it is this graph.
        """
        if self.throws is None:
            return self
        return replace(self, states=self.rows, field_names=self.columns, throws=None)

    @property
    def throw_layout(self) -> ThrowLayout | None:
        """The layout of a throw in the rules; None in a game without throws."""
        if not self.throw_names:
            return None
        if self.throw_names == ("throw",):
            return ThrowLayout(None)
        return ThrowLayout(len(self.throw_names) - self.has_pool)

    @property
    def has_pool(self) -> bool:
        """Whether dice are kept and thrown again: the last column of a throw is `ROLLS_LEFT`."""
        return self.throw_names[-1:] == (ROLLS_LEFT,)

    @property
    def turn_states(self) -> int:
        """How many states the turn of each position has; 0 where turns differ."""
        return len(self.throws) if self.has_pool and self.throws is not None else 0

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of `rows`: the fields, then the throw."""
        return self.field_names if self.throws is None else self.field_names + self.throw_names

    @property
    def throw_columns(self) -> list[int]:
        """The columns of the throw in `rows`."""
        return [self.columns.index(name) for name in self.throw_names]

    @cached_property
    def rows(self) -> NDArray[np.int32]:
        """The fields of each state, and the throw: (n_states, n_columns) int32.

        Of a position the columns of the throw are `NO_THROW`.
        """
        return self.states if self.throws is None else self.rows_at(np.arange(self.n_states))

    def rows_at(self, states: NDArray[np.int64]) -> NDArray[np.int32]:
        """The `rows` of some states, without looking at the others: (n, n_columns) int32."""
        if self.throws is None:
            return self.states[states]
        n, fields = self.states.shape
        rows = np.full((len(states), fields + len(self.throw_names)), NO_THROW, np.int32)
        thrown = states >= n
        position, number = states.copy(), states[thrown] - n
        begins = self.outcome_indptr[: n + 1]
        # With a pool every position has the same number of states, and the same throws in them.
        if self.turn_states:
            position[thrown] = number // self.turn_states
            rows[:, :fields] = self.states[position]
            rows[thrown, fields:] = self.throws[number % self.turn_states]
            return rows
        # Otherwise state n + j is outcome j of the positions' throws: its position is the last one
        # that begins at j or before.
        position[thrown] = np.searchsorted(begins, number, side="right") - 1
        rows[:, :fields] = self.states[position]
        lottery = self.action_lottery[position[thrown]]
        along = number - begins[position[thrown]]
        rows[thrown, fields:] = self.throws[self.lotteries.indptr[lottery] + along]
        return rows

    def row(self, state: int) -> tuple[int, ...]:
        """The fields of a state and its throw, a row of `rows`."""
        here = self.rows[state] if "rows" in vars(self) else self.rows_at(np.array([state]))[0]
        return tuple(here.tolist())

    @cached_property
    def thrown_from(self) -> NDArray[np.int32]:
        """The position of each state after a throw: (n_states - n_positions,) int32."""
        n = len(self.states)
        sizes: Any = self.turn_states
        if self.throws is not None and not sizes:
            sizes = np.diff(self.outcome_indptr[: n + 1])
        return np.repeat(np.arange(n, dtype=np.int32), sizes)

    @property
    def n_actions(self) -> int:
        return len(self.action_label)

    @property
    def n_outcomes(self) -> int:
        return len(self.outcome_state)

    @property
    def has_draws(self) -> bool:
        """Whether a game of win or loss can also be drawn, perhaps by endless play."""
        return not self.is_score and (self.endless == "draw" or self.lotteries.has_draws())

    @cached_property
    def has_stakes(self) -> bool:
        """Whether a game of wins and losses has other payoffs or points.

        Its values are expected payoffs then, and not win probabilities. With three or more players
        payoffs are shares of a win, or results of all seats (`rollwise.numbers.shares`).
        """
        if self.players > 2:
            return self.lotteries.has_seat_payoffs()
        return self.objective == "win" and self.lotteries.has_stakes()

    @property
    def is_score(self) -> bool:
        """Whether values are expected scores or payoffs, and not chances to win."""
        return self.objective != "win" or self.has_stakes

    @cached_property
    def ending_payoffs(self) -> NDArray[np.float64]:
        """All payoffs of endings, and those of a loss, a draw and a win, ascending."""
        ends = self.lotteries.payoff[self.lotteries.over]
        return np.unique(np.concatenate([ends, (-1.0, 0.0, 1.0)]))

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        arrays = [*vars(self).values(), *self.lotteries]
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))

    @cached_property
    def components(self) -> Components:
        """The strongly connected components, computed once."""
        return self.component_search().run()

    def component_search(self) -> ComponentSearch:
        """A search for the components, piece by piece."""
        return ComponentSearch(self.outcome_indptr[self.action_indptr], self.outcome_state)

    @cached_property
    def action_state(self) -> NDArray[np.int32]:
        """The state of each action: (n_actions,) int32."""
        counts = np.diff(self.action_indptr)
        return np.repeat(np.arange(self.n_states, dtype=np.int32), counts)

    @cached_property
    def content_hash(self) -> str:
        """A fingerprint (hex) of the rules: equal for equal graphs of any builder."""
        digest = hashlib.blake2b(digest_size=16)
        names = {
            "fields": self.field_names,
            "actions": {str(label): name for label, name in sorted(self.action_names.items())},
            "game": self.game,
            "parameters": dict(self.parameters),
            "players": self.players,
            "objective": self.objective,
            "roots": self.n_roots,
            "border": self.n_border,
        }
        if self.endless != "forbidden":
            names["endless"] = self.endless
        if self.throw_names:
            names["throws"] = self.throw_names
        digest.update(json.dumps(names, sort_keys=True).encode())
        arrays = {name: getattr(self, name) for name in HELD}
        if self.throws is not None:
            arrays["throws"] = self.throws
        for name, array in {**arrays, **self.lotteries._asdict()}.items():
            array = np.ascontiguousarray(array)
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(array.view(np.uint8).reshape(-1).data)
        return digest.hexdigest()

    def find(
        self,
        state: Sequence[Any] | Mapping[str, Any],
        throw: int | Sequence[int] | None = None,
        rolls_left: int | None = None,
    ) -> int:
        """The number of a state given by its fields, in their order or by name.

        Parameters
        ----------
        throw : int or sequence of int, optional
            The throw, in any unambiguous order. It may stand among the fields given by name, too.
        rolls_left : int, optional
            Number of further rolls of a pool's dice; by default, those after the first throw.

        Raises
        ------
        UnknownState
            The state is unreachable from the roots, or it has other fields than a state, or
            one that is no whole number; or the throw is impossible there.
        """
        from rollwise.graph.typed import find_state

        if self.throw_names and isinstance(state, Mapping | tuple | list):
            state, throw, rolls_left = self._apart(state, throw, rolls_left)
        if rolls_left is not None and (throw is None or not self.has_pool):
            raise UnknownState(
                f"{self.title}: rolls are left after a throw of dice that may be thrown again"
            )
        found = find_state(self.states, self.field_names, state, self.title, self.words)
        if throw is None:
            return found
        if self.has_pool:
            return self.view[found].find_in_turn(throw, rolls_left).index
        return self.view[found].find_throw(throw).target

    def _apart(
        self, state: Mapping[str, Any] | Sequence[Any], throw: Any, rolls_left: int | None
    ) -> tuple[Mapping[str, Any] | Sequence[Any], Any, int | None]:
        """The fields of the position, and its throw if given."""
        from rollwise.graph.typed import spread

        n = len(self.throw_names)
        if not isinstance(state, Mapping):
            if self.throws is None and len(spread(state)) == len(self.field_names) - n:
                state = (*state, *[NO_THROW] * n)
            return state, throw, rolls_left
        fields = spread(state)
        assert isinstance(fields, dict)
        if throw is None and all(name in fields for name in self.throw_names):
            throw = [fields.pop(name) for name in self.throw_names]
            throw = None if throw[0] == NO_THROW else throw
            if throw is not None and self.has_pool:
                rolls_left = throw.pop()
        if self.throws is None:  # the fields of a position have the columns of a throw
            fields = dict.fromkeys(self.throw_names, NO_THROW) | fields
        return fields, throw, rolls_left

    def numbers_of(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """The numbers of positions, (n,) int64, given by their fields: (n, n_fields) int32.

        Raises
        ------
        UnknownState
        """
        return np.array([self.find(row) for row in rows.tolist()], np.int64)

    def places_of(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """The numbers of positions as in `numbers_of`; -1 for rows that are no positions."""
        columns = list(self.fields_of(self.positions, throws=False).values())
        near = np.arange(len(self.positions))
        # each field narrows the candidates, so that few rows are compared
        for column, wanted in zip(columns, rows.T, strict=True):
            near = near[np.isin(column[near], wanted)]
        found = np.column_stack([column[near] for column in columns]).tolist()
        number_of = dict(zip(map(tuple, found), self.positions[near].tolist(), strict=True))
        return np.array([number_of.get(tuple(row), -1) for row in rows.tolist()], np.int64)

    def fields_of(self, states: NDArray[np.int64], throws: bool) -> dict[str, NDArray[np.int32]]:
        """The columns of some states: their fields, and on request their throws."""
        rows = self.rows if throws or self.throws is None else self.states
        columns = dict(zip(self.columns, rows[states].T, strict=False))
        return {name: x for name, x in columns.items() if throws or name not in self.throw_names}

    def array(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Numbers of all states as ``array[i, j, k]``: see `rollwise.graph.by_fields.state_array`.

        Parameters
        ----------
        numbers : (n_states,)
            Such as the values of a solution or of an evaluation.
        """
        from rollwise.graph.by_fields import state_array

        return state_array(self, numbers)

    def action_array(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Numbers of all actions as ``array[i, j, k, action]``: see `rollwise.graph.by_fields`.

        Parameters
        ----------
        numbers : (n_actions,)
        """
        from rollwise.graph.by_fields import action_array

        return action_array(self, numbers)

    @property
    def title(self) -> str:
        """The game and its parameters, as typed on the command line."""
        return title_of(self.game, self.parameters)

    def state_text(self, state: int) -> str:
        """A state in words: ``banked=0, rival=0, turn=5``."""
        known = {name: field for name, field in self.named(state).items() if field != NO_THROW}
        return state_text(known)

    def named(self, state: int) -> dict[str, int]:
        """The fields of a state and its throw by name, a row of `rows`."""
        return in_fields(self.columns, self.row(state), self.words)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The texts of the actions, and the meaning of typed texts."""
        return Vocabulary(np.unique(self.action_label).tolist(), self.action_names)

    def __repr__(self) -> str:
        return (
            f"<StateGraph {self.title}: {self.n_states:,} states, "
            f"{self.n_actions:,} actions, {self.n_outcomes:,} outcomes>"
        )


# Without its arrays, and without the ends of a border.
FACTS = tuple(
    part.name
    for part in fields(StateGraph)
    if part.name not in (*HELD, "lotteries", "throws", "n_ends")
)


def require_graph(given: object) -> None:
    """Refuse an argument that is no graph.

    Raises
    ------
    UsageError
    """
    if not isinstance(given, StateGraph):
        wanted = "a graph is wanted, such as rollwise.build(game) or solution.graph"
        raise another_kind(wanted, given)


def require_one_value(graph: StateGraph) -> None:
    """Refuse a graph of three or more seats, where a state has no single value.

    Raises
    ------
    UsageError
    """
    if graph.players > 2:
        raise UsageError(
            f"{graph.title}: a position has a value for each of {graph.players} seats, and this is "
            "for one value: rollwise.equilibrium(game) finds and proves those of all seats"
        )
