"""The game of one seat among seats with known policies, as layers for one player.

A position is a state of the graph with a seat to move: position ``j * n_states + s`` in reading
order is state s with seat j to move. The payoffs are those of seat 0. This seat follows the policy
too, or is free. A mixture becomes a throw that draws one of its actions, so its probabilities are
those of the policy to the last bit.

Solving order needs no search: it is that of the states, with the positions of a state side by side.
State s with seat j to move has the number ``n * k + j``, where k is the number of the state in
solving order. The proof needs one fact about this order: no position leads to a later component.

The game of a seat has as many positions as there are states for each seat. It is cut into layers of
some components each, so that the layers need little memory. The border of a layer has positions of
earlier layers.
"""

from __future__ import annotations

from collections.abc import Iterator

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
NOWHERE = -1
PIECE = 1_000_000  # positions of a layer


def by_seat(graph: StateGraph, numbers: Floats) -> Floats:
    """Numbers in solving order, as those of each seat from the mover on: (n_states, players).

    Seat 0 is the seat k places after the mover where the mover is the seat n - k.
    """
    n = graph.players
    return numbers.reshape(-1, n)[graph.components.position][:, -np.arange(n) % n]


def in_order(graph: StateGraph, numbers: Floats) -> Floats:
    """The inverse of `by_seat`: (n_positions,) float64."""
    n = graph.players
    return numbers[graph.components.order][:, -np.arange(n) % n].reshape(-1)


class SeatGame:
    """The game of seat 0 where all others have a policy.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    policy : (n_actions,) float64
        Probability of each action.
    is_free : bool
        Whether seat 0 may take any action; otherwise it has the policy too.
    choices : (n_actions,) bool, optional
        Actions of probability 1 among which seat 0 chooses, whoever is to move.

    Attributes
    ----------
    payoffs : (n_endings,) float64
        Of the endings of every layer.

    Raises
    ------
    TooManyStates
        There are too many positions for 32 bits.
    """

    def __init__(
        self,
        graph: StateGraph,
        policy: Floats,
        *,
        is_free: bool = False,
        choices: Mask | None = None,
    ) -> None:
        self._graph, self._policy, self._is_free = graph, policy, is_free
        if self.n_positions >= MOST_POSITIONS:
            size = f"{graph.players} seats with {graph.n_states:,} states"
            raise TooManyStates(f"{size} are too many for one layer")
        lotteries, taken = of_movers(graph, 0), policy > 0.0
        several = fold_actions(graph, np.add, taken.astype(np.int64))
        mixes = several > 1
        if choices is not None:
            mixes &= ~fold_actions(graph, np.logical_or, choices)
        self._lists = np.zeros(graph.n_states, np.uint32)
        self._lists[mixes] = np.arange(1, np.count_nonzero(mixes) + 1)
        throws = None
        if mixes.any():
            drawn = policy[taken & mixes[graph.action_state]]
            throws = pointers([1, *several[mixes].tolist()]), np.append(1.0, drawn)
        self._tables = tables_of(lotteries, 1.0, throws)
        self.payoffs, self._ending = endings_of(lotteries, 1.0, 0)
        # numbers of situations, actions and outcomes of each state: of a seat with the policy, and
        # of a free one
        sizes, one = np.diff(graph.outcome_indptr), np.ones_like(several)
        ahead, taken_ahead = (fold_actions(graph, np.add, part) for part in (sizes, sizes * taken))
        follow = np.where(mixes, several, one), several, taken_ahead
        self._sizes = np.array([follow, (one, np.diff(graph.action_indptr), ahead)], np.uint32)
        self._slot = np.full(self.n_positions, NOWHERE, np.int32)

    @property
    def n_positions(self) -> int:
        return self._graph.players * self._graph.n_states

    def pieces(self) -> Iterator[slice]:
        """The layers, as spans of positions in solving order."""
        ends, begin = self._graph.players * self._graph.components.indptr, 0
        while begin < ends[-1]:
            end = int(ends[min(int(np.searchsorted(ends, begin + PIECE)), len(ends) - 1)])
            yield slice(begin, end)
            begin = end

    def layer(self, piece: slice) -> tuple[Layer, NDArray[np.int32]]:
        """A layer, and its border: positions by their number in solving order."""
        graph, n = self._graph, piece.stop - piece.start
        found, seats = graph.components, np.arange(graph.players, dtype=np.int32)
        states = found.order[piece.start // len(seats) : piece.stop // len(seats)]
        order = (states[:, None] + graph.n_states * seats).reshape(-1)
        chooses = self._is_free & (order < graph.n_states)
        sizes = self._sizes[chooses.astype(np.intp), :, order % graph.n_states]
        totals = sizes.sum(axis=0, dtype=np.int64).tolist()
        first, thrown = np.empty((n + 1, 3), np.uint32), np.empty(n, np.uint32)
        rest = [np.empty(size, np.uint32) for size in totals]
        border = np.empty(min(totals[-1], piece.start), np.int32)
        n_border = write_positions(
            piece.start,
            order,
            found.position,
            graph.players,
            self._is_free,
            self._policy,
            self._lists,
            graph.action_indptr,
            graph.action_lottery,
            len(graph.lotteries.reward),
            graph.outcome_indptr,
            graph.outcome_state,
            graph.lotteries.indptr,
            graph.lotteries.passes,
            self._slot,
            border,
            first,
            thrown,
            *rest,
        )
        border = border[:n_border]
        self._slot[border] = NOWHERE
        block = block_of(first, thrown, *rest)
        layer = Layer([(0, block)], self._tables, n, n_border, self.payoffs)
        ends = len(seats) * found.indptr
        low, high = np.searchsorted(ends, (piece.start, piece.stop))
        last_first = np.arange(n - 1, -1, -1, dtype=np.int32)
        parts = Components(last_first, ends[low : high + 1] - piece.start, last_first)
        ending = (self._ending + n + n_border).astype(np.uint32)
        return Ordering(layer, parts, ending, in_place=True).run(), border


@kernel
def write_positions(
    begin,
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
    slot,
    border,
    first,
    throws,
    count,
    lottery,
    target,
):
    """Write the positions of a layer of a seat's game, the last in solving order first.

    Parameters
    ----------
    begin : int
        Number of earlier positions, those of other layers.
    order : (n,) int32
        The positions of the layer, in solving order.
    position : (n_states,) int32
        The number of each state in solving order.
    n : int
        Number of seats.
    is_free, policy : as in `SeatGame`
    lists : (n_states,) uint32
        The list of throws that draws the action of a state; 0 where its mover doesn't mix.
    action_indptr, ..., outcome_state : of a StateGraph
    stride : int
        Number of the graph's lotteries: seat j has those from ``j * stride`` on.
    lottery_indptr, passes : of its Lotteries
    slot : (n_positions,) int32, all NOWHERE, changed
        The place of each position on the border, counted from the first of them.
    border : int32, filled
        The inverse.
    first, throws, count, lottery, target : of a Block, filled
        The end of the game stays -1.

    Returns
    -------
    int
        Number of positions on the border.
    """
    n_here, size, n_border = order.shape[0], lists.shape[0], 0
    k, b, e = index(0), index(0), index(0)  # situations, actions and outcomes so far
    for place in range(n_here):
        p = np.int64(order[n_here - 1 - place])
        seat, s = p // size, index(p % size)
        chooses, first_action = is_free and seat == 0, b
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
                    t = n * np.int64(position[t]) + (mover if mover < n else mover - n)
                    if t >= begin:
                        t = begin + n_here - 1 - t
                    else:
                        if slot[t] == NOWHERE:
                            slot[t] = n_border
                            border[n_border] = t
                            n_border += 1
                        t = n_here + np.int64(slot[t])
                target[e] = t
                e += ONE
                i += ONE
        if not draws:
            count[k] = b - first_action
            k += ONE
    for column, end in enumerate((k, b, e)):
        first[n_here, column] = end
    return n_border
