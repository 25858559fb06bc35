"""The language that games are written in.

A game is a frozen dataclass whose fields are its parameters. Its rules are plain
Python: where a play starts, what the mover may do, and what can come of it.
See ``rollwise/games/`` for rule sheets to copy.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import math
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rollwise.errors import ParameterError
from rollwise.faults import one_line, shown

if TYPE_CHECKING:
    from rollwise.graph import StateGraph

# What follows an outcome, from the mover's point of view.
AGAIN, PASS, WIN, LOSE, DRAW, END = range(6)
THEN_NAMES = ("AGAIN", "PASS", "WIN", "LOSE", "DRAW", "END")

Value = int | float | bool
Function = TypeVar("Function", bound=Callable[..., Any])

_RULES: list[Callable[..., Any]] = []
_STATE_TYPES: dict[Any, Any] = {}  # of derived games


def rule(function: Function) -> Function:
    """Mark a helper function that rules call, so that it is compiled with them.

    The function stays what it is; it must be one that Numba can compile.
    """
    _RULES.append(function)
    return function


def marked_rules() -> tuple[Callable[..., Any], ...]:
    """All functions marked with `rule` so far."""
    return tuple(_RULES)


def policy(function: Function) -> Function:
    """Mark a method ``name(self, state) -> action`` as a policy that people use.

    Its name on the command line has dashes for underscores: ``hold_at_20`` is
    ``hold-at-20``. The first line of its docstring says what it does.
    """
    function.__rollwise_policy__ = function.__name__.replace("_", "-")  # type: ignore[attr-defined]
    return function


def parameter(
    default: Value,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    about: str = "",
) -> Any:
    """A parameter of a game with its range and a word on what it means.

    Use it as a field's default: ``target: int = parameter(100, at_least=1)``.
    """
    metadata = {"at_least": at_least, "at_most": at_most, "about": about}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Game:
    """A turn-based dice game.

    Write `start`, `actions` and `outcomes`; a state is a NamedTuple of whole
    numbers, whose type is that of whatever `start` returns.

    Attributes
    ----------
    name : str
        What the game is called on the command line; made from the class's name
        (``SuperSix`` is ``super-six``) unless given.
    players : int
        2, or 1 for a solitaire game.
    objective : {"win", "maximize", "minimize"}
        Win a game of wins and losses, or get the largest or smallest expected
        total of the rewards of a solitaire game.
    action_names : sequence or mapping
        Names of the actions; an action without one is shown as its number.
    endless : {"forbidden", "draw", "lose"}
        What play is worth that never ends, in a game that is won or lost: the rules are
        refused where players could go round for ever, or such play is a draw, or whoever
        keeps it up loses (both players, where they keep the turn passing). A game for points
        needs none: rounds that cost are allowed, since endless play loses without bound.
    """

    name: ClassVar[str] = "game"
    players: ClassVar[int] = 2
    objective: ClassVar[str] = "win"
    action_names: ClassVar[Sequence[str] | Mapping[int, str]] = ()
    endless: ClassVar[str] = "forbidden"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", cls.__name__)
            cls.name = words.replace("_", "-").lower()

    def __post_init__(self) -> None:
        self.validate()

    def start(self) -> Any:
        """The opening position, as the player who moves first sees it."""
        raise NotImplementedError(f"{type(self).__name__} has no start()")

    def roots(self) -> Iterable[Any]:
        """Positions that a table should cover, whether or not a play reaches them."""
        yield self.start()

    def actions(self, s: Any) -> Iterator[int]:
        """Yield the actions (whole numbers from 0) that the mover may take."""
        raise NotImplementedError(f"{type(self).__name__} has no actions()")

    def outcomes(self, s: Any, action: int) -> Iterator[tuple[Any, int, Any]]:
        """Yield ``(weight, then, next_state)`` for all that can come of an action."""
        raise NotImplementedError(f"{type(self).__name__} has no outcomes()")

    def reward(self, s: Any, action: int) -> float:
        """Points for taking an action."""
        return 0.0

    def progress(self, s: Any) -> int:
        """How far the game has gone: a whole number that no outcome lowers.

        A game that says so can be solved a layer at a time (`rollwise.solve_by_layers`),
        in memory for one layer: sticks that left the game, points in both banks.
        """
        return 0

    @property
    def parameters(self) -> dict[str, Value]:
        """The parameters of this game, by name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def validate(self) -> None:
        """Check every parameter against its type and range.

        Raises
        ------
        ParameterError
            Names the game, the parameter and what it must be.
        """
        if not isinstance(self.name, str) or self.name != one_line(self.name) or not self.name:
            raise ParameterError(
                f"{type(self).__name__}: name is {shown(self.name)}; it must be a text of one line"
            )
        for spec in parameter_specs(type(self)):
            spec.check(self.name, getattr(self, spec.name))

    @property
    def specs(self) -> list[ParameterSpec]:
        """What each of the `parameters` may be."""
        return parameter_specs(type(self))

    @property
    def description(self) -> str:
        """The rules in words: the docstring of the class."""
        return inspect.getdoc(type(self)) or ""

    def _repr_html_(self) -> str:
        """How a notebook shows it: its rules in a line, and its parameters."""
        from html import escape

        about = self.description.partition("\n")[0]
        values = self.parameters
        rows = "".join(
            f"<tr><th>{escape(spec.name)}</th><td>{escape(str(values[spec.name]))}</td>"
            f"<td>{escape(spec.about)}</td></tr>"
            for spec in self.specs
        )
        return f"<p><b>{escape(self.name)}</b>: {escape(about)}</p><table>{rows}</table>"

    @classmethod
    def policies(cls) -> dict[str, Callable[[Any, Any], int]]:
        """The policies written beside the rules: functions of game and state, by name."""
        attributes = [getattr(cls, name, None) for name in dir(cls)]
        marked = [f for f in attributes if callable(f) and hasattr(f, "__rollwise_policy__")]
        return {function.__rollwise_policy__: function for function in marked}


@dataclass(frozen=True)
class DerivedGame(Game):
    """A game made from another one, whose graph can be made from the other's graph.

    A state is one of the other game's with further fields behind, and the actions are
    the other game's. What a game says of itself is asked of the game, and not of its
    class: the parameters, policies and words here come from the inner game too.
    """

    inner: Game
    added_fields: ClassVar[tuple[str, ...]] = ()

    @property
    def state_type(self) -> Any:
        """The type of the states: the fields of the inner game's, and those that are added."""
        inner: Any = type(self.inner.start())
        key = type(self), inner
        if key not in _STATE_TYPES:
            fields = [(name, int) for name in (*inner._fields, *self.added_fields)]
            _STATE_TYPES[key] = typing.NamedTuple(f"{inner.__name__}{type(self).__name__}", fields)
        return _STATE_TYPES[key]

    @property
    def inner_graph(self) -> StateGraph:
        """The graph of the inner game."""
        raise NotImplementedError(f"{type(self).__name__} has no inner_graph")

    def derive(self) -> StateGraph:
        """The graph that the rules give, found without running them."""
        raise NotImplementedError(f"{type(self).__name__} has no derive()")

    def inner_state(self, s: Any) -> Any:
        """The inner game's part of a state."""
        kind = type(self.inner.start())
        return kind(*s[: len(kind._fields)])

    def describe_added(self, s: Any) -> str:
        """The fields that were added, in words, for people who play."""
        raise NotImplementedError(f"{type(self).__name__} has no describe_added()")

    def validate(self) -> None:
        """The parameters of the inner game are checked; the rest when the game is made."""
        self.inner.validate()

    @property
    def action_names(self) -> Sequence[str] | Mapping[int, str]:  # type: ignore[override]
        """As in the inner game."""
        return self.inner.action_names

    @property
    def own_specs(self) -> list[ParameterSpec]:
        """The parameters that this game adds, each with its value as the default."""
        raise NotImplementedError(f"{type(self).__name__} has no own_specs")

    @property
    def specs(self) -> list[ParameterSpec]:
        """Those of the inner game, and its own; a name that is taken gets another in front."""
        inner = self.inner.specs
        taken = {spec.name for spec in inner}
        prefix = f"{type(self).__name__.lower()}_"
        own = [
            dataclasses.replace(spec, name=prefix + spec.name if spec.name in taken else spec.name)
            for spec in self.own_specs
        ]
        return [*inner, *own]

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the inner game, and its own."""
        inner = self.inner.parameters
        return inner | {s.name: s.default for s in self.specs if s.name not in inner}

    def policies(self) -> dict[str, Callable[[Any, Any], int]]:  # type: ignore[override]
        """The inner game's policies, which don't see the fields that were added."""

        def blind(function: Callable[[Any, Any], int]) -> Callable[[Any, Any], int]:
            def ask(game: DerivedGame, s: Any) -> int:
                return function(game.inner, game.inner_state(s))

            ask.__doc__ = function.__doc__
            return ask

        return {name: blind(function) for name, function in self.inner.policies().items()}


@dataclass(frozen=True)
class ParameterSpec:
    """What a parameter of a game may be."""

    name: str
    type: type
    default: Any
    at_least: float | None
    at_most: float | None
    about: str

    @property
    def range_text(self) -> str:
        """The range in words, or an empty string."""
        if self.at_least is not None and self.at_most is not None:
            return f"from {self.at_least} to {self.at_most}"
        if self.at_least is not None:
            return f"at least {self.at_least}"
        if self.at_most is not None:
            return f"at most {self.at_most}"
        return ""

    def check(self, game: str, value: Any) -> None:
        """Raise ParameterError unless `value` has the right type and lies in range."""
        kinds = {int: "a whole number", float: "a number", bool: "true or false"}
        right = (
            isinstance(value, bool)
            if self.type is bool
            else isinstance(value, int | float if self.type is float else int)
            and not isinstance(value, bool)
        )
        if not right:
            raise ParameterError(
                f"{game}: {self.name} must be {kinds[self.type]}, not {shown(value)}"
            )
        low, high = self.at_least, self.at_most
        if self.type is float and not math.isfinite(value):
            raise ParameterError(f"{game}: {self.name} must be a finite number, not {value!r}")
        if self.type is int and not -(2**63) <= value < 2**63:
            raise ParameterError(f"{game}: {self.name} is {shown(value)}, beyond 64 bits")
        if (low is not None and value < low) or (high is not None and value > high):
            raise ParameterError(f"{game}: {self.name} must be {self.range_text}, not {value!r}")

    def parse(self, game: str, text: str) -> Value:
        """Read a value as typed on the command line.

        Raises
        ------
        ParameterError
            The text isn't a value of the parameter's type, or is out of range.
        """
        value: Any = text
        if self.type is bool:
            words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
            value = words.get(text.lower(), text)
        else:
            with contextlib.suppress(ValueError):
                value = self.type(text)
        self.check(game, value)
        return typing.cast(Value, value)


def no_parameter(name: str) -> str:
    """What to write where something that isn't a parameter is declared like one."""
    return (
        f"a parameter is an int, a float or a bool, and anything else is written "
        f"{name}: ClassVar = ..."
    )


def parameter_specs(game: type[Game]) -> list[ParameterSpec]:
    """The parameters of a kind of game, in their order.

    Raises
    ------
    ParameterError
        A parameter is declared as something other than int, float or bool.
    """
    try:
        hints = typing.get_type_hints(game)
    except (NameError, TypeError):
        hints = {}
    specs = []
    for field in dataclasses.fields(game):
        kind = hints.get(field.name, field.type)
        if kind not in (int, float, bool):
            raise ParameterError(
                f"{game.name}: the parameter {field.name} is declared as {shown(field.type)}; "
                f"{no_parameter(field.name)}"
            )
        default = None if field.default is dataclasses.MISSING else field.default
        meta = field.metadata
        specs.append(
            ParameterSpec(
                field.name,
                kind,
                default,
                meta.get("at_least"),
                meta.get("at_most"),
                meta.get("about", ""),
            )
        )
    return specs
