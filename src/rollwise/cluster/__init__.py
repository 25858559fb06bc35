"""Who does work that is many independent tasks: threads, processes, or the workers of a cluster.

A `rollwise.cluster.pool.Pool` is given tasks, and says what came of them. Whoever gives them
needn't know which pool it is: what a task gives depends on its arguments alone, and results are
taken in the order in which the tasks were given. `pool`, `processes` and `dask_workers` each
have one.
"""
