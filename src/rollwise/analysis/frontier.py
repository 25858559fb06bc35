"""The frontier of the mean score and a probability: the price of one in units of the other.

No policy has a better mean and a better probability than a policy on the frontier. The results of
all policies form a convex set, and its corners are policies without mixing. For each line through
two known corners, a solution for the weighted sum of mean and probability finds a corner beyond the
line, or proves that there is none (Aneja and Nair 1979; Cohon 1978 for the bound).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.second_aims import Aim, distribution_in, of_scores, read_aim
from rollwise.answer.optimal_set import OptimalSet
from rollwise.answer.references import Policies, Subject
from rollwise.derive.by_score import require_points
from rollwise.errors import UsageError
from rollwise.graph import sign_of

Reals = NDArray[np.float64]

TOLERANCE = 1e-5
MOST_CORNERS = 10_000


class Corner(NamedTuple):
    """A policy of the frontier.

    Attributes
    ----------
    mean, chance : float
        The mean score, and the value of the aim.
    mean_bound, chance_bound : float
        Proved error bounds.
    """

    mean: float
    chance: float
    mean_bound: float
    chance_bound: float


@dataclass(frozen=True, eq=False)
class Frontier:
    """Corners of the frontier, the best mean first.

    Attributes
    ----------
    aim : str
    corners : list of Corner
    gap : float
        Proved upper bound on the distance of any policy beyond the line between two neighbours:
        in units of the aim, at the same mean.
    """

    aim: str
    corners: list[Corner]
    gap: float


def frontier(game: Subject, aim: str = "win", *, tolerance: float = TOLERANCE) -> Frontier:
    """The best probability of an aim for every mean score.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
        Solitaire, played for whole points.
    aim : str
        ``win`` or ``score<=N``; see `rollwise.analysis.second_aims`.
    tolerance : float
        Corners less than this beyond the line between their neighbours can be omitted.

    Raises
    ------
    UsageError, RulesError
        The game has no points, or the aim doesn't depend on the score alone.
    """
    if not tolerance >= 0:
        raise UsageError(f"tolerance is {tolerance}; it can't be less than 0")
    solution = Policies.of(game).solution
    require_points(solution.graph)
    wanted = read_aim(solution, aim)
    if not wanted.quantity.by_score or wanted.quantity.name == "variance":
        raise UsageError(f"a frontier is for the chance of a score or to win, not for {aim!r}")
    everything = OptimalSet(solution.graph, np.inf).with_scores
    search = _Search(everything, wanted, sign_of(solution.graph.objective))
    _, best_means = OptimalSet.of(solution).then(wanted.quantity, least=wanted.least)
    _, best_chances = everything.then(wanted.quantity, least=wanted.least)
    _, best_chances = best_chances.then(search.mean, least=search.sign < 0)
    first, last = search.corner(best_means), search.corner(best_chances)
    corners, gap = search.between(first, last, tolerance)
    corners_and_ends = [first, *corners] if last.mean == first.mean else [first, *corners, last]
    return Frontier(wanted.text, corners_and_ends, gap)


class _Search:
    """A search for corners of the policies' results."""

    def __init__(self, everything: OptimalSet, aim: Aim, sign: float) -> None:
        assert everything.scores is not None
        amounts = aim.quantity.amounts(everything)
        assert amounts.scores is not None
        self.everything, self.scores, self.sign = everything, everything.scores, sign
        n = len(self.scores)
        self.way = -1.0 if aim.least else 1.0
        self.payoffs = amounts.scores
        self.bounds = np.zeros(n) if amounts.score_bounds is None else amounts.score_bounds
        self.mean = of_scores("mean", self.scores.astype(np.float64), np.zeros(n), self.scores)

    def corner(self, policies: OptimalSet) -> Corner:
        """The mean and the chance of the first policy of a set."""
        distribution = distribution_in(policies, policies.policy("corner"))
        order = np.argsort(self.scores)
        index = order[np.searchsorted(self.scores[order], distribution.values)]
        payoffs, bounds = self.payoffs[index], self.bounds[index]
        size = np.abs(payoffs)
        off = size.sum() * distribution.error_bound + bounds @ distribution.probabilities
        off += 2 * (len(size) + 5) * 2.0**-53 * (size @ distribution.probabilities)
        chance = float(payoffs @ distribution.probabilities)
        return Corner(distribution.mean, chance, distribution.mean_bound, float(off))

    def between(self, first: Corner, last: Corner, tolerance: float) -> tuple[list[Corner], float]:
        """The corners between two others, in order, and the largest distance beyond their lines."""
        corners: list[Corner] = []
        waiting, gap = [(first, last)], 0.0
        while waiting:
            near, far = waiting.pop()
            cost = self.sign * (near.mean - far.mean)  # of the mean, from 0
            gained = self.way * (far.chance - near.chance)
            doubt = near.mean_bound + far.mean_bound + near.chance_bound + far.chance_bound
            if cost <= doubt or gained <= doubt:
                continue
            beyond, corner = self._beyond(near, gained / cost)
            if beyond <= max(tolerance, 4 * doubt) or len(corners) >= MOST_CORNERS:
                gap = max(gap, beyond)
            else:
                corners.append(corner)
                waiting += [(corner, far), (near, corner)]
        return sorted(corners, key=lambda c: -self.sign * c.mean), gap

    def _beyond(self, near: Corner, rate: float) -> tuple[float, Corner]:
        """Upper bound on the distance beyond a line through a corner, and the farthest policy.

        Parameters
        ----------
        rate : float
            The slope of the line: probability for a point of the mean.
        """
        worth = self.way * self.payoffs + rate * self.sign * self.scores
        off = self.bounds + 2.0**-51 * (np.abs(worth) + np.abs(self.payoffs))
        both = of_scores("both", worth, off, self.scores)
        best, policies = self.everything.then(both)
        line = self.way * near.chance + rate * self.sign * near.mean
        unsure = best.error_bound + near.chance_bound + rate * near.mean_bound
        unsure += 2.0**-50 * (abs(line) + abs(best.value))
        return max(best.value - line, 0.0) + unsure, self.corner(policies)
