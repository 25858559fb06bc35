"""The source of the adapters between a game's rules and the exploring kernel.

An adapter is a function ``walk(address)``, written out for the fields of one game
and compiled with its rules. It reads its arguments through the context that
`rollwise.kernels.explore` describes, and writes what the rules yield through it.
The names that the source refers to are those of the scope made in
`rollwise.builders.compiled.adapter`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rollwise.builders.compiled.listers import Writing
from rollwise.builders.rules import Rules
from rollwise.kernels import explore


def record_source(values: dict[str, Any]) -> tuple[str, int, int]:
    """The record of a game, read from ``whole`` and ``real``, as Python source.

    Returns
    -------
    source : str
        A tuple of what the rules read from the game.
    n_whole, n_real : int
        Numbers that it takes from ``whole`` and from ``real``.
    """
    n_whole = n_real = 0
    items = []
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            shape = "".join(f"whole[{n_whole + 1 + k}], " for k in range(value.ndim))
            items.append(f"carray(pointer(whole[{n_whole}]), ({shape}), dtype_{name})")
            n_whole += 1 + value.ndim
        elif isinstance(value, float | np.floating):
            items.append(f"real[{n_real}]")
            n_real += 1
        else:
            truth = " != 0" if isinstance(value, bool | np.bool_) else ""
            items.append(f"whole[{n_whole}]{truth}")
            n_whole += 1
    return f"({', '.join(items or ['whole[0]'])},)", max(n_whole, 1), max(n_real, 1)


def _prologue(scope: dict[str, Any]) -> str:
    """The lines with which every adapter begins: the context, and ``game`` from it."""
    record, n_whole, n_real = scope["record_source"]
    return f"""
    context = carray(pointer(address), ({explore.CONTEXT_SLOTS},), int64)
    whole = carray(pointer(context[{explore.CONTEXT_INTS}]), ({n_whole},), int64)
    real = carray(pointer(context[{explore.CONTEXT_REALS}]), ({n_real},), float64)
    most = context[{explore.CONTEXT_MOST_OUTCOMES}]
    game = as_game({record})"""


def writings(rules: Rules, scope: dict[str, Any]) -> dict[str, Writing]:
    """How what the rules yield is written into the buffers, by the names of the rules."""
    n_fields = len(rules.field_names)
    label = """
if count_ >= sink_[0]:
    return count_ + one_
put_whole(sink_[1], count_, label_)
count_ += one_
"""
    fields = "\n        ".join(
        f"put_whole(sink_[3], count_ * n_fields_ + field{k}_, state_.{name})"
        for k, name in enumerate(rules.field_names)
    )
    outcome = f"""
if weight_ != 0:
    if count_ >= sink_[0]:
        return count_ + one_
    put_weight(sink_[1], count_, weight_, sink_[4])
    put_whole(sink_[2], count_, then_)
    if then_ <= 1:
        {fields}
    count_ += one_
"""
    scope = {
        "put_whole": scope["put_whole"],
        "put_weight": scope["put_weight"],
        "one_": np.uint64(1),
        "n_fields_": np.uint64(n_fields),
        **{f"field{k}_": np.uint64(k) for k in range(n_fields)},
    }
    return {
        "actions": Writing("label_", label, scope),
        "outcomes": Writing("weight_, then_, state_", outcome, scope),
    }


def expand_source(rules: Rules, scope: dict[str, Any]) -> str:
    """The adapter that expands states, for the fields of one game.

    It returns how many it has expanded; fewer than it was asked to, if the next one doesn't
    fit in the buffers, breaks a rule or leads out of the box. If that is the first one, it
    says why.
    """
    n_fields = len(rules.field_names)
    fields = range(n_fields)
    state = ", ".join(f"int64(rows[i, {k}])" for k in fields)
    frame = "".join(
        f"\n    low{k}, span{k}, stride{k} = "
        f"frame[{k}], uint64(frame[{n_fields + k}]), frame[{2 * n_fields + k}]"
        for k in fields
    )
    overs = "\n            ".join(f"over{k} = next_states[k, {k}] - low{k}" for k in fields)
    inside = " and ".join(f"uint64(over{k}) < span{k}" for k in fields)
    place = " + ".join(f"over{k} * stride{k}" for k in fields)
    hashing = "\n                ".join(
        line
        for k in fields
        for line in (
            f"h = (h ^ uint64(next_states[k, {k}])) * uint64({explore.HASH_FACTOR})",
            "h ^= h >> uint64(32)",
        )
    )
    reward = "reward(game, s, action)" if rules.has_reward else "0.0"
    return f"""
def walk(address):{_prologue(scope)}
    count = context[{explore.CONTEXT_COUNT}]
    rows = carray(pointer(context[{explore.CONTEXT_STATE}]), (count, {n_fields}), int32)
    state_ends = carray(pointer(context[{explore.CONTEXT_STATE_END}]), (count,), int64)
    most_actions = context[{explore.CONTEXT_MOST_ACTIONS}]
    labels = carray(pointer(context[{explore.CONTEXT_ACTION}]), (most_actions,), int64)
    rewards = carray(pointer(context[{explore.CONTEXT_REWARD}]), (most_actions,), float64)
    ends = carray(pointer(context[{explore.CONTEXT_ACTION_END}]), (most_actions,), int64)
    thens = carray(pointer(context[{explore.CONTEXT_THEN}]), (most,), int64)
    next_states = carray(pointer(context[{explore.CONTEXT_NEXT}]), (most, {n_fields}), int64)
    places = carray(pointer(context[{explore.CONTEXT_PLACE}]), (most,), int64)
    frame = carray(pointer(context[{explore.CONTEXT_FRAME}]), ({3 * n_fields},), int64){frame}
    mask = uint64(context[{explore.CONTEXT_MASK}])
    table = carray(pointer(context[{explore.CONTEXT_TABLE}]), (1,), int32)
    label_sink = (uint64(most_actions), context[{explore.CONTEXT_ACTION}])
    outcome_sink = (
        uint64(most),
        context[{explore.CONTEXT_WEIGHT}],
        context[{explore.CONTEXT_THEN}],
        context[{explore.CONTEXT_NEXT}],
        address,
    )
    found = uint64(0)  # unsigned: what is an index needn't be asked whether it is negative
    n = uint64(0)
    for i in range(count):
        s = State({state})
        first, begin = found, n
        found = list_actions(game, s, label_sink, found)
        if found > label_sink[0]:
            return i if i > 0 else {explore.BUFFERS_FULL}
        if found == first:
            return i
        for a in range(first, found):
            action = labels[a]
            before = n
            n = list_outcomes(game, s, action, outcome_sink, n)
            if n > outcome_sink[0]:
                return i if i > 0 else {explore.BUFFERS_FULL}
            if n == before:
                return i
            rewards[a] = {reward}
            ends[a] = n
        state_ends[i] = found
        outside = False
        for k in range(begin, n):
            if thens[k] > 1:
                places[k] = -1
                continue
            {overs}
            if not ({inside}):
                outside = True
                continue
            if mask == uint64(0):
                place = {place}
            else:
                h = uint64({explore.HASH_START})
                {hashing}
                place = int64(h & mask)
            prefetch(table, place)
            places[k] = place
        if outside:
            if i > 0:
                return i
            context[{explore.CONTEXT_OUTSIDE}] = 1
            return 1
    return count
"""


def roots_source(rules: Rules, scope: dict[str, Any]) -> str:
    """The adapter that lists the roots as far as there is room, and counts them to a limit."""
    n_fields = len(rules.field_names)
    puts = "\n            ".join(
        f"rows[n, {k}] = as_short(root.{name})" for k, name in enumerate(rules.field_names)
    )
    return f"""
def walk(address):{_prologue(scope)}
    rows = carray(pointer(context[{explore.CONTEXT_NEXT}]), (most, {n_fields}), int32)
    n = 0
    for root in roots(game):
        if n < most:
            {puts}
        n += 1
        if n > context[{explore.CONTEXT_MOST_ACTIONS}]:
            break
    return n
"""


def question_source(rules: Rules, scope: dict[str, Any]) -> str:
    """The adapter of a function that answers with a whole number in a state."""
    n_fields = len(rules.field_names)
    state = ", ".join(f"int64(fields[{k}])" for k in range(n_fields))
    return f"""
def walk(address):{_prologue(scope)}
    fields = carray(pointer(context[{explore.CONTEXT_STATE}]), ({n_fields},), int32)
    answer = carray(pointer(context[{explore.CONTEXT_ACTION}]), (1,), int64)
    answer[0] = as_whole(question(game, State({state})))
    return 0
"""
