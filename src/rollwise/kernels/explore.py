"""Breadth-first exploration of a game whose rules are a function pointer.

The rules arrive as one compiled function, ``expand(context) -> n_actions``. The
context is an array of machine addresses and numbers (the ``CONTEXT_...`` slots
below): the state to expand is read through it, and what the rules say of the
state is written through it into scratch buffers, whence this module checks it,
numbers new states by a hash table, and appends it to the arrays of the graph.
Because the rules are a pointer, the kernel is compiled once for all games.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel

# Slots of the context.
CONTEXT_STATE = 0  # address of the fields of the state to expand, int32
CONTEXT_INTS = 1  # address of the game's whole-number attributes, int64
CONTEXT_REALS = 2  # address of the game's float attributes, float64
CONTEXT_ACTION = 3  # address: action numbers, int64
CONTEXT_REWARD = 4  # address: rewards, float64
CONTEXT_ACTION_END = 5  # address: outcomes up to and with each action, int64
CONTEXT_WEIGHT = 6  # address: weights, int64 or the bits of a float64
CONTEXT_THEN = 7  # address: what follows, int64
CONTEXT_NEXT = 8  # address: fields of the next states, int64, row by row
CONTEXT_MOST_ACTIONS = 9  # room in the buffers
CONTEXT_MOST_OUTCOMES = 10
CONTEXT_REAL_WEIGHTS = 11  # set to 1 by rules whose weights are floats
CONTEXT_SLOTS = 12

# What `expand` returns instead of a number of actions.
BUFFERS_FULL = -1
RULES_FAILED = -2

# How `explore` ends.
DONE, PAUSED, BUFFERS_NEEDED, ROOM_NEEDED, BOX_NEEDED, ODD_STATE, LIMIT_REACHED = range(7)

# Counters kept between calls.
PLACE, STATES, ACTIONS, OUTCOMES, REAL_WEIGHTS = range(5)

MAX_TOTAL_WEIGHT = 1 << 62


@kernel
def hash_row(rows, row):
    """Mix the fields of a row into 64 bits (multiply and fold, as in MurmurHash3)."""
    h = np.uint64(0x9E3779B97F4A7C15)
    for k in range(rows.shape[1]):
        h ^= np.uint64(rows[row, k])
        h *= np.uint64(0xFF51AFD7ED558CCD)
        h ^= h >> np.uint64(32)
    return h


@kernel
def place_in_table(rows, row, table, low, stride):
    """Where to look for the state in a row first.

    Parameters
    ----------
    rows : (n_rows, n_fields)
    table : (size,) int32
        Numbers of states, -1 where free.
    low : (n_fields,) int64
    stride : (n_fields,) int64
        In a dense table a state has a place of its own, the sum of
        ``(field - low) * stride``. Strides of 0 mark a hash table, whose size is
        a power of two and whose states are found by linear probing.
    """
    n_fields = rows.shape[1]
    if stride[n_fields - 1] == 0:
        return np.int64(hash_row(rows, row) & np.uint64(table.shape[0] - 1))
    place = np.int64(0)
    for k in range(n_fields):
        place += (rows[row, k] - low[k]) * stride[k]
    return place


@kernel
def find_or_add(rows, row, place, states, n_states, table, dense):
    """The number of the state in a row; `n_states` where it is new, and it is then entered.

    `place` is where to look first, and `states` needs room for one more row.
    """
    n_fields = states.shape[1]
    mask = table.shape[0] - 1
    while True:
        i = table[place]
        if i < 0:
            table[place] = n_states
            for k in range(n_fields):
                states[n_states, k] = rows[row, k]
            return n_states
        if dense:
            return np.int64(i)
        same = True
        for k in range(n_fields):
            if states[i, k] != rows[row, k]:
                same = False
                break
        if same:
            return np.int64(i)
        place = (place + 1) & mask


@kernel
def add_rows(rows, states, table, low, stride):
    """Number the rows from 0, leaving out repeats; returns how many there are.

    `states` may be `rows` itself, to enter states into another table.
    """
    dense = stride[stride.shape[0] - 1] != 0
    n = np.int64(0)
    for i in range(rows.shape[0]):
        place = place_in_table(rows, i, table, low, stride)
        if find_or_add(rows, i, place, states, n, table, dense) == n:
            n += 1
    return n


@kernel
def explore(
    expand,
    context_address,
    context,
    buffers_int,
    buffer_reward,
    buffer_next,
    buffer_place,
    states,
    table,
    low,
    stride,
    box,
    action_indptr,
    action_label,
    action_reward,
    outcome_indptr,
    outcome_state,
    outcome_weight,
    outcome_then,
    counters,
    allowed,
    rewards_allowed,
    max_states,
    max_outcomes,
    chunk,
):
    """Expand states until all are done, or something needs the caller.

    Parameters
    ----------
    expand : pointer to a compiled function int64(int64)
    context : (CONTEXT_SLOTS,) int64 at `context_address`
    buffers_int : (4, most) int64
        Scratch rows: action numbers, action ends, weights, thens.
    buffer_reward : (most,) float64
    buffer_next : (most, n_fields) int64
    buffer_place : (most,) int64
    table, low, stride
        Where the states are looked up; see `place_in_table`.
    box : (2, n_fields) int64
        Smallest and largest value of each field that a dense table has room for.
        Widened to what is needed when the kernel ends with BOX_NEEDED.
    states, ..., outcome_then : arrays of the graph, with room at the end
        `outcome_weight` holds int64 or the bits of float64.
    counters : (5,) int64
        How far it has come; kept between calls.
    allowed : (6,) bool
        Which `then` codes the game may use.
    chunk : int
        Pause after this many states.

    Returns
    -------
    int
        DONE, PAUSED (after `chunk` states), BUFFERS_NEEDED, ROOM_NEEDED (at the end
        of the arrays), BOX_NEEDED, LIMIT_REACHED, or ODD_STATE: the state at
        ``counters[PLACE]`` breaks a rule, and the caller finds out which.
    """
    action_buffer = buffers_int[0]
    end_buffer = buffers_int[1]
    weight_buffer = buffers_int[2]
    real_buffer = weight_buffer.view(np.float64)
    then_buffer = buffers_int[3]
    n_fields = states.shape[1]
    dense = stride[n_fields - 1] != 0
    stop = counters[PLACE] + chunk
    while counters[PLACE] < counters[STATES]:
        place = counters[PLACE]
        n_states = counters[STATES]
        n_actions = counters[ACTIONS]
        n_outcomes = counters[OUTCOMES]
        if n_states > max_states or n_outcomes > max_outcomes:
            return LIMIT_REACHED
        if place >= stop:
            return PAUSED
        context[CONTEXT_STATE] = states[place].ctypes.data
        found = expand(np.int64(context_address))
        if found == BUFFERS_FULL:
            return BUFFERS_NEEDED
        if found <= 0:
            return ODD_STATE
        real = context[CONTEXT_REAL_WEIGHTS] == 1
        added = end_buffer[found - 1]
        if (
            n_states + added > states.shape[0]
            or (not dense and 2 * (n_states + added) > table.shape[0])
            or n_actions + found > action_label.shape[0]
            or n_outcomes + added > outcome_state.shape[0]
        ):
            return ROOM_NEEDED
        # Checks first, and every place in the table, so that their memory is on its
        # way when the states are looked up.
        begin = 0
        boxed = True
        on_its_way = np.int64(0)
        for a in range(found):
            label = action_buffer[a]
            if label < 0 or label > 2147483647:
                return ODD_STATE
            for b in range(a):
                if action_buffer[b] == label:
                    return ODD_STATE
            reward = buffer_reward[a]
            if not np.isfinite(reward) or (reward != 0.0 and not rewards_allowed):
                return ODD_STATE
            total = 0.0
            whole_total = np.int64(0)
            for k in range(begin, end_buffer[a]):
                then = then_buffer[k]
                if then < 0 or then > 5 or not allowed[then]:
                    return ODD_STATE
                weight = real_buffer[k] if real else np.float64(weight_buffer[k])
                if not weight >= 0.0 or weight > MAX_TOTAL_WEIGHT:
                    return ODD_STATE
                total += weight
                if not real:  # exactly; the floating-point total catches what overflows
                    whole_total += weight_buffer[k]
                    if whole_total > MAX_TOTAL_WEIGHT:
                        return ODD_STATE
                if weight == 0.0:
                    weight_buffer[k] = 0  # also -0.0
                    continue
                if then > 1:
                    continue
                inside = True
                for j in range(n_fields):
                    field = buffer_next[k, j]
                    if field < -2147483648 or field > 2147483647:
                        return ODD_STATE
                    if field < box[0, j]:
                        inside = False
                        box[0, j] = field
                    elif field > box[1, j]:
                        inside = False
                        box[1, j] = field
                if dense and not inside:
                    boxed = False
                if boxed:
                    buffer_place[k] = place_in_table(buffer_next, k, table, low, stride)
                    on_its_way += table[buffer_place[k]]
            if not total > 0.0 or total > MAX_TOTAL_WEIGHT:
                return ODD_STATE
            begin = end_buffer[a]
        if not boxed:
            return BOX_NEEDED
        begin = 0
        for a in range(found):
            for k in range(begin, end_buffer[a]):
                if weight_buffer[k] == 0:
                    continue
                target = np.int64(-1)
                if then_buffer[k] <= 1:
                    target = find_or_add(
                        buffer_next, k, buffer_place[k], states, n_states, table, dense
                    )
                    if target == n_states:
                        n_states += 1
                outcome_state[n_outcomes] = target
                outcome_weight[n_outcomes] = weight_buffer[k]
                outcome_then[n_outcomes] = then_buffer[k]
                n_outcomes += 1
            action_label[n_actions] = action_buffer[a]
            action_reward[n_actions] = buffer_reward[a]
            outcome_indptr[n_actions + 1] = n_outcomes
            n_actions += 1
            begin = end_buffer[a]
        action_indptr[place + 1] = n_actions
        counters[PLACE] = place + 1
        counters[STATES] = n_states
        counters[ACTIONS] = n_actions
        counters[OUTCOMES] = n_outcomes
        if real:
            counters[REAL_WEIGHTS] = 1
    return DONE
