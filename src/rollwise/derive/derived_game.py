"""Games made from other games, such as a chase of a score and a contest of two."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import build
from rollwise.builders.contract import more_states
from rollwise.errors import ParameterError, RulesError, TooManyStates
from rollwise.game import Game, has_many, require_game
from rollwise.graph import StateGraph
from rollwise.graph.choices import first_actions
from rollwise.machine import memory_limits
from rollwise.parameters import ParameterSpec

_STATE_TYPES: dict[Any, Any] = {}


SMALLER = "smaller parameters or a smaller state help"


def with_methods(game: Game, **methods: Any) -> Game:
    """A copy of a game with these methods instead of its own."""
    kind, made = type(game), copy(game)
    same = {"__module__": kind.__module__, "name": kind.name, "heading": kind.heading}
    # The copy gets a subclass as its class; its fields, which are frozen, stay as they are.
    object.__setattr__(made, "__class__", type(kind.__name__, (kind,), same | methods))
    return made


def as_inner(name: str) -> Any:
    """A property of a derived game that is as in its inner game."""
    return property(lambda game: getattr(game.inner, name), doc="As in the inner game.")


def whole_graph(game: Game, purpose: str, remedy: str = SMALLER) -> StateGraph:
    """The graph of a game, for a `purpose` that needs all of it: "a chase", "a contest".

    Raises
    ------
    TooManyStates
    """
    try:
        return build(game, max_states=memory_limits.most_states)
    except TooManyStates as error:
        if memory_limits.most_states is not None:
            remedy = f"{remedy}, or {more_states()}"
        raise TooManyStates(
            f"{error.fault}; {purpose} needs a graph of the whole game: {remedy}"
        ) from error


@dataclass(frozen=True)
class DerivedGame(Game):
    """A game made from another one, with a graph made from the other's graph.

    A state is a state of the inner game with further fields at the end. The actions are
    the inner game's. Properties are read from the game object, not from its class: parameters,
    policies and words come from the inner game too.

    If the inner game has throws, its rules take the throw as an argument: a choice is an action, or
    a throw and an action.

    Attributes
    ----------
    inner : Game
    added_fields, form, form_specs, purpose, remedy, takes
        Of a class: its added fields, the word after ``as=``, the parameters of this form, the
        purpose that needs the whole graph ("a chase"), the remedy if there is none, and the
        numbers of players of an inner game.
    rounds_because : str
        The reason why numbers may be rounded that the rules don't name, for an error; or empty.
    """

    inner: Game
    added_fields: ClassVar[tuple[str, ...]] = ()
    form: ClassVar[str] = ""
    form_specs: ClassVar[tuple[ParameterSpec, ...]] = ()
    purpose: ClassVar[str] = ""
    remedy: ClassVar[str] = SMALLER
    takes: ClassVar[tuple[int, ...]] = (1,)
    rounds_because = ""
    has_throws, reads_rolls_left = as_inner("has_throws"), as_inner("reads_rolls_left")
    column_names, action_names = as_inner("column_names"), as_inner("action_names")
    rounding = as_inner("rounding")

    @property
    def state_type(self) -> Any:
        """The type of the states: the fields of the inner game and the added ones.

        Raises
        ------
        RulesError
            A field of the inner game has the name of an added one.
        """
        inner: Any = type(self.inner.start())
        key = type(self), inner, self.added_fields
        self._require_free_names(inner._fields)
        if key not in _STATE_TYPES:
            fields = [(name, int) for name in (*inner._fields, *self.added_fields)]
            _STATE_TYPES[key] = typing.NamedTuple(f"{inner.__name__}{type(self).__name__}", fields)
        return _STATE_TYPES[key]

    def _require_free_names(self, names: Iterable[str]) -> None:
        for name in set(names) & set(self.added_fields):
            raise RulesError(
                f"{self.inner.name}: the state has a field {name!r}, and as={self.form} adds one "
                "of that name; call it something else"
            )

    def __init_subclass__(cls, **kwargs: Any) -> None:
        cls.name = DerivedGame.name  # type: ignore[method-assign]  # and not that of the class
        super().__init_subclass__(**kwargs)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the inner game; the parameter ``as`` says how it is played."""
        return self.inner.name

    @property
    def inner_rules(self) -> str:
        """The rules of the inner game in words, to be followed by a paragraph about the form."""
        text = self.inner.description
        return f"{text}\n\n" if text else ""

    @cached_property
    def inner_graph(self) -> StateGraph:
        """The graph of the inner game.

        Raises
        ------
        RulesError
            A column of the inner game has the name of an added one.
        """
        graph = whole_graph(self.inner, self.purpose, self.remedy)
        self._require_free_names(graph.field_names)
        return graph

    def throws(self, s: Any) -> Iterable[Any]:
        return self.inner.throws(self.inner_state(s))

    def actions(self, s: Any, *throw: Any) -> Iterator[int]:
        yield from self.inner.actions(self.inner_state(s), *throw)

    @property
    def made_from(self) -> Game:
        """The inner game."""
        return self.inner

    def base_graph(self, graph: StateGraph) -> StateGraph:
        """The graph of the inner game."""
        return self.inner_graph

    def derive(self) -> StateGraph:
        """The graph of the rules, made from the inner game's."""
        raise NotImplementedError(f"{type(self).__name__} has no derive()")

    def inner_state(self, s: Any) -> Any:
        """The inner game's part of a state."""
        kind = type(self.inner.start())
        return kind(*s[: len(kind._fields)])

    @property
    def added_members(self) -> Mapping[str, dict[str, int]]:
        """The numbers of added fields that have words, as members of an enumeration have them."""
        return {}

    def describe_added(self, s: Any) -> str:
        """The added fields in words, for players."""
        raise NotImplementedError(f"{type(self).__name__} has no describe_added()")

    def describe(self, s: Any) -> str:
        """The inner game's description, and then the added fields."""
        return f"{self.inner.describe(self.inner_state(s))}; {self.describe_added(s)}"

    def field_text(self, name: str, number: int) -> str:
        """The inner game's text, or the word for a number in an added field."""
        if name in self.added_fields:
            return super().field_text(name, number)
        return self.inner.field_text(name, number)

    def validate(self) -> None:
        """Check the parameters of the inner game and of the form.

        Raises
        ------
        UsageError, ParameterError
            The inner game is none; or a parameter has another type, or is out of range.
        """
        require_game(self.inner).validate()
        if has_many(self.inner):
            raise self._too_many_players()
        for spec in self.form_specs:
            if (value := getattr(self, spec.name)) is not None:
                spec.check(f"{self.inner.name} as={self.form}", value)

    def _too_many_players(self) -> ParameterError:
        """The error of an inner game for three players or more."""
        name, most = self.inner.name, max(self.takes)
        whose = " or ".join("two players" if n == 2 else "one player" for n in self.takes)
        remedy = f"`rollwise solve {name}` solves the game itself"
        if any(s.name == "players" and (s.at_least or 0) <= most for s in self.inner.specs):
            remedy = f"write {name} players={most} as={self.form}"
        here = f"this game has {self.inner.players} players"
        return ParameterError(f"{name}: as={self.form} is for {whose}, and {here}; {remedy}")

    @property
    def own_specs(self) -> list[ParameterSpec]:
        """The parameters added by this game, each with its value as the default."""
        return []

    @property
    def specs(self) -> list[ParameterSpec]:
        """The specs of the inner game, the form and this game. Of equal names the form's is used.

        Variants of the inner game at their default are left out, as in the parameters. The form of
        a form has both words: ``as=contest.cube``.
        """
        played = self.inner.parameters
        inner = [spec for spec in self.inner.specs if spec.name in played]
        taken = {spec.name for spec in inner}
        word = f"{played['as']}.{self.form}" if "as" in played else self.form
        form = ParameterSpec("as", str, word, None, None, "how the game is played", (word,))
        own = [
            dataclasses.replace(
                spec, name=f"{self.form}_{spec.name}" if spec.name in taken else spec.name
            )
            for spec in self.own_specs
        ]
        return [*inner, form, *own]

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the inner game, and its own."""
        own = self.specs[len(self.inner.parameters) :]
        return self.inner.parameters | {spec.name: spec.default for spec in own}

    def blindly(self, policy: Callable[..., int], s: Any, *throw: Any) -> int:
        """The action of a policy of the inner game, which doesn't see the added fields."""
        return policy(self.inner, self.inner_state(s), *throw)

    def policies(self) -> dict[str, Callable[[Any, Any], int]]:  # type: ignore[override]
        """The inner game's policies, which don't see the added fields."""

        def blind(function: Callable[..., int]) -> Callable[..., int]:
            def ask(game: DerivedGame, s: Any, *throw: Any) -> int:
                return game.blindly(function, s, *throw)

            ask.__doc__ = function.__doc__
            return ask

        return {name: blind(function) for name, function in self.inner.policies().items()}


def places_in(rows: NDArray[Any], among: NDArray[Any]) -> NDArray[np.int64]:
    """Index of each row among other distinct rows; -1 if absent: (n,) int64."""
    import polars as pl

    names = [str(k) for k in range(rows.shape[1])]
    left, right = (
        pl.DataFrame(part.astype(np.int64), schema=names, orient="row") for part in (rows, among)
    )
    right = right.with_row_index("place")
    found = left.join(right, on=names, how="left", maintain_order="left")["place"]
    return found.cast(pl.Int64).fill_null(-1).to_numpy()


def base_actions(graph: StateGraph, inner: StateGraph) -> NDArray[np.int64]:
    """For each action of a derived graph, its action in the base game's graph."""
    state = places_in(graph.rows[:, : len(inner.columns)], inner.rows)[graph.action_state]
    # A state has the actions of its base state, in their order.
    step = np.arange(graph.n_actions) - first_actions(graph)[graph.action_state]
    return first_actions(inner)[state] + step
