"""Work on two cores: kernels release the interpreter's lock while they run.

`pipeline` puts pieces of any kind through stages.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Generic, TypeVar

from rollwise.machine import switches
from rollwise.machine.interrupts import start

Piece = TypeVar("Piece")
Given = TypeVar("Given")
Found = TypeVar("Found")


def on_both_cores(
    work: Callable[[Given], Found],
    pieces: Iterable[Given],
    thread: ThreadPoolExecutor | None = None,
) -> list[Found]:
    """The results of a function for each piece, as `map`; each core does half of them.

    Parameters
    ----------
    thread : ThreadPoolExecutor, optional
        The thread of the second core, for frequent short work; by default a new one.
    """
    every = list(pieces)
    middle = len(every) // 2 if switches.is_on("second-core") else 0
    if not middle:
        return list(map(work, every))
    with nullcontext(thread) if thread else ThreadPoolExecutor(1) as second:
        rest = second.submit(lambda: list(map(work, every[middle:])))
        return [*map(work, every[:middle]), *rest.result()]


@dataclass(frozen=True, eq=False)
class Source(Generic[Piece]):
    """The source of pieces, one after the other.

    Attributes
    ----------
    pieces : iterable
    first, second : int, optional
        The rank of this work on the calling thread and on the other one: a free core
        takes the ready work of the lowest rank. None: it never does this work.
    """

    pieces: Iterable[Piece]
    first: int | None = None
    second: int | None = None


@dataclass(frozen=True, eq=False)
class Stage(Generic[Piece]):
    """Work on each piece, in the order of the pieces.

    Attributes
    ----------
    work : callable
        Called with the piece.
    first, second : int, optional
        As in `Source`.
    """

    work: Callable[[Piece], object]
    first: int | None = None
    second: int | None = None


def pipeline(
    source: Source[Piece],
    stages: Sequence[Stage[Piece]],
    *,
    on_two_cores: bool = True,
    most_at_once: int | None = None,
) -> None:
    """Put all pieces through all stages, in order.

    Exceptions of both threads are raised here, after the other thread has finished its present
    work. Ctrl-C is raised at once, since that may take long and its result isn't needed.

    Parameters
    ----------
    on_two_cores : bool
        Otherwise the calling thread does everything, piece by piece.
    most_at_once : int, optional
        Largest number of pieces between the source and the end of the last stage.
    """
    if on_two_cores and switches.is_on("second-core"):
        _Run(source, stages, most_at_once).start()
        return
    for piece in source.pieces:
        for stage in stages:
            stage.work(piece)


class _Run(Generic[Piece]):
    """One run of a pipeline on two cores. Its state changes only under the lock."""

    def __init__(
        self,
        source: Source[Piece],
        stages: Sequence[Stage[Piece]],
        most_at_once: int | None,
    ) -> None:
        self._pieces = iter(source.pieces)
        self._stages = stages
        self._waiting: list[deque[Piece]] = [deque() for _ in stages]  # for each stage
        self._free = [True for _ in (source, *stages)]  # whether no core is at it
        self._most, self._at_once = most_at_once, 0
        self._exhausted = False
        self._changed = Condition()
        self._failures: list[BaseException] = []
        # The work of each core, the lowest rank first: 0 for the source, then the stages.
        self._first = _ranked([source.first, *(stage.first for stage in stages)])
        self._second = _ranked([source.second, *(stage.second for stage in stages)])

    def start(self) -> None:
        other = Thread(target=self._work, args=(self._second,), daemon=True)
        start(other)
        self._work(self._first)
        if not any(isinstance(failure, KeyboardInterrupt) for failure in self._failures):
            other.join()
        if self._failures:
            raise self._failures[0]

    def _is_ready(self, task: int) -> bool:
        if not self._free[task]:
            return False
        if task > 0:
            return bool(self._waiting[task - 1])
        return not self._exhausted and (self._most is None or self._at_once < self._most)

    def _work(self, tasks: Sequence[int]) -> None:
        """The work of one core."""
        try:
            while True:
                with self._changed:
                    # the first task in this core's ranking with a piece, and with no core at it
                    while (ready := next(filter(self._is_ready, tasks), None)) is None:
                        if self._failures or (self._exhausted and not self._at_once):
                            return
                        self._changed.wait()
                    if self._failures:
                        return
                    self._free[ready] = False
                    piece = self._waiting[ready - 1].popleft() if ready else None
                if ready:
                    self._stages[ready - 1].work(piece)  # type: ignore[arg-type]
                else:
                    piece = next(self._pieces, None)
                with self._changed:
                    self._hand_on(ready, piece)
                del piece  # which may be large
        except BaseException as error:
            with self._changed:
                self._failures.append(error)
                self._changed.notify_all()

    def _hand_on(self, task: int, piece: Piece | None) -> None:
        """Record a piece that came from the source, or went through a stage."""
        self._free[task] = True
        if task == 0:
            self._exhausted = piece is None
            self._at_once += piece is not None
        if piece is not None and task < len(self._stages):
            self._waiting[task].append(piece)
        elif task:
            self._at_once -= 1
        self._changed.notify_all()


def _ranked(ranks: Sequence[int | None]) -> list[int]:
    """The indices of work with a rank, by rank."""
    order = [(rank, place) for place, rank in enumerate(ranks) if rank is not None]
    return [place for _, place in sorted(order)]
