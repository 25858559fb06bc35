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
    """The functions whose body has too many lines.

    The signature and the docstring don't count: those of a command are its options, each with
    its help, and those of a public function are its documentation.
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            documented = ast.get_docstring(node) is not None
            body = node.body[1:] if documented else node.body
            if body and (body[-1].end_lineno or 0) - body[0].lineno + 1 > MOST_LINES:
                found.append(node.name)
    return found


def test_functions_are_short():
    found = {str(path.relative_to(ROOT)): long_functions(path.read_text()) for path in FILES}
    assert {path: names for path, names in found.items() if names} == {}


def test_the_check_can_fail():
    head = 'def f(\n    a,\n):\n    """Said."""\n'
    assert long_functions(head + "    a = 1\n" * MOST_LINES) == []
    assert long_functions(head + "    a = 1\n" * (MOST_LINES + 1)) == ["f"]
    assert long_functions("def g(): pass\ndef h():\n" + "    a = 1\n" * 81) == ["h"]
