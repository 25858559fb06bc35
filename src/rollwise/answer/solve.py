"""Solving a game: rules into a graph, the graph into values, and the proof of their bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rollwise.answer.solution import Solution
from rollwise.builders import Mode, Progress, build_with_report
from rollwise.builders.building import warn_outside
from rollwise.builders.rules import Rules
from rollwise.errors import ChanceWarning, EndlessPlay, RoundedNumbers, TooManyStates, UsageError
from rollwise.game import Game, has_many, require_game, with_an_end
from rollwise.graph import StateGraph
from rollwise.methods import DEFAULT, find_method
from rollwise.numbers.given import positive_number

if TYPE_CHECKING:
    from rollwise.derive.larger import Larger


def solve(
    game: Game,
    *,
    method: str = DEFAULT,
    options: Mapping[str, Any] | None = None,
    tolerance: float | None = None,
    mode: Mode = "auto",
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Solve a game and certify the answer; of estimates, put the certified values beside them.

    For three or more players the answer is an equilibrium, with a proved upper bound on the gain
    from deviating (`Solution.equilibrium`). A game too large for one graph is solved by layers
    (`rollwise.solve_by_layers`), if its rules measure their progress and no method, mode or limit
    of states is given.

    Parameters
    ----------
    game : Game
    method : str
        One of `rollwise.methods.METHODS`.
    options : mapping, optional
        The keyword arguments of the method. The search for an equilibrium takes ``seed`` and
        ``time_limit`` (`rollwise.equilibrium`).
    tolerance : float, optional
        The largest acceptable certified error. The solver uses the full precision of doubles
        in any case; `Solution.status` tells whether the tolerance is met.
    mode, max_states
        How to build the graph; see `rollwise.build`.
    progress : callable, optional
        Called now and then as ``progress(stage, done, total or None)``.

    Returns
    -------
    Solution

    Raises
    ------
    RulesError
        The rules break the contract of the language.
    EndlessPlay
        The players can go round for ever; names the states.
    TooManyStates
    UsageError
        There is no such method, or it has no such option; or a number is out of range; or the game
        has hidden dice or simultaneous choices (`rollwise.hidden.solve`).
    ValueError
        There is no such mode.

    Warns
    -----
    ChanceWarning
        The chances of an action don't add up to 1.
    """
    how: dict[str, Any] = {"method": method, "options": options, "mode": mode}
    try:
        return solve_whole(
            game, tolerance=tolerance, max_states=max_states, progress=progress, **how
        )
    except TooManyStates:
        is_plain = method == DEFAULT and mode == "auto" and not options
        if not is_plain or not goes_by_layers(game, max_states):
            raise
    from rollwise.answer.solve_by_layers import solve_by_layers

    return replace(solve_by_layers(game, progress=progress), tolerance=tolerance)


def goes_by_layers(game: Game, max_states: int | None) -> bool:
    """Whether a game that is too large for one graph is solved by layers instead."""
    if has_many(game) or max_states is not None or game.made_from is not game or game.is_hidden:
        return False
    return Rules(game).has_progress


def solve_whole(
    game: Game,
    *,
    method: str = DEFAULT,
    options: Mapping[str, Any] | None = None,
    tolerance: float | None = None,
    mode: Mode = "auto",
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Solution:
    """As `solve`, but of one graph only.

    Raises
    ------
    RulesError, EndlessPlay, TooManyStates, UsageError
    """
    find_method(method)
    game = with_an_end(require_game(game), max_states)
    if game.objective == "average":
        game = game.average()
    if tolerance is not None:
        tolerance = positive_number("tolerance", tolerance)
    has_names = isinstance(options, Mapping) and all(isinstance(name, str) for name in options)
    if options is not None and not has_names:
        raise UsageError(
            f"options is {options!r}; it must be a mapping of names to values, "
            "such as {'epsilon': 1e-6}"
        )
    if has_many(game):
        if method != DEFAULT:
            raise UsageError(
                f"{game.name} is a game for {game.players}: `solve` finds an equilibrium, and the "
                f"methods have none; `rollwise compare` runs {method} on the game of one seat"
            )
        from rollwise.many.equilibrium import equilibrium

        given = dict(options or {})
        if unknown := given.keys() - {"seed", "time_limit"}:
            raise UsageError(
                f"the search for an equilibrium has no option {min(unknown)!r} (it has seed, "
                "time_limit)"
            )
        how = {"mode": mode, "max_states": max_states, "progress": progress, **given}
        of_seats = equilibrium(game, **how)
        _look_at_chances(of_seats.graph, game)
        return replace(Solution.of_equilibrium(of_seats), tolerance=tolerance)
    # A kept answer needs nothing of the builders and the engine.
    from rollwise.answer.certified import solve_and_certify
    from rollwise.answer.first_use import compile_beside

    graph, built = build_with_report(
        game,
        mode=mode,
        max_states=max_states,
        progress=progress,
        beside=compile_beside,
    )
    _look_at_chances(graph, game, built.rules)
    if progress is not None:
        progress("finding components", 0, None)
    try:
        run = solve_and_certify(
            graph,
            method=method,
            options=options,
            larger=partial(_larger, game, graph),
            progress=progress,
        )
    except RoundedNumbers:
        if reason := getattr(game, "rounds_because", ""):
            raise RoundedNumbers(f"{graph.title}: {reason}") from None
        raise
    if run.found.estimated:
        from rollwise.answer.estimates import beside_truth

        run = run._replace(found=beside_truth(graph, run.found))
    if np.isinf(run.found.values[0]):
        from rollwise.graph.endings import NO_END, describe, end_components

        found = end_components(graph)
        circle = np.flatnonzero((found.number >= 0) & np.isinf(run.found.values))
        place = describe(graph, circle, found.stays, shown=1)
        raise EndlessPlay(f"{graph.title}: {NO_END}. Play goes round at {place}")
    seconds = {"compile": built.compile_seconds, "build": built.build_seconds}
    return Solution.of_run(graph, game, run, tolerance, seconds)


def _look_at_chances(graph: StateGraph, game: Game, rules: Rules | None = None) -> None:
    """Warn of chances that don't add up to 1."""
    from rollwise.builders.chances import chances_off

    if off := chances_off(graph, game, rules):
        warn_outside(off, ChanceWarning)


def _larger(game: Game, graph: StateGraph, by: int) -> Larger:
    from rollwise.derive.larger import larger

    return larger(game, graph, by)
