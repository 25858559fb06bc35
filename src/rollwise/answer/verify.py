"""Verifying a saved answer, without trust in its writer.

For a file, the graph is built from the rules, and `rollwise.proofs.check` checks every value
against its bound. No solver runs, and no bound is searched for. For a folder, the states are found
anew, and the same check runs layer by layer. It reads the rules, the values and bounds of the
layer, and those of later layers. If players can stay in a layer, or its bounds do not prove
themselves, it is solved again and compared.

Checksums protect against accidents and prove no bounds. They locate a damaged row or layer where
the proof can't: a value changed by less than its bound may still be within it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rollwise.answer import storage
from rollwise.answer.by_layers import ByLayer, PartAnswers, best_actions, report_up_to
from rollwise.answer.certified import claims_on
from rollwise.answer.layer_folder import MANIFEST, LayerFolder, map_rows, open_folder
from rollwise.answer.load import of_hidden
from rollwise.answer.solution import Solution
from rollwise.builders import Mode, Progress
from rollwise.builders.by_layer import find_layers
from rollwise.builders.rules import as_progress
from rollwise.errors import ParameterError, RefusedFile, SolutionFileError, UsageError
from rollwise.game import Game
from rollwise.graph import NO_THROW, StateGraph, sign_of, title_of
from rollwise.graph.choices import fold_actions
from rollwise.graph.naming import free_name, in_fields, state_text
from rollwise.hooks import InWords
from rollwise.machine.atomic_files import checksum_of, path_of
from rollwise.machine.parquet_files import is_whole, read_parquet
from rollwise.proofs.certificate_files import Summary, same_game, write_certificate
from rollwise.proofs.check import unproved
from rollwise.proofs.check_certificate import check_certificate, head_of, is_certificate
from rollwise.proofs.check_rules import Claims, check_rules, numbers_of, turns
from rollwise.proofs.endless_play import staying_places
from rollwise.proofs.remainder import check_rest

if TYPE_CHECKING:
    import polars as pl

    from rollwise.builders.by_layer import Layers, Piece
    from rollwise.many.equilibrium import Equilibrium

SAME = ("states", "indptr", "progress")  # in a folder and of the game
MOST_EXACT = 1_000_000  # outcomes that are checked in exact arithmetic: some two minutes


@dataclass(frozen=True, repr=False)
class Verification(InWords):
    """The result of verifying a file.

    Attributes
    ----------
    game : str
    parameters : mapping
    n_states : int
        Number of states with checked bounds.
    exact : bool
        Whether the check ran on the rule sheet too, in exact arithmetic, beside doubles on the
        graph.
    error_bound, residual : float
        The largest bound, and the largest change of a value by one look ahead.
    fault : str
        The reason for refusing the file; empty if every bound is proved.
    state : dict, optional
        The fields of the state at fault.
    seconds : dict
        For the ``build`` of the graph, and the ``check``.
    deviation_gain : float or None
        Of an equilibrium: proved bound on the gain from deviating, in any position.
    rounding : str
        The rounding of a model's numbers when it was read. The check is about the rounded ones.
    caps : mapping of str to int
        As in `StateGraph`. The check is about play that stops there.
    """

    game: str
    parameters: Mapping[str, Any]
    n_states: int
    exact: bool
    error_bound: float
    residual: float
    fault: str
    state: dict[str, int] | None
    seconds: dict[str, float]
    deviation_gain: float | None = None
    rounding: str = ""
    caps: Mapping[str, int] = field(default_factory=dict)

    @property
    def verified(self) -> bool:
        """Whether every value of the file is proved to be within its bound."""
        return not self.fault

    @property
    def rules(self) -> str:
        """The rules compared with the file, where they are."""
        return f"model as read ({self.rounding})" if self.rounding else "rule sheet itself"

    @property
    def title(self) -> str:
        """The game and its parameters, as typed on the command line."""
        return title_of(self.game, self.parameters)


@dataclass(frozen=True, repr=False)
class FolderVerification(Verification):
    """The result of verifying a folder; `residual` is the largest distance to a proved value.

    Attributes
    ----------
    n_layers : int
        In the folder.
    n_proved : int
        Number of layers proved again.
    damaged : tuple
        The progress of each layer with a wrong checksum.
    seconds : dict
        To compare the ``checksums``, to find the ``states``, and for the ``proof``.
    """

    n_layers: int = field(kw_only=True)
    n_proved: int = field(kw_only=True)
    damaged: tuple[int | tuple[int, ...], ...] = field(kw_only=True)


@dataclass(frozen=True, repr=False)
class CertificateVerification(Verification):
    """The result of verifying a certificate; `n_states` counts positions within turns too.

    Attributes
    ----------
    height, most : int
        Play ends within `height` moves with a probability of at least ``most ** -height``.
    endless : (float, float) or None
        The worth of endless play to the mover and to the other role; None if play ends. In a game
        of one player the other role never moves.
    """

    height: int = field(kw_only=True)
    most: int = field(kw_only=True)
    endless: tuple[float, float] | None = field(kw_only=True, default=None)


def verify(
    path: str | Path,
    game: Game | None = None,
    *,
    exact: bool = False,
    mode: Mode = "auto",
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Check every value of a saved solution against its bound, without a solver.

    Parameters
    ----------
    path : path of a file made by `Solution.save`, of a folder made by `solve_by_layers`, or of a \
certificate
    game : Game, optional
        The rules. Without them the game must be installed.
    exact : bool
        Prove the bounds of all positions on the rule sheet too, in exact arithmetic
        (`rollwise.proofs.check_rules`). Then the proof needs no trust in the builder or in
        rounding. A certificate is exact; its game is compared with the rule sheet, as it is
        with a given game.
    mode, max_states, progress
        How to build the graph; see `rollwise.build`.

    Returns
    -------
    Verification
        Its `fault` describes an error of the file; empty without errors.

    Raises
    ------
    RefusedFile
        It can't be read as a saved solution.
    SolutionFileError
        There is no such file; or it was saved for another game, for other rules of this one, or
        for one that isn't installed.
    UsageError
        The graph is too large for exact arithmetic.
    """
    path = path_of(path)
    if path.is_dir():
        if exact:
            raise UsageError("exact arithmetic is for files, and not for folders of layers")
        return verify_layers(path, game, max_states=max_states, progress=progress)
    if is_certificate(path):
        return _verify_certificate(path, game, exact, progress)
    try:
        facts = storage.read_facts(path, damaged=True)
    except SolutionFileError as error:
        raise RefusedFile(str(error)) if path.is_file() else error from None
    if facts["method"] == storage.EQUILIBRIUM:
        return _verify_seats(path, facts, game, exact, max_states=max_states, progress=progress)
    if facts["method"] == storage.HIDDEN:
        raise of_hidden(path, "verify")
    how: dict[str, Any] = {"mode": mode, "max_states": max_states, "progress": progress}
    game, graph, seconds = storage.build_saved(path, facts, game, **how)
    _require_small(graph, exact)
    if progress is not None:
        progress("checking", 0, None)
    started = time.perf_counter()
    fault, state, bound, residual = _examine(path, facts, graph)
    if exact and not fault:
        content = storage.read_content(path, facts, graph)
        claims = claims_on(graph, content.values, content.bounds)
        _require_finite(graph, claims)
        fault = check_rules(game, claims)
        if game.rest is not None and not fault:
            fault = check_rest(game.rest, (state for state, _ in turns(game)), claims)
    return Verification(
        graph.game,
        graph.parameters,
        graph.n_positions,
        exact,
        bound,
        residual,
        fault,
        None if state is None else graph.view[state].named,
        {"build": sum(seconds.values()), "check": time.perf_counter() - started},
        rounding=game.rounding if exact else "",
        caps=graph.caps,
    )


def _verify_certificate(
    path: Path, game: Game | None, exact: bool, progress: Progress | None
) -> CertificateVerification:
    """Check a certificate in whole numbers; with rules or `exact`, compare it with them too."""
    started, fault, found = time.perf_counter(), "", head_of(path)
    exact = exact or game is not None
    name, parameters = found.title
    if exact and game is None:
        try:
            game = storage.installed(path, {"game": name, "parameters": parameters})
        except ParameterError as error:
            raise RefusedFile(f"{path} is refused: {error}") from None
    title = found.game if game is None else title_of(game.name, game.parameters)
    try:
        if found.game != title:
            raise RefusedFile(f"it is a certificate of {found.game}, and not of {title}")
        found = check_certificate(path, None if game is None else same_game(game), progress)
    except RefusedFile as error:
        fault = str(error)
    except KeyboardInterrupt as stop:
        stop.add_note(f"before all {found.n:,} positions were checked: {path} isn't proved")
        raise
    widest, gain = float("inf"), None
    if not fault:
        widest = _rounded_up(found.widest * (1 if found.has_gains else Fraction(1, 2)))
        gain = widest if found.has_gains else None
    spent = {"build": 0.0, "check": time.perf_counter() - started}
    about = (name, parameters, found.n, exact, widest, float("nan"), fault, None, spent, gain)
    worths = None if found.endless is None else [w * found.unit for w in found.endless]
    return CertificateVerification(
        *about,
        rounding="" if game is None else game.rounding,
        height=found.height,
        most=found.most,
        endless=None if worths is None else (float(worths[0]), float(worths[1])),
    )


def _rounded_up(number: Fraction) -> float:
    try:
        return math.nextafter(float(number), math.inf) if number else 0.0
    except OverflowError:
        return math.inf


def _require_small(graph: StateGraph, exact: bool) -> None:
    if exact and graph.n_outcomes > MOST_EXACT:
        raise UsageError(
            f"{graph.title} has {graph.n_outcomes:,} outcomes, and exact arithmetic is for up to "
            f"{MOST_EXACT:,}; leave out --exact"
        )


def _require_finite(graph: StateGraph, claims: Claims) -> None:
    for place, (value,) in claims.values.items():
        if math.isinf(value):
            state = state_text(in_fields(graph.field_names, place, graph.words))
            raise UsageError(
                f"{graph.title}: the value of {state} is infinite, and exact arithmetic is for "
                "finite values; leave out --exact"
            )


def _verify_seats(
    path: Path, facts: dict[str, Any], game: Game | None, exact: bool, **how: Any
) -> Verification:
    """Verify the file of an equilibrium: prove it anew, and compare the file's claims."""
    began = time.perf_counter()
    try:
        equilibrium, state = storage.read_equilibrium(path, facts, game, **how)
    except SolutionFileError as error:
        raise RefusedFile(str(error)) if "is damaged" in str(error) else error from None
    graph = equilibrium.graph
    _require_small(graph, exact)
    fault = "" if state is None else f"its bounds at {graph.state_text(state)} aren't proved"
    if exact and not fault:
        fault = check_rules(equilibrium.game, claims_of(equilibrium))
    worth = equilibrium.policy.probability[:, None] * equilibrium.action_worths
    ahead = fold_actions(graph, np.add, worth)
    build = equilibrium.seconds["build"]
    return Verification(
        graph.game,
        graph.parameters,
        graph.n_positions,
        exact,
        equilibrium.error_bound,
        float(np.abs(ahead - equilibrium.values).max()),
        fault,
        None if state is None else graph.view[state].named,
        {"build": build, "check": time.perf_counter() - began - build},
        equilibrium.deviation_gain,
    )


def claims_of(equilibrium: Equilibrium) -> Claims:
    """The claims of an equilibrium about its positions, for the check on the rule sheet."""
    graph, flat, n = equilibrium.graph, equilibrium.graph.flat, equilibrium.graph.n_positions
    width = len(graph.field_names)
    profile: dict[Any, dict[int, float]] = {}
    for action in np.flatnonzero(equilibrium.policy.probability > 0).tolist():
        row = tuple(flat.states[flat.action_state[action]].tolist())
        chances = profile.setdefault((row[:width], row[width:]), {})
        label: Any = int(flat.action_label[action])
        if flat.view.action(action).keeps:
            kept = flat.states[flat.view.action(action).outcome(0).target, width:-1]
            label = tuple(kept[kept > 0].tolist())
        chances[label] = float(equilibrium.policy.probability[action])

    def mixture(state: Any, *at: Any) -> dict[Any, float]:
        place = numbers_of(equilibrium.game, state)
        parts = (part if isinstance(part, tuple) else (part,) for part in at)
        found = profile[place, tuple(chain.from_iterable(parts))]
        if flat.has_pool and at[0] in found:  # a player who keeps all dice chooses at once
            ends = profile[place, (*at[0], 0)].items()
            found = found | {label: chance * found[at[0]] for label, chance in ends}
        return found

    places = list(map(tuple, graph.states[:n].tolist()))
    values, bounds, gains = (
        dict(zip(places, map(tuple, part[:n].tolist()), strict=True))
        for part in (equilibrium.values, equilibrium.error_bounds, equilibrium.deviation_gains)
    )
    return Claims(values, bounds, gains, mixture)


def _examine(
    path: Path, facts: dict[str, Any], graph: StateGraph
) -> tuple[str, int | None, float, float]:
    """The fault of a file and its state, the largest bound, and the residual."""
    try:
        frame = read_parquet(path, damaged=True)
    except ValueError as error:
        return f"it is damaged, so that it can't be read ({error})", None, np.inf, np.inf
    fault = _columns_fault(frame, graph)
    if fault:
        return fault, None, np.inf, np.inf
    try:
        values, bounds = storage.numbers_in(frame, graph)
    except ValueError as error:
        return str(error), None, np.inf, np.inf
    verdict, unproved = storage.find_unproved(graph, values, bounds)
    state, fault = _damaged_row(frame, graph, values, bounds)
    if fault:
        return fault, state, float(bounds.max()), verdict.residual
    if unproved is not None:
        state = unproved
        fault = f"{storage.claim(graph, values, bounds, state)}, which can't be proved"
    elif not np.all(np.isfinite(bounds)):
        state = int(np.argmax(bounds))
        fault = f"it claims no bound on the value of {graph.state_text(state)}"
    elif checksum_of(values, bounds) != facts["checksum"] or not is_whole(path):
        fault = "its bytes don't match their hash"
    return fault, state, float(bounds.max()), verdict.residual


def _columns_fault(frame: pl.DataFrame, graph: StateGraph) -> str:
    import polars as pl

    numbers = {"value": pl.Float64, "error_bound": pl.Float64}
    may_be_null = storage.thrown_fields(graph)
    for name, kind in {**dict.fromkeys(graph.field_names, pl.Int32), **numbers}.items():
        if frame.schema.get(name) != kind or (frame[name].null_count() and name not in may_be_null):
            return f"its column {name} isn't one of numbers"
    if len(frame) != len(graph.states):
        return f"it has {len(frame):,} rows, and the game {len(graph.states):,} states"
    return ""


def _damaged_row(
    frame: pl.DataFrame,
    graph: StateGraph,
    values: NDArray[np.float64],
    bounds: NDArray[np.float64],
) -> tuple[int | None, str]:
    """The first row with other fields than the graph or a wrong checksum."""
    import polars as pl

    filled = frame.with_columns(pl.col(storage.thrown_fields(graph)).fill_null(NO_THROW))
    rows = np.column_stack([filled[name].to_numpy() for name in graph.field_names])
    wrong = np.flatnonzero(np.any(rows != graph.states, axis=1))
    if len(wrong):
        text = ", ".join(
            f"{n}={x}" for n, x in zip(graph.field_names, rows[wrong[0]].tolist(), strict=True)
        )
        return int(wrong[0]), f"the row of {graph.state_text(int(wrong[0]))} is that of {text}"
    name = free_name("checksum", graph.field_names)
    if name not in frame.columns:
        return None, ""
    sums = storage.row_checksums(values[: len(frame)], bounds[: len(frame)])
    wrong = np.flatnonzero(frame[name].cast(int, strict=False).to_numpy() != sums)
    if not len(wrong):
        return None, ""
    claim = storage.claim(graph, values, bounds, int(wrong[0]))
    return int(wrong[0]), f"{claim}, changed after it was saved: it doesn't match its checksum"


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
        The rules. Without them the game must be installed.
    max_states : int, optional
        As in `solve_by_layers`.
    progress : callable, optional
        Called now and then as ``progress(stage, done, total or None)``.

    Returns
    -------
    FolderVerification
        Its `fault` describes an error of the folder; empty without errors.

    Raises
    ------
    RefusedFile
        It can't be read.
    SolutionFileError
        It lacks layers; or it is of another game, or of other rules.
    """
    place = path_of(folder)
    try:
        stored = open_folder(place)
    except SolutionFileError as error:
        raise RefusedFile(str(error)) if (place / MANIFEST).is_file() else error from None
    game = storage.installed(place, stored.about) if game is None else game
    stored.require(game)
    stored.require_whole()
    if progress is not None:
        progress("comparing checksums", 0, None)
    run = _FolderRun(stored, game)
    run.compare()
    if not run.fault:
        run.prove(max_states, progress)
    return FolderVerification(
        game.name,
        dict(game.parameters),
        len(stored.states),
        False,
        float(stored.error_bounds.max()),
        run.difference,
        run.fault,
        run.state,
        run.seconds,
        n_layers=len(stored.progress),
        n_proved=run.n_proved,
        damaged=run.damaged,
    )


class _FolderRun:
    """The verification of a folder in progress; see `FolderVerification`."""

    def __init__(self, folder: LayerFolder, game: Game) -> None:
        self._folder, self._game = folder, game
        self.damaged: tuple[int | tuple[int, ...], ...] = ()
        self.fault, self.n_proved, self.difference = "", 0, 0.0
        self.state: dict[str, int] | None = None
        self.seconds = dict.fromkeys(("checksums", "states", "proof"), 0.0)

    def compare(self) -> None:
        """Compare the checksums of the states and of all layers."""
        began = time.perf_counter()
        folder = self._folder
        self.damaged = tuple(map(as_progress, folder.progress[folder.damaged()]))
        if not folder.has_its_states:
            self.fault = "its states don't match their checksum"
        elif self.damaged:
            which = ", ".join(map(str, self.damaged))
            self.fault = f"the layers of progress {which} differ from their checksums"
        self.seconds["checksums"] = time.perf_counter() - began

    def prove(self, max_states: int | None, progress: Progress | None) -> None:
        """Find the states anew, and prove the layers again up to the first fault."""
        began = time.perf_counter()
        layers = find_layers(self._game, max_states=max_states, progress=progress)
        self.seconds["states"] = time.perf_counter() - began
        folder = self._folder
        pairs = ((getattr(layers, name), getattr(folder, name)) for name in SAME)
        if layers.start != folder.start or not all(np.array_equal(*pair) for pair in pairs):
            self.fault = "its states aren't those of the game"
            return
        began = time.perf_counter()
        # last layers first: their answers are the known border of the earlier ones
        for layer in reversed(range(len(layers))):
            for piece in layers.pieces(layer, *layers.indptr[layer : layer + 2].tolist()):
                self._check(layers, piece)
                if self.fault:
                    return
            self.n_proved += 1
            report_up_to(progress, "proving", layers, int(layers.indptr[layer + 1]))
            self.seconds["proof"] = time.perf_counter() - began

    def _check(self, layers: Layers, piece: Piece) -> None:
        """Check the bounds and the actions of a layer, or of a part of it."""
        folder, here = self._folder, slice(piece.begin, piece.end)
        claimed = folder.values[here], folder.error_bounds[here]
        border = folder.values[piece.border], folder.error_bounds[piece.border]
        sign = float(sign_of(layers.rules.game.objective))
        # a layer without a proof by its bounds alone is solved again and compared
        if (
            np.isinf(border[0]).any()
            or len(staying_places(piece.layer))
            or len(unproved(piece.layer, sign, *claimed, *border))
        ):
            actions = self._solved_again(layers, piece)
        else:
            actions = best_actions(layers.rules, piece, *claimed, *border)
        other = np.flatnonzero(folder.actions[here] != actions)
        if len(other) and not self.fault:
            fault = "the action of {} isn't the first of the best ones"
            self._blame(layers, piece.begin + int(other[0]), fault)

    def _solved_again(self, layers: Layers, piece: Piece) -> NDArray[np.int32]:
        """The actions of a piece after it is solved again; its values are compared."""
        here = slice(piece.begin, piece.end)
        layer = int(np.searchsorted(layers.indptr, piece.begin, side="right")) - 1
        answers = PartAnswers(layers, map_rows(self._folder.place), layer, piece.begin)
        again, bounds_again = answers.values[here], answers.error_bounds[here]
        again[:], bounds_again[:] = np.nan, np.nan  # the folder's answer is only a claim
        ByLayer(layers, answers, None, iter([piece])).run()
        values, bounds = self._folder.values[here], self._folder.error_bounds[here]
        with np.errstate(invalid="ignore"):  # where no player can be sure to end the play
            apart = np.where(values == again, 0.0, np.abs(values - again))
        rounded = np.nextafter(np.nextafter(apart, np.inf) + bounds_again, np.inf)
        proved = np.where(apart == 0, bounds_again, rounded)
        self.difference = max(self.difference, float(apart.max()))
        wrong = np.flatnonzero(~((proved <= bounds) & np.isfinite(bounds)))
        if len(wrong):
            i = int(wrong[np.argmax(np.where(np.isnan(apart[wrong]), np.inf, apart[wrong]))])
            claim = f"{values[i]!s} ± {bounds[i]:.1e}, which can't be proved"
            self._blame(layers, piece.begin + i, f"the value of {{}} is {claim}")
        return answers.actions[here]

    def _blame(self, layers: Layers, state: int, fault: str) -> None:
        row = layers.rows.part(state, state + 1)[0].tolist()
        rules = layers.rules
        self.state = dict(zip(rules.field_names, row, strict=True))
        self.fault = fault.format(rules.state_text(rules.layout.state(row)))


def save_certificate(
    solution: Solution, path: str | Path, progress: Progress | None = None
) -> Summary:
    """Write the certificate of a solution: the game, its values and their bounds.

    Raises
    ------
    UsageError
        Play may go on forever, or the solution hasn't all positions or no bounds.
    """
    game = solution.game
    if game is None:
        raise UsageError("a certificate is about a game, and this solution is of a graph alone")
    return write_certificate(game, claims_about(solution), path, progress)


def claims_about(solution: Solution) -> Claims:
    """The claims of a solution about all positions."""
    if solution.game is not None and solution.game.players > 2:
        return claims_of(solution.equilibrium)
    return claims_on(solution.space, solution.values, solution.error_bounds)
