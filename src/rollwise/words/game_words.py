"""The words of a game. Exceptions and wrong results of its methods become errors of one line."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, product
from math import prod
from operator import index
from typing import Any

import numpy as np

from rollwise.boards import Board, Cell
from rollwise.errors import RollwiseError, RulesError
from rollwise.faults import PASSED_ON, fault_text, shown
from rollwise.game import Game, outcomes_rule
from rollwise.graph import KEEP, THROW, StateGraph
from rollwise.graph.layout import StateLayout, field_words
from rollwise.graph.naming import SetWords
from rollwise.machine.endless import watched
from rollwise.then import is_over

MOST_STATES = 60  # in the sample of `word_faults`, evenly spread
# Words about an action, and their arguments after it.
AFTER_ACTION = {
    **dict.fromkeys(("action_text", "deed", "throw"), ()),
    "told": ("then", "after"),
    "fallen": ("faces",),
}
MOST_THROWS = 1_000  # or outcomes of an action, in the sample

Outcomes = Sequence[tuple[Any, int, Any]]


@dataclass(frozen=True)
class Words:
    """A game's words, as texts and whole numbers.

    The argument `at` is the arguments of a rule before the action: a tuple of the state, or of the
    state and its throw.

    Each method raises a RulesError if the game's own code fails or gives a wrong type.
    """

    game: Game
    _takes: dict[int, bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    def cells(self, state: Any) -> Board:
        """A position as cells; empty where the game has none."""
        return self._cells("cells", "it is rows of cells", self._ask("cells", state))

    def throw_cells(self, throw: Any) -> Sequence[Cell]:
        """The dice of a throw as cells; empty where the game has none."""
        row = self._ask("throw_cells", throw)
        return self._cells("throw_cells", "it is a row of cells", [row])[0]

    def _cells(self, word: str, right: str, board: Any) -> Board:
        right += ", which the functions of rollwise.boards make"
        if not isinstance(board, Sequence) or isinstance(board, str):
            raise self._fault(word, board, right)
        for row in board:
            if not isinstance(row, Sequence) or not all(isinstance(cell, Cell) for cell in row):
                raise self._fault(word, row, right)
        return board

    def told(
        self,
        at: tuple[Any, ...],
        action: int,
        then: int,
        after: Any,
        faces: Sequence[int] = (),
    ) -> str:
        """The outcome of an action in words; empty if the game has none."""
        if self.game.discount != 1 and is_over(then) and after == at[0]:
            return "play is over"
        given = (*at, action, then, after, tuple(faces))
        return self.text("told", *(given if self._told_takes(len(given)) else given[:-1]))

    def _told_takes(self, n: int) -> bool:
        if n not in self._takes:
            try:
                inspect.signature(self.game.told).bind(*range(n))
                self._takes[n] = True
            except (TypeError, ValueError):  # it may leave the faces out
                self._takes[n] = False
        return self._takes[n]

    def throw(self, at: tuple[Any, ...], action: int) -> tuple[int, ...]:
        """The sides of each die; none under a discount, whose chance no die shows."""
        if self.game.discount != 1:
            return ()
        dice = self._ask("throw", *at, action)
        try:
            sides = tuple(index(die) for die in dice)
        except TypeError:
            sides = (0,)
        if min(sides, default=1) < 1:
            raise self._fault(
                "throw", dice, "it is a sequence of the sides of each die, such as (6, 6)"
            )
        return sides

    def follows(self, at: tuple[Any, ...], action: int, faces: Sequence[int]) -> tuple[int, Any]:
        """The outcome of these faces by the rules: ``(then, next_state)``."""
        return self.chosen(list(outcomes_rule(self.game)(*at, action)), at, action, faces)

    def chosen(
        self, outcomes: Outcomes, at: tuple[Any, ...], action: int, faces: Sequence[int]
    ) -> tuple[int, Any]:
        """As `follows`, with the outcomes of the action at hand."""
        chosen = self._ask("fallen", *at, action, faces)
        if chosen is None:
            weights = [weight for weight, _, _ in outcomes]
            chosen = outcome_of_total(weights, self.throw(at, action), sum(faces))
        thrown = " ".join(map(str, faces))
        if chosen is None:
            raise RulesError(
                f"{self.game.name}: which outcome do the faces {thrown} bring? The weights don't "
                "say it, since they don't follow the total of the dice; give the game a method "
                "fallen(s, action, faces)"
            )
        try:
            number = index(chosen)
        except TypeError:
            number = -1
        if not 0 <= number < len(outcomes):
            raise self._fault(
                "fallen",
                chosen,
                f"for the faces {thrown} it is the number of an outcome, from 0 to "
                f"{len(outcomes) - 1}",
            )
        _, then, after = outcomes[number]
        return then, after

    def read_play(self, rows: Sequence[Mapping[str, str]]) -> list[tuple[Any, int]]:
        """The states and actions of a play; a ValueError names the fault of a row."""
        play: list[tuple[Any, int]] = self._ask("read_play", rows, passed_on=ValueError)
        return play

    def field_text(self, name: str, number: int) -> str:
        """A number in a field as answers print it, a set as ``{1 4 9}``; empty for mere numbers."""
        words = field_words(self.game).get(name)
        if isinstance(words, SetWords):
            return str(words.get(number, ""))
        return self.text("field_text", name, number)

    def text(self, word: str, *arguments: Any) -> str:
        """The result of a method of the game that returns text, such as ``describe`` of a state."""
        text = self._ask(word, *arguments)
        if not isinstance(text, str):
            raise self._fault(word, text, "it is a text")
        return text

    def _ask(self, word: str, *arguments: Any, passed_on: type[Exception] = RollwiseError) -> Any:
        try:
            with watched():
                return getattr(self.game, word)(*arguments)
        except (RollwiseError, passed_on, *PASSED_ON):
            raise
        except BaseException as error:
            if word == "show" and type(self.game).show is Game.show:
                self.cells(*arguments)  # the fault is theirs
            fault = self._not_taken(word, len(arguments)) if isinstance(error, TypeError) else ""
            fault = fault or f"{word}() fails: {fault_text(error)}"
            raise RulesError(f"{self.game.name}: {fault}") from error

    def _not_taken(self, word: str, n: int) -> str:
        """The fault of a method that doesn't take n arguments; empty if it takes them."""
        signature = inspect.signature(getattr(type(self.game), word))
        try:
            signature.bind(self.game, *range(n))
        except TypeError:
            names = tuple(inspect.signature(getattr(Game, word)).parameters)[1:]
            if word in AFTER_ACTION:
                thrown = ("throw", "rolls_left")[
                    : self.game.has_throws + self.game.reads_rolls_left
                ]
                names = ("s", *thrown, "action", *AFTER_ACTION[word])
            return (
                f"{word}{signature} doesn't take its arguments; write "
                f"def {word}(self, {', '.join(names)})"
            )
        return ""

    def _fault(self, word: str, given: Any, right: str) -> RulesError:
        return RulesError(f"{self.game.name}: {word}() gives {shown(given)}; {right}")


def in_words(game: Game | None, cells: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The columns of a table of positions, with the meanings of numbers in fields (sets)."""
    if game is None:
        return cells
    words = Words(game)
    texts = {
        name: [words.field_text(name, n) or n for n in cells[name]]
        for name in StateLayout.of(game).columns
        if name in cells
    }
    return cells | texts


def word_faults(game: Game, graph: StateGraph) -> Iterator[str]:
    """The faults in the words of a game, in a sample of its states."""
    words, situation = Words(game), rules_situation(game, graph)
    names = game.action_names
    named = names if isinstance(names, Mapping) else range(len(names))
    states = np.unique(np.linspace(0, graph.n_states - 1, MOST_STATES).astype(np.int64))
    for s in states.tolist():
        at = situation(s)
        try:
            words.text("describe", at[0])
            for name, number in zip(graph.columns, graph.row(s), strict=True):
                if name not in graph.throw_names:
                    words.text("field_text", name, number)
            words.cells(at[0])
            words.text("show", at[0])
            if not graph.view[s].asks_rules:
                continue
            if len(at) > 1:
                words.text("throw_text", *at[:2])
                words.throw_cells(at[1])
            for action in graph.view[s].labels:
                if action == THROW or (graph.has_pool and action >= KEEP):
                    continue
                words.text("deed", *at, action)
                name = graph.vocabulary.text(action)
                text = "" if action in named else words.text("action_text", *at, action)
                if text not in ("", name):
                    yield (
                        f"action_text() calls the action {action} {text!r} in the state "
                        f"{graph.state_text(s)}, and {name!r} elsewhere; it must say the same "
                        "wherever an action has this number"
                    )
                    return
                outcomes = list(outcomes_rule(game)(*at, action))
                for _, then, after in outcomes[:MOST_THROWS]:
                    words.told(at, action, then, after)
                if unfair := _unfair(words, outcomes, at, action):
                    yield f"{unfair} in the state {graph.state_text(s)}"
                    return
        except RulesError as error:
            yield str(error)
            return


def rules_situation(game: Game, graph: StateGraph) -> Callable[[int], tuple[Any, ...]]:
    """A function from states of a graph to the arguments of rules before the action."""
    layout, throws = StateLayout.of(game), graph.throw_layout
    fields = [k for k, name in enumerate(graph.columns) if name not in graph.throw_names]

    def situation(state: int) -> tuple[Any, ...]:
        here = graph.view[state]
        thrown: tuple[Any, ...] = ()
        if throws is not None and here.throw:
            thrown = (throws.throw(here.throw), here.rolls_left)[: 1 + game.reads_rolls_left]
        row = here.fields
        return layout.state([row[k] for k in fields]), *thrown

    return situation


def _unfair(words: Words, outcomes: Outcomes, at: tuple[Any, ...], action: int) -> str:
    """A message if the frequency of an outcome differs from its weight; otherwise empty."""

    def key(then: int, after: Any) -> tuple[int, Any]:
        return then, None if is_over(then) else tuple(after)

    sides = words.throw(at, action)
    throws = prod(sides)
    if not sides or throws > MOST_THROWS:
        return ""
    for face in range(1, max(sides) + 1):
        words.text("face_name", face)
    fallen: Counter[tuple[int, Any]] = Counter()
    for faces in product(*(range(1, most + 1) for most in sides)):
        then, after = words.chosen(outcomes, at, action, faces)
        words.told(at, action, then, after, faces)
        fallen[key(then, after)] += 1
    weights: Counter[tuple[int, Any]] = Counter()
    for weight, then, after in outcomes:
        weights[key(then, after)] += weight
    total = sum(weights.values())
    for outcome in weights | fallen:
        if Fraction(fallen[outcome], throws) != Fraction(weights[outcome]) / Fraction(total):
            return (
                f"the faces of the dice bring an outcome in {fallen[outcome]} of {throws} throws, "
                f"and its weight is {weights[outcome]} of {total}, with the action {action}"
            )
    return ""


def outcome_of_total(weights: Sequence[Any], sides: Sequence[int], total: int) -> int | None:
    """The outcome of a total of the dice, if outcomes are in the order of the totals.

    Parameters
    ----------
    weights : of the outcomes
    sides : of each die

    Returns
    -------
    int or None
        None if the total belongs to several outcomes.
    """
    ways = ways_of_totals(sides)
    throws = sum(ways)
    low, high = sum(ways[:total]), sum(ways[: total + 1])
    ends = list(accumulate(map(Fraction, weights)))
    for number, end in enumerate(ends):
        if end * throws > low * ends[-1]:  # the first outcome beyond the lower totals
            return number if end * throws >= high * ends[-1] else None
    return None


def ways_of_totals(sides: Sequence[int]) -> list[int]:
    """In how many ways dice show each total, from 0."""
    ways = [1]
    for faces in sides:
        below = [0, *accumulate(ways + [0] * faces)]  # how many ways have a smaller total
        ways = [below[t] - below[max(t - faces, 0)] for t in range(len(ways) + faces)]
    return ways
