"""A game as a linear program: one variable for each state, one row for each action.

The maximum of two numbers is the smallest number that is at least both. So the
value of each state is at least what each of its actions is worth,

    x[s] >= constant[a] + sum of c[k] x[t(k)]     for every action a of s,

with equality where there is only one action. The rows don't say that x[s] is the
largest of them. An objective does (linear programming), or one binary variable for
each choice (mixed-integer programming).

A variable is the mover's chance to win, or the expected payoff or total where payoffs
differ or points are counted (its negative where few are wanted).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import MissingExtra
from rollwise.graph import StateGraph, sign_of
from rollwise.graph.choices import actions_of, outcomes_of
from rollwise.machine.deadlines import Clock
from rollwise.methods.result import Status

TOLERANCE = 1e-9  # what the solvers are asked to keep rows and whole numbers to
FIXED_POINT = 1e-6  # how well an answer must obey the game's recursion to be believed


@dataclass(frozen=True, eq=False)
class Program:
    """A linear program in rows, some of whose variables may have to be whole.

    Attributes
    ----------
    matrix : scipy.sparse.csr_matrix, (n_rows, n_columns)
    row_lower, row_upper : (n_rows,) float64
    lower, upper : (n_columns,) float64
    cost : (n_columns,) float64
        To be minimised.
    whole : (n_columns,) bool
    any_point : bool
        Whether the first point that obeys the rows will do: the cost only guides the search.
    """

    matrix: Any
    row_lower: NDArray[np.float64]
    row_upper: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    cost: NDArray[np.float64]
    whole: NDArray[np.bool_]
    any_point: bool = False


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solver said of a program.

    Attributes
    ----------
    columns : (n_columns,) float64 or None
        The best point found.
    status : Status
    message : str
        In the solver's words.
    gap : float
        The relative gap that it reports; infinite without a point.
    nodes : int
        Branch-and-bound nodes, or iterations of the simplex method.
    history : list of float
        The gap, each time that the solver told of progress.
    """

    columns: NDArray[np.float64] | None
    status: Status
    message: str
    gap: float
    nodes: int
    history: list[float]


OnProgress = Callable[[int, float], None]


class Solver(Protocol):
    """Solves a program by a library."""

    def __call__(
        self,
        program: Program,
        clock: Clock,
        *,
        start: NDArray[np.float64] | None = None,
        on_progress: OnProgress | None = None,
        tolerance: float = TOLERANCE,
    ) -> Answer:
        """Solve a program.

        Parameters
        ----------
        program : Program
        clock : Clock
            Looked at while the program is handed over, and by the solver.
        start : (n_columns,) float64, optional
            A point to start from.
        on_progress : callable, optional
            Called as ``on_progress(nodes, gap)`` when the solver tells of progress.
        tolerance : float
            By how much the answer may break a row, and miss a whole number.

        Raises
        ------
        MissingExtra
        """
        ...


def imported(library: str) -> Any:
    """A library of the extra `programming`.

    Raises
    ------
    MissingExtra
    """
    try:
        return importlib.import_module(library)
    except ImportError:
        raise MissingExtra('pip install "rollwise[programming]"') from None


@dataclass(frozen=True, eq=False)
class Model:
    """The rows of some states of a graph, all others being known.

    Attributes
    ----------
    graph : StateGraph
    states : (m,) int64
        Variable i is about state ``states[i]``.
    actions : (n_rows,) int64
        Row j is about the action ``actions[j]``.
    row_state : (n_rows,) int64
        The variable of the state that the row's action belongs to.
    matrix : scipy.sparse.csr_matrix, (n_rows, m)
        ``matrix @ x >= right`` in every row, and equal in those of states without
        a choice.
    right : (n_rows,) float64
    has_choice : (m,) bool
    """

    graph: StateGraph
    states: NDArray[np.int64]
    actions: NDArray[np.int64]
    row_state: NDArray[np.int64]
    matrix: Any
    right: NDArray[np.float64]
    has_choice: NDArray[np.bool_]

    @property
    def sign(self) -> float:
        return sign_of(self.graph.objective)

    @property
    def scale(self) -> float:
        """Units of value in a unit of x."""
        return 1.0 if self.graph.is_score else 2.0

    def to_x(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of states as variables."""
        return np.asarray((self.sign * values + (self.scale - 1)) / self.scale)

    def to_values(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Variables as values of states."""
        return np.asarray(self.sign * (self.scale * x - (self.scale - 1)) + 0.0)  # one kind of zero

    def worth(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the action of each row is worth, in units of x: (n_rows,) float64."""
        return np.asarray(x[self.row_state] - (self.matrix @ x - self.right))

    def excess(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far each variable is above the best of its actions: (m,) float64."""
        best = np.full(len(self.states), -np.inf)
        np.maximum.at(best, self.row_state, self.worth(x))
        return np.asarray(x - best)

    @property
    def looks_ahead(self) -> bool:
        """Whether it is one state, all of whose outcomes are known: nobody needs a solver then."""
        return len(self.states) == 1 and bool(np.all(self.matrix.data == 1.0))

    @classmethod
    def of_states(
        cls, graph: StateGraph, states: NDArray[np.int64], values: NDArray[np.float64]
    ) -> Model:
        """The model of some states.

        Parameters
        ----------
        states : (m,) int64
        values : (n_states + n_border,) float64
            Read where a state outside `states` follows.
        """
        from scipy.sparse import csr_matrix

        m = len(states)
        place = np.full(len(values), -1, np.int64)
        place[states] = np.arange(m)
        actions, n_choices = actions_of(graph, states)
        row_state = np.repeat(np.arange(m), n_choices)
        edges, counts = outcomes_of(graph, actions)
        row = np.repeat(np.arange(len(actions)), counts)
        sign = sign_of(graph.objective)
        scale = 1.0 if graph.is_score else 2.0
        weight = graph.outcome_weight[edges].astype(np.float64)
        chance = weight / np.bincount(row, weight, minlength=len(actions))[row]
        state = graph.outcome_state[edges]
        over = state < 0
        slope = np.where(graph.outcome_passes[edges] & ~over, -chance, chance)
        ahead = np.where(over, graph.outcome_payoff[edges], values[state])
        unknown = ~over & (place[state] >= 0)
        n_rows = len(actions)
        constant = graph.action_reward[actions] + np.bincount(
            row[~unknown], (slope * ahead)[~unknown], minlength=n_rows
        )
        slopes = np.bincount(row[unknown], slope[unknown], minlength=n_rows)
        matrix = csr_matrix(
            (
                np.concatenate([np.ones(n_rows), -slope[unknown]]),
                (
                    np.concatenate([np.arange(n_rows), row[unknown]]),
                    np.concatenate([row_state, place[state[unknown]]]),
                ),
            ),
            shape=(n_rows, m),
        )
        right = (sign * constant + (scale - 1) * (1 - slopes)) / scale
        return cls(graph, states, actions, row_state, matrix, right, n_choices > 1)


def parts(graph: StateGraph, whole: bool) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """What is solved at a time: the states, and the order in which they are swept.

    All of them, or one component after the other, those that end every play first.
    """
    order = graph.components.order.astype(np.int64)
    if whole:
        yield np.sort(order), order
    else:
        for low, high in pairwise(graph.components.indptr.tolist()):
            yield order[low:high], order[low:high]
