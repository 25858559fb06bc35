"""For designers of games: ``rollwise balance``, ``diff``, ``handicap`` and ``tune``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.answer import kept
from rollwise.cli.app import app
from rollwise.cli.common import Workers, policies_of, read_game, tell_of_cycles
from rollwise.cli.options import GameArgument, ParametersArgument, WorkersOption
from rollwise.cli.printing import end_if, place_line, render
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED
from rollwise.documents.balance import balance_document
from rollwise.documents.design import difference_document, handicap_document
from rollwise.errors import ParameterError, UsageError
from rollwise.games import create, find
from rollwise.parameters import read_values

if TYPE_CHECKING:
    from rollwise.game import Game


RULES, SEED = 300, 1


@app.command("balance")
def balance(
    game: GameArgument,
    parameters: ParametersArgument = None,
    evaluations: int = RULES,
    seed: Annotated[int, typer.Option(min=0)] = SEED,
    out: Path | None = None,
) -> None:
    """Measure edge, turns, drama, decisions, luck and skill.

    --evaluations N  How many rules of thumb are scored; 0 for none.
    --seed N         Seed of the search.
    --out FILE       Write a page for people, with pictures (.html, .pdf).
    """
    from rollwise.analysis.balance import balance as find_balance

    if out is not None:
        from rollwise.report.cheat_sheet import check_sheet

        check_sheet(out)
    chosen = read_game(game, parameters)
    tell_of_cycles(chosen)
    with Progress() as progress:
        policies = policies_of(chosen, progress)
        figures = find_balance(policies, evaluations=evaluations, seed=seed, progress=progress)
    document = balance_document(figures)
    if out is not None:
        from rollwise.report.cheat_sheet import balance_page, write_page

        write_page(balance_page(figures, document).html, out)
    render(document, *place_line("Written to", out))


LIMIT = 10


@app.command("diff")
def diff(
    game: GameArgument,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GAME] [NAME=OLD NAME=NEW] [NAME=VALUE]...",
            help="Another game; a parameter twice, as it was and as it is to be; others once.",
        ),
    ] = None,
    limit: int = LIMIT,
    out: Path | None = None,
) -> None:
    """Compare two versions of the rules.

    --limit N   How many positions are listed, the dearest first.
    --out FILE  Draw the losses of the old strategy (.html, .svg, .png).
    """
    from rollwise.analysis.losses import difference

    if limit < 0:
        raise UsageError(f"--limit is {limit}; it can't be less than 0")
    old, new = read_pair(game, words or [])
    if out is not None:
        from rollwise.plot import require_plotly
        from rollwise.plot.pages import check_target

        require_plotly()
        check_target(out)
    with Progress() as progress:
        answers = [
            kept.solve(one, max_states=ASKED.max_states, progress=progress) for one in (old, new)
        ]
        change = difference(*answers)
    if out is not None:
        from rollwise.plot import plot
        from rollwise.plot.pages import write_figure

        figure = plot(change.new, "regret", policy=change.carried)
        write_figure(figure, out, f"{change.new.graph.game}: losses of the old strategy")
    render(difference_document(change, limit), *place_line("Written to", out))


def read_pair(reference: str, words: list[str]) -> tuple[Game, Game]:
    """Both games of the command line.

    Raises
    ------
    ParameterError, UsageError
        There aren't two games, or a parameter has three values.
    """
    others = [word for word in words if "=" not in word]
    if len(others) > 1:
        raise ParameterError(f"{others[1]!r} isn't a parameter; write name=value")
    old, new = list[str](), list[str]()
    for word in words:
        name, equals, _ = word.partition("=")
        if not equals:
            continue
        given = [text for text in words if text.startswith(f"{name}=")]
        if len(given) > 2:
            raise ParameterError(f"the parameter {name!r} is given {len(given)} times, not twice")
        if word is given[0]:
            old.append(word)
        if word is given[-1]:
            new.append(word)
    kinds = find(reference), find(others[0] if others else reference)
    first, second = (
        create(kind, read_values(values)) for kind, values in zip(kinds, (old, new), strict=True)
    )
    if not others and len(old) == len({*old, *new}):
        raise UsageError(
            "no change given: give a parameter twice, as in `rollwise diff pig sides=6 sides=8`, "
            "or two games"
        )
    return first, second


@app.command("handicap")
def handicap(
    game: GameArgument,
    points: str,
    parameters: ParametersArgument = None,
    policy: str = "optimal",
    against: str = "optimal",
) -> None:
    """Find the head start or the komi that makes a game even.

    --points FIELD=A..B  Field of the points given to the player, and their range: banked=0..40, or
                         banked,rival=0..40 with the opponent's view of that field.
    --policy P           Policy of the player with the points. {POLICIES}
    --against P          Policy of the other player.
    """
    from rollwise.analysis.handicap import handicap as find_handicap
    from rollwise.analysis.tuning import values_of

    field, said = values_of(points)
    try:
        numbers = [int(text) for text in said]
    except ValueError:
        raise UsageError(f"--points {points}: a head start is a whole number") from None
    chosen = read_game(game, parameters)
    with Progress() as progress:
        policies = policies_of(chosen, progress)
        starts = find_handicap(policies, field, numbers, policy, against)
    render(handicap_document(policies.graph, starts))


@app.command("tune")
def tune(
    game: GameArgument,
    vary: list[str],
    aim: Annotated[str, typer.Option("--for")],
    parameters: ParametersArgument = None,
    out: Path | None = None,
    workers: WorkersOption = None,
) -> None:
    """Solve a game for a range of parameters.

    --vary NAME=A..B  A parameter and its values: 20..120, 20..120..10 or 4,6,8.
    --for AIM         Quantity and goal: first_player = 0.5, min turns, max skill; also value, luck,
                      draws.
    --out FILE        Draw the curve (.html, .svg, .png).
    """
    from rollwise.analysis import tuning
    from rollwise.documents.design import tuning_document
    from rollwise.games import find

    wanted = tuning.Aim.read(aim)
    values = dict(tuning.values_of(text) for text in vary)
    if len(values) < len(vary):
        raise UsageError("a parameter varies twice; give all its values at once")
    if out is not None:
        from rollwise.plot.lines import check_curve

        check_curve(values, out)
    team = Workers.read(workers)
    kind, fixed = find(game), read_values(parameters or ())
    if wanted.measure != "value":
        tell_of_cycles(create(kind, fixed | {name: tried[0] for name, tried in values.items()}))
    found_by = kept.answer if wanted.measure in tuning.OF_THE_START else kept.solve
    with Progress() as progress, team.processes() as pool:
        games = tuning.tune(
            kind,
            fixed,
            values,
            wanted,
            partial(found_by, max_states=ASKED.max_states),
            progress,
            pool,
        )
    if out is not None:
        from rollwise.plot.lines import draw_curve
        from rollwise.plot.pages import write_figure

        write_figure(draw_curve(kind.name, values, games), out, f"{kind.name} tuned")
    render(tuning_document(kind.name, fixed, games), *place_line("Written to", out))
    end_if(games.stopped, "stopped; these are the games solved so far", 130)
