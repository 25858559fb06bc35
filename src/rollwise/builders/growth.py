"""Fields that grow without an end.

While a game is searched for its states, plays that raise a field at each move are followed. A play
that no rule has ended is evidence that the states have no end either.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from rollwise.builders.expand import expand, situations_in
from rollwise.builders.limits import growths
from rollwise.builders.rules import Rules
from rollwise.errors import RulesError
from rollwise.graph.layout import MOST
from rollwise.machine.endless import watched

STEPS = 20_000  # of one play
# For all plays together: the outcomes looked at, and the seconds, which only slow rules need.
MOST_LOOKED_AT, LONGEST = 150_000, 3.0
FEW = 200  # a play cut off earlier, or with fewer rises of a field, is no evidence
WAITS = 10  # successive moves that raise no field: a turn may pass round the table


class GrowthWarning(UserWarning):
    """A field kept rising. The game may have infinitely many states."""


class Growth(NamedTuple):
    """A field with endless growth along a play, as a fault and its remedy in words."""

    fault: str
    remedy: str
    field: str


class Moves(NamedTuple):
    """The moves of a game, for plays to follow."""

    fields: tuple[str, ...]  # those with a number in each state
    numbers: Callable[[Any], Iterable[int]]  # the numbers of a state, one of each field
    after: Callable[[Any], list[Any]]  # the states after a state, None for the end of the game


def moves_of(rules: Rules) -> Moves:
    """The moves of a game without hidden fields and simultaneous choices."""

    def after(state: Any) -> list[Any]:
        return [
            next_state
            for at in situations_in(rules, state)
            for action in expand(rules, at)
            for next_state in action.next_states
        ]

    return Moves(tuple(rules.field_names), rules.layout.numbers, after)


def growth_of(rules: Rules, states: np.ndarray) -> Growth | None:
    """The field with endless growth among some states: see `endless_growth`.

    Parameters
    ----------
    states : (n_states, n_fields) int32
        Some of the states found, in their order.
    """
    if rules.pool is not None:  # its turns take too long to follow
        return None

    def state(row: int) -> Any:
        return rules.layout.state(states[row].tolist())

    return endless_growth(moves_of(rules), states, rules.game.parameters.values(), state)


def endless_growth(
    moves: Moves, rows: np.ndarray, parameters: Iterable[Any], state: Callable[[int], Any]
) -> Growth | None:
    """The field with endless growth along a play; None if none is found.

    First come plays that raise or lower one field, then a play that raises all rising fields
    together, such as two scores that change places at each pass. A field that may still end at a
    parameter of the game gets no warning.

    Parameters
    ----------
    rows : (n_states, n_fields) int
        The numbers of some of the states found, in their order.
    parameters : iterable
        Those of the game.
    state : callable
        The state of a row.
    """
    largest = max((abs(p) for p in parameters if type(p) is int), default=0)
    looked_at, began = 0, time.perf_counter()

    def may_look_at(outcomes: int) -> bool:
        nonlocal looked_at
        looked_at += outcomes
        return looked_at < MOST_LOOKED_AT and time.perf_counter() - began < LONGEST

    growth, rows = growths(rows), rows.astype(np.int64)
    rising = [f for f in np.argsort(-growth, kind="stable").tolist() if growth[f] > 1]
    one = np.identity(rows.shape[1], np.int64)
    half = rows[: len(rows) // 2 + 1]
    # A field is followed up or down if the later half of the states goes further than the first.
    aims = [
        aim for f in rising for aim in (one[f], -one[f]) if (rows @ aim).max() > (half @ aim).max()
    ]
    for aim in [*aims, one[rising].sum(axis=0)] if len(rising) > 1 else aims:
        row = int(np.argmax(rows @ aim))
        play = _follow(moves, state(row), aim.tolist(), may_look_at)
        if play is None:
            continue
        steps, numbers = play
        first = rows[row].tolist()
        field = max(rising, key=lambda f: abs(numbers[f] - first[f]) * abs(aim[f]))
        reached, name = numbers[field], moves.fields[field]
        if abs(reached) > largest:
            verb, end = ("rises", "min") if reached > first[field] else ("falls", "max")
            return Growth(
                f"the field {name} grows: it {verb} to {reached:,} in a play of {steps:,} moves, "
                "which no rule has ended",
                f"let the game end where {name} is large, or cap it with {end}()",
                name,
            )
    return None


def _follow(
    moves: Moves, state: Any, aim: list[int], may_look_at: Callable[[int], bool]
) -> tuple[int, list[int]] | None:
    """The play that raises a weighted sum of fields most at each move; None if it ends.

    It is given by its number of moves, and the numbers of its last state.
    No state is repeated. Among moves with equal sums, the largest sum of absolute fields
    decides. A play beyond 32 bits counts as one without an end.

    Parameters
    ----------
    aim : list of int
        The weights of the fields in the sum.
    may_look_at : callable
        Whether the play may go on, after a number of further outcomes.
    """

    def rank(state: Any) -> tuple[int, int]:
        numbers = list(moves.numbers(state))
        return sum(map(mul, numbers, aim)), sum(map(abs, numbers))

    best, raises, waits, seen, outcomes = rank(state)[0], 0, 0, {state}, 0
    try:
        with watched():
            while len(seen) <= STEPS and best <= MOST and may_look_at(outcomes):
                found = moves.after(state)
                outcomes = len(found)
                after = {s for s in found if s is not None and s not in seen}
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
    except (RulesError, TypeError):  # the builder reports this if it reaches the state
        return None
    goes_on = raises >= FEW or best > MOST
    return (len(seen) - 1, list(moves.numbers(state))) if goes_on else None
