"""Asking a compiled function in many states."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel


@kernel(never_interpreted=True)  # Python can't call compiled rules by their address
def answer_all(question, calls, states, answers):
    """What a function answers in each state.

    Parameters
    ----------
    question : pointer to a compiled function int64(int64)
    calls : (1,) QUESTION
        The call that it is given (see `rollwise.kernels.calls`).
    states : (n, n_fields) int32
    answers : (n,) int64, filled

    Returns
    -------
    int
        The first state in which the function fails, or -1.
    """
    call = calls[0]
    address = np.int64(calls.ctypes.data)
    for s in range(states.shape[0]):
        call.state = states[s].ctypes.data
        if question(address) < 0:
            return s
        answers[s] = call.answer
    return -1


@kernel
def take_answers(action_indptr, action_label, answers, probability):
    """Take the action that was answered, wherever there is a choice.

    Parameters
    ----------
    action_indptr, action_label : of a StateGraph
    answers : (n_choices,) int64
        A label for each state with several actions.
    probability : (n_actions,) float64
        All zero; becomes 1 where an action is taken.

    Returns
    -------
    bool
        Whether all answers are actions of their states.
    """
    asked = 0
    for s in range(action_indptr.shape[0] - 1):
        first, last = action_indptr[s], action_indptr[s + 1]
        if last - first == 1:
            probability[first] = 1.0
            continue
        a = first
        while a < last and action_label[a] != answers[asked]:
            a += 1
        if a == last:
            return False
        probability[a] = 1.0
        asked += 1
    return True
