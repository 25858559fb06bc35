"""A process for one tool and one problem: it works when told to, and says how it went.

    python -m benchmarks.worker PEER WAY WORK FOLDER MEMORY

Each line ``run`` on its input gives a line of JSON on its output. What the tool itself
prints goes to its error output. ``PEER`` may be ``prepare``, which makes the certified
answer (see `benchmarks.work.prepare`; `WAY` is then ``model`` where Storm wants one).
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.memory import limit_memory, peak_bytes

UNLIMITED = "inf"


def say(to: int, **facts: Any) -> None:
    os.write(to, (json.dumps(facts) + "\n").encode())


def own_output() -> int:
    """Where to `say` things: the output, while whatever is printed goes to the error output."""
    out = os.dup(1)
    os.dup2(2, 1)
    return out


def say_once(memory: str, measure: Callable[[], dict[str, Any]]) -> None:
    """Say what a function measures in so many gibibytes; in ``inf`` there is no limit."""
    out = own_output()
    if memory != UNLIMITED:
        limit_memory(int(float(memory) * 2**30))
    try:
        say(out, **measure())
    except MemoryError:
        say(out, fault=f"ran out of memory ({memory} GB)")


def main() -> None:
    name, way, work_name, folder, memory = sys.argv[1:]
    out = own_output()
    limit_memory(int(float(memory) * 2**30))
    try:
        from benchmarks.work import Problem, find_work, prepare

        work, where = find_work(work_name), Path(folder)
        if name == "prepare":
            say(out, facts=prepare(work, where, way == "model"), peak=peak_bytes())
            return
        from benchmarks.peers import peer

        problem = Problem.load(work, where)
        run = peer(name).start(problem, way)
        say(out, ready=True)
        for _ in sys.stdin:
            say(out, **measured(run(), problem), peak=peak_bytes())
            gc.collect()
    except MemoryError:
        say(out, fault=f"ran out of memory ({memory} GB)")
    except Exception as error:
        text = (str(error).strip().splitlines() or [""])[0]
        kind = "" if isinstance(error, NotImplementedError) else f"{type(error).__name__}: "
        say(out, fault=f"{kind}{text}"[:300])


def measured(answer: Any, problem: Any) -> dict[str, Any]:
    """An answer as facts, with its distance from the certified one."""
    import numpy as np

    peak = peak_bytes()  # before the comparison takes its own
    worth = answer.worth()
    known = problem.worth
    if isinstance(worth, float):
        error, compared = abs(worth - known[0]), 1
    else:
        there = ~np.isnan(worth)
        error, compared = float(np.abs(worth[there] - known[there]).max()), int(there.sum())
    return {
        "seconds": dict(answer.seconds),
        "error": float(error),
        "compared": compared,
        "claim": answer.claim,
        "claimed": answer.claimed,
        "peak_before_comparing": peak,
        **answer.notes,
    }


if __name__ == "__main__":
    main()
