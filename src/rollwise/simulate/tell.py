"""One game told move by move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rollwise.answer.references import AnyPolicy, Policies, Subject
from rollwise.errors import EndlessPlay, no_opponent
from rollwise.graph import Outcome, StateGraph
from rollwise.graph.policies import Policy
from rollwise.numbers.randomness import check_seed
from rollwise.words import Narrator

MOST_TOLD = 100_000  # moves
PLAYERS = ("A", "B")


@dataclass(frozen=True)
class ToldMove:
    """A move and its outcome.

    Attributes
    ----------
    turn : int
        From 1.
    seat : int
        1 for the first player, 2 for the other.
    policy : str
    state : dict of int
        From the view of the mover.
    action : str
    outcome : str
        ``again``, ``pass``, ``win``, ``lose``, ``draw`` or ``end``, for the mover.
    next_state : dict of int or None
        From the view of the next mover; None if the game is over.
    reward : float
        Points for the action.
    dice : tuple of int
        Their faces, if the rules give the thrown dice.
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
    """Play one game and narrate it; the first policy moves first.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
        Without its rules the narration uses the names of its fields and actions.
    policy : str, callable or Policy
        As in `rollwise.evaluate`.
    against : optional
        The opponent's policy, by default the same one.
    seed : int
        Of NumPy's default generator.

    Raises
    ------
    UsageError
        An opponent in a solitaire game; an invalid seed.
    EndlessPlay
        The game goes on for more than 100,000 moves.
    """
    policies = Policies.of(game)
    graph, mine = policies.graph, policies.find(policy)
    if against is not None and graph.players != 2:
        raise no_opponent(graph.game)
    seats = (mine, mine if against is None else policies.find(against))
    random = np.random.default_rng(check_seed(seed))
    (dice,) = random.spawn(1)  # a separate stream: drawing faces must not change the game
    narrator = Narrator(graph, policies.game)
    points = [0.0, 0.0]
    moves: list[ToldMove] = []
    seat, turn = 0, 1
    for outcome in _played(graph, seats, random):
        action, after = outcome.action, outcome.next_state
        faces = narrator.faces_of(action.index, outcome.number, dice)
        deed = (PLAYERS[seat], action.index, outcome.number, faces)
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
                narrator.sentence(*deed, points=points[seat]),
            )
        )
        points[seat] += narrator.points_of(action.index)
        seat ^= outcome.passes
        turn += outcome.passes
    return moves


def _played(
    graph: StateGraph, seats: Sequence[Policy], random: np.random.Generator
) -> list[Outcome]:
    """The outcome of each move of a game."""
    outcomes: list[Outcome] = []
    state, seat = graph.view[0], 0
    for _ in range(MOST_TOLD):
        outcome = state.choose(seats[seat].probability, random).step(random)
        outcomes.append(outcome)
        after = outcome.next_state
        if after is None:
            return outcomes
        seat ^= outcome.passes
        state = after
    raise EndlessPlay(f"{graph.game}: the game goes on for more than {MOST_TOLD:,} moves")
