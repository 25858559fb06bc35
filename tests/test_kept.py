"""Answers that are kept: the same as those found anew, and only those of the same rules."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from cli_runner import loaded_by, output, run

import rollwise
from rollwise.answer import kept, kept_files, storage
from rollwise.builders import limits
from rollwise.games.pig import Pig, Piglet

pytestmark = pytest.mark.needs_jit  # only games whose rules are compiled are kept

RULES = """
from dataclasses import dataclass
from typing import NamedTuple
from rollwise import PASS, WIN, Game
from words import WORDS

class Places(NamedTuple):
    mine: int
    other: int

def longest(action):
    return 2 + action

@dataclass(frozen=True)
class Walk(Game):
    length: int = 6
    @property
    def endless(self):
        return "draw"
    def start(self):
        return Places(0, 0)
    def actions(self, s):
        yield 0
        yield 1
    def action_text(self, s, action):
        return WORDS[action]
    def outcomes(self, s, action):
        for step in range(1, 1 + longest(action)):
            if s.mine + step >= self.length:
                yield 1, WIN, s
            else:
                yield 1, PASS, Places(s.other, s.mine + step)
    def progress(self, s):
        return s.mine + s.other
"""


@pytest.fixture(autouse=True)
def everything_is_kept(tmp_path, monkeypatch):
    monkeypatch.delenv("ROLLWISE_NO_CACHE")
    rules = Path(os.environ["ROLLWISE_CACHE_DIR"], "rules")
    rules.mkdir(parents=True, exist_ok=True)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "rules").symlink_to(rules)  # compiled already
    monkeypatch.setenv("ROLLWISE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(kept_files, "WORTH_KEEPING", 0.0)
    monkeypatch.setattr(kept_files, "WORTH_COMPILING", 0.0)


@pytest.fixture
def walk(tmp_path):
    """A rule sheet that imports all of its rules from beside it."""
    folder = tmp_path / "sheets"
    folder.mkdir()
    (folder / "walk.py").write_text("from base import Walk\n")
    (folder / "base.py").write_text(RULES)
    (folder / "words.py").write_text('WORDS = ["short", "long"]\n')
    return folder / "walk.py"


@pytest.fixture
def game(walk):
    return walk.with_name("base.py")


def solved(path: Path, *more: str) -> tuple[float, bool]:
    """What a game is worth, and whether that was kept."""
    document = json.loads(output("solve", str(path), *more, "--json"))
    return document["value"], "kept_from" in document


@pytest.mark.parametrize(
    ("game", "method"),
    [(Piglet(5), "strategy-iteration"), (Piglet(5), "exact"), (Piglet(5), "value-iteration")],
    ids=str,
)
def test_it_comes_back_as_it_was(game, method):
    options = {"sound": True} if method == "value-iteration" else {}
    first = kept.solve(game, method=method, options=options)
    again = kept.solve(game, method=method, options=options)
    assert first.kept_from is None
    assert again.kept_from is not None
    assert set(again.seconds) == {"read"}
    assert again.graph.content_hash == first.graph.content_hash
    assert np.array_equal(again.values, first.values)
    assert np.array_equal(again.error_bounds, first.error_bounds)
    assert (again.status, again.sweeps) == (first.status, first.sweeps)
    assert all(map(np.array_equal, again.bounds, first.bounds))
    assert again.table().equals(first.table())
    assert again.run.fractions == first.run.fractions
    assert again.run.details == first.run.details
    assert rollwise.certify(again.graph, again.values).bound == first.error_bound
    fresh = rollwise.build(game).components
    for components in (first.graph.components, again.graph.components):
        assert np.array_equal(components.order, fresh.order)
        assert np.array_equal(components.indptr, fresh.indptr)
        assert np.array_equal(components.position, fresh.position)


def test_a_kept_answer_is_printed_without_a_compiler():
    kept.solve(Pig(target=30))
    needless = ["numba", "rollwise.layers", "rollwise.engine.search", "rollwise.proofs.layers"]
    assert loaded_by(["solve", "pig", "target=30"], needless) == []


def test_what_is_kept_of_a_file_is_no_other_s(tmp_path, monkeypatch):
    """A description may say anything, and a file may be replaced while it is read."""
    path, other = tmp_path / "piglet.parquet", tmp_path / "other.parquet"
    solution = rollwise.solve(Piglet(5))
    solution.save(path)
    rollwise.solve(Piglet(5), method="value-iteration").save(other)
    facts = storage.read_facts

    def odd(place):
        return {**facts(place), "values": [7.0], "bounds": [7.0], "facts": "none"}

    with monkeypatch.context() as patched:
        patched.setattr(storage, "read_facts", odd)
        kept.load(path, Piglet(5))
    assert np.array_equal(kept.load(path, Piglet(5)).values, solution.values)

    def replaced(place):
        shutil.copy(path, other)
        return facts(place)

    with monkeypatch.context() as patched:
        patched.setattr(storage, "read_facts", replaced)
        as_it_was = other.read_bytes()
        kept.load(other, Piglet(5))
    other.write_bytes(as_it_was)
    assert kept.load(other, Piglet(5)).method == "value-iteration"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("range(1, 1 + longest", "range(2, 1 + longest"),
        ("return 2 + action", "return 3 + action"),
        ("return Places(0, 0)", "return Places(1, 0)"),
        ("    length: int = 6", "    length: int = 7"),
    ],
)
def test_edited_rules_have_another_answer(game, old, new):
    before = solved(game)
    assert solved(game) == (before[0], True)
    game.write_text(RULES.replace(old, new))
    after = solved(game)
    assert after == solved(game, "--no-cache")
    assert after[1] is False
    game.write_text(RULES)
    assert solved(game) == (before[0], True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n@dataclass", "# A note.\n\n@dataclass"),
        ("    length: int = 6", "    setting = 3\n    length: int = 6"),
        ("return WORDS[action]", "return f'a {WORDS[action]} walk'"),
    ],
)
def test_edits_that_change_no_rule_keep_the_answer_and_tell_it_in_the_new_words(game, old, new):
    before = solved(game)
    game.write_text(RULES.replace(old, new))
    assert solved(game) == (before[0], True)
    advice = output("advise", str(game), "--state", "mine=0,other=0")
    assert ("a long walk" in advice) == ("a {" in new)


ROOTS = """
    def roots(self):
        for k in range(4):
            yield Places(k, 0)
"""


def test_a_game_with_many_roots_is_kept_if_they_are_compiled(game, monkeypatch):
    for module in (limits, kept_files):
        monkeypatch.setattr(module, "SMALL", 3)
    game.write_text(RULES + ROOTS)
    before = solved(game)
    assert solved(game) == (before[0], True)
    game.write_text(RULES + ROOTS.replace("Places(k, 0)", "Places(0, k)"))
    assert [solved(game)[1] for _ in range(2)] == [False, True]
    game.write_text(RULES + ROOTS.replace("range(4)", "eval('range(4)')"))
    assert [solved(game) for _ in range(2)] == [(before[0], False)] * 2


def edited(walk: Path, old: str, new: str) -> None:
    """Edit the module that a rule sheet imports, or the one that this imports."""
    for path in (walk.with_name("base.py"), walk.with_name("words.py")):
        path.write_text(path.read_text().replace(old, new))


def test_edits_in_imported_modules_have_another_answer(walk):
    before = solved(walk)
    assert solved(walk) == (before[0], True)
    edited(walk, "2 + action", "3 + action")  # as long as before, and within a second
    after = solved(walk)
    assert after == solved(walk, "--no-cache")
    assert after[0] != before[0]
    edited(walk, '"draw"', '"lose"')
    assert solved(walk)[1] is False
    assert solved(walk)[1] is True
    assert [solved(walk, "--by-layer")[1] for _ in range(2)] == [False, True]
    edited(walk, "s.mine + s.other", "2 * s.mine + 2 * s.other")
    assert solved(walk, "--by-layer")[1] is False


@pytest.mark.parametrize("kind", ["graph", "values"])
def test_what_is_damaged_is_found_anew(tmp_path, kind):
    asked = ("solve", "piglet", "target=4", "--json")
    output(*asked)
    (path,) = (tmp_path / "cache" / "answers").glob(f"*.{kind}.npz")
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for place in [*rng.integers(0, len(whole), 8).tolist(), None]:
        part = bytearray(whole)
        if place is None:
            part = part[: len(part) // 2]
        else:
            part[place] ^= 0xFF
        path.write_bytes(part)
        document = json.loads(output(*asked))
        assert document["status"] == "certified"
        assert np.array_equal(kept.solve(Piglet(4)).values, rollwise.solve(Piglet(4)).values)
        assert path.exists()


def test_a_folder_that_others_can_write_to_is_not_read(game, tmp_path):
    solved(game)
    folder = tmp_path / "cache" / "answers"
    folder.chmod(0o777)
    done = run("solve", str(game))
    assert "others may have written to" in done.stderr
    assert "kept from" not in done.stdout


def test_a_place_that_cannot_be_written_is_no_error(game, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ROLLWISE_CACHE_DIR", str(tmp_path / "file"))
    assert [solved(game)[1] for _ in range(2)] == [False, False]
