"""Builds rollwise for pip, with compiled kernels: the build backend named in pyproject.toml.

Setuptools builds the wheel. Some commands of its package are then run, so that each kernel that
they call is compiled, for the processor in `rollwise.machine.wheel_kernels`. These kernels go into
the wheel, and the first use waits for the compilation of the rules only. The wheel has the tag of
Numba's wheel: it is for one version of Python and one platform. For an editable install the kernels
lie beside the sources. Where compiling fails, there are none, and Numba compiles at the first use.

``--config-settings kernels=none`` builds the wheel for all platforms, ``kernels=all`` compiles the
kernels of almost all commands, which takes some minutes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]
ROOT = Path(__file__).resolve().parent.parent
FOLDER = "rollwise/compiled"
FAULTS = (OSError, ImportError, subprocess.SubprocessError)  # of compiling kernels
SECONDS = 900  # for one command; they take a few
# The first commands of a user. Threes has no kernels of its own.
FIRST = """
solve pig
play pig
""".strip().splitlines()
# With these, the kernels that most commands use. Arguments differ in type where games have throws,
# pools, payoffs, more than two seats or large numbers of states.
FURTHER = """
solve super-six sticks=10
solve pig players=3 target=20
solve pig target=20 as=cube
solve piglet target=10 --method policy-iteration
solve super-six sticks=4 players=3
solve threes
solve farkle-turn
solve yahtzee boxes=3
solve royal-ur pieces=1
solve craps
solve kuhn-poker
solve ship-captain-crew
solve knucklebones
solve liars-dice
evaluate pig target=40 --policy hold-at-20
evaluate threes --policy optimal
respond pig target=40 --to hold-at-20
distribution threes
distribution pig target=20
length pig target=30
balance pig target=30
simulate pig target=30 --policy optimal --games 20000
simulate pig target=30 players=3 --policy optimal --games 2000
tournament pig target=30 --policies optimal,hold-at-20
learn pig target=20 --games 20000
thumb pig target=20
compare threes
plot pig policy --out policy.html
page piglet --out page.html
""".strip().splitlines()
COMMANDS = {"none": [], "first": FIRST, "all": FIRST + FURTHER}

Settings = Mapping[str, Any] | None


def commands_of(settings: Settings) -> list[str]:
    """The commands with the kernels that go into the wheel."""
    kernels = (settings or {}).get("kernels", "first")
    if kernels not in COMMANDS:
        raise ValueError(f"kernels is {kernels!r}; it is one of {', '.join(COMMANDS)}")
    return COMMANDS[kernels]


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Setuptools' own, and all that the commands need, if there are any."""
    needed, commands = build_meta.get_requires_for_build_wheel(), commands_of(config_settings)
    if commands:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        needed += ["wheel", *project["dependencies"]]
        if any(command.startswith("plot") for command in commands):
            needed += project["optional-dependencies"]["plot"]
    return needed


get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel into a folder; its name."""
    commands = commands_of(config_settings)
    name = build_meta.build_wheel(wheel_directory, None, metadata_directory)
    if commands:
        plain = Path(wheel_directory, name)
        try:
            name = with_kernels(plain, commands)
        except FAULTS as error:
            print(f"the wheel has no compiled kernels: {error}", file=sys.stderr)
        else:
            plain.unlink()
    return name


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel of an editable install, and compile kernels beside the sources; its name."""
    if commands := commands_of(config_settings):
        try:
            compile_kernels(ROOT / "src", commands)
        except FAULTS as error:
            print(f"no kernels are compiled: {error}", file=sys.stderr)
    return build_meta.build_editable(wheel_directory, None, metadata_directory)


def with_kernels(wheel: Path, commands: list[str]) -> str:
    """The name of a wheel with compiled kernels, made beside the one without them."""
    with tempfile.TemporaryDirectory(prefix="rollwise-wheel-") as name:
        run("-m", "wheel", "unpack", "--dest", name, wheel)
        (unpacked,) = Path(name).iterdir()
        compile_kernels(unpacked, commands)
        run("-m", "wheel", "pack", "--dest-dir", name, unpacked)
        (packed,) = Path(name).glob("*.whl")
        made = run("-m", "wheel", "tags", *tags_of_numba(), packed).split()[-1]
        shutil.copy(Path(name, made), wheel.parent)
    return made


def compile_kernels(package: Path, commands: list[str]) -> None:
    """Compile the kernels that commands call into a folder of the package, a subfolder each room.

    Parameters
    ----------
    package : Path
        The folder with rollwise. Its earlier kernels are removed first: a kernel that is found
        there isn't compiled.
    """
    shutil.rmtree(package / FOLDER, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="rollwise-kernels-") as name:
        found = filter(None, (str(package), os.environ.get("PYTHONPATH")))
        env = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "ROLLWISE"))}
        env |= {
            "PYTHONPATH": os.pathsep.join(found),
            "PYTHONDONTWRITEBYTECODE": "1",
            "ROLLWISE_CACHE_DIR": str(Path(name, "cache")),
        }
        code = (
            "from rollwise.machine.wheel_kernels import target; print(*target() or (), sep='\\n')"
        )
        target = run("-c", code, cwd=name, env=env).splitlines()
        if len(target) != 3:
            raise OSError("this processor isn't one that wheels are compiled for")
        env |= {
            "NUMBA_CPU_NAME": target[1],
            "NUMBA_CPU_FEATURES": target[2],
            "NUMBA_CACHE_DIR": str(Path(name, "numba")),
            "ROLLWISE_OFF": "plain-kernels,first-use",
        }
        for command in commands:
            print("compiling the kernels of:  rollwise", command, flush=True)
            run("-m", "rollwise", *command.split(), cwd=name, env=env)
        # a room's name is followed by a hash of the place of its sources
        for room in {file.parent for file in Path(name, "numba").rglob("*.nbi")}:
            shutil.copytree(room, package / FOLDER / room.name.rpartition("_")[0])


def tags_of_numba() -> list[str]:
    """The options that give a wheel the tags of Numba's."""
    about = metadata.distribution("numba").read_text("WHEEL") or ""
    tags = [line.split()[1] for line in about.splitlines() if line.startswith("Tag:")]
    python, abi, _ = tags[0].split("-")
    platforms = ".".join(tag.split("-")[2] for tag in tags)
    return ["--python-tag", python, "--abi-tag", abi, "--platform-tag", platforms]


def run(*words: str | Path, **more: Any) -> str:
    """What Python prints with these words.

    Raises
    ------
    subprocess.SubprocessError
        It fails, or takes too long.
    """
    done = subprocess.run(
        [sys.executable, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        **more,
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or [""]
        raise subprocess.SubprocessError(f"{' '.join(map(str, words))}: {said[-1]}")
    return done.stdout
