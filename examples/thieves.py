from typing import NamedTuple

from rollwise import PASS, WIN, Game, boards


class Hoards(NamedTuple):
    mine: int
    theirs: int


class Thieves(Game):
    def start(self):
        return Hoards(0, 0)

    def actions(self, s):
        return (1, 2, 3)  # coins to take

    def outcomes(self, s, coins):
        yield coins, PASS, Hoards(s.theirs, 0)  # the dragon wakes
        then = WIN if s.mine + coins >= 10 else PASS
        yield 6 - coins, then, Hoards(s.theirs, s.mine + coins)

    def cells(self, s):
        return [[boards.bar(coins, of=10, theirs=k)] for k, coins in enumerate(s)]
