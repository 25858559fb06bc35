"""Knock Out: choose a number, and hope not to throw it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import dice
from rollwise.errors import ParameterError
from rollwise.game import (
    AGAIN,
    PASS,
    Game,
    last_left,
    next_in,
    parameter,
    policy,
    replaced,
    skip,
    turned,
)

MOST_PLAYERS = 6
THROW, LEAST, MOST = 0, 6, 9  # the numbers that may be chosen
NOT_YET, OUT = 0, 1  # in the place of a number


class Numbers(NamedTuple):
    numbers: tuple[int, ...]  # the mover's, then the other players', in the order of their moves


@dataclass(frozen=True)
class KnockOut(Game):
    """Choose a number from 6 to 9, then throw two dice in turn: your own number puts you out.

    The last one left wins.
    """

    distinct: bool = parameter(False, about="no player may choose a number that another one has")
    players: int = parameter(  # type: ignore[misc]
        2, at_least=2, at_most=MOST_PLAYERS, variant=True, about="players"
    )
    action_names: ClassVar = {
        THROW: "throw",
        **{number: str(number) for number in range(LEAST, MOST + 1)},
    }

    def validate(self) -> None:
        super().validate()
        if self.distinct and self.players > MOST - LEAST + 1:
            raise ParameterError(
                f"{self.name}: there are {MOST - LEAST + 1} numbers, too few for "
                f"{self.players} players, each with a number of their own"
            )

    def start(self) -> Numbers:
        return Numbers((NOT_YET,) * self.players)

    def actions(self, s: Numbers) -> Iterator[int]:
        if s.numbers[0] != NOT_YET:
            yield THROW
        else:
            for number in range(LEAST, MOST + 1):
                if not (self.distinct and number in s.numbers):
                    yield number

    def outcomes(self, s: Numbers, action: int) -> Iterator[tuple[int, int, Numbers]]:
        if s.numbers[0] == NOT_YET:
            yield 1, PASS, Numbers((*s.numbers[1:], action))
        else:
            mine = s.numbers[0]
            for ways, total in dice.total(2, 6):
                numbers = s.numbers
                if total == mine:
                    numbers = replaced(numbers, 0, OUT)
                then = last_left(numbers, OUT)
                if then != AGAIN:
                    yield ways, then, s
                else:
                    seats = next_in(numbers, OUT)
                    yield ways, skip(seats), Numbers(turned(numbers, seats))

    def describe(self, s: Numbers) -> str:
        mine, *others = map(_told, s.numbers)
        return f"{mine}; the others: {', '.join(others)}"

    def deed(self, s: Numbers, action: int) -> str:
        return "throw {}" if action == THROW else f"choose {action}"

    def told(self, s: Numbers, action: int, then: int, after: Numbers, faces: Sequence[int]) -> str:
        if action != THROW or not faces:
            return ""
        return "out" if sum(faces) == s.numbers[0] else "nothing happens"

    def throw(self, s: Numbers, action: int) -> tuple[int, ...]:
        return (6, 6) if action == THROW else ()

    @policy
    def take_the_rarest(self, s: Numbers) -> int:
        """Choose the rarest total of two dice, 9 before 6 before 8 before 7."""
        if s.numbers[0] != NOT_YET:
            return THROW
        for number in (9, 6, 8):
            if not (self.distinct and number in s.numbers):
                return number
        return 7


def _told(number: int) -> str:
    """A number in words."""
    return {NOT_YET: "no number yet", OUT: "out"}.get(number, str(number))
