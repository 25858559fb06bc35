"""A game of three with several equilibria: it is best to do what the others do."""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from rollwise import PASS, Game, shared

WAIT, STOP = range(2)
STOPPED, EVEN = shared(3, 5, 2), shared(1, 1, 1)


class Waiting(NamedTuple):
    round: int


class Standoff(Game):
    """Stop, or wait for another to do it.

    Who stops has 3 tenths, the next player 5, and the last one 2. Who waits passes; but one time in
    ten the game ends there, and all share.
    """

    players: ClassVar[int] = 3
    action_names: ClassVar = ("wait", "stop")

    def start(self) -> Waiting:
        return Waiting(0)

    def actions(self, s: Waiting) -> Iterator[int]:
        yield WAIT
        yield STOP

    def outcomes(self, s: Waiting, action: int) -> Iterator[tuple[int, int, Waiting]]:
        if action == STOP:
            yield 1, STOPPED, s
        else:
            yield 9, PASS, s
            yield 1, EVEN, s
