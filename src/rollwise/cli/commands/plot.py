"""``rollwise plot``: the answer as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    LoadOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    file_stem,
    read_game,
    read_state,
    refuse,
    solve_or_open,
    tell_written,
)
from rollwise.cli.forms import (
    ChaseOption,
    ContestOption,
    Form,
    TargetOption,
    TiesOption,
    WithScoreOption,
    as_played,
)
from rollwise.errors import UsageError
from rollwise.plot import KINDS

if TYPE_CHECKING:
    from rollwise.answer.solution import Solution
    from rollwise.game import Game

OF_POSITIONS = ("policy", "value", "regret", "surface")  # which can be drawn of a part of a game
KindArgument = Annotated[
    str,
    typer.Argument(
        metavar="KIND", help="; ".join(f"{name}: {kind.about}" for name, kind in KINDS.items())
    ),
]
PolicyToDrawOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="A policy to compare with; to evaluate, for `convergence`."),
]
ThetaOption = Annotated[
    float | None,
    typer.Option(help="For `convergence` of a policy: stop after a sweep that changes no more."),
]
WithOption = Annotated[
    Path | None,
    typer.Option(
        "--with",
        metavar="FILE",
        help="Scores that people made, or games that `play` kept, for `scores`.",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A .html file (interactive), or .png or .svg where a browser is installed; "
        "GAME-KIND.html unless given.",
    ),
]
WidthOption = Annotated[
    int | None,
    typer.Option(min=200, max=4000, help="Of a .png or .svg, in pixels; 1,100 unless given."),
]


@app.command("plot")
def plot(
    game: GameArgument,
    kind: KindArgument,
    parameters: ParametersArgument = None,
    out: OutOption = None,
    x: Annotated[str | None, typer.Option(metavar="FIELD", help="The field along x.")] = None,
    y: Annotated[str | None, typer.Option(metavar="FIELD", help="The field along y.")] = None,
    where: Annotated[
        str | None, typer.Option(metavar="EXPR", help='Which states, as in "rival == 50".')
    ] = None,
    policy: PolicyToDrawOption = None,
    theta: ThetaOption = None,
    state: Annotated[
        str | None, typer.Option(metavar="FIELD=N,...", help="One position, for `graph`.")
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="A,B,...",
            help="Methods, for `convergence` (value-iteration:components:sound has an order and "
            "bounds; orders alone with --policy); one for `error`.",
        ),
    ] = None,
    games: Annotated[
        int | None, typer.Option(min=1, help="How many games a learner plays, for `learning`.")
    ] = None,
    with_: WithOption = None,
    width: WidthOption = None,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    with_score: WithScoreOption = False,
    load: LoadOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Draw the answer: the policy, values, boundaries, lengths and more."""
    from rollwise.plot import check_choices, find_kind, require_plotly
    from rollwise.plot import plot as draw
    from rollwise.plot.pages import check_target, write_figure

    # elsewhere parameters come right after the game, so people write them before the kind too
    words = [kind, *(parameters or ())]
    kind = next((word for word in words if "=" not in word), kind)
    words.remove(kind)
    choices: dict[str, Any] = {
        "x": x,
        "y": y,
        "where": where,
        "policy": policy,
        "state": state,
        "methods": tuple(name.strip() for text in method or () for name in text.split(",")) or None,
        "games": games,
        "theta": theta,
        "made": None if with_ is None else (),
    }
    if "made" not in find_kind(kind).takes:
        able = ", ".join(name for name, one in KINDS.items() if "made" in one.takes)
        refuse(
            f"takes scores that people made, or games that `play` kept; the picture {kind} "
            f"shows none of these ({able} does)", with_=with_,
        )  # fmt: skip
    check_choices(kind, **choices)
    chosen = as_played(read_game(game, words), Form(chase, target, contest, ties, with_score))
    choices["state"] = None if state is None else read_state(state, chosen)
    place = Path(f"{file_stem(chosen.name)}-{kind}.html") if out is None else out
    check_target(place)
    if place.suffix == ".html":
        refuse("is for .png and .svg: a page is as wide as its window", width=width)
    require_plotly()
    solution = _solved(chosen, kind, where, load, max_states)
    if with_ is not None:
        from rollwise.answer.references import Policies
        from rollwise.coach.made_scores import made_scores

        choices["made"] = tuple(made_scores(with_, Policies.of(solution)).tolist())
    figure, title = draw(solution, kind, **choices), f"{solution.graph.title}: {kind}"
    write_figure(figure, place, title, width or 1100)
    tell_written(solution.graph, place, json=json)


def _solved(
    game: Game, kind: str, where: str | None, load: str | None, max_states: int | None
) -> Solution:
    """The answer; of a game that is too large for one graph, in the positions that are drawn."""
    from rollwise.plot import check_players

    check_players(kind, game.name, game.players)
    found = solve_or_open(game, load, max_states, in_all_states=True)
    if not found.is_whole and kind not in OF_POSITIONS:
        raise UsageError(
            f"{found.title} is too large for one graph; pictures of some of its positions are "
            f"{', '.join(OF_POSITIONS)}"
        )
    return found.part_where(where)
