"""Features of states and of actions, for rules of thumb.

The features of a state are its fields, the numbers of the throw, and the `features` of the rule
sheet. The features of an action are its number, its points, whether the mover goes on, whether it
may win, and the `action_features` of the rule sheet. All are whole numbers.

In a game with a pool of dice a position has some hundred throws, each with many possible kept dice.
A call of the rule sheet therefore covers many positions: each field of ``s`` is an array. There is
one call of `kept_features` for each set of kept dice, and one of `action_features` for each throw
and action. The positions of a call differ in the fields that the function reads. A feature that is
the same in all positions is computed once. `features` is called for positions alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from itertools import pairwise
from operator import index
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.remembered import remembered
from rollwise.builders.rules import Rules
from rollwise.derive.derived_game import base_actions
from rollwise.dice import Pool
from rollwise.errors import PolicyError
from rollwise.faults import PASSED_ON, fault_text
from rollwise.game import Game
from rollwise.graph import KEEP, THROW, StateGraph
from rollwise.graph.choices import fold_outcomes, has_choice
from rollwise.graph.layout import StateLayout
from rollwise.graph.naming import NO_THROW

MOST = 1 << 20  # in size, of a feature that a rule sheet offers
Columns: TypeAlias = dict[str, NDArray[np.int32]]
NUMBER = "number"  # of an action
OF_ACTIONS = (NUMBER, "points", "again", "wins")
WORDS = ("max", "min")  # of the language of rules


class Asked(NamedTuple):
    """Features of some positions.

    Attributes
    ----------
    group : (n,) int64
        Positions of one group are equal in all fields that the function reads.
    tables : dict of (n_groups, n_cases) int32
        By the names of features; (1, n_cases) for features that are the same in all positions.
    """

    group: NDArray[np.int64]
    tables: dict[str, NDArray[np.int32]]

    def at(self, name: str, position: Any, case: Any) -> Any:
        """A feature of cases in positions, given by their numbers."""
        table = self.tables[name]
        return table[self.group[position] if len(table) > 1 else 0, case]


def kept_dice(pool: Pool) -> list[tuple[int, ...]]:
    """All sets of kept dice by number, as in `rollwise.layers.layer.Pool`."""
    return [*pool.keeps, *(throw for _, throw in pool.throws)]


def position_features(
    game: Game, rows: NDArray[np.int32], names: Sequence[str]
) -> dict[str, NDArray[np.int32]]:
    """The rule sheet's features of each position: (n,) int32 by name.

    Parameters
    ----------
    rows, names
        As `kept_features` takes them.
    """
    if type(game).features is Game.features or not len(rows):
        return {}
    columns = _said_of_many(game, game.features, _positions(rows, names), (), len(rows))
    return {
        name: np.broadcast_to(values, len(rows)).astype(np.int32)
        for name, values in columns.items()
    }


def kept_features(game: Game, pool: Pool, rows: NDArray[np.int32], names: Sequence[str]) -> Asked:
    """The features of all sets of kept dice, by number.

    Parameters
    ----------
    rows : (n, n_fields) int32
        Positions.
    names : sequence of str
        Of their fields.
    """
    return _asked_at_once(
        game, game.kept_features, [(kept,) for kept in kept_dice(pool)], rows, names
    )


def filled_features(
    game: Game,
    ends: Sequence[tuple[Any, ...]],
    labels: Sequence[int],
    rows: NDArray[np.int32],
    names: Sequence[str],
) -> Asked:
    """The features of all actions where a turn may end: by throw, and then by action.

    Parameters
    ----------
    ends : sequence of tuple
        The arguments of the rules: the throw, and the rolls left if the rules read them.
    labels : sequence of int
        The actions.
    rows, names
        As `kept_features` takes them.
    """
    cases = [(*end, label) for end in ends for label in labels]
    return _asked_at_once(game, game.action_features, cases, rows, names)


class _Positions:
    """Many positions in the place of one: each field an array. It records the fields read."""

    def __init__(self, columns: Mapping[str, NDArray[np.int64]]) -> None:
        self.__dict__.update(_columns=columns, _read=set())

    def __getattr__(self, name: str) -> NDArray[np.int64]:
        columns: Mapping[str, NDArray[np.int64]] = self.__dict__["_columns"]
        if name not in columns:
            raise AttributeError(f"no field {name!r} (the fields: {', '.join(columns)})")
        self.__dict__["_read"].add(name)
        return columns[name]


class _Probe(NamedTuple):
    """The rule sheet's features at the start.

    Attributes
    ----------
    said : list of dict
        The features of each case.
    read : frozenset of str
        The fields read by the function.
    differ : frozenset of str
        The features that may differ between positions.
    """

    said: list[dict[str, NDArray[np.int64]]]
    read: frozenset[str]
    differ: frozenset[str]


@remembered(8, "kept_features", "action_features")
def _probed(game: Game, name: str, cases: tuple[Any, ...], names: tuple[str, ...]) -> _Probe:
    start = game.start()
    numbers = StateLayout.of(game, start).numbers(start)
    twice = np.array([numbers] * 2, np.int32)  # an array of one number allows an if
    one = _positions(twice, names)
    answers = [_said_of_many(game, getattr(game, name), one, case, 2) for case in cases]
    differ = {key for case in answers for key, value in case.items() if value.ndim}
    return _Probe(answers, frozenset(one._read), frozenset(differ))


def _asked_at_once(
    game: Game,
    function: Callable[..., Any],
    cases: Sequence[tuple[Any, ...]],
    rows: NDArray[np.int32],
    names: Sequence[str],
) -> Asked:
    name = function.__name__
    if name != "kept_features" and getattr(type(game), name) is getattr(Game, name):
        return Asked(np.zeros(len(rows), np.int64), {})
    probe = _probed(game, function.__name__, tuple(cases), tuple(names))
    read = [k for k, name in enumerate(names) if name in probe.read]
    different, group = np.unique(rows[:, read], axis=0, return_inverse=True)
    first = np.zeros(len(different), np.int64)
    # reversed, so that the first row of each group is written last and stays
    first[group.reshape(-1)[::-1]] = np.arange(len(rows))[::-1]
    many, n = _positions(rows[first], names), len(different)
    tables = dict[str, NDArray[np.int32]]()
    # a case whose probe gave one number for all positions isn't asked again
    for number, case in enumerate(cases):
        answers = probe.said[number]
        if any(value.ndim for value in answers.values()):
            answers = _said_of_many(game, function, many, case, n)
        for name, values in answers.items():
            if name not in tables:
                height = n if name in probe.differ else 1
                tables[name] = np.zeros((height, len(cases)), np.int32)
            tables[name][:, number] = values
    return Asked(group.reshape(-1).astype(np.int64), tables)


def _positions(rows: NDArray[np.int32], names: Sequence[str]) -> Any:
    return _Positions({name: rows[:, k].astype(np.int64) for k, name in enumerate(names)})


def _said_of_many(
    game: Game, function: Callable[..., Any], positions: Any, case: tuple[Any, ...], n: int
) -> dict[str, NDArray[np.int64]]:
    """Whole numbers by name: () int64 if the same in all positions, else (n,) int64."""
    name = function.__name__
    try:
        answer = {
            str(key): np.asarray(value) for key, value in dict(function(positions, *case)).items()
        }
    except PASSED_ON:
        raise
    except BaseException as error:
        raise PolicyError(
            f"{game.name}: {name} is asked of many positions at once, whose fields are arrays: it "
            f"must compute with them, without an if, and of {case} it fails: {fault_text(error)}"
        ) from error
    for key, values in answer.items():
        whole = values.dtype.kind in "iub" and values.shape in ((), (n,))
        if not key.isidentifier() or not whole or np.abs(values.astype(np.int64)).max() > MOST:
            raise PolicyError(
                f"{game.name}: {name} gives {key!r} = {values!r} of {case}; a feature has a name "
                f"like those of Python, and whole numbers of at most {MOST:,} in size"
            )
    return {key: values.astype(np.int64) for key, values in answer.items()}


@dataclass(frozen=True, eq=False)
class Features:
    """The features of one game, each kind computed at first use.

    Attributes
    ----------
    graph : StateGraph
    game : Game or None
    constant : bool
        Whether to include constant features of actions, as for a part of a game.
    among : (n,) int, optional
        The states with features from the rule sheet; all unless given.
    """

    graph: StateGraph
    game: Game | None = None
    constant: bool = False
    among: NDArray[np.int64] | None = None

    @cached_property
    def states(self) -> Columns:
        """Of each state: (n_states,) int32 by name; before a throw its numbers are 0."""
        graph, game = self.graph, self.game
        rows = np.where(graph.rows == NO_THROW, 0, graph.rows)
        columns = {name: np.ascontiguousarray(rows[:, k]) for k, name in enumerate(graph.columns)}
        if game is not None and type(game).features is not Game.features:
            own = (
                _of_positions(graph, game)
                if graph.has_pool
                else _asked(
                    graph, game, game.features, graph.n_states, self.among, of_actions=False
                )
            )
            columns |= _apart(graph, "features", own, columns)
        return columns

    @property
    def of_the_sheet(self) -> bool:
        """Whether the rule sheet offers features of actions of its own."""
        return self.game is not None and type(self.game).action_features is not Game.action_features

    @cached_property
    def actions(self) -> Columns:
        """The features of each action: (n_actions,) int32 by name.

        Constant features are omitted unless `constant` is true. A game derived from another also
        has the features of the other's actions.
        """
        graph, game = self.graph, self.game
        columns = self._of_actions()
        if game is not None and game.base_game is not game:
            inner = game.base_graph(graph)
            index = base_actions(graph, inner)
            of_inner = Features(inner, game.base_game).actions
            columns |= {name: values[index] for name, values in of_inner.items()}
        choice = has_choice(graph)[graph.action_state]
        return {
            name: values
            for name, values in columns.items()
            if self.constant or (choice.any() and np.ptp(values[choice]))
        }

    def _of_actions(self) -> Columns:
        graph, game = self.graph, self.game
        columns: Columns = {NUMBER: graph.action_label}
        if game is not None and graph.has_pool and graph.throws is not None:
            return columns | _pool_features(graph, game)
        points = graph.lotteries.reward[graph.action_lottery]
        if np.all(points == np.round(points)) and np.all(np.abs(points) < MOST):
            columns["points"] = points.astype(np.int32)
        if graph.players == 2:
            stays = (graph.outcome_state >= 0) & ~graph.outcome_passes
            wins = (graph.outcome_state < 0) & (graph.outcome_payoff > 0)
            columns["again"] = fold_outcomes(graph, np.logical_and, stays).astype(np.int32)
            columns["wins"] = fold_outcomes(graph, np.logical_or, wins).astype(np.int32)
        if game is not None and self.of_the_sheet:
            asked = game.action_features
            own = _asked(graph, game, asked, graph.n_actions, self.among, of_actions=True)
            columns |= _apart(graph, "action_features", own, OF_ACTIONS)
        return columns


def numbers_count(graph: StateGraph) -> bool:
    """Whether the numbers of the actions count something, so that people can compare them.

    Numbers count if the actions have no names, or the numbers in their names ascend with them:
    ``roll``, ``take 1``, ``take 2``. Most names have a number. Names such as ``hold`` and ``roll``
    count nothing.
    """
    texts = [graph.vocabulary.text(label) for label in graph.vocabulary.labels if label != THROW]
    written = [int(found[0]) for text in texts if (found := re.search(r"\d+", text))]
    ascends = all(one < other for one, other in pairwise(written))
    return graph.has_pool or (2 * len(written) > len(texts) and len(written) > 1 and ascends)


def _of_positions(graph: StateGraph, game: Game) -> Columns:
    """The rule sheet's features of each state in a game with a pool, constant within a turn."""
    fields = graph.field_names
    return position_features(game, np.asarray(graph.rows[:, : len(fields)], np.int32), fields)


def _apart(graph: StateGraph, word: str, own: Columns, names: Collection[str]) -> Columns:
    """The features of a rule sheet, if their names have no other meaning.

    Raises
    ------
    PolicyError
    """
    for name in own:
        if name in names or name in WORDS:
            means = "a word of rules of thumb" if name in WORDS else "there already"
            raise PolicyError(f"{graph.game}: {word} gives {name!r}, which is {means}: rename it")
    return own


def _pool_features(graph: StateGraph, game: Game) -> Columns:
    """The features of actions in turns with a pool: of kept dice, and where a turn may end.

    The features of the position are included, for products with these.
    """
    pool = Rules(game).pool
    if pool is None:
        return {}
    n, size = graph.n_positions, graph.turn_states
    rows = graph.states[:n, : len(graph.field_names)]
    index = graph.action_state.astype(np.int64) - n
    of_turn = graph.action_label != THROW
    position, within = np.divmod(index[of_turn], size)
    label = graph.action_label[of_turn].astype(np.int64)
    kept = label >= KEEP
    every = kept_dice(pool)
    codes = np.array([KEEP + pool.code(dice) for dice in every])
    order = np.argsort(codes)
    # the place of the kept dice among all sets, by bisection in the sorted codes
    at_kept = order[np.searchsorted(codes, label[kept], sorter=order)]
    labels = np.unique(label[~kept])
    assert graph.throws is not None
    ends = (graph.throws[:, :-1] > 0).all(axis=1)
    ends &= game.reads_rolls_left or graph.throws[:, -1] == 0
    thrown = [(tuple(throw), left) for *throw, left in graph.throws[ends].tolist()]
    given = [arguments[: 1 + game.reads_rolls_left] for arguments in thrown]
    # cases are numbered by throw, then by action
    at_filled = (np.cumsum(ends) - 1)[within[~kept]] * len(labels)
    at_filled += np.searchsorted(labels, label[~kept])
    numbers = label.astype(np.int32)
    numbers[kept] = np.array([len(dice) for dice in every], np.int32)[at_kept]
    columns: Columns = {NUMBER: _in_place(numbers, of_turn)}
    points = graph.lotteries.reward[graph.action_lottery]
    if np.all(points == np.round(points)) and np.all(np.abs(points) < MOST):
        columns["points"] = points.astype(np.int32)
    asked = (
        (kept, at_kept, kept_features(game, pool, rows, graph.field_names)),
        (~kept, at_filled, filled_features(game, given, labels.tolist(), rows, graph.field_names)),
    )
    for here, case, answers in asked:
        for name in [name for name in answers.tables if name not in ("number", "points")]:
            values = np.zeros(len(label), np.int32)
            values[here] = answers.at(name, position[here], case)
            columns[name] = columns.get(name, 0) + _in_place(values, of_turn)
    of_states = _of_positions(graph, game)
    return {name: values[graph.action_state] for name, values in of_states.items()} | columns


def _in_place(values: NDArray[np.int32], where: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Numbers at their places, and 0 elsewhere."""
    column = np.zeros(len(where), np.int32)
    column[where] = values
    return column


def _asked(
    graph: StateGraph,
    game: Game,
    function: Callable[..., Any],
    n: int,
    among: NDArray[np.int64] | None,
    *,
    of_actions: bool,
) -> Columns:
    """The rule sheet's features of the states with a choice, or of their actions."""
    layout, throws = StateLayout.of(game), graph.throw_layout
    throw_too = of_actions or looks_at_throw(game)
    columns = dict[str, NDArray[np.int32]]()
    for state in graph.view if among is None else map(graph.view.__getitem__, among.tolist()):
        if not state.is_choice:
            continue
        throw = () if throws is None or not throw_too else (throws.throw(state.throw),)
        at = (layout.state(state.fields), *throw)
        places = state.action_range if of_actions else [state.index]
        for number, more in zip(places, [(x,) for x in state.labels], strict=False):
            answer = _said(graph, function, (*at, *more) if of_actions else at, state)
            for name, value in answer.items():
                if name not in columns:
                    columns[name] = np.zeros(n, np.int32)
                columns[name][number] = value
    return columns


def looks_at_throw(game: Game) -> bool:
    """Whether the `features` of a game with throws take the throw as an argument."""
    try:
        signature(game.features).bind("s", "throw")
    except TypeError:
        return False
    return True


def _said(graph: StateGraph, function: Callable[..., Any], at: Any, state: Any) -> dict[str, int]:
    name = function.__name__
    try:
        answer = function(*at)
        features = {str(key): index(value) for key, value in dict(answer).items()}
    except PASSED_ON:
        raise
    except BaseException as error:
        raise PolicyError(
            f"{graph.game}: {name} must give a whole number by the name of each feature; in the "
            f"state {state} it doesn't: {fault_text(error)}"
        ) from error
    for key, value in features.items():
        if not key.isidentifier() or abs(value) > MOST:
            raise PolicyError(
                f"{graph.game}: {name} gives {key!r} = {value} in the state {state}; a feature has "
                f"a name like those of Python, and a value of at most {MOST:,} in size"
            )
    return features
