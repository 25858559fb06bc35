"""The certified loss of a policy against optimal play."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from rollwise.answer.average import average_of, average_of_policy
from rollwise.answer.evaluation import best_response, evaluate
from rollwise.answer.optimal_set import ranges_against
from rollwise.answer.references import Policies
from rollwise.derive.average import Average
from rollwise.errors import UsageError
from rollwise.graph.policies import Policy, ties_in_play
from rollwise.graph.view import sign_of
from rollwise.simulate.match import certified_at

ROUNDING = 2.0**-52  # of a difference of two averages
NO_SPREAD = 1e-12  # a range of this width is one number


class Spread(NamedTuple):
    """The range of a policy's losses over all optimal opponents.

    Attributes
    ----------
    loss, loss_first, loss_second : tuple of float
        The least and the most: the mean over the seats, moving first, and moving second.
    error_bound : float
        Proved error bound of each; infinite for an unknown range.
    """

    loss: tuple[float, float]
    loss_first: tuple[float, float]
    loss_second: tuple[float, float]
    error_bound: float

    @property
    def is_known(self) -> bool:
        """Whether the ends of the range are known."""
        return self.error_bound < float("inf")


SPREAD_WORDS = (
    "ranges are over all optimal policies of the other player, who has equally good actions there"
)
UNKNOWN_WORDS = (
    "against other optimal policies the loss may be another: equally good actions let play go "
    "round for ever, so the range isn't known (marked *)"
)


def spread_words(spreads: Iterable[Any]) -> list[str]:
    """Explanations of the ranges and marks of `loss_text`, a line each."""
    are_known = {spread.is_known for spread in spreads if spread is not None}
    words = ((True, SPREAD_WORDS), (False, UNKNOWN_WORDS))
    return [text for is_known, text in words if is_known in are_known]


def loss_text(loss: float, spread: Any, scale: float, which: str = "loss") -> str:
    """A loss with four decimals, or a visible range.

    Parameters
    ----------
    scale : float
        The loss times this is printed.
    spread : Spread, a part of a document with its fields, or None
    which : {"loss", "loss_first", "loss_second"}
    """
    text = f"{scale * loss:z.4f}"
    if spread is None:
        return text
    if not spread.is_known:
        return f"{text} *"
    least, most = (f"{scale * end:z.4f}" for end in getattr(spread, which))
    return least if least == most else f"{least} to {most}"


@dataclass(frozen=True)
class Loss:
    """The loss of a policy from the start: win probability, or points.

    Attributes
    ----------
    loss : float
        Of a game for two the mean over the seats.
    loss_first, loss_second : float
        Moving first and second; `loss_second` is None in a game for one.
    exploitability : float or None
        The gain of a best response, see `rollwise.answer.evaluation`.
    error_bound : float
        Of the losses.
    exploitability_bound : float or None
    spread : Spread or None
        The range of the losses over all optimal policies of the other player, if there are several
        losses: the other attributes are those against the first of these policies.
    """

    loss: float
    loss_first: float
    loss_second: float | None
    exploitability: float | None
    error_bound: float
    exploitability_bound: float | None
    spread: Spread | None = None


def loss_of(policies: Policies, policy: Policy) -> Loss:
    """The loss of a policy against optimal play; of the average, in play without an end."""
    graph, solution = policies.graph, policies.solution
    if isinstance(solution.game, Average):
        (average, off), (got, error) = (
            average_of(solution),
            average_of_policy(solution.game, policy),
        )
        bound = off + error + ROUNDING * abs(average)
        return Loss(average - got, average - got, None, None, bound, None)
    two = graph.players == 2
    evaluation = evaluate(policies, policy, "optimal" if two else None, starts=[0])
    best, sure = solution.value, float(solution.error_bounds[0])
    moving_first, moving_second = certified_at(evaluation)
    scale = 1.0 if graph.is_score else 0.5
    first = scale * sign_of(graph.objective) * (best - moving_first.value)
    bound = scale * (sure + max(moving_first.bound, moving_second.bound))
    second = scale * (-best - moving_second.value) if two else None
    response = best_response(policies, policy, starts=[0]) if two else None
    return Loss(
        first if second is None else (first + second) / 2,
        first,
        second,
        None if response is None else response.exploitability(),
        bound,
        None if response is None else response.exploitability_bound(),
        _spread(policies, policy, scale) if two else None,
    )


def _spread(policies: Policies, policy: Policy, scale: float) -> Spread | None:
    """The range of a policy's losses, if it depends on the choice among optimal policies.

    One choice is best, or worst, in both seats.
    """
    graph, solution = policies.graph, policies.solution
    if ties_in_play(graph, solution.policy, policy) is None:
        return None
    best, sure = solution.value, float(solution.error_bounds[0])
    try:
        against_second, against_first = ranges_against(solution, policy)
    except UsageError:  # equally good actions let play go round for ever
        unknown = (float("nan"), float("nan"))
        return Spread(unknown, unknown, unknown, float("inf"))
    first = scale * (best + against_first.least), scale * (best + against_first.most)
    second = scale * (against_second.least - best), scale * (against_second.most - best)
    bound = scale * (sure + max(against_first.error_bound, against_second.error_bound))
    if max(first[1] - first[0], second[1] - second[0]) <= max(2 * bound, NO_SPREAD):
        return None
    mean = (first[0] + second[0]) / 2, (first[1] + second[1]) / 2
    return Spread(mean, first, second, bound)
