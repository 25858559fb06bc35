"""Positions whose turns all lead to later layers: their values in one pass, without a graph.

A graph would hold some thousand states for each position of Yahtzee. What the rules say after
the last throw is enough: the rest of the turn is the same for all positions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.arrays import Arrays, lotteries_of
from rollwise.builders.rules import Rules
from rollwise.graph import sign_of
from rollwise.kernels.turns import Chances, PoolTables, solve_turns

if TYPE_CHECKING:
    from rollwise.dice import Pool

Floats = NDArray[np.float64]


@lru_cache(8)
def pool_tables(pool: Pool | None) -> PoolTables:
    """The tables of a pool; empty ones where there is none."""
    if pool is None:
        return PoolTables(np.empty((0, 1), np.int32), np.empty((0, 1), np.int32), 0)
    every = [*pool.keeps, *(throw for _, throw in pool.throws)]
    number = {kept: k for k, kept in enumerate(every)}
    faces = range(1, pool.sides + 1)
    without = np.full((len(every), pool.n), -1, np.int32)
    for kept, k in number.items():
        fewer = sorted({number[kept[:i] + kept[i + 1 :]] for i in range(len(kept))})
        without[k, : len(fewer)] = fewer
    with_face = [[number[tuple(sorted((*kept, face)))] for face in faces] for kept in pool.keeps]
    return PoolTables(np.array(with_face, np.int32), without, pool.rerolls)


def turn_values(
    rules: Rules, arrays: Arrays, values: Floats, bounds: Floats
) -> tuple[Floats, Floats]:
    """The values of positions, and bounds of their errors.

    Parameters
    ----------
    arrays : Arrays
        With throws, and none that leads to one of the positions.
    values, bounds : (n_known,) float64
        By the numbers of the next states.

    Returns
    -------
    values, bounds : (n,) float64
    """
    throws, lotteries = arrays.throws, lotteries_of(arrays)
    assert throws is not None
    total = np.add.reduceat(throws.weight.astype(np.float64), throws.indptr[:-1])
    throw_chance = throws.weight / np.repeat(total, np.diff(throws.indptr))
    n = len(arrays.states)
    found, off = np.empty(n), np.empty(n)
    solve_turns(
        n,
        float(sign_of(rules.game.objective)),
        throws.situation_indptr,
        arrays.action_indptr,
        arrays.action_lottery,
        arrays.outcome_indptr,
        arrays.outcome_state,
        Chances(
            lotteries.reward,
            lotteries.indptr,
            lotteries.chances(),
            lotteries.payoff,
            np.where(lotteries.passes, -1.0, 1.0),
        ),
        pool_tables(rules.pool),
        (throws.indptr, throws.of_state, throw_chance),
        values,
        bounds,
        found,
        off,
    )
    return found, off
