"""How much of rollwise one command passes through: files, functions, changes of file.

    python -m benchmarks.trace "solve pig" ["solve super-six sticks=1000" ...]

Counted are the Python functions of rollwise that run, in all threads, where everything is
compiled and no answer is kept. What runs while modules are imported isn't counted, and neither
is the call of compiled code (`rollwise.kernels.jit`).

- A *file* counts if one of its functions was called.
- A *function* counts once, however often it is called. A comprehension is part of the function
  that it stands in.
- A *change of file* is a call whose nearest caller within rollwise stands in another file.
  The way back isn't counted again, nor are further steps of a generator.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
COMMANDS = ("solve pig", "solve super-six sticks=1000", "solve threes")
COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
WORKER = "import sys; from benchmarks.trace import run; run(sys.argv[1:])"


class Tracer:
    """Counts what runs of one package, in all threads.

    Attributes
    ----------
    entered : Counter of code objects
        How often each function was called.
    changes : Counter of (str, str)
        How often a function of the first file called one of the second.
    """

    def __init__(self, package: Path) -> None:
        self._package = str(package) + os.sep
        self._calls = str(package / "kernels" / "jit.py")
        self.entered: Counter[CodeType] = Counter()
        self.changes: Counter[tuple[str, str]] = Counter()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Fits `sys.setprofile`."""
        code = frame.f_code
        if code.co_name in COMPREHENSIONS:
            return
        if event != "call" or not self._is_ours(code) or _goes_on(frame):
            return
        callers = [code]
        outer = frame.f_back
        while outer is not None:
            if self._is_ours(outer.f_code):
                callers.append(outer.f_code)
            outer = outer.f_back
        if any(caller.co_name == "<module>" for caller in callers):  # a module is being imported
            return
        self.entered[code] += 1
        nearest = callers[1:2]
        if nearest and nearest[0].co_filename != code.co_filename:
            self.changes[nearest[0].co_filename, code.co_filename] += 1

    def _is_ours(self, code: CodeType) -> bool:
        return code.co_filename.startswith(self._package) and code.co_filename != self._calls

    def report(self) -> dict[str, Any]:
        """The three figures, and what they are made of, the most first."""
        cut = len(self._package)
        functions = Counter(
            {f"{code.co_filename[cut:]}:{code.co_qualname}": n for code, n in self.entered.items()}
        )
        return {
            "files": len({code.co_filename for code in self.entered}),
            "functions": len(self.entered),
            "changes": sum(self.changes.values()),
            "between": [[a[cut:], b[cut:], n] for (a, b), n in self.changes.most_common()],
            "called": functions.most_common(),
        }


def _goes_on(frame: FrameType) -> bool:
    """Whether it is a generator that was begun before."""
    # RESUME has the argument 0 at the beginning of a function, and others after a yield
    return bool(frame.f_code.co_flags & GENERATORS and frame.f_code.co_code[frame.f_lasti + 1])


def run(command: list[str]) -> None:
    """Run a command of rollwise, traced, and print the report as the last line of stderr."""
    import threading

    import rollwise
    from rollwise.cli import main

    tracer = Tracer(Path(rollwise.__file__).parent)
    sys.argv = ["rollwise", *command]
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise
    finally:
        sys.setprofile(None)
    print(json.dumps(tracer.report()), file=sys.stderr)


def trace(command: str) -> dict[str, Any]:
    """What a command passes through in a process of its own, warmed up by another.

    Raises
    ------
    RuntimeError
        The command failed.
    """
    switches = {"ROLLWISE_NO_CACHE": "1", "ROLLWISE_OFF": "plain-kernels"}
    environment = {**os.environ, **switches}
    words = [sys.executable, "-c", WORKER, *command.split()]
    for _ in range(2):  # the first compiles what wasn't yet, and notes what it learned
        done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"rollwise {command}: {done.stderr.strip()}")
    found: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
    return found


def rows(commands: tuple[str, ...] = COMMANDS) -> list[dict[str, Any]]:
    """The figures of some commands."""
    return [{"command": f"rollwise {command}", **trace(command)} for command in commands]


def main() -> None:
    details = "--details" in sys.argv
    commands = tuple(word for word in sys.argv[1:] if word != "--details") or COMMANDS[:1]
    for row in rows(commands):
        print(
            f"{row['command']}: {row['files']} files, {row['functions']} functions, "
            f"{row['changes']} changes of file"
        )
        if details:
            for caller, called, times in row["between"]:
                print(f"  {times:5} {caller} > {called}")
            for function, times in row["called"]:
                print(f"  {times:5} {function}")


if __name__ == "__main__":
    main()
