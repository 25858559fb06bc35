"""Rules that change within a process, as in a notebook: the answer is that of the rules now."""

from __future__ import annotations

import sys
import types
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import pytest

import rollwise
from rollwise import AGAIN, END, Game
from rollwise.machine.switches import jit_disabled

FACES = (1, 12)
STEP = 1
LENGTH = 11_000  # more outcomes than are interpreted in the mode "auto"

sheet = types.ModuleType("sheet")  # as if imported
sheet.BONUS = 0  # type: ignore[attr-defined]


class Square(NamedTuple):
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
        return Square(0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        for _ in FACES:
            if s.x >= LENGTH:
                yield 1, END, s
            else:
                yield 1, AGAIN, Square(forward(s.x))

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
