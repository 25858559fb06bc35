"""Rules into one function pointer that the exploring kernel can call.

The methods of a game are compiled by Numba with ``self`` replaced by a record of
what they read from it (its parameters, other plain attributes and arrays), which
is filled in at run time: other parameters of the same game need no compiling.
A small adapter (see `rollwise.builders.adapters`), written out for the game's
fields, puts what the rules yield into the buffers of `rollwise.kernels.explore`.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import re
import types as python_types
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import carray, types
from numba.core import cgutils
from numba.core.ccallback import CFunc
from numba.core.errors import NumbaError, TypingError
from numba.extending import (
    intrinsic,
    models,
    overload,
    overload_method,
    register_jitable,
    register_model,
)

from rollwise.builders.adapters import (
    expand_source,
    question_source,
    record_source,
    roots_source,
)
from rollwise.builders.rules import LEAST, MOST, Rules
from rollwise.builders.rules_cache import RulesCache, fingerprint, folder, keep_note
from rollwise.game import Game, marked_rules
from rollwise.kernels import explore

OPTIONS = {"boundscheck": True}
RULES = ("actions", "outcomes", "reward", "roots")


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


def _short(number: Any) -> int:
    raise NotImplementedError


@overload(_short)
def _short_typed(number):  # type: ignore[no-untyped-def]
    if isinstance(number, types.Integer | types.Boolean):

        def as_short(number):  # type: ignore[no-untyped-def]
            if number < LEAST or number > MOST:
                raise OverflowError("a field doesn't fit 32 bits")
            return np.int32(number)

        return as_short
    raise TypingError(f"a field of a state is a {number}, not a whole number")


def context_of(game: Game, attributes: Iterable[str]) -> tuple[np.ndarray, list[np.ndarray]]:
    """A context with the record of a game: what compiled rules read from it.

    Returns
    -------
    context : (explore.CONTEXT_SLOTS,) int64
    alive : arrays whose addresses are in it; keep them while it is used
    """
    whole: list[int] = []
    real: list[float] = []
    alive: list[np.ndarray] = []
    for name in attributes:
        value = getattr(game, name)
        if isinstance(value, np.ndarray):
            value = np.ascontiguousarray(value, _array_dtype(value))
            alive.append(value)
            whole += [value.ctypes.data, *value.shape]
        elif isinstance(value, float | np.floating):
            real.append(float(value))
        else:
            whole.append(int(value))
    alive += [np.array(whole or [0], np.int64), np.array(real or [0.0])]
    context = np.zeros(explore.CONTEXT_SLOTS, np.int64)
    context[explore.CONTEXT_INTS] = alive[-2].ctypes.data
    context[explore.CONTEXT_REALS] = alive[-1].ctypes.data
    return context, alive


@dataclass
class CompiledRules:
    """A game's rules as a function pointer, with the record of what they read.

    Attributes
    ----------
    expand : compiled function int64(int64)
    attributes : names of what the rules read from ``self``, in the record's order
    scope : what the adapters are compiled in
    """

    expand: Any
    attributes: tuple[str, ...]
    scope: dict[str, Any]

    def roots(self, rules: Rules, most: int) -> np.ndarray | None:
        """The roots, start first, by the compiled ``roots()``: (n, n_fields) int32.

        None where that fails, in which case the interpreted one will tell why.

        Raises
        ------
        NotCompilable
        """
        listing = self._adapter("list_roots", roots_source, rules)
        context, alive = self.context(rules.game)
        context[explore.CONTEXT_MOST_ACTIONS] = most
        start = np.array([rules.checked(rules.start, "start()")], np.int32)
        rows = start
        for _ in range(2):  # once to count them, and once to list them
            context[explore.CONTEXT_NEXT] = rows[1:].ctypes.data
            context[explore.CONTEXT_MOST_OUTCOMES] = len(rows) - 1
            found = listing.ctypes(context.ctypes.data)
            if found < 0:
                return None
            if found > most:
                raise rules.too_many_roots(most)
            if found >= len(rows):
                rows = np.empty((found + 1, len(rules.field_names)), np.int32)
                rows[0] = start
        del alive
        return rows

    def context(self, game: Game) -> tuple[np.ndarray, list[np.ndarray]]:
        """See `context_of`."""
        return context_of(game, self.attributes)

    def _adapter(
        self, name: str, source: Callable[[Rules, dict[str, Any]], str], rules: Rules
    ) -> Any:
        key = f"compiled_{name}"
        if key not in self.scope:
            with _reasons_told():
                self.scope[key] = _compile_adapter(self.scope, source(rules, self.scope), name)
        return self.scope[key]


@dataclass
class CompiledQuestion:
    """A function of game and state that answers with a whole number, as a function pointer.

    Attributes
    ----------
    answer : compiled function int64(int64)
        It writes the answer where rules write their actions.
    attributes : names of what the function reads from the game
    """

    answer: Any
    attributes: tuple[str, ...]


_COMPILED: dict[Any, CompiledRules] = {}
_QUESTIONS: dict[Any, CompiledQuestion] = {}
_JITABLE: set[Callable[..., Any]] = set()
_SERIAL = itertools.count()


def _names_read(code: python_types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, python_types.CodeType):
            names |= _names_read(constant)
    return names


def _what_is_read(
    game: Game, functions: Iterable[Callable[..., Any]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Attributes and further methods that functions reach through ``self``."""
    pending = list(functions)
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


def _rules_of(rules: Rules) -> dict[str, Callable[..., Any]]:
    return {name: getattr(type(rules.game), name) for name in RULES}


def _what_rules_read(rules: Rules) -> tuple[dict[str, Any], dict[str, Any]]:
    functions = _rules_of(rules)
    if not rules.has_reward:
        del functions["reward"]
    return _what_is_read(rules.game, functions.values())


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
        _compile_marked_rules()
        with _reasons_told():
            scope = _scope(rules, _rules_of(rules), values, methods)
            expand = _compile_adapter(scope, expand_source(rules, scope), "expand")
        _COMPILED[key] = CompiledRules(expand, tuple(values), scope)
    return _COMPILED[key]


def compiled_question(rules: Rules, function: Callable[[Any, Any], Any]) -> CompiledQuestion:
    """Compile a function of game and state, or find it compiled earlier in this process.

    Raises
    ------
    NotCompilable
        With the reason, in a line, and what to change.
    """
    values, methods = _what_is_read(rules.game, [function])
    kinds = tuple((name, str(_numba_type(value))) for name, value in values.items())
    key = (function, type(rules.game), rules.state_type, kinds)
    if key not in _QUESTIONS:
        _compile_marked_rules()
        with _reasons_told():
            scope = _scope(rules, {"question": function}, values, methods)
            answer = _compile_adapter(scope, question_source(rules, scope), "answer")
        _QUESTIONS[key] = CompiledQuestion(answer, tuple(values))
    return _QUESTIONS[key]


def _compile_marked_rules() -> None:
    for function in marked_rules():
        if function not in _JITABLE:
            register_jitable(**OPTIONS)(function)
            _JITABLE.add(function)


@contextmanager
def _reasons_told() -> Iterator[None]:
    """What Numba raises, as NotCompilable with the reason in a line."""
    try:
        yield
    except NumbaError as error:
        raise NotCompilable(_reason(error)) from error
    except Exception as error:  # Numba leaks plain exceptions for some sources
        raise NotCompilable(f"{type(error).__name__}: {error}".splitlines()[0]) from error


def is_compiled(rules: Rules) -> bool:
    """Whether this process has compiled these rules already."""
    values, _ = _what_rules_read(rules)
    kinds = tuple((name, str(_numba_type(value))) for name, value in values.items())
    return (type(rules.game), rules.state_type, kinds) in _COMPILED


def _game_maker(values: dict[str, Any], methods: dict[str, Any]) -> Any:
    """What turns a tuple of `values` into the record that stands for ``self``."""
    record = namedtuple("GameRecord", list(values) or ["nothing"])  # type: ignore[misc]
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

    return as_game


def _renamed(function: Callable[..., Any], key: str) -> Callable[..., Any]:
    """A copy of a function whose name in machine code holds the key, without annotations.

    Numba numbers functions within a process, so that code read from disk could
    have the name of other code compiled here. With the key in it, it can't.
    """
    copy = python_types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__qualname__ = f"{function.__qualname__}_{key}"
    return copy


def _typing_twin(function: Callable[..., Any]) -> Callable[..., Any]:
    """What Numba calls with types to get `function`: it wants the same signature."""
    parameters = inspect.signature(function).parameters.values()
    arguments = ", ".join(
        p.name if p.default is p.empty else f"{p.name}=default_{p.name}" for p in parameters
    )
    scope: dict[str, Any] = {f"default_{p.name}": p.default for p in parameters}
    scope["function"] = function
    exec(f"def typed({arguments}): return function", scope)
    return scope["typed"]  # type: ignore[no-any-return]


def _fingerprint(
    rules: Rules,
    functions: dict[str, Callable[..., Any]],
    values: dict[str, Any],
    methods: dict[str, Any],
) -> str | None:
    kinds = [(name, str(_numba_type(value))) for name, value in values.items()]
    return fingerprint(
        [*functions.values(), *methods.values()],
        kinds,
        rules.field_names,
        rules.has_reward,
        OPTIONS,
    )


def was_large(rules: Rules, outcomes: int) -> bool:
    """Whether these rules and parameters were noted to give more outcomes than that."""
    note = _large_note(rules, outcomes)
    return note is not None and note.exists()


def note_large(rules: Rules, outcomes: int) -> None:
    """Note on disk that a game has more outcomes than that."""
    note = _large_note(rules, outcomes)
    if note is not None:
        keep_note(note)


def _large_note(rules: Rules, outcomes: int) -> Path | None:
    key = _fingerprint(rules, _rules_of(rules), *_what_rules_read(rules))
    if key is None:
        return None
    parameters = hashlib.blake2b(repr(rules.game.parameters).encode(), digest_size=8)
    return folder() / f"{key}-{parameters.hexdigest()}-{outcomes}.large"


def _scope(
    rules: Rules,
    functions: dict[str, Callable[..., Any]],
    values: dict[str, Any],
    methods: dict[str, Any],
) -> dict[str, Any]:
    """What the source of the adapters of some functions refers to."""
    kinds = [(name, str(_numba_type(value))) for name, value in values.items()]
    known = fingerprint(
        [*functions.values(), *methods.values()],
        kinds,
        rules.field_names,
        rules.has_reward,
        OPTIONS,
    )
    key = known or f"here{next(_SERIAL)}"
    scope: dict[str, Any] = {
        "carray": carray,
        "pointer": _pointer,
        "as_game": _game_maker(
            values, {name: _renamed(function, key) for name, function in methods.items()}
        ),
        "put_weight": _put_weight,
        "as_whole": _whole,
        "as_short": _short,
        "State": rules.state_type,
        "int64": np.int64,
        "int32": np.int32,
        "uint64": np.uint64,
        "float64": np.float64,
        **{
            name: numba.njit(**OPTIONS)(_renamed(function, key))
            for name, function in functions.items()
        },
        "record_source": record_source(values),
        "key": key,
        "may_be_kept": known is not None,
    }
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            scope[f"dtype_{name}"] = _array_dtype(value).type
    return scope


def _compile_adapter(scope: dict[str, Any], source: str, name: str) -> Any:
    """Compile the function ``walk`` of a source into a pointer, exceptions caught.

    If the same was compiled before on this machine, it is read from disk.
    """
    scope = {**scope, "__name__": __name__}
    exec(source, scope)
    scope["walk"] = numba.njit()(_renamed(scope["walk"], scope["key"]))
    exec(
        f"def {name}_{scope['key']}(address):\n"
        "    try:\n"
        "        return walk(address)\n"
        "    except Exception:\n"
        f"        return {explore.RULES_FAILED}\n",
        scope,
    )
    pointer: Any = CFunc(
        scope[f"{name}_{scope['key']}"], ((types.int64,), types.int64), locals={}, options=OPTIONS
    )
    if scope["may_be_kept"]:
        pointer._cache = RulesCache(f"{name}-{scope['key']}")
    pointer.compile()
    return pointer


# What Numba stumbles over most, and what to write instead.
REMEDIES = {
    "Untyped global name": "mark a helper function with @rollwise.rule",
    "Cannot determine Numba type": "mark a helper function with @rollwise.rule",
    "'_replace'": "write the state out, giving every field, instead of _replace()",
    "not enough arguments": "give every field of a state, also those with defaults",
    "Cannot unify": "a value needs one type throughout; adding 0 makes a truth value a number",
    "Can't unify": "a value needs one type throughout; adding 0 makes a truth value a number",
    "yield in a closure": "write a loop instead of a generator expression",
    "<class 'float'>": "write 1.0 * x instead of float(x) where x is a truth value",
    "super": "call the parent's method by its class instead of super()",
}


def _reason(error: Exception) -> str:
    """What Numba stumbled over, in a line, and the remedy."""
    lines = [line.strip(" -") for line in str(error).splitlines() if line.strip(" -^")]
    noise = ("Failed in", "During", "File", "Resolution", "None", "There are", "<source")
    telling = [line for line in lines if not line.startswith(noise)] or lines or [repr(error)]
    places = re.findall(r'^File "[^<].*, line \d+', "\n".join(lines), re.MULTILINE)
    where = f" in {places[0].replace('File ', '')}" if places else ""
    for sign, remedy in REMEDIES.items():
        for line in lines:
            if sign in line:
                return f"{line.rstrip('.:')}{where} ({remedy})"
    return telling[0].rstrip(".:") + where
