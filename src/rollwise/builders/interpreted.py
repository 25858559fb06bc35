"""Rules into a graph by running them as ordinary Python.

This is also the one place that knows everything that can be wrong with rules:
the compiled builder, when it meets something odd in a state, has that state
expanded here, so that both report the same errors.
"""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from operator import index
from typing import Any, NamedTuple

import numpy as np

from rollwise.builders.rules import Rules, more_states
from rollwise.errors import RulesError, TooManyStates
from rollwise.faults import PASSED_ON, fault_place, fault_text, shown
from rollwise.game import PASS
from rollwise.numbers.sizes import in_bytes

MAX_ACTION = 2**31 - 1
MAX_TOTAL_WEIGHT = 2**62
# Equal outcomes are merged in a game that has some that lead on among its first states: where
# there are none, that there might be costs nothing.
LOOKED_AT = 1024
# Actions of a state, and outcomes of an action: more come of a loop that doesn't end.
MOST_YIELDED = 1_000_000
# States that the rules are asked about twice, and the outcomes after which that is enough.
ASKED_AGAIN, MOST_ASKED_AGAIN = 20, 2_000


class Action(NamedTuple):
    """One action of a state, checked: its number, reward and outcomes."""

    label: int
    reward: float
    weights: Sequence[int | float]
    thens: Sequence[int]
    next_states: Sequence[Any]


def expand(rules: Rules, state: Any) -> Iterator[Action]:
    """All that the rules say of one state, checked.

    Raises
    ------
    RulesError
        Names the game, the state, the action and what is wrong.
    """
    game = rules.game
    seen: set[int] = set()
    for label in _all_of(rules, "actions", game.actions, state):
        try:
            number = index(label)
        except TypeError:
            number = -1
        if not 0 <= number <= MAX_ACTION:
            raise RulesError(
                f"{game.name}: actions() gives {shown(label)} in the state "
                f"{rules.state_text(state)}; an action is a whole number from 0"
            )
        if number in seen:
            raise RulesError(
                f"{game.name}: actions() gives {rules.action_text(number)} twice in the state "
                f"{rules.state_text(state)}"
            )
        seen.add(number)
        yield _expand_action(rules, state, number)
    if not seen:
        raise RulesError(
            f"{game.name}: no action in the state {rules.state_text(state)}; a play that is over "
            "ends with WIN, LOSE, DRAW or END instead of leading to a state"
        )


def merged(action: Action) -> Action:
    """An action with equal outcomes as one, of their weights' sum, where the first of them is."""
    weights: dict[Any, int | float] = {}
    try:
        for weight, *way in zip(action.weights, action.thens, action.next_states, strict=True):
            weights[tuple(way)] = weights.get(tuple(way), 0) + weight
    except TypeError:  # a field is a list, say; whoever numbers the states says so
        return action
    if len(weights) == len(action.weights):
        return action
    thens, next_states = zip(*weights, strict=True)
    return action._replace(weights=list(weights.values()), thens=thens, next_states=next_states)


def has_equal_outcomes(action: Action) -> bool:
    """Whether two outcomes lead on to the same state in the same way."""
    ways = [
        (then, next_state)
        for then, next_state in zip(action.thens, action.next_states, strict=True)
        if next_state is not None
    ]
    try:
        return len(set(ways)) < len(ways)
    except TypeError:  # a field is a list, say; whoever numbers the states says so
        return False


def _all_of(rules: Rules, what: str, method: Any, state: Any, *action: int) -> list[Any]:
    """All that a method of the rules yields, naming the state if it fails or doesn't end."""
    try:
        found = list(islice(method(state, *action), MOST_YIELDED + 1))
    except KeyboardInterrupt as stop:
        place = fault_place(stop)
        stop.add_note(f"in {what}() in the state {rules.where(state, *action)}{place}")
        raise
    except PASSED_ON:
        raise
    except BaseException as error:
        fault = fault_text(error)
        hint = "; it should yield" if "object is not iterable" in fault else ""
        raise RulesError(
            f"{rules.game.name}: {what}() fails in the state {rules.where(state, *action)}: "
            f"{fault}{hint}"
        ) from error
    if len(found) > MOST_YIELDED:
        raise RulesError(
            f"{rules.game.name}: {what}() yields more than {MOST_YIELDED:,} {what} in the state "
            f"{rules.where(state, *action)}; does a loop in it never end?"
        )
    return found


def _expand_action(rules: Rules, state: Any, action: int) -> Action:
    name = rules.game.name
    outcomes = _all_of(rules, "outcomes", rules.game.outcomes, state, action)
    if _in_order(rules, outcomes):
        weights, thens, next_states = zip(*outcomes, strict=True)
    else:
        weights, thens, next_states = _one_by_one(rules, outcomes, state, action)
    total = sum(weights)
    if total == 0:
        problem = "the weights are all zero" if outcomes else "no outcome"
        raise RulesError(f"{name}: {problem} in the state {rules.where(state, action)}")
    if total > MAX_TOTAL_WEIGHT or not math.isfinite(total):
        raise RulesError(
            f"{name}: the weights add up to {total} in the state {rules.where(state, action)}, "
            f"more than {MAX_TOTAL_WEIGHT}"
        )
    reward = _checked_reward(rules, state, action) if rules.has_reward else 0.0
    return Action(action, reward, weights, thens, next_states)


def _in_order(rules: Rules, outcomes: list[Any]) -> bool:
    """Whether outcomes need no further look: those of most actions, so this is quick."""
    if set(map(type, outcomes)) != {tuple} or set(map(len, outcomes)) != {3}:
        return False
    weights, thens, next_states = zip(*outcomes, strict=True)
    return (
        set(map(type, weights)) == {int}
        and min(weights) > 0
        and set(map(type, thens)) == {int}
        and rules.going_on.issuperset(thens)
        and set(map(type, next_states)) == {rules.state_type}
    )


def _one_by_one(
    rules: Rules, outcomes: Iterable[Any], state: Any, action: int
) -> tuple[tuple[int | float, ...], tuple[int, ...], tuple[Any, ...]]:
    """The weights, thens and next states of outcomes, None where the game is over.

    Raises
    ------
    RulesError
    """
    checked: list[tuple[int | float, int, Any]] = []
    for outcome in outcomes:
        try:
            weight, then, next_state = outcome
        except (TypeError, ValueError):
            raise RulesError(
                f"{rules.game.name}: outcomes() gives {shown(outcome)} in the state "
                f"{rules.where(state, action)}; it should yield (weight, then, next_state)"
            ) from None
        if type(weight) is not int or weight < 0:
            weight = _checked_weight(rules, weight, state, action)
        if type(then) is not int or then not in rules.allowed_thens:
            then = _checked_then(rules, then, state, action)
        if weight == 0:
            continue
        if then > PASS:  # the game is over, and the state is not looked at
            next_state = None
        elif type(next_state) is not rules.state_type:
            rules.checked(next_state, f"outcomes() in the state {rules.where(state, action)}")
        checked.append((weight, then, next_state))
    weights, thens, next_states = zip(*checked, strict=True) if checked else ((), (), ())
    return weights, thens, next_states


def _checked_weight(rules: Rules, weight: Any, state: Any, action: int) -> int | float:
    number: int | float
    try:
        number = index(weight)
    except TypeError:
        if not isinstance(weight, float | np.floating):
            raise RulesError(
                f"{rules.game.name}: the weight {shown(weight)} in the state "
                f"{rules.where(state, action)} isn't a number; a weight is a whole number of "
                "ways (or, for unfair dice, a float)"
            ) from None
        number = float(weight)
    if not number >= 0 or number == math.inf:
        raise RulesError(
            f"{rules.game.name}: the weight {shown(weight)} in the state "
            f"{rules.where(state, action)} isn't a finite number from 0"
        )
    return number


def _checked_then(rules: Rules, then: Any, state: Any, action: int) -> int:
    if isinstance(then, int | np.integer) and int(then) in rules.allowed_thens:
        return int(then)
    raise RulesError(
        f"{rules.game.name}: {rules.then_error(then)} in the state {rules.where(state, action)}"
    )


def _checked_reward(rules: Rules, state: Any, action: int) -> float:
    game = rules.game
    try:
        reward = float(game.reward(state, action))
    except PASSED_ON:
        raise
    except BaseException as error:
        raise RulesError(
            f"{game.name}: reward() fails in the state {rules.where(state, action)}: "
            f"{fault_text(error)}"
        ) from error
    fault = ""
    if not math.isfinite(reward):
        fault = "isn't finite"
    elif reward != 0 and game.objective == "win":
        fault = "is for the objectives 'maximize' and 'minimize', but the objective is 'win'"
    if fault:
        raise RulesError(
            f"{game.name}: the reward {reward} in the state {rules.where(state, action)} {fault}"
        )
    return reward + 0.0  # one kind of zero


class Arrays(NamedTuple):
    """The arrays of a graph, as both builders return them (see `StateGraph`)."""

    n_roots: int

    states: np.ndarray
    action_indptr: np.ndarray
    action_label: np.ndarray
    action_lottery: np.ndarray
    outcome_indptr: np.ndarray
    outcome_state: np.ndarray
    lottery_indptr: np.ndarray
    lottery_reward: np.ndarray
    lottery_weight: np.ndarray
    lottery_then: np.ndarray


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
        deadline = time.perf_counter() + patience
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
            np.array(thens, np.int8),
        )


def too_many_states(
    rules: Rules, expanded: int, states: np.ndarray, max_states: int, outcomes: int
) -> TooManyStates:
    """The error for a game that outgrows the limit, with an estimate of the memory.

    Parameters
    ----------
    states : (n_states, n_fields) int32
        Those found, in their order.
    """
    found = len(states)
    per_state = 4 * len(rules.field_names) + 40 + 8 * max(outcomes, 1) / max(expanded, 1)
    return TooManyStates(
        f"{rules.game.name}: more than {max_states:,} states; {expanded:,} were expanded, "
        f"{found:,} found and more to come (about {in_bytes(found * per_state)} for the ones "
        f"found){what_grows(rules, states)}. "
        f"Smaller parameters or a smaller state help; {more_states()} raises "
        f"the limit{rules.or_by_layers}"
    )


def what_grows(rules: Rules, states: np.ndarray) -> str:
    """Which field takes ever new values, as words: that whose range grew most, if one did.

    Parameters
    ----------
    states : (n_states, n_fields) int32
        In the order in which they were found.
    """
    half = states[: len(states) // 2 + 1]
    now, before = (
        group.max(axis=0).astype(np.int64) - group.min(axis=0) + 1 for group in (states, half)
    )
    field = int(np.argmax(now / before))
    if now[field] == before[field]:
        return ""
    low, high = states[:, field].min(), states[:, field].max()
    name = rules.field_names[field]
    return f"; the field {name} goes from {low:,} to {high:,} so far, and grows"
