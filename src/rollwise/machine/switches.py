"""Switches that turn optimizations of the machine room off, for measurements and debugging.

``ROLLWISE_OFF=second-core,garbage`` in the environment turns off two of them. Answers stay the
same, and only the time changes. ``python -m benchmarks --only tricks`` measures each.
"""

from __future__ import annotations

import os
from functools import cache

from rollwise.errors import UsageError

VARIABLE = "ROLLWISE_OFF"
TRICKS = {
    "plain-kernels": "loops over small arrays are interpreted, not compiled",
    "prefetch": "loops with random access ask for memory ahead",
    "second-core": "pieces of a graph go through the stages of solving on two cores, and rules of "
    "thumb are scored on two",
    "kernel-cache": "compiled code is kept on disk",
    "inner-code": "functions of compiled rules are optimized in their callers, and not alone",
    "first-use": "a second process compiles the solver, on the first use on a machine",
    "freed-memory": "freed memory is kept for the next arrays",
    "garbage": "commands put off Python's search for garbage",
}


def jit_disabled() -> bool:
    """Whether compilation is off in this process, by Numba's variable in the environment."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


@cache
def turned_off() -> frozenset[str]:
    """The optimizations that are off in this process.

    Raises
    ------
    UsageError
        One of the names is unknown.
    """
    names = [name.strip() for name in os.environ.get(VARIABLE, "").split(",")]
    for name in names:
        if name and name not in TRICKS:
            raise UsageError(
                f"{VARIABLE}: there is no trick {name!r} to turn off (there are "
                f"{', '.join(TRICKS)})"
            )
    return frozenset(names) & frozenset(TRICKS)


def mark(name: str, *tricks: str) -> str:
    """A name for compiled code, different if optimizations in it are off."""
    return "-no-".join([name, *sorted(turned_off() & set(tricks))])


def is_on(trick: str) -> bool:
    """Whether one of the `TRICKS` is on.

    Raises
    ------
    UsageError
        The environment names an unknown one.
    """
    return trick not in turned_off()
