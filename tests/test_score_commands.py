"""The commands about scores: chases, contests, distributions, bets, judgements."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_runner import output, refusal

EXAMPLE = Path(__file__).parent.parent / "examples" / "threes_game.csv"


def document(*arguments: str):
    return json.loads(output(*arguments, "--json"))


def test_distributions_side_by_side():
    both = ("--policy", "optimal", "--policy", "take-one")
    told = document("distribution", "threes", *both, "--simulate", "30000")
    best, take_one = told["policies"]
    assert best["mean"] == pytest.approx(5.662192407647324, abs=1e-12)
    assert take_one["mean"] == pytest.approx(7.3626543209876545, abs=1e-12)
    for entry in (best, take_one):
        assert sum(row["probability"] for row in entry["rows"]) == pytest.approx(1, abs=1e-12)
        assert entry["simulated"]["games"] == 30000
        assert entry["simulated"]["p_value"] > 0.001
        assert abs(entry["simulated"]["mean"] - entry["mean"]) < 0.1


@pytest.mark.needs_jit
def test_the_example_game_is_judged():
    told = document("judge", "threes", str(EXAMPLE), "ties=win-or-tie")
    assert told["scores"] == {"1": 7, "2": 6}
    lost = {row["line"]: row["chance_lost"] for row in told["moves"]}
    # Player 1 took the one and left a single die; only this choice cost anything.
    assert lost[3] == pytest.approx(0.0117, abs=0.0005)
    assert [line for line, loss in lost.items() if loss > 0] == [3]
    assert all(row["points_lost"] == 0 for row in told["moves"])
    assert [row["action"] for row in told["moves"]].count("take none") == 1
    assert "player 2: score 6" in output("judge", "threes", str(EXAMPLE))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rolled,taken\n1 2,1\n", "line 2: this doesn't follow|no play comes"),
        ("rolled,taken\n4 3 5 3 1,3 3\n", "line 2: the play isn't over yet"),
        ("rolled,taken\n4 3 5 3 1,3 3\n4 4,4\n", "line 3: this doesn't follow"),
        ("rolled,taken\n4 3 5 3 1,5\n", "line 2: 5 aren't the 1 lowest"),
        ("rolled,taken\n4 3 5 3 x,5\n", "line 2: '4 3 5 3 x' isn't a list of dice"),
        ("dice,taken\n1,1\n", "has the columns dice, taken"),
        ("rolled,taken\n", "holds no moves"),
        ("player,rolled,taken\na,1 1 1 1 1,1 1 1 1 1\nb,3,3\na,1,1\n", "player a comes up again|"),
    ],
)
def test_plays_that_can_not_be(tmp_path, text, said):
    path = tmp_path / "play.csv"
    path.write_text(text)
    assert re.search(said, refusal("judge", "threes", str(path)))
