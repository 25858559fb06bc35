"""How time and memory grow with the number of states, and the exponents.

    python -m benchmarks.growth FAMILY SIZE MEMORY

solves one size in a process of its own; `rows` does all of them, `fit` finds the
exponents, `draw` the picture.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Settings, ask
from benchmarks.memory import peak_bytes
from benchmarks.worker import say_once


@dataclass(frozen=True)
class Family:
    """A game in several sizes.

    Attributes
    ----------
    name : str
        As in the table.
    sizes : tuple of int
        Of the game's `parameter`.
    warm : int
        A size that only warms up.
    quick : int
        The largest size that `--quick` measures.
    by_layer : bool
        Whether it is solved by layers, and not with the whole graph in memory.
    """

    name: str
    game: str
    parameter: str
    sizes: tuple[int, ...]
    warm: int
    quick: int
    by_layer: bool = False


LARGEST = "super-six by layer"  # of these one has a goal
FAMILIES = {
    family.name: family
    for family in (
        Family("pig", "pig", "target", (50, 70, 100, 140, 200, 280, 400), 45, 100),
        Family(
            "super-six",
            "super-six",
            "sticks",
            (50, 100, 200, 400, 700, 1000, 1400, 2000),
            60,
            200,
        ),
        Family(LARGEST, "super-six", "sticks", (200, 1000, 2000, 3000), 60, 200, by_layer=True),
    )
}
FEW_STATES = 30_000  # below, fixed costs hide how time grows
LEAST_GROWN = 32 * 2**20
LEAST_RUNS = 2  # that count
MOST_STATES = 1_000_000_000


def rows(settings: Settings, quick: bool, report: Callable[[str], None]) -> list[dict[str, Any]]:
    """Seconds, peak memory and states of each size; a family ends where one doesn't finish."""
    found = []
    for family in FAMILIES.values():
        for size in family.sizes:
            if quick and size > family.quick:
                continue
            given = [family.name, str(size), str(settings.memory)]
            said = ask(["benchmarks.growth", *given], 10 * settings.limit)
            about = {"family": family.name, "parameter": family.parameter, "size": size}
            found.append({**about, **said})
            report(f"  {family.name}, {family.parameter}={size}: {said.get('fault', 'done')}")
            if "fault" in said:
                break
    return found


def solved(family: Family, size: int) -> dict[str, Any]:
    """Solve one size; how large it was, and what came out."""
    import rollwise
    from rollwise.games import find

    game = find(family.game)(**{family.parameter: size})
    if family.by_layer:
        layered = rollwise.solve_by_layers(game, max_states=MOST_STATES)
        n_states, n_outcomes = len(layered.space.states), layered.space.n_outcomes
        return _facts(n_states, n_outcomes, layered.error_bound, layered.value)
    whole = rollwise.solve(game, max_states=MOST_STATES)
    graph = whole.graph
    return _facts(graph.n_states, graph.n_outcomes, whole.error_bound, whole.value)


def _facts(n_states: int, n_outcomes: int, bound: float, start: float) -> dict[str, Any]:
    return {"n_states": n_states, "n_outcomes": n_outcomes, "bound": bound, "start": start}


def measured(family: Family, size: int) -> dict[str, Any]:
    """Solve one size again and again, after a small one that loads all code.

    The first time isn't counted, whatever the size: memory that was never touched makes it slower.
    The peak is that of the first time: afterwards memory waits to be used again.
    """
    solved(family, family.warm)
    before = peak_bytes()
    solved(family, size)
    peak = peak_bytes()
    times: list[float] = []
    while len(times) < LEAST_RUNS or (len(times) < 5 and sum(times) < 3):
        started = time.perf_counter()
        facts = solved(family, size)
        times.append(time.perf_counter() - started)
    return {
        **facts,
        "seconds": statistics.median(times),
        "runs": len(times),
        "peak": peak,
        "peak_before": before,
    }


def fit(states: Sequence[float], amounts: Sequence[float]) -> float | None:
    """The exponent p of ``amount ~ states ** p``: least squares on logarithms."""
    kept = [(n, x) for n, x in zip(states, amounts, strict=True) if n >= FEW_STATES and x > 0]
    if len(kept) < 2:
        return None
    n, x = np.log(np.array(kept)).T
    return float(np.polyfit(n, x, 1)[0])


def exponents(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, float | None]]:
    """By family: the exponents of time, and of memory beyond what the process began with."""
    found = {}
    for family in dict.fromkeys(row["family"] for row in rows):
        own = [row for row in rows if row["family"] == family and "fault" not in row]
        states = [row["n_states"] for row in own]
        found[family] = {
            "time": fit(states, [row["seconds"] for row in own]),
            "memory": fit(states, [_grown(row) for row in own]),
        }
    return found


def _grown(row: dict[str, Any]) -> int:
    """Bytes beyond what the process began with; 0 where that hides them."""
    grown: int = row["peak"] - row["peak_before"]
    return grown if grown > LEAST_GROWN else 0


MEDIANS = "Rules to a certified answer, by a process that has found it before; medians."


def draw(
    rows: Sequence[dict[str, Any]], path: Path, note: str = MEDIANS, title: str = "Growth"
) -> str:
    """Write the picture; an empty text, or why there is none."""
    try:
        from rollwise.errors import RollwiseError
        from rollwise.plot.pages import write_figure

        figure = picture(rows, note)
    except ImportError:
        return "Plotly isn't installed"
    try:
        write_figure(figure, path, title)
    except RollwiseError as error:
        return str(error).splitlines()[0]
    return ""


def picture(rows: Sequence[dict[str, Any]], note: str = MEDIANS) -> Any:
    """Two panels, time and memory against states, a line a family, all on logarithms."""
    import plotly.graph_objects as go

    from rollwise.plot.style import COLOURS, Sheet, axis

    figure = go.Figure()
    powers = exponents(rows)
    key = []
    for colour, family in zip(COLOURS, powers, strict=False):
        own = [row for row in rows if row["family"] == family and "fault" not in row]
        words = ", ".join(
            f"{what} ∝ states^{p:.2f}" for what, p in powers[family].items() if p is not None
        )
        key.append(f"{family}: {words}" if words else family)
        states = [row["n_states"] for row in own]
        amounts = (
            [row["seconds"] for row in own],
            [row["peak"] / 2**20 for row in own],
        )
        for panel, (amount, symbol) in enumerate(zip(amounts, ("circle", "square"), strict=True)):
            figure.add_trace(
                go.Scatter(
                    x=states,
                    y=amount,
                    name=key[-1],
                    legendgroup=family,
                    showlegend=panel == 0,
                    mode="lines+markers",
                    line={"color": colour},
                    marker={"symbol": symbol, "size": 7},
                    text=[f"{row['parameter']}={row['size']}" for row in own],
                    xaxis=f"x{panel + 1}",
                    yaxis=f"y{panel + 1}",
                )
            )
    sheet = Sheet(
        figure,
        "Time and memory against the number of states",
        [note],
        heights=(380, 640),
        key=key,
    )

    def panels(first: tuple[Any, Any], second: tuple[Any, Any]) -> dict[str, Any]:
        logarithmic = {"type": "log", "exponentformat": "none"}
        layout = {}
        for number, (across, up), title in ((1, first, "seconds"), (2, second, "peak memory, MiB")):
            layout[f"xaxis{number}"] = axis(
                type="log",
                exponentformat="SI",
                domain=across,
                anchor=f"y{number}",
                title={"text": "states"},
            )
            layout[f"yaxis{number}"] = axis(
                **logarithmic, domain=up, anchor=f"x{number}", title={"text": title}
            )
        return layout

    return sheet.finish(
        panels(((0, 0.44), (0, 1)), ((0.56, 1), (0, 1))),
        panels(((0, 1), (0.58, 1)), ((0, 1), (0, 0.42))),
    )


def main() -> None:
    name, size, memory = sys.argv[1:]
    say_once(memory, lambda: measured(FAMILIES[name], int(size)))


if __name__ == "__main__":
    main()
