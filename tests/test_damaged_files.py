"""Files that are damaged, or were tampered with: one line that says so, and never a traceback.

Bytes are changed at random, and what a file says is changed so that its checksum still fits.
"""

from __future__ import annotations

import itertools
import json
import math
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from cli_runner import output, refusal, run
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_storage import rewrite

from rollwise.learn.learner import checksum_of_named

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parent.parent / "examples"
PIGLET = ("piglet", "target=3")
FILE = object()  # where its name comes
# What reads each file.
READERS = {
    "solution.parquet": ("table", *PIGLET, "--csv", "--load", FILE),
    "policy.parquet": ("evaluate", *PIGLET, "--policy", FILE),
    "policy.csv": ("evaluate", *PIGLET, "--policy", FILE),
    "learner.npz": ("learn", *PIGLET, "--games", "30", "--resume", FILE),
    "policy.npz": ("evaluate", *PIGLET, "--policy", FILE),
    "plays.csv": ("judge", "threes", FILE, "dice=3"),
    "played.game": ("review", "piglet", FILE),
    "scores.csv": ("scores", "threes", FILE, "dice=3"),
    "rules.py": ("solve", FILE),
}
ODD = [None, "text", -1, 2**70, math.nan, {}]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A folder with a good file of each kind."""
    folder = tmp_path_factory.mktemp("whole")
    learn = ("learn", *PIGLET, "--games", "20", "--seed", "1", "--save")
    output("solve", *PIGLET, "--save", str(folder / "solution.parquet"))
    for name in ("policy.parquet", "policy.csv"):
        output("table", *PIGLET, "--out", str(folder / name))
    output(*learn, str(folder / "learner.npz"))
    shutil.copy(folder / "learner.npz", folder / "policy.npz")
    (folder / "plays.csv").write_text("player,rolled,taken\n1,4 3 5,3\n1,4 1,1 4\n2,3 2 2,3 2 2\n")
    (folder / "played.game").write_text(
        "# a game\n@seed 3\nAnn: flip #2, hold\nBob: flip #1\nAnn: flip #2\n"
    )
    shutil.copy(EXAMPLES / "hit_the_mark.py", folder / "rules.py")
    (folder / "scores.csv").write_text("score\n3\n4\n2\n6\n")
    return folder


def command(path: Path) -> list[str]:
    """What reads a file."""
    return [str(path) if word is FILE else str(word) for word in READERS[path.name]]


def is_told(path: Path) -> bool:
    """Whether a file is refused in a line; else it must be read as ever."""
    done = run(*command(path))
    if done.returncode == 0:
        return False
    lines = [line for line in done.stderr.splitlines() if not line.startswith("rollwise: warning")]
    assert done.returncode in (1, 2), done
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("rollwise: ")
    assert len(lines[0]) < 2000
    return True


@pytest.mark.parametrize("name", READERS)
def test_good_files_are_read(whole, name):
    output(*command(whole / name))


Change = Callable[[bytes, int], bytes]
CHANGES: dict[str, Change] = {
    "cut": lambda data, at: data[:at],
    "flip": lambda data, at: data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :],
    "bit": lambda data, at: data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :],
    "zeros": lambda data, at: data[:at] + bytes(20) + data[at + 20 :],
    "more": lambda data, at: data[:at] + b"9,\xff\n\x00" + data[at:],
    "less": lambda data, at: data[:at] + data[at + 7 :],
    "twice": lambda data, at: data[:at] + data[: at + 50] + data[at:],
}


@pytest.mark.parametrize("name", READERS)
def test_bytes_that_are_damaged(whole, tmp_path_factory, name):
    data = (whole / name).read_bytes()
    folder = tmp_path_factory.mktemp("damaged")

    @settings(max_examples=examples(12), derandomize=True, database=None)
    @given(st.sampled_from(sorted(CHANGES)), st.integers(0, len(data) - 1))
    def damage(change: str, at: int) -> None:
        (folder / name).write_bytes(CHANGES[change](data, at))
        is_told(folder / name)

    damage()


def facts_changed(facts: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Facts with one missing, or with something else in its place: each odd thing in its turn."""
    odd = itertools.cycle(ODD)
    for name in facts:
        yield {key: value for key, value in facts.items() if key != name}
        yield from ({**facts, name: next(odd)} for _ in range(examples(2)))


def test_what_a_solution_says(whole, tmp_path):
    path = tmp_path / "solution.parquet"
    facts = json.loads(pl.read_parquet_metadata(whole / path.name)["rollwise"])
    needed = {"format", "game", "parameters", "graph_hash", "checksum"}
    for changed in facts_changed(facts):
        frame = pl.read_parquet(whole / path.name)
        frame.write_parquet(path, metadata={"rollwise": json.dumps(changed)})
        told = is_told(path)
        other = {key for key in facts if changed.get(key) != facts[key]}
        assert told or not other & needed, changed
    for text in ("", "[]", "7", '"text"', "{", "{}", "null"):
        frame.write_parquet(path, metadata={"rollwise": text})
        assert is_told(path)
    frame.write_parquet(path)
    assert "not a solution saved by rollwise" in refusal(*command(path))


@pytest.mark.parametrize("name", ["value", "error_bound"])
def test_what_a_column_holds(whole, tmp_path, name):
    path = tmp_path / "solution.parquet"
    n = len(pl.read_parquet(whole / path.name))
    for odd in (None, "text", -1.0, 2**62, math.nan, -math.inf, [1.0], True, 1e308):
        shutil.copy(whole / path.name, path)
        rewrite(path, **{name: [odd] * n})
        # bounds that are too large are proved anew
        assert is_told(path) or (name, odd) == ("error_bound", 1e308)


def rewrite_learner(path: Path, source: Path, facts: Any, arrays: dict[str, Any]) -> None:
    """Put other facts and arrays into a learner's file, with a checksum that fits."""
    if isinstance(facts, dict) and "checksum" in facts:
        facts = {**facts, "checksum": checksum_of_named(arrays)}
    text = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    with path.open("wb") as file:
        np.savez(file, facts=text, **arrays)


def test_what_a_learner_says(whole, tmp_path):
    name = "learner.npz"
    with np.load(whole / name) as archive:
        arrays = {key: archive[key] for key in archive.files}
    facts = json.loads(arrays.pop("facts").tobytes())
    write = partial(rewrite_learner, tmp_path / name, whole / name)
    for changed in facts_changed(facts):
        if changed.get("checksum") in facts.values():
            write(changed, arrays)
            is_told(tmp_path / name)
    for text in ([], 7, None, "text", {}):
        write(text, arrays)
        assert is_told(tmp_path / name)
    for key, array in arrays.items():
        write(facts, {other: arrays[other] for other in arrays if other != key})
        assert is_told(tmp_path / name), key
        odd: list[Any] = [array[:-1], array.astype(np.str_), array.reshape(1, *array.shape)]
        odd += [np.append(array, array[-1:], 0), array.astype(np.complex128), np.array(3)]
        for other in odd:
            write(facts, {**arrays, key: other})
            assert is_told(tmp_path / name), (key, other)
        for other in (array.astype(np.float32), array - 10**6, array * 0 + 2**31):
            write(facts, {**arrays, key: other})
            is_told(tmp_path / name)
