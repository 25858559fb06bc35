"""Both builders give the same graph, and it is the one that the rules describe."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import naive
import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from little_games import ALL, Crowd, NoState, RandomTable, Rooted, Scattered, Uncompilable, Whole
from record_playthrough import throws_of

from rollwise.builders import CompileWarning, build, build_with_report, building, limits
from rollwise.builders.compiled import workspace
from rollwise.builders.compiled.explorer import Explorer
from rollwise.builders.compiled.workspace import StateTable
from rollwise.builders.rules import Rules
from rollwise.errors import UnknownState
from rollwise.game import LOSE, PASS, WIN, Game, is_over, parameter, seats_on
from rollwise.games import available
from rollwise.games.hare_and_tortoise import HareAndTortoise
from rollwise.games.pig import Pig, Piglet, TwoDicePig
from rollwise.games.super_six import SuperSix
from rollwise.graph import ARRAYS, StateGraph
from rollwise.graph.layout import StateLayout
from rollwise.kernels.state_tables import FREE, number_states, slot_of
from rollwise.machine.switches import jit_disabled

SMALLER = {"target": 12, "goal": 2, "most": 12, "sticks": 9, "steps": 10, "boxes": 1, "checkers": 1}


def small(cls: type[Game]) -> Game:
    """A game with parameters small enough for plain Python."""
    names = {name for name in SMALLER if name in cls.__dataclass_fields__}
    return cls(**{name: SMALLER[name] for name in names})


BUILT_IN = tuple(small(cls) for cls in available().values())


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
                    naive.PAYOFF.get(then, 0.0),
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
            if graph.has_pool:  # the rules see the last throw
                there = here.find_in_turn(throw, 0)
            assert there.labels == list(game.actions(state, throw))
            for action in there.actions:
                assert action.reward == game.reward(state, throw, action.label)
                said = [o for o in game.outcomes(state, throw, action.label) if o[0]]
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
def test_a_hash_table_becomes_dense_again(monkeypatch):
    """At first the box is too large for the states found, and at the end it isn't."""
    monkeypatch.setattr(workspace, "DENSE_PLACES", 100)
    monkeypatch.setattr(workspace, "DENSE_PLACES_PER_STATE", 5)
    rules = Rules(Pig(30))
    explorer = Explorer(rules, rules.roots(1), 100_000)
    dense = [explorer._table.dense]
    while explorer.run(explorer.place + 500):
        dense.append(explorer._table.dense)
    assert dense[0]
    assert not all(dense)
    assert dense[-1]
    expected = build(Pig(30), mode="interpreted")
    found = explorer.arrays()
    assert np.array_equal(found.states, expected.states)
    assert np.array_equal(found.outcome_state, expected.outcome_state)


class Wander(NamedTuple):
    up: int
    down: int
    beyond: int


@dataclass(frozen=True)
class Wandering(Game):
    """One field ends at a parameter, one at minus another, one beyond all of them."""

    far: int = parameter(30)
    low: int = parameter(-20)
    share: float = parameter(0.5)
    sure: bool = parameter(True)

    def start(self):
        return Wander(0, 0, 25)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        if s.up == self.far and s.down == self.low and s.beyond == 40:
            yield 1, WIN, s
        else:
            yield 1, PASS, Wander(min(s.up + 1, self.far), s.down, s.beyond)
            yield 1, PASS, Wander(s.up, max(s.down - 1, self.low), s.beyond)
            yield 1, PASS, Wander(s.up, s.down, min(s.beyond + 1, 40))
            yield 1, LOSE, s


@pytest.mark.needs_jit
@pytest.mark.parametrize("places", [1, 1000, 1 << 22], ids=["hash", "quarters", "at once"])
def test_the_box_of_the_states(monkeypatch, places):
    """It grows to where fields are likely to end, unless that is too large, or a little."""
    monkeypatch.setattr(workspace, "DENSE_PLACES", places)
    monkeypatch.setattr(workspace, "LEAST_NEW", 1)  # so that a hash table has to grow
    rules = Rules(Wandering())
    made = []
    make = StateTable.make

    def counted(self, rows, states):
        made.append(self.box.tolist())
        return make(self, rows, states)

    monkeypatch.setattr(StateTable, "make", counted)
    explorer = Explorer(rules, rules.roots(1), 100_000)
    while explorer.run():
        pass
    expected = build(Wandering(), mode="interpreted")
    assert expected.n_states == 31 * 21 * 16
    found = explorer.arrays()
    assert np.array_equal(found.states, expected.states)
    assert np.array_equal(found.outcome_state, expected.outcome_state)
    if places == 1 << 22:  # `beyond` goes to 30 first, and has no likely end from there on
        assert made[1] == [[0, -20, 25], [30, 0, 30]]
        assert made[2] == [[0, -20, 25], [30, 0, 34]]
    else:
        assert [0, -20, 25] not in [box[0] for box in made[1:3]]


@pytest.mark.parametrize("exact", [False, True])
@np.errstate(over="ignore")  # as in compiled code
def test_states_whose_slots_are_taken(exact):
    """They stand in slots that follow each other, beyond the last slot the first.

    States of equal hashes are told apart by their fields.
    """
    slots = np.full(8, FREE, np.uint64)
    states = np.zeros((8, 2), np.int32)
    found = np.empty(9, np.int32)
    mask = len(slots) - 1

    def places_at(slot, how_many):
        return [place for place in range(1000) if slot_of(place, mask) == slot][:how_many]

    def number(places, fields, done, n_states):
        place, rows, table = np.array(places), np.array(fields), np.empty(0, np.int32)
        more = (found, done, states, n_states, table, slots, mask, exact)
        return number_states(place, rows, len(rows), *more)

    a, b = places_at(6, 2)  # their slots are the last two
    c, d = places_at(7, 2)
    if not exact:
        b, d = a, c
    n = number([a, b, -1, a, c], [[1, 1], [2, 2], [0, 0], [1, 1], [3, 3]], 0, 0)
    assert n == 3
    n = number([b, a, c, d], [[2, 2], [1, 1], [3, 3], [5, 5]], 5, n)
    assert n == 4
    assert found.tolist() == [0, 1, -1, 0, 2, 1, 0, 2, 3]
    assert states[:n].tolist() == [[1, 1], [2, 2], [3, 3], [5, 5]]


@pytest.mark.needs_jit
@pytest.mark.parametrize("most", [1 << 62, 1 << 10, 1], ids=["placed", "placed at first", "hashed"])
def test_states_are_found_by_their_places_or_by_hashes(monkeypatch, most):
    monkeypatch.setattr(workspace, "DENSE_PLACES", 0)
    monkeypatch.setattr(workspace, "DENSE_PLACES_PER_STATE", 0)
    monkeypatch.setattr(workspace, "LEAST_NEW", 1)
    monkeypatch.setattr(workspace, "MOST_PLACES", most)
    rules = Rules(Pig(20))
    explorer = Explorer(rules, rules.roots(1), 100_000)
    while explorer.run():
        pass
    assert not explorer._table.dense
    assert bool(explorer._call["placed"][0]) == (most == 1 << 62)
    expected = build(Pig(20), mode="interpreted")
    assert np.array_equal(explorer.arrays().states, expected.states)
    assert np.array_equal(explorer.arrays().outcome_state, expected.outcome_state)


# States, actions and outcomes. Piglet by counting: 10 scores of the rival times 55 ways to
# have fewer than 10 points, 1 to 10 of them in the bank; no choice where the turn begins.
# Super Six with 40 sticks has 4,115 situations (Ashdnazg's note on solving it as a
# mixed-integer program), each with the mover forced or free. The others are what the
# naive explorer counts, with equal outcomes merged.
@pytest.mark.parametrize(
    ("game", "states", "actions", "outcomes"),
    [
        (Piglet(10), 550, 1000, 1550),
        (Pig(20), 3_287, 6_213, 22_648),
        (TwoDicePig(12), 243, 405, 1_062),
        (HareAndTortoise(30), 1_800, 3_600, 12_690),
        (SuperSix(7), 112, 168, 308),
        (SuperSix(40), 8_230, 12_345, 25_685),
    ],
    ids=ident,
)
def test_counts_are_pinned(game, states, actions, outcomes):
    graph = build(game, mode="interpreted")
    assert (graph.n_states, graph.n_actions, graph.n_outcomes) == (states, actions, outcomes)


@pytest.mark.needs_jit
def test_pig_100_is_pinned():
    graph = build(Pig(100))
    assert (graph.n_states, graph.n_actions, graph.n_outcomes) == (480_447, 951_093, 3_353_328)


@pytest.mark.slow
@pytest.mark.needs_jit
def test_two_dice_pig_is_pinned():
    graph = build(TwoDicePig(100))
    assert graph.n_states == 433_687


def test_buffers_grow_for_states_with_many_outcomes(mode):
    graph = build(Crowd(600), mode=mode)
    assert graph.n_actions == 2 * 600
    assert graph.n_outcomes == 600 + 600 * 601 // 2


def test_roots_come_first_and_once(mode):
    graph = build(Rooted(), mode=mode)
    assert graph.n_roots == 4
    assert graph.states[:4, 0].tolist() == [3, 9, 7, -2]
    assert graph.states[4:, 0].tolist() == [5]


def test_floats_that_are_whole_become_whole_weights(mode):
    assert build(Whole(), mode=mode).outcome_weight.dtype == np.int64


@pytest.mark.needs_jit
def test_rules_that_cannot_be_compiled_fall_back_and_say_why():
    with pytest.warns(
        CompileWarning, match=r"^uncompilable: .*interpreted.*line \d+.*loop instead of a generator"
    ) as caught:
        graph, report = build_with_report(Uncompilable(), mode="compiled")
    assert len(caught) == 1
    assert "\n" not in str(caught[0].message)
    assert report.mode == "interpreted"
    assert_describes(graph, Uncompilable())


def unmarked_helper(place):
    return place + 1


class UnmarkedHelper(Rooted):
    def outcomes(self, s, action):
        yield unmarked_helper(1), 4, s


@pytest.mark.needs_jit
def test_the_warning_names_the_remedy():
    with pytest.warns(CompileWarning, match=r"unmarked_helper.*@rollwise\.rule"):
        build(UnmarkedHelper(), mode="compiled")


def test_without_the_jit_compiled_falls_back():
    """Run in a process of its own, so that it is tested with the JIT on as well."""
    code = (
        "import warnings; warnings.simplefilter('error')\n"
        "from rollwise.builders import CompileWarning, build, build_with_report\n"
        "from rollwise.games.pig import Pig\n"
        "assert build_with_report(Pig(5))[1].mode == 'interpreted'\n"
        "try: build(Pig(5), mode='compiled')\n"
        "except CompileWarning as warning: print(warning)\n"
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


def test_build_refuses_bad_settings():
    with pytest.raises(ValueError, match="mode"):
        build(Pig(5), mode="fast")
    with pytest.raises(ValueError, match="max_states"):
        build(Pig(5), max_states=0)


def test_progress_is_reported(mode):
    stages = []
    build(Pig(30), mode=mode, progress=lambda stage, done, total: stages.append((stage, done)))
    assert stages == sorted(stages, key=lambda entry: entry[1])
    assert {stage for stage, _ in stages} <= {"compiling the rules", "exploring"}


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
        ((0, 0, 0, 0), "a state has 3 fields, and not 4"),
        ((0, 0, 0.5), r"\(0, 0, 0.5\) aren't whole numbers"),
        (named, "turn is missing"),
        ({**named, "turns": 0}, "there is no field 'turns'"),
    ):
        with pytest.raises(UnknownState, match=f"pig target=12.*{fault}.*banked"):
            graph.find(state)


def test_the_hash_tells_rules_apart():
    hashes = {build(game).content_hash for game in (Pig(12), Pig(13), Pig(12, 5), Piglet(12))}
    assert len(hashes) == 4
    assert build(Pig(12)).content_hash in hashes
