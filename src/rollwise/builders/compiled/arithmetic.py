"""Arithmetic in compiled rules: results agree with Python's or an exception is raised.

A whole number has any size in Python and 64 bits in compiled code, where it wraps. ``2 ** -1`` is
0.5 in Python and 0 in compiled code. NumPy's small integers stay small in Python and are widened in
compiled code. There an integer combined or compared with a float is rounded to a float. After type
inference, a pass of the compiler therefore replaces the operations that could differ by checked
ones. They raise OverflowError, and the builders then ask the interpreted rules (see
`rollwise.builders.compiled.explorer`). ``~`` of a truth value always differs and is rejected. A
pass before type inference rejects variables that may have no value, for which Python raises an
error but compiled code does not. It also rejects inner functions that Numba would compile without
these passes.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numba import types
from numba.core import ir, ir_utils
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.typed_passes import NopythonTypeInference
from numba.core.untyped_passes import RewriteDynamicRaises
from numba.extending import intrinsic

from rollwise.builders.compiled.cache_key import NotCompilable
from rollwise.builders.compiled.reasons import in_line

LEAST, MOST = -(2**63), 2**63 - 1
EXACT = 2**53  # whole numbers up to this are floats without rounding


def _range(one: Any, other: Any) -> tuple[int, int]:
    """The range of results of an operation on two integers in Python or NumPy.

    A small NumPy integer and a Python integer give a small one. Integers of 64 bits count as
    Python's.
    """
    small = [kind for kind in (one, other) if kind.bitwidth < 64]
    if not small:
        return LEAST, MOST
    kinds = [np.dtype(kind.name) for kind in small]
    limits = np.iinfo(np.result_type(*kinds))
    return int(limits.min), int(limits.max)


def _refuse(builder: Any, context: Any, fault: Any, message: str) -> None:
    """Raise an exception if `fault` is true."""
    with builder.if_then(fault, likely=False):
        context.call_conv.return_user_exc(builder, OverflowError, (message,))


def _checked_by_llvm(name: str) -> Any:
    """The checked sum, difference or product of two integers."""

    def typed(typingctx: Any, a: Any, b: Any) -> Any:
        low, high = _range(a, b)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            one, other = (
                context.cast(builder, value, kind, types.int64)
                for value, kind in zip(args, signature.args, strict=True)
            )
            pair = getattr(builder, f"s{name}_with_overflow")(one, other)
            number, fault = (builder.extract_value(pair, k) for k in range(2))
            if low > LEAST:
                bounds = [context.get_constant(types.int64, bound) for bound in (low, high)]
                for sign, bound in zip("<>", bounds, strict=True):
                    beyond = builder.icmp_signed(sign, number, bound)
                    fault = builder.or_(fault, beyond)
            _refuse(builder, context, fault, "a whole number beyond 64 bits")
            return number

        return types.int64(a, b), codegen

    return intrinsic(typed)


def _checked_by_function(function: Any, result: Any, operand: Any = types.int64) -> Any:
    """A checked operation, defined by a function of two numbers."""

    def typed(typingctx: Any, a: Any, b: Any) -> Any:
        low, high = _range(a, b) if operand is types.int64 else (LEAST, MOST)
        inner = result(operand, operand)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pair = [
                context.cast(builder, value, kind, operand)
                for value, kind in zip(args, signature.args, strict=True)
            ]
            number = context.compile_internal(builder, function, inner, pair)
            if low > LEAST:
                for sign, bound in zip("<>", (low, high), strict=True):
                    beyond = builder.icmp_signed(
                        sign, number, context.get_constant(types.int64, bound)
                    )
                    _refuse(builder, context, beyond, "a small whole number of NumPy's grows")
            return number

        return result(a, b), codegen

    return intrinsic(typed)


def _power(base, exponent):  # type: ignore[no-untyped-def]
    if exponent < 0:
        raise OverflowError("a power with a negative exponent isn't a whole number")
    if base == 0 or base == 1:
        return 1 if exponent == 0 else base
    if base == -1:
        return -1 if exponent % 2 else 1
    # The absolute base is at least 2, so there are at most 63 rounds before the exception.
    power = 1
    for _ in range(exponent):
        if abs(power) > MOST // abs(base):
            raise OverflowError("a whole number beyond 64 bits")
        power *= base
    return power


def _left(number, places):  # type: ignore[no-untyped-def]
    if places < 0:
        raise ValueError("negative shift count")
    if number == 0:
        return 0
    if places > 62 or abs(number) > MOST >> places:
        raise OverflowError("a whole number beyond 64 bits")
    return number << places


def _right(number, places):  # type: ignore[no-untyped-def]
    if places < 0:
        raise ValueError("negative shift count")
    return number >> min(places, 63)


def _quotient(number, divisor):  # type: ignore[no-untyped-def]
    if max(abs(number), abs(divisor)) >= EXACT:
        raise OverflowError("a quotient of whole numbers that no float holds")
    return number / divisor


def _real_power(base, exponent):  # type: ignore[no-untyped-def]
    if base == 0.0 and exponent < 0.0:
        raise ZeroDivisionError("0.0 cannot be raised to a negative power")
    if base < 0.0 and exponent != math.floor(exponent):
        raise OverflowError("a complex number")
    power = math.pow(base, exponent)
    if np.isinf(power) and not np.isinf(base) and not np.isinf(exponent):
        raise OverflowError("a float beyond the largest one")
    return power


def _comparison(function: Any, whole: int) -> Any:
    """A comparison of an integer and a float. `whole` is the index of the integer."""

    def compare(a, b):  # type: ignore[no-untyped-def]
        if abs(b if whole else a) >= EXACT:
            raise OverflowError("a whole number that no float may hold")
        return function(a, b)

    def typed(typingctx: Any, a: Any, b: Any) -> Any:
        inner = types.boolean(types.float64, types.float64)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pair = [
                context.cast(builder, value, kind, types.float64)
                for value, kind in zip(args, signature.args, strict=True)
            ]
            return context.compile_internal(builder, compare, inner, pair)

        return types.boolean(a, b), codegen

    return intrinsic(typed)


@intrinsic
def _exact_in_floats(typingctx: Any, number: Any) -> Any:
    """Return an integer that will become a float; raise an error beyond 53 bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = context.cast(builder, args[0], signature.args[0], types.int64)
        low, high = (context.get_constant(types.int64, end) for end in (-EXACT, EXACT))
        fault = builder.or_(
            builder.icmp_signed("<", number, low), builder.icmp_signed(">", number, high)
        )
        _refuse(builder, context, fault, "a whole number that no float may hold")
        return args[0]

    return number(number), codegen


@intrinsic
def _whole_float(typingctx: Any, number: Any) -> Any:
    """Return a float that will become an integer; raise an error beyond 64 bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = context.cast(builder, args[0], signature.args[0], types.float64)
        low, high = (context.get_constant(types.float64, end) for end in (-(2.0**63), 2.0**63))
        inside = builder.and_(
            builder.fcmp_ordered(">=", number, low), builder.fcmp_ordered("<", number, high)
        )
        _refuse(builder, context, builder.not_(inside), "a whole number beyond 64 bits")
        return args[0]

    return number(number), codegen


WHOLE = {
    operator.add: _checked_by_llvm("add"),
    operator.sub: _checked_by_llvm("sub"),
    operator.mul: _checked_by_llvm("mul"),
    operator.pow: _checked_by_function(_power, types.int64),
    operator.lshift: _checked_by_function(_left, types.int64),
    operator.rshift: _checked_by_function(_right, types.int64),
    operator.truediv: _checked_by_function(_quotient, types.float64),
}
REAL = {operator.pow: _checked_by_function(_real_power, types.float64, types.float64)}
MIXED = {
    function: tuple(_comparison(function, whole) for whole in (0, 1))
    for function in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
}

# Functions that convert a float to an integer.
ROUNDING = (
    ("int", "builtins"),
    ("round", "builtins"),
    ("floor", "math"),
    ("ceil", "math"),
    ("trunc", "math"),
)


@register_pass(mutates_CFG=False, analysis_only=False)
class _CheckArithmetic(FunctionPass):  # type: ignore[misc]
    """Replaces operations by checked ones."""

    _name = "rollwise_check_arithmetic"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        for block in state.func_ir.blocks.values():
            body: list[Any] = []
            for statement in block.body:
                if isinstance(statement, ir.Assign):
                    checking = _Checking(state, block, statement.loc, body)
                    if isinstance(statement.value, ir.Expr):
                        checking.check(statement)
                    checking.check_floats(statement)
                body.append(statement)
            block.body = body
        return True


class _Checking:
    """Rewrites one statement. Statements needed before it are appended to `body`."""

    def __init__(self, state: Any, block: Any, loc: Any, body: list[Any]) -> None:
        self._state, self._block, self._loc, self._body = state, block, loc, body

    def check(self, statement: Any) -> None:
        state, expr = self._state, statement.value
        name = self._name(expr)
        function, pair = None, []
        if expr.op in ("binop", "inplace_binop"):
            function = expr.fn if expr.op == "binop" else expr.immutable_fn
            pair = [expr.lhs, expr.rhs]
        elif name == ("pow", "builtins") and len(expr.args) == 2:
            function, pair = operator.pow, expr.args
        if pair:
            taken = map(types.unliteral, state.calltypes[expr].args)
            kinds = [self._kind(variable, kind) for variable, kind in zip(pair, taken, strict=True)]
            if kinds.count(types.uint64) == 1 and all(isinstance(k, types.Integer) for k in kinds):
                raise NotCompilable(  # Numba converts them to floats
                    f"a whole number beyond 64 bits{in_line(expr.loc)}: keep numbers below 2 ** 63"
                )
            checked = _checked(function, *kinds)
            if checked is not None:
                statement.value = self._call(checked, pair, kinds)
                del state.calltypes[expr]
        elif name in ROUNDING and len(expr.args) == 1:
            kind = state.typemap[expr.args[0].name]
            if isinstance(kind, types.Float):
                expr.args = [self._checked_value(_whole_float, expr.args[0])]
        elif name in (("min", "builtins"), ("max", "builtins")):
            kinds = [state.typemap[variable.name] for variable in expr.args]
            if any(isinstance(kind, types.Float) for kind in kinds):
                expr.args = [
                    self._checked_value(_exact_in_floats, variable)
                    if isinstance(kind, types.Integer)
                    else variable
                    for variable, kind in zip(expr.args, kinds, strict=True)
                ]
        elif expr.op == "unary" and expr.fn is operator.invert:
            self._refuse_truth_value(expr)

    def check_floats(self, statement: Any) -> None:
        """Check an integer assigned to a float variable, directly or on one of two branches."""
        state, value = self._state, statement.value
        kind = state.typemap[statement.target.name]
        if not isinstance(kind, types.Float):
            return
        if isinstance(value, ir.Var) and self._is_whole(value):
            statement.value = self._checked_value(_exact_in_floats, value)
        elif isinstance(value, ir.Expr) and value.op == "cast" and self._is_whole(value.value):
            value.value = self._checked_value(_exact_in_floats, value.value)
        elif isinstance(value, ir.Expr) and value.op == "phi":
            for k, (one, label) in enumerate(
                zip(value.incoming_values, value.incoming_blocks, strict=True)
            ):
                if isinstance(one, ir.Var) and self._is_whole(one):
                    value.incoming_values[k] = self._checked_at_end(
                        state.func_ir.blocks[label], one
                    )

    def _is_whole(self, variable: Any) -> bool:
        return isinstance(types.unliteral(self._state.typemap[variable.name]), types.Integer)

    def _checked_at_end(self, block: Any, variable: Any) -> Any:
        """The checked value of a variable at the end of a block."""
        before: list[Any] = []
        found = _Checking(self._state, block, self._loc, before)._checked_value(
            _exact_in_floats, variable
        )
        # The last statement is the jump to the next block.
        block.body[-1:-1] = before
        return found

    def _refuse_truth_value(self, expr: Any) -> None:
        if isinstance(types.unliteral(self._state.typemap[expr.value.name]), types.Boolean):
            raise NotCompilable(
                f"~ of a truth value{in_line(expr.loc)} is -1 or -2 in Python: write not, or add "
                "0 to make it a number"
            )

    def _checked_value(self, function: Any, variable: Any) -> Any:
        """A new variable with the value of another one, checked by an intrinsic."""
        kind = types.unliteral(self._state.typemap[variable.name])
        return self._variable(self._call(function, [variable], (kind,)), kind)

    def _kind(self, variable: Any, taken: Any) -> Any:
        """The type of an operand, which an operation may convert to the wider type `taken`."""
        own = types.unliteral(self._state.typemap[variable.name])
        source = ir_utils.guard(ir_utils.get_definition, self._state.func_ir, variable)
        if not isinstance(own, types.Integer) or self._name(source) == ("int", "builtins"):
            return taken  # the result of int() has Python's unlimited size
        return own

    def _name(self, expr: Any) -> Any:
        """The name and the module of the called function of an expression, or None."""
        state = self._state
        return ir_utils.guard(ir_utils.find_callname, state.func_ir, expr, state.typemap)

    def _variable(self, value: Any, kind: Any) -> Any:
        """A new variable with a type and a value."""
        variable = ir.Var(self._block.scope, ir_utils.mk_unique_var("$checked"), self._loc)
        self._state.typemap[variable.name] = kind
        self._body.append(ir.Assign(value, variable, self._loc))
        return variable

    def _call(self, function: Any, args: Any, kinds: Any) -> Any:
        """A call of an intrinsic, with the types of its arguments."""
        kind = self._state.typingctx.resolve_value_type(function)
        named = self._variable(ir.Global(function.__name__, function, self._loc), kind)
        call = ir.Expr.call(named, args, (), self._loc)
        self._state.calltypes[call] = kind.get_call_type(self._state.typingctx, tuple(kinds), {})
        return call


def _checked(function: Any, *kinds: Any) -> Any:
    """The checked operation for a function of two types, or None."""
    if all(isinstance(kind, types.Integer) for kind in kinds):
        return None if types.uint64 in kinds else WHOLE.get(function)
    if all(isinstance(kind, types.Integer | types.Float | types.Boolean) for kind in kinds):
        whole = [isinstance(kind, types.Integer) for kind in kinds]
        if function in MIXED and any(whole):
            return MIXED[function][whole.index(True)] if kinds.count(types.boolean) == 0 else None
        return REAL.get(function)
    return None


@register_pass(mutates_CFG=False, analysis_only=True)
class _RefuseUnset(FunctionPass):  # type: ignore[misc]
    """Rejects variables that may have no value, and inner functions that were not inlined."""

    _name = "rollwise_refuse_unset"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        blocks = state.func_ir.blocks
        for block in blocks.values():
            for statement in block.find_insts(ir.Assign):
                if isinstance(statement.value, ir.Expr) and statement.value.op == "make_function":
                    raise NotCompilable(
                        f"an inner function{in_line(statement.loc)} is handed on: write it outside "
                        "of the rule"
                    )
        _require_values(blocks)
        return False


def _require_values(blocks: dict[int, Any]) -> None:
    """Require a value of each variable on all paths to its use.

    Raises
    ------
    NotCompilable
    """
    graph = compute_cfg_from_blocks(blocks)
    order = [label for label in graph.topo_order() if label in blocks]
    given = {label: {s.target.name for s in blocks[label].find_insts(ir.Assign)} for label in order}
    everything = frozenset().union(*given.values())
    # The variables with a value at the start of each block, on all paths: too many at first.
    before = dict.fromkeys(order, everything)
    before[order[0]] = frozenset()
    changed = True
    while changed:  # until the sets of variables no longer shrink
        changed = False
        for label in order[1:]:
            ways = [before[way] | given[way] for way, _ in graph.predecessors(label)]
            assigned = frozenset.intersection(*ways) & before[label]
            changed |= assigned != before[label]
            before[label] = assigned
    for label in order:
        known = set(before[label])
        for statement in blocks[label].body:
            for variable in _variables_read(statement):
                if variable.name in everything and variable.name not in known:
                    raise NotCompilable(
                        f"the variable {variable.unversioned_name!r} may have no "
                        f"value{in_line(statement.loc)}: give it one before the branch or the "
                        "loop that sets it"
                    )
            if isinstance(statement, ir.Assign):
                known.add(statement.target.name)


def _variables_read(statement: Any) -> list[Any]:
    if not isinstance(statement, ir.Assign):
        return list(statement.list_vars())
    value = statement.value
    return [value] if isinstance(value, ir.Var) else list(getattr(value, "list_vars", list)())


class RulesCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler with checked arithmetic."""

    def define_pipelines(self) -> list[Any]:
        """One pipeline: Numba's own with two more passes."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_RefuseUnset, RewriteDynamicRaises)
        passes.add_pass_after(_CheckArithmetic, NopythonTypeInference)
        passes.finalize()
        return [passes]
