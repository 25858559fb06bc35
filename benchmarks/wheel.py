"""The first use of a wheel with compiled kernels, beside the wheel for all platforms.

Both wheels are built and installed in environments of their own. Each command runs
with empty caches, and then again, in turns. The second run shows whether kernels for a common
processor are slower than those that Numba compiles for this one.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.commands import LEAST_LIMIT, measure
from benchmarks.measure import ROOT, Settings

COMMANDS = (
    "solve pig",
    "play pig --seed 1",
    "solve super-six sticks=130",
    "simulate pig --policy hold-at-20",
    "--no-cache solve super-six sticks=700",
)


def build(folder: Path) -> dict[str, Path]:
    """An environment for each wheel: ``any`` for all platforms, ``platform`` for this one."""
    places = {}
    for name, kernels in (("any", "none"), ("platform", "all")):
        wheels = folder / "wheels" / name
        build = [sys.executable, "-m", "build", "--wheel", "--outdir", wheels, ROOT]
        build.append(f"--config-setting=kernels={kernels}")
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
        places[name] = folder / name
        venv.create(places[name], with_pip=True)
        python = places[name] / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wheels.iterdir()], check=True)
    return places


def rows(settings: Settings, quick: bool, report: Callable[[str], None]) -> list[dict[str, Any]]:
    """Seconds of each command: the first use ever, and the median of further ones, by wheel."""
    limit = max(2 * settings.limit, LEAST_LIMIT)
    turns = 2 if quick else 5
    found = []
    with tempfile.TemporaryDirectory() as name:
        places = build(Path(name))
        for number, command in enumerate(COMMANDS):
            row: dict[str, Any] = {"command": f"rollwise {command}"}
            runs: dict[str, list[dict[str, Any]]] = {place: [] for place in places}
            for _ in range(turns + 1):
                for place, folder in places.items():
                    caches = {
                        "NUMBA_CACHE_DIR": os.path.join(folder, f"numba{number}"),
                        "XDG_CACHE_HOME": os.path.join(folder, f"cache{number}"),
                        "PYTHONPATH": "",
                    }
                    words = [str(folder / "bin" / "rollwise"), *command.split()]
                    runs[place].append(measure(words, caches, limit))
            for place, (first, *further) in runs.items():
                good = [run["seconds"] for run in further if "fault" not in run]
                again = statistics.median(good) if good else None
                row[place] = {"first": first, "again": again}
                report(f"  {command}, {place}: {first.get('fault') or first['seconds']}, {again}")
            found.append(row)
    return found
