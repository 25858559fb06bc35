"""Models in UMB, the binary format of Storm, PRISM and Modest.

The specification is at https://github.com/pmc-tools/umb: a tar file, also compressed, whose first
entry is ``index.json`` with the numbers of states, choices and branches. The other entries are
plain arrays. The size of each follows from these numbers, and is compared before it is read.
"""

from __future__ import annotations

import gzip
import json
import lzma
import re
import tarfile
import zlib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from rollwise.errors import ModelFileError
from rollwise.machine import memory_limits
from rollwise.models.model import MOST, Model, optimum_of, simplest

MOST_INDEX = 1 << 24  # bytes of index.json
MOST_TEXT = 1 << 26  # bytes of the names of actions
SQUEEZED = 1100  # bytes at most from one compressed byte (gzip gives 1,032)
COUNTS = ("#states", "#choices", "#branches", "#players", "#choice-actions", "#observations")
FAULTS = (
    *(tarfile.TarError, OSError, EOFError, zlib.error, lzma.LZMAError),
    *(ValueError, KeyError, TypeError, AttributeError),  # an index of other types
)
KINDS = ("states", "choices", "branches")
ACTIONS = "actions/choices/"
VALUATIONS = "valuations/states/valuations.bin"


def read_umb(path: Path) -> Model:
    """A model in UMB.

    Raises
    ------
    ModelFileError
    """
    try:
        with path.open("rb") as plain:
            begin = plain.read(6)
        opened: Any = {b"\x1f\x8b": gzip.open, b"\xfd7": lzma.open}.get(begin[:2], open)
        with opened(path, "rb") as file, tarfile.open(fileobj=file, mode="r|") as tar:
            archive = _Archive(path, tar)
            archive.read()
            if len(file.read(MOST_INDEX)) == MOST_INDEX:  # gzip and xz check their sums at the end
                raise ValueError("it goes on after its end")
            return archive.model()
    except FAULTS as error:
        reason = str(error).splitlines()[0][:100] if str(error) else type(error).__name__
        raise ModelFileError(f"{path} is damaged or no UMB file: {reason}") from error


class _Archive:
    """An archive, read in one pass."""

    def __init__(self, path: Path, tar: tarfile.TarFile) -> None:
        self.path, self.tar, self.size = path, tar, path.stat().st_size
        self.parts: dict[str, bytes] = {}
        self.index: dict[str, Any] = {}

    def fault(self, what: str) -> ModelFileError:
        return ModelFileError(f"{self.path}: {what}")

    def read(self) -> None:
        """Read the index, and then the entries that it needs."""
        self.index = self._index()
        self._check(self.index["transition-system"])
        self._read(self._sizes(self.index, self.index["transition-system"]))

    def model(self) -> Model:
        """The model of the entries."""
        index, system = self.index, self.index["transition-system"]
        n, n_choices, n_branches = (system[f"#{kind}"] for kind in KINDS)
        rewards, labels = _named(index, "rewards"), _named(index, "aps")
        state_choices = self._csr("state-to-choices.bin", n, n_choices)
        choice_branches = self._csr("choice-to-branches.bin", n_choices, n_branches)
        if not np.diff(choice_branches).all():
            raise self.fault("a choice has no branch")
        choice_state = np.repeat(np.arange(n), np.diff(state_choices))
        choice = np.repeat(np.arange(n_choices), np.diff(choice_branches))
        state = choice_state[choice]
        start = self._bits("state-is-initial.bin", n)
        if np.count_nonzero(start) != 1:
            raise self.fault(
                f"the model has {np.count_nonzero(start)} initial states, and one is needed"
            )
        owner = self._numbers("state-to-player.bin", "<u4", n)
        players = system["#players"]
        if owner.max() >= max(players, 1):
            raise self.fault(f"a state belongs to the player {owner.max()}, of {players}")
        # further players may own states, as long as they choose nothing there
        idle = owner > 1
        if (np.diff(state_choices)[idle] > 1).any():
            raise self.fault(
                f"it is a game of {players} players, and its rewards are those of the first one "
                "only; rollwise reads models in which two players choose at most: write it with "
                "the policy of the others (rollwise export --against POLICY), or its rules as a "
                "rule sheet"
            )
        owner = np.where(idle, 0, owner)
        target = self._numbers("branch-to-target.bin", "<u8", n_branches)
        if n_branches and target.max() >= n:
            raise self.fault(f"a branch leads to the state {target.max()}, of {n:,}")
        chance = (np.zeros(n_branches, np.int64), [Fraction(1)])
        if "branch-probability-type" in system:
            kind = system["branch-probability-type"]
            chance = self._fractions("branch-to-probability.bin", kind, n_branches)
        place = {"states": state, "choices": choice, "branches": slice(None)}
        action, names = self._actions(system, n_choices)
        return Model.of(
            self.path.stem,
            n,
            state,
            choice,
            target,
            chance,
            action=None if action is None else action[choice],
            names=names,
            owner=owner,
            players=min(max(players, 1), 2),
            start=int(np.argmax(start)),
            labels={
                about.get("alias", word): self._bits(f"annotations/aps/{word}/states/values.bin", n)
                for word, about in labels.items()
            },
            rewards={
                about.get("alias", word): sum(
                    (
                        self._doubles(_place(word, kind), about["type"], system[f"#{kind}"])[
                            place[kind]
                        ]
                        for kind in about["applies-to"]
                    ),
                    np.zeros(n_branches),
                )
                for word, about in rewards.items()
            },
            fields=self._fields(index, n),
            optimum=self._optimum(),
        )

    def _optimum(self) -> str:
        """The optimum of the question, if rollwise wrote the file."""
        is_own = (self.index.get("file-data") or {}).get("tool") == "rollwise"
        about = (self.index.get("model-data") or {}).get("description", "") if is_own else ""
        return optimum_of(str(about).splitlines())

    def _index(self) -> dict[str, Any]:
        member = next(iter(self.tar), None)
        while member is not None and member.isdir():
            member = self.tar.next()
        if member is None or _plain(member) != "index.json":
            raise self.fault("this is no UMB file: its first entry isn't index.json")
        if member.size > MOST_INDEX:
            raise self.fault(f"its index.json has {member.size:,} bytes")
        index: dict[str, Any] = json.loads(self._content(member))
        if index.get("format-version") != 1:
            raise self.fault(
                f"it has the version {index.get('format-version')!r} of UMB; rollwise reads 1"
            )
        return index

    def _check(self, system: Mapping[str, Any]) -> None:
        """Require a model that can be solved, of a size that the file may hold."""
        for name in COUNTS:
            count = system.get(name, 0)
            if not isinstance(count, int) or count < 0:
                raise self.fault(f"its {name} is {count!r}")
            if count > min(MOST, self.size * SQUEEZED):
                raise self.fault(
                    f"{count:,} {name[1:]} are announced, and it is too short for them"
                )
        if system.get("time") != "discrete":
            raise self.fault("the model has continuous time")
        if system["#observations"]:
            raise self.fault("the model hides its states from the player (a POMDP)")

    def _sizes(self, index: Mapping[str, Any], system: Mapping[str, Any]) -> dict[str, int]:
        """The size in bytes of each entry that is read."""
        n, m, k = (system[f"#{kind}"] for kind in KINDS)
        bits = -(-n // 64) * 8
        sizes = {
            "state-to-choices.bin": 8 * (n + 1),
            "choice-to-branches.bin": 8 * (m + 1),
            "state-is-initial.bin": bits,
            "state-to-player.bin": 4 * n,
            "branch-to-target.bin": 8 * k,
            f"{ACTIONS}values.bin": 4 * m,
            f"{ACTIONS}string-mapping.bin": 8 * (system.get("#choice-actions", 0) + 1),
            f"{ACTIONS}strings.bin": -1,
        }
        if "branch-probability-type" in system:
            size = self._bytes_of(system["branch-probability-type"])
            sizes["branch-to-probability.bin"] = size * k
        for word in _named(index, "aps"):
            sizes[f"annotations/aps/{word}/states/values.bin"] = bits
        for word, about in _named(index, "rewards").items():
            for kind in about["applies-to"]:
                if kind not in KINDS:
                    raise self.fault(f"the reward {word} belongs to {kind!r}")
                sizes[_place(word, kind)] = self._bytes_of(about["type"]) * system[f"#{kind}"]
        if variables := _variables(index):
            sizes[VALUATIONS] = sum(size for _, _, size, _ in variables) // 8 * n
        return sizes

    def _read(self, sizes: Mapping[str, int]) -> None:
        total = 0
        # sizes are compared before reading: a small file may announce more than the memory holds
        for member in self.tar:
            total += member.size
            if total > min(self.size * SQUEEZED + MOST_TEXT, memory_limits.left() / 4):
                raise self.fault(f"{total:,} bytes are announced: more than it or the memory holds")
            name = _plain(member)
            if not member.isfile() or name not in sizes:
                continue
            wanted = sizes[name]
            if member.size != wanted if wanted >= 0 else member.size > MOST_TEXT:
                raise self.fault(
                    f"{name} has {member.size:,} bytes, and its index needs {wanted:,}"
                )
            self.parts[name] = self._content(member)

    def _content(self, member: tarfile.TarInfo) -> bytes:
        file = self.tar.extractfile(member)
        content = b"" if file is None else file.read()
        if len(content) != member.size:
            raise self.fault(f"it ends within {_plain(member)}")
        return content

    def _bytes_of(self, kind: Mapping[str, Any]) -> int:
        name, size = kind["type"], kind.get("size")
        if name == "double" and size in (None, 64):
            return 8
        if name == "rational" and isinstance(size or 128, int) and not (size or 128) % 128:
            return (size or 128) // 8
        raise self.fault(f"its numbers are of the type {str(name)[:40]!r}")

    def _numbers(self, name: str, kind: str, n: int) -> Any:
        """An array of whole numbers; zeros if it is missing."""
        if name not in self.parts:
            return np.zeros(n, np.int64)
        found = np.frombuffer(self.parts[name], kind)
        return np.minimum(found, np.array(MOST + 1).astype(kind)).astype(np.int64)

    def _csr(self, name: str, n: int, most: int) -> Any:
        """The first item of each; item i alone if the entry is missing."""
        found = np.arange(n + 1)
        if name in self.parts:
            found = self._numbers(name, "<u8", n + 1)
        if found[0] != 0 or found[-1] != most or np.any(np.diff(found) < 0):
            raise self.fault(f"{name} doesn't rise from 0 to {most:,}")
        return found

    def _bits(self, name: str, n: int) -> Any:
        if name not in self.parts:
            return np.zeros(n, np.bool_)
        packed = np.frombuffer(self.parts[name], np.uint8)
        return np.unpackbits(packed, bitorder="little")[:n].astype(np.bool_)

    def _fractions(self, name: str, kind: Mapping[str, Any], n: int) -> tuple[Any, list[Fraction]]:
        """Numbers as indices into a list of fractions."""
        if name not in self.parts:
            raise self.fault(f"it has no {name}")
        if kind["type"] == "double":
            doubles = np.frombuffer(self.parts[name], "<f8")
            if not np.isfinite(doubles).all():
                raise self.fault("a chance is no number")
            return simplest(doubles)
        size = self._bytes_of(kind)
        # each different number is made a fraction once
        rows = np.frombuffer(self.parts[name], np.uint8).reshape(n, size)
        unique, index = np.unique(rows, axis=0, return_inverse=True)
        found = []
        for row in unique:
            over = int.from_bytes(row[: size // 2].tobytes(), "little", signed=True)
            under = int.from_bytes(row[size // 2 :].tobytes(), "little")
            if not under:
                raise self.fault(f"{name} divides by 0")
            found.append(Fraction(over, under))
        return index, found

    def _doubles(self, name: str, kind: Mapping[str, Any], n: int) -> Any:
        if name not in self.parts:
            return np.zeros(n)
        if kind["type"] == "double":
            return np.frombuffer(self.parts[name], "<f8")
        index, found = self._fractions(name, kind, n)
        return np.array(found, np.object_)[index]

    def _actions(self, system: Mapping[str, Any], n: int) -> tuple[Any, list[str]]:
        """The action of each choice, and the names of the actions."""
        count = system.get("#choice-actions", 0)
        mapping = f"{ACTIONS}string-mapping.bin"
        if not count or mapping not in self.parts:
            return None, []
        action = self._numbers(f"{ACTIONS}values.bin", "<u4", n)
        text = self.parts.get(f"{ACTIONS}strings.bin", b"")
        ends = self._csr(mapping, count, len(text))
        if n and action.max() >= count:
            raise self.fault(f"a choice has the action {action.max()}, of {count}")
        parts = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        return action, [text[begin:end].decode() for begin, end in parts]

    def _fields(self, index: Mapping[str, Any], n: int) -> dict[str, Any]:
        """The variables of the states, if all are numbers."""
        variables = _variables(index)
        if not variables or VALUATIONS not in self.parts:
            return {}
        rows = np.frombuffer(self.parts[VALUATIONS], np.uint8).reshape(n, -1)
        bits = np.unpackbits(rows, axis=1, bitorder="little")
        fields, begin = {}, 0
        for name, kind, size, offset in variables:
            if name:
                part = bits[:, begin : begin + size].astype(np.int64)
                powers = 1 << np.arange(size)
                # two's complement: the highest bit of a signed number counts negative
                if kind == "int":
                    powers[-1] *= -1
                fields[name] = part @ powers + offset
            begin += size
        return fields


def _place(word: str, kind: str) -> str:
    return f"annotations/rewards/{word}/{kind}/values.bin"


def _plain(member: tarfile.TarInfo) -> str:
    return member.name.removeprefix("./").lstrip("/")


def _named(index: Mapping[str, Any], group: str) -> dict[str, Any]:
    """The annotations of a group."""
    found: dict[str, Any] = index.get("annotations", {}).get(group, {})
    return {word: about for word, about in found.items() if re.fullmatch(r"[0-9a-z_-]+", word)}


def _variables(index: Mapping[str, Any]) -> list[tuple[str, str, int, int]]:
    """Name, type, bits and offset of each variable of the states; empty if some are no numbers.

    Padding has no name.
    """
    about = index.get("valuations", {}).get("states", {})
    classes = about.get("classes", ())
    if len(classes) != 1 or not about.get("unique"):
        return []
    found = []
    for variable in classes[0]["variables"]:
        kind = variable.get("type", {})
        name, size = kind.get("type", "bool"), kind.get("size")
        size = variable.get("padding", size or (1 if name == "bool" else 64))
        if variable.get("is-optional") or name not in ("bool", "int", "uint"):
            return []
        if not isinstance(size, int) or not 0 < size <= 62:
            return []
        found.append((variable.get("name", ""), name, size, variable.get("offset", 0)))
    return found if sum(size for _, _, size, _ in found) % 8 == 0 else []
