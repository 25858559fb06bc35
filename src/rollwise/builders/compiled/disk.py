"""Compiled rules on disk. A game is compiled only once on a machine.

Numba's own cache uses only the name and date of the file with the function. It misses changes in
functions that this function calls. Here the key (`rollwise.builders.compiled.cache_key`) includes
the code of the rules and of every function that they reach, the constants that they read, and the
versions of Python, NumPy and rollwise. The file name also identifies the adapter, the version of
Numba, and the processor. Rules that reach a value without a key are not stored.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba import types
from numba.core import serialize
from numba.core.ccallback import CFunc
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target

from rollwise.builders.compiled.cache_key import Key
from rollwise.builders.compiled.reads import MOST_FILES, folder
from rollwise.errors import OutputError
from rollwise.machine import switches
from rollwise.machine.atomic_files import write_atomically
from rollwise.machine.kernel_cache import (
    before_compiling,
    before_reading,
    for_disk,
    source_stamp,
)
from rollwise.machine.user_cache import make_room

OPTIONS = {"boundscheck": True}  # of adapters


@cache
def compiled_by() -> str:
    """A hash of the other inputs of machine code: the compiler and the processor.

    Any source file of this room may affect the code, and so may the imported kernels.
    """
    sources = sorted(Path(__file__).parent.glob("*.py"))
    processor = cpu_target.target_context.codegen().magic_tuple()
    parts = (numba.__version__, llvmlite.__version__, *map(str, processor), source_stamp(*sources))
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


class NotKept(Exception):
    """There is no readable file on disk."""


class RulesCache:
    """One compiled adapter on disk, with the interface of a cache of Numba's CFunc.

    With `only_read` it raises `NotKept` instead of allowing compilation.
    """

    def __init__(self, key: str, *, only_read: bool = False) -> None:
        self._only_read = only_read
        kept = folder() if switches.is_on("kernel-cache") else None
        name = switches.mark(f"{key}-{compiled_by()}", "prefetch")
        self._path = None if kept is None else kept / f"{name}.rules"

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled adapter, or None if it is missing or unreadable."""
        try:
            if self._path is not None:
                data = self._path.read_bytes()
                before_reading(target_context)
                return CompileResult._rebuild(target_context, *pickle.loads(data))
        except Exception:
            pass  # missing, truncated or from another program: compile again and replace it
        if self._only_read:
            raise NotKept
        before_compiling()
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Store a compiled adapter if possible. A folder without write access is no error."""
        if self._path is None or result.lifted or result.library.has_dynamic_globals:
            return
        with contextlib.suppress(OutputError, OSError, pickle.PicklingError, TypeError):
            data = serialize.dumps(for_disk(result))
            write_atomically(self._path, lambda place: place.write_bytes(data))
            make_room(self._path.parent, f"*{self._path.suffix}", most_files=MOST_FILES)


def kept_adapter(name: str, key: Key) -> Any:
    """An adapter compiled earlier on this machine, read from disk; None if there is none.

    Its source is not needed: the key identifies it.
    """
    if not key.lasts:
        return None

    def not_compiled(address: int) -> int:
        raise AssertionError("an adapter that is read from disk has no source")

    pointer = pointer_to(not_compiled)
    pointer._cache = RulesCache(f"{name}-{key.text}", only_read=True)
    try:
        pointer.compile()
    except NotKept:
        return None
    return pointer


def pointer_to(function: Callable[[int], int]) -> Any:
    """Numba's compiler of a function into a pointer for kernels."""
    return CFunc(function, ((types.int64,), types.int64), locals={}, options=OPTIONS)
