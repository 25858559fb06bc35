"""Head starts: what they are worth, and which of them make a game even."""

from __future__ import annotations

import pytest

import rollwise
from rollwise.analysis.handicap import handicap
from rollwise.answer.references import Policies
from rollwise.games.pig import Pig, Turn
from rollwise.games.red_light import RedLight


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
