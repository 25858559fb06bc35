"""Mistakes that people make first: each is answered in one line that says what to write."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import output, refusal, run

import rollwise
from rollwise import AGAIN, END, Game, policy
from rollwise.coach.rating import policy_losses
from rollwise.errors import PolicyError, TooManyStates, UsageError
from rollwise.games.pig import Pig
from rollwise.games.yatzy import Yatzy
from rollwise.graph.layout import StateLayout
from rollwise.simulate import simulate


class Cell(NamedTuple):
    row: int
    column: int


@dataclass(frozen=True)
class Walk(Game):
    """Each step costs 1, until one of two corners of a square is reached."""

    side: int = 4
    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar = {0: "up", 1: "down", 2: "left", 3: "right"}

    def start(self):
        return Cell(1, 2)

    def actions(self, s):
        yield from (0, 1, 2, 3)

    def reward(self, s, action):
        return -1

    def outcomes(self, s, action):
        row = min(max(s.row + (0, 0, -1, 1)[action - 2], 0), self.side - 1)
        column = min(max(s.column + (0, 0, -1, 1)[action], 0), self.side - 1)
        over = row == column and row in (0, self.side - 1)
        yield 1, END if over else AGAIN, s if over else Cell(row, column)

    @policy
    def onward(self, s):
        """Always down, which never comes to a corner."""
        return 1


class Nothing(NamedTuple):
    pass


@dataclass(frozen=True)
class Toss(Game):
    """A single throw, whose state says nothing."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"
    fields: ClassVar = Nothing()

    def start(self):
        return self.fields

    def actions(self, s):
        yield 0

    def reward(self, s, action):
        return 1

    def outcomes(self, s, action):
        yield 1, END, s


class Round(NamedTuple):
    round: int = 0


@dataclass(frozen=True)
class TossInRounds(Toss):
    """The same with a field, which is always 0, and a throw."""

    fields: ClassVar = Round()

    def throws(self, s):
        yield 1, 1
        yield 1, 2

    def actions(self, s, throw):
        yield 0

    def reward(self, s, throw, action):
        return throw

    def outcomes(self, s, throw, action):
        yield 1, END, s


WALK, TOSS = f"{__file__}:Walk", f"{__file__}:Toss"
ASKING = {
    "solve": rollwise.solve,
    "layers": rollwise.solve_by_layers,
    "equilibrium": rollwise.equilibrium,
    "check": rollwise.check,
    "build": rollwise.build,
    "chase": rollwise.Chase,
    "duel": rollwise.Duel,
    "evaluate": lambda game: rollwise.evaluate(game, "random"),
    "simulate": lambda game: simulate(game, "random", games=2),
    "distribution": rollwise.distribution,
}


@pytest.mark.parametrize("asked", ASKING)
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("pig", r"find\('pig'\)\(\) is the game of that name"),
        (Pig, r"Pig is the class of a game.*write Pig\(\)"),
        ({}, "nothing of the type dict"),
        (None, "nothing of the type NoneType"),
    ],
)
def test_what_is_no_game(asked, given, says):
    with pytest.raises(UsageError, match=says):
        ASKING[asked](given)


def test_a_game_by_its_name_as_the_message_says():
    from rollwise.games import find

    assert find("pig")() == Pig()


ASKED_FOR_A_POLICY = {
    "evaluate": rollwise.evaluate,
    "against": lambda game, given: rollwise.evaluate(game, "random", given),
    "response": rollwise.best_response,
    "simulate": lambda game, given: simulate(game, given, games=2),
}


@pytest.mark.parametrize("asked", ASKED_FOR_A_POLICY)
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({(0, 0, 0): 0}, r"type dict; .*lambda s: actions\[s\]"),
        (np.zeros(48), r'type ndarray; .*rollwise.Policy\("mine", probability\)'),
        ([0] * 32, r"type list; .*each of the 32 states.*actions\[graph.find\(s\)\]"),
        (3, "type int; the function takes s"),
        (rollwise.solve(Pig(target=5)), "type Solution; write its .policy"),
    ],
)
def test_what_is_no_policy(asked, given, says):
    with pytest.raises(PolicyError, match=says):
        ASKED_FOR_A_POLICY[asked](Pig(target=5), given)


def test_policies_written_as_the_messages_say():
    solution = rollwise.solve(Pig(target=5))
    graph, best = solution.graph, rollwise.evaluate(solution, "optimal").values[0]
    numbers = graph.action_label[solution.best_actions].tolist()
    layout = StateLayout.of(Pig(target=5))
    table = {layout.state(s.fields): numbers[s.index] for s in graph.view}
    for written in (
        lambda s: table[s],
        lambda s: numbers[graph.find(s)],
        rollwise.Policy("mine", solution.policy.probability),
        solution.policy,
    ):
        assert rollwise.evaluate(solution, written).values[0] == best


def test_a_policy_that_gives_the_name_of_an_action():
    with pytest.raises(PolicyError, match="gives 'roll'.*number of an action: 0 for roll"):
        rollwise.evaluate(Pig(target=5), lambda s: "roll")


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("solve pig --target 50", "pig: target is a parameter of the game.*write target=50"),
        ("plot pig policy --target=50", "write target=50"),
        ("table super-six --sticks 7", "super-six: sticks is a parameter.*write sticks=7"),
        ("table super-six --sticks=7 --json", "write sticks=7"),
        ("solve --must-bank true pig", "write must_bank=true"),
        ("solve super-six --sticks", "write sticks=VALUE"),
        ("solve pig --sticks 7", "No such option: --sticks"),
        ("solve threes --target 3", "--target goes with --chase"),
    ],
)
def test_parameters_typed_as_options(typed, says):
    assert_says(refusal(*typed.split()), says)


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (
            "advise super-six sticks=7 --state thrown=true",
            "no field 'thrown'; a state is lid, mine",
        ),
        ("advise super-six sticks=7 --state thrown", "as in lid=0,mine=3,theirs=4,forced=1"),
        ("advise cant-stop --state x", r"as in banked=\(0,0,0\),turn=\(0,0,0\)"),
        ("respond threes dice=2 --to random --state 1", "as in to_roll=2,take_two=0,"),
        ("distribution threes dice=2 --state to_roll=9", "take_two is missing"),
        ("plot threes dice=2 graph --state x", "as in to_roll=2,"),
    ],
)
def test_states_that_are_none(typed, says):
    said = refusal(*typed.split())
    if "no field" not in says:
        assert "isn't a state" in said or "missing" in said
    assert_says(said, says)


def test_truths_in_a_state():
    said = [
        output(
            "advise", "super-six", "sticks=7", "--json", "--state", f"lid=0,mine=3,theirs=4,{end}"
        )
        for end in ("forced=true", "forced=1")
    ]
    assert said[0] == said[1]


def test_states_of_tuples_are_found_by_every_command():
    typed = "banked=(0,0,0),turn=(0,0,0)"
    words = ("distribution", "cant-stop", "--policy", "random", "--count", "turn", "--state", typed)
    assert "missing" not in run(*words).stderr


def test_a_state_without_fields():
    done = run("check", TOSS)
    assert done.returncode == 1
    assert "a state has a field at least" in done.stdout


@dataclass(frozen=True)
class OneToss(Toss):
    """With a field that is always 0."""

    fields: ClassVar = Round()


@pytest.mark.parametrize("kind", [TossInRounds, OneToss])
def test_check_leaves_the_only_field(kind):
    report = rollwise.check(kind())
    assert "leave it out" not in str(report)
    told = [one for one in report.findings if one.topic == "fields"]
    assert [one.level for one in told] == ["ok"]
    assert "a state needs a field" in told[0].text


@pytest.mark.slow
def test_a_large_game_that_is_chased():
    said = refusal("solve", "yatzy", "--chase", "--by-layer", "--target", "200")
    assert "--chase doesn't go with --by-layer" in said
    for made in (rollwise.Chase, rollwise.Duel):
        with pytest.raises(TooManyStates, match="whole game: smaller parameters") as caught:
            made(Yatzy())
        assert "layer" not in str(caught.value)
        assert "max_states" not in str(caught.value)


def test_lengths_of_a_policy_that_never_ends():
    said = output("length", WALK, "--policy", "onward")
    assert "onward: they can keep play up for ever" in said
    assert "cost" not in said
    assert "3.000000000000000" in output("length", WALK)


def test_a_page_with_a_policy_that_never_ends(tmp_path):
    place = tmp_path / "walk.html"
    output("page", WALK, "--policy", "onward", "--out", str(place))
    assert place.stat().st_size > 10_000
    losses = policy_losses(rollwise.solve(Walk()))
    assert "onward" not in losses
    assert losses["random"] == pytest.approx(17)


def test_a_rule_of_thumb_where_no_action_alone_ends_play():
    said = output("thumb", WALK, "--evaluations", "60", "--seed", "1")
    assert "0.0000" in said
    assert "no rule" not in said


def assert_says(said: str, pattern: str) -> None:
    assert re.search(pattern, said), said
