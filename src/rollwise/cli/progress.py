"""The progress bar of a command at a terminal."""

from __future__ import annotations

import math
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rich.progress import TaskID

SILENCE = 1.0  # seconds
NUMBER = re.compile(r"[\d,]*\d")
WIDE = 100  # characters of a terminal with room for a bar of
BAR = 20


def in_notebook() -> bool:
    """Whether a notebook runs this process. Its cells keep every overwritten line of a bar."""
    return "JPY_PARENT_PID" in os.environ or "inline" in os.environ.get("MPLBACKEND", "")


class _Stage(NamedTuple):
    name: str
    done: int
    total: int | None

    @property
    def kind(self) -> str:
        """Its name without numbers: a stage goes on while only these change."""
        return NUMBER.sub("", self.name)


class Pace:
    """Estimated remaining time of a stage, at its average speed so far.

    There is no estimate while the total is unknown or grows.
    """

    def __init__(self) -> None:
        self._first = self._last = (0.0, 0)
        self._total: int | None = None

    def note(self, done: int, total: int | None, now: float) -> None:
        """Note how much of the stage is done."""
        if total != self._total or done < self._last[1]:
            self._total, self._first = total, (now, done)
        self._last = now, done

    def left(self, now: float) -> float | None:
        """The remaining seconds; None without an estimate."""
        (began, before), (noted, done) = self._first, self._last
        if self._total is None or done <= before:
            return None
        each = (noted - began) / (done - before)
        return max(each * (self._total - done) - (now - noted), 0.0)


class Progress:
    """A progress bar on stderr, on a terminal only, for work of over a second.

    Functions call it as ``progress(stage, done, total or None)``. Names of stages that differ in
    numbers only belong to one stage. A watching thread shows stages without reports, such as
    endless rules.

    Attributes
    ----------
    listener : Progress or None
        None without a terminal, so that frequent reports are skipped.
    """

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: TaskID | None = None
        self._stage = _Stage("reading the rules", 0, None)
        self._shown = ""
        self._pace = Pace()
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
        if self._terminal:
            now = _Stage(stage, done, total)
            if now.kind != self._stage.kind:
                self._pace = Pace()
            self._stage = now
            self._pace.note(done, total, time.monotonic())
        if self._bar is not None or (self._terminal and self._first_use):
            self._show()

    def _show(self) -> None:
        with self._lock:
            if self._ended:
                return
            if self._bar is None:
                self._bar = _bar(lambda: self._pace.left(time.monotonic()))
                self._bar.start()
            name, done, total = self._stage
            note = " (first use on this machine: compiling)" if self._first_use else ""
            if self._stage.kind != self._shown or self._task is None:
                if self._task is not None:
                    self._bar.remove_task(self._task)
                self._shown = self._stage.kind
                self._task = self._bar.add_task(name + note, total=total)
            self._bar.update(self._task, description=name + note, completed=done, total=total)

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


@contextmanager
def working(stage: str) -> Iterator[None]:
    """Show that work without reports goes on."""
    with Progress() as progress:
        progress(stage, 0, None)
        yield


def _bar(left: Callable[[], float | None]) -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    class Done(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(done_text(int(task.completed), task.total), "progress.download")

    class Left(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(left_text(left()), "progress.remaining")

    console = Console(stderr=True)
    drawn: list[ProgressColumn] = []
    if console.width >= WIDE:  # a narrow terminal has room for the text only
        drawn = [BarColumn(bar_width=BAR)]
    return Progress(
        TextColumn("{task.description}"),
        *drawn,
        Done(),
        TimeElapsedColumn(),
        Left(),
        console=console,
        transient=True,
    )


def done_text(done: int, total: float | None) -> str:
    """The amount of work done, and the total if known; empty without counts."""
    if total is None:
        return f"{done:,}" if done else ""
    return f"{done:,} of {int(total):,}"


def left_text(seconds: float | None) -> str:
    """The remaining time as hours, minutes and seconds; empty without an estimate."""
    if seconds is None:
        return ""
    whole = math.ceil(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02} left"
