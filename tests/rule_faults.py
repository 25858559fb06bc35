"""Faults in rules, as a user would write them: a file for each, made from sound rules."""

from __future__ import annotations

from typing import NamedTuple

SOUND = '''
import sys, random
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np

import rollwise
from rollwise import AGAIN, DRAW, END, LOSE, PASS, WIN, Game, dice, parameter

class State(NamedTuple):
    place: int
    rival: int

class Other(NamedTuple):
    place: int
    rival: int

class Odd:
    def __init__(self, *text):
        self.text = text
    def __repr__(self):
        return self.text[0]
    def __index__(self):
        return {}[self.text]

@dataclass(frozen=True)
class Own(Game):
    """A race in steps of one die."""

    length: int = 4
    action_names: ClassVar = ("walk", "run")

    def start(self):
        return State(0, 0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        for face in range(1, 3 + action):
            if s.place + face >= self.length:
                yield 1, WIN, s
            else:
                yield 1, PASS, State(s.rival, s.place + face)

    def progress(self, s):
        return s.place + s.rival
'''


class Fault(NamedTuple):
    """What is written in the place of what, and the words that the message must have."""

    old: str
    new: str
    said: str = ""

    def source(self) -> str:
        assert SOUND.count(self.old) == 1, self.old
        return SOUND.replace(self.old, self.new)


def instead(old: str, *faults: tuple[str, str]) -> list[Fault]:
    return [Fault(old, new, said) for new, said in faults]


IMPORT = [
    *instead(
        "class State(NamedTuple):\n",
        ("class State(NamedTuple)\n", "line 13"),
        ("import nothing_of_the_kind\nclass State(NamedTuple):\n", "nothing_of_the_kind"),
        ("1 // 0\nclass State(NamedTuple):\n", "ZeroDivisionError"),
        ("sys.exit(0)\nclass State(NamedTuple):\n", "SystemExit"),
        ("sys.exit('two\\nlines')\nclass State(NamedTuple):\n", "SystemExit"),
        ("raise ValueError('two\\nlines')\nclass State(NamedTuple):\n", "two lines"),
        ("raise GeneratorExit\nclass State(NamedTuple):\n", "GeneratorExit"),
        ("\0class State(NamedTuple):\n", ""),
        ("  class State(NamedTuple):\n", "indent"),
        ("class State:\n", "State()"),
    ),
    *instead(
        'action_names: ClassVar = ("walk", "run")',
        ('action_names: dict = {0: "walk", 1: "run"}', "action_names: ClassVar"),
        ('action_names: list = ["walk", "run"]', "action_names: ClassVar"),
        ('action_names: tuple = ("walk", "run")', "action_names: ClassVar"),
        ("numbers: list = [1, 2]", "numbers: ClassVar"),
        ('name: str = "mine"', "name: ClassVar"),
        ('objective: str = "win"', "objective: ClassVar"),
        ('size: str = "large"', "a str with parameter(..., among=(...))"),
        ('size: str = parameter("large", among=("small",))', "size must be small, not 'large'"),
        ('size: str = parameter("a b", among=("a b",))', "'a b', which can't be typed"),
        ("size: int = parameter(5, among=(4, 6))", "size must be 4 or 6, not 5"),
        ("size: int | None = None", "a parameter is an int, a float, a Fraction"),
        ("size: 'in' = parameter(1)", "declared as 'in'; a parameter is an int"),
        ("size: 'np.length' = parameter(1)", "declared as 'np.length'; a parameter is an int"),
        ("size: list = parameter([1])", "the parameter size is no number"),
        ("size: int = parameter(1)\n    steps: int", "steps has no default; write it, as in steps"),
        ("size: int = 2**70", "64 bits"),
        ("size: int = -2**63 - 1", "64 bits"),
        ("size: int = 2.5", "whole number"),
        ("size: float = float('nan')", "a finite number"),
        ("size: int = parameter(3, at_least=4)", "at least 4"),
        ("size: int = field(default_factory=lambda: 1 // 0)", ""),
        ("def __post_init__(self): 1 // 0", "ZeroDivisionError"),
        ("def __post_init__(self): sys.exit(0)", "SystemExit"),
        ("def __post_init__(self): raise ValueError('two\\nlines')", "two lines"),
        ("def __post_init__(self): self.size = 3", "FrozenInstanceError"),
        ("def __new__(cls): return None", "Own() gives None, which is no game"),
        ("def __init_subclass__(cls): 1 // 0\nclass Second(Own):\n    pass", "ZeroDivision"),
    ),
    *instead("class Own(Game):", ("class Own:", "no game 'Own'"), ("class Mine(Game):", "Mine")),
]

ATTRIBUTES = instead(
    'action_names: ClassVar = ("walk", "run")',
    ("action_names = 5", "action_names"),
    ("action_names = None", "action_names"),
    ("action_names = {'walk': 0}", "action_names"),
    ("action_names = 'walk'", "action_names"),
    ("action_names = {0: None, 1: Odd('two\\nlines')}", ""),
    ("action_names = {0.5: 'walk'}", "action_names"),
    ("action_names = {-1: 'walk'}", "action_names"),
    ("name = 7", "name"),
    ("name = None", "name"),
    ("name = ''", "name"),
    ("name = 'two\\nlines'", "name"),
    ("players = 17", "players is 17"),
    ("players = 'two'", "players is 'two'"),
    ("players = None", "players is None"),
    ("objective = 'most'", "objective is 'most'"),
    ("objective = ['win']", "objective is ['win']"),
    ("objective = 'maximize'", "solitaire"),
    ("length = property(lambda self: 1 // 0)", ""),
    ("reward = property(lambda self: 1)", "no method; write def reward(self, s, action)"),
    ("reward = 3", "reward is 3, and no method"),
    ("throws = 3", "no method; write def throws(self, s)"),
)

START = instead(
    "return State(0, 0)",
    ("return (0, 0)", "start() gives (0, 0)"),
    ("return None", "start() gives None"),
    ("return [0, 0]", "start() gives [0, 0]"),
    ("return State([0], 0)", "write tuple(...) for a list"),
    ("return State(np.arange(2), 0)", "write tuple(...) for a list"),
    ("return State(([0], [0]), 0)", "one after the other into one tuple"),
    ("return State({0}, 0)", "write a set as one number, by rollwise.bits"),
    ("return State(frozenset(), 0)", "write a set as one number, by rollwise.bits"),
    ("return State(Other(0, 0), 0)", "write the fields of Other one by one"),
    ("return State(0)", "start() fails"),
    ("return State(0, 0.5)", "rival=0.5"),
    ("return State('x', 0)", "place='x'"),
    ("return State(2**31, 0)", "32 bits"),
    ("return State(Fraction(1), 0)", "place=Fraction(1, 1)"),
    ("return State(None, 0)", "place=None"),
    ("return State(State(0, 0), 0)", "whole number"),
    ("return State(float('nan'), 0)", "place=nan"),
    ("return State(Odd('two\\nlines'), 0)", "place=two lines"),
    ("return State(Odd(), 0)", "start() gives place="),
    ("yield State(0, 0)", "start() gives"),
    ("return 1 // 0", "ZeroDivisionError"),
    ("raise KeyError('two\\nlines')", "KeyError"),
    ("sys.exit(0)", "SystemExit"),
    ("return self.start()", "RecursionError"),
    ("return State(self.rival, 0)", "AttributeError"),
    ("return NamedTuple('Empty', [])()", "start() gives"),
    ("return NamedTuple('Taken', [('value', int)])(0)", "'value'"),
    ("return NamedTuple('Taken', [('action', int)])(0)", "'action'"),
)

START = (
    *START,
    *instead(
        "def start(self):",
        ("def start():", "start() doesn't take its arguments; write def start(self)"),
        ("def start(self, s):", "start(self, s) doesn't take its arguments; write def start(self)"),
        ("def begin(self):", "it has no start(); def start(self) returns the opening position"),
    ),
)

ACTIONS = instead(
    "        yield 0\n        yield 1\n",
    ("        return\n        yield\n", "no action"),
    ("        pass\n", "should yield"),
    ("        return [0] if s.place < 2 else None\n", "actions() gives None in the state place=2"),
    ("        return 3\n", "should yield"),
    ("        yield 'roll'\n", "its name belongs in action_names = ('roll', ...)"),
    ("        yield 0\n        yield 1\n        yield -1\n", "from 0 (own.py, line 42)"),
    ("        yield 1\n        yield from iter((1,))\n", "twice in the state place=0"),
    ("        yield 0.5\n", "0.5"),
    ("        yield None\n", "None"),
    ("        yield -1\n", "-1"),
    ("        yield 2**31\n", "2147483648"),
    ("        yield 10**400\n", "whole number"),
    ("        yield [0]\n", "[0]"),
    ("        yield Odd('two\\nlines')\n", "two lines"),
    ("        yield Odd()\n", "can't be shown"),
    ("        yield 0\n        yield 0\n", "twice"),
    ("        yield 0\n        yield False\n", "twice"),
    ("        yield 0\n        1 // 0\n", "ZeroDivisionError"),
    ("        yield 0\n        sys.exit(0)\n", "SystemExit"),
    ("        yield 0\n        raise SystemExit('a\\nb')\n", "SystemExit: a b"),
    ("        yield 0\n        raise StopIteration\n", "RuntimeError"),
    ("        yield 0\n        raise BaseException('x')\n", "BaseException: x"),
    ("        raise Odd\n        yield 0\n", "TypeError"),
    ("        yield from self.actions(s)\n", "RecursionError"),
    ("        yield s.plaice\n", "AttributeError"),
    ("        yield unknown_name\n", "NameError"),
    ("        yield length\n", "did you mean self.length?"),
    ("        yield dice.roll(6)\n", "has no attribute 'roll' ("),
    ("        while True:\n            yield 0\n", "more than 1,000,000 actions"),
    ("        if s.place > 1:\n            assert False\n        yield 0\n", "AssertionError ("),
)

OUTCOMES = [
    *instead(
        "        for face in range(1, 3 + action):\n",
        ("        return 3\n        for face in (1,):\n", "no outcome"),
        (
            "        yield from [(1, WIN, s)]\n        yield '1', WIN, s\n"
            "        for face in (1,):\n",
            "a fraction or a float) (own.py, line 45)",
        ),
        ("        return\n        for face in (1,):\n", "no outcome"),
        ("        s.place += 1\n        for face in (1,):\n", "a state never changes: write the"),
        ("        (1, 2)[0] = 1\n        for face in (1,):\n", "gives a changed copy"),
        ("        1 // 0\n        for face in (1,):\n", "line 44)"),
        ("        raise ValueError('a\\nb')\n        for face in (1,):\n", "ValueError: a b"),
        ("        sys.exit(0)\n        for face in (1,):\n", "SystemExit"),
        ("        raise Exception(Odd())\n        for face in (1,):\n", "Exception ("),
        ("        dice.total(-1, 6).send(None)\n        for face in (1,):\n", "ValueError"),
        ("        for face in dice.total(99, 6):\n", "ValueError"),
        ("        for face in iter(int, 1):\n", "more than 1,000,000 outcomes"),
        ("        yield\n        for face in (1,):\n", "gives None"),
        ("        yield WIN\n        for face in (1,):\n", "gives 2"),
        (
            "        yield 1, WIN\n        for face in (1,):\n",
            "where play ends, next_state is any state, as in (1, WIN, s)",
        ),
        ("        yield 1, WIN, s, s\n        for face in (1,):\n", "should yield (weight"),
        ("        yield {1, 2}\n        for face in (1,):\n", "should yield (weight"),
        ("        yield 'abc'\n        for face in (1,):\n", "weight 'a'"),
        ("        yield Odd()\n        for face in (1,):\n", "can't be shown"),
        ("        yield (k for k in (1, WIN))\n        for face in (1,):\n", "should yield"),
        ("        return [(1, WIN, s)]\n        for face in (1,):\n", "no outcome"),
    ),
    *instead(
        "yield 1, WIN, s\n",
        ("yield '1', WIN, s\n", "weight '1'"),
        ("yield None, WIN, s\n", "weight None"),
        ("yield -1, WIN, s\n", "weight -1"),
        ("yield float('nan'), WIN, s\n", "weight nan"),
        ("yield float('inf'), WIN, s\n", "weight inf"),
        ("yield -0.5, WIN, s\n", "weight -0.5"),
        ("yield Fraction(-1, 2), WIN, s\n", "Fraction(-1, 2)"),
        ("yield 1j, WIN, s\n", "weight 1j"),
        ("yield 2**62 + 1, WIN, s\n", "add up to"),
        ("yield 10**400, WIN, s\n", "add up to"),
        ("yield 1e308, WIN, s\n", "add up to"),
        ("yield np.array([1, 2]), WIN, s\n", "weight array"),
        ("yield np.float64('nan'), WIN, s\n", "weight"),
        ("yield Odd('two\\nlines'), WIN, s\n", "two lines"),
        ("yield 1, 'win', s\n", "unknown `then` 'win'"),
        ("yield 1, 'win', s\n", "with the action run (own.py, line 46)"),
        ("yield 1, None, s\n", "unknown `then` None"),
        ("yield 1, True, s\n", "unknown `then` True (allowed: AGAIN, PASS, WIN, LOSE, DRAW, payof"),
        ("yield 1, s.rival > 1, s\n", "WIN if won else PASS makes one of a condition"),
        ("yield 1, s, WIN\n", "`then` precedes the next state: (weight, then, next_state)"),
        ("yield 1, 6, s\n", "unknown `then` 6"),
        ("yield 1, 2.0, s\n", "unknown `then` 2.0"),
        ("yield 1, [WIN], s\n", "unknown `then`"),
        ("yield 1, END, s\n", "END in a two-player game"),
        ("yield 1, rollwise.won_by(1), s\n", "any number of players) in the state place=1"),
        ("yield 1, Odd(), s\n", "unknown `then`"),
    ),
    *instead(
        "yield 1, PASS, State(s.rival, s.place + face)",
        ("yield 1, PASS, (0, 1)", "which isn't a State"),
        ("yield 1, PASS, None", "which isn't a State"),
        ("yield 1, PASS, [s.rival, s.place + face]", "which isn't a State"),
        ("yield 1, PASS, Other(s.rival, s.place + face)", "which isn't a State"),
        ("yield 1, PASS, State", "which isn't a State"),
        ("yield 1, PASS, Odd()", "which isn't a State"),
        ("yield 1, PASS, Odd('two\\nlines')", "two lines"),
        ("yield 1, PASS, State(s.rival, s.place + face / 2)", "whole numbers"),
        ("yield 1, PASS, State(s.rival, float(s.place + face))", "whole numbers"),
        ("yield 1, PASS, State(s.rival, str(face))", "rival='1'"),
        ("yield 1, PASS, State(s.rival, None)", "rival=None"),
        ("yield 1, PASS, State(s.rival, [face])", "rival=[1]"),
        ("yield 1, PASS, State(s.rival, {1})", "rival={1}"),
        ("yield 1, PASS, State(s.rival, 2**31)", "32 bits"),
        ("yield 1, PASS, State(-2**31 - 1, 0)", "32 bits"),
        ("yield 1, PASS, State(10**400, 0)", "32 bits"),
        ("yield 1, PASS, State(Odd(), 0)", "whole numbers"),
        ("yield 1, PASS, State(s.rival, float('nan'))", "rival=nan"),
        ("yield 1, PASS, State(s.rival)", "TypeError"),
        ("yield 1, PASS, s._replace(place=9, nowhere=1)", "ValueError"),
        ("yield 1, AGAIN, s", "for ever"),
    ),
]

REWARD = instead(
    "    def progress(self, s):\n",
    (
        "    endless = 'draw'\n    def reward(self, s, action):\n        return 1.0\n"
        "    def progress(self, s):\n",
        "endless is 'draw'",
    ),
    ("    def reward(self, s, action):\n        1 // 0\n    def progress(self, s):\n", "Zero"),
    (
        "    def reward(self, s, action):\n        pass\n    def progress(self, s):\n",
        "it is a number, 0 where there are no points",
    ),
    ("    def reward(self, s, a):\n        return 'x'\n    def progress(self, s):\n", "reward()"),
    ("    def reward(self, s, a):\n        return 10**400\n    def progress(self, s):\n", "reward"),
    (
        "    def reward(self, s, a):\n        sys.exit(0)\n    def progress(self, s):\n",
        "SystemExit",
    ),
    (
        "    def reward(self, s):\n        return 0\n    def progress(self, s):\n",
        "reward(self, s, action)",
    ),
    (
        "    def reward(self, s, a):\n        return float('nan')\n    def progress(self, s):\n",
        "finite",
    ),
    ("    def roots(self):\n        1 // 0\n    def progress(self, s):\n", "roots() fails"),
    ("    def roots(self):\n        return 3\n    def progress(self, s):\n", "roots()"),
    ("    def roots(self):\n        sys.exit(0)\n    def progress(self, s):\n", "SystemExit"),
    ("    def roots(self):\n        yield (0, 0)\n    def progress(self, s):\n", "roots() gives"),
    (
        "    def roots(self):\n        yield State(0.5, 0)\n    def progress(self, s):\n",
        "roots() gives place=0.5",
    ),
)

PROGRESS = instead(
    "return s.place + s.rival",
    ("1 // 0", "progress() fails"),
    ("sys.exit(0)", "SystemExit"),
    ("raise ValueError('two\\nlines')", "two lines"),
    ("return None", "progress() gives None"),
    ("return 'far'", "progress() gives 'far'"),
    ("return 0.5", "progress() gives 0.5"),
    ("return 10**30", "progress() gives"),
    ("return -s.place - s.rival", "it falls"),
)

POLICY = instead(
    "    def progress(self, s):\n",
    *(
        (f"    @rollwise.policy\n    def mine(self, s): {body}\n    def progress(self, s):\n", said)
        for body, said in (
            ("1 // 0", "ZeroDivisionError"),
            ("sys.exit(0)", "SystemExit"),
            ("return 9", "gives 9"),
            ("return None", "a policy gives the number of an action: 0 for walk"),
            ("return 'walk'", "TypeError"),
            ("return {0: -1}", "weight -1"),
            ("return {'walk': 1}", "TypeError"),
            ("return {0: 'x'}", "ValueError"),
            ("return {0: float('nan')}", "weight nan"),
            ("return {}", "gives no action"),
            ("raise ValueError('two\\nlines')", "two lines"),
        )
    ),
)
