"""What rules of thumb lose, many on one graph, and where they lose it.

The rule plays against an optimal policy (nobody, in a game for one), in either seat. Only what play
can come to is looked at. Its graph is arranged once, for a free first seat; a rule then is one
action for each position, and its loss a sweep in compiled code (`rollwise.recursion.following`).

The loss of a rule is the sum over states of how often play comes by times the regret of what it
does there. Both what comes by and the values that follow depend on the rule. So a change of the
rule is first *estimated* by the visits of the rule as it is, and those that look best are scored.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.references import Policies
from rollwise.derive.seats import take_seats
from rollwise.errors import UsageError
from rollwise.graph.choices import actions_of, has_choice, spans
from rollwise.graph.policies import Policy
from rollwise.recursion.following import Following, Memory
from rollwise.recursion.order import Recursion

MOST_LABELS = 12
Floats = NDArray[np.float64]
Labels = NDArray[np.int8]


class Scorer:
    """What rules of one game lose.

    Parameters
    ----------
    policies : Policies

    Attributes
    ----------
    labels : tuple of int
        The actions that there are where there is a choice.
    columns : dict of (n_choices,) int32
        The features of the states in which the rule has a choice.
    may : (n_labels, n_choices) bool
        Which actions they have.

    Raises
    ------
    UsageError
        The game has no choices, or too many actions.
    """

    def __init__(self, policies: Policies) -> None:
        graph = policies.graph
        two = graph.players == 2
        optimal = policies.solution.policy
        seats = take_seats(graph, [None, optimal] if two else [None], [0])
        self.graph, self._seats, self._two = graph, seats, two
        recursion = Recursion.of_values(seats.graph)
        self._following = Following(recursion)
        self._starts = recursion.components.position[: 2 if two else 1].astype(np.int64)
        self._find_choices(recursion.components.order)
        self._scale = (0.25 if two else 0.5) if not graph.is_score else (0.5 if two else 1.0)
        self._best = 0.0
        self._optimal_labels = self._labels_of(optimal)
        self._best = -self.loss(self._optimal_labels)

    def _find_choices(self, order: NDArray[np.int32]) -> None:
        graph = self._seats.graph
        free = self._seats.key[order] < self._seats.n_before
        choices = np.flatnonzero(free & has_choice(graph)[order])
        if not len(choices):
            raise UsageError(f"{self.graph.title} has no choices, and so no rules")
        states = order[choices]
        actions, counts = actions_of(graph, states)
        own = np.repeat(np.arange(len(choices)), counts)
        along = spans(np.zeros(len(counts), np.int64), counts)
        first = self._following.first_actions[choices].astype(np.int64)
        label = graph.action_label[actions]
        self.labels = tuple(np.unique(label).tolist())
        if len(self.labels) > MOST_LABELS:
            raise UsageError(
                f"{self.graph.title} has {len(self.labels)} different actions; rules of thumb can "
                f"say what to do among at most {MOST_LABELS}"
            )
        place = np.searchsorted(np.array(self.labels), label)
        self._option = np.zeros((len(self.labels), len(choices)), np.uint32)
        self.may = np.zeros((len(self.labels), len(choices)), np.bool_)
        self._option[place, own] = np.repeat(first, counts) + along
        self.may[place, own] = True
        self._choices, self._states = choices, states
        self._first = np.zeros(len(choices), np.int8)
        self._first[own[along == 0]] = place[along == 0]
        rows = graph.rows[states]
        names = graph.columns
        self.columns = {
            name: np.ascontiguousarray(rows[:, k])
            for k, name in enumerate(names)
            if name != "seat" or k < len(names) - 1 or not self._two
        }

    def _labels_of(self, policy: Policy) -> Labels:
        """What a policy does in the states with a choice; of several actions the likeliest."""
        actions, counts = actions_of(self._seats.graph, self._states)
        probability = policy.probability[self._seats.action[actions]]
        most = np.maximum.reduceat(probability, np.cumsum(counts) - counts)
        likeliest = np.flatnonzero(probability == np.repeat(most, counts))
        own = np.repeat(np.arange(len(counts)), counts)[likeliest]
        label = self._seats.graph.action_label[actions[likeliest]]
        found = self._first.copy()
        found[own[::-1]] = np.searchsorted(np.array(self.labels), label)[::-1]
        return found

    def memory(self) -> Memory:
        """What an evaluation works on; two at a time need two."""
        return self._following.memory()

    @cached_property
    def _memory(self) -> Memory:
        return self.memory()

    @property
    def default(self) -> Labels:
        """The first action of each state with a choice: (n_choices,) int8, by place in `labels`."""
        return self._first.copy()

    def loss(self, taken: Labels, memory: Memory | None = None) -> float:
        """What is lost by taking some actions, mean over the seats; infinity where play has no end.

        Parameters
        ----------
        taken : (n_choices,) int8
            By their place in `labels`.
        """
        memory = self._memory if memory is None else memory
        memory.chosen[self._choices] = self._option[taken, np.arange(len(taken))]
        if not self._following.evaluate(memory):
            return np.inf
        first, *second = memory.values[self._starts]
        mean = first - sum(second)  # the values of whoever moves
        return float(self._best - mean * self._scale)

    def visits(self, taken: Labels) -> Floats:
        """How often play comes by each state with a choice, roughly: (n_choices,) float64."""
        self._memory.chosen[self._choices] = self._option[taken, np.arange(len(taken))]
        return self._following.visits(self._memory, self._starts)[self._choices]

    def advantages(self, taken: Labels) -> Floats:
        """What each action gains over the one that is taken: (n_labels, n_choices) float64.

        That is: once; what is taken later stays as it is. Where there is no such action, 0.
        """
        self.loss(taken)
        worth = self._following.action_values(self._choices, self._memory)
        worth_here = worth[self._option]
        own = worth_here[taken, np.arange(len(taken))]
        return np.where(self.may, worth_here - own, 0.0) * self._scale

    @cached_property
    def optimal_advantages(self) -> Floats:
        """Minus the regret of each action: (n_labels, n_choices) float64."""
        return self.advantages(self._optimal_labels)

    @cached_property
    def optimal_visits(self) -> Floats:
        """How often play comes by each state with a choice where all play optimally."""
        return self.visits(self._optimal_labels)
