"""Kuhn poker: three cards, one bet, and the smallest game with a bluff."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.game import LOSE, PASS, WIN, Game, parameter, payoff

CHECK, BET, FOLD, CALL = range(4)


class Hand(NamedTuple):
    mine: int  # the mover's card; 0 before the deal
    theirs: int
    passed: int  # 1 after a check
    bet: int  # 1 after a bet


@dataclass(frozen=True)
class KuhnPoker(Game):
    """Each player antes 1 and gets one of three cards; one bet of 1 is allowed.

    The first player checks or bets. After a bet the other folds or calls; after a check the other
    may bet, and the first player folds or calls. The higher card wins.
    """

    cards: int = parameter(3, at_least=2, at_most=50, about="cards, one of each rank")
    action_names: ClassVar = ("check", "bet", "fold", "call")

    def start(self) -> Hand:
        return Hand(0, 0, 0, 0)

    def deal(self, s: Hand) -> Iterator[tuple[int, Hand]]:
        if s.mine == 0:
            for mine in range(1, self.cards + 1):
                for theirs in range(1, self.cards + 1):
                    if mine != theirs:
                        yield 1, Hand(mine, theirs, 0, 0)

    def hidden(self, s: Hand) -> tuple[str, ...]:
        return ("theirs",)

    def actions(self, s: Hand) -> Iterator[int]:
        yield from (FOLD, CALL) if s.bet else (CHECK, BET)

    def outcomes(self, s: Hand, action: int) -> Iterator[tuple[int, int, Hand]]:
        if action == FOLD:
            yield 1, LOSE, s
        elif action == CALL:
            yield 1, payoff(2 if s.mine > s.theirs else -2), s
        elif action == BET:
            yield 1, PASS, Hand(s.theirs, s.mine, s.passed, 1)
        elif s.passed:
            yield 1, WIN if s.mine > s.theirs else LOSE, s
        else:
            yield 1, PASS, Hand(s.theirs, s.mine, 1, 0)

    def cells(self, s: Hand) -> boards.Board:
        cards = [boards.tile(str(card or "?")) for card in (s.mine, s.theirs)]
        return [
            [boards.seat(), cards[0], boards.pile(1)],
            [boards.seat(1), cards[1], boards.pile(1 + s.bet, theirs=1)],
        ]

    def describe(self, s: Hand) -> str:
        bet = "; the opponent bet" if s.bet else "; the opponent checked" if s.passed else ""
        return f"your card is {s.mine}{bet}"
