"""Work for a second core: kernels let go of the interpreter's lock while they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition, Thread


@contextmanager
def second_core() -> Iterator[ThreadPoolExecutor]:
    """A thread that works off what is submitted, in order; an exception here drops what waits."""
    thread = ThreadPoolExecutor(1)
    try:
        yield thread
    except BaseException:
        thread.shutdown(cancel_futures=True)
        raise
    thread.shutdown()


@dataclass(eq=False)
class Stage:
    """What is done to one piece of work after the other, each time when the stage before has.

    Attributes
    ----------
    work : callable
        Called with the number of the piece.
    done : int
        Number of pieces that it was done to.
    """

    work: Callable[[int], None]
    done: int = 0
    _busy: bool = field(default=False, repr=False)


def work_in_stages(
    stages: Sequence[Stage],
    pieces: int,
    *,
    first_core: Sequence[Stage],
    second_core: Sequence[Stage],
    meanwhile: Callable[[], None],
) -> None:
    """Put all pieces through all stages, on two cores.

    Exceptions of both threads are raised here, when the other one has finished what it is at;
    Ctrl-C at once, since that may take long, and nobody wants what comes of it.

    Parameters
    ----------
    stages : sequence of Stage
        In the order in which a piece goes through them.
    pieces : int
    first_core, second_core : sequence of Stage
        What the calling thread and the other one may do, and like to do best, first.
    meanwhile : callable
        What the calling thread does first, for the stages that only come after some of its own.
    """
    changed = Condition()
    failures: list[BaseException] = []

    def take(preferred: Sequence[Stage]) -> Stage | None:
        for stage in preferred:
            place = stages.index(stage)
            ready = stages[place - 1].done if place else pieces
            if not stage._busy and stage.done < ready:
                stage._busy = True
                return stage
        return None

    def work(preferred: Sequence[Stage], first: Callable[[], None] | None = None) -> None:
        try:
            if first is not None:
                first()
            while True:
                with changed:
                    while not failures and (stage := take(preferred)) is None:
                        if stages[-1].done == pieces:
                            return
                        changed.wait()
                    if failures:
                        return
                assert stage is not None
                stage.work(stage.done)
                with changed:
                    stage.done += 1
                    stage._busy = False
                    changed.notify_all()
        except BaseException as error:
            with changed:
                failures.append(error)
                changed.notify_all()

    if pieces == 1:  # nothing can be done side by side
        meanwhile()
        for stage in stages:
            stage.work(0)
        return
    other = Thread(target=work, args=(second_core,), daemon=True)
    other.start()
    work(first_core, meanwhile)
    if not any(isinstance(failure, KeyboardInterrupt) for failure in failures):
        other.join()
    if failures:
        raise failures[0]
