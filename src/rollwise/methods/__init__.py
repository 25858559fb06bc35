"""Ways to find the values of a graph. Each sees the graph and nothing else."""
