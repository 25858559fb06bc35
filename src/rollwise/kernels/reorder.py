"""Reading an array in another order than it lies in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rollwise import large_pages
from rollwise.kernels.jit import kernel
from rollwise.kernels.prefetch import prefetch

AHEAD = 32  # items between one's being asked for and its being read


@kernel
def _gather(values, places, taken):
    n = places.shape[0]
    for i in range(n):
        prefetch(values, places[min(i + AHEAD, n - 1)])
        taken[i] = values[np.uint32(places[i])]


def gather(
    values: NDArray[np.float64], places: NDArray[np.int32], room: int = 0
) -> NDArray[np.float64]:
    """``values[places]``, with room for some more at the end.

    Parameters
    ----------
    values : (n,) float64
    places : (m,) int32
        From 0 to below n.

    Returns
    -------
    (m + room,) float64
    """
    taken = large_pages.empty(len(places) + room)
    _gather(values, places, taken)
    return taken
