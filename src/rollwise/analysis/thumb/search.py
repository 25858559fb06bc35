"""The search for rules of thumb: for each number of integers, the rule with the smallest loss.

One loop serves every game. It keeps the best few rules of each number. Its *field* offers changes
of a rule: `rollwise.analysis.thumb.clauses` for a game on one graph,
`rollwise.analysis.thumb.turn_search` for sampled turns. The loop changes one of the kept rules and
scores the results. Then it moves the numbers of the best results as long as their losses fall. When
all kept rules have been changed, it removes random parts of rules and adds other parts. The search
ends early in a small game, when no new rule is found.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rollwise.errors import UsageError, argument
from rollwise.machine.switches import is_on
from rollwise.numbers.given import whole_number
from rollwise.thumb.language import Clause, Condition, Feature, Form, Preference, Rule, form_of

WIDTH = 4  # kept rules of each number
IMPROVED = 3  # improved rules of each number
HOPEFUL = 2.0  # rules with a loss above this multiple of the least loss aren't improved
STEPS = (1, -1, 4, -4, 16, -16)  # moves of bounds
FACTOR_STEPS = (1, -1, 2, -2, 5, -5)  # moves of factors in preferences
BESIDE = (0, 1, -1, 3, -3)  # moves of a bound after a change of a factor
MOST_TIMES = 12  # the largest factor in a condition
MOST_FACTOR = 60  # the largest factor in a preference
LADDER = (2, 8, -2, -8)  # factors of a new feature in a preference
SCALE = 4  # the least size of the largest factor beside a new feature
LONGEST = 3  # forms of a preference
LEAST_NAMED = 10  # the least parameter in the place of a bound
MOST_ROUNDS = 20  # of moving all numbers of a rule
DIGITS = 9  # decimals of a loss
CORES = 2
MOST_IN_VAIN = 100  # the search ends after so many random changes without a new rule

NUMBERS = 4
SECONDS = 30.0  # of each search, as estimated
MOST_SEARCHES = 10_000
NO_LOSS = 1e-8  # rounding

Progress = Callable[[str, int, "int | None"], None]
Map = Callable[..., Iterator[Any]]


@dataclass(frozen=True)
class Limits:
    """The limits of searches for rules.

    Attributes
    ----------
    numbers : int
        The most integers that a rule may have.
    within : float, optional
        An acceptable loss: after a rule with at most this loss, a search only looks for rules with
        fewer integers.
    seconds : float
        The typical duration of a search, from which the number of scored rules is estimated. No
        clock is read: the same seed finds the same rules.
    evaluations : int, optional
        Each search ends after so many scored rules.
    seed : int
    searches : int
        The number of searches. The first one has this seed, the others have seeds derived from it.

    Raises
    ------
    UsageError
        A number is out of range.
    """

    numbers: int = NUMBERS
    within: float | None = None
    seconds: float = SECONDS
    evaluations: int | None = None
    seed: int = 1
    searches: int = 1

    def __post_init__(self) -> None:
        for name, number in (("numbers", self.numbers), ("evaluations", self.evaluations)):
            if number is not None:
                whole_number(name, number, 1)
        if not self.seconds > 0:
            raise UsageError(f"seconds is {self.seconds}; it must be more than 0")
        if self.within is not None and not self.within >= 0:
            raise UsageError(f"{argument('within')} is {self.within}; it can't be less than 0")
        whole_number("searches", self.searches, 1, MOST_SEARCHES)

    @property
    def enough(self) -> float:
        """The acceptable loss; without one a loss that is no more than rounding."""
        return max(self.within or 0.0, NO_LOSS)


class Field(ABC):
    """A game for the search.

    Attributes
    ----------
    phase : int
        Each rule is changed once in each phase.
    first_share : float
        The largest share of the scored rules before phase 1.
    width : int
        Number of kept rules of each number.
    is_small : bool
        Whether handing a task to another thread takes longer than the task.
    seconds_a_rule : float
        The typical time to propose and score a rule, estimated from the size of the game.
    """

    seconds_a_rule: float

    phase, first_share, width, is_small = 0, 1 / 3, WIDTH, False

    def __init__(self, parameters: Mapping[str, int]) -> None:
        self.parameters = parameters
        largest = max(parameters, key=lambda name: parameters[name], default="")
        has_number = parameters.get(largest, 0) >= LEAST_NAMED
        self._named = {parameters[largest]: largest} if has_number else {}

    @abstractmethod
    def starts(self, most: int) -> Iterator[list[Rule]]:
        """Lists of first rules; those with more than `most` integers may be missing.

        More lists are used, up to one that lowers the least loss, if all rules of the first list
        or all changes of a rule play endlessly.
        """

    @abstractmethod
    def loss(self, rule: Rule) -> float:
        """The loss of a rule; infinity for endless play. Called by several threads."""

    @abstractmethod
    def changes(self, rule: Rule, most: int, map_: Map) -> list[Rule]:
        """The most promising rules with one part changed, and at most `most` integers."""

    def shortened(self, rule: Rule) -> Rule:
        """The rule without clauses that never decide, and actions in place of preferences."""
        return rule

    @abstractmethod
    def renewed(self, rule: Rule | None, losses: Mapping[Rule, float]) -> bool:
        """Whether losses or changes differ from now on.

        Parameters
        ----------
        rule : Rule or None
            The next rule to change; None after the last.
        losses : mapping of float
            The losses of all scored rules.
        """

    @abstractmethod
    def varied(self, rule: Rule, random: np.random.Generator) -> tuple[list[Rule], Rule]:
        """Random rules with other numbers, and a random shorter rule."""

    def condition(self, form: Form, at_least: bool, level: int) -> Condition:
        """A condition; its bound may become the name of a parameter."""
        # "three times the turn and the bank make the target" has no number but the three
        named = form.numbers > 0 and level in self._named and form.is_sum
        return Condition(form, at_least, self._named[level] if named else level)

    def moves(self, rule: Rule, bounds_only: bool) -> Iterator[list[Rule]]:
        """For each number of a rule, the rules with this number moved."""
        for k, clause in enumerate(rule.clauses):
            if clause.condition is not None:
                for conditions in self.moved_conditions(clause.condition, bounds_only):
                    yield [_with(rule, k, replace(clause, condition=c)) for c in conditions]
            if isinstance(clause.deed, Preference) and not bounds_only:
                for deeds in _moved_preferences(clause.deed):
                    yield [_with(rule, k, replace(clause, deed=deed)) for deed in deeds]

    def moved_conditions(
        self, condition: Condition, bounds_only: bool
    ) -> Iterator[list[Condition]]:
        """The condition with another bound, or another factor of its first feature."""
        form, level = condition.form, condition.level(self.parameters)
        steps = STEPS[:2] if bounds_only else STEPS
        yield [self.condition(form, condition.at_least, level + step) for step in steps]
        lead, feature = form.terms[0]
        if lead == 1 or bounds_only:
            return
        moved = []
        for number in (lead - 1, lead + 1):
            if number <= MOST_TIMES:
                other, by = form_of({**{f: n for n, f in form.terms}, feature: number})
                # the bound moves with the factor, and is divided by the common factor of the form
                near = round(level * number / lead / by)
                moved += [self.condition(other, condition.at_least, near + off) for off in BESIDE]
        yield moved


def _with(rule: Rule, index: int, clause: Clause) -> Rule:
    return Rule((*rule.clauses[:index], clause, *rule.clauses[index + 1 :]))


def _moved_preferences(preference: Preference) -> Iterator[list[Preference]]:
    """For each factor of a preference, the preferences with this factor moved."""
    for j, form in enumerate(preference.forms):
        terms = {feature: number for number, feature in form.terms}
        for feature, number in terms.items() if len(terms) > 1 else ():
            others = [number + step for step in FACTOR_STEPS] + [2 * number, number // 2]
            yield [
                with_form(preference, j, {**terms, feature: other})
                for other in dict.fromkeys(others)
                if 0 < abs(other) <= MOST_FACTOR
            ]


def with_form(preference: Preference, index: int, terms: Mapping[Feature, int]) -> Preference:
    """A preference with another form at a place."""
    form, _ = form_of(terms)
    return Preference((*preference.forms[:index], form, *preference.forms[index + 1 :]))


def longer(preference: Preference, features: Iterable[Feature]) -> Iterator[Preference]:
    """Preferences with one more feature in the last form."""
    terms = {feature: number for number, feature in preference.forms[-1].terms}
    largest = max(map(abs, terms.values()))
    scaled = {feature: number * max(SCALE // largest, 1) for feature, number in terms.items()}
    for feature in features:
        if feature not in terms:
            for number in LADDER:
                yield with_form(preference, len(preference.forms) - 1, scaled | {feature: number})


class Search:
    """The search for rules of one game.

    Attributes
    ----------
    kept : dict of list of Rule
        The best rules of each number, the best first.
    losses : dict of float
        By rules.
    scored : int
        The number of scored rules.
    """

    def __init__(
        self, field: Field, limits: Limits, seed: int = 1, progress: Progress | None = None
    ) -> None:
        self.field, self._limits, self._most = field, limits, limits.numbers
        self.kept: dict[int, list[Rule]] = {}
        self.losses: dict[Rule, float] = {}
        self.scored, self._stopped = 0, False
        estimated = max(1, math.floor(limits.seconds / field.seconds_a_rule))
        self._evaluations = limits.evaluations or estimated
        self._taken_up: set[tuple[int, Rule]] = set()
        self._progress, self._random = progress, np.random.default_rng(seed)

    def run(self) -> None:
        """Look until enough rules are scored or no rule is new; Ctrl-C raises KeyboardInterrupt."""
        if self.field.is_small or not is_on("second-core"):
            self._map: Map = map
            self._run()
            return
        with ThreadPoolExecutor(CORES) as threads:
            self._map = threads.map
            try:
                self._run()
            except BaseException:
                self._stopped = True  # so the scoring threads end soon
                raise

    def _run(self) -> None:
        starts, in_vain = self.field.starts(self._limits.numbers), 0
        self._begin(starts)
        while self.kept and not self._over() and in_vain < MOST_IN_VAIN:
            base, scored_before = self._next(), self.scored
            every = sorted((rule for rules in self.kept.values() for rule in rules), key=self._loss)
            if self.field.renewed(base, self.losses):
                self.losses, self.kept = {}, {}
                self._keep(self._score(every))
                continue
            if base is None:
                self._vary(every)
            else:
                self._taken_up.add((self.field.phase, base))
                tried = self._score(self.field.changes(base, self._most, self._map))
                self._improve_best(tried)
                if (tried or self.field.phase) and self._least(tried) == np.inf:
                    self._begin(starts)
            in_vain = 0 if base or self.scored > scored_before else in_vain + 1
            # a rule that is good enough makes rules with as many numbers uninteresting
            good = [
                n for n, rules in self.kept.items() if self._loss(rules[0]) <= self._limits.enough
            ]
            self._most = min([self._most, *(n - 1 for n in good)])
        for best in [rules[0] for rules in self.kept.values()]:
            shorter = self.field.shortened(best)
            self.losses.setdefault(shorter, self._loss(best))
            self._keep([shorter])

    def _begin(self, starts: Iterator[list[Rule]]) -> None:
        """Keep the rules of the lists of first rules, up to a list that lowers the least loss."""
        before = self._least(self.losses)
        for rules in starts:
            self._keep(self._score(rules))
            if self._least(self.losses) < before or self._over():
                return

    def _least(self, rules: Iterable[Rule]) -> float:
        return min(map(self._loss, rules), default=np.inf)

    def _over(self, share: float = 1.0) -> bool:
        """Whether a share of the evaluations is spent."""
        return self.scored >= share * self._evaluations or self._most < 1

    def _next(self) -> Rule | None:
        """The next rule to change: the best ones first, few numbers first."""
        phase = self.field.phase
        if phase == 0 and self._over(self.field.first_share):
            return None
        # the best rules of all numbers first, then the second best ones
        for index in range(self.field.width):
            for numbers in sorted(self.kept):
                rules = self.kept[numbers]
                there = numbers <= self._most and index < len(rules)
                if there and (phase, rules[index]) not in self._taken_up:
                    return rules[index]
        return None

    def _loss(self, rule: Rule) -> float:
        return self.losses[rule]

    def _score(self, rules: Iterable[Rule]) -> list[Rule]:
        """Score new rules; return each rule with a loss once."""
        every = [rule for rule in dict.fromkeys(rules) if rule.numbers <= self._limits.numbers]
        new = [rule for rule in every if rule not in self.losses]

        def loss(rule: Rule) -> float:
            return np.nan if self._stopped else self.field.loss(rule)

        for rule, lost in zip(new, self._map(loss, new), strict=True):
            self.losses[rule] = round(lost, DIGITS)
            self.scored += 1
        if self._progress is not None:
            self._progress("rules of thumb", self.scored, None)
        return every

    def _keep(self, candidates: Iterable[Rule]) -> None:
        # rules of equal loss mostly take the same actions: one of them is kept
        for rule in candidates:
            rules, loss = self.kept.get(rule.numbers, []), self._loss(rule)
            if np.isfinite(loss) and all(self._loss(other) != loss for other in rules):
                rules = sorted([*rules, rule], key=self._loss)
                self.kept[rule.numbers] = rules[: self.field.width]

    def _improve_best(self, tried: list[Rule]) -> list[Rule]:
        """Improve the best few rules of each number, and keep them."""
        better = []
        for numbers in sorted({rule.numbers for rule in tried}):
            of_number = sorted((r for r in tried if r.numbers == numbers), key=self._loss)
            losses = [self._loss(self.kept[n][0]) for n in self.kept if 0 < n <= numbers]
            # rules with more integers have to be near the best rule with as many or fewer
            worst = HOPEFUL * min(losses, default=np.inf)
            hopeful = [rule for rule in of_number[:IMPROVED] if self._loss(rule) <= worst]
            tuned = [self._improved(rule, bounds_only=True) for rule in hopeful]
            if tuned:
                tuned.append(self._improved(min(tuned, key=self._loss)))
            self._keep(tuned)
            better += tuned
        return better

    def _improved(self, rule: Rule, *, bounds_only: bool = False) -> Rule:
        """A rule with its numbers moved as long as the loss falls."""
        for _ in range(1 if bounds_only else MOST_ROUNDS):
            before = rule
            # one number at a time, as long as its best move lowers the loss
            for index in range(len(list(self.field.moves(rule, bounds_only)))):
                while not self._over():
                    moved = list(self.field.moves(rule, bounds_only))
                    tried = self._score(moved[index]) if index < len(moved) else []
                    tried = [other for other in tried if other.numbers <= rule.numbers]
                    best = min(tried, key=self._loss, default=rule)
                    if self._loss(best) >= self._loss(rule):
                        break
                    rule = best
            if rule is before:
                break
        return rule

    def _vary(self, every: Sequence[Rule]) -> None:
        """Change rules at random; remove parts of a rule and rebuild it.

        A new part suits the remaining parts, not the removed ones. Thus two parts that are good
        only together can both change.
        """
        rules = [rule for rule in every if 0 < rule.numbers <= self._most] or every
        base = rules[int(self._random.integers(len(rules)))]
        others, rule = self.field.varied(base, self._random)
        self._keep([self._improved(other) for other in self._score(others)])
        # add clauses until the rule has as many numbers as before
        while not self._over():
            changed = self.field.changes(rule, self._most, self._map)
            limit = rule.numbers + 1
            tried = self._score(c for c in changed if rule.numbers <= c.numbers <= limit)
            better = [r for r in self._improve_best(tried) if len_of(r) > len_of(rule)]
            if not better or rule.numbers >= base.numbers:
                break
            rule = better[int(self._random.integers(len(better)))]


def len_of(rule: Rule) -> int:
    """The number of clauses and preferred features of a rule."""
    deeds = [clause.deed for clause in rule.clauses]
    forms = [form for deed in deeds if isinstance(deed, Preference) for form in deed.forms]
    return len(deeds) + sum(len(form.terms) for form in forms)
