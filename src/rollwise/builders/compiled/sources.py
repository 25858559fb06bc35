"""The source of functions that are compiled: what stands in a line, and what its names are."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from rollwise.builders.compiled.cache_key import closure_read
from rollwise.faults import is_users

MISSING = object()  # what a name stands for that isn't known


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int


class Source:
    """The source of some functions: those of users, as far as it can be read."""

    def __init__(self, functions: Iterable[Callable[..., Any]]) -> None:
        self._functions: list[Any] = [f for f in functions if is_users(f.__code__.co_filename)]

    def nodes(self, place: Place | None, *, whole: bool = False) -> Iterator[tuple[Any, Place]]:
        """What stands in a line, with its place; everything, if there is none.

        Parameters
        ----------
        whole : bool
            All that stands in the function around the line.
        """
        for function, tree in self._trees:
            file = os.path.abspath(function.__code__.co_filename)
            inside = place is None or (place.file == file and _reaches(tree, place.line))
            if not inside:
                continue
            for node in ast.walk(tree):
                line = getattr(node, "lineno", None)
                if line is None:
                    continue
                if place is None or whole or _is_in(node, place.line):
                    yield node, Place(file, line)

    def value(self, name: str, place: Place | None) -> Any:
        """What a name stands for around a line; `MISSING` if it isn't known."""
        for function, tree in self._trees:
            file = os.path.abspath(function.__code__.co_filename)
            if place is None or (place.file == file and _reaches(tree, place.line)):
                around = {**vars(builtins), **function.__globals__, **closure_read(function)}
                if name in around:
                    return around[name]
        return MISSING

    def text(self, place: Place) -> str:
        """What stands in a line."""
        return linecache.getline(*place).strip()

    @cached_property
    def _trees(self) -> list[tuple[Any, ast.AST]]:
        return [(f, tree) for f in self._functions if (tree := _tree_of(f)) is not None]


def _tree_of(function: Any) -> ast.AST | None:
    """A function as its file has it, with the numbers of its lines there."""
    try:
        lines, first = inspect.getsourcelines(function)
        indented = lines[0][:1].isspace()
        tree = ast.parse("".join(["if True:\n"] * indented + lines))
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    definition: Any = tree.body[0]
    if indented:
        definition = definition.body[0]
    definition.outermost = True
    ast.increment_lineno(definition, max(first, 1) - 1 - indented)
    return definition  # type: ignore[no-any-return]


def _reaches(tree: Any, line: int) -> bool:
    first = min([tree.lineno, *(node.lineno for node in getattr(tree, "decorator_list", ()))])
    return bool(first <= line <= tree.end_lineno)


def _is_in(node: Any, line: int) -> bool:
    """Whether a line is a node's: of a statement with others in it only the first one."""
    last = node.lineno if hasattr(node, "body") and isinstance(node, ast.stmt) else node.end_lineno
    return bool(node.lineno <= line <= last)
