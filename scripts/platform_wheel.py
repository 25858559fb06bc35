"""Makes a wheel with compiled kernels for this platform: ``python scripts/platform_wheel.py``.

The build backend (``scripts/backend.py``) compiles the kernels. The wheel is tried in an empty
environment.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import smoke


def make(folder: Path, kernels: str) -> Path:
    """A wheel with the kernels that ``--config-settings kernels=...`` names, in a folder."""
    smoke.run_build("--wheel", "--outdir", folder, f"--config-setting=kernels={kernels}")
    wheel = smoke.newest(folder.glob("*.whl"))
    if wheel.stem.endswith("any"):
        raise smoke.Failed(f"{wheel.name} has no compiled kernels")
    return wheel


def try_wheel(wheel: Path) -> None:
    """Install the wheel in an empty environment; its first use there compiles no kernel.

    Raises
    ------
    smoke.Failed
        A kernel was compiled.
    """
    with tempfile.TemporaryDirectory(prefix="rollwise-smoke-") as name:
        place = smoke.Place(Path(name))
        place.install(str(wheel))
        place.env["NUMBA_CACHE_DIR"] = str(Path(name) / "numba")
        place.run("rollwise", "solve", "pig", says="compiling")  # the rules
        compiled = sorted(file.stem for file in Path(name, "numba").rglob("*.nbi"))
        if compiled:
            raise smoke.Failed(f"the first use of {wheel.name} compiles {', '.join(compiled)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=smoke.ROOT / "dist")
    parser.add_argument(
        "--quick", action="store_true", help="compile only the kernels of the first commands"
    )
    words = parser.parse_args()
    made = make(words.folder, "first" if words.quick else "all")
    try_wheel(made)
    print(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    try:
        main()
    except smoke.Failed as failure:
        sys.exit(str(failure))
