"""Compiling the adapters between a game's functions and the kernels.

Numba compiles the functions with ``self`` replaced by a record of the attributes read (see
`rollwise.builders.compiled.reads`). The record is filled in at run time, so that other parameters
of the same game need no compiling. An adapter (see `rollwise.builders.compiled.adapter_source`),
written for the game's fields, becomes a function pointer.
"""

from __future__ import annotations

import enum
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import carray, types
from numba.core import cgutils
from numba.extending import (
    intrinsic,
    models,
    overload,
    overload_method,
    register_model,
)

from rollwise.builders.compiled.adapter_source import (
    expand_source,
    question_source,
    roots_source,
    writings,
)
from rollwise.builders.compiled.arithmetic import RulesCompiler
from rollwise.builders.compiled.cache_key import NotCompilable
from rollwise.builders.compiled.disk import OPTIONS, RulesCache, pointer_to
from rollwise.builders.compiled.listers import Freezer, Writing, renamed, rewritten, running
from rollwise.builders.compiled.python_words import STUBS, stub, word
from rollwise.builders.compiled.reads import (
    RATIO,
    Reads,
    Rows,
    Table,
    array_dtype,
    is_constant,
    made_of,
    record_source,
    signature_of,
)
from rollwise.builders.rules import Rules
from rollwise.graph.layout import LEAST, MOST, ThrowLayout
from rollwise.kernels.calls import EXPAND, QUESTION, ROOTS, RULES_FAILED
from rollwise.kernels.compiling import prefetch
from rollwise.machine.inner_code import inner_code
from rollwise.machine.kernel_cache import before_compiling

UNWRAPPED = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # for calls by adapters only
RULES_OPTIONS = {**OPTIONS, **UNWRAPPED, "pipeline_class": RulesCompiler}

# The index of each flag in a call, which consists of 64-bit integers.
_REAL_WEIGHTS, _REAL_THROWS = map(list(EXPAND.names or ()).index, ("real_weights", "real_throws"))


@intrinsic
def _pointer(typingctx: Any, address: Any) -> Any:
    """Convert an integer to an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(address), codegen


KINDS: list[tuple[Any, str]] = [
    (types.Boolean, "a truth value"),
    (types.Integer, "a whole number"),
    (types.Float, "a float"),
    ((types.UnicodeType, types.StringLiteral), "a text"),
    ((types.NoneType, types.Optional), "None in some cases"),
    (types.BaseTuple, "a tuple"),
    (types.Array, "an array"),
]


def _not_as_needed(what: str, kind: Any, needed: str) -> NotCompilable:
    """The error for a value of the wrong type, in words other than Numba's."""
    if str(kind).startswith("Ratio("):
        return NotCompilable(f"{what} is a fraction: {RATIO}")
    kind_text = next((text for one, text in KINDS if isinstance(kind, one)), "of another type")
    return NotCompilable(f"{what} is {kind_text}: write {needed}")


def _store(builder: Any, address: Any, place: Any, value: Any) -> None:
    """Write a 64-bit value at an index of the array at an address."""
    array = builder.inttoptr(address, value.type.as_pointer())
    builder.store(value, builder.gep(array, [place]))


@intrinsic
def _put_whole(typingctx: Any, address: Any, place: Any, number: Any) -> Any:
    """Write a whole number into an array of int64."""
    if not isinstance(number, types.Integer | types.Boolean):
        raise _not_as_needed("a field of a state or an action", number, "a whole number")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _store(builder, args[0], args[1], context.cast(builder, args[2], number, types.int64))
        return context.get_dummy_value()

    return types.void(address, place, number), codegen


class _MixedWeights(NotCompilable):
    """Some weights are whole numbers, and others are floats; they have to be floats throughout."""

    def __init__(self, flag: int) -> None:
        super().__init__("some weights are whole numbers, and others are floats")
        self.flag = flag


def _weight_putter(flag: int, all_real: bool) -> Any:
    """The intrinsic that writes the weights of a game: all whole numbers, or all floats.

    Parameters
    ----------
    flag : int
        The index of the flag in a call, set to 1 for floats.
    all_real : bool
        Write whole numbers as floats. Otherwise they are refused beside floats.
    """
    kinds = set()

    @intrinsic
    def put_weight(typingctx: Any, address: Any, place: Any, weight: Any, call: Any) -> Any:
        """Write a weight into an array. A float sets the flag in the call."""
        if not isinstance(weight, types.Integer | types.Boolean | types.Float):
            raise _not_as_needed("a weight", weight, "a number")
        real = all_real or isinstance(weight, types.Float)
        kinds.add(real)
        if len(kinds) > 1:
            raise _MixedWeights(flag)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = types.float64 if real else types.int64
            _store(builder, args[0], args[1], context.cast(builder, args[2], weight, kind))
            if real:
                one, slot = (context.get_constant(types.int64, number) for number in (1, flag))
                _store(builder, args[3], slot, one)
            return context.get_dummy_value()

        return types.void(address, place, weight, call), codegen

    return put_weight


_whole = stub("_whole", "number")


@overload(_whole)
def _whole_typed(number):  # type: ignore[no-untyped-def]
    if isinstance(number, types.Integer | types.Boolean):
        return lambda number: np.int64(number)
    raise _not_as_needed("a field of a state or an action", number, "a whole number")


_rolls = stub("_rolls", "number")


@overload(_rolls)
def _rolls_typed(number):  # type: ignore[no-untyped-def]
    if isinstance(number, types.Integer):
        return lambda number: np.int64(number)
    raise NotCompilable("throws() yields a pool: write `return dice.pool(...)`")


_part = stub("_part", "numbers, part, size")


@overload(_part)
def _part_typed(numbers, part, size):  # type: ignore[no-untyped-def]
    if isinstance(numbers, types.List):  # such as tuple(sorted(...))

        def part_of_list(numbers, part, size):  # type: ignore[no-untyped-def]
            if len(numbers) != size:
                raise IndexError("size")
            return _whole(numbers[part])

        return part_of_list
    if not isinstance(numbers, types.BaseTuple):
        raise _not_as_needed("the progress", numbers, "a tuple of whole numbers")
    places = range(len(numbers))
    asked = "".join(f" if part == {k}: return as_whole(numbers[{k}])\n" for k in places)
    return made_of(
        f"def as_part(numbers, part, size):\n{asked} raise IndexError('part')", as_whole=_whole
    )


_short = stub("_short", "number")


@overload(_short)
def _short_typed(number):  # type: ignore[no-untyped-def]
    if isinstance(number, types.Integer | types.Boolean):

        def as_short(number):  # type: ignore[no-untyped-def]
            if number < LEAST or number > MOST:
                raise OverflowError("a field doesn't fit 32 bits")
            return np.int32(number)

        return as_short
    raise _not_as_needed("a field of a state", number, "a whole number")


def _game_maker(values: dict[str, Any], methods: dict[str, Any]) -> Any:
    """The function that turns a tuple of `values` into the record that replaces ``self``."""
    values = values or {"nothing": 0}
    record = namedtuple("GameRecord", list(values))  # type: ignore[misc]
    field_types = tuple(map(numba_type, values.values()))

    class GameType(types.NamedTuple):  # type: ignore[misc]
        pass

    register_model(GameType)(models.TupleModel)
    game_type = GameType(field_types, record)
    for name, function in methods.items():
        overload_method(GameType, name, jit_options=RULES_OPTIONS)(_typing_twin(function))

    @intrinsic
    def as_game(typingctx: Any, items: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            given = iter(cgutils.unpack_tuple(builder, args[0]))
            # Constants become a part of the code. The other values come from the tuple, in their
            # order.
            items = [
                context.get_constant_generic(builder, kind, value)
                if is_constant(value)
                else next(given)
                for kind, value in zip(field_types, values.values(), strict=True)
            ]
            return context.make_tuple(builder, game_type, items)

        return game_type(items), codegen

    return as_game


def _typing_twin(function: Callable[..., Any]) -> Callable[..., Any]:
    """The typing function of `function` for Numba, with the same signature."""
    _, heads, defaults = signature_of(function)
    source = f"def typed({', '.join(heads)}): return function"
    return made_of(source, function=function, **defaults)  # type: ignore[no-any-return]


def scope_of(rules: Rules, reads: Reads) -> dict[str, Any]:
    """The names for the source of the adapters."""
    values = reads.values
    of_self = {f"self.{name}": function for name, function in reads.methods.items()}
    compiled = numba.njit(**RULES_OPTIONS)

    def named(name: str, value: Any) -> Any:
        found = word(name, value, rules.state_type, rules.start)
        return found if found in STUBS else compiled(renamed(found, reads.key.text))

    freezer = Freezer(reads.key.text, compiled, named, reads.of_state, reads.methods)
    functions = {**of_self, **reads.functions}
    copies = {name: freezer.function(function) for name, function in functions.items()}
    methods = {name: copies[f"self.{name}"] for name in reads.methods}
    scope: dict[str, Any] = {
        "carray": carray,
        "pointer": _pointer,
        "as_game": _game_maker(values, methods),
        "EXPAND": EXPAND,
        "ROOTS": ROOTS,
        "QUESTION": QUESTION,
        "as_whole": _whole,
        "as_rolls": _rolls,
        "as_part": _part,
        "prefetch": prefetch,
        "put_whole": _put_whole,
        "as_short": _short,
        "State": rules.state_type,
        "int64": np.int64,
        "int32": np.int32,
        "uint64": np.uint64,
        "float64": np.float64,
        **{name: compiled(copies[name]) for name in reads.functions},
        "record_source": record_source(values),
        "key": reads.key,
    }
    if rules.pool is not None and rules.throws is not None:
        ways, throws = zip(*rules.pool.throws, strict=True)
        scope["pool_ways"] = np.array(ways, np.int64)
        last = (0,) * rules.reads_rolls_left
        codes = [rules.throws.code(throw + last) for throw in throws]
        scope["pool_codes"] = np.array(codes, np.int64)
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            scope[f"dtype_{name}"] = array_dtype(value).type
    return scope


def compiled_adapter(name: str, rules: Rules, reads: Reads) -> Any:
    """Compile one of the adapters: ``expand``, ``list_roots``, or the adapter of a question."""
    scope = scope_of(rules, reads)
    if name == "expand":
        return compile_expand(rules, scope)
    if name == "list_roots":
        return compile_adapter(scope, roots_source(rules, scope), name)
    thrown, parts = "_thrown" in name, "_parts" in name
    return compile_adapter(scope, question_source(rules, scope, thrown=thrown, parts=parts), name)


def compile_expand(rules: Rules, scope: dict[str, Any]) -> Any:
    """The adapter that expands states. It uses listers from the rules' source if possible."""
    real: set[int] = set()  # flags of weights that are floats throughout
    while True:
        try:
            return _expand_with(rules, scope, real)
        except _MixedWeights as mixed:
            real.add(mixed.flag)


def _expand_with(rules: Rules, scope: dict[str, Any], real: set[int]) -> Any:
    ways = _writings(rules, scope, real)
    thrown = rules.has_throws + rules.reads_rolls_left
    sizes = {"throws": 2, "actions": 2 + thrown, "outcomes": 3 + thrown}
    runners = {name: running(scope[name], way, sizes[name]) for name, way in ways.items()}
    # The putters of weights note the types that they meet, so rewritten listers have their own.
    ways = _writings(rules, scope, real)
    own = {name: rewritten(scope[name].py_func, way, sizes[name]) for name, way in ways.items()}
    if not any(own.values()):
        return _compile_expand(rules, scope, runners)
    reason = None
    try:
        return _compile_expand(rules, scope, {name: own[name] or runners[name] for name in runners})
    except _MixedWeights:
        raise
    except NotCompilable as error:
        reason = error
    except Exception:  # of any kind: compiling the generators gives the reason
        pass
    try:
        return _compile_expand(rules, scope, runners)
    except NotCompilable:  # it names the line
        raise
    except Exception:
        if reason is None:
            raise
        raise reason from None


def _writings(rules: Rules, scope: dict[str, Any], real: set[int]) -> dict[str, Writing]:
    flags = {"put_weight": _REAL_WEIGHTS, "put_throw_weight": _REAL_THROWS}
    putters = {name: _weight_putter(flag, flag in real) for name, flag in flags.items()}
    scope = {**scope, **putters}
    if rules.throws is not None:
        scope["throw_code"] = _throw_coder(rules.throws)
    return writings(rules, scope)


def _throw_coder(layout: ThrowLayout) -> Any:
    """The function for the code of a throw: a whole number, a tuple, or an array."""
    size, bits = layout.size, layout.bits
    most = 1 << (bits - 1)
    mask = np.uint64((1 << bits) - 1)
    steps = tuple(np.uint64(k * bits) for k in range(layout.width))

    @numba.njit(**OPTIONS, **UNWRAPPED)
    def part(number, step):  # type: ignore[no-untyped-def]
        if number < -most or number >= most:
            raise OverflowError("a number of a throw doesn't fit")
        return (np.uint64(number) & mask) << step

    throw_code = stub("throw_code", "throw")

    @overload(throw_code, jit_options={**OPTIONS, **UNWRAPPED})
    def typed(throw):  # type: ignore[no-untyped-def]
        if size is None:
            if not isinstance(throw, types.Integer | types.Boolean):
                raise _not_as_needed("a throw", throw, "a whole number, as the first one is")
            return lambda throw: np.int64(part(throw, steps[0]))
        if isinstance(throw, types.List) or (isinstance(throw, types.Array) and throw.ndim == 1):
            if not isinstance(throw.dtype, types.Integer):
                raise _not_as_needed("a throw", throw, "an array of whole numbers")
        elif not isinstance(throw, types.UniTuple) or not isinstance(
            throw.dtype, types.Integer | types.Boolean
        ):
            raise _not_as_needed("a throw", throw, f"a tuple of {size} whole numbers")

        def coded(throw):  # type: ignore[no-untyped-def]
            if len(throw) != size:
                raise ValueError("a throw has another length than the first one")
            code = np.uint64(0)
            for k in range(size):
                code |= part(throw[k], steps[k])
            return np.int64(code)

        return coded

    return throw_code


def _compile_expand(rules: Rules, scope: dict[str, Any], listers: dict[str, Any]) -> Any:
    compiled = {}
    for name, lister in listers.items():
        lister.__qualname__ = f"list_{name}"
        compiled[f"list_{name}"] = numba.njit(**RULES_OPTIONS, forceinline=True)(
            renamed(lister, scope["key"].text)
        )
    return compile_adapter({**scope, **compiled}, expand_source(rules, scope), "expand")


def compile_adapter(scope: dict[str, Any], source: str, name: str) -> Any:
    """Compile the function ``walk`` of a source into a pointer; exceptions are caught.

    An earlier result of this machine is read from disk.
    """
    key = scope["key"]
    # Numba imports this module when it reads the adapter from disk, so it must be a light one.
    scope = {**scope, "__name__": RulesCache.__module__}
    exec(source, scope)
    scope["walk"] = numba.njit(**UNWRAPPED)(renamed(scope["walk"], key.text))
    exec(
        f"def {name}_{key.text}(address):\n"
        "    try:\n"
        "        return walk(address)\n"
        "    except Exception:\n"
        f"        return {RULES_FAILED}\n",
        scope,
    )
    pointer = pointer_to(scope[f"{name}_{key.text}"])
    if key.lasts:
        pointer._cache = RulesCache(f"{name}-{key.text}")
    else:
        before_compiling()
    with inner_code(f"{name}_{key.text}"):
        pointer.compile()
    return pointer


def numba_type(value: Any) -> Any:
    """The type of a value read from the game, in the form of `record_source`."""
    if isinstance(value, tuple | Table | Rows):
        return numba.typeof(value)
    if isinstance(value, enum.Enum):
        member = types.IntEnumMember if isinstance(value, int) else types.EnumMember
        return member(type(value), numba.typeof(value.value))
    if isinstance(value, str):
        return types.unicode_type
    if isinstance(value, np.ndarray):
        return types.Array(numba.from_dtype(array_dtype(value)), value.ndim, "C")
    if isinstance(value, bool | np.bool_):
        return types.boolean
    return types.float64 if isinstance(value, float | np.floating) else types.int64
