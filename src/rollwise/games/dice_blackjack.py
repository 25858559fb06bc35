"""Dice blackjack: a race of totals with a limit, where too many dice can lose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise import dice as throws
from rollwise.errors import ParameterError
from rollwise.game import (
    AGAIN,
    WIN,
    Game,
    last_left,
    next_in,
    parameter,
    policy,
    replaced,
    skip,
    spoken,
    turned,
)
from rollwise.then import is_over, seats_on

MOST_PLAYERS = 6
OUT = -1  # in the place of a total


class Totals(NamedTuple):
    totals: tuple[int, ...]  # the mover's, then the other players', in the order of their moves


def totals_text(totals: Sequence[int]) -> str:
    """Totals in words."""
    return spoken("out" if total == OUT else total for total in totals)


@dataclass(frozen=True)
class DiceBlackjack(Game):
    """Add a throw of some dice to your total: low to high wins, more than high loses.

    The players throw in turns, and the action is the number of dice. With two players the table
    has every position below `low`, reachable or not. With several, a player with
    more than `high` is out, and the last player left wins too.
    """

    action_unit: ClassVar = ("die", "dice")

    sides: int = parameter(6, at_least=1, at_most=1000, about="sides of each die")
    low: int = parameter(15, at_least=1, at_most=2000, about="the least total that wins")
    high: int = parameter(17, at_least=1, at_most=10_000, about="the largest total that wins")
    dice: int = parameter(2, at_least=1, at_most=20, about="the most dice in one throw")
    players: int = parameter(  # type: ignore[misc]
        2, at_least=2, at_most=MOST_PLAYERS, variant=True, about="players"
    )

    def validate(self) -> None:
        super().validate()
        if self.low > self.high:
            raise ParameterError(
                f"{self.name}: low={self.low} is above high={self.high}; no total would win"
            )
        if self.sides**self.dice >= 2**62:
            raise ParameterError(
                f"{self.name}: {self.dice} dice of {self.sides} sides fall in more ways than "
                "63 bits count"
            )

    @property
    def column_names(self) -> Mapping[str, str]:  # type: ignore[override]
        """The totals of two players have no numbers."""
        return {"totals.0": "mine", "totals.1": "theirs"} if self.players == 2 else {}

    def start(self) -> Totals:
        return Totals((0,) * self.players)

    def roots(self) -> Iterator[Totals]:
        if self.players == 2:
            for mine in range(self.low):
                for theirs in range(self.low):
                    yield Totals((mine, theirs))

    def actions(self, s: Totals) -> Iterator[int]:
        for n in range(self.dice):
            yield n + 1

    def outcomes(self, s: Totals, action: int) -> Iterator[tuple[int, int, Totals]]:
        for ways, points in throws.total(action, self.sides):
            total = s.totals[0] + points
            if self.low <= total <= self.high:
                yield ways, WIN, Totals(replaced(s.totals, 0, total))
            else:
                totals = replaced(s.totals, 0, total if total < self.low else OUT)
                then = last_left(totals, OUT)
                if then != AGAIN:
                    yield ways, then, Totals(replaced(s.totals, 0, total))
                else:
                    seats = next_in(totals, OUT)
                    yield ways, skip(seats), Totals(turned(totals, seats))

    def describe(self, s: Totals) -> str:
        return f"{s.totals[0]} to {totals_text(s.totals[1:])}; {self.low} to {self.high} wins"

    def cells(self, s: Totals) -> boards.Board:
        return [
            [boards.seat(k), boards.bar(max(total, 0), of=self.low, theirs=k)]
            for k, total in enumerate(s.totals)
        ]

    def deed(self, s: Totals, action: int) -> str:
        return "throw {}"

    def told(
        self, s: Totals, action: int, then: int, after: Totals, faces: Sequence[int] = ()
    ) -> str:
        mine = s.totals[0] + sum(faces)
        if not is_over(then):
            mine = after.totals[-seats_on(then, self.players)]
        elif not faces:
            return ""
        if mine == OUT:
            return f"more than {self.high}, which is out"
        return f"{mine} to {totals_text(s.totals[1:])}"

    def throw(self, s: Totals, action: int) -> tuple[int, ...]:
        return (self.sides,) * action

    @policy
    def one_die(self, s: Totals) -> int:
        """Always throw a single die."""
        return 1

    @policy
    def all_dice(self, s: Totals) -> int:
        """Always throw as many dice as allowed."""
        return self.dice
