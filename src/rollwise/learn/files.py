"""Learners on disk: a NumPy archive (.npz) with a description in JSON.

The arrays are the complete state of the run, including the random numbers'.
A run continued from a file ends like an uninterrupted one.
"""

from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rollwise import __version__
from rollwise.errors import LearnerFileError, UsageError
from rollwise.graph import StateGraph
from rollwise.learn.tallies import Arrays
from rollwise.machine.atomic_files import write_atomically

if TYPE_CHECKING:
    from rollwise.learn.learner import Learner

FORMAT = "2"
# The entries of a file's description, and their types.
FACTS: dict[str, Any] = {
    "game": str,
    "parameters": dict,
    "graph_hash": str,
    "method": str,
    "explore": int | float,
    "seed": int,
    "workers": int,
    "games": int,
    "recorded": int,
    "round_end": int,
}


def checksum_of(arrays: Arrays) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(arrays[name]).view(np.uint8).reshape(-1).data)
    return digest.hexdigest()


def save_learner(learner: Learner, path: Path) -> None:
    """Write a learner's state to a file, all at once or not at all."""
    arrays: Arrays = {"words": learner.words}
    arrays |= {f"base.{name}": array for name, array in learner.base.items()}
    for number, tally in enumerate(learner.tallies):
        arrays |= {f"{number}.{name}": array for name, array in tally.arrays().items()}
    facts = {
        "format": FORMAT,
        "rollwise": __version__,
        "game": learner.graph.game,
        "parameters": dict(learner.graph.parameters),
        "graph_hash": learner.graph.content_hash,
        "method": learner.method,
        "explore": learner.explore,
        "seed": learner.seed,
        "workers": learner.workers,
        "games": learner.games,
        "recorded": learner.recorded,
        "round_end": learner.round_end,
        "checksum": checksum_of(arrays),
    }
    text = np.frombuffer(json.dumps(facts).encode(), np.uint8)

    def write(target: Path) -> None:
        with target.open("wb") as file:
            np.savez_compressed(file, **{"facts": text, **arrays})  # type: ignore[arg-type]

    write_atomically(path, write)


def _read(path: Path) -> tuple[dict[str, Any], Arrays]:
    if not path.is_file():
        raise LearnerFileError(f"there is no file {path}")
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        facts = json.loads(arrays.pop("facts").tobytes())
        written = facts["format"]
        fits = {name: isinstance(facts[name], kind) for name, kind in FACTS.items()}
        sound = checksum_of(arrays) == facts["checksum"]
    except Exception as error:  # a zip file, an array or a description that isn't one
        raise LearnerFileError(f"{path} is damaged, or isn't a learner saved by rollwise") from (
            error
        )
    if written != FORMAT:
        raise LearnerFileError(
            f"{path} has the format {written}; this version of rollwise reads {FORMAT}"
        )
    if not sound:
        raise LearnerFileError(f"{path} is damaged: its counts don't match their checksum")
    if not all(fits.values()):
        wrong = next(name for name in fits if not fits[name])
        raise LearnerFileError(f"{path} is damaged: its {wrong} can't be {facts[wrong]!r:.50}")
    return facts, arrays


def load_learner(path: Path, graph: StateGraph, make: type[Learner]) -> Learner:
    """Read a learner for a graph from a file.

    Raises
    ------
    LearnerFileError
        The file is damaged, or belongs to other rules.
    """
    facts, arrays = _read(path)
    if facts["graph_hash"] != graph.content_hash:
        saved = " ".join([facts["game"], *(f"{k}={v}" for k, v in facts["parameters"].items())])
        raise LearnerFileError(f"{path} was learned on {saved}, not on {graph.title}")
    try:
        learner = make(
            graph,
            explore=facts["explore"],
            seed=facts["seed"],
            workers=facts["workers"],
            method=facts["method"],
        )
    except UsageError as error:
        raise LearnerFileError(f"{path} is damaged: {error}") from error
    counts = {name: facts[name] for name in ("games", "recorded", "round_end")}
    if not all(0 <= count < 2**62 for count in counts.values()):
        raise LearnerFileError(f"{path} is damaged: it counts {counts}")
    learner.games, learner.recorded, learner.round_end = counts.values()
    take = partial(_like, path, arrays)
    learner.words[...] = take("words", learner.words)
    learner.base = {name: take(f"base.{name}", array) for name, array in learner.base.items()}
    for number, tally in enumerate(learner.tallies):
        tally.set_arrays(
            {name: take(f"{number}.{name}", array) for name, array in tally.arrays().items()}
        )
    return learner


def _like(path: Path, arrays: Arrays, name: str, expected: Any) -> Any:
    """An array of a file, checked against the shape and type of a present one."""
    array = arrays.get(name)
    if array is None or (array.shape, array.dtype) != (expected.shape, expected.dtype):
        raise LearnerFileError(f"{path} is damaged: its {name} isn't of this game")
    return array
