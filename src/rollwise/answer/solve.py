"""Solving a game: rules into a graph, the graph into values, and the proof of their bounds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from rollwise.answer.certified import solve_and_certify
from rollwise.answer.estimates import beside_truth
from rollwise.answer.first_use import compile_beside
from rollwise.answer.solution import Solution
from rollwise.builders import Mode, Progress, build_with_report
from rollwise.derive.larger import larger
from rollwise.errors import EndlessPlay
from rollwise.game import Game
from rollwise.graph.endings import NO_END
from rollwise.methods import DEFAULT, find_method


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

    Parameters
    ----------
    game : Game
    method : str
        One of `rollwise.methods.METHODS`.
    options : mapping, optional
        What to tell the method, by the names of its keyword arguments.
    tolerance : float, optional
        The largest certified error that is good enough. The solver goes as far
        as doubles carry in any case; `Solution.status` says whether this was met.
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
        There is no such method, or it has no such option.
    """
    find_method(method)
    if tolerance is not None and not tolerance > 0:
        raise ValueError(f"tolerance is {tolerance}; it must be positive")
    graph, built = build_with_report(
        game,
        mode=mode,
        max_states=max_states,
        progress=progress,
        beside=compile_beside,
    )
    if progress is not None:
        progress("finding components", 0, None)
    found, certificate, certifying = solve_and_certify(
        graph,
        method=method,
        options=options,
        larger=partial(larger, game, graph),
        progress=progress,
    )
    found = beside_truth(graph, found) if found.estimated else found
    if np.isinf(found.values[0]):
        raise EndlessPlay(f"{graph.title}: {NO_END}")
    return Solution(
        graph,
        game,
        found.method,
        found.values,
        certificate.bounds,
        tolerance,
        found.sweeps,
        found.converged,
        {
            "compile": built.compile_seconds,
            "build": built.build_seconds,
            "solve": found.seconds,
            "certify": certifying,
        },
        found,
    )
