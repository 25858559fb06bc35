"""Every method on every small game against answers that are known, and on random graphs."""

from __future__ import annotations

import sys
from fractions import Fraction

import naive
import numpy as np
import pytest
from conftest import examples
from graphs import assemble, ending_graphs
from hypothesis import given, settings
from stalling_games import Luck, Road, Standoff, Trap

from rollwise.analysis.compare_methods import compare_methods
from rollwise.builders import build
from rollwise.engine.certificates import certify
from rollwise.errors import EndlessPlay, MissingExtra, TooLargeForFractions, UsageError
from rollwise.games.craps import Craps
from rollwise.games.frozen_lake import FrozenLake
from rollwise.games.hare_and_tortoise import HareAndTortoise
from rollwise.games.pig import Pig, Piglet
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.methods import METHODS, run_method
from rollwise.methods.exact import action_fractions, exact, fraction_size
from rollwise.methods.linear_programming import linear_programming
from rollwise.methods.mixed_integer import mixed_integer
from rollwise.methods.modified_policy_iteration import modified_policy_iteration
from rollwise.methods.policy_iteration import policy_iteration
from rollwise.methods.result import Status
from rollwise.methods.strategy_iteration import strategy_iteration
from rollwise.methods.sweeping import ORDERS, action_values, greedy_actions, sweep_order
from rollwise.methods.value_iteration import Bounds, value_iteration
from rollwise.then import LOSE, PASS, WIN

pytestmark = pytest.mark.kernels

CERTAIN = [name for name, method in METHODS.items() if not method.estimates]
GAMES = {
    "craps": Craps(),
    "piglet": Piglet(target=4),
    "pig": Pig(target=8),
    "pig-banked": Pig(target=8, must_bank=True),
    "super-six": SuperSix(sticks=6),
    "hare-and-tortoise": HareAndTortoise(steps=6),
}
KINDS_FOR_ONE = ((1, "win"), (1, "maximize"), (1, "minimize"))


def truth(graph) -> list[Fraction]:
    values = naive.exact_values(naive.moves_of_graph(graph), smallest=graph.objective == "minimize")
    return [values[s] for s in range(graph.n_states)]


def distance(values, exact_values) -> float:
    return max(abs(v - float(x)) for v, x in zip(values, exact_values, strict=True))


@pytest.fixture(scope="module", params=sorted(GAMES))
def known(request):
    graph = build(GAMES[request.param], mode="interpreted")
    return graph, truth(graph)


@pytest.mark.parametrize("method", sorted(CERTAIN))
def test_methods_on_games(known, method):
    graph, answer = known
    found = run_method(graph, method)
    if method == "linear-programming" and not found.converged:
        assert graph.players == 2
        assert found.status is Status.NOT_A_FIXED_POINT
        return
    assert found.status is Status.CONVERGED
    assert distance(found.values, answer) < 2e-8
    assert found.seconds > 0
    bounds = certify(graph, found.values).bounds
    off = [abs(Fraction(float(v)) - x) for v, x in zip(found.values, answer, strict=True)]
    assert all(o <= Fraction(float(b)) for o, b in zip(off, bounds, strict=True))


@given(graph=ending_graphs())
def test_iterative_methods_on_random_graphs(graph):
    answer = truth(graph)
    scale = max(1.0, *(abs(float(x)) for x in answer))
    for found in (
        value_iteration(graph, epsilon=1e-13),
        *(value_iteration(graph, epsilon=1e-13, order=order) for order in ORDERS),
        policy_iteration(graph),
        modified_policy_iteration(graph, epsilon=1e-13, evaluation_sweeps=3),
        exact(graph),
    ):
        assert found.status is Status.CONVERGED, found.method
        assert distance(found.values, answer) < 1e-8 * scale, found.method


@given(graph=ending_graphs())
def test_exact_fractions_on_random_graphs(graph):
    answer = truth(graph)
    found = exact(graph)
    assert list(found.fractions) == answer
    assert found.claim_is_bound
    assert distance(found.values, answer) <= found.claimed_error
    longest = max(x.denominator for x in answer)
    assert found.details["longest_denominator_digits"] == pytest.approx(len(str(longest)), abs=1)
    rows = naive.moves_of_graph(graph)
    for s in range(graph.n_states):
        assert action_fractions(graph, answer, s) == [naive.worth(m, answer) for m in rows[s]]


@given(graph=ending_graphs())
def test_fraction_size_is_a_bound(graph):
    assert fraction_size(graph).digits >= len(str(max(x.denominator for x in truth(graph)))) - 1


@given(graph=ending_graphs(), order=...)
def test_bounds_hold_in_every_sweep(graph, order: bool):
    answer = truth(graph)
    bounds = Bounds(graph, "synchronous" if order else "reversed")
    for _ in range(30):
        for low, x, high in zip(bounds.lower, answer, bounds.upper, strict=True):
            assert Fraction(float(low)) <= x <= Fraction(float(high))
        bounds.sweep()
    found = value_iteration(graph, sound=True, epsilon=1e-6)
    assert found.status in (Status.CONVERGED, Status.STALLED)
    assert found.claim_is_bound
    assert all(
        abs(Fraction(float(v)) - x) <= Fraction(found.claimed_error)
        for v, x in zip(found.values, answer, strict=True)
    )


@given(graph=ending_graphs())
def test_sweeps_are_those_of_the_naive_twin(graph):
    moves = naive.moves_of_graph(graph)
    smallest = graph.objective == "minimize"
    for order in ("synchronous", "reversed", "components"):
        places = sweep_order(graph, order).tolist()
        assert sorted(places) == list(range(graph.n_states))
        values = dict.fromkeys(moves, Fraction(0))
        changes = []
        for _ in range(4):
            before = values
            values = naive.sweep(
                moves, values, order=places, in_place=order != "synchronous", smallest=smallest
            )
            changes.append(max(abs(float(values[s] - before[s])) for s in moves))
        found = value_iteration(graph, order=order, max_sweeps=4, epsilon=-1.0)
        assert found.status is Status.SWEEP_LIMIT
        assert found.history == pytest.approx(changes, abs=1e-13)
        assert distance(found.values, [values[s] for s in range(graph.n_states)]) < 1e-13


@given(graph=ending_graphs(kinds=((2, "win"), (1, "win"))))
def test_bounds_are_those_of_the_naive_twin(graph):
    moves = naive.moves_of_graph(graph)
    low = dict.fromkeys(moves, Fraction(-1))
    high = dict.fromkeys(moves, Fraction(1))
    bounds = Bounds(graph, "synchronous")
    for _ in range(4):
        low, high = naive.sweep_bounds(moves, low, high)
        bounds.sweep()
    # where a state is both passed to and kept, the twin's coefficients have cancelled:
    # its bounds are tighter then
    for s in moves:
        assert bounds.lower[s] <= float(low[s]) + 1e-13
        assert bounds.upper[s] >= float(high[s]) - 1e-13


@given(graph=ending_graphs(kinds=KINDS_FOR_ONE))
def test_linear_programming_is_right_for_one_player(graph):
    found = linear_programming(graph)
    assert found.status is Status.CONVERGED
    answer = truth(graph)
    assert distance(found.values, answer) < 1e-6 * max(1.0, *(abs(float(x)) for x in answer))


@given(graph=ending_graphs())
@settings(max_examples=examples(10))
def test_mixed_integer_on_random_graphs(graph):
    answer = truth(graph)
    scale = max(1.0, *(abs(float(x)) for x in answer))
    for options in ({"solver": "scip"}, {"solver": "highs", "tighten": 3}, {"whole": True}):
        found = mixed_integer(graph, **options)
        assert found.status is Status.CONVERGED
        assert distance(found.values, answer) < 1e-6 * scale
        worth = action_values(graph, found.values)
        best = worth[greedy_actions(graph, found.values)]
        assert worth[found.chosen] == pytest.approx(best, abs=1e-5 * scale)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("value-iteration", {}),
        ("value-iteration", {"order": "components"}),
        ("value-iteration", {"sound": True}),
        ("policy-iteration", {}),
        ("modified-policy-iteration", {}),
    ],
)
@pytest.mark.parametrize("game", [SuperSix(sticks=7), Threes(dice=2)], ids=lambda game: game.name)
def test_values_are_told_after_each_sweep(game, method, options):
    told = []
    found = run_method(
        build(game), method, on_values=lambda values: told.append(values.copy()), **options
    )
    assert len(told) == found.sweeps == len(found.history)
    assert told[-1] == pytest.approx(found.values, abs=1e-15)


def test_value_iteration_is_the_sources():
    """Seed 000: 64 sweeps for seven sticks, the last change just under 1e-10."""
    told = []
    graph = build(SuperSix(sticks=7), mode="interpreted")
    found = value_iteration(graph, on_sweep=lambda sweep, change: told.append((sweep, change)))
    assert found.sweeps == 64
    assert found.history[-1] == pytest.approx(9.932610289808963e-11, abs=1e-15)
    assert found.history[-2] == pytest.approx(1.6264517510578003e-10, abs=1e-15)
    assert told == list(enumerate(found.history, 1))


def test_start_from_another_method():
    graph = build(SuperSix(sticks=12), mode="interpreted")
    answer = strategy_iteration(graph).values
    for solver in ("scip", "highs"):
        found = mixed_integer(graph, solver=solver, whole=True, tighten=0, start=answer)
        assert found.status is Status.CONVERGED
        assert found.details["started_from_values"]
        assert np.max(np.abs(found.values - answer)) < 1e-6


@pytest.mark.parametrize("order", ["synchronous", "reversed"])
@pytest.mark.parametrize("start", [0, 1, np.int64(1), np.float32(0.3), Fraction(1, 3)], ids=repr)
def test_values_are_doubles_whatever_the_type_of_the_start(start, order):
    graph = build(Piglet(target=4), mode="interpreted")
    found = value_iteration(graph, start=start, order=order)
    assert found.values.dtype == np.float64
    assert found.values == pytest.approx(strategy_iteration(graph).values, abs=1e-8)


@pytest.mark.parametrize("kind", [np.int32, np.float32, np.float16, list])
def test_arrays_of_any_type_are_read_as_doubles(kind):
    graph = build(Piglet(target=4), mode="interpreted")
    values = np.round(strategy_iteration(graph).values, 1)
    given = values.tolist() if kind is list else values.astype(kind)
    as_doubles = np.asarray(given, np.float64)
    assert np.array_equal(certify(graph, given).bounds, certify(graph, as_doubles).bounds)
    found = mixed_integer(graph, whole=True, start=given)
    assert np.array_equal(found.values, mixed_integer(graph, whole=True, start=as_doubles).values)


@pytest.mark.parametrize(
    ("given", "bounds"), [("no", False), ("yes", True), (np.True_, True), (0, False)]
)
def test_options_are_read_as_on_the_command_line(given, bounds):
    graph = build(Piglet(target=4), mode="interpreted")
    found = run_method(graph, "value-iteration", sound=given, epsilon="1e-6", max_sweeps="1000")
    assert (found.lower is not None) == bounds
    assert found.details["epsilon"] == 1e-6


def test_a_start_from_values_has_one_for_each_state():
    graph = build(Piglet(target=4), mode="interpreted")
    with pytest.raises(UsageError, match=r"start has the shape \(3,\)"):
        mixed_integer(graph, start=np.zeros(3))


@pytest.mark.slow
def test_linear_program_of_the_source():
    """Seed 003: with 40 sticks errors of more than 1 % where four stand in the lid."""
    graph = build(SuperSix(sticks=40))
    found = linear_programming(graph)
    assert found.status is Status.NOT_A_FIXED_POINT
    relative = found.columns["relative_residual"]
    worst = int(np.argmax(relative))
    assert relative[worst] > 0.01
    assert graph.states[worst, 0] == 4
    others = graph.states[:, 0] != 4
    assert np.max(np.abs(relative[others])) < 1e-6


@pytest.mark.slow
def test_mixed_integer_program_of_the_source():
    graph = build(SuperSix(sticks=40))
    answer = strategy_iteration(graph).values
    bounds = certify(graph, answer).bounds
    found = mixed_integer(graph)
    assert found.status is Status.CONVERGED
    assert np.max(np.abs(found.values - answer)) < 1e-6
    loss = answer - action_values(graph, answer)[found.chosen]
    assert np.max(loss) <= 4 * np.max(bounds)


def test_hopeless_fractions_are_refused_beforehand():
    graph = build(SuperSix(sticks=12), mode="interpreted")
    with pytest.raises(TooLargeForFractions, match=r"digits.*kB"):
        exact(graph, max_digits=10)
    assert TooLargeForFractions.exit_code == 1


def test_real_weights_have_no_fractions():
    graph = assemble([[(0.0, [(0.5, WIN, None), (1.25, LOSE, None)])]])
    with pytest.raises(UsageError, match="aren't whole"):
        exact(graph)


def test_endless_play_is_refused():
    graph = assemble([[(0.0, [(1, PASS, 0)]), (0.0, [(1, WIN, None)])]])
    for method in ("policy-iteration", "modified-policy-iteration", "mixed-integer", "exact"):
        with pytest.raises(EndlessPlay):
            run_method(graph, method)
    with pytest.raises(EndlessPlay):
        value_iteration(graph, sound=True)


@pytest.mark.parametrize(
    ("module", "method", "extra"),
    [
        ("flint", "exact", "exact"),
        ("highspy", "linear-programming", "programming"),
        ("pyscipopt", "mixed-integer", "programming"),
    ],
)
def test_a_missing_extra_is_an_install_command(monkeypatch, module, method, extra):
    monkeypatch.setitem(sys.modules, module, None)
    graph = build(SuperSix(sticks=4), mode="interpreted")
    with pytest.raises(MissingExtra) as caught:
        run_method(graph, method)
    assert str(caught.value) == f'pip install "rollwise[{extra}]"'


def test_a_method_that_cannot_run_names_itself():
    """Also where it is another method's bounds that it needs first."""
    graph = build(Standoff())
    for name in ("policy-iteration", "mixed-integer", "exact"):
        with pytest.raises(UsageError, match=f"which the method {name} can't deal with"):
            run_method(graph, name)


@pytest.mark.parametrize("game", [FrozenLake(), Road(), Luck(), Trap()], ids=lambda game: game.name)
def test_methods_are_compared_where_play_may_not_end(game):
    graph = build(game)
    runs, bound = compare_methods(graph, CERTAIN)
    assert all(run.error <= 1e-7 + bound for run in runs)
    assert all(run.optimal_policy in ((None,) if game.name == "trap" else (True,)) for run in runs)
