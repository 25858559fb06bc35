"""Games with hidden fields or simultaneous choices, solved naively: no code of rollwise but rules.

Every play is walked, in fractions. A player's memory is the list of own sights and actions. With
hidden fields all pure strategies are listed, and the matrix of their payoffs is solved by a linear
program. With simultaneous choices a matrix is solved in each position, from a given worth on.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog

from rollwise.game import Game
from rollwise.then import AGAIN, DRAW, LOSE, PASS, WIN, payoff_of

PLAIN = {WIN: 1, LOSE: -1, DRAW: 0}


def sight(game: Game, state: Any) -> tuple[Any, ...]:
    unseen = tuple(game.hidden(state))
    return tuple((n, x) for n, x in zip(state._fields, state, strict=True) if n not in unseen)


def plays(game, choose, state=None, mover=0, memories=((), ())):
    """The first player's payoff; `choose(mover, memory, actions)` yields shares and actions."""
    state = game.start() if state is None else state
    if dealt := list(game.deal(state)):
        total = sum(weight for weight, _ in dealt)
        return sum(
            Fraction(w, total) * plays(game, choose, after, mover, memories) for w, after in dealt
        )
    memory = (*memories[mover], sight(game, state))
    worth = Fraction(0)
    for share, action in choose(mover, memory, list(game.actions(state))):
        if not share:
            continue
        known = list(memories)
        known[mover] = (*memory, action)
        rows = list(game.outcomes(state, action))
        total = sum(weight for weight, _, _ in rows)
        sign = 1 - 2 * mover
        worth += share * sign * Fraction(game.reward(state, action))
        for weight, then, after in rows:
            if then in (AGAIN, PASS):
                got = plays(game, choose, after, mover ^ (then == PASS), tuple(known))
            else:
                got = sign * Fraction(PLAIN[then] if then in PLAIN else payoff_of(then))
            worth += share * Fraction(weight, total) * got
    return worth


def information_sets(game) -> list[dict[Any, list[int]]]:
    """The memories of both players before each choice, and the actions."""
    found: list[dict[Any, list[int]]] = [{}, {}]

    def choose(mover, memory, actions):
        found[mover].setdefault(memory, actions)
        return [(Fraction(1, len(actions)), action) for action in actions]

    plays(game, choose)
    return found


def payoff_matrix(game) -> np.ndarray:
    """The payoffs of all pairs of pure strategies."""
    pure = [
        [dict(zip(sets, chosen, strict=True)) for chosen in product(*sets.values())]
        for sets in information_sets(game)
    ]

    def payoff(one, other):
        return plays(game, lambda who, memory, _: [(1, (one, other)[who][memory])])

    return np.array([[float(payoff(one, other)) for other in pure[1]] for one in pure[0]])


def value_of(matrix: np.ndarray) -> float:
    """The value of a matrix game for the player of the rows."""
    n, m = matrix.shape
    cost = np.append(np.zeros(n), -1.0)
    limits = np.hstack([-matrix.T, np.ones((m, 1))])
    found = linprog(
        cost, limits, np.zeros(m), np.append(np.ones(n), 0.0)[None], [1.0],
        [*[(0, None)] * n, (None, None)],
    )  # fmt: skip
    return -found.fun


def ranges(game) -> dict[Any, list[tuple[float, float]]]:
    """The ranges of probabilities by memory, over all optimal mixtures of pure strategies."""
    matrix, found = payoff_matrix(game), {}
    for seat, sets in enumerate(information_sets(game)):
        payoffs = -matrix.T if seat else matrix
        value, (n, m) = value_of(payoffs), payoffs.shape
        pure = [dict(zip(sets, chosen, strict=True)) for chosen in product(*sets.values())]
        for memory, actions in sets.items():
            steps = [(memory[: k + 1], memory[k + 1]) for k in range(0, len(memory) - 1, 2)]
            comes = np.array([all(one[s] == a for s, a in steps) for one in pure], float)
            ends = []
            for action in actions:
                takes = comes * [one[memory] == action for one in pure]
                least, most = (
                    linprog(
                        sign * takes, np.full(n, value - 1e-10) - payoffs.T, np.zeros(m),
                        comes[None], [1.0], [(0, None)] * n,
                        options={"primal_feasibility_tolerance": 1e-10},
                    ) for sign in (1, -1)
                )  # fmt: skip
                ends.append((least.fun, -most.fun) if least.x is not None else None)
            found[seat, memory] = ends
    return found


def stochastic_value(game, sweeps: int) -> float:
    """The value of a game with simultaneous choices after so many sweeps from 0."""
    values: dict[Any, float] = {game.start(): 0.0}

    def entry(state, action):
        rows = list(game.outcomes(state, action))
        total = sum(w for w, _, _ in rows)
        worth = float(game.reward(state, action))
        for weight, then, after in rows:
            if then in (AGAIN, PASS):
                got = values.setdefault(after, 0.0) * (1 if then == AGAIN else -1)
            else:
                got = PLAIN[then] if then in PLAIN else payoff_of(then)
            worth += weight / total * got
        return worth

    for _ in range(sweeps):
        for state in list(values):
            menus = [list(actions) for actions in game.together(state)]
            if menus:
                matrix = [[entry(state, (i, j)) for j in menus[1]] for i in menus[0]]
                values[state] = value_of(np.array(matrix))
            else:
                values[state] = max(entry(state, action) for action in game.actions(state))
    return values[game.start()]
