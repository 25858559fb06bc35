"""Compiled rules are held against the plain ones, on a sample of states."""

from __future__ import annotations

import re
import sys
import types
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import pytest

import rollwise
from rollwise import AGAIN, END, Game
from rollwise.answer.references import Policies
from rollwise.builders import CompileWarning
from rollwise.errors import RulesDiffer
from rollwise.machine.switches import jit_disabled

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


# ---- rules that change within a process, as in a notebook: the answer is that of the rules now


FACES = (1, 12)
STEP = 1
LENGTH = 11_000  # more outcomes than are interpreted in the mode "auto"

sheet = types.ModuleType("sheet")  # as if imported
sheet.BONUS = 0  # type: ignore[attr-defined]


class ChangedSquare(NamedTuple):
    x: int


def forward(x: int) -> int:
    return x + STEP


def backward(x: int) -> int:
    return x + 2 * STEP


class Policy(NamedTuple):
    first: int
    last: int


LIMITS: Any = Policy(1, 3)


@dataclass(frozen=True)
class Stroll(Game):
    """A walk over squares, which adds up what a die of two faces shows."""

    players: ClassVar[int] = 1
    objective: ClassVar[str] = "maximize"
    price: ClassVar[int] = 2

    def start(self):
        return ChangedSquare(0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        for _ in FACES:
            if s.x >= LENGTH:
                yield 1, END, s
            else:
                yield 1, AGAIN, ChangedSquare(forward(s.x))

    def reward(self, s, action):
        return FACES[0] * self.price + LIMITS.first + sheet.BONUS + self.fee(s)

    def fee(self, s):
        return 0


def other_fee(self: Any, s: Any) -> int:
    return 100


def other_reward(self: Any, s: Any, action: int) -> int:
    return 7


CHANGES = {
    "a tuple": (__name__, "FACES", (11, 2), lambda steps: 23 * steps),
    "a number that a helper reads": (__name__, "STEP", 10, lambda steps: 3 * steps),
    "a helper": (__name__, "forward", backward, lambda steps: 3 * steps),
    "names of fields": (
        __name__,
        "LIMITS",
        NamedTuple("Policy", [("last", int), ("first", int)])(1, 3),
        lambda steps: 5 * steps,
    ),
    "a name of a module": ("sheet", "BONUS", 4, lambda steps: 7 * steps),
    "a class attribute": ("Stroll", "price", 5, lambda steps: 6 * steps),
    "a further method": ("Stroll", "fee", other_fee, lambda steps: 103 * steps),
    "a rule": ("Stroll", "reward", other_reward, lambda steps: 7 * steps),
}
STEPS = {"a number that a helper reads": 1101, "a helper": 5501}
PLACES = {__name__: sys.modules[__name__], "sheet": sheet, "Stroll": Stroll}


def value(mode: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that the rules can't be compiled, for one
        return rollwise.solve(Stroll(), mode=mode).value


@pytest.mark.parametrize("what", CHANGES)
def test_what_has_changed_counts(what, monkeypatch):
    mode = "auto" if jit_disabled() or what == "a helper" else "compiled"
    place, name, new, expected = CHANGES[what]
    before = value(mode)
    assert before == 3 * (LENGTH + 1)
    monkeypatch.setattr(PLACES[place], name, new)
    assert value(mode) == expected(STEPS.get(what, LENGTH + 1))
    monkeypatch.undo()
    assert value(mode) == before


@pytest.mark.needs_jit
def test_a_question_is_asked_as_it_reads_now(monkeypatch):
    from rollwise.builders.compiled.compiling import ask
    from rollwise.builders.rules import Rules

    def asked() -> int:
        rules = Rules(Stroll())
        answers, _ = ask(rules, lambda game, s: forward(s.x) * game.price, rules.roots(1))
        return int(answers[0])

    assert asked() == 2
    monkeypatch.setattr(sys.modules[__name__], "STEP", 10)
    assert asked() == 20
    monkeypatch.setattr(Stroll, "price", 3)
    assert asked() == 30
