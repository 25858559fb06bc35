"""One game told move by move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rollwise.answer.references import AnyPolicy, Policies, Subject
from rollwise.errors import EndlessPlay, UsageError
from rollwise.numbers.randomness import check_seed

MOST_TOLD = 100_000  # moves


@dataclass(frozen=True)
class ToldMove:
    """A move and what came of it.

    Attributes
    ----------
    turn : int
        From 1.
    seat : int
        1 for the player who moved first, 2 for the other.
    policy : str
    state : dict of int
        As the mover sees it.
    action : str
    outcome : str
        ``again``, ``pass``, ``win``, ``lose``, ``draw`` or ``end``, for the mover.
    next_state : dict of int or None
        As the next mover sees it; None where the game is over.
    reward : float
        Points for the action.
    """

    turn: int
    seat: int
    policy: str
    state: dict[str, int]
    action: str
    outcome: str
    next_state: dict[str, int] | None
    reward: float

    @property
    def text(self) -> str:
        """The move in words."""
        seen = ", ".join(f"{name}={value}" for name, value in self.state.items())
        line = f"Turn {self.turn}, player {self.seat} ({self.policy}) at {seen}: {self.action}"
        if self.reward:
            line += f" for {self.reward:g} points"
        if self.next_state is None:
            endings = {"win": "wins", "lose": "loses", "draw": "a draw", "end": "the end"}
            return f"{line}: {endings[self.outcome]}"
        leads = ", ".join(f"{name}={value}" for name, value in self.next_state.items())
        return f"{line} -> {leads}" + (", and the turn passes" if self.outcome == "pass" else "")


def tell(
    game: Subject, policy: AnyPolicy, against: AnyPolicy | None = None, *, seed: int
) -> list[ToldMove]:
    """Play one game and tell it; the first policy moves first.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
    policy : str, callable or Policy
        As `rollwise.evaluate` takes it.
    against : optional
        What the opponent plays; the same policy unless given.
    seed : int
        Of NumPy's default generator.

    Raises
    ------
    UsageError
        An opponent in a game for one; a seed that isn't one.
    EndlessPlay
        The game goes on for more than 100,000 moves.
    """
    policies = Policies.of(game)
    graph, mine = policies.graph, policies.find(policy)
    if against is not None and graph.players != 2:
        raise UsageError(f"{graph.game} is a game for one: there is no opponent")
    seats = (mine, mine if against is None else policies.find(against))
    random = np.random.default_rng(check_seed(seed))
    moves: list[ToldMove] = []
    state, seat, turn = graph.view[0], 0, 1
    for _ in range(MOST_TOLD):
        chances = seats[seat].probability[state.action_range]
        action = state.actions[int(random.choice(len(chances), p=chances / chances.sum()))]
        outcome = action.outcome(int(random.choice(len(action.chances), p=action.chances)))
        after = outcome.next_state
        moves.append(
            ToldMove(
                turn,
                seat + 1,
                seats[seat].name,
                state.named,
                action.name,
                outcome.ending or ("pass" if outcome.passes else "again"),
                None if after is None else after.named,
                action.reward,
            )
        )
        if after is None:
            return moves
        seat ^= outcome.passes
        turn += outcome.passes
        state = after
    raise EndlessPlay(f"{graph.game}: the game goes on for more than {MOST_TOLD:,} moves")
