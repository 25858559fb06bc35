"""Makes a wheel with compiled kernels for this platform: ``python scripts/platform_wheel.py``.

Without such a wheel, the first use on a machine waits for Numba. The wheel for all platforms, in
dist/ or in another folder, is built first. In an empty environment it is used, so that each used
kernel is compiled, for the processor in `rollwise.machine.wheel_kernels`. The second wheel has
these kernels in addition, and the tag of Numba's wheel: it is for one version of Python and one
platform. It is tried in another empty environment.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import smoke

FOLDER = "rollwise/compiled"
# Together they call the kernels that most commands use. Arguments differ in type where games have
# throws, pools, payoffs, more than two seats or large numbers of states. The first command is also
# the one that the wheel is tried with.
COMMANDS = """
solve pig
solve pig players=3 target=20
solve pig target=20 as=cube
solve piglet target=10 --method policy-iteration
solve super-six sticks=10
solve super-six sticks=4 players=3
solve threes
solve farkle-turn
solve yahtzee boxes=3
solve royal-ur pieces=1
solve craps
solve kuhn-poker
solve ship-captain-crew
solve knucklebones
solve liars-dice
evaluate pig target=40 --policy hold-at-20
evaluate threes --policy optimal
respond pig target=40 --to hold-at-20
distribution threes
distribution pig target=20
length pig target=30
balance pig target=30
simulate pig target=30 --policy optimal --games 20000
simulate pig target=30 players=3 --policy optimal --games 2000
tournament pig target=30 --policies optimal,hold-at-20
learn pig target=20 --games 20000
thumb pig target=20
compare threes
plot pig policy --out policy.html
page piglet --out page.html
""".strip().splitlines()


def target_of(place: smoke.Place) -> dict[str, str]:
    """The variables of Numba that have it compile for wheels of this platform."""
    code = "from rollwise.machine.wheel_kernels import target; print(*target() or ())"
    target = place.run("python", "-c", code).split()
    if not target:
        raise smoke.Failed("this processor isn't one that wheels are compiled for")
    return {"NUMBA_CPU_NAME": target[1], "NUMBA_CPU_FEATURES": target[2]}


def compile_kernels(wheel: Path, commands: list[str], folder: Path) -> list[str]:
    """Compile kernels into ``folder``, a subfolder each room; the tags of Numba's wheel."""
    with tempfile.TemporaryDirectory(prefix="rollwise-kernels-") as name:
        place = smoke.Place(Path(name))
        place.install(f"{wheel}[plot]")
        compiled = Path(name) / "numba"
        place.env |= target_of(place) | {
            "NUMBA_CACHE_DIR": str(compiled),
            "ROLLWISE_OFF": "plain-kernels,first-use",
        }
        for command in commands:
            place.run("rollwise", *command.split())
        # A room's name is followed by a hash of the place of its sources.
        for room in {file.parent for file in compiled.rglob("*.nbi")}:
            shutil.copytree(room, folder / room.name.rpartition("_")[0])
        (about,) = (Path(name) / "venv").rglob("numba-*.dist-info/WHEEL")
        return [line.split()[1] for line in about.read_text().splitlines() if line[:4] == "Tag:"]


def run_wheel(*words: str | Path) -> str:
    """The last word printed by a command of the package `wheel`."""
    done = subprocess.run(
        [sys.executable, "-m", "wheel", *words], check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.split()[-1]


def make(wheel: Path, commands: list[str]) -> Path:
    """The wheel with compiled kernels, beside the one without them.

    Parameters
    ----------
    commands : list of str
        The kernels called by these are compiled.

    Raises
    ------
    smoke.Failed
        No wheel is compiled for this processor.
    """
    with tempfile.TemporaryDirectory(prefix="rollwise-wheel-") as name:
        run_wheel("unpack", "--dest", name, wheel)
        (unpacked,) = Path(name).iterdir()
        tags = compile_kernels(wheel, commands, unpacked / FOLDER)
        run_wheel("pack", "--dest-dir", name, unpacked)
        python, abi, _ = tags[0].split("-")
        platforms = ".".join(tag.split("-")[2] for tag in tags)
        tagging = ("--python-tag", python, "--abi-tag", abi, "--platform-tag", platforms)
        made = run_wheel("tags", *tagging, *Path(name).glob("*.whl"))
        return Path(shutil.copy(Path(name) / made, wheel.parent))


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
        place.run("rollwise", *COMMANDS[0].split(), says="compiling")  # the rules
        compiled = sorted(file.stem for file in Path(name, "numba").rglob("*.nbi"))
        if compiled:
            raise smoke.Failed(f"the first use of {wheel.name} compiles {', '.join(compiled)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=smoke.ROOT / "dist")
    parser.add_argument(
        "--quick", action="store_true", help="compile only the kernels of the first command"
    )
    words = parser.parse_args()
    made = make(smoke.build(words.folder), COMMANDS[:1] if words.quick else COMMANDS)
    try_wheel(made)
    print(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    try:
        main()
    except smoke.Failed as failure:
        sys.exit(str(failure))
