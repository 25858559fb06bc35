"""Rules of thumb of games for three or more: what each loses among others who play an equilibrium.

To one player among others who keep to their policy the game is one for a single player. The seat
is drawn by chance, since a rule is the same in every seat. So the search is that for any game for
one, and a loss is the mean over the seats. What a rule loses in each seat is certified besides;
and what a best response gains where all play the rule, since then the others need not stand by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rollwise.analysis.thumb.frontier import NUMBERS, SECONDS, Frontier, RuleOfThumb, find_rules
from rollwise.answer.certified import solve_and_certify
from rollwise.answer.evaluate_seats import respond_to
from rollwise.answer.references import Policies
from rollwise.cluster.pool import Pool
from rollwise.many.equilibrium import Equilibrium
from rollwise.many.seats import in_a_drawn_seat, seen_from
from rollwise.thumb.features import Columns, Features
from rollwise.thumb.sentences import sentence_of


@dataclass(frozen=True)
class SeatsRule:
    """A rule of thumb, and what it costs in each seat.

    Attributes
    ----------
    of_search : RuleOfThumb
        The rule; its loss is the mean over the seats.
    text : str
        The rule in words.
    losses : tuple of float
        What its player has less than by the equilibrium, in each seat, if all others play that.
    error_bound : float
        How far the losses, and their mean, can be off.
    gain : float
        The most that a seat gains by its best response where all others play the rule.
    gain_bound : float
        How far that can be off.
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
    """The rules that were found: each has more numbers than the one before, and loses less.

    Attributes
    ----------
    rules : tuple of SeatsRule
    search : Frontier
        How they were looked for.
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
        place = (np.arange(self.graph.n_states) - 1) % size  # state 0 has no choice
        return {name: column[place] for name, column in self.whole.states.items()}

    @cached_property
    def actions(self) -> Columns:
        # the first action draws the seat, and the others' states have no choice
        after = self.graph.n_actions - 1 - self.whole.graph.n_actions
        return {name: np.pad(column, (1, after)) for name, column in self.whole.actions.items()}

    @property
    def of_the_sheet(self) -> bool:
        return self.whole.of_the_sheet


def find_seats_rules(
    found: Equilibrium,
    numbers: int = NUMBERS,
    *,
    within: float | None = None,
    seconds: float = SECONDS,
    evaluations: int | None = None,
    seed: int = 1,
    searches: int = 1,
    progress: Callable[[str, int, int | None], None] | None = None,
    pool: Pool | None = None,
    entire: bool = False,
) -> SeatsFrontier:
    """Look for the best rules of thumb of a game for three or more.

    Parameters
    ----------
    found : Equilibrium
        What all others play.
    numbers, within, seconds, evaluations, seed, searches, progress, pool, entire
        As `rollwise.analysis.thumb.frontier.find_rules` takes them.
    """
    graph = found.graph
    drawn = in_a_drawn_seat(graph, found.policy.probability)
    whole = Features(graph, found.game)
    search = find_rules(
        Policies(drawn),
        numbers,
        within=within,
        seconds=seconds,
        evaluations=evaluations,
        seed=seed,
        searches=searches,
        features=_InADrawnSeat(drawn, whole=whole),
        progress=progress,
        pool=pool,
        entire=entire,
    )
    rules = tuple(_certified(found, rule, whole) for rule in search.rules)
    return SeatsFrontier(rules, search)


def _certified(found: Equilibrium, of_search: RuleOfThumb, features: Features) -> SeatsRule:
    """What a rule costs."""
    graph, n, size = found.graph, found.players, found.graph.n_states
    policy = of_search.rule.policy(graph, found.game, features=features)
    profile = [policy.probability, *[found.policy.probability] * (n - 1)]
    worth, certificate, _ = solve_and_certify(seen_from(graph, 0, profile))
    starts = [-seat % n * size for seat in range(n)]
    got = worth.values[starts].tolist()
    pairs = zip(found.worth, got, strict=True)
    response = respond_to(graph, policy)
    gains = zip(response.best, response.win_probabilities, strict=True)
    return SeatsRule(
        of_search,
        sentence_of(of_search.rule, graph, found.game.action_unit),
        tuple(best - has for best, has in pairs),
        found.error_bound + float(certificate.bounds[starts].max()),
        max(best - has for best, has in gains),
        2.0 * response.error_bound,
    )
