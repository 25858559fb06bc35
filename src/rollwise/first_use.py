"""Run beside the first use on a machine: compiles the kernels that solve, by using them.

``python -m rollwise.first_use``; see `rollwise.kernels.jit.compile_beside`.
"""

from __future__ import annotations

from rollwise.garbage import seldom_collected

if __name__ == "__main__":
    with seldom_collected():
        from rollwise.games.pig import Piglet
        from rollwise.solution import solve

        solve(Piglet(2))
