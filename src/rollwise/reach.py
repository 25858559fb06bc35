"""The names that functions read, and the functions that they reach."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dis import get_instructions
from inspect import getattr_static
from types import CodeType, FunctionType, ModuleType
from typing import Any

from rollwise.faults import is_users


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of its inner functions."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from codes_in(part)


def names_in(code: CodeType) -> set[str]:
    """The globals and attributes named in a function and its inner functions."""
    return set().union(*(part.co_names for part in codes_in(code)))


def globals_read(function: FunctionType) -> dict[str, Any]:
    """The values of the globals named in a function."""
    scope = function.__globals__
    return {name: scope[name] for name in sorted(names_in(function.__code__)) if name in scope}


def closure_read(function: FunctionType) -> dict[str, Any]:
    """The values read by a function from enclosing functions."""
    read = {}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        with contextlib.suppress(ValueError):  # no value was assigned yet
            if name != "__class__":
                read[name] = cell.cell_contents
    return read


def built_in_read(function: FunctionType) -> set[str]:
    """The names that a function and its inner functions read and that its module doesn't define."""
    steps = [step for code in codes_in(function.__code__) for step in get_instructions(code)]
    names = {step.argval for step in steps if step.opname == "LOAD_GLOBAL"}
    return names - function.__globals__.keys()


def functions_reached(start: Iterable[Any], home: type) -> Iterator[FunctionType]:
    """Functions of users reached from some functions and classes through names.

    Parameters
    ----------
    start : iterable
        Functions, also decorated ones, and classes: all their methods.
    home : type
        The class of ``self``, whose methods are found by their names.
    """
    queue: list[Any] = list(start)
    visited: set[int] = set()
    for value in queue:
        if id(value) in visited:
            continue
        visited.add(id(value))
        if isinstance(value, type):
            # methods that every object has are called for the object, not for its fields
            parts = {name: part for one in value.__mro__[::-1] for name, part in vars(one).items()}
            queue += [part for name, part in parts.items() if name not in vars(object)]
        for wrapper in ("__wrapped__", "__func__", "fget", "func"):
            queue.append(getattr(value, wrapper, None))
        if not isinstance(value, FunctionType) or not _is_rule(value):
            continue
        yield value
        read = {**globals_read(value), **closure_read(value)}
        queue += read.values()
        names = names_in(value.__code__)
        for place in [home, *(one for one in read.values() if isinstance(one, ModuleType))]:
            # asking a module itself may import, or warn of a name like np.object
            queue += [getattr_static(place, name, None) for name in sorted(names)]


def attributes_given(functions: Iterable[FunctionType], module: str) -> set[str]:
    """The attributes given first to functions of a module: `open` in ``bits.has(s.open, 3)``."""
    found = set()
    for function in functions:
        scope = function.__globals__
        for code in codes_in(function.__code__):
            called: Any = None
            local = False  # a local variable was loaded for the call
            for step in get_instructions(code):
                name = step.argval if isinstance(step.argval, str) else ""
                if step.opname == "LOAD_GLOBAL":
                    called, local = scope.get(name), False
                elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(called, ModuleType):
                    called = getattr(called, name, None)
                elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                    if local and getattr(called, "__module__", None) == module:
                        found.add(name)
                    called = None
                elif step.opname.startswith(("LOAD_FAST", "LOAD_DEREF")):
                    called, local = None if local else called, True
                elif step.opname not in ("PUSH_NULL", "CACHE"):
                    called = None
    return found


def _is_rule(function: FunctionType) -> bool:
    """Whether users wrote a function, in a file or as a text; it is no function of NumPy."""
    file = function.__code__.co_filename
    in_numpy = (function.__module__ or "").partition(".")[0] == "numpy"
    return file.startswith("<") or (is_users(file) and not in_numpy)
