"""Compiled rules are held against the plain ones, on a sample of states."""

from __future__ import annotations

import re
import sys
import warnings
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import pytest

import rollwise
from rollwise import AGAIN, END, Game
from rollwise.answer.references import Policies
from rollwise.builders import CompileWarning
from rollwise.errors import RulesDiffer

pytestmark = pytest.mark.needs_jit

LAST = 21_000  # with more outcomes than are interpreted in the mode "auto"


class Square(NamedTuple):
    x: int
    y: int


def off(x):  # type: ignore[no-untyped-def]
    """0 in Python and 1 compiled, which rounds otherwise, at the end of the walk."""
    return int(round(2.675, 2) * 100 - 267 + 0.5) if x >= LAST - 1 else 0


@dataclass(frozen=True)
class Path(Game):
    """A walk whose rules can say one thing in Python and another compiled."""

    fault: int = 0
    players: ClassVar[int] = 1
    objective: ClassVar[str] = "maximize"
    action_names: ClassVar = ("walk", "run", "jump")

    def start(self):
        return Square(0, 0)

    def actions(self, s):
        yield 0
        yield 1 + off(s.x) * (self.fault == 1)

    def outcomes(self, s, action):
        y = 0
        if self.fault == 2:
            y = off(s.x)
        if self.fault == 3:
            y = int(1000 * 2 ** -(s.x % 3))
        if s.x < LAST:
            yield 1, AGAIN, Square(s.x + 1, y)
        elif self.fault == 4:
            yield 1 + off(s.x), END, s
        else:
            yield 1, END, s

    def reward(self, s, action):
        return 1.0 + off(s.x) * (self.fault == 5)

    def progress(self, s):
        return s.x + off(s.x) * (self.fault == 6)

    @rollwise.policy
    def mine(self, s):
        """Walk, or otherwise."""
        return off(s.x)


TOLD = {
    1: "compiled, the actions are walk, jump in the state x=21000, y=0; in Python it is walk, run",
    2: "compiled, an outcome is (1, AGAIN, x=21000, y=1) in the state x=20999, y=0 with the action "
    "walk; in Python it is (1, AGAIN, x=21000, y=0)",
    4: "compiled, an outcome is (2, END) in the state x=21000, y=0 with the action walk; "
    "in Python it is (1, END)",
    5: "compiled, the reward is 2.0 in the state x=21000, y=0 with the action walk; "
    "in Python it is 1.0",
    6: "compiled, progress() is 21001 in the state x=21000, y=0; in Python it is 21000",
}


@pytest.mark.parametrize("fault", [1, 2, 4, 5])
def test_a_difference_is_an_error_that_shows_both_answers(fault):
    with pytest.raises(RulesDiffer, match=re.escape(TOLD[fault])) as caught:
        rollwise.solve(Path(fault))
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 1
    assert rollwise.solve(Path(fault), mode="interpreted").status == "certified"


@pytest.mark.parametrize("last", [LAST, 30])
@pytest.mark.parametrize("fault", [1, 2, 4, 5])
def test_check_says_so_in_a_line(fault, last, monkeypatch):
    """Of a large game, which is compiled at once, and of a small one, which is interpreted."""
    monkeypatch.setattr(sys.modules[__name__], "LAST", last)
    report = rollwise.check(Path(fault))
    assert not report.passed
    (line,) = [finding.text for finding in report.findings if finding.level == "error"]
    said, expected = (re.sub(r"x=\d+", "x=N", text) for text in (line, TOLD[fault]))
    assert said.startswith(f"path: {expected}")


def test_a_compiled_policy_is_held_against_pythons():
    graph = rollwise.build(Path(), mode="compiled")
    with pytest.raises(RulesDiffer, match=re.escape("compiled, mine() is 1 in the state x=21000")):
        Policies(graph, Path()).find("mine")


def test_what_compiled_rules_cannot_do_is_interpreted_or_refused():
    with pytest.raises(RulesDiffer, match="compiled rules fail in the state x=1, y=1000, where"):
        rollwise.build(Path(3), mode="compiled")
    with pytest.warns(CompileWarning, match="compiled rules fail in the state x=1, y=1000"):
        solution = rollwise.solve(Path(3))
    assert solution.graph.states[3].tolist() == [3, 250]
    with pytest.raises(RulesDiffer, match="compiled rules fail"):
        rollwise.solve_by_layers(Path(3))


def test_sound_rules_are_not_suspected(monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rollwise.solve(Path()).value == LAST + 1
        monkeypatch.setattr(sys.modules[__name__], "LAST", 300)  # each state is a layer
        assert rollwise.solve_by_layers(Path()).value == 301
