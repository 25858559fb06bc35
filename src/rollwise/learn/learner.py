"""Learning a game by self-play.

One worker learns game after game. Several workers play at the same time, each with
its own stream of random numbers and its own copy of the tally. At the end of a round
their games are added up, and all go on from the sum. Rounds grow with the number of
games so far, to limit the cost of adding up.

Game number g is played by worker g mod n, and the rounds depend only on the
number of games. The same random seed and number of workers give the same counts,
even in an interrupted and continued run.

The rule of choice goes from exploring to exploiting, at a speed set by M. With K actions, f_J the
win rate of action J (0.5 if it was never seen), B the action with the highest rate, T the games
that went through the state and g the sum of f_J over all J but B,

    p_B = (T f_B + M) / (T f_B + K M)
    p_J = (1 - p_B) (T f_J + M) / (g T + (K - 1) M)    for every other J.

If rates tie, B is the first of them in the order of the rules.

A file is a NumPy archive (.npz) with a description in JSON. The arrays are the complete state of
the run, including the random numbers'. A run continued from a file ends like an uninterrupted one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rollwise import __version__
from rollwise.errors import LearnerFileError, UsageError, entry
from rollwise.graph import StateGraph, require_graph, title_of
from rollwise.learn.learned import (
    Arrays,
    Learned,
    Move,
    Tally,
    add_up,
    read_game_record,
)
from rollwise.machine.atomic_files import (
    checksum_of,
    path_of,
    read_arrays,
    require_file,
    write_arrays,
)
from rollwise.machine.interrupts import held_back
from rollwise.numbers.given import whole_number
from rollwise.numbers.printed import how_many
from rollwise.numbers.randomness import seed_of, stream
from rollwise.proofs.endless_play import require_ending

METHODS = {
    "counts": "counts of wins and losses, from exploring to exploiting at a speed set by M",
    "monte-carlo": "Monte-Carlo control: the best mean so far, or with a chance of M/(M+T) any",
    "q-learning": "tabular Q-learning, with the same chance of any action",
}
FIRST_ROUND = 4096  # games of a worker in the first round
FIRST_PIECE = 2048  # games of a worker before Python first looks up
SECONDS_A_PIECE = 0.2  # how long kernels run before Python looks up

MOST_WORKERS = 256

FORMAT = "3"
# The attributes of a learner in the description of a file, and their types.
SETTINGS: dict[str, Any] = {"method": str, "explore": int | float, "seed": int, "workers": int}
COUNTS: dict[str, Any] = {"games": int, "recorded": int, "round_end": int}
FACTS = {"game": str, "parameters": dict, "graph_hash": str, **SETTINGS, **COUNTS}


def checksum_of_named(arrays: Arrays) -> str:
    names = ((np.frombuffer(name.encode(), np.uint8), arrays[name]) for name in sorted(arrays))
    return checksum_of(*chain.from_iterable(names))


def round_after(begin: int, workers: int) -> int:
    """The number of games at which the round that starts at `begin` ends."""
    return begin + max(FIRST_ROUND * workers, begin // 8)


class Learner:
    """A learner and its present estimates.

    Parameters
    ----------
    graph : StateGraph
        Of a game whose every play ends.
    explore : float
        M: the larger, the longer the learner explores.
    seed : int, optional
        By default a new one, stored in `seed`.
    workers : int
        Number of threads.
    method : {"counts", "monte-carlo", "q-learning"}

    Raises
    ------
    UsageError
        M isn't positive; no such method; Q-learning with several workers, or for three players or
        more.
    EndlessPlay
        The players can go round for ever.

    Notes
    -----
    A solitaire game of wins and losses is treated in the same way, with one
    player to count for. In a game for points or stakes, a rate is the mean result
    after an action, on a scale from the worst (0) to the best (1)
    ever seen from that state.
    """

    def __init__(
        self,
        graph: StateGraph,
        *,
        explore: float = 100.0,
        seed: int | None = None,
        workers: int = 1,
        method: str = "counts",
    ) -> None:
        entry("learner", method, METHODS)
        require_graph(graph)
        workers = whole_number("workers", workers, 1, MOST_WORKERS)
        if workers > 1 and method == "q-learning":
            raise UsageError(
                "Q-learning takes one worker: estimates of two workers can't be added up"
            )
        if graph.players > 2 and method == "q-learning":
            raise UsageError(
                f"{graph.title} is a game for {graph.players}, and Q-learning is for one or two: "
                "the value after a PASS is the opponent's with the other sign"
            )
        self.explore = check_explore(explore)
        self.seed = seed_of(seed)
        require_ending(graph)
        self.graph = graph
        self.method = method
        self.workers = workers
        self.games = 0
        self.recorded = 0
        self.round_end = round_after(0, workers)
        first = Tally(graph, method, self.explore)
        self.tallies = [first, *(self._new_tally(first) for _ in range(workers - 1))]
        self.base: Arrays = {k: v.copy() for k, v in first.arrays().items()}
        self.words = np.array([stream(self.seed, number) for number in range(workers)])

    def __repr__(self) -> str:
        games = how_many(self.games + self.recorded, "game")
        return f"<Learner of {self.graph.title}: {games}, seed {self.seed}>"

    def _new_tally(self, like: Tally) -> Tally:
        return Tally(self.graph, self.method, self.explore, like)

    def play(
        self, games: int, *, progress: Callable[[str, int, int | None], None] | None = None
    ) -> None:
        """Play games and learn from them.

        Ctrl-C ends the run between two games. KeyboardInterrupt is raised in a
        consistent state, and `games` is the number of games played.

        Parameters
        ----------
        games : int
        progress : callable, optional
            Called now and then as ``progress("learning", games, total)``.
        """
        target = self.games + whole_number("games", games, 0)
        piece = FIRST_PIECE * self.workers
        with held_back() as interrupt, ThreadPoolExecutor(self.workers) as pool:
            # Ctrl-C and progress wait for the end of a piece: pieces grow to about SECONDS_A_PIECE
            while self.games < target and not interrupt.asked:
                started = time.perf_counter()
                end = min(target, self.games + piece)
                if self.workers > 1:
                    end = min(end, self.round_end)
                shares = [self._share(w, end) - self._share(w, self.games)
                          for w in range(self.workers)]  # fmt: skip
                if self.workers == 1:
                    self.tallies[0].play(shares[0], self.words[0])
                else:
                    pairs = zip(self.tallies, shares, self.words, strict=True)
                    waiting = [pool.submit(tally.play, n, w) for tally, n, w in pairs]
                    for done in waiting:
                        done.result()
                full = end - self.games == piece
                self.games = end
                if self.workers > 1 and end == self.round_end:
                    self._end_round()
                if full and time.perf_counter() - started < SECONDS_A_PIECE / 2:
                    piece *= 2
                if progress is not None:
                    progress("learning", self.games, target)

    def _share(self, worker: int, games: int) -> int:
        """How many of the first `games` games a worker plays."""
        return (games + self.workers - 1 - worker) // self.workers

    def _end_round(self) -> None:
        self.round_end = round_after(self.games, self.workers)
        self.base = add_up(self.base, self.tallies)
        for tally in self.tallies:
            tally.set_arrays(self.base)

    def record(self, moves: Sequence[Move], start: Sequence[int] | None = None) -> None:
        """Learn from a game played elsewhere.

        Parameters
        ----------
        moves, start
            As in `rollwise.learn.read_game_record`.

        Raises
        ------
        UsageError
            The game breaks the rules. It isn't counted.
        """
        game = read_game_record(self.graph, moves, start)
        if self.workers > 1:  # added to every worker's copy and to the base of the round
            together = self._new_tally(self.tallies[0])
            together.set_arrays(self.base)
            together.record(game)
            self.base = together.arrays()
        for tally in self.tallies:
            tally.record(game)
        self.recorded += 1

    def arrays(self) -> Arrays:
        """The complete state of the estimates, by name: see `rollwise.learn.learned.Tally`."""
        return add_up(self.base, self.tallies)

    def counts(self, state: Sequence[int], action: int | str) -> tuple[int, int, int]:
        """Wins, losses and draws after an action in a state.

        Raises
        ------
        UsageError
            There is no such action, or the learner keeps no such counts.
        UnknownState
        """
        a = self.graph.view.find(state).find_action(action).index
        wins, losses, draws = self._counts()[a].tolist()
        return wins, losses, draws

    def count_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Wins, losses and draws as arrays with an axis for each field, and one for the action.

        Returns
        -------
        wins, losses, draws : int64
            ``wins[x, y, action]`` is how often the mover has won after the action (the rules'
            number of it) at the fields x and y; 0 where the rules have no such action.

        Raises
        ------
        UsageError
            The learner keeps no such counts, or `rollwise.graph.by_fields` can't lay them out.
        """
        wins, losses, draws = map(self.graph.action_array, self._counts().T)
        return wins, losses, draws

    def _counts(self) -> np.ndarray:
        """Wins, losses and draws after each action: (n_actions, 3) int64."""
        graph = self.graph
        if graph.is_score or graph.players > 2 or self.method == "q-learning":
            raise UsageError(f"{self.method} on {graph.game} keeps no wins and losses")
        # payoffs are 1, -1 and 0, so their squares count wins and losses
        games, gained, decided = self.arrays()["sums"].astype(np.int64).T
        return np.stack([decided + gained, decided - gained, 2 * (games - decided)], axis=1) // 2

    def result(self) -> Learned:
        """The estimates so far."""
        tally = self._new_tally(self.tallies[0])
        tally.set_arrays(self.arrays())
        return Learned(
            self.graph,
            self.method,
            self.games + self.recorded,
            self.explore,
            self.seed,
            self.workers,
            tally.visits.copy(),
            tally.values,
            tally.deviations,
            None if tally.by_game is None else tally.by_game.copy(),
        )

    def save(self, path: str | Path) -> None:
        """Write all of the learner's state to a file, all at once or not at all."""
        arrays: Arrays = {"words": self.words}
        arrays |= {f"base.{name}": array for name, array in self.base.items()}
        for number, tally in enumerate(self.tallies):
            arrays |= {f"{number}.{name}": array for name, array in tally.arrays().items()}
        facts = {
            "format": FORMAT,
            "rollwise": __version__,
            "game": self.graph.game,
            "parameters": dict(self.graph.parameters),
            "graph_hash": self.graph.content_hash,
            **{name: getattr(self, name) for name in (*SETTINGS, *COUNTS)},
            "checksum": checksum_of_named(arrays),
        }
        write_arrays(path_of(path), arrays, compressed=True, facts=facts)

    @classmethod
    def load(cls, path: str | Path, graph: StateGraph) -> Learner:
        """Read a saved learner; it goes on like an uninterrupted one.

        Raises
        ------
        LearnerFileError
            The file is damaged, or belongs to other rules.
        """
        path = path_of(path)
        facts, arrays = _read(path)
        if facts["graph_hash"] != graph.content_hash:
            saved = title_of(facts["game"], facts["parameters"])
            raise LearnerFileError(f"{path} was learned on {saved}, not on {graph.title}")
        try:
            learner = cls(graph, **{name: facts[name] for name in SETTINGS})
        except UsageError as error:
            raise LearnerFileError(f"{path} is damaged: {error}") from error
        counts = {name: facts[name] for name in COUNTS}
        if not all(0 <= count < 2**62 for count in counts.values()):
            raise LearnerFileError(f"{path} is damaged: it counts {counts}")
        learner.games, learner.recorded, learner.round_end = counts.values()
        # every array must have the shape and type of the new learner's, or the file is refused
        take = partial(_like, path, arrays)
        learner.words[...] = take("words", learner.words)
        learner.base = {name: take(f"base.{name}", array) for name, array in learner.base.items()}
        for number, tally in enumerate(learner.tallies):
            tally.set_arrays(
                {name: take(f"{number}.{name}", array) for name, array in tally.arrays().items()}
            )
        return learner


def _read(path: Path) -> tuple[dict[str, Any], Arrays]:
    require_file(path, "a saved learner", LearnerFileError)
    try:
        arrays, (facts,) = read_arrays(path, "facts")
        written = facts["format"]
        fits = {name: isinstance(facts[name], kind) for name, kind in FACTS.items()}
        sound = checksum_of_named(arrays) == facts["checksum"]
    except Exception as error:  # a zip file, an array or a description that isn't one
        raise LearnerFileError(f"{path} is damaged, or isn't a learner saved by rollwise") from (
            error
        )
    if written != FORMAT:
        raise LearnerFileError(
            f"{path} has the format {written}; this version of rollwise reads {FORMAT}"
        )
    if not sound:
        raise LearnerFileError(f"{path} is damaged: its counts don't match their checksum")
    if not all(fits.values()):
        wrong = next(name for name in fits if not fits[name])
        raise LearnerFileError(f"{path} is damaged: its {wrong} can't be {facts[wrong]!r:.50}")
    return facts, arrays


def _like(path: Path, arrays: Arrays, name: str, expected: Any) -> Any:
    """An array of a file, checked against the shape and type of a present one."""
    array = arrays.get(name)
    if array is None or (array.shape, array.dtype) != (expected.shape, expected.dtype):
        raise LearnerFileError(f"{path} is damaged: its {name} isn't of this game")
    return array


def learn(
    graph: StateGraph,
    games: int,
    *,
    explore: float = 100.0,
    seed: int | None = None,
    workers: int = 1,
    method: str = "counts",
) -> Learned:
    """Learn a game by playing it so many times; see `Learner`."""
    games = whole_number("games", games, 1)
    learner = Learner(graph, explore=explore, seed=seed, workers=workers, method=method)
    learner.play(games)
    return learner.result()


def check_explore(explore: float) -> float:
    """M as a float, if it is a positive number.

    Raises
    ------
    UsageError
    """
    try:
        number = float(explore)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0 < number < float("inf"):
        raise UsageError(
            f"M (explore) is {explore}; it must be a positive number: in an unseen position "
            "M alone sets the chances of the actions"
        )
    return number


def choice_probabilities(
    wins: Sequence[float],
    losses: Sequence[float],
    explore: float,
    draws: Sequence[float] | None = None,
) -> list[float]:
    """The probability of each action in a state, from its counts.

    Parameters
    ----------
    wins, losses, draws : (K,) sequences of numbers
        Games that went through each action. A draw is half a win.
    explore : float
        M: the larger, the longer the learner explores. It may be 0 only after a win.

    Returns
    -------
    list of float, one an action

    Raises
    ------
    UsageError
        M is negative, or zero without a win; the counts don't match.
    """
    draws = [0.0] * len(wins) if draws is None else draws
    if not len(wins) == len(losses) == len(draws) or not len(wins):
        raise UsageError("wins, losses and draws need one count for each action")
    for count in (*wins, *losses, *draws):
        if not 0 <= count < float("inf"):
            raise UsageError(f"a count of games is {count}; it must be a number from 0 on")
    seen = [w + x + d for w, x, d in zip(wins, losses, draws, strict=True)]
    rate = [(w + d / 2) / n if n else 0.5 for w, d, n in zip(wins, draws, seen, strict=True)]
    total, k = sum(seen), len(wins)
    best = rate.index(max(rate))
    if explore != 0 or total * rate[best] == 0:
        explore = check_explore(explore)
    others = sum(rate) - rate[best]
    p_best = (total * rate[best] + explore) / (total * rate[best] + k * explore)
    room = others * total + (k - 1) * explore
    share = (1 - p_best) / room if room > 0 else 0.0
    return [p_best if j == best else share * (total * f + explore) for j, f in enumerate(rate)]
