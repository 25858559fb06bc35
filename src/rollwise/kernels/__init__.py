"""Loops over arrays: NumPy and Numba only, and nothing that knows what a game is."""
