"""The rows of a strategy's table, as a Polars frame or as lists.

Polars takes longer to import than a few rows to find, so what is only to be looked at are lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rollwise.graph.vocabulary import Vocabulary

if TYPE_CHECKING:
    import polars as pl

Columns = Mapping[str, Any]  # arrays or lists, ``action`` of numbers; None where all is null
Cells = dict[str, list[Any]]


def cells_of(columns: Columns, n: int, vocabulary: Vocabulary) -> Cells:
    """`n` rows as a list for each column; actions are called by their names."""
    found = {}
    for name, column in columns.items():
        cells = [None] * n if column is None else np.asarray(column, object).tolist()
        found[name] = cells
        if name == "action" and column is not None:
            found[name] = list(map(vocabulary.text, cells))
    return found


def frame_of(columns: Columns, n: int, vocabulary: Vocabulary) -> pl.DataFrame:
    """`n` rows as a frame; actions are called by their names."""
    import polars as pl

    found = dict(columns)
    for name, column in columns.items():
        if column is None:
            kind = pl.String if name == "action" else pl.Float64
            found[name] = pl.Series(name, [None] * n, kind)
        elif name == "action":
            found[name] = vocabulary.column(column)
    return pl.DataFrame(found)
