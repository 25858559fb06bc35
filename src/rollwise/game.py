"""The language that games are written in.

A game is a frozen dataclass whose fields are its parameters. Its rules are plain
Python: where a play starts, what the mover may do, and what can come of it.
See ``rollwise/games/`` for rule sheets to copy.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex, TypeVar

from rollwise.boards import Board, text_board
from rollwise.errors import ParameterError, UsageError
from rollwise.faults import one_line, shown
from rollwise.hooks import HOOKS
from rollwise.numbers.shares import (
    SHARES_SCALE,
    SMALL,
    code_of_payoffs,
    code_of_shares,
    code_of_winners,
    digit_bits,
    digits_of_seats,
    is_of_seats,
    is_payoffs,
    most_payoff,
    winners_of,
)
from rollwise.parameters import ParameterSpec, Value, parameter_specs, word_of
from rollwise.parameters import parameter as parameter

if TYPE_CHECKING:
    from rollwise.graph import StateGraph

# What follows an outcome, from the mover's point of view.
AGAIN, PASS, WIN, LOSE, DRAW, END = range(6)
THEN_NAMES = ("AGAIN", "PASS", "WIN", "LOSE", "DRAW", "END")

# Any other payoff is a `then` too: the bits of a double, read as a whole number of 64 bits. Those
# of so small doubles are left out, for they would be the codes above, or typing errors for them.
# Payoffs of several seats are doubles between the smallest that count and the least of one.
LEAST_PAYOFF, MOST_PAYOFF = SMALL, 1e300
_PLAIN_PAYOFFS = {1.0: WIN, -1.0: LOSE, 0.0: DRAW}

# Where the game goes on a `then` has no other bits than these: that of PASS, or the 16 of a number
# of seats (see `skip`). No payoff is so small, as a whole number.
GOES_ON, SKIPS = 0xFFFF01, 0xFFFF00
MOST_SKIPPED = 32_767

SMALL_WORDS = ("a", "and", "for", "in", "of", "on", "the", "to")  # in headings
MOST_PLAYERS = 16
MANY_FIELDS = 8  # of which `Game.describe` leaves out those that are 0

Function = TypeVar("Function", bound=Callable[..., Any])

_RULES: dict[Callable[..., Any], Callable[..., Any]] = {}  # what is compiled for what rules call


def rule(function: Function) -> Function:
    """Mark a helper function that rules call, so that it is compiled with them.

    The function stays what it is; it must be one that Numba can compile.
    """
    _RULES[function] = function
    return function


def interpreted_as(function: Callable[..., Any], other: Function) -> Function:
    """Let rules call another function than the one that is compiled, for it is slow in Python.

    Both have to do the same.
    """
    _RULES[other] = function
    return other


def marked_rules() -> dict[Callable[..., Any], Callable[..., Any]]:
    """All functions marked with `rule` so far, each with what is compiled in its place."""
    return dict(_RULES)


@rule
def skip(seats: int) -> int:
    """What follows an outcome after which the die moves on by so many seats.

    ``skip(2)`` leaves out the next player, ``skip(-1)`` is `PASS_BACK`, ``skip(1)`` is `PASS` and
    ``skip(0)`` `AGAIN`. It goes round the table: of three players ``skip(4)`` is the next. The next
    state is written as the player sees it who has the die then. Compiled rules may call it.

    Raises
    ------
    ValueError
        It isn't a whole number from -32,767 to 32,767.
    """
    if not -MOST_SKIPPED <= seats <= MOST_SKIPPED:
        raise ValueError("skip takes a whole number of seats from -32,767 to 32,767")
    if seats == 1:
        return PASS
    return (seats & 0xFFFF) << 8


PASS_BACK = skip(-1)


def payoff(points: float) -> int:
    """What follows an outcome that ends the game and brings the mover so many points.

    ``yield 1, payoff(2), s`` is a gammon, ``payoff(-2)`` a lost one, and ``payoff(1)``,
    ``payoff(-1)`` and ``payoff(0)`` are `WIN`, `LOSE` and `DRAW`. The other player gets the
    opposite. With three or more players see `won_by`, `shared` and `payoffs`.

    Raises
    ------
    ValueError
        The points aren't a finite number, or so small that only a slip can be meant.
    """
    try:
        amount = float(points) if not isinstance(points, str) else math.nan
    except (TypeError, ValueError, OverflowError):
        amount = math.nan
    if amount in _PLAIN_PAYOFFS:
        return _PLAIN_PAYOFFS[amount]
    if not LEAST_PAYOFF <= abs(amount) <= MOST_PAYOFF:
        raise ValueError(
            f"payoff({shown(points)}) is none; a payoff is a finite number, such as payoff(2)"
        )
    return bits_of(amount)


def bits_of(amount: float) -> int:
    """The bits of a double, read as a whole number."""
    code: int = struct.unpack("<q", struct.pack("<d", amount))[0]
    return code


def won_by(*seats: int) -> int:
    """What follows an outcome that ends a game of several players: who wins it.

    Seats are counted from the mover, in the order of their moves: 0 is the mover, 1 the next.
    Several share the win in equal parts. ``won_by(0)`` is `WIN`. Write it as a constant of the
    module, ``NEXT_WINS = won_by(1)``, for compiled rules can't call it.

    Raises
    ------
    ValueError
        There is no seat, or one that can't be.
    """
    if not seats or not all(isinstance(seat, int) and 0 <= seat < MOST_PLAYERS for seat in seats):
        raise ValueError(
            f"won_by{shown(seats)} names no winners; seats are whole numbers from 0, the mover"
        )
    return WIN if set(seats) == {0} else bits_of(code_of_winners(seats))


def shared(*parts: int) -> int:
    """What follows an outcome that ends a game of several players: in which parts they share it.

    A whole number for each seat, in the order of the moves from the mover on: with
    ``shared(2, 1, 0)`` the mover has two thirds of the win and the next player one. So ranks and
    stakes that always add up to the same are written too. Write it as a constant of the module,
    as `won_by`.

    Raises
    ------
    ValueError
        The parts aren't whole numbers from 0 of some size, at least two and not all 0.
    """
    most = (1 << digit_bits(max(len(parts), 2))) - 1
    fine = 2 <= len(parts) <= MOST_PLAYERS and all(
        isinstance(part, int) and 0 <= part <= most for part in parts
    )
    if not fine or not any(parts):
        raise ValueError(
            f"shared{shown(parts)} are no shares; give a whole number from 0 to {most:,} for each "
            "seat, not all of them 0"
        )
    return bits_of(code_of_shares(parts))


def payoffs(*numbers: int) -> int:
    """What follows an outcome that ends a game of several players: what each of them gets.

    A whole number for each seat, in the order of the moves from the mover on. They need not add up
    to the same in all ends: with ``payoffs(3, -1, 0)`` the mover gets 3 and the next player pays 1,
    who knows to whom. What a game is worth to a seat is then its expected payoff. In a game with
    `payoffs` a `WIN` counts 1 to the mover, and a shared win its parts. With three players numbers
    go to 32,767, with four to 2,047, with six to 127. Compiled rules may call it.

    Raises
    ------
    ValueError
        The numbers aren't whole ones of some size, at least two.
    """
    most = most_payoff(min(max(len(numbers), 2), MOST_PLAYERS))
    if not 2 <= len(numbers) <= MOST_PLAYERS or not all(
        isinstance(number, SupportsIndex) and -most <= index(number) <= most for number in numbers
    ):
        raise ValueError(
            f"payoffs{shown(numbers)} are none; give a whole number from -{most:,} to {most:,} for "
            "each seat"
        )
    return bits_of(code_of_payoffs(list(map(index, numbers))))


def replaced(numbers: tuple[int, ...], place: int, number: int) -> tuple[int, ...]:
    """A tuple with another number at a place, from 0: what a board is after a move.

    Raises
    ------
    IndexError
        There is no such place.
    """
    if not 0 <= place < len(numbers):
        raise IndexError(f"there is no place {place} in a tuple of {len(numbers)}")
    return (*numbers[:place], number, *numbers[place + 1 :])


@rule
def turned(numbers: tuple[int, ...], seats: int) -> tuple[int, ...]:
    """A tuple with a number for each seat, from so many seats on: as is seen after `skip`."""
    for _ in range(seats % len(numbers)):
        numbers = numbers[1:] + numbers[:1]
    return numbers


@rule
def shared_by(winners: Sequence[int]) -> int:
    """What follows an outcome after which some seats share the win evenly.

    Other than `won_by`, rules may work out who they are, of two players too.

    Parameters
    ----------
    winners : sequence of int
        1 for each seat that shares the win, from the mover on, and 0 for the others. If it is
        nobody, all share.
    """
    code, last = 0, 0
    for seat in range(len(winners)):
        if winners[seat] != 0:
            code += 1 << seat
            last = seat
    if code == 1:
        return WIN
    if code == 0 or (len(winners) == 2 and code == 3):
        return DRAW
    if len(winners) == 2:
        return LOSE
    # the bits of a double: 1023 is for 1, of which this is 2^-SHARES_SCALE times the code
    return ((1023 - SHARES_SCALE + last) << 52) + ((code - (1 << last)) << (52 - last))


@rule
def next_in(numbers: tuple[int, ...], out: int) -> int:
    """How many seats on the next player is whose number isn't that of players who are out.

    As many as there are players where nobody else is in.

    Parameters
    ----------
    numbers : tuple of int
        Of each seat, from the mover on.
    out : int
        The number in the place of those who are out.
    """
    for seat in range(1, len(numbers)):
        if numbers[seat] != out:
            return seat
    return len(numbers)


@rule
def last_left(numbers: tuple[int, ...], out: int) -> int:
    """The win of the last player who isn't out, or AGAIN while there are several.

    Parameters
    ----------
    numbers, out
        As `next_in` takes them.
    """
    left, last = 0, 0
    for seat in range(len(numbers)):
        if numbers[seat] != out:
            left += 1
            last = seat
    if left > 1:
        return AGAIN
    winners = numbers
    for seat in range(len(numbers)):
        winners = replaced(winners, seat, 1 if left == 1 and seat == last else 0)
    return shared_by(winners)


def spoken(faces: Iterable[object]) -> str:
    """Faces as people say them, ``3, 3 and 5``."""
    *first, last = map(str, faces)
    return f"{', '.join(first)} and {last}" if first else last


def is_over(then: int) -> bool:
    """Whether the game is over after an outcome."""
    return bool(int(then) & ~GOES_ON)  # of NumPy's small whole numbers, too


def is_skip(then: int) -> bool:
    """Whether a `then` is what `skip` gives for another number of seats than 0 and 1."""
    return then != 0 and not then & ~SKIPS


def seats_on(then: Any, players: int) -> Any:
    """By how many seats the die moves on, from 0, where the game goes on; of an array, too."""
    if not getattr(then, "ndim", 0):
        then = int(then)  # NumPy's small whole numbers are too small
    return ((then >> 8) - (then >> 7 & 0x10000) + (then & 1)) % players


def round_the_table(then: int, players: int) -> int:
    """A `then` as it is written with the fewest seats: ``skip(4)`` of three players is PASS."""
    return then if is_over(then) else skip(seats_on(then, players))


def is_payoff(then: int) -> bool:
    """Whether a `then` is what `payoff` gives for something else than a win, a loss or a draw."""
    if not -(2**63) <= then < 2**63:
        return False
    amount = payoff_of(then)
    return LEAST_PAYOFF <= abs(amount) <= MOST_PAYOFF and amount not in _PLAIN_PAYOFFS


def says_of_seats(then: int) -> bool:
    """Whether a `then` is what `won_by`, `shared` or `payoffs` gives, but for a `WIN`."""
    return 0 <= then < 2**63 and is_of_seats(payoff_of(then))


def payoff_of(then: int) -> float:
    """The bits of a `then` that isn't one of those with a name, as the number that they are."""
    amount: float = struct.unpack("<d", struct.pack("<q", then))[0]
    return amount


def then_text(then: int) -> str:
    """What follows an outcome, as rules write it: ``WIN`` or ``payoff(2)``."""
    if 0 <= then < len(THEN_NAMES):
        return THEN_NAMES[then]
    if is_skip(then):
        seats = seats_on(then, 1 << 16)
        return "PASS_BACK" if then == PASS_BACK else f"skip({(seats + 32768) % 65536 - 32768})"
    amount = payoff_of(then)
    if is_of_seats(amount):
        return _seats_text(amount)
    return f"payoff({int(amount) if amount.is_integer() else amount})"


def _seats_text(amount: float) -> str:
    """What `won_by`, `shared` or `payoffs` gave."""
    if winners := winners_of(amount):
        return f"won_by({', '.join(map(str, winners))})"
    name, numbers = "payoffs" if is_payoffs(amount) else "shared", digits_of_seats(amount)
    return f"{name}({', '.join(map(str, numbers))})"


def policy(function: Function) -> Function:
    """Mark a method ``name(self, state) -> action`` as a policy that people use.

    Its name on the command line has dashes for underscores: ``hold_at_20`` is
    ``hold-at-20``. The first line of its docstring says what it does.
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


@dataclass(frozen=True)
class Game:
    """A turn-based dice game.

    Write `start`, `actions` and `outcomes`; a state is a NamedTuple of whole
    numbers, whose type is that of whatever `start` returns. All else has a default.
    `roots`, `reward` and `progress` are rules too. `describe`, `deed`, `told`, `face_name`,
    `throw`, `fallen`, `read_play` and `face_points` are words: they never change the answer.

    Attributes
    ----------
    name : str
        What the game is called on the command line; made from the class's name
        (``SuperSix`` is ``super-six``) unless given.
    heading : str
        What it is called in headings; the words of its name (Super Six) unless given.
    players : int
        2, or 1 for a solitaire game, or up to 16. It may be a parameter. With three or more a
        state is still written as the mover sees it, the others in the order of their moves; PASS
        hands the die to the next, and `skip` to another one; WIN, LOSE, DRAW, `won_by` and
        `shared` say who wins, and `payoffs` what each gets (see `rollwise.equilibrium`).
    objective : {"win", "maximize", "minimize"}
        Win a game of wins and losses (or get the most of a game for stakes, with any
        `payoff`), or get the largest or smallest expected total of the rewards of a
        solitaire game.
    column_names : mapping
        What numbers of a state are called that aren't called as their field: ``{"rivals.0":
        "rival"}`` of two players. A field whose name is empty isn't used: it keeps its number of
        the start, and tables have no column of it. A property may depend on `players`.
    action_names : sequence or mapping
        Names of the actions; an action without one is shown as its number.
    action_unit : (str, str)
        What the number of an action counts, of one and of several, as in ``("die", "dice")``:
        for the legends of pictures.
    endless : {"forbidden", "draw", "lose"}
        What play is worth that never ends, in a game that is won or lost: the rules are
        refused where players could go round for ever, or such play is a draw, or whoever
        keeps it up loses (both players, where they keep the turn passing). A game for points
        needs none: rounds that cost are allowed, since endless play loses without bound.
    play_columns : sequence of str
        The columns that `read_play` needs; without any it isn't asked.
    face_points : sequence of int
        The points of each face of the dice, ascending, in a game of taking the lowest dice
        (see `rollwise.many_dice`); empty in every other game.
    """

    name: ClassVar[str] = "game"
    heading: ClassVar[str] = "Game"
    if TYPE_CHECKING:
        players: ClassVar[int]
    else:  # without a note of its type, which would be its place if it is made a parameter
        players = 2
    objective: ClassVar[str] = "win"
    column_names: ClassVar[Mapping[str, str]] = {}
    action_names: ClassVar[Sequence[str] | Mapping[int, str]] = ()
    action_unit: ClassVar[Sequence[str]] = ()
    endless: ClassVar[str] = "forbidden"
    play_columns: ClassVar[Sequence[str]] = ()
    face_points: ClassVar[Sequence[int]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", cls.__name__)
            cls.name = words.replace("_", "-").lower()
        if "heading" not in cls.__dict__ and isinstance(cls.name, str):
            cls.heading = heading_of(cls.name)

    def __post_init__(self) -> None:
        self.validate()

    def start(self) -> Any:
        """The opening position, as the player who moves first sees it."""
        raise NotImplementedError(f"{type(self).__name__} has no start()")

    def roots(self) -> Iterable[Any]:
        """Positions that a table should cover, whether or not a play reaches them."""
        yield self.start()

    # `throws` is optional. In a game that has it, the rules that follow are given the throw as
    # well: ``actions(s, throw)``, ``outcomes(s, throw, action)``, ``reward(s, throw, action)``.

    def throws(self, s: Any) -> Iterable[Any]:
        """Yield ``(weight, throw)`` for all that chance can bring before the mover chooses.

        A throw is a whole number or a tuple of them, of the same length in the whole game.
        """
        raise NotImplementedError(f"{type(self).__name__} has no throws()")

    def actions(self, s: Any, *throw: Any, **_: Any) -> Iterator[int]:
        """Yield the actions (whole numbers from 0) that the mover may take."""
        raise NotImplementedError(f"{type(self).__name__} has no actions()")

    def outcomes(self, s: Any, *action: Any, **_: Any) -> Iterator[tuple[Any, int, Any]]:
        """Yield ``(weight, then, next_state)`` for all that can come of an action."""
        raise NotImplementedError(f"{type(self).__name__} has no outcomes()")

    def reward(self, s: Any, *action: Any, **_: Any) -> float:
        """Points for taking an action; in a game of two the mover gains them from the other."""
        return 0.0

    def progress(self, s: Any) -> int | tuple[int, ...]:
        """How far the game has gone: a whole number that no outcome lowers, or a tuple of some.

        A game that says so can be solved a layer at a time (`rollwise.solve_by_layers`):
        sticks that left the game, points in both banks. States of equal progress are a layer.

        Of a tuple no outcome lowers any number. A layer then waits only for those whose numbers
        are all at least as large, so that layers are smaller, and workers solve some at the
        same time. A PASS swaps what the mover has and what the other has. So numbers of the two
        are given in order, as in ``return min(s.home, s.rival), max(s.home, s.rival)``: these don't
        fall, and positions that differ in who moves are of one layer.
        """
        return 0

    # Words: what people see of a game, and how they write it down. In a game with throws those
    # that are asked of an action are given the throw before it, as rules are.

    def describe(self, s: Any) -> str:
        """A position in words, as the mover sees it.

        By default its fields by name, of many fields only those that aren't 0.
        """
        fields = list(zip(s._fields, s, strict=True))
        named = [(name, field) for name, field in fields if field or len(fields) <= MANY_FIELDS]
        text = ", ".join(f"{name} {field}" for name, field in named)
        if len(named) == len(fields):
            return text
        return f"{text}, all else 0" if text else "all 0"

    def show(self, s: Any) -> str:
        """A picture of a position for play: a board of several lines, as the mover sees it.

        By default its `cells` in text. Where that is empty too, play shows the position in words
        (see `describe`).
        """
        return text_board(self.cells(s))

    def cells(self, s: Any) -> Board:
        """A position as rows of cells, as the mover sees it: see `rollwise.boards`.

        A browser draws them, and so does the terminal, unless there is a `show`. By default empty.
        """
        return ()

    def field_text(self, name: str, number: int) -> str:
        """What a number in a field means, for pictures: ``1 4 9`` for the set 530.

        `name` is that of the field, or ``board.0`` in a tuple. Empty, as by default: the number
        says it.
        """
        return ""

    def action_text(self, s: Any, *action: Any, **_: Any) -> str:
        """What an action is called that `action_names` doesn't name: ``set aside 1 5 5, roll on``.

        It is asked once for each number of an action, where that first comes up. So it says the
        same wherever the action has this number. By default empty: it is called by its number.
        """
        return ""

    def throw_text(self, s: Any, throw: Any) -> str:
        """What was thrown, in words; by default the names of its faces: ``3 and 5``."""
        faces = throw if isinstance(throw, tuple) else (throw,)
        return spoken(map(self.face_name, faces))

    def deed(self, s: Any, *action: Any, **_: Any) -> str:
        """What a player does who takes an action, beginning with its verb: ``throw {}``.

        Where dice are thrown ``{}`` stands for what they show. Play tells it as "A throws 5 and
        6", or as "you throw 2 dice" where nobody knows their faces. By default empty: play says
        "A plays" and the name of the action.
        """
        return ""

    def told(self, s: Any, *what: Any, **_: Any) -> str:
        """What came of an action, in words, as the player saw it who took the action.

        It is given ``s, action, then, after, faces``. `after` is the next state; it means nothing
        where the game is over. `faces` are those of the dice, and empty where nobody knows them;
        a rule sheet that doesn't need them may leave them out. By default empty: play tells which
        fields changed.
        """
        return ""

    def final(self, s: Any, *what: Any, **_: Any) -> Any:
        """The position in which an action has ended the game, as its player sees it.

        It is given ``s, action, faces``; `faces` are those of the dice. By default None: who is
        shown the end of a game sees the position before it.
        """
        return None

    def face_name(self, face: int) -> str:
        """What a face of a die is called, such as a head of a coin; by default its number."""
        return str(face)

    def throw(self, s: Any, *action: Any, **_: Any) -> Sequence[int]:
        """The sides of each die that an action throws, for people with dice of their own.

        By default empty: no dice are known, and people say which outcome it was.
        """
        return ()

    def fallen(self, s: Any, *what: Any, **_: Any) -> int | None:
        """Which of the `outcomes` the faces of the thrown dice bring: its number, from 0.

        It is given ``s, action, faces``. By default None: the outcomes stand in the order of
        the total of the dice, and each takes as many of the equally likely throws as its weight
        says. So it is with one die when `outcomes` goes through its faces, and with
        ``dice.total``; for ``dice.counts`` there is ``dice.place_in_counts(faces, sides)``.
        """
        return None

    def features(self, s: Any, *throw: Any) -> Mapping[str, int]:
        """Whole numbers by name that rules of thumb may look at, besides the fields.

        Asked where there is a choice; in a game with throws with the throw, or without it, as the
        rule sheet has it. By default none.
        """
        return {}

    def action_features(self, s: Any, *action: Any, **_: Any) -> Mapping[str, int]:
        """Whole numbers by name that rules of thumb may prefer an action for: ``{"captures": 1}``.

        Besides its ``number``, ``points``, ``again`` and ``wins``. By default none.
        """
        return {}

    def kept_features(self, s: Any, kept: tuple[int, ...]) -> Mapping[str, int]:
        """The same for dice of a pool that are kept, faces ascending: ``{"pairs": 1}``.

        In a game with a pool of dice this, `features` and `action_features` are asked of many
        positions at once: the fields of `s` are arrays, to be computed with, and not to be branched
        on. Then `features` is given no throw.
        """
        return {}

    def read_play(self, rows: Sequence[Mapping[str, str]]) -> list[tuple[Any, int]]:
        """The states and actions of a play that was written down in the `play_columns`.

        Each row maps the names of columns to text.

        Raises
        ------
        ValueError
            With the number of the row, from 0, and what is wrong with it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no read_play()")

    # Games that are made from this one, if it is a solitaire game with points.

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

    # What `rollwise.derive` replaces in a game that is made from another one.

    @property
    def base_game(self) -> Game:
        """The game that this one is made from: itself, unless it is derived."""
        return self

    def base_graph(self, graph: StateGraph) -> StateGraph:
        """The graph of `base_game`; `graph` is that of this game."""
        return graph

    def derive(self) -> StateGraph | None:
        """The graph that the rules give, where it is found without running them."""
        return None

    # What follows is asked of every game, and needs no writing.

    @property
    def parameters(self) -> dict[str, Value]:
        """The parameters of this game, by name; without variants that have their default."""
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
        given = self.parameters
        values = {spec.name: given.get(spec.name, spec.default) for spec in self.specs}
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


def has_many(game: Game) -> bool:
    """Whether three or more play; faulty rules may say anything of their players."""
    seats: object = game.players
    return isinstance(seats, int) and seats > 2


def require_game(given: object) -> Game:
    """What was given, if it is a game.

    Raises
    ------
    UsageError
        It is something else, such as a name or a class; says what to write instead.
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
    raise UsageError(
        f"a game is wanted, such as Pig(target=50), and nothing of the type {type(given).__name__}"
    )
