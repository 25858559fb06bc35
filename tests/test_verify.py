"""Saved solutions, verified without a solver: what holds is accepted, and nothing else."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli_runner import output, refusal, run
from small_games import small_game
from stalling_games import Road, Standoff, Trap

import rollwise
from rollwise import verify
from rollwise.answer.storage import row_checksums
from rollwise.errors import RefusedFile, SolutionFileError, UsageError
from rollwise.games import available
from rollwise.games.bear_off import BearOff
from rollwise.games.pig import Pig
from rollwise.machine import parquet_files
from rollwise.machine.atomic_files import checksum_of
from rollwise.machine.parquet_files import read_metadata, write_parquet


def saved(game, path: Path) -> Path:
    rollwise.solve(game).save(path)
    return path


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    return saved(Pig(8), tmp_path_factory.mktemp("kept") / "pig.parquet")


@pytest.fixture
def file(kept, tmp_path) -> Path:
    return Path(shutil.copy(kept, tmp_path / "pig.parquet"))


def rewrite(path: Path, *, row: int, column: str, to: float, checksums: str = "as saved") -> None:
    """Change one number, and leave the checksums as they were, or fit them, or leave them out."""
    frame, told = pl.read_parquet(path), pl.read_parquet_metadata(path)
    numbers = frame[column].to_numpy().copy()
    numbers[row] = to
    frame = frame.with_columns(pl.Series(column, numbers))
    facts = json.loads(told["rollwise"])
    if checksums != "as saved":
        columns = frame["value"].to_numpy().copy(), frame["error_bound"].to_numpy().copy()
        facts["checksum"] = checksum_of(*columns)
        frame = frame.with_columns(pl.Series("checksum", row_checksums(*columns)))
    if checksums == "none":
        frame = frame.drop("checksum")
    write_parquet(frame, path, {"rollwise": json.dumps(facts)})


def flipped(number: float, bit: int) -> float:
    (bits,) = struct.unpack("<Q", struct.pack("<d", number))
    return struct.unpack("<d", struct.pack("<Q", bits ^ 1 << bit))[0]


@pytest.mark.parametrize("name", sorted(available()))
def test_every_built_in_game(name, tmp_path):
    solution = rollwise.solve(small_game(name))
    solution.save(tmp_path / "it.parquet")
    for exact in (False, True):
        found = verify(tmp_path / "it.parquet", exact=exact)
        assert found.verified
        assert found.state is None
        assert 0 <= found.residual <= found.error_bound < 1e-9
        assert found.n_states == solution.graph.n_positions


@pytest.mark.parametrize("bit", [0, 1, 20, 51, 52, 62, 63])
@pytest.mark.parametrize("row", [0, 7, -1])
@pytest.mark.parametrize("column", ["value", "error_bound"])
def test_one_bit_of_one_number(file, bit, row, column):
    frame = pl.read_parquet(file)
    row %= len(frame)
    rewrite(file, row=row, column=column, to=flipped(frame[column][row], bit))
    found = verify(file)
    assert not found.verified
    assert found.state == frame.select("banked", "rival", "turn").row(row, named=True)
    text = ", ".join(f"{name}={field}" for name, field in found.state.items())
    assert f"the value of {text} is " in found.fault
    with pytest.raises(SolutionFileError):
        rollwise.load(file)


@pytest.mark.parametrize("checksums", ["fitted", "none"])
@pytest.mark.parametrize("exact", [False, True])
def test_a_wrong_value_needs_no_checksum_to_be_refused(file, checksums, exact):
    """Whoever changes a value and makes the checksums fit is refuted by the proof."""
    frame = pl.read_parquet(file)
    for row, change in [(5, 1e-6), (60, -1e-12), (len(frame) - 1, 1e-3)]:
        before = frame["value"][row]
        rewrite(file, row=row, column="value", to=before + change, checksums=checksums)
        found = verify(file, exact=exact)
        assert found.fault.endswith("which can't be proved")
        assert found.state == frame.select("banked", "rival", "turn").row(row, named=True)
        rewrite(file, row=row, column="value", to=before, checksums=checksums)
        assert verify(file, exact=exact).verified


def test_a_bound_that_is_too_small_is_refused(file):
    bound = pl.read_parquet(file)["error_bound"][3]
    rewrite(file, row=3, column="error_bound", to=bound / 1e6, checksums="fitted")
    assert verify(file).fault.endswith("which can't be proved")
    rewrite(file, row=3, column="error_bound", to=0.5, checksums="fitted")
    assert not verify(file).verified  # those before it lean on it


@pytest.mark.parametrize("bound", [np.inf, np.nan, -1.0])
def test_a_bound_that_says_nothing_is_refused(file, bound):
    rewrite(file, row=3, column="error_bound", to=bound, checksums="fitted")
    assert not verify(file).verified


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_a_value_that_is_no_number_is_refused(file, value):
    rewrite(file, row=3, column="value", to=value, checksums="fitted")
    for exact in (False, True):
        found = verify(file, exact=exact)
        assert not found.verified
        assert found.state is not None


def test_any_bit_of_the_file(file):
    """Wherever a bit falls over, the file is refused; mostly the state at fault is named.

    But for the words of the description: there nothing may be lost.
    """
    whole = pl.read_parquet(file)
    raw = file.read_bytes()
    footer = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
    random = np.random.default_rng(3)
    named = 0
    places = [*random.integers(4, footer, 12).tolist(), *random.integers(footer, len(raw), 30)]
    for place in places:
        damaged = bytearray(raw)
        damaged[place] ^= 1 << int(random.integers(8))
        file.write_bytes(damaged)
        try:
            found = verify(file)
        except RefusedFile:
            assert place >= footer
        else:
            if found.verified:
                assert place >= footer
                assert pl.read_parquet(file).equals(whole)
            named += found.state is not None
    assert named > 2
    file.write_bytes(raw)
    assert verify(file).verified


def test_a_damaged_file_is_read_apart(file, monkeypatch):
    """Polars aborts its process over some flips of a bit: one in some thousands."""
    raw = bytearray(file.read_bytes())
    raw[100] ^= 1
    file.write_bytes(raw)
    monkeypatch.setattr(parquet_files, "READ_APART", "import os; os.abort()")
    assert "can't be read" in verify(file).fault
    done = run("verify", str(file))
    assert done.returncode == 1
    assert "can't be read" in done.stderr


def test_rows_in_another_order_are_refused(file):
    frame, told = pl.read_parquet(file), pl.read_parquet_metadata(file)
    write_parquet(frame.reverse(), file, {"rollwise": told["rollwise"]})
    found = verify(file)
    assert "the row of banked=0, rival=0, turn=0 is that of " in found.fault
    write_parquet(frame.head(9), file, {"rollwise": told["rollwise"]})
    assert "it has 9 rows" in verify(file).fault
    write_parquet(frame.drop("value"), file, {"rollwise": told["rollwise"]})
    assert "its column value isn't one of numbers" in verify(file).fault


def test_neither_solver_nor_search_is_run(file, monkeypatch):
    from rollwise.engine.search import Search

    def never(*args, **kwargs):
        raise AssertionError("a solver was run")

    monkeypatch.setattr(Search, "__init__", never)
    assert verify(file).verified
    assert rollwise.load(file).status == "certified"


@pytest.mark.parametrize("method", ["value-iteration", "linear-programming"])
def test_other_methods_where_both_can_keep_passing(method, tmp_path):
    rollwise.solve(Standoff(), method=method).save(tmp_path / "it.parquet")
    assert verify(tmp_path / "it.parquet", game=Standoff()).verified


def test_points_and_rests_that_cost(tmp_path):
    """Play may never end there, so more is checked than that values prove their bounds."""
    path = saved(Road(), tmp_path / "road.parquet")
    for exact in (False, True):
        assert verify(path, Road(), exact=exact).verified
    rewrite(path, row=4, column="value", to=5.5, checksums="fitted")
    assert not verify(path, Road()).verified


def test_the_command(file, tmp_path):
    said = output("verify", str(file))
    assert said.startswith("pig target=8 sides=6 must_bank=false: verified, without a solver\n")
    assert "every value is within its bound of the true one" in said
    assert "in exact arithmetic" in output("verify", str(file), "--exact")
    assert "verified" in output("verify", "pig", str(file), "target=8")
    assert "verified" in output("verify", str(file), "pig")  # with the parameters of the file
    told = json.loads(output("verify", str(file), "--json"))
    assert told["verified"]
    assert told["error_bound"] < 1e-12
    assert "was saved for pig" in refusal("verify", str(file), "pig", "target=9")
    assert "was saved for pig" in refusal("verify", str(file), "piglet")
    assert "there is no file" in refusal("verify", str(tmp_path / "none.parquet"))
    rewrite(file, row=0, column="value", to=0.25)
    assert "is refused: the value of banked=0, rival=0, turn=0 is 0.25 ± " in refusal(
        "verify", str(file), code=1
    )
    done = run("verify", str(file), "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 1
    assert not told["verified"]
    assert told["state"] == {"banked": 0, "rival": 0, "turn": 0}
    file.write_bytes(b"PAR1 not really PAR1")
    assert "damaged" in refusal("verify", str(file), code=1)


@pytest.mark.parametrize("exact", [False, True])
def test_an_equilibrium_is_verified_and_smaller_claims_are_not(tmp_path, exact):
    place = tmp_path / "three.parquet"
    rollwise.solve(Pig(4, players=3)).save(place)
    found = verify(place, exact=exact)
    assert found.verified
    assert found.deviation_gain < 1e-12
    assert "by another policy" in output("verify", str(place), "pig", "players=3", "target=4")
    frame, names = pl.read_parquet(place), ("error_bound", "deviation_gain")
    facts = {"rollwise": parquet_files.read_metadata(place)["rollwise"]}
    for name in names:
        write_parquet(frame.with_columns(pl.col(name) * 0.5), place, facts)
        assert "aren't proved" in verify(place, exact=exact).fault
        with pytest.raises(SolutionFileError, match="aren't proved"):
            rollwise.load(place)
    shifted = frame.with_columns(pl.col("win_probability.1") + 1e-9)
    write_parquet(shifted, place, facts)
    assert not verify(place, exact=exact).verified
    for changed, said in (
        (frame.drop("probability"), "its columns can't be read"),
        (frame.with_columns(deviation_gain=pl.lit("none")), "its columns can't be read"),
        (frame.with_columns(pl.col("probability") * 0.75), "its probabilities don't add up to 1"),
    ):
        write_parquet(changed, place, facts)
        with pytest.raises(RefusedFile, match=said):
            verify(place)


def test_infinite_values_are_proved_in_doubles_alone(tmp_path):
    path = tmp_path / "trap.parquet"
    rollwise.solve(Trap()).save(path)
    assert verify(path, Trap()).verified
    with pytest.raises(UsageError, match=r"the value of place=1 is infinite.* leave out --exact"):
        verify(path, Trap(), exact=True)


def test_columns_of_a_throw_are_null_before_it(tmp_path):
    """A file of a derived game has no number in the place of one; older files have it."""
    game, path = rollwise.Chase(BearOff(checkers=2), target=3), tmp_path / "chase.parquet"
    solution = rollwise.solve(game)
    solution.save(path)
    frame = pl.read_parquet(path)
    before = frame.filter(pl.col("throw.0").is_null())
    assert len(before) == solution.graph.n_positions
    assert before["throw.1"].null_count() == len(before)
    assert frame["throw.0"].min() == 1
    assert rollwise.verify(path, exact=True).verified
    assert np.array_equal(rollwise.load(path).values, solution.values)
    older = frame.with_columns(pl.col("throw.0", "throw.1").fill_null(-(2**31)))
    write_parquet(older, path, read_metadata(path))
    assert rollwise.verify(path, exact=True).verified
    holes = frame.with_columns(pl.when(pl.col("gap") > 0).then(pl.col("gap")).alias("gap"))
    write_parquet(holes, path, read_metadata(path))
    assert "its column gap isn't one of numbers" in rollwise.verify(path).fault
