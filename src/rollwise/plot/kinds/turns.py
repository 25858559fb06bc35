"""The number of turns of a game, and its winner by the number of turns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from rollwise.analysis.lengths import Floats, Lengths, Turns, lengths
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.policies import ties_in_play
from rollwise.plot import Choices
from rollwise.plot.style import BLUE, GREY, ORANGE, Picture, Sheet, axis

SHOWN = 0.999
MOST_BARS = 5_000
_WHOSE = {2: " (both players' together)", 3: " (all players' together)"}
EDGE = 0.54  # space outside the first and the last bar


def fit(solution: Solution, choices: Choices) -> None:
    """Every game has turns."""


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """Bars for each number of turns, stacked by the winner."""
    graph = solution.graph
    name, policy = "the best play", solution.policy
    if choices.policy is not None:
        name, policy = choices.policy, Policies.of(solution, any_players=True).find(choices.policy)
    ties = ties_in_play(graph, policy)
    notes = [] if ties is None else [f"T{ties.text[1:]}."]
    found = lengths(graph, policy)
    if found.unit == "rolls":
        notes.insert(0, "A roll is a move with more than one outcome.")
    return draw_lengths(solution, found, name, notes)


def _parts(graph: StateGraph, found: Lengths) -> list[tuple[str, Floats, str]]:
    """The ways a game ends, with the share of games of each length."""
    if graph.players == 1:
        parts = [("won", found.first, BLUE), ("lost", found.second, ORANGE)]
        is_won = graph.objective == "win"
        return [
            *parts,
            ("a draw", found.other, GREY) if is_won else ("the game ends", found.other, BLUE),
        ]
    if (
        graph.players > 2 or graph.lotteries.reward.any()
    ):  # the last move doesn't say who has gained
        return [("the game ends", found.chance, BLUE)]
    return [
        ("the first player wins", found.first, BLUE),
        ("the second player wins", found.second, ORANGE),
        ("no winner", found.other, GREY),
    ]


def draw_decided(graph: StateGraph, found: Turns, sure: float) -> go.Figure:
    """Bars for the first turn at which a game is decided.

    Parameters
    ----------
    found : Turns
        Distribution of this turn.
    sure : float
        The winner's chance from then on, at least.
    """
    notes = [
        f"Decided: from that turn on the winner's chance is at least {100 * sure:g} %. At least "
        f"half of the games are by turn {found.quantile_text(0.5)}, nine in ten by turn "
        f"{found.quantile_text(0.9)}."
    ]
    title = f"{graph.title}: in which turn a game is decided"
    parts = [("decided", found.chance, BLUE)]
    return _bars(
        title, notes, "turns", "turn" + _WHOSE[min(graph.players, 3)], parts, 0, _last(found)
    )


def draw_lengths(
    solution: Solution, found: Lengths, name: str, notes: Sequence[str] = ()
) -> go.Figure:
    """Bars for given lengths.

    Parameters
    ----------
    found : Lengths
    name : str
        The name of the policy.
    notes : sequence of str
        Further notes.

    Raises
    ------
    UsageError
        No game ends.
    """
    graph = solution.graph
    if not found.chance.any():
        raise UsageError(
            f"{graph.title}: no game ends with {name}, so there are no lengths to draw"
        )
    last = _last(found)
    words = [
        f"With {name}: {'more than ' if found.is_cut else ''}{found.mean:.2f} {found.unit} on "
        f"average; at least half of the games are over after {found.quantile_text(0.5)}, nine in "
        f"ten after {found.quantile_text(0.9)}, 99 in 100 after {found.quantile_text(0.99)}.",
        *notes,
    ]
    if solution.game is not None and solution.game.made_from.objective == "average":
        words.insert(
            0, "Play goes on for ever: here a game lasts until play returns to its beginning."
        )
    beyond = 1 - float(found.chance[: last + 1].sum())
    if beyond > 1e-6:
        words.append(f"{100 * beyond:.2g} % of games last longer than shown.")
    parts = [part for part in _parts(graph, found) if part[1].sum() > 0]
    whose = found.unit + _WHOSE.get(min(graph.players, 3), "")
    title = f"{graph.title}: how many {found.unit} a game takes"
    least = int(np.flatnonzero(found.chance > 0)[0])
    return _bars(title, words, found.unit, whose, parts, least, last)


def _bars(
    title: str,
    notes: list[str],
    unit: str,
    whose: str,
    parts: list[tuple[str, Floats, str]],
    least: int,
    last: int,
) -> go.Figure:
    """Bars over turns or rolls, stacked: the name, the share of games and the colour of each part.

    Parameters
    ----------
    unit, whose : str
        The counted unit, and its name on the axis.
    least, last : int
        The first and the last drawn bar.
    """
    figure = Picture()
    for label, column, colour in parts:
        figure.add_trace(
            go.Bar(
                x=np.arange(least, last + 1),
                y=100 * column[least : last + 1],
                name=label,
                marker={"color": colour, "line": {"width": 0}},
                hovertemplate=f"{label} in {unit[:-1]} %{{x}}: %{{y:.3f}} % of games"
                "<extra></extra>",
            )
        )
    whole = np.sum([column for _, column, _ in parts], axis=0)
    figure.update_layout(barmode="stack", bargap=0.1, yaxis=axis(rangemode="tozero"))
    sheet = Sheet(
        figure,
        title,
        notes,
        heights=(380, 280),
        key=[part[0] for part in parts] if len(parts) > 1 else [],
        x_title=whose,
        y_title="games (%)",
        left=70,
        seen=f"Bars: games (%) over {unit}, from {least} to {last}; the most common is "
        f"{int(whole.argmax())} with {100 * float(whole.max()):.3g} %.",
    )
    figure.update_layout(showlegend=len(parts) > 1)
    return sheet.finish_over(least, last, EDGE, (25, 8), showgrid=False)


def _last(found: Turns) -> int:
    """The last drawn turn."""
    last = found.quantile(SHOWN)
    return min(max(found.longest if last is None else last, 1), MOST_BARS)
