"""The search for rules of thumb: for each number of integers, the rule that loses least.

The best few rules of each number are kept. One of them is taken up, and changed in every way that
adds or replaces a clause: any form, any bound, either action. What these changes gain is estimated
by where play comes by and what actions are worth there (`score`). The most promising are scored
exactly. Of those the best are improved by moving their numbers. When all that are kept have been
taken up, some of their numbers are changed at random, and some clauses are left out and others put
in. A small game has so few rules that this ends when no new one is found.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import permutations
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.thumb.score import (
    Loss,
    Scorer,
    Taken,
    changed_forms,
    forms_of,
    preferred_forms,
)
from rollwise.engine.following import Memory, tally
from rollwise.machine.switches import is_on
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
PLAIN = 3  # of those whose new clause looks at one feature
PRODUCTS = 5  # of those whose new clause has a product
IMPROVED = 3  # of these, how many are improved
PREFERRED = 3  # preferences that are made longer at a time
PREFERRING = 1 / 3  # of the time, for preferences alone
MOST_PREFERRED = 5  # of each number of integers, that clauses may say
LONGEST = 3  # forms of a preference
MOST_USUAL = 14  # deeds that are tried in new clauses
MOST_LEVELS = 100  # of a form, that are tried as bounds where no action alone ends play
MOST_KEPT = 96  # forms whose values are kept
MOST_BINS = 1 << 16
REST = 0.01  # the share of what could be gained that estimates may leave out
FEW = 10_000  # states, of which all are looked at
STEPS = (1, -1, 4, -4, 6, -6)  # by which bounds are moved
MOST_ROUNDS = 20  # of moving all numbers of a rule
LEFT = 0.6  # the chance that a clause stays where some are left out
NEAR = 1.2  # times the loss of a rule: what another may lose, to be worth improving
HOPEFUL = 2.0  # times the least loss known: the same, for a rule that was just found
MOST_TIMES = 12  # what people multiply by
LEAST_NAMED = 10  # of a parameter that stands in the place of a bound
DIGITS = 9  # of a loss that count
MOST_IN_VAIN = 100  # rounds of random changes without one new rule, after which all are found
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
    losses : dict of Loss
        What was learned of rules, by their keys.
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
        self.losses: dict[tuple[object, ...], Loss] = {}
        self._taken_up: set[tuple[object, ...]] = set()
        parameters = whole_parameters(scorer.graph)
        largest = max(parameters, key=lambda name: parameters[name], default=None)
        self._parameters = parameters
        told = largest is not None and parameters[largest] >= LEAST_NAMED
        self._named = {parameters[largest]: largest} if told and largest is not None else {}
        self._memories: SimpleQueue[Memory] = SimpleQueue()
        self._cores = 2 if is_on("second-core") else 1
        for _ in range(self._cores):
            self._memories.put(scorer.memory())

    @property
    def scored(self) -> int:
        """How many different rules were scored."""
        return len(self.losses)

    @property
    def preferred(self) -> int:
        """How many preferences were scored, before rules with conditions."""
        return len(self._preferences_scored)

    def run(self) -> None:
        """Look until the time is over or no rule is new; Ctrl-C raises KeyboardInterrupt."""
        with ThreadPoolExecutor(self._cores) as threads:
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
        scored = sorted(self._tried(plain, threads, _Trial.scored), key=lambda found: found.loss)
        for rule in scored:
            self._keep(rule)
        self._usual = sorted(rule.deeds[0] for rule in scored[:MOST_USUAL])
        if not self.kept:  # with each of these play can go round for ever
            self._keep_any_that_ends(threads)
        if not self.kept:
            return
        in_vain = 0
        while not self._over() and in_vain < MOST_IN_VAIN:
            base, scored_before = self._next(), self.scored
            if base is None:
                jobs = [self._shaken() for _ in range(4)]
                improved = self._tried(jobs, threads, _Trial.improved)
                better = [*improved, *self._rebuilt(threads)]
            else:
                self._taken_up.add(base.key)
                tried = self._scored(self._changes(base, threads), threads)
                better = self._best_improved(tried, threads)
            for rule in better:
                self._keep(rule)
            in_vain = 0 if base or self.scored > scored_before else in_vain + 1
            if self._progress is not None:
                self._progress("rules of thumb", self.scored, None)
            good = [n for n, rules in self.kept.items() if rules[0].loss <= self.enough]
            self.most = min([self.most, *(n - 1 for n in good)])

    def _keep_any_that_ends(self, threads: ThreadPoolExecutor) -> None:
        """Keep the rules of one condition with which every play ends, of the first form with any.

        All are scored: no estimate of a change is to be had from a rule whose plays don't end.
        """
        for form in self._forms:
            if self.kept or self._over():
                return
            values = self.values(form)
            tried = [
                self._made((Condition(form, True, int(level)),), deeds)
                for level in np.unique(values)[1:MOST_LEVELS]
                for deeds in permutations(self._usual, 2)
            ]
            for rule in self._scored(tried, threads):
                self._keep(rule)

    def _preferences(self, threads: ThreadPoolExecutor) -> list[Found]:
        """Rules that are one preference: the best few of each number become deeds."""
        scorer = self.scorer
        if len(scorer.deeds) == 2 and not scorer.of_the_sheet:
            return []  # to prefer one of two actions is to name it
        single = preferred_forms(scorer.action_columns)
        losses = self._preferences_scored
        candidates = [Preference((form,)) for form in single]
        while candidates and not self._over() and not self._passed(self._preferring):
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
        if self._passed(self._preferring):
            return np.inf
        memory = self._memories.get()
        try:
            return self.scorer.loss(self.scorer.best(preference), memory).loss
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
        return spent or self.most < 1 or self.is_late()

    def is_late(self) -> bool:
        """Whether its time is over."""
        return self._passed(self._deadline)

    def _passed(self, end: float) -> bool:
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

    def level(self, condition: Condition) -> int:
        return condition.level(self._parameters)

    def _holds(self, condition: Condition) -> NDArray[np.bool_]:
        values, bound = self.values(condition.form), self.level(condition)
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

    def loss(self, rule: Found, below: float) -> Loss:
        """What a rule loses, worked out; see `Scorer.loss`."""
        memory = self._memories.get()
        try:
            found = self.scorer.loss(self.taken(rule), memory, below=below)
        finally:
            self._memories.put(memory)
        return found._replace(loss=round(found.loss, DIGITS))

    def _tried(
        self,
        rules: Iterable[Found],
        threads: ThreadPoolExecutor,
        do: Callable[[_Trial, Found], Found],
    ) -> list[Found]:
        """Do something with each of some rules side by side, and note what they lose."""
        rules = list(rules)
        trials = [_Trial(self) for _ in rules]
        found = list(threads.map(do, trials, rules))
        for trial in trials:
            for key, loss in trial.losses.items():
                known = self.losses.get(key)
                if known is None or known.is_rough:
                    self.losses[key] = loss
        return found

    def _scored(self, rules: Iterable[Found], threads: ThreadPoolExecutor) -> list[Found]:
        """Rules with their losses, as exactly as it takes to say which are best."""
        return self._tried(rules, threads, lambda trial, rule: trial.scored(rule, -np.inf))

    def _best_improved(self, rules: list[Found], threads: ThreadPoolExecutor) -> list[Found]:
        """The best few rules of each number with bounds a little moved; the best one improved."""
        tuned = self._tried(self._best_of(rules), threads, _Trial.tuned)
        best = {rule.numbers: rule for rule in sorted(tuned, key=lambda one: -one.loss)}
        return [*tuned, *self._tried(best.values(), threads, _Trial.improved)]

    def condition(self, condition: Condition, form: Form, level: int) -> Condition:
        # "three times the turn and the bank make the target" has no number but the three
        named = form.numbers > 0 and level in self._named and form.is_sum
        return Condition(form, condition.at_least, self._named[level] if named else level)

    def with_condition(self, rule: Found, place: int, condition: Condition) -> Found:
        conditions = (*rule.conditions[:place], condition, *rule.conditions[place + 1 :])
        return self._made(conditions, rule.deeds)

    def _any_kept(self) -> Found:
        """One of the best rules, at random."""
        numbers = [n for n in sorted(self.kept) if 0 < n <= self.most]
        if not numbers:
            return self._made((), (0,))
        rules = self.kept[numbers[int(self._random.integers(len(numbers)))]]
        return rules[int(self._random.integers(len(rules)))]

    def _rebuilt(self, threads: ThreadPoolExecutor) -> list[Found]:
        """Rules that come of one of the best when some clauses are left out, and others put in.

        A new clause is the best for the clauses that are left, not for those that were there. Each
        time it replaces another one. So two clauses change that are good only together.
        """
        rule, found = self._any_kept(), list[Found]()
        places = [k for k in range(len(rule.conditions)) if self._random.random() < LEFT]
        conditions = tuple(rule.conditions[k] for k in places)
        rule = self._made(conditions, (*(rule.deeds[k] for k in places), rule.deeds[-1]))
        while rule.numbers < self.most and not self._over():
            before = rule.numbers
            for numbers in (before + 1, before + 1):  # one more clause, then another instead
                rules = [c for c in self._changes(rule, threads) if c.numbers == numbers]
                tried = sorted(self._scored(rules, threads), key=lambda one: one.loss)
                better = self._best_improved(tried, threads)
                found += better
                if better:
                    rule = better[int(self._random.integers(len(better)))]
            if rule.numbers <= before:
                break
        return found

    def _shaken(self) -> Found:
        """One of the best rules with its bounds, and perhaps a form, changed at random."""
        rule = self._any_kept()
        for place, condition in enumerate(rule.conditions):
            form = condition.form
            level = self.level(condition)
            if self._random.random() < 0.4:
                form = self._forms[int(self._random.integers(len(self._forms)))]
                values = self.values(form)
                level = int(values[int(self._random.integers(len(values)))])
            level += int(self._random.integers(-6, 7))
            rule = self.with_condition(rule, place, self.condition(condition, form, level))
        return rule

    # -- changes, and what they are likely to gain

    def _changes(self, base: Found, threads: ThreadPoolExecutor) -> list[Found]:
        """The most promising rules that differ from one in a clause, and those that lack one."""
        changes = list(self._places(base))
        gains = [self._gains(base, changes, weight) for weight in self._weights(base)]
        found = dict[tuple[object, ...], tuple[float, Found]]()
        for gain, offset in gains:
            for estimate, rule in self._estimated(base, changes, gain, offset, threads):
                known = found.get(rule.key)
                if known is None or known[0] < estimate:
                    found[rule.key] = (estimate, rule)
        promising = [self._without(base, place) for place in range(len(base.conditions))]
        for numbers in range(1, self.most + 1):
            of_number = [pair for pair in found.values() if pair[1].numbers == numbers]
            of_number.sort(
                key=lambda pair: (
                    -pair[0],
                    sum(len(condition.text) for condition in pair[1].conditions),
                    str(pair[1].key),
                )
            )
            rules = [rule for _, rule in of_number]
            new = [set(rule.conditions) - set(base.conditions) for rule in rules]
            products = [
                k
                for k, conditions in enumerate(new)
                if any(feature.is_product for c in conditions for _, feature in c.form.terms)
            ]
            sums = sorted(set(range(len(rules))) - set(products))
            plain = [k for k in sums if all(len(c.form.terms) == 1 for c in new[k])]
            chosen = {*sums[:PROMISING], *plain[:PLAIN], *products[:PRODUCTS]}
            promising += [rules[k] for k in sorted(chosen)]
        return promising

    def _weights(self, base: Found) -> list[NDArray[np.float64]]:
        """What each action is likely to gain in its state, by two estimates: (n,) float64."""
        scorer, taken = self.scorer, self.taken(base)
        visits, now = scorer.visits(taken), scorer.advantages(taken)
        return [
            scorer.spread(visits) * now,
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
                rest = weight[self.taken(self._without(base, place))]
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
        relevant = np.flatnonzero(_matter(np.abs(gain)) | _matter(np.maximum(gain, 0.0)))
        if not len(relevant):
            return
        gain = np.ascontiguousarray(gain[relevant])
        columns = {name: values[relevant] for name, values in self.scorer.columns.items()}
        best = dict[int, list[_Way]]()
        for found in threads.map(lambda form: _ways(form, columns, gain, offset), self._forms):
            for way in found:
                best.setdefault(way.form.numbers, []).append(way)
        replaced = [base.conditions[at].numbers if instead else 0 for at, instead, _ in changes]
        for ways in best.values():
            estimates = np.round(np.array([way.gains for way in ways]), DIGITS + 2)
            for freed in set(replaced):  # each leads to rules of another number
                of_these = np.flatnonzero(np.array(replaced) == freed)
                likely = np.argsort(-estimates[:, of_these].ravel(), kind="stable")[:LIKELY]
                for place in likely.tolist():
                    which, column = divmod(place, len(of_these))
                    number, way = int(of_these[column]), ways[which]
                    level = int(way.levels[number])
                    rule = self._changed(base, changes[number], way.form, way.at_least, level)
                    if rule.numbers <= self.most:
                        yield float(estimates[which, number]), rule

    def _without(self, base: Found, place: int) -> Found:
        """A rule that lacks a clause."""
        return self._made(
            base.conditions[:place] + base.conditions[place + 1 :],
            base.deeds[:place] + base.deeds[place + 1 :],
        )

    def _changed(
        self, base: Found, change: tuple[int, bool, int], form: Form, at_least: bool, level: int
    ) -> Found:
        """A rule with a new clause."""
        place, instead, deed = change
        condition = self.condition(Condition(form, at_least, 0), form, level)
        return self._made(
            (*base.conditions[:place], condition, *base.conditions[place + instead :]),
            (*base.deeds[:place], deed, *base.deeds[place + instead :]),
        )

    def rule(self, found: Found) -> Rule:
        """A rule as the language has it."""
        deeds = [self.scorer.deeds[place] for place in found.deeds]
        pairs = zip((*found.conditions, None), deeds, strict=True)
        return Rule(tuple(Clause(condition, deed) for condition, deed in pairs))


def _matter(gain: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The states that make out nearly all of some gains; all of few states."""
    size = gain.max(axis=1)
    found: NDArray[np.bool_] = size > 0.0
    if len(size) > FEW:
        order = np.argsort(-size, kind="stable")
        share = np.cumsum(size[order])
        found[order[int(np.searchsorted(share, (1 - REST) * share[-1])) + 1 :]] = False
    return found


class _Trial:
    """Scores rules, and improves one, on a thread of its own.

    What it learns is added to what the search knows when all trials beside it are over. So
    nothing depends on which thread was faster.

    Attributes
    ----------
    losses : dict
        What it learned of rules, by their keys.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self.losses: dict[tuple[object, ...], Loss] = {}

    def scored(self, rule: Found, below: float = np.inf) -> Found:
        """A rule with its loss; roughly, where it isn't below a number."""
        known = self.losses.get(rule.key) or self._search.losses.get(rule.key)
        if known is None or (known.is_rough and known.loss <= below):
            known = self.losses[rule.key] = self._search.loss(rule, below)
        return replace(rule, loss=known.loss)

    def improved(self, rule: Found) -> Found:
        """A rule with its numbers moved as long as that helps."""
        best = self.scored(rule)
        for _ in range(MOST_ROUNDS):
            before = best
            for place in range(len(best.conditions)):
                best = self._bound_moved(best, place, STEPS)
                best = self._number_moved(best, place)
            if best is before or self._search.is_late():
                break
        return best

    def tuned(self, rule: Found) -> Found:
        """A rule with its bounds moved a little, once each."""
        best = self.scored(rule)
        for place in range(len(best.conditions)):
            best = self._bound_moved(best, place, STEPS[:2])
        return best

    def _bound_moved(self, best: Found, place: int, steps: Sequence[int]) -> Found:
        """With the bound of one clause moved, in growing steps."""
        search = self._search
        for step in steps:
            while not search.is_late():
                condition = best.conditions[place]
                level = search.level(condition) + step
                moved = search.condition(condition, condition.form, level)
                tried = self.scored(search.with_condition(best, place, moved), best.loss)
                if tried.loss >= best.loss or tried.numbers > best.numbers:
                    break
                best, step = tried, 2 * step
        return best

    def _number_moved(self, best: Found, place: int) -> Found:
        """With the number before the first feature of one clause a little changed."""
        search, condition = self._search, best.conditions[place]
        lead, feature = condition.form.terms[0]
        if lead == 1:
            return best
        for number in (lead - 1, lead + 1):
            if number > MOST_TIMES:
                continue
            form, by = form_of({**{f: n for n, f in condition.form.terms}, feature: number})
            level = round(search.level(condition) * number / lead / by)
            moved = search.condition(condition, form, level)
            limit = NEAR * best.loss
            tried = self.scored(search.with_condition(best, place, moved), limit)
            if tried.numbers <= best.numbers and tried.loss < limit:
                tried = self._bound_moved(tried, place, STEPS)
                if tried.loss < best.loss:
                    return tried
        return best


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
