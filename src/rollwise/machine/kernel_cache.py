"""Compiled kernels on disk, with changes to Numba that make them load faster.

Numba itself keeps compiled code on disk. Five changes are made here:

- Before reading or compiling, Numba imports more than it needs. This is prevented.
- Numba considers code up to date if the file of the function is unchanged. Here the
  files from which the function imports other kernels and constants must be unchanged too.
- An unreadable or unwritable file isn't an error.
- A kernel that isn't on disk is looked up in the installed wheel (`wheel_kernels`).
- Numba numbers functions from 1 in each process, and names machine code by these numbers. Two
  functions of one name compiled in different processes had the same name. A process
  that read both from disk called the wrong one. Here each process has its own numbers.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import itertools
import re
import secrets
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.bytecode import FunctionIdentity
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.runtime import rtsys

from rollwise.machine import memory_limits, switches, wheel_kernels
from rollwise.machine.interrupts import hear_in_callbacks
from rollwise.machine.user_cache import is_private, tell_once

PACKAGE = Path(__file__).parents[1]
hear_in_callbacks()
FunctionIdentity._unique_ids = itertools.count(secrets.randbits(48) << 14)
# Modules with sources that enter compiled code.
IMPORT = re.compile(
    rb"^\s*from rollwise\.((?:engine|kernels|layers|machine|proofs)\.\w+) import", re.MULTILINE
)


def before_reading(context: Any) -> None:
    """Prepare Numba to read compiled code from disk and run it.

    Before reading, Numba by default loads all its definitions of Python's and NumPy's types
    and functions. Only compiling needs them, and loading takes a tenth of a second.
    """
    import numba.experimental.function_type  # noqa: F401 (kernels are handed functions)

    rtsys.initialize(context)


_compiling = False  # whether this process has compiled anything


def has_compiled() -> bool:
    """Whether this process has compiled anything, and not only read compiled code."""
    return _compiling


def before_compiling() -> None:
    """Check the memory for compiling, and spare Numba the import of SciPy's linear algebra.

    Before compiling, Numba tries to import ``scipy.linalg`` only to learn whether this is
    possible. This takes longer than solving a game of half a million states. The answer is given
    to it instead. Code that needs BLAS still imports it (``np.dot`` looks for it itself).
    """
    global _compiling
    if not _compiling:
        memory_limits.require(memory_limits.TO_COMPILE, "compiling (once on a machine)")
        _compiling = True
    wanted = "scipy.linalg.cython_blas"
    if wanted in sys.modules or "numba.np.arraymath" in sys.modules:
        return
    sys.modules[wanted] = None  # type: ignore[assignment]
    try:
        from numba.np import arraymath
    finally:
        del sys.modules[wanted]
    if hasattr(arraymath, "_HAVE_BLAS"):
        arraymath._HAVE_BLAS = importlib.util.find_spec("scipy") is not None


def for_disk(result: Any) -> tuple[Any, ...]:
    """A compiled function in the form for `CompileResult._rebuild`.

    Of the functions compiled into it, only those with constants to be looked up at
    run time are named: reading a name imports its module, and Numba's modules are large.
    """
    *parts, environments = result._reduce()
    return (*parts, tuple(place for place in environments if place.consts))


@cache
def _read(path: Path) -> tuple[bytes, frozenset[Path]]:
    """The source in a file, and the files of rollwise that it imports from."""
    source = path.read_bytes()
    names = (name.decode().split(".") for name in IMPORT.findall(source))
    return source, frozenset(PACKAGE.joinpath(*name).with_suffix(".py") for name in names)


@cache
def source_stamp(*paths: Path) -> str:
    """A hash of the sources in files and, recursively, in rollwise's files they import from."""
    files: set[Path] = set()
    waiting = list(paths)
    # the files reached by imports, each once
    while waiting:
        one = waiting.pop()
        if one not in files:
            files.add(one)
            waiting.extend(_read(one)[1])
    digest = hashlib.blake2b(digest_size=16)
    for one in sorted(files):
        digest.update(hashlib.blake2b(_read(one)[0]).digest())
    return digest.hexdigest()


class _OnDisk(CompileResultCacheImpl):  # type: ignore[misc]
    def reduce(self, result: Any) -> tuple[Any, ...]:
        return for_disk(result)


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """The files of a kernel. Unreadable files, as after a crash, are rewritten.

    If writing fails, as on a full disk, the kernel is compiled again the next time.
    """

    def _load_index(self) -> dict[Any, str]:
        try:
            return super()._load_index()  # type: ignore[no-any-return]
        except Exception:  # unpickling raises all kinds
            return {}

    def load(self, key: Any) -> Any:
        try:
            return super().load(key)
        except Exception:
            return None

    def save(self, key: Any, data: Any) -> None:
        with contextlib.suppress(OSError):
            super().save(key, data)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of compiled kernels on disk, read without the parts that only compiling needs.

    Numba considers them up to date if the file of the kernel is unchanged. Here
    the files from which it imports other kernels and constants must be unchanged too. A kernel that
    is missing here may be in the installed wheel.
    """

    _impl_class = _OnDisk

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)
        source = Path(function.__code__.co_filename)
        beside = Path(self._cache_path).parent == source.parent  # and as safe as the source
        if not beside and not is_private(Path(self._cache_path)):
            raise RuntimeError(f"{self._cache_path} isn't private")
        stamp = source_stamp(source)
        name = switches.mark(self._impl.filename_base, "prefetch")
        self._cache_file = _Files(self._cache_path, name, stamp)
        self._of_wheel = _Files(str(wheel_kernels.FOLDER / source.parent.name), name, stamp)

    def _places(self, signature: Any, codegen: Any) -> Iterator[tuple[_Files, Any]]:
        """The files of the kernel, and its key in each: compiled here, and in the wheel."""
        key = self._index_key(signature, codegen)
        yield self._cache_file, key
        target = wheel_kernels.target() if wheel_kernels.FOLDER.is_dir() else None
        if target is not None:
            yield self._of_wheel, (key[0], target, *key[2:])

    def holds(self, dispatcher: Any, arguments: tuple[Any, ...]) -> bool:
        """Whether usable code is on disk, for arguments of these types if any are given."""
        types = tuple(map(dispatcher.typeof_pyval, arguments))
        for files, key in self._places(types, dispatcher.targetctx.codegen()):
            index = files._load_index()
            if key in index or (index and not arguments):
                return True
        return False

    def _load_overload(self, signature: Any, target_context: Any) -> Any:
        for files, key in self._places(signature, target_context.codegen()):
            data = files.load(key)
            if data is not None:
                return self._impl.rebuild(target_context, data)
        return None

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled kernel, or None."""
        try:
            before_reading(target_context)
            overload = self._load_overload(signature, target_context)
        except Exception:
            overload = super().load_overload(signature, target_context)  # Numba's own, slower way
        if overload is None:
            before_compiling()
        return overload


def keep_on_disk(compiled: Any, function: Callable[..., object]) -> None:
    """Have a kernel kept, and read, if there is a place for it."""
    if not switches.is_on("kernel-cache"):
        return
    try:
        compiled._cache = KernelCache(function)
    except (RuntimeError, OSError):
        tell_once(
            "there is no folder to keep compiled code in, so every run compiles anew, which takes "
            "some ten seconds; NUMBA_CACHE_DIR=FOLDER names one"
        )


def is_kept(compiled: Any) -> bool:
    """Whether a kernel can be stored for other processes."""
    return isinstance(compiled._cache, KernelCache)


def is_compiled(compiled: Any, *arguments: Any) -> bool:
    """Whether a kernel is on disk, in a form for arguments of these types."""
    return is_kept(compiled) and compiled._cache.holds(compiled, arguments)
