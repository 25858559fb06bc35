"""Playing for something else than the mean: any payoff that depends on the final score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.distributions import Distribution, Distributions, distributions
from rollwise.analysis.one_distribution import distribution
from rollwise.answer.certified import solve_and_certify
from rollwise.derive.by_score import Ints, ScoredGraph, by_score, whole_points
from rollwise.graph import StateGraph, sign_of
from rollwise.graph.choices import are_best, first_of_each_state, keep_bounds
from rollwise.graph.lookahead import look_ahead
from rollwise.graph.policies import Policy, Ties, ties_in_play
from rollwise.layers import Layer, layer_of_graph

Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Aim:
    """The best that can be done for a payoff on final scores, from every state and score.

    Attributes
    ----------
    values, error_bounds : (n_states,) float64
        Of the scored graph; certified.
    actions : (n_states,) int64
        The first of the best actions, as an index.
    best : (n_actions,) bool
        See `rollwise.graph.choices.are_best`.
    """

    values: Reals
    error_bounds: Reals
    actions: Ints
    best: NDArray[np.bool_]


class Aims:
    """Solves one scored graph for as many payoffs as wanted."""

    def __init__(self, scored: ScoredGraph) -> None:
        self.scored = scored

    @cached_property
    def _layer(self) -> Layer:
        return layer_of_graph(self.scored.graph)

    @cached_property
    def _points(self) -> Ints:
        return whole_points(self.scored.source)[self.scored.action]

    def solve(self, payoffs: Reals, payoff_bounds: Reals | None = None) -> Aim:
        """Maximise the expected payoff.

        Parameters
        ----------
        payoffs : (n_scores,) float64
            For each of `ScoredGraph.scores`.
        payoff_bounds : (n_scores,) float64, optional
            How far each payoff can be off; part of the certified error.
        """
        graph = self.scored.graph
        found, certificate, _ = solve_and_certify(
            graph,
            border_values=payoffs,
            border_bounds=payoff_bounds,
            layer=self._layer,
        )
        ahead = look_ahead(graph, found.values, certificate.bounds, payoffs, payoff_bounds)
        best = are_best(graph, ahead)
        # play of a scored graph always ends
        actions = first_of_each_state(graph, keep_bounds(graph, ahead, best))
        return Aim(found.values, certificate.bounds, actions, best)

    def reaching(self, target: int, ties: float = 1.0) -> Reals:
        """The payoffs of a chase: 1 for a score better than the target, `ties` for it."""
        scores = self.scored.scores
        better = sign_of(self.scored.source.objective) * (scores - target) > 0
        return np.where(scores == target, ties, better.astype(np.float64))

    def policy(self, aim: Aim, name: str = "aim") -> Policy:
        """What to do in every state of the scored graph."""
        return Policy.of_actions(self.scored.graph, name, aim.actions, aim.best)

    def distributions(self, policy: Policy) -> Distributions:
        """How the points still to come are distributed under a policy of the scored graph."""
        return distributions(self.scored.graph, policy, points=self._points)

    def distribution(self, policy: Policy) -> Distribution:
        """The same from the start alone, which takes far less memory."""
        return distribution(self.scored.graph, policy, points=self._points)

    def final_scores(self, found: Distributions, state: int = 0) -> tuple[Reals, Reals]:
        """The probability of each final score from a state of the scored graph.

        Returns
        -------
        probabilities, error_bounds : (n_scores,) float64
        """
        scored = self.scored
        row = found.of(state)
        final = row.values + int(scored.score[state])
        order = np.argsort(scored.scores)
        place = np.searchsorted(scored.scores[order], final)
        known = (place < len(order)) & (
            scored.scores[order[np.minimum(place, len(order) - 1)]] == final
        )
        probabilities = np.zeros(len(order))
        probabilities[order[place[known]]] = row.probabilities[known]
        bounds = found.relative_error[state] * probabilities + found.absolute_error[state]
        return probabilities, bounds


def distribution_of_chase(graph: StateGraph, target: int) -> tuple[Distribution, Ties | None]:
    """The final score of a player who does what makes reaching a target most likely.

    Returns
    -------
    distribution, ties
        The latter says how far the former rests on which of several best actions is taken.
    """
    scored = by_score(graph)
    scored.index(target)
    aims = Aims(scored)
    plan = aims.policy(aims.solve(aims.reaching(target)))
    return aims.distribution(plan).trimmed(), ties_in_play(scored.graph, plan)
