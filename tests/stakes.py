"""Games for stakes: what ends them, or what an action brings, is more than a win or a loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import AGAIN, DRAW, PASS, WIN, Game, dice, payoff


class Track(NamedTuple):
    mine: int
    theirs: int


def stake_of(theirs: int, length: int, gammon: float) -> int:
    """What a win is worth: more as long as the other hasn't come half way."""
    return payoff(gammon) if 2 * theirs < length else WIN


@dataclass(frozen=True)
class Gammons(Game):
    """Race to the end of a track by one die or two; to go beyond it loses half a stake."""

    length: int = 10
    gammon: float = 3.0
    action_names: ClassVar = {1: "one die", 2: "two dice"}

    def start(self):
        return Track(0, 0)

    def actions(self, s):
        yield 1
        yield 2

    def outcomes(self, s, action):
        for ways, points in dice.total(action, 3):
            if s.mine + points == self.length:
                yield ways, stake_of(s.theirs, self.length, self.gammon), s
            elif s.mine + points > self.length:
                yield ways, payoff(-0.5), s
            else:
                yield ways, PASS, Track(s.theirs, s.mine + points)


class Heap(NamedTuple):
    chips: int
    turn: int


@dataclass(frozen=True)
class Collect(Game):
    """Throw for chips or take them; the other pays what is taken. A 1 ends the turn.

    Each turn takes a chip off the heap, so play ends; then nobody is paid any more.
    """

    chips: int = 9
    bust: int = 2
    action_names: ClassVar = ("throw", "take")

    def start(self):
        return Heap(self.chips, 0)

    def actions(self, s):
        yield 0
        if s.turn > 0:
            yield 1

    def reward(self, s, action):
        return s.turn / 2 if action == 1 else 0.0

    def outcomes(self, s, action):
        left = s.chips - 1
        if action == 1:
            if left > 0:
                yield 1, PASS, Heap(left, 0)
            else:
                yield 1, DRAW, s
            return
        if left > 0:
            yield 1, PASS, Heap(left, 0)
        else:
            yield 1, payoff(-self.bust), s
        for face in range(2, 5):
            if s.turn + face > 2 * s.chips:
                yield 1, payoff(-self.bust), s
            else:
                yield 1, AGAIN, Heap(s.chips, s.turn + face)


class Row(NamedTuple):
    steps: int


@dataclass(frozen=True)
class Ends(Game):
    """A single throw whose end is given: for what is refused."""

    end: int = WIN
    points: float = 0.0

    def start(self):
        return Row(0)

    def actions(self, s):
        yield 0

    def reward(self, s, action):
        return self.points

    def outcomes(self, s, action):
        yield 1, self.end, s


@dataclass(frozen=True)
class Pays(Game):
    """The same, with an end that `payoff` gives."""

    points: float = 2.0

    def validate(self) -> None:
        """Whatever the points are."""

    def start(self):
        return Row(0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        yield 1, payoff(self.points), s


class Counted(Ends):
    """Points that are counted up, in a game for one."""

    players: ClassVar[int] = 1
    objective: ClassVar[str] = "maximize"


class Alone(Ends):
    """One player, who wins or loses."""

    players: ClassVar[int] = 1


class Shared(NamedTuple):
    total: int
    turn: int


@dataclass(frozen=True)
class Layered(Game):
    """Add a die or two to a common total; who comes to its end first is paid by what is over."""

    end: int = 12

    def start(self):
        return Shared(0, 0)

    def actions(self, s):
        yield 1
        yield 2

    def progress(self, s):
        return s.total

    def outcomes(self, s, action):
        for ways, points in dice.total(action, 3):
            if s.total + points >= self.end:
                yield ways, payoff(1 + s.total + points - self.end), s
            else:
                yield ways, PASS, Shared(s.total + points, 1 - s.turn)


class Steps(NamedTuple):
    mine: int
    theirs: int


@dataclass(frozen=True)
class Thrown(Game):
    """Throw a die and go that far, or go back and be paid the die; the first at the end wins."""

    length: int = 8
    action_names: ClassVar = ("go", "go back")

    def start(self):
        return Steps(self.length, self.length)

    def throws(self, s):
        yield from dice.one(4)

    def actions(self, s, throw):
        yield 0
        if throw > 2 and s.mine > 2:
            yield 1

    def reward(self, s, throw, action):
        return throw / 4 if action == 1 else 0.0

    def outcomes(self, s, throw, action):
        if action == 1:
            yield 1, PASS, Steps(s.theirs, s.mine - 1)
        elif s.mine <= throw:
            yield 1, payoff(2 if 2 * s.theirs > self.length else 1), s
        else:
            yield 1, PASS, Steps(s.theirs, s.mine - throw)
