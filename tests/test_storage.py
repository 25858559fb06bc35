"""Saved solutions: they come back as they were, run nothing, and claim nothing unproved."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import numba
import numpy as np
import polars as pl
import pytest
from cli_runner import output, refusal
from numba.core.caching import NullCache

import rollwise
from rollwise.answer.storage import checksum_of, row_checksums
from rollwise.errors import SolutionFileError
from rollwise.games.pig import Piglet
from rollwise.games.threes import Threes
from rollwise.kernels.compiling import compiled_kernel
from rollwise.machine import user_cache
from rollwise.machine.user_cache import place, private_folder

PIGLET = ("piglet", "target=4")
HIDDEN = """
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from rollwise import END, Game

Path("it-ran").touch()

class Spot(NamedTuple):
    at: int

@dataclass(frozen=True)
class Hidden(Game):
    players = 1
    objective = "maximize"
    def start(self):
        return Spot(0)
    def actions(self, s):
        yield 1
    def reward(self, s, action):
        return 3
    def outcomes(self, s, action):
        yield 1, END, s
"""


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "saved.parquet"
    rollwise.solve(Piglet(4)).save(path)
    return path


def rewrite(path: Path, facts: dict[str, Any] | None = None, **columns: Any) -> None:
    """Put other facts and columns into a saved solution, with a checksum that fits them."""
    frame = pl.read_parquet(path)
    told = json.loads(pl.read_parquet_metadata(path)["rollwise"])
    frame = frame.with_columns(pl.Series(name, values) for name, values in columns.items())
    if frame.dtypes[-3:] == [pl.Float64, pl.Float64, pl.UInt32]:
        numbers = frame["value"].to_numpy().copy(), frame["error_bound"].to_numpy().copy()
        told["checksum"] = checksum_of(*numbers)
        frame = frame.with_columns(pl.Series("checksum", row_checksums(*numbers)))
    told |= facts or {}
    frame.write_parquet(path, metadata={"rollwise": json.dumps(told)})


@pytest.mark.parametrize("game", [Piglet(4), Threes(2)], ids=str)
def test_it_comes_back_as_it_was(game, tmp_path):
    solution = rollwise.solve(game)
    solution.save(tmp_path / "kept.parquet")
    for given in (game, None):
        again = rollwise.load(tmp_path / "kept.parquet", given)
        assert again.game == game
        assert np.array_equal(again.values, solution.values)
        assert again.error_bound == pytest.approx(solution.error_bound, rel=1e-6)
        assert again.status == "certified"


def test_opening_a_file_runs_no_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("hidden.py").write_text(HIDDEN)
    output("solve", "hidden.py:Hidden", "--save", "kept.parquet")
    Path("it-ran").unlink()
    with pytest.raises(SolutionFileError, match="'hidden', which isn't installed; give its rules"):
        rollwise.load("kept.parquet")
    for name in ("hidden.py:Hidden", "hidden.py", str(tmp_path / "hidden.py")):
        rewrite(Path("kept.parquet"), {"game": name, "reference": "hidden.py:Hidden"})
        with pytest.raises(SolutionFileError, match="isn't installed"):
            rollwise.load("kept.parquet")
    assert not Path("it-ran").exists()


def test_rules_are_those_of_the_caller(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("hidden.py").write_text(HIDDEN)
    output("solve", "hidden.py:Hidden", "--save", "kept.parquet")
    assert "3" in output("advise", "hidden.py:Hidden", "--state", "at=0", "--load", "kept.parquet")
    Path("hidden.py").write_text(HIDDEN.replace("return 3", "return 4"))
    fault = refusal("advise", "hidden.py:Hidden", "--state", "at=0", "--load", "kept.parquet")
    assert "other rules" in fault


def test_values_that_are_not_so_are_refused(saved):
    n = len(pl.read_parquet(saved))
    rewrite(saved, value=[0.75] * n, error_bound=[0.0] * n)
    with pytest.raises(SolutionFileError, match=r"is 0\.75 ± 0\.0e\+00, which isn't so"):
        rollwise.load(saved, Piglet(4))
    assert "which isn't so" in refusal("table", *PIGLET, "--load", str(saved))


def test_bounds_that_are_too_small_are_refused(saved):
    solution = rollwise.solve(Piglet(4))
    rewrite(saved, error_bound=solution.error_bounds / 1000)
    with pytest.raises(SolutionFileError, match="which isn't so"):
        rollwise.load(saved, Piglet(4))
    rewrite(saved, error_bound=solution.error_bounds * 1000)
    assert rollwise.load(saved, Piglet(4)).error_bound == 1000 * solution.error_bound


# ---- the folder for what is kept between runs is the user's alone, or isn't used


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch):
    monkeypatch.setattr(user_cache, "_TOLD", set())


@pytest.mark.skipif(os.name != "posix", reason="users and modes")
def test_where_it_is(monkeypatch, tmp_path):
    monkeypatch.delenv("ROLLWISE_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/where")
    assert place() == Path("/some/where/rollwise")
    monkeypatch.setenv("ROLLWISE_CACHE_DIR", str(tmp_path))
    assert place() == tmp_path
    monkeypatch.delenv("ROLLWISE_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME")

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    assert place() is None
    assert private_folder(place()) is None


@pytest.mark.skipif(os.name != "posix", reason="users and modes")
def test_it_is_made_for_the_user_alone(tmp_path):
    folder = tmp_path / "new" / "cache"
    before = os.umask(0)
    try:
        assert private_folder(folder) == folder
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name != "posix", reason="users and modes")
@pytest.mark.parametrize("mode", [0o755, 0o750, 0o711])
def test_what_others_can_read_is_closed(tmp_path, mode):
    (tmp_path / "kept").touch()
    tmp_path.chmod(mode)
    assert private_folder(tmp_path) == tmp_path
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name != "posix", reason="users and modes")
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
def test_what_others_may_have_written_to_is_not_used(tmp_path, mode):
    tmp_path.chmod(mode)
    assert private_folder(tmp_path) == tmp_path  # nothing is there yet
    tmp_path.chmod(mode)
    (tmp_path / "planted").touch()
    with pytest.warns(UserWarning, match=f"others may have written to {tmp_path}"):
        assert private_folder(tmp_path) is None


def double(x):
    return 2 * x


@pytest.mark.skipif(os.name != "posix", reason="users and modes")
@pytest.mark.needs_jit
@pytest.mark.filterwarnings("ignore:there is no folder")
def test_compiled_code_that_others_may_have_planted_is_not_read(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    compiled = compiled_kernel(double)
    assert compiled(4) == 8
    assert compiled._cache.cache_path.startswith(str(tmp_path))
    (folder,) = tmp_path.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(list(folder.iterdir())) == 2
    folder.chmod(0o777)
    with pytest.warns(UserWarning, match="others may have written to"):
        assert isinstance(compiled_kernel(double)._cache, NullCache)
