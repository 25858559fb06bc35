"""The Big Wheel of The Price Is Right: spin once or twice, and beat the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.game import AGAIN, PASS, Game, parameter, policy, replaced, shared_by
from rollwise.numbers.printed import how_many

STOP, SPIN = 0, 1


class Wheel(NamedTuple):
    spun: int  # by the mover so far, in steps of 5 cents
    best: int  # total of the others so far
    holders: tuple[int, ...]  # 1 for each other player with the best total, the next one first
    left: int  # players after the mover


@dataclass(frozen=True)
class BigWheel(Game):
    """Spin a wheel of 5 to 100 cents once or twice; the highest sum up to a dollar wins.

    More than a dollar is out. Ties are decided by chance. If all others are out, the last player
    wins. Each player knows the sums of the players before.
    """

    steps: int = parameter(20, at_least=2, at_most=100, about="numbers on the wheel")
    players: int = parameter(  # type: ignore[misc]
        2, at_least=2, at_most=5, variant=True, about="players"
    )
    action_names: ClassVar = ("stop", "spin")

    def start(self) -> Wheel:
        return Wheel(0, 0, (0,) * (self.players - 1), self.players - 1)

    def actions(self, s: Wheel) -> Iterator[int]:
        if s.spun > 0:
            yield STOP
        yield SPIN

    def outcomes(self, s: Wheel, action: int) -> Iterator[tuple[int, int, Wheel]]:
        if action == STOP:
            yield self.after(s, s.spun)
        else:
            for number in range(1, self.steps + 1):
                if s.spun > 0:
                    yield self.after(s, s.spun + number)
                elif s.left == 0 and s.best == 0:
                    yield self.after(s, number)  # all others are out
                else:
                    yield 1, AGAIN, Wheel(number, s.best, s.holders, s.left)

    def after(self, s: Wheel, total: int) -> tuple[int, int, Wheel]:
        """The outcome of a turn with this total."""
        best, holders, mine = s.best, s.holders, 0
        if best <= total <= self.steps:
            mine = 1
            if total > best:
                best = total
                for seat in range(self.players - 1):
                    holders = replaced(holders, seat, 0)
        if s.left == 0:
            return 1, shared_by((1 if best == 0 else mine, *holders)), s
        return 1, PASS, Wheel(0, best, (*holders[1:], mine), s.left - 1)

    def describe(self, s: Wheel) -> str:
        spun = f"{5 * s.spun} cents so far" if s.spun else "nothing spun"
        return f"{spun}; to beat: {5 * s.best}; {how_many(s.left, 'player')} after you"

    def cells(self, s: Wheel) -> boards.Board:
        holder = 1 + s.holders.index(1) if 1 in s.holders else 1
        rival = boards.seat(1) if self.players == 2 else boards.label("to beat")
        return [
            [boards.seat(), boards.bar(s.spun, of=self.steps)],
            [rival, boards.bar(s.best, of=self.steps, theirs=holder)],
        ]

    def deed(self, s: Wheel, action: int) -> str:
        return "spin" if action == SPIN else "stop"

    def told(self, s: Wheel, action: int, then: int, after: Wheel) -> str:
        if then == AGAIN:
            return f"{5 * after.spun} cents"
        if then == PASS and action == SPIN:
            return f"{5 * after.best} cents" if after.holders[-1] else "too much or too little"
        return ""

    @policy
    def stay_at_70(self, s: Wheel) -> int:
        """Stop with 70 cents or more, unless the best total is higher."""
        return STOP if s.spun >= 14 and s.spun >= s.best else SPIN
