"""The best chance of each final score or better, from one graph or one layer at a time.

Each target has a policy of its own, which knows the points made so far. A position has a row of
chances: the chance to make 0, 1, 2, ... more points, each with its best policy. With a reward of r
the row of the next position is read r places lower, so that the equation of a layer holds for
rows as for numbers (see `rollwise.layers.layer`; Bäuerle and Rieder, "More risk-sensitive Markov
decision processes", Mathematics of Operations Research 39, 2014). One sweep over the layers
solves all targets.

All terms are positive or 0. So the relative error of a chance is at most that of the worst of its
terms, and a unit for each operation on the way. It is carried along, in units of 2^-53.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer import kept
from rollwise.builders.by_layer import Layers, find_layers, layers_fault
from rollwise.builders.rules import Rules
from rollwise.derive.chase import Chase
from rollwise.errors import TooManyStates, UsageError
from rollwise.game import Game
from rollwise.graph import sign_of, win_probability
from rollwise.kernels.jit import ONE, index, inner_kernel, kernel
from rollwise.layers import has_no_cycle, in_solving_order
from rollwise.machine import memory_limits

Floats = NDArray[np.float64]

UNIT = 2.0**-53
WIDTH = 64  # chances computed together: the rows of a turn stay in the cache


class NoLayers(UsageError):
    """The chances of scores of this game can't be found by layers."""


class Reach(NamedTuple):
    """Chances of final scores.

    Attributes
    ----------
    chances : (n,) float64
        The best chance of each score or better.
    error_bound : float
        Of each chance, proved.
    """

    chances: Floats
    error_bound: float


def reach(
    game: Game,
    scores: Sequence[int],
    *,
    max_states: int | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Reach:
    """The best chance of each score or better, from the graph of a chase.

    Parameters
    ----------
    game : Game
        For one player, with whole points.
    scores : sequence of int

    Raises
    ------
    UsageError, RulesError, TooManyStates
        See `rollwise.Chase`.
    """
    chase, sign = Chase(game), int(sign_of(game.objective))
    if chase.has_limit:  # every play that costs more than the worst score is lost
        chase = replace(
            chase, target=sign * min(sign * chase.start().gap, *(sign * x for x in scores))
        )
    solution = kept.solve(chase, max_states=max_states, progress=progress)
    gaps = solution.graph.states[: solution.graph.n_roots, -1].tolist()
    found = {gap: float(solution.values[s]) for s, gap in enumerate(gaps)}
    worst = min(sign * gap for gap in gaps)
    outside = [1.0 if sign * score < worst else -1.0 for score in scores]
    values = [found.get(score, other) for score, other in zip(scores, outside, strict=True)]
    return Reach(win_probability(np.array(values)), solution.error_bound / 2)


def best_chances(
    game: Game,
    scores: Sequence[int],
    *,
    in_layers: bool,
    max_states: int | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Reach:
    """The best chance of each score or better, by layers if wanted and possible.

    Other games are solved from one graph. If that is too large, the error says why they have no
    layers.

    Raises
    ------
    UsageError, RulesError, TooManyStates
    """
    refusal: NoLayers | None = None
    if in_layers:
        try:
            found = reach_by_layer(game, max(0, *scores), progress=progress)
            return found._replace(chances=found.chances[[max(0, score) for score in scores]])
        except NoLayers as error:
            refusal = error
    try:
        return reach(game, scores, max_states=max_states, progress=progress)
    except TooManyStates as error:
        if refusal is None:
            raise
        raise refusal from error


def reach_by_layer(
    game: Game, most: int, *, progress: Callable[[str, int, int | None], None] | None = None
) -> Reach:
    """The best chance of each score from 0 to `most`, one layer at a time.

    Parameters
    ----------
    game : Game
        For one player and the most points, with a `progress`. No action costs points, and no
        position comes back.
    most : int
        The largest score.

    Raises
    ------
    NoLayers
        The game is another one.
    """
    if game.players != 1 or game.objective != "maximize":
        raise NoLayers(
            f"{game.name}: chances of scores by layers are for one player who wants many points"
        )
    if fault := layers_fault(Rules(game), progress):
        raise NoLayers(fault)
    layers = find_layers(game, only_start=True, progress=progress)
    places = _places(layers)
    width = most + 1
    bytes_of_rows = 8 * width * (places + int(np.diff(layers.indptr).max()) * 3)
    memory_limits.require(bytes_of_rows, f"the chances of {width:,} scores in {places:,} positions")
    rows, units, tops = np.zeros((places, width)), np.zeros(places), np.zeros(places, np.int64)
    done = 0
    # row `place % places` is free again once no earlier layer leads to it
    for piece in layers.last_first():
        layer = piece.layer if has_no_cycle(piece.layer) else in_solving_order(piece.layer)
        reward = layer.tables.reward
        if np.any((reward < 0) | (reward != np.rint(reward))):
            raise NoLayers(
                f"{game.name}: chances of scores by layers are for whole points from 0 on"
            )
        if not has_no_cycle(layer):
            raise NoLayers(
                f"{game.name}: play can come back to a position; chances of scores by layers are "
                "for games where it can't"
            )
        n, border = layer.n, piece.border % places
        known = slice(n, n + layer.n_border)
        chances, off = np.zeros((layer.n_places, width)), np.zeros(layer.n_places)
        last = np.zeros(layer.n_places, np.int64)  # the largest score with a chance
        chances[known], off[known], last[known] = rows[border], units[border], tops[border]
        chances[known.stop :, 0] = 1.0  # the end: no more points
        for place, block in reversed(layer.blocks):
            sweep_rows(place, block, layer.tables, chances, off, last)
        here, order = np.arange(piece.begin, piece.end) % places, layer.place
        rows[here], units[here], tops[here] = chances[order], off[order], last[order]
        done += n
        if progress is not None:
            progress("chances of scores, positions", done, layers.n_states)
    start = layers.start % places
    return Reach(rows[start], float(units[start]) * UNIT * 1.01)


def _places(layers: Layers) -> int:
    """The largest number of positions with rows needed at once."""
    assert layers.farthest is not None
    last = np.maximum.accumulate(layers.farthest)
    return int((layers.indptr[last + 1] - layers.indptr[:-1]).max())


@kernel(never_interpreted=True)
def sweep_rows(place, block, tables, chances, off, last):
    """Fill the rows of the positions of a block, from the last one on.

    Parameters
    ----------
    chances : (n_places, width) float64, changed
        The chance of x more points or better, x = 0, 1, 2, ...
    off : (n_places,) float64, changed
        Relative error of a row, in units of 2^-53.
    last : (n_places,) int64, changed
        The largest x with a chance.
    """
    first, throws, count, lottery, target = block
    lists, throw, pool = tables.lists, tables.throw, tables.pool
    indptr, coefficient, reward = tables.indptr, tables.coefficient, tables.reward
    n_partial, sides = index(pool.with_face.shape[0]), index(pool.with_face.shape[1])
    width, n_kept = chances.shape[1], index(pool.without.shape[0])
    kept, best = np.zeros((max(n_kept, ONE), WIDTH)), np.zeros((max(n_kept, ONE), WIDTH))
    top, row = np.zeros(WIDTH), np.zeros(WIDTH)
    i = index(throws.shape[0])
    while i > 0:
        i -= ONE
        p = index(place) + i
        begin, end = index(lists[throws[i]]), index(lists[throws[i] + ONE])
        # the scores with a chance, and the rounding
        s, a, o = index(first[i, 0]), index(first[i, 1]), index(first[i, 2])
        most, carried, terms = 0, 0.0, 0.0
        for _ in range(begin, end):
            for _ in range(index(count[s])):
                number = index(lottery[a])
                brought, size = int(reward[number]), index(indptr[number + ONE] - indptr[number])
                for _ in range(size):
                    most = max(most, last[target[o]] + brought)
                    carried = max(carried, off[target[o]])
                    o += ONE
                terms = max(terms, float(size) + 2.0 if size > 1 else 0.0)
                a += ONE
            s += ONE
        if n_partial > 0:  # for each die of each throw a sum, the share and its product
            rounds = (end - begin) // (n_kept - n_partial)
            terms += rounds * (pool.rerolls + 1.0) * pool.without.shape[1] * (sides + 2.0)
        elif end - begin > ONE:
            terms += float(end - begin) + 2.0
        most = min(most, width - 1)
        last[p], off[p] = most, carried + terms
        # the row, some scores at a time
        for x0 in range(0, most + 1, WIDTH):
            m = min(WIDTH, most + 1 - x0)
            s, a, o = index(first[i, 0]), index(first[i, 1]), index(first[i, 2])
            row[:] = 0.0
            k = n_partial
            for t in range(begin, end):
                # the best action for each score by itself: policies differ from score to score
                top[:] = 0.0
                for _ in range(index(count[s])):
                    number = index(lottery[a])
                    add_action(
                        number, target, o, coefficient, indptr, reward, chances, x0, m, best[0], top
                    )
                    o += index(indptr[number + ONE] - indptr[number])
                    a += ONE
                s += ONE
                if n_partial == 0:
                    for x in range(m):
                        row[x] += throw[t] * top[x]
                    continue
                kept[k, :] = top
                k += ONE
                if k == n_kept:  # the end of a round of situations
                    fold_rows(pool, kept, best, t - begin < n_kept - n_partial)
                    k = n_partial
            if n_partial > 0:
                row[:] = kept[0]
            for x in range(m):
                chances[p, x0 + x] = row[x]


@inner_kernel
def add_action(number, target, o, coefficient, indptr, reward, chances, x0, m, mean, top):
    """Raise `top` to the chances of an action, for m scores from x0 on."""
    begin, end = index(indptr[number]), index(indptr[number + ONE])
    shift = x0 - int(reward[number])
    sure = max(0, min(m, -shift))  # scores that the reward alone reaches
    mean[:] = 0.0
    for j in range(begin, end):
        to, share = index(target[o]), coefficient[j]
        o += ONE
        for x in range(sure):
            mean[x] += share
        for x in range(sure, m):
            mean[x] += share * chances[to, x + shift]
    for x in range(m):
        if mean[x] > top[x]:
            top[x] = mean[x]


@inner_kernel
def fold_rows(pool, kept, best, is_last):
    """The rows of a turn with a pool of dice from those after its last throw: the first of `kept`.

    As `rollwise.engine.sweeps.fold`, with a row in the place of a number.
    """
    with_face, without = pool.with_face, pool.without
    n_partial, sides = with_face.shape
    n_kept, width = kept.shape
    part = 1.0 / sides
    for again in range(pool.rerolls + 1):
        if again > 0 or not is_last:
            for k in range(n_kept):  # keep the best dice
                for x in range(width):
                    best[k, x] = kept[k, x]
                # fewer kept dice come first, so each row is the best of all its subsets
                for i in range(without.shape[1]):
                    fewer = without[k, i]
                    if fewer < 0:
                        break
                    for x in range(width):
                        if best[fewer, x] > best[k, x]:
                            best[k, x] = best[fewer, x]
            for k in range(n_partial, n_kept):
                for x in range(width):
                    kept[k, x] = best[k, x]
        # partial throws with more dice come after those with fewer, so they are done first
        for k in range(n_partial - 1, -1, -1):  # add one die after the other
            kept[k, :] = 0.0
            for face in range(sides):
                after = with_face[k, face]
                for x in range(width):
                    kept[k, x] += kept[after, x]
            for x in range(width):
                kept[k, x] *= part
