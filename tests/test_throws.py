"""Throw first, choose then: the graph, every method, and what people see."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli_runner import output, refusal
from throwing import HighestPair, OrderedDice, Runners, TwoBoxes

import rollwise
from rollwise.derive.changed import throws_as_fields
from rollwise.documents.solved import solved_document
from rollwise.errors import RulesError, UsageError
from rollwise.games import find
from rollwise.games.pig import Pig
from rollwise.graph import NO_THROW, THROW
from rollwise.methods import METHODS

GAMES = [Runners(3), Runners(5), TwoBoxes(), OrderedDice()]


@pytest.mark.needs_jit
@pytest.mark.parametrize("game", GAMES, ids=str)
def test_both_builders_give_the_same_graph(game):
    plain = rollwise.build(game, mode="interpreted")
    compiled = rollwise.build(game, mode="compiled")
    assert plain.content_hash == compiled.content_hash


class Exchanged(Runners):
    """Its outcomes name the action first, and would take the throw for it."""

    def outcomes(self, s, action, throw):
        yield from super().outcomes(s, throw, action)


def test_arguments_in_another_order_are_refused():
    right = r"has outcomes\(self, s, throw, action\)"
    with pytest.raises(RulesError, match=rf"{right}$"):
        rollwise.build(Exchanged())


def boxes_by_hand(sides: int) -> Fraction:
    """The mean of `TwoBoxes`: choose for each first throw, and then the other box."""
    throws = [(min(pair), max(pair)) for pair in product(range(1, sides + 1), repeat=2)]
    n = len(throws)
    lower = Fraction(sum(2 * low for low, _ in throws), n)
    higher = Fraction(sum(high for _, high in throws), n)
    return Fraction(sum(max(2 * low + higher, high + lower) for low, high in throws)) / n


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("sampled",)])
def test_every_method(method):
    game = TwoBoxes()
    found = rollwise.solve(game, method=method)
    assert abs(found.value - float(boxes_by_hand(4))) <= found.error_bound


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


def test_the_answer_of_three_seats_counts_positions_apart_from_throws():
    solution = rollwise.solve(HighestPair())
    n, all_states = len(solution), solution.graph.n_states
    document = solved_document(solution)
    assert (document.states, document.after_throws) == (n, all_states - n)


def test_a_table_of_three_seats_has_rows_before_or_after_throws():
    solution = rollwise.solve(HighestPair())
    before, after = solution.table(), solution.table(throws=True)
    assert len(before) == len(solution)
    assert before["action"].is_null().all()
    assert "throw.0" not in before.columns
    assert not after["throw.0"].is_null().any()
    assert "throw" not in after["action"].to_list()
    assert set(after["probability"]) == {1.0}
    with pytest.raises(UsageError, match="has no throws"):
        rollwise.solve(Pig(3, players=3)).table(throws=True)


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
        ("outcomes(self, s, throw,", "outcomes(self, s,", "outcomes(self, s, throw, action)"),
        ("def throws(self, s)", "def thrown(self, s)", "has no throws(s) has actions(self, s)"),
        ("yield 2, (3, 4)", "yield 2, (3, 4, 5)", "like the first one it is a tuple of 2"),
        ("yield 2, (3, 4)", "yield 2, (3,)", "write 0 for the others: dice.faces(n, sides, of=2)"),
        ("yield 2, (3, 4)", "yield 2, 3.5", "like the first one it is a tuple of 2"),
        ("yield 1, (1, 2)", "yield 1, [1, 2]", "a throw is a whole number or a tuple"),
        ("yield 1, (1, 2)", "yield 1, (1,) * 17", "a throw has from 1 to 16 of them"),
        ("yield 2, (3, 4)", "yield -2, (3, 4)", "the weight -2"),
        ("    left: int", "    left: int\n    throw: int = 0", "the name of what was thrown"),
        ("    left: int", "    left: int\n    rolls_left: int = 0", "has the name of a column"),
        ("yield 2, (3, 4)", "yield 2", "it should yield (weight, throw)"),
        ("yield 1, (1, 2)\n        yield 2, (3, 4)", "yield 1 / 0, 2", "throws() fails"),
        ("yield 1, (1, 2)\n        yield 2, (3, 4)", "yield 0, (1, 2)", "no throw in the state"),
        ("yield 1, (1, 2)\n        yield 2, (3, 4)", "dice.pool(2)", "throws() gives None in the"),
        ("S(s.left - 1)", "S([s.left - 1])", "gives left=[1]; a field is a whole number, or a"),
        ("return S(2)", "return S([2])", "start() gives left=[2]; a field is a whole number, or a"),
        ("return S(2)", "return S({2: 1})", "a field is a whole number, or a tuple of them"),
        ("S(s.left - 1)", "S((s.left - 1,))", "gives left=(1,); as in start(), it is a whole"),
        ("yield 0", "yield throw", "an action is a whole number from 0"),
        ("def throws(self, s)", "def throws(self, s, action)", "has throws(self, s)"),
        ("yield 1, (1, 2)", "yield 1, 'six'", "gives 'six'; a throw is a whole number or a tuple"),
        ("yield 1, (1, 2)", "yield 1, ((1, 2), 3)", "a throw is a whole number or a tuple"),
        ("yield 1, (1, 2)", "yield 1, dice.pool(5)", "a pool stands alone, as in `return"),
        ("yield 1, (1, 2)", "yield dice.pool('5')", "a pool has a whole number of equal dice"),
        ("yield 1, END, s", "yield 1, 2.5, s", "unknown `then` 2.5"),
        (
            "yield 1, END, s",
            "yield -1, END, s",
            "-1 in the state left=0 with the throw 1 2 and the",
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


WORDS = """
    def action_text(self, s, throw, action):
        return f"keep {action}"
    def throw_text(self, s, throw):
        return f"a {throw[0]} with a {throw[1]}"
    def show(self, s):
        return f"+---+\\n| {s.left} |\\n+---+"
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('f"keep {action}"', "1 / 0", "action_text() fails in the state left=2 with the throw 1 2"),
        ('f"keep {action}"', "7", "action_text() gives 7"),
        ("action_text(self, s, throw,", "action_text(self, s,", "(self, s, throw, action)"),
    ],
)
def test_wrong_words_are_told(tmp_path, old, new, said):
    path = tmp_path / "own.py"
    path.write_text(RULES + WORDS.replace(old, new))
    assert said in refusal("solve", f"{path}:Own")


def test_a_wrong_throw_is_named_with_its_line():
    class Wrong(Runners):
        def throws(self, s):
            yield 1, 1
            yield 1, "two"

    first = Wrong.throws.__code__.co_firstlineno
    with pytest.raises(RulesError, match=rf"'two'.*\(test_throws\.py, line {first + 2}\)$"):
        rollwise.build(Wrong(6), mode="interpreted")


# ---- every room of rollwise takes games that throw first and choose then


HERE = Path(__file__).parent
RACE, BOXES = f"{HERE / 'throwing.py'}:Runners", f"{HERE / 'throwing.py'}:TwoBoxes"


@pytest.mark.parametrize("game", [Runners(3), TwoBoxes(), OrderedDice()], ids=str)
def test_as_a_game_without_throws(game):
    graph = rollwise.build(game)
    plain = throws_as_fields(graph)
    assert not plain.throw_names
    assert plain.n_states == len(plain.positions) == len(plain.states) == graph.n_states
    assert plain.action_label.min() >= 0
    assert not np.any(plain.states == NO_THROW)
    assert len(np.unique(plain.states, axis=0)) == graph.n_states
    for s in (0, graph.n_states - 1):
        assert len(plain.view[s].actions) == len(graph.view[s].actions)
    assert throws_as_fields(plain) is plain


def test_an_array_has_no_axis_for_a_throw_among_the_fields():
    """A derived game has the throw in its states; an array has the positions before it."""
    solution = rollwise.solve(Runners(2).within(3))
    array = solution.array()
    rows = solution.table()
    fields = rows.columns[:-4]
    assert array.ndim == len(fields)
    for row in rows.iter_rows(named=True):
        assert array[tuple(row[name] for name in fields)] == row["win_probability"]
    assert np.isfinite(array).sum() == len(rows)


def test_columns_of_actions_are_for_choices():
    """A derived game has the throw in its states; before it there is no action."""
    solution = rollwise.solve(Runners(2).within(3))
    with pytest.raises(UsageError, match="no action before the throw"):
        solution.table(each_action=True)
    cube = rollwise.solve(Runners(2).cube(1))
    rows = cube.table(each_action=True)  # of offers, which come before a throw
    shown = [name for name in rows.columns if name.startswith("value_")]
    assert shown == ["value_no double", "value_double", "value_take", "value_pass"]
    assert set(shown) < set(cube.action_bounds)
    assert "value_throw" not in cube.action_bounds
