"""Games of three or more players as documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rollwise.documents.parts import Document, game_head, number_or_none, state_fields

if TYPE_CHECKING:
    from rollwise.analysis.learning import LearnedSeats
    from rollwise.analysis.thumb.seats import SeatsFrontier
    from rollwise.answer.advice import Advice
    from rollwise.answer.evaluate_seats import Response, Shares
    from rollwise.answer.solution import Solution
    from rollwise.graph import StateGraph
    from rollwise.many.others import OtherEquilibria
    from rollwise.simulate.seats import Played, SeatsTournament

MOST_NAMED = 1_000  # components listed by name


def _worth(graph: StateGraph) -> str:
    """The key of the seats' results."""
    return "payoffs" if graph.lotteries.has_seat_payoffs() else "win_probabilities"


def equilibrium_document(solution: Solution, others: OtherEquilibria | None = None) -> Document:
    """An equilibrium: the result of each seat, and a bound on the gain from deviating.

    Parameters
    ----------
    others : OtherEquilibria, optional
        Equilibria found besides.
    """
    graph, found = solution.graph, solution.equilibrium
    return {
        **game_head(graph),
        "start": state_fields(graph, 0),
        _worth(graph): list(found.worth),
        "error_bound": number_or_none(found.error_bound),
        "deviation_gain": number_or_none(found.deviation_gain),
        "states": graph.n_states,
        "actions": graph.n_actions,
        "outcomes": graph.n_outcomes,
        "components": len(graph.components),
        "mixing_components": found.mixing_components,
        "mixing_states": len(found.mixing),
        "ties": {
            "positions": found.ties.positions,
            "mattering": found.ties.mattering,
            "largest": found.ties.largest,
            "lowest": list(found.ties.lowest),
            "highest": list(found.ties.highest),
            "error_bound": number_or_none(found.ties.error_bound),
        },
        "unsettled": [
            state_fields(graph, int(graph.components.order[graph.components.indptr[component]]))
            for component in found.unsettled[:MOST_NAMED]
        ],
        "unsettled_components": len(found.unsettled),
        "timed_out": found.timed_out,
        **({} if others is None else {"others": others_document(others)}),
        "seconds": dict(solution.seconds),
        **({} if solution.kept_from is None else {"kept_from": solution.kept_from}),
    }


def others_document(found: OtherEquilibria) -> Document:
    """The result of a search for other equilibria."""
    return {
        "starts": found.starts,
        "seed": found.seed,
        "unsettled_starts": found.unsettled,
        "components_by_support": found.components,
        "found": [
            {
                _worth(other.found.graph): list(other.found.worth),
                "error_bound": number_or_none(other.found.error_bound),
                "deviation_gain": number_or_none(other.found.deviation_gain),
                "differing_positions": other.differing,
                "first_difference": state_fields(other.found.graph, other.first),
            }
            for other in found.others
        ],
    }


def advice_of_many_document(graph: StateGraph, advice: Advice) -> Document:
    """The value of each action of a position for each seat, and its probability."""
    return {
        **game_head(graph),
        "state": advice.state,
        _worth(graph): list(advice.seats),
        "error_bound": number_or_none(advice.seats_bound),
        "deviation_gain": number_or_none(advice.deviation_gain),
        "actions": [
            {
                "action": worth.action,
                "probability": worth.probability,
                _worth(graph): list(worth.seats),
            }
            for worth in advice.actions
        ],
    }


def shares_document(graph: StateGraph, found: Shares) -> Document:
    """The result of each seat, with a policy for each."""
    return {
        **game_head(graph),
        "policies": list(found.policies),
        _worth(graph): list(found.win_probabilities),
        "error_bound": number_or_none(found.error_bound),
    }


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


def response_of_many_document(graph: StateGraph, found: Response) -> Document:
    """The best result of one seat against one policy of all others."""
    return {
        **game_head(graph),
        "to": found.policy,
        _worth(graph): list(found.win_probabilities),
        "best_responses": list(found.best),
        "error_bound": number_or_none(found.error_bound),
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
