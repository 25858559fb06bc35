"""Replicates of learning: each is a learner by itself, and the same wherever it learns."""

from __future__ import annotations

import csv
import io
import json
import math
import statistics

import numpy as np
import pytest
from cli_runner import output, refusal

from rollwise.analysis import replicates as figures
from rollwise.analysis.learn_seats import learn_seats
from rollwise.analysis.learning import Reference, play_and_assess
from rollwise.analysis.replicates import (
    Replicates,
    learn_replicates,
    learn_seats_replicates,
    spread,
)
from rollwise.answer.solution import Solution
from rollwise.builders import build
from rollwise.cluster.pool import Here
from rollwise.cluster.processes import Processes
from rollwise.errors import UsageError
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.pig import Pig
from rollwise.games.threes import Threes
from rollwise.learn import Learner
from rollwise.many.seats import build_seats

GAME = DiceBlackjack(sides=3, low=6, high=7)
WORDS = ("learn", "dice-blackjack", "sides=3", "low=6", "high=7")
NUMBERS = ("--games", "300", "--seed", "5", "--replicates", "3")


@pytest.fixture(scope="module")
def solution() -> Solution:
    return Solution.of_graph(build(GAME))


def same(one: Replicates, other: Replicates) -> bool:
    return (one.seed, one.games, one.each) == (other.seed, other.games, other.each)


def test_each_replicate_is_a_learner_by_itself(solution: Solution) -> None:
    """By its seed alone the same learner is had; what is said of it is what `learn` says."""
    found = learn_replicates(solution, 400, 3, seed=7, explore=20, checkpoints=2)
    assert found.games == (200, 400)
    assert len({one.seed for one in found.each}) == 3
    reference = Reference.of(solution)
    for one in found.each:
        learner = Learner(solution.graph, explore=20, seed=one.seed)
        for point, alone in zip(
            one.points, play_and_assess(learner, 400, 2, reference), strict=True
        ):
            assert point.games == alone.learned.games
            assert point.figures[figures.LOSS] == alone.loss
            assert point.figures[figures.ERROR] == alone.weighted_error
            assert point.figures[figures.OPTIMAL] == alone.optimal_share
            assert point.figures[figures.START] == alone.learned.estimates[0]
            assert point.bound == alone.loss_bound


def test_more_replicates_begin_with_the_same_ones(solution: Solution) -> None:
    few, more = (learn_replicates(solution, 100, n, seed=1) for n in (2, 4))
    assert more.each[:2] == few.each


def test_means_and_standard_errors() -> None:
    numbers = [0.25, 0.5, 1.5, 0.75]
    found = spread(numbers)
    assert found.mean == pytest.approx(statistics.mean(numbers))
    assert found.standard_error == pytest.approx(statistics.stdev(numbers) / math.sqrt(4))
    assert (found.least, found.most) == (0.25, 1.5)


def test_processes_learn_what_this_one_learns(solution: Solution) -> None:
    """In games for two, for one, and for three or more."""
    threes = Solution.of_graph(build(Threes(dice=2)), Threes(dice=2))
    seats = build_seats(Pig(players=3, target=3))
    with Processes(2) as pool:
        for asked in (solution, threes):
            here, there = (
                learn_replicates(asked, 200, 3, seed=2, pool=who) for who in (None, pool)
            )
            assert same(here, there)
            assert here.solution is asked
        here, there = (
            learn_seats_replicates(seats, 200, 3, seed=2, pool=who) for who in (None, pool)
        )
        assert same(here, there)


def test_three_or_more_players() -> None:
    graph = build_seats(Pig(players=3, target=4))
    found = learn_seats_replicates(graph, 60, 2, seed=3)
    for one in found.each:
        alone = learn_seats(graph, 60, seed=one.seed)
        point = one.points[0].figures
        assert point[figures.GAIN] == max(alone.gains)
        assert [point[f"best_{k}"] for k in (1, 2, 3)] == list(alone.response.best)
        assert sum(point[f"seat_{k}"] for k in (1, 2, 3)) == pytest.approx(1.0)


def test_ctrl_c_keeps_whole_replicates(solution: Solution) -> None:
    class Stopped(Here):
        done = 0

        def submit(self, function, *arguments):  # type: ignore[no-untyped-def]
            self.done += 1
            if self.done > 2:
                raise KeyboardInterrupt
            return super().submit(function, *arguments)

    found = learn_replicates(solution, 100, 4, seed=1, pool=Stopped())
    assert found.stopped
    assert found.each == learn_replicates(solution, 100, 2, seed=1).each
    few = Stopped()
    few.done = 1
    with pytest.raises(KeyboardInterrupt):  # one has no standard error
        learn_replicates(solution, 100, 4, seed=1, pool=few)


def test_wrong_numbers_are_refused(solution: Solution) -> None:
    for wrong in ({"replicates": 1}, {"games": 0}, {"checkpoints": 0}, {"method": "luck"}):
        with pytest.raises(UsageError):
            learn_replicates(solution, **{"games": 10, "replicates": 2, **wrong})  # type: ignore[arg-type]


def test_the_command_prints_what_python_finds(solution: Solution) -> None:
    found = learn_replicates(solution, 300, 3, seed=5)
    document = json.loads(output(*WORDS, *NUMBERS, "--json"))
    loss = document["points"][-1]["figures"]["loss"]
    assert loss == found.spreads()[figures.LOSS]._asdict()
    assert [one["seed"] for one in document["each"]] == [one.seed for one in found.each]
    assert document["exact_start"]["value"] == pytest.approx(solution.win_probability)
    rows = list(csv.DictReader(io.StringIO(output(*WORDS, *NUMBERS, "--csv"))))
    assert [int(row["seed"]) for row in rows] == [one.seed for one in found.each]
    assert [float(row["loss"]) for row in rows] == [
        one.points[-1].figures["loss"] for one in found.each
    ]
    text = output(*WORDS, *NUMBERS, "--checkpoints", "3")
    assert "3 learners, each by itself, with 300 games each" in text
    assert "Learning curve (mean ± standard error)" in text
    lines = [
        line.split()[0] for line in text.splitlines() if " ± " in line and line[0] in " 0123456789"
    ]
    assert lines == ["75", "150", "300"]


def test_a_replicate_can_be_had_again(solution: Solution) -> None:
    document = json.loads(output(*WORDS, *NUMBERS, "--json"))
    one = document["each"][1]
    asked = ("--games", "300", "--seed", str(one["seed"]), "--compare", "--json")
    alone = json.loads(output(*WORDS, *asked))
    assert alone["compare"]["loss"] == one["points"][0]["loss"]


def test_the_command_for_three_players() -> None:
    words = ("learn", "pig", "players=3", "target=3", "--games", "50", "--seed", "1")
    text = output(*words, "--replicates", "2")
    assert "seat 3, best response" in text
    assert "in an equilibrium nobody gains anything" in text
    assert "--workers goes with --replicates K" in refusal(*words, "--workers", "2")
    assert "--csv goes with --replicates K" in refusal(*words, "--csv")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--replicates 1", "replicates is 1"),
        ("--replicates 0", "--replicates is 0"),
        ("--replicates 2 --workers 0", "--workers is 0"),
        ("--replicates 2 --save x.npz", "--save is for one learner"),
        ("--replicates 2 --resume x.npz", "--resume is for one learner"),
        ("--replicates 2 --compare", "are compared anyway"),
        ("--replicates 2 --csv --json", "can't both be had"),
        ("--cluster tcp://127.0.0.1:9", "--cluster goes with --replicates"),
        ("--replicates 2 --cluster here", "tcp://10.0.0.1:8786"),
    ],
)
def test_wrong_use(options: str, said: str) -> None:
    assert said in refusal(*WORDS, "--games", "10", *options.split())


def test_workers_of_one_learner_are_threads_that_learn_side_by_side() -> None:
    """They are a part of what is asked; those of replicates aren't."""
    one, two = (
        json.loads(output(*WORDS, "--games", "9000", "--seed", "1", "--workers", n, "--json"))
        for n in ("1", "2")
    )
    assert (one["workers"], two["workers"]) == (1, 2)
    assert not np.array_equal(one["rows"], two["rows"])
    assert output(*WORDS, *NUMBERS) == output(*WORDS, *NUMBERS, "--workers", "2")
