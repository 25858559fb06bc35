"""The command line: each command is a module of its own in this folder."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any


def _show_warning(message: Warning | str, *args: Any, **kwargs: Any) -> None:
    print(f"rollwise: warning: {message}", file=sys.stderr)


def main() -> None:
    """Run the command line.

    Exit code 2 for wrong use, 1 for a run that failed, 130 when stopped by Ctrl-C.
    """
    from rollwise.garbage import seldom_collected

    with seldom_collected():
        _run()


def _run() -> None:
    import typer

    from rollwise.cli.app import app
    from rollwise.errors import RollwiseError

    warnings.showwarning = _show_warning
    # Typer has Click within itself, and offers of its exceptions only the narrower ones.
    CLICK_EXCEPTION: Any = typer.BadParameter.__mro__[2]
    try:
        sys.exit(app(standalone_mode=False) or 0)
    except RollwiseError as error:
        print(f"rollwise: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except typer.Abort:
        print("rollwise: stopped", file=sys.stderr)
        sys.exit(130)
    except CLICK_EXCEPTION as error:
        # a line that says what is wrong, as for every other mistake
        message = " ".join(error.format_message().split())
        print(f"rollwise: {message} (rollwise COMMAND --help says more)", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # Whoever read our output has seen enough; don't fail when it is flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except MemoryError:
        print(
            "rollwise: out of memory; smaller parameters or a lower --max-states help",
            file=sys.stderr,
        )
        sys.exit(1)
    except KeyboardInterrupt:
        print("rollwise: stopped", file=sys.stderr)
        sys.exit(130)
