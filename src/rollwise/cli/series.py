"""Games that are played at the terminal one after the other, and added up."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence

from rich.console import Console

from rollwise.cli.kept_game import KeptGame
from rollwise.cli.terminal_game import Stopped, TerminalGame
from rollwise.cli.terminal_ledger import show_ledger, show_tally, standing
from rollwise.coach.coach import Coach, Speaks
from rollwise.coach.session import Session
from rollwise.coach.tally import tally
from rollwise.documents.parts import Document
from rollwise.documents.played import ledger_document, series_document
from rollwise.machine.interrupts import endings_interrupt, held_back


class Series:
    """A game, or several of one kind between the same players.

    Parameters
    ----------
    sessions : list of Session
        Those that were begun; the last one goes on, and others follow.
    kept : KeptGame
        Of the first one.
    games : int or None
        How many are to be played in all; None is one that isn't part of a series.
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
        """The players who aren't machines, or whoever moved first in the first game."""
        first = self.sessions[0]
        seats = zip(first.names, first.policies, strict=True)
        return [name for name, policy in seats if policy is None] or [first.names[0]]

    def sit_down(self, console: Console, coach: str, *, by_hand: bool, again: Sequence[str]) -> int:
        """Play until all games are over, or somebody stops: then what was played is kept.

        Parameters
        ----------
        again : sequence of str
            The game, as it was typed, for the command that goes on.

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
        except (Stopped, KeyboardInterrupt) as ending:
            with held_back():
                place = self.kept.keep_somewhere()
                front.tell()
                if place is not None:
                    command = ["rollwise", "play", *again, "--resume", str(place)]
                    command += ["--games", str(self.games)] if self.games is not None else []
                    command += ["--seat", "alternate"] if self.alternate else []
                    command += ["--coach", coach] if coach != "ask" else []
                    what = "game is" if self.games is None else "games are"
                    print(
                        f"rollwise: stopped; the {what} kept, go on with: {shlex.join(command)}",
                        file=sys.stderr,
                    )
            return 130 if isinstance(ending, KeyboardInterrupt) else 0
        return 0

    @property
    def _finished(self) -> list[Session]:
        return [session for session in self.sessions if session.is_over]

    def show(self, console: Console) -> None:
        """The ledger of a game that is over, or the tally of a series."""
        session = self.sessions[-1]
        if self.games is not None:
            for name in self.people if self._finished else ():
                show_tally(console, session, tally(self.sessions, name))
        elif session.is_over:
            show_ledger(console, session, session.names.index(self.people[0]))

    def document(self) -> Document:
        """What `show` shows, as data."""
        session = self.sessions[-1]
        if self.games is None:
            return ledger_document(session, session.names.index(self.people[0]))
        tallies = [tally(self.sessions, name) for name in self.people if self._finished]
        return series_document(self.sessions, self.games, tallies)
