"""The floors of the house: imports go only downwards, and the door opens at once."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rollwise

ROOT = Path(rollwise.__file__).parent

MAP = ROOT.parent.parent / "ARCHITECTURE.md"


def read_floors(page: str) -> dict[str, int]:
    """The floor of each room, from the table of ARCHITECTURE.md."""
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", page, re.MULTILINE)
    return {room: int(floor) for floor, rooms in rows for room in re.findall(r"`(\w+)`", rooms)}


FLOOR = read_floors(MAP.read_text())


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def room_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[0]


def imports_of(source: str) -> set[str]:
    """Every module that is imported, inside functions and under TYPE_CHECKING too."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            if node.module == "rollwise":
                found |= {f"rollwise.{alias.name}" for alias in node.names}
            else:
                found.add(node.module or "")
    return found


def rooms_used(path: Path) -> set[str]:
    names = [name.split(".") for name in imports_of(path.read_text())]
    inside = {name[1] for name in names if name[0] == "rollwise" and len(name) > 1}
    return inside - {room_of(path), "__version__"}


def breaches(room: str, used: set[str]) -> list[str]:
    return [other for other in sorted(used) if other in FLOOR and FLOOR[other] >= FLOOR[room]]


@pytest.mark.parametrize(
    "path",
    [p for p in modules() if room_of(p) != "__init__"],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_imports_go_down(path):
    """The front door is left out: it names every room, and enters one when asked."""
    room = room_of(path)
    assert room in FLOOR, f"on which floor is {room}? Add it to the table in ARCHITECTURE.md"
    used = rooms_used(path)
    assert breaches(room, used) == []
    assert used <= set(FLOOR)


def test_the_check_can_fail():
    assert read_floors("| 2 | `a`, `b` | x |\n| 1 | `c` | y |") == {"a": 2, "b": 2, "c": 1}
    assert imports_of("def f():\n    from rollwise import answer") == {"rollwise.answer"}
    assert breaches("proofs", {"methods", "graph"}) == ["methods"]
    assert breaches("answer", {"plot", "methods"}) == ["plot"]
    assert breaches("graph", {"kernels", "game"}) == ["game"]


def test_the_map_names_every_room_and_no_other():
    rooms = {path.stem for path in ROOT.iterdir() if path.suffix in ("", ".py")}
    assert set(FLOOR) == rooms - {"__init__", "__pycache__"}


def test_few_modules_stand_at_the_top():
    assert len([path for path in ROOT.glob("*.py") if path.stem != "__init__"]) <= 9


def test_methods_see_only_the_graph():
    for path in (ROOT / "methods").glob("*.py"):
        assert not rooms_used(path) & {"game", "dice", "games", "builders"}


def test_play_knows_of_no_terminal():
    for path in (ROOT / "coach").glob("*.py"):
        used = {name.split(".")[0] for name in imports_of(path.read_text())}
        assert not used & {"rich", "typer", "click", "sys", "shutil"}


@pytest.mark.parametrize(
    "path", sorted((ROOT / "kernels").glob("*.py")), ids=lambda path: path.name
)
def test_kernels_import_only_numpy_and_numba(path):
    # llvmlite is Numba's own; compiled code is kept somewhere
    allowed = {"numpy", "numba", "llvmlite", *sys.stdlib_module_names}
    for name in imports_of(path.read_text()):
        inside = name.startswith(("rollwise.kernels", "rollwise.machine"))
        assert inside or name.split(".")[0] in allowed


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_the_front_door_is_light():
    heavy = ["numba", "numpy", "polars", "scipy", "plotly", "typer", "rich", "dask", "gymnasium"]
    loaded = run(f"import sys, rollwise; print([m for m in {heavy} if m in sys.modules])")
    assert loaded.strip() == "[]"


def test_public_names_are_there():
    for name in rollwise.__all__:
        assert getattr(rollwise, name) is not None
    assert set(rollwise.__all__) <= set(dir(rollwise))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        rollwise.nonsense  # noqa: B018
