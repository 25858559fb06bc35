"""Where a process may take little memory, it says what it lacks, instead of being ended by LLVM."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rollwise.errors import RollwiseError, TooLittleMemory
from rollwise.machine import memory_limits

resource = pytest.importorskip("resource")
needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="there is no /proc")
FREE = resource.RLIM_INFINITY


@pytest.fixture
def limits(monkeypatch):
    """Sets the limits of address space and of data that this process seems to have."""

    def limit(space: int, data: int) -> None:
        said = {resource.RLIMIT_AS: space, resource.RLIMIT_DATA: data}
        monkeypatch.setattr(resource, "getrlimit", lambda kind: (said[kind], FREE))

    return limit


@needs_proc
def test_the_smaller_of_two_limits_counts(limits):
    limits(2**50, FREE)
    space = memory_limits.left()
    limits(FREE, 2**50)
    data = memory_limits.left()
    assert 0 < 2**50 - data < 2**50 - space  # data are a part of the address space
    limits(2**50, 2**40)
    assert memory_limits.left() < 2**40


@needs_proc
def test_too_little_is_said_in_a_line(limits):
    limits(1000, FREE)
    with pytest.raises(TooLittleMemory, match=r"^this takes 5 MB of memory, and .* only 0 MB more"):
        memory_limits.require(5_000_000, "this")
    assert issubclass(TooLittleMemory, MemoryError)  # which nobody takes for a fault of rules
    assert issubclass(TooLittleMemory, RollwiseError)


@needs_proc
@pytest.mark.needs_jit
@pytest.mark.parametrize(("megabytes", "lacks"), [(250, "loading Numba"), (600, "compiling")])
def test_a_command_ends_with_what_it_lacks(megabytes, lacks, tmp_path):
    tmp_path.chmod(0o700)
    code = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({megabytes} << 20, {megabytes} << 20))\n"
        "from rollwise.cli import main\n"
        "sys.argv = ['rollwise', 'solve', 'pig', 'target=20']\n"
        "main()\n"
    )
    places = {"NUMBA_CACHE_DIR": str(tmp_path), "ROLLWISE_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **places, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"rollwise: {lacks}" in done.stderr
    assert "raise its limit (ulimit -v" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the heap of glibc")
def test_freed_memory_is_used_again():
    code = (
        "import resource, numpy\n"
        "from rollwise.machine import memory_limits\n"
        "memory_limits.keep_freed_memory()\n"
        "def faults():\n"
        "    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "    arrays = [numpy.ones(1_000_000) for _ in range(10)]\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before\n"
        "print(faults(), faults())\n"
    )

    def faults(off: str) -> list[int]:
        environment = {**os.environ, "ROLLWISE_OFF": off}
        found = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        return [int(number) for number in found.stdout.split()]

    first, again = faults("")
    assert again < 0.2 * first
    assert faults("freed-memory")[1] > again
