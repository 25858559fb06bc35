"""Dice blackjack: a race of totals in which it can hurt to throw too many dice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import dice as throws
from rollwise.errors import ParameterError
from rollwise.game import (
    AGAIN,
    LOSE,
    PASS,
    WIN,
    Game,
    last_left,
    next_in,
    parameter,
    policy,
    replaced,
    seat_more,
    skip,
    turned,
)

MOST_PLAYERS = 6
OUT = -1  # in the place of a total


class Totals(NamedTuple):
    mine: int  # the mover's total
    theirs: int  # the other player's


@dataclass(frozen=True)
class DiceBlackjack(Game):
    """Add a throw of some dice to your total: low to high wins, more than high loses.

    The players throw in turns, and the action is the number of dice. Every
    position below `low` is covered, also those that no play reaches.
    """

    action_unit: ClassVar = ("die", "dice")

    sides: int = parameter(6, at_least=1, at_most=1000, about="sides of each die")
    low: int = parameter(15, at_least=1, at_most=2000, about="the least total that wins")
    high: int = parameter(17, at_least=1, at_most=10_000, about="the largest total that wins")
    dice: int = parameter(2, at_least=1, at_most=20, about="the most dice in one throw")
    players: int = parameter(  # type: ignore[misc]
        2, at_least=2, at_most=MOST_PLAYERS, variant=True, about="players"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        seat_more(self, DiceBlackjack, DiceBlackjackForMore)

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

    def start(self) -> Totals:
        return Totals(0, 0)

    def roots(self) -> Iterator[Totals]:
        for mine in range(self.low):
            for theirs in range(self.low):
                yield Totals(mine, theirs)

    def actions(self, s: Totals) -> Iterator[int]:
        for n in range(self.dice):
            yield n + 1

    def outcomes(self, s: Totals, action: int) -> Iterator[tuple[int, int, Totals]]:
        for ways, points in throws.total(action, self.sides):
            total = s.mine + points
            if total < self.low:
                yield ways, PASS, Totals(s.theirs, total)
            elif total <= self.high:
                yield ways, WIN, s
            else:
                yield ways, LOSE, s

    def describe(self, s: Totals) -> str:
        return f"{s.mine} to {s.theirs}; {self.low} to {self.high} wins"

    def deed(self, s: Totals, action: int) -> str:
        return "throw {}"

    def told(
        self, s: Totals, action: int, then: int, after: Totals, faces: Sequence[int] = ()
    ) -> str:
        if then == PASS:
            return f"{after.theirs} to {s.theirs}"
        return f"{s.mine + sum(faces)} to {s.theirs}" if faces else ""

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


class Table(NamedTuple):
    totals: tuple[int, ...]  # the mover's and the others', in the order of their moves


@dataclass(frozen=True)
class DiceBlackjackForMore(DiceBlackjack):
    """Add a throw of some dice to your total: low to high wins, more than high is out.

    The last one left wins too. The players throw in turns, and the action is the number of dice.
    """

    name: ClassVar[str] = "dice-blackjack"

    def start(self) -> Table:  # type: ignore[override]
        return Table((0,) * self.players)

    def roots(self) -> Iterator[Table]:  # type: ignore[override]
        yield self.start()

    def outcomes(self, s: Table, action: int) -> Iterator[tuple[int, int, Table]]:  # type: ignore[override]
        for ways, points in throws.total(action, self.sides):
            total = s.totals[0] + points
            if self.low <= total <= self.high:
                yield ways, WIN, s
            else:
                totals = replaced(s.totals, 0, total if total < self.low else OUT)
                then = last_left(totals, OUT)
                if then != AGAIN:
                    yield ways, then, s
                else:
                    seats = next_in(totals, OUT)
                    yield ways, skip(seats), Table(turned(totals, seats))

    def describe(self, s: Table) -> str:  # type: ignore[override]
        mine, *others = ("out" if total == OUT else str(total) for total in s.totals)
        return f"{mine}, the others {' and '.join(others)}; {self.low} to {self.high} wins"

    def told(  # type: ignore[override]
        self, s: Table, action: int, then: int, after: Table, faces: Sequence[int] = ()
    ) -> str:
        if not faces:
            return ""
        total = s.totals[0] + sum(faces)
        return f"{total}, which is out" if total > self.high else str(total)
