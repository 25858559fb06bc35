"""Methods, evaluation, responses and comparison on the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from cli_runner import output, refusal, run

from rollwise.methods import METHODS

SEVEN = ("super-six", "sticks=7")


def test_history_of_value_iteration(tmp_path):
    output(
        "solve",
        *SEVEN,
        "--method",
        "value-iteration",
        "--set",
        "epsilon=1e-10",
        "--history",
        "changes.csv",
        cwd=tmp_path,
    )
    with (tmp_path / "changes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["sweep", "change"]
    assert len(rows) == 64
    assert float(rows[-1]["change"]) <= 1e-10 < float(rows[-2]["change"])
    swept = output("solve", *SEVEN, "--method", "value-iteration", "--history", "-")
    assert swept.count("sweep ") == 64
    output(
        "solve", *SEVEN, "--method", "value-iteration", "--history", "changes.json", cwd=tmp_path
    )
    changes = json.loads((tmp_path / "changes.json").read_text())
    assert changes[-1] == {"sweep": 64, "change": pytest.approx(float(rows[-1]["change"]))}


def test_running_out_gives_bounds(tmp_path):
    saved = tmp_path / "unfinished.parquet"
    options = ("--method", "value-iteration", "--set", "sound=yes", "--set", "max_sweeps=20")
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


def test_one_sweep_of_the_source():
    """Seed 002: (50, 50, 10) has 1/6 after one sweep, which is an iterate and no answer."""
    options = ("--policy", "hold-at-20", "--set", "max_sweeps=1", "--set", "order=synchronous")
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
    assert "after 1 sweep (synchronous) from a win probability of 0 everywhere: 16.6667 %" in text
    assert "an iterate and not an answer" in text
    assert "certified" not in text
    points = ("--policy", "take-one", "--set", "max_sweeps=2")
    assert "from an expected score of 0" in output("evaluate", "threes", "dice=2", *points)


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


@pytest.mark.parametrize(
    ("sheet", "named"),
    [
        ("little_games.py:Ladder share=0.3", "the reward 0.3 of stop in the state height=1"),
        ("little_games.py:Ladder share=1.4142135623730951", "the reward 1.4142135623730951 of"),
        ("little_games.py:Ladder share=1.63e18", "the reward 1.63e+18 of stop"),
        ("stakes.py:Pays points=0.1", "the payoff 0.1 of 0 in the state steps=0"),
    ],
)
def test_a_rounded_number_has_no_exact_fraction(sheet, named):
    sheet = str(Path(__file__).with_name(sheet.partition(" ")[0])), *sheet.split()[1:]
    for command in (("solve", *sheet, "--method", "exact"), ("optimal", *sheet, "--exact")):
        said = refusal(*command)
        assert named in said
        assert "count in units in which each" in said
