"""``rollwise solve`` of games by layers, of contests, and of three or more seats."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rollwise.answer.solution import Solution
from rollwise.cli.common import processes_or, refuse
from rollwise.cli.printing import print_json, print_worth, show, show_table, sizes_text, tell_ties
from rollwise.cli.progress import Progress
from rollwise.documents.answers import layers_document
from rollwise.documents.many import equilibrium_document
from rollwise.documents.scores import blind_contest_document, contest_document
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.games import create
from rollwise.graph import title_of
from rollwise.machine.atomic_files import check_place
from rollwise.many.equilibrium import gain_text, sure_text
from rollwise.numbers.printed import certified, column, how_many, in_bytes, in_common, rounded_up

if TYPE_CHECKING:
    from rollwise.many.equilibrium import Equilibrium
    from rollwise.many.others import OtherEquilibria

NAMED = 3  # unsettled components named in a message


def print_layers(
    game: Game,
    max_states: int | None,
    save: Path | None,
    *,
    resume: bool = False,
    keep: str | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    json: bool = False,
) -> None:
    """Solve a game by layers, print the value of the start, and save the answer if requested."""
    from rollwise.answer import kept
    from rollwise.answer.layer_folder import START
    from rollwise.answer.solve_by_layers import solve_by_layers

    if save is not None:  # before the work, so that it isn't lost
        try:
            save.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"--save: no folder {save} can be made: {error.strerror}; with --by-layer it "
                "is a folder, where each layer is kept when it is proved"
            ) from None
    with Progress() as progress:
        if keep == START:
            solution = solve_by_layers(game, max_states=max_states, progress=progress, keep=keep)
        elif save is None:
            solution = kept.solve_by_layers(game, max_states=max_states, progress=progress)
        else:
            with processes_or(cluster, workers) as pool:
                solution = solve_by_layers(
                    game,
                    max_states=max_states,
                    save=save,
                    resume=resume,
                    progress=progress,
                    pool=pool,
                )
    document = layers_document(solution)
    if json:
        print_json(document)
    else:
        place = ", ".join(f"{name}={value}" for name, value in document["start"].items())
        typer.echo(solution.title)
        print_worth(
            place,
            solution.value,
            solution.error_bound,
            name=solution.worth_name,
            draws=solution.space.has_draws,
        )
        typer.echo(
            f"  {sizes_text(document)} in {how_many(document['layers'], 'layer')}, the largest "
            f"of {in_bytes(document['largest_layer_bytes'])}"
        )
        if document["keep"] == START:
            typer.echo("  kept: the answer of the start; --save FOLDER keeps all")
        spent = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in solution.seconds.items())
        told = f"kept from {solution.kept_from}, " if solution.kept_from else ""
        typer.echo(f"  strategy-iteration by layers: {told}{spent}")
        if save is not None:
            typer.echo(f"Saved to {save}; --load {save} reads it.")
    if solution.status != "certified":
        raise typer.Exit(1)


def print_contest(kind: type[Game], values: Mapping[str, str], *, json: bool) -> None:
    """Solve a contest and print it.

    Parameters
    ----------
    values : mapping
        Parameters as typed: those of the game, and ``as=contest`` with its own, or ``as=blind``.
    """
    from rollwise.analysis.contest import Contest, solve_contest
    from rollwise.analysis.second_aims import first_share
    from rollwise.answer.optimal_set import OptimalSet
    from rollwise.answer.solve import solve
    from rollwise.derive.forms import BLIND, split_form

    inner, own = split_form(kind, values)
    game = create(kind, inner)
    if values["as"] == BLIND:
        return _print_blind_contest(game, json=json)
    contest = Contest(game, **own)
    started = time.perf_counter()
    with Progress() as progress:
        progress("solving the contest", 0, None)
        solved = solve_contest(contest)
    seconds = time.perf_counter() - started
    solution = solve(game)
    for_mean = solve_contest(contest, {0: solution.policy})
    shares = OptimalSet.of(solution).range(first_share(for_mean))
    document = contest_document(solved, for_mean, shares, seconds)
    show(json, lambda: document, lambda: _print_contest(document))


def _print_blind_contest(game: Game, *, json: bool) -> None:
    """Solve a contest of two with hidden scores, and print it."""
    from rollwise.analysis.blind_contest import solve_blind_contest

    started = time.perf_counter()
    with Progress() as progress:
        progress("solving the contest", 0, None)
        solved = solve_blind_contest(game)
    document = blind_contest_document(solved, time.perf_counter() - started)
    show(json, lambda: document, lambda: _print_blind(document))


def _print_blind(document: dict[str, Any]) -> None:
    title = title_of(document["game"], document["parameters"])
    typer.echo(f"{title}, a contest of two at the same time; both win half of it")
    show_table(
        ("played with probability", "mean score", "standard deviation"),
        (
            [f"{part[name]:.6f}" for name in ("weight", "mean_score", "standard_deviation")]
            for part in document["mixture"]
        ),
    )
    mean = document["best_mean"]
    typer.echo(f"  no policy gains more than {rounded_up(document['gain'])} against this mixture")
    wins = certified(mean["wins_against_mixture"], mean["error_bound"])
    loses = certified(mean["best_response_wins"], mean["best_response_error_bound"])
    typer.echo(
        f"  the policy of the best mean ({mean['mean_score']:.6f}) wins {wins} against it, and "
        f"the best response to that wins {loses}"
    )
    typer.echo(
        f"  {document['states']:,} states with the score, {document['rounds']} best responses, "
        f"{document['seconds']:.2f} s"
    )


def _print_contest(document: dict[str, Any]) -> None:
    title = title_of(document["game"], document["parameters"])
    typer.echo(f"{title}, a contest of {document['players']}")
    bound, found = document["error_bound"], document["probabilities"]
    chances, sure = in_common(column(found, [bound] * len(found)))
    rows = ((str(player), chance) for player, chance in enumerate(chances, start=1))
    show_table(("player", f"wins (ties: {document['ties']})"), rows)
    typer.echo(
        f"  certified ± {sure}; no player can gain more than "
        f"{rounded_up(document['optimality_gap'])} by another policy"
    )
    # the difference of two doubles below 1 is off by no more than 2^-53
    more = certified(document["last_minus_first"], 2 * bound + 2.0**-53, sign=True)
    typer.echo(f"  the last player wins {more} more often than the first")
    first = document["first_player"]
    shares = first["range_playing_for_the_mean"]
    gains = [first["probability"] - shares[end] for end in ("most", "least")]
    off = bound + shares["error_bound"] + 2.0**-53
    least, most = column(gains, [off] * 2, sign=True)
    gain = str(least) if least.number == most.number else f"from {least.number} to {most}"
    mean = certified(first["mean_score"], first["mean_score_bound"])
    instead = certified(
        first["mean_score_playing_for_the_mean"], first["mean_score_bound_playing_for_the_mean"]
    )
    typer.echo(
        f"  playing to win instead of for the best mean brings the first player {gain} "
        f"(mean score {mean} instead of {instead})"
    )
    tell_ties(document["equally_good"])
    typer.echo(
        f"  {document['states']:,} states with the score, {document['situations']} situations, "
        f"{document['seconds']:.2f} s"
    )


def print_equilibrium(
    game: Game,
    save: Path | None,
    max_states: int | None,
    *,
    time_limit: float | None,
    starts: int | None,
    seed: int | None,
    json: bool,
) -> None:
    """Solve a game of three or more players and print the equilibrium."""
    check_place(save)
    if starts is None:
        refuse("goes with --starts N: it is that of the first of them", seed=seed)
    found = solved_seats(game, max_states, time_limit)
    equilibrium = found.equilibrium
    if save is not None:
        found.save(save)
    others = None
    if starts is not None:
        with Progress() as progress:
            others = equilibrium.others(
                starts, seed=1 if seed is None else seed, progress=progress.listener
            )
    document = equilibrium_document(found, others)
    if json:
        print_json(document)
    else:
        _tell(found, document)
        if others is not None:
            _tell_others(others)
        if save is not None:
            typer.echo(f"Saved to {save}.")
    if equilibrium.unsettled:
        typer.echo(f"rollwise: {_unsettled_text(equilibrium)}", err=True)
    if len(equilibrium.unproved):
        typer.echo(f"rollwise: {_unproved_text(equilibrium)}", err=True)
    if equilibrium.unsettled or len(equilibrium.unproved):
        raise typer.Exit(1)


def solved_seats(game: Game, max_states: int | None, time_limit: float | None = None) -> Solution:
    """The equilibrium of a game: kept from an earlier run, or found now."""
    from rollwise.answer.kept import solve

    options = {} if time_limit is None else {"time_limit": time_limit}
    with Progress() as progress:
        found = solve(
            game,
            options=options,
            any_players=True,
            max_states=max_states,
            progress=progress.listener,
        )
    return found


def _tell(solution: Solution, document: dict[str, Any]) -> None:
    found = solution.equilibrium
    start = found.graph.state_text(0)
    kind = "an equilibrium" if not found.unsettled else "a profile, not an equilibrium"
    if len(found.unproved) and not found.unsettled:
        kind = "an equilibrium, as far as can be seen"
    typer.echo(found.graph.title)
    what = "gets this payoff on average" if found.payoffs else "wins with this probability"
    typer.echo(f"  {kind}; each seat {what} from the start ({start}):")
    everywhere = document["error_bound"]
    at_start = float(found.error_bounds[0].max())
    _print_seats(found.worth, at_start if everywhere is None else everywhere)
    if len(found.unproved):
        typer.echo(f"  {gain_text(math.inf, ' by another policy')}")
    else:
        gain = rounded_up(found.deviation_gain)
        typer.echo(
            f"  in every position, no player gains more than {gain} by another policy (proved)"
        )
    typer.echo(
        f"  {sizes_text(document)}; {how_many(document['components'], 'component')}, of which "
        f"{document['mixing_components']:,} mix actions, in "
        f"{how_many(document['mixing_states'], 'state')}"
    )
    if found.ties.positions:
        typer.echo(f"  {found.ties.text}")
    spent = ", ".join(f"{name} {spent:.2f} s" for name, spent in document["seconds"].items())
    kept = "" if solution.kept_from is None else f"kept from {solution.kept_from}, "
    typer.echo(f"  {kept}{spent}")


def _unsettled_text(found: Equilibrium) -> str:
    """The components without an equilibrium, and the gain proved in spite of them."""
    components = found.graph.components
    where = components.order[components.indptr[list(found.unsettled[:NAMED])]]
    places = "; ".join(found.graph.state_text(int(state)) for state in where)
    n = len(found.unsettled)
    ended = "time ended the search: " if found.timed_out else ""
    return (
        f"{ended}in {how_many(n, 'component')} no equilibrium was found, as at {places}; "
        f"the proved bound includes them: {gain_text(found.deviation_gain)}"
    )


def _unproved_text(found: Equilibrium) -> str:
    """The positions without a proved bound."""
    n, first = len(found.unproved), found.graph.state_text(int(found.unproved[-1]))
    return (
        f"not certified: in {how_many(n, 'position')} no bound was proved, as at {first}; play "
        "leaves some of them so slowly that roundings count for more than chances"
    )


def _tell_others(others: OtherEquilibria) -> None:
    """Print the other equilibria."""
    n = len(others.others)
    starts = how_many(others.starts, "other start")
    supports = ""
    if others.components:
        count = how_many(others.components, "component")
        supports = f", and all supports of opposed decisions in {count}"
    typer.echo(f"  looked for others from {starts} (seed {others.seed}){supports}:")
    if others.unsettled:
        typer.echo(f"    {others.unsettled:,} of them came to no equilibrium")
    if not n:
        typer.echo("    no other was found; this doesn't prove that there is none")
    for other in others.others:
        found = other.found
        bounds = [found.error_bound] * found.graph.players
        numbers, told = in_common(column(found.worth, bounds))
        typer.echo(
            f"    another: {', '.join(numbers)} (certified ± {told}); "
            f"{gain_text(found.deviation_gain)} (proved)"
        )
        place = found.graph.state_text(other.first)
        where = how_many(other.differing, "position")
        typer.echo(f"      it has other values in {where}, as at {place}")


def _print_seats(chances: Sequence[float], bound: float) -> None:
    numbers, told = in_common(column(chances, [bound] * len(chances)))
    for seat, number in enumerate(numbers, 1):
        typer.echo(f"    seat {seat}: {number}")
    typer.echo(f"    ({sure_text(bound, told)})")
