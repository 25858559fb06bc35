"""``rollwise play``: sit down and play."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    POLICIES,
    JsonOption,
    LoadOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    print_json,
    refuse,
    solve_or_load,
    split_words,
)
from rollwise.cli.forms import (
    ChaseOption,
    ContestOption,
    Form,
    TargetOption,
    TiesOption,
    as_played,
)
from rollwise.errors import UsageError

if TYPE_CHECKING:
    from rollwise.cli.kept_game import KeptGame
    from rollwise.cli.terminal_game import TerminalGame
    from rollwise.coach.game_record import Record
    from rollwise.coach.session import Session
    from rollwise.coach.table import Table
    from rollwise.game import Game
    from rollwise.graph.policies import Policy

OptionalGameArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[GAME]",
        help="A game's name (`rollwise games` lists them), or path/to/file.py:ClassName. A kept "
        "game says it itself, unless its rules are in a file of yours.",
    ),
]


AgainstOption = Annotated[
    str | None,
    typer.Option(metavar="POLICY", help=f"human, or a policy; optimal unless given. {POLICIES}"),
]
CoachOption = Annotated[
    str,
    typer.Option(
        metavar="[WHEN]",
        help="When the coach speaks: always (before and after each choice; --coach alone), "
        "mistakes (when a choice is doubtful or worse), ask (when you type hint), or off.",
    ),
]
SeatOption = Annotated[
    str | None, typer.Option(help="Your seat: first (which moves first) or second.")
]
SeedOption = Annotated[int | None, typer.Option(min=0, help="Of the dice.")]
DiceOption = Annotated[
    str | None,
    typer.Option(help="rollwise throws them (here, the default), or you do (by-hand)."),
]


SaveOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Keep the game in this new file, after every move."),
]
ResumeOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Take up a game that was kept.")
]


@app.command("play")
def play(
    game: OptionalGameArgument = None,
    parameters: ParametersArgument = None,
    against: AgainstOption = None,
    coach: CoachOption = "ask",
    seat: SeatOption = None,
    seed: SeedOption = None,
    dice: DiceOption = None,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    save: SaveOption = None,
    resume: ResumeOption = None,
    json: JsonOption = False,
    load: LoadOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Play a game, with a coach if you like; the ledger tells luck from skill."""
    from rich.console import Console

    from rollwise.cli.kept_game import KeptGame, require_new
    from rollwise.cli.terminal_game import TerminalGame
    from rollwise.coach.agreed_game import agreed_form, agreed_game
    from rollwise.coach.coach import Coach, Speaks
    from rollwise.coach.replay import replay
    from rollwise.documents.played import ledger_document

    _check_choices(coach=coach, seat=seat, dice=dice)
    asked = split_words(game, *(parameters or ()), files=0)
    if save is not None and save != resume:
        require_new(save)
    form = Form(chase, target, contest, ties)
    if resume is None:
        played = as_played(asked.make_game(), form, need_target=True)
        table = lay_table(played, load, max_states)
        session = _new_session(table, against, seat, seed)
    else:
        refuse(
            "doesn't go with --resume: the file says how the game goes on",
            against=against,
            seat=seat,
            seed=seed,
            dice=dice,
        )
        record = _read_kept(resume)
        chosen = agreed_game([record], asked.kind, asked.values)
        form = Form(**agreed_form([record], **form._asdict()))
        table = lay_table(as_played(chosen, form, need_target=True), load, max_states)
        session = replay(record, table, policies=_kept_policies(table, record))
        if session.is_over:
            raise UsageError(f"the game in {resume} is over; `rollwise review` goes through it")
        dice = record.headers.get("dice")
    kept = KeptGame(session, _headers(table, dice), save or resume)
    front = TerminalGame(
        session,
        Console(stderr=json),
        Coach(session, Speaks(coach)),
        kept,
        by_hand=dice == "by-hand",
    )
    code = _sit_down(front, kept, asked.games, coach)
    if json:
        print_json(ledger_document(session, front.people[0] if front.people else 0))
    elif session.is_over:
        front.show_ledger()
    if code:
        raise typer.Exit(code)


def _check_choices(*, coach: str, seat: str | None, dice: str | None) -> None:
    from rollwise.coach.coach import Speaks

    if dice not in (None, "here", "by-hand"):
        raise UsageError(f"--dice is {dice!r}; it must be here or by-hand")
    if seat not in (None, "first", "second"):
        raise UsageError(f"--seat is {seat!r}; it must be first or second")
    if coach not in list(Speaks):
        raise UsageError(f"--coach is {coach!r}; it must be {', '.join(Speaks)}")


def _headers(table: Table, dice: str | None) -> dict[str, str]:
    """What the file of a kept game says of it, besides what the session knows."""
    said = {"dice": dice or "here"}
    form = table.game.form
    return said | {name: str(form[name]) for name in ("target", "ties") if name in form}


def _sit_down(front: TerminalGame, kept: KeptGame, games: list[str], coach: str) -> int:
    """Play until the game is over or stopped; then it is kept, and how to go on is said.

    Returns
    -------
    int
        The exit code.
    """
    from rollwise.cli.terminal_game import Stopped
    from rollwise.machine.interrupts import endings_interrupt, held_back

    try:
        with endings_interrupt():
            front.play()
    except (Stopped, KeyboardInterrupt) as ending:
        with held_back():
            place = kept.keep_somewhere()
            front.tell()
            if place is not None:
                command = ["rollwise", "play", *games, "--resume", str(place)]
                command += ["--coach", coach] if coach != "ask" else []
                print(
                    f"rollwise: stopped; the game is kept, go on with: {shlex.join(command)}",
                    file=sys.stderr,
                )
        return 130 if isinstance(ending, KeyboardInterrupt) else 0
    return 0


def lay_table(game: Game, load: str | None, max_states: int | None) -> Table:
    """The table to play at: the game solved, or its solution loaded."""
    from rollwise.coach.table import Table

    return Table(solve_or_load(game, load, max_states), game)


def named_policy(table: Table, name: str) -> Policy | None:
    """A policy by its name, on the graph that is played; None for a person."""
    if name == "human":
        return None
    if ";" in name:  # by which @players is divided
        raise UsageError(f"the game can't be kept with a policy called {name!r}; rename its file")
    return table.policies.find(name)


def _new_session(table: Table, against: str | None, seat: str | None, seed: int | None) -> Session:
    from rollwise.coach.replay import clean_name
    from rollwise.coach.session import Session

    if table.graph.players == 1 or against == "human":
        refuse("is for games of two against rollwise", seat=seat)
    if table.graph.players == 1:
        if against is not None:
            hint = "; with --contest it is one for two" if table.solution.is_score else ""
            raise UsageError(f"{table.graph.game} is a game for one{hint}")
        return Session(table, ["you"], [None], seed=seed)
    against = against or "optimal"
    names = ["player 1", "player 2"] if against == "human" else ["you", clean_name(against)]
    policies = [None, named_policy(table, against)]
    if seat == "second":
        names.reverse()
        policies.reverse()
    return Session(table, names, policies, seed=seed)


def _read_kept(path: Path) -> Record:
    from rollwise.coach.game_record import RecordError, read_records

    records = read_records(path)
    if len(records) > 1:
        raise RecordError(f"{path} holds {len(records)} games; `rollwise review` reads such files")
    for key in ("format", "rules", "seed", "players"):
        if key not in records[0].headers:
            raise RecordError(
                f"{path} isn't a game that `rollwise play` kept: it has no line @{key}"
            )
    return records[0]


def _kept_policies(table: Table, record: Record) -> list[Policy | None]:
    from rollwise.coach.game_record import RecordError

    seats = record.seats
    if len(seats) != table.graph.players or not all(policy for _, policy in seats):
        raise RecordError(
            f"{record.where}: @players {record.headers['players']!r} doesn't fit "
            f"{table.graph.title}"
        )
    return [named_policy(table, policy) for _, policy in seats]
