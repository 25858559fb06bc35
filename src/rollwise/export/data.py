"""Games with their answers as data: Parquet, JSON and NumPy's npz."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from rollwise.answer.solution import Solution
from rollwise.graph import ARRAYS, StateGraph
from rollwise.machine import parquet_files

SAMPLE = 500  # states, by which a size is told beforehand


def facts(graph: StateGraph) -> dict[str, Any]:
    """What a graph is of, as JSON knows it."""
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


def read_npz(path: Path) -> tuple[StateGraph, dict[str, Any]]:
    """The graph in an npz file, and the other arrays (values, error_bounds, action_values)."""
    with np.load(path, allow_pickle=False) as data:
        about = json.loads(str(data["facts"]))
        graph = StateGraph.of_arrays(
            **{name: data[name] for name in ARRAYS},
            field_names=tuple(about["fields"]),
            action_names={int(label): name for label, name in about["actions"].items()},
            game=about["game"],
            parameters=about["parameters"],
            players=about["players"],
            objective=about["objective"],
            n_roots=about["roots"],
        )
        others = {name: data[name] for name in ("values", "error_bounds", "action_values")}
    return graph, others


def write_parquet(solution: Solution, path: Path) -> None:
    """A row an outcome: the state (number and fields), its value, the action, the outcome."""
    import polars as pl

    graph = solution.graph
    action = np.repeat(np.arange(graph.n_actions), np.diff(graph.outcome_indptr))
    state = graph.action_state[action]
    total = np.add.reduceat(graph.outcome_weight, graph.outcome_indptr[:-1])
    labels = np.unique(graph.action_label)
    names = pl.Series([graph.action_names.get(label, str(label)) for label in labels.tolist()])
    frame = pl.DataFrame(
        {
            "state": state,
            **{name: graph.states[state, i] for i, name in enumerate(graph.field_names)},
            "value": solution.values[state],
            "error_bound": solution.error_bounds[state],
            "action": names.gather(np.searchsorted(labels, graph.action_label[action])),
            "action_value": solution.action_values[action],
            "best": solution.is_best[action],
            "reward": graph.action_reward[action],
            "weight": graph.outcome_weight,
            "probability": graph.outcome_weight / total[action],
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
        out.write(f'{head[:-1]}, "states": [')
        for s in range(solution.graph.n_states):
            out.write(", " if s else "")
            out.write(_state_text(solution, s))
        out.write("]}\n")


def json_bytes(solution: Solution) -> int:
    """About how large a file `write_json` makes, by some of the states."""
    n = solution.graph.n_states
    some = np.unique(np.linspace(0, n - 1, SAMPLE).astype(int)).tolist()
    return round(n * float(np.mean([len(_state_text(solution, s)) + 2 for s in some])))


def _state_text(solution: Solution, s: int) -> str:
    graph = solution.graph
    bound = float(solution.error_bounds[s])
    actions = []
    for a in range(int(graph.action_indptr[s]), int(graph.action_indptr[s + 1])):
        outcomes = []
        for k in range(int(graph.outcome_indptr[a]), int(graph.outcome_indptr[a + 1])):
            t = int(graph.outcome_state[k])
            outcomes.append(
                {
                    "weight": graph.outcome_weight[k].item(),
                    "next": None if t < 0 else t,
                    "passes": bool(graph.outcome_passes[k]),
                    "payoff": float(graph.outcome_payoff[k]),
                }
            )
        actions.append(
            {
                "action": graph.action_text(a),
                "number": int(graph.action_label[a]),
                "reward": float(graph.action_reward[a]),
                "value": float(solution.action_values[a]),
                "best": bool(solution.is_best[a]),
                "outcomes": outcomes,
            }
        )
    document = {
        "state": dict(zip(graph.field_names, graph.states[s].tolist(), strict=True)),
        "value": float(solution.values[s]),
        "error_bound": bound if np.isfinite(bound) else None,
        "actions": actions,
    }
    return json.dumps(document, allow_nan=False)
