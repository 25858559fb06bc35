"""``rollwise play``: sit down and play."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.atomic_files import check_place, write_text
from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    LoadOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    print_json,
    read_game,
    refuse,
    solve_or_load,
)
from rollwise.cli.score_options import (
    ChaseOption,
    ContestOption,
    TargetOption,
    TiesOption,
    as_played,
    kept_with,
)
from rollwise.errors import UsageError

if TYPE_CHECKING:
    from rollwise.game import Game
    from rollwise.play.record import Record
    from rollwise.play.session import Session
    from rollwise.play.table import Table
    from rollwise.policies import Policy


@app.command("play")
def play(
    game: GameArgument,
    parameters: ParametersArgument = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="optimal (the default), human, or a policy."),
    ] = None,
    coach: Annotated[
        bool, typer.Option("--coach", help="Say what each choice is worth and what it cost.")
    ] = False,
    seat: Annotated[
        str | None, typer.Option(help="Your seat: first (which moves first) or second.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of the dice.")] = None,
    dice: Annotated[
        str | None,
        typer.Option(help="rollwise throws them (here, the default), or you do (by-hand)."),
    ] = None,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep the game in this file, after every move."),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take up a game that was kept.")
    ] = None,
    json: JsonOption = False,
    load: LoadOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Play a game, with a coach if you like; the ledger tells luck from skill."""
    from rich.console import Console

    from rollwise.cli.terminal_game import Stopped, TerminalGame
    from rollwise.play.record import replay, written
    from rollwise.play.report import ledger_document

    if dice not in (None, "here", "by-hand"):
        raise UsageError(f"--dice is {dice!r}; it must be here or by-hand")
    if seat not in (None, "first", "second"):
        raise UsageError(f"--seat is {seat!r}; it must be first or second")
    if resume is not None:
        refuse(
            "doesn't go with --resume: the file says how the game goes on",
            against=against,
            seat=seat,
            seed=seed,
            dice=dice,
            chase=chase,
            target=target,
            contest=contest,
            ties=ties,
        )
    check_place(save)
    dice = dice or "here"
    chosen = read_game(game, parameters)
    record = None if resume is None else _read_kept(resume)
    if record is not None:
        dice = record.headers.get("dice", dice)
    form: dict[str, Any] = {"chase": chase, "contest": contest, "target": target, "ties": ties}
    if record is not None:
        form = {"chase": False} | kept_with(record.headers)
    played = as_played(chosen, **form, need_target=True)
    table = lay_table(played, load, max_states)
    if record is None:
        session = _new_session(table, against, seat, seed)
    else:
        names, policies = _kept_players(table, record)
        session = replay(record, table, names=names, policies=policies)
        if session.is_over:
            raise UsageError(f"the game in {resume} is over; `rollwise review` goes through it")
    place = save or resume

    def text() -> str:
        values = {k: str(v).lower() if isinstance(v, bool) else v
                  for k, v in chosen.parameters.items()}  # fmt: skip
        headers = {
            "game": " ".join([game, *(f"{name}={value}" for name, value in values.items())]),
            "players": "; ".join(
                f"{name} = {'human' if policy is None else policy.name}"
                for name, policy in zip(session.names, session.policies, strict=True)
            ),
            "dice": dice,
        }
        if played is not chosen:
            own = {name: getattr(played, name, None) for name in ("target", "ties")}
            headers |= {name: str(value) for name, value in own.items() if value is not None}
        return written(session, headers)

    def keep() -> None:
        if place is not None:
            write_text(place, text())

    console = Console(stderr=json)
    front = TerminalGame(session, console, coach=coach, by_hand=dice == "by-hand", after_move=keep)
    code = 0
    try:
        if place is not None:
            keep()
        front.play()
    except (Stopped, KeyboardInterrupt) as ending:
        code = 130 if isinstance(ending, KeyboardInterrupt) else 0
        if place is None:
            place = _free_name(table.graph.game)
        keep()
        command = ["rollwise", "play", game, *(parameters or ()), "--resume", str(place)]
        if coach:
            command.append("--coach")
        front.say("")
        print(
            f"rollwise: stopped; the game is kept, go on with: {shlex.join(command)}",
            file=sys.stderr,
        )
    if json:
        seat_shown = front.people[0] if front.people else 0
        print_json(ledger_document(session, seat_shown))
    elif session.is_over:
        front.show_ledger()
    if code:
        raise typer.Exit(code)


def lay_table(game: Game, load: str | None, max_states: int | None) -> Table:
    """The table to play at: the game solved, or its solution loaded."""
    from rollwise.play.table import Table

    return Table(solve_or_load(game, load, max_states), game)


def named_policy(table: Table, name: str) -> Policy | None:
    """A policy by its name, on the graph that is played; None for a person."""
    from rollwise.policies import find_policy

    if name == "human":
        return None
    if name == "optimal":
        return table.solution.policy
    return find_policy(table.graph, table.game, name)


def _new_session(table: Table, against: str | None, seat: str | None, seed: int | None) -> Session:
    from rollwise.play.session import Session

    if table.graph.players == 1 or against == "human":
        refuse("is for games of two against rollwise", seat=seat)
    if table.graph.players == 1:
        if against is not None:
            hint = "; with --contest it is one for two" if table.solution.is_score else ""
            raise UsageError(f"{table.graph.game} is a game for one{hint}")
        return Session(table, ["you"], [None], seed=seed)
    against = against or "optimal"
    names = ["player 1", "player 2"] if against == "human" else ["you", against]
    policies = [None, named_policy(table, against)]
    if seat == "second":
        names.reverse()
        policies.reverse()
    return Session(table, names, policies, seed=seed)


def _read_kept(path: Path) -> Record:
    from rollwise.play.record import RecordError, read_records

    record = read_records(path)[0]
    for key in ("format", "rules", "seed", "players"):
        if key not in record.headers:
            raise RecordError(
                f"{path} isn't a game that `rollwise play` kept: it has no line @{key}"
            )
    return record


def _kept_players(table: Table, record: Record) -> tuple[list[str], list[Policy | None]]:
    from rollwise.play.record import RecordError

    pairs = [part.partition("=") for part in record.headers["players"].split(";")]
    names = [name.strip() for name, _, _ in pairs]
    if len(names) != table.graph.players or not all(policy.strip() for _, _, policy in pairs):
        raise RecordError(
            f"{record.source}: @players {record.headers['players']!r} doesn't fit "
            f"{table.graph.title}"
        )
    return names, [named_policy(table, policy.strip()) for _, _, policy in pairs]


def _free_name(game: str) -> Path:
    """A name for a game that is kept, which no other file has."""
    stem = game.replace(" ", "-")
    number = 1
    while True:
        path = Path(f"{stem}{'' if number == 1 else f'-{number}'}.game")
        if not path.exists():
            return path
        number += 1
