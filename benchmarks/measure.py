"""Tools take turns: A, B, A, B, each in a process of its own, with a time limit.

The processes are started one after the other, and each works once: that run compiles,
fills caches, and isn't counted, unless it took so long that there is no time for more.
Then they take turns, until each has had its runs or used up its share of time. While
one works the others wait, so that all meet the same machine.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.memory import physical_memory
from benchmarks.peers import PEERS, installed, peer
from benchmarks.work import Work

ROOT = Path(__file__).parents[1]
AGREEMENT = 1e-11  # between the certified answers and those of the kernels by hand
IN_RATIOS = ("rollwise_itself", "by_hand")  # what the history is made of
LEAST_TURNS = 3  # that these have, however slow


class WrongAnswer(Exception):
    """An answer isn't certified, or isn't the known one."""


LONG = {("pig-100", "open_spiel")}  # to be thousands of times slower takes its time


@dataclass(frozen=True)
class Settings:
    """How much time and memory there is.

    Attributes
    ----------
    limit : float
        Seconds that one run of a tool may take.
    patience : float
        Seconds that a run may take where a goal asks how much slower a tool is (`LONG`).
    share : float
        Seconds after which a tool gets no more turns with a problem.
    turns : int
        The most turns.
    memory : float
        Gibibytes of addresses that a process may have: three quarters of the machine's.
    peers : sequence of str
    """

    limit: float = 30.0
    patience: float = 600.0
    share: float = 12.0
    turns: int = 7
    memory: float = round(0.75 * physical_memory() / 2**30, 1)
    peers: tuple[str, ...] = PEERS

    def limit_of(self, work: str, peer: str) -> float:
        """Seconds that one run of a tool may take with a problem."""
        return max(self.limit, self.patience) if (work, peer) in LONG else self.limit


@dataclass
class Row:
    """What one way of one tool did with one problem.

    Attributes
    ----------
    runs : list of dict
        What the worker said of each run that counts.
    why_not : str
        Why there is no answer; empty where there is one.
    first : float or None
        Seconds of the first run.
    limit : float
        Seconds that a run might take.
    """

    work: str
    peer: str
    way: str
    tool: str
    label: str
    runs: list[dict[str, Any]] = field(default_factory=list)
    why_not: str = ""
    first: float | None = None
    limit: float = 0.0
    peak: int = 0

    @property
    def finished(self) -> bool:
        return bool(self.runs)

    def median(self, stage: str | None = None) -> float:
        """Median seconds of a stage, or of all of them."""
        times = [
            run["seconds"].get(stage, 0.0) if stage else sum(run["seconds"].values())
            for run in self.runs
        ]
        return statistics.median(times)

    @property
    def spread(self) -> tuple[float, float]:
        """The fastest and the slowest run."""
        times = [sum(run["seconds"].values()) for run in self.runs]
        return min(times), max(times)


class Worker:
    """A process of one of these modules, which answers in lines of JSON."""

    def __init__(self, arguments: list[str], environment: Mapping[str, str] | None = None) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `stop`)
        self.process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            cwd=ROOT,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            start_new_session=True,
        )
        self._left = b""
        atexit.register(self.stop)

    def hear(self, limit: float) -> dict[str, Any]:
        """Its next line; a ``fault`` where it says nothing in time, or dies."""
        assert self.process.stdout is not None
        ends = time.monotonic() + limit
        while b"\n" not in self._left:
            wait = ends - time.monotonic()
            ready = wait > 0 and select.select([self.process.stdout], [], [], wait)[0]
            if not ready:
                return {"fault": f"didn't finish in {limit:.0f} s", "slow": True}
            chunk = os.read(self.process.stdout.fileno(), 2**16)
            if not chunk:
                return {"fault": self._last_words()}
            self._left += chunk
        line, _, self._left = self._left.partition(b"\n")
        said: dict[str, Any] = json.loads(line)
        return said

    def _last_words(self) -> str:
        code = self.process.wait()
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace").strip().splitlines()
        if code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return (text[-1] if text else f"ended with exit code {code}")[:300]

    def tell(self) -> None:
        """Have it work once."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(b"run\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # `hear` says how it died

    def stop(self) -> None:
        """End it, if it hasn't."""
        atexit.unregister(self.stop)
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        self.errors.close()


def ask(
    arguments: list[str], limit: float, environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """What a process says in its one line; a ``fault`` where it doesn't."""
    worker = Worker(arguments, environment)
    said = worker.hear(limit)
    worker.stop()
    return said


def prepared(work: Work, folder: Path, settings: Settings) -> dict[str, Any]:
    """Make the certified answer of a problem, in a process of its own.

    Gives its facts, or a ``fault`` where time or memory didn't suffice.

    Raises
    ------
    WrongAnswer
        It isn't certified, or isn't the known one.
    """
    way = "model" if "storm" in settings.peers else "answer"
    said = ask(
        ["benchmarks.worker", "prepare", way, work.name, str(folder), str(settings.memory)],
        10 * settings.limit,
    )
    if "fault" in said:
        if said["fault"].startswith("AssertionError"):
            raise WrongAnswer(f"{work.name}: {said['fault']}")
        return said
    facts: dict[str, Any] = said["facts"]
    return facts


def require_agreement(rows: Sequence[Row]) -> None:
    """Make sure that the kernels by hand give the certified answers.

    Raises
    ------
    WrongAnswer
    """
    for row in rows:
        for run in row.runs:
            if row.peer == "by_hand" and not run["error"] <= AGREEMENT:
                raise WrongAnswer(
                    f"{row.work}: the kernel by hand is {run['error']:.1e} from the answer"
                )


def measure(
    work: Work,
    folder: Path,
    settings: Settings,
    gave_up: set[tuple[str, str, str]],
    report: Callable[[str], None],
) -> list[Row]:
    """Have all tools solve a problem, in turn.

    Parameters
    ----------
    folder : Path
        Where `prepared` wrote the problem.
    gave_up : set of (family, peer, way)
        Who didn't finish smaller problems of a family; added to.
    report : callable
        Called with a line of text as it goes on.
    """
    rows: list[Row] = []
    workers: list[tuple[Row, Worker]] = []
    for name in settings.peers:
        module = peer(name)
        for way, label in module.WAYS.items():
            limit = settings.limit_of(work.name, name)
            row = Row(work.name, name, way, module.TOOL, label, limit=limit)
            rows.append(row)
            known = (work.family, name, way)
            why = module.refusal(work, way)
            if installed(module) is None:
                row.why_not = f"not installed: pip install {module.PACKAGE}"
            elif why is not None:
                row.why_not = why
            elif known in gave_up:
                row.why_not = "not tried: a smaller one was too much"
            else:
                worker = Worker(
                    ["benchmarks.worker", name, way, work.name, str(folder), str(settings.memory)]
                )
                if first_run(row, worker):
                    workers.append((row, worker))
                else:
                    worker.stop()
                    if not row.finished:
                        gave_up.add(known)
                report(f"  {row.tool}, {label}: {row.why_not or f'{row.first:.3f} s at first'}")
    take_turns(workers, settings)
    return rows


def first_run(row: Row, worker: Worker) -> bool:
    """Start a tool and have it work once; whether there is time for more."""
    said = worker.hear(row.limit)
    if "fault" not in said:
        worker.tell()
        said = worker.hear(row.limit)
    if "fault" in said:
        row.why_not = said["fault"]
        return False
    row.first = sum(said["seconds"].values())
    row.peak = said["peak_before_comparing"]
    if row.first > row.limit / 2 and row.peer not in IN_RATIOS:
        row.runs.append(said)
        return False
    return True


def take_turns(workers: list[tuple[Row, Worker]], settings: Settings) -> None:
    """A, B, A, B, until all have had their runs or their share of time."""
    waiting = list(workers)
    used = {id(row): 0.0 for row, _ in workers}
    for _ in range(settings.turns):
        for row, worker in list(waiting):
            worker.tell()
            said = worker.hear(row.limit)
            if "fault" in said:
                if not row.runs:
                    row.why_not = f"a second run failed: {said['fault']}"
                waiting.remove((row, worker))
                continue
            row.runs.append(said)
            row.peak = max(row.peak, said["peak_before_comparing"])
            used[id(row)] += sum(said["seconds"].values())
            enough = row.peer not in IN_RATIOS or len(row.runs) >= LEAST_TURNS
            if enough and used[id(row)] + row.median() > settings.share:
                waiting.remove((row, worker))
    for _, worker in workers:
        worker.stop()
