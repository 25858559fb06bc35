"""Solving a game: rules into a graph, the graph into values, and the proof of their bounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rollwise.answer.certified import solve_and_certify
from rollwise.answer.solution import Solution
from rollwise.builders import Mode, Progress, build_with_report
from rollwise.errors import EndlessPlay
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.endings import NO_END
from rollwise.machine.deadlines import Clock, OutOfTime
from rollwise.methods import DEFAULT, find_method, run_method
from rollwise.methods.result import MethodResult
from rollwise.proofs.certificate import Certificate, certify
from rollwise.recursion.endless import settled
from rollwise.recursion.order import Recursion

LEAST_SECONDS = 0.5  # for a certificate


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
    """Solve a game and certify the answer.

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
    known = find_method(method).options()
    if tolerance is not None and not tolerance > 0:
        raise ValueError(f"tolerance is {tolerance}; it must be positive")
    graph, report = build_with_report(
        game,
        mode=mode,
        max_states=max_states,
        progress=progress,
        beside="rollwise.answer.first_use",
    )

    def stage(name: str) -> Any:
        return None if progress is None else lambda done, total: progress(name, done, total)

    clock = time.perf_counter
    started = clock()
    if progress is not None:
        progress("finding components", 0, None)
    if method == DEFAULT and not options:
        found, certificate, certifying = solve_and_certify(graph, progress=progress)
        solving = found.seconds
    else:
        arranged = Recursion.of_values(graph)
        solving = clock() - started
        started = clock()
        settling = settled(graph, arranged)  # before a method goes round for ever
        certifying = clock() - started
        started = clock()
        at_hand = {"progress": stage("solving")}
        if settling is None:
            at_hand["arranged"] = arranged
        if settling is not None and settling.place[0] < 0:
            raise EndlessPlay(f"{graph.title}: {NO_END}")
        found = run_method(
            graph if settling is None else settling.graph,
            method,
            **{k: v for k, v in at_hand.items() if k in known},
            **(options or {}),
        )
        found = found if settling is None else found.spread(settling)
        solving += clock() - started
        started = clock()
        limit = (options or {}).get("time_limit")
        certificate = _certified(graph, found, arranged, stage("certifying"), limit)
        certifying += clock() - started
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
            "compile": report.compile_seconds,
            "build": report.build_seconds,
            "solve": solving,
            "certify": certifying,
        },
        found,
    )


def _certified(
    graph: StateGraph,
    found: MethodResult,
    arranged: Recursion,
    progress: Callable[[int, int], None] | None,
    limit: float | None,
) -> Certificate:
    """Bounds on what a method found, in as much time again as it was given.

    A method that gave up leaves values that are no answer: a tenth of its time must do.
    """
    share = 1.0 if found.converged else 0.1
    clock = Clock(None if limit is None else max(share * limit, LEAST_SECONDS))

    def told(done: int, total: int) -> None:
        clock.look()
        if progress is not None:
            progress(done, total)

    nothing = Certificate(np.full(graph.n_states, np.inf), np.inf)
    if not found.converged and np.isnan(found.values).any():
        return nothing
    try:
        return certify(graph, found.values, arranged=arranged, progress=told)
    except OutOfTime:
        return nothing
