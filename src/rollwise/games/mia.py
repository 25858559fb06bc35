"""Mia for two: two dice under a cup, claims that rise, and a loser who pays a life."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rollwise import boards
from rollwise.game import AGAIN, LOSE, PASS, WIN, Game, parameter, policy

CALL, BELIEVE = 0, 1
# the throws from the lowest to the highest: two dice, then doubles, then Mia
PAIRS = tuple(10 * high + low for high in range(1, 7) for low in range(1, high))
THROWS = (*PAIRS[1:], *(11 * face for face in range(1, 7)), PAIRS[0])
RANK = {throw: rank for rank, throw in enumerate(THROWS)}


class Cup(NamedTuple):
    dice: int  # the throw under the cup, as 65; 0 before it
    claim: int  # the last claim, 0 before the first of a round
    answers: bool  # whether the mover answers the claim
    mine: int  # lives
    theirs: int


@dataclass(frozen=True)
class Mia(Game):
    """A player throws two dice under a cup and claims a throw; the other believes it or calls.

    Throws are read with the higher die first. They rank from 31 to 65; above these are the doubles
    from 11 to 66, and 21, called Mia, is the highest. A claim must beat the last one, true or not.
    Who believes a claim takes the cup and throws. Who calls lifts it: the claim was a lie if the
    throw is lower. The liar, or else the caller, loses a life and begins the next round. Who calls
    a true Mia may lose more lives. The last player with a life wins.
    """

    lives: int = parameter(1, at_least=1, at_most=20, about="lives of each player")
    mia_costs: int = parameter(
        1, at_least=1, at_most=20, variant=True, about="lives lost by the caller of a true Mia"
    )

    @property
    def action_names(self) -> Mapping[int, str]:  # type: ignore[override]
        return {CALL: "call", BELIEVE: "believe"} | {t: f"say {t}" for t in THROWS}

    def start(self) -> Cup:
        return Cup(0, 0, False, self.lives, self.lives)

    def deal(self, s: Cup) -> Iterator[tuple[int, Cup]]:
        if s.dice == 0:
            for throw in THROWS:
                yield 1 if throw % 11 == 0 else 2, s._replace(dice=throw)

    def hidden(self, s: Cup) -> tuple[str, ...]:
        return ("dice",) if s.answers else ()

    def actions(self, s: Cup) -> Iterator[int]:
        if not s.answers:
            yield from THROWS[RANK[s.claim] + 1 if s.claim else 0 :]
        elif s.claim == THROWS[-1]:
            yield CALL
        else:
            yield from (CALL, BELIEVE)

    def outcomes(self, s: Cup, action: int) -> Iterator[tuple[int, int, Cup]]:
        if not s.answers:
            yield 1, PASS, Cup(s.dice, action, True, s.theirs, s.mine)
        elif action == BELIEVE:
            yield 1, AGAIN, Cup(0, s.claim, False, s.mine, s.theirs)
        elif RANK[s.dice] < RANK[s.claim]:  # a lie: the other player loses a life
            after = Cup(0, 0, False, s.theirs - 1, s.mine)
            yield (1, PASS, after) if s.theirs > 1 else (1, WIN, s)
        else:
            left = s.mine - (self.mia_costs if s.claim == THROWS[-1] else 1)
            yield (1, AGAIN, Cup(0, 0, False, left, s.theirs)) if left > 0 else (1, LOSE, s)

    @policy
    def honest(self, s: Cup) -> int:
        """Claim the throw, or the least that is allowed; believe claims up to 62."""
        if s.answers:
            return BELIEVE if RANK[s.claim] <= RANK[62] else CALL
        least = RANK[s.claim] + 1 if s.claim else 0
        return THROWS[max(least, RANK[s.dice])]

    def cells(self, s: Cup) -> boards.Board:
        faces = divmod(s.dice, 10)
        return [
            [boards.seat(), boards.pile(s.mine)],
            [boards.seat(1), boards.pile(s.theirs, theirs=1)],
            [boards.label("cup"), *(boards.die(face) for face in faces)],
            [boards.label("claim"), boards.tile(str(s.claim or "-"))],
        ]

    def describe(self, s: Cup) -> str:
        if s.answers:
            return f"the other player says {s.claim}"
        last = f", and must beat {s.claim}" if s.claim else ""
        return f"you have thrown {s.dice}{last}"
