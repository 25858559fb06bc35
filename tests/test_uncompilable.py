"""Rules that can't be compiled: what is said of them, and that it is tried once."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollwise import build
from rollwise.builders import CompileWarning
from rollwise.errors import RulesError
from rollwise.games import find
from rollwise.machine.switches import jit_disabled

if not jit_disabled():
    from rollwise.builders.compiled import adapter, disk

pytestmark = pytest.mark.needs_jit

RULES = """
import functools, itertools
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import LOSE, PASS, WIN, Game

POINTS = {1: 3, 2: 4}

class State(NamedTuple):
    place: int

class Step:
    size = 1

def step(n):
    return n

@functools.cache
def kept(n):
    return n

@dataclass(frozen=True)
class Own(Game):
    sizes: ClassVar = {1: 1}

    def start(self):
        return State(0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        yield 1, WIN, s
        if s.place < 5:
            yield 1, PASS, State(s.place + @)
"""
LINE = RULES[: RULES.index("@)")].count("\n") + 1

# What is written in rules, what is said to be wrong, and what to do about it.
CASES = [
    ("step(1)", "'step'", "mark a helper function with @rollwise.rule"),
    ("kept(1)", "'kept'", "leave the helper function uncached"),
    ("POINTS.get(s.place, 1)", "'POINTS'", "a tuple or a NumPy array"),
    ("len(Counter((1,)))", "'Counter'", "count in a NumPy array"),
    ("Step().size", "'Step'", "objects of classes"),
    ("sum(k for k in (1,))", "yield in a closure", "write a loop"),
    ("len(list(itertools.product(range(1))))", "'product'", "write a loop"),
    ("self.sizes[1]", "'sizes'", "NumPy arrays and methods"),
]


@pytest.fixture
def empty_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(disk, "folder", lambda: tmp_path)


def own(folder: Path, expression: str) -> Path:
    place = folder / "own.py"
    place.write_text(RULES.replace("@)", f"{expression})"))
    return place


def warning_of(place: Path) -> str:
    with pytest.warns(CompileWarning) as caught:
        build(find(f"{place}:Own")(), mode="compiled")
    return str(caught[0].message)


@pytest.mark.slow
@pytest.mark.parametrize(("expression", "wrong", "remedy"), CASES, ids=[case[0] for case in CASES])
def test_the_remedy_fits(empty_folder, tmp_path, expression, wrong, remedy):
    message = warning_of(own(tmp_path, expression))
    assert wrong in message
    assert remedy in message
    assert f"(own.py, line {LINE})" in message
    assert "\n" not in message


@pytest.mark.slow
def test_yields_of_different_parts(empty_folder, tmp_path):
    place = own(tmp_path, "0")
    place.write_text(place.read_text().replace("yield 1, WIN, s", "yield 1, WIN"))
    with pytest.warns(CompileWarning) as caught, pytest.raises(RulesError, match="next_state"):
        build(find(f"{place}:Own")(), mode="compiled")
    assert "(weight, then, next_state), also where play ends" in str(caught[0].message)


def test_it_is_tried_once(empty_folder, tmp_path, monkeypatch):
    place = own(tmp_path, "POINTS.get(s.place, 1)")
    first = warning_of(place)

    def again(*arguments):
        raise AssertionError("compiled again")

    scope_of = adapter.scope_of
    monkeypatch.setattr(adapter, "scope_of", again)
    assert warning_of(place) == first
    moved = place.read_text().replace("import functools", "\nimport functools")
    monkeypatch.setattr(adapter, "scope_of", scope_of)
    place.write_text(moved)
    assert f"line {LINE + 1}" in warning_of(place)
    place.write_text(moved.replace("POINTS.get(s.place, 1)", "1"))
    assert build(find(f"{place}:Own")(), mode="compiled").n_states == 6
