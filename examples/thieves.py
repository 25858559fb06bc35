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
        yield coins, PASS, Hoards(s.theirs, 0)
        mine = s.mine + coins  # the dragon sleeps
        then = WIN if mine >= 10 else PASS
        yield 6 - coins, then, Hoards(s.theirs, mine)

    def cells(self, s):
        mine = boards.bar(s.mine, of=10)
        theirs = boards.bar(s.theirs, of=10, theirs=1)
        return [[mine], [theirs]]
