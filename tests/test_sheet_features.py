"""What rules of thumb look at on the sheets of Yatzy and Yahtzee: cases by hand, and slow twins."""

from __future__ import annotations

import random
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from rollwise.games import yahtzee, yatzy
from rollwise.games.yahtzee import Yahtzee
from rollwise.games.yatzy import Yatzy
from rollwise.thumb.features import filled_features, kept_dice, kept_features, position_features

EMPTY = yatzy.Sheet(0, 0)
KEPT = (  # dice, the boxes that are filled, and what isn't 0 besides left, hope and total
    ((), (), {"nothing": 1}),
    (
        (6,),
        (),
        {"alike": 1, "above": 1, "points_above": 6, "want": 7, "three": 6, "four": 6, "row": 1},
    ),
    ((4, 4), ("fours", "one pair"), {"alike": 2, "want": 5, "three": 8, "four": 8}),
    (
        (2, 2, 2),
        ("yatzy", "full house"),
        {"alike": 3, "above": 3, "points_above": 6, "want": 5, "pair": 2, "three": 6, "four": 6},
    ),
    (
        (5, 5, 5, 5, 5),
        ("fives", "two pairs", "one pair"),
        {"alike": 5, "want": 4, "three": 15, "four": 20, "five": 1, "complete": 1},
    ),
    ((2, 3, 4), (), {"row": 6}),
    ((1, 2, 3, 4), (), {"row": 4}),
    ((2, 3, 4, 5), ("small straight",), {"row": 4}),
    ((2, 3, 4, 5, 6), (), {"row": 5, "complete": 1}),
    ((2, 3, 4, 5, 6), ("large straight",), {}),
    ((3, 3, 5, 5), (), {"house": 4, "two_pairs_kept": 1, "two_pairs_total": 16}),
    ((3, 3, 5, 5), ("full house",), {"two_pairs_kept": 1, "two_pairs_total": 16}),
    ((3, 3, 3, 5, 5), ("two pairs",), {"house": 5, "complete": 1}),
    ((3, 3, 3, 5), (), {"house": 4}),
    ((3, 3, 3, 3, 5), (), {"house": 4}),
    ((1, 1, 6), (), {"house": 3}),
)


def with_filled(*names: str) -> SimpleNamespace:
    """A sheet with these boxes filled and no points above, as arrays of one position."""
    filled = sum(1 << Yatzy.action_names.index(name) for name in names)
    return SimpleNamespace(filled=np.array([filled]), upper=np.array([0]))


@pytest.mark.parametrize(("dice", "filled", "told"), KEPT)
def test_what_is_kept(dice, filled, told):
    sheet = with_filled(*filled)
    every = Yatzy().kept_features(sheet, dice) | Yatzy().features(sheet)
    found = {name: int(np.ravel(value)[0]) for name, value in every.items() if np.any(value)}
    assert found.pop("left") == 15 - len(filled)
    assert found.pop("hope") == 1
    assert found.pop("total", 0) == sum(dice)
    assert found.pop("any", 0) == sum(dice)
    # Twos and more dice of a face also make the pair.
    if "pair" not in told and "one pair" not in filled and found.get("alike", 0) >= 2:
        assert found.pop("pair") == dice[0]
    # Of a straight that lacks a 1 or a 6 both boxes count.
    assert found == told


FILLED = (  # throw, box, boxes filled before, points above, and some of what is told
    ((6, 6, 6, 1, 2), "sixes", (), 0, {"made": 18, "beyond": 0, "short": 0, "behind": 0}),
    ((6, 6, 1, 2, 3), "sixes", (), 0, {"made": 12, "beyond": -6, "short": 6, "behind": 1}),
    ((6, 6, 1, 2, 3), "sixes", ("fives",), 20, {"made": 12, "behind": 1, "short": 6}),
    ((6, 6, 1, 2, 3), "sixes", ("fives", "threes"), 32, {"short": 6, "behind": 0}),
    ((1, 2, 4, 6, 6), "fives", (), 0, {"made": 0, "beyond": -15, "short": 15, "behind": 1}),
    ((2, 2, 3, 4, 5), "one pair", (), 0, {"made": 4, "behind": 0, "beyond": 0}),
    ((1, 2, 3, 4, 6), "one pair", (), 0, {"made": 0, "short": 0}),
    ((5, 5, 6, 6, 6), "full house", (), 0, {"made": 28}),
    ((1, 2, 3, 4, 5), "small straight", (), 0, {"made": 15}),
    ((1, 2, 3, 4, 5), "chance", (), 0, {"made": 15, "behind": 0}),
)


@pytest.mark.parametrize(("throw", "box", "filled", "upper", "told"), FILLED)
def test_what_is_filled(throw, box, filled, upper, told):
    sheet = with_filled(*filled)
    sheet.upper = np.array([upper])
    found = Yatzy().action_features(sheet, tuple(sorted(throw)), Yatzy.action_names.index(box))
    assert {name: int(np.ravel(found[name])[0]) for name in told} == told
    assert found[box.replace(" ", "_")] == 1


def test_hope_for_the_bonus():
    """Four dice of each open face would bring it, and it isn't there yet."""
    game, faces = Yatzy(), Yatzy.action_names[:6]

    def hope(upper: int, *filled: str) -> int:
        sheet = with_filled(*filled)
        sheet.upper = np.array([upper])
        return int(game.features(sheet)["hope"][0])

    assert hope(0) == 1
    assert hope(63) == 0
    assert hope(39, *faces[:5]) == 1  # 24 with four sixes
    assert hope(38, *faces[:5]) == 0
    assert hope(62, *faces) == 0


@pytest.mark.parametrize("game", [Yatzy(), Yatzy(boxes=9), Yahtzee(), Yahtzee(boxes=8)])
def test_many_positions_at_once_are_what_each_is(game):
    """Features of arrays are those that a slow twin counts, one position at a time."""
    pool, draw = game.throws(None), random.Random(3)
    names = type(game.start())._fields
    rows = [[draw.randrange((1 << game.boxes) - 1), draw.randrange(64)] for _ in range(12)]
    positions = np.array([[*row, 0][: len(names)] for row in rows], np.int32)
    kept = kept_features(game, pool, positions, names)
    filled = filled_features(game, pool, range(game.boxes), positions, names)
    told = position_features(game, positions, names)
    throws = [throw for _, throw in pool.throws]
    made = yatzy.points if game.name == "yatzy" else yahtzee.points
    joker = () if game.name == "yatzy" else (False,)
    for n, (was_filled, upper, *_) in enumerate(positions.tolist()):
        opened = [box for box in range(game.boxes) if not was_filled >> box & 1]
        could = upper + sum(4 * (face + 1) for face in opened if face < 6)
        assert told["left"][n] == len(opened)
        assert told["hope"][n] == (upper < 63 <= could)
        for place, dice in draw.sample(list(enumerate(kept_dice(pool))), 40):
            alike = len(dice) if len(Counter(dice)) == 1 else 0
            above = alike if alike and dice[0] - 1 in opened else 0
            want = len([box for box in game.of_alike if box in opened]) + (above > 0)
            twin = {
                "total": sum(dice),
                "alike": alike,
                "above": above,
                "points_above": sum(dice) if above else 0,
                "want": want if alike else 0,
                "nothing": int(not dice),
            }
            assert {name: kept.at(name, n, place) for name in twin} == twin
        for place in draw.sample(range(len(throws) * game.boxes), 40):
            throw, box = throws[place // game.boxes], place % game.boxes
            points = made(throw, box, *joker)
            then_filled = was_filled | 1 << box
            par = sum(3 * (face + 1) for face in range(6) if then_filled >> face & 1)
            below = points - 3 * (box + 1) if box < 6 else 0
            twin = {
                "made": points,
                "beyond": below,
                "short": max(-below, 0),
                "behind": int(box < 6 and upper + points < par),
            }
            assert {name: filled.at(name, n, place) for name in twin} == twin
