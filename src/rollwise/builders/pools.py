"""The turns of a game with a pool of dice: keep some dice, throw the others again.

All positions have the same turn (`rollwise.dice.Pool`). Its states are computed once and
copied for each position. A turn has these states, in this order:

- after the first throw, each throw with all rolls left;
- for each remaining roll, from the most left to the fewest: each set of kept dice,
  with the other dice yet to fall, and then each throw.

After a throw with rolls left the actions are the sets to keep: `KEEP` and the code of the dice.
A player who keeps all dice throws no more. After a throw with no rolls left the actions are those
of the rules.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rollwise.dice import Pool
from rollwise.graph import KEEP, ROLLS_LEFT, THROW, Lotteries
from rollwise.graph.layout import ThrowLayout

if TYPE_CHECKING:
    from rollwise.builders.arrays import Arrays


class Turn(NamedTuple):
    """The states of a turn, and the actions in states with rolls left.

    Attributes
    ----------
    rows : (n_states, n_dice + 1) int32
        The faces, ascending, 0 for a die not yet thrown; and the rolls left.
    n_throws : int
        The first `n_throws` states follow the first throw, the last ones the last throw.
    action_indptr : (n_states - n_throws + 1,) int64
        Without the last `n_throws` states.
    label, lottery : (n_actions,) int32
    outcome_indptr : (n_actions + 1,) int64
    target : (n_outcomes,) int32
        A state of the turn.
    lotteries : Lotteries
        First the first throw, then the certain outcome of keeping, then the throw after each
        set of kept dice.
    """

    rows: np.ndarray
    n_throws: int
    action_indptr: np.ndarray
    label: np.ndarray
    lottery: np.ndarray
    outcome_indptr: np.ndarray
    target: np.ndarray
    lotteries: Lotteries


@lru_cache(8)
def turn_of(pool: Pool) -> Turn:
    """The turn of a pool."""
    throws = {throw: k for k, (_, throw) in enumerate(pool.throws)}
    keeps = {kept: k for k, kept in enumerate(pool.keeps)}
    after = [pool.after(kept) for kept in keeps]
    n, m = len(throws), len(keeps)

    def thrown(rolls_left: int) -> int:  # the first state after a throw
        return (pool.rerolls - rolls_left) * (n + m)

    last = thrown(0)
    rows, labels, lottery, targets = [], [], [], []
    counts = []
    for left in range(pool.rerolls, -1, -1):
        if left < pool.rerolls:
            for kept, k in keeps.items():
                rows.append((*(0,) * (pool.n - len(kept)), *kept, left))
                counts.append(1)
                labels.append(THROW)
                lottery.append(2 + k)
                targets.append([thrown(left) + throws[throw] for _, throw in after[k]])
        for throw in throws:
            rows.append((*throw, left))
            if not left:
                continue
            choices = pool.kept_from(throw)
            counts.append(len(choices))
            for kept in choices:
                labels.append(KEEP + pool.code(kept))
                lottery.append(1)
                all_kept = len(kept) == pool.n
                target = last + throws[throw] if all_kept else thrown(left) + n + keeps[kept]
                targets.append([target])
    weights = [[ways for ways, _ in pool.throws], [1], *([w for w, _ in found] for found in after)]
    sizes = np.cumsum([0, *map(len, weights)])
    no = np.zeros(sizes[-1], np.bool_)
    return Turn(
        np.array(rows, np.int32),
        n,
        np.cumsum([0, *counts]),
        np.array(labels, np.int32),
        np.array(lottery, np.int32),
        np.cumsum([0, *map(len, targets)]),
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


def keep_names(pool: Pool | None) -> dict[int, str]:
    """The names of the actions that keep dice of a pool: ``keep 2 2 5``."""
    if pool is None or not pool.rerolls:
        return {}
    every = [*pool.keeps, *(throw for _, throw in pool.throws)]
    texts = (" ".join(map(str, kept)) or "nothing" for kept in every)
    return {KEEP + pool.code(kept): f"keep {text}" for kept, text in zip(every, texts, strict=True)}


def with_turns(pool: Pool, arrays: Arrays, parts: dict[str, Any]) -> dict[str, Any]:
    """The parts of a graph with a turn for each position.

    Parameters
    ----------
    arrays : Arrays
        The situations are those after the last throw.
    parts : dict
        The parts of the graph of `arrays`.
    """
    turn, n = turn_of(pool), len(arrays.states)
    size, before = len(turn.rows), len(turn.rows) - turn.n_throws
    per_state = np.concatenate([np.diff(turn.action_indptr), np.zeros(turn.n_throws, np.int64)])
    counts = np.tile(per_state, (n, 1))
    counts[:, before:] = np.diff(arrays.action_indptr).reshape(n, turn.n_throws)
    # the actions of a position's turn: first keeping and throwing, then the actions of the rules
    later: Lotteries = parts["lotteries"]
    ends = arrays.action_indptr[:: turn.n_throws]
    label = _woven(turn.label, arrays.action_label, ends)
    lottery = _woven(turn.lottery, arrays.action_lottery + len(turn.lotteries.reward), ends)
    sizes = _woven(np.diff(turn.outcome_indptr), np.diff(arrays.outcome_indptr), ends)
    target = arrays.outcome_state
    own = np.where(target < n, target, target + n * size)
    inner = n + size * np.arange(n)[:, None] + turn.target
    outcome_ends = arrays.outcome_indptr[ends]
    first = n + size * np.arange(n)[:, None] + np.arange(turn.n_throws)
    weight = np.concatenate([turn.lotteries.weight, later.weight])
    layout = ThrowLayout(pool.n)
    return {
        "action_indptr": np.concatenate(
            [np.arange(n), n + np.concatenate([[0], np.cumsum(counts.reshape(-1))])]
        ),
        "action_label": np.concatenate([np.full(n, THROW), label]).astype(np.int32),
        "action_lottery": np.concatenate([np.zeros(n, np.int32), lottery]).astype(np.int32),
        "outcome_indptr": np.concatenate(
            [[0], np.cumsum(np.concatenate([np.full(n, turn.n_throws), sizes]))]
        ),
        "outcome_state": np.concatenate(
            [first.reshape(-1), _woven(inner, own, outcome_ends)]
        ).astype(np.int32),
        "lotteries": Lotteries(
            np.concatenate([turn.lotteries.indptr, turn.lotteries.indptr[-1] + later.indptr[1:]]),
            np.concatenate([turn.lotteries.reward, later.reward]),
            weight,
            np.concatenate([turn.lotteries.over, later.over]),
            np.concatenate([turn.lotteries.passes, later.passes]),
            np.concatenate([turn.lotteries.payoff, later.payoff]),
        ),
        "throws": turn.rows,
        "throw_names": (*layout.columns, ROLLS_LEFT),
    }


def _woven(same: np.ndarray, own: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """For each position the common part, or its row of it, followed by its own part.

    Parameters
    ----------
    same : (k,) or (n, k)
    own : (n_own,)
    ends : (n + 1,) int64
        The ends of the own parts, after a 0.
    """
    n, k = len(ends) - 1, same.shape[-1]
    woven = np.empty(n * k + len(own), np.int64)
    begins = k * np.arange(n) + ends[:-1]
    woven[(begins[:, None] + np.arange(k)).reshape(-1)] = np.broadcast_to(same, (n, k)).reshape(-1)
    shift = k * (1 + np.repeat(np.arange(n), np.diff(ends)))
    woven[shift + np.arange(len(own))] = own
    return woven
