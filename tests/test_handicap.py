"""Head starts: what they are worth, and which of them make a game even."""

from __future__ import annotations

import json

import numpy as np
import pytest
from cli_runner import output
from hypothesis import given, settings
from hypothesis import strategies as st
from little_games import RandomTable

import rollwise
from rollwise.analysis.difference import difference
from rollwise.analysis.handicap import handicap
from rollwise.analysis.tuning import Aim, tune, values_of
from rollwise.answer.references import Policies
from rollwise.errors import EndlessPlay
from rollwise.games import find
from rollwise.games.pig import Pig, Piglet, Turn
from rollwise.games.red_light import RedLight
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.super_six import SuperSix


@pytest.fixture(scope="module")
def pig():
    return Policies.of(rollwise.solve(Pig(target=20)))


def test_a_head_start_is_worth_what_its_position_is(pig):
    found = handicap(pig, "banked", [0, 2, 3, 5], "hold-at-20", "optimal")
    every = rollwise.evaluate(pig, "hold-at-20", "optimal")
    for head in found.heads:
        mine = pig.graph.find([head.points, 0, 0])
        theirs = pig.graph.find([0, head.points, 0])
        assert head.first.value == pytest.approx(every.win_probability[mine], abs=1e-12)
        assert head.second.value == pytest.approx(every.win_probability_second[theirs], abs=1e-12)
        assert head.mean.value == (head.first.value + head.second.value) / 2
        assert max(head.first.bound, head.second.bound, head.mean.bound) < 1e-9
    assert (found.field, found.other, found.even) == ("banked", "rival", 0.5)


def test_the_nearest_to_even(pig):
    found = handicap(pig, "banked", [0, 1, 2, 3, 4, 5, 6], "random", "optimal")
    assert found.apart == (1,)  # nobody ever banks a single point
    off = [abs(h.mean.value - 0.5) for h in found.heads]
    assert abs(found.nearest("mean").mean.value - 0.5) == min(off)
    assert found.nearest("mean").points == 6
    assert not found.is_within("mean")
    even = handicap(pig, "banked", [0, 2, 4])
    assert even.is_within("mean")
    assert even.nearest("mean").points == 0


def test_a_start_that_no_play_reaches_is_solved_too():
    class Ahead(Pig):
        def start(self):
            return Turn(1, (0,), 0)

    class Behind(Pig):
        def start(self):
            return Turn(0, (1,), 0)

    (head,) = handicap(Pig(target=12), "banked", [1]).heads
    ahead, behind = (rollwise.solve(game(12)).win_probability for game in (Ahead, Behind))
    assert head.first.value == pytest.approx(ahead, abs=1e-12)
    assert head.second.value == pytest.approx(1 - behind, abs=1e-12)


def test_komi_is_the_head_start_of_the_second_player():
    for komi, head in enumerate(handicap(RedLight(target=8, komi=0), "banked", range(3)).heads):
        first = rollwise.solve(RedLight(target=8, komi=komi)).win_probability
        assert head.second.value == pytest.approx(1 - first, abs=1e-12)


# ---- the designer's bench: parameters that are looked for, and what a change of rules does


def tuned(game, vary, aim):
    values = dict(values_of(text) for text in vary)
    return tune(find(game), {}, values, Aim.read(aim), rollwise.solve)


def test_every_point_is_what_solve_says():
    found = tuned("pig", ["target=8..14..3", "sides=4,6"], "first_player = 0.55")
    assert [dict(point.parameters) for point in found.points] == [
        {"target": target, "sides": sides} for target in ("8", "11", "14") for sides in ("4", "6")
    ]
    for point in found.points:
        solution = rollwise.solve(Pig(**{k: int(v) for k, v in point.parameters.items()}))
        assert point.amount == (1 + solution.value) / 2
        assert point.error_bound >= solution.error_bounds[0] / 2
    off = [abs(point.amount - 0.55) for point in found.points]
    assert found.best is found.points[int(np.argmin(off))]


def test_a_goal_out_of_reach_says_so():
    said = output("tune", "piglet", "--vary", "target=2..4", "--for", "first_player=0.9")
    assert "no game of these has first_player = 90 %: all are below it" in said
    assert "nearest to 90 %: target=" in said
    document = json.loads(
        output("tune", "piglet", "--vary", "target=2..4", "--for", "value = 9", "--json")
    )
    assert document["reached"] is False


# ---- what a change does


def by_hand(old, new):
    """States with a choice in both in which nothing that was best is best, by their names."""
    found = set()
    places = {tuple(row): s for s, row in enumerate(old.graph.rows.tolist())}
    for s, row in enumerate(new.graph.rows.tolist()):
        t = places.get(tuple(row))
        if t is None:
            continue
        here, there = new.graph.view[s], old.graph.view[t]
        if min(len(here.labels), len(there.labels)) < 2:
            continue
        was = {a.label for a in there.actions if old.is_best[a.index]}
        now = {a.label for a in here.actions if new.is_best[a.index]}
        if not was & now and there.actions[0].graph is old.graph:
            first = next(a.label for a in there.actions if old.policy.probability[a.index])
            if first in here.labels:
                found.add(s)
    return found


PAIRS = [
    (Pig(target=60), Pig(target=60, sides=8)),
    (Pig(target=40), Piglet(target=12)),
    (SuperSix(sticks=9), SuperSix(sticks=9, may_stop=2)),
    (RoyalUr(pieces=1), RoyalUr(pieces=1, path="masters")),
    (ShutTheBox(tiles=5), ShutTheBox(tiles=5, one_die="never")),
]


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_the_states_in_which_what_is_best_changes(one, two):
    old, new = rollwise.solve(one), rollwise.solve(two)
    found = difference(old, new)
    assert set(found.changed.tolist()) == by_hand(old, new)
    assert np.all(found.costs[: found.in_play] > 0)
    assert np.all(np.diff(found.costs[: found.in_play]) <= 0)
    total = np.add.reduceat(found.carried.probability, new.graph.action_indptr[:-1])
    assert np.allclose(total, 1)


@given(st.integers(0, 10_000))
@settings(max_examples=10)
def test_what_goes_on_as_before_loses_is_never_less_than_nothing(seed):
    try:
        old, new = (rollwise.solve(RandomTable(seed=s)) for s in (seed, seed + 1))
    except EndlessPlay:
        return
    if old.graph.objective != new.graph.objective or old.graph.players != new.graph.players:
        return
    found = difference(old, new)
    assert found.loss.loss >= -found.loss.error_bound
