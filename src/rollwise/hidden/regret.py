"""Counterfactual regret minimization: PCFR+ for large trees, CFR+ for open moves after one deal.

In PCFR+ each information set keeps the regrets of its actions, never below 0, and plays in
proportion to them, with the last regrets as a prediction of the next (Farina, Kroer and Sandholm
2021; regret matching plus: Tammelin 2014). The players take turns. Average strategies, with the
weight t^2 of iteration t, approach an equilibrium; `check.bounds` proves how close they are.

Large games with one hidden deal and open moves go without a list of histories (`open_game`). After
the deal the players take turns, and every action is seen by both. So the histories are the
same for all deals, and so few different nodes follow one another that they fit in a small graph
(25 bids for Liar's Dice, on whose paths lie 2^24 histories). A player's *type* is the own deal.
Regrets lie in one long array: a row for each action of each history, a number for each type. The
rows of a history follow from its path, since the number of rows after each node is known.

There regrets are minimized by CFR+ on vectors of types (Tammelin 2014): a strategy plays in
proportion to the regrets, which never fall below 0. Branches that the opponent hardly ever reaches
are left out (for a while: less and less often). The proof of `check` leaves out nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.hidden.check import OpenGame, bounds, open_bounds, plan_of
from rollwise.hidden.positions import DEAL, MOVE, Positions
from rollwise.hidden.tree import Seat, Tree, check_ends
from rollwise.kernels.jit import inner_kernel, kernel

FEWEST = 16  # iterations before the first check


@inner_kernel
def _gather(begins, others, payoffs, plan, gains):
    """The gain of each sequence from the plays that end with it."""
    for s in range(len(gains)):
        total = 0.0
        for k in range(begins[s], begins[s + 1]):
            total += payoffs[k] * plan[others[k]]
        gains[s] = total


@inner_kernel
def _learn(parents, first, gains, regrets, strategy):
    """Update regrets and strategy of each information set."""
    # last sets first: the worth of a set is part of the gain of the sequence before it
    for k in range(len(parents) - 1, -1, -1):
        begin, end = first[k], first[k + 1]
        worth = 0.0
        for s in range(begin, end):
            worth += strategy[s] * gains[s]
        total = 0.0
        for s in range(begin, end):
            gain = gains[s] - worth
            # the last gain counts twice in the strategy: it predicts the next one
            regrets[s] = max(regrets[s] + gain, 0.0)
            strategy[s] = max(regrets[s] + gain, 0.0)
            total += strategy[s]
        for s in range(begin, end):
            strategy[s] = strategy[s] / total if total > 0.0 else 1.0 / (end - begin)
        gains[parents[k]] += worth


@inner_kernel
def _play(parents, first, strategy, weight, plan, sums):
    """Write the realization weights of a strategy, and add them to the average."""
    # parents come first, so their weights are final
    for k in range(len(parents)):
        for s in range(first[k], first[k + 1]):
            plan[s] = plan[parents[k]] * strategy[s]
            sums[s] += weight * plan[s]


@kernel
def _iterate(start, stop, one, other):
    """Iterations from `start` to `stop` - 1 of both players in turn."""
    for t in range(start, stop):
        for seat in range(2):
            mine, theirs = (one, other) if seat == 0 else (other, one)
            parents, first, begins, others, payoffs, gains, regrets, strategy, plan, sums = mine
            _gather(begins, others, payoffs, theirs[8], gains)
            _learn(parents, first, gains, regrets, strategy)
            _play(parents, first, strategy, float(t) * float(t), plan, sums)


def _seat_arrays(tree: Tree, number: int) -> tuple[NDArray[Any], ...]:
    seat = tree.seats[number]
    own, other = (tree.rows, tree.columns)[:: 1 if number == 0 else -1]
    order = np.argsort(own, kind="stable")
    begins = np.searchsorted(own[order], np.arange(seat.n_sequences + 1))
    payoffs = (1 if number == 0 else -1) * tree.payoffs[order]
    strategy = uniform(seat)
    plan = plan_of(seat, strategy)
    empty = [np.zeros(seat.n_sequences) for _ in range(3)]
    gathered = (seat.parents, seat.first, begins, other[order], payoffs)
    return (*gathered, empty[0], empty[1], strategy, plan, empty[2])


def uniform(seat: Seat) -> NDArray[np.float64]:
    """The strategy that chooses evenly."""
    counts = np.diff(seat.first)
    return np.concatenate([[1.0], np.repeat(1.0 / counts, counts)])


def average_of(seat: Seat, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The strategy of averaged realization weights."""
    if not len(seat.parents):
        return np.ones(1)
    totals = np.add.reduceat(sums, seat.first[:-1])
    counts = np.diff(seat.first)
    found = sums.copy()
    found[0] = 1.0
    found[1:] /= np.repeat(np.where(totals > 0, totals, 1.0), counts)
    return np.where(np.concatenate([[True], np.repeat(totals > 0, counts)]), found, uniform(seat))


def minimize_regret(
    tree: Tree,
    tolerance: float,
    iterations: int,
    seconds: float,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], int]:
    """Strategies with a proved bound of at most `tolerance` on the value, or the best found.

    Parameters
    ----------
    iterations, seconds : int, float
        Limits of the search.

    Returns
    -------
    strategies, iterations
    """
    one, other = _seat_arrays(tree, 0), _seat_arrays(tree, 1)
    begin, done, check, deadline = 1, 0, FEWEST, time.monotonic() + seconds
    while True:
        _iterate(begin, check + 1, one, other)
        begin, done = check + 1, check
        found = average_of(tree.seats[0], one[-1]), average_of(tree.seats[1], other[-1])
        low, high = bounds(tree, found)
        if progress is not None:
            progress(f"± {(high - low) / 2:.1e} after {done:,} iterations", done, iterations)
        if (high - low) / 2 <= tolerance or done >= iterations or time.monotonic() > deadline:
            return found, done
        # checks become rarer: the next one comes after half as many iterations again
        check = min(iterations, done + max(FEWEST, done // 2))


FEWEST_OPENLY = 64  # iterations before the first check
POWER = 1.5  # with which bounds shrink, about; it sets the time of the next check
RARE = 1e-3  # in iteration t, branches that the opponent reaches with RARE / t are left out


def open_game(positions: Positions) -> OpenGame | None:
    """The graph of nodes of a game with one deal and open moves; None for other games.

    Raises
    ------
    EndlessPlay
    """
    check_ends(positions)  # the walk's stack has a place for each depth
    chances = positions.chances()
    kinds, targets = positions.kinds, positions.targets
    deals = targets[slice(*positions.first_outcome[:2].tolist())]
    single = np.diff(positions.first_outcome)[1:] == 1
    if kinds[0] != DEAL or not (kinds[1:] == MOVE).all() or not single.all():
        return None
    if (deals < 0).any() or positions.turns[: len(deals)].any() or any(positions.rewards):
        return None
    numbers: dict[tuple[int, ...], int] = {tuple(deals.tolist()): 0}
    nodes, movers = [deals], [0]
    types: list[NDArray[np.int64] | None] = [None, None]
    first_action, children, leaves = [0], list[int](), list[NDArray[np.float64]]()
    # a node is the list of positions of all deals after the same moves
    for number, node in enumerate(nodes):  # the list grows
        mover, menu = movers[number], positions.menus[node[0]]
        kind = np.unique(positions.sights[node], return_inverse=True)[1]
        kind = np.unique(kind, return_inverse=True)[1]
        known = types[mover]
        if known is None:
            types[mover] = known = _ranked(kind)
        if any(positions.menus[s] != menu for s in node) or (_ranked(kind) != known).any():
            return None
        # two actions that look the same to the other player wouldn't be open
        seen = set[int]()
        for k in range(len(menu[0])):
            outcomes = positions.first_outcome[positions.first_choice[node] + k]
            after = targets[outcomes]
            if (after < 0).all():
                sign = 1 - 2 * mover
                children.append(-1 - len(leaves))
                leaves.append(sign * positions.payoffs[outcomes].astype(np.float64))
                continue
            if (after < 0).any() or not positions.turns[outcomes].all():
                return None
            sights = set(positions.sights[after].tolist())
            if seen & sights:
                return None  # after two actions the other player may see the same
            seen |= sights
            key = tuple(after.tolist())
            # nodes with the same positions are one: paths of different histories join
            if numbers.setdefault(key, len(nodes)) == len(nodes):
                nodes.append(after)
                movers.append(1 - mover)
            elif movers[numbers[key]] == mover:
                return None
            children.append(numbers[key])
        first_action.append(len(children))
    rows, columns = types
    if rows is None or columns is None:
        return None
    weights = chances[: len(deals)]
    shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    joint = np.zeros(shape)
    np.add.at(joint, (rows, columns), weights)
    one, other = joint.sum(axis=1), joint.sum(axis=0)
    # independent deals weigh in at the root; otherwise their chances are part of the matrices
    is_product = len(deals) == joint.size and np.allclose(joint, np.outer(one, other), 1e-14, 0)
    if not is_product:
        one, other = np.ones(shape[0]), np.ones(shape[1])
    matrices = np.zeros((len(leaves), *shape))
    for matrix, payoffs in zip(matrices, leaves, strict=True):
        np.add.at(matrix, (rows, columns), payoffs if is_product else weights * payoffs)
    return OpenGame.of(
        np.array(movers, np.int64), np.array(first_action, np.int64), np.array(children, np.int64),
        matrices, (one, other), (rows, columns), nodes, positions.stake,
    )  # fmt: skip


def _ranked(kind: NDArray[np.int64]) -> NDArray[np.int64]:
    """Classes numbered by their first members."""
    first = np.unique(kind, return_index=True)[1]
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[kind]


@kernel(never_interpreted=True)
def _traverse(me, weight, rare, part, menu, game, regrets, sums, gained):
    """Update the regrets of one player, and the average strategy of the other.

    The walk takes a part of the actions of the start, and writes the values of the own types after
    each of them to `gained`. The regrets of the start itself are left to the caller.

    The walk keeps a stack: at each depth a node, its row, the next action, the reach of the
    opponent's types, and the values of the own types.
    """
    movers, first_action, children, offsets, leaf, sides, depth_of, n_types = game
    small, row_class, column_class, height, width = leaf
    own, other = (sides[0], sides[1]) if me == 0 else (sides[1], sides[0])
    n_own, n_other = len(own), len(other)
    node = np.zeros(depth_of, np.int64)
    row = np.zeros(depth_of, np.int64)
    turn = np.zeros(depth_of, np.int64)
    reach = np.zeros((depth_of, n_types))
    values = np.zeros((depth_of, n_types))
    shares = np.zeros((depth_of, menu, n_types))
    gains = np.zeros((depth_of, menu, n_types))
    got = np.zeros(n_types)
    folded, spread = np.zeros(n_types), np.zeros(n_types)
    reach[0, :n_other] = other
    d, entering = 0, True
    while True:
        v = node[d]
        begin = first_action[v]
        count = first_action[v + 1] - begin
        is_mine = movers[v] == me
        n = n_own if is_mine else n_other
        if entering:
            turn[d] = part[0] if d == 0 else 0
            values[d, :] = 0.0
            for t in range(n):
                got[t] = 0.0
            # regret matching: shares in proportion to the regrets, uniform where none is above 0
            for k in range(count):
                for t in range(n):
                    share = np.float64(regrets[row[d] + k, t])
                    shares[d, k, t] = share
                    got[t] += share
            for t in range(n):
                spread[t] = 0.0 if got[t] > 0.0 else 1.0 / count
                got[t] = 1.0 / got[t] if got[t] > 0.0 else 0.0
            for k in range(count):
                for t in range(n):
                    shares[d, k, t] = shares[d, k, t] * got[t] + spread[t]
            # the start is entered once for each part; the average of its strategy counts once
            if not is_mine and (d > 0 or part[0] == 0):
                for k in range(count):
                    for t in range(n):
                        sums[row[d] + k, t] += np.float32(weight * reach[d, t] * shares[d, k, t])
            entering = False
        if d == 0 and turn[d] == part[1]:
            break
        if turn[d] == count:  # all actions are done
            if is_mine:
                # CFR+: the gain over the mean adds to the regret, which stays at 0 or above
                for k in range(count):
                    for t in range(n):
                        gain = gains[d, k, t] - values[d, t]
                        regret = max(np.float64(regrets[row[d] + k, t]) + gain, 0.0)
                        regrets[row[d] + k, t] = np.float32(regret)
            d -= 1
            for t in range(n_own):
                got[t] = values[d + 1, t]
            k = turn[d]
        else:
            k = turn[d]
            target = reach[d + 1] if d + 1 < depth_of else folded
            alive = False
            # the reach of the opponent's types changes by its own choices only
            for t in range(n_other):
                mass = reach[d, t] if is_mine else reach[d, t] * shares[d, k, t]
                target[t] = mass
                alive = alive or mass > rare
            child = children[begin + k]
            if not alive:
                for t in range(n_own):
                    got[t] = 0.0
            elif child >= 0:
                d += 1
                node[d], row[d] = child, row[d - 1] + offsets[begin + k]
                entering = True
                continue
            else:
                m = -1 - child
                n_classes = width[m] if me == 0 else height[m]
                for c in range(n_classes):
                    spread[c] = 0.0
                # equal types of the ending are added up; one product then serves each class
                for t in range(n_other):
                    spread[column_class[m, t] if me == 0 else row_class[m, t]] += target[t]
                mine = height[m] if me == 0 else width[m]
                for c in range(mine):
                    total = 0.0
                    for e in range(n_classes):
                        total += (small[m, c, e] if me == 0 else -small[m, e, c]) * spread[e]
                    gains[d, k, c] = total
                for t in range(n_own):
                    got[t] = gains[d, k, row_class[m, t] if me == 0 else column_class[m, t]]
        if d == 0:  # the values of an action are known
            for t in range(n_own):
                gained[k, t] = got[t]
        v = node[d]
        if movers[v] == me:
            for t in range(n_own):
                gains[d, k, t] = got[t]
                values[d, t] += shares[d, k, t] * got[t]
        else:
            for t in range(n_own):
                values[d, t] += got[t]
        turn[d] += 1


@dataclass(frozen=True, eq=False)
class OpenStrategies:
    """Average strategies of both players.

    Attributes
    ----------
    sums : (n_rows, n_types) float32
        The weights of the actions of each history. Where all are 0, actions are equally likely.
    low, high, rounding : float
        As `open_bounds` gives them.
    """

    sums: NDArray[np.float32]
    low: float
    high: float
    rounding: float
    iterations: int


def minimize_regret_openly(
    game: OpenGame,
    tolerance: float,
    iterations: int,
    seconds: float,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> OpenStrategies:
    """Strategies with a proved bound of at most `tolerance` on the value, or the best found."""
    rows, count = int(game.sizes[0]), int(game.first_action[1])
    regrets, sums = (np.zeros((rows, game.n_types), np.float32) for _ in range(2))
    done, check, deadline = 0, FEWEST_OPENLY, time.monotonic() + seconds
    # the two parts of the start write to different rows, so they need no lock
    parts = [(0, 1), (1, count)] if count > 1 else [(0, 1)]  # as large as each other, about
    with ThreadPoolExecutor(len(parts)) as pool:
        while True:
            # alternating updates: the second player answers the new regrets of the first
            for t in range(done + 1, check + 1):
                for me in (0, 1):
                    gained = np.zeros((count, game.n_types))
                    given = (game.menu, game.arrays, regrets, sums, gained)
                    walk = partial(_traverse, me, float(t) * float(t), RARE / t)
                    list(pool.map(lambda part, walk=walk, given=given: walk(part, *given), parts))
                    if game.movers[0] == me:
                        _learn_start(regrets[:count], gained)
            done = check
            low, high, rounding = open_bounds(game, sums)
            bound = (high - low) / 2
            if progress is not None:
                progress(f"± {bound:.1e} after {done:,} iterations", done, iterations)
            if bound <= tolerance or done >= iterations or time.monotonic() > deadline:
                return OpenStrategies(sums, low, high, rounding, done)
            # the next check comes when the bound should reach the tolerance, at the present rate
            longer = min(max((bound / tolerance) ** (1 / POWER), 1.2), 4.0)
            check = min(iterations, round(done * longer))


def _learn_start(regrets: NDArray[np.float32], gained: NDArray[np.float64]) -> None:
    """Update the regrets of the start."""
    known = regrets.astype(np.float64)
    totals = known.sum(axis=0)
    shares = np.where(totals > 0, known / np.where(totals > 0, totals, 1.0), 1.0 / len(known))
    regrets[:] = np.maximum(known + gained - (shares * gained).sum(axis=0), 0.0)
