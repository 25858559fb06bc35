"""Copies of a game's functions, as Numba compiles them.

Numba reads a function's globals once, when it compiles the function. Later changes of the globals
would be missed. So for each key (see `rollwise.builders.compiled.cache_key`) a game's functions
are copied, with all that they reach, and the copies are compiled.

Numba compiles no ``yield from``, and keeps the variables of a generator in memory from one value
to the next. A *lister* is the code of a generator with the statements that write a value down
where the generator yields one. It is made from the source; where there is none, or it
doesn't say what the generator does, the lister runs the generator.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rollwise.builders.compiled.cache_key import (
    attributes_read,
    closure_read,
    globals_read,
    goes_with_version,
    names_in,
)
from rollwise.game import marked_rules

Function = Callable[..., Any]


def renamed(function: Any, key: str, scope: Any = None, closure: Any = None) -> Any:
    """A copy of a function whose name in machine code holds the key, without annotations.

    Numba numbers functions within a process, so that code read from disk could
    have the name of other code compiled here. With the key in it, it can't.

    Parameters
    ----------
    scope, closure : optional
        What the copy reads, if that isn't what the function does.
    """
    copy = types.FunctionType(
        function.__code__,
        function.__globals__ if scope is None else scope,
        function.__name__,
        function.__defaults__,
        function.__closure__ if closure is None else closure,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__ = function.__module__
    copy.__qualname__ = f"{function.__qualname__}_{key}"
    return copy


def frozen(
    functions: Mapping[str, Function], key: str, compiled: Callable[[Function], Any]
) -> dict[str, Function]:
    """Copies of functions, in whose globals the helpers marked as rules are compiled copies.

    Parameters
    ----------
    key : str
        Goes into their names in machine code.
    compiled : callable
        Compiles a helper, when it is first called.
    """
    freezer = _Freezer(key, compiled)
    return {name: freezer.function(function) for name, function in functions.items()}


class _Freezer:
    def __init__(self, key: str, compiled: Callable[[Function], Any]) -> None:
        self._key, self._compiled = key, compiled
        self._marked = marked_rules()
        self._helpers: dict[Function, Any] = {}

    def function(self, function: Any, copies: dict[Function, Any] | None = None) -> Any:
        """A copy; it is entered in `copies`, compiled, before what it reads is frozen."""
        names = names_in(function.__code__)
        around = closure_read(function)
        scope = {"__name__": function.__globals__.get("__name__")}
        cells = [
            types.CellType() if name in around else cell
            for name, cell in zip(
                function.__code__.co_freevars, function.__closure__ or (), strict=True
            )
        ]
        copy = renamed(function, self._key, scope, tuple(cells))
        if copies is not None:
            copies[function] = self._compiled(copy)
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
            if name in around:
                cell.cell_contents = self._value(around[name], names)
        scope |= {k: self._value(v, names) for k, v in globals_read(function).items()}
        return copy

    def _value(self, value: Any, names: set[str]) -> Any:
        if isinstance(value, types.FunctionType) and value in self._marked:
            helper = self._marked[value]
            if helper not in self._helpers:
                self.function(helper, self._helpers)
            return self._helpers[helper]
        if isinstance(value, types.ModuleType) and not goes_with_version(value):
            module = types.ModuleType(value.__name__)
            for name, item in attributes_read(value, names).items():
                setattr(module, name, self._value(item, names))
            return module
        return value


@dataclass(frozen=True)
class Writing:
    """How a value is written down.

    Attributes
    ----------
    value : str
        The variables that hold a value, as the target of an assignment.
    statements : str
        What writes it into ``sink_`` as number ``count_`` and adds to that, or returns it
        where there is no more room. Both are parameters of a lister, after those of the
        generator, and it returns the second.
    scope : dict
        What else the statements refer to.
    """

    value: str
    statements: str
    scope: dict[str, Any]

    def body(self) -> list[ast.stmt]:
        """The statements."""
        return ast.parse(self.statements).body

    def names(self) -> set[str]:
        """The variables in them."""
        return set().union(*map(_names, [ast.parse(self.value), *self.body()]))


def running(generator: Function, writing: Writing) -> Function:
    """A lister that runs a generator, and has its parameters and two more (see `Writing`)."""
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
    """As `running`, but with the generator's own code; None where that can't be rewritten."""
    if not inspect.isgeneratorfunction(generator):
        return None
    code = generator.__code__
    definition = _definition(generator)
    if definition is None or _names(definition) & writing.names():
        return None
    modules = [name for name in code.co_names if inspect.ismodule(generator.__globals__.get(name))]
    if not _same(_compiled(definition, code.co_freevars, modules), code):
        return None  # the file has changed, or something has wrapped the function
    rewriter = _Rewriter(writing)
    definition = rewriter.visit(definition)
    if not rewriter.understood:
        return None
    cells = dict(zip(code.co_freevars, generator.__closure__ or (), strict=True))
    cells |= {name: types.CellType(value) for name, value in writing.scope.items()}
    compiled = _compiled(definition, cells, modules)
    closure = tuple(cells[name] for name in compiled.co_freevars)
    return types.FunctionType(compiled, generator.__globals__, generator.__name__, None, closure)


def _names(tree: ast.AST) -> set[str]:
    """Variables and parameters, also of inner functions."""
    nodes = list(ast.walk(tree))
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {
        node.arg for node in nodes if isinstance(node, ast.arg)
    }


def _definition(function: Function) -> ast.FunctionDef | None:
    """The source of a function of plain parameters, without annotations and the like."""
    try:
        source = "".join(inspect.getsourcelines(function)[0])
        tree: Any = ast.parse(f"if True:\n{source}" if source[:1].isspace() else source)
    except (OSError, TypeError, SyntaxError):
        return None
    definition = tree.body[0]
    if isinstance(definition, ast.If):
        definition = definition.body[0]
    if not isinstance(definition, ast.FunctionDef):
        return None
    parameters = definition.args
    if parameters.vararg or parameters.kwarg or parameters.kwonlyargs or parameters.posonlyargs:
        return None
    definition.decorator_list, definition.returns, parameters.defaults = [], None, []
    for parameter in parameters.args:
        parameter.annotation = None
    return definition


def _compiled(
    definition: ast.FunctionDef, free: Iterable[str], modules: Iterable[str]
) -> types.CodeType:
    """The code of a function that takes some variables from around it.

    Python compiles calls otherwise where it knows that a name was imported.
    """
    imports = "".join(f"import {name}\n" for name in modules)
    tree: Any = ast.parse(f"{imports}def around({', '.join(free)}): pass")
    tree.body[-1].body = [definition]
    code = compile(ast.fix_missing_locations(tree), "<lister>", "exec", dont_inherit=True)
    for _ in range(2):
        code = next(part for part in code.co_consts if isinstance(part, types.CodeType))
    return code


def _same(one: types.CodeType, other: types.CodeType) -> bool:
    """Whether two codes do the same."""
    inner = [
        [part for part in code.co_consts if isinstance(part, types.CodeType)]
        for code in (one, other)
    ]
    mine, theirs = (
        (
            code.co_code,
            code.co_names,
            code.co_varnames,
            code.co_freevars,
            code.co_cellvars,
            [repr(part) for part in code.co_consts if not isinstance(part, types.CodeType)],
        )
        for code in (one, other)
    )
    return mine == theirs and all(map(_same, *inner)) and len(inner[0]) == len(inner[1])


class _Rewriter(ast.NodeTransformer):
    """Writes values down where a function yields them.

    Attributes
    ----------
    understood : bool
        False where a ``yield`` is part of something else.
    """

    def __init__(self, writing: Writing) -> None:
        self.understood = True
        self._writing = writing
        self._inside = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if self._inside:
            return node  # what an inner function yields is its own affair
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
