"""What each trick of the machine room brings: the same work with all of them, and without each.

    python -m benchmarks --only tricks [--quick]

Runs take turns: with all tricks, without the first, without the second, and so on, again and
again, so that all meet the same machine. Of each the least wall time and the least CPU time (of
all threads and processes) are kept, since what else the machine does only adds to them.

What only compiling needs (the cache of compiled code, and the second process on the first use)
is measured by commands that find empty caches, once each.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from benchmarks import commands
from benchmarks.measure import Settings, Worker

# With the number of turns in a warm process.
GAMES: list[tuple[str, dict[str, int], int]] = [
    ("pig", {"target": 100}, 15),
    ("super-six", {"sticks": 1000}, 7),
]
SMALLEST = "craps"  # a game that is solved sooner than a command starts
ALL = "(all tricks)"
# Each of them is turned off in turn.
SOLVING = ("prefetch", "second-core", "freed-memory")
STARTING = ("garbage",)
COMPILING = ("first-use", "kernel-cache", "inner-code")
SMALL = ("plain-kernels",)


def rows(settings: Settings, quick: bool, report: Callable[[str], None]) -> list[dict[str, Any]]:
    """A row for each game, trick, and what was measured: seconds of wall time and of CPU."""
    found = []
    for game, parameters, turns in GAMES:
        found += warm(game, parameters, settings, 3 if quick else turns)
        report(f"  {game}: in a warm process")
        found += whole(game, parameters, (*SOLVING, *STARTING), settings, 2 if quick else 5)
        report(f"  {game}: whole commands")
    found += whole(SMALLEST, {}, (*STARTING, *SMALL), settings, 2 if quick else 15)
    if not quick:
        found += empty_caches(settings)
        report("  with empty caches")
    return found


def without(trick: str) -> dict[str, str]:
    """The environment in which a trick is off."""
    return {"ROLLWISE_OFF": "" if trick == ALL else trick, "ROLLWISE_NO_CACHE": "1"}


def row(game: str, what: str, trick: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The least of some runs; a ``fault`` where one failed."""
    faults = [run["fault"] for run in runs if "fault" in run]
    if faults:
        return {"game": game, "what": what, "trick": trick, "fault": faults[0]}
    least = {key: min(run[key] for run in runs) for key in ("seconds", "cpu")}
    return {"game": game, "what": what, "trick": trick, "runs": len(runs), **least}


def warm(
    game: str, parameters: dict[str, int], settings: Settings, turns: int
) -> list[dict[str, Any]]:
    """`rollwise.solve` in processes that have solved the game before, without each trick."""
    arguments = ["benchmarks.tricks", game, json.dumps(parameters)]
    workers = {trick: Worker(arguments, without(trick)) for trick in (ALL, *SOLVING)}
    runs: dict[str, list[dict[str, Any]]] = {trick: [] for trick in workers}
    limit = 10 * settings.limit
    for worker in workers.values():
        worker.hear(limit)  # it is warm
    for _ in range(turns):
        for trick, worker in workers.items():
            worker.tell()
            runs[trick].append(worker.hear(limit))
    for worker in workers.values():
        worker.stop()
    return [row(game, "warm process", trick, told) for trick, told in runs.items()]


def whole(
    game: str, parameters: dict[str, int], tricks: tuple[str, ...], settings: Settings, turns: int
) -> list[dict[str, Any]]:
    """The command `rollwise solve`, without each of some tricks."""
    words = [game, *(f"{name}={value}" for name, value in parameters.items())]
    command = [*commands.ROLLWISE, "solve", *words]
    tricks = (ALL, *tricks)
    limit = max(10 * settings.limit, commands.LEAST_LIMIT)
    for trick in tricks:
        commands.measure(command, without(trick), limit)  # compiles what wasn't yet
    runs: dict[str, list[dict[str, Any]]] = {trick: [] for trick in tricks}
    for _ in range(turns):
        for trick in tricks:
            runs[trick].append(commands.measure(command, without(trick), limit))
    return [row(game, "command", trick, told) for trick, told in runs.items()]


def empty_caches(settings: Settings) -> list[dict[str, Any]]:
    """The first use ever, and without a cache of compiled code the second one as well."""
    found = []
    for game, tricks in (("pig", COMPILING), (SMALLEST, SMALL)):
        for trick in (ALL, *tricks):
            found += first_and_second(game, trick, settings)
    return sorted(found, key=lambda one: (one["game"], one["what"]))  # by what was measured


def first_and_second(game: str, trick: str, settings: Settings) -> list[dict[str, Any]]:
    """A command that finds empty caches, and again."""
    limit = max(20 * settings.limit, commands.LEAST_LIMIT)
    command = [*commands.ROLLWISE, "solve", game]
    with tempfile.TemporaryDirectory() as empty:
        caches = {
            "NUMBA_CACHE_DIR": os.path.join(empty, "numba"),
            "XDG_CACHE_HOME": os.path.join(empty, "cache"),
        }
        return [
            row(game, what, trick, [commands.measure(command, {**without(trick), **caches}, limit)])
            for what in ("first use ever", "second use")
        ]


def main() -> None:
    import rollwise
    from rollwise.games import find

    game, parameters = sys.argv[1], json.loads(sys.argv[2])
    rules = find(game)(**parameters)
    for _ in range(2):
        solution = rollwise.solve(rules)
    print(json.dumps({"value": solution.value}), flush=True)
    for _ in sys.stdin:
        began, used = time.perf_counter(), time.process_time()
        rollwise.solve(rules)
        said = {"seconds": time.perf_counter() - began, "cpu": time.process_time() - used}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
