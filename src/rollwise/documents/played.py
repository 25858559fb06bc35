"""Documents of simulated, learned and played games, and of game lengths."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from rollwise.documents.design import certified_document
from rollwise.documents.parts import (
    Document,
    game_head,
    number_or_none,
    state_fields,
    ties_document,
)

if TYPE_CHECKING:
    from rollwise.analysis.learning import Assessment, LearnedAgainst
    from rollwise.analysis.length_range import LengthRange, Spread
    from rollwise.answer.layer_lengths import Bracket
    from rollwise.coach.drill import Question
    from rollwise.coach.ledger import Account
    from rollwise.coach.review import PlayerReview
    from rollwise.coach.session import Session
    from rollwise.coach.table import Table
    from rollwise.coach.tally import Tally
    from rollwise.game import Game
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Ties
    from rollwise.learn import Learned
    from rollwise.simulate import Estimate, Length, Match, Side, ToldMove, Tournament


def match_document(game: StateGraph | Game, match: Match, ties: Ties | None) -> Document:
    """Many games between policies, with the exact figures beside the simulated ones."""
    return {
        **game_head(game),
        "kind": "estimated",
        "policy": match.policy,
        "against": match.against,
        "games": match.games,
        "games_asked": match.asked,
        "seed": match.seed,
        "win_rate": estimate_document(match.win_rate),
        **({} if match.payoff is None else {"payoff": estimate_document(match.payoff)}),
        "sides": [_side(side) for side in match.sides],
        "disagreements": match.disagreements(),
        "notes": list(match.notes),
        "equally_good": ties_document(ties),
    }


def told_games_document(graph: StateGraph, games: Mapping[int, Sequence[ToldMove]]) -> Document:
    """Games move by move, by their seeds: all of them as `plays`, and the first one besides."""
    plays = [
        {"seed": seed, "moves": [asdict(move) for move in moves]} for seed, moves in games.items()
    ]
    return {**game_head(graph), **plays[0], "plays": plays}


def tournament_document(graph: StateGraph, found: Tournament, ties: Ties | None) -> Document:
    """Every policy against every other."""
    return {
        **game_head(graph),
        "kind": "certified" if found.exact else "estimated",
        "games": found.games,
        "seed": found.seed,
        "policies": list(found.policies),
        "standings": [
            {"policy": entry.policy, "result": entry.result, "error": number_or_none(entry.error)}
            for entry in found.standings
        ],
        "first": _matrix(found.first),
        "both": _matrix(found.both),
        "errors": _matrix(found.errors),
        "equally_good": ties_document(ties),
    }


def _matrix(values: Any) -> list[list[float | None]] | None:
    return None if values is None else [[number_or_none(v) for v in row] for row in values]


def estimate_document(estimate: Estimate | None) -> Document | None:
    """A mean over games, its interval, and the exact value if known."""
    if estimate is None:
        return None
    low, high = estimate.interval
    return {
        "mean": estimate.mean,
        "standard_error": number_or_none(estimate.standard_error),
        "interval_95": [number_or_none(low), number_or_none(high)],
        "games": estimate.games,
        "exact": number_or_none(estimate.exact),
        "exact_bound": number_or_none(estimate.exact_bound),
    }


def _played_length(length: Length) -> Document:
    return {
        **(estimate_document(length.estimate) or {}),
        "standard_deviation": length.deviation,
        "shortest": length.shortest,
        "median": length.median,
        "longest": length.longest,
    }


def _side(side: Side) -> Document:
    scores = side.scores
    return {
        "first": side.first,
        "second": side.second or None,
        "games": side.games,
        "wins": side.wins,
        "draws": side.draws,
        "losses": side.losses,
        "win_rate": estimate_document(side.win_rate),
        "score": estimate_document(side.score),
        "scores": None if scores is None else [[score, n] for score, n in scores.items()],
        "turns": _played_length(side.turns),
        "moves": _played_length(side.moves),
    }


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
                "played": estimate_document(length.played),
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
        "mean": certified_document(spread.mean),
        "standard_deviation": certified_document(spread.deviation),
    }


def learned_document(
    learned: Learned,
    assessed: Assessment | None = None,
    checkpoints: Sequence[Assessment] | None = None,
) -> Document:
    """Learned actions and estimates, and their comparison with the exact solution.

    Parameters
    ----------
    assessed : Assessment, optional
        The learned result against the exact one.
    checkpoints : sequence of Assessment, optional
        The same along the way.
    """
    graph = learned.graph
    document: Document = {
        **game_head(graph),
        "method": learned.method,
        "kind": "estimated",
        "games": learned.games,
        "explore": learned.explore,
        "seed": learned.seed,
        "workers": learned.workers,
        "states": graph.n_states,
        "states_seen": int((learned.seen > 0).sum()),
        "rows": json.loads(learned.table().write_json()),
    }
    actions = learned.grid(learned.labels)
    if actions is not None:
        document["action_grid"] = actions.tolist()
        rates = learned.grid(learned.estimates)
        assert rates is not None
        document["estimate_grid"] = [[number_or_none(v) for v in row] for row in rates.tolist()]
    if assessed is not None:
        document["compare"] = {**_figures(assessed), "positions": wrong_positions(assessed)}
    if checkpoints is not None:
        document["checkpoints"] = [_figures(point) for point in checkpoints]
    return document


def learned_against_document(found: LearnedAgainst) -> Document:
    """The result of a learned policy against its opponent, and the result of a best response."""
    return {
        "policy": found.against,
        "gets": found.gets.value,
        "gets_bound": number_or_none(found.gets.bound),
        "best_response": found.best.value,
        "best_response_bound": number_or_none(found.best.bound),
    }


def _figures(assessed: Assessment) -> Document:
    document: Document = {
        "games": assessed.learned.games,
        "weighted_error": number_or_none(assessed.weighted_error),
        "optimal_share": assessed.optimal_share,
        "weighted_optimal_share": assessed.weighted_optimal_share,
        "loss": assessed.loss,
        "loss_bound": number_or_none(assessed.loss_bound),
        "reasons": assessed.reason_counts(),
        "frequent_positions": int(assessed.frequent.sum()),
    }
    for name, recent in (("within_3_errors", False), ("recent_within_3_errors", True)):
        found = assessed.deviations(recent)
        document[name] = float((found <= 3).mean()) if len(found) else None
    return document


def wrong_positions(assessed: Assessment) -> list[Document]:
    """The positions with a wrong learned action, positions of good play first."""
    from rollwise.analysis.learning import REASONS

    learned, reference = assessed.learned, assessed.reference
    graph = learned.graph
    wrong = np.flatnonzero(assessed.reasons >= 0)
    wrong = wrong[np.argsort(-reference.visits[wrong], kind="stable")]
    best = reference.solution.best_actions
    rows = []
    for s in wrong.tolist():
        action = int(learned.best_actions[s])
        rows.append(
            {
                "state": state_fields(graph, s),
                "reason": REASONS[assessed.reasons[s]],
                "learned": None if action < 0 else graph.view.action(action).name,
                "best": graph.view.action(best[s]).name,
                "cost": number_or_none(float(assessed.costs[s])),
                "visits": int(learned.seen[s]),
                "visits_a_game": float(reference.visits[s]),
            }
        )
    return rows


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
        "win_rate": estimate_document(rate),
        "score": estimate_document(found.score),
        "start": found.start,
        "loss": estimate_document(found.loss),
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
