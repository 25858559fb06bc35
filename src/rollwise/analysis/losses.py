"""The certified loss of a policy against optimal play; effects of a change of rules.

A change of rules affects the value, the strategy, and players of the old one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.records import LossSpread
from rollwise.answer.average import average_of, average_of_policy
from rollwise.answer.certified import Certified
from rollwise.answer.evaluation import best_response, certified_at, evaluate, from_each_seat
from rollwise.answer.optimal_set import ranges_against
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.derive.average import Average
from rollwise.derive.derived_game import places_in
from rollwise.errors import EndlessPlay, UsageError
from rollwise.graph.choices import first_of_each_state, fold_actions, has_choice
from rollwise.graph.policies import Policy, Ties, reached_by, ties_in_play
from rollwise.graph.view import sign_of, unit_of
from rollwise.hooks import InWords

if TYPE_CHECKING:
    from rollwise.many.equilibrium import Equilibrium

ROUNDING = 2.0**-52  # of a difference of two averages
NO_SPREAD = 1e-12  # a range of this width is one number


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


def loss_text(loss: float, spread: Any, scale: float, seat: int | None = None) -> str:
    """A loss with four decimals, or a visible range.

    Parameters
    ----------
    scale : float
        The loss times this is printed.
    spread : LossSpread or None
    seat : int, optional
        The seat of the loss, 0 for the first mover; the mean over the seats unless given.
    """
    text = f"{scale * loss:z.4f}"
    if spread is None:
        return text
    if not spread.is_known:
        return f"{text} *"
    ends = spread.loss if seat is None else spread.losses[seat]
    least, most = (f"{scale * end:z.4f}" for end in ends)
    return least if least == most else f"{least} to {most}"


@dataclass(frozen=True, repr=False)
class Loss(InWords):
    """The loss of a policy from the start: win probability, or points.

    The others play the optimal policy, or that of the equilibrium.

    Attributes
    ----------
    loss : float
        The mean over the seats.
    losses : tuple of float
        In each seat, in the order of the moves.
    exploitability : float or None
        The gain of a best response in a game for two, see `rollwise.answer.evaluation`. NaN where
        a response can make play go round for ever without a worth; None in other games.
    error_bound : float
        Of the losses.
    exploitability_bound : float or None
        Infinite where the gain is NaN.
    spread : LossSpread or None
        The range of the losses over all optimal policies of the other player, if there are several
        losses: the other attributes are those against the first of these policies.
    """

    loss: float
    losses: tuple[float, ...]
    exploitability: float | None
    error_bound: float
    exploitability_bound: float | None
    spread: LossSpread | None = None


def loss_of(policies: Policies, policy: Policy) -> Loss:
    """The loss of a policy against optimal play; of the average, in play without an end."""
    graph, solution = policies.graph, policies.solution
    if solution.profile is not None:
        return _loss_in_seats(solution.profile, policy)
    if isinstance(solution.game, Average):
        (average, off), (got, error) = (
            average_of(solution),
            average_of_policy(solution.game, policy),
        )
        bound = off + error + ROUNDING * abs(average)
        return Loss(average - got, (average - got,), None, bound, None)
    two = graph.players == 2
    evaluation = evaluate(policies, policy, "optimal" if two else None, starts=[0])
    best, sure = solution.value, float(solution.error_bounds[0])
    moving_first, moving_second = certified_at(evaluation)
    scale = unit_of(graph)
    losses = [scale * sign_of(graph.objective) * (best - moving_first.value)]
    losses += [scale * (-best - moving_second.value)] * two
    bound = scale * (sure + max(moving_first.bound, moving_second.bound))
    gain, gain_bound = _exploitability(policies, policy) if two else (None, None)
    return Loss(
        sum(losses) / len(losses),
        tuple(losses),
        gain,
        bound,
        gain_bound,
        _spread(policies, policy, scale) if two else None,
    )


def _exploitability(policies: Policies, policy: Policy) -> Certified:
    """The gain of a best response, with its bound; NaN and infinite if it has no certain value."""
    try:
        response = best_response(policies, policy, starts=[0])
    except EndlessPlay:  # the response can make play go round for ever
        return Certified(float("nan"), float("inf"))
    return Certified(response.exploitability(), response.exploitability_bound())


def _loss_in_seats(equilibrium: Equilibrium, policy: Policy) -> Loss:
    """The loss of a policy in each seat, where all others keep to the equilibrium."""
    others = [equilibrium.policy.probability] * (equilibrium.players - 1)
    got, off = from_each_seat(equilibrium.graph, [policy.probability, *others])
    losses = tuple(best - has for best, has in zip(equilibrium.worth, got, strict=True))
    bound = equilibrium.error_bound + off + ROUNDING * max(map(abs, (1.0, *got)))
    return Loss(sum(losses) / len(losses), losses, None, bound, None)


def _spread(policies: Policies, policy: Policy, scale: float) -> LossSpread | None:
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
        return LossSpread(unknown, [unknown, unknown], float("inf"))
    first = scale * (best + against_first.least), scale * (best + against_first.most)
    second = scale * (against_second.least - best), scale * (against_second.most - best)
    bound = scale * (sure + max(against_first.error_bound, against_second.error_bound))
    if max(first[1] - first[0], second[1] - second[0]) <= max(2 * bound, NO_SPREAD):
        return None
    mean = (first[0] + second[0]) / 2, (first[1] + second[1]) / 2
    return LossSpread(mean, [first, second], bound)


Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Difference:
    """Answers of two games with the same fields, side by side.

    Attributes
    ----------
    old, new : Solution
    in_both : int
        States in both games, with a choice in the new one.
    changed : (n,) int64
        States of the new game where no best action of the old game is best: first the states
        reached by the old strategy in self-play, the costliest first.
    in_play : int
        Number of reached states among these.
    before, after : (n,) int64
        The best action of each in the old game and in the new one: actions of the new graph.
    costs : (n,) float64
        The loss of the old strategy in each: win probability, or points.
    carried : Policy
        The old strategy in the new game. In states without such a state or action in the old
        game it plays the new optimum.
    loss : Loss
        The loss of the old strategy in the new game.
    ties : Ties or None
        The effect of the choice among the equally good actions of the old game.
    """

    old: Solution
    new: Solution
    in_both: int
    changed: Ints = field(repr=False)
    in_play: int
    before: Ints = field(repr=False)
    after: Ints = field(repr=False)
    costs: NDArray[np.float64] = field(repr=False)
    carried: Policy = field(repr=False)
    loss: Loss
    ties: Ties | None


def difference(old: Solution, new: Solution) -> Difference:
    """Compare the answers to two games.

    Raises
    ------
    UsageError
        Their positions have other fields, or one is played for points and the other to win.
    """
    one, two = old.graph, new.graph
    if one.columns != two.columns:
        raise UsageError(
            f"a position of {one.game} is {', '.join(one.columns)}, and one of {two.game} is "
            f"{', '.join(two.columns)}: games can be compared whose positions have the same fields"
        )
    if (one.players, one.objective) != (two.players, two.objective):
        raise UsageError(
            f"{one.title} and {two.title} aren't played for the same: one for "
            f"{one.view.worth_name} by {one.players}, the other for {two.view.worth_name} by "
            f"{two.players}"
        )
    state = places_in(two.rows, one.rows)
    # an action of the new game matches one of the old game by state and label
    partners = places_in(
        np.column_stack([state[two.action_state], two.action_label]),
        np.column_stack([one.action_state, one.action_label]),
    )
    there = partners >= 0
    best_before = np.zeros(two.n_actions, bool)
    best_before[there] = old.is_best[partners[there]]
    both = (state >= 0) & has_choice(two)
    kept = fold_actions(two, np.logical_or, best_before & new.is_best)
    carried, is_old = _carried(old, new, partners)
    costs = fold_actions(two, np.add, carried.probability * new.regret)
    costs *= unit_of(two)
    changed = np.flatnonzero(both & ~kept & is_old)
    reached = reached_by(two, carried)[changed]
    changed = changed[np.lexsort((-costs[changed], ~reached))]
    tied = None
    if old.policy.tied is not None:
        tied = is_old & (state >= 0) & old.policy.tied[state]
    old_ones = Policy(carried.name, carried.probability, tied)
    # against an optimal player of the new game, as `loss` has it
    others = [Policy(new.policy.name, new.policy.probability)] * (two.players > 1)
    return Difference(
        old,
        new,
        int(both.sum()),
        changed,
        int(reached.sum()),
        first_of_each_state(two, carried.probability > 0)[changed],
        new.best_actions[changed],
        costs[changed],
        carried,
        loss_of(Policies.of(new, any_players=True), carried),
        ties_in_play(two, old_ones, *others),
    )


def _carried(old: Solution, new: Solution, partners: Ints) -> tuple[Policy, NDArray[np.bool_]]:
    """The old strategy in the new game, and the states covered by it."""
    graph = new.graph
    there = partners >= 0
    probability = np.zeros(graph.n_actions)
    probability[there] = old.policy.probability[partners[there]]
    total = fold_actions(graph, np.add, probability)
    whole = np.abs(total - 1) < 1e-12
    probability = np.where(whole[graph.action_state], probability, new.policy.probability)
    return Policy(f"the best of {old.graph.title}", probability), whole
