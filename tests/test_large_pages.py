"""Arrays in large pages are arrays like others."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from rollwise.kernels.reorder import scatter
from rollwise.machine import large_pages


@pytest.mark.parametrize("shape", [0, 5, 70_000, (3, 60_000), (1_000_000, 2)])
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_shapes_and_types(shape, dtype):
    array = large_pages.zeros(shape, dtype)
    assert array.dtype == dtype
    assert array.shape == np.empty(shape).shape
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert not array.any()


def test_two_do_not_share_memory():
    one, other = large_pages.zeros(100_000), large_pages.zeros(100_000)
    one[:] = 1
    assert not other.any()


def test_they_begin_with_a_page():
    assert large_pages.empty(100_000).ctypes.data % large_pages.LARGE_PAGE == 0


@pytest.mark.parametrize("n", [0, 1, 40, 150_000])
def test_scatter(n):
    values = np.arange(1.0 * n)
    places = np.random.default_rng(1).permutation(2 * n)[:n].astype(np.int32)
    taken, expected = np.zeros(2 * n), np.zeros(2 * n)
    expected[places[n // 3 :]] = values[n // 3 :]
    scatter(n // 3, n, values, places, taken)
    assert np.array_equal(taken, expected)


def test_memory_is_used_again_once_nobody_looks_at_it():
    large_pages.release()
    array = large_pages.empty((3, 100_000))
    where = array.ctypes.data
    view = array[1:].T[::2]
    del array
    assert large_pages.waiting_bytes() == 0  # the view still needs it
    other = large_pages.empty((3, 100_000))
    assert other.ctypes.data != where
    del view
    assert large_pages.waiting_bytes() >= 8 * 300_000
    assert large_pages.empty(250_000).ctypes.data == where


def test_not_too_much_waits():
    large_pages.release()
    arrays = [large_pages.empty(1 << 23) for _ in range(6)]
    del arrays
    assert 0 < large_pages.waiting_bytes() <= large_pages.MOST_WAITING


def test_what_waits_is_not_far_too_large():
    large_pages.release()
    large = large_pages.empty(1 << 23)
    del large
    waiting = large_pages.waiting_bytes()
    assert waiting >= 8 << 23
    small = large_pages.empty(1 << 17)
    assert large_pages.waiting_bytes() == waiting
    del small


def test_threads_do_not_get_the_same_memory():
    """Arrays made and dropped by several threads at once keep what was written to them."""
    large_pages.release()
    wrong = []

    def work(mark):
        for i in range(300):
            array = large_pages.full(70_000 + 10_000 * (i % 5), mark)
            if not (array == mark).all():
                wrong.append(mark)

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("size", [3, 100_000])
@pytest.mark.parametrize(
    ("dtype", "found"),
    [(np.float64, np.nan), (np.int32, -1), (np.uint32, 2**32 - 1), (np.bool_, True)],
)
def test_what_is_asked_for_empty_can_be_filled(monkeypatch, size, dtype, found):
    monkeypatch.setattr(large_pages, "FILL_FRESH", True)
    array = large_pages.empty(size, dtype)
    assert np.array_equal(array, np.full(size, found, dtype), equal_nan=dtype is np.float64)
    assert not large_pages.zeros(size, dtype).any()
