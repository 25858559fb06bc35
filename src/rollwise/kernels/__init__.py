"""Loops over arrays: NumPy and Numba only, independent of any game."""

from rollwise.machine import memory_limits

memory_limits.require(memory_limits.TO_LOAD_NUMBA, "loading Numba")
