"""A strategy as a folder of Parquet files, one a layer, each of which says what it belongs to.

A folder may hold the layers of two runs, where one was stopped as it wrote over the other. So
each file names its run, and layers are read together only if they are of one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rollwise.errors import SolutionFileError
from rollwise.machine.atomic_files import write_atomically
from rollwise.machine.parquet_files import read_metadata, read_parquet, write_parquet

if TYPE_CHECKING:
    import polars as pl

FORMAT = "1"


def write_layers(
    folder: Path, frames: Iterable[pl.DataFrame], count: int, about: Mapping[str, Any]
) -> None:
    """Write tables as the layers of a run.

    The folder is made. A file that is there is replaced, all at once or not at all, and layers
    that an earlier run left behind are taken away.

    Parameters
    ----------
    count : int
        Of the tables.
    about : mapping
        The game, its parameters, and the run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    digits = len(str(count))
    paths = [folder / f"layer-{i:0{digits}}.parquet" for i in range(count)]
    for i, (path, frame) in enumerate(zip(paths, frames, strict=True)):
        facts = {"format": FORMAT, **about, "layer": i, "layers": count}
        metadata = {"rollwise": json.dumps(facts)}

        def write(place: Path, frame: Any = frame, metadata: Any = metadata) -> None:
            write_parquet(frame, place, metadata)

        write_atomically(path, write)
    for path in set(folder.glob("layer-*.parquet")) - set(paths):
        path.unlink()


def read_layers(folder: str | Path) -> pl.DataFrame:
    """The strategy that was written into a folder, all layers in one table.

    Returns
    -------
    polars.DataFrame
        As `rollwise.LayeredSolution.table` gives it.

    Raises
    ------
    SolutionFileError
        A layer is missing or damaged, or there are layers of two runs.
    """
    import polars as pl

    folder = Path(folder)
    paths = sorted(folder.glob("layer-*.parquet"))
    if not paths:
        raise SolutionFileError(f"{folder} holds no layers (layer-*.parquet)")
    first: dict[str, Any] = {}
    frames = []
    for i, path in enumerate(paths):
        try:
            facts = json.loads(read_metadata(path)["rollwise"])
            number = facts.pop("layer")
            first = first or facts
            if facts != first:
                raise SolutionFileError(
                    f"{path} is of another run than {paths[0]}; solve the game again into an "
                    "empty folder"
                )
            if number != i:
                raise SolutionFileError(f"{folder} lacks the layer {i} of {facts['layers']}")
            frames.append(read_parquet(path))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise SolutionFileError(
                f"{path} is damaged, or no layer that rollwise wrote; solve the game again"
            ) from error
    if len(frames) != first["layers"]:
        raise SolutionFileError(f"{folder} lacks the layer {len(frames)} of {first['layers']}")
    return pl.concat(frames)
