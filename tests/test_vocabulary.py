"""A typed action is the action that was meant: in menus, files, conditions and calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollwise import END, PASS, Game, build, solve
from rollwise.analysis.observed_scores import read_plays
from rollwise.answer.references import Policies
from rollwise.coach import Table
from rollwise.errors import RollwiseError, UsageError
from rollwise.graph.naming import Vocabulary


class Box(NamedTuple):
    left: int


@dataclass(frozen=True)
class Boxes(Game):
    """Fill the boxes 1 to 12, some numbers of which are gone; an action is a box."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"

    def start(self):
        return Box(0)

    def actions(self, s):
        for box in (2, 1, 4, 12):
            yield box

    def outcomes(self, s, action):
        yield 1, END, s

    def reward(self, s, action):
        return float(action)


@dataclass(frozen=True)
class Named(Boxes):
    action_names: ClassVar = {1: "one", 2: "two", 4: "four", 12: "twelve"}


@dataclass(frozen=True)
class Counted(Boxes):
    """Names that begin with a number, and not their own."""

    action_names: ClassVar = {1: "2 dice", 2: "1 die", 4: "12 dice", 12: "all"}


@dataclass(frozen=True)
class Crossed(Boxes):
    """Names that are the numbers of others; 4 has none."""

    action_names: ClassVar = {1: "2", 2: "1", 12: "three"}


@dataclass(frozen=True)
class Alike(Boxes):
    action_names: ClassVar = {1: "left", 2: "left", 4: "Left", 12: "right"}


def label_at(table: Table, text: str, in_menu: bool = True) -> int:
    return int(table.graph.action_label[table.action_at(0, text, in_menu=in_menu)])


@pytest.mark.parametrize(
    ("game", "typed"),
    [
        # what has no name is typed as its number, whatever its place
        (Boxes(), {"1": 1, "2": 2, "4": 4, "12": 12, "3": None, "01": None, "0": None}),
        # a number is a place in a menu of names, and nothing else
        (Named(), {"1": 2, "2": 1, "3": 4, "4": 12, "12": None, "0": None, "t": None, "TWO": 2}),
        # a number that begins a name is no place, nor the number of an action
        (Counted(), {"1": 2, "2": 1, "12": 4, "3": None, "4": None, "a": 12, "1 d": 2}),
        (Crossed(), {"1": 2, "2": 1, "4": 4, "3": None, "12": None, "th": 12}),
        (
            Alike(),
            {
                "left": None,
                "left [1]": 1,
                "left [2]": 2,
                "Left": None,
                "Left [4]": 4,
                "r": 12,
                "1": 2,
            },
        ),
    ],
    ids=lambda value: value.name if isinstance(value, Game) else "",
)
def test_what_is_typed_in_a_menu(game, typed):
    table = Table.lay(game)
    for text, label in typed.items():
        if label is None:
            with pytest.raises(UsageError, match="the choices are"):
                label_at(table, text)
        else:
            assert label_at(table, text) == label, text


@pytest.mark.parametrize(
    ("game", "written"),
    [
        (Boxes(), {"1": 1, "12": 12, 12: 12, "3": None, "2 ": 2}),
        (Named(), {"one": 1, "1": 1, "12": 12, 4: 4, "tw": None, "two": 2}),
        (Counted(), {"2 dice": 1, "2": 2, "all": 12}),
        # where a number is a name, a number in words is only ever a name
        (Crossed(), {"2": 1, "1": 2, 1: 1, 2: 2, "4": 4, "12": None, "three": 12}),
        (Alike(), {"left": None, "left [2]": 2, "Left": 4, 1: 1, "1": 1}),
    ],
    ids=lambda value: value.name if isinstance(value, Game) else "",
)
def test_what_is_written_in_data(game, written, tmp_path):
    """In calls, in tables of a policy and in written plays alike."""
    graph = build(game)
    plays, table = tmp_path / "plays.csv", tmp_path / "policy.csv"
    for action, label in written.items():
        plays.write_text(f"left,action\n0,{action}\n")
        table.write_text(f"left,action\n0,{action}\n")
        if label is None:
            for ask in (
                lambda action=action: graph.view[0].find_action(action),
                lambda: read_plays(game, graph, plays),
                lambda: Policies(graph, game).find(str(table)),
            ):
                with pytest.raises(UsageError):
                    ask()
            continue
        place = graph.action_label.tolist().index(label)
        assert graph.view[0].find_action(action).index == place, action
        if isinstance(action, str):
            assert read_plays(game, graph, plays)[0].moves[0].action == place
            assert Policies(graph, game).find(str(table)).probability[place] == 1


def test_a_name_is_found_by_its_rest():
    """Where it is the rest of one name only, and no beginning of another."""
    names = {0: "keep 6 6", 1: "keep 1 6", 2: "left", 3: "go left", 4: "go on", 5: "stay on"}
    vocabulary = Vocabulary(list(names), names)
    for text, action in {"6 6": 0, " 1  6": 1, "left": 2, "go on": 4}.items():
        assert vocabulary.find_typed(list(names), text, in_menu=True) == action
    for text in ("6", "on", ""):
        with pytest.raises(UsageError, match="the choices are"):
            vocabulary.find_typed(list(names), text)


words = st.text("ab1 2,:#\"'-", min_size=1, max_size=4)


@given(st.dictionaries(st.integers(0, 20), words), st.sets(st.integers(0, 20), min_size=1))
def test_what_is_shown_is_what_is_meant(names, labels):
    """Whatever the actions are called, each is found by what the menu shows."""
    here = sorted(labels)
    vocabulary = Vocabulary(here, names)
    for place, text in enumerate(vocabulary.texts(here)):
        assert vocabulary.find_typed(here, text, in_menu=True) == place
        assert vocabulary.find_typed(here, text) == place
        if vocabulary.menus_are_numbered:
            assert vocabulary.find_typed(here, str(place + 1), in_menu=True) == place


def test_a_forced_action_without_a_name_is_told_in_words():
    """Action 0 without a choice; beside other actions, and with a name, it keeps its text."""
    mixed, alone, named = Vocabulary([0, 1], {}), Vocabulary([0], {}), Vocabulary([0], {0: "roll"})
    assert mixed.texts([0]) == alone.texts([0]) == [alone.text(0)] == ["the only move"]
    assert mixed.texts([0, 1]) == ["0", "1"]
    assert mixed.texts([1]) == ["1"]
    assert named.texts([0]) == ["roll"]
    for vocabulary in (mixed, alone):
        for typed in ("the only move", "0"):
            assert vocabulary.find([0], typed) == vocabulary.find_typed([0], typed) == 0


class Round(Game):
    """The only move changes nothing."""

    def start(self):
        return Box(0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        yield 1, PASS, s


def test_errors_call_a_move_without_a_name_the_only_one():
    with pytest.raises(RollwiseError, match="left=0 with the only move. Rules"):
        solve(Round())
