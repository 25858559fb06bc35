from typing import NamedTuple

from rollwise import LOSE, PASS, Game, payoff, policy

PASS_BY, BET, FOLD, CALL = range(4)


class Cups(NamedTuple):
    mine: int  # the mover's die
    theirs: int  # the die under the other cup
    bet: int  # 1 after a bet


class Bluff(Game):
    """Both players pay a coin and throw a die under a cup. The first passes by or bets a coin."""

    action_names = ("pass by", "bet", "fold", "call")

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
        return (FOLD, CALL) if s.bet else (PASS_BY, BET)

    def outcomes(self, s, action):
        ahead = (s.mine > s.theirs) - (s.mine < s.theirs)
        if action == BET:
            yield 1, PASS, Cups(s.theirs, s.mine, 1)
        elif action == FOLD:
            yield 1, LOSE, s
        else:
            yield 1, payoff(2 * ahead if action == CALL else ahead), s

    @policy
    def honest(self, s):
        """Bet and call with 5 or 6 only."""
        if s.bet:
            return CALL if s.mine >= 5 else FOLD
        return BET if s.mine >= 5 else PASS_BY
