"""What designers ask, as documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rollwise.documents.parts import Document, game_head, number_or_none, state_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rollwise.analysis.design.difference import Difference
    from rollwise.analysis.design.tuning import Point, Tuning
    from rollwise.answer.solution import Solution


def tuning_document(game: str, fixed: Mapping[str, str], found: Tuning) -> Document:
    """The games that were tried, and the one that is nearest to the aim."""
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
    """Two games side by side, and what the strategy of the one loses in the other."""
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
        "exploitability": found.loss.exploitability,
        "error_bound": number_or_none(found.loss.error_bound),
        "unit": graph.view.worth_name,
        "changed": [
            {
                "state": state_fields(graph, int(state)),
                "old_action": graph.vocabulary.text(int(graph.action_label[before])),
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
