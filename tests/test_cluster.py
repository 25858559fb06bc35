"""Independent tasks on threads, processes and a cluster: the same results, whoever does them."""

from __future__ import annotations

import functools
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rollwise.cluster import dask_workers
from rollwise.cluster.dask_workers import DaskWorkers
from rollwise.cluster.pool import Pool, Processes, Ways, done
from rollwise.errors import ClusterError, ForMorePlayers, TooManyStates
from rollwise.games import find
from rollwise.games.pig import Pig
from rollwise.simulate import simulate, tournament


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    """A scheduler and two processes."""
    import distributed

    dask_workers._distributed()
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1"
    ) as found:
        yield found


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
