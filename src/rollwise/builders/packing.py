"""Layers from the arrays that a builder finds (`rollwise.builders.arrays`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rollwise.builders.arrays import Arrays, lotteries_of, whole
from rollwise.graph import sign_of
from rollwise.layers import Block, Layer, Pool, block_of
from rollwise.layers.layer import NO_POOL
from rollwise.layers.tables import endings_of, tables_of

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
    endings, place = endings_of(lotteries, sign, n + n_border)
    first_ending = LAST - len(place) + 1
    for _, block in blocks:
        over = np.flatnonzero(block.target >= first_ending)
        block.target[over] = place[LAST - block.target[over].astype(np.int64)]
    throws = None
    if arrays.throws is not None:
        throws = arrays.throws.indptr, whole(arrays.throws.weight)
    tables = tables_of(lotteries, sign, throws, pool_tables(rules.pool))
    return Layer(list(blocks), tables, n, n_border, endings)


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
