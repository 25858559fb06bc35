"""The command line: what it prints, what it refuses, and how it ends."""

from __future__ import annotations

import csv
import inspect
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli_runner import output, run

from rollwise.cli.app import GROUPS, MORE, all_functions
from rollwise.machine.switches import jit_disabled


def test_the_help_page_has_every_command_once(monkeypatch):
    listed = [name for group in GROUPS.values() for name in group]
    related = [name for group in GROUPS.values() for names in group.values() for name in names]
    assert sorted([*listed, *related, "help"]) == sorted(all_functions())
    assert len(listed) <= 20
    monkeypatch.setenv("COLUMNS", "80")
    page = output("--help")
    assert len(page.splitlines()) <= 45
    assert max(map(len, page.splitlines())) <= 80
    assert all(re.search(rf"^  {name} ", page, re.MULTILINE) for name in listed)
    assert all(re.search(rf"^ +{name} ", output("help"), re.MULTILINE) for name in related)
    assert len(output().splitlines()) == 4


@pytest.mark.parametrize("command", sorted(all_functions()))
def test_a_first_help_page_fits_a_screen(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = output(command, "--help").splitlines()
    assert len(lines) <= 45
    assert max(map(len, lines)) <= 80
    options = [line for line in lines if re.match("  -", line) and "--help" not in line]
    assert len(options) <= 12
    everything = output("help", command)
    names = inspect.signature(all_functions()[command]).parameters
    for name in set(names) & MORE:
        assert f"--{name.replace('_', '-')}" in everything


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("sol", "solve"),
        ("solve royal", "royal-ur"),
        ("solve pig ta", "target="),
        ("solve threes as=c", "as=chase\nas=contest"),
        ("evaluate pig --policy ho", "hold-at-20\nhold-at-20-blindly"),
        ("table pig --method str", "strategy-iteration"),
    ],
)
def test_the_shell_completes_words(typed, offered, monkeypatch):
    monkeypatch.setenv("_ROLLWISE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"rollwise {typed}")
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split())))
    assert run().stdout.strip() == offered


def test_table_as_csv_json_and_text(tmp_path):
    where = ["--where", "lid >= 3 and forced == 0"]
    rows = list(
        csv.DictReader(io.StringIO(output("table", "super-six", "sticks=7", *where, "--csv")))
    )
    assert len(rows) == 10
    assert list(rows[0]) == [
        "lid",
        "mine",
        "theirs",
        "forced",
        "action",
        "value",
        "win_probability",
        "error_bound",
    ]
    document = json.loads(output("table", "super-six", "sticks=7", *where, "--json"))
    assert [row["value"] for row in document["rows"]] == [float(row["value"]) for row in rows]
    assert document["game"] == "super-six"
    text = output("table", "super-six", "sticks=7", "--limit", "2")
    assert "2 of 112 rows" in text
    for suffix, read in ((".csv", pl.read_csv), (".parquet", pl.read_parquet)):
        out = tmp_path / f"table{suffix}"
        assert output("table", "super-six", "sticks=7", *where, "--out", str(out)) == ""
        assert read(out)["value"].to_list() == [row["value"] for row in document["rows"]]


def test_check_passes_and_fails():
    document = json.loads(output("check", "piglet", "--json"))
    assert document["passed"]
    assert {finding["topic"] for finding in document["findings"]} >= {
        "rules",
        "compiling" if jit_disabled() else "interpreted and compiled",
        "reachable states",
        "endless play",
        "actions that are never right",
        "policies",
    }
    games = Path(__file__).with_name("stalling_games.py")
    done = run("check", f"{games}:ForbiddenPig")
    assert done.returncode == 1
    assert "for ever" in done.stdout
    done = run("check", f"{games}:Road")
    assert done.returncode == 0
    assert "never the best choice: rest" in done.stdout


def test_a_tolerance_that_is_missed_is_a_failed_run():
    done = run("solve", "piglet", "--tolerance", "1e-30", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["status"] == "tolerance missed"
    assert "error bound" in done.stderr
    assert run("solve", "piglet", "--tolerance", "1e-9").returncode == 0


def test_output_can_be_cut_short():
    """A reader that closes the pipe early causes no traceback."""
    command = [sys.executable, "-m", "rollwise", "table", "pig", "target=30", "--csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.parametrize(
    "line",
    [
        "compare pig target=5 --methods value-iteration,modified-policy-iteration",
        "table threes dice=2 --limit 3",
        "table pig target=8 --limit 3",
        "advise pig target=10 --state banked=5,rival=5,turn=3",
        "balance piglet target=4 --evaluations 10",
        "thumb piglet target=4 --evaluations 10 --seed 1",
        "tournament pig target=10 --policies optimal,hold-at-20,random",
    ],
)
def test_tables_fit_the_terminal_and_cut_nothing(line, monkeypatch):
    wide = output(*line.split())
    monkeypatch.setenv("COLUMNS", "60")
    narrow = output(*line.split())
    assert "…" not in narrow
    figures = r"\d+\.\d+(?:e-\d+)?"
    if "compare" not in line:  # whose seconds differ from run to run
        assert re.findall(figures, narrow) == re.findall(figures, wide)
    assert ("modified-policy-iteration" in narrow) == ("modified-policy-iteration" in wide)


def test_advise_of_three_seats_before_a_throw():
    """Each throw with its action; the results are the mean over the throws."""
    game = Path(__file__).with_name("throwing.py")
    asked = ("advise", f"{game}:HighestPair", "--state", "left=3,best=0,leader=0")
    document = json.loads(output(*asked, "--json"))
    assert "actions" not in document
    means = sum(
        row["probability"] * np.array(row["win_probabilities"]) for row in document["throws"]
    )
    assert means == pytest.approx(document["win_probabilities"], abs=1e-12)
    assert output(*asked).split()[:3] == ["throw", "chance", "action"]
