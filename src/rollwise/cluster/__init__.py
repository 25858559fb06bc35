"""Workers for many independent tasks: threads, processes, or the workers of a cluster.

A `rollwise.cluster.pool.Pool` takes tasks and returns their results. The caller needn't know the
kind of pool: a result depends only on its task's arguments, and results are
taken in the order of the tasks. `pool`, `processes` and `dask_workers` each
have one.
"""
