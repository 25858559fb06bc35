"""Games as data: sequences of moves and outcomes."""

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
        The seats of the movers, 0 or 1.
    ending : int
        The result for the player of the last move; see `rollwise.kernels.sampling`.
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
    """Read a game played elsewhere, and check it against the rules.

    Parameters
    ----------
    graph : StateGraph
    moves : sequence of (action, outcome)
        The action by number or name. The outcome is the next state, from the view
        of its mover (its fields in order, or a mapping by name), or
        ``"win"``, ``"lose"``, ``"draw"`` or ``"end"`` for the player who moved; or, in
        a game for stakes, the payoff.
    start : sequence of int, optional
        The first state of the game, by default the start.

    Raises
    ------
    UsageError
        A move against the rules, or an unfinished game; names the move.
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
            raise UsageError(
                f"{where}: {move!r} isn't a pair of an action and its outcome"
            ) from None
        try:
            action = graph.view[s].find_action(name)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None
        actions.append(action.index)
        seats.append(seat)
        if isinstance(outcome, str | int | float):
            if isinstance(outcome, str) and outcome not in ENDINGS:
                names = ", ".join(ENDINGS)
                raise UsageError(f"{where}: {outcome!r} is no ending (endings: {names})")
            payoff = ENDINGS[outcome] if isinstance(outcome, str) else float(outcome)
            payoffs = {way.payoff for way in action.outcomes if way.is_over}
            if payoff not in payoffs:
                raise UsageError(f"{where}: {action} can't end with {outcome!r}")
            if number < len(moves):
                raise UsageError(f"{where}: the game is over, but moves follow")
            ending = int(np.searchsorted(graph.ending_payoffs, payoff))
            return GameRecord(np.array(actions), np.array(seats), -1 - ending)
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
