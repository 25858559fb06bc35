"""Rule sheets to begin with: each is solved without a finding of `check`."""

from __future__ import annotations

import json

import pytest
from cli_runner import output, refusal, run

from rollwise.cli.commands.rules import SHAPES


@pytest.mark.parametrize("shape", SHAPES)
def test_a_new_rule_sheet_is_whole(shape, tmp_path):
    place = tmp_path / "my_game.py"
    told = output("new", str(place), "--shape", shape)
    assert f"rollwise solve {place}" in told
    checked = output("check", str(place))
    assert "the rules do the same both ways" in checked
    assert "warning" not in checked
    assert output("solve", str(place)).startswith("my-game ")
    (listed,) = json.loads(output("games", str(place), "--json"))["games"]
    assert listed["players"] == {"seats": 3, "solitaire": 1}.get(shape, 2)
    assert listed["game"] == "my-game"


def test_what_new_refuses(tmp_path):
    place = tmp_path / "mine.py"
    assert "choose, throw, pool, solitaire, seats" in refusal("new", str(place), "--shape", "cards")
    assert "a name such as mygame.py" in refusal("new", str(tmp_path / "mine.txt"))
    assert "a name such as mygame.py" in refusal("new", str(tmp_path / "7.py"))
    place.write_text("mine = 1\n")
    assert "exists already" in refusal("new", str(place))
    assert place.read_text() == "mine = 1\n"
    assert run("new", str(tmp_path / "away" / "mine.py")).returncode == 2
