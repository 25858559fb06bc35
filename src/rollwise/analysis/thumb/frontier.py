"""The frontier of simplicity against loss: the best rule of thumb for each number of integers.

The search proposes rules. The loss of each proposed rule is certified by an evaluation of its
policy against the optimal policy.

One search is sequential, since each score decides the next rules. Several searches are independent
tasks, and the best rules of all are the answer. The first search has the given seed, so several
searches find at least the rules of a single one.

In a game for three or more, losses are against others with an equilibrium policy: fixed policies of
all others make a game for a single player. A rule is the same in every seat, so
chance draws the seat. The search is the one for a single player, and a loss is the mean over the
seats. Two more figures are certified: the loss in each seat, and the gain of a best response where
all players use the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rollwise.analysis.losses import Loss, loss_of
from rollwise.analysis.thumb.clauses import OnGraph, Setting
from rollwise.analysis.thumb.search import DIGITS, NUMBERS, Field, Limits, Search
from rollwise.answer.evaluation import respond_to
from rollwise.answer.references import Policies, Subject
from rollwise.cluster.pool import Pool
from rollwise.errors import UsageError
from rollwise.hooks import InWords
from rollwise.many.seats import in_a_drawn_seat
from rollwise.numbers.randomness import derived_seed
from rollwise.thumb.features import Columns, Features
from rollwise.thumb.language import Rule
from rollwise.thumb.sentences import sentence_of

Progress = Callable[[str, int, "int | None"], None]


class Met(NamedTuple):
    """The result of one search.

    Attributes
    ----------
    rules : tuple of (Rule, float)
        The best rules, with their losses.
    scored : int
    stopped : bool
        Whether Ctrl-C cut it short.
    """

    rules: tuple[tuple[Rule, float], ...]
    scored: int
    stopped: bool


def search_all(
    search: Callable[..., Met],
    setting: Any,
    limits: Limits,
    progress: Progress | None,
    pool: Pool | None,
) -> tuple[Met, int]:
    """Search from several seeds: the joint result, and the number of searches.

    The result contains each rule once. The number of scored rules is the sum over the searches.

    Parameters
    ----------
    search : callable
        ``search(setting, limits, seed, progress)``; workers import it.
    setting : object
        The setting of all searches, sent to each worker.
    pool : Pool, optional
        The workers of the searches. Without them this process runs all.

    Raises
    ------
    ClusterError
        The workers are gone.
    """
    others = (derived_seed(limits.seed, number) for number in range(1, limits.searches))
    seeds = [limits.seed, *others]
    outcomes: Iterable[Met]
    if pool is None:
        outcomes = (search(setting, limits, own, progress) for own in seeds)
    else:
        sent = pool.share(setting)
        outcomes = pool.in_order(search, ((sent, limits, own) for own in seeds))
    each = list[Met]()
    stopped = False
    try:
        for met in outcomes:
            each.append(met)
            if met.stopped:
                break
            if progress is not None and len(seeds) > 1:
                progress("searches", len(each), len(seeds))
    except KeyboardInterrupt:
        if not each:
            raise
        # the searches that have ended are kept
        stopped = True
    stopped = stopped or each[-1].stopped
    rules = dict.fromkeys(pair for met in each for pair in met.rules)
    return Met(tuple(rules), sum(met.scored for met in each), stopped), len(each)


@dataclass(frozen=True)
class RuleOfThumb(Loss):
    """A rule of thumb with its certified loss.

    Attributes
    ----------
    rule : Rule
    text : str
        The rule in words.
    gain, gain_bound : float or None
        Of three or more players the largest gain of a seat by its best response where all others
        play the rule, and its error bound.
    """

    rule: Rule = field(kw_only=True)
    text: str = field(kw_only=True)
    gain: float | None = field(default=None, kw_only=True)
    gain_bound: float | None = field(default=None, kw_only=True)

    @property
    def numbers(self) -> int:
        return self.rule.numbers


@dataclass(frozen=True, repr=False)
class Frontier(InWords):
    """The best rules, with the facts of their search.

    Attributes
    ----------
    rules : tuple of RuleOfThumb
        Each has more numbers than the one before, and loses less.
    scored : int
        The number of scored rules in all searches together.
    seed : int
    searches : int
        The number of searches, each with its own seed.
    stopped : bool
        Whether Ctrl-C ended the search.
    """

    rules: tuple[RuleOfThumb, ...]
    scored: int
    seed: int
    searches: int
    stopped: bool


def find_rules(
    game: Subject,
    numbers: int = NUMBERS,
    *,
    progress: Progress | None = None,
    pool: Pool | None = None,
    entire: bool = False,
    **limits: Any,
) -> Frontier:
    """Look for the best rules of thumb of a game.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
    numbers : int
        The most integers that a rule may have.
    progress : callable, optional
    pool : Pool, optional
        The workers of the searches; see `rollwise.cluster`.
    entire : bool
        Whether Ctrl-C raises KeyboardInterrupt instead of ending the search with its best rules.
    **limits
        The other attributes of `rollwise.analysis.thumb.search.Limits`.

    Returns
    -------
    Frontier

    Raises
    ------
    UsageError
        The game has no choices; a number is out of range.
    ClusterError
        The workers are gone.
    """
    wanted = Limits(numbers, **limits)
    policies = Policies.of(game, any_players=True)
    if wanted.enough >= 1 and not policies.graph.is_score:
        raise UsageError(
            f"within is {wanted.enough:g}; in {policies.graph.game} a loss is a win probability: "
            "0.01 is a percentage point"
        )
    if progress is not None:
        progress("solving", 0, None)
    features = Features(policies.graph, policies.game)
    met, searched = search_all(_search, _setting(policies, features), wanted, progress, pool)
    if entire and met.stopped:
        raise KeyboardInterrupt
    rules = list[RuleOfThumb]()
    for rule in _best(met.rules, wanted.enough):
        if progress is not None:
            progress("certifying", len(rules), None)
        rules.append(certified_rule(policies, rule, features))
    return Frontier(tuple(rules), met.scored, wanted.seed, searched, met.stopped)


def _setting(policies: Policies, features: Features) -> Setting:
    """The setting of the search: of three or more players, one player in a drawn seat."""
    profile = policies.solution.profile
    if profile is None:
        return Setting.of(policies, features)
    drawn = in_a_drawn_seat(profile.graph, profile.policy.probability)
    return Setting.of(Policies(drawn), _InADrawnSeat(drawn, whole=features))


def _search(setting: Setting, limits: Limits, seed: int, progress: Progress | None = None) -> Met:
    """One search on a graph."""
    return found_on(OnGraph(setting), limits, seed, progress)


def found_on(field: Field, limits: Limits, seed: int, progress: Progress | None) -> Met:
    """One search: the best rule of each number of integers, with its loss."""
    search = Search(field, limits, seed, progress)
    stopped = False
    try:
        search.run()
    except KeyboardInterrupt:
        stopped = True
    best = [search.kept[numbers][0] for numbers in sorted(search.kept)]
    rules = tuple((rule, search.losses[rule]) for rule in best)
    return Met(rules, search.scored, stopped)


def _best(rules: Iterable[tuple[Rule, float]], enough: float) -> list[Rule]:
    """The best rule of each number, if it loses less than all rules with fewer numbers.

    Of equally good rules the first one. The last rule is the first with at most the loss `enough`.
    """
    best, least = list[Rule](), float("inf")
    # few numbers first: a rule with more numbers has to lose less
    for rule, loss in sorted(rules, key=lambda pair: (pair[0].numbers, round(pair[1], DIGITS))):
        if least > enough and round(loss, DIGITS) < round(least, DIGITS):
            best.append(rule)
            least = loss
    return best


def certified_rule(policies: Policies, rule: Rule, features: Features | None = None) -> RuleOfThumb:
    """A rule of thumb with its certified loss.

    Parameters
    ----------
    features : Features, optional
        Of the game, if known already.
    """
    graph = policies.graph
    unit = () if policies.game is None else policies.game.action_unit
    policy = rule.policy(graph, policies.game, features=features)
    found = RuleOfThumb(
        **vars(loss_of(policies, policy)), rule=rule, text=sentence_of(rule, graph, unit)
    )
    if graph.players <= 2:
        return found
    response = respond_to(graph, policy)
    gains = zip(response.best, response.win_probabilities, strict=True)
    gain = max(best - has for best, has in gains)
    return replace(found, gain=gain, gain_bound=2.0 * response.error_bound)


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
