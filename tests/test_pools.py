"""Games with a pool of dice: some are kept, the others are thrown again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from throwing import SavedRolls, Served, Turn

import rollwise
from rollwise import AGAIN, END, LOSE, PASS, WIN, Game, dice, parameter
from rollwise.answer.references import Policies
from rollwise.dice import Pool
from rollwise.errors import PolicyError, RulesError
from rollwise.games.bozo import Bozo
from rollwise.games.chicago import Chicago
from rollwise.games.yahtzee import Yahtzee
from rollwise.graph.policies import Policy
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
    heavy: int = parameter(1, at_least=1, at_most=9)  # the weight of the face 2
    players: ClassVar = 1
    objective: ClassVar = "maximize"

    def start(self) -> Card:
        return Card(0)

    def throws(self, s: Card) -> Pool:
        return dice.pool(self.n, self.die, rerolls=self.rerolls)

    @property
    def die(self) -> tuple[int, ...]:
        return dice.die(*range(1, self.sides + 1), weights=(1, self.heavy, *[1] * (self.sides - 2)))

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


def by_hand(game: Any) -> Fraction:
    """The value in fractions, by dice in the order in which they lie on the table."""

    @cache
    def position(s: Any) -> Fraction:
        (pool,) = game.throws(s)

        @cache
        def ended(*thrown: Any) -> Fraction:
            at = (s, *thrown[: 1 + game.reads_rolls_left])
            return max(ending(*at, action) for action in game.actions(*at))

        @cache
        def shown(thrown: tuple[int, ...], left: int) -> Fraction:
            found = [ended(thrown, left)]
            for m in range(pool.n if left else 0):
                found += [after(kept, left - 1) for kept in combinations(thrown, m)]
            return max(found)

        @cache
        def after(kept: tuple[int, ...], left: int) -> Fraction:
            faces = getattr(game, "die", pool.faces)  # loaded, if the game says so
            falls = list(product(faces, repeat=pool.n - len(kept)))
            worths = (shown(tuple(sorted((*kept, *fall))), left) for fall in falls)
            return sum(worths, Fraction(0)) / len(falls)

        return after((), pool.rerolls)

    def ending(*choice: Any) -> Fraction:
        ((_, then, following),) = game.outcomes(*choice)
        worth = {WIN: Fraction(1), LOSE: Fraction(-1), END: Fraction(0)}
        if then not in worth:
            worth[then] = (-1 if then == PASS else 1) * position(following)
        return Fraction(game.reward(*choice)) + worth[then]

    return position(game.start())


@pytest.mark.parametrize(
    "game",
    [
        Faces(),
        Faces(boxes=3, n=2, sides=6, rerolls=1),
        Faces(boxes=1, n=4, sides=3, rerolls=3),
        Faces(rerolls=0),
        Faces(boxes=2, n=1, sides=8),
        Faces(boxes=3, n=3, sides=3, heavy=2),
    ],
    ids=repr,
)
def test_a_pool_is_worth_what_a_program_by_hand_finds(game: Faces) -> None:
    solution = rollwise.solve(game, mode="interpreted")
    assert solution.value == pytest.approx(float(by_hand(game)), abs=1e-11)
    assert len(solution) == (1 << game.boxes) - 1
    assert solution.status == "certified"
    layers = rollwise.solve_by_layers(game)
    assert layers.value == pytest.approx(solution.value, abs=1e-11)


@compiled_only
def test_compiled_and_interpreted_rules_give_one_graph() -> None:
    for game in (Faces(), Faces(rerolls=0), Chicago(dice=2), Yahtzee(boxes=2)):
        one, other = (rollwise.build(game, mode=m) for m in ("interpreted", "compiled"))
        assert one.content_hash == other.content_hash


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


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda self, s, throw: 0, r"a pool of dice has .*\(self, s, throw, rolls_left\)"),
        (lambda self, s, throw, rolls_left: 0, r"the faces to keep, as in \(5, 5\)"),
        (lambda self, s, throw, rolls_left: (7,) if rolls_left else 0, "no player can keep 7"),
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


# ---- rules that read the number of the roll


COUNTED = [SavedRolls(), SavedRolls(3, 2), Served(), Served(7)]


@pytest.mark.parametrize("game", COUNTED, ids=repr)
@pytest.mark.parametrize("mode", ["interpreted", pytest.param("compiled", marks=compiled_only)])
def test_rules_that_read_the_number_of_the_roll(game: Any, mode: str) -> None:
    solution = rollwise.solve(game, mode=mode)
    exact = by_hand(game)
    assert abs(Fraction(solution.value) - exact) <= solution.error_bound < 1e-11


@compiled_only
def test_both_builders_and_layers_read_the_number_of_the_roll() -> None:
    for game in (*COUNTED, Bozo(sheet="five")):
        one, other = (rollwise.build(game, mode=m) for m in ("interpreted", "compiled"))
        assert one.content_hash == other.content_hash
    layers = rollwise.solve_by_layers(SavedRolls())
    assert abs(Fraction(layers.value) - by_hand(SavedRolls())) <= layers.error_bound


def test_saved_rolls_are_played_and_advised() -> None:
    solution = rollwise.solve(SavedRolls())
    advice = solution.advise(Turn(3, 2), throw=(1, 3))  # the last turn, with three rolls left
    assert [row.action for row in advice.actions] == ["0", "1", "keep 1", "keep 3", "keep nothing"]
    assert [row.best for row in advice.actions] == [False, False, False, True, False]
    at_once = Policy.of_function(solution.graph, SavedRolls(), "at once", lambda s, throw, left: 0)
    assert rollwise.evaluate(solution.graph, at_once).values[0] == pytest.approx(12)
    with pytest.raises(
        PolicyError, match="no player can keep 1 1 .*, where an action ends the turn"
    ):
        Policy.of_function(
            solution.graph, SavedRolls(), "all", lambda s, throw, left: throw if left else 0
        )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"actions": lambda self, s, throw: (0,)}, r"reads rolls_left in one of its rules has"),
        ({"throws": lambda self, s: dice.pool(2, 3, rerolls=999)}, "at most 255 with 2 dice"),
        (
            {"throws": lambda self, s: dice.pool(2, 2 + s.number)},
            "the same .* except for its rerolls",
        ),
        ({"throws": lambda self, s: dice.faces(2, 3)}, r"has actions\(self, s, throw\)"),
        (
            {"actions": lambda self, s, throw, rolls_left: (0,) if rolls_left == 0 else ()},
            "rules that read rolls_left have an action after each throw",
        ),
    ],
)
def test_what_is_wrong_with_rules_that_read_the_number_of_the_roll(changed: Any, said: str) -> None:
    game = type("Own", (SavedRolls,), changed)()
    with pytest.raises(RulesError, match=said):
        rollwise.build(game, mode="interpreted")
