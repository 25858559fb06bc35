"""Python files read in their present state, with the modules beside them.

Such a file is read anew each time, and so are its neighbours: the modules and packages in its
folder that it imports, or that they import. They belong to the file, as modules of a package
do: two files in different folders may each have a neighbour of the same name. A name of the
standard library means its module, and so does one of an installed package: a warning says so where
a neighbour has that name too.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any


def read_file(name: str, path: Path) -> ModuleType:
    """Run a Python file as a module of that name.

    Raises
    ------
    ImportError
        It isn't a Python file. Exceptions of its code pass through.
    """
    loader = _Loader(name, str(path))
    folder = str(path.resolve().parent)
    spec = importlib.util.spec_from_file_location(
        name, path, loader=loader, submodule_search_locations=[folder]
    )
    if spec is None:
        raise ImportError(f"{path} can't be read as a Python file")
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())  # before the finder that reads cached code
    # neighbours of an earlier reading would be stale
    for known in [known for known in sys.modules if known.startswith(f"{name}.")]:
        del sys.modules[known]
    module = importlib.util.module_from_spec(spec)
    module.__package__ = ""  # it has no relative imports
    sys.modules[name] = module  # dataclasses look their module up there
    _FOLDERS[name] = folder
    loader.exec_module(module)
    return module


def files_read(name: str) -> frozenset[Path]:
    """The files of a module run by `read_file`: its own and those of its neighbours."""
    modules = [
        module
        for known, module in list(sys.modules.items())
        if known == name or known.startswith(f"{name}.")
    ]
    origins = (getattr(module.__spec__, "origin", None) for module in modules)
    return frozenset(Path(origin).resolve() for origin in origins if origin)


_FOLDERS: dict[str, str] = {}  # of the files that were read, by the names of their modules


class _Loader(SourceFileLoader):
    """Compiles a file each time it is read, and lets it import its neighbours.

    Python's own cache misses an edit within one second that keeps the length.
    """

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)

    def exec_module(self, module: ModuleType) -> None:
        importer = _Importer(module.__name__.partition(".")[0])
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": importer}
        super().exec_module(module)


class _Finder:
    """Finds the neighbours of a file, with names as if the file were a package."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in _FOLDERS:
            return None
        finders = (FileFinder(place, (_Loader, SOURCE_SUFFIXES)) for place in path or ())
        specs = (finder.find_spec(fullname) for finder in finders)
        return next((spec for spec in specs if spec is not None), None)


class _Importer:
    """The ``import`` statement of a file and of its neighbours."""

    def __init__(self, file: str) -> None:
        self._file = file

    def __call__(
        self,
        name: str,
        globals: Any = None,
        locals: Any = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        first = name.partition(".")[0]
        if level or not self._is_neighbour(first):
            return builtins.__import__(name, globals, locals, fromlist, level)
        module = builtins.__import__(f"{self._file}.{name}", globals, locals, fromlist, 0)
        return module if fromlist else sys.modules[f"{self._file}.{first}"]

    def _is_neighbour(self, name: str) -> bool:
        folder = Path(_FOLDERS[self._file])
        places = (folder / f"{name}.py", folder / name / "__init__.py")
        place = next((place for place in places if place.is_file()), None)
        if place is None:
            return False
        if name in sys.stdlib_module_names:
            return self._passed_over(name, place, "of Python")
        try:
            other = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            return True
        # on the path itself, as where PYTHONPATH names the folder
        if other is None or Path(other.origin or "").resolve().is_relative_to(folder):
            return True
        return self._passed_over(name, place, "that is installed")

    def _passed_over(self, name: str, place: Path, other: str) -> bool:
        """Warn that a neighbour isn't imported; the file itself may have any name."""
        if str(place) != sys.modules[self._file].__spec__.origin:  # type: ignore[union-attr]
            warnings.warn(
                f"import {name} means the module {other}, not {place}; give that file another name",
                stacklevel=3,
            )
        return False
