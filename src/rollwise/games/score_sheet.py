"""The common part of Bozó, Yahtzee and Yatzy: up to three throws of five dice fill a box."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any, ClassVar

import numpy as np

from rollwise import bits, boards, dice
from rollwise.game import Game, policy

Throw = tuple[int, ...]  # five faces, ascending
FACES = 6  # boxes, one for each face: they stand first
BONUS = 63  # points in these bring more: three dice of each face
PAR = np.array([sum(3 * f for f in range(1, 7) if faces >> f - 1 & 1) for faces in range(64)])


class ScoreSheet(Game):
    """A sheet of boxes to fill once each, one a turn, for the most points.

    A game adds its state, with the field `filled` (the set of filled boxes), and the number of
    `boxes`. All sheets share their features, see `kept_features` and `action_features`.
    """

    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar[tuple[str, ...]]
    of_alike: ClassVar[tuple[int, ...]]  # the boxes below for dice of a face, or of two
    boxes: int

    def throws(self, s: Any) -> dice.Pool:
        return dice.pool(5, sides=6, rerolls=2)

    def progress(self, s: Any) -> int:
        return bits.size(s.filled)

    def describe(self, s: Any) -> str:
        names = enumerate(self.action_names[: self.boxes])
        left = [name for box, name in names if not bits.has(s.filled, box)]
        return f"open: {', '.join(left)}"

    def field_text(self, name: str, number: int) -> str:
        names = self.action_names[: self.boxes] if name == "filled" else ()
        return ", ".join(text for box, text in enumerate(names) if bits.has(number, box))

    def cells(self, s: Any) -> boards.Board:
        cells = [
            boards.box(name, filled=bits.has(s.filled, box))
            for box, name in enumerate(self.action_names[: self.boxes])
        ]
        pairs = zip_longest(cells[:FACES], cells[FACES:])
        return [[cell for cell in pair if cell] for pair in pairs]

    def deed(self, s: Any, *choice: Any) -> str:
        return f"fill {self.action_names[choice[-1]]}"

    def told(self, s: Any, *what: Any) -> str:
        *choice, _, _, _ = what  # without `then`, `after` and `faces`
        made = self.reward(s, *choice)
        return "1 point" if made == 1 else f"{made:g} points"

    def made(self, throw: Throw, box: int) -> int:
        """The score of a throw in a box by itself: no bonus, no joker."""
        raise NotImplementedError

    def is_open(self, s: Any, box: int) -> Any:
        """Whether a box is on the sheet and open, 1 or 0; of each position in an array."""
        return 1 - (s.filled >> box & 1) if box < self.boxes else 0

    def features(self, s: Any, *_: Any) -> dict[str, Any]:
        """Number of open boxes."""
        return {"left": sum(self.is_open(s, box) for box in range(self.boxes))}

    def action_features(self, s: Any, throw: Throw, *choice: Any) -> dict[str, Any]:
        """The box, its score, and for a face the comparison with three of its dice.

        `beyond` is the surplus over three dice, and `short` the shortfall.
        """
        box = choice[-1]
        boxes = {name.replace(" ", "_"): 0 for name in self.action_names[: self.boxes]}
        boxes[self.action_names[box].replace(" ", "_")] = 1
        made = self.made(throw, box)
        beyond = made - 3 * (box + 1) if box < FACES else 0
        return {
            **boxes,
            "made": made,
            "beyond": beyond,
            "short": max(-beyond, 0),
        }

    def kept_features(self, s: Any, kept: Throw) -> dict[str, Any]:
        """The total of the kept dice, and their number and open boxes if all show one face.

        `above` is their number if the box of their face is open. `want` is the number of open boxes
        for equal dice.
        """
        alike = len(kept) if len(set(kept)) == 1 else 0
        above = self.is_open(s, kept[0] - 1) * (alike > 0) if kept else 0
        below = sum(self.is_open(s, box) for box in self.of_alike)
        return {
            "total": sum(kept),
            "nothing": 1 - min(len(kept), 1),
            "alike": alike,
            "above": above * alike,
            "points_above": above * sum(kept),
            "want": (below + above) * (alike > 0),
        }

    @policy
    def most_alike(self, s: Any, throw: Throw, rolls_left: int) -> Any:
        """Keep the most frequent face, the highest of several; fill the best box."""
        face = max(throw, key=lambda face: (throw.count(face), face))
        kept = (face,) * throw.count(face)
        if rolls_left and not (self.reads_rolls_left and kept == throw):
            return kept
        given = (throw, rolls_left) if self.reads_rolls_left else (throw,)
        return max(self.actions(s, *given), key=lambda box: self.reward(s, *given, box))


class BonusSheet(ScoreSheet):
    """A sheet with a bonus for 63 points in the boxes of the six faces.

    The state has the field `upper`: points in these boxes.
    """

    def describe(self, s: Any) -> str:
        return f"{super().describe(s)}; {s.upper} of 63 above"

    def features(self, s: Any, *_: Any) -> dict[str, Any]:
        """Number of open boxes, and whether the bonus is in reach with four dice of each face."""
        could = s.upper + sum(4 * (box + 1) * self.is_open(s, box) for box in range(FACES))
        return {**super().features(s), "hope": (s.upper < BONUS) * (could >= BONUS) * 1}

    def action_features(self, s: Any, throw: Throw, *choice: Any) -> dict[str, Any]:
        """As on other sheets, and `behind`.

        It is 1 if the total of the filled boxes of faces is then below three dice each.
        """
        box, found = choice[-1], super().action_features(s, throw, *choice)
        behind = s.upper + found["made"] < PAR[s.filled & 63 | 1 << box] if box < FACES else 0
        return {**found, "behind": 1 * behind}
