"""What agents get: the mean reward of optimal play is the game's value, in every seat.

Exactly, summed over the transition tables; and in games played, within four standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from little_games import RandomTable
from scipy.sparse import csc_matrix, identity
from scipy.sparse.linalg import spsolve

pytest.importorskip("pettingzoo")

from rollwise import AGAIN, DRAW, LOSE, PASS, WIN, Game
from rollwise.answer.solution import Solution
from rollwise.answer.solve import solve
from rollwise.environments.agents import mean_reward
from rollwise.environments.arena import Arena
from rollwise.environments.single import GameEnv
from rollwise.environments.vector import GameVectorEnv
from rollwise.errors import EndlessPlay, UsageError
from rollwise.games.craps import Craps
from rollwise.games.hare_and_tortoise import HareAndTortoise
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.threes import Threes
from rollwise.games.yahtzee import Yahtzee
from rollwise.graph.policies import Policy
from rollwise.machine.switches import jit_disabled

SEATS = ("first", "second", "either")


class Step(NamedTuple):
    place: int


@dataclass(frozen=True)
class Sudden(Game):
    """The first turn ends the game before the second player has moved, in any of three ways."""

    goes_on: int = 1

    def start(self):
        return Step(0)

    def actions(self, s):
        yield 3  # numbers of actions that aren't ranks
        yield 5

    def outcomes(self, s, action):
        yield 2 if action == 3 else 3, WIN, s
        yield 1, DRAW, s
        yield 1 if s.place < 2 else 7, LOSE, s
        if s.place < 2:
            yield 2, AGAIN, Step(s.place + 1)
            if self.goes_on:
                yield self.goes_on, PASS, Step(s.place + 1)


KINDS: list[Game] = [
    Pig(12),
    Threes(dice=2),
    Threes(dice=2).contest(),
    HareAndTortoise(steps=4),
    RoyalUr(pieces=1),
    Yahtzee(boxes=1),
    Craps(),
    Sudden(),
    Sudden(goes_on=0),
]


@lru_cache
def optimum(game: Game) -> Solution:
    return solve(game)


def certified(solution: Solution, seat: str) -> float:
    """What the solution says that an agent gets by optimal play against optimal play."""
    value = float(solution.values[0])
    if solution.graph.players == 1:
        return -value if solution.graph.objective == "minimize" else value
    return {"first": value, "second": -value, "either": 0.0}[seat]


def ranks(arena: Arena, policy: Policy) -> np.ndarray:
    """The rank that a policy takes in each state of an environment."""
    taken = np.flatnonzero(policy.probability == 1.0)
    actions = np.zeros(arena.n_states, np.int64)
    actions[arena.graph.action_state[taken]] = np.searchsorted(
        arena.labels, arena.graph.action_label[taken]
    )
    return actions


def exact_mean(env: GameEnv, table: np.ndarray) -> float:
    """The expected reward of taking table[state], from P and nothing else."""
    p, start = env.P, env.initial_state_distrib
    assert start.sum() == pytest.approx(1, abs=1e-12)
    assert len(start) == len(p)
    place = {int(s): i for i, s in enumerate(np.flatnonzero(start))}
    queue, cells, reward = list(place), [], []
    for s in queue:
        rows = p[s][int(table[s])]
        reward.append(sum(chance * points for chance, _, points, _ in rows))
        for chance, t, _, over in rows:
            if over:
                continue
            if t not in place:
                place[t] = len(place)
                queue.append(t)
            cells.append((place[s], place[t], chance))
    n = len(queue)
    i, j, chance = np.array(cells or [(0, 0, 0.0)]).T
    matrix = csc_matrix((chance, (i.astype(int), j.astype(int))), shape=(n, n))
    values = np.atleast_1d(spsolve((identity(n) - matrix).tocsc(), np.array(reward)))
    return float(start[np.array(queue)] @ values)


def assert_near(returns: np.ndarray, value: float) -> None:
    error = returns.std(ddof=1) / len(returns) ** 0.5
    assert abs(returns.mean() - value) <= 4 * error + 1e-12


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("game", KINDS)
def test_exactly(game, seat):
    env, solution = GameEnv(game, seat=seat), optimum(game)
    best = ranks(env.arena, solution.policy)
    value = certified(solution, seat)
    assert exact_mean(env, best) == pytest.approx(value, rel=1e-9, abs=1e-9)
    for policy in (None, solution.policy):
        told = mean_reward(env, policy)
        assert abs(told.value - value) <= told.bound + solution.error_bound + 1e-15


@given(seed=st.integers(0, 10_000), seat=st.sampled_from(SEATS))
def test_exactly_for_any_rules(seed, seat):
    game = RandomTable(seed=seed)
    try:
        solution = solve(game)
    except EndlessPlay:
        return
    env = GameEnv(game, seat=seat)
    found = exact_mean(env, ranks(env.arena, solution.policy))
    assert found == pytest.approx(certified(solution, seat), abs=1e-9)


def play_vector(env, table: np.ndarray) -> np.ndarray:
    """The return of each game, the first of its environment."""
    _, info = env.reset(seed=11)
    returns, over = np.zeros(env.num_envs), np.zeros(env.num_envs, bool)
    while not over.all():
        _, reward, ended, truncated, info = env.step(table[info["state"]])
        assert not truncated.any()
        returns += np.where(over, 0.0, reward)
        over |= ended
    return returns


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("game", KINDS)
def test_in_many_games_at_once(game, seat):
    env = GameVectorEnv(game, 100 if jit_disabled() else 20_000, seat=seat)
    solution = optimum(game)
    returns = play_vector(env, ranks(env.arena, solution.policy))
    assert_near(returns, certified(solution, seat))


def test_a_game_that_ends_before_the_agent_moves_is_seen_to_its_end():
    env = GameEnv(Sudden(goes_on=0), seat="second", render_mode="ansi", illegal_reward=-3.0)
    n = env.graph.n_states
    assert len(env.P) == n + 4
    assert env.arena.early_payoffs.tolist() == [1.0, 0.0, -1.0]
    lowest = env.graph.states.min(axis=0)
    seen = set()
    for seed in range(30):
        observation, info = env.reset(seed=seed)
        assert env.observation_space.contains(observation)
        payoff = env.arena.early_payoffs[info["state"] - n]
        assert (observation < lowest).all()
        assert info["action_mask"].tolist() == [1, 0] == env.action_masks().tolist()
        assert env.render().startswith("opponent ")
        assert f"over before the agent has moved: any action collects {payoff:+g}" in env.render()
        row = env.P[info["state"]]
        assert row == {0: [(1.0, n + 3, payoff, True)], 1: [(1.0, info["state"], -3.0, False)]}
        again, reward, over, _, _ = env.step(1)
        assert (again == observation).all()
        assert (reward, over) == (-3.0, False)
        _, reward, over, truncated, info = env.step(0)
        assert (reward, over, truncated) == (payoff, True, False)
        with pytest.raises(UsageError, match="the game is over"):
            env.step(0)
        seen.add(payoff)
    assert seen == {1.0, 0.0, -1.0}
    several = GameVectorEnv(Sudden(goes_on=0), 50, seat="second", illegal_reward=-3.0)
    observations, info = several.reset(seed=1)
    assert (observations < lowest).all()
    assert (info["state"] >= n).all()
    assert info["action_mask"].tolist() == [[1, 0]] * 50
    assert several.step(np.ones(50, np.int64))[1].tolist() == [-3.0] * 50
    _, rewards, over, _, info = several.step(np.zeros(50, np.int64))
    assert over.all()
    assert (rewards == several.arena.early_payoffs[info["state"] - n]).all()
    assert not info["action_mask"].any()
