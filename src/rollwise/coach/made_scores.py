"""Scores of people: a list, or the scores of games written down."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rollwise.analysis.observed_scores import LEAST_SCORES, read_scores
from rollwise.answer.references import Policies
from rollwise.coach.agreed_game import agreed_game, title
from rollwise.coach.game_files import records_of
from rollwise.coach.game_record import RecordError
from rollwise.coach.history import is_history
from rollwise.coach.replay import replay
from rollwise.coach.table import Table
from rollwise.derive.by_score import Ints, require_points
from rollwise.machine.atomic_files import read_text
from rollwise.parameters import typed


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
        Its games are others, or were played to reach or beat a score.
    """
    if not _holds_games(path):
        return read_scores(path)
    solution, game = policies.solution, policies.game
    assert game is not None
    require_points(solution.graph)
    parameters = {name: typed(value) for name, value in game.parameters.items()}
    records = records_of(path, type(game), parameters)
    for record in records:
        played = agreed_game([record], type(game), {}) if record.game else game
        if played.made_from is not played:
            raise RecordError(
                f"{record.where}: this game was played to reach or beat a score, not for the mean"
            )
        if title(played) != title(game):
            raise RecordError(
                f"{record.where}: this is a game of {title(played)}, not of {title(game)}"
            )
    table = Table(solution, game)
    sessions = [replay(record, table) for record in records]
    made = [round(session.ledger().result) for session in sessions if session.is_over]
    if len(made) < LEAST_SCORES:
        raise RecordError(f"{path} holds {len(made)} finished games; {LEAST_SCORES} are needed")
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
