"""Layers that workers solve: the same bytes as in one process, whoever dies on the way."""

from __future__ import annotations

import functools
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from rollwise import AGAIN, WIN, Game
from rollwise.answer import by_layers, layer_folder
from rollwise.answer.solve_by_layers import solve_by_layers
from rollwise.builders import by_layer
from rollwise.cluster import dask_workers
from rollwise.cluster.dask_workers import DaskWorkers
from rollwise.cluster.pool import Here, Pool, Processes, Ways, done
from rollwise.errors import ClusterError, ForMorePlayers, TooManyStates
from rollwise.games import find
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.super_six import SuperSix
from rollwise.games.yahtzee import Yahtzee
from rollwise.simulate import simulate, tournament

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
    monkeypatch.setattr(by_layer, "OUTCOMES_OF_PIECE", 20)
    solve_by_layers(game, save=tmp_path / "one")
    pool = Counting()
    found = solve_by_layers(game, save=tmp_path / "two", pool=pool)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")
    assert len(pool.tasks) >= len(found.space.progress)
    if isinstance(game, Yahtzee | Rounds):
        assert len(pool.tasks) > len(found.space.progress)
    assert {"build", "solve"} <= set(found.seconds)


def die_in_the_middle(part: by_layers.Part) -> by_layers.Counted:
    """Solve a part; but the first worker that comes to the middle dies, with half of it written."""
    found = by_layers.solve_part(part)
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
    monkeypatch.setattr("rollwise.answer.by_layers.solve_part", die_in_the_middle)
    pool: Pool = Processes(2) if kind == "processes" else DaskWorkers(cluster.scheduler_address)
    with pool:
        solve_by_layers(game, save=tmp_path / kind, pool=pool)
    (tmp_path / kind / "died").unlink()
    assert bytes_of(tmp_path / kind) == bytes_of(known)


# ---- independent tasks on threads, processes and a cluster: the same results, whoever does them


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    with Processes(2) as pool:
        yield pool


@pytest.fixture(params=["processes", "cluster"])
def pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    if request.param == "processes":
        yield request.getfixturevalue("processes")
        return
    with DaskWorkers(request.getfixturevalue("cluster").scheduler_address) as pool:
        yield pool


def slow_square(number: int) -> int:
    time.sleep(0.05 if number % 2 else 0.0)
    return number * number


def fail(error: Exception) -> None:
    raise error


def die_once(place: str) -> int:
    """End the process, unless it did so before."""
    mark = Path(place)
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def test_an_error_of_a_task_is_raised(pool: Pool) -> None:
    with pytest.raises(TooManyStates, match="too many"):
        pool.result(pool.submit(fail, TooManyStates("too many")))
    with pytest.raises(ForMorePlayers) as told:
        pool.result(pool.submit(fail, ForMorePlayers("for more", Pig(target=9))))
    assert told.value.game == Pig(target=9)
    assert pool.result(pool.submit(slow_square, 3)) == 9


@pytest.mark.skipif(os.name != "posix", reason="processes are killed")
def test_what_a_dead_worker_did_is_done_by_another(
    tmp_path: Path, processes: Processes, cluster: object
) -> None:
    assert processes.result(processes.submit(die_once, str(tmp_path / "one"))) != os.getpid()
    with DaskWorkers(cluster.scheduler_address) as workers:  # type: ignore[attr-defined]
        assert workers.result(workers.submit(die_once, str(tmp_path / "two"))) != os.getpid()


@pytest.mark.skipif(os.name != "posix", reason="processes are killed")
def test_what_is_shared_outlives_all_workers_that_had_it(cluster: object) -> None:
    """Dask's own `scatter` would lose it with them."""
    rows = np.arange(1000)
    with DaskWorkers(cluster.scheduler_address) as workers:  # type: ignore[attr-defined]
        shared = workers.share(rows)
        assert workers.result(workers.submit(np.sum, shared)) == rows.sum()
        for process in workers._client.run(os.getpid).values():
            os.kill(process, signal.SIGKILL)
        assert workers.result(workers.submit(np.max, shared)) == 999


def test_a_worker_with_another_rollwise_is_refused() -> None:
    with pytest.raises(ClusterError, match=r"a worker has rollwise .*, and not 0.0"):
        done(Ways("0.0", False, True), slow_square, 3)


def test_games_between_policies_are_the_same_wherever_they_are_played(pool: Pool) -> None:
    asked = functools.partial(
        simulate, Pig(target=12), "optimal", "random", games=200_000, seed=5, exact=False
    )
    here, there = asked(), asked(pool=pool)
    assert here == there
    assert here.games == 200_000


@pytest.mark.parametrize("exact", [True, False])
def test_tournaments_are_the_same_wherever_they_are_played(pool: Pool, exact: bool) -> None:
    for game, policies in (
        (Pig(target=12), ["optimal", "random"]),
        (find("shut-the-box")(tiles=4), ["optimal", "random"]),
    ):
        asked = functools.partial(tournament, game, policies, games=300, seed=2, exact=exact)
        here, there = asked(), asked(pool=pool)
        assert here.standings == there.standings
        assert (here.both is None) == (there.both is None)
        if here.both is not None and there.both is not None:
            assert np.array_equal(here.both, there.both)
            assert np.array_equal(here.errors, there.errors)


def test_nobody_waits_for_workers_or_schedulers_that_are_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import distributed

    dask_workers._distributed()
    monkeypatch.setattr(dask_workers, "CONNECTING", 5.0)
    monkeypatch.setattr(dask_workers, "PATIENCE", 0.1)
    monkeypatch.setattr(dask_workers, "BETWEEN", 0.1)
    started = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0",
        protocol="tcp", host="127.0.0.1",
    )  # fmt: skip
    with started, DaskWorkers(started.scheduler_address) as workers:
        waiting = workers.submit(time.sleep, 30)
        started.scale(0)
        with pytest.raises(ClusterError, match="has had no workers for"):
            workers.result(waiting)
        started.close()
        with pytest.raises(ClusterError, match="is gone"):
            workers.result(workers.submit(slow_square, 3))
