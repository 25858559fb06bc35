"""Quantal responses of a component, and the equilibrium that they lead to.

A quantal response takes each action with a chance that grows with what it is worth: proportional
to ``exp(worth / temperature)``. If all respond so to each other, that is a quantal response
equilibrium (McKelvey and Palfrey 1995, "Quantal response equilibria for normal form games"). At a
high temperature there is one, in which all actions are about equally likely. As the temperature
falls to 0 it comes to an equilibrium of the game. The path is followed by Newton's method, in
steps that become smaller where it bends (Turocy 2005, "A dynamic homotopy interpretation of the
logistic quantal response equilibrium correspondence").
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.many.component import Component, slopes_of_gaps

Floats = NDArray[np.float64]
HOT, COLD = 0.1, 1e-9  # temperatures, in chances to win
QUICK, SLOW = 0.4, 0.999  # factors by which it falls in a step
STEPS, ENOUGH, FAR = 12, 1e-6, 0.5  # of Newton's method: how many, how close, how far each goes
MOST_ACTIONS = 1_000  # besides the last one of each state: the slopes are a dense matrix


def limit_of_quantal_responses(component: Component) -> Floats | None:
    """The chances of the actions at the end of the path, (n_actions,), or None.

    They are near those of an equilibrium, but no equilibrium: all actions have some chance.
    The values of the component are changed.
    """
    sizes = np.diff(component.begins)
    last = np.repeat(component.begins[1:] - 1, sizes)
    a = np.flatnonzero(np.arange(len(last)) != last)
    if not 0 < len(a) <= MOST_ACTIONS:
        return None
    path = _Path(component, a, last[a])
    chances, temperature, factor = 1.0 / sizes[component.state_of[a]], HOT, 0.5
    while temperature > COLD:
        if factor > SLOW or component.is_late:
            return None
        found = path.follow(chances, factor * temperature)
        if found is None:
            factor = factor**0.5
            continue
        chances, steps = found
        temperature *= factor
        if steps <= STEPS // 3:
            factor = max(factor**1.5, QUICK)
    return path.all_chances(chances)


class _Path:
    """The quantal responses of a component, by the chances of all actions but the last ones.

    Parameters
    ----------
    a, b : (n,) int64
        The actions, and the last ones of their states.
    """

    def __init__(self, component: Component, a: NDArray[Any], b: NDArray[Any]) -> None:
        self.component, self.a, self.b = component, a, b
        self.state = component.state_of[a]
        self.together = self.state[:, None] == self.state

    def all_chances(self, chances: Floats) -> Floats:
        """The chances of all actions: (n_actions,)."""
        found = np.ones(len(self.component.actions))
        found[self.a] = chances
        np.subtract.at(found, self.b, chances)
        return np.maximum(found, 0.0)

    def responses(self, gaps: Floats, temperature: float) -> Floats:
        """The quantal responses, if actions are worth so much more than the last ones."""
        high = np.zeros(len(self.component.states))  # of each state, so that no power overflows
        np.maximum.at(high, self.state, gaps)
        powers = np.exp((gaps - high[self.state]) / temperature)
        total = np.exp(-high / temperature)
        np.add.at(total, self.state, powers)
        answers: Floats = powers / total[self.state]
        return answers

    def follow(self, chances: Floats, temperature: float) -> tuple[Floats, int] | None:
        """The quantal responses to themselves near some chances, and how many steps that took."""
        mine = self.component.worth[:, 0]
        for step in range(STEPS):
            solver = self.component.evaluate(self.all_chances(chances))
            answers = self.responses(mine[self.a] - mine[self.b], temperature)
            off = chances - answers
            if np.abs(off).max() < ENOUGH:
                return chances, step
            slopes = slopes_of_gaps(self.component, solver, self.a, self.b)
            # of the answers in the gaps: those of a state depend on each other
            bends = np.diag(answers) - np.where(self.together, np.outer(answers, answers), 0.0)
            matrix = np.eye(len(off)) - bends @ slopes / temperature
            try:
                move = np.linalg.solve(matrix, -off)
            except np.linalg.LinAlgError:
                return None
            longest = np.abs(move).max()
            if not np.isfinite(longest):
                return None
            chances = np.clip(chances + move * min(1.0, FAR / longest), 0.0, 1.0)
        return None
