"""What a game was decided by: luck and skill, adding up to its result.

Before a move the position is worth v, the action chosen q, and what the dice made
of it v'. The choice changed the value by q − v, which is skill (never above 0 for
the mover: 0 is the best there is), and the dice by v' − q, which is luck. Summed
over a game the terms between cancel: luck + skill is the result minus the value
of the start, exactly but for rounding. (The decomposition is that of unbiased
luck in backgammon; Montgomery, "Variance reduction", GammOnLine 2000.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rollwise.answer.solution import Solution


@dataclass(frozen=True)
class Account:
    """One move in the books. Values are in the first player's eyes.

    Attributes
    ----------
    number : int
        Of the move, from 0.
    seat : int
        Who moved: 0 is the player who moved first in the game.
    state, action : int
        Indices into the graph's arrays.
    outcome : int
        Number among the outcomes of the action.
    faces : tuple of int
        Of the dice, where they are known; what was thrown, where the move is a throw.
    line : int
        Of the file that the move was read from; 0 if it was not.
    before, chosen, after : float
        What the game was worth before the choice, after it, and after the dice;
        points made by then included, which the other player has paid in a game of two.
    cost : float
        What the choice took from the mover against the best: from 0.
    is_choice : bool
        Whether there was more than one action.
    is_mistake : bool
        Whether the action is worse than the best beyond the certified error.
    best : int
        The best action.
    """

    number: int
    seat: int
    state: int
    action: int
    outcome: int
    faces: tuple[int, ...]
    line: int
    before: float
    chosen: float
    after: float
    cost: float
    is_choice: bool
    is_mistake: bool
    best: int

    def seen_by(self, seat: int) -> tuple[float, float, float]:
        """What the game was worth to a seat: before the choice, after it, and after the dice."""
        sign = 1.0 if seat == 0 else -1.0
        return sign * self.before, sign * self.chosen, sign * self.after

    def skill_of(self, seat: int) -> float:
        """What the choice did to the value, in the eyes of a seat."""
        before, chosen, _ = self.seen_by(seat)
        return chosen - before

    def luck_of(self, seat: int) -> float:
        """What the dice did to the value, in the eyes of a seat."""
        _, chosen, after = self.seen_by(seat)
        return after - chosen

    @property
    def skill(self) -> float:
        """What the choice did to the value."""
        return self.skill_of(0)

    @property
    def luck(self) -> float:
        """What the dice did to the value."""
        return self.luck_of(0)


@dataclass(frozen=True)
class Ledger:
    """Luck and skill of a game, in the eyes of one player.

    Attributes
    ----------
    start : float
        What the game was worth at the start.
    result : float
        What it came to (1 won, 0 drawn, -1 lost, or the points or payoff), or what it is
        worth now where it isn't over.
    luck : tuple of float
        What the dice did on the moves of this player, and on those of all others.
    skill : tuple of float
        What the choices did: of this player, and of all others.
    """

    start: float
    result: float
    luck: tuple[float, float]
    skill: tuple[float, float]

    @property
    def total_luck(self) -> float:
        return math.fsum(self.luck)

    @property
    def total_skill(self) -> float:
        return math.fsum(self.skill)

    @property
    def discrepancy(self) -> float:
        """What luck and skill differ by from result minus start: rounding."""
        return math.fsum([*self.luck, *self.skill, self.start, -self.result])


def account(
    solution: Solution,
    number: int,
    seat: int,
    state: int,
    action: int,
    outcome: int,
    *,
    points: float = 0.0,
    faces: tuple[int, ...] = (),
    line: int = 0,
) -> Account:
    """Enter a move into the books.

    Parameters
    ----------
    points : float
        Made before the move, in the first player's eyes.
    """
    graph = solution.graph
    sign = 1.0 if seat == 0 else -1.0
    taken = graph.view.action(action)
    ahead = float(taken.outcome(outcome).worth(solution.values))
    made = points + sign * taken.reward
    here = graph.view[state]
    is_choice = here.is_choice
    place = action - here.action_range.start
    choices = solution.choices_in(np.array([state]))
    return Account(
        number,
        seat,
        state,
        action,
        outcome,
        faces,
        line,
        points + sign * float(solution.values[state]),
        points + sign * float(choices.values[place]),
        made + sign * ahead,
        float(choices.regret[place]) if is_choice else 0.0,
        is_choice,
        not bool(choices.is_best[place]),
        int(solution.best_actions_in(np.array([state]))[0]),
    )


def balance(start: float, accounts: Sequence[Account], seat: int = 0) -> Ledger:
    """Add up a game, in the eyes of a seat.

    Parameters
    ----------
    start : float
        What it was worth to the seat at the start.
    """
    own = [entry for entry in accounts if entry.seat == seat]
    others = [entry for entry in accounts if entry.seat != seat]
    return Ledger(
        start,
        accounts[-1].seen_by(seat)[2] if accounts else start,
        (
            math.fsum(entry.luck_of(seat) for entry in own),
            math.fsum(entry.luck_of(seat) for entry in others),
        ),
        (
            math.fsum(entry.skill_of(seat) for entry in own),
            math.fsum(entry.skill_of(seat) for entry in others),
        ),
    )
