"""The boundary between two actions in three dimensions.

Of the fields that vary, the axes are chosen as for maps (see `rollwise.plot.fields`); the
one along which the best action changes most points upwards. For each pair of the other
two, the surface lies where the best action turns into the one that is best at the top.
"""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.plot import Choices
from rollwise.plot.fields import changes_along, field_index, require_choice, select
from rollwise.plot.style import BLUE, GREY, ORANGE, Sheet, step
from rollwise.policies import find_policy
from rollwise.solution import Solution

Ints = NDArray[np.int64]

MOST_ASKED = 50_000  # states that a policy written in Python is asked about


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """A surface that turns, with another policy's laid over it."""
    graph = solution.graph
    states = select(solution, require_choice(solution, "surface"), choices.where)
    label = graph.action_label[solution.best_actions]
    fields = _axes(solution, states, label, choices)
    fixed, states = _one_slice(solution, states, fields)
    x_field, y_field, z_field = fields
    table = graph.states
    target = _top_action(solution, table[states, z_field], label[states], states)
    name = html.escape(graph.action_names.get(target, str(target)))
    xs = np.arange(table[states, x_field].min(), table[states, x_field].max() + 1)
    ys = np.arange(table[states, y_field].min(), table[states, y_field].max() + 1)
    place = (table[states, y_field] - ys[0], table[states, x_field] - xs[0])
    heights = table[states, z_field]
    surface, again, never = boundary(place, heights, label[states] == target, (len(ys), len(xs)))
    names = [graph.field_names[f] for f in fields]
    figure = go.Figure()
    hovers = np.full(surface.shape, "", object)
    for i, j in np.argwhere(np.isfinite(surface)).tolist():
        at = f"{names[0]} {xs[j]}, {names[1]} {ys[i]}"
        where = "nowhere" if never[i, j] else f"from {names[2]} {surface[i, j]:.0f}"
        hovers[i, j] = f"{at}<br>{name} {where}"
    figure.add_trace(
        go.Surface(
            x=xs.astype(np.int32),
            y=ys.astype(np.int32),
            z=surface.astype(np.float32),
            colorscale=[(0, "#0B4A75"), (0.5, BLUE), (1, "#9CD3F5")],
            showscale=False,
            hovertext=hovers,
            hoverinfo="text",
            name="best play",
            contours={"z": {"show": True, "color": "rgba(255,255,255,0.5)", "width": 1, "size": 5}},
            lighting={"ambient": 0.7, "diffuse": 0.6, "specular": 0.05},
        )
    )
    notes = [
        f"Above the surface the best action is {name}. Drag to turn it.",
        *([f"Drawn for {fixed}; --where picks others."] if fixed else []),
    ]
    if never.any():
        notes.append(f"Where {name} is never best, the surface lies above all positions.")
    if again:
        share = 100 * again / np.isfinite(surface).sum()
        notes.append(
            f"In {share:.2g} % of the columns another action is best again higher up; the kind "
            "`policy` shows where."
        )
    overlay = _overlay(solution, choices, states, target, place, heights, surface.shape)
    if overlay is not None:
        laid, laid_name, never_laid = overlay
        laid = np.where(never_laid, np.nan, laid)
        some = np.isfinite(laid)
        rows, columns = some.any(axis=1), some.any(axis=0)
        figure.add_trace(
            go.Surface(
                x=xs[columns].astype(np.int32),
                y=ys[rows].astype(np.int32),
                z=laid[rows][:, columns].astype(np.float32),
                colorscale=[(0, ORANGE), (1, ORANGE)],
                showscale=False,
                opacity=0.55,
                name=laid_name,
                hovertemplate=f"{laid_name}: {name} from {names[2]} %{{z}}<extra></extra>",
            )
        )
        notes.append(f"Orange: where {laid_name} begins to {name}.")
    return _finish(figure, f"{graph.title}: when to {name}", notes, names)


def boundary(
    place: tuple[Ints, Ints], heights: Ints, inside: NDArray[np.bool_], shape: tuple[int, int]
) -> tuple[NDArray[np.float64], int, NDArray[np.bool_]]:
    """The least height at which a column of states is inside.

    Parameters
    ----------
    place : two (n,) int
        Row and column of each state in the ground plan.
    heights : (n,) int
    inside : (n,) bool
    shape : (rows, columns)

    Returns
    -------
    surface : shape float64
        NaN where there is no state; one above the highest where none is inside.
    again : int
        Columns that have states outside above ones inside.
    never : shape bool
        Columns without a state inside.
    """
    cell = np.ravel_multi_index(place, shape)
    size = shape[0] * shape[1]
    top = np.full(size, -np.inf)
    np.maximum.at(top, cell, heights.astype(float))
    first = np.full(size, np.inf)
    np.minimum.at(first, cell[inside], heights[inside].astype(float))
    never = np.isfinite(top) & ~np.isfinite(first)
    surface = np.where(never, top + 1, first)
    surface[~np.isfinite(top)] = np.nan
    above = ~inside & (heights > first[cell])
    again = len(np.unique(cell[above]))
    return surface.reshape(shape), again, never.reshape(shape)


def _axes(
    solution: Solution, states: Ints, label: NDArray[np.int32], choices: Choices
) -> tuple[int, int, int]:
    graph = solution.graph
    table = graph.states[states]
    counts = np.array([len(np.unique(column)) for column in table.T])
    solid = [f for f in range(len(counts)) if counts[f] >= 3]
    if len(np.unique(label[states])) < 2:
        only = graph.action_text(int(solution.best_actions[states[0]]))
        raise UsageError(f"{graph.game}: {only} is best everywhere, so there is no boundary")
    if len(solid) < 3:
        names = ", ".join(graph.field_names[f] for f in solid) or "none"
        raise UsageError(
            f"{graph.game}: a surface needs three fields with three values or more, and where "
            f"there is a choice {len(solid)} vary so much ({names}); `policy` draws it flat"
        )
    changes = changes_along(table, (label[states] != label[states[0]]).astype(float))
    asked = [field_index(solution, name) for name in (choices.x, choices.y) if name is not None]
    ranked = sorted((f for f in solid if f not in asked), key=lambda f: (-changes[f], -counts[f]))
    up = ranked[0]
    ground = [*asked, *sorted(ranked[1:], key=lambda f: -counts[f])][:2]
    if not asked:
        ground.sort()
    return ground[0], ground[1], up


def _one_slice(solution: Solution, states: Ints, fields: tuple[int, int, int]) -> tuple[str, Ints]:
    """The largest set of states that share the other fields, and what those are."""
    table = solution.graph.states[states]
    rest = [f for f in range(table.shape[1]) if f not in fields]
    rest = [f for f in rest if len(np.unique(table[:, f])) > 1]
    if not rest:
        return "", states
    found, belongs, sizes = np.unique(
        table[:, rest], axis=0, return_inverse=True, return_counts=True
    )
    most = int(sizes.argmax())
    names = solution.graph.field_names
    fixed = ", ".join(f"{names[f]} = {v}" for f, v in zip(rest, found[most], strict=True))
    return fixed, states[belongs.reshape(-1) == most]


def _top_action(solution: Solution, heights: Ints, label: NDArray[np.int32], states: Ints) -> int:
    """The action whose positions lie highest on average, of those that are best often."""
    known, counts = np.unique(label, return_counts=True)
    often = known[counts >= 0.02 * counts.sum()]
    return int(max(often, key=lambda action: heights[label == action].mean()))


def _overlay(
    solution: Solution,
    choices: Choices,
    states: Ints,
    target: int,
    place: tuple[Ints, Ints],
    heights: Ints,
    shape: tuple[int, int],
) -> tuple[NDArray[np.float64], str, NDArray[np.bool_]] | None:
    """Another policy's boundary: the one asked for, or the game's first."""
    graph, game = solution.graph, solution.game
    if game is None:
        return None
    known = type(game).policies()
    name = choices.policy or next(iter(known), None)
    if name is None:
        return None
    if choices.policy is None:
        # Rules in Python take a microsecond or two a state: a coarser grid is enough here.
        coarse = 1 + int((len(states) / MOST_ASKED) ** 0.5)
        asked = (place[0] % coarse == 0) & (place[1] % coarse == 0)
        place, heights = (place[0][asked], place[1][asked]), heights[asked]
        kind = type(game.start())
        function = known[name]
        rows = graph.states[states[asked]].tolist()
        inside = np.array([function(game, kind(*fields)) == target for fields in rows])
    else:
        probability = find_policy(graph, game, name).probability
        takes = np.zeros(graph.n_states)
        mine = graph.action_label == target
        takes[graph.action_state[mine]] = probability[mine]
        inside = takes[states] > 0.5
    if not inside.any():
        return None
    laid, _, never = boundary(place, heights, inside, shape)
    return laid, name, never


def _finish(figure: go.Figure, title: str, notes: list[str], names: list[str]) -> go.Figure:
    wall = {"showbackground": False, "gridcolor": "rgba(128,128,128,0.4)", "color": GREY}
    scene: dict[str, Any] = {
        f"{letter}axis": {"title": {"text": name}, **wall}
        for letter, name in zip("xyz", names, strict=True)
    }
    scene |= {
        "aspectmode": "manual",
        "aspectratio": {"x": 1, "y": 1, "z": 0.7},
        "camera": {
            "eye": {"x": -1.2, "y": -1.2, "z": 0.85},
            "center": {"x": 0, "y": 0, "z": -0.15},
        },
    }
    # The lowest tick would stand on the last one of the ground.
    surface = np.asarray(figure.data[0].z)
    low, high = int(np.nanmin(surface)), int(np.nanmax(surface))
    apart = step(low, high, 6)
    scene["zaxis"]["tickvals"] = list(range((low // apart + 1) * apart, high + 1, apart))
    sheet = Sheet(figure, title, notes, heights=(600, 380), left=24, bottom=16)
    layouts = []
    for zoom in (1.0, 1.3):
        camera = scene["camera"]
        eye = {letter: v * zoom for letter, v in camera["eye"].items()}
        layouts.append({"scene": {**scene, "camera": {**camera, "eye": eye}}})
    figure.update_layout(showlegend=False)
    return sheet.finish(*layouts)
