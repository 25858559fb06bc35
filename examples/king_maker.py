"""A game of three with a tie that others care about: the last player says who wins."""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from rollwise import PASS, WIN, Game, won_by

FIRST, SECOND = range(2)  # of the last player's choices
NEXT, LAST = won_by(1), won_by(2)


class Step(NamedTuple):
    step: int


class KingMaker(Game):
    """Each of the first two wins one time in four; then the third says which of them does."""

    players: ClassVar[int] = 3
    action_names: ClassVar = ("the first", "the second")

    def start(self) -> Step:
        return Step(0)

    def actions(self, s: Step) -> Iterator[int]:
        yield FIRST
        if s.step == 2:
            yield SECOND

    def outcomes(self, s: Step, action: int) -> Iterator[tuple[int, int, Step]]:
        if s.step < 2:
            yield 3, PASS, Step(s.step + 1)
            yield 1, WIN, s
        else:
            yield 1, NEXT if action == FIRST else LAST, s
