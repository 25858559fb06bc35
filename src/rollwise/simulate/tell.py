"""One game told move by move."""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_uppercase as LETTERS
from typing import Any

import numpy as np

from rollwise.answer.evaluation import SeatPolicies, one_each
from rollwise.answer.references import AnyPolicy, Policies, Subject, are_policies
from rollwise.errors import EndlessPlay, no_opponent
from rollwise.numbers.randomness import check_seed
from rollwise.words import Narrator

MOST_TOLD = 100_000  # moves


@dataclass(frozen=True)
class ToldMove:
    """A move and its outcome.

    Attributes
    ----------
    turn : int
        From 1.
    seat : int
        1 for the first player, 2 for the next.
    policy : str
    state : dict of int
        From the view of the mover.
    action : str
    outcome : str
        ``again``, ``pass``, ``win``, ``lose``, ``draw`` or ``end``, for the mover. With three or
        more players a win shared by the mover is a draw.
    next_state : dict of int or None
        From the view of the next mover; None if the game is over.
    reward : float
        Points for the action.
    dice : tuple of int
        Their faces, if the rules give the thrown dice.
    text : str
        The move in words; A moved first, the next player is B.
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
    game: Subject,
    policy: AnyPolicy | SeatPolicies,
    against: AnyPolicy | None = None,
    *,
    seed: int,
) -> list[ToldMove]:
    """Play one game of any number of players and narrate it; the first policy moves first.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
        Without its rules the narration uses the names of its fields and actions.
    policy : str, callable or Policy, or a list
        As in `rollwise.evaluate`: of all seats, or one of each in the order of the moves.
    against : optional
        The opponent's policy in a game for two, by default the same one.
    seed : int
        Of NumPy's default generator.

    Raises
    ------
    UsageError
        An opponent in a game that isn't for two, or besides a list; a list with too few policies
        or too many; an invalid seed.
    EndlessPlay
        The game goes on for more than 100,000 moves.
    """
    policies = Policies.of(game, any_players=True)
    graph = policies.graph
    given: list[Any] = list(policy) if are_policies(policy) else [policy]
    if against is not None:
        if graph.players == 1:
            raise no_opponent(graph.game)
        given = [*given, against]
    seats = one_each(graph, [policies.find(one) for one in given])
    random = np.random.default_rng(check_seed(seed))
    (dice,) = random.spawn(1)  # a separate stream: drawing faces must not change the game
    narrator = Narrator(graph, policies.game)
    names, points = LETTERS[: graph.players], [0.0] * graph.players
    moves: list[ToldMove] = []
    state, seat, turn = graph.view[0], 0, 1
    while len(moves) < MOST_TOLD:
        outcome = state.choose(seats[seat].probability, random).step(random)
        action, after = outcome.action, outcome.next_state
        faces = narrator.faces_of(action.index, outcome.number, dice)
        deed = (names[seat], action.index, outcome.number, faces)
        from_here = [*names[seat:], *names[:seat]]
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
                narrator.sentence(*deed, points=points[seat], names=from_here),
            )
        )
        if after is None:
            return moves
        points[seat] += narrator.points_of(action.index)
        seat = (seat + outcome.seats_on) % graph.players
        turn += outcome.passes
        state = after
    raise EndlessPlay(f"{graph.game}: the game goes on for more than {MOST_TOLD:,} moves")
