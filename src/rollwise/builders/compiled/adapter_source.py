"""The source of the adapters between a game's rules and the kernels.

An adapter is a function ``walk(address)``, written for the fields of one game and compiled with its
rules. It reads its arguments through the call at the address (`rollwise.kernels.calls`), and writes
the results of the rules through it. `rollwise.builders.compiled.adapter` defines the names in the
source.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rollwise.builders.compiled.listers import Writing
from rollwise.builders.rules import Rules
from rollwise.kernels.calls import BUFFERS_FULL, HASH_FACTOR, HASH_START
from rollwise.then import GOES_ON

ENDS = 2**64 - 1 - GOES_ON  # the bits of a `then` of which at least one is set if the game is over


def _prologue(kind: str, scope: dict[str, Any]) -> str:
    """The first lines of every adapter: the call, and ``game`` from it."""
    record, n_whole, n_real = scope["record_source"]
    return f"""
    call = carray(pointer(address), (1,), {kind})[0]
    whole = carray(pointer(call.whole), ({n_whole},), int64)
    real = carray(pointer(call.real), ({n_real},), float64)
    game = as_game({record})"""


def writings(rules: Rules, scope: dict[str, Any]) -> dict[str, Writing]:
    """The statements that write the results of each rule into the buffers, by rule name."""
    n_fields = len(rules.field_names)
    label = """
if count_ >= sink_[0]:
    return count_ + one_
put_whole(sink_[1], count_, label_)
count_ += one_
"""
    fields = "\n        ".join(
        f"put_whole(sink_[3], count_ * n_fields_ + field{k}_, state_{path})"
        for k, path in enumerate(rules.layout.paths)
    )
    outcome = f"""
if weight_ != 0:
    if count_ >= sink_[0]:
        return count_ + one_
    put_weight(sink_[1], count_, weight_, sink_[4])
    put_whole(sink_[2], count_, then_)
    if as_unsigned_(then_) & ends_ == zero_:
        {fields}
    count_ += one_
"""
    throw = """
if weight_ != 0:
    if count_ >= sink_[0]:
        return count_ + one_
    put_throw_weight(sink_[1], count_, weight_, sink_[3])
    put_whole(sink_[2], count_, throw_code(throw_))
    count_ += one_
"""
    scope = {
        **{name: scope[name] for name in PUTS if name in scope},
        "zero_": np.uint64(0),
        "one_": np.uint64(1),
        "ends_": np.uint64(ENDS),
        "as_unsigned_": np.uint64,
        "n_fields_": np.uint64(n_fields),
        **{f"field{k}_": np.uint64(k) for k in range(n_fields)},
    }
    found = {
        "actions": Writing("label_", label, scope),
        "outcomes": Writing("weight_, then_, state_", outcome, scope),
    }
    if rules.has_throws and rules.pool is None:
        found["throws"] = Writing("weight_, throw_", throw, scope)
    return found


# The functions used by the statements that write results.
PUTS = ("put_whole", "put_weight", "put_throw_weight", "throw_code")


def expand_source(rules: Rules, scope: dict[str, Any]) -> str:
    """The adapter that expands states, for the fields of one game.

    It returns the number of expanded states. It stops early if the next state does not
    fit into the buffers, breaks a rule or leads out of the box. If this is the first state, it
    reports the reason.
    """
    n_fields = len(rules.field_names)
    fields = range(n_fields)
    # the box of the states found so far, and the position of a next state in it
    frame = "".join(
        f"\n    low{k}, span{k}, stride{k} = "
        f"frame[{k}], uint64(frame[{n_fields + k}]), frame[{2 * n_fields + k}]"
        for k in fields
    )
    overs = "\n            ".join(f"over{k} = next_states[k, {k}] - low{k}" for k in fields)
    # As unsigned numbers, fields below the box are too large, too.
    inside = " and ".join(f"uint64(over{k}) < span{k}" for k in fields)
    # its index in the box, or a hash instead if that does not fit into 63 bits
    place = " + ".join(f"over{k} * stride{k}" for k in fields)
    mixed = "\n                ".join(
        f"h = (h ^ uint64(next_states[k, {k}])) * uint64({HASH_FACTOR})\n"
        "                h ^= h >> uint64(32)"
        for k in fields
    )
    state = rules.layout.source("int64(rows[i, {}])")
    return f"""
def walk(address):{_prologue("EXPAND", scope)}
    most = call.most_outcomes
    count = call.count
    rows = carray(pointer(call.states), (count, {n_fields}), int32)
    most_actions = call.most_actions
    situation_ends = carray(pointer(call.situation_ends), (most_actions,), int64)
    labels = carray(pointer(call.labels), (most_actions,), int64)
    rewards = carray(pointer(call.rewards), (most_actions,), float64)
    ends = carray(pointer(call.action_ends), (most_actions,), int64)
    thens = carray(pointer(call.thens), (most,), int64)
    next_states = carray(pointer(call.next_states), (most, {n_fields}), int64)
    places = carray(pointer(call.places), (most,), int64)
    frame = carray(pointer(call.frame), ({3 * n_fields},), int64){frame}
    mask = uint64(call.mask)
    placed = call.placed == 1
    table = carray(pointer(call.table), (1,), int32)
    slots = carray(pointer(call.slots), (1,), uint64)
    label_sink = (uint64(most_actions), call.labels)
    outcome_sink = (
        uint64(most),
        call.weights,
        call.thens,
        call.next_states,
        address,
    )
    found = uint64(0)  # unsigned: what is an index needn't be asked whether it is negative
    n = uint64(0){_throw_buffers(rules)}
    for i in range(count):
        s = State({state})
        begin = n{_situations(rules)}
        outside = False
        for k in range(begin, n):
            if uint64(thens[k]) & uint64({ENDS}) != uint64(0):
                places[k] = -1
                continue
            {overs}
            if not ({inside}):
                outside = True
                continue
            place = {place}
            if not placed:
                h = uint64({HASH_START})
                {mixed}
                place = int64(h >> uint64(1))
            if mask == uint64(0):
                prefetch(table, place)
            else:  # prefetches the slot: `rollwise.kernels.state_tables.slot_of`
                h = uint64(place)
                h ^= h >> uint64(32)
                h *= uint64({HASH_FACTOR})
                h ^= h >> uint64(32)
                prefetch(slots, h & mask)
            places[k] = place
        if outside:
            if i > 0:
                return i
            call.outside = 1
            return 1
    return count
"""


def _throw_buffers(rules: Rules) -> str:
    """The lines that unpack the buffers of throws, in a game with throws."""
    if not rules.has_throws:
        return ""
    sink = "" if rules.pool else SINK
    return f"""
    thrown = uint64(0)
    throw_ends = carray(pointer(call.throw_ends), (count,), int64)
    codes = carray(pointer(call.throws), (most_actions,), int64)
    whole_weights = carray(pointer(call.throw_weights), (most_actions,), int64)
    real_weights = carray(pointer(call.throw_weights), (most_actions,), float64){sink}"""


SINK = """
    throw_sink = (uint64(most_actions), call.throw_weights, call.throws, address)"""


def _situations(rules: Rules) -> str:
    """The lines that list the actions and outcomes of a state, after each throw if any."""
    layout = rules.throws
    if layout is None:
        return _one_situation(rules, "", "i").replace("\n", "\n        ")
    given = " throw, rolls_left," if rules.reads_rolls_left else " throw,"
    each = _one_situation(rules, given, "t").replace("\n", "\n            ")
    loop = f"""
        throw_ends[i] = thrown
        for t in range(thrown_before, thrown):
            code = codes[t]
           {given[:-1]} = {layout.source(layout.number_in("code"))}{each}"""
    if rules.pool is not None:
        n, bits = len(rules.pool.throws), (layout.width - 1) * layout.bits
        rolls = str(rules.pool.rerolls) if rules.reads_rolls_left else "0"
        rolls = "as_rolls(throws(game, s))" if rules.rolls_vary else rolls
        return f"""
        thrown_before = thrown
        rolls = {rolls}
        if rolls < 0 or rolls > {rules.most_rolls}:
            return i
        if thrown + uint64(({n} + {n} * rolls)) > uint64(most_actions):
            return i if i > 0 else {BUFFERS_FULL}
        for left in range(rolls + 1):
            for t in range({n}):
                codes[thrown] = pool_codes[t] | left << {bits}
                whole_weights[thrown] = pool_ways[t]
                thrown += uint64(1){loop}"""
    return f"""
        thrown_before = thrown
        thrown = list_throws(game, s, throw_sink, thrown)
        if thrown > throw_sink[0]:
            return i if i > 0 else {BUFFERS_FULL}
        if thrown == thrown_before:
            return i
        distinct = thrown_before  # equal throws are one, of their weights' sum
        for t in range(thrown_before, thrown):
            same = thrown_before
            while same < distinct and codes[same] != codes[t]:
                same += uint64(1)
            if same < distinct:
                if call.real_throws == 1:
                    real_weights[same] += real_weights[t]
                else:
                    whole_weights[same] += whole_weights[t]
            else:
                codes[distinct] = codes[t]
                whole_weights[distinct] = whole_weights[t]
                distinct += uint64(1)
        thrown = distinct{loop}"""


def _one_situation(rules: Rules, throw: str, number: str) -> str:
    """The lines that list the actions and outcomes of one situation."""
    reward = f"reward(game, s,{throw} action)" if rules.has_reward else "0.0"
    # ``return i``: the states before i are expanded, and state i comes first in the next call.
    return f"""
first = found
found = list_actions(game, s,{throw} label_sink, found)
if found > label_sink[0]:
    return i if i > 0 else {BUFFERS_FULL}
if found == first:
    return i
for a in range(first, found):
    action = labels[a]
    before = n
    n = list_outcomes(game, s,{throw} action, outcome_sink, n)
    if n > outcome_sink[0]:
        return i if i > 0 else {BUFFERS_FULL}
    if n == before:
        return i
    rewards[a] = {reward}
    ends[a] = n
situation_ends[{number}] = found"""


def roots_source(rules: Rules, scope: dict[str, Any]) -> str:
    """The adapter that lists the roots while there is room, and counts them up to a limit."""
    n_fields = len(rules.field_names)
    puts = "\n            ".join(
        f"rows[n, {k}] = as_short(root{path})" for k, path in enumerate(rules.layout.paths)
    )
    return f"""
def walk(address):{_prologue("ROOTS", scope)}
    rows = carray(pointer(call.rows), (call.room, {n_fields}), int32)
    n = 0
    for root in roots(game):
        if n < call.room:
            {puts}
        n += 1
        if n > call.limit:
            break
    return n
"""


def question_source(
    rules: Rules, scope: dict[str, Any], *, thrown: bool = False, parts: bool = False
) -> str:
    """The adapter of a function that returns a whole number for a state, or after a throw.

    With `parts` it returns a tuple of whole numbers.
    """
    n_fields = len(rules.field_names)
    asked = f"State({rules.layout.source('int64(fields[{}])')})"
    if thrown and rules.throws is not None:
        asked += f", {rules.throws.source(f'int64(fields[{n_fields} + {{}}])')}"
        n_fields += rules.throws.width
    part = f", call.part, {rules.progress_size}" if parts else ""
    return f"""
def walk(address):{_prologue("QUESTION", scope)}
    fields = carray(pointer(call.state), ({n_fields},), int32)
    call.answer = {"as_part" if parts else "as_whole"}(question(game, {asked}){part})
    return 0
"""
