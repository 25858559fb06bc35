"""What comes of a move in one number, for kernels that play."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rollwise.graph.state_graph import StateGraph
from rollwise.kernels.sampling import alias_tables, outcome_codes
from rollwise.numbers.shares import brought


def seat_bits(graph: StateGraph) -> int:
    """Bits of a code that hold the seats by which the die moves on."""
    return max(graph.players - 1, 1).bit_length()


def codes_of(graph: StateGraph) -> NDArray[np.int32]:
    """The code of each outcome, see `rollwise.kernels.sampling`: (n_outcomes,) int32."""
    codes = np.empty(graph.n_outcomes, np.int32)
    outcome_codes(
        graph.outcome_state,
        graph.outcome_passes,
        graph.outcome_payoff,
        graph.ending_payoffs,
        graph.players,
        seat_bits(graph),
        codes,
    )
    return codes


def seat_payoffs(graph: StateGraph) -> NDArray[np.float64]:
    """What each ending brings each seat, from the mover on: (n_endings, players) float64.

    The rows are those of ``graph.ending_payoffs``. With three players or more they are shares of
    a win or payoffs, and 0 where the ending is for fewer players.
    """
    ends, n = graph.ending_payoffs, graph.players
    if n <= 2:
        return np.stack([ends, -ends], axis=1)[:, :n]
    rows = [brought(payoff, n) or [0] * n for payoff in ends.tolist()]
    return np.array(rows, np.float64)


def alias_cells(graph: StateGraph) -> NDArray[np.int32]:
    """The alias tables of the actions, see `rollwise.kernels.sampling`: (n_outcomes, 4) int32."""
    cells = np.empty((graph.n_outcomes, 4), np.int32)
    alias_tables(graph.outcome_indptr, graph.outcome_weight, codes_of(graph), cells)
    return cells
