"""Grades of bad choices.

The grades are those of GNU Backgammon's tutor. They compare the cost with the stake of the
whole game: the difference between a loss and a win, or between the best and the worst possible
score. A choice that costs 2 % of it or more is doubtful, from 4 % bad, and from 8 % very bad.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rollwise.answer.solution import Solution
from rollwise.coach.ledger import Account

# From the worst one: the grade, and its least cost as a share of the stake.
GRADES = (("very bad", 0.08), ("bad", 0.04), ("doubtful", 0.02))


def stake(solution: Solution) -> float:
    """The difference between the worst and the best result, in units of value."""
    if not solution.is_score:
        return 2.0
    values = solution.values[np.isfinite(solution.values)]
    return float(values.max(initial=0.0) - values.min(initial=0.0))


def grade(solution: Solution, cost: float) -> str | None:
    """How bad it is to lose so much: a grade, or None for less than doubtful."""
    at_stake = stake(solution)
    for name, share in GRADES:
        if cost >= share * at_stake > 0:
            return name
    return None


def grade_counts(solution: Solution, decisions: Iterable[Account]) -> dict[str, int]:
    """How many decisions were of each grade, the mildest one first."""
    of_decisions = [grade(solution, entry.cost) for entry in decisions]
    return {name: of_decisions.count(name) for name, _ in reversed(GRADES)}
