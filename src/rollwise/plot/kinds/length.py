"""How many turns a game takes, and who wins it when."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from rollwise.analysis.balance import Decided
from rollwise.analysis.lengths import Floats, Lengths, lengths, turns_text
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.plot import Choices
from rollwise.plot.style import BLUE, GREY, ORANGE, Picture, Sheet, axis, step

SHOWN = 0.999
MOST_BARS = 5_000
_WHOSE = {2: " (both players' together)", 3: " (all players' together)"}
EDGE = 0.54  # beyond the outer bars, and before those that aren't shown


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """Bars for each number of turns, stacked by who wins."""
    graph = solution.graph
    name, policy = "the best play", solution.policy
    if choices.policy is not None:
        name, policy = choices.policy, Policies.of(solution).find(choices.policy)
    return draw_lengths(solution, lengths(graph, policy), name)


def _parts(graph: StateGraph, found: Lengths) -> list[tuple[str, Floats, str]]:
    """How games end, and what share of them does so with each length."""
    if graph.players == 1:
        parts = [("won", found.first, BLUE), ("lost", found.second, ORANGE)]
        return [*parts, ("the game ends", found.other, BLUE)]
    if (
        graph.players > 2 or graph.lotteries.reward.any()
    ):  # the last move doesn't say who has gained
        return [("the game ends", found.chance, BLUE)]
    return [
        ("the first player wins", found.first, BLUE),
        ("the second player wins", found.second, ORANGE),
        ("nobody wins", found.other, GREY),
    ]


def draw_decided(graph: StateGraph, found: Decided, sure: float) -> go.Figure:
    """Bars for the turns from which on a game is decided.

    Parameters
    ----------
    found : Decided
        From which turn on games are decided.
    sure : float
        The winner's chance from then on, at least.
    """
    turn = found.turn
    last = _last(found)
    turns = np.arange(last + 1)
    figure = Picture()
    figure.add_trace(
        go.Bar(
            x=turns,
            y=100 * turn[: last + 1],
            marker={"color": BLUE, "line": {"width": 0}},
            hovertemplate="decided in turn %{x}: %{y:.3f} % of games<extra></extra>",
        )
    )
    notes = [
        f"Decided: from that turn on the winner's chance is at least {sure:.0%}. Half of the games "
        f"are by turn {turns_text(found.quantile(0.5), found.longest)}, nine in ten by turn "
        f"{turns_text(found.quantile(0.9), found.longest)}."
    ]
    figure.update_layout(bargap=0.1, yaxis=axis(rangemode="tozero"), showlegend=False)
    sheet = Sheet(
        figure,
        f"{graph.title}: in which turn a game is decided",
        notes,
        heights=(380, 280),
        key=[],
        x_title="turn" + _WHOSE[2],
        y_title="games (%)",
        left=70,
        seen=f"Bars: games (%) over turns, from 0 to {last}; the most common is "
        f"{int(turn.argmax())} with {100 * float(turn.max()):.3g} %.",
    )
    return _finished(sheet, 0, last)


def draw_lengths(solution: Solution, found: Lengths, name: str) -> go.Figure:
    """Bars for lengths that are at hand.

    Raises
    ------
    UsageError
        No game ends.
    """
    graph = solution.graph
    chance = found.chance
    if not chance.any():
        raise UsageError(
            f"{graph.title}: no game ends with {name}, so there are no lengths to draw"
        )
    last = _last(found)
    least = int(np.flatnonzero(chance > 0)[0])
    turns = np.arange(least, last + 1)
    figure = Picture()
    parts = [part for part in _parts(graph, found) if part[1].sum() > 0]
    for label, column, colour in parts:
        figure.add_trace(
            go.Bar(
                x=turns,
                y=100 * column[least : last + 1],
                name=label,
                marker={"color": colour, "line": {"width": 0}},
                hovertemplate=f"{label} in {found.unit[:-1]} %{{x}}: "
                "%{y:.3f} % of games<extra></extra>",
            )
        )
    notes = [
        f"With {name}: {'more than ' if found.is_cut else ''}{found.mean:.2f} {found.unit} on "
        f"average; half of the games are over after {found.quantile_text(0.5)}, nine in ten after "
        f"{found.quantile_text(0.9)}, 99 in 100 after {found.quantile_text(0.99)}."
    ]
    beyond = 1 - float(chance[: last + 1].sum())
    if beyond > 1e-6:
        notes.append(f"{100 * beyond:.2g} % of games last longer than shown.")
    figure.update_layout(barmode="stack", bargap=0.1, yaxis=axis(rangemode="tozero"))
    sheet = Sheet(
        figure,
        f"{graph.title}: how many {found.unit} a game takes",
        notes,
        heights=(380, 280),
        key=[part[0] for part in parts] if len(parts) > 1 else [],
        x_title=found.unit + _WHOSE.get(min(graph.players, 3), ""),
        y_title="games (%)",
        left=70,
        seen=f"Bars: games (%) over {found.unit}, from {least} to {last}; the most common is "
        f"{int(chance.argmax())} with {100 * float(chance.max()):.3g} %.",
    )
    figure.update_layout(showlegend=len(parts) > 1)
    return _finished(sheet, least, last)


def _last(found: Lengths | Decided) -> int:
    """The last turn that is shown."""
    last = found.quantile(SHOWN)
    return min(max(found.longest if last is None else last, 1), MOST_BARS)


def _finished(sheet: Sheet, least: int, last: int) -> go.Figure:
    """The picture with its turns below it, on wide screens and narrow ones."""
    layouts = []
    for width, ticks in ((0, 25), (400, 8)):
        across = axis(
            range=[least - EDGE, last + EDGE],
            dtick=step(least, last, ticks),
            showgrid=False,
            tick0=0,
        )
        layouts.append({"xaxis": across, "annotations": sheet.axis_titles(0, width)})
    return sheet.finish(*layouts)
