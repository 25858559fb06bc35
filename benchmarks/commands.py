"""Whole commands: the first use ever, the second, and what a start of Python costs.

Run in turn, each as a process of its own. The first use ever is made with empty caches:
``NUMBA_CACHE_DIR`` and ``XDG_CACHE_HOME`` are empty folders, and stay so for the next
uses, so that they find what the first one left. (The first use ever leaves a process that
goes on compiling what only other games need. It is stopped.)
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from benchmarks.measure import Settings

# Waits for a command in a process that is small itself, so that the peak is the command's.
MEASURE = """
import resource, subprocess, sys, time
started = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
took = time.perf_counter() - started
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.returncode, took, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""
ROLLWISE = [sys.executable, "-m", "rollwise"]
LEAST_LIMIT = 120.0  # of a command: the first use ever compiles everything
SAVED = "FILE"  # in the words of a command: Pig, saved
YARDSTICK = "python -c 'import numba, numpy'"


def _python(code: str) -> tuple[str, list[str]]:
    return f"python -c '{code}'", [sys.executable, "-c", code]


def _rollwise(words: str) -> tuple[str, list[str]]:
    return f"rollwise {words}", [*ROLLWISE, *words.split()]


COMMANDS: list[tuple[str, list[str]]] = [
    _python("pass"),
    _python("import numpy"),
    (YARDSTICK, [sys.executable, "-c", "import numba, numpy"]),
    ("import rollwise", [sys.executable, "-c", "import rollwise"]),
    _rollwise("--help"),
    _rollwise("solve craps"),
    _rollwise("solve piglet"),
    _rollwise("solve threes"),
    _rollwise("solve dice-blackjack"),
    _rollwise("solve super-six sticks=7"),
    _rollwise("table pig --load FILE --limit 5"),
    _rollwise("advise pig --load FILE --state banked=0,rival=0,turn=20"),
    _rollwise("play piglet --seed 1"),  # which ends at its first question: nobody answers
    _rollwise("play pig --seed 1"),
    _rollwise("solve pig"),
    _rollwise("solve super-six sticks=130"),
]


def measure(command: list[str], environment: dict[str, str], limit: float) -> dict[str, Any]:
    """Seconds, those of all cores, and peak bytes of a command."""
    with tempfile.TemporaryDirectory() as folder:  # where games are kept that nobody plays on
        process = subprocess.Popen(
            [sys.executable, "-c", MEASURE, *command],
            cwd=folder,
            # with sources that Python compiled once, as all have them who installed it
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            said, complaint = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return {"fault": f"didn't finish in {limit:.0f} s"}
    with contextlib.suppress(ProcessLookupError):  # what still compiles would disturb the next one
        os.killpg(process.pid, signal.SIGKILL)
    code, seconds, cpu, peak = said.split()
    if code != "0":
        return {"fault": (complaint.strip().splitlines() or [f"exit code {code}"])[-1]}
    unit = 1 if sys.platform == "darwin" else 1024
    return {"seconds": float(seconds), "cpu": float(cpu), "peak": int(peak) * unit}


def rows(settings: Settings, quick: bool, report: Callable[[str], None]) -> list[dict[str, Any]]:
    """The commands: first use ever, then medians of further uses in turn."""
    turns = 2 if quick else 5
    limit = max(2 * settings.limit, LEAST_LIMIT)
    found = []
    with tempfile.TemporaryDirectory() as empty:
        caches = {
            "NUMBA_CACHE_DIR": os.path.join(empty, "numba"),
            "XDG_CACHE_HOME": os.path.join(empty, "cache"),
        }
        saved = os.path.join(empty, "pig.parquet")
        made = measure([*ROLLWISE, "solve", "pig", "--save", saved], caches, limit)
        if "fault" in made:
            report(f"  {made['fault']}: there is no saved solution")
        commands = [
            (name, [saved if word == SAVED else word for word in command])
            for name, command in COMMANDS
        ]
        for name, command in commands:
            # Each begins with nothing: what Pig compiled would help Super Six.
            for folder in caches.values():
                shutil.rmtree(folder, ignore_errors=True)
            first = measure(command, caches, limit)
            found.append({"command": name, "first": first, "next": []})
            report(
                f"  {name}: {first.get('fault') or format(first['seconds'], '.2f') + ' s at first'}"
            )
        for _, command in commands:
            measure(command, caches, limit)  # fills what was emptied since
        for _ in range(turns):
            for row, (_, command) in zip(found, commands, strict=True):
                row["next"].append(measure(command, caches, limit))
    for row in found:
        good = [run for run in row["next"] if "fault" not in run]
        row["again"] = statistics.median(run["seconds"] for run in good) if good else None
        row["peak"] = max((run["peak"] for run in good), default=0)
    return found
