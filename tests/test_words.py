"""The words of a rule sheet: their defaults, and which outcome thrown dice bring."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import pytest

from rollwise import AGAIN, END, Game, check
from rollwise.coach import Table


class Spot(NamedTuple):
    place: int


@dataclass(frozen=True)
class Walk(Game):
    """A throw of two dice, once; the outcomes are told apart by where they lead."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"
    weights: ClassVar = (1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1)

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        if s.place:
            yield 1, END, s
        else:
            for number, weight in enumerate(self.weights):
                yield weight, AGAIN, Spot(1 + number)

    def throw(self, s, action):
        return () if s.place else (6, 6)


def reached(game: Game, *faces: int) -> int:
    """Where a throw leads."""
    table = Table.lay(game)
    number = table.fall_of(0, faces)
    return int(table.graph.states[table.graph.outcome_state[number]][0])


def test_outcomes_follow_the_total_of_the_dice():
    assert [reached(Walk(), 1, 1), reached(Walk(), 3, 4), reached(Walk(), 6, 6)] == [1, 6, 11]


@pytest.mark.parametrize(
    ("word", "answer", "said"),
    [
        ("describe", lambda *_: 1 / 0, r"describe\(\) fails: ZeroDivisionError"),
        ("describe", lambda *_: 7, r"describe\(\) gives 7; it is a text"),
        ("told", lambda *_: None, r"told\(\) gives None; it is a text"),
        ("throw", lambda *_: 6, r"throw\(\) gives 6; it is a sequence of the sides"),
        ("throw", lambda *_: (6, 0), r"throw\(\) gives \(6, 0\); it is a sequence"),
        ("throw", lambda *_: (6,), r"which outcome do the faces 1 bring"),
        ("fallen", lambda *_: "a", r"fallen\(\) gives 'a'; for the faces 1 1 it is the number"),
        ("fallen", lambda *_: 3, r"faces of the dice bring an outcome in 0 of 36 throws"),
    ],
)
def test_faults_of_words_are_findings(word, answer, said):
    game = type("Walk", (Walk,), {word: answer})()
    (finding,) = [finding for finding in check(game).findings if finding.topic == "words"]
    assert (finding.level, re.search(said, finding.text) is None) == ("error", False)
