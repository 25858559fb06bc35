"""Steps a second of environments on Pig, one core, beside OpenSpiel's Python states.

Writes benchmarks/environments.md.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np

from rollwise.environments.vector import GameVectorEnv
from rollwise.games.pig import Pig

STEPS = 4_000_000
GAMES = 4096


def vectorised() -> float:
    """Steps a second against hold-at-20, whose moves aren't counted."""
    env = GameVectorEnv("pig", num_envs=GAMES, opponent="hold-at-20", copy=False)
    table = (env.graph.states[:, 2] >= 20).astype(np.int64)
    _, infos = env.reset(seed=1)
    for _ in range(20):
        infos = env.step(table[infos["state"]])[4]
    started = time.process_time()
    for _ in range(STEPS // GAMES):
        infos = env.step(table[infos["state"]])[4]
    return STEPS // GAMES * GAMES / (time.process_time() - started)


def open_spiel(steps: int = 20_000) -> float:
    """Moves a second of OpenSpiel playing the same game, both players holding at 20."""
    import pyspiel

    from rollwise.export.open_spiel import register

    game = pyspiel.load_game(register(Pig()))
    random = np.random.default_rng(1)
    done = 0
    started = time.process_time()
    while done < steps:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes = state.chance_outcomes()
                state.apply_action(outcomes[int(random.integers(len(outcomes)))][0])
                continue
            hold = 1 in state.legal_actions() and state.state_of_rollwise()[2] >= 20
            state.apply_action(int(hold))
            done += 1
    return done / (time.process_time() - started)


def main() -> None:
    fast = [vectorised() / 1e6 for _ in range(5)]
    slow = open_spiel() / 1e6
    middle = statistics.median(fast)
    text = f"""# Environments

Written by benchmarks/environments.py; not to be edited by hand.

{date.today()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()},
numba {version("numba")}, gymnasium {version("gymnasium")}, open_spiel {version("open_spiel")}.

Pig to 100, processor time of one core, millions a second.

| loop | a second | |
|---|---|---|
| rollwise, {GAMES:,} games at once | {middle:.2f} | {min(fast):.2f} to {max(fast):.2f} |
| OpenSpiel's Python states | {slow:.4f} | {middle / slow:.0f} times slower |

The opponent, hold-at-20, moves within a step, and its moves aren't counted. Median of 5 runs.
"""
    (Path(__file__).parent / "environments.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
