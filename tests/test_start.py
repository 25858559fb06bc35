"""What a start costs: nothing is imported, compiled or converted that isn't needed."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from cli_runner import loaded_by, python, run

from rollwise import games
from rollwise.answer import first_use
from rollwise.game import Game
from rollwise.games.pig import Pig, Piglet
from rollwise.machine import kernel_cache, wheel_kernels

# A game of a few states, and one whose rules are compiled.
SMALL, LARGE = ["solve", "piglet", "target=3"], ["solve", "pig", "target=30"]


def commands_among(modules: list[str]) -> list[str]:
    return [name for name in modules if name.startswith("rollwise.cli.commands.")]


COMMANDS = [
    "rollwise.cli.commands." + path.stem
    for path in (Path(inspect.getfile(run)).parent.parent / "src/rollwise/cli/commands").glob(
        "[a-z]*.py"
    )
]


def test_a_command_imports_no_other():
    assert commands_among(loaded_by(SMALL, COMMANDS)) == ["rollwise.cli.commands.solve"]


@pytest.mark.needs_jit
@pytest.mark.parametrize("arguments", [SMALL, LARGE], ids=["small", "large"])
def test_what_is_compiled_already_is_read_without_a_compiler(arguments):
    needless = ["pydantic", "cffi", "scipy.linalg", "numba.core.typing.cffi_utils", "polars"]
    loaded_by(arguments, [])  # compiles what wasn't yet
    assert loaded_by(arguments, ["numba", *needless]) == (["numba"] if arguments == LARGE else [])


def test_a_saved_answer_is_read_without_the_verification_of_folders(tmp_path):
    place = tmp_path / "saved.parquet"
    assert run(*SMALL, "--save", str(place)).returncode == 0
    needless = ["answer.verify", "answer.by_layers", "proofs.certificate_files"]
    code = (
        "import sys, rollwise\n"
        f"rollwise.load({str(place)!r})\n"
        f"print([name for name in {needless} if f'rollwise.{{name}}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


OWN = """
from dataclasses import dataclass
from typing import NamedTuple
from rollwise import PASS, WIN, Game

class Places(NamedTuple):
    mine: int
    theirs: int

@dataclass(frozen=True)
class Own(Game):
    goal: int = 14
    def start(self):
        return Places(0, 0)
    def actions(self, s):
        yield 1
        yield 2
    def outcomes(self, s, action):
        for first in range(1, 7):
            for second in range(1, 7) if action == 2 else (0,):
                place = s.mine + first + second
                if place == self.goal:
                    yield 1, WIN, s
                else:
                    yield 1, PASS, Places(s.theirs, place if place < self.goal else 0)
"""


@pytest.mark.parametrize(
    "question",
    [
        "solve craps",
        "solve super-six sticks=7",
        "solve dice-blackjack",
        "solve OWN",
        "evaluate OWN --policy random",
        "evaluate threes --policy random",
        "simulate shut-the-box tiles=5 --policy random --games 100",
        "table ship-captain-crew tries=2",
        "advise craps --state point=0",
    ],
)
def test_nothing_small_waits_for_a_compiler(question, tmp_path):
    path = tmp_path / "own.py"
    path.write_text(OWN)
    assert loaded_by(question.replace("OWN", f"{path}:Own").split(), ["numba"]) == []


def test_games_of_others_are_found_and_replace_none_of_ours(monkeypatch):
    class Entry(NamedTuple):
        game: type[Game]

        def load(self) -> type[Game]:
            return self.game

    class Theirs(Pig):
        name = "theirs"

    class AlsoPig(Pig):
        name = "pig"

    def entry_points(group: str) -> list[Entry]:
        assert group == "rollwise.games"
        return [Entry(Theirs), Entry(AlsoPig)]

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    assert games.find("theirs") is Theirs
    assert games.find("pig") is Pig
    assert games.available()["pig"] is Pig
    assert games.find("piglet") is Piglet  # whose module has another name


def test_a_game_is_found_without_the_others():
    modules = [f"rollwise.games.{name}" for name in ("pig", "craps", "threes", "super_six")]
    assert loaded_by(["games"], modules) == modules
    assert loaded_by(["solve", "craps"], modules) == ["rollwise.games.craps"]
    assert loaded_by(SMALL, modules) == ["rollwise.games.pig"]  # piglet is in its file


KERNEL_FILE = """
import numpy as np
from rollwise.kernels.jit import ONE, index, inner_kernel, kernel

@inner_kernel
def twice(number):
    return 2 * number

@kernel
def work(array):
    total = np.zeros(1)
    for number in array:
        total[0] += twice(number)
    if total[0] < 0:
        raise ValueError("less than nothing")
    return total
"""
USE = """
import sys
sys.path.insert(0, {folder!r})
from rollwise.machine import kernel_cache
{before}
import numpy as np, work
compiled = work.work.compiled
print(*compiled(np.arange(4)), *compiled.stats.cache_hits.values(), "|",
      *(name in sys.modules for name in ("numba.np.arrayobj", "numba.core.typing.cffi_utils")))
try:
    compiled(-np.arange(4))
except ValueError as error:
    print(error)
"""
BREAKS = """
def breaks(context): raise RuntimeError
kernel_cache.before_reading = breaks
"""


@pytest.mark.slow
@pytest.mark.needs_jit
def test_kernels_are_read_from_disk_and_if_need_be_as_numba_does(tmp_path):
    (tmp_path / "work.py").write_text(KERNEL_FILE)
    cache = str(tmp_path / "cache")

    def use(before: str = "") -> str:
        return python(USE.format(folder=str(tmp_path), before=before), NUMBA_CACHE_DIR=cache)

    assert use().splitlines() == ["12.0 | True True", "less than nothing"]  # compiled
    assert use().splitlines() == ["12.0 1 | False False", "less than nothing"]  # read
    # read, but with all that Numba knows
    assert use(BREAKS).splitlines() == ["12.0 1 | True True", "less than nothing"]
    for torn in ("work.work*.nbc", "work.work*.nbi"):  # compiled anew, and read the next time
        (file,) = Path(cache).rglob(torn)
        file.write_bytes(file.read_bytes()[:10])
        assert use().splitlines() == ["12.0 | True True", "less than nothing"]
        assert use().splitlines() == ["12.0 1 | False False", "less than nothing"]


WHEEL = """
from pathlib import Path
from rollwise.machine import wheel_kernels
wheel_kernels.FOLDER = Path({folder!r})
"""


@pytest.mark.slow
@pytest.mark.needs_jit
@pytest.mark.skipif(wheel_kernels.target() is None, reason="no wheels for this processor")
def test_kernels_of_a_wheel_are_read_where_none_is_on_disk(tmp_path):
    source, folder = tmp_path / "room" / "work.py", tmp_path / "compiled"
    source.parent.mkdir()
    source.write_text(KERNEL_FILE)
    _, processor, features = wheel_kernels.target()
    there = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": features}
    use = USE.format(folder=str(source.parent), before=WHEEL.format(folder=str(folder)))

    def compiled_in(name: str) -> list[Path]:
        return list((tmp_path / name).rglob("*.nbi"))

    assert python(use, NUMBA_CACHE_DIR=str(tmp_path / "made"), **there).startswith("12.0 | True")
    (made,) = {file.parent for file in compiled_in("made")}
    shutil.copytree(made, folder / "room")
    assert python(use, NUMBA_CACHE_DIR=str(tmp_path / "read")).startswith("12.0 1 | False False")
    assert not compiled_in("read")
    source.write_text(KERNEL_FILE.replace("2 * number", "3 * number"))  # not the wheel's kernel
    assert python(use, NUMBA_CACHE_DIR=str(tmp_path / "changed")).startswith("18.0 | True")
    assert compiled_in("changed")


def test_wheels_are_for_processors_with_all_the_features(monkeypatch):
    from llvmlite import binding

    platform = "x86_64-unknown-linux-gnu"
    features = wheel_kernels.PROCESSORS["x86_64"][1]
    present = dict.fromkeys(features.replace("+", "").split(","), True)
    monkeypatch.setattr(binding, "get_process_triple", lambda: platform)
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: present)
    target = wheel_kernels.target.__wrapped__
    assert target() == (platform, "x86-64-v3", features)
    present["avx2"] = False
    assert target() is None
    present["avx2"] = True
    monkeypatch.setattr(binding, "get_process_triple", lambda: "riscv64-unknown-linux-gnu")
    assert target() is None
    monkeypatch.setattr(binding, "get_process_triple", lambda: "arm64-apple-darwin24.1.0")
    assert target() == ("arm64-apple-darwin24.1.0", "generic", "")


def test_kernels_on_disk_are_those_of_all_the_sources_that_went_into_them(tmp_path, monkeypatch):
    home = tmp_path / "rollwise"
    for room in ("engine", "kernels", "layers", "machine"):
        shutil.copytree(kernel_cache.PACKAGE / room, home / room)
    monkeypatch.setattr(kernel_cache, "PACKAGE", home)

    def stamp() -> str:
        kernel_cache._read.cache_clear()
        kernel_cache.source_stamp.cache_clear()
        return kernel_cache.source_stamp(home / "engine/components.py")

    def change(name: str) -> None:
        with (home / name).open("a") as file:
            file.write("#\n")

    found = [stamp()]
    assert stamp() == found[0]
    change("kernels/by_score.py")  # nothing of it is used
    change("machine/parquet_files.py")
    assert stamp() == found[0]
    parts = ("engine/components", "engine/condensed", "layers/layer", "machine/kernel_cache")
    for part in parts:  # itself; directly; not
        change(f"{part}.py")
        found.append(stamp())
    assert len(set(found)) == len(found)
    kernel_cache.source_stamp.cache_clear()


@pytest.mark.slow
@pytest.mark.needs_jit
def test_numba_is_whole_for_code_of_the_users_own():
    """Linear algebra and, where it is installed, cffi: both are looked up as Numba compiles."""
    cffi = """
ffi = cffi.FFI()
ffi.cdef("double sqrt(double);")
square_root = ffi.dlopen(None).sqrt

@numba.njit
def root(x):
    return square_root(x)

print(root(9.0))
"""
    installed = importlib.util.find_spec("cffi") is not None
    code = f"""
import numba, numpy as np
{"import cffi" if installed else ""}
from rollwise.games.pig import Pig
from rollwise.answer.solve import solve

solve(Pig(30), mode="compiled")  # read from disk, if it was solved before

@numba.njit
def product(a, b):
    return np.dot(a, b)

print(product(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([1.0, 2.0])))
{cffi if installed else "print(3.0)"}
"""
    assert python(code).splitlines() == ["[2. 8.]", "3.0"]


@pytest.mark.parametrize("code", ["print('ready', flush=True)", "raise SystemExit(1)"])
def test_the_wait_for_the_second_process_ends(code):
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    first_use._wait(process)
    assert process.wait(30) == int("Exit" in code)


# ---- tricks that can be turned off: answers stay the same


GAME = ["solve", "pig", "target=12", "--mode", "compiled", "--json"]
FAST = ["second-core", "garbage"]  # nothing is compiled anew without them


def solved(off: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rollwise", *GAME],
        capture_output=True,
        text=True,
        env={**os.environ, "ROLLWISE_OFF": off},
    )


def answer(off: str) -> dict[str, object]:
    done = solved(off)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    return {key: document[key] for key in ("value", "error_bound", "states", "outcomes")}


def test_answers_are_the_same_without_tricks():
    assert answer("") == answer(", ".join(FAST))
