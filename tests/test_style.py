"""The style of the sources, where a linter has no rule for it: functions that one sees at once."""

from __future__ import annotations

import ast
from pathlib import Path

import rollwise

ROOT = Path(rollwise.__file__).parent
MOST_LINES = 80
# A kernel is one loop, and a rule sheet as long as its game.
FREE = {"kernels", "games"}
FILES = [p for p in sorted(ROOT.rglob("*.py")) if p.relative_to(ROOT).parts[0] not in FREE]


def long_functions(source: str) -> list[str]:
    """The functions that have too many lines, from their first to their last."""
    return [
        node.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > MOST_LINES
    ]


def test_functions_are_short():
    found = {str(path.relative_to(ROOT)): long_functions(path.read_text()) for path in FILES}
    assert {path: names for path, names in found.items() if names} == {}


def test_the_check_can_fail():
    assert long_functions("def f():\n" + "    a = 1\n" * (MOST_LINES - 1)) == []
    assert long_functions("def f():\n" + "    a = 1\n" * MOST_LINES) == ["f"]
    assert long_functions("def g(): pass\ndef h():\n" + "    a = 1\n" * 81) == ["h"]
