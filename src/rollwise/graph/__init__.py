"""The graph of a game: its arrays, their components and order, endless play, policies."""

from rollwise.graph.state_graph import (
    ARRAYS,
    SPELLED_OUT,
    Endless,
    Lotteries,
    Objective,
    StateGraph,
    find_state,
    title_of,
)

__all__ = [
    "ARRAYS",
    "SPELLED_OUT",
    "Endless",
    "Lotteries",
    "Objective",
    "StateGraph",
    "find_state",
    "title_of",
]
