"""Games of three or more players as documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rollwise.documents.parts import Document, game_head, number_or_none

if TYPE_CHECKING:
    from rollwise.analysis.learning import LearnedSeats
    from rollwise.analysis.thumb.seats import SeatsFrontier
    from rollwise.answer.evaluate_seats import Shares
    from rollwise.graph import StateGraph
    from rollwise.simulate.seats import Played, SeatsTournament

MOST_NAMED = 1_000  # components listed by name


def _worth(graph: StateGraph) -> str:
    """The key of the seats' results."""
    return "payoffs" if graph.lotteries.has_seat_payoffs() else "win_probabilities"


def played_document(graph: StateGraph, found: Played, exact: Shares | None) -> Document:
    """Many games of several seats, with the exact figures beside them."""
    return {
        **game_head(graph),
        "kind": "estimated",
        "policies": list(found.policies),
        "games": found.games,
        "seed": found.seed,
        "payoff_means" if graph.lotteries.has_seat_payoffs() else "win_rates": list(
            found.win_rates
        ),
        "standard_errors": list(found.standard_errors),
        "moves": found.moves,
        _worth(graph): None if exact is None else list(exact.win_probabilities),
        "error_bound": None if exact is None else number_or_none(exact.error_bound),
    }


def tournament_of_many_document(graph: StateGraph, found: SeatsTournament) -> Document:
    """The result of each policy, over all tables with it."""
    errors = found.standard_errors
    return {
        **game_head(graph),
        "policies": list(found.policies),
        "results": found.results.tolist(),
        "among": found.among.tolist(),
        "error_bound": None if found.error_bound is None else number_or_none(found.error_bound),
        "standard_errors": None if errors is None else errors.tolist(),
        "games": found.games,
        "seed": found.seed,
    }


def learned_seats_document(graph: StateGraph, found: LearnedSeats) -> Document:
    """A profile learned by self-play, and each seat's best response to it."""
    return {
        **game_head(graph),
        "games": found.games,
        "seed": found.seed,
        "explore": found.explore,
        "states_seen": found.seen,
        _worth(graph): list(found.response.win_probabilities),
        "best_responses": list(found.response.best),
        "gains": list(found.gains),
        "error_bound": number_or_none(found.response.error_bound),
    }


def thumb_of_many_document(graph: StateGraph, rules: SeatsFrontier) -> Document:
    """Rules of thumb, and the loss of each among equilibrium players."""
    return {
        **game_head(graph),
        "rules": [
            {
                "text": rule.text,
                "numbers": rule.of_search.numbers,
                "loss": rule.loss,
                "losses": list(rule.losses),
                "error_bound": number_or_none(rule.error_bound),
                "gain": rule.gain,
                "gain_bound": number_or_none(rule.gain_bound),
                "policy": rule.of_search.rule.document(graph),
            }
            for rule in rules.rules
        ],
        "scored": rules.search.scored,
        "seed": rules.search.seed,
        "searches": rules.search.searches,
        "stopped": rules.search.stopped,
        "timed_out": rules.search.timed_out,
    }
