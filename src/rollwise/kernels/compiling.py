"""Compilation of kernels by Numba. Importing this module imports Numba.

Compiled code is cached on disk (`rollwise.machine.kernel_cache`). ``fastmath`` stays off:
certificates need every rounding as prescribed by IEEE 754.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import CPUDispatcher
from numba.extending import lower_builtin, type_callable, typeof_impl

from rollwise.kernels.indices import Index, prefetch
from rollwise.machine import memory_limits, switches
from rollwise.machine.kernel_cache import keep_on_disk

__all__ = ["compile_inner", "compiled_kernel", "prefetch"]

OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}
BARE = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

memory_limits.keep_freed_memory()  # large games use compiled code


def compiled_kernel(function: Callable[..., object]) -> Any:
    """A loop over arrays: compiled, cached, exact, and free of the interpreter's lock."""
    compiled = numba.njit(**OPTIONS)(function)
    keep_on_disk(compiled, function)
    return compiled


def compile_inner(functions: list[Any]) -> None:
    """Register the inner kernels with Numba, and empty the list of them."""
    while functions:
        function = functions.pop()
        inlined = {"forceinline": hasattr(function, "inlined")}
        compiled = CPUDispatcher(function, targetoptions={**OPTIONS, **BARE, **inlined})
        keep_on_disk(compiled, function)
        function.compiled = compiled  # Numba's type doesn't keep it alive
        function._numba_type_ = types.Dispatcher(compiled)


@typeof_impl.register(Index)
def _type_of_index(value: Index, context: Any) -> Any:
    return types.uint64


@type_callable(Index)
def _type_index(context: Any) -> Any:
    def typer(number: Any) -> Any:
        return types.uint64 if isinstance(number, types.Integer) else None

    return typer


@lower_builtin(Index, types.Integer)
def _index(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return context.cast(builder, arguments[0], signature.args[0], types.uint64)


@type_callable(prefetch)
def _type_prefetch(context: Any) -> Any:
    def typer(array: Any, index: Any) -> Any:
        return types.void

    return typer


@lower_builtin(prefetch, types.Array, types.Integer)
def _prefetch(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    if switches.is_on("prefetch"):
        array_type, index_type = signature.args
        items = context.make_array(array_type)(context, builder, arguments[0])
        first = context.get_constant(types.intp, 0)  # of the numbers of a row
        place = [context.cast(builder, arguments[1], index_type, types.intp)]
        address = cgutils.get_item_pointer2(
            context,
            builder,
            items.data,
            cgutils.unpack_tuple(builder, items.shape),
            cgutils.unpack_tuple(builder, items.strides),
            array_type.layout,
            place + [first] * (array_type.ndim - 1),
        )
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        ask = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        )
        # to be read, kept close, data
        builder.call(ask, [builder.bitcast(address, byte), number(0), number(3), number(1)])
    return context.get_dummy_value()
