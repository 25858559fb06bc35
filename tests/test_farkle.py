"""Farkle, against a program that shares nothing with the package, and its scorings."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations, permutations, product

import pytest

from rollwise import solve
from rollwise.games.farkle import SCORING, Farkle, FarkleTurn, all_moves, row

TRIPLES = {face: 100 * face for face in range(2, 7)}


def groups(scoring: str) -> dict[tuple[int, ...], int]:
    """The dice that score together, as the makers list them."""
    found = {(1,): 100, (5,): 50}
    ones = 300 if scoring == "patch" else 1000
    triples = {1: ones} | TRIPLES
    found |= {(face,) * 3: points for face, points in triples.items()}
    if scoring == "facebook":
        for face, points in triples.items():
            found |= {(face,) * n: (n - 2) * points for n in (4, 5, 6)}
    if scoring == "zilch":
        for face, points in triples.items():
            found |= {(face,) * n: points * 2 ** (n - 3) for n in (4, 5, 6)}
        for one, other in permutations(triples, 2):
            found[tuple(sorted((one,) * 4 + (other,) * 2))] = 1500
    if scoring == "patch":
        for face in triples:
            found |= {(face,) * 4: 1000, (face,) * 5: 2000, (face,) * 6: 3000}
    if scoring != "standard":
        found[1, 2, 3, 4, 5, 6] = 1500
        for pairs in combinations(range(1, 7), 3):
            found[tuple(sorted(2 * pairs))] = 750 if scoring == "facebook" else 1500
    if scoring == "patch":
        for one, other in product(triples, triples):
            if one != other:
                found[tuple(sorted((one,) * 4 + (other,) * 2))] = 1500
                found[tuple(sorted((one,) * 3 + (other,) * 3))] = 2500
    return found


@cache
def most(scoring: str, dice: tuple[int, ...]) -> int:
    """The best way to split dice into groups that score; far below 0 where there is none."""
    if not dice:
        return 0
    best = -(10**9)
    for group, points in groups(scoring).items():
        rest = Counter(dice)
        rest.subtract(group)
        if min(rest.values()) >= 0:
            left = tuple(sorted(rest.elements()))
            best = max(best, points + most(scoring, left))
    return best


@cache
def thrown(scoring: str, n: int) -> list[tuple[int, list[tuple[int, int]]]]:
    """What n dice bring, each with its ways: the points and the number of dice of each choice."""
    ways = Counter(tuple(sorted(faces)) for faces in product(range(1, 7), repeat=n))
    found = []
    for faces, count in ways.items():
        sets = {c for k in range(1, n + 1) for c in combinations(faces, k)}
        results = {(most(scoring, c), len(c)) for c in sets if most(scoring, c) > 0}
        if scoring == "zilch" and n == 6 and not results:
            results = {(500, 6)}  # six dice that score nothing
        found.append((count, sorted(results)))
    return found


def farkled(mine, theirs, own, other, penalty, lowest):
    """Both banks and the farkles of both in a row, after a farkle."""
    if penalty == 0:
        return mine, theirs, 0, 0
    if own < 2:
        return mine, theirs, own + 1, other
    return max(mine - penalty, lowest), theirs, 0, other


def farkle_by_hand(
    target, scoring="facebook", entry=0, least=0, last_lick=False, penalty=0, lowest=0
) -> float:
    """The first player's chance, by sweeps over the beginnings of turns until nothing changes."""
    start = {(0, 0, 0, 0): 0.4}  # mine and theirs, and the farkles of both in a row

    def after(mine, theirs, own=0, other=0):
        """My chance once the turn has passed to the other."""
        return 1 - start.setdefault((theirs, mine, other, own), 0.4)

    @cache
    def beats(needed, n):
        """The chance to get more than so many points in the last turn of all."""
        mean = 0.0
        for count, results in thrown(scoring, n):
            chances = [
                1.0 if points > needed else beats(needed - points, n - k or 6)
                for points, k in results
            ]
            mean += count * max(chances, default=0.0)
        return mean / 6**n

    def turn_from(mine, theirs, own, other):
        if theirs >= target:
            return beats(theirs - mine, 6)

        def stopped(turn):
            total = mine + turn
            if total >= target and not last_lick:
                return 1.0
            needed = min(target, max(least, entry if mine <= 0 else 0))
            return after(total, theirs, 0, other) if turn >= needed else -1.0

        @cache
        def throw(turn, n):
            mean = 0.0
            for count, results in thrown(scoring, n):
                best = (
                    -1.0 if results else after(*farkled(mine, theirs, own, other, penalty, lowest))
                )
                most_points = max((points for points, _ in results), default=0)
                if turn + most_points >= (target if last_lick else target - mine):
                    best, results = stopped(turn + most_points), []
                for points, k in results:
                    best = max(best, stopped(turn + points), throw(turn + points, n - k or 6))
                mean += count * best
            return mean / 6**n

        return throw(0, 6)

    change = 1.0
    while change > 1e-13:
        change = 0.0
        for key in list(start):
            known, value = len(start), turn_from(*key)
            change = max(change, abs(value - start[key]), float(len(start) - known))
            start[key] = value
    return start[0, 0, 0, 0]


@pytest.mark.parametrize(
    "options",
    [
        {"target": 200},
        {"target": 200, "scoring": "standard", "entry": 150},
        {"target": 200, "scoring": "patch", "least": 150},
        {"target": 100, "scoring": "standard", "last_lick": True},
        {"target": 100, "last_lick": True, "entry": 100},
        {"target": 100, "scoring": "standard", "penalty": 50, "entry": 100, "lowest": -50},
        {"target": 100, "scoring": "patch", "last_lick": True, "penalty": 150, "least": 100},
    ],
    ids=str,
)
def test_farkle_by_hand(options):
    solution = solve(Farkle(**options))
    assert solution.error_bound < 1e-11
    assert abs(solution.win_probability - farkle_by_hand(**options)) < 1e-11


def turn_by_hand(scoring: str, most_points: int, least: int) -> float:
    """The most that a turn brings on average."""

    @cache
    def throw(turn, n):
        mean = 0.0
        for count, results in thrown(scoring, n):
            best = max((turn + points for points, _ in results), default=0)
            if 0 < best < most_points:
                best = best if best >= least else 0
                ahead = (throw(turn + points, n - k or 6) for points, k in results)
                best = max(best, *ahead)
            mean += count * best
        return mean / 6**n

    return throw(0, 6)


@pytest.mark.parametrize("least", [0, 300])
@pytest.mark.parametrize("scoring", SCORING)
def test_a_turn_by_hand(scoring, least):
    solution = solve(FarkleTurn(scoring, least=least, most=600))
    assert abs(solution.value - turn_by_hand(scoring, 600, least)) < 1e-9


@pytest.mark.parametrize(("scoring", "weight"), [*((s, 1) for s in SCORING), ("patch", 2)])
def test_what_can_be_set_aside(scoring, weight):
    """Every throw, with its ways and all distinct results, as the list of groups has them."""
    moves, die = all_moves(scoring, 5, weight), (1, 2, 3, 4, *(5,) * weight, 6)
    for n in range(1, 7):
        ways = Counter(tuple(sorted(faces)) for faces in product(die, repeat=n))
        for (faces, count), (_, results) in zip(ways.items(), thrown(scoring, n), strict=True):
            k = row(faces + (0,) * (6 - n))
            here = slice(moves.first[k], moves.first[k + 1])
            assert tuple(moves.faces[k]) == faces + (0,) * (6 - n)
            assert moves.ways[k] == count
            found = zip(moves.points[here].tolist(), moves.dice[here].tolist(), strict=True)
            assert sorted(found) == results


def test_dice_that_are_left_unthrown_are_no_zeros():
    """In the list of throws of a position with fewer dice."""
    solution = solve(Farkle(target=300))
    fewer = next(s for s in solution.graph.view if s.throws and s.named["dice"] == 2)
    told = [line.split()[:3] for line in str(solution.advise(fewer.address["state"])).split("\n")]
    assert told[2] == ["1", "1", "2.7778"]
