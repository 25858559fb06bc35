"""The exact solver against exact fractions, through each of its ways."""

from __future__ import annotations

import itertools
from dataclasses import replace

import naive
import numba
import numpy as np
import pytest
from graphs import ROUND_IN_CIRCLES, assemble, chain, ending_graphs, side_by_side
from hypothesis import given
from hypothesis import strategies as st
from little_games import ALL, Biased

from rollwise import build
from rollwise.answer.certified import solve_and_certify
from rollwise.engine import components, condensed, search, sweeps
from rollwise.engine.condensed import Workspace
from rollwise.engine.search import Search
from rollwise.engine.sweeps import NO_ERRORS, choices_for, values_for
from rollwise.games.hare_and_tortoise import HareAndTortoise
from rollwise.games.pig import Pig, Piglet, TwoDicePig
from rollwise.games.super_six import SuperSix
from rollwise.graph import StateGraph
from rollwise.kernels.jit import INNER
from rollwise.layers import Layer, layer_of_graph
from rollwise.layers.layer import MOST_FEEDBACK
from rollwise.layers.leaving import leaving_order
from rollwise.machine.switches import jit_disabled
from rollwise.methods.strategy_iteration import strategy_iteration
from rollwise.proofs.endless_play import staying_places
from rollwise.proofs.layers import mark, staying
from rollwise.then import AGAIN, LOSE, WIN

pytestmark = pytest.mark.kernels

CLOSE = 1e-12


def called(inner):
    """An inner kernel, to be called from here."""
    if jit_disabled():
        return inner
    from rollwise.kernels.compiling import compile_inner

    compile_inner(INNER)
    return numba.njit(lambda *arguments: inner(*arguments))


improve, condense = called(components.improve), called(condensed.condense)
spread = called(condensed.spread)


def ordered(graph: StateGraph) -> Layer:
    return layer_of_graph(graph)


def by_state(graph: StateGraph, layer: Layer, values: np.ndarray) -> np.ndarray:
    """Values of places with the sign of the objective, as those of states."""
    found = layer.in_reading_order(values)
    return -found if graph.objective == "minimize" else found


def exact(graph: StateGraph, border=None) -> np.ndarray:
    """The true values of a graph, rounded once."""
    known = {graph.n_states + i: v for i, v in enumerate(border or ())}
    smallest = graph.objective == "minimize"
    values = naive.exact_values(naive.moves_of_graph(graph), smallest=smallest, border=known)
    return np.array([float(values[s]) for s in range(graph.n_states)])


def assert_solved(graph: StateGraph, truth: np.ndarray | None = None) -> None:
    truth = exact(graph) if truth is None else truth
    found = strategy_iteration(graph)
    assert found.converged
    assert np.abs(found.values - truth).max() <= CLOSE * max(1.0, np.abs(truth).max())


@pytest.mark.parametrize(
    "game",
    [*ALL[:6], Piglet(5), Pig(5), TwoDicePig(5, 2), HareAndTortoise(5), SuperSix(4)],
    ids=lambda game: game.name,
)
def test_games_from_their_rules(game):
    """Straight from the rules: neither builder nor graph has a hand in the truth."""
    graph = build(game, mode="interpreted")
    truth = naive.exact_values(
        naive.moves_of_game(game), smallest=game.objective == "minimize"
    )  # in the order of the graph's states
    assert_solved(graph, np.array([float(value) for value in truth.values()]))


@pytest.fixture
def calls(monkeypatch):
    """Which ways of a `Search` were gone."""
    gone = []

    def spy(name):
        original = getattr(Search, name)

        def recorded(*args, **options):
            gone.append(name)
            return original(*args, **options)

        monkeypatch.setattr(Search, name, recorded)

    for name in ("_newton", "_evaluated_by_lu", "stepped"):
        spy(name)
    return gone


@pytest.mark.parametrize("table", ROUND_IN_CIRCLES)
def test_choosing_for_both_players_at_once(table, calls):
    graph = assemble(table)
    assert_solved(graph)
    assert strategy_iteration(graph).sweeps < 2_000  # `newton` alone would go on to 100,000
    assert calls == []


def solve_by_newton(graph: StateGraph, monkeypatch, *, lu_first: int = 5_000) -> None:
    """Send the whole graph, as if one component, through Newton's method."""
    monkeypatch.setattr(search, "LU_FIRST", lu_first)
    layer = ordered(graph)
    one = Search(layer, values_for(layer, np.empty(0)))
    assert one._newton(0, graph.n_states)
    truth = exact(graph)
    off = np.abs(by_state(graph, layer, one.found) - truth).max()
    assert off <= CLOSE * max(1.0, np.abs(truth).max())


@given(ending_graphs())
def test_random_graphs_by_lu(graph):
    with pytest.MonkeyPatch.context() as monkeypatch:
        solve_by_newton(graph, monkeypatch)


@given(ending_graphs())
def test_random_graphs_by_bicgstab(graph):
    with pytest.MonkeyPatch.context() as monkeypatch:
        solve_by_newton(graph, monkeypatch, lu_first=0)


def improved(graph: StateGraph) -> tuple[int, np.ndarray]:
    """The whole graph, as if one component, by condensed evaluations: sweeps, and values."""
    layer = ordered(graph)
    (_, block), values = layer.blocks[0], values_for(layer, np.empty(0))
    lists = block, layer.tables, values, NO_ERRORS, choices_for(layer)[0]
    room = workspace_of(layer)
    swept = improve(0, graph.n_states, *lists, room, 4 * components.EPSILON)
    return swept, by_state(graph, layer, values)


def workspace_of(layer: Layer) -> condensed.Condensed:
    """Room for all positions, as if they were one component with a large feedback set."""
    parts = layer.parts._replace(
        ends=np.array([0, layer.n]), n_feedback=np.array([MOST_FEEDBACK + 1], np.uint8)
    )
    return Workspace.of(replace(layer, parts=parts)).condensed


@given(ending_graphs())
def test_random_graphs_by_condensed_evaluations(graph):
    swept, found = improved(graph)
    if swept > 0:  # else they converge too slowly, and it says so
        truth = exact(graph)
        assert np.abs(found - truth).max() <= CLOSE * max(1.0, np.abs(truth).max())


@pytest.mark.parametrize("game", [SuperSix(9), Pig(8), TwoDicePig(6, 2)], ids=lambda g: g.name)
def test_games_by_condensed_evaluations(game):
    graph = build(game, mode="interpreted")
    swept, found = improved(graph)
    assert 0 < swept < 200
    assert found == pytest.approx(strategy_iteration(graph).values, abs=1e-13)


@given(ending_graphs(), st.randoms(use_true_random=False))
def test_a_condensed_system_is_the_same_system(graph, random):
    """Its solution, spread over all positions, is that of the equations it was made from."""
    n, layer = graph.n_states, ordered(graph)
    (_, block), tables, first = layer.blocks[0], layer.tables, layer.first_outcomes()
    spans = itertools.pairwise(block.first[:, 1].tolist())
    chosen = np.array([random.randrange(*span) for span in spans])
    choice = sweeps.Choice(
        first[chosen], sweeps.NO_PLACES, block.lottery[chosen], *np.empty((2, 0))
    )
    workspace, values = workspace_of(layer), values_for(layer, np.empty(0))
    matrix, right = np.eye(n), tables.reward[block.lottery[chosen]].copy()
    for i, a in enumerate(chosen):
        o = int(first[a])
        for c in tables.coefficient[
            slice(*tables.indptr[[block.lottery[a], block.lottery[a] + 1]])
        ]:
            to = int(block.target[o])
            if to < n:
                matrix[i, to] -= c
            else:
                right[i] += c * values[to]
            o += 1
    rows, n_feedback = condense(0, n, block, tables, values, NO_ERRORS, choice, workspace)
    assert 0 <= n_feedback <= rows <= n
    small = np.eye(rows)
    for r in range(rows):
        for k in range(workspace.indptr[r], workspace.indptr[r + 1]):
            small[r, workspace.column[k]] -= workspace.coefficient[k]
    read_early = {
        int(workspace.column[k])
        for r in range(rows)
        for k in range(workspace.indptr[r], workspace.indptr[r + 1])
        if workspace.column[k] > r
    }
    assert set(workspace.feedback[:n_feedback].tolist()) == read_early
    workspace.x[:rows] = np.linalg.solve(small, workspace.constant[:rows])
    spread(0, n, workspace, values)
    assert values[:n] == pytest.approx(np.linalg.solve(matrix, right), rel=1e-9, abs=1e-9)


def components_of(layer: Layer):
    """The number and the span of places of each component."""
    for c, (end, begin) in enumerate(itertools.pairwise((layer.n - layer.parts.ends).tolist())):
        yield c, begin, end


def targets_of(block, i: int) -> list[int]:
    return block.target[slice(*block.first[i : i + 2, 2])].tolist()


@given(ending_graphs(max_states=40))
def test_the_feedback_set_is_what_a_sweep_reads_before_it_writes(graph):
    layer = ordered(graph)
    (_, block), parts = layer.blocks[0], layer.parts
    for c, low, high in components_of(layer):
        early: dict[int, None] = {}
        for i in range(high - 1, low - 1, -1):
            early |= dict.fromkeys(t for t in targets_of(block, i) if low <= t <= i)
        assert parts.n_feedback[c] == min(len(early), MOST_FEEDBACK + 1)
        if len(early) <= MOST_FEEDBACK:
            assert parts.feedback[low : low + len(early)].tolist() == list(early)


@pytest.mark.parametrize("first", [chain(2), chain(300)], ids=["few", "hard"])
def test_small_and_large_feedback_vertex_sets_in_one_graph(first):
    """Whatever comes first: the search goes over to what solves them all, and stays with it."""
    many = build(TwoDicePig(10), mode="interpreted")
    for parts in ((first, many), (many, first), (first, many, first)):
        graph = side_by_side(*parts)
        layer = ordered(graph)
        one = Search(layer, values_for(layer, np.empty(0))).run()
        assert one.converged
        values = layer.in_reading_order(one.found)
        alone = np.concatenate([strategy_iteration(part).values for part in parts])
        assert np.abs(values - alone).max() <= CLOSE


def ruin(n: int, odds: float) -> np.ndarray:
    """The values of gambler's ruin in closed form (Feller I, XIV.2)."""
    place = np.arange(1, n + 1)
    if odds == 1:
        return 2 * place / (n + 1) - 1
    return 2 * np.expm1(place * np.log(odds)) / np.expm1((n + 1) * np.log(odds)) - 1


def test_a_long_fair_ruin_is_left_to_lu(calls):
    assert_solved(chain(300), ruin(300, 1))
    assert calls[:2] == ["_newton", "_evaluated_by_lu"]
    assert "stepped" not in calls


def test_endless_play_does_not_pass_for_an_answer():
    """Both may pass for ever, and each step earns a point: no value is large enough."""
    earn = [[(1.0, [(1, AGAIN, 0)])]]
    found = strategy_iteration(assemble(earn, objective="maximize", players=1))
    assert not found.converged


@given(ending_graphs(n_border=2), st.lists(st.fractions(-3, 3), min_size=2, max_size=2))
def test_random_graphs_with_a_border(graph, border):
    border = [b.limit_denominator(64) for b in border]
    found = strategy_iteration(graph, border_values=np.array([float(b) for b in border]))
    truth = exact(graph, border)
    # a border value of 1/3 is rounded before the solver sees it
    assert np.abs(found.values - truth).max() <= CLOSE * max(1.0, np.abs(truth).max())


def test_sweeps_and_naive_value_iteration_agree():
    """One sweep of the kernel is one sweep of the naive twin over the same order."""
    graph = build(Biased())
    layer = ordered(graph)
    (_, block), order = layer.blocks[0], layer.order[::-1].tolist()
    moves = naive.moves_of_graph(graph)
    in_order = {s: moves[s] for s in order}
    values, choice = values_for(layer, np.empty(0)), choices_for(layer)[0]
    lists = block, layer.tables, values, NO_ERRORS, choice
    for swept in range(1, 6):
        fall, rise, scale, _ = sweeps.choose(0, 0, layer.n, *lists)
        twin = naive.value_iteration(in_order, swept)
        found = layer.in_reading_order(values)
        assert found == pytest.approx([twin[s] for s in range(layer.n)], abs=1e-15)
        assert scale == np.abs(found).max()
        assert min(fall, rise) >= 0


def step_down_or_out(n: int) -> StateGraph:
    """From each state play may go up with a chance to win, or down one; only the lowest ends.

    Sweeps in solving order see one state more each time.
    """
    table = [
        [(0.0, [(1, AGAIN, s + 1), (1, WIN, None)]), (0.0, [(1, AGAIN, s - 1)])] for s in range(n)
    ]
    table[0] = [(0.0, [(1, AGAIN, 1), (1, WIN, None)])]
    table[-1] = [(0.0, [(1, LOSE, None)]), (0.0, [(1, AGAIN, n - 2)])]
    return assemble(table, players=1)


def test_play_is_seen_to_end_however_many_sweeps_that_takes():
    graph = step_down_or_out(2_000)
    layer = layer_of_graph(graph)
    assert len(staying(layer, 100)) > 1_800
    assert not len(staying_places(layer))
    found, proof, _ = solve_and_certify(graph)
    assert found.converged
    assert proof.bound < 1e-9


TWICE = [  # two actions, and outcomes of one action, that lead to the same state
    [(0.0, [(1, AGAIN, 1)]), (0.0, [(1, AGAIN, 1), (1, AGAIN, 1)])],
    [(0.0, [(1, WIN, None), (1, AGAIN, 0)])],
]


@given(st.one_of(ending_graphs(max_states=9), st.just(assemble(TWICE))))
def test_the_order_in_which_positions_leave(graph):
    """Marked in this order, one after the other, all are marked at once."""
    layer = layer_of_graph(graph)
    order_found = leaving_order(layer)
    assert sorted(order_found.tolist()) == list(range(layer.n))
    ending = np.zeros(layer.n, np.bool_)
    assert mark(*layer.blocks[0], layer.tables, ending, order_found) == layer.n


def test_gaps_are_rounded_down_to_powers_of_two():
    """Each gap that `measure` writes is at most the true one, and more than half of it."""
    graph = build(Pig(target=40))
    layer = ordered(graph)
    (_, block), values = layer.blocks[0], Search(layer, values_for(layer, np.empty(0))).run().found
    (errors,) = sweeps.errors_for(layer, 1.0)
    sweeps.measure(0, 0, layer.n, block, layer.tables, 0.0, 0.0, values, errors)
    outcome, indptr, action = 0, layer.tables.indptr, 0
    worth = np.empty(len(block.lottery))
    for a, number in enumerate(block.lottery.tolist()):
        part = slice(indptr[number], indptr[number + 1])
        targets = block.target[outcome : outcome + part.stop - part.start]
        worth[a] = layer.tables.reward[number] + layer.tables.coefficient[part] @ values[targets]
        outcome += len(targets)
    for n in block.count.tolist():
        here = slice(action, action + n)
        true, found = worth[here].max() - worth[here], -errors.gaps[errors.gap[here]]
        assert np.all(found <= true + 1e-15)
        assert np.all(found >= true / 2 - 1e-15)
        action += n
    assert len(np.unique(errors.gap)) > 10
