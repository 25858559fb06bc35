"""Head starts: what they are worth, and which of them make a game even."""

from __future__ import annotations

import pytest

import rollwise
from rollwise.analysis.handicap import handicap
from rollwise.answer.references import Policies
from rollwise.games.pig import Pig


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
    assert found.heads[1].first is None  # nobody ever banks a single point
    assert found.heads[1].mean is None
    off = [abs(h.mean.value - 0.5) for h in found.heads if h.mean is not None]
    assert abs(found.nearest("mean").mean.value - 0.5) == min(off)
    assert found.nearest("mean").points == 6
    assert not found.is_within("mean")
    even = handicap(pig, "banked", [0, 2, 4])
    assert even.is_within("mean")
    assert even.nearest("mean").points == 0
