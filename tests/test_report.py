"""The report: whole, true to the solution, and complete in itself."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from test_cli import refusal, run

import rollwise
from rollwise.errors import UsageError
from rollwise.evaluation import evaluate
from rollwise.games.craps import Craps
from rollwise.games.pig import Pig, Piglet
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.plot.browser import FLAGS, find_browser
from rollwise.policies import find_policy
from rollwise.report import report
from rollwise.report.facts import Facts
from rollwise.report.strategy_table import encode

pytest.importorskip("plotly")

EXAMPLE = Path(__file__).parent.parent / "examples" / "hit_the_mark.py"


def test_the_numbers_are_the_solutions():
    solution = rollwise.solve(SuperSix(sticks=7))
    text = report(solution)
    assert f"<b>{100 * solution.win_probability:.2f} %</b>" in text
    assert f"<b>{solution.error_bound:.1e}</b>" in text
    policy = find_policy(solution.graph, SuperSix(sticks=7), "throw-until-4")
    found = evaluate(solution.graph, policy, solution.policy)
    assert f"<td>{50 * (1 + found.values[0]):.2f} %</td>" in text
    assert "Throw until four sticks stand in the lid." in text
    assert "Throw to put a stick in the hole of that number" in text


@pytest.mark.parametrize("game", [Craps(), Threes(dice=2), Piglet(target=3), Pig(target=30)])
def test_any_game_has_a_report(game):
    text = report(rollwise.solve(game))
    assert text.count("<section") == text.count("</section>") >= 5
    assert "nan" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert ("here none leads back to another" in text) == (game.players == 1)


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
    monkeypatch.setattr("rollwise.report.strategy_table.MOST_SINGLE", 500)
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
        else graph.action_text(int(solution.best_actions[s]))
        for s in choice
    }
    found = list(unfolded(document))
    assert len(found) == len(expected)
    assert dict(found) == expected


def test_the_command(tmp_path):
    done = run("report", str(EXAMPLE), "mark=9", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["hit-the-mark-report.html"]
    assert "no/where" in refusal("report", "craps", "--out", "no/where/a.html", cwd=tmp_path)
    assert ".html" in refusal("report", "craps", "--out", "a.pdf", cwd=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("game", [Piglet(target=4), SuperSix(sticks=7), Threes(dice=2)])
def test_a_browser_without_network_finds_no_fault(game, tmp_path):
    try:
        browser = find_browser()
    except UsageError:
        pytest.skip("no browser is installed")
    place = tmp_path / "report.html"
    place.write_text(report(rollwise.solve(game)))
    done = subprocess.run(
        [
            browser,
            *FLAGS,
            "--enable-logging=stderr",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={tmp_path}/profile",
            "--virtual-time-budget=15000",
            "--dump-dom",
            place.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "ERROR:CONSOLE" not in done.stderr
    assert not re.search(r'CONSOLE.*"(Uncaught|Failed)', done.stderr)
    assert "main-svg" in done.stdout  # figures were drawn
    assert "of " in re.search(r'<p aria-live="polite">(.*?)</p>', done.stdout)[1]
    # the text of Plotly's own script names addresses; it asks for none of them
    page = re.sub(r"<script.*?</script>", "", done.stdout, flags=re.DOTALL)
    assert not re.search(r'(src|href)="(https?:)?//', page)
