"""Runs tests with the lowest versions declared: ``python scripts/lowest.py`` (`make lowest`).

In a virtual environment of its own each requirement ``>=`` of rollwise, its extras and its tests is
installed as ``==``. Arguments go to pytest; without any, all tests that `make check` runs are run.
``--newest`` installs the newest versions that are allowed instead.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ("-q", "--numprocesses", "auto", "--hypothesis-profile=quick", "-m", "not slow")


def requirements(newest: bool) -> list[str]:
    """What is declared, at its lowest version: ``numpy>=2.0,<3`` is ``numpy==2.0``."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    names = extras["all"][0].partition("[")[2].rstrip("]").split(",")
    declared = [
        *project["dependencies"],
        *(one for name in (*names, "test") for one in extras[name]),
    ]
    if newest:
        return declared
    return [one.partition(",")[0].replace(">=", "==") for one in declared]


def main() -> int:
    """Install, and test; the exit code is pytest's."""
    given = [word for word in sys.argv[1:] if word != "--newest"]
    with tempfile.TemporaryDirectory(prefix="rollwise-lowest-") as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        install = [python, "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, *requirements("--newest" in sys.argv)], check=True)
        subprocess.run([*install, "--no-deps", "--editable", ROOT], check=True)
        environment = os.environ | {"ROLLWISE_CACHE_DIR": str(folder / "cache")}
        command = [python, "-m", "pytest", *(given or TESTS)]
        return subprocess.run(command, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
