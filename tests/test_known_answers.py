"""Every method on games whose answers are known from elsewhere (see answers.toml)."""

from __future__ import annotations

import functools
import tomllib
from fractions import Fraction
from pathlib import Path

import naive
import numpy as np
import pytest
from little_games import Gambler

from rollwise import Game, build, certify, equilibrium, solve
from rollwise.games import available
from rollwise.games.pig import Pig, Piglet
from rollwise.games.super_six import STOP, THROW, SuperSix
from rollwise.graph import StateGraph
from rollwise.methods import METHODS as TABLE
from rollwise.methods import run_method

ANSWERS = tomllib.loads((Path(__file__).parent / "answers.toml").read_text())
GAMES = {**available(), "gambler": Gambler}

# Every method of the table that doesn't estimate, but for linear programming: with two players it
# is wrong, and says so (see test_methods.py).
METHODS = [
    name for name, method in TABLE.items() if name != "linear-programming" and not method.estimates
]
# Those that are tried on games of many states; the others would take minutes.
FOR_LARGE_GAMES = ("strategy-iteration", "value-iteration")

# However a method stops, its certificate must be at least this good.
GOOD_ENOUGH = 1e-6


def certified(method: str, graph: StateGraph) -> tuple[np.ndarray, np.ndarray]:
    found = run_method(graph, method)
    assert found.converged
    values = found.values
    bounds = certify(graph, values).bounds
    assert bounds.max() <= GOOD_ENOUGH
    return values, bounds


def printed(text: str) -> tuple[Fraction, Fraction]:
    """A printed number, and how far it may be off."""
    if "/" in text:
        return Fraction(text), Fraction(0)
    digits = len(text.partition(".")[2])
    return Fraction(text), Fraction(1, 2 * 10**digits)


def assert_agrees(probability: float, bound: float, text: str) -> None:
    answer, half_digit = printed(text)
    assert abs(Fraction(probability) - answer) <= half_digit + Fraction(bound) + Fraction(1, 2**52)


def answers():
    games: dict[Game, list[dict]] = {}
    for answer in ANSWERS["answer"]:
        if "win_probabilities" in answer:
            continue
        game = GAMES[answer["game"]](**answer.get("parameters", {}))
        games.setdefault(game, []).append(answer)
    for game, known in games.items():
        large = any(answer.get("large", False) for answer in known)
        texts = [
            answer["score" if game.objective != "win" else "win_probability"] for answer in known
        ]
        for method in FOR_LARGE_GAMES[:1] if large else METHODS:
            marks = [pytest.mark.needs_jit] if large else []
            name = f"{method} {game.name} {game.parameters} {', '.join(texts)}"
            yield pytest.param(method, game, texts, marks=marks, id=name)


@functools.lru_cache(maxsize=1)
def built(game: Game) -> StateGraph:
    """The graph of a game, for one method after another."""
    return build(game)


@pytest.mark.parametrize(("method", "game", "texts"), list(answers()))
def test_the_start(method, game, texts):
    if game.endless == "forbidden":
        values, bounds = certified(method, built(game))
    else:  # `solve` settles endless play before the method runs
        solution = solve(game, method=method)
        values, bounds = solution.values, solution.error_bounds
        assert bounds.max() <= GOOD_ENOUGH
    for text in texts:
        if game.objective != "win":
            assert_agrees(values[0], bounds[0], text)
        else:
            assert_agrees((1 + values[0]) / 2, bounds[0] / 2, text)


@pytest.mark.parametrize(
    "answer", [answer for answer in ANSWERS["answer"] if "win_probabilities" in answer]
)
def test_the_start_of_three_or_more(answer):
    found = equilibrium(GAMES[answer["game"]](**answer["parameters"]))
    for worth, text in zip(found.win_probabilities, answer["win_probabilities"], strict=True):
        assert_agrees(worth, found.error_bound, text)


@pytest.mark.parametrize("method", METHODS)
def test_piglet_with_a_goal_of_2_in_every_state(method):
    """Neller and Presser (2004), figure 1: all six win probabilities."""
    graph = build(Piglet(2))
    values, bounds = certified(method, graph)
    known = {
        (0, 0, 0): "4/7",
        (0, 0, 1): "5/7",
        (0, 1, 0): "2/5",
        (0, 1, 1): "3/5",
        (1, 0, 0): "4/5",
        (1, 1, 0): "2/3",
    }
    assert graph.n_states == len(known)
    for state, text in known.items():
        s = graph.find(state)
        assert_agrees((1 + values[s]) / 2, bounds[s] / 2, text)


def action_values(graph: StateGraph, values: np.ndarray, s: int) -> dict[int, float]:
    """What each action of a state is worth, by one look ahead."""
    worth = {}
    for a in range(graph.action_indptr[s], graph.action_indptr[s + 1]):
        k = slice(graph.outcome_indptr[a], graph.outcome_indptr[a + 1])
        target, weight = graph.outcome_state[k], graph.outcome_weight[k]
        after = np.where(graph.outcome_passes[k], -1, 1) * values[target]
        outcome = np.where(target < 0, graph.outcome_payoff[k], after)
        worth[int(graph.action_label[a])] = float(weight @ outcome / weight.sum())
    return worth


def throws(graph: StateGraph, values: np.ndarray, state: tuple[int, ...]) -> bool:
    """Whether throwing is best; a choice too close to tell would be an error."""
    worth = action_values(graph, values, graph.find(state))
    if STOP not in worth:
        return True
    assert abs(worth[THROW] - worth[STOP]) > 2 * GOOD_ENOUGH
    return worth[THROW] > worth[STOP]


@pytest.mark.parametrize("method", METHODS)
def test_super_six_with_7_sticks_as_printed(method):
    """All 20 rows, all digits, all choices; and there are no other such states."""
    graph = build(SuperSix(7))
    values, bounds = certified(method, graph)
    rows = ANSWERS["super-six-7"]["rows"]
    assert len(rows) == 20
    for *state, value, throw, probability in rows:
        s = graph.find(state)
        assert_agrees(values[s], bounds[s], value)
        assert_agrees((1 + values[s]) / 2, bounds[s] / 2, probability)
        assert throws(graph, values, tuple(state)) is throw
    covered = {tuple(row[:4]) for row in rows}
    states = {tuple(state) for state in graph.states.tolist() if state[0] >= 3}
    assert states == covered


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(name, marks=[] if name == "strategy-iteration" else [pytest.mark.slow])
        for name in METHODS
        if name != "exact"  # of 7 sticks; these fractions are long
    ],
)
def test_super_six_with_40_sticks(method):
    """The pattern of the 40-stick figures of 'Solving Super Six' (2024).

    "Make sure not to miss the symmetry and the one surprising Roll when there are 4 pegs
    on the board and both players have 1 peg."
    """
    graph = build(SuperSix(40), mode="interpreted")
    values, _ = certified(method, graph)
    free = [tuple(state) for state in graph.states.tolist() if state[3] == 0]
    assert len(free) == 4_115
    thrown = {state[:3] for state in free if throws(graph, values, state)}
    stopped = {state[:3] for state in free} - thrown
    assert {lid for lid, _, _ in stopped} == {3, 4, 5}
    assert {lid for lid, _, _ in thrown} == {0, 1, 2, 3, 4}
    assert [state for state in thrown if state[0] == 4] == [(4, 1, 1)]
    assert {(lid, theirs, mine) for lid, mine, theirs in stopped} == stopped


@pytest.mark.parametrize("method", FOR_LARGE_GAMES)
def test_super_six_by_the_codes_of_jehn(method):
    """The strategy for each number of sticks up to 15, a bit for each situation with a choice."""
    graph = build(SuperSix(15))
    values, _ = certified(method, graph)
    codes = ANSWERS["super-six-codes"]["codes"]
    assert len(codes) == 15
    for sticks, code in enumerate(codes, 1):
        bits = f"{code:b}"[::-1] if code else ""
        for lid in range(5, 0, -1):
            for mine in range(sticks - lid - 1, 0, -1):
                bit, bits = bits[:1] or "0", bits[1:]
                thrown = throws(graph, values, (lid, mine, sticks - lid - mine, 0))
                assert thrown is (bit == "1")
        assert bits == ""


def test_super_six_by_the_fractions_of_jehn():
    """Numerators of the chance with three sticks in the lid and n in each hand."""
    graph = build(SuperSix(11))
    found = run_method(graph, "exact").fractions
    for n, numerator in enumerate(ANSWERS["super-six-codes"]["numerators"], 1):
        chance = (1 + found[graph.find((3, n, n, 1))]) / 2
        assert str(chance.numerator) == numerator


@pytest.mark.parametrize("method", METHODS)
def test_pig_with_a_goal_of_7_by_exact_fractions(method):
    """A twin that shares nothing with the package but the rules: see naive.py."""
    truth = naive.exact_values(naive.moves_of_game(Pig(7)))
    graph = build(Pig(7))
    values, bounds = certified(method, graph)
    for state, true in truth.items():
        s = graph.find(state)
        assert abs(Fraction(values[s].item()) - true) <= Fraction(bounds[s].item())
