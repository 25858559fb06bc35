"""Documents of the server: a position in words, the outcomes of an action, and a map."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from rollwise.boards import MOST_FIELDS
from rollwise.documents.model import Bound, Chance, Cost, GameDocument, Part, State, Value, about
from rollwise.errors import RollwiseError, UnknownState
from rollwise.graph.layout import StateLayout
from rollwise.graph.naming import field_label

MOST_ROWS = 2  # of tiles, on the small board of a listed game
MOST_ON_TILE = 3  # characters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rollwise.answer.rows import Ints, Slice
    from rollwise.answer.solution import Solution
    from rollwise.boards import Board
    from rollwise.game import Game
    from rollwise.graph import Outcome
    from rollwise.words import Narrator

Throw = Annotated[list[int] | None, about("null before a throw")]
Cells = Annotated[list[list[list[Any]]], about("rows of cells: kind, text and numbers")]


class Situation(Part, frozen=True):
    """A position, and the throw in it."""

    state: State
    throw: Throw
    rolls_left: Annotated[int | None, about("how often dice may be thrown again")]


class Situated(GameDocument, frozen=True, kw_only=True):
    """An answer about a position."""

    state: State
    throw: Throw
    rolls_left: int | None


class Choice(Part, frozen=True):
    """An action in a position."""

    action: str
    number: Annotated[int, about("in the rules")]
    is_throw: bool
    deed: Annotated[str, about("the action in words")]
    value: Value
    cost: Cost
    best: bool
    reward: float
    outcomes: Annotated[int, about("their number")]
    policies: Annotated[
        dict[str, float], about("the chance that each policy of the rules takes it")
    ]


def _numbers(board: Board) -> list[list[list[Any]]]:
    return [[[cell.kind, cell.text, *cell.numbers] for cell in row] for row in board]


class Position(Situated, frozen=True, kw_only=True, tag="rollwise/serve/position/1"):
    """A position in words and as a board, with the value of each action."""

    position: Annotated[str, about("in words, with its throw")]
    thrown: Annotated[str, about("the throw in words; empty before a throw")]
    cells: Cells
    board: Annotated[str, about("the board as text, without cells")]
    dice: Annotated[list[list[Any]], about("the dice of the throw, as cells")]
    value: Value
    win_probability: Chance
    error_bound: Bound
    choices: list[Choice]


def position_document(solution: Solution, narrator: Narrator, state: int) -> Position:
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
    choices, taken = [], _taken(solution, state)
    for name, index, worth, cost, is_best in zip(here.action_names, *columns, strict=True):
        action = view.action(index)
        choices.append(
            Choice.from_result(
                action,
                action=name,
                number=action.label,
                deed=narrator.deed(index),
                value=worth,
                cost=cost if solution.is_score else cost / 2,
                best=is_best,
                outcomes=len(action.outcome_range),
                policies={policy: chances.get(index, 0.0) for policy, chances in taken.items()},
            )
        )
    return Position.on(
        solution.graph,
        **here.address,
        position=narrator.position(state),
        thrown=narrator.thrown(here),
        cells=_numbers(cells),
        board="" if cells else narrator.board(state),
        dice=[[cell.kind, cell.text, *cell.numbers] for cell in narrator.throw_cells(here.throw)],
        value=value,
        win_probability=view.win_probability(value),
        error_bound=float(solution.error_bounds[state]),
        choices=choices,
    )


def _taken(solution: Solution, state: int) -> dict[str, dict[int, float]]:
    """The chances of the actions of a state by each policy of the rules, but for failing ones."""
    from rollwise.graph.policies import chances_of

    game, taken = solution.game, {}
    if game is not None and game.base_game is game:
        for name, function in game.policies().items():
            with suppress(RollwiseError):
                asked = chances_of(solution.graph, game, name, partial(function, game))
                taken[name] = asked(solution.graph.view[state])
    return taken


class Opponents(GameDocument, frozen=True, kw_only=True, tag="rollwise/serve/opponents/1"):
    """The strength of the policies of the rules, and of random play."""

    losses: Annotated[
        dict[str, float],
        about("a game against optimal play, in units of value; empty in games kept by layers"),
    ]
    rest_on_ties: Annotated[
        bool, about("whether losses depend on the optimal opponent's choice among equal actions")
    ]


def opponents_document(answer: Solution) -> Opponents:
    """The certified losses of policies; see `rollwise.coach.tally.policy_losses`."""
    from rollwise.coach.tally import losses_rest_on_ties, policy_losses

    assert answer.game is not None  # the server has it
    whole = answer.is_whole
    return Opponents.on(
        answer.game,
        losses=policy_losses(answer) if whole else {},
        rest_on_ties=whole and losses_rest_on_ties(answer),
    )


class PlacedBoard(Part, frozen=True):
    """The board of a position."""

    at: Annotated[list[int], about("the fields, in their order")]
    cells: Cells


class Boards(GameDocument, frozen=True, kw_only=True, tag="rollwise/serve/boards/1"):
    """The boards of some positions."""

    boards: list[PlacedBoard]


def start_document(game: Game) -> Boards:
    """The board of the start, before the game is solved; its fields where it has no cells."""
    from rollwise.boards import Cell, label, tile
    from rollwise.words import Words

    words, layout = Words(game.base_game), StateLayout.of(game.base_game)
    state = game.base_game.start()
    row = [int(number) for number in layout.numbers(state)]
    whole: dict[str, list[str]] = {}  # the fields of a tuple together
    for name, n in zip(layout.columns, row, strict=True):
        text = words.field_text(name, n) or str(n)
        whole.setdefault(field_label(name.partition(".")[0]), []).append(text)

    def cell(text: str) -> Cell:
        # the tiles of many rows would be too small for their numbers, and all for a word
        return tile(text) if len(whole) <= MOST_ROWS and len(text) <= MOST_ON_TILE else label(text)

    board = words.cells(state) or [
        [label(name), *map(cell, texts)] for name, texts in list(whole.items())[:MOST_FIELDS]
    ]
    return Boards.on(game, boards=[PlacedBoard(row, _numbers(board))])


def boards_document(game: Game, rows: NDArray[np.int32]) -> Boards:
    """The boards of positions given by their fields: (n, n_fields) int32."""
    from rollwise.words import Words

    words, layout = Words(game.base_game), StateLayout.of(game.base_game)
    width = len(layout.columns)
    boards = [(row, words.cells(layout.state(row[:width]))) for row in rows.tolist()]
    return Boards.on(game, boards=[PlacedBoard(row, _numbers(cells)) for row, cells in boards])


class Final(Part, frozen=True):
    """The position at the end of the game, as its last player sees it."""

    state: State
    position: Annotated[str, about("in words")]
    cells: Cells
    board: Annotated[str, about("the board as text, without cells")]


class OutcomeRow(Part, frozen=True):
    """An outcome of an action."""

    number: Annotated[int, about("from 1")]
    ways: Annotated[float, about("its weight")]
    of: Annotated[float, about("the sum of all weights")]
    told: Annotated[str, about("in words")]
    over: Annotated[bool, about("whether the game ends")]
    passes: Annotated[bool, about("whether the next player moves")]
    payoff: float | None
    value: Value
    next: Situation | None
    final: Annotated[Final | None, about("null where the rules don't give it")]


class Outcomes(Situated, frozen=True, kw_only=True, tag="rollwise/serve/outcomes/1"):
    """All outcomes of an action, and their next positions."""

    action: str
    dice: Annotated[Any, about("the thrown dice, if there are any")]
    outcomes: list[OutcomeRow]


def outcomes_document(solution: Solution, narrator: Narrator, action: int) -> Outcomes:
    """All outcomes of an action, and their next states."""
    from rollwise.words.narration import thrown_dice

    taken = solution.graph.view.action(action)
    finals = [_final(solution, narrator, row) for row in narrator.finals(action)]
    outcomes = [
        OutcomeRow(
            outcome.number + 1,
            outcome.weight,
            taken.total,
            narrator.told(action, outcome.number),
            outcome.is_over,
            outcome.passes,
            _worth(solution, outcome) if outcome.is_over else None,
            _worth(solution, outcome),
            None if outcome.next_state is None else Situation(**outcome.next_state.address),
            finals[outcome.number],
        )
        for outcome in taken.outcomes
    ]
    return Outcomes.on(
        solution.graph,
        **taken.state.address,
        action=taken.distinct_name,
        dice=thrown_dice(narrator, action),
        outcomes=outcomes,
    )


def _worth(solution: Solution, outcome: Outcome) -> float:
    """The value of an outcome to the mover."""
    profile = solution.profile
    if profile is None:
        return float(outcome.worth(solution.values))
    return float(profile.as_values(profile.after(outcome))[0])


def _final(solution: Solution, narrator: Narrator, row: tuple[int, ...] | None) -> Final | None:
    words = row and narrator.words_at_end(row)
    if not row or not words:
        return None
    position, board, cells = words
    state = dict(zip(solution.graph.view[0].address["state"], row, strict=False))
    return Final(state, position, _numbers(cells), "" if cells else board)


class MapThrow(Part, frozen=True):
    """A possible throw."""

    throw: list[int]
    rolls_left: int | None
    told: Annotated[str, about("in words")]


class MapCell(Part, frozen=True):
    """A position of a map."""

    at: Annotated[list[int], about("its numbers along the axes")]
    action: Annotated[str | None, about("the best one; null without a choice")]
    value: Value


class Map(Situated, frozen=True, kw_only=True, tag="rollwise/serve/map/1"):
    """The best actions around a position, after the same throw if there are throws."""

    axes: Annotated[list[str], about("the fields along which positions differ")]
    numbers: Annotated[dict[str, list[int]], about("of each field, in all positions")]
    texts: Annotated[dict[str, dict[str, str]], about("words for numbers of a field")]
    throws: list[MapThrow]
    cells: list[MapCell]
    left_out: Annotated[Any, about("cells beyond the limit; -1 for an unknown number")]


def map_document(
    solution: Solution, narrator: Narrator, around: Slice, positions: Ints, state: int
) -> Map:
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
    return Map.on(
        graph,
        **address,
        axes=axes,
        numbers=numbers,
        texts={
            name: {str(n): text for n in some if (text := narrator.field_text(name, n))}
            for name, some in numbers.items()
        },
        throws=[
            MapThrow(
                one.next_state.address["throw"],
                one.next_state.address["rolls_left"],
                narrator.told(position.actions[0].index, one.number),
            )
            for one in position.throws
            if one.next_state is not None
        ],
        cells=[
            MapCell(
                [graph.view[place].address["state"][name] for name in axes],
                best[place].distinct_name if best[place].state.is_choice else None,
                float(solution.values[place]),
            )
            for place in states.tolist()
        ],
        left_out=around.left_out,
    )


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
