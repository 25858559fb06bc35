"""What a notebook shows."""

from __future__ import annotations

import pytest

from rollwise.games import available
from rollwise.games.pig import Pig
from rollwise.solution import solve


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
