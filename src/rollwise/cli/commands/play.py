"""``rollwise play``: games at the terminal; ``rollwise serve``: in a browser, with a JSON API."""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from rollwise.cli.app import app
from rollwise.cli.common import (
    lay_table,
    refuse,
    require_target,
    split_words,
    tell_of_cycles,
)
from rollwise.cli.options import (
    LoadOption,
    OptionalGameArgument,
    ParametersArgument,
    answered_apart,
)
from rollwise.cli.printing import print_json
from rollwise.cli.streams import ASKED, system_error
from rollwise.cli.terminal_game import (
    KeptGame,
    Stopped,
    TerminalGame,
    show_ledger,
    show_tally,
    standing,
)
from rollwise.coach.session import Coach, Session, Speaks
from rollwise.coach.tally import tally
from rollwise.documents.played import GameLedger, SeriesLedger, ledger_document, series_document
from rollwise.errors import NotServed, UsageError
from rollwise.machine.interrupts import endings_interrupt, held_back
from rollwise.machine.memory_limits import memory_of_machine
from rollwise.numbers.printed import how_many

if TYPE_CHECKING:
    from rollwise.coach.game_record import Record
    from rollwise.coach.session import Session
    from rollwise.coach.table import Table
    from rollwise.graph.policies import Policy

HISTORY_VARIABLE = "ROLLWISE_HISTORY"
HistoryOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        envvar=HISTORY_VARIABLE,
        help="Keep every game in this SQLite file too; review and scores read it.",
    ),
]


@app.command("play")
def play(
    game: OptionalGameArgument = None,
    parameters: ParametersArgument = None,
    against: str | None = None,
    coach: str = "ask",
    seats: str | None = None,
    seed: Annotated[int | None, typer.Option(min=0)] = None,
    dice: str | None = None,
    games: Annotated[int | None, typer.Option(min=1)] = None,
    save: Path | None = None,
    resume: Path | None = None,
    history: HistoryOption = None,
    load: LoadOption = None,
) -> None:
    """Play a game, with a coach if you like.

    --against POLICY  human, or a policy; optimal unless given. {POLICIES}
    --coach [WHEN]    When the coach speaks: always (before and after each choice; --coach alone),
                      mistakes (when a choice is doubtful or worse), ask (when you type hint), or
                      off.
    --seats SEATS     Your seat: first, second, or, with --games, alternate. Or all players in the
                      order of the moves, instead of --against: human,optimal,...
    --seed N          Seed of the dice.
    --dice TEXT       rollwise throws them (here, the default), or you do (by-hand).
    --games N         Play N games, one after the other, and add them up.
    --save FILE       Keep the game, or all games, in this new file.
    --resume FILE     Continue a saved game, or games with --games.
    """
    from rollwise.cli.terminal_game import KeptGame, require_new
    from rollwise.coach.game_record import agreed_game, replay
    from rollwise.coach.json_lines import History

    seat = seats if seats in ("first", "second", "alternate") else None
    seats = None if seat else seats
    _check_choices(coach=coach, seat=seat, dice=dice, games=games)
    asked = split_words(game, *(parameters or ()), files=0)
    if save is not None and save != resume:
        require_new(save)
    past = None if history is None else History(history)
    if resume is None:
        chosen = asked.make_game()
        if chosen.is_hidden:
            # a file for all games, named by the environment, isn't asked for these games
            asked_history = None if str(history) == os.environ.get(HISTORY_VARIABLE) else history
            others = {"games": games, "save": save, "history": asked_history, "seats": seats}
            others["dice"] = None if dice == "here" else dice
            own = (against or "optimal", seat, coach, seed, load)
            answered_apart(chosen, "play", *own, **others)
            return
        chosen = require_target(chosen)
        tell_of_cycles(chosen)
        table = lay_table(chosen, load)
        sessions = [_new_session(table, against, seat, seats, seed)]
    else:
        refuse(
            "doesn't go with --resume: the file says how the game goes on",
            against=against,
            seats=None if seat == "alternate" else seat or seats,
            seed=seed,
            dice=dice,
        )
        records = _read_kept(resume, games)
        typed = "play {game} --resume {file}"
        table = lay_table(agreed_game(records, asked.kind, asked.values, typed), load)
        sessions = [replay(one, table, policies=_kept_policies(table, one)) for one in records]
        dice = records[-1].headers.get("dice")
    kept = KeptGame(sessions[0], {"dice": dice or "here"}, save or resume, past)
    series = Series(sessions, kept, games, alternate=seat == "alternate")
    if series.is_over:
        what = "the game" if games is None else f"the last of {len(sessions)} games"
        raise UsageError(f"{what} in {resume} is over; `rollwise review` goes through it")
    console = Console(stderr=ASKED.json)
    code = series.sit_down(console, coach, by_hand=dice == "by-hand", again=asked.games)
    if ASKED.json:
        print_json(series.document())
    else:
        series.show(console)
    if code:
        raise typer.Exit(code)


def _check_choices(*, coach: str, seat: str | None, dice: str | None, games: int | None) -> None:
    if dice not in (None, "here", "by-hand"):
        raise UsageError(f"--dice is {dice!r}; it must be here or by-hand")
    if seat == "alternate" and games is None:
        raise UsageError("--seats alternate goes with --games N")
    Speaks(coach)  # which raises the error of another word


def named_policy(table: Table, name: str) -> Policy | str | None:
    """A policy by its name, on the graph of the table; None for a person.

    The optimal policy stays a name until its first move, so that the game starts at once. So do
    all policies where the graph of the table grows.
    """
    if name == "human":
        return None
    if name == "optimal":
        return name
    if ";" in name:  # the separator of policies in @players
        raise UsageError(f"the game can't be kept with a policy called {name!r}; rename its file")
    found = table.policies.find(name)
    return found if table.is_whole else name


def _new_session(
    table: Table, against: str | None, seat: str | None, seats: str | None, seed: int | None
) -> Session:
    """A session with a person or a policy in each seat."""
    from rollwise.answer.references import names_in
    from rollwise.coach.game_record import clean_name

    graph, players = table.graph, table.graph.players
    if seats is not None:
        refuse("doesn't go with --seats, which names all players", against=against)
        who = names_in(seats)
        if players == 1:
            raise UsageError(f"--seats names several players, and {graph.game} is a game for one")
        if len(who) != players:
            raise UsageError(
                f"{graph.title} is a game for {players}, and --seats names {len(who)}: {seats}"
            )
    else:
        if players > 2 and seat is not None:
            raise UsageError(f"--seats {seat} is for games of two; write human,optimal,optimal")
        if players == 1 or against == "human":
            refuse("first or second is for games of two against rollwise", seats=seat)
        if players == 1 and against is not None:
            hint = "; with as=contest it is one for two" if graph.objective != "win" else ""
            raise UsageError(f"{graph.game} is a game for one{hint}")
        who = ["human", *[against or "optimal"] * (players - 1)]
        who = who[::-1] if seat == "second" else who
    names = []
    for number, name in enumerate(who, 1):
        called = "player" if name == "human" else clean_name(name)
        alone = "you" if name == "human" else called
        names.append(alone if who.count(name) == 1 else f"{called} {number}")
    return Session(table, names, [named_policy(table, name) for name in who], seed=seed)


def _read_kept(path: Path, games: int | None) -> list[Record]:
    from rollwise.coach.game_record import RecordError
    from rollwise.coach.json_lines import is_history, read_records

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


class Series:
    """A game, or several of one kind between the same players.

    Parameters
    ----------
    sessions : list of Session
        The games begun so far; the last one may be unfinished.
    kept : KeptGame
        The saved form of the first one.
    games : int or None
        The number of games of the series; None for a single game.
    alternate : bool
        The players change seats from game to game.
    """

    def __init__(
        self, sessions: list[Session], kept: KeptGame, games: int | None, *, alternate: bool
    ) -> None:
        self.sessions, self.kept, self.games = sessions, kept, games
        self.alternate = alternate
        for session in sessions[1:]:
            kept.begin(session)

    @property
    def is_over(self) -> bool:
        """Whether all games are played."""
        return self.sessions[-1].is_over and len(self.sessions) >= (self.games or 1)

    @property
    def people(self) -> list[str]:
        """The human players; in games between policies, the first mover of the first game."""
        first = self.sessions[0]
        seats = zip(first.names, first.policies, strict=True)
        return [name for name, policy in seats if policy is None] or [first.names[0]]

    def sit_down(self, console: Console, coach: str, *, by_hand: bool, again: Sequence[str]) -> int:
        """Play until all games are over, or the player stops and the unfinished game is saved.

        Parameters
        ----------
        again : sequence of str
            The game as typed, for the command that resumes it.

        Returns
        -------
        int
            The exit code.
        """
        greeted = False
        while not self.is_over:
            if self.sessions[-1].is_over:
                self._begin_next()
            session = self.sessions[-1]
            speaker = Coach(session, Speaks(coach))
            front = TerminalGame(session, console, speaker, self.kept, by_hand=by_hand)
            if not greeted:
                front.greet()
                greeted = True
            if self.games is not None:
                front.tell()
                front.tell((self._heading(front), "bold"))
            code = self._play(front, coach, again)
            if not session.is_over:
                return code
        return 0

    def _begin_next(self) -> None:
        last = self.sessions[-1]
        step = -1 if self.alternate else 1
        following = Session(
            last.table, last.names[::step], last.policies[::step], seed=last.seed + 1
        )
        self.sessions.append(following)
        self.kept.begin(following)

    def _heading(self, front: TerminalGame) -> str:
        text = f"Game {len(self.sessions)} of {self.games}, seed {self.sessions[-1].seed}"
        if len(self.sessions) == 1:
            return text
        so_far = [standing(tally(self.sessions, name), front.figures) for name in self.people]
        return f"{text}; so far {', '.join(so_far)}"

    def _play(self, front: TerminalGame, coach: str, again: Sequence[str]) -> int:
        """Play one game to its end, or until it is stopped; then say how to go on.

        Returns
        -------
        int
            The exit code.
        """
        try:
            with endings_interrupt():
                front.play()
        except (Stopped, KeyboardInterrupt, BrokenPipeError, SystemExit) as ending:
            # Rich ends the program where the reader of its output has gone
            with held_back():
                place = self.kept.keep_somewhere()
                with contextlib.suppress(BrokenPipeError):
                    front.tell()
                if place is not None:
                    command = ["rollwise", "play", *again, "--resume", str(place)]
                    command += ["--games", str(self.games)] if self.games is not None else []
                    command += ["--seats", "alternate"] if self.alternate else []
                    command += ["--coach", coach] if coach != "ask" else []
                    what = "game is" if self.games is None else "games are"
                    print(
                        f"rollwise: stopped; the {what} kept, go on with: {shlex.join(command)}",
                        file=sys.stderr,
                    )
            if isinstance(ending, KeyboardInterrupt):
                return 130
            return 0 if isinstance(ending, Stopped) else 1
        return 0

    @property
    def _finished(self) -> list[Session]:
        return [session for session in self.sessions if session.is_over]

    def show(self, console: Console) -> None:
        """Show the ledger of a finished game, or the tally of a series."""
        session = self.sessions[-1]
        if self.games is not None:
            for name in self.people if self._finished else ():
                show_tally(console, session, tally(self.sessions, name))
        elif session.is_over:
            show_ledger(console, session, session.names.index(self.people[0]))

    def document(self) -> GameLedger | SeriesLedger:
        """The ledger or the tally as data."""
        session = self.sessions[-1]
        if self.games is None:
            return ledger_document(session, session.names.index(self.people[0]))
        tallies = [tally(self.sessions, name) for name in self.people if self._finished]
        return series_document(self.sessions, self.games, tallies)


MOST_MEMORY = 1_000_000  # GB


@app.command("serve")
def serve(
    games: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GAME]...",
            help="Names, or path/to/file.py:ClassName; the gallery and the rule sheets of this "
            "folder unless given.",
        ),
    ] = None,
    host: str = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8000,
    solutions: Path | None = None,
    time_limit: Annotated[float, typer.Option(min=0.1)] = 600.0,
    game_memory: Annotated[float, typer.Option(min=0.5)] = 4.0,
    total_memory: Annotated[float | None, typer.Option(min=0.5)] = None,
    most_games: Annotated[int, typer.Option(min=2)] = 8,
    history: HistoryOption = None,
    rate: Annotated[float, typer.Option(min=1)] = 500.0,
) -> None:
    """Serve games to browsers, with a JSON API.

    --host TEXT         The address to listen on; 0.0.0.0 is open to the network.
    --port N            The port; 0 for a free one.
    --solutions FOLDER  Use the solutions saved there by `solve --save`.
    --time-limit X      Seconds for a game to be solved, and for an answer.
    --game-memory X     GB of addresses for each process of a game.
    --total-memory X    GB for all games together; three quarters of the machine's memory unless
                        given.
    --most-games N      Games kept in memory at once.
    --rate X            Requests per second allowed from one address.
    """
    from rollwise.serve import require_web

    require_web()
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    from rollwise.coach.json_lines import History
    from rollwise.serve.app import LOCAL, Connections, make_app
    from rollwise.serve.workers import Limits, offer

    _check_memory({"--game-memory": game_memory, "--total-memory": total_memory})
    offered = offer(games or (), solutions)
    if history is not None:
        History(history)  # raises the error of an unusable file
    all_together = 0.75 * memory_of_machine() if total_memory is None else total_memory * 1e9
    limits = Limits(
        seconds=time_limit, memory=int(game_memory * 1e9), games=most_games, rate=rate,
        total=int(all_together) or Limits.total,
    )  # fmt: skip
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends small answers at once (TCP_NODELAY).
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, UnicodeError) as error:
        listening.close()
        why = system_error(error) if isinstance(error, OSError) else "no such address"
        raise NotServed(f"--host {host} --port {port} can't be had: {why}") from None
    name = f"[{host}]" if family == socket.AF_INET6 else host
    hosts = None if host in ("0.0.0.0", "::") else LOCAL | {name.lower()}
    made = make_app(offered, limits, hosts, None if history is None else history.resolve())
    typer.echo(f"{how_many(len(offered.kinds), 'game')}: {', '.join(offered.kinds)}")
    typer.echo(f"http://{name}:{listening.getsockname()[1]}/ (Ctrl-C ends it)")
    config = uvicorn.Config(
        made, log_level="warning", server_header=False, timeout_keep_alive=15,
        http=Connections(H11Protocol), ws="none",  # type: ignore[arg-type]
        proxy_headers=False,  # any client can forge them
        timeout_graceful_shutdown=2,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])


def _check_memory(given: dict[str, float | None]) -> None:
    for name, gigabytes in given.items():
        if gigabytes is not None and not gigabytes <= MOST_MEMORY:
            raise UsageError(f"{name} is {gigabytes:g} GB; it must be at most {MOST_MEMORY:,}")
