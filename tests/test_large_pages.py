"""Arrays in large pages are arrays like others."""

from __future__ import annotations

import numpy as np
import pytest

from rollwise import large_pages


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


def test_take():
    values = np.arange(200_000.0)
    places = np.random.default_rng(1).integers(0, len(values), 150_000).astype(np.int32)
    assert np.array_equal(large_pages.take(values, places), values[places])
