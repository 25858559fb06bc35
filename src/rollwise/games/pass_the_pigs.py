"""Pass the Pigs: two rubber pigs for dice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.game import AGAIN, PASS, WIN, Game, parameter, policy

THROW, HOLD = range(2)

# How a pig lands: how often in a thousand, and its points. Each side is marked or plain.
PLAIN, MARKED = "plain side", "marked side"
PIG = {
    PLAIN: (349, 0),
    MARKED: (302, 0),
    "razorback": (224, 5),
    "trotter": (88, 5),
    "snouter": (30, 10),
    "leaning jowler": (7, 15),
}


def throws() -> tuple[tuple[int, int], ...]:
    """Throws of two pigs: ways in a million, and points, 0 for a pig out."""
    ways: Counter[int] = Counter()
    for one, other in product(PIG, PIG):
        (often, points), (again, more) = PIG[one], PIG[other]
        scored = points + more
        if one == other:
            scored = 1 if scored == 0 else 2 * scored
        ways[scored] += often * again
    return tuple((often, points) for points, often in sorted(ways.items()))


THROWS = throws()


class Turn(NamedTuple):
    banked: int  # the mover's points in the bank
    rival: int  # the other player's
    turn: int  # points at risk this turn


@dataclass(frozen=True)
class PassThePigs(Game):
    """Throw two pigs for points, or pass them on and bank the points of the turn.

    Two pigs on the same side score 1, on different sides nothing, and the turn's points are
    lost. Else a razorback or a trotter scores 5, a snouter 10 and a leaning jowler 15, both
    pigs are added, and the double counts twice. Pigs in contact are thrown again. Points that
    reach the target win at once.
    """

    presets: ClassVar = {"short": {"target": 50}}
    target: int = parameter(100, at_least=1, at_most=30_000, about="points that win")
    action_names: ClassVar = ("throw", "pass the pigs")

    def start(self) -> Turn:
        return Turn(0, 0, 0)

    def actions(self, s: Turn) -> Iterator[int]:
        yield THROW
        if s.turn > 0:
            yield HOLD

    def outcomes(self, s: Turn, action: int) -> Iterator[tuple[int, int, Turn]]:
        if action == HOLD:
            yield 1, PASS, Turn(s.rival, s.banked + s.turn, 0)
        else:
            for ways, points in THROWS:
                if points == 0:
                    yield ways, PASS, Turn(s.rival, s.banked, 0)
                elif s.banked + s.turn + points >= self.target:
                    yield ways, WIN, Turn(s.banked + s.turn + points, s.rival, 0)
                else:
                    yield ways, AGAIN, Turn(s.banked, s.rival, s.turn + points)

    def progress(self, s: Turn) -> int:
        return s.banked + s.rival

    def describe(self, s: Turn) -> str:
        return f"{s.banked} in the bank and {s.turn} at risk; the opponent has {s.rival}"

    def cells(self, s: Turn) -> boards.Board:
        return [
            [boards.seat(), boards.bar(s.banked, s.turn, of=self.target)],
            [boards.seat(1), boards.bar(s.rival, of=self.target, theirs=True)],
        ]

    def deed(self, s: Turn, action: int) -> str:
        return "throw the pigs" if action == THROW else "pass the pigs"

    def told(self, s: Turn, action: int, then: int, after: Turn, faces: Sequence[int] = ()) -> str:
        if action == HOLD:
            return f"{s.banked + s.turn} to {s.rival}"
        if then == WIN:
            return f"enough for {self.target}; the opponent has {s.rival}"
        if then == PASS:
            return f"a pig out; {s.banked} to {s.rival}"
        points = after.turn - s.turn
        return f"{points} point{'' if points == 1 else 's'}, {after.turn} at risk"

    @policy
    def hold_at_23(self, s: Turn) -> int:
        """Pass the pigs with 23 points or more: another throw loses more than it brings."""
        return HOLD if s.turn >= 23 else THROW
