"""What a `StateGraph` of version 0.1 said of its actions, and the view says now.

These go in version 0.3.
"""

from __future__ import annotations

import warnings
from typing import Any

from rollwise.graph.view import GraphView


class OldNames:
    """Works under the old names, and says what to write instead."""

    @property
    def view(self) -> GraphView:
        raise NotImplementedError

    def action_text(self, action: int) -> str:
        """Now ``graph.view.action(action).name``."""
        _warn("action_text(action)", "view.action(action).name")
        return self.view.action(action).name

    def action_texts(self, state: int) -> list[str]:
        """Now ``graph.view[state].action_names``."""
        _warn("action_texts(state)", "view[state].action_names")
        return self.view[state].action_names

    def labels_of(self, state: int) -> list[int]:
        """Now ``graph.view[state].labels``."""
        _warn("labels_of(state)", "view[state].labels")
        return self.view[state].labels

    def find_action(self, state: int, action: str | int) -> int:
        """Now ``graph.view[state].find_action(action).index``."""
        _warn("find_action(state, action)", "view[state].find_action(action).index")
        return self.view[state].find_action(action).index

    @classmethod
    def of_lotteries(cls, **parts: Any) -> Any:
        """Now ``StateGraph(...)``."""
        _warn("of_lotteries(...)", "StateGraph(...)")
        return cls(**parts)


def _warn(old: str, new: str) -> None:
    where = new if new.startswith("StateGraph") else f"graph.{new}"
    warnings.warn(
        f"StateGraph.{old} is now {where}; the old name goes in version 0.3",
        DeprecationWarning,
        stacklevel=3,
    )
