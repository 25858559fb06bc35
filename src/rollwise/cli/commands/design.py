"""For designers: ``rollwise balance``, ``diff``, ``handicap``, ``tune`` and ``length``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.answer import kept
from rollwise.cli.app import app
from rollwise.cli.common import (
    Workers,
    policies_of,
    read_game,
    refuse,
    refuse_with_seats,
    tell_of_cycles,
)
from rollwise.cli.options import GameArgument, ParametersArgument, WorkersOption
from rollwise.cli.printing import end_if, place_line, render
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED
from rollwise.documents.balance import balance_document
from rollwise.documents.design import (
    difference_document,
    handicap_document,
    length_document,
    within_document,
)
from rollwise.errors import ParameterError, UsageError
from rollwise.game import has_many
from rollwise.games import create, find
from rollwise.graph.layout import StateLayout
from rollwise.numbers.printed import how_many
from rollwise.parameters import TRUTHS, parameter_specs, read_values, typed

if TYPE_CHECKING:
    from rollwise.analysis.length_range import LengthRange
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

    --limit N   How many positions are listed, the costliest first.
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
            kept.solve(one, any_players=True, max_states=ASKED.max_states, progress=progress)
            for one in (old, new)
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
    parameters: ParametersArgument = None,
    points: str | None = None,
    policy: str = "optimal",
    against: str = "optimal",
) -> None:
    """Find the head start or the komi that makes a game even.

    --points FIELD=A..B  Field of the points given to the player, and their range: banked=0..40 of
                         Pig, or banked,rival=0..40 with the fields of the others after it.
    --policy P           Policy of the player with the points. {POLICIES}
    --against P          Policy of each other player.
    """
    from rollwise.analysis.handicap import handicap as find_handicap
    from rollwise.analysis.handicap import no_rival
    from rollwise.analysis.tuning import values_of

    chosen = read_game(game, parameters)
    if chosen.players == 1:
        raise no_rival(chosen.name)
    if points is None:
        fields = StateLayout.of(chosen.base_game).columns
        raise UsageError(
            f"{chosen.name}: which field has the points of a head start? Write --points "
            f"{fields[0]}=0..20 (its fields: {', '.join(fields)})"
        )
    field, said = values_of(points)
    try:
        numbers = [int(text) for text in said]
    except ValueError:
        raise UsageError(f"--points {points}: a head start is a whole number") from None
    with Progress() as progress:
        policies = policies_of(chosen, progress)
        starts = find_handicap(policies, field, numbers, policy, against)
    render(handicap_document(starts))


@app.command("tune")
def tune(
    game: GameArgument,
    vary: list[str],
    parameters: ParametersArgument = None,
    aim: Annotated[str | None, typer.Option("--for")] = None,
    out: Path | None = None,
    workers: WorkersOption = None,
) -> None:
    """Solve a game for a range of parameters.

    --vary NAME=A..B  A parameter and its values: 20..120, 20..120..10, 0..1/2..1/10 or 4,6,8.
    --for AIM         A quantity, and a goal if you like: win_probability = 0.5 (of the first
                      player), min turns, moves, max skill, luck, value, draws. Unless
                      given, win_probability, or value in games for points or payoffs.
    --out FILE        Draw the curve (.html, .svg, .png).
    """
    from rollwise.analysis import tuning
    from rollwise.documents.design import tuning_document
    from rollwise.games import find

    wanted = None if aim is None else tuning.Aim.read(aim)
    values = dict(tuning.values_of(text) for text in vary)
    if len(values) < len(vary):
        raise UsageError("a parameter varies twice; give all its values at once")
    kind, fixed = find(game), read_values(parameters or ())
    for spec in parameter_specs(kind):
        if spec.type is bool and spec.name in values:
            tried = values[spec.name]
            values[spec.name] = [typed(TRUTHS.get(text.lower(), text)) for text in tried]
    if out is not None:
        from rollwise.plot.lines import check_curve

        check_curve(values, out)
    team = Workers.read(workers)
    tried_first = {name: tried[0] for name, tried in values.items()}
    first = create(kind, fixed | tried_first, rated=False)
    measure = "value" if wanted is None else wanted.measure
    if measure != "value":
        tell_of_cycles(first)
    found_by = kept.answer
    if measure not in tuning.OF_THE_START:  # followed in one graph
        found_by = partial(kept.solve, any_players=True)
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
    end_if(games.unsolved, f"{how_many(len(games.unsolved), 'game')} could not be solved")


@app.command("length")
def length(
    game: GameArgument,
    parameters: ParametersArgument = None,
    policy: str = "optimal",
    within: Annotated[int | None, typer.Option(min=1)] = None,
    best: bool = False,
    by_layer: bool = False,
    time_limit: float | None = None,
) -> None:
    """Compute fewest and most expected moves, or chances by turn.

    Moves are counted from the start. A throw before a choice is no move.

    --policy P            Policy of all players; with --within also one for each, P,Q. {POLICIES}
    --within K            The chances that the game is over, and won by each player, within 1 to K
                          turns of all players (moves of one). An endless turn isn't over; where
                          the rules say endless = "lose", the other player wins by it.
    --best                With --within: also the first player's best chance.
    --by-layer            Solve by layer, where the rules have a progress(s): how short and how
                          long the game can be, if all want the same.
    --time-limit SECONDS  With --by-layer: seconds of search; open positions then keep their proved
                          bounds.
    """
    from rollwise.analysis.length_range import length_range_by_layer
    from rollwise.answer.references import names_in

    chosen = read_game(game, parameters)
    if has_many(chosen):
        refuse_with_seats(chosen, "length without it has the same range", by_layer=by_layer)
    tell_of_cycles(chosen)
    if within is not None:
        refuse("doesn't go with --within", by_layer=by_layer, time_limit=time_limit)
        _print_within(chosen, policy, within, best)
        return
    refuse("goes with --within K", best=best)
    if len(names_in(policy)) > 1:
        raise UsageError("--policy P,Q, one for each player, goes with --within K")
    if by_layer and policy != "optimal":
        raise UsageError("--policy goes without --by-layer, which follows no policy")
    if time_limit is not None and not by_layer:
        raise UsageError("--time-limit goes with --by-layer")
    if time_limit is not None and not time_limit > 0:
        raise UsageError(f"--time-limit is {time_limit:g}; it must be more than 0")
    with Progress() as progress:
        if by_layer:
            lengths = length_range_by_layer(
                chosen,
                max_states=ASKED.max_states,
                time_limit=time_limit,
                progress=progress,
            )
        else:
            lengths = _found(chosen, policy, progress)
    render(length_document(lengths))
    unsettled = " and ".join(
        lengths.words(one) for one in lengths.lengths if one.unsettled is not None
    )
    why = "stopped: " if lengths.stopped else "time ended the search: " if lengths.timed_out else ""
    reason = f"{why}the moves haven't settled where {unsettled}; the bounds are proved"
    end_if(unsettled, reason, 130 if lengths.stopped else 1)


def _print_within(game: Game, policy: str, turns: int, best: bool) -> None:
    """Print the chances within each number of turns."""
    from rollwise.analysis.lengths import within
    from rollwise.answer.references import names_in
    from rollwise.graph.policies import ties_in_play

    with Progress() as progress:
        policies = policies_of(game)
        graph, plans = policies.graph, [policies.find(name) for name in names_in(policy)]
        curve = within(graph, plans, turns, best=best, progress=progress)
    ties = ties_in_play(graph, *plans) if graph.players < 3 else None
    render(within_document(graph, plans, curve, ties))


def _found(game: Game, policy: str, progress: Progress) -> LengthRange:
    """The range of the number of moves, by layers where the game is too large for one graph."""
    from rollwise.analysis.length_range import length_range, length_range_by_layer
    from rollwise.answer import kept
    from rollwise.answer.solve import goes_by_layers

    in_layers = policy == "optimal" and goes_by_layers(game, ASKED.max_states)
    policies = kept.policies_in_one_graph(
        game, other_way=in_layers, any_players=True, max_states=ASKED.max_states, progress=progress
    )
    if policies is None:
        return length_range_by_layer(game, progress=progress)
    return length_range(policies, policy, progress=progress)
