"""Simulated backward induction, with drawn outcomes in the place of exact probabilities.

The states are taken from the end of the game backwards. Each action with several outcomes, an
*entry*, is drawn `samples` times, and its value is the mean of the next values. A state's value
is the best of its actions. The draws don't depend on values. So this is plain backward induction in
the game of the drawn shares (Azar, Munos and Kappen 2013, Machine Learning 91, call it the
empirical model of a game).

An entry has two errors. Its *own* error is the one of a mean of draws, s / sqrt(samples). Its
*inherited* error comes from the next values, themselves estimates. To first order the error of a
value is

    e(s) = own(s) + sum over outcomes of share * e(next), with the sign changed at a PASS

under the chosen actions. The own errors of different entries are uncorrelated, since their draws
are independent. So the variance of e(s) is the sum of weight² * own² over all entries reachable
from s. One sweep carries the weights of sixteen entries back. Where that would take too long,
random signs stand for the entries, and the mean of e² is an estimate of the variance (Hutchinson
1990).

No standard error includes the *winner's curse*: the best of several estimates is on average better
than the best of the true values (Smith and Winkler 2006, Management Science 52(3)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.graph import StateGraph, sign_of
from rollwise.graph.choices import fold_outcomes, outcome_action
from rollwise.kernels.jit import kernel
from rollwise.kernels.sampling import alias_tables, draw, pick
from rollwise.machine.interrupts import Clock
from rollwise.methods.result import MethodResult, Status
from rollwise.methods.sweeping import arrays_of, look_ahead, sweep_order, with_border
from rollwise.numbers.randomness import seed_of, stream

NAME = "sampled"
SAMPLES = 300_000
MOST_SAMPLES = 10**9  # of one entry: seconds without a check of the clock
AT_ONCE = 16  # entries carried back by one sweep
MOST_WORK = 2_000_000_000  # outcomes in all these sweeps, seconds of work
PROBES = 256  # random signs, for more entries: standard errors are good to 4 %
ROUNDING = 1e-13  # values with a smaller difference count as equal
PIECE = 20_000_000  # draws between two checks of the clock
_32 = np.uint64(32)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def sampled(
    graph: StateGraph,
    *,
    samples: int = SAMPLES,
    seed: int | None = None,
    time_limit: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MethodResult:
    """Estimate values by backward induction on draws.

    Parameters
    ----------
    graph : StateGraph
        Without cycles.
    samples : int
        Draws of each entry, from 2 to 10**9.
    seed : int, optional
        The same seed gives the same answer; a new one unless given.
    time_limit : float, optional
        Seconds for the draws.
    progress : callable, optional
        Called as ``progress(actions drawn, actions)``.

    Returns
    -------
    MethodResult
        Its status is ESTIMATED. `columns` holds the ``standard_error`` of each value,
        and its two parts, ``own_error`` and ``inherited_error``. `claimed_error` is the largest
        standard error, and no bound.

    Raises
    ------
    UsageError
        The graph has a cycle; or `samples` or `seed` is out of range.
    """
    check_samples(samples)
    seed = seed_of(seed)
    _require_order(graph)
    several = np.diff(graph.outcome_indptr) > 1
    details: dict[str, Any] = {"samples": samples, "seed": seed, "entries": int(several.sum())}
    counts = _draw(graph, samples, seed, Clock(time_limit), progress)
    if counts is None:
        return MethodResult.without_values(NAME, graph.n_states, Status.OUT_OF_TIME, details)
    values, chosen = _backward(graph, counts)
    own = _own_errors(graph, counts, samples, values)[chosen]
    whole, how = _standard_errors(graph, counts / samples, chosen, own, seed)
    inherited = np.sqrt(np.maximum(whole**2 - own**2, 0.0))
    return MethodResult(
        NAME,
        values,
        1,
        Status.ESTIMATED,
        claimed_error=float(whole.max()),
        chosen=chosen,
        columns={"standard_error": whole, "own_error": own, "inherited_error": inherited},
        details=details | {"errors_carried": how},
    )


def _require_order(graph: StateGraph) -> None:
    """Raise unless the graph has no cycles."""
    components = graph.components
    sizes = np.diff(components.indptr)
    first = components.order[components.indptr[:-1]]
    around = first[sizes > 1]
    if not len(around):
        owner = graph.action_state[outcome_action(graph)]
        around = owner[owner == graph.outcome_state]
    if len(around):
        raise UsageError(
            f"{graph.title}: {NAME} goes back from the end of the game, and each state needs the "
            f"values that follow it. Here play can come back to a state, such as "
            f"{graph.view[int(around[0])]}, so that there is no such order. The other methods "
            "don't need one; `rollwise learn` estimates by playing"
        )


def _draw(
    graph: StateGraph,
    samples: int,
    seed: int,
    clock: Clock,
    progress: Callable[[int, int], None] | None,
) -> Ints | None:
    """How often each outcome came: (n_outcomes,); None where the time was up before."""
    lotteries = graph.lotteries
    sizes = np.diff(lotteries.indptr)
    index = np.arange(lotteries.indptr[-1]) - np.repeat(lotteries.indptr[:-1], sizes)
    cells = np.empty((len(index), 4), np.int32)
    alias_tables(lotteries.indptr, lotteries.weight, index.astype(np.int32), cells)
    words = stream(seed, 0)
    counts = np.empty(graph.n_outcomes, np.int64)
    step = max(PIECE // samples, 1)
    # pieces of some million draws, between which the clock is checked
    for first in range(0, graph.n_actions, step):
        if clock.is_up:
            return None
        stop = min(first + step, graph.n_actions)
        count_draws(
            first,
            stop,
            graph.action_lottery,
            lotteries.indptr,
            cells,
            graph.outcome_indptr,
            samples,
            words,
            counts,
        )
        if progress is not None:
            progress(stop, graph.n_actions)
    return counts


def _backward(graph: StateGraph, counts: Ints) -> tuple[Floats, Ints]:
    """Values and actions in the game with these counts as weights, in one sweep."""
    values = with_border(graph, 0.0, None)
    chosen = graph.action_indptr[:-1].copy()
    look_ahead(
        sweep_order(graph, "components"),
        *arrays_of(graph)._replace(weight=counts),
        sign_of(graph.objective),
        chosen,
        np.ones(graph.n_states, np.bool_),
        0.0,
        values,
        values,
    )
    return values[: graph.n_states], chosen


def check_samples(samples: int) -> None:
    """Raise for a number of samples out of range."""
    if not 2 <= samples <= MOST_SAMPLES:
        raise UsageError(f"samples is {samples}; it must be from 2 to {MOST_SAMPLES:,}")


def _own_errors(graph: StateGraph, counts: Ints, samples: int, values: Floats) -> Floats:
    """The standard error of the mean of the values after each action: (n_actions,)."""
    state = graph.outcome_state
    ahead = np.where(state < 0, graph.outcome_payoff, values[state])
    ahead = np.where(graph.outcome_passes & (state >= 0), -ahead, ahead)
    # the spread of the next values over the draws, with the unbiased divisor n - 1
    share = counts / samples
    mean = fold_outcomes(graph, np.add, share * ahead)
    off = ahead - np.repeat(mean, np.diff(graph.outcome_indptr))
    errors = np.sqrt(fold_outcomes(graph, np.add, share * off**2) / (samples - 1))
    scale = max(1.0, float(np.max(np.abs(values))))
    return np.where(errors > ROUNDING * scale, errors, 0.0)


def _standard_errors(
    graph: StateGraph, share: Floats, chosen: Ints, own: Floats, seed: int
) -> tuple[Floats, str]:
    """The standard error of each value, inherited errors included, and how it was found."""
    entries = np.flatnonzero(own)
    work = len(entries) * int(np.diff(graph.outcome_indptr)[chosen].sum())
    exactly = work <= MOST_WORK
    cases = _each_entry(graph.n_states, entries) if exactly else _signs(graph.n_states, seed)
    order = sweep_order(graph, "components")
    variance = np.zeros(graph.n_states)
    errors = np.zeros((graph.n_states + graph.n_border, AT_ONCE))
    # 16 columns at a time; squares of all columns add up to the variance, or to its estimate
    for directions in cases:
        carry_back(
            order,
            chosen,
            graph.outcome_indptr,
            graph.outcome_state,
            graph.outcome_passes,
            share,
            own,
            directions,
            errors,
        )
        variance += (errors[: graph.n_states] ** 2).sum(axis=1)
    if exactly:
        return np.sqrt(variance), "entry by entry"
    return np.sqrt(np.maximum(variance / PROBES, own**2)), f"by {PROBES} random signs"


def _each_entry(n_states: int, entries: Ints) -> Iterator[Floats]:
    """Cases with an error of a single entry, several at once."""
    directions = np.zeros((n_states, AT_ONCE))
    for first in range(0, len(entries), AT_ONCE):
        here = entries[first : first + AT_ONCE]
        # column j is the error of one entry alone
        directions[here, np.arange(len(here))] = 1.0
        yield directions
        directions[here] = 0.0


def _signs(n_states: int, seed: int) -> Iterator[Floats]:
    """Cases with an error of every entry, with random signs."""
    bits = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(1,)))
    places = np.arange(AT_ONCE, dtype=np.uint64)
    for _ in range(PROBES // AT_ONCE):
        # bit j of a word is the sign of a state in case j
        words = bits.random_raw(n_states)[:, None] >> places
        yield np.where(words & np.uint64(1), 1.0, -1.0)


@kernel(never_interpreted=True)
def count_draws(
    first, stop, lottery, lottery_indptr, cells, outcome_indptr, samples, words, counts
):
    """Draw every action a number of times, and count each outcome.

    Parameters
    ----------
    first, stop : int
        The actions from `first` to below `stop`.
    lottery : (n_actions,) int32
    lottery_indptr : (n_lotteries + 1,) int64
    cells : (n_lottery_outcomes, 4) int32
        The alias tables of the lotteries; an outcome's code is its index in its lottery.
    outcome_indptr : (n_actions + 1,) int64
    samples : int
    words : (4,) uint64
        State of the random numbers, in place.
    counts : (n_outcomes,) int64, filled for these actions
    """
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    for a in range(first, stop):
        begin, size = outcome_indptr[a], outcome_indptr[a + 1] - outcome_indptr[a]
        if size == 1:  # a certain outcome
            counts[begin] = samples
            continue
        for k in range(begin, begin + size):
            counts[k] = 0
        # the cells of a lottery are its alias table, in which a draw reads one cell
        row = lottery_indptr[lottery[a]]
        for _ in range(samples):
            bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
            counts[begin + pick(cells, row, size, np.int64(bits >> _32))] += 1
    words[0], words[1], words[2], words[3] = s0, s1, s2, s3


@kernel
def carry_back(
    order, chosen, outcome_indptr, outcome_state, outcome_passes, share, own, directions, errors
):
    """Carry errors of single states back to the values of all their predecessors.

    Parameters
    ----------
    order : (n_states,) int64
        Each state comes after its successors.
    chosen : (n_states,) int64
        The action of each state.
    share : (n_outcomes,) float64
        The share of each outcome in the draws.
    own : (n_states,) float64
        The error of each state for right values of its successors.
    directions : (n_states, n) float64
        The factor of each state's own error, in each of n cases.
    errors : (n_states + n_border, n) float64, filled for the states
        The error of each value in each case; 0 on the border.
    """
    n = errors.shape[1]
    # successors come first, so their errors are complete
    for i in range(order.shape[0]):
        s = order[i]
        for j in range(n):
            errors[s, j] = own[s] * directions[s, j]
        a = chosen[s]
        for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
            t = outcome_state[k]
            if t >= 0 and share[k] > 0:
                part = -share[k] if outcome_passes[k] else share[k]
                for j in range(n):
                    errors[s, j] += part * errors[t, j]
