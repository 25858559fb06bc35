"""A coach: the cost of a choice, and when to mention it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from rollwise.coach.ledger import grade
from rollwise.coach.session import Choice, Session
from rollwise.errors import UsageError, spelled


class Speaks(StrEnum):
    """When the coach speaks."""

    ALWAYS = "always"  # before each choice and after it
    MISTAKES = "mistakes"  # when a choice is doubtful or worse, before the dice fall
    ASK = "ask"  # when asked for a hint
    OFF = "off"


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
        if speaks not in list(Speaks):
            option = spelled(python="speaks", command_line="--coach")
            raise UsageError(f"{option} is {str(speaks)!r}; it must be {', '.join(Speaks)}")
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
