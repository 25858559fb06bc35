"""An equilibrium as a solution to look at: what its movers see, for pictures, tables and reports.

In a position of an equilibrium the mover has a choice like that in any solved game: each action
has a worth to him, if all go on by the equilibrium, and the best of them costs nothing. So the
values of the movers, with these worths, are a `Solution`, and what reads a solution reads it.
What the others have from a position is in the equilibrium.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.solution import Choices, Solution
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import actions_of, has_ties
from rollwise.graph.lookahead import Ahead
from rollwise.graph.policies import Policy
from rollwise.kernels.chances import UNIT
from rollwise.kernels.many import worth_of_actions
from rollwise.many.component import MARGIN
from rollwise.many.equilibrium import Equilibrium
from rollwise.many.seats import Stakes, tables_of

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class MoverView(Solution):
    """The values of an equilibrium to whoever moves, and what each action is worth to him.

    Attributes
    ----------
    found : Equilibrium
        What it is of. Actions are equally good that can't be told apart by its certified values,
        or by the margin with which it was looked for.
    """

    found: Equilibrium = field(kw_only=True)

    @classmethod
    def of(cls, found: Equilibrium) -> MoverView:
        """That of an equilibrium."""
        graph, stakes = found.graph, Stakes.of(found.graph)
        bounds = found.error_bounds[:, 0] + float(stakes.span) * MARGIN
        return cls(
            graph,
            found.game,
            "equilibrium",
            _as_value(graph, found.values[:, 0]),
            bounds if graph.has_stakes else 2.0 * bounds,
            seconds=found.seconds,
            kept_from=found.kept_from,
            found=found,
        )

    @cached_property
    def action_worths(self) -> Floats:
        """What each action brings each seat, seen from the mover: (n_actions, players)."""
        return worths_of_actions(self.found)

    @cached_property
    def action_values(self) -> Floats:
        return _as_value(self.graph, self.action_worths[:, 0])

    @cached_property
    def ahead(self) -> Ahead:
        graph = self.graph
        unit = float(Stakes.of(graph).span) if graph.has_stakes else 2.0
        gap = self.action_values - self.values[graph.action_state]
        off = unit * errors_of_actions(self.found)
        return Ahead(gap, off, np.zeros(graph.n_actions), self.values, self.error_bounds)

    def choices_in(self, states: NDArray[np.int64]) -> Choices:
        actions, _ = actions_of(self.graph, states)
        values, regret, best = self.action_values, self.regret, self.is_best
        return Choices(actions, values[actions], regret[actions], best[actions])

    def best_actions_in(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.best_actions[states]

    @cached_property
    def policy(self) -> Policy:
        """The equilibrium's policy, which may mix actions."""
        return replace(self.found.policy, tied=has_ties(self.graph, self.is_best))

    def said_of(self, state: int) -> list[str]:
        """What the mover mixes in a position, and what the others have."""
        graph, found = self.graph, self.found
        here = graph.view[state]
        chances = found.policy.probability[list(here.action_range)]
        lines = []
        if np.any((chances > 0) & (chances < 1)):
            pairs = zip(here.action_names, chances.tolist(), strict=True)
            lines.append("mixed: " + ", ".join(f"{name} {100 * p:.2f} %" for name, p in pairs))
        shares = self.texts(found.values[state, 1:].tolist())
        names = ("the next", *(f"{k} after" for k in range(2, found.players)))
        pairs = zip(names, shares, strict=True)
        lines.append(", ".join(f"{name} {share}" for name, share in pairs))
        return lines

    def texts(self, numbers: Sequence[float], digits: int = 2) -> list[str]:
        """What seats get, in words: chances to win in percent, or payoffs."""
        if self.has_stakes:
            return [f"{number:z.{digits + 2}f}" for number in numbers]
        return [f"{100 * number:.{digits}f} %" for number in numbers]

    def _require_answer(self, what: str) -> None:
        if what not in ("pictures", "a report", "advice"):
            raise UsageError(f"{self.graph.title}: {what} can't be had of an equilibrium")
        super()._require_answer(what)


def worths_of_actions(found: Equilibrium) -> Floats:
    """What each action brings each seat, if all go on by the equilibrium.

    Returns
    -------
    (n_actions, players) float64
        Seen from the mover.
    """
    graph = found.graph
    worth = np.empty((graph.n_actions, graph.players))
    lists = graph.action_indptr, graph.outcome_indptr, graph.outcome_state
    stakes = Stakes.of(graph)
    units = stakes.units(found.values)
    worth_of_actions(np.arange(graph.n_states), *lists, tables_of(graph), units, worth)
    return np.asarray(stakes.paid(worth))


def errors_of_actions(found: Equilibrium) -> Floats:
    """How far what the mover gets by each action can be off: (n_actions,), in units of `Stakes`.

    By the errors of what follows, the margin with which an equilibrium is looked for, and
    roundings. Where nothing is known of an error, it counts as none.
    """
    graph = found.graph
    known = np.where(np.isfinite(found.error_bounds), found.error_bounds, 0.0)
    known /= float(Stakes.of(graph).span)
    *chances, payoffs = tables_of(graph)
    lists = graph.action_indptr, graph.outcome_indptr, graph.outcome_state
    off = np.empty((graph.n_actions, graph.players))
    tables = (*chances, np.zeros_like(payoffs))  # ends are known
    worth_of_actions(np.arange(graph.n_states), *lists, tables, known, off)
    terms = 16.0 + float(np.diff(graph.lotteries.indptr).max())
    return np.asarray((1.0 + 2.0 * terms * UNIT) * off[:, 0] + MARGIN + 2.0 * terms * UNIT)


def _as_value(graph: StateGraph, worth: Floats) -> Floats:
    """What a seat gets as the value of a solution: from -1 to 1, or a payoff as it is."""
    return worth.copy() if graph.has_stakes else 2.0 * worth - 1.0
