"""Make the pages of all case studies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
STUDIES = (
    "super_six_value_iteration",
    "super_six_family",
    "dice_blackjack",
    "pig",
    "super_six_programming",
    "threes",
)


def main() -> None:
    """Run each script with the same arguments."""
    for name in STUDIES:
        subprocess.run([sys.executable, HERE / f"{name}.py", *sys.argv[1:]], check=True)


if __name__ == "__main__":
    main()
