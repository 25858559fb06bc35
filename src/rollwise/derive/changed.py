"""Variants of graphs: throws as fields, two joined, with ends, in copies, against a policy.

`biased` models partial knowledge of an opponent. At each decision of the second seat a coin
is tossed. With the known probability the seat takes one of its known actions, and otherwise it
chooses freely. This is the game of a data biased response (Johanson and Bowling 2009), with
perfect information.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rollwise.derive.seats import Seats, mixtures, take_seats
from rollwise.graph import NO_THROW, THROW, StateGraph, win_probability
from rollwise.graph.choices import (
    actions_of,
    first_actions,
    fold_actions,
    has_choice,
    outcomes_of,
)
from rollwise.graph.lotteries import pointers, spans
from rollwise.graph.policies import Policy

ROUNDED = 2.0**-50  # more than a value of -1 to 1 changes where it is made of two weights
Number = TypeVar("Number", np.int64, np.float64)
Ints = NDArray[np.int64]
Arrays = dict[str, NDArray[Any]]
MOST_KNOWN = 1 - 2.0**-40  # of a position: some freedom is left, so that no outcome has no weight


def throws_as_fields(graph: StateGraph) -> StateGraph:
    """The same states, actions and outcomes, for tools without throws.

    The throw is the last fields of each state. Before a throw these fields are less by 1
    than any throw. Throwing is an action with its own number, greater than the others.
    Without throws the result is the graph itself.
    """
    if not graph.throw_names:
        return graph
    rows = graph.rows.copy()
    for column in graph.throw_columns:
        blank = rows[:, column] == NO_THROW
        rows[blank, column] = rows[~blank, column].min() - 1
    label = graph.action_label
    number = max(int(label.max()), *graph.action_names, -1) + 1
    return replace(
        graph,
        states=rows,
        field_names=graph.columns,
        throws=None,
        throw_names=(),
        action_label=np.where(label == THROW, number, label).astype(np.int32),
        action_names={**graph.action_names, number: "throw"},
    )


def joined(one: StateGraph, other: StateGraph) -> StateGraph:
    """A graph with the states of both, those of the first one first; the second has no border."""
    a, b = one.flat, other.flat
    s, n = a.n_states, len(a.lotteries.reward)
    target = b.outcome_state
    return replace(
        a,
        n_ends=0,
        action_names={**a.action_names, **b.action_names},
        states=np.concatenate([a.states, b.states]),
        action_indptr=np.concatenate([a.action_indptr, a.n_actions + b.action_indptr[1:]]),
        action_label=np.concatenate([a.action_label, b.action_label]),
        action_lottery=np.concatenate([a.action_lottery, n + b.action_lottery]).astype(np.int32),
        outcome_indptr=np.concatenate([a.outcome_indptr, a.n_outcomes + b.outcome_indptr[1:]]),
        outcome_state=np.concatenate(
            [a.outcome_state, np.where(target < 0, target, target + s)]
        ).astype(np.int32),
        lotteries=a.lotteries.followed_by(b.lotteries),
    )


def with_ends(
    graph: StateGraph, rows: NDArray[np.int32], values: NDArray[np.float64], stakes: bool
) -> StateGraph:
    """The graph with its border as ordinary states, whose only action ends play.

    Parameters
    ----------
    graph : StateGraph
    rows : (n_border, n_fields) int32
        The fields of the border.
    values : (n_border,) float64
        The border values for the mover. In a game of wins and losses, the probability of
        winning is stored as two weights; rounding changes it by less than `ROUNDED`.
    stakes : bool
        The game is played for more than a win, also where these positions show no such payoff.
    """
    flat, n_border = graph.flat.with_stakes(stakes), graph.n_border
    if not n_border:
        return flat
    blank = np.full((n_border, len(flat.field_names) - rows.shape[1]), NO_THROW, np.int32)
    is_won = graph.objective == "win"
    chance = win_probability(values)
    # A win probability between 0 and 1 becomes two outcomes, a win and a loss.
    split = (chance > 0) & (chance < 1) & is_won & (not stakes)
    sizes = np.where(split, 2, 1)
    first = np.cumsum(sizes) - sizes
    weight, payoff = np.ones(sizes.sum()), np.zeros(sizes.sum())
    if is_won:
        # the value of a sure win or loss may be rounded, and is no other payoff
        payoff[first] = values if stakes else np.where(split, 1.0, 2 * chance - 1)
        weight[first[split]] = chance[split]
        payoff[first[split] + 1], weight[first[split] + 1] = -1.0, 1 - chance[split]
    ends = flat.with_arrays(
        states=np.hstack([rows, blank]),
        action_indptr=np.arange(n_border + 1),
        action_label=np.full(n_border, THROW, np.int32),
        action_reward=np.zeros(n_border) if is_won else values,
        outcome_indptr=pointers(sizes),
        outcome_state=np.full(len(weight), -1, np.int32),
        outcome_weight=weight if split.any() else weight.astype(graph.lotteries.weight.dtype),
        outcome_passes=np.zeros(len(weight), np.bool_),
        outcome_payoff=payoff,
        n_border=0,
    )
    return replace(joined(flat, ends), n_border=0, n_ends=n_border)


def copied(graph: StateGraph, leads: Sequence[NDArray[Any]], begin: int = 0) -> StateGraph:
    """Copies of a graph, with outcomes from one copy to another.

    Parameters
    ----------
    graph : StateGraph
        Without a border.
    leads : sequence of (n_outcomes,) int
        For each copy, the copy that each of its outcomes leads to.
    begin : int
        The copy where play begins.

    Returns
    -------
    StateGraph
        State s of copy c is state ``n_states * ((c - begin) % n_copies) + s``. Its copy is in
        the field ``copy``.
    """
    n, many = graph.n_states, len(leads)
    order = [(begin + k) % many for k in range(many)]
    targets = [
        np.where(graph.outcome_state < 0, -1, graph.outcome_state + n * ((leads[c] - begin) % many))
        for c in order
    ]
    return copies(graph, targets, "copy", order)


REPEATED = ["action_label", "action_reward", "outcome_weight", "outcome_passes", "outcome_payoff"]


def copies(
    graph: StateGraph, targets: Sequence[NDArray[Any]], field: str, numbers: Any, **changes: Any
) -> StateGraph:
    """Copies of a graph, one after the other.

    Parameters
    ----------
    targets : sequence of (n_outcomes,) int
        The next states of each copy.
    field, numbers : str and (n_copies,) int
        A further field, with its number in each copy.
    **changes
        Further differences from the repeated arrays.
    """
    many = len(targets)
    rows = np.column_stack([np.tile(graph.rows, (many, 1)), np.repeat(numbers, graph.n_states)])
    parts: dict[str, Any] = {name: np.tile(getattr(graph, name), many) for name in REPEATED}
    parts |= {
        "states": rows.astype(np.int32),
        "field_names": (*graph.columns, field),
        "action_indptr": pointers(np.tile(np.diff(graph.action_indptr), many)),
        "outcome_indptr": pointers(np.tile(np.diff(graph.outcome_indptr), many)),
        "outcome_state": np.concatenate(targets).astype(np.int32),
        "n_roots": 1,
    }
    return graph.with_arrays(**(parts | changes))


def with_draw(
    graph: StateGraph, fields: NDArray[Any], starts: Any, passes: Any = False
) -> StateGraph:
    """The graph with one state before all others, where chance draws a start.

    Parameters
    ----------
    fields : (n_fields,) int
        Of the first state.
    starts : (n,) int
        States of the graph, equally likely.
    passes : (n,) bool
        Whether the die passes with each.
    """
    n = len(starts)
    target = np.append(starts, graph.outcome_state) + 1
    target[n:][graph.outcome_state < 0] = -1
    return graph.with_arrays(
        states=np.vstack([fields, graph.states]).astype(np.int32),
        action_indptr=np.append(0, graph.action_indptr + 1),
        action_label=np.append(graph.action_label[:1], graph.action_label),
        action_reward=np.append(0.0, graph.action_reward),
        outcome_indptr=np.append(0, graph.outcome_indptr + n),
        outcome_state=target.astype(np.int32),
        outcome_weight=np.append(np.ones(n), graph.outcome_weight),
        outcome_passes=np.append(np.broadcast_to(passes, n), graph.outcome_passes),
        outcome_payoff=np.append(np.zeros(n), graph.outcome_payoff),
        n_roots=1,
    )


@dataclass(frozen=True, eq=False)
class Against:
    """A game for two in which one of the players plays a given policy.

    Attributes
    ----------
    source : StateGraph
        The game.
    graph : StateGraph
        State 0 is before the draw of the first player. The reachable states follow,
        those of the policy with one action each.
    mine : (n,) int64
        The actions of the free player, in `graph`.
    action : (n,) int64
        The same actions, in `source`.
    """

    source: StateGraph = field(repr=False)
    graph: StateGraph = field(repr=False)
    mine: NDArray[np.int64] = field(repr=False)
    action: NDArray[np.int64] = field(repr=False)

    @classmethod
    def of(cls, graph: StateGraph, policy: Policy) -> Against:
        """A game against a policy.

        Raises
        ------
        UsageError
            The game has one player.
        """
        seats = take_seats(graph, [None, policy], [0])
        # The draw of the first player is an action before all others, so these move on by one.
        own = np.flatnonzero(seats.key[seats.graph.action_state] < seats.n_before)
        # The state before the start is the first seat's: the die passes if the second begins.
        neither = np.append(seats.graph.states[0, :-1], 2)
        drawn = with_draw(seats.graph, neither, [0, 1], [False, True])
        return cls(graph, drawn, own + 1, seats.action[own].astype(int))

    def as_before(self, numbers: NDArray[Number], elsewhere: float) -> NDArray[Number]:
        """Numbers of the actions of `graph`, by the actions of `source`.

        Parameters
        ----------
        elsewhere : float
            The number for actions not reached against the policy.
        """
        by_source = np.full(self.source.n_actions, elsewhere, numbers.dtype)
        by_source[self.action] = numbers[self.mine]
        return by_source


def biased(seats: Seats, sure: NDArray[np.float64]) -> tuple[StateGraph, Ints]:
    """The game against an opponent with a lower bound on the probability of each action.

    At states with a positive bound, play goes on in one of two copies of the state. In one the
    second seat takes its known actions, in the other it chooses freely.

    Parameters
    ----------
    seats : Seats
        The game with both seats free.
    sure : (n_actions,) float64
        Lower bounds on the probabilities of the second seat's actions, in the original graph.

    Returns
    -------
    game : StateGraph
        First the states of `seats`, then the copies with known actions, then the free copies.
    source : (n_actions,) int64
        For each action its action in the graph of the seats; for coins and mixtures the first one.
    """
    graph, n = seats.graph, seats.graph.n_states
    bound = sure[seats.action]
    chance = np.minimum(fold_actions(graph, np.add, bound), MOST_KNOWN)
    coin = (seats.key >= seats.n_before) & has_choice(graph) & (chance > 0)
    tossed, first = np.flatnonzero(coin), first_actions(graph)
    free, sizes = actions_of(graph, tossed)
    counts = np.where(coin, 1, np.diff(graph.action_indptr))
    source = spans(first, counts)
    parts = [
        _with_coins(graph, source, np.repeat(coin, counts), chance[tossed]),
        _mixed(graph, tossed, free, sizes, bound[free]),
        _outcomes(graph, free),
    ]
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    taken = np.concatenate([source, first[tossed], free])
    copy = np.repeat([0, 1, 2], [n, len(tossed), len(tossed)])
    rows = graph.rows_at(np.concatenate([np.arange(n), tossed, tossed]))
    game = graph.with_arrays(
        states=np.column_stack([rows, copy]).astype(np.int32),
        field_names=(*graph.columns, "copy"),
        action_indptr=pointers(np.concatenate([counts, np.ones(len(tossed), np.int64), sizes])),
        action_label=graph.action_label[taken],
        outcome_indptr=pointers(whole.pop("sizes")),
        **whole,
    )
    return game, taken


def _outcomes(graph: StateGraph, actions: Ints) -> Arrays:
    """The arrays of these actions, unchanged."""
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
    """The arrays of these actions, with coins in place of some.

    Parameters
    ----------
    is_coin : (n,) bool
    chance : (n_coins,) float64
        Probability of the known actions.
    """
    plain, n, m = _outcomes(graph, actions), graph.n_states, len(chance)
    # A coin has two outcomes, to both copies of its state, in place of its first action.
    sizes = np.where(is_coin, 2, plain["sizes"])
    kept, coins = ~np.repeat(is_coin, plain["sizes"]), np.repeat(is_coin, sizes)
    copies = np.column_stack([n + np.arange(m), n + m + np.arange(m)]).ravel()
    fall = {
        "outcome_state": copies,
        "outcome_weight": np.column_stack([chance, 1 - chance]).ravel(),
        "outcome_passes": np.zeros(2 * m, np.bool_),
        "outcome_payoff": np.zeros(2 * m),
    }
    arrays: Arrays = {"sizes": sizes, "action_reward": np.where(is_coin, 0, plain["action_reward"])}
    for name, of_coins in fall.items():
        arrays[name] = np.empty(len(coins), plain[name].dtype)
        arrays[name][~coins] = plain[name][kept]
        arrays[name][coins] = of_coins
    return arrays


def _mixed(
    graph: StateGraph, states: Ints, actions: Ints, sizes: Ints, known: NDArray[np.float64]
) -> Arrays:
    """The arrays of one action for each state: the mixture of its known actions.

    Parameters
    ----------
    states : (n_states,) int64
    actions : (n,) int64
        All actions of these states.
    sizes : (n_states,) int64
        Number of these actions in each state.
    known : (n,) float64
        Lower bound on the probability of each; 0 for an unknown action.
    """
    n, used = len(states), known > 0
    counts = np.bincount(np.repeat(np.arange(n), sizes)[used], minlength=n)
    return _outcomes(mixtures(graph, states, counts, actions[used], known[used]), np.arange(n))
