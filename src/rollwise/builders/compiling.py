"""Rules, and questions about states, into function pointers that kernels can call.

What was compiled in this process is found again; on disk, see
`rollwise.builders.rules_cache`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rollwise import large_pages
from rollwise.builders.adapters import question_source, roots_source
from rollwise.builders.adapting import (
    OPTIONS,
    compile_adapter,
    compile_expand,
    compile_marked_rules,
    reasons_told,
    scope_of,
)
from rollwise.builders.record import context_of, numba_type, what_is_read
from rollwise.builders.rules import Rules
from rollwise.builders.rules_cache import fingerprint, folder, keep_note
from rollwise.game import Game
from rollwise.kernels import explore

RULES = ("actions", "outcomes", "reward", "roots")

_COMPILED: dict[Any, CompiledRules] = {}
_QUESTIONS: dict[Any, CompiledQuestion] = {}


@dataclass
class CompiledRules:
    """A game's rules as a function pointer, with the record of what they read.

    Attributes
    ----------
    expand : compiled function int64(int64)
    attributes : names of what the rules read from ``self``, in the record's order
    scope : what the adapters are compiled in
    """

    expand: Any
    attributes: tuple[str, ...]
    scope: dict[str, Any]

    def roots(self, rules: Rules, most: int) -> np.ndarray | None:
        """The roots, start first, by the compiled ``roots()``: (n, n_fields) int32.

        None where that fails, in which case the interpreted one will tell why.

        Raises
        ------
        NotCompilable
        """
        listing = self._adapter("list_roots", roots_source, rules)
        context, alive = self.context(rules.game)
        context[explore.CONTEXT_MOST_ACTIONS] = most
        start = np.array([rules.checked(rules.start, "start()")], np.int32)
        rows = start
        for _ in range(2):  # once to count them, and once to list them
            context[explore.CONTEXT_NEXT] = rows[1:].ctypes.data
            context[explore.CONTEXT_MOST_OUTCOMES] = len(rows) - 1
            found = listing.ctypes(context.ctypes.data)
            if found < 0:
                return None
            if found > most:
                raise rules.too_many_roots(most)
            if found >= len(rows):
                rows = large_pages.empty((found + 1, len(rules.field_names)), np.int32)
                rows[0] = start
        del alive
        return rows

    def context(self, game: Game) -> tuple[np.ndarray, list[np.ndarray]]:
        """See `context_of`."""
        return context_of(game, self.attributes)

    def _adapter(
        self, name: str, source: Callable[[Rules, dict[str, Any]], str], rules: Rules
    ) -> Any:
        key = f"compiled_{name}"
        if key not in self.scope:
            with reasons_told():
                self.scope[key] = compile_adapter(self.scope, source(rules, self.scope), name)
        return self.scope[key]


@dataclass
class CompiledQuestion:
    """A function of game and state that answers with a whole number, as a function pointer.

    Attributes
    ----------
    answer : compiled function int64(int64)
        It writes the answer where rules write their actions.
    attributes : names of what the function reads from the game
    """

    answer: Any
    attributes: tuple[str, ...]


def _rules_of(rules: Rules) -> dict[str, Callable[..., Any]]:
    return {name: getattr(type(rules.game), name) for name in RULES}


def _what_rules_read(rules: Rules) -> tuple[dict[str, Any], dict[str, Any]]:
    functions = _rules_of(rules)
    if not rules.has_reward:
        del functions["reward"]
    return what_is_read(rules.game, functions.values())


def compiled_rules(rules: Rules) -> CompiledRules:
    """Compile the rules of a game, or find them compiled earlier in this process.

    Raises
    ------
    NotCompilable
        With the reason, in a line, and what to change.
    """
    values, methods = _what_rules_read(rules)
    kinds = tuple((name, str(numba_type(value))) for name, value in values.items())
    key = (type(rules.game), rules.state_type, kinds)
    if key not in _COMPILED:
        compile_marked_rules()
        with reasons_told():
            scope = scope_of(rules, _rules_of(rules), values, methods)
            expand = compile_expand(rules, scope, _rules_of(rules))
        _COMPILED[key] = CompiledRules(expand, tuple(values), scope)
    return _COMPILED[key]


def compiled_question(rules: Rules, function: Callable[[Any, Any], Any]) -> CompiledQuestion:
    """Compile a function of game and state, or find it compiled earlier in this process.

    Raises
    ------
    NotCompilable
        With the reason, in a line, and what to change.
    """
    values, methods = what_is_read(rules.game, [function])
    kinds = tuple((name, str(numba_type(value))) for name, value in values.items())
    key = (function, type(rules.game), rules.state_type, kinds)
    if key not in _QUESTIONS:
        compile_marked_rules()
        with reasons_told():
            scope = scope_of(rules, {"question": function}, values, methods)
            answer = compile_adapter(scope, question_source(rules, scope), "answer")
        _QUESTIONS[key] = CompiledQuestion(answer, tuple(values))
    return _QUESTIONS[key]


def is_compiled(rules: Rules) -> bool:
    """Whether this process has compiled these rules already."""
    values, _ = _what_rules_read(rules)
    kinds = tuple((name, str(numba_type(value))) for name, value in values.items())
    return (type(rules.game), rules.state_type, kinds) in _COMPILED


def _fingerprint(
    rules: Rules,
    functions: dict[str, Callable[..., Any]],
    values: dict[str, Any],
    methods: dict[str, Any],
) -> str | None:
    kinds = [(name, str(numba_type(value))) for name, value in values.items()]
    return fingerprint(
        [*functions.values(), *methods.values()],
        kinds,
        rules.field_names,
        rules.has_reward,
        OPTIONS,
    )


def was_large(rules: Rules, outcomes: int) -> bool:
    """Whether these rules and parameters were noted to give more outcomes than that."""
    note = _large_note(rules, outcomes)
    return note is not None and note.exists()


def note_large(rules: Rules, outcomes: int) -> None:
    """Note on disk that a game has more outcomes than that."""
    note = _large_note(rules, outcomes)
    if note is not None:
        keep_note(note)


def _large_note(rules: Rules, outcomes: int) -> Path | None:
    key = _fingerprint(rules, _rules_of(rules), *_what_rules_read(rules))
    if key is None:
        return None
    parameters = hashlib.blake2b(repr(rules.game.parameters).encode(), digest_size=8)
    return folder() / f"{key}-{parameters.hexdigest()}-{outcomes}.large"
