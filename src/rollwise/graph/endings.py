"""Endless play: found on the graph, and given its value before the game is solved.

Players can prolong play for ever only in an *end component*: a set of states, with actions that
lead to no other states (de Alfaro 1997). `settle` gives such play its value.

- Points: endless play is allowed where every round costs without bound. The game is then a
  stochastic shortest path (Bertsekas and Tsitsiklis 1991): its recursion has one solution,
  enclosed by any sub- and supersolution. The value is minus infinity where no player can be sure
  to end the play.
- Wins and losses: the rules give the value of endless play (`Game.endless`). Where a player
  stays within one turn, the states of the end component have one value, so they become one
  state, with one more action: to stay for ever (Haddad and Monmege 2018). Where both players
  keep the turn passing, the end component remains, and the certificate checks it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import EndlessPlay
from rollwise.graph import StateGraph
from rollwise.graph.lotteries import Components, pointers, spans
from rollwise.graph.naming import acting
from rollwise.graph.view import sign_of
from rollwise.numbers.printed import how_many

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

WORTH = {"draw": 0.0, "lose": -1.0}  # of endless play, to a player who stays within a turn
MOST_ROUNDS = 100_000  # of value iteration, for the cost of a round
SHOWN = 3
NO_END = (
    "From the start the player can't be sure to bring play to an end, and endless play costs "
    "without bound; give a way to end it"
)


@dataclass(frozen=True, eq=False)
class EndComponents:
    """The maximal end components of a graph.

    Attributes
    ----------
    number : (n_states,) int64
        The end component of each state; -1 where there is none.
    stays : (n_actions,) bool
        Whether an action keeps play within it.
    """

    number: Ints
    stays: Mask

    def __len__(self) -> int:
        return int(self.number.max(initial=-1)) + 1

    @property
    def states(self) -> Ints:
        """The states of all end components."""
        return np.flatnonzero(self.number >= 0)


def end_components(
    graph: StateGraph, allowed: Mask | None = None, likely: Mask | None = None
) -> EndComponents:
    """Find the maximal end components.

    States without a staying action are removed, and the rest is split into strongly connected
    parts, until there is no change.

    Parameters
    ----------
    graph : StateGraph
    allowed : (n_actions,) bool, optional
        The allowed actions; all unless given.
    likely : (n_outcomes,) bool, optional
        The outcomes that count; all unless given.
    """
    n = graph.n_states
    begin, source = graph.outcome_indptr[:-1], graph.action_state
    number = np.append(np.zeros(n, np.int64), np.full(graph.n_border + 1, -1))
    possible = np.ones(graph.n_actions, np.bool_) if allowed is None else allowed
    edge_action = np.repeat(np.arange(graph.n_actions), np.diff(graph.outcome_indptr))
    # `number` has the part of each state, and -1 outside. Parts only get smaller, until all are end
    # components.
    while True:
        same = number[graph.outcome_state] == number[source[edge_action]]
        if likely is not None:
            same |= ~likely
        stays = possible & np.logical_and.reduceat(same, begin) & (number[source] >= 0)
        inside = np.zeros(n, np.bool_)
        inside[source[stays]] = True
        inner = stays[edge_action] if likely is None else stays[edge_action] & likely
        staying = np.where(inner, graph.outcome_state, -1)
        joined = Components.of(graph.outcome_indptr[graph.action_indptr], staying)
        parts = np.empty(n, np.int64)
        parts[joined.order] = np.repeat(np.arange(len(joined)), np.diff(joined.indptr))
        found = np.where(inside, parts, -1)
        # Numbers without gaps, so that equal partitions are equal arrays.
        if inside.any():
            _, found[inside] = np.unique(found[inside], return_inverse=True)
        if np.array_equal(found, number[:n]):
            return EndComponents(found, stays)
        possible = stays
        number[:n] = found


def ways_out(graph: StateGraph, usable: Mask, likely: Mask | None = None) -> Ints:
    """For each state an action that leads towards the end of the play: (n_states,) int64.

    Breadth first from the end: with positive probability play ends, or reaches the border.
    -1 where no such path of usable actions exists.

    Parameters
    ----------
    usable : (n_actions,) bool
    likely : (n_outcomes,) bool, optional
        The outcomes that count; all unless given.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order

    n = graph.n_states
    edge_action = np.repeat(np.arange(graph.n_actions), np.diff(graph.outcome_indptr))
    counts = usable[edge_action]
    edges = np.flatnonzero(counts if likely is None else counts & likely)
    action = edge_action[edges]
    source = graph.action_state[action]
    target = graph.outcome_state[edges].astype(np.int64)
    target[(target < 0) | (target >= n)] = n  # the end
    reverse = csr_matrix((np.ones(len(edges), np.bool_), (target, source)), shape=(n + 1, n + 1))
    # The search goes backwards from the end: `before` is the next state on a shortest way there.
    before = breadth_first_order(reverse, n, return_predecessors=True)[1]
    towards = np.flatnonzero(before[source] == target)
    found = np.full(n, graph.n_actions)
    np.minimum.at(found, source[towards], action[towards])
    return np.where(found < graph.n_actions, found, -1)


def forced_ways_out(graph: StateGraph, usable: Mask, within: Ints, settled: Mask) -> Ints:
    """For each state an action by which its mover forces a way out: (n_states,) int64.

    The mover takes such actions from then on, the other player any. From each state with one
    there is a chance to leave, or to reach a settled state (the attractor of de Alfaro 1997).
    -1 where there is none.

    Parameters
    ----------
    usable : (n_actions,) bool
        The actions of the mover.
    within : (n_states,) int64
        A number of each state; a step to another number leaves.
    settled : (2 n_states,) bool
        States where endless play is no loss to the forcing player: first with this player as
        the mover, in the second half with the other one.
    """
    n, begin = graph.n_states, graph.outcome_indptr[:-1]
    inside = np.append(within, np.full(graph.n_border + 1, -1))  # last, the end of the game
    source = np.repeat(graph.action_state, np.diff(graph.outcome_indptr))
    after = inside[graph.outcome_state]
    leaves = (after != within[source]) | (after < 0)  # also from a state without a number
    # 0 stands for targets that are never looked up.
    target = np.where(leaves, 0, graph.outcome_state)
    passes = graph.outcome_passes
    found, marked = np.full(n, -1), np.zeros(2 * n, np.bool_)
    number = np.arange(graph.n_actions)
    for more in (False, True):  # to leave comes first
        marked |= settled & more
        while True:
            # The attractor grows: states of the forcing player with an action that may lead into
            # it, and states of the other player (the second half) where each action may.
            mine = leaves | marked[np.where(passes, target + n, target)]
            theirs = leaves | marked[np.where(passes, target, target + n)]
            leads = usable & np.logical_or.reduceat(mine, begin)
            first = np.where(leads, number, graph.n_actions)
            first = np.minimum.reduceat(first, graph.action_indptr[:-1])
            every = np.logical_or.reduceat(theirs, begin)
            every = np.logical_and.reduceat(every, graph.action_indptr[:-1])
            new = ~marked & np.append(first < graph.n_actions, every)
            if not new.any():
                break
            found[new[:n]] = first[new[:n]]
            marked |= new
    return found


def hopeless_states(graph: StateGraph, border: Mask | None = None) -> Mask:
    """Whether no player can be sure to end the play: (n_states + n_border + 1,) bool.

    The last place, index -1, stands for the end of the game.

    Parameters
    ----------
    border : (n_border,) bool, optional
        Hopeless states of the border; none unless given.
    """
    hopeless = np.zeros(graph.n_states + graph.n_border + 1, np.bool_)
    n = graph.n_states
    if border is not None:
        hopeless[n:-1] = border
    # An action that may lead to a hopeless state is no way to the end; so there are more of these
    # in each round.
    while True:
        risky = np.logical_or.reduceat(hopeless[graph.outcome_state], graph.outcome_indptr[:-1])
        lost = ways_out(graph, ~risky) < 0
        if np.array_equal(lost, hopeless[:n]):
            return hopeless
        hopeless[:n] = lost


def free_components(graph: StateGraph, found: EndComponents) -> Mask:
    """Whether an end component may have a round without cost: (n_components,) bool.

    The largest average gain of a round lies between the least and the largest change by a
    step of value iteration, for any values (Odoni 1969). So a largest change below zero proves
    that every round costs; components without a proof count as free.
    """
    n_components = len(found)
    free = np.ones(n_components, np.bool_)
    if not n_components:
        return free
    actions = np.flatnonzero(found.stays)
    counts = np.diff(graph.outcome_indptr)[actions]
    edges = spans(graph.outcome_indptr[actions], counts)
    first = np.cumsum(counts) - counts
    weight = graph.outcome_weight[edges].astype(np.float64)
    weight /= np.repeat(np.maximum.reduceat(weight, first), counts)  # no sum overflows
    chance = weight / np.repeat(np.add.reduceat(weight, first), counts)
    target = graph.outcome_state[edges]
    reward = sign_of(graph.objective) * graph.action_reward[actions]
    states, begin = np.unique(graph.action_state[actions], return_index=True)
    component = found.number[states]
    order = np.argsort(component, kind="stable")
    bounds = np.searchsorted(component[order], np.arange(n_components))
    worth = np.zeros(graph.n_states)
    roundings = 2.0**-53 * (int(counts.max()) * 2 + 16)
    most = float(np.abs(reward).max())
    for _ in range(MOST_ROUNDS):
        ahead = reward + np.add.reduceat(chance * worth[target], first)
        change = np.maximum.reduceat(ahead, begin) - worth[states]
        margin = roundings * (most + 2 * float(np.abs(worth).max()))
        largest = np.maximum.reduceat(change[order], bounds)
        least = np.minimum.reduceat(change[order], bounds)
        free &= ~(largest < -margin)
        # The largest average gain is at least `least`: if that isn't negative, no step can prove a
        # cost.
        if not np.any(free & (least < -margin - 1e-9 * most)):
            break
        worth[states] += 0.5 * change  # half a step, against periods
    return free


@dataclass(frozen=True, eq=False)
class Settled:
    """A graph with a value for endless play, and its relation to the original states.

    Attributes
    ----------
    graph : StateGraph
    place : (n_before,) int64
        The state for each original state; -1 for hopeless ones.
    action : (n_actions,) int64
        The original action of each one; -1 for staying for ever.
    hopeless : float
        The value of hopeless states.
    """

    graph: StateGraph
    place: Ints
    action: Ints
    hopeless: float

    def spread(self, values: NDArray[Any], hopeless: float | None = None) -> NDArray[Any]:
        """Numbers of states as the states were numbered before: (n_before,)."""
        lost = self.place < 0
        if not lost.any():
            return values[self.place]
        found = np.full(len(lost), self.hopeless if hopeless is None else hopeless, values.dtype)
        found[~lost] = values[self.place[~lost]]
        return found

    def gather(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The other way: each state gets the value of its first original state."""
        # Backwards, so that the first original state is the last to write.
        taken = np.empty(self.graph.n_states)
        kept = np.flatnonzero(self.place >= 0)[::-1]
        taken[self.place[kept]] = values[kept]
        return taken


def settle(graph: StateGraph, border_values: NDArray[np.float64] | None = None) -> Settled:
    """Give endless play its value.

    Parameters
    ----------
    graph : StateGraph
        With possible endless play.
    border_values : (n_border,) float64, optional
        Infinite for hopeless states.

    Returns
    -------
    Settled
        Its graph has two kinds of end components only: with a cost of every round, and with
        passing turns kept up by both players.

    Raises
    ------
    EndlessPlay
        Endless play has no value: the rules give none, or a round is free or pays.
        The message names states and actions.
    """
    if graph.objective == "win":
        return _merge_turns(graph)
    found = end_components(graph)
    free = free_components(graph, found)
    if free.any():
        inside = (found.number >= 0) & free[found.number]
        raise EndlessPlay(
            f"{graph.title}: play can go round for ever, and no round there is sure to cost "
            "anything, so the game has no certain value: "
            f"{describe(graph, np.flatnonzero(inside), found.stays)}. "
            + remedy_of(graph, "let it cost something", "count the turns in the state")
        )
    lost = hopeless_states(graph, None if border_values is None else np.isinf(border_values))
    kept = ~lost[: graph.n_states]
    place = np.where(kept, np.cumsum(kept) - 1, -1)
    risky = np.logical_or.reduceat(lost[graph.outcome_state], graph.outcome_indptr[:-1])
    # Actions that may lead to a hopeless state are worth minus infinity, and are left out.
    action = np.flatnonzero(~risky & kept[graph.action_state])
    smaller = regroup(graph, place, action, place[graph.action_state[action]])
    return Settled(smaller, place, action, -np.inf * sign_of(graph.objective))


def _merge_turns(graph: StateGraph) -> Settled:
    """Make one state of each end component within a turn."""
    if graph.endless not in WORTH:
        found = end_components(graph)
        remedies = ["count the turns in the state"]
        if not graph.action_reward.any():
            remedies.append('say what endless play is worth (endless = "draw" or "lose")')
        raise EndlessPlay(
            f"{graph.title}: {go_round(graph.players)}, so the game has no certain value: "
            f"{describe(graph, found.states, found.stays)}. {remedy_of(graph, *remedies)}"
        )
    passes = np.logical_or.reduceat(graph.outcome_passes, graph.outcome_indptr[:-1])
    return merge(graph, end_components(graph, ~passes), WORTH[graph.endless])


def go_round(players: int) -> str:
    """The fault of endless play, in words, in a game for so many players."""
    return f"the player{'s' if players > 1 else ''} can go round for ever"


def remedy_of(graph: StateGraph, *others: str) -> str:
    """The remedy against endless play, as a sentence: of a rule sheet, unless the graph has one."""
    ways = ", ".join(["take the action away there", *others[:-1]])
    return graph.remedy or f"Rules that always end have no such loop; {ways}, or {others[-1]}"


def merge(
    graph: StateGraph, found: EndComponents, worth: float, usable: Mask | None = None
) -> Settled:
    """Make one state of each end component with a single choosing player.

    Parameters
    ----------
    found : EndComponents
        Of the graph, or of its usable actions.
    worth : float
        The value to that player of staying for ever: one more action of the state.
    usable : (n_actions,) bool, optional
        The remaining actions; all unless given.
    """
    first = np.arange(graph.n_states)
    inside = found.states
    representative = np.full(len(found), graph.n_states)
    np.minimum.at(representative, found.number[inside], inside)
    first[inside] = representative[found.number[inside]]
    place = np.unique(first, return_inverse=True)[1]
    leaves = ~found.stays if usable is None else usable & ~found.stays
    action = np.append(np.flatnonzero(leaves), np.full(len(found), -1))
    owner = np.append(
        place[graph.action_state[action[: len(action) - len(found)]]], place[representative]
    )
    # The sort is stable: actions keep their order, and staying is the last one of its state.
    order = np.argsort(owner, kind="stable")
    merged = regroup(graph, place, action[order], owner[order], worth)
    return Settled(merged, place, action[order], np.nan)


def with_staying(graph: StateGraph) -> StateGraph:
    """The graph with one more action of each state, the last: to stay for ever, for its worth.

    Parameters
    ----------
    graph : StateGraph
        One in which endless play has a worth.
    """
    states = np.arange(graph.n_states)
    action = np.append(np.arange(graph.n_actions), np.full(graph.n_states, -1))
    owner = np.append(graph.action_state, states)
    order = np.argsort(owner, kind="stable")
    return regroup(graph, states, action[order], owner[order], WORTH[graph.endless])


def has_worth(graph: StateGraph) -> bool:
    """Whether the rules say what endless play is worth."""
    return graph.objective == "win" and graph.endless in WORTH


def staying_for_worth(graph: StateGraph, usable: Mask) -> Mask:
    """The states in which play goes round for ever by any usable actions: (n_states,) bool.

    Those where this has a worth: not where both players keep the turn passing and the worth depends
    on who stays.

    Parameters
    ----------
    usable : (n_actions,) bool
    """
    if not has_worth(graph):
        return np.zeros(graph.n_states, np.bool_)
    if WORTH[graph.endless]:  # to pass the turn is a way out
        onward = np.where(graph.outcome_passes, -1, graph.outcome_state)
        graph = graph.with_arrays(outcome_state=onward.astype(graph.outcome_state.dtype))
    return ways_out(graph, usable) < 0


def no_value(settled: StateGraph) -> EndlessPlay:
    """The error for a graph where both players lose by going round, and may gain by it."""
    found = end_components(settled)
    return EndlessPlay(
        f"{settled.game}: it could not be shown that neither player gains by going round for "
        "ever, which both would lose, so the game may have no value: "
        f"{describe(settled, found.states, found.stays)}. "
        + (settled.remedy or 'Say endless = "draw", or take the action away there')
    )


def regroup(
    graph: StateGraph, place: Ints, action: Ints, owner: NDArray[Any], payoff: float = 0.0
) -> StateGraph:
    """A graph with other states, of some actions of this one.

    Parameters
    ----------
    place : (n_states,) int64
        The new number of each state, in the order of first occurrence; -1 for removed ones.
    action : (n_new_actions,) int64
        In the order of their new states; -1 for one that ends the game with the `payoff`.
    owner : (n_new_actions,) int
        The new state of each.
    """
    ends = action < 0
    counts = np.where(ends, 1, np.diff(graph.outcome_indptr)[action])
    # A new ending has one outcome; it reads outcome 0, and all of its parts are replaced below.
    edges = spans(np.where(ends, 0, graph.outcome_indptr[action]), counts)
    ending = np.repeat(ends, counts)
    n_before, n = graph.n_states, int(place.max()) + 1
    moved = np.concatenate([place, np.arange(n, n + graph.n_border), [-1]])
    is_new = np.zeros(n_before, np.bool_)
    # The first original state of a new one gives the fields.
    is_new[np.unique(place, return_index=True)[1]] = True
    is_new &= place >= 0
    stop = graph.action_label.max() + 1
    made = graph.with_arrays(
        states=graph.rows[is_new],
        action_indptr=np.searchsorted(owner, np.arange(n + 1)).astype(np.int64),
        action_label=np.where(ends, stop, graph.action_label[action]).astype(np.int32),
        action_reward=np.where(ends, 0.0, graph.action_reward[action]),
        outcome_indptr=pointers(counts),
        outcome_state=np.where(ending, -1, moved[graph.outcome_state[edges]]).astype(
            graph.outcome_state.dtype
        ),
        outcome_weight=np.where(ending, 1, graph.outcome_weight[edges]).astype(
            graph.outcome_weight.dtype
        ),
        outcome_passes=np.where(ending, 0, graph.outcome_passes[edges]).astype(
            graph.outcome_passes.dtype
        ),
        outcome_payoff=np.where(ending, payoff, graph.outcome_payoff[edges]),
        n_roots=int(np.count_nonzero(is_new[: graph.n_roots])),
    )
    return made.with_stakes(graph.has_stakes)


def describe(
    graph: StateGraph, states: Sequence[int] | Ints, stays: Mask, shown: int = SHOWN
) -> str:
    """Some states with possible endless play, each with the first staying action.

    Parameters
    ----------
    stays : (n_actions,) bool
        The staying actions.
    """
    places = []
    states = np.asarray(states, np.int64)
    chosen = states[graph.thrown_in[states]]  # positions before a throw have no choice
    states = chosen if len(chosen) else states
    for s in states[:shown].tolist():
        state = graph.view[s]
        staying = next((action for action in state.actions if stays[action]), state.actions[0])
        places.append(f"{state} with {acting(staying.name)}")
    more = len(states) - shown
    return "; ".join(places) + (f" and {how_many(more, 'more state')}" if more > 0 else "")
