"""Tournaments of three or more at a table: every seating of some policies, exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import solve_and_certify
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.policies import Policy
from rollwise.many.seats import seen_from

Floats = NDArray[np.float64]
MOST_SEATINGS = 1024


@dataclass(frozen=True, eq=False)
class SeatsTournament:
    """What each policy has at all tables that it sits at.

    Attributes
    ----------
    policies : tuple of str
    results : (n,) float64
        The share of a win that each has in a seat, on the average over all seatings in which not
        all seats play alike.
    among : (n, n) float64
        What the row's policy has alone among the column's, on the average over its seats; along
        the diagonal an even share.
    error_bound : float
        Of each of them; proved.
    """

    policies: tuple[str, ...]
    results: Floats
    among: Floats = field(repr=False)
    error_bound: float


def tournament_of_many(
    graph: StateGraph,
    policies: Sequence[Policy],
    progress: Callable[[str, int, int | None], None] | None = None,
) -> SeatsTournament:
    """Let policies play in every seating.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    policies : sequence of Policy
        At least two, with different names.
    """
    names = tuple(policy.name for policy in policies)
    n, m, size = graph.players, len(policies), graph.n_states
    if m < 2 or len(set(names)) < m:
        raise UsageError("a tournament needs at least two policies, each entered once")
    if m**n > MOST_SEATINGS:
        raise UsageError(
            f"{m} policies can take {n} seats in {m**n:,} ways; a tournament has at most "
            f"{MOST_SEATINGS:,}: enter fewer"
        )
    totals, counts, among = np.zeros(m), np.zeros(m), np.zeros((m, m))
    bound = 0.0
    for done, seating in enumerate(product(range(m), repeat=n), 1):
        # what the first of them has, whoever of them begins the game
        seen = seen_from(graph, 0, [policies[i].probability for i in seating])
        found, certificate, _ = solve_and_certify(seen)
        starts = np.arange(n) * size
        share = float(found.values[starts].mean())
        bound = max(bound, float(certificate.bounds[starts].max()))
        mine, others = seating[0], set(seating[1:])
        if others != {mine}:
            totals[mine] += share
            counts[mine] += 1
        if len(others) == 1:
            among[mine, others.pop()] = share
        if progress is not None:
            progress("seatings", done, m**n)
    return SeatsTournament(names, totals / counts, among, bound + 2.0**-50)
