"""Nodes in columns with edges between them, and a label beside each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from rollwise.plot.notebook import Picture
from rollwise.plot.style import GREY, NARROW, ORANGE, SWITCH, Sheet

# From a node, to another, the colour, and whether it is a best move.
Edge = tuple[int, int, str, bool]

SYMBOLS = {"choice": "square", "chance": "circle", "action": "diamond", "end": "x-thin"}


@dataclass
class Node:
    """Something drawn: where it stands, its text, and how it looks."""

    column: int
    text: str
    hover: str
    kind: str  # "choice", "chance", "action" or "end"
    row: float = 0.0


def arrange(nodes: list[Node], edges: list[Edge]) -> None:
    """Put the nodes of each column in an order with few crossings, and centre the columns.

    Each stands at the mean of those that lead to it (the barycentre rule of Sugiyama,
    Tagawa and Toda 1981).
    """
    columns: dict[int, list[int]] = {}
    for i, node in enumerate(nodes):
        columns.setdefault(node.column, []).append(i)
    before: dict[int, list[int]] = {}
    for source, target, _, _ in edges:
        if nodes[source].column < nodes[target].column:
            before.setdefault(target, []).append(source)
    tallest = max(len(column) for column in columns.values())
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


def _labels(nodes: list[Node], width: int, size: int) -> tuple[list[str], float]:
    """The labels, broken so that columns have room side by side; and the height of a row."""
    columns = max(node.column for node in nodes) + 1
    most = int(((width - 60) / columns - 16) / (size * 0.56))
    labels = [_broken(node.text, most) for node in nodes]
    lines = max(label.count("<br>") + 1 for label in labels)
    return labels, 4 / 3 * size * lines + 8


def picture(
    nodes: list[Node],
    edges: list[Edge],
    title: str,
    notes: list[str],
    key: list[tuple[str, str]],
    *,
    given_rows: bool = False,
) -> go.Figure:
    """Draw them; `key` has names and colours of edges."""
    figure = Picture()
    figure.add_traces([*_lines(nodes, edges), _marks(nodes)])
    for name, colour in key:
        figure.add_trace(
            go.Scatter(x=[None], y=[None], mode="lines", name=name, line={"color": colour})
        )
    rows = max(node.row for node in nodes) + 1
    wide, wide_row = _labels(nodes, SWITCH, 12)
    narrow, narrow_row = _labels(nodes, NARROW, 9)
    sheet = Sheet(
        figure,
        title,
        notes,
        heights=(max(160.0, max(30.0, wide_row) * rows), max(200.0, narrow_row * rows)),
        key=[name for name, _ in key],
        left=16,
        bottom=12,
        seen=_seen(nodes),
    )
    figure.update_layout(showlegend=bool(key))
    beyond = 0.95 if given_rows else 0.9
    return sheet.finish(
        _layout(nodes, wide, 12, (-0.3, beyond)), _layout(nodes, narrow, 9, (-0.15, beyond))
    )


def _seen(nodes: list[Node]) -> str:
    """What is drawn, in words: the texts column by column."""
    words = []
    for column in sorted({node.column for node in nodes}):
        texts = [node.text for node in nodes if node.column == column]
        words.append(f"Column {column + 1}: {'; '.join(texts)}.")
    return " ".join(words)


def _lines(nodes: list[Node], edges: list[Edge]) -> list[go.Scatter]:
    """The edges, those that look alike as one trace."""
    groups: dict[tuple[str, bool], tuple[list[float | None], list[float | None]]] = {}
    for source, target, colour, best in edges:
        one, other = nodes[source], nodes[target]
        xs, ys = groups.setdefault((colour, best), ([], []))
        if one.column == other.column:  # round the column, not through it
            middle = (one.row + other.row) / 2
            xs += [one.column, one.column - 0.22, other.column, None]
            ys += [one.row, middle, other.row, None]
        else:
            xs += [one.column, other.column, None]
            ys += [one.row, other.row, None]
    return [
        go.Scatter(
            x=xs,
            y=ys,
            mode="lines",
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
    nodes: list[Node], labels: list[str], size: int, beyond: tuple[float, float]
) -> dict[str, Any]:
    """Axes and labels; `beyond` is the room left of the first column and right of the last."""
    last = max(node.column for node in nodes)
    rows = max(node.row for node in nodes) + 1
    hidden: dict[str, Any] = {"visible": False, "fixedrange": False}
    annotations = [
        {
            "x": node.column,
            "y": node.row,
            "text": label,
            "xanchor": "left",
            "xshift": 8,
            "align": "left",
            "showarrow": False,
            "font": {"size": size},
            "bgcolor": "white",  # lines pass behind
            "borderpad": 1,
        }
        for node, label in zip(nodes, labels, strict=True)
    ]
    return {
        "xaxis": {**hidden, "range": [beyond[0], last + beyond[1]]},
        "yaxis": {**hidden, "range": [rows - 0.4, -0.7]},
        "annotations": annotations,
    }
