"""How long games can last: against naive sweeps, closed forms and the distribution of lengths."""

from __future__ import annotations

import functools
import json
import math
import os
import signal
import time
from dataclasses import dataclass
from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest
from cli_runner import output, refusal, run
from hypothesis import given, settings
from hypothesis import strategies as st
from little_games import RandomTable
from stalling_games import Luck, PassablePig
from throwing import Runners

import rollwise
from rollwise import AGAIN, PASS, WIN, Game
from rollwise.analysis.length_range import AIMS, length_range, length_range_by_layer
from rollwise.answer.certified import solve_and_certify
from rollwise.answer.lasting import together
from rollwise.answer.layer_lengths import LayerLengths
from rollwise.answer.references import Policies
from rollwise.builders import build
from rollwise.builders.by_layer import find_layers
from rollwise.errors import EndlessPlay, UsageError
from rollwise.games.craps import Craps
from rollwise.games.pig import Pig, Piglet
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.machine.interrupts import Clock
from rollwise.many.seats import build_seats, seen_from
from rollwise.simulate import simulate

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


def moments(policies, name):
    """Mean and variance of the moves by a policy, from the linear systems of its chain."""
    played = rollwise.derive.seats.take_seats(policies.graph, [policies.find(name)], [0])
    view = played.graph.view
    n = len(view)
    chain, moves = np.zeros((n, n)), np.zeros(n)
    for state in view:
        (action,) = state.actions
        moves[state.index] = 0.0 if action.is_throw else 1.0
        for outcome in action.outcomes:
            if outcome.next_state is not None:
                chain[state.index, outcome.next_state.index] += outcome.chance
    mean = np.linalg.solve(np.eye(n) - chain, moves)
    second = np.linalg.solve(np.eye(n) - chain, moves * (moves + 2 * chain @ mean))
    return mean[0], second[0] - mean[0] ** 2


def test_three_players_who_all_want_the_same():
    """Whose turn it is matters to no length: points banked by anybody bring the end nearer."""
    seats = build_seats(Pig(6))
    one = together(seen_from(seats, 0, [None, None]), "longest")
    two, three = length_range(Pig(6)), length_range(Pig(6, players=3), "hold-at-20")
    longest = two.of("longest").moves.mean.value
    assert solve_and_certify(one).found.values[0] == pytest.approx(longest, abs=1e-12)
    assert [length.aim for length in three.lengths] == ["shortest", "policy", "longest"]
    assert three.words(three.of("longest")) == "all want it long"
    shortest = [found.of("shortest").moves.mean.value for found in (two, three)]
    assert shortest[0] == pytest.approx(shortest[1], abs=1e-12)  # all roll, whoever they are
    assert three.of("longest").moves.mean.value > longest + 0.5


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 7),
    choices=st.integers(1, 4),
    loops=st.sampled_from([0.0, 0.5, 0.9]),
)
def test_random_games_last_as_long_as_their_twins(seed, size, choices, loops):
    game = RandomTable(seed=seed, size=size, choices=choices, loops=loops)
    policies = Policies.of(game)
    found = length_range(policies)
    twins = {
        "shortest": ("shortest", 0),
        "longest": ("longest", 0),
        "first stretches": ("first", 0),
        "first hurries": ("first", 1),
    }
    for aim, (name, root) in twins.items():
        mean = found.of(aim).moves.mean
        assert abs(mean.value - swept(game, name, root)) <= mean.bound + 1e-9
        assert mean.bound < 1e-9
    for aim, name in {"shortest": "shortest", "longest": "longest", "policy": "optimal"}.items():
        mean, variance = moments(policies, name)
        moves = found.of(aim).moves
        assert abs(moves.mean.value - mean) <= moves.mean.bound + 1e-9
        assert abs(moves.variance.value - variance) <= moves.variance.bound + 1e-8 * (1 + variance)
        assert moves.variance.bound < 1e-7


class Step(NamedTuple):
    place: int
    home: int


@dataclass(frozen=True)
class RandomThrows(Game):
    """A throw, then a choice of random tables: every action can lead on, and none leads back.

    The layers are `width` places each.
    """

    seed: int = 0
    layers: int = 3
    width: int = 5

    def __post_init__(self):
        super().__post_init__()
        random = np.random.default_rng(self.seed)
        shape = (self.layers, self.width, 3, 3, 2)
        object.__setattr__(self, "weight", random.integers(1, 9, shape))
        object.__setattr__(self, "target", random.integers(0, self.width, shape))
        object.__setattr__(self, "onward", random.random(shape) < 0.2)
        object.__setattr__(self, "then", random.integers(0, 2, shape))

    def start(self):
        return Step(0, 0)

    def throws(self, s):
        yield 3, 0
        yield 2, 1
        yield 1, 2

    def actions(self, s, throw):
        for action in range(3 if throw > 0 else 1):
            yield action

    def outcomes(self, s, throw, action):
        for k in range(2):
            weight = self.weight[s.home, s.place, throw, action, k]
            target = self.target[s.home, s.place, throw, action, k]
            if self.onward[s.home, s.place, throw, action, k] or (throw == 0 and k == 0):
                if s.home + 1 == self.layers:
                    yield weight, WIN, s
                else:
                    yield weight, PASS, Step(target, s.home + 1)
            elif self.then[s.home, s.place, throw, action, k] == 1:
                yield weight, PASS, Step(target, s.home)
            else:
                yield weight, AGAIN, Step(target, s.home)

    def progress(self, s):
        return s.home


@pytest.mark.parametrize(
    "game",
    [RoyalUr(pieces=1), RoyalUr(pieces=2), Runners(length=3), *map(RandomThrows, range(3))],
    ids=str,
)
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


@pytest.mark.parametrize("seed", range(3))
def test_variances_by_layers_are_proved(seed):
    game = RandomThrows(seed)
    policies = Policies.of(game)
    found = length_range_by_layer(game)
    for aim in ("shortest", "longest"):
        mean, variance = moments(policies, aim)
        moves = found.of(aim).moves
        assert abs(moves.mean.value - mean) <= moves.mean.bound + 1e-9
        assert abs(moves.variance.value - variance) <= moves.variance.bound + 1e-8


@pytest.mark.parametrize("wrong", [1e-6, 0.3])
def test_bounds_of_wrong_lengths_hold(wrong, monkeypatch):
    """Lengths that are off are given up, or their bounds are as wide as they need."""
    find = LayerLengths._find

    def spoiled(self, search, is_over):
        found, n = find(self, search, is_over), search.layer.n
        search.found[:n] *= 1.0 - wrong * (np.arange(n) % 2)
        return found

    monkeypatch.setattr(LayerLengths, "_find", spoiled)
    right = length_range(RoyalUr(pieces=1)).of("longest").moves
    found = length_range_by_layer(RoyalUr(pieces=1)).of("longest")
    assert found.bracket.low <= right.mean.value + right.mean.bound
    assert found.bracket.high >= right.mean.value - right.mean.bound
    if found.moves is not None:
        far = abs(found.moves.mean.value - right.mean.value)
        assert far <= found.moves.mean.bound + right.mean.bound
        assert found.moves.mean.bound > 0.1 * wrong
        far = abs(found.moves.variance.value - right.variance.value)
        assert far <= found.moves.variance.bound + right.variance.bound


def test_one_sweep_proves_a_share():
    """Bounds v (1 - r) and v (1 + r) hold as soon as a sweep changes no length by more than r."""
    layers = find_layers(RoyalUr(pieces=2))
    found = LayerLengths(layers, longest=True)
    found.run()
    assert 0 < found.below < 1e-11
    assert 0 < found.above < 1e-11
    (mean, off), (_, far) = found.spread(layers.start)
    assert off <= max(found.below, found.above) * mean + 1e-13
    low, high = found.bracket(layers.start)
    assert low < mean < high
    assert 0 < far < 1e-6


@functools.cache
def certified(game, longest):
    """The certified length of a game that fits into one graph."""
    return length_range(game).of("longest" if longest else "shortest").bracket


BRACKETED = [RoyalUr(pieces=1), *map(RandomThrows, range(4))]


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


def test_brackets_become_narrow():
    """Newton's steps that there is no time for are what is left to find."""
    layers, widths = find_layers(RoyalUr(pieces=2)), []
    for looks in (0, 10_000):
        left = iter(range(looks))
        found = LayerLengths(layers, True, is_asked=lambda left=left: next(left, None) is None)
        found.run()
        low, high = found.bracket(layers.start)
        assert low <= 70.1657058088 + 1e-10
        assert high >= 70.1657058088 - 1e-10
        widths.append(high - low)
    assert 1 < widths[0] < math.inf
    assert widths[1] < 1e-9


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


class Stagger(Heads):
    """A tail is a step back, where heads have to be ahead by so many."""

    def outcomes(self, s, throw, action):
        if action == 1 or (throw == 1 and s.heads + 1 == self.target):
            yield 1, WIN, s
        else:
            yield 1, PASS, Run(s.heads + 1 if throw == 1 else max(s.heads - 1, 0))


def test_a_step_may_take_hundreds_of_iterations():
    """A walk takes n (n + 1) throws (Feller). Its residual comes no closer for long, then does."""
    longest = length_range_by_layer(Stagger(1000)).of("longest")
    low, high = longest.bracket
    assert low <= 1000 * 1001 <= high < (1 + 1e-7) * low
    assert longest.moves is not None


def test_lengths_beyond_what_doubles_can_prove():
    """A sweep rounds by more than a move: so no upper bound follows."""
    longest = length_range_by_layer(Heads(60)).of("longest")
    assert longest.moves is None
    low, high = longest.bracket
    assert 1e14 < low < 2.0**61 - 2
    assert high == math.inf


def test_later_layers_without_an_upper_bound():
    """Earlier layers count from the lower bounds, and have no upper ones either."""
    game = RoyalUr(pieces=2)
    layers = find_layers(game)
    right = length_range(game).of("longest").bracket
    with mock.patch("rollwise.answer.layer_lengths._Claims.above", return_value=math.inf):
        found = LayerLengths(layers, longest=True)
        found.run()
    assert found.below == 0.0
    low, high = found.bracket(layers.start)
    assert right.low - 1e-9 < low <= right.high
    assert high == math.inf


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


def test_the_spread_of_a_score():
    solution = rollwise.solve(Threes(dice=3))
    score = length_range(solution).score
    assert abs(score.mean.value - solution.value) <= score.mean.bound + solution.error_bound
    exact = rollwise.distribution(solution)
    assert abs(score.deviation.value - exact.sd) <= score.deviation.bound + exact.sd_bound


def test_simulated_games_are_as_long():
    solution = rollwise.solve(SuperSix(sticks=10))
    found = length_range(solution).of("policy").moves
    games = 20_000
    played = simulate(solution, "optimal", games=games, seed=3, exact=False).sides[0].moves
    error = found.deviation.value / math.sqrt(games)
    assert abs(played.estimate.mean - found.mean.value) < 5 * error


@pytest.mark.parametrize("name", ["shortest", "longest"])
@pytest.mark.parametrize("game", [Piglet(target=4), RoyalUr(pieces=1), Threes(dice=2)], ids=str)
def test_games_by_the_policies_that_were_found_are_as_long(game, name):
    solution = rollwise.solve(game)
    moves = length_range(solution).of(name).moves
    games = 4_000
    played = simulate(solution, name, games=games, seed=11, exact=False).sides[0].moves
    error = moves.deviation.value / math.sqrt(games)
    assert abs(played.estimate.mean - moves.mean.value) <= 4 * error + 1e-12


@pytest.mark.parametrize("game", [RoyalUr(pieces=2), RandomThrows(1)], ids=str)
def test_games_by_layers_are_as_long(game):
    found = length_range_by_layer(game, games=4_000, seed=5)
    for length in found.lengths:
        moves, played = length.moves, length.played
        assert played.games == 4_000
        error = moves.deviation.value / math.sqrt(played.games)
        assert abs(played.mean - moves.mean.value) <= 4 * error
        assert played.standard_error == pytest.approx(error, rel=0.2)


def test_a_name_of_the_rules_comes_first():
    class Owned(Piglet):
        @rollwise.policy
        def longest(self, s):
            return 0

    policies = Policies.of(Owned(target=3))
    assert not np.array_equal(
        policies.find("longest").probability,
        Policies.of(Piglet(target=3)).find("longest").probability,
    )


def test_a_policy_of_ones_own():
    found = length_range(Pig(target=20), "hold-at-20")
    assert found.policy == "hold-at-20"
    # who never holds below the target is as fast as can be
    assert found.of("policy").moves.mean.value == pytest.approx(
        found.of("shortest").moves.mean.value, abs=1e-9
    )


@pytest.mark.parametrize("game", [Luck(), PassablePig(target=6)], ids=lambda game: game.name)
def test_play_that_need_not_end(game):
    found = length_range(game)
    longest = found.of("longest")
    assert longest.moves is None
    assert "for ever" in longest.endless
    assert found.of("shortest").moves.mean.value >= 1.0
    for length in found.lengths:
        assert (length.moves is None) == bool(length.endless)
        assert length.moves is None or length.moves.mean.bound < 1e-9


class Turn(NamedTuple):
    place: int


@dataclass(frozen=True)
class Sitting(Game):
    """Who throws a 1 may take it or leave it, for ever."""

    def start(self):
        return Turn(0)

    def throws(self, s):
        yield 1, 1
        yield 2, 2

    def actions(self, s, throw):
        yield 0
        if throw == 1:
            yield 1

    def outcomes(self, s, throw, action):
        if action == 1:
            yield 1, WIN, s
        else:
            yield 1, PASS, s

    def progress(self, s):
        return 0


def test_players_who_can_sit_for_ever_in_a_layer():
    found = length_range_by_layer(Sitting())
    assert "go round for ever" in found.of("longest").endless
    assert found.of("longest").moves is None
    shortest = found.of("shortest").moves
    assert shortest.mean.value == pytest.approx(3.0, abs=1e-12)  # a 1 in three throws
    assert shortest.variance.value == pytest.approx(6.0, abs=1e-10)
    with pytest.raises(EndlessPlay, match="'longest'"):
        Policies.of(Sitting()).find("longest")


def test_time_ends_the_search():
    found = length_range_by_layer(RoyalUr(pieces=1), time_limit=1e-9)
    assert found.timed_out
    assert not found.stopped
    for length in found.lengths:
        right = certified(RoyalUr(pieces=1), length.aim == "longest")
        assert length.moves is None
        assert not length.endless
        assert 1 < length.bracket.low <= right.high
        assert length.bracket.high >= right.low
    assert not length_range_by_layer(RoyalUr(pieces=1), time_limit=600).timed_out
    with pytest.raises(UsageError, match="more than 0"):
        length_range_by_layer(RoyalUr(pieces=1), time_limit=0)


def test_endless_play_is_named_though_time_is_over():
    found = length_range_by_layer(Sitting(), time_limit=1e-9)
    assert "go round for ever" in found.of("longest").endless
    assert found.of("longest").bracket is None
    low, high = found.of("shortest").bracket
    assert low <= 3.0 <= high


def test_one_interrupt_ends_the_search():
    asked = []

    def ask(stage, done, total):
        if stage.startswith("solving layer") and not asked:
            asked.append(done)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.5)  # until the main thread has heard it

    found = length_range_by_layer(RoyalUr(pieces=2), progress=ask)
    assert asked
    assert found.stopped
    assert not found.timed_out
    low, high = found.of("longest").bracket
    assert low <= 70.1657058088 + 1e-10
    assert high >= 70.1657058088 - 1e-10


def test_games_of_unsettled_lengths_are_played():
    found = length_range_by_layer(RoyalUr(pieces=1), games=20, seed=1, time_limit=1e-9)
    played = found.of("longest").played
    assert played.games == 20
    assert played.mean >= 4
    # actions that aren't known to be the shortest may go round for ever
    assert found.of("shortest").played is None


def test_the_command_says_what_is_proved_when_time_is_over():
    command = ("length", "royal-ur", "pieces=1", "--by-layer", "--time-limit")
    done = run(*command, "1e-9")
    assert done.returncode == 1
    assert "both want it long   17.06" in done.stdout
    assert " to 17.06" in done.stdout
    assert done.stdout.endswith("all figures are certified\n")
    assert "time ended the search: lengths haven't settled where both want" in done.stderr
    done = run(*command, "1e-9", "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert document["timed_out"]
    for length in document["lengths"]:
        assert length["low"] < length["high"]
        assert length["mean"] is None
    document = json.loads(output(*command, "600", "--json"))
    assert not document["timed_out"]
    for length in document["lengths"]:
        assert length["low"] <= length["mean"]["value"] <= length["high"]
    assert "goes with --by-layer" in refusal("length", "piglet", "--time-limit", "5")
    assert "must be more than 0" in refusal(*command, "0")


def test_a_layer_whose_share_of_the_time_is_up_is_timed_out(monkeypatch):
    monkeypatch.setattr("rollwise.answer.layer_lengths.Clock", lambda limit: Clock(limit and 1e-9))
    found = length_range_by_layer(RoyalUr(pieces=1), time_limit=600)
    assert found.timed_out
    assert found.of("longest").unsettled is not None
    monkeypatch.undo()
    assert not length_range_by_layer(RoyalUr(pieces=1), time_limit=600).timed_out


def test_no_upper_bound_is_printed_as_such(monkeypatch):
    monkeypatch.setattr("rollwise.answer.layer_lengths._Claims.above", lambda *given: math.inf)
    done = run("length", "royal-ur", "pieces=1", "--by-layer")
    assert done.returncode == 1
    assert "both want it long   at least 17.06" in done.stdout
    assert "rollwise: lengths haven't settled where" in done.stderr
    done = run("length", "royal-ur", "pieces=1", "--by-layer", "--json")
    assert json.loads(done.stdout)["lengths"][1]["high"] is None


def test_the_command_by_layers():
    said = output("length", "royal-ur", "pieces=2", "--by-layer")
    assert "both want it long    70.165705808800 ±" in said
    drawn = output("length", "royal-ur", "pieces=1", "--by-layer", "--games", "100", "--seed", "2")
    assert "played: 100 games of each, seed 2" in drawn
    document = json.loads(output("length", "royal-ur", "pieces=1", "--by-layer", "--json"))
    assert document["policy"] is None
    assert [length["aim"] for length in document["lengths"]] == ["shortest", "longest"]
    assert document["lengths"][1]["standard_deviation"]["error_bound"] < 1e-6


def test_the_command():
    said = output("length", "piglet", "target=3")
    assert "14.00000000000000 ± " in said
    assert "who begins wants it long, the other short" in said
    document = json.loads(output("length", "craps", "--json"))
    assert [length["aim"] for length in document["lengths"]] == ["shortest", "policy", "longest"]
    mean = document["lengths"][0]["mean"]
    assert mean["value"] == pytest.approx(557 / 165, abs=1e-12)  # as published of craps
    assert mean["error_bound"] < 1e-12
    assert document["lengths"][0]["endless"] == ""


@pytest.mark.needs_jit
def test_layers_without_throws_have_the_same_lengths():
    whole, found = length_range(Pig(target=8)), length_range_by_layer(Pig(target=8))
    for aim in ("shortest", "longest"):
        for number in ("mean", "variance"):
            one, other = (getattr(lengths.of(aim).moves, number) for lengths in (whole, found))
            assert abs(one.value - other.value) <= one.bound + other.bound


def test_what_is_refused():
    assert "no policy" in refusal("length", "pig", "target=8", "--policy", "nobody")
    assert "pool of dice" in refusal("length", "yahtzee", "boxes=2", "--by-layer")
    follows = refusal("length", "royal-ur", "--by-layer", "--policy", "random")
    assert "--policy goes without --by-layer" in follows
    assert "--games goes with --by-layer" in refusal("length", "piglet", "--games", "5")
    seeds = refusal("length", "royal-ur", "pieces=1", "--by-layer", "--seed", "5")
    assert "--seed goes with --games" in seeds
