"""The behaviour record: answers for games and forms of every shape, written down once.

``python tests/record.py`` asks every question of `CASES` on the command line and writes
the answers to ``record.jsonl``, one line for each question. `test_record.py` asks again and
compares.
Times and other facts that change from run to run are left out, and long tables are thinned.
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cli_runner

HERE = Path(__file__).parent
RECORD = HERE / "record.jsonl"
ROWS = 24  # of a table that are kept, evenly spread

# Facts about the run or about the storage of the answer, and not about the game.
VOLATILE = {
    *("seconds", "sweeps", "residual", "components", "largest_component", "mixing_components"),
    *("mixing_states", "evaluations", "iterations", "searches", "check", "file", "path"),
    *("checked", "notes", "outcomes", "kept_from", "rounds"),
}

SOLO, ALONE, TWO, MANY = "points", "one player", "two", "many"
QUESTIONS = {
    SOLO: ("solve {game}", "table {game}", "distribution {game}", "length {game}",
        "simulate {game} --policy optimal --games 200 --seed 7"),
    ALONE: ("solve {game}", "table {game}", "length {game}",
        "simulate {game} --policy optimal --games 200 --seed 7"),
    TWO: ("solve {game}", "table {game}", "evaluate {game} --policy {policy}",
        "respond {game} --to {policy}", "length {game}",
        "simulate {game} --policy optimal --against {policy} --games 200 --seed 7"),
    MANY: ("solve {game}", "table {game}", "evaluate {game} --policy {policy}",
        "respond {game} --to {policy}", "simulate {game} --policy optimal --games 200 --seed 7"),
}  # fmt: skip
THUMB = "thumb {game} --seed 1 --evaluations 60"

# Kind, game as typed, policy, more questions.
CASES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (SOLO, "bear-off checkers=2", "most-off", (THUMB,)),
    (SOLO, "cant-stop", "until-three-runners", (THUMB,)),
    (TWO, "cant-stop players=2", "until-three-runners", ()),
    (
        TWO,
        "dice-blackjack sides=4 low=5 high=6",
        "one-die",
        ("advise {game} --state mine=0,theirs=1",),
    ),
    (
        SOLO,
        "threes dice=3",
        "take-one",
        (
            THUMB,
            "advise {game} --state to_roll=3,take_two=0,threes=0,ones=0,twos=0,fours=0,fives=0,"
            "sixes=0",
        ),
    ),
    (TWO, "threes dice=3 players=2", "take-one", ()),
    (MANY, "threes dice=2 players=3", "take-one", ()),
    (TWO, "chicago dice=2 throws_a_turn=2", "aces", ()),
    (ALONE, "craps", "random", ()),
    (TWO, "dice-blackjack", "all-dice", (THUMB,)),
    (MANY, "dice-blackjack high=7 low=6 players=3", "all-dice", ()),
    (TWO, "farkle target=200 least=100", "stop-at-300", ()),
    (SOLO, "farkle-turn most=800", "stop-at-300", ()),
    (TWO, "hare-and-tortoise steps=10", "always-steady", (THUMB,)),
    (TWO, "hog target=12 dice=3", "five-dice", ()),
    (TWO, "hypergammon checkers=1", "race", ()),
    (TWO, "knock-out", "take-the-rarest", ()),
    (MANY, "knock-out players=3", "take-the-rarest", ()),
    (TWO, "left-center-right chips=2", "random", ()),
    (MANY, "left-center-right chips=1 players=3", "random", ()),
    (TWO, "ludo pieces=1 track=6", "capture-or-run", ()),
    (TWO, "pass-the-pigs target=20", "hold-at-23", ()),
    (TWO, "pig target=20", "hold-at-20", (THUMB, "advise {game} --state banked=0,rival=0,turn=12")),
    (TWO, "pig target=15 must_bank=true", "hold-at-20", ()),
    (MANY, "pig target=8 players=3", "hold-at-20", (THUMB,)),
    (TWO, "piglet", "hold-at-2", (THUMB, "advise {game} --state banked=0,rival=0,turn=3")),
    (TWO, "royal-ur pieces=1", "capture-or-run", ()),
    (SOLO, "ship-captain-crew", "keep-four", (THUMB,)),
    (SOLO, "shut-the-box tiles=6", "highest", (THUMB,)),
    (SOLO, "snakes-and-ladders", "random", ()),
    (TWO, "super-six sticks=7", "throw-until-4", (THUMB,)),
    (TWO, "super-six sticks=7 may_stop=2", "throw-until-4", ()),
    (TWO, "super-six sticks=6 take_all=true", "throw-until-4", ()),
    (MANY, "super-six sticks=4 players=3", "throw-until-4", ()),
    (TWO, "two-dice-pig target=15", "hold-at-20", ()),
    (TWO, "two-sided-bear-off checkers=2", "most-off", ()),
    (SOLO, "yahtzee boxes=1", "most-alike", ()),
    (SOLO, "yatzy boxes=1", "most-alike", ()),
    (ALONE, "zombie-dice goal=3", "stop-at-two-shotguns", ()),
    # other shapes
    (TWO, "examples/dragon.py", "random", ()),
    (TWO, "examples/hit_the_mark.py", "random", ()),
    (MANY, "examples/king_maker.py", "random", ()),
    (MANY, "examples/standoff.py", "random", ()),
    (MANY, "examples/who_stops.py", "random", ()),
    (TWO, "tests/throwing.py:Runners", "random", ()),
    (TWO, "tests/throwing.py:ThrownRunners", "random", ()),
    (SOLO, "tests/throwing.py:TwoBoxes", "random", ()),
    (TWO, "tests/stakes.py:Gammons", "random", ()),
    (TWO, "tests/stakes.py:Collect", "random", ()),
    (TWO, "tests/stakes.py:Ends", "random", ()),
    (TWO, "tests/stakes.py:Layered", "random", ("solve {game} --by-layer",)),
    (TWO, "tests/stakes.py:Thrown", "random", ()),
    (SOLO, "tests/stalling_games.py:Road", "random", ()),
    (ALONE, "tests/stalling_games.py:Flips", "random", ()),
    (SOLO, "tests/stalling_games.py:Trap", "random", ()),
    (SOLO, "tests/stalling_games.py:NoWayOut", "random", ()),
    (ALONE, "tests/stalling_games.py:Luck", "random", ()),
    (ALONE, "tests/stalling_games.py:DrawnLuck", "random", ()),
    (TWO, "tests/stalling_games.py:PassablePig", "random", ()),
    (TWO, "tests/stalling_games.py:LosingPig", "random", ()),
    (TWO, "tests/stalling_games.py:ForbiddenPig", "random", ()),
    (TWO, "tests/stalling_games.py:LosingStandoff", "random", ()),
    (TWO, "tests/stalling_games.py:DrawnStages", "random", ()),
    (SOLO, "tests/little_games.py:Ladder", "random", ()),
    (SOLO, "tests/little_games.py:Shortest", "random", ()),
    (TWO, "tests/little_games.py:Biased", "random", ()),
    (TWO, "tests/little_games.py:Scattered", "random", ()),
    (TWO, "tests/little_games.py:Rooted", "random", ()),
    (ALONE, "tests/little_games.py:Gambler", "random", ()),
)

# Forms of games, and the textbook methods.
MORE = (
    "solve threes dice=3 as=chase target=5",
    "table threes dice=3 as=chase target=5",
    "solve threes dice=3 as=contest players=2",
    "solve threes dice=2 as=blind",
    "distribution threes dice=3 --policy take-one",
    "solve royal-ur pieces=1 --by-layer",
    "solve pig target=20 --by-layer",
    "solve super-six sticks=6 --by-layer",
    "solve yahtzee boxes=1 --by-layer",
    "length royal-ur pieces=1 --by-layer",
    "compare piglet target=4",
    "solve super-six sticks=6 --method value-iteration",
    "solve super-six sticks=6 --method policy-iteration",
    "solve super-six sticks=6 --method linear-programming",
    "solve super-six sticks=5 --method mixed-integer",
    "solve super-six sticks=5 --method exact",
    "solve threes dice=2 --method sampled --set samples=100 --set seed=3",
    "learn dice-blackjack --games 500 --seed 3",
    "balance piglet",
    "optimal super-six sticks=6",
)


def questions() -> Iterator[str]:
    """Every question of the record, as typed after ``rollwise``."""
    for kind, game, policy, more in CASES:
        for question in (*QUESTIONS[kind], *more):
            yield question.format(game=game, policy=policy)
        if ".py" in game and kind != MANY:  # test_verify.py has the games of the gallery
            yield f"verify {game}"
    yield from MORE


def answer(question: str) -> Any:
    """The document that a question gives without volatile facts, or the line of its refusal."""
    words = shlex.split(question)
    if words[0] == "verify":  # of a file that `solve` has just written
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "answer.parquet")
            solved = cli_runner.run("solve", *words[1:], "--save", file, cwd=HERE.parent)
            if solved.returncode:
                return {"refused": solved.returncode}
            return _asked(("verify", file, words[1]))
    return _asked(words)


def _asked(words: Any) -> Any:
    done = cli_runner.run(*words, "--json", cwd=HERE.parent)
    if done.returncode:
        return {"refused": done.returncode}
    return plain(json.loads(done.stdout))


def plain(document: Any) -> Any:
    """A document without volatile facts, and with long lists thinned."""
    if isinstance(document, dict):
        return {key: plain(part) for key, part in document.items() if key not in VOLATILE}
    if isinstance(document, list):
        if len(document) > ROWS and isinstance(document[0], dict):
            places = [round(i * (len(document) - 1) / (ROWS - 1)) for i in range(ROWS)]
            return [len(document), *(plain(document[place]) for place in places)]
        return [plain(part) for part in document]
    return document


def recorded() -> dict[str, Any]:
    """The answers as they were written down, by question."""
    lines = RECORD.read_text("utf-8").splitlines()
    return {line["question"]: line["answer"] for line in map(json.loads, lines)}


def main(chosen: list[str]) -> None:
    """Ask all questions, or those that begin with the words given, and write the answers."""
    kept = recorded() if chosen and RECORD.exists() else {}
    for question in questions():
        if not chosen or question.startswith(" ".join(chosen)):
            kept[question] = answer(question)
            print(question, json.dumps(kept[question])[:100], file=sys.stderr)
    lines = [json.dumps({"question": q, "answer": kept[q]}) for q in questions() if q in kept]
    RECORD.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
