"""The proved distance of values and policies from elsewhere: never less than the true one."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from cli_runner import run
from test_models import GAME, write_prism, write_umb
from throwing import Runners, TwoBoxes

import rollwise
from rollwise.analysis.distance import distance_of_policy, distance_of_values
from rollwise.answer.references import Policies
from rollwise.answer.rows import evaluated_rows
from rollwise.errors import PolicyError
from rollwise.games import create, find
from rollwise.games.craps import Craps
from rollwise.games.pig import Pig
from rollwise.games.threes import Threes


@pytest.fixture(scope="module")
def pig():
    return Policies.of(rollwise.solve(Pig(target=12)))


def off_by(policies, error, at):
    """The win probabilities of all states, with an error in one."""
    given = policies.solution.table().with_columns()
    numbers = given["win_probability"].to_numpy().copy()
    numbers[at] += error
    return given.with_columns(win_probability=numbers)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_error_in_one_row_is_found(tmp_path, pig, ending):
    path = tmp_path / f"v.{ending}"
    table = off_by(pig, 1e-4, 7)
    table.write_csv(path) if ending == "csv" else table.write_parquet(path)
    found = distance_of_values(pig, path)
    worst = found.worst
    assert pig.graph.row(worst) == tuple(table.row(7)[:3])
    assert found.low[worst] <= 1e-4 <= found.high[worst] <= 1e-4 + 1e-12
    assert np.all(found.low <= found.high)


def test_forms_of_values(tmp_path):
    """PRISM's vector, Storm's list, a list of numbers, an array and Q-values."""
    path = write_prism(tmp_path)
    policies = Policies.of(rollwise.solve(create(find(path), {"goal": "goal1", "rewards": "none"})))
    chances = (1 + policies.solution.values) / 2
    rows = [{"s": {"s": s, "up": s % 2}, "v": x} for s, x in enumerate(chances.tolist())]
    (tmp_path / "v.json").write_text(json.dumps(rows))
    (tmp_path / "list.json").write_text(json.dumps(chances.tolist()))
    (tmp_path / "v.txt").write_text("\n".join(map(repr, chances.tolist())))
    np.save(tmp_path / "v.npy", chances)
    np.save(tmp_path / "q.npy", np.column_stack([chances] * 5))
    for name in ("v.json", "list.json", "v.txt", "v.npy", "q.npy"):
        found = distance_of_values(policies, tmp_path / name)
        assert found.high.max() < 1e-14, name
        assert len(found.compared) == 6


def test_values_lie_in_the_order_of_the_file(tmp_path):
    """The start is the first state of a graph, and any state of a model."""
    chances = [[[0, 1.0, 0]], [[0, 0, 1.0]], [[0, 0, 1.0]]]
    game = rollwise.from_arrays([[1], [2], [0]], chances, start=1, by="state")
    np.save(tmp_path / "v.npy", np.array([3.0, 2.0, 0.0]))
    np.save(tmp_path / "p.npy", np.array([0, 0, 0]))
    policies = Policies.of(rollwise.solve(game))
    assert distance_of_values(policies, tmp_path / "v.npy").high.max() < 1e-13
    assert distance_of_policy(policies, str(tmp_path / "p.npy")).high.max() < 1e-13


def test_losses_of_policies_are_those_of_evaluation(pig):
    held = distance_of_policy(pig, "hold-at-20")
    response = rollwise.best_response(pig, "hold-at-20")
    loss = (pig.solution.values[0] + response.values_second[0]) / 2
    assert held.low[0] <= max(loss, (response.values[0] - pig.solution.values[0]) / 2) + 1e-12
    assert held.high[0] >= loss - 1e-12
    assert distance_of_policy(pig, "optimal").high.max() < 1e-12
    threes = Policies.of(rollwise.solve(Threes(dice=2)))
    found, own = distance_of_policy(threes, "take-one"), rollwise.evaluate(threes, "take-one")
    assert np.allclose(found.given, own.values)
    assert found.high[0] >= abs(own.values[0] - threes.solution.value)


def test_a_q_table_is_a_policy(tmp_path):
    gymnasium = pytest.importorskip("gymnasium")
    game = rollwise.from_gymnasium(gymnasium.make("FrozenLake-v1"), 0.95)
    policies = Policies.of(rollwise.solve(game))
    q = policies.solution.action_values.reshape(-1)
    table = np.full((16, 4), -1.0)
    for state in policies.graph.view:
        for action in state.actions:
            if state.is_choice:
                table[state.index, action.label] = q[action]
    np.save(tmp_path / "q.npy", table)
    assert distance_of_policy(policies, str(tmp_path / "q.npy")).high.max() < 1e-11
    np.save(tmp_path / "worse.npy", -table)
    assert distance_of_policy(policies, str(tmp_path / "worse.npy")).high.max() > 0.01
    np.save(tmp_path / "few.npy", table[:3])
    with pytest.raises(PolicyError, match=r"the shape \(3, 4\)"):
        policies.find(str(tmp_path / "few.npy"))
    np.save(tmp_path / "none.npy", np.full(16, 9))
    with pytest.raises(PolicyError, match="gives the action 9"):
        policies.find(str(tmp_path / "none.npy"))


def test_values_by_the_texts_of_open_spiel(tmp_path):
    """Its value iteration stops at a change of 1e-3; the error is larger."""
    pyspiel = pytest.importorskip("pyspiel")
    iteration = pytest.importorskip("open_spiel.python.algorithms.value_iteration")
    loaded = pyspiel.load_game("pig(winscore=8)")
    policies = Policies.of(rollwise.solve(rollwise.from_open_spiel(loaded)))
    assert policies.game.show(policies.game.start()) == str(loaded.new_initial_state())
    errors = []
    for threshold in (1e-3, 1e-11):
        found = iteration.value_iteration(loaded, -1, threshold, cyclic_game=True)
        (tmp_path / "v.json").write_text(json.dumps(found))
        distance = distance_of_values(policies, tmp_path / "v.json")
        assert len(distance.compared) > 100
        errors.append(distance.high[distance.worst])
    assert errors[0] > 1e-4 > 1e-9 > errors[1]


ROWS = [[*row, 0.5] for row in rollwise.build(Pig(target=12)).states.tolist()]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([[0, 0, "x", 1]], "no whole numbers"),
        ([[0, 0, 999, 1]], "999"),
        ([[0, 0, 0, "good"]], "good"),
        ([[0, 0, 0, "nan"]], "the value 1 is nan"),
        ([[0, 0, 0, "1e999"]], "the value 1 is inf"),
        ([*ROWS, ROWS[3]], "two values for banked=0"),
        (ROWS[:-1], "no value for 1 of"),
        ([[0, 0, 0, ""]], "'' is no number"),
        ([], "it has 0 numbers"),
    ],
)
def test_a_file_that_has_no_values_gives_one_line(tmp_path, pig, rows, says):
    lines = [",".join(map(str, row)) for row in (["banked", "rival", "turn", "value"], *rows)]
    (tmp_path / "v.csv").write_text("\n".join(lines))
    with pytest.raises(PolicyError, match=says) as error:
        distance_of_values(pig, tmp_path / "v.csv")
    assert "\n" not in str(error.value)
    (tmp_path / "v.csv").write_text("banked,rival,turn\n0,0,0\n")
    with pytest.raises(PolicyError, match="no column win_probability or value"):
        distance_of_values(pig, tmp_path / "v.csv")


def test_q_values_of_illegal_actions_are_not_read(tmp_path):
    """Nor may those of legal ones be missing."""
    solution = rollwise.solve(Pig(target=5))
    policies, path = Policies.of(solution), tmp_path / "q.npy"
    table = np.full((len(solution), 2), 1e9)
    for state in solution.graph.view:
        for action in state.actions:
            table[state.index, action.label] = (1 + solution.action_values[action]) / 2
    np.save(path, table)
    assert distance_of_values(policies, path).high.max() < 1e-13
    for column, says in [(0, "no finite number"), ([], "0 columns"), ([0, 1, 1], "3 columns")]:
        np.save(path, np.where([[1, 0]], np.nan, table) if column == 0 else table[:, column])
        for measure in (distance_of_policy, distance_of_values):
            with pytest.raises(PolicyError, match=says):
                measure(policies, str(path) if measure is distance_of_policy else path)


def test_a_damaged_array_gives_one_line(tmp_path, pig):
    path = tmp_path / "v.npy"
    np.save(path, np.zeros(8))
    head = path.read_bytes().replace(b"(8,)", b"(9" + b"9" * 9 + b",)")
    torn = path.read_bytes().replace(b"}", b"(")
    zipped = io.BytesIO()
    np.savez(zipped, np.zeros(8))
    for content in (b"", b"no array", head, torn, zipped.getvalue(), path.read_bytes()[:90]):
        path.write_bytes(content)
        with pytest.raises(PolicyError, match="can't be read as an array"):
            distance_of_values(pig, path)


def test_the_command_ends_with_1_unless_a_claim_is_proved(tmp_path):
    path = write_umb(tmp_path / "game.umb", GAME)
    values = tmp_path / "v.txt"
    values.write_text("0.66667 0 1 0")  # the state 0 is 3.3e-6 too high
    words = ("certify", path, "--values", str(values))
    done = run(*words, "--claim", "1e-5")
    assert (done.returncode, done.stderr) == (0, "")
    assert "at x=0, y=5" in done.stdout
    done = run(*words, "--claim", "1e-6")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "claim 1e-06: not met" in done.stdout
    document = json.loads(run(*words, "--claim", "1e-6", "--json").stdout)
    assert document["is_met"] is False
    assert document["at_least"] <= 1e-5 / 3 <= document["largest_error"] < 3.4e-6
    done = run("certify", "craps", "--policy", "random", "--claim", "0")
    assert "claim 0: undecided" in done.stdout
    assert done.returncode == 1
    assert "give one of" in run("certify", "craps").stderr
    for claim in ("inf", "nan", "-1"):
        assert "must be a number from 0 on" in run(*words, "--claim", claim).stderr
    assert rollwise.solve(Craps()).value is not None


def test_infinite_values(tmp_path):
    """The states from which a robot can't come to the goal are infinitely far, and say so."""
    path = write_prism(tmp_path)
    game = create(find(path), {"goal": "goal2", "rewards": "reward", "optimum": "min"})
    policies = Policies.of(rollwise.solve(game))
    true = policies.solution.values[list(game.numbered(policies.graph))]
    (tmp_path / "v.txt").write_text(" ".join(map(repr, true.tolist())))
    assert np.isinf(true).any()
    assert distance_of_values(policies, tmp_path / "v.txt").high.max() < 1e-12
    (tmp_path / "v.txt").write_text("0 0 0 0 0 0")
    found = distance_of_values(policies, tmp_path / "v.txt")
    assert np.isinf(found.high[found.worst])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    "game",
    [Runners(2).within(3), TwoBoxes(2).with_score(), TwoBoxes(2)],
    ids=lambda game: f"{game.name}-{type(game).__name__}",
)
def test_tables_of_games_with_throws_are_read_back(tmp_path, game, ending):
    """A table of values has positions before the throw, one of a policy those after it."""
    solution = rollwise.solve(game)
    policies = Policies.of(solution)

    def written(name, frame):
        path = tmp_path / f"{name}.{ending}"
        frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
        return path

    found = distance_of_values(policies, written("values", solution.table()))
    assert set(found.compared.tolist()) == set(solution.graph.positions.tolist())
    assert found.high[found.worst] < 1e-12
    policy = policies.find(str(written("policy", solution.table(throws=True))))
    assert np.nanmax(distance_of_policy(policies, policy).high) < 1e-12
    evaluated = evaluated_rows(solution.graph, [policy], rollwise.evaluate(solution, policy))
    assert evaluated.columns[: len(solution.table().columns)] == solution.table().columns
    assert evaluated["value"].to_list() == pytest.approx(solution.table()["value"].to_list())


def test_a_list_of_values_follows_the_positions_before_the_throw(tmp_path):
    solution = rollwise.solve(Runners(2).within(3))
    positions = solution.graph.positions
    path = tmp_path / "values.json"
    path.write_text(json.dumps(solution.win_probabilities[positions].tolist()))
    found = distance_of_values(Policies.of(solution), path)
    assert found.compared.tolist() == positions.tolist()
    assert found.high[found.worst] < 1e-12


def test_a_table_with_a_choice_without_a_throw_is_a_policy(tmp_path):
    """The cube is offered and taken before a throw: the throw is empty there."""
    solution = rollwise.solve(Runners(2).cube(1))
    table = solution.table(throws=True)
    assert table["throw"].null_count() > 0
    table.write_csv(tmp_path / "policy.csv")
    policies = Policies.of(solution)
    policy = policies.find(str(tmp_path / "policy.csv"))
    assert np.nanmax(distance_of_policy(policies, policy).high) < 1e-12
