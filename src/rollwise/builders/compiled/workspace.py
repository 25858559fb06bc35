"""The arrays that a compiled builder works in, and how they grow."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.explore import BATCH, RECENT, Buffers, GraphArrays
from rollwise.kernels.lotteries import LotteryTable, enter_lotteries


def roomier(array: np.ndarray, rows: int, used: int) -> np.ndarray:
    """The array with room for `rows`; memory past the used part is not touched."""
    if len(array) >= rows:
        return array
    grown = np.empty((rows, *array.shape[1:]), array.dtype)
    grown[:used] = array[:used]
    return grown


def new_buffers(call: np.ndarray, most: int, n_fields: int, throws: bool) -> Buffers:
    """Scratch for the outcomes of states to be expanded, entered in the call."""
    label, end, weight, then, place, situation_end = np.zeros((6, most), np.int64)
    throw_weight, throw = np.zeros((2, most if throws else 0), np.int64)
    reward = np.zeros(most)
    buffers = Buffers(
        throw_end=np.zeros(BATCH, np.int64),
        throw_weight=throw_weight,
        throw=throw,
        real_throw_weight=throw_weight.view(np.float64),
        situation_end=situation_end,
        label=label,
        end=end,
        reward=reward,
        weight=weight,
        then=then,
        next_state=np.zeros((most, n_fields), np.int64),
        place=place,
        reward_bits=reward.view(np.int64),
        real_weight=weight.view(np.float64),
        payoff=then.view(np.float64),
        recent=np.zeros(RECENT, np.uint64),
        slots=np.zeros(4 * most + 3, np.int64),
    )
    call["most_actions"] = call["most_outcomes"] = most
    call["throw_ends"] = buffers.throw_end.ctypes.data
    call["throw_weights"] = throw_weight.ctypes.data
    call["throws"] = throw.ctypes.data
    call["situation_ends"] = situation_end.ctypes.data
    call["labels"] = label.ctypes.data
    call["rewards"] = reward.ctypes.data
    call["action_ends"] = end.ctypes.data
    call["weights"] = weight.ctypes.data
    call["thens"] = then.ctypes.data
    call["next_states"] = buffers.next_state.ctypes.data
    call["places"] = place.ctypes.data
    return buffers


def new_graph_arrays(rows: int, n_fields: int, throws: bool) -> GraphArrays:
    """Room for a number of states. What is never touched takes no memory."""
    graph = GraphArrays(
        states=np.empty((rows, n_fields), np.int32),
        state_throws=np.empty(rows if throws else 0, np.int32),
        action_indptr=np.empty(rows + 1, np.int64),
        action_label=np.empty(2 * rows, np.int32),
        action_lottery=np.empty(2 * rows, np.int32),
        outcome_indptr=np.empty(2 * rows + 1, np.int64),
        outcome_state=np.empty(8 * rows, np.int32),
    )
    graph.action_indptr[0] = graph.outcome_indptr[0] = 0
    return graph


def grown_graph_arrays(graph: GraphArrays, counts: np.void, more: int) -> GraphArrays:
    """Room for `more` states, actions and outcomes: an array that is half full gets far larger.

    Each growth touches fresh memory for all that is copied; memory that is never touched is free.
    """
    names = ("states", "situations", "actions", "outcomes")
    states, situations, actions, outcomes = (int(counts[name]) for name in names)
    expanded = int(counts["place"] - counts["first"])
    rows, action_rows, outcome_rows = len(graph.states), len(graph.action_label), 0
    situation_rows = len(graph.action_indptr) - 1
    if states + more > rows:
        rows = 4 * states + more
    if situations + more > situation_rows:
        situation_rows = 4 * situations + more
    if 2 * (actions + more) > action_rows:
        action_rows = 8 * (actions + more)
    if 2 * (outcomes + more) > len(graph.outcome_state):
        outcome_rows = 8 * (outcomes + more)
    return GraphArrays(
        roomier(graph.states, rows, states),
        roomier(graph.state_throws, rows if len(graph.state_throws) else 0, expanded),
        roomier(graph.action_indptr, situation_rows + 1, situations + 1),
        roomier(graph.action_label, action_rows, actions),
        roomier(graph.action_lottery, action_rows, actions),
        roomier(graph.outcome_indptr, action_rows + 1, actions + 1),
        roomier(graph.outcome_state, outcome_rows, outcomes),
    )


def new_lotteries(more: int) -> LotteryTable:
    """Room for far more than `more` lotteries."""
    rows, outcomes = _lottery_rows(0, 0, more)
    return LotteryTable(
        indptr=np.zeros(rows + 1, np.int64),
        reward=np.empty(rows),
        key=np.empty(rows, np.uint64),
        weight=np.empty(outcomes, np.int64),
        then=np.empty(outcomes, np.int64),
        table=np.full(2 * rows, -1, np.int32),
    )


def grown_lotteries(lotteries: LotteryTable, n: int, used: int, more: int) -> LotteryTable:
    """Room for more beside `n` lotteries, which have `used` outcomes together."""
    rows, outcomes = _lottery_rows(n, used, more)
    grown = LotteryTable(
        roomier(lotteries.indptr, rows + 1, n + 1),
        roomier(lotteries.reward, rows, n),
        roomier(lotteries.key, rows, n),
        roomier(lotteries.weight, outcomes, used),
        roomier(lotteries.then, outcomes, used),
        np.full(2 * rows, -1, np.int32),
    )
    enter_lotteries(grown, n)
    return grown


def _lottery_rows(n: int, used: int, more: int) -> tuple[int, int]:
    return max(1 << 12, 1 << (4 * (n + more)).bit_length()), max(1 << 16, 4 * (used + more))
