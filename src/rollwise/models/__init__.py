"""Models of other tools as games: files, arrays, environments of Gymnasium, games of OpenSpiel."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from rollwise.errors import ModelFileError
from rollwise.machine.atomic_files import require_file


def find_model(path: Path) -> type:
    """The class of games on the model in a file.

    Raises
    ------
    ModelFileError
        The file is missing or damaged, or its model is of a kind without a solution here.
    """
    require_file(path, "a model", ModelFileError)
    facts = path.stat()
    return _class_of(path.resolve(), facts.st_mtime_ns, facts.st_size)


@lru_cache(4)
def _class_of(path: Path, changed: int, size: int) -> type:
    from rollwise.models.game import game_class
    from rollwise.models.text import read_drn, read_prism
    from rollwise.models.umb import read_umb

    read = {".drn": read_drn, ".tra": read_prism, ".umb": read_umb}[path.suffix]
    return game_class(read(path), file=path)
