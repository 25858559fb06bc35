"""The answer for people and other tools: ``rollwise plot``, ``report``, ``page`` and ``export``."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli import streams
from rollwise.cli.app import app
from rollwise.cli.common import (
    file_stem,
    read_game,
    read_state,
    refuse,
    solve_or_open,
    tell_of_cycles,
)
from rollwise.cli.options import (
    GameArgument,
    LoadOption,
    ParametersArgument,
    answered_apart,
    complete_parameter,
    typed_settings,
)
from rollwise.cli.printing import check_file, render
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED
from rollwise.documents.games import Exported, PageWritten, Plotted, Reported
from rollwise.documents.model import sizes
from rollwise.errors import TooManyStates, UsageError, no_such
from rollwise.graph.naming import title_of
from rollwise.machine.atomic_files import check_place
from rollwise.methods import Setting
from rollwise.numbers.printed import in_bytes
from rollwise.plot import KINDS

if TYPE_CHECKING:
    from rollwise.answer.solution import Solution
    from rollwise.game import Game


PLOT_SETTINGS = {
    name: Setting(name, kind, None, "")
    for name, kind in (("games", int), ("theta", float), ("width", int))
}


@app.command("plot")
def plot(
    game: GameArgument,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KIND] [NAME=VALUE]...",
            autocompletion=complete_parameter,
            help="; ".join((f"{name}: {kind.about}" for name, kind in KINDS.items()))
            + ". policy unless given.",
        ),
    ] = None,
    out: Path | None = None,
    x: str | None = None,
    y: str | None = None,
    where: str | None = None,
    policy: str | None = None,
    state: str | None = None,
    method: list[str] | None = None,
    with_: Path | None = None,
    settings: Annotated[list[str] | None, typer.Option("--set")] = None,
    load: LoadOption = None,
) -> None:
    """Draw a picture: policy, values, boundaries, turns, ...

    --out FILE           A .html file (interactive), or .png or .svg where a browser is installed;
                         GAME-KIND.html unless given.
    --x FIELD            The field along x.
    --y FIELD            The field along y.
    --where EXPR         A condition on states: "rival == 50".
    --policy NAME        A policy to compare with; to evaluate, for `convergence`.
    --state FIELD=N,...  One position, for `graph`.
    --method A,B,...     Methods, for `convergence` (value-iteration:components:sound has an order
                         and bounds; orders alone with --policy); one for `error`.
    --with FILE          Scores of people, or games saved by `play`, for `scores`.
    --set NAME=VALUE     games=N of a learner (`learning`); theta=X, stop when a sweep changes all
                         values by less (`convergence` of a policy); width=N of a .png or .svg in
                         pixels (1,100).
    """
    from rollwise.plot import check_choices, find_kind, require_plotly
    from rollwise.plot import plot as draw
    from rollwise.plot.pages import check_target, write_figure

    values = [word for word in words or () if "=" in word]
    kind, *others = [word for word in words or () if "=" not in word] or ["policy"]
    if others:
        raise UsageError(
            f"{others[0]!r} isn't a parameter; write name=value (kinds: {', '.join(KINDS)})"
        )
    if game in KINDS and kind not in KINDS:
        raise UsageError(f"the game comes before the picture: rollwise plot {kind} {game}")
    chosen_settings = typed_settings(settings, PLOT_SETTINGS, "plot")
    width = chosen_settings.get("width")
    if width is not None and not 200 <= width <= 4000:
        raise UsageError(f"--set width={width}: it must be from 200 to 4,000")
    choices: dict[str, Any] = {
        "x": x,
        "y": y,
        "where": where,
        "policy": policy,
        "state": state,
        "methods": tuple(name.strip() for text in method or () for name in text.split(",")) or None,
        "games": chosen_settings.get("games"),
        "theta": chosen_settings.get("theta"),
        "made": None if with_ is None else (),
    }
    if "made" not in find_kind(kind).takes:
        able = ", ".join(name for name, one in KINDS.items() if "made" in one.takes)
        refuse(
            f"takes scores that people made, or games that `play` kept; the picture {kind} "
            f"shows none of these ({able} does)", with_=with_,
        )  # fmt: skip
    check_choices(kind, **choices)
    chosen = read_game(game, values, any_target=True)
    choices["state"] = None if state is None else read_state(state, chosen)
    place = Path(f"{file_stem(chosen)}-{kind}.html") if out is None else out
    check_target(place)
    if place.suffix == ".html" and width is not None:
        raise UsageError(
            f"--set width={width} is for .png and .svg: a page is as wide as its window"
        )
    require_plotly()
    tell_of_cycles(chosen)
    solution = _solved(chosen, kind, where, load)
    if with_ is not None:
        from rollwise.answer.references import Policies
        from rollwise.coach.json_lines import made_scores

        choices["made"] = tuple(made_scores(with_, Policies.of(solution)).tolist())
    with Progress() as progress:
        progress("drawing", 0, None)
        figure, title = draw(solution, kind, **choices), f"{solution.graph.title}: {kind}"
        write_figure(figure, place, title, width or 1100)
    render(Plotted.at(solution.graph, place))


def _solved(game: Game, kind: str, where: str | None, load: str | None) -> Solution:
    """The answer; for a game too large for one graph, in the drawn positions."""
    from rollwise.plot import check_players, drawn

    check_players(kind, game.name, game.players)
    return drawn(solve_or_open(game, load), kind, where)


@app.command("report")
def report(
    game: GameArgument,
    parameters: ParametersArgument = None,
    out: Path | None = None,
    rules: Annotated[int | None, typer.Option(min=0)] = None,
    load: LoadOption = None,
) -> None:
    """Write a report: edge, strategy and how certain both are.

    --out FILE  A .html file; GAME-report.html unless given.
    --rules N   Score so many rules of thumb for the cheat card; unless given, as many as
                typically take ten seconds; 0 for none.
    """
    from rollwise.plot import require_plotly

    chosen = read_game(game, parameters)
    place = Path(f"{file_stem(chosen)}-report.html") if out is None else out
    check_file("--out", place, ".html", silent=".htm")
    if answered_apart(chosen, "write_page", place, load, False, rules=rules):
        return
    require_plotly()
    from rollwise.report import write_report

    solution = solve_or_open(chosen, load)
    with Progress() as progress:
        write_report(solution, place, progress, rules=rules)
    render(Reported.at(solution.subject, place))


@app.command("page")
def page(
    game: GameArgument,
    parameters: ParametersArgument = None,
    out: Path | None = None,
    policy: list[str] | None = None,
    load: LoadOption = None,
) -> None:
    """Write a page that plays and coaches without a network.

    --out FILE  A .html file; GAME.html unless given.
    --policy P  Another opponent; may be repeated. {POLICIES}
    """

    chosen = read_game(game, parameters)
    place = Path(f"{file_stem(chosen)}.html") if out is None else out
    check_file("--out", place, ".html", silent=".htm")
    if answered_apart(chosen, "write_page", place, load, True, policy=policy):
        return
    from rollwise.page import too_large, write_page

    try:
        solution = solve_or_open(chosen, load, by_layers=False).whole()
    except TooManyStates as error:
        if ASKED.max_states is not None:
            raise
        served = game if chosen.made_from is chosen else None
        title = title_of(chosen.name, chosen.parameters)
        raise too_large(title, served, "is too large for one graph") from error
    with Progress() as progress:
        write_page(solution, place, progress, policy or ())
    render(PageWritten.at(solution.graph, place))


TEXT = ("prism", "drn", "json", "lp", "mps")
MUCH = 200e6  # bytes of JSON; larger documents need --out


@app.command("export")
def export(
    game: GameArgument,
    parameters: ParametersArgument = None,
    to: str = ...,  # type: ignore[assignment]
    out: Path | None = None,
    against: str | None = None,
    program: str | None = None,
    load: LoadOption = None,
) -> None:
    """Write a game for model checkers, solvers or as data.

    --to FORMAT       prism, drn, umb, parquet, json, npz, lp or mps; efg of a game with hidden
                      dice.
    --out FILE        The file to write; else text is printed.
    --against POLICY  In a model or program: the policy of all players but the first.
    --program TEXT    In lp and mps: linear-programming (the default) or mixed-integer.
    """
    from rollwise.export import DATA, MODELS, PROGRAM_FILES, check_players
    from rollwise.export import export as write
    from rollwise.export.data import json_bytes
    from rollwise.export.programs import PROGRAMS, caution

    if to == "efg":
        from rollwise.cli import hidden_games

        refuse("doesn't go with --to efg", against=against, program=program, load=load)
        hidden_games.export(read_game(game, parameters), out)
        return
    formats = (*MODELS, *DATA, *PROGRAM_FILES)
    if to not in formats:
        raise UsageError(no_such("format", to, (*formats, "efg")))
    if to not in PROGRAM_FILES:
        refuse("goes with --to lp and --to mps", program=program)
    if out is None and (ASKED.json or to not in TEXT):
        raise UsageError(f"--to {to} needs --out FILE" + (" with --json" if ASKED.json else ""))
    check_place(out)
    chosen = read_game(game, parameters, any_target=True)
    check_players(to, title_of(chosen.name, chosen.parameters), chosen.players, against)
    solution = solve_or_open(chosen, load, by_layers=False).whole()
    graph, kind = solution.graph, {"program": program} if program else {}
    if to == "json" and out is None and (size := json_bytes(solution)) > MUCH:
        raise UsageError(
            f"{graph.title} makes about {in_bytes(size)} of JSON: --out FILE writes it, and "
            "--to parquet or --to npz hold the same in a small part of it"
        )
    if out is None:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "model"
            write(solution, place, to, against, **kind)
            streams.write(place.read_text(encoding="utf-8"))
        return
    with Progress() as progress:
        progress("writing", 0, None)
        notes = write(solution, out, to, against, **kind)
    if to in PROGRAM_FILES and against is None:
        notes += filter(None, [caution(graph.players, program or PROGRAMS[0])])
    note = {"note": "\n".join(notes)} if notes else {}
    render(Exported.on(graph, format=to, file=str(out), **sizes(graph), **note))
