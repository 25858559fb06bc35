"""How long games can last: against naive sweeps, closed forms and the distribution of lengths."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple
from unittest import mock

import numpy as np
import pytest
from cli_runner import output
from hypothesis import given, settings
from hypothesis import strategies as st
from throwing import Runners

import rollwise
from rollwise import AGAIN, PASS, WIN, Game, parameter
from rollwise.analysis.chain import Chain
from rollwise.analysis.length_range import AIMS, length_range, length_range_by_layer
from rollwise.answer.certified import solve_and_certify
from rollwise.answer.layer_lengths import LayerLengths
from rollwise.answer.references import first_chosen, together
from rollwise.builders import build
from rollwise.builders.by_layer import find_layers
from rollwise.derive.seats import take_seats
from rollwise.documents.design import length_document
from rollwise.games.craps import Craps
from rollwise.games.pig import Pig, Piglet
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes

GAMES = [
    Piglet(target=3),
    Pig(target=6),
    SuperSix(sticks=4),
    Threes(dice=2),
    Runners(length=2),
    Craps(),
]


def swept(game, aim, root):
    """Expected moves by sweeps over all states and both seats, until nothing changes."""
    view = build(game).view
    want = {"shortest": (min, min), "longest": (max, max), "first": (max, min)}[aim]
    moves = {state.index: (0.0, 0.0) for state in view}
    while True:
        change = 0.0
        for state in reversed(list(view)):
            both = []
            for seat in (0, 1):
                worth = []
                for action in state.actions:
                    total = 0.0 if action.is_throw else 1.0
                    for outcome in action.outcomes:
                        if outcome.next_state is not None:
                            other = seat ^ outcome.passes
                            total += outcome.chance * moves[outcome.next_state.index][other]
                    worth.append(total)
                both.append(want[seat](worth))
            change = max(
                change, *(abs(a - b) for a, b in zip(both, moves[state.index], strict=True))
            )
            moves[state.index] = tuple(both)
        if change < 1e-13:
            return moves[0][root]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_lengths_are_those_of_a_naive_twin(game):
    found = length_range(game)
    two = game.players == 2
    assert [length.aim for length in found.lengths] == [a for a in AIMS if two or AIMS[a][1]]
    twins = {"shortest": ("shortest", 0), "longest": ("longest", 0)}
    if two:
        twins |= {"first stretches": ("first", 0), "first hurries": ("first", 1)}
    for aim, (name, root) in twins.items():
        mean = found.of(aim).moves.mean
        assert mean.value == pytest.approx(swept(game, name, root), abs=1e-9)
        assert mean.bound < 1e-9
    means = [found.of(aim).moves.mean.value for aim in AIMS if two or AIMS[aim][1]]
    assert found.of("shortest").moves.mean.value <= min(means) + 1e-9
    assert found.of("longest").moves.mean.value >= max(means) - 1e-9


@pytest.mark.parametrize("game", [RoyalUr(pieces=1), RoyalUr(pieces=2), Runners(length=3)], ids=str)
def test_lengths_by_layers_are_those_of_the_whole(game, monkeypatch):
    monkeypatch.setattr("rollwise.engine.search.WORTH_HALVING", 5_000)
    whole, by_layer = length_range(game), length_range_by_layer(game)
    assert [length.aim for length in by_layer.lengths] == ["shortest", "longest"]
    for length in by_layer.lengths:
        moves, others = length.moves, whole.of(length.aim).moves
        assert abs(moves.mean.value - others.mean.value) <= moves.mean.bound + others.mean.bound
        assert moves.mean.bound < 1e-9
        assert moves.variance.value == pytest.approx(others.variance.value, abs=1e-6)
        assert moves.variance.bound < 1e-5 + 1e-9 * moves.variance.value


@functools.cache
def certified(game, longest):
    """The certified length of a game that fits into one graph."""
    return length_range(game).of("longest" if longest else "shortest").bracket


BRACKETED = [RoyalUr(pieces=1), Runners(length=3)]


@settings(deadline=None)
@given(
    game=st.sampled_from(BRACKETED),
    longest=st.booleans(),
    looks=st.integers(0, 40),
    first=st.integers(1, 4),
)
def test_brackets_of_unsettled_lengths_hold(game, longest, looks, first):
    """Whenever the search ends, what is proved encloses the length that is certified."""
    left = iter(range(looks))
    with mock.patch("rollwise.answer.layer_lengths.FIRST_SWEEPS", first):
        layers = find_layers(game)
        found = LayerLengths(layers, longest, is_asked=lambda: next(left, None) is None)
        found.run()
    low, high = found.bracket(layers.start)
    right = certified(game, longest)
    assert 0 < low <= right.high
    assert high >= right.low
    if not found.n_unsettled:
        assert high - low < 1e-9


class Run(NamedTuple):
    heads: int


@dataclass(frozen=True)
class Heads(Game):
    """Throw a coin until it shows so many heads in a row, or stop it at tails."""

    target: int = 3

    def start(self):
        return Run(0)

    def throws(self, s):
        yield 1, 0
        yield 1, 1

    def actions(self, s, throw):
        yield 0
        if throw == 0:
            yield 1

    def outcomes(self, s, throw, action):
        if action == 1 or (throw == 1 and s.heads + 1 == self.target):
            yield 1, WIN, s
        else:
            yield 1, PASS, Run(s.heads + 1 if throw == 1 else 0)

    def progress(self, s):
        return 0


@pytest.mark.parametrize("target", [1, 3, 20, 40])
def test_a_run_of_heads_is_awaited(target):
    """It takes 2^(n + 1) - 2 throws (Feller): up to two million million, with 40 positions."""
    found = length_range_by_layer(Heads(target))
    low, high = found.of("longest").bracket
    expected = 2.0 ** (target + 1) - 2
    assert low <= expected <= high
    assert high - low < 1e-13 * expected**2 + 1e-12
    low, high = found.of("shortest").bracket
    assert low <= 2.0 - 2.0 ** (1 - target) <= high
    assert high - low < 1e-12


@pytest.mark.parametrize("target", [1, 3, 7])
def test_piglet_for_ever(target):
    """Who never holds waits for so many heads in a row (Feller, volume I, section XIII.7)."""
    longest = length_range(Piglet(target=target)).of("longest").moves
    run, miss = 2.0**-target, 0.5
    assert longest.mean.value == pytest.approx((1 - run) / (miss * run), abs=longest.mean.bound)
    variance = 1 / (miss * run) ** 2 - (2 * target + 1) / (miss * run) - 0.5 / miss**2
    assert abs(longest.variance.value - variance) <= longest.variance.bound + 1e-9
    assert longest.deviation.value == pytest.approx(math.sqrt(variance), rel=1e-6)


@pytest.mark.parametrize(
    "game", [Pig(target=8), Craps(), Runners(length=2)], ids=lambda game: game.name
)
def test_the_spread_is_that_of_the_distribution(game):
    """The chain of optimal play, followed forward move by move."""
    solution = rollwise.solve(game)
    policies = rollwise.answer.references.Policies.of(solution)
    played = rollwise.derive.seats.take_seats(policies.graph, [policies.find("optimal")], [0])
    view = played.graph.view
    now, mean, second, moves = {0: 1.0}, 0.0, 0.0, 0
    while sum(now.values()) > 1e-15:
        later, done = {}, 0.0
        moves += 1
        waiting = dict(now)
        while waiting:
            number, mass = waiting.popitem()
            (action,) = view[number].actions
            for outcome in action.outcomes:
                share = mass * outcome.chance
                if outcome.next_state is None:
                    done += share
                elif action.is_throw:
                    target = outcome.next_state.index
                    waiting[target] = waiting.get(target, 0.0) + share
                else:
                    target = outcome.next_state.index
                    later[target] = later.get(target, 0.0) + share
        mean, second = mean + moves * done, second + moves**2 * done
        now = later
    found = length_range(solution).of("policy").moves
    assert found.mean.value == pytest.approx(mean, abs=1e-9)
    assert found.variance.value == pytest.approx(second - mean**2, abs=1e-7)
    assert found.variance.bound < 1e-8


@pytest.mark.parametrize("policy", ["optimal", "random"])
def test_the_spread_of_a_score(policy):
    """Of a random one too, whose actions bring different points."""
    solution = rollwise.solve(Threes(dice=3))
    score = length_range(solution, policy).score
    exact = rollwise.distribution(solution, policy)
    assert abs(score.mean.value - exact.mean) <= score.mean.bound + exact.mean_bound
    assert abs(score.deviation.value - exact.sd) <= score.deviation.bound + exact.sd_bound


class Stairs(NamedTuple):
    at: int
    room: int


@dataclass(frozen=True)
class SlowStairs(Game):
    """Stay nearly always; climb by one or two, or go back to the bottom instead of one."""

    stay: int = 1_000_000

    def start(self):
        return Stairs(0, 0)

    def throws(self, s):
        yield self.stay, 0
        yield 1, 1
        yield 1, 2

    def actions(self, s, throw):
        yield 0
        if throw == 1:
            yield 1

    def outcomes(self, s, throw, action):
        if throw == 0:
            yield 1, PASS, Stairs(s.at, 1 - s.room)
        elif action == 1:
            yield 1, AGAIN, Stairs(0, s.room)
        elif s.at + throw >= 30:
            yield 1, WIN, s
        else:
            yield 1, PASS, Stairs(s.at + throw, s.room)

    def progress(self, s):
        return 0


@pytest.mark.parametrize("longest", [False, True])
def test_a_policy_that_hardly_changes_a_sweep_is_improved(longest):
    """Each policy is far from the next, though one sweep moves no length by more than a move."""
    game = SlowStairs(stay=100_000)
    layers = find_layers(game)
    found = LayerLengths(layers, longest)
    found.run()
    whole = length_range(game).of("longest" if longest else "shortest").bracket
    low, high = found.bracket(layers.start)
    assert not found.n_unsettled
    assert low <= whole.high
    assert high >= whole.low
    assert high - low < 1e-4 * high


class Trip(NamedTuple):
    left: int


@dataclass(frozen=True)
class Detour(Game):
    """Two more moves for sure, or one or three by chance: equally long on average."""

    players: ClassVar = 1
    late: int = parameter(1, at_least=1)

    def start(self):
        return Trip(0)

    def actions(self, s):
        yield 0
        if s.left == 0:
            yield 1

    def outcomes(self, s, action):
        if s.left:
            yield 1, (WIN if s.left == 1 else AGAIN), Trip(s.left - 1)
        elif action == 0:
            yield 1, AGAIN, Trip(2)
        else:
            yield self.late, AGAIN, Trip(1)
            yield 1, AGAIN, Trip(3)


def test_ties_behind_a_standard_deviation_are_told():
    found = length_range(Detour())
    for aim in ("shortest", "longest"):
        spread = found.of(aim).moves
        assert (spread.mean.value, spread.ties) == (pytest.approx(3.0), (1, 4 - 1))
    assert length_range(Detour(late=2)).of("shortest").ties is None
    told = "".join(str(block) for block in length_document(found).blocks())
    assert told.count("another choice may have another standard deviation") == 1
    assert "2 of these aims: in 1 of the states that play comes to" in told


@dataclass(frozen=True)
class Countdown(Game):
    """Two players count down, each by one of two names for the same number."""

    def start(self):
        return Trip(2)

    def actions(self, s):
        yield from (0, 1)

    def outcomes(self, s, action):
        yield 1, (PASS if s.left else WIN), Trip(s.left - 1)


def test_opposed_players_have_ties_too():
    found = length_range(Countdown())
    assert found.of("first hurries").ties == found.of("first stretches").ties == (3, 3)


def test_by_layers_ties_are_not_counted_and_the_text_says_so():
    document = json.loads(output("length", "royal-ur", "pieces=1", "--by-layer", "--json"))
    assert all("equally_good" not in one for one in document["lengths"])
    assert "where several actions are equally good for an aim" in output(
        "length", "royal-ur", "pieces=1", "--by-layer"
    )


def test_errors_on_the_way_add_up_to_no_more_than_is_claimed():
    """By the worst error of a point, or as points where a move without points has an error."""
    chain = together(take_seats(build(Piglet(target=3)), [None], [0]).graph, "longest")
    found, certificate, _ = solve_and_certify(chain)
    mean = float(found.values[0] + certificate.bounds[0])
    best = first_chosen(chain, found.values, certificate.bounds)
    moves = Chain.of(chain, best)
    n = moves.graph.n_states
    off = np.random.default_rng(1).uniform(0.0, 1e-12, n)
    added, sure = moves.expected(off)
    (claimed, *_) = moves.added_up(off, np.full(n, mean))
    assert added[0] - sure[0] <= claimed <= 1e-12 * mean * 1.01
    free = moves.graph.with_arrays(action_reward=np.where(np.arange(len(off)) % 2, 0.0, 1.0))
    (claimed, *_) = replace(moves, graph=free).added_up(off, np.full(n, mean))
    assert claimed == pytest.approx(added[0], rel=1e-9)
