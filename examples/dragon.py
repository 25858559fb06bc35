from typing import ClassVar, NamedTuple

from rollwise import PASS, WIN, Game, parameter, policy


class Hoards(NamedTuple):
    mine: int  # coins of the player to move
    theirs: int


class Dragon(Game):
    """Steal coins from a sleeping dragon; a roll no higher than your handful wakes it.

    It takes back all that you have. The first to have the goal's coins wins.
    """

    goal: int = parameter(10, at_least=1, at_most=200, about="coins that win")
    most: int = parameter(3, at_least=1, at_most=5, about="coins that fit in a hand")
    action_names: ClassVar = ("none", "one", "two", "three", "four", "five")

    def start(self):
        return Hoards(0, 0)

    def actions(self, s):
        for coins in range(1, self.most + 1):
            yield coins

    def outcomes(self, s, action):
        yield action, PASS, Hoards(s.theirs, 0)  # it wakes
        if s.mine + action >= self.goal:
            yield 6 - action, WIN, s
        else:
            yield 6 - action, PASS, Hoards(s.theirs, s.mine + action)

    def describe(self, s):
        return f"{s.mine} coins of {self.goal}; the other thief has {s.theirs}"

    def throw(self, s, action):
        return (6,)

    def deed(self, s, action):
        return f"grab {self.action_names[action]}, throwing {{}}"

    def told(self, s, action, then, after, faces):
        if then == WIN:
            return "the hoard is full"
        return f"{after.theirs} coins" if after.theirs else "the dragon wakes"

    @policy
    def bold_when_poor(self, s):
        """Take three while you have fewer than 3, two while fewer than 7, then one."""
        if s.mine < 3:
            return 3
        return 2 if s.mine < 7 else 1

    @policy
    def now_or_never(self, s):
        """As bold-when-poor, but go for the win when the other is close to it."""
        missing = self.goal - s.mine
        if s.theirs >= self.goal - 3 and missing <= self.most:
            return missing
        return self.bold_when_poor(s)
