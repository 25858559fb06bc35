"""Answers by layers that are kept in a folder, layer by layer, and read where they lie."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from cli_runner import output, run
from stakes import Gammons

from rollwise.answer import found_states
from rollwise.answer.found_states import FoundStates, identity_of
from rollwise.answer.layer_folder import LayerFolder, open_folder
from rollwise.answer.load import load
from rollwise.answer.solve_by_layers import solve_by_layers
from rollwise.answer.verify import verify_layers
from rollwise.errors import RefusedFile, SolutionFileError, UnknownState, UsageError
from rollwise.game import Game
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.super_six import SuperSix
from rollwise.games.yahtzee import Yahtzee
from rollwise.machine import memory_limits
from rollwise.machine.neighbours import read_file

pytestmark = pytest.mark.needs_jit

GAMES = [Pig(target=8), SuperSix(9), RoyalUr(pieces=1), Yahtzee(boxes=1)]


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_a_folder_holds_what_memory_holds_and_is_proved_again(game: Game, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    plain, saved = solve_by_layers(game), solve_by_layers(game, save=folder)
    read = load(folder, game)
    for answer in (saved, read):
        bounds = answer.error_bounds + plain.error_bounds  # in memory, small layers are one piece
        assert np.all(np.abs(answer.values - plain.values) <= bounds)
        for name in ("values", "error_bounds"):
            assert np.array_equal(getattr(answer, name), getattr(saved, name))
        for name in ("states", "layers", "progress", "actions"):
            assert np.array_equal(getattr(answer.space, name), getattr(plain.space, name))
        for name in ("n_actions", "n_outcomes", "has_draws", "has_stakes", "start"):
            assert getattr(answer.space, name) == getattr(plain.space, name)
        assert answer.space.action_names == plain.space.action_names
    every = np.arange(len(plain.space.states))
    assert np.array_equal(read.numbers_of(np.asarray(plain.space.states)), every)
    last = len(every) - 1
    assert read.find(plain.space.states[last].tolist()) == last
    with pytest.raises(UnknownState):
        read.find([77] * len(plain.space.field_names))
    found = verify_layers(folder)
    assert found.verified
    assert found.n_proved == found.n_layers == len(plain.space.progress)
    assert (found.error_bound, found.residual) == (saved.error_bounds.max(), 0)


class Killed(BaseException):
    """What ends a run in the middle of a layer."""


def stopped_and_resumed(
    game: Game, folder: Path, monkeypatch: pytest.MonkeyPatch, when: int
) -> None:
    """Let a run end as the layer number `when` is noted, before the manifest is written."""
    keep, seen = LayerFolder.keep, []

    def dying(self: LayerFolder, layer: int) -> None:
        seen.append(layer)
        if len(seen) > when:
            raise Killed
        self._written = 0.0  # each layer is written down at once
        keep(self, layer)

    with monkeypatch.context() as patched:
        patched.setattr(LayerFolder, "keep", dying)
        patched.setattr(LayerFolder, "close", lambda self: None)
        with pytest.raises(Killed):
            solve_by_layers(game, save=folder)
    with pytest.raises(SolutionFileError, match=rf"holds {when} of .* layers"):
        load(folder, game)
    with pytest.raises(UsageError, match="goes on with them"):
        solve_by_layers(game, save=folder)
    solve_by_layers(game, save=folder, resume=True)


@pytest.mark.parametrize("game", [GAMES[0], GAMES[1], GAMES[3]], ids=lambda game: game.name)
def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(
    game: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = solve_by_layers(game, save=tmp_path / "whole")
    known = bytes_of(tmp_path / "whole")
    for when in sorted({0, len(whole.space.progress) // 2, len(whole.space.progress) - 1}):
        folder = tmp_path / str(when)
        stopped_and_resumed(game, folder, monkeypatch, when)
        assert bytes_of(folder) == known


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ((LayerFolder, "keep"), r"stopped after 0 of \d+ layers; --resume goes on with those in"),
        ((FoundStates, "finish"), r"stopped before all states were found; --resume goes on"),
    ],
    ids=["layers", "states"],
)
def test_an_interruption_names_the_saved_work(
    method: tuple[type, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("solve", "pig", "target=6", "--by-layer", "--save", str(tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr(found_states, "BETWEEN_RECORDS", 0.0)
        patched.setattr(*method, mock.Mock(side_effect=KeyboardInterrupt))
        stopped = run(*asked)
    assert stopped.returncode == 130
    assert re.search(message, stopped.stderr), stopped.stderr
    assert run(*asked, "--resume").returncode == 0


def written(manifest: Path) -> int:
    """How often a manifest was replaced, as far as that can be told."""
    return manifest.stat().st_mtime_ns if manifest.exists() else 0


def test_a_killed_process_loses_no_layer(tmp_path: Path) -> None:
    """Killed as soon as some layers are written down, again and again until it is whole."""
    asked = [sys.executable, "-m", "rollwise", "solve", "super-six", "sticks=30", "--by-layer"]
    asked += ["--save", str(tmp_path / "f"), "--resume"]
    manifest, known = tmp_path / "f" / "manifest.json", 0
    for _ in range(3):
        begun = subprocess.Popen(asked, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while begun.poll() is None and known == (known := written(manifest)):
            assert time.monotonic() < until
            time.sleep(0.001)
        if begun.poll() is None:
            os.kill(begun.pid, signal.SIGKILL)
        begun.wait()
    assert subprocess.run(asked, capture_output=True, check=True).returncode == 0
    output("solve", "super-six", "sticks=30", "--by-layer", "--save", str(tmp_path / "whole"))
    assert bytes_of(tmp_path / "f") == bytes_of(tmp_path / "whole")


def test_folders_that_are_refused(tmp_path: Path) -> None:
    game = Pig(target=6)
    solve_by_layers(game, save=tmp_path)
    manifest = tmp_path / "manifest.json"
    text = manifest.read_text()

    def refused(match: str, game: Game = game) -> None:
        with pytest.raises(SolutionFileError, match=match):
            load(tmp_path, game)
        with pytest.raises(SolutionFileError, match=match):
            solve_by_layers(game, save=tmp_path, resume=True)

    refused("is of pig target=6 .*, and not of pig target=7", Pig(target=7))
    refused("and not of gammons", Gammons())
    facts = json.loads(text)
    del facts["manifest_checksum"]
    manifest.write_text(json.dumps({**facts, "rules": "0123"}))
    refused("of other rules of pig: they, or the version of Python, were changed since")
    layers = [{**facts["layers"][0], "n_actions": "x"}, *facts["layers"][1:]]
    for change in ({"game": 3}, {"start": 2**70}, {"extremes": [-1]}, {"layers": layers}):
        manifest.write_text(json.dumps({**facts, **change}))
        refused("is damaged")
        with pytest.raises(RefusedFile, match="is damaged"):
            verify_layers(tmp_path, game)
    manifest.write_text(json.dumps({**facts, "rollwise": "0.1.0", "rules": "0123"}))
    assert load(tmp_path, game).value > 0  # whose names for rules may be others
    manifest.write_text(text[:-40])
    refused("manifest.json is damaged")
    manifest.write_text(json.dumps({**facts, "format": "3"}))
    refused("whose folders are others")
    manifest.write_text(text)
    states = (tmp_path / "states.npy").read_bytes()
    (tmp_path / "states.npy").write_bytes(states[:-1] + b"\x07")
    with pytest.raises(SolutionFileError, match="other states than were found"):
        solve_by_layers(game, save=tmp_path, resume=True)
    (tmp_path / "states.npy").write_bytes(states[:-16])
    refused("is damaged")
    (tmp_path / "states.npy").unlink()
    refused("is damaged")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(SolutionFileError, match="holds no answer"):
        load(tmp_path / "nothing", game)


SHEET = """
from dataclasses import dataclass
from typing import NamedTuple
from rollwise import PASS, WIN, Game

class Walked(NamedTuple):
    steps: int

@dataclass(frozen=True)
class Road:
    end: int
    def is_long(self):
        return self.end > 5

ROAD = Road(6)

class Walk(Game):
    def start(self):
        return Walked(0)
    def progress(self, s):
        return s.steps
    def actions(self, s):
        return (1, 2)
    def outcomes(self, s, action):
        yield 1, WIN if s.steps > 3 and ROAD.is_long() else PASS, Walked(s.steps + action)
"""


def test_the_rules_of_a_folder_have_any_module_name_and_other_functions_are_others(tmp_path: Path):
    """The command line reads a sheet by its path, and Python imports it."""

    def identity(text: str, name: str) -> dict[str, Any]:
        (tmp_path / "walk.py").write_text(text)
        return identity_of(read_file(name, tmp_path / "walk.py").Walk())

    found = identity(SHEET, "walk")
    assert found["rules"]
    assert identity(f"{SHEET}# a note", "rollwise_rules_walk_1") == found
    assert identity(SHEET.replace("> 5", "> 7"), "walk") != found


def test_what_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for amount in ("x", "10MB"):
        refused = run("solve", "super-six", "sticks=9", "--memory", amount)
        assert refused.returncode == 2
        assert f"--memory is {amount}; it is an amount such as 8GB" in refused.stderr
    monkeypatch.setattr(memory_limits, "_rooms", lambda: (1e9, 1e9))
    monkeypatch.setattr(
        "rollwise.answer.solve_by_layers._bytes_to_solve", lambda *given, **how: 2 * 10**9
    )
    refused = run("solve", "super-six", "sticks=9", "--by-layer")
    assert refused.returncode == 1
    assert "solving super-six sticks=9 takes 2000 MB" in refused.stderr
    assert "may take only 1000 MB more" in refused.stderr


@pytest.mark.parametrize("name", ["states", "values", "error_bounds", "actions"])
def test_a_file_that_is_not_as_it_was_written_is_named(name: str, tmp_path: Path) -> None:
    """Its head moved, its end gone, or all of it: no row is read from another place."""
    game = Pig(target=6)
    solve_by_layers(game, save=tmp_path)
    path = tmp_path / f"{name}.npy"
    whole = path.read_bytes()
    moved = bytearray(whole)
    moved[8] ^= 5  # how long the head is
    for damaged in (bytes(moved), whole[:-8], whole + bytes(8), whole[:40], b""):
        path.write_bytes(damaged)
        with pytest.raises(SolutionFileError, match=rf"is damaged: {name}.npy"):
            load(tmp_path, game)
    path.unlink()
    with pytest.raises(SolutionFileError, match=rf"is damaged: {name}.npy: No such file"):
        load(tmp_path, game)
    path.write_bytes(b"")
    refused = run(
        "advise", "pig", "target=6", "--load", str(tmp_path), "--state", "turn=0,banked=0,rival=0"
    )
    assert refused.returncode == 2
    assert f"is damaged: {name}.npy" in refused.stderr
    path.write_bytes(whole)
    assert load(tmp_path, game).win_probability > 0.5


def test_no_number_of_a_manifest_changes_unnoticed(tmp_path: Path) -> None:
    game = Pig(target=6)
    solve_by_layers(game, save=tmp_path)
    manifest = tmp_path / "manifest.json"
    text = manifest.read_text()
    places = [i for i, letter in enumerate(text) if letter.isdigit()]
    for i in places[:: max(len(places) // 40, 1)]:
        manifest.write_text(f"{text[:i]}{(int(text[i]) + 1) % 10}{text[i + 1 :]}")
        with pytest.raises(SolutionFileError):
            load(tmp_path, game)
        assert run("verify", str(tmp_path)).returncode in (1, 2)
    manifest.write_text(text)
    assert load(tmp_path, game).start == 0


def test_a_disk_with_too_little_room_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rollwise.answer.solve_by_layers.free_bytes", lambda place: 1000)
    words = ("solve", "pig", "target=20", "--by-layer", "--save", str(tmp_path / "f"))
    refused = run(*words)
    assert refused.returncode == 2
    assert f"{tmp_path / 'f'}: its disk has room for the answer in 31 states" in refused.stderr
    assert "pig target=20 sides=6 must_bank=false has more; make room" in refused.stderr
    assert "more than 40 states" in run(*words, "--max-states", "40").stderr


# ---- folders of layers, each layer proved again: what holds is accepted, and nothing else


def test_no_solver_runs_where_play_leaves_each_layer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve_by_layers(Pig(target=8), save=tmp_path)
    monkeypatch.setattr("rollwise.answer.verify.ByLayer", None)
    assert verify_layers(tmp_path).verified


def change(folder: Path, name: str, row: int, by: float) -> None:
    rows = np.load(folder / f"{name}.npy", mmap_mode="r+")
    rows[row] += by
    rows.flush()


@pytest.mark.parametrize("name", ["values", "error_bounds", "actions", "states"])
def test_a_damaged_layer_is_named(name: str, tmp_path: Path) -> None:
    solved = solve_by_layers(SuperSix(9), save=tmp_path)
    row = len(solved.space.states) // 2
    change(tmp_path, name, row, 1)
    found = verify_layers(tmp_path)
    assert not found.verified
    if name == "states":
        assert "its states don't match their checksum" in found.fault
        return
    layer = int(np.searchsorted(solved.space.layers, row, side="right")) - 1
    assert found.damaged == (solved.space.progress[layer],)
    assert f"the layers of progress {solved.space.progress[layer]} differ" in found.fault


@pytest.mark.parametrize(
    ("name", "by"), [("values", 1e-9), ("error_bounds", -1e-12), ("actions", 1)]
)
def test_what_is_wrong_is_refused_whatever_its_checksum(
    name: str, by: float, tmp_path: Path
) -> None:
    solved = solve_by_layers(Pig(target=8), save=tmp_path)
    change(tmp_path, name, solved.start, by)
    forged = open_folder(tmp_path, to_write=True)
    for layer in list(forged.checksums):
        forged.keep(layer)
    found = verify_layers(tmp_path)
    assert not found.damaged
    assert found.state == dict(
        zip(solved.space.field_names, solved.space.states[solved.start].tolist(), strict=True)
    )
    said = "isn't the first of the best" if name == "actions" else "can't be proved"
    assert said in found.fault
    assert found.n_proved < found.n_layers
