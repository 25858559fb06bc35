"""Solving a game one layer at a time, for a whole graph too large for memory.

States are found first, layer by layer. Then the layers are solved and proved, last ones first:
here, or by workers (`by_layers`). Memory holds a few layers, the packed fields of
all states, and their answers, unless these lie in a folder or only the start's is kept.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rollwise.answer.by_layers import Apart, ByLayer, bytes_to_solve, needed_at_once
from rollwise.answer.found_states import RECORD, FoundStates, finding_states, forget
from rollwise.answer.layer_folder import (
    ABOUT,
    ALL,
    MANIFEST,
    START,
    LayerAnswers,
    LayerFolder,
    begin_folder,
    free_bytes,
    open_folder,
    require_begun_so,
)
from rollwise.answer.layered_states import LayeredStates
from rollwise.answer.solution import Solution
from rollwise.builders import Progress, limits
from rollwise.builders.building import warn_outside
from rollwise.builders.chances import chances_off_in
from rollwise.errors import ChanceWarning, EndlessPlay, TooManyStates, UsageError, spelled
from rollwise.faults import shown
from rollwise.game import Game, require_game
from rollwise.graph import title_of
from rollwise.graph.endings import NO_END
from rollwise.machine import memory_limits
from rollwise.machine.atomic_files import path_of
from rollwise.numbers.printed import how_many

if TYPE_CHECKING:
    from rollwise.builders.by_layer import Layers
    from rollwise.cluster.pool import Pool

KEY_BYTES = 8  # of a state without a kept answer


def solve_by_layers(
    game: Game,
    *,
    max_states: int | None = None,
    save: str | Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    pool: Pool | None = None,
    keep: str = ALL,
) -> Solution:
    """Solve a game a layer at a time, and certify the answer.

    Parameters
    ----------
    game : Game
        With a method ``progress(s)``; no outcome lowers any of its numbers.
    max_states : int, optional
        Stop with an error beyond this many states. The default is the room in memory or on the
        disk of the folder.
    save : path, optional
        A folder for each layer as soon as it is proved. `rollwise.load` reads it.
    resume : bool
        Whether to continue a run from the folder. A damaged layer is solved anew.
    progress : callable, optional
        Called now and then as ``progress(stage, done, total or None)``.
    pool : Pool, optional
        The workers for the layers. All see the folder by the same name.
    keep : {"all", "start"}
        The states of the answer: all, or the start alone, which takes the least memory, and no
        folder. Then only the states reachable from the start are solved.

    Raises
    ------
    UsageError
        The game doesn't measure its progress, or its rules can't be compiled. Workers without a
        shared folder. A folder for the start alone. Nothing to resume.
    ClusterError
        The workers are gone. Their proved layers are kept.
    RulesError
        The rules break the contract of the language, or the progress falls.
    EndlessPlay
        The players can go round for ever; names the states.
    TooManyStates

    Warns
    -----
    ChanceWarning
        The chances of an action don't add up to 1, in some of the states.
    """
    require_game(game)
    if resume and save is None:
        raise UsageError("resume continues a run from its folder; give the folder as save")
    _check_choices(save, pool, keep)
    began = time.perf_counter()
    place = None if save is None else path_of(save)
    folder = _opened(game, place, resume, progress)
    layers, answers = _begun(game, place, folder, max_states, progress, keep, pool)
    seconds = {"states": time.perf_counter() - began}
    needed = _bytes_to_solve(layers, keep, in_folder=isinstance(answers, LayerFolder))
    if needed > memory_limits.left():
        layers.kept.clear()
    memory_limits.require(needed, f"solving {title_of(game.name, game.parameters)}")
    if pool is not None:
        assert isinstance(answers, LayerFolder)

        work: Apart | ByLayer = Apart(layers, answers, pool, progress)
    else:
        work = ByLayer(layers, answers, progress)
    try:
        work.run()
    except KeyboardInterrupt as stop:
        if isinstance(answers, LayerFolder):
            done = f"{len(answers.checksums):,} of {len(layers):,} layers"
            stop.add_note(f"after {done}; {_resuming()} goes on with those in {place}")
        raise
    finally:
        answers.close()
    if np.isinf(answers.values_of(np.array([layers.start]))[0]):
        raise EndlessPlay(f"{title_of(game.name, game.parameters)}: {NO_END}")
    return _answer(game, layers, answers, keep, seconds | work.seconds)


def _resuming() -> str:
    return spelled(python="resume=True", command_line="--resume")


def _check_choices(save: str | Path | None, pool: Pool | None, keep: str) -> None:
    """Refuse options that exclude each other.

    Raises
    ------
    UsageError
    """
    if pool is not None and save is None:
        raise UsageError("workers share a folder; say which, to `save` the layers in")
    if keep not in (ALL, START):
        raise UsageError(f"keep is {ALL} or {START}, not {shown(keep)}")
    if keep == START and save is not None:
        raise UsageError("a folder holds more than the answer of the start; keep all")


def _opened(
    game: Game,
    place: Path | None,
    resume: bool,
    progress: Progress | None,
) -> LayerFolder | None:
    """The folder of a stopped run; None without one.

    Raises
    ------
    UsageError
        The folder contains an answer, or a part of one, without the option to resume.
    """
    if place is None:
        return None
    more = _resuming()
    if not (place / MANIFEST).exists():
        if (place / RECORD).exists() and not resume:
            raise UsageError(
                f"{place} holds states that a run found before it was stopped; {more} goes on with "
                "them, or choose another folder"
            )
        require_begun_so(place, game)
        return None
    if progress is not None:
        progress("comparing checksums", 0, None)
    folder = open_folder(place, game, to_write=True)
    if not resume:
        raise UsageError(
            f"{place} holds {len(folder.checksums):,} of {len(folder.progress):,} layers of "
            f"{title_of(game.name, game.parameters)} already; {more} goes on with them, or "
            "choose another folder"
        )
    forget(place)  # possible remains of a stopped run
    folder.drop_damaged()
    return folder


def _begun(
    game: Game,
    place: Path | None,
    folder: LayerFolder | None,
    max_states: int | None,
    progress: Progress | None,
    keep: str,
    pool: Pool | None,
) -> tuple[Layers, LayerAnswers]:
    """The layers of a game, and their known answers, such as the proved ones of a stopped run.

    Raises
    ------
    UsageError
    """
    from rollwise.builders.by_layer import find_layers, known_layers
    from rollwise.builders.known_rows import PlainRows

    if folder is not None:
        about = {name: folder.about[name] for name in ABOUT}
        layers = known_layers(game, folder.states, folder.indptr, folder.progress, about)
        return layers, folder

    most = max_states or _most_states(game, place, keep)

    def find(rows: FoundStates | None = None) -> Layers:
        try:
            return find_layers(
                game,
                max_states=most,
                progress=progress,
                only_start=keep == START,
                rows=rows,
                expand_once=pool is None,
            )
        except TooManyStates as error:
            if place is None or max_states is not None or most == limits.MOST_NUMBERED:
                raise
            raise TooManyStates(
                f"{place}: its disk has room for the answer in {how_many(most, 'state')}, and "
                f"{title_of(game.name, game.parameters)} has more; make room there, or choose a "
                "folder on another disk"
            ) from error

    if place is None:
        layers = find()
        room = needed_at_once(layers) if keep == START else layers.n_states
        return layers, LayerAnswers.in_memory(layers.indptr, layers.start, room)
    try:
        with finding_states(place, game) as states:
            layers, states_checksum = find(states), states.finish()
    except KeyboardInterrupt as stop:
        if (place / RECORD).exists():
            remedy = f"{_resuming()} goes on with those in {place}"
            stop.add_note(f"before all states were found; {remedy}")
        raise
    facts = {name: getattr(layers, name) for name in ABOUT if name != "extremes"}
    facts |= {"extremes": layers.extremes.tolist(), "states_checksum": states_checksum}
    made = begin_folder(place, game, layers.indptr, layers.progress, facts)
    return replace(layers, rows=PlainRows(made.states, made.indptr)), made


def _most_states(game: Game, place: Path | None, keep: str) -> int:
    """The default limit of states: the room in memory or on the disk."""
    from rollwise.builders.rules import Rules

    if keep == START:
        return limits.most_by_layer(KEY_BYTES)
    each = limits.ANSWER_BYTES + 4 * len(Rules(game).field_names)
    return limits.most_by_layer(each, None if place is None else free_bytes(place))


def _bytes_to_solve(layers: Layers, keep: str = ALL, *, in_folder: bool = False) -> int:
    """The approximate memory of layers while solving, without their packed states, in bytes."""
    needed = bytes_to_solve(layers)
    if keep == START:
        return needed + limits.ANSWER_BYTES * needed_at_once(layers)
    if in_folder:  # its files are mapped
        return needed
    fields = 4 * len(layers.rules.field_names)
    return needed + (limits.ANSWER_BYTES + fields) * layers.n_states


def _answer(
    game: Game, layers: Layers, answers: LayerAnswers, keep: str, seconds: Mapping[str, float]
) -> Solution:
    """The answer after the proof of all layers: of all positions, or of the start alone."""
    values, bounds, actions = answers.values, answers.error_bounds, answers.actions
    if keep == START:
        assert answers.at_start is not None
        value, bound, action = answers.at_start
        values, bounds, actions = np.array([value]), np.array([bound]), np.array([action], np.int32)
        start = layers.start
        given: dict[str, Any] = {
            "states": layers.rows.part(start, start + 1).copy(),
            "layers": np.searchsorted([start], layers.indptr),
            "start": 0,
            "keep": START,
            "n_found": layers.n_states,
        }
    else:
        given = {"states": layers.states, "layers": layers.indptr, "start": layers.start}
    facts, progress = answers.facts, layers.progress
    if off := chances_off_in(given["states"], game):
        warn_outside(off, ChanceWarning)
    space = LayeredStates.of(
        game, facts, answers.first_rows, progress=progress, actions=actions, **given
    )
    return Solution.of_layers(space, values, bounds, seconds)
