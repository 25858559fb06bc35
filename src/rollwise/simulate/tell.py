"""One game told move by move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rollwise.answer.references import AnyPolicy, Policies, Subject
from rollwise.errors import EndlessPlay, UsageError
from rollwise.graph import Outcome, StateGraph
from rollwise.graph.policies import Policy
from rollwise.numbers.randomness import check_seed
from rollwise.words import Narrator

MOST_TOLD = 100_000  # moves
PLAYERS = ("A", "B")


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
    dice : tuple of int
        What they showed, where the rules say which dice are thrown.
    text : str
        The move in words; A moved first, the other is B.
    """

    turn: int
    seat: int
    policy: str
    state: dict[str, int]
    action: str
    outcome: str
    next_state: dict[str, int] | None
    reward: float
    dice: tuple[int, ...] = ()
    text: str = ""


def tell(
    game: Subject, policy: AnyPolicy, against: AnyPolicy | None = None, *, seed: int
) -> list[ToldMove]:
    """Play one game and tell it; the first policy moves first.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
        Without its rules a game is told by the names of its fields and actions.
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
    (dice,) = random.spawn(1)  # which faces brought an outcome changes nothing about the game
    narrator = Narrator(graph, policies.game)
    points = [0.0, 0.0]
    moves: list[ToldMove] = []
    seat, turn = 0, 1
    for outcome in _played(graph, seats, random):
        action, after = outcome.action, outcome.next_state
        faces = narrator.faces_of(action.index, outcome.number, dice)
        said = (PLAYERS[seat], action.index, outcome.number, faces)
        moves.append(
            ToldMove(
                turn,
                seat + 1,
                seats[seat].name,
                action.state.named,
                action.name,
                outcome.ending or ("pass" if outcome.passes else "again"),
                None if after is None else after.named,
                action.reward,
                faces,
                narrator.sentence(*said, points=points[seat]),
            )
        )
        points[seat] += narrator.points_of(action.index)
        seat ^= outcome.passes
        turn += outcome.passes
    return moves


def _played(
    graph: StateGraph, seats: Sequence[Policy], random: np.random.Generator
) -> list[Outcome]:
    """What came of each move of a game."""
    found: list[Outcome] = []
    state, seat = graph.view[0], 0
    for _ in range(MOST_TOLD):
        outcome = state.choose(seats[seat].probability, random).step(random)
        found.append(outcome)
        after = outcome.next_state
        if after is None:
            return found
        seat ^= outcome.passes
        state = after
    raise EndlessPlay(f"{graph.game}: the game goes on for more than {MOST_TOLD:,} moves")
