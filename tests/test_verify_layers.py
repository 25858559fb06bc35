"""Folders of layers, each layer proved again: what holds is accepted, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rollwise.answer.layer_folder import open_folder
from rollwise.answer.solve_by_layers import solve_by_layers
from rollwise.answer.verify import verify_layers
from rollwise.game import Game
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.super_six import SuperSix
from rollwise.games.yahtzee import Yahtzee

pytestmark = pytest.mark.needs_jit

GAMES = [Pig(target=8), SuperSix(9), RoyalUr(pieces=1), Yahtzee(boxes=1)]


def require_verified(game: Game, folder: Path) -> None:
    solved = solve_by_layers(game, save=folder)
    found = verify_layers(folder)
    assert found.verified
    assert found.n_proved == found.n_layers == len(solved.space.progress)
    assert found.error_bound == solved.error_bounds.max()
    assert found.residual == 0


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_a_folder_is_proved_again(game: Game, tmp_path: Path) -> None:
    require_verified(game, tmp_path)


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
