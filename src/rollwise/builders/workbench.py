"""What one core expands the states of layers with."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rollwise.builders.compiled.compiling import CompiledRules
from rollwise.builders.compiled.explorer import Explorer
from rollwise.builders.progress import Reached
from rollwise.builders.rules import Rules


class Workbench:
    """An explorer, and a question for the progress of states: one thread at a time uses them.

    Parameters
    ----------
    rules : Rules
    compiled : CompiledRules
    most : int
        States that are numbered together.

    Attributes
    ----------
    last : Explorer or None
        The explorer that was used last, unless it was put away.
    """

    def __init__(self, rules: Rules, compiled: CompiledRules, most: int) -> None:
        self._rules, self._compiled, self._most = rules, compiled, most
        self.last: Explorer | None = None

    @cached_property
    def reached(self) -> Reached:
        """Asks states for their progress."""
        return Reached(self._rules)

    def explorer(self, root: np.ndarray, *, merging: bool) -> Explorer:
        """The last explorer or a new one, which has to be restarted.

        Parameters
        ----------
        root : (1, n_fields) int32
            A state.
        merging : bool
            Whether equal outcomes are merged.
        """
        if self.last is None:
            self.last = Explorer(self._rules, self._compiled, root, self._most, layer_by_layer=True)
        self.last.counts["merging"] = merging
        return self.last

    def put_away(self) -> None:
        """Let go of the explorer and its arrays."""
        self.last = None
