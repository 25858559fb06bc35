"""Certificate files: right ones are proved, and damaged ones with a false claim are not."""

from __future__ import annotations

import hashlib
import random
import re
from pathlib import Path

import pytest
from cli_runner import run
from stakes import Gammons
from stalling_games import Road
from throwing import ThrownRunners, TwoBoxes

import rollwise
from rollwise.answer.certificates import save_certificate
from rollwise.errors import RefusedFile, UsageError
from rollwise.games import create, find_installed
from rollwise.proofs.certificate_files import same_game
from rollwise.proofs.check_certificate import check_certificate


def game_of(typed):
    name, *parameters = typed.split()
    return create(find_installed(name), dict(part.split("=") for part in parameters))


SMALL = [
    *map(game_of, ("piglet target=3", "threes dice=2", "super-six sticks=4", "craps")),
    *map(game_of, ("bear-off checkers=2", "pig players=3 target=3")),
    *(Gammons(), TwoBoxes()),
]
GAMES = [*SMALL, *map(game_of, ("yahtzee boxes=1", "royal-ur pieces=1")), ThrownRunners()]


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_a_certificate_is_proved_and_is_about_the_rule_sheet(game, tmp_path):
    solution = rollwise.solve(game)
    save_certificate(solution, tmp_path / "file")
    found = check_certificate(tmp_path / "file", same_game(game))
    low, high = found.lower[0][0] * found.unit, found.upper[0][0] * found.unit
    value = solution.equilibrium.values[0, 0] if game.players > 2 else solution.values[0]
    sign = -1 if game.objective == "minimize" else 1
    assert low <= sign * value <= high
    assert found.state[0] == tuple(solution.space.states[0].tolist())


@pytest.mark.parametrize("game", SMALL, ids=repr)
def test_no_damaged_certificate_is_accepted_with_a_false_claim(game, tmp_path):
    solution = rollwise.solve(game)
    path = tmp_path / "file"
    save_certificate(solution, path)
    right = check_certificate(path)
    *lines, _ = path.read_text().splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("rows"))
    random_numbers = random.Random(7)
    refused = 0
    for _ in range(25):
        damaged = list(lines)
        at = random_numbers.randrange(first + 1, len(lines))
        words = damaged[at].split()
        place = random_numbers.randrange(len(words))
        if not words[place].lstrip("-").isdigit():
            continue
        number = int(words[place])
        step = random_numbers.choice((1, -1, abs(number) // 2**30 + 1, -2 * number or 1))
        words[place] = str(number + step)
        damaged[at] = " ".join(words)
        try:
            found = check_certificate(sealed(path, damaged), same_game(game))
        except RefusedFile:
            refused += 1
            continue
        for lower, upper, low, high in zip(
            found.lower, found.upper, right.lower, right.upper, strict=True
        ):
            assert lower[0] <= high[0]
            assert low[0] <= upper[0]
    assert refused > 3


def sealed(path: Path, lines: list[str]) -> Path:
    """A file of these lines with the right checksum."""
    text = "".join(f"{line}\n" for line in lines)
    damaged = path.with_name("damaged")
    damaged.write_text(f"{text}sha256 {hashlib.sha256(text.encode()).hexdigest()}\n")
    return damaged


def test_a_certificate_of_other_rules_is_refused(tmp_path):
    path = tmp_path / "file"
    save_certificate(rollwise.solve(game_of("piglet target=3")), path)
    with pytest.raises(RefusedFile, match="the rule sheet has"):
        check_certificate(path, same_game(game_of("piglet target=4")))


def test_a_game_that_may_go_on_forever_has_no_certificate(tmp_path):
    game = Road()
    with pytest.raises(UsageError, match="play may go on forever from"):
        save_certificate(rollwise.solve(game), tmp_path / "file")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[: len(text) // 2], "ends too early"),
        (lambda text: text.replace(" 1\n", " 2\n", 1), "isn't a saved solution|is refused"),
        (lambda text: text.replace("positions ", "positions 10000000000"), "expected|too early"),
        (lambda text: text[:-3] + "0" * 2 + "\n", "the checksum is wrong"),
        (lambda text: text.replace("moves\n", "\n"), "the word moves is expected"),
    ],
    ids=["truncated", "version", "size", "sum", "word"],
)
def test_damaged_files_are_refused_in_one_line(change, message, tmp_path):
    path = tmp_path / "file.cert"
    run("solve", "piglet", "target=3", "--certificate", str(path))
    path.write_text(change(path.read_text()))
    result = run("verify", str(path))
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert re.search(message, result.stderr), result.stderr


def test_the_command_writes_and_verifies(tmp_path):
    path = tmp_path / "file.cert"
    told = run("solve", "pig", "target=6", "--certificate", str(path)).stdout
    assert f"`rollwise verify {path}` checks it" in told
    result = run("verify", str(path), "--exact")
    assert result.returncode == 0
    assert "proved in whole numbers; its game is the one of the rule sheet" in result.stdout
    assert "its game is the one of the rule sheet" in run("verify", str(path), "pig").stdout
    assert "its game" not in run("verify", str(path)).stdout
    other = run("verify", str(path), "pig", "target=7")
    assert other.returncode == 1
    assert "the rule sheet has" in other.stderr
    assert run("verify", str(path), "--max-states", "9").returncode == 2
