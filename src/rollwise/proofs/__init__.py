"""Proofs of error bounds."""
