"""Rules of thumb of games for three or more: losses against others with an equilibrium policy.

Fixed policies of all others make a game for a single player. A rule is the same in every seat, so
chance draws the seat. The search is the one for a single player, and a loss is the mean over the
seats. Two more figures are certified: the loss in each seat, and the gain of a best response where
all players use the rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rollwise.analysis.thumb.frontier import Frontier, RuleOfThumb, find_rules
from rollwise.analysis.thumb.search import NUMBERS
from rollwise.answer.certified import solve_and_certify
from rollwise.answer.evaluation import respond_to
from rollwise.answer.references import Policies
from rollwise.many.equilibrium import Equilibrium
from rollwise.many.seats import in_a_drawn_seat, seen_from
from rollwise.thumb.features import Columns, Features
from rollwise.thumb.sentences import sentence_of


@dataclass(frozen=True)
class SeatsRule:
    """A rule of thumb, with its loss in each seat.

    Attributes
    ----------
    of_search : RuleOfThumb
        The rule; its loss is the mean over the seats.
    text : str
        The rule in words.
    losses : tuple of float
        The loss against the equilibrium policy in each seat, where all others play the latter.
    error_bound : float
        Of the losses and their mean.
    gain : float
        The largest gain of a seat by its best response where all others play the rule.
    gain_bound : float
        The error bound of the gain.
    """

    of_search: RuleOfThumb
    text: str
    losses: tuple[float, ...]
    error_bound: float
    gain: float
    gain_bound: float

    @property
    def loss(self) -> float:
        """The mean of the losses."""
        return sum(self.losses) / len(self.losses)


@dataclass(frozen=True)
class SeatsFrontier:
    """The best rules: each has more numbers than the one before, and loses less.

    Attributes
    ----------
    rules : tuple of SeatsRule
    search : Frontier
        The facts of the search.
    """

    rules: tuple[SeatsRule, ...]
    search: Frontier


@dataclass(frozen=True, eq=False)
class _InADrawnSeat(Features):
    """The features of a game, in the graph of one player in a drawn seat.

    Attributes
    ----------
    whole : Features
        Of the game.
    """

    whole: Features = field(kw_only=True)

    @cached_property
    def states(self) -> Columns:
        size = self.whole.graph.n_states
        index = (np.arange(self.graph.n_states) - 1) % size  # state 0 has no choice
        return {name: column[index] for name, column in self.whole.states.items()}

    @cached_property
    def actions(self) -> Columns:
        # the first action draws the seat, and the others' states have no choice
        after = self.graph.n_actions - 1 - self.whole.graph.n_actions
        return {name: np.pad(column, (1, after)) for name, column in self.whole.actions.items()}

    @property
    def of_the_sheet(self) -> bool:
        return self.whole.of_the_sheet


def find_seats_rules(equilibrium: Equilibrium, numbers: int = NUMBERS, **how: Any) -> SeatsFrontier:
    """Look for the best rules of thumb of a game for three or more.

    Parameters
    ----------
    equilibrium : Equilibrium
        The policies of all others.
    numbers, **how
        As `rollwise.analysis.thumb.frontier.find_rules` takes them.
    """
    graph = equilibrium.graph
    drawn = in_a_drawn_seat(graph, equilibrium.policy.probability)
    whole = Features(graph, equilibrium.game)
    own = _InADrawnSeat(drawn, whole=whole)
    search = find_rules(Policies(drawn), numbers, features=own, **how)
    rules = tuple(_certified(equilibrium, rule, whole) for rule in search.rules)
    return SeatsFrontier(rules, search)


def _certified(equilibrium: Equilibrium, of_search: RuleOfThumb, features: Features) -> SeatsRule:
    """A rule with its certified losses."""
    graph, n, size = equilibrium.graph, equilibrium.players, equilibrium.graph.n_states
    policy = of_search.rule.policy(graph, equilibrium.game, features=features)
    profile = [policy.probability, *[equilibrium.policy.probability] * (n - 1)]
    worth, certificate, _ = solve_and_certify(seen_from(graph, 0, profile))
    starts = [-seat % n * size for seat in range(n)]
    got = worth.values[starts].tolist()
    pairs = zip(equilibrium.worth, got, strict=True)
    response = respond_to(graph, policy)
    gains = zip(response.best, response.win_probabilities, strict=True)
    return SeatsRule(
        of_search,
        sentence_of(of_search.rule, graph, equilibrium.game.action_unit),
        tuple(best - has for best, has in pairs),
        equilibrium.error_bound + float(certificate.bounds[starts].max()),
        max(best - has for best, has in gains),
        2.0 * response.error_bound,
    )
