"""The page that plays: what its scripts find is held against Python, state by state."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import shutil
import struct
import subprocess
import sys
import warnings
import zlib
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from tests.little_games import HostileNames
from tests.throwing import Runners

import rollwise
from rollwise import AGAIN, DRAW, LOSE, PASS, WIN, Game, payoff, policy, won_by
from rollwise.answer.average import with_best_rate
from rollwise.answer.references import Policies
from rollwise.coach import Session, Table, read_records, replay
from rollwise.documents.played import Figures
from rollwise.errors import UsageError
from rollwise.games import available, find
from rollwise.games.chicago import Chicago
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.hare_and_tortoise import HareAndTortoise
from rollwise.games.pig import Pig, Piglet, TwoDicePig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.games.yahtzee import Yahtzee
from rollwise.numbers.printed import with_minus
from rollwise.page import TooLargeForPage, deflated, page, script
from rollwise.page.document import document, goal
from rollwise.words import Narrator


class Mood(IntEnum):
    SAD = 0
    HAPPY = 1


class Day(NamedTuple):
    mood: Mood
    days: int


@dataclass(frozen=True)
class Moods(Game):
    """A member of an enumeration in a position, and an action without a choice or a name."""

    def start(self):
        return Day(Mood.SAD, 0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        for mood in Mood:
            yield 1, PASS if s.days < 2 else WIN, Day(mood, s.days + 1)


class Left(NamedTuple):
    crumbs: int


@dataclass(frozen=True)
class Crumbs(Game):
    """Payoffs that are tiny."""

    def start(self):
        return Left(4)

    def actions(self, s):
        return range(1, 3)

    def outcomes(self, s, action):
        for ways, taken in ((5, action), (1, 1)):
            left = s.crumbs - taken
            yield ways, payoff(1e-4) if left <= 0 else PASS, Left(max(left, 0))


GAMES = {
    "piglet": Piglet(target=4),
    "crumbs": Crumbs(),
    "pig": Pig(target=9),
    "two-dice-pig": TwoDicePig(target=6, sides=3),
    "super-six": SuperSix(sticks=3),
    "threes": Threes(dice=3),
    "dice-blackjack": DiceBlackjack(),
    "hare-and-tortoise": HareAndTortoise(steps=8),
    "shut-the-box": ShutTheBox(tiles=4),
    "royal-ur": RoyalUr(pieces=1),
    "runners": Runners(),
    "chase": rollwise.Chase(Threes(dice=2), target=4),
    "contest": rollwise.Duel(Threes(dice=2)),
    "names": HostileNames(),
    "moods": Moods(),
}
ROOM = Path(rollwise.__file__).parent / "page"
KingMaker = find(str(Path(__file__).parents[1] / "examples" / "king_maker.py"))


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Runs `page_logic.js` on a game, in Node."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("Node isn't installed, which runs the scripts of the page")
    folder = tmp_path_factory.mktemp("page")
    for source in (*ROOM.glob("*.js"), Path(__file__).parent / "page_logic.js"):
        shutil.copy(source, folder)
    (folder / "package.json").write_text('{"type": "module"}')

    known: dict[rollwise.Solution, Path] = {}

    @cache
    def run(solution: rollwise.Solution, *asked: str) -> Any:
        if solution not in known:
            known[solution] = folder / f"game{len(known)}.txt"
            known[solution].write_text(deflated(document(solution)))
        command = [program, str(folder / "page_logic.js"), str(known[solution]), *asked]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="module", params=GAMES)
def solution(request: pytest.FixtureRequest) -> rollwise.Solution:
    return rollwise.solve(GAMES[request.param])


def states_by_row(found: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {(*one["row"], *(one["thrown"] or ())): one for one in found}


def key_of(solution: rollwise.Solution, state: int) -> tuple[int, ...]:
    here = solution.graph.view[state]
    if solution.graph.throws is None:
        return solution.graph.row(state)
    return (*here.fields, *here.throw)


def test_every_state_is_what_python_says(solution, node):
    graph, narrator = solution.graph, Narrator(solution.graph, solution.game)
    figures = Figures.of(solution)
    found = states_by_row(node(solution, "states"))
    assert len(found) == graph.n_states
    for state in graph.view:
        here = found[key_of(solution, state.index)]
        assert here["found"]
        assert here["position"] == narrator.position(state.position.index)
        cells = [
            [[*cell[:2], [*cell.numbers]] for cell in row] for row in narrator.cells(state.index)
        ]
        assert here["cells"] == cells
        assert here["shown"] == ("" if cells else narrator.board(state.index))
        assert here["value"] == pytest.approx(solution.values[state], abs=1e-12)
        assert here["level"] == with_minus(figures.level(here["value"]))
        assert state.action_range[here["best"]] == solution.best_actions[state]
        unit = solution.game.action_unit  # of the actions without a name
        named = [
            f"{name} {unit[name != '1']}" if unit and name.isdecimal() else name
            for name in state.action_names
        ]
        assert [one["name"] for one in here["choices"]] == named
        advice = solution.choices_in(np.array([state.index]))
        for action, one, value, cost, is_best in zip(
            state.actions, here["choices"], *advice[1:], strict=True
        ):
            assert one["value"] == pytest.approx(value, abs=1e-12)
            assert one["cost"] == pytest.approx(cost, abs=1e-12)
            assert one["isBest"] == is_best
            assert one["level"] == with_minus(figures.level(one["value"]))
            assert one["text"] == figures.cost(one["cost"])
            assert len(one["outcomes"]) == len(action.outcomes)
            for outcome, there in zip(action.outcomes, one["outcomes"], strict=True):
                assert there["weight"] == outcome.weight
                assert there["chance"] == outcome.chance
                assert there["isOver"] == outcome.is_over
                assert there["passes"] == outcome.passes
                assert there["worth"] == pytest.approx(outcome.worth(solution.values), abs=1e-12)
                if outcome.next_state is not None:
                    assert (
                        there["row"] == list(key_of(solution, outcome.target))[: len(there["row"])]
                    )
                assert there["text"] == narrator.outcome_text(action.index, outcome.number)


def test_figures_have_the_digits_of_the_stake():
    figures = Figures("expected payoff", "win", 0.0, stake=2e-4)
    assert figures.level(-1e-4) == "-0.000100"
    assert figures.cost(5e-6) == "0.000005"
    assert figures.cost(1e-9) == "<0.000001"


@pytest.mark.parametrize("game", [Pig(target=6, players=3), KingMaker()], ids=["pig", "king-maker"])
def test_an_equilibrium_is_what_python_says(node, game):
    """Values of all seats, looked ahead by the profile, which may mix actions."""
    solution = rollwise.solve(game)
    found = states_by_row(node(solution, "states"))
    seats = solution.profile.as_values(solution.profile.values)
    for state in solution.graph.view:
        here = found[key_of(solution, state.index)]
        assert here["worths"] == pytest.approx(seats[state.index].tolist(), abs=1e-10)
        choices = solution.choices_in(np.array([state.index]))
        for one, value, cost in zip(here["choices"], choices.values, choices.regret, strict=True):
            assert one["value"] == pytest.approx(value, abs=1e-10)
            assert one["cost"] == pytest.approx(cost, abs=1e-10)
    played = node(solution, "game", "3", "optimal", "random", "optimal")
    assert played["isOver"]
    ends = [ledger["result"] for ledger in played["ledgers"]]
    parts = [
        ledger["start"] + sum(ledger["luck"]) + sum(ledger["skill"]) for ledger in played["ledgers"]
    ]
    assert ends == pytest.approx(parts, abs=1e-10)


def test_perfect_play_against_policies_is_what_seats_say(node):
    """The mean over the seats of its chance, as `evaluate` has it for each seat."""
    game = Pig(target=6, players=3)
    solution = rollwise.solve(game)
    shares = node(solution, "head")["shares"]
    for name in ("hold-at-20", "random"):
        seats = [[name] * 3 for _ in range(3)]
        for seat in range(3):
            seats[seat][seat] = "optimal"
        won = [rollwise.evaluate(solution, seats[k]).win_probabilities[k] for k in range(3)]
        assert shares[name] == pytest.approx(np.mean(won), abs=1e-10)


class Turns(NamedTuple):
    turn: int


@dataclass(frozen=True)
class Sharing(Game):
    """Three players; the first turn ends in a win, a loss, or one of two shared wins."""

    players: ClassVar = 3

    def start(self):
        return Turns(0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        yield 1, WIN, s
        yield 1, won_by(1, 2), s
        yield 1, won_by(0, 2), s
        yield 1, DRAW, s


def test_wins_shared_by_three_players_are_no_losses(node):
    """-1/3 is a third of a win, for each of three players."""
    solution = rollwise.solve(Sharing())
    assert node(solution, "results", "1", "-1", "-0.3333333333333333", "0", "1") == [2, 2, 1]
    (choice,) = node(solution, "states")[0]["choices"]
    texts = [outcome["text"] for outcome in choice["outcomes"]]
    assert texts == ["wins", "loses", "shares the win", "shares the win"]


@pytest.mark.parametrize(
    "game", [Threes(dice=2), Pig(target=9), Sharing(), DiceBlackjack()], ids=lambda game: game.name
)
def test_luck_is_good_above_zero(node, game):
    """The luck of all dice, for any number of players; few points are good luck."""
    solution = rollwise.solve(game)
    graph, figures = solution.graph, Figures.of(solution)
    players = ["random"] * graph.players
    ledgers = node(solution, "game", "5", *players)["ledgers"]
    shown = [text.replace("−", "-") for text in node(solution, "luck", "5", *players)]
    assert shown == [figures.gain(sum(ledger["luck"])) for ledger in ledgers]
    if game.objective == "minimize":
        assert (float(shown[0]) > 0) == (sum(ledgers[0]["luck"]) < 0)


@pytest.mark.parametrize("game", [Runners(2).within(3), Runners(2).cube(1)], ids=str)
def test_the_map_of_a_derived_game_has_no_axis_for_its_throws(game, node):
    head = node(rollwise.solve(game), "head")
    assert "throw" in head["fields"]
    assert "throw" not in [head["fields"][axis] for axis in head["map"]["axes"]]


def test_a_loss_of_points_is_no_gain(tmp_path):
    program = shutil.which("node")
    if program is None:
        pytest.skip("Node isn't installed, which runs the scripts of the page")
    shutil.copy(ROOM / "strings.js", tmp_path / "strings.mjs")
    code = (
        "import { SAY } from './strings.mjs';"
        "console.log(JSON.stringify([SAY.gained('Ann', '3'), SAY.gained('Bob', '-6.5'),"
        " SAY.sharedGain('-2', 'Ann')]))"
    )
    done = subprocess.run([program, "--input-type=module", "-e", code], cwd=tmp_path,
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert json.loads(done.stdout) == ["Ann gained 3", "Bob lost 6.5", "I lost 2 against Ann"]


def test_the_range_of_rolls_left_begins_at_none(node):
    """Positions before a throw have no number of rolls, which is no end of a scale."""
    head = node(rollwise.solve(Yahtzee(boxes=1)), "head")
    ranges = dict(zip(head["fields"], head["ranges"], strict=True))
    assert ranges["rolls_left"] == [0, 2]


@pytest.mark.parametrize("main", ["main", "hidden", "loader"])
def test_the_modules_of_a_page_are_one_script(main, tmp_path):
    """They share one scope, so that no two may declare the same name."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("Node isn't installed, which reads the scripts of the page")
    (tmp_path / "page.mjs").write_text(script(main))
    command = [program, "--check", str(tmp_path / "page.mjs")]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stderr == ""


@pytest.mark.parametrize("name", sorted(available()))
def test_a_goal_names_the_end_of_its_game(name):
    game = available()[name]()
    about = [" ".join(part.split()) for part in game.description.split("\n\n")]
    text = goal(about, game.objective, dict(game.parameters))
    assert game.objective != "win" or re.search(r"\bwins?\b", text)
    assert len(text) < 220
    assert "`" not in text


def test_policies_take_what_they_take_in_python(solution, node):
    found = states_by_row(node(solution, "states"))
    names = {} if solution.game is None else solution.game.policies()
    assert set(next(iter(found.values()))["policies"]) >= set(names)
    for name in names:
        taken = Policies.of(solution).find(name).probability
        for state in solution.graph.view:
            place = found[key_of(solution, state.index)]["policies"][name]
            assert taken[state.action_range[place]] == 1.0


def test_dice_bring_what_they_bring_in_python(solution, node):
    narrator = Narrator(solution.graph, solution.game)
    found = states_by_row(node(solution, "states"))
    for state in solution.graph.view:
        for action, one in zip(
            state.actions, found[key_of(solution, state.index)]["choices"], strict=True
        ):
            if one["dice"] is None:
                continue
            sides = one["dice"]["sides"]
            assert sides == list(narrator.dice(action.index))
            faces = np.array(np.unravel_index(np.arange(math.prod(sides)), sides)).T + 1
            for thrown, brings in zip(faces.tolist(), one["dice"]["brings"], strict=True):
                assert brings == narrator.fall_of(action.index, thrown)


@pytest.mark.parametrize(
    ("seed", "players"),
    [("1", ("optimal", "optimal")), ("9007199254740991", ("random", "optimal"))],
)
def test_a_game_is_booked_as_by_the_coach(solution, node, seed, players):
    n = solution.graph.players
    played = node(solution, "game", seed, *players[:n])
    assert played["isOver"]
    table = Table(solution, solution.game)
    session = Session(table, ["A", "B"][:n], [None] * n)
    for move in played["moves"]:
        session.choose(table.actions(session.state)[move["place"]])
        entry = session.fall(move["number"])
        assert entry.seat == move["seat"]
        assert entry.is_mistake == move["isMistake"]
        values = [move[name] for name in ("before", "chosen", "after", "cost")]
        assert values == pytest.approx([*entry.seen[0], entry.cost], abs=1e-11)
        if move["faces"]:
            assert table.narrator.fall_of(entry.action, move["faces"]) == entry.outcome
    assert session.is_over
    for seat in range(n):
        ledger, found = session.ledger(seat), played["ledgers"][seat]
        assert found["start"] == pytest.approx(ledger.start, abs=1e-11)
        assert found["result"] == pytest.approx(ledger.result, abs=1e-11)
        assert found["luck"] == pytest.approx(ledger.luck[:n], abs=1e-10)
        assert found["skill"] == pytest.approx(ledger.skill[:n], abs=1e-10)


# ---- the file


def test_the_page_is_one_file_that_asks_for_nothing():
    text = page(rollwise.solve(Piglet(target=3)))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    tags = ('script type="module"', 'script type="application/octet-stream" id="code"')
    loader, kept = (
        text.split(f"<{tag}>", 1)[1].split(f"</{tag.split()[0]}>", 1)[0] for tag in tags
    )
    code = zlib.decompress(base64.b85decode(kept.replace(",", "<"))).decode()
    assert code.endswith(script())
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()}'"
        for inside in (loader, code)
    ]
    assert rules["script-src"].split() == hashes
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    assert "http:" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https:" not in text
    assert "http" not in code.replace("http://www.w3.org/2000/svg", "")


def test_what_a_game_says_cannot_end_its_element():
    solution = rollwise.solve(HostileNames())
    text = page(solution)
    assert "<img" not in text
    assert "<title>&lt;img" in text


@pytest.mark.parametrize(
    "game",
    [Pig(target=9), Pig(target=5, players=3), ShutTheBox(tiles=4), RoyalUr(pieces=1),
     Chicago(dice=1), Threes(dice=3), rollwise.Duel(Threes(dice=2)), HostileNames(),
     DiceBlackjack()],
    ids=lambda game: game.name[:12],
)  # fmt: skip
def test_a_game_that_the_page_wrote_down_is_read_by_review(node, tmp_path, game):
    solution = rollwise.solve(game)
    players = ["optimal", "random", "hold-at-20"][: solution.graph.players]
    for seed in ("1", "2"):
        played = node(solution, "record", seed, *players)
        (tmp_path / "page.jsonl").write_text(played["text"])
        (record,) = read_records(tmp_path / "page.jsonl")
        session = replay(record, Table(solution, game))
        assert session.is_over
        assert len(session.accounts) == len(played["moves"])
        assert session.ledger(0).result == pytest.approx(played["result"], abs=1e-11)
        assert session.ledger(0).total_luck == pytest.approx(played["luck"], abs=1e-10)


class Heap(NamedTuple):
    left: int


@dataclass(frozen=True)
class Tied(Game):
    """Both actions of the second player are as good against best play; its policies may differ."""

    def start(self):
        return Heap(2)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        yield 1 + action * (s.left > 1), WIN, s
        yield 1, PASS if s.left > 1 else LOSE, Heap(1)

    @policy
    def first(self, s):
        return 0

    @policy
    def absent(self, s):
        return 2 if s.left == 1 else 0


def test_a_page_names_policies_that_fail_and_losses_that_rest_on_ties():
    solution = rollwise.solve(Tied())
    with pytest.warns(UserWarning, match="the page leaves out the policy absent: .*action"):
        head = head_of(document(solution))
    assert head["failed"] == ["absent"]
    assert [one["name"] for one in head["policies"]] == ["first"]
    assert head["losses_rest_on_ties"]
    head = head_of(document(rollwise.solve(Pig(target=6))))
    assert (head["failed"], head["losses_rest_on_ties"]) == ([], False)


def head_of(data):
    """The head of a page's data."""
    (size,) = struct.unpack("<I", data[:4])
    return json.loads(data[4 : 4 + size])


def test_policies_that_are_not_for_a_derived_game_are_left_out_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        head = head_of(document(rollwise.solve(RoyalUr(pieces=1).cube(2))))
    assert (head["policies"], head["failed"]) == ([], [])


def test_functions_and_policies_are_opponents_by_their_names():
    def timid(s):
        return 1

    def bold(s):
        return 0

    solution = rollwise.solve(Piglet(target=3))
    given = [timid, rollwise.Policy("mine", solution.policy.probability), timid]
    head = head_of(document(solution, policies=given))
    assert {"timid", "mine"} <= {one["name"] for one in head["policies"]}
    assert {"timid", "mine"} <= {one["name"] for one in head["losses"]}
    bold.__name__ = "timid"
    with pytest.raises(UsageError, match="two opponents are called timid"):
        solution.page(policies=[timid, bold])


def test_the_policies_of_a_game_with_a_pool_are_opponents(node):
    """They know the states of the rules, and none between the throws of a turn."""
    game = Chicago(dice=2, throws_a_turn=2)
    solution = rollwise.solve(game)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        head = head_of(document(solution))
    assert [one["name"] for one in head["policies"] if one["name"] != "optimal"] == [
        *game.policies()
    ]
    assert head["failed"] == []
    found = {tuple(one["row"]): one for one in node(solution, "states")}
    for name in game.policies():
        taken = Policies.of(solution).find(name).probability
        for state in solution.graph.view:
            place = found[tuple(solution.graph.row(state.index))]["policies"][name]
            assert taken[state.action_range[place]] == 1.0


def test_a_game_that_cant_fit_is_refused_before_its_words_are_asked(monkeypatch):
    def asked(*given: object) -> None:
        raise AssertionError("words were asked")

    monkeypatch.setattr(sys.modules[document.__module__], "words_of", asked)
    monkeypatch.setattr(sys.modules[page.__module__], "MOST_BYTES", 1_000)
    with pytest.raises(TooLargeForPage, match=r"piglet target=10 .* it takes 0\.0 MB or more"):
        page(rollwise.solve(Piglet()))


class Cars(NamedTuple):
    waiting: int


class Ferry(Game):
    """The most cars in the long run."""

    players = 1
    objective = "average"

    def start(self):
        return Cars(0)

    def actions(self, s):
        return (0, 1)

    def reward(self, s, action):
        return s.waiting * action / 3

    def outcomes(self, s, action):
        yield 1, AGAIN, Cars(0 if action else min(s.waiting + 1, 5))
        yield 1, AGAIN, Cars(s.waiting)


def test_an_average_repeats_no_fields_in_words_and_rounds_its_points(node):
    solution = rollwise.solve(with_best_rate(Ferry()))
    assert not node(solution, "head")["describes"]
    told = {one["says"] for state in node(solution, "states") for one in state["choices"]}
    points = [text for text in told if "point" in text]
    assert points
    assert all(re.match(r"−?\d(\.\d{1,3})? points?", text) for text in points)


def test_an_average_returns_to_its_beginning_and_does_not_end(node):
    found = {
        outcome["kind"]
        for state in node(rollwise.solve(with_best_rate(Ferry())), "states")
        for one in state["choices"]
        for outcome in one["outcomes"]
    }
    assert found == {"on", "returns"}


class Toll(Game):
    """Players pay each other by a die, three times."""

    def start(self):
        return Cars(3)

    def throws(self, s):
        return rollwise.dice.one(2)

    def actions(self, s, throw):
        return (0, 1)

    def reward(self, s, throw, action):
        return throw - 2 * action

    def outcomes(self, s, throw, action):
        yield 1, PASS if s.waiting > 1 else DRAW, Cars(s.waiting - 1)


def test_a_game_of_rewards_ends_without_a_draw(node):
    solution = rollwise.solve(Toll())
    text = " ".join(
        outcome["text"]
        for state in node(solution, "states")
        for one in state["choices"]
        for outcome in one["outcomes"]
    )
    assert "gains 1; the end" in text
    assert "draw" not in text
    narrator = Narrator(solution.graph, solution.game)
    last = solution.graph.view[solution.graph.find((1,), 1)].actions[0]
    assert narrator.outcome_text(last.index, 0) == "the end"
