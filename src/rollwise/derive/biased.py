"""The game against an opponent of whom something is known, and who is free otherwise.

At each of the second seat's decisions a coin falls: with the chance that is known it takes one of
the actions that it is known to take, and otherwise it chooses. That is the game of a data biased
response (Johanson and Bowling 2009), where all is seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.derive.seats import Seats
from rollwise.graph import StateGraph
from rollwise.graph.choices import (
    actions_of,
    first_actions,
    fold_actions,
    fold_outcomes,
    has_choice,
    outcomes_of,
    spans,
)

Ints = NDArray[np.int64]
Arrays = dict[str, NDArray[Any]]
MOST_KNOWN = 1 - 2.0**-40  # of a position: some freedom is left, so that no outcome has no weight


def biased(seats: Seats, sure: NDArray[np.float64]) -> tuple[StateGraph, Ints]:
    """The game against an opponent who takes each action at least so often.

    Where something is known, play goes on in a copy of the state in which the second seat does what
    is known, or in another in which it is free.

    Parameters
    ----------
    seats : Seats
        The game with both seats free.
    sure : (n_actions,) float64
        How likely the second seat takes each action at least; of the graph before.

    Returns
    -------
    game : StateGraph
        Its first states are those of `seats`; then come the copies where it does what is known,
        and then those where it is free.
    source : (n_actions,) int64
        The action of the seats' graph that each action was; of coins and mixtures the first.
    """
    graph, n = seats.graph, seats.graph.n_states
    known = sure[seats.action]
    chance = np.minimum(fold_actions(graph, np.add, known), MOST_KNOWN)
    coin = (seats.key >= seats.n_before) & has_choice(graph) & (chance > 0)
    tossed, first = np.flatnonzero(coin), first_actions(graph)
    free, sizes = actions_of(graph, tossed)
    counts = np.where(coin, 1, np.diff(graph.action_indptr))
    source = spans(first, counts)
    parts = [
        _with_coins(graph, source, np.repeat(coin, counts), chance[tossed]),
        _mixed(graph, free, sizes, known[free]),
        _outcomes(graph, free),
    ]
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    taken = np.concatenate([source, first[tossed], free])
    copy = np.repeat([0, 1, 2], [n, len(tossed), len(tossed)])
    rows = graph.rows_at(np.concatenate([np.arange(n), tossed, tossed]))
    game = graph.with_arrays(
        states=np.column_stack([rows, copy]).astype(np.int32),
        field_names=(*graph.columns, "copy"),
        action_indptr=_pointers(np.concatenate([counts, np.ones(len(tossed), np.int64), sizes])),
        action_label=graph.action_label[taken],
        outcome_indptr=_pointers(whole.pop("sizes")),
        **whole,
    )
    return game, taken


def _pointers(sizes: NDArray[Any]) -> Ints:
    """Where rows of these sizes begin, one after the other, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _outcomes(graph: StateGraph, actions: Ints) -> Arrays:
    """Actions as they are."""
    outcomes, sizes = outcomes_of(graph, actions)
    return {
        "sizes": sizes,
        "action_reward": graph.action_reward[actions],
        "outcome_state": graph.outcome_state[outcomes].astype(np.int32),
        "outcome_weight": graph.outcome_weight[outcomes].astype(np.float64),
        "outcome_passes": graph.outcome_passes[outcomes],
        "outcome_payoff": graph.outcome_payoff[outcomes],
    }


def _with_coins(
    graph: StateGraph, actions: Ints, is_coin: NDArray[np.bool_], chance: NDArray[np.float64]
) -> Arrays:
    """Actions as they are, with coins in the place of some.

    Parameters
    ----------
    is_coin : (n,) bool
    chance : (n_coins,) float64
        Of what is known.
    """
    plain, n, m = _outcomes(graph, actions), graph.n_states, len(chance)
    sizes = np.where(is_coin, 2, plain["sizes"])
    kept, coins = ~np.repeat(is_coin, plain["sizes"]), np.repeat(is_coin, sizes)
    copies = np.column_stack([n + np.arange(m), n + m + np.arange(m)]).ravel()
    fall = {
        "outcome_state": copies,
        "outcome_weight": np.column_stack([chance, 1 - chance]).ravel(),
        "outcome_passes": np.zeros(2 * m, np.bool_),
        "outcome_payoff": np.zeros(2 * m),
    }
    found: Arrays = {"sizes": sizes, "action_reward": np.where(is_coin, 0, plain["action_reward"])}
    for name, of_coins in fall.items():
        found[name] = np.empty(len(coins), plain[name].dtype)
        found[name][~coins] = plain[name][kept]
        found[name][coins] = of_coins
    return found


def _mixed(graph: StateGraph, actions: Ints, sizes: Ints, known: NDArray[np.float64]) -> Arrays:
    """One action for each state: what is known of it.

    Parameters
    ----------
    actions : (n,) int64
    sizes : (n_states,) int64
        How many of them are each state's.
    known : (n,) float64
        How likely each is taken at least.
    """
    m = len(sizes)
    plain = _outcomes(graph, actions)
    total = fold_outcomes(graph, np.add, graph.outcome_weight)[actions]
    weight = plain["outcome_weight"] * np.repeat(known / total, plain["sizes"])
    used = weight > 0
    own = np.repeat(np.arange(m), sizes)
    points = np.bincount(own, known * plain["action_reward"], m) / np.bincount(own, known, m)
    return {
        "sizes": np.bincount(np.repeat(own, plain["sizes"])[used], minlength=m),
        "action_reward": points,
        "outcome_state": plain["outcome_state"][used],
        "outcome_weight": weight[used],
        "outcome_passes": plain["outcome_passes"][used],
        "outcome_payoff": plain["outcome_payoff"][used],
    }
