"""Folders of layers in which a byte was changed: no command aborts, and none shows it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from cli_runner import output, run

FOLDERS = {
    "shut-the-box": (("shut-the-box", "tiles=4"), "open=30,dice=2"),
    "hog": (("hog", "target=6", "dice=2"), "mine=2,theirs=2"),
}


@pytest.fixture(scope="module", params=FOLDERS)
def solved(request, tmp_path_factory) -> tuple[Path, dict[tuple[str, ...], str]]:
    """A folder, and what commands that read it print."""
    game, state = FOLDERS[request.param]
    folder = tmp_path_factory.mktemp("solved") / "folder"
    output("solve", *game, "--by-layer", "--save", str(folder))
    asked = [("advise", *game, "--state", state), ("table", *game, "--csv")]
    return folder, {words: output(*words, "--load", str(folder)) for words in asked}


def files_of(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def is_told(folder: Path, truth: dict[tuple[str, ...], str]) -> bool:
    """Whether each command refuses the folder in a line, or prints what it ever did."""
    told = False
    for words, right in truth.items():
        done = run(*words, "--load", str(folder))
        if done.returncode == 0:
            assert done.stdout == right
        else:
            assert done.returncode in (1, 2)
            assert done.stdout == ""
            (line,) = done.stderr.splitlines()
            assert line.startswith("rollwise: ")
            told = True
    return told


def test_any_bit_that_is_read(solved, tmp_path):
    """Heads of arrays, where most of the meaning is, as often as all the rest."""
    folder, truth = solved
    damaged = tmp_path / "folder"
    shutil.copytree(folder, damaged)
    random = np.random.default_rng(7)
    told = {True: 0, False: 0}
    for path in (folder / name for name in files_of(folder)):
        whole = path.read_bytes()
        heads = random.integers(0, min(len(whole), 128), 3)
        for place in [*heads.tolist(), *random.integers(0, len(whole), 2).tolist()]:
            part = bytearray(whole)
            part[place] ^= 1 << int(random.integers(8))
            (damaged / path.name).write_bytes(part)
            told[is_told(damaged, truth)] += 1
            if place == heads[0]:
                assert run("verify", str(damaged)).returncode in (1, 2)
        (damaged / path.name).write_bytes(whole)
    assert told[True] > told[False]
    assert not is_told(damaged, truth)
