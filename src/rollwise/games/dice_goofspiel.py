"""Goofspiel with dice: both players bid a card for the points of a die."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rollwise import boards
from rollwise.game import AGAIN, DRAW, LOSE, WIN, Game, parameter, policy


class Hands(NamedTuple):
    mine: tuple[int, ...]  # the mover's cards, ascending
    theirs: tuple[int, ...]
    prize: int  # the die; 0 before it is thrown
    lead: int  # points of the mover less those of the other


@dataclass(frozen=True)
class DiceGoofspiel(Game):
    """A die is thrown, both players bid one of their cards, and the higher card wins its points.

    Both players hold the cards from 1 on, and every card is bid once. Equal cards win nothing.
    More points win at the end.
    """

    cards: int = parameter(4, at_least=1, at_most=6, about="cards of each player")
    sides: int = parameter(4, at_least=1, at_most=10, about="sides of the die")

    def start(self) -> Hands:
        every = tuple(range(1, self.cards + 1))
        return Hands(every, every, 0, 0)

    def deal(self, s: Hands) -> Iterator[tuple[int, Hands]]:
        if s.prize == 0:
            for face in range(1, self.sides + 1):
                yield 1, s._replace(prize=face)

    def together(self, s: Hands) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return s.mine, s.theirs

    def outcomes(self, s: Hands, pair: tuple[int, int]) -> Iterator[tuple[int, int, Hands]]:
        mine, theirs = pair
        lead = s.lead + s.prize * ((mine > theirs) - (mine < theirs))
        hands = tuple(c for c in s.mine if c != mine), tuple(c for c in s.theirs if c != theirs)
        ended = WIN if lead > 0 else LOSE if lead < 0 else DRAW
        yield 1, AGAIN if hands[0] else ended, Hands(*hands, 0, lead)

    def cells(self, s: Hands) -> boards.Board:
        cards = range(1, self.cards + 1)
        points = boards.label(f"{s.lead:+} points" if s.lead else "")
        return [
            [boards.seat(), *(boards.tile(str(card), gone=card not in s.mine) for card in cards)],
            [boards.seat(1), *(boards.tile(str(c), gone=c not in s.theirs) for c in cards)],
            [boards.label("prize"), boards.die(s.prize, sides=self.sides), points],
        ]

    @policy
    def match_the_prize(self, s: Hands, side: int) -> int:
        """Bid the card nearest to the die."""
        return min(s.theirs if side else s.mine, key=lambda card: abs(card - s.prize))
