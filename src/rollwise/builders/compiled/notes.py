"""Where compiled rules are kept on disk, and short notes about games that lie there too."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from rollwise.builders.compiled.cache_key import Key
from rollwise.builders.compiled.reads import reads_of
from rollwise.machine.user_cache import make_room, place, private_folder

if TYPE_CHECKING:
    from rollwise.builders.rules import Rules

MOST_FILES = 300  # the oldest go


def folder() -> Path | None:
    """Where compiled rules are kept: with Numba's cache if that has a place, else the user's.

    None if there is no private folder for them.
    """
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return private_folder(Path(chosen) / "rollwise-rules")
    home = place()
    return None if home is None else private_folder(home / "rules")


class Note:
    """A short text in the cache about what has a key; of a key that doesn't last there is none.

    A place that can't be read or written is no error.
    """

    def __init__(self, key: Key, kind: str) -> None:
        place = folder() if key.lasts else None
        self._path = None if place is None else place / f"{key.text}.{kind}"

    def exists(self) -> bool:
        return self._path is not None and self._path.exists()

    def read(self) -> str:
        """The text; an empty one where there is none."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if self._path is not None:
                return self._path.read_text(encoding="utf-8")
        return ""

    def write(self, text: str = "") -> None:
        with contextlib.suppress(OSError):
            if self._path is not None:
                self._path.write_text(text, encoding="utf-8")
                make_room(self._path.parent, f"*{self._path.suffix}", most_files=MOST_FILES)


def was_large(rules: Rules, outcomes: int) -> bool:
    """Whether these rules and parameters were noted to give more outcomes than that."""
    return _large_note(rules, outcomes).exists()


def note_large(rules: Rules, outcomes: int) -> None:
    """Note on disk that a game has more outcomes than that."""
    _large_note(rules, outcomes).write()


def _large_note(rules: Rules, outcomes: int) -> Note:
    key = reads_of(rules).whole_key
    return Note(key._replace(text=f"{key.text}-{outcomes}"), "large")
