"""The builder in Python: states are expanded one after the other.

An `Interpreter` can pause, so that a game begins with a trial.
"""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np

from rollwise.builders.arrays import Arrays, Throws
from rollwise.builders.expand import (
    Action,
    expand,
    has_equal_outcomes,
    merged,
    situations_in,
    throws_in,
)
from rollwise.builders.limits import LOOKED_AT, too_many_states
from rollwise.builders.rules import Rules, Situation
from rollwise.errors import RulesError
from rollwise.machine.endless import watched

# Rules are asked about all states twice, unless this takes longer than both LONGEST_ASKED_AGAIN
# seconds and this part of the time of the first pass. Then a sample that fits the time is used.
LONGEST_ASKED_AGAIN, PART_ASKED_AGAIN = 1.0, 0.2


def _lottery(action: Action) -> tuple[Any, ...]:
    """An action without its next states."""
    return action.reward, tuple(action.weights), tuple(action.thens)


class Interpreter:
    """Expands states one after the other, breadth first. It can pause and continue.

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
        self._rules, self.max_states = rules, max_states
        # -1 is the end of the game, given as None
        self._number: dict[Any, int] = {None: -1}
        for fields in roots.tolist():
            self._number.setdefault(rules.layout.state(fields), len(self._number) - 1)
        self._states = list(self._number)[1:]
        self._n_roots = len(self._states)
        self._place, self._spent = 0, 0.0
        self._merged_from = math.inf  # the action from which equal outcomes are merged
        self._action_indptr, self._outcome_indptr = array("q", [0]), array("q", [0])
        self._labels, self._next = array("i"), array("i")
        self._action_lottery = array("i")
        self._lotteries: dict[Any, int] = {}
        # for games with throws: the lists of throws, the list of each state, and the first
        # situation of each state
        self._throw_lists: dict[Any, int] = {}
        self._state_throws, self._situation_indptr = array("i"), array("q", [0])

    def run(
        self,
        *,
        stop_after: float = math.inf,
        patience: float = math.inf,
        progress: Callable[[int, int], None] | None = None,
    ) -> bool:
        """Expand states; return whether states remain.

        Parameters
        ----------
        stop_after, patience : float, optional
            Pause after this number of outcomes, or of seconds.
        """
        began = time.perf_counter()
        with watched():
            try:
                return self._run(stop_after, began + patience, progress)
            finally:
                self._spent += time.perf_counter() - began

    def _run(
        self,
        stop_after: float,
        deadline: float,
        progress: Callable[[int, int], None] | None,
    ) -> bool:
        if progress is not None:
            progress(self._place, len(self._states))
        while self._place < len(self._states):
            if len(self._states) + self._thrown > self.max_states:
                raise too_many_states(
                    self._rules,
                    self._place,
                    self.states,
                    self.max_states,
                    len(self._next),
                )
            if len(self._next) > stop_after or time.perf_counter() > deadline:
                return True
            if progress is not None and self._place % 256 == 255:
                progress(self._place, len(self._states))
            self.expand_next()
        return False

    def expand_next(self) -> None:
        """Expand one state."""
        state = self._states[self._place]
        if not self._rules.has_throws:
            self._expand_situation(Situation(state))
        else:
            throws = throws_in(self._rules, state)
            key = tuple(throws), tuple(throws.values())
            number = self._throw_lists.setdefault(key, len(self._throw_lists))
            self._state_throws.append(number)
            for throw in throws:
                self._expand_situation(self._rules.after(state, throw))
            self._situation_indptr.append(len(self._action_indptr) - 1)
        self._place += 1

    def _expand_situation(self, at: Situation) -> None:
        for action in expand(self._rules, at):
            # The first states decide whether equal outcomes are merged, from the first ones found
            # on.
            looking = self._merged_from == math.inf and self._place < LOOKED_AT
            if looking and has_equal_outcomes(action):
                self._merged_from = len(self._labels)
            action = self._as_kept(action, len(self._labels))
            lottery = _lottery(action)
            try:
                numbers = list(map(self._number.get, action.next_states))
            except TypeError:  # a field is a list, say
                numbers = [None]
            # A state is new, or its fields have to be checked.
            if None in numbers:
                numbers = [
                    self._numbered(next_state, at, action.label)
                    for next_state in action.next_states
                ]
            self._labels.append(action.label)
            self._action_lottery.append(self._lotteries.setdefault(lottery, len(self._lotteries)))
            self._next.extend(numbers)  # type: ignore[arg-type]
            self._outcome_indptr.append(len(self._next))
        self._action_indptr.append(len(self._labels))

    def _as_kept(self, action: Action, number: int) -> Action:
        return merged(action) if number >= self._merged_from else action

    def _numbered(self, next_state: Any, at: Situation, action: int) -> int:
        """The number of a state; a new state gets the next number."""
        if next_state is not None and not self._rules.is_plain(next_state):
            where = f"outcomes() in the state {self._rules.where(at, action)}"
            next_state = self._rules.checked(next_state, where)
        number = self._number.get(next_state)
        if number is None:
            number = self._number[next_state] = len(self._states)
            self._states.append(next_state)
        return number

    def ask_again(self, *, all_states: bool = False) -> None:
        """Ask the rules a second time and require equal results.

        They are asked in another order, about all states or, if that takes long, about a sample
        that differs each time.

        Raises
        ------
        RulesError
            The results differ.
        """
        longest = (
            math.inf if all_states else max(LONGEST_ASKED_AGAIN, PART_ASKED_AGAIN * self._spent)
        )
        deadline = time.perf_counter() + longest
        # One call more: rules that change at every other call would otherwise say the same.
        for at in situations_in(self._rules, self._states[0])[:1]:
            next(expand(self._rules, at), None)
        for place in np.random.default_rng().permutation(self._place).tolist():
            if time.perf_counter() > deadline:
                return
            state = self._states[place]
            situations = [Situation(state)]
            first, last = place, place + 1
            if self._rules.has_throws:
                throws = throws_in(self._rules, state)
                key = tuple(throws), tuple(throws.values())
                if self._throw_lists.get(key) != self._state_throws[place]:
                    raise self._says_otherwise(situations[0])
                situations = [self._rules.after(state, throw) for throw in throws]
                first, last = self._situation_indptr[place : place + 2]
            for number, at in zip(range(first, last), situations, strict=True):
                self._ask_again(at, number)

    def _ask_again(self, at: Situation, number: int) -> None:
        """Ask again about the situation of a given number."""
        first, last = self._action_indptr[number], self._action_indptr[number + 1]
        answers = list(self._labels[first:last]), list(self._action_lottery[first:last])
        begin, end = self._outcome_indptr[first], self._outcome_indptr[last]
        plain = enumerate(expand(self._rules, at), first)
        actions = [self._as_kept(action, number) for number, action in plain]
        lotteries = [self._lotteries.get(_lottery(action)) for action in actions]
        again = [action.label for action in actions], lotteries
        next_states = chain.from_iterable(action.next_states for action in actions)
        numbers = list(map(self._number.get, next_states))
        if again != answers or numbers != list(self._next[begin:end]):
            raise self._says_otherwise(at)

    def _says_otherwise(self, at: Situation) -> RulesError:
        return self._rules.fault(
            f"the rules don't say the same twice in the state {self._rules.where(at)}; rules draw "
            "no random numbers and change no data: outcomes() yields every outcome with its weight"
        )

    @property
    def _thrown(self) -> int:
        """The number of states after a throw. States of a pool are counted elsewhere."""
        if not self._rules.has_throws or self._rules.pool is not None:
            return 0
        return len(self._action_indptr) - 1

    @property
    def states(self) -> np.ndarray:
        """The states found so far, including states not yet expanded: (n, n_fields) int32."""
        return self._state_rows(len(self._states))

    def _state_rows(self, n: int) -> np.ndarray:
        """The numbers of the first states: (n, n_fields) int32."""
        fields = len(self._rules.field_names)
        numbers = map(self._rules.layout.numbers, self._states[:n])
        return np.fromiter(chain.from_iterable(numbers), np.int32, n * fields).reshape(-1, fields)

    def _throws(self) -> Throws | None:
        layout = self._rules.throws
        if layout is None:
            return None
        weights = list(chain.from_iterable(weights for _, weights in self._throw_lists))
        codes = [layout.code(throw) for throws, _ in self._throw_lists for throw in throws]
        sizes = [len(throws) for throws, _ in self._throw_lists]
        return Throws(
            np.frombuffer(self._state_throws, np.int32),
            np.cumsum([0, *sizes], dtype=np.int64),
            as_weights(weights),
            np.array(codes, np.int64),
        )

    def arrays(self) -> Arrays:
        """The result as arrays."""
        weights = list(chain.from_iterable(weights for _, weights, _ in self._lotteries))
        thens = list(chain.from_iterable(thens for _, _, thens in self._lotteries))
        sizes = [len(weights) for _, weights, _ in self._lotteries]
        return Arrays(
            self._n_roots,
            self._state_rows(self._place),
            np.frombuffer(self._action_indptr, np.int64),
            np.frombuffer(self._labels, np.int32),
            np.frombuffer(self._action_lottery, np.int32),
            np.frombuffer(self._outcome_indptr, np.int64),
            np.frombuffer(self._next, np.int32),
            np.cumsum([0, *sizes], dtype=np.int64),
            np.array([reward for reward, _, _ in self._lotteries], np.float64),
            as_weights(weights),
            np.array(thens, np.int64),
            self._throws(),
        )


def as_weights(weights: list[int | float]) -> np.ndarray:
    """Weights as int64, or as float64 if any is a float."""
    whole = all(isinstance(weight, int) for weight in weights)
    return np.array(weights, np.int64 if whole else np.float64)
