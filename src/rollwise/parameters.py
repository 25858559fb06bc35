"""The parameters of a game: what they may be, and how they are read from text."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import typing
from dataclasses import dataclass
from typing import Any

from rollwise.errors import ParameterError
from rollwise.faults import shown

Value = int | float | bool


def parameter(
    default: Value,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    about: str = "",
    variant: bool = False,
) -> Any:
    """A parameter of a game with its range and a word on what it means.

    Use it as a field's default: ``target: int = parameter(100, at_least=1)``. A `variant` is
    another version of the rules. Titles and files name it only where it isn't the default, so
    that a game may get versions and its files stay good.
    """
    metadata = {"at_least": at_least, "at_most": at_most, "about": about, "variant": variant}
    return dataclasses.field(default=default, metadata=metadata)


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


def parameter_specs(game: type[Any]) -> list[ParameterSpec]:
    """The parameters of a kind of game, in their order.

    Raises
    ------
    ParameterError
        A parameter is declared as something other than int, float or bool, or has the
        name of something that every game can do.
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
        inherited = [base.__dict__.get(field.name) for base in game.__mro__[1:]]
        if any(callable(there) or isinstance(there, property) for there in inherited):
            raise ParameterError(
                f"{game.name}: a parameter can't be called {field.name}, since that is something "
                "that every game says; call it something else"
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
