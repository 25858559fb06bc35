"""Games with a doubling cube: naive twins in fractions, facts of theory, and all rules of play."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from cli_runner import output
from little_games import Lanes
from test_check_rules import claims_of

import rollwise
from rollwise import AGAIN, LOSE, PASS, WIN, Game, parameter, payoff, solve
from rollwise.analysis.betting import effect_of_the_limit, match_table, windows
from rollwise.answer.verify import verify
from rollwise.derive.cube import Cube, Stake
from rollwise.errors import ParameterError
from rollwise.export import export
from rollwise.games.bear_off import TwoSidedBearOff
from rollwise.games.hypergammon import Hypergammon
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.threes import Threes
from rollwise.graph import NO_THROW
from rollwise.proofs.check_rules import check_rules
from rollwise.words import Narrator

GOAL, STEPS = 4, (1, 1, 3)  # of the little race


@dataclass(frozen=True)
class Dash(Game):
    """Go on by a step, or by three in one of three turns. Four steps win, twice against none."""

    def start(self) -> Lanes:
        return Lanes(0, 0)

    def actions(self, s: Lanes) -> Any:
        yield 0

    def outcomes(self, s: Lanes, action: int) -> Any:
        for step in STEPS:
            if s.mine + step >= GOAL:
                yield 1, payoff(2) if s.theirs == 0 else WIN, s
            else:
                yield 1, PASS, Lanes(s.theirs, s.mine + step)


class Uneven(Dash):
    """Dash with chances as fractions."""

    def outcomes(self, s: Lanes, action: int) -> Any:
        for weight, outcome in zip((1, 2, 4), super().outcomes(s, action), strict=True):
            yield Fraction(weight, 7), *outcome[1:]


class Thrown(Dash):
    """Dash with a throw before the only action."""

    def throws(self, s: Lanes) -> Any:
        yield 2, 1
        yield 1, 3

    def actions(self, s: Lanes, throw: int) -> Any:
        yield 0

    def outcomes(self, s: Lanes, throw: int, action: int) -> Any:
        yield list(super().outcomes(s, action))[STEPS.index(throw)]


class Twin:
    """The values of Dash for money or in a match, by recursion from a turn on."""

    def __init__(self, limit: int, jacoby: bool, beavers: bool, match: int = 0) -> None:
        self.most, self.jacoby, self.beavers, self.match = 2**limit, jacoby, beavers, match
        self.turn, self.play = cache(self._turn), cache(self._play)

    def end(self, points: int, cube: int, score: tuple[int, int, bool]) -> Fraction:
        """The mover's worth of points won (or lost)."""
        if not self.match:
            sign = 1 if points > 0 else -1
            return Fraction(sign if self.jacoby and cube == 1 else points * cube)
        mine, theirs, _ = score
        after = mine - max(points, 0) * cube, theirs - max(-points, 0) * cube
        if min(after) <= 0:
            return Fraction(1 if after[0] <= 0 else -1)
        crawford = min(after) == 1 and min(mine, theirs) > 1
        first = self.play(0, 0, 1, "middle", (*after, crawford))
        return (first - self.play(0, 0, 1, "middle", (after[1], after[0], crawford))) / 2

    def _play(self, mine: int, theirs: int, cube: int, owner: str, score: Any) -> Fraction:
        total = Fraction(0)
        for step in STEPS:
            if mine + step >= GOAL:
                total += self.end(2 if theirs == 0 else 1, cube, score)
            else:
                turned = {"middle": "middle", "me": "you", "you": "me"}[owner]
                score_there = score[1], score[0], score[2]
                total -= self.turn(theirs, mine + step, cube, turned, score_there)
        return total / len(STEPS)

    def _turn(self, mine: int, theirs: int, cube: int, owner: str, score: Any) -> Fraction:
        play = self.play(mine, theirs, cube, owner, score)
        if owner == "you" or 2 * cube > self.most or score[2]:
            return play
        answers = [self.play(mine, theirs, 2 * cube, "you", score), self.end(1, cube, score)]
        if self.beavers and 4 * cube <= self.most:
            answers.append(self.play(mine, theirs, 4 * cube, "you", score))
        return max(play, min(answers))


@pytest.mark.parametrize(
    "rules",
    [(1, False, False), (2, True, False), (3, False, True), (3, True, True), (4, False, False)],
)
def test_money_play_is_that_of_the_naive_twin(rules: tuple[int, bool, bool]) -> None:
    limit, jacoby, beavers = rules
    solution = solve(Dash().cube(limit, jacoby=jacoby, beavers=beavers), method="exact")
    twin, owners = Twin(*rules), ("middle", "me", "you")
    fractions, checked = solution.run.fractions, 0
    for s, (mine, theirs, cube, owner, step) in enumerate(solution.graph.states.tolist()):
        if step == 2:
            continue
        ask = twin.turn if step == 1 else twin.play
        kind = "you" if owner == 0 and cube > 1 else owners[owner]  # a cube that is turned no more
        assert fractions[s] == ask(mine, theirs, cube, kind, (0, 0, False))
        checked += step
    assert checked >= 10


@pytest.mark.parametrize("game", [Dash(), Thrown()], ids=["choice", "throw"])
def test_a_match_is_that_of_the_naive_twin(game: Game) -> None:
    solution = solve(game.cube(match=4))
    table, twin = match_table(solution), Twin(6, False, False, 4)
    for i, row in enumerate(table.chances):
        for k, chance in enumerate(row):
            # before a game the score is that after a draw of lots: a game won by 0 points
            crawford = min(i, k) == 0 and i != k
            first = twin.play(0, 0, 1, "middle", (i + 1, k + 1, crawford))
            second = twin.play(0, 0, 1, "middle", (k + 1, i + 1, crawford))
            expected = Fraction(1, 2) + (first - second) / 4
            assert chance == pytest.approx(float(expected), abs=1e-12)
            assert chance + table.chances[k][i] == pytest.approx(1, abs=1e-12)
    after = [
        twin.play(0, 0, 1, "middle", (2, 1, False)),
        twin.play(0, 0, 1, "middle", (1, 2, False)),
    ]
    assert table.after_crawford[1] == pytest.approx(0.5 + float(after[0] - after[1]) / 4)


@dataclass(frozen=True)
class LastRoll(Game):
    """One throw decides: the mover wins with so many of 100 throws."""

    wins: int = 50

    def start(self) -> Lanes:
        return Lanes(0, 0)

    def actions(self, s: Lanes) -> Any:
        yield 0

    def outcomes(self, s: Lanes, action: int) -> Any:
        yield self.wins, WIN, s
        yield 100 - self.wins, LOSE, s


@pytest.mark.parametrize(
    ("wins", "action"),
    [
        (49, "no double"),
        (50, "optional double, take"),
        (51, "double, take"),
        (74, "double, take"),
        (75, "double, take or pass"),
        (76, "double, pass"),
    ],
)
def test_the_take_point_of_the_last_roll_is_a_quarter(wins: int, action: str) -> None:
    solution = solve(LastRoll(wins).cube(opening=True))
    assert solution.game.verdicts(solution, np.zeros(1, np.int64)) == {"cube_action": [action]}


class Place(NamedTuple):
    mine: int


@dataclass(frozen=True)
class Walk(Game):
    """A fair random walk between two players, who are asked in turn: the one at `length` wins."""

    length: int = 40

    def start(self) -> Place:
        return Place(self.length // 2)

    def actions(self, s: Place) -> Any:
        yield 0

    def outcomes(self, s: Place, action: int) -> Any:
        for after, then in ((s.mine + 1, WIN), (s.mine - 1, LOSE)):
            yield 1, PASS if 0 < after < self.length else then, Place(self.length - after)


def test_a_continuous_race_is_doubled_and_passed_at_four_fifths() -> None:
    """Keeler and Spencer, "Optimal doubling in backgammon", Operations Research 23, 1975."""
    distances = []
    for length in (20, 80):
        solution = solve(Walk(length).cube(12))
        first, redouble = windows(solution)
        assert effect_of_the_limit(solution) < 0.01
        for number in (redouble.takes_from, redouble.passes_to, 1 - redouble.doubles_from):
            assert abs(number - 0.2) < 2 / length
        distances.append(abs(redouble.takes_from - 0.2))
        assert first.doubles_from <= redouble.doubles_from
    assert distances[1] <= distances[0]


KOCA = {  # the player on roll: the cube action against each of these pairs
    "11": "55555555555555555",
    "22": "44444455555555555",
    "23": "44444445555555555",
    "24": "44444444555555555",
    "25": "44333334455555555",
    "33": "11111334455555555",
    "34": "11111334444555555",
    "16": "11111113444555555",
    "35": "11111113444455555",
    "26": "11111113444445555",
}
PAIRS = "11 4 5 14 6 22 23 24 25 33 34 16 35 26 44 36 45"
BEAVER, NO_BEAVER, FIRST_ONLY, REDOUBLE_TAKE, REDOUBLE_PASS = range(1, 6)


def test_the_published_table_of_two_checkers_is_found() -> None:
    """Robert Koca, "Curing Your Short Bearoff Blues", bkgm.com."""
    solution = solve(TwoSidedBearOff(checkers=2).cube(4, opening=True))
    graph = solution.graph

    def turn(mine: str, theirs: str, cube: int, owner: int) -> tuple[str, float]:
        home = [str(k) for k in range(1, 7)]
        fields = [*map(mine.count, home), *map(theirs.count, home), cube, owner, 1]
        place = np.array([graph.find([*fields, NO_THROW, NO_THROW])])
        verdict = solution.game.verdicts(solution, place)["cube_action"][0]
        return verdict, solution.choices_in(place).values[1]

    for mine, row in KOCA.items():
        for theirs, published in zip(PAIRS.split(), row, strict=True):
            redouble, (first, worth) = turn(mine, theirs, 2, 1)[0], turn(mine, theirs, 1, 0)
            if redouble.endswith("pass"):
                kind = REDOUBLE_PASS
            elif redouble.startswith("double"):
                kind = REDOUBLE_TAKE
            elif first.startswith("double"):
                kind = FIRST_ONLY
            else:
                kind = BEAVER if worth < 0 else NO_BEAVER
            assert kind == int(published), (mine, theirs)


def test_the_figures_of_gnu_backgammon_for_hypergammon_with_one_checker() -> None:
    """https://lists.gnu.org/archive/html/bug-gnubg/2003-04/msg00178.html"""
    game = Hypergammon(checkers=1)
    solution, plain = solve(game.cube(10)), solve(game)
    place = {"mine.0": 18, "theirs.0": 10, "opening": 0}
    assert plain.values[plain.find(place)] == pytest.approx(0.025, abs=5e-4)
    state = {**place, "cube": 1, "owner": 0, "step": 1, "throw.0": NO_THROW, "throw.1": NO_THROW}
    no_double, double = solution.choices_in(np.array([solution.find(state)])).values
    assert no_double == pytest.approx(-0.049, abs=5e-4)
    assert double == pytest.approx(-0.035, abs=5e-4)


def test_the_exact_check_proves_the_claims_and_no_others(tmp_path: Path) -> None:
    game = Pig(target=5).cube(2)
    claims = claims_of(solve(game))
    assert check_rules(game, claims) == ""
    place = next(iter(claims.values))
    claims.values[place] = (claims.values[place][0] + 1e-6,)
    assert check_rules(game, claims)
    thrown = RoyalUr(pieces=1).cube(1)
    solve(thrown).save(tmp_path / "ur.parquet")
    assert not verify(tmp_path / "ur.parquet", thrown, exact=True).fault


@pytest.mark.parametrize("game", [Pig(target=12), RoyalUr(pieces=1)])
def test_no_higher_limit_changes_the_value_by_more_than_is_said(game: Game) -> None:
    solutions = [solve(game.cube(limit)) for limit in (3, 4, 5, 8)]
    for k, solution in enumerate(solutions):
        effect = effect_of_the_limit(solution)
        assert all(abs(solution.value - higher.value) <= effect for higher in solutions[k:])


def test_a_cube_is_typed_and_printed() -> None:
    line = ["pig", "target=8", "as=cube", "limit=3"]
    assert rollwise.games.create(Pig, {"target": "8", "as": "cube", "limit": "3"}) == Cube(
        Pig(target=8), 3
    )
    text = output("solve", *line)
    assert "a higher limit changes the value of the start by at most" in text
    assert "takes ≥" in text
    told = json.loads(output("solve", *line, "--json"))
    first = told["cube"]["windows"][0]
    assert first["takes_from"] == windows(solve(Pig(target=8).cube(3)))[0].takes_from
    place = "banked=5,rival=2,turn=0,cube=1,owner=0,step=1"
    assert "cube action: double, pass" in output("advise", *line, "--state", place)
    rows = output("table", *line, "--where", 'cube_action == "double, take"')
    assert rows.count("double, take") > 3
    tell = output("simulate", *line, "--policy", "optimal", "--tell", "--seed", "2")
    assert "doubles to 2" in tell


def test_a_turn_of_rules_without_words_is_told_without_the_cube() -> None:
    """Its owner is named by the view of the next player, and would seem to have changed."""
    game = Dash().cube(limit=2, opening=True)
    narrator = Narrator(solve(game).graph, game)
    turn = narrator.graph.view.find(game.at(Lanes(0, 0), Stake(2, 2), 0))
    assert narrator.outcome_text(turn.actions[0].index, 0) == "mine 0 → 1; the turn passes"


def test_one_point_to_go_is_a_point() -> None:
    game = Dash().cube(match=2)
    assert "1 point to go, 2 for" in game.describe_added(game.at(Lanes(0, 0), Stake(1, 0, 1, 2), 0))


@dataclass(frozen=True)
class Three(Dash):
    """A game for three or four."""

    players: int = parameter(3, at_least=3, at_most=4)


def test_a_cube_proposes_two_players_only_where_the_rules_take_two() -> None:
    with pytest.raises(ParameterError, match="is for two players, and this game has 3 players"):
        Three().cube()


def test_a_cube_needs_payoffs_at_the_end() -> None:
    @dataclass(frozen=True)
    class Paid(Dash):
        def reward(self, s: Lanes, action: int) -> float:
            return 1.0

    with pytest.raises(ParameterError, match=r"let outcomes\(\) end with payoff"):
        Paid().cube()
    with pytest.raises(ParameterError, match="as=contest and as=chase"):
        Threes().cube()


class Round(Game):
    """A game that nobody ends."""

    players, endless = 2, "draw"

    def start(self) -> Place:
        return Place(0)

    def actions(self, s: Place) -> Any:
        yield 0

    def outcomes(self, s: Place, action: int) -> Any:
        yield 1, PASS, s


def test_a_cube_of_a_game_without_an_end_is_a_draw() -> None:
    assert solve(Round().cube(2, opening=True)).value == 0.0


class Dither(Round):
    """The first player may wait for ever, or end the game: no cube is ever turned."""

    def actions(self, s: Place) -> Any:
        yield 0
        yield 1

    def outcomes(self, s: Place, action: int) -> Any:
        if action == 0:
            yield 1, AGAIN, s
        else:
            yield 1, WIN, s
            yield 2, LOSE, s


def test_a_program_of_a_cube_is_for_payoffs_also_where_no_stake_is_reached(tmp_path: Path) -> None:
    """Positions in which play can stay are merged for the program."""
    path = tmp_path / "program.lp"
    export(solve(Dither().cube()), path, "lp")
    assert "owner, step: expected payoff" in path.read_text()
