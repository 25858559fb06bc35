"""Limits on the size of a game, and the errors for larger games."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence

import numpy as np

from rollwise.builders.contract import more_states
from rollwise.builders.rules import Rules
from rollwise.errors import TooManyStates
from rollwise.graph.layout import field_words
from rollwise.machine import memory_limits
from rollwise.machine.memory_limits import memory_of_machine
from rollwise.numbers.printed import in_bytes

MAX_STATES = 10_000_000
MAX_STATES_INTERPRETED = 1_000_000
LESS_IF_GROWING = 10  # divisor of these limits, if a field grows without an end in sight
OUTCOMES_PER_STATE = 40  # outcomes allowed per state of the limit
MOST_NUMBERED = 2**31 - 1  # states that can be numbered
ANSWER_BYTES = 20  # per state of an answer by layers, in memory or on disk: value, bound, action
MAX_STATES_FOR_MORE = 60_000_000  # for three or more players, whose games have no layers
BYTES_FOR_MORE = 300  # of a state of such a game, with a margin
BYTES_IN_A_GRAPH = 950  # of address space for a state of other games (Pig), with a margin
# Interpreting takes about 3 microseconds an outcome and compiling some seconds. Within this number
# of outcomes, or of seconds, a small game is done and a large or slow game has lost little.
SMALL = 20_000
PATIENCE = 2.0
# Equal outcomes are merged if the first states of a game contain equal outcomes that continue play.
# Games without them avoid the cost of merging.
LOOKED_AT = 1024
# Actions of a state, and outcomes of an action. More indicate an endless loop.
MOST_YIELDED = 1_000_000


KEPT_OF_ROOM = 8  # divisor: the part of the memory for the rules of layers, until they are solved


def bytes_to_keep() -> int:
    """Bytes for the rules of layers that were found and are not solved yet."""
    room = min(memory_of_machine() or math.inf, memory_limits.left())
    return int(room / KEPT_OF_ROOM) if room < math.inf else 0


def most_states(rules: Rules) -> int:
    """The default limit on the states of a game in one graph.

    For three or more players it depends on the memory of the machine. If the process has little
    memory, the limit is lower for games that can be solved by layers than for others.
    """
    if rules.game.players <= 2:
        if not rules.has_progress:
            return MAX_STATES
        room = min(memory_of_machine() or math.inf, memory_limits.left())
        return int(min(MAX_STATES, max(room // BYTES_IN_A_GRAPH, SMALL)))
    return max(MAX_STATES, min(MAX_STATES_FOR_MORE, memory_of_machine() // BYTES_FOR_MORE))


def most_outcomes(rules: Rules, max_states: int) -> int:
    """The limit on outcomes with so many positions; the states of their turns count too."""
    return max_states * (1 + rules.turn_states) * OUTCOMES_PER_STATE


def most_by_layer(each: int, room: int | None = None) -> int:
    """The default limit on the states of a game by layers: as many as fit.

    Parameters
    ----------
    each : int
        Bytes stored per state.
    room : int, optional
        Bytes on disk or in memory. The default is the memory of the machine, if known.
    """
    room = memory_of_machine() if room is None else room
    return min(room // each, MOST_NUMBERED) if room else MOST_NUMBERED


def too_many_states(
    rules: Rules,
    expanded: int,
    states: np.ndarray,
    max_states: int,
    outcomes: int,
    states_before: int = 0,
) -> TooManyStates:
    """The error for a game beyond the limit, with an estimate of the memory.

    Parameters
    ----------
    states : (n_states, n_fields) int32
        The states found, in their order.
    outcomes : int
        The number of outcomes found. They are limited too if rules are compiled.
    states_before : int
        The number of other states, found and expanded earlier.
    """
    n_states, each = states_before + len(states), 1 + rules.turn_states
    expanded += states_before
    turns = f" (each position has a turn of {each - 1:,})" if each > 1 else ""
    if rules.has_throws and each == 1:
        turns = " (those after a throw are counted too)"
    per_state = 4 * len(rules.field_names) + 40
    memory = in_bytes(n_states * (each * per_state + 8 * max(outcomes, 1) / max(expanded, 1)))
    most = f"{max_states * each:,} states{turns}"
    if n_states <= max_states and outcomes > most_outcomes(rules, max_states):
        most = (
            f"{most_outcomes(rules, max_states):,} outcomes, which is {OUTCOMES_PER_STATE} for "
            f"each of {max_states * each:,} states{turns}"
        )
    return TooManyStates(
        f"{rules.game.name}: more than {most}; {expanded:,} were "
        f"expanded, {n_states:,} found and more to come (about {memory} for the ones "
        f"found){what_grows(rules.field_names, field_words(rules.game), states)}",
        f". Smaller parameters or a smaller state help; {more_states()} raises "
        f"the limit{rules.or_by_layers}",
    )


def what_grows(names: Sequence[str], words: Container[str], states: np.ndarray) -> str:
    """A phrase about the field with the largest growth of its range; empty without growth.

    Parameters
    ----------
    names : sequence of str
        The fields.
    words : container of str
        The fields that are enumerations, which have an end.
    states : (n_states, n_fields) int
        In the order of discovery.
    """
    growth = growths(states)
    growth[[name in words for name in names]] = 1
    if growth.max(initial=1) == 1:
        return ""
    field = int(np.argmax(growth))
    low, high = states[:, field].min(), states[:, field].max()
    return f"; the field {names[field]} goes from {low:,} to {high:,} so far, and grows"


def growths(states: np.ndarray) -> np.ndarray:
    """The growth factor of each field's range in the second half of some states: (n_fields,)."""
    half = states[: len(states) // 2 + 1]
    now, before = (
        group.max(axis=0).astype(np.int64) - group.min(axis=0) + 1 for group in (states, half)
    )
    growth: np.ndarray = now / before
    return growth
