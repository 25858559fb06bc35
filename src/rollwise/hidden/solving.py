"""Solve a game with hidden fields or simultaneous choices, round by round.

Rounds are solved from the last to the first (see `rounds`). A small round is solved by a linear
program, and in fractions where probabilities are simple. In larger ones regrets are minimized. A
game that never begins anew is one round.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.game import Game
from rollwise.hidden import cycles
from rollwise.hidden.answer import (
    Answer,
    OpenAnswer,
    Progress,
    StochasticAnswer,
    Strategies,
    TreeAnswer,
)
from rollwise.hidden.check import bounds, may_go_on, outcome
from rollwise.hidden.positions import Positions, Round
from rollwise.hidden.program import as_fractions, solve_program
from rollwise.hidden.reading import read
from rollwise.hidden.regret import minimize_regret, minimize_regret_openly, open_game
from rollwise.hidden.stochastic import solve_positions
from rollwise.hidden.tree import Tree, unfold
from rollwise.hidden.whole import (
    Part,
    both_of,
    ends_of,
    exits_of,
    prove_together,
    together,
    values_of,
)
from rollwise.numbers.given import positive_number

MOST_FOR_PROGRAM = 60_000  # sequences of both players, for the linear program
MOST_FOR_FRACTIONS = 5_000  # pairs of sequences, for an exact answer
MOST_FOR_TREE = 3_000_000  # sequences, for a list of all histories
TOLERANCE, OPEN_TOLERANCE = 1e-4, 1e-3  # of the largest payoff
ITERATIONS, SECONDS = 100_000, 3600.0
PROGRAM = "linear program"
SETTLED = 1e-9  # bounds of rounds that return, as parts of the largest payoff, that are enough
WAITS = (0.0, 1e-7, 1e-5, 1e-3)  # by which a wait is worth less, as parts of the largest payoff


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
        1e-4 replaces the linear program, which finds smaller bounds, in rounds that can't return.
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
    rounds, goes_on = positions.rounds, may_go_on(positions)
    seconds["read"] += time.perf_counter() - began
    search = _Search(tolerance, positions.stake, _longest(positions), max_states, progress)
    found: dict[int, Part] = {}
    # the last rounds first: the values of those that follow are known
    for group in positions.groups:
        if len(rounds) > 1:
            search.stage = f"round {len(found) + 1:,} of {len(rounds):,}: "
        parts = (
            search.solve_together(positions, group, found, goes_on)
            if positions.returns(group)
            else [search.solve(rounds[k], [found[e] for e in exits_of(rounds[k])]) for k in group]
        )
        for k, part in zip(group, parts, strict=True):
            for stage, taken in part.seconds.items():
                seconds[stage] = seconds.get(stage, 0.0) + taken
            found[k] = part
    pairs = [(found[k], found[k]) for k in range(len(rounds))]
    return together(positions, pairs, seconds, may_go_on=goes_on)


def _longest(positions: Positions) -> int:
    """The most rounds of one play, where rounds that can return to each other count once."""
    depths = [0] * len(positions.rounds)
    for group in positions.groups:
        after = [depths[e] for k in group for e in exits_of(positions.rounds[k])]
        for k in group:
            depths[k] = 1 + max(after, default=0)
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
        method, found, iterations = self.optimal(tree)
        if method == PROGRAM and positions.is_exact and len(tree.rows) <= MOST_FOR_FRACTIONS:
            self._report("looking for an answer in fractions", 0, None)
            exact = unfold(positions, exact=True)
            if (fractions := as_fractions(exact, found)) is not None:
                tree, found = exact, fractions
        stages["certify"] = time.perf_counter()
        low, high = bounds(tree, found, ends_of(after))
        return TreeAnswer(
            positions, low, high, method, _taken(stages), iterations, tree=tree, found=found
        )

    def optimal(self, tree: Tree, *, finely: bool = False) -> tuple[str, Any, int]:
        """The method, optimal strategies of a tree, and the iterations.

        Parameters
        ----------
        finely : bool
            Whether to use the program, with small tolerances, whatever the tolerance of the answer.
        """
        is_rough = self.tolerance is not None and self.tolerance >= TOLERANCE and not finely
        if _fits_program(tree) and not is_rough:
            self._report("solving the linear program", 0, None)
            return PROGRAM, solve_program(tree, finely=finely), 0
        return "regret minimization", *minimize_regret(tree, *self._limits(TOLERANCE))

    def solve_together(
        self, positions: Positions, group: Sequence[int], parts: dict[int, Part], goes_on: bool
    ) -> list[TreeAnswer]:
        """The answers to rounds that can return to each other, with those to all later rounds."""
        stages = {"solve": time.perf_counter()}
        rounds = [positions.rounds[k] for k in group]
        self._report("listing all histories", 0, None)
        trees = [unfold(one.positions, limit=self.max_states) for one in rounds]
        place, worths = {k: i for i, k in enumerate(group)}, [0.0] * len(positions.rounds)
        for k, part in parts.items():
            worths[k] = part.value
        steps, method = 0, PROGRAM
        enough = cycles.ENOUGH
        if not all(map(_fits_program, trees)):  # values are as rough as the strategies
            rough = self.tolerance / (self.stake or 1.0) if self.tolerance else TOLERANCE
            enough = max(enough, rough)

        def paying(number: int, values: NDArray[np.float64], less: float = 0.0) -> Tree:
            """The tree of a round, with these values; `less` if play stays in the group."""
            exits = exits_of(rounds[number])
            after = both_of([values[place[e]] if e in place else worths[e] for e in exits])
            return trees[number].paying(after - less * np.repeat([e in place for e in exits], 2))

        def step(values: NDArray[np.float64], side: int) -> tuple[NDArray[Any], Any]:
            nonlocal steps, method
            new, links, steps = np.zeros(len(group)), list[tuple[int, int, float]](), steps + 1
            for number, one in enumerate(rounds):
                tree = paying(number, values)
                method, found, _ = self.optimal(tree, finely=True)
                new[number], _, chances = outcome(tree, found, None)
                # the value of a round is its mover's, and a loss for the other player
                pairs = chances.reshape(-1, 2).tolist()
                for e, (own, other) in zip(exits_of(one), pairs, strict=True):
                    if e in place:
                        links.append((number, place[e], own - other))
            return new - values, cycles.matrix(links, len(group))

        narrowest = math.inf
        best: tuple[list[Strategies], list[tuple[float, float]]] | None = None
        # where players can wait for ever, there are wrong values (see `cycles`)
        for slowly in (False, True) if goes_on else (False,):
            values = cycles.settle(
                step, len(group), self.stake, positions.title, slowly=slowly, enough=enough
            )
            # and a wait must be worth less than an act (see `cycles`)
            for less in WAITS if goes_on else WAITS[:1]:
                off = less * self.stake
                found = [
                    self._guarded(
                        *(paying(k, values, side * off) for side in (1, -1) if off or side > 0)
                    )
                    for k in range(len(group))
                ]
                proofs = prove_together(
                    positions, group, list(zip(trees, found, strict=True)), parts, goes_on
                )
                gap = max(high - low for low, high in proofs)
                if best is None or gap < narrowest:
                    narrowest, best = gap, (found, proofs)
                if narrowest <= max(20 * less, SETTLED) * self.stake:
                    break
            if narrowest <= 20 * WAITS[1] * self.stake:
                break
        assert best is not None
        found, proofs = best
        # the time and the steps of a group are those of its first round
        taken, middles = _taken(stages), np.array([(low + high) / 2 for low, high in proofs])
        answers = list[TreeAnswer]()
        for number, (one, (low, high)) in enumerate(zip(rounds, proofs, strict=True)):
            after = [middles[place[e]] if e in place else worths[e] for e in exits_of(one)]
            answers.append(
                TreeAnswer(
                    one.worth(after), low, high, method, {} if number else taken,
                    0 if number else steps, tree=paying(number, middles), found=found[number],
                )
            )  # fmt: skip
        return answers

    def _guarded(self, *trees: Tree) -> Strategies:
        """The first player's optimal strategy in the first tree, and the second's in the last."""
        found = [self.optimal(tree, finely=True)[1] for tree in trees]
        return found[0][0], found[-1][1]


def _fits_program(tree: Tree) -> bool:
    """Whether a tree is small enough for the linear program."""
    return sum(seat.n_sequences for seat in tree.seats) <= MOST_FOR_PROGRAM


def _taken(stages: dict[str, float]) -> dict[str, float]:
    """The seconds of each stage, from the times at which they began."""
    ends = [*list(stages.values())[1:], time.perf_counter()]
    return {name: end - begin for (name, begin), end in zip(stages.items(), ends, strict=True)}
