"""The turn of a pool of dice with rerolls: its tables for a layer, and its states in a graph."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rollwise.graph import KEEP, ROLLS_LEFT, THROW, Lotteries
from rollwise.graph.layout import ThrowLayout
from rollwise.graph.lotteries import pointers
from rollwise.layers import Pool

if TYPE_CHECKING:
    from rollwise import dice
    from rollwise.builders.arrays import Arrays


@lru_cache(8)
def pool_tables(pool: dice.Pool, reads_rolls_left: bool) -> Pool:
    """The tables of a pool of dice."""
    every = [*pool.keeps, *(throw for _, throw in pool.throws)]
    number = {kept: k for k, kept in enumerate(every)}
    without = np.full((len(every), pool.n), -1, np.int32)
    for kept, k in number.items():
        fewer = sorted({number[kept[:i] + kept[i + 1 :]] for i in range(len(kept))})
        without[k, : len(fewer)] = fewer
    with_face = [[number[tuple(sorted((*kept, face)))] for face in pool.die] for kept in pool.keeps]
    rerolls = 0 if reads_rolls_left else pool.rerolls
    return Pool(np.array(with_face, np.int32), without, rerolls)


class Turn(NamedTuple):
    """The states of a turn, and the actions that are the same in every position.

    Attributes
    ----------
    rows : (n_states, n_dice + 1) int32
        The faces, ascending, 0 for a die not yet thrown; and the rolls left.
    n_throws : int
    action_state : (n_actions,) int64
        The state of each action, ascending.
    label, lottery : (n_actions,) int32
    size : (n_actions,) int64
        The number of outcomes.
    target : (n_outcomes,) int32
        A state of the turn.
    lotteries : Lotteries
        First the first throw, then the certain outcome of keeping, then the throw after each
        set of kept dice.
    """

    rows: np.ndarray
    n_throws: int
    action_state: np.ndarray
    label: np.ndarray
    lottery: np.ndarray
    size: np.ndarray
    target: np.ndarray
    lotteries: Lotteries

    def thrown(self, rolls_left: np.ndarray) -> np.ndarray:
        """The first state after a throw, by the rolls left."""
        most = int(self.rows[0, -1])
        return (most - rolls_left) * ((len(self.rows) - self.n_throws) // max(most, 1))


@lru_cache(8)
def turn_of(pool: dice.Pool, reads_rolls_left: bool = False) -> Turn:
    """The turn of a pool."""
    throws = {throw: k for k, (_, throw) in enumerate(pool.throws)}
    keeps = {kept: k for k, kept in enumerate(pool.keeps)}
    after = [pool.after(kept) for kept in keeps]
    n, m = len(throws), len(keeps)
    last = pool.rerolls * (n + m)
    rows: list[tuple[int, ...]] = []
    actions: list[tuple[int, int, int]] = []  # the state, the label and the lottery
    targets: list[list[int]] = []
    for left in range(pool.rerolls, -1, -1):
        if left < pool.rerolls:
            # The throws of the other dice follow the sets of kept dice.
            first = len(rows) + m
            for kept, k in keeps.items():
                actions.append((len(rows), THROW, 2 + k))
                targets.append([first + throws[throw] for _, throw in after[k]])
                rows.append((*(0,) * (pool.n - len(kept)), *kept, left))
        # The sets of dice to keep follow these throws, with one roll fewer left.
        first = len(rows) + n
        for throw in throws:
            for kept in pool.kept_from(throw) if left else ():
                all_kept = len(kept) == pool.n
                if not (all_kept and reads_rolls_left):
                    actions.append((len(rows), KEEP + pool.code(kept), 1))
                    targets.append([last + throws[throw] if all_kept else first + keeps[kept]])
            rows.append((*throw, left))
    weights = [[ways for ways, _ in pool.throws], [1], *([w for w, _ in found] for found in after)]
    sizes = np.cumsum([0, *map(len, weights)])
    no = np.zeros(sizes[-1], np.bool_)
    state, label, lottery = np.array(actions, np.int64).reshape(-1, 3).T
    return Turn(
        np.array(rows, np.int32),
        n,
        state,
        label.astype(np.int32),
        lottery.astype(np.int32),
        np.array(list(map(len, targets)), np.int64),
        np.array([target for found in targets for target in found], np.int32),
        Lotteries(
            sizes,
            np.zeros(len(weights)),
            np.array([w for found in weights for w in found], np.int64),
            no,
            no,
            np.zeros(sizes[-1]),
        ),
    )


def keep_names(pool: dice.Pool, reads_rolls_left: bool) -> dict[int, str]:
    """The names of the actions that keep dice of a pool: ``keep 2 2 5``."""
    if not (pool.rerolls or reads_rolls_left):
        return {}
    every = [*pool.keeps, *(throw for _, throw in pool.throws if not reads_rolls_left)]
    texts = (" ".join(map(str, kept)) or "nothing" for kept in every)
    return {KEEP + pool.code(kept): f"keep {text}" for kept, text in zip(every, texts, strict=True)}


def with_turns(
    pool: dice.Pool, arrays: Arrays, parts: dict[str, Any], reads_rolls_left: bool
) -> dict[str, Any]:
    """The parts of a graph with a turn for each position.

    Parameters
    ----------
    arrays : Arrays
        The situations are those where the turn may end, with the fewest rolls left first.
    parts : dict
        The parts of the graph of `arrays`.
    """
    assert arrays.throws is not None
    n, n_throws = len(arrays.states), len(pool.throws)
    begins = arrays.throws.situation_indptr
    rolls = np.full(n, pool.rerolls)
    if reads_rolls_left:
        rolls = np.diff(begins) // n_throws - 1
        pool = replace(pool, rerolls=int(rolls.max(initial=0)))
    turn = turn_of(pool, reads_rolls_left)
    size = len(turn.rows)
    first = n + size * np.arange(n)  # the first state of each turn
    # the actions: throwing from a position, then those of the rules, then those of every turn
    along = np.arange(begins[-1]) - np.repeat(begins[:-1], np.diff(begins))
    # Situation `along` of a position: a quotient of rolls left, and a remainder for the throw.
    situation = np.repeat(first, np.diff(begins)) + turn.thrown(along // n_throws)
    own = np.repeat(situation + along % n_throws, np.diff(arrays.action_indptr))
    every = slice(None) if rolls.min(initial=pool.rerolls) == pool.rerolls else _open(turn, rolls)
    always = (first[:, None] + turn.action_state).reshape(-1)[every]
    state = np.concatenate([np.arange(n), own, always])
    order = np.argsort(state, kind="stable")
    label = [np.full(n, THROW), arrays.action_label, np.tile(turn.label, n)[every]]
    lottery = [
        np.zeros(n, np.int64),
        arrays.action_lottery + len(turn.lotteries.reward),
        np.tile(turn.lottery, n)[every],
    ]
    of_turns = np.tile(turn.size, n)
    sizes = np.concatenate([np.full(n, n_throws), np.diff(arrays.outcome_indptr), of_turns[every]])
    target, inner = arrays.outcome_state, (first[:, None] + turn.target).reshape(-1)
    targets = np.concatenate(
        [
            ((first + turn.thrown(rolls))[:, None] + np.arange(n_throws)).reshape(-1),
            np.where(target < n, target, target + n * size),
            inner if isinstance(every, slice) else inner[np.repeat(every, of_turns)],
        ]
    )
    outcome_indptr = pointers(sizes[order])
    # Outcomes follow their actions into the new order: outcome k comes from the place k + shift.
    shift = (np.cumsum(sizes) - sizes)[order] - outcome_indptr[:-1]
    counts = np.bincount(state, minlength=n + n * size)
    layout = ThrowLayout(pool.n)
    return {
        "action_indptr": pointers(counts),
        "action_label": np.concatenate(label)[order].astype(np.int32),
        "action_lottery": np.concatenate(lottery)[order].astype(np.int32),
        "outcome_indptr": outcome_indptr,
        "outcome_state": targets[np.arange(len(targets)) + np.repeat(shift, sizes[order])].astype(
            np.int32
        ),
        "lotteries": turn.lotteries.followed_by(parts["lotteries"]),
        "throws": turn.rows,
        "throw_names": (*layout.columns, ROLLS_LEFT),
    }


def _open(turn: Turn, rolls: np.ndarray) -> np.ndarray:
    """The actions of all turns that positions with so many rolls need: (n * n_actions,) bool.

    Their other states need an action, and have one.
    """
    too_many = turn.rows[turn.action_state, -1] > rolls[:, None]
    needed: np.ndarray = ~(too_many & (turn.label > KEEP)).reshape(-1)
    return needed
