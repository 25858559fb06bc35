"""What people look at in games of three or more: pictures, reports, ties, other equilibria."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import refusal, run

import rollwise
from rollwise.answer.evaluation import evaluate_seats
from rollwise.answer.references import Policies
from rollwise.errors import UsageError
from rollwise.game import PASS, Game, shared_by
from rollwise.games import create, find
from rollwise.games.pig import Pig
from rollwise.graph.policies import Policy
from rollwise.kernels.ties import check_ties
from rollwise.many.seats import table_of

EXAMPLES = Path(__file__).parent.parent / "examples"
WHO_STOPS = f"{EXAMPLES}/who_stops.py:WhoStops"
KING_MAKER, STANDOFF = f"{EXAMPLES}/king_maker.py:KingMaker", f"{EXAMPLES}/standoff.py:Standoff"


@pytest.fixture(scope="module")
def pig():
    return rollwise.solve(Pig(14, 3, players=3))


# ---- ties


def test_the_range_over_all_ties():
    found = rollwise.equilibrium(create(find(KING_MAKER), {}))
    ties = found.ties
    assert (ties.positions, ties.mattering, ties.largest) == (1, 1, 1.0)
    walked = 9 / 16  # nobody has won when the third is asked
    assert ties.lowest == pytest.approx((1 / 4, 3 / 16, 0), abs=1e-14)
    assert ties.highest == pytest.approx((1 / 4 + walked, 3 / 16 + walked, 0), abs=1e-14)
    assert "seat 1 25.0000 % to 81.2500 %" in ties.text(payoffs=False)
    assert ties.matters


class Points(NamedTuple):
    step: int
    first: int  # points of the first two players
    second: int


@dataclass(frozen=True)
class Favour(Game):
    """Two throw for a point, a third gives one away; then those with the most may share, or not."""

    players: ClassVar = 3
    action_names: ClassVar = ("to the first", "to the second")

    def start(self) -> Points:
        return Points(0, 0, 0)

    def actions(self, s: Points) -> Iterator[int]:
        yield 0
        if s.step == 2:
            yield 1

    def outcomes(self, s: Points, action: int) -> Iterator[tuple[int, int, Points]]:
        if s.step < 2:
            yield 1, PASS, Points(s.step + 1, s.first + (s.step == 0), s.second + (s.step == 1))
            yield 2, PASS, Points(s.step + 1, s.first, s.second)
        else:
            first, second = s.first + (action == 0), s.second + (action == 1)
            yield 3, shared_by((0, first >= second, second >= first)), s
            yield 1, PASS, Points(0, 0, 0)


def test_ties_by_every_way_to_break_them():
    """Each pure way to choose among what is equally good, evaluated as a chain."""
    found = rollwise.equilibrium(Favour())
    graph, ties = found.graph, found.ties
    free = [s for s in range(graph.n_states) if np.diff(graph.action_indptr)[s] > 1]
    assert ties.positions == len(free) == 4
    assert ties.matters
    shares = []
    for way in product((0, 1), repeat=len(free)):
        chance = np.zeros(graph.n_actions)
        chance[graph.action_indptr[:-1]] = 1.0
        chance[graph.action_indptr[free]] = 1.0 - np.array(way)
        chance[graph.action_indptr[free] + 1] = way
        shares.append(evaluate_seats(graph, [Policy("a way", chance)]).win_probabilities)
    assert ties.error_bound < 1e-12
    assert ties.lowest == pytest.approx(np.min(shares, axis=0), abs=1e-12)
    assert ties.highest == pytest.approx(np.max(shares, axis=0), abs=1e-12)


def test_a_range_that_is_wrong_is_not_proved():
    found = rollwise.equilibrium(Favour())
    graph = found.graph
    tied = np.repeat(np.diff(graph.action_indptr) > 1, np.diff(graph.action_indptr))
    known = table_of(graph), found.policy.probability, tied, 1.0
    assert check_ties(*known, np.stack([found.values, np.full_like(found.values, 1e-9)]))


# ---- other equilibria, and time


def standoffs():
    """The equilibria of a standoff, by its equations: how likely one stops, and the values.

    With q the chance to wait, v = q (0.9 S v + 0.1/3) + (1 - q) (0.3, 0.5, 0.2), where S hands the
    last seat's value to the mover.
    """
    shift = np.roll(np.eye(3), 1, axis=0)  # (S v)[k] = v[k - 1]
    stop = np.array([0.3, 0.5, 0.2])

    def values(q):
        return np.linalg.solve(np.eye(3) - 0.9 * q * shift, q * 0.1 / 3 + (1 - q) * stop)

    def gain(q):  # of waiting
        return 0.9 * values(q)[2] + 0.1 / 3 - 0.3

    assert gain(0) < 0 < gain(1)
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if gain(middle) < 0 else (low, middle)
    return [values(0.0), values(1.0), values(low)]


def test_all_three_equilibria_of_a_standoff():
    first = rollwise.equilibrium(create(find(STANDOFF), {}))
    known = standoffs()
    others = first.others(6, seed=1)
    assert others.components == 1
    assert others.unsettled == 0
    profiles = [first, *(other.found for other in others.others)]
    assert len(profiles) == 3
    for profile in profiles:
        assert profile.deviation_gain < 1e-12
        distances = [np.abs(profile.values[0] - values).max() for values in known]
        assert min(distances) < 1e-12
        known.pop(int(np.argmin(distances)))
    assert not known
    assert all(other.differing == 1 and other.first == 0 for other in others.others)
    with pytest.raises(UsageError, match="at least 1"):
        first.others(0)


def test_no_other_equilibrium_is_found(pig):
    others = pig.equilibrium.others(2, seed=5)
    assert others.others == ()
    assert others.components == 1  # that which mixes has all its supports tried
    done = run("solve", WHO_STOPS, "--set", "starts=2", "--set", "seed=7")
    assert "from 2 other starts (seed 7), and all supports of opposed decisions in 1 comp" in (
        done.stdout
    )
    assert "no other was found; this doesn't prove that there is none" in done.stdout
    assert "goes with --set starts" in refusal("solve", WHO_STOPS, "--set", "seed=7")
    assert "no option 'starts'" in refusal("solve", "pig", "target=5", "--set", "starts=2")


def test_time_ends_a_search():
    """What was found by then is proved, and says what can be gained."""
    game = Pig(14, 3, players=3)
    found = rollwise.equilibrium(game, time_limit=1e-9)
    assert found.timed_out
    assert len(found.unsettled) > 10
    assert 0.01 < found.deviation_gain < 1
    assert found.error_bound < 1e-12  # first actions everywhere, and their worth
    roll = Policies(found.graph, game).find(lambda s: 0)
    shares = evaluate_seats(found.graph, [roll]).win_probabilities
    assert found.win_probabilities == pytest.approx(shares, abs=1e-12)
    with pytest.raises(UsageError, match="more than 0"):
        rollwise.equilibrium(game, time_limit=0)
    command = ("solve", "pig", "players=3", "target=14", "sides=3", "--set", "time_limit=1e-9")
    done = run(*command)
    assert done.returncode == 1
    assert "a profile, not an equilibrium" in done.stdout
    assert "time ended the search: in " in done.stderr
    assert "as at banked=" in done.stderr
    document = json.loads(run(*command, "--json").stdout)
    assert document["timed_out"]
    assert document["unsettled_components"] >= len(document["unsettled"]) > 10
    assert not json.loads(run(*command[:-1], "time_limit=600", "--json").stdout)["timed_out"]
