"""Mixtures: what players do whose best choices depend on each other's.

Where best choices go round for ever, some players must mix two actions, each so that the others
are indifferent. With p the chance of the first action of each such decision, and F(p) how much
more its mover gets by the first action than by the second, an equilibrium has in each decision
p = 0 and F <= 0, or p = 1 and F >= 0, or F = 0. This nonlinear complementarity problem is solved
by the semismooth Newton method on ``p = clip(p + c F)`` (Facchinei and Pang 2003,
Finite-Dimensional Variational Inequalities and Complementarity Problems, ch. 9), from several
starts. F and its exact derivative need one sparse LU of the component.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from rollwise.graph import StateGraph
from rollwise.kernels.many import worth_of_actions

Floats = NDArray[np.float64]
MARGIN = 1e-13  # by which an action must be better to be taken instead
STARTS, STEPS, ROUNDS = 40, 60, 40
SAME = 1e-9  # chances that differ by no more are the same
MOST_DECISIONS, MOST_UNKNOWNS = 60, 400_000


@dataclass(eq=False)
class Component:
    """A component whose choices depend on each other, and what is known of it.

    States and actions have numbers of their own here, from 0, so that all arrays but `values` are
    as long as the component.

    Attributes
    ----------
    states : (n,) int64
        Its states in the graph, which are ``order[first:stop]`` of the components.
    begins : (n + 1,) int64
        The actions of state i are ``begins[i]:begins[i + 1]``.
    actions, state_of : (n_actions,) int64
        The action in the graph, and its state here.
    worth : (n_actions, players) float64
        What each seat gets by it; see `look`.
    tables : as `rollwise.kernels.many.look_at` takes them
    values : (n_states, players) float64
        Of the whole graph; those of the component are changed.
    until : float, optional
        When to stop looking, as `time.monotonic` tells it.
    """

    graph: StateGraph
    first: int
    stop: int
    tables: Any
    values: Floats
    until: float | None = None

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
        """What an action leads to within the component, and what is known of the rest.

        Returns
        -------
        columns, chances : list
            ``players`` times the number of a state, plus by how many seats the die moves on:
            see `system`.
        known : (players,) float64
        """
        graph, n = self.graph, self.graph.players
        lottery, indptr, chance, over, passes, payoff = self.tables
        columns, chances, known = [], [], np.zeros(n)
        here = self.actions[action]
        i, begin = lottery[here], graph.outcome_indptr[here]
        for j in range(indptr[i], indptr[i + 1]):
            p = weight * chance[j]
            if over[j]:
                known += p * payoff[j]
                continue
            t, passed = int(graph.outcome_state[begin + j - indptr[i]]), int(passes[j])
            if t in self.place:
                columns.append(n * self.place[t] + passed)
                chances.append(p)
            else:
                known += p * np.roll(self.values[t], passed)
        return columns, chances, known

    def system(self, probability: Floats) -> tuple[Any, Floats]:
        """The linear system of a profile, factorized, and its right side."""
        n = self.graph.players
        rows, columns, entries = [], [], []
        right = np.zeros((len(self.states), n))
        seats = np.arange(n)
        for a in np.flatnonzero(probability).tolist():
            i = int(self.state_of[a])
            targets, chances, known = self.rows(a, probability[a])
            right[i] += known
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
        return splu(matrix), right

    def evaluate(self, probability: Floats) -> Any:
        """Find the values of a profile, and the worth of each action; the factorized system."""
        solver, right = self.system(probability)
        self.values[self.states] = solver.solve(right.ravel()).reshape(right.shape)
        self.look()
        return solver

    def look(self) -> None:
        """Find the worth of each action from the values."""
        graph = self.graph
        lists = graph.action_indptr, graph.outcome_indptr, graph.outcome_state
        worth_of_actions(self.states, *lists, self.tables, self.values, self.worth)

    def better(self, probability: Floats) -> list[tuple[int, int, int]]:
        """Where the mover gains by another action: state, the likeliest one and a better one."""
        found, mine = [], self.worth[:, 0]
        for i in range(len(self.states)):
            actions = np.arange(self.begins[i], self.begins[i + 1])
            best = actions[np.argmax(mine[actions])]
            now = actions[np.argmax(probability[actions])]
            got = np.min(mine[actions[probability[actions] > 0]])
            if mine[best] > got + MARGIN:
                other = best if best != now else actions[np.argmax(-mine[actions])]
                found.append((i, int(now), int(other)))
        return found


def settle_component(component: Component, chosen: NDArray[Any]) -> tuple[bool, Floats]:
    """Find an equilibrium in a component in which sweeps don't settle.

    Parameters
    ----------
    chosen : (n_states,) int64
        An action of each state of the graph, with which to begin.

    Returns
    -------
    settled : bool
        Whether nobody gains by another choice (beyond rounding).
    probability : (n_actions,) float64
        Of the actions of the component.
    """
    probability = np.zeros(len(component.actions))
    firsts = component.graph.action_indptr[component.states]
    probability[component.begins[:-1] + chosen[component.states] - firsts] = 1.0
    if len(component.states) * component.graph.players > MOST_UNKNOWNS:
        return False, probability
    return _settled(component, probability), probability


def _settled(component: Component, probability: Floats) -> bool:
    """Make an equilibrium of a profile; whether that was possible."""
    pairs: dict[int, tuple[int, int]] = {}
    component.evaluate(probability)
    for _ in range(ROUNDS):
        better = component.better(probability)
        if not better:
            return True
        for s, now, other in better:
            pairs[s] = now, other
        if (
            component.is_late
            or len(pairs) > MOST_DECISIONS
            or not _balance(component, pairs, probability)
        ):
            return False
    return False


def _balance(component: Component, pairs: dict[int, tuple[int, int]], probability: Floats) -> bool:
    """Make the chances of some pairs of actions an equilibrium among themselves."""
    a, b = np.array(list(pairs.values())).T
    random = np.random.default_rng(0)
    start = probability[a].copy()
    for number in range(STARTS):
        if _newton(component, a, b, start, probability):
            return True
        if component.is_late:
            return False
        start = np.full(len(a), 0.5) if number == 0 else random.random(len(a))
    return False


def _newton(
    component: Component, a: NDArray[Any], b: NDArray[Any], p: Floats, probability: Floats
) -> bool:
    for _ in range(STEPS):
        probability[a], probability[b] = p, 1.0 - p
        solver = component.evaluate(probability)
        gap = component.worth[a, 0] - component.worth[b, 0]
        settled = (np.abs(gap) <= MARGIN / 4) | ((p == 1.0) & (gap > 0)) | ((p == 0.0) & (gap < 0))
        if settled.all():
            return True
        slopes = _slopes(component, solver, a, b)
        scale = 1.0 / max(float(np.abs(slopes).max()), 1e-12)
        moved = p + scale * gap
        low, high = moved <= 0.0, moved >= 1.0
        step = np.where(low, -p, np.where(high, 1.0 - p, 0.0))
        free = np.flatnonzero(~low & ~high)
        if len(free):
            right = -gap[free] - slopes[free] @ step
            step[free] = np.linalg.lstsq(slopes[np.ix_(free, free)], right, rcond=1e-12)[0]
        p = np.clip(p + step, 0.0, 1.0)
    return False


def equilibria_by_support(
    component: Component, probability: Floats, pairs: list[tuple[int, int]]
) -> list[Floats]:
    """Equilibria of a component in which some decisions may differ: every support is tried.

    Parameters
    ----------
    probability : (n_actions,) float64
        A profile of the component. What isn't among the decisions is kept.
    pairs : list of (int, int)
        Of each decision two actions, by their numbers in the component: the one is taken, the
        other is, or they are mixed.

    Returns
    -------
    list of (n_actions,) float64
        One at most of each support, since Newton's method finds one.
    """
    found: list[Floats] = []
    a, b = np.array(pairs).T
    for support in product((1.0, 0.0, 0.5), repeat=len(pairs)):
        tried, start = probability.copy(), np.array(support)
        tried[a], tried[b] = start, 1.0 - start
        mixes = start == 0.5
        if mixes.any():
            settled = _newton(component, a[mixes], b[mixes], start[mixes], tried)
        else:
            component.evaluate(tried)
            settled = True
        new = all(np.abs(tried - other).max() > SAME for other in found)
        if settled and new and not component.better(tried):
            found.append(tried)
    return found


def _slopes(component: Component, solver: Any, a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """How the gap of each decision (rows) changes with the chance of each (columns)."""
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
