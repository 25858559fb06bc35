"""Graphs made from other graphs: a seat plays a policy, play is unrolled by its points."""
