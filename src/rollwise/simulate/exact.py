"""Certified results and lengths of games between policies.

The expected number of moves is the score of a solitaire game with one point for every move;
the throw before a choice is no move. The expected number of turns is the score with the
probability of passing as the points of a move. The solver and the certificate therefore
apply to lengths too.
"""

from __future__ import annotations

import numpy as np

from rollwise.answer.certified import Certified, solve_and_certify
from rollwise.answer.evaluation import Evaluation
from rollwise.derive.seats import take_seats
from rollwise.errors import EndlessPlay
from rollwise.graph import StateGraph
from rollwise.graph.choices import chance_to_pass, is_throw, summed
from rollwise.graph.endings import ways_out
from rollwise.graph.policies import Policy


def certified_at(evaluation: Evaluation, state: int = 0) -> tuple[Certified, Certified]:
    """The values of a policy from a state, moving first and moving second.

    Raises
    ------
    EndlessPlay
        The evaluation has no bounds.
    """
    if evaluation.bounds is None or evaluation.bounds_second is None:
        raise EndlessPlay("the evaluation isn't certified")
    return (
        Certified(float(evaluation.values[state]), float(evaluation.bounds[state])),
        Certified(float(evaluation.values_second[state]), float(evaluation.bounds_second[state])),
    )


def over_the_seats(evaluation: Evaluation, *, is_score: bool) -> Certified:
    """The result of a policy of two players from the start, mean over the seats."""
    first, second = certified_at(evaluation)
    mean = Certified((first.value + second.value) / 2, max(first.bound, second.bound))
    return mean.shown(is_score=is_score)


def require_end(chain: StateGraph, fault: str = "these policies never end the play") -> None:
    """Check that play may end from each state reached by the policies.

    Parameters
    ----------
    chain : StateGraph
        Play with one action a state.
    fault : str
        The message but for the position.

    Raises
    ------
    EndlessPlay
    """
    lost = np.flatnonzero(ways_out(chain, np.ones(chain.n_actions, np.bool_)) < 0)
    if len(lost):
        raise EndlessPlay(f"{chain.game}: {fault} from {chain.state_text(int(lost[0]))}")


def expected_lengths(
    graph: StateGraph, policy: Policy, against: Policy | None = None
) -> list[tuple[Certified, Certified]]:
    """Expected turns and moves of a game from the start, by the policy that moves first.

    Parameters
    ----------
    graph : StateGraph
    policy : Policy
    against : Policy, optional
        The opponent's policy, by default the same one.

    Returns
    -------
    list of (turns, moves)
        One pair, or two with an opponent: the policy moves first, the opponent does.

    Raises
    ------
    EndlessPlay
        The policies can go round for ever.
    """
    policies = [policy] if against is None else [policy, against]
    played = take_seats(graph, policies, [0]).graph
    require_end(played)
    # a move counts as a turn by its chance to pass
    turns, moves = (
        solve_and_certify(summed(played, amounts))
        for amounts in (chance_to_pass(played), (~is_throw(played)).astype(np.float64))
    )
    lengths = []
    for s in range(played.n_roots):
        passed, moved = turns.at(s), moves.at(s)
        # The chance to pass is rounded once a move; the first turn passes nowhere.
        off = passed.bound + 2.0**-52 * abs(moved.value) + 2.0**-52
        lengths.append((Certified(1 + passed.value, off), moved))
    return lengths
