"""Answers that keep entries of layers: what lies between is solved again, to the same digits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runner import output, refusal, run
from test_layers import Climber
from test_tuple_layers import Banks, Together, bytes_of

from rollwise import Game, solve, solve_by_layers
from rollwise.answer import layer_folder
from rollwise.answer import solve_by_layers as by_layers
from rollwise.answer.layered_solution import LayeredSolution, open_layers
from rollwise.answer.solve_by_layers import in_all_states
from rollwise.answer.verify import verify_layers
from rollwise.builders.by_layer import find_layers
from rollwise.coach.tables import OpenTable
from rollwise.errors import OutputError, SolutionFileError, UnknownState, UsageError
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.super_six import SuperSix
from rollwise.games.yahtzee import Yahtzee

pytestmark = pytest.mark.needs_jit

GAMES = [Pig(12), Banks(12), SuperSix(9), RoyalUr(pieces=1), Yahtzee(boxes=2), Climber(9)]


def entered(game: Game) -> set[int]:
    """The start, and what the graphs of the layers lead to."""
    layers = find_layers(game)
    found = {layers.start}
    for layer in layers.last_first():
        found |= set(layer.border.tolist())
    return found


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_what_lies_between_is_solved_again_to_the_same_digits(game: Game) -> None:
    whole, few = solve_by_layers(game), solve_by_layers(game, keep="entries")
    assert find_layers(game, entered=True).entered.tolist() == sorted(entered(game))
    assert np.array_equal(few.states, whole.states[sorted(entered(game))])
    assert (few.value, few.error_bound) == (whole.value, few.error_bounds.max())
    assert few.n_states == len(whole.states) >= len(few.states)
    assert in_all_states(few).keep == "all"
    chosen = np.unique(np.linspace(0, len(whole.states) - 1, 40).astype(int))
    between_them = 0
    for number in chosen.tolist():
        state = whole.states[number].tolist()
        again, known = few.advise(state), whole.advise(state)
        bound = again.error_bound + whole.error_bounds[number]
        assert abs(again.value - whole.values[number]) <= bound < 1e-11
        assert [row.action for row in again.actions] == [row.action for row in known.actions]
        for one, other in zip(again.actions, known.actions, strict=True):
            assert one.value == pytest.approx(other.value, abs=1e-12)
            assert one.best == other.best
        between_them += few.places_of(whole.states[[number]])[0] < 0
    assert between_them or len(few.states) == len(whole.states)


def test_states_that_are_not_kept() -> None:
    few = solve_by_layers(Pig(12), keep="entries")
    assert "627 states in 22 layers, 111 of them kept" in repr(few)
    with pytest.raises(UnknownState, match="which alone were kept"):
        few.find((3, 5, 4))
    with pytest.raises(UnknownState, match="no play comes to the state banked=40"):
        few.advise((40, 5, 4))
    with pytest.raises(UnknownState, match="each once"):
        few.advise({"banked": 3})
    with pytest.raises(UsageError, match="all, entries or start, not 'some'"):
        solve_by_layers(Pig(12), keep="some")


def test_what_would_take_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_layers, "MOST_AGAIN", 100)
    with pytest.raises(UsageError, match=r"a layer has \d+ states .* keep=.all. keeps them"):
        solve_by_layers(Pig(12), keep="entries", save=tmp_path)
    assert not list(tmp_path.iterdir())


def require_whole(folder: Path, game: Game, known: LayeredSolution) -> None:
    assert {path.name for path in folder.iterdir()} == {
        "manifest.json",
        "entered_block_sums.npy",
        *(f"entered_{name}.npy" for name in ("states", "values", "error_bounds", "actions")),
    }
    read = open_layers(folder, game)
    for name in ("states", "layers", "progress", "values", "error_bounds", "actions"):
        assert np.array_equal(getattr(read, name), getattr(known, name))
    for name in ("n_actions", "n_outcomes", "most_bytes", "start", "n_states", "keep"):
        assert getattr(read, name) == getattr(known, name)
    assert json.loads((folder / "manifest.json").read_text())["keep"] == "entries"


@pytest.mark.parametrize("game", [Pig(12), Banks(8), Yahtzee(boxes=1)], ids=str)
def test_a_folder_of_entries(game: Game, tmp_path: Path) -> None:
    known = solve_by_layers(game, keep="entries")
    solve_by_layers(game, keep="entries", save=tmp_path / "one")
    require_whole(tmp_path / "one", game, known)
    solve_by_layers(game, keep="entries", save=tmp_path / "two", pool=Together())
    assert bytes_of(tmp_path / "two") == bytes_of(tmp_path / "one")
    found = verify_layers(tmp_path / "one", game)
    assert found.verified
    assert (found.n_states, found.n_layers) == (len(known.states), len(known.progress))
    again = solve_by_layers(game, keep="entries", save=tmp_path / "one", resume=True)
    assert again.value == known.value
    assert bytes_of(tmp_path / "two") == bytes_of(tmp_path / "one")


class Killed(BaseException):
    """What ends a run."""


def stopping(function: Any, when: int) -> Any:
    """A function that ends the run when it is called for that time."""
    calls = []

    def wrapped(*given: Any, **how: Any) -> Any:
        calls.append(given)
        if len(calls) > when:
            raise Killed
        return function(*given, **how)

    return wrapped


PLACES = [
    ("LayerFolder.keep", 9),
    *(("_write_array", when) for when in range(5)),
    ("_remove", 0),
]


@pytest.mark.parametrize(("name", "when"), PLACES)
def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(
    name: str, when: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, folder = Pig(12), tmp_path / "f"
    known = solve_by_layers(game, keep="entries", save=tmp_path / "whole")
    owner: Any = layer_folder
    *outer, name = name.split(".")
    for part in outer:
        owner = getattr(owner, part)
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, stopping(getattr(owner, name), when))
        with pytest.raises(Killed):
            solve_by_layers(game, keep="entries", save=folder)
    if (folder / "manifest.json").exists() and name != "_remove":
        with pytest.raises(UsageError, match='was begun with .*"entries"|--keep entries'):
            solve_by_layers(game, save=folder, resume=True)
    solve_by_layers(game, keep="entries", save=folder, resume=True)
    assert bytes_of(folder) == bytes_of(tmp_path / "whole")
    require_whole(folder, game, known)


def test_what_cannot_be_written_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, write = Pig(12), layer_folder._write_array

    def full(path: Path, array: Any) -> None:
        if path.name == "entered_values.npy":
            raise OutputError(f"{path} can't be written: the disk is full")
        write(path, array)

    with monkeypatch.context() as patched:
        patched.setattr(layer_folder, "_write_array", full)
        with pytest.raises(OutputError, match="full"):
            solve_by_layers(game, keep="entries", save=tmp_path)
    found = solve_by_layers(game, keep="entries", save=tmp_path, resume=True)
    require_whole(tmp_path, game, found)


def test_damaged_entries(tmp_path: Path) -> None:
    game = Pig(12)
    solve_by_layers(game, keep="entries", save=tmp_path)
    known = bytes_of(tmp_path)
    rows = np.load(tmp_path / "entered_values.npy", mmap_mode="r+")
    rows[20] += 1
    rows.flush()
    found = verify_layers(tmp_path, game)
    assert len(found.damaged) == 1
    assert "was changed" in found.fault
    # with a checksum that fits, the proof refuses it
    facts = json.loads((tmp_path / "manifest.json").read_text())
    del facts["manifest_checksum"]
    forged = layer_folder.open_folder(tmp_path)
    sums = np.load(tmp_path / "entered_block_sums.npy", mmap_mode="r+")
    for number, layer in enumerate(facts["layers"]):
        layer["checksum"] = forged._checksum(number)
        sums[slice(*forged._first_blocks[number : number + 2])] = forged.sums_of(number)
    sums.flush()
    text = (tmp_path / "manifest.json").read_text()
    (tmp_path / "manifest.json").write_text(json.dumps(facts))
    found = verify_layers(tmp_path, game)
    assert "can't be proved" in found.fault
    state = open_layers(tmp_path, game).states[20].tolist()
    assert found.state == dict(zip(("banked", "rival", "turn"), state, strict=True))
    (tmp_path / "manifest.json").write_text(text)
    solve_by_layers(game, keep="entries", save=tmp_path, resume=True)
    assert bytes_of(tmp_path) == known
    (tmp_path / "entered_states.npy").unlink()
    with pytest.raises(SolutionFileError, match="is damaged"):
        open_layers(tmp_path, game)


def test_on_the_command_line(tmp_path: Path) -> None:
    place, game = str(tmp_path / "f"), ("pig", "target=12")
    said = output("solve", *game, "--by-layer", "--save", place, "--keep", "entries")
    assert "kept: 111 states" in said
    document = json.loads(
        output(
            "solve", *game, "--by-layer", "--save", place, "--keep", "entries", "--resume", "--json"
        )
    )
    assert (document["keep"], document["states"], document["kept_states"]) == ("entries", 627, 111)
    asked = ("--state", "banked=3,rival=5,turn=4", "--json")
    again = json.loads(output("advise", *game, "--load", place, *asked))
    known = json.loads(output("advise", *game, *asked))
    assert again["win_probability"] == pytest.approx(known["win_probability"], abs=1e-14)
    rows = json.loads(output("table", *game, "--load", place, "--json"))["rows"]
    assert len(rows) == 627
    assert json.loads(output("verify", place, *game, "--json"))["verified"]
    assert "it goes with --by-layer --save" in refusal("solve", *game, "--keep", "entries")
    bad = run("solve", *game, "--by-layer", "--save", place, "--keep", "some")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert "--keep is all, entries or start, not some" in bad.stderr


def test_play_goes_on_from_turn_to_turn() -> None:
    few, whole = solve_by_layers(Pig(12), keep="entries"), solve(Pig(12))
    table = OpenTable.of(few)
    start = table.graph.find((0, 0, 0))
    rolled = table.graph.find((0, 0, 5))  # which isn't kept, and is of the same turn
    assert table.entered(rolled) == rolled
    assert table.solution.values[rolled] == pytest.approx(whole.values[whole.find((0, 0, 5))])
    passed = table.graph.find((0, 5, 0))
    assert table.graph.view[passed].actions[0].outcomes[0].is_over
    entered = table.entered(passed)
    assert entered >= table.graph.find((0, 0, 5)) > start
    assert table.graph.n_states > entered
    assert table.solution.values[entered] == pytest.approx(whole.values[whole.find((0, 5, 0))])


def test_packed_layers_keep_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rollwise.answer.by_layers.ORDERED", 0)
    game = RoyalUr(pieces=1)
    whole = solve_by_layers(game)
    few = solve_by_layers(game, keep="entries", save=tmp_path)
    for number in range(0, len(whole.states), 29):
        again = few.part(whole.states[number].tolist())
        off = again.error_bounds[0] + whole.error_bounds[number]
        assert abs(again.values[0] - whole.values[number]) <= off < 1e-11
    assert verify_layers(tmp_path, game).verified
