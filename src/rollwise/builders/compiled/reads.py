"""What functions of a game read, the keys by which it is known, and notes on disk about these.

Code that was compiled for a game is used again where its `Reads.key` is the same. Whatever
else depends on rules (a note that a game is large, a graph kept between runs) is known by
that key and further facts: `Reads.key_with`. In compiled rules a record stands for ``self``.
"""

from __future__ import annotations

import contextlib
import enum
import os
import platform
import types as python_types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard
from weakref import WeakKeyDictionary

import numpy as np

import rollwise
from rollwise.builders.compiled.cache_key import Key, key_of, names_in
from rollwise.builders.rules import Rules
from rollwise.game import Game
from rollwise.graph.layout import StateLayout
from rollwise.machine.user_cache import make_room, place, private_folder

if TYPE_CHECKING:
    from rollwise.builders.rules import Rules


def array_dtype(array: np.ndarray) -> np.dtype[Any]:
    """The type that rules see an array in: short whole numbers are widened to 64 bits.

    To Numba a state with a field of 32 bits isn't of the type of one with 64.
    """
    short = array.dtype.kind in "iu" and array.dtype.itemsize < 8
    return np.dtype(np.int64) if short else array.dtype


def is_constant(value: Any) -> bool:
    """Whether compiled rules hold a value themselves, so that another one is compiled anew."""
    return isinstance(value, str | enum.Enum)


def record_source(values: dict[str, Any]) -> tuple[str, int, int]:
    """The record of a game, read from ``whole`` and ``real``, as Python source.

    It reads what `new_call` writes.

    Returns
    -------
    source : str
        A tuple of what the rules read from the game, without constants.
    n_whole, n_real : int
        Numbers that it takes from ``whole`` and from ``real``.
    """
    n_whole = n_real = 0
    items = []
    for name, value in values.items():
        if is_constant(value):
            continue
        if isinstance(value, np.ndarray):
            shape = "".join(f"whole[{n_whole + 1 + k}], " for k in range(value.ndim))
            items.append(f"carray(pointer(whole[{n_whole}]), ({shape}), dtype_{name})")
            n_whole += 1 + value.ndim
        elif isinstance(value, float | np.floating):
            items.append(f"real[{n_real}]")
            n_real += 1
        else:
            truth = " != 0" if isinstance(value, bool | np.bool_) else ""
            items.append(f"whole[{n_whole}]{truth}")
            n_whole += 1
    return f"({', '.join(items or ['whole[0]'])},)", max(n_whole, 1), max(n_real, 1)


def new_call(
    kind: np.dtype[np.void], game: Game, attributes: Iterable[str]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """A call of compiled rules with what they read from a game.

    Parameters
    ----------
    kind : dtype
        One of the records of `rollwise.kernels.calls`.
    attributes : iterable of str
        See `rollwise.builders.compiled.reads.Reads.values`.

    Returns
    -------
    call : (1,) array of the record
    alive : arrays whose addresses are in it; keep them while it is used
    """
    whole: list[int] = []
    real: list[float] = []
    alive: list[np.ndarray] = []
    for name in attributes:
        value = getattr(game, name)
        if is_constant(value):
            continue
        if isinstance(value, np.ndarray):
            value = np.ascontiguousarray(value, array_dtype(value))
            alive.append(value)
            whole += [value.ctypes.data, *value.shape]
        elif isinstance(value, float | np.floating):
            real.append(float(value))
        else:
            whole.append(int(value))
    alive += [np.array(whole or [0], np.int64), np.array(real or [0.0])]
    call = np.zeros(1, kind)
    call["whole"], call["real"] = alive[-2].ctypes.data, alive[-1].ctypes.data
    return call, alive


Function = Callable[..., Any]

RULES = ("actions", "outcomes", "reward", "roots")
NUMBERS = (int, float, np.integer, np.floating, np.ndarray, np.bool_)
VERSIONS = (rollwise.__version__, np.__version__, platform.python_version())


@dataclass(frozen=True, eq=False)
class Reads:
    """What functions read from a game.

    Attributes
    ----------
    functions : dict
        By the part that they play.
    values : dict
        Attributes that they reach through ``self``, for the record.
    methods : dict
        Further functions that they reach through ``self``.
    others : dict
        What else has the name of something that they read, as an attribute of the game.
    layout, has_reward, throw_columns
        Of the rules.
    """

    functions: dict[str, Function]
    values: dict[str, Any]
    methods: dict[str, Function]
    others: dict[str, Any]
    layout: StateLayout
    has_reward: bool
    throw_columns: tuple[str, ...]

    @cached_property
    def key(self) -> Key:
        """What the functions are known by, compiled: of the `values` only constants count."""
        kinds = tuple((name, _kind_of(value)) for name, value in self.values.items())
        of_self = {f"self.{name}": function for name, function in self.methods.items()}
        lies = self.layout.columns, self.layout.unused
        facts = (VERSIONS, kinds, lies, self.has_reward, self.throw_columns)
        return key_of({**of_self, **self.functions}, *facts)

    @property
    def whole_key(self) -> Key:
        """The key of what the functions answer: all attributes count."""
        return self.key_with(tuple(self.values.items()), tuple(sorted(self.others.items())))

    def key_with(self, *facts: Any) -> Key:
        """The key of what depends on further facts too."""
        key = key_of({}, self.key.text, *facts)
        return key._replace(lasts=key.lasts and self.key.lasts)

    @property
    def lines(self) -> tuple[int, ...]:
        """Where the functions begin in their files, as reasons for a failure name it."""
        functions = [*self.functions.values(), *self.methods.values()]
        return tuple(function.__code__.co_firstlineno for function in functions)


def _kind_of(value: Any) -> Any:
    """What compiled code knows of a value: its type, or itself if it is a constant."""
    if is_constant(value):
        return "constant", value
    if isinstance(value, np.ndarray):
        return f"array of {array_dtype(value)}, {value.ndim} dimensions"
    return type(value).__name__


def what_is_read(rules: Rules, functions: dict[str, Function], unread: Iterable[str] = ()) -> Reads:
    """What functions of a game read now, leaving out those that won't be called (`unread`)."""
    pending = [function for name, function in functions.items() if name not in unread]
    values: dict[str, Any] = {}
    methods: dict[str, Any] = {}
    others: dict[str, Any] = {}
    while pending:
        function = pending.pop()
        for name in sorted(names_in(function.__code__)):
            value = getattr(rules.game, name, None)
            if is_constant(value) or isinstance(value, NUMBERS):
                values[name] = value
            elif _is_method(value, rules.game) and name not in methods:
                methods[name] = value.__func__
                pending.append(value.__func__)
            elif value is not None and not isinstance(value, python_types.MethodType):
                others[name] = value
    values = dict(sorted(values.items()))
    throws = () if rules.throws is None else rules.throws.columns
    if rules.pool is not None:
        throws += (str(rules.pool),)
    return Reads(functions, values, methods, others, rules.layout, rules.has_reward, throws)


def _is_method(value: Any, game: Any) -> TypeGuard[python_types.MethodType]:
    """Whether a value is a method of a game, and not of its class."""
    return isinstance(value, python_types.MethodType) and value.__self__ is game


def reads_of(rules: Rules) -> Reads:
    """What the rules of a game read, and the key that they are known by, as they first were."""
    if rules not in _FOUND:
        _FOUND[rules] = _what_rules_read(rules)
    return _FOUND[rules]


_FOUND: WeakKeyDictionary[Rules, Reads] = WeakKeyDictionary()


def _what_rules_read(rules: Rules) -> Reads:
    listed = rules.has_throws and rules.pool is None  # a pool was made by Python
    names = (*RULES, "throws") if listed else RULES
    functions = {name: getattr(type(rules.game), name) for name in names}
    return what_is_read(rules, functions, unread=() if rules.has_reward else ("reward",))


def graph_key(rules: Rules, *facts: Any) -> Key:
    """The key of a game's graph, and of what depends on further facts too.

    Raises
    ------
    RulesError, TypeError, ValueError
        The rules don't say what is to be known of them.
    """
    game = rules.game
    layers = {"progress": type(game).progress} if rules.has_progress else {}
    key, of_layers = reads_of(rules).whole_key, what_is_read(rules, layers).whole_key
    found = key_of(
        {},
        (key.text, of_layers.text),
        (game.name, tuple(game.parameters.items()), game.players, game.objective, game.endless),
        (rules.layout.columns, rules.layout.unused, rules.has_action_text),
        *facts,
    )
    return found._replace(lasts=found.lasts and key.lasts and of_layers.lasts)


MOST_FILES = 300  # the oldest go


def folder() -> Path | None:
    """Where compiled rules are kept: with Numba's cache if that has a place, else the user's.

    None if there is no private folder for them.
    """
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return private_folder(Path(chosen) / "rollwise-rules")
    home = place()
    return None if home is None else private_folder(home / "rules")


class Note:
    """A short text in the cache about what has a key; of a key that doesn't last there is none.

    A place that can't be read or written is no error.
    """

    def __init__(self, key: Key, kind: str) -> None:
        place = folder() if key.lasts else None
        self._path = None if place is None else place / f"{key.text}.{kind}"

    def exists(self) -> bool:
        return self._path is not None and self._path.exists()

    def read(self) -> str:
        """The text; an empty one where there is none."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if self._path is not None:
                return self._path.read_text(encoding="utf-8")
        return ""

    def write(self, text: str = "") -> None:
        with contextlib.suppress(OSError):
            if self._path is not None:
                self._path.write_text(text, encoding="utf-8")
                make_room(self._path.parent, f"*{self._path.suffix}", most_files=MOST_FILES)


def was_large(rules: Rules, outcomes: int) -> bool:
    """Whether these rules and parameters were noted to give more outcomes than that."""
    return _large_note(rules, outcomes).exists()


def note_large(rules: Rules, outcomes: int) -> None:
    """Note on disk that a game has more outcomes than that."""
    _large_note(rules, outcomes).write()


def _large_note(rules: Rules, outcomes: int) -> Note:
    key = reads_of(rules).whole_key
    return Note(key._replace(text=f"{key.text}-{outcomes}"), "large")
