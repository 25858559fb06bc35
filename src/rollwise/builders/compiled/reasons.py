"""The reason why Numba cannot compile some rules, in a line with a remedy.

Numba's own messages require knowledge of Numba. This module extracts the place and the rejected
construct from them. The line quotes the construct from the rules (see
`rollwise.builders.compiled.sources`).
"""

from __future__ import annotations

import ast
import contextlib
import linecache
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

from numba.core.errors import NumbaWarning

from rollwise.builders.compiled.cache_key import NotCompilable
from rollwise.builders.compiled.listers import instead_of
from rollwise.builders.compiled.reads import RATIO
from rollwise.builders.compiled.sources import MISSING, Place, Source
from rollwise.faults import PASSED_ON, is_users, one_line
from rollwise.game import Game


@contextlib.contextmanager
def reasons_told(functions: Iterable[Callable[..., Any]] = ()) -> Iterator[None]:
    """A context that turns Numba's errors into NotCompilable with the reason in a line.

    Numba's warnings are about Numba and are not shown.

    Parameters
    ----------
    functions : iterable of callables
        All functions to be compiled. The rejected construct is searched for in them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaWarning)
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
TRUTHS = "write 1 for True, 0 for False, and add 0 to a condition"
ONE_YIELD = (
    "all yields of a rule need the same parts, each of one type: (weight, then, next_state), also "
    f"where play ends; where some have a truth value and others a number, {TRUTHS}"
)
THROUGH_SELF = "read constants and methods of a game through self"
ONE_TYPE = "a value needs one type throughout"
PARTS = f"{ONE_TYPE}, and so do the parts of a tuple and the items of a list"
# Numba's words for types, by their beginnings.
KINDS = {
    "(Uni)?Tuple#": "a tuple",
    "(reflected )?list": "a list",
    "range": "a range",
    "array": "an array",
    "none": "None",
    "unicode|Literal.str": "a text",
    "u?int|float|Literal.int": "a number",
}
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
    Remedy("neg\\(Ratio\\(", (ast.UnaryOp,), _any, RATIO),
    Remedy("Ratio\\(", (ast.BinOp, ast.Compare), _any, RATIO),
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
    Remedy(
        "lowering|setattr",
        (ast.Assign, ast.AugAssign),
        lambda node: isinstance(
            getattr(node, "targets", [getattr(node, "target", 0)])[0], ast.Attribute
        ),
        "rules keep no numbers in self: put them into the state",
    ),
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
        "args in function call",
        (ast.Call,),
        lambda node: any(isinstance(one, ast.Starred) for one in node.args),
        "a star needs a tuple of fixed length: hand the list over whole, without the star",
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
        r"setitem\(DictType\[int64,int64\].*, float64\)",
        (ast.Assign,),
        lambda node: isinstance(node.targets[0], ast.Subscript),
        "a dictionary that begins empty has whole numbers: write floats into a NumPy array",
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
        return instead_of(value)
    if isinstance(value, int) and value.bit_length() > 63:
        return "compiled rules have whole numbers of 64 bits: write a smaller one"
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
    elif "rollwise.dice" in kind:
        remedy = f"write it at the top of the file, as in THROWN = dice.{name}(...)"
    elif "GameRecord" in kind:
        remedy = THROUGH_SELF
    elif _is_named(source.value(kind.partition("(")[0], place)) and name not in METHODS:
        remedy = f"compiled rules read only the fields of a state: write a function {name}(s)"
    else:
        remedy = METHODS.get(name, f"compiled rules don't know it: {WRITE_LOOP}")
    code, at = found[0] if found else (name, None)
    return repr(code), remedy, at


def _is_named(value: Any) -> bool:
    """Whether a value is the class of a NamedTuple."""
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")


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
    line = next(line for line in text.splitlines() if re.search("an(not|'t) unify", line))
    return what, _for_one_type(line), None


def _for_one_type(line: str) -> str:
    """The remedy for types that Numba cannot unify, by the line of its message."""
    if "bool" in line:
        return f"{ONE_TYPE}: {TRUTHS}"
    types = re.sub("<[^<>]*>", "", line)
    while "(" in types:  # Tuple(int64, UniTuple(int64 x 2)) becomes Tuple#2, from the inside
        types, inner = re.subn(r"\(([^()]*)\)", lambda match: f"#{_length(match[1])}", types)
        if not inner:
            return ONE_TYPE
    types = re.sub(r".*unify (return type from the following types: )?| for '.*", "", types)
    each = sorted(set(re.split(", | and ", types)))
    kinds = {one: next((kind for k, kind in KINDS.items() if re.match(k, one)), "") for one in each}
    found = sorted(set(kinds.values()))
    if "return type" in line and set(found) <= {"a list", "a range", "a tuple"}:
        return (
            f"{ONE_TYPE}, and tuples, lists and ranges are different ones: yield each action "
            "instead, or return list(...) throughout"
        )
    if found == ["a list", "a tuple"]:
        return f"{ONE_TYPE}, and a tuple and a list are two: write list(...) for the tuple"
    if "a range" in found:
        others = " and for the tuple" if "a tuple" in found else ""
        return f"{ONE_TYPE}, and a range has its own: write list(...) for it{others}"
    if found == ["a tuple"] and len({one.partition("#")[2] for one in each}) > 1:
        return f"{ONE_TYPE}, and tuples of different lengths are different ones: write lists"
    if len(each) == 1 or found in (["a list"], ["a tuple"]):
        return PARTS
    named = sorted({kind or one.partition("#")[0] for one, kind in kinds.items()})
    return f"{ONE_TYPE}; here {' and '.join(named)} meet" if len(named) > 1 else ONE_TYPE


def _length(parts: str) -> int:
    """The number of parts of a tuple in Numba's words: ``int64, int64`` or ``int64 x 2``."""
    times = re.search(r" x (\d+)$", parts)
    return int(times[1]) if times else len(parts.split(", ")) if parts else 0
