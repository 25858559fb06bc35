"""The report: whole, true to the solution, and complete in itself."""

from __future__ import annotations

import json

import numpy as np
import pytest
from cli_runner import run

import rollwise
from rollwise.analysis.thumb.score import Setting
from rollwise.answer.evaluation import evaluate
from rollwise.answer.references import Policies
from rollwise.games.ludo import Ludo
from rollwise.games.pig import Pig
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.numbers.printed import chance
from rollwise.report import report
from rollwise.report.facts import Facts
from rollwise.report.tables import encode

pytestmark = pytest.mark.slow

pytest.importorskip("plotly")


def test_the_numbers_are_the_solutions():
    solution = rollwise.solve(SuperSix(sticks=7))
    text = report(solution)
    assert f"<b>{100 * solution.win_probability:.2f} %</b>" in text
    assert f"<b>{chance(solution.value, solution.error_bound)}</b>" in text
    policy = Policies(solution.graph, SuperSix(sticks=7)).find("throw-until-4")
    found = evaluate(solution.graph, policy, solution.policy)
    assert f"<td>{50 * (1 + found.values[0]):.2f} %</td>" in text
    assert "Throw until four sticks stand in the lid." in text
    assert "Throw to put a stick in the hole of that number" in text


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
    monkeypatch.setattr("rollwise.report.tables.MOST_SINGLE", 500)
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
    assert document["texts"][place]["126"] == "1 2 3 4 5 6"
    page = report(solution)
    assert "open: 1 2 3 4 5 6; 2 dice" in page
    printed = run("table", "shut-the-box", "tiles=6", "--limit", "1000").stdout
    assert "1 2 3 4 5 6" in printed
    assert " 126 " not in printed
    typed = ["advise", "shut-the-box", "tiles=6", "--throw", "6", "--state"]
    by_members = run(*typed, "open={1 2 3 4 5 6},dice=2").stdout
    assert by_members == run(*typed, "open=126,dice=2").stdout
    assert "shut" in by_members


def test_rules_of_thumb_compare_no_numbers_of_sets():
    policies = Policies.of(rollwise.solve(Ludo(track=6)))
    assert {"mine", "theirs"} & Setting.of(policies).states.keys() == set()
    assert "home" in Setting.of(policies).states
