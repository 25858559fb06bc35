"""Games that are kept in a file while they are played, so that nothing stops them for good."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from rollwise.cli.common import file_stem
from rollwise.coach.history import History
from rollwise.coach.json_lines import json_line
from rollwise.coach.replay import written
from rollwise.coach.session import Session
from rollwise.errors import OutputError, UsageError
from rollwise.machine.atomic_files import check_place, write_text

FORMS = {".game": written, ".jsonl": json_line}  # of files, by the ends of their names


class KeptGame:
    """Writes sessions down, one game after the other, after every move if there is a place.

    Parameters
    ----------
    session : Session
        The game under way.
    headers : mapping
        What the file says of the game besides what the session knows.
    place : Path, optional
        A file of JSON lines, if its name ends in ``.jsonl``, or else as people write games.
    history : History, optional
        Where each game is kept besides, once it has a move.
    """

    def __init__(
        self,
        session: Session,
        headers: Mapping[str, str],
        place: Path | None = None,
        history: History | None = None,
    ) -> None:
        self.session = session
        self.headers = headers
        self.place = place
        self.history = history
        self._number: int | None = None  # in the history
        self._failed = ""
        self._told = ""
        self._finished = dict.fromkeys(FORMS, "")

    def begin(self, session: Session) -> None:
        """Keep another game, behind those before it."""
        for form, write in FORMS.items():
            between = "" if form == ".jsonl" else "\n"
            self._finished[form] += write(self.session, self.headers) + between
        self.session = session
        self._number = None

    def keep(self) -> str:
        """Write the game, where it has a place; what there is to say of it, once."""
        before, self._told = self._told, ""
        if self.place is not None:
            try:
                write_text(self.place, self._text)
                self._failed = ""
            except OutputError as error:
                self._failed = self._told = str(error)
        if self.history is not None and self.session.accounts:
            try:
                line = json_line(self.session, self.headers)
                self._number = self.history.keep(line, self._number)
            except OutputError as error:
                self._told = self._told or str(error)
        return self._told if self._told != before else ""

    def move_to(self, place: Path) -> None:
        """Keep the game in this file from now on.

        Raises
        ------
        UsageError
            There is such a file, or it can't be written.
        """
        if place != self.place:
            require_new(place)
        write_text(place, self._text)
        self.place = place

    def keep_somewhere(self) -> Path | None:
        """Write the game to its place, or to a new file; to stderr if neither can be done."""
        if self.place is None:
            self.place = _free_name(self.session.table.graph.game)
        self.keep()
        if self._failed:
            print(f"rollwise: {self._failed}; this is the game:", file=sys.stderr)
            print(self._text, end="", file=sys.stderr)
            return None
        return self.place

    @property
    def _text(self) -> str:
        form = ".jsonl" if self.place is not None and self.place.suffix == ".jsonl" else ".game"
        return self._finished[form] + FORMS[form](self.session, self.headers)


def require_new(place: Path) -> None:
    """Make sure that a game can be kept in this file, and that there is none in it yet.

    Raises
    ------
    UsageError
        It can't, or there is.
    """
    if place.is_file() and place.stat().st_size:
        raise UsageError(
            f"{place} is there already; --resume {place} goes on with a game, another name keeps "
            "both"
        )
    check_place(place)


def _free_name(game: str) -> Path:
    """A name for a game that is kept, which no other file has."""
    stem, number = file_stem(game), 1
    while True:
        path = Path(f"{stem}{'' if number == 1 else f'-{number}'}.game")
        if not path.exists():
            return path
        number += 1
