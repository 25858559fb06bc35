"""How a reader gets the same answer again."""

from __future__ import annotations

import inspect
from pathlib import Path

from rollwise.errors import UnknownGame
from rollwise.game import Game
from rollwise.games import find_installed
from rollwise.graph import title_of


def command(game: Game) -> str | None:
    """What to type for this report, or None where the rules stand in no file.

    A game from a file is named by that file: from the current folder, or by its name alone,
    since a reader keeps it in a place of their own.
    """
    plain = game.base_game
    name = _reference(plain)
    if name is None:
        return None
    words = ["rollwise report", title_of(name, plain.parameters)]
    for option, value in game.form.items():
        words.append(f"--{option}" if value is True else f"--{option} {value}")
    return " ".join(words)


def _reference(game: Game) -> str | None:
    cls = type(game)
    try:
        installed = find_installed(cls.name)
        if installed is cls or type(installed(**game.parameters)) is cls:  # or that for more
            return cls.name
    except UnknownGame:
        pass
    try:
        file = Path(inspect.getfile(cls)).resolve()
    except (OSError, TypeError):
        return None
    if not file.is_file():
        return None
    here = Path.cwd().resolve()
    shown = file.relative_to(here) if file.is_relative_to(here) else Path(file.name)
    return f"{shown.as_posix()}:{cls.__name__}"
