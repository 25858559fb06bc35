"""How final scores fall when all is played right, in a few bins, to hold a person's beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rollwise.analysis.distributions import distribution
from rollwise.answer.solution import Solution
from rollwise.errors import RollwiseError

MOST_BINS = 15
MOST_OUTCOMES = 500_000  # of a game whose scores are looked at
RARE = 1e-4  # scores that are less likely share a bin


class Bin(NamedTuple):
    """Some scores that follow each other.

    Attributes
    ----------
    text : str
        ``7``, or ``100 to 119``.
    low, high : float
        The least of the scores and the greatest.
    chance : float
        That a game ends with one of them, played best.
    """

    text: str
    low: float
    high: float
    chance: float


def score_bins(solution: Solution) -> list[Bin]:
    """The exact distribution of the final scores of optimal play.

    Returns
    -------
    list of Bin
        Ascending. Empty in a game that isn't one person's for points, and where the distribution
        can't be found or takes long.
    """
    graph = solution.graph
    if graph.players != 1 or graph.objective == "win" or graph.n_outcomes > MOST_OUTCOMES:
        return []
    try:
        exact = distribution(graph, solution.policy)
    except RollwiseError:
        return []
    likely = exact.values[exact.probabilities > RARE]
    width = int((likely.max() - likely.min()) // MOST_BINS + 1)
    edges = likely if width == 1 else np.arange(likely.min(), likely.max() + 1, width)
    place = np.clip(np.searchsorted(edges, exact.values, side="right") - 1, 0, len(edges) - 1)
    found = []
    for number in range(len(edges)):
        inside = place == number
        if not inside.any():
            continue
        low, high = exact.values[inside].min().item(), exact.values[inside].max().item()
        text = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        found.append(Bin(text, low, high, float(exact.probabilities[inside].sum())))
    return found


def counted(bins: Sequence[Bin], scores: Sequence[float]) -> list[int]:
    """How many scores fall into each bin."""
    return [sum(one.low <= score <= one.high for score in scores) for one in bins]
