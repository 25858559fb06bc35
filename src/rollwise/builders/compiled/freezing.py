"""Copies of functions that read what their names stand for now.

Numba reads a function's globals once, when it compiles the function. Later changes of the globals
would be missed. So for each key (see `rollwise.builders.compiled.cache_key`) a game's functions
are copied, with all that they reach, and the copies are compiled.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
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
