"""Asking a function of game and state, written like a rule, in many states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.compiled.compiling import compiled_question
from rollwise.builders.compiled.record import new_call
from rollwise.builders.compiled.spot_check import compare_answers
from rollwise.builders.rules import Rules
from rollwise.kernels.calls import QUESTION, answer_all
from rollwise.machine.interrupts import heard

SOON = 1 << 16  # states that are answered for in a moment


def _answers(answering: Any, call: Any, states: Any, answers: Any, alive: Any) -> int:
    return int(answer_all(answering, call, states, answers))


class Question:
    """A function of game and state, compiled, to be asked in many states again and again.

    Attributes
    ----------
    answer : pointer to a compiled function
    call : (1,) QUESTION
        The call that it is given.

    Raises
    ------
    NotCompilable
    """

    def __init__(
        self, rules: Rules, function: Callable[..., Any], *, thrown: bool = False, parts: bool
    ) -> None:
        compiled = compiled_question(rules, function, thrown=thrown, parts=parts)
        self.answer = compiled.answer
        self.call, self._alive = new_call(QUESTION, rules.game, compiled.attributes)

    def answers(
        self, states: NDArray[np.int32], part: int | None = None, *, asked: bool = False
    ) -> tuple[NDArray[np.int64], int]:
        """As `ask`; nobody compares the answers with Python's.

        Parameters
        ----------
        asked : bool
            The states were asked before, so the function comes to an end.
        """
        answers = np.empty(len(states), np.int64)
        self.call["part"] = part or 0
        alive = self._alive
        if asked and len(states) <= SOON:
            return answers, _answers(self.answer, self.call, states, answers, alive)
        failed = heard(_answers, self.answer, self.call, states, answers, alive)
        return answers, int(failed)


def ask(
    rules: Rules,
    function: Callable[..., Any],
    states: NDArray[np.int32],
    part: int | None = None,
) -> tuple[NDArray[np.int64], int]:
    """What a function answers in each state, in compiled code.

    Parameters
    ----------
    function : callable
        Of game and state, and of the throw if the states have one; gives a whole number.
    states : (n, n_fields) or (n, n_columns) int32
        Rows of a graph: all of them positions, or all of them after a throw.
    part : int, optional
        Which number of the answer is asked for, if that is a tuple.

    Returns
    -------
    answers : (n,) int64
    failed : int
        The first state in which it fails, or -1.

    Raises
    ------
    NotCompilable, RulesDiffer
    """
    thrown = states.shape[1] > len(rules.field_names)
    question = Question(rules, function, thrown=thrown, parts=part is not None)
    answers, failed = question.answers(states, part)
    if failed < 0:
        compare_answers(rules, function, states, answers, part)
    return answers, failed
