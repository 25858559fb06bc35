"""How long games can last: against naive sweeps, closed forms and the distribution of lengths."""

from __future__ import annotations

import json
import math

import pytest
from cli_runner import output, refusal
from stalling_games import Luck, PassablePig
from throwing import Runners

import rollwise
from rollwise.analysis.length_range import AIMS, length_range
from rollwise.builders import build
from rollwise.games.craps import Craps
from rollwise.games.pig import Pig, Piglet
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
