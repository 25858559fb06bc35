"""Can't Stop: climb columns, in as few turns as possible or before the other player."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar, NamedTuple

from rollwise import boards, dice
from rollwise.errors import ParameterError
from rollwise.game import AGAIN, END, PASS, WIN, Game, parameter, policy, replaced, rule

RUNNERS = 3
COLUMNS = 3  # to climb
MOST_SIDES = 6
BUST = 0
TOTALS = 2 * MOST_SIDES + 1  # of two dice, and 0 for no runner


Throw = tuple[int, int, int, int]  # the faces, in order


class Board(NamedTuple):
    banked: tuple[int, ...]  # steps climbed in the turns before, column by column
    turn: tuple[int, ...]  # steps of this turn, which a bust loses


@rule
def label(one: int, other: int, stop: bool) -> int:
    """A move of a runner in each of two columns, or in one with 0 for the other."""
    return 1 + 2 * (min(one, other) * TOTALS + max(one, other)) + stop


@rule
def stops(action: int) -> bool:
    """Whether a move ends the turn."""
    return action != BUST and action % 2 == 0


def names() -> dict[int, str]:
    """What each action is called."""
    found = {BUST: "bust"}
    for one in range(TOTALS):
        for other in range(max(one, 2), TOTALS):
            columns = f"{one} and {other}" if one else f"{other}"
            found[label(one, other, False)] = f"{columns}, roll on"
            found[label(one, other, True)] = f"{columns}, stop"
    return found


@rule
def length(column: int, sides: int, shortest: int) -> int:
    """The steps of a column: those in the middle are the longest."""
    return shortest + 2 * min(column - 2, 2 * sides - column)


@rule
def can_climb(s: Board, column: int, sides: int, shortest: int) -> bool:
    """Whether a column isn't full, and has a runner or there is one left."""
    place = column - 2
    if s.banked[place] + s.turn[place] == length(column, sides, shortest):
        return False
    runners = 0
    for steps in s.turn:
        runners += steps > 0
    return s.turn[place] > 0 or runners < RUNNERS


@rule
def climbed(s: Board, column: int) -> Board:
    """The board after a step in a column."""
    return Board(s.banked, replaced(s.turn, column - 2, s.turn[column - 2] + 1))


@rule
def after_move(s: Board, action: int) -> Board:
    """The board after the runners of an action have climbed."""
    one, other = divmod((action - 1) // 2, TOTALS)
    if one > 0:
        s = climbed(s, one)
    return climbed(s, other)


@rule
def full_columns(s: Board, sides: int, shortest: int) -> int:
    """How many columns are climbed, counting this turn's steps."""
    full = 0
    for place in range(len(s.banked)):
        full += s.banked[place] + s.turn[place] == length(place + 2, sides, shortest)
    return full


@rule
def climbs(s: Board, one: int, other: int, sides: int, shortest: int) -> list[int]:
    """The moves of two totals, which stop then: both columns if possible, else either."""
    found = [BUST][:0]
    first = can_climb(s, one, sides, shortest)
    second = can_climb(s, other, sides, shortest)
    if first and can_climb(climbed(s, one), other, sides, shortest):
        found.append(label(one, other, True))
    else:
        if first:
            found.append(label(0, one, True))
        if second and other != one:
            found.append(label(0, other, True))
    return found


@rule
def moves(s: Board, throw: Throw, sides: int, shortest: int) -> list[int]:
    """The moves of a throw, each once, which stop then: none where the throw is a bust."""
    a, b, c, d = throw
    found = [BUST][:0]
    for one, other in ((a + b, c + d), (a + c, b + d), (a + d, b + c)):
        for stop in climbs(s, one, other, sides, shortest):
            if stop not in found:
                found.append(stop)
    return found


def drawn(s: Board, theirs: Sequence[int], sides: int, shortest: int) -> boards.Board:
    """The columns, lying; those of the other player beside them."""
    rows = []
    for place, (banked, steps) in enumerate(zip(s.banked, s.turn, strict=True)):
        most = length(place + 2, sides, shortest)
        rows.append([boards.label(str(place + 2)), boards.bar(banked, steps, of=most)])
        if theirs:
            rows[-1].append(boards.bar(theirs[place], of=most, theirs=True))
    return rows


def steps_text(banked: Sequence[int], turn: Sequence[int] = ()) -> str:
    """The steps climbed in each column."""
    columns = [
        f"{place}: {kept}+{steps}" if steps else f"{place}: {kept}"
        for place, (kept, steps) in enumerate(zip_longest(banked, turn, fillvalue=0), 2)
        if kept or steps
    ]
    return "steps in column " + ", ".join(columns) if columns else "an empty board"


def climbed_text(action: int) -> str:
    """What the runners do."""
    if action == BUST:
        return "move no runner"
    one, other = divmod((action - 1) // 2, TOTALS)
    return f"climb columns {one} and {other}" if one else f"climb column {other}"


def few_runners(board: Board, actions: Iterator[int]) -> int:
    """The action that rolls on if that leaves a runner, else one that stops."""
    chosen = BUST
    for action in actions:
        runners = 0
        for steps in after_move(board, action).turn if action != BUST else board.turn:
            runners += steps > 0
        if chosen == BUST or (not stops(action) and runners < RUNNERS):
            chosen = action
    return chosen


@dataclass(frozen=True)
class CantStop(Game):
    """Throw four dice, split them into two pairs, and climb the columns of the two totals.

    Column c has `shortest` + 2 min(c - 2, 2 `sides` - c) steps. A turn has three runners, each
    in a column of its own. Both totals must be climbed if they can be; where only one of them
    can, either may be. Then stop and keep the steps, or roll on. A throw that moves no runner
    loses the steps of the turn. Three full columns end the game. The score is the number of
    turns. The published game has sides=6 and shortest=3, too many positions for a table.
    """

    heading: ClassVar = "Can't Stop"
    sides: int = parameter(2, at_least=2, at_most=MOST_SIDES, about="sides of each die")
    shortest: int = parameter(1, at_least=1, at_most=10, about="steps of the shortest columns")
    players: ClassVar = 1
    objective: ClassVar = "minimize"
    action_names: ClassVar = names()

    def start(self) -> Board:
        nothing = (0,) * (2 * self.sides - 1)
        return Board(nothing, nothing)

    def throws(self, s: Board) -> Iterator[tuple[int, Throw]]:
        for ways, shown in dice.faces(4, self.sides):
            yield ways, (shown[0], shown[1], shown[2], shown[3])

    def actions(self, s: Board, throw: Throw) -> Iterator[int]:
        bust = True
        for stop in moves(s, throw, self.sides, self.shortest):
            bust = False
            yield stop
            if full_columns(after_move(s, stop), self.sides, self.shortest) < COLUMNS:
                yield stop - 1
        if bust:
            yield BUST

    def reward(self, s: Board, throw: Throw, action: int) -> float:
        return 1.0 if action == BUST or stops(action) else 0.0

    def outcomes(self, s: Board, throw: Throw, action: int) -> Iterator[tuple[int, int, Board]]:
        nothing = s.banked
        for place in range(len(s.banked)):
            nothing = replaced(nothing, place, 0)
        if action == BUST:
            yield 1, AGAIN, Board(s.banked, nothing)
        else:
            after = after_move(s, action)
            if full_columns(after, self.sides, self.shortest) >= COLUMNS:
                yield 1, END, s
            elif not stops(action):
                yield 1, AGAIN, after
            else:
                banked = s.banked
                for place in range(len(banked)):
                    banked = replaced(banked, place, banked[place] + after.turn[place])
                yield 1, AGAIN, Board(banked, nothing)

    def progress(self, s: Board) -> int:
        return sum(s.banked)

    def describe(self, s: Board) -> str:
        return steps_text(s.banked, s.turn)

    def cells(self, s: Board) -> boards.Board:
        return drawn(s, (), self.sides, self.shortest)

    def deed(self, s: Board, throw: Throw, action: int) -> str:
        return climbed_text(action)

    def told(
        self,
        s: Board,
        throw: Throw,
        action: int,
        then: int,
        after: Board,
        faces: Sequence[int] = (),
    ) -> str:
        if action == BUST:
            return "the steps of the turn are lost"
        if then == END:
            return "three columns are full"
        return f"stop, {self.describe(after)}" if stops(action) else "roll on"

    @policy
    def until_three_runners(self, s: Board, throw: Throw) -> int:
        """Roll on until three runners are on the board or the game is won."""
        return few_runners(s, self.actions(s, throw))


class Boards(NamedTuple):
    mine: tuple[int, ...]  # steps climbed in the turns before, column by column
    theirs: tuple[int, ...]
    turn: tuple[int, ...]  # steps of this turn, which a bust loses


@rule
def seen(s: Boards, sides: int, shortest: int) -> Board:
    """The mover's board, on which the columns of the other are full."""
    banked = s.mine
    for place in range(len(banked)):
        if s.theirs[place] == length(place + 2, sides, shortest):
            banked = replaced(banked, place, s.theirs[place])
    return Board(banked, s.turn)


@dataclass(frozen=True)
class CantStopForTwo(Game):
    """Can't Stop for two: who has filled enough columns first wins.

    Throws, runners and lengths of columns are those of Can't Stop. A column that a player has
    filled is closed: nobody climbs it any more, and the steps of the other are taken off. It
    isn't filled before its steps are kept. With as many `columns` as the dice have sides or
    fewer, somebody always wins. The published game has sides=6, shortest=3 and columns=3.
    """

    heading: ClassVar = "Can't Stop for Two"
    sides: int = parameter(2, at_least=2, at_most=MOST_SIDES, about="sides of each die")
    shortest: int = parameter(1, at_least=1, at_most=10, about="steps of the shortest columns")
    columns: int = parameter(2, at_least=1, at_most=COLUMNS, about="columns that win")
    action_names: ClassVar = names()

    def validate(self) -> None:
        super().validate()
        if self.columns > self.sides:
            raise ParameterError(
                f"{self.name}: with {self.columns} of {2 * self.sides - 1} columns to fill "
                f"nobody may win; take columns={self.sides} at most"
            )

    def start(self) -> Boards:
        nothing = (0,) * (2 * self.sides - 1)
        return Boards(nothing, nothing, nothing)

    def throws(self, s: Boards) -> Iterator[tuple[int, Throw]]:
        for ways, shown in dice.faces(4, self.sides):
            yield ways, (shown[0], shown[1], shown[2], shown[3])

    def wins(self, s: Boards, turn: tuple[int, ...]) -> bool:
        """Whether the mover who stops with these steps has columns enough."""
        return full_columns(Board(s.mine, turn), self.sides, self.shortest) >= self.columns

    def actions(self, s: Boards, throw: Throw) -> Iterator[int]:
        board = seen(s, self.sides, self.shortest)
        bust = True
        for stop in moves(board, throw, self.sides, self.shortest):
            bust = False
            yield stop
            if not self.wins(s, after_move(board, stop).turn):
                yield stop - 1
        if bust:
            yield BUST

    def outcomes(self, s: Boards, throw: Throw, action: int) -> Iterator[tuple[int, int, Boards]]:
        nothing = s.turn
        for place in range(len(nothing)):
            nothing = replaced(nothing, place, 0)
        if action == BUST:
            yield 1, PASS, Boards(s.theirs, s.mine, nothing)
        else:
            turn = after_move(seen(s, self.sides, self.shortest), action).turn
            if self.wins(s, turn):
                yield 1, WIN, s
            elif not stops(action):
                yield 1, AGAIN, Boards(s.mine, s.theirs, turn)
            else:
                mine, theirs = s.mine, s.theirs
                for place in range(len(mine)):
                    mine = replaced(mine, place, mine[place] + turn[place])
                    if mine[place] == length(place + 2, self.sides, self.shortest):
                        theirs = replaced(theirs, place, 0)
                yield 1, PASS, Boards(theirs, mine, nothing)

    def progress(self, s: Boards) -> int:
        full = 0
        for place in range(len(s.mine)):
            most = length(place + 2, self.sides, self.shortest)
            full += s.mine[place] == most or s.theirs[place] == most
        return full

    def describe(self, s: Boards) -> str:
        return f"{steps_text(s.mine, s.turn)}; the other: {steps_text(s.theirs)}"

    def cells(self, s: Boards) -> boards.Board:
        return drawn(Board(s.mine, s.turn), s.theirs, self.sides, self.shortest)

    def deed(self, s: Boards, throw: Throw, action: int) -> str:
        return climbed_text(action)

    def told(self, s: Boards, throw: Throw, action: int, then: int, after: Boards) -> str:
        if action == BUST:
            return "the steps of the turn are lost"
        if then == WIN:
            return f"{self.columns} columns are full"
        return f"stop; {steps_text(after.theirs)}" if stops(action) else "roll on"

    @policy
    def until_three_runners(self, s: Boards, throw: Throw) -> int:
        """Roll on until three runners are on the board or the game is won."""
        return few_runners(seen(s, self.sides, self.shortest), self.actions(s, throw))
