"""What a command is at, for people who wait at a terminal."""

from __future__ import annotations

import os
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rich.progress import TaskID

SILENCE = 1.0  # seconds


def in_notebook() -> bool:
    """Whether a notebook runs this, whose cells keep every line that a bar overwrites."""
    return "JPY_PARENT_PID" in os.environ or "inline" in os.environ.get("MPLBACKEND", "")


class _Stage(NamedTuple):
    name: str
    done: int
    total: int | None


class Progress:
    """A progress bar on stderr, on a terminal only, for what takes over a second.

    Give it as ``progress`` to what reports ``(stage, done, total or None)``. A stage that
    reports no more, such as rules that never end, is shown by a thread that watches.

    Attributes
    ----------
    listener : Progress or None
        None where nobody sees it: who reports often needn't then.
    """

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: TaskID | None = None
        self._stage = _Stage("reading the rules", 0, None)
        self._shown = ""
        self._terminal = sys.stderr.isatty() and not in_notebook()
        self.listener = self if self._terminal else None
        self._first_use = self._ended = False
        self._lock = threading.Lock()
        self._watch = threading.Timer(SILENCE, self._show)
        self._watch.daemon = True

    def __enter__(self) -> Progress:
        if self._terminal:
            self._watch.start()
        return self

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        if self._terminal and stage != self._stage.name:
            from rollwise.builders.building import COMPILING

            if stage == COMPILING:
                from rollwise.answer.first_use import nothing_compiled

                self._first_use = nothing_compiled()
        self._stage = _Stage(stage, done, total)
        if self._bar is not None or (self._terminal and self._first_use):
            self._show()

    def _show(self) -> None:
        with self._lock:
            if self._ended:
                return
            if self._bar is None:
                self._bar = _bar()
                self._bar.start()
            name, done, total = self._stage
            if name != self._shown or self._task is None:
                if self._task is not None:
                    self._bar.remove_task(self._task)
                note = " (first use on this machine: compiling)" if self._first_use else ""
                self._task, self._shown = self._bar.add_task(name + note, total=total), name
            self._bar.update(self._task, completed=done, total=total)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watch.cancel()
        with self._lock:
            self._ended = True
            if self._bar is not None:
                self._bar.stop()


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
