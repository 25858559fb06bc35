"""Super Six with very many sticks: what it is worth to begin, and where it is right to stop.

It solves the game by layers and writes ``super_six_edges.json``, which the study of the family
reads. It takes minutes and gigabytes: `make docs` doesn't run it.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import rollwise
from rollwise.answer.solution import Solution
from rollwise.games.super_six import STOP, SuperSix

FILE = Path(__file__).with_name("super_six_edges.json")
STICKS = 4400
MOST_STATES = 400_000_000
AT_ONCE = 5_000_000  # states that are looked at together


def main(arguments: Sequence[str] | None = None) -> None:
    """Solve, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sticks", type=int, default=STICKS)
    parser.add_argument("--out", type=Path, default=FILE)
    given = parser.parse_args(arguments)
    began = time.perf_counter()
    solution = rollwise.solve_by_layers(SuperSix(sticks=given.sticks), max_states=MOST_STATES)
    facts = {
        "made_by": f"python docs/case-studies/super_six_edges.py --sticks {given.sticks}",
        "rollwise": rollwise.__version__,
        "game": solution.title,
        "states": len(solution.space.states),
        "error_bound": solution.error_bound,
        "seconds": round(time.perf_counter() - began),
        "gigabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 1),
        "first_stops": first_stops(solution),
        "columns": ["sticks", "value", "error_bound"],
        "rows": edges(solution, given.sticks),
    }
    given.out.write_text(as_text(facts), encoding="utf-8")
    print(given.out)


def edges(solution: Solution, most: int) -> list[list[Any]]:
    """The certified value of who begins, by the number of sticks.

    All numbers up to 101, then each hundred and the odd number after it.
    """
    rows = []
    for n in (n for n in range(2, most + 1) if n <= 101 or n % 100 in (0, 1)):
        layer = int(np.searchsorted(solution.space.progress, most - n))
        begin, end = solution.space.layers[layer : layer + 2]
        start = (0, n // 2, n - n // 2, 1)
        s = begin + int(np.flatnonzero((solution.space.states[begin:end] == start).all(axis=1))[0])
        rows.append([n, float(solution.values[s]), float(solution.error_bounds[s])])
    return rows


def first_stops(solution: Solution) -> dict[str, Any]:
    """For each number of sticks in the lid, the fewest in the game with which one should stop.

    One should where stopping is better by more than the certified error can tell.
    """
    most = int(solution.space.states[:, 0].max())
    least: dict[str, Any] = {str(lid): None for lid in range(most + 1)}
    for begin in range(0, len(solution.space.states), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        lid, mine, theirs, _ = solution.space.states[part][solution.space.actions[part] == STOP].T
        for there in np.unique(lid):
            sticks = int((lid + mine + theirs)[lid == there].min())
            known = least[str(there)]
            least[str(there)] = sticks if known is None else min(known, sticks)
    return least


def as_text(facts: dict[str, Any]) -> str:
    """JSON, with a line for each row."""
    rows = ",\n    ".join(json.dumps(row) for row in facts["rows"])
    text = json.dumps({**facts, "rows": "ROWS"}, indent=2)
    return text.replace('"ROWS"', f"[\n    {rows}\n  ]") + "\n"


if __name__ == "__main__":
    main()
