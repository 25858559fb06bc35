"""Answers that are kept: the same as those found anew, and only those of the same rules."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cli_runner import loaded_by, output, refusal, run

import rollwise
from rollwise.answer import kept, storage
from rollwise.errors import ForMorePlayers, SolutionFileError, TooManyStates
from rollwise.games import find
from rollwise.games.pig import Pig, Piglet

pytestmark = pytest.mark.needs_jit  # only games whose rules are compiled are kept

RULES = """
from dataclasses import dataclass
from typing import NamedTuple
import rollwise
from rollwise import LOSE, PASS, WIN, Game

GAINS = (1, 2)

class Total(NamedTuple):
    total: int

@rollwise.rule
def longer(n):
    return n + 0

@dataclass(frozen=True)
class Race(Game):
    mark: int = 7
    action_names = {1: "one", 2: "two"}
    def start(self):
        return Total(0)
    def actions(self, s):
        yield 1
        yield 2
    def outcomes(self, s, action):
        for gain in GAINS:
            if s.total + gain + action > longer(self.mark):
                yield 1, LOSE, s
            elif s.total + gain + action == longer(self.mark):
                yield 1, WIN, s
            else:
                yield 1, PASS, Total(s.total + gain + action)
"""


@pytest.fixture(autouse=True)
def everything_is_kept(tmp_path, monkeypatch):
    monkeypatch.delenv("ROLLWISE_NO_CACHE")
    rules = Path(os.environ["ROLLWISE_CACHE_DIR"], "rules")
    rules.mkdir(parents=True, exist_ok=True)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "rules").symlink_to(rules)  # compiled already
    monkeypatch.setenv("ROLLWISE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(kept, "WORTH_KEEPING", 0.0)
    monkeypatch.setattr(kept, "WORTH_COMPILING", 0.0)


@pytest.fixture
def game(tmp_path):
    path = tmp_path / "race.py"
    path.write_text(RULES)
    return path


def files(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "cache" / "answers").iterdir())


def solved(path: Path, *more: str) -> tuple[float, bool]:
    """What a game is worth, and whether that was kept."""
    document = json.loads(output("solve", f"{path}:Race", *more, "--json"))
    return document["value"], "kept_from" in document


@pytest.mark.parametrize(
    ("game", "method"),
    [
        (Piglet(5), "strategy-iteration"),
        (Piglet(5), "exact"),
        (Piglet(5), "value-iteration"),
    ],
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


def test_a_graph_that_was_built_first_is_kept_with_its_components():
    kept.build(Pig(12))
    kept.solve(Pig(12))
    again = kept.solve(Pig(12))
    assert again.kept_from is not None
    assert "components" in vars(again.graph)


def test_a_saved_solution_is_proved_once(tmp_path, monkeypatch):
    path = tmp_path / "piglet.parquet"
    rollwise.solve(Piglet(5)).save(path)
    proved = []
    find_unproved = storage.find_unproved

    def noted(*arguments):
        proved.append(arguments)
        return find_unproved(*arguments)

    monkeypatch.setattr(storage, "find_unproved", noted)
    loaded = [kept.load(path, Piglet(5)) for _ in range(3)]
    assert len(proved) == 1
    assert {solution.status for solution in loaded} == {"certified"}
    truth = rollwise.load(path)  # which proves it whatever was kept
    assert len(proved) == 2
    for solution in loaded:
        assert np.array_equal(solution.values, truth.values)
        assert np.array_equal(solution.error_bounds, truth.error_bounds)
    rollwise.solve(Piglet(5), method="value-iteration").save(path)  # another file of that name
    kept.load(path, Piglet(5))
    assert len(proved) == 3
    copied = shutil.copy(path, tmp_path / "copy.parquet")
    kept.load(copied, Piglet(5))
    assert len(proved) == 3
    with pytest.raises(SolutionFileError, match="not for piglet target=6"):
        kept.load(path, Piglet(6))
    told = json.loads(output("cache", "--json"))["kept"]
    assert [row["game"] for row in told if row["kept"] == "content"] == ["piglet"] * 2
    output("cache", "--clear")
    assert not files(tmp_path)


def test_a_file_that_claims_too_much_is_never_noted(tmp_path):
    path = tmp_path / "piglet.parquet"
    solution = rollwise.solve(Piglet(5))
    replace(solution, error_bounds=solution.error_bounds * 0.0).save(path)
    for _ in range(2):
        with pytest.raises(SolutionFileError, match="isn't so"):
            kept.load(path, Piglet(5))


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


def test_the_second_question_says_that_the_answer_was_kept(tmp_path):
    asked = ("solve", "pig", "target=12")
    first, again = output(*asked), output(*asked)
    assert re.search(
        r"strategy-iteration: kept from \d{4}-\d\d-\d\d \d\d:\d\d, read 0\.\d\d s", again
    )
    assert first.splitlines()[:-1] == again.splitlines()[:-1]
    assert "kept from" not in output(*asked, "--no-cache")
    assert "compile" in first
    for command in ("table", "advise"):
        more = ("--state", "banked=0,rival=0,turn=3") if command == "advise" else ()
        asked = (command, "pig", "target=12", *more)
        assert output(*asked) == output(*asked, "--no-cache")
    rival = ("evaluate", "pig", "target=12", "--policy", "hold-at-20")
    assert output(*rival) == output(*rival, "--no-cache")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("GAINS = (1, 2)", "GAINS = (2, 1, 1)"),
        ("return n + 0", "return n + 1"),
        ("return Total(0)", "return Total(1)"),
        ("    mark: int = 7", "    setting = 3\n    mark: int = 7"),
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


def test_what_endless_play_is_worth_is_kept(game):
    """In a game in which one may pass for ever."""
    stays = "        if action == 3:\n            yield 1, PASS, s\n            return\n"
    rules = RULES.replace("        yield 2\n", "        yield 2\n        yield 3\n")
    rules = rules.replace("        for gain", f"{stays}        for gain")
    game.write_text(rules.replace("    mark:", '    endless = "draw"\n    mark:'))
    value, again = solved(game), solved(game)
    assert (value[1], again) == (False, (value[0], True))
    graph = kept.build(find(f"{game}:Race")())
    assert graph.endless == "draw"
    assert graph.content_hash == rollwise.build(find(f"{game}:Race")()).content_hash
    game.write_text(rules)
    assert "for ever" in refusal("solve", f"{game}:Race")


def test_parameters_and_methods_have_answers_of_their_own(game):
    assert solved(game)[1] is False
    assert solved(game, "mark=9")[1] is False
    assert solved(game, "--method", "value-iteration")[1] is False
    assert solved(game, "--method", "value-iteration", "--epsilon", "0.5")[1] is False
    assert solved(game)[1] is True


def test_names_of_actions_are_not_kept_from_before(game):
    solved(game)
    game.write_text(RULES.replace('"two"', '"both"'))
    assert "both" in output("advise", f"{game}:Race", "--state", "total=0")


BASE = """
from dataclasses import dataclass
from typing import NamedTuple
from rollwise import PASS, WIN, Game, rule
from words import WORDS

class Places(NamedTuple):
    mine: int
    other: int

@rule
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


@pytest.fixture
def walk(tmp_path):
    """A rule sheet that imports all of its rules from beside it."""
    folder = tmp_path / "sheets"
    folder.mkdir()
    (folder / "walk.py").write_text("from base import Walk\n")
    (folder / "base.py").write_text(BASE)
    (folder / "words.py").write_text('WORDS = ["short", "long"]\n')
    return folder / "walk.py"


def edited(walk: Path, old: str, new: str) -> None:
    """Edit the module that a rule sheet imports, or the one that this imports."""
    for path in (walk.with_name("base.py"), walk.with_name("words.py")):
        path.write_text(path.read_text().replace(old, new))


def test_edits_in_imported_modules_have_another_answer(walk):
    def solved(*more: str) -> tuple[float, bool]:
        document = json.loads(output("solve", str(walk), *more, "--json"))
        return document["value"], "kept_from" in document

    before = solved()
    assert solved() == (before[0], True)
    edited(walk, "2 + action", "3 + action")  # as long as before, and within a second
    after = solved()
    assert after == solved("--no-cache")
    assert after[0] != before[0]
    edited(walk, '"draw"', '"lose"')
    assert solved()[1] is False
    assert solved()[1] is True
    assert [solved("--by-layer")[1] for _ in range(2)] == [False, True]
    edited(walk, "s.mine + s.other", "2 * s.mine + 2 * s.other")
    assert solved("--by-layer")[1] is False


def test_what_actions_are_called_is_never_kept(walk, tmp_path):
    state = "mine=0,other=0"
    assert "short" in output("advise", str(walk), "--state", state)
    folder = tmp_path / "layers"
    output("solve", str(walk), "--by-layer", "--save", str(folder))
    output("solve", str(walk), "--by-layer")
    edited(walk, '"short"', '"timid"')
    assert "kept from" in output("solve", str(walk))
    assert "kept from" in output("solve", str(walk), "--by-layer")
    for loaded in ((), ("--load", str(folder))):
        told = output("advise", str(walk), "--state", state, *loaded)
        assert "timid" in told
        assert "short" not in told
    game = find(str(walk))()
    assert kept.build(game).content_hash == rollwise.build(game).content_hash


def test_rules_whose_reach_is_unknown_are_not_kept(game, tmp_path):
    """What Python alone can run may read anything."""
    rules = RULES.replace("GAINS = (1, 2)", "GAINS = {1: 1, 2: 2}")
    game.write_text(rules)
    assert [solved(game)[1] for _ in range(2)] == [False, False]
    method = "    total: int\n\n    def after(self):\n        return self.total\n"
    rules = RULES.replace("    total: int\n", method).replace("s.total", "s.after()")
    game.write_text(rules)
    assert [solved(game)[1] for _ in range(2)] == [False, False]
    assert files(tmp_path) == []


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


def test_small_games_are_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "WORTH_KEEPING", 100.0)
    output("solve", "pig", "target=12")
    assert files(tmp_path) == []


def test_a_folder_that_others_can_write_to_is_not_read(game, tmp_path):
    solved(game)
    folder = tmp_path / "cache" / "answers"
    folder.chmod(0o777)
    done = run("solve", f"{game}:Race")
    assert "others may have written to" in done.stderr
    assert "kept from" not in done.stdout


def test_a_limit_of_states_holds(game):
    kept.solve(Pig(12))
    with pytest.raises(TooManyStates):
        kept.solve(Pig(12), max_states=10)
    assert "more than 10 states" in refusal("solve", "pig", "target=12", "--max-states", "10")


def test_a_place_that_cannot_be_written_is_no_error(game, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ROLLWISE_CACHE_DIR", str(tmp_path / "file"))
    assert [solved(game)[1] for _ in range(2)] == [False, False]


def test_what_was_used_longest_ago_goes(tmp_path, monkeypatch):
    for target in (6, 5):
        kept.solve(Pig(target))
    answers = tmp_path / "cache" / "answers"
    sizes = {path: path.stat().st_size for path in answers.iterdir()}
    for path in sizes:
        os.utime(path, (0, 0))
    kept.solve(Pig(5))  # which is used, then
    monkeypatch.setattr(kept, "MOST_BYTES", sum(sizes.values()))
    kept.solve(Pig(4))
    found = [kept.solve(Pig(target), method=kept.DEFAULT) for target in (5, 4, 6)]
    assert [answer.kept_from is not None for answer in found] == [True, True, False]


def test_the_command_shows_and_removes_what_is_kept(tmp_path):
    assert json.loads(output("cache", "--json"))["kept"] == []
    output("solve", "pig", "target=12")
    told = json.loads(output("cache", "--json"))
    assert [(row["game"], row["kept"]) for row in told["kept"]] == [
        ("pig", "graph"),
        ("pig", "values"),
    ]
    assert told["bytes"] == sum(row["bytes"] for row in told["kept"]) > 0
    assert re.search(r"pig +graph +[\d.]+ kB", output("cache"))
    assert output("cache", "--clear").startswith("Removed 2 files")
    assert files(tmp_path) == []


def test_policies_use_the_kept_answer(monkeypatch):
    """`--policy optimal` reads what `solve` kept, and `solve` what it kept."""
    told = output("evaluate", "pig", "target=12", "--policy", "optimal", "--json")

    def forbidden(*arguments, **options):
        raise AssertionError("solved again")

    monkeypatch.setattr(rollwise.Solution, "of_graph", forbidden)
    monkeypatch.setattr("rollwise.builders.build_with_report", forbidden)
    monkeypatch.setattr(kept, "build_for_all", forbidden)
    assert output("evaluate", "pig", "target=12", "--policy", "optimal", "--json") == told
    assert "kept_from" in json.loads(output("solve", "pig", "target=12", "--json"))


def test_derived_games_are_kept(monkeypatch):
    from rollwise.games.threes import Threes

    for game in (rollwise.Chase(Threes(dice=2), 4), rollwise.Duel(Threes(dice=2), "first")):
        found = kept.solve(game)
        assert found.kept_from is None
        again = kept.solve(game)
        assert again.kept_from is not None
        assert again.graph.content_hash == found.graph.content_hash
        assert again.graph.parameters == found.graph.parameters
        assert np.array_equal(again.values, found.values)
        assert np.array_equal(again.error_bounds, found.error_bounds)
    for other in (
        rollwise.Chase(Threes(dice=2), 5),
        rollwise.Chase(Threes(dice=2), 4, "lose"),
        rollwise.Chase(Threes(dice=1), 4),
        rollwise.Duel(Threes(dice=2), "shared"),
    ):
        assert kept.solve(other).kept_from is None


def test_derived_games_of_other_people_are_not_kept():
    from rollwise.games.threes import Threes

    class Mine(rollwise.Duel):
        pass

    game = Mine(Threes(dice=2))
    assert kept.solve(game).kept_from is None
    assert kept.solve(game).kept_from is None


def test_a_saved_solution_is_read_without_numba_and_shown_without_polars(tmp_path):
    large = ["pig", "target=30", "--load", str(tmp_path / "pig.parquet")]
    output("solve", *large[:2], "--save", large[-1])
    polars = ["polars"]
    questions = [
        (["table", *large, "--limit", "5"], []),
        (["table", *large, "--where", "turn > 8", "--limit", "5"], polars),
        (["table", *large, "--limit", "5", "--csv"], polars),
        (["advise", *large, "--state", "banked=0,rival=0,turn=20"], []),
    ]
    for question, needed in questions:
        first = output(*question)  # which proves it and keeps the graph
        assert loaded_by(question, ["numba", "scipy", *polars]) == needed
        assert output(*question) == first


def test_a_game_that_is_kept_is_played_without_numba(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output("solve", "pig", "target=30")
    needless = ["numba", "scipy", "polars", "pydantic"]
    assert loaded_by(["play", "pig", "target=30", "--seed", "1"], needless) == []
    assert (tmp_path / "pig.game").is_file()  # the board was shown, and nobody answered


def test_an_equilibrium_is_kept():
    game = Pig(4, players=3)
    found, again = (kept.solve(game, any_players=True) for _ in range(2))
    assert found.kept_from is None
    assert again.kept_from is not None
    assert np.array_equal(again.equilibrium.values, found.equilibrium.values)
    assert np.array_equal(again.equilibrium.deviation_gains, found.equilibrium.deviation_gains)
    assert kept.solve(game, options={"time_limit": 9}, any_players=True).kept_from is not None
    assert kept.policies(game, any_players=True).find("optimal").name == "optimal"
    assert kept.solve(Pig(5, players=3), any_players=True).kept_from is None
    with pytest.raises(ForMorePlayers):  # what is kept isn't taken for a game of two
        kept.policies(game)
