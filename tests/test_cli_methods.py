"""Methods, evaluation, responses and comparison on the command line."""

from __future__ import annotations

import csv
import json
from fractions import Fraction

import pytest
from cli_runner import output, refusal, run

from rollwise.methods import METHODS

SEVEN = ("super-six", "sticks=7")


def test_history_of_value_iteration(tmp_path):
    text = output(
        "solve",
        *SEVEN,
        "--method",
        "value-iteration",
        "--epsilon",
        "1e-10",
        "--history",
        "changes.csv",
        "--print-sweeps",
        cwd=tmp_path,
    )
    with (tmp_path / "changes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["sweep", "change"]
    assert len(rows) == 64
    assert float(rows[-1]["change"]) <= 1e-10 < float(rows[-2]["change"])
    assert text.count("sweep ") == 64
    output(
        "solve", *SEVEN, "--method", "value-iteration", "--history", "changes.json", cwd=tmp_path
    )
    changes = json.loads((tmp_path / "changes.json").read_text())
    assert changes[-1] == {"sweep": 64, "change": pytest.approx(float(rows[-1]["change"]))}


# The rows that the source prints: lid, mine, theirs, forced, value, keeps throwing.
SEED_000 = """
5 1 1 1 -0.09741652 T | 5 1 1 0 0.09741652 F | 4 2 1 1 -0.36297663 T | 4 2 1 0 -0.31689982 F
4 1 2 1 0.31689982 T | 4 1 2 0 0.36297663 F | 4 1 1 1 0.04845936 T | 4 1 1 0 0.04845936 T
3 3 1 1 -0.52748432 T | 3 3 1 0 -0.52748432 T | 3 2 2 1 0.02465027 T | 3 2 2 0 0.02465027 T
3 2 1 1 -0.27737920 T | 3 2 1 0 -0.27737920 T | 3 1 3 1 0.58093392 T | 3 1 3 0 0.58093392 T
3 1 2 1 0.42731097 T | 3 1 2 0 0.42731097 T | 3 1 1 1 0.22509739 T | 3 1 1 0 0.22509739 T
"""


def test_value_iteration_prints_the_rows_of_the_source():
    options = ("--method", "value-iteration", "--epsilon", "1e-10", "--where", "lid >= 3", "--json")
    rows = json.loads(output("table", *SEVEN, *options))["rows"]
    found = {(r["lid"], r["mine"], r["theirs"], r["forced"]): r for r in rows}
    printed = [row.split() for row in SEED_000.replace("\n", "|").split("|") if row.strip()]
    assert len(printed) == 20
    for *state, value, throws in printed:
        row = found[tuple(int(field) for field in state)]
        assert f"{row['value']:.8f}" == value
        assert (row["action"] == "throw") == (throws == "T")


@pytest.mark.parametrize(
    "method",
    [
        "strategy-iteration",
        "value-iteration",
        "policy-iteration",
        "modified-policy-iteration",
        "mixed-integer",
        "exact",
    ],
)
def test_solve_by_every_method(method):
    document = json.loads(output("solve", *SEVEN, "--method", method, "--json"))
    assert document["method"] == method
    assert document["status"] == "certified"
    assert document["value"] == pytest.approx(0.6376973898243591, abs=1e-7)
    assert document["error_bound"] < 1e-6


def test_a_program_started_from_an_answer():
    options = ("--method", "mixed-integer", "--whole", "--start-from", "value-iteration", "--json")
    document = json.loads(output("solve", *SEVEN, *options))
    assert document["details"]["started_from_values"]
    assert document["details"]["programs"] == 1
    assert document["value"] == pytest.approx(0.6376973898243591, abs=1e-7)


def test_exact_fractions():
    document = json.loads(output("solve", "super-six", "sticks=5", "--method", "exact", "--json"))
    assert document["win_probability_exact"] == "57624/63919"
    assert document["value_exact"] == "51329/63919"
    assert "57624/63919" in output("solve", "super-six", "sticks=5", "--method", "exact")
    rows = json.loads(output("table", "super-six", "sticks=5", "--method", "exact", "--json"))
    for row in rows["rows"]:
        value = Fraction(row["value_exact"])
        assert abs(Fraction(row["value"]) - value) <= Fraction(row["error_bound"])
        assert Fraction(row["win_probability_exact"]) == (1 + value) / 2
    state = ("--state", "lid=3,mine=1,theirs=1,forced=0", "--method", "exact")
    advice = json.loads(output("advise", "super-six", "sticks=5", *state, "--json"))
    assert advice["win_probability_exact"] == "78307/127838"
    assert [row["win_probability_exact"] for row in advice["actions"]] == [
        "78307/127838",
        "49531/127838",
    ]
    assert "78307/127838" in output("advise", "super-six", "sticks=5", *state)


def test_a_program_that_fails_is_no_answer():
    options = ("--method", "linear-programming")
    done = run("solve", "piglet", *options, "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert document["status"] == "not a fixed point"
    assert document["value"] is None
    assert document["win_probability"] is None
    assert "not a fixed point" in done.stderr
    assert run("solve", "piglet", *options).stdout == ""
    table = run("table", "super-six", "sticks=16", *options, "--json")
    assert table.returncode == 1
    assert max(row["relative_residual"] for row in json.loads(table.stdout)["rows"]) > 1e-3
    advice = run("advise", "piglet", "--state", "banked=0,rival=0,turn=0", *options)
    assert (advice.returncode, advice.stdout) == (1, "")


def test_running_out_gives_bounds(tmp_path):
    saved = tmp_path / "unfinished.parquet"
    options = ("--method", "value-iteration", "--sound", "--max-sweeps", "20")
    done = run("solve", *SEVEN, *options, "--json", "--save", str(saved))
    assert done.returncode == 1
    assert not saved.exists()
    document = json.loads(done.stdout)
    assert document["status"] == "sweep limit reached"
    assert document["value"] is None
    low, high = document["win_probability_bounds"]
    assert low < 0.818848694 < high
    assert high - low < 0.9
    line = refusal("solve", *SEVEN, *options, code=1)
    assert "is between" in line


def test_bounds_that_close():
    options = ("--method", "value-iteration", "--sound", "--order", "components", "--json")
    document = json.loads(output("solve", *SEVEN, *options))
    low, high = document["value_bounds"]
    assert low <= 0.6376973898243591 <= high
    assert document["claimed_error"] <= 1e-10


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("solve", *SEVEN, "--method", "magic"), "no method 'magic'"),
        (("solve", *SEVEN, "--epsilon", "1"), "has no --epsilon"),
        (("solve", *SEVEN, "--method", "value-iteration", "--epsilon=-1"), "less than 0"),
        (("solve", *SEVEN, "--method", "value-iteration", "--order", "up"), "no order"),
        (("solve", *SEVEN, "--method", "mixed-integer", "--solver", "up"), "no solver"),
        (("solve", *SEVEN, "--history", "changes.txt"), ".csv or .json"),
        (("solve", *SEVEN, "--print-sweeps"), "has no --print-sweeps"),
        (("solve", *SEVEN, "--method", "mixed-integer", "--start-from", "up"), "no method 'up'"),
        (("table", *SEVEN, "--method", "magic"), "no method 'magic'"),
        (("table", *SEVEN, "--method", "exact", "--load", "x.parquet"), "can't be had with --load"),
        (("advise", *SEVEN, "--state", "lid=3", "--method", "magic"), "no method 'magic'"),
        (("evaluate", *SEVEN, "--policy", "magic"), "no policy 'magic'"),
        (("evaluate", *SEVEN, "--policy", "random", "--method", "magic"), "exact or iterative"),
        (
            ("evaluate", *SEVEN, "--policy", "random", "--method", "exact", "--theta", "1"),
            "--method iterative",
        ),
        (("evaluate", *SEVEN, "--policy", "random", "--state", "lid=9"), "is missing"),
        (("evaluate", "craps", "--policy", "random", "--against", "random"), "for one"),
        (("respond", "craps", "--to", "random"), "for one"),
        (("respond", *SEVEN, "--to", "nothing.csv"), "no file"),
        (("compare", *SEVEN, "--methods", "exact,magic"), "no method 'magic'"),
        (("compare", *SEVEN, "--time-limit", "0"), "positive"),
    ],
)
def test_wrong_use_is_one_line(arguments, says):
    assert says in refusal(*arguments)


@pytest.mark.needs_jit
def test_hopeless_fractions():
    line = refusal("solve", "super-six", "sticks=60", "--method", "exact", code=1)
    assert "hopeless" in line


def test_evaluate():
    game = ("pig", "target=25", "must_bank=true")
    options = ("--policy", "hold-at-20", "--against", "hold-at-20-blindly")
    document = json.loads(output("evaluate", *game, *options, "--json"))
    assert document["win_probability"] > 1 - document["win_probability_second"] > 0
    assert document["error_bound"] < 1e-12
    assert (document["policy"], document["against"]) == ("hold-at-20", "hold-at-20-blindly")
    text = output("evaluate", *game, *options)
    assert f"probability {document['win_probability']:.14f}"[:-4] in text
    assert f"and {document['win_probability_second']:.14f}"[:-4] in text
    at = ("--state", "banked=20,rival=20,turn=10")
    holds = json.loads(output("evaluate", *game, "--policy", "hold-at-20", *at, "--json"))
    assert holds["win_probability"] == 1
    rolls = json.loads(output("evaluate", *game, "--policy", "hold-at-20-blindly", *at, "--json"))
    assert rolls["win_probability"] < 0.9


def test_evaluate_by_sweeps(tmp_path):
    options = ("--policy", "hold-at-20", "--method", "iterative", "--theta", "1e-5", "--json")
    done = run("evaluate", "pig", "target=25", *options, "--history", "h.csv", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert document["error_bound"] is None
    assert document["theta"] == 1e-5
    lines = (tmp_path / "h.csv").read_text().splitlines()
    assert len(lines) == document["sweeps"] + 1
    assert float(lines[-1].split(",")[1]) <= 1e-5 < float(lines[-2].split(",")[1])
    exact = json.loads(output("evaluate", "pig", "target=25", "--policy", "hold-at-20", "--json"))
    assert document["win_probability"] == pytest.approx(exact["win_probability"], abs=1e-4)
    assert document["win_probability"] != exact["win_probability"]
    short = run("evaluate", "pig", "target=25", *options, "--max-sweeps", "2")
    assert short.returncode == 1
    assert json.loads(short.stdout)["win_probability"] is None
    assert "ended without an answer" in short.stderr


def test_one_sweep_of_the_source():
    """Seed 002: (50, 50, 10) has 1/6 after one sweep, which is an iterate and no answer."""
    options = ("--policy", "hold-at-20", "--max-sweeps", "1", "--order", "synchronous")
    at = ("--state", "banked=20,rival=20,turn=10")
    for place in ((), at):
        document = json.loads(output("evaluate", "pig", "target=40", *options, *place, "--json"))
        assert document["status"] == "sweep limit reached"
        assert document["win_probability"] is None
        assert document["error_bound"] is None
        assert document["iterate"]["win_probability"] == pytest.approx(1 / 6, abs=1e-15)
        assert document["iterate"]["win_probability_second"] == pytest.approx(5 / 6, abs=1e-15)
        assert document["iterate"]["last_change"] == 1
    text = output("evaluate", "pig", "target=40", *options, *at)
    assert "after 1 sweep (synchronous) from a win probability of 0 everywhere: 0.1666" in text
    assert "an iterate and not an answer" in text
    assert "certified" not in text
    points = ("--policy", "take-one", "--max-sweeps", "2")
    assert "from an expected score of 0" in output("evaluate", "threes", "dice=2", *points)


@pytest.mark.slow
@pytest.mark.needs_jit
def test_one_sweep_of_the_source_at_its_own_position():
    options = ("--policy", "hold-at-20", "--max-sweeps", "1", "--order", "synchronous", "--json")
    at = ("--state", "banked=50,rival=50,turn=10")
    document = json.loads(output("evaluate", "pig", *options, *at))
    assert document["iterate"]["win_probability"] == pytest.approx(1 / 6, abs=1e-15)


def test_options_of_sweeps_ask_for_them(tmp_path):
    game = ("evaluate", "pig", "target=10", "--policy", "hold-at-20", "--json")
    for options in (("--theta", "1e-3"), ("--order", "forward"), ("--history", "h.csv")):
        document = json.loads(output(*game, *options, cwd=tmp_path))
        assert document["method"] == "iterative"
        assert document["status"] == "converged"
        assert "iterate" not in document
    assert json.loads(output(*game))["method"] == "exact"


def test_a_policy_from_a_file(tmp_path):
    table = output("table", *SEVEN, "--csv")
    (tmp_path / "mine.csv").write_text(table)
    options = ("--policy", "mine.csv", "--against", "throw-until-4", "--json")
    mine = json.loads(output("evaluate", *SEVEN, *options, cwd=tmp_path))
    best = json.loads(output("respond", *SEVEN, "--to", "throw-until-4", "--json"))
    assert mine["win_probability"] <= best["win_probability"] + 1e-12
    perfect = json.loads(output("respond", *SEVEN, "--to", "mine.csv", "--json", cwd=tmp_path))
    assert perfect["exploitability"] == pytest.approx(
        perfect["win_probability"] + perfect["win_probability_second"] - 1, abs=1e-12
    )


def test_respond():
    document = json.loads(output("respond", *SEVEN, "--to", "random", "--json"))
    assert document["to"] == "random"
    wins = document["win_probability"], document["win_probability_second"]
    assert document["exploitability"] == pytest.approx(sum(wins) - 1, abs=1e-12)
    assert document["exploitability"] > 0.01
    assert document["error_bound"] < 1e-12
    text = output("respond", *SEVEN, "--to", "random")
    assert f"probability {wins[0]:.14f}"[:-4] in text


def test_every_command_knows_the_optimal_policy_and_mixtures():
    best = json.loads(output("solve", *SEVEN, "--json"))["win_probability"]
    options = ("--policy", "optimal", "--against", "0.5*optimal+0.5*random", "--json")
    document = json.loads(output("evaluate", *SEVEN, *options))
    assert document["win_probability"] > best + 0.01
    respond = output("respond", *SEVEN, "--to", "optimal")
    assert f"probability {best:.14f}"[:-4] in respond
    assert "exploitability 0.000000000000" in respond
    mixed = json.loads(
        output("distribution", "threes", "dice=2", "--policy", "0.5*optimal+0.5*random", "--json")
    )
    assert mixed["policies"][0]["mean"] > 4 + 1e-6


def test_compare():
    document = json.loads(output("compare", *SEVEN, "--json"))
    rows = {row["method"]: row for row in document["rows"]}
    keys = ["method", "status", "sweeps", "seconds", "error", "claimed_error", "optimal_policy"]
    assert all(list(row) == keys for row in rows.values())
    assert list(rows) == list(METHODS)
    assert rows.pop("sampled")["status"].startswith(
        "not run: super-six sticks=7: sampled goes back"
    )
    assert all(row["error"] < 1e-6 and row["optimal_policy"] for row in rows.values())
    assert rows["value-iteration"]["claimed_error"] == 1e-10
    two = json.loads(
        output("compare", "piglet", "--methods", "exact, linear-programming", "--json")
    )
    assert [row["method"] for row in two["rows"]] == ["exact", "linear-programming"]
    assert two["rows"][1]["status"] == "not a fixed point"
    assert two["rows"][1]["error"] > 0.01
    assert not two["rows"][1]["optimal_policy"]
    assert "policy-iteration" in output("compare", *SEVEN)


@pytest.mark.needs_jit
def test_compare_says_why_a_method_did_not_run():
    options = ("--methods", "exact", "--json")
    row = json.loads(output("compare", "super-six", "sticks=60", *options))["rows"][0]
    assert row["status"].startswith("not run: ")
    assert row["error"] is None
    lines = output("compare", "super-six", "sticks=60", *options[:2]).splitlines()
    assert lines[1].split() == ["exact", "not", "run"]
    assert lines[2] == f"exact: {row['status']}"


ROUNDED = """
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple
from rollwise import END, Game, payoff

class Pot(NamedTuple):
    points: int

@dataclass(frozen=True)
class Rounded(Game):
    players: ClassVar = {players}
    objective: ClassVar = {objective}
    def start(self): return Pot(0)
    def actions(self, s): yield 7
    def outcomes(self, s, a):
        yield 1, {then}, s
"""


def rounded_sheet(folder, number, ends):
    """A rule sheet of one move, which brings the number as its reward or as a payoff."""
    kind = {"players": 2, "objective": '"win"', "then": f"payoff({number})"}
    if not ends:
        kind = {"players": 1, "objective": '"maximize"', "then": "END"}
    text = ROUNDED.format(**kind)
    if not ends:
        text += f"    def reward(self, s, a): return {number}\n"
    sheet = folder / "rounded.py"
    sheet.write_text(text)
    return str(sheet)


@pytest.mark.parametrize(
    ("number", "ends", "named"),
    [
        ("1 / 3", False, "the reward 0.3333333333333333 of 7 in the state points=0"),
        ("2 ** 0.5", False, "the reward 1.4142135623730951 of 7"),
        ("2 ** 60.5", False, "the reward 1.630477228166598e+18 of 7"),
        ("Fraction(1, 3)", False, "the reward 0.3333333333333333 of 7"),
        ("0.1", True, "the payoff 0.1 of 7 in the state points=0"),
    ],
)
def test_a_rounded_number_has_no_exact_fraction(tmp_path, number, ends, named):
    sheet = rounded_sheet(tmp_path, number, ends)
    for command in (("solve", sheet, "--method", "exact"), ("optimal", sheet, "--exact")):
        said = refusal(*command)
        assert named in said
        assert "count in units in which each" in said


@pytest.mark.parametrize(
    ("number", "ends", "value"),
    [
        ("0.75", False, "3/4"),
        ("10**9 + 1 + 0.5", False, "2000000003/2"),
        ("2**53 - 1", False, "9007199254740991"),
        ("-1.25", True, "-5/4"),
    ],
)
def test_halves_and_quarters_have_exact_fractions(tmp_path, number, ends, value):
    sheet = rounded_sheet(tmp_path, number, ends)
    told = json.loads(output("solve", sheet, "--method", "exact", "--json"))
    assert told["value_exact"] == value
