"""States that are found layer by layer: those that a plain search finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runner import output, refusal
from test_layers import Climber
from test_tuple_layers import Banks, Pairs, Tens

from rollwise import AGAIN, PASS, Game, solve_by_layers
from rollwise.answer import layer_answers, layer_folder, layered
from rollwise.builders import layer_walk
from rollwise.builders.by_layer import find_layers
from rollwise.builders.compiled import explorer
from rollwise.builders.layer_rows import Frame, PackedRows, PlainRows, ordered, places_in
from rollwise.builders.rules import Rules
from rollwise.errors import UnknownState, UsageError
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.super_six import SuperSix
from rollwise.games.yahtzee import Yahtzee

pytestmark = pytest.mark.needs_jit

GAMES = [
    Pig(10),
    Banks(8),
    SuperSix(9),
    Tens(12),
    RoyalUr(pieces=1),
    Pairs(pieces=1),
    Yahtzee(boxes=1),
    Climber(9),
]


def naive_states(game: Game) -> set[Any]:
    """All states, by a search of the plain rules."""
    found = {game.start(), *game.roots()}
    waiting = list(found)
    while waiting:
        state = waiting.pop()
        for at in _situations(game, state):
            for action in game.actions(state, *at):
                for weight, then, after in game.outcomes(state, *at, action):
                    if weight and then in (AGAIN, PASS) and after not in found:
                        found.add(after)
                        waiting.append(after)
    return found


def _situations(game: Game, state: Any) -> list[tuple[Any, ...]]:
    if not Rules(game).has_throws:
        return [()]
    if (pool := Rules(game).pool) is not None:
        return [(throw,) for _, throw in pool.throws]
    return [(throw,) for _, throw in game.throws(state)]


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_the_states_of_a_plain_search(game: Game) -> None:
    layers, rules = find_layers(game), Rules(game)
    known = sorted(
        (as_tuple(game.progress(s)), tuple(rules.layout.numbers(s))) for s in naive_states(game)
    )
    known.sort(key=lambda pair: (sum(pair[0]), *pair))
    assert layers.states.tolist() == [list(row) for _, row in known]
    told = layers.progress.reshape(len(layers), -1).tolist()
    reached = np.repeat(told, np.diff(layers.indptr), axis=0).tolist()
    assert reached == [list(number) for number, _ in known]
    assert layers.states[layers.start].tolist() == list(rules.layout.numbers(game.start()))
    assert layers.farthest is not None
    border = {i: i for i in range(len(layers))}
    for layer in layers.last_first():
        i = int(np.searchsorted(layers.indptr, layer.begin, side="right")) - 1
        led = np.searchsorted(layers.indptr, layer.border, side="right") - 1
        border[i] = max(border[i], *led.tolist(), i)
    assert layers.farthest.tolist() == list(border.values())


def as_tuple(reached: Any) -> tuple[int, ...]:
    return reached if isinstance(reached, tuple) else (reached,)


@pytest.mark.parametrize("wide", [False, True])
def test_states_are_found_among_those_that_are_kept(wide: bool) -> None:
    random = np.random.default_rng(3)
    parts = [random.integers(-3, 4, (n, 3)).astype(np.int32) for n in (40, 1, 17)]
    if wide:  # the second layer doesn't fit 64 bits, so that all are unpacked
        parts[1] = np.array([[2**30, -(2**30), 5], [-(2**30), 2**30, 2**20]], np.int32)
        parts[1][:, 2] *= 2**10
        parts[1] = np.concatenate([parts[1], -parts[1]])
    layers = [ordered(part) for part in parts]
    assert (Frame.of(layers[1]) is None) == wide
    for part, rows in zip(parts, layers, strict=True):
        assert [*map(tuple, rows.tolist())] == sorted(set(map(tuple, part.tolist())))
    packed = PackedRows(3)
    for rows in layers:
        packed.append(rows)
    every, indptr = np.concatenate(layers), np.cumsum([0, *map(len, layers)])
    number = np.repeat(np.arange(3), np.diff(indptr))
    assert np.array_equal(packed.all(), every)
    for kept in (packed, PlainRows(every, indptr)):
        assert np.array_equal(kept.find(every, number), np.arange(len(every)))
        assert np.all(kept.find(every, np.full(len(every), -1)) == -1)
        assert np.all(kept.find(every + np.int32(9), number)[: len(layers[0])] == -1)
        for i, rows in enumerate(layers):
            assert np.array_equal(kept.part(*indptr[i : i + 2].tolist()), rows)
    assert places_in(layers[0], layers[0][::-1].copy()).tolist() == list(
        reversed(range(len(layers[0])))
    )


START_GAMES = [Pig(12), Banks(8), SuperSix(9), RoyalUr(pieces=1), Yahtzee(boxes=2), Climber(9)]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("game", START_GAMES, ids=str)
def test_the_start_alone(game: Game, packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if packed:
        monkeypatch.setattr(layered, "WORTHWHILE", 0)
    whole, found = solve_by_layers(game), solve_by_layers(game, keep="start")
    assert found.value == pytest.approx(whole.value, abs=1e-14)
    assert found.error_bound == pytest.approx(whole.error_bounds[whole.start], abs=1e-12)
    assert found.actions[0] == whole.actions[whole.start]
    assert (found.keep, len(found.states)) == ("start", 1)
    assert found.find(whole.states[whole.start].tolist()) == 0
    assert found.n_states <= whole.n_states
    assert found.whole().n_states == whole.n_states
    with pytest.raises(UnknownState, match="only the answer of the start was kept"):
        found.advise(whole.states[-1].tolist())


def test_answers_of_few_layers_are_held() -> None:
    """Less than all, where layers lead to the next ones only; and they are all that is needed."""
    layers = find_layers(SuperSix(40), only_start=True)
    assert layer_answers.needed_at_once(layers) < layers.n_states / 2
    most = layered._bytes_to_solve(layers, False)
    assert layered._bytes_to_solve(layers, False, "start") < most
    assert layered._bytes_to_solve(layers, False, in_folder=True) < most
    whole = solve_by_layers(SuperSix(40))
    found = solve_by_layers(SuperSix(40), keep="start")
    assert abs(found.value - whole.value) <= found.error_bound + whole.error_bound


def test_the_start_on_the_command_line(tmp_path: Path) -> None:
    said = output("solve", "super-six", "sticks=9", "--by-layer", "--keep", "start")
    assert "kept: the answer of the start" in said
    told = output("solve", "super-six", "sticks=9", "--by-layer", "--keep", "start", "--json")
    document = json.loads(told)
    assert (document["keep"], document["kept_states"]) == ("start", 1)
    known = json.loads(output("solve", "super-six", "sticks=9", "--by-layer", "--json"))
    assert document["value"] == pytest.approx(known["value"], abs=1e-13)
    asked = ("solve", "super-six", "sticks=9", "--by-layer", "--keep", "start")
    assert "and no folder" in refusal(*asked, "--save", str(tmp_path / "f"))
    with pytest.raises(UsageError, match="a folder holds more"):
        solve_by_layers(SuperSix(9), save=tmp_path, keep="start")


class Killed(BaseException):
    """What ends a run."""


def test_a_run_that_is_killed_while_states_are_found_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = SuperSix(20)
    solve_by_layers(game, save=tmp_path / "whole")
    append, seen = layer_folder.StatesFile.append, []

    def dying(self: Any, rows: Any) -> None:
        seen.append(len(rows))
        if len(seen) > 5:
            raise Killed
        append(self, rows)

    with monkeypatch.context() as patched:
        patched.setattr(layer_folder.StatesFile, "append", dying)
        with pytest.raises(Killed):
            solve_by_layers(game, save=tmp_path / "f")
    assert not list((tmp_path / "f").iterdir())
    solve_by_layers(game, save=tmp_path / "f", resume=True)
    for path in (tmp_path / "whole").iterdir():
        assert (tmp_path / "f" / path.name).read_bytes() == path.read_bytes()


def test_workspaces_that_are_given_back_and_roots_part_by_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = find_layers(SuperSix(15), entered=True)
    for name in ("LARGE", "ROOTS_AT_ONCE", "WORTH_PACKING", "FEW_BITS", "MANY_TWICE"):
        monkeypatch.setattr(layer_walk, name, 3)
    again = find_layers(SuperSix(15), entered=True)
    assert np.array_equal(again.states, known.states)
    assert np.array_equal(again.entered, known.entered)
    assert (again.n_roots, again.n_outcomes) == (known.n_roots, known.n_outcomes)


def test_a_step_has_few_outcomes_where_layers_lead_to_many_states(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """States outside a layer have none: they don't make the next step larger."""
    monkeypatch.setattr(explorer, "OUTCOMES_AT_ONCE", 10_000)
    steps: list[int] = []
    forget = explorer.Explorer.forget

    def noted(self: explorer.Explorer) -> None:
        steps.append(self.n_outcomes)
        forget(self)

    monkeypatch.setattr(explorer.Explorer, "forget", noted)
    found = find_layers(Yahtzee(boxes=6))
    assert sum(steps) == found.n_outcomes
    assert max(steps) <= 10_000 < np.diff(found.indptr).max() * max(steps)
