"""An equilibrium as a solution to look at: what its movers see, for pictures, tables and reports.

In a position of an equilibrium the mover has a choice like that in any solved game: each action
has a worth to him, if all go on by the equilibrium, and the best of them costs nothing. So the
values of the movers, with these worths, are a `Solution`, and what reads a solution reads it.
What the others have from a position is in the equilibrium.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.rows import Cells, cells_of, frame_of
from rollwise.answer.solution import Choices, Solution
from rollwise.errors import UsageError
from rollwise.graph import THROW, StateGraph
from rollwise.graph.choices import actions_of, has_ties
from rollwise.graph.lookahead import Ahead
from rollwise.graph.policies import Policy
from rollwise.kernels.chances import UNIT
from rollwise.kernels.many import worth_of_actions
from rollwise.many.component import MARGIN
from rollwise.many.seats import Stakes, tables_of, worth_column
from rollwise.numbers.printed import column, rounded_up

if TYPE_CHECKING:
    import polars as pl

    from rollwise.answer.grids import Grid
    from rollwise.many.equilibrium import Equilibrium, Worth

Floats = NDArray[np.float64]


class SeatsAdvice(NamedTuple):
    """What a state is worth to each seat, from the mover on, and what each action brings them.

    Attributes
    ----------
    state : dict
        Its fields by name, and what was thrown.
    values : list of float
        Chances to win, or expected payoffs.
    error_bound, deviation_gain : float
        Of the state; proved.
    actions : list of Worth
    action_bound : float
        Of the numbers of all actions; proved.
    """

    state: dict[str, int]
    values: list[float]
    error_bound: float
    deviation_gain: float
    actions: list[Worth]
    action_bound: float

    def as_rows(self) -> tuple[list[str], list[list[str]], str]:
        """The columns, a row for each action, and how sure its numbers are."""
        n = len(self.values)
        seats = ["the mover", "the next", *(f"{k} after" for k in range(2, n))]
        rows = []
        for worth in self.actions:
            cells = [cell.number for cell in column(worth.values, [self.action_bound] * n)]
            rows.append(
                [worth.action, f"{100 * worth.chance:.7g} %" if worth.chance else "", *cells]
            )
        sure = sure_text(self.action_bound, rounded_up(self.action_bound * 1.2))
        gain = gain_text(self.deviation_gain, " from here by another policy")
        return ["action", "taken", *seats], rows, f"{sure}, if all go on by the equilibrium; {gain}"


def sure_text(bound: float, told: str) -> str:
    """How sure numbers are, whose printed bound is told."""
    return f"certified ± {told}" if np.isfinite(bound) else "not certified: no bound was proved"


def gain_text(gain: float, how: str = "") -> str:
    """How much anybody gains, in words: ``nobody gains more than 2e-15 by another policy``."""
    if not np.isfinite(gain):
        return f"what anybody can gain{how} isn't known, since no bound was proved"
    return f"nobody gains more than {rounded_up(gain)}{how}"


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
        unit = Stakes.of(graph).span if graph.has_stakes else 2.0
        gap = self.action_values - self.values[graph.action_state]
        off = unit * errors_of_actions(self.found)
        return Ahead(gap, off, np.zeros(graph.n_actions), self.values, self.error_bounds)

    # The table has a row for each action that is taken; rows stand for states in what asks for it.

    def states_where(self, where: str | None = None, *, throws: bool = False) -> NDArray[np.int64]:
        """The actions that have a row in `table`: most states have one that is taken.

        Parameters
        ----------
        throws : bool
            Those of positions before a throw too, in which nothing is chosen.
        """
        from rollwise.answer.filters import rows_where

        graph = self.graph
        rows = np.flatnonzero(self.found.policy.probability > 0)
        if not throws:
            rows = rows[graph.action_label[rows] != THROW]
        if where is not None:
            rows = rows[rows_where(self.rows_of(rows), where, graph.vocabulary)]
        return rows

    def rows_of(
        self, states: NDArray[np.int64], *, throws: bool = False, each_action: bool = False
    ) -> pl.DataFrame:
        columns = self._columns_of(states, each_action)
        return frame_of(columns, len(states), self.graph.vocabulary)

    def cells_of(
        self, states: NDArray[np.int64], *, throws: bool = False, each_action: bool = False
    ) -> Cells:
        columns = self._columns_of(states, each_action)
        return cells_of(columns, len(states), self.graph.vocabulary)

    def _columns_of(self, rows: NDArray[np.int64], each_action: bool) -> dict[str, Any]:
        """The fields, what is taken and how likely, and what each seat gets from the mover on."""
        found, graph = self.found, self.graph.flat
        states = graph.action_state[rows]
        columns: dict[str, Any] = dict(zip(graph.field_names, graph.states[states].T, strict=True))
        columns["action"] = graph.action_label[rows]
        columns["probability"] = found.policy.probability[rows]
        for seat in range(found.players):
            columns[f"{worth_column(graph)}.{seat}"] = found.values[states, seat]
        columns["error_bound"] = found.error_bounds[states].max(axis=1)
        columns["deviation_gain"] = found.deviation_gains[states].max(axis=1)
        return columns | (self.worth_by_action(states.astype(np.int64)) if each_action else {})

    def grid(self, where: str | None = None, *, throws: bool = False) -> Grid:
        raise UsageError(f"{self.graph.title}: a grid is for one player or two")

    def advise(  # type: ignore[override]
        self,
        state: Sequence[Any] | Mapping[str, Any],
        throw: int | Sequence[int] | None = None,
        rolls_left: int | None = None,
    ) -> SeatsAdvice:
        """What each action of a state brings each seat, if all go on by the equilibrium."""
        found, s = self.found, self.find(state, throw, rolls_left)
        here, actions = self.graph.view[s], found.advise(s)
        bound = found.error_bound
        if not np.isfinite(bound):
            outcomes = (outcome for action in here.actions for outcome in action.outcomes)
            errors = [float(found.error_bounds[o.target].max()) for o in outcomes if not o.is_over]
            bound = max(errors, default=0.0)
        return SeatsAdvice(
            here.named,
            found.values[s].tolist(),
            float(found.error_bounds[s].max()),
            float(found.deviation_gains[s].max()),
            actions,
            # and of the average of the next states
            bound + 2.0**-50 * max(1.0, float(np.abs(found.values).max())),
        )

    def choices_in(self, states: NDArray[np.int64]) -> Choices:
        actions, _ = actions_of(self.graph, states)
        values, regret, best = self.action_values, self.regret, self.is_best
        return Choices(actions, values[actions], regret[actions], best[actions])

    @cached_property
    def best_actions(self) -> NDArray[np.int64]:
        """What the equilibrium does; where it mixes, the likeliest action."""
        graph, chance = self.graph, self.found.policy.probability
        begins = graph.action_indptr[:-1]
        likeliest = chance == np.maximum.reduceat(chance, begins)[graph.action_state]
        places = np.where(likeliest, np.arange(graph.n_actions), graph.n_actions)
        return np.minimum.reduceat(places, begins)

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

    def as_values(self, worth: Any) -> Any:
        """Chances to win as values, from -1 to 1; payoffs as they are."""
        return _as_value(self.graph, worth)

    def texts(self, numbers: Sequence[float], digits: int = 2) -> list[str]:
        """What seats get, in words: chances to win in percent, or payoffs."""
        if self.has_stakes:
            return [f"{number:z.{digits + 2}f}" for number in numbers]
        return [f"{100 * number:.{digits}f} %" for number in numbers]

    def _require_answer(self, what: str) -> None:
        if what not in ("pictures", "a report", "columns of actions"):
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
    known /= Stakes.of(graph).span
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
