"""Upper and lower bounds of a game in which two players can prolong play forever.

A policy proves a lower bound: its value against a best response. The best response is a game for
one player. Inside an end component of that game the responder can reach every state, so all its
states have one value. They become one state with one more action: to stay forever, for the worth of
endless play (de Alfaro 1997; Haddad and Monmege 2018). Then every play ends, and the responder's
values are a fixed point of an ordinary recursion.

Both seats follow the same policy. Let U(s) be the value of the state s to the responder if the
responder moves there, and W(s) if the policy moves there. The value v*(s) of the game then lies
between -W(s) and U(s). Each move outside an end component brings the responder a step more than its
worth, which leaves room for rounding. U and W are then supersolutions that
`rollwise.proofs.check_endless` accepts, ties included.

The policy is improved against its best responses (Hoffman and Karp 1966), until U and W meet. If
staying forever pays, no single action shows it: the policy then stays among states that
are worth less to it than endless play (`Responses.stand`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.engine.bounds import values_of
from rollwise.graph import StateGraph
from rollwise.graph.endings import end_components, merge
from rollwise.kernels.chances import UNIT
from rollwise.layers import layer_of_graph
from rollwise.proofs.check_endless import check_settled

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MOST_ROUNDS = 1_000
WORTH = {"draw": 0.0, "lose": 1.0}  # of endless play, to a responder who could gain by it
NEARLY = (1e-6, 1e-9, 1e-12)  # largest loss of a tie, for payoffs of 1; tried in order
ROOMS = (1.0, 4.0, 32.0)  # for rounding; tried in order
SMALL = 2.0**-900  # the least stakes of a game when rounding is bounded


class Enclosure(NamedTuple):
    """Values of a game and error bounds, both proved by a policy.

    Attributes
    ----------
    values, bounds : (n_states,) float64
        Their sums and differences are doubles too. The bounds are infinite without a proof.
    residual : float
        See `rollwise.proofs.check.Verdict`.
    rounds : int
        Number of policies tried.
    """

    values: Floats
    bounds: Floats
    residual: float
    rounds: int


class Responses:
    """Best responses to policies of one game.

    Attributes
    ----------
    worth : float
        Of endless play, to the responder.
    step : float
        The additional gain of the responder for each move.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.graph.endings.settle`, for a game that two players can win.
    border_values, border_bounds : (n_border,) float64, optional
    room : float
        The step, in multiples of the error of a look ahead.
    """

    def __init__(
        self,
        graph: StateGraph,
        border_values: Floats | None,
        border_bounds: Floats | None,
        room: float,
    ) -> None:
        empty = np.zeros(graph.n_border)
        value = empty if border_values is None else border_values
        bound = empty if border_bounds is None else border_bounds
        self.graph, self.worth = graph, WORTH[graph.endless]
        # first the states in which the responder moves, then the states in which the policy moves
        self.border = np.nextafter(np.concatenate([value + bound, bound - value]), np.inf)
        most = max(
            np.abs(graph.outcome_payoff).max(),
            np.abs(self.border).max(initial=0.0),
            self.worth,
            SMALL,
        )
        self.scale = float(2.0 ** np.ceil(np.log2(most)))
        longest = int(np.diff(graph.lotteries.indptr).max())
        self.step = room * UNIT * self.scale * (2 * longest + 24)
        self._both = _in_one_players_eyes(graph, self.step)

    def to(self, chosen: Ints) -> Floats:
        """The values of a best response, rounded up: (2 n_states + 2 n_border,) float64."""
        both, n_actions = self._both, self.graph.n_actions
        usable = np.arange(2 * n_actions) < n_actions
        usable[n_actions + chosen] = True
        merged = merge(both, end_components(both, usable), self.worth, usable)
        layer = layer_of_graph(merged.graph)
        found = layer.in_reading_order(values_of(layer, self.border))
        # Sums and differences of numbers on this grid are doubles.
        grid = 4 * UNIT * self.scale
        return np.concatenate([np.ceil(merged.spread(found) / grid) * grid, self.border])

    def ahead(self, upper: Floats) -> Floats:
        """The worth of each action to the responder, for either mover: (2 n_actions,) float64."""
        state, begin = self._both.outcome_state, self._both.outcome_indptr[:-1]
        weight = self._both.outcome_weight.astype(np.float64)
        after = weight * np.where(state < 0, self._both.outcome_payoff, upper[state])
        total = np.add.reduceat(after, begin) / np.add.reduceat(weight, begin)
        return np.asarray(self.step + total)

    def best(self, ahead: Floats) -> Ints:
        """The best action of each state against the responder."""
        mine = ahead[self.graph.n_actions :]
        least = np.minimum.reduceat(mine, self.graph.action_indptr[:-1])
        return _first(self.graph, mine == least[self.graph.action_state])

    def stand(self, chosen: Ints, upper: Floats, ahead: Floats, nearly: float) -> Ints:
        """A policy that stays forever where that seems better, and otherwise agrees with `chosen`.

        It stays among states worth more to the responder than endless play. Where the policy moves,
        a tie stays there; where the responder moves, all ties do.

        Parameters
        ----------
        nearly : float
            The largest loss of an action counted as a tie.
        """
        both, n, n_actions = self._both, self.graph.n_states, self.graph.n_actions
        here, begin = upper[both.action_state], both.action_indptr[:-1]
        tied = np.append(
            ahead[:n_actions] >= here[:n_actions] - nearly,
            ahead[n_actions:] <= here[n_actions:] + nearly,
        )
        inside = np.append(upper > self.worth + 4 * self.step, False)  # last, the end of the game
        inside[2 * n : -1] = False
        stays = tied
        # States are taken out until the others can stay among themselves.
        while True:
            before = np.count_nonzero(inside)
            stays = tied & np.logical_and.reduceat(
                inside[both.outcome_state], both.outcome_indptr[:-1]
            )
            inside[:n] &= np.logical_and.reduceat(stays | ~tied, begin)[:n]
            inside[n : 2 * n] &= np.logical_or.reduceat(stays, begin)[n:]
            if np.count_nonzero(inside) == before:
                return np.where(inside[n : 2 * n], _first(self.graph, stays[n_actions:]), chosen)


def enclose(
    graph: StateGraph,
    values: Floats,
    border_values: Floats | None = None,
    border_bounds: Floats | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Enclosure:
    """Improve a policy as long as possible, and prove its value.

    Parameters
    ----------
    graph, border_values, border_bounds
        See `Responses`.
    values : (n_states,) float64
        Estimates for choosing the first policy.
    progress : callable, optional
        Called with two equal numbers in each round.
    """
    border, rounds, n = (border_values, border_bounds), 0, graph.n_states
    for room in ROOMS:
        responses = Responses(graph, *border, room)
        if not rounds:
            chosen = responses.best(
                responses.ahead(np.concatenate([values, -values, responses.border]))
            )
        chosen, upper, tried = _improve(responses, chosen, progress)
        rounds += tried
        ours, theirs = upper[:n], upper[n : 2 * n]
        values, bounds = (ours - theirs) / 2, np.maximum((ours + theirs) / 2, 0.0)
        verdict = check_settled(graph, values, bounds, *border)
        if verdict.holds:
            break
    else:
        bounds = np.full(n, np.inf)
    return Enclosure(values, bounds, verdict.residual, rounds)


def _improve(
    responses: Responses, chosen: Ints, progress: Callable[[int, int], None] | None
) -> tuple[Ints, Floats, int]:
    """The last of a series of better policies, its best response, and the number of policies."""
    graph, n = responses.graph, responses.graph.n_states
    upper = responses.to(chosen)
    rounds = 1
    while rounds < MOST_ROUNDS:
        if progress is not None:
            progress(n, n)
        ahead = responses.ahead(upper)
        best = responses.best(ahead)
        # A change by less than half a step may be rounding.
        better = ahead[graph.n_actions + best] < upper[n : 2 * n] - responses.step / 2
        other = np.where(better, best, chosen)
        # The improved policy comes first, then those that also stay. The first one that lowers the
        # sum of the responder's values is taken.
        for attempt in (
            other,
            *(responses.stand(other, upper, ahead, nearly * responses.scale) for nearly in NEARLY),
        ):
            if not np.array_equal(attempt, chosen):
                found = responses.to(attempt)
                if np.sum(found - upper) < 0:
                    chosen, upper, rounds = attempt, found, rounds + 1
                    break
        else:
            break
    return chosen, upper, rounds


def _first(graph: StateGraph, good: Mask) -> Ints:
    """The first good action of each state: (n_states,) int64; too large if there is none."""
    number = np.where(good, np.arange(graph.n_actions), graph.n_actions)
    return np.asarray(np.minimum.reduceat(number, graph.action_indptr[:-1]))


def _in_one_players_eyes(graph: StateGraph, step: float) -> StateGraph:
    """Two copies of a graph: in the first the responder moves, in the second the policy.

    Parameters
    ----------
    step : float
        The additional gain of the responder for each action. All values are the responder's.
    """
    n, border, state = graph.n_states, graph.n_border, graph.outcome_state.astype(np.int64)
    goes_on, beyond = state >= 0, state >= n
    # The places: n states where the responder moves, n where the policy moves, then the border for
    # one and for the other. `to_other` leads from the first of each to the second.
    first = np.where(beyond, state + n, state)
    to_other = np.where(beyond, border, n)
    passes = graph.outcome_passes & goes_on
    here = np.where(passes, first + to_other, first)
    there = np.where(passes | ~goes_on, first, first + to_other)

    def twice(array: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([array, array])

    return graph.with_arrays(
        states=twice(graph.rows),
        field_names=graph.columns,
        throws=None,
        action_indptr=np.append(graph.action_indptr, graph.action_indptr[1:] + graph.n_actions),
        action_label=twice(graph.action_label),
        action_reward=np.full(2 * graph.n_actions, step),
        outcome_indptr=np.append(graph.outcome_indptr, graph.outcome_indptr[1:] + graph.n_outcomes),
        outcome_state=np.concatenate([here, there]).astype(graph.outcome_state.dtype),
        outcome_weight=twice(graph.outcome_weight),
        outcome_passes=np.zeros(2 * graph.n_outcomes, np.bool_),
        outcome_payoff=np.concatenate([graph.outcome_payoff, -graph.outcome_payoff]),
        n_roots=0,
        n_border=2 * border,
    )
