"""The facts about a game needed by the builders before its rules run."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from itertools import chain, islice
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.compiled.cache_key import require_certain
from rollwise.builders.compiled.sources import compared_by_identity
from rollwise.builders.contract import Contract, more_states
from rollwise.errors import RulesError, TooManyStates, spelled
from rollwise.faults import PASSED_ON, fault_text, one_line, shown, whole
from rollwise.game import Game, outcomes_rule
from rollwise.graph import NO_THROW, ROLLS_LEFT
from rollwise.graph.layout import LEAST, MOST, MOST_NUMBERS, StateLayout, ThrowLayout, field_words
from rollwise.graph.naming import in_fields, reserved_names, state_text
from rollwise.machine.endless import CALLS, running, watched

if TYPE_CHECKING:
    from rollwise.dice import Pool

Progress = int | tuple[int, ...]
MOST_ROLLS = 255  # left, where rules read them

# The arguments of each rule, after the game itself.
GIVEN: dict[str, tuple[str, ...]] = {
    "throws": ("s",),
    "actions": ("s",),
    "outcomes": ("s", "action"),
    "reward": ("s", "action"),
    "action_text": ("s", "action"),
}
YIELDED = {  # by the rules that every game has, and by `throws`
    "actions": "the numbers of the legal actions",
    "outcomes": "(weight, then, next_state) for each outcome",
    "throws": "(weight, throw), or return a pool of dice",
}


class Situation(NamedTuple):
    """The moment of a choice: a state and, in a game with throws, a throw.

    Attributes
    ----------
    state : the state
    throw : tuple
        The throw, and the rolls left if the rules read them; empty in a game without throws.
    """

    state: Any
    throw: tuple[Any, ...] = ()


def _instead_of(field: Any) -> str:
    """Advice on how to write a field that isn't a whole number; empty without any."""
    if hasattr(field, "_fields") or is_dataclass(field):
        return f": write the fields of {type(field).__name__} one by one"
    if isinstance(field, set | frozenset):
        return ": write a set as one number, by rollwise.bits"
    if isinstance(field, tuple | list | np.ndarray):
        return ": put the rows of a board one after the other into one tuple"
    if field is None:
        return ": write a number that the field hasn't elsewhere, such as -1"
    if isinstance(field, str | Enum):
        return ": number the values; the members of an IntEnum are such numbers with names"
    return ": count in a smaller unit" if isinstance(field, float | Fraction) else ""


def instead_of(field: Any) -> str:
    """Advice on a field that is neither a whole number nor a tuple of them; empty without any."""
    is_list = isinstance(field, list) or bool(getattr(field, "ndim", 0))
    return ": write tuple(...) for a list" if is_list else _instead_of(field)


@dataclass(frozen=True, eq=False)
class Rules(Contract):
    """A game with its facts independent of the state.

    Raises
    ------
    RulesError
        The game's attributes or its start break the contract.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        game = self.game
        require_certain(game)
        if compared := compared_by_identity(game):
            raise self.fault(
                f"{compared} compares objects, and the fields of a state reach the "
                "rules as whole numbers; write == or !=, or after case 1 or 0"
            )
        reserved = reserved_names(game.players, has_throws=self.has_throws)
        taken = [name for name in self.field_names if name in reserved]
        if len(set(self.field_names)) < len(self.field_names):
            raise self.fault(
                f"two columns of its states have one name: "
                f"{', '.join(self.field_names)}; see column_names"
            )
        if taken:
            what = "what was thrown" if taken[0] == "throw" else "a column of the strategy table"
            written = {column: name for name, column in game.column_names.items()}
            renamed = {written.get(name, name): f"own_{name.replace('.', '_')}" for name in taken}
            own = {**game.column_names, **renamed}
            raise self.fault(
                f"the field {taken[0]!r} of the state has the name of {what}; call it "
                f"something else, or name its column alone: column_names = {own}"
            )
        self.action_names  # noqa: B018 (evaluated for its checks, before the build)
        for name, given in GIVEN.items():
            self._require_parameters(name, given)
        self.throws  # noqa: B018

    def _require_parameters(self, name: str, given: tuple[str, ...]) -> None:
        """Require that a rule takes its arguments, including a throw in a game with throws."""
        function = getattr(type(self.game), name)
        if function is getattr(Game, name):
            if name in YIELDED and name != "throws":
                head = ", ".join(("self", *self._given(name, given)))
                raise self.fault(f"it has no {name}(); def {name}({head}) yields {YIELDED[name]}")
            return
        if not hasattr(function, "__code__"):
            raise self.fault(
                f"{name} is {shown(function)}, and no method; write "
                f"def {name}(self, {', '.join(given)})"
            )
        fault = self._not_taken(name, function, self._given(name, given))
        if fault:
            raise RulesError(fault)

    def _given(self, name: str, given: tuple[str, ...]) -> tuple[str, ...]:
        """The arguments of a rule, with the throw of a game with throws."""
        if not self.has_throws or name == "throws":
            return given
        thrown = ("throw", ROLLS_LEFT) if self.reads_rolls_left else ("throw",)
        return ("s", *thrown, *given[1:])

    def policy_fault(self, function: Any) -> str:
        """The error in the parameters of a policy in the rules; empty if there is none."""
        given = ("s", "throw", "rolls_left")[: 1 + self.has_throws + (self.pool is not None)]
        return self._not_taken(getattr(function, "__name__", "policy"), function, given)

    def _not_taken(self, name: str, function: Any, given: tuple[str, ...]) -> str:
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return ""
        try:
            taken = signature.bind(self.game, *given).arguments
        except TypeError:
            taken = {}
        # a parameter named like another argument takes the wrong one: (self, s, action, throw)
        if not taken or any(taken.get(word, word) in {*given} - {word} for word in given):
            if not given:
                return (
                    f"{self.game.name}: {name}{signature} doesn't take its arguments; write "
                    f"def {name}(self)"
                )
            throws = "has throws(s)" if self.has_throws else "has no throws(s)"
            if ROLLS_LEFT in given:
                throws = "has a pool of dice"
                if given[-1] != ROLLS_LEFT or name == "actions":
                    throws = "reads rolls_left in one of its rules"
            return (
                f"{self.game.name}: {name}{signature} doesn't take its arguments; a game that "
                f"{throws} has {name}(self, {', '.join(given)})"
            )
        return ""

    @cached_property
    def start(self) -> Any:
        if type(self.game).start is Game.start:
            raise self.fault("it has no start(); def start(self) returns the opening position")
        if fault := self._not_taken("start", type(self.game).start, ()):
            raise RulesError(fault)
        with running(RulesError, f"{self.game.name}: start() fails"):
            return self.game.start()

    @cached_property
    def state_type(self) -> type:
        kind = type(self.start)
        if not (issubclass(kind, tuple) and hasattr(kind, "_fields") and kind._fields):
            fault = "a state is a NamedTuple of whole numbers"
            if hasattr(kind, "_fields"):
                fault = "a state has a field at least: one that is always 0 will do, as x: int = 0"
            raise self.fault(f"start() gives {shown(self.start)}; {fault}")
        return kind

    @cached_property
    def layout(self) -> StateLayout:
        """The layout of a state in arrays."""
        self.state_type  # noqa: B018 (evaluated for its check of the start)
        return StateLayout.of(self.game, self.start)

    @cached_property
    def field_names(self) -> tuple[str, ...]:
        """The columns of a state: its fields, and the parts of those that are tuples."""
        return self.layout.columns

    @cached_property
    def has_throws(self) -> bool:
        return self.game.has_throws

    @cached_property
    def _first_throw(self) -> Any:
        """The first item from `throws` at the start; None if there is none."""
        where = f"in the state {self.state_text(self.start)}"
        with running(RulesError, f"{self.game.name}: throws() fails {where}"):
            throws: Any = self.game.throws(self.start)
            if throws is not None:
                return next(iter(throws), None)
        raise self.fault(f"throws() gives None {where}; it should yield {YIELDED['throws']}")

    @cached_property
    def pool(self) -> Pool | None:
        """The dice that may be thrown again; None in a game without such a turn."""
        if not self.has_throws:
            return None
        from rollwise.dice import Pool

        first = self._first_throw
        return first if isinstance(first, Pool) else None

    @cached_property
    def reads_rolls_left(self) -> bool:
        """Whether the rules of a pool read the number of rolls left."""
        return self.pool is not None and self.game.reads_rolls_left

    @cached_property
    def rolls_vary(self) -> bool:
        """Whether the rerolls may depend on the state: `throws` reads it."""
        code = type(self.game).throws.__code__
        read = {step.argval for step in dis.get_instructions(code)}
        # The variable 1 is the argument after `self`: the state.
        return self.reads_rolls_left and code.co_varnames[1] in read

    @property
    def most_rolls(self) -> int:
        """The largest number of rolls left that fits a throw; 0 if the rules don't read it."""
        if not (self.throws and self.throws.counts_rolls):
            return 0
        return min((1 << self.throws.bits - 1) - 1, MOST_ROLLS)

    def after(self, state: Any, throw: Any) -> Situation:
        """The situation of a state after a throw."""
        assert self.throws is not None
        return Situation(state, self.throws.arguments(throw))

    @property
    def turn_states(self) -> int:
        """The number of graph states of a turn, with a pool; 0 without."""
        return 0 if self.pool is None else self.pool.n_states

    @cached_property
    def throws(self) -> ThrowLayout | None:
        """The layout of a throw in arrays, by the first throw; None in a game without throws."""
        if not self.has_throws:
            return None
        from rollwise.dice import Pool

        first = self._first_throw
        if isinstance(first, Pool):
            return ThrowLayout(first.n + self.reads_rolls_left, self.reads_rolls_left)
        if first is None:  # no item
            return ThrowLayout(None)
        try:
            _, throw = first
        except (TypeError, ValueError):
            raise self.fault(
                f"throws() gives {shown(first)} in the state "
                f"{self.state_text(self.start)}; it should yield (weight, throw)"
            ) from None
        if isinstance(throw, Pool):
            raise self.fault(
                "throws() gives a pool with a weight; a pool stands alone, as in "
                "`return dice.pool(5, sides=6, rerolls=2)`"
            )
        if not _is_throw(throw):
            raise self.fault(
                f"throws() gives {shown(throw)}; a throw is a whole number or a tuple of them"
            )
        size = len(throw) if isinstance(throw, tuple | np.ndarray) else None
        if size is not None and not 1 <= size <= MOST_NUMBERS:
            raise self.fault(
                f"throws() gives {shown(throw)}, of {size} numbers; a throw has from 1 to "
                f"{MOST_NUMBERS} of them (how often each face shows, of many dice)"
            )
        return ThrowLayout(size)

    @cached_property
    def outcomes(self) -> Any:
        """The rule `outcomes`, under the discount if the game has one."""
        return outcomes_rule(self.game)

    @cached_property
    def has_reward(self) -> bool:
        return type(self.game).reward is not Game.reward

    @cached_property
    def has_progress(self) -> bool:
        return type(self.game).progress is not Game.progress

    @cached_property
    def has_action_text(self) -> bool:
        return type(self.game).action_text is not Game.action_text

    def name_action(self, at: Situation, label: int) -> str:
        """The name of an action by `action_text`; empty if it has only a number.

        Raises
        ------
        RulesError
            It fails, or does not return a text of one line.
        """
        where = f"in the state {self.where(at, label)}"
        with running(RulesError, f"{self.game.name}: action_text() fails {where}"):
            name = self.game.action_text(at.state, *at.throw, label)
        if not isinstance(name, str) or name != one_line(name):
            raise self.fault(f"action_text() gives {shown(name)} {where}; it is a text of one line")
        return name

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
        if isinstance(names, set | frozenset):
            raise self.fault(
                "action_names is a set, which has another order each time that "
                "Python starts; a tuple, in round brackets, gives the action 0 its first name"
            )
        named = all(isinstance(name, str) and name == one_line(name) for name in found.values())
        if not named or isinstance(names, str) or min(found, default=0) < 0:
            raise self.fault(
                f"action_names is {shown(names)}; it gives each action a name, "
                "as in ('roll', 'hold') or {1: 'one die', 2: 'two dice'}"
            )
        return found

    def is_plain(self, state: Any) -> bool:
        """Whether a state of the right type needs no detailed check: all fields are small ints."""
        layout = self.layout
        if not layout.is_flat:
            if not layout.fits(state):
                return False
            state = layout.numbers(state)
        return are_plain(state)

    def checked(self, state: Any, where: str) -> Any:
        """The state with plain ints as fields. A RulesError names an invalid field."""
        state_type = self.state_type
        if not isinstance(state, tuple) or type(state) is not state_type:
            raise self.fault(
                f"{where} gives {shown(state)}, which isn't a {state_type.__name__} like the start"
            )
        names: tuple[str, ...] = self.layout.kind._fields
        sizes, unused = self.layout.sizes, self.layout.unused
        for name, field, size, kept in zip(names, state, sizes, unused, strict=True):
            if kept is not None and field != kept:
                raise self.fault(
                    f"{where} gives {name}={shown(field)}; column_names says that it "
                    f"isn't used, so it is {kept} as in start()"
                )
            is_other = isinstance(field, list | dict | set) or hasattr(field, "_fields")
            is_other |= bool(getattr(field, "ndim", 0))  # an array
            if size is None and not (isinstance(field, tuple) or is_other):
                continue
            if not isinstance(field, tuple) or len(field) != size:
                wanted = "a whole number" if size is None else f"a tuple of {size} whole numbers"
                must = f"as in start(), it is {wanted}"
                if size is not None and isinstance(field, tuple) and len(field) < size:
                    must += "; fill it up, with 0 for example"
                if is_other:
                    must = "a field is a whole number, or a tuple of them that keeps its length"
                    must += instead_of(field)
                raise self.fault(f"{where} gives {name}={shown(field)}; {must}")
        numbers = self.layout.numbers(state)
        fields: list[Any] = []
        for name, field in zip(self.field_names, numbers, strict=True):
            try:
                number = whole(field)
            except TypeError:
                raise self.fault(
                    f"{where} gives {name}={shown(field)}; the fields of a state are "
                    f"whole numbers, or tuples of them{_instead_of(field)}"
                ) from None
            if not LEAST <= number <= MOST:
                raise self.fault(f"{where} gives {name}={number}, which doesn't fit 32 bits")
            fields.append(number)
        return self.layout.state(fields)

    def few_roots(self, most: int) -> np.ndarray | None:
        """As `roots`, or None if there are more than `most`."""
        try:
            return self.roots(most)
        except TooManyStates:
            return None

    def _roots(self) -> Iterator[Any]:
        try:
            with watched():
                for root in self.game.roots():
                    CALLS.begun += 1
                    yield root
        except (*PASSED_ON, GeneratorExit):
            raise
        except BaseException as error:
            raise self.fault(f"roots() fails: {fault_text(error)}") from error

    @property
    def start_row(self) -> np.ndarray:
        """The fields of the start: (1, n_fields) int32."""
        start = self.checked(self.start, "start()")
        return np.array([self.layout.numbers(start)], np.int32)

    def roots(self, most: int) -> np.ndarray:
        """The start and the other roots: (n_roots, n_fields) int32.

        Raises
        ------
        RulesError
            A root is not a state.
        TooManyStates
            There are more than `most`.
        """
        start = self.checked(self.start, "start()")
        roots = list(islice(self._roots(), most + 1))
        if len(roots) > most:
            raise self.too_many_roots(most)
        layout, kind = self.layout, self.state_type
        fit = all(type(root) is kind and (layout.is_flat or layout.fits(root)) for root in roots)
        flat = list(chain.from_iterable(map(layout.numbers, roots))) if fit else []
        if not are_plain(flat):  # one by one
            checked = (self.checked(root, "roots()") for root in roots)
            flat = list(chain.from_iterable(map(layout.numbers, checked)))
        return np.array([*layout.numbers(start), *flat], np.int32).reshape(
            -1, len(self.field_names)
        )

    def too_many_roots(self, most: int) -> TooManyStates:
        """The error for more roots than the limit on states allows."""
        return TooManyStates(
            f"{self.game.name}: roots() alone gives more than {most:,} states",
            f"; smaller parameters help, or {more_states()}{self.or_by_layers}",
        )

    @property
    def or_by_layers(self) -> str:
        """Advice for a large game with a measure of progress."""
        by_layers = spelled(
            python="rollwise.solve_by_layers needs less memory",
            command_line="solve --by-layer finds its value in less memory, and simulate "
            "estimates the values of policies and the length of games",
        )
        return f"; {by_layers}" if self.has_progress and self.game.players <= 2 else ""

    @cached_property
    def progress_size(self) -> int | None:
        """The length of the tuple from `progress`; None if it is one whole number.

        Raises
        ------
        RulesError
        """
        reached = self._progress(self.start)
        return len(reached) if isinstance(reached, tuple) else None

    @property
    def no_outcome_lowers(self) -> str:
        """The requirement on the progress, for errors about outcomes with lower progress."""
        if self.progress_size is None:
            return "no outcome may lower it"
        swapped = "; where a PASS swaps two of them, give these in order (min first)"
        return f"no outcome may lower any of its numbers{swapped if self.game.players > 1 else ''}"

    def progress(self, state: Any) -> Progress:
        """The progress of a state by the game.

        Raises
        ------
        RulesError
            It fails, or does not return whole numbers of 64 bits, as many as at the
            start.
        """
        reached = self._progress(state)
        if (len(reached) if isinstance(reached, tuple) else None) != self.progress_size:
            raise self.fault(
                f"progress() gives {shown(reached)} in the state "
                f"{self.state_text(state)}, and {shown(self._progress(self.start))} at the start; "
                "it is one number everywhere, or a tuple of the same length"
            )
        return reached

    def progress_fails(self, fields: list[int]) -> RulesError:
        """The error for a state in which compiled progress fails.

        Raises
        ------
        RulesError
            Python's progress fails too; this is its error.
        """
        state = self.layout.state(fields)
        self.progress(state)
        return self.fault(f"progress() fails in the state {self.state_text(state)}")

    def _progress(self, state: Any) -> Progress:
        where = f"in the state {self.state_text(state)}"
        with running(RulesError, f"{self.game.name}: progress() fails {where}"):
            reached = self.game.progress(state)
        try:
            given: tuple[Any, ...] = reached if isinstance(reached, tuple) else (reached,)
            numbers = tuple(map(index, given))
        except TypeError:
            numbers = ()
        if not numbers or any(not -(2**63) <= number < 2**63 for number in numbers):
            raise self.fault(
                f"progress() gives {shown(reached)} {where}; it is a whole "
                "number of at most 64 bits, or a tuple of such numbers"
            )
        return numbers if isinstance(reached, tuple) else numbers[0]

    def state_text(self, state: Any) -> str:
        numbers = self.layout.numbers(state)
        return state_text(in_fields(self.field_names, numbers, field_words(self.game)))

    def situation(self, row: Sequence[int]) -> Situation:
        """The situation of a row of a graph: the fields, and the throw if there is one."""
        n = len(self.field_names)
        state = self.layout.state(row[:n])
        if self.throws is None or len(row) == n or row[n] == NO_THROW:
            return Situation(state)
        return self.after(state, self.throws.throw(row[n : n + self.throws.width]))

    def where(self, at: Situation, *action: int) -> str:
        """A situation, or a situation and an action, in words."""
        text = self.state_text(at.state)
        if at.throw:
            text += f" with the throw {throw_text(at.throw[0])}"
            text += "".join(f", rolls_left={left}" for left in at.throw[1:])
        joined = "and" if at.throw else "with"
        return f"{text} {joined} the action {self.action_text(*action)}" if action else text

    def action_text(self, label: int) -> str:
        return self.action_names.get(label, str(label))


def are_plain(numbers: Sequence[Any]) -> bool:
    """Whether numbers are plain ints within the limits of fields."""
    return set(map(type, numbers)) == {int} and min(numbers) >= LEAST and max(numbers) <= MOST


def _is_throw(throw: Any) -> bool:
    """Whether it is a whole number, or a tuple or an array of them."""
    parts = throw if isinstance(throw, tuple) else (throw,)
    if isinstance(throw, np.ndarray):
        return throw.ndim == 1 and throw.dtype.kind in "biu"
    return all(isinstance(part, SupportsIndex) for part in parts)


def as_progress(reached: NDArray[np.int64]) -> Progress:
    """A progress from an array, in the form returned by rules."""
    return tuple(reached.tolist()) if reached.ndim else int(reached)


def throw_text(throw: Any) -> str:
    """A throw as text: ``5``, or ``3 5``."""
    parts = throw if isinstance(throw, tuple | np.ndarray) else (throw,)
    return " ".join(map(str, parts))
