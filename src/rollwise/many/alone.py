"""The game of one seat among seats with known policies, as a layer for one player.

A position is a state of the graph with a seat to move: position ``j * n_states + s`` in reading
order is state s with seat j to move. The payoffs are those of seat 0. This seat follows the policy
too, or is free. A mixture becomes a throw that draws one of its actions, so its probabilities are
those of the policy to the last bit.

Solving order needs no search. The states of a component stand in the order in which a search
finished them, so each one but the last follows from a later one. If every way from one state of a
component to another moves the die on by the same number of seats, counted round, its positions form
a component for each seat. Otherwise they count as one. The proof does not trust this order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import TooManyStates
from rollwise.graph import StateGraph
from rollwise.graph.choices import fold_actions
from rollwise.graph.lotteries import Components, pointers
from rollwise.kernels.jit import ONE, index, kernel
from rollwise.layers import Layer, Ordering, block_of, endings_of, tables_of
from rollwise.many.seats import of_movers

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
MOST_POSITIONS = 2**31  # their numbers have 32 bits
UNKNOWN = 255  # number of seats


def places_of(graph: StateGraph) -> Components:
    """The positions of all states and seats in solving order, for any policies.

    Raises
    ------
    TooManyStates
        There are too many positions for 32 bits.
    """
    n, parts, size = graph.players, graph.components, graph.n_states
    if n * size >= MOST_POSITIONS:
        raise TooManyStates(f"{n} seats with {size:,} states are too many for one layer")
    after, apart = np.full(size, UNKNOWN, np.uint8), np.ones(len(parts), np.bool_)
    find_turns(
        parts.order,
        parts.indptr,
        parts.position,
        graph.action_indptr,
        graph.outcome_indptr,
        graph.outcome_state,
        graph.action_lottery,
        graph.lotteries.indptr,
        graph.lotteries.passes,
        n,
        after,
        apart,
    )
    sizes = np.diff(parts.indptr)
    begin = np.repeat(parts.indptr[:-1], sizes)
    along = np.arange(size) - begin
    position, order = np.empty((n, size), np.int32), np.empty(n * size, np.int32)
    is_apart, m = np.repeat(apart, sizes), np.repeat(sizes, sizes)
    for seat in range(n):
        turn = (seat - after[parts.order].astype(np.int64)) % n
        place = n * begin + np.where(is_apart, turn * m + along, along * n + seat)
        position[seat, parts.order] = place
        order[place] = parts.order + seat * size
    ends = pointers(np.repeat(np.where(apart, sizes, n * sizes), np.where(apart, n, 1)))
    return Components(order, ends, position.reshape(-1))


def by_seat(places: Components, numbers: Floats, players: int) -> Floats:
    """Numbers of positions by place, as those of each seat from the mover on: (n_states, players).

    Seat 0 is the seat k places after the mover where the mover is the seat n - k.
    """
    position, backwards = places.position.reshape(players, -1), numbers[::-1].copy()
    found = np.empty((position.shape[1], players))
    for k in range(players):
        found[:, k] = backwards.take(position[-k % players], mode="clip")
    return found


def by_place(places: Components, numbers: Floats) -> Floats:
    """The inverse of `by_seat`: (n_positions,) float64."""
    n_states, players = numbers.shape
    position, backwards = places.position.reshape(players, -1), np.empty(n_states * players)
    for k in range(players):
        backwards[position[-k % players]] = numbers[:, k]
    return backwards[::-1].copy()


@kernel
def find_turns(
    order,
    ends,
    position,
    action_indptr,
    outcome_indptr,
    outcome_state,
    action_lottery,
    lottery_indptr,
    passes,
    n,
    after,
    apart,
):
    """Count the seats by which the die moves on from the last state of a component to each state.

    Parameters
    ----------
    order, ends, position : of `Components`
    action_indptr, ..., action_lottery : of a StateGraph
    lottery_indptr, passes : of its Lotteries
    n : int
        Number of seats.
    after : (n_states,) uint8, all UNKNOWN, filled
        The seats, counted round.
    apart : (n_components,) bool, all true, changed
        Whether all ways to a state agree.
    """
    for c in range(apart.shape[0]):
        begin, end = ends[c], ends[c + 1]
        after[order[end - 1]] = 0
        for back in range(end - begin):
            s = index(order[end - 1 - back])
            if after[s] == UNKNOWN:
                after[s], apart[c] = 0, False
            for a in range(index(action_indptr[s]), index(action_indptr[s + ONE])):
                e = index(lottery_indptr[action_lottery[a]])
                for o in range(index(outcome_indptr[a]), index(outcome_indptr[a + ONE])):
                    t = outcome_state[o]
                    if t >= 0 and begin <= position[t] < end:
                        turn = (np.int64(after[s]) + np.int64(passes[e])) % n
                        if after[t] == UNKNOWN:
                            after[t] = turn
                        elif after[t] != turn:
                            apart[c] = False
                    e += ONE


def layer_of_seat(
    graph: StateGraph, places: Components, policy: Floats, *, is_free: bool, choices: Mask | None
) -> Layer:
    """The game of seat 0 where all others have a policy, in solving order.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    places : Components
        From `places_of`.
    policy : (n_actions,) float64
        Probability of each action.
    is_free : bool
        Whether seat 0 may take any action; otherwise it has the policy too.
    choices : (n_actions,) bool, optional
        Actions of probability 1 among which seat 0 chooses, whoever is to move.
    """
    graph, n = graph.flat, graph.players
    lotteries, taken = of_movers(graph, 0), policy > 0.0
    several = fold_actions(graph, np.add, taken.astype(np.int64))
    mixes = several > 1
    if choices is not None:
        mixes &= ~fold_actions(graph, np.logical_or, choices)
    lists = np.zeros(graph.n_states, np.uint32)
    lists[mixes] = np.arange(1, np.count_nonzero(mixes) + 1)
    drawn = policy[taken & mixes[graph.action_state]]
    throws = None
    if mixes.any():
        throws = pointers([1, *several[mixes].tolist()]), np.append(1.0, drawn)
    follow, n_positions = n - is_free, n * graph.n_states  # seats with the policy
    sizes = np.diff(graph.outcome_indptr)
    n_actions = follow * np.count_nonzero(taken) + is_free * graph.n_actions
    n_outcomes = follow * int(sizes[taken].sum()) + is_free * graph.n_outcomes
    n_situations = n_positions + follow * (len(drawn) - np.count_nonzero(mixes))
    first, thrown = np.empty((n_positions + 1, 3), np.uint32), np.empty(n_positions, np.uint32)
    rest = [np.empty(size, np.uint32) for size in (n_situations, n_actions, n_outcomes)]
    write_positions(
        places.order,
        places.position,
        n,
        is_free,
        policy,
        lists,
        graph.action_indptr,
        graph.action_lottery,
        len(graph.lotteries.reward),
        graph.outcome_indptr,
        graph.outcome_state,
        graph.lotteries.indptr,
        graph.lotteries.passes,
        first,
        thrown,
        *rest,
    )
    endings, ending = endings_of(lotteries, 1.0, n_positions)
    block = block_of(first, thrown, *rest)
    layer = Layer([(0, block)], tables_of(lotteries, 1.0, throws), n_positions, 0, endings)
    last_first = np.arange(n_positions - 1, -1, -1, dtype=np.int32)
    ordered = Components(last_first, places.indptr, last_first)
    ordering = Ordering(layer, ordered, ending.astype(np.uint32), in_place=True)
    return replace(ordering.run(), position=places.position)


@kernel
def write_positions(
    order,
    position,
    n,
    is_free,
    policy,
    lists,
    action_indptr,
    action_lottery,
    stride,
    outcome_indptr,
    outcome_state,
    lottery_indptr,
    passes,
    first,
    throws,
    count,
    lottery,
    target,
):
    """Write the positions of a seat's game in solving order.

    Parameters
    ----------
    order, position : of `Components`
        Of the positions, by `places_of`.
    n : int
        Number of seats.
    is_free, policy : as in `layer_of_seat`
    lists : (n_states,) uint32
        The list of throws that draws the action of a state; 0 where its mover doesn't mix.
    action_indptr, ..., outcome_state : of a StateGraph
    stride : int
        Number of the graph's lotteries: seat j has those from ``j * stride`` on.
    lottery_indptr, passes : of its Lotteries
    first, throws, count, lottery, target : of a Block, filled
        The end of the game stays -1.
    """
    last, size = order.shape[0] - 1, lists.shape[0]
    k, b, e = index(0), index(0), index(0)  # situations, actions and outcomes so far
    for place in range(order.shape[0]):
        p = np.int64(order[last - place])
        seat, s = p // size, index(p % size)
        chooses, begin = is_free and seat == 0, b
        draws = not chooses and lists[s] > 0
        first[place, 0], first[place, 1], first[place, 2] = k, b, e
        throws[place] = lists[s] if draws else 0
        for a in range(index(action_indptr[s]), index(action_indptr[s + ONE])):
            if not (chooses or policy[a] > 0.0):
                continue
            lottery[b] = action_lottery[a] + stride * seat
            b += ONE
            if draws:  # a throw for each action
                count[k] = 1
                k += ONE
            i = index(lottery_indptr[action_lottery[a]])
            for o in range(index(outcome_indptr[a]), index(outcome_indptr[a + ONE])):
                t, mover = np.int64(outcome_state[o]), seat + np.int64(passes[i])
                if t >= 0:
                    t = last - position[t + size * (mover if mover < n else mover - n)]
                target[e] = t
                e += ONE
                i += ONE
        if not draws:
            count[k] = b - begin
            k += ONE
    for column, end in enumerate((k, b, e)):
        first[last + 1, column] = end
