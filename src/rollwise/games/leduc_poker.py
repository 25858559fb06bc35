"""Leduc poker: six cards, a card on the board, two rounds of bets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.game import AGAIN, PASS, Game, parameter, payoff
from rollwise.numbers.printed import how_many

FOLD, CHECK, CALL, RAISE = range(4)


class Table(NamedTuple):
    mine: int  # the mover's card; 0 before the deal
    theirs: int
    board: int  # 0 until the second round
    stake: int  # the mover's chips in the pot
    rival: int
    raises: int  # of this round
    second: int  # 1 where the mover is the second player
    passed: int  # 1 if the first player has checked in this round


@dataclass(frozen=True)
class LeducPoker(Game):
    """Each player antes 1 and gets one of six cards: three ranks, twice each.

    Raises are of 2 chips in the first round and of 4 in the second, at most two a round. Between
    the rounds a card is turned up. A pair with it wins, else the higher card (Southey and others
    2005).
    """

    ranks: int = parameter(3, at_least=2, at_most=20, about="ranks, with two cards each")
    action_names: ClassVar = ("fold", "check", "call", "raise")

    def start(self) -> Table:
        return Table(0, 0, 0, 1, 1, 0, 0, 0)

    def deal(self, s: Table) -> Iterator[tuple[int, Table]]:
        if s.mine == 0:
            for mine in range(1, self.ranks + 1):
                for theirs in range(1, self.ranks + 1):
                    yield 1 if mine == theirs else 2, s._replace(mine=mine, theirs=theirs)
        elif s.board < 0:
            for board in range(1, self.ranks + 1):
                left = 2 - (board == s.mine) - (board == s.theirs)
                yield left, s._replace(board=board)

    def hidden(self, s: Table) -> tuple[str, ...]:
        return ("theirs",)

    def actions(self, s: Table) -> Iterator[int]:
        if s.stake < s.rival:
            yield FOLD
            yield CALL
        else:
            yield CHECK
        if s.raises < 2:
            yield RAISE

    def outcomes(self, s: Table, action: int) -> Iterator[tuple[int, int, Table]]:
        mover = (s.theirs, s.mine, s.board, s.rival)
        if action == FOLD:
            yield 1, payoff(-s.stake), s
        elif action == RAISE:
            chips = s.rival + (4 if s.board else 2)
            yield 1, PASS, Table(*mover, chips, s.raises + 1, 1 - s.second, s.passed)
        elif action == CHECK and not s.second:
            yield 1, PASS, Table(*mover, s.stake, 0, 1, 1)
        elif s.board:
            ahead = (s.mine == s.board) - (s.theirs == s.board)
            ahead = ahead or (s.mine > s.theirs) - (s.mine < s.theirs)
            yield 1, payoff(ahead * s.rival), s
        elif s.second:
            yield 1, PASS, Table(s.theirs, s.mine, -1, s.rival, s.rival, 0, 0, 0)
        else:
            yield 1, AGAIN, Table(s.mine, s.theirs, -1, s.rival, s.rival, 0, 0, 0)

    def cells(self, s: Table) -> boards.Board:
        cards = [
            boards.tile(str(card) if card > 0 else "?") for card in (s.mine, s.theirs, s.board)
        ]
        return [
            [boards.seat(), cards[0], boards.pile(s.stake)],
            [boards.seat(1), cards[1], boards.pile(s.rival, theirs=1)],
            [boards.label("turned up"), cards[2]],
        ]

    def describe(self, s: Table) -> str:
        board = f", {s.board} is turned up" if s.board > 0 else ""
        mine = how_many(s.stake, "of your chips is", "of your chips are")
        pot = f"{mine} in the pot, {s.rival} of the opponent's"
        return f"your card is {s.mine}{board}; {pot}"
