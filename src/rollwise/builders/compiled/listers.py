"""Copies of a game's functions, for Numba to compile.

Numba reads a function's globals only once, when it compiles the function, and misses later changes.
For each key (see `rollwise.builders.compiled.cache_key`) a game's functions are therefore copied,
with all functions that they reach, and the copies are compiled.

A rule may use all of Python's words for numbers and tuples. Before compiling, its source is
rewritten where Numba lacks a word. Two replacements carry most of the weight: a list comprehension
takes the place of a generator expression, and a list takes the place of a tuple whose length only
the running rule knows. Such a list becomes a tuple again where it enters a state
(`rollwise.builders.compiled.python_words`).

Numba cannot compile ``yield from``, and keeps the variables of a generator in memory between
values. A *lister* is the code of a generator in which statements that store a value replace each
``yield``. It is made from the source. If there is no source, or it does not match the generator's
code, the lister runs the generator.
"""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import itertools
import math
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from fractions import Fraction
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from rollwise.builders.compiled.cache_key import (
    NotCompilable,
    helper_of,
    is_place,
    parts_read,
    run_by,
)
from rollwise.builders.compiled.matching import as_conditions
from rollwise.builders.compiled.reads import as_constant
from rollwise.builders.compiled.sources import definition_of
from rollwise.faults import is_users
from rollwise.reach import closure_read, codes_in, globals_read, names_in
from rollwise.then import payoffs, shared, won_by

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


def translated(
    function: FunctionType,
    of_state: Mapping[str, Any],
    methods: Mapping[str, Function],
    *,
    is_rule: bool,
) -> Translation:
    """A function with Numba's words; the function's own code if it needs no translation.

    Parameters
    ----------
    of_state, methods : mapping
        Methods and properties of states, and methods of the game, see
        `rollwise.builders.compiled.reads.Reads`.
    is_rule : bool
        Its first parameter is the game.
    """
    code = function.__code__
    own = Translation(code, function.__defaults__, {})
    definition = _definition(function)
    if definition is None:
        return own
    named = [name for name in code.co_names if inspect.ismodule(function.__globals__.get(name))]
    for modules in (named, []):  # imported by name, or by `from rollwise import *`
        if _same(compiled(definition, code.co_freevars, modules), code):
            break
    else:
        return own  # the file has changed, or the function is wrapped
    _TREES[code] = copy.deepcopy(definition)
    defaults, arguments = list(function.__defaults__ or ()), definition.args
    given_by_name = function.__kwdefaults__ or {}
    if arguments.kwonlyargs and not arguments.vararg:
        # Numba lacks parameters given by name only. They become plain ones where defaults stay
        # last.
        given = [given_by_name[a.arg] for a in arguments.kwonlyargs if a.arg in given_by_name]
        if len(given) == len(arguments.kwonlyargs) or not defaults + given:
            arguments.args += arguments.kwonlyargs
            arguments.kwonlyargs, arguments.kw_defaults = [], []
            defaults += given
    if arguments.vararg:
        # Numba lacks `max` and `min` of its own type of such a tuple; a sum has a plain type.
        name = arguments.vararg.arg
        definition.body[:0] = _parsed(f"{name} = {name} + ()", definition.body[0])
    translator = _Translator(function, of_state, methods, is_rule=is_rule)
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
    is_own = is_users(function.__code__.co_filename)
    definition = definition_of(function) if is_own else None
    if not isinstance(definition, ast.FunctionDef):
        return None
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
    # From the module to the function around, and to the function in it.
    for _ in range(2):
        code = next(part for part in code.co_consts if isinstance(part, CodeType))
    return code


def _same(one: CodeType, other: CodeType) -> bool:
    """Whether two code objects do the same."""
    mine, theirs = (
        [
            (
                code.co_code,
                code.co_names,
                code.co_varnames,
                code.co_freevars,
                code.co_cellvars,
                [isinstance(part, CodeType) or repr(part) for part in code.co_consts],
            )
            for code in codes_in(whole)
        ]
        for whole in (one, other)
    )
    return mine == theirs


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
SLICED, EXACT, LEAST, FOR_ALL = "sliced_", "exact_", "of_some_", "_for_all_"
BY_KEY, COUNTED, NO_COUNTS, MEMBER = "_by_key_", "counted_", "no_counts_", "member_of_"
COUNT, PLACE = "count_of_", "place_in_"
FOLDS = ("sum", "any", "all", "min", "max", "sorted", "tuple", "list", "set", "len", "enumerate")
MOST_NESTED = 6  # loops of one call of itertools


class _Translator(ast.NodeTransformer):
    """Rewrites a function.

    Attributes
    ----------
    names : dict
        Functions that the new source calls, by name; a text stands for one of `python_words`.
    """

    def __init__(
        self,
        function: FunctionType,
        of_state: Mapping[str, Any],
        methods: Mapping[str, Function],
        *,
        is_rule: bool,
    ) -> None:
        self.names: dict[str, Any] = {}
        self._of_state, self._methods = of_state, methods
        self._game = next(iter(function.__code__.co_varnames), "") if is_rule else ""
        self._around = {**vars(builtins), **function.__globals__, **closure_read(function)}
        code = function.__code__
        self._file = code.co_filename
        self._own = {*code.co_varnames, *code.co_cellvars}
        self._temporary = itertools.count()
        self._function: ast.FunctionDef | None = None  # the outermost one
        self._counters: set[str] = set()  # variables that hold a Counter
        self._asked: set[str] = set()  # variables with a method `get`

    def _value(self, node: ast.AST) -> Any:
        """The value of a global name, or of an attribute of a global module; else None."""
        if isinstance(node, ast.Name) and node.id not in self._own:
            return self._around.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._value(node.value)
            return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
        return None

    def _member_of_state(self, node: ast.AST) -> Any:
        """The method or the property of a state in an attribute; else None."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            return None
        is_game = isinstance(node.value, ast.Name) and node.value.id == self._game
        known = is_game or self._value(node.value) is not None
        return None if known else self._of_state.get(node.attr)

    def _users_function(self, node: ast.AST) -> tuple[Any, int]:
        """The called function of the user, and 1 if its first parameter is the game."""
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == self._game:
            method = self._methods.get(node.attr)
            return method, int(method is not None)
        return helper_of(self._value(node)), 0

    def _function_of_state(self, node: Any) -> ast.Name:
        """The name of the function that a method or a property of a state runs."""
        name = f"{node.attr}_of_state_"
        function = run_by(self._of_state[node.attr])
        self.names[name] = self._around[name] = function
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _call(self, name: str, value: Any, arguments: list[Any], at: ast.AST) -> ast.Call:
        self.names[name] = value
        called = ast.Name(name, ast.Load())
        return ast.copy_location(ast.Call(called, arguments, []), at)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Generators in folds, NamedTuples, `_replace`, and itertools."""
        if isinstance(self._member_of_state(node.func), FunctionType):
            owner: Any = node.func
            node.args = [owner.value, *node.args]
            node.func = self._function_of_state(owner)
        self.generic_visit(node)
        called = self._value(node.func)
        if is_place(called):
            file = Path(self._file).name
            where = f"({file}, line {node.lineno}, column {node.col_offset + 1})"
            raise NotCompilable(f"{ast.unparse(node)!r} {where}: {instead_of(called)}")
        self._spread(node)
        arguments, named = node.args, {k.arg: k.value for k in node.keywords}
        if special := self._special(called, arguments, named, node):
            return special
        folds = [math.prod, *(getattr(builtins, name) for name in FOLDS)]
        if called in folds and arguments:
            arguments[0] = self._listed(self._run(arguments[0]))
            if called in (min, max) and list(named) == ["default"] and len(arguments) == 1:
                name = f"{called.__name__}_{LEAST}"
                return self._call(name, name, [arguments[0], named["default"]], node)
        if isinstance(called, type) and issubclass(called, tuple) and hasattr(called, "_fields"):
            name = f"made_{called.__name__}"
            node.func = ast.copy_location(ast.Name(name, ast.Load()), node.func)
            self.names[name] = called
        starred = [one.value for one in arguments if isinstance(one, ast.Starred)]
        if called in (won_by, payoffs, shared) and len(starred) == len(arguments) == 1:
            name = called.__name__ + FOR_ALL
            return self._call(name, name, [self._listed(starred[0])], node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "_replace":
            fields = tuple(filter(None, named))
            if fields and len(fields) == len(node.keywords) and not arguments:
                name = f"with_{'_'.join(fields)}"
                return self._call(name, fields, [node.func.value, *named.values()], node)
        return self._looped(called, node, named) or node

    def _spread(self, node: ast.Call) -> None:
        """A list behind a star, as a tuple of the length that the parameters leave for it."""
        stars = [one for one in node.args if isinstance(one, ast.Starred)]
        function, given = self._users_function(node.func)
        if (
            len(stars) != 1
            or node.keywords
            or function is None
            or not _has_plain_parameters(function)
        ):
            return
        size = function.__code__.co_argcount - given - (len(node.args) - 1)
        if size > 0:
            places = ast.Tuple([ast.Constant(0) for _ in range(size)], ast.Load())
            listed = self._listed(stars[0].value)
            stars[0].value = self._call(EXACT, EXACT, [listed, places], stars[0])

    def _special(
        self, called: Any, arguments: list[Any], named: dict[Any, Any], node: ast.Call
    ) -> ast.AST | None:
        """A call with another function in compiled rules; None for other calls.

        It has a key, or is one of `next`, of a Counter, of a member or of the place in a constant.
        """
        others = {"key", "reverse"} if called is sorted else {"key"}
        if called in (max, min, sorted) and len(arguments) == 1 and {"key"} <= set(named) <= others:
            return self._by_key(called, arguments[0], named, node)
        if called is next and arguments and isinstance(arguments[0], ast.GeneratorExp):
            listed = self._listed(arguments[0])
            if len(arguments) > 1:
                name = f"first_{LEAST}"
                return self._call(name, name, [listed, arguments[1]], node)
            return ast.copy_location(ast.Subscript(listed, ast.Constant(0), ast.Load()), node)
        if called is Counter and len(arguments) < 2 and not named:
            word = COUNTED if arguments else NO_COUNTS
            return self._call(word, word, [self._listed(one) for one in arguments], node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "index":
            owner = node.func.value
            if isinstance(self._value(owner), tuple | list) and len(arguments) == 1:
                return self._call(PLACE, PLACE, [owner, *arguments], node)
        is_kind = isinstance(called, type) and issubclass(called, IntEnum | IntFlag)
        if is_kind and len(arguments) == 1 and not named:
            return self._call(f"{MEMBER}{called.__name__}", called, arguments, node)
        return None

    def _by_key(
        self, called: Any, items: Any, named: dict[Any, Any], node: ast.Call
    ) -> ast.AST | None:
        """`max`, `min` or `sorted` with a key: the items and their keys as two lists."""
        key, name = named["key"], f"item{next(self._temporary)}_"
        item: Any = ast.Name(name, ast.Load())
        if isinstance(key, ast.Lambda) and len(key.args.args) == 1 and not key.args.defaults:
            name, worth = key.args.args[0].arg, key.body
            item = ast.Name(name, ast.Load())
        elif isinstance(key, ast.Name | ast.Attribute):
            worth = ast.Call(key, [item], [])
        else:
            return None
        loop = ast.comprehension(ast.Name(name, ast.Store()), self._listed(items), [], 0)
        lists: list[Any] = [ast.ListComp(one, [copy.deepcopy(loop)]) for one in (item, worth)]
        if called is sorted:
            lists.append(named.get("reverse", ast.Constant(False)))
        word = f"{called.__name__}{BY_KEY}"
        return self._call(word, word, lists, node)

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
                listed = ast.Call(ast.Name("list", ast.Load()), arguments[:1], [])
                is_range = self._value(getattr(arguments[0], "func", node)) is range
                return self._call(name, name, [listed] if is_range else arguments[:1], node)
        return None

    def _run(self, node: Any) -> Any:
        """A list of the values of a user's generator, or of a dictionary; others as they are."""
        if not isinstance(node, ast.Call):
            return node
        of_dictionary = getattr(node.func, "attr", "") in ("keys", "values")
        if not of_dictionary and not inspect.isgeneratorfunction(helper_of(self._value(node.func))):
            return node
        name = f"one{next(self._temporary)}_"
        target, item = ast.Name(name, ast.Store()), ast.Name(name, ast.Load())
        listed = ast.ListComp(item, [ast.comprehension(target, node, [], 0)])
        return ast.copy_location(listed, node)

    def _listed(self, node: Any) -> Any:
        """A list for a generator, the members for an enumeration."""
        if isinstance(node, ast.GeneratorExp):
            return ast.copy_location(ast.ListComp(node.elt, node.generators), node)
        value = self._value(node)
        if isinstance(value, type) and issubclass(value, IntEnum | IntFlag):
            members: list[Any] = [ast.Constant(int(member)) for member in value]
            return ast.copy_location(ast.Tuple(members, ast.Load()), node)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """A loop over a generator expression or an enumeration."""
        self.generic_visit(node)
        node.iter = self._listed(node.iter)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        """A loop over a generator expression or an enumeration."""
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
        self._look_for_dictionaries(node)
        self._function = self._function or node
        self.generic_visit(node)
        _lengths_vary([part.value for part in ast.walk(node) if isinstance(part, ast.Return)])
        return node

    def _look_for_dictionaries(self, node: ast.FunctionDef) -> None:
        """Find variables that hold counts: Counters, and dictionaries with a method `get`."""
        others: set[str] = set()
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and part.attr == "get":
                self._asked.add(getattr(part.value, "id", ""))
            if isinstance(part, ast.Assign | ast.AnnAssign | ast.NamedExpr):
                kind = self._counters if self._makes_counter(part.value) else others
                targets = part.targets if isinstance(part, ast.Assign) else [part.target]
                kind.update(one.id for one in targets if isinstance(one, ast.Name))
        self._counters -= others

    def _makes_counter(self, node: ast.expr | None) -> bool:
        """Whether an untranslated expression is a new Counter, also one of a user's function."""
        if not isinstance(node, ast.Call):
            return False
        function, is_rule = self._users_function(node.func)
        if function is None:
            return self._value(node.func) is Counter
        definition = _definition(function)
        if definition is None:
            return False
        other = _Translator(function, self._of_state, self._methods, is_rule=bool(is_rule))
        other._look_for_dictionaries(definition)
        returned = [part.value for part in ast.walk(definition) if isinstance(part, ast.Return)]
        return any(
            getattr(value, "id", "") in other._counters or other._makes_counter(value)
            for value in returned
        )

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """``counts.get(k) or 1``: None and 0 are the same there."""
        self.generic_visit(node)
        value: Any
        for k, value in enumerate(node.values[:-1] if isinstance(node.op, ast.Or) else ()):
            owner = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
            if not owner or value.func.attr != "get" or self._users_function(value.func)[0]:
                continue
            if len(value.args) == 1 and not value.keywords:
                counted = [value.func.value, value.args[0]]
                node.values[k] = self._call(COUNT, COUNT, counted, value)
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST | list[Any]:
        """Patterns of tuples and states."""
        assert self._function is not None
        name = f"match{next(self._temporary)}_"
        conditions = as_conditions(node, name, self._function, self._fields)
        if conditions is None:
            self.generic_visit(node)
            return node
        visited = map(self.visit, conditions)
        return [one for part in visited for one in (part if isinstance(part, list) else [part])]

    def _fields(self, node: ast.expr) -> tuple[str, ...] | None:
        """The fields of a NamedTuple of the user."""
        return getattr(self._value(node), "_fields", None)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Tuples of two lengths."""
        self.generic_visit(node)
        _lengths_vary([node.body, node.orelse])
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """A generator expression, or an enumeration."""
        self.generic_visit(node)
        node.value = node.value and self._listed(node.value)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """A member of an enumeration of whole numbers, or its `value`; a property of a state."""
        member = self._member(node.value if node.attr == "value" else node)
        if member is None:
            member = self._member(node)
        if member is not None:
            return ast.copy_location(ast.Constant(member), node)
        self.generic_visit(node)
        if isinstance(self._member_of_state(node), property):
            called = ast.Call(self._function_of_state(node), [node.value], [])
            return ast.copy_location(called, node)
        return node

    def _member(self, node: ast.expr) -> int | None:
        """The number of a member of an enumeration of whole numbers; None for other nodes."""
        kind = self._value(node.value) if isinstance(node, ast.Attribute) else None
        if not (isinstance(kind, type) and issubclass(kind, IntEnum | IntFlag)):
            return None
        member = getattr(kind, node.attr, None)  # type: ignore[attr-defined]
        return int(member) if isinstance(member, kind) else None

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
            if self._is_counter(node.value) and isinstance(node.ctx, ast.Load):
                return self._call(COUNT, COUNT, [node.value, part], node)
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
        # Successive items without a star make one tuple, and each star makes its own.
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
        is_empty = isinstance(node.value, ast.Dict) and not node.value.keys
        if isinstance(node.value, ast.Call) and self._value(node.value.func) is dict:
            is_empty = not node.value.args and not node.value.keywords
        if is_empty and getattr(target, "id", "") in self._asked:
            node.value = self._call(NO_COUNTS, NO_COUNTS, [], node.value)
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
        # Before the star places count from the front, and behind it from the end.
        for k, one in enumerate(target.elts):
            index_text = str(k) if k < star else str(k - len(target.elts))
            if k == star:
                index_text = f"{star}:{-after if after else ''}"
            lines.append(f"{ast.unparse(getattr(one, 'value', one))} = {whole}[{index_text}]")
        parts = _parsed("\n".join(lines), node)
        parts[0].value = node.value
        return parts

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """A count that changes: it may be none before."""
        target = node.target
        if isinstance(target, ast.Subscript) and self._is_counter(target.value):
            before = ast.Subscript(target.value, copy.deepcopy(target.slice), ast.Load())
            changed = ast.Assign([target], ast.BinOp(before, node.op, node.value))
            return self.visit(ast.copy_location(changed, node))  # type: ignore[no-any-return]
        self.generic_visit(node)
        return node

    def _is_counter(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call):
            made = getattr(node.func, "id", "") in (COUNTED, NO_COUNTS)
            return made or self._makes_counter(node)
        return getattr(node, "id", "") in self._counters

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
        # Only the first part that the condition evaluates can be moved before it.
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


def _has_plain_parameters(function: FunctionType) -> bool:
    """Whether each call gives a function the same number of arguments."""
    code = function.__code__
    has_star = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    return not (has_star or code.co_kwonlyargcount or function.__defaults__)


def _is_number(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)


def _has_star(node: ast.Tuple) -> bool:
    return any(isinstance(one, ast.Starred) for one in node.elts)


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


class Freezer:
    """Makes translated copies of functions; compiled copies replace the helpers in their globals.

    Parameters
    ----------
    key : str
        Part of their names in machine code.
    compiled : callable
        Compiles a helper at its first call.
    word : callable
        Gives the functions of `Translation.names`, compiled.
    of_state, methods : mapping
        See `translated`.
    """

    def __init__(
        self,
        key: str,
        compiled: Callable[[Function], Any],
        word: Callable[[str, Any], Function],
        of_state: Mapping[str, Any],
        methods: Mapping[str, Function],
    ) -> None:
        self._key, self._compiled, self._word = key, compiled, word
        self._of_state, self._methods = of_state, methods
        self._helpers: dict[Function, Any] = {}
        self._words: dict[tuple[str, Any], Any] = {}

    def function(self, function: Any, copies: dict[Function, Any] | None = None) -> Any:
        """A copy. That of a helper is entered in `copies`, compiled, before its globals are."""
        names = names_in(function.__code__)
        around = closure_read(function)
        scope = {"__name__": function.__globals__.get("__name__")}
        cells = [
            types.CellType() if name in around else cell
            for name, cell in zip(
                function.__code__.co_freevars, function.__closure__ or (), strict=True
            )
        ]
        translation = translated(function, self._of_state, self._methods, is_rule=copies is None)
        copy = renamed(function, self._key, scope, tuple(cells), translation)
        if copies is not None:
            copies[function] = self._compiled(copy)
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
            if name in around:
                cell.cell_contents = self._value(around[name], names)
        scope |= {k: self._value(v, names) for k, v in globals_read(function).items()}
        for name, value in translation.names.items():
            if isinstance(value, FunctionType):
                scope[name] = self._value(value, names)
                continue
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
        read = parts_read(value, names)
        if not read:
            return as_constant(value)
        module = types.ModuleType(value.__name__)
        for name, item in read.items():
            setattr(module, name, self._value(item, names))
        return module


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


def running(generator: Function, writing: Writing, size: int = 0) -> Function:
    """A lister that runs a generator. It has two more parameters (see `Writing`).

    A generator with starred parameters, or with more parameters that have defaults, is given so
    many arguments, its `size`.
    """
    parameters = list(inspect.signature(generator).parameters.values())
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        names = ", ".join(f"given{k}_" for k in range(size))
    else:
        names = ", ".join(one.name for one in parameters[: size or None])
    tree: Any = ast.parse(
        f"def lister({names}, sink_, count_):\n"
        f"    for {writing.value} in generator({names}): pass\n"
        "    return count_\n"
    )
    tree.body[0].body[0].body = writing.body()
    scope = {**writing.scope, "generator": generator}
    exec(compile(ast.fix_missing_locations(tree), "<lister>", "exec"), scope)
    return scope["lister"]  # type: ignore[no-any-return]


def rewritten(generator: Function, writing: Writing, size: int = 0) -> Function | None:
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
    if size and len(parameters.args) > size:  # some keep their defaults
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
