"""The user's cache: a private folder for data kept between runs.

Compiled code is kept as pickles, and reading a pickle may run anything. A folder is therefore used
only if it belongs to the user and no other user can write to it.
"""

from __future__ import annotations

import contextlib
import math
import os
import stat
import sys
import warnings
from pathlib import Path

MOST_BYTES = 4_000_000_000  # of graphs and answers; the least recently used are removed
_TOLD: set[str] = set()
_in_use = True


def tell_once(message: str) -> None:
    """Issue a warning, once in this process."""
    if message not in _TOLD:
        _TOLD.add(message)
        warnings.warn(message, stacklevel=2)


def place() -> Path | None:
    """Where rollwise keeps things: in ``ROLLWISE_CACHE_DIR``, or as the platform has it.

    None where there is no such place, as without a home.
    """
    setting = os.environ.get("ROLLWISE_CACHE_DIR")
    if setting:
        return Path(setting)
    xdg, local = os.environ.get("XDG_CACHE_HOME"), os.environ.get("LOCALAPPDATA")
    try:
        if xdg:
            return Path(xdg) / "rollwise"
        if sys.platform == "win32":
            return Path(local or Path.home() / "AppData" / "Local") / "rollwise" / "Cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "rollwise"
        return Path.home() / ".cache" / "rollwise"
    except RuntimeError:
        return None


def use(asked: bool) -> None:
    """Say whether this process reads and keeps graphs and answers."""
    global _in_use
    _in_use = asked


def in_use() -> bool:
    """Whether it does so, as far as `use` said."""
    return _in_use


def answers_folder() -> Path | None:
    """Where graphs and answers are kept (see `rollwise.answer.kept`); None where they aren't.

    They aren't with ``ROLLWISE_NO_CACHE=1`` in the environment.
    """
    home = place()
    if home is None or not _in_use or os.environ.get("ROLLWISE_NO_CACHE", "0") not in ("", "0"):
        return None
    return private_folder(home / "answers")


def private_folder(folder: Path | None) -> Path | None:
    """A folder for this user alone, made if it isn't there; None if it can't be had."""
    if folder is None:
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if is_private(folder) else None
    except OSError:
        return None


def is_private(folder: Path) -> bool:
    """Whether a folder is this user's and was writable by no other; closes it to other users.

    Raises
    ------
    OSError
        There is no such folder.
    """
    if not hasattr(os, "getuid"):
        return True  # a user's folders are his own, on Windows
    about = folder.stat()
    if about.st_uid != os.getuid():
        tell_once(f"{folder} belongs to another user and isn't used")
        return False
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and any(folder.iterdir()):
        tell_once(
            f"others may have written to {folder}, so rollwise neither reads nor writes it; "
            "remove it, and it is made anew"
        )
        return False
    if about.st_mode & 0o077:
        folder.chmod(0o700)
    return True


def make_room(
    folder: Path, pattern: str, *, most_bytes: float = math.inf, most_files: float = math.inf
) -> None:
    """Remove the least recently used files, until the limits hold."""
    files = []
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):  # another process may have removed it
            about = path.stat()
            files.append((about.st_mtime, about.st_size, path))
    total = 0
    # from the newest on: all files beyond a limit are the oldest
    for number, (_, size, path) in enumerate(sorted(files, reverse=True)):
        total += size
        if total > most_bytes or number >= most_files:
            with contextlib.suppress(OSError):
                path.unlink()
