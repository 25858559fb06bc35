"""Whatever is wrong with rules, the command line says it in one line, and ends as it should."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cli_runner import output, refusal, run
from conftest import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rule_faults import (
    ACTIONS,
    ATTRIBUTES,
    IMPORT,
    OUTCOMES,
    POLICY,
    PROGRESS,
    REWARD,
    SOUND,
    START,
)

FATAL = [*IMPORT, *ATTRIBUTES, *START, *ACTIONS, *OUTCOMES, *REWARD]


@pytest.fixture(autouse=True)
def usual_recursion_limit():
    """Libraries of other tests may have raised it, so that endless recursion takes minutes."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    yield
    sys.setrecursionlimit(before)


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Loops that yield for ever are stopped sooner than they would be."""
    monkeypatch.setattr("rollwise.builders.limits.MOST_YIELDED", 5_000)


@pytest.fixture
def interpreted_only(monkeypatch):
    """Let `check` compile nothing, which takes a second for every game."""
    monkeypatch.setattr("rollwise.analysis.check.compare_builders", lambda *arguments: None)


def file_of(folder: Path, source: str) -> str:
    place = folder / "own.py"
    place.write_text(source)
    return f"{place}:Own"


def test_without_a_fault_the_rules_are_sound(tmp_path):
    game = file_of(tmp_path, SOUND)
    assert json.loads(output("solve", game, "--json"))["states"] == 13
    assert json.loads(output("check", game, "--json"))["passed"]


@pytest.mark.parametrize("fault", FATAL, ids=lambda fault: fault.new.strip()[:40])
def test_a_fault_is_told_in_one_line(tmp_path, fault):
    message = refusal("solve", file_of(tmp_path, fault.source()), "--json")
    assert fault.said.replace("1,000,000", "5,000") in message
    assert len(message) < 1000


@pytest.mark.needs_jit
@pytest.mark.parametrize(
    "said", ["SystemExit", "ZeroDivisionError", "more than 1,000,000 outcomes", "32 bits"]
)
def test_compiled_rules_tell_the_same(tmp_path, said):
    fault = next(fault for fault in OUTCOMES if fault.said in (said, "line 44)"[: len(said)]))
    game = file_of(tmp_path, fault.source())
    compiled, interpreted = (
        refusal("solve", game, "--mode", mode) for mode in ("compiled", "interpreted")
    )
    assert compiled == interpreted


@pytest.mark.parametrize("fault", PROGRESS + POLICY, ids=lambda fault: fault.new.strip()[-40:])
def test_check_tells_faults_of_what_is_optional(tmp_path, fault, interpreted_only):
    done = run("check", file_of(tmp_path, fault.source()), "--json")
    assert done.returncode == 1
    errors = [f["text"] for f in json.loads(done.stdout)["findings"] if f["level"] == "error"]
    assert len(errors) == 1
    assert fault.said in errors[0]
    assert "\n" not in errors[0]


def anything() -> st.SearchStrategy[str]:
    """Expressions for what rules may give, good and bad, as Python writes them."""
    plain = st.one_of(
        st.integers(-(10**30), 10**30),
        st.integers(-3, 9),
        st.floats(),
        st.booleans(),
        st.none(),
        st.text(max_size=5),
        st.binary(max_size=3),
        st.fractions(),
        st.complex_numbers(),
    ).map(repr)
    named = st.sampled_from(
        [
            "s",
            "action",
            "WIN",
            "PASS",
            "State",
            "Odd()",
            "np.int8(3)",
            "np.array([1])",
            "s.place",
            "float('nan')",
            "self",
            "dice",
            "State(0,0)",
            "Other(1,1)",
            "nowhere",
            "1//0",
        ]
    )
    leaf = st.one_of(plain, named).map(lambda text: text.replace("nan", "float('nan')"))
    return st.recursive(
        leaf.filter(lambda text: "inf" not in text),
        lambda inner: st.lists(inner, max_size=4).map(lambda items: f"({', '.join(items)},)"),
        max_leaves=6,
    ).filter(lambda text: text != "(,)")


@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(
        [
            "return State(0, 0)",
            "yield 0\n",
            "yield 1, WIN, s\n",
            "yield 1, PASS, State(s.rival, s.place + face)",
            "return s.place + s.rival",
            'action_names: ClassVar = ("walk", "run")',
        ]
    ),
    st.sampled_from(["return {}", "yield {}\n", "yield 1, {}, s", "yield {}, PASS, State(1, 1)"]),
    anything(),
)
def test_whatever_rules_give(interpreted_only, tmp_path, old, form, expression):
    """No traceback, and one line of words at most, whatever stands where in the rules."""
    new = f"action_names = {expression}" if "names" in old else form.format(expression)
    source = SOUND.replace(old, new if old[-1] != "\n" else new + "\n", 1)
    game = file_of(tmp_path, source)
    for command in (["solve", "--mode", "interpreted"], ["check"]):
        done = run(*command, game, "--json")
        assert done.returncode in (0, 1, 2)
        words = [line for line in done.stderr.splitlines() if "warning" not in line]
        assert len(words) <= 1
        if done.returncode == 0:
            json.loads(done.stdout)
