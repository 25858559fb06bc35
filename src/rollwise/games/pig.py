"""Pig and its cousins: Piglet, played with a coin, and Pig with two dice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.game import AGAIN, PASS, WIN, Game, parameter, policy, seat_more

ROLL, HOLD = range(2)


class Turn(NamedTuple):
    banked: int  # the mover's points in the bank
    rival: int  # the other player's
    turn: int  # points at risk this turn


Outcomes = Iterator[tuple[int, int, Turn]]


def what_came(s: Turn, action: int, then: int, after: Turn, points: int) -> str:
    """What came of a roll that shows so many points (0 where nobody knows), or of holding."""
    if action == HOLD:
        return f"{s.banked + s.turn} to {s.rival}"
    if then == AGAIN:
        total = f", {s.banked + after.turn} with the bank" if s.banked else ""
        return f"{after.turn} at risk{total}"
    if then == WIN:
        return f"{s.banked + s.turn + points} to {s.rival}" if points else ""
    lost = "the turn's points are lost" if s.turn else "nothing gained"
    if after.rival < s.banked:
        lost = "all points are lost"
    return f"{lost}; {after.rival} to {s.rival}"


def banks(s: Turn, target: int) -> boards.Board:
    """Both banks, as bars."""
    return [
        [boards.label("mover"), boards.bar(s.banked, s.turn, of=target)],
        [boards.label("other"), boards.bar(s.rival, of=target, theirs=True)],
    ]


@dataclass(frozen=True)
class Pig(Game):
    """Roll for points or bank them; a 1 loses the turn's points.

    Points that reach the target win at once, or, under `must_bank`, only when
    they are banked; until then a 1 still takes them. A turn that is worth the
    whole target by itself then has to be banked, so that every play ends.
    """

    target: int = parameter(100, at_least=1, at_most=30_000, about="points that win")
    sides: int = parameter(6, at_least=2, at_most=1000, about="sides of the die")
    must_bank: bool = parameter(False, about="points must be banked to win")
    players: int = parameter(2, at_least=2, at_most=5, variant=True, about="players")  # type: ignore[misc]
    action_names: ClassVar = ("roll", "hold")

    def __post_init__(self) -> None:
        super().__post_init__()
        seat_more(self, Pig, PigForMore)

    def start(self) -> Turn:
        return Turn(0, 0, 0)

    def actions(self, s: Turn) -> Iterator[int]:
        if s.turn < self.target:
            yield ROLL
        if s.turn > 0:
            yield HOLD

    def outcomes(self, s: Turn, action: int) -> Outcomes:
        if action == HOLD:
            if s.banked + s.turn >= self.target:
                yield 1, WIN, s
            else:
                yield 1, PASS, Turn(s.rival, s.banked + s.turn, 0)
        else:
            yield 1, PASS, Turn(s.rival, s.banked, 0)
            for face in range(2, self.sides + 1):
                if s.banked + s.turn + face >= self.target and not self.must_bank:
                    yield 1, WIN, s
                else:
                    yield 1, AGAIN, Turn(s.banked, s.rival, s.turn + face)

    def progress(self, s: Turn) -> int:
        return s.banked + s.rival

    def describe(self, s: Turn) -> str:
        return f"{s.banked} in the bank and {s.turn} at risk; the other has {s.rival}"

    def cells(self, s: Turn) -> boards.Board:
        return banks(s, self.target)

    def show(self, s: Turn) -> str:
        return ""  # the words say it all

    def deed(self, s: Turn, action: int) -> str:
        return "roll {}" if action == ROLL else "hold"

    def told(self, s: Turn, action: int, then: int, after: Turn, faces: Sequence[int] = ()) -> str:
        return what_came(s, action, then, after, sum(faces))

    def final(self, s: Turn, action: int, faces: Sequence[int] = ()) -> Turn:
        if action == HOLD:
            return Turn(s.banked + s.turn, s.rival, 0)
        return Turn(s.banked, s.rival, s.turn + sum(faces))

    def throw(self, s: Turn, action: int) -> tuple[int, ...]:
        return (self.sides,) if action == ROLL else ()

    @policy
    def hold_at_20(self, s: Turn) -> int:
        """Hold as soon as the turn is worth 20, or wins."""
        return HOLD if s.turn >= 20 or s.banked + s.turn >= self.target else ROLL

    @policy
    def hold_at_20_blindly(self, s: Turn) -> int:
        """Hold at 20 and not sooner, even with the points that win in hand."""
        return HOLD if s.turn >= 20 else ROLL


class Round(NamedTuple):
    banked: int  # the mover's points in the bank
    rivals: tuple[int, ...]  # the others', in the order of their moves
    turn: int  # points at risk this turn


@dataclass(frozen=True)
class PigForMore(Pig):
    """Roll for points or bank them; a 1 loses the turn's points. For any number of players."""

    name: ClassVar[str] = "pig"

    def start(self) -> Round:  # type: ignore[override]
        return Round(0, (0,) * (self.players - 1), 0)

    def outcomes(self, s: Round, action: int) -> Iterator[tuple[int, int, Round]]:  # type: ignore[override]
        if action == HOLD:
            if s.banked + s.turn >= self.target:
                yield 1, WIN, s
            else:
                yield 1, PASS, Round(s.rivals[0], (*s.rivals[1:], s.banked + s.turn), 0)
        else:
            yield 1, PASS, Round(s.rivals[0], (*s.rivals[1:], s.banked), 0)
            for face in range(2, self.sides + 1):
                if s.banked + s.turn + face >= self.target and not self.must_bank:
                    yield 1, WIN, s
                else:
                    yield 1, AGAIN, Round(s.banked, s.rivals, s.turn + face)

    def progress(self, s: Round) -> int:  # type: ignore[override]
        return s.banked + sum(s.rivals)

    def describe(self, s: Round) -> str:  # type: ignore[override]
        others = " and ".join(map(str, s.rivals))
        return f"{s.banked} in the bank and {s.turn} at risk; the others have {others}"

    def cells(self, s: Round) -> boards.Board:  # type: ignore[override]
        mover = [boards.label("mover"), boards.bar(s.banked, s.turn, of=self.target)]
        others = [
            [boards.label(f"next {k}"), boards.bar(points, of=self.target, theirs=True)]
            for k, points in enumerate(s.rivals, 1)
        ]
        return [mover, *others]

    def final(self, s: Round, action: int, faces: Sequence[int] = ()) -> Round:  # type: ignore[override]
        if action == HOLD:
            return Round(s.banked + s.turn, s.rivals, 0)
        return Round(s.banked, s.rivals, s.turn + sum(faces))

    def told(  # type: ignore[override]
        self, s: Round, action: int, then: int, after: Round, faces: Sequence[int] = ()
    ) -> str:
        total = s.banked + s.turn + sum(faces)
        if then == WIN:
            return f"{total} points" if faces or action == HOLD else ""
        if action == HOLD:
            return f"{total} in the bank"
        return f"{after.turn} at risk" if then == AGAIN else "the turn's points are lost"


@dataclass(frozen=True)
class Piglet(Game):
    """Pig with a coin: a head is a point, a tail loses the turn's points."""

    target: int = parameter(10, at_least=1, at_most=30_000, about="points that win")
    action_names: ClassVar = ("flip", "hold")

    def start(self) -> Turn:
        return Turn(0, 0, 0)

    def actions(self, s: Turn) -> Iterator[int]:
        yield ROLL
        if s.turn > 0:
            yield HOLD

    def outcomes(self, s: Turn, action: int) -> Outcomes:
        if action == HOLD:
            yield 1, PASS, Turn(s.rival, s.banked + s.turn, 0)
        else:
            yield 1, PASS, Turn(s.rival, s.banked, 0)
            if s.banked + s.turn + 1 >= self.target:
                yield 1, WIN, s
            else:
                yield 1, AGAIN, Turn(s.banked, s.rival, s.turn + 1)

    def progress(self, s: Turn) -> int:
        return s.banked + s.rival

    def describe(self, s: Turn) -> str:
        return f"{s.banked} in the bank and {s.turn} at risk; the other has {s.rival}"

    def cells(self, s: Turn) -> boards.Board:
        return banks(s, self.target)

    def show(self, s: Turn) -> str:
        return ""  # the words say it all

    def deed(self, s: Turn, action: int) -> str:
        return "flip {}" if action == ROLL else "hold"

    def told(self, s: Turn, action: int, then: int, after: Turn, faces: Sequence[int] = ()) -> str:
        return what_came(s, action, then, after, 1)

    def throw(self, s: Turn, action: int) -> tuple[int, ...]:
        return (2,) if action == ROLL else ()

    def face_name(self, face: int) -> str:
        return "a tail" if face == 1 else "a head"

    @policy
    def hold_at_2(self, s: Turn) -> int:
        """Hold as soon as the turn is worth 2."""
        return HOLD if s.turn >= 2 else ROLL


@dataclass(frozen=True)
class TwoDicePig(Game):
    """Pig with two dice: a 1 loses the turn's points, two 1s all points in the bank."""

    target: int = parameter(100, at_least=1, at_most=30_000, about="points that win")
    sides: int = parameter(6, at_least=2, at_most=100, about="sides of each die")
    action_names: ClassVar = ("roll", "hold")

    def start(self) -> Turn:
        return Turn(0, 0, 0)

    def actions(self, s: Turn) -> Iterator[int]:
        yield ROLL
        if s.turn > 0:
            yield HOLD

    def outcomes(self, s: Turn, action: int) -> Outcomes:
        if action == HOLD:
            yield 1, PASS, Turn(s.rival, s.banked + s.turn, 0)
        else:
            yield 1, PASS, Turn(s.rival, 0, 0)
            yield 2 * (self.sides - 1), PASS, Turn(s.rival, s.banked, 0)
            for first in range(2, self.sides + 1):
                for second in range(2, self.sides + 1):
                    turn = s.turn + first + second
                    if s.banked + turn >= self.target:
                        yield 1, WIN, s
                    else:
                        yield 1, AGAIN, Turn(s.banked, s.rival, turn)

    def describe(self, s: Turn) -> str:
        return f"{s.banked} in the bank and {s.turn} at risk; the other has {s.rival}"

    def cells(self, s: Turn) -> boards.Board:
        return banks(s, self.target)

    def show(self, s: Turn) -> str:
        return ""  # the words say it all

    def deed(self, s: Turn, action: int) -> str:
        return "roll {}" if action == ROLL else "hold"

    def told(self, s: Turn, action: int, then: int, after: Turn, faces: Sequence[int] = ()) -> str:
        return what_came(s, action, then, after, sum(faces))

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
