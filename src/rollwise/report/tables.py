"""The tables of a report: the strategy, and the policies used by people.

The strategy is a searchable table, compressed for a page: along one field, neighbours with the
same best action share a row ("turn 1 to 21: roll"). The field is the one with the fewest rows.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.solution import Solution
from rollwise.documents.model import Rows, html_of
from rollwise.errors import RollwiseError
from rollwise.plot.fields import field_text, shown_values
from rollwise.plot.kinds.policy import best_classes
from rollwise.report.facts import Facts
from rollwise.words import Narrator

MOST_ROWS = 40_000
MOST_SINGLE = 3_000  # up to here each position has a row
WIDE = 0.1  # of the range of all values: the largest range of a row with a value


def encode(facts: Facts) -> tuple[str, int, int]:
    """The table as JSON, the number of its rows, and of the omitted ones.

    The JSON has ``fields`` (names), ``texts`` (for each field the meaning of its numbers, such as
    the members of a set), ``ranged`` (the index of the field with ranges, or -1),
    ``actions``, ``value`` (its name) and ``rows``: a list for each column.
    """
    solution = facts.solution
    states = np.flatnonzero(facts.choice)
    names, classes = best_classes(solution, states)
    fields, texts, table = _columns(solution, states)
    varying = [f for f in range(table.shape[1]) if len(np.unique(table[:, f])) > 1]
    varying = varying or [0]
    shown = shown_values(solution, solution.values)[states]
    visits = facts.lengths.visits[states]
    ranged = -1
    order = np.lexsort(table[:, varying[::-1]].T)
    begins = np.arange(len(states))
    if len(states) > MOST_SINGLE:
        ranges = [f for f in varying if not texts[f]] or varying
        tried = [(*_runs(table, classes, varying, f), f) for f in ranges]
        order, begins, ranged = min(tried, key=lambda found: len(found[1]))
    ends = np.append(begins[1:], len(states)) - 1
    weight = np.add.reduceat(visits[order], begins)
    kept = np.arange(len(begins))
    if len(begins) > MOST_ROWS:
        kept = np.sort(np.argsort(-weight, kind="stable")[:MOST_ROWS])
    kept = kept[np.argsort(-weight[kept], kind="stable")]  # the most frequent first
    first, last = order[begins[kept]], order[ends[kept]]
    columns = [table[first, f].tolist() for f in varying]
    digits = 2 if solution.is_score else 1
    low, high = (np.round(shown[ends_at], digits) for ends_at in (first, last))
    # of a row with very different values, none is told
    wide = np.abs(high - low) > WIDE * np.ptp(shown)
    document = {
        "fields": [fields[f] for f in varying],
        "texts": [
            {n: texts[f][n] for n in np.unique(table[first, f]).tolist() if n in texts[f]}
            for f in varying
        ],
        "ranged": varying.index(ranged) if ranged >= 0 else -1,
        "upto": table[last, ranged].tolist() if ranged >= 0 else [],
        "actions": names,
        "action": classes[first].tolist(),
        "value": solution.worth_name if solution.is_score else "chance to win",
        "unit": "" if solution.is_score else " %",
        "from": [None if w else v for v, w in zip(low.tolist(), wide.tolist(), strict=True)],
        "to": high.tolist() if ranged >= 0 else [],
        "cost": [] if ranged >= 0 else np.round(facts.costs[states][first], digits + 1).tolist(),
        "columns": columns,
    }
    text = json.dumps(document, separators=(",", ":")).replace("</", "<\\/")
    return text, len(kept), len(begins) - len(kept)


def _columns(
    solution: Solution, states: NDArray[np.int64]
) -> tuple[list[str], list[dict[int, str]], NDArray[np.int64]]:
    """The columns of the table: names, meanings of numbers, and numbers.

    A throw of several dice is one column, of numbers that stand for its words.
    """
    graph = solution.graph
    thrown = graph.throw_columns[:-1] if graph.has_pool else graph.throw_columns
    if len(thrown) < 2:
        thrown = []
    own = [f for f in range(len(graph.columns)) if f not in thrown]
    names = [graph.columns[f] for f in own]
    table = graph.rows[states][:, own].astype(np.int64)
    texts = []
    for name, column in zip(names, table.T, strict=True):
        told = {n: field_text(solution, name, n) for n in np.unique(column).tolist()}
        texts.append({n: text for n, text in told.items() if text != str(n)})
    if thrown:
        narrator = Narrator(graph, solution.game)
        _, first, numbers = np.unique(
            graph.rows[states][:, thrown], axis=0, return_index=True, return_inverse=True
        )
        words = [narrator.thrown(graph.view[int(states[k])]) for k in first]
        texts.append({n: text.removeprefix("thrown: ") for n, text in enumerate(words)})
        names.append("throw")
        table = np.column_stack([table, numbers.reshape(-1)])
    return names, texts, table


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


def ways_to_play(
    facts: Facts,
    names: Iterable[str],
    titles: Iterable[str],
    words: str,
    cells: Callable[[str], Iterable[str]],
) -> str:
    """A table of ways to play by name, with the `cells` of each, followed by failing ones."""
    functions = {} if facts.solution.game is None else facts.solution.game.policies()
    rows, faults = [], []
    for name in names:
        about = "Any move, all equally likely."
        if name in functions:
            about = (inspect.getdoc(functions[name]) or "").partition("\n")[0]
        try:
            rows.append((name, *cells(name), about))
        except RollwiseError as error:
            faults.append(f"{name}: {error}")
    if not rows:
        return html_of(faults or ["No other way to play is written beside the rules."])
    table = Rows(("way to play", *titles, "meaning"), rows, left=("way to play", "meaning"))
    return html_of([words, table, *faults], "how each way to play does")


def policies(facts: Facts) -> str:
    """The game's policies: their results against perfect play, and against a best response."""
    solution = facts.solution
    graph, game = solution.graph, solution.game
    if game is None or not facts.choice.any():
        return ""
    if graph.players == 1:
        titles, words = _words_alone(facts)
    else:
        gains, behind = ("wins", "how many games in a hundred")
        if solution.has_stakes:
            gains, behind = ("expected payoff", "how many points a game")
        titles = [
            f"{gains}, moving first",
            f"{gains}, moving second",
            f"behind perfect play ({facts.unit})",
        ]
        words = (
            f"How each way to play does against a perfect player, and {behind} "
            "it is behind (on average of moving first and second)."
        )
        if facts.responds:
            titles.append(f"loss ({facts.unit})")
            words += " The loss is how many it is behind against its best response."
        words += facts.of_ties
    return ways_to_play(facts, facts.policy_names, titles, words + facts.of_games, facts.cells)


def _words_alone(facts: Facts) -> tuple[list[str], str]:
    solution = facts.solution
    if facts.is_average:
        return ["average", "worse by"], "The average in the long run of each way to play."
    if solution.has_stakes:
        return ["expected payoff", "worse by (points)"], "The average gain of each way to play."
    if solution.is_score:
        return ["average score", "worse by (points)"], "The average score of each way to play."
    return ["chance to win", "worse by (percentage points)"], "How often each way to play wins."
