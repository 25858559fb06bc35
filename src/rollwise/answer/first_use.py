"""The first use on a machine: a second process compiles kernels by using them.

Numba compiles on one core. The first process compiles the rules and the search for states. A
second process runs this module meanwhile and compiles the solver, the search for bounds and the
proof. It prints `ready`, and then compiles the solver of components with many feedback positions.
That takes long, and only some games need it. The process may outlive the command.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from rollwise.machine import switches
from rollwise.machine.memory_limits import seldom_collected


def nothing_compiled() -> bool:
    """Whether no kernel has been compiled on this machine yet."""
    from rollwise.engine.components import solve_components
    from rollwise.machine.kernel_cache import is_compiled

    some: Any = solve_components
    return not is_compiled(some.compiled)


def compile_beside() -> Callable[[], None]:
    """On the first use on a machine, compile the solver in a second process.

    Returns
    -------
    callable
        Waits until the process reports that it is ready, or ends.
    """
    from rollwise.engine.components import solve_components
    from rollwise.machine.kernel_cache import is_kept

    some: Any = solve_components
    two_cores = (os.cpu_count() or 1) > 1
    if not (
        switches.is_on("first-use") and two_cores and nothing_compiled() and is_kept(some.compiled)
    ):
        return lambda: None
    nowhere = subprocess.DEVNULL
    command = [sys.executable, "-P", "-m", __name__]  # nothing of the current folder
    return partial(
        _wait, subprocess.Popen(command, stdin=nowhere, stdout=subprocess.PIPE, stderr=nowhere)
    )


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process says a line, or ends. It goes on even when this process has ended."""
    assert process.stdout is not None
    with process.stdout:
        process.stdout.readline()


def compile_what_solves() -> None:
    """Compile the solver: the work of the second process."""
    from rollwise.answer.certified import solve_and_certify
    from rollwise.builders import build
    from rollwise.games.pig import Piglet, TwoDicePig
    from rollwise.kernels.jit import compile_all

    compile_all()
    solve_and_certify(build(Piglet(2), mode="interpreted"))
    print("ready", flush=True)
    solve_and_certify(build(TwoDicePig(10), mode="interpreted"))


if __name__ == "__main__":
    with seldom_collected():
        compile_what_solves()
