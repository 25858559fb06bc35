"""The drill: which positions are asked, and until when."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollwise.coach import Table, read_records, replay
from rollwise.coach.review import Drill, questions
from rollwise.games.pig import Pig

GAMES = """\
@players Ann = human; Bob = optimal
@game pig target=20
Ann: roll 4, hold
Bob: roll 4, hold
Ann: roll 2, hold
Bob: roll 1

@game pig target=20
@players Ann = human; Bob = optimal
Ann: roll 4, hold
Bob: roll 1
"""


@pytest.fixture
def games(tmp_path: Path) -> Path:
    place = tmp_path / "ann.games"
    place.write_text(GAMES)
    return place


def test_what_was_got_wrong_is_asked_until_it_is_right(games: Path) -> None:
    table = Table.lay(Pig(target=20))
    sessions = [replay(record, table) for record in read_records(games)]
    asked = questions(sessions, ["Ann"])
    fields = [tuple(table.graph.view[one.state].fields) for one in asked]
    assert fields == [(0, 0, 4), (4, 4, 2)]
    assert [one.times for one in asked] == [2, 1]
    everybody = questions(sessions)
    assert len(everybody) == 3  # Bob held at 4
    drill = Drill(table, asked)
    roll, hold = table.actions(asked[0].state)
    assert drill.best(asked[0].state) == "roll"
    assert drill.answer(hold) == pytest.approx(asked[0].cost)
    assert [one.state for one in drill.waiting] == [asked[1].state, asked[0].state]
    assert drill.answer(table.actions(asked[1].state)[0]) == 0
    assert drill.answer(roll) == 0
    assert (drill.is_over, drill.right, drill.wrong) == (True, 2, 1)
