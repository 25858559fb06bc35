"""Work on two cores: everything is done, once and in order, whoever does it."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollwise.machine.second_core import Stage, work_in_stages

HERE = threading.get_ident()


def run(pieces, first, second, fail=None):
    """Four stages, done by the cores that are named; what was done, in order, and where."""
    done, begun = [], []

    def stage(number):
        def work(piece):
            if (number, piece) == fail:
                raise KeyError(fail)
            time.sleep(0)  # let the other one have a go
            done.append((number, piece, threading.get_ident() == HERE))

        return Stage(work)

    stages = [stage(number) for number in range(4)]
    work_in_stages(
        stages,
        pieces,
        first_core=[stages[i] for i in first],
        second_core=[stages[i] for i in second],
        meanwhile=lambda: begun.append(threading.get_ident()),
    )
    assert begun == [HERE]
    return done


@given(st.integers(1, 30), st.permutations(range(4)), st.permutations(range(4)))
def test_every_piece_goes_through_every_stage(pieces, first, second):
    done = run(pieces, first, second)
    place = {(number, piece): i for i, (number, piece, _) in enumerate(done)}
    assert len(done) == len(place) == 4 * pieces
    for (number, piece), i in place.items():
        assert number == 0 or place[number - 1, piece] < i
        assert piece == 0 or place[number, piece - 1] < i


def test_each_core_keeps_to_what_it_may_do():
    for number, _, here in run(40, [1, 3], [0, 2]):
        assert here == (number in (1, 3))


@pytest.mark.parametrize("fail", [(0, 0), (0, 7), (1, 3), (2, 19), (3, 5)])
def test_what_fails_anywhere_is_raised_here(fail):
    before = threading.active_count()
    with pytest.raises(KeyError, match=str(fail[1])):
        run(20, [2, 1, 3], [0, 3, 1], fail)
    assert threading.active_count() == before


def test_who_stops_it_needn_t_wait_for_the_other_core():
    at_it, released = threading.Event(), threading.Event()

    def stop(piece):
        at_it.wait()
        raise KeyboardInterrupt

    def long(piece):
        if piece == 1:
            at_it.set()
            released.wait(10)

    before = threading.active_count()
    work, then = Stage(long), Stage(stop)
    with pytest.raises(KeyboardInterrupt):
        work_in_stages(
            [work, then], 3, first_core=[then], second_core=[work], meanwhile=lambda: None
        )
    assert work.done == 1  # it is still at the next
    released.set()
    while threading.active_count() > before:
        time.sleep(0)
    assert work.done == 2  # which is its last
