"""What the view of a graph says is said nowhere else.

Kernels and their drivers read the arrays of a graph; everything else reads the view, or the
choices of all states at once. These tests look for the ways in which it used to be written anew.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import rollwise

ROOT = Path(rollwise.__file__).parent

# Rooms whose modules read arrays, since they make them or hand them to kernels.
ROOMS = ("kernels", "graph", "layers", "proofs", "engine", "methods", "derive", "builders", "many")
# Modules elsewhere that make arrays, of a part of a graph or with an action more, or take a step.
MAKERS = ("analysis/distributions.py", "play/steps.py")
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
