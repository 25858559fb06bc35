"""Games as JSON lines and in a history: what is kept is read, whole, also after a kill."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from unittest import mock

import pytest
from cli_runner import refusal, run
from small_games import played
from tests.little_games import HostileNames

import rollwise
from rollwise.answer.references import Policies
from rollwise.coach import History, Session, Table, json_line, read_records, replay, written
from rollwise.coach.json_lines import made_scores
from rollwise.coach.review import Drill, questions
from rollwise.derive.chase import WithScore
from rollwise.games.chicago import Chicago
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.threes import Threes
from rollwise.parameters import typed

GAMES = [Pig(target=12), Threes(dice=2), rollwise.Duel(Threes(dice=2)),
         rollwise.Chase(Threes(dice=2), 4), RoyalUr(pieces=1), Chicago(dice=1),
         HostileNames()]  # fmt: skip
PIG = '{"game": "pig", "parameters": {"target": 12}, "moves": [%s]}'


def moves_of(session: Session) -> list[tuple[int, int, int, int, tuple[int, ...]]]:
    return [(e.seat, e.state, e.action, e.outcome, e.faces) for e in session.accounts]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name[:12])
def test_every_way_of_keeping_a_game_gives_it_back(tmp_path, game):
    table = Table.lay(game)
    names = ("Ann", "Bob; the = second")
    sessions = [played(table, seed, names, moves) for seed, moves in ((1, 999), (2, 999), (3, 2))]
    history = History(tmp_path / "a.sqlite")
    for session in sessions:
        history.keep(json_line(session))
    lines = "".join(json_line(session) for session in sessions)
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")
    text = "\n".join(written(session) for session in sessions)
    (tmp_path / "a.game").write_text(text, encoding="utf-8")
    for name in ("a.sqlite", "a.jsonl", "a.game"):
        records = read_records(tmp_path / name)
        assert [moves_of(replay(one, table)) for one in records] == list(map(moves_of, sessions))
        kept = {name: typed(value) for name, value in game.parameters.items()}
        if kept:  # the name of another game has no words to be read
            assert all(one.parameters == kept for one in records)
        assert [one.headers["seed"] for one in records] == ["1", "2", "3"]
    results = [json.loads(line)["result"] for line in lines.splitlines()]
    assert results == [one.ledger().result if one.is_over else None for one in sessions]


@pytest.mark.parametrize("name", ["kept.sqlite", "kept.jsonl"])
def test_scores_are_those_of_kept_games_of_the_same_form(tmp_path, name):
    for game, other in ((Threes(dice=2), "as=score"), (WithScore(Threes(dice=2)), "skip=true")):
        sessions, path = [played(Table.lay(game), seed) for seed in (1, 2, 3)], tmp_path / name
        path.unlink(missing_ok=True)
        for session in sessions:
            if name.endswith("sqlite"):
                History(path).keep(json_line(session))
            else:
                with path.open("a") as file:
                    file.write(json_line(session))
        made = made_scores(path, Policies.of(rollwise.solve(game)))
        assert made.tolist() == [session.ledger().result for session in sessions]
        refused = refusal("scores", "threes", str(path), "dice=2", other)
        assert "no such games of threes" in refused or "this is a game of threes" in refused


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 1: this isn't JSON"),
        ("{} 1", "line 1: this isn't JSON"),
        ('{"game": "pig"}', "moves is missing"),
        ('{"game": 3, "moves": []}', "game isn't a text"),
        ('{"format": 2, "moves": []}', "written in format 2"),
        ('{"format": [], "moves": []}', "written in format"),
        ('{"game": "pig", "parameters": {"target": []}, "moves": []}', "target isn't a number"),
        ('{"game": "pig", "seed": true, "moves": []}', "seed isn't a whole number"),
        ('{"game": "pig", "seed": NaN, "moves": []}', "seed isn't a whole number"),
        ('{"players": [{"name": "A"}, {"name": "A"}], "moves": []}', "the same name"),
        ('{"players": ["A"], "moves": []}', "players isn't an object"),
        (PIG % "3", "move 1 isn't an object"),
        (PIG % '{"player": 2, "action": "roll"}', "has player 2"),
        (PIG % '{"player": 0}', "action of move 1 is missing"),
        (PIG % '{"player": 0, "action": "roll", "shows": 4}', "shows of move 1 isn't a list"),
        (PIG % '{"player": 0, "action": "roll", "shows": [4.5]}', "isn't a whole number"),
        (PIG % '{"player": 0, "action": "roll", "shows": [7]}', "line 1: "),
        (PIG % '{"player": 0, "action": "roll"}', "what came of"),
        (PIG % '{"player": 1, "action": "roll", "shows": [4]}', "turn, not player 2's"),
        (PIG % '{"player": 0, "action": "fly\\n", "shows": [4]}', "line 1: "),
        (PIG % '{"player": 0, "action": "roll", "outcome": 0}', "the outcomes #1 to #6"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(tmp_path, line, says):
    (tmp_path / "a.jsonl").write_text(line + "\n")
    told = refusal("review", "pig", "a.jsonl", "target=12", cwd=tmp_path)
    assert says in told
    assert "a.jsonl" in told


# ---- a history


KEEPS = """
import sys
from pathlib import Path
from rollwise.coach.json_lines import History
history, line = History(Path(sys.argv[1])), sys.argv[2]
print("ready", flush=True)
for move in range(10 ** 9):
    history.keep(line.replace('"moves": []', f'"moves": {[move] * (move % 400)}'), 1 + move % 7)
"""


def test_a_kill_leaves_a_whole_history(tmp_path):
    path = tmp_path / "a.sqlite"
    line = '{"game": "pig", "result": null, "moves": []}'
    for wait in (0.0, 0.05, 0.15):
        with subprocess.Popen(
            [sys.executable, "-c", KEEPS, str(path), line], stdout=subprocess.PIPE
        ) as keeps:
            assert keeps.stdout.readline() == b"ready\n"
            with pytest.raises(subprocess.TimeoutExpired):
                keeps.wait(wait)
            keeps.send_signal(signal.SIGKILL)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            for (record,) in connection.execute("SELECT record FROM games"):
                moves = json.loads(record)["moves"]
                assert moves == moves[:1] * len(moves)
    assert len(moves)


# ---- the drill: which positions are asked, and until when


GAMES_DRILL = """\
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
    place.write_text(GAMES_DRILL)
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


def test_a_drill_tells_its_tally_after_ctrl_c(games: Path) -> None:
    with mock.patch("builtins.input", side_effect=["roll", "hold", KeyboardInterrupt]):
        done = run("drill", "pig", str(games), "target=20")
    assert done.returncode == 130
    assert done.stdout.endswith("hold\n\n1 right, 1 wrong, 1 left\n")
    assert done.stderr == "rollwise: stopped\n"
    with mock.patch("builtins.input", side_effect=["quit"]):
        done = run("drill", "pig", str(games), "target=20", "--limit", "1")
    assert ": 1 position; quit ends it" in done.stdout
