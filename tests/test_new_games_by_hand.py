"""Red Light, Risk, EinStein and a throw of binary dice, against programs that share nothing."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from rollwise import build, solve
from rollwise.games.einstein import Einstein
from rollwise.games.farkle import worth
from rollwise.games.pickomino import Pickomino
from rollwise.games.red_light import RedLight
from rollwise.games.risk import Risk
from rollwise.games.royal_ur import RoyalUr
from rollwise.words import Narrator


def red_light_by_hand(target: int, greens: int, reds: int, komi: int) -> float:
    """The first player's chance, by sweeps over all positions until nothing changes."""
    shape = target, target + komi, target, greens + 1, reds + 1
    win = np.zeros(shape)  # never holding wins nothing
    change = 1.0
    while change > 1e-15:
        before = win.copy()
        for mine, theirs, turn, green, red in np.ndindex(*shape):
            if red == 0 or mine + turn >= target or theirs >= target:
                continue
            bag = (greens, reds) if red == 1 else (green, red - 1)
            draw = red * (1 - win[theirs, mine, 0, *bag])
            if green:
                over = mine + turn + 1 == target
                draw += green * (1.0 if over else win[mine, theirs, turn + 1, green - 1, red])
            hold = 1 - win[theirs, mine + turn, 0, green, red] if turn else 0.0
            win[mine, theirs, turn, green, red] = max(draw / (green + red), hold)
        change = float(np.abs(win - before).max())
    return float(win[0, komi, 0, greens, reds])


@pytest.mark.parametrize("given", [(3, 3, 2, 0), (4, 4, 2, 1), (4, 2, 1, 1)])
def test_red_light_by_hand(given):
    solution = solve(RedLight(*given))
    assert abs(solution.win_probability - red_light_by_hand(*given)) < 1e-12


@cache
def duels(attacking: int, defending: int) -> list[int]:
    """Of each throw, how many armies the defender loses."""
    found = []
    for mine in product(range(6), repeat=attacking):
        for theirs in product(range(6), repeat=defending):
            won = max(mine) > max(theirs)
            if min(attacking, defending) == 2:
                won += sorted(mine)[-2] > sorted(theirs)[-2]
            found.append(int(won))
    return found


def risk_by_hand(attackers: int, defenders: int, prize: int | None) -> Fraction:
    """The chance to win the land, or the best payoff with a prize and the right to stop."""

    @cache
    def best(mine: int, theirs: int) -> Fraction:
        if mine == 0:
            return Fraction(0 if prize is None else -theirs)
        if theirs == 0:
            return Fraction(1 if prize is None else mine + prize)
        throws = duels(min(mine, 3), min(theirs, 2))
        at_stake = min(mine, theirs, 2)
        after = [best(mine - at_stake + won, theirs - won) for won in range(at_stake + 1)]
        attack = sum(throws.count(won) * worth for won, worth in enumerate(after))
        attack = Fraction(attack) / len(throws)
        return attack if prize is None else max(attack, Fraction(mine - theirs))

    return best(attackers, defenders)


@pytest.mark.parametrize("armies", [(10, 10), (3, 7), (6, 2), (1, 1)])
def test_risk_by_hand(armies):
    land = solve(Risk(*armies, result="land"))
    assert abs(land.win_probability - float(risk_by_hand(*armies, None))) < 1e-12
    for prize in (0, 3):
        assert abs(solve(Risk(*armies, prize)).value - float(risk_by_hand(*armies, prize))) < 1e-12


def einstein_by_hand(size: int, rows: int) -> Fraction:
    """The first player's chance, on a board of rows and columns that doesn't turn round."""
    homes = [(row - right, right) for row in range(rows) for right in range(row + 1)]
    far, corner = [(size - 1 - c, size - 1 - r) for r, c in homes], (size - 1, size - 1)

    @cache
    def chance(mine, theirs, step):
        """Of who moves by this step towards the goal, all pieces on the board by number."""
        if not mine or not theirs:
            return Fraction(bool(mine))
        goal = corner if step == 1 else (0, 0)
        total = Fraction(0)
        for thrown in range(1, len(homes) + 1):
            low = [n for n, _ in mine if n <= thrown][-1:]
            high = [n for n, _ in mine if n >= thrown][:1]
            total += max(
                after(mine, theirs, step, goal, n, (r + dr * step, c + dc * step))
                for n, (r, c) in mine
                if n in low + high
                for dr, dc in ((0, 1), (1, 0), (1, 1))
                if 0 <= r + dr * step < size and 0 <= c + dc * step < size
            )
        return total / len(homes)

    def after(mine, theirs, step, goal, number, to):
        if to == goal:
            return Fraction(1)
        left = [(n, at) for n, at in mine if n != number and at != to]
        other = tuple((n, at) for n, at in theirs if at != to)
        return 1 - chance(other, tuple(sorted([*left, (number, to)])), -step)

    return chance(tuple(enumerate(homes, 1)), tuple(enumerate(far, 1)), 1)


@pytest.mark.parametrize(("size", "rows"), [(2, 1), (3, 1), (3, 2)])
def test_einstein_by_hand(size, rows):
    solution = solve(Einstein(size, rows))
    assert abs(solution.win_probability - float(einstein_by_hand(size, rows))) < 1e-12


@pytest.mark.parametrize(
    ("faces", "points"),
    [("234466", 500), ("223344", 1500), ("222233", 1500), ("123456", 1500), ("11111", 4000),
     ("6666", 1200), ("222222", 1600), ("155", 200), ("2346", 0), ("134466", 0)],
)  # fmt: skip
def test_the_scores_of_zilch(faces, points):
    assert worth("zilch", [faces.count(str(face)) for face in range(1, 7)]) == points


def test_binary_dice_and_counted_dice_are_drawn_as_they_lie():
    for path, dice in (("finkel", 4), ("blitz", 4), ("masters", 3)):
        narrator = Narrator(build(RoyalUr(1, path)), game := RoyalUr(1, path))
        for _, throw in game.throws(game.start()):
            marks = [cell.numbers[0] for cell in narrator.throw_cells([throw])]
            assert len(marks) == dice
            assert sum(marks) == (0 if path == "masters" and throw == 4 else throw)
    cells = Narrator(build(Pickomino(3)), Pickomino(3)).throw_cells([0, 2, 0, 0, 0, 1])
    assert [cell.numbers[0] for cell in cells] == [2, 2, 6]
