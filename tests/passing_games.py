"""Games without words whose fields a PASS exchanges, turns, resets or leaves in place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import (
    AGAIN,
    DRAW,
    LOSE,
    PASS,
    WIN,
    Game,
    bits,
    dice,
    replaced,
    shared_by,
    turned,
    won_by,
)


def against(points, goal):
    """The end for the last player, who has to beat the points of the others."""
    return WIN if points > goal else DRAW if points == goal else LOSE


class Box(NamedTuple):
    points: int
    goal: int  # the first player's points and 1 more; 0 in the first turn


class BeatTheGoal(Game):
    """Two players in turn throw and add as often as they like; a 1 loses all points."""

    action_names: ClassVar = ("hold", "roll")

    def start(self):
        return Box(0, 0)

    def actions(self, s):
        yield 0
        if s.points < 8:
            yield 1

    def outcomes(self, s, action):
        if action == 1:
            for ways, face in dice.one(6):
                yield ways, AGAIN, Box(s.points + face if face > 1 else 0, s.goal)
        elif s.goal == 0:
            yield 1, PASS, Box(0, s.points + 1)
        else:
            yield 1, against(s.points + 1, s.goal), s


class Tiles(NamedTuple):
    tiles: int  # a set of open tiles
    score: int  # the first player's open tiles and 1 more; 0 in the first turn


class ShutTiles(Game):
    """Two players in turn shut tiles; a throw of one that is shut ends the turn."""

    def start(self):
        return Tiles(0b1111, 0)

    def throws(self, s):
        yield from dice.one(4)

    def actions(self, s, throw):
        yield int(bits.has(s.tiles, throw - 1))

    def outcomes(self, s, throw, shuts):
        if shuts and s.tiles != 1 << (throw - 1):
            yield 1, AGAIN, Tiles(s.tiles ^ (1 << (throw - 1)), s.score)
        elif s.score == 0:
            yield 1, PASS, Tiles(0b1111, 1 + bits.size(s.tiles) - shuts)
        else:
            yield 1, against(s.score, 1 + bits.size(s.tiles) - shuts), s


class Chips(NamedTuple):
    chips: tuple[int, ...]
    number: int  # of the mover on the die


@dataclass(frozen=True)
class HelpYourNeighbour(Game):
    """A player whose number is thrown loses a chip; the first one without chips wins."""

    chips: int = 2
    players: ClassVar = 3
    action_names: ClassVar = ("throw",)

    def start(self):
        return Chips((self.chips,) * 3, 0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        for seat in range(3):
            chips = replaced(s.chips, seat, s.chips[seat] - 1)
            if chips[seat] == 0:
                yield 1, won_by(seat), s
            else:
                yield 1, PASS, Chips(turned(chips, 1), (s.number + 1) % 3)


class Scores(NamedTuple):
    scores: tuple[int, ...]
    used: int  # throws in this turn


@dataclass(frozen=True)
class BestThrow(Game):
    """All throw once or twice, and the second throw counts; the highest one wins."""

    players: int = 3
    action_names: ClassVar = ("stop", "throw again")

    def start(self):
        return Scores((0,) * self.players, 0)

    def throws(self, s):
        yield from dice.one(4)

    def actions(self, s, throw):
        yield 0
        if s.used == 0:
            yield 1

    def outcomes(self, s, throw, action):
        scores = replaced(s.scores, 0, throw)
        if action == 1:
            yield 1, AGAIN, Scores(s.scores, 1)
        elif 0 in scores:
            yield 1, PASS, Scores(turned(scores, 1), 0)
        elif self.players == 2:
            yield 1, against(throw, scores[1]), s
        else:
            highest = max(scores)
            yield 1, shared_by(tuple([int(score == highest) for score in scores])), s


class Purses(NamedTuple):
    mine: int
    theirs: int


class CoinToss(Game):
    """Each toss moves a coin from one purse to the other: both change in every turn."""

    def start(self):
        return Purses(3, 3)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        for won in (1, -1):
            mine, theirs = s.mine + won, s.theirs - won
            yield 1, LOSE if mine == 0 else WIN if theirs == 0 else PASS, Purses(theirs, mine)


class Pot(NamedTuple):
    coins: tuple[int, int]
    pot: int


class SharedPot(Game):
    """Pay a coin into the pot, or the other one does; the first one without coins wins."""

    def start(self):
        return Pot((4, 4), 0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        for seat in range(2):
            coins = replaced(s.coins, seat, s.coins[seat] - 1)
            if coins[seat] == 0:
                yield 1, LOSE if seat else WIN, s
            else:
                yield 1, PASS, Pot(turned(coins, 1), s.pot + 1)


class Siege(NamedTuple):
    attacks: int  # 1 if the mover attacks
    walls: int
    mine: int
    theirs: int


class TakeTurnsAttacking(Game):
    """Who attacks changes at each turn; both lose men, and the walls are common."""

    action_names: ClassVar = ("careful", "bold")

    def start(self):
        return Siege(1, 3, 4, 4)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        for die in (1, 2, 3):
            walls = s.walls - (die > 1) * s.attacks
            mine = s.mine - (die == 1) * action * s.attacks
            theirs = s.theirs - (die == 3) * (1 - s.attacks)
            if walls == 0 or theirs == 0:
                yield 1, WIN, s
            elif mine == 0:
                yield 1, LOSE, s
            else:
                yield 1, PASS, Siege(1 - s.attacks, walls, theirs, mine)


class Rounds(NamedTuple):
    points: int
    goal: int
    mine: int
    theirs: int


class BestOfThree(Game):
    """As `BeatTheGoal`, in rounds: two won rounds win."""

    action_names: ClassVar = ("hold", "roll")

    def start(self):
        return Rounds(0, 0, 0, 0)

    def actions(self, s):
        yield 0
        if s.points < 6:
            yield 1

    def outcomes(self, s, action):
        if action == 1:
            for points in (s.points + 1, s.points + 2, 0):
                yield 1, AGAIN, Rounds(points, s.goal, s.mine, s.theirs)
        elif s.goal == 0:
            yield 1, PASS, Rounds(0, s.points + 1, s.theirs, s.mine)
        elif s.points + 1 > s.goal:
            yield 1, WIN if s.mine else AGAIN, Rounds(0, 0, s.mine + 1, s.theirs)
        else:
            yield 1, LOSE if s.theirs else PASS, Rounds(0, 0, s.theirs + 1, s.mine)


class Seats(NamedTuple):
    turn: int
    scores: tuple[int, ...]


@dataclass(frozen=True)
class ScoresBySeat(Game):
    """The scores stand in the order of the seats, and a field says whose turn it is."""

    players: int = 2
    action_names: ClassVar = ("safe", "risk")

    def start(self):
        return Seats(0, (0,) * self.players)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        for points in range(3):
            made = points if action else 1
            scores = replaced(s.scores, s.turn, s.scores[s.turn] + made)
            then = WIN if scores[s.turn] >= 4 else PASS
            yield 1, then, Seats((s.turn + 1) % self.players, scores)


class Road(NamedTuple):
    mine: tuple[int, int, int, int]
    theirs: tuple[int, int, int, int]


class Hits(Game):
    """Two pieces each on a road, seen from its two ends; a single piece is hit."""

    def start(self):
        return Road((1, 1, 0, 0), (0, 0, 1, 1))

    def actions(self, s):
        for point in range(4):
            if s.mine[point]:
                yield point

    def outcomes(self, s, point):
        for steps in (1, 2):
            mine, theirs = list(s.mine), list(s.theirs)
            mine[point] -= 1
            if point + steps < 4:
                mine[point + steps] += 1
                if theirs[point + steps] == 1:
                    theirs[point + steps] = 0
                    theirs[3] += 1
            then = PASS if sum(mine) else WIN
            yield 1, then, Road(tuple(theirs[::-1]), tuple(mine[::-1]))


class Homes(NamedTuple):
    mine: tuple[int, int]
    rivals: tuple[int, int, int, int]  # two of the next player, then two of the last


class FillHomes(Game):
    """Three players fill two homes each with two pieces, or miss."""

    players: ClassVar = 3

    def start(self):
        return Homes((0, 0), (0, 0, 0, 0))

    def actions(self, s):
        for home in range(2):
            if s.mine[home] < 2:
                yield home

    def outcomes(self, s, home):
        mine = replaced(s.mine, home, s.mine[home] + 1)
        yield 1, WIN if sum(mine) == 4 else PASS, Homes(s.rivals[:2], (*s.rivals[2:], *mine))
        yield 1, PASS, Homes(s.rivals[:2], (*s.rivals[2:], *s.mine))


class Marks(NamedTuple):
    best: int
    holders: tuple[int, int]  # 1 for each other player with the best throw, the next one first


class Holders(Game):
    """Three players throw for the best; the mover has no field of its own."""

    players: ClassVar = 3

    def start(self):
        return Marks(0, (0, 0))

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        for ways, face in dice.one(6):
            if face == 6:
                yield ways, WIN, s
            elif face > s.best:
                yield ways, PASS, Marks(face, (0, 1))
            else:
                yield ways, PASS, Marks(s.best, (s.holders[1], int(face == s.best)))


class Lead(NamedTuple):
    lead: int  # of the mover
    turn: int


class LeadPig(Game):
    """Pig, in which the lead of the mover is counted."""

    action_names: ClassVar = ("hold", "roll")

    def start(self):
        return Lead(0, 0)

    def actions(self, s):
        if s.turn < 5:
            yield 1
        if s.turn:
            yield 0

    def outcomes(self, s, action):
        if action == 0:
            then = WIN if s.lead + s.turn >= 6 else PASS
            yield 1, then, Lead(-s.lead - s.turn, 0)
        else:
            yield 1, PASS, Lead(-s.lead, 0)
            for points in (1, 2, 3):
                yield 1, AGAIN, Lead(s.lead, s.turn + points)


class Counts(NamedTuple):
    round: int
    total: int


class Counters(Game):
    """The round and the common total grow in every turn, and are nobody's."""

    def start(self):
        return Counts(0, 0)

    def actions(self, s):
        yield 1
        yield 2

    def outcomes(self, s, times):
        for die in (1, 2, 3):
            total = s.total + times * die
            ends = WIN if s.round % 2 else LOSE
            yield 1, ends if total >= 15 else PASS, Counts(s.round + 1, total)
