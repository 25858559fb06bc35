"""A history: games in an SQLite file, one a row, each as a line of JSON (docs/records.md).

Each change is one transaction. A process killed while storing a game leaves the file in its state
before that move.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from rollwise.coach.game_record import Record, RecordError
from rollwise.coach.json_lines import record_of_line
from rollwise.errors import OutputError

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
    """Whether a file is one of SQLite."""
    try:
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
