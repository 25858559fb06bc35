"""Throw first, choose then: the graph, every method, and what people see."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli_runner import output, refusal, run
from throwing import NOTHING, OrderedDice, Runners, ThrownRunners, TwoBoxes

import rollwise
from rollwise.answer import kept
from rollwise.answer.references import Policies
from rollwise.errors import RulesError, UnknownState, UsageError
from rollwise.games import find
from rollwise.graph import NO_THROW, THROW
from rollwise.graph.policies import Policy
from rollwise.machine.parquet_files import read_metadata, write_parquet
from rollwise.methods import METHODS
from rollwise.numbers.randomness import stream
from rollwise.play.games import PlayTable
from rollwise.simulate import simulate
from rollwise.simulate.lengths import expected_lengths

pytestmark = pytest.mark.kernels
HERE = Path(__file__).parent
GAMES = [Runners(3), Runners(5), TwoBoxes(), OrderedDice()]


@pytest.mark.needs_jit
@pytest.mark.parametrize("game", GAMES, ids=str)
def test_both_builders_give_the_same_graph(game):
    plain = rollwise.build(game, mode="interpreted")
    compiled = rollwise.build(game, mode="compiled")
    assert plain.content_hash == compiled.content_hash


@pytest.mark.parametrize("length", [2, 4])
def test_as_with_the_throw_in_the_state(length):
    game, twin = Runners(length), ThrownRunners(length)
    found, other = rollwise.solve(game), rollwise.solve(twin)
    graph = found.graph
    assert graph.n_states == other.graph.n_states
    for s, row in enumerate(graph.rows.tolist()):
        face = -1 if row[-1] == NO_THROW else row[-1]
        t = other.find([*row[:-1], face])
        assert abs(found.values[s] - other.values[t]) <= found.error_bound + other.error_bound


def boxes_by_hand(sides: int) -> Fraction:
    """The mean of `TwoBoxes`: choose for each first throw, and then the other box."""
    throws = [(min(pair), max(pair)) for pair in product(range(1, sides + 1), repeat=2)]
    n = len(throws)
    lower = Fraction(sum(2 * low for low, _ in throws), n)
    higher = Fraction(sum(high for _, high in throws), n)
    return Fraction(sum(max(2 * low + higher, high + lower) for low, high in throws)) / n


@pytest.mark.parametrize("game", [TwoBoxes(), TwoBoxes(6), OrderedDice()], ids=str)
def test_points_by_hand(game):
    solution = rollwise.solve(game)
    assert abs(Fraction(solution.value) - boxes_by_hand(game.sides)) <= solution.error_bound


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("sampled",)])
def test_every_method(method):
    game = TwoBoxes()
    found = rollwise.solve(game, method=method)
    assert abs(found.value - float(boxes_by_hand(4))) <= found.error_bound


def test_equal_throws_are_one_of_their_weights_sum():
    one, other = rollwise.build(TwoBoxes()), rollwise.build(OrderedDice())
    assert one.n_states == other.n_states
    assert len(one.view[0].throws) == len(other.view[0].throws) == 10
    chances = {o.next_state.throw: o.exact_chance for o in other.view[0].throws}
    assert chances == {o.next_state.throw: o.exact_chance for o in one.view[0].throws}


def test_a_throw_is_no_state():
    solution = rollwise.solve(TwoBoxes())
    graph = solution.graph
    assert len(solution) == graph.n_positions == len(graph.states) == 3
    assert graph.n_states == 3 + 3 * 10
    assert graph.action_label[: len(solution)].tolist() == [THROW] * 3
    table = solution.table()
    assert table.columns[:3] == ["open.0", "open.1", "left"]
    assert len(table) == 3
    assert table["action"].is_null().all()
    after = solution.table("throw.0 == 1 and left == 2", throws=True)
    assert len(after) == 4
    assert set(after["action"]) <= set(TwoBoxes.action_names)
    assert graph.state_text(3) == "open=(1, 1), left=2, throw=(1, 1)"


def test_found_with_a_throw():
    graph = rollwise.build(TwoBoxes())
    state = {"open": (1, 1), "left": 2}
    place = graph.find(state, (2, 3))
    assert graph.view[place].throw == (2, 3)
    assert graph.view[place].position.index == graph.find(state) == 0
    assert graph.find(state, (3, 2)) == place
    assert graph.find(graph.view[place].named) == place
    with pytest.raises(UnknownState, match=r"nobody throws 5 5 in the state open=\(1, 1\), left=2"):
        graph.find(state, (5, 5))
    with pytest.raises(UnknownState, match="has no throws"):
        rollwise.build(ThrownRunners(2)).find([0, 0, 0, 0, -1], 3)
    with pytest.raises(UsageError, match="has no throws"):
        rollwise.solve(ThrownRunners(2)).table(throws=True)


def test_advice_before_and_after_a_throw():
    solution = rollwise.solve(TwoBoxes())
    before, after = solution.advise(((1, 1), 2)), solution.advise(((1, 1), 2), (1, 4))
    assert not before.actions
    assert len(before.throws) == 10
    assert abs(sum(row.chance * row.value for row in before.throws) - before.value) < 1e-12
    assert [row.action for row in after.actions] == list(TwoBoxes.action_names)
    best = next(row.action for row in after.actions if row.best)
    assert best == next(row.action for row in before.throws if row.throw == (1, 4))


def test_simulated_as_evaluated():
    solution = rollwise.solve(Runners(3))
    policies = Policies.of(solution)
    match = simulate(
        solution.graph, policies.find("optimal"), policies.find("run-in-front"), games=4000, seed=1
    )
    assert not list(match.disagreements())


RULES = """
from dataclasses import dataclass
from typing import NamedTuple
from rollwise import AGAIN, END, Game, dice

class S(NamedTuple):
    left: int

@dataclass(frozen=True)
class Own(Game):
    players = 1
    objective = "maximize"
    def start(self):
        return S(2)
    def throws(self, s):
        yield 1, (1, 2)
        yield 2, (3, 4)
    def actions(self, s, throw):
        yield 0
    def outcomes(self, s, throw, action):
        if s.left:
            yield 1, AGAIN, S(s.left - 1)
        else:
            yield 1, END, s
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("def actions(self, s, throw)", "def actions(self, s)", "actions(self, s, throw)"),
        (
            "def outcomes(self, s, throw,",
            "def outcomes(self, s,",
            "outcomes(self, s, throw, action)",
        ),
        ("def throws(self, s)", "def thrown(self, s)", "has no throws(s) has actions(self, s)"),
        ("yield 2, (3, 4)", "yield 2, (3, 4, 5)", "like the first one it is a tuple of 2"),
        ("yield 2, (3, 4)", "yield 2, (3,)", "write 0 for the others: dice.faces(n, sides, of=2)"),
        ("yield 2, (3, 4)", "yield 2, 3.5", "like the first one it is a tuple of 2"),
        ("yield 1, (1, 2)", "yield 1, [1, 2]", "a throw is a whole number or a tuple"),
        ("yield 1, (1, 2)", "yield 1, (1,) * 17", "a throw has from 1 to 16 of them"),
        ("yield 2, (3, 4)", "yield -2, (3, 4)", "the weight -2"),
        (
            "    left: int",
            "    left: int\n    throw: int = 0",
            "the name of what was thrown; call it",
        ),
        ("    left: int", "    left: int\n    rolls_left: int = 0", "has the name of a column"),
        ("yield 2, (3, 4)", "yield 2", "it should yield (weight, throw)"),
        ("yield 1, (1, 2)\n        yield 2, (3, 4)", "yield 1 / 0, 2", "throws() fails"),
        ("yield 1, (1, 2)\n        yield 2, (3, 4)", "yield 0, (1, 2)", "no throw in the state"),
        (
            "S(s.left - 1)",
            "S([s.left - 1])",
            "gives left=[1]; a field is a whole number, or a tuple",
        ),
        ("return S(2)", "return S([2])", "start() gives left=[2]; a field is a whole number, or a"),
        ("return S(2)", "return S({2: 1})", "a field is a whole number, or a tuple of them"),
        (
            "S(s.left - 1)",
            "S((s.left - 1,))",
            "gives left=(1,); as in start(), it is a whole number",
        ),
        ("yield 0", "yield throw", "an action is a whole number from 0"),
        ("def throws(self, s)", "def throws(self, s, action)", "has throws(self, s)"),
        ("yield 1, (1, 2)", "yield 1, 'six'", "gives 'six'; a throw is a whole number or a tuple"),
        ("yield 1, (1, 2)", "yield 1, ((1, 2), 3)", "a throw is a whole number or a tuple"),
        (
            "yield 1, (1, 2)\n        yield 2, (3, 4)",
            "if s.left < 0:\n            yield 1, 2",
            "no throw in the state left=2",
        ),
        ("yield 1, (1, 2)", "yield 1, dice.pool(5)", "a pool stands alone, as in `return"),
        ("yield 1, (1, 2)", "yield dice.pool('5')", "a pool has a whole number of dice"),
        ("yield 1, END, s", "yield 1, 2.5, s", "unknown `then` 2.5"),
        (
            "yield 1, END, s",
            "yield -1, END, s",
            "the weight -1 in the state left=0 with the throw 1 2 and the action 0",
        ),
        (
            "    def actions",
            "    def reward(self, s, throw, action):\n        return '1'\n    def actions",
            "reward() gives '1' in the state left=2 with the throw 1 2 and the action 0; it is a",
        ),
    ],
)
def test_what_is_wrong_is_told_in_a_line(tmp_path, old, new, said):
    assert old in RULES
    path = tmp_path / "own.py"
    path.write_text(RULES.replace(old, new))
    message = refusal("solve", f"{path}:Own")
    assert said in message
    assert "\n" not in message.strip()


def test_a_tuple_keeps_its_length(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(
        RULES.replace("left: int", "left: tuple")
        .replace("S(2)", "S((2, 0))")
        .replace("if s.left:", "if s.left[0]:")
        .replace("S(s.left - 1)", "S((0,))")
    )
    with pytest.raises(RulesError, match="it is a tuple of 2 whole numbers"):
        rollwise.build(find(f"{path}:Own")())


def test_on_the_command_line(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(RULES)
    game = f"{path}:Own"
    document = json.loads(output("solve", game, "--json"))
    assert (document["states"], document["after_throws"]) == (3, 6)
    advice = json.loads(output("advise", game, "--state", "left=2", "--json"))
    assert [row["throw"] for row in advice["throws"]] == [[1, 2], [3, 4]]
    assert [row["probability"] for row in advice["throws"]] == pytest.approx([1 / 3, 2 / 3])
    advice = json.loads(output("advise", game, "--state", "left=2", "--throw", "3,4", "--json"))
    assert advice["state"] == {"left": 2, "throw.0": 3, "throw.1": 4}
    assert len(advice["actions"]) == 1
    rows = json.loads(output("table", game, "--throws", "--where", "throw.0 == 3", "--json"))
    assert len(rows["rows"]) == 3
    assert "isn't a throw" in refusal("advise", game, "--state", "left=2", "--throw", "x")
    assert np.isfinite(advice["value"])


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(RULES)
    output("solve", f"{path}:Own", "--save", str(tmp_path / "own.parquet"))
    return f"{path}:Own", tmp_path / "own.parquet"


def test_a_file_has_a_row_a_position(saved):
    game, path = saved
    frame = pl.read_parquet(path)
    assert len(frame) == 3
    assert frame["throw_values"].list.len().to_list() == [2, 2, 2]
    solution = rollwise.solve(find(game)())
    again = rollwise.load(path, find(game)())
    assert again.values.tobytes() == solution.values.tobytes()
    assert again.error_bounds.tobytes() == solution.error_bounds.tobytes()
    assert "3 states" in output("verify", str(path), game)
    advice = ("advise", game, "--state", "left=1", "--throw", "1,2", "--json")
    assert output(*advice, "--load", str(path)) == output(*advice)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.drop("throw_bounds"), "its columns can't be read"),
        (lambda f: f.with_columns(pl.col("throw_values").list.head(1)), "a number for each throw"),
        (
            lambda f: f.with_columns(pl.col("throw_values").list.eval(pl.element() + 1)),
            "don't match their checksum",
        ),
        (
            lambda f: f.with_columns(
                pl.col("throw_values").list.eval(pl.when(pl.element() < 9).then(None))
            ),
            "throw_values",
        ),
    ],
)
def test_a_damaged_file_is_found(saved, change, said):
    game, path = saved
    facts = read_metadata(path)
    write_parquet(change(pl.read_parquet(path)), path, {"rollwise": facts["rollwise"]})
    assert said in refusal("table", game, "--load", str(path))


def test_a_kept_graph_keeps_its_throws():
    game = Runners(6)
    arrays, facts = kept.parts_of_graph(rollwise.build(game), game)
    again = kept.graph_of({**arrays, **json.loads(json.dumps(facts))}, game)
    assert again.rows.tobytes() == rollwise.build(game).rows.tobytes()
    assert again.throw_names == ("throw",)
    assert again.find(((0, 0), (0, 0)), 2) == rollwise.build(game).find(((0, 0), (0, 0)), 2)


WORDS = """
    def action_text(self, s, throw, action):
        return f"keep {action}"
    def throw_text(self, s, throw):
        return f"a {throw[0]} with a {throw[1]}"
    def show(self, s):
        return f"+---+\\n| {s.left} |\\n+---+"
"""


def test_actions_and_throws_have_words(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(
        RULES.replace("        yield 0\n", "        yield 0\n        yield 70 + throw[1]\n") + WORDS
    )
    game = f"{path}:Own"
    graph = rollwise.build(find(game)())
    assert dict(graph.action_names) == {0: "keep 0", 72: "keep 72", 74: "keep 74"}
    advice = json.loads(output("advise", game, "--state", "left=2", "--throw", "3,4", "--json"))
    assert [row["action"] for row in advice["actions"]] == ["keep 0", "keep 74"]
    told = output("simulate", game, "--policy", "optimal", "--tell", "1", "--seed", "1")
    assert "throws a 1 with a 2" in told or "throws a 3 with a 4" in told
    assert "plays keep 0" in told


@pytest.mark.needs_jit
def test_words_of_actions_both_ways(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(RULES + WORDS)
    plain, compiled = (
        rollwise.build(find(f"{path}:Own")(), mode=mode) for mode in ("interpreted", "compiled")
    )
    assert plain.content_hash == compiled.content_hash


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('f"keep {action}"', "1 / 0", "action_text() fails in the state left=2 with the throw 1 2"),
        ('f"keep {action}"', "7", "action_text() gives 7"),
        (
            "action_text(self, s, throw,",
            "action_text(self, s,",
            "action_text(self, s, throw, action)",
        ),
    ],
)
def test_wrong_words_are_told(tmp_path, old, new, said):
    path = tmp_path / "own.py"
    path.write_text(RULES + WORDS.replace(old, new))
    assert said in refusal("solve", f"{path}:Own")


def test_a_board_is_shown_in_play(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(
        RULES.replace("        yield 0\n", "        yield 0\n        yield 1\n") + WORDS
    )
    done = run("play", f"{path}:Own", "--seed", "1", cwd=tmp_path)
    assert "+---+\n| 2 |\n+---+\n" in done.stdout


def test_contests_know_throws():
    game = f"{HERE / 'throwing.py'}:TwoBoxes"
    state = ("--contest", "--state", "open=(1,1),left=2,score=0,rival=7")
    advice = json.loads(output("advise", game, *state, "--throw", "1,2", "--json"))
    assert len(advice["actions"]) == 2
    before = json.loads(output("advise", game, *state, "--json"))
    assert len(before["throws"]) == 10
    assert "nobody throws 9 9" in refusal("advise", game, *state, "--throw", "9,9")
    assert "nobody throws 1 2 9" in refusal("advise", game, *state, "--throw", "1,2,9")


def test_an_action_has_one_name(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(RULES + WORDS.replace('f"keep {action}"', 'f"keep {s.left}"'))
    found = run("check", f"{path}:Own")
    assert "it must say the same wherever an action has this number" in found.stdout


def test_a_throw_is_no_move():
    """In each round of this game there is one choice, and so there are two moves in all."""
    solution = rollwise.solve(TwoBoxes())
    graph, policy = solution.graph, solution.policy
    ((_, moves),) = expected_lengths(graph, policy)
    assert moves.value == 2
    games = PlayTable.of(graph, policy).play(50, stream(3, 0))
    assert set(games.moves.tolist()) == {2}
    for name in ("moves", "rolls"):  # each round throws once
        shown = output("optimal", f"{HERE / 'throwing.py'}:TwoBoxes", "--range", name, "--json")
        found = json.loads(shown)["ranges"][0]
        assert found["least"] == found["most"] == 2


@pytest.mark.parametrize("against", [None, "run-in-front"])
def test_moves_as_with_the_throw_in_the_state(against):
    """There each move is the throw and the choice, so twice as many."""
    first = rollwise.build(Runners())
    before = rollwise.build(ThrownRunners(), mode="interpreted")
    solution = rollwise.solve(Runners())
    known = Policies.of(solution)
    policies = [known.find("optimal"), None if against is None else known.find(against)]
    found = expected_lengths(first, *policies)
    twin = [None if one is None else _moved(first, before, one) for one in policies]
    for (turns, moves), (turns_twice, twice) in zip(
        found, expected_lengths(before, *twin), strict=True
    ):
        assert twice.value == pytest.approx(2 * moves.value, abs=1e-9)
        assert turns.value == pytest.approx(turns_twice.value, abs=1e-9)


def _moved(first, before, policy):
    """A policy of one graph on another that has the same states and actions."""
    probability = np.ones(before.n_actions)
    for state in before.view:
        *tokens, face = state.fields
        throw = None if face == NOTHING else face
        here = first.view[first.find(tuple(tokens), throw)]
        for action, same in zip(state.actions, here.actions, strict=True):
            probability[action] = policy.probability[same]
    return Policy(policy.name, probability)


FIELDS_OF_OLD = """
from dataclasses import dataclass
from typing import NamedTuple
from rollwise import AGAIN, PASS, WIN, Game

class S(NamedTuple):
    place: int
    rival: int
    throw: int
    rolls_left: int

@dataclass(frozen=True)
class Own(Game):
    def start(self):
        return S(0, 0, 0, 2)

    def actions(self, s):
        if s.rolls_left:
            yield 0
        if s.throw:
            yield 1

    def outcomes(self, s, action):
        if action == 0:
            for face in range(1, 4):
                yield 1, AGAIN, S(s.place, s.rival, face, s.rolls_left - 1)
        elif s.place + s.throw >= 5:
            yield 1, WIN, s
        else:
            yield 1, PASS, S(s.rival, s.place + s.throw, 0, 2)
"""


def test_fields_may_have_the_names_of_throws_in_games_without_them(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(FIELDS_OF_OLD)
    values = [json.loads(output("solve", str(path), "--json"))["value"]]
    state = "place=4,rival=2,throw=1,rolls_left=1"
    advice = json.loads(output("advise", str(path), "--state", state, "--json"))
    assert advice["value"] == pytest.approx(1)
    rows = json.loads(output("table", str(path), "--where", "throw == 3", "--json"))["rows"]
    assert {row["throw"] for row in rows} == {3}
    path.write_text(FIELDS_OF_OLD.replace("throw", "face_up").replace("rolls_left", "more"))
    values.append(json.loads(output("solve", str(path), "--json"))["value"])
    assert values[0] == values[1]


def test_a_wrong_throw_is_named_with_its_line():
    class Wrong(Runners):
        def throws(self, s):
            yield 1, 1
            yield 1, "two"

    first = Wrong.throws.__code__.co_firstlineno
    with pytest.raises(RulesError, match=rf"'two'.*\(test_throws\.py, line {first + 2}\)$"):
        rollwise.build(Wrong(6), mode="interpreted")
