"""Where rollwise's time goes, stage by stage, beside the least time that the machine allows.

    python -m benchmarks.limits GAME PARAMETERS BY_LAYER TURNS MEMORY

Each stage has a model: bytes that it has to read or write at least once, multiplications and
additions, ends of loops of unknown length, and random accesses to a table. The machine's rates are
measured in the same run (`machine_rates`): bytes a second, seconds for an operation, for the end of
a loop whose length varies, and for an access to a table of that size. The limit of a stage is the
largest of the times for its bytes, its operations and its ends of loops, on one core. Values that
depend on each other in a circle need several sweeps; the limit has one. Random accesses aren't part
of the limit: a better numbering of the positions may avoid them. Their time is shown beside it, as
if each access missed the caches as often as at random.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numba
import numpy as np

from benchmarks.measure import Settings, ask
from benchmarks.memory import bandwidth, peak_bytes
from benchmarks.worker import say_once

# The whole graph has stages apart: the order is part of `solve`.
STAGES = ("compile", "states", "build", "order", "solve", "certify", "table")
APART = ("order", "table")


class Measured(NamedTuple):
    """A game of the section.

    Attributes
    ----------
    by_layer : bool
        Whether it is solved by layers.
    quick : bool
        Whether ``--quick`` has it.
    """

    game: str
    parameters: dict[str, Any]
    by_layer: bool = False
    quick: bool = False


GAMES = [
    Measured("pig", {"target": 100}, quick=True),
    Measured("super-six", {"sticks": 1000}),
    Measured("royal-ur", {"pieces": 5}, by_layer=True),
    Measured("yahtzee", {}, by_layer=True),
    Measured("farkle", {}, by_layer=True),
    Measured("threes", {}, quick=True),
    Measured("dice-blackjack", {"low": 500, "high": 502}),
]


@dataclass(frozen=True)
class Counts:
    """The size of a game, for the models.

    Attributes
    ----------
    positions, actions, outcomes, fields : int
    fold : int
        Products and comparisons for the dice of a pool, in each position.
    """

    positions: int
    actions: int
    outcomes: int
    fields: int
    fold: int = 0

    @property
    def layer_bytes(self) -> int:
        """Bytes of the packed positions: 12 and a list of throws, 2 an action, 4 an outcome."""
        return 13 * self.positions + 2 * self.actions + 4 * self.outcomes


@dataclass(frozen=True)
class Model:
    """The least work of a stage.

    Attributes
    ----------
    bytes : int
        Read or written, each once.
    operations : int
        Multiplications with an addition.
    loops : int
        Ends of loops of unknown length.
    accesses, table : int
        Random accesses, and bytes of the table that they read.
    """

    bytes: int
    operations: int = 0
    loops: int = 0
    accesses: int = 0
    table: int = 0


def models(size: Counts) -> dict[str, Model]:
    """The least work of each stage of a game.

    A new position has its fields written once, and each outcome asks the table of positions once.
    The order reads all targets. A sweep reads the layer, adds a product for each outcome, ends a
    loop for each action and each position, and writes a value. The certificate does the same with
    two values and writes two. With a pool of dice, a sweep folds the values of the throws in each
    position.
    """
    n, k = size.positions, size.outcomes
    sweep = k + size.fold * n
    rows, ends = 4 * size.fields * n, size.actions + n
    return {
        "build": Model(rows + size.layer_bytes, size.fields * k, ends, k, 4 * n),
        "order": Model(size.layer_bytes + 4 * n, k, ends, k, 4 * n),
        "solve": Model(size.layer_bytes + 8 * n, sweep, ends, k, 8 * n),
        "certify": Model(size.layer_bytes + 24 * n, 2 * sweep, ends, k, 16 * n),
        "table": Model(rows + 40 * n),
    }


@dataclass(frozen=True)
class Rates:
    """The machine, on one core.

    Attributes
    ----------
    bytes : float
        A second.
    operation, loop : float
        Seconds of a multiplication with an addition, and of the end of a loop whose length varies.
    accesses : dict of int to float
        Seconds of a random access, by the bytes of the table.
    """

    bytes: float
    operation: float
    loop: float
    accesses: Mapping[int, float]

    def access(self, table: int) -> float:
        """Seconds of a random access to a table of so many bytes: that of the next larger one."""
        sizes = sorted(self.accesses)
        return self.accesses[next((size for size in sizes if size >= table), sizes[-1])]

    def seconds(self, model: Model) -> dict[str, float]:
        """The time of each part of a model."""
        return {
            "bytes": model.bytes / self.bytes,
            "operations": model.operations * self.operation,
            "loops": model.loops * self.loop,
            "accesses": model.accesses * self.access(model.table) if model.accesses else 0.0,
        }

    def limit(self, model: Model) -> tuple[float, str]:
        """The least seconds of a stage, and the part of the model that takes them."""
        parts = self.seconds(model)
        del parts["accesses"]
        part = max(parts, key=parts.__getitem__)
        return parts[part], part


@numba.njit(error_model="numpy")
def short_sums(ends, factor, index, values):
    """Sums of products over loops of several lengths, as in a sweep."""
    total = 0.0
    for i in range(len(ends) - 1):
        inner = 0.0
        for j in range(ends[i], ends[i + 1]):
            inner += factor[j & 63] * values[index[j]]
        total = max(total, inner)
    return total


@numba.njit(error_model="numpy")
def gathered(table, index):
    """The sum of the entries at random places."""
    total = 0
    for i in index:
        total += table[i]
    return total


def best_of(runs: int, work: Callable[[], Any]) -> float:
    """The least seconds of several runs, after one that isn't counted."""
    work()
    took = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        took.append(time.perf_counter() - started)
    return min(took)


def machine_rates(runs: int = 5, n: int = 2**21) -> Rates:
    """Measure the rates of one core: the best of several runs, as other work only takes away.

    Loops of six products each, and loops of one to eleven at random, six on average, have the same
    products. The first gives the seconds of a product; the difference is that of a loop's end
    which the processor doesn't foresee.
    """
    random = np.random.default_rng(1)
    factor, values = random.random(64), random.random(512)
    index = random.integers(0, len(values), n).astype(np.uint32)
    even = np.arange(0, n + 1, 6)
    lengths = random.integers(1, 12, n // 6)
    uneven = np.concatenate([[0], np.cumsum(lengths)])
    uneven = uneven[uneven <= n]
    steady = best_of(runs, lambda: short_sums(even, factor, index, values)) / (6 * (len(even) - 1))
    varied = best_of(runs, lambda: short_sums(uneven, factor, index, values))
    loop = (varied - steady * uneven[-1]) / (len(uneven) - 1)
    accesses = {}
    for size in (2**14, 2**18, 2**21, 2**24, 2**26, 2**28, 2**30):
        table = np.zeros(size // 8, np.int64)
        at = random.integers(0, len(table), n).astype(np.uint32)
        accesses[size] = best_of(2, lambda table=table, at=at: gathered(table, at)) / n
    return Rates(bandwidth(), steady, max(loop, 0.0), accesses)


def rows(settings: Settings, quick: bool, report: Callable[[str], None]) -> list[dict[str, Any]]:
    """Seconds and models by stage, for each game, each in a process of its own."""
    found = []
    for asked in GAMES:
        if quick and not asked.quick:
            continue
        given = [asked.game, json.dumps(asked.parameters), str(int(asked.by_layer))]
        given += [str(settings.turns), str(settings.memory)]
        said = ask(["benchmarks.limits", *given], (60 if asked.by_layer else 5) * settings.limit)
        found.append({"game": asked.game, "parameters": asked.parameters, **said})
        report(f"  {asked.game} {asked.parameters}: {said.get('fault', 'done')}")
    return found


def in_one_graph(rules: Any, turns: int) -> dict[str, Any]:
    """Stages of a game in one graph: the first use in this process, then medians."""
    import rollwise

    clock = time.perf_counter
    started = clock()
    solution = rollwise.solve(rules)
    first = clock() - started
    times: dict[str, list[float]] = {}
    begun = clock()
    for _ in range(turns):
        solution = rollwise.solve(rules)
        took = dict(solution.seconds)
        graph = rollwise.build(rules)
        before = clock()
        graph.components  # noqa: B018 (computed on first use)
        took["order"] = clock() - before
        before = clock()
        solution.table()
        took["table"] = clock() - before
        for stage, spent in took.items():
            times.setdefault(stage, []).append(spent)
        if clock() - begun > 20:
            break
    fields = graph.states.shape[1]
    size = Counts(graph.n_states, graph.n_actions, graph.n_outcomes, fields)
    return {
        "first": first,
        "counts": asdict(size),
        "bound": solution.error_bound,
        "seconds": {stage: max(statistics.median(took), 0.0) for stage, took in times.items()},
    }


def fold_of(rules: Any) -> int:
    """Products and comparisons of a turn with a pool of dice: 0 without one.

    Each roll averages over the faces of one die more, from each set of kept dice that isn't full.
    Each choice compares each set of kept dice with those of one die fewer.
    """
    from rollwise.builders.rules import Rules

    pool = Rules(rules).pool
    if pool is None:
        return 0
    partial = len(pool.keeps)
    kept = partial + len(pool.throws)
    return (pool.rerolls + 1) * partial * len(pool.faces) + pool.rerolls * kept * pool.n


def in_layers(rules: Any) -> dict[str, Any]:
    """Stages of a game by layers, solved once; a small Pig loads the code before."""
    import rollwise
    from rollwise.games.pig import Pig

    rollwise.solve_by_layers(Pig(target=8))
    started = time.perf_counter()
    solution = rollwise.solve_by_layers(rules)
    first, space = time.perf_counter() - started, solution.space
    actions, outcomes, fields = space.n_actions, space.n_outcomes, space.states.shape[1]
    size = Counts(len(solution), actions, outcomes, fields, fold_of(rules))
    return {
        "first": first,
        "counts": asdict(size),
        "bound": solution.error_bound,
        "seconds": dict(solution.seconds),
    }


def main() -> None:
    game, parameters, by_layer, turns, memory = sys.argv[1:]

    def measured() -> dict[str, Any]:
        from rollwise.games import find

        rules = find(game)(**json.loads(parameters))
        found = in_layers(rules) if by_layer == "1" else in_one_graph(rules, int(turns))
        return found | {"peak": peak_bytes()}

    say_once(memory, measured)


if __name__ == "__main__":
    main()
