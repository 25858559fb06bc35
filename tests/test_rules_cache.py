"""Compiled rules on disk: used where nothing has changed, and only there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rollwise.machine.switches import jit_disabled

if not jit_disabled():
    pass

pytestmark = pytest.mark.needs_jit

GAME = """
from typing import NamedTuple
from rollwise import PASS, WIN, Game

class Spot(NamedTuple):
    x: int

def steps(face):
    return face + 0

class Walk(Game):
    def start(self):
        return Spot(9)
    def actions(self, s):
        yield 0
    def outcomes(self, s, action):
        for face in range(1, 4):
            if steps(face) >= s.x:
                yield 1, WIN, s
            else:
                yield 1, PASS, Spot(s.x - steps(face))
"""
SCRIPT = """
import sys
from rollwise.builders import build_with_report
from rollwise.games import find
graph, report = build_with_report(find("walk.py:Walk")(), mode="compiled")
compiler = "numba.core.typing.cffi_utils" in sys.modules  # which only compiling needs
print("compiled" if compiler else "read", graph.n_states, report.mode)
"""


@pytest.mark.slow
def test_another_process_uses_them_until_a_helper_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("ROLLWISE_CACHE_DIR", str(tmp_path / "cache"))

    def play(source: str) -> str:
        (tmp_path / "walk.py").write_text(source)
        command = [sys.executable, "-c", SCRIPT]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert play(GAME) == "compiled 9 compiled"
    assert play(GAME) == "read 9 compiled"
    changed = GAME.replace("face + 0", "face + 1")
    assert play(changed) == "compiled 8 compiled"
    for path in (tmp_path / "cache" / "rules").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    assert play(GAME) == "compiled 9 compiled"
    assert play(GAME) == "read 9 compiled"


@pytest.mark.slow
def test_what_is_read_from_disk_is_not_mistaken_for_what_was_compiled_here(tmp_path, monkeypatch):
    """Games of one name, one compiled in this process and one in another."""
    monkeypatch.setenv("ROLLWISE_CACHE_DIR", str(tmp_path / "cache"))
    for folder, sides in (("one", 2), ("other", 3)):
        (tmp_path / folder).mkdir()
        rules = GAME.replace("range(1, 4)", f"range(1, {sides + 1})")
        (tmp_path / folder / "walk.py").write_text(rules)
    script = """
import sys
from rollwise.builders import build
from rollwise.games import find
for path in sys.argv[1:]:
    print(build(find(path + "/walk.py:Walk")(), mode="compiled").n_outcomes)
"""

    def play(*folders: str) -> list[str]:
        command = [sys.executable, "-c", script, *folders]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert play("other") == ["27"]
    assert play("one", "other") == ["18", "27"]
    assert play("other", "one", "other") == ["27", "18", "27"]
