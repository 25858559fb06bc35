"""Models of other tools as games: their values, and one line for a damaged file."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
from fractions import Fraction

import numpy as np
import pytest
import storm
from stalling_games import PassablePig
from tests.cli_runner import output, run

import rollwise
from rollwise.answer.references import Policies
from rollwise.errors import EndlessPlay, ModelFileError, ParameterError, UsageError
from rollwise.export import export
from rollwise.games import create, find
from rollwise.games.craps import Craps
from rollwise.games.pig import Pig
from rollwise.games.threes import Threes
from rollwise.models.game import game_class
from rollwise.models.model import OVER, Model, simple_fraction

GAME = {  # x and y; the second player moves in the state 1
    "index": {
        "format-version": 1,
        "format-revision": 0,
        "transition-system": {
            "time": "discrete",
            "#players": 2,
            "#states": 4,
            "#initial-states": 1,
            "#choices": 6,
            "#choice-actions": 2,
            "#branches": 8,
            "#branch-actions": 0,
            "#observations": 0,
            "branch-probability-type": {"type": "rational"},
        },
        "annotations": {
            "aps": {"g": {"applies-to": ["states"], "type": {"type": "bool"}}},
            "rewards": {"r": {"applies-to": ["choices"], "type": {"type": "double"}}},
        },
        "valuations": {
            "states": {
                "unique": True,
                "classes": [
                    {
                        "variables": [
                            {"name": "x", "type": {"type": "uint", "size": 2}},
                            {"name": "y", "type": {"type": "int", "size": 3}, "offset": 5},
                            {"padding": 3},
                        ]
                    }
                ],
            }
        },
    },
    "state-to-choices.bin": np.array([0, 2, 4, 5, 6], "<u8"),
    "state-to-player.bin": np.array([0, 1, 0, 0], "<u4"),
    "state-is-initial.bin": np.array([1], "<u8"),
    "choice-to-branches.bin": np.array([0, 2, 3, 5, 6, 7, 8], "<u8"),
    "branch-to-target.bin": np.array([1, 2, 1, 0, 2, 3, 2, 3], "<u8"),
    "branch-to-probability.bin": np.array(
        [[1, 3], [2, 3], [1, 1], [9, 10], [1, 10], [1, 1], [1, 1], [1, 1]], "<u8"
    ),
    "actions/choices/values.bin": np.array([0, 1, 0, 1, 0, 0], "<u4"),
    "actions/choices/string-mapping.bin": np.array([0, 4, 6], "<u8"),
    "actions/choices/strings.bin": np.frombuffer(b"stayup", np.uint8),
    "annotations/aps/g/states/values.bin": np.array([0b100], "<u8"),
    "annotations/rewards/r/choices/values.bin": np.array([0, 0.5, 0, 0, 0, 0], "<f8"),
    "valuations/states/valuations.bin": np.array([0, 1, 2, 0b111_11], np.uint8),
}


def write_umb(path, parts, *, zipped=True):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as tar:
        for name, part in parts.items():
            content = json.dumps(part).encode() if name == "index" else part.tobytes()
            info = tarfile.TarInfo("index.json" if name == "index" else name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    path.write_bytes(gzip.compress(held.getvalue()) if zipped else held.getvalue())
    return str(path)


def solved(reference, **values):
    return rollwise.solve(create(find(str(reference)), values))


def chance(solution):
    return (1 + solution.value) / 2


@pytest.mark.parametrize("zipped", [True, False])
def test_a_game_of_two_in_umb(tmp_path, zipped):
    """By hand: the second player goes to 3 at once, so the first takes the 2/3 in the state 0."""
    path = write_umb(tmp_path / "game.umb", GAME, zipped=zipped)
    solution = solved(path)
    assert chance(solution) == pytest.approx(2 / 3, abs=1e-15)
    assert solution.graph.field_names == ("x", "y")
    assert solution.graph.states.tolist() == [[0, 5], [1, 5], [2, 5], [3, 4]]
    # the second player now seeks g, and goes back and forth until play comes there
    assert chance(solved(path, optimum="min")) == pytest.approx(0, abs=1e-12)
    # a discount ends play without g: from 1 the second player reaches it with 1/20 + 9/40 of this
    assert chance(solved(path, optimum="min", discount="0.5")) == pytest.approx(30 / 31, abs=1e-14)
    assert rollwise.builders.build(create(find(path), {}), mode="interpreted").content_hash == (
        solution.graph.content_hash
    )


def test_a_reward_of_nothing_brings_nothing(tmp_path):
    index = json.loads(json.dumps(GAME["index"]))
    index["annotations"]["rewards"]["r"]["applies-to"] = []
    path = write_umb(tmp_path / "game.umb", GAME | {"index": index})
    assert solved(path, goal="absorbing", rewards="r", discount="0.5").value == 0.0


def test_names_that_cannot_be_typed_stay_different(tmp_path):
    path = tmp_path / "two.drn"
    path.write_text(
        "@type: MDP\n@reward_models\na+b a_b\n@nr_states\n2\n@nr_choices\n2\n@model\n"
        "state 0 [0, 0] init\n\taction go [1, 5]\n\t\t1 : 1\n"
        "state 1 [0, 0] x+y x_y\n\taction stay [0, 0]\n\t\t1 : 1\n"
    )
    for rewards, total in (("a_b", 5), ("a_b_", 1)):
        for goal in ("x_y", "x_y_"):
            assert solved(path, goal=goal, rewards=rewards).value == total


def test_weights_are_those_of_the_file(tmp_path):
    path = write_umb(tmp_path / "game.umb", GAME)
    graph = solved(path).graph
    assert graph.outcome_weight[:2].tolist() == [1, 2]
    assert graph.outcome_weight.dtype == np.int64
    assert simple_fraction(1 / 3) == Fraction(1, 3)
    assert simple_fraction(0.1 + 0.2) == Fraction(0.1 + 0.2)


@pytest.mark.parametrize("form", ["drn", "umb"])
def test_storm_writes_what_rollwise_reads(tmp_path, form):
    stormpy = pytest.importorskip("stormpy")
    (tmp_path / "m.prism").write_text(
        "mdp\nmodule m\n s : [0..3] init 0;\n"
        " [a] s=0 -> 0.3:(s'=1) + 0.7:(s'=2);\n"
        " [b] s=0 -> 0.5:(s'=0) + 0.25:(s'=1) + 0.25:(s'=3);\n"
        " [a] s=1 -> 0.1:(s'=3) + 0.9:(s'=0);\n [a] s=2 -> 0.2:(s'=2) + 0.8:(s'=3);\n"
        ' [a] s=3 -> true;\nendmodule\nlabel "g" = s=1;\nlabel "h" = s=3;\n'
        'rewards "cost" [b] true : 1; s=2 : 0.25; endrewards\n'
    )
    model = stormpy.build_model(stormpy.parse_prism_program(str(tmp_path / "m.prism")))
    path = tmp_path / f"m.{form}"
    (stormpy.io.export_to_drn if form == "drn" else stormpy.io.export_to_umb)(model, str(path))
    questions = {
        'Pmax=? [F "g"]': {"goal": "g", "rewards": "none"},
        'Pmin=? [F "g"]': {"goal": "g", "rewards": "none", "optimum": "min"},
        'Rmin=? [F "h"]': {"goal": "h", "rewards": "cost", "optimum": "min"},
    }
    for query, values in questions.items():
        found = stormpy.model_checking(model, stormpy.parse_properties(query)[0])
        solution = solved(path, **values)
        ours = solution.value if "optimum" in values else chance(solution)
        assert ours == pytest.approx(found.get_value(0), abs=1e-5)


@pytest.mark.parametrize(
    ("game", "against"), [(Pig(target=12), "hold-at-20"), (Threes(dice=3), None)]
)
def test_an_export_read_back_has_the_same_value(tmp_path, game, against):
    solution = rollwise.solve(game)
    policy = None if against is None else Policies.of(solution).find(against)
    path = tmp_path / "model.drn"
    export(solution, path, "drn", policy)
    packed = tmp_path / "model.umb"
    export(solution, packed, "umb", policy)
    assert solved(packed).value == pytest.approx(solved(path).value, abs=1e-12)
    if against is None:
        for question in ({}, {"optimum": "min"}):  # the head of the file has it too
            assert solved(path, **question).value == pytest.approx(solution.value, abs=1e-12)
        assert solved(path, optimum="max").value > solution.value + 1
        path.write_text(path.read_text().replace("written by rollwise", "changed"))
        assert solved(path).value > solution.value + 1
    else:
        best = rollwise.best_response(solution, policy)
        assert solved(path).value == pytest.approx((1 + best.values[0]) / 2, abs=1e-12)


def write_prism(folder):
    """PRISM's robot (its test of imports), with labels, variables and rewards."""
    files = {
        "tra": "# Transitions (MDP)\n6 10 16\n0 0 1 0.1 south\n0 0 3 0.8 south\n0 0 4 0.1 south\n"
        "0 1 0 0.4 east\n0 1 1 0.6 east\n1 0 2 0.5 south\n1 0 4 0.5 south\n1 1 2 1 east\n"
        "2 0 2 1 stuck\n3 0 3 1 stuck\n4 0 3 0.6 west\n4 0 4 0.4 west\n4 1 5 1 east\n"
        "5 0 2 0.9 north\n5 0 5 0.1 north\n5 1 4 1 west\n",
        "lab": '0="init" 1="deadlock" 2="goal1" 3="goal2"\n0: 0\n2: 3\n4: 3\n5: 2\n',
        "sta": "(s,up)\n"
        + "".join(f"{s}:({s},{'true' if s % 2 else 'false'})\n" for s in range(6)),
        "srew": "6 6\n" + "".join(f"{s} 1\n" for s in range(6)),
        "trew": '# Reward structure "moves"\n10 16 1\n0 1 1 2.5\n',
    }
    for ending, text in files.items():
        (folder / f"robot.{ending}").write_text(text)
    return str(folder / "robot.tra")


def test_prisms_explicit_files(tmp_path):
    path = write_prism(tmp_path)
    solution = solved(path, rewards="none", goal="goal1")
    # east until 1, then south to 4 with 1/2, then east: 0.5; or south: 0.1 * 0.5 + 0.1 * 1
    assert chance(solution) == pytest.approx(0.5, abs=1e-14)
    assert solution.graph.field_names == ("s", "up")
    least = solved(path, rewards="reward", goal="goal2", optimum="min")
    # east until 1, then east; south may end in 3 for ever
    assert least.value == pytest.approx(1 / 0.6 + 1, abs=1e-13)
    paid = rollwise.build(create(find(path), {"rewards": "moves", "goal": "goal2"}))
    assert "paid" in paid.field_names


HEAD = "@type: {}\n@reward_models\nr\n@nr_states\n2\n@nr_choices\n3\n@model\n"
BODY = (
    "state 0 [1/3] init\n\taction a\n\t\t1 : 1\n\taction b\n\t\t0 : 1\n"
    "state 1 [0] g\n\taction a\n\t\t1 : 1\n"
)


def test_a_model_says_how_its_numbers_were_rounded(tmp_path):
    path, saved = tmp_path / "m.drn", str(tmp_path / "saved.parquet")
    path.write_text(HEAD.format("MDP") + BODY.replace("\t1 : 1", "\t1 : 0.9999999", 1))
    for words, says in [
        (("goal=g", "rewards=none"), "chances were scaled to the sum 1"),
        (
            ("goal=g", "rewards=r", "optimum=min"),
            "chances were scaled to the sum 1, rewards were rounded to doubles",
        ),
    ]:
        assert run("solve", str(path), *words, "--save", saved).returncode == 0
        told = run("verify", "--exact", saved, str(path)).stdout
        assert f"on the model as read ({says})" in told
        assert "rounded" not in run("verify", saved, str(path)).stdout
        document = json.loads(run("verify", "--exact", "--json", saved, str(path)).stdout)
        assert document["kind"] == "certified"
    path.write_text(HEAD.format("MDP") + BODY)
    run("solve", str(path), "goal=g", "rewards=none", "--save", saved)
    assert "the rule sheet itself" in run("verify", "--exact", saved, str(path)).stdout
    assert '"exact"' in run("solve", str(path), "--method", "exact", "--json").stdout


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("@type: MDP\n@nr_states\n99999999999\n@model\n", "too short for them"),
        (HEAD.format("MDP") + BODY.replace("1 : 1", "5 : 1"), "below"),
        (HEAD.format("MDP") + BODY.replace("0 : 1", "0 : 0.5"), "add up to"),
        (HEAD.format("MDP") + BODY.replace(" init", ""), "0 initial states"),
        (HEAD.format("MDP") + BODY.replace("0 : 1", "0 : 1e999999999"), "number"),
        (HEAD.format("MDP").replace("2\n", "3\n", 1) + BODY, "ends after 2"),
        ("@type: POMDP\n@nr_states\n1\n", "hides"),
        ("@type: SMG\n@nr_states\n1\n", "export the game as UMB"),
        ("@type: CTMC\n@nr_states\n1\n", "continuous time"),
        ("@type: MDP\n@parameters\np\n", "parametric"),
        ("\0\1\2" * 50, "no part of a DRN file"),
        ("@type: MDP\n" + "x" * (1 << 24), "line has more than"),
        (HEAD.format("DTMC") + BODY, "a state of a DTMC has one action"),
        (HEAD.format("MDP").replace("3", "4") + BODY, "3 of 4 choices"),
        (HEAD.format("MDP") + BODY.replace("\t\t0 : 1\n", ""), "has no branch"),
        (HEAD.format("MDP") + BODY.replace("0 : 1", "0 : 0"), "add up to 0, and not to 1"),
        (
            HEAD.format("MDP") + BODY.replace("0 : 1", "0 : -1\n\t\t1 : 2"),
            "a chance in the .* is -1",
        ),
        (HEAD.format("MDP") + BODY.replace("0 : 1", "0 : " + "9" * 400), "is 9+...; it must be"),
        (
            HEAD.format("MDP") + BODY.replace("[0]", f"[{'9' * 400}]", 1),
            "a number of the reward .* isn't finite",
        ),
        ("", "no @model"),
    ],
)
def test_a_damaged_drn_file_gives_one_line(tmp_path, text, says):
    path = tmp_path / "m.drn"
    path.write_text(text)
    with pytest.raises(ModelFileError, match=says) as error:
        find(str(path))
    assert "\n" not in str(error.value)


def changed(**parts):
    return GAME | parts


def with_system(**facts):
    index = json.loads(json.dumps(GAME["index"]))
    index["transition-system"] |= facts
    return changed(index=index)


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        (with_system(**{"#branches": 10**10}), "too short"),
        (with_system(**{"#branches": 9}), "its index needs 72"),
        (with_system(**{"#observations": 2}), "hides its states"),
        (
            with_system(**{"#players": 3}) | {"state-to-player.bin": np.array([2, 1, 0, 0], "<u4")},
            "3 players",
        ),
        (with_system(time="stochastic"), "continuous time"),
        (
            with_system(**{"branch-probability-type": {"type": "double-interval"}}),
            "double-interval",
        ),
        (changed(index=GAME["index"] | {"format-version": 2}), "version 2"),
        (changed(**{"state-to-choices.bin": np.array([0, 4, 2, 5, 6], "<u8")}), "rise"),
        (changed(**{"branch-to-target.bin": np.full(8, 2**60, "<u8")}), "leads to the state"),
        (changed(**{"branch-to-probability.bin": np.zeros((8, 2), "<u8")}), "divides by 0"),
        (changed(**{"state-is-initial.bin": np.array([3], "<u8")}), "2 initial states"),
        (changed(**{"state-to-player.bin": np.full(4, 7, "<u4")}), "the player 7"),
        ({"x": np.zeros(1), **GAME}, "index.json"),
        (changed(index={"format-version": 1}), "transition-system"),
    ],
)
def test_a_damaged_umb_file_gives_one_line(tmp_path, parts, says):
    path = write_umb(tmp_path / "m.umb", parts)
    with pytest.raises(ModelFileError, match=says) as error:
        find(path)
    assert "\n" not in str(error.value)


def test_a_torn_umb_file_gives_one_line(tmp_path):
    path = tmp_path / "m.umb"
    write_umb(path, GAME)
    whole = path.read_bytes()
    torn = [whole[:size] for size in range(1, len(whole), 37)]
    torn += [
        whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :] for at in range(40, len(whole), 97)
    ]
    for content in [b"", b"no tar", *torn]:
        path.write_bytes(content)
        done = run("solve", str(path))
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), (len(content), done)
    bomb = io.BytesIO()
    with tarfile.open(fileobj=bomb, mode="w") as tar:
        info = tarfile.TarInfo("index.json")
        info.size = 10**10
        tar.fileobj.write(info.tobuf())
    path.write_bytes(bomb.getvalue())
    assert "10,000,000,000 bytes" in run("solve", str(path)).stderr


def test_a_damaged_prism_file_gives_one_line(tmp_path):
    path = write_prism(tmp_path)
    for ending, text, says in [
        ("tra", "6 10 16\n0 0 1\n" + "# " * 60, "is no branch"),
        ("tra", "99999999999 10 16\n", "too short"),
        ("tra", "6 10 17\n0 0 0 1 a\n" + "# " * 60, "1 of 17 branches"),
        ("tra", "3:2 3 3\n0 0 0 1 [a,b]\n" + "# " * 60, "the same time"),
        ("tra", "3 3 3 2\n" + "# " * 60, "hides"),
        ("lab", '0="init"\n0: 0\n1: 7\n', "no label 7"),
        ("sta", "(s)\n0:(0)\n", "1 of 6 states"),
        ("sta", "(s)\n0:(0)\n0:(0)\n", "there twice"),
        ("lab", "none", "names no labels"),
        ("tra", "6 10 1\n0 0 0 1 a\n" + "# " * 60, "1 of 10 choices"),
        ("tra", "6 1 1\n0 1 0 1 a\n" + "# " * 60, "aren't numbered from 0 on"),
        ("srew", "6 1\n0 x\n", "'x' is no number"),
        ("srew", "6 2\n0 1\n", "1 of 2 rewards"),
        ("srew", "6 2\n0 1\n0 2\n", "given twice"),
        ("trew", "10 16 1\n0 5 1 2.5\n", "of no state or branch"),
    ]:
        write_prism(tmp_path)
        (tmp_path / f"robot.{ending}").write_text(text)
        with pytest.raises(ModelFileError, match=says):
            find(path)


class TwoStarts:
    """An environment with a table, as Taxi, which needs pygame, has it."""

    P = {  # noqa: RUF012
        n: {0: [(1.0, max(n - 1, 0), float(n), n == 0)]} for n in range(4)
    }
    initial_state_distrib = (0.0, 0.5, 0.0, 0.5)


def test_an_environment_with_several_starts():
    with pytest.warns(UserWarning, match=r"TwoStarts begins in one of 2 states.*start=1\)"):
        first = rollwise.from_gymnasium(TwoStarts())
    values = {
        k: rollwise.solve(rollwise.from_gymnasium(TwoStarts(), start=k)).value for k in (1, 3)
    }
    assert rollwise.solve(first).value == values[1] == 1.0
    assert values[3] == 6.0


def test_frozen_lake_from_gymnasium():
    """The chance to reach the goal of the slippery lake is 14/17."""
    gymnasium = pytest.importorskip("gymnasium")
    solution = rollwise.solve(rollwise.from_gymnasium(gymnasium.make("FrozenLake-v1")))
    assert chance(solution) == pytest.approx(14 / 17, abs=1e-12)
    cliff = rollwise.from_gymnasium(gymnasium.make("CliffWalking-v1"))
    assert rollwise.solve(cliff).value == pytest.approx(-13, abs=1e-11)
    with pytest.raises(UsageError, match="no table P"):
        rollwise.from_gymnasium(gymnasium.make("CartPole-v1"))
    for table in ({}, {0: None}, {0: {0: [(1.0, 0)]}}, {"a": {0: [(1.0, 0, 0.0, True)]}}):
        with pytest.raises(UsageError, match="the table P is no table"):
            rollwise.from_gymnasium(table)


def test_rewards_of_branches_are_paid_once_they_happen():
    table = {0: {0: [(0.5, 0, 1.0, False), (0.25, 0, 3.0, True), (0.25, 1, 0.0, False)]},
             1: {0: [(1.0, 1, 0.0, True)]}}  # fmt: skip
    # v = 0.5 (1 + 0.9 v) + 0.25 * 3
    solution = rollwise.solve(rollwise.from_gymnasium(table, 0.9))
    assert solution.value == pytest.approx(1.25 / 0.55, abs=1e-13)


def test_what_is_no_environment_and_no_game_of_open_spiel():
    with pytest.raises(UsageError, match=r"is a name, .*: gymnasium.make\('FrozenLake-v1'\)"):
        rollwise.from_gymnasium("FrozenLake-v1")
    pytest.importorskip("pyspiel")
    with pytest.raises(UsageError, match="a game of OpenSpiel or its name is wanted"):
        rollwise.from_open_spiel(None)


def test_a_reward_of_two_players_is_paid_once_where_play_ends():
    """Both branches pay 1, and one of them ends play; the second player then pays 2 to stay."""
    model = Model.of(
        "toll",
        3,
        [0, 0, 1, 2],
        [0, 0, 0, 0],
        [1, OVER, 2, 2],
        ([0, 0, 1, 1], [Fraction(1, 2), Fraction(1)]),
        owner=[0, 1, 0],
        players=2,
        labels={"end": np.array([False, False, True])},
        rewards={"paid": [1.0, 1.0, 2.0, 0.0]},
    )
    for optimum, sign in (("max", 1), ("min", -1)):
        game = game_class(model, goal="end", rewards="paid", optimum=optimum)()
        assert rollwise.solve(game).value == pytest.approx(sign * 2.0, abs=1e-14)


def test_games_of_open_spiel():
    pyspiel = pytest.importorskip("pyspiel")
    tic = rollwise.from_open_spiel("tic_tac_toe")
    assert rollwise.solve(tic).value == pytest.approx(0, abs=1e-12)
    pig = rollwise.from_open_spiel(pyspiel.load_game("pig(winscore=6)"))
    iterated = pytest.importorskip("open_spiel.python.algorithms.value_iteration")
    known = iterated.value_iteration(
        pyspiel.load_game("pig(winscore=6)"), -1, 1e-9, cyclic_game=True
    )
    start = str(pyspiel.load_game("pig(winscore=6)").new_initial_state())
    assert rollwise.solve(pig).value == pytest.approx(known[start], abs=1e-7)
    refused = [("kuhn_poker", "hides"), ("goofspiel", "same time"), ("chss", "Unknown game 'chss'")]
    for name, says in refused:
        with pytest.raises(UsageError, match=says):
            rollwise.from_open_spiel(name)
    with pytest.raises(UsageError, match="more than 100 nodes"):
        rollwise.from_open_spiel("tic_tac_toe", most=100)


REWARDS = np.array([[5.0, 10.0], [-1.0, -np.inf]])
CHANCES = np.array([[[0.5, 0.5], [0, 1]], [[0, 1], [0.3, 0.7]]])


def test_forms_of_arrays_are_one_model():
    """QuantEcon's example of its manual: the value is -60/7 at 0 and -20 at 1."""
    sparse = pytest.importorskip("scipy.sparse")
    pairs = ([0, 0, 1], [0, 1, 0])
    flat = CHANCES.reshape(4, 2)[:3]
    forms = [
        (REWARDS, CHANCES, {"by": "state"}),
        (REWARDS, np.moveaxis(CHANCES, 1, 0), {"by": "action"}),
        (REWARDS, [sparse.csr_matrix(CHANCES[:, a]) for a in (0, 1)], {}),
        (REWARDS.reshape(4)[:3], flat, {"states": pairs[0], "actions": pairs[1]}),
        (
            REWARDS.reshape(4)[:3],
            sparse.csr_matrix(flat),
            {"states": pairs[0], "actions": pairs[1]},
        ),
    ]
    graphs = [rollwise.build(rollwise.from_arrays(r, q, 0.95, **how)) for r, q, how in forms]
    assert len({graph.content_hash for graph in graphs}) == 1
    solution = rollwise.solve(rollwise.from_arrays(*forms[0][:2], 0.95, by="state"))
    assert np.allclose(solution.values, [-60 / 7, -20], atol=1e-12)


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_arrays_without_rewards_bring_nothing(discount):
    """A total of 0 points, and no chance to win."""
    for chances in ([[[1.0]]], [[[0.5, 0.5], [0.0, 1.0]]]):
        n = len(chances[0])
        game = rollwise.from_arrays(np.zeros((n, 1)), chances, discount, by="action")
        solution = rollwise.solve(game)
        assert (solution.objective, solution.value) == ("maximize", 0.0)


@pytest.mark.parametrize(
    ("rewards", "transitions", "how", "says"),
    [
        (REWARDS, CHANCES, {}, "say by="),
        (REWARDS[:1], CHANCES, {"by": "state"}, "rewards have the shape"),
        (REWARDS, CHANCES[0], {}, "three axes"),
        (REWARDS, CHANCES, {"objective": "win"}, "objective"),
        (REWARDS, CHANCES, {"states": [0]}, "go together"),
        (REWARDS * np.nan, CHANCES, {"by": "state"}, "no finite number; -inf marks an illegal"),
        (REWARDS, CHANCES * 0.9, {"by": "state"}, "add up to 0.9"),
        (REWARDS, CHANCES * [[[1], [1]], [[0], [1]]], {"by": "state"}, "add up to 0, and not"),
        (REWARDS, CHANCES * np.nan, {"by": "state"}, "a chance is nan"),
        (REWARDS, CHANCES * 1j, {"by": "state"}, "an array of numbers"),
        (REWARDS, [[[1], [0, 1]]], {"by": "state"}, "an array of numbers"),
        (REWARDS - [[np.inf], [0]], CHANCES, {"by": "state"}, "the state 0 has no legal action"),
        ([1, 2], CHANCES[0], {"states": [0], "actions": [0]}, "2 whole numbers"),
    ],
)
def test_arrays_that_are_no_model(rewards, transitions, how, says):
    with pytest.raises(UsageError, match=says):
        rollwise.from_arrays(rewards, transitions, 0.9, **how)


def test_commands_take_a_model_where_a_game_is_typed(tmp_path):
    path, saved = write_umb(tmp_path / "game.umb", GAME), str(tmp_path / "saved.parquet")
    assert "wins 66.6667 %" in run("solve", path, "--save", saved).stdout
    for words in [
        ("verify", saved, path),
        ("verify", "--exact", saved, path),
        ("table", path, "--load", saved),
        ("advise", path, "--state", "x=0,y=5"),
        ("simulate", path, "--policy", "optimal,random", "--games", "20"),
        ("check", path),
        ("export", path, "--to", "prism", "--out", str(tmp_path / "x.prism")),
        ("plot", path, "value", "--out", str(tmp_path / "x.html")),
        ("evaluate", path, "--policy", "random"),
        (*("tune", path, "--vary", "discount=0.5,0.9", "--for", "value=0"), "--workers", "2"),
    ]:
        done = run(*words)
        assert done.returncode == 0, (words, done.stderr)
    assert "goal must be g or absorbing" in run("solve", path, "goal=h").stderr
    assert "there is no file nowhere.umb" in run("solve", "nowhere.umb").stderr


def test_a_model_without_a_question_asks_for_one(tmp_path):
    path = tmp_path / "m.drn"
    lines = [
        "@type: MDP",
        "@nr_states",
        "2",
        "@model",
        "state 0 init a",
        "\taction go",
        "\t\t1 : 1",
    ]
    path.write_text("\n".join([*lines, "state 1 b", "\taction go", "\t\t1 : 1", ""]))
    with pytest.raises(ParameterError, match="Write goal=init, goal=a, goal=b"):
        solved(path)
    assert chance(solved(path, goal="b")) == 1


@pytest.mark.parametrize(
    ("game", "against"),
    [(Pig(target=8), None), (Pig(target=8), "hold-at-20"), (Threes(dice=2), None), (Craps(), None)],
)
def test_umb_is_written_and_read_back(tmp_path, game, against):
    """By rollwise with the same value, and by Storm, which knows chances as fractions."""
    solution = rollwise.solve(game)
    policy = None if against is None else Policies.of(solution).find(against)
    path = tmp_path / "model.umb"
    export(solution, path, "umb", policy)
    if game.objective != "win":
        ours, values = solution.value, {"rewards": "points", "optimum": "min"}
        query = 'R{"points"}min=? [F "finished"]'
    else:
        best = solution if policy is None else rollwise.best_response(solution, policy)
        ours, values = (1 + best.values[0]) / 2, {"rewards": "none", "goal": "won"}
        query = 'Pmax=? [F "won"]'
    read = solved(path, **values)
    assert (read.value if read.is_score else chance(read)) == pytest.approx(ours, abs=1e-12)
    assert read.graph.field_names[-1] == "ending"
    assert read.graph.outcome_weight.dtype == np.int64
    stormpy = pytest.importorskip("stormpy")
    model = stormpy.build_model_from_umb(str(path))
    assert model.nr_states == len(read)
    if read.graph.players == 2:  # Storm reads a game with fractions, and doesn't solve it
        seats = [model.get_player_of_state(s) for s in range(model.nr_states)]
        assert set(seats) == {0, 1}
        return
    found = stormpy.model_checking(model, stormpy.parse_properties(query)[0])
    start = model.initial_states[0]
    assert float(found.get_value(start)) == pytest.approx(ours, abs=1e-5)


def test_further_players_may_own_states_without_a_choice(tmp_path):
    game = with_system(**{"#players": 3}) | {"state-to-player.bin": np.array([0, 1, 2, 2], "<u4")}
    assert chance(solved(write_umb(tmp_path / "m.umb", game))) == pytest.approx(2 / 3, abs=1e-15)


def test_a_game_of_three_who_choose_names_the_remedy(tmp_path):
    """With a policy for the others it is read."""
    path, solution = tmp_path / "pig.umb", rollwise.solve(Pig(target=3, players=3))
    export(solution, path, "umb")
    with pytest.raises(ModelFileError, match="of 3 players, and its rewards.*--against POLICY"):
        solved(path)
    policies = Policies.of(solution, any_players=True)
    export(solution, path, "umb", policies.find("optimal"))
    assert solved(path).value == pytest.approx((1 + solution.value) / 2, abs=1e-12)


@pytest.mark.parametrize("command", ["advise", "check", "length"])
def test_every_command_reads_exported_seats(command, tmp_path):
    """Fields of rules may not be called seat or value, those of a model may."""
    path = tmp_path / "pig.umb"
    export(rollwise.solve(Pig(target=3)), path, "umb")
    output(command, str(path))
    assert solved(path).graph.field_names == ("banked", "rival", "turn", "seat_", "ending")


def test_a_game_of_storm_in_which_two_can_go_round_forever(tmp_path):
    """Eisentraut's game: the second player owns the start; half of the plays reach the goal."""
    stormpy = pytest.importorskip("stormpy")
    storm.write_model(stormpy, "smg/example_smg.nm", tmp_path / "m.umb")
    solution = solved(tmp_path / "m.umb")
    assert (solution.graph.has_stakes, solution.graph.endless) == (True, "draw")
    assert solution.value == pytest.approx(-50, abs=1e-11)


def drn(moves, labels, rewards=None, start=0):
    """A model in DRN from ``{state: {action: {target: chance}}}``."""
    names, rewards = list(moves), rewards or {}
    lines = ["@type: MDP\n@reward_models\nr\n@nr_states", str(len(names)), "@nr_choices"]
    lines += [str(sum(map(len, moves.values()))), "@model"]
    for number, (state, actions) in enumerate(moves.items()):
        words = ["init"] * (number == start) + [labels.get(state, "")]
        lines.append(f"state {number} [{rewards.get(state, 0)}] {' '.join(words)}")
        for action, targets in actions.items():
            lines.append(f"\taction {action}")
            lines += [f"\t\t{names.index(to)} : {chance}" for to, chance in targets.items()]
    return "\n".join(lines) + "\n"


def test_the_check_of_a_model_asks_for_no_rule_sheet(tmp_path):
    path = tmp_path / "m.drn"
    path.write_text(craps_drn())
    found = rollwise.check(create(find(str(path)), {"goal": "won"}))
    assert not [one for one in found.findings if "compil" in one.topic]


def test_a_model_that_may_play_for_ever_has_remedies_of_a_model(tmp_path):
    """And no hooks of a rule sheet; each remedy is a question that can be asked."""
    path = tmp_path / "m.drn"
    moves = {"a": {"stay": {"a": 1}, "go": {"away": 1}}, "away": {"stay": {"away": 1}}}
    path.write_text(drn(moves, {"away": "away"}))
    with pytest.raises(EndlessPlay) as raised:
        solved(path, rewards="r")
    told = str(raised.value)
    assert "the action stay. Ask for the chance to reach a goal (goal=away rewards=none)" in told
    assert "a goal that play reaches (goal=" in told
    assert "take the action away" not in told
    assert chance(solved(path, rewards="none", goal="away")) == 1
    assert solved(path, rewards="r", discount="0.99").value == 0


def test_an_exported_game_with_endless_play_names_the_question_to_ask(tmp_path):
    game = PassablePig()
    path = tmp_path / "game.umb"
    export(rollwise.solve(game), path, "umb")
    with pytest.raises(EndlessPlay) as raised:
        solved(path)
    (words,) = re.findall(r"the chance to reach a goal \((.*?)\)", str(raised.value))
    asked = dict(word.split("=") for word in words.split())
    assert asked == {"goal": "won", "rewards": "none"}
    assert 0 < solved(path, **asked).value / 100 < rollwise.solve(game).win_probability + 1e-9


def craps_drn():
    ways = {total: 6 - abs(total - 7) for total in (4, 5, 6, 8, 9, 10)}
    start = {"won": "8/36", "lost": "4/36", **{p: f"{n}/36" for p, n in ways.items()}}
    points = {
        p: {"roll": {"won": f"{n}/36", "lost": "6/36", p: f"{30 - n}/36"}} for p, n in ways.items()
    }
    ends = {end: {"stay": {end: 1}} for end in ("won", "lost")}
    return drn({"start": {"roll": start}, **points, **ends}, {"won": "won"})


def gambler_drn():
    """Sutton and Barto's gambler with the chance 0.4 of heads."""
    moves = {
        s: {f"stake{a}": {s + a: "2/5", s - a: "3/5"} for a in range(1, min(s, 100 - s) + 1)}
        or {"stay": {s: 1}}
        for s in range(101)
    }
    return drn(moves, {100: "rich"}, start=50)


def grid_drn():
    """Russell and Norvig's grid of 4 by 3 cells."""
    cells = [(x, y) for y in (1, 2, 3) for x in (1, 2, 3, 4) if (x, y) != (2, 2)]
    rewards = dict.fromkeys(cells, -0.04) | {(4, 2): -1, (4, 3): 1}
    moves: dict = {}
    for x, y in cells:
        moves[x, y] = {} if rewards[x, y] == -0.04 else {"out": {"end": 1}}
        for dx, dy in ((0, 1), (0, -1), (-1, 0), (1, 0)) if rewards[x, y] == -0.04 else ():
            targets: dict = {}
            for (i, j), tenths in (((dx, dy), 8), ((dy, dx), 1), ((-dy, -dx), 1)):
                there = (x + i, y + j) if (x + i, y + j) in cells else (x, y)
                targets[there] = targets.get(there, 0) + tenths
            moves[x, y][f"{dx}/{dy}"] = {to: f"{n}/10" for to, n in targets.items()}
    return drn(moves | {"end": {"stay": {"end": 1}}}, {"end": "end"}, rewards)


def die_tra(folder):
    """Knuth and Yao's die from coins, PRISM's first example."""
    coins = [(1, 2), (3, 4), (5, 6), (1, 7), (8, 9), (10, 11), (2, 12)]
    rows = [f"{s} {t} 0.5" for s, pair in enumerate(coins) for t in pair]
    rows += [f"{s} {s} 1" for s in range(7, 13)]
    (folder / "m.tra").write_text("\n".join([f"13 {len(rows)}", *rows]))
    marks = "".join(f"{s}: 2\n" for s in range(8, 13))
    (folder / "m.lab").write_text(f'0="init" 1="one" 2="done"\n0: 0\n7: 1 2\n{marks}')
    flips = "".join(f"{s} 1\n" for s in range(7))
    (folder / "m.srew").write_text(f'# Reward structure "flips"\n13 7\n{flips}')


def piglet_tra(folder):
    """Neller and Presser's Piglet to 2 points, as a game of two in PRISM's files."""
    states = [(p, i, j, k) for p in (0, 1) for i in (0, 1) for j in (0, 1) for k in range(2 - i)]
    number = {state: n for n, state in enumerate([*states, "first", "second"])}
    rows = []
    for (p, i, j, k), n in list(number.items())[:-2]:
        head = ("first", "second")[p] if i + k == 1 else (p, i, j, k + 1)
        rows += [
            f"{n}:{p} 0 {number[1 - p, j, i, 0]} 0.5 flip",
            f"{n}:{p} 0 {number[head]} 0.5 flip",
        ]
        rows += [f"{n}:{p} 1 {number[1 - p, j, i + k, 0]} 1 hold"] * (k > 0)
    rows += [f"{number[end]}:0 0 {number[end]} 1 stay" for end in ("first", "second")]
    n_choices = len({tuple(row.split()[:2]) for row in rows})
    (folder / "m.tra").write_text("\n".join([f"{len(number)}:2 {n_choices} {len(rows)}", *rows]))
    (folder / "m.lab").write_text(f'0="init" 1="won"\n0: 0\n{number["first"]}: 1\n')


def sutton_arrays():
    """Sutton and Barto's grid of 5 by 5 cells with two jumps."""
    jumps, n = {1: (21, 10), 3: (13, 5)}, 25
    rewards, chances = np.zeros((n, 4)), np.zeros((4, n, n))
    for s in range(n):
        for a, (i, j) in enumerate(((-1, 0), (1, 0), (0, -1), (0, 1))):
            is_inside = 0 <= s // 5 + i < 5 and 0 <= s % 5 + j < 5
            there, rewards[s, a] = jumps.get(s) or ((s + 5 * i + j, 0) if is_inside else (s, -1))
            chances[a, s, there] = 1
    return rollwise.from_arrays(rewards, chances, 0.9, by="action")


FOREST = [[[0.1, 0.9, 0], [0.1, 0, 0.9], [0.1, 0, 0.9]], [[1, 0, 0]] * 3]
PUBLISHED = [  # a model, its question, values of its first states as published
    (craps_drn, {"rewards": "none", "goal": "won"}, [0.4929]),
    (gambler_drn, {"rewards": "none", "goal": "rich"}, [0.4]),
    (grid_drn, {"rewards": "r"}, [0.705, 0.655, 0.611, 0.388, 0.762, 0.660, -1, 0.812, 0.868]),
    (die_tra, {"rewards": "none", "goal": "one"}, [0.1666667]),
    (die_tra, {"rewards": "flips", "goal": "done"}, [3.6666667]),
    (piglet_tra, {"rewards": "none"}, [0.5714, 0.7143, 0.4, 0.6, 0.8, 0.6667]),
    (sutton_arrays, {}, [22.0, 24.4, 22.0, 19.4, 17.5, 19.8, 22.0, 19.8, 17.8, 16.0]),
    # pymdptoolbox's forest, and QuantEcon's example of its manual
    (lambda: rollwise.from_arrays([[0, 0], [0, 1], [4, 2]], FOREST, 0.9, by="action"), {},
     [26.244, 29.484, 33.484]),
    (lambda: rollwise.from_arrays(REWARDS, [[[0.5, 0.5], [0, 1]], [[0, 1], [0, 1]]], 0.95,
                                  by="state"), {}, [-8.5714, -20]),
]  # fmt: skip


@pytest.mark.parametrize(("model", "question", "published"), PUBLISHED)
def test_public_models_have_their_published_values(tmp_path, model, question, published):
    if model.__name__.endswith("_drn"):
        (tmp_path / "m.drn").write_text(model())
        solution = solved(tmp_path / "m.drn", **question)
    elif model.__name__.endswith("_tra"):
        model(tmp_path)
        solution = solved(tmp_path / "m.tra", **question)
    else:
        solution = rollwise.solve(model())
    values = solution.values if solution.is_score else (1 + solution.values) / 2
    for value, figure in zip(values.tolist(), published, strict=False):
        digits = len(str(float(figure)).partition(".")[2])
        assert round(value, digits) == pytest.approx(figure, abs=1e-9)
