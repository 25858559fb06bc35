"""Second aims, ranges over all optimal policies, and frontiers, as documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rollwise.documents.parts import Document, game_head, number_or_none, state_fields

if TYPE_CHECKING:
    from rollwise.analysis.frontier import Frontier
    from rollwise.analysis.second_aims import ScoreRanges, SecondAims
    from rollwise.answer.optimal_set import OptimalSet, Range
    from rollwise.answer.solution import Solution
    from rollwise.graph import StateGraph


def aims_document(found: SecondAims) -> list[Document]:
    """What each second aim comes to."""
    return [
        {"aim": aim, "value": worth.value, "error_bound": number_or_none(worth.error_bound)}
        for aim, worth in zip(found.aims, found.values, strict=True)
    ]


def ranges_document(found: Sequence[Range]) -> list[Document]:
    """The least and the most that quantities can be under optimal policies."""
    return [{**one._asdict(), "error_bound": number_or_none(one.error_bound)} for one in found]


def optimal_document(
    solution: Solution, every: OptimalSet, aims: SecondAims, ranges: Sequence[Range]
) -> Document:
    """Where optimal policies differ.

    Parameters
    ----------
    every : OptimalSet
        All optimal policies.
    aims : SecondAims
        Those that are left after second aims, of which there may be none.
    ranges : sequence of Range
        Over what is left.
    """
    graph = solution.graph
    return {
        **game_head(graph),
        "start": state_fields(graph, 0),
        "value": solution.value,
        "win_probability": solution.win_probability,
        "error_bound": number_or_none(solution.error_bound),
        "reached_states": every.graph.n_states,
        "tied_states": every.n_ties,
        "loss_bound": number_or_none(every.loss),
        "then": aims_document(aims),
        "ranges": ranges_document(ranges),
    }


def against_document(policy: str, worth: tuple[Range, Range]) -> Document:
    """What optimal policies are worth against another: values, in the optimal player's eyes."""
    seats = {
        seat: {"least": one.least, "most": one.most, "error_bound": number_or_none(one.error_bound)}
        for seat, one in zip(("first", "second"), worth, strict=True)
    }
    return {"policy": policy, **seats}


def score_ranges_document(found: ScoreRanges) -> Document:
    """How likely each final score is, at least and at most, under optimal policies."""
    every = [*found.rows.values(), *found.at_most.values()]
    return {
        "loss_bound": number_or_none(found.loss),
        "error_bound": number_or_none(max(one.error_bound for one in every)),
        "variance": {
            "least": found.variance.least,
            "most": found.variance.most,
            "error_bound": number_or_none(found.variance.error_bound),
        },
        "rows": [
            {
                "value": score,
                "least": one.least,
                "most": one.most,
                "at_most_least": found.at_most[score].least,
                "at_most_most": found.at_most[score].most,
            }
            for score, one in found.rows.items()
        ],
    }


def frontier_document(graph: StateGraph, found: Frontier) -> Document:
    """The frontier of the mean score against an aim."""
    return {
        **game_head(graph),
        "aim": found.aim,
        "gap": found.gap,
        "corners": [
            {
                "mean": corner.mean,
                "value": corner.chance,
                "mean_bound": corner.mean_bound,
                "error_bound": corner.chance_bound,
            }
            for corner in found.corners
        ],
    }
