"""Forms of games: their derived graphs are those of their rules, and their titles can be typed."""

from __future__ import annotations

import pytest
from little_games import Ladder
from test_cube import Dash, Uneven
from test_optimal_set import Walk
from throwing import TwoBoxes

from rollwise import Chase, Duel, solve
from rollwise.derive.chase import WithScore
from rollwise.errors import ParameterError
from rollwise.games import create
from rollwise.games.craps import Craps
from rollwise.games.first_orchard import FirstOrchard
from rollwise.games.left_center_right import LeftCenterRight
from rollwise.games.pig import Pig, Piglet
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes

LADDER = Ladder(top=7, share=1.0)
GAMES = [
    *(Chase(Threes(dice=2), 3, ties) for ties in ("win", "draw", "lose")),
    *(
        Chase(Threes(dice=3, skip=False), 4),
        Chase(LADDER, 7, "draw"),
        Chase(TwoBoxes(3), 7, "draw"),
    ),
    *(Duel(Threes(dice=2)), Duel(LADDER, "first"), Duel(TwoBoxes(2))),
    *(WithScore(Threes(dice=3)), WithScore(Threes(dice=4, skip=False)), WithScore(Walk(3))),
    *(Craps().within(4), Piglet(target=3).within(4), SuperSix(sticks=5).within(4)),
    FirstOrchard(trees=2, fruit=2, raven=2).within(4),
    *(Pig(target=6).cube(3), Pig(target=5).cube(match=3), Uneven().cube(match=3)),
    Pig(target=6, must_bank=True).cube(2, opening=True),
    Dash().cube(2, beavers=True, jacoby=False),
    *(RoyalUr(pieces=1).cube(1), LeftCenterRight(chips=2).cube(2), Dash().cube(match=2)),
]


TYPED = [game for game in GAMES if type(game.inner).__module__.startswith("rollwise.")]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: f"{game.form}-{game.name}")
def test_the_derived_graph_is_that_of_the_rules(game):
    derived, plain = solve(game), solve(game, mode="interpreted")
    assert derived.graph.n_positions == plain.graph.n_positions
    for s in plain.graph.positions.tolist():
        place = dict(zip(plain.graph.field_names, plain.graph.row(s), strict=False))
        assert derived.values[derived.find(place)] == pytest.approx(plain.values[s], abs=1e-12)


def test_forms_are_methods_of_a_game():
    assert Threes(dice=2).chase(3) == Chase(Threes(dice=2), 3)
    assert Threes(dice=2).contest("first") == Duel(Threes(dice=2), "first")
    assert Threes(dice=2).with_score() == WithScore(Threes(dice=2))


@pytest.mark.parametrize("game", TYPED, ids=lambda game: f"{game.form}-{game.name}")
def test_the_title_of_a_form_can_be_typed(game):
    typed = {name: str(value) for name, value in game.parameters.items()}
    assert create(type(game.inner), typed) == game


def test_a_form_that_is_none():
    with pytest.raises(ParameterError, match="did you mean as=contest"):
        create(Threes, {"as": "contst"})
    with pytest.raises(ParameterError, match="answered by `rollwise solve` alone"):
        create(Threes, {"as": "contest", "players": "3"})
