"""What comes of a move in one number, for kernels that play."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rollwise.graph.state_graph import StateGraph
from rollwise.kernels.sampling import outcome_codes


def codes_of(graph: StateGraph) -> NDArray[np.int32]:
    """The code of each outcome, see `rollwise.kernels.sampling`: (n_outcomes,) int32."""
    codes = np.empty(graph.n_outcomes, np.int32)
    arrays = graph.outcome_state, graph.outcome_passes, graph.outcome_payoff
    outcome_codes(*arrays, graph.ending_payoffs, codes)
    return codes
