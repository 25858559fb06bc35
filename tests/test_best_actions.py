"""Which actions count as equally good, where some values are known far better than others."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import output
from hypothesis import given
from hypothesis import strategies as st
from little_games import RandomTable, Spot

import rollwise
from rollwise import AGAIN, LOSE, PASS, WIN, Game
from rollwise.analysis.second_aims import ranges
from rollwise.answer.evaluation import best_response
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.graph.policies import Policy


class Place(NamedTuple):
    at: int


@dataclass(frozen=True)
class SlowCorner(Game):
    """Half of all games wait in a corner for long; the others are won, if nobody dawdles."""

    patience: int = 10**7
    more: int = 100  # times as patient is who dawdles
    action_names: ClassVar = ("dawdle", "go")

    def start(self):
        return Place(0)

    def actions(self, s):
        if s.at == 1:
            yield 0
        yield 1

    def outcomes(self, s, action):
        if s.at == 0:
            yield 1, AGAIN, Place(1)
            yield 1, AGAIN, Place(2)
        elif s.at == 2:
            yield self.patience, AGAIN, s
            yield 1, WIN, s
            yield 2, LOSE, s
        elif action == 0:
            yield self.patience * self.more, AGAIN, s
            yield 1, LOSE, s
        else:
            yield 1, WIN, s

    def progress(self, s):
        return int(s.at > 0)


class Hopeful(SlowCorner):
    """Who goes is worth as much as the corner; who dawdles gets there too, or loses at last."""

    def outcomes(self, s, action):
        if s.at == 1 and action == 1:
            yield 1, AGAIN, Place(2)
        else:
            yield from super().outcomes(s, action)


class Alike(SlowCorner):
    """Both actions lead to the corner: a tie, however wide its bounds."""

    def outcomes(self, s, action):
        if s.at == 1:
            yield 1, AGAIN, Place(2)
        else:
            yield from super().outcomes(s, action)


class ForTwo(SlowCorner):
    """The die passes to somebody who waits in the corner."""

    def outcomes(self, s, action):
        for weight, then, after in super().outcomes(s, action):
            yield weight, PASS if s.at == 0 and after.at == 2 else then, after


def written(path: Path) -> str:
    """The rules of `SlowCorner` as a rule sheet."""
    source = Path(__file__).read_text()
    begin = source.index("class Place"), source.index("class Hopeful")
    head = (
        "from dataclasses import dataclass\nfrom typing import ClassVar, NamedTuple\n"
        "from rollwise import AGAIN, LOSE, WIN, Game\n\n\n"
    )
    path.write_text(head + source[slice(*begin)])
    return str(path)


def obtains_its_value(game: Game) -> rollwise.Solution:
    """Optimal play against itself has the certified value, and nobody wins against it."""
    solution = rollwise.solve(game)
    found = rollwise.evaluate(solution, "optimal")
    assert found.bounds is not None
    near = solution.error_bounds + found.bounds
    assert np.all(np.abs(found.values - solution.values) <= near)
    response = best_response(solution, "optimal")
    assert response.exploitability() <= response.exploitability_bound() + 2 * solution.error_bound
    return solution


@pytest.mark.parametrize("kind", [SlowCorner, Hopeful, Alike, ForTwo])
def test_optimal_play_obtains_the_value(kind):
    obtains_its_value(kind())


def test_a_slow_corner_makes_no_ties_elsewhere(tmp_path):
    sheet = written(tmp_path / "corner.py")
    rows = json.loads(output("table", sheet, "--json"))["rows"]
    assert [row["action"] for row in rows] == ["go", "go", "go"]
    advice = json.loads(output("advise", sheet, "--state", "at=1", "--json"))
    assert [(row["action"], row["best"]) for row in advice["actions"]] == [
        ("dawdle", False),
        ("go", True),
    ]
    assert advice["actions"][0]["cost"] == pytest.approx(2e-9, rel=1e-3)
    told = json.loads(output("evaluate", sheet, "--policy", "optimal", "--json"))
    assert told["win_probability"] == pytest.approx(2 / 3, abs=1e-8)
    assert "tell which" not in output("solve", sheet)


def test_layers_don_t_dawdle(tmp_path):
    answer = rollwise.solve_by_layers(SlowCorner())
    here = answer.find({"at": 1})
    assert answer.vocabulary.text(int(answer.actions[here])) == "go"
    advice = answer.advise({"at": 1})
    assert [row.best for row in advice.actions] == [False, True]


def test_who_cannot_tell_says_so_and_goes_on(tmp_path):
    """Dawdling costs less than the bounds leave open."""
    solution = obtains_its_value(Hopeful())
    assert solution.table()["action"].to_list() == ["go", "go", "go"]
    assert solution.undecided.tolist() == [False, True, False]
    _, sure = solution.advise({"at": 1}).as_printed()
    assert "doesn't tell which of the actions marked → is best" in sure


def test_a_tie_is_a_tie_and_the_first_action_is_taken():
    solution = obtains_its_value(Alike(patience=100))
    assert solution.table()["action"].to_list() == ["go", "dawdle", "go"]
    assert not solution.undecided.any()
    assert solution.is_best.all()


def test_who_dawdles_within_roundings_goes_on_as_well():
    """A loss of 2e-17 is no more than a rounding, 10^17 times in a row a loss for certain."""
    solution = obtains_its_value(SlowCorner(patience=2**10, more=2**50))
    assert solution.table()["action"].to_list() == ["go", "go", "go"]


class Cornered(RandomTable):
    """A random game; one can dawdle everywhere, and some of its plays come to a slow corner."""

    def actions(self, s):
        if s.place < self.size:
            yield 1
            yield from super().actions(s)
        else:
            yield 0

    def outcomes(self, s, action):
        if s.place == self.size:
            yield 10**7, AGAIN, s
            yield 1, WIN, s
            yield 2, LOSE, s
        elif action == 1:
            yield 10**9, AGAIN, s
            yield 1, (LOSE, WIN)[s.place % 2], s
        else:
            yield from super().outcomes(s, action)
            if s.place % 3 == 0:
                yield 1, AGAIN, Spot(self.size)


@given(st.integers(0, 10**6))
def test_optimal_play_obtains_the_value_of_any_game_with_a_slow_corner(seed):
    obtains_its_value(Cornered(seed=seed, size=7))


@given(st.integers(0, 10**6))
def test_a_response_obtains_what_is_printed(seed):
    solution = rollwise.solve(Cornered(seed=seed, size=7))
    response = best_response(solution, "random")
    found = rollwise.evaluate(solution, response.response, "random")
    for mine, sure, got, off in (
        (response.values, response.bounds, found.values, found.bounds),
        (response.values_second, response.bounds_second, found.values_second, found.bounds_second),
    ):
        assert np.all(np.abs(mine - got) <= sure + off)


def losses_to_each_optimal_policy(solution: rollwise.Solution, rule: str) -> np.ndarray:
    """In percentage points: mean over the seats, moving first, moving second, one row a policy."""
    graph, found = solution.graph, []
    best = [[a.index for a in state.actions if solution.is_best[a]] for state in graph.view]
    for chosen in itertools.product(*best):
        probability = np.zeros(graph.n_actions)
        probability[list(chosen)] = 1.0
        answer = rollwise.evaluate(solution, rule, Policy("some optimal", probability), starts=[0])
        first = 50 * (solution.value - answer.values[0])
        second = 50 * (-solution.value - answer.values_second[0])
        found.append([(first + second) / 2, first, second])
    return np.array(found)


def test_a_loss_is_the_range_over_all_optimal_policies():
    """Dice Blackjack has four ties, which only mistakes of the other player lead to."""
    solution = rollwise.solve(DiceBlackjack())
    each = losses_to_each_optimal_policy(solution, "all-dice")
    assert len(each) == 2**4
    told = json.loads(
        output("thumb", "dice-blackjack", "--numbers", "1", "--evaluations", "20", "--json")
    )
    rule = told["rules"][0]
    assert rule["text"] == "Always choose 2 dice."
    names = ("loss", "loss_first", "loss_second")
    for name, column in zip(names, each.T, strict=True):
        assert 100 * np.array(rule["spread"][name]) == pytest.approx([column.min(), column.max()])
        assert column.min() - 1e-9 <= 100 * rule[name] <= column.max() + 1e-9
    none = losses_to_each_optimal_policy(solution, "one-die")
    assert np.ptp(none, axis=0).max() < 1e-9


def test_ranges_are_printed(tmp_path):
    asked = ("thumb", "dice-blackjack", "--numbers", "1", "--evaluations", "20")
    text = output(*asked)
    assert "10.3415 to 10.5555" in text
    assert "over all optimal policies" in text
    sheet = tmp_path / "sheet.html"
    output("thumb", "dice-blackjack", "--numbers", "1", "--evaluations", "1", "--out", str(sheet))
    assert "10.3415 to 10.5555" in sheet.read_text()
    text = output("thumb", "piglet", "--numbers", "1", "--evaluations", "20")
    assert "over all optimal policies" not in text


def test_a_report_says_how_long_games_last_over_all_optimal_policies(tmp_path):
    solution = rollwise.solve(DiceBlackjack())
    moves = ranges(solution, ["moves"])[0]
    page = tmp_path / "report.html"
    solution.report(page)
    assert f"{moves.least:.4f} to {moves.most:.4f} turns on average" in page.read_text()
