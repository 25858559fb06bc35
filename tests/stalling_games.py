"""Games in which play may never end: rests that cost, waits that draw or lose, passed turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import rollwise
from rollwise import AGAIN, END, LOSE, PASS, WIN, Game


class Spot(NamedTuple):
    place: int


@dataclass(frozen=True)
class Road(Game):
    """Ten steps to walk; resting costs a turn too."""

    players: ClassVar = 1
    objective: ClassVar = "minimize"
    action_names: ClassVar = ("rest", "walk")

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        if action == 0:
            yield 1, AGAIN, s
        elif s.place == 9:
            yield 1, END, s
        else:
            yield 1, AGAIN, Spot(s.place + 1)

    def reward(self, s, action):
        return 1.0

    @rollwise.policy
    def sleeper(self, s):
        """Rest for ever in the middle."""
        return 0 if s.place == 5 else 1


class Cards(NamedTuple):
    up: int
    x: int
    y: int


@dataclass(frozen=True)
class Flips(Game):
    """Throw two dice, turn card x, y or x + y over; as few throws as possible until all are up.

    Project Euler 640, where two dice of 6 sides and 12 cards take 50.317928 throws.
    """

    sides: int = 6
    players: ClassVar = 1
    objective: ClassVar = "minimize"

    def start(self):
        return Cards(0, 0, 0)

    def actions(self, s):
        if s.x == 0:
            yield 0
        else:
            yield s.x
            if s.y != s.x:
                yield s.y
            yield s.x + s.y

    def outcomes(self, s, action):
        if s.x == 0:
            for x in range(1, self.sides + 1):
                for y in range(x, self.sides + 1):
                    yield 1 if x == y else 2, AGAIN, Cards(s.up, x, y)
        else:
            up = s.up ^ (1 << (action - 1))
            if up == (1 << (2 * self.sides)) - 1:
                yield 1, END, s
            else:
                yield 1, AGAIN, Cards(up, 0, 0)

    def reward(self, s, action):
        return 1.0 if s.x == 0 else 0.0


class Place(NamedTuple):
    place: int


@dataclass(frozen=True)
class Trap(Game):
    """A gamble with a trap: whoever falls in pays for ever."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar = ("rest", "gamble", "leave")

    def start(self):
        return Place(0)

    def actions(self, s):
        yield 0
        if s.place == 0:
            yield 1
            yield 2

    def outcomes(self, s, action):
        if action == 0:
            yield 1, AGAIN, s
        elif action == 1:
            yield 1, AGAIN, Place(1)
            yield 9, END, s
        else:
            yield 1, END, s

    def reward(self, s, action):
        return (-1.0, 100.0, 2.0)[action]


@dataclass(frozen=True)
class NoWayOut(Road):
    """Only resting."""

    def actions(self, s):
        yield 0


@dataclass(frozen=True)
class Luck(Game):
    """One may wait for ever, go on, or throw: three chances in four to win at the far end."""

    players: ClassVar = 1
    endless: ClassVar = "lose"
    action_names: ClassVar = ("wait", "on", "throw")

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0
        yield 1
        yield 2

    def outcomes(self, s, action):
        if action == 0:
            yield 1, AGAIN, s
        elif action == 1:
            yield 1, AGAIN, Spot((s.place + 1) % 3)
        else:
            yield 1 + s.place, WIN, s
            yield 1, LOSE, s


@dataclass(frozen=True)
class DrawnLuck(Luck):
    """The same with a draw for whoever never throws, and throws that are hardly ever won."""

    endless: ClassVar = "draw"

    def outcomes(self, s, action):
        if action == 2:
            yield 1, WIN, s
            yield 4, LOSE, s
        else:
            yield from super().outcomes(s, action)


class Turn(NamedTuple):
    banked: int
    rival: int
    turn: int


@dataclass(frozen=True)
class PassablePig(Game):
    """Pig in which the turn may be passed with nothing at risk."""

    target: int = 15
    endless: ClassVar = "draw"
    action_names: ClassVar = ("hold", "roll")

    def start(self):
        return Turn(0, 0, 0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        if action == 0:
            yield 1, PASS, Turn(s.rival, s.banked + s.turn, 0)
            return
        yield 1, PASS, Turn(s.rival, s.banked, 0)
        for face in range(2, 7):
            if s.banked + s.turn + face >= self.target:
                yield 1, WIN, s
            else:
                yield 1, AGAIN, Turn(s.banked, s.rival, s.turn + face)


@dataclass(frozen=True)
class LosingPig(PassablePig):
    endless: ClassVar = "lose"


@dataclass(frozen=True)
class ForbiddenPig(PassablePig):
    endless: ClassVar = "forbidden"


@dataclass(frozen=True)
class Standoff(Game):
    """Both may wait; who shoots first wins in one case of three."""

    endless: ClassVar = "draw"
    action_names: ClassVar = ("wait", "shoot")

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        if action == 0:
            yield 1, PASS, Spot((s.place + 1) % 5)
        else:
            yield 1, WIN, s
            yield 2, LOSE, s


@dataclass(frozen=True)
class LosingStandoff(Standoff):
    endless: ClassVar = "lose"


class Dial(NamedTuple):
    mine: int
    theirs: int
    dial: int


class Dials(Game):
    """A turn may turn a dial for ever, quickly or slowly; the dial has a say in the points."""

    endless = "lose"
    action_names = ("turn", "take", "turn slowly")

    def start(self):
        return Dial(0, 0, 0)

    def actions(self, s):
        return (0, 1, 2)

    def outcomes(self, s, action):
        if action == 1:
            points = s.mine + s.dial + 1
            ends = points >= 4
            yield 3 - s.dial, WIN if ends else PASS, s if ends else Dial(s.theirs, points, 0)
            yield 1 + s.dial, PASS, Dial(s.theirs, (s.mine + 1) % 4, 0)
        else:
            yield 1, AGAIN, s._replace(dial=(s.dial + 1 + action // 2) % 3)
        if action == 2:
            yield 1, AGAIN, s


class Stage(NamedTuple):
    stage: int
    place: int


@dataclass(frozen=True)
class Stages(Game):
    """Three stages of a walk round four places, one of which leads on; resting costs as well."""

    players: ClassVar = 1
    objective: ClassVar = "minimize"
    action_names: ClassVar = ("rest", "walk")

    def start(self):
        return Stage(0, 0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        if action == 0:
            yield 1, AGAIN, s
        elif s.place < 3:
            yield 2, AGAIN, Stage(s.stage, s.place + 1)
            yield 1, AGAIN, Stage(s.stage, 0)
        elif s.stage == 2:
            yield 1, END, s
        else:
            yield 1, AGAIN, Stage(s.stage + 1, 0)

    def reward(self, s, action):
        return 1.0

    def progress(self, s):
        return s.stage


@dataclass(frozen=True)
class DrawnStages(Stages):
    """The same to win, against somebody who may also wait; each stage can be lost."""

    players: ClassVar = 2
    objective: ClassVar = "win"
    endless: ClassVar = "draw"

    def outcomes(self, s, action):
        if action == 0:
            yield 1, PASS, s
            return
        yield 1, LOSE, s
        yield 3, PASS, Stage(s.stage, (s.place + 1) % 4)
        if s.stage == 2:
            yield 2, WIN, s
        else:
            yield 2, AGAIN, Stage(s.stage + 1, s.place)

    def reward(self, s, action):
        return 0.0
