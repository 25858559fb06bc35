"""How long games can last, as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rollwise.documents.design import certified_document
from rollwise.documents.parts import Document, game_head, number_or_none
from rollwise.documents.simulated import estimate_document

if TYPE_CHECKING:
    from rollwise.analysis.length_range import LengthRange, Spread
    from rollwise.answer.layer_lengths import Bracket
    from rollwise.game import Game


def length_document(game: Game, found: LengthRange, seed: int | None = None) -> Document:
    """The expected moves of a play for each aim of its players, and their spread."""
    return {
        **game_head(game),
        "policy": found.policy or None,
        "unit": "moves",
        "seed": seed,
        "lengths": [
            {
                "aim": length.aim,
                "words": found.words(length),
                **_bracket(length.bracket),
                **_spread(length.moves),
                "endless": length.endless,
                "played": estimate_document(length.played),
            }
            for length in found.lengths
        ],
        "score": None if found.score is None else _spread(found.score),
        "timed_out": found.timed_out,
    }


def _bracket(bracket: Bracket | None) -> Document:
    if bracket is None:
        return {"low": None, "high": None}
    return {"low": bracket.low, "high": number_or_none(bracket.high)}


def _spread(spread: Spread | None) -> Document:
    if spread is None:
        return {"mean": None, "standard_deviation": None}
    return {
        "mean": certified_document(spread.mean),
        "standard_deviation": certified_document(spread.deviation),
    }
