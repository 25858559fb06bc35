"""Knock-Out: choose a number, and hope not to throw it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rollwise import PASS, Game, dice, parameter, won_by

THROW = 0


class Numbers(NamedTuple):
    numbers: tuple[int, ...]  # of the mover and the others: 0 before the choice, 1 for who is out


@dataclass(frozen=True)
class KnockOut(Game):
    """Choose a number from 6 to 9 that nobody has. Then throw two dice in turn.

    Who throws his own number is out. The last one left wins.
    """

    players: int = parameter(3, at_least=3, at_most=4, about="players")  # type: ignore[misc]

    def start(self) -> Numbers:
        return Numbers((0,) * self.players)

    def actions(self, s: Numbers) -> Iterator[int]:
        if s.numbers[0] == 0:
            yield from (number for number in range(6, 10) if number not in s.numbers)
        else:
            yield THROW

    def outcomes(self, s: Numbers, action: int) -> Iterator[tuple[int, int, Numbers]]:
        mine, *others = s.numbers
        if mine == 0:
            yield 1, PASS, Numbers((*others, action))
        elif mine == 1:
            yield 1, PASS, Numbers((*others, 1))
        else:
            left = [seat for seat, number in enumerate(others, 1) if number > 1]
            for ways, total in dice.total(2, 6):
                if total != mine:
                    yield ways, PASS, Numbers((*others, mine))
                elif len(left) > 1:
                    yield ways, PASS, Numbers((*others, 1))
                else:
                    yield ways, won_by(left[0]), s
