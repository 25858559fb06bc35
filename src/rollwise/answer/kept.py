"""Graphs and answers kept between runs, so that a second question about a game is instant.

They lie in the user's cache (`rollwise.machine.user_cache`). Only games with compiled rules are
kept, if their answers took a while. What isn't kept, or can't be read, is found again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rollwise.answer.solution import Solution
from rollwise.answer.solve import goes_by_layers, solve_whole
from rollwise.builders import Mode, Progress
from rollwise.builders.contract import require_two
from rollwise.builders.limits import most_states
from rollwise.builders.rules import Rules
from rollwise.errors import TooManyStates
from rollwise.game import Game, has_many, require_game
from rollwise.graph import StateGraph
from rollwise.machine.user_cache import answers_folder
from rollwise.methods import DEFAULT

if TYPE_CHECKING:
    from rollwise.answer.kept_files import Entry
    from rollwise.answer.references import Policies


def _entry(
    game: Game, method: str = DEFAULT, options: Mapping[str, Any] | None = None
) -> Entry | None:
    """The kept files of a game; None where nothing is kept."""
    folder = answers_folder()
    if folder is None:
        return None
    from rollwise.answer.kept_files import Entry

    return Entry(folder, game, method, options)


def build(
    game: Game,
    *,
    any_players: bool = False,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> StateGraph:
    """The graph of a game, as from `rollwise.build`: kept, or built and then kept.

    Parameters
    ----------
    any_players : bool
        Allow games for three or more players.
    """
    if not any_players:
        require_two(require_game(game))
    from rollwise.many.seats import build_for_all

    entry = _entry(game)
    graph = None if entry is None else entry.graph(max_states)
    if graph is None:
        began = time.perf_counter()
        graph = build_for_all(game, max_states=max_states, progress=progress)
        if entry is not None:
            entry.keep(graph, None, time.perf_counter() - began)
    return graph


def solve(
    game: Game,
    *,
    method: str = DEFAULT,
    options: Mapping[str, Any] | None = None,
    tolerance: float | None = None,
    mode: Mode = "auto",
    any_players: bool = False,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Solution:
    """The answer to a game, as from `rollwise.solve`: kept, or found and then kept.

    The `Solution.kept_from` of a kept answer is the time of its run.

    Parameters
    ----------
    any_players : bool
        Allow games for three or more players.
    """
    if not any_players:
        require_two(require_game(game))
    started = time.perf_counter()
    about = dict(options or {})
    if has_many(require_game(game)):
        about.pop("time_limit", None)  # an equilibrium that was found in time is the same
    entry = _entry(game, method, about) if mode == "auto" else None
    if entry is not None:
        kept = entry.solution(max_states)
        if kept is not None:
            seconds = {"read": time.perf_counter() - started}
            return replace(kept, tolerance=tolerance, seconds=seconds)
    solution = solve_whole(
        game,
        method=method,
        options=options,
        tolerance=tolerance,
        mode=mode,
        max_states=max_states,
        progress=progress,
    )
    if entry is not None:
        entry.keep(solution.graph, solution, sum(solution.seconds.values()))
    return solution


def solve_by_layers(
    game: Game,
    saved: str | Path | None = None,
    *,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Solution:
    """As `rollwise.solve_by_layers`: read from a folder, kept, or found and then kept."""
    if saved is not None:
        return load(saved, game)
    from rollwise.answer.solve_by_layers import solve_by_layers

    started = time.perf_counter()
    entry = _entry(game)
    kept = None if entry is None else entry.layers(max_states)
    if kept is not None:
        return replace(kept, seconds={"read": time.perf_counter() - started})
    solution = solve_by_layers(game, max_states=max_states, progress=progress)
    if entry is not None:
        entry.keep_layers(solution)
    return solution


def answer(
    game: Game,
    saved: str | Path | None = None,
    *,
    max_states: int | None = None,
    progress: Progress | None = None,
    by_layers: bool = True,
    **how: Any,
) -> Solution:
    """The answer to a game of any size and number of players: read, kept, or found now.

    Parameters
    ----------
    by_layers : bool
        Whether to solve a game too large for one graph by layers, if it has any and no other
        option is given.
    **how
        As in `solve`.
    """
    if saved is not None:
        return load(saved, game, max_states=max_states, progress=progress)
    how = {name: said for name, said in how.items() if said}
    by_layers = by_layers and not how
    if by_layers and max_states is None and (stored := large(game)) is not None:
        return stored
    try:
        return solve(game, any_players=True, max_states=max_states, progress=progress, **how)
    except TooManyStates:
        if not by_layers or not goes_by_layers(game, max_states):
            raise
    return solve_by_layers(game, progress=progress)


def policies_in_one_graph(
    game: Game,
    *,
    other_way: bool,
    any_players: bool = False,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Policies | None:
    """As `policies`; None for a game too large for one graph.

    Parameters
    ----------
    other_way : bool
        Whether the question has an answer without a graph. Otherwise, and with `max_states`, the
        size is an error.

    Raises
    ------
    TooManyStates
    """
    other_way = other_way and max_states is None
    if other_way and large(game) is not None:
        return None
    try:
        return policies(game, any_players=any_players, max_states=max_states, progress=progress)
    except TooManyStates:
        if not other_way:
            raise
        return None


def large(game: Game) -> Solution | None:
    """The kept answer by layers of a game too large for one graph; else None."""
    entry = _entry(game)
    stored = None if entry is None else entry.layers(None)
    if stored is None:
        return None
    rules = Rules(game)
    states = len(stored) * (1 + rules.turn_states)
    return stored if states > most_states(rules) else None


def policies(
    game: Game,
    *,
    any_players: bool = False,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Policies:
    """The graph of a game and its policies by name; ``optimal`` is kept, or found and then kept."""
    from rollwise.answer.references import Policies

    graph = build(game, any_players=any_players, max_states=max_states, progress=progress)
    return Policies(graph, game, partial(_answer, graph, game))


def _answer(graph: StateGraph, game: Game) -> Solution:
    entry = _entry(game)
    kept = None if entry is None else entry.answer(graph)
    if kept is not None:
        return kept
    solution = Solution.of_graph(graph, game)
    if entry is not None:
        entry.keep(graph, solution, sum(solution.seconds.values()))
    return solution


def load(
    path: str | Path,
    game: Game | None = None,
    *,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Solution:
    """A saved solution, as from `rollwise.load`.

    The cache keeps its graph, and its content after the proof. A file proved on this machine by the
    same rollwise isn't proved again, nor read by Polars.
    """
    if game is not None and Path(path).is_dir():
        return Solution.open(path, game)
    from rollwise.answer.load import load as read

    path, folder = Path(path), answers_folder()
    how: dict[str, Any] = {"max_states": max_states, "progress": progress, "build": build}
    if folder is None:
        return read(path, game, **how)
    from rollwise.answer.kept_files import KeptContent

    content = KeptContent(folder, path)
    known = content.read()
    solution = read(path, game, proved=known, **how)
    if known is None and solution.profile is None:
        content.keep(solution)
    return solution
