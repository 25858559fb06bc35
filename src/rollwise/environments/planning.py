"""The exact transition table of an environment, the opponent's turns summed out.

Between two moves of the agent the opponent moves, perhaps many times. The opponent's
turn is an absorbing Markov chain on the states in which it moves. Let Q be the transitions among
them and R those that leave them. From a state e, the chances of the states in which the agent
moves next are the row e of (I − Q)⁻¹ R (Kemeny and Snell 1960, theorem 3.3.7).
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
# An end: who has won in the agent's eyes, as keys below all states.
WON, DRAWN, LOST = -1, -2, -3
PAYOFF = {WON: 1.0, DRAWN: 0.0, LOST: -1.0}


class Transitions(Mapping[int, dict[int, list[Row]]]):
    """``P[state][action]`` is a list of ``(probability, next state, reward, terminated)``.

    Rows are computed when they are asked for. The states are those of the arena, and
    the last one is the end.
    """

    def __init__(self, arena: Arena, illegal_reward: float) -> None:
        self.arena = arena
        self.illegal_reward = illegal_reward
        self.over = arena.n_states
        self._turns: dict[int, dict[int, float]] = {}

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
        """How likely each state is at the agent's first move: (n_states + 1,)."""
        first = {FIRST: 1.0, EITHER: 0.5}.get(seat, 0.0)
        start = np.zeros(len(self))
        start[0] = first
        if first < 1.0:
            for t, p in self.turn(0).items():
                start[t if t >= 0 else self.arena.early_state(PAYOFF[t])] += (1.0 - first) * p
        return start

    def _row(self, state: int, action: int) -> list[Row]:
        if action < 0:
            return [(1.0, state, float(self.illegal_reward), False)]
        graph = self.arena.graph
        if action >= graph.n_actions:
            payoff = float(self.arena.early_payoffs[action - graph.n_actions])
            return [(1.0, self.over, payoff, True)]
        points = self.arena.reward_sign * graph.view.action(action).reward
        total: dict[int, float] = {}
        for t, passes, p in _moves(graph.view.action(action)):
            if not passes:
                total[t] = total.get(t, 0.0) + p
                continue
            for end, q in self.turn(t).items():
                total[end] = total.get(end, 0.0) + p * q
        rows = []
        for t, p in total.items():
            rows.append((p, self.over if t < 0 else t, points + PAYOFF.get(t, 0.0), t < 0))
        return rows

    def turn(self, entry: int) -> dict[int, float]:
        """Where the opponent's turn from `entry` leaves the agent, and how likely."""
        if entry not in self._turns:
            self._turns[entry] = self._absorb(entry)
        return self._turns[entry]

    def _absorb(self, entry: int) -> dict[int, float]:
        graph, opponent = self.arena.graph, self.arena.opponent
        assert opponent is not None
        place = {entry: 0}
        queue = [entry]
        inside: list[tuple[int, int, float]] = []
        outside: list[tuple[int, int, float]] = []
        while queue:
            s = queue.pop()
            for action in graph.view[s].actions:
                share = float(opponent.probability[action])
                if share == 0.0:
                    continue
                for t, passes, p in _moves(action):
                    if t < 0 or passes:
                        seen = {WON: LOST, LOST: WON}.get(t, t)
                        outside.append((place[s], seen, share * p))
                        continue
                    if t not in place:
                        place[t] = len(place)
                        queue.append(t)
                    inside.append((place[s], place[t], share * p))
        visits = _visits(len(place), inside)
        ends: dict[int, float] = {}
        for i, t, p in outside:
            ends[t] = ends.get(t, 0.0) + float(visits[i]) * p
        return {t: p for t, p in ends.items() if p > 0}


def _moves(action: Action) -> list[tuple[int, bool, float]]:
    """What an action leads to: state or end in the mover's eyes, whether it passes, chance."""
    ends = {"win": WON, "lose": LOST}
    return [
        (ends.get(way.ending, DRAWN) if way.ending else way.target, way.passes, chance)
        for way, chance in zip(action.outcomes, action.chances, strict=True)
    ]


def _visits(n: int, inside: list[tuple[int, int, float]]) -> NDArray[np.float64]:
    """Expected visits of each state from state 0: the first row of (I − Q)⁻¹."""
    first = np.zeros(n)
    first[0] = 1.0
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
