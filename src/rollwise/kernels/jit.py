"""The decorators of kernels: short work is interpreted by Python, longer work is compiled by Numba.

Importing Numba takes longer than Python needs to run the kernels of a small game, and compiling
them takes a hundred times as long. So a kernel is interpreted until the wait for its compiled code
is shorter: a second for compiling (`rollwise.kernels.compiling`), 10 ms for code on disk. Code on
disk is read if Numba is imported already, or if all kernels together have been
interpreted for as long as the import and the reading take. Interpreted and compiled code give the
same bits: neither reorders sums or fuses operations, and both round as IEEE 754 prescribes.
Division by zero gives an infinity or a NaN, as in NumPy; kernels that could meet one check first.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np

from rollwise.kernels.indices import ONE, index
from rollwise.machine import switches
from rollwise.machine.switches import jit_disabled

Function = TypeVar("Function", bound=Callable[..., object])

__all__ = ["ONE", "Kernel", "compile_all", "index", "inlined", "inner_kernel", "kernel"]

# The most numbers in the arrays of an interpreted kernel, and the most seconds of processor time
# spent on interpreting it, before it is compiled, and before it is read from disk.
SMALL, COMPILING = 100_000, 1.0
TINY, READING = 3_000, 0.01
IMPORTING = 0.5  # seconds of all kernels, before Numba is imported to read those on disk

INNER: list[Any] = []  # inner kernels not yet registered with Numba

_compiling = threading.Lock()  # another thread could use a kernel not yet registered
_thread = threading.local()
_interprets = switches.is_on("plain-kernels")
_spent_together = 0.0  # seconds of interpreting


def compile_all() -> None:
    """From now on, compile every called kernel."""
    global _interprets
    _interprets = False


def size_of(arguments: tuple[Any, ...]) -> int:
    """How many numbers there are in the arrays of some arguments, and of tuples among them."""
    size = 0
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            size += argument.size
        elif isinstance(argument, tuple):
            size += size_of(argument)
    return size


class Kernel:
    """A loop over arrays.

    Attributes
    ----------
    function : the loop in Python
    never_interpreted : bool
        For loops with long work on small arrays, and for callers of compiled rules.
    """

    def __init__(self, function: Callable[..., Any], never_interpreted: bool) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.never_interpreted = never_interpreted
        self._compiled: Any = None
        self._spent = 0.0  # seconds of interpreting
        self._on_disk: bool | None = None

    def __call__(self, *arguments: Any) -> Any:
        if getattr(_thread, "interprets", False):  # a call from an interpreted kernel
            return self.function(*arguments)
        if self._compiled is not None or not self._may_be_interpreted(arguments):
            return self.compiled(*arguments)
        started = time.thread_time()
        _thread.interprets = True
        try:
            with np.errstate(all="ignore"):  # as in compiled code
                return self.function(*arguments)
        finally:
            _thread.interprets = False
            self._took(time.thread_time() - started)

    def _took(self, seconds: float) -> None:
        global _spent_together
        self._spent += seconds
        _spent_together += seconds

    def _may_be_interpreted(self, arguments: tuple[Any, ...]) -> bool:
        if jit_disabled():
            return True
        if self.never_interpreted or not _interprets:
            return False
        size = size_of(arguments)
        if size <= TINY and self._spent <= READING:
            return True
        if size > SMALL or self._spent > COMPILING:
            return False
        # In between, compiling isn't worth the wait, but code on disk may be.
        near = "rollwise.kernels.compiling" in sys.modules or _spent_together > IMPORTING
        return not (near and self._is_on_disk(arguments))

    def _is_on_disk(self, arguments: tuple[Any, ...]) -> bool:
        """Whether code for arguments of these types was compiled before. Asked once."""
        if self._on_disk is None:
            from rollwise.machine.kernel_cache import is_compiled

            self._on_disk = is_compiled(self._dispatcher, *arguments)
        return self._on_disk

    @property
    def compiled(self) -> Any:
        """The loop as Numba compiles it."""
        if self._compiled is None:
            self._compiled = self._dispatcher
        return self._compiled

    @functools.cached_property
    def _dispatcher(self) -> Any:
        """The compiled loop; its first call reads or compiles it."""
        from rollwise.kernels.compiling import compile_inner, compiled_kernel

        with _compiling:
            compile_inner(INNER)
            return compiled_kernel(self.function)

    @property
    def _numba_type_(self) -> Any:
        """Its type in Numba, for calls from other kernels."""
        return self.compiled._numba_type_


@overload
def kernel(function: Function) -> Function: ...
@overload
def kernel(*, never_interpreted: bool) -> Callable[[Function], Function]: ...
def kernel(function: Any = None, *, never_interpreted: bool = False) -> Any:
    """Have a loop over arrays compiled if that saves time."""
    if function is None:
        return functools.partial(Kernel, never_interpreted=never_interpreted)
    return Kernel(function, never_interpreted)


def inner_kernel(function: Function) -> Function:
    """Have a function compiled for calls from kernels only.

    It is compiled sooner than a `kernel`, without conversions between Python's objects and
    arrays.
    """
    INNER.append(function)
    return function


def inlined(function: Function) -> Function:
    """Have an inner kernel become a part of each kernel that calls it.

    Passing many arrays takes longer than the work of a short one.
    """
    function.inlined = True  # type: ignore[attr-defined]
    return inner_kernel(function)
