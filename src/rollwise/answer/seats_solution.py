"""The answer to a game of three or more players: an equilibrium, as a `Solution`.

In a position of an equilibrium each action has a value for the mover, given the equilibrium play of
all others. The best action has no cost. Movers' values and action values form a `Solution` for
pictures, tables, reports and play. Its `equilibrium` has the numbers of all seats.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.rows import Cells, cells_of, frame_of
from rollwise.answer.solution import Choices, Solution
from rollwise.answer.storage import (
    EQUILIBRIUM,
    FORMAT,
    PLACE,
    damaged_file,
    require_rules,
    require_same,
)
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.graph import NO_THROW, THROW, StateGraph
from rollwise.graph.choices import Ahead, actions_of, fold_actions, has_ties
from rollwise.graph.policies import Policy
from rollwise.machine.atomic_files import write_atomically
from rollwise.machine.parquet_files import read_parquet, write_parquet
from rollwise.many.component import MARGIN
from rollwise.many.equilibrium import Equilibrium, equilibrium_on, proved
from rollwise.many.finding import Found
from rollwise.many.seats import Stakes, build_seats, worth_column
from rollwise.numbers.printed import column, in_common, rounded_up

if TYPE_CHECKING:
    import polars as pl

    from rollwise.answer.grids import Grid

Floats = NDArray[np.float64]
Progress = Callable[[str, int, int | None], None]
ARRAYS = ("values", "error_bounds", "deviation_gains")  # those of an equilibrium


@dataclass(frozen=True, eq=False)
class ActionWorth:
    """The value of one action for each seat, from the mover on.

    Attributes
    ----------
    action : str
    chance : float
        Its probability in the equilibrium.
    values : tuple of float
    """

    action: str
    chance: float
    values: tuple[float, ...]


class SeatsAdvice(NamedTuple):
    """The values of a state and of its actions for each seat, from the mover on.

    Attributes
    ----------
    state : dict
        Its fields by name, and its throw.
    values : list of float
        Chances to win, or expected payoffs.
    error_bound, deviation_gain : float
        Of the state; proved.
    actions : list of ActionWorth
    action_bound : float
        Of the numbers of all actions; proved.
    """

    state: dict[str, int]
    values: list[float]
    error_bound: float
    deviation_gain: float
    actions: list[ActionWorth]
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
    """The text of an error bound."""
    return f"certified ± {told}" if np.isfinite(bound) else "not certified: no bound was proved"


def gain_text(gain: float, how: str = "") -> str:
    """The bound on the gain, in words: ``nobody gains more than 2e-15 by another policy``."""
    if not np.isfinite(gain):
        return f"the gain of a player{how} is unknown: no bound was proved"
    return f"nobody gains more than {rounded_up(gain)}{how}"


@dataclass(frozen=True, eq=False, repr=False)
class SeatsSolution(Solution):
    """The answer to a game of three or more players: its values are those of the mover.

    Attributes
    ----------
    equilibrium : Equilibrium
        The profile, with the numbers of all seats and the proof of them. Two actions are equally
        good if its certified values, or the margin of the search, can't tell them apart.
    """

    equilibrium: Equilibrium = field(kw_only=True)

    @classmethod
    def of(cls, found: Equilibrium) -> SeatsSolution:
        """The answer that an equilibrium is."""
        graph, stakes = found.graph, Stakes.of(found.graph)
        bounds = found.error_bounds[:, 0] + stakes.span * MARGIN
        return cls(
            graph,
            found.game,
            "equilibrium",
            _as_value(graph, found.values[:, 0]),
            bounds if graph.has_stakes else 2.0 * bounds,
            seconds=found.seconds,
            equilibrium=found,
        )

    @classmethod
    def of_graph(cls, graph: StateGraph, game: Game | None = None) -> SeatsSolution:
        """Find an equilibrium on a graph of `rollwise.many.seats.build_seats`.

        Raises
        ------
        UsageError
            The game isn't given.
        """
        if game is None:
            raise UsageError(f"{graph.title}: give the game, and not its graph alone")
        return cls.of(equilibrium_on(graph, game, {}))

    @property
    def status(self) -> str:
        """``certified``; ``not certified`` without a proved bound; or ``no equilibrium``.

        In the last case the search found none, and the bounds hold for its profile.
        """
        return "no equilibrium" if self.equilibrium.unsettled else super().status

    @property
    def gave_up(self) -> bool:
        return False  # the proof holds for any profile

    @cached_property
    def action_values(self) -> Floats:
        return _as_value(self.graph, self.equilibrium.action_worths[:, 0])

    @cached_property
    def ahead(self) -> Ahead:
        graph = self.graph
        unit = Stakes.of(graph).span if graph.has_stakes else 2.0
        gap = self.action_values - self.values[graph.action_state]
        off = unit * self.equilibrium.action_errors
        return Ahead(gap, off, np.zeros(graph.n_actions), self.values, self.error_bounds)

    # The table has a row for each action taken; here the rows take the place of states.

    def states_where(self, where: str | None = None, *, throws: bool = False) -> NDArray[np.int64]:
        """The actions with a row in `table`: those with positive probability.

        Parameters
        ----------
        throws : bool
            Whether to include the throws of positions before a throw.
        """
        from rollwise.answer.filters import rows_where

        graph = self.graph
        rows = np.flatnonzero(self.equilibrium.policy.probability > 0)
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
        """The fields, the action, its probability, and the value of each seat from the mover on."""
        found, graph = self.equilibrium, self.graph.flat
        states = graph.action_state[rows]
        columns: dict[str, Any] = dict(zip(graph.field_names, graph.states[states].T, strict=True))
        for name in graph.throw_names:
            if NO_THROW in columns[name]:  # before the throw
                columns[name] = [None if x == NO_THROW else x for x in columns[name].tolist()]
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
        """The value of each action of a state for each seat, before equilibrium play."""
        found, s = self.equilibrium, self.find(state, throw, rolls_left)
        here, actions = self.graph.view[s], self.actions_at(s)
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

    def actions_at(self, state: int) -> list[ActionWorth]:
        """The values of each action of a state, given by its number, for each seat."""
        found = self.equilibrium
        return [
            ActionWorth(
                action.name,
                float(found.policy.probability[action.index]),
                tuple(found.action_worths[action.index].tolist()),
            )
            for action in self.graph.view[state].actions
        ]

    def choices_in(self, states: NDArray[np.int64]) -> Choices:
        actions, _ = actions_of(self.graph, states)
        values, regret, best = self.action_values, self.regret, self.is_best
        return Choices(actions, values[actions], regret[actions], best[actions])

    @cached_property
    def best_actions(self) -> NDArray[np.int64]:
        """The equilibrium's likeliest action in each state."""
        graph, chance = self.graph, self.equilibrium.policy.probability
        likeliest = chance == fold_actions(graph, np.maximum, chance)[graph.action_state]
        places = np.where(likeliest, np.arange(graph.n_actions), graph.n_actions)
        return fold_actions(graph, np.minimum, places)

    def best_actions_in(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.best_actions[states]

    @cached_property
    def policy(self) -> Policy:
        """The equilibrium's policy, which may mix actions."""
        return replace(self.equilibrium.policy, tied=has_ties(self.graph, self.is_best))

    def said_of(self, state: int) -> list[str]:
        """The mover's mixture in a position, and the values of the others."""
        graph, found = self.graph, self.equilibrium
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

    @property
    def is_final(self) -> bool:
        return not self.equilibrium.timed_out

    def parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Its arrays, and its other data: see `of_parts`."""
        found = self.equilibrium
        arrays = {name: getattr(found, name) for name in ARRAYS}
        return arrays | {"probability": found.policy.probability}, {"unsettled": found.unsettled}

    @classmethod
    def of_parts(cls, graph: StateGraph, game: Game, parts: Mapping[str, Any]) -> SeatsSolution:
        """The solution from its parts, kept by an earlier run."""
        values, bounds, gains = (parts[name] for name in ARRAYS)
        policy = Policy("optimal", parts["probability"])
        shape = graph.n_states, graph.players
        if any(array.shape != shape for array in (values, bounds, gains)):
            raise ValueError("an equilibrium of another graph")
        unsettled = tuple(parts["unsettled"])
        found = Equilibrium(graph, game, policy, values, bounds, gains, unsettled, {})
        return replace(cls.of(found), kept_from=parts["kept_from"])

    def save(self, path: str | Path) -> None:
        """Write it to a Parquet file, all at once or not at all (see `rollwise.load`).

        The file is a table too, a row for each action that is taken, as in `table`.
        """
        import polars as pl

        graph, found = self.graph, self.equilibrium
        taken = np.flatnonzero(found.policy.probability > 0)
        frame = self.table(throws=True).with_columns(pl.Series(PLACE, taken))
        facts = {
            "format": FORMAT,
            "game": graph.game,
            "parameters": dict(graph.parameters),
            "graph_hash": graph.content_hash,
            "method": EQUILIBRIUM,
            "unsettled": list(found.unsettled),
            "deviation_gain": found.deviation_gain,
            "error_bound": found.error_bound,
        }
        metadata = {"rollwise": json.dumps(facts)}
        write_atomically(Path(path), lambda place: write_parquet(frame, place, metadata))

    def __repr__(self) -> str:
        found = self.equilibrium
        numbers, told = in_common(column(found.worth, [found.error_bound] * found.players))
        what = "payoffs" if self.has_stakes else "the seats win with probabilities"
        sure = sure_text(found.error_bound, told)
        return f"<Solution of {self.graph.title}: {what} {', '.join(numbers)} ({sure})>"

    def as_values(self, worth: Any) -> Any:
        """Chances to win as values, from -1 to 1; payoffs as they are."""
        return _as_value(self.graph, worth)

    def texts(self, numbers: Sequence[float], digits: int = 2) -> list[str]:
        """The seats' values in words: chances to win in percent, or payoffs."""
        if self.has_stakes:
            return [f"{number:z.{digits + 2}f}" for number in numbers]
        return [f"{100 * number:.{digits}f} %" for number in numbers]

    def _require_answer(self, what: str) -> None:
        if what == "a page":
            raise UsageError(f"{self.graph.title}: {what} can't be had of an equilibrium")
        super()._require_answer(what)


def read_equilibrium(
    path: Path,
    facts: dict[str, Any],
    game: Game | None,
    *,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> tuple[Equilibrium, pl.DataFrame]:
    """The equilibrium of a file with newly proved bounds, and the rows of the file.

    The file gives the game, its parameters and the hash of its graph. The graph is built from the
    rules, and values and gains are proved anew.

    Raises
    ------
    SolutionFileError
        The file is damaged, or was made for other rules, or names a game that isn't installed.
    """
    game = require_rules(path, facts, game)
    began = time.perf_counter()
    graph = build_seats(game, max_states=max_states, progress=progress)
    spent = {"build": time.perf_counter() - began}
    require_same(path, facts, graph)
    n = graph.players
    columns = [PLACE, "probability", *(f"{worth_column(graph)}.{seat}" for seat in range(n))]
    try:
        frame = read_parquet(path, [*columns, "error_bound", "deviation_gain"])
        place, chance, *shares = (frame[name].to_numpy() for name in columns)
        probability, values = np.zeros(graph.n_actions), np.full((graph.n_states, n), np.nan)
        probability[place] = chance
        values[graph.action_state[place]] = np.column_stack(shares)
    except (OSError, ValueError, TypeError, IndexError, KeyError) as error:
        raise damaged_file(path, "its columns can't be read") from error
    total = fold_actions(graph, np.add, probability)
    if not (np.isfinite(values).all() and np.all(np.abs(total - 1.0) < 1e-9)):
        raise damaged_file(path, "it doesn't say of each state what is done there")
    unsettled = tuple(facts["unsettled"])
    if not all(type(c) is int and 0 <= c < len(graph.components) for c in unsettled):
        raise damaged_file(path, "its description names components that aren't there")
    units = np.clip(Stakes.of(graph).units(values), 0.0, None)
    return proved(graph, game, Found(units, probability, list(unsettled)), spent, progress), frame


def _as_value(graph: StateGraph, worth: Floats) -> Floats:
    """A seat's result as the value of a solution: from -1 to 1, or the payoff itself."""
    return worth.copy() if graph.has_stakes else 2.0 * worth - 1.0
