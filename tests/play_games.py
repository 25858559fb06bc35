"""Games for the tests of play: captures, throws before choices, and actions with odd names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import AGAIN, END, PASS, WIN, Game

THROW = 0


class Track(NamedTuple):
    mine: int
    theirs: int
    thrown: int  # 0 before the throw


@dataclass(frozen=True)
class Capture(Game):
    """Walk as many steps as the die shows, or one more; whom you step on begins anew."""

    goal: int = 6
    action_names: ClassVar = {THROW: "throw"}  # an action n > 0 is a walk of n steps

    def start(self):
        return Track(0, 0, 0)

    def actions(self, s):
        if s.thrown == 0:
            yield THROW
        else:
            yield s.thrown + 1
            yield s.thrown

    def outcomes(self, s, action):
        if action == THROW:
            for face in range(1, 4):
                yield 1, AGAIN, Track(s.mine, s.theirs, face)
        elif s.mine + action >= self.goal:
            yield 1, WIN, s
        else:
            place = s.mine + action
            yield 1, PASS, Track(0 if s.theirs == place else s.theirs, place, 0)


class Step(NamedTuple):
    step: int


@dataclass(frozen=True)
class Odd(Game):
    """Six steps for points, with actions whose names are hard to write down."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar = {
        0: "roll, then stop",
        1: 'say "hi": now',
        2: "take",
        3: "take 2",  # or take, where the die shows 2?
        4: "3",
        5: "left",
        6: "Left",
        8: "#1",
        9: "undo",
    }

    def start(self):
        return Step(0)

    def actions(self, s):
        for action in range(10):
            yield action

    def outcomes(self, s, action):
        for face in range(1, 4 if action in (0, 2, 7) else 2):
            if s.step + face >= 6:
                yield 1, END, s
            else:
                yield 1, AGAIN, Step(s.step + face)

    def reward(self, s, action):
        return float(action)

    def throw(self, s, action):
        return (3,) if action in (0, 2) else ()


@dataclass(frozen=True)
class Pit(Game):
    """As few steps as possible; who jumps may fall into a pit, and stay there for ever."""

    players: ClassVar = 1
    objective: ClassVar = "minimize"
    action_names: ClassVar = ("walk", "jump", "stay")

    def start(self):
        return Step(0)

    def actions(self, s):
        if s.step < 9:
            yield 0
            yield 1
        yield 2

    def outcomes(self, s, action):
        if action == 2:
            yield 1, AGAIN, s
        elif s.step + 1 + action >= 4:
            yield 1, END, s
        else:
            yield 1, AGAIN, Step(s.step + 1)
            if action == 1:
                yield 9, AGAIN, Step(9)

    def reward(self, s, action):
        return 1.0


class Spot(NamedTuple):
    spot: int


@dataclass(frozen=True)
class Mire(Game):
    """A toll of 1 on a road, and a cut through a mire, where play may end or go on for ever."""

    players: ClassVar = 1
    objective: ClassVar = "minimize"
    action_names: ClassVar = {0: "road", 1: "short cut"}

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0
        if s.spot == 0:
            yield 1

    def outcomes(self, s, action):
        if s.spot == 2:
            yield 1, AGAIN, s
        elif s.spot == 0 and action == 1:
            yield 1, AGAIN, Spot(1)
        else:
            yield 1, END, s
            if s.spot == 1:
                yield 1, AGAIN, s
                yield 1, AGAIN, Spot(2)

    def reward(self, s, action):
        return 1
