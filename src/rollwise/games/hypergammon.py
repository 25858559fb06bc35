"""Hypergammon: backgammon with three checkers a side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from rollwise import boards, dice
from rollwise.game import PASS, Game, parameter, payoff, policy, replaced

OFF, HOME, BAR = 0, 6, 25  # points: borne off, the last of the home board, hit
NO_PLAY = 0
STEPS = 4  # of a checker by a die, in a double

Throw = tuple[int, int]  # the higher die first


class Board(NamedTuple):
    mine: tuple[int, ...]  # the points of the mover's checkers, the last first: 25 bar, 0 off
    theirs: tuple[int, ...]  # those of the other player's, as that player counts
    opening: int  # 1 before the first throw, which is no double


Found = list[tuple[int, int, int]]  # pips of the dice that are used, where that leads, the play


def in_order(checkers: tuple[int, ...], k: int) -> tuple[int, ...]:
    """The checkers in order, if only number `k` and the next may have to change places."""
    front, rear = min(checkers[k], checkers[k + 1]), max(checkers[k], checkers[k + 1])
    return replaced(replaced(checkers, k, rear), k + 1, front)


def moved(checkers: tuple[int, ...], k: int, to: int) -> tuple[int, ...]:
    """The checkers after number `k` has gone to a point in front of it."""
    checkers = replaced(checkers, k, to)
    for j in range(len(checkers) - 1):
        checkers = in_order(checkers, j)
    return checkers


def hit(checkers: tuple[int, ...], point: int) -> tuple[int, ...]:
    """The checkers after one on a point, if there is one, has gone to the bar."""
    for k in range(len(checkers)):
        if checkers[k] == point:
            checkers = replaced(checkers, k, BAR)
            for j in range(len(checkers) - 2, -1, -1):
                checkers = in_order(checkers, j)
            return checkers
    return checkers


def may_move(s: Board, k: int, die: int) -> bool:
    """Whether checker `k` may move by a die."""
    point, rearmost = s.mine[k], s.mine[0]
    if point == OFF or (rearmost == BAR and point != BAR):
        return False
    if point > die:
        return dice.how_often(s.theirs, BAR - point + die) < 2
    return rearmost <= HOME and point in (die, rearmost)


def after_step(s: Board, k: int, die: int) -> Board:
    """The board after checker `k` has moved by a die."""
    to = max(s.mine[k] - die, OFF)
    theirs = hit(s.theirs, BAR - to) if to > OFF else s.theirs
    return Board(moved(s.mine, k, to), theirs, 0)


def after_play(s: Board, play: int) -> Board:
    """The board after all steps of a play."""
    for n in range(STEPS):
        # bits of a play: 3 for each die, then for each step 5 for the point and 1 for a hit
        point = (play >> (6 * n + 6)) & 31
        for k in range(len(s.mine)):
            if point > 0 and s.mine[k] == point:
                s = after_step(s, k, play & 7 if n == 0 else (play >> 3) & 7)
                break
    return s


def code(s: Board) -> int:
    """The points of a board as one number."""
    number = 0
    for point in s.mine:
        number = 32 * number + point
    for point in s.theirs:
        number = 32 * number + point
    return number


def noted(play: int, n: int, s: Board, k: int, after: Board) -> int:
    """The number of a play with step `n` added: checker `k` moves, and s becomes after."""
    hits = 32 if after.theirs != s.theirs else 0
    return play | (s.mine[k] + hits) << (6 * n + 6)


def add(plays: Found, pips: int, after: Board, play: int) -> None:
    """Add a play, unless another uses more of the dice or gives the same board."""
    if len(plays) > 0:
        if pips < plays[0][0]:
            return
        if pips > plays[0][0]:
            plays.clear()
    board = code(after)
    for _, other, _ in plays:
        if other == board:
            return
    plays.append((pips, board, play))


def add_plays(plays: Found, s: Board, die: int, other: int, n: int, pips: int, play: int) -> None:
    """Add the plays that begin with one die, and continue with the other if possible."""
    for k in range(len(s.mine)):
        if may_move(s, k, die):
            one = after_step(s, k, die)
            begun = noted(play, n, s, k, one)
            add(plays, pips + die, one, begun)
            for j in range(len(s.mine)):
                if may_move(one, j, other):
                    both = after_step(one, j, other)
                    add(plays, pips + die + other, both, noted(begun, n + 1, one, j, both))


def plays(s: Board, throw: Throw) -> Found:
    """The plays of a throw, one for each resulting board.

    As much of the dice as possible is used: both, in either order, or else the higher one if
    possible, and of a double as many of four steps as possible.
    """
    high, low = throw
    all_plays = [(0, code(s), NO_PLAY)]
    add_plays(all_plays, s, high, low, 0, 0, high + 8 * low)
    if high > low:
        add_plays(all_plays, s, low, high, 0, 0, low + 8 * high)
    else:
        # a double: two more steps after each play of two
        for pips, _, play in all_plays.copy():
            add_plays(all_plays, after_play(s, play), high, low, 2, pips, play)
    return all_plays


def written(play: int) -> str:
    """A play as people write it, ``24/20*/18 6/5(2)``: from where to where, with a * for a hit."""
    paths: list[list[tuple[int, bool]]] = []  # points that a checker comes to, and if it hits there
    for n in range(STEPS):
        step = (play >> (6 * n + 6)) & 63
        if step:
            point = step & 31
            to = max(point - (play & 7 if n == 0 else (play >> 3) & 7), OFF)
            path = next((path for path in paths if path[-1][0] == point), [(point, False)])
            paths = [other for other in paths if other is not path] + [[*path, (to, step > 31)]]
    texts = Counter(
        "/".join(
            {BAR: "bar", OFF: "off"}.get(point, str(point)) + "*" * hits
            for index, (point, hits) in enumerate(path)
            if hits or index in (0, len(path) - 1)
        )
        for path in sorted(paths, key=lambda path: (path[0][0], path[-1][0]), reverse=True)
    )
    return " ".join(text if n == 1 else f"{text}({n})" for text, n in texts.items())


def where(checkers: tuple[int, ...]) -> str:
    """Where checkers stand, in words."""
    points = " ".join("bar" if point == BAR else str(point) for point in checkers if point > OFF)
    off = checkers.count(OFF)
    return ", ".join(part for part in (points, f"{off} off" if off else "") if part)


class Checkers(Game):
    """How throws of two dice, and plays of checkers by them, are written."""

    def action_text(self, s: Any, throw: Throw, play: int) -> str:
        return written(play)

    def throw_text(self, s: Any, throw: Throw) -> str:
        return f"{throw[0]}-{throw[1]}"

    def deed(self, s: Any, throw: Throw, play: int) -> str:
        return "stay put" if play == NO_PLAY else f"move {written(play)}"


@dataclass(frozen=True)
class Hypergammon(Checkers):
    """Backgammon with three checkers or fewer, which start on their 24, 23 and 22 points.

    Throw two dice and move a checker by each, or one by both; a double is played four times. A
    point with two checkers of the opponent is closed. A single one is hit and enters from
    the bar, before anything else moves. With all checkers home, on the points 1 to 6, they are
    borne off: exactly, or the rearmost one by more. The first player without checkers wins.
    Both dice are played if possible, or else the higher one if possible. A win counts 2, a
    gammon, if the loser has borne none off, and 3, a backgammon, if one of those is on the bar
    or in the winner's home. The first throw is no double, and the winner of this throw plays it.
    There is no doubling cube.
    """

    presets: ClassVar = {"short": {"checkers": 1}, "classic": {"checkers": 3}}
    checkers: int = parameter(2, at_least=1, at_most=3, about="checkers of each player")
    action_names: ClassVar = {NO_PLAY: "no play"}

    def start(self) -> Board:
        checkers = tuple(range(24, 24 - self.checkers, -1))
        return Board(checkers, checkers, 1)

    def throws(self, s: Board) -> Iterator[tuple[int, Throw]]:
        for high in range(1, 7):
            for low in range(1, high):
                yield 2, (high, low)
            if s.opening == 0:
                yield 1, (high, high)

    def actions(self, s: Board, throw: Throw) -> Iterator[int]:
        for _, _, play in plays(s, throw):
            yield play

    def outcomes(self, s: Board, throw: Throw, play: int) -> Iterator[tuple[int, int, Board]]:
        after = after_play(s, play)
        if after.mine[0] > OFF:
            yield 1, PASS, Board(after.theirs, after.mine, 0)
        elif after.theirs[-1] == OFF:
            yield 1, payoff(1), s
        elif after.theirs[0] < BAR - HOME:
            yield 1, payoff(2), s
        else:
            yield 1, payoff(3), s

    def progress(self, s: Board) -> int:
        return dice.how_often(s.mine, OFF) + dice.how_often(s.theirs, OFF)

    def describe(self, s: Board) -> str:
        return f"{where(s.mine)}; the opponent: {where(s.theirs)}"

    def cells(self, s: Board) -> boards.Board:
        def points(which: range) -> list[boards.Cell]:
            return [boards.point(s.mine.count(k), s.theirs.count(BAR - k)) for k in which]

        def numbers(which: range) -> list[boards.Cell]:
            return [boards.label(str(k)) for k in which]

        far, near = (range(13, 19), range(19, 25)), (range(12, 6, -1), range(6, 0, -1))
        bar, off = boards.label("bar"), boards.label("off")
        mine = boards.point(s.mine.count(BAR)), boards.point(s.mine.count(OFF))
        theirs = boards.point(0, s.theirs.count(BAR)), boards.point(0, s.theirs.count(OFF))
        return [
            [*numbers(far[0]), bar, *numbers(far[1]), off],
            [*points(far[0]), theirs[0], *points(far[1]), theirs[1]],
            [*points(near[0]), mine[0], *points(near[1]), mine[1]],
            [*numbers(near[0]), bar, *numbers(near[1]), off],
        ]

    def told(self, s: Board, throw: Throw, play: int, then: int, after: Board) -> str:
        if then == PASS:
            return self.describe(Board(after.theirs, after.mine, 0))
        return {payoff(2): "a gammon", payoff(3): "a backgammon"}.get(then, "a single game")

    @policy
    def race(self, s: Board, throw: Throw) -> int:
        """Bring the rearmost checkers on as far as you can."""
        best, least = NO_PLAY, code(Board(s.mine, s.mine, 0))
        for _, board, play in plays(s, throw):
            if board < least:
                best, least = play, board
        return best

    @policy
    def hit_or_hide(self, s: Board, throw: Throw) -> int:
        """Hit all you can; then leave the fewest single checkers to hit; then race."""
        best, most = NO_PLAY, -1
        for _, board, play in plays(s, throw):
            after = after_play(s, play)
            worth = 8 * dice.how_often(after.theirs, BAR) + 8
            for point in after.mine:
                passed = after.theirs[0] <= BAR - point
                if point > OFF and not passed and dice.how_often(after.mine, point) == 1:
                    worth -= 1
            # of equal plays the one with the smallest code, whose rearmost checkers have come on
            worth = 2**30 * worth + 2**30 - 1 - board
            if worth > most:
                best, most = play, worth
        return best
