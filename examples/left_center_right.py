"""Left Center Right: a game of no choice, for three players or more."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rollwise import PASS, Game, dice, parameter, won_by

WINS = tuple(won_by(seat) for seat in range(6))


class Chips(NamedTuple):
    chips: tuple[int, ...]  # of the mover, and of the others in the order of their moves


@dataclass(frozen=True)
class LeftCenterRight(Game):
    """Throw a die for each chip that you have, three at most. Who has the last chips wins.

    A die says: a chip to the next player, a chip to the one before, a chip to the pot, or, three
    times in six, keep it. Who has none stays in the game, and passes.
    """

    players: int = parameter(3, at_least=3, at_most=6, about="players")  # type: ignore[misc]
    each: int = parameter(3, at_least=1, at_most=10, about="chips of each at the start")

    def start(self) -> Chips:
        return Chips((self.each,) * self.players)

    def actions(self, s: Chips) -> Iterator[int]:
        yield 0

    def outcomes(self, s: Chips, action: int) -> Iterator[tuple[int, int, Chips]]:
        thrown = min(s.chips[0], 3)
        for ways, shown in dice.counts(thrown, 6):
            left, right, pot = map(int, shown[1:4])
            chips = list(s.chips)
            chips[0] -= left + right + pot
            chips[1] += left
            chips[-1] += right
            having = [seat for seat, n in enumerate(chips) if n]
            if len(having) == 1:
                yield ways, WINS[having[0]], s
            else:
                yield ways, PASS, Chips((*chips[1:], chips[0]))
