"""A rule of thumb to take along: as Python beside the rules, and as a sheet of paper."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from cli_runner import output, refusal

import rollwise
from rollwise.analysis.thumb.frontier import find_rules
from rollwise.answer.references import Policies
from rollwise.builders import build
from rollwise.errors import UsageError
from rollwise.games.bear_off import BearOff
from rollwise.games.craps import Craps
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.super_six import SuperSix
from rollwise.games.yahtzee import Yahtzee
from rollwise.plot import plot
from rollwise.plot.kinds.regret import given_away
from rollwise.report import report as answer_report
from rollwise.report.cheat_sheet import cheat_sheet
from rollwise.thumb.language import Rule
from rollwise.thumb.sentences import python_source, sentence_of


class Offers(Pig):
    """A game whose rule sheet offers a feature."""

    def features(self, s):
        return {"lead": s.banked + s.turn - s.rivals[0]}


RULES = [
    (Pig(target=20), [{"if": "turn >= 5", "do": "hold"}, {"do": "roll"}]),
    (
        Pig(target=20),
        [
            {"if": "max(banked, rival) >= 14", "do": "roll"},
            {"if": "3*turn + banked - rival >= 17", "do": "hold"},
            {"if": "turn + banked >= target", "do": "hold"},
        ],
    ),
    (Offers(target=12), [{"if": "lead - 2*turn >= -3", "do": "hold"}, {"do": "roll"}]),
    (SuperSix(sticks=6), [{"if": "lid >= 3", "do": "stop"}, {"do": "throw"}]),
    (RoyalUr(pieces=2), [{"if": "throw <= 1", "most": ["captures", "number"]}, {"most": "number"}]),
    (BearOff(checkers=2), [{"if": "throw.0 - throw.1 >= 2", "most": "-number"}]),
    (ShutTheBox(tiles=5), [{"if": "total - throw >= 2", "most": "-number"}]),
]


@pytest.mark.parametrize(("game", "clauses"), RULES)
def test_python_does_what_the_rule_does(game, clauses):
    graph = build(game)
    rule = Rule.read({"rule": clauses}, graph, game)
    source = python_source(rule, graph, game, sentence_of(rule, graph))
    told: dict = {}
    exec(source, {"policy": rollwise.game.policy}, told)
    own = type("Own", (type(game),), told)
    of_python = Policies(graph, own(**game.parameters)).find("rule-of-thumb")
    assert np.array_equal(of_python.probability, rule.policy(graph, game).probability)


@pytest.mark.parametrize(
    ("game", "clauses", "says"),
    [
        (rollwise.Duel(ShutTheBox(tiles=4)), [{"most": "number"}], "no rule sheet of its own"),
        (Yahtzee(boxes=1), [{"if": "filled >= 1", "most": "number"}], "says which dice are kept"),
        (RoyalUr(pieces=2), [{"most": "again"}], "'again', which its rule sheet doesn't say"),
    ],
)
def test_what_python_cannot_say(game, clauses, says):
    graph = build(game)
    rule = Rule.read({"rule": clauses}, graph, game)
    with pytest.raises(UsageError, match=says):
        python_source(rule, graph, game, "")


def test_the_command_prints_python_alone():
    said = output("thumb", "pig", "target=15", "--evaluations", "40", "--python")
    assert said.startswith("@policy\ndef rule_of_thumb(self, s):\n")
    compile(said, "rule", "exec")
    assert "ask for one" in refusal("thumb", "pig", "target=15", "--python", "--json")


def test_a_sheet_says_the_rule_its_cost_and_where_it_errs(tmp_path):
    policies = Policies.of(Pig(target=25))
    found = find_rules(policies, 2, evaluations=150)
    page = cheat_sheet(policies, found).html
    rule = found.rules[-1]
    for part in rule.text.rstrip(".").split(". "):
        assert f"<p>{part}.</p>" in page
    assert f"loses {100 * rule.loss:z.4f} percentage points on average" in page
    assert page.count("<tr>") == 1 + len(found.rules)
    assert "Where it errs" in page
    assert not re.search(r"(src|href)=.(?!#|data:)", page.partition("<body>")[2])
    said = output(
        *("thumb", "pig", "target=25", "--numbers", "2", "--evaluations", "150"),
        *("--out", str(tmp_path / "sheet.html")),
    )
    assert "Written to" in said
    assert (tmp_path / "sheet.html").read_text() == page


@pytest.mark.slow
def test_a_printed_sheet_has_one_side(tmp_path):
    """A map of six panels, and a table of some lines, are made as small as one side asks for."""
    sheet = tmp_path / "sheet.pdf"
    output("thumb", "pig", "target=40", "--evaluations", "60", "--out", str(sheet))
    assert set(re.findall(rb"/Count (\d+)", sheet.read_bytes())) == {b"1"}


def test_sheets_of_games_with_one_position_or_points(tmp_path):
    for game in ("craps", "threes dice=2", "hog target=6 dice=2", "shut-the-box tiles=4"):
        if game == "craps":
            assert "no choices" in refusal("thumb", game, "--out", str(tmp_path / "a.html"))
            continue
        sheet = tmp_path / "sheet.html"
        output("thumb", *game.split(), "--evaluations", "30", "--out", str(sheet))
        assert "Against perfect play" in sheet.read_text()


def test_a_sheet_has_a_name_that_says_what_it_is(tmp_path):
    said = refusal("thumb", "pig", "target=15", "--out", str(tmp_path / "sheet.doc"))
    assert "must end in .html or .pdf" in said


def test_a_picture_of_what_a_policy_gives_away(tmp_path):
    solution = rollwise.solve(Pig(target=15))
    policy = Policies.of(solution).find("hold-at-20")
    costs = given_away(solution, policy)
    chosen = policy.probability == 1
    assert np.array_equal(costs[solution.graph.action_state[chosen]], solution.regret[chosen])
    figure = plot(solution, "regret", policy="hold-at-20")
    assert "what hold-at-20 gives away" in figure.to_json()
    rule = tmp_path / "rule.json"
    rule.write_text(json.dumps({"rule": [{"if": "turn >= 3", "do": "hold"}, {"do": "roll"}]}))
    out = tmp_path / "given.html"
    output("plot", "pig", "target=15", "regret", "--policy", str(rule), "--out", str(out))
    assert "rule.json gives away" in out.read_text()


def test_a_report_has_a_cheat_sheet_where_one_is_asked_for(tmp_path):
    solution = rollwise.solve(SuperSix(sticks=8))
    plain, with_rules = solution.report().html, solution.report(rules=30).html
    assert "A rule to remember" not in plain
    found = find_rules(solution, evaluations=30)
    for part in ("A rule to remember", "What it costs", "Where it errs", "--rules 30"):
        assert part in with_rules
    assert found.rules[-1].text.split(".")[0] in with_rules
    out = tmp_path / "report.html"
    output("report", "super-six", "sticks=8", "--rules", "30", "--out", str(out))
    took = re.compile(r"it took [\d.]+ seconds")
    assert took.sub("", out.read_text()) == took.sub("", with_rules)


def test_a_report_of_a_game_without_choices_has_no_cheat_sheet():
    assert "A rule to remember" not in rollwise.solve(Craps()).report(rules=5).html


def test_rules_of_thumb_need_the_whole_game():
    answer = rollwise.solve_by_layers(SuperSix(sticks=6))
    with pytest.raises(UsageError, match="too large for rules of thumb"):
        answer_report(answer, rules=5)
    assert "--rules" in refusal("report", "craps", "--rules", "-1")
