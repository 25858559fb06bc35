"""Super Six, also known as Rio: get rid of your sticks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.errors import ParameterError
from rollwise.game import AGAIN, PASS, WIN, Game, parameter, policy, spoken
from rollwise.numbers.printed import how_many

THROW, STOP = range(2)
NEVER, AFTER_A_THROW, ALWAYS = range(3)  # when one may stop


class Sticks(NamedTuple):
    lid: int  # sticks standing in the lid
    mine: int  # the mover's
    others: tuple[int, ...]  # those of the other players, in the order of their moves
    forced: int  # 0 after a throw, 1 as a turn begins; from 2 on before turns of one throw


@dataclass(frozen=True)
class SuperSix(Game):
    """Throw to put a stick in the hole of that number, or take the stick in it.

    A six swallows the stick. A player who takes a stick, or stops, passes the die. Each turn begins
    with a throw. The first player without sticks wins.

    With another number of `holes` the die has as many sides. Only the last hole swallows a stick,
    or none if it has a `bottom`. If players may stop before the first throw, two who stop for ever
    draw. If sticks can't be dealt evenly, the players who move last have one more.
    """

    presets: ClassVar = {"short": {"sticks": 6}, "many sticks": {"sticks": 40}}
    sticks: int = parameter(10, at_least=2, at_most=60_000, about="sticks in the game")
    holes: int = parameter(6, at_least=2, at_most=100, variant=True, about="holes in the lid")
    bottom: bool = parameter(False, variant=True, about="the last hole has a bottom too")
    may_stop: int = parameter(
        AFTER_A_THROW,
        at_least=NEVER,
        at_most=ALWAYS,
        variant=True,
        about="when one may stop: 0 never, 1 after a throw, 2 before the first throw too",
    )
    take_all: bool = parameter(False, variant=True, about="a full hole costs all sticks in the lid")
    one_each: bool = parameter(False, variant=True, about="one throw each in the first round")
    players: int = parameter(2, at_least=2, at_most=4, variant=True, about="players")  # type: ignore[misc]
    action_names: ClassVar = ("throw", "stop")

    @property
    def endless(self) -> str:  # type: ignore[override]
        """Play without throws is a draw."""
        return "draw" if self.may_stop == ALWAYS else "forbidden"

    @property
    def column_names(self) -> Mapping[str, str]:  # type: ignore[override]
        """The sticks of the only other player have no number."""
        return {"others.0": "theirs"} if self.players == 2 else {}

    def validate(self) -> None:
        super().validate()
        if self.sticks < self.players:
            raise ParameterError(
                f"{self.name}: sticks={self.sticks} are too few for {self.players} players; each "
                "needs one"
            )

    def start(self) -> Sticks:
        each, over = divmod(self.sticks, self.players)
        first, *others = (each + (seat >= self.players - over) for seat in range(self.players))
        return Sticks(0, first, tuple(others), 2 if self.one_each else 1)

    def roots(self) -> Iterator[Sticks]:
        if self.players == 2:
            pits = self.holes if self.bottom else self.holes - 1
            for lid in range(pits + 1):
                for mine in range(1, self.sticks - lid):
                    for theirs in range(1, self.sticks - lid - mine + 1):
                        yield Sticks(lid, mine, (theirs,), 0)
                        yield Sticks(lid, mine, (theirs,), 1)

    def actions(self, s: Sticks) -> Iterator[int]:
        yield THROW
        if s.forced < self.may_stop:
            yield STOP

    def outcomes(self, s: Sticks, action: int) -> Iterator[tuple[int, int, Sticks]]:
        turn = s.forced + 1 if 2 <= s.forced <= self.players else 1  # how the next turn begins
        after = s.others[0]
        if action == STOP:
            yield 1, PASS, Sticks(s.lid, after, (*s.others[1:], s.mine), turn)
        else:
            pits = self.holes if self.bottom else self.holes - 1
            taken = s.lid if self.take_all else 1
            yield s.lid, PASS, Sticks(s.lid - taken, after, (*s.others[1:], s.mine + taken), turn)
            if s.mine == 1:
                yield self.holes - s.lid, WIN, Sticks(s.lid, 0, s.others, 0)
            elif s.forced > 1:
                left = (*s.others[1:], s.mine - 1)
                yield pits - s.lid, PASS, Sticks(s.lid + 1, after, left, turn)
                yield self.holes - pits, PASS, Sticks(s.lid, after, left, turn)
            else:
                yield pits - s.lid, AGAIN, Sticks(s.lid + 1, s.mine - 1, s.others, 0)
                yield self.holes - pits, AGAIN, Sticks(s.lid, s.mine - 1, s.others, 0)

    def progress(self, s: Sticks) -> int:
        return self.sticks - s.lid - s.mine - sum(s.others)

    def describe(self, s: Sticks) -> str:
        pits = self.holes if self.bottom else self.holes - 1
        full = f"{s.lid} of {pits} holes in the lid are full"
        return f"{full}; {how_many(s.mine, 'stick')} to {spoken(s.others)}"

    def cells(self, s: Sticks) -> boards.Board:
        pits = self.holes if self.bottom else self.holes - 1
        lid = [boards.hole(k < s.lid, through=k >= pits) for k in range(self.holes)]
        piles = [boards.pile(n, theirs=k) for k, n in enumerate((s.mine, *s.others))]
        return [lid, *([boards.seat(k), pile] for k, pile in enumerate(piles))]

    def deed(self, s: Sticks, action: int) -> str:
        return self.action_names[action]

    def told(
        self, s: Sticks, action: int, then: int, after: Sticks, faces: Sequence[int] = ()
    ) -> str:
        if action == STOP:
            return "the die passes"
        if then == WIN:
            return "the last stick is gone"
        mine = after.mine if then == AGAIN else after.others[-1]
        passes = ", and the die passes" if then == PASS else ""
        others = spoken(s.others)
        if mine > s.mine:
            back = "a stick comes" if mine == s.mine + 1 else f"{mine - s.mine} sticks come"
            return f"the hole was full, {back} back; {mine} to {others}"
        came = "a stick goes into the lid"
        if after.lid == s.lid:
            came = f"a {'six' if self.holes == 6 else self.holes}, the stick is gone"
        return f"{came}{passes}; {mine} to {others}"

    @policy
    def throw_until_4(self, s: Sticks) -> int:
        """Throw until four sticks stand in the lid."""
        stop = s.lid >= 4 and s.forced == 0 and self.may_stop > NEVER
        return STOP if stop else THROW
