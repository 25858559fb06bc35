"""How long games can last: against naive sweeps, closed forms and the distribution of lengths."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from cli_runner import output, refusal
from hypothesis import given, settings
from hypothesis import strategies as st
from little_games import RandomTable
from stalling_games import Luck, PassablePig
from throwing import Runners

import rollwise
from rollwise import AGAIN, PASS, WIN, Game
from rollwise.analysis.length_range import AIMS, length_range, length_range_by_layer
from rollwise.answer.packed_lengths import PackedLengths
from rollwise.answer.references import Policies
from rollwise.builders import build
from rollwise.builders.by_layer import find_layers
from rollwise.errors import EndlessPlay
from rollwise.games.craps import Craps
from rollwise.games.pig import Pig, Piglet
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
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
    monkeypatch.setattr("rollwise.answer.packed_sweeps.WORTH_HALVING", 5_000)
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
    find = PackedLengths._find

    def spoiled(self, sweeps):
        change = find(self, sweeps)
        for values in sweeps.values:
            values[: sweeps.n] *= 1.0 - wrong * (np.arange(sweeps.n) % 2)
        return change

    monkeypatch.setattr(PackedLengths, "_find", spoiled)
    right = length_range(RoyalUr(pieces=1)).of("longest").moves
    found = length_range_by_layer(RoyalUr(pieces=1)).of("longest")
    if found.moves is None:
        assert found.endless == "no bound could be proved"
    else:
        far = abs(found.moves.mean.value - right.mean.value)
        assert far <= found.moves.mean.bound + right.mean.bound
        assert found.moves.mean.bound > 0.1 * wrong
        far = abs(found.moves.variance.value - right.variance.value)
        assert far <= found.moves.variance.bound + right.variance.bound


def test_one_sweep_proves_a_share():
    """Bounds v (1 - r) and v (1 + r) hold as soon as a sweep changes no length by more than r."""
    layers = find_layers(RoyalUr(pieces=2))
    found = PackedLengths(layers, longest=True)
    found.run()
    assert 0 < found.off < 1e-11
    (_, off), (_, far) = found.spread(layers.start)
    assert off <= found.off * found.lengths[layers.start] * (1 + 1e-9)
    assert 0 < far < 1e-6


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


def test_the_command_by_layers():
    said = output("length", "royal-ur", "pieces=2", "--by-layer")
    assert "both want it long   70.165705808800 ±" in said
    drawn = output("length", "royal-ur", "pieces=1", "--by-layer", "--games", "100", "--seed", "2")
    assert "played: 100 games of each, seed 2" in drawn
    document = json.loads(output("length", "royal-ur", "pieces=1", "--by-layer", "--json"))
    assert document["policy"] is None
    assert [length["aim"] for length in document["lengths"]] == ["shortest", "longest"]
    assert document["lengths"][1]["standard_deviation"]["error_bound"] < 1e-6


def test_the_command():
    said = output("length", "piglet", "target=3")
    assert "14.0000000000000 ± " in said
    assert "who begins wants it long, the other short" in said
    document = json.loads(output("length", "craps", "--json"))
    assert [length["aim"] for length in document["lengths"]] == ["shortest", "policy", "longest"]
    mean = document["lengths"][0]["mean"]
    assert mean["value"] == pytest.approx(557 / 165, abs=1e-12)  # as published of craps
    assert mean["error_bound"] < 1e-12
    assert document["lengths"][0]["endless"] == ""


def test_what_is_refused():
    assert "one player or two" in refusal("length", "pig", "players=3", "target=3")
    assert "no policy" in refusal("length", "pig", "target=8", "--policy", "nobody")
    assert "throws(s)" in refusal("length", "super-six", "sticks=4", "--by-layer")
    follows = refusal("length", "royal-ur", "--by-layer", "--policy", "random")
    assert "--policy goes without --by-layer" in follows
    assert "--games goes with --by-layer" in refusal("length", "piglet", "--games", "5")
    seeds = refusal("length", "royal-ur", "pieces=1", "--by-layer", "--seed", "5")
    assert "--seed goes with --games" in seeds
