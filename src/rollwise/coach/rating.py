"""What policies that people know lose in a game: the scale on which a player is rated.

A player's choices lose so much in a game against optimal play (see `rollwise.coach.tally`). Beside
that number stands what a policy loses, found exactly: by rules of thumb, or by play at random.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rollwise.answer.evaluation import evaluate
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.errors import RollwiseError


def policy_losses(solution: Solution, others: Sequence[str] = ()) -> dict[str, float]:
    """What the policies of a game lose in a game against optimal play, and random play.

    Parameters
    ----------
    others : sequence of str, optional
        Other policies, as `rollwise.evaluate` takes them.

    Returns
    -------
    dict of float
        In units of value, the mean over the seats, the least first. A policy that fails, or plays
        for ever, is left out.
    """
    game, start = solution.game, float(solution.values[0])
    found = {}
    for typed in (*({} if game is None else game.policies()), *others, "random"):
        try:
            name = Policies.of(solution).find(typed).name
            if solution.graph.players == 2:
                against = evaluate(solution, typed, "optimal", starts=[0])
                found[name] = -float(against.values[0] + against.values_second[0]) / 2
            else:
                worth = float(evaluate(solution, typed, starts=[0]).values[0])
                found[name] = solution.graph.view.sign * (start - worth)
        except RollwiseError:
            continue
    ending = {name: loss for name, loss in found.items() if math.isfinite(loss)}
    return dict(sorted(ending.items(), key=lambda item: item[1]))
