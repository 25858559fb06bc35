"""What a notebook shows."""

from __future__ import annotations

from pathlib import Path

import pytest

import rollwise
from rollwise.answer.solve import solve
from rollwise.export import export
from rollwise.games import available
from rollwise.games.pig import Pig
from rollwise.games.threes import Threes


@pytest.mark.parametrize("cls", available().values(), ids=lambda cls: cls.name)
def test_games_show_themselves(cls):
    shown = cls()._repr_html_()
    assert cls.name in shown
    assert all(f"<td class='text'>{name}</td>" in shown for name in cls().parameters)


def test_advice_is_a_table_with_the_best_action_marked():
    shown = solve(Pig(target=10)).advise((0, 0, 3))._repr_html_()
    assert "<td class='text'>→</td><td class='text'>roll</td>" in shown
    assert "win probability" in shown
    scored = solve(Threes(dice=1)).advise((1, 0, 0, 0, 0, 0, 0, 0))._repr_html_()
    assert "expected score" in scored


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
