"""The proved distance of values from elsewhere, or of a policy, from the truth.

The true value of a position lies within the bound b of the value v of our solution. A given value g
is then between |g - v| - b and |g - v| + b away from the truth, and both ends are proved. The loss
of a policy is measured in the same way: its own value, or its value against the best response to
it, has a bound too.

Of three or more players the values are those of our equilibrium, which need not be the only one.
The loss of a policy, or of a policy for each seat, is then the most that a seat gains by another
policy while all others keep to theirs: the policies are an equilibrium where nobody loses.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.evaluation import SeatPolicies, best_response, evaluate, evaluate_seats
from rollwise.answer.references import (
    AnyPolicy,
    Policies,
    array_in,
    legal_values,
)
from rollwise.errors import PolicyError, UnknownState, UsageError
from rollwise.faults import one_line
from rollwise.graph import StateGraph, win_probability
from rollwise.graph.policies import Policy
from rollwise.machine.atomic_files import read_text, require_file
from rollwise.machine.parquet_files import read_parquet
from rollwise.many.seats import seat_columns
from rollwise.numbers.printed import CHANCE_ROUNDING

Floats = NDArray[np.float64]
ENDINGS = (".csv", ".parquet", ".json", ".npy", ".txt")
TABLES = (".csv", ".parquet")
COLUMNS = ("win_probability", "value")
BY_TEXT = "text"  # in place of a column: values by the texts of positions
ROUNDING = 2.0**-50  # of a difference, relative to its parts


@dataclass(frozen=True, eq=False)
class Distance:
    """How far given numbers are from the true ones: at least `low` and at most `high`.

    Attributes
    ----------
    graph : StateGraph
    name : str
        A file, or a policy.
    given, true, bounds : (n_states,) float64
        Chances to win, or values where there are none; NaN in `given` where nothing is given. Of
        three or more players those of the seat with the largest error.
    seat, mover : (n_states,) int64 or None
        Of three or more players: this seat, counted from the mover, and the seat to move.
    """

    graph: StateGraph
    name: str
    given: Floats
    true: Floats
    bounds: Floats
    seat: NDArray[np.int64] | None = None
    mover: NDArray[np.int64] | None = None

    @classmethod
    def of_seats(
        cls, graph: StateGraph, name: str, given: Floats, true: Floats, bounds: Floats
    ) -> Distance:
        """The largest distance of any seat in each state.

        Parameters
        ----------
        given, true, bounds : (n_movers, n_states, players) float64
            ``[j, s, k]`` is of the seat k places after the mover in state s, with seat j to move.
        """
        every = (np.moveaxis(part, 0, 1) for part in (given, true, bounds))
        given, true, bounds = (part.reshape(graph.n_states, -1) for part in every)
        off = cls(graph, name, given, true, bounds).high
        worst = np.argmax(np.where(np.isnan(off), -1.0, off), axis=1)
        given, true, bounds = (
            np.take_along_axis(part, worst[:, None], axis=1)[:, 0] for part in (given, true, bounds)
        )
        mover, seat = np.divmod(worst, graph.players)
        return cls(graph, name, given, true, bounds, seat, mover)

    @property
    def low(self) -> Floats:
        """(n_states,) float64"""
        return np.maximum(self._apart - self._room, 0.0)

    @property
    def high(self) -> Floats:
        """(n_states,) float64"""
        return np.asarray(self._apart + self._room)

    @property
    def _apart(self) -> Floats:
        with np.errstate(invalid="ignore"):
            apart = np.abs(self.given - self.true)
        return np.where(self.given == self.true, 0.0, apart)

    @property
    def _room(self) -> Floats:
        parts = np.where(np.isfinite(self.true), np.abs(self.true), 0.0)
        sure = np.where(np.isfinite(self.true), self.bounds, 0.0)
        return sure + ROUNDING * (parts + sure + np.where(np.isfinite(self._apart), self._apart, 0))

    @property
    def compared(self) -> NDArray[np.int64]:
        """The states with a given number."""
        return np.flatnonzero(~np.isnan(self.given))

    @property
    def worst(self) -> int:
        """The state with the largest error."""
        return int(self.compared[np.argmax(self.high[self.compared])])


def distance_of_values(policies: Policies, path: Path) -> Distance:
    """The distance of the values in a file from the true ones.

    Parameters
    ----------
    path : Path
        A table (``.csv``, ``.parquet``) with the fields and a column ``win_probability`` or
        ``value``, of the player to move; of three or more players a column for each, as `table`
        prints them. Or numbers in the order of the positions or of the states
        of a model: a ``.npy`` array (of two dimensions: Q-values), a ``.json`` list, or a
        ``.txt`` file with a number a line. A ``.json`` list of Storm has objects with the fields in
        ``s`` and the value in ``v``. A ``.json`` object has values by the texts of
        positions, as OpenSpiel's value iteration. These numbers are chances to win where the game
        has them; in a model they are chances to reach the goal, or totals, whoever moves.

    Raises
    ------
    PolicyError
        The file can't be read, or doesn't fit the game.
    """
    solution = policies.solution
    graph = policies.graph
    several = list(seat_columns(graph, np.empty((0, graph.players)))) if graph.players > 2 else []
    given = np.full((graph.n_states, len(several)) if several else graph.n_states, np.nan)
    if path.suffix not in ENDINGS:
        raise PolicyError(f"{path} is none of {', '.join(ENDINGS)}")
    if several and path.suffix not in TABLES:
        raise PolicyError(
            f"{path}: the values of {graph.players} seats are a table ({' or '.join(TABLES)}) with "
            f"the columns {', '.join(several)}, from the mover on"
        )
    game = policies.game
    order = dict.fromkeys(graph.positions.tolist(), False) if game is None else game.numbered(graph)
    rows, numbers, column = _read(path, policies, len(order), several)
    numbers = _finite(path, numbers, bool(np.isinf(solution.values).any()))
    if rows is None:
        given[list(order)] = numbers
    else:
        for row, number in zip(rows, numbers, strict=True):
            position = _place(path, graph, row)
            if not np.isnan(given[position]).any():
                if several and (given[position] == number).all():  # of a mixture, a row each
                    continue
                raise PolicyError(f"{path} has two values for {graph.state_text(position)}")
            given[position] = number
        wanted = [s for s in order if column != BY_TEXT or graph.view[s].is_choice]
        missing = [state for state in wanted if np.isnan(given[state]).any()]
        if missing:
            first = graph.state_text(missing[0])
            raise PolicyError(
                f"{path} has no value for {len(missing):,} of {len(wanted):,} positions, the "
                f"first one {first}"
            )
    if solution.profile is not None:
        true, bounds = solution.profile.values, solution.profile.error_bounds
        return Distance.of_seats(graph, path.name, given[None], true[None], bounds[None])
    column = column.removesuffix(BY_TEXT)
    is_value = column == "value" or graph.is_score
    if not column:
        is_value |= not getattr(game, "is_chance", True)
        # such numbers are of one player throughout: those of the other's positions are turned
        others = [state for state, is_other in order.items() if is_other]
        given[others] = -given[others] if is_value else 1 - given[others]
    true, bounds = solution.values, solution.error_bounds
    if not graph.is_score:
        true, bounds = win_probability(true), bounds / 2 + CHANCE_ROUNDING
        if is_value:
            given, bounds = win_probability(given), bounds + CHANCE_ROUNDING
    return Distance(graph, path.name, given, true, bounds)


def _place(path: Path, graph: StateGraph, row: Mapping[str, Any]) -> int:
    """The state of a row."""
    try:
        # a row of a position before the throw has no numbers of a throw
        absent = [name for name in graph.throw_names if row.get(name) in (None, "")]
        names = [name for name in graph.columns if name not in absent]
        return graph.find({name: int(row[name]) for name in names})
    except (AttributeError, KeyError, TypeError, ValueError):
        fields = ", ".join(name for name in graph.field_names if name not in graph.throw_names)
        raise PolicyError(f"{path}: a row has no whole numbers for {fields}") from None
    except UnknownState as error:
        raise PolicyError(f"{path}: {error}") from None


def _finite(path: Path, numbers: Any, may_be_infinite: bool) -> Floats:
    values = np.asarray(numbers, np.float64)
    wrong = np.isnan(values) if may_be_infinite else ~np.isfinite(values)
    if wrong.any():
        number = int(np.argmax(wrong))
        raise PolicyError(f"{path}: the value {number + 1} is {values[number]}, which is no number")
    return values


def _number(given: Any) -> float:
    if isinstance(given, bool) or given is None or given == "":
        raise ValueError(f"{given!r} is no number")
    return float(given)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    by_key = dict(pairs)
    if len(by_key) < len(pairs):
        raise ValueError("an object has the same key twice")
    return by_key


def _best(path: Path, policies: Policies, given: Floats) -> Any:
    """Values as they are; of Q-values the best ones."""
    graph, game = policies.graph, policies.game
    if given.ndim == 1:
        return given
    if game is None or graph.throw_names:
        raise PolicyError(f"{path}: Q-values are for a game without throws, with its rules")
    best = np.max if graph.view.sign > 0 else np.min
    pairs = zip(game.numbered(graph), given, strict=True)
    return [best(legal_values(path, graph.view[state], row)) for state, row in pairs]


def _read(
    path: Path, policies: Policies, n: int, several: list[str]
) -> tuple[list[Any] | None, Any, str]:
    """The rows of a file, or None for n numbers in order; its numbers; the name of their column.

    Parameters
    ----------
    several : list of str
        Of three or more players the columns of numbers, one a seat.
    """
    graph = policies.graph
    require_file(path, "a file of values", PolicyError)
    if path.suffix == ".npy":
        return None, _best(path, policies, array_in(path, graph, n)), ""
    try:
        rows: Any
        if path.suffix == ".parquet":
            rows = list(read_parquet(path).iter_rows(named=True))
        else:
            text = read_text(path)
            if path.suffix == ".csv":
                rows = list(csv.DictReader(text.splitlines()))
            elif path.suffix == ".json":
                rows = json.loads(text, object_pairs_hook=_each_once)
            else:
                rows = text.split()
        # by the texts of positions, as OpenSpiel writes them
        if isinstance(rows, dict):
            matched = [(row, _number(rows[text])) for row, text in _texts(policies) if text in rows]
            if not matched:
                raise ValueError("none of its keys is the text of a position")
            return [row for row, _ in matched], [value for _, value in matched], BY_TEXT
        if not isinstance(rows, list):
            raise ValueError("it is no list")
        if not rows or not isinstance(rows[0], Mapping):
            if len(rows) != n:
                raise ValueError(f"it has {len(rows):,} numbers for {n:,} positions")
            return None, list(map(_number, rows)), ""
        if path.suffix == ".json" and "v" in rows[0]:
            return [row["s"] for row in rows], [_number(row["v"]) for row in rows], ""
        return rows, *_in_columns(rows, several, COLUMNS[graph.is_score :])
    except Exception as error:
        raise PolicyError(f"{path} can't be read as values: {one_line(str(error))}") from error


def _in_columns(
    rows: list[Mapping[str, Any]], several: list[str], names: tuple[str, ...]
) -> tuple[list[Any], str]:
    """The numbers of a table: those of each seat, or the first of some columns and its name."""
    missing = [name for name in several if name not in rows[0]]
    column = next((name for name in names if name in rows[0]), "")
    if missing or not (several or column):
        raise ValueError(f"it has no column {' or '.join(missing[:1] or names)}")
    if several:
        return [[_number(row[name]) for name in several] for row in rows], ""
    return [_number(row[column]) for row in rows], column


def _texts(policies: Policies) -> Iterator[tuple[dict[str, int], str]]:
    """The fields and the text of each position."""
    game, graph = policies.game, policies.graph
    if game is not None:
        kind = type(game.start())
        for row in graph.states.tolist():
            yield dict(zip(graph.field_names, row, strict=True)), game.show(kind(*row))


def distance_of_policy(policies: Policies, policy: AnyPolicy | SeatPolicies) -> Distance:
    """The loss of a policy in each position, against the best response of the other player.

    In a game for two the loss is the larger one of both players, each of whom may follow the
    policy; the given numbers are those of the player to move. Of three or more players, who follow
    one policy or one each, it is the largest gain of a seat by its best response; the given numbers
    are the results of this seat.

    Parameters
    ----------
    policy : str, callable, Policy or list of them
        A list has one for each seat of three or more, in the order of the moves.
    """
    graph = policies.graph
    every = policy if isinstance(policy, list | tuple) else [policy]
    found = [policies.find(one) for one in every]
    if graph.players > 2:
        return _gains(graph, found)
    if len(found) > 1:
        raise UsageError(f"{graph.title}: a policy for each seat is for three or more players")
    (chosen,), solution = found, policies.solution
    true, bounds = solution.values, solution.error_bounds
    if graph.players == 1:
        evaluation = evaluate(policies, chosen)
        given, sure = evaluation.values, evaluation.bounds
    else:
        response = best_response(policies, chosen)
        assert response.bounds is not None
        assert response.bounds_second is not None
        # the loss of a player with the policy who is to move, and of one who waits
        follows, waits = true + response.values_second, response.values - true
        is_mover = follows >= waits
        given = true - np.where(is_mover, follows, waits)
        sure = np.where(is_mover, response.bounds_second, response.bounds)
    if sure is None:
        raise UsageError(f"{graph.title}: the values of {chosen.name} have no bounds")
    bounds = bounds + sure
    if not graph.is_score:
        true, given = win_probability(true), win_probability(given)
        bounds = bounds / 2 + 2 * CHANCE_ROUNDING
    return Distance(graph, chosen.name, given, true, bounds)


def _gains(graph: StateGraph, policies: list[Policy]) -> Distance:
    """The largest gain of a seat by its best response in each position."""
    has, best = (evaluate_seats(graph, policies, at_best=at_best) for at_best in (False, True))
    bounds = np.broadcast_to((has.bounds + best.bounds)[:, :, None], has.values.shape)
    name = ",".join(policy.name for policy in policies)
    return Distance.of_seats(graph, name, has.values, best.values, bounds)
