"""Where rollwise's time goes, stage by stage, beside what memory alone would allow.

    python -m benchmarks.stages GAME PARAMETERS TURNS MEMORY

The limit of a stage is the bytes that it has to read and write at least once, over the
rate at which one core moves bytes (`benchmarks.memory.bandwidth`).
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.measure import Settings, ask
from benchmarks.memory import peak_bytes
from benchmarks.worker import say_once

STAGES = ("compile", "build", "components", "solve", "certify", "table")
APART = ("components", "table")  # measured by themselves; `solve` finds components too
GAMES: list[tuple[str, dict[str, Any], bool]] = [  # the last: whether `--quick` has it
    ("pig", {"target": 100}, True),
    ("super-six", {"sticks": 130}, True),
    ("super-six", {"sticks": 1000}, False),
    ("threes", {}, True),
    ("dice-blackjack", {"low": 500, "high": 502}, False),
]


def rows(settings: Settings, quick: bool, report: Callable[[str], None]) -> list[dict[str, Any]]:
    """Seconds and least bytes by stage, for each game, each in a process of its own."""
    found = []
    for game, parameters, in_quick in GAMES:
        if quick and not in_quick:
            continue
        given = [game, json.dumps(parameters), str(settings.turns), str(settings.memory)]
        said = ask(["benchmarks.stages", *given], 5 * settings.limit)
        found.append({"game": game, "parameters": parameters, **said})
        report(f"  {game} {parameters}: {said.get('fault', 'done')}")
    return found


def least_bytes(graph: Any) -> dict[str, int]:
    """Bytes that a stage has to read and write at least once."""
    n = graph.n_states
    ends = graph.action_indptr.nbytes + graph.outcome_indptr.nbytes
    recursion = ends + sum(
        array.nbytes
        for array in (
            graph.action_reward,
            graph.outcome_state,
            graph.outcome_weight,
            graph.outcome_passes,
            graph.outcome_payoff,
        )
    )
    components = ends + graph.outcome_state.nbytes + 4 * n
    return {
        "build": graph.nbytes,
        "components": components,
        "solve": components + recursion + 8 * n,
        "certify": recursion + 16 * n,
        "table": graph.states.nbytes + 40 * n,
    }


def measured(game: str, parameters: dict[str, Any], turns: int) -> dict[str, Any]:
    """Stages of one game: the first use in this process, then medians."""
    import rollwise
    from rollwise.games import find

    clock = time.perf_counter
    rules = find(game)(**parameters)
    started = clock()
    first = rollwise.solve(rules)
    first_seconds = clock() - started
    times: dict[str, list[float]] = {stage: [] for stage in STAGES}
    spent = 0.0
    graph = first.graph
    for _ in range(turns):
        del first
        started = clock()
        first = rollwise.solve(rules)
        for stage in ("compile", "build", "solve", "certify"):
            times[stage].append(first.seconds[stage])
        graph = rollwise.build(rules)
        before = clock()
        graph.components  # noqa: B018 (computed on first use)
        times["components"].append(clock() - before)
        before = clock()
        first.table()
        times["table"].append(clock() - before)
        spent += clock() - started
        if spent > 20:
            break
    return {
        "first": first_seconds,
        "n_states": graph.n_states,
        "n_outcomes": graph.n_outcomes,
        "graph_bytes": graph.nbytes,
        "bound": first.error_bound,
        "seconds": {stage: max(statistics.median(took), 0.0) for stage, took in times.items()},
        "least_bytes": least_bytes(graph),
        "turns": len(times["solve"]),
        "peak": peak_bytes(),
    }


def main() -> None:
    game, parameters, turns, memory = sys.argv[1:]
    say_once(memory, lambda: measured(game, json.loads(parameters), int(turns)))


if __name__ == "__main__":
    main()
