"""When the linear program of two players is right: net visits, a rim, and components."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from graphs import ending_graphs
from hypothesis import assume, given

import rollwise
from rollwise.games.pig import Pig
from rollwise.games.super_six import SuperSix
from rollwise.graph.choices import has_choice
from rollwise.methods.linear_programming import linear_programming, net_visits
from rollwise.methods.result import Status

pytestmark = pytest.mark.slow

pytest.importorskip("highspy")

FOR_TWO = ((2, "win"),)


def naive_visits(graph, actions) -> np.ndarray:
    """Net visits, added up step by step."""
    moves = naive.moves_of_graph(graph)
    choice = has_choice(graph)
    here = {s: float(choice[s]) for s in moves}
    total = dict.fromkeys(moves, 0.0)
    for _ in range(4000):
        after = dict.fromkeys(moves, 0.0)
        for s, amount in here.items():
            total[s] += amount
            move = moves[s][actions[s] - graph.action_indptr[s]]
            for t, coefficient in move.coefficients.items():
                after[t] += amount * float(coefficient)
        here = after
        if max(map(abs, here.values())) < 1e-14:
            break
    return np.array([total[s] for s in range(graph.n_states)])


@pytest.mark.parametrize("game", [SuperSix(sticks=5), Pig(target=5)])
def test_net_visits_are_those_of_the_naive_twin(game):
    solution = rollwise.solve(game)
    found = net_visits(solution.graph, solution.best_actions)
    assert found == pytest.approx(naive_visits(solution.graph, solution.best_actions), abs=1e-9)


@given(graph=ending_graphs(kinds=FOR_TWO))
def test_the_program_is_right_where_net_visits_are_not_negative(graph):
    """The theorem at the head of the module, both ways, on any graph of two players."""
    moves = naive.moves_of_graph(graph)
    exact = naive.exact_values(moves)
    values = np.array([float(exact[s]) for s in range(graph.n_states)])
    worths = [sorted(naive.worth(m, exact) for m in moves[s]) for s in range(graph.n_states)]
    best = np.array(
        [
            graph.action_indptr[s]
            + max(range(len(moves[s])), key=lambda i, s=s: naive.worth(moves[s][i], exact))
            for s in range(graph.n_states)
        ]
    )
    choice = has_choice(graph)
    assume(choice.any())
    visits = net_visits(graph, best)[choice]
    found = linear_programming(graph)
    sums = [float(np.sum(x[choice])) for x in (found.values, values)]
    assert sums[0] <= sums[1] + 1e-6  # the true values obey the rows
    if np.all(visits >= 0):
        assert sums[0] == pytest.approx(sums[1], abs=1e-6)
    distinct = all(w[-1] - w[-2] > 1e-3 for w in worths if len(w) > 1)
    if distinct and np.any(visits < -1e-3) and np.all(np.abs(values) < 1 - 1e-3):
        assert found.status is Status.NOT_A_FIXED_POINT
        assert sums[0] < sums[1] - 1e-9


@pytest.mark.parametrize("sticks", [14, 16, 20])
def test_one_stick_more_makes_it_right(sticks):
    """The source's program, wrong from 14 sticks on, is right within a larger game."""
    truth = rollwise.solve(SuperSix(sticks=sticks))
    visits = net_visits(truth.graph, truth.best_actions)
    choice = has_choice(truth.graph)
    negative = choice & (visits < 0)
    assert negative.any()
    assert np.all(truth.graph.states[negative][:, :3].sum(axis=1) == sticks)  # the rim
    wrong = rollwise.solve(SuperSix(sticks=sticks), method="linear-programming")
    assert wrong.status == "not a fixed point"
    found = rollwise.solve(SuperSix(sticks=sticks), method="linear-programming", options={"rim": 1})
    assert found.status == "certified"
    assert found.error_bound < 1e-8
    assert np.max(np.abs(found.values - truth.values)) < 1e-9
    assert found.run.details["rim"] == 1
