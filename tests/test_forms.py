"""Forms of games: their derived graphs are those of their rules, and their titles can be typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from little_games import Ladder
from play_games import Mire, Spot
from test_cube import Dash, Uneven
from test_optimal_set import Walk
from throwing import SavedRolls, TwoBoxes

from rollwise import Chase, Duel, Game, parameter, solve
from rollwise.answer.verify import save_certificate, verify
from rollwise.derive.chase import WithScore
from rollwise.errors import EndlessPlay, ParameterError, RulesError, UsageError
from rollwise.games import create
from rollwise.games.craps import Craps
from rollwise.games.first_orchard import FirstOrchard
from rollwise.games.left_center_right import LeftCenterRight
from rollwise.games.pickomino import Pickomino
from rollwise.games.pig import Pig, Piglet
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.ship_captain_crew import ShipCaptainCrew
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
    *(Chase(game, 3).within(2) for game in (TwoBoxes(2), SavedRolls())),  # pools of dice
    FirstOrchard(trees=2, fruit=2, raven=2).within(4),
    *(Pig(target=6).cube(3), Pig(target=5).cube(match=3), Uneven().cube(match=3)),
    Pig(target=6, must_bank=True).cube(2, opening=True),
    Dash().cube(2, beavers=True, jacoby=False),
    *(RoyalUr(pieces=1).cube(1), LeftCenterRight(chips=2).cube(2), Dash().cube(match=2)),
]


TYPED = [game for game in GAMES if type(game.inner).__module__.startswith("rollwise.games.")]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: f"{game.form}-{game.name}")
def test_the_derived_graph_is_that_of_the_rules(game):
    derived, plain = solve(game), solve(game, mode="interpreted")
    assert derived.graph.n_positions == plain.graph.n_positions
    for s in plain.graph.positions.tolist():
        place = dict(zip(plain.graph.field_names, plain.graph.row(s), strict=False))
        assert derived.values[derived.find(place)] == pytest.approx(plain.values[s], abs=1e-12)


class Sunk(Mire):
    """It begins in the mire, where no play ends."""

    def start(self):
        return Spot(2)


class FreeRoad(Mire):
    """The road costs nothing, so that the best score is 0."""

    objective = "maximize"

    def reward(self, s, action):
        return 0 if s.spot == 0 and action == 0 else -1


def test_no_score_is_reached_where_no_play_ends():
    with pytest.raises(RulesError, match="no play ever ends"):
        solve(Chase(Sunk()))


def test_the_rules_of_a_form_are_refused_by_the_compiler():
    said = "mire: the rules of as=chase can't be compiled; mode='auto' compiles those of mire"
    with pytest.raises(UsageError, match=said):
        solve(Chase(Mire(), 5), mode="compiled")


def test_a_circle_without_a_way_out_is_named():
    with pytest.raises(EndlessPlay, match="give a way to end it. Play goes round at spot=2 "):
        solve(Sunk())


def test_a_contest_says_why_its_game_has_none():
    with pytest.raises(RulesError, match="^mire: the player can go round for ever"):
        solve(Duel(Mire()))


def test_targets_beyond_the_best_score_are_refused():
    with pytest.raises(ParameterError, match="a target of at least 1, not 0"):
        Chase(Mire(), 0)
    with pytest.raises(ParameterError, match="a target of at most 0, not 2"):
        Chase(FreeRoad(), 2)


def test_forms_are_methods_of_a_game():
    assert Threes(dice=2).chase(3) == Chase(Threes(dice=2), 3)
    assert Threes(dice=2).contest("first") == Duel(Threes(dice=2), "first")
    assert Threes(dice=2).with_score() == WithScore(Threes(dice=2))
    assert Threes(dice=2).contest().cube().parameters["as"] == "contest.cube"


@pytest.mark.parametrize("game", TYPED, ids=lambda game: f"{game.form}-{game.name}")
def test_the_title_of_a_form_can_be_typed(game):
    typed = {name: str(value) for name, value in game.parameters.items()}
    assert create(type(game.inner), typed) == game


def test_the_parameters_of_a_game_without_a_decorator_go_with_a_form():
    class Steps(FreeRoad):
        """As FreeRoad, with parameters."""

        steps: int = parameter(2)
        bonus: int = parameter(0, variant=True)

    assert create(Steps, {"steps": "3", "as": "chase", "target": "0"}).inner.steps == 3
    told = "no parameter 'bonsu' .its parameters: steps, bonus, target, ties.; did you mean bonus"
    with pytest.raises(ParameterError, match=told):
        create(Steps, {"as": "chase", "bonsu": "1"})


def test_a_form_that_is_none():
    with pytest.raises(ParameterError, match="did you mean as=contest"):
        create(Threes, {"as": "contst"})
    with pytest.raises(ParameterError, match="answered by `rollwise solve` alone"):
        create(Threes, {"as": "contest", "players": "3"})


# ---- chases: the source's win probabilities, and any solitaire game against brute force


# Seed 004, `get_pwin`: the probability to win or tie by the gap, from 300,000 simulated
# games, rounded (and in two rows cut) to three or four digits.
SEED_CHANCES = {
    (1, 0): [0.1667, 0.3334, 0.5001, 0.5001, 0.6668, 0.8335, 1.000],
    (2, 1): [0.028, 0.083, 0.166, 0.221, 0.304, 0.414, 0.581, 0.691, 0.774, 0.829, 0.912, 0.967,
        0.995],
    (2, 0): [0.093, 0.238, 0.398, 0.508, 0.623, 0.724, 0.849, 0.914, 0.950, 0.972, 0.993, 0.999,
        0.999],
    (3, 1): [0.0162, 0.0582, 0.1297, 0.2077, 0.2954, 0.3857, 0.4987, 0.5955, 0.6814, 0.7531,
        0.8300, 0.8882, 0.9293, 0.9550, 0.9753, 0.9884, 0.9962, 0.9993],
    (3, 0): [0.0580, 0.1634, 0.3050, 0.4322, 0.5596, 0.6698, 0.7774, 0.8611, 0.9183, 0.9492,
        0.9722, 0.9857, 0.9929, 0.9964, 0.9988, 0.9997, 1.0000, 1.0000],
    (4, 1): [0.0142, 0.0528, 0.1237, 0.2125, 0.3125, 0.4161, 0.5249, 0.6290, 0.7208, 0.7944,
        0.8556, 0.9016, 0.9357, 0.9587, 0.9752, 0.9859, 0.9928, 0.9964, 0.9983, 0.9993, 0.9998,
        1.0000, 1.0000, 1.0000],
    (4, 0): [0.0433, 0.1258, 0.2489, 0.3750, 0.4999, 0.6184, 0.7311, 0.8227, 0.8915, 0.9358,
        0.9634, 0.9801, 0.9898, 0.9948, 0.9975, 0.9988, 0.9995, 0.9998, 0.9999, 1.0000, 1.0000,
        1.0000, 1.0000, 1.0000],
    (5, 1): [0.0130, 0.0493, 0.1162, 0.2048, 0.3101, 0.4198, 0.5318, 0.6364, 0.7305, 0.8070,
        0.8659, 0.9097, 0.9418, 0.9631, 0.9775, 0.9867, 0.9926, 0.9959, 0.9978, 0.9989, 0.9995,
        0.9998, 0.9999, 1.0000, 1.0000, 1.0000, 1.0000, 1.0000, 1.0000, 1.0000],
    (5, 0): [0.0356, 0.1059, 0.2144, 0.3359, 0.4604, 0.5793, 0.6940, 0.7910, 0.8659, 0.9190,
        0.9535, 0.9746, 0.9868, 0.9934, 0.9968, 0.9985, 0.9993, 0.9997, 0.9999, 0.9999, 1.0000,
        1.0000, 1.0000, 1.0000, 1.0000, 1.0000, 1.0000, 1.0000, 1.0000, 1.0000],
}  # fmt: skip
SIMULATION_ERROR = 0.002  # two standard errors of 300,000 games
# Two dice, both to be taken: the source added up probabilities cut to three digits
# (0.028 + 0.055 + 0.083 + ...), which leaves it behind by up to 0.0053.
CUT = {(2, 1): 0.0055}


@pytest.fixture(scope="module")
def chase():
    return solve(Chase(Threes()))


def test_all_win_probabilities_of_the_source(chase):
    where = "to_roll > 0 and gap >= 0"
    chances = {
        (row["to_roll"], row["take_two"], row["gap"]): row["win_probability"]
        for row in chase.table(where).to_dicts()
    }
    compared = 0
    for (dice, take_two), row in SEED_CHANCES.items():
        for gap, told in enumerate(row):
            if (dice, take_two, gap) == (2, 0, 12) or (dice, gap) == (1, 6):
                assert told >= 0.999  # at 6 points a die nothing can go wrong
                continue
            if (dice, take_two, gap) in chances:
                allowed = CUT.get((dice, take_two), SIMULATION_ERROR)
                assert chances[dice, take_two, gap] == pytest.approx(told, abs=allowed)
                compared += 1
    assert compared >= 159
    assert chase.error_bound < 1e-12


@pytest.mark.parametrize(
    "game",
    [
        Chase(ShipCaptainCrew(tries=1), 8),
        WithScore(ShipCaptainCrew(tries=2)),
        Chase(Pickomino(dice=4), 0),
    ],
    ids=["chase", "score", "pool"],
)
def test_forms_of_games_with_throws_are_proved_on_their_rules(game: Game, tmp_path: Path) -> None:
    solve(game).save(tmp_path / "kept.rollwise")
    assert verify(tmp_path / "kept.rollwise", game, exact=True).verified
    save_certificate(solve(game), tmp_path / "game.certificate")
    assert verify(tmp_path / "game.certificate", game, exact=True).verified
