"""Rules of thumb of games with a pool of dice that are too large for one graph.

A rule has two preferences: one for the kept dice while rolls are left, one for the action after the
last throw. Each is a sum of features with whole factors. The loss of a rule is a sum over its
positions: the loss of one turn by the rule before optimal play. The search simulates games by one
rule and keeps their positions as a sample. It computes the loss of every tried rule on the turns of
this sample; only the sample is random. It simulates new games after a few more features. At the end
the worth of the best rules is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.thumb.frontier import Frontier, Met, RuleOfThumb, found_on, search_all
from rollwise.analysis.thumb.search import NUMBERS, Field, Limits, Map, longer, with_form
from rollwise.analysis.thumb.turns import (
    NUMBER,
    POINTS,
    Says,
    TurnPositions,
    one_position,
    worth_by_layers,
)
from rollwise.answer.solution import Solution
from rollwise.builders.layer_rules import block_from, layer_of
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import expanded
from rollwise.cluster.pool import Pool
from rollwise.game import Game
from rollwise.games import Sheet
from rollwise.graph import ROLLS_LEFT, StateGraph, sign_of, unit_of
from rollwise.thumb.language import Clause, Condition, Feature, Form, Preference, Rule
from rollwise.thumb.sentences import sentence_of

GAMES = 60  # of a sample
FINAL_GAMES = 150  # of the sample for the last improvements
SECONDS_A_RULE, SECONDS_AN_OUTCOME = 2.5e-2, 8e-8  # measured on two cores
RENEWED = 4  # rules changed between samples
# The best rule with at most so many integers is certified.
CERTIFIED = (1, 2, 3, 4, 6, 8, 12, 16, 20, 25, 30, 40, 60)
KEEP_WHEN = Condition(Form(((1, Feature(ROLLS_LEFT)),)), True, 1)

Progress = Callable[[str, int, "int | None"], None]


def _rule(kept: Preference, filled: Preference) -> Rule:
    return Rule((Clause(KEEP_WHEN, kept), Clause(None, filled)))


def _of(name: str) -> Preference:
    return Preference((Form(((1, Feature(name)),)),))


class Sample:
    """A sample of positions from games by one rule, for the turn losses of other rules."""

    def __init__(self, game: Game, answer: Solution, rule: Rule, games: int, seed: int):
        self._sign, self._unit = float(sign_of(game.objective)), unit_of(answer)
        rules = Rules(game)
        rows, self._times = _played(rules, rule, games, seed)
        self.positions, positions = _turns_of(rules, rows)
        target = self.positions.layer.blocks[0][1].target
        # only positions after a turn need values: those of the answer
        after = np.unique(target[target < len(positions)])
        values = np.zeros(len(positions))
        values[after] = self._sign * answer.values[answer.numbers_of(positions[after])]
        self._next = values[:, None]
        self._best = self._sign * answer.values[answer.numbers_of(rows)]
        self._times = self._times / games
        # rules that keep alike share the kept dice, which take most of the time
        self._kept_by = lru_cache(8)(lambda clause: self.positions.kept_by(Rule((clause,))))

    def loss(self, rule: Rule) -> float:
        """The estimated loss of a rule in a game: a win probability, or points."""
        says = Says(*self._kept_by(rule.clauses[0]), *self.positions.filled_by(rule))
        worth = self.positions.worth(says, self._next).mean(axis=1)
        return self._unit * float(np.sum(self._times * (self._best - worth)))


def _turns_of(rules: Rules, rows: NDArray[np.int32]) -> tuple[TurnPositions, NDArray[np.int32]]:
    """Some positions, and the positions at all places."""
    arrays, positions = expanded(rules, rows)
    n, blocks = len(rows), [(0, block_from(arrays))]
    layer = layer_of(rules, arrays, blocks, n, len(positions) - n)
    return TurnPositions(rules, layer, arrays.action_label, rows), positions


def _played(
    rules: Rules, rule: Rule, games: int, seed: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The different positions in games by a rule, with their numbers of visits."""
    random = np.random.default_rng(seed)
    rows = np.array([rules.layout.numbers(rules.start)], np.int32)
    times = np.array([games])
    parts, counts = [rows], [times]
    # all games of a turn together, by their different positions
    while True:
        here, positions = _turns_of(rules, rows)
        after = here.played(here.says(rule), times, random)
        after = after[after < len(positions)]
        if not len(after):
            break
        places, times = np.unique(after, return_counts=True)
        rows = np.ascontiguousarray(positions[places])
        parts.append(rows)
        counts.append(times)
    # each position once
    different, index = np.unique(np.concatenate(parts), axis=0, return_inverse=True)
    visits = np.bincount(index.reshape(-1), np.concatenate(counts)).astype(np.float64)
    return np.ascontiguousarray(different, np.int32), visits


def _shorter(deed: Preference) -> list[Preference]:
    """Preferences with one feature less."""
    terms = {feature: number for number, feature in deed.forms[0].terms}
    return [with_form(deed, 0, terms | {f: 0}) for f in terms] if len(terms) > 1 else []


class OnTurns(Field):
    """A game with a pool of dice and sampled turns.

    Parameters
    ----------
    answer : Solution
        The values of all its positions.
    seed : int
    """

    first_share, width = 0.7, 1

    def __init__(self, answer: Solution, seed: int) -> None:
        super().__init__({})
        self._answer, self._seed, self._samples, self._taken_up = answer, seed, 0, 0
        self._first = _rule(_of(NUMBER), _of(POINTS))
        self._renew(self._first, GAMES)
        outcomes = len(self._sample.positions.layer.blocks[0][1].target)
        self.seconds_a_rule = SECONDS_A_RULE + SECONDS_AN_OUTCOME * outcomes

    def starts(self, most: int) -> Iterator[list[Rule]]:
        filled = self._first.clauses[1].deed
        assert isinstance(filled, Preference)
        single = [Preference((Form(((sign, f),)),)) for f in self._features(0) for sign in (1, -1)]
        yield [self._first, *(_rule(kept, filled) for kept in single)]

    def loss(self, rule: Rule) -> float:
        return self._sample.loss(rule)

    def changes(self, rule: Rule, most: int, map_: Map) -> list[Rule]:
        kept, filled = self._deeds(rule)
        return [
            *(_rule(other, filled) for other in longer(kept, self._features(0))),
            *(_rule(kept, other) for other in longer(filled, self._features(1))),
        ]

    def renewed(self, rule: Rule | None, losses: Mapping[Rule, float]) -> bool:
        if rule is None:
            if self.phase:
                return False
            self.phase = 1
        self._taken_up += 1
        if rule is not None and self._taken_up % (RENEWED + 1):
            return False
        self._renew(
            rule or min(losses, key=lambda one: losses[one]), GAMES if rule else FINAL_GAMES
        )
        return True

    def varied(self, rule: Rule, random: np.random.Generator) -> tuple[list[Rule], Rule]:
        kept, filled = self._deeds(rule)
        rules = [_rule(other, filled) for other in _shorter(kept)]
        rules += [_rule(kept, other) for other in _shorter(filled)]
        return [], rules[int(random.integers(len(rules)))] if rules else rule

    def moved_conditions(self, _: Condition, bounds_only: bool) -> Iterator[list[Condition]]:
        yield from ()  # rolls are left, or none

    def _deeds(self, rule: Rule) -> tuple[Preference, Preference]:
        kept, filled = (clause.deed for clause in rule.clauses)
        assert isinstance(kept, Preference)
        assert isinstance(filled, Preference)
        return kept, filled

    def _renew(self, rule: Rule, games: int) -> None:
        """Play games by a rule."""
        self._samples += 1
        seed = self._seed * 1000 + self._samples
        assert self._answer.game is not None
        self._sample = Sample(self._answer.game, self._answer, rule, games, seed)

    def _features(self, part: int) -> list[Feature]:
        """Features of a preference, and their products with features of the position."""
        positions = self._sample.positions
        tables = (positions.filled if part else positions.kept).tables
        varied = [name for name, table in tables.items() if np.ptp(table)]
        names = [name for name, column in positions.told.items() if np.ptp(column)]
        products = [Feature(of_all, name, "product") for of_all in names for name in varied]
        return [Feature(POINTS if part else NUMBER), *map(Feature, varied), *products]


@dataclass(frozen=True, eq=False)
class SentAnswer:
    """An answer for another process: a rule sheet in place of the game.

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
    """One search: rules for certification, with their estimated losses."""
    answer = given.whole if isinstance(given, SentAnswer) else given
    met = found_on(OnTurns(answer, seed), limits, seed, progress)
    chosen = dict[Rule, float]()
    for most in (*(n for n in CERTIFIED if n < limits.numbers), limits.numbers):
        candidates = [pair for pair in met.rules if pair[0].numbers <= most]
        chosen |= [min(candidates, key=lambda pair: pair[1])] if candidates else []
    return met._replace(rules=tuple(chosen.items()))


def find_turn_rules(
    game: Game,
    answer: Solution,
    numbers: int = NUMBERS,
    *,
    progress: Progress | None = None,
    pool: Pool | None = None,
    **limits: Any,
) -> tuple[Frontier, StateGraph]:
    """Look for the best rules of thumb of a game with a pool of dice, turn by turn.

    Parameters
    ----------
    game : Game
    answer : Solution
    numbers, progress, pool, **limits
        As `rollwise.analysis.thumb.frontier.find_rules` takes them.

    Returns
    -------
    frontier : Frontier
    graph : StateGraph
        The turn of the start, for reading and writing rules.
    """
    wanted = Limits(numbers, **limits)
    given = answer if pool is None else SentAnswer.of(game, answer)
    met, searched = search_all(_search, given, wanted, progress, pool)
    graph = one_position(game)
    rules = list(dict.fromkeys(rule for rule, _ in met.rules))
    best, off = float(answer.values[answer.start]), float(answer.error_bounds[answer.start])
    unit, sign = unit_of(answer), float(sign_of(game.objective))
    certified = zip(rules, worth_by_layers(game, rules, progress=progress), strict=True)
    losses = [
        (rule, unit * sign * (best - worth), unit * (bound + off))
        for rule, (worth, bound) in certified
    ]
    scored_rules = list[RuleOfThumb]()
    # a rule with more integers must lose less
    for rule, loss, bound in sorted(losses, key=lambda one: (one[0].numbers, one[1])):
        if scored_rules and loss >= scored_rules[-1].loss:
            continue
        text = sentence_of(rule, graph, game.action_unit)
        scored_rules.append(RuleOfThumb(loss, (loss,), None, bound, None, rule=rule, text=text))
    ending = (met.scored, wanted.seed, searched, met.stopped)
    return Frontier(tuple(scored_rules), *ending), graph
