"""Measure the core and write benchmarks/RESULTS.md. Run it by `make bench`.

Stages are measured in this process after one run that isn't counted; whole
commands as processes of their own. Every figure is the median of several runs.
"""

from __future__ import annotations

import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rollwise.builders import build
from rollwise.game import Game
from rollwise.games.pig import Pig, TwoDicePig
from rollwise.games.super_six import SuperSix
from rollwise.solution import solve

HERE = Path(__file__).parent
STAGES: list[tuple[Game, int]] = [
    (Pig(), 5),
    (SuperSix(40), 5),
    (SuperSix(130), 5),
    (SuperSix(400), 3),
    (SuperSix(1000), 1),
    (TwoDicePig(), 1),
]


def timed(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def stages() -> Iterator[str]:
    yield "| game | states | outcomes | build | solve | certify | error bound |"
    yield "|---|---|---|---|---|---|---|"
    for game, runs in STAGES:
        solve(game)  # rules and kernels are compiled now
        solutions = [solve(game) for _ in range(runs)]
        middle = {
            stage: statistics.median(s.seconds[stage] for s in solutions)
            for stage in ("build", "solve", "certify")
        }
        graph = solutions[0].graph
        yield (
            f"| {graph.title} | {graph.n_states:,} | {graph.n_outcomes:,} | "
            + " | ".join(f"{seconds:.3f} s" for seconds in middle.values())
            + f" | {solutions[0].error_bound:.1e} |"
        )


def plain_python(game: Game) -> float:
    """Seconds that synchronous value iteration to 1e-10 takes in plain Python."""
    graph = build(game, mode="interpreted")
    indptr = graph.action_indptr.tolist()
    ends = graph.outcome_indptr.tolist()
    targets = graph.outcome_state.tolist()
    weights = graph.outcome_weight.tolist()
    passes = graph.outcome_passes.tolist()
    payoffs = graph.outcome_payoff.tolist()

    def sweep(old: list[float]) -> list[float]:
        new = []
        for s in range(graph.n_states):
            best = -2.0
            for a in range(indptr[s], indptr[s + 1]):
                worth = total = 0.0
                for k in range(ends[a], ends[a + 1]):
                    x = payoffs[k] if targets[k] < 0 else old[targets[k]]
                    worth += weights[k] * (-x if passes[k] else x)
                    total += weights[k]
                best = max(best, worth / total)
            new.append(best)
        return new

    started = time.perf_counter()
    values = [0.0] * graph.n_states
    change = 1.0
    while change > 1e-10:
        swept = sweep(values)
        change = max(abs(x - y) for x, y in zip(values, swept, strict=True))
        values = swept
    return time.perf_counter() - started


def against_plain_python() -> Iterator[str]:
    yield "| game | plain Python, value iteration to a change of 1e-10 | rollwise | ratio |"
    yield "|---|---|---|---|"
    for game in (Pig(30), SuperSix(15)):
        slow = plain_python(game)
        solve(game)
        fast = statistics.median(timed(partial(solve, game)) for _ in range(5))
        title = build(game).title
        yield f"| {title} | {slow:.2f} s | {fast:.4f} s | {slow / fast:.0f} |"


MEASURE = """
import resource, subprocess, sys, time
started = time.perf_counter()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def measure(command: list[str], extra: dict[str, str]) -> tuple[float, int]:
    """Seconds and peak kilobytes of a command, started by a process that is small itself."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *command],
        env={**os.environ, **extra},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, kilobytes = done.stdout.split()
    return float(seconds), int(kilobytes)


def commands() -> Iterator[str]:
    rollwise = [sys.executable, "-m", "rollwise"]
    yield "| command | time | peak memory |"
    yield "|---|---|---|"
    with tempfile.TemporaryDirectory() as empty:
        rows: list[tuple[str, list[str], int, dict[str, str]]] = [
            ("import rollwise", [sys.executable, "-c", "import rollwise"], 7, {}),
            ("rollwise --help", [*rollwise, "--help"], 7, {}),
            ("rollwise solve craps", [*rollwise, "solve", "craps"], 5, {}),
            ("rollwise solve pig", [*rollwise, "solve", "pig"], 5, {}),
            (
                "rollwise solve pig, the very first time",
                [*rollwise, "solve", "pig"],
                1,
                {"NUMBA_CACHE_DIR": empty},
            ),
            (
                "rollwise solve super-six sticks=400",
                [*rollwise, "solve", "super-six", "sticks=400"],
                3,
                {},
            ),
        ]
        for name, command, runs, extra in rows:
            measured = [measure(command, extra) for _ in range(runs)]
            seconds = [took for took, _ in measured]
            peak = max(kilobytes for _, kilobytes in measured)
            yield f"| `{name}` | {statistics.median(seconds):.2f} s | {peak / 1024:.0f} MB |"


def main() -> None:
    lines = [
        "# Results",
        "",
        "Written by `make bench` (benchmarks/core.py); not to be edited by hand.",
        "",
        f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in ("numba", "numpy", "scipy", "polars"))
        + ".",
        "",
        "## Stages, in one process after the first use",
        "",
        *stages(),
        "",
        "Error bounds are certified. The largest resident set of this process was "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB.",
        "",
        "## Beside a plain loop",
        "",
        *against_plain_python(),
        "",
        "The stopping change of the plain loop is not an error bound.",
        "",
        "## Whole commands",
        "",
        *commands(),
        "",
    ]
    (HERE / "RESULTS.md").write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
