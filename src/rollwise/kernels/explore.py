"""Breadth-first exploration of a game whose rules are a function pointer.

The rules arrive as one compiled function, ``expand(context) -> n_actions``. The
context is an array of machine addresses and numbers (the ``CONTEXT_...`` slots
below): the state to expand is read through it, and what the rules say of the
state is written through it into scratch buffers, whence this module checks it,
numbers new states by a table, and appends it to the arrays of the graph. Actions
whose outcomes have the same weights and lead on in the same way share a lottery,
which is checked once. Because the rules are a pointer, the kernel is compiled
once for all games.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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
PLACE, STATES, ACTIONS, OUTCOMES, LOTTERIES, LOTTERY_OUTCOMES, REAL_WEIGHTS = range(7)
FIRST = 7  # the state where the arrays of the graph begin
COUNTERS = 8

MAX_TOTAL_WEIGHT = 1 << 62


class Buffers(NamedTuple):
    """Where the rules of one state are written."""

    label: Any  # (most,) int64
    end: Any  # (most,) int64: outcomes up to and with each action
    reward: Any  # (most,) float64
    weight: Any  # (most,) int64, or the bits of float64
    then: Any  # (most,) int64
    next_state: Any  # (most, n_fields) int64
    row: Any  # (most,) int64: scratch of the kernel, as is `place`
    place: Any  # (most,) int64


class Lookup(NamedTuple):
    """A table in which the number of a state is looked up.

    In a dense table a state has a place of its own, the sum of
    ``(field - low) * stride``; it has room for fields from `low` to below
    ``low + span``. Strides of 0 mark a hash table, whose size is a power of two
    and whose states are found by linear probing.
    """

    table: Any  # (size,) int32: numbers of states, -1 where free
    low: Any  # (n_fields,) int64
    span: Any  # (n_fields,) int64
    stride: Any  # (n_fields,) int64


class Room(NamedTuple):
    """The arrays of a graph in the making, with room at the end."""

    states: Any  # (rows, n_fields) int32
    action_indptr: Any  # int64
    action_label: Any  # int32
    action_lottery: Any  # int32
    outcome_indptr: Any  # int64
    outcome_state: Any  # int32


class LotteryRoom(NamedTuple):
    """The lotteries found so far, with room at the end, and a hash table of them."""

    indptr: Any  # (rows + 1,) int64
    reward: Any  # (rows,) float64
    key: Any  # (rows,) uint64
    weight: Any  # int64, or the bits of float64
    then: Any  # int8
    table: Any  # (size,) int32: numbers of lotteries, -1 where free; at least half is


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
def place_in_table(rows, row, lookup):
    """Where to look for the state in a row first."""
    n_fields = rows.shape[1]
    if lookup.stride[n_fields - 1] == 0:
        return np.int64(hash_row(rows, row) & np.uint64(lookup.table.shape[0] - 1))
    place = np.int64(0)
    for k in range(n_fields):
        place += (rows[row, k] - lookup.low[k]) * lookup.stride[k]
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
def add_rows(rows, states, lookup):
    """Number the rows from 0, leaving out repeats; returns how many there are.

    `states` may be `rows` itself, to enter states into another table.
    """
    dense = lookup.stride[lookup.stride.shape[0] - 1] != 0
    n = np.int64(0)
    for i in range(rows.shape[0]):
        place = place_in_table(rows, i, lookup)
        if find_or_add(rows, i, place, states, n, lookup.table, dense) == n:
            n += 1
    return n


@kernel
def enter_lotteries(lotteries, n):
    """Enter the first `n` lotteries into their table, which is free."""
    mask = np.uint64(lotteries.table.shape[0] - 1)
    for i in range(n):
        place = lotteries.key[i] & mask
        while lotteries.table[place] >= 0:
            place = (place + np.uint64(1)) & mask
        lotteries.table[place] = i


@kernel
def is_odd(reward, weight, real_weight, then, begin, end, real, allowed, rewards_allowed):
    """Whether a lottery breaks a rule."""
    if not np.isfinite(reward) or (reward != 0.0 and not rewards_allowed):
        return True
    total = 0.0
    whole_total = np.int64(0)
    for k in range(begin, end):
        if then[k] < 0 or then[k] > 5 or not allowed[then[k]]:
            return True
        size = real_weight[k] if real else np.float64(weight[k])
        if not size > 0.0 or size > MAX_TOTAL_WEIGHT:
            return True
        total += size
        if not real:  # exactly; the floating-point total catches what overflows
            whole_total += weight[k]
            if whole_total > MAX_TOTAL_WEIGHT:
                return True
    return not total > 0.0 or total > MAX_TOTAL_WEIGHT


@kernel
def explore(
    expand,
    context_address,
    context,
    buffers,
    room,
    lotteries,
    lookup,
    box,
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
    buffers : Buffers
        Where the context tells the rules to write.
    room : Room
    lotteries : LotteryRoom
    lookup : Lookup
    box : (2, n_fields) int64
        Smallest and largest value of each field. Widened to what is needed when
        the kernel ends with BOX_NEEDED.
    counters : (COUNTERS,) int64
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
    real_weight = buffers.weight.view(np.float64)
    reward_bits = buffers.reward.view(np.int64)
    n_fields = room.states.shape[1]
    dense = lookup.stride[n_fields - 1] != 0
    place = counters[PLACE]
    first_place = counters[FIRST]
    n_states = counters[STATES]
    n_actions = counters[ACTIONS]
    n_outcomes = counters[OUTCOMES]
    n_lotteries = counters[LOTTERIES]
    n_lottery_outcomes = counters[LOTTERY_OUTCOMES]
    stop = place + chunk
    ending = DONE
    while place < n_states:
        if n_states > max_states or n_outcomes > max_outcomes:
            ending = LIMIT_REACHED
            break
        if place >= stop:
            ending = PAUSED
            break
        context[CONTEXT_STATE] = room.states[place].ctypes.data
        found = expand(np.int64(context_address))
        if found <= 0:
            ending = BUFFERS_NEEDED if found == BUFFERS_FULL else ODD_STATE
            break
        real = context[CONTEXT_REAL_WEIGHTS] == 1
        added = buffers.end[found - 1]
        if (
            n_states + added > room.states.shape[0]
            or (not dense and 2 * (n_states + added) > lookup.table.shape[0])
            or n_actions + found > room.action_label.shape[0]
            or n_outcomes + added > room.outcome_state.shape[0]
            or 2 * (n_lotteries + found) > lotteries.table.shape[0]
            or n_lottery_outcomes + added > lotteries.weight.shape[0]
        ):
            ending = ROOM_NEEDED
            break
        # Outcomes of weight 0 are left out.
        begin = 0
        kept = 0
        boxed = True
        for a in range(found):
            label = buffers.label[a]
            if label < 0 or label > 2147483647:
                ending = ODD_STATE
            for b in range(a):
                if buffers.label[b] == label:
                    ending = ODD_STATE
            first = kept
            buffers.reward[a] += 0.0  # one kind of zero
            reward = buffers.reward[a]
            key = np.uint64(reward_bits[a]) ^ np.uint64(0x9E3779B97F4A7C15)
            for k in range(begin, buffers.end[a]):
                weight = buffers.weight[k]
                then = buffers.then[k]
                if weight == 0 or (real and real_weight[k] == 0.0):
                    continue
                key = (key ^ np.uint64(weight)) * np.uint64(0xFF51AFD7ED558CCD)
                key = (key ^ (key >> np.uint64(32)) ^ np.uint64(then)) * np.uint64(
                    0xC4CEB9FE1A85EC53
                )
                buffers.weight[kept] = weight
                buffers.then[kept] = then
                buffers.row[kept] = k
                if then <= 1:
                    spot = np.int64(0)
                    inside = True
                    for j in range(n_fields):
                        over = buffers.next_state[k, j] - lookup.low[j]
                        inside &= over >= 0
                        inside &= over < lookup.span[j]
                        spot += over * lookup.stride[j]
                    if not inside:
                        boxed = False
                        for j in range(n_fields):
                            field = buffers.next_state[k, j]
                            if field < -2147483648 or field > 2147483647:
                                ending = ODD_STATE
                            box[0, j] = min(box[0, j], field)
                            box[1, j] = max(box[1, j], field)
                    elif dense:
                        buffers.place[kept] = spot
                    else:
                        buffers.place[kept] = place_in_table(buffers.next_state, k, lookup)
                kept += 1
            key ^= key >> np.uint64(32)
            begin = buffers.end[a]
            # Calls of compiled functions take their time, so this is written out here.
            mask = np.uint64(lotteries.table.shape[0] - 1)
            spot_of_key = key & mask
            lottery = np.int64(lotteries.table[spot_of_key])
            while lottery >= 0:
                other = lotteries.indptr[lottery] - first
                same = (
                    lotteries.key[lottery] == key
                    and lotteries.reward[lottery] == reward
                    and lotteries.indptr[lottery + 1] - other == kept
                )
                if same:
                    for k in range(first, kept):
                        same &= buffers.weight[k] == lotteries.weight[other + k]
                        same &= buffers.then[k] == lotteries.then[other + k]
                    if same:
                        break
                spot_of_key = (spot_of_key + np.uint64(1)) & mask
                lottery = np.int64(lotteries.table[spot_of_key])
            if lottery < 0:
                if is_odd(
                    reward,
                    buffers.weight,
                    real_weight,
                    buffers.then,
                    first,
                    kept,
                    real,
                    allowed,
                    rewards_allowed,
                ):
                    ending = ODD_STATE
                    break
                lotteries.table[spot_of_key] = n_lotteries
                lottery = n_lotteries
                lotteries.key[lottery] = key
                lotteries.reward[lottery] = reward
                for k in range(first, kept):
                    lotteries.weight[n_lottery_outcomes] = buffers.weight[k]
                    lotteries.then[n_lottery_outcomes] = buffers.then[k]
                    n_lottery_outcomes += 1
                n_lotteries += 1
                lotteries.indptr[n_lotteries] = n_lottery_outcomes
            room.action_label[n_actions + a] = label
            room.action_lottery[n_actions + a] = lottery
            room.outcome_indptr[n_actions + a + 1] = n_outcomes + kept
        if ending != DONE:
            break
        if not boxed:
            ending = BOX_NEEDED
            break
        for k in range(kept):
            number = np.int64(-1)
            goes_on = buffers.then[k] <= 1
            if goes_on and dense:
                number = np.int64(lookup.table[np.uint64(buffers.place[k])])
            if goes_on and number < 0:
                number = find_or_add(
                    buffers.next_state,
                    buffers.row[k],
                    buffers.place[k],
                    room.states,
                    n_states,
                    lookup.table,
                    dense,
                )
                if number == n_states:
                    n_states += 1
            room.outcome_state[n_outcomes + k] = number
        n_actions += found
        n_outcomes += kept
        place += 1
        room.action_indptr[place - first_place] = n_actions
        if real:
            counters[REAL_WEIGHTS] = 1
    counters[PLACE] = place
    counters[STATES] = n_states
    counters[ACTIONS] = n_actions
    counters[OUTCOMES] = n_outcomes
    counters[LOTTERIES] = n_lotteries
    counters[LOTTERY_OUTCOMES] = n_lottery_outcomes
    return ending
