"""Layers from the arrays that a builder finds (`rollwise.builders.arrays`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.arrays import Arrays, lotteries_of, whole
from rollwise.graph import sign_of
from rollwise.graph.lotteries import Lotteries
from rollwise.kernels.chances import UNIT, are_whole, keeps_small_numbers, scale
from rollwise.layers import Block, Layer, Pool, Tables, block_of
from rollwise.layers.layer import NO_POOL

if TYPE_CHECKING:
    from rollwise import dice
    from rollwise.builders.rules import Rules

LAST = 2**32 - 1  # less the number of a lottery's outcome: where the game ends, for the time being


def block_from(arrays: Arrays) -> Block:
    """What the rules say of some positions, whose endings are yet to be numbered (`layer_of`)."""
    n, throws = len(arrays.states), arrays.throws
    situation = np.arange(n + 1) if throws is None else throws.situation_indptr
    action = arrays.action_indptr[situation]
    first = np.column_stack([situation, action, arrays.outcome_indptr[action]])
    target = arrays.outcome_state.astype(np.uint32)
    over = np.flatnonzero(arrays.outcome_state < 0)
    owner = np.searchsorted(arrays.outcome_indptr, over, side="right") - 1
    along = over - arrays.outcome_indptr[owner]
    target[over] = LAST - (arrays.lottery_indptr[arrays.action_lottery[owner]] + along)
    lists = np.zeros(n, np.uint8) if throws is None else throws.of_state
    return block_of(first, lists, np.diff(arrays.action_indptr), arrays.action_lottery, target)


def layer_of(
    rules: Rules, arrays: Arrays, blocks: Sequence[tuple[int, Block]], n: int, n_border: int
) -> Layer:
    """A layer from its blocks. Endings are numbered in their place.

    Parameters
    ----------
    arrays : Arrays
        With the lotteries and lists of throws of all blocks.
    """
    lotteries, sign = lotteries_of(arrays), float(sign_of(rules.game.objective))
    payoffs = sign * lotteries.payoff
    endings, ending = np.unique(payoffs[lotteries.over], return_inverse=True)
    place = np.zeros(len(payoffs), np.int64)
    place[lotteries.over] = n + n_border + ending.reshape(-1)
    first_ending = LAST - len(payoffs) + 1
    for _, block in blocks:
        over = np.flatnonzero(block.target >= first_ending)
        block.target[over] = place[LAST - block.target[over].astype(np.int64)]
    return Layer(list(blocks), tables_of(rules, arrays, sign), n, n_border, endings)


def tables_of(rules: Rules, arrays: Arrays, sign: float) -> Tables:
    """The lists of throws and the lotteries of a layer."""
    found, throws = _weights(lotteries_of(arrays)), arrays.throws
    lotteries, weight, total, error = found
    signs = np.where(lotteries.passes, -1.0, 1.0)
    if throws is None:
        lists = (np.array([0, 1], np.uint32), np.ones(1), np.ones(1), np.ones(1), np.zeros(1))
    else:
        no = np.zeros(len(throws.weight), np.bool_)
        reward = np.zeros(len(throws.indptr) - 1)
        of_throws = Lotteries(
            throws.indptr, reward, whole(throws.weight), no, no, np.zeros(len(no))
        )
        _, thrown, totals, errors = _weights(of_throws)
        chance = thrown / np.repeat(totals, np.diff(throws.indptr))
        lists = throws.indptr.astype(np.uint32), chance, thrown, totals, errors
    return Tables(
        *lists,
        lotteries.indptr.astype(np.uint32),
        signs * weight / np.repeat(total, np.diff(lotteries.indptr)),
        signs * weight,
        total,
        error,
        sign * lotteries.reward,
        pool_tables(rules.pool),
    )


def _weights(lotteries: Lotteries) -> tuple[Lotteries, Any, Any, Any]:
    """Lotteries, their weights and totals, and the roundings of means with these weights.

    A mean of n terms is off by n roundings for the products and their sum, and by one each for a
    weight beyond 53 bits, the total, the division, a reward and the bound itself. Weights that
    aren't whole add n for their total, and 4 for having been rounded.
    """
    begin, sizes = lotteries.indptr[:-1], np.diff(lotteries.indptr)
    weight, normal = scale(lotteries)
    are_exact = are_whole(lotteries)
    total = np.add.reduceat(lotteries.weight if are_exact else weight, begin).astype(np.float64)
    fit = (lotteries.weight > 0) & np.isfinite(lotteries.weight) & np.isfinite(lotteries.payoff)
    keeps: Any = keeps_small_numbers
    sound = normal & np.isfinite(lotteries.reward) & np.logical_and.reduceat(fit, begin)
    sound &= bool(keeps(1.0))
    steps = sizes + 5 if are_exact else 2 * sizes + 9
    error: NDArray[np.float64] = np.where(sound, steps * (1.0 + 1e-12) * UNIT, np.inf)
    return lotteries, weight, total, error


@lru_cache(8)
def pool_tables(pool: dice.Pool | None) -> Pool:
    """The tables of a pool of dice; empty ones where there is none."""
    if pool is None:
        return NO_POOL
    every = [*pool.keeps, *(throw for _, throw in pool.throws)]
    number = {kept: k for k, kept in enumerate(every)}
    faces = range(1, pool.sides + 1)
    without = np.full((len(every), pool.n), -1, np.int32)
    for kept, k in number.items():
        fewer = sorted({number[kept[:i] + kept[i + 1 :]] for i in range(len(kept))})
        without[k, : len(fewer)] = fewer
    with_face = [[number[tuple(sorted((*kept, face)))] for face in faces] for kept in pool.keeps]
    return Pool(np.array(with_face, np.int32), without, pool.rerolls)
