"""Pickomino: a turn of eight dice for worms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import bits, boards, dice
from rollwise.game import AGAIN, END, Game, parameter, policy
from rollwise.numbers.printed import how_many

NO_FACE, WORM, STOP = 0, 6, 8  # a face of the dice; STOP more means: take them and stop


class Turn(NamedTuple):
    taken: int  # the faces set aside so far, as a set
    points: int
    dice: int  # that are left


def worms(points: int) -> int:
    """The worms on the highest tile for so many points: 21 to 24 have one, 33 to 36 four."""
    return 0 if points < 21 else min(4, (points - 17) // 4)


@dataclass(frozen=True)
class Pickomino(Game):
    """Throw the dice, and set aside all dice of one face that you haven't taken yet.

    Throw the others, or stop with at least one worm. A worm counts 5. The points buy the highest
    tile of 21 to 36, with 1 to 4 worms on it. A throw without a new face is worth nothing.
    """

    presets: ClassVar = {"short": {"dice": 5}}
    dice: int = parameter(8, at_least=1, at_most=8, about="dice")
    players: ClassVar = 1
    objective: ClassVar = "maximize"

    def start(self) -> Turn:
        return Turn(0, 0, self.dice)

    def throws(self, s: Turn) -> Iterator[tuple[int, tuple[int, ...]]]:
        for ways, shown in dice.counts(s.dice, 6):
            yield ways, (shown[1], shown[2], shown[3], shown[4], shown[5], shown[6])

    def actions(self, s: Turn, throw: tuple[int, ...]) -> Iterator[int]:
        none = True
        for face in range(1, 7):
            if throw[face - 1] > 0 and not bits.has(s.taken, face):
                none = False
                left = s.dice - throw[face - 1]
                if left > 0:
                    yield face
                if left == 0 or face == WORM or bits.has(s.taken, WORM):
                    yield face + STOP
        if none:
            yield NO_FACE

    def outcomes(
        self, s: Turn, throw: tuple[int, ...], action: int
    ) -> Iterator[tuple[int, int, Turn]]:
        if action == NO_FACE:
            yield 1, END, s
        else:
            face = action - STOP if action > STOP else action
            number = throw[face - 1]
            taken = bits.with_member(s.taken, face)
            then = END if action > STOP else AGAIN
            yield 1, then, Turn(taken, s.points + min(face, 5) * number, s.dice - number)

    def reward(self, s: Turn, throw: tuple[int, ...], action: int) -> float:
        face = action - STOP
        if face < 1 or not (face == WORM or bits.has(s.taken, WORM)):
            return 0
        return worms(s.points + min(face, 5) * throw[face - 1])

    def progress(self, s: Turn) -> int:
        return self.dice - s.dice

    def describe(self, s: Turn) -> str:
        taken = " ".join(map(self.face_name, bits.members(s.taken))) or "nothing"
        left = how_many(s.dice, "die", "dice")
        return f"{taken} aside, {how_many(s.points, 'point')}, {left}"

    def field_text(self, name: str, number: int) -> str:
        return " ".join(map(self.face_name, bits.members(number))) if name == "taken" else ""

    def cells(self, s: Turn) -> boards.Board:
        faces = [boards.tile(self.face_name(k), gone=bits.has(s.taken, k)) for k in range(1, 7)]
        return [faces, [boards.bar(s.points, of=36)]]

    def face_name(self, face: int) -> str:
        return "worm" if face == WORM else str(face)

    def throw_text(self, s: Turn, throw: tuple[int, ...]) -> str:
        faces = [self.face_name(k + 1) for k in range(6) for _ in range(throw[k])]
        return dice.spoken(faces)

    def throw_cells(self, throw: tuple[int, ...]) -> list[boards.Cell]:
        return [boards.die(k + 1) for k in range(6) for _ in range(throw[k])]

    def action_text(self, s: Turn, throw: tuple[int, ...], action: int) -> str:
        if action == NO_FACE:
            return "take nothing"
        face = self.face_name(action - STOP if action > STOP else action)
        return f"take {face}, stop" if action > STOP else f"take {face}"

    def deed(self, s: Turn, throw: tuple[int, ...], action: int) -> str:
        return self.action_text(s, throw, action)

    def told(self, s: Turn, throw: tuple[int, ...], action: int, then: int, after: Turn) -> str:
        if then == END:
            return how_many(int(self.reward(s, throw, action)), "worm")
        return self.describe(after)

    @policy
    def most_points(self, s: Turn, throw: tuple[int, ...]) -> int:
        """Take the face with the most points, and stop with a tile."""

        def gain(action: int) -> tuple[float, int, int]:
            face = action - STOP if action > STOP else action
            number = throw[face - 1] if face else 0
            return self.reward(s, throw, action), min(face, 5) * number, -action

        return max(self.actions(s, throw), key=gain)
