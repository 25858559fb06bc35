"""Commands for recorded games: ``rollwise review``, ``drill`` and ``exploit``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rollwise.cli.app import app
from rollwise.cli.common import lay_table, split_words
from rollwise.cli.options import (
    JsonOption,
    LoadOption,
    MaxStatesOption,
    NoCacheOption,
    OptionalGameArgument,
    ParametersArgument,
)
from rollwise.cli.printing import (
    check_file,
    place_line,
    print_json,
    show,
    show_table,
    write_policy,
)
from rollwise.cli.progress import Progress
from rollwise.errors import UsageError

if TYPE_CHECKING:
    from rollwise.cli.printing import Figures
    from rollwise.coach.drill import Drill
    from rollwise.coach.game_record import Record
    from rollwise.coach.review import PlayerReview
    from rollwise.coach.session import Session
    from rollwise.coach.table import Table
    from rollwise.documents.design import Exploited
    from rollwise.game import Game


FileArgument = Annotated[
    str | None,
    typer.Argument(metavar="FILE", help="Games; docs/records.md says how they are written."),
]


class _Games(NamedTuple):
    """Recorded games with common rules."""

    path: Path
    records: list[Record]
    played: Game

    def lay(self, load: str | None, max_states: int | None) -> tuple[Table, list[Session]]:
        """The table, with the game solved, and the games played again on it."""
        from rollwise.coach.replay import replay

        table = lay_table(self.played, load, max_states)
        return table, [replay(record, table) for record in self.records]


def _read_games(game: str | None, file: str | None, parameters: list[str] | None) -> _Games:
    from rollwise.coach.agreed_game import agreed_game
    from rollwise.coach.game_files import records_of

    asked = split_words(game, file, *(parameters or ()), files=1)
    records = records_of(asked.files[0], asked.kind, asked.values)
    return _Games(asked.files[0], records, agreed_game(records, asked.kind, asked.values))


@app.command("review")
def review(
    game: OptionalGameArgument = None,
    file: FileArgument = None,
    parameters: ParametersArgument = None,
    json: JsonOption = False,
    load: LoadOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Review played games: luck, skill and costly mistakes."""
    from rollwise.cli.printing import Figures
    from rollwise.coach.review import review as review_games
    from rollwise.documents.played import review_document

    games = _read_games(game, file, parameters)
    table, sessions = games.lay(load, max_states)
    players = review_games(sessions)
    if json:
        return print_json(review_document(table, sessions, players))
    figures = Figures(table.solution)
    typer.echo(
        f"{table.graph.title}: costs, luck and skill in {figures.points}{figures.wanted}\n"
        f"values are {figures.certainty}"
    )
    _print_players(players, figures)
    for one in players:
        _print_mistakes(one, figures)
    if len(sessions) == 1:
        _print_decisions(sessions[0], figures)


def _print_players(players: list[PlayerReview], figures: Figures) -> None:
    heads = ("player", "games", "decisions", *players[0].grades, "cost a decision", "luck a game")
    errors = [one.standard_error for one in players]
    rows = (
        (
            one.player,
            str(one.games),
            str(one.decisions),
            *map(str, one.grades.values()),
            figures.cost(one.cost_per_decision),
            figures.gain(one.luck),
            figures.gain(one.own_skill),
            figures.level(one.score) + ("" if error is None else f" ± {figures.spread(error)}"),
        )
        for one, error in zip(players, errors, strict=True)
    )
    last = f"against the optimal player ({figures.unit})"
    show_table((*heads, "skill a game", last), rows, left=("player",))
    if any(error is not None for error in errors):
        typer.echo("± one standard error over the games (estimated)")


def _print_mistakes(one: PlayerReview, figures: Figures) -> None:
    if not one.mistakes:
        return typer.echo(f"{one.player}: no mistakes")
    typer.echo(f"{one.player}: mistakes, the most frequent first")
    rows = (
        (
            str(mistake.times),
            mistake.action,
            mistake.best,
            figures.cost(mistake.cost),
            figures.cost(mistake.worst_cost),
            f"{mistake.worst_at} (line {mistake.line})",
        )
        for mistake in one.mistakes
    )
    heads = ("times", "did", "better", "cost in all", "at worst", "at")
    show_table(heads, rows, left=("did", "better", "at"), indent=2)


def _print_decisions(session: Session, figures: Figures) -> None:
    from rollwise.documents.played import ledger_document

    document = ledger_document(session)
    typer.echo(f"The game, in the eyes of {document.player}")
    words = ("player", "position", "did", "result")
    rows = (
        (
            str(move.line),
            move.player,
            move.position,
            " ".join(map(str, [move.action, *move.dice])),
            move.outcome,
            figures.cost(move.cost) if move.mistake else "",
            figures.gain(move.skill),
            figures.gain(move.luck),
        )
        for move in document.moves
    )
    show_table(("line", *words, "cost", "skill", "luck"), rows, left=words, indent=2)
    typer.echo(
        f"start {figures.level(document.start)}, luck {figures.gain(document.luck)}, "
        f"skill {figures.gain(document.skill)}, "
        f"{'result' if document.over else 'now'} {figures.level(document.result)}"
    )


@app.command("drill")
def drill(
    game: OptionalGameArgument = None,
    file: FileArgument = None,
    parameters: ParametersArgument = None,
    player: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The player whose mistakes count; else all people."),
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, help="Largest number of positions, the worst first.")
    ] = 20,
    json: JsonOption = False,
    load: LoadOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Practise the positions misplayed in recorded games."""
    from rollwise.coach.drill import Drill, questions
    from rollwise.documents.played import drill_document

    games = _read_games(game, file, parameters)
    table, sessions = games.lay(load, max_states)
    seats = [seat for record in games.records for seat in record.seats]
    people = [name for name, policy in seats if policy in ("", "human")]
    players = people if player is None else [player]
    if player is not None and not any(player in session.names for session in sessions):
        raise UsageError(f"no player is called {player!r} in {games.path}")
    found = questions(sessions, players)[:limit]
    show(json, lambda: drill_document(table, found), lambda: _ask(Drill(table, found)))


def _ask(drill: Drill) -> None:
    """Ask until all is right, or the player has had enough."""
    from rollwise.cli.printing import Figures

    if drill.is_over:
        return typer.echo("no mistakes, and so no positions to drill")
    table, figures = drill.table, Figures(drill.table.solution)
    typer.echo(f"{table.graph.title}: {len(drill.waiting)} positions; quit ends it")
    while not drill.is_over:
        state = drill.waiting[0].state
        board = table.board(state)
        typer.echo(f"\n{board}\n" if board else "")
        typer.echo(table.position(state))
        numbered = table.graph.vocabulary.menus_are_numbered
        for number, action in enumerate(table.actions(state), start=1):
            name = table.graph.view.action(action).distinct_name
            typer.echo(f"  {number:>2}  {name}" if numbered else f"  {name}")
        try:
            text = input("> ").strip()
        except EOFError:
            break
        if text in ("quit", "q"):
            break
        try:
            cost = drill.answer(table.action_at(state, text, in_menu=True))
        except UsageError as error:
            typer.echo(f"{error}, or quit")
            continue
        if cost:
            typer.echo(f"It costs {figures.cost_text(cost)}; better: {drill.best(state)}")
        else:
            typer.echo("Right.")
    typer.echo(f"{drill.right} right, {drill.wrong} wrong, {len(drill.waiting)} left")


RISK, LIMIT, SEED = 0.01, 10, 1


@app.command("exploit")
def exploit(
    game: OptionalGameArgument = None,
    file: FileArgument = None,
    parameters: ParametersArgument = None,
    player: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The opponent; the only person unless given."),
    ] = None,
    risk: Annotated[
        float,
        typer.Option(
            metavar="LOSS",
            min=0,
            help="Acceptable loss against the worst opponent: win probability, or points.",
        ),
    ] = RISK,
    limit: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many positions are listed.")
    ] = LIMIT,
    seed: Annotated[
        int, typer.Option(help="Seed of the draws behind the confidence interval.", min=0)
    ] = SEED,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep the policy (.csv, .parquet)."),
    ] = None,
    json: JsonOption = False,
    load: LoadOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Learn the habits of an opponent, and how to beat them."""
    from rollwise.analysis.exploit import exploit as find_response
    from rollwise.analysis.friend import learn_friend
    from rollwise.documents.design import exploitation_document

    check_file("--save", save, ".csv", ".parquet")
    games = _read_games(game, file, parameters)
    name = _friend(games.records, player, games.path)
    table, sessions = games.lay(load, max_states)
    graph = table.graph
    if graph.players > 2:
        raise UsageError(f"{graph.title} is a game for {graph.players}: exploit is for two")
    if not table.is_whole:
        raise UsageError(
            f"{graph.title} is too large for exploit, which looks at all positions at once: "
            "`rollwise review` says what the moves of these games cost"
        )
    policies = table.policies
    taken = _choices(sessions, name)
    with Progress() as progress:
        friend = learn_friend(policies, taken, seed=seed)
        found = find_response(policies, friend, risk, seed=seed, progress=progress)
        n = sum(name in session.names for session in sessions)
        document = exploitation_document(policies, name, n, risk, found, limit)
    if save is not None:
        write_policy(policies.graph, found.best.policy, save)
    show(
        json, lambda: document, lambda: _print_exploit(document, graph.is_score, graph.title),
        *place_line("Saved to", save),
    )  # fmt: skip


def _friend(records: list[Record], player: str | None, path: Path) -> str:
    """The name of the player to beat."""
    everybody = sorted({name for record in records for name in record.players})
    if player is not None:
        if player not in everybody:
            raise UsageError(
                f"no player is called {player!r} in {path}, but {', '.join(everybody)}"
            )
        return player
    machines = {
        name for record in records for name, policy in record.seats if policy not in ("", "human")
    }
    people = [name for name in everybody if name not in machines]
    if len(people) != 1:
        among = people or everybody
        raise UsageError(f"which opponent? Give --player NAME, one of {', '.join(among)}")
    return people[0]


def _choices(sessions: list[Session], name: str) -> Any:
    """Actions of a player at states with several legal actions."""
    import numpy as np

    return np.array(
        [
            entry.action
            for session in sessions
            for entry in session.accounts
            if entry.is_choice and session.names[entry.seat] == name
        ],
        np.int64,
    )


def _print_exploit(document: Exploited, is_score: bool, title: str) -> None:
    from rollwise.documents.model import as_number
    from rollwise.graph.naming import grouped
    from rollwise.numbers.printed import rounded_up

    scale, unit = (1.0, "points") if is_score else (100.0, "%")
    player = document.player
    typer.echo(
        f"{title}: {document.decisions:,} choices of {player} in {document.games:,} "
        f"games, in {document.states:,} positions"
    )
    names, tried = ("gain", "promise", "risk"), document.tried
    best = document.best.trust
    worst = max(as_number(getattr(one, name).error_bound) for one in tried for name in names)
    rows = (
        (
            f"{one.trust:g}",
            *(f"{scale * getattr(one, name).value:z.4f}" for name in names),
            ", ".join(["optimal play"] * (not one.trust) + ["chosen"] * (one.trust == best)),
        )
        for one in tried
    )
    show_table(("trust", f"against {player}", "promised", "risked", ""), rows, left=("",))
    said = [
        " to ".join(f"{scale * bound:z.2f}" for bound in one.likely or ())
        for one in (document.best, document.optimal)
    ]
    typer.echo(
        f"{unit} on average over the seats, certified ± {rounded_up(scale * worst)}. Against "
        f"{player}: as learned. Promised: against any policy with each action at least as often as "
        f"the games of {player} make nearly sure, times the trust. Risked: the most that an "
        "opponent can win from it.\n"
        f"The true policy of {player} isn't known. Against nine in ten likely policies "
        f"the chosen one gets {said[0]} {unit}, and optimal play {said[1]} {unit} (estimated)."
    )
    if not document.states_that_differ:
        return typer.echo("It differs from optimal play nowhere.")
    typer.echo(f"It differs from optimal play in {document.states_that_differ:,} positions:")
    words = ("position", "optimal", "instead")
    differences = (
        (
            ", ".join(f"{k}={v}" for k, v in grouped(row.state, row.state.values()).items()),
            row.optimal,
            row.best,
            f"{scale * row.gain:z.4f}",
        )
        for row in document.differences
    )
    unit = "points" if is_score else "percentage points"
    show_table((*words, f"gains a game ({unit})"), differences, left=words, fold=words)
