"""Breadth-first exploration of a game whose rules are a function pointer.

The rules are one compiled function that expands several states at once. It reads them through a
call (`rollwise.kernels.calls`), and writes their actions and outcomes into buffers. For each next
state it also writes its place in the table of states, or its hash, and prefetches that place. The
number of fields is a constant in it, so it does that faster than this module.

This module checks the buffers, numbers new states by the table, and appends everything to the
arrays of the graph. Actions with the same probabilities and different next states share a lottery,
checked once. Because the rules are a pointer, the kernel is compiled once for all games.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.calls import BUFFERS_FULL, RULES_FAILED
from rollwise.kernels.jit import ONE, index, inner_kernel, kernel
from rollwise.kernels.lotteries import (
    find_lottery,
    has_odd_weights,
    is_odd,
    merge_equal,
    move_outcomes,
    write_lottery,
)
from rollwise.kernels.state_tables import number_states, room_in, widen_box

# How `explore` ends.
(
    DONE,
    PAUSED,
    BUFFERS_NEEDED,
    ROOM_NEEDED,
    BOX_NEEDED,
    ODD_STATE,
    LIMIT_REACHED,
    PROGRESS_FAILED,
) = range(8)

# The progress of exploration: a record kept between calls of `explore`.
COUNT_FIELDS = {
    "place": "the state to be expanded next",
    "first": "the state where the arrays of the graph begin",
    "states": "states found",
    "actions": "actions in the arrays",
    "outcomes": "outcomes in the arrays",
    "lotteries": "lotteries found",
    "lottery_outcomes": "outcomes of these together",
    "merging": "1 where equal outcomes are merged",
    "situations": "situations in the arrays",
    "throw_lists": "lists of throws found",
    "list_throws": "throws of these together",
    "asked": "states with a known progress, where a layer is explored",
}
COUNTS = np.dtype([(name, np.int64) for name in COUNT_FIELDS])

BATCH = 16  # states expanded at once
RECENT = 64  # actions with a remembered lottery, by label
MAX_LABEL = 2**31 - 1


class Buffers(NamedTuple):
    """Where the rules of some states are written.

    A situation is a state or, in a game with throws, a state after one of its throws.
    """

    throw_end: Any  # (BATCH,) int64: throws up to and with each state
    throw_weight: Any  # (most,) int64, or the bits of float64
    throw: Any  # (most,) int64: codes; (0,) in a game without throws
    real_throw_weight: Any  # `throw_weight` as float64
    situation_end: Any  # (most,) int64: actions up to and with each situation
    label: Any  # (most,) int64
    end: Any  # (most,) int64: outcomes up to and with each action
    reward: Any  # (most,) float64
    weight: Any  # (most,) int64, or the bits of float64
    then: Any  # (most,) int64
    next_state: Any  # (most, n_fields) int64
    place: Any  # (most,) int64: see `Lookup`, or a hash; -1 where no state is next
    reward_bits: Any  # the same memory as `reward`, read as int64
    real_weight: Any  # as `weight`, read as float64
    payoff: Any  # as `then`, read as float64
    recent: Any  # (RECENT,) uint64: scratch for the lotteries of the last actions, by label
    slots: Any  # (4 * most + 3,) int64: scratch for `merge_equal`


class GraphArrays(NamedTuple):
    """The arrays of a graph in the making, with room at the end."""

    states: Any  # (rows, n_fields) int32
    state_throws: Any  # int32: the list of throws of each state; (0,) without throws
    action_indptr: Any  # int64, by situations
    action_label: Any  # int32
    action_lottery: Any  # int32
    outcome_indptr: Any  # int64
    outcome_state: Any  # int32


class Within(NamedTuple):
    """The explored layer, if there is one: states outside it are found, and not expanded.

    The progress of a state is one number, or several parts. All states of a layer have the same.
    """

    progress: Any  # pointer to a compiled function int64(int64)
    calls: Any  # (1,) QUESTION: the argument of `progress`
    wanted: Any  # (n_parts,) int64: of the states of the layer; (0,): all states are explored
    reached: Any  # (n, n_parts) int64: the progress of the states asked so far


class Contract(NamedTuple):
    """The allowed features and the largest size of a game."""

    allowed: Any  # (6,) bool: the allowed `then` codes
    payoffs_allowed: Any  # bool: the bits of a double may be a `then` too
    least_payoff: Any  # float: the least size of such a payoff
    rewards_allowed: Any  # bool
    max_states: Any  # int
    max_thrown: Any  # int: states after a throw, with the states before it
    max_outcomes: Any  # int
    looked_at: Any  # int: number of first states in which equal outcomes are merged


class Room(NamedTuple):
    """How much fits into the arrays."""

    states: Any
    situations: Any
    actions: Any
    outcomes: Any
    lotteries: Any
    lottery_outcomes: Any


@inner_kernel
def inside_from(within, states, place, most, asked):
    """How many states from a place on are in the layer, one after the other, and are expanded.

    Parameters
    ----------
    within : Within
    states : see `GraphArrays`
    most : int
        No more are asked for.
    asked : int
        So many states have said their progress before.

    Returns
    -------
    n : int
    asked : int
        By now. -1: the progress of the state ``place + n`` fails.
    """
    call = within.calls[0]
    address = np.int64(within.calls.ctypes.data)
    progress, wanted, reached = within.progress, within.wanted, within.reached
    row = states.ctypes.data
    size = states.itemsize * states.shape[1]
    n = np.int64(0)
    while n < most:
        s = place + n
        # Each state is asked once, in the order of its number; the answers are kept.
        if s == asked:
            call.state = row + s * size
            for part in range(wanted.shape[0]):
                call.part = part
                if progress(address) < 0:
                    return n, np.int64(-1)
                reached[s, part] = call.answer
            asked += 1
        outside = False
        for part in range(wanted.shape[0]):
            outside |= reached[s, part] != wanted[part]
        if outside:
            break
        n += 1
    return n, asked


@inner_kernel
def is_too_small(room, count, more_situations, more_actions, more_outcomes):
    """Whether more actions and outcomes, to as many new states and lotteries, don't fit."""
    return (
        count.states + more_outcomes > room.states
        or count.situations + more_situations > room.situations
        or count.actions + more_actions > room.actions
        or count.outcomes + more_outcomes > room.outcomes
        or count.lotteries + more_actions > room.lotteries
        or count.lottery_outcomes + more_outcomes > room.lottery_outcomes
    )


@inner_kernel
def number_lists(buffers, n_states, real, lists, counts, state_throws):
    """Number the lists of throws of some states; returns the reason for a stop, or DONE.

    Parameters
    ----------
    real : bool
        The weights are the bits of floats.
    lists : LotteryTable
        The lists so far, with the codes of throws as their `then`.
    state_throws : see `GraphArrays`
    """
    count = counts[0]
    weight, throw, throw_end = buffers.throw_weight, buffers.throw, buffers.throw_end
    begin = np.uint64(0)
    for i in range(index(n_states)):
        end = np.uint64(throw_end[i])
        number, key = find_lottery(0.0, 0, weight, throw, begin, end, lists)
        if number < 0:
            full = count.list_throws + np.int64(end - begin) > lists.weight.shape[0]
            if full or 2 * count.throw_lists + 2 > lists.table.shape[0]:
                return ROOM_NEEDED
            if has_odd_weights(weight, buffers.real_throw_weight, begin, end, real):
                count.place += np.int64(i)
                return ODD_STATE
            place = -1 - number
            number = count.throw_lists
            count.throw_lists, count.list_throws = write_lottery(
                place, key, 0.0, weight, throw, begin, end, lists, number, count.list_throws
            )
        state_throws[count.place - count.first + np.int64(i)] = number
        begin = end
    return DONE


@kernel(never_interpreted=True)
def explore(
    expand,
    calls,
    within,
    buffers,
    graph,
    lotteries,
    throw_lists,
    lookup,
    box,
    counts,
    contract,
    stop,
):
    """Expand states until all are done, or the caller has to act.

    Parameters
    ----------
    expand : pointer to a compiled function int64(int64)
    calls : (1,) EXPAND
        The argument of `expand`.
    within : Within
    buffers : Buffers
        Written by the rules at the addresses in the call.
    graph : GraphArrays
    lotteries, throw_lists : LotteryTable
        A list of throws has the codes of throws as its `then`.
    lookup : Lookup
    box : (2, n_fields) int64
        Smallest and largest value of each field. Widened as necessary when
        the kernel ends with BOX_NEEDED.
    counts : (1,) COUNTS
        The progress; kept between calls.
    contract : Contract
    stop : int
        Pause at this state.

    Returns
    -------
    int
        DONE, PAUSED (at the state `stop`), BUFFERS_NEEDED, ROOM_NEEDED (at the end of the arrays),
        BOX_NEEDED, LIMIT_REACHED, ODD_STATE (the state at ``counts["place"]`` breaks a rule, to be
        found by the caller), or PROGRESS_FAILED, in the state at ``counts["asked"]``.
    """
    call, count = calls[0], counts[0]
    address = np.int64(calls.ctypes.data)
    # taken out of the tuples once: loops would count their references
    labels, ends, reward = buffers.label, buffers.end, buffers.reward
    situation_end, throw_end = buffers.situation_end, buffers.throw_end
    state_throws, throwing = graph.state_throws, buffers.throw.shape[0] > 0
    weight, then, next_state, spot = buffers.weight, buffers.then, buffers.next_state, buffers.place
    reward_bits, recent = buffers.reward_bits, buffers.recent
    states, action_indptr, action_label = graph.states, graph.action_indptr, graph.action_label
    action_lottery, outcome_indptr = graph.action_lottery, graph.outcome_indptr
    outcome_state, table, slots = graph.outcome_state, lookup.table, lookup.slots
    indptr, reward_of = lotteries.indptr, lotteries.reward
    weight_of, then_of = lotteries.weight, lotteries.then
    hashed = room_in(slots) if lookup.mask > 0 else states.shape[0]
    room = Room(
        min(states.shape[0], hashed),
        action_indptr.shape[0] - 1,
        action_label.shape[0],
        outcome_state.shape[0],
        lotteries.table.shape[0] // 2,
        weight_of.shape[0],
    )
    state_size = states.itemsize * states.shape[1]
    states_address = states.ctypes.data
    for i in range(RECENT):
        recent[i] = 0
    merging = count.merging == 1
    one_layer = within.wanted.shape[0] > 0
    most = BATCH
    # Breadth first: states before `place` are expanded, the others are the queue. A batch without
    # room is given up before its actions are counted; the next call expands it again.
    while count.place < count.states:
        if count.states > contract.max_states or count.outcomes > contract.max_outcomes:
            return LIMIT_REACHED
        if throwing and count.states + count.situations > contract.max_thrown:
            return LIMIT_REACHED
        if count.place >= stop:
            return PAUSED
        call.states = states_address + count.place * state_size
        call.count = min(most, min(count.states, stop) - count.place)
        if one_layer:
            inside, asked = inside_from(within, states, count.place, call.count, count.asked)
            if asked < 0:
                count.asked = count.place + inside
                return PROGRESS_FAILED
            count.asked = asked
            # The state lies outside the layer and stays without actions.
            if inside == 0:
                count.place += 1
                continue
            call.count = inside
        expanded = expand(address)
        if expanded == RULES_FAILED and most > 1:
            most = 1  # one state at a time, to find the failing one
            continue
        if expanded <= 0:
            return BUFFERS_NEEDED if expanded == BUFFERS_FULL else ODD_STATE
        situations = throw_end[expanded - 1] if throwing else np.int64(expanded)
        found = situation_end[situations - 1]
        added = ends[found - 1]
        if is_too_small(room, count, situations, found, added):
            return ROOM_NEEDED
        # A state outside the frame has no valid place; the caller makes a table for the new box.
        if call.outside == 1:
            call.outside = 0
            return BOX_NEEDED if widen_box(then, next_state, added, box) else ODD_STATE
        if throwing:
            ending = number_lists(
                buffers, expanded, call.real_throws == 1, throw_lists, counts, state_throws
            )
            if ending != DONE:
                return ending
        real = call.real_weights == 1
        first_action, first_outcome = index(count.actions), index(count.outcomes)
        first_situation = index(count.situations)
        a = index(0)
        begin = np.uint64(0)
        merged = np.uint64(0)  # outcomes of these states merged into others
        i = index(0)
        for t in range(index(situations)):
            first = a
            highest = np.int64(-1)
            attentive = merging or count.place < contract.looked_at
            while a < index(situation_end[t]):
                label = labels[a]
                odd = label < 0 or label > MAX_LABEL
                if label > highest:  # so it is a new one, as it mostly is
                    highest = label
                else:
                    for b in range(first, a):
                        odd |= labels[b] == label
                if odd:
                    return ODD_STATE
                end = np.uint64(ends[a])
                if attentive:
                    # The outcomes close the gap that merged outcomes left before them. In the first
                    # states equal outcomes are only looked for; the first ones found turn merging
                    # on.
                    move_outcomes(weight, then, next_state, spot, begin + merged, end, begin)
                    end -= merged
                    left = merge_equal(buffers, begin, end, real, not merging)
                    if left < end and not merging:
                        merging = True
                        count.merging = 1
                        left = merge_equal(buffers, begin, end, real, not merging)
                    if left == 0:
                        return ODD_STATE
                    merged += end - left
                    end = left
                points = reward[a] + 0.0  # one kind of zero
                # Calls take their time, so the lottery of the last action with such a label
                # is tried first.
                recently = np.uint64(label) & np.uint64(RECENT - 1)
                # Before lottery 0 is entered it has no outcomes, so no action equals it.
                lottery = recent[recently]
                there = np.uint64(indptr[lottery])
                same = (
                    np.uint64(indptr[lottery + np.uint64(1)]) - there == end - begin
                    and reward_of[lottery] == points
                )
                if same:
                    for k in range(end - begin):
                        if (
                            weight[begin + k] != weight_of[there + k]
                            or then[begin + k] != then_of[there + k]
                        ):
                            same = False
                            break
                if not same:
                    reward[a] = points
                    number, key = find_lottery(
                        points, reward_bits[a], weight, then, begin, end, lotteries
                    )
                    if number < 0:
                        if is_odd(points, buffers, begin, end, real, contract):
                            return ODD_STATE
                        place, number = -1 - number, count.lotteries
                        count.lotteries, count.lottery_outcomes = write_lottery(
                            place, key, points, weight, then, begin, end, lotteries, number,
                            count.lottery_outcomes,
                        )  # fmt: skip
                    lottery = np.uint64(number)
                    recent[recently] = lottery
                action_label[first_action + a] = label
                action_lottery[first_action + a] = lottery
                a += ONE
                outcome_indptr[first_action + a] = first_outcome + end
                begin = end
            action_indptr[first_situation + t + ONE] = first_action + a
            # The situation is the last one of its state.
            if not throwing or t + ONE == index(throw_end[i]):
                count.place += 1
                i += ONE
        added -= np.int64(merged)
        count.states = number_states(
            spot,
            next_state,
            added,
            outcome_state,
            count.outcomes,
            states,
            count.states,
            table,
            slots,
            lookup.mask,
            lookup.exact,
        )
        count.situations += situations
        count.actions += found
        count.outcomes += added
    return DONE
