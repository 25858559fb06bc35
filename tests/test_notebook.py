"""What a notebook shows."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import rollwise
from rollwise.answer.solve import solve
from rollwise.cli.progress import Progress
from rollwise.errors import PolicyError, UsageError
from rollwise.export import export
from rollwise.games import available
from rollwise.games.pig import Pig
from rollwise.games.threes import Threes


@pytest.mark.parametrize("cls", available().values(), ids=lambda cls: cls.name)
def test_games_show_themselves(cls):
    shown = cls()._repr_html_()
    assert cls.name in shown
    assert all(f"<th>{name}</th>" in shown for name in cls().parameters)


def test_solutions_show_value_and_table():
    shown = solve(Pig(target=10))._repr_html_()
    assert "wins with probability" in shown
    assert "<table" in shown
    assert "banked" in shown


def test_advice_is_a_table_with_the_best_action_marked():
    shown = solve(Pig(target=10)).advise((0, 0, 3))._repr_html_()
    assert "<td>→</td><td>roll</td>" in shown
    assert "win probability" in shown
    scored = solve(Threes(dice=1)).advise((1, 0, 0, 0, 0, 0, 0, 0))._repr_html_()
    assert "expected score" in scored


def test_figures_come_as_pages_that_need_nothing_else():
    """Plotly's own data is for running notebooks; what nbconvert makes needs HTML."""
    pytest.importorskip("plotly")
    figure = solve(Pig(target=10)).plot()
    bundle = figure._repr_mimebundle_()
    assert "iframe" in bundle["text/html"]
    assert "rollwiseFigure" in bundle["text/html"]
    assert figure._ipython_display_ is None  # IPython would ask it first


def test_a_report_is_a_page(tmp_path):
    pytest.importorskip("plotly")
    page = solve(Pig(target=5)).report(tmp_path / "pig.html")
    assert "iframe" in page._repr_html_()
    assert (tmp_path / "pig.html").read_text(encoding="utf-8") == page.html
    with pytest.raises(UsageError, match="must end in .html"):
        page.save(tmp_path / "pig.txt")


def test_findings_as_rows():
    report = rollwise.check(Pig(target=5))
    assert report._repr_html_().count("<tr>") == len(str(report).splitlines())


def test_policies_by_name():
    solution = solve(Pig(target=12))
    known = rollwise.evaluate(solution, "optimal")
    assert known.values[0] == pytest.approx(solution.value, abs=1e-12)
    named = rollwise.evaluate(Pig(target=12), "hold-at-20", "0.5*optimal+0.5*random")
    assert named.against == "0.5*optimal+0.5*random"
    asked = rollwise.best_response(solution, lambda s: 1 if s.turn >= 20 else 0)
    found = rollwise.best_response(Pig(target=12), "hold-at-20")
    assert asked.exploitability() == pytest.approx(found.exploitability())
    assert rollwise.distributions(Threes(dice=2), "take-one").of(0).mean > 0
    with pytest.raises(PolicyError, match="give the game instead"):
        rollwise.evaluate(solution.graph, "hold-at-20")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: rollwise.build(Pig(), max_states=100),
        lambda: solve(Pig(target=30)).plot("graph"),
        lambda: rollwise.Duel(Threes(), "no"),
        lambda: solve(Pig(target=5)).plot(where="turn > 90"),
        lambda: solve(Pig(target=5)).advise(3),
        lambda: export(solve(Pig(target=5)), Path("x.drn"), "drn"),
    ],
)
def test_errors_in_python_speak_of_arguments(wrong):
    with pytest.raises(rollwise.RollwiseError) as caught:
        wrong()
    assert "--" not in str(caught.value)


def test_no_bar_in_a_notebook(monkeypatch):
    """Where ``!rollwise solve`` is typed, there is a terminal that forgets nothing."""
    monkeypatch.setattr("sys.stderr", Terminal())
    assert Progress()._terminal
    monkeypatch.setenv("JPY_PARENT_PID", "1")
    assert not Progress()._terminal


class Terminal(io.StringIO):
    def isatty(self):
        return True
