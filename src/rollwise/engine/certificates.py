"""The search for error bounds that prove themselves: `certify`.

With b(s) = r h(s), r the residual and h the expected number of moves left, a state has the
textbook bound r h. Here h counts only play that is good enough to matter, which makes the bound
smaller. A candidate for b is the fixed point of "residual and rounding here, plus the bounds of the
targets". The search for values also finds this fixed point. `rollwise.proofs.layers` proves the
bounds and does not rely on the search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rollwise.engine.bounds import BoundsSearch, bounds_of
from rollwise.errors import UsageError
from rollwise.graph import StateGraph, require_graph, require_one_value, sign_of
from rollwise.kernels.chances import UNIT
from rollwise.layers import Layer, layer_of_graph
from rollwise.proofs.endless_play import settled


@dataclass(frozen=True, eq=False)
class Certificate:
    """Proved error bounds of the values of a graph.

    Attributes
    ----------
    bounds : (n_states,) float64
        ``|v(s) - v*(s)| <= bounds[s]``; infinite without a proof.
    residual : float
        The largest distance of a value from its own look ahead.
    enclosed : (values, bounds) or None
        Closer values, where the proof of the bounds is that of these: of endless play.
    """

    bounds: NDArray[np.float64]
    residual: float
    enclosed: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None

    @property
    def bound(self) -> float:
        """The largest of the bounds."""
        return float(self.bounds.max())

    def __repr__(self) -> str:
        return f"<Certificate: values ± {self.bound}, residual {self.residual}>"


def certify(
    graph: StateGraph,
    values: NDArray[np.float64],
    *,
    border_values: NDArray[np.float64] | None = None,
    border_bounds: NDArray[np.float64] | None = None,
) -> Certificate:
    """Bound the error of the values of every state.

    Parameters
    ----------
    graph : StateGraph
    values : (n_states,) float64
        From any method.
    border_values, border_bounds : (n_border,) float64, optional
        Values on the border of the graph and bounds of their errors.

    Raises
    ------
    EndlessPlay
        The players can prolong play forever.
    UsageError
        It isn't a graph of one player or two, or there isn't one value for each state, or one
        number for each state of the border.
    """
    require_graph(graph)
    require_one_value(graph)
    if np.shape(values) != (graph.n_states,):
        raise UsageError(
            f"values have the shape {np.shape(values)}; {graph.title} has {graph.n_states:,} states"
        )
    values = _numbers("values", values)
    layer = layer_of_graph(graph)
    border = _on_border(graph, border_values), _on_border(graph, border_bounds)
    settling = settled(graph, layer)
    if settling is None:
        return certify_ending(graph, layer, values, *border)
    standing = settling.gather(values)
    proof = certify_settled(settling.graph, standing, *border)
    # Values equal to those of their settled states have the proved bounds; infinite ones are exact.
    # Other values are farther off by their distance.
    same = values == settling.spread(standing)
    with np.errstate(invalid="ignore"):
        off = np.abs(values - settling.spread(standing))
        bounds = settling.spread(proof.bounds, np.inf)
        bounds = np.nextafter((bounds + off) * (1 + 4 * UNIT), np.inf)
    bounds[same] = settling.spread(proof.bounds, 0.0)[same]
    bounds[np.isnan(bounds)] = np.inf
    return Certificate(bounds, proof.residual)


def _numbers(name: str, given: object) -> NDArray[np.float64]:
    array = np.asarray(given)
    if array.dtype.kind not in "biuf":
        raise UsageError(f"{name} are of the type {array.dtype}; they must be real numbers")
    return array.astype(np.float64, copy=False)


def _on_border(graph: StateGraph, given: object) -> NDArray[np.float64] | None:
    """A number for each state of the border, or None."""
    if given is None:
        return None
    array = _numbers("numbers of the border", given)
    if array.shape != (graph.n_border,):
        raise UsageError(
            f"{graph.title}: the numbers of the border have the shape {array.shape}, and its "
            f"border has {graph.n_border:,} states"
        )
    return array


def certify_ending(
    graph: StateGraph,
    layer: Layer,
    values: NDArray[np.float64],
    border_values: NDArray[np.float64] | None = None,
    border_bounds: NDArray[np.float64] | None = None,
    *,
    believes: Callable[[NDArray[np.float64]], bool] | None = None,
    begun: BoundsSearch | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Certificate:
    """Bound the errors for a graph in which every play ends, with its layer in solving order.

    Parameters
    ----------
    believes : callable, optional
        Whether bounds, by place, are proved: see `rollwise.engine.bounds.bounds_of`. Then play may
        be endless.
    begun : BoundsSearch, optional
        A search for bounds of these values, if it has been run.
    """
    nothing, sign, n = np.zeros(graph.n_border), sign_of(graph.objective), graph.n_states
    border = (
        nothing if border_values is None else sign * border_values,
        nothing if border_bounds is None else border_bounds,
    )
    signed = sign * layer.by_place(values) if begun is None else begun.values[: layer.n]
    told = None if progress is None else lambda done: progress(done, n)
    found = bounds_of(
        layer, signed, border, believes=believes, progress=told, begun=begun, encloses=False
    )
    if progress is not None:
        progress(n, n)
    if found is None:
        return Certificate(np.full(n, np.inf), np.inf)
    return Certificate(layer.in_reading_order(found.bounds), found.residual)


def certify_settled(
    graph: StateGraph,
    values: NDArray[np.float64],
    border_values: NDArray[np.float64] | None = None,
    border_bounds: NDArray[np.float64] | None = None,
    *,
    claimed: NDArray[np.float64] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Certificate:
    """Bound the errors for a graph from `rollwise.graph.endings.settle`.

    Parameters
    ----------
    claimed : (n_states,) float64, optional
        Bounds to try first.
    """
    # few games have endless play, and commands start sooner without its search and check
    from rollwise.engine.enclosing import enclose
    from rollwise.graph.endings import end_components
    from rollwise.proofs.check_endless import check_settled

    border = border_values, border_bounds
    if graph.objective != "win" or not len(end_components(graph)):
        layer = layer_of_graph(graph)

        def believes(bounds: NDArray[np.float64]) -> bool:
            return check_settled(graph, values, layer.in_reading_order(bounds), *border).holds

        return certify_ending(graph, layer, values, *border, believes=believes, progress=progress)
    if claimed is not None:
        verdict = check_settled(graph, values, claimed, *border)
        if verdict.holds:
            return Certificate(claimed, verdict.residual)
    if not np.all(np.isfinite(values)):
        return Certificate(np.full(len(values), np.inf), np.inf)
    found = enclose(graph, values, *border, progress=progress)
    off = np.abs(values - found.values)
    farther = np.nextafter((found.bounds + off) * (1 + 4 * UNIT), np.inf)
    bounds = np.where(off > 0, farther, found.bounds)
    return Certificate(bounds, found.residual, (found.values, found.bounds) if off.any() else None)
