"""Rules into one function pointer that the exploring kernel can call.

The methods of a game are compiled by Numba with ``self`` replaced by a record of
what they read from it (its parameters, other plain attributes and arrays), which
is filled in at run time: other parameters of the same game need no compiling.
A small adapter, written out for the game's fields, walks over actions and
outcomes and puts them into the buffers of `rollwise.kernels.explore`.
"""

from __future__ import annotations

import inspect
import types as python_types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import carray, types
from numba.core import cgutils
from numba.core.errors import NumbaError, TypingError
from numba.extending import (
    intrinsic,
    models,
    overload,
    overload_method,
    register_jitable,
    register_model,
)

from rollwise.builders.rules import Rules
from rollwise.game import Game, marked_rules
from rollwise.kernels import explore

OPTIONS = {"boundscheck": True}


class NotCompilable(Exception):
    """Numba can't compile these rules; the message says why, in a line."""


@intrinsic
def _pointer(typingctx: Any, address: Any) -> Any:
    """An integer as the address that it is."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(address), codegen


def _put_weight(whole: Any, real: Any, context: Any, n: int, weight: Any) -> None:
    raise NotImplementedError


@overload(_put_weight)
def _put_weight_typed(whole, real, context, n, weight):  # type: ignore[no-untyped-def]
    slot = explore.CONTEXT_REAL_WEIGHTS
    if isinstance(weight, types.Integer | types.Boolean):

        def put(whole, real, context, n, weight):  # type: ignore[no-untyped-def]
            whole[n] = weight

        return put
    if isinstance(weight, types.Float):

        def put_real(whole, real, context, n, weight):  # type: ignore[no-untyped-def]
            real[n] = weight
            context[slot] = 1

        return put_real
    raise TypingError(f"a weight is a {weight}, not a number")


def _whole(number: Any) -> int:
    raise NotImplementedError


@overload(_whole)
def _whole_typed(number):  # type: ignore[no-untyped-def]
    if isinstance(number, types.Integer | types.Boolean):
        return lambda number: np.int64(number)
    raise TypingError(f"a field of a state or an action is a {number}, not a whole number")


@dataclass
class CompiledRules:
    """A game's rules as a function pointer, with the record of what they read.

    Attributes
    ----------
    expand : compiled function int64(int64)
    attributes : names of what the rules read from ``self``, in the record's order
    """

    expand: Any
    attributes: tuple[str, ...]
    _record: list[np.ndarray] = field(default_factory=list)

    def record(self, game: Game) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """What the rules read of this game, as the adapter expects it.

        Returns
        -------
        whole : int64 array
            Whole numbers; for an array its address and its shape.
        real : float64 array
        alive : arrays whose addresses are in `whole`; keep them while it is used
        """
        whole: list[int] = []
        real: list[float] = []
        alive: list[np.ndarray] = []
        for name in self.attributes:
            value = getattr(game, name)
            if isinstance(value, np.ndarray):
                value = np.ascontiguousarray(value, _array_dtype(value))
                alive.append(value)
                whole += [value.ctypes.data, *value.shape]
            elif isinstance(value, float | np.floating):
                real.append(float(value))
            else:
                whole.append(int(value))
        return np.array(whole or [0], np.int64), np.array(real or [0.0]), alive


_COMPILED: dict[Any, CompiledRules] = {}
_JITABLE: set[Callable[..., Any]] = set()


def _names_read(code: python_types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, python_types.CodeType):
            names |= _names_read(constant)
    return names


def _what_rules_read(rules: Rules) -> tuple[dict[str, Any], dict[str, Any]]:
    """Attributes and further methods that the rules reach through ``self``."""
    game = rules.game
    pending = [type(game).actions, type(game).outcomes]
    if rules.has_reward:
        pending.append(type(game).reward)
    values: dict[str, Any] = {}
    methods: dict[str, Any] = {}
    while pending:
        function = pending.pop()
        for name in sorted(_names_read(function.__code__)):
            value = getattr(game, name, None)
            if isinstance(value, int | float | np.integer | np.floating | np.ndarray | np.bool_):
                values[name] = value
            elif isinstance(value, python_types.MethodType) and name not in methods:
                methods[name] = value.__func__
                pending.append(value.__func__)
    return dict(sorted(values.items())), methods


def _array_dtype(array: np.ndarray) -> np.dtype[Any]:
    """The type that rules see an array in: short whole numbers are widened to 64 bits.

    To Numba a state with a field of 32 bits isn't of the type of one with 64.
    """
    short = array.dtype.kind in "iu" and array.dtype.itemsize < 8
    return np.dtype(np.int64) if short else array.dtype


def _numba_type(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return types.Array(numba.from_dtype(_array_dtype(value)), value.ndim, "C")
    if isinstance(value, bool | np.bool_):
        return types.boolean
    return types.float64 if isinstance(value, float | np.floating) else types.int64


def compiled_rules(rules: Rules) -> CompiledRules:
    """Compile the rules of a game, or find them compiled earlier in this process.

    Raises
    ------
    NotCompilable
        With the reason, in a line, and what to change.
    """
    values, methods = _what_rules_read(rules)
    kinds = tuple((name, str(_numba_type(value))) for name, value in values.items())
    key = (type(rules.game), rules.state_type, kinds)
    if key not in _COMPILED:
        for function in marked_rules():
            if function not in _JITABLE:
                register_jitable(**OPTIONS)(function)
                _JITABLE.add(function)
        try:
            expand = _compile(rules, values, methods)
        except NumbaError as error:
            raise NotCompilable(_reason(error)) from error
        except Exception as error:  # Numba leaks plain exceptions for some sources
            raise NotCompilable(f"{type(error).__name__}: {error}".splitlines()[0]) from error
        _COMPILED[key] = CompiledRules(expand, tuple(values))
    return _COMPILED[key]


def is_compiled(rules: Rules) -> bool:
    """Whether this process has compiled these rules already."""
    values, _ = _what_rules_read(rules)
    kinds = tuple((name, str(_numba_type(value))) for name, value in values.items())
    return (type(rules.game), rules.state_type, kinds) in _COMPILED


def _game_type(values: dict[str, Any], methods: dict[str, Any]) -> tuple[Any, Any]:
    """The record that stands for ``self``: its Numba type, and how to make one."""
    record = NamedTuple("GameRecord", [(name, Any) for name in values])  # type: ignore[misc]
    if not values:
        record = NamedTuple("GameRecord", [("nothing", Any)])
    field_types = tuple(_numba_type(value) for value in values.values()) or (types.int64,)

    class GameType(types.NamedTuple):  # type: ignore[misc]
        pass

    register_model(GameType)(models.TupleModel)
    game_type = GameType(field_types, record)
    for name, function in methods.items():
        overload_method(GameType, name, jit_options=OPTIONS)(_typing_twin(function))

    @intrinsic
    def as_game(typingctx: Any, items: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            values = cgutils.unpack_tuple(builder, args[0])
            return context.make_tuple(builder, game_type, values)

        return game_type(items), codegen

    return game_type, as_game


def _typing_twin(function: Callable[..., Any]) -> Callable[..., Any]:
    """What Numba calls with types to get `function`: it wants the same signature.

    Annotations count as part of a signature there, so both go without.
    """
    bare = python_types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    parameters = inspect.signature(bare).parameters.values()
    arguments = ", ".join(
        p.name if p.default is p.empty else f"{p.name}=default_{p.name}" for p in parameters
    )
    scope: dict[str, Any] = {f"default_{p.name}": p.default for p in parameters}
    scope["function"] = bare
    exec(f"def typed({arguments}): return function", scope)
    return scope["typed"]  # type: ignore[no-any-return]


def _adapter_source(rules: Rules, values: dict[str, Any]) -> str:
    """The adapter for one game, as Python source."""
    whole = real = 0
    items = []
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            shape = "".join(f"whole[{whole + 1 + k}], " for k in range(value.ndim))
            items.append(f"carray(pointer(whole[{whole}]), ({shape}), dtype_{name})")
            whole += 1 + value.ndim
        elif isinstance(value, float | np.floating):
            items.append(f"real[{real}]")
            real += 1
        elif isinstance(value, bool | np.bool_):
            items.append(f"whole[{whole}] != 0")
            whole += 1
        else:
            items.append(f"whole[{whole}]")
            whole += 1
    if not items:
        items = ["whole[0]"]
        whole = 1
    n_fields = len(rules.field_names)
    state = ", ".join(f"int64(fields[{k}])" for k in range(n_fields))
    puts = "\n                ".join(
        f"next_states[n, {k}] = as_whole(then_state.{name})"
        for k, name in enumerate(rules.field_names)
    )
    reward = "reward(game, s, action)" if rules.has_reward else "0.0"
    return f"""
def walk(address):
    context = carray(pointer(address), ({explore.CONTEXT_SLOTS},), int64)
    fields = carray(pointer(context[{explore.CONTEXT_STATE}]), ({n_fields},), int32)
    whole = carray(pointer(context[{explore.CONTEXT_INTS}]), ({max(whole, 1)},), int64)
    real = carray(pointer(context[{explore.CONTEXT_REALS}]), ({max(real, 1)},), float64)
    most_actions = context[{explore.CONTEXT_MOST_ACTIONS}]
    most = context[{explore.CONTEXT_MOST_OUTCOMES}]
    labels = carray(pointer(context[{explore.CONTEXT_ACTION}]), (most_actions,), int64)
    rewards = carray(pointer(context[{explore.CONTEXT_REWARD}]), (most_actions,), float64)
    ends = carray(pointer(context[{explore.CONTEXT_ACTION_END}]), (most_actions,), int64)
    weights = carray(pointer(context[{explore.CONTEXT_WEIGHT}]), (most,), int64)
    real_weights = carray(pointer(context[{explore.CONTEXT_WEIGHT}]), (most,), float64)
    thens = carray(pointer(context[{explore.CONTEXT_THEN}]), (most,), int64)
    next_states = carray(pointer(context[{explore.CONTEXT_NEXT}]), (most, {n_fields}), int64)
    game = as_game(({", ".join(items)},))
    s = State({state})
    found = 0
    n = 0
    for action in actions(game, s):
        if found >= most_actions:
            return {explore.BUFFERS_FULL}
        begin = n
        for weight, then, then_state in outcomes(game, s, action):
            if n >= most:
                return {explore.BUFFERS_FULL}
            put_weight(weights, real_weights, context, n, weight)
            thens[n] = as_whole(then)
            if then <= 1:
                {puts}
            n += 1
        if n == begin:
            return 0
        labels[found] = as_whole(action)
        rewards[found] = {reward}
        ends[found] = n
        found += 1
    return found


def expand(address):
    try:
        return walk(address)
    except Exception:
        return {explore.RULES_FAILED}
"""


def _compile(rules: Rules, values: dict[str, Any], methods: dict[str, Any]) -> Any:
    _, as_game = _game_type(values, methods)
    game_class = type(rules.game)
    scope: dict[str, Any] = {
        "carray": carray,
        "pointer": _pointer,
        "as_game": as_game,
        "put_weight": _put_weight,
        "as_whole": _whole,
        "State": rules.state_type,
        "int64": np.int64,
        "int32": np.int32,
        "float64": np.float64,
        "actions": numba.njit(**OPTIONS)(game_class.actions),
        "outcomes": numba.njit(**OPTIONS)(game_class.outcomes),
        "reward": numba.njit(**OPTIONS)(game_class.reward),
    }
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            scope[f"dtype_{name}"] = _array_dtype(value).type
    exec(_adapter_source(rules, values), scope)
    scope["walk"] = numba.njit(**OPTIONS)(scope["walk"])
    return numba.cfunc(types.int64(types.int64), **OPTIONS)(scope["expand"])


def _reason(error: Exception) -> str:
    """The line of a Numba error that says what it stumbled over, and the remedy."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    noise = ("Failed in nopython", "During:", "File ", "- Resolution", "Resolution", "None")
    telling = [
        line
        for line in lines
        if not line.startswith(noise) and "<source elided>" not in line and line != "^"
    ]
    message = telling[0] if telling else (lines[0] if lines else type(error).__name__)
    for line in telling:
        if "Untyped global name" in line:
            message = line
            break
    remedy = ""
    if "Untyped global name" in message or "Cannot determine Numba type" in message:
        remedy = "; mark a helper function with @rollwise.rule, and use only numbers and arrays"
    if "Can't unify" in message:
        remedy = "; a value needs one type throughout (adding 0 makes a truth value a number)"
    return message.rstrip(".:") + remedy
