"""The stages of building: decide who runs the rules, let them run, make a graph of what they say.

A game is interpreted up to a limit. If there is more to come, its rules are compiled, or
found compiled, and the game is begun again (`rollwise.builders.compiled`). Rules that can't
be compiled are interpreted to the end.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import limits
from rollwise.builders.arrays import Arrays, as_graph
from rollwise.builders.compiled.notes import note_large, was_large
from rollwise.builders.growth import GrowthWarning, endless_growth
from rollwise.builders.interpreted import Interpreter
from rollwise.builders.rules import Rules, more_states
from rollwise.errors import TooManyStates
from rollwise.game import Game, require_game
from rollwise.graph import StateGraph
from rollwise.machine.second_process import wait_until_ready
from rollwise.machine.switches import jit_disabled

if TYPE_CHECKING:
    from rollwise.builders.compiled.compiling import CompiledRules

Mode = Literal["auto", "interpreted", "compiled"]
Progress = Callable[[str, int, int | None], None]
COMPILING = "compiling the rules"  # a stage of progress


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
    any_players: bool = False,
    ask_all_again: bool = False,
) -> tuple[StateGraph, BuildReport]:
    """As `build`, with how it was done and how long it took.

    Parameters
    ----------
    beside : callable, optional
        Called before rules are compiled: to have something else compiled meanwhile.
    any_players : bool, optional
        Take games of three or more players, which have a meaning of their own for payoffs
        (`rollwise.many.places`).
    ask_all_again : bool, optional
        Ask interpreted rules about every state twice, however long that takes.
    """
    if mode not in ("auto", "interpreted", "compiled"):
        raise ValueError(f"mode is {mode!r}; it must be 'auto', 'interpreted' or 'compiled'")
    if max_states is not None and max_states < 1:
        raise ValueError(f"max_states is {max_states}; it must be at least 1")
    started = time.perf_counter()
    derived = require_game(game).derive() if mode == "auto" else None
    if derived is not None:
        _require_few(derived, max_states)
        return derived, BuildReport("derived", 0.0, time.perf_counter() - started)
    if mode == "auto" and jit_disabled():
        mode = "interpreted"
    building = _Building(Rules(game, any_players), max_states, progress, beside, ask_all_again)
    how = "interpreted"
    arrays = building.in_a_trial() if mode == "auto" else None
    if arrays is None and mode != "interpreted":
        how = "compiled"
        arrays = building.by_compiled_rules(or_by_python=mode == "auto")
    if arrays is None:
        how = "interpreted"
        arrays = building.by_python()
    wait_until_ready()  # for what others have compiled meanwhile
    graph = as_graph(building.rules, arrays)
    seconds = time.perf_counter() - started - building.compile_seconds
    return graph, BuildReport(how, building.compile_seconds, seconds)


def _require_few(graph: StateGraph, max_states: int | None) -> None:
    if max_states is not None and graph.n_states > max_states:
        raise TooManyStates(
            f"{graph.title} has {graph.n_states:,} states, more than {max_states:,}; smaller "
            f"parameters help, or {more_states()}"
        )


@dataclass(eq=False)
class _Building:
    """A game whose graph is being built, and what has been found out about it.

    Attributes
    ----------
    trial : Interpreter, optional
        What was interpreted before the game turned out to be large.
    compile_seconds : float
    """

    rules: Rules
    max_states: int | None
    progress: Progress | None
    beside: Callable[[], None] | None
    ask_all_again: bool = False
    trial: Interpreter | None = None
    compile_seconds: float = 0.0

    def most(self, default: int) -> int:
        """How many positions there may be: a pool of dice gives each of them a turn of states."""
        return max((self.max_states or default) // (1 + self.rules.turn_states), 1)

    @cached_property
    def few_roots(self) -> NDArray[np.int32] | None:
        """The roots, if there are so few that Python may list them."""
        return self.rules.few_roots(limits.SMALL)

    def in_a_trial(self) -> Arrays | None:
        """Interpret the rules up to a limit; None where there is more, or was the last time."""
        if self.few_roots is None or is_compiled(self.rules) or was_large(self.rules, limits.SMALL):
            return None
        most = self.most(limits.MAX_STATES_INTERPRETED)
        self.trial = Interpreter(self.rules, self.few_roots, most)
        if self._goes_on(self.trial):
            return None
        self.trial.ask_again(all_states=self.ask_all_again)
        return self.trial.arrays()

    def _goes_on(self, trial: Interpreter) -> bool:
        """Whether a game is larger than a trial; if so, its fields that grow are looked at."""
        more = trial.run(stop_after=limits.SMALL, patience=limits.PATIENCE, progress=self._report)
        if more and (told := endless_growth(self.rules, trial.states)):
            _warn(told, GrowthWarning)
        return more

    def by_compiled_rules(self, or_by_python: bool) -> Arrays | None:
        """Let compiled rules run; None, after a warning, where only Python can run them.

        Parameters
        ----------
        or_by_python : bool
            Rules that fail only where they are compiled are no error.
        """
        most = self.most(limits.most_states(self.rules))
        roots = self.few_roots
        started = time.perf_counter()
        compiled = self._compile()
        if compiled is not None and roots is None:
            roots = self._compiled_roots(compiled, most)
        self.compile_seconds = time.perf_counter() - started
        if compiled is None:
            return None
        from rollwise.builders.compiled.explorer import CompiledFails, build_compiled

        roots = self.rules.roots(most) if roots is None else roots
        try:
            arrays = build_compiled(self.rules, compiled, roots, most, progress=self._report)
        except CompiledFails as error:
            if not or_by_python:
                raise
            _warn(f"{error}, as is done here; that is slower")
            return None
        if self.trial is not None:
            note_large(self.rules, limits.SMALL)
        return arrays

    def by_python(self) -> Arrays:
        """Interpret the rules to the end, from where a trial has stopped."""
        if self.trial is None:
            most = self.most(limits.MAX_STATES_INTERPRETED)
            roots = self.rules.roots(most) if self.few_roots is None else self.few_roots
            self.trial = Interpreter(self.rules, roots, most)
            self._goes_on(self.trial)
        self.trial.run(progress=self._report)
        self.trial.ask_again(all_states=self.ask_all_again)
        return self.trial.arrays()

    def _report(self, done: int, found: int) -> None:
        if self.progress is not None:
            self.progress("exploring", done, found)

    def _compile(self) -> CompiledRules | None:
        name = self.rules.game.name
        if jit_disabled():
            _warn(f"{name}: NUMBA_DISABLE_JIT is set, so the rules are interpreted")
            return None
        if self.progress is not None:
            self.progress(COMPILING, 0, None)
        from rollwise.builders.compiled.compiling import compiled_rules
        from rollwise.builders.compiled.reasons import NotCompilable

        if self.beside is not None:
            self.beside()
        try:
            return compiled_rules(self.rules)
        except NotCompilable as error:
            _warn(
                f"{name}: the rules can't be compiled and are interpreted, which is slower: {error}"
            )
            return None

    def _compiled_roots(self, compiled: CompiledRules, most: int) -> NDArray[np.int32] | None:
        """The roots by compiled code; None where only the interpreted ones can tell."""
        from rollwise.builders.compiled.reasons import NotCompilable

        try:
            return compiled.roots(self.rules, most)
        except NotCompilable as error:
            name = self.rules.game.name
            _warn(f"{name}: roots() can't be compiled and is interpreted: {error}")
            return None


def is_compiled(rules: Rules) -> bool:
    """Whether this process has compiled these rules already."""
    if "rollwise.builders.compiled.compiling" not in sys.modules:
        return False
    from rollwise.builders.compiled.compiling import is_in_process

    return is_in_process(rules)


def _warn(message: str, kind: type[Warning] = CompileWarning) -> None:
    """Warn whoever called for the graph: the nearest caller outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("rollwise."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)
