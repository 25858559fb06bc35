"""A learner's progress, and the positions with a wrong learned action."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from rollwise.analysis.learning import loss_of
from rollwise.answer.solution import Solution
from rollwise.learn.learned import Learned
from rollwise.learn.learner import Learner
from rollwise.numbers.printed import how_many
from rollwise.plot import Choices
from rollwise.plot.fields import (
    Hover,
    require_choice,
    select,
    shown_costs,
    shown_values,
    view,
    wants_boards,
)
from rollwise.plot.lines import Line, draw_lines
from rollwise.plot.maps import Classes, draw_maps
from rollwise.plot.style import BLUE, ORANGE, RED, axis, lettering

GAMES = 200_000
SEED = 1
CLOSE = 1.0  # largest cost of a small mistake, in hundredths of the range of values
COLOURS = ("#DDDDDD", BLUE, ORANGE, RED)
CURVE, GAP = 210, 108  # height of the curve, and of the space between it and the maps


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """Maps of right and wrong, with the learning curve beneath."""
    graph = solution.graph
    states = select(solution, require_choice(solution, "learning"), choices.where)
    games, losses, learned = learn_curve(solution, choices.games or GAMES)
    classes = verdicts(solution, learned)
    layout = view(solution, states, classes[states], choices)
    hover = Hover(solution)
    worth = shown_values(solution, learned.values)
    unit = "points" if solution.is_score else "percentage points"

    def text(s: int) -> str:
        lines = []
        for action in graph.view[s].actions:
            if learned.visits[action]:
                visits = how_many(int(learned.visits[action]), "visit")
                seen = f"{worth[action]:z.2f} after {visits}"
                lines.append(f"{action}, learned: {seen}")
        return hover(s, "<br>".join(lines) or "never seen by the learner")

    right = 100 * float(np.mean(classes[states] == 1))
    seen = classes[states] > 0
    right_seen = 100 * float(np.mean(classes[states][seen] == 1)) if seen.any() else 0.0
    notes = [
        f"After {how_many(learned.games, 'game')} with itself (explore {learned.explore:g}, seed "
        f"{learned.seed}) the learner is right in {right:.1f} % of the positions drawn, and in "
        f"{right_seen:.1f} % of those it has seen."
    ]
    most = small_cost(solution)
    one = unit.removesuffix("s") if most == 1 else unit
    small = f"wrong, costs up to {most:.2g} {one}"
    names = ("never seen", "right", small, "wrong, costs more")
    title = f"{graph.title}: learned against exact"
    loss = f"loss ({unit})"
    if graph.players == 2:
        notes.append("The loss is the gain of a best response to the learned policy.")
    if len(layout.axes) < 2 or wants_boards(solution, states, choices):
        return draw_lines(
            [Line("loss", games, losses, BLUE)],
            title=title,
            notes=notes,
            x_title="games learned from",
            y_title=loss,
            baseline=True,
        )
    figure = draw_maps(
        solution,
        layout,
        lambda some: classes[some],
        text,
        Classes(names, COLOURS),
        title=title,
        notes=notes,
    )
    figure.add_trace(
        go.Scatter(
            x=games,
            y=losses,
            xaxis="x99",
            yaxis="y99",
            mode="lines+markers",
            line={"color": BLUE, "width": 2},
            showlegend=False,
            hovertemplate="after %{x:,} games: %{y:.3f}<extra></extra>",
        )
    )
    return _beneath(figure, loss)


def learn_curve(solution: Solution, games: int) -> tuple[list[int], list[float], Learned]:
    """The losses of the learned policy along the way, and the result of all games.

    Losses are in percentage points or points, see `rollwise.analysis.learning.loss_of`.
    """
    graph = solution.graph
    learner = Learner(graph, seed=SEED)
    marks = sorted({int(g) for g in np.geomspace(min(10, games), games, 9).round()})
    losses = []
    percent = 1 if solution.is_score else 100
    for mark in marks:
        learner.play(mark - learner.games)
        losses.append(percent * loss_of(learner.result(), solution)[0])
    return marks, losses, learner.result()


def small_cost(solution: Solution) -> float:
    """The largest cost of a small mistake, in shown units."""
    return CLOSE * (float(np.ptp(solution.values)) / 100 if solution.is_score else 1.0)


def verdicts(solution: Solution, learned: Learned) -> np.ndarray:
    """For each state 0 never seen, 1 right, 2 wrong at a small cost, 3 wrong: (n_states,)."""
    best = learned.best_actions
    costs = shown_costs(solution, solution.regret[best])
    right = solution.is_best[best]
    wrong = np.where(costs <= small_cost(solution), 2, 3)
    return np.where(best < 0, 0, np.where(right, 1, wrong)).astype(float)


def _beneath(figure: go.Figure, above: str) -> go.Figure:
    """Move the maps up in both layouts, and put the curve's axes beneath them."""
    meta = dict(figure.layout.meta)
    for name in ("wide", "narrow"):
        layout: dict[str, Any] = dict(meta[name])
        margin = layout["margin"]
        before = layout["height"] - margin["t"] - margin["b"]
        after = before + CURVE + GAP

        def raised(y: float, before: float = before, after: float = after) -> float:
            return (y * before + CURVE + GAP) / after

        # heights are shares of the figure: they shrink as it grows by the curve
        for key, value in list(layout.items()):
            if key.startswith("yaxis"):
                layout[key] = {**value, "domain": [raised(y) for y in value["domain"]]}
        legend = layout["legend"]
        layout["legend"] = {**legend, "y": 1 + (legend["y"] - 1) * before / after}
        notes = [{**note, "y": raised(note["y"])} for note in layout["annotations"]]
        for text, y, shift in ((above, CURVE / after, 6), ("games learned from", 0, -52)):
            notes.append(lettering(text, 0, y, yshift=shift, xanchor="left", yanchor="bottom"))
        layout["annotations"] = notes
        layout["height"] = after + margin["t"] + margin["b"]
        layout["xaxis99"] = axis(type="log", anchor="y99", domain=[0, 1], dtick=1, tickformat=",d")
        layout["yaxis99"] = axis(anchor="x99", domain=[0, CURVE / after], rangemode="tozero")
        meta[name] = layout
    figure.update_layout(meta["wide"])
    figure.update_layout(meta=meta)
    return figure
