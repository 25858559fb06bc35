"""The designer's bench: parameters that are looked for, and what a change of rules does."""

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
from rollwise.analysis.tuning import Aim, tune, values_of
from rollwise.errors import EndlessPlay
from rollwise.games import find
from rollwise.games.pig import Pig, Piglet
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.super_six import SuperSix


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
