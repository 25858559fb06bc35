"""What rules of thumb look at in a game with a pool of dice: what is kept, and what is filled.

A position has some hundred throws, and each many parts that can be kept. So a rule sheet is not
asked position by position: the fields of ``s`` are arrays, of many positions at once, and it
computes with them. `kept_features` is asked of each part of a throw once, `action_features` of
each throw and each action. Where it reads only some fields, only what differs in these is asked,
and what is the same in all positions is asked once. `features` is asked of the positions alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.dice import Pool
from rollwise.errors import PolicyError
from rollwise.faults import PASSED_ON, fault_text
from rollwise.game import Game
from rollwise.graph.layout import StateLayout

MOST = 1 << 20  # in size, of a feature that a rule sheet offers


class Asked(NamedTuple):
    """Features of some positions.

    Attributes
    ----------
    group : (n,) int64
        Which positions are alike in all that was read.
    tables : dict of (n_groups, n_cases) int32
        By the names of features; of those that are the same in all positions (1, n_cases).
    """

    group: NDArray[np.int64]
    tables: dict[str, NDArray[np.int32]]

    def at(self, name: str, position: Any, case: Any) -> Any:
        """A feature of cases in positions, given by their numbers."""
        table = self.tables[name]
        return table[self.group[position] if len(table) > 1 else 0, case]


def kept_dice(pool: Pool) -> list[tuple[int, ...]]:
    """All that can be kept, by its number: as in `rollwise.layers.layer.Pool`."""
    return [*pool.keeps, *(throw for _, throw in pool.throws)]


def position_features(
    game: Game, rows: NDArray[np.int32], names: Sequence[str]
) -> dict[str, NDArray[np.int32]]:
    """What the rule sheet says of each position: (n,) int32 by name.

    Parameters
    ----------
    rows, names
        As `kept_features` takes them.
    """
    if type(game).features is Game.features or not len(rows):
        return {}
    said = _said(game, game.features, _positions(rows, names), (), len(rows))
    return {
        name: np.broadcast_to(values, len(rows)).astype(np.int32) for name, values in said.items()
    }


def kept_features(game: Game, pool: Pool, rows: NDArray[np.int32], names: Sequence[str]) -> Asked:
    """The features of all that can be kept, by its number.

    Parameters
    ----------
    rows : (n, n_fields) int32
        Positions.
    names : sequence of str
        Of their fields.
    """
    return _asked(game, game.kept_features, [(kept,) for kept in kept_dice(pool)], rows, names)


def filled_features(
    game: Game, pool: Pool, labels: Sequence[int], rows: NDArray[np.int32], names: Sequence[str]
) -> Asked:
    """The features of all actions after the last throw: by throw, and then by action.

    Parameters
    ----------
    labels : sequence of int
        The actions.
    rows, names
        As `kept_features` takes them.
    """
    cases = [(throw, label) for _, throw in pool.throws for label in labels]
    return _asked(game, game.action_features, cases, rows, names)


class _Positions:
    """Many positions in the place of one: each field an array. It notes which were read."""

    def __init__(self, columns: Mapping[str, NDArray[np.int64]]) -> None:
        self.__dict__.update(_columns=columns, _read=set())

    def __getattr__(self, name: str) -> NDArray[np.int64]:
        columns: Mapping[str, NDArray[np.int64]] = self.__dict__["_columns"]
        if name not in columns:
            raise AttributeError(f"no field {name!r} (the fields: {', '.join(columns)})")
        self.__dict__["_read"].add(name)
        return columns[name]


class _Probe(NamedTuple):
    """What a rule sheet says of the start.

    Attributes
    ----------
    said : list of dict
        Of each case the features.
    read : frozenset of str
        The fields that it looks at.
    differ : frozenset of str
        The features that may differ from position to position.
    """

    said: list[dict[str, NDArray[np.int64]]]
    read: frozenset[str]
    differ: frozenset[str]


@lru_cache(8)
def _probed(game: Game, name: str, cases: tuple[Any, ...], names: tuple[str, ...]) -> _Probe:
    start = game.start()
    numbers = StateLayout.of(game, start).numbers(start)
    twice = np.array([numbers] * 2, np.int32)  # one could be branched on
    one = _positions(twice, names)
    said = [_said(game, getattr(game, name), one, case, 2) for case in cases]
    differ = {key for case in said for key, value in case.items() if value.ndim}
    return _Probe(said, frozenset(one._read), frozenset(differ))


def _asked(
    game: Game,
    function: Callable[..., Any],
    cases: Sequence[tuple[Any, ...]],
    rows: NDArray[np.int32],
    names: Sequence[str],
) -> Asked:
    if getattr(type(game), function.__name__) is getattr(Game, function.__name__):
        return Asked(np.zeros(len(rows), np.int64), {})
    probe = _probed(game, function.__name__, tuple(cases), tuple(names))
    read = [k for k, name in enumerate(names) if name in probe.read]
    different, group = np.unique(rows[:, read], axis=0, return_inverse=True)
    first = np.zeros(len(different), np.int64)
    first[group.reshape(-1)[::-1]] = np.arange(len(rows))[::-1]
    many, n = _positions(rows[first], names), len(different)
    tables = dict[str, NDArray[np.int32]]()
    for number, case in enumerate(cases):
        said = probe.said[number]
        if any(value.ndim for value in said.values()):
            said = _said(game, function, many, case, n)
        for name, values in said.items():
            if name not in tables:
                height = n if name in probe.differ else 1
                tables[name] = np.zeros((height, len(cases)), np.int32)
            tables[name][:, number] = values
    return Asked(group.reshape(-1).astype(np.int64), tables)


def _positions(rows: NDArray[np.int32], names: Sequence[str]) -> Any:
    return _Positions({name: rows[:, k].astype(np.int64) for k, name in enumerate(names)})


def _said(
    game: Game, function: Callable[..., Any], positions: Any, case: tuple[Any, ...], n: int
) -> dict[str, NDArray[np.int64]]:
    """Whole numbers by name: () int64 where they are the same in all positions, (n,) int64."""
    name = function.__name__
    try:
        said = {
            str(key): np.asarray(value) for key, value in dict(function(positions, *case)).items()
        }
    except PASSED_ON:
        raise
    except BaseException as error:
        raise PolicyError(
            f"{game.name}: {name} is asked of many positions at once, whose fields are arrays: it "
            f"must compute with them, without an if, and of {case} it fails: {fault_text(error)}"
        ) from error
    for key, values in said.items():
        whole = values.dtype.kind in "iub" and values.shape in ((), (n,))
        if not key.isidentifier() or not whole or np.abs(values.astype(np.int64)).max() > MOST:
            raise PolicyError(
                f"{game.name}: {name} gives {key!r} = {values!r} of {case}; a feature has a name "
                f"like those of Python, and whole numbers of at most {MOST:,} in size"
            )
    return {key: values.astype(np.int64) for key, values in said.items()}
