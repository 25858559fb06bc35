"""A comparison of compiled rules with Python's rules on a sample of states.

Numba's arithmetic differs from Python's in some cases. Compiled code checks the known differences
itself (see `rollwise.builders.compiled.arithmetic`). For the rest, every graph made by compiled
rules is compared with interpreted rules on a sample of states: the states with the smallest and the
largest value of each field, where numbers overflow first, the last states found, and random others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.arrays import Arrays
from rollwise.builders.expand import Action, expand, merged, throws_in
from rollwise.builders.rules import Rules, Situation, throw_text
from rollwise.errors import RulesDiffer
from rollwise.faults import fault_text
from rollwise.then import is_over, round_the_table, then_text

# One of ONE_OF states is compared, at least FEW and at most MANY, with a limited number of
# outcomes. In Pig, which is solved in a tenth of a second, this takes some milliseconds.
ONE_OF, FEW, MANY = 5000, 100, 1000
OUTCOMES_PER_STATE = 4
LAST = 10
# Floats may differ in their last digits: a power, for example, is computed differently.
NEAR = 1e-14


def sample(states: NDArray[np.int32]) -> NDArray[np.int64]:
    """A sample of states: first the extreme and the last states, then others that vary by call.

    Parameters
    ----------
    states : (n_states, n_fields) int32

    Returns
    -------
    (at most MANY,) int64
        Numbers of states, without duplicates.
    """
    return sample_with(len(states), extreme_rows(states))


def sample_with(n: int, extremes: NDArray[np.int64]) -> NDArray[np.int64]:
    """As `sample`, given the numbers of the extreme states among `n`."""
    most = min(max(n // ONE_OF, FEW), MANY)
    last = n - 1 - np.arange(min(LAST, n))
    chosen = np.concatenate([extremes, last, np.random.default_rng().integers(n, size=most)])
    return np.array(list(dict.fromkeys(chosen.tolist()))[:most], np.int64)


def extreme_rows(states: NDArray[np.int32]) -> NDArray[np.int64]:
    """The first states with the smallest and the largest value of each field: (2 * n_fields,)."""
    # NumPy reads one column after the other faster than all of them, row by row.
    smallest = [column.argmin() for column in states.T]
    return np.array([*smallest, *(column.argmax() for column in states.T)], np.int64)


def compare(
    rules: Rules,
    arrays: Arrays,
    known: NDArray[np.int32],
    chosen: NDArray[np.int64],
    most_outcomes: float | None = None,
) -> None:
    """Compare the result of a compiled builder with the interpreted rules.

    Parameters
    ----------
    known : (n_known, n_fields) int32
        The rows of the arrays' next states.
    chosen : (n,) int64
        States of the arrays, most important first.
    most_outcomes : float, optional
        Only the first states, with about this many outcomes together, are compared. The
        default is a few for each chosen state.

    Raises
    ------
    RulesDiffer
        Names the state, the action and both results.
    RulesError
        The interpreted rules break the contract of the language.
    """
    left = OUTCOMES_PER_STATE * max(len(chosen), FEW) if most_outcomes is None else most_outcomes
    begins = None if arrays.throws is None else arrays.throws.situation_indptr
    lottery = cache(partial(_lottery, rules, arrays))  # many actions have the same
    for s in chosen.tolist():
        state = rules.layout.state(arrays.states[s].tolist())
        situations = {s: Situation(state)}
        if begins is not None:
            throws = _compare_throws(rules, arrays, s, state)
            found = (rules.after(state, throw) for throw in throws)
            situations = dict(zip(range(*begins[s : s + 2].tolist()), found, strict=True))
        for number, at in situations.items():
            compiled = list(_of_arrays(rules, arrays, known, number, lottery))
            left -= _compare_situation(rules, at, compiled)
            if left < 0:
                return


def _compare_throws(rules: Rules, arrays: Arrays, s: int, state: Any) -> list[Any]:
    """The throws of a state, if both results agree."""
    throws, layout = arrays.throws, rules.throws
    assert throws is not None
    assert layout is not None
    begin, end = throws.indptr[throws.of_state[s] :][:2].tolist()
    rows = layout.rows(throws.code[begin:end]).tolist()
    compiled = dict(zip(map(layout.throw, rows), throws.weight[begin:end].tolist(), strict=True))
    plain = throws_in(rules, state)
    if list(compiled) != list(plain) or not all(map(_near, compiled.values(), plain.values())):
        texts = [
            ", ".join(f"({weight}, {throw_text(throw)})" for throw, weight in found.items())
            for found in (compiled, plain)
        ]
        at = Situation(state)
        raise _differ(rules, rules.where(at), f"the throws are {texts[0]}", texts[1], at)
    return list(plain)


def _compare_situation(rules: Rules, at: Situation, compiled: list[Any]) -> int:
    """Compare both results for a situation; return its number of outcomes."""
    plain = list(expand(rules, at))
    if [_told(rules, action) for action in plain] != compiled:
        plain = _as_many(plain, compiled)
        _compare_actions(rules, at, plain, compiled)
    return sum(len(action.weights) for action in plain)


def compare_answers(
    rules: Rules,
    function: Callable[..., Any],
    states: NDArray[np.int32],
    answers: NDArray[np.int64],
    part: int | None = None,
) -> None:
    """Compare the results of a compiled function of game and state with interpreted results.

    Parameters
    ----------
    states : (n, n_fields) int32
    answers : (n,) int64
    part : int, optional
        The index of these numbers in an interpreted tuple.

    Raises
    ------
    RulesDiffer
    """
    for i in sample(states).tolist() if len(states) else ():
        at = rules.situation(states[i].tolist())
        try:
            plain = function(rules.game, at.state, *at.throw)
            plain = plain if part is None else plain[part]
        except Exception as error:
            plain = fault_text(error)
        if plain != answers[i]:
            raise _differ(
                rules, rules.where(at), f"{function.__name__}() is {answers[i]}", str(plain)
            )


def _told(rules: Rules, action: Action) -> tuple[Any, ...]:
    """An action in the form of `_of_arrays`."""
    after = zip(action.thens, action.next_states, strict=True)
    return (
        action.label,
        action.reward,
        list(action.weights),
        [round_the_table(then, rules.game.players) for then in action.thens],
        [None if is_over(then) else s for then, s in after],
    )


Lottery = tuple[float, list[Any], list[int]]


def _lottery(rules: Rules, arrays: Arrays, number: int) -> Lottery:
    """The reward, weights and thens of a lottery."""
    part = slice(*arrays.lottery_indptr[number : number + 2].tolist())
    thens = arrays.lottery_then[part].tolist()
    players = rules.game.players
    return (
        float(arrays.lottery_reward[number]),
        arrays.lottery_weight[part].tolist(),
        [round_the_table(then, players) for then in thens],
    )


def _of_arrays(
    rules: Rules,
    arrays: Arrays,
    known: NDArray[np.int32],
    s: int,
    lottery: Callable[[int], Lottery],
) -> Iterator[tuple[int, float, list[Any], list[int], list[Any]]]:
    """Label, reward, weights, thens and next states of the actions of a situation."""
    first, last = arrays.action_indptr[s : s + 2].tolist()
    begins = arrays.outcome_indptr[first : last + 1].tolist()
    labels = arrays.action_label[first:last].tolist()
    lotteries = arrays.action_lottery[first:last].tolist()
    numbers = arrays.outcome_state[begins[0] : begins[-1]]
    rows = [rules.layout.state(row) for row in known[numbers].tolist()]
    ended = (numbers < 0).tolist()
    next_states = [None if over else row for over, row in zip(ended, rows, strict=True)]
    for k, (label, number) in enumerate(zip(labels, lotteries, strict=True)):
        after = next_states[begins[k] - begins[0] : begins[k + 1] - begins[0]]
        yield label, *lottery(number), after


def _as_many(plain: list[Action], compiled: list[Any]) -> list[Action]:
    """The interpreted actions, with outcomes merged wherever the compiled rules merge them."""
    if len(plain) != len(compiled):
        return plain
    pairs = zip(plain, compiled, strict=True)
    return [merged(one) if len(other[2]) < len(one.weights) else one for one, other in pairs]


def _compare_actions(rules: Rules, at: Situation, plain: list[Action], compiled: list[Any]) -> None:
    """Raise an error for any difference in a state beyond the last digits of a float."""
    names = [
        ", ".join(rules.action_text(label) for label in labels)
        for labels in ([action[0] for action in compiled], [action.label for action in plain])
    ]
    if names[0] != names[1]:
        raise _differ(rules, rules.where(at), f"the actions are {names[0]}", names[1], at)
    for action, other in zip(plain, compiled, strict=True):
        where = rules.where(at, action.label)
        _, reward, weights, thens, next_states = _told(rules, action)
        if not _near(reward, other[1]):
            raise _differ(rules, where, f"the reward is {other[1]!r}", repr(reward), at)
        one = list(zip(weights, thens, next_states, strict=True))
        two = list(zip(*other[2:], strict=True))
        # Both lists are filled up with None, so that missing outcomes differ.
        for mine, theirs in zip(one + [None] * len(two), two + [None] * len(one), strict=True):
            same = mine == theirs or (
                mine and theirs and mine[1:] == theirs[1:] and _near(mine[0], theirs[0])
            )
            if not same:
                texts = [_outcome_text(rules, outcome) for outcome in (theirs, mine)]
                raise _differ(rules, where, f"an outcome is {texts[0]}", texts[1], at)


def _near(one: float, other: float) -> bool:
    return one == other or math.isclose(one, other, rel_tol=NEAR)


def _outcome_text(rules: Rules, outcome: Any) -> str:
    if outcome is None:
        return "missing"
    weight, then, next_state = outcome
    fields = "" if next_state is None else f", {rules.state_text(next_state)}"
    return f"({weight}, {then_text(then)}{fields})"


def _differ(
    rules: Rules, where: str, compiled: str, plain: str, at: Situation | None = None
) -> RulesDiffer:
    """The error for two different results, with advice."""
    remedy = (
        "compiled whole numbers have 64 bits (see 'Compiled rules' in docs/language.md); "
        "--mode interpreted (mode='interpreted') runs the rules in Python"
    )
    if at is not None and _changes(rules, at):
        remedy = "the rules don't say the same each time that they are asked"
    return RulesDiffer(
        f"{rules.game.name}: compiled, {compiled} in the state {where}; "
        f"in Python it is {plain}: {remedy}"
    )


def _changes(rules: Rules, at: Situation) -> bool:
    """Whether the interpreted rules give another result when asked again."""
    if rules.has_throws and not at.throw:
        throws = throws_in(rules, at.state)
        return any(throws_in(rules, at.state) != throws for _ in range(9))
    first = [_told(rules, action) for action in expand(rules, at)]
    return any([_told(rules, action) for action in expand(rules, at)] != first for _ in range(9))
