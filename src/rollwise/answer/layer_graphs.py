"""Layers that are solved and proved as graphs, one after the other.

A layer is a `StateGraph` like any other, with a border: the states of later layers that it
leads to, whose values and error bounds are known by then. So the methods and the
certificate of whole graphs solve and certify it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import NO_VALUE
from rollwise.answer.layer_answers import MOST_AT_ONCE, LayerAnswers, report_up_to
from rollwise.answer.layer_folder import LayerFacts
from rollwise.answer.turns import turn_values
from rollwise.builders.arrays import first_rows, first_rows_of, lotteries_of
from rollwise.builders.by_layer import Layer
from rollwise.graph import THROW, StateGraph
from rollwise.graph.choices import taken
from rollwise.graph.endings import Settled, no_value
from rollwise.graph.lookahead import look_ahead
from rollwise.machine.pipeline import Source, Stage, pipeline
from rollwise.methods.strategy_iteration import Solver, strategy_iteration
from rollwise.proofs.bounds import Certificate, certify_ending, certify_settled
from rollwise.recursion.endless import settled
from rollwise.recursion.order import Recursion

if TYPE_CHECKING:
    from rollwise.builders.by_layer import Layers, Turns


class Solved(NamedTuple):
    """A layer that has its values, and not yet their bounds.

    Attributes
    ----------
    values : (n_states,) float64
    arranged : Recursion
        The layer in solving order.
    settled : Settled or None
        The layer with the worth of endless play; None if every play ends.
    claimed : float64 or None
        Error bounds of that graph that the method claims, if it does.
    """

    values: NDArray[np.float64]
    arranged: Recursion
    settled: Settled | None = None
    claimed: NDArray[np.float64] | None = None


def bytes_of_graph(layers: Layers, n_positions: int) -> int:
    """About how much memory some positions of a layer take as a graph, as was measured."""
    outcomes = layers.n_outcomes / layers.n_states  # of a position
    return int(n_positions * (25 * outcomes + 500 * states_of_position(layers)))


def states_of_position(layers: Layers) -> int:
    """How many states of a graph there are for a position, about: itself and its turn."""
    rules = layers.rules
    throws = sum(1 for _ in rules.game.throws(rules.start)) if rules.has_throws else 0
    return 1 + (rules.turn_states or throws)


def solve_layer(graph: StateGraph, border_values: NDArray[np.float64]) -> Solved:
    """The values of a layer, from those on its border."""
    arranged = Recursion.of_values(graph)
    settling = settled(graph, arranged)
    if settling is None:
        return Solved(Solver(graph, arranged, border_values).run().values, arranged)
    found = strategy_iteration(settling.graph, border_values=border_values)
    claimed = None if found.upper is None else found.upper - found.values
    return Solved(settling.spread(found.values), arranged, settling, claimed)


def prove_layer(
    graph: StateGraph,
    solved: Solved,
    border_values: NDArray[np.float64],
    border_bounds: NDArray[np.float64],
) -> Certificate:
    """The error bounds of a layer, from those on its border.

    Raises
    ------
    EndlessPlay
        Both players lose by going round for ever, and may gain by it.
    """
    settling, border = solved.settled, (border_values, border_bounds)
    if settling is None:
        return certify_ending(graph, solved.arranged, solved.values, *border)
    values = settling.gather(solved.values)
    proof = certify_settled(settling.graph, values, *border, claimed=solved.claimed)
    if graph.endless == "lose" and not proof.bound <= NO_VALUE:
        raise no_value(settling.graph)
    return Certificate(settling.spread(proof.bounds, 0.0), proof.residual)


class ByLayer:
    """Layers on their way from being built to being proved.

    Parameters
    ----------
    layers : Layers
    answers : LayerAnswers
    progress : callable, optional
    pieces : iterator, optional
        The layers, or parts of one; else all that aren't known.
    """

    def __init__(
        self,
        layers: Layers,
        answers: LayerAnswers,
        progress: Callable[[str, int, int | None], None] | None,
        pieces: Iterator[Layer | Turns] | None = None,
    ) -> None:
        self._layers, self._answers, self._progress = layers, answers, progress
        self._pieces = layers.last_first(answers.known) if pieces is None else pieces
        self._to_prove: deque[Solved] = deque()
        self.seconds = dict.fromkeys(("build", "solve", "certify"), 0.0)

    def run(self) -> None:
        """Solve and prove all layers.

        A layer's values wait for those of the layers behind it, but not for their bounds: these
        follow on the second core, in the same order.
        """
        pipeline(
            Source(self.built(), first=1),
            [Stage(self.solve, first=0), Stage(self.prove, second=0)],
            most_at_once=MOST_AT_ONCE,
        )

    def built(self) -> Iterator[Layer | Turns]:
        """The layers, those that end every play first."""
        while True:
            with self._timed("build"):
                layer = next(self._pieces, None)
            if layer is None:
                return
            yield layer

    def solve(self, layer: Layer | Turns) -> None:
        """Find the values of a layer."""
        if not isinstance(layer, Layer):
            self._solve_turns(layer)
            return
        graph, begin, end, border = layer
        with self._timed("solve"):
            solved = solve_layer(graph, self._answers.values_of(border))
            self._to_prove.append(solved)
            # the positions stand first
            self._answers.values[self._answers.at(begin, end)] = solved.values[: end - begin]
            facts = LayerFacts(
                graph.n_actions,
                graph.n_outcomes,
                graph.nbytes,  # before a proof adds arrays
                has_draws=graph.has_draws,
                has_stakes=graph.has_stakes,
            )
            self._answers.count(begin, facts, first_rows_of(self._layers.rules, graph))
        report_up_to(self._progress, "solving", self._layers, end)

    def _solve_turns(self, turns: Turns) -> None:
        """Find the values of positions whose turns lead to later layers."""
        arrays, begin, end, border = turns
        with self._timed("solve"):
            rules, values = self._layers.rules, self._answers.values_of(border)
            # bounds come behind, as those of other layers do
            found, _ = turn_values(rules, arrays, values, np.zeros(len(border)))
            self._answers.values[self._answers.at(begin, end)] = found
            lotteries = lotteries_of(arrays)
            facts = LayerFacts(
                len(arrays.action_label),
                len(arrays.outcome_state),
                arrays.nbytes,
                has_draws=lotteries.has_draws(),
                has_stakes=rules.game.objective == "win" and lotteries.has_stakes(),
            )
            self._answers.count(begin, facts, first_rows(rules, arrays))
        report_up_to(self._progress, "solving", self._layers, end)

    def prove(self, layer: Layer | Turns) -> None:
        """Find the bounds and the best actions of a layer."""
        with self._timed("certify"):
            begin, end, border = layer.begin, layer.end, layer.border
            answers, at = self._answers, self._answers.at(layer.begin, layer.end)
            values, bounds = answers.values_of(border), answers.bounds_of(border)
            if not isinstance(layer, Layer):
                rules = self._layers.rules
                _, answers.error_bounds[at] = turn_values(rules, layer.arrays, values, bounds)
                answers.actions[at] = THROW
            else:
                solved = self._to_prove.popleft()
                certificate = prove_layer(layer.graph, solved, values, bounds)
                ahead = look_ahead(layer.graph, solved.values, certificate.bounds, values, bounds)
                best = layer.graph.action_label[taken(layer.graph, ahead)]
                answers.error_bounds[at] = certificate.bounds[: end - begin]
                answers.actions[at] = best[: end - begin]
            answers.prove(begin, end)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[stage] += time.perf_counter() - began
