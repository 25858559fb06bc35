"""Hog and Pig with simultaneous turns: both players decide before either die falls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, NamedTuple

from rollwise import boards, dice
from rollwise.game import AGAIN, DRAW, LOSE, WIN, Game, parameter, policy

ROLL, HOLD = range(2)


class Score(NamedTuple):
    mine: int  # the mover's points
    theirs: int


class Turns(NamedTuple):
    banked: int  # the mover's points in the bank
    rival: int
    turn: int  # the mover's points at risk
    rival_turn: int


def leader(mine: int, theirs: int) -> int:
    """The end of a game with these points."""
    return WIN if mine > theirs else LOSE if mine < theirs else DRAW


@dataclass(frozen=True)
class SimultaneousHog(Game):
    """Both players choose how many dice to throw, at the same time; a 1 scores nothing.

    Dice without a 1 score their sum. After a round in which a player reaches the target, more
    points win, and equal points are a draw.
    """

    target: int = parameter(20, at_least=1, at_most=200, about="points that end the game")
    dice: int = parameter(3, at_least=1, at_most=10, about="dice at most")
    sides: int = parameter(6, at_least=2, at_most=20, about="sides of each die")
    action_unit: ClassVar = ("die", "dice")

    def start(self) -> Score:
        return Score(0, 0)

    def together(self, s: Score) -> tuple[range, range]:
        return range(1, self.dice + 1), range(1, self.dice + 1)

    def points(self, n: int) -> Iterator[tuple[int, int]]:
        """The ways to score with n dice, and the points."""
        yield self.sides**n - (self.sides - 1) ** n, 0
        for ways, total in dice.total(n, self.sides - 1):
            yield ways, total + n

    def outcomes(self, s: Score, pair: tuple[int, int]) -> Iterator[tuple[int, int, Score]]:
        for (ways, mine), (others, theirs) in product(*map(self.points, pair)):
            after = Score(s.mine + mine, s.theirs + theirs)
            yield ways * others, AGAIN if max(after) < self.target else leader(*after), after

    def cells(self, s: Score) -> boards.Board:
        return [
            [boards.seat(), boards.bar(s.mine, of=self.target)],
            [boards.seat(1), boards.bar(s.theirs, of=self.target, theirs=1)],
        ]

    @policy
    def most_dice(self, s: Score, side: int) -> int:
        """Throw all dice."""
        return self.dice


@dataclass(frozen=True)
class SimultaneousPig(Game):
    """Both players roll or hold at the same time, each with a die; a 1 loses the points at risk.

    Points held are safe. After a round in which a bank reaches the target, more points in the bank
    win, and equal banks are a draw.
    """

    target: int = parameter(10, at_least=1, at_most=40, about="points that end the game")
    sides: int = parameter(6, at_least=2, at_most=20, about="sides of the dice")
    action_names: ClassVar = ("roll", "hold")

    def start(self) -> Turns:
        return Turns(0, 0, 0, 0)

    def together(self, s: Turns) -> tuple[tuple[int, ...], ...]:
        return self.choices(s.banked, s.turn), self.choices(s.rival, s.rival_turn)

    def choices(self, banked: int, turn: int) -> tuple[int, ...]:
        """A turn worth the rest must be held, and nothing can't be held."""
        return (HOLD,) if banked + turn >= self.target else (ROLL, HOLD) if turn else (ROLL,)

    def after(self, banked: int, turn: int, action: int) -> Iterator[tuple[int, int, int]]:
        """The ways, the bank and the points at risk after an action."""
        if action == HOLD:
            yield 1, banked + turn, 0
        else:
            for face in range(1, self.sides + 1):
                yield 1, banked, 0 if face == 1 else turn + face

    def outcomes(self, s: Turns, pair: tuple[int, int]) -> Iterator[tuple[int, int, Turns]]:
        mine = self.after(s.banked, s.turn, pair[0])
        theirs = list(self.after(s.rival, s.rival_turn, pair[1]))
        for (ways, bank, turn), (others, rival, rival_turn) in product(mine, theirs):
            then = AGAIN if max(bank, rival) < self.target else leader(bank, rival)
            yield ways * others, then, Turns(bank, rival, turn, rival_turn)

    def cells(self, s: Turns) -> boards.Board:
        return [
            [boards.seat(), boards.bar(s.banked, s.turn, of=self.target)],
            [boards.seat(1), boards.bar(s.rival, s.rival_turn, of=self.target, theirs=1)],
        ]

    @policy
    def hold_at_once(self, s: Turns, side: int) -> int:
        """Hold whatever the last roll brought."""
        return HOLD if (s.rival_turn if side else s.turn) else ROLL
