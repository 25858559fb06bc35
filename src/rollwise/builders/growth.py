"""Fields of the state that grow, perhaps without end: such a game has no last state.

No rules say how many states they lead to. So while a large game is still being found, some plays
are followed that raise a field at each turn. In most games a rule soon ends such a play.
"""

from __future__ import annotations

import time
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from rollwise.builders.expand import expand, situations_in
from rollwise.builders.limits import growths
from rollwise.builders.rules import Rules
from rollwise.builders.watch import watched
from rollwise.errors import RulesError

STEPS = 20_000  # of one play
# For all plays together: of the processor, so that a busy machine sees as far; and in all.
SECONDS, LONGEST = 0.3, 2.0
FEW = 200  # a play that ends before a field was raised so often says nothing, nor one cut off
WAITS = 10  # moves in a row that raise no field: a turn may pass round the table


class GrowthWarning(UserWarning):
    """A field that rose on and on, so that the game may have no last state."""


class _Time:
    """What is left of the time for all plays."""

    def __init__(self) -> None:
        self._used, self._began = time.thread_time(), time.perf_counter()

    def is_left(self) -> bool:
        used, passed = time.thread_time() - self._used, time.perf_counter() - self._began
        return used < SECONDS and passed < LONGEST


class _Play(NamedTuple):
    """A play that goes on: how many moves, and the numbers of the state that it came to."""

    moves: int
    numbers: list[int]


def endless_growth(rules: Rules, states: np.ndarray) -> str:
    """What is said of a field that grows along a play, and meets no end; empty if none is found.

    Plays that raise one field, or lower it, are followed first, and then one that raises them all:
    of two scores that change places at each pass, say. A field that may still end at a parameter
    of the game is not spoken of.

    Parameters
    ----------
    states : (n_states, n_fields) int32
        Some that were found, in their order.
    """
    if rules.pool is not None:  # whose turns take too long to follow
        return ""
    parameters = [abs(p) for p in rules.game.parameters.values() if type(p) is int]
    clock = _Time()
    growth, rows = growths(states), states.astype(np.int64)
    rising = [f for f in np.argsort(-growth, kind="stable").tolist() if growth[f] > 1]
    one = np.identity(rows.shape[1], np.int64)
    half = rows[: len(rows) // 2 + 1]
    aims = [
        aim for f in rising for aim in (one[f], -one[f]) if (rows @ aim).max() > (half @ aim).max()
    ]
    for aim in [*aims, one[rising].sum(axis=0)] if len(rising) > 1 else aims:
        first = rows[np.argmax(rows @ aim)].tolist()
        play = _follow(rules, first, aim.tolist(), clock)
        if play is None:
            continue
        field = max(rising, key=lambda f: abs(play.numbers[f] - first[f]) * abs(aim[f]))
        reached, name = play.numbers[field], rules.field_names[field]
        if abs(reached) > max(parameters, default=0):
            verb, end = ("rises", "min") if reached > first[field] else ("falls", "max")
            return (
                f"{rules.game.name}: the field {name} grows: it {verb} to {reached:,} in a play of "
                f"{play.moves:,} moves, which no rule has ended. If nothing ends it, the states "
                f"have no end either: let the game end where {name} is large, or cap it with "
                f"{end}(). The search for states goes on up to its limit"
            )
    return ""


def _follow(rules: Rules, first: list[int], aim: list[int], clock: _Time) -> _Play | None:
    """The play from a state on that raises a sum of fields most at each move; None if it ends.

    No state comes twice. Of moves that raise the sum alike, that counts by which all fields rise
    most.

    Parameters
    ----------
    first, aim : list of int
        The numbers of the state, and by what they are multiplied in the sum.
    """

    def rank(state: Any) -> tuple[int, int]:
        numbers = rules.layout.numbers(state)
        return sum(map(mul, numbers, aim)), sum(map(abs, numbers))

    state = rules.layout.state(first)
    best, raises, waits, seen = rank(state)[0], 0, 0, {state}
    try:
        with watched():
            while len(seen) <= STEPS and clock.is_left():
                after = {
                    next_state
                    for at in situations_in(rules, state)
                    for action in expand(rules, at)
                    for next_state in action.next_states
                }
                after = {s for s in after if s is not None and s not in seen}
                if not after:
                    return None
                state = max(after, key=rank)
                seen.add(state)
                reached = rank(state)[0]
                waits = 0 if reached > best else waits + 1
                if waits > WAITS:
                    return None
                raises += reached > best
                best = max(best, reached)
    except (RulesError, TypeError):  # whoever builds the graph says so, if it comes to this state
        return None
    return _Play(len(seen) - 1, list(rules.layout.numbers(state))) if raises >= FEW else None
