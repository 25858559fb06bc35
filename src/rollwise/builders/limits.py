"""How large a game may be, and what is said of one that is larger."""

from __future__ import annotations

import math

import numpy as np

from rollwise.builders.rules import Rules, more_states
from rollwise.errors import TooManyStates
from rollwise.machine import memory_limits
from rollwise.machine.memory_limits import memory_of_machine
from rollwise.numbers.printed import in_bytes

MAX_STATES = 10_000_000
MAX_STATES_INTERPRETED = 1_000_000
OUTCOMES_PER_STATE = 40  # a graph may have this many outcomes for each state of the limit
MOST_NUMBERED = 2**31 - 1  # states that can be numbered
ANSWER_BYTES = 20  # of a state by layers, in memory or on a disk: its value, bound and action
MAX_STATES_FOR_MORE = 60_000_000  # of three players or more, whose games have no layers
BYTES_FOR_MORE = 300  # that a state of these takes, with room
BYTES_IN_A_GRAPH = 950  # of address space that a state of others takes: Pig was measured, with room
# Interpreting takes about 3 microseconds an outcome and compiling some seconds; by this many
# outcomes, or seconds, a small game is done and a large or a slow one has lost little.
SMALL = 20_000
PATIENCE = 2.0
# Equal outcomes are merged in a game that has some that lead on among its first states: where
# there are none, that there might be costs nothing.
LOOKED_AT = 1024
# Actions of a state, and outcomes of an action: more come of a loop that doesn't end.
MOST_YIELDED = 1_000_000


def most_states(rules: Rules) -> int:
    """How many states a game may have in one graph, if nobody says.

    A game of three players or more may have as many as the memory of the machine holds. A game
    that can be solved by layers has fewer than others where the process has little memory.
    """
    if rules.game.players <= 2:
        if not rules.has_progress:
            return MAX_STATES
        room = min(memory_of_machine() or math.inf, memory_limits.left())
        return int(min(MAX_STATES, max(room // BYTES_IN_A_GRAPH, SMALL)))
    return max(MAX_STATES, min(MAX_STATES_FOR_MORE, memory_of_machine() // BYTES_FOR_MORE))


def most_by_layer(each: int, room: int | None = None) -> int:
    """How many states a game may have by layers, if nobody says: as many as there is room for.

    Parameters
    ----------
    each : int
        Bytes of a state that are kept.
    room : int, optional
        Bytes, on a disk or in memory: those of the memory of the machine, if it says how many.
    """
    room = memory_of_machine() if room is None else room
    return min(room // each, MOST_NUMBERED) if room else MOST_NUMBERED


def too_many_states(
    rules: Rules,
    expanded: int,
    states: np.ndarray,
    max_states: int,
    outcomes: int,
    known: int = 0,
) -> TooManyStates:
    """The error for a game that outgrows the limit, with an estimate of the memory.

    Parameters
    ----------
    states : (n_states, n_fields) int32
        Those found, in their order.
    outcomes : int
        Those found; there is a limit of them, too, where rules are compiled.
    known : int
        Others that were found and expanded before.
    """
    found, each = known + len(states), 1 + rules.turn_states
    expanded += known
    turns = f" (each position has a turn of {each - 1:,})" if each > 1 else ""
    if rules.has_throws and each == 1:
        turns = " (those after a throw are counted too)"
    per_state = 4 * len(rules.field_names) + 40 + 8 * max(outcomes, 1) / max(expanded, 1)
    memory = in_bytes(found * each * per_state)
    most = f"{max_states * each:,} states{turns}"
    if found <= max_states and outcomes > max_states * OUTCOMES_PER_STATE:
        most = (
            f"{max_states * OUTCOMES_PER_STATE:,} outcomes, which is {OUTCOMES_PER_STATE} for each "
            f"of {max_states:,} states"
        )
    return TooManyStates(
        f"{rules.game.name}: more than {most}; {expanded:,} were "
        f"expanded, {found:,} found and more to come (about {memory} for the ones "
        f"found){what_grows(rules, states)}",
        f". Smaller parameters or a smaller state help; {more_states()} raises "
        f"the limit{rules.or_by_layers}",
    )


def what_grows(rules: Rules, states: np.ndarray) -> str:
    """Which field takes ever new values, as words: that whose range grew most, if one did.

    Parameters
    ----------
    states : (n_states, n_fields) int32
        In the order in which they were found.
    """
    growth = growths(states)
    field = int(np.argmax(growth))
    if growth[field] == 1:
        return ""
    low, high = states[:, field].min(), states[:, field].max()
    name = rules.field_names[field]
    return f"; the field {name} goes from {low:,} to {high:,} so far, and grows"


def growths(states: np.ndarray) -> np.ndarray:
    """By how much the range of each field grew with the second half of some states: (n_fields,)."""
    half = states[: len(states) // 2 + 1]
    now, before = (
        group.max(axis=0).astype(np.int64) - group.min(axis=0) + 1 for group in (states, half)
    )
    growth: np.ndarray = now / before
    return growth
