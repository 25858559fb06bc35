"""Signs in a graph that the rules say something else than their author means.

At a PASS the next state is written as the next player sees it, so the players' own
fields change places. Where that was forgotten, the mover's fields stay his own for
ever, and the rival's never change.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import StateGraph
from rollwise.graph.choices import outcome_action

# Names of fields that are the other player's; whose a field is, its values can't tell.
RIVALS = re.compile(
    r"(^|_)(rivals?|opp|opponents?|others?|foes?|enem(y|ies)|theirs?|them|you|yours?)(_|\d|$)"
)
EXCHANGE = (
    "after a PASS the next state is written as the next player sees it: exchange the fields of "
    "the two players"
)
MOSTLY, HARDLY_EVER = 0.5, 0.1


def oddities(graph: StateGraph, border: NDArray[np.int32] | None = None) -> list[str]:
    """What is surely not meant, each in a line with what to write instead.

    Parameters
    ----------
    border : (n_border, n_fields) int32, optional
        The states of the border, if there is one.
    """
    action = outcome_action(graph)
    fields = graph.fields if border is None else np.concatenate([graph.fields, border])
    inside = np.flatnonzero((graph.outcome_state >= 0) & (graph.outcome_state < len(fields)))
    before = fields[graph.action_state[action[inside]]]
    after = fields[graph.outcome_state[inside]]
    passes = graph.outcome_passes[inside]
    if not len(inside) or graph.n_states < 2:
        return []
    fixed = (fields == fields[0]).all(axis=0)
    passed = bool(passes.any())
    found = []
    for field in np.flatnonzero(fixed).tolist() if not fixed.all() else ():  # a state needs one
        remedy = f"leave it out, or, if it is a player's: {EXCHANGE}" if passed else "leave it out"
        name, value = graph.field_names[field], int(graph.states[0, field])
        found.append(f"the field {name} is {value} in every state; {remedy}")
    if passed and not _seat(before[passes], after[passes]):
        for field, name in enumerate(graph.field_names):
            rivals = not fixed[field] and RIVALS.search(name) is not None
            if rivals and _stays(before[passes], after[passes], field):
                found.append(f"a PASS leaves the field {name} where it is; {EXCHANGE}")
    return found


def nothing_at_stake(graph: StateGraph) -> str:
    """Why every play is worth the same, in a line with the remedy; empty where plays differ."""
    lotteries = graph.lotteries
    if graph.n_border or graph.players > 2 or lotteries.reward.any():
        return ""
    if graph.objective != "win":
        return (
            "no action brings a point, and every play is worth 0: give the points with "
            "reward(s, action), which the rules lack or in which they say 0"
        )
    ends = np.unique(lotteries.payoff[lotteries.over])
    if len(ends) != 1 or (graph.players == 2 and ends[0]):
        return ""
    ending = {1.0: "won", 0.0: "drawn", -1.0: "lost"}.get(float(ends[0]), f"worth {ends[0]:g}")
    return f"every play that ends is {ending}, whatever is done: no outcome ends it otherwise"


def _seat(before: NDArray[np.int32], after: NDArray[np.int32]) -> bool:
    """Whether a field says whose turn it is, so that the others needn't be exchanged."""
    two = np.array([len(np.unique(column)) == 2 for column in before.T])
    return bool((two & (before != after).all(axis=0)).any())


def _stays(before: NDArray[np.int32], after: NDArray[np.int32], field: int) -> bool:
    """Whether a field stays at a PASS, and goes to no other field, where that can be told."""
    others = np.delete(np.arange(before.shape[1]), field)
    mine = before[:, field]
    told = (before[:, others] != mine[:, None]).all(axis=1)
    if not told.any():
        return False
    goes = (after[told][:, others] == mine[told][:, None]).mean(axis=0)
    stays = (after[told, field] == mine[told]).mean()
    return bool(stays > MOSTLY and goes.max(initial=0.0) < HARDLY_EVER)
