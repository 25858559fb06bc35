"""Can't Stop: climb columns, in as few turns as possible or before the other player."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar, NamedTuple

from rollwise import boards, dice
from rollwise.game import (
    AGAIN,
    END,
    PASS,
    WIN,
    Game,
    parameter,
    policy,
    replaced,
    shared_by,
)

RUNNERS = 3
COLUMNS = 3  # to climb
MOST_SIDES = 6
MOST_PLAYERS = 4
BUST = 0
TOTALS = 2 * MOST_SIDES + 1  # of two dice, and 0 for no runner


Throw = tuple[int, int, int, int]  # the faces, in order


class Board(NamedTuple):
    banked: tuple[int, ...]  # steps climbed in the turns before, column by column
    turn: tuple[int, ...]  # steps of this turn, which a bust loses


def label(one: int, other: int, stop: bool) -> int:
    """A move of a runner in each of two columns, or in one with 0 for the other."""
    return 1 + 2 * (min(one, other) * TOTALS + max(one, other)) + stop


def stops(action: int) -> bool:
    """Whether a move ends the turn."""
    return action != BUST and action % 2 == 0


def names() -> dict[int, str]:
    """Name of each action."""
    names = {BUST: "bust"}
    for one in range(TOTALS):
        for other in range(max(one, 2), TOTALS):
            columns = f"{one} and {other}" if one else f"{other}"
            names[label(one, other, False)] = f"{columns}, roll on"
            names[label(one, other, True)] = f"{columns}, stop"
    return names


def length(column: int, sides: int, shortest: int) -> int:
    """The steps of a column; middle columns are the longest."""
    return shortest + 2 * min(column - 2, 2 * sides - column)


def can_climb(s: Board, column: int, sides: int, shortest: int) -> bool:
    """Whether a column isn't full, and has a runner or can get one."""
    k = column - 2
    if s.banked[k] + s.turn[k] == length(column, sides, shortest):
        return False
    runners = 0
    for steps in s.turn:
        runners += steps > 0
    return s.turn[k] > 0 or runners < RUNNERS


def climbed(s: Board, column: int) -> Board:
    """The board after a step in a column."""
    return Board(s.banked, replaced(s.turn, column - 2, s.turn[column - 2] + 1))


def after_move(s: Board, action: int) -> Board:
    """The board after the runners of an action have climbed."""
    one, other = divmod((action - 1) // 2, TOTALS)
    if one > 0:
        s = climbed(s, one)
    return climbed(s, other)


class Boards(NamedTuple):
    mine: tuple[int, ...]  # steps climbed in the turns before, column by column
    theirs: tuple[int, ...]  # those of the others, one after the other as they move
    turn: tuple[int, ...]  # steps of this turn, which a bust loses


def full_columns(s: Board, sides: int, shortest: int) -> int:
    """Number of full columns, including this turn's steps."""
    full = 0
    for column in range(len(s.banked)):
        full += s.banked[column] + s.turn[column] == length(column + 2, sides, shortest)
    return full


def climbs(s: Board, one: int, other: int, sides: int, shortest: int) -> list[int]:
    """The stopping moves of two totals: both columns if possible, else either."""
    # an empty list with a type that compiled code can tell
    climbing = [BUST][:0]
    first = can_climb(s, one, sides, shortest)
    second = can_climb(s, other, sides, shortest)
    if first and can_climb(climbed(s, one), other, sides, shortest):
        climbing.append(label(one, other, True))
    else:
        if first:
            climbing.append(label(0, one, True))
        if second and other != one:
            climbing.append(label(0, other, True))
    return climbing


def moves(s: Board, throw: Throw, sides: int, shortest: int) -> list[int]:
    """The stopping moves of a throw, each once; none for a bust."""
    a, b, c, d = throw
    stopping = [BUST][:0]
    for one, other in ((a + b, c + d), (a + c, b + d), (a + d, b + c)):
        for stop in climbs(s, one, other, sides, shortest):
            if stop not in stopping:
                stopping.append(stop)
    return stopping


def steps_text(banked: Sequence[int], turn: Sequence[int] = ()) -> str:
    """The steps climbed in each column."""
    columns = [
        f"{column}: {kept}+{steps}" if steps else f"{column}: {kept}"
        for column, (kept, steps) in enumerate(zip_longest(banked, turn, fillvalue=0), 2)
        if kept or steps
    ]
    return "steps in column " + ", ".join(columns) if columns else "an empty board"


def seen(s: Boards, sides: int, shortest: int) -> Board:
    """The mover's board with the others' full columns marked as full."""
    banked, width, all_steps = s.mine, len(s.mine), (*s.mine, *s.theirs)
    for column in range(width, len(all_steps)):
        if all_steps[column] == length(column % width + 2, sides, shortest):
            banked = replaced(banked, column % width, all_steps[column])
    return Board(banked, s.turn)


def last_filled(all_steps: tuple[int, ...], width: int, sides: int, shortest: int) -> int:
    """The win of the players with the most full columns once all are full; AGAIN before."""
    filled = [0][:0]
    for first in range(0, len(all_steps), width):
        full = 0
        for column in range(width):
            full += all_steps[first + column] == length(column + 2, sides, shortest)
        filled.append(full)
    if sum(filled) < width:
        return AGAIN
    most = max(filled)
    for seat in range(len(filled)):
        filled[seat] = 1 if filled[seat] == most else 0
    return shared_by(filled)


@dataclass(frozen=True)
class CantStop(Game):
    """Throw four dice, split them into two pairs, and climb the columns of the two totals.

    Column c has `shortest` + 2 min(c - 2, 2 `sides` - c) steps. A turn has three runners, each
    in a column of its own. Both totals must be climbed if possible. If only one of them is
    possible, the player may choose which. Then stop and keep the steps, or roll on. A throw that
    moves no runner loses the steps of the turn. Three full `columns` end the game. The score is the
    number of turns. The published game has sides=6 and shortest=3, too many positions for a table.
    With several `players` the first to fill enough columns wins, and a full column is closed to
    all. If no column is open and no player has enough, the players with the most columns share
    the win. That rule is our own, for small boards. On the published board of eleven columns and
    three to win, this can't happen.
    """

    heading: ClassVar = "Can't Stop"
    sides: int = parameter(2, at_least=2, at_most=MOST_SIDES, about="sides of each die")
    shortest: int = parameter(1, at_least=1, at_most=10, about="steps of the shortest columns")
    columns: int = parameter(
        COLUMNS, at_least=1, at_most=COLUMNS, variant=True, about="columns to fill"
    )
    players: int = parameter(1, at_least=1, at_most=MOST_PLAYERS, variant=True, about="players")  # type: ignore[misc]
    action_names: ClassVar = names()

    @property
    def objective(self) -> str:  # type: ignore[override]
        """The fewest turns, or to be first."""
        return "minimize" if self.players == 1 else "win"

    @property
    def column_names(self) -> Mapping[str, str]:  # type: ignore[override]
        """A single player has no opponents' steps to tell apart."""
        if self.players > 1:
            return {}
        return {f"mine.{column}": f"banked.{column}" for column in range(2 * self.sides - 1)}

    def start(self) -> Boards:
        nothing = (0,) * (2 * self.sides - 1)
        return Boards(nothing, nothing * (self.players - 1), nothing)

    def throws(self, s: Boards) -> Iterator[tuple[int, Throw]]:
        for ways, shown in dice.faces(4, self.sides):
            yield ways, (shown[0], shown[1], shown[2], shown[3])

    def wins(self, s: Boards, turn: tuple[int, ...]) -> bool:
        """Whether the mover has enough columns after stopping with these steps."""
        return full_columns(Board(s.mine, turn), self.sides, self.shortest) >= self.columns

    def actions(self, s: Boards, throw: Throw) -> Iterator[int]:
        board = seen(s, self.sides, self.shortest)
        bust = True
        for stop in moves(board, throw, self.sides, self.shortest):
            bust = False
            yield stop
            after = after_move(board, stop)
            is_open = full_columns(after, self.sides, self.shortest) < len(s.mine)
            if is_open and not self.wins(s, after.turn):
                yield stop - 1
        if bust:
            yield BUST

    def reward(self, s: Boards, throw: Throw, action: int) -> float:
        alone = self.players == 1
        return 1.0 if alone and (action == BUST or stops(action)) else 0.0

    def handed_on(self, mine: tuple[int, ...], theirs: tuple[int, ...]) -> Boards:
        """The boards as the next player sees them, before a turn."""
        width, all_steps = len(mine), (*mine, *theirs)
        turn = mine
        for column in range(width):
            mine = replaced(mine, column, all_steps[(column + width) % len(all_steps)])
            turn = replaced(turn, column, 0)
        for column in range(len(theirs)):
            theirs = replaced(theirs, column, all_steps[(column + 2 * width) % len(all_steps)])
        return Boards(mine, theirs, turn)

    def outcomes(self, s: Boards, throw: Throw, action: int) -> Iterator[tuple[int, int, Boards]]:
        alone = self.players == 1
        over = AGAIN if alone else PASS  # the turn, and not the game
        if action == BUST:
            yield 1, over, self.handed_on(s.mine, s.theirs)
        else:
            turn = after_move(seen(s, self.sides, self.shortest), action).turn
            if self.wins(s, turn):
                yield 1, END if alone else WIN, Boards(s.mine, s.theirs, turn)
            elif not stops(action):
                yield 1, AGAIN, Boards(s.mine, s.theirs, turn)
            else:
                mine, theirs, width = s.mine, s.theirs, len(s.mine)
                for column in range(width):
                    mine = replaced(mine, column, mine[column] + turn[column])
                    if mine[column] == length(column + 2, self.sides, self.shortest):
                        for other in range(column, len(theirs), width):
                            theirs = replaced(theirs, other, 0)
                then = last_filled((*mine, *theirs), width, self.sides, self.shortest)
                if then != AGAIN:
                    yield 1, then, s
                else:
                    yield 1, over, self.handed_on(mine, theirs)

    def progress(self, s: Boards) -> int:
        if self.players == 1:
            return sum(s.mine)
        width, all_steps = len(s.mine), (*s.mine, *s.theirs)
        full = 0
        for column in range(len(all_steps)):
            full += all_steps[column] == length(column % width + 2, self.sides, self.shortest)
        return full

    def boards_of_others(self, s: Boards) -> list[tuple[int, ...]]:
        """Steps of each opponent, in the order of their moves."""
        width = len(s.mine)
        return [s.theirs[first : first + width] for first in range(0, len(s.theirs), width)]

    def describe(self, s: Boards) -> str:
        texts = [steps_text(s.mine, s.turn)]
        for seat, theirs in enumerate(self.boards_of_others(s), 1):
            next_ones = "the next" if seat == 1 else f"{seat} after"
            who = "the opponent" if self.players == 2 else next_ones
            texts.append(f"{who}: {steps_text(theirs)}")
        return "; ".join(texts)

    def cells(self, s: Boards) -> boards.Board:
        rows = []
        for column, (banked, steps) in enumerate(zip(s.mine, s.turn, strict=True)):
            most = length(column + 2, self.sides, self.shortest)
            others = [one[column] for one in self.boards_of_others(s)]
            bars = [boards.bar(steps, of=most, theirs=k) for k, steps in enumerate(others, 1)]
            name = boards.label(str(column + 2))
            rows.append([name, boards.bar(banked, steps, of=most), *bars])
        return rows

    def deed(self, s: Boards, throw: Throw, action: int) -> str:
        if action == BUST:
            return "move no runner"
        one, other = divmod((action - 1) // 2, TOTALS)
        return f"climb columns {one} and {other}" if one else f"climb column {other}"

    def told(
        self,
        s: Boards,
        throw: Throw,
        action: int,
        then: int,
        after: Boards,
        faces: Sequence[int] = (),
    ) -> str:
        if action == BUST:
            return "the steps of the turn are lost"
        if then in (WIN, END):
            filled = ("one column is", "two columns are", "three columns are")
            return f"{filled[self.columns - 1]} full"
        if then > PASS:
            return "all columns are full"
        mine = [after.mine, *self.boards_of_others(after)][-1]
        return f"stop; {steps_text(mine)}" if stops(action) else "roll on"

    @policy
    def until_three_runners(self, s: Boards, throw: Throw) -> int:
        """Roll on until three runners are on the board or the game is won."""
        board, chosen = seen(s, self.sides, self.shortest), BUST
        for action in self.actions(s, throw):
            turn = board.turn if action == BUST else after_move(board, action).turn
            runners = sum(steps > 0 for steps in turn)
            if chosen == BUST or (not stops(action) and runners < RUNNERS):
                chosen = action
        return chosen


@dataclass(frozen=True)
class CantStopForTwo(CantStop):
    """Can't Stop for two: the first to fill enough columns wins.

    Throws, runners and lengths of columns are those of Can't Stop. A full column is
    closed to both players, and the opponent's steps in it are removed. A column isn't
    full before its steps are kept. If all are full and no player has enough `columns`, the player
    with more columns wins. That rule is our own, for small boards. In the published game, with
    sides=6, shortest=3 and columns=3, it can't happen.
    """

    name: ClassVar[str] = "cant-stop-for-two"
    heading: ClassVar = "Can't Stop for Two"
    columns: int = parameter(2, at_least=1, at_most=COLUMNS, about="columns that win")
    players: ClassVar = 2  # type: ignore[misc]
