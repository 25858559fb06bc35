"""The decorators of kernels: the one place where they are told how to compile.

Compiled code is cached on disk (`rollwise.machine.kernel_cache`). ``fastmath`` stays off:
certificates need every rounding to be the one that IEEE 754 prescribes. Division by zero gives
an infinity or a NaN, as in NumPy; kernels that could meet one check first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core.registry import CPUDispatcher

from rollwise.machine.kernel_cache import JIT_DISABLED, keep_on_disk

Function = TypeVar("Function", bound=Callable[..., object])

# The type of an index in a kernel. Python counts negative indices from the end, so compiled code
# asks of every signed one whether it is negative. Interpreted code is fastest with Python's own.
index: Any = int if JIT_DISABLED else np.uint64
ONE = index(1)

OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}


def kernel(function: Function) -> Function:
    """Compile a loop over arrays: cached, exact, and free of the interpreter's lock."""
    compiled: Any = numba.njit(**OPTIONS)(function)
    keep_on_disk(compiled, function)
    return compiled  # type: ignore[no-any-return]


class _Inner(CPUDispatcher):  # type: ignore[misc]
    def __call__(self, *arguments: Any) -> Any:
        raise TypeError(f"{self.py_func.__name__} is an inner kernel: only kernels can call it")


def inner_kernel(function: Function) -> Function:
    """Compile a function that only kernels call.

    It is compiled sooner than a `kernel`, since nothing is needed that turns Python's
    objects into arrays and back.
    """
    if JIT_DISABLED:
        return function
    bare = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiled: Any = _Inner(function, targetoptions={**OPTIONS, **bare})
    keep_on_disk(compiled, function)
    return compiled  # type: ignore[no-any-return]
