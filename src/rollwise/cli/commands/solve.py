"""``rollwise solve``: the value of a game, certified; also by layers, and of contests."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    Workers,
    read_game,
    read_mode,
    refuse,
    refuse_with_seats,
)
from rollwise.cli.options import (
    GameArgument,
    HistoryOption,
    MethodOption,
    ModeOption,
    ParametersArgument,
    SetOption,
    WorkersOption,
    answered_apart,
    check_history_path,
    method_options,
    tell_unfinished,
    typed_settings,
    write_history,
)
from rollwise.cli.printing import certify, place_line, render
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED, say
from rollwise.documents.model import UNSET, UnsetType
from rollwise.documents.solved import solved_document
from rollwise.errors import RollwiseError, UsageError
from rollwise.game import Game, has_many
from rollwise.games import create, find
from rollwise.machine.atomic_files import check_place
from rollwise.methods import DEFAULT, Setting, find_method
from rollwise.numbers.given import positive_number
from rollwise.numbers.printed import rounded_up
from rollwise.parameters import read_values

if TYPE_CHECKING:
    from rollwise.answer.solution import Solution
    from rollwise.many.equilibrium import OtherEquilibria


SEATS_SETTINGS = {
    name: Setting(name, kind, None, about)
    for name, kind, about in (
        ("time_limit", float, "seconds of the search"),
        ("starts", int, "searches for other equilibria from so many other starts"),
        ("seed", int, "of the first start; 1"),
    )
}
LAYER_SETTINGS = {"keep": Setting("keep", str, "all", "start: the value of the start alone")}
# Graphs of fewer outcomes are examined within milliseconds.
QUICKLY_SEEN = 500_000
ONLY_BY_LAYER = (
    "doesn't go with --by-layer, which goes with --save, --resume, --set keep=start, --workers, "
    "--certificate, --max-states and --json only"
)


@app.command("solve")
def solve(
    game: GameArgument,
    parameters: ParametersArgument = None,
    method: MethodOption = DEFAULT,
    settings: SetOption = None,
    tolerance: float | None = None,
    save: Path | None = None,
    certificate: Path | None = None,
    history: HistoryOption = None,
    mode: ModeOption = "auto",
    by_layer: bool = False,
    resume: bool = False,
    workers: WorkersOption = None,
) -> None:
    """Solve a game: the first player's edge, certified.

    --tolerance X       Largest acceptable certified error; fail beyond it.
    --save FILE         Keep the solution (Parquet).
    --certificate FILE  Write game, values and bounds for other programs to check
                        (docs/certificates.md).
    --by-layer          Build one layer at a time, where the rules have a progress(s); --save
                        then names a folder, where each layer is kept when it is proved.
    --resume            Continue from the proved layers of a run with --by-layer --save.
    """
    values = read_values(parameters or ())
    pool = Workers.read(workers)
    _check_places(history, save, by_layer, resume=resume, workers=workers)
    check_place(certificate)
    proved = {"save": save, "certificate": certificate, "tolerance": tolerance}
    if find_method(method).estimates:
        refuse("is for answers that are proved, and not for estimates", history=history, **proved)
    elsewhere = _unusual(method, mode) | {"tolerance": tolerance, "history": history}
    if values.get("as") in ("contest", "blind"):
        others = {"max_states": ASKED.max_states, "by_layer": by_layer, "set": settings}
        refuse(f"doesn't go with as={values['as']}", **(proved | others | elsewhere))

        print_contest(find(game), values)
        return
    chosen = read_game(game, parameters)
    given: dict[str, Any] = {"certificate": certificate, "history": history, "by_layer": by_layer}
    given |= {"set": settings, **_unusual(method, mode)}
    if answered_apart(chosen, "solve", tolerance, save, **given):
        return
    if by_layer:
        if has_many(chosen):
            refuse_with_seats(chosen, "solve without it takes --max-states N", by_layer=by_layer)
        refuse(ONLY_BY_LAYER, **elsewhere)
        keep = typed_settings(settings, LAYER_SETTINGS, "--by-layer").get("keep", "all")

        typed = shlex.join([game, *(parameters or ())])
        print_layers(chosen, typed, save, pool, keep=keep, certificate=certificate, resume=resume)
        return
    if has_many(chosen):
        alone = "compare runs methods on the game of one seat"
        refuse_with_seats(chosen, alone, **elsewhere | {"mode": None, "tolerance": None})
        what = f"{chosen.name} for {chosen.players} players"
        options = typed_settings(settings, SEATS_SETTINGS, what)
        if "seed" in options and "starts" not in options:
            raise UsageError("--set seed=N goes with --set starts=N: it is the seed of the first")
    else:
        options = method_options(method, settings, history)
    if tolerance is not None:
        positive_number("tolerance", tolerance)
    from rollwise.answer import kept

    search: dict[str, Any] = {}
    if "starts" in options and has_many(chosen):
        search = {"starts": options.pop("starts"), "seed": options.pop("seed", 1)}
    how = _unusual(method, read_mode(mode)) | {"options": options, "tolerance": tolerance}
    # a file, and the history of a run, are those of one graph
    how |= {"max_states": ASKED.max_states, "by_layers": save is history is None}
    more = None
    with Progress() as progress:
        solution = kept.answer(chosen, progress=progress, **how)
        if search:
            more = solution.equilibrium.others(**search, progress=progress.listener)
    _tell(solution, shlex.join([game, *(parameters or ())]), (save, certificate), history, more)


def _unusual(method: str, mode: str) -> dict[str, Any]:
    """The method and the mode; None for each default."""
    return {
        "method": None if method == DEFAULT else method,
        "mode": None if mode == "auto" else mode,
    }


def _check_places(
    history: Path | None,
    save: Path | None,
    by_layer: bool,
    *,
    resume: bool,
    workers: str | None,
) -> None:
    """Refuse unwritable files, and options that need a folder, before the work."""
    if not (by_layer and save):
        if resume:
            raise UsageError(
                "--resume goes on with a folder: it goes with --by-layer --save FOLDER"
            )
        because = "solves layers in a folder that is shared: it goes with --by-layer --save FOLDER"
        refuse(because, workers=workers)
    check_history_path(history)
    if save is not None and not by_layer:
        from rollwise.machine.parquet_files import require_parquet

        require_parquet(save)
        check_place(save)


def _tell(
    solution: Solution,
    game: str,
    files: tuple[Path | None, Path | None],
    history: Path | None,
    others: OtherEquilibria | None,
) -> None:
    """Print and save a solution, with oddities of the game's rules.

    Parameters
    ----------
    game : str
        The game and its parameters, as typed.
    files : tuple of path or None
        For the solution, and for its certificate.
    """
    save, certificate = files
    if history is not None:
        write_history(history, solution.run.history)
    if save is not None and not solution.gave_up:
        solution.save(save)
    odd = _oddities(solution)
    document = solved_document(solution, odd, others)
    if ASKED.json or not solution.gave_up:
        has_fractions = solution.run.fractions is not None
        saved = "Saved, without the fractions, to" if has_fractions else "Saved to"
        render(document, *place_line(saved, save))
    if solution.gave_up:
        tell_unfinished(solution)
        raise typer.Exit(1)
    certify(solution, certificate)
    _say_oddity(odd, game)
    faults = [] if solution.profile is None else list(solution.profile.faults)
    if not faults and solution.status not in ("certified", "estimated"):
        faults = [f"{solution.status}: the error bound is {rounded_up(solution.largest_claim)}"]
        if "as" in (solution.game.parameters if solution.game else {}):
            from rollwise.answer.average import without_bound

            faults[0] += without_bound(solution.game)
    for fault in faults:
        typer.echo(f"rollwise: {fault}", err=True)
    if faults:
        raise typer.Exit(1)


def _say_oddity(odd: list[str] | UnsetType, game: str) -> None:
    if odd:
        say(f"check has something to say: {odd[0]} (rollwise check {game})")


def _oddities(solution: Solution) -> list[str] | UnsetType:
    """Findings of `check` for graphs small enough to examine at once; UNSET without a graph.

    Of a derived game, the fields are those of the form and of the inner game, which has findings.
    Of a game by layers, or for three or more, the finding about chances alone.
    """
    from rollwise.graph import StateGraph

    space, is_for_two = solution.space, solution.profile is None
    if isinstance(space, StateGraph) and is_for_two and space.n_outcomes > QUICKLY_SEEN:
        return []
    from rollwise.builders.chances import chances_off, chances_off_in

    if not isinstance(space, StateGraph):
        off = chances_off_in(space.states, space.game)
        return [off] if off else UNSET
    graph = solution.graph
    if not is_for_two:
        off = chances_off(graph, solution.game)
        return [off] if off else UNSET
    from rollwise.analysis.findings import (
        Steps,
        loops_once,
        misspelled,
        nobody_passes,
        nothing_at_stake,
        oddities,
    )

    odd, game = [nothing_at_stake(graph)], solution.game
    if game is None or game.made_from is game:
        # players of the gallery cannot mend its fields, which are odd for some parameters
        of_gallery = type(game).__module__.startswith(f"{find.__module__}.")
        fields = [] if of_gallery else oddities(Steps.of_graph(graph, game))
        odd = [*fields, chances_off(graph, game), nobody_passes(graph), *odd]
        odd += [] if game is None else [*misspelled(game), *loops_once(game)]
    return [*filter(None, odd), *_names_that_differ(solution)]


def _names_that_differ(solution: Solution) -> list[str]:
    """The fault of names of actions that depend on the state: tables would name others."""
    rules = solution.game
    if not rules or rules.made_from is not rules or type(rules).action_text is Game.action_text:
        return []
    from rollwise.words import word_faults

    return [f for f in word_faults(rules, solution.graph) if f.startswith("action_text() calls")]


@contextlib.contextmanager
def removed_if_empty(folder: Path | None, is_new: bool) -> Iterator[None]:
    """Remove a new folder if an error leaves it empty."""
    try:
        yield
    except RollwiseError:
        if folder is not None and is_new and not any(folder.iterdir()):
            folder.rmdir()
        raise


def print_layers(
    game: Game,
    typed: str,
    save: Path | None,
    workers: Workers,
    *,
    resume: bool = False,
    keep: str = "all",
    certificate: Path | None = None,
) -> None:
    """Solve a game by layers, print the value of the start, and save the answer if requested."""
    from rollwise.answer import kept
    from rollwise.answer.layer_folder import START
    from rollwise.answer.solve_by_layers import solve_by_layers

    if keep not in ("all", START):
        raise UsageError(f"--by-layer: keep is all or {START}, not {keep}")
    if keep == START:
        because = "needs all values, and --set keep=start keeps one"
        refuse(because, certificate=certificate, save=save)
    made = save is not None and not save.exists()
    if save is not None:  # before the work, so that it isn't lost
        try:
            save.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"--save: no folder {save} can be made: {error.strerror}; with --by-layer it "
                "is a folder, where each layer is kept when it is proved"
            ) from None
    with Progress() as progress:
        if keep != START and save is None:
            solution = kept.solve_by_layers(game, max_states=ASKED.max_states, progress=progress)
        else:
            with removed_if_empty(save, made), workers.processes() as pool:
                solution = solve_by_layers(
                    game,
                    max_states=ASKED.max_states,
                    save=save,
                    keep=keep,
                    resume=resume,
                    progress=progress,
                    pool=pool,
                )
    saved = [] if save is None else [f"Saved to {save}; --load {save} reads it."]
    odd = _oddities(solution)
    render(solved_document(solution, odd), *saved)
    certify(solution, certificate)
    _say_oddity(odd, typed)
    if solution.status != "certified":
        raise typer.Exit(1)


def print_contest(kind: type[Game], values: Mapping[str, str]) -> None:
    """Solve a contest and print it.

    Parameters
    ----------
    values : mapping
        Parameters as typed: those of the game, and ``as=contest`` with its own, or ``as=blind``.
    """
    from rollwise.analysis.contest import Contest, solve_blind_contest, solve_contest
    from rollwise.analysis.second_aims import first_share
    from rollwise.answer.optimal_set import OptimalSet
    from rollwise.answer.solve import solve_whole
    from rollwise.derive.forms import BLIND, split_form
    from rollwise.documents.contests import blind_contest_document, contest_document

    inner, own = split_form(kind, values)
    game = create(kind, inner)
    if values["as"] == BLIND:
        blind = _timed(lambda: solve_blind_contest(game))
        return render(blind_contest_document(*blind))
    contest = Contest(game, **own)
    solved, seconds = _timed(lambda: solve_contest(contest))
    solution = solve_whole(game)
    for_mean = solve_contest(contest, {0: solution.policy})
    shares = OptimalSet.of(solution).range(first_share(for_mean))
    render(contest_document(solved, for_mean, shares, seconds))


def _timed(solve_it: Callable[[], Any]) -> tuple[Any, float]:
    """A solved contest, and the seconds that it took."""
    started = time.perf_counter()
    with Progress() as progress:
        progress("solving the contest", 0, None)
        solved = solve_it()
    return solved, time.perf_counter() - started
