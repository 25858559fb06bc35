"""The first use on a machine: who of two processes compiles what, by using it.

While the first process compiles the rules and what explores, a second one,
``python -m rollwise.first_use``, compiles what solves. That takes longer, so the first one
goes on with what finds components and what certifies. See
`rollwise.kernels.jit.compile_beside`.
"""

from __future__ import annotations

import numpy as np

from rollwise.components import Components
from rollwise.garbage import seldom_collected
from rollwise.graph import StateGraph


def _small_graph() -> StateGraph:
    from rollwise.builders import build
    from rollwise.games.pig import Piglet

    return build(Piglet(2), mode="interpreted")


def beside() -> None:
    """What the second process does."""
    from rollwise.methods import run_method

    graph = _small_graph()
    # all states as one component, so that what finds components isn't compiled here too
    order = np.arange(graph.n_states, dtype=np.int32)
    vars(graph)["components_so_far"] = Components(order, np.array([0, graph.n_states]), order)
    run_method(graph, "strategy-iteration")


def meanwhile() -> None:
    """What the first process does, when it has explored, instead of waiting for the second."""
    from rollwise.certificate import rehearse

    rehearse(_small_graph())


if __name__ == "__main__":
    with seldom_collected():
        beside()
