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

# From the ground up. A module imports only from floors below its own; those named on one
# floor stand side by side and may not lean on each other. A package is one room.
FLOORS = (
    (
        "errors",
        "faults",
        "interrupts",
        "deadlines",
        "garbage",
        "large_pages",
        "second_core",
        "sizes",
        "printed",
        "intervals",
    ),
    ("user_cache",),
    ("kernels",),
    ("components", "randomness", "atomic_files", "parquet_files", "vocabulary"),
    ("graph",),
    ("endings", "game"),
    ("dice",),
    ("builders", "games", "recursion"),
    ("certificate", "policies"),
    ("seats", "scores"),
    ("methods", "chase"),
    ("certified",),
    ("evaluation",),
    ("simulate", "learn"),
    ("filters", "layer_files"),
    ("solution", "layers"),
    ("first_use",),
    ("kept",),
    ("storage",),
    ("policy_references",),
    ("analysis",),
    ("plot", "play", "environments", "export", "by_name"),
    ("report",),
    ("cli", "web"),
    ("__main__",),
)
# Where the upper of two floors is reached from below, inside one function, because that
# is where a user looks for it: `Solution.save`, `Solution.plot` and `Solution.report`.
TRAPDOORS = {("solution", "storage"), ("solution", "plot"), ("solution", "report")}

FLOOR = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}


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
    return [
        other
        for other in sorted(used)
        if other in FLOOR and FLOOR[other] >= FLOOR[room] and (room, other) not in TRAPDOORS
    ]


@pytest.mark.parametrize(
    "path",
    [p for p in modules() if room_of(p) != "__init__"],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_imports_go_down(path):
    """The front door is left out: it names every room, and enters one when asked."""
    room = room_of(path)
    assert room in FLOOR, f"on which floor is {room}? Add it to FLOORS"
    used = rooms_used(path)
    assert breaches(room, used) == []
    assert used <= set(FLOOR)


def test_the_check_can_fail():
    assert imports_of("def f():\n    from rollwise import solution") == {"rollwise.solution"}
    assert breaches("certificate", {"methods", "graph"}) == ["methods"]
    assert breaches("solution", {"storage", "filters"}) == []
    assert breaches("graph", {"kernels", "game"}) == ["game"]


def test_the_certificate_never_imports_a_solver():
    path = ROOT / "certificate.py"
    assert rooms_used(path) <= {
        "endings",
        "errors",
        "graph",
        "kernels",
        "large_pages",
        "recursion",
        "second_core",
    }
    assert "strategy_iteration" not in path.read_text()


def test_methods_see_only_the_graph():
    for path in (ROOT / "methods").glob("*.py"):
        assert not rooms_used(path) & {"game", "dice", "games", "builders"}


@pytest.mark.parametrize(
    "path", sorted((ROOT / "kernels").glob("*.py")), ids=lambda path: path.name
)
def test_kernels_import_only_numpy_and_numba(path):
    # llvmlite is Numba's own; an array in large pages is NumPy's; compiled code is kept somewhere
    allowed = {"numpy", "numba", "llvmlite", *sys.stdlib_module_names}
    for name in imports_of(path.read_text()):
        inside = name.startswith(
            ("rollwise.kernels", "rollwise.large_pages", "rollwise.user_cache")
        )
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
        home = rollwise._HOME.get(name, name)
        if importlib.util.find_spec(f"rollwise.{home}") is None:
            continue  # a room that isn't built yet
        assert getattr(rollwise, name) is not None
    assert set(rollwise.__all__) <= set(dir(rollwise))
    assert set(rollwise._HOME) <= set(rollwise.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        rollwise.nonsense  # noqa: B018
