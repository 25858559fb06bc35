"""The frontier of simplicity against loss: the best rule of thumb for each number of integers.

The search says which rules are good, and nothing it says is taken on trust: what each rule loses
is found anew by evaluating its policy against the optimal one, and certified.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rollwise.analysis.losses import loss_of
from rollwise.analysis.thumb.score import Scorer
from rollwise.analysis.thumb.search import Search
from rollwise.answer.references import Policies, Subject
from rollwise.errors import UsageError
from rollwise.thumb.features import Features
from rollwise.thumb.language import Rule
from rollwise.thumb.sentences import sentence_of

SECONDS = 30.0
NUMBERS = 4
NO_LOSS = 1e-8  # what a rule may lose that is called optimal, while it is searched for


@dataclass(frozen=True)
class RuleOfThumb:
    """A rule of thumb and what it costs, certified.

    A loss is a win probability, or points; of a game for two the mean over the seats.

    Attributes
    ----------
    rule : Rule
    text : str
        The rule in words.
    loss, loss_first, loss_second : float
        Against optimal play; `loss_second` is None in a game for one.
    exploitability : float or None
        What a best response wins against it, see `rollwise.answer.evaluation`.
    error_bound : float
        How far the losses can be off.
    exploitability_bound : float or None
    """

    rule: Rule
    text: str
    loss: float
    loss_first: float
    loss_second: float | None
    exploitability: float | None
    error_bound: float
    exploitability_bound: float | None

    @property
    def numbers(self) -> int:
        return self.rule.numbers


@dataclass(frozen=True)
class Frontier:
    """The rules that were found, and how they were looked for.

    Attributes
    ----------
    rules : tuple of RuleOfThumb
        Each has more numbers than the one before, and loses less.
    scored : int
        How many rules were scored.
    seed : int
    stopped : bool
        Whether Ctrl-C ended the search.
    timed_out : bool
        Whether the clock cut the search short: the same seed may then find other rules.
    """

    rules: tuple[RuleOfThumb, ...]
    scored: int
    seed: int
    stopped: bool
    timed_out: bool


def check_limits(
    numbers: int, within: float | None, seconds: float, evaluations: int | None
) -> None:
    """Refuse limits of a search that are out of range.

    Raises
    ------
    UsageError
    """
    for name, number in (("numbers", numbers), ("evaluations", evaluations)):
        if number is not None and number < 1:
            raise UsageError(f"{name} is {number}; it must be at least 1")
    if not seconds > 0:
        raise UsageError(f"seconds is {seconds}; it must be more than 0")
    if within is not None and not within >= 0:
        raise UsageError(f"within is {within}; it can't be less than 0")


def find_rules(
    game: Subject,
    numbers: int = NUMBERS,
    *,
    within: float | None = None,
    seconds: float = SECONDS,
    evaluations: int | None = None,
    seed: int = 1,
    features: Features | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Frontier:
    """Look for the best rules of thumb of a game.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
    numbers : int
        The most integers that a rule may have.
    within : float, optional
        Look no further than a rule that loses at most that.
    seconds : float
        How long it may look.
    evaluations : int, optional
        Look until so many rules are scored, however long that takes: then the same seed finds the
        same rules.
    seed : int
    features : Features, optional
        What rules look at, where it isn't what the game offers.
    progress : callable, optional

    Returns
    -------
    Frontier

    Raises
    ------
    UsageError
        The game has no choices; a number is out of range.
    """
    check_limits(numbers, within, seconds, evaluations)
    policies = Policies.of(game)
    if within is not None and within >= 1 and not policies.graph.is_score:
        raise UsageError(
            f"within is {within:g}; in {policies.graph.game} a loss is a win probability: 0.01 is "
            "a percentage point"
        )
    if progress is not None:
        progress("solving", 0, None)
    scorer = Scorer(policies, features)
    search = Search(
        scorer,
        numbers,
        enough=NO_LOSS if within is None else max(within, NO_LOSS),
        seconds=seconds if evaluations is None else float("inf"),
        evaluations=evaluations,
        seed=seed,
        progress=progress,
    )
    stopped = False
    try:
        search.run()
    except KeyboardInterrupt:
        stopped = True
    found = list[RuleOfThumb]()
    for rule in map(search.rule, search.frontier()):
        if progress is not None:
            progress("certifying", len(found), None)
        found.append(certified_rule(policies, rule, scorer.features))
    timed_out = search.timed_out and not stopped
    return Frontier(tuple(found), search.scored + search.preferred, seed, stopped, timed_out)


def certified_rule(policies: Policies, rule: Rule, features: Features | None = None) -> RuleOfThumb:
    """A rule of thumb with what it costs, certified.

    Parameters
    ----------
    features : Features, optional
        Of the game, if they are at hand.
    """
    graph = policies.graph
    unit = () if policies.game is None else policies.game.action_unit
    found = loss_of(policies, rule.policy(graph, policies.game, features=features))
    return RuleOfThumb(
        rule,
        sentence_of(rule, graph, unit),
        found.loss,
        found.first,
        found.second,
        found.exploitability,
        found.error_bound,
        found.exploitability_bound,
    )
