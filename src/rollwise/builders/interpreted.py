"""Rules into a graph by running them as ordinary Python."""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np

from rollwise.builders.arrays import Arrays
from rollwise.builders.expand import Action, expand, has_equal_outcomes, merged
from rollwise.builders.limits import LOOKED_AT, too_many_states
from rollwise.builders.rules import Rules
from rollwise.builders.watch import watched
from rollwise.errors import RulesError

# States that the rules are asked about twice, and the outcomes after which that is enough.
ASKED_AGAIN, MOST_ASKED_AGAIN = 20, 2_000


def _lottery(action: Action) -> tuple[Any, ...]:
    """All of an action but where it leads."""
    return action.reward, tuple(action.weights), tuple(action.thens)


class Interpreter:
    """Expands states one after the other, breadth first, and can go on where it stopped.

    Parameters
    ----------
    roots : (n_roots, n_fields) int32
    max_states : int

    Raises
    ------
    RulesError, TooManyStates
        By `run`.
    """

    def __init__(self, rules: Rules, roots: np.ndarray, max_states: int) -> None:
        self._rules, self._max_states = rules, max_states
        # -1 stands for the end of the game, which comes as None
        self._number: dict[Any, int] = {None: -1}
        for fields in roots.tolist():
            self._number.setdefault(rules.state_type(*fields), len(self._number) - 1)
        self._states = list(self._number)[1:]
        self._n_roots = len(self._states)
        self._place = 0
        self._merged_from = math.inf  # the action from which equal outcomes are merged
        self._action_indptr, self._outcome_indptr = array("q", [0]), array("q", [0])
        self._labels, self._next = array("i"), array("i")
        self._action_lottery = array("i")
        self._lotteries: dict[Any, int] = {}

    def run(
        self,
        *,
        stop_after: float = math.inf,
        patience: float = math.inf,
        progress: Callable[[int, int], None] | None = None,
    ) -> bool:
        """Expand states; whether there are more.

        Parameters
        ----------
        stop_after, patience : float, optional
            Pause once so many outcomes were seen, or so many seconds have passed.
        """
        with watched():
            return self._run(stop_after, time.perf_counter() + patience, progress)

    def _run(
        self,
        stop_after: float,
        deadline: float,
        progress: Callable[[int, int], None] | None,
    ) -> bool:
        if progress is not None:
            progress(self._place, len(self._states))
        while self._place < len(self._states):
            if len(self._states) > self._max_states:
                raise too_many_states(
                    self._rules,
                    self._place,
                    np.array(self._states, np.int32),
                    self._max_states,
                    len(self._next),
                )
            if len(self._next) > stop_after or time.perf_counter() > deadline:
                return True
            if progress is not None and self._place % 256 == 255:
                progress(self._place, len(self._states))
            self._expand_next()
        return False

    def _expand_next(self) -> None:
        state = self._states[self._place]
        for action in expand(self._rules, state):
            looking = self._merged_from == math.inf and self._place < LOOKED_AT
            if looking and has_equal_outcomes(action):
                self._merged_from = len(self._labels)
            action = self._as_kept(action, len(self._labels))
            lottery = _lottery(action)
            try:
                numbers = list(map(self._number.get, action.next_states))
            except TypeError:  # a field is a list, say
                numbers = [None]
            if None in numbers:
                numbers = [
                    self._numbered(next_state, state, action.label)
                    for next_state in action.next_states
                ]
            self._labels.append(action.label)
            self._action_lottery.append(self._lotteries.setdefault(lottery, len(self._lotteries)))
            self._next.extend(numbers)  # type: ignore[arg-type]
            self._outcome_indptr.append(len(self._next))
        self._action_indptr.append(len(self._labels))
        self._place += 1

    def _as_kept(self, action: Action, number: int) -> Action:
        return merged(action) if number >= self._merged_from else action

    def _numbered(self, next_state: Any, state: Any, action: int) -> int:
        """The number of a state, which gets one if it is new."""
        if next_state is not None and not self._rules.is_plain(next_state):
            where = f"outcomes() in the state {self._rules.where(state, action)}"
            next_state = self._rules.checked(next_state, where)
        known = self._number.get(next_state)
        if known is None:
            known = self._number[next_state] = len(self._states)
            self._states.append(next_state)
        return known

    def ask_again(self) -> None:
        """Ask the rules a second time about some states: they must say the same.

        Raises
        ------
        RulesError
            They don't.
        """
        few = np.linspace(0, self._place - 1, min(ASKED_AGAIN, self._place)).astype(int)
        outcomes = 0
        for place in few.tolist():
            state = self._states[place]
            first, last = self._action_indptr[place], self._action_indptr[place + 1]
            found = list(self._labels[first:last]), list(self._action_lottery[first:last])
            begin, end = self._outcome_indptr[first], self._outcome_indptr[last]
            plain = enumerate(expand(self._rules, state), first)
            actions = [self._as_kept(action, number) for number, action in plain]
            lotteries = [self._lotteries.get(_lottery(action)) for action in actions]
            again = [action.label for action in actions], lotteries
            next_states = chain.from_iterable(action.next_states for action in actions)
            numbers = list(map(self._number.get, next_states))
            if again != found or numbers != list(self._next[begin:end]):
                raise RulesError(
                    f"{self._rules.game.name}: the rules don't say the same twice in the state "
                    f"{self._rules.state_text(state)}; they may draw nothing and change nothing: "
                    "outcomes() yields all that can happen, with its weight"
                )
            outcomes += end - begin
            if outcomes > MOST_ASKED_AGAIN:
                return

    def arrays(self) -> Arrays:
        """What was found."""
        fields = len(self._rules.field_names)
        size = self._place * fields
        states = np.fromiter(chain.from_iterable(self._states[: self._place]), np.int32, size)
        weights = list(chain.from_iterable(weights for _, weights, _ in self._lotteries))
        thens = list(chain.from_iterable(thens for _, _, thens in self._lotteries))
        whole = all(isinstance(weight, int) for weight in weights)
        sizes = [len(weights) for _, weights, _ in self._lotteries]
        return Arrays(
            self._n_roots,
            states.reshape(-1, fields),
            np.frombuffer(self._action_indptr, np.int64),
            np.frombuffer(self._labels, np.int32),
            np.frombuffer(self._action_lottery, np.int32),
            np.frombuffer(self._outcome_indptr, np.int64),
            np.frombuffer(self._next, np.int32),
            np.cumsum([0, *sizes], dtype=np.int64),
            np.array([reward for reward, _, _ in self._lotteries], np.float64),
            np.array(weights, np.int64 if whole else np.float64),
            np.array(thens, np.int64),
        )
