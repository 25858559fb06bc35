"""The first use on a machine: what a second process compiles, by using it.

While the first process compiles the rules, what explores and what certifies, a second one,
``python -m rollwise.answer.first_use``, compiles what solves; and then, while the first one goes
on, the proof, to which that one comes last, and what only games with large cycles need. See
`rollwise.kernels.jit.compile_beside`.
"""

from __future__ import annotations

from rollwise.machine.garbage import seldom_collected


def beside() -> None:
    """What the second process does."""
    from rollwise.builders import build
    from rollwise.games.pig import Piglet, TwoDicePig
    from rollwise.methods import run_method
    from rollwise.proofs.bounds import Bounding
    from rollwise.recursion.order import Recursion

    graph = build(Piglet(2), mode="interpreted")
    values = run_method(graph, "strategy-iteration").values
    print("ready", flush=True)
    Bounding(graph, Recursion.of_values(graph)).check(values, abs(values))
    run_method(build(TwoDicePig(10), mode="interpreted"), "strategy-iteration")


if __name__ == "__main__":
    with seldom_collected():
        beside()
