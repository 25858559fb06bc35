"""A component of a game of several players with mutually dependent choices, and its mixtures.

States and actions have local numbers. For a given profile, values are the solution of one sparse
linear system. Its factors also give the derivatives of the values of actions.

If best choices cycle, some players must mix two actions, each so that the others
are indifferent. Let p be the probabilities of the first actions of these decisions, and F(p)
the advantage of the first action over the second for its mover. An equilibrium has in each
decision p = 0 and F <= 0, or p = 1 and F >= 0, or F = 0. This nonlinear complementarity problem is
solved by the semismooth Newton method on ``p = clip(p + c F)`` (Facchinei and Pang 2003,
Finite-Dimensional Variational Inequalities and Complementarity Problems, ch. 9), from several
starts. F and its exact derivative need one sparse LU of the component. If these starts fail,
quantal responses lead to an equilibrium.

A quantal response takes each action with a probability that increases with its value: proportional
to ``exp(worth / temperature)``. Mutual quantal responses are a quantal response
equilibrium (McKelvey and Palfrey 1995, "Quantal response equilibria for normal form games"). At a
high temperature there is one, with nearly equal probabilities of all actions. As the temperature
falls to 0 it approaches an equilibrium of the game. The path is followed by Newton's method, in
smaller steps where it bends (Turocy 2005, "A dynamic homotopy interpretation of the
logistic quantal response equilibrium correspondence").
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, eye_array, kron
from scipy.sparse.linalg import splu

from rollwise.graph import StateGraph
from rollwise.graph.lotteries import pointers, spans
from rollwise.kernels.chances import UNIT
from rollwise.many.table import Table

Floats = NDArray[np.float64]
MARGIN = 1e-13  # by which an action must be better to be taken instead, at least


@dataclass(eq=False)
class Component:
    """A component with mutually dependent choices, and its present values.

    States and actions have local numbers from 0. All arrays except `values` are as long as the
    component.

    Attributes
    ----------
    number : int
        Of the component, in the order of ``graph.components``.
    states : (n,) int64
        Its states in the graph.
    begins : (n + 1,) int64
        The actions of state i are ``begins[i]:begins[i + 1]``.
    actions, state_of : (n_actions,) int64
        The action in the graph, and its local state.
    worth : (n_actions, players) float64
        Value of each action for each seat, from the mover on.
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
    number: int
    table: Table
    values: Floats
    until: float | None = None
    margin: float = MARGIN

    @property
    def is_late(self) -> bool:
        return self.until is not None and time.monotonic() >= self.until

    def __post_init__(self) -> None:
        components, here = self.graph.components, slice(self.number, self.number + 2)
        self.states = components.order[slice(*components.indptr[here])].astype(np.int64)
        firsts = self.graph.action_indptr[self.states].astype(np.int64)
        sizes = self.graph.action_indptr[self.states + 1] - firsts
        self.begins = pointers(sizes)
        self.state_of = np.repeat(np.arange(len(self.states)), sizes)
        self.actions = spans(firsts, sizes)
        self.worth = np.zeros((len(self.actions), self.graph.players))

    @cached_property
    def steps(self) -> tuple[Any, Floats]:
        """Successors of the actions within the component, and the known value of the rest.

        Returns
        -------
        mean : (n_actions * players, n * players) sparse
            The mean of the component's numbers after each action, for each seat. The number of a
            seat in a state has the index ``players * state + seat``.
        known : (n_actions, players) float64
        """
        table, n, seats = self.table, len(self.states), np.arange(self.graph.players)
        first = table.indptr[table.lottery[self.actions]].astype(np.int64)
        sizes = table.indptr[table.lottery[self.actions] + 1] - first
        outcome, lottery = spans(table.outcome_indptr[self.actions], sizes), spans(first, sizes)
        # the seat k places after the mover is so many places after the next mover
        after = (seats - table.passes[lottery].astype(np.int64)[:, None]) % len(seats)
        chance, over = table.chance[lottery], table.over[lottery]
        target = np.where(over, 0, table.outcome_state[outcome])
        # the local number of a target, by binary search in the sorted states
        order = np.argsort(self.states)
        place = order[np.minimum(np.searchsorted(self.states[order], target), n - 1)]
        inside = ~over & (self.states[place] == target)
        rest = np.where(over[:, None], table.payoff[lottery], self.values[target[:, None], after])
        rest[inside] = 0.0
        # targets outside and endings have known values: they are the constant of each action
        known = np.add.reduceat(chance[:, None] * rest, np.cumsum(sizes) - sizes)
        rows = np.repeat(np.arange(len(sizes)), sizes)[inside, None] * len(seats) + seats
        columns = place[inside, None] * len(seats) + after[inside]
        chances = np.repeat(chance[inside], len(seats))
        shape = len(sizes) * len(seats), n * len(seats)
        return csr_array((chances, (rows.ravel(), columns.ravel())), shape=shape), known

    @cached_property
    def _actions_of_states(self) -> Any:
        """The actions of each state, as a sparse matrix, for each seat."""
        every = np.arange(len(self.actions))
        ones = csr_array((np.ones(len(every)), (self.state_of, every)))
        return csr_array(kron(ones, eye_array(self.graph.players)))

    def evaluate(self, probability: Floats) -> Any:
        """Find the values of a profile, and the worth of each action; the factorized system."""
        (mean, known), mixture, n = self.steps, self._actions_of_states, self.graph.players
        mixture.data = probability[mixture.indices // n]
        matrix = csc_array(eye_array(len(self.states) * n) - mixture @ mean)
        try:
            solver = splu(matrix)
        except RuntimeError:  # play is so slow that doubles can't tell it from endless play
            # a small addition to the diagonal makes the system regular
            solver = splu(csc_array(matrix + 2.0**-50 * eye_array(len(self.states) * n)))
        values = solver.solve(mixture @ known.ravel())
        self.values[self.states] = values.reshape(-1, n)
        self.worth[:] = known + (mean @ values).reshape(-1, n)
        # the same system with a cost of 1 a move: the longest expected stay in the component
        moves = float(solver.solve(np.ones(len(values))).max())
        self.margin = max(MARGIN, UNIT * moves)
        return solver

    def better(self, probability: Floats) -> list[tuple[int, int, int]]:
        """Where the mover gains by another action: state, the likeliest one and a better one."""
        better, mine = [], self.worth[:, 0]
        for i in range(len(self.states)):
            actions = np.arange(self.begins[i], self.begins[i + 1])
            best = actions[np.argmax(mine[actions])]
            now = actions[np.argmax(probability[actions])]
            got = np.min(mine[actions[probability[actions] > 0]])
            if mine[best] > got + self.margin:
                # the likeliest action, if it is the best, is paired with the worst one
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
    mean, n, every = component.steps[0], component.graph.players, np.arange(len(a))
    right = np.zeros((len(component.states), n, len(a)))
    # chance moved from b[j] to a[j] changes the right side in the rows of its state only
    right[component.state_of[a], :, every] = component.worth[a] - component.worth[b]
    moved = solver.solve(right.reshape(-1, len(a)))
    return np.asarray((mean[a * n] - mean[b * n]) @ moved)


HOT, COLD = 0.1, 1e-9  # temperatures, in chances to win
QUICK, SLOW = 0.4, 0.999  # factors by which it falls in a step
MOST_STEPS, ENOUGH, FAR = 12, 1e-6, 0.5  # of Newton's method: how many, how close, how far each
MOST_ACTIONS = 1_000  # besides the last one of each state: the slopes are a dense matrix
FEW_STARTS, STARTS, STEPS, ROUNDS = 3, 40, 60, 40
CERTAIN = 1e-4  # a quantal response that is no more likely is not taken at all
SAME = 1e-9  # chances that differ by no more are the same
MOST_DECISIONS, MOST_UNKNOWNS = 60, 400_000


def limit_of_quantal_responses(component: Component) -> Floats | None:
    """The chances of the actions at the end of the path, (n_actions,), or None.

    They are near those of an equilibrium, but no equilibrium: all actions have some chance.
    The values of the component are changed.
    """
    sizes = np.diff(component.begins)
    last = np.repeat(component.begins[1:] - 1, sizes)
    a = np.flatnonzero(np.arange(len(last)) != last)
    # the chances of a state sum to 1, so that of its last action is no unknown
    if not 0 < len(a) <= MOST_ACTIONS:
        return None
    path = _Path(component, a, last[a])
    chances, temperature, factor = 1.0 / sizes[component.state_of[a]], HOT, 0.5
    # each temperature starts at the last solution; the step adapts to Newton's method
    while temperature > COLD:
        if factor > SLOW or component.is_late:
            return None
        chances_after = path.follow(chances, factor * temperature)
        if chances_after is None:
            # the path bends here: a smaller step from the same point
            factor = factor**0.5
            continue
        chances, steps = chances_after
        temperature *= factor
        if steps <= MOST_STEPS // 3:
            factor = max(factor**1.5, QUICK)
    return path.all_chances(chances)


class _Path:
    """The quantal responses of a component, by the chances of all actions but the last ones.

    Parameters
    ----------
    a, b : (n,) int64
        The actions, and the last ones of their states.
    """

    def __init__(self, component: Component, a: NDArray[Any], b: NDArray[Any]) -> None:
        self.component, self.a, self.b = component, a, b
        self.state = component.state_of[a]
        self.together = self.state[:, None] == self.state

    def all_chances(self, chances: Floats) -> Floats:
        """The chances of all actions: (n_actions,)."""
        probability = np.ones(len(self.component.actions))
        probability[self.a] = chances
        np.subtract.at(probability, self.b, chances)
        return np.maximum(probability, 0.0)

    def responses(self, gaps: Floats, temperature: float) -> Floats:
        """The quantal responses, if actions are worth so much more than the last ones."""
        high = np.zeros(len(self.component.states))  # of each state, so that no power overflows
        np.maximum.at(high, self.state, gaps)
        powers = np.exp((gaps - high[self.state]) / temperature)
        total = np.exp(-high / temperature)
        np.add.at(total, self.state, powers)
        answers: Floats = powers / total[self.state]
        return answers

    def follow(self, chances: Floats, temperature: float) -> tuple[Floats, int] | None:
        """The quantal response equilibrium near some probabilities, and its Newton steps."""
        mine = self.component.worth[:, 0]
        for step in range(MOST_STEPS):
            solver = self.component.evaluate(self.all_chances(chances))
            answers = self.responses(mine[self.a] - mine[self.b], temperature)
            off = chances - answers
            # a solution is a fixed point of chances = answers(gaps(chances))
            if np.abs(off).max() < ENOUGH:
                return chances, step
            slopes = slopes_of_gaps(self.component, solver, self.a, self.b)
            # of the answers in the gaps: those of a state depend on each other
            bends = np.diag(answers) - np.where(self.together, np.outer(answers, answers), 0.0)
            matrix = np.eye(len(off)) - bends @ slopes / temperature
            try:
                move = np.linalg.solve(matrix, -off)
            except np.linalg.LinAlgError:
                return None
            longest = np.abs(move).max()
            if not np.isfinite(longest):
                return None
            # the slopes hold nearby only, so a long step is shortened
            chances = np.clip(chances + move * min(1.0, FAR / longest), 0.0, 1.0)
        return None


def settle_component(component: Component, chosen: NDArray[Any]) -> tuple[bool, Floats]:
    """Find an equilibrium in a component where sweeps don't settle.

    Parameters
    ----------
    chosen : (n_states,) int64
        A first action of each state of the graph.

    Returns
    -------
    settled : bool
        Whether no seat gains by another choice (beyond rounding).
    probability : (n_actions,) float64
        Of the actions of the component.
    """
    probability = np.zeros(len(component.actions))
    firsts = component.graph.action_indptr[component.states]
    probability[component.begins[:-1] + chosen[component.states] - firsts] = 1.0
    if len(component.states) * component.graph.players > MOST_UNKNOWNS:
        return False, probability
    # cheap searches first: few starts, quantal responses, many starts
    for search in (_settled, _by_quantal_responses, partial(_settled, starts=STARTS)):
        trial = probability.copy()
        if search(component, trial):
            return True, trial
    component.evaluate(trial)
    return False, trial


def _by_quantal_responses(component: Component, probability: Floats) -> bool:
    """Turn a profile into an equilibrium by quantal responses; whether this succeeded."""
    near = limit_of_quantal_responses(component)
    if near is None:
        return False
    likely = near > CERTAIN
    a, b = [], []
    # unlikely actions are dropped; each of the others is mixed with the likeliest one
    for first, stop in pairwise(component.begins):
        actions = np.arange(first, stop)
        most = first + int(np.argmax(near[first:stop]))
        others = actions[likely[actions] & (actions != most)]
        probability[actions] = 0.0
        probability[most] = 1.0
        a += others.tolist()
        b += [most] * len(others)
    return _is_equilibrium(component, np.array(a, int), np.array(b, int), near[a], probability)


def _settled(component: Component, probability: Floats, starts: int = FEW_STARTS) -> bool:
    """Turn a profile into an equilibrium; whether this succeeded."""
    pairs: dict[int, tuple[int, int]] = {}
    component.evaluate(probability)
    for _ in range(ROUNDS):
        better = component.better(probability)
        if not better:
            return True
        for s, now, other in better:
            # a third action may have become best: the mixture of the first two is dropped
            probability[component.begins[s] : component.begins[s + 1]] = 0.0
            probability[now] = 1.0
            pairs[s] = now, other
        if (
            component.is_late
            or len(pairs) > MOST_DECISIONS
            or not _balance(component, pairs, probability, starts)
        ):
            return False
    return False


def _balance(
    component: Component, pairs: dict[int, tuple[int, int]], probability: Floats, starts: int
) -> bool:
    """Make the chances of some pairs of actions an equilibrium among themselves."""
    a, b = np.array(list(pairs.values())).T
    random = np.random.default_rng(0)
    start = probability[a].copy()
    # the present profile, one half each, and then random starts
    for number in range(starts):
        if _newton(component, a, b, start, probability):
            return True
        if component.is_late:
            return False
        start = np.full(len(a), 0.5) if number == 0 else random.random(len(a))
    return False


def _is_equilibrium(
    component: Component, a: NDArray[Any], b: NDArray[Any], p: Floats, probability: Floats
) -> bool:
    """Solve for the probabilities of some mixtures, from `p`; whether no seat gains by deviating.

    Parameters
    ----------
    a, b : (n,) int64
        Pairs of actions to mix, one pair a state; may be empty.
    probability : (n_actions,) float64
        The profile of all other states. Entries of the pairs are changed.
    """
    if not len(a):
        component.evaluate(probability)
    elif not _newton(component, a, b, p, probability):
        return False
    return not component.better(probability)


def _newton(
    component: Component, a: NDArray[Any], b: NDArray[Any], p: Floats, probability: Floats
) -> bool:
    for _ in range(STEPS):
        probability[b], probability[a] = 1.0, p
        np.subtract.at(probability, b, p)  # of a state there may be several pairs
        solver = component.evaluate(probability)
        gap = component.worth[a, 0] - component.worth[b, 0]
        # a mixture needs a gap of 0; at a chance of 0 or 1 the gap only has to keep it there
        settled = (
            (np.abs(gap) <= component.margin / 4)
            | ((p == 1.0) & (gap > 0))
            | ((p == 0.0) & (gap < 0))
        )
        if settled.all():
            return bool(probability[b].min() >= 0.0)
        slopes = slopes_of_gaps(component, solver, a, b)
        scale = 1.0 / max(float(np.abs(slopes).max()), 1e-12)
        moved = p + scale * gap
        low, high = moved <= 0.0, moved >= 1.0
        # projected Newton: some chances go to 0 or 1 by their gap, the others follow the slopes
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
        A profile of the component. All but the decisions is fixed.
    pairs : list of (int, int)
        Two actions of each decision, by their local numbers: the first is taken, or the
        second, or they are mixed.

    Returns
    -------
    list of (n_actions,) float64
        At most one for each support, since Newton's method finds one.
    """
    equilibria: list[Floats] = []
    a, b = np.array(pairs).T
    # per decision: the first action, the second, or a mixture of both
    for support in product((1.0, 0.0, 0.5), repeat=len(pairs)):
        tried, start = probability.copy(), np.array(support)
        tried[a], tried[b] = start, 1.0 - start
        mixes = start == 0.5
        settled = _is_equilibrium(component, a[mixes], b[mixes], start[mixes], tried)
        if settled and all(np.abs(tried - other).max() > SAME for other in equilibria):
            equilibria.append(tried)
    return equilibria
