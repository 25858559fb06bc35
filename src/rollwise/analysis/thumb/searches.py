"""Several searches for rules of thumb, each from a seed of its own, by whoever works.

One search is no work for many: it scores some rules, and what it scores next depends on them.
Several searches share nothing. So each is a task, and the best rules of all are the answer. The
first one begins with the seed that was given, so that several never find less than it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from rollwise.cluster.pool import Pool
from rollwise.numbers.randomness import derived_seed
from rollwise.thumb.language import Rule

Progress = Callable[[str, int, "int | None"], None]
MOST_SEARCHES = 10_000


@dataclass(frozen=True)
class Limits:
    """How far one search goes.

    Attributes
    ----------
    numbers : int
        The most integers.
    enough : float
        The loss that is small enough.
    seconds : float
    evaluations : int or None
        After so many rules it ends.
    """

    numbers: int
    enough: float
    seconds: float
    evaluations: int | None


class Met(NamedTuple):
    """What one search came to.

    Attributes
    ----------
    rules : tuple of (Rule, float)
        The best ones, and what each loses.
    scored : int
    stopped, timed_out : bool
        Whether Ctrl-C, or the clock, cut it short.
    """

    rules: tuple[tuple[Rule, float], ...]
    scored: int
    stopped: bool
    timed_out: bool


class AllMet(NamedTuple):
    """What several searches came to, in the order of their seeds.

    Attributes
    ----------
    stopped : bool
        Whether Ctrl-C ended them: the others aren't there then.
    """

    each: tuple[Met, ...]
    stopped: bool

    @property
    def rules(self) -> list[tuple[Rule, float]]:
        """Those of all searches, once each."""
        return list(dict.fromkeys(pair for met in self.each for pair in met.rules))

    @property
    def scored(self) -> int:
        """How many rules were scored: one counts once in each search that scored it."""
        return sum(met.scored for met in self.each)

    @property
    def timed_out(self) -> bool:
        """Whether the clock cut a search short, and Ctrl-C didn't."""
        return not self.stopped and any(met.timed_out for met in self.each)


def search_all(
    search: Callable[..., Met],
    setting: Any,
    limits: Limits,
    seed: int,
    searches: int,
    progress: Progress | None,
    pool: Pool | None,
) -> AllMet:
    """Search from several seeds.

    Parameters
    ----------
    search : callable
        ``search(setting, limits, seed, progress)``, which workers can import.
    setting : object
        What all searches are given. It travels to each worker.
    pool : Pool, optional
        Whose workers each take a search; this process takes all unless given.

    Raises
    ------
    ClusterError
        The workers are gone.
    """
    seeds = [seed, *(derived_seed(seed, number) for number in range(1, searches))]
    found: Iterable[Met]
    if pool is None:
        found = (search(setting, limits, own, progress) for own in seeds)
    else:
        sent = pool.share(setting)
        found = pool.in_order(search, ((sent, limits, own) for own in seeds))
    each = list[Met]()
    stopped = False
    try:
        for met in found:
            each.append(met)
            if met.stopped:
                break
            if progress is not None and searches > 1:
                progress("searches", len(each), searches)
    except KeyboardInterrupt:
        if not each:
            raise
        stopped = True
    return AllMet(tuple(each), stopped or each[-1].stopped)
