"""A game in progress: the player to move, the legal choices, the outcomes, and the coach.

A session is independent of terminals. A front end reads `choices`, calls `choose`,
then `roll` (or `fall` for dice on a real table), until `is_over`. If a machine is to move, it
calls `machine_choice` first.

The coach tells the cost of a choice, and decides when to mention it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from rollwise.coach.ledger import Account, Ledger, account, balance, grade
from rollwise.coach.table import Fall, Table
from rollwise.errors import UsageError, spelled
from rollwise.graph.policies import Policy
from rollwise.numbers.randomness import seed_of


class Choice(NamedTuple):
    """Something the mover may do.

    Attributes
    ----------
    action : int
        Index into the graph's arrays.
    name : str
    value : float
        In the mover's eyes, if all is done right afterwards.
    win_probability : float or None
        None in a game for points.
    cost : float
        In units of value, against the best.
    is_best : bool
    """

    action: int
    name: str
    value: float
    win_probability: float | None
    cost: float
    is_best: bool


class Session:
    """A game in progress.

    Parameters
    ----------
    table : Table
    names : sequence of str
        Of the players, the first to move first.
    policies : sequence of Policy, str or None
        Policies of machines, or their names for the table; None is a person.
    seed : int, optional
        Of the dice, and of mixed policies of machines.

    Attributes
    ----------
    state : int
        The present state, from the view of the mover; the last state of a finished game.
    seat : int
        The seat to move.
    pending : int or None
        The chosen action before its dice fall.
    accounts : list of Account
        The moves so far.
    """

    def __init__(
        self,
        table: Table,
        names: Sequence[str] = ("you", "the machine"),
        policies: Sequence[Policy | str | None] = (None, None),
        *,
        seed: int | None = None,
    ) -> None:
        self.table = table
        self.names = tuple(names)
        self.policies = tuple(policies)
        self.seed = seed_of(seed)
        self.state = 0
        self.seat = 0
        self.points = 0.0
        self.pending: int | None = None
        self.is_over = False
        self.accounts: list[Account] = []
        players = table.graph.players
        if len(self.names) != players or len(self.policies) != players:
            raise UsageError(f"{table.graph.game} has {players} players, not {len(self.names)}")

    @property
    def mover(self) -> str:
        """Name of the player to move."""
        return self.names[self.seat]

    @property
    def is_machine(self) -> bool:
        """Whether a machine is to move."""
        return self.policies[self.seat] is not None

    @property
    def choices(self) -> list[Choice]:
        """The legal choices of the mover."""
        solution, view = self.table.solution, self.table.graph.view
        here = view[self.state]
        looked = solution.choices_in(np.array([self.state]))
        return [
            Choice(action, text, value, view.win_probability(value), cost, is_best)
            for text, action, value, cost, is_best in zip(
                here.action_names, *(column.tolist() for column in looked), strict=True
            )
        ]

    @property
    def falls(self) -> list[Fall]:
        """The possible outcomes of the chosen action."""
        return self.table.falls(self._chosen())

    def choose(self, action: int) -> None:
        """Choose an action; its dice fall next.

        Raises
        ------
        UsageError
            It isn't one of the state's actions, or it isn't time to choose.
        """
        if self.is_over:
            raise UsageError("the game is over")
        if self.pending is not None:
            raise UsageError("the dice haven't fallen yet")
        if action not in self.table.actions(self.state):
            raise UsageError(f"action {action} can't be done in this position")
        self.pending = action

    def machine_choice(self) -> int:
        """The action of the mover's policy."""
        machine = self.policies[self.seat]
        if machine is None:
            raise UsageError(f"{self.mover} is a person")
        policy, here = self.table.policies.find(machine), self.table.graph.view[self.state]
        return here.choose(policy.probability, self._random(1)).index

    def roll(self) -> Account:
        """Let the dice fall."""
        number, faces = self.table.narrator.draw(self._chosen(), self._random(0))
        return self.fall(number, faces)

    def throw(self, faces: Sequence[int]) -> Account:
        """Enter the faces of dice thrown by a person.

        Raises
        ------
        UsageError
            These faces are impossible.
        """
        return self.fall(self.table.narrator.fall_of(self._chosen(), faces), faces)

    def fall(self, number: int, faces: Sequence[int] = (), *, line: int = 0) -> Account:
        """Take an outcome of the chosen action by its number.

        Raises
        ------
        UsageError
            There is no such outcome.
        """
        action = self._chosen()
        outcomes = self.table.outcomes(action)
        if not 0 <= number < len(outcomes):
            raise UsageError(f"there is no outcome {number + 1}; there are {len(outcomes)}")
        entry = account(
            self.table.solution,
            len(self.accounts),
            self.seat,
            self.state,
            action,
            number,
            points=self.points,
            faces=self.table.narrator.shown(action, number) or tuple(faces),
            line=line,
        )
        self.accounts.append(entry)
        self.pending = None
        self.points += self._gain(entry)
        fallen = self.table.graph.view.action(action).outcome(number)
        if fallen.is_over:
            self.is_over = True
        else:
            self.seat = (self.seat + fallen.seats_on) % self.table.graph.players
            self.state = self.table.entered(fallen.target)
        return entry

    @property
    def last_choice(self) -> int | None:
        """The number of the last move chosen by a person, if any."""
        for entry in reversed(self.accounts):
            if entry.is_choice and self.policies[entry.seat] is None:
                return entry.number
        return None

    def undo(self) -> None:
        """Take back the last choice of a person, and all later moves.

        The dice of every move fall as before if it is made again.

        Raises
        ------
        UsageError
            There is none.
        """
        had_choice = len(self.table.actions(self.state)) > 1 and not self.is_machine
        if self.pending is not None and had_choice:
            self.pending = None
            return
        number = self.last_choice
        if number is None:
            raise UsageError("there is no choice yet to take back")
        self.pending = None
        entry = self.accounts[number]
        del self.accounts[number:]
        self.state, self.seat, self.is_over = entry.state, entry.seat, False
        self.points = 0.0
        # added anew, since subtracting would leave a rounding
        for before in self.accounts:
            self.points += self._gain(before)

    def _gain(self, entry: Account) -> float:
        """The first player's gain by a move."""
        reward = self.table.graph.view.action(entry.action).reward
        return reward if entry.seat == 0 else -reward

    def score(self, seat: int = 0, before: int | None = None) -> float:
        """The points of a player, in a game for points or a contest at one.

        Parameters
        ----------
        before : int, optional
            Only those of the moves before this one.
        """
        mine = [entry.action for entry in self.accounts[:before] if entry.seat == seat]
        return math.fsum(map(self.table.narrator.points_of, mine))

    def told(self, entry: Account) -> str:
        """A move in words: the player, the action, the dice and the result."""
        return self.table.narrator.sentence(
            self.names[entry.seat],
            entry.action,
            entry.outcome,
            entry.faces,
            points=self.score(entry.seat, entry.number),
            names=[*self.names[entry.seat :], *self.names[: entry.seat]],
        )

    def ledger(self, seat: int = 0) -> Ledger:
        """Luck and skill so far, in the eyes of a seat."""
        return balance(self.table.worth_at_start(seat), self.accounts, seat)

    def _chosen(self) -> int:
        if self.pending is None:
            raise UsageError("no action is chosen yet")
        return self.pending

    def _random(self, purpose: int) -> np.random.Generator:
        """Random numbers for this move alone, unchanged if the game was interrupted."""
        key = (len(self.accounts), purpose)
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))


class Speaks(StrEnum):
    """When the coach speaks."""

    ALWAYS = "always"  # before each choice and after it
    MISTAKES = "mistakes"  # when a choice is doubtful or worse, before the dice fall
    ASK = "ask"  # when asked for a hint
    OFF = "off"

    @classmethod
    def _missing_(cls, value: object) -> Speaks:
        option = spelled(python="speaks", command_line="--coach")
        raise UsageError(f"{option} is {value!r}; it must be {', '.join(cls)}")


class Remark(NamedTuple):
    """The coach's remark on a choice.

    Attributes
    ----------
    cost : float
        In units of value, against the best.
    is_mistake : bool
        Whether it is worse than the best, beyond the certified error.
    grade : str or None
        ``doubtful``, ``bad``, ``very bad``, or None for a smaller cost.
    best : str
        The best choice, by name.
    """

    cost: float
    is_mistake: bool
    grade: str | None
    best: str


class Coach:
    """Watches a session.

    Parameters
    ----------
    session : Session
    speaks : Speaks or str
        ``always``, ``mistakes``, ``ask`` or ``off``.

    Raises
    ------
    UsageError
        It is none of these.
    """

    def __init__(self, session: Session, speaks: Speaks | str = Speaks.ASK) -> None:
        self.session = session
        self.speaks = Speaks(speaks)

    @property
    def shows_values(self) -> bool:
        """Whether the choices are shown with their values."""
        return self.speaks is Speaks.ALWAYS

    def hint(self) -> list[Choice]:
        """The legal choices, the best first.

        Raises
        ------
        UsageError
            The coach is switched off.
        """
        if self.speaks is Speaks.OFF:
            ask = spelled(python="speaks='ask'", command_line="--coach ask")
            raise UsageError(f"the coach keeps silent; begin with {ask} to be able to ask")
        return sorted(self.session.choices, key=lambda choice: choice.cost)

    def warning(self) -> Remark | None:
        """The remark before the dice of the chosen action fall."""
        if self.speaks is not Speaks.MISTAKES or self.session.pending is None:
            return None
        remark = self.remark(self.session.state, self.session.pending)
        return remark if remark.grade is not None else None

    def verdict(self) -> Remark | None:
        """The remark on the last move, after it is made."""
        session = self.session
        if self.speaks is not Speaks.ALWAYS or not session.accounts:
            return None
        entry = session.accounts[-1]
        by_person = session.policies[entry.seat] is None
        return self.remark(entry.state, entry.action) if by_person and entry.is_choice else None

    def remark(self, state: int, action: int) -> Remark:
        """The remark on an action in a state."""
        table = self.session.table
        solution, here = table.solution, np.array([state])
        choices = solution.choices_in(here)
        rank = action - table.actions(state).start
        cost = float(choices.regret[rank])
        best = int(solution.best_actions_in(here)[0])
        return Remark(
            cost,
            not bool(choices.is_best[rank]),
            grade(solution, cost),
            table.graph.view.action(best).distinct_name,
        )
