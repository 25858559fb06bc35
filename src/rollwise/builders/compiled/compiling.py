"""Rules, and questions about states, into function pointers that kernels can call.

What was compiled in this process is found again; on disk, see
`rollwise.builders.compiled.disk`. Numba is loaded when something is compiled, or found there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rollwise.builders.compiled.adapter_source import question_source, roots_source
from rollwise.builders.compiled.cache_key import Key
from rollwise.builders.compiled.notes import Note
from rollwise.builders.compiled.reached import Reached
from rollwise.builders.compiled.reads import Reads, reads_of, what_is_read
from rollwise.builders.compiled.reasons import NotCompilable, reasons_told
from rollwise.builders.compiled.record import new_call
from rollwise.builders.rules import Rules
from rollwise.kernels.calls import ROOTS
from rollwise.machine.interrupts import heard

ROOTS_LISTED_AT_ONCE = 10_000_000

_COMPILED: dict[str, CompiledRules] = {}  # by their keys
_QUESTIONS: dict[str, CompiledQuestion] = {}


@dataclass
class CompiledRules:
    """A game's rules as a function pointer, with the record of what they read.

    Attributes
    ----------
    expand : compiled function int64(int64)
    attributes : names of what the rules read from ``self``, in the record's order
    key : what they are known by
    """

    expand: Any
    attributes: tuple[str, ...]
    key: Key
    _listing: Any = None

    def roots(self, rules: Rules, most: int) -> np.ndarray | None:
        """The roots, start first, by the compiled ``roots()``: (n, n_fields) int32.

        None where that fails, in which case the interpreted one will tell why.

        Raises
        ------
        NotCompilable
        """
        listing = self._list_roots(rules)
        call, alive = new_call(ROOTS, rules.game, self.attributes)
        call["limit"] = most
        start = rules.layout.numbers(rules.checked(rules.start, "start()"))
        # Memory that isn't written to costs nothing. Where there are more, they are counted first.
        room = min(most, ROOTS_LISTED_AT_ONCE)
        rows = np.empty((room + 1, len(rules.field_names)), np.int32)
        rows[0] = start
        for _ in range(2):
            call["rows"], call["room"] = rows[1:].ctypes.data, len(rows) - 1
            found = heard(_called, listing, call, rows, alive)
            if found < 0:
                return None
            if found > most:
                raise rules.too_many_roots(most)
            if found < len(rows):
                break
            rows = np.empty((found + 1, len(rules.field_names)), np.int32)
            rows[0] = start
        del alive
        return rows[: found + 1]

    def _list_roots(self, rules: Rules) -> Any:
        from rollwise.builders.compiled.adapter import compile_adapter, kept_adapter, scope_of

        if self._listing is None:
            self._listing = kept_adapter("list_roots", self.key)
        if self._listing is None:
            scope = scope_of(rules, reads_of(rules))
            with reasons_told(_refused_or_reached(reads_of(rules))):
                self._listing = compile_adapter(scope, roots_source(rules, scope), "list_roots")
        return self._listing


@dataclass
class CompiledQuestion:
    """A function of game and state that answers with a whole number, as a function pointer.

    Attributes
    ----------
    answer : compiled function int64(int64)
    attributes : names of what the function reads from the game
    """

    answer: Any
    attributes: tuple[str, ...]


def _called(listing: Any, call: np.ndarray, *alive: Any) -> int:
    """Call an adapter; what the call points to is `alive` as long as that takes."""
    return int(listing.ctypes(call.ctypes.data))


def compiled_rules(rules: Rules) -> CompiledRules:
    """Compile the rules of a game, or find them compiled earlier in this process.

    Raises
    ------
    NotCompilable
        With the reason, in a line, and what to change.
    """
    reads = reads_of(rules)
    key = reads.key.text
    if key not in _COMPILED:
        from rollwise.builders.compiled.adapter import compile_expand, kept_adapter, scope_of

        expand = kept_adapter("expand", reads.key)
        if expand is None:
            with _tried_once(reads):
                expand = compile_expand(rules, scope_of(rules, reads))
        _COMPILED[key] = CompiledRules(expand, tuple(reads.values), reads.key)
    return _COMPILED[key]


def compiled_question(
    rules: Rules, function: Callable[..., Any], *, thrown: bool = False, parts: bool = False
) -> CompiledQuestion:
    """Compile a function of game and state, or find it compiled earlier in this process.

    Parameters
    ----------
    thrown : bool
        It is a function of game, state and throw.
    parts : bool
        It answers with a tuple of whole numbers.

    Raises
    ------
    NotCompilable
        With the reason, in a line, and what to change.
    """
    reads = what_is_read(rules, {"question": function})
    name = "answer" + "_thrown" * thrown + "_parts" * parts
    key = f"{name} {reads.key.text}"
    if key not in _QUESTIONS:
        from rollwise.builders.compiled.adapter import compile_adapter, kept_adapter, scope_of

        answer = kept_adapter(name, reads.key)
        if answer is None:
            with _tried_once(reads):
                scope = scope_of(rules, reads)
                source = question_source(rules, scope, thrown=thrown, parts=parts)
                answer = compile_adapter(scope, source, name)
        _QUESTIONS[key] = CompiledQuestion(answer, tuple(reads.values))
    return _QUESTIONS[key]


@contextlib.contextmanager
def _tried_once(reads: Reads) -> Iterator[None]:
    """Compile what reads that; where it can't be compiled, that is noted on disk.

    Raises
    ------
    NotCompilable
        At once, where it was noted.
    """
    from rollwise.builders.compiled.disk import compiled_by

    functions = _refused_or_reached(reads)
    note = Note(reads.key_with(reads.lines, compiled_by()), "failed")
    if reason := note.read():
        raise NotCompilable(reason)
    try:
        with reasons_told(functions):
            yield
    except NotCompilable as error:
        note.write(str(error))
        raise


def _refused_or_reached(reads: Reads) -> list[Callable[..., Any]]:
    """All functions that are to be compiled.

    Raises
    ------
    NotCompilable
        One of them does what only Python can.
    """
    reached = Reached(reads.functions, reads.methods)
    reached.refuse_what_only_python_runs()
    return list(reached.calls)


def is_in_process(rules: Rules) -> bool:
    """Whether this process has compiled these rules already."""
    return reads_of(rules).key.text in _COMPILED
