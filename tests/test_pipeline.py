"""Pieces of work in stages, on two cores."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollwise.machine.pipeline import Source, Stage, pipeline

HERE = threading.get_ident()
EVERYWHERE = [0, 1, 2, 3, 4]


def run(pieces, first, second, fail=None, **settings):
    """A source and four stages, ranked by each core; what was done, in order, and where."""
    done = []

    def note(number, piece):
        if (number, piece) == fail:
            raise KeyError(fail)
        time.sleep(0)  # let the other one have a go
        done.append((number, piece, threading.get_ident() == HERE))

    def source():
        for piece in range(pieces):
            note(0, piece)
            yield piece

    pipeline(
        Source(source(), first[0], second[0]),
        [
            Stage(lambda piece, number=number: note(number, piece), first[number], second[number])
            for number in range(1, 5)
        ],
        **settings,
    )
    return done


def in_order(done, pieces):
    """Whether each piece went through every stage after the one before it had."""
    place = {(number, piece): i for i, (number, piece, _) in enumerate(done)}
    return len(done) == len(place) == 5 * pieces and all(
        (number == 0 or place[number - 1, piece] < i)
        and (piece == 0 or place[number, piece - 1] < i)
        for (number, piece), i in place.items()
    )


@given(
    st.integers(0, 30),
    st.permutations(EVERYWHERE),
    st.permutations(EVERYWHERE),
    st.none() | st.integers(1, 4),
    st.booleans(),
)
def test_every_piece_goes_through_every_stage(pieces, first, second, most, two):
    done = run(pieces, first, second, most_at_once=most, on_two_cores=two)
    assert in_order(done, pieces)
    assert two or all(here for _, _, here in done)


def test_who_stops_it_needn_t_wait_for_the_other_core():
    at_it, released, done = threading.Event(), threading.Event(), []

    def stop(piece):
        at_it.wait()
        raise KeyboardInterrupt

    def long(piece):
        if piece == 1:
            at_it.set()
            released.wait(10)
        done.append(piece)

    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        pipeline(Source(range(3), second=1), [Stage(long, second=0), Stage(stop, first=0)])
    assert done == [0]  # it is still at the next
    released.set()
    while set(threading.enumerate()) - before:
        time.sleep(0)
    assert done == [0, 1]  # which is its last
