"""Exports are read back by the tools that they are for, and give the same values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import polars as pl
import pytest
from little_games import Ladder, Shortest

import rollwise
from rollwise import AGAIN, DRAW, END, LOSE, PASS, WIN, Game, parameter
from rollwise.answer.evaluation import best_response
from rollwise.answer.references import Policies
from rollwise.answer.solve import solve
from rollwise.export import export
from rollwise.games.craps import Craps
from rollwise.games.frozen_lake import FrozenLake
from rollwise.games.pig import Pig
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes


class Place(NamedTuple):
    """A place that a player need not leave."""

    place: int


@dataclass(frozen=True)
class Hesitant(Game):
    """One player waits for ever, or wins, draws or loses."""

    players: ClassVar = 1
    endless: str = parameter("draw", among=("draw", "lose"))

    def start(self):
        return Place(0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        if action == 0:
            yield 1, AGAIN, s
        else:
            yield 1, WIN, s
            yield 1, DRAW, s
            yield 2, LOSE, s


# Games with the second player's policy, which leaves one to choose.
ONE_PLAYER = [
    (Pig(target=9), "hold-at-20"),
    (SuperSix(sticks=7), "throw-until-4"),
    (Threes(dice=3), None),
    (Craps(), None),
]


def storms_answer(path, form, query):
    stormpy = pytest.importorskip("stormpy")
    properties = stormpy.parse_properties(query)
    if form == "prism":
        model = stormpy.build_model(stormpy.parse_prism_program(str(path)), properties)
    else:
        model = stormpy.build_model_from_drn(str(path))
    found = stormpy.model_checking(model, properties[0])
    assert found is not None
    return found.get_value(model.initial_states[0])


@pytest.mark.slow
@pytest.mark.parametrize("form", ["prism", "drn"])
@pytest.mark.parametrize(("game", "against"), ONE_PLAYER, ids=str)
def test_storm_gives_the_same_values(tmp_path, form, game, against):
    solution = solve(game)
    policy = None if against is None else Policies(solution.graph, game).find(against)
    path = tmp_path / f"model.{form}"
    export(solution, path, form, policy)
    if solution.is_score:
        ours, query = solution.value, 'R{"points"}min=? [F "finished"]'
    else:
        query = 'Pmax=? [F "won"]'
        answer = solution if policy is None else best_response(solution.graph, policy)
        ours = (1 + float(answer.values[0])) / 2
    assert storms_answer(path, form, query) == pytest.approx(ours, abs=1e-6)
    if not solution.is_score:
        shares = storms_answer(path, form, 'R{"share"}max=? [F "finished"]')
        assert shares == pytest.approx(ours, abs=1e-6)


def test_queries_of_games_with_endless_play(tmp_path):
    """A total up to the end is infinite there, so it isn't the query."""
    query = 'R{"share"}max=? [C]'
    for form in ("prism", "drn"):
        path = tmp_path / f"model.{form}"
        solution = solve(Hesitant(endless="lose"))
        export(solution, path, form)
        assert f"{query}\n" in path.read_text()
        assert 'share"}max=? [F' not in path.read_text()
        export(solve(Hesitant(endless="draw")), path, form)
        assert "go on for ever, which is a draw: queries count it as no win" in path.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["prism", "drn"])
def test_storm_gives_the_same_values_where_endless_play_is_lost(tmp_path, form):
    solution = solve(Hesitant(endless="lose"))
    export(solution, tmp_path / f"model.{form}", form)
    shares = storms_answer(tmp_path / f"model.{form}", form, 'R{"share"}max=? [C]')
    assert shares == pytest.approx(solution.win_probability, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("game", [Pig(target=9), SuperSix(sticks=7), Threes(dice=3)], ids=str)
def test_open_spiel_gives_the_same_values(game):
    pyspiel = pytest.importorskip("pyspiel")
    value_iteration = pytest.importorskip("open_spiel.python.algorithms.value_iteration")

    from rollwise.export.open_spiel import register

    solution = solve(game)
    loaded = pyspiel.load_game(register(game))
    values = value_iteration.value_iteration(loaded, -1, 1e-11, cyclic_game=True)
    start = str(loaded.new_initial_state())
    sign = -1 if solution.graph.objective == "minimize" else 1
    assert sign * values[start] == pytest.approx(solution.value, abs=1e-6)


@pytest.mark.parametrize("game", [Ladder(top=5), Shortest(top=3)], ids=str)
def test_rewards_in_open_spiel_add_up_to_the_return(game):
    """Learners there see the points of a move after its chances; at chance nodes none look."""
    pyspiel = pytest.importorskip("pyspiel")
    from rollwise.export.open_spiel import register

    loaded, random = pyspiel.load_game(register(game)), np.random.default_rng(4)
    for _ in range(20):
        node, seen = loaded.new_initial_state(), 0.0
        while not node.is_terminal():
            if node.is_chance_node():
                actions, chances = zip(*node.chance_outcomes(), strict=True)
                node.apply_action(int(random.choice(actions, p=chances)))
            else:
                node.apply_action(int(random.choice(node.legal_actions())))
            seen += 0.0 if node.is_chance_node() else node.rewards()[0]
        assert seen == pytest.approx(node.returns()[0])


@dataclass(frozen=True)
class Toll(Game):
    """Two players; a better chance to win costs a payment to the other."""

    def start(self):
        return Place(0)

    def actions(self, s):
        yield 0
        yield 1

    def reward(self, s, action):
        return -0.25 * action

    def outcomes(self, s, action):
        yield 1 + action, WIN, s
        yield 1, PASS if s.place < 3 else DRAW, Place(s.place + 1)


@pytest.mark.parametrize("game", [Ladder(top=4), Toll()], ids=str)
def test_points_come_back_from_open_spiel(game):
    pyspiel = pytest.importorskip("pyspiel")
    from rollwise.export.open_spiel import register

    again = rollwise.from_open_spiel(pyspiel.load_game(register(game)))
    assert rollwise.solve(again).value == pytest.approx(solve(game).value, abs=1e-12)


def test_parquet_backs_up_to_the_values(tmp_path):
    solution = solve(Pig(target=15))
    export(solution, tmp_path / "game.parquet", "parquet")
    frame = pl.read_parquet(tmp_path / "game.parquet")
    assert len(frame) == solution.graph.n_outcomes
    values = frame.group_by("state").agg(pl.col("value").first()).sort("state")["value"].to_numpy()
    ahead = np.where(
        frame["next_state"].is_null(),
        frame["payoff"],
        values[frame["next_state"].fill_null(0).to_numpy()],
    )
    worth = frame["probability"].to_numpy() * np.where(frame["passes"], -ahead, ahead)
    best = (
        frame.with_columns(pl.Series("worth", worth))
        .group_by("state", "action")
        .agg(pl.col("worth").sum())
        .group_by("state")
        .agg(pl.col("worth").max())
        .sort("state")["worth"]
    )
    assert np.abs(best.to_numpy() - values).max() < 1e-12


def solvers_answer(path, solver):
    """The columns by name at the optimum that a solver finds in a file."""
    if solver == "highs":
        highspy = pytest.importorskip("highspy")
        model = highspy.Highs()
        model.setOptionValue("output_flag", False)
        model.setOptionValue("primal_feasibility_tolerance", 1e-9)
        assert model.readModel(str(path)) == highspy.HighsStatus.kOk
        model.run()
        assert model.getModelStatus() == highspy.HighsModelStatus.kOptimal
        columns = model.getSolution().col_value
        return {model.getColName(j)[1]: x for j, x in enumerate(columns)}
    pyscipopt = pytest.importorskip("pyscipopt")
    model = pyscipopt.Model()
    model.hideOutput()
    model.readProblem(str(path))
    model.optimize()
    assert model.getStatus() == "optimal"
    return {variable.name: model.getVal(variable) for variable in model.getVars()}


@pytest.mark.parametrize("solver", ["highs", "scip"])
@pytest.mark.parametrize("form", ["lp", "mps"])
@pytest.mark.parametrize(
    ("game", "program"),
    [
        (SuperSix(sticks=8), "linear-programming"),
        (SuperSix(sticks=8), "mixed-integer"),
        (Pig(target=4), "mixed-integer"),
        (Threes(dice=2), "linear-programming"),
        (Threes(dice=2), "mixed-integer"),
    ],
    ids=str,
)
def test_solvers_find_the_values_in_the_program(tmp_path, game, program, form, solver):
    solution = solve(game)
    path = tmp_path / f"program.{form}"
    export(solution, path, form, program=program)
    found = solvers_answer(path, solver)
    right = -solution.values if solution.is_score else solution.win_probabilities
    for row, worth in zip(solution.graph.states.tolist(), right.tolist(), strict=True):
        assert found[f"x_{'_'.join(map(str, row))}"] == pytest.approx(worth, abs=2e-5)
    chosen = {name for name, x in found.items() if name.startswith("r_") and x > 0.5}
    assert bool(chosen) is (program == "mixed-integer")
    for name in chosen & {"r_4_1_2_0_throw", "r_4_1_2_0_stop"}:
        assert name == "r_4_1_2_0_stop"


@pytest.mark.parametrize("program", ["linear-programming", "mixed-integer"])
@pytest.mark.parametrize(
    "game", [Hesitant(endless="draw"), Hesitant(endless="lose"), FrozenLake()], ids=str
)
def test_programs_have_the_worth_of_endless_play(tmp_path, game, program):
    solution = solve(game)
    path = tmp_path / "program.lp"
    export(solution, path, "lp", program=program)
    found = solvers_answer(path, "highs")
    values = {
        f"x_{'_'.join(map(str, row))}": worth
        for row, worth in zip(
            solution.graph.states.tolist(), solution.win_probabilities.tolist(), strict=True
        )
    }
    shown = {name: x for name, x in found.items() if name.startswith("x_")}
    assert shown == pytest.approx({name: values[name] for name in shown}, abs=2e-5)
    start = "_".join(map(str, solution.graph.row(0)))
    assert f"x_{start}" in shown


@dataclass(frozen=True)
class Trap(Game):
    """A walk of a step, beside a trap that costs for ever."""

    players: ClassVar = 1
    objective: ClassVar = "minimize"

    def start(self):
        return Place(0)

    def roots(self):
        yield Place(0)
        yield Place(9)

    def actions(self, s):
        yield 0
        yield 1

    def reward(self, s, action):
        return 1.0

    def outcomes(self, s, action):
        yield 1, AGAIN if action or s.place else END, Place(9)


def test_infinite_values_are_null_in_json(tmp_path):
    export(solve(Trap()), tmp_path / "trap.json", "json")
    first, trap = json.loads((tmp_path / "trap.json").read_text())["states"]
    assert (first["value"], [one["value"] for one in first["actions"]]) == (1.0, [1.0, None])
    assert trap["value"] is None
