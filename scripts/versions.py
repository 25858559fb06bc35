"""Runs tests with the lowest or the newest versions that pyproject.toml allows.

``python scripts/versions.py lowest`` (`make lowest`) installs each requirement ``>=`` of rollwise,
its extras and its tests as ``==``, in a virtual environment of its own. ``newest`` (`make newest`)
installs the newest version within the bounds of each. More arguments go to pytest; without any,
the tests of `make check` are run.
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


def requirements(which: str) -> list[str]:
    """The declared requirements; for "lowest" ``numpy>=2.0,<3`` becomes ``numpy==2.0``."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    names = extras["all"][0].partition("[")[2].rstrip("]").split(",")
    declared = [
        *project["dependencies"],
        *(one for name in (*names, "test") for one in extras[name]),
    ]
    if which == "newest":
        return declared
    return [one.partition(",")[0].replace(">=", "==") for one in declared]


def main() -> int:
    """Install, and test; the exit code is pytest's."""
    which, *given = sys.argv[1:]
    if which not in ("lowest", "newest"):
        sys.exit("which versions: lowest or newest?")
    with tempfile.TemporaryDirectory(prefix="rollwise-versions-") as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        install = [python, "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, *requirements(which)], check=True)
        subprocess.run([*install, "--no-deps", "--editable", ROOT], check=True)
        environment = os.environ | {"ROLLWISE_CACHE_DIR": str(folder / "cache")}
        command = [python, "-m", "pytest", *(given or TESTS)]
        return subprocess.run(command, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
