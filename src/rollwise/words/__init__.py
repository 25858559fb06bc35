"""A game in words: what its rule sheet is asked, and what happened, told."""

from __future__ import annotations

from rollwise.words.game_words import Words, word_faults
from rollwise.words.narration import Narrator, as_other_sees

__all__ = ["Narrator", "Words", "as_other_sees", "word_faults"]
