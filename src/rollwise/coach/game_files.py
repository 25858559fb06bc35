"""Files of games: as people write them, JSON lines, or a history in SQLite; scores of people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rollwise.analysis.observed_scores import LEAST_SCORES, read_scores, text_of
from rollwise.answer.references import Policies
from rollwise.coach.game_record import Record, RecordError, agreed_game, records_of_text, title
from rollwise.coach.json_lines import is_history, read_history, records_of_lines
from rollwise.coach.replay import replay
from rollwise.coach.table import Table
from rollwise.derive.by_score import Ints, require_points
from rollwise.errors import ParameterError
from rollwise.game import Game
from rollwise.games import create
from rollwise.machine.atomic_files import read_text
from rollwise.numbers.printed import how_many
from rollwise.parameters import typed


def read_records(path: Path) -> list[Record]:
    """Read a file of games; the format is recognized by its contents.

    Raises
    ------
    RecordError
        Names the line and its fault.
    """
    if is_history(path):
        records = read_history(path)
    else:
        text = text_of(path, RecordError)
        read = records_of_lines if text.lstrip().startswith("{") else records_of_text
        records = read(text, str(path))
    if not records:
        raise RecordError(f"{path} holds no games")
    return records


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
    asked, played = create(kind, values), _Created(kind)
    matching = [
        record
        for record in records
        if record.game == kind.name
        and record.parameters.get("as") == values.get("as")
        and played.has(record, asked, values)
    ]
    if not matching:
        raise RecordError(f"{path} holds no such games of {kind.name}")
    return matching


class _Created:
    """The games of records of one kind. Games of equal parameters are created once."""

    def __init__(self, kind: type[Game]) -> None:
        self._kind = kind
        self._created: dict[str, Game | None] = {}

    def has(self, record: Record, asked: Game, names: Mapping[str, str]) -> bool:
        """Whether a game has these parameters, or faulty ones, which are reported later."""
        text = record.headers["game"]
        if text not in self._created:
            try:
                self._created[text] = create(self._kind, record.parameters)
            except ParameterError:
                self._created[text] = None
        game = self._created[text]
        if game is None:
            return not names
        return all(game.parameters.get(name) == asked.parameters.get(name) for name in names)


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
    if not _holds_games(path):
        return read_scores(path)
    solution, game = policies.solution, policies.game
    assert game is not None
    require_points(solution.graph)
    parameters = {name: typed(value) for name, value in game.parameters.items()}
    kind = type(game.made_from)
    records = records_of(path, kind, parameters)
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


def _holds_games(path: Path) -> bool:
    """Whether a file is one of written games, and not of numbers."""
    if is_history(path):
        return True
    try:
        lines = read_text(path).splitlines()
    except (OSError, UnicodeDecodeError):  # which the reader of numbers tells
        return False
    words = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return any(line.startswith("@") or ":" in line for line in words)
