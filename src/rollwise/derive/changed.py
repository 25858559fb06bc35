"""Graphs a little changed: throws as fields, two as one, with ends, in copies, against a policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rollwise.derive.seats import take_seats
from rollwise.graph import NO_THROW, THROW, Lotteries, StateGraph, win_probability
from rollwise.graph.policies import Policy

ROUNDED = 2.0**-50  # more than a value of -1 to 1 changes where it is made of two weights
Number = TypeVar("Number", np.int64, np.float64)


def throws_as_fields(graph: StateGraph) -> StateGraph:
    """The same states, actions and outcomes, for tools that know no throws.

    What was thrown is the last fields of each state. Before a throw stands there what is less by 1
    than any throw. To throw is an action with a number of its own, greater than the others.
    Without throws it is the graph itself.
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
    """A graph with the states of both, those of the first one first; none has a border."""
    a, b = one.flat, other.flat
    s, n = a.n_states, len(a.lotteries.reward)
    first, second = a.lotteries, b.lotteries
    target = b.outcome_state
    return replace(
        a,
        action_names={**a.action_names, **b.action_names},
        states=np.concatenate([a.states, b.states]),
        action_indptr=np.concatenate([a.action_indptr, a.n_actions + b.action_indptr[1:]]),
        action_label=np.concatenate([a.action_label, b.action_label]),
        action_lottery=np.concatenate([a.action_lottery, n + b.action_lottery]).astype(np.int32),
        outcome_indptr=np.concatenate([a.outcome_indptr, a.n_outcomes + b.outcome_indptr[1:]]),
        outcome_state=np.concatenate(
            [a.outcome_state, np.where(target < 0, target, target + s)]
        ).astype(np.int32),
        lotteries=Lotteries(
            np.concatenate([first.indptr, first.indptr[-1] + second.indptr[1:]]),
            *(np.concatenate(pair) for pair in list(zip(first, second, strict=True))[1:]),
        ),
    )


def with_ends(
    graph: StateGraph, rows: NDArray[np.int32], values: NDArray[np.float64], stakes: bool
) -> StateGraph:
    """The graph with its border as states; the one action there ends play.

    Parameters
    ----------
    graph : StateGraph
    rows : (n_border, n_fields) int32
        The fields of the border.
    values : (n_border,) float64
        What they are worth to the mover there. In a game that is won or lost their chance to
        win is held by two weights, which changes them by less than `ROUNDED`.
    stakes : bool
        The game is played for more than a win.
    """
    flat, n_border = graph.flat, graph.n_border
    blank = np.full((n_border, len(flat.field_names) - rows.shape[1]), NO_THROW, np.int32)
    chance = np.clip(win_probability(values), 0.0, 1.0)
    split = (chance > 0) & (chance < 1) & (graph.objective == "win") & (not stakes)
    sizes = np.where(split, 2, 1)
    ends = np.cumsum(sizes)
    weight, payoff = np.ones(ends[-1] if n_border else 0), np.zeros(ends[-1] if n_border else 0)
    first = ends - sizes
    if graph.objective == "win":
        payoff[first] = np.where(split, 1.0, values)
        weight[first[split]] = chance[split]
        payoff[first[split] + 1], weight[first[split] + 1] = -1.0, 1 - chance[split]
    reward = np.zeros(n_border) if graph.objective == "win" else values
    old, n_old = graph.lotteries, len(graph.lotteries.reward)
    return replace(
        flat,
        states=np.concatenate([flat.states, np.hstack([rows, blank])]),
        action_indptr=np.concatenate(
            [flat.action_indptr, flat.n_actions + 1 + np.arange(n_border)]
        ),
        action_label=np.concatenate([flat.action_label, np.full(n_border, THROW, np.int32)]),
        action_lottery=np.concatenate(
            [flat.action_lottery, n_old + np.arange(n_border, dtype=np.int32)]
        ),
        outcome_indptr=np.concatenate([flat.outcome_indptr, flat.n_outcomes + ends]),
        outcome_state=np.concatenate([flat.outcome_state, np.full(len(weight), -1, np.int32)]),
        lotteries=Lotteries(
            np.concatenate([old.indptr, old.indptr[-1] + ends]),
            np.concatenate([old.reward, reward]),
            np.concatenate(
                [old.weight, weight if split.any() else weight.astype(old.weight.dtype)]
            ),
            np.concatenate([old.over, np.ones(len(weight), np.bool_)]),
            np.concatenate([old.passes, np.zeros(len(weight), np.bool_)]),
            np.concatenate([old.payoff, payoff]),
        ),
        n_border=0,
    )


def copied(graph: StateGraph, leads: Sequence[NDArray[Any]], begin: int = 0) -> StateGraph:
    """Copies of a graph, and outcomes that lead from one to another.

    Parameters
    ----------
    graph : StateGraph
        Without a border.
    leads : sequence of (n_outcomes,) int
        For each copy the one that each of its outcomes leads to.
    begin : int
        The copy that play begins in.

    Returns
    -------
    StateGraph
        State s of the copy c is the state ``n_states * ((c - begin) % n_copies) + s``; a field
        ``copy`` says which it is.
    """
    n, many = graph.n_states, len(leads)
    order = [(begin + k) % many for k in range(many)]
    target = [
        np.where(graph.outcome_state < 0, -1, graph.outcome_state + n * ((leads[c] - begin) % many))
        for c in order
    ]
    states = np.column_stack([np.tile(graph.rows, (many, 1)), np.repeat(order, n)])
    return graph.with_arrays(
        states=states.astype(np.int32),
        field_names=(*graph.columns, "copy"),
        action_indptr=_repeated(graph.action_indptr, many),
        action_label=np.tile(graph.action_label, many),
        action_reward=np.tile(graph.action_reward, many),
        outcome_indptr=_repeated(graph.outcome_indptr, many),
        outcome_state=np.concatenate(target).astype(np.int32),
        outcome_weight=np.tile(graph.outcome_weight, many),
        outcome_passes=np.tile(graph.outcome_passes, many),
        outcome_payoff=np.tile(graph.outcome_payoff, many),
        n_roots=1,
    )


def _repeated(pointers: NDArray[Any], times: int) -> NDArray[np.int64]:
    """The CSR pointers of so many copies, one after the other."""
    sizes = np.tile(np.diff(pointers), times)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Against:
    """A game for two in which one of them plays a policy.

    Attributes
    ----------
    source : StateGraph
        The game.
    graph : StateGraph
        State 0 is before it is drawn who moves first. Then come the states that play comes to,
        those of the policy with one action each.
    mine : (n,) int64
        The actions of the free player, in `graph`.
    action : (n,) int64
        The actions of `source` that these are.
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
        own = np.flatnonzero(seats.key[seats.graph.action_state] < seats.n_before)
        return cls(graph, _first_move_drawn(seats.graph), own + 1, seats.action[own].astype(int))

    def as_before(self, numbers: NDArray[Number], elsewhere: float) -> NDArray[Number]:
        """A number of each action of `graph`, by the actions of `source`.

        Parameters
        ----------
        elsewhere : float
            The number of actions that play against the policy doesn't come to.
        """
        found = np.full(self.source.n_actions, elsewhere, numbers.dtype)
        found[self.action] = numbers[self.mine]
        return found


def _first_move_drawn(two: StateGraph) -> StateGraph:
    """Two seats with a state before them that leads to the start of either.

    The state belongs to the first seat, so the die passes where the second one begins.
    """
    before = two.states[0].copy()
    before[-1] = 2  # nobody's seat
    target = two.outcome_state.astype(np.int64)
    return two.with_arrays(
        states=np.vstack([before, two.states]).astype(np.int32),
        action_indptr=np.append(0, two.action_indptr + 1),
        action_label=np.append(two.action_label[:1], two.action_label),
        action_reward=np.append(0.0, two.action_reward),
        outcome_indptr=np.append(0, two.outcome_indptr + 2),
        outcome_state=np.append([1, 2], np.where(target < 0, -1, target + 1)).astype(np.int32),
        outcome_weight=np.append([1.0, 1.0], two.outcome_weight),
        outcome_passes=np.append([False, True], two.outcome_passes),
        outcome_payoff=np.append([0.0, 0.0], two.outcome_payoff),
        n_roots=1,
    )
