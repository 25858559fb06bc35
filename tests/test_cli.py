"""The command line: what it prints, what it refuses, and how it ends."""

from __future__ import annotations

import _thread
import csv
import inspect
import io
import json
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli_runner import output, refusal, run

import rollwise
from rollwise.answer.filters import parse_filter, said_of
from rollwise.cli.app import GROUPS, MORE, all_functions
from rollwise.errors import PolicyError, UsageError
from rollwise.games.pig import Pig
from rollwise.learn import Learner
from rollwise.machine.switches import jit_disabled
from rollwise.methods import METHODS
from rollwise.simulate import simulate


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
    cut = [line for line in output("help").splitlines() if line.endswith("...")]
    assert [line.split()[0] for line in cut] == ["plot"]  # its summary ends like that
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
    assert not re.search(r"\[\[|{", everything.partition("\n\n")[0])
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


@pytest.mark.parametrize("plain", ["forced == True", "not forced == False and lid > 2", "True"])
def test_conditions_have_true_and_false_as_states_do(plain):
    asked = ("table", "super-six", "sticks=7", "--csv", "--where")
    small = plain.replace("True", "true").replace("False", "false")
    assert output(*asked, small) == output(*asked, plain)
    (kept,) = parse_filter("true == 1", ["true"]).meta.root_names()  # a column of that name
    assert kept == "true"
    assert said_of("a == true and b == 1", ["a"]) == "(a == true)"


def test_table_as_csv_json_and_text(tmp_path):
    where = ["--where", "lid >= 3 and forced == False"]
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
    out = tmp_path / "table.parquet"
    told = output("table", "super-six", "sticks=7", *where, "--out", str(out))
    assert told == f"wrote {out} ({len(rows)} rows)\n"
    assert pl.read_parquet(out)["value"].to_list() == [row["value"] for row in document["rows"]]


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


def test_heads_are_broken_before_rows(monkeypatch):
    """A table whose heads alone are too wide keeps a line for each row."""
    monkeypatch.setenv("COLUMNS", "80")
    upper, lower, row = output("table", "super-six", "sticks=7", "--limit", "1").splitlines()[:3]
    assert upper.split() == ["win_", "error_"]
    assert lower.split()[-3:] == ["value", "probability", "bound"]
    assert row.split()[:5] == ["0", "1", "1", "0", "throw"]


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


def test_games_tells_one_game(tmp_path):
    """Of this package, or of a file: its parameters and policies with their meanings."""
    told = output("games", "pig")
    assert re.search(r"^target +100 +from 1 to 30,000 +points that win *$", told, re.M)
    assert re.search(r"^hold-at-20 +Hold as soon as", told, re.M)
    (listed,) = json.loads(output("games", "pig", "--json"))["games"]
    assert listed in json.loads(output("games", "--json"))["games"]
    sheet = Path(__file__).parents[1] / "examples" / "dragon.py"
    assert re.search(r"^most +3 +from 1 to 5 +coins that fit in a hand *$",
                     output("games", str(sheet)), re.M)  # fmt: skip
    assert output("games", str(sheet.with_name("thieves.py"))).splitlines()[0] == "thieves"


@pytest.mark.parametrize(
    ("game", "start"),
    [
        (("piglet",), "banked=0,rival=0,turn=0"),
        (("pig", "target=6", "players=3"), "banked=0,rivals=(0,0),turn=0"),
        (("threes", "as=chase", "target=7", "dice=2"), None),
        (("bozo", "sheet=five", "--throw", "1,2,3,4,5", "--rolls-left", "1"), None),
        (("bear-off", "checkers=1", "--method", "exact"), "on=(0,0,0,0,0,1)"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_advise_without_a_state_is_about_the_start(game, start):
    line, *table = output("advise", *game).splitlines()
    named = re.fullmatch(r"at the start \((.*)\):", line)[1].replace(" ", "")
    assert named == (start or named)
    asked = output("advise", *game, "--state", named)
    assert asked.splitlines() == table
    assert output("advise", *game, "--json") == output("advise", *game, "--state", named, "--json")


# ---- methods, evaluation, responses and comparison on the command line


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
    assert all(list(row)[: len(keys)] == keys for row in rows.values())
    assert list(rows) == list(METHODS)
    sampled = rows.pop("sampled")
    assert sampled["status"] == "not run"
    assert sampled["note"].startswith("super-six sticks=7: sampled goes back")
    assert all(row["error"] < 1e-6 and row["optimal_policy"] for row in rows.values())
    assert rows["value-iteration"]["claimed_error"] == 1e-10
    assert [name for name, row in rows.items() if row["claim_is_bound"]] == ["exact"]
    sure = json.loads(
        output("solve", *SEVEN, "--method", "value-iteration", "--set", "sound=yes", "--json")
    )
    assert sure["claim_is_bound"]
    two = json.loads(
        output("compare", "piglet", "--methods", "exact, linear-programming", "--json")
    )
    assert [row["method"] for row in two["rows"]] == ["exact", "linear-programming"]
    assert two["rows"][1]["status"] == "not a fixed point"
    assert two["rows"][1]["error"] > 0.01
    assert two["rows"][1]["claimed_error"] is None
    told = output("compare", "piglet", "--methods", "linear-programming")
    assert "the method is for one player" in told
    told = output("compare", *SEVEN, "--methods", "value-iteration,exact")
    assert "claimed error: the threshold at which the method stopped" in told
    assert "no bound (that of exact is proved)" in told
    assert "claimed error: a bound" in output("compare", *SEVEN, "--methods", "exact")
    assert not two["rows"][1]["optimal_policy"]
    assert "policy-iteration" in output("compare", *SEVEN)


@pytest.mark.parametrize(
    ("sheet", "named"),
    [
        ("little_games.py:Ladder share=0.3", "the reward 0.3 of stop in the state height=1"),
        ("little_games.py:Ladder share=1.4142135623730951", "the reward 1.4142135623730951 of"),
        ("little_games.py:Ladder share=1.63e18", "the reward 1.63e+18 of stop"),
        ("stakes.py:Pays points=0.1", "the payoff 0.1 of the only move in the state steps=0"),
    ],
)
def test_a_rounded_number_has_no_exact_fraction(sheet, named):
    sheet = str(Path(__file__).with_name(sheet.partition(" ")[0])), *sheet.split()[1:]
    for command in (("solve", *sheet, "--method", "exact"), ("optimal", *sheet, "--exact")):
        said = refusal(*command)
        assert named in said
        assert "count in units in which each" in said


# ---- `learn`, `simulate` and `tournament` on the command line


SMALL = ("dice-blackjack", "sides=3", "low=6", "high=7")


def test_learning_to_beat_a_policy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("learn", *SMALL, "--games", "4000", "--seed", "1", "--against", "one-die")
    document = json.loads(output(*words, "--save", "mine.csv", "--json"))
    beside = document["against"]
    assert beside["policy"] == "one-die"
    assert 0.5 < beside["gets"] <= beside["best_response"] + 1e-12
    worth = ("--policy", "mine.csv", "--against", "one-die", "--json")
    again = json.loads(output("evaluate", *SMALL, *worth))
    seats = (again["win_probability"], again["win_probability_second"])
    assert sum(seats) / 2 == pytest.approx(beside["gets"], abs=1e-12)
    assert "a best response has" in output(*words)
    assert refusal(*words, "--compare").strip().endswith("which --against isn't")
    assert "must end in .csv or .parquet" in refusal(*words, "--save", "mine.npz")
    alone = ("learn", "threes", "dice=2", "--games", "9", "--against", "random")
    assert "no opponent to learn against" in refusal(*alone)


def test_a_run_that_goes_on_ends_as_an_unbroken_one(tmp_path):
    first, second, whole = (str(tmp_path / f"{name}.npz") for name in ("a", "b", "c"))
    output("learn", *SMALL, "--games", "300", "--seed", "1", "--save", first)
    output("learn", *SMALL, "--games", "800", "--resume", first, "--save", second)
    output("learn", *SMALL, "--games", "800", "--seed", "1", "--save", whole)
    with np.load(second) as one, np.load(whole) as other:
        assert all(np.array_equal(one[name], other[name]) for name in one.files)
    text = output("simulate", *SMALL, "--policy", second, "--against", "optimal", "--games", "100")
    assert "b.npz wins" in text
    refused = refusal("learn", *SMALL, "--games", "800", "--resume", second)
    assert "holds 800 games already" in refused
    refused = refusal("learn", *SMALL, "--games", "900", "--resume", second, "--seed", "2")
    assert "--seed 1, not 2" in refused
    refused = refusal("learn", "dice-blackjack", "--games", "900", "--resume", second)
    assert "was learned on" in refused


@pytest.mark.slow
@pytest.mark.needs_jit
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_keeps_what_was_learned(tmp_path, monkeypatch, workers):
    kept = tmp_path / "kept.npz"
    play = Learner.play

    def interrupted(self, games, **options):
        threading.Timer(0.3, _thread.interrupt_main).start()
        play(self, games, **options)

    arguments = ("learn", *SMALL, "--seed", "1", "--workers", workers)
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "play", interrupted)
        done = run(*arguments, "--games", str(10**10), "--save", str(kept))
    assert done.returncode == 130
    with np.load(kept) as archive:
        games = json.loads(archive["facts"].tobytes())["games"]
    assert f"{kept} holds {games:,} games" in done.stderr
    goal, again, whole = str(games + 10_000), str(tmp_path / "b.npz"), str(tmp_path / "c.npz")
    output("learn", *SMALL, "--games", goal, "--resume", str(kept), "--save", again)
    output(*arguments, "--games", goal, "--save", whole)
    with np.load(again) as one, np.load(whole) as other:
        assert all(np.array_equal(one[name], other[name]) for name in one.files)


# ---- the commands about scores: chases, contests, distributions, bets, judgements


EXAMPLE = Path(__file__).parent.parent / "examples" / "threes_game.csv"


def document(*arguments: str):
    return json.loads(output(*arguments, "--json"))


@pytest.mark.needs_jit
def test_the_example_game_is_judged():
    told = document("judge", "threes", str(EXAMPLE), "ties=win-or-tie")
    assert told["scores"] == {"1": 7, "2": 6}
    lost = {row["line"]: row["chance_lost"] for row in told["moves"]}
    # Player 1 took the one and left a single die; only this choice cost anything.
    assert lost[3] == pytest.approx(0.0117, abs=0.0005)
    assert [line for line, loss in lost.items() if loss > 0] == [3]
    assert all(row["points_lost"] == 0 for row in told["moves"])
    assert [row["action"] for row in told["moves"]].count("take none") == 1
    assert "player 2: score 6" in output("judge", "threes", str(EXAMPLE))


@pytest.mark.parametrize(
    ("game", "start"),
    [
        ("shut-the-box tiles=4", "open=30,dice=2"),
        ("yahtzee boxes=1", "filled=0,upper=0,bonus=0"),
        ("bear-off checkers=1", "on=(0,0,0,0,0,1)"),
    ],
)
def test_a_bet_in_a_state_before_a_throw(game, start):
    asked = document("bet", *game.split(), "--scores", "1")
    there = document("bet", *game.split(), "--scores", "1", "--state", f"{start},score=0")
    assert there["stakes"] == asked["stakes"]


def test_choices_after_throws_are_judged(tmp_path):
    """The columns are those of a table of the policy: fields of the state, throw, action."""
    rows = 'open,dice,throw,action\n30,2,7,"shut 1 2 4, then one die"\n8,1,1,stop\n'
    (tmp_path / "play.csv").write_text(rows)
    told = document("judge", "shut-the-box", str(tmp_path / "play.csv"), "tiles=4")
    thrown = ("--state", "open=30,dice=2", "--throw", "7")
    actions = document("advise", "shut-the-box", "tiles=4", *thrown)["actions"]
    costs = {row["action"]: row["cost"] for row in actions}
    assert told["scores"] == {"1": 3}
    assert [row["points_lost"] for row in told["moves"]] == pytest.approx(
        [costs["shut 1 2 4, then one die"]]
    )
    assert costs["shut 1 2 4, then one die"] > 0.5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rolled,taken\n1 2,1\n", "line 2: this doesn't follow|no play comes"),
        ("rolled,taken\n4 3 5 3 1,3 3\n", "line 2: the play isn't over yet"),
        ("rolled,taken\n4 3 5 3 1,3 3\n4 4,4\n", "line 3: this doesn't follow"),
        ("rolled,taken\n4 3 5 3 1,5\n", "line 2: 5 aren't the 1 lowest"),
        ("rolled,taken\n4 3 5 3 x,5\n", "line 2: '4 3 5 3 x' isn't a list of dice"),
        ("dice,taken\n1,1\n", "has the columns dice, taken"),
        ("@format 1\n@game threes\n", "holds games that `play` kept: see rollwise review"),
        ("rolled,taken\n", "holds no moves"),
        ("player,rolled,taken\na,1 1 1 1 1,1 1 1 1 1\nb,3,3\na,1,1\n", "player a comes up again|"),
    ],
)
def test_plays_that_can_not_be(tmp_path, text, said):
    path = tmp_path / "play.csv"
    path.write_text(text)
    assert re.search(said, refusal("judge", "threes", str(path)))


# ---- mistakes that people make first: each is answered in one line that says what to write


ASKING = {
    "solve": rollwise.solve,
    "layers": rollwise.solve_by_layers,
    "equilibrium": rollwise.equilibrium,
    "check": rollwise.check,
    "build": rollwise.build,
    "chase": rollwise.Chase,
    "duel": rollwise.Duel,
    "evaluate": lambda game: rollwise.evaluate(game, "random"),
    "simulate": lambda game: simulate(game, "random", games=2),
    "distribution": rollwise.distribution,
}


@pytest.mark.parametrize("asked", ASKING)
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("pig", r"find\('pig'\)\(\) is the game of that name"),
        (Pig, r"Pig is the class of a game.*write Pig\(\)"),
        ({}, "not a value of the type dict"),
        (None, "not a value of the type NoneType"),
    ],
)
def test_what_is_no_game(asked, given, says):
    with pytest.raises(UsageError, match=says):
        ASKING[asked](given)


ASKED_FOR_A_POLICY = {
    "evaluate": rollwise.evaluate,
    "against": lambda game, given: rollwise.evaluate(game, "random", given),
    "response": rollwise.best_response,
    "simulate": lambda game, given: simulate(game, given, games=2),
}


@pytest.mark.parametrize("asked", ASKED_FOR_A_POLICY)
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({(0, 0, 0): 0}, r"type dict; .*lambda s: actions\[s\]"),
        (np.zeros(48), r'type ndarray; .*rollwise.Policy\("mine", probability\)'),
        ([0] * 32, r"type list; .*each of the 32 states.*actions\[solution.find\(s\)\]"),
        (3, "type int; the function takes s"),
        (rollwise.solve(Pig(target=5)), "type Solution; write its .policy"),
    ],
)
def test_what_is_no_policy(asked, given, says):
    with pytest.raises(PolicyError, match=says):
        ASKED_FOR_A_POLICY[asked](Pig(target=5), given)


def test_truths_in_a_state():
    said = [
        output(
            "advise", "super-six", "sticks=7", "--json", "--state", f"lid=0,mine=3,theirs=4,{end}"
        )
        for end in ("forced=true", "forced=1")
    ]
    assert said[0] == said[1]


def test_a_game_without_any_choice_needs_no_policy():
    alone = output("evaluate", "craps", "--json")
    assert alone == output("evaluate", "craps", "--policy", "optimal", "--json")
    words = ("left-center-right", "chips=1", "--games", "20", "--seed", "1")
    assert "optimal first, optimal second: 20 games" in output("simulate", *words)
    for command in (("evaluate", "piglet"), ("evaluate", "yahtzee")):
        assert "Missing option '--policy': optimal, random, longest" in refusal(*command)


@pytest.mark.parametrize("command", ["simulate", "evaluate"])
@pytest.mark.parametrize("game", ["kuhn-poker", "mia", "simultaneous-pig"])
def test_the_policies_told_of_hidden_games_are_taken(command, game):
    told = refusal(command, game).partition("'--policy': ")[2].strip()
    names = re.split(", | or ", told)
    assert {"optimal", "random"} <= {*names}
    assert "longest" not in names
    for name in names:
        output(command, game, "--policy", name, *(("--games", "2") * (command == "simulate")))


STALLING = """
from dataclasses import dataclass
from typing import NamedTuple
from rollwise import AGAIN, PASS, WIN, Game, parameter

class At(NamedTuple):
    n: int

@dataclass(frozen=True)
class Steps(Game):
    least: int = parameter(1, at_least=0, at_most=2)
    def start(self): return At(0)
    def actions(self, s): return (self.least, 3)
    def outcomes(self, s, step):
        for n in range(1, 3):
            yield 1, (WIN if s.n + step * n > 4 else PASS), At(min(s.n + step * n, 9))
"""


def test_tune_solves_the_other_games_where_one_has_no_answer(tmp_path):
    (tmp_path / "steps.py").write_text(STALLING)
    done = run("tune", "steps.py", "--vary", "least=0..2", cwd=tmp_path)
    assert done.returncode == 1
    assert "1 game could not be solved" in done.stderr
    first, second, failed = (line.split() for line in done.stdout.splitlines()[1:4])
    assert (first[0], second[0], failed) == ("1", "2", ["0", "not", "solved"])
    assert "least=0: steps least=0: the players can go round for ever" in done.stdout
    done = run("tune", "steps.py", "--vary", "least=0..2", "--for", "min turns", "--json",
               cwd=tmp_path)  # fmt: skip
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert found["best"]["parameters"] == {"least": "1"}
    assert [one["parameters"] for one in found["unsolved"]] == [{"least": "0"}]
    said = refusal("tune", "steps.py", "--vary", "least=0", cwd=tmp_path)
    assert said.startswith("rollwise: steps least=0: the players can go round")


def test_wrong_use_names_the_help_page_of_its_command():
    for typed, page in (
        (("evaluate", "piglet", "--against"), "rollwise evaluate --help"),
        (("solve", "piglet", "--tolerance", "x"), "rollwise solve --help"),
        (("slove", "piglet"), "rollwise --help"),
        (("solve", "piglet", "--max-states", "0"), "rollwise --help"),
    ):
        assert f"({page} says more)" in refusal(*typed)
