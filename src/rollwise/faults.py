"""Exceptions and values of users' code, as part of an error message of one line."""

from __future__ import annotations

import ast
import builtins
import difflib
import inspect
import re
import sys
import traceback
from collections import ChainMap
from contextlib import suppress
from functools import cache, reduce
from operator import index
from pathlib import Path
from types import GeneratorType

# Exceptions that aren't faults of users' code.
PASSED_ON = (KeyboardInterrupt, MemoryError)

LONGEST = 300
DEEPEST = 100
_WRONG_ARGUMENT = re.compile(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'$")
_WRONG_FIELD = re.compile(r"unexpected field names: \['(\w+)'")
# Advice for messages of Python about states, which rules tried to change.
_UNCHANGING = {
    "can't set attribute": "a state never changes: write the next one, giving every field",
    "'tuple' object does not support item assignment": (
        "replaced(numbers, place, number) of rollwise gives a changed copy"
    ),
}
_HOUSE = Path(__file__).parent
_SHEETS = _HOUSE / "games"


def one_line(text: str) -> str:
    """A text without line breaks, cut at a maximum length."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."


def shown(value: object) -> str:
    """The repr of a value in one line, or its type if the repr fails."""
    try:
        return one_line(repr(value))
    except PASSED_ON:
        raise
    except BaseException:
        return f"a {type(value).__name__} that can't be shown"


def whole(value: object) -> int:
    """A whole number of any type as Python's int.

    Raises
    ------
    TypeError
        The value isn't whole, or its conversion fails.
    """
    try:
        return index(value)  # type: ignore[arg-type]
    except PASSED_ON:
        raise
    except BaseException as error:
        raise TypeError from error


def fault_text(error: BaseException) -> str:
    """An exception and its line of code: ``ValueError: no such face (own.py, line 12)``."""
    try:
        message = one_line(str(error))
    except PASSED_ON:
        raise
    except BaseException:
        message = ""
    name = type(error).__name__
    line = fault_place(error)
    return f"{name}: {message}{_remedy(error)}{line}" if message else f"{name}{line}"


def _remedy(error: BaseException) -> str:
    """The nearest known name to a misspelled name or argument, or another remedy.

    An example is "; did you mean turn?".
    """
    if remedy := _UNCHANGING.get(str(error)):
        return f"; {remedy}"
    known: set[str] = set()
    wrong = getattr(error, "name", None)
    with suppress(Exception):  # `dir` may fail
        frames = [{**f.f_globals, **f.f_locals} for f, _ in traceback.walk_tb(error.__traceback__)]
        if isinstance(error, AttributeError):
            known.update(dir(error.obj))
        elif isinstance(error, NameError):
            if isinstance(wrong, str) and hasattr(frames[-1].get("self"), wrong):
                return f"; did you mean self.{wrong}?"
            known = {*frames[-1], *dir(builtins)}
        elif argument := _WRONG_ARGUMENT.search(str(error)):
            first, *attributes = argument[1].split(".")
            function = reduce(getattr, attributes, ChainMap(*reversed(frames))[first])
            known, wrong = set(inspect.signature(function).parameters), argument[2]
        elif field := _WRONG_FIELD.search(str(error)):  # of `_replace`
            known, wrong = set(frames[-1]["self"]._fields), field[1]
    spelled = {name.lower(): name for name in sorted(known) if not name.startswith("_")}
    near = difflib.get_close_matches(wrong.lower(), spelled, 1) if isinstance(wrong, str) else []
    return f"; did you mean {spelled[near[0]]}?" if near else ""


def fault_place(error: BaseException) -> str:
    """The last line of users' code in the traceback of an exception: `` (own.py, line 12)``.

    Of several files, the line is in the one called by rollwise.
    """
    frames = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if is_users(frame.f_code.co_filename)
    ]
    if not frames:
        return ""
    own = frames[0][0]
    line = [line for file, line in frames if file == own][-1]
    return f" ({Path(own).name}, line {line})"


def yielded_place(given: object, number: int) -> str:
    """The line of users' code with the yield of an item, as `fault_place` writes it; empty if none.

    Parameters
    ----------
    given : object
        The result of a rule, not yet iterated.
    number : int
        Index of the item, from 0.
    """
    try:
        if not isinstance(given, GeneratorType):
            return ""
        for _ in range(number + 1):
            next(given)
        frame, within = given.gi_frame, given.gi_yieldfrom
        while isinstance(within, GeneratorType) and is_users(within.gi_code.co_filename):
            frame, within = within.gi_frame, within.gi_yieldfrom
        assert frame is not None
        file = frame.f_code.co_filename
        return f" ({Path(file).name}, line {frame.f_lineno})" if is_users(file) else ""
    except PASSED_ON:
        raise
    except BaseException:  # it is asked again only to find the line
        return ""


def too_deep(tree: ast.AST) -> bool:
    """Whether an expression is nested too deeply for the stack.

    Parsing fills Python's stack, and evaluation fills the stack of Polars.
    """
    depth, level = 0, [tree]
    while level and depth <= DEEPEST:
        depth += 1
        level = [part for node in level for part in ast.iter_child_nodes(node)]
    return bool(level)


@cache
def is_users(file: str) -> bool:
    """Whether a file is users' code: not of this package (except rule sheets) and not generated.

    Files of Numba, which only reads the rules, and of Python itself aren't users' code either.
    """
    parents = Path(file).parents
    ours = _HOUSE in parents and (_SHEETS not in parents or file.endswith("__init__.py"))
    numba = getattr(sys.modules.get("numba"), "__file__", None)
    compiler = numba is not None and Path(numba).parent in parents
    python = Path(traceback.__file__).parent in parents and "site-packages" not in file
    return not (file.startswith("<") or ours or compiler or python)
