"""A small Ludo for two: bring your pieces round the track, and send the other's back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import bits, boards, dice
from rollwise.errors import ParameterError
from rollwise.game import AGAIN, PASS, WIN, Game, parameter, policy

MOST_TRACK = 28
ENTER, SIT_OUT = 0, MOST_TRACK + 1  # all other moves: the square of the piece that moves


class Race(NamedTuple):
    mine: int  # the mover's squares with a piece, as a set: 1 is where they enter
    theirs: int  # the other player's, as they count them
    home: int  # the mover's pieces that have been round the track
    rival: int  # the other player's


def across(square: int, track: int) -> int:
    """A square in the count of the opponent, whose entry is half the track away."""
    return (square - 1 + track // 2) % track + 1


class Pieces(Game):
    """How far a race of pieces is, and the words for them.

    A game adds a state with the fields of `Race`, and the parameter `pieces`.
    """

    pieces: int

    def progress(self, s: Race) -> int:
        return s.home + s.rival

    def describe(self, s: Race) -> str:
        return f"{self._pieces(s.mine, s.home)}; the opponent: {self._pieces(s.theirs, s.rival)}"

    def field_text(self, name: str, number: int) -> str:
        if name not in ("mine", "theirs"):
            return ""
        return " ".join(map(str, bits.members(number))) or "none"

    def _pieces(self, held: int, home: int) -> str:
        squares = " ".join(map(str, bits.members(held)))
        waiting = self.pieces - bits.size(held) - home
        where = [squares and f"on {squares}", waiting and f"{waiting} to come"]
        return ", ".join(part for part in (*where, home and f"{home} home") if part)

    def told(self, s: Race, throw: int, k: int, then: int, after: Race) -> str:
        if then == WIN:
            return "all are home"
        lost = bits.size(after.mine if then == PASS else after.theirs) < bits.size(s.theirs)
        again = "another throw" if then == AGAIN else ""
        return "; ".join(part for part in ("a capture" if lost else "", again) if part)


@dataclass(frozen=True)
class Ludo(Pieces):
    """Throw a die and move a piece; with a 6 one enters, and throws again. All home wins.

    Each player enters on a square of their own, half the track away from the other's, and goes
    round the whole track; from its last square a piece goes home. A player's pieces never share
    a square. A piece that lands on a piece of the opponent sends it back to the
    start. The highest face lets a piece enter, and a move with it gives another throw. A player
    who can move must move. With `exact` a piece needs the exact throw to go home, otherwise any
    sufficient throw.
    """

    presets: ClassVar = {"short": {"pieces": 1}}
    pieces: int = parameter(2, at_least=1, at_most=4, about="pieces of each player")
    track: int = parameter(8, at_least=2, at_most=MOST_TRACK, about="squares of the track, even")
    sides: int = parameter(6, at_least=2, at_most=20, about="sides of the die")
    exact: bool = parameter(False, about="an exact throw to go home")
    action_names: ClassVar = {
        ENTER: "enter",
        **{k: f"move from {k}" for k in range(1, MOST_TRACK + 1)},
        SIT_OUT: "sit out",
    }

    def validate(self) -> None:
        super().validate()
        if self.track % 2 == 1:
            raise ParameterError(f"{self.name}: track must be even, not {self.track}")

    def start(self) -> Race:
        return Race(0, 0, 0, 0)

    def throws(self, s: Race) -> Iterator[tuple[int, int]]:
        yield from dice.one(self.sides)

    def actions(self, s: Race, throw: int) -> Iterator[int]:
        can_move = False
        waits = bits.size(s.mine) + s.home < self.pieces
        if throw == self.sides and waits and not bits.has(s.mine, 1):
            can_move = True
            yield ENTER
        for k in range(1, self.track + 1):
            to = k + throw
            if bits.has(s.mine, k):
                if to <= self.track:
                    free = not bits.has(s.mine, to)
                else:
                    free = to == self.track + 1 or not self.exact
                if free:
                    can_move = True
                    yield k
        if not can_move:
            yield SIT_OUT

    def outcomes(self, s: Race, throw: int, k: int) -> Iterator[tuple[int, int, Race]]:
        if k == SIT_OUT:
            yield 1, PASS, Race(s.theirs, s.mine, s.rival, s.home)
        else:
            to = 1 if k == ENTER else k + throw
            mine = s.mine if k == ENTER else bits.without(s.mine, k)
            theirs, home = s.theirs, s.home
            if to > self.track:
                home += 1
            else:
                mine = bits.with_member(mine, to)
                theirs = bits.without(theirs, across(to, self.track))
            if home == self.pieces:
                yield 1, WIN, Race(mine, theirs, home, s.rival)
            elif throw == self.sides:
                yield 1, AGAIN, Race(mine, theirs, home, s.rival)
            else:
                yield 1, PASS, Race(theirs, mine, s.rival, home)

    def cells(self, s: Race) -> boards.Board:
        """The track from left to right: the lower row, where the mover enters, then the upper.

        The squares of entry are marked.
        """
        half = self.track // 2
        squares = [
            boards.square(
                bits.has(s.mine, k),
                bits.has(s.theirs, across(k, self.track)),
                marked=k in (1, half + 1),
            )
            for k in range(1, self.track + 1)
        ]
        return [squares[half:], squares[:half]]

    def throw_cells(self, throw: int) -> list[boards.Cell]:
        return [boards.die(throw, sides=self.sides)]

    def deed(self, s: Race, throw: int, k: int) -> str:
        if k in (ENTER, SIT_OUT):
            return "enter" if k == ENTER else "sit out"
        to = k + throw
        return f"move from {k} to {to}" if to <= self.track else f"take a piece home from {k}"

    @policy
    def capture_or_run(self, s: Race, throw: int) -> int:
        """Capture if you can, else enter, else move the piece in front."""
        best, most = SIT_OUT, -1
        for k in self.actions(s, throw):
            to = 1 if k == ENTER else k + throw
            meets = to <= self.track and bits.has(s.theirs, across(to, self.track))
            worth = 2 * MOST_TRACK if meets else MOST_TRACK if k == ENTER else k
            if k != SIT_OUT and worth > most:
                best, most = k, worth
        return best
