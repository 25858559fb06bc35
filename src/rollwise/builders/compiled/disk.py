"""Compiled rules on disk, so that a game is compiled once on a machine.

Numba's own cache looks only at the name and date of the file that holds a function. It misses
changes in what the function calls. Here the key (see `rollwise.builders.compiled.cache_key`)
holds all that goes into the machine code: the
code of the rules and of every function that they reach, the constants that they
read, the adapter, the versions of Python, Numba and rollwise, and the processor.
Rules that reach something that has no key aren't kept.
"""

from __future__ import annotations

import contextlib
import pickle
import platform
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import serialize
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target

import rollwise
from rollwise.builders.compiled.cache_key import Key
from rollwise.errors import OutputError
from rollwise.machine import switches
from rollwise.machine.atomic_files import write_atomically
from rollwise.machine.kernel_cache import (
    before_compiling,
    before_reading,
    for_disk,
    source_stamp,
)
from rollwise.machine.user_cache import make_room, place, private_folder

MOST_FILES = 300  # the oldest go


@cache
def versions() -> tuple[Any, ...]:
    """What else goes into machine code: what compiles it, and for which processor.

    Any source of this room may have a part in it, and so may what it takes from kernels.
    """
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return (
        rollwise.__version__,
        numba.__version__,
        llvmlite.__version__,
        np.__version__,
        platform.python_version(),
        tuple(map(str, cpu_target.target_context.codegen().magic_tuple())),
        source_stamp(*sources),
    )


def folder() -> Path | None:
    """Where compiled rules are kept: with Numba's cache if that has a place, else the user's.

    None if there is no private folder for them.
    """
    if numba.config.CACHE_DIR:
        return private_folder(Path(numba.config.CACHE_DIR) / "rollwise-rules")
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


class RulesCache:
    """One compiled adapter on disk, in the form in which Numba's CFunc asks for it."""

    def __init__(self, key: str) -> None:
        kept = folder() if switches.is_on("kernel-cache") else None
        name = switches.mark(key, "prefetch", "listers")
        self._path = None if kept is None else kept / f"{name}.rules"

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled adapter, or None; a file that can't be read counts as none."""
        found = self._read(target_context)
        if found is None:
            before_compiling()
        return found

    def _read(self, target_context: Any) -> Any:
        try:
            if self._path is not None:
                data = self._path.read_bytes()
                before_reading(target_context)
                return CompileResult._rebuild(target_context, *pickle.loads(data))
        except Exception:
            pass  # none, or written by something else, or cut short: compile again and replace it
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a compiled adapter, if it can be; a place that can't be written is no error."""
        if self._path is None or result.lifted or result.library.has_dynamic_globals:
            return
        with contextlib.suppress(OutputError, OSError, pickle.PicklingError, TypeError):
            data = serialize.dumps(for_disk(result))
            write_atomically(self._path, lambda place: place.write_bytes(data))
            make_room(self._path.parent, f"*{self._path.suffix}", most_files=MOST_FILES)


class NotKept(Exception):
    """Nothing that can be read is on disk."""


class KeptOnly(RulesCache):
    """The same where nothing is to be compiled if nothing is kept."""

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled adapter.

        Raises
        ------
        NotKept
        """
        found = self._read(target_context)
        if found is None:
            raise NotKept
        return found
