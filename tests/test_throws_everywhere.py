"""Every room of rollwise takes games that throw first and choose then."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from throwing import OrderedDice, Runners, TwoBoxes

import rollwise
from rollwise.derive.changed import throws_as_fields
from rollwise.graph import NO_THROW

HERE = Path(__file__).parent
RACE, BOXES = f"{HERE / 'throwing.py'}:Runners", f"{HERE / 'throwing.py'}:TwoBoxes"


@pytest.mark.parametrize("game", [Runners(3), TwoBoxes(), OrderedDice()], ids=str)
def test_as_a_game_without_throws(game):
    graph = rollwise.build(game)
    plain = throws_as_fields(graph)
    assert not plain.throw_names
    assert plain.n_states == len(plain.positions) == len(plain.states) == graph.n_states
    assert plain.action_label.min() >= 0
    assert not np.any(plain.states == NO_THROW)
    assert len(np.unique(plain.states, axis=0)) == graph.n_states
    for s in (0, graph.n_states - 1):
        assert len(plain.view[s].actions) == len(graph.view[s].actions)
    assert throws_as_fields(plain) is plain


@pytest.mark.parametrize(("game", "seat"), [(Runners(3), "second"), (OrderedDice(), "first")])
def test_what_agents_get_is_what_the_game_is_worth(game, seat):
    """Summed over the exact transitions, and played thousands of times."""
    from rollwise.environments import mean_reward
    from rollwise.environments.single import GameEnv
    from rollwise.environments.vector import GameVectorEnv

    env = GameEnv(game, seat=seat)
    solution = rollwise.solve(game)
    values = np.zeros(len(env.P))
    for _ in range(200):
        before = values.copy()
        for s in range(len(env.P) - 1):
            values[s] = max(
                sum(p * (reward + values[t]) for p, t, reward, _ in rows)
                for rank, rows in env.P[s].items()
                if env.arena.action_of[s, rank] >= 0
            )
        if np.abs(values - before).max() < 1e-13:
            break
    worth = solution.value if seat == "first" else -solution.value
    assert env.initial_state_distrib @ values == pytest.approx(worth, abs=1e-9)
    assert mean_reward(env).value == pytest.approx(worth, abs=1e-9)

    many = GameVectorEnv(game, num_envs=3000, seat=seat)
    _, about = many.reset(seed=5)
    total, over = np.zeros(3000), np.zeros(3000, np.bool_)
    chances = np.append(solution.policy.probability, np.ones(len(env.arena.early_payoffs)))
    best = (np.where(env.arena.action_of >= 0, chances[env.arena.action_of], 0)).argmax(axis=1)
    while not over.all():
        _, reward, ended, _, about = many.step(np.where(over, 0, best[about["state"]]))
        total += np.where(over, 0.0, reward)
        over |= ended
    assert abs(total.mean() - worth) < 5 * total.std() / np.sqrt(3000)
