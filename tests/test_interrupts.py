"""Ctrl-C is heard also where an exception can't be raised."""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
import time

import pytest

from rollwise.machine.interrupts import hear_in_callbacks
from rollwise.machine.switches import jit_disabled

SECONDS = 30  # within which it is heard, on a busy machine too


@pytest.mark.skipif(jit_disabled(), reason="nothing is compiled")
@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals need this thread"
)
def test_ctrl_c_in_a_callback_of_compiled_code_is_heard(monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    hear_in_callbacks()  # as modules that compile do; other tests may have replaced the hook

    @ctypes.CFUNCTYPE(None)
    def callback() -> None:
        signal.raise_signal(signal.SIGINT)
        time.sleep(0)

    def call() -> None:
        callback()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        call()
