"""The Price Is Right wheel for two, with scores hidden from the opponent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.game import DRAW, LOSE, PASS, WIN, Game, parameter

STAY, SPIN = range(2)


class Wheels(NamedTuple):
    mine: int  # the mover's score in steps of the wheel; 0 before the spin, and above the top
    theirs: int
    second: int  # 1 where the first player has finished


@dataclass(frozen=True)
class HiddenWheel(Game):
    """Each player spins a wheel of equal steps unseen, and may add a second spin.

    A sum above the highest number is worth nothing. The higher score wins, and equal ones draw.
    """

    steps: int = parameter(20, at_least=2, at_most=60, about="numbers on the wheel")
    action_names: ClassVar = ("stay", "spin")

    def start(self) -> Wheels:
        return Wheels(0, 0, 0)

    def deal(self, s: Wheels) -> Iterator[tuple[int, Wheels]]:
        if s == self.start():
            for mine in range(1, self.steps + 1):
                for theirs in range(1, self.steps + 1):
                    yield 1, Wheels(mine, theirs, 0)

    def hidden(self, s: Wheels) -> tuple[str, ...]:
        return ("theirs",)

    def actions(self, s: Wheels) -> Iterator[int]:
        yield from (STAY, SPIN)

    def cells(self, s: Wheels) -> boards.Board:
        return [
            [boards.seat(), boards.bar(s.mine, of=self.steps)],
            [boards.seat(1), boards.bar(s.theirs, of=self.steps, theirs=1)],
        ]

    def outcomes(self, s: Wheels, action: int) -> Iterator[tuple[int, int, Wheels]]:
        for step in range(1, self.steps + 1) if action == SPIN else (0,):
            score = s.mine + step if s.mine + step <= self.steps else 0
            ended = WIN if score > s.theirs else LOSE if score < s.theirs else DRAW
            yield 1, ended if s.second else PASS, Wheels(s.theirs, score, 1)
