"""Every command line and every Python block of the README runs as it stands there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.mark.slow
def test_the_command_lines(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("rollwise ")]
    assert len(commands) >= 12
    assert all(line.startswith(("rollwise ", "make ")) for line in lines)
    for command in commands:
        arguments = shlex.split(command)[1:]
        done = subprocess.run(
            [sys.executable, "-m", "rollwise", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, (command, done.stderr)
        assert done.stderr == ""


def test_the_game_is_the_one_in_examples():
    game, _ = blocks("python")
    assert game == (ROOT / "examples" / "hit_the_mark.py").read_text()


@pytest.mark.slow
def test_the_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, code = blocks("python")
    scope: dict[str, object] = {}
    exec(code, scope)
    solution = scope["solution"]
    said = re.search(r"win_probability +# (0\.\d+)\.\.\.", code)
    assert said is not None
    assert f"{solution.win_probability:.12f}".startswith(said[1])


def test_make_targets_that_the_documents_name_exist():
    makefile = (ROOT / "Makefile").read_text()
    for document in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"`?make (\w+)`?", (ROOT / document).read_text()):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE) or target in ("nothing",)
