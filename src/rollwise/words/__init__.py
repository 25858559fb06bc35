"""A game in words: calls of the rule sheet's methods for text, and narration of play."""

from __future__ import annotations

from rollwise.words.game_words import Words, in_words, word_faults
from rollwise.words.narration import Narrator
from rollwise.words.next_view import as_next_sees

__all__ = ["Narrator", "Words", "as_next_sees", "in_words", "word_faults"]
