"""Figures about a game for its designers: value, luck, length, drama, decisions and skill.

All players play best, three or more an equilibrium, unless otherwise stated. Sums along a play are
certified (see `rollwise.analysis.chain`). Distributions over turns are followed forward from the
start, in floating point, until less than a billionth of the games is left, or the time limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.chain import Chain, Skill, greedy, measure_skill
from rollwise.analysis.lengths import Lengths, Turns, lengths
from rollwise.analysis.records import ActionUse
from rollwise.analysis.thumb.frontier import Frontier, find_rules
from rollwise.answer.certified import Certified
from rollwise.answer.references import Policies, Subject
from rollwise.answer.solution import Solution
from rollwise.derive.changed import copied
from rollwise.errors import EndlessPlay, UsageError
from rollwise.graph.choices import fold_actions, has_choice
from rollwise.graph.naming import KEEP
from rollwise.graph.policies import Policy
from rollwise.hooks import InWords
from rollwise.simulate.match import expected_lengths, require_end

MOST_LISTED = 12
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

QUANTILES = (5, 50, 95)  # percent of the games, of a distribution of turns
SURE = 0.9  # win probability from which on a game counts as decided
RULES, NUMBERS = 300, 2  # number of scored rules of thumb, and the most integers in one
COUNTED = {"draw": "a draw", "lose": "a loss"}  # endless play
MATTERS = 0.02  # in units of luck; one percentage point in games of win or loss

Progress = Callable[[str, int, "int | None"], None]


def options_of(solution: Solution, visits: NDArray[np.float64]) -> tuple[ActionUse, ...]:
    """Every action of a game, in the order of their numbers.

    Parameters
    ----------
    visits : (n_states,) float64
        Expected visits of each state, see `rollwise.analysis.lengths`.
    """
    graph, policy = solution.graph, solution.policy
    looked = has_choice(graph)[graph.action_state]
    if graph.has_pool:
        looked = looked & (graph.action_label < KEEP)  # keeping dice is no label of the rules
    looked_at = np.flatnonzero(looked)
    labels, which = np.unique(graph.action_label[looked_at], return_inverse=True)
    state, best = graph.action_state[looked_at].astype(np.int64), solution.is_best[looked_at]
    # the number of best actions of each state, also to keep dice: a single one is the only best
    rivals = fold_actions(graph, np.add, solution.is_best.astype(np.int64))
    taken = visits[state] * policy.probability[looked_at]
    names = [graph.vocabulary.text(int(label)) for label in labels]
    options = []
    for k, name in enumerate(names):
        mine = which == k
        better = _dominating(solution, looked_at, which, k)
        options.append(
            ActionUse(
                int(labels[k]),
                name,
                int(mine.sum()),
                int(best[mine].sum()),
                int((best[mine] & (rivals[state[mine]] == 1)).sum()),
                float(taken[mine].sum()),
                None if better is None else names[better],
            )
        )
    return tuple(options)


def _dominating(
    solution: Solution, looked_at: NDArray[np.int64], which: NDArray[np.int64], k: int
) -> int | None:
    """The action that dominates another one; of several, the one with the largest total gain."""
    graph = solution.graph
    mine = looked_at[which == k]
    of_state = np.full(graph.n_states, np.nan)
    of_state[graph.action_state[mine]] = solution.regret[mine]
    there = of_state[graph.action_state[looked_at]]
    beside = np.isfinite(there) & (which != k)
    gain = there[beside] - solution.regret[looked_at[beside]]
    slack = 2 * solution.error_bound
    n = int(which.max()) + 1
    # k is dominated by an action that is as good in all its states, and better in one
    as_good = np.bincount(which[beside], weights=gain >= -slack, minlength=n) == len(mine)
    somewhere = np.bincount(which[beside], weights=gain > slack, minlength=n) > 0
    candidates = np.flatnonzero(as_good & somewhere)
    if not len(candidates):
        return None
    in_all = np.bincount(which[beside], weights=gain, minlength=n)
    return int(candidates[np.argmax(in_all[candidates])])


def most_taken(options: Iterable[Any]) -> list[Any]:
    """The listed actions: the most frequent, at most `MOST_LISTED`."""
    return sorted(options, key=lambda option: -option.in_a_game)[:MOST_LISTED]


class Decisions(NamedTuple):
    """The choices of a game.

    Attributes
    ----------
    positions : int
        States with a choice.
    matter : int
        Of these, states where a random action costs more than `threshold`.
    in_a_game, matter_in_a_game : Certified
        Expected numbers of both kinds in a game.
    threshold : float
        In units of value; 0 without luck.
    options : tuple of ActionUse
        The use of each action.
    """

    positions: int
    matter: int
    in_a_game: Certified
    matter_in_a_game: Certified
    threshold: float
    options: tuple[ActionUse, ...]

    @property
    def never_best(self) -> tuple[str, ...]:
        """The names of actions that are best in no position."""
        best = {option.name for option in self.options if option.best}
        return tuple(sorted({option.name for option in self.options} - best))


class Drama(NamedTuple):
    """The course of a game for several.

    Attributes
    ----------
    draws : Certified
        The probability of a draw, or of a shared win.
    lead_changes : Certified
        Expected number of changes of the likelier winner. Equal chances don't change the lead.
    comebacks : Certified
        The probability of a win after a low win probability: at most 1 - `SURE`.
    decided : Turns or None
        The turn at which a game is decided: the winner's chance stays high from then on. It is 0
        before the first move. The chances of draws are missing. None if no game is decided: each is
        drawn.
    """

    draws: Certified
    lead_changes: Certified
    comebacks: Certified
    decided: Turns | None


@dataclass(frozen=True, eq=False, repr=False)
class Balance(InWords):
    """The figures of a game.

    Attributes
    ----------
    solution : Solution
    value : Certified
        The value of the start.
    seats : tuple of float
        The result of each seat: of three or more players its share of the win, or its payoff.
    luck : Certified
        The standard deviation of the first seat's result: with best play it comes from the dice
        alone.
    turns, moves : Certified
        Expected numbers of turns and of moves in a game.
    lengths : Lengths
        The distribution of turns (of rolls or of moves, in a game for one); not certified.
    decisions : Decisions
    drama : Drama or None
        Only of games for several with winners.
    skill : Skill or None
        None without choices, and where weak players could go round for ever.
    rules : Frontier or None
        The losses of rules of thumb; None without choices, and without a search.
    sure : float
        Win probability from which on a game counts as decided.
    """

    solution: Solution = field(repr=False)
    value: Certified
    seats: tuple[float, ...] = field(repr=False)
    luck: Certified
    turns: Certified
    moves: Certified
    lengths: Lengths = field(repr=False)
    decisions: Decisions
    drama: Drama | None
    skill: Skill | None
    rules: Frontier | None
    sure: float

    @property
    def edge(self) -> float:
        """The first player's lead in standard deviations of luck; 0 without luck.

        A lead is over the mean of all seats.
        """
        n = len(self.seats)
        lead = self.seats[0] - (fsum(self.seats) / n if n > 1 else 0.0)
        return lead / self.luck.value if self.has_luck else 0.0

    @property
    def has_luck(self) -> bool:
        """Whether the dice affect the result."""
        return self.luck.value > self.luck.bound


def balance(
    game: Subject,
    *,
    evaluations: int = RULES,
    seed: int = 1,
    progress: Progress | None = None,
) -> Balance:
    """The figures of a game.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
    evaluations : int
        Number of scored rules of thumb; 0 for no search.
    seed : int
        Of that search.
    progress : callable, optional

    Raises
    ------
    UsageError
        A number is out of range.
    EndlessPlay
        Best play need not end, which the rules may allow.
    """
    if evaluations < 0:
        raise UsageError(f"evaluations is {evaluations}; it can't be less than 0")
    tell = progress or (lambda *_: None)
    policies = Policies.of(game, any_players=True)
    tell("solving", 0, None)
    solution, profile = policies.solution, policies.solution.profile
    graph = solution.graph
    tell("following play", 0, None)
    chain = Chain.of(graph, solution.policy)
    _require_end(chain)
    turns, moves = expected_lengths(graph, solution.policy)[0]
    luck = chain.luck()
    fought = graph.players > 1 and not graph.is_score
    # the range of values, for a range of results of 1
    unit = 1.0 if profile is None else profile.unit
    lasts = lengths(graph, solution.policy)
    options = options_of(solution, lasts.visits)
    # a deviation within its bound is rounding: without luck each loss matters
    by_luck = luck.value if luck.value > luck.bound else 0.0
    chosen = _decisions(solution, chain, MATTERS * unit * by_luck, options)
    rules: Frontier | None = None
    skill = None
    if chosen.positions:
        if evaluations:
            rules = find_rules(
                policies,
                NUMBERS,
                evaluations=evaluations,
                seed=seed,
                progress=progress,
                entire=True,
            )
        tell("measuring skill", 0, None)
        skill = _skill(policies, rules)
    return Balance(
        solution,
        Certified(float(solution.value), float(solution.error_bounds[0])),
        _results(solution),
        luck,
        turns,
        moves,
        lasts,
        chosen,
        _drama(solution, chain) if fought else None,
        skill,
        rules,
        SURE,
    )


def _results(solution: Solution) -> tuple[float, ...]:
    """The result of each seat from the start."""
    if solution.profile is not None:
        return solution.profile.worth
    values, _ = solution.seat_values(np.zeros(1, np.int64))
    return tuple(values[0].tolist())


def _require_end(chain: Chain) -> None:
    """Check that best play ends: endless play has no number of turns."""
    try:
        require_end(chain.graph, "best play never ends")
    except EndlessPlay as error:
        counts = COUNTED.get(chain.source.endless)
        counted = f"; the rules count endless play as {counts}" if counts else ""
        raise EndlessPlay(
            f"{error}{counted}. A balance counts turns and decisions, of games that end"
        ) from None


def _decisions(
    solution: Solution, chain: Chain, threshold: float, options: tuple[ActionUse, ...]
) -> Decisions:
    graph = solution.graph
    choice = has_choice(graph)
    loss = np.where(solution.is_best, 0.0, solution.regret)  # not that of rounding
    at_random = fold_actions(graph, np.add, loss) / np.diff(graph.action_indptr)
    matter = choice & (at_random > threshold)
    in_a_game, that_matter = (
        chain.total(mask[chain.number].astype(float)) for mask in (choice, matter)
    )
    return Decisions(
        int(choice.sum()),
        int(matter.sum()),
        in_a_game,
        that_matter,
        threshold,
        options,
    )


def _skill(policies: Policies, rules: Frontier | None) -> Skill | None:
    try:
        levels = [policies.find("random"), greedy(policies)]
        if rules is not None and rules.rules:
            rule = rules.rules[-1].rule
            levels.append(rule.policy(policies.graph, policies.game, "rule of thumb"))
        best = policies.solution.policy
        return measure_skill(policies, [*levels, Policy("best", best.probability)])
    except EndlessPlay:
        return None


# ---- how a game is fought out


def _drama(solution: Solution, chain: Chain) -> Drama:
    n = chain.source.players
    of_seats, off = solution.seat_values(chain.number)
    after = (np.arange(n) - chain.seat[:, None].astype(np.int64)) % n
    worth = np.take_along_axis(of_seats, after, axis=1)  # of each seat, the first mover's first
    wins = [chain.is_over & (payoffs == 1.0) for payoffs in chain.payoffs.T]
    draws = chain.draws()
    level = 2 * SURE - 1
    above = [mine >= level - off for mine in worth.T]
    below = [-mine >= level - off for mine in worth.T]
    return Drama(
        draws,
        _lead_changes(chain, _leader(worth, off)),
        _comebacks(chain, wins, below),
        _decided(chain, wins, above, 1.0 - draws.value),
    )


def _leader(worth: Floats, off: float) -> NDArray[np.int64]:
    """The seat with the largest number of each row, from 1; 0 where several have it.

    Parameters
    ----------
    worth : (n, n_seats) float64
    off : float
        Error bound of each number.
    """
    ascending = np.sort(worth, axis=1)
    leads = ascending[:, -1] - ascending[:, -2] > 2.0 * off
    return np.where(leads, 1 + np.argmax(worth, axis=1), 0)


def _comebacks(chain: Chain, wins: list[Mask], below: list[Mask]) -> Certified:
    """The probability that the winner's chance was low once."""
    total = off = 0.0
    # wins of a player, minus those in which the chance was never low
    for won, low in zip(wins, below, strict=True):
        values, bounds = chain.chance_of_end(won)
        total, off = total + values[0], off + bounds[0]
        if not low[0]:
            values, bounds = chain.chance_of_end(won, goes_on=~chain.of_next(low, True))
            total, off = total - values[0], off + bounds[0]
    return Certified(max(float(total), 0.0), float(off) + 2.0**-50)


def _decided(chain: Chain, wins: list[Mask], above: list[Mask], won: float) -> Turns | None:
    """Find the turn from which on the winner's chance stays high; None if nobody ever wins.

    A player's chance becomes high where play enters the positions with a high chance; it stays high
    if the player wins without leaving them again. `won` is the share of games without a draw.
    """
    if not np.any(wins):
        return None
    at_once, watch = 0.0, np.zeros(chain.graph.n_states)
    # the chance of a move to enter the high positions for the last time, for each player
    for wins_so, high in zip(wins, above, strict=True):
        stays, _ = chain.chance_of_end(wins_so, goes_on=chain.of_next(high, False))
        entered = np.where(wins_so, 1.0, chain.of_next(np.where(high, stays, 0.0)))
        watch += np.where(high, 0.0, chain.mean(entered))
        at_once += stays[0] if high[0] else 0.0
    followed = lengths(chain.graph, Policy("", np.ones(chain.graph.n_states)), watch=watch)
    turn = followed.watched.copy()
    turn[0] = at_once
    return Turns(turn, max(won - float(turn.sum()), 0.0) if followed.is_cut else 0.0)


def _lead_changes(chain: Chain, lead: NDArray[np.int64]) -> Certified:
    """The expected number of lead changes: play on copies, by the last leader (0 for none).

    Parameters
    ----------
    lead : (n_states,) int64
        The seat that is likeliest to win, from 1; 0 for equal chances.
    """
    graph, many = chain.graph, 1 + chain.source.players
    then = chain.of_next(lead, _leader(chain.payoffs, 0.0))
    changes, targets = list[Floats](), list[NDArray[np.int64]]()
    # copy k of the states: seat k led last, or none
    for last in range(many):
        after = np.where(then == 0, last, then)
        changes.append(chain.mean(((after != last) & (last > 0)).astype(float)))
        targets.append(after)
    # the graph of copies begins with the copy of the start, and the others follow in turn
    begin = int(lead[0])
    copies = copied(graph, targets, begin)
    whose = np.tile(chain.number, many), np.tile(chain.seat, many)
    several = Chain(chain.source, chain.policies, copies, *whose)
    return several.total(np.concatenate([changes[(begin + k) % many] for k in range(many)]))
