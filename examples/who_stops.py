"""A game of three in which everybody must mix: who stops it?"""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from rollwise import DRAW, PASS, WIN, Game, parameter, won_by

WAIT, STOP = range(2)
NEXT, LAST = won_by(1), won_by(2)


class Waiting(NamedTuple):
    round: int


class WhoStops(Game):
    """Stop, or wait for another to do it.

    Who stops wins 7 times in 20, the next player once, and the last one 12 times. Who waits
    passes; but one time in `patience` the game ends there, and all share.
    """

    patience: int = parameter(10, at_least=2, about="one wait in so many ends the game")
    players: ClassVar[int] = 3
    action_names: ClassVar = ("wait", "stop")

    def start(self) -> Waiting:
        return Waiting(0)

    def actions(self, s: Waiting) -> Iterator[int]:
        yield WAIT
        yield STOP

    def outcomes(self, s: Waiting, action: int) -> Iterator[tuple[int, int, Waiting]]:
        if action == WAIT:
            yield self.patience - 1, PASS, s
            yield 1, DRAW, s
        else:
            yield 7, WIN, s
            yield 1, NEXT, s
            yield 12, LAST, s
