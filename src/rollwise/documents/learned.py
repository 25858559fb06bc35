"""What was learned by self-play, and how it compares with the exact solution, as documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rollwise.documents.parts import Document, game_head, number_or_none, state_fields
from rollwise.numbers.printed import CHANCE_ROUNDING

if TYPE_CHECKING:
    from rollwise.analysis.learning import Assessment, LearnedAgainst
    from rollwise.analysis.replicates import Point, Replicates
    from rollwise.answer.solution import Solution
    from rollwise.learn import Learned


def learned_document(
    learned: Learned,
    assessed: Assessment | None = None,
    checkpoints: Sequence[Assessment] | None = None,
) -> Document:
    """What was learned, and what of it is right.

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


def replicates_document(found: Replicates) -> Document:
    """What independent learners came to: each figure over all of them, and of each."""
    document: Document = {
        **game_head(found.graph),
        "method": found.method,
        "kind": "estimated",
        "games": found.games[-1],
        "explore": found.explore,
        "seed": found.seed,
        "replicates": len(found.each),
        "states": found.graph.n_states,
        "points": [
            {
                "games": games,
                "figures": {
                    name: {part: number_or_none(x) for part, x in figure._asdict().items()}
                    for name, figure in found.spreads(number).items()
                },
            }
            for number, games in enumerate(found.games)
        ],
        "error_bound": number_or_none(found.bound),
        "each": [
            {"seed": one.seed, "points": [_point(point) for point in one.points]}
            for one in found.each
        ],
        "stopped": found.stopped,
    }
    if found.solution is not None:
        value, bound = start_worth(found.solution)
        document["exact_start"] = {"value": value, "error_bound": number_or_none(bound)}
    return document


def start_worth(solution: Solution) -> tuple[float, float]:
    """What the start is worth as learners estimate it, a chance or points, and how exactly."""
    chance, bound = solution.win_probability, float(solution.error_bounds[0])
    return (solution.value, bound) if chance is None else (chance, bound / 2 + CHANCE_ROUNDING)


def _point(point: Point) -> Document:
    figures = {name: number_or_none(x) for name, x in point.figures.items()}
    return {"games": point.games, **figures, "error_bound": number_or_none(point.bound)}


def against_document(found: LearnedAgainst) -> Document:
    """What a learned policy gets from the one that it was learned against, and what is possible."""
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
    """Every position where what was learned isn't right, those of good play first."""
    import numpy as np

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
