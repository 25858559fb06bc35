"""Equilibria from disk: of a Parquet file with a row for each action that is taken.

`Equilibrium.save` writes the file. It names the game, its parameters and the hash of its graph.
Nothing else that it says is believed: the graph is built from the rules, and the values and gains
are proved anew.

Equilibria are kept between runs too, as answers are: see `rollwise.answer.kept`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.kept import Entry, graph_of, parts_of_graph
from rollwise.answer.storage import (
    EQUILIBRIUM,
    damaged_file,
    read_facts,
    require_rules,
    require_same,
)
from rollwise.answer.verify import MOST_EXACT, Verification
from rollwise.answer.verify import verify as verify_values
from rollwise.builders import Mode
from rollwise.errors import RefusedFile, SolutionFileError, UsageError
from rollwise.game import Game
from rollwise.graph.policies import Policy
from rollwise.machine.parquet_files import read_parquet
from rollwise.many.equilibrium import PLACE, Equilibrium, Progress, equilibrium_on, proved
from rollwise.many.equilibrium import equilibrium as find_equilibrium
from rollwise.many.finding import Found
from rollwise.many.mover_view import worths_of_actions
from rollwise.many.seats import Stakes, build_seats, worth_column
from rollwise.many.table import Players
from rollwise.numbers.printed import rounded_up
from rollwise.proofs.check_rules import Claims, check_rules, numbers_of

if TYPE_CHECKING:
    import polars as pl

KIND = "equilibrium"
ARRAYS = ("values", "error_bounds", "deviation_gains")


def equilibrium(
    game: Game,
    *,
    max_states: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Equilibrium:
    """As `rollwise.equilibrium` gives it: kept, or found and then kept."""
    kept = _recalled(game, max_states)
    if kept is not None:
        return kept
    found = find_equilibrium(game, max_states=max_states, time_limit=time_limit, progress=progress)
    if not found.timed_out:
        _note(found)
    return found


def players(
    game: Game, *, max_states: int | None = None, progress: Progress | None = None
) -> Players:
    """Who can sit at the table; an equilibrium is found, or read, when somebody plays it."""
    kept = _recalled(game, max_states)
    if kept is not None:
        return kept.table
    began = time.perf_counter()
    graph = build_seats(game, max_states=max_states, progress=progress)
    seconds = {"build": time.perf_counter() - began}

    def find() -> Policy:
        found = equilibrium_on(graph, game, seconds, progress=progress)
        _note(found)
        return found.policy

    return Players(graph, game, find)


def _recalled(game: Game, max_states: int | None) -> Equilibrium | None:
    began = time.perf_counter()
    made_of: Callable[[dict[str, Any]], Equilibrium] = partial(_of_parts, game, began)
    found = Entry.of(game).recall(KIND, made_of)
    too_large = found is not None and found.graph.n_states > (max_states or found.graph.n_states)
    return None if too_large else found


def _of_parts(game: Game, began: float, parts: dict[str, Any]) -> Equilibrium:
    graph = graph_of(parts, game)
    values, bounds, gains = (parts[f"profile.{name}"] for name in ARRAYS)
    policy = Policy("optimal", parts["profile.probability"])
    shape = (graph.n_states, graph.players)
    if (
        any(array.shape != shape for array in (values, bounds, gains))
        or len(policy.probability) != graph.n_actions
    ):
        raise ValueError("an equilibrium of another graph")
    return Equilibrium(
        graph,
        game,
        policy,
        values,
        bounds,
        gains,
        tuple(parts["unsettled"]),
        {"read": time.perf_counter() - began},
        parts["kept_from"],
    )


def _note(found: Equilibrium) -> None:
    arrays, facts = parts_of_graph(found.graph, found.game)
    arrays |= {f"profile.{name}": getattr(found, name) for name in ARRAYS}
    arrays["profile.probability"] = found.policy.probability
    facts["unsettled"] = list(found.unsettled)
    facts["kept_from"] = time.strftime("%Y-%m-%d %H:%M")
    Entry.of(found.game).note(KIND, arrays, facts, sum(found.seconds.values()))


def load_equilibrium(
    path: str | Path,
    game: Game | None = None,
    *,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Equilibrium:
    """Read an equilibrium that `Equilibrium.save` wrote, and prove anew how good it is.

    Parameters
    ----------
    path : path
    game : Game, optional
        The rules that it must fit. Without, the game must be one that is installed: a file
        names no code to be run.
    max_states, progress
        As `rollwise.equilibrium` takes them.

    Raises
    ------
    SolutionFileError
        The file is damaged, or was made for other rules, or names a game that isn't installed.
    """
    path = Path(path)
    facts = read_facts(path)
    if facts["method"] != EQUILIBRIUM:
        raise SolutionFileError(f"{path} is no equilibrium of a game for three or more")
    return _proved_anew(path, facts, game, max_states=max_states, progress=progress)[0]


def _proved_anew(
    path: Path, facts: dict[str, Any], game: Game | None, **how: Any
) -> tuple[Equilibrium, pl.DataFrame]:
    """The equilibrium of a file with the bounds that are proved now, and the rows of the file."""
    game = require_rules(path, facts, game)
    began = time.perf_counter()
    graph = build_seats(game, **how)
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
    total = np.add.reduceat(probability, graph.action_indptr[:-1])
    if not (np.isfinite(values).all() and np.all(np.abs(total - 1.0) < 1e-9)):
        raise damaged_file(path, "it doesn't say of each state what is done there")
    unsettled = tuple(facts["unsettled"])
    if not all(type(c) is int and 0 <= c < len(graph.components) for c in unsettled):
        raise damaged_file(path, "its description names components that aren't there")
    units = np.clip(Stakes.of(graph).units(values), 0.0, None)
    found = Found(units, probability, list(unsettled))
    return proved(graph, game, found, spent, how["progress"]), frame


@dataclass(frozen=True)
class SeatsVerification(Verification):
    """What became of verifying the file of an equilibrium.

    Attributes
    ----------
    deviation_gain : float
        Nobody gains more than this by another policy, in any position. Proved.
    """

    deviation_gain: float = float("inf")

    def __str__(self) -> str:
        gain = f"\n  nobody gains more than {rounded_up(self.deviation_gain)} by another policy"
        return super().__str__() + ("" if self.fault else gain)


def verify(
    path: str | Path,
    game: Game | None = None,
    *,
    exact: bool = False,
    mode: Mode = "auto",
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Check every value of a saved answer against its bound, without a solver.

    Parameters
    ----------
    path : path of a file made by `Solution.save` or `Equilibrium.save`
    game, exact, mode, max_states, progress
        See `rollwise.answer.verify.verify`, which says what is raised, too.

    Returns
    -------
    Verification
        Whose `fault` says what is wrong with the file, if something is.
    """
    path = Path(path)
    how: dict[str, Any] = {"mode": mode, "max_states": max_states, "progress": progress}
    try:
        facts = read_facts(path, damaged=True)
        if facts["method"] != EQUILIBRIUM:
            return verify_values(path, game, exact=exact, **how)
        began = time.perf_counter()
        found, frame = _proved_anew(path, facts, game, **how)
    except SolutionFileError as error:
        damaged = path.is_file() and "is damaged" in str(error)
        raise RefusedFile(str(error)) if damaged else error from None
    graph = found.graph
    if exact and graph.n_outcomes > MOST_EXACT:
        raise UsageError(
            f"{graph.title} has {graph.n_outcomes:,} outcomes, and exact arithmetic is for up to "
            f"{MOST_EXACT:,}; leave out --exact"
        )
    state = _unproved(found, frame)
    fault = "" if state is None else f"its bounds at {graph.state_text(state)} aren't proved"
    if exact and not fault:
        fault = check_rules(found.game, claims_of(found))
    worth = found.policy.probability[:, None] * worths_of_actions(found)
    ahead = np.add.reduceat(worth, graph.action_indptr[:-1])
    build = found.seconds["build"]
    return SeatsVerification(
        graph.game,
        graph.parameters,
        graph.n_positions,
        exact,
        found.error_bound,
        float(np.abs(ahead - found.values).max()),
        fault,
        None if state is None else graph.view[state].named,
        {"build": build, "check": time.perf_counter() - began - build},
        found.deviation_gain,
    )


def _unproved(found: Equilibrium, frame: pl.DataFrame) -> int | None:
    """The first state of which a file claims smaller bounds than are proved, if there is one."""
    states = found.graph.action_state[frame[PLACE].to_numpy()]
    pairs = (("error_bound", found.error_bounds), ("deviation_gain", found.deviation_gains))
    for name, bounds in pairs:
        proved_now: NDArray[np.float64] = bounds[states].max(axis=1)
        doubtful = states[~(proved_now <= frame[name].to_numpy())]
        if len(doubtful):
            return int(doubtful[0])
    return None


def claims_of(found: Equilibrium) -> Claims:
    """What is claimed of the positions of an equilibrium, for the check on the rule sheet."""
    graph, flat, n = found.graph, found.graph.flat, found.graph.n_positions
    width = len(graph.field_names)
    profile: dict[Any, dict[int, float]] = {}
    for action in np.flatnonzero(found.policy.probability > 0).tolist():
        row = tuple(flat.states[flat.action_state[action]].tolist())
        chances = profile.setdefault((row[:width], row[width:]), {})
        chances[int(flat.action_label[action])] = float(found.policy.probability[action])

    def mixture(state: Any, throw: Any) -> dict[int, float]:
        thrown = () if throw is None else throw if isinstance(throw, tuple) else (throw,)
        return profile[numbers_of(found.game, state), thrown]

    places = list(map(tuple, graph.states[:n].tolist()))
    values, bounds, gains = (
        dict(zip(places, map(tuple, part[:n].tolist()), strict=True))
        for part in (found.values, found.error_bounds, found.deviation_gains)
    )
    return Claims(values, bounds, gains, mixture)
