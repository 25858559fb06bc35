"""Check that the values of a layer or of a graph are as accurate as their bounds claim.

A graph is one layer, and a folder has many. `rollwise.proofs.layers` states the theorem and its
assumptions.
Rules with endless play need a further proof: `rollwise.proofs.check_endless`.
`rollwise.proofs.check_rules` is a proof on the rule sheet itself, without rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.graph import StateGraph, sign_of
from rollwise.graph.choices import action_gaps
from rollwise.layers import Layer, layer_of_graph
from rollwise.proofs import layers as proof
from rollwise.proofs.endless_play import endless_states

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Verdict:
    """The result of a check.

    Attributes
    ----------
    unproved : (n,) int64
        The states with bounds that do not follow from the bounds of their targets.
    endless : (n,) int64
        The states from which play is not proved to end.
    residual : float
        The largest distance of a value from its own look ahead.
    """

    unproved: NDArray[np.int64]
    endless: NDArray[np.int64]
    residual: float

    @property
    def holds(self) -> bool:
        """Whether all bounds are proved."""
        return not len(self.unproved) and not len(self.endless)


def unproved(
    layer: Layer,
    sign: float,
    values: Floats,
    bounds: Floats,
    border_values: Floats,
    border_bounds: Floats,
) -> NDArray[np.int64]:
    """The positions of a layer without proved bounds, in reading order: ascending.

    Every play must leave the layer (`rollwise.proofs.endless_play.staying_places`).

    Parameters
    ----------
    sign : float
        Of the objective.
    values, bounds : (n,) float64
        In reading order.
    border_values, border_bounds : (n_border,) float64
    """
    here = layer.by_place(sign * values), layer.by_place(bounds)
    claimed = proof.claims(layer, *here, sign * border_values, border_bounds)
    # A bound below 0 or a value that isn't finite is no claim, whatever its interval.
    bad = np.flatnonzero(~((bounds >= 0.0) & np.isfinite(values)))
    return np.union1d(layer.positions_at(proof.unproved(layer, claimed)), bad)


def check(
    graph: StateGraph,
    values: Floats,
    bounds: Floats,
    border_values: Floats | None = None,
    border_bounds: Floats | None = None,
) -> Verdict:
    """Check the bounds of all values of a graph.

    Parameters
    ----------
    values, bounds : (n_states,) float64
    border_values, border_bounds : (n_border,) float64, optional
        0 unless given.

    Raises
    ------
    UsageError
        An array has the wrong length.
    """
    known, sure = with_border(graph, values, bounds, border_values, border_bounds)
    layer = layer_of_graph(graph)
    n, sign = graph.n_states, float(sign_of(graph.objective))
    wrong = unproved(layer, sign, values, bounds, known[n:], sure[n:])
    gaps = np.maximum.reduceat(
        sign * action_gaps(graph, values, known[n:]), graph.action_indptr[:-1]
    )
    return Verdict(wrong, endless_states(graph, layer), float(np.abs(gaps).max()))


def with_border(
    graph: StateGraph,
    values: Floats,
    bounds: Floats,
    border_values: Floats | None,
    border_bounds: Floats | None,
) -> tuple[Floats, Floats]:
    """Values and bounds of the states and, behind them, of the border."""
    whole = []
    for known, border in (values, border_values), (bounds, border_bounds):
        border = np.zeros(graph.n_border) if border is None else border
        if len(known) != graph.n_states or len(border) != graph.n_border:
            raise UsageError(
                f"{graph.title} has {graph.n_states:,} states and {graph.n_border:,} on its "
                f"border, and not {len(known):,} and {len(border):,}"
            )
        whole.append(np.concatenate([known, border]) if len(border) else known)
    if not np.all(whole[1][graph.n_states :] >= 0) or graph.outcome_state.max() >= len(whole[0]):
        raise UsageError(f"{graph.title}: a bound on the border or an outcome can't be such")
    return whole[0], whole[1]
