"""Values of a fixed policy, and the expected number of visits to each position.

Both are linear: ``v = constant + C v`` and ``visits = start + transpose(C) visits``, where C holds
the coefficients of the chosen actions. A layer is put in solving order once. Each other policy
then takes one sweep. In a component with one feedback position, one pass finds both: each position
carries a constant and a multiple of the value of the feedback position. Components with more
feedback positions are solved as in `rollwise.engine.components`. Before that, `leads_out` follows
the chosen actions: where some play stays within the component for ever the equations are singular,
and rounding or good initial values would hide it.

If only some positions are requested, positions that play cannot reach from them are skipped. These
are often the majority.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rollwise.engine.components import feedback_system
from rollwise.engine.condensed import Workspace, accelerated_sweeps, condense, solve_small, spread
from rollwise.engine.sweeps import NO_ERRORS, NO_PLACES, NOT_CHOSEN, Choice, evaluate, values_for
from rollwise.kernels.jit import ONE, index, inner_kernel, kernel
from rollwise.layers.layer import MOST_FEEDBACK, Layer
from rollwise.machine.interrupts import heard

ACCURACY = 1e-9  # of values found by sweeps
ROUNDING = 2.0**-50  # for each position of a component
VISITS_LOST = 1e-3  # share of the visits to a component that may be left out
MOST_ROUNDS = 10_000  # sweeps over one component
MOST_DIRECT = 20_000  # unknowns of a sparse factorization

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Memory:
    """The working memory of one evaluation. Concurrent evaluations need separate ones.

    Attributes
    ----------
    chosen : Choice
        The action of each situation.
    played : Choice
        The same, but positions without a way out stay for ever, where this has a worth.
    kept : Choice
        The same, with `NOT_CHOSEN` at skipped positions.
    waiting : (n,) uint32
        Workspace of the searches along the chosen actions.
    values : (n_places,) float64
        Values under the last evaluated actions.
    slope : (n_places,) float64
    """

    chosen: Choice
    played: Choice
    kept: Choice
    waiting: NDArray[np.uint32]
    values: Floats
    slope: Floats
    workspace: Workspace


class Following:
    """A layer for evaluating policies.

    Parameters
    ----------
    layer : Layer
        In solving order, without a border and without a pool of dice.
    endless : str, optional
        The worth of endless play, as `rollwise.Game` names it, if the last action of each position
        is to stay for ever; play has to end unless given.

    Attributes
    ----------
    layer : Layer
    place : (n,) int64
        The place of each position. Positions are in the order in which the rules were read.
    begin : (n_places,) float64
        Initial values of sweeps. Good ones save sweeps. They are the same for all policies,
        so that no evaluation depends on earlier ones.
    """

    def __init__(self, layer: Layer, endless: str | None = None) -> None:
        assert layer.parts is not None
        self._endless = endless
        self.layer, self._parts = layer, layer.parts
        (_, self._block), self._tables = layer.blocks[0], layer.tables
        self.place = layer.place
        self._first_outcome = layer.first_outcomes()
        self.begin = values_for(layer, np.zeros(layer.n_border))

    def memory(self) -> Memory:
        """New working memory, in which each situation has its first action."""
        layer, workspace = self.layer, Workspace.of(self.layer)
        first = self.first_actions
        turn = np.empty((2, len(layer.tables.pool.without)))
        chosen = Choice(self._first_outcome[first], NO_PLACES, self._block.lottery[first], *turn)
        played = chosen
        if self._endless is not None:
            copies = chosen.outcome.copy(), chosen.lottery.copy()
            played = chosen._replace(outcome=copies[0], lottery=copies[1])
        kept = played._replace(outcome=chosen.outcome.copy())
        waiting, values = np.zeros(layer.n, np.uint32), self.begin.copy()
        return Memory(chosen, played, kept, waiting, values, np.zeros(layer.n_places), workspace)

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
        """Find the values of the chosen actions; False if endless play has no worth.

        The values are then the initial ones.

        Parameters
        ----------
        starts : (n,) int64, optional
            Only the values of these positions are requested. Positions that play from them
            cannot reach, often the majority, get no values.
        """
        done = self._play(memory, starts) and self._evaluate_played(memory)
        if not done:
            memory.values[:], memory.slope[:] = self.begin, 0.0
        return done

    def _evaluate_played(self, memory: Memory) -> bool:
        """Find the values of what is kept; False if some component has none."""
        component, n_components = 0, len(self._parts.n_feedback)
        while True:
            component, rows = heard(
                evaluate_chosen,
                component,
                self.layer.n,
                self._parts,
                self._block,
                self._tables,
                memory.played,
                memory.kept,
                memory.waiting,
                self.begin,
                ACCURACY,
                memory.values,
                memory.slope,
                memory.workspace.slope,
                memory.workspace.condensed,
            )
            if component == n_components:
                return True
            if not 0 < rows <= MOST_DIRECT or not self._solve(memory, component, rows):
                return False
            component += 1

    def _solve(self, memory: Memory, component: int, rows: int) -> bool:
        """Solve a condensed component directly; False if that fails."""
        from scipy.sparse import csr_array, eye_array
        from scipy.sparse.linalg import spsolve

        condensed, n = memory.workspace.condensed, self.layer.n
        indptr = condensed.indptr[: rows + 1].astype(np.int32)
        entries = slice(0, int(indptr[-1]))
        column = condensed.column[entries].astype(np.int32)
        inner = csr_array((condensed.coefficient[entries], column, indptr), (rows, rows))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a singular matrix gives NaN
            x = np.atleast_1d(spsolve((eye_array(rows) - inner).tocsc(), condensed.constant[:rows]))
        low, high = n - self._parts.ends[component + 1], n - self._parts.ends[component]
        here = slice(0, high - low)
        spread = condensed.factor[here] * x[condensed.row[here]] + condensed.offset[here]
        memory.values[low:high] = spread[::-1]
        return bool(np.isfinite(x).all())

    def _play(self, memory: Memory, starts: Ints | None = None) -> bool:
        """Fill in what is played and kept; False if endless play is seen to have no worth."""
        if starts is None:
            memory.kept.outcome[:] = memory.chosen.outcome
        else:
            lists = memory.chosen, memory.kept, memory.waiting
            keep_to(starts, self.layer.n, self._block, self._tables, *lists)
        if self._endless is None:
            return True
        memory.played.outcome[:] = memory.chosen.outcome
        memory.played.lottery[:] = memory.chosen.lottery
        staying = self.first_actions + self._block.count - 1
        return bool(
            stay_for_ever(
                self.layer.n,
                self._parts,
                self._block,
                self._tables,
                memory.played,
                memory.kept,
                memory.waiting,
                self._first_outcome[staying],
                self._block.lottery[staying],
                self._endless == "draw",
            )
        )

    def visits(
        self, memory: Memory, starts: Ints, lost: float = VISITS_LOST, rounds: int = MOST_ROUNDS
    ) -> Floats:
        """The approximate number of visits to each position from some starts: (n,) float64.

        Parameters
        ----------
        lost : float
            Share of the visits to a component that may be left out.
        rounds : int
            Largest number of sweeps over one component.
        """
        visits = np.zeros(self.layer.n_places)
        visits[starts] = 1.0
        self._play(memory, starts)
        lists = self._parts, self._block, self._tables, memory.played
        count_visits(self.layer.n, *lists, visits, lost, rounds)
        return visits[: self.layer.n]

    def action_values(self, actions: Ints, memory: Memory) -> Floats:
        """The worth of some actions by the values found: (n,) float64."""
        found = np.empty(len(actions))
        first = self._first_outcome[actions]
        action_worths(actions, first, self._block, self._tables, memory.values, found)
        return found


@kernel
def keep_to(starts, n, block, tables, chosen, kept, waiting):
    """Skip the positions out of reach of play.

    Parameters
    ----------
    starts : (n_starts,) int64
        The places in which play begins.
    n : int
        Positions of the layer.
    chosen : Choice
    kept : Choice
        Filled: a copy of `chosen` with NOT_CHOSEN at skipped positions.
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
        # A start that is given twice waits once.
        n_waiting += kept_outcome[first[starts[k], 0]] == NOT_CHOSEN
        for s in range(first[starts[k], 0], first[starts[k] + 1, 0]):
            kept_outcome[s] = outcome[s]
    # Depth first along the chosen actions. A position is kept when it is found.
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
def stay_for_ever(
    n, parts, block, tables, played, kept, ends, staying, staying_lottery, passing_too
):
    """Let the positions without a way out by the chosen actions stay for ever.

    Within a turn the mover does. Where both players keep the turn passing, this needs a worth that
    doesn't depend on who stays.

    Parameters
    ----------
    played, kept : Choice, changed
        See `Memory`.
    ends : (n,) uint32
        Workspace.
    staying, staying_lottery : (n,) int
        The first outcome and the lottery of the action to stay for ever, by position.
    passing_too : bool
        Whether passing the turn for ever has a worth.

    Returns
    -------
    bool
        False if passing the turn for ever is possible and has no worth.
    """
    for component in range(parts.n_feedback.shape[0]):
        if parts.n_feedback[component] == 0:
            continue
        low, high = n - parts.ends[component + 1], n - parts.ends[component]
        if leads_out(low, high, block, tables, kept, ends, not passing_too):
            continue
        for i in range(index(low), index(high)):
            if not ends[i]:
                s = index(block.first[i, 0])
                played.outcome[s] = kept.outcome[s] = staying[i]
                played.lottery[s] = kept.lottery[s] = staying_lottery[i]
        if not (passing_too or leads_out(low, high, block, tables, kept, ends, False)):
            return False
    return True


@kernel
def evaluate_chosen(
    begin_component,
    n,
    parts,
    block,
    tables,
    played,
    kept,
    ends,
    begin,
    accuracy,
    values,
    slope,
    one_slope,
    condensed,
):
    """The value of each position under the chosen actions.

    Parameters
    ----------
    begin_component : int
        The first component to evaluate. Those before it must be.
    n : int
        Positions of the layer.
    parts : Components
    played, kept : Choice
        See `Memory`.
    ends : (n,) uint32
        Workspace.
    begin : (n_places,) float64
        Initial values of sweeps, in components with many feedback positions.
    accuracy : float
        Of the values found by sweeps.
    values : (n_places,) float64
        Filled, except at skipped positions.
    slope : (n_places,) float64, all 0
        Workspace, restored at the end.
    one_slope, condensed
        See `rollwise.engine.condensed.Workspace`.

    Returns
    -------
    component, rows : int
        The first component without values: the number of components if all have some. The sweeps
        over it are too slow, and its condensed system has so many rows; with 0 rows some play in
        it can't end, or is too unlikely to.
    """
    x, nothing, no_slope = np.empty(MOST_FEEDBACK), np.zeros(1), np.empty(0)
    for component in range(begin_component, parts.n_feedback.shape[0]):
        low, high = n - parts.ends[component + 1], n - parts.ends[component]
        m = np.int64(parts.n_feedback[component])
        if m == 0:
            evaluate(0, low, high, block, tables, kept, nothing, values, no_slope)
        elif m == 1:
            f = index(parts.feedback[low])
            if kept.outcome[block.first[f, 0]] == NOT_CHOSEN:
                evaluate(0, low, high, block, tables, kept, nothing, values, no_slope)
                continue
            # With x the value of f, each position has the value values[i] + slope[i] * x.
            values[f] = 0.0
            slope[f] = 1.0
            evaluate(0, low, high, block, tables, kept, nothing, values, slope)
            # For f itself this is an equation: x = values[f] + slope[f] * x.
            # Up to rounding, no play leaves the component where this is 0.
            own = 1.0 - slope[f]
            step = values[f] / own if abs(own) > ROUNDING * (high - low) else np.inf
            for i in range(index(low), index(high)):
                values[i] += slope[i] * step
                slope[i] = 0.0
            if not np.isfinite(step):
                return component, 0
        elif not leads_out(low, high, block, tables, kept, ends, False):
            return component, 0
        elif m <= MOST_FEEDBACK:
            feedback = parts.feedback[low : low + m]
            # A sweep is an affine map F of the feedback positions: x = F(0) + J x.
            for j in range(m):
                values[feedback[j]] = 0.0
            evaluate(0, low, high, block, tables, kept, nothing, values, no_slope)
            matrix = np.empty((m, m))
            feedback_system(low, high, feedback, block, tables, played, one_slope, matrix)
            for j in range(m):
                x[j] = values[feedback[j]]
                if kept.outcome[block.first[feedback[j], 0]] == NOT_CHOSEN:
                    # A skipped position keeps its 0.
                    matrix[j] = 0.0
                    matrix[j, j] = 1.0
            if not solve_small(matrix, x[:m]):
                return component, 0
            for j in range(m):
                values[feedback[j]] = x[j]
            evaluate(0, low, high, block, tables, kept, nothing, values, no_slope)
        else:
            for i in range(index(low), index(high)):
                values[i] = begin[i]
            rows, n_feedback = condense(
                low, high, block, tables, values, NO_ERRORS, kept, condensed
            )
            if accelerated_sweeps(rows, n_feedback, condensed, 0.0, accuracy, accuracy) < 0:
                return component, rows
            spread(low, high, condensed, values)
    return parts.n_feedback.shape[0], 0


@inner_kernel
def leads_out(low, high, block, tables, kept, ends, by_pass):
    """Whether a way leads out of a component from each position, by the chosen actions.

    Parameters
    ----------
    low, high : int
        The places of the component.
    kept : Choice
        Skipped positions count as left.
    ends : (n,) uint32
        Filled for the component: 1 where a way leads out.
    by_pass : bool
        Whether an outcome that passes the turn leads out.
    """
    first, throws, target = block.first, block.throws, block.target
    lists, indptr, coefficient = tables.lists, tables.indptr, tables.coefficient
    outcome, lottery = kept.outcome, kept.lottery
    left = 0
    for i in range(index(low), index(high)):
        is_kept = outcome[first[i, 0]] != NOT_CHOSEN
        ends[i] = not is_kept
        left += is_kept
    # Each sweep finds at least one more position with a way out, until all are found. Sweeps up and
    # down take turns: a long way out in one direction takes one of them.
    before, goes_up = left + 1, False
    while 0 < left < before:
        before, goes_up = left, not goes_up
        for step in range(high - low):
            i = index(low + step if goes_up else high - 1 - step)
            s = index(first[i, 0])
            n_throws = index(lists[throws[i] + ONE]) - index(lists[throws[i]])
            for _ in range(0 if ends[i] else n_throws):
                number, o = index(lottery[s]), index(outcome[s])
                s += ONE
                for k in range(index(indptr[number]), index(indptr[number + ONE])):
                    to = index(target[o])
                    o += ONE
                    passes = by_pass and coefficient[k] < 0.0
                    if not ends[i] and (passes or to < low or to >= high or ends[to]):
                        ends[i] = True
                        left -= 1
    return left == 0


@kernel
def count_visits(n, parts, block, tables, chosen, visits, enough, most_rounds):
    """The approximate number of visits to each position under the chosen actions.

    Parameters
    ----------
    n : int
        Positions of the layer.
    visits : (n_places,) float64
        Initially the number of plays that begin at each position; filled.
    enough : float
        The share of the visits to a component that may be lost there.
    most_rounds : int
    """
    first, throws, target = block.first, block.throws, block.target
    lists, throw, indptr = tables.lists, tables.throw, tables.indptr
    coefficient, outcome, lottery = tables.coefficient, chosen.outcome, chosen.lottery
    arrived = visits.copy()
    visits[:n] = 0.0
    # In the order of play: components from the last one on, and in each the lowest place first.
    for component in range(parts.n_feedback.shape[0] - 1, -1, -1):
        low, high = n - parts.ends[component + 1], n - parts.ends[component]
        waiting = 0.0
        for i in range(low, high):
            waiting += arrived[i]
        left = enough * waiting
        rounds = 0
        # Visits that go back to a lower place wait for the next round.
        while waiting > left and rounds < most_rounds:
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
    """The worth of some actions at given values.

    Parameters
    ----------
    actions : (n_actions,) int64
        The places of the actions.
    first : (n_actions,) uint32
        The first outcomes of the actions.
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
    """Add up the gains of states by the value of a form in each state.

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
