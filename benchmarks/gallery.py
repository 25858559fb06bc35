"""Every game that rollwise has, once, at its default parameters: games made for play, not for this.

    python -m benchmarks.gallery GAME MEMORY

solves one game in a process of its own. A small Pig was solved there before, so that all code but
the rules is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from benchmarks.measure import Settings, ask
from benchmarks.memory import peak_bytes
from benchmarks.worker import say_once

STAGES = ("compile", "states", "build", "solve", "certify")  # `states`: of games by layers


def rows(settings: Settings, report: Callable[[str], None]) -> list[dict[str, Any]]:
    """Seconds by stage, peak memory and size of each game, in alphabetical order."""
    from rollwise.games import available

    found = []
    for name in available():
        said = ask(["benchmarks.gallery", name, str(settings.memory)], 10 * settings.limit)
        found.append({"game": name, **said})
        report(f"  {name}: {said.get('fault', 'done')}")
    return found


def measured(name: str) -> dict[str, Any]:
    """Solve one game once."""
    import rollwise
    from rollwise.games import find
    from rollwise.games.pig import Pig

    rollwise.solve(Pig(45))
    before = peak_bytes()
    solution = rollwise.solve(find(name)())
    space = solution.space
    return {
        "n_states": space.n_states,
        "n_outcomes": space.n_outcomes,
        "graph_bytes": solution.graph.nbytes if solution.is_whole else None,
        "bound": solution.error_bound,
        "seconds": {stage: solution.seconds.get(stage, 0.0) for stage in STAGES},
        "peak": peak_bytes(),
        "peak_before": before,
    }


def main() -> None:
    name, memory = sys.argv[1:]
    say_once(memory, lambda: measured(name))


if __name__ == "__main__":
    main()
