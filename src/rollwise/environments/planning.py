"""The exact transition table of an environment, with the opponent's turns summed out.

Between two moves of the agent the opponent moves, perhaps many times. The opponent's
turn is an absorbing Markov chain on the opponent's states. Let Q be the transitions among
them and R those out of them. From a state e, the probabilities of the agent's next states are row
e of (I − Q)⁻¹ R (Kemeny and Snell 1960, theorem 3.3.7). The same matrix gives the opponent's
expected gain on the way to each of them. If the agent throws before a choice, each throw
is one of the agent's states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rollwise.environments.arena import Arena
from rollwise.graph import Action
from rollwise.kernels.environment import EITHER, FIRST

Row = tuple[float, int, float, bool]
# Probability of a destination, and this times the agent's mean gain on the way.
Reached = tuple[float, float]


class Transitions(Mapping[int, dict[int, list[Row]]]):
    """``P[state][action]`` is a list of ``(probability, next state, reward, terminated)``.

    Rows are computed on demand. The states are those of the arena, followed by
    the end.
    """

    def __init__(self, arena: Arena, illegal_reward: float) -> None:
        self.arena = arena
        self.illegal_reward = illegal_reward
        self.over = arena.n_states
        # An end is a key below all states: -1 minus the index of the payoff among these.
        ends = arena.graph.ending_payoffs
        self._payoffs = np.unique(np.concatenate([ends, -ends]))
        self._turns: dict[int, dict[int, Reached]] = {}

    @classmethod
    def of(cls, arena: Arena, illegal_reward: float) -> Transitions:
        """The table of an arena, kept."""
        return _kept(arena, illegal_reward)

    def __len__(self) -> int:
        return self.over + 1

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.over + 1))

    def __getitem__(self, state: int) -> dict[int, list[Row]]:
        if not 0 <= state <= self.over:
            raise KeyError(state)
        ranks = range(len(self.arena.labels))
        if state == self.over:
            return {rank: [(1.0, self.over, 0.0, True)] for rank in ranks}
        return {rank: self._row(state, int(self.arena.action_of[state, rank])) for rank in ranks}

    def beginning(self, seat: int) -> NDArray[np.float64]:
        """The probability of each state at the agent's first move: (n_states + 1,)."""
        first = {FIRST: 1.0, EITHER: 0.5}.get(seat, 0.0)
        start = np.zeros(len(self))
        for t, share in self._thrown(0):
            start[t] += first * share
        if first < 1.0:
            for t, (p, _) in self.turn(0).items():
                state = t if t >= 0 else self.arena.early_state(self._payoff(t))
                start[state] += (1.0 - first) * p
        return start

    def _payoff(self, end: int) -> float:
        """The agent's payoff at an end."""
        return float(self._payoffs[-1 - end])

    def _row(self, state: int, action: int) -> list[Row]:
        if action < 0:
            return [(1.0, state, float(self.illegal_reward), False)]
        graph = self.arena.graph
        if action >= graph.n_actions:
            payoff = float(self.arena.early_payoffs[action - graph.n_actions])
            return [(1.0, self.over, payoff, True)]
        points = self.arena.reward_sign * graph.view.action(action).reward
        total: dict[int, float] = {}
        gains: dict[int, float] = {}
        for t, passes, p in self._moves(graph.view.action(action)):
            if not passes:
                for thrown, share in self._thrown(t):
                    total[thrown] = total.get(thrown, 0.0) + p * share
                continue
            for end, (q, gain) in self.turn(t).items():
                total[end] = total.get(end, 0.0) + p * q
                gains[end] = gains.get(end, 0.0) + p * gain
        rows = []
        for t, p in total.items():
            reward = points + gains.get(t, 0.0) / p + (self._payoff(t) if t < 0 else 0.0)
            rows.append((p, self.over if t < 0 else t, reward, t < 0))
        return rows

    def _moves(self, action: Action) -> list[tuple[int, bool, float]]:
        """Successors of an action: state or end for the mover, whether it passes, probability."""
        return [
            (
                -1 - int(np.searchsorted(self._payoffs, way.payoff)) if way.is_over else way.target,
                way.passes,
                chance,
            )
            for way, chance in zip(action.outcomes, action.chances, strict=True)
        ]

    def turn(self, entry: int) -> dict[int, Reached]:
        """The destinations of the opponent's turn from `entry`, with probabilities and gains."""
        if entry not in self._turns:
            self._turns[entry] = self._absorb(entry)
        return self._turns[entry]

    def _absorb(self, entry: int) -> dict[int, Reached]:
        graph, opponent = self.arena.graph, self.arena.opponent
        assert opponent is not None
        number = {entry: 0}
        queue = [entry]
        inside: list[tuple[int, int, float]] = []
        outside: list[tuple[int, int, float]] = []
        paid_inside: list[float] = []  # the opponent's gain by each of these
        paid_outside: list[float] = []
        while queue:
            s = queue.pop()
            for action in graph.view[s].actions:
                share = float(opponent.probability[action])
                if share == 0.0:
                    continue
                for t, passes, p in self._moves(action):
                    if t < 0 or passes:
                        # payoffs lie even about 0: the agent's is as far from the other end
                        seen = t if t >= 0 else -1 - len(self._payoffs) - t
                        outside.append((number[s], seen, share * p))
                        paid_outside.append(action.reward)
                        continue
                    if t not in number:
                        number[t] = len(number)
                        queue.append(t)
                    inside.append((number[s], number[t], share * p))
                    paid_inside.append(action.reward)
        first = np.zeros(len(number))
        first[0] = 1.0
        visits = _visits(first, inside)
        # Gains inside are carried to the destinations of play from there.
        carried = np.zeros(len(number))
        for (i, j, p), paid in zip(inside, paid_inside, strict=True):
            carried[j] += visits[i] * p * paid
        if carried.any():
            carried = _visits(carried, inside)
        ends: dict[int, Reached] = {}
        for (i, t, p), paid in zip(outside, paid_outside, strict=True):
            chance, gain = ends.get(t, (0.0, 0.0))
            gain -= float(visits[i]) * p * paid + float(carried[i]) * p
            ends[t] = chance + float(visits[i]) * p, gain
        return {
            thrown: (share * chance, share * gain)
            for t, (chance, gain) in ends.items()
            if chance > 0
            for thrown, share in self._thrown(t)
        }

    def _thrown(self, t: int) -> list[tuple[int, float]]:
        """The agent's states of choice, or the end, after state t, with probabilities."""
        throws = self.arena.throws
        if t < 0 or not len(throws) or throws[t] < 0:
            return [(t, 1.0)]
        throw = self.arena.graph.view.action(int(throws[t]))
        return [(way.target, p) for way, p in zip(throw.outcomes, throw.chances, strict=True)]


def _visits(
    first: NDArray[np.float64], inside: list[tuple[int, int, float]]
) -> NDArray[np.float64]:
    """Expected visits of each state, given the initial distribution: ``first (I − Q)⁻¹``."""
    n = len(first)
    if n <= 200:
        matrix = np.eye(n)
        for i, j, p in inside:
            matrix[j, i] -= p
        return np.asarray(np.linalg.solve(matrix, first), dtype=np.float64)
    from scipy.sparse import csc_matrix, identity
    from scipy.sparse.linalg import spsolve

    rows, columns, chances = (np.array(column) for column in zip(*inside, strict=True))
    transposed = csc_matrix((chances, (columns, rows)), shape=(n, n))
    return np.asarray(spsolve((identity(n) - transposed).tocsc(), first))


@lru_cache(maxsize=16)
def _kept(arena: Arena, illegal_reward: float) -> Transitions:
    return Transitions(arena, illegal_reward)
