"""Commands for games of three or more players: see `rollwise.cli.options.also_for_many`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rollwise.cli.common import policies_of, processes_or, refuse
from rollwise.cli.printing import (
    SECONDS,
    print_json,
    print_table,
    seeds_text,
    tell_time,
    write_rule,
)
from rollwise.cli.progress import Progress
from rollwise.cli.solve_forms import solved_seats
from rollwise.documents.many import (
    learned_seats_document,
    played_document,
    response_of_many_document,
    shares_document,
    thumb_of_many_document,
    tournament_of_many_document,
)
from rollwise.errors import UsageError
from rollwise.machine.atomic_files import check_place, write_atomically
from rollwise.many.seats import has_payoffs
from rollwise.numbers.printed import column, estimated, in_common, rounded_up

if TYPE_CHECKING:
    from rollwise.analysis.thumb.seats import SeatsFrontier
    from rollwise.game import Game
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Policy
    from rollwise.many.equilibrium import Equilibrium
    from rollwise.simulate.seats import SeatsTournament

SEATING_GAMES = 10_000
_DIGITS = {3: "three", 6: "six"}
GAMES = 100_000


def _gets(graph: StateGraph) -> str:
    """The words before the result of a seat."""
    return "gets on average" if has_payoffs(graph) else "wins with probability"


def evaluate(game: Game, *, policy: str, max_states: int | None, json: bool) -> None:
    """Print the result of each seat, with a policy for each."""
    from rollwise.answer.evaluate_seats import evaluate_seats

    with Progress() as progress:
        found = policies_of(game, max_states, progress)
        seated = [found.find(name.strip()) for name in policy.split(",")]
    shares = evaluate_seats(found.graph, seated)
    if json:
        print_json(shares_document(found.graph, shares))
        return
    typer.echo(found.graph.title)
    numbers, sure = in_common(
        column(shares.win_probabilities, [shares.error_bound] * found.graph.players)
    )
    for seat, (name, number) in enumerate(zip(shares.policies, numbers, strict=True), 1):
        typer.echo(f"  seat {seat}, {name}, {_gets(found.graph)} {number}")
    typer.echo(f"  (certified ± {sure})")


def respond(game: Game, *, to: str, max_states: int | None, json: bool) -> None:
    """Print the best result of one seat against one policy of all others."""
    from rollwise.answer.evaluate_seats import ADVERSARIES, ALLIES, respond_to, respond_to_all

    with Progress() as progress:
        found = policies_of(game, max_states, progress)
        policy = None if to in (ADVERSARIES, ALLIES) else found.find(to)
    if policy is None:
        response = respond_to_all(found.graph, to)
    else:
        response = respond_to(found.graph, policy)
    if json:
        print_json(response_of_many_document(found.graph, response))
        return
    typer.echo(f"best responses to {response.policy} of all others: {found.graph.title}")
    bounds = [response.error_bound] * found.graph.players
    best, sure = in_common(column(response.best, bounds))
    known = response.win_probabilities
    plain = [f" instead of {x.number}" for x in column(known, bounds[: len(known)])]
    for seat, number in enumerate(best):
        instead = plain[seat] if plain else ""
        typer.echo(f"  seat {seat + 1} {_gets(found.graph)} {number}{instead}")
    typer.echo(f"  (certified ± {sure})")


def simulate(
    game: Game,
    *,
    policy: str,
    games: int | None,
    seed: int | None,
    exact: bool,
    max_states: int | None,
    json: bool,
) -> None:
    """Play games with a policy for each seat, and print the results."""
    from rollwise.answer.evaluate_seats import evaluate_seats
    from rollwise.simulate.seats import simulate_seats

    with Progress() as progress:
        found = policies_of(game, max_states, progress)
        seated = [found.find(name.strip()) for name in policy.split(",")]
    played = simulate_seats(found.graph, seated, games=GAMES if games is None else games, seed=seed)
    shares = evaluate_seats(found.graph, seated) if exact else None
    if json:
        print_json(played_document(found.graph, played, shares))
        return
    typer.echo(f"{found.graph.title}: {played.games:,} games, seed {played.seed}")
    for seat, name in enumerate(played.policies):
        rate = estimated(played.win_rates[seat], played.standard_errors[seat])
        line = f"  seat {seat + 1}, {name}, wins {rate} of the games (estimated)"
        if has_payoffs(found.graph):
            line = f"  seat {seat + 1}, {name}, gets {rate} on average (estimated)"
        if shares is not None:
            sure = column([shares.win_probabilities[seat]], [shares.error_bound])[0]
            line += f"; exactly {sure.number}"
        typer.echo(line)
    typer.echo(f"  {played.moves:.1f} actions in a game")


def tournament(
    game: Game,
    *,
    policies: str,
    games: int | None,
    seed: int | None,
    exact: bool,
    max_states: int | None,
    json: bool,
) -> None:
    """Let policies play in every seating, and print their results."""
    from rollwise.simulate.seats import simulated_tournament, tournament_of_many

    if exact:
        refuse("goes with --no-exact: the default simulates no games", games=games, seed=seed)
    names = [name.strip() for name in policies.split(",") if name.strip()]
    with Progress() as progress:
        known = policies_of(game, max_states, progress)
        graph, entered = known.graph, [known.find(name) for name in names]
        if exact:
            found = tournament_of_many(graph, entered, progress.listener)
        else:
            found = simulated_tournament(
                graph,
                entered,
                SEATING_GAMES if games is None else games,
                seed=seed,
                progress=progress.listener,
            )
    if json:
        print_json(tournament_of_many_document(graph, found))
        return
    _print_tournament(graph, found)


def _print_tournament(graph: StateGraph, found: SeatsTournament) -> None:
    from rich.table import Table

    m = len(found.policies)
    shown = Table(box=None, padding=(0, 2, 0, 0))
    shown.add_column("policy")
    for head in ("in a seat", *(f"among {name}" for name in found.policies)):
        shown.add_column(head, justify="right")
    errors = found.standard_errors
    if errors is None:
        assert found.error_bound is not None
        numbers, sure = in_common(column(found.results.tolist(), [found.error_bound] * m))
        head, digits = "", 6
        said = f"certified ± {sure}"
    else:
        pairs = zip(found.results.tolist(), errors.tolist(), strict=True)
        numbers = [str(estimated(*pair)) for pair in pairs]
        head, digits = f" of {found.games:,} games each, seed {found.seed}", 3
        said = "estimated ± the standard error"
    typer.echo(f"{graph.title}: {found.seatings:,} seatings{head}")
    for i in sorted(range(m), key=lambda i: -found.results[i]):
        cells = [f"{share:.{digits}f}" for share in found.among[i].tolist()]
        shown.add_row(found.policies[i], numbers[i], *cells)
    print_table(shown)
    what = "expected payoff" if has_payoffs(graph) else "win probability"
    typer.echo(
        f"{what} of a seat ({said}), over all seatings with different policies; "
        f"and of one policy among others that are all alike, to {_DIGITS[digits]} decimals"
    )


def learn(
    game: Game,
    *,
    games: int,
    explore: float | None,
    seed: int | None,
    save: Path | None,
    max_states: int | None,
    json: bool,
) -> None:
    """Learn by self-play, and print the gain of each seat's best response to the learned policy."""
    from rollwise.analysis.learning import learn_seats
    from rollwise.many.seats import build_seats

    if save is not None and save.suffix not in (".csv", ".parquet"):
        raise UsageError(
            f"--save {save}: with three players or more what was learned is kept as a table, in a "
            ".csv or .parquet file, which is a policy for other commands"
        )
    check_place(save)
    with Progress() as progress:
        graph = build_seats(game, max_states=max_states, progress=progress.listener)
        found = learn_seats(
            graph,
            games,
            explore=100.0 if explore is None else explore,
            seed=seed,
            progress=progress.listener,
        )
    if save is not None:
        _save_policy(graph, found.policy, save)
    document = learned_seats_document(graph, found)
    if json:
        print_json(document)
        return
    typer.echo(
        f"{graph.title}: {found.games:,} games of self-play, M {found.explore:g}, "
        f"seed {found.seed}; {found.seen:,} states with a choice were seen"
    )
    bounds = [found.response.error_bound] * graph.players
    has, sure = in_common(column(found.response.win_probabilities, bounds))
    could, _ = in_common(column(found.response.best, bounds))
    for seat, (number, best) in enumerate(zip(has, could, strict=True), 1):
        could_have = f"and could {'get' if has_payoffs(graph) else 'with'} {best}"
        typer.echo(f"  seat {seat} {_gets(graph)} {number}, {could_have}")
    typer.echo(
        f"  (certified ± {sure}) of what was learned, played by all; the best response of a seat "
        f"gains at most {max(found.gains):.6f} from the start (0 in an equilibrium)"
    )
    if save is not None:
        typer.echo(f"Saved to {save}.")


def _save_policy(graph: StateGraph, policy: Policy, path: Path) -> None:
    """Save a policy as a table, for use as a policy in other commands."""
    from rollwise.answer.references import policy_table
    from rollwise.machine.parquet_files import write_parquet

    frame = policy_table(graph, policy)
    if path.suffix == ".parquet":
        write_atomically(path, lambda place: write_parquet(frame, place, {}))
    else:
        text = frame.write_csv()
        write_atomically(path, lambda place: place.write_text(text, encoding="utf-8", newline="\n"))


def thumb(
    game: Game,
    *,
    numbers: int,
    within: float | None,
    seconds: float | None,
    evaluations: int | None,
    seed: int,
    searches: int | None,
    workers: int | None,
    cluster: str | None,
    save: Path | None,
    python: bool,
    max_states: int | None,
    json: bool,
) -> None:
    """Find rules of thumb, and print the loss of each among equilibrium players."""
    from rollwise.analysis.thumb.seats import find_seats_rules
    from rollwise.thumb.sentences import python_source

    found = solved_seats(game, max_states).equilibrium
    with Progress() as progress, processes_or(cluster, workers) as pool:
        rules = find_seats_rules(
            found,
            numbers,
            within=within,
            seconds=SECONDS if seconds is None else seconds,
            evaluations=evaluations,
            seed=seed,
            searches=searches or 1,
            progress=progress,
            pool=pool,
        )
    written = write_rule(found.graph, rules.search.rules, save)
    if json:
        print_json(thumb_of_many_document(found.graph, rules))
    elif python and rules.rules:
        last = rules.rules[-1]
        typer.echo(python_source(last.of_search.rule, found.graph, game, last.text))
    else:
        _print_rules(found, rules)
        tell_time(rules.search)
        for line in written:
            typer.echo(line)
    if rules.search.stopped:
        typer.echo("rollwise: stopped; these are the rules found so far", err=True)
        raise typer.Exit(130)


def _print_rules(found: Equilibrium, rules: SeatsFrontier) -> None:
    from rich.table import Table

    if not rules.rules:
        typer.echo("no rule was found with which every play ends")
        return
    scale, unit = (1.0, "points") if has_payoffs(found.graph) else (100.0, "percentage points")
    shown = Table(box=None, padding=(0, 2, 0, 0))
    seats = [f"seat {seat}" for seat in range(1, found.graph.players + 1)]
    for name in ("integers", "loss", *seats, "gain against it"):
        shown.add_column(name, justify="right")
    shown.add_column("rule", overflow="fold")
    for rule in rules.rules:
        cells = [f"{scale * x:z.4f}" for x in (rule.loss, *rule.losses, rule.gain)]
        shown.add_row(str(rule.of_search.numbers), *cells, rule.text)
    print_table(shown)
    worst = max(max(rule.error_bound, rule.gain_bound) for rule in rules.rules)
    typer.echo(
        f"losses in {unit} (certified ± {rounded_up(scale * worst)}) where all others play the "
        "equilibrium: on average over the seats, and in each; the gain is that of a best response "
        f"where all play the rule. These are the best of {rules.search.scored:,} scored rules "
        f"({seeds_text(rules.search)}), and perhaps not the best there are"
    )
