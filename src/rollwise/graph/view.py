"""A graph as an iterable model: its states, their actions, and their outcomes.

    for state in graph.view:
        for action in state.actions:
            for outcome in action.outcomes:
                print(state, action.name, outcome.chance, outcome.next_state)

The objects read the graph's arrays on demand, without copies. A state, an
action or an outcome stands for its number, so it can be an index into arrays:
``solution.values[state]``, ``solution.regret[action]``.

This module alone defines the meaning of the arrays for people: the actions of a state and
the outcomes of an action, the names of actions, the probabilities of outcomes, the endings,
the direction of values, and the win probability of a value. For many states at once see
`rollwise.graph.choices`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UnknownState
from rollwise.graph.naming import KEEP, NO_THROW, ROLLS_LEFT, THROW, listed
from rollwise.numbers.printed import amount
from rollwise.numbers.shares import seat_names, shares_of

if TYPE_CHECKING:
    from rollwise.graph.state_graph import StateGraph

TIED = 1e-9  # a proved smaller difference of actions is a tie
Number = TypeVar("Number", float, Fraction, NDArray[np.float64])


def sign_of(objective: str) -> float:
    """The factor that makes larger values better: -1.0 to minimize, else 1.0."""
    return -1.0 if objective == "minimize" else 1.0


def win_probability(value: Number) -> Number:
    """The win probability of a value from -1 (lost) to 1 (won); a draw is half a win.

    A value may be outside by its error. The probability isn't, and then is closer to the truth.
    """
    chance = (1 + value) / 2
    if isinstance(chance, np.ndarray):
        return np.clip(chance, 0.0, 1.0)
    kind = type(chance)
    return min(max(chance, kind(0)), kind(1))


def unit_of(graph: Any) -> float:
    """The size of a difference of values in the shown unit.

    It is 1/2 where values are shown as win probabilities, and 1 where they are scores or payoffs.
    """
    return 1.0 if graph.is_score else 0.5


def worth_name(objective: str, has_stakes: bool) -> str:
    """The name of a value: an expected payoff, an expected score, or else a win probability."""
    if has_stakes:
        return "expected payoff"
    return "win probability" if objective == "win" else "expected score"


class GraphView:
    """The states of a graph, one after the other.

    Parameters
    ----------
    graph : StateGraph
    """

    __slots__ = ("graph",)

    def __init__(self, graph: StateGraph) -> None:
        self.graph = graph

    def __len__(self) -> int:
        return self.graph.n_states

    def __iter__(self) -> Iterator[State]:
        return (State(self, s) for s in range(self.graph.n_states))

    def __getitem__(self, state: int) -> State:
        if not 0 <= state < self.graph.n_states:
            raise IndexError(f"{self.graph.title} has no state {state}")
        return State(self, int(state))

    def find(self, state: Sequence[int] | Mapping[str, int]) -> State:
        """A state by its fields, in their order or by name.

        Raises
        ------
        UnknownState
        """
        return State(self, self.graph.find(state))

    def action(self, action: int) -> Action:
        """An action by its number in the arrays."""
        return Action(self, int(action))

    @property
    def is_score(self) -> bool:
        """Whether values are expected scores or payoffs, and not chances to win."""
        return self.graph.is_score

    @property
    def worth_name(self) -> str:
        """The name of a value."""
        return worth_name(self.graph.objective, self.graph.has_stakes)

    @property
    def sign(self) -> float:
        """The factor that makes larger values better."""
        return sign_of(self.graph.objective)

    def win_probability(self, value: Number) -> Number | None:
        """The win probability of a value; None in a game for points or stakes."""
        return None if self.is_score else win_probability(value)

    def __repr__(self) -> str:
        return f"<GraphView of {self.graph.title}: {len(self):,} states>"


class _Element:
    """An object for a number in the graph's arrays."""

    __slots__ = ("graph", "index", "view")

    def __init__(self, view: GraphView, index: int) -> None:
        self.view, self.graph, self.index = view, view.graph, index

    def __index__(self) -> int:
        return self.index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Element) or type(self) is not type(other):
            return NotImplemented
        return self.graph is other.graph and self.index == other.index

    def __hash__(self) -> int:
        return hash((type(self), self.index))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.index} of {self.graph.title}: {self}>"


class State(_Element):
    """A position, as the player to move sees it."""

    __slots__ = ()

    @property
    def fields(self) -> tuple[int, ...]:
        """Its fields, in their order, without the throw."""
        return self.graph.row(self.index)[: len(self.graph.field_names)]

    @property
    def throw(self) -> tuple[int, ...]:
        """The throw; empty before a throw, and in a game without throws.

        Dice of a pool that are yet to fall are 0.
        """
        graph = self.graph
        if not graph.throw_names:
            return ()
        row = dict(zip(graph.columns, graph.row(self.index), strict=True))
        numbers = tuple(row[name] for name in graph.throw_names if name != ROLLS_LEFT)
        return () if numbers[0] == NO_THROW else numbers

    @property
    def rolls_left(self) -> int:
        """How often dice may still be thrown again, after a throw of a pool; 0 elsewhere."""
        return max(self.named.get(ROLLS_LEFT, 0), 0)

    @property
    def asks_rules(self) -> bool:
        """Whether actions come from the rules, and not only from the pool of dice."""
        if not (self.graph.has_pool and self.throw):
            return True
        return 0 not in self.throw and min(self.labels) < KEEP

    @property
    def named(self) -> dict[str, int]:
        """Its fields by name, with the throw."""
        graph, fields = self.graph, self.graph.named(self.index).items()
        return {name: field for name, field in fields if field != NO_THROW or not graph.throw_names}

    @property
    def address(self) -> dict[str, Any]:
        """The arguments of `StateGraph.find`: the position's fields, the throw, the rolls left."""
        graph = self.graph
        named = zip(graph.field_names, self.fields, strict=True)
        return {
            "state": {name: n for name, n in named if name not in graph.throw_names},
            "throw": list(self.throw) or None,
            "rolls_left": self.rolls_left if self.throw and graph.has_pool else None,
        }

    @property
    def position(self) -> State:
        """The state before the throw; itself, if there was none."""
        graph, n = self.graph, self.graph.n_states
        if graph.throws is None or self.index < graph.n_positions:
            return self
        return State(self.view, int(graph.thrown_from[self.index - n]))

    @property
    def throws(self) -> list[Outcome]:
        """The possible throws; empty after a throw, and in a game without throws."""
        first = self.actions[0]
        return first.outcomes if first.is_throw else []

    def find_throw(self, throw: int | Sequence[int]) -> Outcome:
        """One of its throws, by its numbers, in any unambiguous order.

        Missing numbers at the end are 0, as for dice that aren't thrown. Kept dice of a pool may be
        left out.

        Raises
        ------
        UnknownState
            The throw is impossible there; the message lists the throws.
        """
        wanted = self._faces_of(throw)
        throws = self.throws
        if not throws:
            raise UnknownState(f"{self.graph.title} has no throws; leave the throw out")
        known = [thrown.next_state.throw for thrown in throws if thrown.next_state is not None]
        kept = tuple(face for face in self.throw if face)
        for whole in (wanted + (0,) * (len(known[0]) - len(wanted)), kept + wanted):
            hits = [k for k, found in enumerate(known) if found == whole]
            # Without a throw in this order, any order counts if it means one throw.
            hits = hits or [k for k, found in enumerate(known) if sorted(found) == sorted(whole)]
            if len(hits) == 1:
                return throws[hits[0]]
        beside = f", beside the kept {' '.join(map(str, kept))}," if kept else ""
        # only a pool has kept dice, and then the order of the others is of no account
        fallen = [(Counter(found) - Counter(kept)).elements() if kept else found for found in known]
        raise UnknownState(
            f"{self.graph.title}: no throw is {' '.join(map(str, wanted))}{beside} in the state "
            f"{self.position}; the throws are "
            f"{listed([' '.join(map(str, faces)) for faces in fallen])}"
        )

    def _faces_of(self, throw: object) -> tuple[int, ...]:
        listed = isinstance(throw, Sequence | np.ndarray) and not isinstance(throw, str)
        faces: tuple[Any, ...] = tuple(throw) if listed else (throw,)  # type: ignore[arg-type]
        if not all(isinstance(face, Real) for face in faces):
            raise UnknownState(
                f"{self.graph.title}: {throw!r} is no throw; a throw is a whole number, or a tuple "
                "of whole numbers"
            )
        return faces

    def find_in_turn(self, throw: int | Sequence[int], rolls_left: int | None = None) -> State:
        """A state of the turn of a position with a pool of dice.

        Parameters
        ----------
        throw : int or sequence of int
            The faces; 0 for dice yet to fall, beside kept ones.
        rolls_left : int, optional
            By default, the number after the first throw.

        Raises
        ------
        UnknownState
            The throw or the number of rolls left is impossible there.
        """
        faces = self._faces_of(throw)
        kept = sorted(face for face in faces if face)
        keeping = len(kept) < len(faces)
        # Dice yet to fall may have shown any face before; a 1 stands for it.
        full = (*kept, *[1] * (len(faces) - len(kept)))
        here = State(self.view, self.find_throw(full).target)
        most = here.rolls_left - keeping
        left = most if rolls_left is None else rolls_left
        if left not in range(most + 1):
            raise UnknownState(f"{self.graph.title}: after that throw 0 to {most} rolls are left")
        # Without kept dice the same faces fall again, with one roll fewer left.
        while here.rolls_left - keeping > left:
            nothing_kept = State(self.view, here.actions[-1].outcomes[0].target)
            here = State(self.view, nothing_kept.find_throw(full).target)
        if not keeping:
            return here
        keep = here.find_action(f"keep {' '.join(map(str, kept)) or 'nothing'}")
        return State(self.view, keep.outcomes[0].target)

    def __str__(self) -> str:
        return self.graph.state_text(self.index)

    @property
    def actions(self) -> list[Action]:
        """The mover's actions, in the order of the rules."""
        return [Action(self.view, a) for a in self.action_range]

    @property
    def action_range(self) -> range:
        """Where its actions lie in the graph's arrays."""
        begin, end = self.graph.action_indptr[self.index : self.index + 2].tolist()
        return range(begin, end)

    @property
    def is_choice(self) -> bool:
        """Whether there is more than one action."""
        return len(self.action_range) > 1

    @property
    def labels(self) -> list[int]:
        """The numbers of its actions, as the rules gave them."""
        part = self.action_range
        return self.graph.action_label[part.start : part.stop].tolist()  # type: ignore[no-any-return]

    @property
    def action_names(self) -> list[str]:
        """The texts of its actions, all different."""
        return self.graph.vocabulary.texts(self.labels)

    def find_action(self, action: str | int) -> Action:
        """One of its actions, by name or number.

        Raises
        ------
        UsageError
            It is illegal there; the message lists the legal ones.
        """
        place = self.graph.vocabulary.find(self.labels, action)
        return Action(self.view, self.action_range[place])

    def choose(self, probability: NDArray[np.float64], random: np.random.Generator) -> Action:
        """One of its actions, drawn by a policy: (n_actions,) float64."""
        from rollwise.numbers.randomness import draw_one

        part = self.action_range
        return Action(
            self.view, part[draw_one(probability[part.start : part.stop].tolist(), random)]
        )


class Action(_Element):
    """An action of a player in a state."""

    __slots__ = ("_total",)

    def __init__(self, view: GraphView, index: int) -> None:
        super().__init__(view, index)
        self._total: int | float | None = None

    @property
    def state(self) -> State:
        """The state of the action."""
        return State(self.view, int(self.graph.action_state[self.index]))

    @property
    def label(self) -> int:
        """Its number, as the rules gave it."""
        return int(self.graph.action_label[self.index])

    @property
    def name(self) -> str:
        """Its name, or its number without one."""
        return self.graph.vocabulary.text(self.label)

    def __str__(self) -> str:
        return self.name

    @property
    def is_throw(self) -> bool:
        """Whether it is the throw before a choice, and no move of a player."""
        return bool(self.graph.throw_names) and self.label == THROW

    @property
    def keeps(self) -> bool:
        """Whether it keeps dice of a pool; such an action isn't in the rules."""
        return self.label >= KEEP and self.graph.has_pool

    @property
    def distinct_name(self) -> str:
        """Its text, different from those of other actions of its state."""
        state = self.state
        return state.action_names[self.index - state.action_range.start]

    @property
    def reward(self) -> float:
        """Points for taking it."""
        return float(self.graph.lotteries.reward[self._lottery])

    @property
    def outcomes(self) -> list[Outcome]:
        """Its outcomes."""
        found, place = self.outcome_range, self._place
        return [Outcome(self, i, k, place + i) for i, k in enumerate(found)]

    def outcome(self, number: int) -> Outcome:
        """One of the outcomes, by its number among them."""
        return Outcome(self, number, self.outcome_range[number], self._place + number)

    def step(self, random: np.random.Generator) -> Outcome:
        """Take it: one of the outcomes, drawn by their chances."""
        from rollwise.numbers.randomness import draw_one

        return self.outcome(draw_one(self.weights, random))

    @property
    def outcome_range(self) -> range:
        """Where its outcomes lie in the graph's arrays."""
        begin, end = self.graph.outcome_indptr[self.index : self.index + 2].tolist()
        return range(begin, end)

    @property
    def weights(self) -> list[int] | list[float]:
        """How many equally likely ways lead to each outcome."""
        lotteries = self.graph.lotteries
        begin, end = lotteries.indptr[self._lottery : self._lottery + 2].tolist()
        return lotteries.weight[begin:end].tolist()  # type: ignore[no-any-return]

    @property
    def total(self) -> int | float:
        """The sum of the weights."""
        if self._total is None:
            weights = self.weights
            whole = isinstance(weights[0], int)
            self._total = sum(weights) if whole else float(np.sum(weights))
        return self._total

    @property
    def chances(self) -> list[float]:
        """How likely each outcome is."""
        return [weight / self.total for weight in self.weights]

    @property
    def exact_chances(self) -> list[Fraction]:
        """The same as fractions; weights that aren't whole count as the exact doubles."""
        weights = [Fraction(weight) for weight in self.weights]
        total = sum(weights)
        return [weight / total for weight in weights]

    @property
    def _lottery(self) -> int:
        return int(self.graph.action_lottery[self.index])

    @property
    def _place(self) -> int:
        return int(self.graph.lotteries.indptr[self._lottery])


class Outcome(_Element):
    """An outcome of an action."""

    __slots__ = ("_place", "action", "number")

    def __init__(self, action: Action, number: int, index: int, place: int) -> None:
        self.view, self.graph, self.index = action.view, action.graph, index
        self.action = action
        self.number = number  # among the outcomes of the action, from 0
        self._place = place  # in the lotteries

    @property
    def weight(self) -> int | float:
        """How many equally likely ways lead to it."""
        return self.graph.lotteries.weight[self._place].item()  # type: ignore[no-any-return]

    @property
    def chance(self) -> float:
        """How likely it is."""
        return self.weight / self.action.total

    @property
    def exact_chance(self) -> Fraction:
        """The same as a fraction."""
        return self.action.exact_chances[self.number]

    @property
    def target(self) -> int:
        """The number of the next state; -1 where the game is over.

        At or past the number of states it is on the border (see `StateGraph`).
        """
        return int(self.graph.outcome_state[self.index])

    @property
    def next_state(self) -> State | None:
        """The next state, as its mover sees it; None where it isn't in the graph."""
        target = self.target
        return State(self.view, target) if 0 <= target < len(self.view) else None

    @property
    def is_over(self) -> bool:
        """Whether the game ends."""
        return self.target < 0

    @property
    def passes(self) -> bool:
        """Whether the turn passes."""
        return bool(self.graph.lotteries.passes[self._place])

    @property
    def seats_on(self) -> int:
        """By how many seats the die moves on: 0 or 1, or more with three players and more."""
        return int(self.graph.lotteries.passes[self._place])

    @property
    def payoff(self) -> float:
        """The mover's payoff at the end of the game: 1 for a win, -1 for a loss, 0 for a draw."""
        return float(self.graph.lotteries.payoff[self._place])

    @property
    def ending(self) -> str | None:
        """The ending for the mover: "win", "lose", "draw", or "end" in a game for points.

        None where the game goes on. In a game for stakes it names the winner; `payoff` has the
        amount. With three or more players a win shared by the mover is a draw; see `shares`.
        """
        if not self.is_over:
            return None
        if self.graph.objective != "win":
            return "end"
        if self.graph.players > 2:
            share = self.shares[0]
            if self.graph.has_stakes:
                return "win" if share > 0.0 else "lose" if share else "draw"
            return "win" if share == 1.0 else "draw" if share else "lose"
        return "win" if self.payoff > 0 else "lose" if self.payoff < 0 else "draw"

    @property
    def ending_text(self) -> str:
        """The same, with the payoff in a game for stakes: "win 2"; empty where it goes on."""
        ending = self.ending or ""
        if self.graph.players > 2 and ending:
            if self.graph.has_stakes:
                return f"payoffs {' '.join(map(amount, self.shares))}"
            return "shared by all" if len(set(self.shares)) == 1 else self._winners
        if ending in ("win", "lose") and self.graph.has_stakes:
            return f"{ending} {amount(abs(self.payoff))}"
        return ending

    @property
    def shares(self) -> tuple[float, ...]:
        """The shares of one win at the end of the game: each seat's, the mover's first.

        For three or more players. In a game for payoffs these are the seats' payoffs.
        """
        return shares_of(self.payoff, self.graph.players)

    @property
    def _winners(self) -> str:
        """The winners, with seats counted from the mover."""
        pairs = zip(seat_names(self.graph.players), self.shares, strict=True)
        winners = [name for name, share in pairs if share]
        return "win" if winners == ["the mover"] else f"won by {' and '.join(winners)}"

    def worth(self, values: Any) -> Any:
        """Its value to the mover: the payoff, or the next state's value with his sign.

        Parameters
        ----------
        values : sequence of numbers
            Of the states, each for its mover; and of the border.
        """
        if self.is_over:
            return self.payoff
        value = values[self.target]
        return -value if self.passes else value

    def __str__(self) -> str:
        if self.is_over:
            return f"{self.exact_chance} {self.ending_text}"
        where = self.next_state or f"border place {self.target - len(self.view)}"
        return f"{self.exact_chance} {'the turn passes, ' if self.passes else ''}{where}"
