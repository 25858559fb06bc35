"""Functions that only other compiled functions call are optimized in their callers, and not alone.

Numba optimizes every function by itself and writes its machine code, although a caller of it
contains a copy, which is optimized again. Compiling the rules of a game takes half of the
time without this (`rollwise.machine.switches` turns it off).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target

from rollwise.machine import switches

# Wrappers, for calls from Python, of Numba's own functions, which Python never calls.
NEVER_CALLED = ("_ZN7cpython5numba7cpython", "_ZN7cpython5numba2np")


class InnerCode(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function, for its callers; machine code only if its address is asked for."""

    _emitted = False

    def _optimize_final_module(self) -> None:
        if self._emitted:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self._emitted:
            super()._finalize_final_module()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function of this code; 0 if there is no such function.

        Numba asks for the wrapper of each function, for calls from Python.
        """
        self._ensure_finalized()
        if not self._emitted and not name.startswith(NEVER_CALLED) and self._defines(name):
            self._emitted = True
            self._optimize_final_module()
            self._finalize_final_module()
        return int(super().get_pointer_to_function(name))

    def _defines(self, name: str) -> bool:
        return any(function.name == name for function in self.get_defined_functions())

    @property
    def codegen(self) -> Any:
        """The compiler, or this if nothing was emitted: an environment has no address yet."""
        return self._codegen if self._emitted else self

    def set_env(self, name: str, environment: Any) -> None:
        """Leave out an environment: `inner_code` sets those of the whole."""


@contextlib.contextmanager
def inner_code(name: str) -> Iterator[None]:
    """Take functions compiled within this as inner code, except the function of this name."""
    if not switches.is_on("inner-code"):
        yield
        return
    compiler = cpu_target.target_context.codegen()
    whole: list[Any] = []

    def create_library(title: str, **options: Any) -> Any:
        if title != name:
            return InnerCode(compiler, title, **options)
        whole.append(JITCodeLibrary(compiler, title, **options))
        return whole[0]

    with global_compiler_lock:  # kernels of other threads are compiled before or after
        compiler.create_library = create_library
        try:
            yield
        finally:
            del compiler.create_library
        for variable in whole[0]._final_module.global_variables if whole else ():
            if environment := lookup_environment(variable.name):
                compiler.set_env(variable.name, environment)
