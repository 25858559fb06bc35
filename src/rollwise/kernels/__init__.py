"""Loops over arrays: NumPy and Numba only, and nothing that knows what a game is."""

from rollwise.machine import memory_limits

memory_limits.require(memory_limits.TO_LOAD_NUMBA, "loading Numba")
