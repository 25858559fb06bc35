"""Distributions of final scores of several policies, exact and simulated together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rollwise.analysis.distributions import Distribution, counted_play, distribution
from rollwise.analysis.observed_scores import require_possible
from rollwise.analysis.second_aims import ranges_of_scores
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.derive.by_score import require_final_score, require_points
from rollwise.errors import RollwiseError, UsageError
from rollwise.graph.policies import Policy, ties_in_play
from rollwise.numbers.intervals import of_share
from rollwise.numbers.printed import how_many, rounded_up
from rollwise.plot import Choices
from rollwise.plot.style import COLOURS, ORANGE, Picture, Sheet, axis
from rollwise.simulate.match import simulate

GAMES = 30_000  # as many as the experiments of "Solving Threes"
SEED = 1
LEAST = 1e-4
SKY_BLUE = "#56B4E9"  # from `COLOURS`, light enough behind another bar
BAND = "rgba(128, 128, 128, 0.45)"  # transparent, over the top of a bar
EDGE = 0.57  # space outside the first and the last bar


def fit(solution: Solution, choices: Choices) -> None:
    """Raise the errors of a game without points, or with points that aren't whole or bounded."""
    require_final_score(solution.game)
    counted_play(solution.graph, solution.policy, None)


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """Bars for the exact probabilities, marks with error bars for simulated ones."""
    graph, game = solution.graph, solution.game
    require_final_score(game)
    require_points(graph)
    beside_rules = () if game is None else game.policies()
    if choices.made is not None:
        return _over_exact(solution, choices)
    names = list(beside_rules) if choices.policy is None else [choices.policy]
    policies = [solution.policy]
    others = [Policies.of(solution).find(name) for name in names[: len(COLOURS) - 1]]
    policies += [policy for policy in others if policy is not solution.policy]
    figure = Picture()
    key, notes = [], []
    shown: list[int] = []
    for policy, colour in zip(policies, COLOURS, strict=False):
        exact = distribution(graph, policy)
        shown += exact.values[exact.probabilities > LEAST].tolist()
        figure.add_trace(_bars(policy.name, exact, colour))
        key.append(figure.data[-1].name)
        band, said = _all_optimal(solution, policy, exact)
        notes += said
        if band is not None:
            figure.add_trace(band)
            key.append(band.name)
        notes.append(f"{policy.name}: mean {exact.mean:z.4f}, standard deviation {exact.sd:.3f}.")
    for number, policy in enumerate(policies):
        played = simulate(graph, policy, games=GAMES, seed=SEED + number, exact=False).sides[0]
        if played.scores is not None:
            colour = COLOURS[number % len(COLOURS)]
            figure.add_trace(_marks(policy.name, played.scores, colour))
            key.append(figure.data[-1].name)
    if any(isinstance(trace, go.Scatter) for trace in figure.data):
        notes.append(
            f"Simulated: {GAMES:,} games each, seed {SEED} and on, with 95 % confidence intervals."
        )
    figure.update_layout(
        barmode="group",
        bargap=0.15,
        scattermode="group",
        scattergap=0.15,
        yaxis=axis(rangemode="tozero"),
    )
    return _finished(figure, f"{graph.title}: final scores", notes, key, shown)


def _over_exact(solution: Solution, choices: Choices) -> go.Figure:
    """Draw scores of people over the exact distribution of one policy."""
    graph = solution.graph
    policy = Policies.of(solution).find("optimal" if choices.policy is None else choices.policy)
    exact = distribution(graph, policy)
    made = np.array(choices.made, np.int64)
    n = len(made)
    if not n:
        raise UsageError("there are no scores to draw")
    require_possible(made, exact)
    values, count = np.unique(made, return_counts=True)
    low, high = of_share(count, n)
    below = _bars(policy.name, exact, SKY_BLUE)
    below.update(width=0.9, offsetgroup=None)
    label = f"recorded, {how_many(n, 'game')}"
    above = go.Bar(
        x=values,
        y=100 * count / n,
        name=label,
        width=0.45,
        marker={"color": ORANGE},
        error_y=_whiskers(count / n, low, high),
        hovertemplate=f"{label}: %{{x}} points in %{{y:.2f}} % of games<extra></extra>",
    )
    band, said = _all_optimal(solution, policy, exact)
    if band is not None:
        band.update(width=0.9, offsetgroup=None)
    bars = [below, above] if band is None else [below, band, above]
    figure = Picture(bars)
    error = made.std(ddof=1) / np.sqrt(n) if n > 1 else float("nan")
    notes = [
        f"{policy.name}: mean {exact.mean:z.4f}, standard deviation {exact.sd:.3f}.",
        f"Recorded: {how_many(n, 'game')}, mean {made.mean():z.4f} ± {error:.4f} (standard error), "
        "with 95 % confidence intervals.",
    ]
    notes = [*said, *notes]
    figure.update_layout(barmode="overlay", yaxis=axis(rangemode="tozero"))
    shown = [*exact.values[exact.probabilities > LEAST].tolist(), *values.tolist()]
    key = [bar.name for bar in bars]
    return _finished(figure, f"{graph.title}: recorded scores", notes, key, shown)


def _all_optimal(
    solution: Solution, policy: Policy, exact: Distribution
) -> tuple[go.Bar | None, list[str]]:
    """A band of the range over all optimal policies, and notes on ties.

    There is none for another policy, or without equally good actions.
    """
    ties = ties_in_play(solution.graph, policy)
    if ties is None:
        return None, []
    if policy is not solution.policy:
        return None, [f"{policy.name}: {ties.text}."]
    first = f"In {ties.states:,} of the {ties.reached:,} positions that play comes to, several "
    first += f"actions are equally good; {policy.name} takes the first of them."
    likely = exact.values[exact.probabilities > LEAST].tolist()
    try:
        found = list(ranges_of_scores(solution, likely).values())
    except RollwiseError as error:
        return None, [first, f"The range over all optimal policies isn't known: {error}."]
    least, most = (np.array([getattr(one, end) for one in found]) for end in ("least", "most"))
    label = "all optimal policies, least to most"
    band = go.Bar(
        x=likely,
        base=100 * least,
        y=100 * (most - least),
        name=label,
        marker={"color": BAND, "line": {"width": 1, "color": "#333333"}},
        offsetgroup=policy.name,
        customdata=100 * np.column_stack([least, most]),
        hovertemplate=f"{label}: %{{x}} points with %{{customdata[0]:.4f}} to "
        "%{customdata[1]:.4f} %<extra></extra>",
    )
    bound = rounded_up(100 * max(one.error_bound for one in found))
    return band, [
        first,
        f"The bands are the ranges over optimal policies, each score by itself (± {bound} %).",
    ]


def _finished(
    figure: go.Figure, title: str, notes: list[str], key: list[str], shown: list[int]
) -> go.Figure:
    """The figure with its lettering, and room for all drawn scores."""
    low, high = (min(shown), max(shown)) if shown else (0, 1)
    sheet = Sheet(
        figure,
        title,
        notes,
        heights=(400, 300),
        key=key,
        x_title="final score (points)",
        y_title="games (%)",
        left=70,
        seen=f"Bars and marks: games (%) over the final score, from {low:g} to {high:g} points.",
    )
    return sheet.finish_over(low, high, EDGE, (30, 8), showgrid=False)


def _whiskers(
    rate: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> dict[str, Any]:
    """Confidence intervals, in percent."""
    return {
        "array": 100 * (high - rate),
        "arrayminus": 100 * (rate - low),
        "thickness": 1,
        "width": 2,
        "color": "#777777",
    }


def _bars(policy: str, exact: Distribution, colour: str) -> go.Bar:
    label = f"{policy}, exact"
    return go.Bar(
        x=exact.values,
        y=100 * exact.probabilities,
        name=label,
        marker={"color": colour},
        offsetgroup=policy,
        hovertemplate=f"{label}: %{{x}} points with %{{y:.4f}} %<extra></extra>",
    )


def _marks(policy: str, played: Mapping[float, int], colour: str) -> go.Scatter:
    """The share of games with each score, with confidence intervals."""
    scores = np.array(sorted(played))
    count = np.array([played[score] for score in scores.tolist()])
    rate, (low, high) = count / GAMES, of_share(count, GAMES)
    label = f"{policy}, simulated"
    return go.Scatter(
        x=scores,
        y=100 * rate,
        name=label,
        mode="markers",
        offsetgroup=policy,
        error_y=_whiskers(rate, low, high),
        marker={
            "symbol": "diamond",
            "size": 6,
            "color": colour,
            "line": {"width": 1, "color": "#333333"},
        },
        hovertemplate=f"{label}: %{{x}} points in %{{y:.3f}} % of games<extra></extra>",
    )
