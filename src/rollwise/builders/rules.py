"""What the builders need to know about a game before they run its rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from rollwise.builders.draws import drawn_by
from rollwise.errors import RulesError, TooManyStates, spelled
from rollwise.faults import PASSED_ON, fault_text, one_line, shown
from rollwise.game import (
    AGAIN,
    DRAW,
    END,
    LOSE,
    PASS,
    THEN_NAMES,
    WIN,
    Game,
    is_payoff,
    then_text,
)

if TYPE_CHECKING:
    from rollwise.builders.compiled.reads import Reads

LEAST, MOST = -(2**31), 2**31 - 1

# Columns of the strategy table, which no field may be called.
RESERVED = ("action", "value", "win_probability", "error_bound")


def more_states() -> str:
    """How one allows more states."""
    return spelled(python="max_states=N", command_line="--max-states N")


@dataclass(frozen=True, eq=False)
class Rules:
    """A game with the facts that don't change from state to state.

    Raises
    ------
    RulesError
        The game's attributes, or its start, break the contract.
    """

    game: Game

    def __post_init__(self) -> None:
        game = self.game
        game.validate()
        if type(game.players) is not int or game.players not in (1, 2):
            raise RulesError(f"{game.name}: players is {shown(game.players)}; it must be 1 or 2")
        if game.objective not in ("win", "maximize", "minimize"):
            raise RulesError(
                f"{game.name}: objective is {shown(game.objective)}; it must be 'win', "
                "'maximize' or 'minimize'"
            )
        if game.players == 2 and game.objective != "win":
            raise RulesError(
                f"{game.name}: the objective {game.objective!r} is for solitaire games "
                "(players = 1)"
            )
        if game.endless not in ("forbidden", "draw", "lose"):
            raise RulesError(
                f"{game.name}: endless is {game.endless!r}; it must be 'forbidden', 'draw' or "
                "'lose' (what play is worth that never ends)"
            )
        if game.objective != "win" and game.endless != "forbidden":
            raise RulesError(
                f"{game.name}: endless = {game.endless!r} is for games that are won or lost; in a "
                "game for points endless play loses without bound, or is refused"
            )
        drawing = drawn_by(game)
        if drawing is not None:
            raise RulesError(
                f"{game.name}: {drawing[0]}() draws with {drawing[1]}; rules draw nothing: "
                "outcomes() yields all that can happen, with its weight"
            )
        taken = [name for name in self.field_names if name in RESERVED]
        if taken:
            raise RulesError(
                f"{game.name}: the field {taken[0]!r} of the state has the name of a column "
                "of the strategy table; call it something else"
            )
        self.action_names  # noqa: B018 (which are looked at before anything is built)

    @cached_property
    def start(self) -> Any:
        try:
            return self.game.start()
        except PASSED_ON:
            raise
        except BaseException as error:
            raise RulesError(f"{self.game.name}: start() fails: {fault_text(error)}") from error

    @cached_property
    def state_type(self) -> type:
        kind = type(self.start)
        if not (issubclass(kind, tuple) and hasattr(kind, "_fields") and kind._fields):
            raise RulesError(
                f"{self.game.name}: start() gives {shown(self.start)}; a state is a NamedTuple "
                "of whole numbers"
            )
        return kind

    @cached_property
    def field_names(self) -> tuple[str, ...]:
        return tuple(self.state_type._fields)  # type: ignore[attr-defined]

    @cached_property
    def reads(self) -> Reads:
        """What the rules read, and the key that they are known by, as they are now."""
        from rollwise.builders.compiled.reads import what_rules_read  # which imports Numba

        return what_rules_read(self)

    @cached_property
    def has_reward(self) -> bool:
        return type(self.game).reward is not Game.reward

    @cached_property
    def has_progress(self) -> bool:
        return type(self.game).progress is not Game.progress

    @cached_property
    def action_names(self) -> dict[int, str]:
        names = self.game.action_names
        try:
            pairs = dict(names) if isinstance(names, Mapping) else dict(enumerate(names))
            found = {index(label): name for label, name in pairs.items()}
        except PASSED_ON:
            raise
        except BaseException:
            found = {-1: ""}
        named = all(isinstance(name, str) and name == one_line(name) for name in found.values())
        if not named or isinstance(names, str) or min(found, default=0) < 0:
            raise RulesError(
                f"{self.game.name}: action_names is {shown(names)}; it gives each action a name, "
                "as in ('roll', 'hold') or {1: 'one die', 2: 'two dice'}"
            )
        return found

    @cached_property
    def allowed_thens(self) -> tuple[int, ...]:
        """What may follow an outcome in a game of this kind."""
        if self.game.objective != "win":
            return (AGAIN, END)
        if self.game.players == 1:
            return (AGAIN, WIN, LOSE, DRAW)
        return (AGAIN, PASS, WIN, LOSE, DRAW)

    @property
    def payoffs_allowed(self) -> bool:
        """Whether the game may end with any payoff."""
        return self.game.objective == "win"

    @property
    def rewards_allowed(self) -> bool:
        """Whether an action may bring points."""
        return self.game.objective != "win" or (
            self.game.players == 2 and self.game.endless == "forbidden"
        )

    @property
    def reward_error(self) -> str:
        """What is wrong with a reward that isn't allowed."""
        if self.game.players == 2:
            return f"is for games without endless play, but endless is {self.game.endless!r}"
        return (
            "is for the objectives 'maximize' and 'minimize' and for games of two players, but "
            "this is a solitaire game and the objective is 'win'"
        )

    def allows(self, then: int) -> bool:
        """Whether this may follow an outcome in a game of this kind."""
        return then in self.allowed_thens or (self.payoffs_allowed and is_payoff(then))

    @cached_property
    def going_on(self) -> frozenset[int]:
        """What may follow an outcome that leads to a state."""
        return frozenset(self.allowed_thens) & {AGAIN, PASS}

    def then_error(self, then: Any) -> str:
        """What is wrong with a `then` that isn't allowed."""
        code = int(then) if isinstance(then, int | np.integer) else -1
        if 0 <= code < len(THEN_NAMES) or is_payoff(code):
            kind = "solitaire game" if self.game.players == 1 else "two-player game"
            allowed = ", ".join(THEN_NAMES[code] for code in self.allowed_thens)
            points = "; reward(s, action) gives points" if is_payoff(code) else ""
            return (
                f"{then_text(code)} in a {kind} with the objective "
                f"{self.game.objective!r} (allowed: {allowed}{points})"
            )
        return f"unknown `then` {shown(then)} (it is one of {', '.join(THEN_NAMES)})"

    def is_plain(self, state: Any) -> bool:
        """Whether a state of the right type needs no further look: all fields small ints."""
        return set(map(type, state)) == {int} and min(state) >= LEAST and max(state) <= MOST

    def checked(self, state: Any, where: str) -> Any:
        """The state with plain ints for fields, or a RulesError that names the field."""
        game, state_type = self.game, self.state_type
        if not isinstance(state, tuple) or type(state) is not state_type:
            raise RulesError(
                f"{game.name}: {where} gives {shown(state)}, which isn't a {state_type.__name__} "
                "like the start"
            )
        fields: list[Any] = []
        for name, field in zip(self.field_names, state, strict=True):
            try:
                number = index(field)
            except TypeError:
                raise RulesError(
                    f"{game.name}: {where} gives {name}={shown(field)}; "
                    "the fields of a state are whole numbers"
                ) from None
            if not LEAST <= number <= MOST:
                raise RulesError(
                    f"{game.name}: {where} gives {name}={number}, which doesn't fit 32 bits"
                )
            fields.append(number)
        return state_type(*fields)

    def few_roots(self, most: int) -> np.ndarray | None:
        """As `roots`, or None if there are more than `most`."""
        few = sum(1 for _ in islice(self._roots(), most + 1)) <= most
        return self.roots(most) if few else None

    def _roots(self) -> Iterator[Any]:
        try:
            yield from self.game.roots()
        except (*PASSED_ON, GeneratorExit):
            raise
        except BaseException as error:
            raise RulesError(f"{self.game.name}: roots() fails: {fault_text(error)}") from error

    def roots(self, most: int) -> np.ndarray:
        """The start and the other roots: (n_roots, n_fields) int32.

        Raises
        ------
        RulesError
            A root is no state.
        TooManyStates
            There are more than `most`.
        """
        start = self.checked(self.start, "start()")
        roots = list(islice(self._roots(), most + 1))
        if len(roots) > most:
            raise self.too_many_roots(most)
        for root in roots:
            if type(root) is not self.state_type or not self.is_plain(root):
                self.checked(root, "roots()")
        flat = chain(start, chain.from_iterable(roots))
        size = (len(roots) + 1) * len(self.field_names)
        return np.fromiter(flat, np.int32, size).reshape(-1, len(self.field_names))

    def too_many_roots(self, most: int) -> TooManyStates:
        """The error for more roots than the limit of states allows."""
        return TooManyStates(
            f"{self.game.name}: roots() alone gives more than {most:,} states; smaller "
            f"parameters help, or {more_states()}{self.or_by_layers}"
        )

    @property
    def or_by_layers(self) -> str:
        """What else can be done about a large game that measures its progress."""
        by_layers = spelled(python="rollwise.solve_by_layers", command_line="solve --by-layer")
        return f"; {by_layers} needs less memory" if self.has_progress else ""

    def progress(self, state: Any) -> int:
        """How far the game says that it has gone in a state.

        Raises
        ------
        RulesError
            It fails, or gives something else than a whole number of 64 bits.
        """
        where = f"in the state {self.state_text(state)}"
        try:
            reached = self.game.progress(state)
        except PASSED_ON:
            raise
        except BaseException as error:
            raise RulesError(
                f"{self.game.name}: progress() fails {where}: {fault_text(error)}"
            ) from error
        try:
            number = index(reached)
        except TypeError:
            number = 2**63
        if not -(2**63) <= number < 2**63:
            raise RulesError(
                f"{self.game.name}: progress() gives {shown(reached)} {where}; it is a whole "
                "number of at most 64 bits"
            )
        return number

    def state_text(self, state: Any) -> str:
        return ", ".join(
            f"{name}={field}" for name, field in zip(self.field_names, state, strict=True)
        )

    def where(self, state: Any, *action: int) -> str:
        """A state, or a state and an action, in words."""
        text = self.state_text(state)
        return f"{text} with the action {self.action_text(*action)}" if action else text

    def action_text(self, label: int) -> str:
        return self.action_names.get(label, str(label))
