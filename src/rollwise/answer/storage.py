"""Solutions on disk: a Parquet file for any data tool, loaded only with its own rules.

A row is a state, in the order of the graph: the fields, the best action, the
value, its error bound, and a checksum of these two (`checksum`, or `checksum_` if a field has that
name; likewise the other columns). The file's metadata identifies its game: the name and parameters,
the hash of the graph, a checksum of the values, the method, and the versions of the writer. The
writer isn't trusted: a file names no code to run, and its error bounds are proved anew
(`rollwise.proofs.check`). The checksums are for accidents: they locate the damaged row.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise import __version__
from rollwise.builders import Progress, build_with_report
from rollwise.errors import SolutionFileError, UnknownGame, spelled
from rollwise.game import Game, require_game, with_an_end
from rollwise.games import create, find_installed
from rollwise.graph import NO_THROW, StateGraph, title_of
from rollwise.graph.choices import action_gaps, fold_actions
from rollwise.graph.naming import free_name
from rollwise.machine.atomic_files import checksum_of, require_file, write_atomically
from rollwise.machine.parquet_files import (
    read_metadata,
    read_parquet,
    require_parquet,
    write_parquet,
)
from rollwise.proofs.check import Verdict
from rollwise.proofs.check_endless import check_game

if TYPE_CHECKING:
    import polars as pl

    from rollwise.answer.solution import Solution
    from rollwise.many.equilibrium import Equilibrium

LISTS = ("throw_values", "throw_bounds")  # columns of a game with throws
FORMAT = "1"
EQUILIBRIUM = "equilibrium"  # the method of a file about three players or more
HIDDEN = "hidden"  # the method of a file about hidden dice or simultaneous choices
PLACE = "place"  # a column of such a file: the number of the action in the graph
OFF = 2.0**-46  # by which the probabilities of a mixture may miss 1, by rounding
# The metadata of a file, with types.
FACTS: dict[str, Any] = {"game": str, "parameters": dict, "graph_hash": str, "method": str}
FACTS_OF_SEATS: dict[str, Any] = {"unsettled": list, "tolerance": int | float | None}
FACTS_OF_HIDDEN: dict[str, Any] = {
    "low": str,
    "high": str,
    "found_by": str,
    "iterations": int,
    "kept_from": str,
}
FACTS_OF_VALUES: dict[str, Any] = {
    "checksum": str,
    "tolerance": int | float | None,
    "sweeps": int,
    "converged": bool,
}


def row_checksums(values: NDArray[np.float64], bounds: NDArray[np.float64]) -> NDArray[np.uint32]:
    """A checksum of each row: a change of one bit always changes it, others nearly always."""
    mixed = values.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed += bounds.view(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed += np.arange(len(values), dtype=np.uint64) * np.uint64(0xD6E8FEB86659FD93)
    return (mixed >> np.uint64(32)).astype(np.uint32)


def save(solution: Solution, path: Path) -> None:
    """Write a solution to a Parquet file, all at once or not at all.

    Raises
    ------
    UsageError
        The file has the ending of another kind.
    """
    import polars as pl

    require_parquet(path)

    graph = solution.graph
    frame, facts = (_of_values if solution.profile is None else _of_seats)(solution)
    facts = {
        "format": FORMAT,
        "game": graph.game,
        "parameters": dict(graph.parameters),
        "graph_hash": graph.content_hash,
        "method": solution.method,
        **facts,
        "versions": {
            "rollwise": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "polars": pl.__version__,
        },
    }
    metadata = {"rollwise": json.dumps(facts)}
    write_atomically(path, lambda place: write_parquet(frame, place, metadata))


def _of_values(solution: Solution) -> tuple[pl.DataFrame, dict[str, Any]]:
    """A row for each position, and the facts about all."""
    import polars as pl

    graph, n = solution.graph, len(solution.graph.states)
    values, bounds = solution.values[:n], solution.error_bounds[:n]
    columns: dict[str, Any] = {name: graph.states[:, i] for i, name in enumerate(graph.field_names)}
    frame = pl.DataFrame(columns).with_columns(
        pl.lit(None, dtype=pl.String).alias("action")
        if graph.throws is not None
        else solution.action_column(solution.best_actions),
        pl.Series("value", values),
        pl.Series("error_bound", bounds),
        pl.Series(free_name("checksum", graph.field_names), row_checksums(values, bounds)),
        *_after_throws(solution),
        *(pl.col(name).replace(NO_THROW, None) for name in thrown_fields(graph)),
    )
    return frame, {
        "checksum": checksum_of(solution.values, solution.error_bounds),
        "error_bound": solution.error_bound,
        "tolerance": solution.tolerance,
        "sweeps": solution.sweeps,
        "converged": solution.converged,
        "seconds": dict(solution.seconds),
    }


def _of_seats(solution: Solution) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The table of an equilibrium with the places of its actions, and the facts about all."""
    import polars as pl

    equilibrium = solution.equilibrium
    taken = equilibrium.taken
    place = pl.Series(free_name(PLACE, solution.graph.field_names), taken)
    return solution.rows_of(taken, throws=True).with_columns(place), {
        "unsettled": list(equilibrium.unsettled),
        "tolerance": solution.tolerance,
        "deviation_gain": equilibrium.deviation_gain,
        "error_bound": equilibrium.error_bound,
    }


def _after_throws(solution: Solution) -> list[pl.Series]:
    """In a game with throws: the values after each throw of a position, as lists, and bounds."""
    import polars as pl

    graph, n = solution.graph, len(solution)
    if graph.throws is None:
        return []
    numbers = (solution.values[n:], solution.error_bounds[n:])
    frame = pl.DataFrame({"position": graph.thrown_from, **dict(zip(LISTS, numbers, strict=True))})
    lists = frame.group_by("position", maintain_order=True).agg(*LISTS)
    return [lists[name].alias(free_name(name, graph.field_names)) for name in LISTS]


def thrown_fields(graph: StateGraph) -> list[str]:
    """The fields with numbers of a throw, in a derived game; in a file null before the throw."""
    return [name for name in graph.field_names if name in graph.throw_names]


def _lists(graph: StateGraph) -> list[str]:
    return [free_name(name, graph.field_names) for name in LISTS]


def numbers_in(frame: pl.DataFrame, graph: StateGraph) -> tuple[Any, Any]:
    """The values and the error bounds of all states, from the columns of a file.

    Raises
    ------
    ValueError
        The lists of a game with throws aren't lists of numbers, or have wrong lengths.
    """
    import polars as pl

    columns = [frame[name].to_numpy() for name in ("value", "error_bound")]
    if graph.throws is None:
        return columns[0].copy(), columns[1].copy()
    sizes = np.bincount(graph.thrown_from, minlength=len(graph.states))
    numbers = []
    # the numbers after throws, a list for each position, follow those of all positions
    for name, column in zip(_lists(graph), columns, strict=True):
        lists = frame[name] if name in frame.columns else None
        right = lists is not None and lists.dtype == pl.List(pl.Float64)
        if lists is None or not right or not np.array_equal(lists.list.len().to_numpy(), sizes):
            raise ValueError(f"its column {name} isn't one of lists, a number for each throw")
        after = lists.explode()
        if after.null_count():
            raise ValueError(f"its column {name} isn't one of numbers")
        numbers.append(np.concatenate([column, after.to_numpy()]))
    return numbers[0], numbers[1]


def read_facts(path: Path, *, damaged: bool = False) -> dict[str, Any]:
    """The metadata of a saved solution: game, parameters, error bound, versions.

    Parameters
    ----------
    damaged : bool
        Read it even if numbers of the table are damaged.

    Raises
    ------
    SolutionFileError
        There is no such file, or it isn't a solution.
    """
    require_file(path, "a saved solution", SolutionFileError)
    try:
        facts = json.loads(read_metadata(path, damaged=damaged)["rollwise"])
    except KeyError:
        raise SolutionFileError(
            f"{path} is a Parquet file, but not a solution saved by rollwise"
        ) from None
    except (OSError, ValueError) as error:
        raise SolutionFileError(
            f"{path} is damaged or isn't a saved solution (it can't be read as Parquet); "
            "solve the game again and save it"
        ) from error
    if not isinstance(facts, dict):
        raise damaged_file(path, "its description isn't one")
    if facts.get("format") != FORMAT:
        raise SolutionFileError(
            f"{path} has the format {facts.get('format')}; this version of rollwise reads {FORMAT}"
        )
    of_method = {EQUILIBRIUM: FACTS_OF_SEATS, HIDDEN: FACTS_OF_HIDDEN}
    more = of_method.get(str(facts.get("method")), FACTS_OF_VALUES)
    for name, kinds in (FACTS | more).items():
        fact = facts.get(name)
        is_one = name in facts and isinstance(fact, kinds)
        if not is_one or (isinstance(fact, str) and not fact.isprintable()):
            raise damaged_file(path, f"its description has no {name}")
    return facts


def is_hidden(path: Path) -> bool:
    """Whether a file is an answer with hidden dice or simultaneous choices."""
    try:
        return bool(read_facts(path, damaged=True)["method"] == HIDDEN)
    except SolutionFileError:
        return False  # a later read gives the reason


def damaged_file(path: Path, why: str) -> SolutionFileError:
    return SolutionFileError(f"{path} is damaged: {why}; solve the game again and save it")


def prove(path: Path, graph: StateGraph, found: Content) -> None:
    """Refuse a file with unprovable bounds."""
    numbers = graph, found.values, found.bounds
    _, state = find_unproved(*numbers)
    if state is not None:
        raise SolutionFileError(
            f"{path} says that {claim(*numbers, state)}, which isn't so; "
            "solve the game again and save it"
        )


class Content(NamedTuple):
    """The content of a file: its description, and the numbers of all states."""

    facts: dict[str, Any]
    values: NDArray[np.float64]
    bounds: NDArray[np.float64]


def build_saved(
    path: Path,
    facts: dict[str, Any],
    game: Game | None = None,
    build: Callable[..., StateGraph] | None = None,
    **how: Any,
) -> tuple[Game, StateGraph, dict[str, float]]:
    """The game of a saved solution, its graph from the rules, and the seconds of building.

    Parameters
    ----------
    facts : the result of `read_facts`
    game, build, **how
        See `load`.

    Raises
    ------
    SolutionFileError
        The file was made for other rules, or names a game that isn't installed.
    """
    game = require_rules(path, facts, game)
    seconds: dict[str, float] = {}
    if build is None:
        graph, report = build_with_report(game, **how)
        seconds = {"compile": report.compile_seconds, "build": report.build_seconds}
    else:
        started = time.perf_counter()
        graph = build(game, max_states=how["max_states"], progress=how["progress"])
        seconds = {"build": time.perf_counter() - started}
    require_same(path, facts, graph)
    return game, graph, seconds


def require_same(path: Path, facts: dict[str, Any], graph: StateGraph) -> None:
    """Refuse a file made for another graph.

    Raises
    ------
    SolutionFileError
    """
    if graph.content_hash != facts["graph_hash"]:
        raise SolutionFileError(
            f"{path} was made for other rules of {graph.game}: they have changed since; "
            "solve the game again"
        )


def require_rules(path: Path, facts: dict[str, Any], game: Game | None) -> Game:
    """The game of a file; it must be the given game, if any.

    Raises
    ------
    SolutionFileError
        The file is for another game, or for a game that isn't installed.
    """
    game = installed(path, facts) if game is None else with_an_end(require_game(game))
    if facts["game"] != game.name or facts["parameters"] != game.parameters:
        saved = title_of(facts["game"], facts["parameters"])
        asked = title_of(game.name, game.parameters)
        raise SolutionFileError(f"{path} was saved for {saved}, not for {asked}")
    return game


def find_unproved(
    graph: StateGraph,
    values: NDArray[np.float64],
    bounds: NDArray[np.float64],
) -> tuple[Verdict, int | None]:
    """The verdict of the check on values and bounds, and the state with the worst fault."""
    verdict = check_game(graph, values, bounds)
    doubtful = np.concatenate([verdict.unproved, verdict.endless])
    if not len(doubtful):
        return verdict, None
    with np.errstate(invalid="ignore"):
        gaps = graph.view.sign * action_gaps(graph, values, np.zeros(graph.n_border))
        off = np.abs(fold_actions(graph, np.maximum, gaps))[doubtful]
    return verdict, int(doubtful[np.argmax(np.where(np.isnan(off), np.inf, off))])


def claim(
    graph: StateGraph, values: NDArray[np.float64], bounds: NDArray[np.float64], state: int
) -> str:
    """The text for a state: ``the value of banked=0, rival=0, turn=0 is 0.06 ± 1e-13``."""
    return f"the value of {graph.state_text(state)} is {values[state]!s} ± {bounds[state]:.1e}"


def installed(path: Path, facts: dict[str, Any]) -> Game:
    """The installed game of this name; rules come from no other source."""
    try:
        kind = find_installed(facts["game"])
    except UnknownGame:
        say = spelled(
            python="give its rules as `game`",
            command_line=f"give its rules, as in rollwise verify {path} rules.py:ClassName",
        )
        raise SolutionFileError(
            f"{path} was saved for the game {facts['game']!r}, which isn't installed; {say}"
        ) from None
    return create(kind, typed_parameters(facts))


def typed_parameters(facts: dict[str, Any]) -> dict[str, str]:
    """The parameters of a saved game in their typed form."""
    return {name: str(value) for name, value in facts["parameters"].items()}


def read_content(path: Path, facts: dict[str, Any], graph: StateGraph) -> Content:
    """The content of a file, with possible values and error bounds."""
    import polars as pl

    try:
        lists = () if graph.throws is None else _lists(graph)
        frame = read_parquet(path, ["value", "error_bound", *lists])
    except (OSError, ValueError) as error:
        raise damaged_file(path, "its columns can't be read") from error
    if frame.dtypes[:2] != [pl.Float64] * 2 or frame.null_count().sum_horizontal().item():
        raise damaged_file(path, "its values aren't numbers")
    n = len(graph.states)
    if len(frame) != n:
        raise damaged_file(path, f"it has {len(frame):,} rows, and the game {n:,} states")
    try:
        values, bounds = numbers_in(frame, graph)
    except ValueError as error:
        raise damaged_file(path, str(error)) from None
    if checksum_of(values, bounds) != facts["checksum"]:
        raise damaged_file(path, "its values don't match their checksum")
    lost = np.isinf(values) & (graph.objective != "win")  # no player can end the play
    if not np.all(np.isfinite(values) | lost) or not np.all(bounds >= 0):
        raise damaged_file(path, "its values or error bounds can't be such")
    return Content(facts, values, bounds)


def read_equilibrium(
    path: Path,
    facts: dict[str, Any],
    game: Game | None,
    *,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> tuple[Equilibrium, int | None]:
    """The equilibrium of a file with newly proved bounds, and the first state with smaller ones.

    The state is one where the file claims smaller bounds than the proved ones; None without one.

    The file gives the game, its parameters and the hash of its graph. The graph is built from the
    rules, and values and gains are proved anew.

    Raises
    ------
    SolutionFileError
        The file is damaged, or was made for other rules, or names a game that isn't installed.
    """
    from rollwise.many.equilibrium import proved
    from rollwise.many.finding import Found
    from rollwise.many.seats import Stakes, build_seats, worth_column

    game = require_rules(path, facts, game)
    began = time.perf_counter()
    graph = build_seats(game, max_states=max_states, progress=progress)
    spent = {"build": time.perf_counter() - began}
    require_same(path, facts, graph)
    n = graph.players
    place = free_name(PLACE, graph.field_names)
    columns = [place, "probability", *(f"{worth_column(graph)}.{seat}" for seat in range(n))]
    claims = ["error_bound", "deviation_gain"]
    try:
        frame = read_parquet(path, [*columns, *claims])
        action, chance, *shares = (frame[name].to_numpy() for name in columns)
        claimed = [frame[name].to_numpy().astype(np.float64) for name in claims]
        probability, values = np.zeros(graph.n_actions), np.full((graph.n_states, n), np.nan)
        probability[action] = chance
        values[graph.action_state[action]] = np.column_stack(shares)
    except (OSError, ValueError, TypeError, IndexError, KeyError) as error:
        raise damaged_file(path, "its columns can't be read") from error
    total = fold_actions(graph, np.add, probability)
    if not (np.isfinite(values).all() and total.all()):
        raise damaged_file(path, "some states have no action")
    if not (np.all(probability >= 0.0) and np.all(np.abs(total - 1.0) <= OFF)):
        raise damaged_file(path, "its probabilities don't add up to 1")
    unsettled = tuple(facts["unsettled"])
    if not all(type(c) is int and 0 <= c < len(graph.components) for c in unsettled):
        raise damaged_file(path, "its description names components that aren't there")
    units = np.clip(Stakes.of(graph).units(values), 0.0, None)
    found = Found(probability, list(unsettled))
    equilibrium = proved(graph, game, found, spent, progress, claimed=units)
    states = graph.action_state[action]
    for claim, bounds in zip(
        claimed, (equilibrium.error_bounds, equilibrium.deviation_gains), strict=True
    ):
        doubtful = states[~(bounds[states].max(axis=1) <= claim)]
        if len(doubtful):
            return equilibrium, int(doubtful[0])
    return equilibrium, None
