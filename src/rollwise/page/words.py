"""The words of a game, collected for a page: each text once, with its places of use.

A page can't call a rule sheet, so words are collected beforehand: those of each position, of each
action and of each outcome, as far as there aren't too many. Of many actions and outcomes, those
have words that are told alike everywhere; instead of others the page tells the position after
them, or names the changed fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.boards import Board
from rollwise.errors import RulesError
from rollwise.game import Game
from rollwise.graph.packed import PackedGraph, stream
from rollwise.words import Narrator
from rollwise.words.narration import thrown_dice

MOST_ASKED = 250_000  # positions, actions or outcomes that are asked for their words one by one
MOST_DRAWN = 100_000  # positions of a game with all boards
BOARDS = 1_000  # positions of a larger game with a board
LISTED = 400  # numbers of a field in a list for choosing
MOST_THROWN = 20_000  # throws of a kind of action
SAMPLE = 40  # actions of a kind with collected dice in larger games, and numbers of a set

Progress = Callable[[str, int, int | None], None]


class Ends(NamedTuple):
    """Final positions: their fields, their words, and the number of each ending outcome's, or 0."""

    rows: list[tuple[int, ...]]
    words: list[tuple[str, str, Board]]
    numbers: NDArray[np.int64]
    slots: NDArray[np.int64]


def _ends(narrator: Narrator, packed: PackedGraph) -> Ends:
    """The final positions of a game, where its rules give them and have words for them."""
    over = np.flatnonzero(narrator.graph.outcome_state[packed.outcomes] < 0)
    known: dict[tuple[int, ...], int] = {}
    words: list[tuple[str, str, Board]] = []
    numbers = np.zeros(len(over), np.int64)
    action, ends = -1, list[tuple[int, ...] | None]()
    for k, o in enumerate(over.tolist() if len(over) <= MOST_ASKED else ()):
        if packed.owner[o] != action:
            action = int(packed.owner[o])
            ends = narrator.finals(action)
        end = ends[packed.number[o]]
        if end is None:
            continue
        if end not in known:
            told = narrator.words_at_end(end)
            known[end] = len(words) + 1 if told else 0
            words += [told] if told else []
        numbers[k] = known[end]
    return Ends([row for row, n in known.items() if n], words, numbers, packed.slot[over])


def words_of(
    narrator: Narrator, packed: PackedGraph, progress: Progress | None
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Ask a game for its words.

    Returns
    -------
    head : dict
        - `texts`: each text once; the first one is empty.
        - `dice`: of each kind of action None, or the sides of its dice, and the outcome of each
          throw, the last die turning first.
        - `faces`: the names of the faces, from 1.
        - `values`: of each field the meaning of its numbers, by number, where the game has texts.
        - `sets`: of each field the members of its sets as pairs of bit and text; None for other
          numbers.
        - `deeds`, `told`: the text of each action label, and of each slot, with a constant text,
          in games without the part of that name.
        - `tells_after`: whether outcomes without a text have one in the rules; the words of the
          position after them do.
        - `board`: rows of cells, or None. A cell is its kind, and pairs for its text (an index into
          `texts`) and its numbers: a pair is 0 and the number, 1 and the field of the number, or 2
          and the index of the part (``board 0`` and so on) with the number for each position.
        - `n_ends`: the number of final positions.
    parts : dict of bytes
        Streams of indices into `texts`: `described` and `shown` of each position, and of each final
        position; `deeds` of each action, `told` of each outcome. Parts without any text are
        omitted. ``end 0`` and so on: the fields of final positions; `ends`: for each outcome that
        ends the game, the number of its final position, from 1, or 0 without one.
    """
    texts: dict[str, int] = {"": 0}
    parts: dict[str, bytes] = {}
    ends = _ends(narrator, packed)
    if ends.rows:
        for f, column in enumerate(zip(*ends.rows, strict=True)):
            parts[f"end {f}"] = stream(np.diff(column, prepend=0))
        parts["ends"] = stream(ends.numbers - _last_alike(ends.slots, ends.numbers))
    board = _board(narrator, packed, ends, texts, parts)
    if narrator.game is not None:
        for name, asked in _questions(narrator, packed, ends).items():
            if len(asked[0]) > MOST_ASKED or (name == "shown" and board):
                continue
            if progress is not None:
                progress("asking for words", 0, None)
            numbers = np.array([texts.setdefault(text, len(texts)) for text in asked[1]], np.int64)
            if numbers.any():
                parts[name] = stream(numbers - _last_alike(asked[0], numbers))
    dice = _dice(narrator, packed)
    most = max((max(found["sides"]) for found in dice if found), default=0)
    faces = [narrator.face_name(face) for face in range(1, most + 1)]
    is_large = len(packed.outcomes) > MOST_ASKED
    columns = dict(zip(narrator.graph.field_names, narrator.graph.fields.T, strict=True))
    sets = sets_of(narrator, columns)
    head = {
        "dice": dice,
        "faces": faces,
        "values": values_of(narrator, columns, sets),
        "sets": sets,
        "deeds": [] if "deeds" in parts else _deeds(narrator, packed),
        "told": _told(narrator, packed) if is_large else [],
        "tells_after": is_large
        and narrator.game is not None
        and type(narrator.game).told is not Game.told,
        "board": board,
        "n_ends": len(ends.rows),
    }
    return {"texts": list(texts)} | head, parts


def _questions(
    narrator: Narrator, packed: PackedGraph, ends: Ends
) -> dict[str, tuple[NDArray[np.int64], Iterable[str]]]:
    """The texts to collect, each with the index of an earlier, likely similar text."""
    graph = narrator.graph
    n = len(graph.states if graph.throws is not None else graph.rows)
    assert len(graph.rows) == graph.n_states  # computed once here, for frequent access
    positions = packed.states[:n].tolist()
    alike = np.zeros(n + len(ends.rows), np.int64)
    described, shown = [one[0] for one in ends.words], [one[1] for one in ends.words]
    kind = np.unique(graph.action_label[packed.actions], return_inverse=True)[1]
    asked = zip(packed.owner.tolist(), packed.number.tolist(), strict=True)
    questions: dict[str, tuple[NDArray[np.int64], Iterable[str]]] = {
        "shown": (alike, chain(map(narrator.board, positions), shown)),
        "deeds": (kind, map(narrator.deed, packed.actions.tolist())),
        "told": (packed.slot, (narrator.told(*one) for one in asked)),
    }
    # the page has the fields by name, and says them where the game has no words for a position
    has_words = narrator.game is not None and type(narrator.game).describe is not Game.describe
    if has_words or any("." in name for name in graph.field_names):
        questions["described"] = (alike, chain(map(narrator.position, positions), described))
    return questions


Fields = Mapping[str, NDArray[np.int32]]  # numbers of some positions, by field


def sets_of(narrator: Narrator, fields: Fields) -> list[list[tuple[int, str]] | None]:
    """The members of the sets in each field: texts there have a word for each bit of a number."""
    found: list[list[tuple[int, str]] | None] = []
    for name, column in fields.items():
        numbers = np.unique(column)
        some = numbers[np.linspace(0, len(numbers) - 1, SAMPLE).astype(np.int64)].tolist()
        texts = {n: narrator.field_text(name, n).split() for n in some if n}
        if len(texts) < 3 or any(n < 0 or n.bit_count() != len(texts[n]) for n in texts):
            found.append(None)
            continue
        bits = range(int(numbers[-1]).bit_length())
        members = [(k, narrator.field_text(name, 1 << k)) for k in bits if (numbers >> k & 1).any()]
        found.append(members)
    return found


def values_of(narrator: Narrator, fields: Fields, sets: Sequence[object]) -> list[dict[int, str]]:
    """The meanings of the numbers of each field, but for sets."""
    found = []
    for (name, column), members in zip(fields.items(), sets, strict=True):
        numbers = np.unique(column).tolist()
        is_listed = members is None and len(numbers) <= LISTED
        texts = {n: narrator.field_text(name, n) for n in numbers} if is_listed else {}
        found.append({number: text for number, text in texts.items() if text})
    return found


def _deeds(narrator: Narrator, packed: PackedGraph) -> list[tuple[int, str]]:
    """The text of each action label, where a sample of its actions has the same text."""
    actions = packed.actions.tolist()
    labels = narrator.graph.action_label[packed.actions]
    return _alike(labels, lambda k: narrator.deed(actions[k]))


def _told(narrator: Narrator, packed: PackedGraph) -> list[tuple[int, str]]:
    """The text of each slot, where a sample of its outcomes has the same text."""
    if narrator.game is None:
        return []
    owner, number = packed.owner.tolist(), packed.number.tolist()
    return _alike(packed.slot, lambda k: narrator.told(owner[k], number[k]))


def _alike(groups: NDArray[np.integer[Any]], ask: Callable[[int], str]) -> list[tuple[int, str]]:
    """The text of each group, where a sample of its members, given by index, has the same one."""
    order = np.argsort(groups, kind="stable")
    names, begins = np.unique(groups[order], return_index=True)
    found = []
    for name, members in zip(names.tolist(), np.split(order, begins[1:]), strict=True):
        some = np.unique(np.linspace(0, len(members) - 1, SAMPLE).astype(np.int64))
        first, *rest = members[some].tolist()
        text = ask(first)
        if text and all(ask(k) == text for k in rest):
            found.append((name, text))
    return found


def _board(
    narrator: Narrator,
    packed: PackedGraph,
    ends: Ends,
    texts: dict[str, int],
    parts: dict[str, bytes],
) -> list[list[list[Any]]] | None:
    """The board of a game: its cells, with the sources of their texts and numbers.

    In a large game a sample of positions is used; only cells determined by fields can be drawn.
    """
    graph = narrator.graph
    n = len(graph.states if graph.throws is not None else graph.rows)
    is_small = n <= MOST_DRAWN
    some = np.arange(n) if is_small else np.unique(np.linspace(0, n - 1, BOARDS).astype(np.int64))
    asked = [narrator.cells(state) for state in packed.states[some].tolist()]
    if not any(asked[0]):
        return None
    asked += [cells for _, _, cells in ends.words] if is_small else []
    shape = [[cell.kind for cell in row] for row in asked[0]]
    if any([[cell.kind for cell in row] for row in board] != shape for board in asked):
        raise RulesError(
            f"{graph.game}: cells() gives other kinds of cells in some positions; they must be the "
            "same in all"
        )
    numbers = np.array(
        [
            [
                number
                for row in board
                for cell in row
                for number in (texts.setdefault(cell.text, len(texts)), *cell.numbers)
            ]
            for board in asked
        ],
        np.int64,
    )
    fields = (graph.states if graph.throws is not None else graph.rows)[packed.states[some]]
    if is_small and ends.rows:
        fields = np.concatenate([fields, np.array(ends.rows, fields.dtype)])
    said: list[list[int]] = []
    for column in numbers.T:
        same = np.flatnonzero((fields == column[:, None]).all(axis=0))
        if (column == column[0]).all():
            said.append([0, int(column[0])])
        elif len(same):
            said.append([1, int(same[0])])
        elif is_small:
            name = f"board {sum(name.startswith('board ') for name in parts)}"
            said.append([2, int(name.split()[1])])
            parts[name] = stream(np.diff(column, prepend=0))
        else:
            return None
    waiting = iter(said)
    return [
        [[cell.kind, *(next(waiting) for _ in (0, *cell.numbers))] for cell in row]
        for row in asked[0]
    ]


def _last_alike(group: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number before each one in its group; 0 for the first."""
    order = np.argsort(group, kind="stable")
    last = np.zeros_like(numbers)
    same = group[order][1:] == group[order][:-1]
    last[order[1:][same]] = numbers[order[:-1][same]]
    return last


def _dice(narrator: Narrator, packed: PackedGraph) -> list[dict[str, Any] | None]:
    """The dice of each kind of action, where all of a kind throw alike.

    In a large game, or with many dice, a sample of each kind is asked. Dice are left out where the
    faces don't bring each outcome as often as its weight says.
    """
    graph = narrator.graph
    found: list[dict[str, Any] | None] = []
    labels, lotteries = graph.action_label[packed.actions], graph.action_lottery[packed.actions]
    order = np.lexsort(
        [lotteries, labels]
    )  # the actions of each kind together, in the order of kinds
    first = np.flatnonzero(
        np.diff(labels[order], prepend=-1) | np.diff(lotteries[order], prepend=-1)
    )
    for some in np.split(order, first[1:]):
        if narrator.game is None:
            found.append(None)
            continue
        actions = packed.actions[np.sort(some)]
        if len(packed.outcomes) > MOST_ASKED and len(actions) > SAMPLE:
            actions = actions[np.linspace(0, len(actions) - 1, SAMPLE).astype(np.int64)]
        thrown: dict[str, Any] | None = None
        for k, action in enumerate(actions.tolist()):
            if thrown is not None and k * len(thrown["brings"]) > MOST_THROWN:
                break
            here = thrown_dice(narrator, action)
            if here is None or (thrown is not None and here != thrown):
                thrown = None
                break
            thrown = here
        found.append(thrown)
    return found
