"""The floors of the house: imports go down, never in a circle, and the door opens at once."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from functools import cache
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
    return path.relative_to(ROOT).with_suffix("").parts[0]


class WithoutTypes(ast.NodeTransformer):
    """Leaves out what is imported for types only."""

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if "TYPE_CHECKING" in ast.dump(node.test) else self.generic_visit(node)


def imports_of(source: str, *, types: bool = True) -> set[str]:
    """All that is imported, inside functions too, and for types only if that is asked for."""
    tree = ast.parse(source)
    found = set()
    for node in ast.walk(tree if types else WithoutTypes().visit(tree)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
            if node.module != "rollwise":
                found.add(node.module or "")
    return found


def first_circle(imports: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, if some do. A package may enter its modules."""
    inside = {
        name: {o for o in others & set(imports) if not f"{name}.".startswith(f"{o}.")}
        for name, others in imports.items()
    }
    try:
        graphlib.TopologicalSorter(inside).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def rooms_used(path: Path) -> set[str]:
    names = [name.split(".") for name in imports_of(path.read_text())]
    inside = {name[1] for name in names if name[0] == "rollwise" and len(name) > 1}
    return inside - {room_of(path), "__version__"}


def breaches(room: str, used: set[str]) -> list[str]:
    return [other for other in sorted(used) if other in FLOOR and FLOOR[other] >= FLOOR[room]]


def test_imports_go_down():
    """The front door is left out: it names every room, and enters one when asked."""
    rooms = {path.stem for path in ROOT.iterdir() if path.suffix in ("", ".py")}
    assert set(FLOOR) == rooms - {"__init__", "__pycache__", "compiled"}
    upward = {
        str(path.relative_to(ROOT)): breaches(room_of(path), rooms_used(path))
        for path in modules()
        if room_of(path) != "__init__"
    }
    assert not {path: rooms for path, rooms in upward.items() if rooms}


def test_no_file_imports_itself_by_way_of_others():
    """The front door is left out here too."""
    imports = {}
    for path in modules():
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        imports[name] = imports_of(path.read_text(), types=False)
    del imports["rollwise"]
    assert first_circle(imports) == []


def test_the_check_can_fail():
    assert read_floors("| 2 | `a`, `b` | x |\n| 1 | `c` | y |") == {"a": 2, "b": 2, "c": 1}
    assert imports_of("def f():\n    from rollwise import answer") == {"rollwise.answer"}
    typed = "if TYPE_CHECKING:\n    import a\nelse:\n    import b\nimport c"
    assert imports_of(typed, types=False) == {"c"}
    assert imports_of("from a.b import c") == {"a.b", "a.b.c"}
    assert first_circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) in (["b", "c", "b"], ["c", "b", "c"])
    assert first_circle({"p": {"p.a"}, "p.a": {"p", "other"}}) == []
    assert breaches("proofs", {"methods", "graph"}) == ["methods"]
    assert breaches("answer", {"plot", "methods"}) == ["plot"]
    assert breaches("graph", {"kernels", "game"}) == ["game"]


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
    assert not {"Any", "importlib", "annotations"} & set(dir(rollwise))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        rollwise.nonsense  # noqa: B018


def test_a_room_is_loaded_at_its_first_use():
    assert run("import rollwise; print(rollwise.hidden.solve.__name__)") == "solve\n"


# ---- what the view of a graph says is said nowhere else


# Rooms whose modules read arrays, since they make them or hand them to kernels.
ROOMS = ("kernels", "graph", "layers", "proofs", "engine", "methods", "derive", "builders", "many")
# Modules elsewhere that make arrays, of a part of a graph or with an action more, or take a step.
MAKERS = ("analysis/distributions.py", "play/games.py")
REPEATS = {
    "where actions and outcomes lie": (r"(action|outcome)_indptr\[", (*ROOMS, *MAKERS)),
    "numbers of actions for each state": (r"reduceat\(.*_indptr", ROOMS),
    "the sign of the objective": (
        r"-1(\.0)? if .*'minimize'",
        (
            "graph/view.py",
            "proofs/check_rules.py",  # trusts nothing that it doesn't hold itself
        ),
    ),
    "the win probability of a value": (
        r"\(1(\.0)? [+-] .*\) / 2|50 \* \(1(\.0)? \+",
        (
            "graph/view.py",
            "kernels",
            "numbers/printed.py",  # in decimals, with no rounding
            "numbers/intervals.py",  # quantiles
        ),
    ),
    "the unit of a difference of values": (
        r"1(\.0)? if .*is_score else (0\.5|2)",
        (
            "graph/view.py",
            "documents/answers.py",  # a document has no graph
        ),
    ),
    "the name of an action": (
        r"action_names\.get\(",
        (
            "builders/rules.py",  # before there is a graph
            "export/models.py",  # identifiers, which can't be numbers
        ),
    ),
}


@cache
def code_of(path: Path) -> list[str]:
    """The lines of a module without its comments and docstrings."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [
                line
                for line in body
                if not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))
            ]
            node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.unparse(tree).splitlines()


def found(pattern: str, places: tuple[str, ...]) -> list[str]:
    """Where a pattern stands outside of some places."""
    hits = []
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not any(name == place or name.startswith(f"{place}/") for place in places):
            hits += [
                f"{name}: {line.strip()}" for line in code_of(path) if re.search(pattern, line)
            ]
    return hits


@pytest.mark.parametrize("what", REPEATS)
def test_it_is_said_in_one_place(what):
    pattern, places = REPEATS[what]
    assert found(pattern, places) == []


@pytest.mark.parametrize("what", REPEATS)
def test_every_exception_is_needed(what):
    """Nothing is excused that doesn't do it, and the pattern finds what it looks for."""
    pattern, places = REPEATS[what]
    excused = {hit.split(":")[0] for hit in found(pattern, ())}
    assert excused
    assert {place for place in places if place.endswith(".py")} <= excused
