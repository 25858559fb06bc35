"""The heap: what is freed between arrays that stay is given back."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HOLES = """
import sys
import numpy as np
from rollwise.machine import memory_limits

if sys.argv[1] == "mapped":
    memory_limits.map_large_arrays()
del (large := [np.ones(30 << 17)])[:]  # 30 MB: from now on the C library maps larger ones only
stay, go = [], []
for _ in range(64):
    stay.append(np.ones(2 << 17))
    go.append(np.ones(2 << 17))  # 2 MB
del go
with open("/proc/self/status") as file:
    print(next(line.split()[1] for line in file if line.startswith("RssAnon")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc can be told")
def test_arrays_that_are_freed_leave_no_holes():
    # Dask tells the C library of its workers when to trim, by variables that stay in the
    # process that began them: this one, where a test of a cluster ran before.
    plain_environment = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}

    def taken(way: str) -> int:
        """Kilobytes."""
        ran = subprocess.run(
            [sys.executable, "-c", HOLES, way],
            env=plain_environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return int(ran.stdout)

    assert taken("mapped") < taken("plain") - 64 * 1024  # of 128 MB that were freed
