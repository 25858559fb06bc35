"""Ctrl-C is heard also where an exception can't be raised."""

from __future__ import annotations

import ctypes
import signal
import threading
import time

import pytest

from rollwise.machine.switches import jit_disabled


@pytest.mark.skipif(jit_disabled(), reason="nothing is compiled")
@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals need this thread"
)
def test_ctrl_c_in_a_callback_of_compiled_code_is_heard():
    import rollwise.machine.kernel_cache  # noqa: F401 (as whoever compiles)

    @ctypes.CFUNCTYPE(None)
    def callback() -> None:
        signal.raise_signal(signal.SIGINT)
        time.sleep(0)

    def call() -> None:
        callback()
        time.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        call()
