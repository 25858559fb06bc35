"""Saved solutions: they come back as they were, run nothing, and claim nothing unproved."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import polars as pl
import pytest
from cli_runner import output, refusal, run
from numba.core.caching import NullCache

import rollwise
from rollwise.answer.storage import row_checksums
from rollwise.errors import OutputError, SolutionFileError
from rollwise.games.pig import Piglet
from rollwise.games.threes import Threes
from rollwise.kernels.compiling import compiled_kernel
from rollwise.machine import user_cache
from rollwise.machine.atomic_files import checksum_of
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
    assert "verify kept.parquet rules.py:ClassName" in refusal("verify", "kept.parquet")
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


# ---- files are written whole or not at all, and what is in their place is respected


SOLVE = ("solve", "piglet", "target=3", "--save")
TABLE = ("table", "piglet", "target=3", "--csv", "--out")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="devices, pipes and modes")
def test_a_device_is_written_through(tmp_path):
    if not hasattr(os, "mknod") or os.geteuid() != 0:
        device = Path("/dev/null")
    else:
        device = tmp_path / "null"
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    for command in (SOLVE, TABLE):
        output(*command, str(device))
        assert stat.S_ISCHR(device.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="devices, pipes and modes")
def test_a_pipe_is_written_through(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    output(*TABLE, str(pipe))
    reader.join(10)
    assert read[0].decode() == output(*TABLE[:-1])
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="devices, pipes and modes")
def test_a_link_goes_on_pointing(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "file.csv", tmp_path / "link.csv"
    link.symlink_to(target)
    for _ in range(2):  # to nothing at first
        output(*TABLE, str(link))
        assert link.is_symlink()
        assert target.read_text() == output(*TABLE[:-1])
    assert sorted(path.name for path in target.parent.iterdir()) == ["file.csv"]


@pytest.mark.skipif(os.name != "posix", reason="devices, pipes and modes")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_mode_is_kept(tmp_path, mode):
    path = tmp_path / "file.csv"
    path.touch()
    path.chmod(mode)
    output(*TABLE, str(path))
    assert mode_of(path) == mode
    assert path.stat().st_size > 0


@pytest.mark.skipif(os.name != "posix", reason="devices, pipes and modes")
def test_what_is_being_written_is_as_private_as_what_it_replaces(tmp_path):
    from rollwise.machine.atomic_files import write_atomically

    path = tmp_path / "secret"
    path.touch(0o600)
    seen = []

    def write(place: Path) -> None:
        place.write_text("secret")
        seen.append(mode_of(place))

    write_atomically(path, write)
    assert seen == [0o600]


@pytest.mark.skipif(os.name != "posix", reason="devices, pipes and modes")
def test_a_failure_leaves_what_was_there(tmp_path):
    from rollwise.machine.atomic_files import write_atomically

    path = tmp_path / "file"
    path.write_text("before")

    def write(place: Path) -> None:
        place.write_text("half")
        raise OSError(errno.ENOSPC, "full")

    with pytest.raises(OutputError, match="No space left on device") as caught:
        write_atomically(path, write)
    assert caught.value.exit_code == 1
    assert path.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@contextlib.contextmanager
def no_room(size: int) -> Iterator[None]:
    """A limit on the size of files is a disk that is full, for a process."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.skipif(os.name != "posix", reason="devices, pipes and modes")
@pytest.mark.parametrize(
    "arguments",
    [
        (*SOLVE, "kept.parquet"),
        (*TABLE, "kept.csv"),
        ("table", "piglet", "target=3", "--out", "kept.parquet"),
        ("export", "piglet", "target=3", "--to", "json", "--out", "kept.json"),
        ("export", "piglet", "target=3", "--to", "npz", "--out", "kept.npz"),
        ("learn", "piglet", "target=3", "--games", "10", "--seed", "1", "--save", "kept.npz"),
    ],
    ids=lambda arguments: " ".join(arguments[::3]),
)
def test_a_disk_that_fills_up_is_a_line(tmp_path, arguments):
    run(*arguments[:-2])  # what it needs is compiled
    with no_room(100):
        fault = refusal(*arguments, cwd=tmp_path, code=1)
    assert fault.startswith("rollwise: kept.")
    assert fault.endswith("can't be written: File too large")
    assert list(tmp_path.iterdir()) == []
