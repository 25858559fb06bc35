"""Backgammon's small relatives, against programs that share nothing with the package."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import permutations
from math import comb

import numpy as np
import pytest

from rollwise import PASS, build, solve
from rollwise.games.bear_off import BearOff, TwoSidedBearOff
from rollwise.games.hypergammon import Board, Hypergammon
from rollwise.then import payoff

THROWS = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]

# A position by hand: how many checkers the mover has on 0 (off) to 25 (the bar), and how many the
# other player has there, counted from the other side.
Sides = tuple[tuple[int, ...], tuple[int, ...]]


def step(sides: Sides, point: int, die: int) -> Sides | None:
    """The position after a checker on a point has moved by a die; None if it may not."""
    mine, theirs = map(list, sides)
    if not mine[point] or (mine[25] and point != 25):
        return None
    to = point - die
    if to > 0:
        if theirs[25 - to] > 1:
            return None
        theirs[25], theirs[25 - to] = theirs[25] + theirs[25 - to], 0
    elif sum(mine[7:]) or (to < 0 and sum(mine[point + 1 :])):
        return None
    mine[point] -= 1
    mine[max(to, 0)] += 1
    return tuple(mine), tuple(theirs)


def after_throw(sides: Sides, throw: tuple[int, int]) -> set[Sides]:
    """All positions that a throw can lead to."""
    ways: dict[tuple[int, ...], set[Sides]] = {}  # by the dice that are used, in any order

    def play(sides: Sides, used: tuple[int, ...], left: tuple[int, ...]) -> None:
        ways.setdefault(tuple(sorted(used)), set()).add(sides)
        if left:
            for point in range(1, 26):
                after = step(sides, point, left[0])
                if after is not None:
                    play(after, (*used, left[0]), left[1:])

    for order in set(permutations(throw)):
        play(sides, (), order * 2 if throw[0] == throw[1] else order)
    longest = max(map(len, ways))
    return ways[max(used for used in ways if len(used) == longest)]


def by_hand(s: Board) -> Sides:
    """A position of the rule sheet."""
    return tuple(tuple(side.count(point) for point in range(26)) for side in (s.mine, s.theirs))


def points_won(sides: Sides) -> int:
    """What the mover wins who has borne off everything."""
    theirs = sides[1]
    return 1 if theirs[0] else 3 if sum(theirs[19:]) else 2


def equity_by_hand(checkers: int) -> float:
    """What hypergammon is worth to the player who begins, by sweeps over all positions."""
    first = tuple(int(24 - checkers < point <= 24) for point in range(26))
    start = (first, first)
    places: dict[Sides, int] = {}
    targets: list[int] = []  # of all plays; what is won, from -3 to -1, where the game is over
    begins: list[int] = []  # of the plays of each throw
    found = [start]
    for sides in found:
        places.setdefault(sides, len(places))
    for sides in found:
        for throw in THROWS:
            begins.append(len(targets))
            for mine, theirs in after_throw(sides, throw):
                if mine[0] == checkers:
                    targets.append(-points_won((mine, theirs)))
                    continue
                if (theirs, mine) not in places:
                    places[theirs, mine] = len(places)
                    found.append((theirs, mine))
                targets.append(places[theirs, mine])
    ways = np.array([1 if high == low else 2 for high, low in THROWS])
    target = np.array(targets)
    over = target < 0
    won = -target[over].astype(float)
    values, change = np.zeros(len(found)), 1.0
    while change > 1e-13:
        worth = -values[target]
        worth[over] = won
        best = np.maximum.reduceat(worth, begins).reshape(-1, len(THROWS))
        after = best @ ways / 36
        change = float(np.abs(after - values).max())
        values = after
    return float((best[0] * (ways == 2)).sum() / 15)


def test_one_checker_by_hand():
    solution = solve(Hypergammon(checkers=1))
    assert abs(solution.value - equity_by_hand(1)) < 1e-12
    assert solution.error_bound < 1e-12


def at_random(checkers: int, seed: int) -> Board:
    """A position; in half of them both players are near home."""
    choose = np.random.default_rng(seed)
    while True:
        most = choose.choice([9, 26])
        sides = np.sort(choose.integers(0, most, (2, checkers)))[:, ::-1].tolist()
        if not {25 - point for point in sides[0]} & set(sides[1]) and all(
            side[0] for side in sides
        ):
            return Board(tuple(sides[0]), tuple(sides[1]), 0)


@pytest.mark.parametrize("checkers", [1, 2, 3])
def test_each_position_that_a_throw_leads_to_is_one_action(checkers):
    game = Hypergammon(checkers)
    for seed in range(60):
        s = at_random(checkers, seed)
        for throw in THROWS:
            found = Counter()
            for play in game.actions(s, throw):
                (_, then, after), *others = game.outcomes(s, throw, play)
                assert not others
                if then == PASS:
                    found[by_hand(Board(after.theirs, after.mine, 0))] += 1
                else:
                    found[then] += 1
            expected = Counter()
            for sides in after_throw(by_hand(s), throw):
                over = sides[0][0] == checkers
                expected[payoff(points_won(sides)) if over else sides] += 1
            assert found == expected


def test_the_published_number_of_positions_counts_every_arrangement():
    """7,959,904 for three checkers, as T. Keith counts: play from the start can't come to all."""

    def arrangements(checkers: int) -> int:
        """One side holds m points, the other stands elsewhere; both may be on the bar or off."""

        def spread(points: int, checkers: int) -> int:
            return comb(points + checkers - 1, checkers)

        return sum(
            comb(24, m) * spread(m + 2, checkers - m) * spread(26 - m, checkers)
            for m in range(checkers + 1)
        )

    assert arrangements(3) == 7_959_904
    assert build(Hypergammon(checkers=1)).n_positions - 1 < arrangements(1) == 652


# ---- bearing off: a home board by hand is a sorted tuple of points


@cache
def homes_after(home: tuple[int, ...], throw: tuple[int, int]) -> set[tuple[int, ...]]:
    """All home boards that a throw can lead to."""
    rest = (0,) * (26 - 7)
    found = set()
    on = tuple(home.count(point) for point in range(1, 7))
    for mine, _ in after_throw(((0, *on, *rest), (0,) * 26), throw):
        found.add(tuple(point for point in range(1, 7) for _ in range(mine[point])))
    return found


@cache
def throws_by_hand(home: tuple[int, ...]) -> Fraction:
    """The fewest throws on average."""
    if not home:
        return Fraction(0)
    return 1 + sum(
        Fraction(1 if high == low else 2, 36) * min(map(throws_by_hand, homes_after(home, throw)))
        for throw in THROWS
        for high, low in [throw]
    )


@cache
def chance_by_hand(mine: tuple[int, ...], theirs: tuple[int, ...]) -> Fraction:
    """The mover's chance to be the first."""
    return sum(
        Fraction(1 if high == low else 2, 36)
        * max(
            1 - chance_by_hand(theirs, after) if after else 1 for after in homes_after(mine, throw)
        )
        for throw in THROWS
        for high, low in [throw]
    )


def standing(on: tuple[int, ...]) -> tuple[int, ...]:
    """A home board of the rule sheet."""
    return tuple(point for point, n in enumerate(on, 1) for _ in range(n))


def test_bearing_off_by_hand():
    solution = solve(BearOff(checkers=3))
    graph = solution.graph
    assert graph.n_positions == comb(9, 3) - 1
    for position in range(graph.n_positions):
        on = tuple(graph.states[position].tolist())
        assert abs(solution.values[position] - throws_by_hand(standing(on))) < 1e-12


def test_bearing_off_against_another_by_hand():
    solution = solve(TwoSidedBearOff(checkers=2, points=4))
    graph = solution.graph
    assert graph.n_positions == (comb(6, 2) - 1) ** 2
    for position in range(graph.n_positions):
        row = graph.states[position].tolist()
        chance = chance_by_hand(standing(tuple(row[:6])), standing(tuple(row[6:])))
        assert abs((1 + solution.values[position]) / 2 - chance) < 1e-12


def on_the_ace(n: int) -> tuple[int, ...]:
    return (n, 0, 0, 0, 0, 0)


def test_races_from_the_ace_point_as_published():
    """H. Peelle, Ace-point bearoffs: 8 against 6, and all even numbers of his table."""
    solution = solve(TwoSidedBearOff(checkers=15, points=1))

    def chance(mine: int, theirs: int) -> float:
        position = solution.graph.find((*on_the_ace(mine), *on_the_ace(theirs)))
        return float((1 + solution.values[position]) / 2)

    assert abs(chance(8, 6) - 0.301055) < 5e-7
    assert abs(chance(15, 15) - 0.670218869260942) < 1e-14
    assert [round(chance(n, n), 2) for n in range(3, 14, 2)] == [0.86, 0.79, 0.75, 0.72, 0.70, 0.68]


@pytest.mark.large
@pytest.mark.needs_jit
def test_when_bearing_off_none_is_best():
    """Bgonline.org (2013), thread 149100: 54,263 positions; in 3,825 of those after a throw that is

    no double one can bear off a checker, and it is best to bear off none.
    """
    solution = solve(BearOff(checkers=15))
    graph = solution.graph
    assert graph.n_positions == 54_263
    none_best = 0
    after = graph.states.sum(axis=1)
    for state in range(graph.n_positions, graph.n_states):
        high, low = graph.rows[state, -2:].tolist()
        a = slice(graph.action_indptr[state], graph.action_indptr[state + 1])
        if high == low or a.stop - a.start == 1:
            continue
        targets = graph.outcome_state[graph.outcome_indptr[a]]
        left = np.where(targets < 0, 0, after[targets])
        before = graph.rows[state, :6].sum()
        best = solution.is_best[a]
        none_best += left.min() < before and left[best].min() == before
    assert none_best == 3_825
