"""Compiled rules on disk, so that a game is compiled once on a machine.

Numba's own cache goes by the name and date of the file that holds a function,
and doesn't see when something that the function calls has changed. Here the key
is a fingerprint of all that goes into the machine code: the code of the rules
and of every function that they reach, the constants that they read, the adapter,
the versions of Python, Numba and rollwise, and the processor. Rules that reach
something whose content can't be told aren't kept.
"""

from __future__ import annotations

import contextlib
import enum
import hashlib
import os
import pickle
import platform
import tempfile
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import serialize
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target

import rollwise
from rollwise.builders import adapters, listers
from rollwise.kernels import explore
from rollwise.kernels.jit import before_compiling, before_reading, for_disk

MOST_FILES = 300  # the oldest go


class Unknown(Exception):
    """Rules reach an object whose content can't be told."""


def fingerprint(functions: Iterable[Callable[..., Any]], *facts: Any) -> str | None:
    """A hash (hex) of functions with all that they reach, and of further facts.

    None where they reach something whose content can't be told.
    """
    digest = hashlib.blake2b(digest_size=20)
    codegen = cpu_target.target_context.codegen()
    versions = (
        rollwise.__version__,
        numba.__version__,
        llvmlite.__version__,
        np.__version__,
        platform.python_version(),
        codegen.magic_tuple(),
        [_source(Path(str(module.__file__))) for module in (adapters, explore, listers)],
        [_source(Path(__file__).parent / name) for name in ("adapting.py", "record.py")],
    )
    digest.update(repr((versions, facts)).encode())
    seen: set[int] = set()
    try:
        for function in functions:
            _add_function(digest, seen, function)
    except Unknown:
        return None
    return digest.hexdigest()


def _source(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def _add_function(digest: Any, seen: set[int], function: Callable[..., Any]) -> None:
    if id(function) in seen:
        return
    seen.add(id(function))
    if not isinstance(function, types.FunctionType):
        raise Unknown
    _add_code(digest, function.__code__)
    for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items()):
        _add_value(digest, seen, default, ())
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        digest.update(name.encode())
        if name != "__class__":
            _add_value(digest, seen, cell.cell_contents, ())
    names = _names(function.__code__)
    for name in sorted(names):
        if name in function.__globals__:
            digest.update(name.encode())
            _add_value(digest, seen, function.__globals__[name], names)


def _names(code: types.CodeType) -> set[str]:
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _add_code(digest: Any, code: types.CodeType) -> None:
    digest.update(code.co_code)
    digest.update(repr((code.co_names, code.co_varnames, code.co_flags)).encode())
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _add_code(digest, constant)
        else:
            digest.update(repr(constant).encode())


def _add_value(digest: Any, seen: set[int], value: Any, attributes: Iterable[str]) -> None:
    """A value that rules read; of a module, only the `attributes` that they name."""
    if isinstance(value, enum.Enum):
        digest.update(repr((type(value).__qualname__, value.name, value.value)).encode())
    elif value is None or isinstance(value, int | float | str | bytes | np.generic):
        digest.update(repr(value).encode())
    elif isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{value.dtype} {value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        digest.update(repr((value.__qualname__, value._fields)).encode())
    elif isinstance(value, tuple):
        for item in value:
            _add_value(digest, seen, item, ())
    elif isinstance(value, types.ModuleType):
        digest.update(value.__name__.encode())
        if value.__name__.partition(".")[0] in ("numpy", "math"):
            return  # their versions are in the fingerprint
        for name in sorted(attributes):
            if hasattr(value, name):
                digest.update(name.encode())
                _add_value(digest, seen, getattr(value, name), attributes)
    elif isinstance(value, types.FunctionType):
        _add_function(digest, seen, value)
    elif isinstance(value, type) and issubclass(value, enum.Enum):
        digest.update(repr([(member.name, member.value) for member in value]).encode())
    elif getattr(value, "__module__", "").partition(".")[0] in ("builtins", "numpy", "math"):
        digest.update(f"{value.__module__}.{value.__qualname__}".encode())
    else:
        raise Unknown


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
