"""What rules of thumb look at on the sheets of Yatzy and Yahtzee: cases by hand, and slow twins."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from rollwise.games import yahtzee, yatzy
from rollwise.games.yahtzee import Yahtzee
from rollwise.games.yatzy import Yatzy
from rollwise.thumb.features import filled_features, kept_dice, kept_features, position_features


@pytest.mark.parametrize("game", [Yatzy(), Yatzy(boxes=9), Yahtzee(), Yahtzee(boxes=8)])
def test_many_positions_at_once_are_what_each_is(game):
    """Features of arrays are those that a slow twin counts, one position at a time."""
    pool, draw = game.throws(None), random.Random(3)
    names = type(game.start())._fields
    rows = [[draw.randrange((1 << game.boxes) - 1), draw.randrange(64)] for _ in range(12)]
    positions = np.array([[*row, 0][: len(names)] for row in rows], np.int32)
    kept = kept_features(game, pool, positions, names)
    ends = [(throw,) for _, throw in pool.throws]
    filled = filled_features(game, ends, range(game.boxes), positions, names)
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
