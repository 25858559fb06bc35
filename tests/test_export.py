"""Exports are read back by the tools that they are for, and give the same values."""

from __future__ import annotations

import itertools
import json
import re
import tarfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import polars as pl
import pytest
from cli_runner import output
from little_games import Ladder, Shortest

import rollwise
from rollwise import AGAIN, DRAW, END, LOSE, PASS, PASS_BACK, WIN, Game, parameter, payoff, payoffs
from rollwise.answer.evaluation import best_response, best_responses, respond_to_all
from rollwise.answer.references import Policies
from rollwise.answer.solve import solve
from rollwise.errors import UsageError
from rollwise.export import export
from rollwise.games import find
from rollwise.games.cant_stop import CantStop
from rollwise.games.craps import Craps
from rollwise.games.frozen_lake import FrozenLake
from rollwise.games.pig import Pig
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.graph.choices import has_choice
from rollwise.many.seats import build_seats

EXAMPLES = Path(__file__).parent.parent / "examples"


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


@dataclass(frozen=True)
class Wager(Game):
    """A roll for a stake, or, if `waits`, none for ever."""

    players: ClassVar = 1
    endless: ClassVar = "draw"
    waits: bool = parameter(False)

    def start(self):
        return Place(0)

    def actions(self, s):
        return (0, 1) if self.waits else (1,)

    def outcomes(self, s, action):
        if action == 0:
            yield 1, AGAIN, s
        else:
            yield 2, payoff(2.5), s
            yield 1, payoff(-1.5), s


def test_exports_tell_how_values_of_models_differ(tmp_path):
    """Payoffs above the smallest one, and endless play without a question that counts it."""
    path, game = tmp_path / "model.umb", Wager()
    (raised,) = export(solve(game), path, "umb")
    less = float(re.search(r"raised by (\S+),", raised)[1])
    assert solve(find(path)()).value - less == pytest.approx(solve(game).value)
    told = export(solve(Wager(waits=True)), path, "umb")
    assert len(told) == 2
    asked = dict(word.split("=") for word in re.findall(r"\w+=\w+", told[1]))
    assert solve(find(path)(**asked)).win_probability == pytest.approx(2 / 3)
    (lost,) = export(solve(Hesitant(endless="lose")), path, "umb")
    assert "which is a loss" in lost
    assert "no question" not in lost
    (drawn,) = export(solve(Hesitant()), tmp_path / "model.prism", "prism")
    assert "no question about the model counts it so" in drawn
    assert "goal=" not in drawn  # rollwise reads no such files
    assert export(solve(Pig(target=9)), path, "umb") == []


def test_the_command_prints_how_values_of_models_differ(tmp_path):
    (tmp_path / "own.py").write_text(
        "from rollwise.games.pig import Pig\nfrom rollwise import WIN, payoff\n\n\n"
        "class Own(Pig):\n"
        "    def outcomes(self, s, action):\n"
        "        for weight, then, after in super().outcomes(s, action):\n"
        "            yield weight, payoff(3) if then == WIN else then, after\n"
    )
    words = ("export", f"{tmp_path / 'own.py'}:Own", "target=9", "--to", "umb", "--out")
    said = output(*words, str(tmp_path / "m.umb"))
    assert "  payoffs are raised by 3, as models have no negative rewards" in said
    note = json.loads(output(*words, str(tmp_path / "m.umb"), "--json"))["note"]
    assert note.startswith("payoffs are raised by 3,")


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


@pytest.mark.parametrize("wins", [True, False])
def test_changed_rules_of_one_name_are_another_game_of_open_spiel(wins):
    """As in a notebook, where a class is written again."""
    pyspiel = pytest.importorskip("pyspiel")
    from rollwise.export.open_spiel import register

    def outcomes(self, s, action):
        yield 1, WIN if wins else LOSE, s

    hooks = {"start": lambda self: Place(0), "actions": lambda self, s: (0,), "outcomes": outcomes}
    node = pyspiel.load_game(register(type("Rewritten", (Game,), hooks)())).new_initial_state()
    node.apply_action(0)
    node.apply_action(0)
    assert node.returns()[0] == (1.0 if wins else -1.0)


@pytest.mark.parametrize(
    ("game", "name", "says"),
    [
        (Pig(target=5), "tic_tac_toe", "OpenSpiel has another game with the name 'tic_tac_toe'"),
        (Pig(target=5), "a b", "'a b' is no name for OpenSpiel"),
        (Pig(target=5), 3, "a name is wanted"),
        (Pig(target=5, players=3), None, "pig target=5 sides=6 must_bank=false players=3 is a"),
    ],
)
def test_names_and_games_that_open_spiel_cannot_have(game, name, says):
    pytest.importorskip("pyspiel")
    from rollwise.export.open_spiel import register

    with pytest.raises(UsageError, match=says):
        register(build_seats(game) if game.players > 2 else game, name)


class Crowded(NamedTuple):
    """Fields with names of columns."""

    state: int
    weight: int
    P_go: int


class CrowdedGame(Game):
    action_names: ClassVar = {1: "go"}

    def start(self):
        return Crowded(3, 7, 5)

    def actions(self, s):
        yield 1

    def outcomes(self, s, action):
        yield 2, PASS if s.state > 1 else WIN, Crowded(s.state - 1, s.weight, s.P_go)
        yield 1, LOSE, s


def test_columns_with_names_of_fields(tmp_path):
    solution = solve(CrowdedGame())
    export(solution, tmp_path / "game.parquet", "parquet")
    frame = pl.read_parquet(tmp_path / "game.parquet")
    assert frame.filter(pl.col("state_") == 0).select(
        "state", "weight", "P_go"
    ).unique().rows() == [(3, 7, 5)]
    assert frame["weight_"].to_list() == [2, 1] * 3
    assert frame["next_state"].to_list()[:2] == [1, None]
    table = solution.table(each_action=True)
    assert table["P_go"].to_list() == [5, 5, 5]
    assert np.allclose(table["P_go_"], table["win_probability"])


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


@pytest.mark.parametrize(
    ("options", "is_warned"),
    [("", True), ("--program mixed-integer", False), ("--against optimal", False)],
)
def test_a_program_that_may_miss_the_values_says_so(tmp_path, options, is_warned):
    words = f"export piglet target=4 --to lp --out program.lp {options}".split()
    told = output(*words, cwd=tmp_path)
    assert ("may miss the values" in told) is is_warned


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


# ---- three or more players


@dataclass(frozen=True)
class Hold(Game):
    """Three players for payoffs: to end the game costs the next one, to wait may cost the mover."""

    players: ClassVar = 3

    def start(self):
        return Place(0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        if action == 0:
            yield 1, payoffs(1 + s.place, -2, 1), s
        else:
            yield 1, payoffs(-3, 2, 1), s
            yield 2, PASS if s.place < 3 else payoffs(0, 0, 0), Place(s.place + 1)
            yield 1, PASS_BACK if s.place < 3 else payoffs(5, 0, 0), Place(s.place + 1)


THREE_PLAYERS = [
    Hold(),
    find("pig")(players=3, target=4),
    find(f"{EXAMPLES}/who_stops.py:WhoStops")(),  # its equilibrium mixes
    find(f"{EXAMPLES}/king_maker.py:KingMaker")(),
    find("left-center-right")(players=3, chips=1),  # the die comes to any seat
    find(f"{EXAMPLES}/standoff.py:Standoff")(),  # with shares of the win
    CantStop(players=3, sides=2, columns=1),  # with throws
]


class Rows(NamedTuple):
    """A game with its answer, from a file alone."""

    state: np.ndarray  # of each action
    chance: np.ndarray  # of each action in the equilibrium
    action: np.ndarray  # of each outcome
    weight: np.ndarray
    after: np.ndarray
    passes: np.ndarray
    payoff: np.ndarray  # (n_outcomes, players)
    values: np.ndarray  # (n_states, players)
    worths: np.ndarray  # (n_actions, players)


def by_seat(record, name, players):
    return [record[f"{name}.{seat}"] for seat in range(players)]


def read_json(path):
    document = json.loads(path.read_text())
    n, states = document["players"], document["states"]
    worth = "payoff" if "payoff.0" in states[0] else "win_probability"
    actions = [(s, action) for s, state in enumerate(states) for action in state["actions"]]
    outcomes = [(a, one) for a, (_, action) in enumerate(actions) for one in action["outcomes"]]
    return Rows(
        np.array([s for s, _ in actions]),
        np.array([action["probability"] for _, action in actions]),
        np.array([a for a, _ in outcomes]),
        np.array([one["weight"] for _, one in outcomes]),
        np.array([-1 if one["next"] is None else one["next"] for _, one in outcomes]),
        np.array([one["passes"] for _, one in outcomes]),
        np.array([by_seat(one, "payoff", n) for _, one in outcomes]),
        np.array([by_seat(state, worth, n) for state in states]),
        np.array([by_seat(action, worth, n) for _, action in actions]),
    )


def read_parquet(path):
    frame = pl.read_parquet(path)
    worth = "payoff" if "payoff.0" in frame.columns else "win_probability"
    n = sum(name.startswith(f"{worth}.") for name in frame.columns)
    begins = (frame["state"].diff().fill_null(1) != 0) | (
        frame["action"].cast(pl.String) != frame["action"].cast(pl.String).shift()
    ).fill_null(True)
    first = frame.filter(begins)
    state = first["state"].to_numpy()
    columns = np.column_stack
    return Rows(
        state,
        first["action_probability"].to_numpy(),
        begins.cast(int).cum_sum().to_numpy() - 1,
        frame["weight"].to_numpy(),
        frame["next_state"].fill_null(-1).to_numpy(),
        frame["passes"].to_numpy(),
        columns([one.to_numpy() for one in by_seat(frame, "outcome_payoff", n)]),
        columns([one.to_numpy() for one in by_seat(first, worth, n)])[
            np.unique(state, return_index=True)[1]
        ],
        columns([one.to_numpy() for one in by_seat(first, f"action_{worth}", n)]),
    )


def read_npz(path):
    with np.load(path) as arrays:
        actions, outcomes = np.diff(arrays["action_indptr"]), np.diff(arrays["outcome_indptr"])
        return Rows(
            np.repeat(np.arange(len(actions)), actions),
            arrays["action_probabilities"],
            np.repeat(np.arange(len(outcomes)), outcomes),
            arrays["outcome_weight"],
            arrays["outcome_state"],
            arrays["outcome_passes"],
            arrays["outcome_payoffs"],
            arrays["values"],
            arrays["action_values"],
        )


def swept(game, choose, sweeps=2000):
    """Values of all seats and of all actions by naive sweeps, each seen from the mover."""
    n = game.payoff.shape[1]
    total = np.bincount(game.action, game.weight)[game.action]
    values = np.zeros((len(game.values), n))
    seat = (np.arange(n) - game.passes[:, None].astype(int)) % n
    for _ in range(sweeps):
        ahead = np.where(game.after[:, None] < 0, game.payoff, values[game.after[:, None], seat])
        worths = np.zeros((len(game.state), n))
        np.add.at(worths, game.action, ahead * (game.weight / total)[:, None])
        before, values = values, np.zeros_like(values)
        np.add.at(values, game.state, worths * choose(worths)[:, None])
        if np.abs(values - before).max() < 1e-15:
            break
    return values, worths


@pytest.mark.parametrize(
    ("form", "read"), [("json", read_json), ("parquet", read_parquet), ("npz", read_npz)]
)
@pytest.mark.parametrize("game", THREE_PLAYERS, ids=lambda game: game.name)
def test_data_of_three_players_hold_the_equilibrium(tmp_path, game, form, read):
    """By the file alone: the policies have these values, and no mover has a better action."""
    solution = solve(game)
    export(solution, tmp_path / "game", form)
    found = read(tmp_path / "game")
    values, worths = swept(found, lambda _: found.chance)
    assert found.values == pytest.approx(values, abs=1e-12)
    assert found.worths == pytest.approx(worths, abs=1e-12)
    assert (worths[:, 0] <= values[found.state, 0] + 1e-9).all()
    assert found.values[0] == pytest.approx(solution.equilibrium.worth, abs=1e-12)


class Model(NamedTuple):
    """A model: its actions' owners and branches, and the number of each state's ending."""

    players: list[str]
    moves: dict[object, list[tuple[str, list[tuple[float, object]]]]]  # by state
    start: object
    names: dict[object, str]  # of endings


def read_prism(path):
    text = path.read_text()
    players = re.findall(r"^player (\w+) ", text, re.M)
    owner = {
        command: name
        for name, commands in re.findall(r"^player (\w+) (.*) endplayer$", text, re.M)
        for command in re.findall(r"\w+", commands)
    }
    variables = re.findall(r"^  (\w+) : \[.*\] init (-?\d+);", text, re.M)
    moves, names = {}, {}
    for command, guard, updates in re.findall(r"^  \[(\w+)\] (ending=0 .*) -> (.*);$", text, re.M):
        here = dict(part.split("=") for part in guard.split(" & "))
        branches = []
        for update in updates.split(" + "):
            chance, _, changes = update.partition(" : ")
            after = here | dict(re.findall(r"(\w+)'=(-?\d+)", changes))
            over = after["ending"] != "0"
            branches.append(
                (float(Fraction(chance)), after["ending"] if over else tuple(sorted(after.items())))
            )
        moves.setdefault(tuple(sorted(here.items())), []).append(
            (owner.get(command, "first"), branches)
        )
    for name, number in re.findall(r'label "(\w+)" = ending=(\d+)', text):
        names[number] = name
    return Model(players, moves, tuple(sorted(dict(variables).items())), names)


def read_umb(path):
    with tarfile.open(path) as tar:
        files = {one.name: tar.extractfile(one).read() for one in tar.getmembers()}
    index = json.loads(files["index.json"])
    system = index["transition-system"]

    def numbers(name, kind):
        return np.frombuffer(files[name], kind).tolist()

    if system["branch-probability-type"]["type"] == "double":
        chances = numbers("branch-to-probability.bin", "<f8")
    else:
        pairs = np.frombuffer(files["branch-to-probability.bin"], "<i8").reshape(-1, 2)
        chances = (pairs[:, 0] / pairs[:, 1]).tolist()
    targets = numbers("branch-to-target.bin", "<u8")
    first_choice = numbers("state-to-choices.bin", "<u8")
    first_branch = numbers("choice-to-branches.bin", "<u8")
    is_game = "state-to-player.bin" in files
    owners = numbers("state-to-player.bin", "<u4") if is_game else [0] * system["#states"]
    players = system.get("player-names", ["first"])
    names = {}
    for name in index["annotations"]["aps"]:
        bits = np.frombuffer(files[f"annotations/aps/{name}/states/values.bin"], np.uint8)
        for s in np.flatnonzero(np.unpackbits(bits, bitorder="little")).tolist():
            names[s] = name
    moves = {
        s: [
            (players[owners[s]], list(zip(chances[low:high], targets[low:high], strict=True)))
            for low, high in itertools.pairwise(first_branch[first : last + 1])
        ]
        for s, (first, last) in enumerate(itertools.pairwise(first_choice))
        if s not in names
    }
    return Model(players if is_game else [], moves, 0, names)


def guaranteed(model, share):
    """The first player's result, with all other players against it."""
    values = {end: share(name) for end, name in model.names.items()}
    values |= dict.fromkeys(model.moves, 0.0)
    for _ in range(400):
        change = 0.0
        for state, moves in model.moves.items():
            ahead = [sum(chance * values[t] for chance, t in branches) for _, branches in moves]
            new = (max if moves[0][0] == "first" else min)(ahead)
            change, values[state] = max(change, abs(new - values[state])), new
        if change < 1e-14:
            break
    return values[model.start]


def share_of(name):
    """The first player's share of the win, or payoff, in an ending."""
    kind, _, number = name.partition("_")
    if kind in ("won", "lost", "finished"):
        return float(kind == "won")
    return float(number.replace("minus_", "-").replace("_", "."))


@pytest.mark.parametrize(("form", "read"), [("prism", read_prism), ("umb", read_umb)])
@pytest.mark.parametrize("game", THREE_PLAYERS, ids=lambda game: game.name)
def test_models_of_three_players_have_the_guaranteed_results(tmp_path, game, form, read):
    solution = solve(game)
    export(solution, tmp_path / "model", form)
    model = read(tmp_path / "model")
    is_game = has_choice(solution.graph).any()
    assert model.players == (["first", "second", "third"] if is_game else [])
    owners = {(state, owner) for state, moves in model.moves.items() for owner, _ in moves}
    assert len(owners) == len(model.moves)  # a state has one owner
    (best, *_) = respond_to_all(solution.graph, "adversaries").best
    assert guaranteed(model, share_of) == pytest.approx(best, abs=1e-10)
    export(solution, tmp_path / "model", form, "random")
    model = read(tmp_path / "model")
    assert not model.players
    (best, *_) = best_responses(solution, "random").best
    assert guaranteed(model, share_of) == pytest.approx(best, abs=1e-10)


def test_programs_and_chains_of_three_players_are_refused(tmp_path):
    solution = solve(Pig(players=3, target=4))
    with pytest.raises(UsageError, match="the formats prism, drn, umb, parquet, json, npz take"):
        export(solution, tmp_path / "game.lp", "lp")
    with pytest.raises(UsageError, match="give their policy"):
        export(solution, tmp_path / "game.drn", "drn")
    export(solution, tmp_path / "game.drn", "drn", "random")
    read = rollwise.solve(find(str(tmp_path / "game.drn"))(goal="won", rewards="none"))
    (best, *_) = best_responses(solution, "random").best
    assert read.win_probability == pytest.approx(best, abs=1e-10)


@dataclass(frozen=True)
class Second(Game):
    """Only the second player has a choice: to lose, or to win half of the games."""

    def start(self):
        return Place(0)

    def actions(self, s):
        yield 0
        if s.place:
            yield 1

    def outcomes(self, s, action):
        if s.place == 0:
            yield 1, PASS, Place(1)
        else:
            yield 1, LOSE, s
            yield 1, WIN if action else LOSE, s


@pytest.mark.parametrize(("form", "read"), [("prism", read_prism), ("umb", read_umb)])
def test_a_choice_of_the_second_player_alone_is_not_the_first_one_s(tmp_path, form, read):
    solution = solve(Second())
    export(solution, tmp_path / "model", form)
    model = read(tmp_path / "model")
    assert model.players == ["first", "second"]
    assert guaranteed(model, lambda name: float(name == "won")) == solution.win_probability == 0.5
    with pytest.raises(UsageError, match="give their policy"):
        export(solution, tmp_path / "model", "drn")


@pytest.mark.slow
def test_storm_reads_the_games_of_three_players(tmp_path):
    """It builds them, and doesn't solve them."""
    stormpy = pytest.importorskip("stormpy")
    solution = solve(Pig(players=3, target=4))
    for form in ("prism", "umb"):
        export(solution, tmp_path / f"model.{form}", form)
    program = stormpy.parse_prism_program(str(tmp_path / "model.prism"))
    query = stormpy.parse_properties('<<first>> Pmax=? [F "won"]', program)
    models = [
        stormpy.build_model(program, query),
        stormpy.build_model_from_umb(str(tmp_path / "model.umb")),
    ]
    for model in models:
        assert model.model_type.name == "SMG"
        owners = {model.get_player_of_state(s) for s in range(model.nr_states)}
        assert owners == {0, 1, 2}
    assert models[1].nr_states == 3 * solution.graph.n_states + 3
