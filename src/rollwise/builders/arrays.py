"""The arrays of a builder, and their conversion to graphs.

In a game with a pool of dice all positions have the same turn (`rollwise.dice.Pool`). Its states
are computed once and copied for each position. A turn has these states, in this order:

- after the first throw, each throw with all rolls left;
- for each remaining roll, from the most left to the fewest: each set of kept dice,
  with the other dice yet to fall, and then each throw.

After a throw with rolls left the actions are the sets to keep: `KEEP` and the code of the dice.
A player who keeps all dice throws no more. After a throw with no rolls left the actions are those
of the rules. Rules that read the rolls left offer their actions after each throw, before the sets
to keep; keeping all dice is then no action. If their rerolls depend on the position, every position
has the states of the longest turn, and its first throw leads to those with its rolls left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rollwise.builders.rules import Rules
from rollwise.game import caps_of
from rollwise.graph import KEEP, THROW, Lotteries, StateGraph
from rollwise.graph.layout import field_words
from rollwise.graph.lotteries import pointers
from rollwise.then import AGAIN, END, GOES_ON, seats_on

# The payoff of each named `then`, in the order of these constants.
PAYOFF = np.array([0.0, 0.0, 1.0, -1.0, 0.0, 0.0])


class Throws(NamedTuple):
    """The throws before each choice, as lists of throws shared by states.

    Attributes
    ----------
    of_state : (n_states,) int32
        The list of each state.
    indptr : (n_lists + 1,) int64
    weight : int64 or float64
    code : int64
        See `rollwise.graph.layout.ThrowLayout`.
    """

    of_state: np.ndarray
    indptr: np.ndarray
    weight: np.ndarray
    code: np.ndarray

    @property
    def situation_indptr(self) -> np.ndarray:
        """The first situation of each state: (n_states + 1,) int64."""
        sizes = np.diff(self.indptr)[self.of_state]
        return pointers(sizes)


class Arrays(NamedTuple):
    """The result of both builders.

    The arrays are those of a `StateGraph` before throws are inserted: actions
    belong to situations. A situation is a state or, in a game with throws, a state after a throw.
    """

    n_roots: int

    states: np.ndarray
    action_indptr: np.ndarray
    action_label: np.ndarray
    action_lottery: np.ndarray
    outcome_indptr: np.ndarray
    outcome_state: np.ndarray
    lottery_indptr: np.ndarray
    lottery_reward: np.ndarray
    lottery_weight: np.ndarray
    lottery_then: np.ndarray
    throws: Throws | None = None

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        return sum(array.nbytes for array in (*self, *(self.throws or ())) if _is_array(array))

    def copied(self) -> Arrays:
        """A copy in memory of its own."""
        return self._replace(
            throws=None if self.throws is None else Throws(*map(np.copy, self.throws)),
            **{name: array.copy() for name, array in self._asdict().items() if _is_array(array)},
        )


def _is_array(part: Any) -> bool:
    return isinstance(part, np.ndarray)


def as_graph(rules: Rules, arrays: Arrays, n_border: int = 0) -> StateGraph:
    """A builder's arrays as a graph."""
    lotteries = lotteries_of(arrays, rules.game.players)
    parts: dict[str, Any] = {
        "action_indptr": arrays.action_indptr,
        "action_label": arrays.action_label,
        "action_lottery": arrays.action_lottery,
        "outcome_indptr": arrays.outcome_indptr,
        "outcome_state": arrays.outcome_state,
        "lotteries": lotteries,
    }
    if rules.pool is not None:
        from rollwise.builders.turns import with_turns

        parts = with_turns(rules.pool, arrays, parts, rules.reads_rolls_left)
    elif arrays.throws is not None:
        parts = _with_throws(rules, arrays, parts)
    return StateGraph(
        states=arrays.states,
        field_names=rules.field_names,
        action_names=action_names(rules, first_rows(rules, arrays)),
        game=rules.game.name,
        parameters=rules.game.parameters,
        players=rules.game.players,
        objective=rules.game.objective,  # type: ignore[arg-type]  # `Rules` has checked both
        n_roots=arrays.n_roots,
        n_border=n_border,
        endless=rules.game.endless,  # type: ignore[arg-type]
        words=field_words(rules.game),
        caps=caps_of(rules.game),
        **parts,
    )


def lotteries_of(arrays: Arrays, players: int = 2) -> Lotteries:
    """The lotteries of a builder's arrays."""
    then = arrays.lottery_then
    over = (then & ~GOES_ON) != 0
    named = ~over | (then.view(np.uint64) <= END)  # the others are the bits of payoffs
    seats = seats_on(np.where(over, AGAIN, then), max(players, 2))
    return Lotteries(
        arrays.lottery_indptr,
        arrays.lottery_reward,
        whole(arrays.lottery_weight),
        over,
        seats.astype(np.uint8 if players > 2 else np.bool_),
        np.where(named, PAYOFF[np.where(named & over, then, AGAIN)], then.view(np.float64)),
    )


def action_names(rules: Rules, first: Mapping[int, list[int]]) -> dict[int, str]:
    """The names of the named actions, by action number.

    Parameters
    ----------
    first : mapping
        From `first_rows`.
    """
    texts = {
        label: text
        for label, row in first.items()
        if label not in rules.action_names
        and (text := rules.name_action(rules.situation(row), label))
    }
    if rules.pool is None:
        return rules.action_names | texts
    from rollwise.builders.turns import keep_names

    return rules.action_names | texts | keep_names(rules.pool, rules.reads_rolls_left)


def first_rows(rules: Rules, arrays: Arrays) -> dict[int, list[int]]:
    """The first occurrence of each action that `action_text` may name.

    The names can depend on anything, so they are computed anew whenever an answer is read.

    Returns
    -------
    dict
        By action number, the fields of the state and the throw.
    """
    if not rules.has_action_text:
        return {}
    labels, first = np.unique(arrays.action_label, return_index=True)
    number = np.searchsorted(arrays.action_indptr, first, side="right") - 1  # of the situation
    state, throw = number, np.zeros_like(number)
    if arrays.throws is not None:
        begins = arrays.throws.situation_indptr
        state = np.searchsorted(begins, number, side="right") - 1
        throw = arrays.throws.indptr[arrays.throws.of_state[state]] + number - begins[state]
    rows_by_state = {}
    for label, s, t in zip(labels.tolist(), state.tolist(), throw.tolist(), strict=True):
        if label in rules.action_names:
            continue
        rows_by_state[label] = arrays.states[s].tolist()
        if arrays.throws is not None and rules.throws is not None:
            rows_by_state[label] += rules.throws.rows(arrays.throws.code[t : t + 1])[0].tolist()
    return rows_by_state


def first_rows_of(rules: Rules, graph: StateGraph) -> dict[int, list[int]]:
    """`first_rows` for the graph of the rules."""
    if not rules.has_action_text:
        return {}
    labels, first = np.unique(graph.action_label, return_index=True)
    rows = graph.rows_at(graph.action_state[first].astype(np.int64))
    found = dict(zip(labels.tolist(), rows.tolist(), strict=True))
    return {k: row for k, row in found.items() if 0 <= k < KEEP and k not in rules.action_names}


def whole(weight: np.ndarray) -> np.ndarray:
    """Weights as int64 if they are floats with integer values."""
    if weight.dtype == np.float64 and np.all(weight == np.floor(weight)) and weight.max() < 2.0**53:
        return weight.astype(np.int64)
    return weight


def _with_throws(rules: Rules, arrays: Arrays, parts: dict[str, Any]) -> dict[str, Any]:
    """The parts of a graph in which each state is followed by a throw and then by a choice.

    The states come first. Each has one action, the throw, and each of its outcomes leads to a
    separate state: outcome j, counted over all states, leads to the state ``n + j``.
    """
    throws, layout = arrays.throws, rules.throws
    assert throws is not None
    assert layout is not None
    n, n_lists = len(arrays.states), len(throws.indptr) - 1
    begins = throws.situation_indptr
    n_thrown = int(begins[-1])
    target = arrays.outcome_state
    n_codes = len(throws.code)
    no = np.zeros(n_codes, np.bool_)
    points, nothing = np.zeros(n_lists), np.zeros(n_codes)
    thrown = Lotteries(throws.indptr, points, whole(throws.weight), no, no, nothing)
    return {
        "action_indptr": np.concatenate([np.arange(n), n + arrays.action_indptr]),
        "action_label": np.concatenate([np.full(n, THROW, np.int32), arrays.action_label]),
        "action_lottery": np.concatenate([throws.of_state, arrays.action_lottery + n_lists]).astype(
            np.int32
        ),
        "outcome_indptr": np.concatenate([begins, n_thrown + arrays.outcome_indptr[1:]]),
        "outcome_state": np.concatenate(
            [
                np.arange(n, n + n_thrown, dtype=np.int32),
                np.where(target < n, target, target + np.int32(n_thrown)),
            ]
        ),
        "lotteries": thrown.followed_by(parts["lotteries"]),
        "throws": layout.rows(throws.code),
        "throw_names": layout.columns,
    }
