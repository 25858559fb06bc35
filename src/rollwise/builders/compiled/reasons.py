"""Why Numba can't compile some rules, in a line that says what to write instead."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

from rollwise.faults import PASSED_ON, fault_text, is_users, one_line


class NotCompilable(Exception):
    """Numba can't compile these rules; the message says why, in a line."""


@contextlib.contextmanager
def reasons_told(functions: Iterable[Callable[..., Any]] = ()) -> Iterator[None]:
    """What Numba raises, as NotCompilable with the reason in a line.

    Parameters
    ----------
    functions : iterable of callables
        What is compiled: a place that Numba doesn't know is looked for in them.
    """
    try:
        yield
    except (*PASSED_ON, OSError):
        raise
    except Exception as error:
        from numba.core.errors import NumbaError

        if isinstance(error, NumbaError):
            raise NotCompilable(_reason(error, functions)) from error
        line = fault_text(error)  # Numba leaks plain exceptions for some sources
        raise NotCompilable(_with_remedy([line], line)) from error


COLOURS = re.compile(r"\x1b\[[\d;]*m")  # Numba writes in colours where Colorama is installed

# What Numba stumbles over most, and what to write instead: the first that fits.
REMEDIES = {
    "type of <class 'function'>": "mark a helper function with @rollwise.rule",
    "type of <class 'functools._lru_cache_wrapper'>": "leave the helper function uncached",
    "type of <class '(type|abc.ABCMeta)'>": (
        "objects of classes other than the state's can't be compiled: count in a NumPy array or "
        "in single variables"
    ),
    "type of <class '(dict|list|set|.*[dD]ict|.*Counter)'>": (
        "write a tuple or a NumPy array instead, looked up by a whole number"
    ),
    "Untyped global name|Cannot determine Numba type": (
        "rules may read numbers, tuples, NumPy arrays, and functions marked with @rollwise.rule"
    ),
    "Function\\(<class 'tuple'>\\)": (
        "change a tuple number by number in a loop: board = rollwise.replaced(board, place, number)"
    ),
    "heterogeneous enum": "give the members of an enumeration values of one type",
    "Unknown attribute '.*' of type Module": "Numba doesn't know it: write a loop instead",
    "Unknown attribute '.*' of type GameRecord": (
        "of self, rules may read numbers, texts, members of enumerations, NumPy arrays and "
        "methods; other constants are read as globals"
    ),
    "'_replace'": "write the state out, giving every field, instead of _replace()",
    "not enough arguments": "give every field of a state, also those with defaults",
    "missing a required argument": "give every field of a state, also those with defaults",
    "Can(not|'t) unify yield": (
        "all yields of a rule need the same parts, each of one type: (weight, then, next_state), "
        "also where play ends; adding 0 makes a truth value a number"
    ),
    "Can(not|'t) unify": "a value needs one type throughout; adding 0 makes a truth value a number",
    "yield in a closure": "write a loop instead of a generator expression",
    "YIELD_FROM": "yield in a loop instead of yield from something that isn't of one type",
    "<class 'float'>": "write 1.0 * x instead of float(x) where x is a truth value",
    "super": "call the parent's method by its class instead of super()",
}


def _with_remedy(lines: list[str], otherwise: str, where: str = "") -> str:
    """The line that has a remedy, with it; or another one."""
    for sign, remedy in REMEDIES.items():
        for line in lines:
            if re.search(sign, line):
                return f"{one_line(line).rstrip('.:')}{where}: {remedy}"
    return one_line(otherwise).rstrip(".:") + where


def _reason(error: Exception, functions: Iterable[Callable[..., Any]]) -> str:
    """What Numba stumbled over, and the remedy."""
    text = COLOURS.sub("", str(error))
    lines = [line.strip(" -") for line in text.splitlines() if line.strip(" -^")]
    noise = ("Failed in", "During", "File", "Resolution", "None", "There are", "<source")
    telling = [line for line in lines if not line.startswith(noise)] or lines or [repr(error)]
    places = re.findall(r'^File "([^<].*)", line (\d+)', "\n".join(lines), re.MULTILINE)
    if "yield in a closure" in text:  # Numba says where the function around it begins
        places = [place for f in functions for place in _generator_expressions(f.__code__)]
    places = [place for place in places if is_users(place[0])]
    where = f" ({Path(places[0][0]).name}, line {places[0][1]})" if places else ""
    return _with_remedy(lines, telling[0], where)


def _generator_expressions(code: CodeType) -> Iterator[tuple[str, str]]:
    """The places of the generator expressions in a function: file and line."""
    for part in code.co_consts:
        if isinstance(part, CodeType):
            if part.co_name == "<genexpr>":
                yield part.co_filename, str(part.co_firstlineno)
            yield from _generator_expressions(part)
