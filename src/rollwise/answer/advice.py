"""Advice: the value and cost of each action of one state, with error bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rollwise.graph import Action, State, unit_of
from rollwise.hooks import HOOKS

if TYPE_CHECKING:
    from rollwise.answer.solution import Solution


class ActionAdvice(NamedTuple):
    """The value of an action in a state.

    Attributes
    ----------
    action : str
    value : float
        Expected payoff (1 for a win, -1 for a loss), or expected total of rewards.
    win_probability : float or None
        None for a score, and in a game for stakes.
    regret : float
        The cost against the best action, in units of value.
    best : bool
        Whether it may be a best action, within the certified error.
    error_bound : float
        Of `value`, proved.
    regret_bound : float
        Of `regret`, proved.
    probability : float or None
        In an equilibrium; None for one player or two.
    seats : tuple of float
        In an equilibrium the results of all seats, from the mover on.
    """

    action: str
    value: float
    win_probability: float | None
    regret: float
    best: bool
    error_bound: float
    regret_bound: float
    probability: float | None = None
    seats: tuple[float, ...] = ()


class ThrowAdvice(NamedTuple):
    """The best action after a throw.

    Attributes
    ----------
    throw : tuple of int
    chance : float
    action : str
        The best one (the first of several); in an equilibrium all that are taken.
    value, win_probability, error_bound
        As those of `Advice`, after the throw.
    seats : tuple of float
        In an equilibrium the results of all seats, from the mover on.
    """

    throw: tuple[int, ...]
    chance: float
    action: str
    value: float
    win_probability: float | None
    error_bound: float
    seats: tuple[float, ...] = ()


class Advice(NamedTuple):
    """The value of a state, with its actions.

    Attributes
    ----------
    state : dict
        Its fields by name, and its throw.
    value, win_probability, error_bound
        See `ActionAdvice`.
    actions : list of ActionAdvice
        Empty before a throw.
    worth_name : str
        The name of values: "win probability", "expected score" or "expected payoff".
    throws : list of ThrowAdvice
        In a state before a throw the best action after each throw; empty elsewhere.
    seats : tuple of float
        In an equilibrium the results of all seats, from the mover on: chances to win, or payoffs.
    seats_bound, deviation_gain : float
        Of `seats`, and of the gain of a seat by another policy from here on; proved.
    """

    state: dict[str, int]
    value: float
    win_probability: float | None
    error_bound: float
    actions: list[ActionAdvice]
    worth_name: str
    throws: list[ThrowAdvice] = []  # noqa: RUF012 (a field of a tuple, never changed)
    seats: tuple[float, ...] = ()
    seats_bound: float = 0.0
    deviation_gain: float = 0.0

    def __str__(self) -> str:
        return str(HOOKS.text(self))

    def _repr_html_(self) -> str:
        """The notebook view: a row for each action, the best ones marked; or for each throw."""
        return str(HOOKS.html(self))


def advise(solution: Solution, state: int) -> Advice:
    """The value of a state, given by its number, and the cost of each action there."""
    view = solution.graph.view
    here = view[state]
    profile = solution.profile
    value, bound = float(solution.values[here]), float(solution.error_bounds[here])
    advice = Advice(here.named, value, view.win_probability(value), bound, [], view.worth_name)
    if profile is not None:
        advice = advice._replace(
            seats=tuple(profile.values[here].tolist()),
            seats_bound=float(profile.error_bounds[here].max()),
            deviation_gain=float(profile.deviation_gains[here].max()),
        )
    if here.throws:
        return advice._replace(throws=_throws(solution, here))
    choices = solution.choices_in(np.array([here.index]))
    values, costs = choices.values.tolist(), choices.regret.tolist()
    if profile is None:
        each = zip(here.actions, values, strict=True)
        bounds = [_error_bound(solution, *given) for given in each]
    else:
        bounds = [_seats_bound(solution, here)] * len(values)
    rows = []
    for text, value, regret, is_best, bound in zip(
        here.action_names, values, costs, choices.is_best.tolist(), bounds, strict=True
    ):
        rows.append(
            ActionAdvice(
                text,
                value,
                view.win_probability(value),
                regret,
                is_best,
                bound,
                # the best of the others has at most the largest of their errors, and the
                # difference of two doubles an error below their last place
                bound + max(bounds) + 2.0**-52 * regret if np.isfinite(regret) else 0.0,
            )
        )
    if profile is None:
        return advice._replace(actions=rows)
    chances = profile.policy.probability[choices.actions].tolist()
    results = profile.action_worths[choices.actions].tolist()
    return advice._replace(
        actions=[
            row._replace(probability=chance, seats=tuple(result))
            for row, chance, result in zip(rows, chances, results, strict=True)
        ]
    )


def share_text(probability: float) -> str:
    return f"{100 * probability:.6g} %"


def _throws(solution: Solution, here: State) -> list[ThrowAdvice]:
    """The best action after each throw, or the actions of an equilibrium."""
    view, profile = here.view, solution.profile
    rows = []
    after = np.array([outcome.target for outcome in here.throws])
    best = solution.best_actions_in(after).tolist()
    for outcome, there, action in zip(here.throws, map(view.__getitem__, after), best, strict=True):
        value, bound = float(solution.values[there]), float(solution.error_bounds[there])
        seats: tuple[float, ...] = ()
        text = view.action(action).distinct_name
        if profile is not None:
            seats, bound = tuple(profile.values[there].tolist()), _seats_bound(solution, there)
            shares = profile.policy.probability[list(there.action_range)].tolist()
            taken = [(name, p) for name, p in zip(there.action_names, shares, strict=True) if p]
            text = ", ".join(name if p == 1 else f"{name} ({share_text(p)})" for name, p in taken)
        worth = view.win_probability(value)
        rows.append(ThrowAdvice(there.throw, outcome.chance, text, value, worth, bound, seats))
    return rows


def _error_bound(solution: Solution, action: Action, value: float) -> float:
    """The error bound of an action's value: the errors of the next states, and rounding."""
    ahead = [outcome.target for outcome in action.outcomes if not outcome.is_over]
    if not np.isfinite(solution.error_bounds[ahead]).all():
        return float("inf")
    if np.isinf(solution.values[ahead]).any():
        return 0.0  # it may lead to endless play, whose value is exact
    # in fractions: the distance of the printed value from the exact mean is part of the bound
    worth, doubt = Fraction(action.reward), Fraction(0)
    for outcome, chance in zip(action.outcomes, action.exact_chances, strict=True):
        worth += chance * Fraction(float(outcome.worth(solution.values)))
        if not outcome.is_over:
            doubt += chance * Fraction(float(solution.error_bounds[outcome.target]))
    off = doubt + abs(worth - Fraction(value))
    return float(np.nextafter(float(off), np.inf)) if off else 0.0


def _seats_bound(solution: Solution, here: State) -> float:
    """The error bound of the values of all actions of a state of an equilibrium."""
    profile = solution.equilibrium
    bound = profile.error_bound
    if not np.isfinite(bound):
        ahead = [o.target for action in here.actions for o in action.outcomes if not o.is_over]
        bound = float(profile.error_bounds[ahead].max(initial=0.0))
    rounding = 2.0**-50 * max(1.0, float(np.abs(profile.values).max()))
    return (bound + rounding) / unit_of(solution)
