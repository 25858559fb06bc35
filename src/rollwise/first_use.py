"""The first use on a machine: who of two processes compiles what, by using it.

While the first process compiles the rules and what explores, a second one,
``python -m rollwise.first_use``, compiles what solves. That takes longer, so the first one
goes on with what certifies. See `rollwise.kernels.jit.compile_beside`.
"""

from __future__ import annotations

from rollwise.garbage import seldom_collected
from rollwise.graph import StateGraph


def _small_graph() -> StateGraph:
    from rollwise.builders import build
    from rollwise.games.pig import Piglet

    return build(Piglet(2), mode="interpreted")


def beside() -> None:
    """What the second process does."""
    from rollwise.methods import run_method

    run_method(_small_graph(), "strategy-iteration")


def meanwhile() -> None:
    """What the first process does, when it has explored, instead of waiting for the second."""
    from rollwise.certificate import rehearse

    rehearse(_small_graph())


if __name__ == "__main__":
    with seldom_collected():
        beside()
