"""The check: whether values are as near to the true ones as their bounds say. All that is trusted.

It reads a graph, values v and bounds b, whoever found them, and proves ``|v - v*| <= b`` in every
state. Whatever solves a game, or finds bounds, may be wrong: then the check says no. Besides this
file only its loops have to be trusted, `rollwise.kernels.check` and `rollwise.kernels.chances`
(and what they stand on: Python, NumPy, Numba and the processor). Two facts make the proof.

1. *Every play ends, whatever the players do.* Each state has a rank, and each of its actions may
   end the game, or may lead to a state of a lower rank. So from everywhere play ends within as
   many moves as there are ranks, with a probability that is above zero, whoever plays how; play
   that went on for ever would have missed that chance infinitely often.
2. *v + b is a supersolution, and v - b a subsolution.* No action is worth more than v + b, if all
   that follows is better by its own bound; and some action is worth at least v - b, if all that
   follows is worse by its own. So a player who takes that action in each state has at least v - b
   on average when play ends, since what he can count on never falls; and against such a player
   nobody has more than v + b, since no move raises it.

The first to prove values so was Shapley (1953, Stochastic games, PNAS 39), with a chance to end
at each move; Condon (1992, The complexity of stochastic games, Information and Computation 96)
did it for games that end with probability one, and Bertsekas and Tsitsiklis (1991, An analysis
of stochastic shortest path problems, Mathematics of Operations Research 16) for one player and
costs. The loops count every rounding, and give it away on the safe side. What remains assumed:

- Doubles are rounded to nearest, as IEEE 754 says, and small ones aren't flushed to zero (which
  is tried at each check; no kernel is compiled with ``fastmath``).
- Weights are positive and finite; rewards, payoffs and values are finite; within an action no
  weight is so small beside another that it loses digits. Of what breaks this nothing is proved.
- Whole weights may add up to less than 2^62, and others to any double. An action has fewer than
  2^40 outcomes, so that n roundings are less than 1.000000000001 n units.
- On the border values are as near as their bounds say, and play that leads there doesn't return.
- The graph is the game: that is the builders' business (`rollwise check` compares two of them).

Games whose rules allow endless play have more to prove: see `rollwise.proofs.check_endless`.
`rollwise.proofs.check_rules` is a proof on the rule sheet itself, where nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.kernels import check as kernels
from rollwise.kernels.chances import chances_of

Floats = NDArray[np.float64]
Apply = Callable[[Callable[..., Any], Iterable[Any]], Iterable[Any]]
PIECES, LEAST = 8, 1 << 14  # of the work, and states in one of them


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a check found.

    Attributes
    ----------
    unproved : (n,) int64
        The states that don't prove their bound from the bounds of what follows.
    endless : (n,) int64
        The states from which it isn't shown that play ends.
    residual : float
        The largest distance of a value from what one look ahead makes of it.
    """

    unproved: NDArray[np.int64]
    endless: NDArray[np.int64]
    residual: float

    @property
    def holds(self) -> bool:
        """Whether all bounds are proved."""
        return not len(self.unproved) and not len(self.endless)


def check(
    graph: StateGraph,
    values: Floats,
    bounds: Floats,
    border_values: Floats | None = None,
    border_bounds: Floats | None = None,
    *,
    ranks: NDArray[np.int32] | None = None,
    apply: Apply = map,
) -> Verdict:
    """Check the bounds of all values of a graph.

    Parameters
    ----------
    values, bounds : (n_states,) float64
    border_values, border_bounds : (n_border,) float64, optional
        0 unless given.
    ranks : (n_states + n_border,) int32, optional
        Numbers that may prove that every play ends; found unless given.
    apply : callable
        Applies a function to pieces of the work, as `map` does: one after the other, or not.

    Raises
    ------
    UsageError
        An array isn't as long as it has to be.
    """
    known, sure = with_border(graph, values, bounds, border_values, border_bounds)
    n, sign = graph.n_states, -1.0 if graph.objective == "minimize" else 1.0
    arrays = graph.action_indptr, graph.action_lottery, graph.outcome_indptr, graph.outcome_state
    if ranks is None:
        ranks = ranks_of(graph, np.arange(n)[::-1])
    if len(ranks) != len(known):
        raise UsageError(f"{graph.title}: there are {len(ranks):,} ranks, not {len(known):,}")
    chances = chances_of(graph.lotteries)
    bounded, descends = np.zeros(n, np.bool_), np.zeros(n, np.bool_)

    step = max(-(-n // PIECES), LEAST)

    def check_from(low: int) -> float:
        lists = chances, known, sure, ranks, sign, bounded, descends
        return float(kernels.check_states(low, min(low + step, n), *arrays, *lists))

    residuals = np.array(list(apply(check_from, range(0, n, step))))
    return Verdict(
        np.flatnonzero(~bounded), np.flatnonzero(~descends), float(residuals.max(initial=0))
    )


def ranks_of(graph: StateGraph, order: NDArray[Any]) -> NDArray[np.int32]:
    """Ranks of the states from which every play ends, and of the border; see `check`.

    Parameters
    ----------
    order : (n_states,) int
        In which order to look at the states first.
    """
    ranks = np.empty(graph.n_states + graph.n_border, np.int32)
    lists = graph.action_indptr, graph.outcome_indptr, graph.outcome_state
    kernels.find_ranks(order, *lists, ranks)
    return ranks


def with_border(
    graph: StateGraph,
    values: Floats,
    bounds: Floats,
    border_values: Floats | None,
    border_bounds: Floats | None,
) -> tuple[Floats, Floats]:
    """Values and bounds of the states and, behind them, of the border."""
    whole = []
    for known, border in (values, border_values), (bounds, border_bounds):
        border = np.zeros(graph.n_border) if border is None else border
        if len(known) != graph.n_states or len(border) != graph.n_border:
            raise UsageError(
                f"{graph.title} has {graph.n_states:,} states and {graph.n_border:,} on its "
                f"border, and not {len(known):,} and {len(border):,}"
            )
        whole.append(np.concatenate([known, border]) if len(border) else known)
    if not np.all(whole[1][graph.n_states :] >= 0) or graph.outcome_state.max() >= len(whole[0]):
        raise UsageError(f"{graph.title}: a bound on the border or an outcome can't be such")
    return whole[0], whole[1]
