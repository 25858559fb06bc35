"""Head starts: what they are worth, and which of them make a game even."""

from __future__ import annotations

import json

import numpy as np
import pytest
from cli_runner import output, refusal
from stakes import Gammons

import rollwise
from rollwise.analysis.handicap import counterpart, handicap
from rollwise.answer.references import Policies
from rollwise.errors import UsageError
from rollwise.games import create, find
from rollwise.games.craps import Craps
from rollwise.games.pig import Pig
from rollwise.simulate import simulate


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


def test_without_points_it_is_the_game(pig):
    head = handicap(pig, "banked", [0]).heads[0]
    assert head.mean.value == pytest.approx(0.5, abs=1e-12)
    played = simulate(pig, "optimal", games=20_000, seed=2, exact=False).sides[0].win_rate
    low, high = played.interval_at(0.999999)
    assert low <= head.first.value <= high


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


@pytest.mark.parametrize(
    ("name", "values", "field", "other"),
    [
        ("pig", {"target": "8"}, "banked", "rival"),
        ("hog", {"target": "8", "dice": "2"}, "theirs", None),
        ("hog", {"target": "8", "dice": "2"}, "mine", "theirs"),
        ("super-six", {"sticks": "6"}, "mine", "theirs"),
        ("pig", {"target": "8"}, "turn", None),
    ],
)
def test_where_the_other_players_points_stand(name, values, field, other):
    assert counterpart(rollwise.build(create(find(name), values)), field) == other


def test_stakes_are_even_at_nothing():
    graph = rollwise.build(Gammons())
    first, second = graph.field_names[:2]
    found = handicap(Gammons(), f"{first},{second}", [int(graph.states[0, 0])])
    assert found.even == 0
    value = rollwise.solve(Gammons()).value
    assert found.heads[0].first.value == pytest.approx(value, abs=1e-9)


def test_what_has_no_head_start(pig):
    with pytest.raises(UsageError, match="a game for one"):
        handicap(Craps(), "point", [0])
    with pytest.raises(UsageError, match="which head starts"):
        handicap(pig, "banked", [])
    with pytest.raises(UsageError, match="no play comes to a position"):
        handicap(pig, "banked", [1])
    assert np.isfinite(handicap(pig, "banked", [1, 2]).nearest("first").first.value)


def test_the_command():
    said = output("handicap", "pig", "target=20", "--points", "banked=0..4..2")
    assert "nearest to even" in said
    assert "moving second, banked=" in said
    words = ("handicap", "pig", "target=20", "--points", "banked,rival=0,1,2", "--json")
    document = json.loads(output(*words))
    assert document["heads"][1] == {"points": 1, "first": None, "second": None, "mean": None}
    assert document["nearest"]["mean"] == 0


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ("banked", "isn't a range"),
        ("banked=a,b", "a head start is a whole number"),
        ("bank=0..3", "has no field 'bank'"),
        ("turn=0..3", "which field is the other player's turn?"),
        ("banked,rival,turn=0..3", "which field is the other player's"),
        ("banked=5..3", "is empty"),
    ],
)
def test_what_is_no_head_start(points, says):
    assert says in refusal("handicap", "pig", "target=10", "--points", points)
