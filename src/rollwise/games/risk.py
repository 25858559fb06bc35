"""A battle of Risk: attack once more, or stop in time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.game import AGAIN, LOSE, WIN, Game, parameter, payoff, policy

ATTACK, STOP = range(2)
MOST_ATTACKING, MOST_DEFENDING = 3, 2  # dice


def losses(attacking: Sequence[int], defending: Sequence[int]) -> int:
    """How many armies the attacker loses in a throw; the defender loses the others at stake."""
    pairs = zip(sorted(attacking, reverse=True), sorted(defending, reverse=True), strict=False)
    return sum(mine <= theirs for mine, theirs in pairs)


def ways(attacking: int, defending: int) -> tuple[int, int, int]:
    """In how many ways so many dice cost the attacker 0, 1 and 2 armies."""
    throws = product(range(1, 7), repeat=attacking + defending)
    lost = [losses(faces[:attacking], faces[attacking:]) for faces in throws]
    return lost.count(0), lost.count(1), lost.count(2)


WAYS = tuple(
    tuple(ways(a, d) for d in range(1, MOST_DEFENDING + 1)) for a in range(1, MOST_ATTACKING + 1)
)


class Battle(NamedTuple):
    attackers: int  # armies that may still attack
    defenders: int  # armies in the land


@dataclass(frozen=True)
class Risk(Game):
    """Attack a land throw by throw; win it, or stop when it no longer pays.

    The attacker throws a die for each army, up to three, the defender up to two. The highest dice
    are compared, then the second highest; the lower one costs an army, and a tie costs the
    attacker one. The battle ends when one side has no armies. By default the attacker may stop
    before each throw, and the result is the attacker's armies minus the defender's, plus `prize`
    for the land. With `result` "land" the attacker never stops, and only the land counts.
    """

    attackers: int = parameter(10, at_least=1, at_most=50_000, about="armies that may attack")
    defenders: int = parameter(10, at_least=1, at_most=50_000, about="armies in the land")
    prize: int = parameter(3, at_least=0, at_most=1000, about="armies that the land is worth")
    result: str = parameter("armies", among=("armies", "land"), variant=True, about="what counts")
    players: ClassVar = 1
    action_names: ClassVar = ("attack", "stop")

    def start(self) -> Battle:
        return Battle(self.attackers, self.defenders)

    def actions(self, s: Battle) -> Iterator[int]:
        yield ATTACK
        if self.result == "armies":
            yield STOP

    def outcomes(self, s: Battle, action: int) -> Iterator[tuple[int, int, Battle]]:
        if action == STOP:
            yield 1, payoff(s.attackers - s.defenders), s
        else:
            attacking = min(s.attackers, MOST_ATTACKING)
            defending = min(s.defenders, MOST_DEFENDING)
            at_stake = min(attacking, defending)
            for lost in range(at_stake + 1):
                attackers, defenders = s.attackers - lost, s.defenders - at_stake + lost
                then = AGAIN
                if attackers == 0:
                    then = LOSE if self.result == "land" else payoff(-defenders)
                elif defenders == 0:
                    then = WIN if self.result == "land" else payoff(attackers + self.prize)
                count = WAYS[attacking - 1][defending - 1][lost]
                yield count, then, Battle(attackers, defenders)

    def progress(self, s: Battle) -> int:
        return self.attackers + self.defenders - s.attackers - s.defenders

    def throw(self, s: Battle, action: int) -> tuple[int, ...]:
        dice = min(s.attackers, MOST_ATTACKING) + min(s.defenders, MOST_DEFENDING)
        return (6,) * dice if action == ATTACK else ()

    def fallen(self, s: Battle, action: int, faces: Sequence[int]) -> int:
        attacking = min(s.attackers, MOST_ATTACKING)
        return losses(faces[:attacking], faces[attacking:])

    def describe(self, s: Battle) -> str:
        return f"{s.attackers} attack, {s.defenders} defend"

    def cells(self, s: Battle) -> boards.Board:
        return [
            [boards.label("attack"), boards.bar(s.attackers, of=self.attackers)],
            [boards.label("defence"), boards.bar(s.defenders, of=self.defenders, theirs=True)],
        ]

    def deed(self, s: Battle, action: int) -> str:
        return "attack, throwing {}" if action == ATTACK else "stop"

    def told(
        self, s: Battle, action: int, then: int, after: Battle, faces: Sequence[int] = ()
    ) -> str:
        if action == STOP:
            return self.describe(s)
        if then != AGAIN:
            return ""
        lost = s.attackers - after.attackers
        return f"the attacker loses {lost}, the defender {s.defenders - after.defenders}"

    @policy
    def never_stop(self, s: Battle) -> int:
        """Attack until one side has no armies."""
        return ATTACK

    @policy
    def three_dice(self, s: Battle) -> int:
        """Attack with three dice, or the last defender; else stop."""
        return ATTACK if s.attackers >= 3 or s.defenders == 1 or self.result == "land" else STOP
