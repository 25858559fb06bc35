"""Betting on a contest: fair odds and stakes, doubles, and the edge over an opponent.

Fair odds follow from each player's share of the prize at a moment (`fair_stakes`).

A double is for two players with a stake of one unit each. At any moment of his turn, a
player with access to the cube may offer to double the stakes. The other one
declines, and loses his stake, or plays on for twice as much and alone has
access from then on (as in backgammon; Keeler and Spencer 1975, "Optimal doubling
in backgammon", Operations Research 23). In the middle the cube is open to both.

In a contest each player has one turn, so a cube changes hands at most twice. The
first player's turn is an optimal stopping problem on his scored graph: at every
state he may stop for min(1, 2 E), E being his equity with the cube gone over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.contest import Contest, ContestSolution, Situation, solve_contest
from rollwise.answer.certified import solve_and_certify
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import fold_actions, fold_outcomes, last_actions
from rollwise.graph.policies import Policy

Reals = NDArray[np.float64]


class Stake(NamedTuple):
    """Fair odds and a fair stake for a player at a moment.

    Attributes
    ----------
    player : int
        From 1.
    probability : float
        His share of the prize.
    odds_against : float
        Fair payment for each unit bet on him; infinite where he can't win.
    stake : float
        His fair part of a pot.
    """

    player: int
    probability: float
    odds_against: float
    stake: float


def fair_stakes(shares: Reals, pot: float = 1.0) -> list[Stake]:
    """Fair odds and stakes from the shares of `ContestSolution.moment`."""
    return [
        Stake(
            player + 1,
            float(share),
            float((1 - share) / share) if share > 0 else float("inf"),
            float(share * pot),
        )
        for player, share in enumerate(shares)
    ]


@dataclass(frozen=True, eq=False)
class CubeTurn:
    """A turn of a player with the right to double.

    Attributes
    ----------
    without : (n_states,) float64
        Equity per unit of stake without access to the cube, as after an accepted double.
    access : (n_states,) float64
        Equity with the right to offer.
    waits : (n_states,) float64
        Equity with the right to offer, without an offer now.
    error_bound : float
        Of all three.
    """

    without: Reals
    access: Reals
    waits: Reals
    error_bound: float


class DoubleAdvice(NamedTuple):
    """Advice about the cube at a moment, in units of the stake before the offer.

    Attributes
    ----------
    no_offer, accepted, declined : float
        The mover's equity without an offer now, after acceptance, and after refusal
        (1: he wins the stake).
    offer, accept : bool
        Whether an offer now, and its acceptance, are best.
    value : float
        The mover's equity with best play of both.
    error_bound : float
    """

    no_offer: float
    accepted: float
    declined: float
    offer: bool
    accept: bool
    value: float
    error_bound: float


@dataclass(frozen=True, eq=False)
class DoublingSolution:
    """A contest of two with a doubling cube, solved.

    Attributes
    ----------
    plain : ContestSolution
        The contest without a cube.
    turns : dict
        For each `Situation` the turn with a cube.
    """

    plain: ContestSolution
    turns: dict[Situation, CubeTurn]

    @property
    def value(self) -> float:
        """The first player's equity per unit staked, the cube in the middle."""
        return float(self.turns[self.plain.opening].access[0])

    @property
    def error_bound(self) -> float:
        """Error bound of all equities."""
        return max(turn.error_bound for turn in self.turns.values())

    def advise(
        self, finished: tuple[int, ...] = (), state: tuple[int, ...] | None = None
    ) -> DoubleAdvice:
        """Whether to offer, and whether to accept, at a moment.

        Parameters
        ----------
        finished, state : as in `ContestSolution.moment`
        """
        turn = self.turns[self.plain.situation(finished)]
        s = 0 if state is None else self.plain.scored.graph.find(state)
        accepted, waits = 2 * float(turn.without[s]), float(turn.waits[s])
        margin = 4 * turn.error_bound
        return DoubleAdvice(
            waits,
            accepted,
            1.0,
            min(1.0, accepted) > waits + margin,
            accepted <= 1.0 + margin,
            float(turn.access[s]),
            2 * turn.error_bound,
        )


def solve_doubling(contest: Contest) -> DoublingSolution:
    """Solve a contest of two players with a doubling cube.

    Raises
    ------
    UsageError
        The contest has more players.
    """
    if contest.players != 2:
        raise UsageError(f"a double is between two players, and the contest has {contest.players}")
    plain = solve_contest(contest)
    scored = plain.scored
    n_scores = len(scored.scores)
    turns: dict[Situation, CubeTurn] = {}
    open_graph = _with_offers(scored.graph)
    begins = np.zeros(n_scores)  # the second player's equity when his turn begins
    bound = 0.0
    for best in range(n_scores):
        situation = Situation(1, best, 1)
        payoffs = 2 * plain.turns[situation].payoffs - 1
        if contest.ties == "shared":
            payoffs[best] = 0.0
        turns[situation] = _turn(plain, open_graph, payoffs, 2.0**-52)
        begins[best] = turns[situation].access[0]
        bound = max(bound, turns[situation].error_bound)
    # The second player has access whether the cube is in the middle or came to him.
    turns[plain.opening] = _turn(plain, open_graph, -begins, bound)
    return DoublingSolution(plain, turns)


def _turn(plain: ContestSolution, graph: StateGraph, payoffs: Reals, bound: float) -> CubeTurn:
    aim = plain.aims.solve(payoffs, np.full(len(payoffs), bound))
    n_states = len(aim.values)
    without_bound = float(aim.error_bounds.max())
    border = np.concatenate([payoffs, np.minimum(1.0, 2 * aim.values)])
    bounds = np.concatenate([np.full(len(payoffs), bound), np.full(n_states, 2 * without_bound)])
    result, certificate, _ = solve_and_certify(graph, border_values=border, border_bounds=bounds)
    # One step ahead without the last action of each state, the offer.
    following = np.concatenate([result.values, border])
    worth = fold_outcomes(graph, np.add, graph.outcome_weight * following[graph.outcome_state])
    worth /= fold_outcomes(graph, np.add, graph.outcome_weight)
    worth[last_actions(graph)] = -np.inf
    waits = fold_actions(graph, np.maximum, worth)
    return CubeTurn(aim.values, result.values, waits, max(certificate.bound, without_bound))


def _with_offers(graph: StateGraph) -> StateGraph:
    """A scored graph with one more action in each state, the last one: to stop there.

    It leads to a border place of the state's own, after those of the final scores.
    """
    n, border = graph.n_states, graph.n_border
    label = int(graph.action_label.max()) + 1
    ends = graph.action_indptr[1:]
    outcome_ends = graph.outcome_indptr[ends]
    places = np.arange(n, dtype=np.int64)
    counts = np.insert(np.diff(graph.outcome_indptr), ends, 1)
    return graph.with_arrays(
        action_indptr=graph.action_indptr + np.arange(n + 1),
        action_label=np.insert(graph.action_label, ends, label),
        action_reward=np.insert(graph.action_reward, ends, 0.0),
        outcome_indptr=np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
        outcome_state=np.insert(
            graph.outcome_state, outcome_ends, (n + border + places).astype(np.int32)
        ),
        outcome_weight=np.insert(graph.outcome_weight, outcome_ends, 1),
        outcome_passes=np.insert(graph.outcome_passes, outcome_ends, False),
        outcome_payoff=np.insert(graph.outcome_payoff, outcome_ends, 0.0),
        action_names={**graph.action_names, label: "offer to double"},
        n_border=border + n,
    )


class Edge(NamedTuple):
    """Expected winnings of a player per unit of stake, against a given policy.

    Attributes
    ----------
    going_first, going_second : float
        Equity: 1 for a sure win, -1 for a sure loss.
    fair_first, fair_second : float
        The same for two best players.
    error_bound : float
    """

    going_first: float
    going_second: float
    fair_first: float
    fair_second: float
    error_bound: float


def edge_against(contest: Contest, policy: Policy) -> Edge:
    """The edge of best play against a policy of the game, going first and second.

    Parameters
    ----------
    contest : Contest
        Of two players.
    policy : Policy
        The opponent's, on the game's graph and blind to the score.
    """
    if contest.players != 2:
        raise UsageError(f"an edge is between two players, and the contest has {contest.players}")
    first = solve_contest(contest, {1: policy})
    second = solve_contest(contest, {0: policy})
    fair = solve_contest(contest)
    bound = 2 * max(first.error_bound, second.error_bound, fair.error_bound)
    return Edge(
        float(2 * first.probabilities[0] - 1),
        float(2 * second.probabilities[1] - 1),
        float(2 * fair.probabilities[0] - 1),
        float(2 * fair.probabilities[1] - 1),
        bound,
    )
