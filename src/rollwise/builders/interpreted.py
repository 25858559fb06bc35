"""Rules into a graph by running them as ordinary Python.

This is also the one place that knows everything that can be wrong with rules:
the compiled builder, when it meets something odd in a state, has that state
expanded here, so that both report the same errors.
"""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Callable, Iterator
from itertools import chain
from operator import index
from typing import Any, NamedTuple

import numpy as np

from rollwise.builders.rules import Rules
from rollwise.errors import RulesError, TooManyStates
from rollwise.game import PASS
from rollwise.sizes import in_bytes

MAX_ACTION = 2**31 - 1
MAX_TOTAL_WEIGHT = 2**62


class Action(NamedTuple):
    """One action of a state, checked: its number, reward and outcomes."""

    label: int
    reward: float
    weights: list[int | float]
    thens: list[int]
    next_states: list[Any]


def expand(rules: Rules, state: Any) -> Iterator[Action]:
    """All that the rules say of one state, checked.

    Raises
    ------
    RulesError
        Names the game, the state, the action and what is wrong.
    """
    game = rules.game
    seen: list[int] = []
    for label in _all_of(rules, "actions", game.actions, state):
        try:
            number = index(label)
        except TypeError:
            number = -1
        if not 0 <= number <= MAX_ACTION:
            raise RulesError(
                f"{game.name}: actions() gives {label!r} in the state "
                f"{rules.state_text(state)}; an action is a whole number from 0"
            )
        if number in seen:
            raise RulesError(
                f"{game.name}: actions() gives {rules.action_text(number)} twice in the state "
                f"{rules.state_text(state)}"
            )
        seen.append(number)
        yield _expand_action(rules, state, number)
    if not seen:
        raise RulesError(
            f"{game.name}: no action in the state {rules.state_text(state)}; a play that is over "
            "ends with WIN, LOSE, DRAW or END instead of leading to a state"
        )


def _all_of(rules: Rules, what: str, method: Any, state: Any, *action: int) -> list[Any]:
    """All that a method of the rules yields, naming the state if it fails."""
    try:
        return list(method(state, *action))
    except Exception as error:
        where = rules.where(state, *action)
        hint = "; it should yield" if isinstance(error, TypeError) else ""
        raise RulesError(
            f"{rules.game.name}: {what}() fails in the state {where}: "
            f"{type(error).__name__}: {error}{hint}"
        ) from error


def _expand_action(rules: Rules, state: Any, action: int) -> Action:
    name = rules.game.name
    weights: list[int | float] = []
    thens: list[int] = []
    next_states: list[Any] = []
    total: int | float = 0
    outcomes = _all_of(rules, "outcomes", rules.game.outcomes, state, action)
    for outcome in outcomes:
        try:
            weight, then, next_state = outcome
        except (TypeError, ValueError):
            raise RulesError(
                f"{name}: outcomes() gives {outcome!r} in the state "
                f"{rules.where(state, action)}; it should yield (weight, then, next_state)"
            ) from None
        if type(weight) is not int or weight < 0:
            weight = _checked_weight(rules, weight, state, action)
        if type(then) is not int or then not in rules.allowed_thens:
            then = _checked_then(rules, then, state, action)
        if weight == 0:
            continue
        total += weight
        weights.append(weight)
        thens.append(then)
        if then > PASS:  # the game is over, and the state is not looked at
            next_states.append(None)
        else:
            if type(next_state) is not rules.state_type:
                rules.checked(next_state, f"outcomes() in the state {rules.where(state, action)}")
            next_states.append(next_state)
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


def _checked_weight(rules: Rules, weight: Any, state: Any, action: int) -> int | float:
    number: int | float
    try:
        number = index(weight)
    except TypeError:
        if not isinstance(weight, float | np.floating):
            raise RulesError(
                f"{rules.game.name}: the weight {weight!r} in the state "
                f"{rules.where(state, action)} isn't a number; a weight is a whole number of "
                "ways (or, for unfair dice, a float)"
            ) from None
        number = float(weight)
    if not number >= 0 or number == math.inf:
        raise RulesError(
            f"{rules.game.name}: the weight {weight!r} in the state "
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
    except Exception as error:
        raise RulesError(
            f"{game.name}: reward() fails in the state {rules.where(state, action)}: "
            f"{type(error).__name__}: {error}"
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


def build_interpreted(
    rules: Rules,
    roots: np.ndarray,
    max_states: int,
    *,
    stop_after: float = math.inf,
    patience: float = math.inf,
    progress: Callable[[int, int], None] | None = None,
) -> Arrays | None:
    """Expand every state, breadth first.

    Parameters
    ----------
    roots : (n_roots, n_fields) int32
    max_states : int
    stop_after, patience : float, optional
        Give up, and return None, once so many outcomes were seen, or so many seconds
        have passed, and there is more to come.

    Raises
    ------
    RulesError, TooManyStates
    """
    deadline = time.perf_counter() + patience
    number: dict[Any, int] = {}
    for fields in roots.tolist():
        number.setdefault(rules.state_type(*fields), len(number))
    queue = list(number)
    n_roots = len(queue)
    field_count = len(rules.field_names)
    action_indptr, outcome_indptr = array("q", [0]), array("q", [0])
    labels, next_numbers = array("i"), array("i")
    action_lottery = array("i")
    lotteries: dict[Any, int] = {}
    for place, state in enumerate(queue):  # grows while it runs
        if len(number) > max_states:
            raise too_many_states(rules, place, len(number), max_states, len(next_numbers))
        if len(next_numbers) > stop_after or time.perf_counter() > deadline:
            return None
        if progress is not None and place % 4096 == 4095:
            progress(place, len(number))
        for action in expand(rules, state):
            labels.append(action.label)
            lottery = (action.reward, tuple(action.weights), tuple(action.thens))
            action_lottery.append(lotteries.setdefault(lottery, len(lotteries)))
            for next_state in action.next_states:
                if next_state is None:
                    next_numbers.append(-1)
                    continue
                known = number.get(next_state)
                if known is None:
                    if not rules.is_plain(next_state):
                        where = f"outcomes() in the state {rules.where(state, action.label)}"
                        next_state = rules.checked(next_state, where)
                    known = number[next_state] = len(number)
                    queue.append(next_state)
                next_numbers.append(known)
            outcome_indptr.append(len(next_numbers))
        action_indptr.append(len(labels))
    states = np.fromiter(chain.from_iterable(queue), np.int32, len(queue) * field_count)
    weights = list(chain.from_iterable(weights for _, weights, _ in lotteries))
    thens = list(chain.from_iterable(thens for _, _, thens in lotteries))
    whole = all(isinstance(weight, int) for weight in weights)
    return Arrays(
        n_roots,
        states.reshape(-1, field_count),
        np.frombuffer(action_indptr, np.int64),
        np.frombuffer(labels, np.int32),
        np.frombuffer(action_lottery, np.int32),
        np.frombuffer(outcome_indptr, np.int64),
        np.frombuffer(next_numbers, np.int32),
        np.cumsum([0, *(len(weights) for _, weights, _ in lotteries)], dtype=np.int64),
        np.array([reward for reward, _, _ in lotteries], np.float64),
        np.array(weights, np.int64 if whole else np.float64),
        np.array(thens, np.int8),
    )


def too_many_states(
    rules: Rules, expanded: int, found: int, max_states: int, outcomes: int
) -> TooManyStates:
    """The error for a game that outgrows the limit, with an estimate of the memory."""
    per_state = 4 * len(rules.field_names) + 40 + 8 * max(outcomes, 1) / max(expanded, 1)
    return TooManyStates(
        f"{rules.game.name}: more than {max_states:,} states; {expanded:,} were expanded, "
        f"{found:,} found and more to come (about {in_bytes(found * per_state)} for the ones "
        "found). "
        "Smaller parameters or a smaller state help; --max-states N (max_states=N) raises "
        f"the limit{rules.or_by_layers}"
    )
