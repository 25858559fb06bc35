"""Super Six, also known as Rio: get rid of your sticks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise.game import AGAIN, PASS, WIN, Game, parameter, policy

THROW, STOP = range(2)
HOLES = 5  # a sixth hole has no bottom


class Sticks(NamedTuple):
    lid: int  # sticks standing in the lid, in holes 1 to 5
    mine: int  # the mover's
    theirs: int  # the other player's
    forced: int  # 1 at the beginning of a turn, when the mover must throw


@dataclass(frozen=True)
class SuperSix(Game):
    """Throw to put a stick in the hole of that number, or take the one that is there.

    A six swallows the stick. Who takes a stick, or stops, passes the die; each
    turn begins with a throw. The first to have no sticks wins.
    """

    sticks: int = parameter(10, at_least=2, at_most=60_000, about="sticks in the game")
    action_names: ClassVar = ("throw", "stop")

    def start(self) -> Sticks:
        return Sticks(0, self.sticks // 2, self.sticks - self.sticks // 2, 1)

    def roots(self) -> Iterator[Sticks]:
        for lid in range(HOLES + 1):
            for mine in range(1, self.sticks - lid):
                for theirs in range(1, self.sticks - lid - mine + 1):
                    yield Sticks(lid, mine, theirs, 0)
                    yield Sticks(lid, mine, theirs, 1)

    def actions(self, s: Sticks) -> Iterator[int]:
        yield THROW
        if s.forced == 0:
            yield STOP

    def outcomes(self, s: Sticks, action: int) -> Iterator[tuple[int, int, Sticks]]:
        if action == STOP:
            yield 1, PASS, Sticks(s.lid, s.theirs, s.mine, 1)
        else:
            yield s.lid, PASS, Sticks(s.lid - 1, s.theirs, s.mine + 1, 1)
            if s.mine == 1:
                yield HOLES + 1 - s.lid, WIN, s
            else:
                yield HOLES - s.lid, AGAIN, Sticks(s.lid + 1, s.mine - 1, s.theirs, 0)
                yield 1, AGAIN, Sticks(s.lid, s.mine - 1, s.theirs, 0)

    def progress(self, s: Sticks) -> int:
        return self.sticks - s.lid - s.mine - s.theirs

    def describe(self, s: Sticks) -> str:
        return f"{s.lid} of {HOLES} holes in the lid are full; {s.mine} sticks to {s.theirs}"

    def told(self, s: Sticks, action: int, then: int, after: Sticks) -> str:
        if action == STOP:
            return "the die passes"
        if then == PASS:
            return "the hole was full: a stick comes back, and the die passes"
        if then == AGAIN and after.lid > s.lid:
            return "a stick goes into the lid"
        return "the last stick is gone" if then == WIN else "a six: the stick is gone"

    @policy
    def throw_until_4(self, s: Sticks) -> int:
        """Throw until four sticks stand in the lid."""
        return THROW if s.forced == 1 or s.lid < 4 else STOP
