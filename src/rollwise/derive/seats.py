"""Graphs in which a seat plays a given policy.

Players with different policies, or one free player against policies, are copies of
the graph, one for each seat. Every PASS leads to the copy of the next mover. A mixed
policy is averaged into chance: each state of its seat has one action. The result
is an ordinary `StateGraph`. Every method solves it, and the ordinary certificate
proves it.

A policy keeps play away from much of the graph: with hold-at-20, 30 points in hand never
occur. The copies can be limited to the states reachable from some positions.

With two policies there is no max over actions, and the values are those of the
policies themselves. With two free seats it is the textbook's game between MAX and
MIN, with values for the mover.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.lotteries import Lotteries, pointers, spans
from rollwise.graph.policies import Policy, require_size
from rollwise.kernels.jit import index, kernel


class Seated(NamedTuple):
    """Arrays of a StateGraph to be filled by a walk, long enough for any result."""

    states: Any  # (n_keys, n_fields) int32; with several seats one more field, the seat
    action_indptr: Any  # (n_keys + 1,) int64
    action_label: Any  # int32
    action_lottery: Any  # int32
    outcome_indptr: Any  # int64
    outcome_state: Any  # int32


@dataclass(frozen=True, eq=False)
class Seats:
    """A graph with its seats taken, and the original indices of its states and actions.

    Attributes
    ----------
    graph : StateGraph
        With several seats its states have one more field, ``seat``, the seat to move: 0 or more.
        Values are those of the mover.
    key : (n_states,) int32
        Seat times the number of original states, plus the original index of the state.
    action : (n_actions,) int32
        Original index of each action; of a mixture the first.
    n_before : int
        Number of original states.
    n_seats : int
    """

    graph: StateGraph
    key: NDArray[np.int32]
    action: NDArray[np.int32]
    n_before: int
    n_seats: int

    def spread(self, values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Values by original state, NaN for unreachable ones.

        Parameters
        ----------
        values : (n_states,) float64

        Returns
        -------
        list of (n_before,) float64
            One array a seat, for the states with this seat to move.
        """
        everywhere = np.full(self.n_seats * self.n_before, np.nan)
        everywhere[self.key] = values
        return np.split(everywhere, self.n_seats)

    def respond(self, policy: Policy, name: str, chosen: NDArray[np.int64]) -> Policy:
        """The first seat's policy with these actions; unreachable states keep the given policy.

        Parameters
        ----------
        policy : Policy
            On the original graph.
        chosen : (n_states,) int64
            An action of each state with the first seat free.
        """
        is_free, probability = self.key < self.n_before, policy.probability.copy()
        probability[self.action[is_free[self.graph.action_state]]] = 0.0
        probability[self.action[chosen[is_free]]] = 1.0
        return Policy(name, probability)


def take_seats(
    graph: StateGraph,
    policies: Sequence[Policy | None],
    starts: Sequence[int] | None = None,
    *,
    lotteries: Lotteries | None = None,
    choices: NDArray[np.bool_] | None = None,
) -> Seats:
    """One copy of a graph, or one for each seat, for these players; whole or from some positions.

    Parameters
    ----------
    graph : StateGraph
        Without a border.
    policies : sequence of Policy or None
        The policy of each seat; None leaves it free to choose. A single one plays every
        seat.
    starts : sequence of int, optional
        First states of play, with any seat to move. The result has only the states reachable
        from there, breadth first. By default all states, in original order: index ``n_states``
        times the seat plus the state.
    lotteries : Lotteries, optional
        Those of the graph as the first seat has them, then as the next seat has them, and so on.
        By default all seats have those of the graph.
    choices : (n_actions,) bool, optional
        Actions with a probability of 1, among which their mover chooses.

    Raises
    ------
    UsageError
        More seats than the game has; no start, or an unknown state; or a policy of another graph.
    """
    n, n_seats = graph.n_states, len(policies)
    if n_seats > 1 and graph.players != n_seats:
        players = "one" if graph.players == 1 else graph.players
        raise UsageError(f"{graph.game} is a game for {players}: it does not have {n_seats} seats")
    if graph.n_border:
        raise ValueError("seats need a whole graph, not one with a border")
    graph = graph.flat
    begin = np.arange(n_seats * n) if starts is None else _beginnings(graph, starts, n_seats)
    chances = [_chances(graph, policy) for policy in policies]
    most_states = n_seats * n
    most_actions = sum(int(np.count_nonzero(c)) if len(c) else graph.n_actions for c in chances)
    several = n_seats > 1
    key = np.empty(most_states, np.int32)
    action = np.empty(most_actions, np.int32)
    seated = Seated(
        np.empty((most_states, graph.states.shape[1] + several), np.int32),
        np.empty(most_states + 1, np.int64),
        np.empty(most_actions, np.int32),
        np.empty(most_actions, np.int32),
        np.empty(most_actions + 1, np.int64),
        np.empty(n_seats * graph.n_outcomes, np.int32),
    )
    n_states, n_actions, n_outcomes = walk_seats(
        begin,
        *_table_of(chances),
        graph.states,
        graph.action_indptr,
        graph.action_label,
        graph.action_lottery,
        0 if lotteries is None else len(graph.lotteries.reward),
        graph.outcome_indptr,
        graph.outcome_state,
        graph.lotteries.indptr,
        graph.lotteries.passes.view(np.uint8),
        np.full(most_states, -1, np.int32),
        key,
        action,
        seated,
    )
    lengths = (n_states, n_states + 1, n_actions, n_actions, n_actions + 1, n_outcomes)
    filled = zip(Seated._fields, seated, lengths, strict=True)
    taken = StateGraph(
        **{name: array[:length] for name, array, length in filled},
        lotteries=graph.lotteries if lotteries is None else lotteries,
        field_names=(*graph.field_names, "seat") if several else graph.field_names,
        action_names=graph.action_names,
        throw_names=graph.throw_names,
        game=graph.game,
        parameters=graph.parameters,
        players=graph.players,
        objective=graph.objective,
        n_roots=graph.n_roots if starts is None else len(begin),
        n_border=0,
        endless=graph.endless,
        words=graph.words,
        remedy=graph.remedy,
    )
    seats = Seats(taken, key[:n_states], action[:n_actions], n, n_seats)
    mixes = any(len(chance) and np.count_nonzero(chance) > n for chance in chances)
    return _with_mixtures(seats, chances, choices) if mixes else seats


def _table_of(
    chances: Sequence[NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The given policies, and the row of each seat among them: -1 for a free one."""
    given = np.array([len(chance) > 0 for chance in chances])
    rows = np.where(given, np.cumsum(given) - 1, -1)
    found = [chance for chance in chances if len(chance)]
    return np.array(found) if found else np.empty((0, 0)), rows


def _beginnings(graph: StateGraph, starts: Sequence[int], n_seats: int) -> NDArray[np.int64]:
    """The keys of the first states: each start with each seat to move."""
    listed = list(dict.fromkeys(starts)) if isinstance(starts, Iterable) else []
    whole = all(isinstance(s, int | np.integer) for s in listed)
    states = np.array(listed if whole else [], np.int64)
    if not len(states) or states.min() < 0 or states.max() >= graph.n_states:
        raise UsageError(
            f"starts is {starts!r}; it must hold numbers of states of {graph.title}, "
            f"which are numbered from 0 to {graph.n_states - 1}"
        )
    return np.concatenate([states + seat * graph.n_states for seat in range(n_seats)])


def _chances(graph: StateGraph, policy: Policy | None) -> NDArray[np.float64]:
    """How likely a seat takes each action; empty where it is free."""
    if policy is None:
        return np.empty(0)
    require_size(graph, policy)
    return policy.probability


def _with_mixtures(
    seats: Seats,
    chances: Sequence[NDArray[np.float64]],
    choices: NDArray[np.bool_] | None,
) -> Seats:
    """Merge the actions of each state with a mixed policy into one.

    Outcome weights of a mixture are probability times weight over the action's total,
    each rounded twice, as the certificate allows for real weights.
    """
    graph, lotteries = seats.graph, seats.graph.lotteries
    counts = np.diff(graph.action_indptr)
    seat = seats.key // seats.n_before
    free = np.array([len(of_seat) == 0 for of_seat in chances])
    mixing = (counts > 1) & ~free[seat]
    if choices is not None:
        mixing &= ~np.logical_or.reduceat(choices[seats.action], graph.action_indptr[:-1])
    if not mixing.any():
        return seats  # it mixes where play doesn't come
    mixed = np.repeat(mixing, counts)
    taken = np.flatnonzero(mixed)
    seat = np.repeat(seat[mixing], counts[mixing])
    chance = np.empty(len(taken))
    for number, of_seat in enumerate(chances):
        if len(of_seat):
            here = seat == number
            chance[here] = of_seat[seats.action[taken[here]]]
    mixed_states = mixtures(graph, np.flatnonzero(mixing), counts[mixing], taken, chance)
    # The first action of a mixing state stands for all. Without the starts of the others
    # their outcomes are its own.
    kept = ~mixed
    kept[graph.action_indptr[:-1][mixing]] = True
    action_lottery = graph.action_lottery[kept]
    action_indptr = pointers(np.where(mixing, 1, counts))
    action_lottery[action_indptr[:-1][mixing]] = len(lotteries.reward) + mixed_states.action_lottery
    parts = {
        "action_indptr": action_indptr,
        "action_label": graph.action_label[kept],
        "action_lottery": action_lottery,
        "outcome_indptr": np.append(graph.outcome_indptr[:-1][kept], graph.n_outcomes),
        "lotteries": lotteries.followed_by(mixed_states.lotteries),
    }
    whole = replace(graph, **parts)
    return replace(seats, graph=whole, action=seats.action[kept])


def mixtures(
    graph: StateGraph,
    states: NDArray[np.int64],
    counts: NDArray[np.int64],
    taken: NDArray[np.int64],
    chance: NDArray[np.float64],
) -> StateGraph:
    """These states alone, each with one action. Next states keep their indices.

    Parameters
    ----------
    states : (n,) int64
    counts : (n,) int64
        Number of mixed actions of each.
    taken : (n_taken,) int64
        These actions.
    chance : (n_taken,) float64
        Their shares; only the ratios within a state count.
    """
    lotteries = graph.lotteries
    lottery = graph.action_lottery[taken]
    sizes = np.diff(lotteries.indptr)[lottery]
    index = spans(lotteries.indptr[lottery], sizes)
    total = np.add.reduceat(lotteries.weight, lotteries.indptr[:-1])
    weight = np.repeat(chance, sizes) * lotteries.weight[index]
    weight /= np.repeat(total[lottery], sizes)
    last = np.cumsum(counts)
    points = lotteries.reward[lottery]
    reward = points[last - counts]
    lowest = np.minimum.reduceat(points, last - counts)
    highest = np.maximum.reduceat(points, last - counts)
    known: dict[bytes, float] = {}  # many states mix the same rewards alike
    # A mean of different rewards is rounded once, from fractions.
    for i in np.flatnonzero(lowest != highest):
        here = slice(last[i] - counts[i], last[i])
        key = chance[here].tobytes() + points[here].tobytes()
        if key not in known:
            shares = [Fraction(p) for p in chance[here].tolist()]
            pairs = zip(shares, points[here].tolist(), strict=True)
            known[key] = float(sum(p * Fraction(r) for p, r in pairs) / sum(shares))
        reward[i] = known[key]
    return graph.with_arrays(
        states=graph.rows[states],
        action_indptr=np.arange(len(counts) + 1),
        action_label=graph.action_label[taken[last - counts]],
        action_reward=reward,
        outcome_indptr=np.concatenate([[0], np.cumsum(sizes)[last - 1]]),
        outcome_state=graph.outcome_state[spans(graph.outcome_indptr[taken], sizes)],
        outcome_weight=weight,
        outcome_passes=lotteries.passes[index],
        outcome_payoff=lotteries.payoff[index],
    )


@kernel
def walk_seats(
    begin,
    chances,
    rows,
    states,
    action_indptr,
    action_label,
    action_lottery,
    stride,
    outcome_indptr,
    outcome_state,
    lottery_indptr,
    passes,
    number,
    keys,
    taken,
    seated,
):
    """Number the reachable states, breadth first, and write their actions and outcomes.

    The key of state s with the seat to move is ``seat * n_states + s``. With a single row every
    pass leads back to it.

    Parameters
    ----------
    begin : (n_begin,) int64
        Distinct keys of the first states; they get the first numbers.
    chances : (n_policies, n_actions) float64
        Probability of each action.
    rows : (n_seats,) int64
        The policy of each seat; -1 for a free seat.
    states, action_indptr, ..., outcome_state : as in a StateGraph
    stride : int
        How far the lotteries of a seat lie behind those of the seat before it.
    lottery_indptr, passes : of its Lotteries
        The passes as uint8.
    number : (n_keys,) int32
        All -1; filled with the number of each reachable key.
    keys : (n_keys,) int32, filled
        The inverse: the key of each number.
    taken : int32, filled
        Original index of each written action.
    seated : Seated
        Filled.

    Returns
    -------
    n_states, n_actions, n_outcomes : int
        Numbers of written entries.
    """
    n = action_indptr.shape[0] - 1
    n_fields, n_seats = states.shape[1], rows.shape[0]
    # taken out of the tuple once: the loop would count its references
    new_indptr, new_label, new_lottery = (
        seated.action_indptr,
        seated.action_label,
        seated.action_lottery,
    )
    new_states, new_outcome_indptr, new_outcome_state = (
        seated.states,
        seated.outcome_indptr,
        seated.outcome_state,
    )
    n_states = 0
    for key in begin:
        number[key] = n_states
        keys[n_states] = key
        n_states += 1
    done = 0
    n_actions = 0
    n_outcomes = 0
    new_indptr[0] = 0
    new_outcome_indptr[0] = 0
    # `keys` is the queue: the states before `done` are written.
    while done < n_states:
        s, seat = np.int64(keys[done]), 0
        while s >= n:  # sooner than a division
            s -= n
            seat += 1
        stay, is_free = seat * n, rows[seat] < 0
        row = index(max(rows[seat], 0))
        for f in range(n_fields):
            new_states[done, f] = states[s, f]
        if n_seats > 1:
            new_states[done, n_fields] = seat
        for a in range(action_indptr[s], action_indptr[s + 1]):
            if not (is_free or chances[row, index(a)] > 0.0):
                continue
            lottery = action_lottery[a]
            outcome = lottery_indptr[lottery]
            for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                t = outcome_state[k]
                if t >= 0:
                    ahead, on = t + stay, np.int64(passes[outcome])
                    if on > 0 and n_seats > 1:  # at most n_seats - 1 seats on
                        ahead += (on if seat + on < n_seats else on - n_seats) * n
                    t = number[ahead]
                    if t < 0:
                        t = n_states
                        number[ahead] = t
                        keys[n_states] = ahead
                        n_states += 1
                new_outcome_state[n_outcomes] = t
                n_outcomes += 1
                outcome += 1
            new_label[n_actions] = action_label[a]
            new_lottery[n_actions] = lottery + seat * stride
            taken[n_actions] = a
            n_actions += 1
            new_outcome_indptr[n_actions] = n_outcomes
        done += 1
        new_indptr[done] = n_actions
    return n_states, n_actions, n_outcomes
