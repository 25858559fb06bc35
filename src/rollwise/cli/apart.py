"""The way from a command to the answers of games with hidden dice or simultaneous choices."""

from __future__ import annotations

from typing import Any

from rollwise.game import Game


def answered_apart(game: Game, command: str, *own: Any, **refused: Any) -> bool:
    """Whether a game has hidden dice or simultaneous choices, and was answered for that.

    Parameters
    ----------
    command : str
        The function of `rollwise.cli.hidden_games` that answers.
    *own
        Its arguments after the game.
    **refused
        Options that aren't for such games.
    """
    if game.is_hidden:
        from rollwise.cli import hidden_games

        hidden_games.refuse_options(game, **refused)
        getattr(hidden_games, command)(game, *own)
    return game.is_hidden
