"""Documents of simulated, learned and played games, and of game lengths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from rollwise.documents.design import figure
from rollwise.documents.parts import (
    Document,
    game_head,
    number_or_none,
)
from rollwise.documents.policies import mean_of

if TYPE_CHECKING:
    from rollwise.analysis.length_range import LengthRange, Spread
    from rollwise.answer.layer_lengths import Bracket
    from rollwise.coach.drill import Question
    from rollwise.coach.ledger import Account
    from rollwise.coach.review import PlayerReview
    from rollwise.coach.session import Session
    from rollwise.coach.table import Table
    from rollwise.coach.tally import Tally
    from rollwise.game import Game


def length_document(game: Game, found: LengthRange, seed: int | None = None) -> Document:
    """The expected moves of a play for each aim of its players, and their spread."""
    return {
        **game_head(game),
        "policy": found.policy or None,
        "unit": "moves",
        "seed": seed,
        "lengths": [
            {
                "aim": length.aim,
                "words": found.words(length),
                **_bracket(length.bracket),
                **_moves(length.moves),
                "endless": length.endless,
                "played": mean_of(length.played),
            }
            for length in found.lengths
        ],
        "score": None if found.score is None else _moves(found.score),
        "timed_out": found.timed_out,
    }


def _bracket(bracket: Bracket | None) -> Document:
    if bracket is None:
        return {"low": None, "high": None}
    return {"low": bracket.low, "high": number_or_none(bracket.high)}


def _moves(spread: Spread | None) -> Document:
    if spread is None:
        return {"mean": None, "standard_deviation": None}
    return {
        "mean": figure(spread.mean),
        "standard_deviation": figure(spread.deviation),
    }


def ledger_document(session: Session, seat: int = 0) -> Document:
    """Everything about a game so far, in the eyes of a seat.

    ``start``, ``result``, luck and skill are in units of value: 1 a win and -1 a
    loss, or points.
    """
    from rollwise.coach.grades import grade_counts

    ledger = session.ledger(seat)
    moves = [move_document(session, entry, seat) for entry in session.accounts]
    costly = [m for m in moves if m["cost"] > 0 and m["mistake"]]
    decisions = [entry for entry in session.accounts if entry.is_choice and entry.seat == seat]
    cost = math.fsum(entry.cost for entry in decisions)
    return {
        **game_head(session.table.graph),
        "player": session.names[seat],
        "over": session.is_over,
        "seed": session.seed,
        "start": ledger.start,
        "result": ledger.result,
        "luck": ledger.total_luck,
        "skill": ledger.total_skill,
        "luck_by_mover": {"own": ledger.luck[0], "other": ledger.luck[1]},
        "skill_by_mover": {"own": ledger.skill[0], "other": ledger.skill[1]},
        "error_bound": session.table.solution.error_bound,
        "decisions": len(decisions),
        "cost_per_decision": cost / len(decisions) if decisions else 0.0,
        "grades": grade_counts(session.table.solution, decisions),
        "mistakes": sorted(costly, key=lambda move: -move["cost"]),
        "moves": moves,
    }


def move_document(session: Session, entry: Account, seat: int = 0) -> Document:
    """One move, in the eyes of a seat."""
    from rollwise.coach.grades import grade

    table, view = session.table, session.table.graph.view
    return {
        "move": entry.number + 1,
        "line": entry.line or None,
        "player": session.names[entry.seat],
        "position": table.position(entry.state),
        "action": view.action(entry.action).distinct_name,
        "dice": list(entry.faces),
        "outcome": table.outcome_text(entry.action, entry.outcome),
        "choice": entry.is_choice,
        "mistake": entry.is_mistake,
        "best": view.action(entry.best).distinct_name,
        "cost": entry.cost,
        "grade": grade(table.solution, entry.cost),
        "skill": entry.skill_of(seat),
        "luck": entry.luck_of(seat),
    }


def series_document(sessions: Sequence[Session], asked: int, tallies: Sequence[Tally]) -> Document:
    """A series of games: the tally of each player, and the ledgers."""
    table = sessions[0].table
    return {
        **game_head(table.graph),
        "games_asked": asked,
        "games": sum(session.is_over for session in sessions),
        "error_bound": table.solution.error_bound,
        "players": [_tally(one) for one in tallies],
        "ledgers": [ledger_document(session) for session in sessions],
    }


def _tally(found: Tally) -> Document:
    rate = found.win_rate
    counted: Document = {"wins": None, "draws": None, "losses": None}
    if rate is not None and rate.wins is not None:
        losses = found.games - rate.wins - rate.draws
        counted = {"wins": rate.wins, "draws": rate.draws, "losses": losses}
    return {
        "player": found.player,
        "games": found.games,
        **counted,
        "win_rate": mean_of(rate),
        "score": mean_of(found.score),
        "start": found.start,
        "loss": mean_of(found.loss),
        "luck": found.luck,
    }


def review_document(
    table: Table, sessions: Sequence[Session], players: Sequence[PlayerReview]
) -> Document:
    """Written games together, and the ledger of each."""
    return {
        **game_head(table.graph),
        "games": len(sessions),
        "error_bound": table.solution.error_bound,
        "players": [{**asdict(one), "cost_per_decision": one.cost_per_decision} for one in players],
        "ledgers": [ledger_document(session) for session in sessions],
    }


def drill_document(table: Table, questions: Sequence[Question]) -> Document:
    """Positions with a mistake, the worst first."""
    from rollwise.coach.grades import grade

    view, solution = table.graph.view, table.solution
    best = solution.best_actions_in(np.array([one.state for one in questions], np.int64))
    return {
        **game_head(table.graph),
        "error_bound": solution.error_bound,
        "positions": [
            {
                "position": table.position(one.state),
                "times": one.times,
                "action": view.action(one.action).distinct_name,
                "cost": one.cost,
                "grade": grade(solution, one.cost),
                "best": view.action(int(action)).distinct_name,
            }
            for one, action in zip(questions, best, strict=True)
        ],
    }
