"""The Royal Game of Ur: a race of four and a half thousand years."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import bits, boards
from rollwise.game import AGAIN, PASS, WIN, parameter, policy
from rollwise.games.ludo import Pieces

ENTER, MOST_SQUARES = 0, 16  # a waiting piece stands on square 0, before the first one
SIT_OUT = MOST_SQUARES + 1  # no move is possible
FINKEL = 1 << 4 | 1 << 8 | 1 << 14  # rosettes, as a set
ROUND = 1 << 4 | 1 << 8 | 1 << 12 | 1 << 16
# Of 16 throws, how many come to 0, 1, 2, 3 and 4.
WEIGHTS = {"finkel": (1, 4, 6, 4, 1), "blitz": (1, 4, 6, 4, 1), "masters": (0, 6, 6, 2, 2)}


class Race(NamedTuple):
    mine: int  # squares of the path that the mover holds, as a set
    theirs: int  # squares that the other player holds, of a path of their own
    home: int  # the mover's pieces that have left the board
    rival: int  # the other player's


def meets(finkel: bool, square: int) -> int:
    """The opponent's number of a square on the mover's path; 0 for an unshared square."""
    if square < 5 or square > (12 if finkel else 16):
        return 0
    return square if finkel or square < 12 else 28 - square


def place(finkel: bool, square: int) -> tuple[int, int]:
    """Row and column of a square: row 0 is the player's own, 2 the other player's."""
    if square <= 4:
        return 0, 4 - square
    if square <= (12 if finkel else 11):
        return 1, square - 5
    if finkel:
        return 0, 20 - square
    return ((0, 6), (0, 7), (1, 7), (2, 7), (2, 6))[square - 12]


@dataclass(frozen=True)
class RoyalUr(Pieces):
    """Throw binary dice, then move a piece; the first whose pieces have all left the board wins.

    The path has 14 squares (Finkel), of which 5 to 12 are shared, or it goes round the far end
    and has 16 (Blitz and Masters), of which 5 to 16 are shared, and the opponent's comes
    round from 16 to 12. A player who can move must. A piece doesn't go to a square with another
    piece of its own side, and it leaves the board by an exact throw. A piece of the opponent
    in a shared square is sent back to the start. A rosette (4, 8, 14; or 4, 8, 12, 16) gives
    another throw. With Finkel's rules a piece on square 8 is safe; with Blitz a capture gives
    another throw too.
    Masters throws three dice, and none marked counts as 4; else there are four dice.
    """

    heading: ClassVar = "The Royal Game of Ur"
    presets: ClassVar = {"short": {"pieces": 1}, "three pieces": {"pieces": 3}}
    pieces: int = parameter(2, at_least=1, at_most=7, about="pieces of each player")
    path: str = parameter("finkel", among=("finkel", "blitz", "masters"), about="whose rules")
    action_names: ClassVar = {
        ENTER: "enter",
        **{k: f"move from {k}" for k in range(1, MOST_SQUARES + 1)},
        SIT_OUT: "sit out",
    }

    def start(self) -> Race:
        return Race(0, 0, 0, 0)

    def throws(self, s: Race) -> Iterator[tuple[int, int]]:
        if self.path == "masters":
            yield 3, 1
            yield 3, 2
            yield 1, 3
            yield 1, 4
        else:
            yield 1, 0
            yield 4, 1
            yield 6, 2
            yield 4, 3
            yield 1, 4

    def actions(self, s: Race, throw: int) -> Iterator[int]:
        finkel = self.path == "finkel"
        last = 14 if finkel else 16
        can_move = False
        if throw > 0:
            for k in range(last + 1):
                ready = bits.has(s.mine, k)
                if k == ENTER:
                    ready = bits.size(s.mine) + s.home < self.pieces
                to = k + throw
                safe = finkel and to == 8 and bits.has(s.theirs, 8)
                if ready and to <= last + 1 and not bits.has(s.mine, to) and not safe:
                    can_move = True
                    yield k
        if not can_move:
            yield SIT_OUT

    def outcomes(self, s: Race, throw: int, k: int) -> Iterator[tuple[int, int, Race]]:
        finkel = self.path == "finkel"
        to = k + throw
        mine = s.mine if k == ENTER else bits.without(s.mine, k)
        if k == SIT_OUT:
            yield 1, PASS, Race(s.theirs, s.mine, s.rival, s.home)
        elif to == (15 if finkel else 17):
            if s.home + 1 == self.pieces:
                yield 1, WIN, Race(mine, s.theirs, s.home + 1, s.rival)
            else:
                yield 1, PASS, Race(s.theirs, mine, s.rival, s.home + 1)
        else:
            mine = bits.with_member(mine, to)
            met = meets(finkel, to)
            captured = met > 0 and bits.has(s.theirs, met)
            theirs = bits.without(s.theirs, met) if captured else s.theirs
            rosette = bits.has(FINKEL if finkel else ROUND, to)
            if rosette or (captured and self.path == "blitz"):
                yield 1, AGAIN, Race(mine, theirs, s.home, s.rival)
            else:
                yield 1, PASS, Race(theirs, mine, s.rival, s.home)

    def cells(self, s: Race) -> boards.Board:
        finkel = self.path == "finkel"
        rows = [[boards.label()] * 8 for _ in range(3)]
        for k in range(1, (14 if finkel else 16) + 1):
            row, column = place(finkel, k)
            met = meets(finkel, k)
            marked = bits.has(FINKEL if finkel else ROUND, k)
            theirs = met > 0 and bits.has(s.theirs, met)
            rows[2 - row][column] = boards.square(bits.has(s.mine, k), theirs, marked=marked)
            if met == 0:
                rows[row][column] = boards.square(0, bits.has(s.theirs, k), marked=marked)
        return rows

    def throw_cells(self, throw: int) -> list[boards.Cell]:
        dice = 3 if self.path == "masters" else 4
        return [boards.tip(k < throw % (dice + 1)) for k in range(dice)]

    def throw_text(self, s: Race, throw: int) -> str:
        return f"{throw} {boards.text_board([self.throw_cells(throw)]).replace(' ', '')}"

    def deed(self, s: Race, throw: int, k: int) -> str:
        if k == SIT_OUT:
            return "sit out"
        if k + throw > (14 if self.path == "finkel" else 16):
            return f"take a piece home from {k}"
        return f"enter on {throw}" if k == ENTER else f"move from {k} to {k + throw}"

    def features(self, s: Race, throw: int) -> dict[str, int]:
        mine, theirs = tuple(bits.members(s.mine)), tuple(bits.members(s.theirs))
        last = 15 if self.path == "finkel" else 17
        return {
            "waiting": self.pieces - s.home - len(mine),  # pieces to come
            "their_waiting": self.pieces - s.rival - len(theirs),
            # steps that the pieces have gone, more than the other player's
            "ahead": sum(mine) - sum(theirs) + last * (s.home - s.rival),
        }

    def action_features(self, s: Race, throw: int, k: int) -> dict[str, int]:
        finkel = self.path == "finkel"
        to = k + throw
        met = 0 if k == SIT_OUT or to > MOST_SQUARES else meets(finkel, to)
        stands = 0 if k == SIT_OUT else meets(finkel, k)
        captures = met > 0 and bits.has(s.theirs, met)
        theirs = bits.without(s.theirs, met) if captures else s.theirs
        waits = self.pieces - s.rival - bits.size(theirs) > 0
        return {
            "captures": int(captures),
            "sends_back": met if captures else 0,  # by how many steps
            "shared": int(met > 0),  # whether it goes to a square where it can be captured
            "leaves": int(stands > 0 and met == 0),  # such a square
            "home": int(to > (14 if finkel else 16)),
            "enters": int(k == ENTER),
            "to_eight": int(k != SIT_OUT and to == 8),  # the rosette in the middle
            "from_eight": int(k == 8),
            # in how many of 16 throws the other player hits the piece: where it goes, where it is
            "danger": self._hits(met, theirs, waits),
            "escapes": self._hits(stands, s.theirs, self.pieces - s.rival > bits.size(s.theirs)),
            "aims": self._aims(0 if k == SIT_OUT else to, theirs),  # how many throws hit from there
            "gives_up": 0 if k == SIT_OUT else self._aims(k, s.theirs),  # from where it is
        }

    def _hits(self, met: int, theirs: int, waits: bool) -> int:
        """In how many of 16 throws an opponent's piece reaches a shared square of theirs."""
        if met == 0 or (met == 8 and self.path == "finkel"):
            return 0
        pieces = theirs | 1 if waits else theirs  # a waiting piece stands on square 0
        weights = WEIGHTS[self.path]
        return sum(weights[d] for d in range(1, min(met, 4) + 1) if pieces >> (met - d) & 1)

    def _aims(self, square: int, theirs: int) -> int:
        """In how many of 16 throws a piece on a square captures one."""
        finkel = self.path == "finkel"
        capturing = 0
        for distance, weight in enumerate(WEIGHTS[self.path]):
            met = meets(finkel, square + distance)
            if met and theirs >> met & 1 and not (finkel and met == 8):
                capturing += weight
        return capturing

    @policy
    def capture_or_run(self, s: Race, throw: int) -> int:
        """Capture if you can; else take another throw; else move the piece in front."""
        best, most = SIT_OUT, -1
        for k in self.actions(s, throw):
            worth = 0 if k == SIT_OUT else k
            for _, then, after in self.outcomes(s, throw, k):
                theirs = after.mine if then == PASS else after.theirs
                worth += 100 if bits.size(theirs) < bits.size(s.theirs) else 0
                worth += 50 if then == AGAIN else 0
            if worth > most:
                best, most = k, worth
        return best
