"""Makes a release in dist/, and checks it: ``python scripts/release.py`` (`make release`).

The version must be the same in the package, in CITATION.cff and at the head of CHANGELOG.md, and no
longer be called unreleased there. Then the sdist and two wheels are built: one for all platforms,
and one with compiled kernels for this platform. Each is tried in an empty environment
(``scripts/smoke.py``), and `twine` checks all files.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import platform_wheel
import smoke

ROOT = Path(__file__).resolve().parent.parent
SOURCES = {
    "src/rollwise/__init__.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "CHANGELOG.md": r"^## (\S+)",
}


def versions(root: Path) -> dict[str, str]:
    """The version that each file names; of the changelog, the first one."""
    found = {}
    for name, pattern in SOURCES.items():
        match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        found[name] = match[1] if match else "none"
    return found


def faults(root: Path) -> list[str]:
    """Reasons against a release of these files."""
    named = versions(root)
    found = []
    if len(set(named.values())) > 1:
        found.append("versions differ: " + ", ".join(f"{one} in {at}" for at, one in named.items()))
    newest = re.search(
        r"^## .*$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    if newest and not re.fullmatch(r"## \S+ \(\d{4}-\d\d-\d\d\)", newest[0]):
        found.append(f"CHANGELOG.md says {newest[0]!r}: write the date, as in (2026-01-31)")
    return found


def main() -> None:
    if found := faults(ROOT):
        sys.exit("no release: " + "; ".join(found))
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    wheel = smoke.build(dist)
    smoke.try_wheel(wheel)
    platform_wheel.try_wheel(platform_wheel.make(dist, "all"))
    subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *sorted(dist.iterdir())], check=True
    )
    version = versions(ROOT)["CITATION.cff"]
    print(f"dist/ holds rollwise {version}. To publish it:")
    print(f"  git tag v{version} && git push origin v{version}")
    print("  python -m twine upload dist/*")


if __name__ == "__main__":
    try:
        main()
    except smoke.Failed as failure:
        sys.exit(str(failure))
