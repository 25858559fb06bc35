"""Shut the Box: throw, and shut tiles with the total of the throw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import bits, boards, dice
from rollwise.errors import ParameterError
from rollwise.game import AGAIN, END, Game, parameter, policy

STOP, ONE_DIE = 0, 1  # a move is the set of the tiles that are shut; tile 0 says: then one die


class Box(NamedTuple):
    open: int  # the tiles that are open, as a set
    dice: int  # thrown next


def total(tiles: int) -> int:
    """Sum of a set of tiles."""
    added = 0
    for tile in bits.members(tiles):
        added += tile
    return added


@dataclass(frozen=True)
class ShutTheBox(Game):
    """Throw dice and shut tiles that add up to the throw; the score is the sum of the open ones.

    It is over when no open tiles add up to the throw, or all are shut. The fewest points are
    best. One die may be thrown in the place of two, or must be, once the open tiles add up to
    no more than 6, or once the tiles from 7 on are shut. The first throw is with two dice. The
    best chance to shut all tiles is another aim: `as=chase target=0`. Two players play it with
    `as=contest players=2`.
    """

    presets: ClassVar = {"short": {"tiles": 6}, "twelve tiles": {"tiles": 12}}
    tiles: int = parameter(9, at_least=1, at_most=12, about="tiles, 1 to so many")
    one_die: str = parameter("may", among=("never", "may", "must"), about="whether one is thrown")
    once: str = parameter("low", among=("low", "shut"), about="sum of 6 or less, or 7 and up shut")
    players: ClassVar = 1
    objective: ClassVar = "minimize"
    action_names: ClassVar = {STOP: "stop"}

    def validate(self) -> None:
        super().validate()
        if self.one_die != "never" and self.few(self.start().open):
            raise ParameterError(
                f"{self.name}: with {self.tiles} tiles one die is enough from the start; take "
                "more tiles, or one_die=never"
            )

    def start(self) -> Box:
        return Box(bits.without(bits.upto(self.tiles + 1), 0), 2)

    def few(self, left: int) -> bool:
        """Whether few enough tiles are open for one die."""
        return left < 128 if self.once == "shut" else total(left) <= 6

    def throws(self, s: Box) -> Iterator[tuple[int, int]]:
        yield from dice.total(s.dice, 6)

    def actions(self, s: Box, throw: int) -> Iterator[int]:
        can_shut = False
        shut = s.open
        # all sets of open tiles but the empty one, as bits, in falling order
        while shut > 0:
            if total(shut) == throw:
                can_shut = True
                left = s.open & ~shut
                if self.one_die == "never" or not self.few(left) or left == 0:
                    yield shut
                else:
                    if self.one_die == "may":
                        yield shut
                    yield shut + ONE_DIE
            shut = (shut - 1) & s.open
        if not can_shut:
            yield STOP

    def outcomes(self, s: Box, throw: int, shut: int) -> Iterator[tuple[int, int, Box]]:
        left = s.open & ~shut
        if shut == STOP or left == 0:
            yield 1, END, Box(s.open if shut == STOP else left, s.dice)
        else:
            yield 1, AGAIN, Box(left, 1 if bits.has(shut, 0) else 2)

    def reward(self, s: Box, throw: int, shut: int) -> float:
        return float(total(s.open)) if shut == STOP else 0.0

    def progress(self, s: Box) -> int:
        return self.tiles - bits.size(s.open)

    def describe(self, s: Box) -> str:
        tiles = " ".join(map(str, bits.members(s.open)))
        return f"open: {tiles}; {s.dice} dice" if s.dice > 1 else f"open: {tiles}; one die"

    def field_text(self, name: str, number: int) -> str:
        return " ".join(map(str, bits.members(number))) if name == "open" else ""

    def cells(self, s: Box) -> boards.Board:
        tiles = range(1, self.tiles + 1)
        return [[boards.tile(str(k), gone=not bits.has(s.open, k)) for k in tiles]]

    def action_text(self, s: Box, throw: int, shut: int) -> str:
        tiles = " ".join(map(str, bits.members(shut & ~ONE_DIE)))
        return f"shut {tiles}, then one die" if bits.has(shut, 0) else f"shut {tiles}"

    def deed(self, s: Box, throw: int, shut: int) -> str:
        return "stop" if shut == STOP else self.action_text(s, throw, shut)

    def told(self, s: Box, throw: int, shut: int, then: int, after: Box) -> str:
        if then == END:
            return f"{total(s.open)} left" if shut == STOP else "the box is shut"
        return self.describe(after)

    def features(self, s: Box, throw: int) -> dict[str, int]:
        return {"tiles": bits.size(s.open), "total": total(s.open)}

    def action_features(self, s: Box, throw: int, shut: int) -> dict[str, int]:
        tiles = shut & ~ONE_DIE
        highest = max(bits.members(tiles), default=0)
        return {"tiles": bits.size(tiles), "highest": highest, "one_die": int(bits.has(shut, 0))}

    @policy
    def highest(self, s: Box, throw: int) -> int:
        """Shut the highest possible tile, with the fewest others; throw two dice."""
        return max(self.actions(s, throw), key=lambda shut: (shut & ~ONE_DIE, -shut))
