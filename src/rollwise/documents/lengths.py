"""How long games can last, as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rollwise.documents.design import certified_document
from rollwise.documents.parts import Document, game_head

if TYPE_CHECKING:
    from rollwise.analysis.length_range import LengthRange, Spread
    from rollwise.game import Game


def length_document(game: Game, found: LengthRange) -> Document:
    """The expected moves of a play for each aim of its players, and their spread."""
    return {
        **game_head(game),
        "policy": found.policy or None,
        "unit": "moves",
        "lengths": [
            {
                "aim": length.aim,
                "words": found.words(length),
                **_spread(length.moves),
                "endless": length.endless,
            }
            for length in found.lengths
        ],
        "score": None if found.score is None else _spread(found.score),
    }


def _spread(spread: Spread | None) -> Document:
    if spread is None:
        return {"mean": None, "standard_deviation": None}
    return {
        "mean": certified_document(spread.mean),
        "standard_deviation": certified_document(spread.deviation),
    }
