"""Compiled rules on disk: used where nothing has changed, and only there."""

from __future__ import annotations

import dataclasses
import enum
import math
import subprocess
import sys
import types
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rollwise.builders.compiled.cache_key import Key, key_of
from rollwise.builders.compiled.reads import reads_of
from rollwise.builders.rules import Rules
from rollwise.games import find

pytestmark = pytest.mark.needs_jit

GAME = """
from typing import NamedTuple
from rollwise import PASS, WIN, Game

class Spot(NamedTuple):
    x: int

def steps(face):
    return face + 0

class Walk(Game):
    def start(self):
        return Spot(9)
    def actions(self, s):
        yield 0
    def outcomes(self, s, action):
        for face in range(1, 4):
            if steps(face) >= s.x:
                yield 1, WIN, s
            else:
                yield 1, PASS, Spot(s.x - steps(face))
"""
SCRIPT = """
import sys
from rollwise.builders import build_with_report
from rollwise.games import find
graph, report = build_with_report(find("walk.py:Walk")(), mode="compiled")
compiler = "numba.core.typing.cffi_utils" in sys.modules  # which only compiling needs
print("compiled" if compiler else "read", graph.n_states, report.mode)
"""


@pytest.mark.slow
def test_another_process_uses_them_until_a_helper_changes_and_not_words(tmp_path, monkeypatch):
    monkeypatch.setenv("ROLLWISE_CACHE_DIR", str(tmp_path / "cache"))

    def play(source: str) -> str:
        (tmp_path / "walk.py").write_text(source)
        command = [sys.executable, "-c", SCRIPT]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert play(GAME) == "compiled 9 compiled"
    assert play(GAME) == "read 9 compiled"
    words = "    def describe(self, s):\n        return 'far'\n"
    assert play(GAME + words) == "read 9 compiled"
    changed = GAME.replace("face + 0", "face + 1")
    assert play(changed) == "compiled 8 compiled"
    for path in (tmp_path / "cache" / "rules").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    assert play(GAME) == "compiled 9 compiled"
    assert play(GAME) == "read 9 compiled"


@pytest.mark.slow
def test_a_method_of_a_state_that_changes_is_noticed(tmp_path, monkeypatch):
    """Also in a file beside the rule sheet."""
    monkeypatch.setenv("ROLLWISE_CACHE_DIR", str(tmp_path / "cache"))
    beside = """
from typing import NamedTuple

class Spot(NamedTuple):
    x: int

    @property
    def step(self):
        return 1 + self.x % 2
"""
    rules = GAME.replace("face + 0", "face").replace("steps(face) >", "face + s.step >")
    rules = rules.replace("- steps(face)", "- face - s.step")
    rules = rules.replace("class Spot(NamedTuple):\n    x: int", "from beside import Spot")
    (tmp_path / "walk.py").write_text(rules)

    def play(source: str) -> str:
        (tmp_path / "beside.py").write_text(source)
        command = [sys.executable, "-c", SCRIPT]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert play(beside) == "compiled 7 compiled"
    assert play(beside) == "read 7 compiled"
    assert play(beside.replace("1 + self.x % 2", "3")) == "compiled 5 compiled"


@pytest.mark.slow
def test_what_is_read_from_disk_is_not_mistaken_for_what_was_compiled_here(tmp_path, monkeypatch):
    """Games of one name, one compiled in this process and one in another."""
    monkeypatch.setenv("ROLLWISE_CACHE_DIR", str(tmp_path / "cache"))
    for folder, sides in (("one", 2), ("other", 3)):
        (tmp_path / folder).mkdir()
        rules = GAME.replace("range(1, 4)", f"range(1, {sides + 1})")
        (tmp_path / folder / "walk.py").write_text(rules)
    script = """
import sys
from rollwise.builders import build
from rollwise.games import find
for path in sys.argv[1:]:
    print(build(find(path + "/walk.py:Walk")(), mode="compiled").n_outcomes)
"""

    def play(*folders: str) -> list[str]:
        command = [sys.executable, "-c", script, *folders]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert play("other") == ["27"]
    assert play("one", "other") == ["18", "27"]
    assert play("other", "one", "other") == ["27", "18", "27"]


# ---- the key of compiled rules: another one for whatever they read that is another thing


def reading(value: Any, source: str = "def rule(s):\n    return thing\n") -> types.FunctionType:
    """A rule that reads a value."""
    scope = {"thing": value}
    exec(source, scope)
    function = scope["rule"]
    assert isinstance(function, types.FunctionType)
    return function


def key(value: Any) -> str:
    """The key of a rule that reads a value."""
    found = key_of({"actions": reading(value)})
    assert found.lasts
    return found.text


class Red(enum.IntEnum):
    LOW = 1


class Blue(enum.IntEnum):
    LOW = 1


@dataclasses.dataclass(frozen=True)
class Prices:
    roll: int
    hold: int


def told(value: Any) -> Any:
    """A value as text that two values share only if they are the same thing to rules."""
    kind = type(value).__module__, type(value).__qualname__
    if isinstance(value, np.ndarray | np.generic):
        return kind, repr(value.dtype), np.shape(value), np.asarray(value).tobytes()
    if isinstance(value, tuple | frozenset):
        items = [told(item) for item in value]
        fields = getattr(value, "_fields", None)
        return kind, fields, items if isinstance(value, tuple) else sorted(items, key=repr)
    if isinstance(value, float):
        return kind, math.copysign(1, value), repr(value)
    return kind, repr(value)


def named(fields: list[str], items: tuple[Any, ...]) -> Any:
    return namedtuple("Named", fields)(*items)  # type: ignore[misc]


numbers = st.one_of(
    st.sampled_from([0, 1, -1, 11, 12, 2**63, 2**70, True, False, 0.0, -0.0, 1.0, math.nan, 1j]),
    st.sampled_from([np.int8(1), np.int64(1), np.bool_(True), np.float32(1), np.float64(1)]),
    st.integers(),
    st.floats(),
)
simple = st.one_of(
    numbers,
    st.none(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.sampled_from([Red.LOW, Blue.LOW, Red, Blue, Prices(1, 2), Prices(2, 1), int, float, abs]),
    hnp.arrays(
        st.sampled_from([np.int8, np.int64, np.uint64, np.float64, np.bool_]),
        hnp.array_shapes(max_dims=3, max_side=3),
        elements=st.sampled_from([0, 1]),
    ),
)
fields = st.lists(st.sampled_from(["a", "b", "ab", "c"]), min_size=2, max_size=2, unique=True)
values = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.builds(named, fields, st.tuples(inner, inner)),
        st.frozensets(numbers, max_size=3),
    ),
    max_leaves=8,
)


@given(values, values)
def test_keys_are_equal_where_what_is_read_is(one, other):
    assert (key(one) == key(other)) == (told(one) == told(other))
    assert key((one, other)) != key(((one,), other))
    assert (key((one, other)) == key((other, one))) == (told(one) == told(other))


COLLISIONS = [
    ((1, 12), (11, 2)),
    ((1, 12), (1, 1, 2)),
    (((1,), 2), ((1, 2),)),
    ("12", 12),
    (b"a", "a"),
    (1, True),
    (1, 1.0),
    (0.0, -0.0),
    (1, np.int64(1)),
    (np.int64(1), np.int32(1)),
    (np.arange(4), np.arange(4).reshape(2, 2)),
    (np.arange(4), np.arange(4).astype(np.int8)),
    (np.array(1), np.int64(1)),
    (namedtuple("P", "a b")(1, 2), namedtuple("P", "b a")(1, 2)),
    (namedtuple("P", "a b")(1, 2), (1, 2)),
    (namedtuple("P", "a b"), namedtuple("P", "b a")),
    (namedtuple("P", "a bc"), namedtuple("P", "ab c")),
    (Red.LOW, Blue.LOW),
    (Red.LOW, 1),
    (Prices(1, 12), Prices(11, 2)),
    ((), None),
    ((None,), None),
]


@pytest.mark.parametrize(("one", "other"), COLLISIONS, ids=lambda value: ascii(value)[:30])
def test_what_is_alike_has_different_keys(one, other):
    assert key(one) != key(other)
    assert key(one) == key(one)


SOURCES = [
    ("def rule(s):\n    return thing + 1", "def rule(s):\n    return thing + 2"),
    ("def rule(s):\n    return thing + 1", "def rule(s):\n    return thing + 1.0"),
    ("def rule(s):\n    return (1, 12)", "def rule(s):\n    return (11, 2)"),
    ("def rule(s):\n    return s in {1, 2}", "def rule(s):\n    return s in {1, 3}"),
    ("def rule(s, t=1):\n    return s", "def rule(s, t=2):\n    return s"),
    ("def rule(s, *, t=1):\n    return s", "def rule(s, *, t=2):\n    return s"),
    ("def rule(s):\n    return thing.x", "def rule(s):\n    return thing.y"),
    ("def rule(s):\n    yield s", "def rule(s):\n    return s"),
    ("rule = (lambda n: lambda s: n)(1)", "rule = (lambda n: lambda s: n)(2)"),
    (
        "def f(s): return s\ndef g(s): return -s\ndef rule(s): return f(s) - g(s)",
        "def g(s): return s\ndef f(s): return -s\ndef rule(s): return f(s) - g(s)",
    ),
]


@pytest.mark.parametrize(("one", "other"), SOURCES)
def test_other_code_has_another_key(one, other):
    assert key_of({"f": reading(1, one)}) != key_of({"f": reading(1, other)})
    assert key_of({"f": reading(1, one)}) == key_of({"f": reading(1, one)})
    assert key_of({"f": reading(1, one)}) != key_of({"g": reading(1, one)})


CLASSES = """
import enum
from typing import ClassVar, NamedTuple
from rollwise import PASS, WIN, Game

class Pair(NamedTuple):
    x: int
    y: int = 11
    def total(self):
        return self.x + 12

class Face(enum.IntEnum):
    LOW = 13
    def above(self):
        return self + 14

class Limits:
    MOST = 15
    class Inner:
        LEAST = 16

SAME = Limits

class Helpers(Game):
    unit: ClassVar = 17
    def helped(self):
        return self.unit + self.above()
    def above(self):
        return 18

class More:
    def above(self):
        return 19

def called():
    return 20

FUNCTIONS = {"called": called, "other": lambda: 21}

class Spot(NamedTuple):
    x: int
    def left(self):
        return self.x + 22

class Walk(Helpers):
    'A game with classes of all kinds.'
    action_names = ("go",)
    def start(self):
        return Spot(9)
    def actions(self, s):
        yield 0
    def outcomes(self, s, action):
        limits = Limits.MOST + Limits.Inner.LEAST + SAME.MOST
        far = self.helped() + super().helped() + More.above(self) + FUNCTIONS["other"]()
        face = Pair(1).total() + Pair(1).y + Face.LOW.above() + FUNCTIONS["called"]()
        yield 1, WIN if s.left() > limits + far + face else PASS, Spot(s.x - 1)
    def describe(self, s):
        return "far away"
"""


def key_of_sheet(path: Path, text: str) -> Key:
    path.write_text(text)
    return reads_of(Rules(find(f"{path}:Walk")())).whole_key


def test_edits_of_words_and_comments_leave_the_key(tmp_path):
    path = tmp_path / "walk.py"
    known = key_of_sheet(path, CLASSES)
    assert known.lasts
    for words, others in (("far away", "near"), ('"go"', '"run"'), ("of all kinds", "of many")):
        assert key_of_sheet(path, CLASSES.replace(words, others)) == known
    assert key_of_sheet(path, f"# A note.\n\n{CLASSES}") == known
    rule = "def outcomes(self, s, action):"
    one, other = (CLASSES.replace(rule, f'{rule}\n        "{words}"') for words in ("Go", "Walk"))
    assert key_of_sheet(path, one) == key_of_sheet(path, other)
    assert key_of_sheet(tmp_path / "other.py", CLASSES) == known


@pytest.mark.parametrize("number", range(11, 23))
def test_each_number_that_the_rules_read_from_a_class_changes_the_key(number, tmp_path):
    path = tmp_path / "walk.py"
    changed = CLASSES.replace(str(number), "99")
    assert changed.count("99") == 1
    assert key_of_sheet(path, changed) != key_of_sheet(path, CLASSES)
