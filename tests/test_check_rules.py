"""The exact check on the rule sheet: it proves right answers and rejects wrong ones."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import pytest
from benchmarks.attack import Attack
from benchmarks.attack_games import sheet
from little_games import RandomTable
from stakes import Gammons
from stalling_games import DrawnLuck, DrawnStages, LosingPig, PassablePig, Road, Standoff
from throwing import HighestCounted, HighestPair, SavedRolls, Served, ThrownRunners, TwoBoxes

import rollwise
from rollwise import PASS, Game, payoffs, replaced, skip, turned
from rollwise.answer.verify import claims_of as seat_claims
from rollwise.games import create, find_installed
from rollwise.proofs.check_rules import Claims, check_rules, numbers_of


def game_of(typed: str) -> Any:
    name, *parameters = typed.split()
    return create(find_installed(name), dict(part.split("=") for part in parameters))


def claims_of(solution: Any) -> Claims:
    graph, n = solution.graph, solution.graph.n_positions
    places = list(map(tuple, graph.states[:n].tolist()))
    values, bounds = solution.values[:n].tolist(), solution.error_bounds[:n].tolist()
    return Claims(
        {place: (value,) for place, value in zip(places, values, strict=True)},
        {place: (bound,) for place, bound in zip(places, bounds, strict=True)},
    )


def with_value(claims: Claims, place: Any, value: tuple[float, ...]) -> Claims:
    return Claims({**claims.values, place: value}, claims.bounds, claims.gains, claims.profile)


SMALL = [
    *map(game_of, ("piglet target=4", "threes dice=2", "craps", "bear-off checkers=2")),
    *map(game_of, ("super-six sticks=5", "super-six sticks=4 may_stop=2", "royal-ur pieces=1")),
    *map(game_of, ("cant-stop", "yahtzee boxes=1", "hare-and-tortoise steps=6")),
    *(Gammons(), Road(), DrawnLuck(), PassablePig(), LosingPig(), DrawnStages()),
    *(Standoff(), ThrownRunners(), TwoBoxes(), SavedRolls(), Served(), RandomTable(seed=3)),
]


@pytest.mark.parametrize("game", SMALL, ids=repr)
def test_right_values_are_proved_and_shifted_ones_are_not(game):
    claims = claims_of(rollwise.solve(game))
    assert check_rules(game, claims) == ""
    step = max(1, len(claims.values) // 5)
    for place in list(claims.values)[::step]:
        (value,), (bound,) = claims.values[place], claims.bounds[place]
        for shift in (-2.5 * bound - 1e-15, 2.5 * bound + 1e-15):
            assert check_rules(game, with_value(claims, place, (value + shift,)))


class Coins(NamedTuple):
    coins: tuple[int, ...]
    left: int


class Circle(Game):
    """Take a coin or leave it; the end pays by the coins."""

    players: ClassVar = 4

    def start(self) -> Coins:
        return Coins((0, 0, 0, 0), 5)

    def actions(self, s: Coins) -> Iterator[int]:
        yield 1
        yield 2

    def outcomes(self, s: Coins, action: int) -> Iterator[tuple[int, int, Coins]]:
        if s.left == 0:
            yield 1, payoffs(*[3 * x - 2 for x in s.coins]), s
            return
        coins = replaced(s.coins, 0, min(3, s.coins[0] + 1))
        yield action, skip(action), Coins(turned(coins, action), s.left - 1)
        yield 1, PASS, Coins(turned(s.coins, 1), s.left - 1)


THREE = ["pig target=4 players=3", "cant-stop players=3 columns=1", "threes dice=1 players=3"]


@pytest.mark.parametrize(
    "game", [*map(game_of, THREE), HighestPair(), HighestCounted(), Circle()], ids=repr
)
def test_a_profile_of_three_players_or_more_is_proved(game):
    claims = seat_claims(rollwise.equilibrium(game))
    assert check_rules(game, claims) == ""
    no_gain = dict.fromkeys(claims.values, (0.0,) * game.players)
    assert check_rules(game, Claims(claims.values, claims.bounds, no_gain, claims.profile))
    place = numbers_of(game, game.start())
    value, bound = claims.values[place], max(claims.bounds[place])
    moved = (value[0] + 3 * bound, value[1] - 3 * bound, *value[2:])
    assert check_rules(game, with_value(claims, place, moved))


def test_a_fixed_point_that_endless_play_does_not_reach_is_no_proof():
    """Both players can pass for ever, so many values satisfy the recursion; one is the game's."""
    game = Standoff()
    claims = claims_of(rollwise.solve(game))
    assert check_rules(game, claims) == ""
    exact = dict.fromkeys(claims.values, (0.0,))
    for value in (0.25, -0.25):
        wrong = {place: (value if place[0] % 2 else -value,) for place in claims.values}
        assert check_rules(game, Claims(wrong, exact))


def test_a_missing_position_and_a_missing_bound_are_faults():
    game = game_of("piglet target=3")
    claims = claims_of(rollwise.solve(game))
    place = numbers_of(game, game.start())
    fewer = {key: value for key, value in claims.values.items() if key != place}
    assert "no claim is made about" in check_rules(game, Claims(fewer, claims.bounds))
    vague = Claims(claims.values, {**claims.bounds, place: (float("inf"),)})
    assert "no bound is claimed for" in check_rules(game, vague)


# ---- random rule sheets against exact fractions: a sample of `python -m benchmarks.attack`


ONE = Fraction(1)
# Once refused, or proved by one proof only: a layer from which nobody ends, points that may be
# won and lost on the way, a shortest game beside a trap, seats that play for payoffs.
FOUND = (74, 258, 309, 546, 623, 981)


@pytest.mark.parametrize("seed", range(20))
def test_answers_to_random_rules_are_exact(seed, monkeypatch):
    monkeypatch.setattr(Attack, "look_at_layers", lambda attack, exact: None)
    attack = Attack(sheet(seed, 4), modes=("interpreted",))
    attack.run()
    assert not attack.faults


@pytest.mark.slow
@pytest.mark.needs_jit
@pytest.mark.parametrize("seed", FOUND)
def test_answers_by_layers_and_of_compiled_rules_are_exact(seed):
    attack = Attack(sheet(seed, 4))
    attack.run()
    assert not attack.faults


def test_a_third_action_becomes_best_beside_a_mixture_of_two():
    """The probabilities of its state once added up to more than 1."""
    attack = Attack(sheet(721602, 8))
    attack.run()
    assert (attack.outcome, attack.faults) == ("equilibrium", [])


def test_bounds_of_slow_games_of_several_seats_are_proved_on_the_rules():
    """They once held, and one step of the rules did not prove them."""
    attack = Attack(sheet(990300, 8))
    attack.run()
    assert (attack.outcome, attack.faults) == ("equilibrium", [])
