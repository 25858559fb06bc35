"""The first use on a machine: what a second process compiles, by using it.

While the first process compiles the rules and what explores, a second one,
``python -m rollwise.first_use``, compiles what solves and certifies; and then, while the
first one goes on, what only games with large cycles need. See
`rollwise.kernels.jit.compile_beside`.
"""

from __future__ import annotations

from rollwise.garbage import seldom_collected


def beside() -> None:
    """What the second process does."""
    from rollwise.builders import build
    from rollwise.certified import solve_and_certify
    from rollwise.games.pig import Piglet, TwoDicePig

    solve_and_certify(build(Piglet(2), mode="interpreted"))
    print("ready", flush=True)
    solve_and_certify(build(TwoDicePig(10), mode="interpreted"))


if __name__ == "__main__":
    with seldom_collected():
        beside()
