"""The report: whole, true to the solution, and complete in itself."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from cli_runner import run

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


def body_of(text):
    """What a page shows, without its scripts and figures."""
    return re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)


FILE_GAME = '''
from dataclasses import dataclass
from typing import ClassVar, NamedTuple
from rollwise import AGAIN, END, Game, policy

class Hand(NamedTuple):
    rolls: int
    face: int

@dataclass(frozen=True)
class Last(Game):
    """Roll up to `rolls` times; `keep` counts the face that shows."""

    rolls: int = 3
    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar = ("roll", "keep")

    def start(self):
        return Hand(self.rolls, 0)

    def actions(self, s):
        if s.rolls > 0:
            yield 0
        if s.face > 0:
            yield 1

    def outcomes(self, s, action):
        if action == 1:
            yield 1, END, s
        else:
            for face in range(1, 7):
                yield 1, AGAIN, Hand(s.rolls - 1, face)

    def reward(self, s, action):
        return s.face if action == 1 else 0

    @policy
    def first(self, s):
        """Always `keep`."""
        return 1 if s.face > 0 else 0
'''


def notes_of(solution):
    return [str(note.text) for note in solution.plot("policy").layout.annotations]


def test_a_page_for_people_has_no_options_backticks_or_tiny_numbers(tmp_path):
    (tmp_path / "last.py").write_text(FILE_GAME)
    assert run("report", "last.py", cwd=tmp_path).returncode == 0
    (page,) = tmp_path.glob("*.html")
    text = page.read_text(encoding="utf-8")
    assert "`" not in body_of(text)
    assert "<code>keep</code>" in text
    assert "Who has the edge" not in text
    assert "What to expect" in text
    for game in (SuperSix(sticks=7), Threes(dice=3)):
        solution = rollwise.solve(game)
        text = body_of(report(solution))
        assert "--" not in text.replace("--wide", "").replace("--narrow", "")
        shown, sure = text.split("How the answer was found")[-2:]
        assert not re.search(r"\de-\d\d", shown)  # what is proved is told where it is explained
        assert "decimals" in shown
        (_, number, bound), *_ = re.findall(r"(chance|score)[^<]*<b>(\S+) ± (\S+?)</b>", sure)
        true = solution.value if solution.is_score else solution.win_probability
        assert abs(float(number) - true) <= float(bound)
    assert not any("--where" in note for note in notes_of(rollwise.solve(Threes())))


def test_the_table_begins_with_what_comes_up_most():
    facts = Facts(rollwise.solve(SuperSix(sticks=20)))
    document = json.loads(encode(facts)[0])
    graph = facts.solution.graph
    columns = [graph.field_names.index(name) for name in document["fields"]]
    visits = {
        tuple(graph.states[s, columns].tolist()): facts.lengths.visits[s]
        for s in np.flatnonzero(facts.choice)
    }
    rows = list(zip(*document["columns"], strict=True))
    often = [visits[row] for row in rows]
    assert often == sorted(often, reverse=True)
