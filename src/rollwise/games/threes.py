"""Threes: take dice until none is left; threes count nothing, and the lowest sum is best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards, dice
from rollwise.game import (
    AGAIN,
    END,
    PASS,
    Game,
    parameter,
    policy,
    replaced,
    shared_by,
)
from rollwise.numbers.printed import how_many

ROLL, TAKE = range(2)  # TAKE + n takes the n lowest dice, and TAKE itself none
# More dice have more ways to fall than a weight can count (6 ** 24 > 2 ** 62).
MOST_DICE = 23
MOST_PLAYERS = 6
NOBODY = -1  # as the lowest points: no player has finished


class Hand(NamedTuple):
    to_roll: int  # dice about to be rolled; 0 while they lie on the table
    take_two: int  # 1 if at least two must be taken, since none was the last time
    threes: int  # dice on the table, by face; a three counts nothing
    ones: int
    twos: int
    fours: int
    fives: int
    sixes: int
    points: int = 0  # of several players: the mover's so far
    lowest: int = NOBODY  # of the finished players; NOBODY before the first has finished
    leads: tuple[int, ...] = ()  # 1 for each opponent with the lowest points, from the next on
    to_come: int = 0  # players whose turn is still to come


def on_table(s: Hand) -> int:
    """How many dice lie on the table."""
    return s.threes + s.ones + s.twos + s.fours + s.fives + s.sixes


def points_of_lowest(s: Hand, taken: int) -> int:
    """The points of so many of the lowest dice on the table."""
    left = max(taken - s.threes, 0)
    points = min(left, s.ones)
    left = max(left - s.ones, 0)
    points += 2 * min(left, s.twos)
    left = max(left - s.twos, 0)
    points += 4 * min(left, s.fours)
    left = max(left - s.fours, 0)
    points += 5 * min(left, s.fives)
    return points + 6 * max(left - s.fives, 0)


@dataclass(frozen=True)
class Threes(Game):
    """Roll, take at least one die, roll the rest again; threes count nothing.

    A player who takes none must take at least two of the next roll. The last die must be taken.
    The choice is only the number of dice: the lowest dice are always best.

    With several `players` each has one turn, and knows the points made so far. The player with
    the fewest points wins the pot; level players share it. A turn ends at once when it
    can't be won any more.
    """

    presets: ClassVar = {"short": {"dice": 3}}
    dice: int = parameter(5, at_least=1, at_most=MOST_DICE, about="dice to begin with")
    skip: bool = parameter(True, about="a roll may be refused, for two dice of the next")
    players: int = parameter(  # type: ignore[misc]
        1, at_least=1, at_most=MOST_PLAYERS, variant=True, about="players, who play for a pot"
    )
    action_names: ClassVar = {
        ROLL: "roll",
        TAKE: "take none",
        **{TAKE + taken: f"take {taken}" for taken in range(1, MOST_DICE + 1)},
    }

    @property
    def objective(self) -> str:  # type: ignore[override]
        """The fewest points, or the pot."""
        return "minimize" if self.players == 1 else "win"

    @property
    def column_names(self) -> Mapping[str, str]:  # type: ignore[override]
        """A single player's state has none of the fields for several players."""
        return dict.fromkeys(("points", "lowest", "to_come"), "") if self.players == 1 else {}

    @property
    def play_columns(self) -> Sequence[str]:  # type: ignore[override]
        """As one player writes down a play."""
        return ("rolled", "taken") if self.players == 1 else ()

    @property
    def face_points(self) -> Sequence[int]:  # type: ignore[override]
        """Taking the lowest dice is always best only for a single player."""
        return (0, 1, 2, 4, 5, 6) if self.players == 1 else ()

    def start(self) -> Hand:
        return self.turn(NOBODY, (0,) * (self.players - 1), self.players - 1)

    def turn(self, lowest: int, leads: tuple[int, ...], to_come: int) -> Hand:
        """A player's hand before the first roll."""
        return Hand(self.dice, 0, 0, 0, 0, 0, 0, 0, 0, lowest, leads, to_come)

    def actions(self, s: Hand) -> Iterator[int]:
        if s.to_roll > 0:
            yield ROLL
        else:
            here = on_table(s)
            if self.skip and s.take_two == 0 and here > 1:
                yield TAKE
            for taken in range(1 + s.take_two, here + 1):
                yield TAKE + taken

    def outcomes(self, s: Hand, action: int) -> Iterator[tuple[int, int, Hand]]:
        if action == ROLL:
            for ways, n in dice.counts(s.to_roll, 6):
                yield (
                    ways,
                    AGAIN,
                    Hand(0, s.take_two, n[3], n[1], n[2], n[4], n[5], n[6], s.points, s.lowest,
                         s.leads, s.to_come),
                )  # fmt: skip
        else:
            left = on_table(s) - (action - TAKE)
            points = s.points
            if self.players > 1:
                points += points_of_lowest(s, action - TAKE)
            lost = s.lowest != NOBODY and points > s.lowest
            if left > 0 and not lost:
                two = 1 if action == TAKE else 0
                yield (
                    1,
                    AGAIN,
                    Hand(left, two, 0, 0, 0, 0, 0, 0, points, s.lowest, s.leads, s.to_come),
                )
            elif self.players == 1:
                yield 1, END, s
            else:
                leads, mine = s.leads, 0 if lost else 1
                if mine == 1 and points != s.lowest:
                    for k in range(self.players - 1):
                        leads = replaced(leads, k, 0)
                if s.to_come == 0:
                    yield 1, shared_by((mine, *leads)), s
                else:
                    lowest = s.lowest if lost else points
                    leads = (*leads, mine)[1:]
                    yield 1, PASS, self.turn(lowest, leads, s.to_come - 1)

    def reward(self, s: Hand, action: int) -> float:
        if action == ROLL or self.players > 1:
            return 0.0
        return float(points_of_lowest(s, action - TAKE))

    def describe(self, s: Hand) -> str:
        must = ", at least two of which must be taken" if s.take_two else ""
        hand = f"{' '.join(map(str, _shown(s)))} on the table{must}"
        if s.to_roll > 0:
            hand = f"{how_many(s.to_roll, 'die', 'dice')} to roll{must}"
        if self.players == 1:
            return hand
        lowest = "" if s.lowest == NOBODY else f", the lowest is {s.lowest}"
        return f"{hand}; {s.points} so far{lowest}"

    def cells(self, s: Hand) -> boards.Board:
        hand = _shown(s) if s.to_roll == 0 else [0] * s.to_roll
        taken = [boards.die(kept=True)] * (self.dice - len(hand))
        return [[*map(boards.die, hand), *taken]]

    def deed(self, s: Hand, action: int) -> str:
        if action == ROLL:
            return "roll {}"
        taken = _shown(s)[: action - TAKE]
        return f"take {dice.spoken(taken) if taken else 'none'}"

    def told(self, s: Hand, action: int, then: int, after: Hand, faces: Sequence[int] = ()) -> str:
        if action == ROLL:
            return "" if faces else self.describe(after)
        if action == TAKE:
            return "at least two of the next roll"
        points = s.points + points_of_lowest(s, action - TAKE)
        if self.players > 1:
            return f"{points} in all"
        return f"{points} point{'' if points == 1 else 's'}"

    def throw(self, s: Hand, action: int) -> tuple[int, ...]:
        return (6,) * s.to_roll if action == ROLL else ()

    def fallen(self, s: Hand, action: int, faces: Sequence[int]) -> int:
        return dice.place_in_counts(faces, 6)

    @policy
    def take_one(self, s: Hand) -> int:
        """Take the lowest die of every roll: never refuse one, never take more."""
        return ROLL if s.to_roll > 0 else TAKE + 1 + s.take_two

    def read_play(self, rows: Sequence[Mapping[str, str]]) -> list[tuple[Hand, int]]:
        """Read a play written as the rolled and the taken faces: ``4 3 5 3 1``, ``3 3``.

        Raises
        ------
        ValueError
            With the number of the row, from 0, and its fault.
        """
        moves = []
        take_two = 0
        for number, row in enumerate(rows):
            rolled, taken = _faces(number, row["rolled"]), _faces(number, row["taken"])
            lowest = sorted(rolled, key=_points)[: len(taken)]
            if sorted(lowest) != sorted(taken):
                raise ValueError(
                    number,
                    f"{row['taken']} aren't the {len(taken)} lowest dice of {row['rolled']}, and "
                    "others are never better",
                )
            n = [rolled.count(face) for face in range(7)]
            moves.append((Hand(0, take_two, n[3], n[1], n[2], n[4], n[5], n[6]), TAKE + len(taken)))
            take_two = 0 if taken else 1
        return moves


def _shown(s: Hand) -> list[int]:
    """The faces on the table, those with the fewest points first."""
    shown = [3] * s.threes + [1] * s.ones + [2] * s.twos
    return shown + [4] * s.fours + [5] * s.fives + [6] * s.sixes


def _points(face: int) -> int:
    return 0 if face == 3 else face


def _faces(number: int, text: str) -> list[int]:
    faces = [int(word) if word.isdecimal() else 0 for word in text.replace("-", " ").split()]
    if any(not 1 <= face <= 6 for face in faces):
        raise ValueError(number, f"{text!r} isn't a list of dice such as 4 3 5 3 1")
    return faces
