"""The source of functions reached by rules, and the rejection of code for Python alone.

Compiled code with ``print`` may wait forever for the interpreter's lock. Numba cannot read
recursive functions from disk, and an endless recursion ends the process without a message. A
handler would also catch the exceptions of checked arithmetic, which request the interpreted
rules. Such rules are therefore rejected before anything is compiled.
"""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import linecache
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from rollwise.builders.compiled.cache_key import (
    RULES,
    NotCompilable,
    helper_of,
    parts_read,
)
from rollwise.faults import is_users
from rollwise.reach import closure_read, codes_in, functions_reached, globals_read, names_in

MISSING = object()  # stands for an unknown value


class Place(NamedTuple):
    """A line of a file, and a column from 1 if it is known."""

    file: str
    line: int
    column: int | None = None


class Source:
    """The source of some functions: of users' functions with readable source."""

    def __init__(self, functions: Iterable[Callable[..., Any]]) -> None:
        self._functions: list[Any] = [f for f in functions if is_users(f.__code__.co_filename)]

    def nodes(self, place: Place | None, *, whole: bool = False) -> Iterator[tuple[Any, Place]]:
        """The nodes of a line, with their places; all nodes without a line.

        Parameters
        ----------
        whole : bool
            All nodes of the function around the line.
        """
        for function, tree in self._trees:
            file = os.path.abspath(function.__code__.co_filename)
            inside = place is None or (place.file == file and _reaches(tree, place.line))
            if not inside:
                continue
            node: Any
            for node in ast.walk(tree):
                line = getattr(node, "lineno", None)
                if line is None:
                    continue
                if place is None or whole or _is_in(node, place.line):
                    yield node, Place(file, line, node.col_offset + 1)

    def value(self, name: str, place: Place | None) -> Any:
        """The value of a name in the function around a line; `MISSING` if unknown."""
        for function, tree in self._trees:
            file = os.path.abspath(function.__code__.co_filename)
            if place is None or (place.file == file and _reaches(tree, place.line)):
                around = {**vars(builtins), **function.__globals__, **closure_read(function)}
                if name in around:
                    return around[name]
        return MISSING

    def line(self, place: Place) -> str:
        """The text of a line."""
        return linecache.getline(place.file, place.line)

    @cached_property
    def _trees(self) -> list[tuple[Any, ast.AST]]:
        return [(f, tree) for f in self._functions if (tree := definition_of(f)) is not None]


def definition_of(function: Any) -> Any:
    """The syntax tree of a function, with the line numbers of its file; None if unknown."""
    try:
        lines, first = inspect.getsourcelines(function)
        indented = lines[0][:1].isspace()
        tree = ast.parse("".join(["if True:\n"] * indented + lines))
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    definition: Any = tree.body[0]
    if indented:  # the added `if` has a line of its own
        definition = definition.body[0]
    definition.outermost = True
    ast.increment_lineno(definition, max(first, 1) - 1 - indented)
    return definition


def compared_by_identity(game: Any) -> str:
    """The first ``is`` of rules and policies for a bool or an `IntEnum`; empty without any.

    Fields reach the rules as whole numbers: ``s.up is True`` and ``s.mood is Mood.CALM`` never
    hold. Parameters keep their types, so ``self.long is True`` is fine.
    """
    kind = type(game)
    rules = [*(getattr(kind, name) for name in RULES), *game.policies().values()]
    source = Source(f for f in functions_reached(rules, kind) if _asks_identity(f.__code__))
    for node, place in source.nodes(None):
        if isinstance(node, ast.MatchSingleton):
            asked = node.value is not None
        elif isinstance(node, ast.Compare):
            terms = [node.left, *node.comparators]
            asked = any(
                _never_is(one, other, source, place)
                for left, op, right in zip(terms, node.ops, terms[1:], strict=False)
                if isinstance(op, ast.Is | ast.IsNot)
                for one, other in ((left, right), (right, left))
            )
        else:
            continue
        if asked:
            text = ast.unparse(node)
            text = f"case {text}" if isinstance(node, ast.MatchSingleton) else text
            return f"{text!r} ({Path(place.file).name}, line {place.line})"
    return ""


def _asks_identity(code: CodeType) -> bool:
    """Whether a function or an inner function has an ``is``."""
    return any(dis.opmap["IS_OP"] in part.co_code[::2] for part in codes_in(code))


def _never_is(term: ast.expr, other: ast.expr, source: Source, place: Place) -> bool:
    """Whether ``term is other`` asks a field, which is a number, for a bool or an `IntEnum`."""
    if isinstance(term, ast.Attribute) and getattr(term.value, "id", None) == "self":
        return False
    if isinstance(other, ast.Constant):
        return isinstance(other.value, bool) and isinstance(term, ast.Attribute | ast.Subscript)
    owner = other.value if isinstance(other, ast.Attribute) else other
    value = source.value(owner.id, place) if isinstance(owner, ast.Name) else MISSING
    if isinstance(other, ast.Attribute):
        value = getattr(value, other.attr, MISSING)
    return isinstance(value, int) and isinstance(value, Enum)


def _reaches(tree: Any, line: int) -> bool:
    first = min([tree.lineno, *(node.lineno for node in getattr(tree, "decorator_list", ()))])
    return bool(first <= line <= tree.end_lineno)


def _is_in(node: Any, line: int) -> bool:
    """Whether a line belongs to a node. For a compound statement only its first line counts."""
    last = node.lineno if hasattr(node, "body") and isinstance(node, ast.stmt) else node.end_lineno
    return bool(node.lineno <= line <= last)


Function = Callable[..., Any]


class Reached:
    """Functions with all helpers and methods called directly or indirectly.

    Attributes
    ----------
    calls : dict
        The functions called by each function.
    """

    def __init__(
        self,
        functions: Mapping[str, Function],
        methods: Mapping[str, Function],
        of_state: Mapping[str, Function],
    ) -> None:
        self._methods, self._of_state = methods, of_state
        self.calls: dict[Any, list[Any]] = {}
        waiting = list(functions.values())
        while waiting:
            function = waiting.pop(0)
            if function not in self.calls:
                self.calls[function] = self._called_by(function)
                waiting.extend(self.calls[function])

    def refuse_what_only_python_runs(self) -> None:
        """Reject functions with ``print``, recursion or exception handlers.

        Raises
        ------
        NotCompilable
        """
        for function in self.calls:
            line = _printing_line(function)
            if line is not None:
                raise NotCompilable(
                    f"print(){_place(function, line)} needs Python: leave it out of compiled rules"
                )
            if self._comes_back(function):
                raise NotCompilable(
                    f"{function.__name__}(){_place(function)} calls itself, directly or through "
                    "others: write a loop instead"
                )

        for node, (file, line, column) in Source(self.calls).nodes(None):
            if isinstance(node, ast.ExceptHandler):
                raise NotCompilable(
                    f"except ({Path(file).name}, line {line}, column {column}) needs Python: test "
                    "beforehand instead"
                )

    def _called_by(self, function: Any) -> list[Any]:
        names, methods = set(), set()
        for code in codes_in(function.__code__):
            before = ""
            for one in dis.get_instructions(code):
                if one.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"):
                    names.add(one.argval)
                # A method of a variable, such as `self`.
                elif _gets_method(one) and before.startswith(("LOAD_FAST", "LOAD_DEREF")):
                    methods.add(one.argval)
                before = one.opname
        around = {**globals_read(function), **closure_read(function)}
        read = [value for name, value in around.items() if name in names]
        for value in list(read):
            read += parts_read(value, names_in(function.__code__)).values()
        helpers = [helper for value in read if (helper := helper_of(value)) is not None]
        by_numba = [getattr(value, "py_func", None) for value in read]  # compiled by the user
        helpers += [value for value in by_numba if isinstance(value, FunctionType)]
        helpers += [self._methods[name] for name in sorted(methods & set(self._methods))]
        of_state = names_in(function.__code__) & set(self._of_state)
        return helpers + [self._of_state[name] for name in sorted(of_state)]

    def _comes_back(self, function: Any) -> bool:
        visited: set[Any] = set()
        waiting = [function]
        while waiting:
            for called in self.calls[waiting.pop()]:
                if called is function:
                    return True
                if called not in visited:
                    visited.add(called)
                    waiting.append(called)
        return False


def _gets_method(one: dis.Instruction) -> bool:
    """Whether an instruction gets an attribute and the attribute is called next."""
    if sys.version_info < (3, 12):
        return one.opname == "LOAD_METHOD"
    return one.opname == "LOAD_ATTR" and bool((one.arg or 0) & 1)


def _printing_line(function: Any) -> int | None:
    """The line in which a function names ``print``; None if there is none."""
    around = {**vars(builtins), **function.__globals__, **closure_read(function)}
    for code in codes_in(function.__code__):
        for one in dis.get_instructions(code):
            reads = one.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")
            if reads and around.get(one.argval) is print:
                return one.positions and one.positions.lineno
    return None


def _place(function: Any, line: int | None = None) -> str:
    code = function.__code__
    return f" ({Path(code.co_filename).name}, line {line or code.co_firstlineno})"
