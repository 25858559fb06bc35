"""The graph of a game: its arrays, a view of them, components, endless play, policies."""

from rollwise.graph.lotteries import Lotteries
from rollwise.graph.naming import KEEP, NO_THROW, ROLLS_LEFT, THROW, title_of
from rollwise.graph.state_graph import (
    ARRAYS,
    FACTS,
    HELD,
    SPELLED_OUT,
    Endless,
    Objective,
    StateGraph,
    require_graph,
    require_one_value,
)
from rollwise.graph.view import Action, GraphView, Outcome, State, sign_of, unit_of, win_probability

__all__ = [
    "ARRAYS",
    "FACTS",
    "HELD",
    "KEEP",
    "NO_THROW",
    "ROLLS_LEFT",
    "SPELLED_OUT",
    "THROW",
    "Action",
    "Endless",
    "GraphView",
    "Lotteries",
    "Objective",
    "Outcome",
    "State",
    "StateGraph",
    "require_graph",
    "require_one_value",
    "sign_of",
    "title_of",
    "unit_of",
    "win_probability",
]
