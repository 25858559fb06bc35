"""What a start costs: nothing is imported, compiled or converted that isn't needed."""

from __future__ import annotations

import ast
import atexit
import gc
import importlib.util
import inspect
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from cli_runner import loaded_by, output, python, refusal, run

from rollwise import games
from rollwise.answer import first_use
from rollwise.cli.app import all_functions
from rollwise.game import Game
from rollwise.games.pig import Pig, Piglet
from rollwise.kernels import jit
from rollwise.kernels.jit import ONE, index, inner_kernel, kernel
from rollwise.machine import kernel_cache, second_process, switches
from rollwise.machine.memory_limits import NEW_OBJECTS, seldom_collected
from rollwise.machine.switches import jit_disabled

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


def test_a_list_of_commands_needs_no_numbers():
    assert loaded_by(["--help"], ["numpy", "numba", "pydantic", "polars", *COMMANDS]) == []


def test_whole_numbers_are_read_without_pydantic():
    assert loaded_by(["table", "piglet", "target=3", "--limit", "2"], ["pydantic"]) == []
    assert "--limit" in refusal("table", "piglet", "target=3", "--limit", "-1")
    assert "64 bits" in refusal("table", "piglet", "target=3", "--limit", "1" + 19 * "0")


@pytest.mark.needs_jit
@pytest.mark.parametrize("arguments", [SMALL, LARGE], ids=["small", "large"])
def test_what_is_compiled_already_is_read_without_a_compiler(arguments):
    needless = ["pydantic", "cffi", "scipy.linalg", "numba.core.typing.cffi_utils", "polars"]
    loaded_by(arguments, [])  # compiles what wasn't yet
    assert loaded_by(arguments, ["numba", *needless]) == (["numba"] if arguments == LARGE else [])


def test_ties_of_a_small_game_are_settled_without_scipy():
    question = ["evaluate", "threes", "dice=3", "--policy", "optimal"]
    assert loaded_by(question, ["numba", "scipy.sparse"]) == []


OWN = """
from dataclasses import dataclass
from typing import NamedTuple
from rollwise import PASS, WIN, Game

class Places(NamedTuple):
    mine: int
    theirs: int

@dataclass(frozen=True)
class Own(Game):
    goal: int = 22
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


def test_every_command_is_found_and_listed_with_its_docstring():
    functions = all_functions()
    assert {function.__module__ for function in functions.values()} == set(COMMANDS)
    assert all(name == function.__name__.replace("_", "-") for name, function in functions.items())
    listed = " ".join(output("--help").replace("│", " ").split())
    for name, function in functions.items():
        assert name in listed
        assert " ".join(str(inspect.getdoc(function)).split("\n\n")[0].split()) in listed


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


def test_a_game_named_like_its_module_is_found_without_the_others():
    modules = [f"rollwise.games.{name}" for name in ("pig", "craps", "threes", "super_six")]
    assert loaded_by(SMALL, modules) == modules
    assert loaded_by(["solve", "craps"], modules) == ["rollwise.games.craps"]


def test_a_command_that_is_none():
    assert "'solve'" in refusal("solv", "pig")


def test_what_isnt_text_is_converted_and_checked():
    assert "--limit" in refusal("table", "piglet", "target=3", "--limit", "few")
    assert "--max-states" in refusal("solve", "piglet", "--max-states", "0")
    rows = output("table", "piglet", "target=3", "--csv", "--limit", "2").splitlines()
    assert len(rows) == 3  # with the heading


def test_garbage_is_collected_as_before_once_a_command_is_done():
    before = gc.get_threshold()
    with seldom_collected():
        assert gc.get_threshold() == (NEW_OBJECTS, *before[1:])
    assert gc.get_threshold() == before
    with pytest.raises(KeyError), seldom_collected():
        raise KeyError
    assert gc.get_threshold() == before
    run("--version")
    assert gc.get_threshold() == before
    atexit.unregister(gc.freeze)  # this process is no command


def test_garbage_is_not_looked_for_as_a_command_ends():
    code = """
import atexit, gc, sys
from rollwise.cli import main
atexit.register(lambda: print("frozen", gc.get_freeze_count() > 0))
sys.argv = ["rollwise", "--version"]
main()
"""
    assert python(code).splitlines()[-1] == "frozen True"


@kernel
def doubled(array):
    return _twice(array[0])


@inner_kernel
def _twice(number):
    return 2 * number


def test_an_inner_kernel_is_called_by_kernels_interpreted_and_compiled():
    for way in (doubled, doubled if jit_disabled() else doubled.compiled):
        assert way(np.array([21])) == 42
        assert way(np.array([1.5])) == 3.0


@kernel
def shifted(array, places):
    for i in range(index(array.shape[0]) - ONE):
        places[i] = array[i + ONE] - ONE
    return index(array[ONE]) - index(2)


@pytest.mark.needs_jit
def test_an_index_has_no_sign_in_compiled_code():
    array = np.array([1, 3, 5])
    found, said = np.zeros((2, 3)), []
    for way, places in zip((shifted, shifted.compiled), found, strict=True):
        said.append(way(array, places))
    assert said == [1, 1]
    assert found.tolist() == [[2.0, 4.0, 0.0]] * 2
    signature = shifted.compiled.nopython_signatures[0]
    assert str(signature.return_type) == "uint64"


@pytest.mark.needs_jit
def test_a_kernel_waits_for_inner_ones_that_another_thread_tells_numba_of(monkeypatch):
    from rollwise.kernels import compiling

    begun = threading.Event()

    def slowly_at_first(compiled, function):
        if not begun.is_set():
            begun.set()
            time.sleep(1.0)

    monkeypatch.setattr(compiling, "keep_on_disk", slowly_at_first)
    monkeypatch.setattr(jit, "INNER", [])

    def twice_as_much(number):
        return 2 * number

    inner_kernel(twice_as_much)

    @kernel
    def first(number):
        return twice_as_much(number)

    @kernel
    def second(number):
        return twice_as_much(number) + 1

    thread = threading.Thread(target=lambda: first.compiled)
    thread.start()
    assert begun.wait(10)  # the inner kernel is no longer on the list, and not yet known
    assert second.compiled(4) == 9
    thread.join()


@pytest.mark.needs_jit
def test_a_kernel_is_interpreted_while_it_is_short(monkeypatch):
    def told(array, seconds):
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass
        return array.size

    runs = []
    monkeypatch.setattr(jit, "_interprets", True)
    monkeypatch.setattr(jit, "SMALL", 10)
    monkeypatch.setattr(jit, "TINY", 10)
    monkeypatch.setattr(jit, "COMPILING", 0.01)

    compiled = property(lambda self: lambda *arguments: runs.append(arguments))
    monkeypatch.setattr(jit.Kernel, "compiled", compiled)
    small, large = np.zeros(10), np.zeros(11)
    work = kernel(told)
    assert work(small, 0.0) == 10
    assert not runs
    work(large, 0.0)
    work((small[:5], (small[:6],)), 0.0)  # tuples count by what is in them
    assert len(runs) == 2
    assert work(small, 0.02) == 10  # which is known only afterwards
    work(small, 0.0)
    assert len(runs) == 3
    kernel(never_interpreted=True)(told)(small, 0.0)
    assert len(runs) == 4


@pytest.mark.needs_jit
def test_code_on_disk_is_read_where_interpreting_takes_longer(monkeypatch):
    monkeypatch.setattr(jit, "_interprets", True)
    monkeypatch.setattr(jit, "_spent_together", 0.0)
    monkeypatch.setattr(jit.Kernel, "compiled", property(lambda self: lambda array: "compiled"))
    imported = "rollwise.kernels.compiling"
    monkeypatch.setitem(sys.modules, imported, ...)  # so that it is as it was afterwards
    del sys.modules[imported]

    new, kept = kernel(lambda array: "new"), kernel(lambda array: "interpreted")
    new._on_disk, kept._on_disk = False, True
    tiny, small = np.zeros(jit.TINY), np.zeros(jit.TINY + 1)
    assert kept(small) == "interpreted"
    monkeypatch.setattr(jit, "_spent_together", 2 * jit.IMPORTING)
    assert kept(small) == "compiled"
    monkeypatch.setattr(jit, "_spent_together", 0.0)
    monkeypatch.setitem(sys.modules, imported, ...)
    assert (kept(small), kept(tiny), new(small)) == ("compiled", "interpreted", "new")
    kept._spent = new._spent = 2 * jit.READING
    assert (kept(tiny), new(tiny)) == ("compiled", "new")


@pytest.mark.needs_jit
def test_a_small_game_reads_compiled_code_where_its_rules_are_compiled():
    code = """
import rollwise
from rollwise.games.pig import Pig
from rollwise.kernels import jit
from rollwise.kernels.components import find_components
from rollwise.machine.kernel_cache import has_compiled

{before}
rollwise.solve(Pig(target=25))
print(find_components._compiled is not None, has_compiled())
"""
    python(code.format(before="jit.compile_all()"))  # compiles what wasn't yet
    assert python(code.format(before="")) == "True False\n"


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
    change("machine/pipeline.py")
    assert stamp() == found[0]
    parts = ("engine/components", "engine/condensed", "layers/layer", "machine/kernel_cache")
    for part in parts:  # itself; directly; not
        change(f"{part}.py")
        found.append(stamp())
    assert len(set(found)) == len(found)
    kernel_cache.source_stamp.cache_clear()


def test_no_import_of_a_kernel_is_overlooked():
    for path in Path(jit.__file__).parent.glob("*.py"):
        imported = [
            part.module or ""
            if isinstance(part, ast.ImportFrom)
            else " ".join(alias.name for alias in part.names)
            for part in ast.walk(ast.parse(path.read_text()))
            if isinstance(part, ast.Import | ast.ImportFrom)
        ]
        ours = {name for name in imported if name.startswith("rollwise.kernels")}
        ours |= {name for name in imported if name.startswith("rollwise.machine.")}
        found = {f"rollwise.{file.parent.name}.{file.stem}" for file in kernel_cache._read(path)[1]}
        assert found == ours


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


@pytest.mark.needs_jit
def test_who_waits_for_the_second_process(tmp_path, monkeypatch):
    """For its first line, or where it fails, for nothing."""
    (tmp_path / "works.py").write_text(
        "import pathlib, time\n"
        "time.sleep(0.3); pathlib.Path('first').touch(); print('ready', flush=True)\n"
        "for _ in range(3000): pathlib.Path('go').exists() or time.sleep(0.01)\n"
        "time.sleep(0.3); pathlib.Path('rest').touch()\n"
    )
    (tmp_path / "fails.py").write_text("raise SystemExit(1)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(second_process, "_process", None)  # whatever other tests have begun
    second_process.begin("works")
    second_process.begin("fails")  # it has begun already
    second_process.wait_until_ready()
    assert (tmp_path / "first").exists()
    assert not (tmp_path / "rest").exists()
    (tmp_path / "go").touch()
    second_process.wait_until_ready()  # it has said its line
    assert second_process._process.wait(30) == 0
    assert (tmp_path / "rest").exists()
    monkeypatch.setattr(second_process, "_process", None)
    second_process.begin("fails")
    second_process.wait_until_ready()
    assert second_process._process.wait(30) == 1


def test_an_interrupted_wait_is_over(tmp_path, monkeypatch):
    """Nobody waits again, and no later solve fails, also after another second process."""
    (tmp_path / "works.py").write_text("print('ready', flush=True)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(second_process, "_process", None)
    second_process.begin("works")
    first = second_process._process

    class Interrupted:
        closed = False

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.closed = True

        def readline(self):
            raise KeyboardInterrupt

    output, first.stdout = first.stdout, Interrupted()
    with pytest.raises(KeyboardInterrupt):
        second_process.wait_until_ready()
    second_process.wait_until_ready()
    first.stdout = output
    second_process.wait_until_ready()
    with monkeypatch.context() as patch:
        patch.setattr(second_process, "_process", None)
        second_process.begin("works")
    second_process.wait_until_ready()  # for the first one, as before
    assert first.wait(30) == 0


@pytest.mark.needs_jit
def test_the_second_process_runs_nothing_of_the_current_folder(tmp_path, monkeypatch):
    for name in ("numba", "rollwise", "stranger"):
        (tmp_path / f"{name}.py").write_text("import pathlib; pathlib.Path('it-ran').touch()\n")
    monkeypatch.chdir(tmp_path)
    for module in ("rollwise.kernels.sampling", "stranger"):
        monkeypatch.setattr(second_process, "_process", None)
        second_process.begin(module)
        second_process._process.wait(30)
    assert not (tmp_path / "it-ran").exists()


@pytest.mark.needs_jit
def test_a_second_process_is_begun_on_the_first_use_only(monkeypatch):
    begun = []
    monkeypatch.setattr(second_process, "begin", begun.append)
    monkeypatch.setattr(first_use.os, "cpu_count", lambda: 2)
    python(
        "from rollwise.games.pig import Piglet; import rollwise; rollwise.solve(Piglet(2))",
        ROLLWISE_OFF="plain-kernels",
    )
    first_use.compile_beside()
    assert begun == []
    monkeypatch.setattr(first_use, "nothing_compiled", lambda: True)
    monkeypatch.setattr(switches, "turned_off", lambda: frozenset({"first-use"}))
    first_use.compile_beside()
    assert begun == []
    monkeypatch.setattr(switches, "turned_off", frozenset)
    first_use.compile_beside()
    assert begun == ["rollwise.answer.first_use"]


@pytest.mark.slow
@pytest.mark.needs_jit
def test_the_second_process_compiles_all_that_solves(tmp_path):
    caches = {"NUMBA_CACHE_DIR": str(tmp_path / "numba"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    code = "from rollwise.answer.first_use import compile_what_solves; compile_what_solves()"
    assert python(code, **caches) == "ready\n"
    code = """
import numba.core.dispatcher as dispatcher
from rollwise.games.pig import Piglet, TwoDicePig
from rollwise.answer.solve import solve

compile = dispatcher._FunctionCompiler.compile
compiled = []
def noted(self, *arguments):
    compiled.append(self.py_func.__module__)
    return compile(self, *arguments)
dispatcher._FunctionCompiler.compile = noted

from rollwise.kernels.jit import compile_all

compile_all()
print(solve(Piglet(3)).status, solve(TwoDicePig(12), mode="interpreted").status)
print(sorted({name for name in compiled if name.startswith("rollwise")}))
"""
    assert python(code, **caches) == "certified certified\n[]\n"
