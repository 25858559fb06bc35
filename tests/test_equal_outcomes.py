"""Equal outcomes of an action are merged, alike in both builders."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from stalling_games import Turn

from rollwise import AGAIN, END, LOSE, PASS, WIN, Game, build, solve
from rollwise.analysis.lengths import lengths
from rollwise.analysis.second_aims import ranges
from rollwise.builders.expand import Action, merged
from rollwise.graph import StateGraph
from rollwise.simulate.turn_by_turn import play_turn_by_turn, random_play

ROLL, HOLD = range(2)
# Throws of a pig (Pass the Pigs) in thousandths: side without a dot, with one, and the rest.
PIG_WAYS = (349, 302, 224, 88, 30, 7)
PIG_POINTS = (0, 0, 5, 5, 10, 15)


@dataclass(frozen=True)
class TwoPigs(Game):
    """Pass the Pigs, as one writes it: a loop over what each of two pigs shows."""

    target: int = 20
    action_names: ClassVar = ("roll", "hold")

    def start(self):
        return Turn(0, 0, 0)

    def actions(self, s):
        yield ROLL
        if s.turn > 0:
            yield HOLD

    def outcomes(self, s, action):
        if action == HOLD:
            yield 1, PASS, Turn(s.rival, s.banked + s.turn, 0)
        else:
            for one in range(6):
                for other in range(6):
                    ways = PIG_WAYS[one] * PIG_WAYS[other]
                    points = PIG_POINTS[one] + PIG_POINTS[other]
                    if one == other:
                        points = 2 * points if one > 1 else 1
                    if one + other == 1:  # a side of each kind: out
                        yield ways, PASS, Turn(s.rival, s.banked, 0)
                    elif s.banked + s.turn + points >= self.target:
                        yield ways, WIN, s
                    else:
                        yield ways, AGAIN, Turn(s.banked, s.rival, s.turn + points)


@dataclass(frozen=True)
class CountedPigs(TwoPigs):
    """The same rules, with equal throws counted by hand."""

    name: ClassVar = "two-pigs"

    def outcomes(self, s, action):
        ways: Counter[Any] = Counter()
        for weight, then, after in super().outcomes(s, action):
            ways[then, after] += weight
        for (then, after), weight in ways.items():
            yield weight, then, after


def distinct(graph: StateGraph) -> bool:
    """Whether no action of a graph has two equal outcomes."""
    action = np.repeat(np.arange(graph.n_actions), np.diff(graph.outcome_indptr))
    ways = np.stack([action, graph.outcome_state, graph.outcome_passes, graph.outcome_payoff])
    return len(np.unique(ways, axis=1).T) == graph.n_outcomes


def test_equal_outcomes_are_one_whose_weight_is_their_sum(mode):
    graph = build(TwoPigs(), mode=mode)
    assert distinct(graph)
    rolls = graph.action_label == ROLL
    total = np.add.reduceat(graph.outcome_weight, graph.outcome_indptr[:-1])
    assert set(total[rolls].tolist()) == {1000**2}
    assert graph.outcome_weight.dtype == np.int64
    assert graph.n_outcomes < 10 * graph.n_actions
    assert graph.content_hash == build(CountedPigs(), mode="interpreted").content_hash


@dataclass(frozen=True)
class ManyTenths(Game):
    """Ten thousand ways of weight 0.1, whose sum in doubles isn't their sum."""

    players: ClassVar = 1

    def start(self):
        return Turn(0, 0, 0)

    def actions(self, s):
        yield ROLL

    def outcomes(self, s, action):
        if s.turn == 1:
            yield 1, WIN, s
        else:
            for _k in range(10_000):
                yield 0.1, AGAIN, Turn(0, 0, 1)
            yield 1000.0, LOSE, s


def test_weights_are_not_merged_where_their_sum_is_rounded(mode):
    found = solve(ManyTenths(), mode=mode)
    ways = 10_000 * Fraction(0.1)
    exact = (ways - 1000) / (ways + 1000)
    assert abs(Fraction(found.value) - exact) <= found.error_bound


class Spot(NamedTuple):
    x: int


outcomes = st.lists(
    st.tuples(
        st.integers(1, 9), st.sampled_from([AGAIN, PASS, WIN, END]), st.integers(0, 3).map(Spot)
    ),
    min_size=1,
    max_size=12,
)


@given(outcomes)
def test_merging_keeps_what_can_come_and_how_often(found):
    ways = [(weight, then, s if then <= PASS else None) for weight, then, s in found]
    action = merged(Action(0, 0.0, *map(list, zip(*ways, strict=True))))
    expected: Counter[Any] = Counter()
    for weight, then, s in ways:
        expected[then, s] += weight
    assert list(zip(action.thens, action.next_states, strict=True)) == list(expected)
    assert list(action.weights) == list(expected.values())


@dataclass(frozen=True)
class TwiceTheSame(Game):
    """A coin, and then a move that wins in two ways."""

    players: ClassVar = 1

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield ROLL

    def outcomes(self, s, action):
        if s.x == 0:
            yield 1, AGAIN, Spot(1)
            yield 1, LOSE, s
        else:
            yield 1, WIN, s
            yield 2, WIN, Spot(2)


def test_a_roll_has_different_outcomes():
    """Whether or not a graph has its equal outcomes merged: so large and small games agree."""
    answer = solve(TwiceTheSame(), mode="interpreted")
    assert not distinct(answer.graph)
    assert lengths(answer.graph, answer.policy).mean == 1
    (rolls,) = ranges(answer, ["rolls"])
    assert (rolls.least, rolls.most) == (1, 1)
    random = random_play(TwiceTheSame(), np.random.default_rng(1))
    assert set(play_turn_by_turn(TwiceTheSame(), random, 5, 1).lengths.tolist()) == {1}
