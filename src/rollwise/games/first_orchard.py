"""First Orchard: children pick fruit together, before the raven comes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.game import AGAIN, LOSE, WIN, Game, parameter, policy, replaced
from rollwise.numbers.printed import how_many

NOTHING = 0  # another number is the size of the tree of which a fruit is taken


class Orchard(NamedTuple):
    fruits: tuple[int, ...]  # on each tree, the fullest first
    steps: int  # that the raven is away


@dataclass(frozen=True)
class FirstOrchard(Game):
    """A die shows one of the trees, a basket or the raven.

    A tree gives a fruit if it has one, and a basket any fruit. The raven comes a step nearer. The
    players win together if they have all fruits before the raven is there.
    """

    trees: int = parameter(4, at_least=1, at_most=6, about="trees")
    fruit: int = parameter(4, at_least=1, at_most=12, about="fruits on each tree")
    raven: int = parameter(5, at_least=1, at_most=20, about="steps of the raven")
    players: ClassVar = 1

    def start(self) -> Orchard:
        return Orchard((self.fruit,) * self.trees, self.raven)

    def throws(self, s: Orchard) -> Iterator[tuple[int, int]]:
        for face in range(self.trees + 2):  # the trees, the basket, the raven
            yield 1, face

    def actions(self, s: Orchard, throw: int) -> Iterator[int]:
        if throw == self.trees:
            for k in range(self.trees):  # trees of one size are alike
                if s.fruits[k] > 0 and (k == 0 or s.fruits[k] != s.fruits[k - 1]):
                    yield s.fruits[k]
        else:
            yield s.fruits[throw] if throw < self.trees else NOTHING

    def outcomes(self, s: Orchard, throw: int, size: int) -> Iterator[tuple[int, int, Orchard]]:
        if throw > self.trees:
            yield 1, LOSE if s.steps == 1 else AGAIN, Orchard(s.fruits, s.steps - 1)
        elif size == NOTHING:
            yield 1, AGAIN, s
        else:
            last = self.trees - 1  # of the trees of this size, the last in the order
            while s.fruits[last] != size:
                last -= 1
            fruits = replaced(s.fruits, last, size - 1)
            yield 1, AGAIN if sum(fruits) else WIN, Orchard(fruits, s.steps)

    def describe(self, s: Orchard) -> str:
        steps = how_many(s.steps, "step")
        return f"fruits {' '.join(map(str, s.fruits))}; the raven is {steps} away"

    def cells(self, s: Orchard) -> boards.Board:
        trees = [[boards.bar(fruits, of=self.fruit)] for fruits in s.fruits]
        return [*trees, [boards.bar(s.steps, of=self.raven, theirs=True)]]

    def throw_text(self, s: Orchard, throw: int) -> str:
        if throw >= self.trees:
            return "the basket" if throw == self.trees else "the raven"
        return f"tree {throw + 1}"

    def action_text(self, s: Orchard, throw: int, size: int) -> str:
        return f"pick from a tree of {size}" if size else "pick nothing"

    def deed(self, s: Orchard, throw: int, size: int) -> str:
        return self.action_text(s, throw, size)

    def told(self, s: Orchard, throw: int, size: int, then: int, after: Orchard) -> str:
        if then == AGAIN:
            return self.describe(after)
        return "all fruits are picked" if then == WIN else "the raven is there"

    @policy
    def smallest(self, s: Orchard, throw: int) -> int:
        """Pick from the tree with the fewest fruits."""
        return min(self.actions(s, throw))

    @policy
    def largest(self, s: Orchard, throw: int) -> int:
        """Pick from the tree with the most fruits."""
        return max(self.actions(s, throw))
