"""Following one action a state: what it is worth, and how often play comes by.

A recursion is arranged once. To follow other actions then takes one sweep, in compiled code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rollwise.kernels import following as kernels
from rollwise.kernels.recursion import MOST_FEEDBACK
from rollwise.machine.interrupts import heard
from rollwise.recursion.order import Recursion
from rollwise.recursion.search import Workspace, workspace_for

ACCURACY = 1e-9  # of values where they are found by sweeps
ROUGH = 1e-5  # the same, of values that are soon found
VISITS_LOST = 1e-3  # the share of the visits to a component that may be left out
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Memory:
    """What an evaluation works on; two at a time need two.

    Attributes
    ----------
    chosen : (n_states,) uint32
        The action that is followed at each position.
    kept : (n_states,) uint32
        The same where it matters.
    waiting : (n_states,) uint32
    values : (n_states,) float64
        By position: those of the actions that were evaluated last.
    """

    chosen: NDArray[np.uint32]
    kept: NDArray[np.uint32]
    waiting: NDArray[np.uint32]
    values: Floats
    slope: Floats
    workspace: Workspace


class Following:
    """A recursion whose actions are followed.

    Parameters
    ----------
    recursion : Recursion
        Without a border.

    Attributes
    ----------
    begin : (n_states,) float64
        By position: values with which sweeps begin. Near ones save sweeps. They are the same for
        all actions that are followed, so that no evaluation depends on those before it.
    """

    def __init__(self, recursion: Recursion) -> None:
        self._recursion = recursion
        self.begin = np.zeros(recursion.n_states)

    def memory(self) -> Memory:
        """What an evaluation works on. At first, all follow the first action of each state."""
        arranged, indptr = self._recursion.arranged, self._recursion.components.indptr
        n = self._recursion.n_states
        begin = arranged.outcome_indptr[arranged.action_indptr[indptr]].astype(np.int64)
        many = arranged.n_feedback[: len(indptr) - 1] > 1
        states = int(np.diff(indptr)[many].max(initial=0))
        outcomes = int(np.diff(begin)[many].max(initial=0))
        workspace = workspace_for(states, outcomes)
        first = self.first_actions
        memory = (first.copy(), first.copy(), np.zeros(n, np.uint32), np.zeros(n), np.zeros(n))
        return Memory(*memory, workspace)

    @cached_property
    def first_actions(self) -> NDArray[np.uint32]:
        """The first action of each position: (n_states,) uint32."""
        first: NDArray[np.uint32] = self._recursion.arranged.action_indptr[:-1]
        return first

    @cached_property
    def by_sweeps(self) -> bool:
        """Whether some values are found by sweeps, and are sooner had roughly."""
        n_components = len(self._recursion.components.indptr) - 1
        return bool((self._recursion.arranged.n_feedback[:n_components] > MOST_FEEDBACK).any())

    def evaluate(
        self, memory: Memory, starts: NDArray[np.int64] | None = None, *, rough: bool = False
    ) -> bool:
        """Find the values of the chosen actions; False where play may have no end.

        Parameters
        ----------
        starts : (n,) int64, optional
            Only the values of these positions are asked for. Those to which no play from them
            comes have none then: that is often most.
        rough : bool
            Values may be off by some `ROUGH`. What is found by sweeps is sooner had so.
        """
        if starts is None:
            memory.kept[:] = memory.chosen
        else:
            arranged = self._recursion.arranged
            kernels.keep_to(starts, arranged, memory.chosen, memory.kept, memory.waiting)
        return self._sweep(memory, self.begin, ROUGH if rough else ACCURACY)

    def refine(self, memory: Memory) -> bool:
        """Go on from what was found roughly."""
        return self._sweep(memory, memory.values, ACCURACY)

    def _sweep(self, memory: Memory, begin: Floats, accuracy: float) -> bool:
        done = heard(
            kernels.evaluate_chosen,
            self._recursion.components.indptr,
            self._recursion.arranged,
            memory.chosen,
            memory.kept,
            begin,
            accuracy,
            memory.values,
            memory.slope,
            memory.workspace.slopes,
            memory.workspace.condensed,
        )
        if not done:
            memory.values[:], memory.slope[:] = 0.0, 0.0
        return bool(done)

    def visits(self, memory: Memory, starts: NDArray[np.int64]) -> Floats:
        """How often play from some positions comes by each, roughly: (n_states,) float64."""
        visits = np.zeros(self._recursion.n_states)
        visits[starts] = 1.0
        kernels.count_visits(
            self._recursion.components.indptr,
            self._recursion.arranged,
            memory.chosen,
            visits,
            VISITS_LOST,
        )
        return visits

    def action_values(self, positions: NDArray[np.int64], memory: Memory) -> Floats:
        """What actions are worth at some positions, by the values that were found: (n_actions,)."""
        worth = np.zeros(len(self._recursion.arranged.constant))
        kernels.action_values(positions, self._recursion.arranged, memory.values, worth)
        return worth
