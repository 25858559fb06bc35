"""Breadth-first exploration of a game whose rules are a function pointer.

The rules arrive as one compiled function, ``expand(context) -> n_states``. The
context is an array of machine addresses and numbers (the ``CONTEXT_...`` slots
below): some states to expand are read through it, and what the rules say of them is
written through it into scratch buffers, with the place where each next state is to be
looked up (the rules' side knows the number of fields when it is compiled, and is
faster at that). This module checks what it finds there, numbers new states by the
table, and appends it all to the arrays of the graph. Actions whose outcomes have the
same weights and lead on in the same way share a lottery, which is checked once. Because
the rules are a pointer, the kernel is compiled once for all games. Some states are expanded
at once: the rules' side asks for the table's memory long before it is read here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.jit import ONE, index, inner_kernel, kernel

# Slots of the context.
CONTEXT_STATE = 0  # address of the fields of the states to expand, int32
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
CONTEXT_PLACE = 12  # address: where to look up next states, int64; -1 for none
CONTEXT_FRAME = 13  # address: the frame of the table of states, int64
CONTEXT_MASK = 14  # size of a hash table less 1; 0 where the table is dense
CONTEXT_OUTSIDE = 15  # set to 1 where a next state lies outside the table's box
CONTEXT_COUNT = 16  # number of states to expand
CONTEXT_STATE_END = 17  # address: actions up to and with each state, int64
CONTEXT_TABLE = 18  # address of the table of states, int32
CONTEXT_SLOTS = 19

# How a state is hashed; outcomes of weight 0 are left out by the rules' side.
HASH_START = 0x9E3779B97F4A7C15
HASH_FACTOR = 0xFF51AFD7ED558CCD

# What `expand` returns instead of a number of states.
BUFFERS_FULL = -1
RULES_FAILED = -2

# How `explore` ends.
DONE, PAUSED, BUFFERS_NEEDED, ROOM_NEEDED, BOX_NEEDED, ODD_STATE, LIMIT_REACHED = range(7)

# Counters kept between calls.
PLACE, STATES, ACTIONS, OUTCOMES, LOTTERIES, LOTTERY_OUTCOMES, REAL_WEIGHTS = range(7)
FIRST = 7  # the state where the arrays of the graph begin
MERGING = 8  # 1 where equal outcomes are merged
COUNTERS = 9

BATCH = 16  # states that are expanded at once
RECENT = 64  # actions whose lotteries are remembered, by label
MAX_TOTAL_WEIGHT = 1 << 62


class Buffers(NamedTuple):
    """Where the rules of some states are written."""

    state_end: Any  # (BATCH,) int64: actions up to and with each state
    label: Any  # (most,) int64
    end: Any  # (most,) int64: outcomes up to and with each action
    reward: Any  # (most,) float64
    weight: Any  # (most,) int64, or the bits of float64
    then: Any  # (most,) int64
    next_state: Any  # (most, n_fields) int64
    place: Any  # (most,) int64: -1 where no state is next


class Lookup(NamedTuple):
    """A table in which the number of a state is looked up.

    In a dense table a state has a place of its own, the sum of
    ``(field - low) * stride``; it has room for fields from `low` to below
    ``low + span``. In a hash table, whose size is a power of two, states are found
    by linear probing.
    """

    table: Any  # (size,) int32: numbers of states, -1 where free
    frame: Any  # (3, n_fields) int64: low, span and stride
    mask: Any  # int: 0 if the table is dense, else its size less 1


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
    then: Any  # int64
    table: Any  # (size,) int32: numbers of lotteries, -1 where free; at least half is


@kernel
def box_of(rows):
    """Smallest and largest value of each field: (2, n_fields) int64."""
    box = np.empty((2, rows.shape[1]), np.int64)
    for k in range(rows.shape[1]):
        box[0, k] = box[1, k] = rows[0, k]
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            box[0, k] = min(box[0, k], rows[i, k])
            box[1, k] = max(box[1, k], rows[i, k])
    return box


@kernel
def extreme_rows(rows):
    """The first rows with the smallest and the largest value of each field: (2 * n_fields,)."""
    n_fields = rows.shape[1]
    found = np.zeros(2 * n_fields, np.int64)
    for k in range(n_fields):
        least = most = rows[0, k]
        for i in range(rows.shape[0]):
            field = rows[i, k]
            if field < least:
                least, found[k] = field, i
            if field > most:
                most, found[n_fields + k] = field, i
    return found


@kernel
def add_rows(rows, states, table, frame, mask):
    """Number the rows from 0, leaving out repeats; returns how many there are.

    `states` may be `rows` itself, to enter states into another table. The other
    arguments are those of a `Lookup`. What hashes here, as in MurmurHash3, hashes in
    the same way on the side of the rules (see `rollwise.builders.compiled.adapter_source`).
    """
    n_fields = rows.shape[1]
    n = np.int64(0)
    for i in range(rows.shape[0]):
        if mask == 0:
            place = np.int64(0)
            for k in range(n_fields):
                place += (rows[i, k] - frame[0, k]) * frame[2, k]
        else:
            h = np.uint64(HASH_START)
            for k in range(n_fields):
                h = (h ^ np.uint64(rows[i, k])) * np.uint64(HASH_FACTOR)
                h ^= h >> np.uint64(32)
            place = np.int64(h & np.uint64(mask))
        spot = np.uint64(place)
        number = table[spot]
        while number >= 0:
            same = True
            for k in range(n_fields):
                same &= states[number, k] == rows[i, k]
            if same:
                break
            spot = (spot + np.uint64(1)) & np.uint64(mask)
            number = table[spot]
        if number < 0:
            table[spot] = n
            for k in range(n_fields):
                states[n, k] = rows[i, k]
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


@inner_kernel
def find_lottery(buffers, begin, end, reward, reward_bits, lotteries):
    """The number of a lottery; -1 minus the place where to enter it, and its key, if it is new."""
    key = np.uint64(reward_bits) + np.uint64(end - begin)
    power = np.uint64(HASH_FACTOR)
    for k in range(begin, end):
        how = np.uint64(buffers.weight[k]) * np.uint64(HASH_START) + np.uint64(buffers.then[k])
        key += (how ^ (how >> np.uint64(32))) * power
        power *= np.uint64(HASH_FACTOR)
    key ^= key >> np.uint64(32)
    mask = np.uint64(lotteries.table.shape[0] - 1)
    place = key & mask
    lottery = np.int64(lotteries.table[place])
    while lottery >= 0:
        first = np.uint64(lotteries.indptr[lottery]) - begin
        same = (
            lotteries.key[lottery] == key
            and lotteries.reward[lottery] == reward
            and np.uint64(lotteries.indptr[lottery + 1]) - first == end
        )
        if same:
            for k in range(begin, end):
                same &= buffers.weight[k] == lotteries.weight[first + k]
                same &= buffers.then[k] == lotteries.then[first + k]
            if same:
                return lottery, key
        place = (place + np.uint64(1)) & mask
        lottery = np.int64(lotteries.table[place])
    return -1 - np.int64(place), key


@inner_kernel
def widen_box(buffers, n, box):
    """Let a box hold the next states; False where a field of one doesn't fit 32 bits."""
    for k in range(n):
        if buffers.then[k] <= 1:
            for j in range(box.shape[1]):
                field = buffers.next_state[k, j]
                if field < -2147483648 or field > 2147483647:
                    return False
                box[0, j] = min(box[0, j], field)
                box[1, j] = max(box[1, j], field)
    return True


@inner_kernel
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


@inner_kernel
def merge_equal(weight, then, next_state, place, begin, end, real, slots, look):
    """Merge the equal outcomes of an action: where the first of them is, of their weights' sum.

    Parameters
    ----------
    weight, then, next_state, place : see `Buffers`
    begin, end : int
        The outcomes of the action.
    real : bool
        Weights are the bits of floats.
    slots : (at least 4 * (end - begin) + 3,) int64
        Scratch, zero before its first use. What is there counts from the last one on, so that
        it needn't be cleared.
    look : bool
        Merge nothing, and look only at outcomes that lead on.

    Returns
    -------
    left : int
        Where the outcomes end now; less than `end` if some are equal. 0 where a weight breaks
        a rule.
    """
    size = np.uint64(2)
    while size < np.uint64(2) * (end - begin):
        size *= np.uint64(2)
    mask = size - np.uint64(1)
    base = slots[slots.shape[0] - 1] + 1
    slots[slots.shape[0] - 1] = base + np.int64(end)
    real_weight = weight.view(np.float64)
    left = begin
    for k in range(begin, end):
        if look and place[k] < 0:
            continue
        if real:
            if not (real_weight[k] > 0.0 and real_weight[k] <= MAX_TOTAL_WEIGHT):
                return np.uint64(0)
        elif weight[k] <= 0 or weight[k] > MAX_TOTAL_WEIGHT:
            return np.uint64(0)
        h = (np.uint64(place[k]) * np.uint64(8) + np.uint64(then[k])) * np.uint64(HASH_FACTOR)
        spot = (h >> np.uint64(32)) & mask
        while slots[spot] >= base:
            other = np.uint64(slots[spot] - base)
            same = place[other] == place[k] and then[other] == then[k]
            if same and place[k] >= 0:
                for j in range(next_state.shape[1]):
                    same &= next_state[other, j] == next_state[k, j]
            if same:
                break
            spot = (spot + np.uint64(1)) & mask
        if slots[spot] >= base:
            if look:
                return left
            other = np.uint64(slots[spot] - base)
            if real:
                real_weight[other] += real_weight[k]
            else:
                weight[other] += weight[k]
                if weight[other] < 0:
                    return np.uint64(0)
            continue
        if look:
            slots[spot] = base + np.int64(k)
        else:
            slots[spot] = base + np.int64(left)
            move_outcomes(weight, then, next_state, place, k, k + np.uint64(1), left)
            left += np.uint64(1)
    return end if look else left


@inner_kernel
def move_outcomes(weight, then, next_state, place, begin, end, to):
    """Move outcomes to an earlier place of the buffers."""
    if begin == to:
        return
    for k in range(begin, end):
        weight[to], then[to], place[to] = weight[k], then[k], place[k]
        for j in range(next_state.shape[1]):
            next_state[to, j] = next_state[k, j]
        to += np.uint64(1)


@inner_kernel
def number_states(place, next_state, n, outcome_state, n_outcomes, states, n_states, table, mask):
    """Append `n` outcomes, and the states that are new; how many states there are then.

    Parameters
    ----------
    place, next_state : see `Buffers`
    outcome_state, states : see `Room`
    table, mask : see `Lookup`
    """
    first = index(n_outcomes)
    mask = np.uint64(mask)
    for k in range(index(n)):
        number = np.int64(-1)
        if place[k] >= 0:
            spot = np.uint64(place[k])
            number = np.int64(table[spot])
            while number >= 0 and mask > 0:
                same = True
                for j in range(states.shape[1]):
                    same &= states[number, j] == next_state[k, j]
                if same:
                    break
                spot = (spot + np.uint64(1)) & mask
                number = np.int64(table[spot])
            if number < 0:
                number = n_states
                table[spot] = number
                for j in range(states.shape[1]):
                    states[number, j] = next_state[k, j]
                n_states += 1
        outcome_state[first + k] = number
    return n_states


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
    looked_at,
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
    looked_at : int
        If an action of one of so many first states has equal outcomes that lead on, equal
        outcomes are merged from there on.

    Returns
    -------
    int
        DONE, PAUSED (after `chunk` states), BUFFERS_NEEDED, ROOM_NEEDED (at the end
        of the arrays), BOX_NEEDED, LIMIT_REACHED, or ODD_STATE: the state at
        ``counters[PLACE]`` breaks a rule, and the caller finds out which.
    """
    # taken out of the tuples once: loops would count their references
    state_end, labels, ends = buffers.state_end, buffers.label, buffers.end
    reward = buffers.reward
    weight, then = buffers.weight, buffers.then
    next_state, spot_of = buffers.next_state, buffers.place
    states, action_indptr, action_label = room.states, room.action_indptr, room.action_label
    action_lottery, outcome_indptr = room.action_lottery, room.outcome_indptr
    outcome_state, table = room.outcome_state, lookup.table
    indptr, reward_of = lotteries.indptr, lotteries.reward
    weight_of, then_of = lotteries.weight, lotteries.then
    real_weight = weight.view(np.float64)
    reward_bits = reward.view(np.int64)
    states_address = states.ctypes.data
    state_size = states.itemsize * states.shape[1]
    recent = np.zeros(RECENT, np.uint64)
    dense = lookup.mask == 0
    place = counters[PLACE]
    first_place = counters[FIRST]
    n_states = counters[STATES]
    n_actions = counters[ACTIONS]
    n_outcomes = counters[OUTCOMES]
    n_lotteries = counters[LOTTERIES]
    n_lottery_outcomes = counters[LOTTERY_OUTCOMES]
    stop = place + chunk
    one_by_one = False
    merging = counters[MERGING] == 1
    slots = np.zeros(4 * weight.shape[0] + 3, np.int64)
    ending = DONE
    while ending == DONE and place < n_states:
        if n_states > max_states or n_outcomes > max_outcomes:
            ending = LIMIT_REACHED
            break
        if place >= stop:
            ending = PAUSED
            break
        context[CONTEXT_STATE] = states_address + place * state_size
        context[CONTEXT_COUNT] = 1 if one_by_one else min(BATCH, min(n_states, stop) - place)
        expanded = expand(np.int64(context_address))
        if expanded <= 0:
            if expanded == RULES_FAILED and not one_by_one:
                one_by_one = True  # to know which state it is
                continue
            ending = BUFFERS_NEEDED if expanded == BUFFERS_FULL else ODD_STATE
            break
        found = state_end[expanded - 1]
        added = ends[found - 1]
        if (
            n_states + added > states.shape[0]
            or (not dense and 2 * (n_states + added) > table.shape[0])
            or n_actions + found > action_label.shape[0]
            or n_outcomes + added > outcome_state.shape[0]
            or 2 * (n_lotteries + found) > lotteries.table.shape[0]
            or n_lottery_outcomes + added > weight_of.shape[0]
        ):
            ending = ROOM_NEEDED
            break
        if context[CONTEXT_OUTSIDE] == 1:
            context[CONTEXT_OUTSIDE] = 0
            ending = BOX_NEEDED if widen_box(buffers, added, box) else ODD_STATE
            break
        real = context[CONTEXT_REAL_WEIGHTS] == 1
        if real:
            counters[REAL_WEIGHTS] = 1
        first_action, first_outcome = index(n_actions), index(n_outcomes)
        a = index(0)
        begin = np.uint64(0)
        merged = np.uint64(0)  # outcomes of these states that went into others
        for i in range(expanded):
            first = a
            attentive = merging or place < looked_at
            while a < index(state_end[i]):
                end = np.uint64(ends[a])
                label = labels[a]
                if label < 0 or label > 2147483647:
                    ending = ODD_STATE
                for b in range(first, a):
                    if labels[b] == label:
                        ending = ODD_STATE
                if attentive:
                    read = begin + merged
                    move_outcomes(weight, then, next_state, spot_of, read, end, begin)
                    end -= merged
                    if not merging:
                        left = merge_equal(
                            weight, then, next_state, spot_of, begin, end, real, slots, True
                        )
                        merging = left < end
                    if merging:
                        left = merge_equal(
                            weight, then, next_state, spot_of, begin, end, real, slots, False
                        )
                        merged += end - left
                        end = left
                        if left == 0:
                            ending = ODD_STATE
                            break
                reward[a] += 0.0  # one kind of zero
                # Calls take their time, so the lottery of the last action with such a label
                # is tried first.
                recently = np.uint64(label) & np.uint64(RECENT - 1)
                lottery = recent[recently]
                there = np.uint64(indptr[lottery])
                if np.uint64(indptr[lottery + np.uint64(1)]) - there == end - begin:
                    same = reward_of[lottery] == reward[a]
                    for k in range(end - begin):
                        if (
                            weight[begin + k] != weight_of[there + k]
                            or then[begin + k] != then_of[there + k]
                        ):
                            same = False
                            break
                else:
                    same = False
                if not same:
                    number, key = find_lottery(
                        buffers, begin, end, reward[a], reward_bits[a], lotteries
                    )
                    if number < 0:
                        if is_odd(
                            reward[a],
                            weight,
                            real_weight,
                            then,
                            begin,
                            end,
                            real,
                            allowed,
                            rewards_allowed,
                        ):
                            ending = ODD_STATE
                            break
                        lotteries.table[-1 - number] = n_lotteries
                        number = n_lotteries
                        lotteries.key[number] = key
                        reward_of[number] = reward[a]
                        for k in range(begin, end):
                            weight_of[n_lottery_outcomes] = weight[k]
                            then_of[n_lottery_outcomes] = then[k]
                            n_lottery_outcomes += 1
                        n_lotteries += 1
                        indptr[n_lotteries] = n_lottery_outcomes
                    lottery = np.uint64(number)
                    recent[recently] = lottery
                action_label[first_action + a] = label
                action_lottery[first_action + a] = lottery
                a += ONE
                outcome_indptr[first_action + a] = first_outcome + end
                begin = end
            if ending != DONE:
                break
            place += 1
            action_indptr[place - first_place] = first_action + a
        if ending != DONE:
            break
        added -= np.int64(merged)
        n_states = number_states(
            spot_of,
            next_state,
            added,
            outcome_state,
            n_outcomes,
            states,
            n_states,
            table,
            lookup.mask,
        )
        n_actions += found
        n_outcomes += added
    counters[PLACE] = place
    counters[MERGING] = merging
    counters[STATES] = n_states
    counters[ACTIONS] = n_actions
    counters[OUTCOMES] = n_outcomes
    counters[LOTTERIES] = n_lotteries
    counters[LOTTERY_OUTCOMES] = n_lottery_outcomes
    return ending
