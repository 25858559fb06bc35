"""Models in text: Storm's DRN files, and the explicit files of PRISM.

DRN: "DRN input format" in the documentation of Storm. PRISM: "Explicit model files" in its manual:
``.tra`` has the branches, and files beside it the rest: ``.lab`` labels, ``.sta`` the variables,
``.srew`` (or ``.rew``) and ``.trew`` rewards of states and branches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from rollwise.errors import ModelFileError
from rollwise.models.model import MOST, Model, optimum_of

LONGEST = 400  # characters of a number, and its largest exponent
NUMBER = re.compile(r"[-+]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][-+]?(\d+))?)")
LONGEST_LINE = 1 << 24  # characters
LEAST_LINE = 8  # bytes of a state in a file
STATE = re.compile(
    r"state (\d+)( !\S+)?( \{\d+\})?( \[(?P<rewards>[^]]*)\])?(?P<labels>( .*)?)", re.DOTALL
)
ACTION = re.compile(r"action (?P<name>\S+)( \[(?P<rewards>[^]]*)\])?")
LABEL = re.compile(r'"([^"]+)"|([^\s"]+)')
MOST_NOTED = 10  # comments at the head of a file
REFUSED = {
    "CTMC": "has continuous time",
    "Markov Automaton": "has continuous time",
    "MA": "has continuous time",
    "POMDP": "hides its states from the player (a POMDP)",
    "SMG": "doesn't name the players of its states: export the game as UMB",
}


class Reader:
    """The lines of a file, and the faults in them.

    Attributes
    ----------
    head : list of str
        The comments before the first line with content, once that line has been read.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.number = path, 0
        self.head: list[str] = []
        try:
            self.size = path.stat().st_size
        except OSError as error:
            raise ModelFileError(f"{path} can't be read: {error.strerror}") from error

    def lines(self, comment: str) -> Iterator[str]:
        """The lines with content, without surrounding blanks."""
        with self.path.open(encoding="utf-8", errors="replace") as file:
            lines = iter(lambda: file.readline(LONGEST_LINE), "")
            begun = False
            for self.number, line in enumerate(lines, 1):
                if len(line) == LONGEST_LINE:
                    raise self.fault(f"the line has more than {LONGEST_LINE:,} characters")
                text = line.strip()
                if text and not text.startswith(comment):
                    begun = True
                    yield text
                elif text and not begun and len(self.head) < MOST_NOTED:
                    self.head.append(text)

    def fault(self, what: str) -> ModelFileError:
        return ModelFileError(f"{self.path}, line {self.number}: {what}")

    def count(self, text: str, what: str) -> int:
        """A number of states or choices, if the file is long enough for so many."""
        if not re.fullmatch(r"\d{1,30}", text.strip()):
            raise self.fault(f"{text[:40]!r} is no number of {what}")
        number = int(text)
        if number > min(MOST, self.size // LEAST_LINE):
            raise self.fault(f"{number:,} {what} are announced, and the file is too short for them")
        return number

    def whole(self, text: str, most: int) -> int:
        """A whole number below `most`."""
        if not re.fullmatch(r"\d{1,18}", text) or int(text) >= most:
            raise self.fault(f"{text[:40]!r} is no number below {most:,}")
        return int(text)

    def fraction(self, text: str) -> Fraction:
        """A decimal number or a fraction, exactly."""
        match = NUMBER.fullmatch(text)
        if len(text) > LONGEST or match is None or int(match[4] or 0) > LONGEST:
            raise self.fault(f"{text[:40]!r} is no number")
        try:
            return Fraction(text)
        except ZeroDivisionError:
            raise self.fault(f"{text[:40]!r} is no number") from None


class Branches:
    """The branches of a model while they are read."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.state: list[int] = []
        self.choice: list[int] = []
        self.target: list[int] = []
        self.chance: list[int] = []
        self.action: list[int] = []
        self.names: dict[str, int] = {}
        self._fractions: dict[str, int] = {}

    def add(self, state: int, choice: int, target: int, chance: str, action: str) -> None:
        self.state.append(state)
        self.choice.append(choice)
        self.target.append(target)
        number = self._fractions.get(chance)
        if number is None:
            self.reader.fraction(chance)
            number = self._fractions[chance] = len(self._fractions)
        self.chance.append(number)
        self.action.append(self.names.setdefault(action, len(self.names)) if action else -1)

    def model(self, n: int, **more: Any) -> Model:
        return Model.of(
            self.reader.path.stem,
            n,
            self.state,
            self.choice,
            self.target,
            (self.chance, list(map(Fraction, self._fractions))),
            action=self.action,
            names=list(self.names),
            **more,
        )


def read_drn(path: Path) -> Model:
    """A model in Storm's explicit format.

    Raises
    ------
    ModelFileError
    """
    reader = Reader(path)
    lines = reader.lines("//")
    head = _drn_head(reader, lines)
    n, reward_names, known = head["@nr_states"], head["@reward_models"], head["@placeholders"]
    branches = Branches(reader)
    labels: dict[str, Any] = {}
    start: list[int] = []
    of_state: list[list[Fraction]] = []
    of_branch: list[list[Fraction]] = []
    choice, name, of_choice = -1, "", [Fraction(0)] * len(reward_names)
    n_choices = n_before = 0

    def rewards(text: str | None) -> list[Fraction]:
        parts = [known.get(part.strip(), part.strip()) for part in (text or "").split(",")]
        found = [reader.fraction(part) for part in parts if part]
        reward_names.extend(f"rew{i}" for i in range(len(reward_names), len(found)))
        return found + [Fraction(0)] * (len(reward_names) - len(found))

    def end_choice() -> None:
        if choice >= 0 and len(of_branch) == n_before:
            raise reader.fault("the action before has no branch")

    # a state line opens a state, an action line a choice, and any other line is a branch of it
    for line in lines:
        if match := STATE.fullmatch(line):
            end_choice()
            if match[1] != str(len(of_state)) or len(of_state) >= n:
                raise reader.fault(
                    f"the state {match[1][:40]} follows {len(of_state):,} states of {n:,}"
                )
            if match[2] or match[3]:
                raise reader.fault("a state has an exit rate or an observation")
            for label in dict.fromkeys(a or b for a, b in LABEL.findall(match["labels"])):
                if label == "init":
                    start.append(len(of_state))
                labels.setdefault(label, np.zeros(n, np.bool_))[len(of_state)] = True
            of_state.append(rewards(match["rewards"]))
            choice = -1
        elif (match := ACTION.fullmatch(line)) and of_state:
            end_choice()
            choice, n_choices, n_before = choice + 1, n_choices + 1, len(of_branch)
            if choice and head["@type"] == "DTMC":
                raise reader.fault("a state of a DTMC has one action")
            # Storm exports choices without a label by their number, or as __NOLABEL__
            name = "" if match["name"] in (str(choice), "__NOLABEL__") else match["name"]
            of_choice = rewards(match["rewards"])
        else:
            target, colon, chance = (part.strip() for part in line.partition(":"))
            if not colon or choice < 0:
                raise reader.fault(f"{line[:40]!r} is neither a state, an action nor a branch")
            state = len(of_state) - 1
            branches.add(state, choice, reader.whole(target, n), known.get(chance, chance), name)
            of_branch.append(_sum(of_state[state], of_choice))
    end_choice()
    if len(of_state) != n:
        raise reader.fault(f"the file ends after {len(of_state):,} of {n:,} states")
    if n_choices != head.get("@nr_choices", n_choices):
        raise reader.fault(f"the file has {n_choices:,} of {head['@nr_choices']:,} choices")
    return branches.model(
        n,
        start=_only(reader, start),
        labels=labels,
        optimum=_optimum(reader.head),
        rewards={
            reward: [row[i] if i < len(row) else Fraction(0) for row in of_branch]
            for i, reward in enumerate(reward_names)
        },
    )


def _optimum(head: list[str]) -> str:
    """The optimum of the question, if rollwise wrote the file."""
    is_own = bool(head) and head[0].endswith(", written by rollwise")
    return optimum_of(line.removeprefix("// ") for line in head[1:]) if is_own else "max"


def _sum(one: list[Fraction], other: list[Fraction]) -> list[Fraction]:
    return [a + b for a, b in zip_longest(one, other, fillvalue=Fraction(0))]


def _drn_head(reader: Reader, lines: Iterator[str]) -> dict[str, Any]:
    head: dict[str, Any] = {"@nr_states": 0, "@reward_models": [], "@placeholders": {}}
    section = ""
    # a line with @ names a section, and the lines after it are its content
    for line in lines:
        word, _, rest = line.partition(":")
        if line == "@model":
            break
        if word == "@type":
            kind = rest.strip()
            if kind not in ("DTMC", "MDP"):
                raise reader.fault(f"the model {REFUSED.get(kind, f'is of the type {kind[:40]}')}")
            head[word] = kind
        elif word == "@value_type":
            if rest.strip() not in ("double", "rational"):
                raise reader.fault(f"its chances are of the type {rest.strip()[:40]}")
        elif line[0] == "@":
            section = line
        elif section == "@parameters":
            raise reader.fault("the model is parametric")
        elif section == "@placeholders":
            head[section][word.strip()] = rest.strip()
        elif section == "@reward_models":
            head[section] = line.split()
        elif section == "@nr_states":
            head[section] = reader.count(line, "states")
        elif section == "@nr_choices":
            head[section] = reader.count(line, "choices")
        else:
            raise reader.fault(f"{line[:40]!r} is no part of a DRN file")
    else:
        raise reader.fault("this is no DRN file: it has no @model")
    if "@type" not in head or not head["@nr_states"]:
        raise reader.fault("@type or @nr_states is missing before @model")
    return head


def _only(reader: Reader, start: list[int]) -> int:
    if len(start) != 1:
        raise reader.fault(f"the model has {len(start)} initial states, and one is needed")
    return start[0]


def read_prism(path: Path) -> Model:
    """A model in the explicit files of PRISM, from the name of its ``.tra`` file.

    Raises
    ------
    ModelFileError
    """
    reader = Reader(path)
    lines = reader.lines("#")
    head = next(lines, "").split()
    n_text, _, players = head[0].partition(":") if head else ("", "", "")
    n = reader.count(n_text, "states")
    if len(head) == 4:
        raise reader.fault("the model hides its states from the player (a POMDP)")
    if len(head) not in (2, 3) or players not in ("", "1", "2"):
        raise reader.fault("the first line has the numbers of states, choices and branches")
    has_choices = len(head) == 3
    branches, owner = Branches(reader), np.zeros(n, np.int64)
    for line in lines:
        state, *parts = line.split()
        choice = parts.pop(0) if has_choices and parts else "0"
        if len(parts) not in (2, 3):
            raise reader.fault(f"{line[:40]!r} is no branch")
        if len(parts) == 3 and parts[2].startswith("["):
            raise reader.fault("the players of the model move at the same time")
        state, _, seat = state.partition(":")
        number = reader.whole(state, n)
        owner[number] = reader.whole(seat or "0", int(players or 1))
        target = reader.whole(parts[0], n)
        branches.add(number, reader.whole(choice, MOST), target, parts[1], "".join(parts[2:]))
    announced = reader.whole(head[-1], MOST)
    if len(branches.state) != announced:
        raise reader.fault(f"the file has {len(branches.state):,} of {announced:,} branches")
    choices = set(zip(branches.state, branches.choice, strict=True))
    if has_choices and len(choices) != reader.whole(head[1], MOST):
        raise reader.fault(f"the file has {len(choices):,} of {head[1]} choices")
    gap = next((s for s, c in choices if c and (s, c - 1) not in choices), None)
    if gap is not None:
        raise reader.fault(f"the choices of the state {gap} aren't numbered from 0 on")
    labels = _prism_labels(path.with_suffix(".lab"), n)
    start = np.flatnonzero(labels.pop("init")).tolist() if "init" in labels else [0]
    return branches.model(
        n,
        start=_only(reader, start),
        owner=owner,
        players=int(players or 1),
        labels=labels,
        fields=_prism_fields(path.with_suffix(".sta"), n),
        rewards=_prism_rewards(path, n, branches, has_choices),
    )


def _prism_labels(path: Path, n: int) -> dict[str, Any]:
    labels: dict[str, Any] = {}
    if path.exists():
        reader = Reader(path)
        lines = reader.lines("#")
        first = next(lines, "")
        names = dict(re.findall(r'(\d+)="([^"]*)"', first))
        if not re.fullmatch(r'(\d+="[^"]*"\s*)+', first):
            raise reader.fault(f"{first[:40]!r} names no labels")
        labels = {name: np.zeros(n, np.bool_) for name in names.values()}
        for line in lines:
            state, _, given = line.partition(":")
            for number in given.split():
                if number not in names:
                    raise reader.fault(f"there is no label {number[:40]}")
                labels[names[number]][reader.whole(state, n)] = True
    return labels


def _prism_fields(path: Path, n: int) -> dict[str, Any]:
    if not path.exists():
        return {}
    reader = Reader(path)
    lines = reader.lines("#")
    names = next(lines, "").strip("()").split(",")
    rows: dict[int, list[int]] = {}
    for line in lines:
        state, _, given = line.partition(":")
        words = given.strip("()").replace("true", "1").replace("false", "0").split(",")
        if len(words) != len(names):
            raise reader.fault(f"{line[:40]!r} hasn't {len(names)} variables")
        if not all(re.fullmatch(r"-?\d{1,10}", word) for word in words):
            return {}  # such as a string
        number = reader.whole(state, n)
        if number in rows:
            raise reader.fault(f"the state {number} is there twice")
        rows[number] = [int(word) for word in words]
    if len(rows) < n:
        raise reader.fault(f"the file has {len(rows):,} of {n:,} states")
    columns = zip(*(rows[s] for s in range(n)), strict=True)
    return dict(zip(names, columns, strict=True))


def _prism_rewards(
    path: Path, n: int, branches: Branches, has_choices: bool
) -> dict[str, list[Fraction]]:
    """The rewards of each branch, by name."""
    keys = zip(branches.state, branches.choice, branches.target, strict=True)
    rows = [((s,), (s, c, t) if has_choices else (s, t)) for s, c, t in keys]
    known = {(s,) for s in range(n)}.union(*rows)
    found: dict[str, dict[tuple[int, ...], Fraction]] = {}
    beside = re.compile(re.escape(path.stem) + r"(\d*)\.(srew|rew|trew)")
    for file in sorted(path.parent.iterdir()):
        match = beside.fullmatch(file.name)
        if match is None:
            continue
        reader = Reader(file)
        name, size = match[1] or "reward", 1
        if match[2] == "trew":
            size = 3 if has_choices else 2
        # the name of the reward is in a comment before the numbers
        for text in reader.lines("\0"):
            if given := re.fullmatch(r'#.*"([^"]+)".*', text):
                name = given[1]
            if not text.startswith("#"):
                break  # the numbers of states and of rewards
        rewards = found.setdefault(name, {})
        lines = reader.lines("#")
        head = next(lines, "").split()
        if len(head) < 2 or (size == 1 and head[0] != str(n)):
            raise reader.fault(f"the first line has the numbers of states, {n:,}, and of rewards")
        n_before = len(rewards)
        for line in lines:
            *place, amount = line.split()
            if len(place) < size:
                raise reader.fault(f"{line[:40]!r} is no reward")
            key = tuple(reader.whole(part.partition(":")[0], MOST) for part in place[:size])
            if key in rewards or key not in known:
                raise reader.fault(f"{line[:40]!r} is given twice, or of no state or branch")
            rewards[key] = reader.fraction(amount if len(place) == size else place[size])
        if len(rewards) - n_before != reader.whole(head[-1], MOST):
            raise reader.fault(f"the file has {len(rewards) - n_before:,} of {head[-1]} rewards")
    zero = Fraction(0)
    return {
        name: [sum((rewards.get(key, zero) for key in row), zero) for row in rows]
        for name, rewards in found.items()
    }
