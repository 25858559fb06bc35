"""Builds the wheel for all platforms and tries it: ``python scripts/smoke.py`` (`make smoke`).

In an empty virtual environment the wheel, which is built from the sdist, solves, tables, advises,
checks and plays. Each extra is missed there with the command that installs it. Then it is
installed, alone, and does what it is for.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BARE = (
    ("games",),
    ("solve", "piglet", "--save", "piglet.parquet"),
    ("verify", "piglet.parquet"),
    ("table", "piglet", "--load", "piglet.parquet", "--csv"),
    ("advise", "piglet", "--state", "banked=2,rival=2,turn=1"),
    ("check", "piglet"),
)


@dataclass(frozen=True)
class Extra:
    """An extra: a command that needs it, or lines of Python that do."""

    name: str
    command: tuple[str, ...] = ()
    code: str = ""


EXTRAS = (
    Extra("exact", ("solve", "piglet", "--method", "exact")),
    Extra("programming", ("solve", "super-six", "sticks=4", "--method", "mixed-integer")),
    Extra("plot", ("plot", "piglet", "policy", "--out", "policy.html")),
    Extra(
        "rl",
        code="""
from rollwise.environments import GameAECEnv, GameEnv
env = GameEnv("piglet", opponent="optimal")
seen, info = env.reset(seed=1)
while not env.step(int(info["action_mask"].argmax()))[2]:
    info = {"action_mask": env.action_masks()}
GameAECEnv("piglet").reset(seed=1)
""",
    ),
    Extra(
        "cluster",
        code="""
from rollwise.cluster.dask_workers import DaskWorkers
from rollwise.errors import ClusterError
try:
    DaskWorkers("tcp://127.0.0.1:9")
except ClusterError as error:
    assert "no scheduler answers" in str(error)
""",
    ),
    Extra(
        "web",
        code="""
from rollwise.serve import require_web
require_web()
from rollwise.serve.app import make_app
from rollwise.serve.workers import offer
from rollwise.serve.workers import Limits
make_app(offer(["piglet"]), Limits())
""",
    ),
)


class Failed(Exception):
    """Something did not do what it should."""


class Place:
    """A folder with a virtual environment, and a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder / "venv", with_pip=True)
        self.bin = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "ROLLWISE"))}
        self.env["ROLLWISE_CACHE_DIR"] = str(folder / "cache")

    def run(self, *words: str, typed: str = "", code: int = 0, says: str = "") -> str:
        """What a program of the environment prints; its exit code must be as given."""
        program, *rest = words
        done = subprocess.run(
            [self.bin / program, *rest],
            cwd=self.folder,
            env=self.env,
            input=typed,
            capture_output=True,
            encoding="utf-8",
        )
        printed = done.stdout + done.stderr
        if done.returncode != code or says not in printed:
            expected = f"exit code {code}" + (f" and {says!r}" if says else "")
            raise Failed(f"{' '.join(words)}: {done.returncode}, not {expected}\n{printed}")
        print("ok:", " ".join(words).split("\n")[0], flush=True)
        return done.stdout

    def installed(self) -> set[str]:
        listed = self.run("python", "-m", "pip", "list", "--format=freeze")
        return {line.partition("==")[0] for line in listed.split()}

    def install(self, what: str) -> None:
        # Modules that nothing imports needn't be compiled.
        self.run("python", "-m", "pip", "install", "--quiet", "--no-compile", what)


def bare(place: Place) -> None:
    """What must work without extras."""
    for words in BARE:
        place.run("rollwise", *words)
    place.run("rollwise", "play", "piglet", "--seed", "1", typed="quit\n", says="you>")


def alone(place: Place, wheel: Path, extra: Extra) -> None:
    """Missed first, with the command that installs it; then installed, used, and taken out."""
    words = ("rollwise", *extra.command) if extra.command else ("python", "-c", extra.code)
    missed = 2 if extra.command else 1
    place.run(*words, code=missed, says=f"rollwise[{extra.name}]")
    before = place.installed()
    place.install(f"{wheel}[{extra.name}]")
    place.run(*words)
    place.run("python", "-m", "pip", "uninstall", "--yes", *place.installed() - before)


def run_build(*words: str | Path) -> None:
    """Build rollwise as pip does, with options of the package `build`."""
    command = [sys.executable, "-m", "build", *words, ROOT]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def newest(files: Iterable[Path]) -> Path:
    return max(files, key=lambda file: file.stat().st_mtime)


def build(folder: Path) -> Path:
    """The wheel for all platforms in the folder, made of the sdist, which lies beside it."""
    run_build("--outdir", folder, "--config-setting=kernels=none")
    return newest(folder.glob("*-none-any.whl"))


def try_wheel(wheel: Path) -> None:
    """Install the wheel in an empty environment, and use it; then each extra, alone."""
    with tempfile.TemporaryDirectory(prefix="rollwise-smoke-") as name:
        place = Place(Path(name))
        place.install(str(wheel))
        bare(place)
        for extra in EXTRAS:
            alone(place, wheel, extra)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="rollwise-wheel-") as name:
        try_wheel(build(Path(name)))


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(str(failure))
