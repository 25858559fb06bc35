"""Layers by several numbers: the same answers, smaller layers, and some at the same time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rollwise import Game, solve, solve_by_layers
from rollwise.analysis.check import check
from rollwise.answer.layer_folder import LayerFolder
from rollwise.answer.layered_solution import open_layers
from rollwise.answer.verify import verify_layers
from rollwise.builders import layer_rows
from rollwise.builders.layer_rows import LayersByProgress
from rollwise.builders.rules import Rules
from rollwise.cluster.pool import Pool
from rollwise.errors import RulesError
from rollwise.games.pig import Pig, Turn
from rollwise.games.royal_ur import Race, RoyalUr
from rollwise.games.super_six import Sticks, SuperSix

pytestmark = pytest.mark.needs_jit


@dataclass(frozen=True)
class Banks(Pig):
    """By both banks: their order says who moves, and isn't in it."""

    def progress(self, s: Turn) -> tuple[int, ...]:
        return min(s.banked, s.rivals[0]), max(s.banked, s.rivals[0])


@dataclass(frozen=True)
class Mine(Pig):
    """By what the mover has, which becomes what the other has."""

    def progress(self, s: Turn) -> tuple[int, ...]:
        return s.banked, s.rivals[0]


@dataclass(frozen=True)
class Tens(SuperSix):
    """By tens and ones that are large and below zero."""

    def progress(self, s: Sticks) -> tuple[int, ...]:
        gone = self.sticks - s.lid - s.mine - s.others[0]
        return gone // 10 - 5, 10**17 * gone, 7


@dataclass(frozen=True)
class BySum(RoyalUr):
    def progress(self, s: Race) -> int:
        return s.home + s.rival


@dataclass(frozen=True)
class Pairs(RoyalUr):
    def progress(self, s: Race) -> tuple[int, ...]:
        return min(s.home, s.rival), max(s.home, s.rival)


@dataclass(frozen=True)
class Odd(Pig):
    text: bool = False

    def progress(self, s: Turn) -> Any:
        if self.text:
            return s.banked, "x"
        return (0, 0) if s.banked + s.rivals[0] == 0 else (0, 0, 0)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


GAMES = [(Banks(12), Pig(12)), (Tens(24), SuperSix(24)), (Pairs(pieces=2), RoyalUr(pieces=2))]


@pytest.mark.parametrize(("game", "plain"), GAMES, ids=str)
def test_as_from_the_whole_graph(game: Game, plain: Game) -> None:
    found, whole = solve_by_layers(game), solve(plain)
    graph = whole.graph
    number = [whole.find(state) for state in found.states.tolist()]
    assert sorted(number) == list(range(len(graph.states)))
    off = np.abs(found.values - whole.values[number])
    assert np.all(off <= found.error_bounds + whole.error_bounds[number])
    assert found.error_bound < 1e-11
    every = np.arange(len(number))
    assert np.array_equal(found.numbers_of(np.asarray(found.states)), every)
    assert [found.find(row) for row in found.states[:5].tolist()] == every[:5].tolist()
    state = Rules(game).layout.state
    rows = [game.progress(state(row)) for row in found.states.tolist()]
    told = np.repeat(found.progress, np.diff(found.layers), axis=0).tolist()
    assert [tuple(row) for row in told] == rows
    sums = found.progress.sum(axis=1).tolist()
    assert sums == sorted(sums)
    assert len(np.unique(found.progress, axis=0)) == len(found.progress)


def test_layers_are_smaller() -> None:
    pairs, sums = solve_by_layers(Pairs(pieces=3)), solve_by_layers(BySum(pieces=3))
    assert (len(pairs.progress), len(sums.progress)) == (6, 5)
    assert np.diff(pairs.layers)[:2].tolist() == np.diff(sums.layers)[:2].tolist()
    assert np.diff(pairs.layers)[2:4].sum() == np.diff(sums.layers)[2]
    again = sums.values[sums.numbers_of(np.asarray(pairs.states))]
    off = pairs.error_bound + sums.error_bound
    assert np.abs(pairs.values - again).max() <= off


def test_an_outcome_that_lowers_a_number_is_refused() -> None:
    said = r"progress\(\) falls from \(0, 2\) to \(2, 0\) in the state banked=0, rival=2"
    with pytest.raises(RulesError, match=said) as raised:
        solve_by_layers(Mine(12))
    assert "action" in str(raised.value)
    assert "where a PASS swaps two of them, give these in order" in str(raised.value)
    found = {f.topic: f for f in check(Mine(12)).findings}["progress"]
    assert found.level == "error"
    assert "it falls from (0, 2) to (2, 0)" in found.text
    found = {f.topic: f for f in check(Banks(12)).findings}["progress"]
    assert (found.level, found.text) == ("ok", "no outcome lowers it (66 layers)")


@dataclass(frozen=True)
class Late(RoyalUr):
    """A number falls where the sum grows: layers that are swept see that too."""

    def progress(self, s: Race) -> tuple[int, ...]:
        return -(s.home + s.rival), 3 * (s.home + s.rival)


def test_a_number_that_falls_while_the_sum_grows_is_refused() -> None:
    with pytest.raises(RulesError, match=r"falls from \(0, 0\) to \(-1, 3\)"):
        solve_by_layers(Late(pieces=2))


def test_progress_of_another_kind_is_refused() -> None:
    rules = Rules(Odd(12))
    with pytest.raises(RulesError, match=r"\(0, 0, 0\) in the state .* and \(0, 0\) at the start"):
        rules.progress(Turn(3, (0,), 0))
    with pytest.raises(RulesError, match=r"or a tuple of such numbers"):
        Rules(Odd(12, text=True)).progress(Turn(3, (0,), 0))


@pytest.mark.parametrize("most", [1, layer_rows.MOST_CODES])
def test_layers_are_found_by_numbers_that_are_far_apart(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layer_rows, "MOST_CODES", most)
    random = np.random.default_rng(1)
    known = np.unique(random.integers(-(2**60), 2**60, (40, 2)), axis=0)
    random.shuffle(known)
    found = LayersByProgress(known)
    chosen = random.integers(0, len(known), 100)
    assert np.array_equal(found.find(known[chosen]), chosen)
    others = known[chosen] + [0, 1]
    assert np.all(found.find(others) == -1)
    assert np.array_equal(LayersByProgress(known[:, 0]).find(known[chosen, 0]), chosen)
    assert LayersByProgress(known[:, 0]).find(np.array([2**61, -(2**61), 5])).tolist() == [-1] * 3


class Together(Pool):
    """Does tasks only when somebody waits, and notes which layers are asked for together."""

    width = 3

    def __init__(self) -> None:
        self.asked: list[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = []
        self.at_once: list[list[int]] = []

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future = Future[Any]()
        self.asked.append((future, function, arguments))
        return future

    def wait(self, futures: Any) -> set[Future[Any]]:
        self.at_once.append(sorted({task[2][0].layer for task in self.asked}))
        future, function, arguments = self.asked.pop()  # the one that was asked for last
        future.set_result(function(*arguments))
        return {future}


@pytest.mark.parametrize("worthwhile", [0, 1e12])
@pytest.mark.parametrize("game", [Pairs(pieces=3), Banks(8)], ids=str)
def test_layers_that_do_not_wait_for_each_other_are_solved_together(
    game: Game, worthwhile: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rollwise.answer.by_layers.ORDERED", worthwhile)
    pool = Together()
    found = solve_by_layers(game, save=tmp_path / "two", pool=pool)
    solve_by_layers(game, save=tmp_path / "one")
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")
    together = [layers for layers in pool.at_once if len(layers) > 1]
    assert together
    for layers in together:
        rows = found.progress[layers]
        for i, row in enumerate(rows):
            others = np.delete(rows, i, axis=0)
            assert not np.any(np.all(others >= row, axis=1))
    assert verify_layers(tmp_path / "two", game).verified


def test_a_run_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = Banks(8)
    whole = solve_by_layers(game, save=tmp_path / "whole")
    keep, kept = LayerFolder.keep, []

    def stopping(self: LayerFolder, *given: Any) -> None:
        keep(self, *given)
        kept.append(given)
        if len(kept) == 9:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(LayerFolder, "keep", stopping)
        with pytest.raises(KeyboardInterrupt):
            solve_by_layers(game, save=tmp_path / "again")
    again = solve_by_layers(game, save=tmp_path / "again", resume=True)
    for name in ("states", "values", "error_bounds", "actions"):
        files = [tmp_path / run / f"{name}.npy" for run in ("whole", "again")]
        assert files[0].read_bytes() == files[1].read_bytes()
    read = open_layers(tmp_path / "again", game)
    assert np.array_equal(read.progress, whole.progress)
    assert read.find((3, 5, 4)) == again.find((3, 5, 4))
    rows = np.load(tmp_path / "again" / "values.npy", mmap_mode="r+")
    rows[-1] += 1
    rows.flush()
    refused = verify_layers(tmp_path / "again", game)
    assert refused.damaged == (tuple(whole.progress[-1].tolist()),)
    assert f"of progress {refused.damaged[0]} was changed" in refused.fault
