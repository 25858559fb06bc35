"""Rules that can't be compiled: what is said of them, and that it is tried once."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest
from tests.idioms import COMPILED, HELPERS, SHEET, sheet_of

from rollwise import build
from rollwise.builders import CompileWarning
from rollwise.errors import RulesDiffer, UsageError
from rollwise.game import Game
from rollwise.games import find
from rollwise.machine.switches import jit_disabled
from rollwise.then import PASS, WIN

if not jit_disabled():
    from rollwise.builders.compiled import disk

pytestmark = pytest.mark.needs_jit

RULES = """
import functools, itertools
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np

from rollwise import LOSE, PASS, WIN, Game, dice, won_by

POINTS = {1: 3, 2: 4}
LISTED = [1, 2]
PAIR = (1, 2, 3)
MIXED = (1, (2, 3))
double = lambda n: 2 * n

class State(NamedTuple):
    place: int

    def still(self):
        return 2 * self.place

class Colour(Enum):
    RED = 1

class Step:
    size = 1

def step(n):
    return n

def shift(n, by=1):
    return n + by

def shown(counts):
    return counts[7]

MERSENNE = 2**89 - 1

@functools.cache
def kept(n):
    return n

def pair(n):
    return WIN, n

def cut(numbers, n):
    return len(numbers[:n])  # in a helper

def named(*, n):
    return n

def calls_step(n):
    return step(n)

def factorial(n):
    return 1 if n == 0 else n * factorial(n - 1)

def is_even(n):
    return n == 0 or is_odd(n - 1)

def is_odd(n):
    return n > 0 and is_even(n - 1)

def endless(n):
    return endless(n + 1)

@dataclass(frozen=True)
class Own(Game):
    sizes: ClassVar = {1: 1}
    chance: Fraction = Fraction(1, 2)

    def start(self):
        return State(0)

    def actions(self, s):
        yield 0

    def steps(self, n):
        return 0 if n == 0 else 1 + self.steps(n - 1)

    @staticmethod
    def still(n):
        return n

    def outcomes(self, s, action):
        yield 1, WIN, s
        # more
        if s.place < 5:
            yield 1, PASS, State(s.place + @)
"""
LINE = RULES[: RULES.index("@)")].count("\n") + 1

# What is written in rules, what is said to be wrong, and what to do about it.
CASES = [
    ("len(Counter(a=1))", "'Counter'", "numbers.count(number)"),
    ("s.place % MERSENNE", "'MERSENNE'", "64 bits"),
    ("Step().size", "'Step()'", "objects of classes"),
    ("int(Fraction(2, 1))", "'Fraction'", "write a / b"),
    ("int(np.int64(1))", "'np.int64(1)'", "int(x)"),
    ("sum(map(lambda k: k, (1,)))", "an inner function", "outside of the rule"),
    ("len(list(itertools.accumulate(range(1))))", "'itertools.accumulate'", "write a loop"),
    ("functools.reduce(max, PAIR)", "functools.reduce(max, PAIR)", "write a loop"),
    ("isinstance(s, State) + 0", "isinstance(s, State)", "leave it out"),
    ("len(PAIR * s.place)", "PAIR * s.place", "NumPy array"),
    ("MIXED[s.place % 1]", "MIXED[s.place % 1]", "several tuples"),
    ("shift(*[s.place])", "shift(*[s.place])", "without the star"),
    ("max((), key=step, default=1)", "max((), key=step, default=1)", "write a loop"),
    ("Colour(1).value", "Colour(1)", "by its name"),
    ("s.still()", "'s.still'", "write a function still(s)"),  # the game has it too
    ("pow(2, 3, 5)", "pow(2, 3, 5)", "% c"),
    ("len(np.zeros(1, int))", "np.zeros(1, int)", "np.int64"),
    ("len('%d' % s.place)", "yield 1, PASS, State(", "tuples of whole numbers"),
    ("~(s.place > 1) + 3", "~ of a truth value", "write not"),
    (
        "len(dice.sums(dice.d(4)))",
        "'dice.sums'",
        "at the top of the file, as in THROWN = dice.sums(",
    ),
]

# The same of statements.
STATEMENTS = [
    ("yield 1 - self.chance, WIN, s", "1 - self.chance", "whole numbers: p.numerator"),
    ("yield -self.chance, WIN, s", "-self.chance", "whole numbers: p.numerator"),
    ("from math import gcd", "from math import gcd", "at the head of the file"),
    ("global POINTS; POINTS = POINTS", "global POINTS", "change no globals"),
    ("x = 1; del x", "del x", "leave it out"),
    ("self.n = 1", "self.n = 1", "put them into the state"),
    ("x = (y := 1) + 1", "(y := 1)", "a line of its own"),
    ("x = len([])", "[]", "single variables"),
    ("x = {}; x[1] = x.get(1, 0) + 0.5", "x[1] = x.get(1, 0) + 0.5", "into a NumPy array"),
    ("def inner(n): return inner(n - 1) if n else 0\n        inner(1)", "inner()", "outside"),
    ("try: x = PAIR[s.place % 3]\n        except IndexError: x = 1", "except", "test beforehand"),
    (
        "if s.place == 9: x = 1\n        if s.place == 9: yield x, WIN, s",
        "'x'",
        "may have no value",
    ),
    ("for x in PAIR: pass\n        yield x, WIN, s", "'x'", "give it one before"),
]

TWO = "x = {}\n        if s.place:\n            x = {}\n        yield 0 * len(f'{{x}}')"

NUMBAS = r"Function\(|Literal\[|UniTuple|<class|opcode|[a-z]Error:|reflected"


@pytest.fixture
def empty_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(disk, "folder", lambda: tmp_path)


def own(folder: Path, expression: str) -> Path:
    place = folder / "own.py"
    place.write_text(RULES.replace("@)", f"{expression})"))
    return place


def refusal_of(place: Path) -> str:
    with pytest.raises(UsageError) as caught:
        build(find(f"{place}:Own")(), mode="compiled")
    return str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(("expression", "wrong", "remedy"), CASES, ids=[case[0] for case in CASES])
def test_the_remedy_fits(empty_folder, tmp_path, expression, wrong, remedy):
    message = refusal_of(own(tmp_path, expression))
    told = message.partition("which is slower: ")[2]
    assert told.startswith(wrong)
    assert remedy in told
    assert f"(own.py, line {LINE}, column " in told
    assert "\n" not in told
    assert not re.search(NUMBAS, told)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "wrong", "remedy"), STATEMENTS, ids=[case[0] for case in STATEMENTS]
)
def test_the_remedy_of_a_statement_fits(empty_folder, tmp_path, statement, wrong, remedy):
    place = own(tmp_path, "1")
    place.write_text(place.read_text().replace("# more", statement))
    told = refusal_of(place).partition("which is slower: ")[2]
    assert wrong in told
    assert remedy in told
    assert re.search(r"\(own\.py, line \d+(, column \d+)?\)", told)
    assert not re.search(NUMBAS, told)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "remedy"),
    [
        ("if s.place:\n            return [0]\n        return range(1)", "yield each action"),
        ("return [0] if s.place else range(1)", "write list(...) for it"),
        ("return (0,) if s.place else range(1)", "write list(...) for it and for the tuple"),
        ("yield from [0] if s.place else (0,)", "write list(...) for the tuple"),
        ("x = s.place, 1\n        if s.place:\n            x = sorted(x)\n        yield 0 * x[0]",
         "write list(...) for the tuple"),
        ("x = 's'\n        if s.place:\n            x = s.place > 1\n        yield 0 * len(f'{x}')",
         "write 1 for True, 0 for False"),
        (TWO.format("(1, 2)", "5"), "throughout; here a number and a tuple meet"),
        (TWO.format("(1, 2)", "s"), "throughout; here State and a tuple meet"),
        (TWO.format("(1, 2, 3)", "PAIR[1:]"), "tuples of different lengths are different ones"),
        (TWO.format("(1, 2)", "(1, 'x')"), "throughout, and so do the parts of a tuple"),
        (TWO.format("((1, 2), 3)", "(1, (2, 3))"), "throughout, and so do the parts of a tuple"),
        (TWO.format("[(1, 2)]", "[1, 2]"), "and the items of a list"),
    ],
)  # fmt: skip
def test_the_remedy_for_values_of_two_types_fits(empty_folder, tmp_path, statement, remedy):
    place = own(tmp_path, "1")
    place.write_text(place.read_text().replace("yield 0\n", f"{statement}\n", 1))
    told = refusal_of(place).partition("which is slower: ")[2]
    assert "a value needs one type throughout" in told
    assert remedy in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("yield 'x', WIN, s", "a weight is a text: write a number"),
        ("yield 1, PASS, State(s.place / 2 + 9)", "a state or an action is a float: write a whole"),
    ],
)
def test_values_of_other_types_are_named(empty_folder, tmp_path, statement, told):
    place = own(tmp_path, "1")
    place.write_text(place.read_text().replace("# more", statement))
    assert told in refusal_of(place)


MIXED = """
from typing import NamedTuple

from rollwise import *

class State(NamedTuple):
    place: int

class Own(Game):
    def start(self):
        return State(0)

    def throws(self, s):
        if s.place == 2:
            yield 0.5, 1
        yield 1, 2

    def actions(self, s, throw, few=2):
        return range(few)

    def outcomes(self, s, throw, action, most=3, add=1):
        counts = {}
        counts[throw] = counts.get(throw, 0) + 1
        if s.place >= most:
            yield 1, WIN, s
        else:
            yield 0.25, PASS, State(s.place + add + action)
            yield 2, LOSE if action else PASS, State(s.place + counts[throw])
"""


def test_weights_of_both_kinds_and_defaults_compile(empty_folder, tmp_path):
    """And Numba's warnings about the dictionary are not shown."""
    place = tmp_path / "own.py"
    place.write_text(MIXED)
    game = find(f"{place}:Own")()
    plain = build(game, mode="interpreted")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert build(game, mode="compiled").content_hash == plain.content_hash


@pytest.mark.parametrize(
    ("expression", "name"),
    [("factorial(3)", "factorial"), ("is_even(3)", "is_even"), ("self.steps(3)", "steps")],
)
def test_rules_that_call_themselves_are_interpreted(tmp_path, expression, name):
    place = own(tmp_path, f"0 * {expression} + 1")
    told = refusal_of(place).partition("which is slower: ")[2]
    line = place.read_text().splitlines()[int(re.findall(r"line (\d+)", told)[0]) - 1]
    assert name in told
    assert line.strip() in ("def factorial(n):", "def is_even(n):", "def steps(self, n):")
    assert told.endswith("calls itself, directly or through others: write a loop instead")
    assert refusal_of(place).partition("which is slower: ")[2] == told


# ---- rules as newcomers write them compile, and give what Python gives


GROUP = 15  # idioms that are compiled at a time


def assert_compiles(folder, sheet):
    (folder / "helpers.py").write_text(HELPERS)
    (folder / "own.py").write_text(sheet)
    game = find(f"{folder / 'own.py'}:Own")()
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        compiled = build(game, mode="compiled")
    plain = build(game, mode="interpreted")
    assert np.array_equal(compiled.states, plain.states)
    assert np.array_equal(compiled.outcome_state, plain.outcome_state)


STARRED = """
from typing import NamedTuple

from rollwise import *

class State(NamedTuple):
    points: int
    late: bool

class Own(Game):
    players, objective = 1, "maximize"

    def start(self):
        return State(0, False)

    def actions(self, s):
        return (0,) if s.late else (0, 1)

    def reward(self, s, action):
        return s.points if action == 0 else 0

    def outcomes(self, s, action):
        if action == 0:
            yield 1, END, s
        else:
            for ways, counts in dice.counts(2, 3):
                yield ways, AGAIN, State(sum(k * counts[k] for k in (1, 3)), True)
"""


def test_rules_that_import_everything_compile(tmp_path):
    """`from rollwise import *` imports `dice`, and Python compiles its calls otherwise."""
    assert_compiles(tmp_path, STARRED)


@pytest.mark.parametrize("first", range(0, len(COMPILED), GROUP))
def test_idioms_in_methods_compile(tmp_path, first):
    assert_compiles(tmp_path, sheet_of(COMPILED[first : first + GROUP]))


@pytest.mark.slow
@pytest.mark.parametrize("idiom", COMPILED[::32])
def test_an_idiom_in_outcomes_compiles(tmp_path, idiom):
    assert_compiles(tmp_path, SHEET.replace("@@", idiom.replace("\n", "\n        ")))


def test_a_counter_handed_to_a_function_has_a_remedy(empty_folder, tmp_path):
    """Compiled rules don't know that it is a Counter, in which a missing number counts 0."""
    place = own(tmp_path, "shown(Counter(PAIR))")
    with pytest.raises(RulesDiffer, match=r"of a Counter .*, write counts.get\(k, 0\)"):
        build(find(f"{place}:Own")(), mode="compiled")
    place.write_text(place.read_text().replace("counts[7]", "counts.get(7, 0)"))
    build(find(f"{place}:Own")(), mode="compiled")


# ---- functions of compiled rules that Python calls too have machine code of their own


class Spot(NamedTuple):
    x: int


@numba.njit
def doubled(face):
    return 2 * face


class Walk(Game):
    """Calls a function that Numba compiles for Python too."""

    def start(self):
        return Spot(9)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        for face in range(1, 4):
            if doubled(face) >= s.x:
                yield 1, WIN, s
            else:
                yield 1, PASS, Spot(s.x - doubled(face))


def test_a_function_of_the_user_is_called_by_compiled_rules_and_by_python(tmp_path, monkeypatch):
    monkeypatch.setenv("ROLLWISE_CACHE_DIR", str(tmp_path))  # compiled here, not read
    compiled = build(Walk(), mode="compiled")
    assert doubled(3) == 6
    assert compiled.content_hash == build(Walk(), mode="interpreted").content_hash
