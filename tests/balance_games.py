"""Games played out beside the figures of `rollwise balance`: a naive twin.

Games are simulated action by action and outcome by outcome, and their events are counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.balance import QUANTILES, Balance, most_taken
from rollwise.analysis.chain import Skill
from rollwise.analysis.lengths import Turns
from rollwise.answer.references import Policies
from rollwise.graph import win_probability
from rollwise.graph.choices import fold_actions, has_choice, is_throw
from rollwise.graph.policies import Policy
from rollwise.graph.view import sign_of
from rollwise.play.games import Move, Stepper

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CERTAIN = 1e-8  # largest p * (1 - p) of a certain event: the tails of lengths aren't followed


class Sample(NamedTuple):
    """A mean over simulated games, and its standard error."""

    mean: float
    standard_error: float


class Figure(NamedTuple):
    """A figure with its error bound, beside the mean over simulated games."""

    name: str
    exact: float
    bound: float
    sample: Sample

    def off(self, games: int) -> float:
        """The distance of the mean beyond the bound, in standard errors."""
        slack = self.bound + 1e-9 * max(1.0, abs(self.exact))
        beyond = max(abs(self.sample.mean - self.exact) - slack, 0.0)
        # if all games had the same result, a figure may differ by one game
        return beyond / (self.sample.standard_error or 1 / games) if beyond else 0.0


def figures_of_games(policies: Policies, balance: Balance, games: int, seed: int) -> list[Figure]:
    """Every figure of `rollwise.analysis.balance.balance` except counts of positions."""
    return list(_Sampled(policies, balance, games, seed).figures())


class _Sampled:
    """One sample of all figures."""

    def __init__(self, policies: Policies, found: Balance, games: int, seed: int) -> None:
        self.policies, self.found, self.games = policies, found, games
        self.graph = found.solution.graph
        self.best = found.solution.policy
        self.stepper = Stepper(self.graph, np.random.default_rng(seed))

    def figures(self) -> Iterator[Figure]:
        story = _Story(self.found, self.found.sure, self.games)
        for move in self.stepper.between((self.best, self.best), self.games):
            story.add(move)
        yield from self._edge(story)
        yield from self._length(story)
        yield from self._drama(story)
        yield from self._skill()
        yield from self._rules(story)

    def _edge(self, story: _Story) -> Iterator[Figure]:
        graph, value = self.graph, self.found.value
        chance = graph.view.win_probability(value.value)
        if chance is None:
            yield Figure(graph.view.worth_name, *value, _mean(story.got))
        else:
            won = win_probability(story.got)
            sample = _mean(won, of_share=None if graph.has_draws else chance)
            yield Figure("first player wins", chance, value.bound / 2, sample)
        luck = self.found.luck
        square = _mean((story.got - value.value) ** 2)
        spread = math.sqrt(square.mean)
        error = square.standard_error / (2 * spread) if spread else square.standard_error
        yield Figure("luck", *luck, Sample(spread, error))

    def _length(self, story: _Story) -> Iterator[Figure]:
        found = self.found
        if self.graph.players == 2:
            yield Figure("turns", *found.turns, _mean(story.turn))
        yield Figure("moves", *found.moves, _mean(story.moves))
        lasts = found.lengths
        seen = {"turns": story.turn, "rolls": story.rolls, "moves": story.moves}[lasts.unit]
        for most in _quantiles(lasts):
            name = f"at most {most} {lasts.unit if most > 1 else lasts.unit[:-1]}"
            yield _share(name, float(lasts.chance[: most + 1].sum()), lasts.tail, seen <= most)
        chosen = found.decisions
        yield Figure("decisions", *chosen.in_a_game, _mean(story.choices))
        yield Figure("decisions that matter", *chosen.matter_in_a_game, _mean(story.that_matter))
        for option, taken in zip(story.options, story.taken, strict=True):
            yield Figure(f"{option.name}, in a game", option.in_a_game, lasts.tail, _mean(taken))

    def _drama(self, story: _Story) -> Iterator[Figure]:
        drama = self.found.drama
        if drama is None:
            return
        yield Figure("lead changes", *drama.lead_changes, _mean(story.lead_changes))
        won = story.got != 0
        turn = np.where(story.got > 0, *story.unsure)  # the first turn of a sure win
        decided = drama.decided
        if not decided.is_cut:
            yield Figure("decided in turn", decided.mean, 0.0, _mean(turn[won]))
        for most in _quantiles(decided):
            share = float(decided.chance[: most + 1].sum() / (decided.chance.sum() + decided.tail))
            yield _share(f"decided by turn {most}", share, 0.0, turn[won] <= most)
        yield _share("comebacks", *drama.comebacks, story.is_comeback())
        if self.graph.has_draws:
            yield _share("draws", *drama.draws, ~won)

    def _skill(self) -> Iterator[Figure]:
        skill = self.found.skill
        if skill is None:
            return
        n, columns = skill.means.shape
        pairs = {
            (i, j): self.results(skill.players[i], skill.players[j])
            for i in range(n)
            for j in range(columns)
        }
        yield Figure("share of skill", *skill.share, _common_part(pairs))
        for k in range(n - 1):
            if columns == 1:
                sample = _mean(pairs[k, 0])
            else:
                sample = _mean_of_seats(pairs[k, n - 1], pairs[n - 1, k])
            yield self._against_best(skill, k, sample)

    def _against_best(self, skill: Skill, k: int, sample: Sample) -> Figure:
        level, exact = skill.levels[k], skill.against_best[k]
        chance = self.graph.view.win_probability(exact)
        if chance is None:
            return Figure(f"{level} gets", exact, skill.error_bound, sample)
        wins = Sample(win_probability(sample.mean), sample.standard_error / 2)
        return Figure(f"{level} wins", chance, skill.error_bound / 2, wins)

    def _rules(self, story: _Story) -> Iterator[Figure]:
        graph = self.graph
        for rule in () if self.found.rules is None else self.found.rules.rules:
            policy = rule.rule.policy(graph, self.policies.game)
            if graph.players == 1:
                scale = sign_of(graph.objective) * (1.0 if graph.is_score else 0.5)
                got, best = _mean(self.results(policy, policy)), _mean(story.got)
                error = math.hypot(got.standard_error, best.standard_error)
                sample = Sample(scale * (best.mean - got.mean), abs(scale) * error)
            else:
                scale = 1.0 if graph.is_score else 0.5
                seats = self.results(policy, self.best), self.results(self.best, policy)
                got = _mean_of_seats(*seats)
                sample = Sample(-scale * got.mean, scale * got.standard_error)
            name = f"rule of {rule.numbers} integer{'' if rule.numbers == 1 else 's'} loses"
            yield Figure(name, rule.loss, rule.error_bound, sample)

    def results(self, first: Policy, second: Policy) -> Floats:
        """The first player's results in games between two policies: (n_games,) float64."""
        got = np.zeros(self.games)
        for move in self.stepper.between((first, second), self.games):
            got[move.game] += move.gained
        return got


class _Story:
    """Counts of events in games between best players."""

    def __init__(self, found: Balance, sure: float, games: int) -> None:
        solution = found.solution
        graph = solution.graph
        self.sure, self.off = sure, solution.error_bound / 2 + 1e-12
        self.chance = win_probability(solution.values)
        self.has_choice = has_choice(graph)
        at_random = fold_actions(graph, np.add, solution.regret) / np.diff(graph.action_indptr)
        self.matters = self.has_choice & (at_random > found.decisions.threshold)
        self.is_throw = is_throw(graph)
        self.is_roll = np.diff(graph.outcome_indptr) > 1
        self.got = np.zeros(games)
        self.moves, self.rolls = np.zeros(games), np.zeros(games)
        self.choices, self.that_matter = np.zeros(games), np.zeros(games)
        options = most_taken(found.decisions.options)
        self.options = sorted(options)  # by their numbers, where they are looked up
        self.taken = np.zeros((len(self.options), games))
        self.label = graph.action_label
        self.turn = np.ones(games, np.int64)
        self.lead, self.lead_changes = np.zeros(games), np.zeros(games)
        self.low, self.high = np.ones(games), np.zeros(games)  # of the first player's chances
        self.unsure = np.zeros((2, games), np.int64)  # the last turn in which each wasn't sure

    def add(self, move: Move) -> None:
        """Count a move of each game."""
        game = move.game
        of_mover = self.chance[move.state]
        chance = np.where(move.seat == 0, of_mover, 1 - of_mover)
        self.low[game] = np.minimum(self.low[game], chance)
        self.high[game] = np.maximum(self.high[game], chance)
        for seat, mine in enumerate((chance, 1 - chance)):
            unsure = game[mine < self.sure - self.off]
            self.unsure[seat, unsure] = self.turn[unsure]
        self._take_lead(game, np.where(np.abs(chance - 0.5) <= self.off, 0, np.sign(chance - 0.5)))
        self.got[game] += move.gained
        self.moves[game] += ~self.is_throw[move.action]
        self.rolls[game] += self.is_roll[move.action]
        self.choices[game] += self.has_choice[move.state]
        self.that_matter[game] += self.matters[move.state]
        self._take(move)
        self.turn[game] += move.turn_ends
        self._take_lead(game[move.is_over], np.sign(self.got[game[move.is_over]]))

    def _take(self, move: Move) -> None:
        """Count the chosen actions among the listed ones."""
        if not self.options:
            return
        numbers = np.array([option.number for option in self.options])
        label = self.label[move.action]
        index = np.searchsorted(numbers, label).clip(max=len(numbers) - 1)
        counted = self.has_choice[move.state] & (numbers[index] == label)
        self.taken[index[counted], move.game[counted]] += 1

    def _take_lead(self, game: Ints, lead: Floats) -> None:
        game, lead = game[lead != 0], lead[lead != 0]
        self.lead_changes[game] += self.lead[game] * lead < 0
        self.lead[game] = lead

    def is_comeback(self) -> NDArray[np.bool_]:
        """Whether the winner's chance had been low: (n_games,) bool."""
        least = 1 - self.sure + self.off
        winners = np.where(self.got > 0, self.low, 1 - self.high)
        return np.asarray((self.got != 0) & (winners <= least))


def _quantiles(distribution: Turns) -> list[int]:
    """The turns of the known quantiles."""
    turns = {distribution.quantile(q / 100) for q in QUANTILES}
    return sorted(turn for turn in turns if turn is not None)


def _mean(numbers: NDArray[Any], of_share: float | None = None) -> Sample:
    """The mean, with a positive error even if a rare event didn't occur."""
    n = len(numbers)
    error = float(np.std(numbers)) / math.sqrt(n)
    if of_share is not None:
        spread = of_share * (1 - of_share)
        error = max(error, math.sqrt(spread / n) if spread > CERTAIN else 0.0)
    return Sample(float(np.mean(numbers)), error)


def _share(name: str, exact: float, bound: float, seen: NDArray[np.bool_]) -> Figure:
    return Figure(name, exact, bound, _mean(seen, of_share=exact))


def _mean_of_seats(first: Floats, second: Floats) -> Sample:
    """The result of a player over games as first mover and games as second mover."""
    one, two = _mean(first), _mean(second)
    error = math.hypot(one.standard_error, two.standard_error) / 2
    return Sample((one.mean - two.mean) / 2, error)


def _common_part(pairs: dict[tuple[int, int], Floats]) -> Sample:
    """The share of the variance common to two games of the same pair."""
    one, two = (
        np.concatenate([got[half::2][: len(got) // 2] for got in pairs.values()]) for half in (0, 1)
    )
    middle = (one.mean() + two.mean()) / 2
    whole = ((one - middle) ** 2 + (two - middle) ** 2) / 2
    common = (one - middle) * (two - middle)
    share = float(common.mean() / whole.mean())
    error = _mean(common - share * whole).standard_error / float(whole.mean())
    return Sample(share, error)
