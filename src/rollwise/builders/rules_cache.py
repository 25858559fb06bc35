"""Compiled rules on disk, so that a game is compiled once on a machine.

Numba's own cache goes by the name and date of the file that holds a function,
and doesn't see when something that the function calls has changed. Here the key
(see `rollwise.builders.cache_key`) is of all that goes into the machine code: the
code of the rules and of every function that they reach, the constants that they
read, the adapter, the versions of Python, Numba and rollwise, and the processor.
Rules that reach something whose content can't be told aren't kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import platform
import tempfile
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
from rollwise.kernels import explore
from rollwise.kernels.jit import before_compiling, before_reading, for_disk

MOST_FILES = 300  # the oldest go

# The modules beside this one that have a part in the machine code.
COMPILING = ("adapters", "adapting", "cache_key", "freezing", "listers", "record")


@cache
def versions() -> tuple[Any, ...]:
    """What else goes into machine code: what compiles it, and for which processor."""
    here = Path(__file__).parent
    sources = [here / f"{name}.py" for name in COMPILING] + [Path(explore.__file__)]
    return (
        rollwise.__version__,
        numba.__version__,
        llvmlite.__version__,
        np.__version__,
        platform.python_version(),
        tuple(map(str, cpu_target.target_context.codegen().magic_tuple())),
        tuple(hashlib.blake2b(path.read_bytes()).hexdigest() for path in sources),
    )


def folder() -> Path:
    """Where compiled rules are kept: with Numba's cache if that has a place, else the user's."""
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR) / "rollwise-rules"
    home = os.environ.get("XDG_CACHE_HOME") or (Path.home() / ".cache")
    return Path(home) / "rollwise"


def keep_note(path: Path) -> None:
    """Leave an empty file in the cache; a place that can't be written is no error."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        _prune(path.parent, path.suffix)


def _prune(place: Path, suffix: str) -> None:
    files = sorted(place.glob(f"*{suffix}"), key=lambda path: path.stat().st_mtime)
    for path in files[: max(len(files) - MOST_FILES, 0)]:
        path.unlink(missing_ok=True)


class RulesCache:
    """One compiled adapter on disk, in the form in which Numba's CFunc asks for it."""

    def __init__(self, key: str) -> None:
        self._path = folder() / f"{key}.rules"

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled adapter, or None; a file that can't be read counts as none."""
        try:
            data = self._path.read_bytes()
            before_reading(target_context)
            return CompileResult._rebuild(target_context, *pickle.loads(data))
        except Exception:
            # none, or written by something else, or cut short: compile again and replace it
            before_compiling()
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a compiled adapter, if it can be; a place that can't be written is no error."""
        if result.lifted or result.library.has_dynamic_globals:
            return
        with contextlib.suppress(OSError, pickle.PicklingError, TypeError):
            data = serialize.dumps(for_disk(result))
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._path.parent, suffix=".part")
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(name, self._path)
            _prune(self._path.parent, self._path.suffix)
