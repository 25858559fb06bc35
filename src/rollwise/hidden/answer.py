"""Answers to games with hidden fields or simultaneous choices, and the questions to them.

An answer gives each player a strategy: probabilities of the actions in each *situation*. With
hidden fields a situation is an information set, and with simultaneous choices it is a position.
Policies written by people are strategies too. They see a state whose hidden fields hold the numbers
with which the round began, so they can't use hidden information. In a game with `together` a policy
takes the side too: 0 for the mover, 1 for the other player.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import PolicyError, UnknownState, UsageError, no_such
from rollwise.game import Game
from rollwise.graph.layout import field_words
from rollwise.graph.naming import in_fields, state_text
from rollwise.graph.typed import spread
from rollwise.hidden.check import (
    OpenGame,
    Outcome,
    endless_positions,
    exits_of,
    gains_of,
    outcome,
    plan_of,
)
from rollwise.hidden.positions import DEAL, TOGETHER, Positions, policy_names
from rollwise.hidden.program import Face, matrix_face, payoff_matrix
from rollwise.hidden.regret import OpenStrategies, uniform
from rollwise.hidden.stochastic import Plan, evaluate_positions, unending
from rollwise.hidden.tree import Tree, added
from rollwise.hooks import InWords

Progress = Callable[[str, int, int | None], None] | None
Strategies = tuple[NDArray[Any], NDArray[Any]]
SURE = 1e-8  # error bound of an answer whose optimal strategies have ranges
MOST_FOR_RANGES = 5_000  # sequences of both players, for ranges over all optimal strategies
MOST_SHOWN = 100  # situations of a game without a list of histories


@dataclass(frozen=True)
class Situation:
    """A choice of one player.

    Attributes
    ----------
    seat : int
        0 or 1, of the game; in a simultaneous choice of the mover and the other player.
    position : int
        A position of the situation.
    sees : dict
        The visible fields.
    before : str
        The earlier sights and actions of this player, with the fields that have changed since.
    actions : list of int
    names : list of str
    probabilities : list of float or Fraction
    values : list of float
        What this player gets on average with each action, and the best play of this player after
        it, against the strategy of the other player.
    reach : float
        The chance that play comes here, or how often on average where rounds can return; NaN where
        the answer doesn't know it.
    number : int
        Of the information set of this player; with simultaneous choices of the position.
    round : int
        Of the game's rounds (`Positions.rounds`). There seat 0 is the first mover of the round.
    """

    seat: int
    position: int
    sees: Mapping[str, Any]
    before: str
    actions: list[int]
    names: list[str]
    probabilities: list[Any]
    values: list[float]
    reach: float
    number: int = -1
    round: int = 0

    @property
    def text(self) -> str:
        """The sight in words."""
        return state_text(self.sees)


@dataclass(frozen=True, eq=False, repr=False)
class Answer(InWords):
    """The solution of a game of this class. Numbers are payoffs of the first player.

    Attributes
    ----------
    low, high : float or Fraction
        Proved bounds on the value: equal if it is exact.
    method : str
    seconds : dict
        Run time of each stage.
    iterations : int
        Of regret minimization, or sweeps.
    kept_from : str
        The time of the run that found a kept answer; else empty.
    """

    positions: Positions
    low: Any
    high: Any
    method: str
    seconds: dict[str, float]
    iterations: int = 0
    kept_from: str = ""

    @property
    def game(self) -> Game:
        return self.positions.game

    @property
    def is_exact(self) -> bool:
        """Whether the value is a fraction."""
        return isinstance(self.low, Fraction)

    @property
    def value(self) -> float:
        """The middle of the bounds."""
        return float(self.low + self.high) / 2

    @property
    def error_bound(self) -> float:
        """Largest distance of `value` from the value of the game, proved."""
        half = (float(self.high) - float(self.low)) / 2
        return 0.0 if self.is_exact else half * (1 + 1e-12) + abs(self.value) * 2**-52

    def find(self, sees: Mapping[str, Any]) -> list[Situation]:
        """The situations in which a player sees these fields; fields may be left out.

        A number of a tuple may be given alone, as in ``board.0``.

        Raises
        ------
        UnknownState
        """
        fields = self.positions.states[0]._asdict()
        for name in sees:
            if name not in {*fields, *spread(fields)}:
                raise UnknownState(
                    f"{self.positions.title}: there is no field {name!r}; the fields are "
                    f"{', '.join(fields)}"
                )
        try:
            wanted = {name: _plain(number) for name, number in sees.items()}
        except (TypeError, ValueError):
            raise UnknownState(
                f"{self.positions.title}: {dict(sees)} aren't whole numbers, or tuples of them"
            ) from None
        found = [one for one in self.situations(wanted) if _shows(one.sees, wanted)]
        if not found:
            named = in_fields(sees, sees.values(), field_words(self.positions.game))
            raise UnknownState(
                f"{self.positions.title}: no player ever sees {state_text(named)}; a player sees "
                f"for example {self.positions.example}"
            )
        return found

    @property
    def n_situations(self) -> int:
        """The number of situations of both players."""
        raise NotImplementedError

    @property
    def n_histories(self) -> int:
        """The number of histories of play, where there are hidden fields."""
        raise NotImplementedError

    def situations(self, wanted: Mapping[str, Any] | None = None) -> Iterator[Situation]:
        """All situations; with `wanted` at least those in which these fields have these numbers."""
        raise NotImplementedError

    def at(self, memory: Any, seat: int, side: int, position: int) -> Situation:
        """The situation of a player in a position, after the actions in the memory.

        Parameters
        ----------
        seat : int
            0 for the first player of the game, 1 for the second.
        side : int
            0 for the mover, 1 for the other player of a simultaneous choice.
        """
        raise NotImplementedError

    def remember(self, memory: Any, seat: int, position: int, index: int) -> Any:
        """The memory of a player after the action with this index; it begins with None."""
        return None

    def enter(self, memory: Any, position: int, mover: int) -> Any:
        """The memory of a player when play comes to a position, where player `mover` is next."""
        return memory

    def strategies(self, names: tuple[str, str]) -> Any:
        """Strategies of both players by name: ``optimal``, ``random`` or a policy of the rules.

        Raises
        ------
        UsageError
            Not two names.
        PolicyError
        """
        if isinstance(names, str) or len(names) != 2 or not all(isinstance(n, str) for n in names):
            raise UsageError(
                f"{self.positions.title}: policies are the names of one for each player, as in "
                f"('optimal', 'random'), not {names!r}"
            )
        return self._strategies((names[0], names[1]))

    def _strategies(self, names: tuple[str, str]) -> Any:
        raise NotImplementedError

    def evaluate(self, names: tuple[str, str]) -> tuple[float, float]:
        """The first player's payoff with these policies, and a bound on its rounding error."""
        return self._evaluate(self.strategies(names))

    def _evaluate(self, strategies: Any) -> tuple[float, float]:
        raise NotImplementedError

    def best_response(self, name: str, seat: int) -> tuple[float, float]:
        """The payoff of the best response of a seat to a policy of the other, and its bound.

        Raises
        ------
        UsageError
            A seat other than 0 and 1.
        PolicyError
        """
        if seat not in (0, 1):
            raise UsageError(
                f"{self.positions.title}: seat is 0 for the first player or 1 for the second, not "
                f"{seat!r}"
            )
        return self._best_response(seat, self.strategies((name, name)))

    def _best_response(self, seat: int, strategies: Any) -> tuple[float, float]:
        raise NotImplementedError

    @property
    def work_of_ranges(self) -> int:
        """The size of the linear program of a range; 0 where there is none."""
        return 0

    def ranges(self, situation: Situation) -> list[tuple[float, float]]:
        """The range of each probability over all optimal strategies that lead to a situation.

        It is found by linear programs in doubles, to about 1e-5. It is empty if each probability is
        one number, or no optimal strategy leads there.
        """
        raise NotImplementedError

    def unending(self, responder: int | None = None) -> NDArray[np.bool_] | None:
        """Where play can't end: (n, 2) bool, by position and mover; None if every play ends.

        Parameters
        ----------
        responder : int, optional
            A player who may take any action; all others use their strategies.
        """
        return None

    def payoff_range(self, names: tuple[str, str]) -> tuple[float, float] | None:
        """The range of `evaluate` over all optimal strategies; None if it is one number."""
        return None

    def with_policies(self, names: tuple[str, str]) -> Answer:
        """The same game with other strategies, and the bounds that these prove."""
        raise NotImplementedError

    def _proved_by(self, names: tuple[str, str]) -> dict[str, Any]:
        """The bounds on the value of the game that strategies prove, by their best responses."""
        if names == ("optimal", "optimal"):
            return {}
        (most, above), (least, below) = (
            self.best_response(names[1 - seat], seat) for seat in (0, 1)
        )
        return {"low": -least - below, "high": most + above, "method": "given policies"}

    def probabilities_of(self, name: str, situation: Situation) -> list[float]:
        """The probabilities of the actions under a named policy other than the optimal one."""
        count = len(situation.actions)
        if name == "random":
            return [1.0 / count] * count
        if name not in (names := policy_names(self.game)):
            raise PolicyError(f"{self.positions.title}: {no_such('policy', name, names)}")
        side = 0 if self.positions.is_hidden else situation.seat
        action = self.positions.action_by(name, situation.position, side)
        return [float(a == action) for a in situation.actions]


def _plain(number: Any) -> Any:
    """A field, where a tuple of one number is this number."""
    if not isinstance(number, tuple | list):
        return int(number)
    return int(number[0]) if len(number) == 1 else tuple(number)


def _shows(fields: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether fields, or the numbers of tuples among them, are as wanted (see `_plain`)."""
    numbers = {name: _plain(field) for name, field in fields.items()}
    numbers |= spread(fields)
    return all(name in numbers and numbers[name] == x for name, x in wanted.items())


@dataclass(frozen=True, eq=False, repr=False)
class TreeAnswer(Answer):
    """The answer to a round of a game with hidden fields.

    Payoffs are those of the round's first mover, and so are the payoffs of `tree`, where the rounds
    that follow pay their values.
    """

    tree: Tree = field(kw_only=True, repr=False)
    found: Strategies = field(kw_only=True, repr=False)

    @cached_property
    def _views(self) -> tuple[Any, Any, Any]:
        """Plans of both players, and the gains and the chances of all sequences."""
        plans = [plan_of(*pair) for pair in zip(self.tree.seats, self.found, strict=True)]
        gains, reaches = [], []
        # gains with the masses of chance instead of payoffs are the chances to reach each sequence
        for seat, sign in ((0, 1), (1, -1)):
            other = plans[1 - seat]
            gains.append(gains_of(self.tree, seat, other, sign * self.tree.payoffs))
            reaches.append(gains_of(self.tree, seat, other, self.tree.masses))
        return plans, gains, reaches

    def paying(self, values: NDArray[Any], less: float = 0.0) -> TreeAnswer:
        """The same strategies, where the rounds that follow have other values (`Tree.paying`)."""
        if not len(values):
            return self
        return replace(self, tree=self.tree.in_doubles().paying(values, less))

    @cached_property
    def exit_chances(self) -> NDArray[np.float64]:
        """The chance that each of the rounds that follow begins, with each player as its mover."""
        return exits_of(self.tree, *self._views[0])

    def may_follow(self, free: int | None) -> tuple[bool, NDArray[np.bool_]]:
        """Whether play can end in the round, and for each next round whether it can begin.

        Parameters
        ----------
        free : int, optional
            A player who may take any action.

        Returns
        -------
        over : bool
        begin : (2 * n_exits,) bool
            As `exit_chances`.
        """
        tree, plans = self.tree, list(self._views[0])
        if free is not None:
            plans[free] = np.ones(tree.seats[free].n_sequences)
        can = (plans[0][tree.rows] > 0) & (plans[1][tree.columns] > 0) & (tree.masses > 0)
        begin = np.zeros(2 * len(self.positions.exits or ()), bool)
        begin[tree.exits[can & (tree.exits >= 0)]] = True
        return bool((can & (tree.exits < 0)).any()), begin

    @property
    def n_situations(self) -> int:
        return sum(len(seat.parents) for seat in self.tree.seats)

    @property
    def n_histories(self) -> int:
        return self.tree.nodes

    def situation(self, seat: int, number: int) -> Situation:
        """The situation of an information set."""
        plans, gains, reaches = self._views
        side = self.tree.seats[seat]
        begin, end = side.first[number : number + 2].tolist()
        position = int(side.examples[number])
        sees = self.positions.visible(position)
        reach = reaches[seat][begin]
        actions = list(self.positions.menus[position][0])
        # a gain is weighted with the chance that others lead here: the quotient is a value
        values = [float(g / reach) if reach > 0 else np.nan for g in gains[seat][begin:end]]
        return Situation(
            seat,
            position,
            sees,
            self._before(seat, number, sees),
            actions,
            [self.positions.action_name(a, position) for a in actions],
            self.found[seat][begin:end].tolist(),
            values,
            float(reach * plans[seat][side.parents[number]]),
            number,
        )

    def _before(self, seat: int, number: int, sees: Mapping[str, Any]) -> str:
        """The sights and actions that led to an information set."""
        side, parts = self.tree.seats[seat], list[str]()
        # from the last sequence up to the empty one, number 0
        while sequence := int(side.parents[number]):
            number = side.set_of(sequence)
            position = int(side.examples[number])
            seen = self.positions.visible(position)
            changed = {name: x for name, x in seen.items() if sees.get(name) != x}
            action = self.positions.menus[position][0][sequence - int(side.first[number])]
            name = self.positions.action_name(action, position)
            text = state_text(changed)
            parts.append(f"{text}: {name}" if text else name)
        return "; ".join(reversed(parts))

    def situations(self, wanted: Mapping[str, Any] | None = None) -> Iterator[Situation]:
        fits = np.ones(len(self.positions.states), bool)
        if wanted:
            fits &= [_shows(s._asdict(), wanted) for s in self.positions.states]
        for seat, side in enumerate(self.tree.seats):
            for number in np.flatnonzero(fits[side.examples]).tolist():
                yield self.situation(seat, number)

    def at(self, memory: Any, seat: int, side: int, position: int) -> Situation:
        key = (memory or 0, int(self.positions.sights[position]))
        return self.situation(seat, self.tree.seats[seat].numbers[key])

    def remember(self, memory: Any, seat: int, position: int, index: int) -> Any:
        side = self.tree.seats[seat]
        return (
            int(side.first[side.numbers[memory or 0, int(self.positions.sights[position])]]) + index
        )

    def _strategies(self, names: tuple[str, str]) -> Strategies:
        found = []
        for seat, name in enumerate(names):
            if name == "optimal":
                found.append(self.found[seat].astype(np.float64))
                continue
            strategy = uniform(self.tree.seats[seat])
            if name != "random":
                for number, begin in enumerate(self.tree.seats[seat].first[:-1].tolist()):
                    part = self.probabilities_of(name, self.situation(seat, number))
                    strategy[begin : begin + len(part)] = part
            found.append(strategy)
        return found[0], found[1]

    def _evaluate(self, strategies: Strategies) -> tuple[float, float]:
        value, bound, _ = self.outcome(strategies, None)
        return value, bound

    def _best_response(self, seat: int, strategies: Strategies) -> tuple[float, float]:
        value, bound, _ = self.outcome(strategies, seat)
        return (1 - 2 * seat) * value, bound

    def outcome(self, strategies: Strategies, responder: int | None, side: int = 0) -> Outcome:
        """The outcome of the round with these strategies (see `outcome`)."""
        return outcome(self.tree, strategies, responder, side)

    @property
    def work_of_ranges(self) -> int:
        if self.error_bound > SURE * max(1.0, float(abs(self.tree.payoffs).max(initial=0.0))):
            return 0  # these strategies aren't optimal
        return sum(seat.n_sequences for seat in self.tree.seats)

    @cached_property
    def _faces(self) -> tuple[Face, Face]:
        payoffs, (first, second) = payoff_matrix(self.tree), self.tree.seats
        return (
            Face(payoffs, first, second, self.value, self.error_bound),
            Face(-payoffs.T, second, first, -self.value, self.error_bound),
        )

    def ranges(self, situation: Situation) -> list[tuple[float, float]]:
        return self._faces[situation.seat].probabilities(situation.number)

    def range_of(self, seat: int, strategies: Strategies, values: NDArray[Any]) -> Any:
        """The range of the first player's payoff over all optimal strategies of a seat.

        Parameters
        ----------
        strategies
            That of the other seat counts.
        values
            Of the rounds that follow (`Tree.paying`).
        """
        plan = plan_of(self.tree.seats[1 - seat], strategies[1 - seat])
        own, other = (self.tree.rows, self.tree.columns)[:: 1 - 2 * seat]
        payoffs = self.tree.in_doubles().paying(values).payoffs
        cost = added(own, payoffs * plan[other], self.tree.seats[seat].n_sequences)
        return self._faces[seat].payoffs(cost)

    def playing(self, strategies: Strategies) -> TreeAnswer:
        """The same round with other strategies; nothing is proved of them."""
        return replace(self, found=strategies)


@dataclass(frozen=True, eq=False, repr=False)
class StochasticAnswer(Answer):
    """The answer to a game with simultaneous choices.

    Attributes
    ----------
    plan : Plan
    players : pair of (rows, columns), optional
        The probabilities of each player as the mover and as the other one, if not those of the
        plan.
    """

    plan: Plan = field(kw_only=True, repr=False)
    players: tuple[Strategies, Strategies] | None = field(kw_only=True, repr=False, default=None)

    @property
    def n_situations(self) -> int:
        return sum(map(len, self.positions.menus))

    def _entries(self, position: int) -> NDArray[np.float64]:
        """The matrix game of a position: the mover's value of each pair of actions."""
        entries = np.array([self._entry(c) for c in self.positions.choices(position)])
        return entries.reshape(len(self.positions.menus[position][0]), -1)

    @cached_property
    def _may_last(self) -> bool:
        """Whether the players together can avoid the end for ever."""
        return bool(endless_positions(self.positions).any())

    @property
    def work_of_ranges(self) -> int:
        return int(not self._may_last)  # to wait may be optimal once and not for ever

    def ranges(self, situation: Situation) -> list[tuple[float, float]]:
        side, place = situation.seat, situation.number
        entries, value = self._entries(place), float(self.plan.values[place])
        if side == 1:
            entries, value = -entries.T, -value
        return matrix_face(entries, value, float(self.plan.error_bounds[place])).probabilities(0)

    def _situation(self, position: int, side: int, player: int = 0) -> Situation:
        plan, positions = self.plan, self.positions
        menu = positions.menus[position]
        shares = self.players[player] if self.players else (plan.rows, plan.columns)
        rows, columns = (
            part[slice(*first[position : position + 2].tolist())]
            for part, first in zip(shares, (plan.first_row, plan.first_column), strict=True)
        )
        entries = self._entries(position)
        values = entries @ columns if side == 0 else -(rows @ entries)
        return Situation(
            side,
            position,
            positions.visible(position),
            "",
            list(menu[side]),
            [positions.action_name(a, position) for a in menu[side]],
            (columns if side else rows).tolist(),
            values.tolist(),
            np.nan,
            position,
        )

    def _entry(self, choice: int) -> float:
        """The mover's value of a choice."""
        total, weights = 0.0, 0.0
        for weight, points, target, turn in self.positions.outcomes(choice):
            worth = float(points) if target < 0 else (1 - 2 * turn) * self.plan.values[target]
            total, weights = total + float(weight) * worth, weights + float(weight)
        return float(self.positions.rewards[choice]) + total / weights

    def situations(self, wanted: Mapping[str, Any] | None = None) -> Iterator[Situation]:
        for position, kind in enumerate(self.positions.kinds.tolist()):
            if not wanted or _shows(self.positions.states[position]._asdict(), wanted):
                for side in range(0 if kind == DEAL else 2 if kind == TOGETHER else 1):
                    yield self._situation(position, side)

    def at(self, memory: Any, seat: int, side: int, position: int) -> Situation:
        return self._situation(position, side, seat)

    def _strategies(self, names: tuple[str, str]) -> tuple[Strategies, Strategies]:
        """The probabilities of each player as the mover, and as the other one."""
        found = []
        for name in names:
            shares = self.plan.rows.copy(), self.plan.columns.copy()
            for situation in self.situations() if name != "optimal" else ():
                first = (self.plan.first_row, self.plan.first_column)[situation.seat]
                begin = first[situation.position]
                part = self.probabilities_of(name, situation)
                shares[situation.seat][begin : begin + len(part)] = part
            found.append(shares)
        return found[0], found[1]

    def _evaluate(self, strategies: tuple[Strategies, Strategies]) -> tuple[float, float]:
        return evaluate_positions(self.positions, self.plan, strategies, None)

    def _best_response(
        self, seat: int, strategies: tuple[Strategies, Strategies]
    ) -> tuple[float, float]:
        worth, bound = evaluate_positions(self.positions, self.plan, strategies, seat)
        return (worth if seat == 0 else -worth), bound

    def unending(self, responder: int | None = None) -> NDArray[np.bool_] | None:
        if not self._may_last:
            return None
        players = self.players or [(self.plan.rows, self.plan.columns)] * 2
        return unending(self.positions, self.plan, players, responder)

    def with_policies(self, names: tuple[str, str]) -> StochasticAnswer:
        return replace(self, players=self.strategies(names), **self._proved_by(names))


@dataclass(frozen=True, eq=False, repr=False)
class OpenAnswer(Answer):
    """The answer to a large round with one deal and open moves; memories are nodes and rows."""

    open: OpenGame = field(kw_only=True, repr=False)
    found: OpenStrategies = field(kw_only=True, repr=False)

    @property
    def n_situations(self) -> int:
        return self.open.n_situations

    @property
    def n_histories(self) -> int:
        return self.open.n_histories

    def _situation(self, node: int, row: int, position: int, path: str) -> Situation:
        game, seat = self.open, int(self.open.movers[node])
        deal = int(np.flatnonzero(game.positions[node] == position)[0])
        menu = list(self.positions.menus[position][0])
        sums = self.found.sums[row : row + len(menu), game.types[seat][deal]].astype(float)
        shares = sums / sums.sum() if sums.any() else np.full(len(menu), 1 / len(menu))
        names = [self.positions.action_name(a, position) for a in menu]
        unknown = [math.nan] * len(menu)
        sees = self.positions.visible(position)
        return Situation(
            seat, position, sees, path, menu, names, shares.tolist(), unknown, math.nan
        )

    def _after(self, node: int, row: int, index: int) -> tuple[int, int]:
        action = int(self.open.first_action[node]) + index
        return int(self.open.children[action]), row + int(self.open.offsets[action])

    def situations(self, wanted: Mapping[str, Any] | None = None) -> Iterator[Situation]:
        """The situations with the shortest histories, at most MOST_SHOWN; `before` is the play."""
        queue, given = deque([(0, 0, "")]), 0
        # breadth first: short histories come first
        while queue and given < MOST_SHOWN:
            node, row, path = queue.popleft()
            seat = int(self.open.movers[node])
            places = self.open.positions[node]
            # one deal of each type of the mover stands for all its deals
            for deal in np.unique(self.open.types[seat], return_index=True)[1].tolist():
                one = self._situation(node, row, int(places[deal]), path)
                if not wanted or _shows(one.sees, wanted):
                    given += 1
                    yield one
            for index in range(int(np.diff(self.open.first_action)[node])):
                child, below = self._after(node, row, index)
                if child >= 0:
                    name = self.positions.action_name(
                        self.positions.menus[places[0]][0][index], int(places[0])
                    )
                    queue.append((child, below, f"{path}; {name}" if path else name))

    def at(self, memory: Any, seat: int, side: int, position: int) -> Situation:
        return self._situation(*self._place(memory, position), position, "")

    def _place(self, memory: Any, position: int) -> tuple[int, int]:
        """The node and the row of a position, after the own last move."""
        node, row = memory or (0, 0)
        if position in self.open.positions[node]:
            return node, row
        # the position follows from the own last move by one move of the other player
        for index in range(int(np.diff(self.open.first_action)[node])):
            child, below = self._after(node, row, index)
            if child >= 0 and position in self.open.positions[child]:
                return child, below
        raise AssertionError("a position that doesn't follow")

    def remember(self, memory: Any, seat: int, position: int, index: int) -> Any:
        return self._after(*self._place(memory, position), index)

    def _strategies(self, names: tuple[str, str]) -> OpenStrategies:
        if set(names) != {"optimal"}:
            raise UsageError(
                f"{self.positions.title} is too large to evaluate policies; take fewer dice, cards "
                "or sides"
            )
        return self.found

    def _evaluate(self, strategies: OpenStrategies) -> tuple[float, float]:
        return self.value, self.error_bound

    def _best_response(self, seat: int, strategies: OpenStrategies) -> tuple[float, float]:
        worth = float(self.high) if seat == 0 else -float(self.low)
        return worth, 2 * self.found.rounding

    def paying(self, values: NDArray[Any], less: float = 0.0) -> OpenAnswer:
        """This answer: no other strategies than the optimal ones are evaluated."""
        return self

    def outcome(self, strategies: OpenStrategies, responder: int | None, side: int = 0) -> Outcome:
        """The first mover's payoff with optimal strategies, or with the best response of one."""
        if responder is None:
            value, bound = self._evaluate(strategies)
        else:
            value, bound = self._best_response(responder, strategies)
            value *= 1 - 2 * responder
        return value, bound, self.exit_chances

    @property
    def exit_chances(self) -> NDArray[np.float64]:
        """Unknown."""
        return np.full(2 * len(self.positions.exits or ()), math.nan)

    def playing(self, strategies: OpenStrategies) -> OpenAnswer:
        """This answer."""
        return self
