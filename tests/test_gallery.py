"""Games that people have on their tables, against programs that share nothing with the package."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from rollwise import solve
from rollwise.games.cant_stop import CantStop
from rollwise.games.hog import Hog
from rollwise.games.pass_the_pigs import THROWS, PassThePigs
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.snakes_and_ladders import BOARDS, SnakesAndLadders
from rollwise.games.zombie_dice import GO_ON, Turn, ZombieDice


def hog_by_hand(most: int, target: int) -> float:
    """The chance of Hog's first player, by sweeps over both scores until nothing changes."""
    faces = np.array([0, 0, 1, 1, 1, 1, 1]) / 6
    scores = np.zeros((most, 6 * most + 1))  # the chances of the points of so many dice
    dice = np.array([1.0])
    for n in range(most):
        dice = np.convolve(dice, faces)
        scores[n, : len(dice)] = dice
    nothing = 1 - scores.sum(axis=1)
    chance = np.ones((target, target + 6 * most + 1))  # of who doesn't move

    def something(mine: int, theirs: int) -> np.ndarray:
        return scores @ chance[theirs, mine : mine + 6 * most + 1]

    for total in range(2 * target - 2, -1, -1):
        for mine in range(max(0, total - target + 1), total // 2 + 1):
            theirs = total - mine
            first, second = something(mine, theirs), something(theirs, mine)
            here, there, before = 0.5, 0.5, 0.0
            while here != before:
                before = here
                here = float((first + nothing * (1 - there)).max())
                there = float((second + nothing * (1 - here)).max())
            chance[mine, theirs], chance[theirs, mine] = 1 - here, 1 - there
    return 1 - float(chance[0, 0])


@pytest.mark.parametrize("most", [1, 4, 10])
def test_hog_by_hand(most):
    solution = solve(Hog(target=30, dice=most))
    assert abs(solution.win_probability - hog_by_hand(most, 30)) < 1e-12


# The chances of two pigs as they are published, by points; the last is a pig out.
PIGS = {
    1: 0.213005,
    5: 0.406224,
    10: 0.078484,
    15: 0.027834,
    20: 0.062288,
    25: 0.00042,
    40: 0.0009,
    60: 0.000049,
    0: 0.210796,
}


def test_two_pigs_land_as_published():
    assert {points: weight / 1e6 for weight, points in THROWS} == PIGS
    assert sum(weight for weight, _ in THROWS) == 1_000_000


def test_pass_the_pigs_by_hand():
    """Sweeps over the chance to win of who moves, at any points, until nothing changes."""
    target = 12
    win = np.full((target, target, target), 0.5)  # banked, rival, turn
    change = 1.0
    while change > 1e-15:
        before = win.copy()
        for banked in range(target):
            for rival in range(target):
                for turn in range(target - banked):
                    throw = PIGS[0] * (1 - win[rival, banked, 0])
                    for points, chance in list(PIGS.items())[:-1]:
                        more = turn + points
                        over = banked + more >= target
                        throw += chance * (1.0 if over else win[banked, rival, more])
                    hold = 1 - win[rival, banked + turn, 0] if turn else 0.0
                    win[banked, rival, turn] = max(throw, hold)
        change = float(np.abs(win - before).max())
    assert abs(solve(PassThePigs(target)).win_probability - win[0, 0, 0]) < 1e-12


def throws_by_hand(board: dict[int, int], beyond: str) -> float:
    """The mean number of throws, by one linear system over all squares of the board."""
    matrix, ones = np.eye(101), np.ones(101)
    ones[100] = 0
    for square in range(100):
        for face in range(1, 7):
            to = square + face
            if to > 100:
                to = {"stays": square, "bounces": 200 - to, "ends": 100}[beyond]
            matrix[square, board.get(to, to)] -= 1 / 6
    return float(np.linalg.solve(matrix, ones)[0])


@pytest.mark.parametrize("beyond", ["stays", "bounces", "ends"])
@pytest.mark.parametrize("board", BOARDS)
def test_snakes_and_ladders_by_hand(board, beyond):
    solution = solve(SnakesAndLadders(board, beyond))
    assert abs(solution.value - throws_by_hand(BOARDS[board], beyond)) < 1e-9


ZOMBIES = {"g": "bbbffs", "y": "bbffss", "r": "bffsss"}  # brains, feet, shotguns
CUP = "ggggggyyyyrrr"


@cache
def thrown(hand: str) -> dict[tuple[str, str, int], int]:
    """In how many ways the dice come to show brains, feet (their colours) and shotguns."""
    ways: Counter[tuple[str, str, int]] = Counter()
    for faces in product(*(ZOMBIES[die] for die in hand)):
        sorts = ["".join(d for d, f in zip(hand, faces, strict=True) if f == k) for k in "bf"]
        ways[(*sorts, faces.count("s"))] += 1
    return ways


@cache
def drawn(cup: str, brains: str, feet: str) -> dict[tuple[str, str, str], int]:
    """In how many ways three dice come to be in hand: the hand, the cup, and the brains left."""
    if len(cup) < 3 - len(feet):
        cup, brains = "".join(sorted(cup + brains)), ""
    ways: Counter[tuple[str, str, str]] = Counter()
    for taken in combinations(range(len(cup)), 3 - len(feet)):
        hand = "".join(sorted(feet + "".join(cup[die] for die in taken)))
        left = "".join(die for place, die in enumerate(cup) if place not in taken)
        ways[hand, left, brains] += 1
    return ways


def zombie_turns(goal: int) -> float:
    """The mean number of turns of a zombie who plays well, by sweeps over dice of letters."""
    turns = [0.5] * goal + [0.0]
    found: dict[tuple[int, int, str, str, str, int], float] = {}

    def going_on(eaten: int, count: int, cup: str, brains: str, feet: str, shots: int) -> float:
        mean, total = 0.0, 0
        for (hand, left, kept), ways in drawn(cup, brains, feet).items():
            worth = 0.0
            for (more, again, shot), likely in thrown(hand).items():
                here = (eaten, count + len(more), left, "".join(sorted(kept + more)), again)
                worth += likely * after(*here, shots + shot)
            mean += ways * worth / 6**3
            total += ways
        return mean / total

    def after(eaten: int, count: int, cup: str, brains: str, feet: str, shots: int) -> float:
        if shots >= 3:
            return turns[eaten]
        if eaten + count >= goal:
            return 0.0
        state = (eaten, count, cup, brains, feet, shots)
        if state not in found:
            found[state] = turns[eaten]  # three feet lead back to it
            going = going_on(*state)
            found[state] = min(going, turns[eaten + count]) if count else going
        return found[state]

    for eaten in range(goal - 1, -1, -1):
        change = 1.0
        while change > 1e-13:
            before, last = turns[eaten], dict(found)
            for state in last:
                going = going_on(*state)
                found[state] = min(going, turns[eaten + state[1]]) if state[1] else going
            turns[eaten] = 1 + going_on(eaten, 0, CUP, "", "", 0)
            moved = [abs(found[state] - last.get(state, 0.0)) for state in found]
            change = max(abs(turns[eaten] - before), *moved)
        found.clear()
    return turns[0]


def test_zombie_dice_by_hand():
    assert abs(solve(ZombieDice(2)).value - zombie_turns(2)) < 1e-11


def letters(*counts: int) -> str:
    return "".join(die * n for die, n in zip("gyr", counts, strict=True))


@pytest.mark.parametrize(
    "turn",
    [
        Turn(0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 4, 3),
        Turn(0, 2, 0, 1, 0, 1, 1, 1, 0, 4, 2, 2),
        Turn(0, 9, 0, 0, 1, 0, 5, 2, 2, 1, 1, 0),  # exactly as many in the cup as are needed
        Turn(0, 10, 0, 0, 1, 0, 5, 3, 2, 1, 0, 0),  # one too few: the brains go back
        Turn(0, 12, 0, 0, 0, 0, 6, 4, 2, 0, 0, 0),
        Turn(0, 3, 0, 1, 1, 1, 2, 0, 1, 3, 3, 0),  # feet alone: nothing is drawn
    ],
)
def test_zombies_draw_from_the_cup(turn):
    feet, brains, cup = letters(*turn[3:6]), letters(*turn[6:9]), letters(*turn[9:])
    found = {}
    for weight, _, after in ZombieDice().outcomes(turn, GO_ON):
        if weight:
            assert after[:3] == (turn.eaten, turn.brains, 1)
            found[letters(*after[3:6]), letters(*after[9:]), letters(*after[6:9])] = weight
    expected = {
        tuple("".join(sorted(part, key="gyr".index)) for part in key): ways
        for key, ways in drawn(cup, brains, feet).items()
    }
    assert found == expected


def cant_stop_by_hand(n: int, k: int) -> float:
    """The fewest turns of Can't Stop for one: for each board, the fixed point of a turn."""
    lengths = {c: k + 2 * min(c - 2, 2 * n - c) for c in range(2, 2 * n + 1)}
    splits = Counter(
        tuple(sorted({tuple(sorted((t[0] + t[i], sum(t) - t[0] - t[i]))) for i in (1, 2, 3)}))
        for t in product(range(1, n + 1), repeat=4)
    )

    def climb(bank, run, column):
        run = {**run, column: run.get(column, bank.get(column, 0)) + 1}
        return run if len(run) <= 3 and run[column] <= lengths[column] else None

    def moves(bank, run, split):
        for one, other in split:
            alone = [climb(bank, run, one), climb(bank, run, other)]
            both = None if alone[0] is None else climb(bank, alone[0], other)
            yield from [m for m in alone if m is not None] if both is None else [both]

    @cache
    def board(key):
        bank = dict(key)

        def turn(lost):
            @cache
            def rest(key):
                run, mean = dict(key), 0.0
                for split, ways in splits.items():
                    worth = 1 + lost
                    found = list(moves(bank, run, split))
                    if found:
                        worth = min(after(move) for move in found)
                    mean += ways / n**4 * worth
                return mean

            def after(run):
                there = {**bank, **run}
                if sum(there[c] == lengths[c] for c in there) >= 3:
                    return 1.0
                return min(
                    1 + board(tuple(sorted(there.items()))), rest(tuple(sorted(run.items())))
                )

            return rest(())

        turns, before = 1.0, 0.0
        while abs(turns - before) > 1e-14:
            before, turns = turns, turn(turns)
        return turns

    return board(())


@pytest.mark.parametrize(("sides", "shortest"), [(2, 1), (2, 2)])
def test_cant_stop_by_hand(sides, shortest):
    solution = solve(CantStop(sides=sides, shortest=shortest))
    assert abs(solution.value - cant_stop_by_hand(sides, shortest)) < 1e-12


def box_by_hand(tiles: int, one_die: str, once: str) -> Fraction:
    """The least mean of what is left in the box, by the tiles that are open."""

    @cache
    def left(open_tiles: frozenset[int]) -> Fraction:
        if not open_tiles:
            return Fraction(0)
        few = sum(open_tiles) <= 6 if once == "low" else max(open_tiles) <= 6
        numbers = {"never": (2,), "may": (1, 2), "must": (1,)}[one_die if few else "never"]
        return min(mean(open_tiles, n) for n in numbers)

    def mean(open_tiles: frozenset[int], dice: int) -> Fraction:
        throws = [sum(faces) for faces in product(range(1, 7), repeat=dice)]
        return sum(after(open_tiles, throw) for throw in throws) / Fraction(len(throws))

    @cache
    def after(open_tiles: frozenset[int], throw: int) -> Fraction:
        sets = [c for n in range(1, 5) for c in combinations(sorted(open_tiles), n)]
        best = [left(open_tiles - set(c)) for c in sets if sum(c) == throw]
        return min(best, default=Fraction(sum(open_tiles)))

    return left(frozenset(range(1, tiles + 1)))


@pytest.mark.parametrize("once", ["low", "shut"])
@pytest.mark.parametrize("one_die", ["never", "may", "must"])
def test_shut_the_box_by_hand(one_die, once):
    solution = solve(ShutTheBox(tiles=8, one_die=one_die, once=once))
    assert abs(solution.value - box_by_hand(8, one_die, once)) < 1e-12


def test_shut_the_box_as_published():
    assert abs(box_by_hand(9, "never", "low") - 11.157508444203) < 1e-12
    assert abs(box_by_hand(9, "must", "low") - 11.021120546223) < 1e-12
