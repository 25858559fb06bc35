"""Which outcome of an action the faces of thrown dice bring."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

from rollwise.errors import RulesError
from rollwise.game import Game


def what_follows(game: Game, state: Any, action: int, faces: Sequence[int]) -> tuple[int, Any]:
    """What the rules let follow when the dice show these faces: ``(then, next_state)``.

    Raises
    ------
    RulesError
        The game doesn't say which outcome it is, and the weights don't either.
    """
    number = game.fallen(state, action, faces)
    if isinstance(number, tuple):
        warnings.warn(
            f"{game.name}: fallen() gives (then, next_state); it gives the number of the outcome "
            "since version 0.2, and the old way goes in version 0.3",
            DeprecationWarning,
            stacklevel=2,
        )
        return number
    thrown = " ".join(map(str, faces))
    if number is None:
        weights = [weight for weight, _, _ in game.outcomes(state, action)]
        number = outcome_of_total(weights, game.throw(state, action), sum(faces))
    if number is None:
        raise RulesError(
            f"{game.name}: which outcome do the faces {thrown} bring? The weights don't say it, "
            "since they don't follow the total of the dice; give the game a method "
            "fallen(s, action, faces)"
        )
    for place, (_, then, after) in enumerate(game.outcomes(state, action)):
        if place == number:
            return then, after
    raise RulesError(
        f"{game.name}: fallen() gives {number} for the faces {thrown}; it is the number of an "
        f"outcome, from 0 to {place}"
    )


def outcome_of_total(weights: Sequence[Any], sides: Sequence[int], total: int) -> int | None:
    """The outcome that a total brings, where outcomes stand in the order of the totals.

    Parameters
    ----------
    weights : of the outcomes
    sides : of each die

    Returns
    -------
    int or None
        None where the total doesn't lie in one outcome.
    """
    ways = ways_of_totals(sides)
    throws = sum(ways)
    low, high = sum(ways[:total]), sum(ways[: total + 1])
    ends = list(accumulate(map(Fraction, weights)))
    for number, end in enumerate(ends):
        if end * throws > low * ends[-1]:  # the first that goes on after the lower totals
            return number if end * throws >= high * ends[-1] else None
    return None


def ways_of_totals(sides: Sequence[int]) -> list[int]:
    """In how many ways dice show each total, from 0."""
    ways = [1]
    for faces in sides:
        below = [0, *accumulate(ways + [0] * faces)]  # how many ways have a smaller total
        ways = [below[t] - below[max(t - faces, 0)] for t in range(len(ways) + faces)]
    return ways
