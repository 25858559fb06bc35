"""Verifying a folder of layers: each has its checksum, and is proved again from the rules.

The states are found anew. Then the layers are proved again, those that end every play first, and
one at a time. The proof reads the rules, the values and bounds of the layer, which it checks, and
those of later layers, which it has checked. Where the folder doesn't hold all states, or players
can stay in a layer, the layer is solved again, and compared. So the folder need not be trusted,
whoever wrote it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.by_layers import ByLayer
from rollwise.answer.layer_answers import report_up_to
from rollwise.answer.layer_folder import (
    MANIFEST,
    LayerFolder,
    Rows,
    map_rows,
    open_folder,
)
from rollwise.answer.layers_apart import PartAnswers
from rollwise.builders.by_layer import find_layers
from rollwise.builders.rules import as_progress
from rollwise.errors import RefusedFile, SolutionFileError
from rollwise.game import Game
from rollwise.graph import title_of
from rollwise.numbers.printed import rounded_up

if TYPE_CHECKING:
    from rollwise.builders.by_layer import Layers

Progress = Callable[[str, int, "int | None"], None]


@dataclass(frozen=True)
class FolderVerification:
    """What became of verifying a folder.

    Attributes
    ----------
    game : str
    parameters : mapping
    n_states, n_layers : int
        In the folder.
    n_proved : int
        Layers that were proved again.
    damaged : tuple
        The progress of the layers that don't match their checksums.
    error_bound : float
        The largest bound of the folder.
    difference : float
        The largest distance of a value from what was found again.
    fault : str
        Why the folder is refused; empty where every bound is proved.
    state : dict, optional
        The fields of the state at fault.
    seconds : dict
        To compare the ``checksums``, to find the ``states``, and for the ``proof``.
    """

    game: str
    parameters: Mapping[str, Any]
    n_states: int
    n_layers: int
    n_proved: int
    damaged: tuple[int | tuple[int, ...], ...]
    error_bound: float
    difference: float
    fault: str
    state: dict[str, int] | None
    seconds: dict[str, float]

    @property
    def verified(self) -> bool:
        """Whether every value of the folder is proved to be within its bound."""
        return not self.fault

    @property
    def title(self) -> str:
        """The game and its parameters, as typed on the command line."""
        return title_of(self.game, self.parameters)

    def __str__(self) -> str:
        if self.fault:
            return f"{self.title} is refused: {self.fault}"
        spent = self.seconds
        return (
            f"{self.title}: verified, each layer proved again from the rules\n"
            f"  {self.n_states:,} states in {self.n_layers:,} layers: every value is within its "
            f"bound of the true one (the largest ± {rounded_up(self.error_bound)})\n"
            f"  checksums compared in {spent['checksums']:.3f} s, states found in "
            f"{spent['states']:.3f} s, layers proved in {spent['proof']:.3f} s"
        )


def verify_layers(
    folder: str | Path,
    game: Game | None = None,
    *,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> FolderVerification:
    """Compare the checksums of a folder, and prove every layer again from the rules.

    Parameters
    ----------
    folder : path of a folder made by `solve_by_layers`
    game : Game, optional
        The rules. Without, the game must be one that is installed.
    max_states : int, optional
        As in `solve_by_layers`.
    progress : callable, optional
        Called now and then as ``progress(stage, done, total or None)``.

    Returns
    -------
    FolderVerification
        Whose `fault` says what is wrong with the folder, if something is.

    Raises
    ------
    RefusedFile
        It can't be read.
    SolutionFileError
        It doesn't hold all layers; or it is of another game, or of other rules.
    """
    from rollwise.answer.storage import installed

    place = Path(folder)
    try:
        found = open_folder(place)
    except SolutionFileError as error:
        raise RefusedFile(str(error)) if (place / MANIFEST).is_file() else error from None
    game = installed(place, found.about) if game is None else game
    found.require(game)
    found.require_whole()
    if progress is not None:
        progress("comparing checksums", 0, None)
    run = _Run(found, game)
    run.compare()
    if not run.fault:
        run.prove(max_states, progress)
    return FolderVerification(
        game.name,
        dict(game.parameters),
        len(found.states),
        len(found.progress),
        run.n_proved,
        run.damaged,
        float(found.error_bounds.max()),
        run.difference,
        run.fault,
        run.state,
        run.seconds,
    )


class _Run:
    """A folder on its way to being proved; see `FolderVerification`."""

    def __init__(self, folder: LayerFolder, game: Game) -> None:
        self._folder, self._game = folder, game
        self.damaged: tuple[int | tuple[int, ...], ...] = ()
        self.fault, self.n_proved, self.difference = "", 0, 0.0
        self.state: dict[str, int] | None = None
        self.seconds = dict.fromkeys(("checksums", "states", "proof"), 0.0)
        self._spread: Rows | None = None

    def compare(self) -> None:
        """Compare the checksums of the states and of all layers."""
        began = time.perf_counter()
        folder = self._folder
        self.damaged = tuple(map(as_progress, folder.progress[folder.damaged()]))
        if not folder.has_its_states:
            self.fault = "its states don't match their checksum"
        elif self.damaged:
            which = ", ".join(map(str, self.damaged))
            self.fault = f"its checksum says that what was proved of progress {which} was changed"
        self.seconds["checksums"] = time.perf_counter() - began

    def prove(self, max_states: int | None, progress: Progress | None) -> None:
        """Find the states anew, and prove the layers again until one is at fault."""
        began = time.perf_counter()
        folder = self._folder
        only = folder.has_entries_only
        layers = find_layers(self._game, max_states=max_states, progress=progress, entered=only)
        self.seconds["states"] = time.perf_counter() - began
        if not self._has_states_of(layers):
            self.fault = "its states aren't those of the game"
            return
        began = time.perf_counter()
        for layer in reversed(range(len(layers))):
            self._prove(layers, layer)
            if self.fault:
                break
            self.n_proved += 1
            report_up_to(progress, "proving", layers, int(layers.indptr[layer + 1]))
        self.seconds["proof"] = time.perf_counter() - began

    def _prove(self, layers: Layers, layer: int) -> None:
        """Find the answers of a layer from the rules and later layers, and compare them."""
        begin, end = layers.indptr[layer : layer + 2].tolist()
        answers = PartAnswers(layers, self._rows(layers), layer, begin)
        here = slice(begin, end)
        again = answers.values[here], answers.error_bounds[here], answers.actions[here]
        # what the folder says of this layer is a claim at most
        again[0][:], again[1][:], again[2][:] = np.nan, np.nan, 0
        pieces = layers.pieces(layer, begin, end)
        claims = None if layers.entered is not None else self._folder.rows[:2]
        ByLayer(layers, answers, None, pieces, claims).run()
        if layers.entered is not None:
            first, last = self._folder.indptr[layer : layer + 2].tolist()
            kept, here = layers.entered[first:last], slice(first, last)
            again = again[0][kept - begin], again[1][kept - begin], again[2][kept - begin]
        else:
            kept = np.arange(begin, end)
        values, bounds, actions = self._folder.rows
        known = values[here], bounds[here], actions[here]
        self._compare(layers, kept, known, again)
        if self._spread is not None:  # earlier layers read what the folder says
            for which in range(3):
                self._spread[which][kept] = known[which]

    def _has_states_of(self, layers: Layers) -> bool:
        """Whether the folder has the states of the game, or those of them that are entered."""
        folder, start, indptr, states = self._folder, layers.start, layers.indptr, layers.states
        if layers.entered is not None:
            start = int(np.searchsorted(layers.entered, start))
            indptr, states = np.searchsorted(layers.entered, indptr), states[layers.entered]
        return (
            start == folder.about["start"]
            and np.array_equal(states, folder.states)
            and np.array_equal(indptr, folder.indptr)
            and np.array_equal(layers.progress, folder.progress)
        )

    def _rows(self, layers: Layers) -> Rows:
        """What the folder says of all states; nothing yet, of those that it doesn't keep."""
        if layers.entered is None:
            return map_rows(self._folder.place)
        if self._spread is None:
            n = layers.n_states
            self._spread = np.full(n, np.nan), np.full(n, np.nan), np.zeros(n, np.int32)
            for which in range(3):
                self._spread[which][layers.entered] = self._folder.rows[which]
        return self._spread

    def _compare(self, layers: Layers, states: NDArray[np.int64], known: Rows, again: Rows) -> None:
        """Compare the answers of some states with those that were found again."""
        if not len(states):
            return
        (values, bounds, actions), (values_again, bounds_again, actions_again) = known, again
        with np.errstate(invalid="ignore"):  # where nobody can be sure to end the play
            apart = np.where(values == values_again, 0.0, np.abs(values - values_again))
        rounded = np.nextafter(np.nextafter(apart, np.inf) + bounds_again, np.inf)
        proved = np.where(apart == 0, bounds_again, rounded)
        self.difference = max(self.difference, float(apart.max()))
        wrong = np.flatnonzero(~((proved <= bounds) & np.isfinite(bounds)))
        if len(wrong):
            i = int(wrong[np.argmax(np.where(np.isnan(apart[wrong]), np.inf, apart[wrong]))])
            said = f"{values[i]!s} ± {bounds[i]:.1e}, which can't be proved"
            self._blame(layers, int(states[i]), f"the value of {{}} is {said}")
        elif len(other := np.flatnonzero(actions != actions_again)):
            said = "the action of {} isn't the first of the best ones"
            self._blame(layers, int(states[other[0]]), said)

    def _blame(self, layers: Layers, state: int, fault: str) -> None:
        row = layers.rows.part(state, state + 1)[0].tolist()
        rules = layers.rules
        self.state = dict(zip(rules.field_names, row, strict=True))
        self.fault = fault.format(rules.state_text(rules.layout.state(row)))
