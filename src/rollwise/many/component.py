"""A component of a game of several players with mutually dependent choices: its linear system.

States and actions have local numbers. For a given profile, values are the solution
of one sparse linear system. Its factors also give the derivatives of the values of actions.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, eye_array
from scipy.sparse.linalg import splu

from rollwise.graph import StateGraph
from rollwise.kernels.chances import UNIT
from rollwise.kernels.deviations import Table, look
from rollwise.kernels.jit import ONE, index, kernel

Floats = NDArray[np.float64]
MARGIN = 1e-13  # by which an action must be better to be taken instead, at least


@kernel
def worth_of_actions(states, table, values, worth):
    """The results of each seat for all actions of some states, one state after the other.

    Parameters
    ----------
    states : (n,) int64
    values : (1, n_states, n_seats) float64
    worth : (n_actions, n_seats) float64, filled
        Of the actions of these states.
    """
    place = 0
    for i in range(states.shape[0]):
        s = index(states[i])
        for a in range(table.action_indptr[s], table.action_indptr[s + ONE]):
            look(a, table, values, worth.shape[1], worth[place : place + 1])
            place += 1


@dataclass(eq=False)
class Component:
    """A component with mutually dependent choices, and its present values.

    States and actions have local numbers from 0. All arrays except `values` are as long as the
    component.

    Attributes
    ----------
    states : (n,) int64
        Its states in the graph, ``order[first:stop]`` of the components.
    begins : (n + 1,) int64
        The actions of state i are ``begins[i]:begins[i + 1]``.
    actions, state_of : (n_actions,) int64
        The action in the graph, and its local state.
    worth : (n_actions, players) float64
        Value of each action for each seat; see `look`.
    table : Table
    values : (n_states, players) float64
        Of the whole graph; those of the component are changed.
    until : float, optional
        Deadline, on the clock of `time.monotonic`.
    margin : float
        Least advantage of an action to replace another one. It is larger if play stays for
        many moves, since values are then less certain.
    """

    graph: StateGraph
    first: int
    stop: int
    table: Table
    values: Floats
    until: float | None = None
    margin: float = MARGIN

    @classmethod
    def of(cls, number: int, graph: StateGraph, table: Table, values: Floats) -> Component:
        """A component by its number."""
        first, stop = graph.components.indptr[number : number + 2].tolist()
        return cls(graph, first, stop, table, values)

    @property
    def is_late(self) -> bool:
        return self.until is not None and time.monotonic() >= self.until

    def __post_init__(self) -> None:
        self.states = self.graph.components.order[self.first : self.stop].astype(np.int64)
        self.place = dict(zip(self.states.tolist(), range(len(self.states)), strict=True))
        firsts = self.graph.action_indptr[self.states].astype(np.int64)
        sizes = self.graph.action_indptr[self.states + 1] - firsts
        self.begins = np.concatenate([[0], np.cumsum(sizes)])
        self.state_of = np.repeat(np.arange(len(self.states)), sizes)
        self.actions = np.arange(len(self.state_of)) + (firsts - self.begins[:-1])[self.state_of]
        self.worth = np.zeros((len(self.actions), self.graph.players))

    def rows(self, action: int, weight: float) -> tuple[list[int], list[float], Floats]:
        """Successors of an action within the component, and the known value of the rest.

        Returns
        -------
        columns, chances : list
            ``players`` times the number of a state, plus the number of seats that the die moves on:
            see `system`.
        known : (players,) float64
        """
        table, n = self.table, self.graph.players
        columns, chances, constants = [], [], np.zeros(n)
        here = self.actions[action]
        i, begin, indptr = table.lottery[here], table.outcome_indptr[here], table.indptr
        for j in range(indptr[i], indptr[i + 1]):
            p = weight * table.chance[j]
            if table.over[j]:
                constants += p * table.payoff[j]
                continue
            t, passed = int(table.outcome_state[begin + j - indptr[i]]), int(table.passes[j])
            if t in self.place:
                columns.append(n * self.place[t] + passed)
                chances.append(p)
            else:
                constants += p * np.roll(self.values[t], passed)
        return columns, chances, constants

    def system(self, probability: Floats) -> tuple[Any, Floats]:
        """The linear system of a profile, factorized, and its right side."""
        n = self.graph.players
        rows, columns, entries = [], [], []
        right = np.zeros((len(self.states), n))
        seats = np.arange(n)
        for a in np.flatnonzero(probability).tolist():
            i = int(self.state_of[a])
            targets, chances, constants = self.rows(a, probability[a])
            right[i] += constants
            for code, p in zip(targets, chances, strict=True):
                rows.append(i * n + seats)
                columns.append(code // n * n + (seats - code % n) % n)
                entries.append(np.full(n, -p))
        size = len(self.states) * n
        diagonal = np.arange(size)
        matrix = csc_array(
            (
                np.concatenate([np.ones(size), *entries]),
                (np.concatenate([diagonal, *rows]), np.concatenate([diagonal, *columns])),
            ),
            shape=(size, size),
        )
        try:
            return splu(matrix), right
        except RuntimeError:  # play is so slow that doubles can't tell it from endless play
            return splu(csc_array(matrix + 2.0**-50 * eye_array(size))), right

    def evaluate(self, probability: Floats) -> Any:
        """Find the values of a profile, and the worth of each action; the factorized system."""
        solver, right = self.system(probability)
        self.values[self.states] = solver.solve(right.ravel()).reshape(right.shape)
        moves = float(solver.solve(np.ones(right.size)).max())
        self.margin = max(MARGIN, UNIT * moves)
        self.look()
        return solver

    def look(self) -> None:
        """Find the worth of each action from the values."""
        worth_of_actions(self.states, self.table, self.values[None], self.worth)

    def better(self, probability: Floats) -> list[tuple[int, int, int]]:
        """Where the mover gains by another action: state, the likeliest one and a better one."""
        better, mine = [], self.worth[:, 0]
        for i in range(len(self.states)):
            actions = np.arange(self.begins[i], self.begins[i + 1])
            best = actions[np.argmax(mine[actions])]
            now = actions[np.argmax(probability[actions])]
            got = np.min(mine[actions[probability[actions] > 0]])
            if mine[best] > got + self.margin:
                other = best if best != now else actions[np.argmax(-mine[actions])]
                better.append((i, int(now), int(other)))
        return better


def slopes_of_gaps(
    component: Component, solver: Any, a: NDArray[np.int64], b: NDArray[np.int64]
) -> Floats:
    """Derivatives of gaps with respect to probability moved between two actions of a state.

    Parameters
    ----------
    solver : the result of `Component.evaluate`
    a, b : (n,) int64
        Actions. Gap i is the advantage of ``a[i]`` over ``b[i]`` for the mover.

    Returns
    -------
    (n, n) float64
        The slope of gap i (rows) in the probability moved from ``b[j]`` to ``a[j]`` (columns).
    """
    n = component.graph.players
    right = np.zeros((len(component.states) * n, len(a)))
    for d, (one, other) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        i = int(component.state_of[one])
        right[i * n : (i + 1) * n, d] = component.worth[one] - component.worth[other]
    moved = solver.solve(right)
    slopes = np.zeros((len(a), len(a)))
    for action, sign in ((a, 1.0), (b, -1.0)):
        for d, one in enumerate(action.tolist()):
            targets, chances, _ = component.rows(one, sign)
            for code, p in zip(targets, chances, strict=True):
                slopes[d] += p * moved[code // n * n + (n - code % n) % n]
    return slopes
