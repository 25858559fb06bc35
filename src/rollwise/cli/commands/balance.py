"""``rollwise balance``: what a game does to its players."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    in_one_graph,
    print_json,
    print_table,
    read_game,
)
from rollwise.cli.forms import (
    ChaseOption,
    ContestOption,
    Form,
    TargetOption,
    TiesOption,
    as_played,
)
from rollwise.cli.progress import Progress
from rollwise.documents.design import QUANTILES, balance_document

if TYPE_CHECKING:
    from rollwise.analysis.design.balance import Balance
    from rollwise.analysis.design.played import Played

SURE, RULES, SEED = 0.9, 300, 1
MOST_NAMED = 12  # actions that are nowhere the best


@app.command("balance")
def balance(
    game: GameArgument,
    parameters: ParametersArgument = None,
    sure: Annotated[
        float,
        typer.Option(metavar="P", help="The chance with which a game counts as decided."),
    ] = SURE,
    evaluations: Annotated[
        int, typer.Option(metavar="N", help="How many rules of thumb are scored; 0 for none.")
    ] = RULES,
    simulate: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Play N games twice, and put what they come to beside each figure."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Of that search; of the games, and the next one.", min=0)
    ] = SEED,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Say what a game does to its players: edge, length, drama, decisions, luck and skill."""
    from rollwise.analysis.design.balance import balance as find_balance
    from rollwise.analysis.design.played import check_games, play_beside
    from rollwise.answer import kept

    check_games(simulate)
    chosen = as_played(
        read_game(game, parameters), Form(chase, target, contest, ties), need_target=True
    )
    with in_one_graph("balance"), Progress() as progress:
        policies = kept.policies(chosen, max_states=max_states, progress=progress)
        found = find_balance(
            policies, sure=sure, evaluations=evaluations, seed=seed, progress=progress
        )
        played = None
        if simulate is not None:
            played = play_beside(policies, found, sure, simulate, seed, progress)
    if json:
        print_json(balance_document(found, played))
        return
    _print(found, sure)
    if played is not None:
        _print_played(played)


def _print(found: Balance, sure: float) -> None:
    from rich.table import Table

    from rollwise.numbers.printed import rounded_up

    graph = found.solution.graph
    typer.echo(f"{graph.title}: {graph.n_positions:,} positions")
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    lines = [*_edge(found), *_length(found), *_drama(found, sure), *_decisions(found)]
    for name, text in [*lines, *_skill(found), *_rules(found)]:
        table.add_row(name, text)
    print_table(table)
    typer.echo(
        f"Means and shares are certified (± {rounded_up(_worst(found))} at most), and shown "
        "rounded; how turns are distributed is followed in floating point."
    )


def _worst(found: Balance) -> float:
    """The largest error bound of the figures that are shown, some of them in hundredths."""
    figures = [found.value, found.luck, found.turns, found.moves]
    figures += [found.decisions.in_a_game, found.decisions.matter_in_a_game]
    if found.drama is not None:
        figures += [found.drama.draws, found.drama.lead_changes, found.drama.comebacks]
    if found.skill is not None:
        figures.append(found.skill.share)
    off = [figure.bound for figure in figures]
    if found.skill is not None:
        off.append(found.skill.error_bound)
    if found.rules is not None:
        off += [rule.error_bound for rule in found.rules.rules]
    return 100 * max(off)


def _edge(found: Balance) -> list[tuple[str, str]]:
    graph, value, luck = found.solution.graph, found.value.value, found.luck.value
    chance = graph.view.win_probability(value)
    if graph.players == 1:
        worth = f"{value:z.4f}" if chance is None else f"{100 * chance:z.4f} %"
        return [(graph.view.worth_name, worth), ("luck", f"{luck:z.4f} (standard deviation)")]
    gets = f"gets {value:+z.4f}" if chance is None else f"wins {100 * chance:z.4f} %"
    ahead = f": ahead by {found.edge:+z.4f} of the luck of a game" if luck else ""
    return [
        ("first player", f"{gets}{ahead}"),
        ("luck", f"{luck:z.4f} (standard deviation of the result)"),
    ]


def _length(found: Balance) -> list[tuple[str, str]]:
    lasts = found.lengths
    low, middle, high = (lasts.quantile(q / 100) for q in QUANTILES)
    lines = [("turns", f"{found.turns.value:z.4f}")] if found.solution.graph.players == 2 else []
    moves = f"{found.moves.value:z.4f}"
    spread = f"{middle} {lasts.unit} in the middle: one game in twenty has {low} or fewer, and one "
    spread += f"in twenty more than {high}"
    return [*lines, ("moves", moves), ("length", spread)]


def _drama(found: Balance, sure: float) -> list[tuple[str, str]]:
    drama = found.drama
    if drama is None:
        return []
    decided = drama.decided
    low, middle, high = (decided.quantile(q / 100) for q in QUANTILES)
    lines = [
        ("lead changes", f"{drama.lead_changes.value:z.4f}"),
        (
            "decided",
            f"in turn {decided.mean:z.2f} on average: from then on the winner's chance is at least "
            f"{sure:.0%} (turn {middle} in the middle; one game in twenty by turn {low}, and one "
            f"in twenty after turn {high})",
        ),
        (
            "comebacks",
            f"{100 * drama.comebacks.value:z.4f} % of the games are won by a player whose chance "
            f"had been {1 - sure:.0%} or less",
        ),
    ]
    if found.solution.graph.has_draws:
        lines.append(("draws", f"{100 * drama.draws.value:z.4f} %"))
    return lines


def _decisions(found: Balance) -> list[tuple[str, str]]:
    chosen, graph = found.decisions, found.solution.graph
    if not chosen.positions:
        return [("decisions", "none")]
    scale, unit = (1, "points") if graph.is_score else (50, "percentage points")
    lines = [
        (
            "decisions",
            f"{chosen.in_a_game.value:z.4f} in a game; {chosen.matter_in_a_game.value:z.4f} "
            f"matter: to choose at random costs more than {scale * chosen.threshold:.4g} {unit}",
        ),
        (
            "positions",
            f"{chosen.positions:,} with a choice, of which {chosen.matter:,} "
            f"({chosen.matter / chosen.positions:.1%}) matter",
        ),
    ]
    if chosen.never_best:
        named = ", ".join(chosen.never_best[:MOST_NAMED])
        more = len(chosen.never_best) - MOST_NAMED
        lines.append(("never best", named + (f", and {more:,} more" if more > 0 else "")))
    return lines


def _skill(found: Balance) -> list[tuple[str, str]]:
    skill, graph = found.skill, found.solution.graph
    if skill is None:
        return []
    levels = ", ".join(skill.levels)
    drawn = "players are" if graph.players == 2 else "player is"
    lines = [
        (
            "skill",
            f"{100 * skill.share.value:z.2f} % of the variance of the result, where the {drawn} "
            f"drawn from: {levels}",
        )
    ]
    for level, gets in zip(skill.levels[:-1], skill.against_best, strict=False):
        chance = graph.view.win_probability(gets)
        amount = f"gets {gets:z.4f}" if chance is None else f"wins {100 * chance:z.4f} %"
        against = " against the best, on average over the seats" if graph.players == 2 else ""
        lines.append((f"  {level}", amount + against))
    return lines


def _rules(found: Balance) -> list[tuple[str, str]]:
    if found.rules is None:
        return []
    graph = found.solution.graph
    scale, unit = (1, "points") if graph.is_score else (100, "percentage points")
    return [
        (
            "rule of thumb" if k == 0 else "",
            f"{rule.numbers} integer{'' if rule.numbers == 1 else 's'}, {scale * rule.loss:z.4f} "
            f"{unit} lost: {rule.text}",
        )
        for k, rule in enumerate(found.rules.rules)
    ]


def _print_played(played: Played) -> None:
    from rich.table import Table

    from rollwise.numbers.printed import estimated

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("figure", overflow="fold")
    for head in ("exact", *(f"played, seed {seed}" for seed in played.seeds), "off"):
        table.add_column(head, justify="right")
    for figure in played.figures:
        scale, unit = (100, " %") if figure.is_share else (1, "")
        samples = [
            str(estimated(scale * sample.mean, scale * sample.standard_error)) + unit
            for sample in figure.samples
        ]
        exact = f"{scale * figure.exact:z.4f}{unit}"
        table.add_row(figure.name, exact, *samples, f"{figure.furthest:.1f}")
    typer.echo()
    print_table(table)
    typer.echo(
        f"Means of {played.games:,} games of each pair of players, ± standard error (estimated). "
        "Off: by how many standard errors the exact figure is away from the further of both."
    )
    for name in played.disagreements():
        typer.echo(f"rollwise: {name} is further off than chance explains", err=True)
