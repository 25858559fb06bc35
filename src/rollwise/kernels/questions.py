"""Asking a compiled function in many states."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.explore import CONTEXT_STATE
from rollwise.kernels.jit import kernel


@kernel
def answer_all(question, context_address, context, answer, states, answers):
    """What a function answers in each state.

    Parameters
    ----------
    question : pointer to a compiled function int64(int64)
    context : (CONTEXT_SLOTS,) int64 at `context_address`
    answer : (1,) int64
        Where the function writes.
    states : (n, n_fields) int32
    answers : (n,) int64, filled

    Returns
    -------
    int
        The first state in which the function fails, or -1.
    """
    for s in range(states.shape[0]):
        context[CONTEXT_STATE] = states[s].ctypes.data
        if question(np.int64(context_address)) < 0:
            return s
        answers[s] = answer[0]
    return -1
