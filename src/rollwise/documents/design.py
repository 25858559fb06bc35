"""Questions about a whole game, as documents: balance, changes of rules, rules of thumb."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rollwise.documents.parts import (
    Document,
    game_head,
    number_or_none,
    state_fields,
    ties_document,
)
from rollwise.documents.policies import spread_of
from rollwise.graph.policies import ties_in_play

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rollwise.analysis.balance import Balance
    from rollwise.analysis.difference import Difference
    from rollwise.analysis.exploit import Exploitation, Response
    from rollwise.analysis.handicap import Handicap, Head
    from rollwise.analysis.played import Played
    from rollwise.analysis.tuning import Point, Tuning
    from rollwise.answer.references import Policies
    from rollwise.answer.solution import Solution
    from rollwise.graph import StateGraph
    from rollwise.simulate.lengths import Certified


def tuning_document(game: str, fixed: Mapping[str, str], found: Tuning) -> Document:
    """The games of a tuning run, and the game nearest to the aim."""
    return {
        "game": game,
        "parameters": dict(fixed),
        "measure": found.aim.measure,
        "goal": found.aim.goal,
        "reached": found.reached,
        "best": _point(found.best),
        "points": [_point(point) for point in found.points],
        "stopped": found.stopped,
    }


def _point(point: Point) -> Document:
    return {
        "parameters": dict(point.parameters),
        "amount": point.amount,
        "error_bound": number_or_none(point.error_bound),
    }


def difference_document(found: Difference, limit: int | None = None) -> Document:
    """Two games side by side, and the loss of the old game's strategy in the new one."""
    graph = found.new.graph
    return {
        "old": _answer(found.old),
        "new": _answer(found.new),
        "states_in_both": found.in_both,
        "states_changed": len(found.changed),
        "states_changed_in_play": found.in_play,
        "loss": found.loss.loss,
        "loss_first": found.loss.first,
        "loss_second": found.loss.second,
        "spread": spread_of(found.loss.spread),
        "exploitability": found.loss.exploitability,
        "error_bound": number_or_none(found.loss.error_bound),
        "unit": graph.view.worth_name,
        "changed": [
            {
                "state": state_fields(graph, int(state)),
                "old_action": found.old.graph.vocabulary.text(int(graph.action_label[before])),
                "new_action": graph.vocabulary.text(int(graph.action_label[after])),
                "cost": float(cost),
            }
            for state, before, after, cost in zip(
                found.changed[:limit], found.before, found.after, found.costs, strict=False
            )
        ],
    }


def _answer(solution: Solution) -> Document:
    graph = solution.graph
    value = float(solution.value)
    return {
        **game_head(graph),
        "positions": graph.n_positions,
        "value": value,
        "win_probability": graph.view.win_probability(value),
        "error_bound": number_or_none(float(solution.error_bounds[0])),
    }


def balance_document(found: Balance, played: Played | None = None) -> Document:
    """The figures of a game; each with its proved error bound, or none where it has none."""
    from rollwise.analysis.balance import QUANTILES

    solution, chosen, drama = found.solution, found.decisions, found.drama
    graph = solution.graph
    lasts, decided = found.lengths, None if drama is None else drama.decided
    return {
        **game_head(graph),
        "positions": graph.n_positions,
        "unit": graph.view.worth_name,
        "value": certified_document(found.value),
        "win_probability": graph.view.win_probability(found.value.value),
        "luck": certified_document(found.luck),
        "edge": found.edge,
        "equally_good": ties_document(ties_in_play(solution.graph, solution.policy)),
        "turns": certified_document(found.turns),
        "moves": certified_document(found.moves),
        "length": {
            "unit": lasts.unit,
            "quantiles": {str(q): lasts.quantile(q / 100) for q in QUANTILES},
            "chances": lasts.chance.tolist(),
            "longer": lasts.tail,
        },
        "decisions": {
            "positions": chosen.positions,
            "positions_that_matter": chosen.matter,
            "in_a_game": certified_document(chosen.in_a_game),
            "that_matter_in_a_game": certified_document(chosen.matter_in_a_game),
            "threshold": chosen.threshold,
            "never_best": list(chosen.never_best),
            "options": [option._asdict() for option in chosen.options],
        },
        "draws": None if drama is None else certified_document(drama.draws),
        "lead_changes": None if drama is None else certified_document(drama.lead_changes),
        "comebacks": None if drama is None else certified_document(drama.comebacks),
        "decided": None
        if decided is None
        else {
            "mean_turn": decided.mean,
            "quantiles": {str(q): decided.quantile(q / 100) for q in QUANTILES},
            "chances": decided.turn.tolist(),
            "later": decided.later,
        },
        "skill": None
        if found.skill is None
        else {
            "share": certified_document(found.skill.share),
            "levels": list(found.skill.levels),
            "means": found.skill.means.tolist(),
            "against_best": found.skill.against_best,
            "error_bound": number_or_none(found.skill.error_bound),
        },
        "rules": None
        if found.rules is None
        else [
            {
                "numbers": rule.numbers,
                "loss": rule.loss,
                "spread": spread_of(rule.spread),
                "error_bound": number_or_none(rule.error_bound),
                "text": rule.text,
            }
            for rule in found.rules.rules
        ],
        "played": None if played is None else _played(played),
    }


def _played(played: Played) -> Document:
    return {
        "games": played.games,
        "seeds": list(played.seeds),
        "figures": [
            {
                "name": figure.name,
                "exact": figure.exact,
                "error_bound": number_or_none(figure.error_bound),
                "samples": [sample._asdict() for sample in figure.samples],
                "standard_errors_off": figure.furthest,
            }
            for figure in played.figures
        ],
        "disagreements": played.disagreements(),
    }


def certified_document(found: Certified) -> Document:
    """A figure with a certified error bound."""
    return {"value": found.value, "error_bound": number_or_none(found.bound)}


SEATS = ("first", "second", "mean")


def handicap_document(graph: StateGraph, found: Handicap) -> Document:
    """The worth of each head start, and the nearest ones to an even game."""
    return {
        **game_head(graph),
        "field": found.field,
        "other": found.other,
        "policy": found.policy,
        "against": found.against,
        "unit": graph.view.worth_name,
        "even": found.even,
        "nearest": {which: _points(found.nearest(which)) for which in SEATS},
        "heads": [
            {"points": head.points, **{which: _head(head, which) for which in SEATS}}
            for head in found.heads
        ],
    }


def _points(head: Head | None) -> int | None:
    return None if head is None else head.points


def _head(head: Head, which: str) -> Document | None:
    amount = getattr(head, which)
    return None if amount is None else certified_document(amount)


def exploitation_document(
    policies: Policies, player: str, games: int, risk: float, found: Exploitation, limit: int
) -> Document:
    """The choices of a player, and the responses to them with gain and risk."""
    from rollwise.analysis.exploit import differences

    graph = policies.graph
    states, actions, gains = differences(policies, found)
    labels = graph.action_label
    usual = policies.solution.best_actions
    return {
        **game_head(graph),
        "player": player,
        "games": games,
        "decisions": found.friend.decisions,
        "states": found.friend.states,
        "unit": graph.view.worth_name,
        "risk_allowed": risk,
        "optimal": {**_response(found.optimal), "likely": list(found.likely_optimal)},
        "best": {**_response(found.best), "likely": list(found.likely)},
        "tried": [_response(one) for one in found.responses],
        "states_that_differ": len(states),
        "differences": [
            {
                "state": state_fields(graph, state),
                "optimal": graph.vocabulary.text(int(labels[usual[state]])),
                "best": graph.vocabulary.text(int(labels[action])),
                "gain": gain,
            }
            for state, action, gain in zip(
                states[:limit].tolist(), actions.tolist(), gains.tolist(), strict=False
            )
        ],
    }


def _response(found: Response) -> Document:
    return {
        "trust": found.trust,
        "gain": certified_document(found.gain),
        "promise": certified_document(found.promise),
        "risk": certified_document(found.risk),
    }
