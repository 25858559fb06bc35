"""A run by layers that is killed at random moments, and resumed each time.

    python -m benchmarks.killed royal-ur pieces=4 [--kills 10] [--seed 1] [--json]

solves the game twice into folders: once undisturbed, and once killed with SIGKILL. The moments are
drawn from the time that the undisturbed run took, counted in time of work, so that the run goes on
where it was killed. What a kill costs is the work since the manifest was written last, or since the
command began. Other options are handed on to `solve`, as in ``--keep entries``. The exit
code is 1 where the folders differ in the end, or a layer that was noted is lost.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.commands import ROLLWISE
from benchmarks.tables import markdown_table, seconds

POLL = 0.005  # seconds between looks at the manifest
SHORT = 30.0  # seconds: what a first run compiles is a part of less, so there is a second one
LIMIT = 3600.0  # seconds of one run


@dataclass(frozen=True)
class Kill:
    """One end of a run.

    Attributes
    ----------
    after : float
        Seconds of work since the first start, at which it was killed.
    worked : float
        Seconds of this one process.
    layers : int or None
        That the manifest names as proved then; None where there was no manifest yet.
    lost : float
        Seconds since the manifest was written, or since the process began.
    """

    after: float
    worked: float
    layers: int | None
    lost: float


@dataclass(frozen=True)
class Killed:
    """A run that was killed, beside one that wasn't.

    Attributes
    ----------
    game : str
        And what else `solve` was told.
    seed : int
        Of the moments.
    layers : int
    undisturbed : float
        Seconds of the run that wasn't killed.
    longest : float
        Seconds between two writings of its manifest, at most, or before the first one.
    together : float
        Seconds of all processes of the run that was killed.
    kills : list of Kill
    same : bool
        Whether both folders have the same bytes in the end.
    kept : bool
        Whether no layer was missing that a manifest had named before.
    """

    game: str
    seed: int
    layers: int
    undisturbed: float
    longest: float
    together: float
    kills: list[Kill]
    same: bool
    kept: bool


def killed(words: Sequence[str], kills: int, seed: int) -> Killed:
    """Solve a game twice, and kill the second run again and again."""
    drawn = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        first, whole, torn = (Path(place, name) for name in ("first", "whole", "torn"))
        took, longest = _undisturbed(_command(words, whole), whole)
        if took < SHORT:
            took, longest = _undisturbed(_command(words, first), first)
        found = list[Kill]()
        known, kept, worked = set[str](), True, 0.0
        for after in sorted(drawn.uniform(0.0, took) for _ in range(kills)):
            began = time.time()
            if _ended(_command(words, torn, "--resume"), after - worked):
                break  # it was done sooner than the undisturbed run
            ended = time.time()
            here = _proved(torn)
            kept &= here is None or known <= here
            known |= here or set()
            noted = _written(torn)
            lost = ended - (began if noted is None else max(began, noted))
            found.append(Kill(after, ended - began, None if here is None else len(here), lost))
            worked = after
        began = time.time()
        if not _ended(_command(words, torn, "--resume"), LIMIT):
            raise TimeoutError(f"didn't finish in {LIMIT:.0f} s")
        last = time.time() - began
        proved = _proved(torn) or set()
        return Killed(
            " ".join(words),
            seed,
            len(proved),
            took,
            longest,
            sum(kill.worked for kill in found) + last,
            found,
            _bytes(whole) == _bytes(torn),
            kept and known <= proved,
        )


def _command(words: Sequence[str], folder: Path, *more: str) -> list[str]:
    return [*ROLLWISE, "solve", *words, "--by-layer", "--save", str(folder), *more]


def _begun(command: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _undisturbed(command: Sequence[str], folder: Path) -> tuple[float, float]:
    """How long a run took, and the longest time in which it wrote no manifest."""
    began = before = time.time()
    longest = 0.0
    run = _begun(command)
    while run.poll() is None:
        noted = _written(folder)
        if noted is not None and noted > before:
            longest, before = max(longest, noted - before), noted
        if time.time() - began > LIMIT:
            _kill(run)
            raise TimeoutError(f"didn't finish in {LIMIT:.0f} s")
        time.sleep(POLL)
    _require_done(run)
    ended = time.time()
    return ended - began, max(longest, ended - before)


def _ended(command: Sequence[str], limit: float) -> bool:
    """Whether a run ended by itself within so many seconds; else it was killed."""
    run = _begun(command)
    try:
        run.wait(timeout=max(limit, 0.0))
    except subprocess.TimeoutExpired:
        _kill(run)
        return False
    _require_done(run)
    return True


def _kill(run: subprocess.Popen[str]) -> None:
    """Kill a run and all processes that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)
    run.communicate()


def _require_done(run: subprocess.Popen[str]) -> None:
    _, complaint = run.communicate()
    with contextlib.suppress(ProcessLookupError):  # what still compiles for a next use
        os.killpg(run.pid, signal.SIGKILL)
    if run.returncode:
        raise SystemExit(complaint.strip())


def _written(folder: Path) -> float | None:
    """When the manifest was written last."""
    try:
        return (folder / "manifest.json").stat().st_mtime
    except OSError:
        return None


def _proved(folder: Path) -> set[str] | None:
    """The progress of the layers that a manifest names as proved."""
    try:
        said = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except OSError:
        return None
    return {str(layer["progress"]) for layer in said["layers"] if "checksum" in layer}


def _bytes(folder: Path) -> dict[str, str]:
    """The checksum of each file of a folder."""
    found = {}
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            found[path.name] = hashlib.file_digest(file, "blake2b").hexdigest()
    return found


def table(found: Killed) -> list[str]:
    """What was found, as a table and a sentence for each of its facts."""
    columns = ["killed after", "this process worked", "layers noted", "lost"]
    rows = [
        [
            seconds(kill.after),
            seconds(kill.worked),
            "none yet" if kill.layers is None else f"{kill.layers} of {found.layers}",
            seconds(kill.lost),
        ]
        for kill in found.kills
    ]
    lost = sum(kill.lost for kill in found.kills)
    return [
        *markdown_table(columns, rows),
        "",
        f"`{found.game}`, seed {found.seed}: {seconds(found.undisturbed)} undisturbed, of which "
        f"{seconds(found.longest)} passed at most until something was noted; killed "
        f"{len(found.kills)} times it took {seconds(found.together)} in all, of which "
        f"{seconds(lost)} were lost. The bytes are {'the same' if found.same else 'different'}; "
        f"{'no layer that was noted' if found.kept else 'a layer that was noted'} was lost.",
    ]


def document(found: Killed) -> dict[str, Any]:
    """What was found, as plain data."""
    return asdict(found)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.killed", description=__doc__)
    parser.add_argument("game", nargs="+", help="a game, and its parameters as NAME=VALUE")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument("--json", action="store_true")
    given, more = parser.parse_known_args()
    found = killed([*given.game, *more], given.kills, given.seed)
    print(json.dumps(document(found), indent=1) if given.json else "\n".join(table(found)))
    return 0 if found.same and found.kept else 1


if __name__ == "__main__":
    sys.exit(main())
