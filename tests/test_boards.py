"""Boards of cells: as text, in the games, and what is refused."""

from __future__ import annotations

from typing import ClassVar

import pytest
from little_games import Lanes

import rollwise
from rollwise import WIN, Game, boards
from rollwise.errors import RulesError
from rollwise.games.bear_off import TwoSidedBearOff
from rollwise.games.cant_stop import Boards, CantStop, CantStopForTwo
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import Race, RoyalUr
from rollwise.games.shut_the_box import Box, ShutTheBox
from rollwise.games.yahtzee import Sheet, Yahtzee
from rollwise.page.document import document
from rollwise.words import Narrator


@pytest.mark.parametrize(
    ("game", "state", "lines"),
    [
        (
            RoyalUr(pieces=2),
            Race(1 << 3 | 1 << 7, 1 << 3 | 1 << 13, 0, 0),
            ["* x . .     * x", ". . o * . . . .", "* o . .     * ."],
        ),
        (  # 12 and 15 of the other player are 16 and 13 of the mover
            RoyalUr(pieces=2, path="blitz"),
            Race(1 << 3 | 1 << 12, 1 << 12 | 1 << 15, 0, 0),
            ["* . . .     x .", ". . . * . . . .", "* o . .     o x"],
        ),
        (ShutTheBox(tiles=11), Box(2 | 8 | 1 << 11, 2), ["1 - 3 - - - - - - -- 11"]),
        (
            Yahtzee(boxes=8),
            Sheet(1 << 0 | 1 << 7, 0, 0),
            [
                "[x] ones      [ ] three of a kind",
                "[ ] twos      [x] four of a kind",
                *(f"[ ] {name}" for name in ("threes", "fours", "fives", "sixes")),
            ],
        ),
        (CantStop(sides=2), Boards((1, 1, 0), (), (0, 1, 0)), ["2 #", "3 #o.", "4 ."]),
        (
            CantStopForTwo(sides=2),
            Boards((0, 1, 0), (1, 2, 0), (0, 1, 0)),
            ["2 .   x", "3 #o. xx.", "4 .   ."],
        ),
        (
            TwoSidedBearOff(checkers=4),
            TwoSidedBearOff(checkers=4).start(),
            [
                " 4x   .   .   .   .   . opponent",
                " 4o   .   .   .   .   . you",
                "  6   5   4   3   2   1",
            ],
        ),
        (Pig(), Pig().start(), ["you      " + "." * 40, "opponent " + "." * 40]),
    ],
    ids=lambda given: getattr(given, "name", ""),
)
def test_boards_in_text(game, state, lines):
    assert game.show(state).splitlines() == lines


class Drawn(Game):
    """Count to 3."""

    action_names: ClassVar = ("go",)

    def start(self):
        return Lanes(0, 0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        yield 1, WIN, s

    def roots(self):
        yield Lanes(0, 1)
        yield Lanes(3, 0)


class OwnPicture(Drawn):
    def cells(self, s):
        return [[boards.seat(), boards.pile(s.mine)]]

    def show(self, s):
        return f"at {s.mine}"


def test_the_board_of_a_form_has_the_names_unless_the_rules_draw_it():
    """A person against a machine keeps the side; the answer to a double is the other player's."""
    cube = Pig(target=5).cube(limit=2)
    narrator = Narrator(rollwise.solve(cube).graph, cube)
    graph = narrator.graph
    turn = graph.view.find((2, 0, 0, 2, 2, 0)).index
    lines = ["Ann ##...", "Bob ..... cube 2"]
    assert narrator.board(turn, ["Ann", "Bob"]).splitlines() == lines
    lines = ["you     ..... cube 2", "machine ##..."]
    shown = narrator.board(turn, ["machine", "you"], as_opponent=True)
    assert [line.replace("x", "#") for line in shown.splitlines()] == lines
    offered = graph.view.find((2, 0, 0, 1, 0, 2)).index
    assert narrator.board(offered, ["Ann", "Bob"]).splitlines() == ["Ann .....", "Bob xx..."]
    within = OwnPicture().within(3)
    narrator = Narrator(rollwise.solve(within).graph, within)
    assert narrator.board(0, ["Ann", "Bob"]) == "at 0"


class NoCells(Drawn):
    def cells(self, s):
        return [["."]]


class TwoShapes(Drawn):
    def cells(self, s):
        return [[boards.square(s.mine) if s.mine else boards.label("none")]]


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (NoCells(), r"cells\(\) gives \['\.'\]; it is rows of cells"),
        (TwoShapes(), r"cells\(\) gives other kinds of cells in some positions"),
    ],
)
def test_what_is_no_board_is_refused(game, message):
    with pytest.raises(RulesError, match=message):
        document(rollwise.solve(game))
