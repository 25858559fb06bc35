"""Pig and its cousins: Piglet, played with a coin, and Pig with two dice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.game import AGAIN, PASS, WIN, Game, parameter, policy, spoken

ROLL, HOLD = range(2)


class Turn(NamedTuple):
    banked: int  # the mover's points in the bank
    rivals: tuple[int, ...]  # points of the other players, in the order of their moves
    turn: int  # points at risk this turn


Outcomes = Iterator[tuple[int, int, Turn]]
OF_TWO = {"rivals.0": "rival"}  # name for the points of an only rival


class Banks(Game):
    """The words of all three games: points at risk, and points in the banks.

    A game adds its state, a `Turn`, and the parameter `target`.
    """

    target: int
    action_names: ClassVar[tuple[str, ...]]
    column_names: ClassVar = OF_TWO

    def describe(self, s: Turn) -> str:
        have = "the opponent has" if len(s.rivals) == 1 else "the others have"
        return f"{s.banked} in the bank and {s.turn} at risk; {have} {spoken(s.rivals)}"

    def cells(self, s: Turn) -> boards.Board:
        board = [[boards.seat(), boards.bar(s.banked, s.turn, of=self.target)]]
        for k, points in enumerate(s.rivals, 1):
            board.append([boards.seat(k), boards.bar(points, of=self.target, theirs=k)])
        return board

    def deed(self, s: Turn, action: int) -> str:
        return f"{self.action_names[ROLL]} {{}}" if action == ROLL else "hold"

    def told(self, s: Turn, action: int, then: int, after: Turn, faces: Sequence[int] = ()) -> str:
        rivals = spoken(s.rivals)
        if action == HOLD:
            return f"{s.banked + s.turn} to {rivals}"
        if then == AGAIN:
            total = f", {s.banked + after.turn} with the bank" if s.banked else ""
            return f"{after.turn} at risk{total}"
        if then == WIN:
            return f"{s.banked + s.turn + sum(faces)} to {rivals}" if faces else ""
        lost = "the turn's points are lost" if s.turn else "nothing gained"
        if after.rivals[-1] < s.banked:
            lost = "all points are lost"
        return f"{lost}; {after.rivals[-1]} to {rivals}"


@dataclass(frozen=True)
class Pig(Banks):
    """Roll for points or bank them; a 1 loses the turn's points.

    The first player with `target` points wins. They win at once, or, under `must_bank`, only
    when they are banked; until then a 1 still takes them. A turn worth the whole target by
    itself must then be banked, so that every play ends.
    """

    presets: ClassVar = {"short": {"target": 50}}
    target: int = parameter(100, at_least=1, at_most=30_000, about="points that win")
    sides: int = parameter(6, at_least=2, at_most=1000, about="sides of the die")
    must_bank: bool = parameter(False, about="points must be banked to win")
    players: int = parameter(2, at_least=2, at_most=5, variant=True, about="players")  # type: ignore[misc]
    action_names: ClassVar = ("roll", "hold")

    @property
    def column_names(self) -> Mapping[str, str]:  # type: ignore[override]
        """The only rival has no number."""
        return OF_TWO if self.players == 2 else {}

    def start(self) -> Turn:
        return Turn(0, (0,) * (self.players - 1), 0)

    def actions(self, s: Turn) -> Iterator[int]:
        if s.turn < self.target:
            yield ROLL
        if s.turn > 0:
            yield HOLD

    def outcomes(self, s: Turn, action: int) -> Outcomes:
        if action == HOLD:
            if s.banked + s.turn >= self.target:
                yield 1, WIN, Turn(s.banked + s.turn, s.rivals, 0)
            else:
                yield 1, PASS, Turn(s.rivals[0], (*s.rivals[1:], s.banked + s.turn), 0)
        else:
            yield 1, PASS, Turn(s.rivals[0], (*s.rivals[1:], s.banked), 0)
            for face in range(2, self.sides + 1):
                if s.banked + s.turn + face >= self.target and not self.must_bank:
                    yield 1, WIN, Turn(s.banked + s.turn + face, s.rivals, 0)
                else:
                    yield 1, AGAIN, Turn(s.banked, s.rivals, s.turn + face)

    def progress(self, s: Turn) -> int:
        return s.banked + sum(s.rivals)

    def throw(self, s: Turn, action: int) -> tuple[int, ...]:
        return (self.sides,) if action == ROLL else ()

    @policy
    def hold_at_20(self, s: Turn) -> int:
        """Hold as soon as the turn is worth 20, or wins."""
        return HOLD if s.turn >= 20 or s.banked + s.turn >= self.target else ROLL

    @policy
    def hold_at_20_blindly(self, s: Turn) -> int:
        """Hold at 20 and not sooner, even with winning points in hand."""
        return HOLD if s.turn >= 20 else ROLL


@dataclass(frozen=True)
class Piglet(Banks):
    """Pig with a coin: a head is a point, a tail loses the turn's points.

    The first player with `target` points wins.
    """

    target: int = parameter(10, at_least=1, at_most=30_000, about="points that win")
    action_names: ClassVar = ("flip", "hold")

    def start(self) -> Turn:
        return Turn(0, (0,), 0)

    def actions(self, s: Turn) -> Iterator[int]:
        yield ROLL
        if s.turn > 0:
            yield HOLD

    def outcomes(self, s: Turn, action: int) -> Outcomes:
        if action == HOLD:
            yield 1, PASS, Turn(s.rivals[0], (s.banked + s.turn,), 0)
        else:
            yield 1, PASS, Turn(s.rivals[0], (s.banked,), 0)
            if s.banked + s.turn + 1 >= self.target:
                yield 1, WIN, Turn(s.banked + s.turn + 1, s.rivals, 0)
            else:
                yield 1, AGAIN, Turn(s.banked, s.rivals, s.turn + 1)

    def progress(self, s: Turn) -> int:
        return s.banked + s.rivals[0]

    def told(self, s: Turn, action: int, then: int, after: Turn, faces: Sequence[int] = ()) -> str:
        return super().told(s, action, then, after, (1,))  # a head is a point

    def throw(self, s: Turn, action: int) -> tuple[int, ...]:
        return (2,) if action == ROLL else ()

    def face_name(self, face: int) -> str:
        return "a tail" if face == 1 else "a head"

    @policy
    def hold_at_2(self, s: Turn) -> int:
        """Hold as soon as the turn is worth 2."""
        return HOLD if s.turn >= 2 else ROLL


@dataclass(frozen=True)
class TwoDicePig(Banks):
    """Pig with two dice: a 1 loses the turn's points, two 1s all points in the bank.

    The first player with `target` points wins.
    """

    presets: ClassVar = {"short": {"target": 60}}
    target: int = parameter(100, at_least=1, at_most=30_000, about="points that win")
    sides: int = parameter(6, at_least=2, at_most=100, about="sides of each die")
    action_names: ClassVar = ("roll", "hold")

    def start(self) -> Turn:
        return Turn(0, (0,), 0)

    def actions(self, s: Turn) -> Iterator[int]:
        yield ROLL
        if s.turn > 0:
            yield HOLD

    def outcomes(self, s: Turn, action: int) -> Outcomes:
        if action == HOLD:
            yield 1, PASS, Turn(s.rivals[0], (s.banked + s.turn,), 0)
        else:
            yield 1, PASS, Turn(s.rivals[0], (0,), 0)
            yield 2 * (self.sides - 1), PASS, Turn(s.rivals[0], (s.banked,), 0)
            for first in range(2, self.sides + 1):
                for second in range(2, self.sides + 1):
                    turn = s.turn + first + second
                    if s.banked + turn >= self.target:
                        yield 1, WIN, Turn(s.banked + turn, s.rivals, 0)
                    else:
                        yield 1, AGAIN, Turn(s.banked, s.rivals, turn)

    def throw(self, s: Turn, action: int) -> tuple[int, ...]:
        return (self.sides, self.sides) if action == ROLL else ()

    def fallen(self, s: Turn, action: int, faces: Sequence[int]) -> int:
        first, second = faces
        if first == 1 or second == 1:
            return 0 if first == second else 1
        return 2 + (self.sides - 1) * (first - 2) + (second - 2)

    @policy
    def hold_at_20(self, s: Turn) -> int:
        """Hold as soon as the turn is worth 20."""
        return HOLD if s.turn >= 20 else ROLL

    @policy
    def hold_at_23(self, s: Turn) -> int:
        """Hold as soon as the turn is worth 23: the best of all such limits."""
        return HOLD if s.turn >= 23 else ROLL
