"""Simulated backward induction: its draws, values and standard errors, and what it is called."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from graphs import assemble
from hypothesis import given
from hypothesis import strategies as st

import rollwise
from rollwise import RollwiseError, build
from rollwise.answer.estimates import Calibration
from rollwise.errors import UsageError
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.pig import Pig
from rollwise.games.threes import Threes
from rollwise.graph.choices import chances
from rollwise.machine.interrupts import Clock
from rollwise.methods.result import Status
from rollwise.methods.sampled import _draw as draw
from rollwise.methods.sampled import sampled
from rollwise.methods.strategy_iteration import strategy_iteration
from rollwise.then import AGAIN, DRAW, END, LOSE, PASS, WIN

kernels = pytest.mark.kernels
COLUMNS = {"standard_error", "own_error", "inherited_error"}


@st.composite
def ordered_graphs(draw):
    """Graphs in which every outcome leads to a state of a higher number, or to the end."""
    players, objective = draw(st.sampled_from([(2, "win"), (1, "maximize"), (1, "minimize")]))
    n = draw(st.integers(1, 6))
    over = [WIN, LOSE, DRAW] if objective == "win" else [END]
    points = st.just(0.0) if objective == "win" else st.integers(-8, 8).map(float)
    weights = draw(st.sampled_from([st.integers(1, 9), st.floats(0.25, 4)]))
    table = []
    for s in range(n):
        ends = st.tuples(weights, st.sampled_from(over), st.none())
        onward = [AGAIN, PASS] if players == 2 else [AGAIN]
        later = st.integers(s + 1, n - 1)
        goes = st.tuples(weights, st.sampled_from(onward), later) if s + 1 < n else ends
        ways = st.lists(st.one_of(goes, goes, ends), min_size=1, max_size=4)
        table.append(draw(st.lists(st.tuples(points, ways), min_size=1, max_size=3)))
    return assemble(table, objective=objective, players=players)


def counted(graph, samples, seed):
    return draw(graph, samples, seed, Clock(None), None)


@kernels
@given(graph=ordered_graphs(), samples=st.integers(2, 40), seed=st.integers(0, 99))
def test_values_and_errors_are_those_of_the_naive_twin(graph, samples, seed):
    found = sampled(graph, samples=samples, seed=seed)
    counts = counted(graph, samples, seed)
    values, own, whole = naive.sampled(graph, counts, samples, found.chosen)
    assert found.status is Status.ESTIMATED
    assert found.values == pytest.approx(values, abs=1e-12)
    columns = found.columns
    assert set(columns) == COLUMNS
    assert columns["own_error"] == pytest.approx(own, abs=1e-7)
    assert columns["standard_error"] == pytest.approx(whole, abs=1e-7)
    squares = columns["own_error"] ** 2 + columns["inherited_error"] ** 2
    assert columns["standard_error"] ** 2 == pytest.approx(squares, abs=1e-12)
    assert found.claimed_error == max(columns["standard_error"])
    assert not found.claim_is_bound


@pytest.mark.needs_jit
def test_draws_come_as_often_as_they_should():
    """Pearson's statistic over all entries has the mean and the spread of its distribution."""
    graph = build(DiceBlackjack(low=8, high=9, dice=3), mode="interpreted")
    samples = 20_000
    expected = samples * chances(graph)
    off = (counted(graph, samples, 3) - expected) ** 2 / expected
    degrees = int((np.diff(graph.outcome_indptr) - 1).sum())
    assert abs(off.sum() - degrees) < 4 * np.sqrt(2 * degrees)
    first, again, other = (counted(graph, samples, seed) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


OWN = [[(0.0, [(1, AGAIN, t) for t in (1, 2, 3)])], *[
    [(0.0, [(2, WIN, None), (3, LOSE, None)]), (0.0, [(1, PASS, 3), (1, AGAIN, 3)])]
    for _ in (1, 2)
], [(0.0, [(5, WIN, None), (1, LOSE, None), (1, DRAW, None)])]]  # fmt: skip
SHAPES = {
    "a solitaire game": lambda: build(Threes(dice=3)),
    "two players": lambda: build(DiceBlackjack(low=9, high=10)),
    "a chase": lambda: rollwise.solve(rollwise.Chase(Threes(dice=2))).graph,
    "by hand": lambda: assemble(OWN),
}


@pytest.mark.needs_jit
@pytest.mark.parametrize("shape", SHAPES)
def test_standard_errors_say_how_far_off_the_estimates_are(shape):
    """Over many seeds: true errors, in standard errors, spread as normal numbers do."""
    graph = SHAPES[shape]()
    truth = strategy_iteration(graph).values
    off = []
    for seed in range(60):
        found = sampled(graph, samples=4_000, seed=seed)
        uncertain = found.columns["own_error"] > 0
        error = found.values - truth
        off.append(error[uncertain] / found.columns["standard_error"][uncertain])
    pooled = np.concatenate(off)
    assert 0.85 < np.sqrt(np.mean(pooled**2)) < 1.15
    assert 0.9 < np.mean(np.abs(pooled) <= 2) < 0.99
    # and own errors alone would say too little, where errors are inherited
    start = [sampled(graph, samples=4_000, seed=seed) for seed in range(60)]
    share = [found.columns["own_error"][0] / found.columns["standard_error"][0] for found in start]
    assert max(share) < 0.999


@kernels
def test_games_without_an_order_are_refused():
    with pytest.raises(UsageError, match=r"come back to a state, such as .*turn=0"):
        sampled(build(Pig(target=8), mode="interpreted"))
    stays = assemble([[(0.0, [(1, AGAIN, 0), (1, WIN, None)])]])
    with pytest.raises(UsageError, match="come back to a state"):
        sampled(stays)
    ends = assemble([[(0.0, [(1, LOSE, None), (1, WIN, None)])]])
    for options in ({"samples": 1}, {"samples": 10**10}, {"seed": -1}, {"seed": 1.5}):
        with pytest.raises(UsageError):
            sampled(ends, **options)
    late = sampled(ends, time_limit=0.0)
    assert late.status is Status.OUT_OF_TIME
    assert np.isnan(late.values).all()


@pytest.mark.needs_jit
def test_an_estimate_is_never_called_certified():
    solution = rollwise.solve(
        Threes(dice=3), method="sampled", options={"samples": 1000, "seed": 1}
    )
    assert solution.status == "estimated"
    assert not solution.gave_up
    assert solution.estimated
    assert np.isinf(solution.error_bounds).all()
    assert "certified" not in repr(solution)
    assert "(estimated)" in repr(solution)
    truth = rollwise.solve(Threes(dice=3))
    columns = solution.run.columns
    assert np.array_equal(columns["true_value"], truth.values)
    assert np.array_equal(columns["true_bound"], truth.error_bounds)
    assert columns["true_error"] == pytest.approx(solution.values - truth.values)
    table = solution.table("to_roll > 0")
    assert table["error_bound"].is_null().all()
    assert set(COLUMNS | {"true_value", "true_error"}) < set(table.columns)
    assert len(table) == 5
    found = Calibration.of(solution)
    off = (solution.values - truth.values)[columns["own_error"] > 0]
    off = off / columns["standard_error"][columns["own_error"] > 0]
    assert found.states == len(off) == 5
    assert found.mean == pytest.approx(off.mean())
    assert found.within_two == np.mean(np.abs(off) <= 2)
    for use in (
        lambda: solution.save("x.parquet"),
        lambda: solution.plot("value"),
        lambda: solution.report(),
        lambda: solution.advise(truth.graph.states[0].tolist()),
    ):
        with pytest.raises(RollwiseError, match="of estimates by sampled"):
            use()
    assert solution.policy.name == "best by estimates"
