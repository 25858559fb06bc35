"""A game won in time: the first player wins within a number of turns, or else loses.

Each position has the turns left. They are counted as points are in `rollwise.derive.by_score`, and
a play is over after the last one (Bellman, "A Markovian decision process", Journal of Mathematics
and Mechanics 6, 1957, for the finite horizon).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rollwise.derive.by_score import derived_graph, unroll
from rollwise.derive.derived_game import DerivedGame, as_inner
from rollwise.errors import UsageError
from rollwise.game import outcomes_rule
from rollwise.graph import StateGraph
from rollwise.parameters import ParameterSpec
from rollwise.then import LOSE, WIN, ending_points, is_over, seats_on

ENDLESS_DRAW = (
    'as=within counts an endless turn only where it is lost (endless = "lose"): a draw would be '
    "lost to the first player, whoever keeps it up"
)


def ends_of_turns(graph: StateGraph) -> NDArray[np.bool_]:
    """Whether a turn ends with each outcome that goes on: (n_outcomes,) bool.

    A turn ends when it passes. One player has a turn for each move of the rules: it leads to a
    position, before any throw. To keep dice of a pool doesn't end the turn.
    """
    if graph.players == 1:
        is_position = np.zeros(graph.n_states + 1, np.bool_)
        is_position[graph.positions] = is_position[-1] = True  # -1: the end
        return is_position[graph.outcome_state]
    return np.asarray(graph.outcome_passes != 0)


@dataclass(frozen=True)
class Within(DerivedGame):
    """A game in which the first player wants to win within a number of turns.

    Turns of both players count. A second player tries to prevent the win. A play is lost for the
    first player if it isn't won after the last turn, or is drawn.

    A turn without an end is lost to the player who keeps it up if the rules say so. A draw would
    be lost to the first player, whoever keeps it up: rules with such turns are refused.

    Attributes
    ----------
    inner : Game
        A game of one player or two that is won or lost.
    turns : int
        Turns from the start. A table has fewer turns too: all of one player, every other of two.

    Examples
    --------
    >>> from rollwise.games.craps import Craps
    >>> Within(Craps(), 3).start()
    PointWithin(point=0, turns_left=3)
    """

    turns: int = 10
    added_fields: ClassVar[tuple[str, ...]] = ("turns_left",)
    form: ClassVar[str] = "within"
    form_specs: ClassVar[tuple[ParameterSpec, ...]] = (
        ParameterSpec("turns", int, 10, 1, 1_000_000, "the turns to win in, of both players"),
    )
    purpose: ClassVar[str] = "a win in time"
    takes: ClassVar[tuple[int, ...]] = (1, 2)
    objective: ClassVar[str] = "win"
    players = as_inner("players")

    def __post_init__(self) -> None:
        self.validate()
        name = self.inner.name
        if self.inner_graph.is_score:
            kind = "payoffs" if self.inner_graph.has_stakes else "points"
            remedy = "; as=chase target=N plays for a score" if self.inner.players == 1 else ""
            raise UsageError(
                f"{name} is played for {kind}: as=within is for games won or lost{remedy}"
            )

    @property
    def description(self) -> str:
        """The rules of the game, with the number of turns."""
        whose = "of both players " if self.players == 2 else ""
        return f"{self.inner_rules}The first player wins within {self.turns} turns {whose}or loses."

    @property
    def own_specs(self) -> list[ParameterSpec]:
        """The number of turns."""
        return [replace(self.form_specs[0], default=self.turns)]

    @property
    def endless(self) -> str:  # type: ignore[override]
        """The worth of a turn without an end: as in the inner game, where it is no draw."""
        return "forbidden" if self.inner.endless == "draw" else self.inner.endless

    def start(self) -> Any:
        return self.state_type(*self.inner.start(), self.turns)

    def roots(self) -> Iterator[Any]:
        """The start with each number of turns at which the first player moves."""
        for left in range(self.turns, 0, -self.players):
            yield self.state_type(*self.inner.start(), left)

    def outcomes(self, s: Any, *choice: Any) -> Iterator[tuple[Any, int, Any]]:
        is_first = self.players == 1 or (self.turns - s.turns_left) % 2 == 0
        for weight, then, after in outcomes_rule(self.inner)(self.inner_state(s), *choice):
            left = s.turns_left - (self.players == 1 or seats_on(then, 2) == 1)
            if is_over(then):
                worth = ending_points(then)
                won = worth > 0 if is_first else worth >= 0
                yield weight, WIN if won else LOSE, s
            elif left == 0:
                yield weight, LOSE if is_first else WIN, s
            else:
                yield weight, then, type(s)(*after, left)

    def describe_added(self, s: Any) -> str:
        """The turns left."""
        return f"{s.turns_left} turn{'s' * (s.turns_left != 1)} left"

    def derive(self) -> StateGraph:
        """The graph of the rules above, made from the game's own; equal endings stay apart."""
        graph, passes = self.inner_graph, self.inner_graph.outcome_passes
        ends = ends_of_turns(graph).astype(np.int64)
        made = -np.arange(self.turns, 0, -self.players)
        # The score is minus the turns left: play is over beyond -1.
        pairs = unroll(graph, ends, np.zeros(len(made), np.int64), made, limit=-1)
        over, outcome = pairs.outcome_state < 0, pairs.outcome
        before = np.repeat(pairs.score, np.diff(pairs.outcome_indptr[pairs.action_indptr]))
        is_first = (self.players == 1) | ((self.turns + before) % 2 == 0)
        won = np.where(is_first, graph.outcome_payoff[outcome], -graph.outcome_payoff[outcome]) > 0
        won &= graph.outcome_state[outcome] < 0
        payoff = np.where(won == is_first, 1.0, -1.0)
        return derived_graph(
            graph,
            pairs,
            "turns_left",
            -pairs.score,
            outcome_payoff=np.where(over, payoff, 0.0),
            outcome_passes=passes[outcome] & ~over,
            players=self.players,
            objective="win",
            endless=self.endless,
            remedy=ENDLESS_DRAW if self.inner.endless == "draw" else "",
            game=self.name,
            parameters=self.parameters,
        )
