"""Upper and lower bounds of a game in which both players can keep the turn passing for ever.

A policy proves a lower bound: the least that it can be held to. A best response to it is a game for
one player, in which end components do no harm. Within one of them the responder goes wherever it
likes, so all its states have one value. They become one state, with one more action: to stay for
ever, for the worth of endless play (de Alfaro 1997; Haddad and Monmege 2018). Then every play
ends, and the responder's values are a fixed point of an ordinary recursion.

Both seats have the same policy. So with U(s) the value of the state s to a responder who is to
move there, and W(s) where the policy is to move, the value v*(s) of the game lies between -W(s) and
U(s). Each move outside an end component brings the responder a step more than it is worth, which
leaves room for roundings: U and W are then supersolutions that `rollwise.proofs.check_endless`
accepts, ties included.

The policy is improved against its best responses (Hoffman and Karp 1966), until U and W meet. Where
it pays to go round for ever, no single action shows it: the policy then stays among states that
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
NEARLY = (1e-6, 1e-9, 1e-12)  # what ties may cost, for payoffs of 1: tried one after the other
ROOMS = (1.0, 4.0, 32.0)  # for roundings, likewise
SMALL = 2.0**-900  # the least that is played for, as far as roundings go


class Enclosure(NamedTuple):
    """Values of a game and bounds of their errors, which a policy proves.

    Attributes
    ----------
    values, bounds : (n_states,) float64
        Their sums and differences are doubles as well. The bounds are infinite where
        nothing was proved.
    residual : float
        See `rollwise.proofs.check.Verdict`.
    rounds : int
        Policies that were tried.
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
        What each move brings the responder besides.

    Parameters
    ----------
    graph : StateGraph
        As `rollwise.graph.endings.settle` gives it, of a game for two players to win.
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
        # where the responder is to move, and where the policy is
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
        grid = 4 * UNIT * self.scale
        return np.concatenate([np.ceil(merged.spread(found) / grid) * grid, self.border])

    def ahead(self, upper: Floats) -> Floats:
        """What each action is worth to the responder, whoever takes it: (2 n_actions,) float64."""
        state, begin = self._both.outcome_state, self._both.outcome_indptr[:-1]
        weight = self._both.outcome_weight.astype(np.float64)
        after = weight * np.where(state < 0, self._both.outcome_payoff, upper[state])
        total = np.add.reduceat(after, begin) / np.add.reduceat(weight, begin)
        return np.asarray(self.step + total)

    def best(self, ahead: Floats) -> Ints:
        """The policy's best action of each state, by what they bring the responder."""
        mine = ahead[self.graph.n_actions :]
        least = np.minimum.reduceat(mine, self.graph.action_indptr[:-1])
        return _first(self.graph, mine == least[self.graph.action_state])

    def stand(self, chosen: Ints, upper: Floats, ahead: Floats, nearly: float) -> Ints:
        """A policy that stays for ever where that seems better, and else is the same.

        The states are those worth more to the responder than endless play, among which the policy
        can stay by actions that are ties, as long as the responder takes such actions.

        Parameters
        ----------
        nearly : float
            What an action may cost that counts as a tie.
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
    """Improve a policy until nothing improves it, and prove what it is worth.

    Parameters
    ----------
    graph, border_values, border_bounds
        See `Responses`.
    values : (n_states,) float64
        Estimates, by which the first policy chooses.
    progress : callable, optional
        Called with two equal numbers, once a round.
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
    """The last of a series of better policies, its best response, and their number."""
    graph, n = responses.graph, responses.graph.n_states
    upper = responses.to(chosen)
    rounds = 1
    while rounds < MOST_ROUNDS:
        if progress is not None:
            progress(n, n)
        ahead = responses.ahead(upper)
        best = responses.best(ahead)
        better = ahead[graph.n_actions + best] < upper[n : 2 * n] - responses.step / 2
        other = np.where(better, best, chosen)
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
    """The first good action of each state: (n_states,) int64; too large where there is none."""
    number = np.where(good, np.arange(graph.n_actions), graph.n_actions)
    return np.asarray(np.minimum.reduceat(number, graph.action_indptr[:-1]))


def _in_one_players_eyes(graph: StateGraph, step: float) -> StateGraph:
    """Two copies of a graph, in the second of which the other player moves.

    Parameters
    ----------
    step : float
        What each action brings the one in whose eyes all values are.
    """
    n, border, state = graph.n_states, graph.n_border, graph.outcome_state.astype(np.int64)
    goes_on, beyond = state >= 0, state >= n
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
