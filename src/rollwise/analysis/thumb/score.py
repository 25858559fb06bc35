"""The forms in a search for rules of thumb, and the losses of many rules on one graph.

The rule plays against an optimal policy, in either seat; or alone, in a game for one. The graph
contains the reachable positions only. It is arranged once, for a free first seat. Then a rule is an
array of actions, and its loss takes a sweep in compiled code (`rollwise.engine.following`).

In play without an end a rule plays cycles, from home to home, and its loss is that of the average.

The loss of a rule is a sum over states: expected visits times the regret of its action. The visits
and the later values depend on the rule. The gain of a changed rule is first *estimated* with the
visits of the present rule. The changes with the best estimates are scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.references import Policies
from rollwise.derive.average import Average
from rollwise.derive.seats import take_seats
from rollwise.engine.following import Following, Memory
from rollwise.errors import UsageError
from rollwise.game import is_set
from rollwise.graph import StateGraph
from rollwise.graph.choices import actions_of, has_choice
from rollwise.graph.lotteries import spans
from rollwise.graph.policies import Policy
from rollwise.layers import layer_of_graph
from rollwise.thumb.features import Columns, Features
from rollwise.thumb.language import Column, Feature, Form, Preference, form_of

MOST_FORMS = 1500
# By the number of features: the size of the largest sums, and the factors of a feature.
SUMS = ((4, 3), (16, 2))
MOST_PRODUCT = 1600  # of two features: products beyond 40 × 40 are too hard at the table
TIMES = ((4, (2, 3, 4, 5, 6, 7, 8, 9, 10, 12)), (8, (2, 3, 4, 6, 8)))
SINGULAR = 1e-6
MOST_LABELS = 12  # actions that clauses name
Floats = NDArray[np.float64]
Taken = NDArray[np.int32]


def forms_of(columns: Mapping[str, Column]) -> list[Form]:
    """Fields, sums and differences, the larger, the smaller and the product of two, weighted sums.

    Parameters
    ----------
    columns : mapping of (n,) int32
        The fields of the states with a choice. Constant fields are omitted.
    """
    names = [name for name, values in columns.items() if len(values) and np.ptp(values)]
    forms = dict.fromkeys(_forms(names, columns))
    return list(forms)[:MOST_FORMS]


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
        # bit k - 1 is the sign of field k
        for signs in range(1 << (size - 1)):
            yield {
                field: 1 if index == 0 or not signs >> (index - 1) & 1 else -1
                for index, field in enumerate(chosen)
            }


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
        The features of the actions.
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
        start, times, game = 0, None, policies.game
        if isinstance(game, Average):
            start, times = game.home, game.cycle(game.durations)
        return cls(graph, optimal, states, columns.actions, offered, start, times)


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
        seats = take_seats(graph, [None, optimal] if two else [None], [setting.start])
        self.graph, self._seats, self._two = graph, seats, two
        self.of_the_sheet = setting.of_the_sheet
        self._following = Following(layer_of_graph(seats.graph))
        self._starts = self._following.place[: 2 if two else 1]
        self._timing = None
        if setting.times is not None:
            timed = take_seats(setting.times, [None], [setting.start])
            self._timing = Following(layer_of_graph(timed.graph))
        self._find_choices(setting)
        self._scale = (0.25 if two else 0.5) if not graph.is_score else (0.5 if two else 1.0)
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
            raise UsageError(f"{self.graph.title} has no choices, and so no rules")
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
        """The loss of some actions, mean over the seats; infinity for endless play.

        Parameters
        ----------
        taken : (n_choices,) int32
            Indices into the actions of all states with a choice.
        """
        loss = self._best - self._worth(taken, self._memory if memory is None else memory)
        # no rule gains against optimal play: its equations were singular but for rounding
        return loss if loss > -SINGULAR * (1 + abs(self._best)) else np.inf

    def _worth(self, taken: Taken, memory: Memory) -> float:
        """The worth of some actions, mean over the seats; minus infinity for endless play."""
        self._following.take(memory, self._choices, self._arranged[taken])
        if not self._following.evaluate(memory, self._starts):
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
