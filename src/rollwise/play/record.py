"""Games written down: a small text format, for review and for taking a game up again.

    @game pig target=20
    Ann: roll 4, roll 6, hold
    Bob: roll 1
    Ann: roll 5, ...

A line is a player's name, a colon and moves with commas between. A move is the
action's name, then what came of it: the faces of the dice (``roll 3 4 1``), or the
number of the outcome (``throw #2``, as `rollwise play` lists them), or nothing where
only one thing can come. An empty line, or ``@game``, begins another game; ``#`` at
the beginning of a line is a comment, and lines that begin with ``@`` say more: see
docs/play.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rollwise.errors import UsageError
from rollwise.play.session import Session
from rollwise.play.table import Table
from rollwise.policies import Policy

FORMAT = "1"
# Headers that one game may have each.
KEYS = ("format", "game", "rules", "seed", "players", "dice", "target", "ties")


class RecordError(UsageError):
    """A written game that can't be read, or can't have happened; names the line."""


@dataclass
class Record:
    """One written game.

    Attributes
    ----------
    source : str
        Where it comes from, for messages.
    line : int
        Where it begins.
    headers : dict
    moves : list of (line, player, move)
    """

    source: str
    line: int
    headers: dict[str, str] = field(default_factory=dict)
    moves: list[tuple[int, str, str]] = field(default_factory=list)

    @property
    def players(self) -> list[str]:
        """The players in the order in which they first move."""
        return list(dict.fromkeys(player for _, player, _ in self.moves))


def read_records(path: Path) -> list[Record]:
    """Read a file of games.

    Raises
    ------
    RecordError
        Names the line and what is wrong with it.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise RecordError(f"{path} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{path} can't be read: it isn't text") from error
    records: list[Record] = []
    current: Record | None = None
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line:
            current = None
        elif line.startswith("@"):
            key, _, value = line[1:].partition(" ")
            if key not in KEYS:
                raise RecordError(f"{path}, line {number}: there is no @{key} ({', '.join(KEYS)})")
            if key == "format" and value.strip() != FORMAT:
                raise RecordError(
                    f"{path}, line {number}: this game was written in format {value.strip()}, "
                    f"by another version of rollwise; this one reads format {FORMAT}"
                )
            if current is None or current.moves or key in current.headers:
                current = Record(str(path), number)
                records.append(current)
            current.headers[key] = value.strip()
        elif not line.startswith("#"):
            player, colon, moves = line.partition(":")
            if not colon or not player.strip():
                raise RecordError(
                    f"{path}, line {number}: {line!r} isn't a player's name, a colon and moves"
                )
            if current is None:
                current = Record(str(path), number)
                records.append(current)
            for move in moves.split(","):
                if move.strip():
                    current.moves.append((number, player.strip(), move.strip()))
    if not records:
        raise RecordError(f"{path} holds no games")
    return records


def replay(
    record: Record,
    table: Table,
    *,
    names: Sequence[str] | None = None,
    policies: Sequence[Policy | None] | None = None,
) -> Session:
    """Play a written game again.

    Raises
    ------
    RecordError
        A move can't have happened; names the line and the reason.
    """
    graph = table.graph
    rules = record.headers.get("rules")
    if rules is not None and rules != graph.content_hash:
        raise RecordError(
            f"{record.source}, line {record.line}: this game was played under other rules or "
            f"parameters than those of {graph.title}"
        )
    seed = record.headers.get("seed", "0")
    if not seed.isdigit():
        raise RecordError(f"{record.source}, line {record.line}: {seed!r} is no seed")
    if names is None:
        names = _names(record, graph.players)
    session = Session(
        table, names, [None] * len(names) if policies is None else policies, seed=int(seed)
    )
    for line, player, move in record.moves:
        try:
            if session.is_over:
                raise UsageError("the game is over already")
            if player != session.mover:
                raise UsageError(f"it is {session.mover}'s turn, not {player}'s")
            _apply(session, move, line)
        except UsageError as error:
            raise RecordError(f"{record.source}, line {line}: {error}") from error
    return session


def _names(record: Record, players: int) -> list[str]:
    names = record.players
    if len(names) > players:
        raise RecordError(
            f"{record.source}, line {record.line}: {', '.join(names)} play, but the game has "
            f"{players} player{'s' if players > 1 else ''}"
        )
    return [*names, *(f"player {i + 1}" for i in range(len(names), players))]


def _apply(session: Session, move: str, line: int) -> None:
    """Make one written move: the action is the longest beginning that names one."""
    table = session.table
    words = move.split()
    for split in range(len(words), 0, -1):
        try:
            action = table.action_at(session.state, " ".join(words[:split]))
        except UsageError:
            continue
        break
    else:
        table.action_at(session.state, move)
        raise AssertionError("action_at must have failed")
    rest = words[split:]
    number, faces = _what_came(table, action, rest)
    session.choose(action)
    session.fall(number, faces, line=line)


def _what_came(table: Table, action: int, words: list[str]) -> tuple[int, tuple[int, ...]]:
    name = table.graph.action_text(action)
    outcomes = len(table.outcomes(action))
    if not words:
        if outcomes == 1 and not table.dice(action):
            return 0, ()
        raise UsageError(f"what came of {name!r}? Write the faces of the dice, or #N")
    if len(words) == 1 and words[0].startswith("#") and words[0][1:].isdigit():
        number = int(words[0][1:])
        if not 1 <= number <= outcomes:
            raise UsageError(f"{name} has the outcomes #1 to #{outcomes}, not {words[0]}")
        return number - 1, ()
    if not all(word.isdigit() for word in words):
        raise UsageError(f"{' '.join(words)!r} after {name!r} isn't what dice show")
    if not table.dice(action):
        raise UsageError(
            f"{name} throws no dice that rollwise can read; write the outcome as #1 to #{outcomes}"
        )
    faces = tuple(int(word) for word in words)
    return table.fall_of(action, faces), faces


def written(session: Session, headers: dict[str, str]) -> str:
    """A session as text, headers first; `replay` reads it back."""
    graph = session.table.graph
    known = {
        "format": FORMAT,
        **headers,
        "rules": graph.content_hash,
        "seed": str(session.seed),
    }
    lines = [f"@{key} {value}" for key, value in known.items()]
    seat = -1
    for entry in session.accounts:
        move = graph.action_text(entry.action)
        if entry.faces:
            move += " " + " ".join(map(str, entry.faces))
        elif len(session.table.outcomes(entry.action)) > 1:
            move += f" #{entry.outcome + 1}"
        if entry.seat != seat:
            seat = entry.seat
            lines.append(f"{session.names[seat]}: {move}")
        else:
            lines[-1] += f", {move}"
    return "\n".join(lines) + "\n"
