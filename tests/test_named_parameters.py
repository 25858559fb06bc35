"""Parameters that are words: a text among given ones, and members of an enumeration."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import rollwise
from rollwise.games import create, find

RULES = """
import enum
from dataclasses import dataclass
from typing import NamedTuple

from rollwise import PASS, WIN, Game, parameter, policy


class Wind(enum.Enum):
    CALM = 0
    FROM_BEHIND = 2


class Place(NamedTuple):
    mine: int
    theirs: int


@dataclass(frozen=True)
class Roads(Game):
    \"\"\"A race along the road or through the wood, where one may run and fall.\"\"\"

    path: str = parameter("road", among=("road", "wood"), about="the way")
    wind: Wind = parameter(Wind.CALM, about="where the wind comes from")
    sides: int = parameter(6, among=(4, 6), variant=True, about="sides of the die")
    squares: int = 12

    def start(self):
        return Place(0, 0)

    def actions(self, s):
        yield 0
        if self.path == "wood":
            yield 1

    def outcomes(self, s, action):
        pushed = 2 if self.wind is Wind.FROM_BEHIND else 0
        if action == 1:
            yield self.sides, PASS, Place(s.theirs, s.mine)
        for face in range(1, self.sides + 1):
            place = s.mine + (2 * face if action == 1 else face) + pushed
            if place >= self.squares:
                yield 1, WIN, s
            else:
                yield 1, PASS, Place(s.theirs, place)

    @policy
    def run_in_the_wood(self, s):
        return 1 if self.path == "wood" else 0
"""


@pytest.fixture
def roads(tmp_path, monkeypatch):
    (tmp_path / "roads.py").write_text(RULES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return find("roads.py:Roads")


EACH = [
    {},
    {"path": "wood"},
    {"wind": "from-behind"},
    {"path": "wood", "wind": "from-behind", "sides": "4"},
]


@pytest.mark.needs_jit
def test_compiled_rules_read_words(roads):
    graphs = {}
    for values in EACH:
        game = create(roads, values | {"squares": "30"})
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # rules that can't be compiled warn
            graph = rollwise.build(game, mode="compiled")
        assert graph.content_hash == rollwise.build(game, mode="interpreted").content_hash
        graphs[graph.content_hash] = graph
    assert len(graphs) == len(EACH)  # each is another game


@pytest.mark.needs_jit
def test_compiled_policies_read_words(roads, monkeypatch):
    monkeypatch.setattr("rollwise.builders.limits.SMALL", 100)  # compile the policy of a small game
    wood = create(roads, {"path": "wood", "squares": "30"})
    solution = rollwise.solve(wood, mode="compiled")
    runs = rollwise.evaluate(solution, "run-in-the-wood").values
    interpreted = rollwise.evaluate(rollwise.solve(wood, mode="interpreted"), "run-in-the-wood")
    assert np.array_equal(runs, interpreted.values)
    assert not np.array_equal(runs, solution.values)
