"""How much of a game is luck and how much is skill, measured with players of several levels.

Two players are drawn from the levels, each as likely as any, and play. The result then differs for
two reasons. By the law of total variance

    Var(result) = Var(mean result of the pair) + mean of Var(result of the pair)

and the first part is what who plays decides: skill. The second is what the dice decide: luck.
In a game for one, one player is drawn. The levels are the same for every game, so that games can be
compared: who moves at random, who is greedy (the best move, if everybody moved at random after it),
who follows the best rule of thumb that was found, and who plays best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from math import fsum

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.design.chain import ROUNDING, Chain
from rollwise.answer.evaluation import evaluate
from rollwise.answer.references import Policies
from rollwise.graph.choices import are_best, first_best
from rollwise.graph.lookahead import look_ahead
from rollwise.graph.policies import Policy
from rollwise.simulate.lengths import Certified

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Skill:
    """What players of several levels get from each other.

    Attributes
    ----------
    players : tuple of Policy
        The levels, the weakest first.
    means : (n_levels, n_levels) float64
        What who moves first gets: their level is the row, that of the other the column. One column
        in a game for one.
    error_bound : float
        How far these can be off.
    share : Certified
        Of the variance of the result, what who plays decides.
    """

    players: tuple[Policy, ...] = field(repr=False)
    means: Floats = field(repr=False)
    error_bound: float
    share: Certified

    @property
    def levels(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(player.name for player in self.players)

    @property
    def against_best(self) -> list[float]:
        """What each level gets against the best, mean over the seats; alone in a game for one."""
        if self.means.shape[1] == 1:
            return self.means[:, 0].tolist()  # type: ignore[no-any-return]
        return ((self.means[:, -1] - self.means[-1]) / 2).tolist()  # type: ignore[no-any-return]


def greedy(policies: Policies) -> Policy:
    """The best action of each state, if everybody moved at random after it.

    Raises
    ------
    EndlessPlay
        Moving at random may go round for ever.
    """
    graph = policies.graph
    found = evaluate(policies, "random")
    assert found.bounds is not None
    ahead = look_ahead(graph, found.values, found.bounds)
    best = are_best(graph, ahead)
    return Policy.of_actions(graph, "greedy", first_best(graph, best))


def measure_skill(policies: Policies, levels: Sequence[Policy]) -> Skill:
    """The share of skill in a game's result.

    Parameters
    ----------
    policies : Policies
    levels : sequence of Policy
        The weakest first.

    Raises
    ------
    EndlessPlay
        Two of these can go round for ever.
    """
    graph, n = policies.graph, len(levels)
    alone = graph.players == 1
    columns = 1 if alone else n
    means, variances = np.zeros((n, columns)), np.zeros((n, columns))
    off = off_squares = 0.0
    pairs = [(k, k) for k in range(n)] if alone else combinations_with_replacement(range(n), 2)
    for one, two in pairs:
        found = Chain.of(graph, levels[one], levels[two]).results()
        for (first, second), sign, (mean, variance) in zip(
            ((one, two), (two, one)), (1.0, -1.0), found, strict=False
        ):
            place = (first, 0 if alone else second)
            means[place], variances[place] = sign * mean.value, variance.value
            off, off_squares = max(off, mean.bound), max(off_squares, variance.bound)
    share = _share(means.ravel(), variances.ravel(), off, off_squares)
    return Skill(tuple(levels), means, off, share)


def _share(means: Floats, variances: Floats, off: float, off_squares: float) -> Certified:
    """The share of the variance between pairs in all of it."""
    n = len(means)
    middle = fsum(means) / n
    apart = np.abs(means - middle)
    between, within = fsum(apart**2) / n, fsum(variances) / n
    between_off = fsum((2 * apart + 2 * off) * 2 * off) / n + ROUNDING * between
    within_off = off_squares + ROUNDING * within
    total, total_off = between + within, between_off + within_off
    if not total > total_off:
        return Certified(0.0, 1.0)
    low = max(between - between_off, 0.0) / (total + total_off)
    high = min((between + between_off) / (total - total_off), 1.0)
    value = between / total
    return Certified(value, max(high - value, value - low) + 2.0**-50)
