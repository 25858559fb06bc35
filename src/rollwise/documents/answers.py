"""Solutions, advice, tables, evaluations, and positions to play by, as documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isinf
from typing import TYPE_CHECKING, Any

import numpy as np

from rollwise.answer.advice import Advice
from rollwise.answer.layered_states import LayeredStates
from rollwise.documents.model import encode
from rollwise.documents.parts import (
    Document,
    game_head,
    number_or_none,
    state_fields,
    ties_document,
)
from rollwise.errors import UnknownState

if TYPE_CHECKING:
    import polars as pl

    from rollwise.answer.advice import ThrowAdvice
    from rollwise.answer.evaluation import BestResponse, Evaluation
    from rollwise.answer.grids import Grid, Ints, Slice
    from rollwise.answer.solution import Solution
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Ties
    from rollwise.words import Narrator


def answer_document(answer: Solution) -> Document:
    """The value of a game of any size."""
    return solution_document(answer) if answer.is_whole else layers_document(answer)


def solution_document(solution: Solution, check: Sequence[str] | None = None) -> Document:
    """The value of a game, its error bound, and the run of its method.

    Parameters
    ----------
    check : sequence of str, optional
        The findings of `rollwise.analysis.findings`, as ``check``.
    """
    graph = solution.graph
    gave_up = solution.gave_up
    document = {
        **game_head(graph),
        "method": solution.method,
        "status": solution.status,
        "states": graph.n_positions,
        **({"after_throws": graph.n_states - len(solution)} if graph.throw_names else {}),
        "actions": graph.n_actions,
        "outcomes": graph.n_outcomes,
        "components": len(graph.components),
        "largest_component": graph.components.largest,
        "start": state_fields(graph, 0),
        "value": None if gave_up else number_or_none(solution.value),
        "win_probability": None if gave_up else number_or_none(solution.win_probability),
        "error_bound": number_or_none(solution.error_bound),
        "seconds": {name: round(spent, 6) for name, spent in solution.seconds.items()},
    }
    if solution.kept_from is not None:
        document["kept_from"] = solution.kept_from
    if not gave_up and solution.undecided.any():
        document["undecided"] = int(solution.undecided.sum())
    document |= _run_document(solution)
    if solution.estimated and not gave_up:
        document["estimate"] = _estimate(solution)
    return document if check is None else {**document, "check": list(check)}


def _run_document(solution: Solution) -> Document:
    """Details and bounds from the method, beside its values."""
    run = solution.run
    if run is None or not run.details:
        return {}
    document: Document = {
        "sweeps": run.sweeps,
        "claimed_error": None if run.claimed_error is None else float(run.claimed_error),
        "details": {
            name: number_or_none(said) if isinstance(said, float) else said
            for name, said in run.details.items()
        },
    }
    if solution.gave_up or run.lower is not None:
        low, high = (number_or_none(float(bound[0])) for bound in solution.bounds)
        document["value_bounds"] = [low, high]
        if not solution.is_score:
            chance = solution.graph.view.win_probability
            document["win_probability_bounds"] = [
                x if x is None else chance(x) for x in (low, high)
            ]
    if run.fractions is not None:
        document |= _exactly(solution, run.fractions[0])
    return document


def _estimate(solution: Solution) -> Document:
    """How well the value of the start was estimated, the truth, and how good the errors are."""
    from rollwise.answer.estimates import Calibration

    assert solution.run is not None
    start = {name: float(column[0]) for name, column in solution.run.columns.items()}
    calibration = Calibration.of(solution)
    return {
        "samples": solution.run.details["samples"],
        "seed": solution.run.details["seed"],
        "entries": solution.run.details["entries"],
        **{name: number_or_none(number) for name, number in start.items()},
        "in_standard_errors": {
            "states": calibration.states,
            "mean": calibration.mean,
            "root_mean_square": calibration.root_mean_square,
            "within_one": calibration.within_one,
            "within_two": calibration.within_two,
        },
    }


def _exactly(solution: Solution, value: Fraction) -> dict[str, str]:
    """A value, and its win probability, as fractions."""
    from rollwise.methods.result import fraction_text

    exact = {"value_exact": fraction_text(value)}
    chance = solution.graph.view.win_probability(value)
    if chance is not None:
        exact["win_probability_exact"] = fraction_text(chance)
    return exact


def layers_document(solution: Solution) -> Document:
    """The value of a game solved one layer at a time."""
    space = solution.space
    assert isinstance(space, LayeredStates)
    start = space.states[space.start].tolist()
    return {
        **game_head(space.game),
        "method": solution.method,
        "status": solution.status,
        "states": space.n_states,
        "keep": space.keep,
        "kept_states": len(solution),
        "actions": space.n_actions,
        "outcomes": space.n_outcomes,
        "layers": len(space.progress),
        "largest_layer_bytes": space.most_bytes,
        "start": dict(zip(space.field_names, start, strict=True)),
        "value": number_or_none(solution.value),
        "win_probability": number_or_none(solution.win_probability),
        "error_bound": number_or_none(solution.error_bound),
        **({"kept_from": solution.kept_from} if solution.kept_from else {}),
        "seconds": {name: round(spent, 6) for name, spent in solution.seconds.items()},
    }


def advice_document(solution: Solution, advice: Advice) -> Document:
    """The value and the cost of each action in a position."""
    if advice.seats:
        from rollwise.documents.many import advice_of_many_document

        return advice_of_many_document(solution.graph, advice)
    exact, exact_actions = _exact_advice(solution, advice)
    head = {
        **game_head(solution.graph),
        "state": advice.state,
        "value": number_or_none(advice.value),
        "win_probability": advice.win_probability,
        "error_bound": number_or_none(advice.error_bound),
        **exact,
    }
    if advice.throws:
        return head | {"throws": [_throw_document(row) for row in advice.throws]}
    return head | {
        "actions": [
            {
                "action": row.action,
                "value": number_or_none(row.value),
                "win_probability": row.win_probability,
                "error_bound": number_or_none(row.error_bound),
                # in the unit of the text: win probability, or points
                "cost": number_or_none(row.regret if solution.is_score else row.regret / 2),
                "best": row.best,
                **fractions,
            }
            for row, fractions in zip(advice.actions, exact_actions, strict=True)
        ],
    }


def _throw_document(row: ThrowAdvice) -> Document:
    return {
        "throw": list(row.throw),
        "probability": row.chance,
        "action": row.action,
        "value": number_or_none(row.value),
        "win_probability": row.win_probability,
        "error_bound": number_or_none(row.error_bound),
    }


def _exact_advice(
    solution: Solution, advice: Advice
) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The value of a state and of its actions as text, where the method found fractions."""
    if solution.run is None or solution.run.fractions is None:
        return {}, [{}] * len(advice.actions)
    from rollwise.methods.exact import action_fractions

    fractions, state = solution.run.fractions, solution.find(advice.state)
    worth = action_fractions(solution.graph, fractions, state)
    return _exactly(solution, fractions[state]), [_exactly(solution, x) for x in worth]


def table_json(solution: Solution, rows: pl.DataFrame) -> str:
    """A strategy as a line of JSON."""
    return rows_json(game_head(solution.subject), rows)


def rows_json(document: Document, rows: pl.DataFrame) -> str:
    """A document as a line of JSON with ``rows``, serialized by Polars for speed."""
    return f'{encode(document)[:-1]}, "rows": {rows.write_json()}}}'


def grid_document(solution: Solution, found: Grid) -> Document:
    """A strategy as two matrices by two fields; where there is no position -1, or null points."""
    rows, columns = found.actions.shape
    worth = [[number_or_none(x) for x in row] for row in found.worth.tolist()]
    return {
        **game_head(solution.graph),
        "rows": found.row_field,
        "row_numbers": list(range(int(found.origin[0]), int(found.origin[0]) + rows)),
        "columns": found.column_field,
        "column_numbers": list(range(int(found.origin[1]), int(found.origin[1]) + columns)),
        "kind": "estimated" if solution.estimated else "certified",
        "action_grid": found.actions.tolist(),
        "value_grid" if solution.is_score else "win_probability_grid": worth,
        "error_bound": number_or_none(found.error_bound),
    }


def evaluation_document(
    graph: StateGraph, found: Evaluation, state: int, ties: Ties | None
) -> Document:
    """The value of a policy at a state; null for an unfinished evaluation.

    An unfinished evaluation has the values of the last sweep under ``iterate``, without a bound.

    Parameters
    ----------
    ties : Ties, optional
        The effect of the choice among equally good actions of an optimal policy.
    """
    document = {**_worth(graph, found, state), "equally_good": ties_document(ties)}
    if found.status != "converged":
        names = ("value", "value_second", "win_probability", "win_probability_second")
        so_far = {name: document[name] for name in names if name in document}
        document.update(dict.fromkeys(so_far))
        if found.history:
            last = number_or_none(float(found.history[-1]))
            document["iterate"] = {**so_far, "last_change": last}
    return document


def response_document(graph: StateGraph, found: BestResponse, state: int) -> Document:
    """The value of a best response at a state, and the loss of the policy to it."""
    return {
        **_worth(graph, found, state),
        "to": found.against,
        "exploitability": found.exploitability(state),
        "exploitability_bound": number_or_none(found.exploitability_bound(state)),
    }


def _worth(graph: StateGraph, found: Evaluation, s: int) -> Document:
    two = graph.players == 2
    document: Document = {
        **game_head(graph),
        "policy": found.policy,
        "against": found.against if two else None,
        "method": found.method,
        "status": str(found.status),
        "sweeps": found.sweeps,
        "theta": found.theta,
        "state": state_fields(graph, s),
        "value": number_or_none(float(found.values[s])),
    }
    if isinf(found.values[s]):
        document["never_ends"] = True  # with positive probability, and loses without bound
    if two:
        document["value_second"] = number_or_none(float(found.values_second[s]))
    if not graph.is_score:
        document["win_probability"] = number_or_none(float(found.win_probability[s]))
    if two and not graph.is_score:
        document["win_probability_second"] = number_or_none(float(found.win_probability_second[s]))
    worst: Any = None
    if found.bounds is not None and found.bounds_second is not None:
        worst = max(float(found.bounds[s]), float(found.bounds_second[s]))
    return {**document, "error_bound": number_or_none(worst)}


def position_document(solution: Solution, narrator: Narrator, state: int) -> Document:
    """A state in words and as a board, with the value of each action.

    Parameters
    ----------
    narrator : Narrator
        For the graph of the solution.
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
                "cost": number_or_none(cost if solution.is_score else cost / 2),
                "best": is_best,
                "reward": view.action(action).reward,
                "outcomes": len(view.action(action).outcome_range),
            }
            for name, action, worth, cost, is_best in zip(here.action_names, *columns, strict=True)
        ],
    }


def outcomes_document(solution: Solution, narrator: Narrator, action: int) -> Document:
    """All outcomes of an action, and their next states."""
    from rollwise.words.narration import thrown_dice

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
    """The best actions in the positions around one, after the same throw if there are throws.

    Parameters
    ----------
    positions : (n,) int64
        The states of the solution's graph for the positions of `around`.
    state : int
        The state in the middle, after its throw.
    """
    graph = solution.graph
    address = graph.view[state].address
    position = graph.view[graph.find(address["state"])]
    names = list(address["state"])
    after = [_after(solution, place, address) for place in positions.tolist()]
    states = np.array([place for place in after if place >= 0], np.int64)
    found = map(graph.view.action, solution.best_actions_in(states).tolist())
    best = dict(zip(states.tolist(), found, strict=True))
    numbers = {name: around.numbers[f] for f, name in enumerate(names)}
    axes = [names[f] for f in around.axes]
    return {
        **game_head(graph),
        **address,
        "axes": axes,
        "numbers": numbers,
        "texts": {
            name: {n: text for n in some if (text := narrator.field_text(name, n))}
            for name, some in numbers.items()
        },
        "throws": [
            {
                "throw": one.next_state.address["throw"],
                "rolls_left": one.next_state.address["rolls_left"],
                "told": narrator.told(position.actions[0].index, one.number),
            }
            for one in position.throws
            if one.next_state is not None
        ],
        "cells": [
            {
                "at": [graph.view[place].address["state"][name] for name in axes],
                "action": best[place].distinct_name if best[place].state.is_choice else None,
                "value": number_or_none(float(solution.values[place])),
            }
            for place in states.tolist()
        ],
        "left_out": around.left_out,
    }


def _after(solution: Solution, position: int, address: Mapping[str, Any]) -> int:
    """The state after that throw in a position; -1 where the throw is impossible."""
    graph = solution.graph
    if address["throw"] is None:
        return position
    try:
        here = graph.view[position].address["state"]
        return graph.find(here, address["throw"], address["rolls_left"])
    except UnknownState:
        return -1
