"""Second aims, and ranges over all optimal policies: `rollwise.answer.optimal_set` by name.

Quantities of all optimal policies, in their typed form:

- ``score<=5`` (also ``<``, ``>=``, ``>``, ``=``): the probability of such a final score.
- ``variance``: of the final score.
- ``win``: the probability to win a contest with a best opponent, who moves next, knowing the score.
  ``win:first`` and ``win:win-or-tie`` name the winner of a tie; else the prize is shared.
- ``draw``: the probability of a draw, in a game for two, or of win or loss.
- ``moves``, ``rolls``: the numbers of actions, and of actions with several outcomes;
  the throw before a choice is a roll, and no move.
- the name or the number of an action: its number of uses.

A prefix ``most:`` or ``least:`` gives the direction of a second aim. The default is the most, and
for the variance the least.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.distributions import Distribution, distribution
from rollwise.answer.certified import Certified
from rollwise.answer.optimal_set import Amounts, OptimalSet, Quantity, Range
from rollwise.answer.references import Policies, Subject, policy_table
from rollwise.answer.rows import fields_and_throws
from rollwise.answer.solution import Solution
from rollwise.derive.by_score import by_score, gained, require_final_score, require_points
from rollwise.derive.chase import WithScore
from rollwise.derive.derived_game import places_in
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import chance_to_pass, fold_actions, has_choice, is_roll, is_throw
from rollwise.graph.policies import Policy, is_drawn, ties_in_play

if TYPE_CHECKING:
    import polars as pl

    from rollwise.analysis.contest import ContestSolution

Reals = NDArray[np.float64]

_SCORE = re.compile(r"score\s*(<=|>=|==|=|<|>)\s*(-?\d+)")
_COMPARE = {
    "<=": np.less_equal,
    ">=": np.greater_equal,
    "=": np.equal,
    "==": np.equal,
    "<": np.less,
    ">": np.greater,
}
WORDS = ("variance", "win", "draw", "moves", "rolls")
SAID = f"score<=N, {', '.join(WORDS)}, or an action"


class Aim(NamedTuple):
    """A quantity, and the direction of its optimisation."""

    quantity: Quantity
    least: bool

    @property
    def text(self) -> str:
        """As it is typed: ``least variance``."""
        return f"{'least' if self.least else 'most'} {self.quantity.name}"


def read_aim(solution: Solution, text: str) -> Aim:
    """A second aim as typed: ``variance``, ``most:score<=5``, ``least:take none``.

    Raises
    ------
    UsageError
        There is no such quantity, or it makes no sense for the game.
    """
    way, colon, rest = (part.strip() for part in text.partition(":"))
    wanted, name = (way, rest) if colon and way != "win" else ("", text.strip())
    if wanted not in ("", "most", "least"):
        raise UsageError(f"{text!r} isn't an aim; write most:QUANTITY or least:QUANTITY ({SAID})")
    return Aim(read_quantity(solution, name), wanted == "least" if wanted else name == "variance")


def read_quantity(solution: Solution, text: str) -> Quantity:
    """A quantity as typed; see the head of this module.

    Raises
    ------
    UsageError
        There is no such quantity, or it makes no sense for the game.
    """
    graph, name = solution.graph, text.strip()
    if _SCORE.fullmatch(name) is not None:
        require_final_score(solution.game)
        require_points(graph)
        return chance_of_scores(name.replace(" ", ""))
    if name == "variance":
        require_points(graph)
        return _variance(solution)
    if name.partition(":")[0] == "win":
        return _win(solution, name.partition(":")[2] or "shared")
    if name == "draw":
        return _draw(solution)
    if name == "moves":
        return _counted(name, lambda graph: ~is_throw(graph))
    if name == "rolls":
        return _counted(name, is_roll)
    try:
        labels = graph.vocabulary.require(name)
    except UsageError as error:
        raise UsageError(f"there is no quantity {name!r}: it is {SAID}; {error}") from None

    return _counted(name, lambda graph: np.isin(graph.action_label, labels))


def _counted(name: str, count: Callable[[StateGraph], NDArray[np.generic]]) -> Quantity:
    """The sum of an amount of each action."""
    return Quantity(name, lambda policies: Amounts(actions=policies.amounts_of(count)))


def is_of_score(text: str) -> bool:
    """Whether a condition is one on the final score."""
    return _SCORE.fullmatch(text.strip()) is not None


def condition_of(text: str) -> Callable[[NDArray[np.int64]], NDArray[np.bool_]]:
    """A condition on scores as typed: ``score<=5``.

    Raises
    ------
    UsageError
    """
    score = _SCORE.fullmatch(text.strip())
    if score is None:
        raise UsageError(f"{text!r} isn't a condition on the score; write score>=5 or score=0")
    compare, number = _COMPARE[score[1]], int(score[2])
    return lambda x: compare(x, number)


def chance_of_scores(name: str) -> Quantity:
    """The chance that the final score meets a condition as typed."""
    condition = condition_of(name)

    def amounts(policies: OptimalSet) -> Amounts:
        assert policies.scores is not None
        return Amounts(scores=np.asarray(condition(policies.scores), np.float64))

    return Quantity(name, amounts, by_score=True)


def of_scores(name: str, payoffs: Reals, bounds: Reals, scores: NDArray[np.int64]) -> Quantity:
    """The mean of a payoff on final scores.

    Parameters
    ----------
    payoffs, bounds : (n_scores,) float64
        For each of the `scores`, with error bounds. Other scores pay 0.
    """
    order = np.argsort(scores)

    def amounts(policies: OptimalSet) -> Amounts:
        assert policies.scores is not None
        index = np.searchsorted(scores[order], policies.scores)
        return Amounts(scores=payoffs[order[index]], score_bounds=bounds[order[index]])

    return Quantity(name, amounts, by_score=True)


def _variance(solution: Solution) -> Quantity:
    """The second moment around a whole number c, minus the square of the mean's distance to it.

    All policies of the set have the same mean, which makes the variance linear in the policy.
    """
    mean, off = solution.value, float(solution.error_bounds[0])
    centre = round(mean)
    shift, near = (mean - centre) ** 2, abs(mean - centre)

    def amounts(policies: OptimalSet) -> Amounts:
        assert policies.scores is not None
        return Amounts(scores=((policies.scores - centre) ** 2).astype(np.float64))

    def finish(certified: Certified) -> Certified:
        variance = certified.value - shift
        bound = certified.bound + off * (2 * near + off) + 2.0**-50 * (certified.value + shift)
        return Certified(max(variance, 0.0), bound)

    return Quantity("variance", amounts, by_score=True, finish=finish)


def _draw(solution: Solution) -> Quantity:
    graph = solution.graph
    if graph.objective != "win" or not is_drawn(graph).any():
        raise UsageError(
            f"{graph.title} is never drawn, so there is no chance of a draw to ask for"
        )
    if graph.action_reward.any():
        raise UsageError(
            f"{graph.title} has payments on the way, so that a play drawn at its end may bring "
            "more or less than nothing: there is no chance of a draw to ask for"
        )

    def amounts(policies: OptimalSet) -> Amounts:
        if policies.scores is not None:  # as for another aim; a draw is the score 0
            return Amounts(scores=(policies.scores == 0).astype(np.float64))
        return Amounts(endings=is_drawn(policies.graph).astype(np.float64))

    return Quantity("draw", amounts)


def _win(solution: Solution, ties: str) -> Quantity:
    graph = solution.graph
    if graph.has_stakes:
        raise UsageError(f"{graph.title} is played for payoffs: win isn't an aim of it")
    if graph.objective == "win":
        raise UsageError(
            f"{graph.title} is won or lost: to win is its first aim, and all optimal policies are "
            "as good at it (with draws, ask for draw)"
        )
    from rollwise.analysis.contest import Contest, solve_contest

    if solution.game is None:
        raise UsageError(f"{graph.title} is a graph without its rules: no contest of it")
    return first_share(solve_contest(Contest(solution.game, 2, ties), {0: solution.policy}))


def first_share(solved: ContestSolution) -> Quantity:
    """The first player's share of a contest for each final score, with best play of all others."""
    from rollwise.analysis.contest import Situation

    scores = solved.scored.scores
    after = [Situation(1, i, 1) for i in range(len(scores))]
    held = np.array([solved.held[one] for one in after])
    bounds = np.array([solved.error_bounds[one] for one in after])
    ties = solved.contest.ties
    return of_scores("win" if ties == "shared" else f"win:{ties}", held, bounds, scores)


@dataclass(frozen=True, eq=False)
class SecondAims:
    """The optimal policies best for further aims, one aim after the other.

    Attributes
    ----------
    aims : tuple of str
        As ``least variance``.
    values : tuple of Certified
        The value of each aim, with its error bound.
    policies : OptimalSet
        The remaining policies.
    """

    aims: tuple[str, ...]
    values: tuple[Certified, ...]
    policies: OptimalSet

    @property
    def name(self) -> str:
        """``optimal, then least variance``."""
        return ", then ".join(("optimal", *self.aims))

    @cached_property
    def policy(self) -> Policy:
        """The first of the remaining policies, on the graph of `policies`."""
        return self.policies.policy(self.name)

    def distribution(self) -> Distribution:
        """The distribution of the final score under `policy`."""
        return distribution_in(self.policies, self.policy)

    def table(self, solution: Solution) -> pl.DataFrame:
        """`policy` as a table, in the form accepted as a policy (see `Policies.find`).

        There is one row for each state with a choice. States unreachable by optimal play have the
        policy of the solution. If an aim depends on the points made so far, the table has the field
        ``score`` and is a policy of the game `rollwise.derive.chase.WithScore`.

        Parameters
        ----------
        solution : Solution
            The solution of these optimal policies.
        """
        import polars as pl

        graph = solution.graph
        if self.policies.scores is None:
            return policy_table(graph, self.policy_of(solution))
        labels = _labels(graph, solution.policy)
        scored = by_score(graph)
        graph, labels = scored.graph, labels[scored.state]
        chosen = self.policies.graph
        labels[places_in(chosen.rows, graph.rows)] = _labels(chosen, self.policy)
        asked = np.flatnonzero(has_choice(graph))
        fields = fields_and_throws(graph, asked)
        return pl.DataFrame({**fields, "action": [graph.vocabulary.text(a) for a in labels[asked]]})

    def policy_of(self, solution: Solution) -> Policy:
        """`policy` on the graph of a solution, whose policy it is where optimal play doesn't come.

        No aim may depend on the points made so far. Mixtures of an equilibrium stay as they are.
        """
        graph, chosen = solution.graph, self.policies.graph
        probability = solution.policy.probability.copy()
        places = places_in(graph.rows, chosen.rows)  # -1 where play doesn't come
        labels = np.append(_labels(chosen, self.policy), -1)[places][graph.action_state]
        mixed = (probability > 0) & (probability < 1)
        fixed = (labels >= 0) & ~fold_actions(graph, np.logical_or, mixed)[graph.action_state]
        probability[fixed] = graph.action_label[fixed] == labels[fixed]
        return Policy(self.name, probability)


def _labels(graph: StateGraph, policy: Policy) -> NDArray[np.int64]:
    """The label of a policy's action, for each state."""
    taken = np.flatnonzero(policy.probability > 0)
    labels = np.empty(graph.n_states, np.int64)
    labels[graph.action_state[taken]] = graph.action_label[taken]
    return labels


def second_aims(game: Subject, aims: Sequence[str]) -> SecondAims:
    """The optimal policies best for a second aim, then for a third, and so on.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
        Solved unless it is a solution.
    aims : sequence of str
        See `rollwise.analysis.second_aims`.

    Raises
    ------
    UsageError, RulesError
        An aim makes no sense for the game.

    Examples
    --------
    >>> from rollwise.games.threes import Threes
    >>> second_aims(Threes(dice=2), ["score<=0"]).values[0].value.__round__(6)
    0.0625
    """
    solution = Policies.of(game, any_players=True).solution
    policies, values, names = OptimalSet.of(solution), [], []
    wanted = [read_aim(solution, text) for text in aims]
    if any(aim.quantity.by_score for aim in wanted):
        policies = policies.with_scores
    # each aim is left only the policies best for all aims before it
    for aim in wanted:
        value, policies = policies.then(aim.quantity, least=aim.least)
        values.append(value)
        names.append(aim.text)
    return SecondAims(tuple(names), tuple(values), policies)


def ranges(game: Subject, quantities: Sequence[str]) -> list[Range]:
    """The certified least and largest value of each quantity over optimal policies.

    Parameters
    ----------
    game
        As in `second_aims`.
    quantities : sequence of str
        See `rollwise.analysis.second_aims`.
    """
    solution = Policies.of(game, any_players=True).solution
    return ranges_in(OptimalSet.of(solution), solution, quantities)


def ranges_in(policies: OptimalSet, solution: Solution, quantities: Sequence[str]) -> list[Range]:
    """The ranges over the optimal policies of a set, as after second aims."""
    return [policies.range(read_quantity(solution, text)) for text in quantities]


def length_ranges(solution: Solution, counted: Sequence[str]) -> list[Range] | None:
    """The least and the largest mean length of optimal play from the start.

    Parameters
    ----------
    counted : sequence of {"turns", "moves", "rolls"}

    Returns
    -------
    list of Range, or None
        None if play reaches no equally good actions, or these let it go round for ever.
    """
    if ties_in_play(solution.graph, solution.policy) is None:
        return None
    try:
        policies = OptimalSet.of(solution)
    except UsageError:
        return None
    passing = _counted("passes", chance_to_pass)
    ranges = []
    for name in counted:
        one = policies.range(passing if name == "turns" else read_quantity(solution, name))
        if name == "turns":  # the first one passes nowhere; chances are rounded
            off = one.error_bound + 2.0**-50 * (1 + one.most)
            one = Range(name, one.least + 1, one.most + 1, off)
        ranges.append(one)
    return ranges


@dataclass(frozen=True, eq=False)
class ScoreRanges:
    """The least and largest probability of each final score over optimal policies.

    Attributes
    ----------
    rows : dict of int to Range
        By the score.
    at_most : dict of int to Range
        Of that score or less.
    variance : Range
    loss : float
        Proved upper bound on the loss of any of these policies.
    """

    rows: dict[int, Range]
    at_most: dict[int, Range]
    variance: Range
    loss: float


def score_ranges(game: Subject) -> ScoreRanges:
    """The range of every probability of a final score over all optimal policies."""
    solution = Policies.of(game).solution
    require_final_score(solution.game)
    require_points(solution.graph)
    policies = OptimalSet.of(solution).with_scores
    assert policies.scores is not None
    rows, at_most = {}, {}
    for score in np.sort(policies.scores).tolist():
        rows[score] = policies.range(chance_of_scores(f"score={score}"))
        at_most[score] = policies.range(chance_of_scores(f"score<={score}"))
    variance = policies.range(read_quantity(solution, "variance"))
    return ScoreRanges(rows, at_most, variance, policies.loss)


def ranges_of_scores(game: Subject, scores: Iterable[int]) -> dict[int, Range]:
    """The least and the largest probability of some final scores under optimal policies."""
    solution = Policies.of(game).solution
    if isinstance(solution.game, WithScore):  # its optimal policies are those of the inner game
        solution = Policies.of(solution.game.inner).solution
    policies = OptimalSet.of(solution).with_scores
    return {score: policies.range(chance_of_scores(f"score={score}")) for score in scores}


def distribution_in(policies: OptimalSet, policy: Policy) -> Distribution:
    """The distribution of the final score under a policy of a set."""
    assert policies.scores is not None
    points = gained(policies.graph, policies.scores)
    return distribution(policies.graph, policy, points=points).trimmed()
