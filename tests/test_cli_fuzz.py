"""Whatever is typed: one clear line or an answer, and never a traceback.

Commands and their options are those that the command line knows, so that a new one
joins by itself. Words are plausible, or what people paste and what attackers try.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import warnings
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

import pytest
import small_games
import typer.main
from conftest import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rollwise import solve
from rollwise.builders import limits
from rollwise.cli import main
from rollwise.cli.app import app
from rollwise.games.pig import Piglet

LONGEST = 20  # seconds of processor time that a case may take

GAMES = {  # small ones, and values of their parameters
    **small_games.TYPED,
    "piglet": ["target=3", "target=4"],
    "pig": ["target=5", "sides=3", "must_bank=true"],
    "craps": [],
    "threes": ["dice=2", "skip=false"],
    "super-six": ["sticks=3", "holes=3", "may_stop=2", "take_all=true"],
    "hare-and-tortoise": ["steps=4"],
    "two-dice-pig": ["target=6"],
    "hog": ["target=9", "dice=2"],
    "pass-the-pigs": ["target=9"],
    "zombie-dice": ["goal=1"],
    "snakes-and-ladders": ["board=punitive", "beyond=bounces", "sides=4"],
    "dice-blackjack": ["low=5", "high=6"],
    "rules.py": [],
    "rules.py:Own": ["odds=0.5", "deep=2", "odds=inf", "odds=1e308", "odds=nan"],
}
FEW = {  # what makes the runs of a game small enough: always given
    **{name: " ".join(given) for name, given in small_games.TYPED.items()},
    "dice-blackjack": "high=6",
}
NUMBERS = ["0", "1", "-1", "2", "3", "0.5", "-0.0", "1e-300", "-7", "007", "+2", "1_0"]
HUGE = [str(2**63), str(2**64 + 1), str(-(2**63) - 1), "9" * 1001, "-" + "9" * 1001,
    "1" + "0" * 400]  # fmt: skip
ODD = ["nan", "inf", "-inf", "1e400", "²", "½", "٣", "１２", "0x10", "1e3", "--", "-", "''", "\t"]
FILES = ["folder", "folder.csv", "folder.py", "folder.npz", "folder.parquet", "folder.html",
    "no.csv", "no/where.csv", "empty.csv", "bytes.csv", "bytes.npz", "bytes.parquet",
    "bytes.py", "nul.py", "piglet.parquet", "scores.csv", "plays.csv", "game.txt",
    "unreadable.csv", ".", "/", "out.html", "out.csv", "out.json", "out.parquet", "out.npz",
    "out.png", "x" * 300 + ".csv", "a\0b.csv"]  # fmt: skip
WORDS = ["", " ", "=", ",", "a=1", "=1", "target=", "\0", "a\0b", "x" * 5000, "é", "a\nb",
    "\udcff", "None"]  # fmt: skip
POLICIES = ["optimal", "random", "hold-at-2", "hold-at-20", "0.9*optimal+0.1*random",
    "1*random", "*", "400*optimal+1*random", "0*optimal", "1e400*random",
    "9" * 400 + "*optimal+1*random", "1*", "0." + "0" * 400 + "1*random", "1*random+",
    "1*1*random", "optimal+random", "-1*random"]  # fmt: skip
WHERE = ["total >= 2", "-action == 3", "action == 'roll'", "-'roll' == 3", "not turn", "turn",
    "1 < 2 < 3", "turn in [1, 2]", "turn in []", "turn == 9" + "9" * 1000, "turn == 1e400",
    "turn / 0 > 1", "turn // 0 > 1", "turn % 0 == 1", "5 // 0 == 1", "value > 0.5", "best == 1",
    "'a' < 'b'", "(" * 300, "turn == " + "-" * 1500 + "1", "action < 'z'",
    "action in ['roll', 3]", "value == value", "- - 1 == 1", "banked + 9223372036854775807 > 0",
    "turn == 9223372036854775808", "turn * 1e308 * 10 > 0", "turn == True", "turn == None",
    "action == 'ro\\x00ll'", "turn is 1", "lambda: 1", "turn == 1j"]  # fmt: skip
STATES = ["banked=0,rival=0,turn=0", "turn=1", "banked=0,rival=0,turn=" + "9" * 30, "point=0",
    "point=²", "banked=0,rival=0,turn=-1", "banked=0,,rival=0", "total=1",
    "lid=1,mine=1,theirs=1,forced=0"]  # fmt: skip
METHODS = ["strategy-iteration", "value-iteration", "policy-iteration", "linear-programming",
    "exact", "modified-policy-iteration", "value-iteration,exact", "strategy-iteration,",
    "mixed-integer", "sampled"]  # fmt: skip
KINDS = ["policy", "value", "regret", "surface", "graph", "turns", "convergence", "scores",
    "residual", "error"]  # fmt: skip
SEVERAL = ["1,2", "2,,3", "1,two", "optimal,random", "1-2-3", "6 6 1", "-1,-2", "1,2,3,4,5,6,7,8",
    "1;2"]  # fmt: skip
TIES = ["shared", "first", "win-or-tie", "win", "draw", "lose"]
CHOICES = ["prism", "drn", "json", "parquet", "npz", "first", "second", "here", "by-hand",
    "human", "auto", "interpreted", "compiled", "counts", "monte-carlo", "q-learning", "scip",
    "highs", "components", "forward", "breadth-first", "none", "smallest", "roll",
    "hold"]  # fmt: skip
ALL = [NUMBERS, HUGE, ODD, FILES, WORDS, POLICIES, WHERE, STATES, METHODS, SEVERAL, TIES, CHOICES]

# What an option takes that is no number, by its name.
VALUES: dict[str, list[str]] = {
    "where": WHERE,
    "state": STATES,
    "policy": POLICIES,
    "policies": [
        "optimal,random",
        "random,hold-at-2,optimal",
        "random",
        "random,,",
        "optimal,optimal",
    ],
    "against": POLICIES,
    "to": [*POLICIES, "prism", "drn", "json", "parquet", "npz", "open-spiel"],
    "method": [*METHODS, "counts", "monte-carlo", "q-learning"],
    "start_from": METHODS,
    "methods": METHODS,
    "ties": TIES,
    "kind": KINDS,
    "scores": SEVERAL,
    "mode": ["auto", "interpreted", "compiled", "fast"],
    "solver": ["scip", "highs", "glpk"],
    "order": ["synchronous", "forward", "reversed", "breadth-first", "components", "sideways"],
    "objective": ["none", "smallest", "largest", "both"],
    "seat": ["first", "second", "third"],
    "dice": ["here", "by-hand", "there"],
    "count": ["roll", "hold", "throw", "0", "one die"],
    "x": ["turn", "banked", "action", "total"],
    "y": ["rival", "turn", "nowhere"],
}
COUNTS = {"games", "simulate", "most", "workers", "checkpoints", "players", "explore", "tighten"}
COUNTS |= {"samples", "rim"}

RULES = '''
from dataclasses import dataclass
from typing import NamedTuple
from rollwise import LOSE, PASS, WIN, Game

class Place(NamedTuple):
    total: int

@dataclass(frozen=True)
class Own(Game):
    """Climb, or dare."""
    deep: int = 2
    odds: float = 0.5

    def start(self):
        return Place(0)

    def actions(self, s):
        yield 0
        if s.total > 0:
            yield 3

    def outcomes(self, s, action):
        yield 1 + action, WIN, s
        yield self.odds, LOSE, s
        if s.total < self.deep:
            yield 2, PASS, Place(s.total + 1)
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with files of all kinds, good and bad."""
    place = tmp_path_factory.mktemp("fuzz")
    for name in FILES:
        if name.startswith("folder"):
            (place / name).mkdir()
    (place / "rules.py").write_text(RULES)
    (place / "empty.csv").write_text("")
    for kind in ("csv", "npz", "parquet", "py"):
        (place / f"bytes.{kind}").write_bytes(bytes(range(128, 256)))
    (place / "nul.py").write_bytes(b"x = 1\0\n")
    (place / "scores.csv").write_text("3\n5\n4\n4\n")
    (place / "many.csv").write_text("3\n" + "9" * 30 + "\n")
    (place / "faces.csv").write_text("player,rolled,taken\n1,² 3,3\n")
    (place / "plays.csv").write_text("player,total,action\n1,0,0\n")
    (place / "game.txt").write_text("@game piglet target=3\nroll 4\n")
    (place / "unreadable.csv").write_text("1\n")
    (place / "unreadable.csv").chmod(0)
    solve(Piglet(target=3)).save(place / "piglet.parquet")
    return place


SLOW = {"report", "compare", "check", "plot", "many-dice"}  # a second and more
GROUP: Any = typer.main.get_command(app)
# `serve` goes on until it is stopped; tests/test_serve.py tries what it is given
COMMANDS = {name: GROUP.get_command(None, name) for name in GROUP.commands if name != "serve"}
QUICK = [name for name in COMMANDS if name not in SLOW]


def words_for(name: str, kind: str) -> list[str]:
    """What may be given for an option or argument of this name."""
    if name in COUNTS:
        return ["1", "2", "3", "3", "0", "-1", "2.5", HUGE[1], HUGE[3], "nan", "²"]
    return VALUES.get(name, FILES if kind == "file" else [*NUMBERS, "7", "10", "300", HUGE[0]])


@st.composite
def command_lines(draw: Any) -> list[str]:
    """A command with arguments and options: all plausible, or some of them odd."""
    anything = st.one_of(st.sampled_from([w for pool in ALL for w in pool]), st.text(max_size=8))
    oddity = draw(st.sampled_from([0, 0, 10, 30]))  # per cent

    def odd() -> bool:
        return draw(st.integers(0, 99)) < oddity

    def word(name: str, kind: str = "") -> str:
        if odd():
            chosen = draw(anything)
            huge_run = name in COUNTS and chosen.strip().lstrip("+").isdecimal()
            return "3" if huge_run and len(chosen) < 19 else chosen
        return str(draw(st.sampled_from(words_for(name, kind))))

    command = draw(st.sampled_from([*COMMANDS, *12 * QUICK, ""]))
    if command == "":
        return draw(st.lists(anything, min_size=1, max_size=4))
    arguments: list[str] = []
    options: list[str] = []
    game = draw(st.sampled_from(list(GAMES)))
    known = [parameter for parameter in COMMANDS[command].params if parameter.name != "help"]
    optional = [p for p in known if p.param_type_name == "option" and not _needed(p)]
    taken = draw(st.lists(st.sampled_from(optional), max_size=3, unique=True)) if optional else []
    for parameter in known:
        kind = "file" if parameter.metavar == "FILE" or parameter.name == "file" else ""
        if parameter.param_type_name == "option":
            if _needed(parameter) or parameter in taken:
                options.append(draw(st.sampled_from(parameter.opts)))
                options += [] if parameter.is_flag else [word(parameter.name, kind)]
        elif parameter.name == "game":
            arguments.append(draw(anything) if odd() else game)
        elif parameter.name == "parameters":
            arguments += [FEW[game]] if game in FEW else []
            arguments += [_assignment(draw, game, anything)] if odd() else []
        else:
            arguments.append(word(parameter.name, kind))
    return (
        [command, *arguments, *options] if draw(st.booleans()) else [command, *options, *arguments]
    )


def _needed(option: Any) -> bool:
    """Whether the command can't do without it, or takes long."""
    return bool(option.required) or option.name in ("games", "most")


def _assignment(draw: Any, game: str, anything: Any) -> str:
    known = GAMES[game]
    if known and draw(st.booleans()):
        text = str(draw(st.sampled_from(known)))
        if draw(st.booleans()):
            return text
        return (
            text.partition("=")[0] + "=" + draw(st.sampled_from([*HUGE, *ODD, *WORDS, "0", "-1"]))
        )
    return str(draw(anything))


def strict(text: str) -> Any:
    """A JSON document, without what Python alone knows of."""

    def refuse(constant: str) -> NoReturn:
        raise AssertionError(f"{constant} isn't JSON")

    return json.loads(text, parse_constant=refuse)


def run(arguments: list[str], folder: Path) -> tuple[int, str, str]:
    """Run the command line here: exit code, stdout, stderr."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", write_through=True)
    code: Any = 0
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "stdin", io.StringIO("1\n2\n²\nroll\nundo\n\n")),
        mock.patch.object(sys, "argv", ["rollwise", *arguments]),
        mock.patch.object(limits, "MAX_STATES", 3_000),
        mock.patch.object(limits, "MAX_STATES_INTERPRETED", 3_000),
        mock.patch.dict(os.environ, {"COLUMNS": "80"}),
        warnings.catch_warnings(),
    ):
        try:
            main()
        except SystemExit as ending:
            code = ending.code
    told = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
    return int(code or 0), told[0], told[1]


def hold(arguments: list[str], folder: Path) -> int:
    """Run it, and hold it to what every command promises."""

    def too_long(*_: Any) -> NoReturn:
        raise AssertionError(f"it takes longer than {LONGEST} s")

    before = signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        code, out, err = run(arguments, folder)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert code in (0, 1, 2), (code, err)
    assert "Traceback" not in err + out
    lines = err.splitlines()
    if "-" in arguments:
        lines = [line for line in lines if not line.startswith("sweep ")]
    messages = [line for line in lines if not line.startswith("rollwise: warning: ")]
    if code == 2:
        assert out == "" or arguments[:1] == ["play"]
        assert len(messages) == 1, err
        assert messages[0].startswith("rollwise: ")
        assert len(messages[0]) > len("rollwise: ") + 10
        assert len(messages[0]) < 1000
    if code == 1:
        assert messages
    if "--json" in arguments and "--help" not in arguments and "-h" not in arguments and out:
        strict(out)
    return code


NINES = "9" * 1001
FOUND = [  # what once ended in a traceback, or never
    ["table", "piglet", "target=3", "--where", "-action == 3"],
    ["table", "piglet", "target=3", "--where", "-'roll' == 3"],
    ["table", "piglet", "target=3", "--where", f"turn == {NINES}"],
    ["table", "piglet", "target=3", "--limit", "9" * 40],
    ["solve", "piglet", f"target={NINES}"],
    ["solve", "piglet", f"target={2**63}"],
    ["solve", "piglet", "target=3", "--max-states", "9" * 30, "--mode", "compiled"],
    ["solve", "piglet", "target=3", "--save", "\udcff"],
    ["solve", "x" * 5000],
    ["evaluate", "piglet", "target=3", "--policy", "9" * 400 + "*optimal+1*random"],
    ["simulate", "piglet", "target=3", "--policy", "random", "--games", "9" * 30],
    ["simulate", "piglet", "target=3", "--policy", "random", "--games", "4", "--workers", "9" * 9],
    ["distribution", "threes", "dice=2", "--simulate", "9" * 15],
    ["scores", "threes", "many.csv", "dice=2"],
    ["judge", "threes", "faces.csv", "dice=2"],
    ["review", "piglet", "a\0b"],
]


@pytest.mark.parametrize("arguments", FOUND, ids=range(len(FOUND)))
def test_what_was_found_is_refused_in_a_line(folder, arguments):
    assert hold(arguments, folder) == 2


def test_a_time_limit_may_be_infinite(folder):
    pytest.importorskip("pyscipopt")
    words = ["solve", "piglet", "target=3", "--method", "mixed-integer", "--set", "time_limit=inf"]
    assert hold([*words, "--json"], folder) == 0


def test_infinity_isnt_printed_as_json(folder):
    words = ["solve", "piglet", "target=3", "--method", "value-iteration", "--set", "epsilon=1e300"]
    assert hold([*words, "--json"], folder) in (0, 1)


def test_checkpoints_beyond_the_games_are_those_that_there_are(folder):
    words = ["learn", "piglet", "target=3", "--games", "5", "--compare", "--json"]
    assert hold([*words, "--compare", "999999999999"], folder) == 0


@given(command_lines())
@settings(
    max_examples=examples(80),
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_whatever_command_lines(folder, arguments):
    hold(arguments, folder)
