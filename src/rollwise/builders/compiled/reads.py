"""The values read by functions of a game, the keys of these values, and notes on disk.

Code compiled for a game is reused if its `Reads.key` is equal. Other data that depend on rules (a
note that a game is large, a stored graph) are identified by that key and further facts:
`Reads.key_with`. In compiled rules a record replaces ``self``.
"""

from __future__ import annotations

import contextlib
import enum
import inspect
import os
import platform
import types as python_types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

import rollwise
from rollwise.builders.compiled.cache_key import Key, helper_of, key_of, run_by
from rollwise.builders.rules import Rules
from rollwise.game import Game, under_discount
from rollwise.graph.layout import StateLayout
from rollwise.machine.user_cache import make_room, place, private_folder
from rollwise.reach import names_in

if TYPE_CHECKING:
    from rollwise.builders.rules import Rules


def array_dtype(array: np.ndarray) -> np.dtype[Any]:
    """The type of an array in rules: short integers are widened to 64 bits.

    For Numba a state with a 32-bit field has a different type from one with 64 bits.
    """
    short = array.dtype.kind in "iu" and array.dtype.itemsize < 8
    return np.dtype(np.int64) if short else array.dtype


LONG = 32  # numbers from which a list is an array: Numba tests each place of a tuple


@dataclass(frozen=True)
class Table:
    """A dictionary of constants in compiled rules."""

    names: tuple[Any, ...]
    numbers: Any

    def __contains__(self, name: object) -> bool:
        """Numba asks this of constants, to leave out branches."""
        return name in self.names


@dataclass(frozen=True)
class Rows:
    """A tuple of constant tuples of several lengths in compiled rules.

    Attributes
    ----------
    items : tuple or array
        The items of all rows.
    starts : tuple or array of int
        Where each row begins in `items`, and where the last one ends.
    """

    items: Any
    starts: Any


class Ratio(NamedTuple):
    """A fraction in compiled rules, which read its two numbers and do no arithmetic with it."""

    numerator: int
    denominator: int


RATIO = "in compiled rules write whole numbers: p.numerator, and p.denominator - p.numerator"


def as_constant(value: Any) -> Any:
    """A constant of rules in the form that Numba compiles; other values are returned unchanged."""
    if isinstance(value, set | frozenset | range):
        return as_constant(list(value))
    if isinstance(value, enum.IntEnum | enum.IntFlag):
        return int(value)
    if isinstance(value, Fraction):
        return Ratio(value.numerator, value.denominator)
    if isinstance(value, dict):
        return Table(tuple(map(as_constant, value)), as_constant(tuple(value.values())))
    if type(value) in (tuple, list) and _are_rows(value):
        starts = list(accumulate(map(len, value), initial=0))
        return Rows(as_constant(list(chain.from_iterable(value))), as_constant(starts))
    if type(value) is list:
        array = _as_array(value)
        return tuple(map(as_constant, value)) if array is None else array
    if type(value) is tuple:
        return tuple(map(as_constant, value))
    return value


def _are_rows(rows: Any) -> bool:
    """Whether items are tuples or lists of several lengths, with items of one kind."""
    plain = all(type(row) in (tuple, list) for row in rows)
    return (
        plain
        and len({*map(len, rows)}) > 1
        and len({_shape(item) for row in rows for item in row}) == 1
    )


def _shape(item: Any) -> Any:
    """The type of a constant, or those of its parts."""
    return (*map(_shape, item),) if type(item) in (tuple, list) else type(item)


def _as_array(numbers: list[Any]) -> np.ndarray | None:
    """A long list of numbers, or of such lists of one length, as an array; None for others."""
    try:
        array = np.array(numbers)
    except (ValueError, OverflowError):
        return None
    return array if array.size > LONG and array.dtype in (np.int64, np.float64) else None


def is_constant(value: Any) -> bool:
    """Whether a value is a constant of compiled rules. Another value needs another compilation."""
    return isinstance(value, str | enum.Enum | tuple | Table | Rows)


def record_source(values: dict[str, Any]) -> tuple[str, int, int]:
    """The record of a game, read from ``whole`` and ``real``, as Python source.

    It reads the data written by `new_call`.

    Returns
    -------
    source : str
        A tuple of the values read from the game, without constants.
    n_whole, n_real : int
        The numbers of values from ``whole`` and from ``real``.
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
    """A call of compiled rules with the values read from a game.

    Parameters
    ----------
    kind : dtype
        One of the records of `rollwise.kernels.calls`.
    attributes : iterable of str
        See `rollwise.builders.compiled.reads.Reads.values`.

    Returns
    -------
    call : (1,) array of the record
    alive : list of arrays
        The arrays with addresses in the call. They must outlive it.
    """
    whole: list[int] = []
    real: list[float] = []
    alive: list[np.ndarray] = []
    for name in attributes:
        value = as_constant(getattr(game, name))
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
    """The values read by functions from a game.

    Attributes
    ----------
    functions : dict
        By their purpose.
    values : dict
        Attributes read through ``self``, for the record.
    methods : dict
        Further functions called through ``self``.
    others : dict
        Other attributes of the game with a name that occurs in the functions.
    of_state : dict
        Methods and properties of the state's class with such a name.
    layout, has_reward, throw_columns
        Of the rules.
    """

    functions: dict[str, Function]
    values: dict[str, Any]
    methods: dict[str, Function]
    others: dict[str, Any]
    of_state: dict[str, Any]
    layout: StateLayout
    has_reward: bool
    throw_columns: tuple[str, ...]

    @cached_property
    def key(self) -> Key:
        """The key of the compiled functions. Of `values` only constants count."""
        kinds = tuple((name, _kind_of(value)) for name, value in self.values.items())
        of_self = {f"self.{name}": function for name, function in self.methods.items()}
        of_self |= {f"state.{name}": run_by(one) for name, one in self.of_state.items()}
        lies = self.layout.columns, self.layout.unused
        facts = (VERSIONS, kinds, lies, self.has_reward, self.throw_columns)
        return key_of({**of_self, **self.functions}, *facts)

    @property
    def whole_key(self) -> Key:
        """The key of the functions' results. All attributes count."""
        return self.key_with(tuple(self.values.items()), tuple(sorted(self.others.items())))

    def key_with(self, *facts: Any) -> Key:
        """The key of data that depend on further facts too."""
        key = key_of({}, self.key.text, *facts)
        return key._replace(lasts=key.lasts and self.key.lasts)

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """The files and first lines of the functions, for the reasons of a failure."""
        functions = [*self.functions.values(), *self.methods.values()]
        functions += map(run_by, self.of_state.values())
        codes = (function.__code__ for function in functions)
        return tuple((code.co_filename, code.co_firstlineno) for code in codes)


def _kind_of(value: Any) -> Any:
    """The part of a value relevant to compiled code: its type, or a constant itself."""
    if is_constant(value):
        return "constant", value
    if isinstance(value, np.ndarray):
        return f"array of {array_dtype(value)}, {value.ndim} dimensions"
    return type(value).__name__


def what_is_read(rules: Rules, functions: dict[str, Function], unread: Iterable[str] = ()) -> Reads:
    """The current reads of a game's functions, without functions never called (`unread`)."""
    pending = [function for name, function in functions.items() if name not in unread]
    values: dict[str, Any] = {}
    methods: dict[str, Any] = {}
    others: dict[str, Any] = {}
    known, of_state = members_of_state(rules), dict[str, Any]()
    while pending:
        function = pending.pop()
        for name in sorted(names_in(function.__code__)):
            # A name may be another object's attribute: then more is read than needed.
            value = as_constant(getattr(rules.game, name, None))
            if is_constant(value) or isinstance(value, NUMBERS):
                values[name] = value
            elif (method := _method_of(name, value, rules.game)) and name not in methods:
                methods[name] = method
                pending.append(method)
            elif value is not None and not isinstance(value, python_types.MethodType):
                others[name] = value
            if name in known and name not in of_state:
                of_state[name] = known[name]
                pending.append(run_by(known[name]))
    values = dict(sorted(values.items()))
    throws = () if rules.throws is None else rules.throws.columns
    if rules.pool is not None:
        throws += (str(rules.pool), str(rules.reads_rolls_left))
    parts = functions, values, methods, others, of_state
    return Reads(*parts, rules.layout, rules.has_reward, throws)


def members_of_state(rules: Rules) -> dict[str, Any]:
    """Methods and properties that users wrote in the class of the states, by name.

    A name that tuples or the rule sheet have too is left out: compiled rules tell members apart by
    name.
    """
    game, sheet = rules.game, type(rules.game)
    members = {
        name: member
        for kind in reversed(rules.state_type.__mro__)
        for name, member in vars(kind).items()
        if helper_of(run_by(member)) is not None
    }
    own = (n for n in dir(game) if getattr(sheet, n, game) is not getattr(Game, n, None))
    taken = {*own, *dir(tuple), "_make", "_replace", "_asdict"}
    return {name: member for name, member in members.items() if name not in taken}


def _method_of(name: str, value: Any, game: Any) -> Any:
    """The function with the game as its first argument behind a method; None for other values.

    The class of a class method is the game too, whose attributes are its own.
    """
    if isinstance(value, python_types.MethodType) and value.__self__ in (game, type(game)):
        return None if value.__func__ is Game.start else value.__func__
    if isinstance(value, python_types.FunctionType) and helper_of(value) is not None:
        names, heads, defaults = signature_of(value)
        source = f"def {name}(self, {', '.join(heads)}): return function({', '.join(names)})"
        return made_of(source, function=value, **defaults)
    return None


def signature_of(function: Any) -> tuple[list[str], list[str], dict[str, Any]]:
    """The parameters of a function as Python source: without defaults, and with their names.

    The last item has the defaults by these names.
    """
    parameters = inspect.signature(function).parameters.values()
    names = [f"{'*' * (p.kind is p.VAR_POSITIONAL)}{p.name}" for p in parameters]
    heads = [
        one if p.default is p.empty else f"{one}=default_{p.name}"
        for one, p in zip(names, parameters, strict=True)
    ]
    return names, heads, {f"default_{p.name}": p.default for p in parameters}


def made_of(source: str, **names: Any) -> Any:
    """The function defined by a text, in which further names may occur."""
    exec(source, names)
    return names[source.split("(", 1)[0].removeprefix("def ")]


def reads_of(rules: Rules) -> Reads:
    """The reads of the rules of a game at the first call, and thereby their keys."""
    if rules not in _FOUND:
        # one pool for all positions is processed in Python
        listed = rules.has_throws and (rules.pool is None or rules.rolls_vary)
        names = (*RULES, "throws") if listed else RULES
        functions = {name: getattr(type(rules.game), name) for name in names}
        if rules.game.applied_discount != 1:
            functions["outcomes"] = under_discount
        unread = () if rules.has_reward else ("reward",)
        _FOUND[rules] = what_is_read(rules, functions, unread)
    return _FOUND[rules]


_FOUND: WeakKeyDictionary[Rules, Reads] = WeakKeyDictionary()


def graph_key(rules: Rules, *facts: Any) -> Key:
    """The key of a game's graph, and of data that depend on further facts too.

    Raises
    ------
    RulesError, TypeError, ValueError
        The rules lack a fact needed for the key.
    """
    game = rules.game
    layers = {"progress": type(game).progress} if rules.has_progress else {}
    reads = reads_of(rules), what_is_read(rules, layers)
    key, of_layers = (r.whole_key for r in reads)
    found = key_of(
        {},
        (key.text, of_layers.text),
        (game.name, tuple(game.parameters.items()), game.players, game.objective, game.endless),
        (rules.layout.columns, rules.layout.unused, rules.has_action_text),
        *facts,
    )
    return found._replace(lasts=found.lasts and key.lasts and of_layers.lasts)


MOST_FILES = 1000  # the oldest files are deleted


def folder() -> Path | None:
    """The folder of compiled rules: with Numba's cache if that is set, otherwise the user's.

    None if it would not be private.
    """
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return private_folder(Path(chosen) / "rollwise-rules")
    home = place()
    return None if home is None else private_folder(home / "rules")


def has_compiled_roots(rules: Rules) -> bool:
    """Whether `roots` was compiled on this machine, so that the key has all that it reads."""
    place = folder()
    name = f"list_roots-{reads_of(rules).key.text}-*.rules"
    return place is not None and any(place.glob(name))


class Note:
    """A short text in the cache about a key. Keys that do not last have no note.

    An unreadable or unwritable folder is no error.
    """

    def __init__(self, key: Key, kind: str) -> None:
        place = folder() if key.lasts else None
        self._path = None if place is None else place / f"{key.text}.{kind}"

    def exists(self) -> bool:
        return self._path is not None and self._path.exists()

    def read(self) -> str:
        """The text; empty if there is none."""
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
    """Whether a note says that these rules and parameters give more than `outcomes` outcomes."""
    return _large_note(rules, outcomes).exists()


def note_large(rules: Rules, outcomes: int) -> None:
    """Note on disk that a game has more than `outcomes` outcomes."""
    _large_note(rules, outcomes).write()


def _large_note(rules: Rules, outcomes: int) -> Note:
    key = reads_of(rules).whole_key
    return Note(key._replace(text=f"{key.text}-{outcomes}"), "large")
