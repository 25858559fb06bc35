"""Little games that exist to be tested: each leans on some corner of the language."""

from __future__ import annotations

import collections
from dataclasses import dataclass
from enum import IntFlag
from typing import ClassVar, NamedTuple

import numpy as np

from rollwise import (
    AGAIN,
    DRAW,
    END,
    LOSE,
    PASS,
    WIN,
    Game,
    boards,
    dice,
    parameter,
    payoff,
    replaced,
    skip,
    won_by,
)

# For points, which have no bound.
NO_CONTEST = {"cant-stop", "drop-dead", "snakes-and-ladders", "zilch", "zombie-dice"}


class Spot(NamedTuple):
    place: int


@dataclass(frozen=True)
class RandomTable(Game):
    """Rules that are a table of random numbers, read from arrays made in __post_init__.

    Every action can end the play or lead to a higher place, so every play ends.
    """

    seed: int = 0
    size: int = 6
    choices: int = 3
    outcomes_each: int = 3
    real: bool = False
    loops: float = 0.5

    def __post_init__(self):
        super().__post_init__()
        random = np.random.default_rng(self.seed)
        shape = (self.size, self.choices, self.outcomes_each)
        weight = random.integers(0, 5, shape)
        weight[:, :, 0] += 1
        onward = np.arange(self.size)[:, None, None] + random.integers(1, 4, shape)
        anywhere = random.integers(0, self.size, shape)
        target = np.where(random.random(shape) < self.loops, anywhere, onward)
        target[:, :, 0] = onward[:, :, 0]
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "target", target.astype(np.int32))
        object.__setattr__(self, "then", random.integers(0, 5, shape).astype(np.int8))
        object.__setattr__(self, "n_choices", random.integers(1, self.choices + 1, self.size))

    def start(self):
        return Spot(0)

    def actions(self, s):
        for action in range(self.n_choices[s.place]):
            yield 2 * action  # gaps between the numbers

    def outcomes(self, s, action):
        for k in range(self.outcomes_each):
            target = self.target[s.place, action // 2, k]
            weight = self.weight[s.place, action // 2, k]
            then = self.then[s.place, action // 2, k]
            if target >= self.size:
                yield weight, max(then, WIN), s
            else:
                yield weight, min(then, PASS), Spot(target)


def _bonus(roll: int, most: int) -> int:
    return min(roll * roll, most)


class Climb(NamedTuple):
    height: int
    to_roll: int


@dataclass(frozen=True)
class Ladder(Game):
    """A solitaire score with helper methods, marked functions, dice, rewards and chance nodes."""

    top: int = parameter(12, at_least=1)
    share: float = parameter(0.5, at_least=0.0)
    bold: bool = True
    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar = {0: "stop", 1: "climb", 7: "leap"}

    def start(self):
        return Climb(0, 0)

    def room(self, s):
        return self.top - s.height

    def may_leap(self, s):
        return self.bold and self.room(s) > 2

    def actions(self, s):
        if s.to_roll == 0:
            yield 0
            yield 1
            if self.may_leap(s):
                yield 7
        else:
            yield 1

    def outcomes(self, s, action):
        if action == 0:
            yield 1, END, s
        elif s.to_roll == 0:
            yield 1, AGAIN, Climb(s.height, 1 if action == 1 else 3)
        else:
            for ways, total in dice.total(s.to_roll, 3):
                if total > self.room(s):
                    yield ways, END, s
                else:
                    yield ways, AGAIN, Climb(s.height + _bonus(total, self.room(s)), 0)

    def reward(self, s, action):
        return self.share * s.height if action == 0 else 0.0


@dataclass(frozen=True)
class Shortest(Ladder):
    """The same climb, but with as few moves as possible."""

    objective: ClassVar = "minimize"

    def outcomes(self, s, action):
        if action == 0:
            yield 1, END, s
        elif s.height + 1 >= self.top:
            yield 1, END, s
        else:
            yield 2, AGAIN, Climb(s.height + 1, 0)
            yield 1, AGAIN, Climb(max(s.height - 1, 0), 0)

    def reward(self, s, action):
        return 3.0 * self.room(s) if action == 0 else 1.0


@dataclass(frozen=True)
class Biased(Game):
    """Float weights, a weight of 0, and nothing said about the state when the play is over."""

    bias: float = 0.3
    length: int = 5

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        forward = self.bias if action == 0 else self.bias / 2.0
        yield 1.0 - self.bias, PASS, s
        yield 0.0, PASS, Spot(-7)
        if s.place + 1 >= self.length:
            yield forward, WIN, s
        else:
            yield forward, AGAIN, Spot(s.place + 1)
        yield 0.25, LOSE, s


@dataclass(frozen=True)
class Whole(Biased):
    """Floats that are whole numbers throughout: the graph has integer weights."""

    def outcomes(self, s, action):
        yield 2.0, PASS, s
        yield 3.0, WIN if s.place + 1 >= self.length else AGAIN, Spot(s.place + 1)


@dataclass(frozen=True)
class NoState(Game):
    """What comes after the end is None."""

    length: int = 4

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        if s.place == self.length:
            yield 1, WIN, None
            yield 1, DRAW, None
        else:
            yield 1, PASS, Spot(s.place + 1)
            yield 1, LOSE, None


class Far(NamedTuple):
    x: int
    y: int
    z: int


@dataclass(frozen=True)
class Scattered(Game):
    """States strewn over a box too large for a dense table, negative fields among them."""

    steps: int = 200
    stride: int = 9_999_991

    def start(self):
        return Far(0, 0, 0)

    def jump(self, step, k):
        return (step * step * self.stride + k * 77_777_777) % 4_294_967_295 - 2_147_483_647

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        step = s.z + 1
        if step > self.steps:
            yield 1, WIN, s
        else:
            for k in range(5):
                yield 1 + k, PASS, Far(self.jump(step, k), -self.jump(step, k + 1), step)


@dataclass(frozen=True)
class Drifting(Game):
    """A box that starts at one place and grows on every side while it is explored."""

    radius: int = 30

    def start(self):
        return Far(0, 0, 5)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        yield 1, AGAIN, Far(min(s.x + 1, self.radius), s.y, s.z)
        yield 1, PASS, Far(s.x, max(s.y - 1, -self.radius), s.z)
        yield 1, LOSE, s


@dataclass(frozen=True)
class Crowd(Game):
    """More actions in a state, and more outcomes of an action, than the buffers begin with."""

    many: int = 600

    def start(self):
        return Spot(0)

    def actions(self, s):
        for action in range(1 if s.place > 0 else self.many):
            yield action

    def outcomes(self, s, action):
        if s.place == 0:
            yield 1, AGAIN, Spot(1 + action)
        else:
            for k in range(s.place):
                yield 1 + k % 3, LOSE if k % 2 == 0 else WIN, s


@dataclass(frozen=True)
class Rooted(Game):
    """Roots that no play reaches, one of them twice, the start among them."""

    def start(self):
        return Spot(3)

    def roots(self):
        for place in (9, 3, 7, 9, -2):
            yield Spot(place)

    def actions(self, s):
        yield 1

    def outcomes(self, s, action):
        yield 1, DRAW, s
        if s.place > 3:
            yield 2, PASS, Spot(s.place - 2)


@dataclass(frozen=True)
class Gambler(Game):
    """Gambler's ruin: a stake won or lost until one side has it all; no choice."""

    purse: int = 10
    up: int = 1
    down: int = 1
    players: ClassVar = 1

    def start(self):
        return Spot(self.purse // 2)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        if s.place + 1 == self.purse:
            yield self.up, WIN, s
        else:
            yield self.up, AGAIN, Spot(s.place + 1)
        if s.place == 1:
            yield self.down, LOSE, s
        else:
            yield self.down, AGAIN, Spot(s.place - 1)


@dataclass(frozen=True)
class Uncompilable(Game):
    """Rules that Python runs and Numba doesn't."""

    def start(self):
        return Spot(2)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        yield 1, LOSE, s
        yield collections.deque((1, 1))[1], WIN, s
        if s.place:
            yield 1, PASS, Spot(s.place - 1)


ALL: tuple[Game, ...] = (
    RandomTable(),
    RandomTable(seed=3, size=40, loops=0.9),
    Ladder(),
    Ladder(top=5, share=0.1, bold=False),
    Shortest(),
    Biased(),
    Biased(bias=0.0),
    Whole(),
    Scattered(),
    Drifting(),
    Crowd(),
    Rooted(),
    Gambler(),
)


HOSTILE = "<img src=x onerror=\"document.title='broken'\"></script><script>throw 1</script>"


class Lanes(NamedTuple):
    mine: int
    theirs: int


@dataclass(frozen=True)
class HostileNames(Game):
    """<img src=x onerror="document.title='broken'"> `<b>&amp;</b>`"""

    name: ClassVar = HOSTILE
    action_names: ClassVar = (HOSTILE, f"b {HOSTILE}")

    def start(self):
        return Lanes(0, 0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        for face in range(1, 4):
            if s.mine + face + action >= 5:
                yield 1, WIN if action == 0 else DRAW, s
            else:
                yield 1, PASS, Lanes(s.theirs, s.mine + face + action)

    def describe(self, s):
        return f"{HOSTILE} {s.mine} to {s.theirs}"

    def show(self, s):
        return f"{HOSTILE}\n{s.mine}"

    def deed(self, s, action):
        return f"walk {HOSTILE}"

    def told(self, s, action, then, after):
        return f"it is {HOSTILE}"


class Lives(NamedTuple):
    mine: int
    theirs: int
    throws: int
    limit: int
    beat: int


class Faces(Game):
    """Both throw a die, twice if they like; the lower one costs a life. It has five fields."""

    power: ClassVar = 1  # of a throw, which it counts by
    action_names: ClassVar = ("stay", "again")

    def start(self):
        return Lives(2, 2, 2, 2, 0)

    def throws(self, s):
        yield from dice.one(6)

    def actions(self, s, throw):
        yield 0
        if s.throws > 1:
            yield 1

    def outcomes(self, s, throw, action):
        if action == 1:
            yield 1, AGAIN, s._replace(throws=s.throws - 1)
        elif s.beat == 0:
            used = 3 - s.throws
            yield 1, PASS, Lives(s.theirs, s.mine, used, used, throw**self.power)
        elif throw**self.power <= s.beat:
            yield 1, LOSE if s.mine == 1 else AGAIN, Lives(s.mine - 1, s.theirs, 2, 2, 0)
        else:
            yield 1, WIN if s.theirs == 1 else PASS, Lives(s.theirs - 1, s.mine, 2, 2, 0)


class Hill(NamedTuple):
    mine: tuple[int, int, int]
    theirs: tuple[int, int, int]


class Hills(Game):
    """Climb one of three hills in each turn; a die above 2 lets you. It has two bars a row."""

    action_names: ClassVar = ("left", "middle", "right")

    def start(self):
        return Hill((0, 0, 0), (0, 0, 0))

    def actions(self, s):
        for hill in range(3):
            if s.mine[hill] == 0:
                yield hill

    def outcomes(self, s, action):
        mine = replaced(s.mine, action, 1)
        yield 2, WIN if sum(mine) == 2 else PASS, Hill(s.theirs, mine)
        yield 1, LOSE, s

    def cells(self, s):
        bars = zip(("left", "middle", "right"), s.mine, s.theirs, strict=True)
        return [
            [boards.label(name), boards.bar(mine, of=1), boards.bar(theirs, of=1, theirs=True)]
            for name, mine, theirs in bars
        ]


class Stock(NamedTuple):
    chips: tuple[int, ...]
    turns: tuple[int, ...]  # of each player so far, three at most


@dataclass(frozen=True)
class PassAChip(Game):
    """Three players: draw a chip before your turn and pay one after it; a six wins."""

    players: int = 3
    action_names: ClassVar = ("throw",)

    def start(self):
        return Stock((2, 2, 2), (0, 0, 0))

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        (mine, left, right), (first, second, third) = s
        turns = (second, third, min(first + 1, 3))
        yield 1, won_by(0), s
        yield 5, skip(1), Stock((min(left + 1, 4), right, mine - 1), turns)


class Lamps(NamedTuple):
    lit: int
    next_lit: int
    last_lit: int
    turns_left: int


class Lamplighters(Game):
    """Throw, then light as many lamps as thrown, or blow them out for the next player."""

    players = 3
    action_names = ("light", "blow")

    def start(self):
        return Lamps(0, 1, 1, 6)

    def throws(self, s):
        yield 1, 1
        yield 1, 2

    def actions(self, s, throw):
        yield 0
        if s.next_lit:
            yield 1

    def outcomes(self, s, throw, action):
        lit = s.lit + throw if action == 0 else s.lit
        next_lit = max(s.next_lit - throw, 0) if action == 1 else s.next_lit
        if lit >= 3 or s.turns_left == 1:
            yield 1, WIN, s
        else:
            yield 1, PASS, Lamps(next_lit, s.last_lit, lit, s.turns_left - 1)


class Told(NamedTuple):
    mine: int
    theirs: int
    said: int  # 0 before the first choice


class Riddle(Game):
    """The first says the parity of a coin plus a choice; the second guesses the coin."""

    def start(self):
        return Told(0, 0, 0)

    def deal(self, s):
        for mine in (1, 2) if s.mine == 0 else ():
            for theirs in (1, 2):
                yield 1, Told(mine, theirs, 0)

    def hidden(self, s):
        return ("theirs",)

    def actions(self, s):
        return (0, 1)

    def outcomes(self, s, action):
        if s.said == 0:
            yield 1, PASS, Told(s.theirs, s.mine, 1 + (s.mine + action) % 2)
        else:
            yield 1, WIN if s.theirs == 1 + action else LOSE, s


class Keys(IntFlag):
    RED = 1
    BLUE = 2


class Found(NamedTuple):
    points: int
    keys: Keys


@dataclass(frozen=True)
class Search(Game):
    """Look for two keys; names of actions with marks that HTML knows."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar = ('say "go" & <b>', "stop")

    def start(self):
        return Found(0, Keys(0))

    def actions(self, s):
        return (0, 1)

    def outcomes(self, s, action):
        if action or s.points == 3:
            yield 1, END, s
            return
        for keys in (Keys(0), Keys.RED, Keys.BLUE):
            yield 1, AGAIN, Found(s.points + 1, s.keys | keys)
        yield 1, END, s

    def reward(self, s, action):
        return action * (s.points + int(s.keys))


class Marks(NamedTuple):
    board: tuple[int, ...]


class MarkedBoard(Game):
    """Mark a cell of three rows of two: 1 is mine, and 2 theirs. The left column wins."""

    def start(self):
        return Marks((0,) * 6)

    def actions(self, s):
        for cell in range(6):
            if s.board[cell] == 0:
                yield cell

    def outcomes(self, s, cell):
        board = replaced(s.board, cell, 1)
        full = True
        for mark in board:
            full = full and mark > 0
        if board[0] == 1 and board[2] == 1 and board[4] == 1:
            yield 1, WIN, s
        elif full:
            yield 1, DRAW, s
        else:
            yield 1, PASS, Marks(self.seen(board))

    def seen(self, board):
        """The board as the next player sees it: marks change sides."""
        return tuple([2 if mark == 1 else 1 if mark == 2 else 0 for mark in board])

    def cells(self, s):
        marks = [boards.square(int(mark == 1), int(mark == 2)) for mark in s.board]
        return [marks[0:2], marks[2:4], marks[4:6]]


class TurnedBoard(MarkedBoard):
    """As MarkedBoard, but the opponent sits on the other side of the board."""

    def seen(self, board):
        return tuple([2 if mark == 1 else 1 if mark == 2 else 0 for mark in board[::-1]])


class Bid(NamedTuple):
    bid: int


class Fortune(Game):
    """One player pays out a fortune: a number with more digits than others have."""

    players: ClassVar = 1
    action_names: ClassVar = ("keep", "flip")

    def start(self):
        return Bid(0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        if action == 0:
            yield 1, payoff(25000000175), s
        else:
            yield 1, payoff(4000000028), s
            yield 1, payoff(0), s
