"""What functions of a game read, and the keys by which it is known.

Code that was compiled for a game is used again where its `Reads.key` is the same. Whatever
else depends on rules (a note that a game is large, a graph kept between runs) is known by
that key and further facts: `Reads.key_with`.
"""

from __future__ import annotations

import platform
import types as python_types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeGuard
from weakref import WeakKeyDictionary

import numpy as np

import rollwise
from rollwise.builders.compiled.cache_key import Key, key_of, names_in
from rollwise.builders.compiled.record import array_dtype, is_constant
from rollwise.builders.rules import Rules
from rollwise.graph.layout import StateLayout

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
