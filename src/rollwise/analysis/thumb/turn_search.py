"""The search for rules of thumb of games with a pool of dice that are too large for one graph.

A rule has two preferences: what to keep while rolls are left, and what to do after the last
throw. Each is a sum of features with whole numbers before them. What a rule loses is the sum, over
the positions that it comes to, of what one turn by it loses if play goes on optimally from there.
So games are played by the rule, and the turns of the positions that they came to are worked out
for every rule that is tried: only which positions these are is left to chance. Features are added
one at a time, the numbers moved as long as that helps, and the games played anew. What rules are
worth is found exactly at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.thumb.frontier import (
    NUMBERS,
    SECONDS,
    Frontier,
    Limits,
    Met,
    RuleOfThumb,
    check_limits,
    search_all,
)
from rollwise.analysis.thumb.turns import (
    NUMBER,
    POINTS,
    TurnPositions,
    one_position,
    worth_by_layers,
)
from rollwise.answer.solution import Solution
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import expanded
from rollwise.cluster.pool import Pool
from rollwise.game import Game
from rollwise.games import Sheet
from rollwise.graph import ROLLS_LEFT, StateGraph, sign_of
from rollwise.kernels.turn_rules import Says
from rollwise.machine.switches import is_on
from rollwise.numbers.randomness import stream
from rollwise.thumb.language import Clause, Condition, Feature, Form, Preference, Rule, form_of
from rollwise.thumb.sentences import sentence_of

GAMES = 60  # of a sample
FINAL_GAMES = 150  # of the sample by which the last rule is improved
LADDER = (2, 8, -2, -8)  # numbers that a feature is tried with
STEPS = (1, -1, 2, -2, 5, -5)  # by which numbers are moved
MOST_NUMBER = 60
SCALE = 4  # of the first feature of what is kept: others may count less
RENEWED = 4  # features that are added between samples
LEAST = 1e-4  # points that an improvement is worth
ROUNDS = 4  # of moving all numbers
CERTIFIED = (1, 2, 3, 4, 6, 8, 12, 16, 20, 25, 30, 40, 60)  # integers whose rules are certified
KEEP_WHEN = Condition(Form(((1, Feature(ROLLS_LEFT)),)), True, 1)

Terms = Mapping[str, int]
Progress = Callable[[str, int, "int | None"], None]


@dataclass(frozen=True)
class Found:
    """A rule: the numbers before features of what is kept, and of what is filled."""

    keep: tuple[tuple[str, int], ...]
    fill: tuple[tuple[str, int], ...]

    @property
    def rule(self) -> Rule:
        """As it is written."""
        kept, filled = (
            Preference((form_of({_feature(name): number for name, number in terms})[0],))
            for terms in (self.keep, self.fill)
        )
        return Rule((Clause(KEEP_WHEN, kept), Clause(None, filled)))

    def changed(self, part: str, name: str, number: int) -> Found | None:
        """With another number before a feature; None where nothing would be left."""
        terms = {**dict(getattr(self, part)), name: number}
        left = tuple(sorted((name, number) for name, number in terms.items() if number))
        if not left:
            return None
        return Found(left, self.fill) if part == "keep" else Found(self.keep, left)


class Sample:
    """Positions that games by a rule came to, and what a turn by another rule loses there."""

    def __init__(self, game: Game, answer: Solution, rule: Rule, games: int, seed: int):
        self._sign = float(sign_of(game.objective))
        rules = Rules(game)
        rows, self._times = _played(rules, rule, games, seed)
        arrays, known = expanded(rules, rows)
        self.positions = TurnPositions(rules, arrays, rows)
        values = np.zeros(len(known))
        after = np.unique(arrays.outcome_state[arrays.outcome_state >= 0])
        values[after] = answer.values[answer.numbers_of(known[after])]
        self._next, self._nothing = values, np.zeros(len(known))
        self._best = answer.values[answer.numbers_of(rows)]
        self._times = self._times / games
        self._kept: dict[object, tuple[NDArray[np.int32], NDArray[np.int32]]] = {}

    def loss(self, found: Found) -> float:
        """Points that a rule loses in a game, estimated."""
        rule = found.rule
        kept = self._kept.get(found.keep)
        if kept is None:
            kept = self.positions.kept_by(rule)
            if len(self._kept) > 8:
                self._kept.clear()
            self._kept[found.keep] = kept
        says = Says(*kept, *self.positions.filled_by(rule))
        worth, _ = self.positions.values(says, self._next, self._nothing)
        return float(np.sum(self._times * self._sign * (self._best - worth)))


def _played(
    rules: Rules, rule: Rule, games: int, seed: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The positions that games by a rule came to, and how often: the start first."""
    words = stream(seed, 0)
    rows = np.array([rules.layout.numbers(rules.start)], np.int32)
    times = np.array([games])
    parts, counts = [rows], [times]
    while True:
        arrays, known = expanded(rules, rows)
        here = TurnPositions(rules, arrays, rows)
        says = here.says(rule)
        went = list[NDArray[np.int32]]()
        for turn in range(int(times.max())):
            went.append(here.played(says, words)[times > turn])
        after = np.concatenate(went)
        after = after[after >= 0]
        if not len(after):
            break
        places, times = np.unique(after, return_counts=True)
        rows = np.ascontiguousarray(known[places])
        parts.append(rows)
        counts.append(times)
    # each position once
    different, place = np.unique(np.concatenate(parts), axis=0, return_inverse=True)
    found = np.bincount(place.reshape(-1), np.concatenate(counts)).astype(np.float64)
    return np.ascontiguousarray(different, np.int32), found


def _feature(name: str) -> Feature:
    """A feature by its text, such as ``left*total``."""
    first, _, second = name.partition("*")
    return Feature(first, second, "product") if second else Feature(first)


class TurnSearch:
    """Looks for the rules of one game.

    Parameters
    ----------
    game : Game
    answer : Solution
        The values of all its positions.
    limits : Limits
    seed : int
    progress : callable or None
    """

    def __init__(
        self,
        game: Game,
        answer: Solution,
        limits: Limits,
        seed: int,
        progress: Progress | None,
    ) -> None:
        self._game, self._answer, self._most, self._seed = game, answer, limits.numbers, seed
        self._enough, self._evaluations = limits.enough, limits.evaluations
        self._progress = progress
        self._deadline = time.monotonic() + limits.seconds
        self.scored, self.timed_out, self._samples = 0, False, 0
        self.best: dict[int, tuple[float, Found]] = {}
        self._losses: dict[Found, float] = {}

    def run(self) -> None:
        """Look until the time is over, or nothing helps any more."""
        with ThreadPoolExecutor(2 if is_on("second-core") else 1) as threads:
            self._threads = threads
            try:
                self._run()
            except BaseException:
                self._deadline = 0.0
                raise

    def _run(self) -> None:
        current = Found(((NUMBER, SCALE),), ((POINTS, 1),))
        self._renew(current, GAMES)
        self._note(current)
        singles = [
            found
            for name in self._names("keep")
            for sign in (SCALE, -SCALE)
            if (found := Found(((name, sign),), current.fill))
        ]
        current = self._best_of(singles) or current
        added = 0
        while not self._over():
            self._note(current)
            longer = self._best_of(self._longer(current))
            if longer is None or self._losses[longer] > self._losses[current] - LEAST:
                break
            added += 1
            current = self._improved(longer, 1)
            self._note(current)
            if added % RENEWED == 0:
                self._renew(current, GAMES)
                current = self._improved(current, 1)
        self._renew(current, FINAL_GAMES)
        current = self._improved(current, ROUNDS)
        self._note(current)
        while not self._over():
            before = self._losses[current]
            current = self._exchanged(current)
            self._note(current)
            if self._losses[current] > before - LEAST:
                break

    def _note(self, found: Found) -> None:
        numbers = found.rule.numbers
        if numbers <= self._most:
            self.best[numbers] = (self._losses.get(found, np.inf), found)

    def _renew(self, current: Found, games: int) -> None:
        """Play games by a rule, and forget what was estimated by others."""
        self._samples += 1
        seed = self._seed * 1000 + self._samples
        self._sample = Sample(self._game, self._answer, current.rule, games, seed)
        self._losses = {}
        self._scored([current])

    def _names(self, part: str) -> list[str]:
        """Features of a part, and the same multiplied with what is told of the position."""
        positions = self._sample.positions
        tables = (positions.kept if part == "keep" else positions.filled).tables
        varied = [name for name, table in tables.items() if np.ptp(table)]
        told = [name for name, column in positions.told.items() if np.ptp(column)]
        products = [f"{of_all}*{name}" for of_all in told for name in varied]
        return [NUMBER if part == "keep" else POINTS, *varied, *products]

    def _scored(self, rules: list[Found]) -> list[Found]:
        new = [found for found in dict.fromkeys(rules) if found not in self._losses]
        for found, loss in zip(new, self._threads.map(self._loss, new), strict=True):
            if np.isfinite(loss):
                self._losses[found] = loss
                self.scored += 1
        if self._progress is not None:
            self._progress("rules of thumb", self.scored, None)
        return [found for found in rules if found in self._losses]

    def _loss(self, found: Found) -> float:
        # how many are scored mustn't depend on threads
        return np.inf if self._losses and self._is_late() else self._sample.loss(found)

    def _best_of(self, rules: list[Found]) -> Found | None:
        scored = self._scored([rule for rule in rules if rule.rule.numbers <= self._most])
        return min(scored, key=lambda found: self._losses[found], default=None)

    def _longer(self, current: Found) -> list[Found]:
        found = list[Found | None]()
        for part in ("keep", "fill"):
            there = dict(getattr(current, part))
            for name in self._names(part):
                if name not in there:
                    found += [current.changed(part, name, number) for number in LADDER]
        return [rule for rule in found if rule is not None]

    def _moves(self, current: Found) -> Iterator[list[Found]]:
        """For each feature the rules in which its number is moved."""
        for part in ("keep", "fill"):
            terms = getattr(current, part)
            for name, number in terms:
                moved = [number + step for step in STEPS] + [2 * number, number // 2]
                rules = [
                    current.changed(part, name, other)
                    for other in dict.fromkeys(moved)
                    if 0 < abs(other) <= MOST_NUMBER
                ]
                yield [rule for rule in rules if rule is not None]

    def _improved(self, current: Found, rounds: int) -> Found:
        """With each number moved as long as that helps."""
        for _ in range(rounds):
            before = self._losses[current]
            for place in range(len(current.keep) + len(current.fill)):
                while not self._over():
                    moved = list(self._moves(current))
                    if place >= len(moved):
                        break
                    better = self._best_of(moved[place])
                    if better is None or self._losses[better] > self._losses[current] - LEAST:
                        break
                    current = better
            if self._losses[current] > before - LEAST:
                break
        return current

    def _exchanged(self, current: Found) -> Found:
        """With a feature left out that is worth least, and the best other one in its place."""
        shorter = [
            rule
            for part in ("keep", "fill")
            for name, _ in getattr(current, part)
            if (rule := current.changed(part, name, 0)) is not None
        ]
        left = self._best_of(shorter)
        if left is None:
            return current
        other = self._best_of(self._longer(left))
        if other is None:
            return current
        other = self._improved(other, 1)
        return other if self._losses[other] < self._losses[current] else self._improved(current, 1)

    def _is_late(self) -> bool:
        late = time.monotonic() >= self._deadline
        self.timed_out = self.timed_out or late
        return late

    def _over(self) -> bool:
        late = self._is_late()
        spent = self._evaluations is not None and self.scored >= self._evaluations
        least = min((loss for loss, _ in self.best.values()), default=np.inf)
        return late or spent or least <= self._enough

    def frontier(self) -> list[tuple[Rule, float]]:
        """The rules to be certified, by their integers, with the estimates of their losses."""
        chosen = dict[Found, float]()
        for most in (*(n for n in CERTIFIED if n < self._most), self._most):
            known = [pair for number, pair in self.best.items() if number <= most]
            if known:
                loss, best = min(known, key=lambda pair: pair[0])
                chosen[best] = loss
        return [(found.rule, loss) for found, loss in chosen.items()]


@dataclass(frozen=True, eq=False)
class SentAnswer:
    """An answer as it travels to another process: without its game, whose rules are no data.

    Attributes
    ----------
    sheet : Sheet
    parameters : dict
    answer : Solution
    """

    sheet: Sheet
    parameters: Mapping[str, Any]
    answer: Solution

    @classmethod
    def of(cls, game: Game, answer: Solution) -> SentAnswer:
        """An answer, without its game."""
        return cls(Sheet.of(type(game)), dict(game.parameters), _of_game(None, answer))

    @property
    def whole(self) -> Solution:
        """The answer, with its game."""
        return _of_game(self.sheet.kind(**self.parameters), self.answer)


def _of_game(game: Game | None, answer: Solution) -> Solution:
    space: Any = answer.space
    return replace(answer, game=game, space=replace(space, game=game))


def _search(
    given: Solution | SentAnswer, limits: Limits, seed: int, progress: Progress | None = None
) -> Met:
    """One search: rules to be certified, with what each is estimated to lose."""
    answer = given.whole if isinstance(given, SentAnswer) else given
    assert answer.game is not None
    search = TurnSearch(answer.game, answer, limits, seed, progress)
    stopped = False
    try:
        search.run()
    except KeyboardInterrupt:
        stopped = True
    return Met(tuple(search.frontier()), search.scored, stopped, search.timed_out)


def find_turn_rules(
    game: Game,
    answer: Solution,
    numbers: int = NUMBERS,
    *,
    within: float | None = None,
    seconds: float = SECONDS,
    evaluations: int | None = None,
    seed: int = 1,
    searches: int = 1,
    progress: Progress | None = None,
    pool: Pool | None = None,
) -> tuple[Frontier, StateGraph]:
    """Look for the best rules of thumb of a game with a pool of dice, turn by turn.

    Parameters
    ----------
    game : Game
    answer : Solution
    numbers, within, seconds, evaluations, seed, searches, progress, pool
        As `rollwise.analysis.thumb.frontier.find_rules` takes them.

    Returns
    -------
    frontier : Frontier
    graph : StateGraph
        The turn of the start: by it the rules are written and read.
    """
    check_limits(numbers, within, seconds, evaluations, searches)
    limits = Limits(
        numbers, within or 0.0, seconds if evaluations is None else float("inf"), evaluations
    )
    given = answer if pool is None else SentAnswer.of(game, answer)
    met, searched = search_all(_search, given, limits, seed, searches, progress, pool)
    graph = one_position(game)
    rules = list(dict.fromkeys(rule for rule, _ in met.rules))
    best, off = float(answer.values[answer.start]), float(answer.error_bounds[answer.start])
    sign = float(sign_of(game.objective))
    certified = zip(rules, worth_by_layers(game, rules, progress=progress), strict=True)
    losses = [(rule, sign * (best - worth), bound + off) for rule, (worth, bound) in certified]
    found = list[RuleOfThumb]()
    for rule, loss, bound in sorted(losses, key=lambda one: (one[0].numbers, one[1])):
        if found and loss >= found[-1].loss:
            continue
        text = sentence_of(rule, graph, game.action_unit)
        found.append(RuleOfThumb(rule, text, loss, loss, None, None, bound, None))
    told = (met.scored, seed, searched, met.stopped, met.timed_out)
    return Frontier(tuple(found), *told), graph
