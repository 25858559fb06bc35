"""Following one action a situation: what that is worth, and how often play comes by.

Both are linear: ``v = constant + C v`` and ``visits = start + transpose(C) visits``, C being the
coefficients of the chosen actions. A layer is put in solving order once; to follow other actions
then takes one sweep. Within a component with one feedback position both are found in one pass, in
which each position carries what it has apart from the feedback position, and how much of the
feedback position. Components with more are solved as in `rollwise.engine.components`.

Where only some positions are asked for, those that play doesn't come to are left out: often most.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rollwise.engine.components import feedback_system
from rollwise.engine.condensed import Workspace, accelerated_sweeps, condense, solve_small, spread
from rollwise.engine.sweeps import NO_ERRORS, NOT_CHOSEN, Choice, values_for
from rollwise.kernels.jit import ONE, index, inner_kernel, kernel
from rollwise.layers.layer import MOST_FEEDBACK, Layer
from rollwise.machine.interrupts import heard

ACCURACY = 1e-9  # of values where they are found by sweeps
VISITS_LOST = 1e-3  # the share of the visits to a component that may be left out
MOST_ROUNDS = 10_000  # sweeps over one component

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Memory:
    """What an evaluation works on; two at a time need two.

    Attributes
    ----------
    chosen : Choice
        What is followed in each situation.
    kept : Choice
        The same where it matters: outcomes are `NOT_CHOSEN` elsewhere.
    waiting : (n,) uint32
    values : (n_places,) float64
        Those of the actions that were evaluated last.
    slope : (n_places,) float64
    """

    chosen: Choice
    kept: Choice
    waiting: NDArray[np.uint32]
    values: Floats
    slope: Floats
    workspace: Workspace


class Following:
    """A layer whose actions are followed.

    Parameters
    ----------
    layer : Layer
        In solving order, without a border and without a pool of dice.

    Attributes
    ----------
    layer : Layer
    place : (n,) int64
        Of each position, in the order in which the rules were read.
    begin : (n_places,) float64
        Values with which sweeps begin. Near ones save sweeps. They are the same for all actions
        that are followed, so that no evaluation depends on those before it.
    """

    def __init__(self, layer: Layer) -> None:
        assert layer.parts is not None
        self.layer, self._parts = layer, layer.parts
        (_, self._block), self._tables = layer.blocks[0], layer.tables
        self.place = layer.place
        self._first_outcome = layer.first_outcomes()
        self.begin = values_for(layer, np.zeros(layer.n_border))

    def memory(self) -> Memory:
        """What an evaluation works on. At first, all follow the first action of each situation."""
        layer, workspace = self.layer, Workspace.of(self.layer)
        first = self.first_actions
        chosen = Choice(self._first_outcome[first], self._block.lottery[first])
        kept = chosen._replace(outcome=chosen.outcome.copy())
        waiting, values = np.zeros(layer.n, np.uint32), self.begin.copy()
        return Memory(chosen, kept, waiting, values, np.zeros(layer.n_places), workspace)

    @cached_property
    def first_actions(self) -> Ints:
        """The place of the first action of each situation: (n_situations,) int64."""
        counts = self._block.count.astype(np.int64)
        first: Ints = np.cumsum(counts) - counts
        return first

    def take(self, memory: Memory, situations: Ints, actions: Ints) -> None:
        """Choose the actions of some situations, by their places."""
        memory.chosen.outcome[situations] = self._first_outcome[actions]
        memory.chosen.lottery[situations] = self._block.lottery[actions]

    def evaluate(self, memory: Memory, starts: Ints | None = None) -> bool:
        """Find the values of the chosen actions; False where play may have no end.

        Parameters
        ----------
        starts : (n,) int64, optional
            Only the values of these positions are asked for. Those to which no play from them
            comes have none then: that is often most.
        """
        if starts is None:
            memory.kept.outcome[:] = memory.chosen.outcome
        else:
            lists = memory.chosen, memory.kept, memory.waiting
            keep_to(starts, self.layer.n, self._block, self._tables, *lists)
        done = heard(
            evaluate_chosen,
            self.layer.n,
            self._parts,
            self._block,
            self._tables,
            memory.chosen,
            memory.kept,
            self.begin,
            ACCURACY,
            memory.values,
            memory.slope,
            memory.workspace.slope,
            memory.workspace.condensed,
        )
        if not done:
            memory.values[: self.layer.n], memory.slope[:] = 0.0, 0.0
        return bool(done)

    def visits(self, memory: Memory, starts: Ints) -> Floats:
        """How often play from some positions comes by each, roughly: (n,) float64."""
        visits = np.zeros(self.layer.n_places)
        visits[starts] = 1.0
        lists = self._parts, self._block, self._tables, memory.chosen
        count_visits(self.layer.n, *lists, visits, VISITS_LOST)
        return visits[: self.layer.n]

    def action_values(self, actions: Ints, memory: Memory) -> Floats:
        """What some actions are worth by the values that were found: (n,) float64."""
        found = np.empty(len(actions))
        first = self._first_outcome[actions]
        action_worths(actions, first, self._block, self._tables, memory.values, found)
        return found


@inner_kernel
def follow_plainly(low, high, block, tables, choice, values):
    """The values of positions from what they lead to, in place and from the last on."""
    first, throws, target = block.first, block.throws, block.target
    lists, throw, indptr = tables.lists, tables.throw, tables.indptr
    coefficient, reward = tables.coefficient, tables.reward
    outcome, lottery = choice.outcome, choice.lottery
    i = index(high)
    while i > index(low):
        i -= ONE
        s = index(first[i, 0])
        if outcome[s] == NOT_CHOSEN:
            continue
        new = 0.0
        for t in range(index(lists[throws[i]]), index(lists[throws[i] + ONE])):
            number, o = index(lottery[s]), index(outcome[s])
            s += ONE
            q = reward[number]
            for k in range(index(indptr[number]), index(indptr[number + ONE])):
                q += coefficient[k] * values[target[o]]
                o += ONE
            new += throw[t] * q
        values[i] = new


@inner_kernel
def follow_one(low, high, block, tables, choice, values, slope):
    """The same, and how much each changes with that of the one feedback position."""
    first, throws, target = block.first, block.throws, block.target
    lists, throw, indptr = tables.lists, tables.throw, tables.indptr
    coefficient, reward = tables.coefficient, tables.reward
    outcome, lottery = choice.outcome, choice.lottery
    i = index(high)
    while i > index(low):
        i -= ONE
        s = index(first[i, 0])
        if outcome[s] == NOT_CHOSEN:
            continue
        new, d = 0.0, 0.0
        for t in range(index(lists[throws[i]]), index(lists[throws[i] + ONE])):
            number, o = index(lottery[s]), index(outcome[s])
            s += ONE
            q, part = reward[number], 0.0
            for k in range(index(indptr[number]), index(indptr[number + ONE])):
                to = index(target[o])
                q += coefficient[k] * values[to]
                part += coefficient[k] * slope[to]
                o += ONE
            new += throw[t] * q
            d += throw[t] * part
        values[i] = new
        slope[i] = d


@kernel
def keep_to(starts, n, block, tables, chosen, kept, waiting):
    """Leave out the positions that no play comes to.

    Parameters
    ----------
    starts : (n_starts,) int64
        Places in which play begins.
    n : int
        Positions of the layer.
    chosen : Choice
    kept : Choice
        Its outcomes are filled: the same, but NOT_CHOSEN at positions that are left out.
    waiting : (n,) uint32
        Workspace.
    """
    first, target, indptr = block.first, block.target, tables.indptr
    outcome, lottery, kept_outcome = chosen.outcome, chosen.lottery, kept.outcome
    for s in range(kept_outcome.shape[0]):
        kept_outcome[s] = NOT_CHOSEN
    n_waiting = 0
    for k in range(starts.shape[0]):
        waiting[n_waiting] = starts[k]
        n_waiting += kept_outcome[first[starts[k], 0]] == NOT_CHOSEN
        for s in range(first[starts[k], 0], first[starts[k] + 1, 0]):
            kept_outcome[s] = outcome[s]
    while n_waiting > 0:
        n_waiting -= 1
        i = index(waiting[n_waiting])
        for s in range(index(first[i, 0]), index(first[i + ONE, 0])):
            number, o = index(lottery[s]), index(outcome[s])
            for _ in range(index(indptr[number + ONE]) - index(indptr[number])):
                to = index(target[o])
                o += ONE
                if to < index(n) and kept_outcome[first[to, 0]] == NOT_CHOSEN:
                    for k in range(index(first[to, 0]), index(first[to + ONE, 0])):
                        kept_outcome[k] = outcome[k]
                    waiting[n_waiting] = to
                    n_waiting += 1


@kernel
def evaluate_chosen(
    n,
    parts,
    block,
    tables,
    chosen,
    kept,
    begin,
    accuracy,
    values,
    slope,
    one_slope,
    condensed,
):
    """What the chosen actions are worth at each position.

    Parameters
    ----------
    n : int
        Positions of the layer.
    parts : Components
    chosen, kept : Choice
        See `Memory`.
    begin : (n_places,) float64
        Values with which sweeps begin, in components with many feedback positions.
    accuracy : float
        Of the values that are found by sweeps.
    values : (n_places,) float64
        Filled, but for what is left out.
    slope : (n_places,) float64, all 0
        Workspace, left as it was found.
    one_slope, condensed
        See `rollwise.engine.condensed.Workspace`.

    Returns
    -------
    bool
        Whether every component came to rest.
    """
    x = np.empty(MOST_FEEDBACK)
    for component in range(parts.n_feedback.shape[0]):
        low, high = n - parts.ends[component + 1], n - parts.ends[component]
        m = np.int64(parts.n_feedback[component])
        if m == 0:
            follow_plainly(low, high, block, tables, kept, values)
        elif m == 1:
            f = index(parts.feedback[low])
            if kept.outcome[block.first[f, 0]] == NOT_CHOSEN:
                follow_plainly(low, high, block, tables, kept, values)
                continue
            values[f] = 0.0
            slope[f] = 1.0
            follow_one(low, high, block, tables, kept, values, slope)
            own = 1.0 - slope[f]
            step = values[f] / own if own != 0.0 else np.inf
            for i in range(index(low), index(high)):
                values[i] += slope[i] * step
                slope[i] = 0.0
            if not np.isfinite(step):
                return False
        elif m <= MOST_FEEDBACK:
            feedback = parts.feedback[low : low + m]
            for j in range(m):
                values[feedback[j]] = 0.0
            follow_plainly(low, high, block, tables, kept, values)
            matrix = np.empty((m, m))
            feedback_system(low, high, feedback, block, tables, chosen, one_slope, matrix)
            for j in range(m):
                x[j] = values[feedback[j]]
                if kept.outcome[block.first[feedback[j], 0]] == NOT_CHOSEN:
                    matrix[j] = 0.0
                    matrix[j, j] = 1.0
            if not solve_small(matrix, x[:m]):
                return False
            for j in range(m):
                values[feedback[j]] = x[j]
            follow_plainly(low, high, block, tables, kept, values)
        else:
            for i in range(index(low), index(high)):
                values[i] = begin[i]
            rows, n_feedback = condense(
                low, high, block, tables, values, NO_ERRORS, kept, condensed
            )
            if accelerated_sweeps(rows, n_feedback, condensed, 0.0, accuracy, accuracy) < 0:
                return False
            spread(low, high, condensed, values)
    return True


@kernel
def count_visits(n, parts, block, tables, chosen, visits, enough):
    """How often play comes by each position under the chosen actions, roughly.

    Parameters
    ----------
    n : int
        Positions of the layer.
    visits : (n_places,) float64
        How often play begins at each; filled.
    enough : float
        The share of what has come to a component that may be lost there.
    """
    first, throws, target = block.first, block.throws, block.target
    lists, throw, indptr = tables.lists, tables.throw, tables.indptr
    coefficient, outcome, lottery = tables.coefficient, chosen.outcome, chosen.lottery
    arrived = visits.copy()
    visits[:n] = 0.0
    for component in range(parts.n_feedback.shape[0] - 1, -1, -1):
        low, high = n - parts.ends[component + 1], n - parts.ends[component]
        waiting = 0.0
        for i in range(low, high):
            waiting += arrived[i]
        left = enough * waiting
        rounds = 0
        while waiting > left and rounds < MOST_ROUNDS:
            for i in range(low, high):
                amount = arrived[i]
                if amount == 0.0:
                    continue
                arrived[i] = 0.0
                visits[i] += amount
                s = index(first[i, 0])
                for t in range(index(lists[throws[i]]), index(lists[throws[i] + ONE])):
                    number, o = index(lottery[s]), index(outcome[s])
                    s += ONE
                    for k in range(index(indptr[number]), index(indptr[number + ONE])):
                        c = throw[t] * abs(coefficient[k])
                        arrived[target[o]] += amount * c
                        o += ONE
            waiting = 0.0
            rounds += 1
            for i in range(low, high):
                waiting += arrived[i]


@kernel
def action_worths(actions, first, block, tables, values, found):
    """What some actions are worth at given values.

    Parameters
    ----------
    actions : (n_actions,) int64
        Their places.
    first : (n_actions,) uint32
        Their first outcomes.
    found : (n_actions,) float64, filled
    """
    lottery, target, indptr = block.lottery, block.target, tables.indptr
    coefficient, reward = tables.coefficient, tables.reward
    for k in range(actions.shape[0]):
        number, o = index(lottery[actions[k]]), index(first[k])
        q = reward[number]
        for j in range(index(indptr[number]), index(indptr[number + ONE])):
            q += coefficient[j] * values[target[o]]
            o += ONE
        found[k] = q


@kernel
def tally(values, gains, low, totals):
    """Add up the gains of states by the value of a form there.

    Parameters
    ----------
    values : (n,) int32
    gains : (n, n_changes) float64
    low : int
        The least value.
    totals : (n_bins, n_changes) float64, all 0
        Filled.
    """
    for s in range(values.shape[0]):
        b = values[s] - low
        for change in range(gains.shape[1]):
            totals[b, change] += gains[s, change]
