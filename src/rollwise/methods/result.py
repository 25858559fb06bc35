"""The common result of all methods, with its status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import sign_of, win_probability
from rollwise.methods import DEFAULT

if TYPE_CHECKING:
    from rollwise.engine.search import Search
    from rollwise.graph import StateGraph
    from rollwise.graph.endings import Settled


class Status(StrEnum):
    """The way a method ended. Only CONVERGED means that it reached its own criterion."""

    CONVERGED = "converged"
    SWEEP_LIMIT = "sweep limit reached"
    OUT_OF_TIME = "out of time"
    STALLED = "stalled"  # rounding, or the method's own nature, lets it get no closer
    NOT_A_FIXED_POINT = "not a fixed point"  # its numbers break the game's recursion
    SOLVER_FAILED = "solver failed"
    ESTIMATED = "estimated"  # it ended as it was to, and its values have standard errors


@dataclass(frozen=True, eq=False)
class MethodResult:
    """The values found by a method, not yet certified.

    Attributes
    ----------
    method : str
    values : (n_states,) float64
        NaN for states without a result.
    sweeps : int
        Sweeps over the states with cycles; rounds, linear systems or nodes in
        methods without sweeps (named in `details`).
    status : Status
    history : sequence of float
        The largest change of a value in each sweep, or the method's other
        criterion (named in `details["history"]`).
    lower, upper : (n_states,) float64, optional
        Bounds of the true values.
    claimed_error : float, optional
        The method's own statement of its error: a stopping threshold, a solver's tolerance, the
        largest standard error, or half the distance of proved bounds. See `claim_is_bound`.
    claim_is_bound : bool
        Whether `claimed_error` is a proved bound.
    seconds : float
    fractions : sequence of Fraction, optional
        The values without rounding.
    chosen : (n_states,) int64, optional
        The method's own choice of actions, as indices; -1 where none.
    columns : mapping of str to (n_states,) array
        Other results for each state.
    details : mapping
        Other results of the run: solver, gap, nodes.
    """

    method: str
    values: NDArray[np.float64] = field(repr=False)
    sweeps: int
    status: Status = Status.CONVERGED
    history: Sequence[float] = field(default=(), repr=False)
    lower: NDArray[np.float64] | None = field(default=None, repr=False)
    upper: NDArray[np.float64] | None = field(default=None, repr=False)
    claimed_error: float | None = None
    claim_is_bound: bool = False
    seconds: float = 0.0
    fractions: Sequence[Fraction] | None = field(default=None, repr=False)
    chosen: NDArray[np.int64] | None = field(default=None, repr=False)
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_search(cls, graph: StateGraph, search: Search) -> MethodResult:
        """The result of the engine's search for the values of a graph."""
        values = search.layer.in_reading_order(search.found)
        values *= sign_of(graph.objective)
        values += 0.0  # which takes the sign off a zero
        status = Status.CONVERGED if search.converged else Status.STALLED
        return cls(DEFAULT, values, search.sweeps, status, claimed_error=error_at_rest(values))

    @classmethod
    def without_values(
        cls, method: str, n: int, status: Status, details: Mapping[str, Any], sweeps: int = 0
    ) -> MethodResult:
        """The result of a method that came to no values of n states."""
        return cls(method, np.full(n, np.nan), sweeps, status, details=details)

    @property
    def converged(self) -> bool:
        """Whether the method reached its own criterion."""
        return self.status is Status.CONVERGED

    @property
    def estimated(self) -> bool:
        """Whether the values are estimates; `columns` then has their ``standard_error``."""
        return self.status is Status.ESTIMATED

    def spread(self, settled: Settled) -> MethodResult:
        """The result for a settled graph, transferred to the original states."""
        changes: dict[str, Any] = {"values": settled.spread(self.values)}
        for name in ("lower", "upper"):
            if getattr(self, name) is not None:
                changes[name] = settled.spread(getattr(self, name))
        if self.fractions is not None:
            is_complete = (settled.place >= 0).all()
            changes["fractions"] = (
                [self.fractions[i] for i in settled.place] if is_complete else None
            )
        if self.chosen is not None:
            actions = np.append(settled.action, -1)[self.chosen]  # -1 stays -1
            changes["chosen"] = settled.spread(actions, -1)
        changes["columns"] = {
            name: settled.spread(column, np.nan) for name, column in self.columns.items()
        }
        return replace(self, **changes)

    def state_columns(self, is_score: bool) -> dict[str, Any]:
        """Its results for each state beside the value: a column each, fractions as text."""
        columns: dict[str, Any] = dict(self.columns)
        if self.fractions is not None:
            columns["value_exact"] = [fraction_text(x) for x in self.fractions]
            if not is_score:
                chances = [fraction_text(win_probability(x)) for x in self.fractions]
                columns["win_probability_exact"] = chances
        return columns


def error_at_rest(values: NDArray[np.float64]) -> float:
    """Each component came to rest within this of its largest value."""
    return 4 * float(np.finfo(np.float64).eps) * float(max(values.max(), -values.min()))


def fraction_text(value: Fraction) -> str:
    """``"36/41"``, however long it is (Python itself stops at 4,300 digits)."""
    from flint import fmpz

    top, bottom = fmpz(value.numerator).str(), fmpz(value.denominator).str()
    return f"{top}/{bottom}" if value.denominator != 1 else str(top)


def best_bounds(
    values: NDArray[np.float64],
    error_bounds: NDArray[np.float64],
    farthest: float,
    found: MethodResult,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The best lower and upper bounds on each value, from the certificate and the method.

    Parameters
    ----------
    values : (n_states,) float64
    error_bounds : (n_states,) float64
        Certified; infinite where no bound was proved.
    farthest : float
        Upper bound on the size of every value.
    found : MethodResult

    Returns
    -------
    lower, upper : (n_states,) float64
    """
    room = np.where(np.isfinite(error_bounds), np.nextafter(error_bounds, np.inf), np.inf)
    lower = np.fmax(np.nextafter(values - room, -np.inf), -farthest)
    upper = np.fmin(np.nextafter(values + room, np.inf), farthest)
    if found.lower is not None and found.upper is not None:
        lower, upper = np.fmax(lower, found.lower), np.fmin(upper, found.upper)
    return lower, upper
