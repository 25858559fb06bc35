"""Files of games: as people write them, as JSON lines, or a history in SQLite."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rollwise.coach.game_record import Record, RecordError, records_of_text
from rollwise.coach.history import is_history, read_history
from rollwise.coach.json_lines import records_of_lines
from rollwise.errors import ParameterError
from rollwise.game import Game
from rollwise.games import create
from rollwise.machine.atomic_files import read_text


def read_records(path: Path) -> list[Record]:
    """Read a file of games; what it holds says how it is written.

    Raises
    ------
    RecordError
        Names the line and what is wrong with it.
    """
    if is_history(path):
        records = read_history(path)
    else:
        try:
            text = read_text(path)
        except OSError as error:
            raise RecordError(f"{path} can't be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise RecordError(f"{path} can't be read: it isn't text") from error
        read = records_of_lines if text.lstrip().startswith("{") else records_of_text
        records = read(text, str(path))
    if not records:
        raise RecordError(f"{path} holds no games")
    return records


def records_of(
    path: Path, kind: type[Game] | None, values: Mapping[str, str], **form: Any
) -> list[Record]:
    """The games in a file; of a history, which holds all kinds, those that are asked for.

    Parameters
    ----------
    kind : type of Game, optional
        Which game; all unless given.
    values : mapping
        Parameters that games must have, as text.
    **form
        How they were played: ``chase``, ``contest``, ``target``, ``ties``, where they are given.

    Raises
    ------
    RecordError
        It can't be read, or holds none of these.
    """
    records = read_records(path)
    if not is_history(path) or kind is None:
        return records
    found = [
        record
        for record in records
        if record.game == kind.name and _is_played(record.form, form) and _has(kind, record, values)
    ]
    if not found:
        raise RecordError(f"{path} holds no such games of {kind.name}")
    return found


def _is_played(played: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Whether a game was played as it is asked for: as it is, where nothing is asked for."""
    agrees = all(played.get(name) == value for name, value in asked.items())
    return agrees and bool(asked) == bool(played)


def _has(kind: type[Game], record: Record, values: Mapping[str, str]) -> bool:
    """Whether a game was played with these parameters, or can't be read: who reads it says why."""
    asked = create(kind, values)
    try:
        played = create(kind, record.parameters)
    except ParameterError:
        return not values
    return all(getattr(played, name) == getattr(asked, name) for name in values)
