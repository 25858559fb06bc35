"""Simulated games and tournaments as documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rollwise.documents.parts import Document, game_head, number_or_none, ties_document

if TYPE_CHECKING:
    from rollwise.game import Game
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Ties
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
    """A mean over games, its interval, and the exact value where that is known."""
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


def _length(length: Length) -> Document:
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
        "turns": _length(side.turns),
        "moves": _length(side.moves),
    }
