"""The recursion of a graph in solving order, and the search for its fixed point."""
