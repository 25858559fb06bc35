"""Turning the rules of a game into a `StateGraph`.

Two builders give the same graph, byte for byte: one runs the rules as ordinary
Python, the other compiles them. A game is begun in Python; if it turns out to be
more than a small one, its rules are compiled and it is begun again.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rollwise.builders.interpreted import Arrays, build_interpreted
from rollwise.builders.rules import PAYOFF, Rules
from rollwise.errors import RulesError
from rollwise.game import PASS, DerivedGame, Game
from rollwise.graph import StateGraph

Mode = Literal["auto", "interpreted", "compiled"]
Progress = Callable[[str, int, int | None], None]

MAX_STATES = 10_000_000
MAX_STATES_INTERPRETED = 2_000_000
# Interpreting takes about 3 microseconds an outcome and compiling about a second;
# by this many outcomes, a small game is done and a large one has lost little.
SMALL = 20_000


class CompileWarning(UserWarning):
    """Rules that could not be compiled, and what to change so that they can be."""


@dataclass(frozen=True)
class BuildReport:
    """How a graph was built.

    Attributes
    ----------
    mode : "interpreted", "compiled" or, from the graph of another game, "derived"
    compile_seconds, build_seconds : float
    """

    mode: str
    compile_seconds: float
    build_seconds: float


def build(
    game: Game,
    *,
    mode: Mode = "auto",
    max_states: int | None = None,
    progress: Progress | None = None,
) -> StateGraph:
    """Build the graph of a game.

    Parameters
    ----------
    game : Game
    mode : {"auto", "interpreted", "compiled"}
        Who runs the rules. "auto" interprets small games and compiles large ones;
        rules that Numba can't compile are interpreted, with a warning that says
        what to change.
    max_states : int, optional
        Stop with an error beyond this many states: 10 million by default, 2
        million where the rules are interpreted.
    progress : callable, optional
        Called now and then as ``progress(stage, done, total or None)``.

    Returns
    -------
    StateGraph

    Raises
    ------
    RulesError
        The rules break the contract of the language; the message names the state
        and the action.
    TooManyStates
    """
    return build_with_report(game, mode=mode, max_states=max_states, progress=progress)[0]


def build_with_report(
    game: Game,
    *,
    mode: Mode = "auto",
    max_states: int | None = None,
    progress: Progress | None = None,
) -> tuple[StateGraph, BuildReport]:
    """As `build`, with how it was done and how long it took."""
    if mode not in ("auto", "interpreted", "compiled"):
        raise ValueError(f"mode is {mode!r}; it must be 'auto', 'interpreted' or 'compiled'")
    if max_states is not None and max_states < 1:
        raise ValueError(f"max_states is {max_states}; it must be at least 1")
    started = time.perf_counter()
    if mode == "auto" and isinstance(game, DerivedGame):
        return game.derive(), BuildReport("derived", 0.0, time.perf_counter() - started)
    rules = Rules(game)
    roots = rules.roots()

    def report(done: int, found: int) -> None:
        if progress is not None:
            progress("exploring", done, found)

    slow_limit = MAX_STATES_INTERPRETED if max_states is None else max_states
    compile_seconds = 0.0
    arrays: Arrays | None = None
    how = "interpreted"
    if mode != "interpreted":
        from rollwise.kernels.jit import JIT_DISABLED

        if mode == "auto" and (JIT_DISABLED or (len(roots) <= SMALL and not _compiled(rules))):
            stop_after = None if JIT_DISABLED else SMALL
            arrays = build_interpreted(rules, roots, slow_limit, stop_after=stop_after)
        if arrays is None:
            limit = MAX_STATES if max_states is None else max_states
            compiling = time.perf_counter()
            compiled = _compile(rules, progress)
            compile_seconds = time.perf_counter() - compiling
            if compiled is not None:
                from rollwise.builders.compiled import build_compiled

                arrays = build_compiled(rules, compiled, roots, limit, progress=report)
                how = "compiled"
    if arrays is None:
        arrays = build_interpreted(rules, roots, slow_limit, progress=report)
    graph = _as_graph(rules, arrays)
    seconds = time.perf_counter() - started - compile_seconds
    return graph, BuildReport(how, compile_seconds, seconds)


def _compiled(rules: Rules) -> bool:
    import sys

    if "rollwise.builders.compiling" not in sys.modules:
        return False
    from rollwise.builders.compiling import is_compiled

    return is_compiled(rules)


def _compile(rules: Rules, progress: Progress | None):  # type: ignore[no-untyped-def]
    """The compiled rules, or None after a warning that says what to change."""
    from rollwise.kernels.jit import JIT_DISABLED

    name = rules.game.name
    if JIT_DISABLED:
        warnings.warn(
            f"{name}: NUMBA_DISABLE_JIT is set, so the rules are interpreted",
            CompileWarning,
            stacklevel=4,
        )
        return None
    if progress is not None:
        progress("compiling the rules", 0, None)
    from rollwise.builders.compiling import NotCompilable, compiled_rules

    try:
        return compiled_rules(rules)
    except NotCompilable as error:
        warnings.warn(
            f"{name}: the rules can't be compiled and are interpreted, which is slower: {error}",
            CompileWarning,
            stacklevel=4,
        )
        return None


def _as_graph(rules: Rules, arrays: Arrays) -> StateGraph:
    weight = arrays.outcome_weight
    if weight.dtype == np.float64 and np.all(weight == np.floor(weight)):
        if weight.max() < 2.0**53:  # whole numbers, written as floats
            weight = weight.astype(np.int64)
    return StateGraph(
        states=arrays.states,
        action_indptr=arrays.action_indptr,
        action_label=arrays.action_label,
        action_reward=arrays.action_reward,
        outcome_indptr=arrays.outcome_indptr,
        outcome_state=arrays.outcome_state,
        outcome_weight=weight,
        outcome_passes=arrays.outcome_then == PASS,
        outcome_payoff=PAYOFF[arrays.outcome_then],
        field_names=rules.field_names,
        action_names=rules.action_names,
        game=rules.game.name,
        parameters=rules.game.parameters,
        players=rules.game.players,
        objective=rules.game.objective,  # type: ignore[arg-type]
        n_roots=arrays.n_roots,
    )


__all__ = ["BuildReport", "CompileWarning", "RulesError", "build", "build_with_report"]
