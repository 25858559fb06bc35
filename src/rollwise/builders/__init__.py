"""Turning the rules of a game into a `StateGraph`.

Two builders give the same graph, byte for byte: one runs the rules as ordinary
Python, the other compiles them. A game is begun in Python; if it turns out to be
more than a small one, its rules are compiled and it is begun again.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.interpreted import Arrays, Interpreter
from rollwise.builders.rules import PAYOFF, Rules, more_states
from rollwise.errors import RulesError, TooManyStates
from rollwise.game import PASS, Game
from rollwise.graph import Lotteries, StateGraph
from rollwise.machine.second_process import wait_until_ready

if TYPE_CHECKING:
    from rollwise.builders.compiled.compiling import CompiledRules

Mode = Literal["auto", "interpreted", "compiled"]
Progress = Callable[[str, int, int | None], None]

MAX_STATES = 10_000_000
MAX_STATES_INTERPRETED = 1_000_000
# Interpreting takes about 3 microseconds an outcome and compiling some seconds; by this many
# outcomes, or seconds, a small game is done and a large or a slow one has lost little.
SMALL = 20_000
PATIENCE = 2.0


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
        Stop with an error beyond this many states: 10 million by default, 1
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
    RulesDiffer
        Compiled rules do something else than Python's.
    TooManyStates
    """
    return build_with_report(game, mode=mode, max_states=max_states, progress=progress)[0]


def build_with_report(
    game: Game,
    *,
    mode: Mode = "auto",
    max_states: int | None = None,
    progress: Progress | None = None,
    beside: Callable[[], None] | None = None,
) -> tuple[StateGraph, BuildReport]:
    """As `build`, with how it was done and how long it took.

    Parameters
    ----------
    beside : callable, optional
        Called before rules are compiled: to have something else compiled meanwhile.
    """
    if mode not in ("auto", "interpreted", "compiled"):
        raise ValueError(f"mode is {mode!r}; it must be 'auto', 'interpreted' or 'compiled'")
    if max_states is not None and max_states < 1:
        raise ValueError(f"max_states is {max_states}; it must be at least 1")
    started = time.perf_counter()
    derived = game.derive() if mode == "auto" else None
    if derived is not None:
        _require_few(derived, max_states)
        return derived, BuildReport("derived", 0.0, time.perf_counter() - started)
    rules = Rules(game)
    roots = rules.few_roots(SMALL)

    def report(done: int, found: int) -> None:
        if progress is not None:
            progress("exploring", done, found)

    compile_seconds = 0.0
    arrays: Arrays | None = None
    how = "interpreted"
    if mode == "auto" and jit_disabled():
        mode = "interpreted"
    trial: Interpreter | None = None
    if mode == "auto" and roots is not None and not _compiled(rules) and not _known_as_large(rules):
        trial = Interpreter(rules, roots, max_states or MAX_STATES_INTERPRETED)
        if not trial.run(stop_after=SMALL, patience=PATIENCE, progress=report):
            trial.ask_again()
            arrays = trial.arrays()  # of a small game
    if arrays is None and mode != "interpreted":
        compiling = time.perf_counter()
        compiled = _compile(rules, progress, beside)
        if compiled is not None and roots is None:
            roots = _compiled_roots(rules, compiled, max_states or MAX_STATES)
        compile_seconds = time.perf_counter() - compiling
        if compiled is not None:
            from rollwise.builders.compiled.explorer import CompiledFails, build_compiled

            limit = max_states or MAX_STATES
            rows = rules.roots(limit) if roots is None else roots
            try:
                arrays = build_compiled(rules, compiled, rows, limit, progress=report)
                how = "compiled"
            except CompiledFails as error:
                if mode == "compiled":
                    raise
                _warn(f"{error}, as is done here; that is slower")
            if arrays is not None and trial is not None:
                from rollwise.builders.compiled.compiling import note_large

                note_large(rules, SMALL)
    if arrays is None:
        if trial is None:
            limit = max_states or MAX_STATES_INTERPRETED
            trial = Interpreter(rules, rules.roots(limit) if roots is None else roots, limit)
        trial.run(progress=report)
        trial.ask_again()
        arrays = trial.arrays()
    wait_until_ready()  # for what others have compiled meanwhile
    graph = as_graph(rules, arrays)
    seconds = time.perf_counter() - started - compile_seconds
    return graph, BuildReport(how, compile_seconds, seconds)


def _require_few(graph: StateGraph, max_states: int | None) -> None:
    if max_states is not None and graph.n_states > max_states:
        raise TooManyStates(
            f"{graph.title} has {graph.n_states:,} states, more than {max_states:,}; smaller "
            f"parameters help, or {more_states()}"
        )


def jit_disabled() -> bool:
    """Whether nothing is compiled in this process."""
    # asked of the environment, as Numba does, since importing Numba takes a while
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def _compiled(rules: Rules) -> bool:
    if "rollwise.builders.compiled.compiling" not in sys.modules:
        return False
    from rollwise.builders.compiled.compiling import is_compiled

    return is_compiled(rules)


def _known_as_large(rules: Rules) -> bool:
    """Whether this very game was too large to interpret, earlier on this machine."""
    if "numba" not in sys.modules:  # which takes longer to import than a trial
        return False
    from rollwise.builders.compiled.compiling import was_large

    return was_large(rules, SMALL)


def _compile(
    rules: Rules, progress: Progress | None, beside: Callable[[], None] | None
) -> CompiledRules | None:
    """The compiled rules, or None after a warning that says what to change."""
    name = rules.game.name
    if jit_disabled():
        _warn(f"{name}: NUMBA_DISABLE_JIT is set, so the rules are interpreted")
        return None
    if progress is not None:
        progress("compiling the rules", 0, None)
    from rollwise.builders.compiled.compiling import compiled_rules
    from rollwise.builders.compiled.reasons import NotCompilable

    if beside is not None:
        beside()
    try:
        return compiled_rules(rules)
    except NotCompilable as error:
        _warn(f"{name}: the rules can't be compiled and are interpreted, which is slower: {error}")
        return None


def _warn(message: str) -> None:
    """Warn whoever called for the graph: not the modules in between."""
    warnings.warn(message, CompileWarning, stacklevel=5)


def _compiled_roots(rules: Rules, compiled: CompiledRules, most: int) -> NDArray[np.int32] | None:
    """The roots by compiled code; None where only the interpreted ones can tell."""
    from rollwise.builders.compiled.reasons import NotCompilable

    try:
        rows = compiled.roots(rules, most)
    except NotCompilable as error:
        _warn(f"{rules.game.name}: roots() can't be compiled and is interpreted: {error}")
        return None
    return rows


def as_graph(rules: Rules, arrays: Arrays, n_border: int = 0) -> StateGraph:
    """The arrays that a builder found, as a graph."""
    weight, then = arrays.lottery_weight, arrays.lottery_then
    if weight.dtype == np.float64 and np.all(weight == np.floor(weight)) and weight.max() < 2.0**53:
        weight = weight.astype(np.int64)  # whole numbers, written as floats
    return StateGraph(
        states=arrays.states,
        action_indptr=arrays.action_indptr,
        action_label=arrays.action_label,
        action_lottery=arrays.action_lottery,
        outcome_indptr=arrays.outcome_indptr,
        outcome_state=arrays.outcome_state,
        lotteries=Lotteries(
            arrays.lottery_indptr,
            arrays.lottery_reward,
            weight,
            then > PASS,
            then == PASS,
            PAYOFF[then],
        ),
        field_names=rules.field_names,
        action_names=rules.action_names,
        game=rules.game.name,
        parameters=rules.game.parameters,
        players=rules.game.players,
        objective=rules.game.objective,  # type: ignore[arg-type]  # `Rules` has looked at both
        n_roots=arrays.n_roots,
        n_border=n_border,
        endless=rules.game.endless,  # type: ignore[arg-type]
    )


__all__ = [
    "BuildReport",
    "CompileWarning",
    "RulesError",
    "as_graph",
    "build",
    "build_with_report",
    "jit_disabled",
]
