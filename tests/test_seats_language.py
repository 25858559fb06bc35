"""`skip`, `PASS_BACK` and `payoffs`: what rules for several players say besides PASS and WIN."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rollwise
from rollwise import (
    Game,
    game,
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


class Spot(NamedTuple):
    place: int


# ---- two players


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


def test_kernels_know_the_same_codes():
    """They are written twice, since kernels import no rules."""
    assert state_tables.GOES_ON == game.GOES_ON
    assert lotteries.SKIPS == game.SKIPS
    assert lotteries.MOST_PAYOFF == game.MOST_PAYOFF
