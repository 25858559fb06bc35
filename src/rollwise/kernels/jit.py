"""The one place where kernels are told how to compile.

Compiled code is cached on disk, so that only the first use on a machine waits
for it. ``fastmath`` stays off: certificates need every rounding to be the one
that IEEE 754 prescribes. Division by zero gives an infinity or a NaN, as in
NumPy; kernels that could meet one check first.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., object])

JIT_DISABLED: bool = bool(numba.config.DISABLE_JIT)


def kernel(function: Function) -> Function:
    """Compile a loop over arrays: cached, exact, and free of the interpreter's lock."""
    compiled: Function = numba.njit(cache=True, error_model="numpy", nogil=True)(function)
    return compiled


def never_compiled() -> bool:
    """Whether no kernel was ever compiled on this machine, so that the first will be now."""
    from rollwise.kernels import recursion

    if JIT_DISABLED:
        return False
    folder = Path(recursion.sweep.stats.cache_path)  # type: ignore[attr-defined]
    return not any(folder.glob("recursion.*.nbi"))
