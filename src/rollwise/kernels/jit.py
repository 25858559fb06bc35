"""The one place where kernels are told how to compile.

Compiled code is cached on disk, so that only the first use on a machine waits
for it. ``fastmath`` stays off: certificates need every rounding to be the one
that IEEE 754 prescribes. Division by zero gives an infinity or a NaN, as in
NumPy; kernels that could meet one check first.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys

from rollwise.machine.user_cache import is_private, tell_once

Function = TypeVar("Function", bound=Callable[..., object])

JIT_DISABLED: bool = bool(numba.config.DISABLE_JIT)

# The type of an index in a kernel. Python counts negative indices from the end, so compiled code
# asks of every signed one whether it is negative. Interpreted code is fastest with Python's own.
index: Any = int if JIT_DISABLED else np.uint64
ONE = index(1)


def before_reading(context: Any) -> None:
    """What compiled code needs of Numba to be read from disk and to run.

    Before it reads anything Numba loads all that it knows of Python's and NumPy's types
    and functions, which only compiling needs: a tenth of a second.
    """
    import numba.experimental.function_type  # noqa: F401 (kernels are handed functions)

    rtsys.initialize(context)


def before_compiling() -> None:
    """Spare Numba a look at SciPy's linear algebra, until code asks for it.

    Before it compiles anything it tries to import ``scipy.linalg``, only to know whether
    it could. That takes longer than solving a game of half a million states. So it is
    told the answer; code that needs BLAS still imports it (``np.dot`` looks for it itself).
    """
    wanted = "scipy.linalg.cython_blas"
    if JIT_DISABLED or wanted in sys.modules or "numba.np.arraymath" in sys.modules:
        return
    sys.modules[wanted] = None  # type: ignore[assignment]
    try:
        from numba.np import arraymath
    finally:
        del sys.modules[wanted]
    if hasattr(arraymath, "_HAVE_BLAS"):
        arraymath._HAVE_BLAS = importlib.util.find_spec("scipy") is not None


def for_disk(result: Any) -> tuple[Any, ...]:
    """A compiled function in the form in which `CompileResult._rebuild` takes it.

    Of the functions that went into it, it names only those that have constants to be
    found as it runs: to read a name, their modules must be imported, large ones of Numba's.
    """
    *parts, environments = result._reduce()
    return (*parts, tuple(place for place in environments if place.consts))


@cache
def _read(path: Path) -> tuple[bytes, frozenset[Path]]:
    """The source in a file, and the files of the kernels that it imports from."""
    source = path.read_bytes()
    names = re.findall(rb"^\s*from rollwise\.kernels\.(\w+) import", source, re.MULTILINE)
    here = Path(__file__).parent
    return source, frozenset(here / f"{name.decode()}.py" for name in names)


@cache
def source_stamp(path: Path) -> str:
    """A hash of the source in a file, and in those of kernels that it imports from, on and on."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(_read(one)[1])
    digest = hashlib.blake2b(digest_size=16)
    for one in sorted(found):
        digest.update(hashlib.blake2b(_read(one)[0]).digest())
    return digest.hexdigest()


class _OnDisk(CompileResultCacheImpl):  # type: ignore[misc]
    def reduce(self, result: Any) -> tuple[Any, ...]:
        return for_disk(result)


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """The files of a kernel. What can't be read, as after a crash, is written anew.

    What can't be written, as on a full disk, is compiled again the next time.
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


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """Compiled kernels on disk, as Numba keeps them, but read without what only compiling needs.

    Numba takes them for up to date as long as the file of the kernel is what it was; here
    also those must be that it imports other kernels and constants from.
    """

    _impl_class = _OnDisk

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)
        source = Path(function.__code__.co_filename)
        beside = Path(self._cache_path).parent == source.parent  # and as safe as the source
        if not beside and not is_private(Path(self._cache_path)):
            raise RuntimeError(f"{self._cache_path} isn't private")
        stamp = source_stamp(source)
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, stamp)

    def is_empty(self) -> bool:
        """Whether nothing is on disk that can be used."""
        return not self._cache_file._load_index()

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled kernel, or None."""
        try:
            before_reading(target_context)
            found = self._load_overload(signature, target_context)
        except Exception:
            found = super().load_overload(signature, target_context)  # as slowly as Numba does it
        if found is None:
            before_compiling()
        return found


OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}


def kernel(function: Function) -> Function:
    """Compile a loop over arrays: cached, exact, and free of the interpreter's lock."""
    compiled: Any = numba.njit(**OPTIONS)(function)
    if not JIT_DISABLED:
        _keep_on_disk(compiled, function)
    return compiled  # type: ignore[no-any-return]


def _keep_on_disk(compiled: Any, function: Callable[..., object]) -> None:
    """Have a kernel kept, and read, if there is a place for it."""
    try:
        compiled._cache = _KernelCache(function)
    except (RuntimeError, OSError):
        tell_once(
            "there is no folder to keep compiled code in, so every run compiles anew, which takes "
            "some ten seconds; NUMBA_CACHE_DIR=FOLDER names one"
        )


class _Inner(CPUDispatcher):  # type: ignore[misc]
    def __call__(self, *arguments: Any) -> Any:
        raise TypeError(f"{self.py_func.__name__} is an inner kernel: only kernels can call it")


def inner_kernel(function: Function) -> Function:
    """Compile a function that only kernels call.

    It is compiled sooner than a `kernel`, since nothing is needed that turns Python's
    objects into arrays and back.
    """
    if JIT_DISABLED:
        return function
    bare = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiled: Any = _Inner(function, targetoptions={**OPTIONS, **bare})
    _keep_on_disk(compiled, function)
    return compiled  # type: ignore[no-any-return]


_once_compiled = JIT_DISABLED


def never_compiled() -> bool:
    """Whether these kernels were never compiled on this machine, so that the first will be now."""
    global _once_compiled
    if not _once_compiled:
        from rollwise.kernels import recursion

        cache = recursion.sweep._cache  # type: ignore[attr-defined]
        _once_compiled = isinstance(cache, _KernelCache) and not cache.is_empty()
    return not _once_compiled


def _is_kept() -> bool:
    """Whether there is a place for what is compiled, so that another process can read it."""
    from rollwise.kernels import recursion

    return isinstance(recursion.sweep._cache, _KernelCache)  # type: ignore[attr-defined]


_beside: subprocess.Popen[bytes] | None = None  # as long as somebody may wait for it
_ready = True  # whether it has done what everybody waits for


def compile_beside(module: str) -> None:
    """On the first use on a machine, run a module in a second process, which compiles kernels.

    Numba compiles on one core. What the module compiles meanwhile is read from the cache
    on disk by whoever waits for it: for what comes before it says a line (`wait_beside`), or
    for the rest (`wait_for_rest`), at which it goes on even when this process has ended. If
    it fails, nothing is lost but time.
    """
    global _beside, _ready
    if _beside is None and (os.cpu_count() or 1) > 1 and never_compiled() and _is_kept():
        nowhere = subprocess.DEVNULL
        command = [sys.executable, "-P", "-m", module]  # nothing of the current folder
        _beside = subprocess.Popen(command, stdin=nowhere, stdout=subprocess.PIPE, stderr=nowhere)
        _ready = False


def wait_beside() -> None:
    """Wait until what `compile_beside` began, if anything, says a line, or ends."""
    global _ready
    process = _beside
    if process is not None and not _ready:
        assert process.stdout is not None
        with process.stdout as said:
            said.readline()
        _ready = True


def wait_for_rest() -> None:
    """Wait until it ends. Two threads may come here."""
    global _beside
    process = _beside
    if process is not None:
        wait_beside()
        process.wait()
        _beside = None
