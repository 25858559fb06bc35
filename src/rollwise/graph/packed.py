"""A graph as a few streams of bytes, unpacked in one pass: for self-contained pages.

Positions stand in the order of their fields. A *kind* is an action's number and its lottery, and a
*menu* the kinds of the actions of a state. So menus determine a graph except for the targets of
outcomes. A target is predicted from the outcome at the same place in the last action of its kind:
the same state, or the same distance, or the same growth of the distance. Each place of each kind
uses its best prediction, and a stream has the differences: mostly zeros.

Whole numbers stand in streams with 7 bits a byte, the lowest ones first. The sign is the lowest
bit. A zero is followed by the number of further zeros.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.graph.choices import in_order, outcomes_of
from rollwise.graph.lotteries import Components, pointers, spans
from rollwise.graph.naming import THROW
from rollwise.graph.state_graph import StateGraph

Ints = NDArray[np.int64]


class PackedGraph(NamedTuple):
    """A graph in another order, and its streams.

    Attributes
    ----------
    states : (n_states,) int64
        The state of the graph at each place: positions by their fields, then the
        states after a throw, in the order of the positions' outcomes.
    place : (n_states,) int64
        The place of each state of the graph.
    actions, outcomes : int64
        The same for its actions and outcomes, state by state.
    owner, number : (n_outcomes,) int64
        The graph's action of each outcome, and its number among the outcomes
        of that action.
    kinds : (n_kinds, 2) int64
        The number and the lottery of each kind of action.
    menus : list of list of int
        The kinds of the actions of a state.
    slot : (n_outcomes,) int64
        The outcome of a kind for each outcome, counted through.
    fields : list of bytes
        A stream for each field: of the positions, each as its difference to the one before.
    menu, slots, targets : bytes
        Streams: the menu of each state, likewise; for each slot with a next state, its prediction
        (see `WAYS`) and its bytes in the last stream; the differences of targets, slot by slot.
    """

    states: Ints
    place: Ints
    actions: Ints
    outcomes: Ints
    owner: Ints
    number: Ints
    kinds: Ints
    menus: list[list[int]]
    slot: Ints
    fields: list[bytes]
    menu: bytes
    slots: bytes
    targets: bytes


WAYS = ("the same state", "as far from its own", "as much further as the time before")


def packed(graph: StateGraph) -> PackedGraph:
    """Pack a graph without a border."""
    states = _in_place(graph)
    place = np.empty(graph.n_states, np.int64)
    place[states] = np.arange(graph.n_states)
    begin, counts = graph.action_indptr[states], np.diff(graph.action_indptr)[states]
    actions = spans(begin, counts)
    outcomes, sizes = outcomes_of(graph, actions)
    # One number for a pair sorts faster than a row of two.
    pairs = (graph.action_label[actions].astype(np.int64) << 32) + graph.action_lottery[actions]
    pairs, kind = np.unique(pairs, return_inverse=True)
    kinds = np.column_stack([pairs >> 32, pairs & 0xFFFFFFFF])
    menus, menu = _menus(kind, counts)
    # A slot is an outcome of a kind; `ends` has the first slot of each kind.
    ends = pointers(np.diff(graph.lotteries.indptr)[kinds[:, 1]])
    along = np.arange(len(outcomes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    slot = ends[np.repeat(kind, sizes)] + along
    target = graph.outcome_state[outcomes].astype(np.int64)
    leads_on = target >= 0
    if graph.throws is not None:  # the throws of positions follow one another
        leads_on &= np.repeat(kinds[kind, 0], sizes) != THROW
    source = np.repeat(np.repeat(np.arange(graph.n_states), counts), sizes)
    slots, targets = _targets(slot[leads_on], source[leads_on], place[target[leads_on]])
    rows = graph.states[states[: len(graph.states)]].astype(np.int64)
    return PackedGraph(
        states,
        place,
        actions,
        outcomes,
        np.repeat(actions, sizes),
        along,
        kinds,
        menus,
        slot,
        [stream(np.diff(column, prepend=0)) for column in rows.T],
        stream(np.diff(menu, prepend=0)),
        slots,
        targets,
    )


def anchors(graph: StateGraph) -> Ints:
    """States whose values determine all others by looking ahead, mostly within a turn.

    They are the first states of turns, and a feedback vertex set of the cycles without a pass.

    Returns
    -------
    (n,) int64, ascending
    """
    target = graph.outcome_state
    is_anchor = np.zeros(graph.n_states, np.bool_)
    is_anchor[target[(graph.outcome_passes != 0) & (target >= 0)]] = True
    left = np.where((target >= 0) & is_anchor[target], -1, target)
    rest = Components.of(graph.outcome_indptr[graph.action_indptr], left)
    component = np.empty(graph.n_states, np.int64)
    component[rest.order] = np.repeat(np.arange(len(rest.indptr) - 1), np.diff(rest.indptr))
    source = np.repeat(graph.action_state, np.diff(graph.outcome_indptr))[left >= 0]
    left = left[left >= 0]
    # Each cycle of a component has a step to a state at the same place or a later one.
    back = (component[source] == component[left]) & (rest.position[left] >= rest.position[source])
    is_anchor[left[back]] = True
    return np.flatnonzero(is_anchor)


def stream(numbers: NDArray[Any]) -> bytes:
    """Whole numbers as a stream of bytes."""
    plain = np.asarray(numbers, np.int64)
    return _spelled(_in_runs(plain, np.zeros_like(plain))[0])[0].tobytes()


def _in_runs(numbers: Ints, group: Ints) -> tuple[Ints, Ints]:
    """Numbers with each run of zeros as one zero and its length less 1, and their groups.

    A run ends with its group.
    """
    goes_on = np.zeros(len(numbers), np.bool_)
    goes_on[1:] = (numbers[1:] == 0) & (numbers[:-1] == 0) & (group[1:] == group[:-1])
    kept = np.flatnonzero(~goes_on)
    is_run = numbers[kept] == 0
    found = np.repeat(numbers[kept], 1 + is_run)
    lengths = np.diff(np.append(kept, len(numbers)))
    # The second entry of a run: `kept` has the first number of each, so gaps are lengths.
    found[np.cumsum(1 + is_run)[is_run] - 1] = lengths[is_run] - 1
    return found, np.repeat(group[kept], 1 + is_run)


def _in_place(graph: StateGraph) -> Ints:
    positions = in_order(graph.states)
    if graph.throws is None:
        return positions
    n = len(positions)
    begin = graph.outcome_indptr[positions]
    return np.concatenate(
        [positions, n + spans(begin, graph.outcome_indptr[positions + 1] - begin)]
    )


def _menus(kind: Ints, counts: Ints) -> tuple[list[list[int]], Ints]:
    """The menus in the order of their first states, and the menu of each state."""
    begin, more = np.cumsum(counts) - counts, kind.max(initial=0) + 1
    first = np.empty(len(counts), np.int64)  # the first state with the same menu
    for n in np.unique(counts).tolist():
        states = np.flatnonzero(counts == n)
        alike = np.zeros(len(states), np.int64)
        # States are alike if their first actions are, then if the second ones are too, and so on.
        for k in range(n):
            alike = np.unique(alike * more + kind[begin[states] + k], return_inverse=True)[1]
        first[states] = states[np.unique(alike, return_index=True)[1]][alike]
    known, menu = np.unique(first, return_inverse=True)
    return [kind[begin[s] : begin[s] + counts[s]].tolist() for s in known], menu


def _targets(slot: Ints, source: Ints, target: Ints) -> tuple[bytes, bytes]:
    """The streams `slots` and `targets`."""
    order = np.argsort(slot, kind="stable")
    slot, source, target = slot[order], source[order], target[order]
    used, first = np.unique(slot, return_index=True)
    size = np.diff(np.append(first, len(slot)))
    number = np.repeat(np.arange(len(used)), size)  # the slots in use, counted through
    since = np.arange(len(slot)) - np.repeat(first, size)
    last = _earlier(target, since, 1)
    # A row for each of `WAYS`: the differences to its predictions.
    left = np.stack(
        [
            target - last,
            target - source - last + _earlier(source, since, 1),
            target - 2 * last + _earlier(target, since, 2),
        ]
    )
    # About the bits of a difference; a zero costs none, as it mostly joins a run.
    cost = np.log2(1 + np.abs(left)) + (left != 0)
    way = np.argmin([np.bincount(number, row, len(used)) for row in cost], axis=0)
    said, owner = _in_runs(left[way[number], np.arange(len(slot))], number)
    spelled, lengths = _spelled(said)
    sizes = np.bincount(owner, lengths, len(used)).astype(np.int64)
    gaps = np.diff(used, prepend=0)
    return stream(np.column_stack([gaps, way, sizes]).reshape(-1)), spelled.tobytes()


def _earlier(numbers: Ints, since: Ints, steps: int) -> Ints:
    """The number `steps` before in the same slot; 0 without one."""
    found = np.zeros_like(numbers)
    found[steps:] = numbers[:-steps]
    found[since < steps] = 0
    return found


def _spelled(numbers: NDArray[Any]) -> tuple[NDArray[np.uint8], Ints]:
    """The bytes of whole numbers, and how many each of them takes."""
    signed = np.asarray(numbers, np.int64)
    # The sign goes to the lowest bit: 0, -1, 1, -2 become 0, 1, 2, 3.
    plain = ((signed << 1) ^ (signed >> 63)).view(np.uint64)
    lengths = np.ones(len(plain), np.int64)
    for k in range(1, 10):
        lengths += plain >> np.uint64(7 * k) > 0
    ends = np.cumsum(lengths)
    found = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    # Byte k of all numbers that have one; its highest bit is set if another one follows.
    for k in range(int(lengths.max(initial=0))):
        longer = lengths > k
        part = plain[longer] >> np.uint64(7 * k) & np.uint64(127)
        part |= np.where(lengths[longer] > k + 1, np.uint64(128), np.uint64(0))
        found[ends[longer] - lengths[longer] + k] = part
    return found, lengths
