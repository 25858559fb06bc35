"""Bounds that bound: against exact fractions, for right values and for wrong ones."""

from __future__ import annotations

import threading
import time
from fractions import Fraction

import naive
import numpy as np
import pytest
from conftest import examples
from graphs import assemble, ending_graphs
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from rollwise import AGAIN, DRAW, LOSE, PASS, WIN, build, certify
from rollwise.answer.certified import solve_and_certify
from rollwise.engine import bounds as finding
from rollwise.engine import search
from rollwise.errors import UsageError
from rollwise.games.pig import Pig
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.graph import StateGraph
from rollwise.kernels import chances
from rollwise.methods.strategy_iteration import strategy_iteration
from rollwise.methods.value_iteration import value_iteration
from rollwise.proofs.check import check

pytestmark = pytest.mark.kernels


def exact(graph: StateGraph) -> list[Fraction]:
    smallest = graph.objective == "minimize"
    values = naive.exact_values(naive.moves_of_graph(graph), smallest=smallest)
    return [values[s] for s in range(graph.n_states)]


def assert_covers(graph: StateGraph, values: np.ndarray, truth: list[Fraction]) -> np.ndarray:
    """Each bound covers the error of its value: compared as fractions, nothing rounded."""
    bounds = certify(graph, values).bounds
    for value, bound, true in zip(values.tolist(), bounds.tolist(), truth, strict=True):
        assert bound == np.inf or abs(Fraction(value) - true) <= Fraction(bound)
    return bounds


@given(ending_graphs())
def test_solved_graphs(graph):
    values = strategy_iteration(graph).values
    bounds = assert_covers(graph, values, exact(graph))
    assert bounds.max() <= 1e-10 * max(1.0, np.abs(values).max())


NOISE = st.sampled_from([0.0, 1e-15, 1e-12, 1e-6, 0.01, 1.0, 100.0])


@given(ending_graphs(), NOISE, st.integers(0, 2**32 - 1), st.booleans())
def test_values_with_noise(graph, noise, seed, rounded):
    """However wrong the values are, the bounds cover it."""
    truth = exact(graph)
    random = np.random.default_rng(seed)
    values = np.array([float(v) for v in truth]) + noise * random.uniform(-1, 1, graph.n_states)
    bounds = assert_covers(graph, values.round(3) if rounded else values, truth)
    assert np.all(np.isfinite(bounds))  # and the proof succeeds


@given(ending_graphs(), st.integers(1, 30))
def test_values_that_stopped_early(graph, sweeps):
    """Value iteration that stops on the way: what a stopping threshold would call done."""
    twin = naive.value_iteration(
        naive.moves_of_graph(graph), sweeps, smallest=graph.objective == "minimize"
    )
    values = np.array([twin[s] for s in range(graph.n_states)])
    assert_covers(graph, values, exact(graph))


SMALLEST = 5e-324
EXTREME_WEIGHTS = st.sampled_from(
    [1, 2, 2**53 + 1, 2**61, SMALLEST, 3 * SMALLEST, 1e-310, 1e-300, 1e-16, 0.1, 1e16, 1e300]
)
EXTREME_POINTS = st.sampled_from([0.0, 1.0, -1.0, SMALLEST, -1e-310, 1e-300, 1e16, -1e300, 1e300])
EXTREME_FACTORS = st.sampled_from([0.0, 1.0, 1 + 2.0**-52, SMALLEST, 1e-160, 1e-300])


def assert_extremes_are_covered(graph: StateGraph, factor: float) -> bool:
    """Whatever is proved holds: for values of the solver, of sweeps, rounded and scaled."""
    try:
        truth = exact(graph)
    except (AssertionError, OverflowError, ValueError):
        reject()  # the naive solver didn't find a policy to begin with
    nearest = np.array([float(max(min(v, Fraction(10**300)), -Fraction(10**300))) for v in truth])
    proved = False
    with np.errstate(all="ignore"):
        found = [strategy_iteration(graph).values, value_iteration(graph, max_sweeps=200).values]
        for values in (*found, nearest, nearest * factor):
            bounds = certify(graph, values).bounds
            proved = proved or bool(np.all(np.isfinite(bounds)))
            for value, bound, true in zip(values.tolist(), bounds.tolist(), truth, strict=True):
                assert not bound < np.inf or abs(Fraction(value) - true) <= Fraction(bound)
    return proved


def test_a_weight_that_is_lost_proves_nothing():
    """Half of the smallest double is 0, and what is infinitely uncertain then is no number."""
    lost = [(5e-324, WIN, 0), (1.0, DRAW, 0)]
    graph = assemble([[(0.0, [(1.0, DRAW, 0)]), (0.0, lost)]])
    for value in (0.0, 5e-324, 1.0):
        assert certify(graph, np.array([value])).bounds[0] == np.inf


@settings(max_examples=examples(50))
@given(ending_graphs(max_states=6, weights=EXTREME_WEIGHTS, points=EXTREME_POINTS), EXTREME_FACTORS)
def test_the_smallest_and_largest_numbers(graph, factor):
    assert_extremes_are_covered(graph, factor)


@pytest.mark.parametrize("weight", [SMALLEST, 1e-310, 1e-300, 1.0, 1e300])
def test_weights_count_by_their_ratios(weight):
    """One in three, however small or large the numbers: nothing is lost to underflow."""
    table = [[(0.0, [(weight, WIN, None), (weight, LOSE, None), (weight, AGAIN, 1)])],
             [(0.0, [(weight, LOSE, None), (weight, AGAIN, 0)])]]  # fmt: skip
    graph = assemble(table)
    truth = exact(graph)
    proof = certify(graph, np.array([float(v) for v in truth]))
    assert proof.bound < 1e-14
    for method in (strategy_iteration, value_iteration):
        assert_covers(graph, method(graph).values, truth)
    closed = value_iteration(graph, sound=True)
    for low, high, true in zip(closed.lower, closed.upper, truth, strict=True):
        assert Fraction(low.item()) <= true <= Fraction(high.item())


def test_nothing_is_proved_where_small_numbers_are_flushed(monkeypatch):
    graph = build(Pig(6))
    values = strategy_iteration(graph).values
    assert certify(graph, values).bound < 1e-12
    monkeypatch.setattr(chances, "keeps_small_numbers", lambda one: False)
    assert certify(graph, values).bound == np.inf


def test_weights_that_lose_digits_prove_nothing():
    """Next to a weight of 1e300 one of 1e-20 is below what doubles can hold."""
    graph = assemble([[(0.0, [(1e300, WIN, None), (1e-20, LOSE, None)])]])
    assert certify(graph, np.ones(1)).bound == np.inf
    with pytest.raises(UsageError, match="too far apart"):
        value_iteration(graph, sound=True)


def test_whole_weights_whose_sum_is_beyond_64_bits():
    graph = assemble([[(0.0, [(2**62, WIN, None), (2**62, LOSE, None), (2**62, LOSE, None)])]])
    for value in (-1 / 3, 0.0, 1.0):
        bound = certify(graph, np.array([value])).bound
        assert abs(value + 1 / 3) <= bound
    closed = value_iteration(graph, sound=True)
    assert closed.lower[0] <= -1 / 3 <= closed.upper[0] < 0


def test_near_ties():
    """Two actions a hair apart: whichever was taken, the bound is that hair."""
    hair = 2**40
    table = [
        [
            (0.0, [(hair, WIN, None), (hair, LOSE, None)]),
            (0.0, [(hair + 1, WIN, None), (hair - 1, LOSE, None)]),
        ],
        [(0.0, [(1, PASS, 0), (1, AGAIN, 1)]), (0.0, [(1, LOSE, None), (1, AGAIN, 1)])],
    ]
    graph = assemble(table)
    truth = exact(graph)
    assert truth[0] == Fraction(1, hair)
    assert_covers(graph, strategy_iteration(graph).values, truth)
    bounds = assert_covers(graph, np.zeros(2), [truth[0], truth[1]])
    assert bounds[0] < 2e-12
    same = [[(0.0, [(1, WIN, None), (2, LOSE, None)]), (0.0, [(2, WIN, None), (4, LOSE, None)])]]
    graph = assemble(same)
    assert_covers(graph, strategy_iteration(graph).values, [Fraction(-1, 3)])


def test_rounding_that_piles_up():
    """Many large weights, the wins first: their sum in doubles is far off."""
    random = np.random.default_rng(0)
    weights = random.integers(2**46, 2**47, 60_000).tolist()
    outcomes = [(w, AGAIN, 1 if k < 30_000 else 2) for k, w in enumerate(weights)]
    graph = assemble([[(0.0, outcomes)], [(0.0, [(1, WIN, None)])], [(0.0, [(1, LOSE, None)])]])
    truth = exact(graph)
    assert_covers(graph, strategy_iteration(graph).values, truth)
    chances = np.array(weights) / sum(weights)
    one_by_one = np.cumsum(np.where(np.arange(60_000) < 30_000, chances, -chances))[-1]
    assert abs(Fraction(one_by_one.item()) - truth[0]) > Fraction(1, 2**52)
    assert_covers(graph, np.array([one_by_one, 1.0, -1.0]), truth)


def unproven(
    graph: StateGraph, values: np.ndarray, bounds: np.ndarray, stop: int | None = None
) -> int:
    """How many states, of all or of those before `stop`, don't prove such bounds."""
    return int(np.sum(check(graph, values, bounds).unproved < (stop or graph.n_states)))


@pytest.mark.parametrize("case", ["values", "bounds", "both", "too good", "too bad"])
def test_the_proof_counts_its_own_rounding(case):
    """A bound a hair below what one look ahead needs, in fractions, is not proved."""
    random = np.random.default_rng(7)
    for _ in range(100):
        weights = random.integers(1, 1000, 5)
        actions = [(0.0, [(int(w), AGAIN, 1 + k) for k, w in enumerate(weights)])]
        if case == "too good":  # only that can be wrong where another action is right
            actions.insert(0, (0.0, [(1, DRAW, None)]))
        graph = assemble([actions, *[[(0.0, [(1, WIN, None)])]] * 5])
        values, bounds = np.zeros(6), np.zeros(6)
        if case != "bounds":  # a sum near 0 of terms that aren't: rounding, and nothing else
            values[1:] = random.uniform(-1, 1, 5)
            values[5] = -(weights[:4] @ values[1:5]) / weights[4]
        if case == "too bad":
            values[5] -= 1e-11
        if case in ("bounds", "both"):
            bounds[1:] = random.uniform(0, 1, 5) * (1e-16 if case == "both" else 1.0)

        def mean(of: np.ndarray, weights: np.ndarray = weights) -> Fraction:
            terms = zip(weights.tolist(), of[1:].tolist(), strict=True)
            return sum(w * Fraction(x) for w, x in terms) / int(weights.sum())

        needed = abs(mean(values)) + mean(bounds)
        if not needed or (case == "too good" and mean(values) < 0):
            continue
        bounds[0] = float(needed)
        if Fraction(bounds[0].item()) >= needed:
            bounds[0] = np.nextafter(bounds[0], 0)
        assert unproven(graph, values, bounds, 1)
        bounds[0] = float(needed) * (1 + 1e-9) + 100 * chances.UNIT * np.abs(values).max()
        assert not unproven(graph, values, bounds, 1)


@given(ending_graphs(), st.sampled_from([-0.01, 0.01]), st.integers(0, 2**32 - 1))
def test_bounds_that_are_too_small_are_not_proved(graph, shift, seed):
    """Values all too high or all too low, and bounds of nine tenths of what they are off."""
    truth = np.array([float(value) for value in exact(graph)])
    off = shift * np.random.default_rng(seed).uniform(0.1, 1, graph.n_states)
    assert unproven(graph, truth + off, 0.9 * np.abs(off)) > 0


def test_a_wrong_candidate_is_not_taken_on_trust(monkeypatch):
    """Bounds are found by the same code as values, and then checked by other code."""
    graph = build(Pig(6))
    values = strategy_iteration(graph).values + 0.01
    assert certify(graph, values).bound < 1

    class Shrunk(finding.Search):
        def run(self, *args):
            super().run(*args).found /= 1000
            return self

    monkeypatch.setattr(finding, "Search", Shrunk)
    assert certify(graph, values).bound == np.inf


@pytest.mark.parametrize("game", [Pig(12), SuperSix(12), Threes()], ids=lambda game: game.name)
def test_a_certificate_that_follows_the_solver(game, monkeypatch):
    """Piece by piece it is the one made in one go."""
    graph = build(game)
    alone = strategy_iteration(graph)
    whole = certify(graph, alone.values)
    monkeypatch.setattr(search, "CHUNK", 60)
    told = []
    found, proof, seconds = solve_and_certify(graph, progress=lambda *said: told.append(said))
    assert np.array_equal(found.values, alone.values)
    assert proof.bounds == pytest.approx(whole.bounds, rel=1e-6)
    assert proof.residual == whole.residual
    assert seconds > 0
    assert {stage for stage, _, _ in told} == {"solving", "certifying"}
    assert len(told) > 1
    assert told[-1][1:] == (graph.n_states, graph.n_states)


def test_what_stops_the_solver_stops_what_follows_it(monkeypatch):
    monkeypatch.setattr(search, "CHUNK", 10)
    graph = build(Pig(8))

    def stop(stage, done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        solve_and_certify(graph, progress=stop)
    # what was found of the components is still right, even while the second core looks on
    found, proof, _ = solve_and_certify(graph)
    deadline = time.monotonic() + 10
    while set(threading.enumerate()) - before and time.monotonic() < deadline:
        time.sleep(0)
    assert not set(threading.enumerate()) - before
    assert np.array_equal(found.values, strategy_iteration(build(Pig(8))).values)
    assert proof.bound < 1e-14
