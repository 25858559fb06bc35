from typing import ClassVar, NamedTuple

from rollwise import LOSE, PASS, WIN, Game, dice, parameter


class Total(NamedTuple):
    total: int


class HitTheMark(Game):
    """Add one die or two to a common total; hit the mark to win, pass it and you lose."""

    mark: int = parameter(30)
    action_names: ClassVar = {1: "one die", 2: "two dice"}

    def start(self):
        return Total(0)

    def actions(self, s):
        yield 1
        yield 2

    def outcomes(self, s, action):
        for ways, points in dice.total(action, 6):
            if s.total + points == self.mark:
                yield ways, WIN, s
            elif s.total + points > self.mark:
                yield ways, LOSE, s
            else:
                yield ways, PASS, Total(s.total + points)
