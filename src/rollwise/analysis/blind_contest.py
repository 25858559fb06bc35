"""A simultaneous contest of two: no player sees the other's score.

Only the distribution of a policy's final scores matters. One distribution beats another with a
certain chance, half of the ties included. This is a symmetric zero-sum game: in equilibrium each
player wins half of the games. The policy of the best mean is no equilibrium, and an equilibrium can
be a mixture. The double oracle algorithm (McMahan, Gordon and Blum 2003) finds one: it solves
the matrix of the policies known so far as a linear program. A best response to the mixture is a
solitaire game, where a score is worth the chance of a worse score of the other. If the response
gains nothing, the mixture is an equilibrium; else it becomes one of the policies. The gain of the
last response is certified, and no policy gains more.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.contest import Aims
from rollwise.analysis.distributions import Distribution
from rollwise.answer.certified import Certified
from rollwise.answer.solve import solve_whole
from rollwise.derive.by_score import ScoredGraph, by_score, require_points
from rollwise.derive.derived_game import whole_graph
from rollwise.game import Game
from rollwise.graph.policies import Policy

Reals = NDArray[np.float64]

LEAST_GAIN = 1e-9  # of a response: with less, the mixture is an equilibrium
LEAST_WEIGHT = 1e-9  # of a policy in the mixture
MOST_ROUNDS = 500


@dataclass(frozen=True, eq=False)
class Part:
    """A policy of the mixture.

    Attributes
    ----------
    weight : float
        Its probability in the mixture.
    policy : Policy
        On the scored graph.
    scores : Distribution
        The distribution of its final scores.
    """

    weight: float
    policy: Policy = field(repr=False)
    scores: Distribution = field(repr=False)


@dataclass(frozen=True, eq=False)
class BlindContest:
    """An equilibrium of a contest of two with hidden scores.

    Attributes
    ----------
    scored : ScoredGraph
    parts : tuple of Part
        The policies of the mixture, the likeliest first.
    gain : float
        Proved upper bound on the gain of any policy against the mixture: win probability above 1/2.
    for_mean : Distribution
        The final scores of a policy of the best mean.
    mean_against : Certified
        Its win probability against the mixture.
    against_mean : Certified
        The win probability of the best response to it.
    rounds : int
        Number of best responses.
    """

    scored: ScoredGraph = field(repr=False)
    parts: tuple[Part, ...]
    gain: float
    for_mean: Distribution = field(repr=False)
    mean_against: Certified
    against_mean: Certified
    rounds: int

    @property
    def mean(self) -> float:
        """The mean score of the mixture."""
        return sum(part.weight * part.scores.mean for part in self.parts)


def solve_blind_contest(game: Game) -> BlindContest:
    """Find an equilibrium.

    Parameters
    ----------
    game : Game
        A solitaire game with points in whole numbers.

    Raises
    ------
    UsageError, RulesError, TooManyStates
        The game has no score, or one without bound, or too many states.
    """
    graph = whole_graph(game, "a contest")
    require_points(graph)
    scored = by_score(graph)
    aims = Aims(scored)
    blind = Policy("best mean", scored.lift(solve_whole(game).policy.probability))
    policies, finals, bounds = (
        [blind],
        *([column] for column in aims.final_scores(aims.distributions(blind))),
    )
    off = float(bounds[0].sum())
    # solve the matrix of the known policies, then look for a better response to the mixture
    for rounds in range(1, MOST_ROUNDS + 1):
        weights = _equilibrium(np.array(finals))
        mixed, mixed_off = weights @ np.array(finals), weights @ np.array(bounds)
        answer = aims.solve(_worth(mixed), np.full(len(mixed), float(mixed_off.sum())))
        # a mixture gets one half against itself, so more than that is the gain of the best response
        gain = float(answer.values[0] + answer.error_bounds[0]) - 0.5
        if rounds == 1:
            against_mean = Certified(float(answer.values[0]), float(answer.error_bounds[0]))
        policy = aims.policy(answer, f"response {rounds}")
        final, final_bounds = aims.final_scores(aims.distributions(policy))
        is_repeated = any(np.abs(final - other).max() <= LEAST_GAIN for other in finals)
        if gain <= LEAST_GAIN or is_repeated:
            break
        policies.append(policy)
        finals.append(final)
        bounds.append(final_bounds)
    chosen = [k for k in np.argsort(-weights) if weights[k] > LEAST_WEIGHT]
    parts = [
        Part(float(weights[k]), policies[k], _distribution(scored, finals[k], bounds[k]))
        for k in chosen
    ]
    mean_wins = float(finals[0] @ _worth(mixed))
    return BlindContest(
        scored,
        tuple(parts),
        gain,
        _distribution(scored, finals[0], bounds[0]),
        Certified(mean_wins, off + float(mixed_off.sum()) + len(mixed) * 2.0**-50),
        against_mean,
        rounds,
    )


def _distribution(scored: ScoredGraph, final: Reals, bounds: Reals) -> Distribution:
    order = np.argsort(scored.scores)
    return Distribution(scored.scores[order], final[order], float(bounds.max()))


def _worth(final: Reals) -> Reals:
    """The value of each score against these: the chance of worse ones, and half of the same."""
    worse: Reals = final.sum() - np.cumsum(final)
    return worse + final / 2


def _equilibrium(finals: Reals) -> Reals:
    """An equilibrium of the matrix game between some policies: the probability of each."""
    from scipy.optimize import linprog

    n = len(finals)
    # row i, column j: how often i beats j, less one half
    wins = finals @ np.array([_worth(final) for final in finals]).T - 0.5
    # the mixture gets at least v against each: maximize v
    solution = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.column_stack([-wins.T, np.ones(n)]),
        b_ub=np.zeros(n),
        A_eq=[np.append(np.ones(n), 0.0)],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
    )
    weights: Reals = np.maximum(solution.x[:n], 0.0)
    return np.asarray(weights / weights.sum())
