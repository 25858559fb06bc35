"""What can be asked of all optimal policies, as it is typed.

- ``score<=5`` (also ``<``, ``>=``, ``>``, ``=``): the chance that the final score is so.
- ``variance``: of the final score.
- ``win``: the chance to win a contest against one who plays next, knows the score and plays best.
- ``draw``: the chance that a game for two, or one that is won or lost, is drawn.
- ``moves``, ``rolls``: how many actions are taken, and how many of them leave something to chance;
  the throw before a choice is a roll, and no move.
- the name or the number of an action: how often it is taken.

In front of it, ``most:`` or ``least:`` says which end a second aim goes for. Without it, it is the
most, and of the variance the least.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.optimal_set import Amounts, Certified, OptimalSet, Quantity
from rollwise.answer.solution import Solution
from rollwise.derive.by_score import require_points
from rollwise.errors import UsageError
from rollwise.graph.choices import is_throw

if TYPE_CHECKING:
    from rollwise.analysis.contest import ContestSolution

Reals = NDArray[np.float64]

_SCORE = re.compile(r"score\s*(<=|>=|==|=|<|>)\s*(-?\d+)")
_COMPARE = {
    "<=": np.less_equal,
    ">=": np.greater_equal,
    "=": np.equal,
    "==": np.equal,
    "<": np.less,
    ">": np.greater,
}
WORDS = ("variance", "win", "draw", "moves", "rolls")
SAID = f"score<=N, {', '.join(WORDS)}, or an action"


class Aim(NamedTuple):
    """A quantity, and which end of it is wanted."""

    quantity: Quantity
    least: bool

    @property
    def text(self) -> str:
        """As it is typed: ``least variance``."""
        return f"{'least' if self.least else 'most'} {self.quantity.name}"


def read_aim(solution: Solution, text: str, ties: str = "shared") -> Aim:
    """A second aim as typed: ``variance``, ``most:score<=5``, ``least:take none``.

    Parameters
    ----------
    ties : {"shared", "first", "win-or-tie"}
        Who wins a tie, for ``win``: see `rollwise.Contest`.

    Raises
    ------
    UsageError
        There is no such quantity, or it makes no sense for the game.
    """
    way, colon, rest = text.partition(":")
    wanted = way.strip() if colon else ""
    if wanted not in ("", "most", "least"):
        raise UsageError(f"{text!r} isn't an aim; write most:WHAT or least:WHAT ({SAID})")
    name = rest.strip() if colon else text.strip()
    quantity = read_quantity(solution, name, ties)
    return Aim(quantity, wanted == "least" if wanted else name == "variance")


def read_quantity(solution: Solution, text: str, ties: str = "shared") -> Quantity:
    """A quantity as typed; see the head of this module.

    Raises
    ------
    UsageError
        There is no such quantity, or it makes no sense for the game.
    """
    graph, name = solution.graph, text.strip()
    score = _SCORE.fullmatch(name)
    if score is not None:
        require_points(graph)
        compare, number = _COMPARE[score[1]], int(score[2])
        return chance_of_scores(f"score{score[1]}{number}", lambda x: compare(x, number))
    if name == "variance":
        require_points(graph)
        return _variance(solution)
    if name == "win":
        return _win(solution, ties)
    if name == "draw":
        return _draw(solution)
    if name == "moves":
        return Quantity(name, lambda s: Amounts(actions=(~is_throw(s.graph)).astype(np.float64)))
    if name == "rolls":
        return Quantity(name, lambda s: Amounts(actions=_is_roll(s)))
    try:
        labels = graph.vocabulary.require(name)
    except UsageError as error:
        raise UsageError(f"there is no quantity {name!r}: it is {SAID}; {error}") from None

    def taken(found: OptimalSet) -> Amounts:
        return Amounts(actions=np.isin(found.graph.action_label, labels).astype(np.float64))

    return Quantity(name, taken)


def chance_of_scores(name: str, condition: object) -> Quantity:
    """The chance that the final score meets a condition on an array of scores."""
    assert callable(condition)

    def amounts(found: OptimalSet) -> Amounts:
        assert found.scores is not None
        return Amounts(scores=np.asarray(condition(found.scores), np.float64))

    return Quantity(name, amounts, by_score=True)


def of_scores(name: str, payoffs: Reals, bounds: Reals, scores: NDArray[np.int64]) -> Quantity:
    """The mean of a payoff on final scores.

    Parameters
    ----------
    payoffs, bounds : (n_scores,) float64
        For each of the `scores`, and how far they can be off. Others pay nothing.
    """
    order = np.argsort(scores)

    def amounts(found: OptimalSet) -> Amounts:
        assert found.scores is not None
        place = np.searchsorted(scores[order], found.scores)
        return Amounts(scores=payoffs[order[place]], score_bounds=bounds[order[place]])

    return Quantity(name, amounts, by_score=True)


def _is_roll(found: OptimalSet) -> Reals:
    return (np.diff(found.graph.outcome_indptr) > 1).astype(np.float64)


def _variance(solution: Solution) -> Quantity:
    """The second moment around a whole number c, less the square of the mean's distance to it.

    All policies of the set have one mean, so that the variance is linear in the policy.
    """
    mean, off = solution.value, float(solution.error_bounds[0])
    centre = round(mean)
    shift, near = (mean - centre) ** 2, abs(mean - centre)

    def amounts(found: OptimalSet) -> Amounts:
        assert found.scores is not None
        return Amounts(scores=((found.scores - centre) ** 2).astype(np.float64))

    def finish(found: Certified) -> Certified:
        variance = found.value - shift
        bound = found.error_bound + off * (2 * near + off) + 2.0**-50 * (found.value + shift)
        return Certified(max(variance, 0.0), bound)

    return Quantity("variance", amounts, by_score=True, finish=finish)


def _draw(solution: Solution) -> Quantity:
    graph = solution.graph
    ties = graph.lotteries.over & (graph.lotteries.payoff == 0)
    if graph.objective != "win" or not ties.any():
        raise UsageError(
            f"{graph.title} is never drawn, so there is no chance of a draw to ask for"
        )

    def amounts(found: OptimalSet) -> Amounts:
        drawn = (found.graph.outcome_state < 0) & (found.graph.outcome_payoff == 0)
        return Amounts(endings=drawn.astype(np.float64))

    return Quantity("draw", amounts)


def _win(solution: Solution, ties: str) -> Quantity:
    graph = solution.graph
    if graph.has_stakes:
        raise UsageError(f"{graph.title} is played for payoffs: who wins isn't an aim of it")
    if graph.objective == "win":
        raise UsageError(
            f"{graph.title} is won or lost: to win is its first aim, and all optimal policies are "
            "as good at it (with draws, ask for draw)"
        )
    from rollwise.analysis.contest import Contest, solve_contest

    if solution.game is None:
        raise UsageError(f"{graph.title} is a graph without its rules: no contest of it")
    return first_share(solve_contest(Contest(solution.game, 2, ties), {0: solution.policy}))


def first_share(solved: ContestSolution) -> Quantity:
    """What the first player of a contest wins with each final score, where all others play best."""
    from rollwise.analysis.contest import Situation

    scores = solved.scored.scores
    after = [Situation(1, i, 1) for i in range(len(scores))]
    held = np.array([solved.held[one] for one in after])
    bounds = np.array([solved.error_bounds[one] for one in after])
    return of_scores("win", held, bounds, scores)
