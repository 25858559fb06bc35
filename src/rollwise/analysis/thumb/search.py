"""The search for rules of thumb: for each number of integers, the rule that loses least.

The best few rules of each number are kept. One of them is taken up, and changed in every way that
adds or replaces a clause: any form, any bound, either action. What these changes gain is estimated
by where play comes by and what actions are worth there (`score`). The most promising are scored
exactly. Of those the best are improved by moving their numbers. When all that are kept have been
taken up, some of their numbers are changed at random. A small game has so few rules that this ends
when no new one is found.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.thumb.forms import changed_forms, forms_of, preferred_forms
from rollwise.analysis.thumb.score import Scorer, Taken
from rollwise.kernels.following import tally
from rollwise.recursion.following import Memory
from rollwise.thumb.language import (
    Clause,
    Column,
    Condition,
    Form,
    Preference,
    Rule,
    form_of,
    whole_parameters,
)

WIDTH = 4  # rules of each number that are kept
LIKELY = 400  # changes to a rule that are looked at, for each kind of form
PROMISING = 10  # changes to a rule that are scored, for each number of integers
IMPROVED = 3  # of these, how many are improved
PREFERRED = 3  # preferences that are made longer at a time
PREFERRING = 1 / 3  # of the time, for preferences alone
MOST_PREFERRED = 5  # of each number of integers, that clauses may say
LONGEST = 3  # forms of a preference
MOST_USUAL = 14  # deeds that are tried in new clauses
MOST_KEPT = 96  # forms whose values are kept
MOST_BINS = 1 << 16
REST = 0.01  # the share of what could be gained that estimates may leave out
STEPS = (1, -1, 4, -4)  # by which bounds are moved
MOST_ROUNDS = 20  # of moving all numbers of a rule
NEAR = 1.2  # times the loss of a rule: what another may lose, to be worth improving
HOPEFUL = 2.0  # times the least loss known: the same, for a rule that was just found
MOST_TIMES = 12  # what people multiply by
LEAST_NAMED = 10  # of a parameter that stands in the place of a bound
DIGITS = 9  # of a loss that count
MOST_IN_VAIN = 100  # rounds of random changes without one new rule, after which all are found
CORES = 2
Progress = Callable[[str, int, "int | None"], None]


@dataclass(frozen=True)
class Found:
    """A rule and what it loses.

    Attributes
    ----------
    conditions : tuple of Condition
    deeds : tuple of int
        What is done under each, and at last where none holds: places in the scorer's `deeds`.
    numbers : int
        See `rollwise.thumb.language.Rule`.
    """

    conditions: tuple[Condition, ...]
    deeds: tuple[int, ...]
    numbers: int
    loss: float = np.inf

    @property
    def key(self) -> tuple[object, ...]:
        return self.conditions, self.deeds


class Search:
    """Looks for rules of one game.

    Parameters
    ----------
    scorer : Scorer
    most : int
        How many numbers a rule may have.
    enough : float
        The loss that is small enough: rules with more numbers than one that loses no more
        aren't looked for.
    seconds : float
        When it stops.
    evaluations : int, optional
        After so many scored rules it stops, too. Then the same seed gives the same rules.
    seed : int

    Attributes
    ----------
    kept : dict of list of Found
        The best rules of each number, the best first.
    timed_out : bool
        Whether the clock cut anything short: another run may then find other rules.
    """

    def __init__(
        self,
        scorer: Scorer,
        most: int,
        *,
        enough: float = 0.0,
        seconds: float = np.inf,
        evaluations: int | None = None,
        seed: int = 1,
        progress: Progress | None = None,
    ) -> None:
        self.scorer, self.most, self.enough = scorer, most, enough
        self.kept: dict[int, list[Found]] = {}
        self.timed_out = False
        now = time.monotonic()
        self._deadline, self._preferring = now + seconds, now + PREFERRING * seconds
        self._preferences_scored: dict[Preference, float] = {}
        self._evaluations, self._progress = evaluations, progress
        self._random = np.random.default_rng(seed)
        self._forms = forms_of(scorer.columns)
        self._values: OrderedDict[Form, Column] = OrderedDict()
        self._losses: dict[tuple[object, ...], float] = {}
        self._taken_up: set[tuple[object, ...]] = set()
        parameters = whole_parameters(scorer.graph)
        largest = max(parameters, key=lambda name: parameters[name], default=None)
        self._parameters = parameters
        told = largest is not None and parameters[largest] >= LEAST_NAMED
        self._named = {parameters[largest]: largest} if told and largest is not None else {}
        self._memories: SimpleQueue[Memory] = SimpleQueue()
        for _ in range(CORES):
            self._memories.put(scorer.memory())

    @property
    def scored(self) -> int:
        """How many different rules were scored."""
        return len(self._losses)

    @property
    def preferred(self) -> int:
        """How many preferences were scored, before rules with conditions."""
        return len(self._preferences_scored)

    def frontier(self) -> list[Found]:
        """The best rule of each number that loses less than any with fewer numbers."""
        found, least = list[Found](), np.inf
        for numbers in sorted(self.kept):
            best = self.kept[numbers][0]
            if round(best.loss, DIGITS) < round(least, DIGITS):
                found.append(best)
                least = best.loss
        return found

    def run(self) -> None:
        """Look until the time is over or no rule is new; Ctrl-C raises KeyboardInterrupt."""
        with ThreadPoolExecutor(CORES) as threads:
            try:
                self._run(threads)
            except BaseException:
                self._deadline = self._preferring = 0.0  # what is being scored ends soon
                if not self.kept:
                    self._keep_preferences()
                raise

    def _run(self, threads: ThreadPoolExecutor) -> None:
        plain = [self._made((), (deed,)) for deed in range(len(self.scorer.deeds))]
        plain += self._preferences(threads)
        scored = sorted(threads.map(self._scored, plain), key=lambda found: found.loss)
        for rule in scored:
            self._keep(rule)
        self._usual = sorted(rule.deeds[0] for rule in scored[:MOST_USUAL])
        if not self.kept:
            return  # with each of these play can go round for ever
        in_vain = 0
        while not self._over() and in_vain < MOST_IN_VAIN:
            base, scored_before = self._next(), self.scored
            if base is None:
                jobs = [self._shaken() for _ in range(4)]
                better = list(threads.map(self._improved, jobs))
            else:
                self._taken_up.add(base.key)
                tried = list(threads.map(self._scored, self._changes(base, threads)))
                better = list(threads.map(self._improved, self._best_of(tried)))
            for rule in better:
                self._keep(rule)
            in_vain = 0 if base or self.scored > scored_before else in_vain + 1
            if self._progress is not None:
                self._progress("rules of thumb", self.scored, None)
            last = self.frontier()[-1]
            if last.loss <= self.enough:
                self.most = min(self.most, last.numbers - 1)

    def _preferences(self, threads: ThreadPoolExecutor) -> list[Found]:
        """Rules that are one preference: the best few of each number become deeds."""
        scorer = self.scorer
        if len(scorer.deeds) == 2:  # to prefer one of two actions is to name it
            return []
        single = preferred_forms(scorer.action_columns)
        losses = self._preferences_scored
        candidates = [Preference((form,)) for form in single]
        while candidates and not self._over() and not self._late(self._preferring):
            losses |= zip(candidates, threads.map(self._preferred, candidates), strict=True)
            best = sorted(losses, key=lambda deed: losses[deed])[:PREFERRED]
            changed = dict.fromkeys(other for deed in best for other in self._longer(deed, single))
            candidates = [
                deed for deed in changed if deed.numbers <= self.most and deed not in losses
            ]
        chosen = list[Preference]()
        for numbers in range(1, self.most + 1):
            of_number = sorted(
                (deed for deed in losses if deed.numbers == numbers), key=lambda deed: losses[deed]
            )
            different = {round(losses[deed], DIGITS): deed for deed in reversed(of_number)}
            chosen += [different[loss] for loss in sorted(different)[:MOST_PREFERRED]]
        return [self._made((), (scorer.add(deed),)) for deed in chosen]

    def _keep_preferences(self) -> None:
        """Keep the best preference of each number, where the search ended before any rule."""
        losses = self._preferences_scored
        ranked = sorted(losses, key=lambda deed: losses[deed], reverse=True)
        for deed in {deed.numbers: deed for deed in ranked}.values():  # the last is the best
            made = self._made((), (self.scorer.add(deed),))
            self._keep(replace(made, loss=losses[deed]))

    def _longer(self, deed: Preference, single: list[Form]) -> Iterator[Preference]:
        """Preferences with one more feature, or a number a little changed."""
        for form in changed_forms(deed.forms[-1], self.scorer.action_columns):
            yield Preference((*deed.forms[:-1], form))
        if len(deed.forms) < LONGEST:
            for form in single:
                if form not in deed.forms:
                    yield Preference((*deed.forms, form))

    def _preferred(self, preference: Preference) -> float:
        """What a preference alone loses; infinity where its time is over."""
        if self._late(self._preferring):
            return np.inf
        memory = self._memories.get()
        try:
            return self.scorer.loss(self.scorer.best(preference), memory)
        finally:
            self._memories.put(memory)

    def _made(self, conditions: tuple[Condition, ...], deeds: tuple[int, ...]) -> Found:
        """A rule that isn't scored yet."""
        numbers = sum(condition.numbers for condition in conditions)
        said = [self.scorer.deeds[deed] for deed in set(deeds)]
        numbers += sum(deed.numbers for deed in said if isinstance(deed, Preference))
        return Found(conditions, deeds, numbers)

    def _over(self) -> bool:
        spent = self._evaluations is not None and self.scored >= self._evaluations
        return spent or self.most < 1 or self._late(self._deadline)

    def _late(self, end: float) -> bool:
        late = time.monotonic() >= end
        if late:
            self.timed_out = True
        return late

    def _next(self) -> Found | None:
        """A rule that wasn't taken up yet: the best ones first, few numbers first."""
        for place in range(WIDTH):
            for numbers in sorted(self.kept):
                rules = self.kept[numbers]
                there = numbers <= self.most and place < len(rules)
                if there and rules[place].key not in self._taken_up:
                    return rules[place]
        return None

    def _keep(self, rule: Found) -> None:
        if not np.isfinite(rule.loss) or rule.numbers > self.most:
            return
        rules = self.kept.setdefault(rule.numbers, [])
        if any(round(rule.loss, DIGITS) == round(other.loss, DIGITS) for other in rules):
            return
        rules.append(rule)
        rules.sort(key=lambda found: found.loss)
        del rules[WIDTH:]

    def _best_of(self, rules: list[Found]) -> list[Found]:
        """The best few of each number, that they may be improved."""
        chosen = list[Found]()
        for numbers in sorted({rule.numbers for rule in rules}):
            of_number = [rule for rule in rules if rule.numbers == numbers]
            known = [self.kept[n][0].loss for n in self.kept if 0 < n <= numbers]
            worst = HOPEFUL * min(known, default=np.inf)
            of_number.sort(key=lambda found: found.loss)
            chosen += [rule for rule in of_number[:IMPROVED] if rule.loss <= worst]
        return chosen

    # -- scoring

    def values(self, form: Form) -> Column:
        """The values of a form in the states with a choice, kept for the next time."""
        found = self._values.get(form)
        if found is None:
            found = form.values(self.scorer.columns)
            self._values[form] = found
            if len(self._values) > MOST_KEPT:
                self._values.popitem(last=False)
        return found

    def _level(self, condition: Condition) -> int:
        return condition.level(self._parameters)

    def _holds(self, condition: Condition) -> NDArray[np.bool_]:
        values, bound = self.values(condition.form), self._level(condition)
        return values >= bound if condition.at_least else values <= bound

    def taken(self, rule: Found) -> Taken:
        """What a rule does: (n_choices,) int8."""
        places, found = self.scorer.places, self.scorer.default
        for condition, deed in zip(
            (None, *reversed(rule.conditions)), reversed(rule.deeds), strict=True
        ):
            taken = places[deed] >= 0
            if condition is not None:
                taken &= self._holds(condition)
            np.copyto(found, places[deed], where=taken)
        return found

    def _scored(self, rule: Found) -> Found:
        loss = self._losses.get(rule.key)
        if loss is None:
            memory = self._memories.get()
            try:
                loss = round(self.scorer.loss(self.taken(rule), memory), DIGITS)
            finally:
                self._memories.put(memory)
            self._losses[rule.key] = loss
        return replace(rule, loss=loss)

    def _improved(self, rule: Found) -> Found:
        """A rule with its numbers moved as long as that helps."""
        best = self._scored(rule)
        for _ in range(MOST_ROUNDS):
            before = best
            for place in range(len(best.conditions)):
                best = self._bound_moved(best, place)
                best = self._number_moved(best, place)
            if best is before or self._late(self._deadline):
                break
        return best

    def _bound_moved(self, best: Found, place: int) -> Found:
        """With the bound of one clause moved, in growing steps."""
        for step in STEPS:
            while not self._late(self._deadline):
                condition = best.conditions[place]
                level = self._level(condition) + step
                moved = self._condition(condition, condition.form, level)
                tried = self._scored(self._with(best, place, moved))
                if tried.loss >= best.loss or tried.numbers > best.numbers:
                    break
                best, step = tried, 2 * step
        return best

    def _number_moved(self, best: Found, place: int) -> Found:
        """With the number before the first feature of one clause a little changed."""
        condition = best.conditions[place]
        lead, feature = condition.form.terms[0]
        if lead == 1:
            return best
        for number in (lead - 1, lead + 1):
            if number > MOST_TIMES:
                continue
            form, by = form_of({**{f: n for n, f in condition.form.terms}, feature: number})
            level = round(self._level(condition) * number / lead / by)
            other = self._with(best, place, self._condition(condition, form, level))
            tried = self._scored(other)
            if tried.numbers <= best.numbers and tried.loss < NEAR * best.loss:
                tried = self._bound_moved(tried, place)
                if tried.loss < best.loss:
                    return tried
        return best

    def _condition(self, condition: Condition, form: Form, level: int) -> Condition:
        # "three times the turn and the bank make the target" has no number but the three
        named = form.numbers > 0 and level in self._named and form.is_sum
        return Condition(form, condition.at_least, self._named[level] if named else level)

    def _with(self, rule: Found, place: int, condition: Condition) -> Found:
        conditions = (*rule.conditions[:place], condition, *rule.conditions[place + 1 :])
        return self._made(conditions, rule.deeds)

    def _shaken(self) -> Found:
        """One of the best rules with its bounds, and perhaps a form, changed at random."""
        numbers = [n for n in sorted(self.kept) if 0 < n <= self.most]
        if not numbers:
            return self._made((), (0,))
        rules = self.kept[numbers[int(self._random.integers(len(numbers)))]]
        rule = rules[int(self._random.integers(len(rules)))]
        for place, condition in enumerate(rule.conditions):
            form = condition.form
            level = self._level(condition)
            if self._random.random() < 0.4:
                form = self._forms[int(self._random.integers(len(self._forms)))]
                values = self.values(form)
                level = int(values[int(self._random.integers(len(values)))])
            level += int(self._random.integers(-6, 7))
            rule = self._with(rule, place, self._condition(condition, form, level))
        return rule

    # -- changes, and what they are likely to gain

    def _changes(self, base: Found, threads: ThreadPoolExecutor) -> list[Found]:
        """The most promising rules that differ from one in a clause."""
        changes = list(self._places(base))
        gains = [self._gains(base, changes, weight) for weight in self._weights(base)]
        found = dict[tuple[object, ...], tuple[float, Found]]()
        for gain, offset in gains:
            for estimate, rule in self._estimated(base, changes, gain, offset, threads):
                known = found.get(rule.key)
                if known is None or known[0] < estimate:
                    found[rule.key] = (estimate, rule)
        promising = list[Found]()
        for numbers in range(1, self.most + 1):
            of_number = [pair for pair in found.values() if pair[1].numbers == numbers]
            of_number.sort(key=lambda pair: (-pair[0], str(pair[1].key)))
            promising += [rule for _, rule in of_number[:PROMISING]]
        return promising

    def _weights(self, base: Found) -> list[NDArray[np.float64]]:
        """What each action is likely to gain in its state, by two estimates: (n,) float64."""
        scorer, taken = self.scorer, self.taken(base)
        visits = scorer.visits(taken)
        return [
            scorer.spread(visits) * scorer.advantages(taken),
            scorer.spread((visits + scorer.optimal_visits) / 2) * scorer.optimal_advantages,
        ]

    def _places(self, base: Found) -> Iterator[tuple[int, bool, int]]:
        """Where a clause may be put: before which one, whether in its place, and its deed."""
        for place in range(len(base.conditions) + 1):
            for deed in self._usual:
                yield place, False, deed
                if place < len(base.conditions):
                    yield place, True, deed

    def _gains(
        self, base: Found, changes: list[tuple[int, bool, int]], weight: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What a new clause gains where it holds, by state and change; and what it gains anyway."""
        places = self.scorer.places
        n = len(self.scorer.default)
        owner = np.full(n, len(base.conditions))
        for place in range(len(base.conditions) - 1, -1, -1):
            owner[self._holds(base.conditions[place]) & (places[base.deeds[place]] >= 0)] = place
        now = weight[self.taken(base)]
        gain, offset = np.zeros((n, len(changes))), np.zeros(len(changes))
        for number, (place, instead, deed) in enumerate(changes):
            rest = now
            if instead:
                without = self._made(
                    base.conditions[:place] + base.conditions[place + 1 :],
                    base.deeds[:place] + base.deeds[place + 1 :],
                )
                rest = weight[self.taken(without)]
                offset[number] = (rest - now).sum()
            open_to = (owner >= place) & (places[deed] >= 0)
            gain[:, number] = np.where(open_to, weight[places[deed]] - rest, 0.0)
        return gain, offset

    def _estimated(
        self,
        base: Found,
        changes: list[tuple[int, bool, int]],
        gain: NDArray[np.float64],
        offset: NDArray[np.float64],
        threads: ThreadPoolExecutor,
    ) -> Iterator[tuple[float, Found]]:
        """Rules with a new clause, each form with its best bounds, and what they may gain."""
        size = np.abs(gain).max(axis=1)
        order = np.argsort(-size, kind="stable")
        share = np.cumsum(size[order])
        if not len(share) or share[-1] == 0.0:
            return
        relevant = np.sort(order[: int(np.searchsorted(share, (1 - REST) * share[-1])) + 1])
        gain = np.ascontiguousarray(gain[relevant])
        columns = {name: values[relevant] for name, values in self.scorer.columns.items()}
        best = dict[int, list[_Way]]()
        for found in threads.map(lambda form: _ways(form, columns, gain, offset), self._forms):
            for way in found:
                best.setdefault(way.form.numbers, []).append(way)
        for ways in best.values():
            estimates = np.concatenate([way.gains for way in ways])
            for place in np.argsort(-estimates, kind="stable")[:LIKELY].tolist():
                which, number = divmod(place, len(changes))
                way = ways[which]
                level = int(way.levels[number])
                rule = self._changed(base, changes[number], way.form, way.at_least, level)
                if rule.numbers <= self.most:
                    yield float(estimates[place]), rule

    def _changed(
        self, base: Found, change: tuple[int, bool, int], form: Form, at_least: bool, level: int
    ) -> Found:
        """A rule with a new clause."""
        place, instead, deed = change
        condition = self._condition(Condition(form, at_least, 0), form, level)
        return self._made(
            (*base.conditions[:place], condition, *base.conditions[place + instead :]),
            (*base.deeds[:place], deed, *base.deeds[place + instead :]),
        )

    def rule(self, found: Found) -> Rule:
        """A rule as the language has it."""
        deeds = [self.scorer.deeds[place] for place in found.deeds]
        pairs = zip((*found.conditions, None), deeds, strict=True)
        return Rule(tuple(Clause(condition, deed) for condition, deed in pairs))


class _Way(NamedTuple):
    """A form as the condition of new clauses: the best bound for each change."""

    form: Form
    at_least: bool
    levels: NDArray[np.int64]
    gains: NDArray[np.float64]


def _ways(
    form: Form,
    columns: Mapping[str, Column],
    gain: NDArray[np.float64],
    offset: NDArray[np.float64],
) -> list[_Way]:
    """A form from its best bounds upward, and downward; none where it never differs."""
    values = form.values(columns)
    low, high = int(values.min()), int(values.max())
    if high == low or high - low >= MOST_BINS:
        return []
    totals = np.zeros((high - low + 1, gain.shape[1]))
    tally(values, gain, low, totals)
    upward = np.cumsum(totals[::-1], axis=0)[::-1]
    ways = []
    for at_least, sums in ((True, upward), (False, np.cumsum(totals, axis=0))):
        level = np.argmax(sums, axis=0)
        most = sums[level, np.arange(gain.shape[1])] + offset
        ways.append(_Way(form, at_least, low + level, most))
    return ways
