"""Simultaneous choices where play may never end: endless play is a draw."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import ClassVar, NamedTuple

import naive_hidden as naive
import numpy as np
import polars as pl
import pytest
from cli_runner import output, refusal, run

import rollwise
from rollwise import AGAIN, DRAW, LOSE, PASS, WIN, Game, parameter, payoff
from rollwise.errors import EndlessPlay, RulesError
from rollwise.hidden import load, save, solve, verify
from rollwise.hidden.check import endless_positions, proves_positions
from rollwise.hidden.learning import simulate
from rollwise.hidden.stochastic import Matrices
from rollwise.page.hidden import page_of

HERE = str(Path(__file__))
seeded = partial(random.Random)  # rules that name a generator of random numbers are refused


class Place(NamedTuple):
    number: int


@dataclass(frozen=True)
class Wander(Game):
    """Simultaneous and single choices drawn at random; most of them end nothing."""

    seed: int = 0
    endless: ClassVar = "draw"

    def start(self):
        return Place(0)

    def together(self, s):
        draw = seeded(repr((self.seed, s)))
        return () if draw.random() < 0.2 else (range(draw.randint(1, 3)), range(draw.randint(1, 3)))

    def actions(self, s):
        return range(3)

    def outcomes(self, s, action):
        draw = seeded(repr((self.seed, action, s)))
        moves, ends = draw.choice(((1, 0), (1, 0), (2, 0), (0, 1), (0, 1), (1, 1), (2, 1)))
        for _ in range(moves):
            yield draw.randint(1, 3), draw.choice((AGAIN, PASS)), Place(draw.randint(0, 3))
        for _ in range(ends):
            yield draw.randint(1, 2), draw.choice((WIN, LOSE, DRAW, payoff(3), payoff(-2))), s


class Score(NamedTuple):
    mine: int
    theirs: int


class Rps(Game):
    """Rock, paper, scissors to some points; ties are played again."""

    endless = "draw"
    action_names = ("rock", "paper", "scissors")
    target: int = parameter(3)
    stake: int = parameter(1)  # of a game that the mover wins by rock

    def start(self):
        return Score(0, 0)

    def together(self, s):
        return (0, 1, 2), (0, 1, 2)

    def outcomes(self, s, both):
        ahead = (both[0] - both[1]) % 3
        if ahead == 0:
            yield 1, AGAIN, s
        elif ahead == 1:
            after = s._replace(mine=s.mine + 1)
            won = payoff(self.stake) if both[0] == 0 else WIN
            yield 1, AGAIN if after.mine < self.target else won, after
        else:
            after = s._replace(theirs=s.theirs + 1)
            yield 1, AGAIN if after.theirs < self.target else LOSE, after

    @rollwise.policy
    def stubborn(self, s, side):
        """Always rock."""
        return 0


class Duel(Game):
    """The one who shoots first mostly loses, so both wait; who waits may change."""

    endless = "draw"
    action_names = ("wait", "shoot")

    def start(self):
        return Place(0)

    def together(self, s):
        return (0, 1), (0, 1)

    def outcomes(self, s, both):
        if both == (0, 0):
            yield 1, AGAIN, Place(1)
            yield 1, PASS, Place(2)
            yield 1, AGAIN, Place(0)
        elif both == (1, 1):
            yield 1, DRAW, s
        else:
            yield 1 + both[1], WIN, s
            yield 1 + both[0], LOSE, s


class Walk(Game):
    """Five steps to a throw with the value 1/2; a wait, listed first, is as good in the matrix."""

    endless = "draw"
    action_names = ("wait", "walk")

    def start(self):
        return Place(0)

    def together(self, s):
        return (0, 1), (0, 1)

    def outcomes(self, s, both):
        if both[0] == 0:
            yield 1, AGAIN, s
        elif s.number < 5:
            yield 1, AGAIN, Place(s.number + 1)
        else:
            yield 3 + both[1], WIN, s
            yield 1, LOSE, s


class Approach(Game):
    """The game [[again, 1], [1, 0]] (Everett 1957): any chance below 1 can be made sure."""

    endless = "draw"

    def start(self):
        return Place(0)

    def together(self, s):
        return (0, 1), (0, 1)

    def outcomes(self, s, both):
        yield 1, {(0, 0): AGAIN, (1, 1): DRAW}.get(both, WIN), s


class Delay(Game):
    """A gamble for 3 after which, in one case of three, the other player takes 3.

    It is worth 1. In a game of n moves it would be worth 2 at the last one, when no answer counts.
    """

    endless = "draw"

    def start(self):
        return Place(0)

    def actions(self, s):
        return (0, 1)

    def outcomes(self, s, action):
        if s.number == 1:
            yield 1, payoff(3), s
        elif action == 0:
            yield 1, AGAIN, s
        else:
            yield 1, PASS, Place(1)
            yield 2, payoff(3), s

    def together(self, s):
        return () if s.number == 0 else ((0,), (0,))


class Tug(Rps):
    """A tug of war along a rope; rock pulls two steps."""

    length: int = parameter(50)

    def outcomes(self, s, both):
        ahead = (both[0] - both[1]) % 3
        place = s.mine + (0, 2 if both[0] == 0 else 1, -1)[ahead]
        if abs(place) >= self.length:
            yield 1, WIN if place > 0 else LOSE, s
        else:
            yield 1, AGAIN, Score(place, 0)


def payoffs_of_responses(game, answer, responder):
    """The first player's payoff against each pure stationary response, by linear equations.

    A node is a position with a player as its mover; the strategy of the other player is fixed.
    """
    plan, positions = answer.plan, answer.positions
    nodes = [(place, mover) for place in range(len(positions.states)) for mover in (0, 1)]
    parts = []  # of each node, for each of the responder's actions: leads to nodes, and its payoff
    for place, mover in nodes:
        menus = positions.menus[place]
        sizes = [len(menu) for menu in menus] + [1] * (2 - len(menus))
        mixtures = [
            plan.rows[plan.first_row[place] : plan.first_row[place + 1]],
            plan.columns[plan.first_column[place] : plan.first_column[place + 1]],
        ]
        side = mover ^ responder  # of the responder
        rows = []
        for own in range(sizes[side]):
            leads, paid = np.zeros(len(nodes)), 0.0
            for other, share in enumerate(mixtures[1 - side]):
                row, column = (own, other) if side == 0 else (other, own)
                choice = int(positions.first_choice[place]) + row * sizes[1] + column
                outcomes = positions.outcomes(choice)
                total = sum(weight for weight, *_ in outcomes)
                for weight, points, target, turn in outcomes:
                    if target < 0:
                        paid += share * weight / total * float(points) * (1 - 2 * mover)
                    else:
                        leads[nodes.index((target, mover ^ turn))] += share * weight / total
            rows.append((leads, paid))
        parts.append(rows)
    chosen = np.array(list(product(*(range(len(rows)) for rows in parts))))
    pick = range(len(nodes))
    leads = np.stack([np.array([r[0] for r in parts[k]])[chosen[:, k]] for k in pick], axis=1)
    paid = np.stack([np.array([r[1] for r in parts[k]])[chosen[:, k]] for k in pick], axis=1)
    # a tiny chance of a draw in each move: where play never ends, the equations have a solution
    equations = np.eye(len(nodes)) - (1 - 1e-11) * leads
    return np.linalg.solve(equations, paid[..., None])[:, 0, 0]


@pytest.mark.parametrize("seed", range(100))
def test_no_response_to_the_strategies_of_random_games_gets_beyond_the_bounds(seed):
    answer = solve(Wander(seed))
    room = 1e-7 * (1 + answer.error_bound)
    against_first = payoffs_of_responses(Wander(seed), answer, 1)
    against_second = payoffs_of_responses(Wander(seed), answer, 0)
    assert answer.low - room <= against_first.min()
    assert against_second.max() <= answer.high + room
    assert answer.error_bound < 1e-4


def test_points_against_points_are_even_and_stubbornness_costs_all():
    answer = solve(Rps())
    assert abs(answer.value) <= answer.error_bound < 1e-12
    assert answer.evaluate(("stubborn", "stubborn")) == (0, 0)
    for seat in (0, 1):
        worth, bound = answer.best_response("stubborn", seat)
        assert worth == pytest.approx(1, abs=1e-12 + bound)
    found = simulate(answer.with_policies(("stubborn", "stubborn")), 20, 1)
    assert (found.mean, found.endless) == (0, 20)
    assert simulate(answer, 20, 1).endless == 0


@pytest.mark.parametrize("stake", [2, 5])
def test_a_tie_is_worth_the_game_itself(stake):
    answer, tie = solve(Rps(target=1, stake=stake)), 0.0
    for _ in range(60):
        rows = [[tie, -1, stake], [1, tie, -1], [-1, 1, tie]]
        tie = naive.value_of(np.array(rows, float))
    assert answer.value == pytest.approx(tie, abs=1e-8)
    assert answer.error_bound < 1e-12


def test_waiting_for_ever_is_worth_nothing():
    answer = solve(Duel())
    assert (answer.low, answer.high) == (0, 0)
    assert simulate(answer, 5, 1) == (0, 0, 5)
    assert answer.best_response("random", 0)[0] > 0.1


def test_a_wait_that_is_as_good_at_each_step_is_not_chosen_for_ever():
    answer = solve(Walk())
    assert answer.value == pytest.approx(0.5, abs=1e-13)
    assert answer.error_bound < 1e-13
    assert answer.plan.rows.reshape(-1, 2)[:, 1].tolist() == [1] * 6
    # the same values are no proof for strategies that wait
    plan, game = answer.plan, Matrices.of(answer.positions)
    rows = np.tile([1.0, 0.0], 6)
    endless = endless_positions(answer.positions)
    waits = replace(plan, lows=np.full(6, 0.5 - 1e-9), highs=np.full(6, 0.5 + 1e-9), rows=rows)
    waits.rows[-2:] = plan.rows[-2:]
    assert not proves_positions(waits.arrays, game.arrays, endless)
    assert proves_positions(waits.arrays, game.arrays, np.zeros(6, bool))


def test_a_value_that_can_only_be_approached_has_wide_bounds():
    answer = solve(Approach())
    assert 1e-9 < answer.error_bound < 1e-4
    assert answer.low < 1 <= answer.high


def test_values_of_finite_games_are_no_values():
    assert naive.stochastic_value(Delay(), 9) == pytest.approx(2)
    answer = solve(Delay())
    assert answer.value == pytest.approx(1, abs=1e-12)
    assert answer.error_bound < 1e-12


def test_a_long_tug_of_war_is_proved():
    answer = solve(Tug())
    assert answer.value == pytest.approx(0.999906722042, abs=1e-11)
    assert answer.error_bound < 1e-10


@pytest.mark.parametrize("game", [Rps(), Duel(), Walk(), Approach()], ids=lambda game: game.name)
def test_saved_bounds_are_proved_and_shifted_ones_are_not(game, tmp_path):
    place, answer = tmp_path / "answer.parquet", solve(game)
    save(answer, place)
    assert verify(place, game).verified
    assert (load(place, game).low, load(place, game).high) == (answer.low, answer.high)
    frame = pl.read_parquet(place)
    facts = json.loads(pl.read_parquet_metadata(place)["rollwise"])
    shift = 2 * answer.error_bound or 1e-12
    for sign in (1, -1):
        moved = frame.with_columns(pl.col("low", "high") + sign * shift)
        bounds = {"low": str(answer.low + sign * shift), "high": str(answer.high + sign * shift)}
        moved.write_parquet(place, metadata={"rollwise": json.dumps(facts | bounds)})
        assert "don't prove" in verify(place, game).fault


class Paid(Rps):
    """A tie has a reward."""

    def reward(self, s, both):
        return int(both[0] == both[1])


class PaidOnce(Rps):
    """Each won point has a reward."""

    def reward(self, s, both):
        return (both[0] - both[1] + 1) % 3 - 1


class Lost(Rps):
    """Who would lose?"""

    endless = "lose"


class Forbidden(Rps):
    """Nothing is said of ties."""

    endless = "forbidden"


def test_refusals_name_the_remedy():
    for game, error, says in (
        (Paid(), EndlessPlay, "has the reward 1, and the players can repeat it for ever"),
        (Forbidden(), EndlessPlay, 'from mine=0, theirs=0; say endless = "draw"'),
        (Lost(), RulesError, "endless is 'lose'.*'forbidden' or 'draw'.*count the rounds"),
    ):
        with pytest.raises(error, match=says):
            solve(game)
    assert abs(solve(PaidOnce()).value) < 1e-12
    assert 'say endless = "draw"' in run("check", f"{HERE}:Forbidden").stdout


def test_commands_say_that_endless_play_is_a_draw(tmp_path):
    assert "ok  endless play: the players can go on for ever from 9 positions" in output(
        "check", f"{HERE}:Rps"
    )
    shown = output("simulate", f"{HERE}:Rps", "--policy", "stubborn", "--games", "9", "--seed", "1")
    assert "9 games would never end: endless play is a draw" in shown
    assert "a draw is half a win" in output("solve", f"{HERE}:Rps")
    assert "count the rounds" in refusal("export", f"{HERE}:Rps", "--to", "efg")


class Alone(Game):
    """The mover waits or wins; the other player can only look on."""

    endless = "draw"

    def start(self):
        return Place(0)

    def actions(self, s):
        return (0, 1)

    def together(self, s):
        return ()

    def outcomes(self, s, action):
        yield 1, (AGAIN, WIN)[action], s

    @rollwise.policy
    def lazy(self, s, side):
        """Wait."""
        return 0


@pytest.mark.slow
def test_a_page_ends_a_game_that_the_opponent_never_ends(tmp_path, browser):
    place = tmp_path / "alone.html"
    place.write_text(page_of(solve(Alone()), []))
    browser.visit(place)
    browser.js("document.querySelector('.setup select').value = '1'")
    browser.js("document.querySelectorAll('.setup input[type=radio]')[1].click()")
    browser.click(".start")
    assert "draw" in browser.js("document.querySelector('#table .result').textContent").lower()
    assert "endless play is a draw" in browser.js("document.querySelector('.news').textContent")
    assert browser.errors == []
