"""Results of questions that are parts of JSON documents as they are.

They stand apart from the questions: documents import them without the code that answers.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

from rollwise.numbers.meanings import Bound, Chance, Number, Record, about

Level = Literal["error", "warning", "note", "ok"]


class CubeWindow(Record, frozen=True):
    """The cube actions by the value of the game without a cube, for the player who decides."""

    cube: int
    counts: Annotated[dict[str, int], about("positions with each cube action")]
    doubles_from: Annotated[Number | None, about("the least number with a right double")]
    no_double_to: Annotated[Number | None, about("the largest number without a right double")]
    takes_from: Annotated[Number | None, about("the least number with a right take")]
    passes_to: Annotated[Number | None, about("the largest number with a right pass")]
    error_bound: Bound


class Doubling(Record, frozen=True):
    """The value of a double for the player to move, per unit staked."""

    no_offer: float
    accepted: float
    declined: float
    offer: Annotated[bool, about("whether to offer before the turn")]
    accept: Annotated[bool, about("whether the other should accept")]
    value: float
    error_bound: Bound


class JudgedMove(Record, frozen=True):
    """A recorded move with its costs."""

    player: str
    line: int
    state: str
    action: str
    best: str
    points_lost: float
    chance: Annotated[Chance, about("to win before it, with best play from there; null alone")]
    chance_lost: Annotated[Chance, about("by it")]
    best_chance: Annotated[str | None, about("the action with the best chance to win")]


class FitOfBest(Record, frozen=True):
    """The test against all optimal policies together."""

    chi_square: Annotated[Number, about("of the best fit")]
    least: Annotated[Number, about("no optimal policy is below")]
    cells: int
    p_shape: Chance


class Finding(Record, frozen=True):
    """A finding in the rules of a game."""

    level: Level
    topic: str
    text: str


class UnsolvedGame(Record, frozen=True):
    """A game of a tuning run without an answer."""

    parameters: Annotated[dict[str, str], about("as typed")]
    reason: str


class LossSpread(Record, frozen=True):
    """Ranges of the losses over all optimal policies of the opponent: the least and the most."""

    loss: tuple[Number, Number]
    losses: Annotated[list[tuple[Number, Number]], about("in each seat")]
    error_bound: Bound

    @property
    def is_known(self) -> bool:
        """Whether the ends of the range are known."""
        return self.error_bound is not None and self.error_bound < math.inf


class ActionUse(Record, frozen=True, order=True):
    """The use of an action in good play."""

    number: int
    name: str
    offered: Annotated[int, about("positions with the action")]
    best: Annotated[int, about("positions where it is a best action")]
    only_best: Annotated[int, about("positions where it is the only one")]
    in_a_game: Annotated[float, about("how often it is taken")]
    dominated_by: str | None
