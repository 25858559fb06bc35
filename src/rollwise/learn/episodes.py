"""Games as data: a sequence of moves and what came of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.graph import StateGraph

ENDINGS = {"win": 1.0, "lose": -1.0, "draw": 0.0, "end": 0.0}  # and their payoffs

Move = Sequence[Any]


@dataclass(frozen=True, eq=False)
class GameRecord:
    """A finished game.

    Attributes
    ----------
    actions : (n_moves,) int64
        Indices into the actions of the graph.
    seats : (n_moves,) int64
        Who moved: 0 or 1.
    ending : int
        How it ended for the player who moved last; see `rollwise.kernels.sampling`.
    """

    actions: NDArray[np.int64]
    seats: NDArray[np.int64]
    ending: int

    @property
    def path(self) -> NDArray[np.int64]:
        """Twice the action of each move plus the seat, as kernels take it."""
        return 2 * self.actions + self.seats


def read_game_record(
    graph: StateGraph, moves: Sequence[Move], start: Sequence[int] | None = None
) -> GameRecord:
    """Read a game that was played elsewhere, and check it against the rules.

    Parameters
    ----------
    graph : StateGraph
    moves : sequence of (action, what came of it)
        The action by number or name. What came of it is the next state, as
        whoever moves next sees it (its fields in order, or a mapping by name), or
        ``"win"``, ``"lose"``, ``"draw"`` or ``"end"`` for the player who moved; or, in
        a game for stakes, the payoff.
    start : sequence of int, optional
        The state in which the game begins, if not the start.

    Raises
    ------
    UsageError
        A move that the rules don't allow, or a game that doesn't end; names the move.
    UnknownState
    """
    s = 0 if start is None else graph.find(start)
    seat = 0
    actions, seats = [], []
    for number, move in enumerate(moves, start=1):
        where = f"{graph.game}: move {number}, in the state {graph.state_text(s)}"
        try:
            name, outcome = move
        except (TypeError, ValueError):
            raise UsageError(f"{where}: {move!r} isn't an action and what came of it") from None
        try:
            action = graph.view[s].find_action(name)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None
        actions.append(action.index)
        seats.append(seat)
        if isinstance(outcome, str | int | float):
            if isinstance(outcome, str) and outcome not in ENDINGS:
                known = ", ".join(ENDINGS)
                raise UsageError(f"{where}: {outcome!r} is no ending (endings: {known})")
            payoff = ENDINGS[outcome] if isinstance(outcome, str) else float(outcome)
            payoffs = {way.payoff for way in action.outcomes if way.is_over}
            if payoff not in payoffs:
                raise UsageError(f"{where}: {action} can't end with {outcome!r}")
            if number < len(moves):
                raise UsageError(f"{where}: the game is over, but moves follow")
            place = int(np.searchsorted(graph.ending_payoffs, payoff))
            return GameRecord(np.array(actions), np.array(seats), -1 - place)
        if isinstance(outcome, Mapping):
            missing = [field for field in graph.field_names if field not in outcome]
            if missing:
                raise UsageError(f"{where}: the state that follows has no {missing[0]}")
            outcome = [outcome[field] for field in graph.field_names]
        t = graph.find(outcome)
        passes = {way.passes for way in action.outcomes if way.target == t}
        if not passes:
            raise UsageError(f"{where}: {action} can't lead to {graph.state_text(t)}")
        if len(passes) > 1:
            raise UsageError(f"{where}: it isn't clear whether the turn passes")
        seat ^= int(passes.pop())
        s = t
    raise UsageError(f"{graph.game}: the game isn't over after its {len(moves)} moves")
