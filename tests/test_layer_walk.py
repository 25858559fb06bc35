"""States that are found layer by layer: those that a plain search finds."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from test_layers import Banks, Climber, Pairs, Tens

from rollwise import AGAIN, END, PASS, Game, parameter, solve_by_layers
from rollwise.answer import found_states
from rollwise.answer.found_states import FoundStates
from rollwise.builders import by_layer, layer_rules, layer_walk
from rollwise.builders.by_layer import find_layers
from rollwise.builders.rules import Rules
from rollwise.errors import RulesError, SolutionFileError, UnknownState, UsageError
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


START_GAMES = [Pig(12), Banks(8), SuperSix(9), RoyalUr(pieces=1), Yahtzee(boxes=2), Climber(9)]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("game", START_GAMES, ids=str)
def test_the_start_alone(game: Game, packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if packed:
        monkeypatch.setattr("rollwise.answer.by_layers.ORDERED", 0)
    whole, found = solve_by_layers(game), solve_by_layers(game, keep="start")
    assert found.value == pytest.approx(whole.value, abs=1e-14)
    assert found.error_bound == pytest.approx(whole.error_bounds[whole.start], abs=1e-12)
    assert found.space.actions[0] == whole.space.actions[whole.start]
    assert (found.space.keep, len(found.space.states)) == ("start", 1)
    assert found.find(whole.space.states[whole.start].tolist()) == 0
    assert found.space.n_states <= whole.space.n_states
    with pytest.raises(UnknownState, match="only the answer of the start was kept"):
        found.advise(whole.space.states[-1].tolist())


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
        patched.setattr(found_states, "BETWEEN_RECORDS", 0.0)
        with pytest.raises(Killed):
            solve_by_layers(game, save=place)
    return appended


def same_bytes(one: Path, other: Path) -> bool:
    """Whether two folders have the same files."""
    names = [sorted(path.name for path in place.iterdir()) for place in (one, other)]
    return names[0] == names[1] and all(
        (one / name).read_bytes() == (other / name).read_bytes() for name in names[0]
    )


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
    assert sum(wrote) + sum(more) == found.space.n_states
    assert len(wrote) == layers
    assert same_bytes(tmp_path / "whole", tmp_path / "f")


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
    monkeypatch.setattr(found_states, "BETWEEN_RECORDS", 0.0)
    with pytest.raises(RulesError, match="falls from"):
        solve_by_layers(Sinking(20), save=tmp_path)
    assert not list(tmp_path.iterdir())


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
    threads: list[int] = []
    expanded = layer_rules.Workbench.expanded

    def counted(*given: Any, **named: Any) -> Any:
        threads.append(threading.get_ident())
        return expanded(*given, **named)

    monkeypatch.setattr(layer_rules.Workbench, "expanded", counted)
    monkeypatch.setattr(layer_walk, "WORTH_BOTH", 2)
    found = find_layers(game)
    assert len(set(threads)) > 1
    solved = solve_by_layers(game)
    monkeypatch.setattr(switches, "is_on", lambda name: name != "second-core")
    threads.clear()
    alone = find_layers(game)
    assert len(set(threads)) == 1
    solved_alone = solve_by_layers(game)
    assert np.array_equal(found.states, alone.states)
    assert np.array_equal(found.farthest, alone.farthest)
    for fact in ("n_outcomes", "merging", "start"):
        assert getattr(found, fact) == getattr(alone, fact)
    assert solved.values.tobytes() == solved_alone.values.tobytes()
    assert solved.error_bounds.tobytes() == solved_alone.error_bounds.tobytes()
    states = {tuple(row) for row in found.states.tolist()}
    if isinstance(game, Stairs):
        assert states == naive_states(game)


@pytest.mark.parametrize("room", ["none", "some", "all"])
@pytest.mark.parametrize("game", [Yahtzee(boxes=7), Stairs(14, back=False)], ids=str)
def test_rules_of_layers_run_once_where_there_is_room(
    game: Game, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    states: list[int] = []
    expanded = layer_rules.Workbench.expanded

    def counted(bench: Any, begun: Any, n: int, **given: Any) -> Any:
        states.append(n)
        return expanded(bench, begun, n, **given)

    monkeypatch.setattr(layer_walk.limits, "LOOKED_AT", 0)
    for module in (by_layer, layer_walk):
        monkeypatch.setattr(module, "SMALL", 1)
    plain = solve_by_layers(game)
    layers = find_layers(game)
    some = layers.kept[len(layers) - 1][0].nbytes
    bytes_to_keep = {"none": 0, "some": some, "all": 1 << 40}[room]
    monkeypatch.setattr(layer_walk.limits, "bytes_to_keep", lambda: bytes_to_keep)
    monkeypatch.setattr(layer_rules.Workbench, "expanded", counted)
    solved = solve_by_layers(game)
    assert solved.values.tobytes() == plain.values.tobytes()
    assert solved.error_bounds.tobytes() == plain.error_bounds.tobytes()
    n, asked = solved.space.n_states, sum(states) - by_layer.FIRST_BLOCK  # for its memory
    if room == "all":
        assert asked == n
    elif room == "none":
        assert asked >= 2 * n
    else:
        assert n < asked < 2 * n
    assert not [pieces for pieces in layers.kept.values() for p in pieces if p.nbytes <= 0]


@pytest.mark.parametrize(
    "game", [Pig(12), SuperSix(9), RoyalUr(pieces=2), Stairs(9), Climber(9)], ids=str
)
def test_small_layers_together_have_the_answers_of_each(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers = find_layers(game)
    together = list(layers.last_first(together=True))
    assert len(together) < len(layers)
    assert [piece.begin for piece in together] == [*(p.end for p in together[1:]), 0]
    found = solve_by_layers(game)
    monkeypatch.setattr(by_layer, "SMALL", 0)
    each = solve_by_layers(game)
    bounds = found.error_bounds + each.error_bounds
    assert np.all(np.abs(found.values - each.values) <= bounds)
    assert bounds.max() < 1e-10
    assert np.array_equal(found.space.actions, each.space.actions)
    assert found.space.n_outcomes == each.space.n_outcomes


@pytest.mark.parametrize("game", [Pig(target=20), Yahtzee(boxes=2)], ids=lambda game: game.name)
def test_each_state_is_asked_for_its_progress_once(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search for a layer asks its states and their targets, and nobody asks them again."""
    asked: list[Any] = []
    of = layer_rules.Reached.of

    def noted(self: Any, rows: Any, **how: Any) -> Any:
        asked.extend(map(tuple, rows.tolist()))
        return of(self, rows, **how)

    monkeypatch.setattr(layer_rules.Reached, "of", noted)
    monkeypatch.setattr(layer_walk, "OUTCOMES_AT_ONCE", 10**9)  # a layer in one piece
    layers = find_layers(game)
    n_states = layers.ends[-1] if hasattr(layers, "ends") else len(layers.progress)
    assert len(asked) < 2 * n_states
    if not game.has_throws:  # the compiled search has asked all states but the start
        assert set(asked) == {tuple(Rules(game).start_row[0].tolist())}
