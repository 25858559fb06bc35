"""Exact fractions: strategy iteration with rational values.

The weights must be whole, and rewards and payoffs exact doubles. The components are solved from
the last to the first. Within one, every value is an affine function of the values at a feedback
vertex set. These come from a linear system over the rationals, solved by FLINT. The first policy
comes from the solver in doubles. An exact comparison of all actions proves it optimal or improves
it (Howard 1960; Hoffman and Karp 1966), so the result doesn't depend on doubles.

Fractions grow along paths of components. `fraction_size` bounds their length beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from rollwise.errors import MissingExtra, RoundedNumbers, TooLargeForFractions, UsageError
from rollwise.graph import StateGraph, sign_of
from rollwise.kernels.jit import kernel
from rollwise.layers import layer_of_graph
from rollwise.machine.interrupts import Clock
from rollwise.methods.result import MethodResult, Status
from rollwise.methods.strategy_iteration import strategy_iteration
from rollwise.methods.sweeping import greedy_actions
from rollwise.numbers.printed import in_bytes
from rollwise.proofs.endless_play import require_settled

NAME = "exact"
MAX_DIGITS = 150_000  # of a denominator, predicted: the actual size is often a tenth
MAX_BYTES = 4_000_000_000  # of all fractions together, predicted
MAX_CUTS = 1_000  # unknowns of one linear system
MOST_ROUNDS = 100
WHOLE_BITS, BITS = 53, 33  # a rounded, broken double hardly ever ends in 20 zeros


@dataclass(frozen=True)
class FractionSize:
    """How large the fractions of a game can get, at most.

    Attributes
    ----------
    digits : int
        Decimal digits of the longest denominator.
    bytes : float
        Memory of all values.
    unknowns : int
        Of the largest linear system.
    """

    digits: int
    bytes: float
    unknowns: int


def exact(
    graph: StateGraph,
    *,
    max_digits: int = MAX_DIGITS,
    max_bytes: float = MAX_BYTES,
    time_limit: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MethodResult:
    """Find the values of a game as fractions.

    Parameters
    ----------
    graph : StateGraph
        With whole weights and without a border. Rewards and payoffs are whole numbers, or
        halves, quarters and so on, exact in doubles.
    max_digits : int
        It refuses a graph where a fraction may need more decimal digits.
    max_bytes : float
        It refuses a graph where the fractions may need more memory.
    time_limit : float, optional
        Seconds; checked between components.
    progress : callable, optional
        Called as ``progress(states done, states)``.

    Returns
    -------
    MethodResult
        With `fractions`; `values` are these, rounded once. Out of time: unknown values
        are NaN and there are no fractions.

    Raises
    ------
    UsageError
        The game has weights that aren't whole, or a reward or payoff that may be rounded.
    TooLargeForFractions
        With the predicted size.
    MissingExtra
    EndlessPlay
    """
    try:
        from flint import fmpq, fmpz
    except ImportError:
        raise MissingExtra('pip install "rollwise[exact]"') from None
    clock = Clock(time_limit)
    size = _required_size(graph, max_digits, max_bytes)
    solver = _Exact(graph, fmpq, fmpz)
    order = graph.components.order.tolist()
    indptr = graph.components.indptr.tolist()
    status = Status.CONVERGED
    done = 0
    # terminal components first: a component reads values of finished ones only
    for low, high in pairwise(indptr):
        if clock.is_up:
            status = Status.OUT_OF_TIME
            break
        if not solver.solve_component(order[low:high]):
            status = Status.STALLED
            break
        done = high
        if progress is not None:
            progress(done, graph.n_states)
    finished = status is Status.CONVERGED
    fractions = [
        None if value is None else Fraction(int(value.p), int(value.q)) for value in solver.values
    ]
    values = np.array([np.nan if value is None else float(value) for value in fractions])
    longest = max((x.denominator.bit_length() for x in fractions if x is not None), default=1)
    return MethodResult(
        NAME,
        values,
        solver.rounds,
        status,
        claimed_error=2.0**-53 * max(1.0, float(np.max(np.abs(values)))) if finished else None,
        claim_is_bound=True,
        fractions=[value for value in fractions if value is not None] if finished else None,
        details={
            "sweeps": "linear systems over the rationals",
            "longest_denominator_digits": int(longest * math.log10(2)) + 1,
            "digits_foreseen": size.digits,
            "states_solved": done,
        },
    )


def _required_size(graph: StateGraph, max_digits: int, max_bytes: float) -> FractionSize:
    """How large the fractions of a game can get, if they can be found at all."""
    if graph.outcome_weight.dtype.kind != "i":
        raise UsageError(
            f"{graph.title} has weights that aren't whole numbers, so its values aren't fractions "
            "that could be written down; the other methods solve it in doubles"
        )
    _require_unrounded(graph)
    if graph.n_border:
        raise ValueError("exact fractions need a whole graph, not one with a border")
    require_settled(graph, NAME)
    size = fraction_size(graph)
    if size.digits > max_digits or size.bytes > max_bytes or size.unknowns > MAX_CUTS:
        raise TooLargeForFractions(
            f"{graph.title}: exact fractions are hopeless here: denominators of up to "
            f"{size.digits:,} digits, {in_bytes(size.bytes)} for all {graph.n_states:,} values, "
            f"and linear systems of up to {size.unknowns:,} unknowns (the limits are "
            f"{max_digits:,} digits, {in_bytes(max_bytes)} and {MAX_CUTS:,} unknowns)"
        )
    return size


def _require_unrounded(graph: StateGraph) -> None:
    """Raise unless every reward and payoff is exact in doubles."""
    for what, numbers in (("reward", graph.action_reward), ("payoff", graph.outcome_payoff)):
        rounded = [x for x in np.unique(numbers).tolist() if _may_be_rounded(x)]
        if not rounded:
            continue
        if what == "reward":
            # the message shows one action with this number
            place = int(np.flatnonzero(graph.action_reward == rounded[0])[0])
        else:
            outcome = np.flatnonzero(graph.outcome_payoff == rounded[0])[0]
            place = int(np.searchsorted(graph.outcome_indptr, outcome, side="right")) - 1
        action = graph.view.action(place)
        raise RoundedNumbers(
            f"{graph.title}: the {what} {rounded[0]!r} of {action.name} in the state "
            f"{action.state} may be rounded, and fractions would be those of the rounded number; "
            f"count in units in which each {what} is a whole number up to 2**53 (thirds, cents), "
            "or take another method, which solves it in doubles"
        )


def _may_be_rounded(number: float) -> bool:
    """Whether a double may stand for another number: 1/3 and 0.1, but not 0.75."""
    top, bottom = number.as_integer_ratio()
    odd = abs(top) // ((top & -top) or 1)
    return odd.bit_length() > BITS if bottom > 1 else abs(top) > 1 << WHOLE_BITS


def fraction_size(graph: StateGraph) -> FractionSize:
    """Bound the length of the fractions of a game under its optimal policy."""
    layer = layer_of_graph(graph)
    assert layer.parts is not None
    (_, block), values = layer.blocks[0], strategy_iteration(graph).values
    along = (greedy_actions(graph, values) - graph.action_indptr[:-1])[layer.order]
    chosen = block.first[:-1, 1] + along
    total = np.add.reduceat(graph.lotteries.weight, graph.lotteries.indptr[:-1])
    bits = np.empty(graph.n_states)
    most, cuts = fraction_bits(
        layer.parts.ends,
        layer.tables.indptr,
        np.log2(total.astype(np.float64)),
        block.lottery[chosen],
        layer.first_outcomes()[chosen],
        block.target,
        bits,
    )
    given = {*graph.lotteries.payoff.tolist(), *graph.lotteries.reward.tolist()}
    own = max(x.as_integer_ratio()[1].bit_length() - 1 for x in given)  # a power of two
    size = float(np.sum((bits + own) / 4 + 64))
    return FractionSize(math.ceil((most + own) * math.log10(2)) + 1, size, cuts)


def action_fractions(
    graph: StateGraph, fractions: Sequence[Fraction], state: int
) -> list[Fraction]:
    """The value of each action of a state, as a fraction."""
    worth = []
    for action in graph.view[state].actions:
        ahead = Fraction(0)
        for outcome, chance in zip(action.outcomes, action.exact_chances, strict=True):
            ahead += chance * Fraction(outcome.worth(fractions))
        worth.append(Fraction(action.reward) + ahead)
    return worth


class _Exact:
    """The values found so far, and the graph as lists of whole numbers."""

    def __init__(self, graph: StateGraph, fmpq: Any, fmpz: Any) -> None:
        self.fmpq = fmpq
        self.fmpz = fmpz
        self.sign = int(sign_of(graph.objective))
        self.action_indptr = graph.action_indptr.tolist()
        self.outcome_indptr = graph.outcome_indptr.tolist()
        self.state = graph.outcome_state.tolist()
        self.weight = np.where(
            graph.outcome_passes & (graph.outcome_state >= 0),
            -graph.outcome_weight,
            graph.outcome_weight,
        ).tolist()
        self.total = np.add.reduceat(graph.outcome_weight, graph.outcome_indptr[:-1]).tolist()
        self.payoff = [fmpq(*x.as_integer_ratio()) for x in graph.outcome_payoff.tolist()]
        self.reward = [fmpq(*x.as_integer_ratio()) for x in graph.action_reward.tolist()]
        self.chosen = greedy_actions(graph, strategy_iteration(graph).values).tolist()
        self.values: list[Any] = [None] * graph.n_states
        self.rounds = 0

    def solve_component(self, states: list[int]) -> bool:
        """Find the values of a component; False if no policy came to rest."""
        for _ in range(MOST_ROUNDS):
            self._evaluate(states)
            if not self._improve(states):
                return True
        return False

    def _improve(self, states: list[int]) -> bool:
        """Take better actions where there are any, by exact comparison."""
        improved = False
        for s in states:
            best, sign = self.sign * self.values[s], self.sign
            for a in range(self.action_indptr[s], self.action_indptr[s + 1]):
                if a != self.chosen[s] and sign * self._worth(a) > best:
                    best, self.chosen[s], improved = sign * self._worth(a), a, True
        return improved

    def _worth(self, a: int) -> Any:
        total = self.fmpq(0)
        for k in range(self.outcome_indptr[a], self.outcome_indptr[a + 1]):
            t = self.state[k]
            total += self.weight[k] * (self.payoff[k] if t < 0 else self.values[t])
        return self.reward[a] + total / self.total[a]

    def _evaluate(self, states: list[int]) -> None:
        """Values under the chosen actions: affine in the cut states, then a linear system."""
        # a component without a cycle takes one look ahead
        if len(states) == 1 and states[0] not in self._followers(states[0]):
            self.values[states[0]] = self._worth(self.chosen[states[0]])
            return
        self.rounds += 1
        row = {s: i for i, s in enumerate(states)}
        cut: dict[int, int] = {}
        # cut states are read before the sweep reaches them: they are a feedback vertex set
        for s in states:
            for t in self._followers(s):
                if row.get(t, -1) >= row[s]:
                    cut.setdefault(t, len(cut))
        constant: dict[int, Any] = {}
        slopes: dict[int, dict[int, Any]] = {}
        # one sweep writes each value as constant + sum of slope * value of a cut state
        for s in states:
            a = self.chosen[s]
            known = self.fmpq(0)
            slope: dict[int, Any] = {}
            for k in range(self.outcome_indptr[a], self.outcome_indptr[a + 1]):
                t, w = self.state[k], self.weight[k]
                if t < 0:
                    known += w * self.payoff[k]
                elif t not in row:
                    known += w * self.values[t]
                elif row[t] >= row[s]:
                    slope[cut[t]] = slope.get(cut[t], 0) + self.fmpq(w)
                else:
                    # successors earlier in the sweep have their affine form already
                    known += w * constant[t]
                    for j, x in slopes[t].items():
                        slope[j] = slope.get(j, 0) + w * x
            constant[s] = self.reward[a] + known / self.total[a]
            slopes[s] = {j: x / self.total[a] for j, x in slope.items()}
        # the forms of the cut states are a linear system in their values
        solution = self._solve(cut, constant, slopes)
        for s in states:
            self.values[s] = constant[s] + sum(
                (x * solution[j] for j, x in slopes[s].items()), self.fmpq(0)
            )

    def _followers(self, s: int) -> list[int]:
        a = self.chosen[s]
        return [
            t for t in self.state[self.outcome_indptr[a] : self.outcome_indptr[a + 1]] if t >= 0
        ]

    def _solve(
        self, cut: dict[int, int], constant: dict[int, Any], slopes: dict[int, dict[int, Any]]
    ) -> list[Any]:
        from flint import fmpq_mat

        m = len(cut)
        if m == 0:
            return []
        matrix = fmpq_mat(m, m)
        right = fmpq_mat(m, 1)
        # (I - slopes) x = constants, in the values x of the cut states
        for s, i in cut.items():
            right[i, 0] = constant[s]
            for j, x in slopes[s].items():
                matrix[i, j] = -x
            matrix[i, i] += 1
        solution = matrix.solve(right)
        return [solution[i, 0] for i in range(m)]


@kernel
def fraction_bits(ends, indptr, lottery_bits, lottery, outcome, target, bits):
    """Bound the bits of the denominator of each value under one action a position.

    A value is a sum of others over the total weight of its action, so along a path
    denominators multiply by the totals. The linear system of the c positions in the feedback
    vertex set of a component has coefficients with denominators of L bits, and a determinant of
    about c L bits. The determinant multiplies the denominators of the component and of all its
    predecessors.

    Parameters
    ----------
    ends : (n_components + 1,) int64
        See `rollwise.layers.layer.Components`.
    indptr : (n_lotteries + 1,) uint32
    lottery_bits : (n_lotteries,) float64
        Bits of the total weight of each lottery.
    lottery, outcome : (n,) integers
        The lottery of each position's action, and its first outcome.
    target : (n_outcomes,) uint32
        Of a layer in solving order.
    bits : (n,) float64, filled
        By place.

    Returns
    -------
    most : float
        The largest of them.
    n_feedback : int
        The size of the largest feedback vertex set of a component.
    """
    n = bits.shape[0]
    path = np.zeros(n)
    inside = np.zeros(n)
    is_feedback = np.zeros(n, np.bool_)
    systems = 0.0
    most = 0.0
    most_feedback = 0
    # terminal components first: they have the last places
    for c in range(ends.shape[0] - 1):
        low, high = n - ends[c + 1], n - ends[c]
        longest = 0.0
        n_feedback = 0
        for i in range(high - 1, low - 1, -1):
            number, first = np.int64(lottery[i]), np.int64(outcome[i])
            before = 0.0
            here = 0.0
            for k in range(np.int64(indptr[number + 1]) - np.int64(indptr[number])):
                t = np.int64(target[first + k])
                # an ending
                if t >= n:
                    continue
                # from `high` on components are finished; places up to i are read before they are
                # written
                if t >= high:
                    before = max(before, path[t])
                elif t > i:
                    before = max(before, path[t])
                    here = max(here, inside[t])
                elif not is_feedback[t]:
                    is_feedback[t] = True
                    n_feedback += 1
            path[i] = before + lottery_bits[number]
            inside[i] = here + lottery_bits[number]
            longest = max(longest, inside[i])
        # the determinant divides the denominators of this component, and of all that lead to it
        systems += n_feedback * longest
        for i in range(low, high):
            bits[i] = systems + path[i]
            most = max(most, bits[i])
        most_feedback = max(most_feedback, n_feedback)
    return most, most_feedback
