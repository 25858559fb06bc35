"""A game, or a part that play leaves and never enters again, as arrays for engine and proof."""

from __future__ import annotations

from rollwise.layers.layer import Block, Layer, Pool, Tables, block_of
from rollwise.layers.order import (
    Ordering,
    endings_of,
    has_no_cycle,
    in_solving_order,
    joined,
    layer_of_graph,
    ordering_of,
    tables_of,
)

__all__ = [
    "Block",
    "Layer",
    "Ordering",
    "Pool",
    "Tables",
    "block_of",
    "endings_of",
    "has_no_cycle",
    "in_solving_order",
    "joined",
    "layer_of_graph",
    "ordering_of",
    "tables_of",
]
