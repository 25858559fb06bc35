"""Bounds that bound: against exact fractions, for right values and for wrong ones."""

from __future__ import annotations

import ast
import json
import threading
import time
from fractions import Fraction
from pathlib import Path

import naive
import naive_endings
import numpy as np
import pytest
from check_exactly import check_exactly
from cli_runner import run
from conftest import examples
from graphs import assemble, chain, ending_graphs, games_for_points, games_to_win
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import rollwise
from rollwise import AGAIN, DRAW, LOSE, PASS, WIN, build, certify
from rollwise.answer.certified import solve_and_certify
from rollwise.engine import bounds as finding
from rollwise.engine import search
from rollwise.errors import EndlessPlay, UsageError
from rollwise.games.pig import Pig
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.graph import StateGraph
from rollwise.kernels import chances
from rollwise.methods.strategy_iteration import strategy_iteration
from rollwise.methods.value_iteration import value_iteration
from rollwise.proofs.check import check
from rollwise.proofs.check_endless import check_game
from rollwise.proofs.endless_play import endless_states

pytestmark = pytest.mark.kernels


def exact(graph: StateGraph, border=None) -> list[Fraction]:
    smallest = graph.objective == "minimize"
    values = naive.exact_values(naive.moves_of_graph(graph), smallest=smallest, border=border)
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


def test_a_bound_that_excludes_no_chance_to_win_is_none(tmp_path: Path) -> None:
    """The value is from -1 to 1: at 0 a bound of 1.25 says nothing."""
    (tmp_path / "tiny.py").write_text(
        "from typing import NamedTuple\n"
        "from rollwise import LOSE, PASS, WIN, Game\n"
        "class Here(NamedTuple):\n"
        "    here: int\n"
        "class Tiny(Game):\n"
        "    def start(self):\n"
        "        return Here(0)\n"
        "    def actions(self, s):\n"
        "        return (0, 1)\n"
        "    def outcomes(self, s, action):\n"
        "        yield 1, WIN if action else LOSE, s\n"
        "        yield 10**12, PASS, s\n"
    )
    line = ("solve", "tiny.py", "--method", "value-iteration")
    ran = run(*line, cwd=tmp_path)
    assert ran.returncode == 1
    assert "without an error bound" in ran.stdout
    found = json.loads(run(*line, "--json", cwd=tmp_path).stdout)
    assert (found["status"], found["error_bound"]) == ("not certified", None)
    assert "certified ± 4.9e-11 %" in run("solve", "tiny.py", cwd=tmp_path).stdout


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


# ---- the check accepts nothing that isn't so: against exact fractions, mutation by mutation


ROOT = Path(rollwise.__file__).parent
CHECKS = [check, check_exactly]
WEIGHTS = st.one_of(st.integers(1, 9), st.sampled_from([0.1, 0.7, 1.5, 1e-3, 1e4]))


def covers(values: np.ndarray, bounds: np.ndarray, truth: list[Fraction]) -> bool:
    """Whether each bound covers the error of its value; nothing is rounded."""
    return all(
        bound == np.inf or abs(Fraction(value) - true) <= Fraction(bound)
        for value, bound, true in zip(values.tolist(), bounds.tolist(), truth, strict=True)
    )


def solved(graph: StateGraph) -> tuple[np.ndarray, np.ndarray]:
    values = strategy_iteration(graph).values
    return values, certify(graph, values).bounds


@given(ending_graphs(weights=WEIGHTS))
def test_what_was_certified_is_accepted(graph):
    values, bounds = solved(graph)
    for proof in CHECKS:
        verdict = proof(graph, values, bounds)
        assert verdict.holds
        assert verdict.residual <= bounds.max()
    rounded, true = (proof(graph, values, bounds).residual for proof in CHECKS)
    assert rounded == pytest.approx(true, abs=1e-14 * max(1.0, np.abs(values).max()))


SIZES = st.sampled_from([0.0, 1.0, 1.001, 1.5, 3.0, 1e3, 1e9])


@given(
    ending_graphs(weights=WEIGHTS), SIZES, st.integers(0, 99), st.sampled_from([-1, 1]), st.data()
)
def test_no_wrong_value_is_accepted(graph, size, place, way, data):
    """One value moves by an ulp, by a little more than its bound, by much more."""
    truth = exact(graph)
    values, bounds = solved(graph)
    s = place % graph.n_states
    wrong = float(truth[s]) + way * size * bounds[s]
    values[s] = np.nextafter(wrong, way * np.inf)
    if data.draw(st.booleans()):
        other = data.draw(st.integers(0, graph.n_states - 1))
        bounds[other] *= data.draw(st.sampled_from([0.0, 0.5, 2.0, 1e3]))
    right = covers(values, bounds, truth)
    for proof in CHECKS:
        assert right or not proof(graph, values, bounds).holds


@given(ending_graphs(weights=WEIGHTS), st.integers(0, 99), st.floats(0, 1))
def test_no_bound_that_is_too_small_is_accepted(graph, place, factor):
    truth = exact(graph)
    values, bounds = solved(graph)
    bounds[place % graph.n_states] *= factor
    right = covers(values, bounds, truth)
    accepted = [proof(graph, values, bounds).holds for proof in CHECKS]
    assert right or not any(accepted)
    # either may accept alone: the check in doubles rounds claims inward, those of targets too


@given(ending_graphs(), st.integers(0, 2**32 - 1), st.sampled_from([1e-12, 0.01, 1.0]))
def test_no_bounds_by_chance_are_accepted_unless_they_hold(graph, seed, noise):
    truth = exact(graph)
    random = np.random.default_rng(seed)
    off = noise * random.uniform(-1, 1, graph.n_states)
    values = np.array([float(v) for v in truth]) + off
    bounds = np.abs(off) * random.choice([0.5, 0.99, 1.0, 1.01, 2.0, 10.0], graph.n_states)
    bounds += random.choice([0.0, 1e-14])
    for proof in CHECKS:
        assert covers(values, bounds, truth) or not proof(graph, values, bounds).holds


@pytest.mark.parametrize("proof", CHECKS)
def test_all_values_shifted_where_only_the_end_pulls_them_back(proof):
    """In a long fair ruin the residual of a shift is next to nothing, except at both ends."""
    graph = chain(40)
    truth = np.arange(1, 41) / 20.5 - 1
    bounds = certify(graph, truth).bounds
    assert proof(graph, truth, bounds).holds
    for shift in (1e-9, 0.01):
        verdict = proof(graph, truth + shift, bounds)
        assert not verdict.holds
        assert set(verdict.unproved) >= {0, 39}


@st.composite
def any_graphs(draw):
    """Graphs in which play may go round for ever, or not."""
    n = draw(st.integers(1, 7))
    over = st.tuples(st.just(1), st.sampled_from([WIN, LOSE]), st.none())
    onward = st.tuples(st.just(1), st.sampled_from([AGAIN, PASS]), st.integers(0, n - 1))
    ways = st.lists(st.one_of(onward, onward, over), min_size=1, max_size=3)
    action = st.tuples(st.just(0.0), ways)
    return assemble(
        draw(st.lists(st.lists(action, min_size=1, max_size=2), min_size=n, max_size=n))
    )


def endless(graph: StateGraph) -> set[int]:
    """By the naive twin: the largest set that play can be kept in."""
    successors = {}
    for s in range(graph.n_states):
        actions = range(graph.action_indptr[s], graph.action_indptr[s + 1])
        ways = [graph.outcome_state[slice(*graph.outcome_indptr[a : a + 2])] for a in actions]
        successors[s] = [{None if t < 0 else int(t) for t in way.tolist()} for way in ways]
    return naive.endless_states(successors)


@given(any_graphs())
def test_play_that_ends_is_told_from_play_that_may_not(graph):
    twin = endless(graph)
    assert set(endless_states(graph).tolist()) == twin
    values, bounds = np.zeros(graph.n_states), np.full(graph.n_states, 2.0)
    for proof in CHECKS:
        assert set(proof(graph, values, bounds).endless.tolist()) == twin


@given(ending_graphs(n_border=2), st.integers(0, 2**32 - 1))
def test_a_border_that_is_off_is_counted(graph, seed):
    random = np.random.default_rng(seed)
    border, sure = random.uniform(-1, 1, 2), random.uniform(0, 0.1, 2)
    values = strategy_iteration(graph, border_values=border).values
    bounds = certify(graph, values, border_values=border, border_bounds=sure).bounds
    for proof in CHECKS:
        assert proof(graph, values, bounds, border, sure).holds
    for corner in (border - sure, border + sure):
        known = {graph.n_states + i: Fraction(x) for i, x in enumerate(corner.tolist())}
        truth = exact(graph, known)
        assert covers(values, bounds * (1 + 1e-12), truth)
        small = bounds * random.uniform(0, 1, graph.n_states)
        for proof in CHECKS:
            right = covers(values, small * (1 + 1e-12), truth)
            assert right or not proof(graph, values, small, border, sure).holds


@pytest.mark.parametrize("proof", CHECKS)
def test_what_is_no_number_is_not_accepted(proof):
    graph = build(Pig(6))
    values, bounds = solved(graph)
    for wrong in (np.nan, np.inf, -np.inf):
        broken = values.copy()
        broken[3] = wrong
        assert 3 in proof(graph, broken, bounds).unproved
    for wrong in (np.nan, -1e-300, -1.0, -np.inf):
        broken = bounds.copy()
        broken[3] = wrong
        assert 3 in proof(graph, values, broken).unproved


@pytest.mark.parametrize("proof", CHECKS)
def test_no_bound_needs_no_proof_and_gives_none(proof):
    """An infinite bound says nothing of its state, nor of those that lead there."""
    graph = assemble(
        [[(0.0, [(1, AGAIN, 1), (1, WIN, None)])], [(0.0, [(1, LOSE, None), (1, AGAIN, 1)])]]
    )
    assert proof(graph, np.array([0.5, 7.0]), np.full(2, np.inf)).holds
    assert proof(graph, np.array([0.5, 7.0]), np.array([1e9, np.inf])).unproved.tolist() == [0]
    assert proof(graph, np.array([np.nan, 7.0]), np.full(2, np.inf)).unproved.tolist() == [0]


@pytest.mark.parametrize("proof", CHECKS)
@pytest.mark.parametrize("weight", [-1.0, 0.0, np.nan, np.inf])
def test_weights_that_cannot_be_prove_nothing(proof, weight):
    for then in (WIN, AGAIN):
        where = None if then == WIN else 1
        table = [[(0.0, [(weight, then, where), (3.0, WIN, None)])], [(0.0, [(1.0, WIN, None)])]]
        graph = assemble(table)
        with np.errstate(all="ignore"):
            try:
                verdict = proof(graph, np.ones(2), np.zeros(2))
            except UsageError:
                assert not np.isfinite(weight)
            else:
                assert 0 in verdict.unproved


def test_arrays_of_other_lengths_are_refused():
    graph = build(Pig(6))
    values, bounds = solved(graph)
    for known in [(values[1:], bounds), (values, bounds[1:]), (values, bounds, np.zeros(1))]:
        with pytest.raises(UsageError, match="states and 0 on its"):
            check(graph, *known)
    border = assemble([[(1.0, [(1, AGAIN, 1)])]], objective="maximize", players=1, n_border=1)
    with pytest.raises(UsageError, match="can't be such"):
        check(border, np.ones(1), np.ones(1), np.zeros(1), np.array([-1.0]))
    beyond = assemble([[(0.0, [(1, AGAIN, 5), (1, WIN, None)])]])
    with pytest.raises(UsageError, match="can't be such"):
        check(beyond, np.ones(1), np.ones(1))


@pytest.mark.parametrize("proof", CHECKS)
def test_a_value_that_is_exact_has_the_bound_zero(proof):
    """A draw, a certain win, points without a chance: nothing is rounded, so nothing is added."""
    sure = assemble(
        [[(0.0, [(3, AGAIN, 1), (1, WIN, None)])], [(0.0, [(7, WIN, None), (2, WIN, None)])]]
    )
    assert proof(sure, np.ones(2), np.zeros(2)).holds
    drawn = assemble([[(0.0, [(1, DRAW, None), (2, PASS, 0)])]])
    assert proof(drawn, np.zeros(1), np.zeros(1)).holds
    for value in (5e-324, -1e-300, 1.0):
        assert not proof(drawn, np.full(1, value), np.zeros(1)).holds
    for value in (np.nextafter(1, 0), np.nextafter(1, 2)):
        assert not proof(sure, np.array([1.0, value]), np.zeros(2)).holds


def mutations(graph, values, bounds, place, size):
    """Values, one of them moved by a part of its bound and more; and bounds, one made smaller."""
    s = place % graph.n_states
    for way in (-1, 1):
        moved = values.copy()
        moved[s] += way * (2 * bounds[s] + size)
        yield moved, bounds
    smaller = bounds.copy()
    smaller[s] = 0.0
    yield values, smaller


NAIVE = 1e-9  # how far the naive twin of endless games can be off


@pytest.mark.parametrize("endless_play", ["draw", "lose"])
@pytest.mark.parametrize("players", [1, 2])
@given(st.data())
def test_endless_play_with_a_worth(players, endless_play, data):
    """What was proved is accepted; no value that all pairs of policies refute is."""
    graph = data.draw(games_to_win(players, endless_play))
    stuck = 0.0 if endless_play == "draw" else -1.0
    truth = [naive_endings.best_values(graph, stuck)]
    if players == 2 and endless_play == "lose":
        truth.append(naive_endings.best_values(graph, 1.0))
    try:
        found, proof, _ = solve_and_certify(graph)
    except EndlessPlay:
        return
    values, bounds = found.values, proof.bounds
    assert check_game(graph, values, bounds).holds
    size = data.draw(st.sampled_from([1e-6, 0.1, 1.0]))
    for wrong, sure in mutations(graph, values, bounds, data.draw(st.integers(0, 9)), size):
        if check_game(graph, wrong, sure).holds:
            for worth in truth:
                assert np.all(np.abs(wrong - worth) <= sure + NAIVE)
    for constant in (-1.0, 0.0, 0.5, 1.0):
        level = np.full(graph.n_states, constant)
        if check_game(graph, level, np.zeros(graph.n_states)).holds:
            for worth in truth:
                assert np.all(np.abs(level - worth) <= NAIVE)


@given(games_for_points(), st.integers(0, 9), st.sampled_from([1e-6, 0.1, 10.0]))
def test_endless_play_that_costs(graph, place, size):
    stuck = -np.inf if graph.objective == "maximize" else np.inf
    try:
        found, proof, _ = solve_and_certify(graph)
    except EndlessPlay:
        return
    truth = naive_endings.best_values(graph, stuck)
    values, bounds = found.values, proof.bounds
    assert check_game(graph, values, bounds).holds
    for wrong, sure in mutations(graph, values, bounds, place, size):
        if check_game(graph, wrong, sure).holds:
            ends = np.isfinite(truth)
            assert np.array_equal(wrong[~ends], truth[~ends])
            assert np.all(np.abs(wrong[ends] - truth[ends]) <= sure[ends] + NAIVE)


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_what_is_trusted_is_short_and_imports_nothing_clever():
    """The proof of a layer, with its loops and its explanation."""
    path = ROOT / "proofs" / "layers.py"
    assert len(path.read_text().splitlines()) <= 350
    assert imports_of(path) <= {
        "__future__",
        "collections.abc",
        "numpy",
        "numpy.typing",
        "rollwise.kernels.jit",
        "rollwise.layers.layer",
    }


@pytest.mark.parametrize(
    ("name", "rooms"),
    [
        ("check", ("errors", "graph", "kernels", "layers", "proofs")),
        ("check_endless", ("errors", "graph", "kernels", "layers", "proofs")),
        (
            "check_rules",
            ("dice", "game", "numbers.shares", "numbers.unknown", "then"),
        ),  # the language
    ],
)
def test_the_other_checks_import_no_solver(name, rooms):
    for module in imports_of(ROOT / "proofs" / f"{name}.py"):
        inside = module.startswith(tuple(f"rollwise.{room}" for room in rooms))
        assert inside or not module.startswith("rollwise")
