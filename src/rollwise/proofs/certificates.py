"""Certificate files: an answer with its game and its proof, for any program to check.

``docs/certificate.md`` describes the format; nothing else is needed to check a file. The check here
uses fractions and reads a layer at a time. It trusts no other code of this package. The bounds of a
state are those of `rollwise.proofs.layers.claims`: doubles, rounded inward.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import RefusedFile, UsageError
from rollwise.graph import StateGraph, sign_of
from rollwise.machine.atomic_files import write_atomically
from rollwise.proofs.check import check, ranks_of
from rollwise.proofs.layers import intervals

FIRST = "rollwise-certificate 1"
HEAD = (
    *("game", "parameters", "players", "objective", "fields", "actions"),
    *("states", "layers", "start", "claim", "width"),
)
LAYER = 10_000  # states, unless a component has more
NUMBER = re.compile(r"-?\d+(p-\d{1,4})?")
MOST_HEAD = 1 << 16  # characters of a line of the head
Floats = NDArray[np.float64]


def dyadic(number: float) -> str:
    """A double as a whole number, and a power of 2 where there is one: 0.75 is ``3p-2``."""
    over, under = float(number).as_integer_ratio()
    return f"{over}p-{under.bit_length() - 1}" if under > 1 else str(over)


class _Writer:
    """The lines of a file; `check` writes the checksum of the lines since the last one."""

    def __init__(self, out: TextIO) -> None:
        self.out, self.sum = out, 0

    def line(self, *words: object) -> None:
        text = " ".join(map(str, words)) + "\n"
        self.sum = zlib.crc32(text.encode(), self.sum)
        self.out.write(text)

    def check(self) -> None:
        self.out.write(f"check {self.sum:08x}\n")
        self.sum = 0


def write_certificate(graph: StateGraph, values: Floats, bounds: Floats, path: Path) -> None:
    """Write a certificate of proved values.

    Parameters
    ----------
    values, bounds : (n_states,) float64

    Raises
    ------
    UsageError
        Play may be endless, or some bound is not proved.
    OutputError
    """
    n, order = graph.n_states, graph.components.order
    ranks, sign = ranks_of(graph, order), float(sign_of(graph.objective))
    if ranks.max() >= n:
        raise UsageError(f"{graph.title}: play may be endless, and a certificate proves its end")
    if not check(graph, values, bounds).holds:
        raise UsageError(f"{graph.title}: not all bounds are proved, and a certificate needs them")
    ends = np.empty((n, 2))
    intervals(sign * values, bounds, False, ends)
    number = np.empty(n, np.int64)
    number[order] = np.arange(n)
    begins = _layers(graph.components.indptr)

    def write(place: Path) -> None:
        with place.open("w", encoding="utf-8", newline="\n") as out:
            writer = _Writer(out)
            _head(writer, graph, ends, int(number[0]), len(begins) - 1)
            for k, (begin, end) in enumerate(pairwise(begins)):
                writer.line("layer", k, end - begin)
                for s in order[begin:end].tolist():
                    low, high = (dyadic(x) for x in ends[s].tolist())
                    writer.line("s", int(ranks[s]), low, high, *graph.row(s))
                    for line in action_lines(graph, s, number):
                        writer.line(line)
                writer.check()
            writer.line("end")

    write_atomically(path, write)


def _layers(components: NDArray[Any]) -> list[int]:
    """The first state of each layer: whole components, and about `LAYER` states."""
    found = [0]
    for end in components[1:].tolist():
        if end - found[-1] >= LAYER or end == components[-1]:
            found.append(end)
    return found


def _head(writer: _Writer, graph: StateGraph, ends: Floats, start: int, n_layers: int) -> None:
    width = max(Fraction(high) - Fraction(low) for low, high in ends.tolist())
    out = np.nextafter(float(width), np.inf)
    facts: dict[str, Any] = {
        "game": graph.game,
        "parameters": json.dumps(dict(graph.parameters)),
        "players": graph.players,
        "objective": graph.objective,
        "fields": " ".join(graph.columns),
        "actions": json.dumps({str(k): name for k, name in sorted(graph.action_names.items())}),
        "states": graph.n_states,
        "layers": n_layers,
        "start": start,
        "claim": " ".join(dyadic(x) for x in ends[0].tolist()),
        "width": dyadic(float(out)),
    }
    writer.line(FIRST)
    for name in HEAD:
        writer.line(name, facts[name])
    writer.check()


def action_lines(graph: StateGraph, state: int, number: Any) -> Iterator[str]:
    """The lines of the actions of a state; `number` is the place of each state in the file."""
    sign = graph.view.sign
    for action in graph.view[state].actions:
        words = ["a", str(action.label), dyadic(sign * action.reward)]
        for outcome in action.outcomes:
            words.append(dyadic(outcome.weight))
            if outcome.is_over:
                words.append(f"={dyadic(sign * outcome.payoff)}")
            else:
                words.append(f"{'-' if outcome.passes else '+'}{number[outcome.target]}")
        yield " ".join(words)


def is_certificate(path: Path) -> bool:
    """Whether a file begins as a certificate does, of any version."""
    word = FIRST.partition(" ")[0].encode()
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(word)) == word


@dataclass
class Claimed:
    """The head of a certificate, and the result of its check.

    Attributes
    ----------
    facts : dict of str
    bound : float
        Half the width of the widest interval.
    """

    facts: dict[str, str]
    parameters: dict[str, Any]
    bound: float = 0.0


@dataclass
class _State:
    rank: int
    low: Fraction
    high: Fraction
    row: tuple[int, ...]
    lines: list[str] = field(default_factory=list)


class _Reader:
    """A file, line by line; `check` compares the checksum of the lines since the last one."""

    def __init__(self, path: Path, file: TextIO) -> None:
        self.path, self.file, self.number, self.sum = path, file, 0, 0

    def fault(self, what: str) -> RefusedFile:
        return RefusedFile(f"{self.path}, line {self.number}: {what}")

    def line(self) -> str:
        text = self.file.readline(1 << 24)
        self.number += 1
        if not text.endswith("\n"):
            raise self.fault("the file ends here")
        self.sum, before = zlib.crc32(text.encode("utf-8", "surrogateescape"), self.sum), self.sum
        if text.startswith("check "):
            if text != f"check {before:08x}\n":
                raise self.fault("the checksum is wrong: the file is damaged")
            self.sum = 0
        return text[:-1]

    def named(self, name: str) -> str:
        """The words of a line that begins with this one."""
        word, _, rest = self.line().partition(" ")
        if word != name:
            raise self.fault(f"{word[:40]!r} stands here in place of {name!r}")
        return rest

    def whole(self, text: str, most: int) -> int:
        if not re.fullmatch(r"\d{1,18}", text) or int(text) > most:
            raise self.fault(f"{text[:40]!r} is no whole number up to {most:,}")
        return int(text)

    def number_in(self, text: str) -> Fraction:
        if len(text) > 400 or not NUMBER.fullmatch(text):
            raise self.fault(f"{text[:40]!r} is no number")
        over, _, power = text.partition("p-")
        return Fraction(int(over), 1 << int(power or 0))


def read_claims(path: Path) -> Claimed:
    """The head of a certificate.

    Raises
    ------
    RefusedFile
    """
    with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        return _read_head(_Reader(path, file))


def _read_head(reader: _Reader) -> Claimed:
    first = reader.line()
    if first != FIRST:
        raise reader.fault(f"{first[:60]!r} is not {FIRST!r}")
    facts = {name: reader.named(name)[:MOST_HEAD] for name in HEAD}
    reader.named("check")
    try:
        parameters = json.loads(facts["parameters"])
    except ValueError:
        parameters = None
    if not isinstance(parameters, dict) or facts["players"] not in ("1", "2"):
        raise reader.fault("the parameters or the players in the head are none")
    return Claimed(facts, parameters)


def check_certificate(path: Path, graph: StateGraph | None = None) -> Claimed:
    """Check a certificate, a layer at a time, in fractions.

    Parameters
    ----------
    graph : StateGraph, optional
        The game that the certificate is about; the game in the file is compared.

    Raises
    ------
    RefusedFile
        The file is damaged, or proves less than it claims, or is about another game. The message
        names the line.
    """
    with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        reader = _Reader(path, file)
        try:
            return _check(reader, None if graph is None else _Game(graph))
        except (ValueError, IndexError):
            raise reader.fault("a line of this layer misses words") from None


def _check(reader: _Reader, game: _Game | None) -> Claimed:
    claimed = _read_head(reader)
    facts = claimed.facts
    n = reader.whole(facts["states"], 2**40)
    width = reader.number_in(facts["width"])
    low: list[Fraction] = []
    high: list[Fraction] = []
    for k in range(reader.whole(facts["layers"], n)):
        states = _read_layer(reader, k, n - len(low), len(facts["fields"].split()))
        begin = len(low)
        low += [state.low for state in states]
        high += [state.high for state in states]
        if game is not None:
            game.compare(reader, states, begin)
        for number, state in enumerate(states, begin):
            if state.high - state.low > width:
                raise reader.fault(f"the state {number} is known less well than claimed")
            _check_state(reader, number, state, states, begin, low, high, facts["players"])
    reader.named("end")
    start = reader.whole(facts["start"], len(low) - 1)
    ends = [reader.number_in(text) for text in facts["claim"].split()]
    if len(low) != n or len(ends) != 2 or not ends[0] <= low[start] <= high[start] <= ends[1]:
        raise reader.fault("the start is known less well than claimed, or states are missing")
    if game is not None and (game.index or game.place[0] != start):
        raise reader.fault(f"{game.graph.title} has another start, or more states")
    claimed.bound = float(width / 2)
    return claimed


def _read_layer(reader: _Reader, layer: int, most: int, n_fields: int) -> list[_State]:
    words = reader.named("layer").split()
    if len(words) != 2 or words[0] != str(layer):
        raise reader.fault(f"the layer {layer} is wanted here")
    wanted, states = reader.whole(words[1], most), list[_State]()
    while True:
        line = reader.line()
        word, _, rest = line.partition(" ")
        if word == "s":
            rank, *given = rest.split()
            if len(given) != 2 + n_fields:
                raise reader.fault(f"a state has two ends and {n_fields} fields")
            row = tuple(int(reader.number_in(text)) for text in given[2:])
            low, high = (reader.number_in(text) for text in given[:2])
            states.append(_State(reader.whole(rank, 2**40), low, high, row))
        elif word == "a" and states:
            states[-1].lines.append(line)
        elif word == "check" and len(states) == wanted:
            return states
        else:
            raise reader.fault(f"{line[:40]!r} is neither a state nor an action of this layer")


def _check_state(
    reader: _Reader,
    number: int,
    state: _State,
    layer: list[_State],
    begin: int,
    low: list[Fraction],
    high: list[Fraction],
    players: str,
) -> None:
    """The three conditions on a state: above, below, and an end of play."""
    is_reached = False
    for line in state.lines:
        _, _, reward, *pairs = line.split()
        total, below, above, ends = Fraction(0), Fraction(0), Fraction(0), False
        for text, target in zip(pairs[::2], pairs[1::2], strict=True):
            weight = reader.number_in(text)
            if weight <= 0:
                raise reader.fault(f"a weight of the state {number} is {text}")
            total += weight
            if target[0] == "=":
                least = most = reader.number_in(target[1:])
                ends = True
            else:
                t = reader.whole(target[1:], len(low) - 1)
                least, most = low[t], high[t]
                ends = ends or t < begin or layer[t - begin].rank < state.rank
                if target[0] == "-" and players == "2":
                    least, most = -most, -least
                elif target[0] != "+":
                    raise reader.fault(f"{target[:40]!r} is no target in the state {number}")
            below += weight * least
            above += weight * most
        if not total:
            raise reader.fault(f"an action of the state {number} has no outcome")
        paid = reader.number_in(reward)
        if not ends:
            raise reader.fault(f"it isn't shown that play ends from the state {number}")
        if paid + above / total > state.high:
            raise reader.fault(f"the upper end of the state {number} is too small")
        is_reached = is_reached or paid + below / total >= state.low
    if not is_reached:
        raise reader.fault(f"the lower end of the state {number} is too large")


class _Game:
    """A game whose states and actions are compared with those of a file."""

    def __init__(self, graph: StateGraph) -> None:
        self.graph, self.place = graph, np.full(graph.n_states, -1)
        self.index = {tuple(row): s for s, row in enumerate(graph.rows.tolist())}

    def compare(self, reader: _Reader, states: list[_State], begin: int) -> None:
        """Require that the states of a layer are those of the game, with the same actions."""
        graph, found = self.graph, []
        for number, state in enumerate(states, begin):
            index = self.index.pop(state.row, -1)
            if index < 0:
                raise reader.fault(f"{graph.title} has no state {state.row}, or it came before")
            self.place[index] = number
            found.append(index)
        for state, index in zip(states, found, strict=True):
            if state.lines != list(action_lines(graph, index, self.place)):
                raise reader.fault(f"{graph.title} has other actions in {graph.state_text(index)}")
