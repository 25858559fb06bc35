"""The causes of a result: luck and skill, adding up to it, and grades of bad choices.

Let v be the value before a move, q the value of the chosen action, and v' the value after the
dice. The choice changed the value by q − v, which is skill (never above 0 for
the mover, since 0 is the best choice), and the dice by v' − q, which is luck. Summed
over a game the intermediate values cancel: luck + skill is the result minus the value
of the start, exactly but for rounding. (The decomposition is that of unbiased
luck in backgammon; Montgomery, "Variance reduction", GammOnLine 2000.) Values are infinite where
play may cost without bound. A choice that leads there costs infinitely much, and an end after it
is infinite luck.

The grades are those of GNU Backgammon's tutor. They compare the cost with the stake of the
whole game: the difference between a loss and a win, or in a game for points or stakes between the
best and the worst value of a position, or 0. A choice that costs 2 % of it or more is doubtful,
from 4 % bad, and from 8 % very bad.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from rollwise.answer.solution import Solution
from rollwise.numbers.meanings import about, unit

Level = Annotated[float, unit("value")]
Change = Annotated[float, unit("value", "change of the value for the player")]
Cost = Annotated[float, unit("value", "loss to the best action")]
Grades = Annotated[dict[str, int], about("number of doubtful, bad and very bad decisions")]


@dataclass(frozen=True)
class Account:
    """The account of one move.

    Attributes
    ----------
    number : int
        Of the move, from 0.
    seat : int
        The mover: 0 is the first player of the game.
    state, action : int
        Indices into the graph's arrays.
    outcome : int
        Index among the outcomes of the action.
    faces : tuple of int
        Of the dice, if known; the throw, if the move is a throw.
    line : int
        Line of the move in its file; 0 without a file.
    seen : tuple
        Value of the game for each seat: before the choice, after it, and after the dice. It
        includes the points made so far; in a game of two the opponent has paid them.
    cost : float
        Loss of the mover by the choice against the best, from 0.
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
    seen: tuple[tuple[float, float, float], ...]
    cost: float
    is_choice: bool
    is_mistake: bool
    best: int

    def skill_of(self, seat: int) -> float:
        """Change of a seat's value by the choice."""
        before, chosen, _ = self.seen[seat]
        return _change(before, chosen)

    def luck_of(self, seat: int) -> float:
        """Change of a seat's value by the dice."""
        _, chosen, after = self.seen[seat]
        return _change(chosen, after)


def _change(before: float, after: float) -> float:
    """The difference of two values: 0 between infinite ones, where play may never end."""
    return 0.0 if before == after else after - before


@dataclass(frozen=True)
class Ledger:
    """Luck and skill of a game, for one player.

    Attributes
    ----------
    start : float
        Value of the game at the start.
    result : float
        The result (1 won, 0 drawn, -1 lost, or the points or payoff), or the present
        value of an unfinished game.
    luck : tuple of float
        Effect of the dice on the moves of this player, and on those of all others.
    skill : tuple of float
        Effect of the choices of this player, and of all others.
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
        """Difference between luck plus skill and result minus start: rounding.

        NaN where some of these are infinite.
        """
        parts = [*self.luck, *self.skill, self.start, -self.result]
        return math.fsum(parts) if all(map(math.isfinite, parts)) else math.nan


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
    here, taken = solution.graph.view[state], solution.graph.view.action(action)
    fallen, rank = taken.outcome(outcome), action - here.action_range.start
    choices = solution.choices_in(np.array([state]))
    profile = solution.profile
    if profile is None:
        sign = 1.0 if seat == 0 else -1.0
        made = points + sign * taken.reward
        # before the move, after the choice, and after the dice
        first = (
            points + sign * float(solution.values[state]),
            points + sign * float(choices.values[rank]),
            made + sign * float(fallen.worth(solution.values)),
        )
        seen = [first, tuple(-value for value in first)]
    else:
        worth = profile.values[state], profile.action_worths[action], profile.after(fallen)
        # a result is from the mover on: rolled by the mover's seat it is in the order of the seats
        seats = [np.roll(profile.as_values(results), seat) for results in worth]
        seen = np.array(seats).T.tolist()
    return Account(
        number,
        seat,
        state,
        action,
        outcome,
        faces,
        line,
        tuple((before, chosen, after) for before, chosen, after in seen),
        float(choices.regret[rank]) if here.is_choice else 0.0,
        here.is_choice,
        not bool(choices.is_best[rank]),
        int(solution.best_actions_in(np.array([state]))[0]),
    )


def balance(start: float, accounts: Sequence[Account], seat: int = 0) -> Ledger:
    """Add up a game for a seat.

    Parameters
    ----------
    start : float
        Its value for the seat at the start.
    """
    own = [entry for entry in accounts if entry.seat == seat]
    others = [entry for entry in accounts if entry.seat != seat]
    luck, other_luck = (math.fsum(one.luck_of(seat) for one in side) for side in (own, others))
    skill, other_skill = (math.fsum(one.skill_of(seat) for one in side) for side in (own, others))
    result = accounts[-1].seen[seat][2] if accounts else start
    return Ledger(start, result, (luck, other_luck), (skill, other_skill))


# From the worst one: the grade, and its least cost as a share of the stake.
GRADES = (("very bad", 0.08), ("bad", 0.04), ("doubtful", 0.02))


def stake(solution: Solution) -> float:
    """The stake of a game, in units of value: see the head of this module."""
    if not solution.is_score:
        return 2.0
    values = solution.values[np.isfinite(solution.values)]
    if solution.space.players == 2:  # the other player has the opposite
        return 2.0 * float(np.abs(values).max(initial=0.0))
    return float(values.max(initial=0.0) - values.min(initial=0.0))


def grade(solution: Solution, cost: float) -> str | None:
    """How bad it is to lose so much: a grade, or None for less than doubtful."""
    at_stake = stake(solution)
    for name, share in GRADES:
        if cost >= share * at_stake > 0 or math.isinf(cost):
            return name
    return None


def grade_counts(solution: Solution, decisions: Iterable[Account]) -> dict[str, int]:
    """How many decisions were of each grade, the mildest one first."""
    of_decisions = [grade(solution, entry.cost) for entry in decisions]
    return {name: of_decisions.count(name) for name, _ in reversed(GRADES)}
