"""All methods on one game, side by side, held against the certified answer.

The methods are for one player or two. Of a game for more they solve the game of one seat, where all
others play the equilibrium: its best response has the value of the equilibrium.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import run_settled, solve_and_certify
from rollwise.answer.solution import Solution
from rollwise.errors import RollwiseError
from rollwise.graph import StateGraph, sign_of
from rollwise.many.seats import has_payoffs, parts_of_a_win, seen_from
from rollwise.methods import METHODS, find_method
from rollwise.methods.result import MethodResult
from rollwise.methods.sampled import check_samples
from rollwise.methods.sweeping import action_values, greedy_actions
from rollwise.numbers.randomness import check_seed

TIME_LIMIT = 20.0
MIXED = (
    "the others mix actions in this equilibrium, with probabilities in doubles, so the values of "
    "this game aren't fractions that could be written down; the other methods solve it in doubles"
)
SEED = 1  # of estimating methods


@dataclass(frozen=True)
class MethodRun:
    """The result of one method.

    Attributes
    ----------
    method : str
    status : str
        The way it ended.
    note : str
        The reason for not running, the sample of an estimate, or another remark; else empty.
    sweeps : int or None
        Or linear systems, simplex iterations, nodes: see the method.
    seconds : float or None
        Without the time for the graph.
    error : float or None
        The largest distance of a value from the certified answer, itself certified within
        `Certificate.bound`.
    claimed_error : float or None
        The method's own statement of its error: see `MethodResult.claimed_error`.
    optimal_policy : bool or None
        Whether its chosen actions, or the best ones one step ahead of its values, have no loss
        beyond the certified error.
    result : MethodResult or None
    """

    method: str
    status: str
    sweeps: int | None = None
    seconds: float | None = None
    error: float | None = None
    claimed_error: float | None = None
    optimal_policy: bool | None = None
    result: MethodResult | None = None
    note: str = ""

    @property
    def claim_is_bound(self) -> bool:
        """Whether the method proves `claimed_error`; otherwise it stopped there."""
        return self.result is not None and self.result.claim_is_bound


def compare_methods(
    graph: StateGraph,
    methods: Sequence[str] | None = None,
    *,
    time_limit: float = TIME_LIMIT,
    samples: int | None = None,
    seed: int = SEED,
    parts: int = 1,
    others_mix: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[list[MethodRun], float]:
    """Run methods on a game and measure their errors.

    Parameters
    ----------
    graph : StateGraph
    methods : sequence of str, optional
        All of them unless given.
    time_limit : float
        Seconds for each method with such an option.
    samples : int, optional
        Draws of each chance, for methods that estimate.
    seed : int
        Of their draws.
    parts : int
        Divide errors by this: see `of_one_seat`.
    others_mix : bool
        In the game of one seat: whether the rules have whole weights, and the others mix actions.
    progress : callable, optional
        Called before each method as ``progress(name, methods done, methods)``.

    Returns
    -------
    rows : list of MethodRun
    bound : float
        Certified error bound of the reference values.

    Raises
    ------
    UsageError
        There is no such method; `samples` or `seed` is out of range.
    EndlessPlay
    """
    chosen = [find_method(name) for name in (METHODS if methods is None else methods)]
    check_seed(seed)
    if samples is not None:
        check_samples(samples)
    truth, certificate, _ = solve_and_certify(graph)
    values = truth.values
    rows = []
    for number, method in enumerate(chosen):
        if progress is not None:
            progress(method.name, number, len(chosen))
        options: dict[str, Any] = {}
        if "time_limit" in method.options():
            options["time_limit"] = time_limit
        if method.estimates:
            options["seed"] = seed
            if samples is not None:
                options["samples"] = samples
        try:
            result = run_settled(graph, method.name, **options)
        except RollwiseError as error:
            why = MIXED if others_mix and method.name == "exact" else str(error)
            rows.append(MethodRun(method.name, "not run", note=why))
            continue
        is_finite = bool(np.all(np.isfinite(result.values)))
        rows.append(
            MethodRun(
                method.name,
                str(result.status),
                result.sweeps,
                result.seconds,
                _divided(_distance(result.values, values), parts),
                _divided(result.claimed_error, parts),
                is_optimal(graph, values, certificate.bounds, result) if is_finite else None,
                result,
                _note(result),
            )
        )
    return rows, certificate.bound / parts


def of_one_seat(solution: Solution) -> tuple[StateGraph, int]:
    """The game of the first seat among others with the policy of the equilibrium.

    Returns
    -------
    graph : StateGraph
        For one player; states as in `rollwise.many.seats.seen_from`.
    parts : int
        Its payoffs are the game's, times this: shares of a win as whole numbers, for `exact`.
    """
    found = solution.equilibrium
    others = [found.policy.probability] * (found.players - 1)
    graph = seen_from(found.graph, 0, [None, *others])
    if has_payoffs(found.graph):
        return graph, 1
    parts = parts_of_a_win(found.graph)
    payoff = np.round(graph.lotteries.payoff * parts)
    return replace(graph, lotteries=graph.lotteries._replace(payoff=payoff)), parts


def _divided(error: float | None, parts: int) -> float | None:
    return None if error is None else error / parts


def _distance(found: NDArray[np.float64], values: NDArray[np.float64]) -> float | None:
    """The largest distance from the certified values; None if the method lacks some values."""
    if np.isnan(found).any():
        return None
    same = found == values  # infinite ones too
    return float(np.max(np.abs(found[~same] - values[~same]), initial=0.0))


def _note(result: MethodResult) -> str:
    """The sample of an estimate, or the method's own remark."""
    details = result.details
    if not result.estimated:
        return str(details.get("note", ""))
    return (
        f"{details['entries']:,} entries, each drawn {details['samples']:,} "
        f"times, seed {details['seed']}; it claims its largest standard error, which is no bound"
    )


def is_optimal(
    graph: StateGraph,
    values: NDArray[np.float64],
    bounds: NDArray[np.float64],
    result: MethodResult,
) -> bool:
    """Whether a method's policy has no loss beyond the certified error.

    Parameters
    ----------
    values, bounds : (n_states,) float64
        Certified.
    """
    chosen = greedy_actions(graph, result.values)
    if result.chosen is not None:
        chosen = np.where(result.chosen >= 0, result.chosen, chosen)
    sign = sign_of(graph.objective)
    loss = sign * (values - action_values(graph, values)[chosen])
    rounding = 1e-14 * max(1.0, float(np.max(np.abs(values))))
    return bool(np.all(loss <= 2 * float(np.max(bounds)) + rounding))
