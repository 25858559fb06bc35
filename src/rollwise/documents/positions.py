"""One position of a game and what can come of an action there, as documents: to play by."""

from __future__ import annotations

import numpy as np

from rollwise.answer.solution import Solution
from rollwise.documents.parts import Document, game_head, number_or_none
from rollwise.words import Narrator
from rollwise.words.thrown_dice import thrown_dice


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
