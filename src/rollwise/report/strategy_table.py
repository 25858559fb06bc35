"""The strategy as rows that can be searched, in few enough bytes for a page.

Along one field, neighbours that have the same best action are one row ("turn 1 to
21: roll"). The field is the one that leaves fewest rows.
"""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from rollwise.plot.kinds.policy import best_classes
from rollwise.plot.words import shown_values
from rollwise.report.facts import Facts

MOST_ROWS = 40_000
MOST_SINGLE = 3_000  # up to here each position has a row


def encode(facts: Facts) -> tuple[str, int, int]:
    """The table as JSON, the number of its rows, and of those left out.

    The JSON has ``fields`` (names), ``ranged`` (which of them is a range, or -1),
    ``actions``, ``value`` (its name) and ``rows``: a list for each column.
    """
    solution = facts.solution
    graph = solution.graph
    states = np.flatnonzero(facts.choice)
    names, classes = best_classes(solution, states)
    table = graph.rows[states].astype(np.int64)
    varying = [f for f in range(table.shape[1]) if len(np.unique(table[:, f])) > 1]
    varying = varying or [0]
    shown = shown_values(solution, solution.values)[states]
    visits = facts.lengths.visits[states]
    ranged = -1
    order = np.lexsort(table[:, varying[::-1]].T)
    begins = np.arange(len(states))
    if len(states) > MOST_SINGLE:
        tried = [(*_runs(table, classes, varying, f), f) for f in varying]
        order, begins, ranged = min(tried, key=lambda found: len(found[1]))
    ends = np.append(begins[1:], len(states)) - 1
    weight = np.add.reduceat(visits[order], begins)
    kept = np.arange(len(begins))
    if len(begins) > MOST_ROWS:
        kept = np.sort(np.argsort(-weight, kind="stable")[:MOST_ROWS])
    kept = kept[np.argsort(-weight[kept], kind="stable")]  # what comes up most often first
    first, last = order[begins[kept]], order[ends[kept]]
    columns = [table[first, f].tolist() for f in varying]
    digits = 2 if solution.is_score else 1
    document = {
        "fields": [graph.columns[f] for f in varying],
        "ranged": varying.index(ranged) if ranged >= 0 else -1,
        "upto": table[last, ranged].tolist() if ranged >= 0 else [],
        "actions": names,
        "action": classes[first].tolist(),
        "value": solution.worth_name if solution.is_score else "chance to win",
        "unit": "" if solution.is_score else " %",
        "from": np.round(shown[first], digits).tolist(),
        "to": np.round(shown[last], digits).tolist() if ranged >= 0 else [],
        "cost": [] if ranged >= 0 else np.round(facts.costs[states][first], digits + 1).tolist(),
        "columns": columns,
    }
    text = json.dumps(document, separators=(",", ":")).replace("</", "<\\/")
    return text, len(kept), len(begins) - len(kept)


def _runs(
    table: NDArray[np.int64], classes: NDArray[np.int64], varying: list[int], field: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """An order of the states, and where in it runs of equal answers along a field begin."""
    keys = [field, *[f for f in reversed(varying) if f != field]]
    order = np.lexsort(table[:, keys].T)
    rows, answers = table[order], classes[order]
    others = [f for f in varying if f != field]
    new = np.ones(len(order), np.bool_)
    new[1:] = (
        np.any(rows[1:, others] != rows[:-1, others], axis=1)
        | (answers[1:] != answers[:-1])
        | (rows[1:, field] != rows[:-1, field] + 1)
    )
    return order, np.flatnonzero(new)
