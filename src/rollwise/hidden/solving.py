"""Solve a game with hidden fields or simultaneous choices; the answer has all its rounds.

Rounds are solved from the last to the first (see `rounds`). A small round is solved by a linear
program, and in fractions where probabilities are simple. In larger ones regrets are minimized. A
game that never begins anew is one round.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.game import Game
from rollwise.hidden.answer import (
    MOST_FOR_RANGES,
    Answer,
    OpenAnswer,
    Progress,
    Situation,
    StochasticAnswer,
    Strategies,
    TreeAnswer,
)
from rollwise.hidden.check import bounds
from rollwise.hidden.program import NARROW, as_fractions, solve_program
from rollwise.hidden.reading import Positions, Round, read
from rollwise.hidden.regret import minimize_regret, minimize_regret_openly, open_game
from rollwise.hidden.stochastic import solve_positions
from rollwise.hidden.tree import Tree, check_ends, unfold
from rollwise.numbers.given import positive_number

Part = TreeAnswer | OpenAnswer
MOST_FOR_PROGRAM = 60_000  # sequences of both players, for the linear program
MOST_FOR_FRACTIONS = 5_000  # pairs of sequences, for an exact answer
LONGEST = 512  # bits of a fraction that an earlier round pays
MOST_FOR_TREE = 3_000_000  # sequences, for a list of all histories
TOLERANCE, OPEN_TOLERANCE = 1e-4, 1e-3  # of the largest payoff
ITERATIONS, SECONDS = 100_000, 3600.0


@dataclass(frozen=True, eq=False, repr=False)
class HiddenAnswer(Answer):
    """The answer to a game with hidden fields.

    Attributes
    ----------
    parts : list of pairs
        For each round the strategies if the first player of the game is its mover, and if the
        second one is. Optimal strategies are the same.
    """

    parts: list[tuple[Part, Part]] = field(kw_only=True, repr=False)

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """The round that begins at a position."""
        return {int(one.places[0]): k for k, one in enumerate(self.positions.rounds)}

    @cached_property
    def _local(self) -> list[dict[int, int]]:
        """By round, the numbers of its positions in the round."""
        return [
            {place: k for k, place in enumerate(one.places.tolist())}
            for one in self.positions.rounds
        ]

    @property
    def n_situations(self) -> int:
        return sum(part.n_situations for part, _ in self.parts)

    @property
    def n_histories(self) -> int:
        return sum(part.n_histories for part, _ in self.parts)

    @cached_property
    def _entered(self) -> NDArray[np.float64]:
        """The chance that play comes to each round, with each player as its mover."""
        found = np.zeros((len(self.parts), 2))
        found[0, 0] = 1.0
        # a round comes before those that follow it, so its chance is complete
        for k, pair in enumerate(self.parts):
            exits = np.array(self.positions.rounds[k].positions.exits, np.int64)
            for mover, part in enumerate(pair):
                chances = part.exit_chances.reshape(-1, 2) if found[k, mover] else 0.0
                # the first player of the round is player `mover` of the game
                after = found[k, mover] * np.broadcast_to(chances, (len(exits), 2))
                np.add.at(found, exits, after[:, :: 1 - 2 * mover])
        return found

    def _placed(self, number: int, one: Situation) -> Situation:
        """A situation of a round as one of the game."""
        place = int(self.positions.rounds[number].places[one.position])
        reach = one.reach * float(self._entered[number].sum())
        return replace(one, position=place, reach=reach, round=number)

    def situations(self, wanted: Mapping[str, Any] | None = None) -> Iterator[Situation]:
        for k, (part, _) in enumerate(self.parts):
            for one in part.situations(wanted):
                yield self._placed(k, one)

    # the memory of a player: the round, the round's first mover, and the memory within the round

    def enter(self, memory: Any, position: int, mover: int) -> Any:
        number = self._numbers.get(position)
        return memory if number is None else (number, mover, None)

    def at(self, memory: Any, seat: int, side: int, position: int) -> Situation:
        number, first, inner = memory
        part, place = self.parts[number][first], self._local[number][position]
        return self._placed(number, part.at(inner, seat ^ first, side, place))

    def remember(self, memory: Any, seat: int, position: int, index: int) -> Any:
        number, first, inner = memory
        part, place = self.parts[number][first], self._local[number][position]
        return number, first, part.remember(inner, seat ^ first, place, index)

    # ---- folds over the rounds, the last one first

    def _fold(
        self, worth: Callable[[Part, int, int, NDArray[Any]], tuple[float, float]]
    ) -> tuple[float, float]:
        """The first player's payoff, and its bound.

        Parameters
        ----------
        worth : callable
            For the answer of a round, its number, its first mover and the values of the rounds that
            follow it, as `Tree.paying` takes them, the payoff of this mover, and a bound.
        """
        found = np.zeros((len(self.parts), 2, 2))  # by round and mover: of the first player, bound
        for k in range(len(self.parts) - 1, -1, -1):
            exits = list(self.positions.rounds[k].positions.exits or ())
            for mover in (0, 1) if k else (0,):
                sign = 1 - 2 * mover
                after = found[exits][:, ::sign]
                value, bound = worth(self.parts[k][mover], k, mover, sign * after[..., 0].ravel())
                found[k, mover] = sign * value, bound + after[..., 1].max(initial=0.0)
        value, bound = found[0, 0].tolist()
        return value, bound

    def _strategies(self, names: tuple[str, str]) -> list[tuple[Any, Any]]:
        """By round and mover, the strategies of the round's mover and of the other player."""
        return [
            (pair[0].strategies(names), pair[1].strategies((names[1], names[0])))
            for pair in self.parts
        ]

    def _evaluate(self, strategies: list[tuple[Any, Any]]) -> tuple[float, float]:
        return self._fold(
            lambda part, k, mover, values: part.paying(values)._evaluate(strategies[k][mover])
        )

    def _best_response(self, seat: int, strategies: list[tuple[Any, Any]]) -> tuple[float, float]:
        def worth(part: Part, k: int, mover: int, values: NDArray[Any]) -> tuple[float, float]:
            own = seat ^ mover
            value, bound = part.paying(values)._best_response(own, strategies[k][mover])
            return (1 - 2 * own) * value, bound

        value, bound = self._fold(worth)
        return (1 - 2 * seat) * value, bound

    def with_policies(self, names: tuple[str, str]) -> HiddenAnswer:
        strategies, parts = self._strategies(names), [list(pair) for pair in self.parts]

        def worth(part: Part, k: int, mover: int, values: NDArray[Any]) -> tuple[float, float]:
            parts[k][mover] = part.paying(values).playing(strategies[k][mover])
            return part.paying(values)._evaluate(strategies[k][mover])

        self._fold(worth)
        return replace(self, parts=[(a, b) for a, b in parts], **self._proved_by(names))

    @property
    def work_of_ranges(self) -> int:
        works = [part.work_of_ranges for part, _ in self.parts]
        return max(works) if min(works) else 0

    def ranges(self, situation: Situation) -> list[tuple[float, float]]:
        return self.parts[situation.round][0].ranges(situation)

    def payoff_range(self, names: tuple[str, str]) -> tuple[float, float] | None:
        if names.count("optimal") != 1 or not 0 < self.work_of_ranges <= MOST_FOR_RANGES:
            return None
        seat, strategies = names.index("optimal"), self._strategies(names)

        def end(is_high: bool) -> float:
            def worth(part: Part, k: int, mover: int, values: NDArray[Any]) -> tuple[float, float]:
                assert isinstance(part, TreeAnswer)  # no others have ranges
                ends = part.range_of(seat ^ mover, strategies[k][mover], values)
                # the most of one player is the least of the other
                return ends[is_high ^ bool(mover)], 0.0

            return self._fold(worth)[0]

        low, high = end(False), end(True)
        scale = max(1.0, self.positions.stake)
        return (low, high) if high - low > NARROW * scale else None


def solve(
    game: Game,
    *,
    tolerance: float | None = None,
    max_states: int | None = None,
    progress: Progress = None,
    positions: Positions | None = None,
) -> Answer:
    """Solve a game of two players with hidden fields or simultaneous choices.

    Parameters
    ----------
    tolerance : float, optional
        The largest acceptable error bound where regrets are minimized: 1e-4 of the largest payoff
        unless given, and 1e-3 for rounds too large for a list of histories. A tolerance of at least
        1e-4 replaces the linear program, which finds smaller bounds.
    max_states : int, optional
        The most positions, or histories of a round.
    positions : Positions, optional
        Of the game, if they were read before.

    Raises
    ------
    RulesError, UsageError, TooManyStates, NotConverged
    """
    if tolerance is not None:
        tolerance = positive_number("tolerance", tolerance)
    began = time.perf_counter()
    positions = read(game, max_states, progress) if positions is None else positions
    seconds = {"read": time.perf_counter() - began, "solve": 0.0}
    if not positions.is_hidden:
        began = time.perf_counter()
        plan = solve_positions(positions)
        low, high = float(plan.lows[0]), float(plan.highs[0])
        seconds["solve"] = time.perf_counter() - began
        return StochasticAnswer(
            positions, low, high, "matrix games", seconds, plan.sweeps, plan=plan
        )
    began = time.perf_counter()
    check_ends(positions)
    rounds = positions.rounds
    seconds["read"] += time.perf_counter() - began
    search = _Search(tolerance, positions.stake, _longest(rounds), max_states, progress)
    found: dict[int, Part] = {}
    # the last rounds first: the values of those that follow are known
    for k in range(len(rounds) - 1, -1, -1):
        if len(rounds) > 1:
            search.stage = f"round {len(rounds) - k:,} of {len(rounds):,}: "
        part = search.solve(rounds[k], [found[e] for e in rounds[k].positions.exits or ()])
        for stage, taken in part.seconds.items():
            seconds[stage] = seconds.get(stage, 0.0) + taken
        found[k] = part
    parts = [(found[k], found[k]) for k in range(len(rounds))]
    return together(positions, parts, seconds)


def together(
    positions: Positions, parts: list[tuple[Part, Part]], seconds: dict[str, float], **facts: Any
) -> HiddenAnswer:
    """The answer with these rounds; the bounds of the first one are those of the game."""
    first = parts[0][0]
    facts = {
        "method": " and ".join(sorted({part.method for part, _ in parts})),
        "iterations": sum(part.iterations for part, _ in parts),
        **facts,
    }
    return HiddenAnswer(positions, first.low, first.high, seconds=seconds, parts=parts, **facts)


def proved(
    positions: Positions, trees: Sequence[Tree], found: Sequence[Strategies], **facts: Any
) -> HiddenAnswer:
    """The answer with given strategies in all rounds, and the bounds that they prove.

    Parameters
    ----------
    trees : sequence of Tree
        Of the rounds; the values of rounds that follow may be missing.
    found : sequence of pairs
        The strategies of both players in each round.

    Raises
    ------
    ValueError
        Probabilities are negative or don't add up to 1.
    """
    rounds, parts = positions.rounds, dict[int, Part]()
    for k in range(len(rounds) - 1, -1, -1):
        after = [parts[e] for e in rounds[k].positions.exits or ()]
        low, high = bounds(trees[k], found[k], ends_of(after))
        values = values_of(after)
        # of each round that follows the values for the first player, by its mover
        both = np.array([x for value in values for x in (value, -value)], trees[k].payoffs.dtype)
        tree = trees[k].paying(both)
        parts[k] = TreeAnswer(rounds[k].worth(values), low, high, "", {}, tree=tree, found=found[k])
    return together(positions, [(parts[k], parts[k]) for k in range(len(rounds))], {}, **facts)


def values_of(parts: Sequence[Part]) -> list[Any]:
    """The values that rounds pay to earlier ones: fractions, unless these are long."""
    return [
        part.low if part.is_exact and part.low.denominator.bit_length() <= LONGEST else part.value
        for part in parts
    ]


def _longest(rounds: Sequence[Round]) -> int:
    """The most rounds of one play."""
    depths = [1] * len(rounds)
    for k in range(len(rounds) - 1, -1, -1):
        after = rounds[k].positions.exits or ()
        depths[k] += max((depths[e] for e in after), default=0)
    return depths[0]


@dataclass
class _Search:
    """The search for the answer to a round.

    Attributes
    ----------
    tolerance, stake : float
        As in `solve`, and the largest payoff of the game.
    longest : int
        The most rounds of one play; their bounds add up.
    """

    tolerance: float | None
    stake: float
    longest: int
    max_states: int | None
    progress: Progress
    stage: str = ""

    def _report(self, stage: str, done: int, total: int | None) -> None:
        if self.progress is not None:
            self.progress(f"{self.stage}{stage}", done, total)

    def _limits(self, usual: float) -> tuple[Any, ...]:
        """The limits of regret minimization."""
        tolerance = (self.tolerance or usual * self.stake) / self.longest
        return tolerance, ITERATIONS, SECONDS, self._report

    def solve(self, one: Round, after: Sequence[Part]) -> Part:
        """The answer to a round, with those to the rounds that follow it."""
        stages = {"solve": time.perf_counter()}
        positions = one.worth(values_of(after))
        openly = open_game(positions)
        if openly is not None and openly.sizes[0] * openly.n_types > MOST_FOR_TREE:
            average = minimize_regret_openly(openly, *self._limits(OPEN_TOLERANCE))
            # a play comes to one of the rounds that follow at most
            off = max((part.error_bound for part in after), default=0.0)
            return OpenAnswer(
                positions, average.low - off, average.high + off, "regret minimization",
                _taken(stages), average.iterations, open=openly, found=average,
            )  # fmt: skip
        self._report("listing all histories", 0, None)
        tree = unfold(positions, limit=self.max_states)
        iterations = 0
        is_rough = self.tolerance is not None and self.tolerance >= TOLERANCE
        if sum(seat.n_sequences for seat in tree.seats) <= MOST_FOR_PROGRAM and not is_rough:
            method = "linear program"
            self._report("solving the linear program", 0, None)
            found: Any = solve_program(tree)
            if positions.is_exact and len(tree.rows) <= MOST_FOR_FRACTIONS:
                self._report("looking for an answer in fractions", 0, None)
                exact = unfold(positions, exact=True)
                if (fractions := as_fractions(exact, found)) is not None:
                    tree, found = exact, fractions
        else:
            method = "regret minimization"
            found, iterations = minimize_regret(tree, *self._limits(TOLERANCE))
        stages["certify"] = time.perf_counter()
        low, high = bounds(tree, found, ends_of(after))
        return TreeAnswer(
            positions, low, high, method, _taken(stages), iterations, tree=tree, found=found
        )


def ends_of(parts: Sequence[Part]) -> list[tuple[Any, Any]]:
    """The bounds of rounds, for an earlier round."""
    return [(part.low, part.high) for part in parts]


def _taken(stages: dict[str, float]) -> dict[str, float]:
    """The seconds of each stage, from the times at which they began."""
    ends = [*list(stages.values())[1:], time.perf_counter()]
    return {name: end - begin for (name, begin), end in zip(stages.items(), ends, strict=True)}
