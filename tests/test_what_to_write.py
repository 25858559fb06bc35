"""Mistakes that people make first: each is answered in one line that says what to write."""

from __future__ import annotations

import numpy as np
import pytest
from cli_runner import output

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


def test_truths_in_a_state():
    said = [
        output(
            "advise", "super-six", "sticks=7", "--json", "--state", f"lid=0,mine=3,theirs=4,{end}"
        )
        for end in ("forced=true", "forced=1")
    ]
    assert said[0] == said[1]
