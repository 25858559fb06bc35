"""``rollwise play``: sit down and play."""

from __future__ import annotations

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
    solve_or_open,
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
    str | None,
    typer.Option(help="Your seat: first (which moves first), second, or, with --games, alternate."),
]
SeatsOption = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...",
        help="Who has each seat, in the order of the moves: human, or a policy. For games of two "
        "or more, instead of --against and --seat.",
    ),
]
GamesOption = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Play N games, one after the other, and add them up."),
]
SeedOption = Annotated[int | None, typer.Option(min=0, help="Of the dice.")]
DiceOption = Annotated[
    str | None,
    typer.Option(help="rollwise throws them (here, the default), or you do (by-hand)."),
]


SaveOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Keep the game, or all games, in this new file."),
]
HistoryOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        envvar="ROLLWISE_HISTORY",
        help="Keep every game in this SQLite file too; review and scores read it.",
    ),
]
ResumeOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Take up a game that was kept, or games with --games."),
]


@app.command("play")
def play(
    game: OptionalGameArgument = None,
    parameters: ParametersArgument = None,
    against: AgainstOption = None,
    coach: CoachOption = "ask",
    seat: SeatOption = None,
    seats: SeatsOption = None,
    seed: SeedOption = None,
    dice: DiceOption = None,
    games: GamesOption = None,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    save: SaveOption = None,
    resume: ResumeOption = None,
    history: HistoryOption = None,
    json: JsonOption = False,
    load: LoadOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Play a game, with a coach if you like; the ledger tells luck from skill."""
    from rich.console import Console

    from rollwise.cli.kept_game import KeptGame, require_new
    from rollwise.cli.series import Series
    from rollwise.coach.agreed_game import agreed_form, agreed_game
    from rollwise.coach.history import History
    from rollwise.coach.replay import replay

    _check_choices(coach=coach, seat=seat, dice=dice, games=games)
    asked = split_words(game, *(parameters or ()), files=0)
    if save is not None and save != resume:
        require_new(save)
    past = None if history is None else History(history)
    form = Form(chase, target, contest, ties)
    if resume is None:
        played = as_played(asked.make_game(), form, need_target=True)
        table = lay_table(played, load, max_states)
        sessions = [_new_session(table, against, seat, seats, seed)]
    else:
        refuse(
            "doesn't go with --resume: the file says how the game goes on",
            against=against,
            seat=None if seat == "alternate" else seat,
            seats=seats,
            seed=seed,
            dice=dice,
        )
        records = _read_kept(resume, games)
        chosen = agreed_game(records, asked.kind, asked.values)
        form = Form(**agreed_form(records, **form._asdict()))
        table = lay_table(as_played(chosen, form, need_target=True), load, max_states)
        sessions = [replay(one, table, policies=_kept_policies(table, one)) for one in records]
        dice = records[-1].headers.get("dice")
    kept = KeptGame(sessions[0], _headers(table, dice), save or resume, past)
    series = Series(sessions, kept, games, alternate=seat == "alternate")
    if series.is_over:
        what = "the game" if games is None else f"the last of {len(sessions)} games"
        raise UsageError(f"{what} in {resume} is over; `rollwise review` goes through it")
    console = Console(stderr=json)
    code = series.sit_down(console, coach, by_hand=dice == "by-hand", again=asked.games)
    if json:
        print_json(series.document())
    else:
        series.show(console)
    if code:
        raise typer.Exit(code)


def _check_choices(*, coach: str, seat: str | None, dice: str | None, games: int | None) -> None:
    from rollwise.coach.coach import Speaks

    if dice not in (None, "here", "by-hand"):
        raise UsageError(f"--dice is {dice!r}; it must be here or by-hand")
    seats = ("first", "second") if games is None else ("first", "second", "alternate")
    if seat is not None and seat not in seats:
        raise UsageError(f"--seat is {seat!r}; it must be {' or '.join(seats)}")
    if coach not in list(Speaks):
        raise UsageError(f"--coach is {coach!r}; it must be {', '.join(Speaks)}")


def _headers(table: Table, dice: str | None) -> dict[str, str]:
    """What the file of a kept game says of it, besides what the session knows."""
    said = {"dice": dice or "here"}
    form = table.game.form
    return said | {name: str(form[name]) for name in ("target", "ties") if name in form}


def lay_table(game: Game, load: str | None, max_states: int | None) -> Table:
    """The table to play at: the game solved, or its solution loaded."""
    from rollwise.coach.tables import table_of

    return table_of(solve_or_open(game, load, max_states), game)


def named_policy(table: Table, name: str) -> Policy | str | None:
    """A policy by its name, on the graph that is played; None for a person.

    The optimal one stays a name until it first moves, so that nobody waits for it.
    """
    if name == "human":
        return None
    if name == "optimal":
        return name
    if ";" in name:  # by which @players is divided
        raise UsageError(f"the game can't be kept with a policy called {name!r}; rename its file")
    return table.policies.find(name)


def _new_session(
    table: Table, against: str | None, seat: str | None, seats: str | None, seed: int | None
) -> Session:
    from rollwise.coach.game_record import clean_name
    from rollwise.coach.session import Session

    players = table.graph.players
    if seats is not None:
        refuse("doesn't go with --seats, which says who plays", against=against, seat=seat)
    if players > 2:
        refuse("is for games of two; --seats A,B,... says who has which seat", seat=seat)
    if seats is not None or players > 2:
        return _seated(
            table, seats or ",".join(["human", *[against or "optimal"] * (players - 1)]), seed
        )
    if table.graph.players == 1 or against == "human":
        refuse("is for games of two against rollwise", seat=seat)
    if table.graph.players == 1:
        if against is not None:
            hint = "; with --contest it is one for two" if table.graph.objective != "win" else ""
            raise UsageError(f"{table.graph.game} is a game for one{hint}")
        return Session(table, ["you"], [None], seed=seed)
    against = against or "optimal"
    names = ["player 1", "player 2"] if against == "human" else ["you", clean_name(against)]
    policies: list[Policy | str | None] = [None, named_policy(table, against)]
    if seat == "second":
        names.reverse()
        policies.reverse()
    return Session(table, names, policies, seed=seed)


def _seated(table: Table, seats: str, seed: int | None) -> Session:
    """A session with a person or a policy in each seat."""
    from rollwise.coach.game_record import clean_name
    from rollwise.coach.session import Session

    who = [name.strip() for name in seats.split(",")]
    if len(who) != table.graph.players or table.graph.players == 1:
        raise UsageError(
            f"--seats names {len(who)} seats, and {table.graph.title} is a game for "
            f"{table.graph.players}"
        )
    names = []
    for number, name in enumerate(who, 1):
        alone = who.count(name) == 1
        if name == "human":
            names.append("you" if alone else f"player {number}")
        else:
            names.append(clean_name(name) if alone else f"{clean_name(name)} {number}")
    return Session(table, names, [named_policy(table, name) for name in who], seed=seed)


def _read_kept(path: Path, games: int | None) -> list[Record]:
    from rollwise.coach.game_files import read_records
    from rollwise.coach.game_record import RecordError
    from rollwise.coach.history import is_history

    records = read_records(path)
    if is_history(path):
        raise RecordError(
            f"{path} is a history, which is only added to; --resume takes other files"
        )
    if len(records) > 1 and games is None:
        raise RecordError(
            f"{path} holds {len(records)} games; `rollwise review` reads such files, and --games N "
            "goes on with a series"
        )
    for record in records:
        for key in ("format", "rules", "seed", "players"):
            if key not in record.headers:
                raise RecordError(
                    f"{record.where}: this isn't a game that `rollwise play` kept: it has no line "
                    f"@{key}"
                )
    return records


def _kept_policies(table: Table, record: Record) -> list[Policy | str | None]:
    from rollwise.coach.game_record import RecordError

    seats = record.seats
    if len(seats) != table.graph.players or not all(policy for _, policy in seats):
        raise RecordError(
            f"{record.where}: @players {record.headers['players']!r} doesn't fit "
            f"{table.graph.title}"
        )
    return [named_policy(table, policy) for _, policy in seats]
