"""Solving order: the strongly connected components of a layer, the first to be solved last.

A layer is swept from its last position to its first. In solving order a sweep meets the targets of
a position before the position, wherever cycles allow. (Tarjan, "Depth-first search and linear graph
algorithms", SIAM Journal on Computing 1, 1972.) A whole graph becomes a layer in this order too;
the tables of a layer are made from its lotteries.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import TooManyStates
from rollwise.graph import lotteries as graphs
from rollwise.graph.lotteries import Lotteries
from rollwise.graph.state_graph import StateGraph
from rollwise.graph.view import sign_of
from rollwise.kernels.chances import means_of
from rollwise.kernels.indices import prefetch
from rollwise.kernels.jit import ONE, index, kernel
from rollwise.layers.layer import (
    MOST_FEEDBACK,
    NO_POOL,
    Block,
    Components,
    Layer,
    Pool,
    Tables,
    block_of,
)

MOST_OUTCOMES = 2**32  # of a layer in one block: positions count them in 32 bits
OVER = index(2**31)  # in a graph, the least target of an outcome to an ending
NEAR, FAR = index(8), index(16)  # prefetch distances, in positions
NO_ENDING = np.empty(0, np.uint32)


def in_solving_order(layer: Layer) -> Layer:
    """The same layer in solving order, as one block, with its components."""
    layer = joined(layer)
    (_, block) = layer.blocks[0]
    found = graphs.Components.of(block.first[:, 2], block.target.view(np.int32))
    return Ordering(layer, found).run()


class Ordering:
    """Puts a layer in solving order, component by component.

    Parameters
    ----------
    layer : Layer
        Of one block.
    found : rollwise.graph.lotteries.Components or ComponentSearch
        Its components, or the search that finds them when they are asked for.
    ending : (n_lottery_outcomes,) uint32, optional
        The target of each outcome that ends the game, if the block has targets from 2^31 on.
    in_place : bool
        Whether the layer stands in solving order already. Its block is changed then.

    Attributes
    ----------
    layer : Layer
        In solving order, from the first position of the last finished component.
    find : callable
        Finds components until they hold a number of positions, and returns their number.

    Raises
    ------
    TooManyStates
        There are too many outcomes for 32 bits.
    """

    def __init__(
        self,
        layer: Layer,
        found: graphs.Components | graphs.ComponentSearch,
        ending: NDArray[np.uint32] = NO_ENDING,
        *,
        in_place: bool = False,
    ) -> None:
        (_, block), n = layer.blocks[0], layer.n
        if len(block.target) >= MOST_OUTCOMES:
            raise TooManyStates(f"{len(block.target):,} outcomes are too many for one layer")
        # of a search: as long as if every position were a component of its own
        n_feedback = np.zeros(len(found.indptr) - 1, np.uint8)
        parts = Components(found.indptr, n_feedback, np.empty(n, np.uint32))
        moved = block if in_place else Block(*(np.empty_like(part) for part in block))
        moved.first[n] = block.first[n]
        self.layer = replace(layer, blocks=[(0, moved)], parts=parts, position=found.position)
        self._known = found.order, found.position, block, layer.tables.indptr, ending, moved, parts
        self._done, self.find = 0, found.find

    def advance(self, stop: int) -> None:
        """Process the components up to `stop`, which must be found (`find`)."""
        move(self._done, stop, *self._known)
        self._done = stop

    def run(self) -> Layer:
        """The whole layer in solving order."""
        parts, stop = self.layer.parts, self.find(self.layer.n)
        assert parts is not None
        self.advance(stop)
        ends, n_feedback = parts.ends[: stop + 1].copy(), parts.n_feedback[:stop].copy()
        return replace(self.layer, parts=parts._replace(ends=ends, n_feedback=n_feedback))


@kernel
def move(begin, stop, order, position, block, indptr, ending, moved, parts):
    """Write components in solving order, and find their feedback sets.

    Parameters
    ----------
    begin, stop : int
        From the component `begin` to below `stop`.
    order, position : (n,) int32
        The position at each distance from the last place, and its inverse.
    indptr : (n_lotteries + 1,) uint32
    ending : (n_lottery_outcomes,) uint32
        See `Ordering`.
    moved : Block, filled
        Backwards: the end of `first` and all earlier components are filled. It may be `block`, if
        that stands in this order.
    parts : Components, filled
    """
    n, most = index(order.shape[0]), index(MOST_FEEDBACK)
    n_found = index(parts.ends[stop])  # `order` is not filled farther
    from_first, from_throws, from_count, from_lottery, from_target = block
    to_first, to_throws, to_count, to_lottery, to_target = moved
    ends, n_feedback_of = parts.ends, parts.n_feedback
    feedback, flat = parts.feedback, from_first.reshape(-1)
    for component in range(begin, stop):
        # The places of the component. They are filled from the last one down, as `order` goes on.
        low, high = n - index(ends[component + 1]), n - index(ends[component])
        n_feedback, i = index(0), high
        while i > low:
            j = n - i
            i -= ONE
            if j + FAR < n_found:  # prefetch soon needed data, with the help of earlier prefetches
                prefetch(flat, index(3) * index(order[j + FAR]))
                p = index(order[j + NEAR])
                prefetch(from_throws, p)
                prefetch(from_count, from_first[p, 0])
                prefetch(from_lottery, index(from_first[p, 1]))
                prefetch(from_target, index(from_first[p, 2]))
            p = index(order[j])
            # A position ends where the one above it begins.
            for column in range(3):
                size = from_first[p + ONE, column] - from_first[p, column]
                to_first[i, column] = to_first[i + ONE, column] - size
            s, a, o = index(to_first[i, 0]), index(to_first[i, 1]), index(to_first[i, 2])
            to_throws[i] = from_throws[p]
            for k in range(index(from_first[p, 0]), index(from_first[p + ONE, 0])):
                to_count[s] = from_count[k]
                s += ONE
            k = index(from_first[p, 2])
            for b in range(index(from_first[p, 1]), index(from_first[p + ONE, 1])):
                number = index(from_lottery[b])
                to_lottery[a] = number
                a += ONE
                for e in range(index(indptr[number]), index(indptr[number + ONE])):
                    t = index(from_target[k])
                    k += ONE
                    # The place of a position; of a graph's ending; a place of the border stays as
                    # it is.
                    if t < n:
                        t = n - ONE - index(position[t])
                    elif t >= OVER:
                        t = index(ending[e])
                    to_target[o] = t
                    o += ONE
                    # A sweep goes down: it reads this place at i, and writes it later.
                    if low <= t and t <= i and n_feedback <= most:
                        known = index(0)
                        while known < n_feedback and feedback[low + known] != t:
                            known += ONE
                        if known == n_feedback:
                            if known < most:
                                feedback[low + known] = t
                            n_feedback += ONE
        n_feedback_of[component] = n_feedback


def joined(layer: Layer) -> Layer:
    """The same layer in one block."""
    if len(layer.blocks) == 1:
        return layer
    found, blocks = [], [block for _, block in layer.blocks]
    begins = np.zeros(3, np.uint32)
    for block in blocks:  # each block counts its situations, actions and outcomes from 0
        found.append(block.first[:-1] + begins)
        begins = begins + block.first[-1]
    first = np.concatenate([*found, begins[None]])
    parts = (np.concatenate(part) for part in list(zip(*blocks, strict=True))[1:])
    throws, count, lottery, target = parts
    return replace(layer, blocks=[(0, block_of(first, throws, count, lottery, target))])


def has_no_cycle(layer: Layer) -> bool:
    """Whether a sweep meets all targets of a position before the position."""
    return all(leads_on(place, layer.n, block) for place, block in layer.blocks)


@kernel
def leads_on(place, n, block):
    """Whether no position of a block leads to itself or to a position at a lower place.

    Parameters
    ----------
    place : int
        The place of the first position of the block.
    n : int
        Positions of the layer.
    """
    first, target = block.first, block.target
    for i in range(index(block.throws.shape[0])):
        for o in range(index(first[i, 2]), index(first[i + ONE, 2])):
            to = index(target[o])
            if to < index(n) and to <= index(place) + i:
                return False
    return True


Floats = NDArray[np.float64]


def layer_of_graph(graph: StateGraph) -> Layer:
    """A graph as a layer in solving order, with its states as positions.

    A throw is an action of its own.
    """
    return ordering_of(graph).run()


def ordering_of(graph: StateGraph, search: graphs.ComponentSearch | None = None) -> Ordering:
    """A graph as a layer before it is put in solving order.

    Parameters
    ----------
    search : ComponentSearch, optional
        Finds the components of the graph piece by piece (`Ordering.find`).
    """
    sign = float(sign_of(graph.objective))
    n, inside = graph.n_states, graph.n_states + graph.n_border
    endings, ending = endings_of(graph.lotteries, sign, inside)
    tables = tables_of(graph.lotteries, sign)
    action = graph.action_indptr
    # A state is a position with one throw, and so one situation.
    first = np.empty((n + 1, 3), np.uint32)
    first[:, 0], first[:, 1] = np.arange(n + 1), action
    first[:, 2] = graph.outcome_indptr[action]
    found = search or graph.components
    lists, count, target = np.zeros(n, np.uint8), np.diff(first[:, 1]), graph.outcome_state
    block = block_of(first, lists, count, graph.action_lottery, target.view(np.uint32))
    layer = Layer([(0, block)], tables, n, graph.n_border, endings)
    return Ordering(layer, found, ending.astype(np.uint32))


def endings_of(lotteries: Lotteries, sign: float, first: int) -> tuple[Floats, NDArray[np.int64]]:
    """The payoffs of the endings, and the place of each outcome that ends play.

    Parameters
    ----------
    sign : float
        The sign of the objective.
    first : int
        The place of the first ending.

    Returns
    -------
    endings : (n_endings,) float64
    place : (n_lottery_outcomes,) int64
    """
    payoffs = sign * lotteries.payoff
    endings, ending = np.unique(payoffs[lotteries.over], return_inverse=True)
    place = np.zeros(len(payoffs), np.int64)
    place[lotteries.over] = first + ending.reshape(-1)
    return endings, place


def tables_of(
    lotteries: Lotteries,
    sign: float,
    throws: tuple[NDArray[np.int64], NDArray[Any]] | None = None,
    pool: Pool = NO_POOL,
) -> Tables:
    """The lists of throws and the lotteries of a layer.

    Parameters
    ----------
    sign : float
        The sign of the objective, for rewards.
    throws : (indptr, weight), optional
        The lists of throws.
    """
    weight, total, error = means_of(lotteries)
    signs = np.where(lotteries.passes, -1.0, 1.0)
    lists: tuple[Any, Any, Any, Any, Any]
    lists = (np.array([0, 1], np.uint32), np.ones(1), np.ones(1), np.ones(1), np.zeros(1))
    if throws is not None:
        indptr, ways = throws
        no = np.zeros(len(ways), np.bool_)
        nothing = np.zeros(len(indptr) - 1), np.zeros(len(ways))
        thrown, totals, errors = means_of(Lotteries(indptr, nothing[0], ways, no, no, nothing[1]))
        chance = thrown / np.repeat(totals, np.diff(indptr))
        lists = indptr.astype(np.uint32), chance, thrown, totals, errors
    return Tables(
        *lists,
        lotteries.indptr.astype(np.uint32),
        signs * weight / np.repeat(total, np.diff(lotteries.indptr)),
        signs * weight,
        total,
        error,
        sign * lotteries.reward,
        pool,
    )
