"""The first use on a machine: it compiles, and says so."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.slow
@pytest.mark.needs_jit
def test_compiling_is_said_once(tmp_path):
    words = [sys.executable, "-m", "rollwise", "solve", "pig", "target=30", "--no-cache"]
    words += ["--mode", "compiled"]
    environment = {**os.environ, "ROLLWISE_CACHE_DIR": str(tmp_path / "cache")}
    first, second = (
        subprocess.run(words, capture_output=True, text=True, env=environment, check=True).stdout
        for _ in range(2)
    )
    said = "; some of it compiling, once on this machine\n"
    assert first.endswith(said)
    assert not second.endswith(said)
    assert first.splitlines()[:-1] == second.splitlines()[:-1]
