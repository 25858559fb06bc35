"""The graph of a game: its arrays, a view of them, components, endless play, policies."""

from rollwise.graph.lotteries import Lotteries
from rollwise.graph.naming import find_state, title_of
from rollwise.graph.state_graph import (
    ARRAYS,
    FACTS,
    HELD,
    SPELLED_OUT,
    Endless,
    Objective,
    StateGraph,
)

__all__ = [
    "ARRAYS",
    "FACTS",
    "HELD",
    "SPELLED_OUT",
    "Endless",
    "Lotteries",
    "Objective",
    "StateGraph",
    "find_state",
    "title_of",
]
