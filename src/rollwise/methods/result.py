"""What every method gives back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class MethodResult:
    """The values that a method found, not yet certified.

    Attributes
    ----------
    method : str
    values : (n_states,) float64
    sweeps : int
        Sweeps over the states with cycles.
    converged : bool
        Whether the method reached its own criterion.
    """

    method: str
    values: NDArray[np.float64]
    sweeps: int
    converged: bool
