"""Estimated values beside the truth: how far off they are, and how far they say that they are.

An estimate has a standard error and no bound. Its true error is known here because the game can be
solved as well. The certified values stand beside the estimates, in the columns ``true_value``,
``true_bound`` (how far that can be off, proved) and ``true_error``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rollwise.answer.certified import solve_and_certify
from rollwise.answer.solution import Solution
from rollwise.graph import StateGraph
from rollwise.methods.result import MethodResult


def beside_truth(graph: StateGraph, estimate: MethodResult) -> MethodResult:
    """An estimate with the certified values in its columns."""
    truth, certificate, _ = solve_and_certify(graph)
    columns = {
        "true_value": truth.values,
        "true_bound": certificate.bounds,
        "true_error": estimate.values - truth.values,
    }
    return replace(estimate, columns={**estimate.columns, **columns})


@dataclass(frozen=True)
class Calibration:
    """The calibration of standard errors against true errors.

    Only states with a drawn action count. The other estimates follow from these.

    Attributes
    ----------
    states : int
        The number of such states.
    mean, root_mean_square : float or None
        Of their true errors, in standard errors: about 0 and 1 for correct standard errors and
        unbiased estimates. None without such states.
    within_one, within_two : float or None
        The share with an error of at most one or two standard errors: about 0.68 and 0.95.
    """

    states: int
    mean: float | None
    root_mean_square: float | None
    within_one: float | None
    within_two: float | None

    @classmethod
    def of(cls, solution: Solution) -> Calibration:
        """The calibration of estimates with known true errors."""
        columns = solution.run.columns
        drawn = columns["own_error"] > 0
        off = columns["true_error"][drawn] / columns["standard_error"][drawn]
        if not len(off):
            return cls(0, None, None, None, None)
        return cls(
            len(off),
            float(off.mean()),
            float(np.sqrt(np.mean(off**2))),
            float(np.mean(np.abs(off) <= 1)),
            float(np.mean(np.abs(off) <= 2)),
        )
