"""Copies of a game's functions, for Numba to compile.

Numba reads a function's globals only once, when it compiles the function, and misses later changes.
For each key (see `rollwise.builders.compiled.cache_key`) a game's functions are therefore copied,
with all functions that they reach, and the copies are compiled.

Numba cannot compile ``yield from``, and keeps the variables of a generator in memory between
values. A *lister* is the code of a generator in which statements that store a value replace each
``yield``. It is made from the source. If there is no source, or it does not match the generator's
code, the lister runs the generator.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rollwise.builders.compiled.cache_key import (
    attributes_read,
    goes_with_version,
    helper_of,
    is_place,
)
from rollwise.builders.compiled.reads import as_constant
from rollwise.builders.compiled.translating import (
    Translation,
    compiled,
    translated,
    tree_of,
)
from rollwise.reach import closure_read, globals_read, names_in

Function = Callable[..., Any]


def renamed(
    function: Any,
    key: str,
    scope: Any = None,
    closure: Any = None,
    translation: Translation | None = None,
) -> Any:
    """A copy of a function with the key in its machine-code name, without annotations.

    Numba numbers functions within a process. Code read from disk could therefore
    have the same name as other code compiled here. The key in the name prevents this.

    Parameters
    ----------
    scope, closure : optional
        The globals and cells of the copy, if they differ from the function's.
    translation : optional
        The code of the copy, if it differs from the function's.
    """
    translation = translation or Translation(function.__code__, function.__defaults__, {})
    copy = types.FunctionType(
        translation.code,
        function.__globals__ if scope is None else scope,
        function.__name__,
        translation.defaults,
        function.__closure__ if closure is None else closure,
    )
    if translation.code.co_kwonlyargcount:
        copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__ = function.__module__
    copy.__qualname__ = f"{function.__qualname__}_{key}"
    return copy


def frozen(
    functions: Mapping[str, Function],
    key: str,
    compiled: Callable[[Function], Any],
    word: Callable[[str, Any], Function],
) -> dict[str, Function]:
    """Translated copies of functions, in whose globals compiled copies replace the helpers.

    Parameters
    ----------
    key : str
        Part of their names in machine code.
    compiled : callable
        Compiles a helper at its first call.
    word : callable
        Gives the functions of `rollwise.builders.compiled.translating.Translation.names`, compiled.
    """
    freezer = _Freezer(key, compiled, word)
    return {name: freezer.function(function) for name, function in functions.items()}


class _Freezer:
    def __init__(
        self,
        key: str,
        compiled: Callable[[Function], Any],
        word: Callable[[str, Any], Function],
    ) -> None:
        self._key, self._compiled, self._word = key, compiled, word
        self._helpers: dict[Function, Any] = {}
        self._words: dict[tuple[str, Any], Any] = {}

    def function(self, function: Any, copies: dict[Function, Any] | None = None) -> Any:
        """A copy. It is entered in `copies`, compiled, before its globals are copied."""
        names = names_in(function.__code__)
        around = closure_read(function)
        scope = {"__name__": function.__globals__.get("__name__")}
        cells = [
            types.CellType() if name in around else cell
            for name, cell in zip(
                function.__code__.co_freevars, function.__closure__ or (), strict=True
            )
        ]
        translation = translated(function)
        copy = renamed(function, self._key, scope, tuple(cells), translation)
        if copies is not None:
            copies[function] = self._compiled(copy)
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
            if name in around:
                cell.cell_contents = self._value(around[name], names)
        scope |= {k: self._value(v, names) for k, v in globals_read(function).items()}
        for name, value in translation.names.items():
            if (name, value) not in self._words:
                self._words[name, value] = self._word(name, value)
            scope[name] = self._words[name, value]
        return copy

    def _value(self, value: Any, names: set[str]) -> Any:
        helper = helper_of(value)
        if helper is not None:
            if helper not in self._helpers:
                self.function(helper, self._helpers)
            return self._helpers[helper]
        if (isinstance(value, types.ModuleType) and not goes_with_version(value)) or is_place(
            value
        ):
            module = types.ModuleType(value.__name__)
            for name, item in attributes_read(value, names).items():
                setattr(module, name, self._value(item, names))
            return module
        return as_constant(value)


@dataclass(frozen=True)
class Writing:
    """The statements that store a value.

    Attributes
    ----------
    value : str
        The variables of a value, as the target of an assignment.
    statements : str
        They write the value into ``sink_`` at index ``count_`` and increment ``count_``, or return
        it if there is no room. Both are parameters of a lister, after those of the
        generator. The lister returns ``count_``.
    scope : dict
        The other names in the statements.
    """

    value: str
    statements: str
    scope: dict[str, Any]

    def body(self) -> list[ast.stmt]:
        """The statements."""
        return ast.parse(self.statements).body

    def names(self) -> set[str]:
        """The variables in the statements."""
        return set().union(*map(_names, [ast.parse(self.value), *self.body()]))


def running(generator: Function, writing: Writing) -> Function:
    """A lister that runs a generator. It has two more parameters (see `Writing`)."""
    names = ", ".join(inspect.signature(generator).parameters)
    tree: Any = ast.parse(
        f"def lister({names}, sink_, count_):\n"
        f"    for {writing.value} in generator({names}): pass\n"
        "    return count_\n"
    )
    tree.body[0].body[0].body = writing.body()
    scope = {**writing.scope, "generator": generator}
    exec(compile(ast.fix_missing_locations(tree), "<lister>", "exec"), scope)
    return scope["lister"]  # type: ignore[no-any-return]


def rewritten(generator: Function, writing: Writing) -> Function | None:
    """As `running`, but with the generator's own code; None if it cannot be rewritten."""
    if not inspect.isgeneratorfunction(generator):
        return None
    code = generator.__code__
    definition = tree_of(code)
    if definition is None or _names(definition) & writing.names():
        return None
    parameters = definition.args
    if parameters.vararg or parameters.kwarg or parameters.kwonlyargs or parameters.posonlyargs:
        return None
    modules = [name for name in code.co_names if inspect.ismodule(generator.__globals__.get(name))]
    rewriter = _Rewriter(writing)
    definition = rewriter.visit(definition)
    if not rewriter.understood:
        return None
    cells = dict(zip(code.co_freevars, generator.__closure__ or (), strict=True))
    cells |= {name: types.CellType(value) for name, value in writing.scope.items()}
    lister = compiled(definition, cells, modules)
    closure = tuple(cells[name] for name in lister.co_freevars)
    return types.FunctionType(lister, generator.__globals__, generator.__name__, None, closure)


def _names(tree: ast.AST) -> set[str]:
    """Variables and parameters, including those of inner functions."""
    nodes = list(ast.walk(tree))
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {
        node.arg for node in nodes if isinstance(node, ast.arg)
    }


class _Rewriter(ast.NodeTransformer):
    """Replaces each ``yield`` by statements that store the value.

    Attributes
    ----------
    understood : bool
        False if a ``yield`` is part of another expression.
    """

    def __init__(self, writing: Writing) -> None:
        self.understood = True
        self._writing = writing
        self._inside = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if self._inside:
            return node  # a ``yield`` of an inner function does not count
        self._inside = True
        self.generic_visit(node)
        node.args.args += [ast.arg("sink_"), ast.arg("count_")]
        node.body.append(self.visit_Return(ast.Return()))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        return ast.Return(ast.Name("count_", ast.Load()))

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        if isinstance(node.value, ast.Yield) and node.value.value is not None:
            taking: Any = ast.parse(f"{self._writing.value} = None").body[0]
            taking.value = self.visit(node.value.value)
            return [taking, *self._writing.body()]
        if isinstance(node.value, ast.YieldFrom):
            loop: Any = ast.parse(f"for {self._writing.value} in (): pass").body[0]
            loop.iter, loop.body = self.visit(node.value.value), self._writing.body()
            return loop  # type: ignore[no-any-return]
        return self.generic_visit(node)

    def visit_Yield(self, node: ast.Yield) -> ast.AST:
        self.understood = False
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.AST:
        self.understood = False
        return node
