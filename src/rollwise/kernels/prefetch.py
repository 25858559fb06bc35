"""Asking the processor for memory before it is needed.

Loops with random access prefetch: they ask for a cache line some rounds before they read it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rollwise.kernels.jit import inner_kernel
from rollwise.machine import switches
from rollwise.machine.kernel_cache import JIT_DISABLED


def _prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    """Ask for the line of memory that holds ``array[index]``; nothing else happens.

    The index has to lie in the array, which has one dimension.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_type, index_type = signature.args
        items = context.make_array(array_type)(context, builder, args[0])
        place = context.cast(builder, args[1], index_type, types.intp)
        address = cgutils.get_item_pointer2(
            context,
            builder,
            items.data,
            cgutils.unpack_tuple(builder, items.shape),
            cgutils.unpack_tuple(builder, items.strides),
            array_type.layout,
            [place],
        )
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        ask = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        )
        # to be read, kept close, data
        builder.call(ask, [builder.bitcast(address, byte), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, index), codegen


@inner_kernel
def _nothing(array: Any, index: Any) -> None:
    """Interpreted code has no use for it."""


on = switches.is_on("prefetch") and not JIT_DISABLED
prefetch = intrinsic(_prefetch) if on else _nothing
