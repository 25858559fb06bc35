"""The frontier of a game's own aim and a second one: the price of one in units of the other.

The own aim is the mean score or payoff, or the chance to win. No policy is better at both aims than
a policy on the frontier. The results of all policies form a convex set, and its corners are
policies without mixing. For each line through two known corners, a solution for the weighted sum of
both aims finds a corner beyond the line, or proves that there is none (Aneja and Nair 1979; Cohon
1978 for the bound).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.second_aims import Aim, read_aim
from rollwise.answer.optimal_set import Amounts, OptimalSet, Quantity
from rollwise.answer.references import Policies, Subject
from rollwise.derive.by_score import require_points
from rollwise.errors import UsageError
from rollwise.graph import StateGraph, sign_of, win_probability
from rollwise.hooks import InWords

Reals = NDArray[np.float64]

TOLERANCE = 1e-5
MOST_CORNERS = 10_000


class Corner(NamedTuple):
    """A policy of the frontier.

    Attributes
    ----------
    mean, value : float
        The value of the game's own aim, and of the second one.
    mean_bound, error_bound : float
        Proved error bounds.
    """

    mean: float
    value: float
    mean_bound: float
    error_bound: float


@dataclass(frozen=True, eq=False, repr=False)
class Frontier(InWords):
    """Corners of the frontier, the best at the game's own aim first.

    Attributes
    ----------
    aim : str
    is_chance : bool
        Whether the second aim is a probability.
    corners : list of Corner
    gap : float
        Proved upper bound on the distance of any policy beyond the line between two neighbours:
        in units of the second aim, at the same value of the first.
    subject : StateGraph
        The game.
    """

    aim: str
    is_chance: bool
    corners: list[Corner]
    gap: float
    subject: StateGraph | None = field(default=None, repr=False, compare=False)


def frontier(game: Subject, aim: str = "", *, tolerance: float = TOLERANCE) -> Frontier:
    """The best value of a second aim for every value of the game's own aim.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
        For one player.
    aim : str
        See `rollwise.analysis.second_aims`, but for the variance; by default ``win`` of a game for
        points, and ``least:moves`` of a game that is won or lost.
    tolerance : float
        Corners less than this beyond the line between their neighbours can be omitted; if the aim
        is no chance, in parts of its range.

    Raises
    ------
    UsageError, RulesError
        The game has several players, or the aim makes no sense for it.
    """
    if not tolerance >= 0:
        raise UsageError(f"tolerance is {tolerance}; it can't be less than 0")
    solution = Policies.of(game).solution
    require_points(solution.graph)
    wanted = read_aim(
        solution, aim or ("least:moves" if solution.graph.objective == "win" else "win")
    )
    quantity, least = wanted
    if quantity.name == "variance":
        raise UsageError("a frontier is for any aim but the variance, which isn't linear")
    everything = OptimalSet(solution.graph, np.inf).for_quantity(quantity)
    own = own_aim(quantity.by_score, wins=not solution.graph.is_score)
    search = _Search(everything, wanted, own, sign_of(solution.graph.objective))
    _, best_means = OptimalSet.of(solution).then(quantity, least=least)
    _, best_chances = everything.then(quantity, least=least)
    _, best_chances = best_chances.then(search.mean, least=search.sign < 0)
    first, last = search.corner(best_means), search.corner(best_chances)
    is_chance = quantity.by_score or quantity.name == "draw"
    if not is_chance:
        tolerance *= abs(last.value - first.value)
    corners, gap = search.between(first, last, tolerance)
    corners_and_ends = [first, *corners] if last.mean == first.mean else [first, *corners, last]
    return Frontier(wanted.text, is_chance, corners_and_ends, gap, solution.graph)


def own_aim(by_score: bool, wins: bool) -> Quantity:
    """A game's own aim: its points and payoffs, or the chance to win."""

    def worth(payoffs: Reals) -> Reals:
        return win_probability(payoffs) if wins else payoffs

    def amounts(policies: OptimalSet) -> Amounts:
        graph = policies.graph
        if policies.scores is not None:
            return Amounts(scores=worth(policies.scores.astype(np.float64)))
        endings = np.where(graph.outcome_state < 0, worth(graph.outcome_payoff), 0.0)
        return Amounts(actions=graph.action_reward, endings=endings)

    return Quantity("own", amounts, by_score)


class _Search:
    """A search for corners of the policies' results."""

    def __init__(self, everything: OptimalSet, aim: Aim, own: Quantity, sign: float) -> None:
        self.everything, self.sign, self.aim, self.mean = everything, sign, aim.quantity, own
        self.way = -1.0 if aim.least else 1.0

    def corner(self, policies: OptimalSet) -> Corner:
        """Both values of the first policy of a set."""
        one = policies.first()
        mean, chance = one.extreme(self.mean).found, one.extreme(self.aim).found
        return Corner(mean.value, chance.value, mean.bound, chance.bound)

    def between(self, first: Corner, last: Corner, tolerance: float) -> tuple[list[Corner], float]:
        """The corners between two others, in order, and the largest distance beyond their lines."""
        corners: list[Corner] = []
        waiting, gap = [(first, last)], 0.0
        # a stack of neighbours; a corner beyond their line makes two new pairs
        while waiting:
            near, far = waiting.pop()
            cost = self.sign * (near.mean - far.mean)  # of the mean, from 0
            gained = self.way * (far.value - near.value)
            doubt = near.mean_bound + far.mean_bound + near.error_bound + far.error_bound
            if cost <= doubt or gained <= doubt:
                continue
            rate = gained / cost
            if not self.aim.by_score:
                rate = float(np.float32(rate))  # few digits: sums with it are exact
            beyond, corner = self._beyond(near, rate)
            beyond += abs(rate - gained / cost) * cost
            near_enough = beyond <= max(tolerance, 4 * doubt) or corner in (near, far)
            if near_enough or len(corners) >= MOST_CORNERS:
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
            The slope of the line: units of the aim for a point of the mean.
        """
        both = self._weighted(rate)
        best, policies = self.everything.then(both)
        line = self.way * near.value + rate * self.sign * near.mean
        unsure = best.bound + near.error_bound + rate * near.mean_bound
        unsure += 2.0**-50 * (abs(line) + abs(best.value))
        return max(best.value - line, 0.0) + unsure, self.corner(policies)

    def _weighted(self, rate: float) -> Quantity:
        """The second aim plus `rate` times the first."""

        def amounts(policies: OptimalSet) -> Amounts:
            own, other = self.mean.amounts(policies), self.aim.amounts(policies)
            pairs = zip(own[:3], other[:3], strict=True)
            actions, endings, scores = (
                _sum(first, second, rate * self.sign, self.way) for first, second in pairs
            )
            if scores is None:
                _require_exact(policies.graph, rate, actions, own.actions, other.actions)
                _require_exact(policies.graph, rate, endings, own.endings, other.endings)
                return Amounts(actions, endings)
            assert other.scores is not None
            off = 2.0**-51 * (np.abs(scores) + np.abs(other.scores))
            return Amounts(
                scores=scores,
                score_bounds=off if other.score_bounds is None else off + other.score_bounds,
            )

        return Quantity("both", amounts, self.aim.by_score)


def _sum(first: Reals | None, second: Reals | None, *factors: float) -> Reals | None:
    """The sum of two amounts, each times its factor; None is 0."""
    parts = [f * x for f, x in zip(factors, (first, second), strict=True) if x is not None]
    return np.sum(parts, axis=0) if parts else None


def _require_exact(
    graph: StateGraph, rate: float, total: Reals | None, *parts: Reals | None
) -> None:
    """Check that the sum of two parts, the first one times a rate of 24 binary digits, is exact.

    This holds if the parts are multiples of 1/2 and the sum has at most 53 binary digits.

    Raises
    ------
    UsageError
    """
    known = [2 * part for part in parts if part is not None]
    largest = 0.0 if total is None else np.abs(total).max(initial=0.0)
    if largest >= 2.0**27 * min(rate, 1.0) or not all(np.array_equal(x, np.rint(x)) for x in known):
        raise UsageError(
            f"{graph.title}: a frontier of this aim is for whole points and payoffs of a few "
            "digits; count them in another unit"
        )
