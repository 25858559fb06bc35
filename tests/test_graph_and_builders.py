"""Both builders give the same graph, and it is the one that the rules describe."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from fractions import Fraction

import naive
import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from little_games import ALL, NoState, RandomTable, Scattered, Uncompilable
from record_playthrough import throws_of
from small_games import small_game

from rollwise.builders import CompileWarning, build, build_with_report, building, limits
from rollwise.errors import UnknownState, UsageError
from rollwise.game import Game
from rollwise.games import available
from rollwise.games.hare_and_tortoise import HareAndTortoise
from rollwise.games.pig import Pig
from rollwise.graph import ARRAYS, StateGraph
from rollwise.graph.layout import StateLayout
from rollwise.machine.switches import jit_disabled
from rollwise.then import is_over, is_payoff, payoff_of, seats_on

BUILT_IN = tuple(map(small_game, available()))


def ident(game: object) -> str | None:
    if not isinstance(game, Game):
        return None
    return " ".join([game.name, *(f"{k}={v}" for k, v in game.parameters.items())])


def assert_same(first: StateGraph, second: StateGraph) -> None:
    for name in ARRAYS:
        one, other = getattr(first, name), getattr(second, name)
        assert one.dtype == other.dtype, name
        assert one.shape == other.shape, name
        assert one.tobytes() == other.tobytes(), name
    assert first.content_hash == second.content_hash


def assert_describes(graph: StateGraph, game: Game) -> None:
    """The graph says what the rules say, state by state, in breadth-first order."""
    found = naive.explore(game)
    naive.merge_equal(found)
    layout = StateLayout.of(game)
    assert graph.states.tolist() == [list(layout.numbers(state)) for state in found]
    number = {state: i for i, state in enumerate(found)}
    a = 0
    for state, actions in found.items():
        assert a == graph.action_indptr[number[state]]
        for label, outcomes in actions.items():
            assert graph.action_label[a] == label
            assert graph.action_reward[a] == game.reward(state, label)
            begin, end = graph.outcome_indptr[a : a + 2]
            assert [
                (
                    Fraction(graph.outcome_weight[k].item()),
                    bool(graph.outcome_passes[k]),
                    float(graph.outcome_payoff[k]),
                    int(graph.outcome_state[k]),
                )
                for k in range(begin, end)
            ] == [
                (
                    weight,
                    not is_over(then) and seats_on(then, 2) == 1,
                    payoff_of(then) if is_payoff(then) else naive.PAYOFF.get(then, 0.0),
                    number.get(following, -1),
                )
                for weight, then, following in outcomes
            ]
            a += 1
    assert a == graph.n_actions
    assert graph.action_indptr[-1] == a
    assert graph.outcome_indptr[-1] == graph.n_outcomes


def assert_describes_throws(graph, game):
    """A graph has all that the rules say of positions that lie far apart, throw by throw."""
    layout = StateLayout.of(game)
    for s in np.linspace(0, graph.n_positions - 1, min(200, graph.n_positions)).astype(int):
        here = graph.view[int(s)]
        state = layout.state(here.fields)
        weights = {}
        for weight, throw in throws_of(game, state):
            throw = tuple(int(number) for number in np.atleast_1d(throw))
            weights[throw] = weights.get(throw, 0) + weight
        assert {o.next_state.throw: o.weight for o in here.throws} == weights
        for there in (outcome.next_state for outcome in here.throws):
            throw = graph.throw_layout.throw(there.throw)
            lefts = range(there.rolls_left + 1 if game.reads_rolls_left else 1)
            for left in lefts:  # others see the last throw of a pool
                there = here.find_in_turn(throw, left) if graph.has_pool else there
                assert_describes_actions(
                    there, game, state, (throw, left)[: 1 + game.reads_rolls_left]
                )


def assert_describes_actions(there, game, state, thrown):
    layout = StateLayout.of(game)
    actions = [action for action in there.actions if not action.keeps]
    assert [action.label for action in actions] == list(game.actions(state, *thrown))
    for action in actions:
        assert action.reward == game.reward(state, *thrown, action.label)
        said = [o for o in game.outcomes(state, *thrown, action.label) if o[0]]
        assert [o.weight for o in action.outcomes] == [weight for weight, _, _ in said]
        for outcome, (_, then, after) in zip(action.outcomes, said, strict=True):
            assert outcome.is_over == is_over(then)
            if not outcome.is_over:
                assert layout.state(outcome.next_state.fields) == after


@pytest.mark.parametrize("game", [*BUILT_IN, *ALL, NoState()], ids=ident)
def test_builders_agree_with_the_rules_and_each_other(game):
    interpreted = build(game, mode="interpreted")
    if interpreted.throw_names:
        assert_describes_throws(interpreted, game)
    else:
        assert_describes(interpreted, game)
    if jit_disabled():
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        compiled, report = build_with_report(game, mode="compiled")
    assert report.mode == "compiled"
    assert_same(interpreted, compiled)


@pytest.mark.needs_jit
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 30),
    choices=st.integers(1, 4),
    outcomes_each=st.integers(1, 4),
    loops=st.floats(0, 1),
)
def test_builders_agree_on_random_games(seed, size, choices, outcomes_each, loops):
    game = RandomTable(seed, size, choices, outcomes_each, loops=loops)
    interpreted = build(game, mode="interpreted")
    assert_same(interpreted, build(game, mode="compiled"))
    assert_describes(interpreted, game)


@pytest.mark.needs_jit
@given(steps=st.integers(1, 60), stride=st.integers(1, 2**40))
@settings(max_examples=examples(15))
def test_builders_agree_wherever_the_states_lie(steps, stride):
    game = Scattered(steps, stride)
    assert_same(build(game, mode="interpreted"), build(game, mode="compiled"))


@pytest.mark.needs_jit
def test_pig_100_is_pinned():
    graph = build(Pig(100))
    assert (graph.n_states, graph.n_actions, graph.n_outcomes) == (480_447, 951_093, 3_353_328)


@pytest.mark.needs_jit
def test_rules_that_cannot_be_compiled_fall_back_and_say_why(monkeypatch):
    reason = r"line \d+.*write a loop instead"
    with pytest.raises(UsageError, match=f"^uncompilable: .*mode='auto' interprets them.*{reason}"):
        build(Uncompilable(), mode="compiled")
    monkeypatch.setattr(limits, "SMALL", 1)
    with pytest.warns(CompileWarning, match=f"^uncompilable: .*interpreted.*{reason}") as caught:
        graph, report = build_with_report(Uncompilable())
    assert len(caught) == 1
    assert "\n" not in str(caught[0].message)
    assert report.mode == "interpreted"
    assert_describes(graph, Uncompilable())


def test_without_the_jit_compiled_rules_are_refused():
    """Run in a process of its own, so that it is tested with the JIT on as well."""
    code = (
        "import warnings; warnings.simplefilter('error')\n"
        "from rollwise.builders import build, build_with_report\n"
        "from rollwise.errors import UsageError\n"
        "from rollwise.games.pig import Pig\n"
        "assert build_with_report(Pig(5))[1].mode == 'interpreted'\n"
        "try: build(Pig(5), mode='compiled')\n"
        "except UsageError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "NUMBA_DISABLE_JIT" in done.stdout


@pytest.mark.needs_jit
def test_small_games_are_interpreted_and_large_ones_compiled(monkeypatch):
    assert build_with_report(HareAndTortoise(6), mode="auto")[1].mode in ("interpreted", "compiled")
    monkeypatch.setattr(building, "is_compiled", lambda rules: False)
    small_graph, report = build_with_report(Pig(12))
    assert report.mode == "interpreted"
    monkeypatch.setattr(limits, "SMALL", small_graph.n_outcomes // 2)
    large_graph, report = build_with_report(Pig(12))
    assert report.mode == "compiled"
    assert_same(small_graph, large_graph)
    monkeypatch.undo()
    monkeypatch.setattr(building, "is_compiled", lambda rules: False)
    monkeypatch.setattr(limits, "PATIENCE", 0.0)
    monkeypatch.setattr(building, "note_large", lambda rules, limit: None)
    slow_graph, report = build_with_report(Pig(12))
    assert report.mode == "compiled"
    assert_same(small_graph, slow_graph)


def test_a_state_is_found_by_its_fields():
    graph = build(Pig(12))
    for s in (0, 17, graph.n_states - 1):
        assert graph.find(graph.states[s].tolist()) == s
    assert graph.state_text(0) == "banked=0, rival=0, turn=0"
    assert graph.view.action(0).name == "roll"
    assert graph.title == "pig target=12 sides=6 must_bank=false"
    assert "states" in repr(graph)
    named = {"banked": 0, "rival": 0}
    for state, fault in (
        ((0, 0, 99), "no play comes to the state banked=0, rival=0, turn=99"),
        ((0, 0), "a state has 3 fields, and not 2"),
        ("a=0", "'a=0' isn't a state of this game: write its fields as a tuple"),
        ((0, 0, 0, 0), "a state has 3 fields, and not 4"),
        ((0, 0, 0.5), r"\(0, 0, 0.5\) aren't whole numbers"),
        (named, "turn is missing"),
        ({**named, "turns": 0}, "there is no field 'turns'"),
    ):
        with pytest.raises(UnknownState, match=f"pig target=12.*{fault}.*banked"):
            graph.find(state)
