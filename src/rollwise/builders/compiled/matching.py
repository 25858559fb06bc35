"""``match`` with tuples or states in its patterns, as conditions that Numba compiles.

A case becomes ``if``, with a test of the length and of each number. A subject that is compared with
a class of states is one of them: other subjects have no such fields, and don't compile. Names in a
pattern get their values in the body of its case. Python also gives them if the guard fails, so a
name of a guarded case mustn't be read elsewhere.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

Fields = Callable[[ast.expr], tuple[str, ...] | None]


class _Unfit(Exception):
    """A pattern that is left to Python."""


def as_conditions(
    node: ast.Match, name: str, around: ast.AST, fields: Fields
) -> list[ast.stmt] | None:
    """The conditions in the place of a ``match``; None for other patterns.

    Parameters
    ----------
    name : str
        Of a new variable; with numbers at its end for several ones.
    around : ast.AST
        The function.
    fields : callable
        The fields of a class of states; None for other expressions.
    """
    patterns = [part for case in node.cases for part in ast.walk(case.pattern)]
    if not any(isinstance(part, ast.MatchSequence | ast.MatchClass) for part in patterns):
        return None
    is_shown = isinstance(node.subject, ast.Tuple)
    parts: list[Any] = node.subject.elts if isinstance(node.subject, ast.Tuple) else [node.subject]
    if any(isinstance(part, ast.Starred) for part in parts):
        return None
    names = [f"{name}{k}_" for k in range(len(parts))]
    rest: list[ast.stmt] = []
    try:
        # from the last case, which stands in the `else` of the case before it
        for case in reversed(node.cases):
            tests, given = _read(case.pattern, names if is_shown else names[0], fields)
            if case.guard is not None:
                _require_own(given, node, around)
                tests.append(_Filled(given).visit(copy.deepcopy(case.guard)))
            body = [_assigned(one, _expression(value)) for one, value in given.items()]
            body += case.body
            rest = [ast.If(_joined(ast.And(), tests), body, rest)] if tests else body
    except _Unfit:
        return None
    statements = [*map(_assigned, names, parts), *rest]
    for part in (part for statement in statements for part in ast.walk(statement)):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return statements


def _assigned(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _joined(how: ast.boolop, tests: list[ast.expr]) -> ast.expr:
    return tests[0] if len(tests) == 1 else ast.BoolOp(how, tests)


Read = tuple[list[ast.expr], dict[str, str]]


def _read(pattern: ast.pattern, subject: str | list[str], fields: Fields) -> Read:
    """The tests of a pattern, in their order, and the source of the values of its names.

    Parameters
    ----------
    subject : str or list of str
        The source of the subject; a list for the parts of a tuple display.
    """
    if isinstance(pattern, ast.MatchAs):
        tests, given = (
            ([], {}) if pattern.pattern is None else _read(pattern.pattern, subject, fields)
        )
        whole = subject if isinstance(subject, str) else f"({', '.join(subject)},)"
        return tests, given | ({} if pattern.name is None else {pattern.name: whole})
    if isinstance(pattern, ast.MatchValue) and isinstance(subject, str):
        return [ast.Compare(_expression(subject), [ast.Eq()], [pattern.value])], {}
    if isinstance(pattern, ast.MatchOr):
        read = [_read(part, subject, fields) for part in pattern.patterns]
        if any(given or not tests for tests, given in read):
            raise _Unfit
        return [_joined(ast.Or(), [_joined(ast.And(), tests) for tests, _ in read])], {}
    if isinstance(pattern, ast.MatchSequence):
        return _parts(pattern.patterns, subject, fields)
    if isinstance(pattern, ast.MatchClass) and isinstance(subject, str):
        known = fields(pattern.cls) or ()
        names = [*known[: len(pattern.patterns)], *pattern.kwd_attrs]
        parts = [*pattern.patterns, *pattern.kwd_patterns]
        if known and len(names) == len(parts):
            return _all_of(parts, [f"{subject}.{name}" for name in names], fields)
    raise _Unfit


def _all_of(patterns: list[ast.pattern], subjects: list[str], fields: Fields) -> Read:
    """The tests of some patterns, each of its own subject."""
    tests: list[ast.expr] = []
    given: dict[str, str] = {}
    for pattern, subject in zip(patterns, subjects, strict=True):
        more, named = _read(pattern, subject, fields)
        tests, given = tests + more, given | named
    return tests, given


def _parts(patterns: list[ast.pattern], subject: str | list[str], fields: Fields) -> Read:
    """The tests of a tuple, and the values of its names."""
    stars = [k for k, one in enumerate(patterns) if isinstance(one, ast.MatchStar)]
    size = len(patterns) - len(stars)
    if any(getattr(patterns[k], "name", None) for k in stars):
        raise _Unfit  # it is a list in Python
    tests: list[ast.expr] = []
    if isinstance(subject, str):
        tests.append(_expression(f"len({subject}) {'>=' if stars else '=='} {size}"))
    elif size > len(subject) or (size < len(subject) and not stars):
        return [ast.Constant(False)], {}
    kept = [k for k in range(len(patterns)) if k not in stars]
    # places behind a star count from the end
    places = [k - len(patterns) if stars and k > stars[0] else k for k in kept]
    subjects = [f"{subject}[{k}]" if isinstance(subject, str) else subject[k] for k in places]
    more, given = _all_of([patterns[k] for k in kept], subjects, fields)
    return tests + more, given


def _require_own(given: dict[str, str], node: ast.Match, around: ast.AST) -> None:
    """Require that the names of a guarded case are read only in cases that give them values."""
    for name in given:
        own = [case for case in node.cases if name in _names_given(case.pattern)]
        if _loads(name, around) != sum(_loads(name, case) for case in own):
            raise _Unfit


def _names_given(pattern: ast.pattern) -> set[str]:
    return {getattr(part, "name", None) or "" for part in ast.walk(pattern)}


def _loads(name: str, tree: ast.AST) -> int:
    names = [part for part in ast.walk(tree) if isinstance(part, ast.Name) and part.id == name]
    return sum(isinstance(part.ctx, ast.Load) for part in names)


class _Filled(ast.NodeTransformer):
    """Puts values in the place of names."""

    def __init__(self, given: dict[str, str]) -> None:
        self._given = given

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return _expression(self._given[node.id]) if node.id in self._given else node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        raise _Unfit  # its variables may have the same names

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        raise _Unfit

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        raise _Unfit
