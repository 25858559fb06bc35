"""The positions and moves of a tiny game, drawn; or one decision of any game, as a tree.

Positions stand in columns by how many moves they are from the start.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rollwise.answer.solution import Solution
from rollwise.errors import UsageError, spelled
from rollwise.graph import NO_THROW, Action, StateGraph, win_probability
from rollwise.graph.choices import has_choice
from rollwise.graph.naming import field_label
from rollwise.plot import Choices
from rollwise.plot.fields import (
    Hover,
    action_name,
    cost_text,
    escaped,
    field_text,
    value_text,
)
from rollwise.plot.style import (
    BLUE,
    GREY,
    NARROW,
    ORANGE,
    SWITCH,
    WIDE,
    Picture,
    Sheet,
    action_colours,
)
from rollwise.words import Narrator

# From a node, to another, the colour, whether it is a best move, and its chance in percent.
Edge = tuple[int, int, str, bool, str]

SYMBOLS = {"choice": "square", "chance": "circle", "action": "diamond", "end": "x-thin"}
MOST_STATES = 64
MOST_MOVES = 200
MOST_LINES = 200
BEFORE_END = 0.4  # columns between a chance and the end of its line: labels leave room there
STEPS = np.array([*np.linspace(0, 0.85, 18), 1])[:, None]  # the last is longer than an arrowhead
CHANCE = np.array([36, 14])  # width and height in pixels, for which lines of the same ends part
LOOP = np.array([56, 34])  # half the width and the height of the handles of a loop, in pixels
BEYOND = 0.1  # rows between a curve and the edge of the picture
MOST_LEAVES = 12  # outcomes drawn for one action of a tree


@dataclass
class Node:
    """Something drawn: where it stands, its text, and how it looks."""

    column: int
    text: str
    hover: str
    kind: str  # "choice", "chance", "action" or "end"
    row: float = 0.0


def arrange(nodes: list[Node], edges: list[Edge]) -> None:
    """Order the nodes of each column for few crossings, and centre the columns.

    Each node stands at the mean of its predecessors (the barycentre rule of Sugiyama, Tagawa and
    Toda 1981).
    """
    columns: dict[int, list[int]] = {}
    for i, node in enumerate(nodes):
        columns.setdefault(node.column, []).append(i)
    before: dict[int, list[int]] = {}
    for source, target, *_ in edges:
        if nodes[source].column < nodes[target].column:
            before.setdefault(target, []).append(source)
    tallest = max(len(column) for column in columns.values())
    # columns from left to right, so that the rows of the parents are known
    for _, column in sorted(columns.items()):
        parents = {i: [nodes[p].row for p in before.get(i, [])] for i in column}
        column.sort(key=lambda i: (sum(parents[i]) / len(parents[i]) if parents[i] else -1.0, i))
        gap = tallest / len(column)
        for place, i in enumerate(column):
            nodes[i].row = (place + 0.5) * gap - 0.5


def _broken(text: str, most: int) -> str:
    """A label in lines of at most so many letters, if it can be: a field keeps its number."""

    def length(part: str) -> int:
        return len(re.sub("</?b>", "", part))

    if length(text) <= most:
        return text
    words: list[str] = []
    # breaks come after a comma, a colon or a per cent sign, and before bold text, or between words
    for part in re.split(r"(?<=[,:%]) +| +(?=<b>)", text):
        words += [part] if length(part) <= most else part.split()
    lines = words[:1]
    for word in words[1:]:
        joined = f"{lines[-1]} {word}"
        if length(joined) > most:
            lines.append(word)
        else:
            lines[-1] = joined
    return "<br>".join(lines)


def _labels(nodes: list[Node], width: int, size: int, *, beneath: bool) -> tuple[list[str], float]:
    """The labels, broken into lines of the columns' width; and the height of a row."""
    columns = max(node.column for node in nodes) + 1
    room = (width - 60) / columns
    most = int((0.7 * room - 8 if beneath else room - 16) / (size * 0.56))
    labels = [_broken(node.text, most) for node in nodes]
    lines = max(label.count("<br>") + 1 for label in labels)
    return labels, 4 / 3 * size * lines + (22 if beneath else 8)


def picture(
    nodes: list[Node],
    edges: list[Edge],
    title: str,
    notes: list[str],
    key: list[tuple[str, str]],
    *,
    beneath: bool,
) -> go.Figure:
    """Draw them.

    Parameters
    ----------
    key : names and colours of edges
    beneath : bool
        Labels stand beneath their marks, which lines reach from both sides; or to the right of
        them, where all lines come from the left.
    """
    rows = max(node.row for node in nodes) + 1
    wide, wide_row = _labels(nodes, SWITCH, 12, beneath=beneath)
    narrow, narrow_row = _labels(nodes, NARROW, 9, beneath=beneath)
    loops = Counter(source for source, target, *_ in edges if source == target)
    above = _handles(max(loops.values()) - 1)[1] if loops else 0.0
    heights = (
        max(160.0, max(44.0, wide_row + above) * rows),
        max(200.0, (narrow_row + above) * rows),
    )
    beyond = ((-0.5, 0.5), (-0.5, 0.5)) if beneath else ((-0.3, 0.95), (-0.15, 0.95))
    layouts = [
        _layout(nodes, wide, 12, beyond[0], beneath=beneath),
        _layout(nodes, narrow, 9, beyond[1], beneath=beneath),
    ]
    left, right = layouts[0]["xaxis"]["range"]
    low, high = layouts[0]["yaxis"]["range"]
    paths = _paths(nodes, edges, (WIDE / (right - left), heights[0] / (low - high)))
    # curves beneath the last row or above the first one have room too
    reach = [float(y) for points in paths for y in points[:, 1]]
    range_ = [max([low, *(y + BEYOND for y in reach)]), min([high, *(y - BEYOND for y in reach)])]
    grown = (range_[0] - range_[1]) / (low - high)
    for layout in layouts:
        layout["yaxis"]["range"] = range_
        layout["annotations"] = _chances(nodes, edges, paths) + layout["annotations"]
    figure = Picture()
    figure.add_traces([*_lines(edges, paths), _marks(nodes)])
    for name, colour in key:
        figure.add_trace(
            go.Scatter(x=[None], y=[None], mode="lines", name=name, line={"color": colour})
        )
    sheet = Sheet(
        figure,
        title,
        notes,
        heights=(heights[0] * grown, heights[1] * grown),
        key=[name for name, _ in key],
        left=16,
        bottom=12,
        seen=_seen(nodes),
    )
    figure.update_layout(showlegend=bool(key))
    return sheet.finish(*layouts)


def _handles(rank: int) -> NDArray[np.float64]:
    """The reach of a loop: each further loop of a position is larger."""
    return LOOP * (1 + 0.5 * rank)


def _paths(
    nodes: list[Node], edges: list[Edge], scale: tuple[float, float]
) -> list[NDArray[np.float64]]:
    """Cubic Bézier curves of the edges, as points; `scale` is the size of a column and a row.

    The only line between two nodes of neighbouring columns is straight. Any other bends to the
    left of its way, so that opposite lines part, or goes round the labels of its column. An edge
    to its own node is a loop above it.
    """
    pairs = Counter((source, target) for source, target, *_ in edges)
    drawn: Counter[tuple[int, int]] = Counter()
    places = np.array([(node.column, node.row) for node in nodes]) * scale
    paths = []
    for source, target, *_ in edges:
        rank = drawn[source, target]
        drawn[source, target] += 1
        across = places[target] - places[source]
        columns = abs(nodes[target].column - nodes[source].column)
        if source == target:
            handles = _handles(rank) * [(-1, -1), (1, -1)]
        else:
            length = float(np.hypot(*across))
            # y grows downwards
            left = np.array([across[1], -across[0]]) / length
            parts = columns > 1 or pairs[target, source] > 0
            side = 0.1 * length * parts if columns else 0.36 * scale[0]
            side += rank * float((CHANCE / np.maximum(np.abs(left), 0.01)).min())
            handles = np.outer((1 / 3, 2 / 3), across) + 4 / 3 * side * left
        points = (
            places[source]
            + 3 * STEPS * (1 - STEPS) ** 2 * handles[0]
            + 3 * STEPS**2 * (1 - STEPS) * handles[1]
            + STEPS**3 * across
        )
        paths.append(points / scale)
    return paths


def _chances(
    nodes: list[Node], edges: list[Edge], paths: list[NDArray[np.float64]]
) -> list[dict[str, Any]]:
    """The chances of the edges, each on its line, before the column where the line ends."""
    found = []
    for (source, target, _, _, chance), points in zip(edges, paths, strict=True):
        columns = abs(nodes[target].column - nodes[source].column)
        at = 1 - BEFORE_END / columns if columns else 0.5
        x, y = (float(np.interp(at, STEPS[:, 0], along)) for along in points.T)
        found.append(
            {
                "x": x,
                "y": y,
                "text": chance,
                "showarrow": False,
                "font": {"size": 9},
                "bgcolor": "white",
                "borderpad": 0,
            }
        )
    return [chance for chance in found if chance["text"]]


def _seen(nodes: list[Node]) -> str:
    """The alternative text: the texts column by column."""
    words = []
    for column in sorted({node.column for node in nodes}):
        texts = [node.text for node in nodes if node.column == column]
        words.append(f"Column {column + 1}: {'; '.join(texts)}.")
    return " ".join(words)


def _lines(edges: list[Edge], paths: list[NDArray[np.float64]]) -> list[go.Scatter]:
    """The edges, with one trace for all edges of the same style."""
    groups: dict[tuple[str, bool], tuple[list[float | None], list[float | None]]] = {}
    for (_, _, colour, best, _), points in zip(edges, paths, strict=True):
        for along, held in zip(points.T, groups.setdefault((colour, best), ([], [])), strict=True):
            held += [*along.tolist(), None]
    return [
        go.Scatter(
            x=xs,
            y=ys,
            mode="lines+markers",
            marker={  # heads at the ends of the lines
                "symbol": "arrow",
                "angleref": "previous",
                "color": colour,
                "standoff": [6 if end is None else 0 for end in [*xs[1:], None]],
                "size": [9 if end is None else 0 for end in [*xs[1:], None]],
                "opacity": 1,
            },
            line={
                "color": colour,
                "width": 2.2 if best else 1.1,
                "dash": "solid" if best else "dot",
            },
            opacity=0.9 if best else 0.5,
            hoverinfo="skip",
            showlegend=False,
        )
        for (colour, best), (xs, ys) in groups.items()
    ]


def _marks(nodes: list[Node]) -> go.Scatter:
    return go.Scatter(
        x=[node.column for node in nodes],
        y=[node.row for node in nodes],
        mode="markers",
        hovertext=[node.hover for node in nodes],
        hoverinfo="text",
        showlegend=False,
        marker={
            "symbol": [SYMBOLS[node.kind] for node in nodes],
            "size": 10,
            "color": [ORANGE if node.kind in ("choice", "action") else GREY for node in nodes],
            "line": {"width": 1, "color": "#555555"},
        },
    )


def _layout(
    nodes: list[Node], labels: list[str], size: int, beyond: tuple[float, float], *, beneath: bool
) -> dict[str, Any]:
    """Axes and labels; `beyond` is the room left of the first column and right of the last."""
    last = max(node.column for node in nodes)
    rows = max(node.row for node in nodes) + 1
    hidden: dict[str, Any] = {"visible": False, "fixedrange": False}
    place = {"yanchor": "top", "yshift": -10} if beneath else {"xanchor": "left", "xshift": 8}
    annotations = [
        {
            "x": node.column,
            "y": node.row,
            "text": label,
            "align": "center" if beneath else "left",
            "showarrow": False,
            "font": {"size": size},
            "bgcolor": "white",  # lines pass behind
            "borderpad": 1,
            **place,
        }
        for node, label in zip(nodes, labels, strict=True)
    ]
    return {
        "xaxis": {**hidden, "range": [beyond[0], last + beyond[1]]},
        "yaxis": {**hidden, "range": [rows - 0.4, -0.7]},
        "annotations": annotations,
    }


def _state_text(graph: StateGraph) -> str:
    fields = graph.view[0].address["state"]
    typed = graph.state_text(0).replace(", ", ",")
    return spelled(python=f"state={fields}", command_line=f"--state {typed}")


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """Draw a whole tiny game, or the decision in a given position."""
    graph = solution.graph
    if choices.state is not None:
        return _tree(solution, solution.find(choices.state))
    if not is_readable(solution):
        raise UsageError(
            f"{graph.title} has {graph.n_states:,} states, {graph.n_actions:,} actions and "
            f"{graph.n_outcomes:,} outcomes; a graph of more than {MOST_STATES} states, "
            f"{MOST_MOVES} actions or {MOST_LINES} lines can't be read. Make the game smaller, or "
            f"draw one decision: {_state_text(graph)}"
        )
    return _whole(solution, _moves(solution))


def is_readable(solution: Solution) -> bool:
    """Whether a whole game is small enough for one picture."""
    graph = solution.graph
    is_small = graph.n_states <= MOST_STATES and graph.n_actions <= MOST_MOVES
    return is_small and len(_moves(solution)) <= MOST_LINES


def _moves(solution: Solution) -> list[Edge]:
    """A line for each action and each state to which it may lead."""
    edges: list[Edge] = []
    labels = np.unique(solution.graph.action_label).tolist()
    colour_of = dict(zip(labels, action_colours(solution.graph, labels), strict=True))
    for state in solution.graph.view:
        for action in state.actions:
            colour = colour_of[action.label]
            ways: defaultdict[int, float] = defaultdict(float)
            for outcome in action.outcomes:
                ways[-1 if outcome.is_over else outcome.target] += outcome.weight
            for t in sorted(ways.keys() - {-1}):
                best = bool(solution.is_best[action])
                edges.append((state.index, t, colour, best, _share(ways[t], action)))
    return edges


def short_text(solution: Solution, state: int) -> str:
    """A short text of a state: its numbers in order, or the nonzero ones of many fields."""
    graph = solution.graph
    fields = graph.row(state)
    # a position before the throw has no numbers of a throw
    named = [(n, v) for n, v in zip(graph.columns, fields, strict=True) if v != NO_THROW]
    texts = {name: escaped(field_text(solution, name, v)) for name, v in named}
    if len(fields) <= 4:
        return "·".join(texts.values())
    here = graph.view[state]
    faces = graph.throw_names[: len(here.throw)]
    words = [f"{field_label(n)} {texts[n]}" for n, v in named if v and n not in faces]
    if faces:
        words.append(escaped(Narrator(graph, solution.game).thrown(here)))
    return ", ".join(words) or "all 0"


def _value(solution: Solution, value: float) -> str:
    return f"{value:z.2f}" if solution.is_score else f"{100 * win_probability(value):.1f}%"


def _share(ways: float, action: Action) -> str:
    """The chance of some of the outcomes of an action; empty where it is certain."""
    return "" if ways == action.total else f"{100 * float(ways) / float(action.total):.3g}%"


def _whole(solution: Solution, edges: list[Edge]) -> go.Figure:
    graph = solution.graph
    depth = _depths(solution)
    hover = Hover(solution)
    choice = has_choice(graph)
    nodes = [
        Node(
            int(depth[s]),
            f"{short_text(solution, s)}  <b>{_value(solution, float(solution.values[s]))}</b>",
            hover(s, f"worth {value_text(solution, float(solution.values[s]))}"),
            "choice" if choice[s] else "chance",
        )
        for s in range(graph.n_states)
    ]
    arrange(nodes, edges)
    labels = np.unique(graph.action_label).tolist()
    colours = action_colours(graph, labels)
    names = [escaped(action_name(solution, label)) for label in labels]
    fields = "·".join(map(field_label, graph.columns))
    notes = [
        f"A position is {fields}."
        if len(graph.columns) <= 4
        else "A position is named by those of its fields that aren't 0.",
        "Squares: a choice. Circles: only one thing to do. Bold: "
        + (f"the {solution.worth_name}." if solution.is_score else "the mover's chance to win."),
        "Full lines: best moves. Dotted: worse ones. Loops: moves that lead to the same position. "
        "Moves that end the game have no line. The numbers at the lines are chances.",
    ]
    title = f"{graph.title}: all positions and moves"
    key = list(zip(names, colours, strict=True))
    return picture(nodes, edges, title, notes, key, beneath=True)


def _tree(solution: Solution, root: int) -> go.Figure:
    """Draw a position, its actions with cost and value, and their outcomes."""
    graph = solution.graph
    hover = Hover(solution)
    nodes = [Node(0, _value(solution, float(solution.values[root])), hover(root), "choice")]
    edges: list[Edge] = []
    row = 0.0
    action_rows = []
    for action in graph.view[root].actions:
        best = bool(solution.is_best[action])
        colour = BLUE if best else GREY
        value = float(solution.action_values[action])
        name = escaped(str(action))
        text = f"{name}  <b>{_value(solution, value)}</b>"
        if solution.is_score:
            reward = action.reward
            text = f"{name}: {reward:g} + {value - reward:z.2f} = <b>{value:z.2f}</b>"
        about = (
            "the best action" if best else f"costs {cost_text(solution, solution.regret[action])}"
        )
        at = len(nodes)
        nodes.append(Node(1, text, f"{name}: {about}", "action"))
        edges.append((0, at, colour, best, ""))
        first_row = row
        for chance, text, about, kind in _leaves(solution, action, hover):
            edges.append((at, len(nodes), colour, best, ""))
            nodes.append(Node(2, f"{chance} {text}", about, kind, row))
            row += 1
        nodes[at].row = (first_row + row - 1) / 2
        action_rows.append(nodes[at].row)
        row += 0.5
    nodes[0].row = sum(action_rows) / len(action_rows)
    names = graph.columns
    notes = [
        f"The position: {graph.state_text(root)}.",
        "Each action with "
        + (
            "its points now, the expected points to come, and the total."
            if solution.is_score
            else "the mover's chance to win."
        ),
        "Then its outcomes: the probability, the next position"
        + (f" ({'·'.join(map(field_label, names))})" if len(names) <= 4 else "")
        + (
            f", and the {'payoff' if solution.has_stakes else 'score'} to come"
            + ("." if graph.players == 1 else " for the player who moves there.")
            if solution.is_score
            else ", and the chance to win of the player who moves there."
        ),
        "Full lines: the best action. Dotted: worse ones.",
    ]
    return picture(nodes, edges, f"{graph.title}: one decision", notes, [], beneath=False)


def _leaves(solution: Solution, action: Action, hover: Hover) -> list[tuple[str, str, str, str]]:
    """The outcomes of an action, the likeliest first: probability, text, hover text, kind."""
    graph = solution.graph
    together: dict[tuple[int, bool, str], float] = {}
    for outcome in action.outcomes:
        key = (outcome.target, outcome.passes, outcome.ending_text)
        together[key] = together.get(key, 0.0) + float(outcome.weight)
    ranked = sorted(together.items(), key=lambda item: -item[1])
    rows = []
    for (target, passes, ending), ways in ranked[:MOST_LEAVES]:
        chance = f"{100 * ways / action.total:.3g}%"
        if ending:
            shown = "the end" if ending == "end" else escaped(ending)
            rows.append((chance, shown, shown, "end"))
            continue
        text = short_text(solution, target)
        value = float(solution.values[target])
        text += f"  <b>{_value(solution, value)}</b>" + (" (rival)" if passes else "")
        kind = "choice" if graph.view[target].is_choice else "chance"
        rows.append((chance, text, hover(target), kind))
    if len(ranked) > MOST_LEAVES:
        rest = sum(ways for _, ways in ranked[MOST_LEAVES:])
        left = len(ranked) - MOST_LEAVES
        rows.append((f"{100 * rest / action.total:.3g}%", f"{left} other positions", "", "end"))
    return rows


def _depths(solution: Solution) -> np.ndarray:
    """How many moves each state is from the start or the nearest root."""
    graph = solution.graph
    depth = np.full(graph.n_states, -1)
    # breadth first from the start, then from each root that isn't reached
    for root in range(graph.n_states):
        frontier, level = {root} if depth[root] < 0 else set(), 0
        while frontier:
            depth[list(frontier)] = level
            actions = [action for s in frontier for action in graph.view[s].actions]
            targets = {outcome.target for action in actions for outcome in action.outcomes}
            frontier = {t for t in targets if t >= 0 and depth[t] < 0}
            level += 1
    return depth
