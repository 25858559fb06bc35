"""Bounds on the error of values, and the check that proves them."""
