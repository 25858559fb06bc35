"""The command line: each command is a module of its own in this folder."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import warnings
from typing import Any

from rollwise.cli import streams
from rollwise.cli.streams import one_line, say
from rollwise.machine import interrupts, memory_limits


def _show_warning(message: Warning | str, *args: Any, **kwargs: Any) -> None:
    from rollwise.errors import ChanceWarning

    if not isinstance(message, ChanceWarning):  # solve and check say it, also of a kept answer
        say(f"warning: {message}")


def main() -> None:
    """Run the command line.

    Exit code 2 for wrong use, 1 for a run that failed, 130 when stopped by Ctrl-C.
    """
    from rollwise.errors import UsageError, words_of_the_command_line
    from rollwise.machine.memory_limits import seldom_collected

    try:
        with seldom_collected(), words_of_the_command_line():
            code = _run()
        if interrupts.any_is_left():
            atexit.register(_leave_now, code)
        sys.exit(code)
    except UsageError as error:  # from settings of the environment; `_run` reports all others
        say(one_line(str(error)))
        sys.exit(error.exit_code)


def _leave_now(code: int) -> None:
    """End the process at once if an abandoned library still runs in a thread."""
    if interrupts.any_is_left():
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def _run() -> int:
    import typer

    from rollwise.cli.app import app
    from rollwise.errors import RollwiseError

    streams.prepare()
    for word in sys.argv[1:]:
        if "\0" in word or not _is_text(word):
            say(f"{word!r} isn't text: it holds bytes that are no UTF-8, or a NUL")
            return 2
    warnings.showwarning = _show_warning
    # Typer has Click within itself, and offers of its exceptions only the narrower ones.
    CLICK_EXCEPTION: Any = typer.BadParameter.__mro__[2]
    try:
        with (
            streams.kept_for_data(sys.argv),
            memory_limits.kept(),
            memory_limits.watched_polars(),
        ):
            code = app(prog_name="rollwise", standalone_mode=False) or 0
        sys.stdout.flush()  # here, where it may fail
        return int(code)
    except RollwiseError as error:
        say(one_line(str(error)))
        return error.exit_code
    except (typer.Abort, KeyboardInterrupt):
        say("stopped")
        return 130
    except CLICK_EXCEPTION as error:
        # one line for a wrong use of options, as for every other mistake
        name = error.ctx.command_path if error.ctx else "rollwise"
        text = error.format_message()
        about = " ".join((getattr(getattr(error, "param", None), "help", None) or "").split())
        if text.startswith("Missing ") and about:
            text = f"{text.removesuffix('.')}: {about}"
        say(f"{text} ({name} --help says more)")
        return int(error.exit_code)
    except MemoryError:
        say("out of memory; smaller parameters, a lower --max-states or more --memory help")
        return 1
    except OSError as error:
        streams.close()
        if not isinstance(error, BrokenPipeError):  # a reader that closed the pipe is no failure
            say(streams.system_error(error))
        return 1


def _is_text(word: str) -> bool:
    """Whether a word of the command line could be decoded (PEP 383)."""
    return not any("\ud800" <= char <= "\udfff" for char in word)
