"""The gallery of `make gallery`: pages without a server, and puzzles with right answers."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

import rollwise
from rollwise.games import available

SCRIPT = Path(__file__).parent.parent / "scripts" / "gallery.py"


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gallery")
    runpy.run_path(str(SCRIPT))["make"](folder, ["craps", "piglet", "super-six", "kuhn-poker"])
    return folder


def test_each_game_has_a_page_and_a_drawn_start(gallery):
    assert sorted(path.name for path in gallery.iterdir()) == [
        "craps.html", "index.html", "kuhn-poker.html", "piglet.html", "super-six.html"
    ]  # fmt: skip
    front = (gallery / "index.html").read_text()
    for name in ("craps", "kuhn-poker", "piglet", "super-six"):
        assert f'href="{name}.html"' in front
    assert front.partition('id="puzzles"')[0].count("<svg") == 3
    assert "The first player wins 52.2479 % by perfect play" in front


def test_puzzles_are_answered_as_advise_does(gallery):
    front = (gallery / "index.html").read_text()
    found = re.search(r'id="puzzles">(.*)</script>', front)
    assert found is not None
    puzzles = json.loads(found[1].replace("<\\/", "</"))
    assert {one["game"] for one in puzzles} == {"Piglet", "Super Six"}
    for one in puzzles:
        name, _, state = one["link"].partition(".html#")
        solution = rollwise.solve(available()[name]())
        advice = solution.advise(tuple(map(int, state.split(","))))
        best = {row.action for row in advice.actions if row.best}
        assert {choice["action"] for choice in one["choices"] if choice["best"]} == best
        assert len(one["choices"]) == len(advice.actions)
        assert "loses" in one["said"]
    assert puzzles[0]["game"] != puzzles[1]["game"]


def test_a_shared_result_tells_no_answer(gallery):
    front = (gallery / "index.html").read_text()
    (text,) = re.findall("const text = `(.*)`;", front)
    assert set(re.findall(r"\$\{([\w.]+)\}", text)) == {"number", "one.game", "result", "address"}
