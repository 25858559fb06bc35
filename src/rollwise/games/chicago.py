"""Chicago, a bar game: three dice, up to three throws, aces count 100 and sixes 60."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from rollwise.dice import Pool, pool
from rollwise.game import DRAW, LOSE, PASS, WIN, Game, parameter, policy

MARK, ACE, SIX = 0, 100, 60


class Round(NamedTuple):
    to_beat: int  # the other player's points; 0 before the first turn


def points(throw: tuple[int, ...]) -> int:
    """An ace is worth 100, a six 60, and any other face its number."""
    made = 0
    for face in throw:
        made += ACE if face == 1 else SIX if face == 6 else face
    return made


@dataclass(frozen=True)
class Chicago(Game):
    """Throw three dice, keep any and throw the others again; the most points win.

    Each player has one turn of up to three throws. An ace counts 100, a six 60, and the other
    faces their number. The second player knows the score to beat.
    """

    dice: int = parameter(3, at_least=1, at_most=5, about="dice thrown")
    throws_a_turn: int = parameter(3, at_least=1, at_most=5, about="at most")
    action_names: ClassVar = ("mark the points",)

    def start(self) -> Round:
        return Round(0)

    def throws(self, s: Round) -> Pool:
        return pool(self.dice, sides=6, rerolls=self.throws_a_turn - 1)

    def actions(self, s: Round, throw: tuple[int, ...]) -> Iterator[int]:
        yield MARK

    def outcomes(
        self, s: Round, throw: tuple[int, ...], action: int
    ) -> Iterator[tuple[int, int, Round]]:
        made = points(throw)
        if s.to_beat == 0:
            yield 1, PASS, Round(made)
        else:
            yield 1, WIN if made > s.to_beat else LOSE if made < s.to_beat else DRAW, s

    def progress(self, s: Round) -> int:
        return 1 if s.to_beat > 0 else 0

    def describe(self, s: Round) -> str:
        return f"{s.to_beat} points to beat" if s.to_beat else "the first turn"

    def deed(self, s: Round, throw: tuple[int, ...], action: int) -> str:
        return f"mark {points(throw)} points"

    def told(self, s: Round, throw: tuple[int, ...], action: int, then: int, after: Round) -> str:
        return f"against {s.to_beat}" if s.to_beat else ""

    @policy
    def aces(self, s: Round, throw: tuple[int, ...], rolls_left: int) -> Any:
        """Keep aces and throw all else again."""
        return tuple(face for face in throw if face == 1) if rolls_left else MARK
