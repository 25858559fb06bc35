"""Layers that workers solve: the same bytes as in one process, whoever dies on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cli_runner import output, refusal

from rollwise import AGAIN, WIN, Game
from rollwise.answer import layer_folder, layers_apart
from rollwise.answer.layered_solution import open_layers
from rollwise.answer.solve_by_layers import solve_by_layers
from rollwise.builders import by_layer
from rollwise.cluster import dask_workers
from rollwise.cluster.dask_workers import DaskWorkers
from rollwise.cluster.pool import Here, Pool
from rollwise.cluster.processes import Processes
from rollwise.errors import ClusterError, OutputError, UsageError
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.super_six import SuperSix
from rollwise.games.yahtzee import Yahtzee

pytestmark = pytest.mark.needs_jit


class Place(NamedTuple):
    round: int
    left: int


@dataclass(frozen=True)
class Rounds(Game):
    """Each round some steps: where few are left a turn may end in the round, else it doesn't."""

    rounds: int = 3
    steps: int = 40
    players = 1

    def start(self) -> Place:
        return Place(0, self.steps)

    def roots(self) -> Iterator[Place]:
        for left in range(1, self.steps + 1):
            yield Place(0, left)

    def throws(self, s: Place) -> Iterator[tuple[int, int]]:
        yield 1, 1
        yield 1, 2

    def actions(self, s: Place, throw: int) -> Iterator[int]:
        yield 0

    def outcomes(self, s: Place, throw: int, action: int) -> Iterator[tuple[int, int, Place]]:
        if s.left == self.steps - 1:
            yield 1, AGAIN, Place(s.round, s.left - throw)
        if s.round + 1 == self.rounds:
            yield 1, WIN, s
        else:
            yield 1, AGAIN, Place(s.round + 1, s.left)

    def progress(self, s: Place) -> int:
        return s.round


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


class Counting(Here):
    """Counts the tasks. The parts are those that two workers would get."""

    width = 2

    def __init__(self) -> None:
        self.tasks = list[Any]()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        self.tasks.append(arguments)
        return super().submit(function, *arguments)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of turns of few positions, so that small layers have many."""
    monkeypatch.setattr(by_layer, "FIRST_BLOCK", 4)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    import distributed

    dask_workers._distributed()
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1"
    ) as found:
        yield found


GAMES = [
    (Pig(target=8), False),
    (SuperSix(9), False),
    (RoyalUr(pieces=1), False),
    (RoyalUr(pieces=1), True),
    (Yahtzee(boxes=2), False),
    (Rounds(), False),
]


@pytest.mark.parametrize(("game", "packed"), GAMES, ids=str)
def test_parts_are_solved_to_the_same_bytes(
    game: Game, packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if packed:
        monkeypatch.setattr("rollwise.answer.by_layers.ORDERED", 0)
    monkeypatch.setattr(by_layer, "OUTCOMES_AT_ONCE", 20)
    solve_by_layers(game, save=tmp_path / "one")
    pool = Counting()
    found = solve_by_layers(game, save=tmp_path / "two", pool=pool)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")
    assert len(pool.tasks) >= len(found.progress)
    if isinstance(game, Yahtzee | Rounds):
        assert len(pool.tasks) > len(found.progress)
    assert {"build", "solve"} <= set(found.seconds)


def test_where_a_turn_stays_in_its_layer_the_rest_is_one_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_layer, "OUTCOMES_AT_ONCE", 20)
    pool = Counting()
    solve_by_layers(Rounds(), save=tmp_path, pool=pool)
    rest = [part for (part,) in pool.tasks if not part.block]
    assert len(rest) == 3
    assert [part.layer for part in rest] == [2, 1, 0]


def test_workers_share_a_folder() -> None:
    with pytest.raises(UsageError, match="workers share a folder"):
        solve_by_layers(RoyalUr(pieces=1), pool=Here())
    said = refusal("solve", "royal-ur", "pieces=1", "--by-layer", "--workers", "2")
    assert "--workers solves layers in a folder" in said
    assert "--cluster" in refusal("solve", "piglet", "--cluster", "tcp://127.0.0.1:9")


def die_in_the_middle(part: layers_apart.Part) -> layers_apart.Counted:
    """Solve a part; but the first worker that comes to the middle dies, with half of it written."""
    found = layers_apart.solve_part(part)
    mark = part.place / "died"
    if part.layer == 1 and not mark.exists():
        mark.touch()
        path = part.place / "values.npy"
        rows = layer_folder.map_rows(part.place)[0][part.begin : part.end].copy()
        rows[len(rows) // 2 :] = 7.0
        layer_folder.write_rows(part.place, "values", part.begin, rows)
        assert path.exists()
        os.kill(os.getpid(), signal.SIGKILL)
    return found


@pytest.mark.skipif(os.name != "posix", reason="processes are killed")
@pytest.mark.parametrize("kind", [pytest.param("processes", marks=pytest.mark.slow), "cluster"])
def test_a_worker_that_dies_in_a_layer_changes_no_byte(
    kind: str, cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = RoyalUr(pieces=2)
    known = tmp_path / "known"
    solve_by_layers(game, save=known)
    monkeypatch.setattr("rollwise.answer.layers_apart.solve_part", die_in_the_middle)
    pool: Pool = Processes(2) if kind == "processes" else DaskWorkers(cluster.scheduler_address)
    with pool:
        solve_by_layers(game, save=tmp_path / kind, pool=pool)
    (tmp_path / kind / "died").unlink()
    assert bytes_of(tmp_path / kind) == bytes_of(known)


def test_what_was_saved_when_the_scheduler_stopped_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import distributed

    monkeypatch.setattr(dask_workers, "BETWEEN", 0.1)
    game = RoyalUr(pieces=2)
    solve_by_layers(game, save=tmp_path / "whole")
    started = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0",
        protocol="tcp", host="127.0.0.1",
    )  # fmt: skip

    def stop(stage: str, done: int, total: int | None) -> None:
        if stage.startswith("solving layer"):
            started.close()

    with (
        started,
        DaskWorkers(started.scheduler_address) as pool,
        pytest.raises(ClusterError, match="is gone"),
    ):
        solve_by_layers(game, save=tmp_path / "two", pool=pool, progress=stop)
    assert len(layer_folder.open_folder(tmp_path / "two", game).proved) == 1
    with pytest.raises(UsageError, match="holds 1 of 3 layers"):
        solve_by_layers(game, save=tmp_path / "two")
    here = Counting()
    solve_by_layers(game, save=tmp_path / "two", resume=True, pool=here)
    assert len(here.tasks) == 2
    assert bytes_of(tmp_path / "two") == bytes_of(tmp_path / "whole")


def test_a_command_goes_on_when_a_scheduler_is_back(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_workers, "CONNECTING", 0.3)
    asked = ["solve", "super-six", "sticks=9", "--by-layer", "--save", str(tmp_path / "f")]
    said = refusal(*asked, "--cluster", "tcp://127.0.0.1:9", code=1)
    assert "no scheduler answers" in said
    monkeypatch.setattr(dask_workers, "CONNECTING", 5.0)
    printed = output(*asked, "--cluster", cluster.scheduler_address)
    assert printed.splitlines()[:3] == output("solve", "super-six", "sticks=9",
                                              "--by-layer").splitlines()[:3]  # fmt: skip
    solve_by_layers(SuperSix(9), save=tmp_path / "g")
    for name in ("values.npy", "error_bounds.npy", "actions.npy", "manifest.json"):
        assert (tmp_path / "f" / name).read_bytes() == (tmp_path / "g" / name).read_bytes()


# -- a disk that is full

LITTLE = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)); "


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
def test_a_full_disk_is_noticed_before_anything_is_solved(tmp_path: Path) -> None:
    words = ["rollwise", "solve", "royal-ur", "pieces=2", "--by-layer", "--save", str(tmp_path)]
    code = LITTLE + f"import sys; sys.argv = {words}; from rollwise.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"{tmp_path}" in done.stderr
    assert "can't be written: File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
    solve_by_layers(RoyalUr(pieces=2), save=tmp_path)


@pytest.mark.parametrize("pool", [None, Here()], ids=["one", "workers"])
def test_a_disk_that_fills_up_harms_nothing(
    pool: Pool | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = RoyalUr(pieces=2)
    solve_by_layers(game, save=tmp_path / "whole")
    written = 0

    def write(path: Path, text: str) -> None:
        nonlocal written
        written += 1
        if written > 2:
            raise OutputError(f"{path} can't be written: No space left on device")
        write_text(path, text)

    write_text = layer_folder.write_text
    with monkeypatch.context() as patched:
        patched.setattr(layer_folder, "SECONDS_BETWEEN", 0.0)
        patched.setattr(layer_folder, "write_text", write)
        with pytest.raises(OutputError, match="No space left"):
            solve_by_layers(game, save=tmp_path / "f", pool=pool)
    assert len(layer_folder.open_folder(tmp_path / "f", game).proved) == 1
    solve_by_layers(game, save=tmp_path / "f", resume=True, pool=pool)
    assert bytes_of(tmp_path / "f") == bytes_of(tmp_path / "whole")
    assert open_layers(tmp_path / "f", game).status == "certified"
