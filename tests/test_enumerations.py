"""Numbers with words of their own: members of enumerations, typed by their names, and sets."""

from __future__ import annotations

import json
import pickle
from enum import IntEnum
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import output, refusal
from little_games import Search

import rollwise
from rollwise import AGAIN, END, Game
from rollwise.analysis.thumb.clauses import forms_of
from rollwise.answer.filters import numbered
from rollwise.documents.served import start_document
from rollwise.errors import ExpressionError, ParameterError, RulesError, UnknownState
from rollwise.games import create, find
from rollwise.games.pig import Pig
from rollwise.graph.layout import field_words, members_of
from rollwise.graph.naming import SetWords, state_text
from rollwise.graph.typed import typed_state
from rollwise.hidden.positions import named_fields
from rollwise.learn import learn
from rollwise.plot.boards import Cards
from rollwise.thumb.language import Rule
from rollwise.thumb.sentences import sentence_of

RULES = '''
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, NamedTuple

from rollwise import AGAIN, END, Game


class Light(IntEnum):
    RED = 0
    GREEN = 1
    DARK_BLUE = 7


class Road(NamedTuple):
    light: Light
    seen: tuple[Light, Light]
    steps: int


@dataclass(frozen=True)
class Lights(Game):
    """Look at three lights, of which one is chosen each time."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"

    def start(self):
        return Road(Light.RED, (Light.RED, Light.DARK_BLUE), 2)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        for light in (0, 1, 7):
            then = AGAIN if s.steps else END
            yield 1, then, Road(light, (s.light, s.seen[0]), s.steps - 1)

    def reward(self, s, action):
        return action * (s.light == Light.GREEN)
'''


@pytest.fixture(scope="module")
def sheet(tmp_path_factory) -> str:
    path: Path = tmp_path_factory.mktemp("rules") / "lights.py"
    path.write_text(RULES)
    return str(path)


def test_the_members_of_a_game_are_known_by_column(sheet):
    words = {"red": 0, "green": 1, "dark_blue": 7}
    game = find(sheet)()
    columns = ("light", "seen", "seen.0", "seen.1")
    assert members_of(game) == dict.fromkeys(columns, words)
    assert dict(members_of(rollwise.Chase(game, target=1))) == members_of(game)
    assert members_of(Pig()) == {}


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("light == GREEN", "light == 1"),
        ("light == 'dark-blue' and steps > 0", "light == 7 and steps > 0"),
        ("RED < light <= DARK_BLUE", "0 < light <= 7"),
        ("light in [GREEN, 'red', 7]", "light in [1, 0, 7]"),
        ("seen.1 != RED or not seen.0 == Green", "seen.1 != 0 or not seen.0 == 1"),
        ("light == seen.0", "light == seen.0"),
        ("steps == 1", "steps == 1"),
    ],
)
def test_conditions_name_members(sheet, typed, plain):
    members = members_of(find(sheet)())
    assert numbered(typed, members) == plain
    solution = rollwise.solve(find(sheet)())
    assert solution.table(where=typed).equals(solution.table(where=plain))
    asked = ("table", sheet, "--csv", "--where")
    assert output(*asked, typed) == output(*asked, plain)


def test_members_are_printed_by_name(sheet):
    """The texts have the words, and documents keep the numbers."""
    state = "light=green, seen=(dark_blue, red), steps=0"
    game = find(sheet)()
    solution = rollwise.solve(game)
    here = solution.graph.view.find(typed_state(state, str, members_of(game)))
    assert str(here) == state
    assert here.named == {"light": 1, "seen.0": 7, "seen.1": 0, "steps": 0}
    assert pickle.loads(pickle.dumps(here.named)) == here.named
    start = "light=red, seen=(red, dark_blue), steps=2"
    assert state_text(named_fields(game, game.start())) == start  # in games with hidden dice
    assert f"({start})" in output("solve", sheet)
    assert f"({start})" in output("advise", sheet)
    assert start in output("evaluate", sheet, "--policy", "random")
    assert "light red, seen (red, dark_blue), steps 2" in game.describe(game.start())
    rows = output("table", sheet, "--where", "light == GREEN and steps == 0").splitlines()
    assert rows[1].split()[:4] == ["green", "red", "red", "0"]
    rows = output("learn", sheet, "--games", "50", "--seed", "1").splitlines()
    row = next(line.split() for line in rows if line.split()[-1:] == ["50"])  # the start
    assert row[:4] == ["red", "red", "dark_blue", "2"]
    learned = json.loads(output("learn", sheet, "--games", "50", "--seed", "1", "--json"))
    assert learned["words"]["light"] == {"0": "red", "1": "green", "7": "dark_blue"}
    assert "dark_blue" in str(learn(solution.graph, 50, seed=1))
    asked = output("advise", sheet, "--json", "--state", state.replace(" ", ""))
    assert json.loads(asked)["state"] == here.named
    with pytest.raises(UnknownState, match="light=green, seen=.red, red., steps=7"):
        solution.advise((1, 0, 0, 7))


def test_a_word_that_is_no_member_is_refused(sheet):
    members = members_of(find(sheet)())
    said = "light is a number or red, green or dark_blue, not 'pink'"
    with pytest.raises(ExpressionError, match=said):
        numbered("light == 'pink'", members)
    with pytest.raises(UnknownState, match=said):
        typed_state("light=pink,steps=1", str, members)
    assert said in refusal("table", sheet, "--where", "light == 'pink'")
    assert "there is no column 'PINK'" in refusal("table", sheet, "--where", "light == PINK")


def test_states_name_members(sheet):
    words = "light=GREEN,seen=(dark-blue,red),steps=0"
    plain = "light=1,seen.0=7,seen.1=0,steps=0"
    for line in (("advise",), ("evaluate", "--policy", "random")):
        asked = (line[0], sheet, *line[1:], "--state")
        assert output(*asked, words) == output(*asked, plain)
    mixed = typed_state("seen=(7, red),light=1,seen.1=Red", str, members_of(find(sheet)()))
    assert mixed == {"seen": (7, 0), "light": 1, "seen.1": 0}


def test_conditions_of_distributions_and_policies_name_members(sheet):
    for line in (
        ("distribution", sheet, "--given", "light == {}"),
        ("evaluate", sheet, "--policy", "random", "--table", "--where", "light == {}"),
    ):
        word, number = ([part.format(x) for part in line] for x in ("GREEN", 1))
        assert output(*word).replace("light == GREEN", "light == 1") == output(*number)


def test_pictures_name_members(sheet):
    solution = rollwise.solve(find(sheet)())
    figure = solution.plot("value", where="seen.0 == 0 and seen.1 == 0")
    named = [a for a in (figure.layout.xaxis, figure.layout.yaxis) if a.ticktext]
    assert [list(one.ticktext) for one in named] == [["red", "green", "dark_blue"]]
    assert [list(one.tickvals) for one in named] == [[0, 1, 7]]
    boxes = solution.plot("boxes", where="steps == 0")
    assert list(boxes.layout.yaxis.ticktext) == ["red", "green", "dark_blue"]
    assert any("dark_blue<br>" in text for trace in boxes.data for text in trace.text or ())
    decision = solution.plot("graph", state=(1, 0, 0, 1))
    texts = " ".join(note.text for note in decision.layout.annotations)
    assert all(f"{word}·green·red·0" in texts for word in ("red", "green", "dark_blue"))
    # only the steps have a bar, of three parts
    assert Cards(solution).html(0, "the first").count('height="16.0"') == 3


def test_an_axis_of_flags_names_each_number_as_tables_do():
    figure = rollwise.solve(Search()).plot("value", x="points", y="keys")
    assert list(figure.layout.yaxis.ticktext) == ["0", "red", "blue", "blue|red"]
    assert list(figure.layout.yaxis.tickvals) == [0, 1, 2, 3]


FLAGS = RULES.replace("IntEnum", "IntFlag").replace("RED = 0", "RED = 2").replace("= 7", "= 4")


def test_a_rival_without_a_score_is_told_in_words():
    """A contest shows no made-up number for it, and takes the word where states are typed."""
    contest = create(find("threes"), {"as": "contest", "dice": "1"})
    solution = rollwise.solve(contest)
    assert "rival=unplayed" in str(solution.advise(contest.start()))
    assert "unplayed" in solution.plot("value").to_json()
    words = ("threes", "as=contest", "dice=1")
    rows = output("table", *words, "--where", "rival == unplayed").splitlines()
    assert "-1" not in rows[1].split()
    assert "unplayed" in rows[1].split()
    assert json.loads(output("advise", *words, "--json"))["state"]["rival"] == -1


def test_a_form_has_the_field_texts_of_its_game():
    tiles = create(find("shut-the-box"), {"as": "contest", "tiles": "9"})
    assert tiles.field_text("open", 530) == tiles.inner.field_text("open", 530) != ""


def test_exported_data_have_the_numbers_of_members(sheet, tmp_path):
    output("export", sheet, "--to", "json", "--out", str(tmp_path / "lights.json"))
    states = json.loads((tmp_path / "lights.json").read_text())["states"]
    assert states[0]["state"] == {"light": 0, "seen.0": 0, "seen.1": 7, "steps": 2}


def test_sets_of_flags_have_words(tmp_path):
    path = tmp_path / "flags.py"
    path.write_text(FLAGS.replace("(0, 1, 7)", "(0, 1, 2, 6)"))
    game = find(str(path))()
    words = members_of(game)["light"]
    assert (words["red"], words["green|red"]) == (2, 3)
    assert words["dark_blue|green|red"] == 7
    here = typed_state("light=Red|dark-blue,seen=(0,green|red),steps=0", str, members_of(game))
    assert here == {"light": 6, "seen": (0, 3), "steps": 0}
    asked = ("table", str(path), "--csv", "--where")
    assert output(*asked, "light == 'red|dark_blue'") == output(*asked, "light == 6")
    assert "dark_blue|red " in output("table", str(path), "--where", "light == 6")
    with pytest.raises(UnknownState, match="red, green or dark_blue, or several as in .*not 'x'"):
        typed_state("light=x,steps=1", str, members_of(game))


def test_a_field_of_an_unreadable_type_is_a_number(tmp_path):
    path = tmp_path / "unread.py"
    path.write_text("import enum\n" + RULES.replace("steps: int", "steps: 'enum.nothing'"))
    assert "steps" not in members_of(find(str(path))())
    assert "error" not in output("check", str(path))


def test_truth_values_in_tuples_are_read_as_they_are_printed(tmp_path):
    path = tmp_path / "truths.py"
    rules = RULES.replace("light: Light", "light: bool").replace("Light.RED, (", "True, (")
    path.write_text(rules.replace("(Light.RED, Light.DARK_BLUE)", "(True, False)"))
    state = typed_state("seen=(True,no),light=false,steps=0", str, members_of(find(str(path))()))
    assert state == {"seen": (1, 0), "light": 0, "steps": 0}
    told = output("advise", str(path))
    assert "steps=2" in told
    assert "light=true" in told
    assert "true" in output("table", str(path), "--where", "light == true")
    for short, whole in (
        ("light", "light != 0"),
        ("not light or steps > 0", "light == 0 or steps > 0"),
    ):
        rows = [output("table", str(path), "--where", each) for each in (short, whole)]
        assert rows[0] == rows[1]
    asked = json.loads(output("advise", str(path), "--json"))
    assert asked["state"]["light"] is True
    rows = json.loads(output("table", str(path), "--json"))["rows"]
    assert all(type(row["light"]) is bool for row in rows)


def test_a_set_of_numbers_may_be_typed_for_flags():
    assert typed_state("light={0 2}", str, {"light": {"red": 1}}) == {"light": 5}


def test_sets_of_flags_are_parameters(tmp_path):
    path = tmp_path / "flags.py"
    field = "    lit: Light = Light.RED | Light.GREEN\n\n    players: ClassVar"
    path.write_text(FLAGS.replace("    players: ClassVar", field))
    kind = find(str(path))
    assert kind().parameters == {"lit": "red.green"}
    assert create(kind, {"lit": "none"}).lit == 0
    assert create(kind, {"lit": "red.dark-blue"}).lit == 6
    with pytest.raises(ParameterError, match=r"Light.RED \| Light.GREEN, .*, not 'blue'"):
        create(kind, {"lit": "blue"})
    said = "lit must be none, red, green, dark-blue, red.green, red.dark-blue"
    assert said in refusal("solve", str(path), "lit=blue")
    assert output("solve", str(path), "lit=green").startswith("lights lit=green\n")


def test_rules_of_thumb_tell_members_by_name_and_compute_with_none(sheet):
    graph = rollwise.build(create(find(sheet), {}))
    ask = [{"if": "light >= 7", "do": "1"}, {"if": "light <= 1", "do": "0"}, {"do": "1"}]
    rule = Rule.read({"rule": ask}, graph)
    assert sentence_of(rule, graph) == (
        "Choose 1 if light is dark_blue. Otherwise choose 0 if light is at most green. Otherwise "
        "choose 1."
    )
    columns = {name: np.arange(8, dtype=np.int32) for name in ("light", "steps", "row")}
    texts = [form.text for form in forms_of(columns, {"light"})]
    assert [text for text in texts if "light" in text] == ["light"]
    assert "steps*row" in texts


class Mood(IntEnum):
    CALM = 0
    ANGRY = 1


class Pot(NamedTuple):
    pot: int
    mood: Mood


class Moody(Game):
    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar = ("stop", "roll")

    def start(self):
        return Pot(0, Mood.ANGRY)

    def actions(self, s):
        return (0, 1)

    def reward(self, s, action):
        return 0 if action else s.pot

    def outcomes(self, s, action):
        if action:
            yield 1, AGAIN, Pot(s.pot + 1, Mood.ANGRY)
            yield 1, AGAIN, Pot(s.pot + 2, Mood.CALM)
        else:
            yield 1, END, s


def test_a_field_that_rises_without_an_end_is_told_with_members_by_name():
    with pytest.raises(RulesError, match=r"from pot=1 on \(mood=(calm|angry)\), the action roll"):
        rollwise.solve(Moody())


SETS = """
from typing import NamedTuple

from rollwise import AGAIN, END, Game, bits
from rollwise.bits import size as how_many


class Hive(NamedTuple):
    full: int
    empty: int
    left: int


def is_in(s, comb):
    return bits.has(s.full, comb)


class Bees(Game):
    players = 1
    objective = "maximize"
    full = 3

    def start(self):
        return Hive(0, 62, 2)

    def actions(self, s):
        for comb in range(1, 6):
            if not is_in(s, comb) and how_many(s.empty) > bits.has(self.full, s.left):
                yield comb

    def reward(self, s, action):
        return action

    def outcomes(self, s, action):
        after = Hive(bits.with_member(s.full, action), s.empty & ~(1 << action), s.left - 1)
        yield 1, AGAIN if s.left > 1 else END, after
"""


def test_a_set_that_rules_give_to_bits_is_shown_by_its_members(tmp_path):
    """Without a `field_text`, in helpers too; a count is no set."""
    sheet = tmp_path / "bees.py"
    sheet.write_text(SETS)
    rows = output("table", str(sheet), "--where", "left == 1").splitlines()[1:3]
    assert [row.split("    ")[0].strip() for row in rows] == ["{1}  {2 3 4 5}", "{2}  {1 3 4 5}"]
    game = find(str(sheet))()
    assert [game.field_text("full", n) for n in (0, 6)] == ["none", "1 2"]
    assert game.field_text("left", 2) == ""
    (board,) = start_document(game).boards
    assert board.cells[0] == [["label", "full"], ["label", "{}"]]


def test_a_printed_set_is_read_back_as_the_same_set(tmp_path):
    """In states and conditions, also of Python; a number without braces stays the number."""
    sheet = tmp_path / "bees.py"
    sheet.write_text(SETS)
    typed = "full={2 4},empty={1, 3 5},left=0"
    said = refusal("advise", str(sheet), "--state", typed)
    assert "no play comes to the state full={2 4}, empty={1 3 5}, left=0" in said
    said = refusal("advise", str(sheet), "--state", "full=2 4,empty=1 3 5,left=0")
    assert 'as in "full={},empty={1 2 3 4 5},left=2"' in said
    one = output("advise", str(sheet), "--state", "full={3},empty={1 2 4 5},left=1")
    assert one == output("advise", str(sheet), "--state", "full=8,empty=54,left=1")
    for condition in ("full == {3}", "full in [{3}]", "full == 8", "{3} == full and left == 1"):
        (row,) = output("table", str(sheet), "--where", condition).splitlines()[1:]
        assert row.startswith(" {3}  {1 2 4 5}     1")
    game = find(str(sheet))()
    solution = rollwise.solve(game)
    by_sets = {"full": {3}, "empty": {1, 2, 4, 5}, "left": 1}
    assert solution.find(by_sets) == solution.find((8, 54, 1))
    assert solution.table("empty == {}").is_empty()
    with pytest.raises(ExpressionError, match="{1 x} isn't a set of members of full"):
        solution.table("full == {1 x}")


@pytest.mark.parametrize("name", ["bozo", "pickomino", "shut-the-box", "yatzy", "royal-ur"])
def test_sets_of_bundled_games_are_read_back_as_printed(name):
    game = find(name)()
    words, members = field_words(game), members_of(game)
    fields = [field for field, known in words.items() if isinstance(known, SetWords)]
    assert fields
    for field in fields:
        for number in (0, 1, 2, 6, 70, 530, 2**13 - 1):
            text = words[field].get(number)
            assert typed_state(f"{field}={text}", str, members) == {field: number}
            assert numbered(f"{field} == {text}", members) == f"{field} == {number}"
