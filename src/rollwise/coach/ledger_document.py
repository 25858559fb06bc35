"""A ledger as a document: plain data, for tables and JSON alike."""

from __future__ import annotations

import math
from typing import Any

from rollwise.coach.grades import grade, grade_counts
from rollwise.coach.ledger import Account
from rollwise.coach.session import Session


def ledger_document(session: Session, seat: int = 0) -> dict[str, Any]:
    """Everything about a game so far, in the eyes of a seat.

    ``start``, ``result``, luck and skill are in units of value: 1 a win and -1 a
    loss, or points.
    """
    ledger = session.ledger(seat)
    graph = session.table.graph
    moves = [move_document(session, entry, seat) for entry in session.accounts]
    costly = [m for m in moves if m["cost"] > 0 and m["mistake"]]
    decisions = [entry for entry in session.accounts if entry.is_choice and entry.seat == seat]
    cost = math.fsum(entry.cost for entry in decisions)
    return {
        "game": graph.game,
        "parameters": dict(graph.parameters),
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


def move_document(session: Session, entry: Account, seat: int = 0) -> dict[str, Any]:
    """One move, in the eyes of a seat."""
    table, sign = session.table, 1.0 if seat == 0 else -1.0
    texts = table.graph.action_texts(entry.state)
    first = table.actions(entry.state).start
    return {
        "move": entry.number + 1,
        "line": entry.line or None,
        "player": session.names[entry.seat],
        "position": table.position(entry.state),
        "action": texts[entry.action - first],
        "dice": list(entry.faces),
        "outcome": table.outcome_text(entry.action, entry.outcome),
        "choice": entry.is_choice,
        "mistake": entry.is_mistake,
        "best": texts[entry.best - first],
        "cost": entry.cost,
        "grade": grade(table.solution, entry.cost),
        "skill": sign * entry.skill,
        "luck": sign * entry.luck,
    }
