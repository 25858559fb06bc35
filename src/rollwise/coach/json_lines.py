"""Files of games: as people write them, as JSON lines, or a history in SQLite (docs/records.md).

    {"format": 1, "game": "pig", "parameters": {"target": 20}, "players": [...],
     "moves": [{"player": 0, "action": "roll", "shows": [4]}, ...]}

A line has the contents of a written game (`rollwise.coach.game_record`), and both are read into
the same `Record`.

A history has one game a row, each as such a line. Each change is one transaction. A process killed
while storing a game leaves the file in its state before that move.
"""

from __future__ import annotations

import json
import shlex
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rollwise.analysis.observed_scores import LEAST_SCORES, scores_in, text_of
from rollwise.answer.references import Policies
from rollwise.coach.game_record import (
    FORMAT,
    Record,
    RecordError,
    agreed_game,
    as_word,
    clean_name,
    policy_names,
    records_of_text,
    replay,
    title,
)
from rollwise.coach.game_record import players_text as seats_text
from rollwise.coach.session import Session
from rollwise.coach.table import Table
from rollwise.derive.by_score import Ints, require_points
from rollwise.errors import OutputError, ParameterError
from rollwise.game import Game
from rollwise.games import create
from rollwise.numbers.printed import how_many
from rollwise.parameters import typed

KINDS = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}


def json_line(session: Session, headers: Mapping[str, str] | None = None) -> str:
    """A session as a line of JSON, with a line feed at the end; `record_of_line` reads it back.

    Parameters
    ----------
    headers : mapping, optional
        As in `rollwise.coach.game_record.written`.
    """
    table = session.table
    names = map(clean_name, session.names)
    moves = []
    for entry in session.accounts:
        name = " ".join(table.graph.view.action(entry.action).distinct_name.split())
        move: dict[str, Any] = {"player": entry.seat, "action": name}
        if entry.faces:
            move["shows"] = list(entry.faces)
        elif len(table.outcomes(entry.action)) > 1:
            move["outcome"] = entry.outcome + 1
        moves.append(move)
    line = {
        **record_head(table.game, headers or {}),
        "rules": table.fingerprint,
        "players": [
            {"name": name, "policy": policy}
            for name, policy in zip(names, policy_names(session), strict=True)
        ],
        "seed": session.seed,
        "result": session.ledger().result if session.is_over else None,
        "moves": moves,
    }
    return json.dumps(line, ensure_ascii=False) + "\n"


def record_head(game: Game, headers: Mapping[str, str]) -> dict[str, Any]:
    """The first keys of a line: the game, and how its moves are written."""
    about = {"game": game.name, "parameters": dict(game.parameters)}
    return {"format": int(FORMAT), **about, **headers}


def records_of_lines(text: str, source: str) -> list[Record]:
    """The games in a text of JSON lines.

    Raises
    ------
    RecordError
        Names the line and its fault.
    """
    lines = enumerate(text.splitlines(), start=1)
    return [record_of_line(line, source, number) for number, line in lines if line.strip()]


def record_of_line(line: str, source: str, number: int, unit: str = "line") -> Record:
    """The game in a line of JSON.

    Raises
    ------
    RecordError
        Names the line and its fault.
    """
    record = Record(source, number, unit=unit)
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        raise RecordError(f"{record.where}: this isn't JSON") from None
    if not isinstance(document, dict):
        raise RecordError(f"{record.where}: a game is an object, as in {{...}}")
    version = document.get("format", int(FORMAT))
    if version != int(FORMAT):
        raise RecordError(
            f"{record.where}: this game was written in format {str(version)[:20]}, by another "
            f"version of rollwise; this one reads format {FORMAT}"
        )
    record.headers = _headers(document, record)
    seats, moves = record.players, _of(list, document.get("moves"), "moves", record)
    if not seats:  # the first to move isn't the first in the list
        seats = ["player 1", "player 2"]
        record.headers["players"] = seats_text(
            [(name, "human") for name in seats[: _highest(moves)]]
        )
    for index, move in enumerate(moves, start=1):
        where = f"move {index}"
        move = _of(dict, move, where, record)
        seat = _of(int, move.get("player"), f"player of {where}", record)
        if not 0 <= seat < len(seats):
            raise RecordError(f"{record.where}: {where} has player {seat}; they count from 0")
        record.moves.append((number, seats[seat], _move_text(move, where, record)))
    return record


def _headers(entries: Mapping[str, Any], record: Record) -> dict[str, str]:
    """All of a line except its moves, as the headers of a written game."""
    headers = {"format": FORMAT}
    parameters = _of(dict, entries.get("parameters", {}), "parameters", record)
    for name, value in parameters.items():
        if not isinstance(value, int | float | str):
            raise RecordError(f"{record.where}: {name} isn't a number, a text, true or false")
    if "game" in entries:
        words = [_of(str, entries["game"], "game", record)]
        words += [f"{name}={typed(value)}" for name, value in parameters.items()]
        headers["game"] = " ".join(map(shlex.quote, words))
    for name, kind in (("seed", int), ("rules", str), ("dice", str)):
        if entries.get(name) is not None:
            headers[name] = str(_of(kind, entries[name], name, record))
    seats = []
    for seat in _of(list, entries.get("players", []), "players", record):
        one = _of(dict, seat, "players", record)
        name = clean_name(_of(str, one.get("name"), "name of a player", record))
        policy = _of(str, one.get("policy", "human"), "policy", record)
        seats.append((name, " ".join(policy.replace(";", " ").split())))
    if len({name for name, _ in seats}) < len(seats):
        raise RecordError(f"{record.where}: two players have the same name")
    if seats:
        headers["players"] = seats_text(seats)
    return headers


def _highest(moves: list[Any]) -> int:
    """How many players a line must have, by its moves."""
    return 2 if any(isinstance(move, dict) and move.get("player") == 1 for move in moves) else 1


def _move_text(move: Mapping[str, Any], where: str, record: Record) -> str:
    """A move as a written game holds it."""
    text = as_word(_of(str, move.get("action"), f"action of {where}", record), always=True)
    if "outcome" in move:
        return f"{text} #{_of(int, move['outcome'], f'outcome of {where}', record)}"
    shows = _of(list, move.get("shows", []), f"shows of {where}", record)
    return " ".join([text, *(str(_of(int, face, f"shows of {where}", record)) for face in shows)])


def _of(kind: type, value: Any, name: str, record: Record) -> Any:
    """A part of a line, checked to be of this kind."""
    if not isinstance(value, kind) or isinstance(value, bool):
        what = "is missing" if value is None else f"isn't {KINDS[kind]}"
        raise RecordError(f"{record.where}: {name} {what}")
    return value


MAGIC = b"SQLite format 3\0"
APPLICATION = 0x726F6C6C  # "roll", which tells histories from other files of SQLite
PATIENCE = 10.0  # seconds to wait for another program that writes to it
TABLES = f"""
CREATE TABLE games (
    number INTEGER PRIMARY KEY,
    began TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    game TEXT NOT NULL,
    result REAL,
    record TEXT NOT NULL
);
CREATE VIEW moves AS
SELECT number, key + 1 AS move,
    json_extract(value, '$.player') AS player, json_extract(value, '$.action') AS action,
    json_extract(value, '$.shows') AS shows, json_extract(value, '$.outcome') AS outcome
FROM games, json_each(record, '$.moves');
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = 1;
"""


def is_history(path: Path) -> bool:
    """Whether a file is one of SQLite. What a pipe holds can be read only once, and isn't one."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


class History:
    """A file of games, created if absent.

    Raises
    ------
    OutputError
        It can't be written, or is another kind of file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._opened() as connection:
            if not connection.execute("PRAGMA application_id").fetchone()[0]:
                if connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                    raise OutputError(f"{path} is no history of rollwise, but another database")
                connection.executescript(f"BEGIN IMMEDIATE; {TABLES} COMMIT;")
            _check(connection, path)

    def keep(self, line: str, number: int | None = None) -> int:
        """Store a game. Without a number it replaces a stored game that it continues, if any.

        Parameters
        ----------
        line : str
            As `rollwise.coach.json_lines.json_line` gives it.

        Returns
        -------
        int
            Its number.

        Raises
        ------
        OutputError
        """
        document = json.loads(line)
        row = (document["game"], document["result"], line.strip())
        with self._opened() as connection:
            # the lock comes before the search: another process can't store the same game meanwhile
            connection.execute("BEGIN IMMEDIATE")
            number = _stopped(connection, document) if number is None else number
            stored = connection.execute(
                "INSERT INTO games (number, game, result, record) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (number) DO UPDATE SET (result, record) = (excluded.result, "
                "excluded.record) RETURNING number",
                (number, *row),
            ).fetchone()
            connection.execute("COMMIT")
        return int(stored[0])

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(_connection(self.path)) as connection:
                yield connection
        except sqlite3.Error as error:
            raise OutputError(f"{self.path} can't be written: {error}") from error


def _stopped(connection: sqlite3.Connection, headers: dict[str, object]) -> int | None:
    """The number of the stored game continued by this one: the same but for its last moves."""
    moves = headers["moves"]
    assert isinstance(moves, list)
    head = {key: value for key, value in headers.items() if key not in ("moves", "result")}
    rows = connection.execute(
        "SELECT number, record FROM games WHERE result IS NULL AND game = ? ORDER BY number DESC",
        (headers["game"],),
    )
    # the newest one first
    for number, record in rows:
        other = json.loads(record)
        played = other.pop("moves")
        other.pop("result", None)
        if other == head and played == moves[: len(played)]:
            return int(number)
    return None


def read_history(path: Path) -> list[Record]:
    """All games of a history, in the order of their beginnings.

    Raises
    ------
    RecordError
        The file can't be read.
    """
    try:
        with closing(_connection(path)) as connection:
            _check(connection, path)
            rows = connection.execute("SELECT number, record FROM games ORDER BY number").fetchall()
    except (sqlite3.Error, OutputError) as error:
        raise RecordError(f"{path} can't be read: {error}") from error
    return [record_of_line(record, str(path), number, "game") for number, record in rows]


def _connection(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Check that a file is a history of a known version."""
    is_ours = connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if not is_ours or version != 1:
        raise OutputError(f"{path} is no history of rollwise, or one of another version")


def read_records(path: Path) -> list[Record]:
    """Read a file of games; the format is recognized by its contents.

    Raises
    ------
    RecordError
        Names the line and its fault.
    """
    records = (
        read_history(path) if is_history(path) else _records_in(text_of(path, RecordError), path)
    )
    if not records:
        raise RecordError(f"{path} holds no games")
    return records


def _records_in(text: str, path: Path) -> list[Record]:
    """The games in the text of a file."""
    read = records_of_lines if text.lstrip().startswith("{") else records_of_text
    return read(text, str(path))


def records_of(path: Path, kind: type[Game] | None, values: Mapping[str, str]) -> list[Record]:
    """The games in a file; of a history with several games, only those of this kind.

    Parameters
    ----------
    kind : type of Game, optional
        The game, by default all.
    values : mapping
        Required parameters, as text. Games in another form (``as``) are left out.

    Raises
    ------
    RecordError
        The file can't be read, or has no such game.
    """
    records = read_records(path)
    if not is_history(path) or kind is None:
        return records
    asked = create(kind, values)

    def is_asked(record: Record) -> bool:
        if record.game != kind.name or record.parameters.get("as") != values.get("as"):
            return False
        try:
            game = create(kind, record.parameters)
        except ParameterError:  # which is reported later
            return not values
        return all(game.parameters.get(name) == asked.parameters.get(name) for name in values)

    matching = list(filter(is_asked, records))
    if not matching:
        raise RecordError(f"{path} holds no such games of {kind.name}")
    return matching


def made_scores(path: Path, policies: Policies) -> Ints:
    """The scores in a file: one a line, or those of its finished games.

    Parameters
    ----------
    policies : Policies
        Of the played game.

    Returns
    -------
    (n,) int64

    Raises
    ------
    UsageError
        The file holds neither, or fewer than two; names the line.
    RecordError
        Its games are others, or games in another form.
    """
    text = None if is_history(path) else text_of(path)
    if text is not None and not _holds_games(text):
        return scores_in(text, path)
    solution, game = policies.solution, policies.game
    assert game is not None
    require_points(solution.graph)
    parameters = {name: typed(value) for name, value in game.parameters.items()}
    kind = type(game.made_from)
    records = records_of(path, kind, parameters) if text is None else _records_in(text, path)
    for record in records:
        played = agreed_game([record], kind, {}) if record.game else game
        if title(played) != title(game):
            raise RecordError(
                f"{record.where}: this is a game of {title(played)}, not of {title(game)}"
            )
    table = Table(solution, game)
    sessions = [replay(record, table) for record in records]
    made = [round(session.ledger().result) for session in sessions if session.is_over]
    if len(made) < LEAST_SCORES:
        games = how_many(len(made), "finished game")
        raise RecordError(f"{path} holds {games}; {LEAST_SCORES} are needed")
    return np.array(made, np.int64)


def _holds_games(text: str) -> bool:
    """Whether a text has written games, and not numbers."""
    lines = text.splitlines()
    words = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return any(line.startswith("@") or ":" in line for line in words)
