"""The certificate: the exact exploitability of two strategies, in one pass, rounded outward.

A strategy gives each sequence its probability within its information set. Against a fixed strategy
the other player faces a decision tree. The value of its best response is one fold from the last
information sets to the first: of each set the best action counts, and chances and payoffs add up.
The best response to the first player's strategy bounds the value of the game from below, and the
one to the second player's from above. No search is imported here.

In doubles every term is a product of at most `depth` chances and probabilities, and every sum has
at most as many additions as there are terms. With n such operations the computed value is
the exact one of terms changed by a factor between 1 - g and 1 + g, with g = n u / (1 - n u) and
u = 2^-53 (Higham 2002, section 3.1). The best response to absolute payoffs bounds the change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import EndlessPlay
from rollwise.graph.lotteries import Components
from rollwise.hidden.positions import DEAL, Positions
from rollwise.hidden.tree import Seat, Tree, added, check_ends
from rollwise.kernels.jit import inner_kernel, kernel

UNIT = 2.0**-53
Outcome = tuple[float, float, NDArray[np.float64]]  # payoff, bound, chances of the next rounds


@kernel
def _plan(parents, first, strategy, plan):
    """Multiply the probabilities of a player's actions along each sequence, parents first."""
    plan[0] = strategy[0]
    for k in range(len(parents)):
        for sequence in range(first[k], first[k + 1]):
            plan[sequence] = plan[parents[k]] * strategy[sequence]


@kernel
def _fold(parents, first, gains):
    """Add the best action of each information set to the sequence before it."""
    # last sets first: a set comes after the sequence before it, so its gains are complete
    for k in range(len(parents) - 1, -1, -1):
        best = gains[first[k]]
        for sequence in range(first[k] + 1, first[k + 1]):
            if gains[sequence] > best:
                best = gains[sequence]
        gains[parents[k]] += best


def plan_of(seat: Seat, strategy: NDArray[Any]) -> NDArray[Any]:
    """The realization weight of each sequence of a player."""
    plan = np.empty_like(strategy)
    run: Any = _plan
    run = run if strategy.dtype != object else run.function
    run(seat.parents, seat.first, strategy, plan)
    return plan


def gains_of(tree: Tree, seat: int, plan: NDArray[Any], payoffs: NDArray[Any]) -> NDArray[Any]:
    """The gain of each sequence of a player with best play after it, against a plan of the other.

    The gain of sequence 0 is the value of the best response. Gains are weighted with the chance
    that the other player and chance lead there.
    """
    own, other = (tree.rows, tree.columns)[:: 1 if seat == 0 else -1]
    gains = added(own, payoffs * plan[other], tree.seats[seat].n_sequences)
    run: Any = _fold
    run = run if gains.dtype != object else run.function
    run(tree.seats[seat].parents, tree.seats[seat].first, gains)
    return gains


def check_strategy(seat: Seat, strategy: NDArray[Any]) -> None:
    """Refuse probabilities that are negative or don't add up to 1.

    Raises
    ------
    ValueError
    """
    sums = np.add.reduceat(strategy, seat.first[:-1]) if len(seat.parents) else np.ones(0)
    menu = int(np.diff(seat.first).max(initial=1))
    off = 0 if strategy.dtype == object else 2 * (menu + 2) * UNIT  # by rounding
    if (strategy < 0).any() or strategy[0] != 1 or (abs(sums - 1) > off).any():
        raise ValueError("the probabilities of a strategy must be from 0 on and add up to 1")


def rounding_bound(tree: Tree, most: float) -> float:
    """A bound on the rounding error of a sum of payoffs; `most` is the sum of absolute payoffs."""
    menus = max(int(np.diff(s.first).max(initial=1)) for s in tree.seats)
    outcomes = int(np.diff(tree.positions.first_outcome).max())
    n = tree.terms + len(tree.rows) + tree.nodes + sum(s.n_sequences for s in tree.seats)
    n += tree.depth * (3 * menus + outcomes + 12)
    return float(1.01 * n * UNIT / (1 - n * UNIT) * most)


def bounds(
    tree: Tree,
    strategies: tuple[NDArray[Any], NDArray[Any]],
    rounds: Sequence[tuple[Any, Any]] = (),
) -> tuple[Any, Any]:
    """Bounds on the value of the game for the first player, proved by two strategies.

    Parameters
    ----------
    strategies : pair of (n_sequences,) float64, or object for fractions
        The probability of each action in its information set; 1 for sequence 0.
    rounds : sequence of (low, high)
        Proved bounds on the values of the rounds that follow, for the mover of each.

    Returns
    -------
    low, high
        The first player gets at least `low` with the first strategy, whatever the other does, and
        at most `high` against the second. With fractions both are exact.
    """
    found = []
    # the best response of `seat` bounds what the strategy of the other one guarantees
    for seat, sign in ((1, -1), (0, 1)):
        other = 1 - seat
        check_strategy(tree.seats[other], strategies[other])
        plan = plan_of(tree.seats[other], strategies[other])
        paid = tree.paying(_ends(rounds, seat, tree.payoffs.dtype == object))
        worth = sign * gains_of(tree, seat, plan, sign * paid.payoffs)[0]
        if tree.payoffs.dtype != object:
            most = gains_of(tree, seat, plan, paid.extents)[0]
            worth += sign * rounding_bound(tree, most)
        found.append(worth)
    low, high = found
    return low, max(low, high)


def _ends(rounds: Sequence[tuple[Any, Any]], side: int, is_exact: bool) -> NDArray[Any]:
    """The lower (side 1) or upper (side 0) bounds of rounds for the first player, by their movers.

    They are the mover's bounds, or those of the other player with the opposite signs.
    """
    pairs = ((high, -low) if side == 0 else (low, -high) for low, high in rounds)
    found = np.array([end for pair in pairs for end in pair], object)
    if is_exact:
        return found
    outward = np.inf if side == 0 else -np.inf
    return np.array([math.nextafter(float(end), outward) for end in found])


def best_of(seat: Seat, gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """The strategy with the first best action of each information set, by the gains of actions."""
    found = np.zeros(seat.n_sequences)
    found[0] = 1.0
    if len(seat.parents):
        sizes = np.diff(seat.first)
        most = np.repeat(np.maximum.reduceat(gains, seat.first[:-1]), sizes)
        best = np.flatnonzero(gains[1:] == most) + 1
        sets = np.repeat(np.arange(len(sizes)), sizes)[best - 1]
        found[best[np.unique(sets, return_index=True)[1]]] = 1.0
    return found


def outcome(
    tree: Tree, strategies: tuple[NDArray[Any], NDArray[Any]], responder: int | None, side: int = 0
) -> Outcome:
    """The first mover's payoff with two strategies, or with the best response of one player.

    Parameters
    ----------
    side : int
        -1 or 1 for a lower or an upper bound on the payoff instead of the payoff.

    Returns
    -------
    value, error_bound : float
        The bound is 0 for a `side`.
    chances : (2 * n_exits,) float64
        Of the rounds that follow, by their first movers (`Tree.exits`).
    """
    tree = tree.in_doubles()
    plans = [plan_of(*pair) for pair in zip(tree.seats, strategies, strict=True)]
    payoffs, extents = tree.payoffs, tree.extents
    if side:
        # twice the rounding of each payoff, of which the sum has one part at most
        payoffs = payoffs + side * rounding_bound(tree, 2.1) * extents
    if responder is None:
        first, second = plans
        shares = first[tree.rows] * second[tree.columns]
        value, extent = (float((part * shares).sum()) for part in (payoffs, extents))
    else:
        other, sign = plans[1 - responder], 1 - 2 * responder
        gains = gains_of(tree, responder, other, sign * payoffs)
        value = sign * float(gains[0])
        extent = float(gains_of(tree, responder, other, extents)[0])
        seat = tree.seats[responder]
        plans[responder] = plan_of(seat, best_of(seat, gains))
    bound = 0.0 if side else rounding_bound(tree, extent)
    return value, bound, exits_of(tree, *plans)


def exits_of(tree: Tree, first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.float64]:
    """The chance of each round that follows, by its first mover (`Tree.exits`), with two plans."""
    on = tree.exits >= 0
    shares = tree.masses[on] * first[tree.rows[on]] * second[tree.columns[on]]
    length = 2 * len(tree.positions.exits or ())
    return added(tree.exits[on], shares.astype(np.float64), length)


def unproved(
    ends: NDArray[np.float64], changes: NDArray[np.float64], side: int, may_go_on: bool
) -> NDArray[np.bool_]:
    """The rounds whose ends aren't proved, of rounds that can return to each other.

    Ends are proved together. A lower end is at most the guarantee of one round, at whose end the
    next rounds are worth their lower ends. If play can go on for ever, for 0, it is below this
    guarantee wherever it is positive: then it is a submartingale that can't stay positive
    (Everett 1957). Upper ends are the other way round.

    Parameters
    ----------
    ends : (n,) float64
        Lower (side -1) or upper ends (side 1) of one player's payoff.
    changes : (n,) float64
        What a round adds to its end: at least so much for lower ends, at most for upper ones.
    may_go_on : bool
    """
    excess = side * changes
    found: NDArray[np.bool_] = excess > 0
    if may_go_on:
        found = found | ((excess >= 0) & (side * ends < 0))
    return found


@inner_kernel
def corners(s, margin, plan, game):
    """The least and the most that the mover gets in a position, in doubles rounded outward.

    They are rounded by a margin more; proofs need none.

    The least: the mover plays its mixture, the other player the worst action for it, and the values
    after it are at their lower bounds. The most: the other way round, at their upper bounds.

    Without rewards a sum is an average, so it isn't beyond the values in it. These limits need no
    room for rounding: players may wait for ever.
    """
    lows, highs, first_row, first_column, rows, columns = plan
    heights, widths, first_choice, first_outcome, rewards, chances, payoffs, targets, signs = game
    height, width = heights[s], widths[s]
    low, high = np.inf, -np.inf
    # side 0: the mover's mixture against each column; side 1: the other mixture against each row
    for side in range(2):
        for a in range(width if side == 0 else height):
            total, size, longest = 0.0, 0.0, 0
            least, most = np.inf, -np.inf
            for b in range(height if side == 0 else width):
                i, j = (b, a) if side == 0 else (a, b)
                share = rows[first_row[s] + i] if side == 0 else columns[first_column[s] + j]
                if share == 0.0:
                    continue
                choice = first_choice[s] + i * width + j
                entry = rewards[choice]
                extent = abs(entry)
                if entry != 0.0:
                    least, most = -np.inf, np.inf
                begin, end = first_outcome[choice], first_outcome[choice + 1]
                for k in range(begin, end):
                    worth = payoffs[k]
                    if targets[k] >= 0:
                        worth = end_of(side, targets[k], signs[k], lows, highs)
                    entry += chances[k] * worth
                    extent += chances[k] * abs(worth)
                    least, most = min(least, worth), max(most, worth)
                total += share * entry
                longest, size = max(longest, end - begin), max(size, extent)
            # roundings of the longest sum of outcomes and of the mixture, and of the products
            slack = 2.0 * (longest + height + width + 8) * UNIT * size + margin
            if side == 0:
                low = min(low, max(total - slack, least))
            else:
                high = max(high, min(total + slack, most))
    return low, high


@inner_kernel
def end_of(side, target, sign, lows, highs):
    """The mover's lower (0) or upper bound (1) of a target written from either view, or the middle.

    The side of the middle is 2.
    """
    if side == 2:
        return sign * (lows[target] + 0.5 * (highs[target] - lows[target]))
    if sign > 0:
        return lows[target] if side == 0 else highs[target]
    return -highs[target] if side == 0 else -lows[target]


@inner_kernel
def proved_ends(s, plan, game, endless):
    """Whether the mixtures of a position prove its lower and its upper bound, if all others hold.

    A guarantee above the worth of endless play has to grow: its player might wait for ever.
    """
    least, most = plan[0][s], plan[1][s]
    low, high = corners(s, 0.0, plan, game)
    if not endless[s]:
        return least <= low, high <= most
    return (
        least < low or (least == low and least <= 0.0),
        high < most or (high == most and most >= 0.0),
    )


@kernel
def proves_positions(plan, game, endless):
    """Whether the bounds of all values are proved by the mixtures of a plan.

    With the mixtures of one player, each lower bound is at most the guarantee of one step. Where
    every play ends they are guaranteed to the end. Otherwise endless play is worth 0, and these
    guarantees are a bounded submartingale. Wherever they are positive they grow by some least
    amount, so they can't stay positive for ever, and their limit is at most 0 (Everett 1957).

    Parameters
    ----------
    plan : tuple
        Lower and upper bounds, and the mixtures of both players, as in `stochastic.Plan`.
    endless : (n,) bool
        As of `endless_positions`.
    """
    for s in range(len(endless)):
        below, above = proved_ends(s, plan, game, endless)
        if not (below and above):
            return False
    return True


def endless_positions(game: Any) -> NDArray[np.bool_]:
    """The positions from which the players together can avoid the end for ever: (n,) bool.

    The others are marked: each of their choices may end the game or lead to a marked position.

    Parameters
    ----------
    game : Positions or Matrices
    """
    choice = np.repeat(np.arange(len(game.rewards)), np.diff(game.first_outcome))
    sure = np.zeros(len(game.first_choice) - 1, bool)
    # the marked set grows: a choice leads on if one of its outcomes ends or is marked
    while True:
        good = (game.targets < 0) | sure[game.targets]
        leads = np.zeros(len(game.rewards), bool)
        leads[choice[good]] = True
        now = np.logical_and.reduceat(leads, game.first_choice[:-1])
        if (now == sure).all():
            return ~sure
        sure = now


def endless_fault(positions: Positions) -> str:
    """The fault of play that can go on for ever, in words; empty if it ends or has a worth.

    Endless play has the worth 0 if the rules say that it is a draw, and rewards can't be repeated
    in it: a choice with a reward may end the game, or leads on to positions without a way back.
    """
    endless = endless_positions(positions)
    if not endless.any():
        return ""
    if positions.game.endless != "draw":
        stuck = int(np.argmax(endless))
        remedy = (
            'say endless = "draw" if such play is a draw, or count the rounds in a field, and end '
            "the game"
        )
        next_ones = [row[2] for row in positions.outcomes(int(positions.first_choice[stuck]))]
        if (positions.kinds[[stuck, *next_ones]] == DEAL).all():
            remedy = f"deal(s) yields nothing where all is dealt; {remedy}"
        return f"the players can go on for ever from {positions.text(stuck)}; {remedy}"
    first_outcome = positions.first_outcome
    components = Components.of(
        first_outcome[positions.first_choice], positions.targets.astype(np.int32)
    )
    number = np.empty(len(endless), np.int64)
    number[components.order] = np.repeat(
        np.arange(len(components.indptr) - 1), np.diff(components.indptr)
    )
    choice = np.repeat(np.arange(len(positions.rewards)), np.diff(first_outcome))
    place = np.repeat(np.arange(len(endless)), np.diff(positions.first_choice))
    on, after = positions.targets >= 0, positions.targets
    stays = np.logical_and.reduceat(on & endless[after], first_outcome[:-1])
    returns = np.zeros(len(stays), bool)
    returns[choice[on & (number[after] == number[place[choice]])]] = True
    paid = np.flatnonzero(stays & returns & (positions.rewards != 0))
    if not len(paid):
        return ""
    return (
        f"a choice at {positions.text(int(place[paid[0]]))} has the reward "
        f"{positions.rewards[paid[0]]}, and the players can repeat it for ever; with "
        'endless = "draw" such play has payoffs at the end only: count the points in fields, and '
        "end the game with payoff(x)"
    )


def may_go_on(positions: Positions) -> bool:
    """Whether players can go on for ever, for the value of a draw.

    Raises
    ------
    EndlessPlay
        The rules give endless play no value, rewards could add up without an end, or a round of a
        game with hidden fields can return into itself.
    """
    if positions.is_hidden:
        for one in positions.rounds:
            check_ends(one.positions)
        if not positions.may_return:
            return False
    if fault := endless_fault(positions):
        raise EndlessPlay(f"{positions.title}: {fault}")
    return bool(endless_positions(positions).any())


@dataclass(frozen=True, eq=False)
class OpenGame:
    """A game with one hidden deal and open moves, as a graph of nodes (see `open_play`).

    Attributes
    ----------
    movers : (n,) int64
    first_action : (n + 1,) int64
    children : (n_actions,) int64
        The next node, or -1 - m for the end with matrix m.
    offsets, sizes : int64
        Of each action, the rows between those of the node and those of its child; of each node,
        the rows of it and of all histories after it.
    leaf : tuple
        Matrices of payoffs of the first player by classes of types, the class of each type, and
        the numbers of classes.
    weights : pair of float64
        The chance of each type of a player; all 1 where the matrices contain the chances.
    types : pair of (n_deals,) int64
        The type of each player in each deal.
    positions : list of (n_deals,) int64
        The position of each deal in each node.
    stake : float
        The largest payoff, without its sign.
    """

    movers: NDArray[np.int64]
    first_action: NDArray[np.int64]
    children: NDArray[np.int64]
    offsets: NDArray[np.int64]
    sizes: NDArray[np.int64]
    leaf: tuple[Any, ...]
    weights: tuple[NDArray[np.float64], NDArray[np.float64]]
    types: tuple[NDArray[np.int64], NDArray[np.int64]]
    positions: list[NDArray[np.int64]]
    stake: float
    depth: int

    @property
    def n_histories(self) -> int:
        """The histories after which a player moves."""
        return self._counts[0]

    @property
    def n_situations(self) -> int:
        """The information sets of both players."""
        return self._counts[1]

    @property
    def _counts(self) -> tuple[int, int]:
        histories, situations = dict[int, int](), dict[int, int]()
        # children first, so that their counts are known
        for v in _last_first(self.first_action, self.children):
            after = self.children[self.first_action[v] : self.first_action[v + 1]].tolist()
            after = [child for child in after if child >= 0]
            histories[v] = 1 + sum(histories[child] for child in after)
            own = len(self.weights[self.movers[v]])
            situations[v] = own + sum(situations[child] for child in after)
        return histories[0], situations[0]

    @property
    def n_types(self) -> int:
        return max(map(len, self.weights))

    @property
    def menu(self) -> int:
        return int(np.diff(self.first_action).max())

    @classmethod
    def of(
        cls, movers, first_action, children, matrices, weights, types, positions, stake
    ) -> OpenGame:
        """The graph with the rows of all histories counted, and equal types of a matrix joined."""
        n = len(movers)
        sizes, depths = np.zeros(n, np.int64), np.zeros(n, np.int64)
        offsets = np.zeros(len(children), np.int64)
        # rows of a history: its own actions, then the rows below each action in turn
        for v in _last_first(first_action, children):
            rows = int(first_action[v + 1] - first_action[v])
            for a in range(first_action[v], first_action[v + 1]):
                offsets[a] = rows
                if children[a] >= 0:
                    rows += int(sizes[children[a]])
                    depths[v] = max(depths[v], depths[children[a]])
            sizes[v], depths[v] = rows, depths[v] + 1
        size = max(matrices.shape[1:])
        small = np.zeros((len(matrices), size, size))
        classes = [np.zeros((len(matrices), size), np.int64) for _ in range(2)]
        counts = [np.zeros(len(matrices), np.int64) for _ in range(2)]
        # equal rows and equal columns are joined: types that an ending doesn't tell apart
        for m, matrix in enumerate(matrices):
            different, by_row = np.unique(matrix, axis=0, return_inverse=True)
            both, by_column = np.unique(different, axis=1, return_inverse=True)
            small[m, : both.shape[0], : both.shape[1]] = both
            for k, found in enumerate((by_row, by_column)):
                classes[k][m, : len(found)] = found.ravel()
                counts[k][m] = both.shape[k]
        leaf = (small, *classes, *counts)
        graph = (movers, first_action, children, offsets)
        return cls(*graph, sizes, leaf, weights, types, positions, stake, int(depths[0]))

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays for kernels, with the height of stacks and the number of types."""
        graph = (self.movers, self.first_action, self.children, self.offsets)
        return (*graph, self.leaf, self.weights, self.depth + 1, self.n_types)


def _last_first(first_action: NDArray[np.int64], children: NDArray[np.int64]) -> list[int]:
    """The nodes so that each comes after all nodes that follow it."""
    found: list[int] = []
    entered, stack = {0}, [0]
    # depth first: a node is listed when all its children are
    while stack:
        v = stack[-1]
        after = children[first_action[v] : first_action[v + 1]].tolist()
        new = [child for child in after if child >= 0 and child not in entered]
        if new:
            entered.add(new[0])
            stack.append(new[0])
        else:
            found.append(stack.pop())
    return found


@kernel(never_interpreted=True)
def _respond_openly(me, game, sums):
    """The value of the best response of one player to the average strategy of the other."""
    movers, first_action, children, offsets, leaf, sides, depth_of, n_types = game
    small, row_class, column_class, height, width = leaf
    own, other = (sides[0], sides[1]) if me == 0 else (sides[1], sides[0])
    node = np.zeros(depth_of, np.int64)
    row = np.zeros(depth_of, np.int64)
    turn = np.zeros(depth_of, np.int64)
    reach = np.zeros((depth_of + 1, n_types))
    values = np.zeros((depth_of + 1, n_types))
    totals = np.zeros((depth_of, n_types))
    folded = np.zeros(n_types)
    reach[0, : len(other)] = other
    d = 0
    # a walk with a stack; depth d has its node, its row, its next action, reach and values
    while d >= 0:
        v, k = node[d], turn[d]
        begin = first_action[v]
        count = first_action[v + 1] - begin
        is_mine = movers[v] == me
        if k == 0:
            values[d, :] = -np.inf if is_mine else 0.0
            totals[d, :] = 0.0
            # totals normalize the average strategy of the opponent, type by type
            for a in range(count if not is_mine else 0):
                for t in range(len(other)):
                    totals[d, t] += np.float64(sums[row[d] + a, t])
        if k == count:  # all actions are done: d - 1 receives the values
            d -= 1
        else:
            # branches that no type of the opponent reaches add 0
            alive = False
            for t in range(len(other)):
                mass = reach[d, t]
                if not is_mine:
                    share = np.float64(sums[row[d] + k, t])
                    mass *= share / totals[d, t] if totals[d, t] > 0.0 else 1.0 / count
                reach[d + 1, t] = mass
                alive = alive or mass > 0.0
            child = children[begin + k]
            if alive and child >= 0:
                node[d + 1], row[d + 1], turn[d + 1] = child, row[d] + offsets[begin + k], 0
                d += 1
                continue
            values[d + 1, :] = 0.0
            if alive:
                m = -1 - child
                for c in range(height[m] if me == 1 else width[m]):
                    folded[c] = 0.0
                # the reach of the opponent's types is added up by class: one product serves each
                # class
                for t in range(len(other)):
                    c = column_class[m, t] if me == 0 else row_class[m, t]
                    folded[c] += reach[d + 1, t]
                for t in range(len(own)):
                    total = 0.0
                    for e in range(width[m] if me == 0 else height[m]):
                        if me == 0:
                            entry = small[m, row_class[m, t], e]
                        else:
                            entry = -small[m, e, column_class[m, t]]
                        total += entry * folded[e]
                    values[d + 1, t] = total
        if d < 0:
            break
        is_mine = movers[node[d]] == me
        # the best action of each own type, or the sum over the opponent's actions
        for t in range(len(own)):
            if is_mine:
                values[d, t] = max(values[d, t], values[d + 1, t])
            else:
                values[d, t] += values[d + 1, t]
        turn[d] += 1
    total = 0.0
    for t in range(len(own)):
        total += own[t] * values[0, t]
    return total


def open_bounds(game: OpenGame, sums: NDArray[np.float32]) -> tuple[float, float, float]:
    """Bounds on the first player's value, proved by the average strategies of both players.

    The third number bounds the rounding error of both, by which they were moved outward.

    A term is a product of two probabilities, a payoff and at most `depth` shares, each with at most
    `menu` + 3 roundings. A path from an ending to the root adds at most `types` numbers at the
    ending and at the root, and `menu` at each node. The chance of a deal has as many roundings as
    there are deals, and some 90 more as a product of the chances of both players. All chances add
    up to 1, so the largest payoff bounds the sum of absolute terms.
    """
    n = game.depth * (2 * game.menu + 4) + 3 * game.n_types + 2 * len(game.types[0]) + 110
    slack = 1.01 * n * UNIT / (1 - n * UNIT) * game.stake
    high = float(_respond_openly(0, game.arrays, sums)) + slack
    low = -float(_respond_openly(1, game.arrays, sums)) - slack
    return low, high, slack
