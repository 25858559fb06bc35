"""The boundary between two actions in three dimensions.

Of the varying fields, the one with the sharpest threshold of the decision points upwards (see
`rollwise.plot.kinds.limit`). The two fields with the most changes of this threshold span the
ground. Over each place on the ground, the surface is the least height at which the action of the
top is best.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.colors import sample_colorscale as _sampled

from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.errors import RollwiseError, UsageError
from rollwise.plot import Choices
from rollwise.plot.fields import (
    action_name,
    action_verb,
    asked_fields,
    changes_along,
    escaped,
    field_equals,
    field_text,
    is_sparse,
    require_choice,
    select,
    set_fields,
)
from rollwise.plot.kinds.limit import OFTEN, find_threshold, limits_along, where_best
from rollwise.plot.style import BLUE, GREY, ORANGE, Picture, Sheet, lettering, step, step_scale

Ints = NDArray[np.int64]

STEPS = 12  # smaller ranges of heights are drawn as steps, for lack of positions between them


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """Draw a surface in space, with another policy's surface over it."""
    graph = solution.graph
    states = select(solution, require_choice(solution, "surface"), choices.where)
    label = graph.action_label[solution.best_actions]
    fields, target = _axes(solution, states, label, choices)
    fixed, states = _one_slice(solution, states, fields, where_best(solution, target)[states])
    x_field, y_field, z_field = fields
    table = graph.rows
    name = escaped(action_name(solution, target))
    verb = escaped(action_verb(solution, target))
    xs = np.arange(table[states, x_field].min(), table[states, x_field].max() + 1)
    ys = np.arange(table[states, y_field].min(), table[states, y_field].max() + 1)
    columns, limit, again = limits_along(solution, states, z_field, target)
    surface = np.full((len(ys), len(xs)), np.nan)
    surface[table[columns, y_field] - ys[0], table[columns, x_field] - xs[0]] = limit
    names = [graph.columns[f] for f in fields]
    figure = Picture()
    words = _words(solution, surface, names[2])
    low, high = int(np.nanmin(surface)), int(np.nanmax(surface))
    steps = high - low < STEPS
    figure.add_trace(
        go.Surface(
            **_ground(xs, ys, surface, steps),
            customdata=_twice(words) if steps else words,
            hovertemplate=f"{names[0]} %{{x:.0f}}, {names[1]} %{{y:.0f}}<br>"
            f"{name} %{{customdata}}"
            "<extra></extra>",
            **_bands(surface),
            showscale=False,
            name="best play",
            lighting={"ambient": 0.7, "diffuse": 0.6, "specular": 0.05},
        )
    )
    least, most = (field_text(solution, names[2], height) for height in (low, high))
    lies = f"at {names[2]} {least}" if low == high else f"between {names[2]} {least} and {most}"
    notes = [
        f"On and above the surface the best action is {name}.",
        f"The surface lies {escaped(lies)}.",
        *([f"Drawn for {fixed}."] if fixed else []),
    ]
    if np.isnan(limit).any():
        notes.append(f"Where the surface is open, {name} is never best.")
    if again:
        share = 100 * again / len(columns)
        notes.append(
            f"In {share:.2g} % of the columns another action is best again higher up; the kind "
            "`policy` shows where."
        )
    overlay = _overlay(solution, choices, states, target, fields, (xs, ys))
    if overlay is not None:
        laid, laid_name = overlay
        some = np.isfinite(laid)
        rows, across = some.any(axis=1), some.any(axis=0)
        figure.add_trace(
            go.Surface(
                **_ground(xs[across], ys[rows], laid[rows][:, across], steps),
                colorscale=[(0, ORANGE), (1, ORANGE)],
                showscale=False,
                opacity=0.55,
                name=laid_name,
                hovertemplate=f"{laid_name}: {name} from {names[2]} %{{z}}<extra></extra>",
            )
        )
        notes.append(f"Orange: where {laid_name} begins to {verb}.")
    tall = np.nan_to_num(surface, nan=np.nanmin(surface))  # empty places hide nothing
    title = f"{graph.title}: when to {verb}"
    return _finish(solution, figure, title, notes, names, (xs, ys, tall))


def boundary(
    place: tuple[Ints, Ints], heights: Ints, inside: NDArray[np.bool_], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """The least height at which a column of states is inside; NaN in columns without one.

    Parameters
    ----------
    place : two (n,) int
        Row and column of each state in the ground plan.
    heights : (n,) int
    inside : (n,) bool
    shape : (rows, columns)
    """
    cell = np.ravel_multi_index(place, shape)
    first = np.full(shape[0] * shape[1], np.inf)
    np.minimum.at(first, cell[inside], heights[inside].astype(float))
    return np.where(np.isfinite(first), first, np.nan).reshape(shape)


def _ground(xs: Ints, ys: Ints, z: NDArray[np.float64], steps: bool) -> dict[str, Any]:
    """Where a surface lies; with steps, flat over each place and upright between them."""
    if not steps:
        return {"x": xs.astype(np.int32), "y": ys.astype(np.int32), "z": z.astype(np.float32)}
    edges = np.tile([-0.499, 0.499], max(len(xs), len(ys)))
    return {
        "x": (np.repeat(xs, 2) + edges[: 2 * len(xs)]).astype(np.float32),
        "y": (np.repeat(ys, 2) + edges[: 2 * len(ys)]).astype(np.float32),
        "z": _twice(z).astype(np.float32),
    }


def _twice(cells: NDArray[Any]) -> NDArray[Any]:
    """Each cell four times, beside and above itself."""
    return np.repeat(np.repeat(cells, 2, axis=0), 2, axis=1)


def _words(solution: Solution, surface: NDArray[np.float64], upright: str) -> NDArray[Any]:
    """Where the target action begins at each place, in words."""
    heights = np.unique(surface[np.isfinite(surface)]).astype(int).tolist()
    texts = {z: f"from {upright} {escaped(field_text(solution, upright, z))}" for z in heights}
    words = [texts[int(z)] if np.isfinite(z) else "" for z in surface.ravel()]
    return np.array(words, object).reshape(surface.shape)


def _bands(surface: NDArray[np.float64]) -> dict[str, Any]:
    """Colours by height, in bands: contour lines would make turning it very slow."""
    low, high = float(np.nanmin(surface)), float(np.nanmax(surface)) + 1
    apart = step(low, high, 20)
    first, last = int(low // apart), int(-(-high // apart))
    shades = _sampled(["#0B4A75", BLUE, "#9CD3F5"], max(last - first, 2))
    # Every other band is a little lighter, as a contrast to its neighbours.
    for i in range(1, len(shades), 2):
        parts = (int(part) for part in shades[i][4:-1].split(","))
        shades[i] = "rgb({},{},{})".format(*(part + (255 - part) // 5 for part in parts))
    return {
        "colorscale": step_scale(shades),
        "cmin": first * apart,
        "cmax": (first + len(shades)) * apart,
    }


def _axes(
    solution: Solution, states: Ints, label: NDArray[np.int32], choices: Choices
) -> tuple[tuple[int, int, int], int]:
    """The fields along x, y and upwards, and the best action at the top."""
    graph = solution.graph
    table = graph.rows[states]
    counts = np.array([len(np.unique(column)) for column in table.T])
    without = set_fields(solution, states)
    solid = [f for f in range(len(counts)) if counts[f] >= 3 and not is_sparse(table[:, f])]
    solid = [f for f in solid if f not in without]
    if len(np.unique(label[states])) < 2:
        only = graph.view.action(solution.best_actions[states[0]]).name
        raise UsageError(f"{graph.game}: {only} is best everywhere, so there is no boundary")
    if len(solid) < 3:
        names = ", ".join(graph.columns[f] for f in solid) or "none"
        raise UsageError(
            f"{graph.game}: a surface needs three fields with three values or more, and where "
            f"there is a choice it has {len(solid)} of them ({names}); `policy` draws it flat"
        )
    asked = asked_fields(solution, choices)
    threshold = find_threshold(graph, states, label[states], [f for f in solid if f not in asked])
    if threshold is None:
        raise UsageError(
            f"{graph.title}: no action is best in {100 * OFTEN:g} % of the positions, so there is "
            "no boundary; draw `policy` instead"
        )
    if not asked and not threshold.gain:
        name = graph.vocabulary.text(threshold.action)
        raise UsageError(
            f"{graph.title}: along no field is there a limit from which another action is best "
            f"({name} nearly always is); draw `policy` instead"
        )
    rest = [f for f in solid if f not in asked and f != threshold.field]
    if len(rest) + len(asked) > 2:
        changes = changes_along(table, (label[states] == threshold.action).astype(float))
        rest.sort(key=lambda f: (-changes[f], f))
    ground = [*asked, *rest][:2]
    if not asked:
        ground.sort()
    return (ground[0], ground[1], threshold.field), threshold.action


def _one_slice(
    solution: Solution, states: Ints, fields: tuple[int, int, int], inside: NDArray[np.bool_]
) -> tuple[str, Ints]:
    """The set of states that share the other fields with most on both sides, and what those are."""
    table = solution.graph.rows[states]
    rest = [f for f in range(table.shape[1]) if f not in fields]
    rest = [f for f in rest if len(np.unique(table[:, f])) > 1]
    if not rest:
        return "", states
    found, belongs, sizes = np.unique(
        table[:, rest], axis=0, return_inverse=True, return_counts=True
    )
    above = np.bincount(belongs[inside], minlength=len(found))
    # the slice with many states on both sides of the boundary
    both = np.minimum(above, sizes - above)
    most = int(both.argmax())
    names = solution.graph.columns
    if not both[most]:
        others = ", ".join(names[f] for f in rest)
        raise UsageError(
            f"{solution.graph.game}: with {others} given there is no boundary between two actions "
            "left to draw in space; `policy` draws it flat"
        )
    pairs = zip(rest, found[most], strict=True)
    fixed = ", ".join(field_equals(solution, f, number) for f, number in pairs)
    return fixed, states[belongs == most]


def _overlay(
    solution: Solution,
    choices: Choices,
    states: Ints,
    target: int,
    fields: tuple[int, int, int],
    ground: tuple[Ints, Ints],
) -> tuple[NDArray[np.float64], str] | None:
    """Another policy's boundary: the one asked for, or the game's first."""
    (xs, ys), table = ground, solution.graph.rows[states]
    place = (table[:, fields[1]] - ys[0], table[:, fields[0]] - xs[0])
    heights, shape = table[:, fields[2]].astype(np.int64), (len(ys), len(xs))
    graph, game = solution.graph, solution.game
    known = {} if game is None else game.policies()
    name = choices.policy or next(iter(known), None)
    if name is None:
        return None
    try:
        probability = Policies.of(solution, any_players=True).find(name).probability
    except RollwiseError:
        if choices.policy is not None:
            raise
        return None  # a policy of the rules that fails, as in a game derived from them
    chance = np.zeros(graph.n_states)
    mine = graph.action_label == target
    chance[graph.action_state[mine]] = probability[mine]
    inside = chance[states] > 0.5
    if not inside.any():
        return None
    return boundary(place, heights, inside, shape), name


def _lowest_corner(tall: NDArray[np.float64]) -> tuple[int, int]:
    """The lowest corner of the surface: -1 or 1 along x and y."""
    rows, columns = (-(-size // 2) for size in tall.shape)
    corners = [(x, y) for y in (-1, 1) for x in (-1, 1)]
    return min(
        corners, key=lambda corner: tall[:: -corner[1], :: -corner[0]][:rows, :columns].mean()
    )


def _ticks(solution: Solution, name: str, numbers: list[int]) -> dict[str, Any]:
    """Ticks of a field, with the names of its numbers."""
    texts = [escaped(field_text(solution, name, number)) for number in numbers]
    return {"tickvals": numbers, "ticktext": texts}


def _finish(
    solution: Solution,
    figure: go.Figure,
    title: str,
    notes: list[str],
    names: list[str],
    drawn: tuple[Ints, Ints, NDArray[np.float64]],
) -> go.Figure:
    xs, ys, tall = drawn
    # Opaque colours: half-transparent lines vanish from pictures made on white.
    wall = {"showbackground": False, "gridcolor": "#B4B4B4", "color": GREY}
    x, y = _lowest_corner(tall)
    # The lowest tick would stand on the last one of the ground.
    low, high = int(tall.min()), int(tall.max())
    apart = step(low, high, 6)
    upright = {
        **wall,
        "title": {"text": names[2]},
        **_ticks(solution, names[2], list(range((low // apart + 1) * apart, high + 1, apart))),
    }
    seen = (
        f"A surface in space: {names[2]} (upwards), from {low} to {high}, over {names[0]} and "
        f"{names[1]}."
    )
    sheet = Sheet(figure, title, notes, heights=(560, 340), left=24, bottom=16, seen=seen)
    layouts: list[dict[str, Any]] = []
    for zoom, ticks in ((1.05, 6), (1.3, 4)):
        scene: dict[str, Any] = {
            f"{letter}axis": {
                **wall,
                "title": {"text": name},
                **_ticks(
                    solution,
                    name,
                    places[places % step(int(places[0]), int(places[-1]), ticks) == 0].tolist(),
                ),
            }
            for letter, name, places in (("x", names[0], xs), ("y", names[1], ys))
        }
        scene |= {
            "zaxis": upright,
            "aspectmode": "manual",
            "aspectratio": {"x": 1, "y": 1, "z": 0.7},
            "camera": {
                "eye": {"x": 1.2 * x * zoom, "y": 1.2 * y * zoom, "z": 0.85 * zoom},
                "center": {"x": 0, "y": 0, "z": -0.2},
            },
        }
        layout: dict[str, Any] = {"scene": scene}
        if layouts:  # narrow: beside the scene a name of any length has room, in it none
            scene["zaxis"] = {**upright, "title": {"text": ""}}
            scene["domain"] = {"x": [0.05, 1.0]}
            layout["annotations"] = [
                lettering(f"{names[2]} →", 0, 0.5, xshift=-6, textangle=-90, font={"color": GREY})
            ]
        layouts.append(layout)
    figure.update_layout(showlegend=False)
    return sheet.finish(*layouts)
