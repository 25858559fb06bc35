"""`skip`, `PASS_BACK` and `payoffs`: what rules for several players say besides PASS and WIN."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rollwise
from rollwise import (
    DRAW,
    LOSE,
    WIN,
    Game,
    game,
    parameter,
    payoffs,
    shared,
    skip,
    won_by,
)
from rollwise.errors import RulesError
from rollwise.game import (
    MOST_SKIPPED,
    bits_of,
    is_over,
    payoff_of,
    round_the_table,
    seats_on,
    then_text,
)
from rollwise.kernels import lotteries, state_tables
from rollwise.numbers.shares import brought, most_payoff
from rollwise.simulate.seats import simulate_seats


class Spot(NamedTuple):
    place: int


@dataclass(frozen=True)
class RandomSeats(Game):
    """Rules that are a table of random numbers: jumps round the table, and payoffs or shares.

    Every action can end the play or lead to a higher place, so every play ends; without `loops`
    all of them do.
    """

    players: int = parameter(3, at_least=2, at_most=16)
    seed: int = 0
    size: int = 6
    choices: int = 3
    each: int = 3
    loops: float = 0.0
    pays: bool = True

    def __post_init__(self):
        super().__post_init__()
        random = np.random.default_rng(self.seed)
        shape = (self.size, self.choices, self.each)
        weight = random.integers(0, 5, shape)
        weight[:, :, 0] += 1
        onward = np.arange(self.size)[:, None, None] + random.integers(1, 3, shape)
        anywhere = random.integers(0, self.size, shape)
        target = np.where(random.random(shape) < self.loops, anywhere, onward)
        target[:, :, 0] = onward[:, :, 0]
        jumps = random.integers(-2 * self.players, 2 * self.players, shape)
        most = min(3, most_payoff(self.players))
        ends = [
            payoffs(*random.integers(-most, most + 1, self.players).tolist())
            if self.pays
            else (WIN, LOSE, DRAW)[random.integers(3)]
            for _ in range(5)
        ]
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "jump", np.vectorize(skip)(jumps))
        object.__setattr__(self, "end", np.array(ends)[random.integers(0, 5, shape)])
        object.__setattr__(self, "n_choices", random.integers(1, self.choices + 1, self.size))

    def start(self):
        return Spot(0)

    def actions(self, s):
        for action in range(self.n_choices[s.place]):
            yield action

    def outcomes(self, s, action):
        for k in range(self.each):
            target, weight = self.target[s.place, action, k], self.weight[s.place, action, k]
            if target >= self.size:
                yield weight, self.end[s.place, action, k], s
            else:
                yield weight, self.jump[s.place, action, k], Spot(target)


def naive_worth(game, s, action, values):
    """What an action brings each seat, in fractions."""
    n, total, found = game.players, 0, [Fraction(0)] * game.players
    for weight, then, after in game.outcomes(s, action):
        weight, then = int(weight), int(then)
        total += weight
        if is_over(then):
            named = {WIN: 1.0, LOSE: -1.0, DRAW: 0.0}
            ahead = brought(named.get(then, payoff_of(then)), n)
        else:
            on = seats_on(then, n)
            ahead = values[after][n - on :] + values[after][: n - on]
        found = [x + weight * y for x, y in zip(found, ahead, strict=True)] if weight else found
    return [x / total for x in found]


def backwards(game, chooses=max):
    """All values of a game that only goes on, exactly: the first of the best actions."""
    values = {}
    for place in reversed(range(game.size)):
        s = Spot(place)
        worths = [naive_worth(game, s, int(a), values) for a in game.actions(s)]
        values[s] = chooses(worths, key=lambda worth: worth[0])
    return values


# ---- two players


@given(st.integers(0, 10**6))
def test_two_players_skip_too(seed):
    """skip(2) is AGAIN and PASS_BACK is PASS; it's the same game for two seats and for many."""
    game = RandomSeats(players=2, seed=seed, loops=0.3, pays=False)
    known, found = rollwise.solve(game), rollwise.equilibrium(game)
    assert known.graph.lotteries.passes.dtype == np.bool_
    assert (1 + known.value) / 2 == pytest.approx(found.win_probabilities[0], abs=1e-11)
    small = RandomSeats(players=2, seed=seed, pays=False)
    naive = backwards(small)[small.start()][0]
    assert (1 + rollwise.solve(small).value) / 2 == pytest.approx(float(naive), abs=1e-12)


def ends_with(seats, then):
    """A game of one move, with an end."""

    class Once(Game):
        players: ClassVar = seats
        ending: ClassVar = then

        def start(self):
            return Spot(0)

        def actions(self, s):
            yield 0

        def outcomes(self, s, action):
            yield 1, self.ending, s

    return Once()


@pytest.mark.needs_jit
@pytest.mark.parametrize("players", [1, 2])
@pytest.mark.parametrize(
    ("ending", "text"),
    [
        (won_by(1), r"won_by\(1\)"),
        (won_by(0, 1), r"won_by\(0, 1\)"),
        (won_by(2, 5), r"won_by\(2, 5\)"),
        (shared(2, 1), r"shared\(2, 1\)"),
        (shared(0, 3, 1), r"shared\(0, 3, 1\)"),
        (payoffs(3, -1, 0), r"payoffs\(3, -1, 0\)"),
    ],
)
def test_what_says_of_each_seat_is_refused_for_one_and_two(mode, players, ending, text):
    with pytest.raises(RulesError, match=f"{text} in a game .* WIN, LOSE, DRAW or payoff"):
        rollwise.build(ends_with(players, ending), mode=mode)


# ---- the numbers


@given(st.integers(-MOST_SKIPPED, MOST_SKIPPED), st.integers(2, 16))
def test_skips_go_round_the_table(seats, players):
    then = skip(seats)
    assert not is_over(then)
    assert seats_on(then, players) == seats % players
    assert round_the_table(then, players) == skip(seats % players)
    names = {0: "AGAIN", 1: "PASS", -1: "PASS_BACK"}
    assert then_text(then) == names.get(seats, f"skip({seats})")


@given(st.data(), st.integers(2, 16))
def test_payoffs_are_read_as_they_were_written(data, players):
    most = most_payoff(players)
    numbers = data.draw(st.lists(st.integers(-most, most), min_size=players, max_size=players))
    then = payoffs(*numbers)
    assert is_over(then)
    assert brought(payoff_of(then), players) == tuple(numbers)
    assert brought(payoff_of(then), players % 16 + 1) == ()
    assert bits_of(payoff_of(then)) == then
    assert then_text(then) == f"payoffs({', '.join(map(str, numbers))})"


# ---- what people look at


def test_simulated_payoffs_are_the_exact_ones():
    game = RandomSeats(players=4, seed=5, loops=0.3)
    found = rollwise.equilibrium(game)
    played = simulate_seats(found.graph, [found.policy], games=4000, seed=2)
    for rate, error, exact in zip(
        played.win_rates, played.standard_errors, found.payoffs, strict=True
    ):
        assert abs(rate - exact) < 5 * error + 1e-9


def test_kernels_know_the_same_codes():
    """They are written twice, since kernels import no rules."""
    assert state_tables.GOES_ON == game.GOES_ON
    assert lotteries.SKIPS == game.SKIPS
    assert lotteries.MOST_PAYOFF == game.MOST_PAYOFF
