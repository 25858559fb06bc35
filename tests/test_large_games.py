"""What commands say of a game that is too large for one graph, whose answer is by layers."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from cli_runner import output, run

import rollwise
from rollwise.answer.filters import said_of
from rollwise.builders import limits
from rollwise.games.pig import Pig

pytestmark = pytest.mark.needs_jit

LARGE = ("pig", "target=8")


@pytest.fixture
def small_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs may have 50 states."""
    monkeypatch.setattr(limits, "MAX_STATES", 50)
    monkeypatch.setattr(limits, "MAX_STATES_INTERPRETED", 50)


@pytest.mark.usefixtures("small_graphs")
def test_the_table_of_a_large_game_has_the_rows_of_the_whole() -> None:
    found = pl.DataFrame(json.loads(output("table", *LARGE, "--json"))["rows"])
    known = rollwise.solve(Pig(target=8), max_states=10**6).table()
    assert found.drop("value", "win_probability", "error_bound").equals(
        known.drop("value", "win_probability", "error_bound").cast(
            dict.fromkeys(("banked", "rival", "turn"), pl.Int64)
        )
    )
    assert (found["value"] - known["value"]).abs().max() < 1e-12  # type: ignore[operator]
    some = pl.DataFrame(
        json.loads(output("table", *LARGE, "--where", "turn == 3", "--json"))["rows"]
    )
    assert some.equals(found.filter(pl.col("turn") == 3))


@pytest.mark.usefixtures("small_graphs")
def test_pictures_of_some_positions_of_a_large_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "p.html")
    output("plot", *LARGE, "policy", "--where", "rival == 0", "--out", place)
    assert "banked" in Path(place).read_text(encoding="utf-8")
    refused = run("plot", *LARGE, "length", "--out", place)
    assert refused.returncode == 2
    assert "pictures of some of its positions are policy, value" in refused.stderr
    monkeypatch.setattr("rollwise.builders.some_states.STATES_AT_ONCE", 5)
    refused = run("plot", *LARGE, "policy", "--out", place)
    assert refused.returncode == 2
    assert "choose at most 5 of its positions by their fields" in refused.stderr


@pytest.mark.parametrize(
    ("where", "fields", "said"),
    [
        ("a == 1 and b == 2", ["a"], "(a == 1)"),
        ("a == 1 and b == 2", ["a", "b"], "(a == 1) and (b == 2)"),
        ("a == 1 or b == 2", ["a"], None),
        ("board.0 > 2 and throw.0 == 1", ["board.0"], "(board.0 > 2)"),
        ("a == 1 and (b == 2 or a == 3) and a < 4", ["a"], "(a == 1) and (a < 4)"),
        ("a ==", ["a"], "a =="),
    ],
)
def test_what_a_condition_says_of_some_columns(
    where: str, fields: list[str], said: str | None
) -> None:
    assert said_of(where, fields) == said
