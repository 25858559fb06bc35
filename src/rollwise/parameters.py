"""The parameters of a game: their types and ranges, and their values read from text."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import inspect
import itertools
import math
import operator
import re
import typing
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rollwise.errors import ParameterError, spelled
from rollwise.faults import shown

Value = int | float | bool | str

KINDS = {
    int: "a whole number",
    float: "a number such as 0.4 or 2/5",
    bool: "true or false",
    str: "a text",
    Fraction: "a number such as 2/5",
}
TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
MOST_FLAGS = 6  # of an enumeration whose sets of flags are values of a parameter
WORD = r"[\w.-]+"  # a text that titles, files and records of games can hold


def parameter(
    default: Value | enum.Enum | Fraction,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    among: Sequence[Value] = (),
    about: str = "",
    variant: bool = False,
) -> Any:
    """A parameter of a game with its range and a short description.

    Use it as a field's default: ``target: int = parameter(100, at_least=1)``. A `variant` is
    another version of the rules. Titles and files name it only if it isn't the default: a game may
    get versions, and its files remain valid.

    A text is one of the words of `among`:
    ``path: str = parameter("long", among=("long", "short"))``. An enumeration allows all its
    members: ``path: Path = parameter(Path.LONG)``. A member is typed, and stored in files, by its
    name in small letters, with dashes for underscores. A chance is exact as a fraction:
    ``p: Fraction = parameter(Fraction(2, 5))``.
    """
    metadata = {
        "at_least": at_least,
        "at_most": at_most,
        "among": tuple(among),
        "about": about,
        "variant": variant,
    }
    return dataclasses.field(default=default, metadata=metadata)


def declare_parameters(kind: type[Any]) -> None:
    """Make a class with parameters a frozen dataclass, unless its author did.

    A parameter without a type is left as it is.

    Raises
    ------
    ParameterError
        A default is a list, for example, or missing.
    """
    marked = {name for name, value in vars(kind).items() if isinstance(value, dataclasses.Field)}
    if marked and marked <= inspect.get_annotations(kind).keys():
        try:
            dataclass(frozen=True)(kind)
        except (TypeError, ValueError) as error:
            name = getattr(kind, "name", kind.__name__)
            raise ParameterError(f"{name}: {with_remedy(str(error))}") from error


def with_remedy(fault: str) -> str:
    """The message of an error of `dataclass`, in the words of rules and with a remedy."""
    if "non-frozen dataclass" in fault:
        return f"{fault}; write @dataclass(frozen=True)"
    if mutable := re.search(r"mutable default .* for field (\w+) .*default_factory", fault):
        name = mutable[1]
        return fault.replace(mutable[0], f"the parameter {name} is no number; {no_parameter(name)}")
    if missing := re.search(r"non-default argument '(\w+)' follows default argument.*", fault):
        name = missing[1]
        return fault.replace(
            missing[0], f"{name} has no default; write it, as in {name}: int = parameter(1)"
        )
    return fault


def word_of(value: Any) -> Any:
    """A parameter as it is typed and kept: the word for a member of an enumeration, ``2/5``.

    Flags are joined by points, ``red.blue``; without any the word is ``none``.
    """
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, enum.Flag):
        flags = [str(flag.name).lower().replace("_", "-") for flag in value]
        return ".".join(flags) or "none"
    return value.name.lower().replace("_", "-") if isinstance(value, enum.Enum) else value


def values_of(kind: Any) -> list[Any]:
    """The members of an enumeration; of flags also none of them, and several together."""
    members = list(kind)
    if not issubclass(kind, enum.Flag) or len(members) > MOST_FLAGS:
        return members
    sizes = range(len(members) + 1)
    several = (flags for size in sizes for flags in itertools.combinations(members, size))
    return [functools.reduce(operator.or_, flags, kind(0)) for flags in several]


def _in_python(member: enum.Enum) -> str:
    """A member as rules write it."""
    kind = type(member).__name__
    if not isinstance(member, enum.Flag):
        return f"{kind}.{member.name}"
    return " | ".join(f"{kind}.{flag.name}" for flag in member) or f"{kind}(0)"


def typed(value: Any) -> str:
    """A result of `word_of` as typed on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _limit_text(limit: float | Fraction | None) -> str:
    """A limit in words; empty without one. Before Python 3.12 fractions know no commas."""
    if limit is None:
        return ""
    return str(limit) if isinstance(limit, Fraction) else f"{limit:,}"


@dataclass(frozen=True)
class ParameterSpec:
    """Type, default and range of a parameter of a game.

    Attributes
    ----------
    type : type
        int, float, Fraction, bool, str or an enumeration.
    default, among
        As `word_of` writes them. `among` is empty for a parameter with a range only.
    """

    name: str
    type: type
    default: Any
    at_least: float | Fraction | None
    at_most: float | Fraction | None
    about: str
    among: tuple[Value, ...] = ()

    @property
    def range_text(self) -> str:
        """The range in words, or an empty string."""
        if self.among:
            return either(map(str, self.among))
        low, high = map(_limit_text, (self.at_least, self.at_most))
        if low and high:
            return f"from {low} to {high}"
        return f"at least {low}" if low else f"at most {high}" if high else ""

    def check(self, game: str, value: Any) -> None:
        """Raise ParameterError unless `value` has the right type and lies in range."""
        accepted: Any = {float: int | float, Fraction: int | Fraction}.get(self.type, self.type)
        is_member = issubclass(self.type, enum.Enum)
        right = (
            isinstance(value, accepted)
            and isinstance(value, bool) == (self.type is bool)
            and isinstance(value, enum.Enum) == is_member
        )
        if not right or (self.among and word_of(value) not in self.among):
            raise self._refused(game, value)
        if is_member or self.type is str:
            return
        low, high = self.at_least, self.at_most
        if self.type is float and not math.isfinite(value):
            raise ParameterError(f"{game}: {self.name} must be a finite number, not {value!r}")
        if self.type is int and not -(2**63) <= value < 2**63:
            raise ParameterError(f"{game}: {self.name} is {shown(value)}, beyond 64 bits")
        if (low is not None and value < low) or (high is not None and value > high):
            raise ParameterError(
                f"{game}: {self.name} must be {self.range_text}, not {typed(word_of(value))}"
            )

    def _refused(self, game: str, value: Any) -> ParameterError:
        """The error for a value of another type, or outside `among`."""
        import difflib

        expected = self.range_text if self.among else KINDS[self.type]
        close = difflib.get_close_matches(str(value).lower(), map(str, self.among), 1)
        if issubclass(self.type, enum.Enum):
            word = close[0] if close else None
            members = {word_of(member): _in_python(member) for member in values_of(self.type)}
            expected = spelled(python=either(members.values()), command_line=expected)
            close = [spelled(python=members[word], command_line=word)] if word else []
        hint = f"; did you mean {close[0]}?" if close else ""
        if type(value).__module__ == "numpy":
            hint = f", a number of NumPy: write {self.type.__name__}(...)"
        return ParameterError(f"{game}: {self.name} must be {expected}, not {shown(value)}{hint}")

    def parse(self, game: str, text: str) -> Value:
        """Read a value as typed on the command line.

        Raises
        ------
        ParameterError
            The text isn't a value of the parameter's type, or is out of range.
        """
        value: Any = text
        kind: Any = self.type
        if kind is bool:
            value = TRUTHS.get(text.lower(), text)
        elif issubclass(kind, enum.Enum):
            value = {word_of(one): one for one in values_of(kind)}.get(text, text)
        else:
            with contextlib.suppress(ValueError, ArithmeticError):
                # a fraction is rounded where a parameter is a double
                value = kind(Fraction(text) if kind is float and "/" in text else text)
        self.check(game, value)
        return typing.cast(Value, value)


def either(words: Iterable[str]) -> str:
    """Words as a choice: ``a, b or c``."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def no_parameter(name: str) -> str:
    """The advice for a field of a type that no parameter can have."""
    return (
        f"a parameter is an int, a float, a Fraction, a bool, an enumeration or a str with "
        f"parameter(..., among=(...)), and anything else is written {name}: ClassVar = ..."
    )


_specs: dict[Any, tuple[ParameterSpec, ...]] = {}  # by kind of game


def parameter_specs(game: type[Any]) -> tuple[ParameterSpec, ...]:
    """The parameters of a kind of game, in their order.

    Raises
    ------
    ParameterError
        A parameter has an impossible type, or the name of a method or property of all games.
    """
    if game not in _specs:
        declare_parameters(game)
        hints: dict[str, Any] = {}
        with contextlib.suppress(Exception):  # an annotation is the author's code
            hints = typing.get_type_hints(game)
        fields = dataclasses.fields(game)
        _specs[game] = tuple(_spec_of(game, one, hints.get(one.name, one.type)) for one in fields)
    return _specs[game]


def read_values(assignments: Sequence[str]) -> dict[str, str]:
    """Parameters as typed: NAME=VALUE...

    Raises
    ------
    ParameterError
        A text has another form, or a name is given twice.
    """
    values: dict[str, str] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ParameterError(f"{text!r} isn't a parameter; write name=value")
        if name in values:
            raise ParameterError(f"the parameter {name!r} is given twice")
        values[name] = value
    return values


def _spec_of(game: type[Any], field: dataclasses.Field[Any], kind: Any) -> ParameterSpec:
    """The spec of a field declared with this `kind`."""
    meta = field.metadata
    among = meta.get("among", ())
    default = None if field.default is dataclasses.MISSING else field.default
    if kind is float and isinstance(default, Fraction):
        kind = Fraction
    if kind is Fraction:
        default = word_of(default)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        among, default = tuple(map(word_of, values_of(kind))), word_of(default)
    elif kind not in KINDS or (kind is str and not among):
        raise ParameterError(
            f"{game.name}: the parameter {field.name} is declared as {shown(field.type)}; "
            f"{no_parameter(field.name)}"
        )
    for word in among:
        if kind is str and not (isinstance(word, str) and re.fullmatch(WORD, word)):
            raise ParameterError(
                f"{game.name}: {field.name} may be {shown(word)}, which can't be typed; write a "
                "word of letters, digits, dots, dashes and underscores"
            )
    inherited = [base.__dict__.get(field.name) for base in game.__mro__[1:]]
    if any(callable(there) or isinstance(there, property) for there in inherited):
        raise ParameterError(
            f"{game.name}: a parameter can't be called {field.name}, since that is something "
            "that every game says; call it something else"
        )
    low, high = meta.get("at_least"), meta.get("at_most")
    return ParameterSpec(field.name, kind, default, low, high, meta.get("about", ""), among)
