"""Train two learners on Pig and write down what they got, and what they are worth exactly.

MaskablePPO (Schulman et al. 2017, Huang and Ontañón 2022) and tabular Q-learning
(Watkins and Dayan 1992) take the second seat of Pig against the optimal player. At
each checkpoint stand the mean reward of the games that were played since the last
one (estimated), and what the learner's greedy policy is worth (exact).

PyTorch and sb3-contrib are needed for this alone, so they are no extra of rollwise. In a virtual
environment of their own:

    python -m venv learners
    learners/bin/pip install torch sb3-contrib ".[rl]"
    learners/bin/python docs/learners/train.py --target 20 --seeds 1 2 3
    learners/bin/python docs/learners/train.py --target 50 --seeds 1

write ``pig-20.json`` and ``pig-50.json`` beside this file, of which ``learners.py`` makes the page.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable, Iterator
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from rollwise.environments import GameEnv, mean_reward, policy_of

STEPS, CHECKPOINTS = 24_576, 12
EXPLORE = 0.1  # of Q-learning: how often it takes any action
HERE = Path(__file__).parent

Checkpoint = dict[str, float]


class Returns(gymnasium.Wrapper):
    """Writes down what the agent gets in each game."""

    def __init__(self, env: gymnasium.Env) -> None:
        super().__init__(env)
        self.returns: list[float] = []
        self.running = 0.0

    def step(self, action: Any) -> Any:
        answer = self.env.step(action)
        self.running += float(answer[1])
        if answer[2]:
            self.returns.append(self.running)
            self.running = 0.0
        return answer

    def action_masks(self) -> Any:
        return self.env.unwrapped.action_masks()

    def checkpoint(self, steps: int, choose: Any) -> Checkpoint:
        """What was got since the last one, and what the agent is worth now."""
        got, self.returns = np.array(self.returns), []
        exact = mean_reward(self, policy_of(self, choose))
        return {
            "steps": steps,
            "games": len(got),
            "reward": float(got.mean()) if len(got) else 0.0,
            "standard_error": float(got.std(ddof=1) / len(got) ** 0.5) if len(got) > 1 else 0.0,
            "exact": exact.value,
            "bound": exact.bound,
        }


def maskable_ppo(env: Returns, seed: int) -> Iterator[Checkpoint]:
    """Proximal policy optimization that takes only legal actions; settings of sb3-contrib."""
    from sb3_contrib import MaskablePPO

    every = STEPS // CHECKPOINTS
    model = MaskablePPO("MlpPolicy", env, n_steps=every, seed=seed, device="cpu")

    def greedy(observations: Any, masks: Any) -> Any:
        return model.predict(observations, action_masks=masks, deterministic=True)[0]

    yield env.checkpoint(0, greedy)
    for number in range(1, CHECKPOINTS + 1):
        model.learn(every, reset_num_timesteps=number == 1)
        yield env.checkpoint(number * every, greedy)


def q_learning(env: Returns, seed: int) -> Iterator[Checkpoint]:
    """A table of values by state and action, each moved by n**-0.7 on its n-th visit."""
    random = np.random.default_rng(seed)
    masks = env.unwrapped.arena.masks == 1
    value, visits = np.where(masks, 0.0, -np.inf), np.zeros(masks.shape)
    yield env.checkpoint(0, value.argmax(axis=1))
    state = env.reset(seed=seed)[1]["state"]
    for step in range(1, STEPS + 1):
        action = int(value[state].argmax())
        if random.random() < EXPLORE:
            action = int(random.choice(np.flatnonzero(masks[state])))
        _, reward, over, _, info = env.step(action)
        after = info["state"]
        goal = reward + (0.0 if over else value[after].max())
        visits[state, action] += 1
        value[state, action] += (goal - value[state, action]) / visits[state, action] ** 0.7
        state = env.reset()[1]["state"] if over else after
        if step % (STEPS // CHECKPOINTS) == 0:
            yield env.checkpoint(step, value.argmax(axis=1))


LEARNERS: dict[str, Callable[[Returns, int], Iterator[Checkpoint]]] = {
    "MaskablePPO": maskable_ppo,
    "Q-learning": q_learning,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", type=int, default=20)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    given = parser.parse_args()

    import torch

    torch.set_num_threads(1)
    game = {"game": "pig", "target": given.target, "opponent": "optimal", "seat": "second"}
    best = mean_reward(GameEnv(**game))
    runs = []
    for name, learn in LEARNERS.items():
        for seed in given.seeds:
            checkpoints = list(learn(Returns(GameEnv(**game)), seed))
            runs.append({"learner": name, "seed": seed, "checkpoints": checkpoints})
            loss = best.value - checkpoints[-1]["exact"]
            print(f"{name}, seed {seed}: exact loss {loss:.4f}", flush=True)
    libraries = ("torch", "sb3-contrib", "gymnasium", "numpy", "rollwise")
    seeds = " ".join(map(str, given.seeds))
    document = {
        "command": f"python docs/learners/train.py --target {given.target} --seeds {seeds}",
        "date": date.today().isoformat(),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, one core",
        "versions": {library: version(library) for library in libraries},
        "environment": game,
        "best": {"value": best.value, "bound": best.bound},
        "runs": runs,
    }
    file = HERE / f"pig-{given.target}.json"
    file.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    print(file)


if __name__ == "__main__":
    main()
