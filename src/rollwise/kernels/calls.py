"""Calls of compiled rules from kernels: through a record of addresses and numbers.

Compiled rules are functions ``int64(int64)``, so that kernels don't depend on the game. Their
argument is the address of a *call*, a record of whole numbers of 64 bits: parameters, and
addresses to read and write. The tables below alone define the parts of a call. The kernels and
their drivers fill it in; the source of the adapters reads it (see
`rollwise.builders.compiled.adapter_source`).
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel

# Inputs of the rules from the game (see `rollwise.builders.compiled.reads`).
GAME = {
    "whole": "address of the game's whole-number attributes, int64",
    "real": "address of the game's float attributes, float64",
}

# Expanding states; returns how many were expanded, or one of the codes below.
EXPAND_FIELDS = GAME | {
    "count": "number of states to expand",
    "states": "address of their fields, (count, n_fields) int32",
    "most_actions": "room in the buffers for actions",
    "most_outcomes": "room in the buffers for outcomes",
    "throw_ends": "address: throws up to and with each state, int64; of games with throws",
    "throw_weights": "address: weights of the throws, int64 or the bits of a float64",
    "throws": "address: codes of the throws, int64",
    "real_throws": "set to 1 by rules with floats for the weights of throws",
    "situation_ends": "address: actions up to and with each situation, int64",
    "labels": "address: action numbers, int64",
    "rewards": "address: rewards of the actions, float64",
    "action_ends": "address: outcomes up to and with each action, int64",
    "weights": "address: weights of the outcomes, int64 or the bits of a float64",
    "thens": "address: the `then` of each outcome, int64",
    "next_states": "address: fields of the next states, (most_outcomes, n_fields) int64",
    "places": "address: of the next states, their places or hashes, int64; -1 for none",
    "real_weights": "set to 1 by rules with floats for weights",
    "outside": "set to 1 where a next state lies outside the frame of the table",
    "table": "address of the table of states, int32, if it is dense",
    "slots": "address of its slots, uint64, if it is hashed",
    "frame": "address of the frame of the table, (3, n_fields) int64",
    "mask": "size of a hash table less 1; 0 where the table is dense",
    "placed": "1 where places are in the frame; 0 where they are hashes",
}

# Listing the roots; returns how many there are, counted to the limit.
ROOTS_FIELDS = GAME | {
    "rows": "address: fields of the roots, (room, n_fields) int32",
    "room": "how many roots fit there",
    "limit": "how far to count",
}

# Asking a function in a state; returns a code below where it fails.
QUESTION_FIELDS = GAME | {
    "state": "address of the fields of the state, (n_fields,) int32",
    "part": "index of the requested number, if the answer is a tuple",
    "answer": "the answer of the function",
}


def _record(fields: dict[str, str]) -> np.dtype[np.void]:
    return np.dtype([(name, np.int64) for name in fields])


EXPAND, ROOTS, QUESTION = map(_record, (EXPAND_FIELDS, ROOTS_FIELDS, QUESTION_FIELDS))

# Results of a call in the place of a number.
BUFFERS_FULL = -1
RULES_FAILED = -2

# How a state is hashed, as in MurmurHash3, by the rules' side and by the kernels; the hash lacks
# the lowest bit, so that it is never negative. Outcomes of
# weight 0 are left out by the rules' side.
HASH_START = 0x9E3779B97F4A7C15
HASH_FACTOR = 0xFF51AFD7ED558CCD


@kernel(never_interpreted=True)  # Python can't call compiled rules by their address
def answer_all(question, calls, states, answers):
    """The answer of a function in each state.

    Parameters
    ----------
    question : pointer to a compiled function int64(int64)
    calls : (1,) QUESTION
        The argument of the function.
    states : (n, n_fields) int32
    answers : (n,) int64, filled

    Returns
    -------
    int
        The first state with a failure of the function, or -1.
    """
    call = calls[0]
    address = np.int64(calls.ctypes.data)
    for s in range(states.shape[0]):
        call.state = states[s].ctypes.data
        if question(address) < 0:
            return s
        answers[s] = call.answer
    return -1
