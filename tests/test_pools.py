"""Games with a pool of dice: some are kept, the others are thrown again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rollwise
from rollwise import AGAIN, END, PASS, Game, dice, parameter
from rollwise.answer.references import Policies
from rollwise.coach.session import Session
from rollwise.coach.tables import OpenTable
from rollwise.dice import Pool
from rollwise.errors import PolicyError, RulesError, TooManyStates, UnknownState
from rollwise.games.chicago import Chicago
from rollwise.games.pig import Pig
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.yahtzee import Yahtzee
from rollwise.games.yatzy import Yatzy
from rollwise.simulate.turn_by_turn import play_turn_by_turn, policy_play

compiled_only = pytest.mark.skipif(
    rollwise.machine.switches.jit_disabled(), reason="layers need compiled rules"
)


class Card(NamedTuple):
    filled: int


@dataclass(frozen=True)
class Faces(Game):
    """A box for each of some faces; what shows it counts."""

    boxes: int = parameter(2, at_least=1, at_most=6)
    n: int = parameter(3, at_least=1, at_most=5)
    sides: int = parameter(4, at_least=2, at_most=8)
    rerolls: int = parameter(2, at_least=0, at_most=3)
    players: ClassVar = 1
    objective: ClassVar = "maximize"

    def start(self) -> Card:
        return Card(0)

    def throws(self, s: Card) -> Pool:
        return dice.pool(self.n, sides=self.sides, rerolls=self.rerolls)

    def actions(self, s: Card, throw: tuple[int, ...]) -> Iterator[int]:
        for box in range(self.boxes):
            if s.filled >> box & 1 == 0:
                yield box

    def reward(self, s: Card, throw: tuple[int, ...], box: int) -> float:
        return float((box + 1) * dice.how_often(throw, box + 1))

    def outcomes(
        self, s: Card, throw: tuple[int, ...], box: int
    ) -> Iterator[tuple[int, int, Card]]:
        filled = s.filled | 1 << box
        yield 1, END if filled == (1 << self.boxes) - 1 else AGAIN, Card(filled)

    def progress(self, s: Card) -> int:
        return s.filled


def by_hand(game: Faces) -> float:
    """What it is worth by dice in the order in which they lie on the table."""
    faces = range(1, game.sides + 1)

    @cache
    def position(filled: int) -> float:
        if filled == (1 << game.boxes) - 1:
            return 0.0

        @cache
        def shown(thrown: tuple[int, ...], left: int) -> float:
            if left == 0:
                return max(
                    (box + 1) * thrown.count(box + 1) + position(filled | 1 << box)
                    for box in range(game.boxes)
                    if not filled >> box & 1
                )
            kept = {part for m in range(game.n + 1) for part in combinations(thrown, m)}
            return max(after(part, left - 1) for part in kept)

        @cache
        def after(kept: tuple[int, ...], left: int) -> float:
            falls = list(product(faces, repeat=game.n - len(kept)))
            return sum(shown(tuple(sorted((*kept, *fall))), left) for fall in falls) / len(falls)

        return after((), game.rerolls)

    return position(0)


@pytest.mark.parametrize(
    "game",
    [
        Faces(),
        Faces(boxes=3, n=2, sides=6, rerolls=1),
        Faces(boxes=1, n=4, sides=3, rerolls=3),
        Faces(rerolls=0),
        Faces(boxes=2, n=1, sides=8),
    ],
    ids=repr,
)
def test_a_pool_is_worth_what_a_program_by_hand_finds(game: Faces) -> None:
    solution = rollwise.solve(game, mode="interpreted")
    assert solution.value == pytest.approx(by_hand(game), abs=1e-11)
    assert len(solution) == (1 << game.boxes) - 1
    assert solution.status == "certified"


@compiled_only
def test_compiled_and_interpreted_rules_give_one_graph() -> None:
    for game in (Faces(), Faces(rerolls=0), Chicago(dice=2), Yahtzee(boxes=2)):
        one, other = (rollwise.build(game, mode=m) for m in ("interpreted", "compiled"))
        assert one.content_hash == other.content_hash


@compiled_only
@settings(max_examples=12, deadline=None)
@given(
    st.builds(
        Faces,
        boxes=st.integers(1, 3),
        n=st.integers(1, 3),
        sides=st.integers(2, 5),
        rerolls=st.integers(0, 3),
    )
)
def test_layers_give_what_the_whole_graph_gives(game: Faces) -> None:
    whole, layers = rollwise.solve(game), rollwise.solve_by_layers(game)
    for s, row in enumerate(whole.graph.states.tolist()):
        k = layers.find(row)
        doubt = whole.error_bounds[s] + layers.error_bounds[k]
        assert abs(whole.values[s] - layers.values[k]) <= doubt
        assert layers.error_bounds[k] < 1e-11


@compiled_only
@pytest.mark.parametrize("game", [Chicago(), Faces(boxes=3), Yahtzee(boxes=2)], ids=repr)
def test_advice_by_layers_is_that_of_the_whole_graph(game: Game) -> None:
    whole, layers = rollwise.solve(game), rollwise.solve_by_layers(game)
    view = whole.graph.view
    for s in range(0, len(whole), max(len(whole) // 5, 1)):
        state = view[s].named
        throw = view[view[s].throws[-2].target].throw
        for left in range(3):
            one, other = (found.advise(state, throw, left) for found in (whole, layers))
            assert one.state == other.state
            assert (one.win_probability is None) == (other.win_probability is None)
            for mine, theirs in zip(one.actions, other.actions, strict=True):
                assert mine.action == theirs.action
                assert mine.value == pytest.approx(theirs.value, abs=1e-11)
        before = layers.advise(state)
        assert [row.throw for row in before.throws] == [
            row.throw for row in whole.advise(state).throws
        ]


def test_every_turn_is_the_same_and_its_states_are_counted() -> None:
    solution = rollwise.solve(Chicago(dice=2), mode="interpreted")
    graph, pool = solution.graph, Pool(2, 6, 2)
    assert graph.turn_states == pool.n_states == 21 + 2 * (21 + 7)
    assert graph.n_states == graph.n_positions * (1 + pool.n_states)
    first = graph.find({"to_beat": 0}, (6, 1))
    assert graph.view[first].throw == (1, 6)
    assert graph.view[first].rolls_left == 2
    assert graph.view[first].action_names == ["keep 1 6", "keep 1", "keep 6", "keep nothing"]
    stand, *again = graph.view[first].actions
    assert graph.view[stand.outcomes[0].target].rolls_left == 0
    kept = graph.view[again[0].outcomes[0].target]
    assert (kept.throw, kept.rolls_left, len(kept.throws)) == ((0, 1), 1, 6)
    assert sum(outcome.chance for outcome in kept.throws) == pytest.approx(1.0)


def test_what_isnt_thrown_is_said() -> None:
    solution = rollwise.solve(Chicago(dice=2), mode="interpreted")
    with pytest.raises(UnknownState, match="nobody throws 1 7 in the state to_beat=0; the throws"):
        solution.find({"to_beat": 0}, (7, 1))
    with pytest.raises(UnknownState, match="after that throw 0 to 2 rolls"):
        solution.find({"to_beat": 0}, (6, 1), 3)
    with pytest.raises(UnknownState, match="rolls are left after a throw"):
        solution.find({"to_beat": 0}, rolls_left=1)


def test_a_pool_is_refused_that_is_none() -> None:
    with pytest.raises(ValueError, match="1 to 10 dice"):
        dice.pool(11)
    with pytest.raises(ValueError, match="at least 2 sides"):
        dice.pool(5, sides=1)
    with pytest.raises(TypeError):
        dice.pool(2.5)  # type: ignore[arg-type]

    @dataclass(frozen=True)
    class Changing(Chicago):
        def throws(self, s: Any) -> Pool:
            return dice.pool(2, rerolls=2 if s.to_beat == 0 else 1)

    with pytest.raises(RulesError, match="a pool is the same in every state"):
        rollwise.build(Changing(), mode="interpreted")


@pytest.mark.parametrize("how", ["yield", "yield from"])
def test_a_pool_may_be_yielded(how: str) -> None:
    class Yielding(Faces):
        def throws(self, s: Any) -> Any:
            if how == "yield":
                yield dice.pool(3, sides=4)
            else:
                yield from dice.pool(3, sides=4)

    one, other = (rollwise.solve(game, mode="interpreted") for game in (Faces(), Yielding()))
    assert one.value == other.value


def test_a_policy_says_what_to_keep() -> None:
    game = Chicago(dice=2)
    solution = rollwise.solve(game, mode="interpreted")
    aces = rollwise.Policy.of_function(solution.graph, game, "aces", game.aces)
    here = solution.graph.view[solution.find({"to_beat": 0}, (1, 5))]
    taken = [action.name for action in here.actions if aces.probability[action.index] == 1]
    assert taken == ["keep 1"]

    def wrong(s: Any, throw: Any, rolls_left: int) -> Any:
        return (9,)

    with pytest.raises(PolicyError, match="nobody can keep 9 in the state to_beat=0"):
        rollwise.Policy.of_function(solution.graph, game, "wrong", wrong)


def test_a_game_too_large_for_one_graph_says_so() -> None:
    with pytest.raises(TooManyStates, match=r"each position has a turn of 1,176.*solve_by_layers"):
        rollwise.build(Yahtzee(boxes=4), mode="interpreted", max_states=20_000)


@pytest.mark.parametrize("mode", ["interpreted", "compiled"])
def test_states_after_a_throw_count(mode: str) -> None:
    """A graph has a state for each throw of each position."""
    if mode == "compiled" and rollwise.machine.switches.jit_disabled():
        pytest.skip("compiled rules need the JIT")
    game = ShutTheBox(tiles=5)
    graph = rollwise.build(game, mode=mode)  # type: ignore[arg-type]
    assert graph.n_states > 3 * graph.n_positions
    rollwise.build(game, mode=mode, max_states=graph.n_states)  # type: ignore[arg-type]
    with pytest.raises(TooManyStates, match="those after a throw are counted too"):
        rollwise.build(game, mode=mode, max_states=graph.n_states // 2)  # type: ignore[arg-type]


@pytest.mark.parametrize(("joker", "made"), [("house", 25), ("none", 0), ("forced", 0)])
def test_five_alike_are_a_full_house_where_the_rules_say_so(joker: str, made: int) -> None:
    """Which of the two published values of Yahtzee without a bonus is whose: see large_answers."""
    game, full_house = Yahtzee(joker=joker), 8
    assert game.reward(game.start(), (3, 3, 3, 3, 3), full_house) == made
    assert game.reward(game.start(), (3, 3, 3, 5, 5), full_house) == 25
    assert game.reward(game.start(), (3, 3, 3, 3, 5), full_house) == 0


def test_one_box_of_yahtzee_is_a_sum_anybody_can_do() -> None:
    ones = 5 * (1 - (5 / 6) ** 3)
    for game in (Yahtzee(boxes=1), Yatzy(boxes=1)):
        assert rollwise.solve(game, mode="interpreted").value == pytest.approx(ones, abs=1e-12)


@compiled_only
def test_the_turn_of_a_player_passes() -> None:
    """A duel of pools, whose values change sides, by layers as in one graph."""

    class Score(NamedTuple):
        mine: int
        theirs: int

    @dataclass(frozen=True)
    class Duel(Game):
        def start(self) -> Score:
            return Score(0, 0)

        def throws(self, s: Score) -> Pool:
            return dice.pool(2, sides=4, rerolls=1)

        def actions(self, s: Score, throw: Any) -> Iterator[int]:
            yield 0
            if throw[0] == throw[1]:
                yield 1

        def outcomes(self, s: Score, throw: Any, action: int) -> Iterator[Any]:
            made = s.mine + (throw[0] + throw[1] if action == 0 else 2)
            if made >= 12:
                yield 1, rollwise.WIN, s
            else:
                yield 3, PASS, Score(s.theirs, made)
                yield 1, PASS, Score(s.theirs, s.mine + 1)

        def progress(self, s: Score) -> int:
            return s.mine + s.theirs

    whole, layers = rollwise.solve(Duel()), rollwise.solve_by_layers(Duel())
    assert abs(whole.value - layers.value) <= whole.error_bound + layers.error_bound
    assert np.all(layers.error_bounds < 1e-12)
    assert not layers.is_score


@compiled_only
@pytest.mark.parametrize("game", [Yahtzee(boxes=3), Chicago(), Pig(target=15)], ids=repr)
def test_play_in_a_game_that_is_solved_by_layers(game: Game) -> None:
    """The graph grows turn by turn; every move is worth what it is in the whole graph."""
    whole, table = rollwise.solve(game), OpenTable.of(rollwise.solve_by_layers(game))
    seats = game.players
    session = Session(table, ["you", "she"][:seats], ["random"] * seats, seed=4)
    while not session.is_over:
        here = table.graph.view[session.state]
        assert whole.values[whole.find(here.named)] == pytest.approx(
            table.solution.values[session.state], abs=1e-11
        )
        session.choose(session.machine_choice())
        assert session.told(session.roll())
    paid = session.ledger()
    assert paid.result - paid.start == pytest.approx(sum(paid.luck) + sum(paid.skill))
    moves = len(session.accounts)
    undone = Session(table, ["you", "she"][:seats], [None] * seats, seed=4)
    for entry in session.accounts:
        undone.choose(entry.action)
        undone.fall(entry.outcome, entry.faces)
    undone.undo()
    assert len(undone.accounts) < moves


def test_a_policy_that_keeps_dice_is_drawn_over_the_surface() -> None:
    pytest.importorskip("plotly")
    figure = rollwise.solve(Yahtzee(boxes=1)).plot("surface")
    assert len(figure.data) >= 1


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda self, s, throw: 0, r"a pool of dice has .*\(self, s, throw, rolls_left\)"),
        (lambda self, s, throw, rolls_left: 0, r"the faces to keep, as in \(5, 5\)"),
        (lambda self, s, throw, rolls_left: (7,) if rolls_left else 0, "nobody can keep 7"),
    ],
)
def test_what_is_wrong_with_a_policy_that_keeps_dice_is_told(function: Any, said: str) -> None:
    policies = {"wrong": function}
    game = type("Own", (Chicago,), {"policies": classmethod(lambda cls: policies)})(dice=2)
    with pytest.raises(PolicyError, match=said):
        Policies(rollwise.build(game), game).find("wrong")
    random = np.random.default_rng(1)
    with pytest.raises(PolicyError, match=said):
        play_turn_by_turn(game, policy_play(game, "wrong", random), 9, 1)
