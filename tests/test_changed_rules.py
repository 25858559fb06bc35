"""Games whose rules change in one process: no result of the old rules is given for the new ones."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import pytest

from rollwise import AGAIN, END, LOSE, PASS, WIN, Game, build, evaluate, solve
from rollwise.environments import GameEnv, GameVectorEnv, mean_reward
from rollwise.games.pig import Pig

pytestmark = pytest.mark.filterwarnings("ignore::rollwise.builders.growth.GrowthWarning")
GOAL, SIDES, PRIZE, START = 4, 3, 1, 0


class Hoards(NamedTuple):
    mine: int
    theirs: int


class Thieves(Game):
    """A goal that is no field of a dataclass: all such games are equal for Python."""

    def __init__(self, goal: int = 4) -> None:
        object.__setattr__(self, "goal", goal)

    @property
    def last(self) -> int:
        return self.goal

    def start(self) -> Any:
        return Hoards(0, 0)

    def actions(self, s: Any) -> Any:
        return (1, 2, 3)

    def outcomes(self, s: Any, coins: int) -> Any:
        yield coins, PASS, Hoards(s.theirs, 0)
        mine = s.mine + coins
        yield 6 - coins, WIN if mine >= self.last else PASS, Hoards(s.theirs, mine)


@dataclass(frozen=True, eq=False)
class Unequal(Thieves):
    goal: int = 4


class OfTheModule(Thieves):
    @property
    def last(self) -> int:
        return GOAL


class Number(NamedTuple):
    n: int


class Pot(Game):
    """A pot without a limit: caps are proved for it."""

    players: ClassVar[int] = 1
    objective: ClassVar[str] = "maximize"

    def start(self) -> Any:
        return Number(0)

    def actions(self, s: Any) -> Any:
        return (0, 1)

    def reward(self, s: Any, action: int) -> int:
        return s.n if action == 0 else 0

    def outcomes(self, s: Any, action: int) -> Any:
        yield 1, END, s
        if action:
            for face in range(2, SIDES + 1):
                yield 1, AGAIN, Number(s.n + face)


class Mill(Game):
    """Play without an end, for an average."""

    players: ClassVar[int] = 1
    objective: ClassVar[str] = "average"

    def start(self) -> Any:
        return Number(0)

    def actions(self, s: Any) -> Any:
        return (0,)

    def reward(self, s: Any, action: int) -> int:
        return PRIZE

    def outcomes(self, s: Any, action: int) -> Any:
        yield 1, AGAIN, s
        yield 1, AGAIN, Number(1 - s.n)


@pytest.mark.parametrize("kind", [Thieves, Unequal])
def test_attributes_that_python_does_not_compare(kind):
    for goal in (4, 6, 4):
        game = kind(goal)
        assert solve(game).graph.n_states == build(game).n_states == goal**2
        value = evaluate(game, "optimal", "optimal").values[0]
        assert solve(game).value == pytest.approx(value, abs=1e-12)


def test_a_changed_attribute():
    game = Thieves(4)
    assert solve(game).graph.n_states == 16
    object.__setattr__(game, "goal", 5)
    assert solve(game).graph.n_states == 25


def test_a_changed_global(monkeypatch):
    assert solve(OfTheModule()).graph.n_states == 16
    assert GameEnv(OfTheModule()).observation_space.high.max() == 3
    small = mean_reward(GameEnv(OfTheModule()), "optimal").value
    monkeypatch.setitem(globals(), "GOAL", 6)
    assert solve(OfTheModule()).graph.n_states == 36
    assert mean_reward(GameEnv(OfTheModule()), "optimal").value != small
    one, many = GameEnv(OfTheModule()), GameVectorEnv(OfTheModule(), num_envs=2)
    assert one.observation_space.high.max() == many.single_observation_space.high.max() == 5


def test_proved_caps_of_changed_rules(monkeypatch):
    values = []
    for sides in (3, 20, 3):
        monkeypatch.setitem(globals(), "SIDES", sides)
        values.append(solve(Pot()).value)
    assert values[0] == values[2]
    assert values[1] > 79


def test_the_average_of_changed_rules(monkeypatch):
    assert "rate=1.0" in solve(Mill()).title
    monkeypatch.setitem(globals(), "PRIZE", 7)
    assert "rate=7.0" in solve(Mill()).title


def test_an_opponent_in_a_file_that_is_written_again(tmp_path):
    solution, place = solve(Pig(target=10)), tmp_path / "opponent.csv"

    def write(wanted: str) -> float:
        lines = [",".join([*solution.graph.field_names, "action"])]
        for state in solution.graph.view:
            names = [action.name for action in state.actions]
            taken = wanted if wanted in names else names[0]
            lines.append(",".join(map(str, [*state.fields, taken])))
        place.write_text("\n".join(lines))
        return mean_reward(GameEnv(Pig(target=10), opponent=str(place)), "optimal").value

    found = {name: write(name) for name in ("roll", "hold", "roll")}
    for name, reward in found.items():
        write(name)
        first = evaluate(solution, "optimal", str(place)).values[0]
        assert reward == pytest.approx(first, abs=1e-12)
    assert found["hold"] > found["roll"] + 0.1


def test_the_same_environment_shares_its_tables():
    one, other = (GameEnv(Pig(target=10), opponent="optimal") for _ in range(2))
    assert one.arena is other.arena


class Rooted(Game):
    """Its start isn't among the rules that the other roots follow from."""

    players: ClassVar[int] = 1

    def start(self) -> Any:
        return Number(START)

    def roots(self) -> Any:
        return [Number(n) for n in range(3)]

    def actions(self, s: Any) -> Any:
        return (0,)

    def outcomes(self, s: Any, action: int) -> Any:
        yield s.n + 1, WIN, s
        yield 1, LOSE, s


def test_a_start_beside_other_roots(monkeypatch):
    assert mean_reward(GameEnv(Rooted()), "optimal").value == pytest.approx(0.0)
    monkeypatch.setitem(globals(), "START", 2)
    assert mean_reward(GameEnv(Rooted()), "optimal").value == pytest.approx(0.5)


def test_attributes_do_not_stay_in_memory():
    """Games with an object, which has no key, aren't remembered, and die."""
    alive = []
    for _ in range(5):
        game = Thieves(4)
        alive.append(weakref.ref(owner := Owner()))
        object.__setattr__(game, "owner", owner)
        solve(game)
        mean_reward(GameEnv(game), "optimal")
        del game, owner
    gc.collect()
    assert sum(one() is not None for one in alive) <= 1


class Owner:
    pass
