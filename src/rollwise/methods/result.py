"""What every method gives back, and how it says how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Status(StrEnum):
    """How a method ended. Only CONVERGED means that it reached its own criterion."""

    CONVERGED = "converged"
    SWEEP_LIMIT = "sweep limit reached"
    OUT_OF_TIME = "out of time"
    STALLED = "stalled"  # rounding, or the method's own nature, lets it get no closer
    NOT_A_FIXED_POINT = "not a fixed point"  # its numbers break the game's recursion
    SOLVER_FAILED = "solver failed"


@dataclass(frozen=True, eq=False)
class MethodResult:
    """The values that a method found, not yet certified.

    Attributes
    ----------
    method : str
    values : (n_states,) float64
        NaN where the method came to no number.
    sweeps : int
        Sweeps over the states with cycles; rounds, linear systems or nodes where
        a method has no sweeps (`details` says which).
    status : Status
        How it ended.
    history : sequence of float
        The largest change of a value in each sweep, or what else the method
        watches (`details["history"]` says what).
    lower, upper : (n_states,) float64, optional
        Bounds that hold on the true values.
    claimed_error : float, optional
        What the method itself would have one believe of its error: a stopping
        threshold, a solver's tolerance, or half the distance of bounds that hold.
        See `claim_is_bound`.
    claim_is_bound : bool
        Whether `claimed_error` is a bound that was proved.
    seconds : float
    fractions : sequence of Fraction, optional
        The values without rounding.
    columns : mapping of str to (n_states,) array
        What else the method says of each state.
    details : mapping
        What else the method says of the run: solver, gap, nodes.
    """

    method: str
    values: NDArray[np.float64]
    sweeps: int
    status: Status = Status.CONVERGED
    history: Sequence[float] = ()
    lower: NDArray[np.float64] | None = None
    upper: NDArray[np.float64] | None = None
    claimed_error: float | None = None
    claim_is_bound: bool = False
    seconds: float = 0.0
    fractions: Sequence[Fraction] | None = None
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def converged(self) -> bool:
        """Whether the method reached its own criterion."""
        return self.status is Status.CONVERGED
