"""Mistakes in rules: each an error that names the game, the state and the action."""

from __future__ import annotations

import ast
import copy
import json
import re
import time
import warnings
from dataclasses import FrozenInstanceError, dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl
import pytest
from cli_runner import output, refusal, run

from rollwise import (
    AGAIN,
    END,
    LOSE,
    PASS,
    WIN,
    Game,
    build,
    check,
    parameter,
    policy,
    solve,
    solve_by_layers,
    won_by,
)
from rollwise.analysis.findings import Steps, oddities
from rollwise.builders import CompileWarning
from rollwise.errors import (
    ChanceWarning,
    EndlessPlay,
    ParameterError,
    RulesError,
    TooManyStates,
)
from rollwise.games import available, find
from rollwise.games.craps import Craps
from rollwise.games.pig import Pig, Piglet
from rollwise.games.super_six import SuperSix
from rollwise.graph.naming import OF_SEATS, OF_THROWS, reserved_names
from rollwise.kernels import explore
from rollwise.machine.switches import jit_disabled


class Place(NamedTuple):
    row: int
    column: int


def error_of(game: Game, mode: str = "interpreted", kind: type = RulesError, **more: Any) -> str:
    """The message of the error that building must end with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)  # some mistakes can't be compiled
        with pytest.raises(kind) as caught:
            build(game, mode=mode, **more)
    message = str(caught.value)
    assert message.startswith(f"{game.name}: ")
    assert "\n" not in message
    assert type(caught.value) is kind
    return message


@dataclass(frozen=True)
class Faulty(Game):
    """Sound rules but for one mistake, at row 2, column -4, with the action 1.

    Some sound states of the same row come before it, and as many after it.
    """

    mistake: int = 0
    beside: int = 0
    action_names: ClassVar = ("wait", "blunder")

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "faces", np.array([1, 2, 3]))

    def start(self):
        return Place(0, 0)

    def actions(self, s):
        odd = s.row == 2 and s.column == -4
        if not (odd and self.mistake == 1):
            yield 0
            if odd and self.mistake == 2:
                yield 0
            if odd and self.mistake == 3:
                yield -1
            if odd and self.mistake == 4:
                yield 2**31
            if odd and self.mistake == 5:
                raise ValueError("no such place")
            yield 1

    def outcomes(self, s, action):  # noqa: C901
        odd = s.row == 2 and s.column == -4 and action == 1
        yield 1, LOSE, s
        if s.row == 1:
            for k in range(self.beside):
                yield 1, PASS, Place(2, k)
        if s.row < 3:
            yield 1, PASS, Place(s.row + 1, s.column - 2)
        if s.row == 1:
            for k in range(self.beside):
                yield 1, PASS, Place(2, -5 - k)
        if odd:
            if self.mistake == 6:
                yield -1, WIN, s
            if self.mistake == 7:
                yield 2**62, WIN, s
            if self.mistake == 8:
                yield 1, 6, s
            if self.mistake == 9:
                yield 1, -1, s
            if self.mistake == 10:
                yield 1, END, s
            if self.mistake == 11:
                yield 1, AGAIN, Place(2**31, 0)
            if self.mistake == 12:
                yield 1, AGAIN, Place(0, -(2**31) - 1)
            if self.mistake == 13:
                yield self.faces[1 - s.column], WIN, s
            if self.mistake == 14:
                yield 1 // (s.row - 2), WIN, s
            if self.mistake == 15:
                raise KeyError("missing")


AT = "row=2, column=-4"
ACTION = "with the action blunder"


@pytest.mark.parametrize(
    ("mistake", "parts"),
    [
        (1, ["no action", AT]),
        (2, ["actions() gives wait twice", AT]),
        (3, ["actions() gives -1", AT, "whole number from 0"]),
        (4, ["actions() gives 2147483648", AT]),
        (5, ["actions() fails", AT, "ValueError: no such place"]),
        (6, ["weight -1", AT, ACTION]),
        (7, [f"add up to {2**62 + 2}", AT, ACTION]),
        (8, ["unknown `then` 6", AT, ACTION, "AGAIN, PASS, WIN, LOSE, DRAW, payoff(x)"]),
        (9, ["unknown `then` -1", AT, ACTION]),
        (10, ["END in a two-player game", "END is for games of one player", AT, ACTION]),
        (11, ["row=2147483648", "doesn't fit 32 bits", AT, ACTION]),
        (12, ["column=-2147483649", "doesn't fit 32 bits", AT, ACTION]),
        (13, ["outcomes() fails", AT, ACTION, "IndexError"]),
        (14, ["outcomes() fails", AT, ACTION, "ZeroDivisionError"]),
        (15, ["outcomes() fails", AT, ACTION, "KeyError: 'missing'"]),
    ],
)
def test_mistakes_are_named(mistake, parts, mode):
    for beside in (0, explore.BATCH + 4):
        message = error_of(Faulty(mistake, beside), mode)
        for part in parts:
            assert part in message


@dataclass(frozen=True)
class Empty(Game):
    """Nothing can come of the blunder at row 2, or only what is impossible."""

    impossible: bool = False
    action_names: ClassVar = ("wait", "blunder")

    def start(self):
        return Place(0, 0)

    def actions(self, s):
        yield 0
        if s.row == 2:
            yield 1

    def outcomes(self, s, action):
        if action == 0:
            yield 1, LOSE, s
            if s.row < 3:
                yield 1, PASS, Place(s.row + 1, s.column - 2)
        if self.impossible:
            yield 0, WIN, s


def test_an_action_without_outcomes_is_named(mode):
    message = error_of(Empty(), mode)
    assert f"no outcome in the state {AT} {ACTION}; yield one in every case" in message
    message = error_of(Empty(impossible=True), mode)
    assert f"the weights are all zero in the state {AT} {ACTION}" in message


@dataclass(frozen=True)
class Unfair(Game):
    """Float weights, one of them whatever the test asks for."""

    kind: int = 0

    def __post_init__(self):
        super().__post_init__()
        odd = [0.5, np.nan, np.inf, -0.25, 1e300, -0.0]
        object.__setattr__(self, "weights", np.array(odd))

    def start(self):
        return Place(2, -4)

    def actions(self, s):
        yield 3

    def outcomes(self, s, action):
        yield 0.5, WIN, s
        yield self.weights[self.kind], LOSE, s


@pytest.mark.parametrize(
    ("kind", "said"), [(1, "nan"), (2, "inf"), (3, "-0.25"), (4, "add up to 1e+300")]
)
def test_float_weights_are_checked(kind, said, mode):
    message = error_of(Unfair(kind), mode)
    assert said in message
    assert f"{AT} with the action 3" in message


@pytest.mark.parametrize("max_states", [50, 70_000])
def test_too_many_states(max_states, mode):
    """Ten billion states stop at the limit, soon and without filling the memory."""
    if mode == "interpreted":
        max_states = min(max_states, 5_000)
    begun = time.perf_counter()
    message = error_of(Pig(30_000), mode, TooManyStates, max_states=max_states)
    assert f"more than {max_states:,} states" in message
    assert "max_states=N" in message
    assert re.search(r"\(about \d+\.\d [kM]B for the ones found\)", message)
    assert time.perf_counter() - begun < 5


class Sky(IntEnum):
    CLEAR = 0
    DARK = 1


class Weather(NamedTuple):
    sky: Sky
    late: bool


@dataclass(frozen=True)
class Walk(Game):
    """Rules that compare objects; only those of parameters keep their types."""

    sky: Sky = Sky.CLEAR

    def start(self):
        return Weather(Sky.CLEAR, False)

    def actions(self, s):
        yield 0
        if self.sky is Sky.DARK or s.sky is None:
            yield 1

    def outcomes(self, s, action):
        yield 1, WIN, s


def _of_enumeration(self, s):
    return (0, 1) if s.sky is not Sky.DARK else (0,)


def _of_bool(self, s):
    return [0 for _ in range(2) if s.late is False]


def _of_case(self, s):
    match s.late:
        case True:
            return (0,)
    return (1,)


@policy
def _of_policy(self, s):
    return 0 if s.sky is Sky.CLEAR else 1


@pytest.mark.parametrize(
    ("actions", "text"),
    [
        (_of_policy, "'s.sky is Sky.CLEAR' (test_rules_errors.py, line "),
        (_of_enumeration, "'s.sky is not Sky.DARK' (test_rules_errors.py, line "),
        (_of_bool, "'s.late is False' (test_rules_errors.py, line "),
        (_of_case, "'case True' (test_rules_errors.py, line "),
    ],
)
def test_fields_are_compared_by_number(mode, actions, text):
    build(Walk(), mode=mode)
    name = "at_dawn" if actions is _of_policy else "actions"
    message = error_of(type("Walk", (Walk,), {name: actions})(), mode)
    assert text in message
    assert message.endswith(
        "reach the rules as whole numbers; write == or !=, or after case 1 or 0"
    )


@pytest.mark.parametrize(
    ("field", "remedy"),
    [
        (None, "a number that the field hasn't elsewhere"),
        ("dark", "an IntEnum"),
        (((1, 2), (3, 4)), "one tuple"),
        (0.5, "a smaller unit"),
    ],
)
def test_fields_that_are_no_numbers_have_a_remedy(field, remedy):
    game = type("Walk", (Walk,), {"start": lambda self: Weather(field, False)})()
    assert remedy in error_of(game)


@dataclass(frozen=True)
class Spring(Game):
    """From the second state on, actions or outcomes come without end."""

    of_outcomes: bool = True

    def start(self):
        return Place(0, 0)

    def actions(self, s):
        yield 0
        k = 1
        while s.row == 1 and not self.of_outcomes:
            yield k
            k += 1

    def outcomes(self, s, action):
        yield 1, LOSE, s
        if s.row == 0:
            yield 1, PASS, Place(1, 0)
        k = 0
        while s.row == 1 and self.of_outcomes:
            yield 1, PASS, Place(2, k)
            k += 1


@pytest.mark.parametrize("of_outcomes", [True, False])
def test_a_loop_that_yields_for_ever_is_stopped(mode, of_outcomes, monkeypatch):
    monkeypatch.setattr("rollwise.builders.limits.MOST_YIELDED", 5_000)
    message = error_of(Spring(of_outcomes), mode)
    what = "outcomes" if of_outcomes else "actions"
    assert f"{what}() yields more than 5,000 {what} in the state row=1, column=0" in message


# ---- rules that can be solved but can't be meant: who says so, and that nobody cries wolf


RACE = """
import random
import time
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np
import polars as pl

from rollwise import AGAIN, PASS, WIN, Game

RANDOM = random.Random(5)
CALLS = []

class State(NamedTuple):
    mine: int
    rival: int

    def luck_here(self):
        return random.randint(1, 2)

    @property
    def day(self):
        return datetime.now().day

def die():
    return random.randint(1, 2)

@dataclass(frozen=True)
class Own(Game):
    length: int = 8

    def start(self):
        return State(1, 2)

    def actions(self, s):
        yield 0
        yield 1

    def luck(self):
        return random.randint(1, 2)

    def outcomes(self, s, action):
        for face in range(1, 3 + action):
            if s.mine + face >= self.length:
                yield 1, WIN, s
            else:
                yield 1, PASS, State(s.rival, s.mine + face)
"""
SWAPPED = "State(s.rival, s.mine + face)"


def own(folder: Path, old: str = "", new: str = "") -> str:
    assert old in RACE
    (folder / "own.py").write_text(RACE.replace(old, new))
    return f"{folder / 'own.py'}:Own"


def warnings_of(game: str) -> list[str]:
    findings = json.loads(output("check", game, "--json"))["findings"]
    return [f["text"] for f in findings if f["level"] == "warning" and f["topic"] == "fields"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("State(s.mine + face, s.rival)", "the field rival is 2 in every state"),
        # captures: the rival's field changes, but a PASS doesn't exchange it
        (
            "State(s.mine + face, 0 if s.mine + face == s.rival else s.rival)",
            "a PASS leaves the field rival where it is",
        ),
    ],
)
def test_a_forgotten_swap_is_told(tmp_path, monkeypatch, written, said):
    monkeypatch.setattr("rollwise.analysis.check.compare_builders", lambda *arguments: None)
    game = own(tmp_path, SWAPPED, written)
    assert [said in text and "exchange the fields" in text for text in warnings_of(game)] == [True]
    done = run("solve", game)
    assert done.returncode == 0
    assert done.stderr.startswith(f"rollwise: check has something to say: {said}")
    assert done.stderr.endswith(f"(rollwise check {game})\n")
    assert said in json.loads(output("solve", game, "--json"))["check"][0]


def test_fields_of_the_gallery_are_no_news_to_their_players():
    done = run("solve", "ludo", "pieces=1")  # the field home is 0 in every state
    assert (done.returncode, done.stderr) == (0, "")


class Seats(NamedTuple):
    faces: tuple[int, int, int]
    turn: int


class OpenDice(Game):
    """Three players throw a die each, in view of all; the mover has none yet."""

    players = 3

    def start(self):
        return Seats((0, 0, 0), 0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        for face in (1, 2):
            faces = (s.faces[1], s.faces[2], face)
            then = won_by(2) if face == 2 else won_by(0)
            yield 1, then if s.turn == 2 else PASS, Seats(faces, s.turn + 1)


def test_a_part_of_a_tuple_may_never_change():
    """Where other parts do, the tuple is needed."""
    graph = solve(OpenDice()).graph
    assert (graph.fields[:, 0] == 0).all()
    assert oddities(Steps.of_graph(graph, OpenDice())) == []
    texts = [finding.text for finding in check(OpenDice()).findings]
    assert "every field takes more than one value" in texts


def test_the_remedy_for_an_oddity_names_the_parameters():
    done = run("solve", "frozen-lake", "as=within", "turns=5")
    assert "(rollwise check frozen-lake as=within turns=5)" in done.stderr


class Step(NamedTuple):
    number: int


class OneSided(Game):
    """Three steps of the first player; the second never moves."""

    def start(self):
        return Step(0)

    def actions(self, s):
        return (1, 2)

    def outcomes(self, s, action):
        for face in (1, 2):
            yield (
                1,
                (WIN if face == action else LOSE) if s.number == 2 else AGAIN,
                Step(s.number + 1),
            )


def test_rules_without_a_turn_of_the_second_player_are_told():
    said = str(check(OneSided()))
    assert "turns: only the first player moves" in said
    assert "PASS" in said
    assert "only the first player moves" not in str(check(Piglet()))


def test_nothing_is_said_of_sound_rules(tmp_path):
    game = own(tmp_path)
    done = run("solve", game, "--json")
    assert json.loads(done.stdout)["check"] == []
    assert done.stderr == ""
    for sound in (Pig(10), Piglet(), SuperSix(5), Craps()):
        graph = build(sound, mode="interpreted")
        assert oddities(Steps.of_graph(graph, sound)) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "for face in range(1, 3 + action):",
            "for face in (random.randint(1, 2),):",
            "outcomes() draws with random.randint",
        ),
        ("yield 1\n", "yield die()\n", "actions() draws with random.randint"),
        ("yield 1\n", "yield self.luck()\n", "actions() draws with random.randint"),
        ("yield 1\n", "yield s.luck_here()\n", "actions() draws with random.randint"),
        ("yield 1\n", "yield 1 + s.day % 2\n", "actions() reads datetime.now"),
        ("yield 1\n", "yield int(np.random.randint(3, 5))\n", "actions() draws with np.random"),
        ("yield 1\n", "yield RANDOM.randint(1, 2)\n", "actions() draws with RANDOM"),
        ("yield 1\n", "yield 1 + int(time.time()) % 2\n", "actions() reads time.time"),
        ("yield 1\n", "yield 1 + datetime.now().day % 2\n", "actions() reads datetime.now"),
        (
            "for face in range(1, 3 + action):",
            "CALLS.append(1)\n        for face in range(1, 2 + min(len(CALLS) // 60, 1)):",
            "the rules don't say the same twice in the state ",
        ),
        (  # at every other call
            "for face in range(1, 3 + action):",
            "CALLS.append(1)\n        for face in range(1, 3 + len(CALLS) % 2):",
            "the rules don't say the same twice in the state ",
        ),
    ],
)
def test_rules_that_differ_from_time_to_time_are_refused(tmp_path, old, new, said):
    message = refusal("solve", own(tmp_path, old, new))
    assert said in message
    assert "with its weight" in message


@pytest.mark.parametrize("discount", ["", "0.5", "0.9"])
@pytest.mark.parametrize(
    ("chances", "said"),
    [
        ("0.5, 0.2", "with the action 0 add up to 0.7, not to 1"),
        ("0.75, 0.25", ""),
        ("0.1, 0.9 + 1e-16", ""),
        ("Fraction('1/3'), Fraction('1/3')", "with the action 0 add up to 0.666667, not to 1"),
        ("Fraction('1/3'), Fraction('2/3')", ""),
        ("Fraction('3/2'), Fraction('1/4')", ""),
        ("1.5, 0.25", ""),  # weights
        ("1, 2", ""),
    ],
)
def test_chances_that_do_not_add_up_to_one_are_told(tmp_path, chances, said, discount):
    """`check` tells them, and so does `solve`; a discount isn't a part of them."""
    win, lose = chances.split(", ")
    rules = (
        f"yield {win}, WIN, s\n        yield {lose}, LOSE, s\n"
        "        for face in range(1, 1 + action):"
    )
    game = own(tmp_path, "for face in range(1, 3 + action):", rules)
    path = Path(game.removesuffix(":Own"))
    path.write_text(
        path.read_text()
        .replace(
            "from rollwise import", "from fractions import Fraction\nfrom rollwise import LOSE,"
        )
        .replace("yield 1, WIN", "yield 0, WIN")
        .replace("yield 1, PASS", "yield 0, PASS")
        .replace(
            "    def start",
            f"    discount = {discount}\n\n    def start" if discount else "    def start",
        )
    )
    texts = [f["text"] for f in json.loads(run("check", game, "--json").stdout)["findings"]
             if f["topic"] == "chances"]  # fmt: skip
    assert [said in text for text in texts] == ([True] if said else [])
    assert run("solve", game).stderr.count("not to 1") == bool(said)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solve(find(game)())
    told = [str(one.message) for one in caught if one.category is ChanceWarning]
    assert [said in text for text in told] == ([True] if said else [])


class WaitInTheYard(Game):
    """Go into the yard; there wait or leave."""

    players = 1
    action_names = ("go", "wait", "leave")

    def start(self):
        return Place(0, 0)

    def actions(self, s):
        return (1, 2) if s.row else (0,)

    def outcomes(self, s, action):
        yield 1, WIN if action == 2 else AGAIN, Place(1, 0)


def test_endless_play_is_told_by_the_states_and_actions_of_its_rounds():
    texts = [finding.text for finding in check(WaitInTheYard()).findings]
    (told,) = [text for text in texts if "go round" in text]
    assert "in 1 state: row=1, column=0 with the action wait. " in told
    with pytest.raises(EndlessPlay, match="value: row=1, column=0 with the action wait. "):
        solve(WaitInTheYard())


class Ladder(NamedTuple):
    place: int


class Slippery(Game):
    """A climb whose chances add up to 0.9."""

    players = 2

    def start(self):
        return Ladder(0)

    def actions(self, s):
        yield 0

    def progress(self, s):
        return s.place

    def outcomes(self, s, action):
        for face in (1, 2):
            yield 0.45, WIN if s.place + face >= 6 else PASS, Ladder(s.place + face)


def test_chances_of_games_for_three_and_by_layers_are_told_too():
    three = type("Three", (Slippery,), {"players": 3})
    with pytest.warns(ChanceWarning, match="add up to 0.9, not to 1"):
        solve(three())
    if not jit_disabled():
        with pytest.warns(ChanceWarning, match="add up to 0.9, not to 1"):
            solve_by_layers(Slippery())


def test_an_action_without_a_name_is_told(tmp_path):
    """Where others have one: a tuple of names begins with action 0."""
    names = "    action_names = ('one',)\n\n    def start"
    findings = json.loads(output("check", own(tmp_path, "    def start", names), "--json"))
    (said,) = [f["text"] for f in findings["findings"] if f["topic"] == "names"]
    assert said.startswith("the action 1 has no name")
    assert not [f for f in check(Pig(10)).findings if f.topic == "names"]


def test_names_of_actions_that_depend_on_the_state_are_told(tmp_path):
    names = "    def action_text(self, s, action):\n        return f'{action} from {s.mine}'\n"
    done = run("solve", own(tmp_path, "    def outcomes", f"{names}\n    def outcomes"), "--json")
    assert "action_text() calls the action" in json.loads(done.stdout)["check"][0]
    assert "wherever an action has this number" in done.stderr


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("player = 1", "no rule reads player; did you mean players?"),
        ("Players = 1", "no rule reads Players; did you mean players?"),
        ("def rewards(self, s, action): return 1", "no rule reads rewards; did you mean reward?"),
        (
            "def duration(self, s, action): return 2",
            'duration() is never called: it is for objective = "average"',
        ),
        (
            "def throw_text(self, s, throw): return 'none'",
            "throw_text() is never called: it is for games with throws",
        ),
    ],
)
def test_a_misspelled_name_is_told(tmp_path, written, said):
    """`check` tells it, and so does `solve`; rules without it are another game."""
    game = own(tmp_path, "    length: int = 8\n", f"    length: int = 8\n    {written}\n")
    findings = json.loads(output("check", game, "--json"))["findings"]
    assert [f["text"] for f in findings if f["topic"] == "names"] == [said]
    assert said in run("solve", game).stderr


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("self.lenght", "length"),
        ("s.mien", "mine"),
        ("math.sqr(4)", "sqrt"),
        ("Range(3)", "range"),
        ("type(s)(mien=1)", "mine"),
        ("s._replace(mien=1)", "mine"),
        ("from rollwise import parameter; parameter(1, at_last=0)", "at_least"),
    ],
)
def test_the_nearest_attribute_or_name_is_told(tmp_path, wrong, meant):
    given = own(
        tmp_path,
        "    def outcomes(self, s, action):\n",
        f"    def outcomes(self, s, action):\n        import math\n        {wrong}\n",
    )
    assert f"; did you mean {meant}? (" in run("solve", given).stderr


def test_a_helper_with_a_similar_name_is_no_mistake(tmp_path):
    read = "    player = 1\n\n    def outcomes(self, s, action):\n        self.player\n"
    game = own(tmp_path, "    def outcomes(self, s, action):\n", read)
    assert run("solve", game).stderr == ""


@pytest.mark.parametrize("name", ["actions", "outcomes"])
def test_a_missing_rule_is_told_with_its_arguments(tmp_path, name):
    message = refusal("solve", own(tmp_path, f"def {name}(", f"def {name[:-1]}("))
    assert f"own: it has no {name}(); def {name}(self, s" in message
    assert "yields" in message


class Kept(NamedTuple):
    object: int


class Keeper(Game):
    """NumPy warns of asking it for a name that is a field here."""

    players = 1

    def start(self):
        return Kept(1)

    def actions(self, s):
        return (int(np.abs(s.object)),)

    def outcomes(self, s, action):
        yield action, WIN, s


def test_names_of_fields_are_not_asked_of_modules():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert build(Keeper()).n_states == 1


class Three(NamedTuple):
    left: int


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (
            ("a",),
            ["the actions 1, 2, 3 have no name; action_names begins with the name of action 0"],
        ),
        ((), []),
        (
            {1: "a", 2: "b", 3: "a"},
            ["the actions 1, 3 have one name, 'a', also in the state left=2"],
        ),
        ({1: "a", 2: "b", 3: "c"}, []),
        ({1: "a", 2: "b"}, ["the action 3 has no name"]),
    ],
    ids=str,
)
def test_names_that_are_too_few_or_twice_there_are_noted(names, said):
    class Steps(Game):
        players = 1
        action_names = names

        def start(self):
            return Three(2)

        def actions(self, s):
            return (1, 2, 3)

        def outcomes(self, s, action):
            yield 1, WIN, s
            yield action, (AGAIN if s.left else LOSE), Three(s.left - 1)

    found = [f.text for f in check(Steps()).findings if f.topic == "names"]
    assert len(found) == len(said)
    for text, start in zip(found, said, strict=True):
        assert text.startswith(start)


@pytest.mark.parametrize("objective", ["maximize", "average"])
def test_check_reports_a_fault_that_is_met_as_the_game_is_made(tmp_path, objective):
    """Forms and caps ask the rules before the check does."""
    sheet = tmp_path / "faulty.py"
    sheet.write_text(f'''
from typing import NamedTuple
from rollwise import AGAIN, END, Game

class At(NamedTuple):
    n: int

class Rising(Game):
    players, objective = 1, "{objective}"
    def start(self): return At(0)
    def actions(self, s): yield from (0, 1)
    def reward(self, s, action): return 1 / 0 if action else s.n
    def outcomes(self, s, action): yield 1, AGAIN if action else END, At(s.n + 1 if action else 0)
''')
    done = run("check", str(sheet))
    assert done.returncode == 1, done.stderr
    assert done.stdout.lstrip().startswith("error  rules: rising: ")


def test_parameters_need_no_decorator():
    class Race(Craps):
        laps: int = parameter(3, at_least=1)

    @dataclass(frozen=True)
    class Relay(Race):
        legs: int = parameter(2)

    class Sprint(Relay):
        legs: int = parameter(1)

    assert [spec.name for spec in Sprint().specs] == ["laps", "legs"]
    assert repr(Sprint(laps=5)).endswith("Sprint(laps=5, legs=1)")
    assert (Race(4), Relay(4).legs, Sprint.legs) == (Race(laps=4), 2, 1)
    assert copy.copy(Race(4)) == replace(Race(), laps=4)
    with pytest.raises(FrozenInstanceError):
        Race().laps = 4
    with pytest.raises(ParameterError, match="laps must be"):
        Race(0)


# ---- games with hidden dice or simultaneous choices have the findings of other games

BLUFF = '''
from typing import NamedTuple
from rollwise import AGAIN, LOSE, PASS, WIN, Game


class Cup(NamedTuple):
    die: int
    bid: int
    lives: int
    theirs: int


class Bluff(Game):
    """A die under a cup, a bid, and a call that costs a life."""

    def start(self):
        return Cup(0, 0, 5, 5)

    def deal(self, s):
        if s.die == 0:
            for face in range(1, 7):
                yield 1, s._replace(die=face)

    def hidden(self, s):
        return ("die",) if s.bid else ()

    def actions(self, s):
        return (0,) if s.bid else (11, 12)

    def outcomes(self, s, action):
        if not s.bid:
            yield 1, PASS, Cup(s.die, action, s.theirs, s.lives)
        elif s.die < 3 * (s.bid - 10):
            after = Cup(0, 0, s.theirs - 1, s.lives)
            yield 1, PASS if s.theirs > 1 else WIN, after
        else:
            after = Cup(0, 0, s.lives - 1, s.theirs)
            yield 1, AGAIN if s.lives > 1 else LOSE, after
'''

TOGETHER = '''
from typing import NamedTuple
from rollwise import AGAIN, LOSE, WIN, Game


class Match(NamedTuple):
    mine: int
    theirs: int


class Pennies(Game):
    """Two show pennies, and the first to two points wins."""

    def start(self):
        return Match(0, 0)

    def together(self, s):
        return (0, 1), (0, 1)

    def outcomes(self, s, both):
        alike = both[0] == both[1]
        for chance, gain in ((0.5, 1), (0.5, 2)):
            after = Match(s.mine + alike * gain, s.theirs + (not alike) * gain)
            yield chance, WIN if after.mine > 1 else LOSE if after.theirs > 1 else AGAIN, after
'''


@pytest.mark.parametrize(
    ("rules", "old", "new", "level", "said"),
    [
        (BLUFF, "", "", "ok", "every field takes more than one value"),
        (
            *(BLUFF, "yield 1, s._replace(die=face)"),
            "yield 1, s._replace(die=face)\n                return",
            *("warning", r"loops: deal\(\) gives the first face of its loop alone \(line \d+\)"),
        ),
        (
            *(BLUFF, "yield 1, s._replace(die=face)", "return [(1, s._replace(die=face))]"),
            *("warning", r"loops: deal\(\) gives the first face of its loop alone"),
        ),
        (
            *(BLUFF, "action, s.theirs, s.lives)", "action, s.lives, s.theirs)"),
            *("warning", "fields: a PASS leaves the field theirs where it is"),
        ),
        (
            *(
                BLUFF,
                "range(1, 7):\n                yield 1",
                "range(1, 7):\n                yield 0.15",
            ),
            *("warning", r"chances: .*die=0, bid=0.* with deal\(\) add up to 0.9, not to 1"),
        ),
        (
            *(BLUFF, "def actions", "action_texts = 1\n\n    def actions"),
            *("warning", "names: no rule reads action_texts; did you mean action_text"),
        ),
        (
            *(BLUFF, "PASS", "AGAIN"),
            *("warning", "turns: only the first player moves"),
        ),
        (TOGETHER, "", "", "ok", "every field takes more than one value"),
        (
            *(TOGETHER, "(0.5, 2)", "(0.25, 2)"),
            *("warning", "chances: .*mine=0, theirs=0 with the actions 0 and 0 add up to 0.75"),
        ),
        (
            *(TOGETHER, "(not alike) * gain", "0"),
            *("warning", "fields: the field theirs is 0 in every state; leave it out"),
        ),
        (
            *(TOGETHER, "WIN if after.mine > 1 else LOSE", "DRAW if after.mine > 1 else DRAW"),
            *("warning", "stakes: every play that ends is drawn, whatever is done"),
        ),
    ],
)
def test_findings_about_hidden_games(tmp_path, rules, old, new, level, said):
    """One path with other games: the same texts, about deals and pairs of actions too."""
    text = rules.replace(old, new) if old else rules
    (tmp_path / "own.py").write_text(text.replace("AGAIN,", "AGAIN, DRAW,", 1))
    found = json.loads(run("check", "own.py", "--json", cwd=tmp_path).stdout)["findings"]
    lines = [f"{one['level']} {one['topic']}: {one['text']}" for one in found]
    assert any(re.search(f"^{level} .*{said}|^{level} {said}", line) for line in lines), lines
    if level == "ok":
        assert {one["level"] for one in found} == {"ok"}


@pytest.mark.parametrize("name", sorted(available(hidden=True).keys() - available().keys()))
def test_hidden_games_of_the_gallery_have_no_findings(name):
    found = json.loads(output("check", name, "--json"))["findings"]
    assert {one["level"] for one in found} == {"ok"}, found


class Phases(NamedTuple):
    asks: int
    mine: int
    rival: int


class Phased(Game):
    """A turn in two parts; its end may set the rival's field, and forgets the exchange."""

    def start(self):
        return Phases(0, 0, 30)

    def actions(self, s):
        return (1, 2)

    def outcomes(self, s, action):
        if not s.asks:
            yield 1, AGAIN, Phases(1, s.mine, s.rival)
        for face in (1, 2, 3) if s.asks else ():
            after = s.mine + face * action
            rival = 40 if after == 4 else s.rival
            yield 1, WIN if after > 9 else PASS, Phases(0, after, rival)


def test_a_field_that_tells_the_parts_of_a_turn_is_no_seat():
    """It changes at every PASS like the seat of the mover, but also within a turn."""
    assert "a PASS leaves the field rival where it is" in str(check(Phased()))


def test_loops_that_end_in_their_first_round_are_told(tmp_path):
    """Also in helpers, and where the rules have an error; a search that goes on isn't told."""
    loop = "for face in range(1, 3 + action):"
    game = own(tmp_path, loop, f"{loop}\n            if face == 9:\n                break")
    assert "loops:" not in output("check", game)
    text = Path(game.partition(":")[0]).read_text()
    first = "def first(faces):\n    for one in faces:\n        return one\n\n\n"
    text = first + text.replace("range(1, 3 + action)", "range(1, 3 + first((action,)))")
    (tmp_path / "once.py").write_text(text)
    said = output("check", f"{tmp_path / 'once.py'}:Own")
    assert "loops: first() gives the first one of its loop alone (line 2)" in said
    goes_on = "    for one in faces:\n        if one == 9:\n            continue\n"
    (tmp_path / "once.py").write_text(text.replace("    for one in faces:\n", goes_on))
    assert "loops:" not in output("check", f"{tmp_path / 'once.py'}:Own")


# ---- names of fields that are columns of tables


def with_field(
    name: str, *, has_throws: bool = False, column: dict[str, str] | None = None
) -> Game:
    """A count-down by 1 or 2, whose field has a given name."""
    kind = NamedTuple("Count", [(name, int), ("turns", int)])

    class CountDown(Game):
        players = 1
        column_names = column or {}

        def start(self):
            return kind(5, 0)

        def actions(self, s, *throw):
            return (1, 2)

        def outcomes(self, s, *given):
            left = s[0] - given[-1]
            for face in (0, 1):
                over = left - face <= 0
                then = (WIN if left == face else LOSE) if over else AGAIN
                yield 1, then, kind(max(left - face, 0), s.turns + 1)

    if has_throws:
        CountDown.throws = lambda self, s: iter([(1, 1), (1, 2)])
    return CountDown()


def refused_name(game: Game, name: str) -> dict[str, str]:
    """The column names that the refusal of a field proposes."""
    with pytest.raises(RulesError) as caught:
        solve(game)
    told = str(caught.value)
    assert f"the field {name!r} of the state has the name of" in told
    return ast.literal_eval(re.search(r"column_names = (\{.*\})$", told)[1])


@pytest.mark.parametrize("name", reserved_names(2, has_throws=True))
@pytest.mark.parametrize("method", [None, "exact", "sampled", "linear-programming"])
def test_a_reserved_name_of_a_field_is_refused_with_a_remedy(name, method):
    """The proposed name of the column is that of no column, whatever the method adds."""
    has_throws = name in OF_THROWS
    remedy = refused_name(with_field(name, has_throws=has_throws), name)
    assert [*remedy] == [name]
    game = with_field(name, has_throws=has_throws, column=remedy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        solution = solve(game, **({} if method is None else {"method": method}))
    table = solution.table()
    assert table.columns[0] == remedy[name]
    assert set(table[remedy[name]]) <= set(range(6))
    assert set(table.columns[2:]) <= set(reserved_names(2, has_throws=True))


@pytest.mark.parametrize("word", OF_SEATS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_tuple_with_the_name_of_the_results_of_seats(word, players):
    """The table of three showed their chances in the place of the fields."""
    kind = NamedTuple("Scores", [(word, tuple), ("turns", int)])

    class Race(Game):
        column_names: ClassVar = {}

        def start(self):
            return kind((0,) * players, 0)

        def actions(self, s):
            return (1, 2)

        def outcomes(self, s, action):
            for face in (0, 1):
                after = s[0][0] + action + face
                yield 1, WIN if after >= 4 else PASS, kind((*s[0][1:], after), 0)

    Race.players = players
    if players > 2:
        Race.column_names = refused_name(Race(), f"{word}.0")
    table = solve(Race()).table()
    names = [Race.column_names.get(f"{word}.{k}", f"{word}.{k}") for k in range(players)]
    assert all(table[name].dtype == pl.Int32 for name in names)


def test_names_given_to_columns_stay_beside_the_proposed_ones():
    game = with_field("left", column={"left": "value", "turns": "moves"})
    assert refused_name(game, "value") == {"left": "own_value", "turns": "moves"}
