"""How far a game has gone, in many states: a number, or several, by which states are in layers."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.compiled.questions import ask
from rollwise.builders.rules import Rules
from rollwise.errors import RollwiseError, RulesError

Numbers = NDArray[np.int64]
FEW = 20  # states whose progress isn't worth a look at compiled rules
WIDE = 1 << 20  # progress that may be numbered with gaps, where there are fewer states


def numbered(rules: Rules, states: NDArray[np.int32]) -> tuple[Numbers, Numbers]:
    """The layers of states, in an order in which each leads to itself and later ones.

    By their progress; where that is several numbers, by the sum of these and then one by one. No
    outcome lowers a number, so that the sum grows unless all stay.

    Parameters
    ----------
    states : (n_states, n_fields) int32

    Returns
    -------
    layer : (n_states,) int64
        From 0.
    progress : (n_layers,) or (n_layers, n_numbers) int64
        The progress of each; of some there may be no state, if it is a number.

    Raises
    ------
    RulesError
    """
    size, most = rules.progress_size, max(len(states), WIDE)
    if size is None:
        return _from_zero(asked(rules, states, None), most)
    layer, found = _from_zero(asked(rules, states, 0), most)
    known = found[:, None]
    for part in range(1, size):
        number, found = _from_zero(asked(rules, states, part), most)
        layer *= len(found)
        layer += number
        there, layer = _that_are_there(layer, len(known) * len(found), most)
        known = np.column_stack([known[there // len(found)], found[there % len(found)]])
    sums = [sum(row) for row in known.tolist()]  # which may be of more than 64 bits
    order = np.array(sorted(range(len(known)), key=sums.__getitem__), np.int64)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[layer], known[order]


def asked(rules: Rules, states: NDArray[np.int32], part: int | None) -> Numbers:
    """What `progress` says of states, or one of its numbers."""
    game = rules.game
    reached, failed = ask(rules, type(game).progress, states, part)
    if failed >= 0:
        state = rules.layout.state(states[failed].tolist())
        rules.progress(state)  # which says how
        raise RulesError(f"{game.name}: progress() fails in the state {rules.state_text(state)}")
    return reached


def _from_zero(reached: Numbers, most: int) -> tuple[Numbers, Numbers]:
    """Numbers counted from the least one, and what each is; without gaps where these are wide."""
    least, last = int(reached.min()), int(reached.max())
    if last - least >= most:
        known, reached = np.unique(reached, return_inverse=True)
        return reached, known
    reached -= least
    return reached, np.arange(least, last + 1)


def _that_are_there(layer: Numbers, n: int, most: int) -> tuple[Numbers, Numbers]:
    """Which of `n` numbers there are, and numbers without gaps."""
    if n > most:
        found, numbers = np.unique(layer, return_inverse=True)
        return found, numbers
    is_there = np.bincount(layer, minlength=n) > 0
    place = np.cumsum(is_there) - 1
    return np.flatnonzero(is_there), place[layer]


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


def layers_with(progress: Numbers, reached: Numbers) -> Numbers:
    """The layers that have some progress; any layer, where none has it.

    Parameters
    ----------
    progress : (n_layers,) or (n_layers, n_numbers) int64
        In the order of `numbered`.
    reached : (n,) or (n, n_numbers) int64
    """
    if progress.ndim == 1:
        return np.minimum(np.searchsorted(progress, reached), len(progress) - 1)
    both = np.concatenate([progress, reached])
    _, name = np.unique(both, axis=0, return_inverse=True)
    layer = np.zeros(name.max() + 1, np.int64)
    layer[name[: len(progress)]] = np.arange(len(progress))
    return layer[name[len(progress) :]]


def behind(progress: Numbers, layer: int) -> NDArray[np.bool_]:
    """To which layers one may lead, by the numbers of their progress: (n_layers,) bool."""
    is_behind = np.arange(len(progress)) > layer
    if progress.ndim > 1:
        is_behind &= np.all(progress >= progress[layer], axis=1)
    return is_behind
