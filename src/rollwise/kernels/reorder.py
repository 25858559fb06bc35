"""Writing an array in another order than it lies in memory."""

from __future__ import annotations

from rollwise.kernels.jit import kernel
from rollwise.kernels.prefetch import prefetch

AHEAD = 32  # items between one's being asked for and its being written


@kernel
def scatter(low, high, values, places, taken):
    """Fill ``taken[places[i]]`` with ``values[i]``, for i from `low` to below `high`.

    Parameters
    ----------
    values : (at least high,) float64 or int32
    places : (at least high,) int32
        Places in `taken`.
    taken : of the same type, filled
    """
    for i in range(low, high):
        prefetch(taken, places[min(i + AHEAD, high - 1)])
        taken[places[i]] = values[i]
