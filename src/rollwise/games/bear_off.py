"""Bearing off in backgammon: all checkers are home, and the race is on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from rollwise import boards, dice
from rollwise.game import AGAIN, END, PASS, WIN, parameter, policy, replaced
from rollwise.games.hypergammon import Checkers, Throw

EMPTY = (0,) * 6  # points of a home board
STEPS = 4  # of a checker by a die, in a double

Home = tuple[int, ...]  # how many checkers are on each point, from the ace point on
Found = list[tuple[Home, int]]  # a home board, and the play that leads there


def may_move(home: Home, point: int, die: int) -> bool:
    """Whether a checker may move from a point. With others behind it, it must not overshoot."""
    if home[point - 1] == 0:
        return False
    if die > point:
        for behind in range(point, len(home)):
            if home[behind] > 0:
                return False
    return True


def after_step(home: Home, point: int, die: int) -> Home:
    """The home board after a checker has moved from a point."""
    home = replaced(home, point - 1, home[point - 1] - 1)
    if point > die:
        home = replaced(home, point - die - 1, home[point - die - 1] + 1)
    return home


def add(plays: Found, home: Home, play: int) -> None:
    """Add a play, unless another with the same resulting board is in the list."""
    for board, _ in plays:
        if board == home:
            return
    plays.append((home, play))


def played(home: Home, die: int, other: int, steps: int) -> Found:
    """Each home board after so many steps: the first by one die, the others by the other die."""
    reached = [(home, die + 8 * other)]
    # boards step by step, each once: any play to a board is as good as another
    for n in range(steps):
        further = reached[:0]
        for before, play in reached:
            # all are off, and the rest of the throw isn't used
            if sum(before) == 0:
                add(further, before, play)
            for point in range(1, len(before) + 1):
                if may_move(before, point, die if n == 0 else other):
                    after = after_step(before, point, die if n == 0 else other)
                    add(further, after, play | point << (6 * n + 6))
        reached = further
    return reached


def plays(home: Home, throw: Throw) -> Found:
    """The plays of a throw, one for each resulting home board."""
    high, low = throw
    if high == low:
        return played(home, high, high, STEPS)
    all_plays = played(home, high, low, 2)
    for after, play in played(home, low, high, 2):
        add(all_plays, after, play)
    return all_plays


def after_play(home: Home, play: int) -> Home:
    """The home board after all steps of a play."""
    for n in range(STEPS):
        point = (play >> (6 * n + 6)) & 31
        if point > 0:
            home = after_step(home, point, play & 7 if n == 0 else (play >> 3) & 7)
    return home


def pips(home: Home) -> int:
    """Total distance of the checkers to bear off."""
    distance = 0
    for k in range(len(home)):
        distance += (k + 1) * home[k]
    return distance


def home_boards(checkers: int, points: int) -> Iterator[Home]:
    """All home boards of so many checkers or fewer on so many points, but for the empty one."""
    home: Home = EMPTY
    while True:
        # the next board of an odometer whose digits add up to `checkers` at most
        if sum(home) < checkers:
            home = replaced(home, 0, home[0] + 1)
        else:
            k = 0
            while home[k] == 0:
                k += 1
            if k + 1 == points:
                return
            home = replaced(replaced(home, k, 0), k + 1, home[k + 1] + 1)
        yield home


def smooth(home: Home, throw: Throw) -> int:
    """The play with the most checkers borne off, and then with the fewest empty points."""
    best, most = 0, -1
    for after, play in plays(home, throw):
        worth = 7 * (sum(home) - sum(after))
        for checkers in after:
            worth += checkers > 0
        if worth > most:
            best, most = play, worth
    return best


def play_features(home: Home, play: int) -> dict[str, int]:
    """The checkers that a play bears off, and the points with checkers after it."""
    after = after_play(home, play)
    return {"off": sum(home) - sum(after), "covered": sum(n > 0 for n in after)}


def left(home: Home) -> str:
    """A home board in words."""
    points = [f"{n} on the {k}" for k, n in enumerate(home, 1) if n]
    return ", ".join(reversed(points)) or "none"


def numbered(*rows: list[boards.Cell]) -> boards.Board:
    """Rows of points, and their numbers below."""
    return [*rows, [boards.label(str(k)) for k in range(len(EMPTY), 0, -1)]]


class Bearing(Checkers):
    """A game with all checkers at home; no throw is blocked."""

    def throws(self, s: Any) -> Iterator[tuple[int, Throw]]:
        for ways, shown in dice.faces(2, 6):
            yield ways, (shown[1], shown[0])


class Solitaire(NamedTuple):
    on: Home  # the checkers on each point, from the ace point on


@dataclass(frozen=True)
class BearOff(Bearing):
    """Bear off all checkers of backgammon's home board in as few throws as possible.

    Throw two dice and move a checker by each, or one by both, in any order; a double is played
    four times. A checker leaves the board exactly, or by more if none stands behind it. They
    start on the last point; a table has all positions of so many checkers, or fewer.
    """

    heading: ClassVar = "Bear-Off"
    checkers: int = parameter(4, at_least=1, at_most=15, about="checkers")
    points: int = parameter(6, at_least=1, at_most=6, about="points on which they may stand")
    players: ClassVar = 1
    objective: ClassVar = "minimize"

    def start(self) -> Solitaire:
        return Solitaire(replaced(EMPTY, self.points - 1, self.checkers))

    def roots(self) -> Iterator[Solitaire]:
        for home in home_boards(self.checkers, self.points):
            yield Solitaire(home)

    def actions(self, s: Solitaire, throw: Throw) -> Iterator[int]:
        for _, play in plays(s.on, throw):
            yield play

    def reward(self, s: Solitaire, throw: Throw, play: int) -> float:
        return 1.0

    def outcomes(
        self, s: Solitaire, throw: Throw, play: int
    ) -> Iterator[tuple[int, int, Solitaire]]:
        after = after_play(s.on, play)
        if sum(after) == 0:
            yield 1, END, Solitaire(after)
        else:
            yield 1, AGAIN, Solitaire(after)

    def progress(self, s: Solitaire) -> int:
        return self.points * self.checkers - pips(s.on)

    def describe(self, s: Solitaire) -> str:
        return left(s.on)

    def cells(self, s: Solitaire) -> boards.Board:
        return numbered([boards.point(n) for n in reversed(s.on)])

    def told(self, s: Solitaire, throw: Throw, play: int, then: int, after: Solitaire) -> str:
        return "all are off" if then == END else left(after.on)

    def action_features(self, s: Solitaire, throw: Throw, play: int) -> dict[str, int]:
        return play_features(s.on, play)

    @policy
    def most_off(self, s: Solitaire, throw: Throw) -> int:
        """Bear off as many as you can, and leave as few points empty as you can."""
        return smooth(s.on, throw)


class Race(NamedTuple):
    mine: Home  # the mover's checkers on each point, from the ace point on
    theirs: Home  # the other player's


@dataclass(frozen=True)
class TwoSidedBearOff(Bearing):
    """Bear off all checkers of backgammon's home board before the other player does.

    The first player without checkers wins. They move as in `bear-off`. The sides no longer meet.
    """

    heading: ClassVar = "Two-Sided Bear-Off"
    checkers: int = parameter(3, at_least=1, at_most=15, about="checkers of each player")
    points: int = parameter(6, at_least=1, at_most=6, about="points on which they may stand")

    def start(self) -> Race:
        home = replaced(EMPTY, self.points - 1, self.checkers)
        return Race(home, home)

    def roots(self) -> Iterator[Race]:
        for mine in home_boards(self.checkers, self.points):
            for theirs in home_boards(self.checkers, self.points):
                yield Race(mine, theirs)

    def actions(self, s: Race, throw: Throw) -> Iterator[int]:
        for _, play in plays(s.mine, throw):
            yield play

    def outcomes(self, s: Race, throw: Throw, play: int) -> Iterator[tuple[int, int, Race]]:
        after = after_play(s.mine, play)
        if sum(after) == 0:
            yield 1, WIN, Race(after, s.theirs)
        else:
            yield 1, PASS, Race(s.theirs, after)

    def progress(self, s: Race) -> int:
        return 2 * self.points * self.checkers - pips(s.mine) - pips(s.theirs)

    def describe(self, s: Race) -> str:
        return f"{left(s.mine)}; the opponent: {left(s.theirs)}"

    def cells(self, s: Race) -> boards.Board:
        theirs = [boards.point(0, n) for n in reversed(s.theirs)]
        mine = [boards.point(n) for n in reversed(s.mine)]
        return numbered([*theirs, boards.seat(1)], [*mine, boards.seat()])

    def told(self, s: Race, throw: Throw, play: int, then: int, after: Race) -> str:
        return "all are off" if then == WIN else left(after.theirs)

    def action_features(self, s: Race, throw: Throw, play: int) -> dict[str, int]:
        return play_features(s.mine, play)

    @policy
    def most_off(self, s: Race, throw: Throw) -> int:
        """Bear off as many as you can, and leave as few points empty as you can."""
        return smooth(s.mine, throw)
