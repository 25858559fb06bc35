"""The language that games are written in.

A game is a frozen dataclass whose fields are its parameters. Its rules are plain
Python: where a play starts, what the mover may do, and what can come of it.
See ``rollwise/games/`` for rule sheets to copy.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rollwise.errors import ParameterError

if TYPE_CHECKING:
    from rollwise.graph import StateGraph

# What follows an outcome, from the mover's point of view.
AGAIN, PASS, WIN, LOSE, DRAW, END = range(6)
THEN_NAMES = ("AGAIN", "PASS", "WIN", "LOSE", "DRAW", "END")

Value = int | float | bool
Function = TypeVar("Function", bound=Callable[..., Any])

_RULES: list[Callable[..., Any]] = []


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
    """

    name: ClassVar[str] = "game"
    players: ClassVar[int] = 2
    objective: ClassVar[str] = "win"
    action_names: ClassVar[Sequence[str] | Mapping[int, str]] = ()

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
        for spec in parameter_specs(type(self)):
            spec.check(self.name, getattr(self, spec.name))

    def _repr_html_(self) -> str:
        """How a notebook shows it: its rules in a line, and its parameters."""
        from html import escape

        about = (type(self).__doc__ or "").strip().partition("\n")[0]
        rows = "".join(
            f"<tr><th>{escape(spec.name)}</th><td>{getattr(self, spec.name)}</td>"
            f"<td>{escape(spec.about)}</td></tr>"
            for spec in parameter_specs(type(self))
        )
        return f"<p><b>{escape(self.name)}</b>: {escape(about)}</p><table>{rows}</table>"

    @classmethod
    def policies(cls) -> dict[str, Callable[[Any, Any], int]]:
        """The policies written beside the rules: functions of game and state, by name."""
        attributes = [getattr(cls, name, None) for name in dir(cls)]
        marked = [f for f in attributes if callable(f) and hasattr(f, "__rollwise_policy__")]
        return {function.__rollwise_policy__: function for function in marked}


class DerivedGame(Game):
    """A game made from another one, whose graph can be made from the other's graph."""

    def derive(self) -> StateGraph:
        """The graph that the rules give, found without running them."""
        raise NotImplementedError(f"{type(self).__name__} has no derive()")


@dataclass(frozen=True)
class ParameterSpec:
    """What a parameter of a game may be."""

    name: str
    type: type
    default: Value | None
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
            raise ParameterError(f"{game}: {self.name} must be {kinds[self.type]}, not {value!r}")
        low, high = self.at_least, self.at_most
        if self.type is float and value != value:
            raise ParameterError(f"{game}: {self.name} must be a number, not {value!r}")
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
                f"{game.name}: the parameter {field.name} is declared as {field.type!r}; "
                "a parameter is an int, a float or a bool"
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
