"""Games with their answers as data: Parquet, JSON and NumPy's npz."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.solution import Solution
from rollwise.graph import ARRAYS, State, StateGraph
from rollwise.graph.choices import chances, outcome_action
from rollwise.graph.policies import outcome_payoffs
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


class Columns(NamedTuple):
    """The numbers of an answer, with an entry a state, an action, or an outcome.

    Those of a game for one or two are in the eyes of the mover. Of three or more players each
    seat has a column, from the mover on.
    """

    states: dict[str, NDArray[Any]]
    actions: dict[str, NDArray[Any]]
    outcomes: dict[str, NDArray[Any]]

    @classmethod
    def of(cls, solution: Solution) -> Columns:
        graph, profile = solution.graph, solution.profile
        if profile is None:
            return cls(
                {"value": solution.values, "error_bound": solution.error_bounds},
                {"action_value": solution.action_values, "best": solution.is_best},
                {"passes": graph.outcome_passes, "payoff": graph.outcome_payoff},
            )
        worths, paid = profile.by_seat(profile.action_worths), outcome_payoffs(graph).T
        return cls(
            profile.state_columns(np.arange(graph.n_states)),
            {"action_probability": profile.policy.probability}
            | {f"action_{name}": column for name, column in worths.items()},
            {"passes": graph.outcome_passes}
            | {f"outcome_payoff.{seat}": column for seat, column in enumerate(paid)},
        )


def write_npz(solution: Solution, path: Path) -> None:
    """The arrays of the graph under their names, ``values``, ``error_bounds``,
    ``action_values``, and ``facts``, a JSON document.

    Of three or more players the values, bounds and payoffs (``outcome_payoffs``) have a column a
    seat, and ``deviation_gains`` and ``action_probabilities`` are added.
    """
    graph, profile = solution.graph, solution.profile
    arrays: dict[str, Any] = {name: getattr(graph, name) for name in ARRAYS}
    if profile is None:
        arrays["values"], arrays["error_bounds"] = solution.values, solution.error_bounds
        arrays["action_values"] = solution.action_values
    else:
        arrays["values"], arrays["error_bounds"] = profile.values, profile.error_bounds
        arrays["action_values"] = profile.action_worths
        arrays["deviation_gains"] = profile.deviation_gains
        arrays["action_probabilities"] = profile.policy.probability
        arrays["outcome_payoffs"] = outcome_payoffs(graph)
    arrays["facts"] = np.array(json.dumps(facts(graph)))
    with path.open("wb") as out:
        np.savez_compressed(out, allow_pickle=False, **arrays)


def write_parquet(solution: Solution, path: Path) -> None:
    """A row an outcome: the state (number and fields), its value, the action, the outcome."""
    import polars as pl

    graph, (states, actions, outcomes) = solution.graph, Columns.of(solution)
    action = outcome_action(graph)
    state = graph.action_state[action]
    frame = pl.DataFrame(
        {
            "state": state,
            **{name: graph.rows[state, i] for i, name in enumerate(graph.columns)},
            **{name: column[state] for name, column in states.items()},
            "action": solution.action_column(action),
            **{name: column[action] for name, column in actions.items()},
            "reward": graph.action_reward[action],
            "weight": graph.outcome_weight,
            "probability": chances(graph),
            "next_state": graph.outcome_state,
            **outcomes,
        }
    )
    frame = frame.with_columns(
        pl.when(pl.col("next_state") >= 0).then(pl.col("next_state")).alias("next_state")
    )
    parquet_files.write_parquet(frame, path, {"rollwise": json.dumps(facts(graph))})


def write_json(solution: Solution, path: Path) -> None:
    """States with their actions with their outcomes; a state is named by its number."""
    head, columns = json.dumps(facts(solution.graph), allow_nan=False), Columns.of(solution)
    with path.open("w", encoding="utf-8", newline="\n") as out:
        # the closing brace of the head is left out, so that the states follow inside
        out.write(f'{head[:-1]}, "states": [')
        for state in solution.graph.view:
            out.write(", " if state.index else "")
            out.write(_state_text(columns, state))
        out.write("]}\n")


def json_bytes(solution: Solution) -> int:
    """About how large a file `write_json` makes, by some of the states."""
    view, columns = solution.graph.view, Columns.of(solution)
    n = len(view)
    some = np.unique(np.linspace(0, n - 1, SAMPLE).astype(int)).tolist()
    return round(n * float(np.mean([len(_state_text(columns, view[s])) + 2 for s in some])))


def _numbers(columns: dict[str, NDArray[Any]], index: Any, prefix: str) -> dict[str, Any]:
    """An entry of columns as JSON; null for an infinite one, as of play that costs for ever."""
    entries = {name.removeprefix(prefix): column[index] for name, column in columns.items()}
    return {name: x.item() if np.isfinite(x) else None for name, x in entries.items()}


def _state_text(columns: Columns, state: State) -> str:
    document = {
        "state": state.named,
        **_numbers(columns.states, state, "state_"),
        "actions": [
            {
                "action": action.name,
                "number": action.label,
                "reward": action.reward,
                **_numbers(columns.actions, action, "action_"),
                "outcomes": [
                    {
                        "weight": outcome.weight,
                        "next": None if outcome.is_over else outcome.target,
                        **_numbers(columns.outcomes, outcome, "outcome_"),
                    }
                    for outcome in action.outcomes
                ],
            }
            for action in state.actions
        ],
    }
    return json.dumps(document, allow_nan=False)
