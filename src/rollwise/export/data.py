"""Games with their answers as data: Parquet, JSON and NumPy's npz."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from rollwise.answer.solution import Solution
from rollwise.graph import ARRAYS, StateGraph
from rollwise.graph.choices import actions_of, chances, outcome_action, outcomes_of
from rollwise.graph.naming import free_name
from rollwise.graph.policies import outcome_payoffs
from rollwise.machine import parquet_files
from rollwise.many.seats import seat_columns

CHUNK = 10_000  # states that are written at a time
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
        worths, paid = seat_columns(graph, profile.action_worths), outcome_payoffs(graph).T
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
    """A row an outcome: the state (number and fields), its value, the action, the outcome.

    A column with the name of a field has ``_`` behind its name.
    """
    import polars as pl

    graph, (states, actions, outcomes) = solution.graph, Columns.of(solution)
    action = outcome_action(graph)
    state = graph.action_state[action]
    fields = {name: graph.rows[state, i] for i, name in enumerate(graph.columns)}
    target = pl.Series(graph.outcome_state)
    columns = {
        **{name: column[state] for name, column in states.items()},
        "action": solution.action_column(action),
        **{name: column[action] for name, column in actions.items()},
        "reward": graph.action_reward[action],
        "weight": graph.outcome_weight,
        "probability": chances(graph),
        "next_state": target.set(target < 0, None),
        **outcomes,
    }
    own = {free_name(name, fields): column for name, column in columns.items()}
    frame = pl.DataFrame({free_name("state", fields): state, **fields, **own})
    parquet_files.write_parquet(frame, path, {"rollwise": json.dumps(facts(graph))})


def write_json(solution: Solution, path: Path) -> None:
    """States with their actions with their outcomes; a state is named by its number."""
    head, columns = json.dumps(facts(solution.graph), allow_nan=False), Columns.of(solution)
    with path.open("wb") as out:
        # the closing brace of the head is left out, so that the states follow inside
        out.write(f'{head[:-1]}, "states": ['.encode())
        for begin in range(0, solution.graph.n_states, CHUNK):
            out.write(b",\n" if begin else b"")
            out.write(b",\n".join(_state_texts(solution.graph, columns, begin, CHUNK)))
        out.write(b"]}\n")


def json_bytes(solution: Solution) -> int:
    """About how large a file `write_json` makes, by some of the states."""
    graph, columns = solution.graph, Columns.of(solution)
    some = np.unique(np.linspace(0, graph.n_states - 1, SAMPLE).astype(int)).tolist()
    sizes = [len(text) + 2 for s in some for text in _state_texts(graph, columns, s, 1)]
    return round(graph.n_states * float(np.mean(sizes)))


def _state_texts(graph: StateGraph, columns: Columns, begin: int, size: int) -> Iterator[bytes]:
    """The states from `begin` on, at most `size` of them, as JSON.

    Infinite numbers, as of play that costs for ever, are null.
    """
    states = np.arange(begin, min(begin + size, graph.n_states))
    actions, n_actions = actions_of(graph, states)
    outcomes, n_outcomes = outcomes_of(graph, actions)
    targets = graph.outcome_state[outcomes].tolist()
    of_outcomes = _records(
        {"weight": graph.outcome_weight[outcomes].tolist()}
        | {"next": [None if target < 0 else target for target in targets]},
        {name.removeprefix("outcome_"): x[outcomes] for name, x in columns.outcomes.items()},
    )
    labels = graph.action_label[actions].tolist()
    names = {label: graph.vocabulary.text(label) for label in set(labels)}
    of_actions = _records(
        {"action": [names[label] for label in labels], "number": labels}
        | {"reward": graph.action_reward[actions].tolist()},
        {name.removeprefix("action_"): x[actions] for name, x in columns.actions.items()},
    )
    of_states = _records(
        {"state": [graph.view[s].named for s in states.tolist()]},
        {name.removeprefix("state_"): x[states] for name, x in columns.states.items()},
    )
    all_actions = (
        {**action, "outcomes": list(islice(of_outcomes, n))}
        for action, n in zip(of_actions, n_outcomes.tolist(), strict=True)
    )
    for state, n in zip(of_states, n_actions.tolist(), strict=True):
        record = {**state, "actions": list(islice(all_actions, n))}
        yield msgspec.json.encode(record, enc_hook=int)  # members of enumerations as numbers


def _records(
    lists: dict[str, list[Any]], arrays: dict[str, NDArray[Any]]
) -> Iterator[dict[str, Any]]:
    """A record an entry: of lists, and then of arrays."""
    parts = lists | {name: array.tolist() for name, array in arrays.items()}
    return (dict(zip(parts, entry, strict=True)) for entry in zip(*parts.values(), strict=True))
