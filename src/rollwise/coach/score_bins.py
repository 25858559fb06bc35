"""How final scores fall when all is played right, in a few bins, to hold a person's beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rollwise.analysis.distributions import distribution
from rollwise.answer.solution import Solution
from rollwise.errors import RollwiseError

MOST_BINS = 15
MOST_OUTCOMES = 500_000  # larger games have no bins
RARE = 1e-4  # less likely scores share a bin


class Bin(NamedTuple):
    """A range of scores.

    Attributes
    ----------
    text : str
        ``7``, or ``100 to 119``.
    low, high : float
        The least and the greatest of the scores.
    chance : float
        Probability of a score in the range, with optimal play.
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
        Ascending. Empty in a game that isn't a solitaire game for points, and if the distribution
        can't be computed quickly.
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
    bin_of_score = np.clip(
        np.searchsorted(edges, exact.values, side="right") - 1, 0, len(edges) - 1
    )
    bins = []
    for number in range(len(edges)):
        inside = bin_of_score == number
        if not inside.any():
            continue
        low, high = exact.values[inside].min().item(), exact.values[inside].max().item()
        text = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        bins.append(Bin(text, low, high, float(exact.probabilities[inside].sum())))
    return bins


def counted(bins: Sequence[Bin], scores: Sequence[float]) -> list[int]:
    """How many scores fall into each bin."""
    return [sum(one.low <= score <= one.high for score in scores) for one in bins]
