"""Agents as policies on the graph, with their exact mean rewards, without playing games.

An agent is any function from observations and masks to actions. Its answers in all
states are a `Policy`. All computations for policies then apply to it: value,
best response, mistakes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import solve_and_certify
from rollwise.answer.evaluation import Evaluation, best_response, evaluate
from rollwise.environments.arena import Arena
from rollwise.errors import PolicyError, UsageError
from rollwise.graph.choices import has_choice
from rollwise.graph.policies import Policy
from rollwise.kernels.environment import EITHER, FIRST

BATCH = 1 << 16  # states that an agent is asked about at once

Choose = Callable[[NDArray[np.int32], NDArray[np.bool_]], Any]


class MeanReward(NamedTuple):
    """The mean reward of a game, and a certified error bound."""

    value: float
    bound: float


def policy_of(env: Any, choose: Choose | NDArray[Any], name: str = "agent") -> Policy:
    """The policy of an agent.

    Parameters
    ----------
    env : an environment of rollwise, or one wrapped by others
    choose : callable or array
        Called as ``choose(observations, masks)``, with (n, n_fields) int32 and
        (n, n_ranks) bool. It returns the agent's choice in each of these states: ranks
        of actions, (n,), or probabilities, (n, n_ranks). Or a table of the same,
        by ``info["state"]``. It isn't called for states with one legal action.
    name : str

    Returns
    -------
    Policy
        On ``env.unwrapped.graph``.

    Raises
    ------
    PolicyError
        It chooses an illegal action; names the state.
    """
    arena: Arena = env.unwrapped.arena
    graph = arena.graph
    probability = np.ones(graph.n_actions)
    asked = np.flatnonzero(has_choice(graph))
    # some thousand states at a time, for agents that take arrays
    for begin in range(0, len(asked), BATCH):
        states = asked[begin : begin + BATCH]
        masks = arena.masks[states].astype(np.bool_)
        answer = choose(graph.rows[states], masks) if callable(choose) else choose[states]
        chances = _chances(answer, masks.shape)
        wrong = (chances < 0) | ~np.isfinite(chances) | ((chances > 0) & ~masks)
        for row in np.flatnonzero(wrong.any(axis=1) | ~(chances.sum(axis=1) > 0))[:1]:
            here = graph.view[states[row]]
            raise PolicyError(
                f"{graph.game}: {name} chooses {chances[row].tolist()} (by rank) in the state "
                f"{here}, where the legal actions are "
                f"{', '.join(action.name for action in here.actions)}"
            )
        chances /= chances.sum(axis=1, keepdims=True)
        # both sides go through the legal ranks of each state in the same order
        probability[arena.action_of[states][masks]] = chances[masks]
    return Policy(name, probability)


def _chances(answer: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Probability of each rank in each state, from an agent's answer."""
    given = np.asarray(answer)
    if given.shape == shape:
        return given.astype(np.float64)
    whole = given.shape == shape[:1] and given.dtype.kind in "iu"
    if not whole or given.min() < 0 or given.max() >= shape[1]:
        raise PolicyError(
            f"an agent gives ranks, {shape[:1]} whole numbers from 0 to {shape[1] - 1}, or the "
            f"chance of each, {shape}; this one gave {given.dtype} {given.shape}"
        )
    chances = np.zeros(shape)
    chances[np.arange(len(given)), given] = 1.0
    return chances


def mean_reward(env: Any, policy: Policy | None = None) -> MeanReward:
    """Exact mean reward per game of an agent in an environment.

    Parameters
    ----------
    env : GameEnv or GameVectorEnv, or one wrapped by others
    policy : Policy, optional
        On ``env.unwrapped.graph``, as from `policy_of`. By default a best response to the
        opponent, the maximum for any agent.

    Raises
    ------
    UsageError
        The environment has two players, but no opponent.
    EndlessPlay
        The policies can play forever.
    """
    arena: Arena = env.unwrapped.arena
    graph = arena.graph
    if graph.players == 1:
        if policy is None:
            solved, certificate, _ = solve_and_certify(graph)
            values, bounds = solved.values, certificate.bounds
        else:
            alone = evaluate(graph, policy, starts=[0])
            assert alone.bounds is not None
            values, bounds = alone.values, alone.bounds
        return MeanReward(arena.reward_sign * float(values[0]), float(bounds[0]))
    if arena.opponent is None:
        raise UsageError(
            f"{graph.title}: both seats are agents here; use rollwise.answer.evaluation"
        )
    answer: Evaluation
    if policy is None:
        answer = best_response(graph, arena.opponent, starts=[0])
    else:
        answer = evaluate(graph, policy, arena.opponent, starts=[0])
    assert answer.bounds is not None
    assert answer.bounds_second is not None
    first = MeanReward(float(answer.values[0]), float(answer.bounds[0]))
    second = MeanReward(float(answer.values_second[0]), float(answer.bounds_second[0]))
    if env.unwrapped.seat != EITHER:
        return first if env.unwrapped.seat == FIRST else second
    rounding = 2.0**-52
    return MeanReward((first.value + second.value) / 2, (first.bound + second.bound) / 2 + rounding)
