"""How positions, values and costs are put into words under the pointer."""

from __future__ import annotations

import html
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.solution import Solution
from rollwise.graph import win_probability
from rollwise.words.game_words import Words

Floats = NDArray[np.float64]


def shown_values(solution: Solution, values: Floats) -> Floats:
    """Values as people read them: chances to win in percent, or scores."""
    return values if solution.is_score else 100 * win_probability(values)


def shown_costs(solution: Solution, costs: Floats) -> Floats:
    """Costs as people read them: points of a hundred of the chance to win, or of the score."""
    return costs if solution.is_score else 50 * costs


def value_name(solution: Solution) -> str:
    """What a value is called on an axis."""
    return solution.worth_name if solution.is_score else "mover's chance to win (%)"


def cost_name(solution: Solution) -> str:
    """What a cost is called on an axis."""
    return "cost in points" if solution.is_score else "cost in chance to win (percentage points)"


def action_name(solution: Solution, label: int) -> str:
    """What an action is called in a legend, where a mere number says nothing: "1 die"."""
    vocabulary = solution.graph.vocabulary
    if label in vocabulary.names:
        return vocabulary.text(label)
    unit = () if solution.game is None else solution.game.action_unit
    return f"{label} {unit[label != 1]}" if unit else f"action {label}"


def field_text(solution: Solution, name: str, number: int) -> str:
    """A number in a field as people read it: ``1 4 9`` for a set, or the number."""
    if solution.game is None or name in solution.graph.throw_names:
        return str(number)
    return Words(solution.game.base_game).field_text(name, number) or str(number)


def value_text(solution: Solution, value: float) -> str:
    """One value in words."""
    return f"{value:.4f}" if solution.is_score else f"{100 * win_probability(value):.3f} %"


def cost_text(solution: Solution, cost: float) -> str:
    """One cost in words."""
    return f"{cost:.4f} points" if solution.is_score else f"{50 * cost:.3f} percentage points"


MOST_ACTIONS = 12  # under the pointer


class Hover:
    """The text under the pointer for each state: its fields, and its actions with their costs.

    Of more than `MOST_ACTIONS` actions the cheapest are shown, and their number is given.
    """

    def __init__(self, solution: Solution) -> None:
        graph = solution.graph
        self.solution = solution
        self.labels = {
            label: html.escape(graph.vocabulary.text(label)) for label in graph.vocabulary.labels
        }
        self.unit = "" if solution.is_score else " %"
        self.cost_unit = "points" if solution.is_score else "percentage points"
        self.values = shown_values(solution, solution.action_values)
        self.costs = shown_costs(solution, solution.regret)
        self._fields = lru_cache(None)(partial(field_text, solution))

    def __call__(self, state: int, extra: str = "") -> str:
        """The text for one state."""
        graph = self.solution.graph
        here = graph.view[state]
        fields = here.named.items()
        many = len(fields) > 4  # many fields are mostly zero
        parts = [
            f"{html.escape(name)} {html.escape(self._fields(name, v))}"
            for name, v in fields
            if v or not many
        ]
        lines = [", ".join(parts) or "all fields 0"]
        actions = list(here.actions)
        if len(actions) > MOST_ACTIONS:
            cheapest = sorted(actions, key=lambda action: float(self.costs[action]))[:MOST_ACTIONS]
            actions = [action for action in actions if action in cheapest]
        for action in actions:
            text = f"{self.labels[action.label]}: {self.values[action]:.2f}{self.unit}"
            if self.solution.is_best[action]:
                text = f"<b>{text}</b>"
            else:
                text += f", costs {self.costs[action]:.2g} {self.cost_unit}"
            lines.append(text)
        if len(here.actions) > len(actions):
            lines.append(f"the {len(actions)} best of {len(here.actions)} actions")
        lines += map(html.escape, self.solution.said_of(state))
        if extra:
            lines.append(extra)
        return "<br>".join(lines)
