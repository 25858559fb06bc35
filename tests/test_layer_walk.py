"""States that are found layer by layer: those that a plain search finds."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import output, refusal
from test_layers import Climber
from test_tuple_layers import Banks, Pairs, Tens

from rollwise import AGAIN, END, PASS, Game, open_layers, parameter, solve_by_layers
from rollwise.answer import by_layers, found_states
from rollwise.answer.found_states import FoundStates
from rollwise.answer.solve_by_layers import _bytes_to_solve, in_all_states
from rollwise.builders import layer_walk
from rollwise.builders.by_layer import find_layers
from rollwise.builders.compiled import explorer
from rollwise.builders.layer_rows import Frame, PackedRows, PlainRows, ordered, places_in
from rollwise.builders.rules import Rules
from rollwise.errors import OutputError, RulesError, SolutionFileError, UnknownState, UsageError
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.super_six import SuperSix
from rollwise.games.yahtzee import Yahtzee
from rollwise.machine import switches

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
        monkeypatch.setattr("rollwise.answer.by_layers.ORDERED", 0)
    whole, found = solve_by_layers(game), solve_by_layers(game, keep="start")
    assert found.value == pytest.approx(whole.value, abs=1e-14)
    assert found.error_bound == pytest.approx(whole.error_bounds[whole.start], abs=1e-12)
    assert found.actions[0] == whole.actions[whole.start]
    assert (found.keep, len(found.states)) == ("start", 1)
    assert found.find(whole.states[whole.start].tolist()) == 0
    assert found.n_states <= whole.n_states
    assert in_all_states(found).n_states == whole.n_states
    with pytest.raises(UnknownState, match="only the answer of the start was kept"):
        found.advise(whole.states[-1].tolist())


def test_answers_of_few_layers_are_held() -> None:
    """Less than all, where layers lead to the next ones only; and they are all that is needed."""
    layers = find_layers(SuperSix(40), only_start=True)
    assert by_layers.needed_at_once(layers) < layers.n_states / 2
    most = _bytes_to_solve(layers)
    assert _bytes_to_solve(layers, "start") < most
    assert _bytes_to_solve(layers, False, in_folder=True) < most
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
    assert "--keep is all or start, not some" in refusal(*asked[:-1], "some")
    assert "goes with --by-layer" in refusal("solve", "super-six", "sticks=9", "--keep", "start")
    assert "and no folder" in refusal(*asked, "--save", str(tmp_path / "f"))
    with pytest.raises(UsageError, match="a folder holds more"):
        solve_by_layers(SuperSix(9), save=tmp_path, keep="start")


class Killed(BaseException):
    """What ends a run."""


def dying_after(n: int, appended: list[int]) -> Any:
    """Writes so many layers, notes how many states they have, and ends the run."""
    append = FoundStates.append

    def dying(self: Any, rows: Any) -> None:
        if len(appended) >= n:
            raise Killed
        appended.append(len(rows))
        append(self, rows)

    return dying


def killed_while_finding(game: Game, place: Path, layers: int) -> list[int]:
    """A run that ends while states are found, with a record after each layer; what it wrote."""
    appended: list[int] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(FoundStates, "append", dying_after(layers, appended))
        patched.setattr(found_states, "SECONDS_BETWEEN", 0.0)
        with pytest.raises(Killed):
            solve_by_layers(game, save=place)
    return appended


def same_bytes(one: Path, other: Path) -> bool:
    """Whether two folders have the same files."""
    names = [sorted(path.name for path in place.iterdir()) for place in (one, other)]
    return names[0] == names[1] and all(
        (one / name).read_bytes() == (other / name).read_bytes() for name in names[0]
    )


def test_a_run_that_is_killed_soon_while_states_are_found_begins_anew(tmp_path: Path) -> None:
    game = SuperSix(20)
    solve_by_layers(game, save=tmp_path / "whole")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(FoundStates, "append", dying_after(5, []))
        with pytest.raises(Killed):
            solve_by_layers(game, save=tmp_path / "f")
    assert not list((tmp_path / "f").iterdir())
    solve_by_layers(game, save=tmp_path / "f", resume=True)
    assert same_bytes(tmp_path / "whole", tmp_path / "f")


@pytest.mark.parametrize(
    ("game", "layers"),
    [
        (SuperSix(20), 5),
        (Banks(8), 7),
        (RoyalUr(pieces=2), 1),
        (Yahtzee(boxes=2), 1),
        (Tens(12), 2),
        (Climber(9), 3),
    ],
)
def test_a_run_that_is_killed_while_states_are_found_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: Game, layers: int
) -> None:
    """The layers that were recorded aren't found again, and the folder has the same bytes."""
    solve_by_layers(game, save=tmp_path / "whole")
    wrote = killed_while_finding(game, tmp_path / "f", layers)
    with pytest.raises(UsageError, match="holds states that a run found before"):
        solve_by_layers(game, save=tmp_path / "f")
    append, more = FoundStates.append, []
    monkeypatch.setattr(
        FoundStates, "append", lambda self, rows: more.append(len(rows)) or append(self, rows)
    )
    found = solve_by_layers(game, save=tmp_path / "f", resume=True)
    assert sum(wrote) + sum(more) == found.n_states
    assert len(wrote) == layers
    assert same_bytes(tmp_path / "whole", tmp_path / "f")


def test_a_run_that_is_killed_when_all_states_are_found_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, place = SuperSix(20), tmp_path / "f"
    solve_by_layers(game, save=tmp_path / "whole")
    monkeypatch.setattr(found_states, "SECONDS_BETWEEN", 0.0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            "rollwise.answer.solve_by_layers.begin_folder", lambda *_: (_ for _ in ()).throw(Killed)
        )
        with pytest.raises(Killed):
            solve_by_layers(game, save=place)
    assert {path.name for path in place.iterdir()} == {"states.npy", "found.npz"}
    solve_by_layers(game, save=place, resume=True)
    assert same_bytes(tmp_path / "whole", place)


def test_a_record_is_removed_that_a_run_left_beside_its_manifest(tmp_path: Path) -> None:
    game, place = SuperSix(20), tmp_path / "f"
    solve_by_layers(game, save=tmp_path / "whole")
    killed_while_finding(game, place, 5)
    record = (place / "found.npz").read_bytes()
    solve_by_layers(game, save=place, resume=True)
    (place / "found.npz").write_bytes(record)
    solve_by_layers(game, save=place, resume=True)
    assert same_bytes(tmp_path / "whole", place)


def test_what_was_found_of_something_else_is_refused(tmp_path: Path) -> None:
    killed_while_finding(SuperSix(20), tmp_path, 5)
    with pytest.raises(SolutionFileError, match="sticks=20, and not of super-six sticks=21"):
        solve_by_layers(SuperSix(21), save=tmp_path, resume=True)
    with pytest.raises(SolutionFileError, match="aren't all found yet; --resume goes on"):
        open_layers(tmp_path, SuperSix(20))


@pytest.mark.parametrize("damage", ["changed", "short", "record"])
def test_found_states_that_were_damaged_are_refused(tmp_path: Path, damage: str) -> None:
    killed_while_finding(SuperSix(20), tmp_path, 5)
    path = tmp_path / ("found.npz" if damage == "record" else "found_states.npy")
    data = bytearray(path.read_bytes())
    if damage == "short":
        del data[-200:]
    else:
        data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(SolutionFileError, match="is damaged"):
        solve_by_layers(SuperSix(20), save=tmp_path, resume=True)


class Sinking(SuperSix):
    """Lowers its progress in a late layer."""

    def progress(self, s: Any) -> int:
        gone = self.sticks - s.lid - s.mine - s.others[0]
        return 0 if gone == 15 else gone


def test_states_of_wrong_rules_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(found_states, "SECONDS_BETWEEN", 0.0)
    with pytest.raises(RulesError, match="falls from"):
        solve_by_layers(Sinking(20), save=tmp_path)
    assert not list(tmp_path.iterdir())


def test_two_runs_dont_find_states_for_one_folder(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    path = tmp_path / "found_states.npy"
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(b"what the other run has found")
        file.flush()
        with pytest.raises(OutputError, match="written to by another process"):
            solve_by_layers(SuperSix(9), save=tmp_path)
        assert path.read_bytes() == b"what the other run has found"
    solve_by_layers(SuperSix(9), save=tmp_path)


def test_workspaces_that_are_given_back_and_roots_part_by_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = find_layers(SuperSix(15))
    for name in ("LARGE", "ROOTS_AT_ONCE", "WORTH_PACKING", "FEW_BITS", "MANY_TWICE"):
        monkeypatch.setattr(layer_walk, name, 3)
    again = find_layers(SuperSix(15))
    assert np.array_equal(again.states, known.states)
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


class Landing(NamedTuple):
    floor: int
    x: int
    y: int


@dataclass(frozen=True)
class Stairs(Game):
    """Throw a die and climb one of two stairs; near the top a 1 throws back.

    Turns lead to later layers at first, and stay in theirs in the end.
    """

    steps: int = parameter(12, at_least=2)
    back: bool = parameter(True)
    stuck: int = parameter(-1)
    players: ClassVar = 1
    objective: ClassVar = "minimize"

    def start(self) -> Landing:
        return Landing(0, 0, 0)

    def progress(self, s: Landing) -> int:
        return s.floor

    def throws(self, s: Landing) -> Any:
        for face in range(1, 5):
            yield 1, face

    def actions(self, s: Landing, throw: int) -> Any:
        yield 0
        yield 1

    def outcomes(self, s: Landing, throw: int, action: int) -> Any:
        x, y = s.x, s.y
        if action == 0:
            x += throw
        else:
            y += throw
        while s.floor == self.stuck and s.x < s.y:
            x += 1
        if s.floor == self.steps:
            yield 1, END, s
        elif self.back and s.floor > self.steps - 2 and throw == 1:
            yield 1, AGAIN, Landing(s.floor, max(s.x - 1, 0), s.y)
        else:
            yield 1, AGAIN, Landing(s.floor + 1, x, y)

    def reward(self, s: Landing, throw: int, action: int) -> float:
        return 1.0 + throw * action


@pytest.mark.parametrize(
    "game",
    [Yahtzee(boxes=7), Stairs(12), Stairs(14, back=False)],
    ids=["yahtzee", "stays", "leaves"],
)
def test_one_core_finds_what_both_find(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = []
    both = layer_walk.on_both_cores

    def counted(work: Any, pieces: Any) -> Any:
        shared.append(pieces)
        return both(work, pieces)

    monkeypatch.setattr(layer_walk, "on_both_cores", counted)
    monkeypatch.setattr(layer_walk, "WORTH_BOTH", 2)
    found, solved = find_layers(game), solve_by_layers(game)
    assert shared
    monkeypatch.setattr(switches, "is_on", lambda name: name != "second-core")
    shared.clear()
    alone, solved_alone = find_layers(game), solve_by_layers(game)
    assert not shared
    assert np.array_equal(found.states, alone.states)
    assert np.array_equal(found.farthest, alone.farthest)
    for fact in ("n_outcomes", "merging", "start"):
        assert getattr(found, fact) == getattr(alone, fact)
    assert solved.values.tobytes() == solved_alone.values.tobytes()
    assert solved.error_bounds.tobytes() == solved_alone.error_bounds.tobytes()
    states = {tuple(row) for row in found.states.tolist()}
    if isinstance(game, Stairs):
        assert states == naive_states(game)


def test_rules_that_are_stuck_on_one_of_two_cores_are_stopped() -> None:
    """In a process of its own, since the stuck rules never return."""
    code = """
import os
from test_layer_walk import RulesError, Stairs, explorer, find_layers, layer_walk

layer_walk.WORTH_BOTH, explorer.LOOKS = 2, 3
try:
    find_layers(Stairs(20, back=False, stuck=12))
except RulesError as error:
    print(error, flush=True)
os._exit(0)
"""
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=here, capture_output=True, text=True, timeout=300
    )
    assert "floor=12" in done.stdout
