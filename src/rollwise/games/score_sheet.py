"""What Yahtzee and Yatzy share: five dice are thrown up to three times, and fill a box."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any, ClassVar

from rollwise import bits, boards, dice
from rollwise.game import Game, policy

Throw = tuple[int, ...]  # five faces, ascending
FACES = 6  # boxes, one for each face: they stand first


class ScoreSheet(Game):
    """A sheet whose boxes are filled once each, one a turn, for the most points.

    A game adds its state, with the fields `filled` (the boxes that are filled, as a set) and
    `upper` (points in the boxes of the six faces), and the parameter `boxes`.
    """

    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar[tuple[str, ...]]
    boxes: int

    def throws(self, s: Any) -> dice.Pool:
        return dice.pool(5, sides=6, rerolls=2)

    def progress(self, s: Any) -> int:
        return bits.size(s.filled)

    def describe(self, s: Any) -> str:
        names = enumerate(self.action_names[: self.boxes])
        left = [name for box, name in names if not bits.has(s.filled, box)]
        return f"open: {', '.join(left)}; {s.upper} of 63 above"

    def cells(self, s: Any) -> boards.Board:
        cells = [
            boards.box(name, filled=bits.has(s.filled, box))
            for box, name in enumerate(self.action_names[: self.boxes])
        ]
        pairs = zip_longest(cells[:FACES], cells[FACES:])
        return [[cell for cell in pair if cell] for pair in pairs]

    def deed(self, s: Any, throw: Throw, box: int) -> str:
        return f"fill {self.action_names[box]}"

    def told(self, s: Any, throw: Throw, box: int, then: int, after: Any) -> str:
        made = self.reward(s, throw, box)
        return "1 point" if made == 1 else f"{made:g} points"

    @policy
    def most_alike(self, s: Any, throw: Throw, rolls_left: int) -> Any:
        """Keep the face that shows most often, the highest of several; fill what brings most."""
        if rolls_left:
            face = max(throw, key=lambda face: (throw.count(face), face))
            return (face,) * throw.count(face)
        return max(self.actions(s, throw), key=lambda box: self.reward(s, throw, box))
