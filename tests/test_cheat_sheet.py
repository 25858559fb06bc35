"""A rule of thumb to take along: as Python beside the rules, and as a sheet of paper."""

from __future__ import annotations

import re

import numpy as np
import pytest
from cli_runner import output

import rollwise
from rollwise.analysis.thumb.frontier import find_rules
from rollwise.answer.references import Policies
from rollwise.builders import build
from rollwise.games.bear_off import BearOff
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.super_six import SuperSix
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


def test_a_sheet_says_the_rule_its_cost_and_where_it_errs(tmp_path):
    policies = Policies.of(Pig(target=25))
    found = find_rules(policies, 2, evaluations=150)
    page = cheat_sheet(policies, found).html
    rule = found.rules[-1]
    for part in rule.text.rstrip(".").split(". "):
        assert f"<p>{part}.</p>" in page
    assert f"<td>{100 * rule.loss:z.4f}</td>" in page
    assert page.count("<tr>") == 1 + len(found.rules)
    assert "Where it errs" in page
    assert not re.search(r"(src|href)=.(?!#|data:)", page.partition("<body>")[2])
    said = output(
        *("thumb", "pig", "target=25", "--numbers", "2", "--evaluations", "150"),
        *("--out", str(tmp_path / "sheet.html")),
    )
    assert "Written to" in said
    assert (tmp_path / "sheet.html").read_text() == page
