"""The tables of a report: the strategy, and the policies that people use.

The strategy is rows that can be searched, in few enough bytes for a page. Along one field,
neighbours that have the same best action are one row ("turn 1 to 21: roll"). The field is the one
that leaves fewest rows.
"""

from __future__ import annotations

import html
import inspect
import json
from collections.abc import Callable, Iterable
from math import hypot
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.evaluation import best_response, evaluate
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.errors import RollwiseError
from rollwise.graph import win_probability
from rollwise.graph.policies import Policy
from rollwise.numbers.printed import estimated
from rollwise.plot.fields import shown_values
from rollwise.plot.kinds.policy import best_classes
from rollwise.plot.pages import marked, scrolled
from rollwise.report.facts import GAMES, SEED, Facts

if TYPE_CHECKING:
    from rollwise.report.facts import Sample

MOST_ROWS = 40_000
MOST_SINGLE = 3_000  # up to here each position has a row
MOST_RESPONDED = 200_000  # a best response in more states takes long
RANDOM = "random"


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


def ways_to_play(
    facts: Facts,
    names: Iterable[str],
    titles: Iterable[str],
    words: str,
    cells: Callable[[str], Iterable[str]],
) -> str:
    """A table of ways to play by name, with the `cells` of each; after it those that fail."""
    functions = {} if facts.solution.game is None else facts.solution.game.policies()
    rows, faults = [], []
    for name in names:
        about = "Any move, all equally likely."
        if name in functions:
            about = (inspect.getdoc(functions[name]) or "").partition("\n")[0]
        try:
            found = "".join(f"<td>{cell}</td>" for cell in cells(name))
        except RollwiseError as error:
            faults.append(f"<p>{html.escape(name)}: {html.escape(str(error))}</p>")
        else:
            about = f"<td class='text'><b>{html.escape(name)}</b><br>{marked(about)}</td>"
            rows.append(f"<tr>{about}{found}</tr>")
    if not rows:
        return "\n".join(faults) or "<p>No other way to play is written beside the rules.</p>"
    head = "".join(f"<th>{title}</th>" for title in titles)
    table = f"<tr><th class='text'>way to play</th>{head}</tr>{''.join(rows)}"
    return f"<p>{words}</p>" + scrolled(table, "how each way to play does") + "\n".join(faults)


def policies(facts: Facts) -> str:
    """How the game's policies do: against perfect play, and against who knows them."""
    solution, sample = facts.solution, facts.sample
    graph, game = solution.graph, solution.game
    if game is None or not facts.choice.any():
        return ""
    small = graph.n_states <= MOST_RESPONDED and sample is None
    if graph.players == 1:
        titles, words = _words_alone(solution)
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
        if small:
            titles.append(f"loss ({facts.unit})")
            words += " The loss is how many it is behind against an opponent who knows it."
    if sample is not None:
        seats = " in each seat" if graph.players == 2 else ""
        words += (
            f" That is estimated from {GAMES} games{seats}, seed {SEED}: behind ± stands the "
            "standard error."
        )

    def cells(name: str) -> list[str]:
        if sample is not None:
            return _estimates(sample, name)
        return _cells(facts, Policies.of(solution).find(name), small)

    names = [*game.policies(), *([RANDOM] if small or sample is not None else [])]
    return ways_to_play(facts, names, titles, words, cells)


def _words_alone(solution: Solution) -> tuple[list[str], str]:
    if solution.has_stakes:
        return ["expected payoff", "worse by (points)"], "What each way to play gains on average."
    if solution.is_score:
        return ["average score", "worse by (points)"], "What each way to play scores on average."
    return ["chance to win", "worse by (percentage points)"], "How often each way to play wins."


def _estimates(sample: Sample, name: str) -> list[str]:
    """What games by a policy came to, in the place of what is exact where the game is small."""
    answer, played = sample.answer, sample.games_of(name)
    seats = [1, -1][: len(played)]  # gains are the first player's
    means = [sign * games.mean for sign, games in zip(seats, played, strict=True)]
    errors = [games.standard_error for games in played]
    behind = abs(answer.value - means[0]) if len(played) == 1 else -sum(means) / 2
    off = errors[0] if len(played) == 1 else hypot(*errors) / 2
    if answer.is_score:
        shown = [str(estimated(*pair)) for pair in zip(means, errors, strict=True)]
        cells = [*shown, str(estimated(behind, off))]
    else:
        shown = [
            f"{estimated(100 * win_probability(mean), 50 * error)} %"
            for mean, error in zip(means, errors, strict=True)
        ]
        cells = [*shown, str(estimated(50 * behind, 50 * off))]
    return cells


def _cells(facts: Facts, policy: Policy, small: bool) -> list[str]:
    solution = facts.solution
    graph = solution.graph
    if graph.players == 1:
        value = float(evaluate(graph, policy, starts=[0]).values[0])
        worse = abs(solution.value - value)
        if solution.is_score:
            return [f"{value:z.4f}", f"{worse:.4f}"]
        return [f"{100 * win_probability(value):.2f} %", f"{50 * worse:.2f}"]
    found = evaluate(graph, policy, solution.policy, starts=[0])
    if solution.has_stakes:
        one, two = float(found.values[0]), float(found.values_second[0])
        cells = [f"{one:z.4f}", f"{two:z.4f}", f"{-(one + two) / 2:z.4f}"]
        if small:
            cells.append(f"{best_response(graph, policy, starts=[0]).exploitability():z.4f}")
        return cells
    first = 100 * float(found.win_probability[0])
    second = 100 * float(found.win_probability_second[0])
    cells = [f"{first:.2f} %", f"{second:.2f} %", f"{50 - (first + second) / 2:z.2f}"]
    if small:
        # Payoffs go from -1 to 1, so that half of them are shares of games.
        cells.append(f"{50 * best_response(graph, policy, starts=[0]).exploitability():z.2f}")
    return cells
