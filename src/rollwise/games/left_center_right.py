"""Left Center Right: a game without choices; the last chips win."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import dice
from rollwise.game import AGAIN, Game, last_left, next_in, parameter, replaced, skip, spoken, turned
from rollwise.numbers.printed import how_many

MOST_PLAYERS = 8
LEFT, RIGHT, CENTER = 1, 2, 3  # faces; the three others keep the chip
FACES = ("", "left", "right", "center", "a dot", "a dot", "a dot")


class Chips(NamedTuple):
    chips: tuple[int, ...]  # of the mover, and of the others in the order of their moves


@dataclass(frozen=True)
class LeftCenterRight(Game):
    """Throw a die for each of your chips, three at most; the last chips win.

    A die says: a chip to the next player, a chip to the one before, a chip to the pot, or, three
    times in six, keep it. A player without chips doesn't throw, but stays in the game: chips may
    come back.
    """

    chips: int = parameter(3, at_least=1, at_most=1000, about="chips of each at the start")
    players: int = parameter(  # type: ignore[misc]
        2, at_least=2, at_most=MOST_PLAYERS, variant=True, about="players"
    )
    action_names: ClassVar = ("throw",)

    def start(self) -> Chips:
        return Chips((self.chips,) * self.players)

    def actions(self, s: Chips) -> Iterator[int]:
        yield 0

    def outcomes(self, s: Chips, action: int) -> Iterator[tuple[int, int, Chips]]:
        last = self.players - 1  # the seat before the mover's
        for ways, shown in dice.counts(min(s.chips[0], 3), 6):
            left, right = shown[LEFT], shown[RIGHT]
            chips = replaced(s.chips, 0, s.chips[0] - left - right - shown[CENTER])
            chips = replaced(chips, 1, chips[1] + left)
            chips = replaced(chips, last, chips[last] + right)
            then = last_left(chips, 0)
            if then != AGAIN:
                yield ways, then, s
            else:
                seats = next_in(chips, 0)
                yield ways, skip(seats), Chips(turned(chips, seats))

    def describe(self, s: Chips) -> str:
        pot = self.chips * self.players - sum(s.chips)
        whose = "the other" if self.players == 2 else "the others"
        rest = spoken(s.chips[1:])
        return f"{how_many(s.chips[0], 'chip')}, {whose} {rest}; {pot} in the pot"

    def deed(self, s: Chips, action: int) -> str:
        return "throw {}"

    def told(self, s: Chips, action: int, then: int, after: Chips, faces: Sequence[int]) -> str:
        if not faces:
            return ""
        given = [faces.count(face) for face in (LEFT, RIGHT, CENTER)]
        to = ("to the next", "to the one before", "to the pot")
        moved = [f"{n} {where}" for n, where in zip(given, to, strict=True) if n]
        return ", ".join(moved) or "all are kept"

    def throw(self, s: Chips, action: int) -> tuple[int, ...]:
        return (6,) * min(s.chips[0], 3)

    def fallen(self, s: Chips, action: int, faces: Sequence[int]) -> int:
        return dice.place_in_counts(faces, 6)

    def face_name(self, face: int) -> str:
        return FACES[face]
