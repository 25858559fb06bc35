"""The rules that Numba cannot compile: those rejected beforehand, and the reason, with a remedy.

Compiled code with ``print`` may wait forever for the interpreter's lock. Numba cannot read
recursive functions from disk, and an endless recursion ends the process without a message. A
handler would also catch the exceptions of checked arithmetic, which request the interpreted
rules. Such rules are therefore rejected before anything is compiled.

Numba's own messages require knowledge of Numba. This module extracts the place and the rejected
construct from them. The line quotes the construct from the source of the rules.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import dis
import inspect
import linecache
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from rollwise.builders.compiled.cache_key import (
    NotCompilable,
    attributes_read,
    goes_with_version,
    helper_of,
    is_place,
)
from rollwise.builders.compiled.listers import OBJECTS
from rollwise.builders.compiled.reads import RATIO
from rollwise.faults import PASSED_ON, is_users, one_line
from rollwise.game import Game
from rollwise.reach import closure_read, globals_read, names_in

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
        return [(f, tree) for f in self._functions if (tree := _tree_of(f)) is not None]


def _tree_of(function: Any) -> ast.AST | None:
    """The syntax tree of a function, with the line numbers of its file."""
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

    def __init__(self, functions: Mapping[str, Function], methods: Mapping[str, Function]) -> None:
        self._methods = methods
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
        for code in _codes(function.__code__):
            before = ""
            for one in dis.get_instructions(code):
                if one.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"):
                    names.add(one.argval)
                elif _gets_method(one) and before.startswith(("LOAD_FAST", "LOAD_DEREF")):
                    methods.add(one.argval)
                before = one.opname
        around = {**globals_read(function), **closure_read(function)}
        read = [value for name, value in around.items() if name in names]
        for module in [v for v in read if isinstance(v, ModuleType) or is_place(v)]:
            if not goes_with_version(module):
                read += attributes_read(module, names_in(function.__code__)).values()
        helpers = [helper for value in read if (helper := helper_of(value)) is not None]
        by_numba = [getattr(value, "py_func", None) for value in read]  # compiled by the user
        helpers += [value for value in by_numba if isinstance(value, FunctionType)]
        return helpers + [self._methods[name] for name in sorted(methods & set(self._methods))]

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


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of its inner functions."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)


def _gets_method(one: dis.Instruction) -> bool:
    """Whether an instruction gets an attribute and the attribute is called next."""
    if sys.version_info < (3, 12):
        return one.opname == "LOAD_METHOD"
    return one.opname == "LOAD_ATTR" and bool((one.arg or 0) & 1)


def _printing_line(function: Any) -> int | None:
    """The line in which a function names ``print``; None if there is none."""
    around = {**vars(builtins), **function.__globals__, **closure_read(function)}
    for code in _codes(function.__code__):
        for one in dis.get_instructions(code):
            reads = one.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")
            if reads and around.get(one.argval) is print:
                return one.positions and one.positions.lineno
    return None


def _place(function: Any, line: int | None = None) -> str:
    code = function.__code__
    return f" ({Path(code.co_filename).name}, line {line or code.co_firstlineno})"


@contextlib.contextmanager
def reasons_told(functions: Iterable[Callable[..., Any]] = ()) -> Iterator[None]:
    """A context that turns Numba's errors into NotCompilable with the reason in a line.

    Parameters
    ----------
    functions : iterable of callables
        All functions to be compiled. The rejected construct is searched for in them.
    """
    try:
        yield
    except (*PASSED_ON, OSError, NotCompilable):
        raise
    except Exception as error:  # Numba raises other exceptions for some sources
        raise NotCompilable(_reason(error, Source(functions))) from error


def in_line(loc: Any) -> str:
    """A place from Numba, if it is in users' code: `` (own.py, line 12)``."""
    return _where(_with_column(Place(loc.filename, loc.line))) if is_users(loc.filename) else ""


def _where(place: Place) -> str:
    return f" ({Path(place.file).name}, line {place.line}, column {place.column})"


def _with_column(place: Place) -> Place:
    """A place with the column where its line begins, if no other is known."""
    line = linecache.getline(place.file, place.line)
    return place._replace(column=place.column or len(line) - len(line.lstrip()) + 1)


WRITE_LOOP = "write a loop instead"
NUMBERS = "write a list of numbers, or of lists of one length, instead"
OTHERWISE = (
    "write it with numbers, tuples of whole numbers, NumPy arrays, loops and helper functions"
)
ONE_YIELD = (
    "all yields of a rule need the same parts, each of one type: (weight, then, next_state), also "
    "where play ends; adding 0 makes a truth value a number"
)
THROUGH_SELF = "read constants and methods of a game through self"
ONE_TYPE = "a value needs one type throughout; adding 0 makes a truth value a number"
READS = (
    "of self, rules may read numbers, texts, members of enumerations, NumPy arrays, methods, and "
    "tuples, lists and dictionaries of numbers"
)


class Remedy(NamedTuple):
    """A construct and its replacement.

    Attributes
    ----------
    sign : str
        A regular expression for Numba's message.
    kinds : types of nodes
        The types of nodes to search for in the source.
    fits : callable
        Whether a node of these types is the construct.
    remedy : str
    """

    sign: str
    kinds: tuple[type[ast.AST], ...]
    fits: Callable[[Any], bool]
    remedy: str


def _any(node: Any) -> bool:
    return True


def _calls(*names: str) -> Callable[[Any], bool]:
    """A test whether a call is of a function or method with one of the names."""
    return lambda node: getattr(node.func, "id", getattr(node.func, "attr", None)) in names


def _is_odd_yield(node: Any) -> bool:
    return not isinstance(node.value, ast.Tuple) or len(node.value.elts) not in (2, 3)


# Constructs that Numba rejects, and replacements. The first match counts.
CONSTRUCTS = [
    Remedy("Ratio\\(", (ast.BinOp, ast.Compare), _any, RATIO),
    Remedy("(?i)yield.?from", (ast.YieldFrom,), _any, "yield in a loop: for one in ...: yield one"),
    Remedy("closure", (ast.GeneratorExp,), _any, "write a loop instead of a generator expression"),
    Remedy(
        "closure|cell variable|make_function",
        (ast.FunctionDef,),
        lambda node: not hasattr(node, "outermost"),
        "write an inner function outside of the rule",
    ),
    Remedy("", (ast.Import, ast.ImportFrom), _any, "import at the head of the file"),
    Remedy("", (ast.With, ast.AsyncWith), _any, "leave it out: rules open no files"),
    Remedy("", (ast.Delete,), _any, "leave it out: variables need no del"),
    Remedy("GLOBAL", (ast.Global,), _any, "rules change no globals: return the number"),
    Remedy("MATCH", (ast.Match,), _any, "write if and elif"),
    Remedy(
        "",
        (ast.FunctionDef,),
        lambda node: bool(node.args.kwonlyargs or node.args.kwarg or node.args.posonlyargs),
        "give the function plain parameters, without * and **",
    ),
    Remedy(
        "",
        (ast.Call,),
        lambda node: any(k.arg is None for k in node.keywords),
        "name each argument",
    ),
    Remedy(
        "getitem",
        (ast.Subscript,),
        _any,
        "the parts of a tuple need one type each to be looked up by a variable: write a NumPy "
        "array, or several tuples",
    ),
    Remedy(
        "<class 'float'>",
        (ast.Call,),
        _calls("float"),
        "write 1.0 * x instead of float(x) where x is a truth value",
    ),
    Remedy("<class 'int'>", (ast.Call,), _calls("int"), "int() takes a number"),
    Remedy(
        "_replace",
        (ast.Call,),
        _calls("_replace"),
        "write the state out, giving every field, instead of _replace()",
    ),
    Remedy(
        "dtype|built-in function (zeros|ones|empty|full|array)",
        (ast.Call,),
        _calls("zeros", "ones", "empty", "full", "array", "arange"),
        "name the type of an array as NumPy's: np.int64 or np.float64",
    ),
    Remedy("Enum class", (ast.Call,), _any, "write a member of an enumeration by its name"),
    Remedy(
        "heterogeneous enum",
        (ast.expr,),
        _any,
        "give the members of an enumeration values of one type",
    ),
    Remedy(
        "cannot be determined", (ast.NamedExpr,), _any, "write the assignment in a line of its own"
    ),
    Remedy("pow", (ast.Call,), lambda node: len(node.args) == 3, "write pow(a, b) % c"),
    Remedy(
        "built-in function mul",
        (ast.BinOp,),
        lambda node: isinstance(node.op, ast.Mult),
        "write the tuple out, or count in a NumPy array",
    ),
    Remedy(
        "undefined|imprecise",
        (ast.List,),
        lambda node: not node.elts,
        "an empty list has no type: count in a NumPy array or in single variables",
    ),
    Remedy("", (ast.Lambda,), _any, "write a loop instead of handing a function on"),
    Remedy("an(not|'t) unify yield", (ast.Yield,), _is_odd_yield, ONE_YIELD),
]

# Methods of tuples, numbers and arrays that compiled rules lack, and replacements.
METHODS = {
    "_replace": "write the state out, giving every field, instead of _replace()",
    "_asdict": "name the fields one by one",
    "tolist": "read the array itself",
    "item": "write array[place]",
}
NAMED = {
    "super": "give the parent's rule a name of its own, and call it through self",
    "isinstance": "leave it out: a value has one type throughout",
    "input": "rules can't ask a person: leave it out",
    "die": "write it at the top of the file, as in DIE = dice.die(1, 2, 3)",
}

Found = tuple[str, str, Place | None]  # the rejected code, the remedy, and the place


def _reason(error: Exception, source: Source) -> str:
    """The construct rejected by Numba, and the remedy."""
    text = re.sub(r"\x1b\[[\d;]*m", "", str(error)) or type(error).__name__
    place = _place_in(text)
    for explain in (_of_name, _of_attribute, _of_construct, _of_call, _of_types):
        reason = explain(text, source, place)
        if reason is not None:
            break
    else:
        reason = (
            (source.line(place).strip() if place else "") or "a part of the rules",
            OTHERWISE,
            None,
        )
    what, remedy, closer = reason
    place = closer or place
    where = "" if place is None else _where(_with_column(place))
    return f"{one_line(what)}{where}: {remedy}"


def _place_in(text: str) -> Place | None:
    """The first place in users' code in Numba's message."""
    lines = "\n".join(line.strip(" -") for line in text.splitlines())
    named = re.findall(r'^File "([^<].*)", line (\d+)', lines, re.MULTILINE)
    named += re.findall(r"Raised from (\S.*?) \((\d+)\)", text)
    places = [Place(os.path.abspath(file), int(line)) for file, line in named]
    return next((place for place in places if place.line > 0 and is_users(place.file)), None)


def _of_name(text: str, source: Source, place: Place | None) -> Found | None:
    """A name with a value that compiled rules cannot read."""
    named = re.search(r"Untyped \w+ name '(\w+)'|assigned to variable '(\w+)' in globals", text)
    if named is None:
        return None
    name = named[1] or named[2]
    value = source.value(name, place)
    named_so = (at for node, at in source.nodes(place) if getattr(node, "id", "") == name)
    return repr(name), NAMED.get(name) or _how_to_read(name, value), next(named_so, None)


def _how_to_read(name: str, value: Any) -> str:
    if isinstance(value, dict | list | set | frozenset) or value is frozenset:
        return NUMBERS
    if name.rpartition(".")[2] in NAMED:
        return NAMED[name.rpartition(".")[2]]
    if isinstance(value, FunctionType | BuiltinFunctionType):
        return f"compiled rules don't know it: {WRITE_LOOP}"
    if isinstance(value, type):
        if issubclass(value, Game):
            return f"{THROUGH_SELF}; {NAMED['super']}"
        if value.__module__ == "builtins":
            return f"compiled rules don't know it: {WRITE_LOOP}"
        return OBJECTS
    return (
        "" if value is MISSING else f"it is a {type(value).__name__}; "
    ) + "rules may read numbers, tuples, lists and dictionaries of them, NumPy arrays and functions"


def _of_attribute(text: str, source: Source, place: Place | None) -> Found | None:
    """An attribute unknown to compiled rules."""
    named = re.search(r"Unknown attribute '(\w+)' of type (.*)|BoundFunction\(\w+\.(\w+) ", text)
    if named is None:
        return None
    name, kind = named[1] or named[3], named[2] or ""
    found = [
        (ast.unparse(node), at)
        for node, at in source.nodes(place)
        if isinstance(node, ast.Attribute) and node.attr == name
    ]
    if kind.startswith("GameRecord"):
        remedy = READS
    elif "GameRecord" in kind:
        remedy = THROUGH_SELF
    else:
        remedy = METHODS.get(name, f"compiled rules don't know it: {WRITE_LOOP}")
    code, at = found[0] if found else (name, None)
    return repr(code), remedy, at


def _of_construct(text: str, source: Source, place: Place | None) -> Found | None:
    """A construct that Numba does not compile, in the line of its message."""
    whole = re.search("unify yield|in a closure|GLOBAL", text) is not None
    nodes = list(source.nodes(place, whole=whole))[::-1]  # the deepest nodes first
    for one in CONSTRUCTS:
        if not re.search(one.sign, text):
            continue
        for node, closer in nodes:
            if isinstance(node, one.kinds) and one.fits(node):
                return _written(node), one.remedy, closer
    return None


def _of_call(text: str, source: Source, place: Place | None) -> Found | None:
    """A call of a known function with unsuitable arguments."""
    named = re.search(r"Function\(<(?:built-in )?(?:function|class) '?(?:\w+\.)*(\w+)", text)
    if named is None:
        return None
    for node, closer in source.nodes(place):
        if isinstance(node, ast.Call) and _calls(named[1])(node):
            unknown = f"compiled rules don't know it for such arguments: {WRITE_LOOP}"
            return _written(node), NAMED.get(named[1], unknown), closer
    return None


def _written(node: ast.AST) -> str:
    """The source of a node; only the first line of a compound statement."""
    if isinstance(node, ast.FunctionDef):
        return f"{node.name}()"
    text = ast.unparse(node).splitlines()[0]
    return text[1:-1] if isinstance(node, ast.Yield | ast.YieldFrom) else text.rstrip(":")


def _of_types(text: str, source: Source, place: Place | None) -> Found | None:
    """Values of incompatible types."""
    if re.search("an(not|'t) unify yield", text):
        return "the yields", ONE_YIELD, None
    if not re.search("an(not|'t) unify", text):
        return None
    variable = re.search(r"an(?:not|'t) unify [^\n]* for '(\w+)[.']", text)
    what = f"the variable {variable[1]!r}" if variable else "a value that two ways lead to"
    if "unify return type" in text:
        what = "the answer of a function"
    return what, ONE_TYPE, None
