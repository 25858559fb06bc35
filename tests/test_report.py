"""The report: whole, true to the solution, and complete in itself."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import run
from little_games import Fortune, Gambler
from stakes import Gammons

import rollwise
from rollwise.analysis.lengths import Lengths
from rollwise.answer.evaluation import evaluate
from rollwise.answer.references import Policies
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.games import find
from rollwise.games.craps import Craps
from rollwise.games.farkle import FarkleTurn
from rollwise.games.left_center_right import LeftCenterRight
from rollwise.games.pig import Pig, Piglet
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.numbers.printed import chance
from rollwise.page.document import paragraphs
from rollwise.plot import KINDS
from rollwise.plot.pages import page
from rollwise.report import report, sections
from rollwise.report.facts import Facts, encode
from rollwise.then import AGAIN, LOSE, PASS, WIN, payoff

pytestmark = pytest.mark.slow

pytest.importorskip("plotly")


class Chips(NamedTuple):
    chips: int


@dataclass(frozen=True)
class Bets(Game):
    """Bet some chips on a coin until all or none are yours."""

    chips: int = 60
    players: ClassVar = 1

    def start(self):
        return Chips(self.chips // 2)

    def roots(self):
        yield from map(Chips, range(1, self.chips))

    def actions(self, s):
        yield from range(1, min(s.chips, self.chips - s.chips) + 1)

    def outcomes(self, s, bet):
        yield 9, WIN if s.chips + bet == self.chips else AGAIN, Chips(s.chips + bet)
        yield 11, LOSE if s.chips == bet else AGAIN, Chips(s.chips - bet)


def test_the_numbers_are_the_solutions():
    solution = rollwise.solve(SuperSix(sticks=7))
    text = report(solution)
    assert f"<b>{100 * solution.win_probability:.2f} %</b>" in text
    wins = chance(solution.value, solution.error_bound)
    assert f"wins {wins.number} ({wins.sure})" in text
    policy = Policies(solution.graph, SuperSix(sticks=7)).find("throw-until-4")
    found = evaluate(solution.graph, policy, solution.policy)
    assert f"<td>{50 * (1 + found.values[0]):.2f} %</td>" in text
    assert "Throw until four sticks stand in the lid." in text
    assert "Throw to put a stick in the hole of that number" in text


@dataclass(frozen=True)
class Choosy(Game):
    """Two actions, and in the last position both are as good."""

    def start(self):
        return Chips(2)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        yield 1 + action * (s.chips > 1), WIN, s
        yield 1, PASS if s.chips > 1 else LOSE, Chips(1)


@dataclass(frozen=True)
class Waiting(Game):
    """Wait for ever, or lose two times in three."""

    players: ClassVar = 1
    endless: ClassVar = "draw"

    def start(self):
        return Chips(1)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        yield 1, WIN if action else AGAIN, s
        yield 2 * action, LOSE, s


def test_a_report_says_that_figures_depend_on_equally_good_moves():
    assert "Of equally good moves the perfect player takes the first" in report(
        rollwise.solve(Choosy())
    )
    assert not Facts.of(rollwise.solve(Pig(target=6))).of_ties


def test_best_play_without_an_end_is_no_simulation():
    assert "no game comes to its end" in report(rollwise.solve(Waiting()))


def unfolded(document):
    """Every position of an encoded table, and what is best there."""
    ranged = document["ranged"]
    for row, action in enumerate(document["action"]):
        fields = [column[row] for column in document["columns"]]
        name = document["actions"][action]
        if ranged < 0:
            yield tuple(fields), name
            continue
        for place in range(fields[ranged], document["upto"][row] + 1):
            yield (*fields[:ranged], place, *fields[ranged + 1 :]), name


@pytest.mark.parametrize("game", [Pig(target=30), SuperSix(sticks=20), Threes(dice=3)])
def test_the_table_holds_every_position_once(game, monkeypatch):
    monkeypatch.setattr("rollwise.report.facts.MOST_SINGLE", 500)
    solution = rollwise.solve(game)
    text, rows, left = encode(Facts(solution))
    document = json.loads(text)
    assert left == 0
    assert rows == len(document["action"])
    graph = solution.graph
    choice = np.flatnonzero(np.diff(graph.action_indptr) > 1)
    if len(choice) > 500:
        assert rows < len(choice)
    columns = [graph.field_names.index(name) for name in document["fields"]]
    expected = {
        tuple(graph.states[s, columns].tolist()): " or ".join(
            a.name for a in graph.view[s].actions if solution.is_best[a]
        )
        for s in choice
    }
    found = list(unfolded(document))
    assert len(found) == len(expected)
    assert dict(found) == expected


def test_a_set_is_a_text_in_report_and_table(tmp_path, monkeypatch):
    """The tiles of the box stand in the place of their number, and are typed so."""
    monkeypatch.chdir(tmp_path)
    solution = rollwise.solve(ShutTheBox(tiles=6))
    document = json.loads(encode(Facts(solution))[0])
    place = document["fields"].index("open")
    assert document["texts"][place]["126"] == "{1 2 3 4 5 6}"
    page = report(solution)
    assert "open: 1 2 3 4 5 6; 2 dice" in page
    printed = run("table", "shut-the-box", "tiles=6", "--limit", "1000").stdout
    assert "1 2 3 4 5 6" in printed
    assert " 126 " not in printed
    typed = ["advise", "shut-the-box", "tiles=6", "--throw", "6", "--state"]
    by_members = run(*typed, "open={1 2 3 4 5 6},dice=2").stdout
    assert by_members == run(*typed, "open=126,dice=2").stdout
    assert "shut" in by_members


def test_a_throw_of_several_dice_is_one_column_and_wide_values_are_left_out():
    document = json.loads(encode(Facts(rollwise.solve(FarkleTurn(most=400))))[0])
    throw = document["fields"].index("throw")
    assert "1 1 2 2 3 4" in document["texts"][throw].values()
    assert not [name for name in document["fields"] if name.startswith("throw.")]
    document = json.loads(encode(Facts(rollwise.solve(Pig(target=60))))[0])
    assert None in document["from"]
    pairs = zip(document["from"], document["to"], strict=True)
    assert max(abs(high - low) for low, high in pairs if low is not None) <= 10


def test_a_position_with_many_actions_tells_a_few_under_the_pointer():
    """The text of all 126 bets at each of 48,000 positions is 36 MB; two of them and a count do."""
    solution = rollwise.solve(Bets(chips=60))
    figure = solution.plot("policy")
    texts = [text for trace in figure.data for text in trace.hovertext]
    assert "12 best of 30 actions" in " ".join(texts)
    (points,) = figure.data
    best = {
        (solution.graph.rows[a.state.index, 0], a.label)
        for s in solution.graph.view
        for a in s.actions
        if solution.is_best[a] and len(s.actions) > 1
    }
    assert set(zip(points.x, points.y, strict=True)) == best
    assert "Positions to know" in report(solution, rules=5)


def test_a_report_counts_players_moves_and_points():
    """One of each has no plural."""
    craps = report(rollwise.solve(Craps()))
    assert "The player never has a choice." in craps
    assert "The only move is <b>roll</b>." in craps
    assert "<p>A game takes 3.4 rolls on average" in craps
    piglet = report(rollwise.solve(Piglet(target=3)))
    assert "at most 1 percentage point<" in piglet
    assert "at most 10 percentage points<" in piglet
    thieves = find(str(Path(__file__).parent.parent / "examples" / "thieves.py"))()
    assert "(1 group of positions, the largest of 100)" in report(rollwise.solve(thieves))


def words_of(page):
    """The text of a page, without its tags."""
    body = re.sub(r"<(script|style|svg).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(re.sub("<[^>]*>", " ", body).split())


def test_a_report_for_payoffs_says_what_they_are():
    """They come at the end, are known there, and every length is told once."""
    told = words_of(report(rollwise.solve(Fortune())))
    assert "It is a game for one player, with a payoff at the end." in told
    assert "it is an average of known payoffs, and" in told
    assert told.count("With the best play every game takes") == 1
    assert "a game for two players, with turns and payoffs." in words_of(
        report(rollwise.solve(Gammons()))
    )


class Debt(Fortune):
    """All that can be had is a loss."""

    def outcomes(self, s, action):
        yield 1, payoff(-2 - action), s


def test_reports_and_pictures_have_one_minus():
    """Numbers below 0 have the sign of the axes, in words, tables and figures."""
    told = words_of(report(rollwise.solve(Debt())))
    assert "−2.0000 points" in told
    assert not re.search(r"[ (]-[0-9]", told)
    shown = rollwise.solve(Gammons()).plot("value").to_json()
    assert "\\u2212" in shown
    assert not re.search(r'"text":"[^"]*[ >(]-[0-9]', shown)


def test_moves_without_a_name_are_counted():
    told = words_of(report(rollwise.solve(Gambler())))
    assert "as the mover sees it. Each has one move." in told
    assert "it is an average of known chances, and" in told


def test_a_report_of_three_players_without_a_choice_has_no_best_play():
    dice_only = report(rollwise.solve(LeftCenterRight(chips=1, players=3)))
    assert "No player ever has a choice. A shared win" in dice_only
    assert "equilibrium</b>" not in dice_only
    assert "Where moves are mixed" not in dice_only


def test_a_report_begins_with_what_people_need():
    """The order of its parts, the table of limits, and three different boards."""
    solution = rollwise.solve(SuperSix(sticks=10))
    page = report(solution, rules=40)
    heads = re.findall(r"<(section|details) id=.part\d+.>(?:<summary>)?<h2>([^<]*)</h2>", page)
    assert [title for _, title in heads[:5]] == [
        "Who has the edge",
        "A rule to remember",
        "Best moves in a picture",
        "Positions to know",
        "What can happen",
    ]
    assert [tag for tag, _ in heads] == ["section"] * 5 + ["details"] * (len(heads) - 5)
    assert "Stop from this lid on; rows: mine, columns: theirs." in page
    first = page.partition("<tr><th scope='row'>1</th>")[2].partition("</tr>")[0]
    assert re.findall("<td>([^<]*)</td>", first) == ["5", *["4"] * 4, *["never"] * 4]
    boards = page.partition("<div class='boards'>")[2].partition("</div>")[0]
    assert len(set(re.findall('aria-label="([^"]*)"', boards))) == 3
    assert "a mistake costs" in boards


# ---- figures that stand on their own: alternative texts, legends with units, empty cells explained


pytest.importorskip("plotly")

OF_THREE = Pig(target=16, sides=3, players=3)
GAMES = (Pig(target=15), SuperSix(sticks=7), Threes(dice=2), Piglet(target=3))


@cache
def solved(game: Game) -> rollwise.Solution:
    return rollwise.solve(game)


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_says_in_words_what_it_shows(kind):
    drawn = 0
    for game in (*GAMES, OF_THREE):
        try:
            rough = {"methods": ("value-iteration:epsilon=0.01",)}
            own = {"learning": {"games": 200}, "error": rough, "residual": rough}
            choices = own.get(kind, {})
            figure = solved(game).plot(kind, **choices)
        except UsageError:
            continue  # it makes no sense for this game
        drawn += 1
        meta = figure.layout.meta
        alt = meta["alt"]
        assert alt.startswith(f"{meta['title']}. ")
        assert len(alt) > len(meta["title"]) + 40
        assert not re.search(r"<\w|&\w+;|\bnan\b|  ", alt)
        shown = figure.layout.annotations[0].text.replace("<br>", " ")
        notes = re.sub("<[^>]*>", "", shown.partition("</b>")[2]).split(". ")
        assert all(note.split("<sup>")[0].strip(" .")[:30] in alt for note in notes)
        assert f'role="figure" aria-label="{html.escape(alt)}"' in page(figure, "x")
        assert json.loads(figure.to_json())["layout"]["meta"]["alt"] == alt
    assert drawn >= 1


def test_a_game_without_a_docstring_has_no_rules_in_words(tmp_path):
    """The docstring of `Game` is for authors; a dataclass without one gets its signature."""
    sheet = Path(__file__).parents[1] / "examples" / "thieves.py"
    assert run("report", str(sheet), "--out", "report.html", cwd=tmp_path).returncode == 0
    assert "turn-based dice game" not in (tmp_path / "report.html").read_text(encoding="utf-8")
    told = paragraphs(find(str(sheet))(), paid=False)
    assert told == ["Thieves is for two players, and each wants to win."]
    average = type("Mill", (Game,), {"players": 1, "objective": "average"})()
    assert paragraphs(average) == [
        "Mill is for one player, who wants the most points on average in the long run."
    ]
    assert dataclass(frozen=True)(type("Alone", (Game,), {}))().description == ""
    assert dataclass(frozen=True)(type("More", (Pig,), {}))().description == Pig().description


def test_a_form_of_a_form_has_no_command_in_its_report():
    solution = rollwise.solve(Threes(dice=2).contest().within(2))
    assert "rollwise report" not in report(solution)
    assert "rollwise report threes dice=2" in report(rollwise.solve(Threes(dice=2).contest()))


@pytest.mark.parametrize(
    ("game", "has_draws"), [(Pig(target=6), False), (rollwise.Duel(Threes(dice=2)), True)], ids=str
)
def test_draws_are_told_where_there_are_some(game, has_draws):
    text = re.sub(r"<[^>]+>", " ", rollwise.solve(game).report().html)
    assert ("A draw counts as half a win" in text) == has_draws


@pytest.mark.parametrize(
    ("chance", "tail", "told"),
    [
        ([0, 0.286, 0.714], 0.0, "none takes more than 2"),
        ([0, 0.5, 0.492, 0.008], 0.0, "at most one game in a hundred takes more than 2"),
        ([0, 0.5, 0.4], 0.1, "more than one game in a hundred takes over 2"),
    ],
)
def test_how_long_the_longest_games_are_is_true_of_short_ones(chance, tail, told):
    parts = [np.array(chance)] * 4
    found = Lengths(parts[0], tail, "turns", *parts[1:], np.zeros(1), np.zeros(1))
    assert sections._rarely(found) == told
