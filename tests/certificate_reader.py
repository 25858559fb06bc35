"""A checker of certificates, written from docs/certificate.md alone, without rollwise.

``python certificate_reader.py FILE`` prints the claim, or the line at fault and ends with 1.
"""

from __future__ import annotations

import re
import sys
import zlib
from fractions import Fraction

HEAD = ["game", "parameters", "players", "objective", "fields", "actions"]
HEAD += ["states", "layers", "start", "claim", "width"]


class Refused(Exception):
    """The certificate proves nothing."""


def number(text):
    if not re.fullmatch(r"-?\d+(p-\d+)?", text):
        raise Refused(f"{text!r} is no number")
    over, _, power = text.partition("p-")
    return Fraction(int(over), 2 ** int(power or 0))


def natural(text, below):
    if not text.isdecimal() or int(text) >= below:
        raise Refused(f"{text!r} is no number below {below}")
    return int(text)


class Lines:
    """The lines of a file; a line of a checksum is compared with the bytes before it."""

    def __init__(self, file):
        self.file, self.count, self.sum = file, 0, 0

    def next(self):
        line = self.file.readline()
        self.count += 1
        if not line.endswith(b"\n"):
            raise Refused("the file ends here")
        if line.startswith(b"check ") and line != b"check %08x\n" % self.sum:
            raise Refused("the checksum is wrong")
        self.sum = 0 if line.startswith(b"check ") else zlib.crc32(line, self.sum)
        return line.decode()[:-1]

    def take(self, word):
        first, _, rest = self.next().partition(" ")
        if first != word:
            raise Refused(f"{word} is missing")
        return rest


def check(path):
    """The facts of the head, if the certificate holds."""
    with open(path, "rb") as file:
        lines = Lines(file)
        try:
            return check_lines(lines)
        except (ValueError, IndexError, Refused) as error:
            raise Refused(f"line {lines.count}: {error}") from error


def check_lines(lines):
    if lines.next() != "rollwise-certificate 1":
        raise Refused("another format or version")
    head = {name: lines.take(name) for name in HEAD}
    lines.take("check")
    n, width = natural(head["states"], 2**40), number(head["width"])
    low, high = [], []
    for k in range(natural(head["layers"], n + 1)):
        layer, size = map(int, lines.take("layer").split())
        if layer != k:
            raise Refused("layers are out of order")
        states = read_states(lines, size)
        begin = len(low)
        low += [state[1] for state in states]
        high += [state[2] for state in states]
        for state in states:
            check_state(state, states, begin, low, high, head["players"])
            if state[2] - state[1] > width:
                raise Refused("an interval is wider than claimed")
    lines.take("end")
    start, claim = natural(head["start"], len(low)), [number(x) for x in head["claim"].split()]
    if len(low) != n or not claim[0] <= low[start] <= high[start] <= claim[1]:
        raise Refused("the claim is not proved")
    return head


def read_states(lines, size):
    """The states of a layer: rank, low, high, actions."""
    states = []
    while True:
        word, *rest = lines.next().split(" ")
        if word == "s":
            states.append((natural(rest[0], 2**40), number(rest[1]), number(rest[2]), []))
        elif word == "a":
            states[-1][3].append(rest)
        elif word == "check" and len(states) == size:
            return states
        else:
            raise Refused("neither a state nor an action, or another number of states")


def check_state(state, layer, begin, low, high, players):
    rank, below, above, actions = state
    reaches = False
    for _, reward, *pairs in actions:
        total = least = most = Fraction(0)
        ends = False
        for weight, target in zip(map(number, pairs[::2]), pairs[1::2], strict=True):
            if weight <= 0:
                raise Refused("a weight is not positive")
            kind, rest = target[0], target[1:]
            if kind == "=":
                a = b = number(rest)
                ends = True
            else:
                t = natural(rest, len(low))
                a, b = low[t], high[t]
                ends = ends or t < begin or layer[t - begin][0] < rank
                if kind == "-" and players == "2":
                    a, b = -b, -a
                elif kind != "+":
                    raise Refused("a target has no sign")
            total, least, most = total + weight, least + weight * a, most + weight * b
        if total == 0 or not ends:
            raise Refused("an action has no outcome, or need not end")
        if number(reward) + most / total > above:
            raise Refused("high is too small")
        reaches = reaches or number(reward) + least / total >= below
    if not reaches:
        raise Refused("low is too large, or there is no action")


if __name__ == "__main__":
    try:
        facts = check(sys.argv[1])
    except Refused as error:
        sys.exit(f"{sys.argv[1]}, {error}")
    print(f"{facts['game']} {facts['parameters']}: the value of the start is in {facts['claim']}")
