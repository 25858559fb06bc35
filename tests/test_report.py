"""The report: whole, true to the solution, and complete in itself."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rollwise
from rollwise.answer.evaluation import evaluate
from rollwise.answer.references import Policies
from rollwise.games.pig import Pig
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
    ties = np.add.reduceat(solution.is_best.astype(int), graph.action_indptr[:-1]) > 1
    expected = {
        tuple(graph.states[s, columns].tolist()): "either"
        if ties[s]
        else graph.view.action(solution.best_actions[s]).name
        for s in choice
    }
    found = list(unfolded(document))
    assert len(found) == len(expected)
    assert dict(found) == expected
