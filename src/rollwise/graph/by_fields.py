"""Numbers of states and of actions as arrays over the fields, as in ``V[i, j, k]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError

if TYPE_CHECKING:
    from rollwise.graph.state_graph import StateGraph

MOST_CELLS = 100_000_000


def state_array(graph: StateGraph, numbers: NDArray[Any]) -> NDArray[Any]:
    """A number of each position as an array with an axis for each field, without the throw.

    Parameters
    ----------
    numbers : (n_states,)
        Of every state; in a game with throws only positions count.

    Returns
    -------
    array, an axis for each field
        ``array[i, j, k]`` belongs to the position with the fields i, j and k. Without such a
        position it is NaN, or -1 in an array of whole numbers.

    Raises
    ------
    UsageError
        A field has numbers below 0, or the array would have over `MOST_CELLS` cells.
    """
    numbers = _of_all(numbers, graph.n_states, "state")
    # a throw among the fields has no axis
    axes = [f for f, name in enumerate(graph.field_names) if name not in graph.throw_names]
    places = graph.states[graph.positions][:, axes]
    names = tuple(graph.field_names[f] for f in axes)
    return _spread(graph, places, numbers[graph.positions], names, _missing(numbers))


def action_array(graph: StateGraph, numbers: NDArray[Any]) -> NDArray[Any]:
    """A number of each action as an array with an axis for each field, and one for the action.

    Parameters
    ----------
    numbers : (n_actions,)

    Returns
    -------
    array
        ``array[i, j, action]``, by the rules' number of the action. Without such an action
        it is NaN, or 0 in an array of whole numbers.

    Raises
    ------
    UsageError
        As `state_array`; or the game has throws, so that actions belong to no position.
    """
    if graph.throw_names:
        raise UsageError(
            f"{graph.title}: players choose after a throw, and the fields alone don't tell the "
            "actions apart; table(throws=True) has a row for each throw"
        )
    numbers = _of_all(numbers, graph.n_actions, "action")
    places = np.column_stack([graph.states[graph.action_state], graph.action_label])
    missing = np.nan if numbers.dtype.kind == "f" else 0
    return _spread(graph, places, numbers, (*graph.field_names, "action"), missing)


def grid(places: NDArray[Any], numbers: NDArray[Any], missing: float | None = None) -> NDArray[Any]:
    """Numbers as a matrix, by their places: (n, 2) whole numbers, from the least to the largest.

    Parameters
    ----------
    missing : float, optional
        Where there is no number; NaN unless given, or -1 in an array of whole numbers.
    """
    low, high = places.min(axis=0), places.max(axis=0)
    shape = (high.astype(np.int64) - low + 1).tolist()
    if shape[0] * shape[1] > MOST_CELLS:
        raise UsageError(f"a grid of {shape[0]:,} by {shape[1]:,} cells is too large to be made")
    matrix = np.full(shape, _missing(numbers) if missing is None else missing, numbers.dtype)
    matrix[tuple((places - low).T)] = numbers
    return matrix


def _missing(numbers: NDArray[Any]) -> float:
    return np.nan if numbers.dtype.kind == "f" else -1


def _of_all(numbers: NDArray[Any], n: int, what: str) -> NDArray[Any]:
    numbers = np.asarray(numbers)
    if numbers.shape != (n,):
        raise UsageError(
            f"the numbers have the shape {numbers.shape}, not a number for each {what}"
        )
    return numbers


def _spread(
    graph: StateGraph,
    places: NDArray[Any],
    numbers: NDArray[Any],
    names: tuple[str, ...],
    missing: float,
) -> NDArray[Any]:
    for name, least in zip(names, places.min(axis=0).tolist(), strict=True):
        if least < 0:
            raise UsageError(
                f"{graph.title}: {name} can be {least}, and no index of an array is below 0; "
                "table() has a row for each position"
            )
    shape = [most + 1 for most in places.max(axis=0).tolist()]
    cells = 1
    for length in shape:
        cells *= length
    if cells > MOST_CELLS:
        raise UsageError(
            f"{graph.title}: an array over its fields would have {cells:,} cells for "
            f"{len(places):,} numbers; table() has a row for each position"
        )
    array = np.full(shape, missing, numbers.dtype)
    array[tuple(places.T)] = numbers
    return array
