"""Games with their answers as data: Parquet, JSON and NumPy's npz."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from rollwise.answer.solution import Solution
from rollwise.graph import ARRAYS, State, StateGraph
from rollwise.graph.choices import chances, outcome_action
from rollwise.machine import parquet_files

SAMPLE = 500  # states, for an estimate of the size


def facts(graph: StateGraph) -> dict[str, Any]:
    """The description of a graph, as JSON types."""
    return {
        "game": graph.game,
        "parameters": dict(graph.parameters),
        "players": graph.players,
        "objective": graph.objective,
        "fields": list(graph.field_names),
        "actions": {str(label): name for label, name in sorted(graph.action_names.items())},
        "roots": graph.n_roots,
        "hash": graph.content_hash,
    }


def write_npz(solution: Solution, path: Path) -> None:
    """The arrays of the graph under their names, ``values``, ``error_bounds``,
    ``action_values``, and ``facts``, a JSON document."""
    graph = solution.graph
    arrays: dict[str, Any] = {name: getattr(graph, name) for name in ARRAYS}
    with path.open("wb") as out:
        np.savez_compressed(
            out,
            allow_pickle=False,
            values=solution.values,
            error_bounds=solution.error_bounds,
            action_values=solution.action_values,
            facts=np.array(json.dumps(facts(graph))),
            **arrays,
        )


def write_parquet(solution: Solution, path: Path) -> None:
    """A row an outcome: the state (number and fields), its value, the action, the outcome."""
    import polars as pl

    graph = solution.graph
    action = outcome_action(graph)
    state = graph.action_state[action]
    frame = pl.DataFrame(
        {
            "state": state,
            **{name: graph.rows[state, i] for i, name in enumerate(graph.columns)},
            "value": solution.values[state],
            "error_bound": solution.error_bounds[state],
            "action": solution.action_column(action),
            "action_value": solution.action_values[action],
            "best": solution.is_best[action],
            "reward": graph.action_reward[action],
            "weight": graph.outcome_weight,
            "probability": chances(graph),
            "next_state": graph.outcome_state,
            "passes": graph.outcome_passes,
            "payoff": graph.outcome_payoff,
        }
    )
    frame = frame.with_columns(
        pl.when(pl.col("next_state") >= 0).then(pl.col("next_state")).alias("next_state")
    )
    parquet_files.write_parquet(frame, path, {"rollwise": json.dumps(facts(graph))})


def write_json(solution: Solution, path: Path) -> None:
    """States with their actions with their outcomes; a state is named by its number."""
    head = json.dumps(facts(solution.graph), allow_nan=False)
    with path.open("w", encoding="utf-8", newline="\n") as out:
        # the closing brace of the head is left out, so that the states follow inside
        out.write(f'{head[:-1]}, "states": [')
        for state in solution.graph.view:
            out.write(", " if state.index else "")
            out.write(_state_text(solution, state))
        out.write("]}\n")


def json_bytes(solution: Solution) -> int:
    """About how large a file `write_json` makes, by some of the states."""
    view = solution.graph.view
    n = len(view)
    some = np.unique(np.linspace(0, n - 1, SAMPLE).astype(int)).tolist()
    return round(n * float(np.mean([len(_state_text(solution, view[s])) + 2 for s in some])))


def _number(number: Any) -> float | None:
    """A number as JSON knows it; null for an infinite one, as of play that costs for ever."""
    return float(number) if np.isfinite(number) else None


def _state_text(solution: Solution, state: State) -> str:
    document = {
        "state": state.named,
        "value": _number(solution.values[state]),
        "error_bound": _number(solution.error_bounds[state]),
        "actions": [
            {
                "action": action.name,
                "number": action.label,
                "reward": action.reward,
                "value": _number(solution.action_values[action]),
                "best": bool(solution.is_best[action]),
                "outcomes": [
                    {
                        "weight": outcome.weight,
                        "next": None if outcome.is_over else outcome.target,
                        "passes": outcome.passes,
                        "payoff": outcome.payoff,
                    }
                    for outcome in action.outcomes
                ],
            }
            for action in state.actions
        ],
    }
    return json.dumps(document, allow_nan=False)
