"""How far a game has gone, in many states: a number, or several, by which states are in layers."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.compiled.questions import Question, ask
from rollwise.builders.rules import Rules
from rollwise.errors import RollwiseError

Numbers = NDArray[np.int64]
FEW = 20  # states whose progress isn't worth a look at compiled rules
MOST_CODES = 1 << 62


class Reached:
    """Asks states for their progress, by compiled rules.

    Attributes
    ----------
    question : Question

    Raises
    ------
    NotCompilable
    """

    def __init__(self, rules: Rules) -> None:
        size = rules.progress_size
        self._rules, self._parts = rules, [None] if size is None else list(range(size))
        self.question = Question(rules, type(rules.game).progress, parts=size is not None)

    def of(self, rows: NDArray[np.int32], *, asked: bool = False) -> Numbers:
        """The progress of states, as many numbers as it has: (n, n_numbers) int64.

        Parameters
        ----------
        rows : (n, n_fields) int32
        asked : bool
            They were asked before.

        Raises
        ------
        RulesError
        """
        found = np.empty((len(rows), len(self._parts)), np.int64)
        for column, part in enumerate(self._parts):
            found[:, column], failed = self.question.answers(rows, part, asked=asked)
            if failed >= 0:
                raise self._rules.progress_fails(rows[failed].tolist())
        return found


class LayersByProgress:
    """Finds layers by their progress.

    Parameters
    ----------
    progress : (n_layers,) or (n_layers, n_numbers) int64
        Each once.
    """

    def __init__(self, progress: Numbers) -> None:
        rows = progress.reshape(len(progress), -1)
        self._known = [np.unique(column) for column in rows.T]
        self._names: dict[tuple[int, ...], int] | None = None
        if np.prod([float(len(known)) for known in self._known]) > MOST_CODES:
            self._names = {tuple(row): i for i, row in enumerate(rows.tolist())}
            return
        codes, _ = self._codes(rows)
        self._layers = np.argsort(codes)
        self._sorted = codes[self._layers]

    def find(self, reached: Numbers) -> Numbers:
        """The layers that have some progress; -1 where none has it.

        Parameters
        ----------
        reached : (n,) or (n, n_numbers) int64
        """
        rows = reached.reshape(len(reached), len(self._known))
        if self._names is not None:
            return np.array([self._names.get(tuple(row), -1) for row in rows.tolist()], np.int64)
        codes, is_known = self._codes(rows)
        place = np.minimum(np.searchsorted(self._sorted, codes), len(self._sorted) - 1)
        return np.where(is_known & (self._sorted[place] == codes), self._layers[place], -1)

    def _codes(self, rows: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
        """A number for each row, and whether all that is in it is in the progress of a layer."""
        codes, is_known = np.zeros(len(rows), np.int64), np.ones(len(rows), np.bool_)
        for known, column in zip(self._known, rows.T, strict=True):
            place = np.minimum(np.searchsorted(known, column), len(known) - 1)
            is_known &= known[place] == column
            codes = codes * len(known) + place
        return codes, is_known


def progress_of(rules: Rules, rows: NDArray[np.int32], otherwise: Numbers) -> Numbers:
    """What `progress` says of rows that may be no states, of which it may say anything.

    Parameters
    ----------
    rows : (n, n_fields) int32
    otherwise : (n_numbers,) int64, or one number
        What is said where it fails.

    Returns
    -------
    (n, n_numbers) or (n,) int64
    """
    found = np.repeat(otherwise[None], len(rows), axis=0)
    if len(rows) > FEW:
        size = rules.progress_size
        parts = (None,) if size is None else range(size)
        found_each = [ask(rules, type(rules.game).progress, rows, part) for part in parts]
        if all(failed < 0 for _, failed in found_each):
            said = [reached for reached, _ in found_each]
            return said[0] if size is None else np.column_stack(said)
    for i, row in enumerate(rows.tolist()):
        with suppress(RollwiseError):
            found[i] = rules.progress(rules.layout.state(row))
    return found
