"""The stages of building: choose a builder, run the rules, convert the result to a graph.

A game is interpreted up to a limit. If it is larger, its rules are compiled or loaded from the
cache, and the build begins again (`rollwise.builders.compiled`). Rules that cannot be compiled are
interpreted to the end.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import limits
from rollwise.builders.arrays import Arrays, as_graph
from rollwise.builders.compiled.reads import note_large, reads_of, was_large
from rollwise.builders.contract import more_states
from rollwise.builders.rules import Rules
from rollwise.errors import TooManyStates, UsageError, another_kind, spelled
from rollwise.game import Game, caps_of, require_game
from rollwise.graph import StateGraph
from rollwise.machine.switches import jit_disabled
from rollwise.numbers.given import whole_number

if TYPE_CHECKING:
    from rollwise.builders.growth import Growth
    from rollwise.builders.interpreter import Interpreter

Mode = Literal["auto", "interpreted", "compiled"]
Progress = Callable[[str, int, int | None], None]
COMPILING = "compiling the rules"  # a stage of progress


class CompileWarning(UserWarning):
    """Rules that could not be compiled, with the changes to make."""


@dataclass(frozen=True)
class BuildReport:
    """How a graph was built.

    Attributes
    ----------
    mode : "interpreted", "compiled" or, from the graph of another game, "derived"
    compile_seconds, build_seconds : float
    rules : Rules, optional
        The rules that were asked; None of a derived graph.
    """

    mode: str
    compile_seconds: float
    build_seconds: float
    rules: Rules | None = None


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
        The builder that runs the rules. "auto" interprets small games and compiles large ones.
        If Numba cannot compile the rules, "auto" interprets them, with a warning that says what
        to change.
    max_states : int, optional
        Raise an error beyond this number of states: 10 million by default, 1
        million if the rules are interpreted.
    progress : callable, optional
        Called at intervals as ``progress(stage, done, total or None)``.

    Returns
    -------
    StateGraph

    Raises
    ------
    RulesError
        The rules break the contract of the language; the message names the state
        and the action.
    RulesDiffer
        Compiled rules and Python's rules disagree.
    TooManyStates
    UsageError
        The game has three players or more, hidden dice or simultaneous choices; `max_states` is
        no whole number from 1; or the mode is "compiled", and the rules can't be compiled.
    ValueError
        There is no such mode.
    """
    return build_with_report(game, mode=mode, max_states=max_states, progress=progress)[0]


def build_with_report(
    game: Game,
    *,
    mode: Mode = "auto",
    max_states: int | None = None,
    progress: Progress | None = None,
    beside: Callable[[], Callable[[], None]] | None = None,
    any_players: bool = False,
    ask_all_again: bool = False,
) -> tuple[StateGraph, BuildReport]:
    """As `build`, with the builder used and the time taken.

    Parameters
    ----------
    beside : callable, optional
        Called before rules are compiled, to start other compilation at the same time. It returns
        a function that waits for it.
    any_players : bool, optional
        Accept games of three or more players, whose endings pay each seat
        (`rollwise.many.seats`).
    ask_all_again : bool, optional
        Ask interpreted rules about every state twice, however long it takes.
    """
    if mode not in ("auto", "interpreted", "compiled"):
        raise ValueError(f"mode is {mode!r}; it must be 'auto', 'interpreted' or 'compiled'")
    if max_states is not None:
        max_states = whole_number("max_states", max_states, 1)
    if progress is not None and not callable(progress):
        raise another_kind("progress is a function of the stage, the work done and all", progress)
    started = time.perf_counter()
    derived = require_game(game).derive() if mode == "auto" else None
    if derived is not None:
        if max_states is not None and derived.n_states > max_states:
            raise TooManyStates(
                f"{derived.title} has {derived.n_states:,} states, more than {max_states:,}; "
                f"smaller parameters help, or {more_states()}"
            )
        derived = replace(derived, caps=caps_of(game)) if caps_of(game) else derived
        return derived, BuildReport("derived", 0.0, time.perf_counter() - started)
    if mode == "auto" and jit_disabled():
        mode = "interpreted"
    building = _Building(Rules(game, any_players), max_states, progress, beside, ask_all_again)
    try:
        arrays, how = building.run(mode)
    except TooManyStates as error:
        if building.growth is None or max_states is not None:
            raise
        _, remedy, field = building.growth
        more = f"if {field} has an end, {more_states()} raises the limit"
        raise TooManyStates(error.fault, f"; {remedy}; {more}") from None
    building.wait()  # for the compilation started by `beside`
    graph = as_graph(building.rules, arrays)
    seconds = time.perf_counter() - started - building.compile_seconds
    return graph, BuildReport(how, building.compile_seconds, seconds, building.rules)


_GROWING: dict[str, Growth] = {}  # by the keys of games, in this process


@dataclass(eq=False)
class _Building:
    """A game during the building of its graph, and the facts known about it so far.

    Attributes
    ----------
    trial : Interpreter, optional
        The interpreter of the trial, with its states, if there was a trial.
    growth : Growth, optional
        A field without an end in sight. It lowers the limit on states, unless one was given.
    compile_seconds : float
    """

    rules: Rules
    max_states: int | None
    progress: Progress | None
    beside: Callable[[], Callable[[], None]] | None
    ask_all_again: bool = False
    trial: Interpreter | None = None
    growth: Growth | None = None
    compile_seconds: float = 0.0
    wait: Callable[[], None] = lambda: None

    def most(self, default: int) -> int:
        """The largest number of positions. With a pool each has a turn of states."""
        default //= limits.LESS_IF_GROWING if self.growth else 1
        return max((self.max_states or default) // (1 + self.rules.turn_states), 1)

    def run(self, mode: Mode) -> tuple[Arrays, str]:
        """The arrays, and the builder that made them."""
        arrays = self.in_a_trial() if mode == "auto" else None
        if arrays is not None:
            return arrays, "interpreted"
        if mode != "interpreted":
            arrays = self.by_compiled_rules(or_by_python=mode == "auto")
        return (self.by_python(), "interpreted") if arrays is None else (arrays, "compiled")

    @cached_property
    def few_roots(self) -> NDArray[np.int32] | None:
        """The roots, or None if they are too many to list in Python."""
        return self.rules.few_roots(limits.SMALL)

    def in_a_trial(self) -> Arrays | None:
        """Interpret the rules up to a limit; None if the game is larger, or was so last time."""
        if self.few_roots is None or is_compiled(self.rules) or was_large(self.rules, limits.SMALL):
            self.growth = _GROWING.get(reads_of(self.rules).whole_key.text)
            return None
        self.trial = self._interpreter(self.few_roots)
        if self._goes_on(self.trial):
            return None
        self.trial.ask_again(all_states=self.ask_all_again)
        return self.trial.arrays()

    def _interpreter(self, roots: NDArray[np.int32]) -> Interpreter:
        from rollwise.builders.interpreter import Interpreter

        return Interpreter(self.rules, roots, self.most(limits.MAX_STATES_INTERPRETED))

    def _goes_on(self, trial: Interpreter) -> bool:
        """Whether a game is larger than a trial; if so, warn about growing fields."""
        more = trial.run(stop_after=limits.SMALL, patience=limits.PATIENCE, progress=self._report)
        from rollwise.builders.growth import growth_of

        if more and (growth := growth_of(self.rules, trial.states)):
            self.growth = _GROWING[reads_of(self.rules).whole_key.text] = growth
            proved = spelled(
                python=". rollwise.solve(game).game has a proved cap, if there is one",
                command_line="",
            )
            warn_of_growth(self.rules.game, growth, proved)
        return more

    def by_compiled_rules(self, or_by_python: bool) -> Arrays | None:
        """Run compiled rules.

        Parameters
        ----------
        or_by_python : bool
            Where only Python can run the rules, warn and return None; otherwise raise.
        """
        name, most = self.rules.game.name, self.most(limits.most_states(self.rules))
        auto = spelled(python="mode='auto'", command_line="--mode auto")
        if jit_disabled():
            raise UsageError(
                f"{name}: NUMBA_DISABLE_JIT lets no rules be compiled; {auto} interprets them"
            )
        if self.progress is not None:
            self.progress(COMPILING, 0, None)
        started, roots = time.perf_counter(), self.few_roots
        from rollwise.builders.compiled.cache_key import NotCompilable
        from rollwise.builders.compiled.compiling import compiled_roots, compiled_rules
        from rollwise.builders.compiled.explorer import CompiledFails, build_compiled

        if self.beside is not None:
            self.wait = self.beside()
        try:
            compiled_rules(self.rules)
        except NotCompilable as error:
            form = self.rules.game.parameters.get("as")
            rules = "the rules" if form is None else f"the rules of as={form}"
            slower = f"which is slower: {error}"
            if not or_by_python:
                how = f"interprets them, {slower}" if form is None else f"compiles those of {name}"
                raise UsageError(f"{name}: {rules} can't be compiled; {auto} {how}") from None
            warn_outside(f"{name}: {rules} can't be compiled and are interpreted, {slower}")
            self.compile_seconds = time.perf_counter() - started
            return None
        try:
            roots = compiled_roots(self.rules, most) if roots is None else roots
        except NotCompilable as error:
            warn_outside(f"{name}: roots() can't be compiled and is interpreted: {error}")
        finally:
            self.compile_seconds = time.perf_counter() - started
        roots = self.rules.roots(most) if roots is None else roots
        try:
            arrays = build_compiled(self.rules, roots, most, progress=self._report)
        except CompiledFails as error:
            if not or_by_python:
                raise
            warn_outside(f"{error}, as is done here; that is slower")
            return None
        # The note spares the next process the trial.
        if self.trial is not None:
            note_large(self.rules, limits.SMALL)
        return arrays

    def by_python(self) -> Arrays:
        """Interpret the rules to the end, from the end of the trial."""
        if self.trial is None:
            most = self.most(limits.MAX_STATES_INTERPRETED)
            roots = self.rules.roots(most) if self.few_roots is None else self.few_roots
            self.trial = self._interpreter(roots)
            self._goes_on(self.trial)
        self.trial.max_states = self.most(limits.MAX_STATES_INTERPRETED)
        self.trial.run(progress=self._report)
        self.trial.ask_again(all_states=self.ask_all_again)
        return self.trial.arrays()

    def _report(self, done: int, n_states: int) -> None:
        if self.progress is not None:
            self.progress("exploring", done, n_states)


def is_compiled(rules: Rules) -> bool:
    """Whether this process has compiled these rules already."""
    if "rollwise.builders.compiled.compiling" not in sys.modules:
        return False
    from rollwise.builders.compiled.compiling import is_in_process

    return is_in_process(rules)


def warn_of_growth(game: Game, growth: Growth, more: str = "") -> None:
    """Warn of a field that grows; `more` follows the remedy."""
    from rollwise.builders.growth import GrowthWarning

    warn_outside(
        f"{game.name}: {growth.fault}. If nothing ends it, the states have no end either: "
        f"{growth.remedy}{more}. The search for states goes on up to its limit",
        GrowthWarning,
    )


def warn_outside(message: str, kind: type[Warning] = CompileWarning) -> None:
    """Issue a warning at the nearest caller outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("rollwise."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)
