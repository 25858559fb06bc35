"""``rollwise simulate``: policies at play, many games or one told move by move."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    check_workers,
    policies_of,
    read_game,
    refuse,
    refuse_with_seats,
    solve_or_open,
    workers_of,
)
from rollwise.cli.options import (
    ClusterOption,
    GameArgument,
    JsonOption,
    LoadOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    PolicyOption,
)
from rollwise.cli.printing import print_json, tell_ties
from rollwise.cli.progress import Progress
from rollwise.documents.parts import about_draws, ties_document
from rollwise.documents.policies import (
    match_document,
    seats_match_document,
    told_games_document,
)
from rollwise.errors import UsageError
from rollwise.game import has_many
from rollwise.numbers.printed import column, estimated, estimated_chance, percent, percents

if TYPE_CHECKING:
    from rollwise.answer.references import Policies
    from rollwise.game import Game
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Policy
    from rollwise.simulate import Estimate, Match, Side

GAMES, OF_LARGE = 100_000, 1_000
SCORES_SHOWN = 30
NOT_LARGE = "isn't for games that are played turn by turn: too large for one graph, or in a folder"


AgainstOption = Annotated[
    str | None,
    typer.Option(metavar="Q", help="The opponent's policy; P unless given."),
]
GamesOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Games to play; 100,000 unless given, or 1,000 of a game too large for one graph.",
    ),
]
SeedOption = Annotated[int | None, typer.Option(help="Of the random numbers; else a new one.")]
WorkersOption = Annotated[
    int | None, typer.Option(help="Threads that play in parallel; 1 unless given.")
]
ExactOption = Annotated[
    bool, typer.Option("--exact/--no-exact", help="Compute the exact figures too.")
]
TellOption = Annotated[
    int | None,
    typer.Option(
        metavar="[N]", min=1, help="Tell one game move by move instead, or N of them, in words."
    ),
]


@app.command("simulate")
def simulate(
    game: GameArgument,
    parameters: ParametersArgument = None,
    policy: PolicyOption = ...,  # type: ignore[assignment]
    against: AgainstOption = None,
    games: GamesOption = None,
    seed: SeedOption = None,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
    exact: ExactOption = True,
    tell: TellOption = None,
    load: LoadOption = None,
    json: JsonOption = False,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Simulate games: wins, scores, turns and moves.

    Simulated figures come with their standard errors and the exact ones beside them.
    Ctrl-C ends early with the games played so far.
    """
    from rollwise.graph.policies import ties_in_play

    if tell:
        told = {"games": games, "workers": workers, "cluster": cluster, "no_exact": not exact}
        refuse("doesn't go with --tell, the story of one game", **told)
    if games is not None and games < 1:
        raise UsageError(f"--games is {games}; it must be at least 1")
    check_workers(workers, cluster)
    chosen = read_game(game, parameters)
    if has_many(chosen) or "," in policy:
        others = {"against": against, "workers": workers, "cluster": cluster, "tell": tell}
        refuse_with_seats(chosen, **others, load=load)
        _play_seats(chosen, policy, games, seed, max_states, exact=exact, json=json)
        return
    policies = _policies(chosen, load, max_states, told=tell is not None)
    if policies is None:
        refuse(NOT_LARGE, cluster=cluster, tell=tell)
        _of_large(chosen, policy, against, games, seed, load, json=json)
        return
    with Progress() as progress:
        graph = policies.graph
        if against is not None and graph.players != 2:
            raise UsageError(f"{graph.game} is a game for one: there is no opponent")
        first = policies.find(policy)
        second = None if against is None else policies.find(against)
        if tell is None:
            match = _played(
                graph,
                first,
                second,
                GAMES if games is None else games,
                cluster,
                seed=seed,
                workers=workers or 1,
                exact=exact,
                progress=progress,
            )
    if tell is not None:
        _tell(policies, first, second, tell, seed, json=json)
        return
    resting = ties_in_play(graph, first, second)
    if json:
        print_json(match_document(graph, match, resting))
    else:
        typer.echo(graph.title)
        _print(match, has_stakes=graph.has_stakes)
        tell_ties(ties_document(resting))


def _policies(
    game: Game, load: str | None, max_states: int | None, *, told: bool
) -> Policies | None:
    """The policies of a game; None where its games are played turn by turn."""
    from rollwise.answer import kept
    from rollwise.answer.references import Policies

    if load is not None:
        found = solve_or_open(game, load, max_states)
        return Policies.of(found.whole()) if found.is_small else None
    in_turns = not told and game.base_game is game
    with Progress() as progress:
        return kept.policies_in_one_graph(
            game, other_way=in_turns, max_states=max_states, progress=progress
        )


def _of_large(
    game: Game,
    policy: str,
    against: str | None,
    games: int | None,
    seed: int | None,
    load: str | None,
    *,
    json: bool,
) -> None:
    """Simulate a game too large for one graph."""
    from rollwise.answer import kept
    from rollwise.graph import title_of
    from rollwise.simulate.large_match import simulate_large

    with Progress() as progress:
        match = simulate_large(
            game,
            policy,
            against,
            games=OF_LARGE if games is None else games,
            seed=seed,
            answer=lambda: kept.solve_by_layers(game, load, progress=progress),
            progress=progress,
        )
    if json:
        print_json(match_document(game, match, None))
    else:
        typer.echo(title_of(game.name, game.parameters))
        _print(match, has_stakes=game.objective == "win")


def _played(
    graph: StateGraph,
    first: Policy,
    second: Policy | None,
    games: int,
    cluster: str | None,
    **options: Any,
) -> Match:
    """Play the games, with a warning for every figure that chance doesn't explain."""
    from rollwise.simulate import Disagreement
    from rollwise.simulate import simulate as play

    with warnings.catch_warnings(), workers_of(cluster) as pool:
        warnings.simplefilter("always", Disagreement)
        return play(graph, first, second, games=games, pool=pool, **options)


def _tell(
    policies: Policies,
    first: Policy,
    second: Policy | None,
    games: int,
    seed: int | None,
    *,
    json: bool,
) -> None:
    """Games, move by move."""
    from rollwise.numbers.randomness import check_seed, fresh_seed
    from rollwise.simulate import tell
    from rollwise.simulate.tell import PLAYERS

    graph = policies.graph
    start = fresh_seed() if seed is None else check_seed(seed)
    told = ((n, tell(policies, first, second, seed=n)) for n in range(start, start + games))
    if json:
        print_json(told_games_document(graph, dict(told)))
        return
    seats = (first, second or first)[: graph.players]
    playing = ", ".join(f"{n} plays {p.name}" for n, p in zip(PLAYERS, seats, strict=False))
    for number, moves in told:
        typer.echo(f"{'' if number == start else chr(10)}{graph.title}, seed {number}: {playing}")
        for move in moves:
            typer.echo(f"  {move.text}")


def _print(match: Match, *, has_stakes: bool) -> None:
    stopped = f" of the {match.asked:,} asked for" if match.games < match.asked else ""
    draws = about_draws(any(side.draws for side in match.sides if side.win_rate is not None))
    typer.echo(
        f"{match.games:,} games{stopped}, seed {match.seed} (estimated ± standard error{draws})"
    )
    if match.win_rate is not None:
        typer.echo(f"  {match.policy} wins {_text(match.win_rate, is_share=True)} over both seats")
    if match.payoff is not None:
        typer.echo(f"  {match.policy} gains {_text(match.payoff)} a game over both seats")
    for side in match.sides:
        pair = f"{side.first} first, {side.second} second" if side.second else side.first
        typer.echo(f"{pair}: {side.games:,} games")
        if side.win_rate is not None:
            who = "the first player wins" if side.second else "wins"
            typer.echo(f"  {who} {_text(side.win_rate, is_share=True)}")
            typer.echo(f"    95 % confidence interval {_interval(side.win_rate, is_share=True)}")
            draws = f", {side.draws:,} draws" if side.draws else ""
            typer.echo(f"    {side.wins:,} won, {side.losses:,} lost{draws}")
        if side.score is not None:
            of = " of the first player" if side.second else ""
            typer.echo(f"  {'payoff' if has_stakes else 'score'}{of} {_text(side.score)}")
            typer.echo(f"    95 % confidence interval {_interval(side.score)}")
            _print_scores(side)
        for name, length in (("turns", side.turns), ("moves", side.moves)):
            typer.echo(
                f"  {name} {_text(length.estimate)}; "
                f"{length.shortest} to {length.longest}, median {length.median}"
            )
    for note in match.notes:
        typer.echo(f"  {note}")


def _text(estimate: Estimate, *, is_share: bool = False) -> str:
    roughly, exactly = (estimated_chance, percents) if is_share else (estimated, column)
    text = str(roughly(estimate.mean, estimate.standard_error))
    if estimate.exact is not None and estimate.exact_bound is not None:
        (exact,) = exactly([estimate.exact], [estimate.exact_bound])
        text += f" (exact {exact.number}, {exact.sure})"
    return text


def _interval(estimate: Estimate, *, is_share: bool = False) -> str:
    roughly = estimated_chance if is_share else estimated
    low, high = (roughly(end, estimate.standard_error).number for end in estimate.interval)
    return f"{low} to {high}"


def _print_scores(side: Side) -> None:
    if side.scores is None:
        typer.echo("    too many different scores to count one by one")
        return
    likely = sorted(side.scores.items(), key=lambda item: -item[1])[:SCORES_SHOWN]
    for score, count in sorted(likely):
        share = count / side.games
        typer.echo(f"    {score:>8g}  {percent(share):>10}  {'#' * round(60 * share)}")
    if len(side.scores) > len(likely):
        rest = len(side.scores) - len(likely)
        typer.echo(f"    and {rest:,} rarer scores (--json for all)")


def _play_seats(
    game: Game,
    policy: str,
    games: int | None,
    seed: int | None,
    max_states: int | None,
    *,
    exact: bool,
    json: bool,
) -> None:
    """Play games with a policy for each seat, and print the results."""
    from rollwise.answer.evaluate_seats import evaluate_seats
    from rollwise.many.seats import has_payoffs
    from rollwise.simulate.seats import simulate_seats

    with Progress() as progress:
        found = policies_of(game, max_states, progress)
        seated = [found.find(name.strip()) for name in policy.split(",")]
    played = simulate_seats(found.graph, seated, games=GAMES if games is None else games, seed=seed)
    shares = evaluate_seats(found.graph, seated) if exact else None
    if json:
        print_json(seats_match_document(found.graph, played, shares))
        return
    typer.echo(f"{found.graph.title}: {played.games:,} games, seed {played.seed}")
    payoffs = has_payoffs(found.graph)
    roughly, exactly = (estimated, column) if payoffs else (estimated_chance, percents)
    gets = "gets on average" if payoffs else "wins"
    for seat, name in enumerate(played.policies):
        rate = roughly(played.win_rates[seat], played.standard_errors[seat])
        line = f"  seat {seat + 1}, {name}, {gets} {rate} (estimated)"
        if shares is not None:
            (sure,) = exactly([shares.win_probabilities[seat]], [shares.error_bound])
            line += f"; exactly {sure.number}"
        typer.echo(line)
    typer.echo(f"  {played.moves:.1f} actions in a game")
