"""Kernels compiled ahead of time, in a wheel for one platform.

Such a wheel (``scripts/backend.py`` makes it) contains compiled kernels beside their
sources, so that the first use on a machine waits for the compilation of the rules only. The code
is for a common processor, not for that of the machine. Its features must all be present
here. Other machines, other versions of Numba and all other kernels are no error: Numba compiles,
as without such a wheel.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "compiled"

# The processors that wheels are compiled for, by the architecture in LLVM's names of platforms:
# LLVM's name of the processor, and its features beyond those of every processor of the
# architecture. x86-64-v3 is level 3 of the psABI: Intel's processors since 2013, AMD's since 2015.
# ARM's processors of 64 bits, called arm64 by Apple, all have vectors of 128 bits.
PROCESSORS = {
    "aarch64": ("generic", ""),
    "arm64": ("generic", ""),
    "x86_64": (
        "x86-64-v3",
        "+avx,+avx2,+bmi,+bmi2,+cx16,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sahf,"
        "+sse3,+sse4.1,+sse4.2,+ssse3,+xsave",
    ),
}


@cache
def target() -> tuple[str, str, str] | None:
    """The platform, processor and features of the kernels in wheels for this machine.

    Returns
    -------
    tuple of str, or None
        As Numba names the target of compiled code. None if this processor isn't among
        `PROCESSORS`, or lacks one of the features.
    """
    from llvmlite import binding

    platform = binding.get_process_triple()
    processor, features = PROCESSORS.get(platform.partition("-")[0], ("", ""))
    needed = [name.removeprefix("+") for name in features.split(",") if name]
    present = binding.get_host_cpu_features() if needed else {}
    if not processor or not all(present.get(name) for name in needed):
        return None
    return platform, processor, features
