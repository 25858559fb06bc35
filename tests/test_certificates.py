"""Certificate files: two independent readers accept good ones and reject damaged ones."""

from __future__ import annotations

import re
import subprocess
import sys
import zlib
from fractions import Fraction
from pathlib import Path

import certificate_reader
import numpy as np
import pytest
from certificate_reader import Refused
from cli_runner import run

import rollwise
from rollwise.errors import RefusedFile, UsageError
from rollwise.games.craps import Craps
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.proofs import certificates
from rollwise.proofs.certificates import check_certificate, dyadic, write_certificate

LAKE = [[[0.5, 0.5, 0], [1, 0, 0]], [[0, 0.5, 0.5], [1, 0, 0]], [[0, 0, 1], [0, 0, 1]]]
GAMES = {
    "pig": Pig(target=8),
    "craps": Craps(),
    "threes": Threes(dice=2),
    "super-six": SuperSix(sticks=4),
    "royal-ur": RoyalUr(pieces=1),
    "model": rollwise.from_arrays([[0, -1], [2, 0], [0, 0]], LAKE, 0.9, by="state"),
}


def written(game, path):
    solution = rollwise.solve(game)
    write_certificate(solution.graph, solution.values, solution.error_bounds, path)
    return solution


@pytest.mark.parametrize("name", GAMES)
def test_both_readers_accept(tmp_path, name):
    solution = written(GAMES[name], tmp_path / "a.cert")
    claimed = check_certificate(tmp_path / "a.cert", solution.graph)
    facts = certificate_reader.check(tmp_path / "a.cert")
    assert claimed.facts == facts
    low, high = map(certificate_reader.number, facts["claim"].split())
    assert low <= solution.graph.view.sign * Fraction(solution.value) <= high
    assert high - low <= 2 * Fraction(solution.error_bound) < Fraction(1, 10**9)


def test_layers_are_read_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.setattr(certificates, "LAYER", 50)
    solution = written(Pig(target=12), tmp_path / "a.cert")
    assert int(certificate_reader.check(tmp_path / "a.cert")["layers"]) > 5
    check_certificate(tmp_path / "a.cert", solution.graph)


def sealed(text):
    """The text with the right checksums: what a liar writes."""
    parts = re.split(r"(?<=\n)check [0-9a-f]{8}\n", text)
    return (
        "".join(f"{part}check {zlib.crc32(part.encode()):08x}\n" for part in parts[:-1]) + parts[-1]
    )


def pushed(text, by):
    """A number of a file, moved by a real number."""
    return dyadic(float(certificate_reader.number(text) + Fraction(by)))


def with_word(line, place, word):
    words = line.split(" ")
    words[place] = word
    return " ".join(words)


def damage(lines, kind, random):
    """The lines with a damage of this kind in one place; None where there is no such place."""
    prefix = "s " if kind in ("value", "bound", "rank") else "a "
    order = random.permutation([i for i, line in enumerate(lines) if line.startswith(prefix)])
    for i in order.tolist():
        line, words = lines[i], lines[i].split(" ")
        if kind == "value":  # both ends are moved
            by = random.choice([-1, 1]) * 1e-6
            found = with_word(with_word(line, 2, pushed(words[2], by)), 3, pushed(words[3], by))
        elif kind == "bound":
            side = int(random.integers(2, 4))
            found = with_word(line, side, pushed(words[side], 1e-9 if side == 2 else -1e-9))
        elif kind == "rank":
            found = with_word(line, 1, "0")
            if words[1] == "0" or all("=" in a for a in actions_of(lines, i)):
                continue
        else:
            place = weight_or_target(words, kind, random)
            if place is None:
                continue
            found = with_word(line, *place)
        return [*lines[:i], found, *lines[i + 1 :]]
    return None


def actions_of(lines, i):
    found = []
    while lines[i + 1].startswith("a "):
        i += 1
        found.append(lines[i])
    return found


def weight_or_target(words, kind, random):
    targets = range(4, len(words), 2)
    if kind == "weight" and len({*words[4::2]}) > 1:
        place = int(random.choice(targets)) - 1
        return place, pushed(words[place], 3)
    places = [t for t in targets if (words[t][0] == "=") == (kind == "payoff")]
    if kind == "weight" or not places:
        return None
    place = int(random.choice(places))
    sign, rest = words[place][0], words[place][1:]
    return place, f"={pushed(rest, 0.5)}" if sign == "=" else f"{sign}{int(rest) ^ 1}"


KINDS = ("value", "bound", "rank", "weight", "target", "payoff")


@pytest.mark.parametrize("kind", KINDS)
def test_both_readers_reject_a_damaged_file(tmp_path, kind):
    """As a copy that went wrong: the checksum says so. As a lie: the proof, or the game."""
    path, other = tmp_path / "a.cert", tmp_path / "b.cert"
    solution = written(Pig(target=8), path)
    text = path.read_text()
    random = np.random.default_rng(KINDS.index(kind))
    honest = 0
    for _ in range(40):
        broken = damage(text.splitlines(), kind, random)
        if broken is None or "\n".join(broken) + "\n" == text:
            continue
        torn = "\n".join(broken) + "\n"
        other.write_text(torn)
        with pytest.raises(Refused, match="checksum"):
            certificate_reader.check(other)
        with pytest.raises(RefusedFile, match="checksum"):
            check_certificate(other)
        other.write_text(sealed(torn))
        honest += 1
        with pytest.raises(RefusedFile):
            check_certificate(other, solution.graph)
        try:  # another game may have true claims; both readers agree about it
            certificate_reader.check(other)
        except Refused:
            with pytest.raises(RefusedFile):
                check_certificate(other)
        else:
            check_certificate(other)
            assert kind in ("weight", "target"), "a false claim is accepted"
    assert honest > 10


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text[: len(text) // 2], "ends here|checksum"),
        (lambda text: text.replace("certificate 1", "certificate 2"), "is not 'rollwise"),
        (lambda text: sealed(re.sub(r"states \d+", "states 99999999999999", text)), "number up to"),
        (lambda text: sealed(text.replace("layer 0 ", "layer 0 9", 1)), "layer|number"),
        (
            lambda text: sealed(text.replace("\na 0 0 1", "\na 0 0", 1)),
            "weight|words|number|no target",
        ),
        (lambda text: sealed(re.sub(r"width .*", "width 0", text)), "less well than claimed"),
        (lambda text: sealed(text.replace("players 2", "players 1")), "no target"),
        (lambda text: sealed(text.replace("\na 0 0 1 ", "\na 0 0 -1 ", 1)), "weight"),
        (lambda text: sealed(text.replace("\na 0 0 1 -", "\na 0 0 1 -9999", 1)), "number up to"),
        (lambda text: sealed(re.sub(r"players .*", "players 3", text)), "players"),
    ],
)
def test_a_damaged_file_gives_one_line(tmp_path, change, says):
    path = tmp_path / "a.cert"
    written(Pig(target=5), path)
    path.write_text(change(path.read_text()))
    with pytest.raises(Refused):
        certificate_reader.check(path)
    done = run("verify", str(path))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert re.search(says, done.stderr), done.stderr


def test_commands(tmp_path):
    path = str(tmp_path / "pig.cert")
    assert f"Proof in {path}." in run("solve", "pig", "target=6", "--certificate", path).stdout
    assert "wasn't compared" in run("verify", path).stdout
    assert "its game is that of the rules" in run("verify", path, "pig").stdout
    other = run("verify", path, "pig", "target=7")
    assert (other.returncode, "has other actions" in other.stderr) == (1, True)
    assert '"kind": "exact"' in run("verify", path, "--json").stdout
    refused = run("solve", "pig", "target=6", "--by-layer", "--certificate", path)
    assert "--certificate doesn't go with --by-layer" in refused.stderr


def test_without_a_proof_there_is_no_certificate(tmp_path):
    solution = rollwise.solve(Pig(target=5))
    with pytest.raises(UsageError, match="not all bounds are proved"):
        write_certificate(
            solution.graph, solution.values + 1e-3, solution.error_bounds, tmp_path / "a.cert"
        )
    table = {0: {0: [(1.0, 0, 0.0, False)], 1: [(1.0, 0, 1.0, True)]}}
    endless = rollwise.solve(rollwise.from_gymnasium(table))
    with pytest.raises(UsageError, match="play may be endless"):
        write_certificate(endless.graph, endless.values, endless.error_bounds, tmp_path / "a.cert")


def test_the_reader_stands_alone(tmp_path):
    """It has at most 150 lines, and runs where there is no rollwise."""
    reader = Path(certificate_reader.__file__)
    assert len(reader.read_text().splitlines()) <= 150
    written(Pig(target=5), tmp_path / "a.cert")
    words = [sys.executable, "-I", "-S", str(reader), str(tmp_path / "a.cert")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert "the value of the start is in" in done.stdout, done.stderr
