"""Commands about rules and methods: games, methods, check, compare, verify, certify, new, cache."""

from __future__ import annotations

import contextlib
import re
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    Words,
    policies_of,
    read_game,
    read_mode,
    refuse,
    split_words,
)
from rollwise.cli.options import (
    GameArgument,
    ModeOption,
    ParametersArgument,
    answered_apart,
    method_options,
)
from rollwise.cli.printing import end_if, render
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED
from rollwise.documents.games import (
    Cache,
    Certified,
    Checked,
    Compared,
    games_document,
    methods_document,
    verification_document,
)
from rollwise.errors import RulesError, UsageError
from rollwise.game import Game, has_many
from rollwise.games import available, find
from rollwise.machine import user_cache
from rollwise.machine.atomic_files import write_text
from rollwise.methods import METHODS, find_method


@app.command("games")
def games(
    game: Annotated[
        str | None, typer.Argument(metavar="[GAME]", help="A game's name, or a file of rules.")
    ] = None,
) -> None:
    """List the games with their parameters and policies."""
    every = [*available().values(), *available(hidden=True).values()]
    render(games_document(every if game is None else [find(game)]))


@app.command("methods")
def methods(
    method: Annotated[
        str | None, typer.Argument(metavar="[METHOD]", help="A method's name.")
    ] = None,
) -> None:
    """List the methods of solving and their options."""
    names = METHODS if method is None else [find_method(method).name]
    render(methods_document([METHODS[name] for name in names]))


@app.command("check")
def check(
    game: GameArgument,
    parameters: ParametersArgument = None,
) -> None:
    """Check the rules of a game for errors and oddities."""
    from rollwise.analysis.check import check as check_game
    from rollwise.analysis.findings import Report

    name = find(game).name
    try:
        chosen = read_game(game, parameters, any_target=True)
    except RulesError as error:  # forms and caps ask the rules as the game is made
        report = Report(name)
        report.add("error", "rules", str(error))
    else:
        if answered_apart(chosen, "check"):
            return
        with Progress() as progress:
            report = check_game(chosen, max_states=ASKED.max_states, progress=progress)
    render(Checked.from_result(report))
    if not report.passed:
        raise typer.Exit(1)


TIME_LIMIT = 20.0


@app.command("compare")
def compare(
    game: GameArgument,
    parameters: ParametersArgument = None,
    methods: str | None = None,
    time_limit: float = TIME_LIMIT,
    settings: Annotated[list[str] | None, typer.Option("--set")] = None,
) -> None:
    """Run several methods and measure their errors.

    --methods A,B,...  Methods to compare; all unless given.
    --time-limit X     Time limit of each method, in seconds.
    --set NAME=VALUE   The samples or the seed of the method sampled.
    """
    from rollwise.analysis.compare_methods import SEED, compare_methods, of_one_seat
    from rollwise.answer import kept
    from rollwise.graph.choices import has_whole_weights

    if not time_limit > 0:
        raise UsageError(f"--time-limit is {time_limit}; it must be positive")
    names = None if methods is None else [name.strip() for name in methods.split(",")]
    for name in names or ():
        find_method(name)
    if names is not None and not any(find_method(name).estimates for name in names):
        refuse("goes with the method sampled", set=settings)
    options = method_options("sampled", settings)
    if "time_limit" in options:
        raise UsageError("--set time_limit is --time-limit here, which each method has")
    chosen = read_game(game, parameters, any_target=True)
    with Progress() as progress:
        how: dict[str, Any] = {"max_states": ASKED.max_states, "progress": progress}
        graph = kept.build(chosen, any_players=True, **how)
        compared, parts = graph, 1
        if has_many(chosen):
            compared, parts = of_one_seat(kept.solve(chosen, any_players=True, **how))
        rows, bound = compare_methods(
            compared,
            names,
            time_limit=time_limit,
            samples=options.get("samples"),
            seed=options.get("seed", SEED),
            parts=parts,
            others_mix=has_whole_weights(graph) and not has_whole_weights(compared),
            progress=progress,
        )
    facts = {"states": compared.n_states, "error_bound": bound, "time_limit": time_limit}
    render(Compared.on(graph, rows=rows, kind="certified", **facts))


@app.command("verify")
def verify(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="An answer of `solve --save`, or a certificate.")
    ],
    game: Annotated[
        str | None,
        typer.Argument(
            metavar="[GAME]", help="The game, needed only where its rules are in a file of yours."
        ),
    ] = None,
    parameters: ParametersArgument = None,
    exact: bool = False,
    mode: ModeOption = "auto",
) -> None:
    """Check a saved solution against its error bounds.

    --exact  Use exact arithmetic, which trusts no rounding; not for a folder.
    """
    from rollwise.answer.storage import is_hidden
    from rollwise.answer.verify import verify as verify_saved
    from rollwise.proofs.check_certificate import is_certificate

    asked = split_words(file, game, *(parameters or ()), files=1)
    chosen = _game_of(asked)
    how = read_mode(mode)
    if is_certificate(asked.files[0]):
        options = {"max_states": ASKED.max_states, "mode": None if how == "auto" else how}
        refuse("has no effect: a certificate is checked without a graph", **options)
    if asked.files[0].is_dir():
        options = {"exact": exact, "mode": None if how == "auto" else how}
        refuse("goes with a file, and not with a folder of layers", **options)
    if asked.files[0].is_file() and is_hidden(asked.files[0]):
        from rollwise.cli.hidden_games import verify as verify_hidden

        verify_hidden(asked.files[0], chosen, exact)
        return
    with Progress() as progress:
        verification = verify_saved(
            asked.files[0],
            chosen,
            exact=exact,
            mode=how,
            max_states=ASKED.max_states,
            progress=progress,
        )
    if ASKED.json or verification.verified:
        render(verification_document(verification))
    end_if(not verification.verified, f"{asked.files[0]} is refused: {verification.fault}")


def _game_of(asked: Words) -> Game | None:
    """The typed game; its parameters default to those of the file."""
    if asked.kind is None and not asked.values:
        return None
    if asked.values:
        return asked.make_game()
    from rollwise.answer.layer_folder import read_manifest
    from rollwise.answer.storage import read_facts, typed_parameters
    from rollwise.games import create
    from rollwise.proofs.check_certificate import head_of, is_certificate

    assert asked.kind is not None
    place = asked.files[0]
    if is_certificate(place):
        name, values = head_of(place).title
        return create(asked.kind, values if name == asked.kind.name else {})
    facts = read_manifest(place) if place.is_dir() else read_facts(place, damaged=True)
    return create(asked.kind, typed_parameters(facts) if facts["game"] == asked.kind.name else {})


@app.command("cache")
def cache(
    clear: bool = False,
) -> None:
    """Show or remove the cached answers.

    --clear  Remove all cached answers.
    """
    user_cache.use(True)
    folder = user_cache.answers_folder()
    document = Cache.at(folder, user_cache.MOST_BYTES, clear)
    if clear and folder is not None:
        for path in folder.iterdir():
            with contextlib.suppress(OSError):  # another process may have removed it
                path.unlink()
    render(document)


SHAPES = {
    "choose": "two players, who choose before they roll",
    "throw": "two players, who throw first and then choose a move",
    "pool": "dice that are kept or thrown again",
    "solitaire": "one player, for points",
    "seats": "any number of players",
}


@app.command("new")
def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, as mygame.py.")],
    shape: Annotated[
        str,
        typer.Option(
            "--shape",
            metavar="SHAPE",
            help=f"{'; '.join(f'{name}: {text}' for name, text in SHAPES.items())}.",
        ),
    ] = "choose",
) -> None:
    """Write the rule sheet of a small game, to be changed into yours."""
    if shape not in SHAPES:
        raise UsageError(f"--shape is {shape!r}; it must be {', '.join(SHAPES)}")
    words = re.findall(r"[A-Za-z0-9]+", file.stem)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    if file.suffix != ".py" or not name.isidentifier():
        raise UsageError(f"{file} can't be a rule sheet: take a name such as mygame.py")
    if file.exists():
        raise UsageError(f"{file} exists already; take another name")
    text = files("rollwise.cli").joinpath("starters", f"{shape}.txt").read_text(encoding="utf-8")
    write_text(file, text.replace("NAME", name))
    typer.echo(f"Wrote {file}: {SHAPES[shape]}. Next:")
    for command in ("check", "solve", "play"):
        typer.echo(f"  rollwise {command} {file}")


@app.command("certify")
def certify(
    game: GameArgument,
    parameters: ParametersArgument = None,
    values: Path | None = None,
    policy: str | None = None,
    claim: float | None = None,
) -> None:
    """Prove the error of values or of a policy from elsewhere.

    --values FILE    Values: .csv, .parquet, .json, .npy or .txt.
    --policy POLICY  A policy: a name or a file; of three or more players also one each, A,B,C.
    --claim X        A claimed precision; fail unless it is proved.
    """
    from rollwise.analysis.distance import distance_of_policy, distance_of_values
    from rollwise.answer.references import names_in

    if (values is None) == (policy is None):
        raise UsageError("give one of --values FILE and --policy POLICY")
    if claim is not None and not 0 <= claim < float("inf"):
        raise UsageError(f"--claim is {claim}; it must be a number from 0 on")
    chosen = read_game(game, parameters)
    with Progress() as progress:
        policies = policies_of(chosen, progress)
        if values is not None:
            distance = distance_of_values(policies, values)
        else:
            distance = distance_of_policy(policies, tuple(names_in(policy or "")))
    profile = policies.solution.profile if values is not None else None
    of = "policy" if values is None else "values"
    document = Certified.of_distance(distance, of, claim, profile)
    render(document)
    failed = claim is not None and document.is_met is not True
    end_if(failed, f"the claimed precision {claim} is not proved" if failed else "")
