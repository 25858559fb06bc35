from typing import NamedTuple

from rollwise import LOSE, PASS, Game, payoff, policy

PASS_BY, BET = 0, 1  # after a bet: fold, call


class Cups(NamedTuple):
    mine: int  # the mover's die
    theirs: int  # the die under the other cup
    bet: int  # 1 after a bet


class Bluff(Game):
    """Both players pay a coin and throw a die under a cup. The first passes by or bets a coin."""

    action_names = ("pass by or fold", "bet or call")

    def start(self):
        return Cups(0, 0, 0)

    def deal(self, s):
        if s.mine == 0:
            for mine in range(1, 7):
                for theirs in range(1, 7):
                    yield 1, Cups(mine, theirs, 0)

    def hidden(self, s):
        return ("theirs",)

    def actions(self, s):
        return PASS_BY, BET

    def outcomes(self, s, action):
        coins = 1 + (s.bet and action == BET)
        ahead = (s.mine > s.theirs) - (s.mine < s.theirs)
        if action == BET and not s.bet:
            yield 1, PASS, Cups(s.theirs, s.mine, 1)
        elif s.bet and action == PASS_BY:
            yield 1, LOSE, s
        else:
            yield 1, payoff(coins * ahead), s

    @policy
    def honest(self, s):
        """Bet and call with 5 or 6 only."""
        return BET if s.mine >= 5 else PASS_BY
