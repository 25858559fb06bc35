"""Games with hidden dice and with simultaneous choices: saved answers, commands and pages."""

from __future__ import annotations

import inspect
import io
import json
import re
from fractions import Fraction
from pathlib import Path
from unittest import mock

import polars as pl
import pytest
from cli_runner import output, play, refusal, run
from little_games import Riddle

import rollwise
from rollwise.cli.progress import Progress
from rollwise.errors import (
    RefusedFile,
    SolutionFileError,
    UsageError,
)
from rollwise.games import available
from rollwise.games.hidden_wheel import HiddenWheel
from rollwise.games.kuhn_poker import KuhnPoker
from rollwise.games.leduc_poker import LeducPoker
from rollwise.games.liars_dice import LiarsDice
from rollwise.games.simultaneous import SimultaneousPig
from rollwise.hidden import answer as answers
from rollwise.hidden import load, save, solve, verify
from rollwise.hidden.check import bounds
from rollwise.hidden.learning import learn
from rollwise.hidden.reading import read
from rollwise.hidden.regret import minimize_regret_openly, open_game
from rollwise.hidden.whole import together
from rollwise.page.hidden import data_of as page_data

GAMES = available(hidden=True)
FILES = [KuhnPoker(), KuhnPoker(cards=5), LeducPoker(), SimultaneousPig(target=4)]


@pytest.mark.parametrize("game", FILES, ids=str)
def test_a_saved_answer_is_proved_anew(game, tmp_path):
    place, answer = tmp_path / "answer.parquet", solve(game)
    save(answer, str(place))
    found = load(str(place), game)
    assert (found.low, found.high) == (answer.low, answer.high)
    pairs = zip(found.situations(), answer.situations(), strict=True)
    assert all(str(one) == str(other) for one, other in pairs)
    checked = verify(str(place))
    assert checked.verified
    assert checked.answer.error_bound == answer.error_bound


@pytest.mark.parametrize("game", FILES, ids=str)
def test_files_of_a_dishonest_writer_are_refused(game, tmp_path):
    """Other strategies prove less, and narrower bounds aren't proved."""
    place, answer = tmp_path / "answer.parquet", solve(game)
    save(answer, place)
    frame = pl.read_parquet(place)
    facts = json.loads(pl.read_parquet_metadata(place)["rollwise"])

    def rewrite(frame, **changes):
        frame.write_parquet(place, metadata={"rollwise": json.dumps(facts | changes)})
        return verify(place).fault

    assert rewrite(frame) == ""
    parts = [name for name in ("position", "player", "sees", "before") if name in frame.columns]
    other = frame.with_columns(
        pl.when(pl.col("action").is_null())
        .then(1.0)
        .otherwise(1 / pl.len().over(parts))
        .alias("probability")
    )
    if answer.is_exact:
        texts = [str(Fraction(p).limit_denominator(9)) for p in other["probability"]]
        other = other.with_columns(pl.Series("fraction", texts))
    assert "prove" in rewrite(other)
    if "position" in frame.columns:
        assert "don't prove" in rewrite(frame.with_columns(high=pl.col("low")))
        assert "sum 1" in rewrite(frame.with_columns(probability=pl.col("probability") * 1.001))
    middle = str(answer.low + 1) if answer.is_exact else str(answer.value)
    assert "isn't between" in rewrite(frame, low=middle, high=middle)
    for damaged, changes, says in (
        (frame, {"graph_hash": "0"}, "other rules"),
        (frame.head(3), {}, "damaged"),
        (frame.drop("probability", "fraction", strict=False), {}, "damaged"),
        (frame, {"low": "1/1e999999999"}, "damaged"),
        (frame, {"found_by": "\x1b[2J"}, "has no found_by"),
        (frame, {"low": "much"}, "damaged"),
        (frame, {"high": 1}, "has no high"),
    ):
        with pytest.raises(RefusedFile if "has no" in says else SolutionFileError, match=says):
            rewrite(damaged, **changes)


class Rounded(KuhnPoker):
    """Payoffs with a decimal point."""

    def outcomes(self, s, action):
        for weight, then, after in super().outcomes(s, action):
            yield weight, then, after

    def reward(self, s, action):
        return 0.1


def test_fractions_of_rounded_rules_are_refused(tmp_path):
    """Rounding isn't counted in fractions, so such a file would prove too much."""
    place, answer = tmp_path / "answer.parquet", solve(Rounded())
    assert not answer.is_exact
    save(answer, place)
    frame = pl.read_parquet(place)
    facts = json.loads(pl.read_parquet_metadata(place)["rollwise"])
    texts = [str(Fraction(share)) for share in frame["probability"]]
    changed = json.dumps(facts | {"low": "-9", "high": "9"})
    frame.with_columns(pl.Series("fraction", texts)).write_parquet(
        place, metadata={"rollwise": changed}
    )
    with pytest.raises(RefusedFile, match="decimal point"):
        verify(place, Rounded())


def test_commands_read_a_saved_answer(tmp_path):
    place = str(tmp_path / "kuhn.parquet")
    output("solve", "kuhn-poker", "--save", place)
    assert "in fractions that the value is -1/18" in output("verify", place, "--exact")
    for name, *more in (
        ("table",),
        ("advise", "--state", "mine=1"),
        ("advise",),
        ("simulate", "--policy", "optimal", "--seed", "1"),
    ):
        shown = output(name, "kuhn-poker", *more)
        assert output(name, "kuhn-poker", *more, "--load", place) == shown
    assert "saved for kuhn-poker cards=3" in refusal("table", "leduc-poker", "--load", place)
    with pytest.raises(UsageError, match=r"rollwise\.hidden\.solve"):
        rollwise.solve(KuhnPoker())
    with pytest.raises(SolutionFileError, match=r"rollwise\.hidden\.load"):
        rollwise.load(place)
    output("solve", "leduc-poker", "--save", place)
    assert "no fractions" in refusal("verify", place, "--exact")


def test_a_history_for_all_games_is_no_option_of_these(tmp_path, monkeypatch):
    monkeypatch.setenv("ROLLWISE_HISTORY", str(tmp_path / "all.sqlite"))
    assert play(tmp_path, "kuhn-poker", "--seed", "1", typed="q").returncode == 0
    refused = play(tmp_path, "kuhn-poker", "--history", "one.sqlite", typed="q")
    assert "--history isn't for games with hidden dice" in refused.stderr


def test_learned_strategies_get_better_and_are_proved(tmp_path):
    answer, curve = learn(LeducPoker(), 4_000, 1, points=5)
    assert [point.games for point in curve] == [250, 500, 1000, 2000, 4000]
    assert curve[-1].exploitability < 0.4 * curve[0].exploitability
    ((part, _),) = answer.parts
    low, high = bounds(part.tree, part.found)
    assert (low, high) == (curve[-1].low, curve[-1].high)
    assert low < solve(LeducPoker()).value < high
    assert learn(LeducPoker(), 4_000, 1, points=1)[1] == curve[-1:]
    assert learn(KuhnPoker(), 30_000, 2)[1][-1].exploitability < 0.03
    place = str(tmp_path / "kuhn.parquet")
    shown = output("learn", "kuhn-poker", "--games", "100", "--seed", "3", "--save", place)
    assert "100 games learned by external sampling (seed 3)" in shown
    assert "verified" in output("verify", place)
    assert "optimal too" not in output("table", "kuhn-poker", "--load", place)
    assert "no hidden fields" in refusal("learn", "simultaneous-pig", "--games", "5")
    large = refusal("learn", "liars-dice", "--games", "5", "--max-states", "5000")
    assert "more than 5,000 histories" in large
    heading, page = re.search(r"see '(.*)' in (docs/.*md)", large).groups()
    assert f"## {heading}\n" in (Path(__file__).parent.parent / page).read_text()


def test_check_tries_the_policies_of_the_rules(tmp_path):
    (tmp_path / "own.py").write_text(
        "from rollwise import policy\n"
        "from rollwise.games.kuhn_poker import KuhnPoker\n"
        "class Own(KuhnPoker):\n"
        "    @policy\n"
        "    def calm(self, s):\n"
        "        return next(iter(self.actions(s)))\n"
        "    @policy\n"
        "    def odd(self, s):\n"
        "        return 7\n"
    )
    found = run("check", "own.py", "--json", cwd=tmp_path)
    assert found.returncode == 1
    levels = {row["text"]: row["level"] for row in json.loads(found.stdout)["findings"]}
    assert levels["calm has an action for every state"] == "ok"
    assert any("the policy odd takes action 7" in text for text in levels)


def test_answers_are_kept_between_runs(tmp_path, monkeypatch):
    monkeypatch.delenv("ROLLWISE_NO_CACHE")
    monkeypatch.setenv("ROLLWISE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("rollwise.hidden.files.WORTH_KEEPING", 0.0)
    shown = output("solve", "kuhn-poker").splitlines()
    again = output("solve", "kuhn-poker").splitlines()
    assert again[:-1] == shown[:-1]
    assert "kept from 20" in again[-1]
    (file,) = (tmp_path / "answers").glob("kuhn-poker-*.parquet")
    assert output("table", "kuhn-poker", "cards=4") != output("table", "kuhn-poker")
    file.write_bytes(b"damaged")
    assert output("solve", "kuhn-poker").splitlines()[:-1] == shown[:-1]
    assert "kept from" in output("solve", "kuhn-poker")
    assert "kept from" not in output("solve", "kuhn-poker", "--no-cache")
    with monkeypatch.context() as patched:  # as on a disk that is read-only
        patched.setattr("os.utime", mock.Mock(side_effect=PermissionError))
        assert "kept from" in output("solve", "kuhn-poker")
    file.unlink()
    file.mkdir()
    assert output("solve", "kuhn-poker").splitlines()[:-1] == shown[:-1]


def test_answers_without_a_list_of_histories_are_not_saved(tmp_path):
    positions = read(LiarsDice(sides=3))
    game = open_game(positions)
    average = minimize_regret_openly(game, 0.1, 10, 10.0, None)
    large = answers.OpenAnswer(
        positions, average.low, average.high, "regret minimization", {}, open=game, found=average
    )
    with pytest.raises(UsageError, match="too large to save"):
        save(together(positions, [(large, large)], {}), tmp_path / "large.parquet")


def test_a_played_game(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("nonsense\nhelp\nhint\nB\n1\n1\n"))
    told = output("play", "kuhn-poker", "--seed", "3", "--coach", "always")
    assert "'nonsense' can't be done here; the choices are check, bet" in told
    assert told.startswith("kuhn-poker cards=3  (seed 3)\n")
    assert KuhnPoker().description.splitlines()[0] in told
    assert "'B'" not in told  # the beginning of a name
    assert re.search(r"you (win|lose): payoff [+-]\d", told)
    assert "the choices were you: bet; optimal: " in told
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    assert "the game is left unfinished" in output("play", "kuhn-poker", "--seed", "3")


def test_the_example_of_a_situation_can_be_typed():
    told = refusal("advise", "liars-dice", "sides=2", "--state", "mine=x")
    state = told.rpartition(" as in ")[2].strip()
    assert state == "mine=(1,), bid=0"
    assert state in output("advise", "liars-dice", "sides=2", "--state", state)


def test_actions_that_are_numbers_have_no_places_in_the_menu(monkeypatch):
    """A card is shown once and typed as its number, whatever cards are left."""
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n1\n2\nq\n"))
    told = output("play", "dice-goofspiel", "cards=3", "--seed", "1")
    assert "1, 2, 3 (hint" in told
    assert "2, 3 (hint" in told
    assert "'1' can't be done here; the choices are 2, 3" in told
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    assert "1 check, 2 bet (hint" in output("play", "kuhn-poker", "--seed", "3")


@pytest.mark.parametrize("asked", ["check", "page --out k.html", "export --to efg --out k.efg"])
def test_reading_the_rules_is_shown_at_a_terminal(asked, tmp_path, monkeypatch):
    """The answer goes to a file, and the progress to the terminal of stderr."""
    stages = []
    monkeypatch.setattr(Progress, "__call__", lambda _, stage, *counts: stages.append(stage))
    command, *options = asked.split()
    output(command, "kuhn-poker", *options, cwd=tmp_path)
    assert "reading the rules" in stages


def test_a_report_holds_both_strategies(tmp_path):
    place = tmp_path / "r.html"
    output("report", "kuhn-poker", "--out", str(place))
    assert place.read_text().count("</tr>") == 13


@pytest.mark.parametrize("name", list(GAMES))
def test_the_data_of_a_page_show_no_hidden_field(name):
    """Positions that look alike to their mover have one board; each policy takes legal actions."""
    answer = solve(GAMES[name]())
    data = page_data(answer, [])
    by_sight = {}
    for place, position in enumerate(data["positions"]):
        if position["kind"] == 1:
            by_sight.setdefault(position["sight"], set()).add(position["board"])
        for policy in data["policies"]:
            picks = policy["picks"][place] if policy["picks"] else []
            menus = [menu for menu in position["menus"] if menu]
            assert all(k < len(menu) for k, menu in zip(picks, menus, strict=False))
    assert all(len(boards) == 1 for boards in by_sight.values())
    assert [policy["name"] for policy in data["policies"]][-1] == "random"
    assert all(policy["lost"] >= -1e-9 for policy in data["policies"])


def test_a_page_names_policies_that_fail_in_some_position(tmp_path):
    (tmp_path / "own.py").write_text(
        "from rollwise.games.kuhn_poker import KuhnPoker\n"
        "from rollwise import policy\n"
        "class Own(KuhnPoker):\n"
        "    @policy\n"
        "    def absent(self, s):\n"
        "        return 9\n"
    )
    done = run("page", "own.py", "--out", "own.html", cwd=tmp_path)
    assert done.returncode == 0
    assert "the page leaves out the policy absent: " in done.stderr


class Odd(KuhnPoker):
    """A policy fails."""

    @rollwise.policy
    def odd(self, s):
        return 9


def test_a_count_that_is_hidden_is_a_question_mark():
    """The score of the first player is hidden until both have moved."""
    data = page_data(solve(HiddenWheel(steps=4)), [])
    second = [one for one in data["positions"] if data["boards"][one["board"]][1][1][1] == "?"]
    assert second
    for one in second:
        (_, own), (_, other) = data["boards"][one["whole"]]
        assert (own[1], other[1]) == ("", "")
        assert data["boards"][one["board"]][0][1] == own


def test_the_data_of_a_page_name_policies_that_fail():
    with pytest.warns(UserWarning, match="leaves out the policy odd: .* takes action 9"):
        data = page_data(solve(Odd()), [])
    assert data["failed"] == ["odd"]
    assert [one["name"] for one in data["policies"]] == ["random"]


def test_a_page_that_would_be_too_large_is_refused_before_the_game_is_solved(monkeypatch):
    monkeypatch.setattr("rollwise.cli.hidden_games.find_answer", None)
    for most, why in ((400, "it has more than 400 positions"), (600, "it has 3,241 choices")):
        monkeypatch.setattr("rollwise.page.hidden.MOST", most)
        told = refusal("page", "liars-dice", "--out", "page.html")
        assert f"at most {most} positions, choices and situations: {why}; take fewer dice" in told


def test_a_board_without_cells_shows_the_fields():
    data = page_data(solve(Riddle()), [])
    texts = {cell[1] for rows in data["boards"] for row in rows for cell in row}
    assert "?" in texts


@pytest.mark.slow
def test_the_page_plays_whole_games(tmp_path, browser):
    for name in ("kuhn-poker", "rock-paper-scissors-dice", "mia"):
        place = tmp_path / f"{name}.html"
        output("page", name, "--out", str(place))
        browser.visit(place)
        for seat in "01":
            browser.js(f"document.querySelector('.setup select').value = '{seat}'")
            browser.click(".start")
            assert browser.js(
                "document.querySelectorAll('#table .tile, #table .bar, #table .pile').length > 1"
            )
            browser.press("h")
            assert browser.js("document.querySelectorAll('#coach tbody tr').length") >= 2
            for _ in range(20):
                if not browser.js(ended := "!!document.querySelector('#table .result')"):
                    browser.press("1")
            assert browser.js(ended)
            assert browser.js("document.querySelectorAll('#moves tbody tr').length") >= 1
            assert browser.shut_out() == []
            browser.press("n")
    assert (browser.errors, browser.asked) == ([], [])


def test_fields_with_names_of_columns_of_the_table(tmp_path):
    rules = Path(inspect.getfile(KuhnPoker)).read_text().replace("KuhnPoker", "Clashing")
    sheet = tmp_path / "clashing.py"
    sheet.write_text(rules.replace("mine", "player").replace("passed", "reach"))
    rows = output("table", str(sheet), "--csv", "--where", "player_ == 'first'").splitlines()
    assert rows[0].startswith("player_,player,reach,bet,before,reach_,plays check,")
    assert rows[1].startswith("first,1,0,0,")
