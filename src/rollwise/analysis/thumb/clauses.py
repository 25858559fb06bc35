"""Rules of thumb on the graph of a game: forms, losses, and promising clauses by an estimated gain.

The search begins with preferences alone. The best of them, and the actions, are the deeds of
clauses. Each change of a rule adds or replaces a clause, with any form, bound and deed. The gain of
a change is estimated from visits and action values.

The rule plays against an optimal policy, in either seat; or alone, in a game for one. The graph
contains the reachable positions only. It is arranged once, for a free first seat. Then a rule is an
array of actions, and its loss takes a sweep in compiled code (`rollwise.engine.following`).

In play without an end a rule plays cycles, from home to home, and its loss is that of the average.

The loss of a rule is a sum over states: expected visits times the regret of its action. The visits
and the later values depend on the rule. The gain of a changed rule is first *estimated* with the
visits of the present rule. The changes with the best estimates are scored.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import combinations, permutations, product
from operator import itemgetter
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.thumb.search import CORES, LONGEST, Field, Map, longer
from rollwise.answer.references import Policies
from rollwise.derive.average import Average
from rollwise.derive.seats import take_seats
from rollwise.engine.following import Following, Memory, tally
from rollwise.errors import UsageError
from rollwise.game import is_set
from rollwise.graph import StateGraph, unit_of
from rollwise.graph.choices import actions_of, has_choice
from rollwise.graph.endings import has_worth, with_staying
from rollwise.graph.lotteries import spans
from rollwise.graph.policies import Policy
from rollwise.layers import layer_of_graph
from rollwise.proofs.endless_play import endless_states
from rollwise.thumb.features import NUMBER, Columns, Features, numbers_count
from rollwise.thumb.language import (
    Clause,
    Column,
    Condition,
    Feature,
    Form,
    Preference,
    Rule,
    form_of,
    whole_parameters,
)

MOST_FORMS = 1500
# By the number of features: the size of the largest sums, and the factors of a feature.
SUMS = ((4, 3), (16, 2))
MOST_PRODUCT = 1600  # of two features: products beyond 40 × 40 are too hard at the table
TIMES = ((4, (2, 3, 4, 5, 6, 7, 8, 9, 10, 12)), (8, (2, 3, 4, 6, 8)))
SINGULAR = 1e-6
MOST_LABELS = 12  # actions that clauses name
Taken = NDArray[np.int32]


def forms_of(columns: Mapping[str, Column], named: Collection[str] = ()) -> list[Form]:
    """Fields, sums and differences, the larger, the smaller and the product of two, weighted sums.

    Parameters
    ----------
    columns : mapping of (n,) int32
        The fields of the states with a choice. Constant fields are omitted.
    named : collection of str, optional
        The fields whose numbers stand for names: people don't compute with these.
    """
    varying = [name for name, values in columns.items() if len(values) and np.ptp(values)]
    alone = [_form({Feature(name): 1}) for name in varying if name in named]
    forms = dict.fromkeys(_forms([name for name in varying if name not in named], columns))
    return [*alone, *forms][:MOST_FORMS]


def _forms(names: Sequence[str], columns: Mapping[str, Column]) -> Iterator[Form]:
    fields = [Feature(name) for name in names]
    most = next((size for limit, size in SUMS if len(fields) <= limit), 1)
    for field in fields:
        yield _form({field: 1})
    sums = [_form(signed) for size in range(2, most + 1) for signed in _signed(fields, size)]
    yield from sums
    if most > 1:
        for first, second in combinations(names, 2):
            yield _form({Feature(first, second, "max"): 1})
            yield _form({Feature(first, second, "min"): 1})
        yield from _products(names, columns)
    if 1 < len(fields) <= SUMS[-1][0]:
        yield _form(dict.fromkeys(fields, 1))
    # a factor of one field against a sum of others, with both signs
    times = next((numbers for limit, numbers in TIMES if len(fields) <= limit), ())
    shares = [signed for size in range(1, most) for signed in _signed(fields, size)]
    for number in times:
        for lead in fields:
            for signed in shares:
                if lead not in signed:
                    yield _form({lead: number, **signed})
                    yield _form({lead: number, **{f: -one for f, one in signed.items()}})


def _products(names: Sequence[str], columns: Mapping[str, Column]) -> Iterator[Form]:
    """Products of two small fields, also with 1 added to or subtracted from a factor."""
    for first, second in combinations(names, 2):
        if _size(columns[first]) * _size(columns[second]) > MOST_PRODUCT:
            continue
        for one, other in product((0, 1, -1), repeat=2):
            terms = {Feature(first): one, Feature(second): other}
            yield _form(
                {Feature(first, second, "product"): 1} | {f: n for f, n in terms.items() if n}
            )


def _size(values: Column) -> int:
    return int(np.abs(values).max())


def _signed(fields: Sequence[Feature], size: int) -> Iterator[dict[Feature, int]]:
    """Sums of so many fields with any signs, the first one plus."""
    for chosen in combinations(fields, size):
        for signs in product((1, -1), repeat=size - 1):
            yield dict(zip(chosen, (1, *reversed(signs)), strict=True))


def _form(terms: Mapping[Feature, int]) -> Form:
    return form_of(terms)[0]


@dataclass(frozen=True, eq=False)
class Setting:
    """The graph, opponent and features of a search, as arrays: workers need no rule sheet.

    Attributes
    ----------
    graph : StateGraph
    optimal : Policy
        The policy of the others.
    states : dict of (n_states,) int32
        The features of the states.
    actions : dict of (n_actions,) int32
        The features of the actions; their numbers only where these count something.
    of_the_sheet : bool
        Whether the rule sheet offers features of actions.
    start : int
        The first state of play; in play without an end, its home.
    times : StateGraph or None
        In play without an end, the graph with the durations of the actions as rewards.
    """

    graph: StateGraph
    optimal: Policy
    states: Columns
    actions: Columns
    of_the_sheet: bool = False
    start: int = 0
    times: StateGraph | None = None

    @classmethod
    def of(cls, policies: Policies, features: Features | None = None) -> Setting:
        """The setting of a game.

        Parameters
        ----------
        features : Features, optional
            Those of the graph and the game unless given.
        """
        graph = policies.graph
        columns = features or Features(graph, policies.game)
        optimal, offered = policies.solution.policy, columns.of_the_sheet
        states = {  # a rule that compares the number of a set can't be remembered
            name: numbers
            for name, numbers in columns.states.items()
            if not is_set(policies.game, name, np.unique(numbers).tolist())
        }
        of_actions = {
            name: numbers
            for name, numbers in columns.actions.items()
            if name != NUMBER or numbers_count(policies.graph)
        }
        start, times, game = 0, None, policies.game
        if isinstance(game, Average):
            start, times = game.home, game.cycle(game.durations)
        return cls(graph, optimal, states, of_actions, offered, start, times)


def _following(graph: StateGraph) -> Following:
    """For evaluating policies of a graph; endless play has the worth that the rules give it."""
    if has_worth(graph) and len(endless_states(graph)):
        return Following(layer_of_graph(with_staying(graph)), graph.endless)
    return Following(layer_of_graph(graph))


class Scorer:
    """The losses of rules of one game.

    Parameters
    ----------
    setting : Setting

    Attributes
    ----------
    labels : dict of (n_choices,) int32
        By action label, if there are few labels: the action with this label in each state with a
        choice, as an index into the actions of all these states; -1 for none.
    columns : dict of (n_choices,) int32
        The features of the states with a choice for the rule.
    of_the_sheet : bool
        Whether the rule sheet offers features of actions.

    Raises
    ------
    UsageError
        The game has no choices.
    """

    def __init__(self, setting: Setting) -> None:
        graph, optimal = setting.graph, setting.optimal
        two = graph.players == 2
        # play without an end has its cycle from the home, and has to come there from its start
        begins = list(dict.fromkeys((setting.start, 0)))
        seats = take_seats(graph, [None, optimal] if two else [None], begins)
        self.graph, self._seats, self._two = graph, seats, two
        self.of_the_sheet = setting.of_the_sheet
        self._following = _following(seats.graph)
        self._begins = self._following.place[: len(begins) * (2 if two else 1)]
        self._starts = self._begins[:: len(begins)]
        self._timing = None
        if setting.times is not None:
            timed = take_seats(setting.times, [None], begins)
            self._timing = Following(layer_of_graph(timed.graph))
        self._find_choices(setting)
        self._scale = unit_of(graph) * (0.5 if two else 1.0)
        # optimal play has the loss 0, and its values are where every evaluation begins
        self._optimal = self._taken_by(optimal)
        self._best = self._worth(self._optimal, self._memory)
        self._following.evaluate(self._memory)
        self._following.begin = self._memory.values.copy()

    def _find_choices(self, setting: Setting) -> None:
        graph, seats, order = self._seats.graph, self._seats, self._following.layer.order
        free = seats.key[order] < seats.n_before
        choices = np.flatnonzero(free & has_choice(graph)[order])[::-1]
        if not len(choices):
            raise UsageError(f"{self.graph.title} has no choices, and so no rules of thumb")
        states = order[choices]
        actions, counts = actions_of(graph, states)
        self._choices, self._counts = choices, counts
        # actions of all choices in one array: each state has a run of them
        self._begin = (np.cumsum(counts) - counts).astype(np.int32)
        self._own = np.repeat(np.arange(len(choices)), counts)
        self._arranged = spans(self._following.first_actions[choices], counts)
        self._action = seats.action[actions]
        before = seats.key[states]
        self.columns = {name: values[before] for name, values in setting.states.items()}
        self.action_columns = {
            name: values[self._action] for name, values in setting.actions.items()
        }
        label = self.graph.action_label[self._action]
        labels = np.unique(label)
        self.labels: dict[int, Taken] = {}
        for number in labels.tolist() if len(labels) <= MOST_LABELS else ():
            mine = np.flatnonzero(label == number)
            taken = np.full(len(choices), -1, np.int32)
            taken[self._own[mine]] = mine
            self.labels[number] = taken
        if not self.labels and not self.action_columns:
            raise UsageError(
                f"{self.graph.title} has more than {MOST_LABELS} actions, whose names are in no "
                "order: rules of thumb prefer actions by the numbers that action_features gives"
            )

    def best(self, preference: Preference) -> Taken:
        """The actions that a preference takes: (n_choices,) int32."""
        return preference.best(self.action_columns, self._own).astype(np.int32)

    def _taken_by(self, policy: Policy) -> Taken:
        """The likeliest action of a policy in each state with a choice."""
        probability = policy.probability[self._action]
        most = np.maximum.reduceat(probability, self._begin)
        likeliest = np.flatnonzero(probability == most[self._own])
        labels = self.default
        labels[self._own[likeliest[::-1]]] = likeliest[::-1]
        return labels

    @property
    def size(self) -> int:
        """The work of an evaluation, in outcomes."""
        parts = self._following.layer.parts
        assert parts is not None
        slow = np.diff(parts.ends)[parts.n_feedback > 1].sum()
        return self._seats.graph.n_outcomes + OUTCOMES_A_POSITION * int(slow)

    def memory(self) -> Memory:
        """The workspace of an evaluation; parallel evaluations need one each."""
        return self._following.memory()

    @cached_property
    def _memory(self) -> Memory:
        return self.memory()

    @property
    def default(self) -> Taken:
        """The first action of each state with a choice, by its place: (n_choices,) int32."""
        return self._begin.copy()

    def loss(self, taken: Taken, memory: Memory | None = None) -> float:
        """The loss of some actions, mean over the seats; infinity for endless play without a worth.

        Parameters
        ----------
        taken : (n_choices,) int32
            Indices into the actions of all states with a choice.
        """
        loss = self._best - self._worth(taken, self._memory if memory is None else memory)
        # no rule gains against optimal play: its equations were singular but for rounding
        return loss if loss > -SINGULAR * (1 + abs(self._best)) else np.inf

    def _worth(self, taken: Taken, memory: Memory) -> float:
        """The worth of some actions, mean over the seats; minus infinity for an infinite loss."""
        self._following.take(memory, self._choices, self._arranged[taken])
        if not self._following.evaluate(memory, self._begins):
            return -np.inf
        first, *second = memory.values[self._starts]
        mean = first - sum(second)  # values are the mover's
        return float(mean * self._scale / self._duration(taken))

    def _duration(self, taken: Taken) -> float:
        """The expected duration of a cycle; 1 in a game with an end."""
        if self._timing is None:
            return 1.0
        memory = self._timing.memory()
        self._timing.take(memory, self._choices, self._arranged[taken])
        ends = self._timing.evaluate(memory, self._starts)
        return float(memory.values[self._starts[0]]) if ends else np.inf

    def visits(self, taken: Taken) -> Floats:
        """Approximate expected visits of each state with a choice: (n_choices,) float64."""
        self._following.take(self._memory, self._choices, self._arranged[taken])
        return self._following.visits(self._memory, self._starts)[self._choices]

    def advantages(self, taken: Taken) -> Floats:
        """The gain of each action over the taken action of its state: (n,) float64.

        The action is taken once; all later actions stay the same.
        """
        self._following.take(self._memory, self._choices, self._arranged[taken])
        self._following.evaluate(self._memory)
        worth = self._following.action_values(self._arranged, self._memory)
        gains: Floats = (worth - worth[taken][self._own]) * self._scale
        return gains

    def spread(self, numbers: Floats) -> Floats:
        """A number for each state with a choice, repeated for its actions."""
        return numbers[self._own]

    @cached_property
    def optimal_advantages(self) -> Floats:
        """Minus the regret of each action: (n,) float64."""
        return self.advantages(self._optimal)

    @cached_property
    def optimal_visits(self) -> Floats:
        """Expected visits of each state with a choice under optimal play."""
        return self.visits(self._optimal)


# Measured on two cores. A component with several feedback positions takes many sweeps, and so
# counts as this number of outcomes a position.
SECONDS_A_RULE, SECONDS_AN_OUTCOME, OUTCOMES_A_POSITION = 8e-3, 2e-8, 20
LIKELY = 400  # changes to a rule with an estimate, for each kind of form
PROMISING = 10  # scored changes to a rule, for each number of integers
PLAIN = 3  # scored changes with one feature in the new clause
PRODUCTS = 5  # scored changes with a product in the new clause
LEAST_PREFERRED = 8  # preferences for use in clauses
MOST_USUAL = 14  # deeds for new clauses
MOST_LEVELS = 100  # values of a form, tried as bounds where no action alone ends play
MOST_CACHED = 96  # cached forms, and cached preferences
MOST_BINS = 1 << 16
REST = 0.01  # estimates may omit this share of the possible gain
FEW = 10_000  # estimates on so few states omit none, and one thread is faster than two
LEFT = 0.6  # the chance of each clause to stay in a rebuilt rule
SHAKEN = 4  # rules with bounds moved at random
OTHER_FORM = 0.4  # the chance of another form for a bound moved at random
FARTHEST = 6  # the longest random move of a bound
DIGITS = 11  # decimals of estimates

Deed = int | Preference
Floats = NDArray[np.float64]


class OnGraph(Field):
    """A game with a graph of all positions, for `rollwise.analysis.thumb.search.Search`."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(whole_parameters(setting.graph))
        self.scorer = Scorer(setting)
        self.is_small = len(self.scorer.default) <= FEW
        self.seconds_a_rule = SECONDS_A_RULE + SECONDS_AN_OUTCOME * self.scorer.size
        named = [name for name, texts in setting.graph.words.items() if texts]
        self.forms = forms_of(self.scorer.columns, named)
        self._usual: list[Deed] = list(self.scorer.labels)
        self._stored = lru_cache(MOST_CACHED)(partial(Form.values, columns=self.scorer.columns))
        self._best = lru_cache(MOST_CACHED)(self.scorer.best)
        self._memories: SimpleQueue[Memory] = SimpleQueue()
        for _ in range(CORES):
            self._memories.put(self.scorer.memory())

    def starts(self, most: int) -> Iterator[list[Rule]]:
        scorer = self.scorer
        # a preference between two actions is the same as one of the actions
        single = self._single() if len(scorer.labels) != 2 or scorer.of_the_sheet else []
        yield [*map(_always, scorer.labels), *map(_always, single)]
        # a rule with endless play gives no estimate of its changes
        for form in self.forms:
            levels = np.unique(self.values(form))[1:MOST_LEVELS].tolist()
            pairs = [
                (_always(one).numbers + _always(other).numbers, one, other)
                for one, other in permutations(self._usual, 2)
            ]
            yield [
                Rule((Clause(condition, one), Clause(None, other)))
                for condition in (Condition(form, True, level) for level in levels)
                for numbers, one, other in pairs
                if condition.numbers + numbers <= most
            ]

    def _single(self) -> list[Preference]:
        """Preferences for a single feature of actions, or for the lack of it."""
        names = self.scorer.action_columns
        return [Preference((Form(((sign, Feature(name)),)),)) for name in names for sign in (1, -1)]

    def renewed(self, rule: Rule | None, losses: Mapping[Rule, float]) -> bool:
        if rule is not None or self.phase:
            return False
        ranked, places = list[tuple[int, Deed]](), Counter[int]()
        last = dict[int, float]()
        # the best first; of several with one loss and as many numbers only the first
        for other in sorted(losses, key=lambda other: losses[other]):
            deed, numbers = other.clauses[0].deed, other.numbers
            if isinstance(deed, Preference) and losses[other] != last.get(numbers):
                # few integers first, as clauses need more
                ranked.append((numbers + places[numbers], deed))
                places[numbers] += 1
                last[numbers] = losses[other]
        ranked.sort(key=lambda pair: pair[0])
        most = max(LEAST_PREFERRED, MOST_USUAL - len(self.scorer.labels))
        deeds = [deed for _, deed in ranked[:most]]
        self._usual, self.phase = [*deeds, *self.scorer.labels][:MOST_USUAL], 1
        return True

    def varied(self, rule: Rule, random: np.random.Generator) -> tuple[list[Rule], Rule]:
        shaken = [self._shaken(rule, random) for _ in range(SHAKEN)]
        left = [clause for clause in rule.clauses[:-1] if random.random() < LEFT]
        return shaken, Rule((*left, rule.clauses[-1]))

    def _shaken(self, rule: Rule, random: np.random.Generator) -> Rule:
        clauses = []
        for clause in rule.clauses[:-1]:
            assert clause.condition is not None
            form, level = clause.condition.form, clause.condition.level(self.parameters)
            if random.random() < OTHER_FORM:
                form = self.forms[int(random.integers(len(self.forms)))]
                level = int(random.choice(self.values(form)))
            level += int(random.integers(-FARTHEST, FARTHEST + 1))
            clauses.append(
                Clause(self.condition(form, clause.condition.at_least, level), clause.deed)
            )
        return Rule((*clauses, rule.clauses[-1]))

    # -- scoring

    def values(self, form: Form) -> Column:
        """The values of a form in the states with a choice, cached."""
        return self._stored(form)

    def places(self, deed: Deed) -> Taken:
        """The action taken by a deed in each state with a choice; -1 for none."""
        return self.scorer.labels[deed] if isinstance(deed, int) else self._best(deed)

    def _holds(self, condition: Condition) -> NDArray[np.bool_]:
        values, bound = self.values(condition.form), condition.level(self.parameters)
        return values >= bound if condition.at_least else values <= bound

    def taken(self, rule: Rule) -> Taken:
        """The actions of a rule: (n_choices,) int32."""
        labels = self.scorer.default
        # from the last clause to the first, so that earlier clauses overwrite later ones
        for clause in reversed(rule.clauses):
            places = self.places(clause.deed)
            taken = places >= 0
            if clause.condition is not None:
                taken &= self._holds(clause.condition)
            np.copyto(labels, places, where=taken)
        return labels

    def loss(self, rule: Rule) -> float:
        memory = self._memories.get()
        try:
            return self.scorer.loss(self.taken(rule), memory)
        finally:
            self._memories.put(memory)

    # -- changes, and their estimated gains

    def changes(self, rule: Rule, most: int, map_: Map) -> list[Rule]:
        if not self.phase:
            return self._longer(rule.clauses[0].deed)
        places = list(self._places_of(rule))
        estimates = dict[Rule, float]()
        # a condition has one integer at least
        fits = any(_changed(rule, *place, None).numbers < most for place in places)
        for weight in self._weights(rule) if fits else ():
            gain, offset = self._gains(rule, places, weight)
            for estimate, other in self._estimated(rule, places, gain, offset, map_):
                if other.numbers <= most:
                    estimates[other] = max(estimate, estimates.get(other, -np.inf))
        promising = [_without(rule, index) for index in range(len(rule.clauses) - 1)]
        by_numbers = defaultdict[int, list[tuple[float, int, Rule]]](list)
        for other, estimate in estimates.items():
            length = sum(len(c.text) for c in _conditions(other))
            by_numbers[other.numbers].append((-estimate, length, other))
        before = set(_conditions(rule))
        # for each number of integers the best estimates, some with plain forms, some with products
        for numbers in sorted(by_numbers):
            sums = plain = products = 0
            for *_, other in sorted(by_numbers[numbers], key=itemgetter(0, 1)):
                terms = [c.form.terms for c in _conditions(other) if c not in before]
                if any(feature.is_product for form in terms for _, feature in form):
                    products += 1
                    chosen = products <= PRODUCTS
                else:
                    is_plain = all(len(form) == 1 for form in terms)
                    sums, plain = sums + 1, plain + is_plain
                    chosen = sums <= PROMISING or (is_plain and plain <= PLAIN)
                promising += [other] if chosen else []
        return promising

    def shortened(self, rule: Rule) -> Rule:
        shorter = [_without(rule, index) for index in range(len(rule.clauses) - 1)]
        labels = list(self.scorer.labels)[:MOST_USUAL]
        # a preference may be the same action wherever its clause decides
        for index, clause in enumerate(rule.clauses):
            if isinstance(clause.deed, Preference):
                shorter += [_changed(rule, index, True, one, clause.condition) for one in labels]
        for other in shorter:
            if np.array_equal(self.taken(other), self.taken(rule)):
                return self.shortened(other)
        return rule

    def _longer(self, deed: Deed) -> list[Rule]:
        """Preferences with one more feature, or with another preference behind."""
        if not isinstance(deed, Preference):
            return []
        preferences = list(longer(deed, map(Feature, self.scorer.action_columns)))
        if len(deed.forms) < LONGEST:
            equal = {form.terms[0][1] for form in deed.forms if len(form.terms) == 1}
            singles = [single.forms[0] for single in self._single()]
            preferences += [
                Preference((*deed.forms, one)) for one in singles if one.terms[0][1] not in equal
            ]
        return [_always(one) for one in preferences]

    def _weights(self, base: Rule) -> list[Floats]:
        """Two estimates of the gain of each action in its state: (n,) float64."""
        scorer, taken = self.scorer, self.taken(base)
        visits, now = scorer.visits(taken), scorer.advantages(taken)
        return [
            scorer.spread(visits) * now,
            scorer.spread((visits + scorer.optimal_visits) / 2) * scorer.optimal_advantages,
        ]

    def _places_of(self, base: Rule) -> Iterator[tuple[int, bool, Deed]]:
        """Each change: the place of the new clause, whether it replaces a clause, its deed."""
        for index in range(len(base.clauses)):
            for deed in self._usual:
                yield index, False, deed
                if index < len(base.clauses) - 1:
                    yield index, True, deed

    def _gains(
        self, base: Rule, changes: list[tuple[int, bool, Deed]], weight: Floats
    ) -> tuple[Floats, Floats]:
        """The gain of a new clause by state and change, and the gain from removing the old one."""
        n, last = len(self.scorer.default), len(base.clauses) - 1
        owner = np.full(n, last)
        # the clause that decides in each state: the first one that holds and is possible
        for index in range(last - 1, -1, -1):
            clause = base.clauses[index]
            assert clause.condition is not None
            owner[self._holds(clause.condition) & (self.places(clause.deed) >= 0)] = index
        now = weight[self.taken(base)]
        gain, offset = np.zeros((n, len(changes))), np.zeros(len(changes))
        # a new clause decides where no earlier one does; a removed one leaves its states to later
        # ones
        for number, (index, instead, deed) in enumerate(changes):
            rest, places = now, self.places(deed)
            if instead:
                rest = weight[self.taken(_without(base, index))]
                offset[number] = (rest - now).sum()
            open_to = (owner >= index) & (places >= 0)
            gain[:, number] = np.where(open_to, weight[places] - rest, 0.0)
        return gain, offset

    def _estimated(
        self,
        base: Rule,
        changes: list[tuple[int, bool, Deed]],
        gain: Floats,
        offset: Floats,
        map_: Map,
    ) -> Iterator[tuple[float, Rule]]:
        """Rules with a new clause, each form with its best bounds, and their estimated gains."""
        # states without a noticeable gain are left out of the tally
        relevant = np.flatnonzero(_matter(np.abs(gain)) | _matter(np.maximum(gain, 0.0)))
        if not len(relevant):
            return
        gain = np.ascontiguousarray(gain[relevant])
        columns = {name: values[relevant] for name, values in self.scorer.columns.items()}
        best = dict[int, list[_Way]]()
        for best_ways in map_(lambda form: _ways(form, columns, gain, offset), self.forms):
            for way in best_ways:
                best.setdefault(way.form.numbers, []).append(way)
        conditions = _conditions(base)
        freed = [conditions[index].numbers if instead else 0 for index, instead, _ in changes]
        for ways in best.values():
            estimates = np.round(np.array([way.gains for way in ways]), DIGITS)
            for numbers in sorted(set(freed)):  # each gives rules with another number
                of_these = np.flatnonzero(np.array(freed) == numbers)
                likely = np.argsort(-estimates[:, of_these].ravel(), kind="stable")[:LIKELY]
                for which, column in zip(*np.divmod(likely, len(of_these)), strict=True):
                    number, way = int(of_these[column]), ways[which]
                    index, instead, deed = changes[number]
                    level = int(way.levels[number])
                    condition = self.condition(way.form, way.at_least, level)
                    rule = _changed(base, index, instead, deed, condition)
                    yield float(estimates[which, number]), rule


def _always(deed: Deed) -> Rule:
    return Rule((Clause(None, deed),))


def _without(rule: Rule, index: int) -> Rule:
    """A rule without one of its clauses."""
    return Rule(rule.clauses[:index] + rule.clauses[index + 1 :])


def _changed(
    rule: Rule, index: int, instead: bool, deed: Deed, condition: Condition | None
) -> Rule:
    """A rule with a new clause, which may replace one."""
    clauses = rule.clauses
    return Rule((*clauses[:index], Clause(condition, deed), *clauses[index + instead :]))


def _conditions(rule: Rule) -> list[Condition]:
    return [clause.condition for clause in rule.clauses if clause.condition is not None]


def _matter(gain: Floats) -> NDArray[np.bool_]:
    """The states with nearly all of the gain; of few states all with a gain."""
    size = gain.max(axis=1)
    matters: NDArray[np.bool_] = size > 0.0
    if len(size) > FEW:
        order = np.argsort(-size, kind="stable")
        share = np.cumsum(size[order])
        matters[order[int(np.searchsorted(share, (1 - REST) * share[-1])) + 1 :]] = False
    return matters


class _Way(NamedTuple):
    """A form as the condition of new clauses: the best bound for each change."""

    form: Form
    at_least: bool
    levels: NDArray[np.int64]
    gains: Floats


def _ways(form: Form, columns: Mapping[str, Column], gain: Floats, offset: Floats) -> list[_Way]:
    """A form with its best lower and its best upper bounds; none if constant or too wide."""
    values = form.values(columns)
    low, high = int(values.min()), int(values.max())
    if high == low or high - low >= MOST_BINS:
        return []
    totals = np.zeros((high - low + 1, gain.shape[1]))
    tally(values, gain, low, totals)
    # a bound gains the sum over all values on its side: one cumulative sum tries all bounds
    upward = np.cumsum(totals[::-1], axis=0)[::-1]
    ways = []
    for at_least, sums in ((True, upward), (False, np.cumsum(totals, axis=0))):
        level = np.argmax(sums, axis=0)
        most = sums[level, np.arange(gain.shape[1])] + offset
        ways.append(_Way(form, at_least, low + level, most))
    return ways
