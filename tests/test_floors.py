"""The floors of the house: imports go only downwards, and the door opens at once."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import rollwise

ROOT = Path(rollwise.__file__).parent

# From the ground up. A module imports only from floors below its own; the modules and
# packages named together stand side by side and may not lean on each other. A file in a
# package belongs to it, and may import from its own package.
FLOORS = (
    ("kernels", "errors"),
    ("graph",),
    ("game",),
    ("dice",),
    ("builders", "games", "recursion"),
    ("certificate", "methods"),
    ("policies",),
    ("filters", "solution", "storage"),
    ("analysis",),
    ("plot", "export", "play"),
    ("cli", "web", "__main__"),
)
# Pairs on one floor of which the first may import the second.
SIDE_DOORS = {("storage", "solution")}

FLOOR = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}
OUTSIDE_KERNELS = {"numpy", "numba", "__future__", "collections", "typing"}


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
    inside = {name.split(".")[1] for name in imports_of(path.read_text()) if "rollwise." in name}
    return inside - {room_of(path)}


def breaches(room: str, used: set[str]) -> list[str]:
    return [
        other
        for other in sorted(used)
        if other in FLOOR and FLOOR[other] >= FLOOR[room] and (room, other) not in SIDE_DOORS
    ]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down(path):
    room = room_of(path)
    if room == "__init__":  # the front door names every room, and enters one when asked
        return
    assert room in FLOOR, f"on which floor is {room}? Add it to FLOORS"
    used = rooms_used(path)
    assert breaches(room, used) == []
    assert used <= set(FLOOR) | {"__version__"}


def test_the_check_can_fail():
    assert imports_of("def f():\n    from rollwise import solution") == {"rollwise.solution"}
    assert breaches("certificate", {"methods", "graph"}) == ["methods"]
    assert breaches("graph", {"kernels", "game"}) == ["game"]


def test_the_certificate_never_imports_a_solver():
    path = ROOT / "certificate.py"
    assert rooms_used(path) <= {"errors", "graph", "kernels", "recursion"}
    assert "strategy_iteration" not in path.read_text()


def test_methods_see_only_the_graph():
    for path in (ROOT / "methods").glob("*.py"):
        assert not rooms_used(path) & {"game", "dice", "games", "builders"}


@pytest.mark.parametrize(
    "path", sorted((ROOT / "kernels").glob("*.py")), ids=lambda path: path.name
)
def test_kernels_import_only_numpy_and_numba(path):
    for name in imports_of(path.read_text()):
        assert name.split(".")[0] in OUTSIDE_KERNELS or name.startswith("rollwise.kernels")


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_the_front_door_is_light():
    heavy = "numba numpy polars scipy plotly typer rich dask gymnasium".split()
    loaded = run(f"import sys, rollwise; print([m for m in {heavy} if m in sys.modules])")
    assert loaded.strip() == "[]"


def test_public_names_are_there():
    for name in rollwise.__all__:
        home = rollwise._HOME.get(name, name)
        if importlib.util.find_spec(f"rollwise.{home}") is None:
            continue  # a room that isn't built yet
        assert getattr(rollwise, name) is not None
    assert set(rollwise.__all__) <= set(dir(rollwise))
    assert set(rollwise._HOME) <= set(rollwise.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        rollwise.nonsense  # noqa: B018
