"""What every throw of an action's dice brings, where the faces say it."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np

from rollwise.errors import RulesError, UsageError
from rollwise.words.narration import Narrator

MOST_THROWS = 1_296  # of the dice of an action: four dice of six sides


def thrown_dice(narrator: Narrator, action: int) -> dict[str, Any] | None:
    """The dice of an action, and what each throw brings; None where the game doesn't say.

    Returns
    -------
    dict
        ``sides`` of the dice, and ``brings``: the number of the outcome of each throw of them, the
        last die turning first.
    """
    try:
        sides = narrator.dice(action)  # none of a throw before a choice
        if not sides or prod(sides) > MOST_THROWS:
            return None
        brings = [
            narrator.fall_of(action, faces)
            for faces in product(*(range(1, most + 1) for most in sides))
        ]
    except (RulesError, UsageError):  # play asks for the outcome, where it can't be told
        return None
    taken = narrator.graph.view.action(action)
    weights = np.zeros(len(taken.weights))  # equal outcomes count as the first, as faces bring it
    first: dict[Any, int] = {}
    for outcome in taken.outcomes:
        same = (outcome.target, outcome.seats_on, outcome.payoff)
        weights[first.setdefault(same, outcome.number)] += outcome.weight
    ways = np.bincount(brings, minlength=len(weights))
    if (ways * taken.total != weights * len(brings)).any():
        return None
    return {"sides": list(sides), "brings": brings}
