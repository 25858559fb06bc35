"""The rules as ordinary Python: all actions and outcomes of one state, checked.

This module contains all checks of the results of rules. If the compiled builder finds an error in a
state, that state is expanded here, so that both builders report the same errors.

The items that a rule yields are limited (`rollwise.builders.limits.MOST_YIELDED`). A loop without a
yield cannot be counted, so a second thread watches the clock (`rollwise.machine.endless`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rollwise.builders import limits
from rollwise.builders.rules import YIELDED, Rules, Situation
from rollwise.errors import RulesError
from rollwise.faults import PASSED_ON, fault_place, fault_text, shown, whole, yielded_place
from rollwise.machine.endless import CALLS
from rollwise.then import is_over

if TYPE_CHECKING:
    from rollwise.dice import Pool

MAX_ACTION = 2**31 - 1
MAX_TOTAL_WEIGHT = 2**62


class Action(NamedTuple):
    """One action of a state, checked: its number, reward and outcomes."""

    label: int
    reward: float
    weights: Sequence[int | float]
    thens: Sequence[int]
    next_states: Sequence[Any]


def expand(rules: Rules, at: Situation) -> Iterator[Action]:
    """The actions of one situation, checked.

    Raises
    ------
    RulesError
        Names the game, the state, the throw, the action and the error.
    """
    game = rules.game
    seen: set[int] = set()
    for k, label in enumerate(_all_of(rules, "actions", game.actions, at)):
        try:
            number = whole(label)
        except TypeError:
            number = -1
        if not 0 <= number <= MAX_ACTION:
            is_text = isinstance(label, str)
            hint = f"; its name belongs in action_names = ({label!r}, ...)" if is_text else ""
            raise rules.fault(
                f"actions() gives {shown(label)} in the state {rules.where(at)}; "
                f"an action is a whole number from 0{hint}{_line_of(game.actions, at, k)}"
            )
        if number in seen:
            raise rules.fault(
                f"actions() gives {rules.action_text(number)} twice in the state "
                f"{rules.where(at)}{_line_of(game.actions, at, k)}"
            )
        seen.add(number)
        yield _expand_action(rules, at, number)
    if not seen:
        raise rules.fault(
            f"no action in the state {rules.where(at)}; a play that is over "
            "ends with WIN, LOSE, DRAW or END instead of leading to a state"
            + "; rules that read rolls_left have an action after each throw"
            * any(at.throw[1:])
        )


def throws_in(rules: Rules, state: Any) -> dict[Any, int | float]:
    """The weights of the throws in a state, checked. Weights of equal throws are added.

    Raises
    ------
    RulesError
    """
    at = Situation(state)
    weights: dict[Any, int | float] = {}
    items = _all_of(rules, "throws", rules.game.throws, at)
    if rules.pool is not None:
        return _pool_throws(rules, rules.pool, items, at)
    for k, item in enumerate(items):
        try:
            weight, throw = _checked_throw(rules, item, at)
        except RulesError as error:
            raise RulesError(f"{error}{_line_of(rules.game.throws, at, k)}") from error
        if weight:
            weights[throw] = weights.get(throw, 0) + weight
    weights = dict(zip(weights, without_fractions(weights.values()), strict=True))
    _require_total(rules, sum(weights.values()), bool(weights), "throw", at)
    return weights


def _pool_throws(
    rules: Rules, pool: Pool, items: list[Any], at: Situation
) -> dict[Any, int | float]:
    """The throws of a pool, in rounds of rolls left from 0 on if the rules read them."""
    from rollwise.dice import Pool  # loaded by rule sheets with a pool

    given: Any = items[0] if items else "nothing"
    reads = rules.reads_rolls_left
    like = replace(given, rerolls=pool.rerolls) if reads and isinstance(given, Pool) else given
    if len(items) != 1 or like != pool:
        but = " except for its rerolls" if reads else "; only rules that read rolls_left change it"
        raise rules.fault(
            f"throws() gives {shown(given)} in the state {rules.where(at)}, and "
            f"at the start {shown(pool)}; a pool is the same in every state{but}"
        )
    if not reads:
        return {throw: ways for ways, throw in pool.throws}
    if given.rerolls > rules.most_rolls:
        raise rules.fault(
            f"throws() gives {given.rerolls} rerolls in the state {rules.where(at)}; rules that "
            f"read rolls_left have at most {rules.most_rolls} with {pool.n} dice"
        )
    lefts = range(given.rerolls + 1)
    return {(*throw, left): ways for left in lefts for ways, throw in pool.throws}


def _checked_throw(rules: Rules, item: Any, at: Situation) -> tuple[int | float, Any]:
    """The weight of an item of `throws`, and its throw in the form expected by rules."""
    layout = rules.throws
    assert layout is not None
    try:
        weight, throw = item
    except (TypeError, ValueError):
        raise rules.fault(
            f"throws() gives {shown(item)} in the state {rules.where(at)}; it should "
            "yield (weight, throw)"
        ) from None
    if type(weight) is not int or weight < 0:
        weight = _checked_weight(rules, weight, at)
    try:
        return weight, layout.throw(layout.numbers(throw))
    except (TypeError, ValueError):
        bits = f"of at most {layout.bits} bits"
        like, hint = f"a whole number {bits}", ""
        if layout.size is not None:
            like = f"a tuple of {layout.size} whole numbers {bits}"
            hint = _of_other_length(throw, layout.size)
        raise rules.fault(
            f"throws() gives the throw {shown(throw)} in the state {rules.where(at)}; "
            f"like the first one it is {like}{hint}"
        ) from None


def _of_other_length(throw: Any, size: int) -> str:
    """Advice about a throw of another length than the first one; empty for other errors."""
    length = len(throw) if isinstance(throw, tuple | np.ndarray) else size
    if length == size:
        return ""
    most = max(length, size)
    return f"; where fewer dice are thrown, write 0 for the others: dice.faces(n, sides, of={most})"


def situations_in(rules: Rules, state: Any) -> list[Situation]:
    """The situations of a state: itself or, in a game with throws, one for each throw.

    Raises
    ------
    RulesError
    """
    if not rules.has_throws:
        return [Situation(state)]
    return [rules.after(state, throw) for throw in throws_in(rules, state)]


def merged(action: Action) -> Action:
    """An action with equal outcomes merged into the first of them. Their weights are added.

    A weight is not merged if the sum would be rounded.
    """
    weights: list[int | float] = []
    ways: list[tuple[Any, Any]] = []
    first: dict[tuple[Any, Any], int] = {}
    try:
        for weight, *way in zip(action.weights, action.thens, action.next_states, strict=True):
            k = first.setdefault(tuple(way), len(weights))
            if k < len(weights) and _sum_is_exact(weights[k], weight):
                weights[k] += weight
            else:
                weights.append(weight)
                ways.append(tuple(way))
    except TypeError:  # a field is a list, say; numbering the states reports this
        return action
    if len(weights) == len(action.weights):
        return action
    thens, next_states = zip(*ways, strict=True)
    return action._replace(weights=weights, thens=thens, next_states=next_states)


def _sum_is_exact(a: float, b: float) -> bool:
    """Whether a sum is exact: the error of a sum of doubles is a double (Knuth 1997)."""
    rounded = (a + b) - a
    return a - ((a + b) - rounded) == rounded - b


def has_equal_outcomes(action: Action) -> bool:
    """Whether two outcomes have the same next state and the same `then`."""
    ways = [
        (then, next_state)
        for then, next_state in zip(action.thens, action.next_states, strict=True)
        if next_state is not None
    ]
    try:
        return len(set(ways)) < len(ways)
    except TypeError:  # a field is a list, say; numbering the states reports this
        return False


def _all_of(rules: Rules, what: str, method: Any, at: Situation, *action: int) -> list[Any]:
    """All items that a rule yields. An error names the state if the rule fails or does not end."""
    CALLS.begun += 1
    try:
        given = method(at.state, *at.throw, *action)
        listed = [] if given is None else list(islice(given, limits.MOST_YIELDED + 1))
    except KeyboardInterrupt as stop:
        line = fault_place(stop)
        stop.add_note(f"in {what}() in the state {rules.where(at, *action)}{line}")
        raise
    except PASSED_ON:
        raise
    except BaseException as error:
        fault = fault_text(error)
        hint = "; it should yield" if "object is not iterable" in fault else ""
        raise rules.fault(
            f"{what}() fails in the state {rules.where(at, *action)}: {fault}{hint}"
        ) from error
    if given is None:
        raise rules.fault(
            f"{what}() gives None in the state {rules.where(at, *action)}; it should yield "
            f"{YIELDED[what]}, in every case"
        )
    if len(listed) > limits.MOST_YIELDED:
        raise rules.fault(
            f"{what}() yields more than {limits.MOST_YIELDED:,} {what} in "
            f"the state {rules.where(at, *action)}; does a loop in it never end?"
        )
    return listed


def _expand_action(rules: Rules, at: Situation, action: int) -> Action:
    outcomes = _all_of(rules, "outcomes", rules.outcomes, at, action)
    # Most actions pass a fast test of all outcomes at once.
    if _in_order(rules, outcomes):
        weights, thens, next_states = zip(*outcomes, strict=True)
    else:
        weights, thens, next_states = _one_by_one(rules, outcomes, at, action)
    _require_total(rules, sum(weights), bool(outcomes), "outcome", at, action)
    reward = _checked_reward(rules, at, action) if rules.has_reward else 0.0
    return Action(action, reward, weights, thens, next_states)


def _require_total(
    rules: Rules, total: int | float, some: bool, what: str, at: Situation, *action: int
) -> None:
    """Require a finite sum of weights."""
    if total == 0:
        problem = "the weights are all zero" if some else f"no {what}"
        remedy = "" if some else "; yield one in every case: a `return` beside a yield gives none"
        raise rules.fault(f"{problem} in the state {rules.where(at, *action)}{remedy}")
    if total > MAX_TOTAL_WEIGHT or not math.isfinite(total):
        raise rules.fault(
            f"the weights add up to {total} in the state {rules.where(at, *action)}, "
            f"more than {MAX_TOTAL_WEIGHT}"
        )


def _in_order(rules: Rules, outcomes: list[Any]) -> bool:
    """Whether outcomes need no detailed check. True for most actions; this test is fast."""
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
    rules: Rules, outcomes: Iterable[Any], at: Situation, action: int
) -> tuple[tuple[int | float, ...], tuple[int, ...], tuple[Any, ...]]:
    """The weights, thens and next states of outcomes. The next state is None if the game is over.

    Raises
    ------
    RulesError
    """
    checked: list[tuple[int | float, int, Any]] = []
    for k, outcome in enumerate(outcomes):
        try:
            found = _checked_outcome(rules, outcome, at, action)
        except RulesError as error:
            line = _line_of(rules.game.outcomes, at, k, action)
            raise RulesError(f"{error}{line}") from error
        if found[0] != 0:
            checked.append(found)
    weights, thens, next_states = zip(*checked, strict=True) if checked else ((), (), ())
    return without_fractions(weights), thens, next_states


def without_fractions(weights: Iterable[Any]) -> tuple[int | float, ...]:
    """Weights in the same proportions without fractions: whole numbers, or floats beside floats."""
    weights = tuple(weights)
    fractions = [weight for weight in weights if isinstance(weight, Fraction)]
    if not fractions:
        return weights
    if any(isinstance(weight, float) for weight in weights):
        return tuple(map(float, weights))
    # The smallest whole numbers in this proportion.
    ways = math.lcm(*(weight.denominator for weight in fractions))
    whole = [int(weight * ways) for weight in weights]
    return tuple(weight // math.gcd(*whole) for weight in whole)


def _checked_outcome(
    rules: Rules, outcome: Any, at: Situation, action: int
) -> tuple[int | float, int, Any]:
    """The weight, then and next state of an outcome. The next state is None if the game is over."""
    try:
        weight, then, next_state = outcome
    except (TypeError, ValueError):
        is_pair = isinstance(outcome, tuple) and len(outcome) == 2
        hint = "; where play ends, next_state is any state, as in (1, WIN, s)" if is_pair else ""
        raise rules.fault(
            f"outcomes() gives {shown(outcome)} in the state "
            f"{rules.where(at, action)}; it should yield (weight, then, next_state){hint}"
        ) from None
    if type(weight) is not int or weight < 0:
        weight = _checked_weight(rules, weight, at, action)
    is_whole = isinstance(then, int | np.integer) and not isinstance(then, bool)
    if not is_whole or not rules.allows(int(then)):
        raise rules.fault(f"{rules.then_error(then)} in the state {rules.where(at, action)}")
    then = int(then)
    if is_over(then):  # the state is not examined if the game is over
        next_state = None
    elif weight != 0 and type(next_state) is not rules.state_type:
        rules.checked(next_state, f"outcomes() in the state {rules.where(at, action)}")
    return weight, then, next_state


def _line_of(method: Any, at: Situation, number: int, *action: int) -> str:
    """The line where a rule yields an item, in brackets; empty if unknown."""
    try:
        given = method(at.state, *at.throw, *action)
    except PASSED_ON:
        raise
    except BaseException:
        return ""
    return yielded_place(given, number)


def _checked_weight(rules: Rules, weight: Any, at: Situation, *action: int) -> int | float:
    number: int | float
    try:
        number = whole(weight)
    except TypeError:
        if not isinstance(weight, float | np.floating | Fraction):
            raise rules.fault(
                f"the weight {shown(weight)} in the state "
                f"{rules.where(at, *action)} isn't a number; a weight is a whole number of "
                "ways (or, for unfair dice, a fraction or a float)"
            ) from None
        number = weight if isinstance(weight, Fraction) else float(weight)  # type: ignore[assignment]
    if not number >= 0 or number == math.inf:
        raise rules.fault(
            f"the weight {shown(weight)} in the state "
            f"{rules.where(at, *action)} isn't a finite number from 0"
        )
    return number


def _checked_reward(rules: Rules, at: Situation, action: int) -> float:
    game = rules.game
    CALLS.begun += 1
    try:
        given = game.reward(at.state, *at.throw, action)
        reward = math.nan if given is None else float(given)
    except PASSED_ON:
        raise
    except BaseException as error:
        raise rules.fault(
            f"reward() fails in the state {rules.where(at, action)}: {fault_text(error)}"
        ) from error
    if given is None or isinstance(given, str):  # even a text that Python converts to a number
        raise rules.fault(
            f"reward() gives {given!r} in the state {rules.where(at, action)}; it is a number, 0 "
            "where there are no points"
        )
    fault = ""
    if not math.isfinite(reward):
        fault = "isn't finite"
    elif reward != 0 and not rules.rewards_allowed:
        fault = rules.reward_error
    if fault:
        raise rules.fault(f"the reward {given!r} in the state {rules.where(at, action)} {fault}")
    return reward + 0.0  # turns -0.0 into 0.0
