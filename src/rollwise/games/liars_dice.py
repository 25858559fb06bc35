"""Liar's Dice for two: bids about all dice, and each player sees their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.game import LOSE, PASS, WIN, Game, parameter, policy

LIAR = 0


class Cups(NamedTuple):
    mine: tuple[int, ...]  # the mover's dice, ascending; 0 before the throw
    theirs: tuple[int, ...]
    bid: int  # the last bid, 0 before the first; bids are ordered by quantity, then by face


@dataclass(frozen=True)
class LiarsDice(Game):
    """Both players throw under a cup; in turn they raise the bid or call the other a liar.

    A bid says how many dice under both cups show a face. The next bid has a larger quantity, or the
    same quantity of a higher face. After "liar" the last bidder wins if the bid is true. Wild dice
    count as every face. With one die each and the highest face wild this is the last round of Dudo,
    with its aces as the highest face.
    """

    heading: ClassVar = "Liar's Dice"
    dice: int = parameter(1, at_least=1, at_most=4, about="dice of the first player")
    other_dice: int = parameter(0, at_least=0, at_most=4, about="dice of the second; 0 for as many")
    sides: int = parameter(6, at_least=2, at_most=10, about="sides of each die")
    wild: str = parameter("ones", among=("ones", "highest", "none"), about="the wild face")

    @property
    def all_dice(self) -> int:
        """The dice under both cups."""
        return self.dice + (self.other_dice or self.dice)

    @property
    def action_names(self) -> Mapping[int, str]:  # type: ignore[override]
        """A bid is written as quantity and face: 2x5."""
        bids = range(1, self.all_dice * self.sides + 1)
        return {LIAR: "liar"} | {bid: "{}x{}".format(*self.read_bid(bid)) for bid in bids}

    def read_bid(self, bid: int) -> tuple[int, int]:
        """The quantity and the face of a bid."""
        return (bid - 1) // self.sides + 1, (bid - 1) % self.sides + 1

    def throws_of(self, dice: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The throws of so many dice, ascending, with the number of ways."""
        faces = range(1, self.sides + 1)
        for throw in combinations_with_replacement(faces, dice):
            yield factorial(dice) // prod(factorial(throw.count(f)) for f in faces), throw

    def start(self) -> Cups:
        return Cups((0,) * self.dice, (0,) * (self.other_dice or self.dice), 0)

    def deal(self, s: Cups) -> Iterator[tuple[int, Cups]]:
        if s.mine[0] == 0:
            for ways, mine in self.throws_of(self.dice):
                for others, theirs in self.throws_of(self.other_dice or self.dice):
                    yield ways * others, Cups(mine, theirs, 0)

    def hidden(self, s: Cups) -> tuple[str, ...]:
        return ("theirs",)

    def actions(self, s: Cups) -> Iterator[int]:
        if s.bid:
            yield LIAR
        yield from range(s.bid + 1, self.all_dice * self.sides + 1)

    def outcomes(self, s: Cups, action: int) -> Iterator[tuple[int, int, Cups]]:
        if action != LIAR:
            yield 1, PASS, Cups(s.theirs, s.mine, action)
        else:
            quantity, face = self.read_bid(s.bid)
            yield 1, WIN if self.count((*s.mine, *s.theirs), face) < quantity else LOSE, s

    def count(self, dice: tuple[int, ...], face: int) -> int:
        """The dice that count as this face."""
        wild = {"ones": 1, "highest": self.sides, "none": 0}[self.wild]
        return sum(die in (face, wild) for die in dice)

    @policy
    def honest(self, s: Cups) -> int:
        """Raise to the lowest bid that the own dice make true; without one call liar."""
        for bid in range(s.bid + 1, self.all_dice * self.sides + 1):
            quantity, face = self.read_bid(bid)
            if self.count(s.mine, face) >= quantity:
                return bid
        return LIAR

    def cells(self, s: Cups) -> boards.Board:
        quantity, face = self.read_bid(s.bid) if s.bid else (0, 0)
        bid = boards.tile(f"{quantity} x" if s.bid else "-")
        return [
            [boards.seat(), *(boards.die(face, sides=self.sides) for face in s.mine)],
            [boards.seat(1), *(boards.die(face, sides=self.sides) for face in s.theirs)],
            [boards.label("last bid"), bid, boards.die(face, sides=self.sides)],
        ]

    def describe(self, s: Cups) -> str:
        bid = "no bid yet" if not s.bid else "the bid is {}x{}".format(*self.read_bid(s.bid))
        return f"{' and '.join(map(str, s.mine))} under your cup, {bid}"
