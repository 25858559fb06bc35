"""The key of compiled rules, and whether rules draw random numbers or read a clock.

Compiled code is reused, in this process and from disk, if its key is equal. The key is a hash of
one canonical encoding of all values that rules read. Different values must have different
encodings. Each therefore contains its type and length, and a container contains the number of its
items (as in `netstrings`_). Names are looked up each time a key is computed. The key changes if a
global, a helper or a method that the rules reach has changed.

.. _netstrings: https://cr.yp.to/proto/netstrings.txt
"""

from __future__ import annotations

import dataclasses
import dis
import enum
import hashlib
import random
import struct
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from rollwise.errors import RulesError
from rollwise.faults import is_users
from rollwise.game import Game
from rollwise.numbers.shares import BITS, MOST_PLAYERS, SCALE, SHARES_SCALE
from rollwise.reach import closure_read, codes_in, globals_read, names_in
from rollwise.then import (
    DRAW,
    LEAST_PAYOFF,
    LOSE,
    MOST_PAYOFF,
    WIN,
    counterpart,
    interpreted_as,
    payoff,
    payoffs,
    replaced,
    rule,
    shared,
    won_by,
)

Function = Callable[..., Any]

# Modules whose content depends only on the versions of Python and NumPy.
VERSIONED = frozenset(
    {"abc", "bisect", "builtins", "cmath", "collections", "copy", "dataclasses", "decimal"}
    | {"enum", "fractions", "functools", "heapq", "itertools", "math", "numbers", "numpy"}
    | {"operator", "statistics", "string", "types", "typing"}
)

_KEPT: dict[int, Any] = {}  # values identified by their address must stay alive


class NotCompilable(Exception):
    """Numba cannot compile these rules. The message gives the reason, in a line."""


class Key(NamedTuple):
    """The identity of compiled code.

    Attributes
    ----------
    text : str
        Hexadecimal.
    lasts : bool
        Whether it is valid in other processes: False if functions read something
        whose content cannot be encoded.
    """

    text: str
    lasts: bool


def helper_of(value: Any) -> Any:
    """The function that is compiled in place of a value that rules call; None if there is none.

    These are users' functions, also cached ones, and functions of rollwise.
    """
    if hasattr(value, "cache_info"):
        value = getattr(value, "__wrapped__", None)
    if not isinstance(value, types.FunctionType):
        return None
    versioned = (value.__module__ or "").partition(".")[0] in VERSIONED
    own = not versioned and is_users(value.__code__.co_filename)
    return counterpart(value) or (value if own else None)


def run_by(member: Any) -> Any:
    """The function that a method or a property of a class runs."""
    return member.fget if isinstance(member, property) else member


def is_place(value: Any) -> bool:
    """Whether a value is a user's class that holds constants and functions."""
    if not isinstance(value, type) or issubclass(value, tuple | enum.Enum):
        return False
    file = getattr(sys.modules.get(value.__module__), "__file__", None)
    return file is not None and is_users(file)


def key_of(functions: Mapping[str, Function], *facts: Any, keeps: bool = True) -> Key:
    """The key of functions, with all values reached from them, and of further facts.

    The names of users' modules don't count, but the functions of their classes: a rule sheet read
    by its path has a new name after each change of the file, also of a comment.

    Parameters
    ----------
    keeps : bool
        Values identified by their address stay alive, so that the key holds in this process.
    """
    encoder = _Encoder(keeps)
    parts = [encoder.encoded(fact) for fact in facts]
    parts += [encoder.mapping(functions.items())]
    text = hashlib.blake2b(_joined("key", parts), digest_size=20).hexdigest()
    return Key(text, encoder.lasts)


def parts_read(value: Any, names: Iterable[str]) -> dict[str, Any]:
    """The values of the attributes of a module, or of a user's class, among some names.

    None of another value, or of a module whose content is fixed within one version.
    """
    is_module = isinstance(value, types.ModuleType)
    if not (value.__name__.partition(".")[0] not in VERSIONED if is_module else is_place(value)):
        return {}
    return {name: getattr(value, name) for name in sorted(names) if hasattr(value, name)}


def _joined(tag: str, parts: Iterable[bytes]) -> bytes:
    """A type and its parts as bytes; different types or parts give different bytes."""
    pieces = [tag.encode(), *parts]
    return b"".join(b"%d:%b" % (len(piece), piece) for piece in [b"%d" % len(pieces), *pieces])


class _Encoder:
    """Encodes the values read by functions. A repeated function is encoded by its number.

    Attributes
    ----------
    lasts : bool
        See `Key`.
    """

    def __init__(self, keeps: bool) -> None:
        self.lasts, self._keeps = True, keeps
        self._met: dict[int, int] = {}  # functions, by address

    def encoded(self, value: Any, names: Iterable[str] = ()) -> bytes:
        """The encoding of a value. For a module, only the attributes among `names` count."""
        if value is None or value is Ellipsis:
            return _joined(repr(value), [])
        plain = _PLAIN.get(type(value))
        if plain is not None:
            return _joined(type(value).__name__, plain(self, value))
        return (
            self._of_numpy(value)
            or self._of_parts(value)
            or self._of_code(value, names)
            or self._of_class(value)
            or self._by_place(value)
        )

    def _of_numpy(self, value: Any) -> bytes | None:
        is_array = type(value) is np.ndarray or isinstance(value, np.generic)
        if is_array and not value.dtype.hasobject:
            return self._array(value)
        return _joined("dtype", [repr(value).encode()]) if isinstance(value, np.dtype) else None

    def _of_parts(self, value: Any) -> bytes | None:
        """The encoding of an enumeration's member, a NamedTuple or a dataclass; None for others."""
        kind = type(value)
        if isinstance(value, Fraction):
            return _joined("fraction", map(self.encoded, (value.numerator, value.denominator)))
        if isinstance(value, enum.Enum):
            member = self.encoded((value.name, value._value_))
            return _joined("member", [self._enumeration(kind), member])
        if isinstance(value, tuple) and _is_named(kind):
            return _joined("named", [self._named(kind), *map(self.encoded, value)])
        if dataclasses.is_dataclass(kind):
            fields = ((f.name, getattr(value, f.name)) for f in dataclasses.fields(kind))
            return _joined("dataclass", [self._place(kind), self.mapping(fields)])
        return None

    def _of_code(self, value: Any, names: Iterable[str]) -> bytes | None:
        if isinstance(value, types.CodeType):
            return self._code(value)
        helper = helper_of(value)
        if helper is not None or isinstance(value, types.FunctionType):
            return self._function(helper or value)
        if isinstance(value, types.ModuleType) or is_place(value):
            read = self.mapping(parts_read(value, names).items(), names)
            name = "" if _is_of_user(value.__name__) else value.__name__
            return _joined("module", [name.encode(), read])
        return None

    def _of_class(self, value: Any) -> bytes | None:
        if isinstance(value, type) and issubclass(value, enum.Enum):
            return self._enumeration(value)
        if isinstance(value, type) and issubclass(value, tuple) and _is_named(value):
            return self._named(value)
        return None

    def _by_place(self, value: Any) -> bytes:
        """The encoding of a value by its lasting name, or else by its address in this process."""
        if _has_place(value):
            return _joined("known", [self._place(value)])
        self.lasts = False
        if self._keeps:
            _KEPT[id(value)] = value
        return _joined("here", [b"%d" % id(value)])

    def mapping(self, pairs: Iterable[tuple[str, Any]], names: Iterable[str] = ()) -> bytes:
        """The encoding of names and their values, independent of their order."""
        parts = [(name.encode(), self.encoded(value, names)) for name, value in sorted(pairs)]
        return _joined("names", [part for pair in parts for part in pair])

    def _array(self, value: Any) -> bytes:
        content = np.asarray(value)
        layout = (content.flags.c_contiguous, content.flags.f_contiguous)
        return _joined(
            "array",
            [
                self._place(type(value)),
                self.encoded(value.dtype),
                self.encoded((content.shape, layout)),
                content.tobytes(),
            ],
        )

    def _enumeration(self, kind: type[enum.Enum]) -> bytes:
        members = tuple((name, member._value_) for name, member in kind.__members__.items())
        bases = [self._place(base) for base in kind.__mro__[1:]]
        return _joined("enum", [self._place(kind), self.encoded(members), *bases])

    def _named(self, kind: Any) -> bytes:
        defaults = getattr(kind, "_field_defaults", {})
        parts = [self.encoded(kind._fields), self.mapping(defaults.items())]
        return _joined("namedtuple", [self._place(kind), *parts])

    def _place(self, value: Any) -> bytes:
        if not _is_of_user(value.__module__):
            return self.encoded((value.__module__, value.__qualname__))
        members = {
            f"{base.__qualname__}.{name}": run_by(member)
            for base in value.__mro__
            for name, member in vars(base).items()
            if helper_of(run_by(member)) is not None
        }
        return _joined("class", [self.encoded(value.__qualname__), self.mapping(members.items())])

    def _code(self, code: types.CodeType) -> bytes:
        variables = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
        handlers = getattr(code, "co_exceptiontable", b"")
        parts = [code.co_code, handlers, variables, counts, code.co_flags, _constants(code)]
        return _joined("code", map(self.encoded, parts))

    def _function(self, function: types.FunctionType) -> bytes:
        if id(function) in self._met:
            return _joined("met", [b"%d" % self._met[id(function)]])
        # The number is known before the parts are encoded, so that recursion ends.
        self._met[id(function)] = len(self._met)
        code = function.__code__
        names = names_in(code)
        return _joined(
            "function",
            [
                self.encoded(code),
                self.encoded(function.__defaults__),
                self.mapping((function.__kwdefaults__ or {}).items()),
                self.mapping(closure_read(function).items(), names),
                self.mapping(globals_read(function).items(), names),
            ],
        )


# The encoded parts of plain values, by type.
_PLAIN: dict[type, Callable[[_Encoder, Any], Iterable[bytes]]] = {
    bool: lambda encoder, value: [b"%x" % value],
    range: lambda encoder, value: map(encoder.encoded, (value.start, value.stop, value.step)),
    int: lambda encoder, value: [b"%x" % value],
    float: lambda encoder, value: [struct.pack(">d", value)],
    complex: lambda encoder, value: map(encoder.encoded, (value.real, value.imag)),
    str: lambda encoder, value: [value.encode("utf-8", "surrogatepass")],
    bytes: lambda encoder, value: [value],
    tuple: lambda encoder, value: map(encoder.encoded, value),
    list: lambda encoder, value: map(encoder.encoded, value),
    dict: lambda encoder, value: map(encoder.encoded, value.items()),
    frozenset: lambda encoder, value: sorted(map(encoder.encoded, value)),
    set: lambda encoder, value: sorted(map(encoder.encoded, value)),
}


def _is_of_user(module: str) -> bool:
    """Whether users wrote a module."""
    if module.partition(".")[0] in VERSIONED:
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    return module == "__main__" if file is None else is_users(file)


def _is_named(kind: type) -> bool:
    return hasattr(kind, "_fields")


def _has_place(value: Any) -> bool:
    """Whether a value belongs to Python or NumPy, where its name identifies it."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return False
    owner: Any = sys.modules.get(module)
    for part in name.split("."):
        owner = getattr(owner, part, None)
    return owner is value and module.partition(".")[0] in VERSIONED


def compiled_payoff(points):  # type: ignore[no-untyped-def]
    """The same code. It raises an exception where the plain function reports the error."""
    amount = np.float64(points)
    if amount == 0.0:
        return DRAW
    if amount == 1.0:
        return WIN
    if amount == -1.0:
        return LOSE
    if not LEAST_PAYOFF <= abs(amount) <= MOST_PAYOFF:
        raise ValueError("no payoff")
    return amount.view(np.int64)


def compiled_payoffs(*numbers):  # type: ignore[no-untyped-def]
    """The same code. It raises an exception where the plain function reports the error."""
    return payoffs_of_all(numbers)


@rule
def payoffs_of_all(numbers):  # type: ignore[no-untyped-def]
    """``payoffs(*numbers)`` in compiled rules, where the number of seats may be unknown."""
    players = len(numbers)
    bits = BITS // players
    half = 1 << (bits - 1)
    code = players << BITS
    for k in range(players):
        if not -half < numbers[k] < half:
            raise ValueError("no payoffs")
        code += (numbers[k] + half) << (k * bits)
    return np.float64(code).view(np.int64) - (SCALE << 52)  # times 2^-SCALE


def compiled_won_by(*seats):  # type: ignore[no-untyped-def]
    """The same code. It raises an exception where the plain function reports the error."""
    return won_by_all(seats)


@rule
def won_by_all(seats):  # type: ignore[no-untyped-def]
    """``won_by(*seats)`` in compiled rules, where the number of seats may be unknown."""
    code = 0
    for k in range(len(seats)):
        if not 0 <= seats[k] < MOST_PLAYERS:
            raise ValueError("no seat")
        code |= 1 << seats[k]
    if code == 0:
        raise ValueError("no seat")
    return WIN if code == 1 else np.float64(code).view(np.int64) - (SHARES_SCALE << 52)


def compiled_shared(*parts):  # type: ignore[no-untyped-def]
    """The same code. It raises an exception where the plain function reports the error."""
    return shared_by_parts(parts)


@rule
def shared_by_parts(parts):  # type: ignore[no-untyped-def]
    """``shared(*parts)`` in compiled rules, where the number of seats may be unknown."""
    players, total = len(parts), 0
    bits = BITS // players
    code = players << BITS
    for k in range(players):
        if not 0 <= parts[k] < 1 << bits:
            raise ValueError("no shares")
        code += parts[k] << (k * bits)
        total += parts[k]
    if total == 0:
        raise ValueError("no shares")
    return np.float64(code).view(np.int64) - (SHARES_SCALE << 52)


def put(numbers, place, number):  # type: ignore[no-untyped-def]
    """A tuple with one number replaced, at an existing index; the adapter compiles it."""
    raise NotImplementedError


def compiled_replaced(numbers, place, number):  # type: ignore[no-untyped-def]
    """The same: Numba cannot build a tuple of unknown parts."""
    if not 0 <= place < len(numbers):
        raise IndexError("no such place")
    return put(numbers, place, number)


interpreted_as(compiled_payoff, payoff)
interpreted_as(compiled_payoffs, payoffs)
interpreted_as(compiled_replaced, replaced)
interpreted_as(compiled_won_by, won_by)
interpreted_as(compiled_shared, shared)


# Functions whose results change from call to call, in modules with other uses.
CHANGING = {
    "datetime": {"now", "today", "utcnow"},
    "os": {"getpid", "getrandom", "urandom"},
    "secrets": {"choice", "randbelow", "randbits", "token_bytes", "token_hex"},
    "time": {"ctime", "gmtime", "localtime", "monotonic", "monotonic_ns", "perf_counter"}
    | {"perf_counter_ns", "process_time", "process_time_ns", "strftime", "time", "time_ns"},
    "uuid": {"uuid1", "uuid4"},
}
RULES = (
    *("start", "roots", "throws", "actions", "outcomes", "reward", "progress"),
    *("hidden", "deal", "together", "duration"),
)


def drawn_by(game: Game) -> tuple[str, str] | None:
    """The rule of a game that draws or reads a clock, and its action; None if there is none."""
    rules = {name: getattr(type(game), name) for name in RULES}
    kinds = [kind for function in rules.values() for kind in _named_by(function)]
    for called, function in rules.items():
        pending, seen = [function], set()
        while pending:
            function = pending.pop()
            if not isinstance(function, types.FunctionType) or function in seen:
                continue
            seen.add(function)
            names = names_in(function.__code__)
            for name, value in (globals_read(function) | closure_read(function)).items():
                drawing, reading = _drawing(name, value, names), _reading(name, value, names)
                if (drawing or reading) and _is_loaded(function.__code__, name):
                    return called, f"draws with {drawing}" if drawing else f"reads {reading}"
                pending.append(value)
                pending += parts_read(value, names).values()
            # Any name may be that of a method of the game, or of a state: some are followed that
            # aren't called.
            pending += [run_by(vars(kind).get(name)) for kind in kinds for name in names]
            methods = (getattr(type(game), name, None) for name in names)
            pending += [m for m in methods if m not in (Game.start, Game.roots)]
    return None


def _named_by(function: Any) -> list[Any]:
    """The classes of states that a function names."""
    read = globals_read(function).values() if isinstance(function, types.FunctionType) else ()
    return [kind for kind in read if isinstance(kind, type) and issubclass(kind, tuple)]


def require_certain(game: Game) -> None:
    """Refuse rules that draw random numbers or read a clock.

    Raises
    ------
    RulesError
    """
    if drawing := drawn_by(game):
        raise RulesError(
            f"{game.name}: {drawing[0]}() {drawing[1]}; rules are without chance and clock: "
            "outcomes() yields each outcome with its weight"
        )


def _drawing(name: str, value: Any, names: set[str]) -> str:
    """The source of random numbers in a value read by a function; empty if there is none."""
    if value is random:
        used = sorted(names.intersection(random.__all__))
        return f"{name}.{used[0]}" if used else ""
    if value is np and "random" in names:
        return f"{name}.random"
    owner = getattr(value, "__self__", value)
    if isinstance(owner, random.Random):
        return name
    if "numpy.random" not in sys.modules:  # importing it takes a while
        return ""
    return name if isinstance(owner, np.random.Generator | np.random.RandomState) else ""


def _reading(name: str, value: Any, names: set[str]) -> str:
    """The clock or the like in a value read by a function; empty if there is none."""
    if isinstance(value, types.ModuleType):
        used = sorted(names & CHANGING.get(value.__name__, set()))
        return f"{name}.{used[0]}" if used else ""
    changing = CHANGING.get(getattr(value, "__module__", None) or "", set())
    if isinstance(value, type):  # datetime.datetime
        used = sorted(names & changing)
        return f"{name}.{used[0]}" if used else ""
    return name if getattr(value, "__name__", "") in changing else ""


def _constants(code: types.CodeType) -> tuple[Any, ...]:
    """The constants of a function, but for a docstring that it doesn't read."""
    first = code.co_consts[:1]
    if code.co_name.startswith("<") or not first or not isinstance(first[0], str):
        return code.co_consts
    steps = dis.get_instructions(code)
    is_read = any(step.opcode in dis.hasconst and step.arg == 0 for step in steps)
    return code.co_consts if is_read else (None, *code.co_consts[1:])


def _is_loaded(code: types.CodeType, name: str) -> bool:
    """Whether a function uses a name by itself, and not only as an attribute."""
    return any(
        step.argval == name and step.opname in ("LOAD_GLOBAL", "LOAD_DEREF")
        for part in codes_in(code)
        for step in dis.get_instructions(part)
    )
