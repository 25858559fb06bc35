"""Certificate files: right ones are proved, and damaged ones with a false claim are not."""

from __future__ import annotations

import hashlib
import random
import re
from pathlib import Path
from typing import ClassVar, NamedTuple

import pytest
from cli_runner import output, run
from stakes import Gammons
from stalling_games import LosingPig, Luck, PassablePig, Road, Standoff, Trap
from test_check_rules import game_of
from throwing import HighestCounted, HighestPair, SavedRolls, ThrownRunners, TwoBoxes

import rollwise
from rollwise import DRAW, PASS, WIN, Game
from rollwise.answer.verify import claims_about, save_certificate
from rollwise.cli.printing import certify
from rollwise.errors import RefusedFile, UsageError
from rollwise.proofs import certificate_files
from rollwise.proofs.certificate_files import same_game
from rollwise.proofs.check_certificate import check_certificate


class Turn(NamedTuple):
    """Turns before this one."""

    n: int


class AllShare(Game):
    """A coin wins for one of three players in turn; after the third one all share."""

    players: ClassVar = 3

    def start(self):
        return Turn(0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        yield 1, WIN, s
        yield 1, DRAW if s.n == 2 else PASS, Turn(s.n + 1)


SMALL = [
    *map(game_of, ("piglet target=3", "threes dice=2", "super-six sticks=4", "craps")),
    *map(game_of, ("bear-off checkers=2", "pig players=3 target=3")),
    *(Gammons(), TwoBoxes(), SavedRolls(), Road(), Luck(), AllShare()),
]
GAMES = [
    *(*SMALL, *map(game_of, ("yahtzee boxes=1", "royal-ur pieces=1"))),
    *(ThrownRunners(), HighestPair(), HighestCounted()),
]


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
    with pytest.raises(RefusedFile, match="of piglet target=3, and not of piglet target=4"):
        check_certificate(path, same_game(game_of("piglet target=4")))


def piglet_lines(tmp_path):
    save_certificate(rollwise.solve(game_of("piglet target=3")), tmp_path / "file")
    return (tmp_path / "file").read_text().splitlines()[:-1]


def test_a_payoff_that_differs_by_a_unit_is_another_game(tmp_path):
    """The unit is finer than the game's, so that the bounds still prove the changed payoff."""
    lines = piglet_lines(tmp_path)
    rows, claims, moves = (
        next(k for k, line in enumerate(lines) if line.startswith(word))
        for word in ("rows", "claims", "moves")
    )
    game = game_of("piglet target=3")
    for off in (0, 1):
        finer = lines[:]
        finer[4] += "0"
        finer[9] += "000"
        finer[rows + 2] = " ".join(
            str(int(x) * 10 + off * s)
            for x, s in zip(lines[rows + 2].split(), (1, -1), strict=True)
        )
        for k in range(claims + 1, moves):
            rank, *bounds = lines[k].partition(" = ")[0].split()
            wide = [int(x) * 10 + (-5 if j < 2 else 5) for j, x in enumerate(bounds)]
            finer[k] = f"{rank} {' '.join(map(str, wide))} = {lines[k].partition(' = ')[2]}"
        path = sealed(tmp_path, finer)
        check_certificate(path)
        if off:
            with pytest.raises(RefusedFile, match="the rule sheet has other moves here"):
                check_certificate(path, same_game(game))
        else:
            check_certificate(path, same_game(game))


@pytest.mark.parametrize(
    ("line", "new", "message"),
    [
        (1, "game pig target=3", "it is a certificate of pig target=3, and not of piglet"),
        (1, "game", "the word game is expected"),
        (1, "game piglet\x1b[2J target=3", "isn't text"),
        (2, "players +2", "a whole number"),
        (2, "players 1001", "too large"),
        (3, "zero-sum Yes", "zero-sum is yes or no"),
        (4, "unit 2/3", "the unit is 1/N"),
        (4, "unit -1/8", "the unit is 1/N"),
        (4, "unit 1/0", "the unit is 1/N"),
        (4, "unit 1e-400000000", "the unit is 1/N"),
        (5, "fields a b c", "other fields"),
        (5, "fields a b", "a number for each field"),
        (6, "positions 0", "are at least 1"),
        (7, "most 0", "are at least 1"),
        (8, "note 0", "the word height is expected"),
        (9, "range -1", "range is too large or less than 0"),
        (14, "0 -9 -9 9 9", "the numbers of the state are missing"),
        (14, "0 -9 9 9 = 0 0 0", "two bounds for each role"),
        (14, "0  -9 -9 9 9 = 0 0 0", "whole numbers are expected"),
        (14, "0 -9 -9 9 9_9 = 0 0 0", "whole numbers are expected"),
        (14, "0 -9 -9 9 " + "9" * 100_001 + " = 0 0 0", "whole numbers are expected"),
    ],
)
def test_first_lines_and_claims_are_read_strictly(line, new, message, tmp_path):
    lines = piglet_lines(tmp_path)
    assert lines[line].split()[0] == new.split()[0] or line in (8, 14)
    lines[line] = new
    try:
        fault = rollwise.verify(sealed(tmp_path, lines), game_of("piglet target=3")).fault
    except RefusedFile as error:
        fault = str(error)
    assert re.search(message, fault), fault
    assert "\n" not in fault


def test_numbers_may_have_more_digits_than_python_prints(tmp_path):
    lines = piglet_lines(tmp_path)
    zeros = "0" * 6000
    lines[4] += zeros
    lines[9] += zeros
    for k in (12, *range(14, lines.index("moves"))):
        claim, equals, state = lines[k].partition(" = ")
        first, *words = claim.split() if equals else ["", *claim.split()]
        words = [word if word == "0" else word + zeros for word in words]
        lines[k] = f"{first} {' '.join(words)}".strip() + equals + state
    found = rollwise.verify(sealed(tmp_path, lines), game_of("piglet target=3"))
    assert found.verified, found.fault
    lines[14] = f"0 0 0 0 0 = 0 {'9' * 6000} 0"
    assert len(rollwise.verify(sealed(tmp_path, lines)).fault) < 1000


def test_the_width_of_a_value_takes_the_bounds_of_both_players(tmp_path):
    """Wide upper bounds with close lower ones say little of the value."""
    lines = piglet_lines(tmp_path)
    one = int(lines[12].split()[0])
    for k in range(14, lines.index("moves")):
        claim, _, state = lines[k].partition(" = ")
        lines[k] = f"{' '.join(claim.split()[:3])} {2 * one} {2 * one} = {state}"
    lines[9] = f"range {2 * one}"
    assert rollwise.verify(sealed(tmp_path, lines)).error_bound >= 2


ENDLESS = [Road(), Luck(), Standoff(), PassablePig(target=4)]


@pytest.mark.parametrize("game", ENDLESS, ids=repr)
def test_endless_play_has_the_worth_of_the_rules(game, tmp_path):
    save_certificate(rollwise.solve(game), tmp_path / "file")
    found = check_certificate(tmp_path / "file", same_game(game))
    assert found.endless is not None
    *lines, _ = (tmp_path / "file").read_text().splitlines()
    better = lines[:]
    words = better[4].split()
    better[4] = f"endless {int(words[1]) + 1} {words[2]}"
    with pytest.raises(RefusedFile, match="another worth of endless|isn't shown that play ends"):
        check_certificate(sealed(tmp_path, better), same_game(game))
    start = lines.index("claims") + 1
    moves = lines.index("moves")
    for k in range(start, moves):  # a rank of 0 needs a bound above the worth, or an end
        ranks = lines[k].split()[:2]
        for role, rank in enumerate(ranks):
            zero = [0 if j == role else r for j, r in enumerate(ranks)]
            wrong = [
                *lines[:k],
                " ".join(map(str, [*zero, *lines[k].split()[2:]])),
                *lines[k + 1 :],
            ]
            if rank != "0" and " end " not in lines[moves + 1 + k - start]:
                with pytest.raises(RefusedFile, match="it isn't shown that play ends"):
                    check_certificate(sealed(tmp_path, wrong))


def test_a_game_without_a_finite_value_has_no_certificate(tmp_path):
    with pytest.raises(UsageError, match="has finite numbers"):
        save_certificate(rollwise.solve(Trap()), tmp_path / "file")


def test_a_lost_turn_without_an_end_has_no_certificate(tmp_path):
    """A certificate doesn't tell who keeps endless play up: it counts as a win, to be safe."""
    sheet = Path(__file__).with_name("stalling_games.py")
    told = run("solve", f"{sheet}:Dials", "--certificate", str(tmp_path / "file"))
    assert told.returncode == 1
    assert (
        "mine=0, theirs=0, dial=0 isn't shown to end if the mover leaves the table" in told.stderr
    )
    assert "counts endless play as 1 for the mover, whoever keeps it up, more than" in told.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[: len(text) // 2], "ends too early"),
        (lambda text: text.replace(" 1\n", " 2\n", 1), "isn't a certificate of version 1"),
        (lambda text: text.replace("positions ", "positions 10000000000"), "is too large"),
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
    assert "is a certificate of pig target=6" in other.stderr
    assert "not of pig target=7" in other.stderr
    assert run("verify", str(path), "--max-states", "9").returncode == 2


def test_long_work_is_told_and_a_stopped_check_proves_nothing(tmp_path):
    told, path = [], tmp_path / "file"

    def stop(*stage):
        raise KeyboardInterrupt

    solution = rollwise.solve(game_of("piglet target=3"))
    with pytest.raises(KeyboardInterrupt):
        save_certificate(solution, path, stop)
    assert not path.exists()
    save_certificate(solution, path, lambda *stage: told.append(stage[0]))
    assert rollwise.verify(path, progress=lambda *stage: told.append(stage[0])).verified
    assert len(set(told)) == 5
    with pytest.raises(KeyboardInterrupt) as stopped:
        rollwise.verify(path, progress=stop)
    assert stopped.value.__notes__[0].endswith("isn't proved")
    path.write_text("before")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rollwise.answer.verify.save_certificate", stop)
        with pytest.raises(KeyboardInterrupt) as stopped:
            certify(solution, path)
    assert stopped.value.__notes__[0].endswith("is left as it was")
    assert path.read_text() == "before"


def test_bounds_of_parts_are_noted_before_they_are_asked_for():
    """Else a bound of nothing would be written: parts in the wrong order end in an error."""
    game = HighestPair()
    solution = rollwise.solve(game)
    sheet = certificate_files._Sheet(game)
    found = [found for _, found in sheet.positions()]
    writer = certificate_files._Writer(sheet, claims_about(solution), 1, len(sheet.numbers))
    late = max(found, key=len)
    with pytest.raises(ValueError, match="are asked for before they are noted"):
        writer.note_part(writer.n_states, late[1])


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (Road(), "endless play counts -10 for the player, where more is better"),
        (Luck(), "endless play counts -1 for the player"),
        (Standoff(), "endless play counts 0"),
        (LosingPig(target=4), "endless play counts 1 for the mover, 1 for the opponent"),
    ],
    ids=repr,
)
def test_the_worth_of_endless_play_names_the_players_of_the_game(game, words, tmp_path):
    save_certificate(rollwise.solve(game), tmp_path / "file.cert")
    told = output("verify", str(tmp_path / "file.cert"))
    assert words in told
    assert ("opponent" in told) == isinstance(game, LosingPig)
