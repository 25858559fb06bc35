"""The language for writing games.

A game is a frozen dataclass, with or without the decorator. Its fields are the parameters. Its
rules are plain Python: the opening, the actions of the mover, and the outcomes of each action. Rule
sheets import the language from here, the codes of `rollwise.then` included. See
``rollwise/games/`` for rule sheets to copy.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rollwise.boards import Board, Cell, numbered, text_board
from rollwise.errors import ParameterError, UsageError, another_kind
from rollwise.faults import one_line, shown
from rollwise.graph.layout import field_words, fields_of_sets, member_words
from rollwise.graph.naming import SetWords, faces_thrown, field_label, in_fields
from rollwise.hooks import HOOKS
from rollwise.parameters import (
    ParameterSpec,
    Value,
    declare_parameters,
    parameter_specs,
    word_of,
)
from rollwise.parameters import parameter as parameter
from rollwise.then import AGAIN as AGAIN
from rollwise.then import DRAW as DRAW
from rollwise.then import END as END
from rollwise.then import LOSE as LOSE
from rollwise.then import PASS as PASS
from rollwise.then import PASS_BACK as PASS_BACK
from rollwise.then import WIN as WIN
from rollwise.then import Function, is_over
from rollwise.then import last_left as last_left
from rollwise.then import next_in as next_in
from rollwise.then import payoff as payoff
from rollwise.then import payoffs as payoffs
from rollwise.then import replaced as replaced
from rollwise.then import shared as shared
from rollwise.then import shared_by as shared_by
from rollwise.then import skip as skip
from rollwise.then import turned as turned
from rollwise.then import won_by as won_by

if TYPE_CHECKING:
    from rollwise.graph import StateGraph

SMALL_WORDS = ("a", "and", "for", "in", "of", "on", "the", "to")  # in headings
MOST_NAMED = 12  # codes of a field with names on an axis
MANY_FIELDS = 8  # with more fields `Game.describe` leaves out zeros


def spoken(faces: Iterable[object]) -> str:
    """Faces as people say them, ``3, 3 and 5``."""
    *first, last = map(str, faces)
    return f"{', '.join(first)} and {last}" if first else last


def is_set(game: Game | None, name: str, numbers: Sequence[int]) -> bool:
    """Whether a field holds sets or other codes: it has many numbers, and `field_text` for them.

    Parameters
    ----------
    numbers : (n,) int
        Its different numbers, ascending.
    """
    if game is None or len(numbers) <= MOST_NAMED:
        return False
    return any(game.base_game.field_text(name, int(n)) for n in numbers[-MOST_NAMED:])


def policy(function: Function) -> Function:
    """Mark a method ``name(self, state) -> action`` as a policy for users.

    Its name on the command line has dashes for underscores: ``hold_at_20`` is
    ``hold-at-20``. The first line of its docstring describes it.
    """
    function.__rollwise_policy__ = function.__name__.replace("_", "-")  # type: ignore[attr-defined]
    return function


def heading_of(name: str) -> str:
    """A game's name as a heading: ``hare-and-tortoise`` is Hare and Tortoise."""
    words = name.replace("-", " ").split()
    return " ".join(
        word if i and word in SMALL_WORDS else word[:1].upper() + word[1:]
        for i, word in enumerate(words)
    )


def _decimal(given: Any) -> Any:
    """A float as the fraction of its decimal digits; anything else, and nan, as it is."""
    if isinstance(given, float):
        with contextlib.suppress(ValueError):
            return Fraction(str(given))
    return given


def under_discount(self: Any, s: Any, *choice: Any) -> Iterator[tuple[Any, int, Any]]:
    """The outcomes of an action, some of which are ended by the discount; compiled too."""
    rate = self.applied_discount
    stays, of = rate.numerator, rate.denominator
    over = END if self.objective != "win" else LOSE if self.players == 1 else DRAW
    ends = 0
    for weight, then, after in self.outcomes(s, *choice):
        if is_over(then):
            yield weight * of, then, after
        else:
            yield weight * stays, then, after
            ends += weight * (of - stays)
    yield ends, over, s


def outcomes_rule(game: Game) -> Callable[..., Iterator[tuple[Any, int, Any]]]:
    """The rule `outcomes` as it is played: under the discount, if the game has one.

    Every part of rollwise that asks rules for outcomes asks them through this function, so that a
    discount is applied once, whatever the rules read or inherit.
    """
    return game.outcomes if game.applied_discount == 1 else partial(under_discount, game)


@dataclass(frozen=True)
class Game:
    """A turn-based dice game.

    Write `start`, `actions` and `outcomes`. A state is a NamedTuple of whole numbers, of the type
    of the result of `start`. All else has a default. `roots`, `reward` and `progress` are rules
    too. `describe`, `deed`, `told`, `face_name`, `throw`, `fallen`, `read_play` and `face_points`
    describe the game to people and never change the answer.

    Attributes
    ----------
    name : str
        The name on the command line, by default made from the name of the class
        (``SuperSix`` is ``super-six``).
    heading : str
        The name in headings, by default the words of `name` (Super Six).
    players : int
        2, or 1 for a solitaire game, or up to 16. It may be a parameter. With three or more
        players a state is still written from the view of the mover, followed by the others in the
        order of their moves. PASS hands the die to the next player, and `skip` to another one. WIN,
        LOSE, DRAW, `won_by` and `shared` give the winners, and `payoffs` the payoff of each seat
        (see `rollwise.equilibrium`).
    objective : {"win", "maximize", "minimize", "average"}
        "win": win a game of wins and losses, or get the most of a game for stakes (with `payoff`);
        "maximize" and "minimize": get the largest or the smallest expected total of the rewards of
        a solitaire game; "average": get the most `reward` per `duration` of play without an end.
        Such play returns to a position again and again.
    column_names : mapping
        Names for numbers of a state, where they differ from the names of the fields: ``{"rivals.0":
        "rival"}`` of two players. A field with an empty name isn't used: it keeps its number of
        the start, and tables have no column for it. A property may depend on `players`.
    action_names : sequence or mapping
        Names of the actions. An action without a name is shown as its number.
    action_unit : (str, str)
        The unit counted by the number of an action, singular and plural, as in ``("die", "dice")``.
        Legends of plots show it.
    endless : {"forbidden", "draw", "lose"}
        The result of endless play in a game of wins and losses. "forbidden": rules are refused if
        the players can avoid every end. "draw": endless play is a draw. "lose": the player who
        keeps it up loses (both players, if they keep passing the turn); not with `hidden` or
        `together`. A game for points needs none: rounds with a cost are allowed, since endless play
        loses without bound.
    discount : number
        The chance that play goes on after a move, from 0 to 1; it may be a parameter. Rules are
        written without it, and rollwise applies it. A later reward or win counts less by this
        factor. Otherwise play ends: for points without another reward, in a solitaire game of wins
        with a loss, in a game of two with a draw. A float is its decimal digits, 0.99 is 99/100. It
        is applied once, also where a rule reads the number.
    presets : mapping
        Parameters by the name of a version, for the lists of games in browsers: ``{"short":
        {"target": 50}}``. A short game is solved in seconds.
    play_columns : sequence of str
        The columns needed by `read_play`. Without any, `read_play` isn't called.
    face_points : sequence of int
        The points of each face of the dice, ascending, in a game of taking the lowest dice
        (see `rollwise.many_dice`). Empty in every other game.
    """

    name: ClassVar[str] = "game"
    heading: ClassVar[str] = "Game"
    if TYPE_CHECKING:
        players: ClassVar[int]
        discount: ClassVar[Fraction | float]
    else:  # unannotated: an annotation would fix its order if a game makes it a parameter
        players = 2
    objective: ClassVar[str] = "win"
    column_names: ClassVar[Mapping[str, str]] = {}
    action_names: ClassVar[Sequence[str] | Mapping[int, str]] = ()
    action_unit: ClassVar[Sequence[str]] = ()
    endless: ClassVar[str] = "forbidden"
    if not TYPE_CHECKING:  # like players
        discount = 1
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    play_columns: ClassVar[Sequence[str]] = ()
    face_points: ClassVar[Sequence[int]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in cls.__mro__[1:]:  # a decorator of this class looks for their parameters
            declare_parameters(base)
        if "name" not in cls.__dict__:
            words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", cls.__name__)
            cls.name = words.replace("_", "-").lower()
        if "heading" not in cls.__dict__ and isinstance(cls.name, str):
            cls.heading = heading_of(cls.name)
        given = cls.__dict__.get("discount")
        if cls.applied_discount is not Game.applied_discount:
            return
        if isinstance(given, dataclasses.Field):
            given.default = _decimal(given.default)
        elif isinstance(given, float) and 0 <= given <= 1:
            cls.discount = _decimal(given)

    def __new__(cls, *_: Any, **__: Any) -> Self:
        declare_parameters(cls)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for spec in parameter_specs(type(self)):
            given = getattr(self, spec.name)
            if spec.type is Fraction and isinstance(given, str):
                with contextlib.suppress(ValueError, ZeroDivisionError):  # reported by `validate`
                    object.__setattr__(self, spec.name, Fraction(given))
            elif spec.type is Fraction and spec.name == "discount":
                object.__setattr__(self, spec.name, _decimal(given))
        self.validate()

    def start(self) -> Any:
        """The opening position, from the view of the first player."""
        raise NotImplementedError(f"{type(self).__name__} has no start()")

    def roots(self) -> Iterable[Any]:
        """Positions that a table should cover, reachable or not."""
        yield self.start()

    # `throws` is optional. In a game with `throws`, the rules below take the throw as an argument:
    # ``actions(s, throw)``, ``outcomes(s, throw, action)``, ``reward(s, throw, action)``. With a
    # pool of dice they may all take the rolls left after it: ``actions(s, throw, rolls_left)``.

    def throws(self, s: Any) -> Iterable[Any]:
        """Yield ``(weight, throw)`` for each throw before the choice of the mover.

        A throw is a whole number or a tuple of whole numbers, of one length in the whole game.
        """
        raise NotImplementedError(f"{type(self).__name__} has no throws()")

    def actions(self, s: Any, *throw: Any, **_: Any) -> Iterator[int]:
        """Yield the legal actions of the mover, whole numbers from 0."""
        raise NotImplementedError(f"{type(self).__name__} has no actions()")

    def outcomes(self, s: Any, *action: Any, **_: Any) -> Iterator[tuple[Any, int, Any]]:
        """Yield ``(weight, then, next_state)`` for each outcome of an action.

        The next state of an ending is the position at the end, as the player of the action sees it.
        It never changes the answer. It may be `s`; then pages show the position before the action.
        """
        raise NotImplementedError(f"{type(self).__name__} has no outcomes()")

    # Hidden dice and simultaneous choices: see `rollwise.hidden`.

    def hidden(self, s: Any) -> Iterable[str]:
        """The names of the fields that the mover can't see, in a game for one player or two.

        All other fields are visible to the mover, whose view the state is. Players remember their
        earlier sights and actions.
        """
        return ()

    def deal(self, s: Any) -> Iterable[tuple[Any, Any]]:
        """Yield ``(weight, next_state)`` where chance acts before any choice; nothing elsewhere.

        `hidden` decides who sees the result, such as dice under a cup.
        """
        return ()

    def together(self, s: Any) -> Sequence[Iterable[int]]:
        """The actions of the mover and those of the other player, who choose at the same time.

        `outcomes` then takes a pair of actions. Where it is empty, `actions` are the mover's alone.
        """
        return ()

    def reward(self, s: Any, *action: Any, **_: Any) -> float:
        """Points for taking an action; in a game of two the mover gains them from the other."""
        return 0.0

    def duration(self, s: Any, *action: Any, **_: Any) -> float:
        """The time that an action takes, with ``objective = "average"``: 1 unless given."""
        return 1.0

    def progress(self, s: Any) -> int | tuple[int, ...]:
        """Progress of the game: a whole number that no outcome lowers, or a tuple of such numbers.

        A game with `progress` can be solved a layer at a time (`rollwise.solve_by_layers`).
        Examples are the sticks that left the game, or the points in both banks. A layer is all
        states of equal progress.

        No outcome lowers any number of a tuple. A layer then waits only for layers whose numbers
        are all at least as large. Layers are smaller, and workers solve several at the same time. A
        PASS swaps the points of the mover and of the opponent. Sort the two numbers, as in ``return
        min(s.home, s.rival), max(s.home, s.rival)``: sorted, they never fall, and positions that
        differ only in the mover share a layer.
        """
        return 0

    # Words for people: names, boards, records of plays. In a game with throws, methods with the
    # argument `action` take the throw before it, as rules do.

    def describe(self, s: Any) -> str:
        """A position in words, from the view of the mover.

        By default the fields by name, in their `field_text`. Of many fields only those other than 0
        are named.
        """
        words = field_words(self)
        fields = in_fields(s._fields, s, words).items()
        named = [(name, field) for name, field in fields if field or len(fields) <= MANY_FIELDS]

        def meaning(name: str, field: Any) -> str:
            is_printed = isinstance(field, tuple) or isinstance(words.get(name), SetWords)
            return "" if is_printed else self.field_text(name, field)

        parts = (f"{field_label(name)} {meaning(name, field) or field}" for name, field in named)
        text = ", ".join(parts)
        if len(named) == len(fields):
            return text
        return f"{text}, all else 0" if text else "all 0"

    def show(self, s: Any) -> str:
        """A picture of a position for play: a board of several lines, from the view of the mover.

        By default the `cells` in text. If that is empty too, play shows the position in words
        (see `describe`).
        """
        return text_board(numbered(self.cells(s), self.players))

    def cells(self, s: Any) -> Board:
        """A position as rows of cells, from the view of the mover: see `rollwise.boards`.

        A browser draws them, and so does the terminal, unless there is a `show`. Fields that are
        hidden from the mover have the numbers with which the round began. By default empty.
        """
        return ()

    def field_text(self, name: str, number: int) -> str:
        """The meaning of a number in a field, for plots: ``1 4 9`` for the set 530.

        `name` is the name of the field, or ``board.0`` in a tuple. By default the name of a member
        of an enumeration, the members of a set that rules give to `rollwise.bits`, and else empty:
        the number is shown.
        """
        text = member_words(self).get(name, {}).get(number, "")
        if text or number < 0 or name not in fields_of_sets(self):
            return text
        return " ".join(str(k) for k in range(number.bit_length()) if number >> k & 1) or "none"

    def action_text(self, s: Any, *action: Any, **_: Any) -> str:
        """The name of an action without an entry in `action_names`, the same in all states.

        As in ``set aside 1 5 5, roll on``. It is called once for each number of an action, in the
        first state with this action. By default empty: the number is the name.
        """
        return ""

    def throw_text(self, s: Any, throw: Any) -> str:
        """A throw in words, by default the names of its faces: ``3 and 5``.

        Zeros at the end stand for dice that aren't thrown, as `rollwise.dice.faces` gives them, and
        are left out.
        """
        faces = throw if isinstance(throw, tuple) else (throw,)
        return spoken(map(self.face_name, faces_thrown(faces)))

    def throw_cells(self, throw: Any) -> Sequence[Cell]:
        """The dice of a throw as a row of cells: see `rollwise.boards`.

        By default empty: dice show the numbers of a tuple, and a single number is told in words.
        """
        return ()

    def deed(self, s: Any, *action: Any, **_: Any) -> str:
        """The action as a sentence about the player, beginning with its verb: ``throw {}``.

        ``{}`` stands for the faces of thrown dice. Play prints "A throws 5 and 6", or "you throw 2
        dice" where the faces are unknown. By default empty: play prints "A plays" and the name of
        the action.
        """
        return ""

    def told(self, s: Any, *what: Any, **_: Any) -> str:
        """The outcome of an action in words, from the view of its player.

        Its arguments are ``s, action, then, after, faces``. `after` is the next state, without
        meaning where the game is over. `faces` are the faces of the dice, empty where they are
        unknown. A rule sheet without use for `faces` may leave them out. By default empty: play
        names the changed fields.
        """
        return ""

    def face_name(self, face: int) -> str:
        """The name of a face of a die, such as a head of a coin; by default its number."""
        return str(face)

    def throw(self, s: Any, *action: Any, **_: Any) -> Sequence[int]:
        """The number of sides of each die thrown by an action, for people with their own dice.

        By default empty: no dice are known, and people choose the outcome from a list.
        """
        return ()

    def fallen(self, s: Any, *what: Any, **_: Any) -> int | None:
        """The index in `outcomes`, from 0, of the outcome of these faces.

        Its arguments are ``s, action, faces``. By default None: the outcomes are in the order of
        the total of the dice, and each takes as many of the equally likely throws as its weight.
        This is true for one die if `outcomes` goes through its faces, and for ``dice.total``. For
        ``dice.counts`` there is ``dice.place_in_counts(faces, sides)``.
        """
        return None

    def features(self, s: Any, *throw: Any) -> Mapping[str, int]:
        """Named whole numbers for the conditions of rules of thumb, besides the fields.

        They are computed in states with a choice. In a game with throws the throw is an argument,
        if the rule sheet takes one. By default none.
        """
        return {}

    def action_features(self, s: Any, *action: Any, **_: Any) -> Mapping[str, int]:
        """Named whole numbers of an action for preferences of rules of thumb: ``{"captures": 1}``.

        They are added to ``number``, ``points``, ``again`` and ``wins``. By default none.
        """
        return {}

    def kept_features(self, s: Any, kept: tuple[int, ...]) -> Mapping[str, int]:
        """Named whole numbers of the kept dice of a pool, faces ascending: ``{"pairs": 1}``.

        By default `total`, the sum of their faces, and `alike`, the largest number of equal ones.
        In a game with a pool of dice, this method, `features` and `action_features` receive many
        positions at once. The fields of `s` are arrays: compute with them, and do not branch on
        them. `features` is then called without a throw.
        """
        return {"total": sum(kept), "alike": max(map(kept.count, kept), default=0)}

    def read_play(self, rows: Sequence[Mapping[str, str]]) -> list[tuple[Any, int]]:
        """The states and actions of a play written down in the `play_columns`.

        Each row maps the names of columns to text.

        Raises
        ------
        ValueError
            With the number of the row, from 0, and its fault.
        """
        raise NotImplementedError(f"{type(self).__name__} has no read_play()")

    # Games that are made from this one.

    def chase(self, target: int | None = None, ties: str = "win") -> Game:
        """This game, played to reach a score: see `rollwise.Chase`."""
        game: Game = HOOKS.chase(self, target, ties)
        return game

    def contest(self, ties: str = "shared") -> Game:
        """Two players take a whole turn each, and the better score wins: see `rollwise.Duel`."""
        game: Game = HOOKS.contest(self, ties)
        return game

    def with_score(self) -> Game:
        """This game, with the points made so far in the states."""
        game: Game = HOOKS.with_score(self)
        return game

    def with_beliefs(self, max_states: int | None = None) -> Game:
        """This solitaire game with hidden fields, as a game of what its player knows.

        Its states have the visible fields, and the number of a belief: the chances of the hidden
        numbers. There are at most 200,000 states unless `max_states` is given.
        """
        game: Game = HOOKS.with_beliefs(self, max_states)
        return game

    def within(self, turns: int) -> Game:
        """This game, which the first player wins within so many turns or loses."""
        game: Game = HOOKS.within(self, turns)
        return game

    def average(self) -> Game:
        """This game without an end, at its best average: see `rollwise.derive.average`."""
        game: Game = HOOKS.average(self)
        return game

    def cube(self, limit: int = 6, **rules: Any) -> Game:
        """This game of two with a doubling cube: see `rollwise.derive.cube`."""
        game: Game = HOOKS.cube(self, limit, **rules)
        return game

    # Replaced by `rollwise.derive`, `rollwise.models` and `rollwise.hidden.beliefs`.

    @property
    def made_from(self) -> Game:
        """The inner game of a derived game; otherwise the game itself."""
        return self

    @property
    def base_game(self) -> Game:
        """The game with the words for play: `made_from`, or a derived game with its own."""
        return self.made_from

    def base_graph(self, graph: StateGraph) -> StateGraph:
        """The graph of `base_game`; `graph` is the graph of this game."""
        return graph

    def verdicts(self, solution: Any, states: Any) -> Mapping[str, list[str]]:
        """Further columns of a table: a text for each state, given by its number in a solution."""
        return {}

    def numbered(self, graph: StateGraph) -> dict[int, bool]:
        """The positions in the order of arrays from other tools.

        The values of such an array may be those of the opponent: so says the item of a position.
        """
        return dict.fromkeys(graph.positions.tolist(), False)

    @property
    def rounding(self) -> str:
        """The rounding of a model's numbers, or of the chances of beliefs; else empty."""
        return ""

    def derive(self) -> StateGraph | None:
        """The graph of a derived game, computed without running the rules; None in other games."""
        return None

    @property
    def applied_discount(self) -> Fraction:
        """The discount of `outcomes`, which `outcomes_rule` applies; 1 where they have it already.

        Raises
        ------
        ParameterError
            It isn't a number from 0 to 1, or the game is for three or more.
        """
        rate: Any = _decimal(self.discount)
        if isinstance(rate, bool) or not isinstance(rate, int | Fraction) or not 0 <= rate <= 1:
            raise ParameterError(
                f"{self.name}: discount is {shown(self.discount)}; it is a number from 0 to 1, as "
                "in discount = 0.99, or a parameter, "
                "discount: Fraction = parameter(Fraction(99, 100)); a number with another meaning "
                "needs another name"
            )
        if rate != 1 and self.players > 2:
            raise ParameterError(f"{self.name}: a discount is for games of one player or two")
        return Fraction(rate)

    @property
    def rest(self) -> Any:
        """The proved rest of a game whose fields rise without an end; None in other games."""
        return None

    @property
    def beliefs(self) -> dict[int, dict[str, Fraction]]:
        """By the number of a belief, the chance of each combination of hidden numbers.

        Empty in games without beliefs (see `with_beliefs`).
        """
        return {}

    @property
    def has_throws(self) -> bool:
        """Whether a throw comes before each choice."""
        return type(self).throws is not Game.throws

    @classmethod
    def has_secrets(cls) -> bool:
        """Whether dice are hidden or choices simultaneous: `rollwise.hidden` solves such games."""
        return cls.hidden is not Game.hidden or cls.together is not Game.together

    @property
    def is_hidden(self) -> bool:
        """The same of this game."""
        return self.has_secrets()

    @property
    def reads_rolls_left(self) -> bool:
        """Whether the rules take the rolls left of a pool of dice, as an argument `rolls_left`."""
        rules = (
            type(self).actions,
            type(self).outcomes,
            type(self).reward,
        )
        codes = [getattr(rule, "__code__", None) for rule in rules]
        return any("rolls_left" in code.co_varnames[: code.co_argcount] for code in codes if code)

    # The same in every game; rule sheets don't define these.

    @property
    def parameters(self) -> dict[str, Value]:
        """The parameters of this game, by name, without variants at their default."""
        named = ((field, getattr(self, field.name)) for field in dataclasses.fields(self))
        return {
            field.name: word_of(value)
            for field, value in named
            if not field.metadata.get("variant") or value != field.default
        }

    def validate(self) -> None:
        """Check every parameter against its type and range.

        Raises
        ------
        ParameterError
            Names the game, the parameter and its range.
        """
        if not isinstance(self.name, str) or self.name != one_line(self.name) or not self.name:
            raise ParameterError(
                f"{type(self).__name__}: name is {shown(self.name)}; it must be a text of one line"
            )
        for kind in type(self).__mro__:
            typed = inspect.get_annotations(kind)
            for name, value in vars(kind).items():
                if isinstance(value, dataclasses.Field) and name not in typed:
                    raise ParameterError(
                        f"{self.name}: {name} is no parameter yet; write its type, as in "
                        f"{name}: int = ..."
                    )
        for spec in parameter_specs(type(self)):
            spec.check(self.name, getattr(self, spec.name))
        self.applied_discount  # noqa: B018 (evaluated for its checks)

    @property
    def specs(self) -> list[ParameterSpec]:
        """Type, default and range of each parameter."""
        return list(parameter_specs(type(self)))

    @property
    def description(self) -> str:
        """The rules in words: the docstring of the class; empty without one of its own."""
        return rules_in_words(type(self))

    def _repr_html_(self) -> str:
        """The notebook view: the rules in a line, and the parameters."""
        return str(HOOKS.html(self))

    @classmethod
    def policies(cls) -> dict[str, Callable[[Any, Any], int]]:
        """The policies written beside the rules: functions of game and state, by name."""
        attributes = [getattr(cls, name, None) for name in dir(cls)]
        marked = [f for f in attributes if callable(f) and hasattr(f, "__rollwise_policy__")]
        return {function.__rollwise_policy__: function for function in marked}


def rules_in_words(kind: type[Game]) -> str:
    """The docstring of a rule sheet, or of the one that it extends; empty if there is none."""
    for one in kind.__mro__[: kind.__mro__.index(Game)]:
        text = vars(one).get("__doc__") or ""
        if text and not text.startswith(f"{one.__name__}("):  # a dataclass writes its signature
            return inspect.cleandoc(text)
    return ""


def has_many(game: Game) -> bool:
    """Whether the game has three or more players; faulty rules may give anything as `players`."""
    seats: object = game.players
    return isinstance(seats, int) and seats > 2


def caps_of(game: Game) -> dict[str, int]:
    """The numbers of fields from which only stopping is allowed; of a form, those of its game.

    Empty for games without a field that rises without an end.
    """
    inner = game.made_from
    if inner is not game:
        return caps_of(inner)
    return {} if game.rest is None else game.rest.named(game.rest.caps)


def with_an_end(game: Game, max_states: int | None = None) -> Game:
    """The game in the form in which it is solved.

    If fields of a user's game rise without an end, it has proved caps. If fields of a solitaire
    game are hidden, it is the game of its player's beliefs, of at most so many states.

    Raises
    ------
    RulesError
        A field rises without an end, and stopping is best nowhere.
    """
    if game.players == 1 and game.is_hidden:
        return game.with_beliefs(max_states)
    if type(game).__module__.startswith("rollwise."):  # each of ours has an end
        return game
    capped: Game = HOOKS.finite(game)
    return capped


def require_game(given: object) -> Game:
    """Return the argument, if it is a game.

    Raises
    ------
    UsageError
        It is something else, such as a name or a class. The message gives the correction.
    """
    if isinstance(given, Game):
        return given
    if isinstance(given, str):
        raise UsageError(
            f"{shown(given)} is a name, and a game is wanted: from rollwise.games import find; "
            f"find({shown(given)})() is the game of that name, with its parameters in the brackets"
        )
    if isinstance(given, type) and issubclass(given, Game):
        name = given.__name__
        raise UsageError(f"{name} is the class of a game, and a game is wanted: write {name}()")
    raise another_kind("a game is wanted, such as Pig(target=50)", given)
