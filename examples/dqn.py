"""Train a network by deep Q-learning, in self-play, and write its Q-values for `rollwise certify`.

    python examples/dqn.py pig target=20 --steps 40000 --out q.npy
    rollwise certify pig target=20 --policy q.npy

Mnih et al. (2015), "Human-level control through deep reinforcement learning": a replay memory, a
target network and actions at random. The network has one hidden layer, in NumPy. Its input has a
one for each value of each field.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import rollwise
from rollwise.games import create, find

HIDDEN, BATCH, MEMORY, COPY_EVERY, RATE = 64, 32, 20_000, 500, 1e-3


class Network:
    """Q-values of all actions for rows of inputs, fitted with Adam."""

    def __init__(self, inputs: int, outputs: int, random: np.random.Generator) -> None:
        self.weights = [
            random.normal(0, np.sqrt(2 / inputs), (inputs, HIDDEN)),
            np.zeros(HIDDEN),
            random.normal(0, np.sqrt(1 / HIDDEN), (HIDDEN, outputs)),
            np.zeros(outputs),
        ]
        self.moments = [(np.zeros_like(w), np.zeros_like(w)) for w in self.weights]
        self.steps = 0

    def __call__(self, rows: Any, weights: Any = None) -> Any:
        w1, b1, w2, b2 = weights or self.weights
        return np.maximum(rows @ w1 + b1, 0) @ w2 + b2

    def fit(self, rows: Any, actions: Any, goals: Any) -> None:
        """One step of Adam on the squared error of the chosen actions, cut off at 1."""
        w1, b1, w2, b2 = self.weights
        hidden = np.maximum(rows @ w1 + b1, 0)
        places = np.arange(len(rows)), actions
        error = np.zeros((len(rows), len(b2)))
        error[places] = np.clip((hidden @ w2 + b2)[places] - goals, -1, 1) / len(rows)
        back = (error @ w2.T) * (hidden > 0)
        slopes = [rows.T @ back, back.sum(0), hidden.T @ error, error.sum(0)]
        self.steps += 1
        for weight, slope, (mean, square) in zip(self.weights, slopes, self.moments, strict=True):
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            fair = np.sqrt(square / (1 - 0.999**self.steps)) + 1e-8
            weight -= RATE * mean / (1 - 0.9**self.steps) / fair


def train(graph: Any, steps: int, seed: int) -> Any:
    """The Q-values of the network: a row for each state, a column for each action."""
    random, view = np.random.default_rng(seed), graph.view
    fields = [np.unique(column, return_inverse=True)[1] for column in graph.states.T]
    inputs = np.hstack([np.eye(codes.max() + 1)[codes] for codes in fields])
    shut = np.full((len(view), 1 + max(a.label for s in view for a in s.actions)), -np.inf)
    for state in view:
        shut[state.index, state.labels] = 0.0
    network = Network(inputs.shape[1], shut.shape[1], random)
    target = [w.copy() for w in network.weights]
    memory: list[tuple[int, int, float, int, float]] = []
    state = view[0]
    for step in range(steps):
        values = network(inputs[state.index]) + shut[state.index]
        explores = random.random() < max(0.1, 1 - 2 * step / steps)
        label = random.choice(state.labels) if explores else int(values.argmax())
        action = state.find_action(int(label))
        outcome = action.step(random)
        reward = view.sign * (action.reward + (outcome.payoff if outcome.is_over else 0.0))
        following = None if outcome.is_over else outcome.next_state
        # the value ahead is the opponent's after a pass, and none after the end
        share = 0.0 if following is None else -1.0 if outcome.passes else 1.0
        known = state.index, int(label), reward, following.index if following else 0, share
        if len(memory) < MEMORY:
            memory.append(known)
        else:
            memory[step % MEMORY] = known
        state = view[0] if following is None else following
        if step >= BATCH:
            batch = [memory[k] for k in random.integers(len(memory), size=BATCH)]
            at, chosen, rewards, ahead, shares = map(np.array, zip(*batch, strict=True))
            best = (network(inputs[ahead], target) + shut[ahead]).max(axis=1)
            network.fit(inputs[at], chosen, rewards + shares * best)
        if step % COPY_EVERY == 0:
            target = [w.copy() for w in network.weights]
    return view.sign * network(inputs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game")
    parser.add_argument("values", nargs="*", metavar="NAME=VALUE")
    parser.add_argument("--steps", type=int, default=40_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="q.npy")
    given = parser.parse_args()
    values = dict(value.split("=", 1) for value in given.values)
    graph = rollwise.build(create(find(given.game), values))
    np.save(given.out, train(graph, given.steps, given.seed))


if __name__ == "__main__":
    main()
