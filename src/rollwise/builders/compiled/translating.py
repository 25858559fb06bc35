"""Python that Numba lacks, written with Python that it has.

A rule may use all of Python's words for numbers and tuples. Before compiling, its source is
rewritten where Numba lacks a word. Two replacements carry most of the weight: a list comprehension
takes the place of a generator expression, and a list takes the place of a tuple whose length only
the running rule knows. Such a list becomes a tuple again where it enters a state
(`rollwise.builders.compiled.python_words`).
"""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import itertools
import warnings
from collections.abc import Iterable
from enum import IntEnum, IntFlag
from fractions import Fraction
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from rollwise.builders.compiled.cache_key import NotCompilable, is_place
from rollwise.faults import is_users
from rollwise.game import won_by
from rollwise.reach import closure_read

# Trees of translated and untranslated functions, by their code; see `tree_of`.
_TREES: dict[CodeType, ast.FunctionDef] = {}


def tree_of(code: CodeType) -> ast.FunctionDef | None:
    """A copy of the syntax tree of a function's code; None if its source is unknown."""
    return copy.deepcopy(_TREES.get(code))


class Translation(NamedTuple):
    """A translated function: its code, its defaults, and further names that it reads."""

    code: CodeType
    defaults: tuple[Any, ...] | None
    names: dict[str, Any]


def translated(function: FunctionType) -> Translation:
    """A function with Numba's words; the function's own code if it needs no translation."""
    code = function.__code__
    own = Translation(code, function.__defaults__, {})
    definition = _definition(function)
    if definition is None:
        return own
    modules = [name for name in code.co_names if inspect.ismodule(function.__globals__.get(name))]
    if not _same(compiled(definition, code.co_freevars, modules), code):
        return own  # the file has changed, or the function is wrapped
    _TREES[code] = copy.deepcopy(definition)
    defaults, arguments = list(function.__defaults__ or ()), definition.args
    named = function.__kwdefaults__ or {}
    if arguments.kwonlyargs and not arguments.vararg:
        given = [named[a.arg] for a in arguments.kwonlyargs if a.arg in named]
        if len(given) == len(arguments.kwonlyargs) or not defaults + given:
            arguments.args += arguments.kwonlyargs
            arguments.kwonlyargs, arguments.kw_defaults = [], []
            defaults += given
    translator = _Translator(function)
    before = ast.dump(_TREES[code])
    definition = translator.visit(definition)
    if ast.dump(definition) == before:
        return own
    found = compiled(definition, code.co_freevars, modules, code.co_filename)
    if found.co_freevars != code.co_freevars:
        return own
    _TREES[found] = definition
    return Translation(found, tuple(defaults) or None, translator.names)


def _definition(function: FunctionType) -> ast.FunctionDef | None:
    """The source of a user's function, without annotations and the like."""
    if not is_users(function.__code__.co_filename):
        return None
    try:
        lines, first = inspect.getsourcelines(function)
        source = "".join(lines)
        indented = source[:1].isspace()
        tree: Any = ast.parse(f"if True:\n{source}" if indented else source)
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    definition = tree.body[0].body[0] if indented else tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        return None
    ast.increment_lineno(definition, max(first, 1) - 1 - indented)
    arguments = definition.args
    definition.decorator_list, definition.returns, arguments.defaults = [], None, []
    arguments.kw_defaults = [None for _ in arguments.kwonlyargs]
    for node in ast.walk(arguments):
        if isinstance(node, ast.arg):
            node.annotation = None
    return definition


def compiled(
    definition: ast.FunctionDef, free: Iterable[str], modules: Iterable[str], file: str = "<lister>"
) -> CodeType:
    """The code of a function with some variables from an enclosing scope.

    Python compiles calls of a name differently if the name is imported in the same source.
    """
    imports = "".join(f"import {name}\n" for name in modules)
    tree: Any = ast.parse(f"{imports}def around({', '.join(free)}): pass")
    tree.body[-1].body = [definition]
    with warnings.catch_warnings():
        # a parameter is a literal here: ``self.long is True`` compares one
        warnings.simplefilter("ignore", SyntaxWarning)
        code = compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True)
    for _ in range(2):
        code = next(part for part in code.co_consts if isinstance(part, CodeType))
    return code


def _same(one: CodeType, other: CodeType) -> bool:
    """Whether two code objects do the same."""
    inner = [
        [part for part in code.co_consts if isinstance(part, CodeType)] for code in (one, other)
    ]
    mine, theirs = (
        (
            code.co_code,
            code.co_names,
            code.co_varnames,
            code.co_freevars,
            code.co_cellvars,
            [repr(part) for part in code.co_consts if not isinstance(part, CodeType)],
        )
        for code in (one, other)
    )
    return mine == theirs and all(map(_same, *inner)) and len(inner[0]) == len(inner[1])


def instead_of(kind: type) -> str:
    """Advice on how to do without objects of a class."""
    if kind is Fraction:
        return (
            "fractions are not compiled: count in a unit in which the numbers are whole, or write "
            "a / b, which is rounded"
        )
    if issubclass(kind, np.number):
        return "write a number of Python: int(x) or float(x)"
    return (
        "objects of classes other than the state's can't be compiled: count by "
        "numbers.count(number), in a list or in single variables"
    )


# Replaced by the functions of these names in `rollwise.builders.compiled.python_words`.
SLICED, EXACT, LEAST, WINNERS = "sliced_", "exact_", "of_some_", "winners_"
FOLDS = ("sum", "any", "all", "min", "max", "sorted", "tuple", "list", "set", "len", "enumerate")
MOST_NESTED = 6  # loops of one call of itertools


class _Translator(ast.NodeTransformer):
    """Rewrites a function.

    Attributes
    ----------
    names : dict
        Functions that the new source calls, by name; a text stands for one of `python_words`.
    """

    def __init__(self, function: FunctionType) -> None:
        self.names: dict[str, Any] = {}
        self._around = {**vars(builtins), **function.__globals__, **closure_read(function)}
        code = function.__code__
        self._file = code.co_filename
        self._own = {*code.co_varnames, *code.co_cellvars}
        self._temporary = itertools.count()

    def _value(self, node: ast.AST) -> Any:
        """The value of a global name, or of an attribute of a global module; else None."""
        if isinstance(node, ast.Name) and node.id not in self._own:
            return self._around.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._value(node.value)
            return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
        return None

    def _call(self, name: str, value: Any, arguments: list[Any], at: ast.AST) -> ast.Call:
        self.names[name] = value
        called = ast.Name(name, ast.Load())
        return ast.copy_location(ast.Call(called, arguments, []), at)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Generators in folds, NamedTuples, `_replace`, and itertools."""
        self.generic_visit(node)
        called = self._value(node.func)
        if is_place(called):
            file = Path(self._file).name
            where = f"({file}, line {node.lineno}, column {node.col_offset + 1})"
            raise NotCompilable(f"{ast.unparse(node)!r} {where}: {instead_of(called)}")
        arguments, named = node.args, {k.arg: k.value for k in node.keywords}
        if called in [getattr(builtins, name) for name in FOLDS] and arguments:
            arguments[0] = self._listed(arguments[0])
            if called in (min, max) and list(named) == ["default"] and len(arguments) == 1:
                name = f"{called.__name__}_{LEAST}"
                return self._call(name, name, [arguments[0], named["default"]], node)
        if isinstance(called, type) and issubclass(called, tuple) and hasattr(called, "_fields"):
            name = f"made_{called.__name__}"
            node.func = ast.copy_location(ast.Name(name, ast.Load()), node.func)
            self.names[name] = called
        if called is won_by and len(arguments) == 1 and isinstance(arguments[0], ast.Starred):
            return self._call(WINNERS, WINNERS, [self._listed(arguments[0].value)], node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "_replace":
            fields = tuple(filter(None, named))
            if fields and len(fields) == len(node.keywords) and not arguments:
                name = f"with_{'_'.join(fields)}"
                return self._call(name, fields, [node.func.value, *named.values()], node)
        return self._looped(called, node, named) or node

    def _looped(self, called: Any, node: ast.Call, named: dict[Any, Any]) -> ast.AST | None:
        """A call of itertools as a call of nested loops; None for other calls."""
        arguments = node.args
        if any(isinstance(one, ast.Starred) for one in arguments):
            return None
        if called is itertools.product and set(named) <= {"repeat"}:
            times = getattr(named.get("repeat", ast.Constant(1)), "value", None)
            if type(times) is int and 1 <= times * len(arguments) <= MOST_NESTED:
                name = f"product_{times * len(arguments)}"
                return self._call(name, name, arguments * times, node)
        kinds = (itertools.combinations, itertools.permutations)
        kinds += (itertools.combinations_with_replacement,)  # type: ignore[assignment]
        if called in kinds and len(arguments) == 2 and not named:
            size = getattr(arguments[1], "value", None)
            if type(size) is int and 1 <= size <= MOST_NESTED:
                name = f"{called.__name__}_{size}"
                return self._call(name, name, arguments[:1], node)
        return None

    def _listed(self, node: Any) -> Any:
        """A list comprehension for a generator expression, the keys for a dictionary."""
        if isinstance(node, ast.GeneratorExp):
            return ast.copy_location(ast.ListComp(node.elt, node.generators), node)
        if isinstance(self._value(node), dict):
            return ast.copy_location(ast.Attribute(node, "names", ast.Load()), node)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """A loop over a generator expression or a dictionary."""
        self.generic_visit(node)
        node.iter = self._listed(node.iter)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        """A loop over a generator expression or a dictionary."""
        self.generic_visit(node)
        node.iter = self._listed(node.iter)
        return node

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        """A set of the members of a list."""
        self.generic_visit(node)
        listed = ast.copy_location(ast.ListComp(node.elt, node.generators), node)
        return ast.copy_location(ast.Call(ast.Name("set", ast.Load()), [listed], []), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Tuples of several lengths that a function returns."""
        self.generic_visit(node)
        _lengths_vary([part.value for part in ast.walk(node) if isinstance(part, ast.Return)])
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Tuples of two lengths."""
        self.generic_visit(node)
        _lengths_vary([node.body, node.orelse])
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """A generator expression, or the keys of a dictionary."""
        self.generic_visit(node)
        node.value = node.value and self._listed(node.value)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """A member of an enumeration of whole numbers."""
        kind = self._value(node.value)
        if isinstance(kind, type) and issubclass(kind, IntEnum | IntFlag):
            member = getattr(kind, node.attr, None)
            if isinstance(member, kind):
                return ast.copy_location(ast.Constant(int(member)), node)
        self.generic_visit(node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """A slice with bounds that Numba doesn't know beforehand, and names of numbers."""
        self.generic_visit(node)
        part = node.slice
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            table = self._value(node.value)
            number = table.get(part.value) if isinstance(table, dict) else None
            if type(number) in (int, float):
                return ast.copy_location(ast.Constant(number), node)
        if not isinstance(node.ctx, ast.Load) or not isinstance(part, ast.Slice) or part.step:
            return node
        bounds = [bound or ast.Constant(None) for bound in (part.lower, part.upper)]
        if all(_is_number(bound) for bound in bounds):
            return node
        return self._call(SLICED, SLICED, [node.value, *bounds], node)

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        """A tuple display with stars, as a sum of tuples."""
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or not _has_star(node):
            return node
        parts: list[Any] = []
        for one in node.elts:
            if isinstance(one, ast.Starred):
                tuple_ = ast.Name("tuple", ast.Load())
                parts.append(ast.Call(tuple_, [self._listed(one.value)], []))
            elif parts and isinstance(parts[-1], ast.Tuple):
                parts[-1].elts.append(one)
            else:
                parts.append(ast.Tuple([one], ast.Load()))
        joined: Any = parts[0]
        for part in parts[1:]:
            joined = ast.BinOp(joined, ast.Add(), part)
        return ast.copy_location(joined, node)  # type: ignore[no-any-return]

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        """Several variables at once, also ``first, *rest = numbers``."""
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Tuple):
            return node
        if not _has_star(target):
            if not isinstance(node.value, ast.Tuple):
                places = ast.Tuple([ast.Constant(0) for _ in target.elts], ast.Load())
                node.value = self._call(EXACT, EXACT, [node.value, places], node.value)
            return node
        whole = f"whole{next(self._temporary)}_"
        star = next(k for k, one in enumerate(target.elts) if isinstance(one, ast.Starred))
        after = len(target.elts) - star - 1
        lines = [f"{whole} = None"]
        for k, one in enumerate(target.elts):
            index_text = str(k) if k < star else str(k - len(target.elts))
            if k == star:
                index_text = f"{star}:{-after if after else ''}"
            lines.append(f"{ast.unparse(getattr(one, 'value', one))} = {whole}[{index_text}]")
        parts = _parsed("\n".join(lines), node)
        parts[0].value = node.value
        return parts

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """``yield from`` as a loop."""
        self.generic_visit(node)
        if not isinstance(node.value, ast.YieldFrom):
            return node
        one = f"one{next(self._temporary)}_"
        loop = _parsed(f"for {one} in (): yield {one}", node)[0]
        loop.iter = self._listed(node.value.value)
        return loop  # type: ignore[no-any-return]

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """A condition that gives a variable a value."""
        self.generic_visit(node)
        first = node.test
        while not isinstance(first, ast.NamedExpr):
            if isinstance(first, ast.Compare):
                first = first.left
            elif isinstance(first, ast.BoolOp):
                first = first.values[0]
            elif isinstance(first, ast.UnaryOp):
                first = first.operand
            else:
                return node
        given = ast.Assign([first.target], first.value)
        _Replaced(first, ast.Name(first.target.id, ast.Load())).visit(node)
        return [ast.copy_location(given, node), node]


class _Replaced(ast.NodeTransformer):
    """Replaces one node by another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def generic_visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else super().generic_visit(node)


def _parsed(text: str, at: ast.AST) -> list[Any]:
    """The statements of a text, in the place of a node."""
    statements = ast.parse(text).body
    for statement in statements:
        for part in ast.walk(statement):
            ast.copy_location(part, at)
    return statements


def _lengths_vary(tuples: list[Any]) -> None:
    """Make lists of tuple displays, if they have several lengths."""
    shown = [one for one in tuples if isinstance(one, ast.Tuple) and one.elts]
    if len({len(one.elts) for one in shown}) > 1 and not any(map(_has_star, shown)):
        for one in shown:
            one.__class__ = ast.List  # type: ignore[assignment]


def _is_number(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)


def _has_star(node: ast.Tuple) -> bool:
    return any(isinstance(one, ast.Starred) for one in node.elts)
