"""Games that throw first and choose then, and the same games with the throw in the state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import AGAIN, END, LOSE, PASS, WIN, Game, dice, parameter, policy, won_by

BACK, FRONT, WAIT = range(3)
NOTHING = -1  # thrown yet


class Track(NamedTuple):
    mine: tuple[int, ...]
    theirs: tuple[int, ...]


@dataclass(frozen=True)
class Runners(Game):
    """Throw, move one of two runners; meeting another sends it back, a 2 gives another throw."""

    length: int = parameter(4, at_least=2)
    sides: int = 3
    action_names: ClassVar = ("back", "front", "wait")

    def start(self):
        return Track((0, 0), (0, 0))

    def throws(self, s):
        yield 1, 0
        for face in range(1, self.sides + 1):
            yield (2 if face == 1 else 1), face

    def actions(self, s, throw):
        if throw == 0:
            yield WAIT
        else:
            if s.mine[0] < self.length:
                yield BACK
            if s.mine[1] < self.length:
                yield FRONT

    def outcomes(self, s, throw, action):
        if action == WAIT:
            yield 1, PASS, Track(s.theirs, s.mine)
        else:
            a, b = s.mine
            if action == BACK:
                a = min(a + throw, self.length)
                stepped = a
            else:
                b = min(b + throw, self.length)
                stepped = b
            c, d = s.theirs
            if stepped < self.length:
                c = 0 if c == self.length - stepped else c
                d = 0 if d == self.length - stepped else d
            mine = (min(a, b), max(a, b))
            theirs = (min(c, d), max(c, d))
            if mine[0] == self.length:
                yield 1, WIN, s
            elif throw == 2:
                yield 1, AGAIN, Track(mine, theirs)
            else:
                yield 1, PASS, Track(theirs, mine)

    def progress(self, s):
        home = 0
        for runner in s.mine:
            if runner == self.length:
                home += 1
        for runner in s.theirs:
            if runner == self.length:
                home += 1
        return home

    @policy
    def run_in_front(self, s, throw):
        """Move the runner in front."""
        return FRONT if s.mine[1] < self.length else BACK


class Thrown(NamedTuple):
    mine: tuple[int, ...]
    theirs: tuple[int, ...]
    face: int


@dataclass(frozen=True)
class ThrownRunners(Game):
    """The same game, as it had to be written before: the throw is a field of the state."""

    length: int = parameter(4, at_least=2)
    sides: int = 3

    @property
    def game(self):
        return Runners(self.length, self.sides)

    def start(self):
        return Thrown((0, 0), (0, 0), NOTHING)

    def actions(self, s):
        if s.face == NOTHING:
            yield WAIT
        else:
            yield from self.game.actions(Track(s.mine, s.theirs), s.face)

    def outcomes(self, s, action):
        track = Track(s.mine, s.theirs)
        if s.face == NOTHING:
            for weight, face in self.game.throws(track):
                yield weight, AGAIN, Thrown(s.mine, s.theirs, face)
        else:
            for weight, then, after in self.game.outcomes(track, s.face, action):
                yield weight, then, Thrown(after.mine, after.theirs, NOTHING)


class Sheet(NamedTuple):
    open: tuple[int, ...]
    left: int


@dataclass(frozen=True)
class TwoBoxes(Game):
    """Throw two dice in each round and write the lower or the higher one into a box of its own."""

    sides: int = 4
    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar = ("twice the lower", "the higher")

    def start(self):
        return Sheet((1, 1), 2)

    def throws(self, s):
        for ways, counts in dice.counts(2, self.sides):
            low = 1
            while counts[low] == 0:
                low += 1
            high = self.sides
            while counts[high] == 0:
                high -= 1
            yield ways, (low, high)

    def actions(self, s, throw):
        for box in range(2):
            if s.open[box]:
                yield box

    def reward(self, s, throw, action):
        return 2 * throw[0] if action == 0 else throw[1]

    def outcomes(self, s, throw, action):
        if s.left == 1:
            yield 1, END, s
        else:
            still = (0, s.open[1]) if action == 0 else (s.open[0], 0)
            yield 1, AGAIN, Sheet(still, s.left - 1)


@dataclass(frozen=True)
class OrderedDice(TwoBoxes):
    """The same with each throw in every order, and weights that are no whole numbers."""

    def throws(self, s):
        for one in range(1, self.sides + 1):
            for other in range(1, self.sides + 1):
                yield 0.5, (min(one, other), max(one, other))


class Turn(NamedTuple):
    number: int
    saved: int  # rolls for later turns


@dataclass(frozen=True)
class SavedRolls(Game):
    """Three turns of dice: score the sum, or doubles, which the first throw makes dearer."""

    n: int = 2
    sides: int = 3
    players: ClassVar = 1
    objective: ClassVar = "maximize"

    def start(self):
        return Turn(1, 0)

    def throws(self, s):
        return dice.pool(self.n, self.sides, rerolls=1 + s.saved)

    def actions(self, s, throw, rolls_left):
        for hand in range(2):
            yield hand

    def outcomes(self, s, throw, rolls_left, hand):
        yield 1, END if s.number == 3 else AGAIN, Turn(s.number + 1, rolls_left)

    def reward(self, s, throw, rolls_left, hand):
        first = 1 if rolls_left == 1 + s.saved else 0
        return 5.0 * (throw[0] == throw[1]) + first if hand else float(sum(throw))

    def progress(self, s):
        return s.number


class Race(NamedTuple):
    mine: int
    theirs: int


@dataclass(frozen=True)
class Served(Game):
    """A race with three coins a turn: equal ones of the first throw win, others count their 2s."""

    target: int = 4

    def start(self):
        return Race(0, 0)

    def throws(self, s):
        return dice.pool(3, sides=2, rerolls=2)

    def actions(self, s, throw, rolls_left):
        yield 0

    def outcomes(self, s, throw, rolls_left, action):
        mine = s.mine + sum(throw) - 3
        if mine >= self.target or (rolls_left == 2 and throw[0] == throw[2]):
            yield 1, WIN, s
        elif mine == s.mine:
            yield 1, LOSE, s
        else:
            yield 1, PASS, Race(s.theirs, mine)


class Highest(NamedTuple):
    left: int
    best: int
    leader: int  # seats from the mover on


@dataclass(frozen=True)
class HighestPair(Game):
    """Three players throw two dice each, twice at most; the highest sum wins, doubles count 1."""

    players: ClassVar = 3

    def start(self):
        return Highest(3, 0, 0)

    def throws(self, s):
        return dice.pool(2, sides=3, rerolls=1)

    def actions(self, s, throw):
        yield 0

    def outcomes(self, s, throw, action):
        yield self.after(s, throw, 0)

    def after(self, s, throw, more):
        total = sum(throw) + (throw[0] == throw[1]) + more
        leader = 0 if total > s.best else s.leader
        then = won_by(leader) if s.left == 1 else PASS
        return 1, then, Highest(s.left - 1, max(total, s.best), (leader - 1) % 3)


@dataclass(frozen=True)
class HighestCounted(HighestPair):
    """The same with 1 for a throw that is left out."""

    def actions(self, s, throw, rolls_left):
        yield 0

    def outcomes(self, s, throw, rolls_left, action):
        yield self.after(s, throw, rolls_left)


class Sum(NamedTuple):
    turns: int
    made: int


@dataclass(frozen=True)
class SumToWin(Game):
    """Two turns of two dice, thrown twice at most: a sum of 12 or more wins."""

    players: ClassVar = 1

    def start(self):
        return Sum(0, 0)

    def throws(self, s):
        return dice.pool(2, sides=4, rerolls=1)

    def actions(self, s, throw):
        yield 0
        yield 1

    def outcomes(self, s, throw, action):
        made = s.made + (max(throw) * 2 if action else sum(throw)) - action
        if s.turns == 0:
            yield 1, AGAIN, Sum(1, made)
        else:
            yield 1, WIN if made >= 12 else LOSE, s

    def progress(self, s):
        return s.turns
