"""Models in UMB, the binary format of Storm, PRISM and Modest (https://github.com/pmc-tools/umb).

States, endings and rewards are those of `rollwise.export.models`. Chances are fractions where the
weights are whole numbers. The variables of a state are its fields, and the number of its ending.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

from rollwise import __version__
from rollwise.export.models import (
    endings,
    has_two_choosers,
    require_rewards,
    reward_name,
    seats,
    shares,
)
from rollwise.graph import StateGraph
from rollwise.graph.choices import chances, outcome_action
from rollwise.graph.lotteries import pointers

DOUBLE = {"type": "double", "size": 64}
RATIONAL = {"type": "rational", "size": 128}
INTEGER = {"type": "int", "size": 32}


def write_umb(graph: StateGraph, path: Path) -> None:
    """Write a graph from `one_chooser`: an MDP, or a game where both players have a choice.

    Raises
    ------
    UsageError
        Negative rewards.
    """
    require_rewards(graph, "UMB")
    payoffs = endings(graph)
    n, last = graph.n_states, len(payoffs.names)
    # endings are states behind those of the graph; each leads to the last one, which stays
    ends = np.arange(last + 1)  # the last is "finished"
    two = has_two_choosers(graph)
    n_states, n_choices = n + last + 1, graph.n_actions + last + 1
    labels, action = np.unique(graph.action_label, return_inverse=True)
    names = [*(graph.vocabulary.text(label) for label in labels.tolist()), "finish"]
    texts = [name.encode() for name in names]
    target = np.where(payoffs.of_outcome < 0, graph.outcome_state, n + payoffs.of_outcome)
    variables = np.zeros((n_states, len(graph.columns) + 1), "<i4")
    variables[:n, :-1], variables[n:, -1] = graph.rows, ends + 1
    rewards = np.zeros(n_choices)
    rewards[: graph.n_actions] = graph.action_reward if graph.objective != "win" else 0.0
    rewards[graph.n_actions : -1] = shares(graph, payoffs)
    kind, probability = _probability(graph, last + 1)
    parts: dict[str, Any] = {
        "state-to-choices.bin": _counted(np.diff(graph.action_indptr), last + 1),
        "state-to-player.bin": np.append(seats(graph), 0 * ends).astype("<u4"),
        "state-is-initial.bin": _bits(np.arange(n_states) == 0),
        "choice-to-branches.bin": _counted(np.diff(graph.outcome_indptr), last + 1),
        "branch-to-target.bin": np.append(target, n + np.full_like(ends, last)).astype("<u8"),
        "branch-to-probability.bin": probability,
        "actions/choices/values.bin": np.append(action, 0 * ends + len(labels)).astype("<u4"),
        "actions/choices/string-mapping.bin": np.cumsum([0, *map(len, texts)]).astype("<u8"),
        "actions/choices/strings.bin": np.frombuffer(b"".join(texts), np.uint8),
        f"annotations/rewards/{reward_name(graph)}/choices/values.bin": rewards.astype("<f8"),
        "valuations/states/valuations.bin": variables,
    }
    if not two:
        del parts["state-to-player.bin"]
    for number, name in enumerate([*payoffs.names, "finished"]):
        path_of_values = f"annotations/aps/{name}/states/values.bin"
        parts[path_of_values] = _bits(np.arange(n_states) == n + number)
    system = {
        "time": "discrete",
        "#players": 1 + two,
        "#states": n_states,
        "#initial-states": 1,
        "#choices": n_choices,
        "#choice-actions": len(names),
        "#branches": graph.n_outcomes + last + 1,
        "#branch-actions": 0,
        "#observations": 0,
        "branch-probability-type": kind,
    }
    if two:
        system["player-names"] = ["first", "second"]
    fields = [*graph.columns, "ending"]
    of_states = [{"name": name, "type": INTEGER} for name in fields]
    index = {
        "format-version": 1,
        "format-revision": 0,
        "model-data": {"name": graph.title},
        "file-data": {"tool": "rollwise", "tool-version": __version__},
        "transition-system": system,
        "annotations": {
            "aps": {
                name: _annotation(name, "states", {"type": "bool", "size": 1})
                for name in (*payoffs.names, "finished")
            },
            "rewards": {reward_name(graph): _annotation(reward_name(graph), "choices", DOUBLE)},
        },
        "valuations": {"states": {"unique": True, "classes": [{"variables": of_states}]}},
    }
    _write(path, {"index.json": json.dumps(index, indent=1).encode()} | parts)


def _annotation(name: str, kind: str, of: dict[str, Any]) -> dict[str, Any]:
    return {"alias": name, "applies-to": [kind], "type": of}


def _probability(graph: StateGraph, more: int) -> tuple[dict[str, Any], Any]:
    """The type and the chances of the branches; `more` certain ones at the end."""
    weight = graph.outcome_weight
    if weight.dtype.kind == "f":
        return DOUBLE, np.append(chances(graph), np.ones(more)).astype("<f8")
    lotteries = graph.lotteries
    totals = np.add.reduceat(lotteries.weight, lotteries.indptr[:-1])
    total = totals[graph.action_lottery][outcome_action(graph)]
    common = np.gcd(weight, total)
    pairs = np.column_stack([weight // common, total // common])
    return RATIONAL, np.concatenate([pairs, np.ones((more, 2), np.int64)]).astype("<i8")


def _counted(sizes: Any, more: int) -> Any:
    """The first item of each, from the numbers of items; `more` have one each."""
    return pointers(np.append(sizes, np.ones(more, np.int64))).astype("<u8")


def _bits(mask: Any) -> Any:
    """A set of states as bits, in whole words of 64."""
    packed = np.packbits(mask, bitorder="little")
    return np.append(packed, np.zeros(-len(packed) % 8, np.uint8))


def _write(path: Path, parts: dict[str, Any]) -> None:
    with (
        path.open("wb") as out,
        gzip.GzipFile("", "wb", fileobj=out, mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as tar,
    ):
        for name, part in parts.items():
            content = part if isinstance(part, bytes) else part.tobytes()
            about = tarfile.TarInfo(name)
            about.size = len(content)
            tar.addfile(about, io.BytesIO(content))
