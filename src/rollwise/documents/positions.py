"""One position of a game, what can come of an action there, and the positions around it.

They are documents to play by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rollwise.answer.grids import Ints, Slice
from rollwise.answer.solution import Solution
from rollwise.documents.parts import Document, game_head, number_or_none
from rollwise.errors import UnknownState
from rollwise.graph import Outcome, State
from rollwise.words import Narrator
from rollwise.words.narration import thrown_dice


def position_document(solution: Solution, narrator: Narrator, state: int) -> Document:
    """A state in words and as a board, and what each choice there is worth.

    Parameters
    ----------
    narrator : Narrator
        Of the solution's graph.
    """
    view = solution.graph.view
    here = view[state]
    looked = solution.choices_in(np.array([state]))
    value = float(solution.values[state])
    columns = (column.tolist() for column in looked)
    cells = narrator.cells(state)
    return {
        **game_head(solution.graph),
        **here.address,
        "position": narrator.position(state),
        "cells": [[[cell.kind, cell.text, *cell.numbers] for cell in row] for row in cells],
        "board": "" if cells else narrator.board(state),
        "value": number_or_none(value),
        "win_probability": view.win_probability(value),
        "error_bound": number_or_none(float(solution.error_bounds[state])),
        "choices": [
            {
                "action": name,
                "number": view.action(action).label,
                "is_throw": view.action(action).is_throw,
                "deed": narrator.deed(action),
                "value": number_or_none(worth),
                "cost": number_or_none(cost),
                "best": is_best,
                "reward": view.action(action).reward,
                "outcomes": len(view.action(action).outcome_range),
            }
            for name, action, worth, cost, is_best in zip(here.action_names, *columns, strict=True)
        ],
    }


def outcomes_document(solution: Solution, narrator: Narrator, action: int) -> Document:
    """All that can come of an action, and where it leads to."""
    taken = solution.graph.view.action(action)
    return {
        **game_head(solution.graph),
        **taken.state.address,
        "action": taken.distinct_name,
        "dice": thrown_dice(narrator, action),
        "outcomes": [
            {
                "number": outcome.number + 1,
                "ways": outcome.weight,
                "of": taken.total,
                "told": narrator.told(action, outcome.number),
                "over": outcome.is_over,
                "passes": outcome.passes,
                "payoff": outcome.payoff if outcome.is_over else None,
                "value": number_or_none(float(outcome.worth(solution.values))),
                "next": None if outcome.next_state is None else outcome.next_state.address,
            }
            for outcome in taken.outcomes
        ],
    }


def map_document(
    solution: Solution, narrator: Narrator, around: Slice, positions: Ints, state: int
) -> Document:
    """What is best in the positions around one, after the same throw where a game has throws.

    Parameters
    ----------
    positions : (n,) int64
        The states of the solution's graph that are the positions of `around`.
    state : int
        That one, after its throw.
    """
    graph = solution.graph
    address = graph.view[state].address
    names = list(address["state"])
    after = [_after(solution, place, address) for place in positions.tolist()]
    states = np.array([place for place in after if place >= 0], np.int64)
    best = dict(zip(states.tolist(), solution.best_actions_in(states).tolist(), strict=True))
    numbers = {name: around.numbers[f] for f, name in enumerate(names)}
    axes = [names[f] for f in around.axes]
    return {
        **game_head(graph),
        **address,
        "axes": axes,
        "numbers": numbers,
        "texts": {name: _texts(narrator, name, some) for name, some in numbers.items()},
        "throws": [
            {
                "throw": one.next_state.address["throw"],
                "rolls_left": one.next_state.address["rolls_left"],
                "told": narrator.told(action, one.number),
            }
            for action, one in _throws(graph.view[graph.find(address["state"])])
            if one.next_state is not None
        ],
        "cells": [
            {
                "at": [graph.view[place].address["state"][name] for name in axes],
                "action": _best_name(solution, best[place]),
                "value": number_or_none(float(solution.values[place])),
            }
            for place in states.tolist()
        ],
        "left_out": around.left_out,
    }


def _after(solution: Solution, position: int, address: Mapping[str, Any]) -> int:
    """The state after that throw in a position; -1 where it isn't thrown."""
    graph = solution.graph
    if address["throw"] is None:
        return position
    try:
        here = graph.view[position].address["state"]
        return graph.find(here, address["throw"], address["rolls_left"])
    except UnknownState:
        return -1


def _best_name(solution: Solution, action: int) -> str | None:
    """What the best action is called; None where there is no choice."""
    found = solution.graph.view.action(action)
    return found.distinct_name if found.state.is_choice else None


def _throws(position: State) -> list[tuple[int, Outcome]]:
    """What may be thrown in a position, each with its action."""
    return [(position.actions[0].index, outcome) for outcome in position.throws]


def _texts(narrator: Narrator, name: str, numbers: Sequence[int]) -> dict[int, str]:
    """What the numbers of a field mean, where the game says it."""
    texts = {number: narrator.field_text(name, number) for number in numbers}
    return {number: text for number, text in texts.items() if text}
