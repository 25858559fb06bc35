"""How far mixed-integer programming goes on Super Six, against strategy iteration.

    python benchmarks/milp.py [--limit SECONDS] [--sticks 20,40,60,130]
                              [--only WAY --solver NAME --note TEXT]

Writes benchmarks/milp.md. Each way of solving is tried on more and more sticks until
it runs out of time; `--limit` is what one run may take. With `--only` one way is measured
anew, and the other sections stay as they are. `--note` says
what is to be known of this measurement.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import re
import time
from pathlib import Path

import numpy as np

from rollwise.analysis.compare_methods import is_optimal
from rollwise.builders import build
from rollwise.engine.certificates import certify
from rollwise.games.super_six import SuperSix
from rollwise.methods.mixed_integer import mixed_integer
from rollwise.methods.strategy_iteration import strategy_iteration

WAYS = [
    ("by component, tight M", {"tighten": 50}),
    ("by component, M = 1", {"tighten": 0}),
    ("by number of sticks, M = 1 (as published)", {"tighten": 0, "pieces": True}),
    (
        "by number of sticks, M = 1, tolerance 1e-6",
        {"tighten": 0, "pieces": True, "tolerance": 1e-6},
    ),
    ("whole, tight M", {"whole": True, "tighten": 200}),
    ("whole, M = 1, started from the answer", {"whole": True, "tighten": 0, "start": True}),
    ("whole, M = 1", {"whole": True, "tighten": 0}),
]
SOLVERS = ("scip", "highs")
COLUMNS = "| solver | sticks | status | seconds | nodes | gap | binaries | decided | error | best |"


def measure(way: str, options: dict, solver: str, sticks: list[int], limit: float) -> list[str]:
    rows = []
    for n in sticks:
        graph = build(SuperSix(sticks=n))
        values = strategy_iteration(graph).values
        bounds = certify(graph, values).bounds
        given = dict(options)
        if given.pop("start", False):
            given["start"] = values
        if "pieces" in given:  # as the source did; the figure of its errors shows it
            left = graph.states[:, :3].sum(axis=1)
            given["pieces"] = [np.flatnonzero(left == k) for k in range(2, n + 1)]
        started = time.perf_counter()
        found = mixed_integer(graph, solver=solver, time_limit=limit, **given)
        seconds = time.perf_counter() - started
        said = found.details
        known = np.isfinite(found.values)
        error = np.max(np.abs(found.values - values)[known]) if known.any() else np.nan
        best = is_optimal(graph, values, bounds, found) if known.all() else "-"
        status = str(found.status)
        if not found.converged and known.any():
            status += f" ({said['states_solved']:,} of {graph.n_states:,} states)"
        rows.append(
            f"| {solver} | {n} | {status} | {seconds:.2f} | {found.sweeps:,} | "
            f"{said['gap']:.2g} | {said['binaries']:,} | {said['binaries_fixed_beforehand']:,} | "
            f"{error:.1e} | {best} |"
        )
        print(way, rows[-1], flush=True)
        if not found.converged:
            break
    return rows


def measured(
    way: str, options: dict, solvers: list[str], sticks: list[int], limit: float
) -> list[str]:
    """The rows of all solvers."""
    return [row for solver in solvers for row in measure(way, options, solver, sticks, limit)]


def section(way: str, rows: list[str], note: str = "") -> str:
    """What was measured of one way, under its title."""
    head = [f"## {way[0].upper()}{way[1:]}", "", *([note, ""] if note else [])]
    return "\n".join([*head, COLUMNS, "|---" * 10 + "|", *rows]) + "\n"


def measured_alone(limit: float, note: str) -> str:
    """What stands over a section that was measured by itself."""
    return f"Measured by itself. A run may take {limit:g} s. {note}".strip()


def replaced(page: str, new: str) -> str:
    """A page with one section in the place of that with the same title, or before the last one."""
    head, *sections = re.split(r"^(?=## )", page, flags=re.M)
    title = new.split("\n")[0]
    titles = [old.split("\n")[0] for old in sections]
    if title in titles:
        sections[titles.index(title)] = new + "\n"
    else:
        sections.insert(len(sections) - 1, new + "\n")
    return (head + "".join(sections)).rstrip("\n") + "\n"


def strategy_rows(sticks: list[int]) -> list[str]:
    rows = ["| sticks | states | milliseconds | certified ± |", "|---|---|---|---|"]
    strategy_iteration(build(SuperSix(sticks=20)))  # compiles
    for n in sticks:
        times = []
        for _ in range(3):
            graph = build(SuperSix(sticks=n))  # whose components aren't known
            started = time.perf_counter()
            found = strategy_iteration(graph)
            times.append(time.perf_counter() - started)
        bound = certify(graph, found.values).bound
        rows.append(f"| {n} | {graph.n_states:,} | {1000 * min(times):.1f} | {bound:.1e} |")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=600.0)
    parser.add_argument("--sticks", default="20,40,60,130")
    parser.add_argument("--only", choices=[way for way, _ in WAYS])
    parser.add_argument("--solver", choices=SOLVERS, help="one of them; both unless given")
    parser.add_argument("--note", default="", help="with --only: a line over the table")
    arguments = parser.parse_args()
    sticks = [int(n) for n in arguments.sticks.split(",")]
    solvers = [arguments.solver] if arguments.solver else list(SOLVERS)
    place = Path(__file__).with_suffix(".md")
    if arguments.only:
        options = dict(WAYS)[arguments.only]
        rows = measured(arguments.only, options, solvers, sticks, arguments.limit)
        new = section(arguments.only, rows, measured_alone(arguments.limit, arguments.note))
        place.write_text(replaced(place.read_text(), new))
        return
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}"
        for name in ("highspy", "pyscipopt", "numpy", "numba")
    )
    text = [
        "# Mixed-integer programming on Super Six",
        "",
        f"Written by `python benchmarks/milp.py --limit {arguments.limit:g} --sticks "
        f"{arguments.sticks}`; not edited by hand.",
        "",
        f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores, "
        f"{platform.machine()}, shared with other work. A run may take {arguments.limit:g} s; "
        "after one that doesn't finish, more sticks are not tried.",
        "",
        "`decided`: binaries that the bounds of interval iteration fixed beforehand (counting "
        "those of actions that are worse). `error`: largest distance from the certified values, "
        "which lie from -1 to 1. `best`: whether the binaries chose a best action everywhere.",
        "",
        "## Strategy iteration",
        "",
        *strategy_rows(sticks),
    ]
    for way, options in WAYS:
        rows = measured(way, options, solvers, sticks, arguments.limit)
        text += ["", section(way, rows).rstrip("\n")]
        place.write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
