"""Rules of thumb as documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rollwise.documents.parts import Document, game_head, number_or_none, spread_document

if TYPE_CHECKING:
    from rollwise.analysis.thumb.frontier import Frontier
    from rollwise.graph import StateGraph


def thumb_document(graph: StateGraph, found: Frontier) -> Document:
    """The rules of thumb of a game. A ``policy`` can be kept as a file and given as a policy."""
    return {
        **game_head(graph),
        "rules": [
            {
                "text": rule.text,
                "numbers": rule.numbers,
                "loss": rule.loss,
                "loss_first": rule.loss_first,
                "loss_second": rule.loss_second,
                "spread": spread_document(rule.spread),
                "exploitability": rule.exploitability,
                "error_bound": number_or_none(rule.error_bound),
                "exploitability_bound": number_or_none(rule.exploitability_bound),
                "policy": rule.rule.document(graph),
            }
            for rule in found.rules
        ],
        "unit": graph.view.worth_name,
        "scored": found.scored,
        "seed": found.seed,
        "searches": found.searches,
        "stopped": found.stopped,
        "timed_out": found.timed_out,
    }
