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
from cli_runner import output, refusal, run

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


def test_check_passes_and_fails(tmp_path):
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
    rules(tmp_path)
    done = run("check", "rules.py:Endless", cwd=tmp_path)
    assert done.returncode == 1
    assert "for ever" in done.stdout
    done = run("check", "rules.py:Useless", cwd=tmp_path)
    assert done.returncode == 0
    assert "never the best choice: give up" in done.stdout


def test_a_tolerance_that_is_missed_is_a_failed_run():
    done = run("solve", "piglet", "--tolerance", "1e-30", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["status"] == "tolerance missed"
    assert "error bound" in done.stderr
    assert run("solve", "piglet", "--tolerance", "1e-9").returncode == 0


RULES = """
from dataclasses import dataclass
from typing import NamedTuple
from rollwise import AGAIN, LOSE, PASS, WIN, Game

class Spot(NamedTuple):
    x: int
    y: int

class Base(Game):
    def start(self):
        return Spot(3, 4)
    def actions(self, s):
        yield 0

class Endless(Base):
    def outcomes(self, s, action):
        yield 1, PASS, Spot(s.y, s.x)

class Negative(Base):
    def outcomes(self, s, action):
        yield -1, WIN, s

class Nothing(Base):
    action_names = ("throw",)
    def outcomes(self, s, action):
        if s.x > 5:
            yield 1, WIN, s

class Huge(Base):
    def outcomes(self, s, action):
        for face in range(1, 7):
            if s.x + face > 100_000:
                yield 1, WIN, s
            else:
                yield 1, PASS, Spot(s.y, s.x + face)

class Useless(Base):
    action_names = ("play", "give up")
    def actions(self, s):
        yield 0
        yield 1
    def outcomes(self, s, action):
        if action == 1:
            yield 1, LOSE, s
        else:
            yield 1, WIN, s
            yield 1, LOSE if s.x == 0 else PASS, Spot(s.x - 1, s.y)

@dataclass(frozen=True)
class Ranged(Base):
    size: int = 3
"""


def rules(folder: Path) -> None:
    (folder / "rules.py").write_text(RULES)
    (folder / "broken.py").write_text("def start(:\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("solve", "chess"), ("chess", "rollwise games")),
        (("solve", "pgi"), ("did you mean pig",)),
        (("solve", "pig", "size=3"), ("pig", "size", "target")),
        (("solve", "pig", "target"), ("name=value",)),
        (("solve", "pig", "target=ten"), ("pig", "target", "whole number")),
        (("solve", "pig", "target=0"), ("pig", "target", "0")),
        (("solve", "pig", "sides=-1"), ("pig", "sides", "-1")),
        (("solve", "pig", "target=5", "target=6"), ("target", "twice")),
        (("solve", "super-six", "sticks=1"), ("super-six", "sticks", "2")),
        (("solve", "pig", "--mode", "fast"), ("--mode", "interpreted")),
        (("solve", "piglet", "--tolerance", "-1"), ("--tolerance", "positive")),
        (
            ("advise", "pig", "target=9", "--state", "banked=99,rival=0,turn=0"),
            ("pig", "banked=99"),
        ),
        (("advise", "pig", "target=9", "--state", "banked=1"), ("rival", "missing")),
        (("advise", "pig", "target=9", "--state", "nonsense"), ("nonsense", "banked=0,rival=0")),
        (("table", "pig", "target=9", "--where", "banked >"), ("banked >", "read")),
        (("table", "pig", "target=9", "--where", "bank > 1"), ("bank", "did you mean banked")),
        (("table", "pig", "target=9", "--where", "open('x')"), ("no condition",)),
        (("table", "pig", "target=9", "--where", f"turn > {500 * '-'}1"), ("too deeply nested",)),
        (("serve", "pig", "--game-memory", "inf"), ("--game-memory is inf GB", "at most")),
        (("table", "pig", "target=9", "--where", "action > 3"), ("no action", "roll, hold")),
        (("table", "pig", "target=9", "--out", "x.txt"), (".csv",)),
        (("table", "pig", "target=9", "--out", "no/where/x.csv"), ("x.csv", "written")),
        (("solve", "pig", "target=9", "--save", "no/where/x.parquet"), ("written",)),
        (("solve", "nowhere.py:Game"), ("nowhere.py",)),
        (("solve", "broken.py:Game"), ("broken.py", "line 1")),
        (("solve", "rules.py:Other"), ("Other", "Endless")),
        (("solve", "rules.py"), ("which game",)),
        (("solve", "rules.py:Endless"), ("endless", "for ever", "x=3, y=4", "action 0")),
        (("solve", "rules.py:Negative"), ("negative", "-1", "x=3, y=4", "action 0")),
        (("solve", "rules.py:Nothing"), ("nothing", "no outcome", "x=3, y=4", "throw")),
        (("solve", "rules.py:Huge", "--max-states", "50000"), ("huge", "50,000", "--max-states")),
        (("solve", "rules.py:Ranged", "size=1.5"), ("ranged", "size", "whole number")),
    ],
)
def test_wrong_use_is_refused_in_a_line(arguments, words, tmp_path):
    rules(tmp_path)
    message = refusal(*arguments, cwd=tmp_path)
    for word in words:
        assert word in message
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != "") == [
        "broken.py",
        "rules.py",
    ]


def test_output_can_be_cut_short():
    """A reader that closes the pipe early causes no traceback."""
    command = [sys.executable, "-m", "rollwise", "table", "pig", "target=30", "--csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.parametrize("width", [60, 80, 120])
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
def test_tables_fit_the_terminal_and_cut_nothing(line, width, monkeypatch):
    wide = output(*line.split())
    monkeypatch.setenv("COLUMNS", str(width))
    narrow = output(*line.split())
    assert "…" not in narrow
    figures = r"\d+\.\d+(?:e-\d+)?"
    if "compare" not in line:  # whose seconds differ from run to run
        assert re.findall(figures, narrow) == re.findall(figures, wide)
    assert ("modified-policy-iteration" in narrow) == ("modified-policy-iteration" in wide)


def test_advise_of_three_seats_before_a_throw(tmp_path):
    """Each throw with its action; the results are the mean over the throws."""
    sheet = tmp_path / "race.py"
    sheet.write_text(
        "from typing import NamedTuple\n"
        "from rollwise import Game, PASS, WIN, dice\n"
        "class S(NamedTuple):\n    me: int\n    others: tuple\n"
        "class Race(Game):\n    players = 3\n"
        "    def start(self): return S(0, (0, 0))\n"
        "    def throws(self, s): return dice.one(4)\n"
        "    def actions(self, s, throw): return range(2)\n"
        "    def outcomes(self, s, throw, action):\n"
        "        me = s.me + (throw if action else 2)\n"
        "        yield 1, WIN if me >= 6 else PASS, S(s.others[0], (s.others[1], me))\n"
    )
    asked = ("advise", f"{sheet}:Race", "--state", "me=0,others=(0,0)")
    document = json.loads(output(*asked, "--json"))
    assert "actions" not in document
    assert [row["action"] for row in document["throws"]] == ["0", "0", "1", "1"]
    means = sum(
        row["probability"] * np.array(row["win_probabilities"]) for row in document["throws"]
    )
    assert means == pytest.approx(document["win_probabilities"], abs=1e-12)
    assert output(*asked).split()[:3] == ["throw", "chance", "action"]
