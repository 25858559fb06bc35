"""Mistakes that people make first: each is answered in one line that says what to write."""

from __future__ import annotations

import re

import numpy as np
import pytest
from cli_runner import output, refusal

import rollwise
from rollwise.errors import PolicyError, UsageError
from rollwise.games.pig import Pig
from rollwise.simulate import simulate

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
        ({}, "not a value of the type dict"),
        (None, "not a value of the type NoneType"),
    ],
)
def test_what_is_no_game(asked, given, says):
    with pytest.raises(UsageError, match=says):
        ASKING[asked](given)


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
        ("solve threes target=3", "as=chase target=3"),
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


def assert_says(said: str, pattern: str) -> None:
    assert re.search(pattern, said), said
