"""Solving by layers: the same answer as from the whole graph, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import naive
import numpy as np
import pytest
from little_games import Lanes

import rollwise
from rollwise import AGAIN, END, LOSE, PASS, WIN, Game, parameter, payoff, solve, solve_by_layers
from rollwise.analysis.check import check
from rollwise.answer.by_layers import ByLayer
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import some_states
from rollwise.derive.changed import with_ends
from rollwise.engine.search import Search
from rollwise.errors import RulesError, UsageError
from rollwise.games.chicago import Chicago
from rollwise.games.pig import Pig, Piglet, Turn, TwoDicePig
from rollwise.games.royal_ur import Race, RoyalUr
from rollwise.games.super_six import Sticks, SuperSix
from rollwise.games.yahtzee import Yahtzee
from rollwise.machine import switches
from rollwise.simulate.turn_by_turn import best_play, play_turn_by_turn

pytestmark = pytest.mark.needs_jit


@dataclass(frozen=True)
class Hurdles(Game):
    """A race for stakes whose throws are followed by chance, which may bring a draw."""

    length: int = 9

    def start(self):
        return Lanes(0, 0)

    def throws(self, s):
        yield 3, 1
        yield 2, 2

    def actions(self, s, throw):
        yield 0
        if throw == 2:
            yield 1

    def outcomes(self, s, throw, action):
        to = s.mine + throw + action
        if to >= self.length:
            yield 2, payoff(2), s
            yield 1, rollwise.DRAW, s
        else:
            yield 3, PASS, Lanes(s.theirs, to)
            yield 2, AGAIN, Lanes(max(s.mine - action, 0), s.theirs)
            yield 1, PASS, Lanes(s.theirs, s.mine)

    def progress(self, s):
        return 0


class Hill(NamedTuple):
    height: int
    fuel: int
    tag: int  # far apart, so that states are looked up by hashing


@dataclass(frozen=True)
class Climber(Game):
    """A solitaire climb with points, cycles within a height, and unfair dice."""

    top: int = parameter(6)
    apart: int = parameter(1)
    falls: bool = parameter(False)
    players: ClassVar = 1
    objective: ClassVar = "maximize"

    def start(self) -> Hill:
        return Hill(0, 2, 0)

    def actions(self, s):
        yield 3
        if s.fuel > 0:
            yield 5

    def outcomes(self, s, action):
        if s.height >= self.top:
            yield 1.0, END, s
        elif action == 3:
            yield 0.3, AGAIN, Hill(s.height + 1, s.fuel, 1_000_003 * (s.height + 1))
            yield 0.5, AGAIN, Hill(s.height, 1 - s.fuel if s.fuel < 2 else 0, s.tag)
            if self.falls and s.height > 2:
                yield 0.2, AGAIN, Hill(s.height - 2, s.fuel, 1_000_003 * (s.height - 2))
            else:
                yield 0.2, END, s
        else:
            yield 0.7, AGAIN, Hill(s.height + 2, s.fuel - 1, 1_000_003 * (s.height + 2))
            yield 0.3, AGAIN, Hill(s.height, s.fuel - 1, s.tag)

    def reward(self, s, action):
        return s.height / 4 if action == 3 else -0.25

    def progress(self, s) -> int:
        return s.height * self.apart


GAMES = [
    Piglet(4),
    Pig(12),
    Pig(9, must_bank=True),
    SuperSix(9),
    Climber(),
    Climber(9, apart=10**12),
]


@pytest.mark.parametrize("game", GAMES[:4], ids=str)
def test_bounds_hold_against_exact_fractions(game):
    layered = solve_by_layers(game)
    truth, layout = naive.exact_values(naive.moves_of_game(game)), Rules(game).layout
    for state, value, bound in zip(
        layered.space.states.tolist(), layered.values, layered.error_bounds, strict=True
    ):
        assert abs(float(truth[layout.state(state)]) - value) <= bound + 1e-16


def test_progress_that_falls_is_refused():
    with pytest.raises(RulesError, match=r"progress\(\) falls from 3 to 1 in the state height=3"):
        solve_by_layers(Climber(falls=True))


def test_a_game_without_progress_is_refused():
    with pytest.raises(UsageError, match=r"give it a method progress\(s\)"):
        solve_by_layers(TwoDicePig())


def packed_and_graphs(game, monkeypatch):
    found = []
    for least in (0, 1e12):
        monkeypatch.setattr("rollwise.answer.by_layers.ORDERED", least)
        found.append(rollwise.solve_by_layers(game))
    return found


@dataclass(frozen=True)
class Dawdling(Hurdles):
    """A race in which one may also wait: who does so gives the other a chance to win at once."""

    endless: ClassVar = "draw"

    def throws(self, s):
        yield 3, 1
        yield 2, 2
        yield 1, self.length

    def actions(self, s, throw):
        yield 0
        yield 1
        yield 2

    def outcomes(self, s, throw, action):
        if action == 2:
            yield 1, PASS, Lanes(s.theirs, s.mine)
        elif s.mine + throw >= self.length:
            yield 1, WIN, s
        else:
            yield 1, PASS, Lanes(s.theirs, s.mine + throw + action)


def test_what_nobody_would_do_need_not_end(monkeypatch):
    """Waiting is worse, and could go on for ever."""
    packed, graphs = packed_and_graphs(Dawdling(), monkeypatch)
    assert np.all(np.abs(packed.values - graphs.values) <= packed.error_bounds + 1e-12)
    assert packed.error_bound < 1e-11


@pytest.mark.parametrize("off", [1e-13, 1e-3])
def test_bounds_around_wrong_values_hold(off, monkeypatch):
    """Whatever a search finds, bounds are proved, or nothing is said."""
    right = solve_by_layers(RoyalUr(pieces=1))
    run = Search.run

    def wrong(self, progress=None):
        run(self, progress)
        self.found[: self.layer.n] += off
        return self

    monkeypatch.setattr(Search, "run", wrong)
    found, _ = packed_and_graphs(RoyalUr(pieces=1), monkeypatch)
    apart = np.abs(found.values - right.values)
    assert np.all(apart <= found.error_bounds + right.error_bounds)
    assert found.error_bound > off / 10


def test_a_bound_that_says_nothing_is_no_certificate():
    found = solve_by_layers(SuperSix(sticks=3))
    assert found.status == "certified"
    absurd = replace(found, error_bounds=found.error_bounds + 3.0)
    assert absurd.status == "not certified"


# ---- layers by several numbers: the same answers, smaller layers, and some at the same time


@dataclass(frozen=True)
class Banks(Pig):
    """By both banks: their order says who moves, and isn't in it."""

    def progress(self, s: Turn) -> tuple[int, ...]:
        return min(s.banked, s.rivals[0]), max(s.banked, s.rivals[0])


@dataclass(frozen=True)
class Mine(Pig):
    """By what the mover has, which becomes what the other has."""

    def progress(self, s: Turn) -> tuple[int, ...]:
        return s.banked, s.rivals[0]


@dataclass(frozen=True)
class Tens(SuperSix):
    """By tens and ones that are large and below zero."""

    def progress(self, s: Sticks) -> tuple[int, ...]:
        gone = self.sticks - s.lid - s.mine - s.others[0]
        return gone // 10 - 5, 10**17 * gone, 7


@dataclass(frozen=True)
class Pairs(RoyalUr):
    def progress(self, s: Race) -> tuple[int, ...]:
        return min(s.home, s.rival), max(s.home, s.rival)


@dataclass(frozen=True)
class Sorted(Pig):
    """A tuple of a length that the compiler doesn't know."""

    longer: bool = False

    def progress(self, s: Turn) -> tuple[int, ...]:
        banks = tuple(sorted((s.banked, s.rivals[0])))
        return (*banks, 0) if self.longer and s.banked == 5 else banks


@dataclass(frozen=True)
class Odd(Pig):
    text: bool = False

    def progress(self, s: Turn) -> Any:
        if self.text:
            return s.banked, "x"
        return (0, 0) if s.banked + s.rivals[0] == 0 else (0, 0, 0)


@pytest.mark.parametrize(
    "game", [*GAMES, Banks(12), Sorted(12), Tens(24), Pairs(pieces=2)], ids=str
)
def test_as_from_the_whole_graph(game: Game) -> None:
    found, whole = solve_by_layers(game), solve(game)
    graph, space = whole.graph, found.space
    number = [whole.find(state) for state in space.states.tolist()]
    assert sorted(number) == list(range(graph.n_positions))
    assert number[found.start] == 0
    off = np.abs(found.values - whole.values[number])
    assert np.all(off <= found.error_bounds + whole.error_bounds[number])
    assert (found.status, found.error_bound < 1e-11) == ("certified", True)
    if not graph.throw_names:
        assert (space.n_actions, space.n_outcomes) == (graph.n_actions, graph.n_outcomes)
        best = graph.action_label[whole.best_actions[number]]
        assert np.array_equal(space.actions, best)
    every = np.arange(len(number))
    assert np.array_equal(found.numbers_of(np.asarray(space.states)), every)
    assert [found.find(row) for row in space.states[:5].tolist()] == every[:5].tolist()
    state, progress = Rules(game).layout.state, space.progress.reshape(len(space.layers) - 1, -1)
    rows = [np.ravel(game.progress(state(row))).tolist() for row in space.states.tolist()]
    assert np.repeat(progress, np.diff(space.layers), axis=0).tolist() == rows
    sums = progress.sum(axis=1).tolist()
    assert sums == sorted(sums)
    assert len(np.unique(progress, axis=0)) == len(progress)


def test_an_outcome_that_lowers_a_number_is_refused() -> None:
    said = r"progress\(\) falls from \(0, 2\) to \(2, 0\) in the state banked=0, rival=2"
    with pytest.raises(RulesError, match=said) as raised:
        solve_by_layers(Mine(12))
    assert "action" in str(raised.value)
    assert "where a PASS swaps two of them, give these in order" in str(raised.value)
    found = {f.topic: f for f in check(Mine(12)).findings}["progress"]
    assert found.level == "error"
    assert "it falls from (0, 2) to (2, 0)" in found.text
    found = {f.topic: f for f in check(Banks(12)).findings}["progress"]
    assert (found.level, found.text) == ("ok", "no outcome lowers it (66 layers)")


def test_progress_of_another_kind_is_refused() -> None:
    with pytest.raises(RulesError, match=r"\(.*, 0\) in the state .* and \(0, 0\) at the start"):
        solve_by_layers(Sorted(12, longer=True))
    rules = Rules(Odd(12))
    with pytest.raises(RulesError, match=r"\(0, 0, 0\) in the state .* and \(0, 0\) at the start"):
        rules.progress(Turn(3, (0,), 0))
    with pytest.raises(RulesError, match=r"or a tuple of such numbers"):
        Rules(Odd(12, text=True)).progress(Turn(3, (0,), 0))


# ---- games of games that are too large for one graph, and what `check` says of these


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling takes longer than these tests."""
    monkeypatch.setattr("rollwise.builders.some_states.FEW", 10**9)


@pytest.mark.needs_jit
@pytest.mark.parametrize("game", [Pig(target=6), Yahtzee(boxes=1)], ids=lambda game: game.name)
@pytest.mark.usefixtures("interpreted")
def test_the_best_play_gains_what_the_start_is_worth(game: Game) -> None:
    answer = rollwise.solve_by_layers(game)
    played = play_turn_by_turn(game, best_play(answer), 400, 1)
    assert played.over.all()
    assert abs(played.mean - answer.value) < 4 * played.standard_error
    assert played.visits.sum() >= 400
    assert played.positions[0].tolist() == answer.space.states[answer.start].tolist()
    again = play_turn_by_turn(game, best_play(answer), 400, 1)
    assert again.gains.tolist() == played.gains.tolist()


@pytest.mark.needs_jit
def test_parts_of_an_answer_are_worth_what_it_says() -> None:
    answer = rollwise.solve_by_layers(Pig(target=6))
    numbers = np.arange(len(answer.space.states))[::-2]
    part, _ = answer.near(numbers)
    assert answer.numbers_of(answer.space.states[numbers]).tolist() == numbers.tolist()
    found, known = part.values[: len(numbers)], answer.values[numbers]
    assert np.all(abs(found - known) <= part.error_bound + answer.error_bound)


@pytest.mark.needs_jit
def test_a_small_answer_by_layers_is_asked_as_one_on_a_graph() -> None:
    game = Chicago(dice=1)
    by_layers, whole = rollwise.solve_by_layers(game), solve(game)
    for asked in ({"throws": True}, {"throws": True, "each_action": True}):
        assert by_layers.table("to_beat > 0", **asked).equals(whole.table("to_beat > 0", **asked))
    values = [rollwise.evaluate(one, "random").values[0] for one in (by_layers, whole)]
    assert values[0] == pytest.approx(values[1])


def test_a_layer_swept_in_pairs_of_groups_has_the_values_of_its_graph(monkeypatch):
    """The numbers don't depend on the second core, and are right."""
    monkeypatch.setattr("rollwise.answer.by_layers.ORDERED", 0)
    monkeypatch.setattr("rollwise.builders.by_layer.OUTCOMES_OF_BLOCK", 10_000)
    monkeypatch.setattr("rollwise.builders.by_layer.SMALL", 1_000)
    monkeypatch.setattr("rollwise.engine.search.WORTH_HALVING", 1_000)
    monkeypatch.setattr("rollwise.engine.search.GROUP", 20_000)
    pairs = []
    grouped = Search._grouped

    def noted(search):
        pairs.append(len(grouped(search)))
        return grouped(search)

    monkeypatch.setattr(Search, "_grouped", noted)
    # neither Newton's method nor a whole graph stands in for sweeps that don't settle
    monkeypatch.setattr(Search, "_newton", None)
    monkeypatch.setattr(ByLayer, "_settled", None)
    game = RoyalUr(pieces=2)
    on_two = solve_by_layers(game)
    assert max(pairs) > 1
    monkeypatch.setattr(switches, "is_on", lambda name: name != "second-core")
    on_one = solve_by_layers(game)
    assert np.array_equal(on_two.values, on_one.values)
    assert np.array_equal(on_two.error_bounds, on_one.error_bounds)
    whole = rollwise.solve(game)
    rows = whole.numbers_of(on_two.space.states)
    off = np.abs(whole.values[rows] - on_two.values)
    assert np.all(off <= whole.error_bounds[rows] + on_two.error_bounds)


@pytest.mark.parametrize("off", [-4e-16, 0.0, 4e-16])
def test_a_sure_win_with_a_rounded_value_is_no_payoff_of_its_own(off):
    graph, rows = some_states(Rules(Pig(target=6)), np.array([[0, 0, 3]], np.int32))
    values = np.resize([1.0 + off, -1.0 - off, 0.25], len(rows))
    part = with_ends(graph, rows, values, False)
    assert not part.has_stakes
    assert with_ends(graph, rows, 2 * values, True).has_stakes


@pytest.mark.parametrize("game", [Yahtzee(boxes=1), Pig(target=3)], ids=str)
def test_only_games_that_are_won_have_draws(game):
    assert solve_by_layers(game).space.has_draws is solve(game).graph.has_draws is False


@dataclass(frozen=True)
class Late(Game):
    """A payoff of 3, or a later position that is won or lost."""

    players: ClassVar = 1

    def start(self):
        return Lanes(0, 0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        yield 1, payoff(3) if s.mine == 0 else WIN, s
        if s.mine == 0:
            yield 1, AGAIN, Lanes(1, 0)
        else:
            yield 2, LOSE, s

    def progress(self, s):
        return s.mine


def test_advice_of_a_large_game_for_stakes_is_in_payoffs_everywhere(monkeypatch):
    answer = solve_by_layers(Late())
    monkeypatch.setattr("rollwise.answer.layered_states.LayeredStates.is_small", False)
    for mine in range(2):
        assert answer.advise((mine, 0)).worth_name == "expected payoff"
