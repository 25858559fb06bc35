"""``rollwise simulate`` and ``tournament``: policies at play."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    Workers,
    policies_of,
    policy_or_only_one,
    read_game,
    refuse,
    refuse_with_seats,
    solve_or_open,
    tell_of_cycles,
)
from rollwise.cli.options import (
    GameArgument,
    LoadOption,
    OptionalPolicyOption,
    ParametersArgument,
    WorkersOption,
    answered_apart,
)
from rollwise.cli.printing import end_if, render
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED
from rollwise.documents.simulated import (
    match_document,
    seats_match_document,
    told_games_document,
    tournament_document,
)
from rollwise.errors import UsageError, no_opponent
from rollwise.game import Game, has_many

if TYPE_CHECKING:
    from rollwise.answer.references import Policies
    from rollwise.game import Game
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Policy
    from rollwise.simulate import Match


GAMES, OF_LARGE = 100_000, 1_000
NOT_LARGE = "isn't for games that are played turn by turn: too large for one graph, or in a folder"


@app.command("simulate")
def simulate(
    game: GameArgument,
    parameters: ParametersArgument = None,
    policy: OptionalPolicyOption = None,
    against: str | None = None,
    games: int | None = None,
    seed: int | None = None,
    workers: WorkersOption = None,
    exact: bool = True,
    tell: Annotated[int | None, typer.Option(min=1)] = None,
    load: LoadOption = None,
) -> None:
    """Simulate games: wins, scores, turns and moves.

    Simulated figures come with their standard errors and the exact ones beside them.
    Ctrl-C ends early with the games played so far, of one or two players and without hidden dice.

    --against Q  The opponent's policy; P unless given.
    --games N    Games to play; 100,000 unless given, or 1,000 of a game too large for one graph.
    --seed N     Random seed; a new one unless given.
    --exact      Compute the exact figures too.
    --tell [N]   Tell one game move by move instead, or N of them, in words.
    """
    from rollwise.answer.references import names_in
    from rollwise.simulate import simulate as play

    if tell:
        options = {"games": games, "workers": workers, "no_exact": not exact}
        refuse("doesn't go with --tell, the story of one game", **options)
    if games is not None and games < 1:
        raise UsageError(f"--games is {games}; it must be at least 1")
    pool = Workers.read(workers)
    chosen = read_game(game, parameters)
    policy = policy_or_only_one(chosen, policy)
    tell_of_cycles(chosen)
    others = {"workers": workers, "tell": tell, "no_exact": not exact}
    if answered_apart(chosen, "simulate", policy, against, games, seed, load, **others):
        return
    by_seat = has_many(chosen) or "," in policy
    if by_seat:
        refuse_with_seats(chosen, against=against, workers=workers)
    policies = _policies(chosen, load, in_turns=tell is None and not by_seat)
    if policies is None:
        refuse(NOT_LARGE, workers=pool.cluster, tell=tell)
        refuse(f"with a list {NOT_LARGE}", policy=by_seat)
        _of_large(chosen, policy, against, games, seed, load)
        return
    number = GAMES if games is None else games
    with Progress() as progress:
        graph = policies.graph
        if against is not None and graph.players != 2:
            raise no_opponent(graph.game)
        names = names_in(policy) if against is None else [policy, against]
        seated = tuple(policies.find(name) for name in names)
        if tell is None and not by_seat:
            match = _played(
                graph,
                seated,
                number,
                pool,
                seed=seed,
                workers=pool.number or 1,
                exact=exact,
                progress=progress,
            )
    if tell is not None:
        _tell(policies, seated, tell, seed)
    elif by_seat:
        played = play(policies, seated, games=number, seed=seed, exact=exact)
        render(seats_match_document(played))
    else:
        _show(match)


def _show(match: Match) -> None:
    """Print a match. Ctrl-C has ended it if there are fewer games than asked for."""
    render(match_document(match))
    end_if(match.games < match.asked, "stopped; these are the games played so far", 130)


def _policies(game: Game, load: str | None, *, in_turns: bool) -> Policies | None:
    """The policies of a game; None where its games are played turn by turn."""
    from rollwise.answer import kept
    from rollwise.answer.references import Policies

    if load is not None:
        solution = solve_or_open(game, load)
        is_small = solution.is_small
        return Policies.of(solution.whole(), any_players=True) if is_small else None
    with Progress() as progress:
        return kept.policies_in_one_graph(
            game,
            other_way=in_turns and game.made_from is game,
            any_players=True,
            max_states=ASKED.max_states,
            progress=progress,
        )


def _of_large(
    game: Game,
    policy: str,
    against: str | None,
    games: int | None,
    seed: int | None,
    load: str | None,
) -> None:
    """Simulate a game too large for one graph."""
    from rollwise.answer import kept
    from rollwise.simulate.turn_by_turn import simulate_large

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
    _show(match)


def _played(
    graph: StateGraph,
    seated: Sequence[Policy],
    games: int,
    team: Workers,
    **options: Any,
) -> Match:
    """Play the games, with a warning for every figure that chance doesn't explain."""
    from rollwise.simulate import Disagreement
    from rollwise.simulate import simulate as play

    with warnings.catch_warnings(), team.cluster_pool() as pool:
        warnings.simplefilter("always", Disagreement)
        return play(graph, *seated, games=games, pool=pool, **options)


def _tell(policies: Policies, seated: Sequence[Policy], games: int, seed: int | None) -> None:
    """Games, move by move."""
    from rollwise.answer.evaluation import one_each
    from rollwise.numbers.randomness import seed_of
    from rollwise.simulate import tell

    graph, start = policies.graph, seed_of(seed)
    seats = tuple(one_each(graph, seated))
    stories = {n: tell(policies, seats, seed=n) for n in range(start, start + games)}
    render(told_games_document(graph, [one.name for one in seats], stories))


@app.command("tournament")
def tournament(
    game: GameArgument,
    parameters: ParametersArgument = None,
    policies: str = ...,  # type: ignore[assignment]
    games: int | None = None,
    seed: int | None = None,
    workers: WorkersOption = None,
    exact: bool = True,
) -> None:
    """Let policies play each other from every seat.

    --policies A,B,...  At least two policies, as `rollwise simulate` takes them.
    --games N           Simulated games of each pair; 1,000,000 unless given.
    --seed N            Random seed; a new one unless given.
    --exact             Exact results, or simulated ones.
    """
    from rollwise.answer.references import names_in
    from rollwise.simulate import tournament as play

    if games is not None and games < 2:
        raise UsageError(f"--games is {games}; it must be at least 2")
    team = Workers.read(workers)
    names = list(filter(None, names_in(policies)))
    if len(names) < 2:
        raise UsageError("--policies needs at least two, as in optimal,random")
    chosen = read_game(game, parameters)
    if not exact:
        tell_of_cycles(chosen)
    if has_many(chosen):
        refuse_with_seats(chosen, workers=workers)
    with Progress() as progress:
        policies_by_name = policies_of(chosen, progress)
        entered = [policies_by_name.find(name) for name in names]
        with team.cluster_pool() as pool:
            results = play(
                policies_by_name,
                entered,
                games=games,
                seed=seed,
                workers=team.number or 1,
                exact=exact,
                progress=progress,
                pool=pool,
            )
    if results.exact and any(number is not None for number in (games, team.number, seed)):
        typer.echo(
            "rollwise: no game was simulated, so --games, --seed and --workers have no effect; "
            "--no-exact simulates",
            err=True,
        )
    render(tournament_document(results))
