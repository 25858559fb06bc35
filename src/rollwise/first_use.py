"""Run beside the first use on a machine: compiles the kernels that solve, by using them.

``python -m rollwise.first_use``; see `rollwise.kernels.jit.compile_beside`.
"""

from __future__ import annotations

from rollwise.games.pig import Piglet
from rollwise.solution import solve

if __name__ == "__main__":
    solve(Piglet(2))
