"""Whom to hurt: how the limit of a decision differs with two rivals in each other's places.

With three or more players it matters which of the others moves next. Here the limit from which
an action is best is held against the same limit where the next player and the one after have
changed places, the mover's own fields being the same.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rollwise.answer.solution import Solution
from rollwise.errors import UsageError
from rollwise.plot import Choices
from rollwise.plot.fields import require_choice, select, view
from rollwise.plot.kinds.limit import action_words, hover_text, limit_notes
from rollwise.plot.limits import Limits, find_limits
from rollwise.plot.maps import Amounts, draw_maps
from rollwise.plot.style import BLUE, RED

LIKE = "#EFEFEF"


def rival_fields(solution: Solution) -> list[tuple[int, int]]:
    """The fields of the next player, each with the same field of the one after.

    These are the first two numbers of a field that has one for each rival, or the second and
    third of one that has one for each player.

    Raises
    ------
    UsageError
        There is none.
    """
    graph = solution.graph
    names, n = list(graph.columns), graph.players
    found = []
    for prefix in dict.fromkeys(name.rpartition(".")[0] for name in names):
        size = sum(name.rpartition(".")[0] == prefix for name in names)
        if prefix and n >= 3 and size in (n - 1, n):
            first = size - n + 1
            found.append(tuple(names.index(f"{prefix}.{first + k}") for k in (0, 1)))
    if not found:
        raise UsageError(
            f"{graph.title}: the picture `rivals` is for three players or more, with a field that "
            "has a number for each rival, as rivals=(3, 5) has"
        )
    return found  # type: ignore[return-value]


def both_orders(
    solution: Solution, limits: Limits, pairs: list[tuple[int, int]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Columns that are there in both orders of the two rivals.

    Returns
    -------
    place : (n,) int64
        Places among the limits.
    other : (n,) int64
        The places of the same columns with the rivals' places changed.
    """
    table = np.delete(solution.graph.rows[limits.states].astype(np.int64), limits.field, axis=1)
    names = [c for f, c in enumerate(solution.graph.columns) if f != limits.field]
    changed = table.copy()
    for pair in pairs:
        one, two = (names.index(solution.graph.columns[f]) for f in pair)
        changed[:, [one, two]] = table[:, [two, one]]
    place = {tuple(row): k for k, row in enumerate(table.tolist())}
    other = np.array([place.get(tuple(row), -1) for row in changed.tolist()])
    both = np.flatnonzero(other >= 0)
    return both, other[both]


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """Maps of the difference, by what the two rivals have."""
    graph = solution.graph
    pairs = rival_fields(solution)
    states = select(solution, require_choice(solution, "rivals"), choices.where)
    limits = find_limits(solution, states, [f for pair in pairs for f in pair])
    places, others = both_orders(solution, limits, pairs)
    gap, there = np.zeros(graph.n_states), np.zeros(graph.n_states)
    drawn = limits.states[places]
    gap[drawn] = limits.limit[places] - limits.limit[others]
    here = np.zeros(graph.n_states)
    here[drawn], there[drawn] = limits.limit[places], limits.limit[others]
    one, two = (graph.columns[f] for f in pairs[0])
    choices = replace(choices, x=choices.x or one, y=choices.y or two)
    layout = view(solution, drawn, gap[drawn], choices, along=limits.field)
    if len(layout.axes) < 2:
        raise UsageError(f"{graph.game}: {one} and {two} don't both vary in what is to be drawn")
    name, field = action_words(solution, limits), graph.columns[limits.field]
    most = max(float(np.abs(gap[drawn]).max()), 1.0)

    def text(s: int) -> str:
        said = f"{name} from {field} {here[s]:.0f}, with the two changed from {there[s]:.0f}"
        return hover_text(solution, limits, s, said)

    return draw_maps(
        solution,
        layout,
        lambda some: gap[some],
        text,
        Amounts(
            f"{field} from which to {name}: how much higher than with the two rivals changed",
            [(0.0, BLUE), (0.5, LIKE), (1.0, RED)],
            -most,
            most,
        ),
        title=f"{graph.title}: two rivals in each other's places",
        notes=[
            *_summary(graph.rows[drawn], pairs[0], gap[drawn], (one, two)),
            *limit_notes(limits, name, field),
        ],
        label=lambda s: f"{gap[s]:+.0f}" if gap[s] else "0",
        label_note="The numbers are these differences.",
    )


def _summary(
    rows: NDArray[np.int32],
    pair: tuple[int, int],
    gap: NDArray[np.float64],
    fields: tuple[str, str],
) -> list[str]:
    """In how much of the positions the limit is higher or lower, with the next player ahead."""
    ahead = rows[:, pair[0]] > rows[:, pair[1]]
    if not ahead.any():
        return []
    later, sooner = (100 * float(np.mean(gap[ahead] * sign > 0)) for sign in (1, -1))
    return [
        f"{fields[0]} is the next player's, {fields[1]} that of the one after. Where the next has "
        f"more, the limit is higher than with the two changed in {later:.3g} % of the places, "
        f"and lower in {sooner:.3g} %; on average it is {float(gap[ahead].mean()):+z.3f}."
    ]
