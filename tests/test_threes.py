"""Threes: the rules, the source's tables, and the published mean without refusing."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from rollwise import build, solve
from rollwise.builders import build_with_report
from rollwise.games.threes import ROLL, TAKE, Hand, Threes, points_of_lowest

# Seed 004, "The Value Function" (rolling first): simulated, right to about one decimal.
SEED_VALUES = {
    (1, 0): 3,
    (2, 1): 6,
    (2, 0): 4,
    (3, 1): 7,
    (3, 0): 4.8,
    (4, 1): 7,
    (4, 0): 5.3,
    (5, 1): 7,
    (5, 0): 5.6,
}


def before_roll(dice: int, take_two: int = 0) -> Hand:
    return Hand(dice, take_two, 0, 0, 0, 0, 0, 0)


@cache
def naive_value(dice: int, take_two: bool, skip: bool) -> Fraction:
    """Expected points of so many dice, whichever are taken: every roll, every subset."""
    if dice == 0:
        return Fraction(0)
    total = Fraction(0)
    for roll in product((0, 1, 2, 4, 5, 6), repeat=dice):
        worths = [
            sum(taken) + naive_value(dice - n, False, skip)
            for n in range(2 if take_two else 1, dice + 1)
            for taken in set(combinations(roll, n))
        ]
        if skip and not take_two and dice > 1:
            worths.append(naive_value(dice, True, skip))
        total += min(worths)
    return total / 6**dice


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("dice", [1, 2, 3, 4])
def test_taking_other_dice_than_the_lowest_is_never_better(dice, skip):
    # The naive value lets any subset be taken; the rule sheet only the lowest.
    solution = solve(Threes(dice=dice, skip=skip))
    for left in range(1, dice + 1):
        for take_two in (0, 1) if skip and left > 1 else (0,):
            s = solution.find(before_roll(left, take_two))
            exact = naive_value(left, bool(take_two), skip)
            assert abs(Fraction(float(solution.values[s])) - exact) <= solution.error_bounds[s]


def test_the_nine_rows_of_the_source():
    table = solve(Threes()).table("to_roll > 0")
    rows = {(row["to_roll"], row["take_two"]): row["value"] for row in table.to_dicts()}
    assert rows.keys() == SEED_VALUES.keys()
    for key, value in SEED_VALUES.items():
        assert abs(rows[key] - value) < 0.1
    assert 5.6 < rows[5, 0] < 5.7


def test_five_dice_without_refusing_give_the_published_mean():
    # icepool, notebooks/stack_exchange/game_of_threes.ipynb
    solution = solve(Threes(skip=False))
    published = Fraction(504205555, 80621568)
    assert float(published) == 6.253978525944819
    assert abs(Fraction(solution.value) - published) <= solution.error_bound < 1e-11


def test_fractions():
    pytest.importorskip("flint")
    from rollwise.methods.exact import exact

    assert exact(build(Threes(skip=False))).fractions[0] == Fraction(504205555, 80621568)
    assert exact(build(Threes())).fractions[0] == Fraction(128389171, 22674816)
    assert naive_value(3, False, True) == Fraction(115, 24)


def test_both_builders_give_the_same_graph(mode):
    graph, _ = build_with_report(Threes(dice=3), mode=mode)
    assert graph.content_hash == build(Threes(dice=3)).content_hash
    assert (graph.n_states, graph.n_actions, graph.n_outcomes) == (165, 431, 586)


def test_rules_of_refusing():
    game = Threes(dice=2)
    two = Hand(0, 0, 1, 0, 0, 0, 0, 1)
    assert list(game.actions(two)) == [TAKE, TAKE + 1, TAKE + 2]
    assert list(game.actions(two._replace(take_two=1))) == [TAKE + 2]
    assert list(game.actions(Hand(0, 0, 0, 0, 0, 0, 0, 1))) == [TAKE + 1]  # the last die
    assert list(Threes(dice=2, skip=False).actions(two)) == [TAKE + 1, TAKE + 2]
    assert list(game.actions(before_roll(2))) == [ROLL]
    ((_, _, after),) = game.outcomes(two, TAKE)
    assert after == before_roll(2, 1)


def test_a_playthrough():
    """The first player of the source's example game."""
    game = Threes()
    hand = Hand(0, 0, 2, 1, 0, 1, 1, 0)  # 4 3 5 3 1
    assert any(nxt == hand for _, _, nxt in game.outcomes(before_roll(5), ROLL))
    assert game.reward(hand, TAKE + 2) == 0
    ((_, _, left),) = game.outcomes(hand, TAKE + 2)
    assert left == before_roll(3)
    hand = Hand(0, 0, 1, 1, 0, 1, 0, 0)  # 4 3 1
    assert game.reward(hand, TAKE + 2) == 1
    assert game.reward(Hand(0, 0, 0, 0, 0, 0, 0, 1), TAKE + 1) == 6


def test_points_of_the_lowest_dice():
    faces = np.array([0, 0, 1, 2, 2, 4, 5, 6, 6])
    s = Hand(0, 0, 2, 1, 2, 1, 1, 2)
    assert [points_of_lowest(s, n) for n in range(10)] == [0, *np.cumsum(faces).tolist()]


def test_take_one_is_what_it_says():
    from rollwise.answer.references import Policies

    game = Threes(dice=3)
    graph = build(game)
    policy = Policies(graph, game).find("take-one")
    for a in np.flatnonzero(policy.probability):
        s = graph.states[graph.action_state[a]]
        assert s[0] > 0 or graph.action_label[a] == TAKE + 1 + s[1]


def test_a_play_as_people_write_it():
    game = Threes()
    moves = game.read_play([{"rolled": "6 4 5", "taken": "-"}, {"rolled": "4 4 3", "taken": "4 3"}])
    assert moves == [
        (Hand(0, 0, 0, 0, 0, 1, 1, 1), TAKE),
        (Hand(0, 1, 1, 0, 0, 2, 0, 0), TAKE + 2),
    ]
    with pytest.raises(ValueError, match="aren't the 1 lowest"):
        game.read_play([{"rolled": "6 4 5", "taken": "6"}])
    with pytest.raises(ValueError, match="isn't a list of dice"):
        game.read_play([{"rolled": "6 7", "taken": "6"}])
