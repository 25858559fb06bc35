"""Compiling rules, and questions about states, into function pointers for kernels.

Results are cached in this process and on disk (`rollwise.builders.compiled.disk`). Numba is
loaded only to compile something or to read it from disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.compiled.cache_key import NotCompilable, run_by
from rollwise.builders.compiled.reads import (
    Note,
    Reads,
    new_call,
    reads_of,
    what_is_read,
)
from rollwise.builders.compiled.spot_check import compare_answers
from rollwise.builders.rules import Rules
from rollwise.kernels.calls import QUESTION, ROOTS, answer_all
from rollwise.machine.interrupts import heard

ROOTS_LISTED_AT_ONCE = 10_000_000

_ADAPTERS: dict[str, Any] = {}  # compiled functions int64(int64), by name and key


def compiled_rules(rules: Rules) -> Any:
    """Compile the rules of a game, or find them in the cache: a pointer to int64(int64).

    Raises
    ------
    NotCompilable
        With the reason, in a line, and the change to make.
    """
    return _adapter("expand", rules, reads_of(rules))


def compiled_roots(rules: Rules, most: int) -> np.ndarray | None:
    """The roots, start first, by the compiled ``roots()``: (n, n_fields) int32.

    None if this fails. The interpreted ``roots()`` then gives the reason.

    Raises
    ------
    NotCompilable
    """
    reads = reads_of(rules)
    listing = _adapter("list_roots", rules, reads)
    call, alive = new_call(ROOTS, rules.game, reads.values)
    call["limit"] = most
    start = rules.layout.numbers(rules.checked(rules.start, "start()"))
    # Unwritten memory costs nothing. If there are more roots, they are counted first.
    n_roots = min(most, ROOTS_LISTED_AT_ONCE)
    for _ in range(2):
        rows = np.empty((n_roots + 1, len(rules.field_names)), np.int32)
        rows[0] = start
        call["rows"], call["room"] = rows[1:].ctypes.data, n_roots
        n_roots = heard(_called, listing, call, rows, alive)
        if n_roots < 0:
            return None
        if n_roots > most:
            raise rules.too_many_roots(most)
        if n_roots < len(rows):
            break
    return rows[: n_roots + 1]


def _called(listing: Any, call: np.ndarray, *alive: Any) -> int:
    """Call an adapter. `alive` holds the arrays for the pointers in the call."""
    return int(listing.ctypes(call.ctypes.data))


def is_in_process(rules: Rules) -> bool:
    """Whether this process has compiled these rules already."""
    return f"expand {reads_of(rules).key.text}" in _ADAPTERS


def _adapter(name: str, rules: Rules, reads: Reads) -> Any:
    """A compiled adapter: from this process, from disk, or compiled now.

    A failure is recorded on disk, and compiling is not tried again.

    Raises
    ------
    NotCompilable
    """
    key = f"{name} {reads.key.text}"
    if key not in _ADAPTERS:
        from rollwise.builders.compiled.disk import compiled_by, kept_adapter

        adapter = kept_adapter(name, reads.key)
        if adapter is not None:
            return _ADAPTERS.setdefault(key, adapter)
        from rollwise.builders.compiled.adapter import compiled_adapter
        from rollwise.builders.compiled.reasons import reasons_told
        from rollwise.builders.compiled.sources import Reached

        of_state = {name: run_by(member) for name, member in reads.of_state.items()}
        reached = Reached(reads.functions, reads.methods, of_state)
        reached.refuse_what_only_python_runs()
        note = Note(reads.key_with(name, reads.places, compiled_by()), "failed")
        if reason := note.read():
            raise NotCompilable(reason)
        try:
            with reasons_told(reached.calls):
                _ADAPTERS[key] = compiled_adapter(name, rules, reads)
        except NotCompilable as error:
            note.write(str(error))
            raise
    return _ADAPTERS[key]


def _answers(answering: Any, call: Any, states: Any, answers: Any, alive: Any) -> int:
    return int(answer_all(answering, call, states, answers))


class Question:
    """A compiled function of game and state, for repeated use with many states.

    Attributes
    ----------
    answer : pointer to a compiled function
    call : (1,) QUESTION
        The argument of the compiled function.

    Raises
    ------
    NotCompilable
    """

    def __init__(
        self, rules: Rules, function: Callable[..., Any], *, thrown: bool = False, parts: bool
    ) -> None:
        reads = what_is_read(rules, {"question": function})
        name = "answer" + "_thrown" * thrown + "_parts" * parts
        self.answer = _adapter(name, rules, reads)
        self.call, self._alive = new_call(QUESTION, rules.game, reads.values)

    def answers(
        self, states: NDArray[np.int32], part: int | None = None
    ) -> tuple[NDArray[np.int64], int]:
        """As `ask`, without a comparison with Python's answers.

        Parameters
        ----------
        part : int, optional
            The index of the requested number, if the result is a tuple.
        """
        answers = np.empty(len(states), np.int64)
        self.call["part"] = part or 0
        failed = heard(_answers, self.answer, self.call, states, answers, self._alive)
        return answers, int(failed)


def ask(
    rules: Rules,
    function: Callable[..., Any],
    states: NDArray[np.int32],
) -> tuple[NDArray[np.int64], int]:
    """The results of a function for each state, in compiled code.

    Parameters
    ----------
    function : callable
        Of game and state, and of the throw if the states have one; returns a whole number.
    states : (n, n_fields) or (n, n_columns) int32
        Rows of a graph: all of them positions, or all of them after a throw.

    Returns
    -------
    answers : (n,) int64
    failed : int
        The first state with a failure, or -1.

    Raises
    ------
    NotCompilable, RulesDiffer
    """
    thrown = states.shape[1] > len(rules.field_names)
    answers, failed = Question(rules, function, thrown=thrown, parts=False).answers(states)
    if failed < 0:
        compare_answers(rules, function, states, answers)
    return answers, failed
