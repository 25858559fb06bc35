"""Every JSON document keeps its keys, their order and what kind of thing each holds.

`tests/json_documents.json` holds the outline of what each command below prints. Make it anew, after
a change that is meant, with `python tests/test_json_documents.py`; of some commands alone with
`python tests/test_json_documents.py tune diff`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cli_runner import refusal, run

from rollwise import Chase, solve, solve_by_layers
from rollwise.answer.evaluation import best_response, evaluate
from rollwise.cli.app import NO_JSON, all_functions
from rollwise.documents.answers import (
    advice_document,
    evaluation_document,
    response_document,
    table_json,
)
from rollwise.documents.model import (
    documents_of,
    encode,
    game_head,
    number_or_none,
    schema_of,
    union_of,
)
from rollwise.documents.solved import solved_document
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.threes import Threes

EXAMPLES = Path(__file__).parent.parent / "examples"
OUTLINES = Path(__file__).parent / "json_documents.json"
PLACE = "banked=5,rival=5,turn=3"
SEATS = "banked=0,rivals.0=0,rivals.1=0,turn=2"
DIE = "to_roll=1,take_two=0,threes=0,ones=0,twos=0,fours=0,fives=0,sixes=0"
SCORES = "4\n5\n3\n6\n0\n4\n4\n5\n"
JUDGED = "to_roll,take_two,threes,ones,twos,fours,fives,sixes,action\n0,0,0,0,0,0,2,0,take 2\n"
GAMES = "A: roll 4, hold\nB: roll 6, roll 6\n\nB: roll 2, roll 1\nA: roll 6, roll 6\n"
THREE = "A: roll 2, hold\nB: roll 1\nC: roll 4, roll 1\nA: roll 3, hold\nB: roll 6\n"
COMMANDS = [
    f"advise pig target=10 --state {PLACE}",
    f"advise pig target=10 --state {PLACE} --method exact",
    "advise pig players=3 target=3 --state banked=0,rivals=(0,0),turn=2",
    f"advise threes dice=1 --state {DIE}",
    "advise kuhn-poker --state mine=2",
    "advise pig target=4 as=cube limit=1 --state banked=2,rival=2,turn=0,cube=1,owner=0,step=1",
    "balance piglet target=4 --evaluations 10",
    "balance threes dice=2 --evaluations 0",
    "bet threes dice=2",
    "bet threes dice=2 players=3",
    "bet threes dice=2 --scores 3",
    "cache",
    "certify pig target=5 --policy hold-at-20 --claim 0.1",
    "certify pig players=3 target=3 --policy random,optimal,random",
    "certify pig players=3 target=3 --values seats.csv",
    "balance pig players=3 target=3 --evaluations 5",
    "methods",
    "check craps",
    "compare pig target=5 --methods strategy-iteration,exact",
    "compare pig players=3 target=3 --methods value-iteration",
    "diff pig target=8 sides=4 sides=6 --limit 2",
    "diff pig players=3 target=4 sides=4 sides=5 --limit 2",
    "distribution threes dice=2 --policy optimal --policy take-one --simulate 30",
    "distribution threes dice=2 --exact --count roll",
    "distribution threes dice=2 --policy chase-3",
    "distribution threes dice=2 --given score<=3",
    "distribution pig players=3 target=4",
    "distribution threes dice=2 --reach 1..3",
    "distribution threes dice=2 --then variance --range",
    "evaluate pig target=10 --policy hold-at-20",
    "evaluate pig target=10 --policy hold-at-20 --against optimal",
    "evaluate pig target=10 --policy optimal --method iterative",
    "evaluate pig target=10 --policy optimal --method iterative --set max_sweeps=2",
    "evaluate pig target=5 --policy hold-at-20 --table",
    "evaluate pig players=3 target=3 --policy random,optimal,hold-at-20",
    "evaluate pig players=3 target=3 --policy random,optimal,hold-at-20 --table",
    f"evaluate pig players=3 target=3 --policy optimal --state {SEATS}",
    "evaluate pig players=3 target=3 --policy optimal --against random",
    "evaluate threes dice=2 --policy take-one",
    "evaluate kuhn-poker --policy random --against optimal",
    "evaluate threes dice=2 --policy optimal as=chase target=4",
    "exploit pig pig.game target=10 --player A --risk 0.5",
    "exploit pig three.game players=3 target=6 --player A --risk 0.5",
    "export pig target=5 --to parquet --out e.parquet",
    "frontier gamblers-problem capital=2 goal=6 --aim most:moves",
    "frontier threes dice=2",
    "games",
    "handicap pig target=10 --points banked=0..4",
    "handicap pig players=3 target=4 --points banked=0..2",
    "length pig target=6",
    "length pig target=6 --within 3 --best",
    "length threes dice=2 --within 2",
    "length royal-ur pieces=1 --by-layer",
    "length royal-ur pieces=1 --by-layer --time-limit 1e-9",
    "length threes dice=2",
    "judge threes one.csv dice=2",
    "learn pig target=6 --games 50 --seed 3",
    "learn pig target=6 --games 50 --seed 3 --against hold-at-20",
    "learn super-six sticks=5 --games 2000 --seed 3 --compare 2",
    "many-dice threes --most 20",
    "page piglet target=3 --out p.html",
    "plot piglet policy target=3 --out p.html",
    "report piglet target=3 --out p.html",
    "optimal pig target=6 --against hold-at-20",
    "optimal threes dice=2 --then variance --range win --range score<=3",
    "optimal pig players=3 target=3 --then moves --range roll",
    "respond pig target=10 --to hold-at-20",
    "respond kuhn-poker --to random",
    "respond pig players=3 target=3 --to random",
    f"respond pig players=3 target=3 --to random --state {SEATS}",
    "review pig pig.game target=10",
    "drill pig pig.game target=10",
    "scores threes scores.txt --policy take-one dice=2",
    "scores threes more.txt dice=4",
    "simulate pig target=10 --policy optimal --against random --games 500 --seed 5",
    "simulate kuhn-poker --policy random --games 50 --seed 5",
    "simulate pig target=10 --policy hold-at-20 --tell --seed 5",
    "simulate pig players=3 target=3 --policy random --games 300 --seed 5",
    "simulate pig players=3 target=3 --policy random,optimal,random --tell --seed 5",
    "simulate threes dice=2 --policy optimal --games 300 --seed 5 --no-exact",
    "simulate royal-ur pieces=1 --policy random --against optimal --games 9 --seed 5 --load ur",
    "solve pig target=10",
    "solve pig players=3 target=3",
    "solve pig players=3 target=4 --set time_limit=1e-9",
    "solve standoff.py:Standoff --set starts=6",
    "tournament pig players=3 target=3 --policies random,optimal",
    "tournament pig players=3 target=3 --policies random,optimal --no-exact --games 30 --seed 1",
    "thumb pig players=3 target=3 --evaluations 5",
    "learn pig players=3 target=3 --games 100 --seed 1",
    "solve pig target=5 --method exact",
    "solve pig target=5 --method value-iteration --set sound=yes",
    "solve super-six sticks=6 --method value-iteration --set max_sweeps=3",
    "solve super-six sticks=8 --by-layer",
    "solve threes dice=2",
    "solve threes dice=2 --method sampled --set samples=100 --set seed=1",
    "solve dice-blackjack low=6 high=7 --method sampled --set samples=100 --set seed=1",
    "solve threes dice=2 as=contest players=3",
    "solve threes dice=2 as=blind",
    "solve pig target=4 as=cube limit=3",
    "solve pig target=4 as=cube match=2",
    "table pig target=5",
    "table dice-blackjack low=4 high=5 --grid",
    "table super-six sticks=2 --each-action",
    "table pig players=3 target=3",
    "table who_stops.py:WhoStops",
    "table pig players=3 target=3 --grid --where (rivals.0==0)and(turn==0)",
    "table threes dice=1",
    "table threes dice=1 --method sampled --set samples=100 --set seed=1",
    "solve kuhn-poker",
    "solve rock-paper-scissors-dice",
    "table kuhn-poker",
    "tune piglet --vary target=2..3 --for win_probability=0.5",
    "tune pig players=3 --vary target=2..3 --for luck",
    "thumb dice-blackjack low=8 high=10 --numbers 1 --evaluations 20",
    "thumb threes dice=2 --numbers 1 --evaluations 20",
    "tournament pig target=10 --policies optimal,hold-at-20,random",
    "tournament threes dice=2 --policies optimal,take-one",
    "verify pig.parquet",
    "verify wrong.parquet pig target=5",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with the files that the commands read."""
    place = tmp_path_factory.mktemp("documents")
    lay_files(place)
    return place


def lay_files(folder: Path) -> None:
    (folder / "scores.txt").write_text(SCORES)
    (folder / "standoff.py").write_text((EXAMPLES / "standoff.py").read_text())
    (folder / "who_stops.py").write_text((EXAMPLES / "who_stops.py").read_text())
    rows = solve(Pig(target=3, players=3)).table()
    rows.write_csv(folder / "seats.csv")
    (folder / "more.txt").write_text(SCORES * 6)
    (folder / "one.csv").write_text(JUDGED)
    (folder / "pig.game").write_text(GAMES)
    (folder / "three.game").write_text(THREE)
    solve_by_layers(RoyalUr(pieces=1), save=folder / "ur")
    solution = solve(Pig(target=5))
    solution.save(folder / "pig.parquet")
    off = solution.values + 0.25
    replace(solution, values=off).save(folder / "wrong.parquet")


def printed(command: str, folder: Path) -> Any:
    return json.loads(run(*command.split(), "--json", cwd=folder).stdout)


def outline(part: Any) -> Any:
    """The keys of a document in their order, and what kind of thing each holds."""
    if isinstance(part, dict):
        numbered = [key for key in part if key.isdecimal()]
        if numbered and len(numbered) == len(part):
            return {"<number>": outline(part[numbered[0]])}
        return {key: outline(value) for key, value in part.items()}
    if isinstance(part, list):
        return [outline(value) for value in part[:1]]
    if isinstance(part, bool):
        return "yes or no"
    if isinstance(part, int | float):
        return "number"
    return "nothing" if part is None else "text"


def test_numbers_with_a_bound_name_their_kind():
    for command, keys in json.loads(OUTLINES.read_text()).items():
        text = json.dumps(keys)
        assert '"error_bound"' not in text or '"kind"' in text, command


def check_schema(command: str, document: dict[str, Any]) -> None:
    """The document has the types of its schema, all keys, and no other key."""
    msgspec.convert(document, union_of(documents_of(command.split()[0])))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.needs_jit  # layers and methods that are certified need compiled code
def test_documents_keep_their_outline(command, folder):
    known = json.loads(OUTLINES.read_text())
    document = printed(command, folder)
    assert encode(outline(document)) == encode(known[command])
    check_schema(command, document)


FIRST = {command.split()[0]: command for command in reversed(COMMANDS)}  # one a command
ALSO_IN_A_PROCESS = [  # libraries of compiled code, which print by themselves
    "play pig target=5 --seats optimal,random --seed 1",
    f"advise pig target=10 --state {PLACE} --method linear-programming",
    "compare piglet target=3",
    "solve piglet target=3 --method linear-programming",
    "solve piglet target=3 --method mixed-integer --set solver=highs",
    "solve piglet target=3 --method mixed-integer --set solver=scip",
    "table piglet target=3 --method linear-programming",
]


# Starts a process for each command that it reads, as a copy of one that has imported rollwise.
STARTER = """
import os, sys
from rollwise.cli import main
for line in sys.stdin:
    process = os.fork()
    if not process:
        for stream, name in enumerate((os.devnull, "out", "err")):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), stream)
        sys.argv = ["rollwise", *line.split()]
        sys.exit(main())
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def starter(folder):
    command = [sys.executable, "-c", STARTER]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, text=True) as started:
        yield started
        started.stdin.close()


@pytest.mark.parametrize("command", [*FIRST.values(), *ALSO_IN_A_PROCESS])
@pytest.mark.needs_jit
@pytest.mark.slow
def test_a_process_prints_one_document(command, folder, starter):
    """All that leaves the process on standard output, whoever writes it there."""
    print(command, "--json", file=starter.stdin, flush=True)
    code = int(starter.stdout.readline())
    said = (folder / "err").read_text()
    assert code == (1 if command.startswith("verify wrong") else 0), said
    check_schema(command, json.loads((folder / "out").read_text()))


def test_a_schema_has_units_meanings_and_a_version():
    schema = json.loads(run("schema", "methods").stdout)
    assert schema == json.loads(encode(schema_of(documents_of("methods"))))
    parts = schema["$defs"]
    assert schema["$ref"] == "#/$defs/Methods"
    assert parts["Methods"]["properties"]["schema"] == {"enum": ["rollwise/methods/1"]}
    assert parts["ListedMethod"]["required"] == ["method", "about", "kind", "options"]
    assert "docs/json.md" in refusal("schema", "help")


def test_every_command_that_prints_json_is_here():
    """But for `play`, which prints the ledger of the game that was played."""
    with_json = all_functions().keys() - {*NO_JSON}
    assert {command.split()[0] for command in COMMANDS} == with_json - {"play"}
    assert set(json.loads(OUTLINES.read_text())) == set(COMMANDS)


def without_seconds(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "seconds"}


def test_python_has_the_documents_that_commands_print(folder):
    solution = solve(Pig(target=10))
    graph = solution.graph
    place = solution.find({"banked": 5, "rival": 5, "turn": 3})
    found = evaluate(solution, "hold-at-20", starts=[0])
    response = best_response(solution, "hold-at-20", starts=[0])
    pairs = {
        "solve pig target=10": solved_document(solution, []),
        f"advise pig target=10 --state {PLACE}": advice_document(
            solution, solution.advise(graph.states[place].tolist())
        ),
        "evaluate pig target=10 --policy hold-at-20": evaluation_document(graph, found, 0, None),
        "respond pig target=10 --to hold-at-20": response_document(graph, response, 0),
    }
    for command, document in pairs.items():
        told = printed(command, folder)
        assert without_seconds(told) == without_seconds(json.loads(encode(document))), command
    rows = solution.table()
    assert json.loads(table_json(solution, rows)) == printed("table pig target=10", folder)


def test_numbers_that_json_does_not_know_become_null():
    assert number_or_none(float("inf")) is None
    assert number_or_none(2.5) == 2.5
    assert encode({"a": [float("nan"), 1.0], "b": {"c": (float("-inf"),)}}) == (
        '{"a": [null, 1.0], "b": {"c": [null]}}'
    )
    chase = solve(Chase(Threes(dice=1), 3))
    assert game_head(chase.graph)["parameters"]["as"] == "chase"


@pytest.mark.parametrize(
    "line",
    [
        "table piglet target=3",
        "table kuhn-poker",
        "table pig players=3 target=3",
        "evaluate piglet target=3 --policy random --table",
    ],
)
def test_a_file_of_rows_has_the_form_of_its_name_and_the_document_is_printed(line, tmp_path):
    printed = run(*line.split(), "--json").stdout
    for name, begin in [("rows.csv", b""), ("rows.json", b'{"schema"'), ("rows.parquet", b"PAR1")]:
        done = run(*line.split(), "--json", "--out", name, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("\n") == 1
        assert json.loads(done.stdout)["schema"] == json.loads(printed)["schema"]
        assert (tmp_path / name).read_bytes().startswith(begin)
    assert (tmp_path / "rows.csv").read_text().splitlines()[0].count(",") > 2
    assert "must end in .csv" in refusal(*line.split(), "--csv", "--out", "x.json", cwd=tmp_path)


if __name__ == "__main__":
    import os
    import tempfile

    os.environ["ROLLWISE_NO_CACHE"] = "1"  # as in the tests: `cache` then names no folder
    with tempfile.TemporaryDirectory() as name:
        lay_files(Path(name))
        found = json.loads(OUTLINES.read_text()) if sys.argv[1:] else {}
        chosen = [c for c in COMMANDS if not sys.argv[1:] or c.split()[0] in sys.argv[1:]]
        found |= {command: outline(printed(command, Path(name))) for command in chosen}
    found = {command: found[command] for command in COMMANDS if command in found}
    OUTLINES.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
