"""Farkle: set scoring dice aside, and stop or throw the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise import boards, dice
from rollwise.game import AGAIN, END, LOSE, PASS, WIN, Game, parameter, policy

DICE = 6
ROW = 3  # farkles that cost a penalty
FARKLE, STOP = 0, 1  # all other moves set dice aside, by their code, and throw the rest
ACTIONS = {FARKLE: "farkle", STOP: "stop"}
SCORING = ("standard", "facebook", "patch", "zilch")

Throw = tuple[int, int, int, int, int, int]  # the faces, in order; 0 for a die not thrown
Array = NDArray[np.int64]


def of_a_kind(scoring: str, face: int, n: int) -> int:
    """The score of n dice of a face; 0 if some of them don't score."""
    single = {1: 100, 5: 50}.get(face, 0)
    triple = 100 * face if face > 1 else 300 if scoring == "patch" else 1000
    if n < 3:
        return n * single
    if n > 3 and scoring == "facebook":
        return triple * (n - 2)
    if n > 3 and scoring == "patch":
        return 1000 * (n - 3)
    if scoring == "zilch":
        return int(triple * 2 ** (n - 3))
    if n == 6:
        return 2 * triple
    return triple + (n - 3) * single if single or n == 3 else 0


def worth(scoring: str, shown: Sequence[int]) -> int:
    """The score of dice together, given the number of each face; 0 if some of them don't score."""
    parts = [of_a_kind(scoring, face, n) for face, n in enumerate(shown, 1) if n]
    often = tuple(sorted(n for n in shown if n))
    six = {
        "standard": {},
        "facebook": {(1,) * 6: 1500, (2, 2, 2): 750},
        "patch": {(1,) * 6: 1500, (2, 2, 2): 1500, (2, 4): 1500, (3, 3): 2500},
        "zilch": {(1,) * 6: 1500, (2, 2, 2): 1500, (2, 4): 1500},
    }[scoring]
    nothing = 500 if scoring == "zilch" and sum(shown) == DICE and not any(parts) else 0
    return max(sum(parts) if all(parts) else 0, six.get(often, nothing))


BEFORE = np.array([sum(comb(k + 5, k) for k in range(1, n)) for n in range(DICE + 2)])
CHOOSE = np.array([[comb(n, k) for k in range(DICE + 1)] for n in range(2 * DICE)])


def row(throw: Throw | Sequence[int]) -> int:
    """The index of a throw among all throws of one to six dice."""
    n, rank = 0, 0
    # the rank of an ascending throw among those of n dice (combinatorial numbers); 0 is no die
    for face in throw:
        if face > 0:
            n += 1
            rank += int(CHOOSE[face + n - 2, n])
    return int(BEFORE[n]) + rank


class Moves(NamedTuple):
    """The moves of each throw: entries `first[row]` to `first[row + 1]`."""

    ways: Array  # in which each throw falls
    faces: Array
    best: Array  # the most that it scores: 0 for a farkle
    first: Array
    move: Array
    points: Array
    dice: Array  # set aside


@cache
def all_moves(scoring: str, loaded: int, weight: int) -> Moves:
    """The moves of each throw: of those with the same points and number of dice, one.

    The face `loaded` has this weight, and the other faces 1.
    """
    throws = {}
    for n in range(1, DICE + 1):
        for ways, shown in dice.counts(n, 6):
            faces = np.repeat(np.arange(7), shown).tolist() + [0] * (DICE - n)
            scoring_moves: dict[tuple[int, int], int] = {}
            for aside in dice.parts(shown):
                points = worth(scoring, aside[1:].tolist())
                if points:
                    move = 2 * dice.code(aside)
                    # of moves with the same points and dice left any one will do
                    scoring_moves.setdefault((points, int(aside.sum())), move)
            ways *= weight ** int(shown[loaded])  # there is no face 0
            throws[row(faces)] = ways, faces, scoring_moves
    order = [throws[k] for k in range(len(throws))]
    moves = [(move, *result) for _, _, by_result in order for result, move in by_result.items()]
    return Moves(
        np.array([ways for ways, _, _ in order]),
        np.array([faces for _, faces, _ in order]),
        np.array([max((points for points, _ in results), default=0) for _, _, results in order]),
        np.cumsum([0] + [len(results) for _, _, results in order]),
        *np.array(moves).T.copy(),
    )


class Thrown(Game):
    """The throws of a position, the moves of a scoring as the rules read them, and their words."""

    scoring: str
    loaded: int
    weight: int
    action_names: ClassVar = ACTIONS
    ways: Array
    faces: Array
    best: Array
    first: Array
    move: Array
    points: Array
    dice: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, array in all_moves(self.scoring, self.loaded, self.weight)._asdict().items():
            object.__setattr__(self, name, array)

    def throws(self, s: Turn | Dice | Hand) -> Iterator[tuple[int, Throw]]:
        for k in range(BEFORE[s.dice], BEFORE[s.dice + 1]):
            a, b, c, d, e, f = self.faces[k]
            yield self.ways[k], (a, b, c, d, e, f)

    def action_text(self, s: Turn | Dice | Hand, throw: Throw, action: int) -> str:
        shown = (str(face) for face in range(1, 7) for _ in range(dice.of_code(action // 2, face)))
        return f"set aside {' '.join(shown)}"

    def throw_text(self, s: Turn | Dice | Hand, throw: Throw) -> str:
        return " ".join(str(face) for face in throw if face)

    def deed(self, s: Turn | Dice | Hand, throw: Throw, action: int) -> str:
        return ACTIONS.get(action) or self.action_text(s, throw, action)

    @policy
    def stop_at_300(self, s: Turn | Dice | Hand, throw: Throw) -> int:
        """Set aside all scoring dice; stop with 300 points, or with one or two dice left."""
        first, n = -1, 0
        for action in self.actions(s, throw):
            first = action if n == 0 else first
            n += 1
        if n == 1 and first in ACTIONS:
            return first
        k = row(throw)
        most, best = (-1, 0), 0
        for index in range(self.first[k], self.first[k + 1]):
            if (self.points[index], s.dice - self.dice[index]) >= most:
                most, best = (self.points[index], s.dice - self.dice[index]), index
        stops = s.turn + most[0] >= 300 or 0 < most[1] < 3
        return STOP if first == STOP and stops else int(self.move[best])


def dice_text(n: int) -> str:
    """So many dice."""
    return "one die" if n == 1 else f"{n} dice"


class Turn(NamedTuple):
    banked: int  # the mover's points in the bank
    rival: int  # the other player's
    farkles: int  # with a penalty: of the mover's last turns, in a row; 0 in the last turn
    rival_farkles: int  # the other player's
    turn: int  # points at risk this turn
    dice: int  # to throw


Outcomes = Iterator[tuple[int, int, Turn]]


@dataclass(frozen=True)
class Farkle(Thrown):
    """Throw six dice, set aside some that score, and stop or throw the rest.

    Set aside at least one die, and only scoring dice. Dice score together only if they fall in
    one throw. After all six are set aside, go on with six. A player who stops banks
    the points of the turn and of all scoring dice of the throw. A throw without scoring dice is a
    farkle: the points of the turn are lost. Points that reach the target win at once. With
    `last_lick` they must be banked, and then the other player has one turn to get more; a turn
    that can be worth the target by itself must be banked, so that every play ends. In that last
    turn both banks are reduced by the opponent's surplus over the target.

    A turn can't be banked below `least` points, nor below `entry` by a player without points in
    the bank. With a `penalty`, the third farkle in a row costs a player that many points from the
    bank, and the count of farkles begins anew.

    In each scoring a 1 is 100, a 5 is 50, and three of a kind are 100 times their face.
    "standard": three 1s are 1,000. "facebook": three 1s are 1,000; four, five and six of a kind
    are twice, three and four times the score of three; a straight of six is 1,500, three pairs of
    different faces 750. "patch" (Patch Products): three 1s are 300; four, five and six of a kind
    are 1,000, 2,000 and 3,000; a straight, three pairs, or four of a kind and a pair are 1,500,
    and two triples 2,500. "zilch": three 1s are 1,000; each further die of a kind doubles the
    score; a straight, three pairs, or four of a kind and a pair are 1,500, and six dice without
    any score 500.

    Busche (2016) gives 53.487 % to the first of two players to 10,000, with a penalty and no bank
    below -2,500. That game has 407,988,000 positions, too many to compare his figure.
    """

    presets: ClassVar = {"short": {"target": 400}}
    target: int = parameter(800, at_least=1, at_most=30_000, about="points that win")
    scoring: str = parameter("facebook", among=SCORING, about="what dice score")
    entry: int = parameter(0, at_least=0, at_most=30_000, about="points to begin with")
    least: int = parameter(0, at_least=0, at_most=30_000, about="points of any turn")
    last_lick: bool = parameter(False, about="the opponent has a last turn")
    penalty: int = parameter(
        0, at_least=0, at_most=30_000, variant=True, about="points lost by a third farkle in a row"
    )
    lowest: int = parameter(
        0, at_least=-30_000, at_most=0, variant=True, about="points below which no penalty goes"
    )
    loaded: int = parameter(
        0, at_least=0, at_most=6, variant=True, about="face of loaded dice; 0: fair dice"
    )
    weight: int = parameter(
        2, at_least=1, at_most=100, variant=True, about="weight of the loaded face; others have 1"
    )

    @property
    def column_names(self) -> Mapping[str, str]:  # type: ignore[override]
        """Farkles in a row count only where they cost a penalty."""
        return {} if self.penalty else {"farkles": "", "rival_farkles": ""}

    def start(self) -> Turn:
        return Turn(0, 0, 0, 0, 0, DICE)

    def must_stop(self, s: Turn, turn: int) -> bool:
        """Whether a turn of so many points ends the game, or can't be longer."""
        if s.rival >= self.target:
            return s.banked + turn > s.rival
        return turn >= self.target if self.last_lick else s.banked + turn >= self.target

    def may_stop(self, s: Turn, turn: int) -> bool:
        """Whether a turn of so many points can be banked."""
        needed = max(self.least, self.entry if s.banked <= 0 else 0)
        return s.rival < self.target and turn >= needed

    def actions(self, s: Turn, throw: Throw) -> Iterator[int]:
        k = row(throw)
        turn = s.turn + self.best[k]
        if turn == s.turn:
            yield FARKLE
        elif self.must_stop(s, turn):
            yield STOP
        else:
            if self.may_stop(s, turn):
                yield STOP
            for index in range(self.first[k], self.first[k + 1]):
                yield self.move[index]

    def outcomes(self, s: Turn, throw: Throw, action: int) -> Outcomes:
        k = row(throw)
        last = s.rival >= self.target
        if action == FARKLE and last:
            yield 1, LOSE, s
        elif action == FARKLE:
            kept, farkles = s.banked, 0
            if self.penalty > 0:
                farkles = (s.farkles + 1) % ROW
                if farkles == 0:
                    kept = max(s.banked - self.penalty, self.lowest)
            yield 1, PASS, Turn(s.rival, kept, s.rival_farkles, farkles, 0, DICE)
        elif action == STOP:
            banked = s.banked + s.turn + self.best[k]
            if banked < self.target:
                yield 1, PASS, Turn(s.rival, banked, s.rival_farkles, 0, 0, DICE)
            elif last or not self.last_lick:
                yield 1, WIN, Turn(banked, s.rival, s.farkles, s.rival_farkles, 0, DICE)
            else:
                # only the difference counts from here on, so equal ones are one position
                behind = banked - s.rival
                yield 1, PASS, Turn(self.target - behind, self.target, 0, 0, 0, DICE)
        else:
            j = self.first[k]
            while self.move[j] != action:
                j += 1
            points = self.points[j]
            left = s.dice - self.dice[j]
            left = left if left > 0 else DICE
            own, other = s.farkles, s.rival_farkles
            # in the last turn a farkle loses the game, so points count at once
            if last:
                yield 1, AGAIN, Turn(s.banked + points, s.rival, 0, 0, 0, left)
            else:
                yield 1, AGAIN, Turn(s.banked, s.rival, own, other, s.turn + points, left)

    def progress(self, s: Turn) -> int:
        if self.penalty:  # banks fall
            return 1 if s.rival >= self.target else 0
        return 2 * self.target if s.rival >= self.target else s.banked + s.rival

    def describe(self, s: Turn) -> str:
        if s.rival >= self.target:
            needed = f"more than {s.rival - s.banked} points win"
            return f"in the last turn {needed}; {dice_text(s.dice)} to throw"
        risk = f" and {s.turn} at risk" if s.turn else ""
        bank = f"{s.banked} in the bank{risk}"
        text = f"{bank}; {dice_text(s.dice)} to throw; the opponent has {s.rival}"
        if s.farkles or s.rival_farkles:
            text += f"; farkles in a row: {s.farkles}, the other {s.rival_farkles}"
        return text

    def cells(self, s: Turn) -> boards.Board:
        return [
            [boards.seat(), boards.bar(max(s.banked, 0), s.turn, of=self.target)],
            [boards.seat(1), boards.bar(max(s.rival, 0), of=self.target, theirs=True)],
            [boards.die(kept=k >= s.dice) for k in range(DICE)],
        ]

    def told(self, s: Turn, throw: Throw, action: int, then: int, after: Turn) -> str:
        if then == LOSE or (then == WIN and s.rival >= self.target):
            return ""
        if then == AGAIN and after.rival >= self.target:
            return self.describe(after)
        if then == AGAIN:
            return f"{after.turn} at risk, {dice_text(after.dice)} to throw"
        if action == STOP:
            return f"{s.banked + s.turn + self.best[row(throw)]} to {s.rival}"
        lost = f"{s.turn} points are lost; " if s.turn else ""
        if after.rival < s.banked:
            lost = f"the third farkle costs {s.banked - after.rival} points; {lost}"
        return f"{lost}{after.rival} to {s.rival}"


class Limited(Thrown):
    """Turns that may stop from `least` points on, and must with `most`."""

    least: int
    most: int

    def actions(self, s: Dice | Hand, throw: Throw) -> Iterator[int]:
        k = row(throw)
        turn = s.turn + self.best[k]
        if turn == s.turn:
            yield FARKLE
        else:
            if turn >= min(self.least, self.most):
                yield STOP
            if turn < self.most:
                for index in range(self.first[k], self.first[k + 1]):
                    yield self.move[index]


class Dice(NamedTuple):
    turn: int  # points so far
    dice: int  # to throw


@dataclass(frozen=True)
class FarkleTurn(Limited):
    """One turn of Farkle, for the most points.

    The rules of a turn and the scorings are those of Farkle. A player who can
    stop with `most` points must. This limits the number of positions; without it the
    score is a little higher.
    """

    scoring: str = parameter("facebook", among=SCORING, about="what dice score")
    least: int = parameter(0, at_least=0, at_most=30_000, about="points to stop with")
    most: int = parameter(10_000, at_least=1, at_most=30_000, about="points that must stop")
    loaded: int = parameter(
        0, at_least=0, at_most=6, variant=True, about="face of loaded dice; 0: fair dice"
    )
    weight: int = parameter(
        2, at_least=1, at_most=100, variant=True, about="weight of the loaded face; others have 1"
    )
    players: ClassVar = 1
    objective: ClassVar = "maximize"

    def start(self) -> Dice:
        return Dice(0, DICE)

    def reward(self, s: Dice, throw: Throw, action: int) -> float:
        return float(s.turn + self.best[row(throw)]) if action == STOP else 0.0

    def outcomes(self, s: Dice, throw: Throw, action: int) -> Iterator[tuple[int, int, Dice]]:
        if action in (FARKLE, STOP):
            yield 1, END, s
        else:
            j = self.first[row(throw)]
            while self.move[j] != action:
                j += 1
            left = s.dice - self.dice[j]
            yield 1, AGAIN, Dice(s.turn + self.points[j], left if left > 0 else DICE)

    def progress(self, s: Dice) -> int:
        return s.turn

    def describe(self, s: Dice) -> str:
        return f"{s.turn} points so far; {dice_text(s.dice)} to throw"

    def cells(self, s: Dice) -> boards.Board:
        return [[boards.die(kept=k >= s.dice) for k in range(DICE)]]

    def told(self, s: Dice, throw: Throw, action: int, then: int, after: Dice) -> str:
        if then == AGAIN:
            return self.describe(after)
        if action == FARKLE:
            return f"{s.turn} points are lost" if s.turn else ""
        return f"{s.turn + self.best[row(throw)]} points"


class Hand(NamedTuple):
    zilches: int  # turns in a row without points
    turn: int  # points so far
    dice: int  # to throw


@dataclass(frozen=True)
class Zilch(Limited):
    """Turn after turn of Farkle without an end, for the most points a turn.

    The rules of a turn are those of Farkle, with the scoring "zilch". A turn can't be banked below
    `least` points. A third turn in a row without points costs `penalty` points, and the count
    begins anew. A player who can stop with `most` points must: this limits the number of
    positions.
    """

    presets: ClassVar = {"short": {"most": 1000}, "classic": {"most": 20_000}}
    scoring: str = parameter("zilch", among=SCORING, about="what dice score")
    least: int = parameter(300, at_least=0, at_most=30_000, about="points to stop with")
    penalty: int = parameter(
        500, at_least=0, at_most=30_000, about="points lost by a third turn without points"
    )
    most: int = parameter(10_000, at_least=1, at_most=30_000, about="points that must stop")
    loaded: int = parameter(
        0, at_least=0, at_most=6, variant=True, about="face of loaded dice; 0: fair dice"
    )
    weight: int = parameter(
        2, at_least=1, at_most=100, variant=True, about="weight of the loaded face; others have 1"
    )
    players: ClassVar = 1
    objective: ClassVar = "average"

    def start(self) -> Hand:
        return Hand(0, 0, DICE)

    def reward(self, s: Hand, throw: Throw, action: int) -> float:
        if action == FARKLE:
            return float(-self.penalty if s.zilches == ROW - 1 else 0)
        return float(s.turn + self.best[row(throw)]) if action == STOP else 0.0

    def duration(self, s: Hand, throw: Throw, action: int) -> float:
        return 1.0 if action in (FARKLE, STOP) else 0.0

    def outcomes(self, s: Hand, throw: Throw, action: int) -> Iterator[tuple[int, int, Hand]]:
        if action == FARKLE:
            yield 1, AGAIN, Hand((s.zilches + 1) % ROW, 0, DICE)
        elif action == STOP:
            yield 1, AGAIN, Hand(0, 0, DICE)
        else:
            j = self.first[row(throw)]
            while self.move[j] != action:
                j += 1
            left = s.dice - self.dice[j]
            yield 1, AGAIN, Hand(s.zilches, s.turn + self.points[j], left if left > 0 else DICE)

    def describe(self, s: Hand) -> str:
        zilches = f"; turns without points in a row: {s.zilches}" if s.zilches else ""
        return f"{s.turn} points at risk; {dice_text(s.dice)} to throw{zilches}"

    def cells(self, s: Hand) -> boards.Board:
        row_of_dice = [boards.tile(str(k + 1), gone=k >= s.dice) for k in range(DICE)]
        zilches = [boards.tile(str(k + 1), gone=k >= s.zilches) for k in range(ROW - 1)]
        return [
            [boards.label("dice to throw"), *row_of_dice],
            [boards.label("zilches in a row"), *zilches],
        ]

    def told(self, s: Hand, throw: Throw, action: int, then: int, after: Hand) -> str:
        if action == STOP:
            return f"{s.turn + self.best[row(throw)]} points"
        if action != FARKLE:
            return f"{after.turn} at risk, {dice_text(after.dice)} to throw"
        lost = f"{s.turn} points are lost" if s.turn else "no points"
        return f"{lost}; the third zilch costs {self.penalty}" if after.zilches == 0 else lost
